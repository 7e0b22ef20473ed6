"""A multiverse.

Three lists in two embeddings, centred or not, against two kinds of control: every combination, by its estimate, and
what each decision contributes.
"""

import bayesbias as bb

decisions = {
    "embedding": ["google-news-slice", "glove-50d-slice"],
    "words": ["gender", "weat7", "weat8"],
    "centre": {"options": ["none", "vocabulary"], "status": "arbitrary"},
    "contrast": {"options": ["associated - different", "associated - human"], "status": "principled"},
}
figure = bb.plots.plot_multiverse(bb.multiverse({"decisions": decisions, "replicates": 0}))
