"""The classic metrics: what each measures, and the registry of all by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, rel_entr

from bayesbias._support.arguments import finite_number, flag, one_of, whole_number
from bayesbias._support.registers import Register
from bayesbias.errors import InputError
from bayesbias.metrics.definition import SEED, Linear, Measured, Metric, Option, Space, no_value, options_of_test
from bayesbias.metrics.queries import Sets
from bayesbias.numerics.arrays import (
    NOTHING,
    FloatArray,
    IntArray,
    beyond_rounding,
    fit_in_rows,
    mean_unit,
    nearest_rows,
    row_differences,
    spanned,
    unit_products,
    unit_rows,
)
from bayesbias.numerics.statistics import effect_size, sum_statistic
from bayesbias.results import Note

type Weights = tuple[FloatArray, FloatArray]
"""Of target words and of attribute words in a sum of cosines, set after set."""


def associations(targets: Sets, attributes: Sets) -> tuple[FloatArray, FloatArray]:
    """s(w) of the words of both target sets: mean cosine with the first attribute set less that with the second.

    It is one number where it is the same for all words but for rounding.
    """
    # the mean of cosines is the product with the mean of unit vectors
    apart = beyond_rounding(mean_unit(attributes[0]) - mean_unit(attributes[1]))
    s = np.concatenate([unit_products(words, apart) for words in targets])
    if s.std() <= NOTHING:
        s[:] = s.mean()
    return s[: len(targets[0])], s[len(targets[0]) :]


def weat(targets: Sets, attributes: Sets) -> Measured:
    """Sum of s over the first target set less that over the second, s being mean cosine with A less that with B.

    A and B are the attribute sets (:func:`associations`). The permutation test compares the means of s, which for sets
    of one size is the same.
    """
    first, second = associations(targets, attributes)
    sizes = f"unequal target sets ({len(first)}, {len(second)})"
    notes = () if len(first) == len(second) else (Note("metric", metric="weat", limit=sizes),)
    return Measured(float(sum_statistic(first, second)), np.concatenate([first, second]), notes=notes)


NO_SPREAD = "s is the same for all target words and has no spread"


def weat_effect_size(targets: Sets, attributes: Sets) -> Measured:
    """Difference of the means of s over its sd on both target sets (ddof 0): 2 or -2 at most for sets of one size."""
    first, second = associations(targets, attributes)
    value = float(effect_size(first, second))
    if not np.isfinite(value):
        return no_value(NO_SPREAD, len(first) + len(second))
    single = len(first) == len(second) == 1
    notes = (Note("set-size", words=1, kind="target", values="2 or -2"),) if single else ()
    return Measured(value, np.concatenate([first, second]), notes=notes)


def _shares(sets: Sets, signs: Sequence[float]) -> FloatArray:
    """Weights of the words of some sets in the signed sum of the sets' means."""
    return np.concatenate([np.full(len(words), sign / len(words)) for sign, words in zip(signs, sets, strict=True)])


def _weat_sides(targets: Sets, attributes: Sets) -> Weights:
    return (np.repeat([1.0, -1.0], list(map(len, targets))), _shares(attributes, (1, -1)))


def _effect_bounds(sizes: list[int], options: Mapping[str, Any]) -> tuple[float, float]:
    most = sum(sizes) / float(np.sqrt(sizes[0] * sizes[1]))
    return -most, most


NO_DIRECTION = "the mean vector of a target set is 0 and has no direction"
ONE_VECTOR = "the words of a pair have one vector"
ONE_DIRECTION = "the words of a pair have one direction"


def _directed(sets: Sets) -> FloatArray:
    """Mean vectors (sets, d): 0 where the words of a set cancel out but for rounding."""
    lengths = [np.linalg.norm(vectors, axis=1).max() for vectors in sets]
    return beyond_rounding(np.stack([vectors.mean(axis=0) for vectors in sets]), lengths)


