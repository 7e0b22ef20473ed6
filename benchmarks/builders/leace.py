"""Vectors erased by the program of Belrose et al. (2023), which tests compare with, in tests/data/leace.csv.

``python benchmarks/builders/leace.py`` in an environment with ``concept-erasure==0.2.4`` and torch; the covariance is
the plain one (``shrinkage=False``), as in the article's theorem. Two cases: two groups, and three.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from concept_erasure import LeaceFitter

FILE = Path(__file__).parents[2] / "tests" / "data" / "leace.csv"
WORDS, DIMENSIONS = 48, 6


def main():
    rng = np.random.default_rng(0)
    labels = {count: np.arange(WORDS) * count // WORDS for count in (2, 3)}
    shifts = rng.normal(size=(3, DIMENSIONS))
    vectors = rng.normal(size=(WORDS, DIMENSIONS)) @ rng.normal(size=(DIMENSIONS, DIMENSIONS)) + shifts[labels[3]]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors.astype(np.float32).astype(np.float64)  # what an embedding holds
    columns = {f"x{axis}": vectors[:, axis] for axis in range(DIMENSIONS)}
    for count, group in labels.items():
        x, z = torch.tensor(vectors), torch.nn.functional.one_hot(torch.tensor(group)).double()
        erased = LeaceFitter.fit(x, z, shrinkage=False, svd_tol=1e-10).eraser(x).numpy()
        columns[f"group of {count}"] = group
        columns |= {f"erased of {count}, x{axis}": erased[:, axis] for axis in range(DIMENSIONS)}
    pd.DataFrame(columns).to_csv(FILE, index=False, float_format="%.12g")


if __name__ == "__main__":
    main()
