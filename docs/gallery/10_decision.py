"""How many base pairs and seeds are enough.

Reliability of bias scores by the number of base pairs and of training seeds, with intervals, in embeddings of a toy
text with a planted bias; .75 and more is called good.
"""

import bayesbias as bb

toy = bb.stability.toy_corpus(bias=0.5, seed=0, sentences=1_500)
kvs = bb.stability.train_embeddings(toy, seeds=3, dims=20, epochs=8)
scores = bb.reliability.bias_scores(kvs, toy.targets, toy.base_pairs)
components = bb.reliability.variance_components(scores, seed=0)
table = components.decision((1, 2, 5, 10, 20, 50))
figure = bb.plots.forest(table, "base_pairs", by="seeds", mark=0.75, label="reliability of target words")
