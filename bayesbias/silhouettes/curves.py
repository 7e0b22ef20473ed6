"""Values of a metric on growing lists, all sizes of a run in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from bayesbias._core.correlation import ratio, spearman
from bayesbias._core.cosine import FloatArray, unit_rows
from bayesbias._core.kernel_logistic import fit_in_rows
from bayesbias.metrics.weat import effect_size
from bayesbias.silhouettes.orders import Growth

Sets = tuple[FloatArray, ...]
Curve = Callable[[Sets, Sets, Growth], FloatArray]


@dataclass(frozen=True)
class Curves:
    """How a metric of the study is followed.

    Attributes
    ----------
    targets, attributes
        Target sets, attribute sets and growth of either to values (runs, sizes).
    bounds
        Number of target sets to the smallest and the largest value; ``published`` are the authors' where they differ.
    optimum
        The value of no bias.
    sets
        How many target sets, (least, most), and attribute sets it takes.
    """

    targets: Curve
    attributes: Curve
    bounds: Callable[[int], tuple[float, float]]
    optimum: float
    sets: tuple[tuple[int, int | None], int]
    published: tuple[float, float] | None = None


def _prefix_means(values: FloatArray, lengths: np.ndarray) -> FloatArray:
    """Means of the first so many values along the last axis (..., words) -> (..., sizes)."""
    mean: FloatArray = np.cumsum(values, axis=-1)[..., lengths - 1] / lengths
    return mean


def weat_targets(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Effect sizes while target sets grow: means and spreads from prefix sums of s."""
    sides = [unit_rows(vectors).mean(axis=0) for vectors in attributes]
    s = [unit_rows(vectors) @ (sides[0] - sides[1]) for vectors in targets]
    centre = np.concatenate(s).mean()  # sums of squares about a near value lose nothing to rounding
    means, squares = [], []
    for values, places, lengths in zip(s, growth.places, growth.lengths.T, strict=True):
        ordered = values[places] - centre
        means.append(_prefix_means(ordered, lengths))
        squares.append(np.cumsum(ordered**2, axis=1)[:, lengths - 1])
    n = growth.lengths.T
    both = (n[0] * means[0] + n[1] * means[1]) / growth.totals
    spread = np.sqrt(np.maximum((squares[0] + squares[1]) / growth.totals - both**2, 0))
    return ratio(means[0] - means[1], spread)


def weat_attributes(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Effect sizes while attribute sets grow: s of every target word from prefix sums of cosines."""
    units = [unit_rows(vectors) for vectors in targets]
    cosines = [np.vstack(units) @ unit_rows(vectors).T for vectors in attributes]
    first = len(units[0])
    values = []
    for run in range(len(growth.places[0])):
        both = [
            _prefix_means(each[:, places[run]], lengths)
            for each, places, lengths in zip(cosines, growth.places, growth.lengths.T, strict=True)
        ]
        s = both[0] - both[1]
        values.append(effect_size(s[:first].T, s[first:].T))
    return np.stack(values)


def ect_targets(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Spearman correlations while target sets grow: ranks of the attribute words for each pair of prefix means."""
    # the order of cosines with a mean is that of inner products with its sum
    products = [vectors @ unit_rows(attributes[0]).T for vectors in targets]
    values = []
    for run in range(len(growth.places[0])):
        sides = [
            np.cumsum(each[places[run]], axis=0)[lengths - 1]
            for each, places, lengths in zip(products, growth.places, growth.lengths.T, strict=True)
        ]
        values.append(spearman(sides[0], sides[1]))
    return np.stack(values)


def ect_attributes(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Spearman correlations while the attribute set grows: ranks within prefixes from one table of comparisons."""
    unit = unit_rows(attributes[0])
    cosines = [unit @ vectors.mean(axis=0) for vectors in targets]
    lengths = growth.lengths[:, 0]
    return np.stack([_prefix_spearman(cosines[0][order], cosines[1][order], lengths) for order in growth.places[0]])


def _prefix_spearman(left: FloatArray, right: FloatArray, lengths: np.ndarray) -> FloatArray:
    ranks = []
    for values in (left, right):
        below = (values[:, None] > values).astype(np.float32)
        below += 0.5 * (values[:, None] == values)
        ranks.append(np.cumsum(below, axis=1)[:, lengths - 1].T)  # (sizes, words): ranks less one half
    held = np.arange(len(left)) < lengths[:, None]
    n = lengths[:, None]
    a, b = (np.where(held, rank - n / 2, 0.0) for rank in ranks)
    scale = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return ratio((a * b).sum(axis=1), scale)


def rnsb_targets(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Divergences while target sets grow: one classifier, asked about the prefix means of the groups."""
    x = np.vstack(attributes)
    alpha, b = fit_in_rows(x @ x.T, np.arange(len(x)) < len(attributes[0]))
    w = x.T @ alpha
    margins = [
        _prefix_means((vectors @ w)[places], lengths) + b
        for vectors, places, lengths in zip(targets, growth.places, growth.lengths.T, strict=True)
    ]
    return _divergence(np.stack(margins, axis=-1))


def _divergence(margins: FloatArray) -> FloatArray:
    """From the uniform, of the groups' probabilities of the second attribute set, along the last axis."""
    negative = expit(-margins)
    shares = negative / negative.sum(axis=-1, keepdims=True)
    value: FloatArray = xlogy(shares, shares * shares.shape[-1]).sum(axis=-1)
    return value


def rnsb_attributes(targets: Sets, attributes: Sets, growth: Growth) -> FloatArray:
    """Divergences while attribute sets grow: each classifier starts from that of the size before."""
    x = np.vstack(attributes)
    gram = x @ x.T
    asked = np.stack([vectors.mean(axis=0) for vectors in targets]) @ x.T
    first = len(attributes[0])
    values = np.empty((len(growth.places[0]), len(growth.lengths)))
    for run, (one, other) in enumerate(zip(*growth.places, strict=True)):
        alpha, b = np.zeros(len(x)), 0.0
        for at, (m, n) in enumerate(growth.lengths):
            rows = np.concatenate([one[:m], first + other[:n]])
            part, b = fit_in_rows(gram[np.ix_(rows, rows)], rows < first, (alpha[rows], b))
            alpha[rows] = part
            values[run, at] = _divergence(asked[:, rows] @ part + b)
    return values


CURVES = {
    "weat_effect_size": Curves(weat_targets, weat_attributes, lambda groups: (-2.0, 2.0), 0.0, ((2, 2), 2)),
    "ect": Curves(ect_targets, ect_attributes, lambda groups: (-1.0, 1.0), 1.0, ((2, 2), 1)),
    "rnsb": Curves(
        rnsb_targets, rnsb_attributes, lambda groups: (0.0, float(np.log(groups))), 0.0, ((2, None), 2), (0.0, 1.0)
    ),
}
