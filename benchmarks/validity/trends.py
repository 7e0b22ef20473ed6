"""Coverage and false trends of ``trend``.

- ``trends``: ten periods of the Google News slice with noise of training in every vector, in which the protected words
  of the gender list move towards the mean of their stereotypes, or do not; three of the periods make a trend of their
  own. The truth of a change is that of the vectors without noise, for the words at hand, times the share of cosines
  that the noise leaves;
- ``trends_deviations``: false changes, power and width of lines by the size and correlation of deviations, which are
  independent or of first order autoregression; the errors of embeddings are correlated by .98. The interval of a line
  moves with the line, so that what a planted change gives is known from the intervals without it.
"""

from itertools import product

import numpy as np
from gensim.models import KeyedVectors

import bayesbias as bb
from benchmarks.inside import WEIGHTS, measured_stage, second_stage, trend_levels, trends, unit_rows, whole_lists
from benchmarks.study import Design, main
from benchmarks.validity.pools import CONTRAST, errors

NOISE, MOVED, PERIODS = 0.5, 0.01, 10
PLANTED = {
    "none": np.zeros(PERIODS),
    "linear": MOVED * np.arange(PERIODS),
    "step": MOVED * PERIODS / 2 * (np.arange(PERIODS) >= PERIODS / 2),
}
THREE = np.array([0, 5, 9])
"""Periods of a trend of three."""
REACH = 1.598
"""Standard deviations to an end of a normal 89% interval."""
SLIGHT = 2e-4
"""How far a line is outside before it counts, since it is one of draws."""
CHANGE = 0.06
"""A change over all embeddings for which power is told."""
LABELS = ("embeddings", "correlation", "training_sd", "taken_for")
"""What deviations are drawn by and taken for."""


def period(kv, lists, moved, noise):
    """The embedding of a period."""
    vectors = unit_rows(kv.vectors.astype(float))
    own, place = vectors.copy(), kv.key_to_index
    for group, held in lists.protected.items():
        rows = [place[word] for word in held if word in place]
        stereotype = vectors[[place[word] for word in lists.stereotypes[group] if word in place]].mean(axis=0)
        own[rows] += moved * stereotype
    found = KeyedVectors(vectors.shape[1])
    found.add_vectors(kv.index_to_key, (unit_rows(own) + noise).astype(np.float32))
    return found


def true_change(kv, lists, moved):
    """The change from the first to the last period in vectors without noise."""
    levels = [
        bb.distance_table(period(kv, lists, each, 0.0), lists)
        .pivot_table(index="protected_word", columns="connection", values="distance")[list(CONTRAST)]
        .mean()
        for each in (moved[0], moved[-1])
    ]
    change = levels[1] - levels[0]
    # noise of that size in both words of a pair makes every cosine smaller by this factor
    return (change[CONTRAST[0]] - change[CONTRAST[1]]) / (1 + NOISE**2)


def fitted(y, covariance, times, rng):
    """One row for each kind of trend and each way to weigh, and one for the plain difference of first and last."""
    apart = np.zeros(len(y))
    apart[[0, -1]] = -1, 1
    reach, plain = REACH * np.sqrt(apart @ covariance @ apart), apart @ y
    yield "difference", "", plain, plain - reach, plain + reach, False
    for kind, weights in product(("linear", "walk"), WEIGHTS):
        level, _ = trend_levels(y, covariance, times, kind, weights, 2000, rng)
        low, high = np.quantile(level[:, -1] - level[:, 0], [0.055, 0.945])
        line = np.median(level, axis=0)
        outside = (line < y - SLIGHT).all() or (line > y + SLIGHT).all()
        yield kind, weights, line[-1] - line[0], low, high, outside


def planted_trends(cell):
    kv, lists, rng = bb.load_embedding("google-news-slice"), bb.load_words("gender"), np.random.default_rng(0)
    shape, times = kv.vectors.shape, np.arange(float(PERIODS))
    truths = {planted: true_change(kv, lists, moved) for planted, moved in PLANTED.items()}
    for _, (planted, moved) in product(range(cell.replicates), PLANTED.items()):
        noise = NOISE * rng.standard_normal((PERIODS, *shape)) / np.sqrt(shape[1])
        periods = {f"p{at}": period(kv, lists, moved[at], noise[at]) for at in range(PERIODS)}
        tables = {name: bb.distance_table(each, lists) for name, each in periods.items()}
        found = whole_lists(measured_stage(tables, CONTRAST, 0, bb.checks.TwoStage()))
        for taken in (np.arange(PERIODS), THREE):
            fits = fitted(found.mean[taken], found[taken].covariance.to_numpy(), times[taken], rng)
            for kind, weights, change, low, high, outside in fits:
                truth = truths[planted]
                row = {"planted": planted, "periods": len(taken), "kind": kind, "weights": weights, "truth": truth}
                row |= {"change": change, "coverage": low < truth < high, "called": low > 0 or high < 0}
                yield row | {"rmse": change - truth, "outside": outside}


def deviations(cell):
    rng = np.random.default_rng(1)
    cases = ((0.0, 0.0), (0.0, 0.005), (0.0, 0.01), (0.0, 0.015), (0.0, 0.04), (0.7, 0.01), (0.9, 0.02))
    for size, (correlation, training) in product((3, 10), cases):
        covariance, times = errors(size, 0.98), np.arange(float(size))
        design, width = trends._line(times), trends.WIDTH if size > trends.FEW else trends.FEW_WIDTH
        apart = training**2 * correlation ** np.abs(times[:, None] - times)
        for _ in range(cell.replicates):
            y = rng.multivariate_normal(np.zeros(size), covariance + apart)
            alone = second_stage(y, covariance, design, [], [width], np.linalg.pinv(design)).draw(1000, rng)
            level, _ = trend_levels(y, covariance, times, "linear", "equal", 1000, rng)
            for taken, slope in (("independent", alone.coefficients[:, 1]), ("correlated", level[:, 1] - level[:, 0])):
                low, high = np.quantile(slope * (size - 1), [0.055, 0.945])
                row = dict(zip(LABELS, (size, correlation, training, taken), strict=True))
                row |= {"coverage": low < 0 < high, "power": low + CHANGE > 0, "length": high - low}
                yield row | {"change": CHANGE}


DESIGNS = (
    Design("second_stage/trends", [{}], planted_trends, 200, 5, ("planted", "periods", "kind", "weights")),
    Design("second_stage/trends_deviations", [{}], deviations, 200, by=LABELS),
)

if __name__ == "__main__":
    main(*DESIGNS)
