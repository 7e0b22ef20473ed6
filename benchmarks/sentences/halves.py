"""Whether frames predict other frames: the contrast in some frames, and the interval that others give for it.

Of the real lists, for random halves of 8 or 16 frames, and from SEAT's frames to those that mention a word. Words are
the same on both sides, so that only frames matter: the difference of two means over frames has the variance
(tau^2 + noise) (1 / T + 1 / T'), with tau from the first half.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances.distances import Distances
from bayesbias.models.frames import PRIOR, Variation, frame_data, variation
from benchmarks.common import keep
from benchmarks.minilm import MiniLM
from benchmarks.sentences.vectors import KINDS, LISTS, encoded

PROB, DRAWS = 0.89, 2000


def predicted(found, first, second, scale, rng):
    """Whether the interval that the first frames give holds the mean over the second ones."""
    values = found.by_frame
    around = values[first] - values[first].mean()
    half = Variation(values[first], found.noise, float(around @ around), len(first) - 1)
    sd = np.sqrt((half.draw_sd(scale, DRAWS, rng) ** 2 + found.noise) * (1 / len(first) + 1 / len(second)))
    draws = values[first].mean() + sd * rng.standard_normal(DRAWS)
    low, high = np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2])
    return low <= values[second].mean() <= high


def main(folder, replicates=400):
    """Write coverage by kind of vector, contrast and frames."""
    rows, encoder = [], MiniLM()
    for kind in KINDS:
        held = {}
        for name in LISTS:
            table = bb.distance_table(encoded(name, kind, folder, encoder), name, relatedness=False)
            data = Distances.read(table, check=False)
            found = frame_data(table, data)
            others = data.connections.tolist()
            rng, count = np.random.default_rng(0), len(found.axes[0][0])
            for at, other in enumerate(others[1:], start=1):
                one = variation(found, 0, 0, at)[0]
                scale = PRIOR * found.control_sd
                for size in (4, 8):
                    for _ in range(replicates):
                        order = rng.permutation(count)
                        held.setdefault((size, other), []).append(
                            predicted(one, order[:size], order[size : 2 * size], scale, rng)
                        )
                seat, mention = np.arange(8), np.arange(8, 16)
                for label, pair in (("SEAT to mention", (seat, mention)), ("mention to SEAT", (mention, seat))):
                    held.setdefault((label, other), []).append(predicted(one, *pair, scale, rng))
        rows += [(kind, *key, np.mean(value), len(value)) for key, value in held.items()]
    columns = ["vectors", "frames", "contrast with associated", "coverage", "intervals"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "sentences/halves")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
