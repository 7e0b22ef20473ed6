"""Before and after debiasing.

The contrast of the list gender before and after hard debiasing, and the change of each protected word with its
interval.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
pairs = list(bb.load_list("gender_pairs").pairs)
debiased = bb.debias(kv, "hard", definitional=pairs, equalize=pairs)
before, after = (bb.distance_table(one, "gender") for one in (kv, debiased))
result = bb.compare(before=before, after=after, seed=0)
figure = bb.plot_change(result)
