"""Whether words can still be told apart by the bias that they had: the test of Gonen and Goldberg (2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from bayesbias._core.bootstrap import share_interval
from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import mean_unit, unit_rows
from bayesbias.comparison.effects.vocabularies import Shared, Unit

FOLDS = 5
QUARTER = 4
"""All words that count as biased are one of so many parts of the vocabulary at most."""
FEWEST = 10
"""Words of a group below which the test says nothing."""
PERMUTATIONS = 200
STARTS = 10
REFERENCES = 10
COLUMNS = [
    *("test", "words", "chance", "before", "before_low", "before_high", "after", "after_low", "after_high"),
    *("reference", "reference_low", "reference_high"),
]


def most_biased(shared: Shared, groups: Mapping[str, Sequence[str]], count: int) -> tuple[IntArray, IntArray]:
    """Rows of the words most biased towards each group before, as many for each, and their groups by number.

    The bias of a word towards a group is its mean cosine with the group's protected words, less what that is for the
    average word, minus the largest such value of another group. With two groups this orders words as their projection
    on the difference of the groups' means does.
    """
    own = shared.rows(word for words in groups.values() for word in words)
    means = [mean_unit(shared.before[shared.rows(words)].astype(np.float64)) for words in groups.values()]
    towards = shared.before @ np.array(means).T.astype(np.float32)
    towards -= towards.mean(axis=0)
    nearest = towards.argmax(axis=1)
    ordered = np.sort(towards, axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    margin[own] = -np.inf
    nearest[own] = -1
    sizes = np.bincount(nearest[nearest >= 0], minlength=len(groups))
    most = min(count, int(sizes.min()), len(nearest) // (QUARTER * len(groups)))
    chosen = [np.flatnonzero(nearest == at) for at in range(len(groups))]
    rows = np.concatenate([part[np.argsort(-margin[part], kind="stable")[:most]] for part in chosen])
    return rows, np.repeat(np.arange(len(groups)), most)


def recovery(shared: Shared, groups: Mapping[str, Sequence[str]], count: int, prob: float, seed: int) -> pd.DataFrame:
    """How well clusters and a classifier find the groups again, before and after.

    The dimensions of an embedding hang together, so that a classifier finds the old side of words along any direction
    that is removed, meaningless ones too. The reference is what it finds of random groups of words, as large as the
    given ones, when the differences of their means are removed from the first embedding.

    Columns ``test`` (``cluster``: k-means, ``classify``: logistic regression in five-fold cross-validation), ``words``,
    ``chance``, shares of words with Jeffreys intervals, ``before``, ``before_low``, ... ``after_high``, and
    ``reference``, ``reference_low``, ``reference_high``: mean, smallest and largest share of ten random draws.
    """
    rng = np.random.default_rng(seed)
    rows, labels = most_biased(shared, groups, count)
    sizes = [len(shared.rows(words)) for words in groups.values()]
    drawn = [_random_groups(shared, sizes, count, rng) for _ in range(REFERENCES)]
    pieces = []
    for test, judge in (("cluster", _by_clusters), ("classify", _by_classifier)):
        figures: list[float] = []
        chances = []
        for unit in (shared.before, shared.after):
            found = judge(unit[rows], labels, seed)
            right, chance = _right(test, found, labels, rng)
            chances.append(chance)
            figures += [right / len(rows), *share_interval(right, len(rows), prob)]
        shares = [_right(test, judge(unit, sides, seed), sides, rng)[0] / len(sides) for unit, sides in drawn]
        figures += [float(np.mean(shares)), min(shares), max(shares)]
        pieces.append((test, len(rows), float(np.mean(chances)), *figures))
    return pd.DataFrame(pieces, columns=COLUMNS)


def _random_groups(shared: Shared, sizes: Sequence[int], count: int, rng: np.random.Generator) -> tuple[Unit, IntArray]:
    """Words most biased towards random groups, without the differences of the groups' means, and their groups."""
    chosen = rng.permutation(len(shared.words))[: sum(sizes)]
    parts = np.split(chosen, np.cumsum(sizes)[:-1])
    groups = {str(at): [shared.words[row] for row in part] for at, part in enumerate(parts)}
    rows, labels = most_biased(shared, groups, count)
    means = np.array([mean_unit(shared.before[part].astype(np.float64)) for part in parts])
    directions = np.linalg.svd(means[1:] - means[0], full_matrices=False)[2]
    left = shared.before[rows].astype(np.float64)
    return unit_rows(left - left @ directions.T @ directions).astype(np.float32), labels


def _right(test: str, found: IntArray, labels: IntArray, rng: np.random.Generator) -> tuple[int, float]:
    """How many words are told apart rightly, and the share that is by chance.

    Clusters have no names: they take those that fit best, which is above an even share by chance too.
    """
    if test == "classify":
        return int((found == labels).sum()), float(np.bincount(labels).max() / len(labels))
    shuffled = [_matched(found, rng.permutation(labels)) for _ in range(PERMUTATIONS)]
    return _matched(found, labels), float(np.mean(shuffled) / len(labels))


def _matched(found: IntArray, labels: IntArray) -> int:
    size = int(labels.max()) + 1
    table = np.bincount(found * size + labels, minlength=size * size).reshape(size, size)
    return int(table[linear_sum_assignment(-table)].sum())


def _by_clusters(unit: Unit, labels: IntArray, seed: int) -> IntArray:
    from sklearn.cluster import KMeans

    clusters: IntArray = KMeans(int(labels.max()) + 1, n_init=STARTS, random_state=seed).fit_predict(unit)
    return clusters.astype(np.intp)


def _by_classifier(unit: Unit, labels: IntArray, seed: int) -> IntArray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    found: IntArray = cross_val_predict(LogisticRegression(max_iter=1_000), unit.astype(np.float64), labels, cv=folds)
    return found
