"""Values of a metric while word lists grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from bayesbias._core.logistic import fit_in_rows
from bayesbias._core.resampling import ratio, spearman
from bayesbias._core.vectors import FloatArray, IntArray, unit_rows
from bayesbias.errors import InputError
from bayesbias.metrics.weat import effect_size

SIZES = ("trimmed", "saturate", "proportional")


@dataclass(frozen=True)
class Growth:
    """Lists that grow together.

    Attributes
    ----------
    places
        For each list (runs, words): places of its words in the order of each run.
    lengths
        (sizes, lists): how many words of each list are used.
    """

    places: tuple[IntArray, ...]
    lengths: IntArray

    @property
    def totals(self) -> IntArray:
        """Words used over all lists, (sizes,)."""
        total: IntArray = self.lengths.sum(axis=1)
        return total


def lengths_of(sizes: Sequence[int], step: int, mode: str) -> IntArray:
    """How many words of each list are used, (sizes, lists); the last size uses all.

    Parameters
    ----------
    sizes
        Words of each list.
    step
        Words over all lists by which they grow.
    mode
        ``"trimmed"`` and ``"saturate"`` add as many words of each list until it is used up; ``"proportional"`` adds the
        same share of each.

    Raises
    ------
    InputError
        A list is shorter than its share of the step.
    """
    each = max(1, step // len(sizes))
    if min(sizes) < each:
        raise InputError(f"a list has {min(sizes)} words, fewer than the {each} of a step: give a smaller step")
    if mode == "proportional":
        count = max(1, round(sum(sizes) / step))
        shares = np.arange(1, count + 1) / count
        shared: IntArray = np.maximum(1, np.rint(np.outer(shares, sizes))).astype(np.intp)
        return shared
    grown = np.arange(1, -(-max(sizes) // each) + 1) * each
    lengths: IntArray = np.minimum(grown[:, None], np.array(sizes)).astype(np.intp)
    return lengths


def shuffled(sizes: Sequence[int], runs: int, seed: int, shared: bool, together: bool = False) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in random order.

    ``shared`` takes the run's number as seed of every list; ``together`` gives all lists one order.
    """
    if shared:  # sklearn.utils.shuffle(list, random_state=run)
        return tuple(np.stack([_legacy(size, run) for run in range(runs)]) for size in sizes)
    if together:
        return shuffled(sizes[:1], runs, seed, shared) * len(sizes)
    generators = np.random.default_rng(seed).spawn(len(sizes))
    return tuple(
        np.stack([generator.permutation(size) for _ in range(runs)])
        for size, generator in zip(sizes, generators, strict=True)
    )


def _legacy(size: int, seed: int) -> NDArray[np.intp]:
    places = np.arange(size)
    np.random.RandomState(seed).shuffle(places)
    return places


def recorded(
    lists: Mapping[str, Sequence[str]], orders: Mapping[str, Sequence[Sequence[str]]], together: bool = False
) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in recorded orders; ``together`` asks for one order of all lists.

    Raises
    ------
    InputError
        A list without orders, numbers of runs that differ, an order that does not hold the list's words or tears pairs.
    """
    found = []
    if not isinstance(orders, Mapping):
        raise InputError(f"orders is {type(orders).__name__}: give a mapping of sets to the words of each run")
    for name, words in lists.items():
        if name not in orders:
            raise InputError(f"orders has {', '.join(map(repr, orders))}: {name!r} is missing")
        place = {word: at for at, word in enumerate(words)}
        runs = []
        for run, listed in enumerate(orders[name]):
            if set(listed) != set(words) or len(listed) != len(words):
                odd = sorted(set(listed) ^ set(words))[:5]
                raise InputError(f"orders: run {run} of {name!r} does not hold the words of the list: {', '.join(odd)}")
            runs.append([place[word] for word in listed])
        found.append(np.array(runs, dtype=np.intp))
    if len({len(runs) for runs in found}) > 1:
        raise InputError(f"orders has different numbers of runs: {', '.join(str(len(runs)) for runs in found)}")
    if together and any(not np.array_equal(found[0], other) for other in found[1:]):
        raise InputError("the words of the target sets are pairs in order, and orders tears them apart")
    return tuple(found)


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
