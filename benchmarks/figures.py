"""Numbers of all parts of the package, to hold one version against another.

python benchmarks/figures.py --out after.csv
python benchmarks/figures.py --compare before.csv after.csv
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances import datasets
from benchmarks.inside import Fit, functionals_of, law_of_rows, rows_in, weights_of
from benchmarks.study import published_table

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "weat_1_glove")
PAIRS = [("he", "she"), ("man", "woman"), ("his", "her"), ("father", "mother")]


def of_fits():
    for name in TABLES:
        table = published_table(name)
        for model in ("published", "crossed"):
            post = bb.fit(table, model, draws=2000, seed=1)
            for variable in ("connection_mean", "sigma"):
                values = post["posterior"][variable]
                yield f"{name} {model} {variable} mean", values.mean(("chain", "draw")).to_numpy().ravel()
            for second in ("different", "human"):
                found = bb.contrasts(post, "associated", second)[["mean", "low", "high"]].head(3)
                yield f"{name} {model} associated - {second}", found.to_numpy().ravel()
        interval = bb.checks.cluster_interval(table, "associated", "human")
        yield f"{name} cluster interval", [interval.estimate, interval.se, interval.low, interval.high]


def of_vectors():
    kv = bb.load_embedding("google-news-slice")
    for words in ("gender", "weat7"):
        table = bb.distance_table(kv, words)
        post = bb.fit(table, draws=2000, seed=1)
        yield f"{words} related", bb.contrasts(post, "associated", "human")[["mean", "sd"]].head(4).to_numpy().ravel()
        effective = bb.relatedness(table).effective_words().select_dtypes("number")
        yield f"{words} effective words", effective.to_numpy().ravel()
    for query in ("weat6", "weat7"):
        found = bb.run_metrics(kv, query, ["weat", "weat_effect_size", "rnd", "rnsb", "mac", "ect"])
        yield f"{query} metrics", found["value"].to_numpy(dtype=float)
        test = bb.metric("weat", kv, query, p_value=True, permutations=2000, seed=1)
        yield f"{query} permutation test", [test.value, test.p_value]
    for method, options in (
        ("project", {"definitional": PAIRS}),
        ("hard", {"definitional": PAIRS, "equalize": PAIRS}),
        ("soft", {"definitional": PAIRS}),
        ("half_sibling", {"definitional": PAIRS}),
        ("hard_multiclass", {"definitional": PAIRS}),
    ):
        after = bb.debias(kv, method, **options)
        yield f"debias {method}", [after.similarity("nurse", word) for word in ("he", "she", "doctor")]
    debiased = bb.debias(kv, "hard", definitional=PAIRS)
    tables = [bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased)]
    result = bb.compare(before=tables[0], after=tables[1], draws=2000, seed=1)
    yield "compare, observed", [np.nanmean(tables[1]["distance"] - tables[0]["distance"]), len(result.pairs)]
    for name in ("weat_effect_size", "ect", "rnsb"):
        query = bb.load_query("weat6")
        if name == "ect":
            query = bb.Query(query.targets, {"career": query.attributes["career"]})
        one = bb.silhouettes.silhouette(kv, query, name, runs=10)
        means = one.by_size()["mean_value"]
        yield f"silhouette {name}", [one.robustness, means.iloc[-1], *means[:3]]
    scores = bb.reliability.bias_scores([kv], ["nurse", "engineer", "teacher", "doctor", "artist"], PAIRS)
    yield "bias scores", np.asarray(scores).mean(axis=2).ravel()
    noise = bb.calibration.simulate_null_weat(draws=500, seed=1).summary().select_dtypes("number")
    yield "noise", noise.to_numpy().ravel()


def by_group(post, kind):
    """Means over the words of each group, and their differences; the lists of other groups weigh the same."""
    result = Fit.read(post)
    cells = weights_of.cells_of(result.data)
    words = np.flatnonzero(cells.associated)
    if kind == "association":
        found = law_of_rows(post, kind)[1:]
    else:
        parts = weights_of.list_differences(cells, words, cells.own[words])
        found = functionals_of(result, cells, parts)
    labels, matrix = weights_of.group_weights(result.data.groups[words])
    return found.combine(matrix, labels).summary()


def of_one_fit(name, post):
    """Every table of one fit."""
    groups = bb.contrasts(post)["group"].nunique()
    controls = [each for each in post["posterior"]["connection"].to_numpy() if each not in ("associated", "different")]
    for rows in ("association", "difference"):
        yield f"{name} contrasts, {rows}", law_of_rows(post, rows).summary(rope=0.01)
    yield f"{name} contrasts, pooled", bb.contrasts(post, rope=0.01)
    for other in controls:
        yield f"{name} contrasts, {other}", bb.contrasts(post, second=other)
        yield f"{name} decomposition, {other}", bb.decomposition(post, other)
    yield f"{name} contrasts, similar", bb.contrasts(post, target="population")
    yield f"{name} decomposition, similar", bb.decomposition(post, target="population")
    yield f"{name} contrasts of groups", by_group(post, "difference")
    yield f"{name} groups beside the others", bb.contrasts(post, by="group")
    yield f"{name} association", bb.association(post)
    cluster, spread = bb.checks.cluster_interval(post), rows_in.control_spread(Fit.read(post).data)
    whole = bb.contrasts(post).iloc[0]
    ratio = np.nan if cluster.reason else whole["sd"] / cluster.se
    yield f"{name} standardised", [whole["mean"] / spread if spread else np.nan, ratio]
    if groups > 2:
        yield f"{name} associations of groups", by_group(post, "association")
        yield f"{name} association by group", bb.association(post, by="group")


def sides_of(result, **how):
    """The headline contrast before and after each change."""
    return [result.sides("associated", "different", at, **how) for at in range(len(result.pairs))]


def outcomes(sides):
    """What became of the whole list and of each word."""
    parts = []
    for each in sides:
        change = each.change.summary()
        known = {"before": each.before.mean, "after": each.after.mean, "change": change["mean"]}
        known |= {name: change[name] for name in ("low", "high")}
        names = ("p_shrank", "p_reversed", "observed_before", "observed_after")
        parts.append(pd.DataFrame(known | {name: getattr(each, name) for name in names}))
    return pd.concat(parts, ignore_index=True)


def of_one_comparison(name, result):
    """Every table of one comparison."""
    yield f"{name} contrasts, association", result.changes()
    parts = [each.change.summary() for each in sides_of(result, rows="difference")]
    yield f"{name} contrasts, difference", pd.concat(parts, ignore_index=True)
    yield f"{name} unpaired", result.changes(paired=False)
    yield f"{name} outcomes", outcomes(sides_of(result))
    yield f"{name} decomposition", result.decomposition()
    for connection in result.connections:
        yield f"{name} changes, {connection}", result.changes(connection)
    if not result.units().isna().any():
        yield f"{name} standardised", result.changes(standardise=True)
        yield f"{name} standardised outcomes", outcomes(sides_of(result, standardise=True))
        yield f"{name} standardised decomposition", result.decomposition(standardise=True)


def of_answers():
    """Contrasts, comparisons, pools, axes, criteria and balance, of all families of models."""
    kv, glove = bb.load_embedding("google-news-slice"), bb.load_embedding("glove-50d-slice")
    debiased = {name: bb.debias(kv, name, definitional=PAIRS) for name in ("hard", "project")}
    embeddings = {"plain": kv, "glove": glove, **debiased}
    tables = {
        words: {name: bb.distance_table(each, words) for name, each in embeddings.items()}
        for words in ("gender", "religion")
    }
    paper = {key: published_table(f"{key}_dataset") for key in ("gender_group_google", "religion_group_reddit")}
    for words, own in tables.items():
        yield from of_one_fit(f"related, {words}", bb.fit(own["plain"], seed=0))
    yield from of_one_fit("crossed", bb.fit(paper["gender_group_google"], "crossed", seed=0))
    yield from of_one_fit("published", bb.fit(paper["religion_group_reddit"], "published", seed=0))
    for words, own in tables.items():
        chosen = {name: own[name] for name in ("plain", "hard", "project")}
        yield from of_one_comparison(f"compare, {words}", bb.compare(chosen, seed=0))
    before, after = published_table("gender_group_reddit_dataset"), published_table("debiased_gender_reddit")
    yield from of_one_comparison("compare, crossed", bb.compare(before=before, after=after, seed=0))
    axes = {
        name: bb.axis(each, PAIRS, words=["math", "science", "art", "nurse"])
        for name, each in {"plain": kv, "glove": glove}.items()
    }
    crossed = {name: published_table(f"gender_group_{name}_dataset") for name in ("google", "glove", "reddit")}
    related = {name: tables["religion"][name] for name in ("plain", "glove", "hard")}
    for name, given in {"related": related, "crossed": crossed, "axes": axes}.items():
        yield f"pool, {name}", bb.pool(given, seed=0).table()
        if name != "crossed":
            yield f"pool, {name}, standardised", bb.pool(given, seed=0, standardise=True).table()
    yield "axis", axes["plain"].table()
    yield "contrast of an axis", axes["plain"].contrast(["math", "science"], ["art"])
    table = tables["gender"]["plain"]
    words = table["protected_word"].unique()
    values = dict(zip(words, np.random.default_rng(1).standard_normal(len(words)).round(2), strict=True))
    yield "criterion", bb.criterion(bb.fit(table, seed=0), values, seed=0).table()
    crossed_fit = bb.fit(paper["gender_group_google"], "crossed", seed=0)
    values = {word: place for place, word in enumerate(paper["gender_group_google"]["protected_word"].unique())}
    yield "criterion, crossed", bb.criterion(crossed_fit, values, contrast=("human", "neutral"), seed=0).table()
    balance = bb.balance(table, {word: len(word) + 1 for word in table["attribute_word"]})
    for part in ("lists", "rows", "pairs"):
        if isinstance(found := getattr(balance, part, None), pd.DataFrame):
            yield f"balance, {part}", found


def of_baselines():
    """Metrics, silhouettes, reliability, stability, ranks, audits, random topics, side effects and covariates."""
    kv, glove = bb.load_embedding("google-news-slice"), bb.load_embedding("glove-50d-slice")
    hard = bb.debias(kv, "hard", definitional=PAIRS)
    both = {"google": kv, "glove": glove}
    for words in ("gender", "religion"):
        yield f"topic null, {words}", bb.topic_null(kv, words, replicates=200, seed=0).table()
    for query in ("weat1", "weat6", "weat7"):
        for name, each in both.items():
            yield f"all metrics, {query}, {name}", bb.run_metrics(each, query)
    yield "ranks", bb.rank(both, ["weat6", "weat7"], ["weat", "weat_effect_size", "rnsb"], draws=50, seed=0).table()
    for metric in ("weat", "rnsb", "mac", "crossed"):
        found = bb.silhouettes.silhouette(kv, "weat7", metric, vary="attributes", runs=4)
        yield f"silhouette, {metric}", found.table()
    yield "silhouette study", bb.silhouettes.silhouette_study(both, {"weat7": bb.load_query("weat7")}, ["weat"], runs=6)
    seeds = {("google", 0): kv, ("google", 1): hard}
    targets = ["nurse", "engineer", "teacher", "doctor", "artist", "lawyer", "family", "career", "music", "science"]
    seeds = {seed: each for (_, seed), each in seeds.items()}
    scores = bb.reliability.bias_scores(seeds, targets, PAIRS, neighbours=20)
    yield "retest", bb.reliability.retest_reliability(scores)
    yield "raters", bb.reliability.inter_rater_consistency(scores)
    yield "internal", bb.reliability.internal_consistency(scores, of="base_pair")
    yield "correlations", bb.reliability.measure_correlations(scores)
    components = bb.reliability.variance_components(scores, seed=0)
    yield "components", components.table()
    yield "components, reliability", components.reliability()
    features = bb.reliability.word_features(seeds, targets)
    yield "features", features
    rng = np.random.default_rng(0)
    rows = features.assign(value=rng.uniform(size=len(features)))
    yield "rows of words", rows
    settings = {("google", "sgns", 300, 0): kv, ("glove", "sgns", 50, 0): glove, ("google", "sgns", 300, 1): hard}
    yield "stability", bb.stability.direct_bias_study(settings, {"work": targets}, PAIRS, draws=50, seed=0).table()
    audit = bb.audit(kv, PAIRS)
    yield "audit", audit.table(called=False)
    yield "axis, audit", bb.axis(kv, PAIRS, words=targets, centre="words").table()
    tables = [bb.distance_table(each, "gender") for each in (kv, hard)]
    compared = bb.compare(before=tables[0], after=tables[1], seed=0)
    yield "side effects", bb.side_effects(kv, hard, compared, seed=0).table()
    addresses = datasets.load_dataset("sotu-addresses").query("year > 1900")
    sample = bb.instances(addresses, "women", glove, clusters="president")
    by = bb.covariates(sample, "party + year")
    yield "covariates", by.contrast("family", "career").table()
    yield "norms", by.norms(permutations=50)


def rows_of(name, found):
    """Name, value, and sd of each number of a table or of a sequence."""
    if not isinstance(found, pd.DataFrame):
        return [(f"{name} {place}", float(value), np.nan) for place, value in enumerate(found)]
    sd = found["sd"] if "sd" in found else pd.Series(np.nan, index=found.index)
    return [
        (f"{name} {column} {place}", float(value), float(spread))
        for column in found.select_dtypes("number")
        for place, (value, spread) in enumerate(zip(found[column].to_numpy(float, na_value=np.nan), sd, strict=True))
    ]


def numbers():
    rows = [
        row
        for part in (of_answers(), of_fits(), of_vectors(), of_baselines())
        for given in part
        for row in rows_of(*given)
    ]
    return pd.DataFrame(rows, columns=["name", "value", "sd"])


def compared(one, other):
    """The largest differences, and numbers that only one version knows."""
    one, other = (each.set_index("name")["value"].dropna() for each in (one, other))
    print(f"known to one of the two: {sorted(one.index.symmetric_difference(other.index))[:8]}")
    apart = (one - other).abs()
    print(f"{apart.notna().sum()} numbers, the largest differences:\n{apart.nlargest(8).to_string()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--compare", nargs=2)
    given = parser.parse_args()
    if given.compare:
        compared(*(pd.read_csv(path) for path in given.compare))
        return
    with warnings.catch_warnings(action="ignore"):
        numbers().to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
