"""Metrics would differ from those of WEFE 1.0.1 where they should not, and nobody would know where they should."""

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


def references(queries):
    """The records of these queries in turn, as the argument ``reference``."""
    return pytest.mark.parametrize("reference", queries, indirect=True, ids=str)


SMALL = QUERIES[:3]


@references(QUERIES[:4])
def test_weat(news, reference):
    theirs, query, _ = reference
    expected = theirs["WEAT"]["default"]
    assert bb.metric("weat", news, query).value == pytest.approx(expected["weat"], abs=TOLERANCE)
    effect = bb.metric("weat_effect_size", news, query)
    assert effect.value == pytest.approx(expected["effect_size"], abs=TOLERANCE)
    assert effect.range == pytest.approx((-2, 2))
    scaled = theirs["WEAT"]["normalize_true"]
    assert bb.metric("weat", news, query, normalise=True).value == pytest.approx(scaled["weat"], abs=TOLERANCE)


@references(QUERIES[:4])
def test_permutation_p_values(news, reference):
    """Exactly those of all partitions; else within four standard errors of as many random ones."""
    _, query, record = reference
    expected = record["reference_permutation_p_not_wefe"]
    exact = expected["kind"] == "exact_all_partitions"
    for alternative, name in (("greater", "p_right_ge"), ("less", "p_left_ge"), ("two-sided", "p_two_sided_abs_ge")):
        found = bb.metric("weat", news, query, p_value=True, alternative=alternative, permutations=100_000, seed=1)
        assert (found.partitions, found.exact) == (expected["n_partitions"], exact)
        p = expected[name]
        error = 1e-12 if exact else 4 * np.sqrt(2 * max(p * (1 - p), 1e-5) / 100_000)
        assert found.p_value == pytest.approx(p, abs=error)


@references((*SMALL, "gender_professions_2x1"))
def test_mac(news, reference):
    theirs, query, _ = reference
    found = bb.metric("mac", news, query)
    assert found.value == pytest.approx(theirs["MAC"]["mac"], abs=TOLERANCE)
    by_word = found.per_word.set_index(["set", "word"])["value"]
    for name, words in theirs["MAC"]["targets_eval"].items():
        for word, distances in words.items():
            assert by_word[name, word] == pytest.approx(np.mean(list(distances.values())), abs=TOLERANCE)
    check_normalised("mac", news, query, theirs["MAC_normalize_true_result"])


def check_normalised(name, news, query, expected, **options):
    """The value of normalised vectors, where theirs has one."""
    scaled = bb.metric(name, news, query, normalise=True, **options)
    assert expected is None or scaled.value == pytest.approx(expected, abs=TOLERANCE)


@references((*SMALL, "gender_professions_2x1"))
def test_metrics_of_two_target_sets_and_one_attribute_set(news, reference):
    theirs, query, _ = reference
    parts = {(*part.targets, *part.attributes): part for part in query.subqueries(2, 1)}
    measured = {
        "RND_norm": ("rnd", {"distance": "norm"}),
        "RND_cos": ("rnd", {"distance": "cos"}),
        "ECT": ("ect", {}),
        "RIPA": ("ripa", {"compat": "wefe"}),
    }
    for record in theirs["two_by_one"]:
        part = parts[*record["targets"], record["attribute"]]
        for name in measured.keys() & record.keys():
            (metric, options), expected = measured[name], record[name]
            found = bb.metric(metric, news, part, **options)
            assert found.value == pytest.approx(expected[metric], abs=TOLERANCE), (name, record["query_name"])
            own = found.per_word.set_index("word")["value"]
            by_word = expected.get("distance_by_word", {})
            by_word |= {word: value["mean"] for word, value in expected.get("word_values", {}).items()}
            for word, value in by_word.items():
                assert own[word] == pytest.approx(value, abs=TOLERANCE)
            check_normalised(metric, news, part, record[f"{name}_normalize_true_result"], **options)


@references((*SMALL, "ethnicity_bingliu_3x2"))
def test_rnsb(news, reference):
    theirs, query, _ = reference
    for seed, expected in list(theirs["RNSB"]["holdout_true_by_random_state"].items())[:2]:
        found = bb.metric("rnsb", news, query, compat="wefe", seed=int(seed))
        assert found.value == pytest.approx(expected, abs=1e-8)
    found = bb.metric("rnsb", news, query, compat="wefe", holdout=False)
    assert found.value == pytest.approx(theirs["RNSB"]["holdout_false_seed0"]["rnsb"], abs=1e-8)
    ours = bb.metric("rnsb", news, query)
    assert ours.value == pytest.approx(found.value, abs=5e-5)


FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]
MATH = ["math", "algebra", "geometry", "calculus", "equations", "computation", "numbers", "addition"]
ARTS = ["poetry", "art", "dance", "literature", "novel", "symphony", "drama", "sculpture"]


def query(first, second, *attributes):
    return bb.Query({"F": first, "M": second}, {f"A{at}": words for at, words in enumerate(attributes)})


@pytest.fixture(scope="module")
def edges(oracles):
    return {case["id"]: case["result"] for case in oracles["edge_cases"]}


