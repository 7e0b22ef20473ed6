"""A difference of rounding could be taken for a difference."""

import warnings

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.metrics.catalogue import METRICS

PROTECTED = {"m": ["he", "man", "boy"], "f": ["she", "woman", "girl"]}
OWN = {"m": ["boss", "math", "car"], "f": ["nurse", "home", "art"]}
LISTS = bb.WordLists("mine", PROTECTED, OWN, {"other": ["table", "rock", "lamp"]})
EVERY, OTHERS = LISTS.every_word(), [f"w{at}" for at in range(200)]
PAIRS = list(zip(*PROTECTED.values(), strict=True))
STEREOTYPES = {"x": OWN["m"], "y": OWN["f"]}
SETS = {  # of words with one vector
    "every word": [[*EVERY, *OTHERS]],
    "words outside of the lists": [OTHERS],
    "protected words": [[*PROTECTED["m"], *PROTECTED["f"]]],
    "words of each group": list(PROTECTED.values()),
    "words of each list": [*OWN.values(), LISTS.controls["other"]],
    "words of each pair": [list(pair) for pair in PAIRS],
}


def embedding(sets, noise=0.0):
    """Random vectors, those of a set that of its first word times 1 and some noise."""
    rng = np.random.default_rng(0)
    vectors = dict(zip([*EVERY, *OTHERS], rng.standard_normal((len(EVERY) + len(OTHERS), 12)), strict=True))
    for words in sets:
        vectors |= {word: vectors[words[0]] * (1 + noise * rng.standard_normal(12)) for word in words}
    return bb.load_embedding(vectors)


PLAIN = embedding([])


def measured(name, twins):
    one = METRICS[name]
    targets, attributes = (PROTECTED, {"a": OWN["m"]}) if one.attributes == (1, 1) else (STEREOTYPES, PROTECTED)
    query = bb.Query(dict(list(targets.items())[: one.targets[1] or 2]), attributes)
    options = {"neighbours": 5} if name == "nbm" else {}

    def of(kv):
        found = bb.metric(name, kv, query, twins=twins, **options)
        return found.reason or found.value

    return of


def debiased(method, **options):
    def of(kv):
        after = bb.debias(kv, method, **options)
        return bb.debias(after, method, **options).vectors - after.vectors[:, :1], after.vectors

    return of


def before_and_after(kv):
    tables = bb.distance_tables({"before": PLAIN, "after": kv}, LISTS)
    return bb.compare(tables).table().select_dtypes("number").drop(columns=["p_closer", "p_shrank", "p_reversed"])


ANSWERS = {
    **{f"{name} {twins}": measured(name, twins) for name in ("weat", "rnsb", "ripa") for twins in ("once", "keep")},
    "weat's test": lambda kv: bb.metric("weat", kv, bb.Query(STEREOTYPES, PROTECTED), p_value=True).p_value,
    "debias hard, equalised": debiased("hard", definitional=PAIRS, equalize=PAIRS),
    "debias leace": debiased("leace", definitional=PROTECTED),
    "distance_table": lambda kv: bb.distance_table(kv, LISTS)["distance"],
    "fit": lambda kv: bb.contrasts(bb.fit(bb.distance_table(kv, LISTS))).select_dtypes("number"),
    "compare": before_and_after,
    "axis": lambda kv: bb.axis(kv, PAIRS, OWN["m"]).table()[["mean", "sd", "p_positive", "p_above_next"]],
    "audit": lambda kv: bb.audit(kv, PAIRS).table(called=False).sort_values("word")["mean"],
    "scores": lambda kv: bb.reliability.bias_scores([kv, PLAIN], OWN["m"], PAIRS, neighbours=5, twins="keep").values,
}


def outcome(answer, kv):
    """Numbers, or the words of a refusal or a reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = answer(kv)
        except bb.InputError as error:
            return str(error)
    return found if isinstance(found, str) else np.concatenate([np.ravel(part) for part in np.atleast_1d(found)])


@pytest.mark.parametrize("sets", SETS)
def test_equal_but_for_rounding_is_equal(sets):
    """A factor of 1 + 1e-8 changes no answer of any function that subtracts vectors: no number, reason or refusal."""
    for name, answer in ANSWERS.items():
        equal, rounded = (outcome(answer, embedding(SETS[sets], noise)) for noise in (0.0, 1e-8))
        assert type(rounded) is type(equal), (name, equal, rounded)
        if isinstance(equal, str):
            assert rounded == equal, name
            assert "Error" not in rounded, name
        else:
            np.testing.assert_allclose(rounded, equal, atol=0.02, err_msg=name)


@pytest.fixture(scope="module")
def once(slice_vectors):
    return bb.debias(slice_vectors, "project", definitional=[("he", "she")])


def test_debiased_pairs_have_nothing_left_to_remove(once):
    twice = bb.debias(once, "hard", definitional=[("he", "she")])
    np.testing.assert_array_equal(twice.vectors, once.vectors)
    record = twice.bayesbias_debiasing
    assert (record.neutralized, len(record.subspace)) == (0, 0)
    assert [note.code for note in record.notes] == ["nothing-removed"]


def test_attribute_words_that_were_debiased_have_no_effect(once):
    targets = {"x": ["nurse", "librarian", "dancer"], "y": ["lawyer", "manager", "engineer"]}
    both = bb.Query(targets, {"m": ["he"], "f": ["she"]})
    size = bb.metric("weat_effect_size", once, both)
    each = bb.metric("wefat", once, bb.Query({"x": targets["x"]}, both.attributes))
    assert np.isnan([size.value, each.value]).all()
    assert "no spread" in size.reason
    assert "no spread" in each.reason
    assert ["he (m) = she (f)"] in [note.numbers["words"] for note in size.notes if note.code == "copies-between"]
    tested = bb.metric("weat", once, both, p_value=True)
    assert (tested.value, tested.p_value) == (0, 1)
