"""The numbers that pages quote are those of the results files, in the order of the page."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

ROOT = Path(__file__).parents[2]
RESULTS = (ROOT / "benchmarks" / "results", ROOT / "benchmarks" / "results" / "calibration")
NAMED = re.compile(r"`(?:benchmarks/[\w/]+\.py|[\w/]+\.csv)`")
NUMBER = re.compile(r"(?<![\w.,])([−+]?)((?:\d{1,3}(?:,\d{3})+|\d*\.?\d+))(?!\w|[.,]\d)")
NOMINAL = "89 11"
"""Numbers that any part may hold: the mass of intervals and its complement."""
QUOTES = {}
"""The page and the first words of a part to a function that gives its values, and the numbers of its design."""


def quotes(page, part, design=""):
    def add(values):
        QUOTES[page, part] = values, set(f"{NOMINAL} {design}".split())
        return values

    return add


@cache
def read(name):
    """A results file; what it is named by is the path that a page names."""
    places = [folder / name.removeprefix("benchmarks/results/") for folder in RESULTS]
    return pd.read_csv(next(place for place in places if place.exists()))


def rows(name, **where):
    """The rows of a results file with these values, or with one of several."""
    table = read(name)
    for column, value in where.items():
        table = table[table[column].isin(value) if isinstance(value, (list, tuple)) else table[column] == value]
    assert len(table), (name, where)
    return table


def span(values):
    return [values.min(), values.max()]


def mean_and_span(values):
    return [values.mean(), *span(values)]


def parts_of(page):
    """The parts of a page by their titles: a heading's text, or a paragraph with a bold start."""
    text = re.sub(r"```.*?```", "", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    pieces = re.split(r"^(?=#+ |(?:- )?\*\*[A-Z])", text, flags=re.MULTILINE)
    for piece in pieces:
        title = re.match(r"#+ (.+)|(?:- )?\*\*(.+?)\.?\*\*", piece)
        if title:
            yield (title[1] or title[2]), piece[title.end() :]


def numbers_in(text):
    """The numbers of a part with their signs, without code, links, names of tests and what follows a letter."""
    plain = re.sub(
        r"`[^`]*`|\]\([^)]*\)|https?://\S+|WEAT \d+(?: and \d+)?|all-MiniLM-L6-v2|\(20\d\d", " ", text
    ).replace("–", " to ")
    return NUMBER.findall(plain)


def is_rounding(sign, digits, value):
    """Whether a number is the rounding of a value, as it is or in percent, with its sign."""
    decimals = len(digits.partition(".")[2])
    shown = float(digits.replace(",", "")) * (-1 if sign == "−" else 1)
    share = not isinstance(value, int | np.integer) and abs(value) <= 1
    scales = (100,) if share and decimals == 0 else (1, 100) if share and decimals == 1 else (1,)
    return any(abs(value * scale - shown) <= 0.5 * 10**-decimals + 1e-9 for scale in scales)


def first_fault(text, values, design):
    """The first number of a text that is neither the next value nor one of the design, or what is missing."""
    reached = {0}
    for sign, digits in numbers_in(text):
        taken = {place + 1 for place in reached if place < len(values) and is_rounding(sign, digits, values[place])}
        if not taken and digits not in design:
            following = [round(float(values[place]), 5) for place in sorted(reached) if place < len(values)]
            return f"{sign}{digits}, where {following} is next"
        reached = taken | (reached if digits in design else set())
    return None if len(values) in reached else f"not quoted: {values[max(reached) :]}"


@quotes("validation.md", "Random topics: no bias to find", "0 100 200 300 90 8 14")
def random_topics():
    table, found = read("related/false_positives.csv"), []
    others = ("crossed, these words", "published", "cluster interval", "Welch", "WEAT permutation test")
    for lists in ("random", "topical"):
        for other in ("human", "different"):
            here = table[(table["lists"] == lists) & table["contrast"].isin([f"associated - {other}", "WEAT"])]
            found += mean_and_span(here.loc[here["method"] == "related", "rate"])
            found += [
                here.loc[here["method"] == name, "rate"].mean() for name in others[: 4 if other == "human" else 5]
            ]
    related = table.loc[table["method"] == "related", "rate"]
    found += [related.mean(), (related < 0.08).sum(), (related > 0.14).sum()]
    topics = rows("related/false_positives.csv", method="related", lists="topical", embedding="minilm")
    topics = topics[topics["contrast"] == "associated - different"].set_index("words")["rate"]
    assert [topics["gender"], topics["religion"]] == span(table.loc[table["method"] == "related", "rate"])
    own = rows("related/fast_path.csv", sample="own sample")
    own = own.assign(ratio=own["sd_of_fit"] / own["sd"])
    medians = own.groupby("contrast")["ratio"].median()
    minilm = own[(own["embedding"] == "minilm") & (own["contrast"] == "associated - human")]["ratio"].median()
    ratios = [*span(own["ratio"]), medians["associated - different"], medians["associated - human"], minilm]
    return [*found, topics["gender"], topics["religion"], *ratios]


@quotes("validation.md", "Lists where stereotypes lie", "0 30 100 200 300 1,000 3,000")
def lists_where_stereotypes_lie():
    table = read("related/near_regions.csv")
    errors = [100 * error for error in span(table["se"])]
    categories = read("related/near_categories.csv")["rate"]
    sizes = read("related/near_sizes.csv")
    widths = rows("related/near_sizes.csv", embedding="glove 50d", region="near")["sd"]
    changes = read("related/near_debiasing.csv")
    ratio = widths.iloc[0] / widths.iloc[-1]
    spread = [100 * error for error in span(changes["se"])]
    measured = [*table[["rate", "rows"]].to_numpy().ravel(), *categories, *sizes["rate"], ratio]
    return [*errors, *measured, *spread, *changes["rate"]]


@quotes("validation.md", "Lists that are similar to each other", "100 0 .2 .4 .6 .8 50")
def similar_lists():
    table, found = read("related/alike.csv"), []
    for embedding in ("google news slice", "glove 50d"):
        for other in ("different", "neutral"):
            here = rows("related/alike.csv", embedding=embedding, contrast=f"associated - {other}")
            found += list(here.sort_values("low")["rate"])
    return [table["se"].max(), *found]


@quotes("validation.md", "Sizes, coherence and rare words", "3 2 10 200 300 50 400,000 60 4")
def sizes_and_rare_words():
    table = read("related/sizes.csv")
    loose = (table["embedding"] == "minilm") & (table["pool"] == 30)
    ranks = {"ranks": "300 to 100,000", "sample": "ranks of the lists"}
    rare = [rows("related/rare_words.csv", lists=lists, **ranks)["rate"] for lists in ("gender", "religion")]
    kept = table.loc[~loose, "rate"]
    assert 100 * table["se"].median() < 4.5
    return [
        *(table["attributes"].min(), table["attributes"].max(), table["protected"].min(), table["protected"].max()),
        *(table["controls"].min(), table["controls"].max()),
        kept.mean(),
        *span(kept),
        *span(table.loc[loose, "rate"]),
        *span(rare[0]),
        *span(rare[1]),
        read("related/rare_words.csv")["rate"].max(),
    ]


@quotes("validation.md", "Interval and chance check", "1,000")
def chance_check():
    columns = ["cosine", "cosine_of_random", "ratio", "p"]
    return list(read("related/chance_check.csv")[columns].to_numpy().ravel())


@quotes("validation.md", "Split halves", "0 30")
def split_halves():
    table = read("related/halves.csv").copy()
    columns = ["rate", "rate_independent"]
    table[columns] = table[columns].mul(table["replicates"], axis=0)
    totals = table.groupby(["lists", "split", "list"])[[*columns, "replicates"]].sum().reset_index()
    shares = totals[columns].div(totals["replicates"], axis=0).join(totals[["split", "list"]])
    own, control = shares[shares["list"] == "own"], shares[shares["list"] == "control"]
    own_lists = table[(table["lists"] == "bundled") & (table["list"] == "own")]
    by_list = own_lists.groupby(["words", "embedding"])[["rate", "replicates"]].sum()
    worst = (by_list["rate"] / by_list["replicates"])[WORST_HALVES]
    assert worst.max() < (by_list["rate"] / by_list["replicates"]).drop(WORST_HALVES).min()
    return [
        *span(own["rate"]),
        *span(control["rate"]),
        *span(own.loc[own["split"] == "by topic", "rate_independent"]),
        *span(control.loc[control["split"] == "by topic", "rate_independent"]),
        *worst,
    ]


WORST_HALVES = [("religion", "google news"), ("religion", "minilm"), ("race", "minilm")]


@quotes("validation.md", "A planted bias", "40")
def planted_bias():
    table = read("related/planted_coverage.csv")
    means = table.groupby("planted")["rate"].mean()
    return [means["constant"], means["vectors"], table["rate"].min()]


@quotes("validation.md", "Intervals and calls of few pairs", "100 6,000")
def _few_pairs():
    table = rows("axes/planted.csv", replicates=100).set_index(["kind", "pairs"])
    columns = ["missed", "called", "wrong_of_called"]
    return [
        value
        for count in (2, 3, 6, 12)
        for value in [count, *table.loc[[(kind, count) for kind in table.index.levels[0]], columns].to_numpy().ravel()]
    ]


@quotes("validation.md", "Truths from each model's own prior", "500 100 300")
def _own_priors():
    def of(name):
        return rows("priors.csv", analysis=name)["covered"]

    once = [*of("audit"), *of("places")]
    several = [value for name in ("pool", "trend", "multiverse") for value in span(of(name))]
    slow = [*of("criterion"), *span(of("related contrasts")), *of("angle"), *span(of("changes"))]
    return [*once, *several, *slow, of("contrasts").mean()]


@quotes("validation.md", "The engine", "1,000")
def engine():
    nuts, ranks = read("related/against_nuts.csv"), read("related/ranks.csv")["ks_p_value"]
    return [len(ranks), ranks.min(), nuts["largest_mean_difference"].max(), nuts["largest_sd_ratio"].max() - 1]


@quotes("validation.md", "The sample", "0 200 3,000")
def sample():
    ratios = read("related/sensitivity.csv")
    by_seed = ratios[ratios["setting"] == "sample"].groupby("value")["ratio"].std()
    frequent = ratios.loc[ratios["setting"] == "frequent words", "ratio"] - 1
    small = read("related/small_samples.csv").groupby("sample")["rate"].mean()
    return [by_seed[200], by_seed[3000], -frequent.mean(), *span(frequent), *span(small.index), *span(small)]


@quotes("validation.md", "Similar protected words", "30 150 2 3 9 0 4 10 49 .03 .1")
def similar_protected_words():
    table, found = read("related/populations.csv"), []
    for few, sd in ((True, 0), (True, 0.1), (False, 0), (False, 0.03), (False, 0.1)):
        here = table[(table["words"].eq(4) == few) & (table["sd"] == sd)]
        for other in ("human", "different"):
            found += mean_and_span(here.loc[here["contrast"] == f"associated - {other}", "rate"])
    race = table[(table["lists"] == "race") & (table["embedding"] == "minilm") & (table["replicates"] == 150)]
    race = race[(race["sd"] == 0.1) & (race["contrast"] == "associated - different")]
    return [*found, *race["rate"]]


@quotes("validation.md", "Rows of single words", "16 .03 .08 60 100 50 18 7 1 14 6")
def rows_of_words():
    table = read("related/rows.csv")
    many = table["words"].str.startswith("nouns")
    cells = table[~many & table["lists"].isin(["topics", "categories"])]
    found = []
    for structure in ("none", "independent", "distances", "lists"):
        here = cells[cells["structure"] == structure]
        pooled = here[here["rows"] == "pooled"].groupby("tau")["missed"]
        if structure == "none":
            missed = here.loc[here["rows"] == "raw", "missed"]
            found += [*span(missed), missed.mean()]
        found += [value for _, missed in pooled for value in (*span(missed), missed.mean())]
    errors = cells[cells["tau"] > 0].groupby("rows")["rmse"].mean()
    wide = table[many]
    pooled = wide[wide["rows"] == "pooled"]
    none = pooled["structure"] == "none"
    found += [errors["pooled"], errors["raw"], wide.loc[wide["rows"] == "raw", "missed"].mean()]
    found += [*span(pooled.loc[none, "missed"]), *span(pooled.loc[~none, "missed"])]
    halves = read("row_halves.csv").assign(nearer=lambda table: table["rmse"] / table["rmse_raw"])
    glove = halves["table"].str.contains("glove 50d")
    for here in (
        halves[halves["model"] == "crossed"],
        halves[glove & (halves["rows"] == "association") & (halves["model"] == "related")],
        halves[glove & (halves["rows"] == "pooled")],
    ):
        for column in ("ratio", "covered", "nearer"):
            if not here[column].eq(1).all():
                found += list(here[column].quantile([0, 0.5, 1]))
    return [*found, (halves.loc[halves["rows"] == "pooled", "nearer"] < 1).sum()]


@quotes("validation.md", "Signs of words", "70 50 5 0 .03 .06 .015 60")
def signs_of_words():
    table = read("related/signs.csv")
    found = []
    for rule in ("pooled", "raw"):
        tables = table.loc[(table["rule"] == rule) & (table["mean"] == 0), "tables"]
        found += [*span(tables), tables.mean()]
    for mean in (-0.03, -0.06):
        for sd in (0, 0.015, 0.03):
            cells = table[(table["mean"] == mean) & (table["sd"] == sd)]
            for rule in ("pooled", "raw"):
                here = cells[cells["rule"] == rule]
                known = -here["mean"] >= 2 * here["error"]
                found += [wrong_share(here[known]), wrong_share(here[~known]), here["named"].mean()]
    named = table[(table["rule"] == "pooled") & (-table["mean"] >= 2 * table["error"])]
    return [*found, named["wrong"].max()]


def wrong_share(cells):
    """Share of wrong signs among all that are named."""
    return (cells["wrong"].fillna(0) * cells["named"]).sum() / cells["named"].sum()


@quotes("validation.md", "Frequency of words", "0 .001 50 100 300 60 40 3,000 10,000 20,000 60,000 5")
def frequency():
    balance = read("frequency_balance.csv")
    glove = balance["table"].str.contains("glove")
    neutral = rows("frequency_balance.csv", table="gender_group_glove_dataset", contrast="associated - neutral").iloc[0]
    cells = read("related/unlike_frequency.csv").set_index("cell")
    columns = ["difference", "difference, adjusted", "association", "association, adjusted", "warned"]
    bands = "3,000-10,000 against 20,000-60,000"
    null = rows("frequency_null.csv", contrast="associated - neutral")
    trends = read("second_stage/frequency.csv").set_index("distances")
    assert balance.loc[~glove, "r2"].max() <= 0.055
    return [
        *span(balance.loc[glove, "r2"]),
        *(neutral["raw"], neutral["adjusted"]),
        *cells.loc[f"random, {bands}", columns],
        *cells.loc[f"topics, {bands}", columns],
        *span(null["raw"]),
        *span(null["adjusted"]),
        *(trends.loc["raw", "called"], trends.loc["adjusted", "called"], trends.loc["raw", "warned"]),
    ]


@quotes("validation.md", "Uncorrelated words", "0 18 300 6 12")
def uncorrelated_words():
    table, found = read("real_null.csv"), []
    topics = table["table"].str.startswith("weat")
    different = table["contrast"] == "associated - different"
    for here in (
        table[table["contrast"] == "associated - neutral"],
        table[different & topics],
        table[different & ~topics],
    ):
        for method in ("published", "crossed_plain", "crossed", "cluster", "t_test", "weat"):
            rates = here.loc[here["method"] == method, "rate"]
            found += [] if rates.empty else span(rates)
    for method in ("crossed", "published"):
        found += span(rows("simulated.csv", method=method)["rate"])
    return found


@quotes("validation.md", "Short lists", "0 .3 400 100 3 8 15 25 50 500 2")
def short_lists():
    table = read("calibration_small_lists.csv")
    missed, found = (table["rate"] + 1 - table["coverage"]) / 2, []
    for world in ("3 x 8", "15 x 25", "50 x 500"):
        for method in ("crossed", "Exponential(2)"):
            for other in ("different", "human"):
                here = (table["world"] == world) & (table["method"] == method)
                found += span(missed[here & (table["contrast"] == f"associated - {other}")])
    return found


@quotes("validation.md", "One extreme word", "15 .4 150 100 40")
def extreme_word():
    few = rows("calibration_extreme_2.csv", away=-0.4).set_index("model")["extreme"]
    return [rows("calibration_extreme_12.csv", away=-0.4)["extreme"].iloc[0], few["crossed"], few["crossed_t"]]


@quotes("validation.md", "Engine of `crossed`", "2,000")
def engine_of_crossed():
    first, second = (read(f"{name}.csv")["ks_p_value"] for name in ("ranks", "ranks_2"))
    nuts, seconds = read("marginal_against_nuts.csv"), read("marginal_speed.csv")
    return [
        *(len(first), first.min(), second.min(), len(second), nuts["parameters"].sum()),
        nuts["largest_mean_difference_in_mcse"].max(),
        *span(seconds["median_s"]),
        *span(seconds["nutpie_s"]),
    ]


@quotes("validation.md", "Leave one word out", "18")
def model_choice():
    return span(rows("model_choice.csv", model="crossed")["above_published"])


@quotes("validation.md", "Halves of published tables")
def halves_of_published_tables():
    table = read("halves.csv")
    medians = table.groupby(["halved", "contrast"])["ratio"].median()
    contrasts = [f"associated - {other}" for other in ("different", "human", "neutral")]
    lowest = table.loc[table["halved"] == "attribute words", "ratio"].min()
    return [*medians["attribute words"][contrasts], lowest, *medians["protected words"][contrasts]]


@quotes("validation.md", "Default model", "0 12 100 200")
def changes():
    table = rows("changes_related.csv", side="change")
    rates = table.set_index(["model", "vectors", "words", "quantity", "rows"])["rate"].sort_index()
    both, found = "google news and glove-50d-slice", []
    cells = (("google news", "gender"), ("glove_6b_50d", "gender"), ("glove_6b_50d", "religion"))
    for vectors, words in (*cells, (both, "gender"), (both, "religion")):
        here = rates["related", vectors, words]
        found += [here["association", "whole list"], here["association", "words"], here["associated - human", "words"]]
    for vectors in ("google news", "glove_6b_50d", both):
        here = rates["change", vectors, "gender", "association"]
        found += [here["whole list"], here["words"]]
    return found


@quotes("validation.md", "Model of changes, its own tables", "250")
def model_of_changes():
    by_quantity = read("changes.csv").groupby("quantity")["coverage"]
    both = rows("changes.csv", quantity=["associated - human", "associated - neutral"])["coverage"]
    single = [span(by_quantity.get_group(name)) for name in ("associated", "human", "associated - different")]
    worst = read("paired_against_nuts.csv")[["words_apart_sds", "p_shrank_apart"]].max()
    return [*single[0], *single[1], *span(both), *single[2], *worst]


@quotes("validation.md", "Pools", ".02 .03 .9 .95 1 2.5 36")
def pools():
    table, found = read("second_stage/pools.csv"), []
    columns = ("given mean", "population mean", "single", "rmse of the mean", "mean outside")
    six = table[(table["embeddings"] == 6) & (table["between_sd"] == 0.02)].set_index(["errors", "weights"])
    for errors in (
        *("exact, .9", "exact, .95, errors 1 : 2.5"),
        *("equal errors taken for 1 : 2.5, .95", "errors 1 : 2.5 taken for equal, .95"),
    ):
        found += [six.loc[(errors, weights), column] for column in columns for weights in ("equal", "precision")]
    by_weights = table.groupby("weights")["given mean"]
    topics = rows("second_stage/pools_of_topics.csv", errors="GloVe and Google")["given mean"]
    late = rows("second_stage/pools.csv", errors="errors 1 : 2.5 taken for equal, .95").groupby("weights")["change"]
    lines = [*span(late.get_group("equal")), *span(late.get_group("precision"))]
    return [*found, *span(by_weights.get_group("equal")), *span(by_weights.get_group("precision")), *topics, *lines]


@quotes("validation.md", "Toy corpora", "200 0")
def corpora():
    table = read("second_stage/corpora.csv").set_index(["strength_sd", "weights"])
    biased = [table.loc[(strength, "precision"), "error of the mean"] for strength in (0.0, 0.05)]
    columns = ("given mean", "single", "rms error of the mean", "mean outside")
    cells = [
        table.loc[(strength, weights), column]
        for column in columns
        for strength in (0.0, 0.05)
        for weights in ("equal", "precision")
    ]
    return [*biased, *cells]


@quotes("validation.md", "Relations", "0 4 8 3 6 20 60 .7")  # the sizes of groups and of pools
def relations():
    table = read("second_stage/relations.csv")
    grouped = table["embeddings"].str.contains("groups")
    named = table["groups"] == "given"
    few = [table.loc[grouped & named, "coverage"], table.loc[~grouped & (table["correlation"] == 0), "coverage"]]
    related = table.loc[~grouped & (table["correlation"] > 0), "coverage"]
    means = read("second_stage/relations_of_means.csv")["coverage"]
    groups = [*span(table.loc[grouped & ~named, "coverage"]), *span(few[0]), *span(means)]
    return [*groups, *span(few[1]), *span(related)]


@quotes("validation.md", "Shared concepts", "25")
def shared_concepts():
    table = read("second_stage/shared_concepts.csv")
    here = table[table["between_sd"] > 0].set_index(["interval of", "errors"])["coverage"]
    same = table[(table["between_sd"] == 0) & (table["interval of"] == "difference")]["coverage"]
    order = [("mean", "independent"), ("mean", "joint"), ("difference", "independent"), ("difference", "joint")]
    return [*here[order], same.mean()]


@quotes("validation.md", "Trends", "40 200 10 3 0 .005 .015 .04 .7 .9 .01 .02 .06")
def trends():
    table = read("second_stage/trends.csv")
    table = table[table["weights"] != "precision"].set_index(["planted", "periods", "kind"]).sort_index()
    found = []
    for periods in (10, 3):
        here = table.loc["linear", periods]
        found += [here["truth"].iloc[0]]
        found += [
            here.loc[kind, value] for kind in ("linear", "difference", "walk") for value in ("coverage", "called")
        ]
    table = (
        read("second_stage/trends_deviations.csv").set_index(["taken_for", "correlation", "training_sd"]).sort_index()
    )
    now = table.loc["correlated", 0.0]
    found += [*span(now.loc[[0.0, 0.005, 0.01, 0.015], "coverage"]), *span(now.loc[0.04, "coverage"])]
    ten = table[table["embeddings"] == 10]
    for case in ((0.7, 0.01), (0.9, 0.02)):
        found += [1 - ten.loc[(taken, *case), "coverage"] for taken in ("independent", "correlated")]
    cases = [("correlated", 0.0, sd) for sd in (0.0, 0.01)] + [("correlated", 0.7, 0.01), ("correlated", 0.9, 0.02)]
    return [*found, *(ten.loc[case, "power"] for case in cases)]


@quotes("validation.md", "Copies", ".03 .01 .5 .99 .995")
def copies():
    table = read("second_stage/pools_copies.csv").set_index(["copies", "how"])["population mean"]
    order = [("exact", COUNTED), ("near", COUNTED), ("exact", "copies left out"), ("near", "named as replicates")]
    return list(table[order])


COUNTED = "counted as further embeddings"


@quotes("validation.md", "Criteria", "0 60 15 31 77")
def criteria():
    return span(read("second_stage/criteria_null.csv")["false_positive_rate"])


@quotes("validation.md", "Places", "0 6 40")
def places():
    halves = read("axes/halves.csv")
    by_kind = halves.groupby(["halves", "embedding"])["inside"].mean()
    found = span(read("axes/null.csv")["excludes_0"])
    for kind in ("random", "topic"):
        found += list(by_kind[kind])
        for axis in ("gender_pairs", "gender"):
            found += list(rows("axes/halves.csv", halves=kind, axis=axis).sort_values("embedding")["inside"])
    return found


@quotes("validation.md", "Angles", "0 .3 .7 200")
def angles():
    table = read("axes/angle.csv").query("replicates == 200")
    glove = table["embedding"] == "glove.txt"
    return [*span(table.loc[glove, "coverage"]), *table.loc[~glove, "coverage"]]


@quotes("validation.md", "Outside values", "0 .4 .8 .3 5 36 200 100")
def outside_values():
    by_kind = read("axes/criterion.csv").groupby(["residuals", "embedding"])["coverage"]
    cells = [(kind, name) for kind in ("smooth", "independent") for name in EMBEDDINGS]
    found = [value for cell in cells for value in mean_and_span(by_kind.get_group(cell))]
    plain = read("axes/criterion.csv").groupby("embedding")["plain_coverage"].mean()
    return [*found, *plain[list(EMBEDDINGS)], *span(read("axes/shuffled.csv")["shuffled_excludes_0"])]


EMBEDDINGS = ("glove.txt", "google_news_slice.bin")


@quotes("validation.md", "Audits", ".05 20,000 13,013 4 20 .01 .6")
def audits():
    table, confirmed = read("axes/audit.csv"), read("axes/confirmed.csv")
    assert table.loc[table["kind"] == "groups", "called"].max() < 1e-4
    assert read("axes/noise.csv")["called"].max() == 0
    shares = confirmed[confirmed["axis"] == "all"].set_index("embedding")["confirmed"]
    worst = confirmed.loc[confirmed["called"] > 0.006, "confirmed"].min()
    return [100 * table.loc[table["kind"] == "pairs", "called"].max(), *shares[list(EMBEDDINGS)], worst]


@quotes("validation.md", "Silhouettes", "100 6 12 18")
def silhouettes():
    table = read("silhouettes_of_contrasts.csv").set_index(["metric", "model", "vary"]).sort_index()
    found = []
    for metric in ("weat_effect_size", "ect", "mac", "crossed"):
        biased = table.loc[metric, "biased"].loc[["targets", "attributes"]]
        found += [*biased["robustness"], *biased["accuracy"], *biased["separation"]]
        found += list(table.loc[metric, ["biased", "unbiased"], :].query("vary == 'targets'")["full"])
    least = read("silhouettes_by_size.csv").groupby(["metric", "words"])["coverage"].min()
    return [*found, *least["crossed"][[6, 12, 18]], *least["published"][[6, 12, 18]]]


@quotes("validation.md", "Reliability", "4 10 150 400")
def reliability():
    table = read("reliability_intervals.csv").groupby("objects")
    kinds = [(form, column) for column in ("covered_f", "covered_bootstrap") for form in ("normal", "t4")]
    return [value for form, column in kinds for value in span(table.get_group(form)[column])]


@quotes("validation.md", "Speed beside WEFE 1.0.1", "6,302")
def seconds_beside_wefe():
    table = read("metrics_against_wefe.csv").set_index("metric")
    return list(
        table.loc[["weat", "rnsb", "mac", "rnd", "weat p-value"], ["wefe_seconds", "seconds"]].to_numpy().ravel()
    )


@quotes("validation.md", "Words in sentences", "0 12 1 4 16 150 3")
def words_in_sentences():
    table = rows("sentences/nulls.csv", frames=[1, 4, 16])
    columns = ["method", "vectors", "frames", "contrast"]
    topical = table[table["lists"] == "topical"].set_index(columns)["false_positives"].sort_index()
    methods = ("frames as random effect", "average over frames", "average, words unrelated", "sentences as words")
    found = [value for name in methods for vectors in ("word", "sentence") for value in topical[name, vectors]]
    found += span(rows("sentences/nulls.csv", lists="random", method="frames as random effect")["false_positives"])
    for method in ("frames as random effect", "average over frames", "one frame"):
        found += span(rows("sentences/simulated.csv", method=method)["false_positives"])
    classic = read("sentences/classic.csv")
    for test in ("SEAT", "CEAT", "WEAT of mean cosines, permutation", "WEAT of mean cosines, random"):
        found += span(classic.loc[classic["test"].str.startswith(test), "false_positives"])
    return [*found, *span(rows("sentences/halves.csv", frames=["4", "8"])["coverage"])]


@quotes("judging.md", "Earlier studies beside Google News", "13,013")
def earlier_studies():
    return []


@quotes("judging.md", "Measures", ".923 .897 .836")
def correlations_of_measures():
    table = read("baselines/measures.csv")
    return [table["words"].iloc[0], *table["correlation"]]


@quotes("judging.md", "Raw vectors")
def raw_direct_bias():
    table = rows("baselines/dimensions.csv", axes="components", dims=300)
    return list(table[["direct_bias", "raw_direct_bias"]].iloc[0])


@quotes("judging.md", "Fewer dimensions")
def fewer_dimensions():
    table = read("baselines/dimensions.csv").set_index(["axes", "dims"])
    few, first = (table.loc[(axes, 10)] for axes in ("random", "components"))
    whole = table.loc[("components", 300), "standardised"]
    own = [10, few["direct_bias"], few["standardised"], 300, whole]
    return [*own, 10, first["direct_bias"], first["standardised"]]


@quotes("judging.md", "Ranks", "22 25 18")
def ranks_added():
    table = read("baselines/ranks.csv").set_index("embedding")["added"]
    assert table["hard"] == table["project"]
    return [table["hard"], table["soft"], table["before"]]


@quotes("explanation/calibration.md", "What a calibration can see", "4,000 5 20 60 200 1,000 10 25")
def power():
    table, found = read("power.csv"), []
    for intervals in ("none", "10% too narrow", "25% too narrow", "10% too wide", "shifted by .25 sd"):
        here = table[table["intervals"] == intervals].sort_values("tables")
        found += list(here[["spread", "kolmogorov_smirnov"]].to_numpy().ravel())
    return found


@quotes("sweeps.md", "What it costs", "684,830 300 1,000,000 2,000 1 3.6 3,000,000")
def large():
    reading = rows("large/reading.csv", format="binary").set_index("task")["cpu_seconds"]
    debias, audit = (rows(f"large/{name}.csv", **where)[column].iloc[0] for name, where, column in LARGE)
    return [reading["whole"], reading["800 words"], debias, audit]


LARGE = (("debias", {"method": "hard"}, "seconds"), ("audit", {"words": 1_000_000}, "audit"))


@quotes("published.md", "The published findings, decomposed", "0 18 10 6 4 11 5.1")
def published_findings():
    table = read("headline.csv")
    crossed = table[table["model"] == "crossed"].set_index(["table", "contrast"])[["mean", "low", "high"]]
    tables = [f"{words}_group_{name}_dataset" for words in ("gender", "race", "religion") for name in THREE]
    tables += [f"{words}_{name}" for words in ("weat_1", "weat_7") for name in THREE]
    tables += [f"debiased_{words}_reddit" for words in ("gender", "race", "religion")]
    contrasts = ("associated - human", "associated - different")
    found = [value for name in tables for contrast in contrasts for value in crossed.loc[(name, contrast)]]
    called = table.pivot_table(index=["model", "table"], columns="contrast", values="called", aggfunc="any")
    for model, count in (("published", (10, 6)), ("crossed", (11, 4))):
        human, different = called.loc[model, contrasts[0]], called.loc[model, contrasts[1]]
        assert (human.sum(), (human & ~different).sum()) == count
    mean = crossed.reset_index().pivot_table(index="table", columns="contrast", values="mean")
    shared = mean["different - human"] / mean["associated - human"]
    one = [f"weat_1_{name}" for name in THREE]
    gender, race = "gender_group_reddit_dataset", "race_group_reddit_dataset"
    given = mean.loc[
        [name for name in tables if name.startswith("rel") or name == "race_group_google_dataset"], contrasts[1]
    ]
    found += [mean.loc[one[0], contrasts[0]], mean.loc[one[2], contrasts[0]], *shared[one]]
    found += [*span(given)[::-1], mean.loc["race_group_glove_dataset", "different - human"]]
    found += [*mean.loc[race, list(contrasts)], mean.loc["gender_group_glove_dataset", contrasts[1]]]
    return [*found, mean.loc[gender, "different - human"], mean.loc[gender, contrasts[0]]]


THREE = ("glove", "google", "reddit")


@quotes(
    "published.md", "What debiasing changed", "5.2 14 .945 .958 1 67 55 39 36 50 53 38 .155 .049 .025 .080 .145 .031"
)
def published_debiasing():
    findings, found = read("published_debiasing.csv"), []
    for start in ("associated words move", "human words move", "jew", "hers", "asian"):
        row = findings[findings["finding"].str.startswith(start)].iloc[0]
        found += [*map(float, row["observed"].split(" to ")), row["p_published"], row["p_paired"]]
    parts = read("published_debiasing_parts.csv").set_index(["topic", "contrast"])
    human, different, other = "associated - human", "associated - different", "different - human"
    for topic, contrast in (
        *[(topic, contrast) for topic in ("religion", "gender") for contrast in (different, human)],
        *(("race", different), ("race", other)),
    ):
        found += list(parts.loc[(topic, contrast), ["before", "after", "mean", "low", "high"]])
    found += [parts.loc[("gender", contrast), "at_hand_before"] for contrast in (other, human)]
    change = parts["mean"]
    return [
        *found,
        change["religion", different],
        change["religion", human],
        change["race", different],
        change["race", other],
    ]


@quotes("second-stage.md", "Example: gender and careers in 25 languages", "25")
def languages():
    table, found = rows("second_stage/languages_relations.csv", standardised=True), []
    for corpus in ("wikipedia", "wikipedia_commoncrawl"):
        for groups in ("genus", "none"):
            row = table[(table["corpus"] == corpus) & (table["groups"] == groups)].iloc[0]
            found += [row["published_plain"]] if groups == "genus" else []
            found += [-row["correlation"], -row["correlation_high"], -row["correlation_low"]]
    return found


@quotes("second-stage.md", "Criteria", "40 1950")
def shares_of_women():
    table, found = read("second_stage/criteria.csv"), []
    for source in ("40 occupations", "census 1950"):
        lists, pairs = (table[(table["source"] == source) & (table["poles"] == poles)].iloc[0] for poles in POLES)
        columns = ["correlation", "low", "high"]
        found += [lists["words"], lists["plain"], *lists[columns], *pairs[columns]]
    return found


POLES = ("lists", "axis")


@cache
def fitted(words):
    return bb.fit(bb.distance_table("google-news-slice", words), seed=0)


@quotes("model.md", "Associations", "1 .059 .005")
def associations():
    found = []
    difference, association = (
        bb.contrasts(fitted("gender"), rows=rows).set_index("protected_word") for rows in ("difference", "association")
    )
    for word in ("he", "male", "she"):
        found += [*difference.loc[word, ["mean", "sd"]], *association.loc[word, ["mean", "sd"]]]
    found += [
        table[table["group"] == group]["mean"].mean()
        for table in (difference, association)
        for group in ("man", "woman")
    ]
    return found


@quotes(
    "model.md", "With two groups it is not identified which of them contributes the contrast", ".35 2006 06 10.1214"
)
def groups():
    table = bb.contrasts(fitted("religion"), by="group").set_index("group")
    return list(table.loc[["muslim", "jew", "christian"], ["mean", "low", "high"]].to_numpy().ravel())


@quotes("explanation/intervals.md", "Similar words")
def populations():
    kinds = [bb.contrasts(fitted("gender"), population=population).iloc[0] for population in ("given", "similar")]
    return [kind[end] for kind in kinds for end in ("low", "high")]


@quotes("explanation/distances.md", "It hides what varies")
def what_varies():
    means = bb.contrasts(fitted("religion"), rows="association").set_index("protected_word")["mean"]
    return [-means["whole list"], -means["jew"], -means["church"], means["christian"]]


@quotes("explanation/calibration.md", "No bias to find", "0 .6")
def in_short():
    pairs = rows("related/alike.csv", embedding="google news slice", contrast="associated - different")
    pairs = pairs.sort_values("low")["rate"].to_numpy()
    return [rows("related/false_positives.csv", method="related")["rate"].mean(), *span(pairs[:-1]), pairs[-1]]


ELSEWHERE = ("multiverse.md", "caliskan.md", "comparison.md", "contributing.md", "languages.md")
"""Pages that name scripts without results, or have tests of their own."""


@pytest.mark.parametrize(("page", "part"), QUOTES)
def test_the_numbers_of(page, part):
    values, design = QUOTES[page, part]
    assert first_fault(dict(parts_of(page))[part], values(), design) is None


def test_every_part_that_names_results_is_compared():
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    named = {
        (page, part) for page in pages if page not in ELSEWHERE for part, text in parts_of(page) if NAMED.search(text)
    }
    named.discard(("sentences.md", "Do encoders agree?"))  # compared in test_docs
    assert named <= set(QUOTES)


def test_a_changed_digit_is_seen():
    seen = []
    for (page, part), (values, design) in QUOTES.items():
        text, found = dict(parts_of(page))[part], values()
        for number in list(re.finditer(r"(?<=[|( ])−?\d*\.?\d+(?=[|)%,; ])", text))[::3]:
            digit = str((int(text[number.end() - 1]) + 1) % 10)
            changed = text[: number.end() - 1] + digit + text[number.end() :]
            seen.append(first_fault(changed, found, design) is not None)
    assert len(seen) > 200
    assert sum(seen) > 0.9 * len(seen)
