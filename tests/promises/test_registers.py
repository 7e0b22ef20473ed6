"""A metric or debiasing method of one's own would be taken in one analysis and refused, or confused, in another."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias import debiasing, metrics
from bayesbias.metrics.catalogue import METRICS
from bayesbias.vectors.debiasing import METHODS

WORDS = [f"w{at}" for at in range(160)]
QUERY = bb.Query({"x": WORDS[:8], "y": WORDS[8:16]}, {"a": WORDS[16:24]})


@pytest.fixture(autouse=True)
def registers(monkeypatch):
    """Registers that are as they were after each test."""
    for register in (METRICS, METHODS):
        monkeypatch.setattr(register, "_held", dict(register._held))


@pytest.fixture(scope="module")
def kv():
    made = KeyedVectors(12)
    made.add_vectors(WORDS, np.random.default_rng(0).normal(size=(160, 12)).astype(np.float32))
    return made


def gap(targets, attributes, power=1.0):
    """Mean inner product of attribute words with the difference of two mean vectors, to a power."""
    return float((attributes[0] @ (targets[0].mean(axis=0) - targets[1].mean(axis=0))).mean()) ** power


def flipped(vocabulary, share=1.0):
    """Turn all words around, or lengthen them."""
    return -share * np.vstack([unit for _, unit in vocabulary.blocks()])


GAP = metrics.Metric("gap", gap, bounds=(-100.0, 100.0), source="a book")


def expected(kv, power=1.0):
    first, second, last = (kv[words].astype(float) for words in (WORDS[:8], WORDS[8:16], WORDS[16:24]))
    return float((last @ (first.mean(axis=0) - second.mean(axis=0))).mean()) ** power


@pytest.mark.parametrize("one", ["gap", gap], ids=["name", "function"])
def test_a_metric_is_taken_wherever_one_is_named(one, kv):
    metrics.register(GAP)
    other = expected(kv)
    found = bb.metric(one, kv, QUERY)
    assert found.value == pytest.approx(other, abs=1e-12)
    table = bb.run_metrics(kv, QUERY, [one, "rnd", (one, {"power": 2})])
    assert table["metric"].tolist() == ["gap", "rnd", "gap (power=2)"]
    assert table["value"].iloc[[0, 2]].tolist() == pytest.approx([other, other**2], abs=1e-12)
    assert bb.topic_null(kv, QUERY, (one, {"power": 2}), replicates=4).observed["gap"] == found.value**2
    double = KeyedVectors(12)
    double.add_vectors(WORDS, 2 * kv.vectors)
    ranking = bb.rank({"one": kv, "two": double}, QUERY, one, draws=20, replicates=0, normalise=False)
    assert ranking.scores["gap"].tolist() == pytest.approx([abs(other), 4 * abs(other)], rel=1e-5)

    followed = bb.silhouettes.silhouette(kv, QUERY, one, runs=2)
    assert followed.table()["value"].tolist()[-1] == pytest.approx(other)
    study = bb.stability.metric_stability(
        {("corpus", "sgns", 12, 0): kv}, QUERY, [one], contrast=False, random_pairs=20
    )
    assert study.table()["value"].tolist() == pytest.approx([other])


def test_a_registered_metric_is_listed_and_taken_by_default(kv):
    metrics.register(GAP)
    row = bb.bundled("metrics").iloc[-1]
    assert (row["name"], row["options"], row["source"]) == ("gap", "power", "a book")
    assert row["description"] == gap.__doc__
    assert "gap" in bb.run_metrics(kv, QUERY)["metric"].tolist()
    result = bb.metric("gap", kv, QUERY)
    assert result.range == (-100.0, 100.0)
    assert "a book" in bb.cite(result).text()


@pytest.mark.parametrize(("register", "taken"), [(metrics.register, "weat"), (debiasing.register, "hard")])
def test_a_name_that_is_taken_is_refused(register, taken):
    def mine(first, second=0):
        return first

    mine.__name__ = taken
    with pytest.raises(bb.InputError, match=f"there is a (metric|method) '{taken}' already, in bayesbias"):
        register(mine)


def test_a_function_that_is_run_again_replaces_itself(kv):
    names = {}
    for factor in (1, 2):
        exec(f"def mine(targets, attributes):\n    return {factor}.0", names)
        metrics.register(names["mine"])
    assert bb.metric("mine", kv, QUERY).value == 2
    made = [lambda targets, attributes: 1.0, lambda targets, attributes: 2.0]
    metrics.register(metrics.Metric("short", made[0]))
    with pytest.raises(bb.InputError, match="there is a metric 'short' already"):
        metrics.register(metrics.Metric("short", made[1]))


def test_what_is_no_metric_is_refused():
    with pytest.raises(bb.InputError, match="mine takes 1 arguments by their places, and 2 are needed"):
        metrics.Metric("mine", lambda targets: 0)
    with pytest.raises(bb.InputError, match="has no name of its own"):
        metrics.register(lambda targets, attributes: 0)


def writes(targets, attributes):
    targets[0][:] = 0
    return 0.0


FAULTS = {
    "nan": (lambda t, a: np.nan, r"returned nan and .* or Measured\(nan, reason='...'\) is needed"),
    "words": (
        lambda t, a: metrics.Measured(1.0, np.ones(3)),
        r"returned 1.0 and by_word of shape \(3,\): .* a number for each of 8 words",
    ),
    "write": (writes, "failed: ValueError: assignment destination is read-only"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_metric_is_named_and_the_others_work(fault, kv):
    measure, message = FAULTS[fault]
    one = metrics.Metric("mine", measure)
    with pytest.raises(bb.InputError, match=f"the metric mine {message}"):
        bb.metric(one, kv, QUERY)
    table = bb.run_metrics(kv, QUERY, [one, gap])
    assert np.isnan(table["value"][0])
    assert table["reason"][0].startswith("the metric mine ")
    assert table["value"][1] == pytest.approx(expected(kv), abs=1e-12)


@pytest.mark.parametrize("one", ["flipped", flipped], ids=["name", "function"])
def test_a_method_is_taken_wherever_one_is_named(one, kv):
    debiasing.register(debiasing.Method("flipped", flipped, "a book"))
    unit = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    for share in (1.0, 7.0):  # vectors are scaled to length 1
        after = bb.debias(kv, one, share=share)
        np.testing.assert_allclose(after.vectors, -unit, atol=1e-6)
    assert after.index_to_key == kv.index_to_key
    assert after.bayesbias_debiasing.caption() == "flipped: 160 words changed"
    assert after.bayesbias_debiasing.options == {"share": 7.0}
    assert kv.vectors.flags.writeable


def adds(vocabulary):
    vocabulary.kv.add_vectors(["more"], np.ones((1, 12)))
    return vocabulary.kv.vectors


def test_a_faulty_method_is_named_and_vectors_stay_as_they_are():
    given = KeyedVectors(12)
    given.add_vectors(WORDS, np.ones((160, 12)))
    message = r"the debiasing method mine returned vectors of shape \(161, 12\): finite ones, one for each word"
    with pytest.raises(bb.InputError, match=message):
        bb.debias(given, debiasing.Method("mine", adds))
    assert given.index_to_key == WORDS
    assert (given.vectors == 1).all()


PLUGIN = """
def steady(targets, attributes):
    "Always one."
    return 1.0

