"""False positives and coverage of 89% intervals where attribute lists are random words or random topics.

All lists of a replicate are drawn alike, so that each contrast is 0 in expectation, or what was planted.

- ``false_positives``: the model of related words beside cluster intervals, Welch's test of rows, WEAT's permutation
  test and, for the first third of the replicates, fits of the published and the crossed model;
- ``fast_path``: the figures of these studies against the package's own tables and fits;
- ``sizes``: by size of the lists, number of protected words, number of controls and coherence, one at a time around 10,
  10 and 50 words and nearest neighbours; the protected words are two random topics, others for every few replicates;
- ``planted_coverage``: a bias planted by one amount of distance ("constant"), or by vectors of the first group's words
  that move towards the mean of their list ("vectors"), with relatedness measured anew;
- ``chance_check``: the sd of a contrast over random lists as coherent and similar as the given ones.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

import bayesbias as bb
from benchmarks.inside import interval_of, unit_rows
from benchmarks.study import PROB, TAIL, Design, crossed, main, rate
from benchmarks.validity.lists import (
    FIVE,
    OTHERS,
    TWO,
    bundled_subjects,
    contrast_weights,
    draw_lists,
    numbered_table,
    related_answer,
    replicate_data,
    subjects_of,
    topic,
    vocabulary_of,
)

KINDS = ("random", "topical", "topical controls")
SLOW, SLOW_DRAWS = ("published", "crossed"), 500
"""Models that are fitted, on a third of the replicates."""
PER_SUBJECTS = 15
"""Replicates for one choice of random protected words."""
BASE = {"attributes": 10, "protected": 10, "controls": 50, "pool": 1, "lists": "topical"}
"""Words of each stereotype list, of both groups, and of each control list; a list's words are drawn from so many times
as many words nearest to a random one (0: from all)."""
VARIED = {
    "attributes": (3, 8, 20, 50),
    "protected": (2, 8, 20, 50),
    "controls": (10, 200),
    "pool": (3, 10, 30, 0),
}
PLANTED = {"constant": (0.02,), "vectors": (0.2, 0.5)}
"""Ways to plant, and amounts: of distance, or of the mean vector's length that is added to unit vectors."""


def subjects_for(cell):
    return bundled_subjects(vocabulary_of(cell, TWO), cell["words"])


def by_contrast(missed, **more):
    """A row for each contrast of what missed (replicates, 3), with further figures by contrast."""
    missed = np.array(missed)
    for at, other in enumerate(OTHERS):
        figures = {name: values[at] for name, values in more.items()}
        yield {"contrast": f"associated - {other}", **rate(missed[:, at]), **figures}


def of_answers(answers, ddof=1, **choice):
    """Rows of answers; a choice names the standard error over what several replicates share, by replicate."""
    missed = np.array([one.missed for one in answers])
    z = np.array([one.mean / one.sd for one in answers])
    errors = {
        name: (groups := pd.DataFrame(missed * 1.0).groupby(np.array(shared)).mean()).std() / np.sqrt(len(groups))
        for name, shared in choice.items()
    }
    return by_contrast(missed, **errors, z_sd=z.std(axis=0, ddof=ddof), sd=np.mean([one.sd for one in answers], axis=0))


