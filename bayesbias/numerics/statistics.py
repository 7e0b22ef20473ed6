"""Classical statistics: intervals, permutation tests, effect sizes, variance components, intraclass correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, fdtri, stdtrit

from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray, sums_by
from bayesbias.numerics.marginal import CellStatistics

BLOCK = 2**22  # numbers in the matrices of a block of draws
TINY = 1e-300  # variance in place of 0, by which is divided
LEAST_SD = 1e-4  # of residuals, in sds of the outcome: below it cross-products are rounding
Component = tuple[int, ...]  # places of the facets whose combinations of levels share an effect

ROUNDING = 1e-12  # beside the mean square of ratings, or the largest of some sums, that is rounding and no more
FEWEST = 10  # objects without which resampling them says too little


@dataclass(frozen=True)
class MixedSums:
    """All that the posterior of a mixed model y = W b + u[level] + residual needs of the rows.

    The effects u of the grouping with most levels, the grouping apart, are integrated out; b holds the fixed effects
    and those of all other groupings.
    """

    within: FloatArray  # cross-products (q + 1, q + 1) of (W, y) about their means in the levels of the grouping apart
    between: FloatArray  # those of the means, added up over levels of one size, (sizes, q + 1, q + 1)
    # rows of a level, and the number of levels that have as many, (sizes,)
    sizes: IntArray
    levels: IntArray
    # sums of (W, y) in each level, (levels, q + 1), and its number of rows
    totals: FloatArray
    rows: IntArray
    scale_of: IntArray  # (q,): the scale of each column, 0 for fixed effects, 1 + number of its grouping for the others
    apart: int | None  # number of the grouping apart; None without groupings
    size: int  # rows in all


def mixed_sums(columns: FloatArray, y: FloatArray, groupings: Sequence[IntArray]) -> MixedSums:
    """Reduce columns of fixed effects (rows, terms), the outcome (rows,) and the numbers of the rows' levels."""
    sizes = [int(codes.max()) + 1 for codes in groupings]
    apart = int(np.argmax(sizes)) if sizes else None
    others = [i for i in range(len(sizes)) if i != apart]
    joint = np.column_stack([columns, *(np.eye(sizes[other])[groupings[other]] for other in others), y])
    scale_of = np.repeat([0, *(1 + other for other in others)], [columns.shape[1], *(sizes[other] for other in others)])
    level = groupings[apart] if apart is not None else np.empty(0, dtype=np.intp)
    rows, totals = np.bincount(level), np.zeros((0, joint.shape[1]))
    if apart is not None:
        totals = sums_by(joint, level, sizes[apart])
        joint = joint - (totals / rows[:, None])[level]
    distinct, place, levels = np.unique(rows, return_inverse=True, return_counts=True)
    parts = [totals[place == i].T @ totals[place == i] / size for i, size in enumerate(distinct)]
    between = np.array(parts).reshape(-1, joint.shape[1], joint.shape[1])
    return MixedSums(joint.T @ joint, between, distinct, levels, totals, rows, scale_of, apart, len(y))


def log_density_of_sds(sums: MixedSums, sds: FloatArray, fixed_sd: float) -> FloatArray:
    """Log density (draws,) of the outcome, up to a constant, with all effects integrated out.

    Sds (draws, 1 + groupings) are those of the residuals and of each grouping's effects, ``fixed_sd`` is the prior one
    of the fixed effects.
    """
    values = []
    for variance, _, of_means, _, root, x, square in _laws(sums, sds, fixed_sd):
        log_det = (sums.size - len(sums.rows)) * np.log(variance[:, 0]) + np.log(of_means) @ sums.levels
        log_root = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        values.append(-0.5 * (log_det + square - (x**2).sum(axis=1)) - log_root)
    return np.concatenate(values)


