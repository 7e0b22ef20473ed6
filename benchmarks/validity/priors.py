"""``calibration/priors``: printed intervals for truths that were drawn from each model's own prior.

Intervals of a Bayesian model hold truths from its prior as often as they say. Where they do not, a density, a grid or a
summary is wrong, or an approximation does not hold.
"""

from dataclasses import replace
from functools import cache

import numpy as np

import bayesbias as bb
from benchmarks.inside import POOL_WIDTH, Layout, axes, constants, describe, law_of_rows, offsets
from benchmarks.study import PROB, Design, crossed, main
from benchmarks.validity.simulated_tables import from_prior

SHAPE = {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 6, "h": 6}, "human": 12}
PAIRS, PLACED, EMBEDDINGS, DRAWS, MEAN = 3, 60, 6, 1000, "connection_mean"
FEW = ("criterion", "contrasts", "related contrasts", "changes")
"""Analyses of which a fifth of the replicates is drawn."""


@cache
def placed():
    """A bundled axis with some words, whose offset is exchanged for drawn ones."""
    whole = bb.axis("glove-50d-slice", "affluence")
    return whole.with_words(whole.words[:: len(whole.words) // PLACED][:PLACED])


def drawn_signal(size, rng):
    """A draw (size,) of the signal behind a mean offset from its prior."""
    mass = np.exp(offsets.log_half_cauchy(offsets.SIGNALS, offsets.TYPICAL))
    return rng.choice(offsets.SIGNALS, p=mass / mass.sum()) * rng.standard_normal(size)


def drawn_axis(rng):
    """True places, and the axis that a few pairs show."""
    on = placed()
    behind = drawn_signal(len(on.field.variances), rng)
    expected = offsets.expected_variances(on.field, on.poles.strata)
    (scatter,) = expected[2]
    square = (constants.FACTOR_MEDIAN * np.exp(constants.FACTOR_SPREAD * rng.standard_normal())) ** 2
    concentration = rng.choice(offsets.CONCENTRATIONS)
    squares = square * concentration / rng.chisquare(concentration + 2, len(behind))
    shown = behind + np.sqrt(squares * scatter) * rng.standard_normal((PAIRS, len(behind)))
    return on.coordinates @ behind, replace(on, offset=offsets.observed_offset(on.field, expected, (shown,)))


def places(rng):
    truth, on = drawn_axis(rng)
    table = on.table(PROB, population="pairs", order=False)
    yield "place, further pairs", truth, table["low"], table["high"]
    half = PLACED // 2
    row = on.contrast(on.words[:half], on.words[half:], PROB, population="pairs").iloc[0]
    yield "contrast, further pairs", truth[:half].mean() - truth[half:].mean(), row["low"], row["high"]


def audit(rng):
    truth, on = drawn_axis(rng)
    behind = offsets.signal(on.offset)
    mean, sd = on.coordinates @ behind.mean, behind.place_sds(on.coordinates)
    found = axes.places.summary_of(mean, sd, behind.freedom, PROB)
    yield "place", truth, found["low"], found["high"]


def criterion(rng):
    """Values with a uniform correlation, whose residual is in part that of related words."""
    truth, on = drawn_axis(rng)
    rho, shared = rng.uniform(-1, 1), rng.beta(0.4, 1)
    place, smooth, single = (
        (part - part.mean()) / part.std()
        for part in (truth, on.coordinates @ rng.standard_normal(on.coordinates.shape[1]), rng.standard_normal(PLACED))
    )
    values = rho * place + np.sqrt(1 - rho**2) * (np.sqrt(shared) * smooth + np.sqrt(1 - shared) * single)
    found = bb.criterion(on, dict(zip(on.words, values, strict=True)), seed=int(rng.integers(2**31)))
    row = found.table(PROB).iloc[0]
    yield "correlation", rho, row["low"], row["high"]


def contrasts(rng, shape=SHAPE, model="crossed", second="human"):
    """The whole list and rows of words of associated less another connection."""
    table = from_prior(shape, model, rng)
    post = bb.fit(table, model, draws=DRAWS, chains=1, seed=int(rng.integers(2**31)))
    labels, means = post["posterior"]["connection"].to_numpy().tolist(), table.truth["word_mean"]
    truth = means[:, labels.index("associated")] - means[:, labels.index(second)]
    rows = law_of_rows(post, "difference", "associated", second).summary(PROB)
    yield "whole list", truth.mean(), rows["low"].iloc[0], rows["high"].iloc[0]
    yield "words", truth, rows["low"].to_numpy()[1:], rows["high"].to_numpy()[1:]


@cache
def related_table():
    return bb.distance_table("google-news-slice", "weat7")


def related_contrasts(rng):
    yield from contrasts(rng, related_table(), "related", "different")


def changes(rng):
    before, moved = from_prior(SHAPE, "crossed", rng), from_prior(SHAPE, "change", rng)
    after = before.assign(distance=before["distance"] + moved["distance"])
    found = bb.compare(before=before, after=after, draws=DRAWS, seed=int(rng.integers(2**31)))
    at = [list(dict.fromkeys(before["connection"])).index(name) for name in ("associated", "human")]
    words, mean = (moved.truth[name][..., at[0]] - moved.truth[name][..., at[1]] for name in ("word_mean", MEAN))
    rows = found.changes("associated", "human", PROB)
    yield "words", words, rows["low"].to_numpy()[1:], rows["high"].to_numpy()[1:]
    yield "whole list", mean, rows["low"].iloc[0], rows["high"].iloc[0]


def pool(rng):
    """Embeddings whose joint covariance is known, partially pooled; they share half of their errors, on average."""
    sd = POOL_WIDTH * np.abs(rng.standard_cauchy())
    cause = rng.standard_normal((2 * EMBEDDINGS, EMBEDDINGS)) / np.sqrt(2 * EMBEDDINGS)
    covariance, theta = 0.02**2 * (0.5 + 0.5 * cause.T @ cause), sd * rng.standard_normal(EMBEDDINGS)
    y, equal = rng.multivariate_normal(theta, covariance), np.full(EMBEDDINGS, 1 / EMBEDDINGS)
    layout = Layout(np.arange(EMBEDDINGS), None, False, equal)
    drawn = layout.variables(layout.drawn(y, covariance, POOL_WIDTH, DRAWS, rng), equal)
    for quantity, truth in {"theta": theta, "mean": theta.mean(), "population_mean": 0.0, "between_sd": sd}.items():
        row = describe(drawn[quantity][1], PROB)
        yield quantity, truth, row["low"], row["high"]


ANALYSES = {each.__name__.replace("_", " "): each for each in (places, audit, criterion, contrasts, related_contrasts)}
ANALYSES |= {each.__name__: each for each in (changes, pool)}


def priors(cell):
    """Shares of the intervals of each replicate that hold the truth."""
    for at in range(cell.replicates // 5 if cell["analysis"] in FEW else cell.replicates):
        for quantity, truth, low, high in ANALYSES[cell["analysis"]](np.random.default_rng([1, at])):
            inside = (np.asarray(low) <= truth) & (truth <= np.asarray(high))
            yield {"quantity": quantity, "intervals": inside.size, "covered": inside.mean()}


if __name__ == "__main__":
    by = {"by": ("quantity",), "how": {"intervals": "sum", "se": "covered"}}
    main(Design("calibration/priors", crossed(analysis=ANALYSES), priors, 500, **by))
