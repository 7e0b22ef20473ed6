"""Before and after debiasing.

Mean distances of the list gender to each kind of attribute word before and after hard debiasing, and their changes
with 50% and 89% intervals, for the whole list and for each protected word.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
pairs = list(bb.load_list("gender_pairs").pairs)
debiased = bb.debias(kv, "hard", definitional=pairs, equalize=pairs)
before, after = (bb.distance_table(one, "gender") for one in (kv, debiased))
result = bb.compare(before=before, after=after, seed=0)
figure = bb.plot_change(result)
