"""Split halves: the difference of what two halves of a table say, over the sd or interval that is given for it.

Two random halves are two samples of one population, so that the difference of their statements has mean 0.

- ``related/halves``: mean distances of a list to its own protected words, and these less those of the other groups
  (controls: to all), for halves at random and by topic: two clusters of its vectors. Lists are the bundled ones and
  random topics for the same protected words. Beside it the interval that takes words for independent (Welch);
- ``related/shuffled``: the stereotypes of all groups, shuffled between them. Such lists are not random words: each has
  words that differ between the groups more than random ones do, in both directions;
- ``sentences/halves``: whether templates predict other templates: random halves of 8 or 16, and those of SEAT against
  those that mention a word (``--files sentences=FOLDER``). Words are the same on both sides.
"""

import warnings
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pandas as pd
from scipy.cluster.vq import kmeans2
from scipy.special import ndtri
from scipy.stats import t

import bayesbias as bb
from benchmarks.builders.sentence_vectors import KINDS as VECTORS
from benchmarks.builders.sentence_vectors import LISTS as SENTENCES
from benchmarks.builders.sentence_vectors import encoded
from benchmarks.inside import (
    Distances,
    measured_relatedness,
    related_posterior,
    template_variation,
    unit_rows,
)
from benchmarks.study import PROB, TAIL, Design, crossed, main
from benchmarks.validity.lists import (
    SLICE,
    SPEC,
    TWO,
    bundled_subjects,
    draw_lists,
    given_rows,
    replicate_data,
    vocabulary_of,
)

BUNDLED = ("gender", "race", "religion", "weat1", "weat3", "weat6", "weat7", "weat8")
SOURCES = {"google news": SLICE}
RANDOM_SPLITS, STARTS, FEWEST = 20, 10, 4
"""Random splits of each bundled list, runs of k-means, and words of the shortest list that is split."""
LIMIT = ndtri(1 - TAIL)


def quietly(half, model, **how):
    with warnings.catch_warnings(action="ignore"):
        return bb.fit(half, model, **how)


def split_by_topic(units, rng):
    """Halves (words,) of +1 and -1: the best of several runs of k-means with two clusters."""
    best, labels = np.inf, None
    for _ in range(STARTS):
        centres, found = kmeans2(units, 2, minit="++", rng=rng)
        inertia = ((units - centres[found]) ** 2).sum()
        if inertia < best and 0 < found.sum() < len(found):
            best, labels = inertia, found
    return split_at_random(len(units), rng) if labels is None else np.where(labels == 1, 1, -1)


