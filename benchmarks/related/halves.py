"""Split halves: how often the interval of the difference of a list's two halves holds 0.

    python benchmarks/related/halves.py --cache minilm.npz

Each attribute list (all bundled lists with the covariance that the package measures for them, and random topics of the
vocabulary for the same protected words) is split at random, and by topic: two clusters of its vectors. Two quantities
are compared between the halves: a list's mean distance to its own protected words, and that less the distance of the
other groups (controls: the mean distance to all). Beside it the interval that takes words for independent (Welch).
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from nulls import (
    PROB,
    SPEC,
    Parts,
    arguments,
    draw_lists,
    measured_relatedness,
    parsed,
    rate_row,
    related_model,
    replicate_data,
    rng_for,
    subjects_of,
    unit_rows,
    vocabularies,
)
from scipy.cluster.vq import kmeans2
from scipy.stats import norm, t

import bayesbias as bb

BUNDLED = ("gender", "race", "religion", "weat1", "weat3", "weat6", "weat7", "weat8")
RANDOM_SPLITS = 20
"""Random splits of each bundled list."""
STARTS = 10
FEWEST = 4
"""Words of the shortest list that is split."""
LIMIT = norm.ppf((1 + PROB) / 2)


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
    """Weights (m, J) of protected words whose distances to list number ``at`` are compared between halves."""
    size = len(subjects.groups)
    if at >= len(subjects.names):
        return {"all protected words": np.full(size, 1 / size)}
    own = subjects.groups == at
    others = np.where(own, 0.0, 1 / (~own).sum())
    return {"own group": own / own.sum(), "own less other groups": own / own.sum() - others}


def comparisons(subjects, drawn, rng, splits):
    """Rows of differences between halves, with the sds and intervals of both methods.

    Parameters
    ----------
    splits
        Number of random splits of each list; each is split once by topic.
    """
    data = replicate_data(subjects, drawn)
    posterior = related_model.related_posterior(SPEC, data)
    groups, factors = len(subjects.names), np.sqrt(np.diag(posterior.grid.products))
    related = data.relatedness
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
                values = protected @ distances[:, place]
                rows.append({"split": how, "quantity": name, "kind": "control" if at >= len(subjects.names) else "own"})
                rows[-1] |= independent(values[half > 0], values[half < 0])
    sd = np.array(scale) * np.sqrt(np.maximum(variances(related, np.array(weights)), 0))
    difference = np.array([(one * distances).sum() for one in weights])
    return [
        row | {"sd": own, "covered": abs(apart) <= LIMIT * own}
        for row, own, apart in zip(rows, sd, difference, strict=True)
    ]


def variances(related, weights, block=200):
    """Variances of sums of distances, some at a time."""
    parts = [related.covariance(weights[begin : begin + block]) for begin in range(0, len(weights), block)]
    return np.concatenate([np.diag(part) for part in parts])


def independent(first, second):
    """Standard error of a difference of means of independent words, and whether its interval holds 0."""
    if min(len(first), len(second)) < 2:
        return {"se_independent": np.nan, "covered_independent": np.nan}
    parts = [values.var(ddof=1) / len(values) for values in (first, second)]
    se = np.sqrt(sum(parts))
    df = se**4 / max(sum(part**2 / (len(v) - 1) for part, v in zip(parts, (first, second), strict=True)), 1e-30)
    covered = abs(first.mean() - second.mean()) <= t.ppf((1 + PROB) / 2, max(df, 1)) * se
    return {"se_independent": se, "covered_independent": float(covered)}


def summary(rows, cell):
    """Coverage by split and quantity."""
    out = []
    for (split, kind, quantity), part in pd.DataFrame(rows).groupby(["split", "kind", "quantity"]):
        row = {**cell, "split": split, "list": kind, "quantity": quantity, **rate_row(part["covered"])}
        known = part["covered_independent"].dropna()
        row |= {"rate_independent": known.mean(), "sd": part["sd"].mean()}
        out.append(row | {"se_independent": part["se_independent"].mean()})
    return out


def bundled_rows(subjects, lists, cell, seed):
    """The halves of the bundled attribute lists."""
    kv = subjects.vocabulary.kv
    subjects = replace(subjects, base=measured_relatedness(kv, lists, 3000, 0, "as-is"))
    parts = [lists.stereotypes[name] for name in subjects.names]
    parts += [lists.controls[name] for name in ("human", "neutral")]
    drawn = [subjects.vocabulary.rows([word for word in words if word in kv]) for words in parts]
    return summary(comparisons(subjects, drawn, rng_for(seed, *cell.values()), RANDOM_SPLITS), cell)


def topic_rows(subjects, cell, replicates, seed):
    """The halves of random topics, as long as the bundled lists, with topical controls."""
    rng = rng_for(seed, *cell.values())
    rows = []
    for _ in range(replicates):
        rows += comparisons(subjects, draw_lists(subjects, "topical controls", rng), rng, 1)
    return summary(rows, cell)


def main():
    parser = arguments(__doc__, 100)
    parser.set_defaults(lists=list(BUNDLED))
    given = parsed(parser)
    parts = Parts("halves", given)
    for vocabulary in vocabularies(given.embeddings, given.cache):
        for name in given.lists:
            lists = bb.load_words(name)
            subjects = subjects_of(vocabulary, lists)
            cell = {"embedding": vocabulary.name, "words": name, "lists": "bundled"}
            parts.once(
                tuple(cell.values()),
                lambda subjects=subjects, lists=lists, cell=cell: bundled_rows(subjects, lists, cell, given.seed),
            )
            topics = {**cell, "lists": "random topics"}
            parts.once(
                tuple(topics.values()),
                lambda subjects=subjects, cell=topics: topic_rows(subjects, cell, given.replicates, given.seed),
            )
    table = parts.collect()
    weighted = table.assign(covered=table["rate"] * table["replicates"])
    weighted["independent"] = table["rate_independent"] * table["replicates"]
    total = weighted.groupby(["embedding", "lists", "split", "list", "quantity"])[
        ["covered", "independent", "replicates"]
    ].sum()
    shown = total.div(total["replicates"], axis=0)[["covered", "independent"]].assign(splits=total["replicates"])
    with pd.option_context("display.width", 200):
        print(shown.round(3).to_string())


if __name__ == "__main__":
    main()
