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
everyone = pytest.mark.parametrize("name", [name for name, one in METRICS.items() if not one.sentences])
"""Metrics of words; those of words in sentences are tried in test_sentences."""


def embedding(vectors):
    kv = KeyedVectors(vectors.shape[1])
    kv.add_vectors(WORDS, vectors.astype(np.float32))
    return kv


@pytest.fixture(scope="module")
def kv():
    return embedding(np.random.default_rng(0).normal(size=(150, 12)) * np.linspace(0.5, 3, 150)[:, None])


@pytest.fixture
def metric(name):
    return METRICS[name]


def query_for(metric, size=6):
    targets, attributes = metric.template
    parts = iter(np.split(np.array(WORDS), range(size, 150, size)))
    return bb.Query(
        {f"T{at}": next(parts).tolist() for at in range(targets)},
        {f"A{at}": next(parts).tolist() for at in range(attributes)},
    )


@pytest.fixture
def query(metric):
    return query_for(metric)


@pytest.fixture
def options(name):
    return OPTIONS.get(name, {})


@pytest.fixture
def value(name, kv, query, options):
    return bb.metric(name, kv, query, **options).value


def with_sets(query, **sets):
    return bb.Query(**{"targets": query.targets, "attributes": query.attributes} | sets)


@everyone
def test_a_result_says_what_it_rests_on(name, metric, kv, query, options):
    result = bb.metric(name, kv, query, **options)
    low, high = result.range
    assert low <= result.value <= high
    assert low <= metric.optimum <= high
    assert float(result) == result.value
    assert (result.reason, result.p_value) == (None, None)
    assert result.coverage["asked"].tolist() == result.coverage["found"].tolist() == [6] * sum(query.template)
    sets = getattr(query, metric.words)
    assert result.per_word["set"].unique().tolist() == list(sets)
    assert result.per_word["word"].tolist() == [word for words in sets.values() for word in words]
    assert np.isfinite(result.per_word["value"]).all()
    assert result.doi == metric.doi
    assert result.table()["value"].item() == result.value
    assert set(metric.options) <= set(result.options)


@everyone
def test_the_order_of_words_does_not_matter_and_nothing_is_changed(name, kv, query, options, value):
    before, order = kv.vectors.copy(), np.random.default_rng(1).permutation(6)
    shuffled = bb.Query(
        {key: [words[at] for at in order] for key, words in query.targets.items()},
        {key: list(reversed(words)) for key, words in query.attributes.items()},
    )
    assert bb.metric(name, kv, shuffled, **options).value == pytest.approx(value, abs=1e-12)
    np.testing.assert_array_equal(kv.vectors, before)


@pytest.mark.parametrize("name", [name for name, one in METRICS.items() if not one.sentences and one.template[0] > 1])
def test_exchanged_groups_change_the_sign_or_nothing(name, metric, kv, query, options, value):
    turned = bb.metric(name, kv, with_sets(query, targets=dict(reversed(query.targets.items()))), **options)
    signed = metric.optimum == 0 and turned.range[0] < 0
    # a neighbour that is as near to either word of a pair would count for the first; here there is none
    assert turned.value == pytest.approx(-value if signed else value, abs=1e-12)


@everyone
def test_too_many_missing_words_give_no_value_and_a_reason(name, metric, kv, query, options):
    kind = metric.words
    (key, words), *others = getattr(query, kind).items()
    lacking = with_sets(query, **{kind: {key: [*words[:4], "nowhere", "neither"], **dict(others)}})
    result = bb.metric(name, kv, lacking, **options)
    assert np.isnan(result.value)
    assert "2 of 6" in result.reason
    assert {note.code for note in result.notes} == {"no-value", "coverage"}
    assert result.coverage.set_index("set").loc[key, "missing"] == ["nowhere", "neither"]
    assert np.isfinite(bb.metric(name, kv, lacking, **options, max_missing=0.34).value)
    with pytest.raises(bb.InputError, match="lacks nowhere, neither"):
        bb.metric(name, kv, lacking, **options, on_missing="error")


@everyone
def test_one_vector_for_all_words_gives_a_number_or_a_reason(name, metric, query, options):
    result = bb.metric(name, embedding(np.tile([1, 2, 2], (150, 1))), query, **options)
    assert np.isfinite(result.value) == (result.reason is None)
    if metric.optimum == 0 and result.reason is None:
        assert result.value == pytest.approx(0, abs=1e-12)


@everyone
def test_wrong_options_and_too_few_sets_are_refused(name, metric, kv, query):
    for option in (*metric.options, "normalise"):
        with pytest.raises(bb.InputError, match=f"{option} is"):
            bb.metric(name, kv, query, **{option: WRONG[option]})
    with pytest.raises(bb.InputError, match=f"{name} has no option 'wrong'"):
        bb.metric(name, kv, query, wrong=1)
    if metric.template != (1, 1):
        with pytest.raises(bb.InputError, match=f"{name} takes at least"):
            bb.metric(name, kv, bb.Query({"T": WORDS[:4]}, {"A": WORDS[4:8]}))


@everyone
def test_rows_of_many_queries_are_those_of_single_ones(name, metric, kv, query, options, value):
    short = query_for(metric, size=5)
    table = bb.run_metrics({"a": kv}, {"one": query, "two": short}, {"it": (name, options)})
    assert table["value"].tolist() == [value, bb.metric(name, kv, short, **options).value]
    assert table["metric"].tolist() == ["it", "it"]
    assert table["query"].tolist() == ["one", "two"]
