"""Bias scores and reliability against the recorded output of the reliability study's own program, on real vectors."""

import hashlib
import json

import numpy as np
import pytest
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb

SETS = {"all": "all_target_words", "occupations": "occ_target_words"}


@pytest.fixture(scope="module")
def record(shared):
    return json.loads((shared / "oracles" / "reliability_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def vectors(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.fixture(scope="module")
def pairs(record):
    return [tuple(pair) for pair in record["gender_base_pairs_male_female"]]


@pytest.fixture(scope="module")
def recorded(record, pairs):
    """The recorded scores; DB/WA and RIPA were single precision."""
    scores = np.array(record["bias_scores"])
    scores[:2] = scores[:2].astype(np.float32)
    return xr.DataArray(
        scores,
        dims=("measure", "target", "base_pair", "seed"),
        coords={
            "measure": record["measures"],
            "target": record["target_words"],
            "base_pair": ["/".join(pair) for pair in pairs],
            "seed": range(6),
        },
    )


@pytest.fixture(scope="module")
def seeds(record, vectors):
    """Six embeddings made of the real vectors: noise that grows with rank, axes permuted and turned round."""
    v, n = vectors.vectors.astype(np.float64), len(vectors)
    scale = (0.15 + 0.35 * np.arange(n) / (n - 1)) * np.linalg.norm(v, axis=1) / np.sqrt(300)
    made = []
    for seed, expected in enumerate(record["meta"]["seed_vectors_float32_sha256"]):
        noise = np.random.RandomState(20210 + seed).standard_normal((n, 300))
        x = (v + scale[:, None] * noise).astype(np.float32)
        order = np.random.RandomState(30210 + seed).permutation(300)
        x = (x[:, order] * np.random.RandomState(40210 + seed).choice([-1.0, 1.0], 300)).astype(np.float32)
        assert hashlib.sha256(x.tobytes()).hexdigest() == expected
        kv = KeyedVectors(300, count=0)
        kv.add_vectors(vectors.index_to_key, x)
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
def test_scores_of_the_real_vectors(vectors, record, pairs, measure, key, compat):
    expected = np.array(record["base_slice_scores"][key])
    found = bb.reliability.bias_scores(vectors, record["target_words"][: len(expected)], pairs, measure, compat=compat)
    np.testing.assert_allclose(found.to_numpy()[0, :, :, 0], expected, atol=0.02 if measure == "nbm" else 1e-6)
    metric = bb.metric(
        measure,
        vectors,
        bb.Query(dict(zip("mf", zip(*pairs, strict=True), strict=True)), {"words": record["target_words"][:30]}),
    )
    if compat is None:  # the metric of the same name is the mean over pairs
        np.testing.assert_allclose(metric.per_word["value"], found.to_numpy()[0, :30, :, 0].mean(axis=1), atol=1e-6)


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
    compared = {
        "test_retest_icc2_target_words": bb.reliability.retest_reliability(scores),
        "test_retest_icc2_gender_base_pairs": bb.reliability.retest_reliability(scores, of="base_pair"),
        "test_retest_icc2_gender_base_pairs_occ_only": bb.reliability.retest_reliability(occupations, of="base_pair"),
        "inter_rater_icc3_target_words": bb.reliability.inter_rater_consistency(scores),
        "inter_rater_icc3_gender_base_pairs": bb.reliability.inter_rater_consistency(scores, of="base_pair"),
        "inter_rater_icc3_gender_base_pairs_occ_only": bb.reliability.inter_rater_consistency(
            occupations, of="base_pair"
        ),
    }
    for key, table in compared.items():
        assert apart(table, found[key]) < tolerance, key
    queries = {**record["queries"], "all": record["target_words"], "occupations": record["occ_target_words"]}
    for of, items in (("query", "target words"), ("base_pair", "gender base pairs")):
        table = bb.reliability.internal_consistency(scores, of=of, queries=queries)
        for row in table.itertuples():
            expected = found["internal_consistency_alpha"][SETS.get(row.label, f"query:{row.label}")][items]
            assert row.value == pytest.approx(expected[row.measure], abs=tolerance)


def test_agreement_on_raw_scores_is_an_artefact_of_scale(record, recorded):
    own = record["scale_artefact_check_own_computation"]
    assert bb.reliability.inter_rater_consistency(recorded)["value"].median() == pytest.approx(0.28, abs=0.005)
    scaled = bb.reliability.inter_rater_consistency(recorded, standardise=True)
    assert apart(scaled, own["icc3_z_target_words"]) < 1e-9
    assert scaled["value"].median() == pytest.approx(0.77, abs=0.005)


def test_posterior_coefficients_are_those_of_words_and_pairs(recorded):
    """The posterior speaks of a word out of the population: its mean lies by the median of the words at hand."""
    post = bb.reliability.variance_components(recorded, seed=0)
    assert not post.notes[1:]
    found = post.reliability().set_index(["coefficient", "of"])["mean"]
    tables = {
        ("test-retest", "target"): bb.reliability.retest_reliability(recorded),
        ("test-retest", "base_pair"): bb.reliability.retest_reliability(recorded, of="base_pair"),
        ("inter-rater", "target"): bb.reliability.inter_rater_consistency(recorded, standardise=True),
        ("inter-rater", "base_pair"): bb.reliability.inter_rater_consistency(
            recorded, of="base_pair", standardise=True
        ),
        ("internal", "query"): bb.reliability.internal_consistency(recorded),
        ("internal", "base_pair"): bb.reliability.internal_consistency(recorded, of="base_pair"),
    }
    for key, table in tables.items():
        assert found[key] == pytest.approx(table["value"].mean(), abs=0.04), key
    assert float(post.posterior["sample_stats/pareto_k"]) < 0.7
