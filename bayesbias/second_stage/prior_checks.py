"""``prior_check``: truths from a model's own prior, the analysis that is printed, and how often its intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._support.arguments import one_of, probability, several, text, whole_number
from bayesbias._support.phrases import percent
from bayesbias._support.progress import progress
from bayesbias._support.results import Result
from bayesbias._support.runs import one_thread
from bayesbias.axes import axis
from bayesbias.axes.places import Axis, summary_of
from bayesbias.checks.calibration.simulation import simulate
from bayesbias.checks.summaries import PROB, describe
from bayesbias.comparison import compare
from bayesbias.contrast import contrasts
from bayesbias.distances import DistanceTable, distance_table
from bayesbias.errors import InputError, listed
from bayesbias.models.fits import fit
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.offsets import MeanOffset, drawn_offset, drawn_signal, expected_variances, signal
from bayesbias.second_stage import TwoStage, criterion, pools, specifications, trends

DOUBTED = 3.0
"""Standard errors between the share of intervals that hold and their mass, from which an analysis is named."""


class Interval(NamedTuple):
    """Intervals of one quantity in one replicate, and the truths: numbers or arrays of one shape."""

    quantity: str
    truth: Any
    low: Any
    high: Any


type Replicate = Callable[[np.random.Generator, float], Iterator[Interval]]
"""One replicate: draws truths from the prior, runs the analysis at a mass, and yields the intervals that it prints."""

_ANALYSES: dict[str, Replicate] = {}


def prior_analyses() -> dict[str, Replicate]:
    """The analyses that :func:`prior_check` knows, by name.

    Examples
    --------
    >>> list(bb.calibration.prior_analyses())[:2]
    ['places', 'audit']
    """
    return dict(_ANALYSES)


def prior_analysis(name: str) -> Callable[[Replicate], Replicate]:
    """Add an analysis to those that :func:`prior_check` knows: a function from a generator and a mass to intervals.

    Examples
    --------
    >>> @bb.calibration.prior_analysis("one number")
    ... def one_number(rng, prob):
    ...     truth = rng.uniform()  # the prior, which is the posterior of no data
    ...     yield bb.calibration.Interval("number", truth, (1 - prob) / 2, (1 + prob) / 2)
    >>> bb.calibration.prior_check("one number", replicates=3).table()["quantity"].tolist()
    ['number']
    """
    text(name, "name")

    def added(replicate: Replicate) -> Replicate:
        _ANALYSES[name] = replicate
        return replicate

    return added


@dataclass(frozen=True, repr=False)
class PriorCheck(Result):
    """Coverage of printed intervals for truths that were drawn from each model's own prior.

    Attributes
    ----------
    rows
        One row a quantity: ``analysis``, ``quantity``, ``level`` (mass of its intervals), ``replicates``, ``intervals``
        (in all replicates), ``covered`` (share that hold the truth), ``se`` (of that share, over replicates).
    """

    notes: ClassVar[tuple[str, ...]] = ()

    rows: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """One row a quantity: see ``rows``."""
        return self.rows

    @property
    def doubted(self) -> pd.DataFrame:
        """The rows whose share is more than three standard errors from the mass of the intervals."""
        return self.rows[(self.rows["covered"] - self.rows["level"]).abs() > DOUBTED * self.rows["se"]]

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        doubted, level = self.doubted, percent(float(self.rows["level"].iloc[0]))
        named = [f"{row.analysis}, {row.quantity} ({row.covered:.3f})" for row in doubted.itertuples()]
        return [
            f"Truths were drawn from the models' own priors, {self.rows['replicates'].min():,} replicates or more, and "
            f"the {level} intervals of {len(self.rows)} quantities counted.",
            f"Intervals of all quantities hold the truth in {self.rows['covered'].min():.3f} to "
            f"{self.rows['covered'].max():.3f}.",
            f"More than three standard errors from {level}: {listed(named)}."
            if named
            else f"None is more than three standard errors from {level}.",
        ]


def prior_check(
    analyses: str | Sequence[str] | None = None, replicates: int = 100, prob: float = PROB, seed: int = 0
) -> PriorCheck:
    """Truths from each model's own prior, data from them, the analysis as it is printed, and its intervals counted.

    Intervals of a Bayesian model hold truths from its prior as often as they say. Where they do not, a density, a grid
    or a summary is wrong, or an approximation does not hold. Real data do not come from the prior: what they do to
    intervals is another question.

    Parameters
    ----------
    analyses
        Names of analyses, by default all: ``"places"``, ``"audit"``, ``"criterion"`` (axes of three
        pairs), ``"contrasts"`` and ``"related contrasts"``, ``"changes"``, ``"pool"``, ``"trend"``, ``"multiverse"``.
        :func:`prior_analysis` adds others.
    replicates, prob, seed
        Draws from the prior for each analysis; mass of the intervals; seed.

    Returns
    -------
    PriorCheck
        ``table()``, ``doubted``, ``text()``.

    References
    ----------
    Cook, S. R., Gelman, A. and Rubin, D. B. (2006). Validation of software for Bayesian models using posterior
    quantiles. Journal of Computational and Graphical Statistics 15(3). https://doi.org/10.1198/106186006X136976

    Examples
    --------
    >>> found = bb.calibration.prior_check("audit", replicates=3)
    >>> found.table()[["analysis", "quantity", "intervals"]].values.tolist()
    [['audit', 'place', 180]]
    """
    known = prior_analyses()
    names = [one_of(name, tuple(known), "analyses") for name in (known if analyses is None else several(analyses))]
    if not names:
        raise InputError(f"analyses is empty: give some of {', '.join(known)}, or None for all")
    count, mass = whole_number(replicates, "replicates", least=2), probability(prob, "prob")
    start = whole_number(seed, "seed", least=0, most=None)
    rows = []
    with progress("drawing from priors", len(names) * count) as done, one_thread():
        for at, name in enumerate(names):
            rates: dict[str, list[FloatArray]] = {}
            for i in range(count):
                rng = np.random.default_rng([start, list(known).index(name), i])
                for each in known[name](rng, mass):
                    inside = (np.asarray(each.low) <= each.truth) & (each.truth <= np.asarray(each.high))
                    rates.setdefault(each.quantity, []).append(np.ravel(inside).astype(float))
                done(at * count + i + 1)
            rows += [_row(name, quantity, mass, counted) for quantity, counted in rates.items()]
    return PriorCheck(pd.DataFrame(rows))


def _row(name: str, quantity: str, level: float, held: Sequence[FloatArray]) -> dict[str, Any]:
    """The share of intervals that hold, with its standard error; intervals of one replicate go together."""
    shares = np.array([each.mean() for each in held])
    # of replicates that all hold there is no variance: it is at least that of independent intervals
    variance = max(shares.var(ddof=1), level * (1 - level) / np.mean([len(each) for each in held]))
    return {
        "analysis": name,
        "quantity": quantity,
        "level": level,
        "replicates": len(shares),
        "intervals": sum(map(len, held)),
        "covered": shares.mean(),
        "se": np.sqrt(variance / len(shares)),
    }


EMBEDDING, PAIRS, PLACED = "glove-50d-slice", 3, 60
"""The embedding, number of pairs and number of words of analyses of axes."""
RELATED = ("google-news-slice", "weat7")
"""The embedding and the lists of contrasts of related words."""
SHAPE = {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 6, "h": 6}, "human": 12}
EMBEDDINGS, DRAWS = 6, 1000
DECISIONS = (3, 2, 2)
"""Numbers of options of the decisions of a multiverse."""


@cache
def _placed(name: str) -> Axis:
    """A bundled axis with some words, whose offset is exchanged for drawn ones."""
    whole = axis(EMBEDDING, name)
    return whole.with_words(whole.words[:: len(whole.words) // PLACED][:PLACED])


def _shown(on: Axis, behind: FloatArray, rng: np.random.Generator) -> MeanOffset:
    """Mean offset of a few pairs, drawn around what lies behind an axis."""
    return drawn_offset(on.field, expected_variances(on.field, on.poles.strata), behind, PAIRS, rng)


def _drawn_axis(rng: np.random.Generator) -> tuple[FloatArray, Axis]:
    """True places, and the axis that a few pairs show."""
    on = _placed("affluence")
    behind = drawn_signal(len(on.field.variances), rng)
    return on.coordinates @ behind, replace(on, offset=_shown(on, behind, rng))


@prior_analysis("places")
def _places(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    truth, on = _drawn_axis(rng)
    table = on.table(prob, population="pairs", order=False)
    yield Interval("place, further pairs", truth, table["low"], table["high"])
    half = PLACED // 2
    row = on.contrast(on.words[:half], on.words[half:], prob, population="pairs").iloc[0]
    yield Interval("contrast, further pairs", truth[:half].mean() - truth[half:].mean(), row["low"], row["high"])


@prior_analysis("audit")
def _audit(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    truth, on = _drawn_axis(rng)
    behind = signal(on.offset)
    mean, sd = behind.places(on.coordinates)
    summary = summary_of(mean, sd, behind.freedom, prob, 1.0)
    yield Interval("place", truth, summary["low"], summary["high"])


@prior_analysis("criterion")
def _criterion(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    """Values with a uniform correlation, whose residual is in part that of related words."""
    truth, on = _drawn_axis(rng)
    rho, shared = rng.uniform(-1, 1), rng.beta(0.4, 1)
    places, smooth, single = (
        (part - part.mean()) / part.std()
        for part in (truth, on.coordinates @ rng.standard_normal(on.coordinates.shape[1]), rng.standard_normal(PLACED))
    )
    values = rho * places + np.sqrt(1 - rho**2) * (np.sqrt(shared) * smooth + np.sqrt(1 - shared) * single)
    values_by_word = dict(zip(on.words, values, strict=True))
    row = criterion(on, values_by_word, stages=TwoStage(draws=DRAWS), seed=int(rng.integers(2**31))).table(prob).iloc[0]
    yield Interval("correlation", rho, row["low"], row["high"])


@prior_analysis("contrasts")
def _contrasts(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    table = simulate(SHAPE, "crossed", seed=int(rng.integers(2**31)))
    yield from _of_contrasts(table, "crossed", "human", rng, prob)


@cache
def _related_table() -> pd.DataFrame:
    return distance_table(*RELATED)


@prior_analysis("related contrasts")
def _related_contrasts(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    table = simulate(_related_table(), "related", seed=int(rng.integers(2**31)))
    yield from _of_contrasts(table, "related", "different", rng, prob)


def _of_contrasts(
    table: DistanceTable, model: str, second: str, rng: np.random.Generator, prob: float
) -> Iterator[Interval]:
    """The whole list and rows of words of associated less another connection."""
    post = fit(table, model, draws=DRAWS, chains=1, seed=int(rng.integers(2**31)))
    labels = post["posterior"]["connection"].to_numpy().tolist()
    means = table.truth["word_mean"]
    truth = means[:, labels.index("associated")] - means[:, labels.index(second)]
    rows = contrasts(post, "associated", second, prob=prob, rows="difference")
    yield Interval("whole list", truth.mean(), rows["low"].iloc[0], rows["high"].iloc[0])
    yield Interval("words", truth, rows["low"].to_numpy()[1:], rows["high"].to_numpy()[1:])


@prior_analysis("changes")
def _changes(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    before = simulate(SHAPE, "crossed", seed=int(rng.integers(2**31)))
    moved = simulate(SHAPE, "change", seed=int(rng.integers(2**31)))
    after = before.assign(distance=before["distance"] + moved["distance"])
    comparison = compare(before=before, after=after, draws=DRAWS, seed=int(rng.integers(2**31)))
    at = [list(dict.fromkeys(before["connection"])).index(name) for name in ("associated", "human")]
    words = moved.truth["word_mean"]
    rows = comparison.contrasts("associated", "human", prob=prob, rows="difference")
    yield Interval("words", words[:, at[0]] - words[:, at[1]], rows["low"].to_numpy()[1:], rows["high"].to_numpy()[1:])
    mean = moved.truth["connection_mean"]
    yield Interval("whole list", mean[at[0]] - mean[at[1]], rows["low"].iloc[0], rows["high"].iloc[0])


def _errors(size: int, rng: np.random.Generator) -> FloatArray:
    """A covariance (n, n) of estimates that share half of their errors, on average."""
    cause = rng.standard_normal((2 * size, size)) / np.sqrt(2 * size)
    covariance: FloatArray = 0.02**2 * (0.5 + 0.5 * cause.T @ cause)
    return covariance


def _half_cauchy(width: float, rng: np.random.Generator) -> float:
    return float(width * np.abs(rng.standard_cauchy()))


@prior_analysis("pool")
def _pool(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    """Embeddings whose joint covariance is known, partially pooled."""
    sd, covariance = _half_cauchy(pools.WIDTH, rng), _errors(EMBEDDINGS, rng)
    theta = sd * rng.standard_normal(EMBEDDINGS)
    y, equal = rng.multivariate_normal(theta, covariance), np.full(EMBEDDINGS, 1 / EMBEDDINGS)
    layout = pools._Grouping(np.arange(EMBEDDINGS), None, False, equal)
    drawn = layout.variables(layout.drawn(y, covariance, pools.WIDTH, DRAWS, rng), equal)
    truths = {"theta": theta, "mean": theta.mean(), "population_mean": 0.0, "between_sd": sd}
    for quantity, truth in truths.items():
        row = describe(drawn[quantity][1], prob)
        yield Interval(quantity, truth, row["low"], row["high"])


@prior_analysis("trend")
def _trend(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    """A line through embeddings whose joint covariance is known, with deviations that are correlated in time."""
    times, slope, covariance = np.arange(float(EMBEDDINGS)), 0.02 * rng.standard_normal(), _errors(EMBEDDINGS, rng)
    alike = rng.choice(trends.CORRELATIONS) ** np.abs(times[:, None] - times)
    shared, single = (_half_cauchy(trends.WIDTH, rng) for _ in range(2))
    deviations = shared**2 * alike + single**2 * np.eye(EMBEDDINGS)
    y = rng.multivariate_normal(slope * times, deviations + covariance)
    levels, _ = trends._levels(y, covariance, times, "linear", "equal", DRAWS, rng)
    row = describe(np.column_stack([levels, levels[:, -1] - levels[:, 0]]), prob)
    yield Interval("levels", slope * times, row["low"][:-1], row["high"][:-1])
    yield Interval("change", slope * times[-1], row["low"][-1], row["high"][-1])


@prior_analysis("multiverse")
def _multiverse(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    """Specifications with correlated errors, effects of options, and residuals as correlated as the errors."""
    options = np.indices(DECISIONS).reshape(len(DECISIONS), -1)
    size = options.shape[1]
    covariance = _errors(size, rng)
    members = [np.equal(codes[:, None], np.arange(count)) for codes, count in zip(options, DECISIONS, strict=True)]
    designs = [member.astype(float) for member in members]
    effects = [_half_cauchy(specifications.WIDTH, rng) * rng.standard_normal(count) for count in DECISIONS]
    effects = [own - own.mean() for own in effects]
    every = np.column_stack([np.ones(size), *designs])
    left = np.eye(size) - every @ np.linalg.pinv(every)
    residual = left @ rng.multivariate_normal(np.zeros(size), covariance)
    residual *= _half_cauchy(specifications.WIDTH, rng) * np.sqrt(size / np.trace(left @ covariance @ left))
    theta = sum(design @ own for design, own in zip(designs, effects, strict=True)) + residual
    names = {f"d{i}": "unsure" for i in range(len(DECISIONS))}
    rows = pd.DataFrame(dict(zip(names, options.astype(str), strict=True))).assign(status="done", reason="")
    y = theta + rng.multivariate_normal(np.zeros(size), covariance)
    multiverse = specifications.multiverse_of(
        rows, names, y, covariance, np.empty((0, size)), False, int(rng.integers(2**31))
    )
    table = multiverse.effects(prob)
    yield Interval("effects", np.concatenate(effects), table["low"], table["high"])
    whole = multiverse.means(prob).iloc[0]
    yield Interval("mean", theta.mean(), whole["low"], whole["high"])
