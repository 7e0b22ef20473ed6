"""Coverage of a planted bias, and power against the crossed model at one false-positive rate.

    python benchmarks/related/planted.py coverage --cache minilm.npz
    python benchmarks/related/planted.py power

Two ways to plant a bias into random topics, for which a contrast is 0 in expectation:

- "constant": the distances of the associated cells change by one amount; the contrast's mean moves by it and its sd
  stays, so that any amount has the same coverage, and so have amounts that vary between protected words;
- "vectors": the vectors of the first group's protected words move towards the mean of their list, and relatedness is
  measured anew with the moved vectors; the truth is the change of the contrast that the move makes.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from false_positives import SLOW_DRAWS
from nulls import (
    OTHERS,
    PROB,
    Parts,
    arguments,
    contrast_weights,
    draw_lists,
    numbered_table,
    parsed,
    rate_row,
    related_answer,
    replicate_data,
    rng_for,
    subjects_of,
    unit_rows,
    vocabularies,
)

import bayesbias as bb

PLANTED = {"constant": (0.02,), "vectors": (0.2, 0.5)}
"""Ways to plant, and amounts: of distance, or of the mean vector's length that is added to unit vectors."""
DIFFERENCES = np.round(np.arange(0.005, 0.1001, 0.005), 3)


def shifted(subjects, drawn, amount):
    """The table with a shift of the associated cells, and the true contrasts (3,)."""
    shift = np.zeros(subjects.template.filled.shape)
    shift[:, subjects.template.connections.tolist().index("associated")] = -amount
    return replicate_data(subjects, drawn, shift), np.full(len(OTHERS), -amount)


def moved(subjects, drawn, amount):
    """The table with moved vectors and their own relatedness, and the true contrasts (3,)."""
    before = replicate_data(subjects, drawn)
    vocabulary, base = subjects.vocabulary, subjects.base
    towards = unit_rows(vocabulary.units[drawn[0]].astype(float).mean(axis=0, keepdims=True))[0]
    vectors = unit_rows(base.protected)
    vectors[subjects.groups == 0] += amount * towards
    vectors = unit_rows(vectors)
    scatter = -(vectors @ unit_rows(vocabulary.units[vocabulary.rows(base.sample_words)]).T)
    scatter -= scatter.mean(axis=1, keepdims=True)
    data = replicate_data(subjects, drawn, base=replace(base, protected=vectors, scatter=scatter))
    weights = contrast_weights(data)
    cells = data.filled.nonzero()
    return data, weights @ (data.cells.mean[cells] - before.cells.mean[cells])


def coverage_rows(subjects, cell, replicates, rng):
    """How often the intervals hold the planted contrast."""
    rows = []
    lists = [draw_lists(subjects, cell["lists"], rng) for _ in range(replicates)]
    for way, amounts in PLANTED.items():
        for amount in amounts:
            found, truths = [], []
            for drawn in lists:
                data, truth = (moved if way == "vectors" else shifted)(subjects, drawn, amount)
                found.append(related_answer(data, truth))
                truths.append(truth)
            missed = np.array([one.missed for one in found])
            for at, other in enumerate(OTHERS):
                row = {**cell, "planted": way, "amount": amount, "contrast": f"associated - {other}"}
                row |= rate_row(~missed[:, at]) | {"truth": np.mean(truths, axis=0)[at]}
                rows.append(row | {"sd": np.mean([one.sd[at] for one in found])})
    return rows


def statistics(subjects, drawn, seed):
    """Means over sds (methods, 3) and sds of the contrasts without bias: related, and crossed for the whole list."""
    own = related_answer(replicate_data(subjects, drawn))
    posterior = bb.fit(numbered_table(subjects, drawn), "crossed", draws=SLOW_DRAWS, chains=1, seed=seed)["posterior"]
    mean = posterior["connection_mean"]
    draws = np.stack([(mean.sel(connection="associated") - mean.sel(connection=o)).to_numpy().ravel() for o in OTHERS])
    return np.stack([own.mean, draws.mean(axis=1)]), np.stack([own.sd, draws.std(axis=1, ddof=1)])


def power_rows(subjects, cell, replicates, rng):
    """Power where each method's threshold gives it 11% false positives on its own null.

    A constant shift of the associated cells moves both methods' means by the shift and leaves their sds, since the
    means of connections have wide priors.
    """
    found = [statistics(subjects, draw_lists(subjects, cell["lists"], rng), at) for at in range(replicates)]
    means, sds = (np.array(values) for values in zip(*found, strict=True))
    threshold = np.quantile(np.abs(means / sds), PROB, axis=0)
    rows = []
    for difference in DIFFERENCES:
        called = np.abs((means - difference) / sds) > threshold
        for place, method in enumerate(("related", "crossed")):
            for at, other in enumerate(OTHERS):
                row = {**cell, "method": method, "contrast": f"associated - {other}", "difference": difference}
                row |= {"threshold": threshold[place, at], "sd": sds[:, place, at].mean()}
                rows.append(row | rate_row(called[:, place, at]))
    return rows


def main():
    parser = arguments(__doc__, 100)
    parser.add_argument("part", choices=["coverage", "power"])
    given = parsed(parser)
    parts = Parts(f"planted_{given.part}", given)
    power = given.part == "power"
    make = power_rows if power else coverage_rows
    for vocabulary in vocabularies(given.embeddings[:1] if power else given.embeddings, given.cache):
        for name in given.lists:
            subjects = subjects_of(vocabulary, bb.load_words(name))
            for kind in ("random", "topical") if power else ("topical",):
                cell = {"embedding": vocabulary.name, "words": name, "lists": kind}
                rng = rng_for(given.seed, *cell.values())
                parts.once(
                    tuple(cell.values()),
                    lambda subjects=subjects, cell=cell, rng=rng: make(subjects, cell, given.replicates, rng),
                )
    table = parts.collect()
    index = ["planted", "amount"] if given.part == "coverage" else ["lists", "words", "difference"]
    with pd.option_context("display.width", 200):
        print(table.pivot_table(index=index, columns=["contrast", *(["method"] if power else [])], values="rate"))


if __name__ == "__main__":
    main()