def split_at_random(size, rng):
    return rng.permutation(np.where(np.arange(size) < size // 2, 1, -1))


def quantities(subjects, at):
    """Weights (J,) of protected words whose distances to list number ``at`` are compared between halves."""
    size = len(subjects.groups)
    if at >= len(subjects.names):
        return {"all protected words": np.full(size, 1 / size)}
    own = subjects.groups == at
    others = np.where(own, 0.0, 1 / (~own).sum())
    return {"own group": own / own.sum(), "own less other groups": own / own.sum() - others}


def comparisons(subjects, drawn, rng, splits):
    """Rows of differences between halves of each list, which is split once by topic, with both methods."""
    data = replicate_data(subjects, drawn)
    factors = np.sqrt(np.diag(related_posterior(SPEC, data).grid.products))
    related, groups = data.relatedness, len(subjects.names)
    begins = np.cumsum((0, *subjects.sizes))
    distances = 1 - unit_rows(related.protected) @ unit_rows(related.attributes).T
    rows, weights, scale = [], [], []
    for at, size in enumerate(subjects.sizes):
        if size < FEWEST:
            continue
        place = np.arange(begins[at], begins[at + 1])
        halves = [("by topic", split_by_topic(related.units[place], rng))]
        halves += [("at random", split_at_random(size, rng)) for _ in range(splits)]
        for how, half in halves:
            for name, protected in quantities(subjects, at).items():
                along = np.zeros(distances.shape[1])
                along[place] = np.where(half > 0, 1 / (half > 0).sum(), -1 / (half < 0).sum())
                weights.append(np.outer(protected, along))
                scale.append(factors[max(0, at - groups + 1)])
                values, kind = protected @ distances[:, place], "control" if at >= groups else "own"
                labels = {"split": how, "list": kind, "quantity": name}
                rows.append(labels | independent(values[half > 0], values[half < 0]))
    blocks = np.split(np.array(weights), range(200, len(weights), 200))
    variances = np.concatenate([np.diag(related.covariance(block)) for block in blocks])
    sd = np.array(scale) * np.sqrt(np.maximum(variances, 0))
    difference = np.array([(one * distances).sum() for one in weights])
    return pd.DataFrame(rows).assign(sd=sd, rate=np.abs(difference) <= LIMIT * sd)


def independent(first, second):
    """Standard error of a difference of means of independent words, and whether its interval holds 0."""
    if min(len(first), len(second)) < 2:
        return {"se_independent": np.nan, "rate_independent": np.nan}
    parts = [values.var(ddof=1) / len(values) for values in (first, second)]
    se = np.sqrt(sum(parts))
    df = se**4 / max(sum(part**2 / (len(v) - 1) for part, v in zip(parts, (first, second), strict=True)), 1e-30)
    covered = abs(first.mean() - second.mean()) <= t.ppf(1 - TAIL, max(df, 1)) * se
    return {"se_independent": se, "rate_independent": float(covered)}


def halves(cell):
    subjects, rng = bundled_subjects(vocabulary_of(cell, TWO), cell["words"]), cell.generator()
    if cell["lists"] == "bundled":
        lists, kv = bb.load_words(cell["words"]), subjects.vocabulary.kv
        subjects = replace(subjects, base=measured_relatedness(kv, lists, 3000, 0))
        rows = comparisons(subjects, given_rows(subjects, lists), rng, RANDOM_SPLITS)
    else:
        drawn = (draw_lists(subjects, "topical controls", rng) for _ in range(cell.replicates))
        rows = pd.concat([comparisons(subjects, lists, rng, 1) for lists in drawn])
    return rows.to_dict("records")


def shuffled_lists(lists, kv, rng):
    """Word lists whose stereotypes are shuffled between the groups; sizes are those of the words that are found."""
    listed = {group: [word for word in words if word in kv] for group, words in lists.stereotypes.items()}
    order = iter(rng.permutation(np.concatenate(list(listed.values()))).tolist())
    return replace(lists, stereotypes={group: tuple(islice(order, len(words))) for group, words in listed.items()})


def shuffled(cell):
    kv, lists, rng = vocabulary_of(cell, SOURCES).kv, bb.load_words(cell["words"]), cell.generator()
    rows = []
    for _ in range(cell.replicates):
        table = bb.distance_table(kv, shuffled_lists(lists, kv, rng))
        whole = bb.contrasts(quietly(table, "related", seed=0)).iloc[0]
        rows.append((whole["mean"], whole["sd"]))
    mean, sd = np.array(rows).T
    sds = {"sd_of_means": mean.std(ddof=1), "posterior_sd": np.sqrt((sd**2).mean())}
    yield sds | {"rate": np.mean(np.abs(mean) > LIMIT * sd)}


def predicted(found, first, second, scale, rng):
    """Whether the interval that the first templates give holds the mean over the second ones.

    The difference of two means over templates has the variance (tau^2 + noise) (1 / T + 1 / T'), with tau from the
    first ones.
    """
    values = found.by_template
    around = values[first] - values[first].mean()
    half = template_variation.Variation(values[first], found.noise, float(around @ around), len(first) - 1)
    sd = np.sqrt((half.draw_sd(scale, 2000, rng) ** 2 + found.noise) * (1 / len(first) + 1 / len(second)))
    draws = values[first].mean() + sd * rng.standard_normal(2000)
    low, high = np.quantile(draws, [(1 - PROB) / 2, (1 + PROB) / 2])
    return low <= values[second].mean() <= high


def template_halves(cell):
    for name in SENTENCES:
        vectors = encoded(name, cell["vectors"], cell.options.file("sentences"))
        table = bb.distance_table(vectors, name, relatedness=False)
        data = Distances.read(table, check=False)
        found = template_variation.template_data(table, data)
        rng, count, scale = np.random.default_rng(0), len(found.axes[0][0]), template_variation.PRIOR * found.control_sd
        for at, other in enumerate(data.connections.tolist()[1:], start=1):
            one = template_variation.variation(found, 0, at)[0]
            for size, _ in product((4, 8), range(cell.replicates)):
                order = rng.permutation(count)
                held = predicted(one, order[:size], order[size : 2 * size], scale, rng)
                yield {"frames": size, "contrast with associated": other, "coverage": held}
            seat, mention = np.arange(8), np.arange(8, 16)
            for label, pair in (("SEAT to mention", (seat, mention)), ("mention to SEAT", (mention, seat))):
                held = predicted(one, *pair, scale, rng)
                yield {"frames": label, "contrast with associated": other, "coverage": held}


LISTED = crossed(embedding=TWO, words=BUNDLED, lists=("bundled", "random topics"))
SHUFFLED = crossed(
    embedding=("google news", "glove 50d"), words=("gender", "religion", "race", "weat1", "weat7", "weat8")
)
TEMPLATES = ("frames", "contrast with associated")
DESIGNS = (
    Design("related/halves", LISTED, halves, by=("split", "list", "quantity"), how={"se": "rate"}),
    Design("related/shuffled", SHUFFLED, shuffled, 50),
    Design("sentences/halves", crossed(vectors=VECTORS), template_halves, 400, 3, TEMPLATES, {"count": "intervals"}),
)

if __name__ == "__main__":
    main(*DESIGNS)
