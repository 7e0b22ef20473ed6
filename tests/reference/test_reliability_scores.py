"""DB/WA, RIPA and NBM of 184 words and 22 pairs, as the reliability study's own code gives them."""

import json

import numpy as np
import pytest

import bayesbias as bb


@pytest.fixture(scope="module")
def oracle(shared):
    return json.loads((shared / "oracles" / "reliability_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def vectors(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.mark.parametrize(
    ("name", "key", "options", "tolerance"),
    [
        ("db_wa", "db_wa", {}, 1e-6),
        ("ripa", "ripa_code", {"normalize": True}, 1e-6),  # their code scales words to length 1, the paper does not
        ("ripa", "ripa_paper_formula_float64_first_30_words", {}, 1e-6),
        ("nbm", "nbm", {}, 0.02 / 22),
    ],
)
def test_scores(vectors, oracle, name, key, options, tolerance):
    expected = np.array(oracle["base_slice_scores"][key])
    words = oracle["target_words"][: len(expected)]
    first, second = zip(*oracle["gender_base_pairs_male_female"], strict=True)
    query = bb.Query({"male": first, "female": second}, {"words": words})
    found = bb.metric(name, vectors, query, **options)
    if key == "ripa_code":  # scaling the pair's words too changes the direction: theirs scales the attribute word only
        found = bb.metric(name, vectors, query)
        lengths = np.linalg.norm(vectors.vectors[[vectors.key_to_index[word] for word in words]], axis=1)
        np.testing.assert_allclose(found.per_word["value"] / lengths, expected.mean(axis=1), atol=tolerance)
        return
    np.testing.assert_allclose(found.per_word["value"], expected.mean(axis=1), atol=tolerance)
