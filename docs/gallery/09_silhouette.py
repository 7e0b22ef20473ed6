"""A metric while its lists grow.

WEAT's effect size while the attribute sets of the query weat1 grow in random order: mean and range over fifty runs.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
found = bb.silhouettes.silhouette(kv, "weat1", "weat", vary="attributes", runs=50, seed=0)
figure = bb.plots.plot_silhouette(found)
