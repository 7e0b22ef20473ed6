"""False positives of 89% intervals where attribute lists are random lists or random topics of the vocabulary.

    python benchmarks/related/false_positives.py related --cache minilm.npz    # some minutes
    python benchmarks/related/false_positives.py fits --cache minilm.npz       # published and crossed models, slow
    python benchmarks/related/false_positives.py check --cache minilm.npz      # the fast path against fit

Each contrast is 0 in expectation, since all lists of a replicate are drawn alike. Nominal: 11%.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from nulls import (
    KINDS,
    OTHERS,
    PROB,
    TAIL,
    Parts,
    arguments,
    contrast_weights,
    draw_lists,
    interval_of,
    numbered_table,
    parsed,
    rate_row,
    related_answer,
    replicate_data,
    rng_for,
    subjects_of,
    vocabularies,
)
from scipy.stats import ttest_ind

import bayesbias as bb

SLOW = ("published", "crossed")
"""Models that are fitted, on the first replicates only."""
SLOW_DRAWS = 500


def related_rows(subjects, cell, drawn_lists):
    """Rates of the model of related words, of cluster intervals and of Welch's test of rows."""
    missed = {name: [] for name in ("related", "cluster interval", "Welch")}
    z, sd, factor = [], [], []
    for drawn in drawn_lists:
        data = replicate_data(subjects, drawn)
        found = related_answer(data)
        missed["related"].append(found.missed)
        z.append(found.mean / found.sd)
        sd.append(found.sd)
        factor.append(found.factors)
        missed["cluster interval"].append([cluster_missed(data, other) for other in OTHERS])
        missed["Welch"].append([welch_missed(data, other) for other in OTHERS])
    z = np.array(z)
    rows = []
    for method, values in missed.items():
        for at, other in enumerate(OTHERS):
            row = {**cell, "contrast": f"associated - {other}", "method": method, **rate_row(np.array(values)[:, at])}
            if method == "related":
                row |= {"z_mean": z[:, at].mean(), "z_sd": z[:, at].std(ddof=1), "sd": np.mean(sd, axis=0)[at]}
                row |= dict(
                    zip(("factor_stereotype", "factor_human", "factor_neutral"), np.mean(factor, axis=0), strict=True)
                )
            rows.append(row)
    return rows


def cluster_missed(data, other):
    found = interval_of(data, "associated", other, PROB)
    return found.low > 0 or found.high < 0


def welch_missed(data, other):
    names = data.connections.tolist()
    first, second = (data.y[data.connection == names.index(name)] for name in ("associated", other))
    return ttest_ind(first, second, equal_var=False).pvalue < 1 - PROB


def weat_rows(subjects, cell, drawn_lists):
    """Rates of WEAT's permutation test, two-sided, for two groups."""
    words = np.array(subjects.vocabulary.words, dtype=object)
    targets = {name: words[subjects.rows[subjects.groups == at]] for at, name in enumerate(subjects.names)}
    missed = []
    for drawn in drawn_lists:
        query = bb.Query(targets, {"first": words[drawn[0]].tolist(), "second": words[drawn[1]].tolist()})
        found = bb.metric("weat_effect_size", subjects.vocabulary.kv, query, p_value=True, permutations=1000)
        missed.append(found.p_value < 1 - PROB)
    return [{**cell, "contrast": "WEAT", "method": "WEAT permutation test", **rate_row(missed)}]


def fit_rows(subjects, cell, drawn_lists, model):
    """Rates of a model's intervals of the whole-list contrast, and of its mean over these protected words."""
    whole, given = [], []
    for at, drawn in enumerate(drawn_lists):
        posterior = bb.fit(numbered_table(subjects, drawn), model, draws=SLOW_DRAWS, chains=1, seed=at)["posterior"]
        whole.append([outside(posterior["connection_mean"], other) for other in OTHERS])
        given.append([outside(posterior["word_mean"].mean("protected_word"), other) for other in OTHERS])
    return [
        {**cell, "contrast": f"associated - {other}", "method": method, **rate_row(np.array(values)[:, at])}
        for method, values in ((model, whole), (f"{model}, these words", given))
        for at, other in enumerate(OTHERS)
    ]


def outside(draws, other):
    """Whether 0 lies outside of the central 89% of the draws."""
    below = float((draws.sel(connection="associated") < draws.sel(connection=other)).mean())
    return below < TAIL or below > 1 - TAIL


