"""Every value that WEFE 1.0.1 gave on the reference vectors, and what is different on purpose."""

import json

import numpy as np
import pytest

import bayesbias as bb

TOLERANCE = 1e-6
QUERIES = (
    "gender_math_arts",
    "names5_pleasant",
    "flowers_insects_pleasant",
    "gender_bingliu",
    "ethnicity_bingliu_3x2",
    "gender_professions_2x1",
)


@pytest.fixture(scope="module")
def vectors(shared):
    return bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")


@pytest.fixture(scope="module")
def oracles(shared):
    return json.loads((shared / "oracles" / "wefe_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def bing_liu(shared):
    return json.loads((shared / "oracles" / "bing_liu_in_slice.json").read_text())


@pytest.fixture
def reference(request, oracles, bing_liu):
    """The record of a query, and the query."""
    record = next(one for one in oracles["queries"] if one["id"] == request.param)
    words = {name: bing_liu[name.split("_")[0]] if isinstance(listed, str) else listed for name, listed in sets(record)}
    query = bb.Query(
        {name: words[name] for name in record["target_sets"]}, {name: words[name] for name in record["attribute_sets"]}
    )
    return record["wefe"], query, record


def sets(record):
    return [*record["target_sets"].items(), *record["attribute_sets"].items()]


def has(name, queries=QUERIES):
    return pytest.mark.parametrize("reference", queries, indirect=True, ids=str)


TWO_BY_TWO = QUERIES[:4]


@has("WEAT", TWO_BY_TWO)
def test_weat(vectors, reference):
    theirs, query, _ = reference
    expected = theirs["WEAT"]["default"]
    assert bb.metric("weat", vectors, query).value == pytest.approx(expected["weat"], abs=TOLERANCE)
    effect = bb.metric("weat_effect_size", vectors, query)
    assert effect.value == pytest.approx(expected["effect_size"], abs=TOLERANCE)
    assert effect.range == pytest.approx((-2, 2))
    scaled = theirs["WEAT"]["normalize_true"]
    assert bb.metric("weat", vectors, query, normalize=True).value == pytest.approx(scaled["weat"], abs=TOLERANCE)


@has("p", TWO_BY_TWO)
def test_permutation_p_values(vectors, reference):
    """Exactly those of all partitions; else within four standard errors of as many random ones."""
    _, query, record = reference
    expected = record["reference_permutation_p_not_wefe"]
    exact = expected["kind"] == "exact_all_partitions"
    for alternative, name in (("greater", "p_right_ge"), ("less", "p_left_ge"), ("two-sided", "p_two_sided_abs_ge")):
        found = bb.metric("weat", vectors, query, p_value=True, alternative=alternative, permutations=100_000, seed=1)
        assert (found.partitions, found.exact) == (expected["n_partitions"], exact)
        p = expected[name]
        error = 1e-12 if exact else 4 * np.sqrt(2 * max(p * (1 - p), 1e-5) / 100_000)
        assert found.p_value == pytest.approx(p, abs=error)


@has("MAC")
def test_mac(vectors, reference):
    theirs, query, _ = reference
    found = bb.metric("mac", vectors, query)
    assert found.value == pytest.approx(theirs["MAC"]["mac"], abs=TOLERANCE)
    by_word = found.per_word.set_index(["set", "word"])["value"]
    for name, words in theirs["MAC"]["targets_eval"].items():
        for word, distances in words.items():
            assert by_word[name, word] == pytest.approx(np.mean(list(distances.values())), abs=TOLERANCE)
    scaled = bb.metric("mac", vectors, query, normalize=True)
    expected = theirs["MAC_normalize_true_result"]
    assert expected is None or scaled.value == pytest.approx(expected, abs=TOLERANCE)


@has("2x1")
def test_metrics_of_two_target_sets_and_one_attribute_set(vectors, reference):
    theirs, query, _ = reference
    parts = {(*part.targets, *part.attributes): part for part in query.subqueries(2, 1)}
    measured = {
        "RND_norm": ("rnd", {"distance": "norm"}, "rnd"),
        "RND_cos": ("rnd", {"distance": "cos"}, "rnd"),
        "ECT": ("ect", {}, "ect"),
        "RIPA": ("ripa", {"compat": "wefe"}, "ripa"),
    }
    for record in theirs["two_by_one"]:
        part = parts[*record["targets"], record["attribute"]]
        for name, (metric, options, key) in measured.items():
            if name not in record:
                continue
            found = bb.metric(metric, vectors, part, **options)
            expected = record[name]
            assert found.value == pytest.approx(expected[key], abs=TOLERANCE), (name, record["query_name"])
            by_word = found.per_word.set_index("word")["value"]
            for word, value in expected.get("distance_by_word", {}).items():
                assert by_word[word] == pytest.approx(value, abs=TOLERANCE)
            for word, value in expected.get("word_values", {}).items():
                assert by_word[word] == pytest.approx(value["mean"], abs=TOLERANCE)
            scaled = bb.metric(metric, vectors, part, normalize=True, **options)
            expected = record[f"{name}_normalize_true_result"]
            assert expected is None or scaled.value == pytest.approx(expected, abs=TOLERANCE)


@has("RNSB", QUERIES[:5])
def test_rnsb(vectors, reference):
    theirs, query, _ = reference
    for seed, expected in list(theirs["RNSB"]["holdout_true_by_random_state"].items())[:3]:
        found = bb.metric("rnsb", vectors, query, compat="wefe", seed=int(seed))
        assert found.value == pytest.approx(expected, abs=1e-8)
    found = bb.metric("rnsb", vectors, query, compat="wefe", holdout=False)
    assert found.value == pytest.approx(theirs["RNSB"]["holdout_false_seed0"]["rnsb"], abs=1e-8)
    ours = bb.metric("rnsb", vectors, query)
    assert ours.value == pytest.approx(found.value, abs=5e-5)
