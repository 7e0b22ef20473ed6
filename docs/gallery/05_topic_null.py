"""Random topics in place of the lists.

Contrasts for random topics of the vocabulary that are as coherent as the lists of gender and as similar to each other,
one point for each set of topics, with the observed contrasts as diamonds.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
null = bb.topic_null(kv, "gender", seed=0)
figure = bb.plots.plot_topic_null(null)
