"""A metric could leave its bounds, lose words in silence, depend on their order, or change what it was given."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.metrics.catalogue import METRICS

WORDS = [f"w{at}" for at in range(150)]
OPTIONS = {"nbm": {"neighbours": 20}}
WRONG = {"p_value": "no", "alternative": "both", "permutations": 0, "seed": -1, "distance": "far", "normalise": "no"}
WRONG |= {"holdout": "no", "exponent": float("inf"), "neighbours": 2.5}
NAMES = [name for name, one in METRICS.items() if not one.sentences]
"""Metrics of words; those of words in sentences are tried in test_sentences."""
some = pytest.mark.parametrize("name", ["weat", "mac", "nbm"])


def embedding(vectors):
    kv = KeyedVectors(vectors.shape[1])
    kv.add_vectors(WORDS, vectors.astype(np.float32))
    return kv


@pytest.fixture(scope="module")
def kv():
    return embedding(np.random.default_rng(0).normal(size=(150, 12)) * np.linspace(0.5, 3, 150)[:, None])


def query_for(name, size=6):
    targets, attributes = METRICS[name].template
    parts = iter(np.split(np.array(WORDS), range(size, 150, size)))
    return bb.Query(
        {f"T{at}": next(parts).tolist() for at in range(targets)},
        {f"A{at}": next(parts).tolist() for at in range(attributes)},
    )


def measured(name, kv, query, **options):
    return bb.metric(name, kv, query, **OPTIONS.get(name, {}), **options)


def test_results_say_what_they_rest_on_and_keep_to_their_range(kv):
    for name in NAMES:
        metric, query = METRICS[name], query_for(name)
        result = measured(name, kv, query)
        low, high = result.range
        assert low <= result.value <= high, name
        assert low <= metric.optimum <= high, name
        assert (float(result), result.reason, result.p_value) == (result.value, None, None)
        assert result.coverage["asked"].tolist() == result.coverage["found"].tolist() == [6] * sum(query.template)
        sets = getattr(query, metric.words)
        assert result.per_word["word"].tolist() == [word for words in sets.values() for word in words], name
        assert np.isfinite(result.per_word["value"]).all(), name
        assert result.table()["value"].item() == result.value
        assert set(metric.options) <= set(result.options)


def test_the_order_of_words_does_not_matter_and_nothing_is_changed(kv):
    before, order = kv.vectors.copy(), np.random.default_rng(1).permutation(6)
    for name in NAMES:
        query = query_for(name)
        shuffled = bb.Query(
            {key: [words[at] for at in order] for key, words in query.targets.items()},
            {key: list(reversed(words)) for key, words in query.attributes.items()},
        )
        value = measured(name, kv, query).value
        assert measured(name, kv, shuffled).value == pytest.approx(value, abs=1e-12), name
    np.testing.assert_array_equal(kv.vectors, before)


def test_exchanged_groups_change_the_sign_or_nothing(kv):
    for name in NAMES:
        query = query_for(name)
        turned = measured(name, kv, bb.Query(dict(reversed(query.targets.items())), query.attributes))
        signed = METRICS[name].optimum == 0 and turned.range[0] < 0 and len(query.targets) > 1
        # a neighbour that is as near to either word of a pair would count for the first; here there is none
        value = measured(name, kv, query).value
        assert turned.value == pytest.approx(-value if signed else value, abs=1e-12), name


@some
def test_too_many_missing_words_give_no_value_and_a_reason(name, kv):
    query, kind = query_for(name), METRICS[name].words
    (key, words), *others = getattr(query, kind).items()
    sets = {"targets": query.targets, "attributes": query.attributes}
    lacking = bb.Query(**sets | {kind: {key: [*words[:4], "nowhere", "neither"], **dict(others)}})
    result = measured(name, kv, lacking)
    assert np.isnan(result.value)
    assert "2 of 6" in result.reason
    assert {note.code for note in result.notes} == {"no-value", "coverage"}
    assert result.coverage.set_index("set").loc[key, "missing"] == ["nowhere", "neither"]
    assert np.isfinite(measured(name, kv, lacking, max_missing=0.34).value)
    with pytest.raises(bb.InputError, match="lacks nowhere, neither"):
        measured(name, kv, lacking, on_missing="error")


def test_one_vector_for_all_words_gives_a_number_or_a_reason():
    alike = embedding(np.tile([1, 2, 2], (150, 1)))
    for name in NAMES:
        result = measured(name, alike, query_for(name))
        assert np.isfinite(result.value) == (result.reason is None), name
        if METRICS[name].optimum == 0 and result.reason is None:
            assert result.value == pytest.approx(0, abs=1e-12), name


def test_wrong_options_and_too_few_sets_are_refused(kv):
    takers = {option: name for name in NAMES for option in (*METRICS[name].options, "normalise")}
    for option, name in takers.items():
        with pytest.raises(bb.InputError, match=f"{option} is"):
            bb.metric(name, kv, query_for(name), **{option: WRONG[option]})
    with pytest.raises(bb.InputError, match="weat has no option 'wrong'"):
        bb.metric("weat", kv, query_for("weat"), wrong=1)
    with pytest.raises(bb.InputError, match="weat takes at least"):
        bb.metric("weat", kv, query_for("mac"))


@some
def test_rows_of_many_queries_are_those_of_single_ones(name, kv):
    queries = {"one": query_for(name), "two": query_for(name, size=5)}
    table = bb.run_metrics({"a": kv}, queries, {"it": (name, OPTIONS.get(name, {}))})
    assert table["value"].tolist() == [measured(name, kv, query).value for query in queries.values()]
    assert table["metric"].tolist() == ["it", "it"]
    assert table["query"].tolist() == ["one", "two"]