def false_positives(cell):
    subjects, rng = subjects_for(cell), cell.generator()
    drawn = [draw_lists(subjects, cell["lists"], rng) for _ in range(cell.replicates)]
    tables = [replicate_data(subjects, lists) for lists in drawn]
    answers = [related_answer(data) for data in tables]
    factors = np.mean([one.factors for one in answers], axis=0)
    classes = dict(zip(("factor_stereotype", "factor_human", "factor_neutral"), factors, strict=True))
    z_mean = np.mean([one.mean / one.sd for one in answers], axis=0)
    for row, mean in zip(of_answers(answers), z_mean, strict=True):
        yield {**row, "method": "related", "z_mean": mean, **classes}
    for method, missed in (("cluster interval", cluster_missed), ("Welch", welch_missed)):
        calls = [[missed(data, other) for other in OTHERS] for data in tables]
        yield from (row | {"method": method} for row in by_contrast(calls))
    if len(subjects.names) == 2:
        calls = [weat_missed(subjects, lists) for lists in drawn]
        yield {"contrast": "WEAT", "method": "WEAT permutation test", **rate(calls)}
    for model in SLOW:
        yield from fitted(subjects, drawn[: max(1, cell.replicates // 3)], model)


def cluster_missed(data, other):
    found = interval_of(data, "associated", other, PROB)
    return found.low > 0 or found.high < 0


def welch_missed(data, other):
    names = data.connections.tolist()
    first, second = (data.y[data.connection == names.index(name)] for name in ("associated", other))
    return ttest_ind(first, second, equal_var=False).pvalue < 1 - PROB


def weat_missed(subjects, drawn):
    words = np.array(subjects.vocabulary.words, dtype=object)
    targets = {name: words[subjects.rows[subjects.groups == at]] for at, name in enumerate(subjects.names)}
    query = bb.Query(targets, {"first": words[drawn[0]].tolist(), "second": words[drawn[1]].tolist()})
    found = bb.metric("weat_effect_size", subjects.vocabulary.kv, query, p_value=True, permutations=1000)
    return found.p_value < 1 - PROB


def fitted(subjects, drawn_lists, model):
    """Rates of a model's intervals of the whole-list contrast, and of its mean over these protected words."""
    missed = {model: [], f"{model}, these words": []}
    for at, drawn in enumerate(drawn_lists):
        posterior = bb.fit(numbered_table(subjects, drawn), model, draws=SLOW_DRAWS, chains=1, seed=at)["posterior"]
        both = posterior["connection_mean"], posterior["word_mean"].mean("protected_word")
        for calls, draws in zip(missed.values(), both, strict=True):
            calls.append([outside(draws, other) for other in OTHERS])
    for method, calls in missed.items():
        yield from (row | {"method": method} for row in by_contrast(calls))


def outside(draws, other):
    """Whether 0 lies outside of the central 89% of the draws."""
    below = float((draws.sel(connection="associated") < draws.sel(connection=other)).mean())
    return below < TAIL or below > 1 - TAIL


def fast_path(cell):
    subjects, rng = subjects_for(cell), cell.generator()
    words, kv = np.array(subjects.vocabulary.words, dtype=object), subjects.vocabulary.kv
    protected = {name: words[subjects.rows[subjects.groups == at]].tolist() for at, name in enumerate(subjects.names)}
    for at in range(cell.replicates):
        drawn = draw_lists(subjects, cell["lists"], rng)
        data = replicate_data(subjects, drawn)
        fast, listed = related_answer(data), [words[rows].tolist() for rows in drawn]
        stereotypes = dict(zip(subjects.names, listed, strict=False))
        lists = bb.WordLists("drawn", protected, stereotypes, dict(zip(OTHERS, listed[-2:], strict=False)))
        same = replace(data.relatedness, attribute_words=tuple(word for each in listed for word in each))
        table = bb.distance_table(kv, lists, relatedness=False)
        fits = {
            "same sample": bb.DistanceTable(table, relatedness=same),
            "own sample": bb.distance_table(kv, lists, relatedness=True),
        }
        for sample, given in fits.items():
            posterior = bb.fit(given, "related", draws=4000, seed=at)["posterior"]["word_mean"].mean("protected_word")
            for place, other in enumerate(OTHERS):
                draws = (posterior.sel(connection="associated") - posterior.sel(connection=other)).to_numpy().ravel()
                yield {
                    "replicate": at,
                    "sample": sample,
                    "contrast": f"associated - {other}",
                    "mean": fast.mean[place],
                    "mean_of_fit": draws.mean(),
                    "sd": fast.sd[place],
                    "sd_of_fit": draws.std(ddof=1),
                    "below": fast.below[place],
                    "below_of_fit": (draws < 0).mean(),
                }


def size_cells():
    """The base twice (controls random, and topics), then one change at a time."""
    topics = BASE | {"lists": "topical controls"}
    designs = [("base", BASE), ("base", topics)]
    designs += [(name, BASE | {name: value}) for name, values in VARIED.items() for value in values]
    designs += [("controls", topics | {"controls": value}) for value in VARIED["controls"]]
    return [{"embedding": name, "varied": varied, **sizes} for name in TWO for varied, sizes in designs]


def random_subjects(vocabulary, cell, rng):
    """Two random topics of the vocabulary as protected words."""
    free = np.ones(len(vocabulary.units), dtype=bool)
    words = np.array(vocabulary.words, dtype=object)
    protected = {}
    for name in ("first", "second"):
        rows = topic(vocabulary, cell["protected"] // 2, free, rng)
        free[rows] = False
        protected[name] = words[rows].tolist()
    others = words[rng.choice(np.flatnonzero(free), 4, replace=False)].tolist()
    stereotypes = {"first": others[:1], "second": others[1:2]}
    lists = bb.WordLists("random topics", protected, stereotypes, {"human": others[2:3], "neutral": others[3:]})
    sizes = (cell["attributes"],) * 2 + (cell["controls"],) * 2
    return subjects_of(vocabulary, lists, sizes, seed=int(rng.integers(1000)))


def sizes(cell):
    vectors, rng, answers = vocabulary_of(cell, TWO), cell.generator(), []
    pool = None if cell["pool"] == 1 else cell["pool"] * cell["attributes"] or len(vectors.words)
    choice = np.arange(cell.replicates) // PER_SUBJECTS
    for at in range(cell.replicates):
        if at % PER_SUBJECTS == 0:
            subjects = random_subjects(vectors, cell, rng)
        answers.append(related_answer(replicate_data(subjects, draw_lists(subjects, cell["lists"], rng, pool))))
    return of_answers(answers, se_by_protected=choice)


def shifted(subjects, drawn, amount):
    """The table with a shift of the associated cells, and the true contrasts (3,)."""
    shift = np.zeros(subjects.template.filled.shape)
    shift[:, subjects.template.connections.tolist().index("associated")] = -amount
    return replicate_data(subjects, drawn, shift), np.full(len(OTHERS), -amount)


def moved(subjects, drawn, amount):
    """The table with moved vectors and their own relatedness, and the true contrasts (3,)."""
    before = replicate_data(subjects, drawn)
    vectors, base = subjects.vocabulary, subjects.base
    towards = unit_rows(vectors.units[drawn[0]].astype(float).mean(axis=0, keepdims=True))[0]
    own = unit_rows(base.protected)
    own[subjects.groups == 0] += amount * towards
    own = unit_rows(own)
    scatter = -(own @ unit_rows(vectors.units[vectors.rows(base.sample_words)]).T)
    scatter -= scatter.mean(axis=1, keepdims=True)
    data = replicate_data(subjects, drawn, base=replace(base, protected=own, scatter=scatter))
    cells = data.filled.nonzero()
    return data, contrast_weights(data) @ (data.cells.mean[cells] - before.cells.mean[cells])


def planted_coverage(cell):
    subjects, rng = subjects_for(cell), cell.generator()
    lists = [draw_lists(subjects, cell["lists"], rng) for _ in range(cell.replicates)]
    for way, amounts in PLANTED.items():
        for amount in amounts:
            both = [(moved if way == "vectors" else shifted)(subjects, drawn, amount) for drawn in lists]
            found = [related_answer(data, truth) for data, truth in both]
            truth, sd = np.mean([truth for _, truth in both], axis=0), np.mean([one.sd for one in found], axis=0)
            held = [~one.missed for one in found]
            yield from ({"planted": way, "amount": amount, **row} for row in by_contrast(held, truth=truth, sd=sd))


def chance_check(cell):
    kv, words = bb.load_embedding("google-news-slice"), cell["words"]
    null = bb.topic_null(kv, words, replicates=cell.replicates, seed=0)
    similar, contrast = null.similarity.iloc[0], null.table().iloc[0]
    sd = bb.contrasts(bb.fit(bb.distance_table(kv, words), seed=0))["sd"].iloc[0]
    yield {
        "cosine": similar["cosine_target"],
        "cosine_of_random": similar["cosine_reached"],
        "null_sd": contrast["sd"],
        "posterior_sd": sd,
        "ratio": contrast["sd"] / sd,
        "p": contrast["p_value"],
    }


CELLS = crossed(embedding=TWO, words=FIVE, lists=KINDS)
DESIGNS = (
    Design("related/false_positives", CELLS, false_positives, 300),
    Design("related/fast_path", CELLS, fast_path, 2),
    Design("related/sizes", size_cells(), sizes, 300),
    Design("related/planted_coverage", crossed(embedding=TWO, words=FIVE, lists=["topical"]), planted_coverage),
    Design("related/chance_check", crossed(words=("gender", "weat1", "weat6", "weat7", "weat8")), chance_check, 1000),
)

if __name__ == "__main__":
    main(*DESIGNS)
