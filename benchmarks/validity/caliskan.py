"""The ten tests of Caliskan, Bryson and Narayanan (2017): effect sizes, permutation tests, intervals, chance check.

``--files 'GloVe 6B 50d=FILE'`` takes a text file of GloVe 6B in 50 dimensions
(https://nlp.stanford.edu/projects/glove/); ``python -m benchmarks.validity.caliskan figure`` draws docs/caliskan.png.
The published effect sizes are those of the article (GloVe) and of its supplement (word2vec), compared with
data/SI/caliskan_paper_es.csv of the repository mllewis/IATLANG; the word lists are bundled queries.
"""

import sys
from functools import cache

import pandas as pd

import bayesbias as bb
from benchmarks.study import RESULTS, Design, crossed, excludes, main
from benchmarks.validity.lists import SLICE

PUBLISHED = {
    "GloVe 840B": (1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21),
    "word2vec": (1.54, 1.63, 0.58, 1.24, 0.72, 1.89, 0.97, 1.24, 1.30, -0.08),
}
TITLES = (
    "flowers / insects",
    "instruments / weapons",
    "Eur. / Afr. American names",
    "the same, other names",
    "the same, short lists",
    "male / female names",
    "mathematics / arts",
    "science / arts",
    "mental / physical disease",
    "young / old names",
)
LEAD, BUNDLED = "Google News 300d", "glove-50d-slice"
vectors_of = cache(bb.load_embedding)


def lists_of(query: bb.Query) -> bb.WordLists:
    """A query as word lists: the first targets with the first attributes, the second with the second."""
    return bb.WordLists(query.name, query.targets, dict(zip(query.targets, query.attributes.values(), strict=True)))


def measured(cell):
    """Everything about one test in one embedding; the replicates are random topics."""
    name, number = cell["embedding"], cell["test"]
    kv = vectors_of({LEAD: SLICE, BUNDLED: BUNDLED}.get(name) or cell.options.file(name))
    query = bb.load_query(f"weat{number}")
    # names and diseases are rare: whatever share of a set an embedding has is measured, and the table says which
    how = {"case": "fallback", "max_missing": 1.0}
    weat = bb.metric("weat_effect_size", kv, query, p_value=True, alternative="greater", permutations=100_000, **how)
    words = weat.coverage.groupby("kind", sort=False)[["found", "asked"]].sum()
    lists = lists_of(query)
    table = bb.distance_table(kv, lists, case="fallback")
    effective = bb.relatedness(table).effective_words().query("kind == 'stereotype'")["effective"]
    post = bb.fit(table, seed=0)
    given, similar = (
        bb.contrasts(post, "different", "associated", target=target).iloc[0] for target in ("sample", "population")
    )
    null = bb.topic_null(kv, lists, replicates=cell.replicates, case="fallback")
    size = words.loc["target", "found"]
    yield {
        **{f"{kind}s_{what}": words.loc[kind, what] for kind in words.index for what in words},
        "effective_first": effective.iloc[0],
        "effective_second": effective.iloc[1],
        **{f"published {name}": effects[number - 1] for name, effects in PUBLISHED.items()},
        "d": weat.value,
        "d_published_sd": weat.value * ((size - 1) / size) ** 0.5,  # the article divides by n - 1
        "p_permutation": weat.p_value,
        "nearer": given["mean"],
        "low": given["low"],
        "high": given["high"],
        "similar_low": similar["low"],
        "similar_high": similar["high"],
        "random_topics": int(null.table().iloc[0]["count"]),
    }


def figure():
    """Published effect sizes, those of Google News, and intervals: a row a test."""
    import matplotlib.pyplot as plt

    table, ink, faint = pd.read_csv(RESULTS / "caliskan.csv"), "#222222", "#8a8a8a"
    table = table[table["embedding"] == LEAD].reset_index(drop=True)
    rows = range(len(table))
    clear = excludes(table)
    significant = table["p_permutation"] < 0.05
    with plt.rc_context({"font.size": 10, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False}):
        drawn, (left, right) = plt.subplots(1, 2, figsize=(5.6, 4.6), sharey=True, layout="constrained")
        drawn.suptitle("Caliskan's ten tests in Google News", fontsize=11.5, fontweight="bold")
        left.scatter(table["published GloVe 840B"], rows, s=42, facecolors="none", edgecolors=ink)
        left.scatter(table["d"], rows, s=34, color=[ink if called else faint for called in significant], marker="D")
        left.set(xlim=(-0.2, 2.15), xlabel="WEAT's d", yticks=rows, yticklabels=TITLES)
        left.set_title(f"\u25cb published  \u25c6 here\n{significant.sum()} of 10: p < .05")
        for row, called in zip(table.itertuples(), clear, strict=True):
            look = {"color": ink if called else faint, "linewidth": 2.2 if called else 1.4}
            right.plot([row.low, row.high], [row.Index] * 2, **look)
            right.plot(row.nearer, row.Index, "o", color=look["color"])
        right.set(xlabel="nearer (cosine distance)", xticks=[0, 0.05, 0.1], xticklabels=["0", ".05", ".10"])
        right.set_title(f"89% interval\n{clear.sum()} of 10 exclude 0")
        for panel in (left, right):
            panel.axvline(0, color=ink, linewidth=0.8, linestyle=":")
            panel.grid(axis="y", color="#e6e6e6")
            panel.set_axisbelow(True)
            panel.tick_params(axis="y", length=0)
        left.invert_yaxis()
        drawn.savefig(RESULTS.parents[1] / "docs" / "caliskan.png", dpi=200)


CELLS = crossed(embedding=(BUNDLED, LEAD, "GloVe 6B 50d"), test=range(1, 11))

if __name__ == "__main__":
    if sys.argv[1:] == ["figure"]:
        figure()
    else:
        main(Design("caliskan", CELLS, measured, 1000, 5))