def as_table(subjects, drawn, relatedness=False):
    """The distance table of drawn lists as the package makes it."""
    return bb.distance_table(subjects.vocabulary.kv, as_lists(subjects, drawn), relatedness=relatedness)


def as_lists(subjects, drawn):
    words = np.array(subjects.vocabulary.words, dtype=object)
    protected = {name: words[subjects.rows[subjects.groups == at]].tolist() for at, name in enumerate(subjects.names)}
    size = len(subjects.names)
    stereotypes = {name: words[rows].tolist() for name, rows in zip(subjects.names, drawn[:size], strict=True)}
    controls = {name: words[rows].tolist() for name, rows in zip(("human", "neutral"), drawn[size:], strict=True)}
    return bb.WordLists("drawn", protected, stereotypes, controls)


def check_rows(subjects, cell, drawn_lists):
    """The fast path against the package's own table and fit: with the same sample, and with a sample of its own."""
    rows = []
    for at, drawn in enumerate(drawn_lists):
        data = replicate_data(subjects, drawn)
        fast = related_answer(data)
        table = as_table(subjects, drawn)
        words = [subjects.vocabulary.words[row] for row in np.concatenate(drawn)]
        same = replace(data.relatedness, attribute_words=tuple(words))
        own = as_table(subjects, drawn, relatedness=True)
        fits = {"same sample": bb.DistanceTable(table, relatedness=same), "own sample": own}
        for how, given in fits.items():
            posterior = bb.fit(given, "related", draws=4000, seed=at)["posterior"]["word_mean"].mean("protected_word")
            for place, other in enumerate(OTHERS):
                draws = (posterior.sel(connection="associated") - posterior.sel(connection=other)).to_numpy().ravel()
                rows.append(
                    {
                        **cell,
                        "replicate": at,
                        "sample": how,
                        "contrast": f"associated - {other}",
                        "mean": fast.mean[place],
                        "mean_of_fit": draws.mean(),
                        "sd": fast.sd[place],
                        "sd_of_fit": draws.std(ddof=1),
                        "below": fast.below[place],
                        "below_of_fit": (draws < 0).mean(),
                    }
                )
    return rows


def run(given):
    parts = Parts("false_positives" if given.part != "check" else "fast_path", given)
    for vocabulary in vocabularies(given.embeddings, given.cache):
        for name in given.lists:
            subjects = subjects_of(vocabulary, bb.load_words(name))
            assert contrast_weights(subjects.template).shape[0] == len(OTHERS)
            for kind in KINDS:
                one_cell(parts, given, subjects, {"embedding": vocabulary.name, "words": name, "lists": kind})
    return parts.collect()


def one_cell(parts, given, subjects, cell):
    """All replicates of one kind of lists: the methods of a part see the same lists."""
    rng = rng_for(given.seed, *cell.values())
    drawn = [draw_lists(subjects, cell["lists"], rng) for _ in range(given.replicates)]
    key = tuple(cell.values())
    if given.part == "related":
        parts.once((*key, "related"), lambda: related_rows(subjects, cell, drawn))
    elif given.part == "check":
        parts.once(key, lambda: check_rows(subjects, cell, drawn[:2]))
    else:
        if len(subjects.names) == 2:
            parts.once((*key, "weat"), lambda: weat_rows(subjects, cell, drawn))
        for model in SLOW:
            parts.once((*key, model), lambda model=model: fit_rows(subjects, cell, drawn[: given.fitted], model))


def main():
    parser = arguments(__doc__, 300)
    parser.add_argument("part", choices=["related", "fits", "check"])
    parser.add_argument("--fitted", type=int, default=100, help="replicates of the models that are fitted")
    given = parsed(parser)
    table = run(given)
    if given.part == "check":
        apart = table.assign(mean=table["mean_of_fit"] - table["mean"], ratio=table["sd_of_fit"] / table["sd"])
        print(apart.groupby("sample")[["mean", "ratio"]].describe().T.to_string())
        return
    shown = table.pivot_table(index=["embedding", "words", "lists"], columns=["method", "contrast"], values="rate")
    with pd.option_context("display.width", 250):
        print((100 * shown).round(0).to_string())


if __name__ == "__main__":
    main()
