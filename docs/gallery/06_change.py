"""Before and after debiasing.

Above, mean distances of the list gender to each kind of attribute word before and after hard debiasing; below, the
association of each protected word. Right, their changes. Bars are 89% intervals.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
pairs = list(bb.load_list("gender_pairs").pairs)
debiased = bb.debias(kv, "hard", definitional=pairs, equalize=pairs)
before, after = (bb.distance_table(one, "gender") for one in (kv, debiased))
result = bb.compare(before=before, after=after, seed=0)
figure = bb.plots.plot_change(result)
