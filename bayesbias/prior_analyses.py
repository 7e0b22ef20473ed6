"""The analyses of :func:`calibration.prior_check`: truths from each model's prior, and the intervals printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from bayesbias._core.offsets import MeanOffset, drawn_offset, drawn_signal, expected_variances, signal
from bayesbias._core.vectors import FloatArray
from bayesbias.axes import angles, axis
from bayesbias.axes.places import Axis, summary_of
from bayesbias.calibration.priors import Interval, prior_analysis
from bayesbias.calibration.simulation import simulate
from bayesbias.checks.summaries import describe
from bayesbias.comparison import compare, contrasts
from bayesbias.distances import DistanceTable, distance_table
from bayesbias.models.fits import fit
from bayesbias.second_stage import TwoStage, criterion, pools, specifications, trends

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
    """What a few pairs show of what lies behind an axis."""
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
    found = summary_of(mean, sd, behind.freedom, prob, 1.0)
    yield Interval("place", truth, found["low"], found["high"])


@prior_analysis("angle")
def _angle(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    first, second = (_placed(name) for name in ("affluence", "morality"))
    field, size, rho = first.field, len(first.field.variances), rng.uniform(-1, 1)
    one, other = (drawn_signal(size, rng) for _ in range(2))
    other = rho * one * other.std() / one.std() + np.sqrt(1 - rho**2) * other
    offsets = _shown(first, one, rng), _shown(replace(second, field=field), other, rng)
    seen = angles.TwoOffsets(field, offsets, {"pairs": np.zeros(size)})
    row = describe(angles.cosines(seen, rng)[0][:, None], prob)
    truth = (one * other) @ field.variances / (field.lengths(one) * field.lengths(other))
    yield Interval("cosine", truth, row["low"][0], row["high"][0])


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
    given = dict(zip(on.words, values, strict=True))
    row = criterion(on, given, stages=TwoStage(draws=DRAWS), seed=int(rng.integers(2**31))).table(prob).iloc[0]
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
    found = contrasts(post, "associated", second, prob=prob, rows="difference")
    yield Interval("whole list", truth.mean(), found["low"].iloc[0], found["high"].iloc[0])
    yield Interval("words", truth, found["low"].to_numpy()[1:], found["high"].to_numpy()[1:])


@prior_analysis("changes")
def _changes(rng: np.random.Generator, prob: float) -> Iterator[Interval]:
    before = simulate(SHAPE, "crossed", seed=int(rng.integers(2**31)))
    moved = simulate(SHAPE, "change", seed=int(rng.integers(2**31)))
    after = before.assign(distance=before["distance"] + moved["distance"])
    found = compare(before=before, after=after, draws=DRAWS, seed=int(rng.integers(2**31)))
    at = [list(dict.fromkeys(before["connection"])).index(name) for name in ("associated", "human")]
    words = moved.truth["word_mean"]
    rows = found.contrasts("associated", "human", prob=prob, rows="difference")
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
    layout = pools._Layout(np.arange(EMBEDDINGS), None, False, equal)
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
    found = specifications.multiverse_of(
        rows, names, y, covariance, np.empty((0, size)), False, int(rng.integers(2**31))
    )
    table = found.effects(prob)
    yield Interval("effects", np.concatenate(effects), table["low"], table["high"])
    whole = found.means(prob).iloc[0]
    yield Interval("mean", theta.mean(), whole["low"], whole["high"])
