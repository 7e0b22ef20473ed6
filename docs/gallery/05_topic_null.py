"""Random topics in place of the lists.

Histogram of the contrast for random topics of the vocabulary that are as coherent as the lists of gender, as near to
the protected words and as similar to each other, with the observed contrast as a line.
"""

import bayesbias as bb

kv = bb.load_embedding("google-news-slice")
null = bb.topic_null(kv, "gender", seed=0)
figure = bb.plots.plot_topic_null(null)