def rnd(targets: Sets, attributes: Sets, distance: str = "norm") -> Measured:
    """Mean over attribute words a of ||a - m1|| - ||a - m2||, or of cos(a, m1) - cos(a, m2), m the target sets' means.

    A difference of norms is negative where the words lie nearer to the first set; one of cosines is then positive.
    """
    first, second = (vectors.mean(axis=0) for vectors in targets)
    if distance == "cos" and not _directed(targets).any(axis=1).all():
        return no_value(NO_DIRECTION, len(attributes[0]))
    if distance == "norm":
        from scipy.spatial.distance import cdist  # loads slowly

        to_first, to_second = cdist(np.stack([first, second]), attributes[0])
        by_word: FloatArray = to_first - to_second
    else:
        sides = unit_rows(np.stack([first, second]))
        by_word = unit_products(attributes[0], sides[0] - sides[1])
    return Measured(float(by_word.mean()), by_word)


def _rnd_sides(targets: Sets, attributes: Sets) -> Weights:
    """Weights of the words in the mean of cosines: cos(a, m) = sum over v of |v| cos(a, v) / (n |m|)."""
    shares = [
        sign * np.linalg.norm(target, axis=1) / np.linalg.norm(target.sum(axis=0))
        for sign, target in zip((1, -1), targets, strict=True)
    ]
    return (np.concatenate(shares), _shares(attributes, (1,)))


def rnsb(
    targets: Sets, attributes: Sets, holdout: bool | None = None, seed: int = 0, compat: str | None = None
) -> Measured:
    """Kullback-Leibler divergence (natural log) of the target words' negative probabilities from the uniform.

    A logistic regression separates the words of the first attribute set (positive) from the second (negative); the
    probabilities of the second, over all target words, are scaled to sum 1. Fitted to convergence on all attribute
    words, unless ``holdout`` leaves a fifth of them out. ``compat="wefe"`` fits with WEFE's solver and tolerance
    (scikit-learn's liblinear), and holds out by default as WEFE does.
    """
    from sklearn.linear_model import LogisticRegression  # loads slowly
    from sklearn.model_selection import train_test_split

    x = np.vstack(attributes)
    rows = np.arange(len(x))
    positive = rows < len(attributes[0])
    if compat == "wefe" if holdout is None else holdout:
        rows = train_test_split(rows, test_size=0.2, random_state=seed, stratify=positive)[0]
    if positive[rows].all() or not positive[rows].any():
        raise InputError("the classifier would learn from words of one attribute set only: give more words")
    if compat == "wefe":
        fitted = LogisticRegression(solver="liblinear", max_iter=10_000).fit(x[rows], positive[rows])
        w = np.r_[fitted.coef_[0], fitted.intercept_]
    else:
        w = _fit_logistic(x[rows], positive[rows])
    negative = expit(-(np.vstack(targets) @ w[:-1] + w[-1]))
    shares = negative / negative.sum()
    return Measured(float(rel_entr(shares, 1 / len(shares)).sum()), shares)


def _fit_logistic(x: FloatArray, first: np.ndarray) -> FloatArray:
    """Coefficients (d + 1,), the intercept last, of a logistic regression that separates rows that are ``first``.

    Minimises |w|^2 / 2 + sum log(1 + exp(-y (x w))) for rows x (rows, d), the intercept penalised like the rest.
    """
    rows = np.hstack([x, np.ones((len(x), 1))])
    if len(rows) < rows.shape[1]:
        coefficients: FloatArray = rows.T @ fit_in_rows(rows @ rows.T, first, intercept=False)[0]
    else:
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(solver="newton-cholesky", fit_intercept=False, tol=1e-10).fit(rows, first)
        coefficients = fitted.coef_[0]
    return coefficients


def mac(targets: Sets, attributes: Sets) -> Measured:
    """Mean cosine distance of a target word to an attribute set, over all target words and attribute sets."""
    sides = np.mean([mean_unit(vectors) for vectors in attributes], axis=0)
    by_word = 1 - np.concatenate([unit_products(vectors, sides) for vectors in targets])
    return Measured(float(by_word.mean()), by_word)


