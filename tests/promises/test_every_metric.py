"""Every metric through one mould: sizes, bounds, order of words, missing words, and that inputs stay as they are."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.metrics.catalogue import METRICS

WORDS = [f"w{at}" for at in range(150)]
OPTIONS = {"nbm": {"neighbours": 20}}


@pytest.fixture(scope="module")
def kv():
    vectors = np.random.default_rng(0).normal(size=(150, 12)) * np.linspace(0.5, 3, 150)[:, None]
    made = KeyedVectors(12)
    made.add_vectors(WORDS, vectors.astype(np.float32))
    return made


def query_for(metric, size=6):
    targets, attributes = metric.template
    parts = iter(np.split(np.array(WORDS), range(size, 150, size)))
    return bb.Query(
        {f"T{at}": next(parts).tolist() for at in range(targets)},
        {f"A{at}": next(parts).tolist() for at in range(attributes)},
    )


def measured(name, kv, query, **options):
    return bb.metric(name, kv, query, **OPTIONS.get(name, {}), **options)


everyone = pytest.mark.parametrize("name", [name for name, one in METRICS.items() if not one.sentences])
"""Metrics of words; those of words in sentences are tried in test_sentences."""


@everyone
def test_a_result_says_what_it_rests_on(name, kv):
    metric = METRICS[name]
    query = query_for(metric)
    found = measured(name, kv, query)
    low, high = found.range
    assert low <= found.value <= high
    assert low <= metric.optimum <= high
    assert float(found) == found.value
    assert (found.reason, found.p_value) == (None, None)
    assert found.coverage["asked"].tolist() == found.coverage["found"].tolist() == [6] * sum(query.template)
    sets = query.targets if metric.words == "targets" else query.attributes
    assert found.per_word["set"].unique().tolist() == list(sets)
    assert found.per_word["word"].tolist() == [word for words in sets.values() for word in words]
    assert np.isfinite(found.per_word["value"]).all()
    assert found.doi == metric.doi
    assert f"{found.value:.4g}" in str(found)
    assert set(metric.options) <= set(found.options)


@everyone
def test_the_order_of_words_does_not_matter_and_nothing_is_changed(name, kv):
    query, before = query_for(METRICS[name]), kv.vectors.copy()
    order = np.random.default_rng(1).permutation(6)
    shuffled = bb.Query(
        {key: [words[at] for at in order] for key, words in query.targets.items()},
        {key: list(reversed(words)) for key, words in query.attributes.items()},
    )
    assert measured(name, kv, shuffled).value == pytest.approx(measured(name, kv, query).value, abs=1e-12)
    np.testing.assert_array_equal(kv.vectors, before)


@everyone
def test_exchanged_groups_change_the_sign_or_nothing(name, kv):
    metric, query = METRICS[name], query_for(METRICS[name])
    if metric.template[0] < 2:
        pytest.skip("it takes one target set")
    first, second = query.targets.items()
    found = measured(name, kv, query).value
    turned = measured(name, kv, bb.Query(dict([second, first]), query.attributes)).value
    signed = metric.optimum == 0 and bb.metric(name, kv, query, **OPTIONS.get(name, {})).range[0] < 0
    # a neighbour that is as near to either word of a pair would count for the first; here there is none
    assert turned == pytest.approx(-found if signed else found, abs=1e-12)


@everyone
def test_too_many_missing_words_give_no_value_and_a_reason(name, kv):
    query = query_for(METRICS[name])
    kind = "attributes" if METRICS[name].words == "attributes" else "targets"
    sets = dict(getattr(query, kind))
    key = next(iter(sets))
    sets[key] = [*sets[key][:4], "nowhere", "neither"]
    changed = bb.Query(**{"targets": query.targets, "attributes": query.attributes, kind: sets})
    found = measured(name, kv, changed)
    assert np.isnan(found.value)
    assert "2 of 6" in found.reason
    assert found.coverage.set_index("set").loc[key, "missing"] == ["nowhere", "neither"]
    assert np.isfinite(measured(name, kv, changed, max_missing=0.34).value)
    with pytest.raises(bb.InputError, match="lacks nowhere, neither"):
        measured(name, kv, changed, on_missing="error")


@everyone
@pytest.mark.parametrize("kind", ["targets", "attributes"])
def test_a_set_that_is_missing_as_a_whole_gives_no_value(name, kv, kind):
    query = query_for(METRICS[name])
    gone = {key: [f"no {word}" for word in words] for key, words in getattr(query, kind).items()}
    changed = bb.Query(**{"targets": query.targets, "attributes": query.attributes, kind: gone})
    found = measured(name, kv, changed, max_missing=1.0)
    assert np.isnan([found.value, *found.range]).all()
    assert "6 of 6" in found.reason
    assert found.per_word.empty
    table = bb.run_metrics(kv, changed, {"it": (name, OPTIONS.get(name, {}))})
    assert table["value"].isna().all()
    assert table["reason"].str.contains("6 of 6").all()


@everyone
def test_one_vector_for_all_words_gives_a_number_or_a_reason(name):
    same = KeyedVectors(3)
    same.add_vectors(WORDS, np.tile(np.float32([1, 2, 2]), (150, 1)))
    found = measured(name, same, query_for(METRICS[name]))
    assert np.isfinite(found.value) == (found.reason is None)
    if METRICS[name].optimum == 0 and found.reason is None:
        assert found.value == pytest.approx(0, abs=1e-12)


@everyone
def test_options_are_checked(name, kv):
    wrong = {"p_value": "no", "alternative": "both", "permutations": 0, "seed": -1, "distance": "far"}
    wrong |= {"holdout": "no", "train": [0.5, 9], "exponent": float("inf"), "neighbours": 2.5}
    assert set(METRICS[name].options) <= set(wrong)
    for option in METRICS[name].options:
        with pytest.raises(bb.InputError, match=f"{option} is"):
            bb.metric(name, kv, query_for(METRICS[name]), **{option: wrong[option]})
    with pytest.raises(bb.InputError, match="normalise is 'no'"):
        bb.metric(name, kv, query_for(METRICS[name]), normalise="no")


@everyone
def test_unknown_options_are_refused(name, kv):
    with pytest.raises(bb.InputError, match=f"{name} has no option 'wrong'"):
        bb.metric(name, kv, query_for(METRICS[name]), wrong=1)


@everyone
def test_too_few_sets_are_refused(name, kv):
    targets, attributes = METRICS[name].template
    if (targets, attributes) == (1, 1):
        pytest.skip("it takes one set of either kind")
    with pytest.raises(bb.InputError, match=f"{name} takes at least"):
        bb.metric(name, kv, bb.Query({"T": WORDS[:4]}, {"A": WORDS[4:8]}))


@everyone
def test_rows_of_many_queries_are_those_of_single_ones(name, kv):
    queries = [query_for(METRICS[name]), query_for(METRICS[name], size=5)]
    table = bb.run_metrics({"a": kv}, {"one": queries[0], "two": queries[1]}, {"it": (name, OPTIONS.get(name, {}))})
    assert table["value"].tolist() == [measured(name, kv, query).value for query in queries]
    assert table["metric"].tolist() == ["it", "it"]
    assert table["query"].tolist() == ["one", "two"]


@everyone
def test_the_bootstrap_surrounds_the_value_and_leaves_words_out(name, kv):
    query = query_for(METRICS[name])
    found = bb.checks.bootstrap_metric(name, kv, query, draws=300, posterior=False, **OPTIONS.get(name, {}))
    assert found.value == measured(name, kv, query).value
    assert found.draws.shape == (300,)
    low, high = found.interval
    assert low < found.value < high
    pairs = 6 if METRICS[name].paired else 12
    targets, attributes = METRICS[name].template
    expected = (pairs if targets == 2 else 6 * targets) + 6 * attributes
    assert len(found.leave_one_out) == expected
    row = found.leave_one_out.iloc[0]
    if " and " not in row["word"]:
        without = {
            kind: {key: [word for word in words if word != row["word"]] for key, words in getattr(query, kind).items()}
            for kind in ("targets", "attributes")
        }
        assert measured(name, kv, bb.Query(**without)).value == pytest.approx(row["value"], abs=1e-12)


@everyone
def test_random_words_in_place_of_the_attributes_make_a_null(name, kv):
    query = query_for(METRICS[name])
    statistic = (name, OPTIONS.get(name, {}))
    null = bb.calibration.null_distribution(kv, query, statistic, draws=50, match_frequency=False)
    assert null.observed == measured(name, kv, query).value
    assert len(null.values) == 50
    assert 0 < null.p_value <= 1
