"""Pools of axes: does the difference of two embeddings hold for further pairs?

The pairs of a bundled axis are parted at random; the axes of one half give the difference of the mean place of some
words between GloVe and a copy with noise in every vector, those of the other half another difference. Where both errors
are right, 89% intervals of the difference of differences hold 0 in 89%. ``independent`` takes the errors of the two
embeddings for uncorrelated.
"""

import sys

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from scipy.special import ndtri

import bayesbias as bb
from bayesbias.second_stage.estimates import contrasts_of, stage_cells
from benchmarks.common import keep

WORDS, FEWEST, NOISE = 12, 6, 0.7


def difference(embeddings, pairs, words):
    """The difference of two embeddings, its variance, and the variance for errors that are independent."""
    axes = {name: bb.axis(kv, pairs, words=words) for name, kv in embeddings.items()}
    found = contrasts_of(stage_cells(axes, None, 0, None, None))
    v = found.covariance.to_numpy()
    return found.mean[1] - found.mean[0], v[0, 0] + v[1, 1] - 2 * v[0, 1], v[0, 0] + v[1, 1]


def main(replicates=50):
    """Write how often the two halves agree."""
    kv = bb.load_embedding("glove-50d-slice")
    vectors = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    noise = NOISE * np.random.default_rng(1).standard_normal(vectors.shape) / np.sqrt(vectors.shape[1])
    copy = KeyedVectors(vectors.shape[1])
    copy.add_vectors(kv.index_to_key, (vectors + noise).astype(np.float32))
    embeddings, known = {"one": kv, "copy": copy}, kv.index_to_key[:5000]
    reach, rows = ndtri(0.945), []
    for name in bb.list_axes()["name"]:
        rng = np.random.default_rng(0)
        pairs = list(bb.axis(kv, name, words=known[:5]).poles.pairs)
        if len(pairs) < 2 * FEWEST:
            continue
        poles = {word for pair in pairs for word in pair}
        free, inside, apart = [w for w in known if w not in poles], [], []
        for _ in range(replicates):
            order, words = rng.permutation(len(pairs)), rng.choice(free, WORDS, replace=False).tolist()
            halves = [[pairs[i] for i in part] for part in np.array_split(order, 2)]
            (a, va, ia), (b, vb, ib) = (difference(embeddings, half, words) for half in halves)
            inside.append(abs(a - b) <= reach * np.sqrt(va + vb))
            apart.append(abs(a - b) <= reach * np.sqrt(ia + ib))
        rows.append((name, len(pairs), replicates, np.mean(inside), np.mean(apart)))
    keep(
        pd.DataFrame(rows, columns=["axis", "pairs", "replicates", "joint", "independent"]).round(3),
        "second_stage/axes",
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