def draw_effects(
    sums: MixedSums, sds: FloatArray, fixed_sd: float, rng: np.random.Generator
) -> tuple[FloatArray, list[FloatArray]]:
    """Draws of the fixed effects (draws, terms), and of each grouping's effects (draws, levels), given the sds."""
    drawn = []
    for variance, apart, _, prior, root, x, _ in _laws(sums, sds, fixed_sd):
        noisy = (x + rng.standard_normal(x.shape))[:, :, None]
        joint = prior * np.linalg.solve(np.swapaxes(root, 1, 2), noisy)[:, :, 0]
        # the effects apart are normal given the others
        shrunk = apart / (variance + sums.rows * apart)
        mean = shrunk * (sums.totals[:, -1] - joint @ sums.totals[:, :-1].T)
        drawn.append((joint, mean + np.sqrt(variance * shrunk) * rng.standard_normal(mean.shape)))
    joint, alone = (np.concatenate(part) for part in zip(*drawn, strict=True))
    groups = range(sds.shape[1] - 1)
    effects = [alone if group == sums.apart else joint[:, sums.scale_of == 1 + group] for group in groups]
    return joint[:, sums.scale_of == 0], effects


def _laws(sums: MixedSums, sds: FloatArray, fixed_sd: float) -> Iterator[tuple[FloatArray, ...]]:
    """The normal law of b given sds, the effects of the grouping apart integrated out, some draws B at a time.

    Variances (B, 1) of residuals and of the effects apart, and that (B, sizes) of a level's mean, times its rows; prior
    sds (B, q); in units of these the root (B, q, q) of the precision, and its inverse times the products with y,
    (B, q); the sum (B,) of the squares of y by the inverse variances.
    """
    step = max(1, BLOCK // len(sums.scale_of) ** 2)
    for begin in range(0, len(sds), step):
        block = sds[begin : begin + step]
        variance = np.maximum(block[:, :1], LEAST_SD) ** 2
        apart = block[:, [1 + sums.apart]] ** 2 if sums.apart is not None else np.zeros_like(variance)
        # with u integrated out, deviations from the means of levels have the variance sigma^2, and the mean of a level
        # of n rows has sigma^2 / n + tau^2
        of_means = variance + sums.sizes * apart
        weighted = sums.within / variance[:, :, None] + np.einsum("bk,kij->bij", 1 / of_means, sums.between)
        prior = np.column_stack([np.full(len(block), fixed_sd), block[:, 1:]])[:, sums.scale_of]
        size = prior.shape[1]
        # the precision is I + R H R, which is regular for sds of 0 too
        root = np.linalg.cholesky(np.eye(size) + prior[:, :, None] * weighted[:, :size, :size] * prior[:, None, :])
        x = np.linalg.solve(root, (prior * weighted[:, :size, size])[:, :, None])[:, :, 0]
        yield variance, apart, of_means, prior, root, x, weighted[:, size, size]


@dataclass(frozen=True)
class FacetSums:
    """An array with one axis a facet, reduced to the sums of squares of its balanced analysis of variance."""

    components: tuple[Component, ...]  # sets of facets with an effect, the residual last
    # (C,): sum of squares and degrees of freedom of each stratum, in the order of the components
    squares: FloatArray
    freedom: FloatArray
    # (C, C): the mean square expected of stratum a is the sum over b of variance[b] * weights[b, a]
    weights: FloatArray
    # (C, C): whether b is noise to a: the residual to all, and the nested facet to those without it
    noise: NDArray[np.bool_]

    def log_likelihood(self, variances: FloatArray) -> FloatArray:
        """Log density (B,) of the sums of squares at variances (B, C), up to a constant: the restricted likelihood."""
        expected = np.maximum(variances @ self.weights, TINY)  # the squares of tiny deviations are 0
        return -0.5 * (np.log(expected) @ self.freedom + (1 / expected) @ self.squares)

    def finite_population(self, variances: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draws (B, C) of the variances of effects at hand, given the components (B, C).

        An effect at hand is what the observed levels add in the mean over those of the other facets, without the noise.
        It is normal given the array's means, so that the sum of squares of a stratum is noncentral chi-squared.
        """
        expected = variances @ self.weights
        meant = variances @ (self.weights * ~self.noise)
        own = np.diag(self.weights)
        # a mean x = effect + noise leaves the effect at share * x with the variance (1 - share) meant / own, and the
        # squares of x add up to the sum of squares over own
        share = meant / expected
        spread = np.maximum(meant / own * (1 - share), TINY)
        drawn: FloatArray = rng.noncentral_chisquare(self.freedom, share**2 * self.squares / own / spread)
        drawn *= spread / self.freedom
        drawn[:, -1] = variances[:, -1]
        return drawn

    def estimates(self) -> FloatArray:
        """Variances (C,) whose expected mean squares are those observed; they may be negative."""
        return np.linalg.solve(self.weights.T, self.squares / self.freedom)


def facet_sums(y: FloatArray, components: Sequence[Component], nested: Component = ()) -> FacetSums:
    """Reduce an array without gaps that has one axis a facet, each of at least two levels.

    The last component holds all facets; a stratum that belongs to none is left out. ``nested`` is a facet, and after it
    those within whose combinations of levels its own levels stand: its strata belong to the component of all of these.
    """
    sizes = np.array(y.shape)
    weights, noise = np.zeros((2, len(components), len(components)))
    for b, below in enumerate(components):
        for a, above in enumerate(components):
            weights[b, a] = np.prod(np.delete(sizes, below)) if set(above) <= set(below) else 0.0
            noise[b, a] = noise_to(below, above, nested, components[-1])
    squares, freedom = np.zeros((2, len(components)))
    for stratum in (chosen for size in range(1, y.ndim + 1) for chosen in combinations(range(y.ndim), size)):
        own = tuple(sorted({*stratum, *nested})) if nested and nested[0] in stratum else stratum
        if own in components:
            # an interaction: means over the other facets, centred along each of its own
            effect = y.mean(axis=tuple(axis for axis in range(y.ndim) if axis not in stratum), keepdims=True)
            for axis in stratum:
                effect = effect - effect.mean(axis=axis, keepdims=True)
            squares[components.index(own)] += y.size / effect.size * (effect**2).sum()
            freedom[components.index(own)] += np.prod(sizes[list(stratum)] - 1.0)
    return FacetSums(tuple(components), squares, freedom, weights, noise.astype(bool))


def noise_to(component: Component, other: Component, nested: Component, residual: Component) -> bool:
    """True where a component is noise to another: the residual, and the nested facet to components without it."""
    if component == other:
        return False
    return component == residual or (bool(nested) and nested[0] in component and nested[0] not in other)


def mean_squares(ratings: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """MS_R, MS_C, MS_E and MS_W of McGraw and Wong (1996) of tables (..., n, k) with two rows and columns or more."""
    n, k = ratings.shape[-2:]
    apart = ratings - ratings.mean(axis=(-2, -1), keepdims=True)
    rows, columns = apart.mean(axis=-1), apart.mean(axis=-2)
    error = apart - rows[..., :, None] - columns[..., None, :]
    of_columns, of_error = n * (columns**2).sum(axis=-1), (error**2).sum(axis=(-2, -1))
    sums = (k * (rows**2).sum(axis=-1), of_columns, of_error, of_columns + of_error)
    # equal ratings leave squares of rounding, of which a ratio would be noise
    floor = ROUNDING**2 * (ratings**2).sum(axis=(-2, -1))
    freedom = (n - 1, k - 1, (n - 1) * (k - 1), n * (k - 1))
    of_rows, *others = (np.where(value > floor, value, 0.0) / df for value, df in zip(sums, freedom, strict=True))
    return of_rows, others[0], others[1], others[2]


def icc(ratings: FloatArray, form: str, prob: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """An intraclass correlation of tables (..., objects, raters) and the ends of its interval; NaN for equal ratings.

    A form is one-way, two-way random or two-way mixed; of one rating or of the mean of k. All tables are taken at once.

    References
    ----------
    Shrout, P. E. and Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater reliability. Psychological
    Bulletin 86(2). https://doi.org/10.1037/0033-2909.86.2.420
    McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass correlation coefficients.
    Psychological Methods 1(1). https://doi.org/10.1037/1082-989X.1.1.30
    """
    (n, k), model, tail = ratings.shape[-2:], int(form[4]), (1 - prob) / 2
    rows, columns, error, within = mean_squares(ratings)
    if model == 2:
        value, low, high = _agreement(rows, columns, error, n, k, tail)
    else:
        # functions of one F ratio, and so are the ends of their intervals, F_L and F_U
        beside, freedom = (within, n * (k - 1)) if model == 1 else (error, (n - 1) * (k - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = rows / beside
            ratios = ratio, ratio / fdtri(n - 1, freedom, 1 - tail), ratio * fdtri(freedom, n - 1, 1 - tail)
            value, low, high = (np.where(np.isinf(f), 1.0, (f - 1) / (f + k - 1)) for f in ratios)
    if form[6] == "k":
        return _of_mean(value, k), _of_mean(low, k), _of_mean(high, k)
    return value, low, high


def _agreement(
    rows: FloatArray, columns: FloatArray, error: FloatArray, n: int, k: int, tail: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ICC(2,1), and its interval by Satterthwaite's degrees of freedom: case 2A of McGraw and Wong (1996), table 7.

    Their v is (a MS_C + b MS_E)^2 over the sum of the squares of the two terms by their degrees of freedom, with
    a = k rho / (n (1 - rho)) and b = 1 + (n - 1) a. Here both are times n (1 - rho), which is 0 for a rho of 1.
    """
    with np.errstate(all="ignore"):
        value = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
        f_columns = columns / error
        b = n * (1 + (k - 1) * value) - k * value
        freedom = (k - 1) * (n - 1) * (k * value * f_columns + b) ** 2
        freedom /= (n - 1) * k**2 * value**2 * f_columns**2 + b**2
        mixed = k * columns + (k * n - k - n) * error
        above, below = fdtri(n - 1, freedom, 1 - tail), fdtri(freedom, n - 1, 1 - tail)
        low = n * (rows - above * error) / (above * mixed + n * rows)
        high = n * (below * rows - error) / (mixed + n * below * rows)
    # raters that agree but for their levels leave no error, and with it no degrees of freedom
    exact = (error == 0) & (rows > 0)
    none = exact & (columns == 0)
    # the approximation may fail far from what any raters would give
    fails = exact | ~((low <= value) & (value <= high))
    low, high = (np.where(none, 1.0, np.where(fails, np.nan, end)) for end in (low, high))
    return np.asarray(value), low, high


def _of_mean(value: FloatArray, k: int) -> FloatArray:
    """The reliability of the mean of k ratings from that of one, by the formula of Spearman and Brown.

    It is without bound towards -1 / (k - 1), and -inf below.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = k * value / (1 + (k - 1) * value)
    return np.asarray(np.where(1 + (k - 1) * value <= ROUNDING, -np.inf, mean))


def bootstrap_icc(
    ratings: FloatArray, form: str, prob: float, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """An intraclass correlation of tables (..., n, k) with its percentile-t interval over objects.

    Objects are drawn with replacement, raters stay. On the scale z = log((1 + (k - 1) rho) / (1 - rho)) / 2, which is
    half the logarithm of F for the one-way and the mixed forms, each draw is studentised by its jackknife: at a nominal
    89% it held the truth in 84 to 89% of 300 small tables, the BCa of ``scipy.stats.bootstrap`` in 74 to 85%.

    References
    ----------
    Ukoumunne, O. C., Davison, A. C., Gulliford, M. C. and Chinn, S. (2003). Non-parametric bootstrap confidence
    intervals for the intraclass correlation coefficient. Statistics in Medicine 22(24).
    https://doi.org/10.1002/sim.1643
    """
    value = icc(ratings, form, prob)[0]
    n, k = ratings.shape[-2:]
    ends = np.array([_ends(table, int(form[4]), prob, draws, rng) for table in ratings.reshape(-1, n, k)])
    low, high = (ends[:, end].reshape(value.shape) for end in (0, 1))
    if form[6] == "k":
        low, high = _of_mean(low, k), _of_mean(high, k)
    known = np.isfinite(value)
    return value, np.where(known, low, np.nan), np.where(known, high, np.nan)


def _ends(table: FloatArray, model: int, prob: float, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Ends of the percentile-t interval of the coefficient of one rating of a table (n, k); NaN where there is none."""
    n, k = table.shape
    counts = np.zeros((draws + 1, n))
    counts[0] = 1  # the table as it is
    np.add.at(counts, (np.arange(1, draws + 1)[:, None], rng.integers(0, n, (draws, n))), 1)
    with np.errstate(all="ignore"):
        z, se = _studentised(table - table.mean(), counts, model)
        t = (z[1:] - z[0]) / se[1:]
    t = t[np.isfinite(t)]
    if not np.isfinite(z[0]) or not se[0] > 0 or len(t) < draws / 2:
        return np.nan, np.nan
    # a large t of the draws stands for a z that came out too high: it gives the lower end
    upper, lower = np.quantile(t, [(1 + prob) / 2, (1 - prob) / 2])
    ratio = np.exp(2 * (z[0] - se[0] * np.array([upper, lower])))
    low, high = (ratio - 1) / (ratio + k - 1)
    return float(low), float(high)


def _studentised(table: FloatArray, counts: FloatArray, model: int) -> tuple[FloatArray, FloatArray]:
    """The scale z and its jackknife standard error (draws,) for rows by their counts (draws, n)."""
    n, k = table.shape
    sums, squares = table.sum(axis=1), (table**2).sum(axis=1)
    total, between, every = counts @ sums, counts @ sums**2 / k, counts @ squares
    columns = counts @ table
    across = (columns**2).sum(axis=1)
    z = _scale(total, between, every, across, n, k, model)
    # the jackknife: all sums without one of the rows, for each row at once; a row drawn twice is left out twice
    left = _scale(
        total[:, None] - sums,
        between[:, None] - sums**2 / k,
        every[:, None] - squares,
        across[:, None] - 2 * columns @ table.T + squares,
        n - 1,
        k,
        model,
    )
    left = np.where(counts > 0, left, 0.0)
    middle = (counts * left).sum(axis=1, keepdims=True) / n
    return z, np.sqrt((n - 1) / n * (counts * (left - middle) ** 2).sum(axis=1))


def _scale(
    total: FloatArray, between: FloatArray, every: FloatArray, across: FloatArray, n: int, k: int, model: int
) -> FloatArray:
    """The scale z from sums of all ratings, squared row sums over k, squares, and squared column sums."""
    middle = total**2 / (n * k)
    rows = (between - middle) / (n - 1)
    levels = across / n - middle
    if model == 1:
        ratio = rows / ((every - between) / (n * (k - 1)))
    else:
        error = (every - between - levels) / ((n - 1) * (k - 1))
        ratio = rows / error
        if model == 2:
            value = (rows - error) / (rows + (k - 1) * error + k * (levels / (k - 1) - error) / n)
            ratio = (1 + (k - 1) * value) / (1 - value)
    return np.log(ratio) / 2


Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")
MOST_PARTITIONS = 1_000_000  # partitions up to which all are looked at
BLOCK_OF_PARTITIONS = 2**20  # numbers of random partitions that are drawn at once


def ends(draws: FloatArray, prob: float) -> tuple[float, float]:
    """The equal-tailed interval of draws; NaN among them is left out."""
    low, high = np.nanquantile(draws, [(1 - prob) / 2, (1 + prob) / 2])
    return float(low), float(high)


def sorted_interval(ordered: FloatArray, prob: float) -> tuple[FloatArray, FloatArray]:
    """Ends (...) of the equal-tailed interval of draws (..., D) in ascending order.

    The quantiles at (1 - prob) / 2 and (1 + prob) / 2, interpolated as NumPy's are; draws of the other sign have the
    same ends with the other sign.
    """
    last = ordered.shape[-1] - 1
    below, share = divmod((1 - prob) / 2 * last, 1)
    near, inner = int(below), min(int(below) + 1, last)
    low = (1 - share) * ordered[..., near] + share * ordered[..., inner]
    high = (1 - share) * ordered[..., last - near] + share * ordered[..., last - inner]
    return low, high


def t_ends(estimate: float, se: float, df: float, prob: float) -> tuple[float, float]:
    """Ends of the equal-tailed interval of Student's t."""
    half = se * float(stdtrit(df, 0.5 + prob / 2))
    return estimate - half, estimate + half


def mean_interval(values: FloatArray, prob: float) -> tuple[float, float]:
    """Student's t interval of the mean of values (rows,); NaN for fewer than two.

    Of a few skewed shares it covers better than the percentile bootstrap does.
    """
    if len(values) < 2:
        return float("nan"), float("nan")
    se = float(values.std(ddof=1) / np.sqrt(len(values)))
    return t_ends(float(values.mean()), se, len(values) - 1, prob)


def share_interval(right: int, of: int, prob: float) -> tuple[float, float]:
    """Jeffreys' interval of a share: the equal-tailed one of Beta(right + 1/2, wrong + 1/2)."""
    tail = (1 - prob) / 2
    low = 0.0 if right == 0 else float(betaincinv(right + 0.5, of - right + 0.5, tail))
    high = 1.0 if right == of else float(betaincinv(right + 0.5, of - right + 0.5, 1 - tail))
    return low, high


def clustered_contrast(
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    list_of_attribute: IntArray,
    y: FloatArray,
    cells: CellStatistics,
    first: int,
    second: int,
    weights: FloatArray,
) -> tuple[float, float, float, IntArray]:
    """Weighted mean over protected words of the difference of two cell means, as a sum over attribute words.

    With its standard error, Satterthwaite's degrees of freedom and the numbers of words of each list behind it.
    ``weights`` (J,) of the words add up to 1 over those that have both connections, and are 0 for others.
    Attribute words of one list are independent draws: the variance of the sum is the sum over lists of n times the
    variance of a word's contribution. With complete lists this is the leave-one-word-out jackknife. Each row has a
    protected word, a connection, an attribute word and a distance. The standard error is NaN where a list has one word.
    """
    known = weights.any()
    sign = np.where(connection == first, 1.0, np.where(connection == second, -1.0, 0.0))
    # the contrast as a sum over distances, so that it is a sum over attribute words of what each contributes
    weight = sign * weights[word] / cells.n[word, connection]
    apart = y - cells.mean[word, connection]
    size = len(list_of_attribute)
    weighed = np.bincount(attribute, weights=np.abs(weight), minlength=size) > 0
    contribution = np.bincount(attribute, weights=weight * apart, minlength=size)
    members = [
        np.flatnonzero(weighed & (list_of_attribute == number)) for number in np.unique(list_of_attribute[weighed])
    ]
    n = np.array([len(rows) for rows in members])
    estimate = float((weight * y).sum())
    if not known or (n < 2).any():
        return estimate if known else float("nan"), float("nan"), float("nan"), n
    variance = n * np.array([contribution[rows].var(ddof=1) for rows in members])
    total = variance.sum()
    # Satterthwaite (1946, https://doi.org/10.2307/3002019): matches the variance of the estimated variance
    df = total**2 / (variance**2 / (n - 1)).sum() if total > 0 else float("inf")
    return estimate, float(np.sqrt(total)), float(df), n


@dataclass(frozen=True)
class PermutationTest:
    """A p-value, the number of partitions that it rests on, and whether these are all there are."""

    p_value: float
    partitions: int
    exact: bool


def permutation_test(
    first: FloatArray, second: FloatArray, alternative: Alternative, permutations: int, rng: np.random.Generator
) -> PermutationTest:
    """Permutation test of a difference of means: how often words dealt out at random give one as extreme.

    All partitions are counted (count / N) where there are at most a million; else ``permutations`` random ones, and the
    observed partition beside them, (count + 1) / (n + 1). Extreme is a mean of the first set that is at least as large
    (``"greater"``) or as small (``"less"``), or a difference at least as large in size (``"two-sided"``).
    ``scipy.stats.permutation_test`` takes hundreds of times as long.
    """
    values, size = np.concatenate([first, second]), len(first)
    every = comb(len(values), size)
    observed = first.mean() - second.mean()
    slack = ROUNDING * max(np.abs(values).max(initial=0.0), np.finfo(float).tiny) * len(values)
    count, total = 0, values.sum()
    for sums in partition_sums(values, size, permutations, rng):
        drawn = sums / size - (total - sums) / len(second)
        if alternative == "greater":
            count += int((drawn >= observed - slack).sum())
        elif alternative == "less":
            count += int((drawn <= observed + slack).sum())
        else:
            count += int((np.abs(drawn) >= abs(observed) - slack).sum())
    if every <= MOST_PARTITIONS:
        return PermutationTest(count / every, every, True)
    return PermutationTest((count + 1) / (permutations + 1), permutations, False)


def partition_sums(values: FloatArray, size: int, permutations: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Sums of the first set, in blocks: of every partition where they are at most a million, else of random ones."""
    if comb(len(values), size) <= MOST_PARTITIONS:
        yield _subset_sums(values, size)
        return
    step = max(1, BLOCK_OF_PARTITIONS // len(values))
    for begin in range(0, permutations, step):
        drawn = rng.random((min(step, permutations - begin), len(values)))
        yield values[np.argpartition(drawn, size - 1, axis=1)[:, :size]].sum(axis=1)


def _subset_sums(values: FloatArray, size: int) -> FloatArray:
    """The sums of all subsets of a size, from those of the values before each."""
    if 2 * size > len(values):  # the few that are left out are fewer
        return values.sum() - _subset_sums(values, len(values) - size)
    sums: list[FloatArray] = [np.zeros(1), *(np.empty(0) for _ in range(size))]
    for i, value in enumerate(values):
        # subsets with this value are those without it of one size less; from the largest on, so that none has it twice;
        # sizes from which too few values are left to reach the wanted one are skipped
        for chosen in range(min(i + 1, size), max(0, size - (len(values) - i)), -1):
            sums[chosen] = np.concatenate([sums[chosen], sums[chosen - 1] + value])
    return sums[size]


def known_mean(values: FloatArray, axis: int = -1) -> FloatArray:
    """Mean along an axis over the values that are known (not NaN); NaN where there is none."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis)
    return mean


def sum_statistic(first: FloatArray, second: FloatArray) -> FloatArray:
    """Sum of s over the first target set less that over the second, along the last axis."""
    return first.sum(axis=-1) - second.sum(axis=-1)


def effect_size(first: FloatArray, second: FloatArray, axis: int = -1) -> FloatArray:
    """Difference of the means of s over its population standard deviation over both sets, along an axis.

    Words whose s is not known (NaN) are left out. NaN where s does not vary beyond rounding.
    """
    both = np.concatenate([first, second], axis=axis)
    spread = np.sqrt(known_mean((both - np.expand_dims(known_mean(both, axis), axis)) ** 2, axis))
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (known_mean(first, axis) - known_mean(second, axis)) / spread
    return np.where(spread > NOTHING, size, np.nan)