def mirrored(vocabulary):
    "Turn all words around."
    return -vocabulary.unit(slice(None))

weat = steady
"""
ENTRIES = [
    *(
        EntryPoint(name, place, "bayesbias.metrics")
        for name, place in {"steady": "plugin:steady", "weat": "plugin:weat", "gone": "nowhere:gone"}.items()
    ),
    EntryPoint("mirrored", "plugin:mirrored", "bayesbias.debiasing"),
]


def test_entry_points_load_when_asked_for_and_one_that_fails_is_named(kv, tmp_path, monkeypatch):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [one for one in ENTRIES if one.group == group])
    for register in (METRICS, METHODS):
        monkeypatch.setattr(register, "_loaded", False)
    bb.metric("rnd", kv, QUERY)
    assert "plugin" not in sys.modules, "a metric of the package needs no other"
    with pytest.warns(bb.errors.PluginWarning) as caught:
        names = bb.bundled("metrics")["name"].tolist()
    assert names[-2:] == ["semaxis", "steady"]
    assert [str(each.message) for each in caught] == [
        "the metric 'gone' (nowhere:gone) is left out: ModuleNotFoundError: No module named 'nowhere'",
        "the metric 'weat' (plugin:weat) is left out: it is called 'steady': give both one name",
    ]
    after = bb.debias(kv, "mirrored")
    assert after.bayesbias_debiasing.method == "mirrored"
    assert bb.metric("steady", after, QUERY).value == 1.0
