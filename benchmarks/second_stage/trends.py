"""Coverage and false trends of ``trend``: ten periods of an embedding with noise of training and a planted change.

Each period is the Google News slice with noise of its own in every vector; what is planted moves the protected words of
the gender list towards the mean of their stereotypes. The truth of a change is that of the vectors without noise, for
the words at hand, times the share of cosines that the noise leaves. Three of the ten periods make a trend of their own.
"""

import sys
from itertools import product

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias._core.second_stage import second_stage
from bayesbias.second_stage.estimates import WEIGHTS, contrasts_of, stage_cells
from bayesbias.second_stage.trends import FEW, FEW_WIDTH, WIDTH, _levels, _line
from benchmarks.common import keep
from benchmarks.second_stage.pools import errors

NOISE, MOVED = 0.5, 0.01
PERIODS = 10
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
FALSE = ("associated", "different")


def unit(vectors):
    """Vectors of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def period(words, vectors, lists, place, moved, noise):
    """The embedding of a period."""
    own = vectors.copy()
    for group, held in lists.protected.items():
        rows = [place[word] for word in held if word in place]
        stereotype = unit(vectors[[place[word] for word in lists.stereotypes[group] if word in place]]).mean(axis=0)
        own[rows] = unit(own[rows]) + moved * stereotype
    kv = KeyedVectors(vectors.shape[1])
    kv.add_vectors(words, (unit(own) + noise).astype(np.float32))
    return kv


def truth_of(words, vectors, lists, place, moved):
    """The change from the first to the last period in vectors without noise."""
    ends = [bb.distance_table(period(words, vectors, lists, place, m, 0.0), lists) for m in (moved[0], moved[-1])]
    level = [
        table.pivot_table(index="protected_word", columns="connection", values="distance")[list(FALSE)].mean()
        for table in ends
    ]
    # noise of that size in both words of a pair makes every cosine smaller by this factor
    return ((level[1] - level[0])[FALSE[0]] - (level[1] - level[0])[FALSE[1]]) / (1 + NOISE**2)


def fitted(y, covariance, times, rng):
    """One row for each kind of trend and each way to weigh, and one for the plain difference of first and last."""
    apart = np.zeros(len(y))
    apart[[0, -1]] = -1, 1
    reach, plain = REACH * np.sqrt(apart @ covariance @ apart), apart @ y
    yield "difference", "", plain, plain - reach, plain + reach, False
    for kind, weights in product(("linear", "walk"), WEIGHTS):
        level, _ = _levels(y, covariance, times, kind, weights, 2000, rng)
        low, high = np.quantile(level[:, -1] - level[:, 0], [0.055, 0.945])
        line = np.median(level, axis=0)
        outside = (line < y - SLIGHT).all() or (line > y + SLIGHT).all()
        yield kind, weights, line[-1] - line[0], low, high, outside


def summary(rows):
    """Coverage of the change, how often none is called one, its error, and how often a trend is outside all."""
    names = ["planted", "periods", "truth", "kind", "weights", "change", "low", "high", "outside"]
    table = pd.DataFrame(rows, columns=names)
    table["coverage"] = (table["low"] < table["truth"]) & (table["truth"] < table["high"])
    table["called"] = (table["low"] > 0) | (table["high"] < 0)
    table["square"] = (table["change"] - table["truth"]) ** 2
    grouped = table.groupby(["planted", "periods", "kind", "weights"], sort=False)
    means = grouped[["truth", "change", "coverage", "called", "square", "outside"]].mean()
    means.insert(0, "replicates", grouped.size())
    return means.rename(columns={"square": "rmse"}).assign(rmse=np.sqrt(means["square"])).reset_index()


def main(replicates=200):
    """Write what intervals of the change from the first to the last period hold."""
    slice_, lists, rng = bb.load_embedding("google-news-slice"), bb.load_words("gender"), np.random.default_rng(0)
    words, vectors = slice_.index_to_key, unit(slice_.vectors.astype(float))
    place, rows = slice_.key_to_index, []
    time = {f"p{at}": at for at in range(PERIODS)}
    truths = {planted: truth_of(words, vectors, lists, place, moved) for planted, moved in PLANTED.items()}
    for replicate in range(replicates):
        for planted, moved in PLANTED.items():
            noise = NOISE * rng.standard_normal((PERIODS, *vectors.shape)) / np.sqrt(vectors.shape[1])
            tables = {
                name: bb.distance_table(period(words, vectors, lists, place, moved[at], noise[at]), lists)
                for name, at in time.items()
            }
            found = contrasts_of(stage_cells(tables, FALSE, 0, None, None))
            y, times = found.mean, np.arange(float(PERIODS))
            for taken in (np.arange(PERIODS), THREE):
                fits = fitted(y[taken], found[taken].covariance.to_numpy(), times[taken], rng)
                rows += [(planted, len(taken), truths[planted], *row) for row in fits]
        if replicate % 20 == 19 or replicate == replicates - 1:
            keep(summary(rows).round(5), "second_stage/trends")


def deviations(replicates=200):
    """Write coverage, false changes, power and width of lines by the size and correlation of the deviations.

    Deviations are independent or of first order autoregression; the errors of embeddings are correlated by .98. The
    interval of a line moves with the line, so that what a planted change gives is known from the intervals without it.
    """
    rng, rows = np.random.default_rng(1), []
    cases = ((0.0, 0.0), (0.0, 0.005), (0.0, 0.01), (0.0, 0.015), (0.0, 0.04), (0.7, 0.01), (0.9, 0.02))
    for size, (correlation, training) in product((3, 10), cases):
        covariance, times = errors(size, 0.98), np.arange(float(size))
        design, width = _line(times), WIDTH if size > FEW else FEW_WIDTH
        apart = training**2 * correlation ** np.abs(times[:, None] - times)
        for _ in range(replicates):
            y = rng.multivariate_normal(np.zeros(size), covariance + apart)
            alone = second_stage(y, covariance, design, [], [width], np.linalg.pinv(design)).draw(1000, rng)
            level, _ = _levels(y, covariance, times, "linear", "equal", 1000, rng)
            for taken, slope in (("independent", alone.coefficients[:, 1]), ("correlated", level[:, 1] - level[:, 0])):
                low, high = np.quantile(slope * (size - 1), [0.055, 0.945])
                rows.append((size, correlation, training, taken, low < 0 < high, low + CHANGE > 0, high - low))
    columns = ["embeddings", "correlation", "training_sd", "taken_for", "coverage", "power", "length"]
    table = pd.DataFrame(rows, columns=columns).groupby(columns[:4], sort=False).mean().reset_index()
    keep(table.assign(replicates=replicates, change=CHANGE).round(4), "second_stage/trends_deviations")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for study in (main, deviations):
        if len(sys.argv) < 3 or study.__name__ == sys.argv[2]:
            study(count)
