"""Scores, features and reliabilities would differ from those of the study's own program and of REML."""

import hashlib
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.baselines.reliability import inter_rater_consistency, internal_consistency, retest_reliability

NAMES = {
    "Intercept": "intercept", "metric[nbm]": "measure[nbm]", "metric[ripa]": "measure[ripa]",
    "log_n_senses": "log_senses", "pos[NOUN]": "part_of_speech[NOUN]", "pos[VERB]": "part_of_speech[VERB]",
    "nn_sim": "nn_similarity", "es": "stability",
}  # fmt: skip
"""The record's names of terms and ours."""
SETS = {"all": "all_target_words", "occupations": "occ_target_words"}


@pytest.fixture(scope="module")
def record(shared):
    return json.loads((shared / "oracles" / "reliability_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def pairs(record):
    return [tuple(pair) for pair in record["gender_base_pairs_male_female"]]


@pytest.fixture(scope="module")
def recorded(record, pairs):
    """The recorded scores; DB/WA and RIPA were single precision."""
    scores = np.array(record["bias_scores"])
    scores[:2] = scores[:2].astype(np.float32)
    coords = {"measure": record["measures"], "target": record["target_words"]}
    coords |= {"base_pair": ["/".join(pair) for pair in pairs], "seed": range(6)}
    return xr.DataArray(scores, dims=tuple(coords), coords=coords)


@pytest.fixture(scope="module")
def seeds(record, news):
    """Six embeddings made of the real vectors: noise that grows with rank, axes permuted and turned round."""
    v, n = news.vectors.astype(np.float64), len(news)
    scale = (0.15 + 0.35 * np.arange(n) / (n - 1)) * np.linalg.norm(v, axis=1) / np.sqrt(300)
    made = []
    for seed, expected in enumerate(record["meta"]["seed_vectors_float32_sha256"]):
        noise = np.random.RandomState(20210 + seed).standard_normal((n, 300))
        x = (v + scale[:, None] * noise).astype(np.float32)
        order = np.random.RandomState(30210 + seed).permutation(300)
        x = (x[:, order] * np.random.RandomState(40210 + seed).choice([-1.0, 1.0], 300)).astype(np.float32)
        assert hashlib.sha256(x.tobytes()).hexdigest() == expected
        kv = KeyedVectors(300, count=0)
        kv.add_vectors(news.index_to_key, x)
        made.append(kv)
    return made


@pytest.fixture(scope="module")
def rebuilt(record, seeds, pairs):
    return bb.reliability.bias_scores(seeds, record["target_words"], pairs, compat="published")


def test_scores_of_rebuilt_vectors(rebuilt, recorded):
    for measure, tolerance in (("db_wa", 1e-6), ("ripa", 1e-6), ("nbm", 0.02)):
        apart = np.abs(rebuilt.sel(measure=measure) - recorded.sel(measure=measure))
        assert float(apart.max()) <= tolerance


@pytest.mark.parametrize(
    ("measure", "key", "compat"),
    [
        ("db_wa", "db_wa", None),
        ("ripa", "ripa_code", "published"),
        ("ripa", "ripa_paper_formula_float64_first_30_words", None),
        ("nbm", "nbm", None),
    ],
)
def test_scores_of_the_real_vectors(news, record, pairs, measure, key, compat):
    expected, words = np.array(record["base_slice_scores"][key]), record["target_words"]
    scored = bb.reliability.bias_scores(news, words[: len(expected)], pairs, measure, compat=compat)
    found = scored.to_numpy()[0, :, :, 0]
    np.testing.assert_allclose(found, expected, atol=0.02 if measure == "nbm" else 1e-6)
    if compat is None:  # the metric of the same name is the mean over pairs
        query = bb.Query(dict(zip("mf", zip(*pairs, strict=True), strict=True)), {"words": words[:30]})
        by_word = bb.metric(measure, news, query).per_word["value"]
        np.testing.assert_allclose(by_word, found[:30].mean(axis=1), atol=1e-6)


def apart(table, expected):
    """Largest difference of a table's values from recorded ones, by label, and by measure where there is one."""
    assert table["low"].lt(table["value"]).all()
    assert table["value"].lt(table["high"]).all()
    values = [
        expected[row.measure][row.label] if "measure" in table else expected[row.label] for row in table.itertuples()
    ]
    return np.abs(table["value"] - values).max()


@pytest.mark.parametrize(("given", "tolerance"), [("recorded", 1e-9), ("rebuilt", 1e-4)])
def test_coefficients(request, record, given, tolerance):
    scores, found = request.getfixturevalue(given), record["reliability"]
    occupations = scores.sel(target=record["occ_target_words"])
    functions = {"test_retest_icc2": retest_reliability, "inter_rater_icc3": inter_rater_consistency}
    for key, function in functions.items():
        assert apart(function(scores), found[f"{key}_target_words"]) < tolerance, key
        for given, part in ((scores, ""), (occupations, "_occ_only")):
            assert apart(function(given, of="base_pair"), found[f"{key}_gender_base_pairs{part}"]) < tolerance, key
    queries = {**record["queries"], "all": record["target_words"], "occupations": record["occ_target_words"]}
    for of, items in (("query", "target words"), ("base_pair", "gender base pairs")):
        table = internal_consistency(scores, of=of, queries=queries)
        for row in table.itertuples():
            expected = found["internal_consistency_alpha"][SETS.get(row.label, f"query:{row.label}")][items]
            assert row.value == pytest.approx(expected[row.measure], abs=tolerance)


def test_agreement_on_raw_scores_is_an_artefact_of_scale(record, recorded):
    own = record["scale_artefact_check_own_computation"]
    assert inter_rater_consistency(recorded)["value"].median() == pytest.approx(0.28, abs=0.005)
    scaled = inter_rater_consistency(recorded, standardise=True)
    assert apart(scaled, own["icc3_z_target_words"]) < 1e-9
    assert scaled["value"].median() == pytest.approx(0.77, abs=0.005)


def test_posterior_coefficients_are_those_of_words_and_pairs(recorded):
    """The posterior speaks of a word out of the population: its mean lies by the median of the words at hand."""
    post = bb.reliability.variance_components(recorded, seed=0)
    assert not post.notes[1:]
    found = post.reliability().set_index(["coefficient", "of"])["mean"]
    tables = {
        ("test-retest", "target"): retest_reliability(recorded),
        ("test-retest", "base_pair"): retest_reliability(recorded, of="base_pair"),
        ("inter-rater", "target"): inter_rater_consistency(recorded, standardise=True),
        ("inter-rater", "base_pair"): inter_rater_consistency(recorded, of="base_pair", standardise=True),
        ("internal", "query"): internal_consistency(recorded),
        ("internal", "base_pair"): internal_consistency(recorded, of="base_pair"),
    }
    for key, table in tables.items():
        assert found[key] == pytest.approx(table["value"].mean(), abs=0.04), key
    assert float(post.posterior["sample_stats/pareto_k"]) < 0.7


@pytest.fixture(scope="module")
def features(seeds, record):
    """A function from a number of seeds to the features of the target words over them."""
    return cache(lambda used: bb.reliability.word_features(seeds[:used], record["target_words"]))


@pytest.mark.parametrize(
    ("column", "key", "used"),
    [
        ("stability", "es", 6),
        ("stability", "es_first_pair_0_1", 2),
        ("nn_similarity", "nn_sim", 6),  # means over the six, as the length
        ("l2_norm", "l2_norm", 6),
    ],
)
def test_word_features(features, record, column, key, used):
    words = record["target_words"]
    found = features(used)
    assert found["word"].tolist() == words
    expected = [record["word_properties_their_functions"][key][word] for word in words]
    np.testing.assert_allclose(found[column], expected, atol=1e-6)


@pytest.fixture(scope="module")
def reml(shared):
    return json.loads((shared / "oracles" / "multilevel_oracles_public.json").read_text())


OURS = {
    "model": "algorithm", "metric": "measure", "pos": "part_of_speech", "nn_sim": "nn_similarity",
    "es": "stability", "log_frequency_raw": "log_frequency", "score": "value",
}  # fmt: skip
"""The record's names of columns and ours."""


@pytest.fixture(scope="module")
def regression(reml):
    table = pd.DataFrame(reml["data"]).rename(columns=OURS)
    return bb.reliability.reliability_regression(table.assign(log_senses=np.log(table["n_senses"])))


def test_coefficients_are_those_of_reml(regression, reml):
    table = regression.table().set_index("term")
    for name, expected in reml["fixed_effects"].items():
        row = table.loc[NAMES.get(name, name)]
        assert abs(row["mean"] - expected) < 0.1 * row["sd"], name
        if name != "Intercept":
            assert row["sd"] == pytest.approx(reml["std_errors"][name], rel=0.05), name
    # with 2 and 3 levels the groupings' sds are not known, which REML's standard error leaves out
    assert 1 < table.loc["intercept", "sd"] / reml["std_errors"]["Intercept"] < 1.5
    assert table.loc["residual", "mean"] == pytest.approx(np.sqrt(reml["var_residual"]), rel=0.01)


def test_shares_hold_those_of_reml_and_groupings_are_not_settled(regression, reml):
    table = regression.table().set_index("term")
    whole = reml["var_model"] + reml["var_corpus"] + reml["var_residual"]
    whole /= 1 - reml["R2m"]
    expected = {
        "fixed effects": reml["R2m"], "total": reml["R2c"],
        "algorithm": reml["var_model"] / whole, "corpus": reml["var_corpus"] / whole,
    }  # fmt: skip
    for name, value in expected.items():
        assert table.loc[name, "r2_low"] < value < table.loc[name, "r2_high"], name
    for name, variance in {"algorithm": reml["var_model"], "corpus": reml["var_corpus"]}.items():
        low, high = table.loc[name, ["low", "high"]]
        assert low < np.sqrt(variance) < high
        assert high / low > 3
    assert table.loc["algorithm", "r2_high"] - table.loc["algorithm", "r2_low"] > 0.4
