"""Small instances of all that functions take and return, of which contracts try every public name."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.distances import datasets

JOBS = ["nurse", "captain", "dancer"]
MADE = {
    "lists": lambda made: bb.WordLists(
        "mine",
        {"a": ["p", "q", "<b>r", "u"], "b": ["s", "t", "v", "w"]},
        {"a": ["k", "l", "c"], "b": ["m", "n", "d"]},
        {"human": ["h", "i", "j", "x"], "neutral": [f"n{number}" for number in range(14)]},
    ),
    "query": lambda made: bb.Query({"x": ["p", "q", "<b>r"], "y": ["s", "t", "v"]}, made.lists.stereotypes),
    "pairs": lambda made: [("k", "m"), ("l", "n"), ("c", "d")],
    "gender_pairs": lambda made: [("he", "she"), ("man", "woman"), ("father", "mother")],
    "lengths": lambda made: {word: 1.0 + at for at, word in enumerate(made.lists.every_word())},
    "outside": lambda made: {
        word: float(at) for at, word in enumerate([*made.lists.protected["a"], *made.lists.protected["b"]])
    },
    # embeddings
    "kv": lambda made: made.random_embedding(made.lists, 1),
    "other": lambda made: made.random_embedding(made.lists, 2),
    "pair": lambda made: {"one": made.kv, "two": made.other},
    "slice": lambda made: bb.load_embedding("google-news-slice"),
    "settings": lambda made: {
        bb.stability.Setting(name, "sgns", 12, seed): made.random_embedding(made.lists, 10 * at + seed)
        for at, name in enumerate("abc")
        for seed in range(2)
    },
    "context_vectors": lambda made: bb.encode(made.encoder, made.lists, ["{}", "a {}", "the {}"], vocabulary=450),
    "debiasing": lambda made: bb.debias(made.kv, "project", definitional=made.pairs).bayesbias_debiasing,
    # tables and fits
    "table": lambda made: bb.distance_table(made.kv, made.lists, relatedness=False),
    "after": lambda made: bb.distance_table(made.other, made.lists, relatedness=False),
    "related_table": lambda made: bb.distance_table(made.kv, made.lists),
    "relatedness": lambda made: bb.relatedness(made.related_table),
    "post": lambda made: bb.fit(made.table, "crossed", draws=200, seed=1),
    "published": lambda made: bb.fit(made.table, "published", draws=400, seed=1),
    "related": lambda made: bb.fit(made.related_table, "related", draws=200, seed=1),
    "adjusted": lambda made: bb.fit(made.table, "crossed", draws=200, seed=1, adjust={"length": made.lengths}),
    "framed": lambda made: bb.fit(
        bb.distance_table(made.context_vectors, made.lists, relatedness=False), "crossed", draws=200, seed=1
    ),
    "fit_summary": lambda made: bb.summary(made.related),
    "estimates": lambda made: bb.estimates(made.related),
    "balance": lambda made: bb.balance(made.table, made.lengths),
    "word_check": lambda made: bb.check_words(made.lists, made.kv),
    "verdict": lambda made: bb.diagnose(made.published),
    # several tables
    "comparison": lambda made: bb.compare(before=made.table, after=made.after, draws=400, seed=1),
    "side_effects": lambda made: bb.side_effects(made.kv, made.other, made.comparison, k=5, biased=20, draws=50),
    "pool": lambda made: bb.pool(
        tables := {
            name: bb.distance_table(made.random_embedding(made.lists, at), made.lists, relatedness=False)
            for at, name in enumerate("abcdef")
        },
        on=pd.DataFrame({"size": np.arange(6.0)}, index=list(tables)),
        draws=200,
    ),
    "criterion": lambda made: bb.criterion(made.post, made.outside, contrast=("human", "neutral"), draws=200),
    # documents
    "speeches": lambda made: (
        datasets.load_dataset("sotu-addresses").query("year > 1945").assign(text=lambda rows: rows["text"].str[:3000])
    ),
    "sample": lambda made: bb.instances(
        made.speeches, "people", "glove-50d-slice", clusters="president", transform=np.eye(50)
    ),
    "vector_sample": lambda made: made.sample,
    "covariates": lambda made: bb.covariates(made.sample, "party + year"),
    "covariate_contrast": lambda made: made.covariates.contrast(["family", "home"], ["career", "office"]),
    # axes
    "audit": lambda made: bb.audit("glove-50d-slice", "gender"),
    "axis": lambda made: bb.axis("glove-50d-slice", made.gender_pairs, words=JOBS),
    # null models and simulations
    "topic_null": lambda made: bb.topic_null(made.kv, made.lists, replicates=5),
    "null_weat": lambda made: bb.calibration.simulate_null_weat(draws=20),
    "null_distribution": lambda made: bb.calibration.null_distribution(
        None, made.table, "associated - neutral", draws=5
    ),
    "shape": lambda made: {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6},
    # metrics
    "metric_result": lambda made: bb.metric("weat", made.kv, made.query),
    "ranking": lambda made: bb.rank(made.pair, made.query, "weat", draws=5),
    "silhouette": lambda made: bb.silhouettes.silhouette(made.kv, made.query, "weat_effect_size", runs=12),
    # reliability and stability
    "scores": lambda made: bb.reliability.bias_scores(
        [made.kv, made.other], ["p", "q", "<b>r", "s"], made.pairs, ["db_wa", "ripa"]
    ),
    "retest": lambda made: bb.reliability.retest_reliability(made.scores),
    "variance_components": lambda made: bb.reliability.variance_components(made.scores, draws=200, seed=1),
    "direct_bias_study": lambda made: bb.stability.direct_bias_study(
        made.settings, list("pqstuv"), made.pairs, draws=10, random_pairs=20
    ),
    "setting_components": lambda made: bb.stability.setting_components(
        made.direct_bias_study.table(), draws=200, seed=1
    ),
    "metric_stability": lambda made: bb.stability.metric_stability(
        made.settings, made.query, ["weat"], contrast=False, draws=200, random_pairs=20
    ),
}
"""Name to what makes it; a result has the name of its class."""


class Made:
    """What ``MADE`` names, each made when it is first asked for, from what is given."""

    def __init__(self, **given):
        vars(self).update(given)

    def __getattr__(self, name):
        if name not in MADE:
            raise AttributeError(f"tests/promises/conftest.py makes no {name!r}")
        setattr(self, name, MADE[name](self))
        return vars(self)[name]

    def __dir__(self):
        return [*MADE, *vars(self)]


@pytest.fixture(scope="session")
def made(random_embedding, text_encoder):
    """Small instances of what functions take and return, by name."""
    return Made(random_embedding=random_embedding, encoder=text_encoder)


@pytest.fixture(scope="session")
def python():
    """A function that runs Python in a folder, with folders to import from: (exit code, output, errors)."""

    def run(folder, *arguments, path=()):
        env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(map(str, path))}
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=env)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="session")
def install():
    """A function that makes a folder a place of an installed distribution with entry points, (name, place) by group."""

    def made(folder, name, groups):
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = (f"[{group}]\n" + "".join(f"{one} = {place}\n" for one, place in own) for group, own in groups.items())
        (info / "entry_points.txt").write_text("\n".join(lines))

    return made
