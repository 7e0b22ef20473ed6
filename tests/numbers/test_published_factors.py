"""Word features and the multilevel regression against the reliability study's own code and REML."""

import hashlib
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb

NAMES = {
    "Intercept": "intercept", "metric[nbm]": "measure[nbm]", "metric[ripa]": "measure[ripa]",
    "log_n_senses": "log_senses", "pos[NOUN]": "part_of_speech[NOUN]", "pos[VERB]": "part_of_speech[VERB]",
    "nn_sim": "nn_similarity", "es": "stability",
}  # fmt: skip


@pytest.fixture(scope="module")
def scores(shared):
    return json.loads((shared / "oracles" / "reliability_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def seeds(shared, scores):
    """The six embeddings that the record was made of: the slice with noise, its columns permuted and turned."""
    kv = bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")
    base = kv.vectors.astype(np.float64)
    count, size = base.shape
    noise = (0.15 + 0.35 * np.arange(count) / (count - 1)) * np.linalg.norm(base, axis=1) / np.sqrt(size)
    made = []
    for seed, digest in enumerate(scores["meta"]["seed_vectors_float32_sha256"]):
        shift, order, signs = (np.random.RandomState(10_000 * k + 210 + seed) for k in (2, 3, 4))
        vectors = (base + noise[:, None] * shift.standard_normal((count, size))).astype(np.float32)
        vectors = (vectors[:, order.permutation(size)] * signs.choice([-1.0, 1.0], size)).astype(np.float32)
        assert hashlib.sha256(vectors.tobytes()).hexdigest() == digest
        made.append(KeyedVectors(size))
        made[-1].add_vectors(kv.index_to_key, vectors)
    return made


@pytest.fixture(scope="module")
def features(seeds, scores):
    """A function from a number of seeds to the features of the target words over them."""
    return cache(lambda used: bb.reliability.word_features(seeds[:used], scores["target_words"]))


@pytest.mark.parametrize(
    ("column", "key", "used"),
    [
        ("stability", "es", 6),
        ("stability", "es_first_pair_0_1", 2),
        ("nn_similarity", "nn_sim", 6),  # means over the six, as the length
        ("l2_norm", "l2_norm", 6),
    ],
)
def test_word_features(features, scores, column, key, used):
    words = scores["target_words"]
    found = features(used)
    assert found["word"].tolist() == words
    expected = [scores["word_properties_their_functions"][key][word] for word in words]
    np.testing.assert_allclose(found[column], expected, atol=1e-6)


@pytest.fixture(scope="module")
def reml(shared):
    return json.loads((shared / "oracles" / "multilevel_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def found(reml):
    table = pd.DataFrame(reml["data"]).rename(
        columns={
            "model": "algorithm", "metric": "measure", "pos": "part_of_speech", "nn_sim": "nn_similarity",
            "es": "stability", "log_frequency_raw": "log_frequency", "score": "value",
        }
    )  # fmt: skip
    return bb.reliability.reliability_regression(table.assign(log_senses=np.log(table["n_senses"])))


def test_coefficients_are_those_of_reml(found, reml):
    table = found.table().set_index("term")
    for name, expected in reml["fixed_effects"].items():
        row = table.loc[NAMES.get(name, name)]
        assert abs(row["mean"] - expected) < 0.1 * row["sd"], name
        if name != "Intercept":
            assert row["sd"] == pytest.approx(reml["std_errors"][name], rel=0.05), name
    # with 2 and 3 levels the groupings' sds are not known, which REML's standard error leaves out
    assert 1 < table.loc["intercept", "sd"] / reml["std_errors"]["Intercept"] < 1.5
    assert table.loc["residual", "mean"] == pytest.approx(np.sqrt(reml["var_residual"]), rel=0.01)


def test_shares_hold_those_of_reml_and_groupings_are_not_settled(found, reml):
    table = found.table().set_index("term")
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
    assert "2 levels of algorithm and 3 levels of corpus cannot tell how much levels differ" in found.notes[-1]


def test_it_samples_well(found):
    assert not any("should not be read" in note for note in found.notes)
    assert float(found.posterior["sample_stats/pareto_k"]) < 0.7