def test_lost_words_up_to_a_fifth(news, edges):
    """1 of 9 and 1 of 5 are kept; 1 of 4 gives no value, here with the reason."""
    for female, case in ((FEMALE, "oov_below_threshold"), (FEMALE[:4], "oov_equal_threshold")):
        kept = bb.metric("weat", news, query([*female, "zzzz"], MALE, MATH, ARTS))
        assert kept.value == pytest.approx(edges[case]["weat"], abs=TOLERANCE)
        (note,) = [note.numbers for note in kept.notes if note.code == "left-out"]
        assert (note["count"], note["total"], note["words"]) == (1, len(female) + 1, ["zzzz"])
    lost = bb.metric("weat", news, query([*FEMALE[:3], "zzzz"], MALE, MATH, ARTS))
    assert edges["oov_above_threshold"]["weat"] is None
    assert np.isnan(lost.value)
    assert "1 of 4 words of the set 'F' are missing" in lost.reason


def test_repeated_words_are_lost_in_theirs_only(news, edges):
    again = query([*FEMALE[:3], FEMALE[0]], MALE, MATH, ARTS)
    assert edges["duplicates_count_as_lost"]["weat"] is None
    theirs = bb.metric("weat", news, again, compat="wefe")
    assert np.isnan(theirs.value)
    assert "1 of 4 words of the set 'F' are missing or repeated" in theirs.reason
    ours = bb.metric("weat", news, again)
    assert ours.value == bb.metric("weat", news, query(FEMALE[:3], MALE, MATH, ARTS)).value
    assert ours.notes[0].numbers["words"] == ["female (F/F)"]


def test_pairs_of_unequal_sets_and_of_missing_words(news, edges):
    """Theirs ignores words of a longer second set and shifts pairs behind a missing word; ours keeps pairs."""
    longer = query(FEMALE[:6], MALE, MATH[:2])
    theirs = bb.metric("ripa", news, longer, compat="wefe")
    assert theirs.value == pytest.approx(edges["ripa_unequal_longer_second"]["ripa"], abs=TOLERANCE)
    with pytest.raises(bb.InputError, match="has 6 and 8 words"):
        bb.metric("ripa", news, longer)
    missing = query(["zzzz", *FEMALE[1:]], MALE, MATH[:2])
    shifted, aligned = bb.metric("ripa", news, missing, compat="wefe"), bb.metric("ripa", news, missing)
    assert shifted.value == pytest.approx(edges["ripa_oov_shifts_pairs"]["ripa"], abs=TOLERANCE)
    assert aligned.value == pytest.approx(edges["ripa_aligned_reference"]["ripa"], abs=TOLERANCE)
    (note,) = [note for note in aligned.notes if note.numbers.get("kind") == "pairs"]
    assert (note.code, note.numbers["count"], note.numbers["total"]) == ("left-out", 1, 8)
    few = bb.metric("ripa", news, query(["zzzz", *FEMALE[1:3]], MALE[:3], MATH[:2]))
    assert "1 of 3 pairs lack a word" in few.reason


def test_few_attribute_words_of_ect(news, edges):
    with pytest.warns(UserWarning, match="the value is 1 or -1"):
        two = bb.metric("ect", news, query(FEMALE, MALE, MATH[:2]))
    assert two.value == pytest.approx(edges["ect_2_attr"]["ect"])
    assert {note.code for note in two.notes} == {"set-size"}
    one = bb.metric("ect", news, query(FEMALE, MALE, MATH[:1]))
    assert edges["ect_1_attr"]["ect"] is None
    assert one.reason == "one attribute word has no order"


def test_the_two_sided_p_value_does_not_hang_on_the_order_of_targets(news, edges):
    """Theirs is 1 for one order and .09 for the other, and never exact."""
    assert edges["weat_p_two_sided_negative"][0] == 1.0
    assert edges["weat_p_exact"]["exception"] == "NotImplementedError"
    one, other = (
        bb.metric("weat", news, query(*sides, MATH, ARTS), p_value=True) for sides in ((FEMALE, MALE), (MALE, FEMALE))
    )
    assert one.p_value == other.p_value == pytest.approx(0.08578088578088579)
    assert (one.exact, one.partitions) == (True, 12_870)


def test_aggregates_over_queries(news, edges):
    """Theirs skips a query without a value in silence; ours are a line of pandas, and ``rank`` says so."""
    shown = next(value for key, value in edges["run_queries_abs_avg"].items() if key.startswith("WEAT:"))["test_w2v"]
    job = bb.load_query("weat6").attributes
    # theirs were recorded with the female terms first
    queries = [query(FEMALE, MALE, MATH, ARTS), query(FEMALE, MALE, *job.values())]
    lost = bb.Query({"F2": ["zzzz"], "M2": MALE}, {"sci": MATH, "arts2": ARTS})
    table = bb.run_metrics(news, [*queries, lost], "weat")
    assert table["reason"].notna().tolist() == [False, False, True]
    np.testing.assert_allclose(table["value"].abs().mean(), shown, atol=TOLERANCE)
    ranked = bb.rank({"test_w2v": news, "second": news}, [*queries, lost], "weat", draws=0)
    np.testing.assert_allclose(ranked.scores["weat"], shown, atol=TOLERANCE)
    reasons = [str(note.numbers.get("reason")) for note in ranked.notes]
    assert any("1 of 1 words of the set 'F2' are missing" in reason for reason in reasons)


def test_the_bundled_opinion_lexicon_is_that_of_wefe(bing_liu):
    for kind in ("positive", "negative"):
        covered = set(bing_liu[kind])
        assert [word for word in bb.load_list(f"opinion_{kind}") if word in covered] == bing_liu[kind]