def _mac_sides(targets: Sets, attributes: Sets) -> Weights:
    words, sets = sum(map(len, targets)), len(attributes)
    return (np.full(words, -1 / words), _shares(attributes, (1,) * sets) / sets)


def ect(targets: Sets, attributes: Sets) -> Measured:
    """Spearman correlation over attribute words of their cosines with the mean vectors of two target sets.

    1 is no bias: either group ranks the attribute words equally.
    """
    means = _directed(targets)
    if not means.any(axis=1).all():
        return no_value(NO_DIRECTION, len(attributes[0]))
    sides = unit_rows(means)
    from scipy.stats import rankdata  # loads slowly

    cosines = unit_products(attributes[0], sides)
    ranks: FloatArray = rankdata(cosines, axis=1)
    by_word = ranks[0] - ranks[1]
    if len(by_word) < 2:
        return no_value("one attribute word has no order", len(by_word))
    if np.ptp(cosines, axis=1).min() <= NOTHING:
        return no_value("all attribute words are as near to a group as each other", len(by_word))
    few = (Note("set-size", words=2, kind="attribute", values="1 or -1"),) if len(by_word) == 2 else ()
    return Measured(float(np.corrcoef(*ranks)[0, 1]), by_word, notes=few)


def ripa(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words and pairs of the inner product with the unit difference vector of a pair.

    Attribute vectors keep their lengths, as in the paper's formula.
    """
    apart = row_differences(*targets)
    if not apart.any(axis=1).all():
        return no_value(ONE_VECTOR, len(attributes[0]))
    relations = unit_rows(apart)
    by_word = attributes[0] @ relations.mean(axis=0)
    return Measured(float(by_word.mean()), by_word)


def _ripa_sides(targets: Sets, attributes: Sets) -> Weights:
    """Weights of the words in the mean, for vectors of length 1, whose inner products are cosines."""
    share = 1 / (len(targets[0]) * np.linalg.norm(targets[0] - targets[1], axis=1))
    return (np.concatenate([share, -share]), _shares(attributes, (1,)))


def direct_bias(targets: Sets, attributes: Sets, exponent: float = 1.0) -> Measured:
    """Mean over attribute words w of |cos(w, g)|^c, with g the principal direction of the pairs and c the exponent."""
    apart = row_differences(unit_rows(targets[0]), unit_rows(targets[1]))
    if not apart.any():
        return no_value(ONE_DIRECTION, len(attributes[0]))
    direction: FloatArray = np.linalg.svd(apart, full_matrices=False)[2][0]
    by_word: FloatArray = np.abs(unit_products(attributes[0], direction)) ** exponent
    return Measured(float(by_word.mean()), by_word)


def db_wa(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words w and pairs (a, b) of cos(w, a) - cos(w, b)."""
    apart = (unit_rows(targets[0]) - unit_rows(targets[1])).mean(axis=0)
    by_word = unit_products(attributes[0], apart)
    return Measured(float(by_word.mean()), by_word)


def _db_wa_sides(targets: Sets, attributes: Sets) -> Weights:
    return (_shares(targets, (1, -1)), _shares(attributes, (1,)))


def check_neighbours(neighbours: int, words: int) -> None:
    """Refuse more neighbours than a vocabulary has other words."""
    if neighbours >= words:
        raise InputError(f"neighbours is {neighbours}: give a whole number from 1 to {words - 1}, the other words")


def nbm(targets: Sets, attributes: Sets, space: Space, neighbours: int = 100) -> Measured:
    """Mean over attribute words and pairs of (nearer to the first - nearer to the second) / k among k neighbours.

    Neighbours are the words of the vocabulary with the largest cosine, the word itself left out; one that is as near to
    either word of a pair counts for the first.
    """
    check_neighbours(neighbours, len(space.unit))
    apart = row_differences(unit_rows(targets[0]), unit_rows(targets[1]))
    if not apart.any(axis=1).all():
        return no_value(ONE_DIRECTION, len(space.rows))
    nearest = nearest_rows(space.unit, space.rows, neighbours) if space.nearest is None else space.nearest
    near, place = np.unique(nearest, return_inverse=True)
    side = np.where(space.unit[near] @ apart.T >= 0, 1.0, -1.0).mean(axis=1)
    by_word: FloatArray = side[place].reshape(nearest.shape).mean(axis=1)
    return Measured(float(by_word.mean()), by_word)


def same(targets: Sets, attributes: Sets) -> Measured:
    """Mean over attribute words of the length of a unit word vector's projection onto the groups' differences.

    The differences are those of the groups' mean unit vectors from the first group's. With two groups it is the paper's
    |cos(w, m1 - m2)|. With more, the paper adds the |cos| of successive orthogonal differences, which depends on the
    order of the groups; the length of the projection does not.
    """
    means = np.stack([mean_unit(vectors) for vectors in targets])
    basis, _ = spanned(means[1:] - means[0])
    by_word: FloatArray = np.linalg.norm(unit_products(attributes[0], basis), axis=0)
    if not len(basis):
        return no_value("the groups have one mean, so nothing separates them", len(by_word))
    return Measured(float(by_word.mean()), by_word)


def semaxis(targets: Sets, attributes: Sets) -> Measured:
    """Cosine of target words with mean(A1) - mean(A2): its mean, or with two target sets the difference of their means.

    Positive is towards the first attribute set.
    """
    ends = np.stack([vectors.mean(axis=0) for vectors in attributes])
    axis = beyond_rounding(ends[0] - ends[1], np.linalg.norm(np.vstack(attributes), axis=1).max())
    if not axis.any():
        return no_value("both attribute sets have one mean, so there is no axis", sum(map(len, targets)))
    sides = [unit_products(vectors, unit_rows(axis[None])[0]) for vectors in targets]
    means = [float(side.mean()) for side in sides]
    return Measured(means[0] - (means[1] if len(means) > 1 else 0.0), np.concatenate(sides))


def wefat(targets: Sets, attributes: Sets) -> Measured:
    """Mean over target words of an effect size: mean cosine with A less that with B, over the sd of all its cosines.

    The standard deviation is that of a population, over both attribute sets A and B. What words have outside, such as a
    share of women, is set beside them by :func:`criterion`.
    """
    words = unit_rows(targets[0])
    first, second = (words @ unit_rows(vectors).T for vectors in attributes)
    spread = np.concatenate([first, second], axis=1).std(axis=1)
    if spread.min() <= NOTHING:
        return no_value("a target word is as near to all attribute words: no spread", len(words))
    by_word: FloatArray = (first.mean(axis=1) - second.mean(axis=1)) / spread
    return Measured(float(by_word.mean()), by_word)


def seat(targets: Sets, attributes: Sets, owners: Mapping[str, tuple[IntArray, ...]]) -> Measured:
    """The WEAT effect size with every sentence as a word of its own."""
    measured = weat_effect_size(targets, attributes)
    many = sum(len(owner) for owner in owners["targets"]) > sum(len(np.unique(owner)) for owner in owners["targets"])
    note = Note("metric", metric="seat", limit="sentences of one word taken for different words")
    return replace(measured, notes=(*measured.notes, note)) if many else measured


def ceat(
    targets: Sets, attributes: Sets, owners: Mapping[str, tuple[IntArray, ...]], samples: int = 1000, seed: int = 0
) -> Measured:
    """Random-effects mean of WEAT effect sizes, each with one sentence of every word drawn at random.

    Their standard deviation is that of a sample (ddof 1), as in the authors' program; those of WEAT and SEAT have ddof
    0, and are larger by sqrt(N / (N - 1)) for N target words. Effect sizes have the variance (m + n) / (m n) +
    d^2 / (2 (m + n)) for sets of m and n words, where the authors' program takes that of the associations, and the
    variance between them is DerSimonian and Laird's. The p-value is that of the combined effect over its standard
    error.
    """
    rng = np.random.default_rng(seed)
    first, second = (unit_rows(vectors) for vectors in targets)
    sides = [np.concatenate([first, second]) @ unit_rows(vectors).T for vectors in attributes]
    chosen = [_one_of_each(owner, samples, rng) for owner in owners["targets"]]
    rows = np.hstack([chosen[0], len(first) + chosen[1]])
    columns = [_one_of_each(owner, samples, rng) for owner in owners["attributes"]]
    towards = [side[rows[:, :, None], each[:, None, :]].mean(axis=2) for side, each in zip(sides, columns, strict=True)]
    s = towards[0] - towards[1]
    m = len(np.unique(owners["targets"][0]))
    n = s.shape[1] - m
    spread = s.std(axis=1, ddof=1)
    if spread.min() <= NOTHING:
        return no_value(NO_SPREAD, s.shape[1])
    sizes = (s[:, :m].mean(axis=1) - s[:, m:].mean(axis=1)) / spread
    variances = (m + n) / (m * n) + sizes**2 / (2 * (m + n))
    weights = 1 / variances
    apart = weights @ sizes**2 - (weights @ sizes) ** 2 / weights.sum()
    # DerSimonian and Laird's moment estimate: Cochran's Q less its expectation without any variance between
    between = max(0.0, (apart - (samples - 1)) / (weights.sum() - weights @ weights / weights.sum()))
    weights = 1 / (variances + between)
    value, error = float(weights @ sizes / weights.sum()), float(1 / np.sqrt(weights.sum()))
    apart_sets = unit_rows(attributes[0]).mean(axis=0) - unit_rows(attributes[1]).mean(axis=0)
    by_word = np.concatenate([first, second]) @ apart_sets
    note = Note("metric", metric="ceat", limit=f"p of {samples:,} dependent samples")
    return Measured(value, by_word, p_value=float(2 * ndtr(-abs(value) / error)), notes=(note,))


def _one_of_each(owners: IntArray, samples: int, rng: np.random.Generator) -> IntArray:
    """Places (samples, words) of one sentence of each word."""
    places = [np.flatnonzero(owners == word) for word in np.unique(owners)]
    return np.column_stack([rng.choice(place, samples) for place in places])


# of metrics that compare target words by two attribute sets
FOUR_SETS: Any = {"attributes": (2, 2), "words": "targets"}
LISTS = options_of_test()  # the one test of metrics that are weighted sums of cosines
CALISKAN = "Caliskan, Bryson and Narayanan (2017)", "10.1126/science.aal4230"

METRICS = Register(Metric, "metric", "bayesbias.metrics")


def register[M: Metric | Callable[..., Any]](metric: M) -> M:
    """Add a metric, which all that take metrics then know by its name.

    Parameters
    ----------
    metric
        A :class:`Metric`, or a function of the vectors of target sets and of attribute sets, whose name and docstring
        are those of the metric; it takes any number of sets then. It is returned, so that this is a decorator too.

    Examples
    --------
    >>> bb.metrics.register("mine")
    Traceback (most recent call last):
    bayesbias.errors.InputError: 'mine' is no metric: give the name of one, a Metric, or a function
    """
    METRICS.add(metric)
    return metric


for bundled in (
    Metric(
        "weat",
        weat,
        "WEAT",
        lambda sizes, options: (-2.0 * sum(sizes), 2.0 * sum(sizes)),
        *CALISKAN,
        **FOUR_SETS,
        options=options_of_test(permutation=True),
        linear=Linear(_weat_sides),
    ),
    Metric(
        "weat_effect_size",
        weat_effect_size,
        "WEAT effect size",
        _effect_bounds,
        *CALISKAN,
        **FOUR_SETS,
        options=options_of_test(permutation=True),
    ),
    Metric(
        "rnd",
        rnd,
        "RND",
        lambda sizes, options: (-2.0, 2.0) if options["distance"] == "cos" else (-np.inf, np.inf),
        "Garg, Schiebinger, Jurafsky and Zou (2018)",
        "10.1073/pnas.1720347115",
        options={"distance": Option("norm", lambda value, name: one_of(value, ("norm", "cos"), name)), **LISTS},
        linear=Linear(_rnd_sides, needs={"distance": "cos"}),
    ),
    Metric(
        "rnsb",
        rnsb,
        "RNSB",
        lambda sizes, options: (0.0, float(np.log(sum(sizes)))),
        "Sweeney and Najafian (2019)",
        "10.18653/v1/P19-1162",
        **FOUR_SETS,
        targets=(1, None),
        options={
            "holdout": Option(None, lambda value, name: value if value is None else flag(value, name)),
            "seed": SEED,
        },
        compat=True,
    ),
    Metric(
        "mac",
        mac,
        "MAC",
        (0.0, 2.0),
        "Manzini, Lim, Tsvetkov and Black (2019)",
        "10.18653/v1/N19-1062",
        targets=(1, None),
        attributes=(1, None),
        words="targets",
        optimum=1.0,
        unbiased="unrelated words",
        options=LISTS,
        linear=Linear(_mac_sides, constant=1.0),
    ),
    Metric("ect", ect, "ECT", (-1.0, 1.0), "Dev and Phillips (2019)", "10.48550/arXiv.1901.07656", optimum=1.0),
    Metric(
        "ripa",
        ripa,
        "RIPA",
        source="Ethayarajh, Duvenaud and Hirst (2019)",
        doi="10.18653/v1/P19-1166",
        options=LISTS,
        linear=Linear(_ripa_sides, needs={"normalise": True}),
        paired=True,
    ),
    Metric(
        "direct_bias",
        direct_bias,
        "direct bias",
        (0.0, 1.0),
        "Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)",
        "10.48550/arXiv.1607.06520",
        options={"exponent": Option(1.0, lambda value, name: finite_number(value, name, positive=True))},
        paired=True,
    ),
    Metric(
        "db_wa",
        db_wa,
        "DB/WA",
        (-2.0, 2.0),
        "Bolukbasi et al. (2016) and Caliskan et al. (2017), named by Du, Fang and Nguyen (2021)",
        "10.18653/v1/2021.emnlp-main.785",
        options=LISTS,
        linear=Linear(_db_wa_sides),
        paired=True,
    ),
    Metric(
        "nbm",
        nbm,
        "NBM",
        (-1.0, 1.0),
        "Gonen and Goldberg (2019)",
        "10.18653/v1/N19-1061",
        options={"neighbours": Option(100, whole_number)},
        paired=True,
        space=True,
    ),
    Metric(
        "same",
        same,
        "SAME",
        (0.0, 1.0),
        "Schröder, Schulz, Kenneweg, Feldhans, Hinder and Hammer (2021)",
        "10.48550/arXiv.2111.07864",
        targets=(2, None),
    ),
    Metric("wefat", wefat, "WEFAT", (-np.inf, np.inf), *CALISKAN, **FOUR_SETS, targets=(1, 1), usual=False),
    Metric(
        "seat",
        seat,
        "SEAT effect size",
        _effect_bounds,
        "May, Wang, Bordia, Bowman and Rudinger (2019)",
        "10.18653/v1/N19-1063",
        **FOUR_SETS,
        options=options_of_test(permutation=True),
        sentences=True,
        usual=False,
    ),
    Metric(
        "ceat",
        ceat,
        "CEAT combined effect size",
        (-2.0, 2.0),
        "Guo and Caliskan (2021)",
        "10.1145/3461702.3462536",
        **FOUR_SETS,
        options={"samples": Option(1000, lambda value, name: whole_number(value, name, least=2)), "seed": SEED},
        sentences=True,
        usual=False,
    ),
    Metric(
        "semaxis",
        semaxis,
        "SemAxis",
        lambda sizes, options: (-float(len(sizes)), float(len(sizes))),
        "An, Kwak and Ahn (2018)",
        "10.18653/v1/P18-1228",
        **FOUR_SETS,
        targets=(1, 2),
    ),
):
    register(bundled)
