"""Some two hundred numbers of all parts of the package, to hold one version against another.

python benchmarks/figures.py --out after.csv
python benchmarks/figures.py --compare before.csv after.csv
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings

import numpy as np
import pandas as pd
from common import published_tables

import bayesbias as bb

TABLES = ("religion_group_reddit_dataset", "gender_group_google_dataset", "weat_1_glove")
PAIRS = [("he", "she"), ("man", "woman"), ("his", "her"), ("father", "mother")]
MODULES = ("checks", "calibration", "silhouettes", "reliability", "stability")


def public(name):
    """A public function, wherever this version keeps it."""
    homes = [bb, *(getattr(bb, module) for module in MODULES if hasattr(bb, module))]
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def of_fits():
    tables = published_tables()
    for name in TABLES:
        table = tables[name]
        for model in ("published", "crossed"):
            post = bb.fit(table, model, draws=2000, seed=1)
            for variable in ("connection_mean", "sigma"):
                values = post["posterior"][variable]
                yield f"{name} {model} {variable} mean", values.mean(("chain", "draw")).to_numpy().ravel()
            for second in ("different", "human"):
                found = bb.contrasts(post, "associated", second)[["mean", "low", "high"]].head(3)
                yield f"{name} {model} associated - {second}", found.to_numpy().ravel()
        interval = public("cluster_interval")(table, "associated", "human")
        yield f"{name} cluster interval", [interval.estimate, interval.se, interval.low, interval.high]


def of_vectors():
    kv = bb.load_embedding("google-news-slice")
    for words in ("gender", "weat7"):
        table = bb.distance_table(kv, words)
        post = bb.fit(table, draws=2000, seed=1)
        yield f"{words} related", bb.contrasts(post, "associated", "human")[["mean", "sd"]].head(4).to_numpy().ravel()
        yield (
            f"{words} effective words",
            bb.relatedness(table).effective_words().select_dtypes("number").to_numpy().ravel(),
        )
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
        ("hard_multiclass", {"sets": PAIRS}),
    ):
        after = bb.debias(kv, method, **options)
        yield f"debias {method}", [after.similarity("nurse", word) for word in ("he", "she", "doctor")]
    debiased = bb.debias(kv, "hard", definitional=PAIRS)
    tables = [bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased)]
    result = bb.compare(before=tables[0], after=tables[1], draws=2000, seed=1)
    yield "compare, observed", [np.nanmean(tables[1]["distance"] - tables[0]["distance"]), len(result.pairs)]
    for name in ("weat_effect_size", "ect", "rnsb"):
        one = public("silhouette")(
            kv,
            "weat6"
            if name != "ect"
            else bb.Query(bb.load_query("weat6").targets, {"career": bb.load_query("weat6").attributes["career"]}),
            name,
            runs=10,
        )
        yield f"silhouette {name}", [one.robustness, one.full, *one.mean[:3]]
    scores = public("bias_scores")([kv], ["nurse", "engineer", "teacher", "doctor", "artist"], PAIRS)
    yield "bias scores", np.asarray(scores).mean(axis=2).ravel()
    yield "noise", public("simulate_null_weat")(draws=500, seed=1).summary().select_dtypes("number").to_numpy().ravel()


def numbers():
    rows = [
        (f"{name} {place}", float(value))
        for part in (of_fits(), of_vectors())
        for name, values in part
        for place, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["name", "value"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--compare", nargs=2)
    given = parser.parse_args()
    if given.compare:
        one, other = (pd.read_csv(path).set_index("name")["value"] for path in given.compare)
        apart = (one - other).abs()
        print(
            f"{len(one)} and {len(other)} numbers, {apart.notna().sum()} in both; largest difference {apart.max():.2g}"
        )
        print(apart.nlargest(8).to_string())
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers().to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
