"""Debiased vectors would keep, or gain, what a method says that it removes."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

import bayesbias as bb
from bayesbias import debiasing, numerics
from bayesbias.vectors.debiasing.methods import equalised

SIZE = 30
PAIRS = [(f"m{at}", f"f{at}") for at in range(12)]
GROUPS = {"m": [pair[0] for pair in PAIRS], "f": [pair[1] for pair in PAIRS]}
DEFINED = {
    "project": {"definitional": PAIRS},
    "hard": {"definitional": PAIRS, "equalize": PAIRS[:4]},
    "hard_multiclass": {"definitional": PAIRS, "components": 1},
    "soft": {"definitional": PAIRS},
    "half_sibling": {"definitional": PAIRS},
    "null_space": {"definitional": GROUPS},
    "leace": {"definitional": GROUPS},
}


@pytest.fixture(scope="module")
def kv():
    """Pairs that differ along the first axis, and 300 words that lean to either side of it."""
    rng = np.random.default_rng(0)
    vectors = {}
    for first, second in PAIRS:
        shared = rng.normal(size=SIZE)
        shared[0] = 0
        for word, sign in ((first, 1), (second, -1)):
            vectors[word] = shared + 0.1 * rng.normal(size=SIZE) + 4 * sign * np.eye(SIZE)[0]
    for at in range(300):
        vectors[f"w{at}"] = rng.normal(size=SIZE) * (1 + at / 100)
    return embedding(vectors, np.array(list(vectors.values())))


def embedding(words, vectors):
    made = KeyedVectors(vectors.shape[1])
    made.add_vectors(list(words), vectors.astype(np.float32))
    return made


@pytest.fixture(scope="module")
def unit(kv):
    """A function from a word to its vector, of length 1."""
    return lambda word: kv.get_vector(word, norm=True).astype(float)


@pytest.fixture(scope="module")
def debiased(kv):
    """A function from a method to the vectors that it makes of the planted ones."""
    return cache(lambda method: bb.debias(kv, method, **DEFINED[method]))


@pytest.mark.parametrize("method", ["hard", "soft", "half_sibling", "leace"])
def test_a_new_embedding_of_unit_vectors_comes_with_a_record(kv, debiased, method):
    before = kv.vectors.copy()
    after = bb.debias(kv, method, **DEFINED[method])
    np.testing.assert_array_equal(kv.vectors, before)
    assert after.index_to_key == kv.index_to_key
    lengths = np.linalg.norm(after.vectors.astype(float), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    np.testing.assert_allclose(after.norms, lengths, atol=1e-6)
    record = after.bayesbias_debiasing
    assert (record.method, dict(record.options)) == (method, DEFINED[method])
    assert record.subspace.shape == (0 if method == "half_sibling" else len(record.subspace), SIZE)
    np.testing.assert_allclose(record.subspace @ record.subspace.T, np.eye(len(record.subspace)), atol=1e-10)
    np.testing.assert_array_equal(debiased(method).vectors, after.vectors)


@pytest.mark.parametrize("method", ["project", "hard_multiclass", "null_space"])
def test_nothing_is_left_along_the_subspace(kv, unit, debiased, method):
    after = debiased(method)
    record = after.bayesbias_debiasing
    words = [word for word in kv.index_to_key if word.startswith("w")]
    along = np.stack([after[word] for word in words]) @ record.subspace.T
    assert np.abs(along).max() < 1e-6
    if method != "null_space":
        # the planted axis is the first; what is left of a word points where it pointed off it
        assert abs(record.subspace[0, 0]) > 0.99
        left = unit("w5") - unit("w5") @ record.subspace[0] * record.subspace[0]
        np.testing.assert_allclose(after["w5"], left / np.linalg.norm(left), atol=1e-6)


def test_equalised_words_are_as_near_to_every_neutral_word(debiased):
    after = debiased("hard")
    neutral = np.stack([after[f"w{at}"] for at in range(300)]).astype(float)
    for first, second in PAIRS[:4]:
        np.testing.assert_allclose(neutral @ after[first], neutral @ after[second], atol=1e-6)
        assert after[first] @ after[second] < 0.9
    assert after.bayesbias_debiasing.equalized == tuple(PAIRS[:4])


def test_two_words_equalised_by_hand():
    """Unit vectors (.8, .6, 0) and (0, 0, 1): their mean off the first axis is (0, .3, .5)."""
    found = equalised(np.array([[0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]), np.array([[1.0, 0.0, 0.0]]))
    inside = np.sqrt(1 - 0.09 - 0.25)
    np.testing.assert_allclose(found, [[inside, 0.3, 0.5], [-inside, 0.3, 0.5]])


def test_principal_directions_by_hand():
    """Sets that spread 2 along one axis and 1 along another, wherever they stand."""
    sets = [np.array([[1.0, 5, 0], [-1, 5, 0]]), np.array([[3.0, 0.5, 1], [3, -0.5, 1]])]
    directions, shares = numerics.arrays.principal_directions(sets)
    np.testing.assert_allclose(np.abs(directions), [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(shares, [0.8, 0.2, 0], atol=1e-12)


def test_the_last_set_of_a_word_decides_or_the_sets_follow_one_another(kv):
    sets = [("m0", "f0"), ("m0", "f1"), *PAIRS[2:]]
    one, other = (
        bb.debias(kv, "hard_multiclass", definitional=sets, components=1, order=order)
        for order in ("simultaneous", "sequential")
    )
    assert np.abs(one["f1"] - other["f1"]).max() > 1e-3
    np.testing.assert_allclose(one["m5"], other["m5"], atol=1e-6)
    alone = bb.debias(kv, "hard_multiclass", definitional=sets, equalize=[("m0", "f1")], components=1)
    np.testing.assert_allclose(one["m0"], alone["m0"], atol=1e-6)


def test_only_some_words_are_changed(kv, unit):
    spared = bb.debias(kv, "project", definitional=PAIRS, ignore=["w1", "gone"])
    np.testing.assert_allclose(spared["w1"], unit("w1"), atol=1e-6)
    assert spared.bayesbias_debiasing.neutralized == len(kv) - 1
    (note,) = spared.bayesbias_debiasing.notes
    assert (note.numbers["count"], note.numbers["total"], note.numbers["words"]) == (1, 2, ["gone"])
    few = bb.debias(kv, "project", definitional=PAIRS, neutralize=["w1", "w2"])
    np.testing.assert_allclose(few["w3"], unit("w3"), atol=1e-6)
    assert few.bayesbias_debiasing.neutralized == 2


def test_a_set_that_lacks_a_word_is_dropped_as_a_whole(kv):
    after = bb.debias(kv, "hard_multiclass", definitional=[*PAIRS, ("m0", "gone", "f1")], components=1)
    record = after.bayesbias_debiasing
    assert record.sets == tuple(PAIRS)
    (note,) = record.notes
    assert (note.code, note.numbers["total"], note.numbers["words"]) == ("left-out", 13, ["m0/gone/f1 (no gone)"])
    np.testing.assert_array_equal(
        after.vectors, bb.debias(kv, "hard_multiclass", definitional=PAIRS, components=1).vectors
    )


class TestSoft:
    @pytest.fixture(scope="class")
    @classmethod
    def parts(cls):
        rng = np.random.default_rng(1)
        unit = rng.normal(size=(60, 6))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        directions = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
        return unit.T @ unit, unit[:40].T @ unit[:40], directions

    @pytest.mark.parametrize(("every_word", "strength"), [(True, 0.2), (False, 5.0)])
    def test_the_objective_is_at_its_minimum(self, parts, every_word, strength, monkeypatch):
        gram, some, directions = parts
        neutral = gram if every_word else some
        matrix, trace, gradient = debiasing.methods.softened(gram, neutral, directions, strength)

        def objective(flat):
            inner = flat.reshape(6, 6).T @ flat.reshape(6, 6)
            off = inner - np.eye(6)
            seen = inner @ directions.T
            return np.trace(gram @ off @ gram @ off) + strength * np.trace(seen.T @ neutral @ seen)

        first = objective(np.eye(6).ravel())
        assert gradient < 1e-6
        assert (np.diff(trace) <= 1e-12).all()
        assert trace[0] == 1
        assert trace[-1] == pytest.approx(objective(matrix.ravel()) / first, rel=1e-9)

        def slopes(flat):
            return [(objective(flat + step) - objective(flat - step)) / 2e-5 / first for step in 1e-5 * np.eye(36)]

        assert np.abs(slopes(matrix.ravel())).max() < 1e-6
        if not every_word:  # the gradient is told where the minimum is not reached
            monkeypatch.setattr(debiasing.methods, "cg", lambda operator, target, x0, **_: (x0, 0))
            matrix, _, gradient = debiasing.methods.softened(gram, neutral, directions, strength)
            assert gradient == pytest.approx(np.linalg.norm(slopes(matrix.ravel())), rel=1e-5)

    def test_a_strong_one_is_a_projection_where_the_subspace_is_planted(self):
        """Every word has a mirror image across the subspace: there T is sqrt(m / (m + strength))."""
        rng = np.random.default_rng(3)
        half = rng.normal(size=(200, 8))
        unit = np.vstack([half, half * np.array([-1, -1, *[1] * 6])])
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        gram, directions = unit.T @ unit, np.eye(8)[:2]
        values = np.linalg.eigvalsh(gram[:2, :2])
        for strength in (1e2, 1e6, 1e12):
            found, *_ = debiasing.methods.softened(gram, gram, directions, strength)
            np.testing.assert_allclose(np.linalg.eigvalsh(found[:2, :2]), np.sqrt(values / (values + strength)))
            np.testing.assert_allclose(found[2:, 2:], np.eye(6), atol=1e-9)
            np.testing.assert_allclose(found[:2, 2:], 0, atol=1e-9)
        weak, *_ = debiasing.methods.softened(gram, gram, directions, 1e-10)
        np.testing.assert_allclose(weak, np.eye(8), atol=1e-9)


def test_what_group_words_predict_is_gone(kv, unit):
    after = bb.debias(kv, "half_sibling", definitional=PAIRS, penalty=1e-12)
    group = kv[[word for pair in PAIRS for word in pair]].astype(float)
    others = after[[f"w{at}" for at in range(300)]].astype(float)
    assert np.abs(others @ group.T).max() < 1e-4
    np.testing.assert_allclose(after["m0"], unit("m0"), atol=1e-6)
    assert after.bayesbias_debiasing.neutralized == 300
    # by hand: one predictor d, one word x: x - d (d.x) / (|d|^2 + penalty)
    one = bb.debias(kv, "half_sibling", definitional=[["m0"]], penalty=2.0)
    d, x = unit("m0"), unit("w7")
    left = x - d * (d @ x) / 3
    np.testing.assert_allclose(one["w7"], left / np.linalg.norm(left), atol=1e-6)


def test_a_group_that_a_classifier_found_is_found_no_more(kv, debiased, monkeypatch):
    after = debiased("null_space")
    trace, labels = after.bayesbias_debiasing.trace, np.repeat([0, 1], 12)
    vectors = after[[*GROUPS["m"], *GROUPS["f"]]].astype(float)
    assert trace[0] == 1
    assert trace[-1] <= 0.5 + np.sqrt(0.25 / 24)
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    assert cross_val_score(LogisticRegression(C=10.0), vectors, labels, cv=folds).mean() < 0.75
    stopped = bb.debias(kv, "null_space", definitional=GROUPS, iterations=1).bayesbias_debiasing
    assert stopped.tables()["Steps"]["value"].tolist() == stopped.trace.tolist() == trace[:2].tolist()
    monkeypatch.setattr("sklearn.model_selection.cross_val_score", lambda *_, **__: np.array([0.9]))
    (note,) = bb.debias(kv, "null_space", definitional=GROUPS, iterations=2).bayesbias_debiasing.notes
    assert (note.code, note.numbers["value"], note.numbers["steps"]) == ("not-converged", 0.9, 2)


class TestLeace:
    """Least-squares concept erasure."""

    @pytest.fixture(params=[2, 3])
    def oracle(self, request):
        """Words of some groups, and what the program of Belrose et al. (2023), concept-erasure 0.2.4, makes of them."""
        table = pd.read_csv(Path(__file__).parents[1] / "data" / "leace.csv")
        count = request.param
        vectors = table.filter(regex="^x").to_numpy()
        program = table.filter(like=f"erased of {count}").to_numpy()
        return vectors, table[f"group of {count}"].to_numpy(), program

    def test_an_embedding_is_erased_as_by_the_program(self, oracle):
        vectors, labels, program = oracle
        words = np.array([f"w{number}" for number in range(len(vectors))])
        groups = {str(group): words[labels == group].tolist() for group in np.unique(labels)}
        after = bb.debias(embedding(words, vectors), "leace", definitional=groups)
        lengths = np.linalg.norm(program, axis=1, keepdims=True)
        np.testing.assert_allclose(after.vectors, program / lengths, atol=1e-6)
        # all words have one value along the subspace but for their new lengths
        along = program @ after.bayesbias_debiasing.subspace.T
        np.testing.assert_allclose(along, np.broadcast_to(along[0], along.shape), atol=1e-10)
        assert len(after.bayesbias_debiasing.subspace) == len(groups) - 1

    def test_words_that_are_spared_stay_and_the_others_do_not_see_it(self, kv, unit, debiased):
        some = bb.debias(kv, "leace", definitional=GROUPS, ignore=["w1", "m0"])
        np.testing.assert_allclose(some["w1"], unit("w1"), atol=1e-6)
        np.testing.assert_array_equal(some["w2"], debiased("leace")["w2"])
        assert some.bayesbias_debiasing.neutralized == len(kv) - 2

    def test_equal_means_leave_everything(self):
        made = embedding("abcdef", np.vstack([np.eye(3), np.eye(3)]))
        after = bb.debias(made, "leace", definitional={"first": list("abc"), "second": list("def")})
        np.testing.assert_allclose(after.vectors, made.vectors, atol=1e-6)
        (note,) = after.bayesbias_debiasing.notes
        assert (note.code, note.numbers) == ("nothing-removed", {"reason": "equal means of groups"})
        assert after.bayesbias_debiasing.neutralized == 0


@pytest.mark.parametrize("method", ["leace", "project"])
def test_pairs_are_groups_and_groups_are_pairs(kv, method):
    """Methods of groups take the places of pairs for groups; methods of sets take groups word by word."""
    groups = dict(zip(("first", "second"), (list(words) for words in zip(*PAIRS, strict=True)), strict=True))
    of_pairs, of_groups = (bb.debias(kv, method, definitional=given) for given in (PAIRS, groups))
    np.testing.assert_array_equal(of_pairs.vectors, of_groups.vectors)


WRONG = [
    ("hart", {}, r"there is no method 'hart' \(did you mean 'hard'\?\): valid are project, hard"),
    ("hard", {}, "hard needs the option 'definitional': it takes definitional, equalize"),
    ("hard", {"definitional": PAIRS, "pairs": 1}, "hard has no option 'pairs'"),
    ("hard", {"definitional": ["he", "she"]}, "a set of definitional is 'he': give a list of words"),
    ("hard", {"definitional": [("x", "y")]}, "the embedding holds no set with all its words"),
    ("hard_multiclass", {"definitional": PAIRS[:2], "components": 3}, "these sets differ in at most 2 directions"),
    ("project", {"subspace": np.eye(SIZE)}, "left nothing of any word: 30 directions"),
    ("null_space", {"definitional": {"m": ["m0", "m1"], "f": ["m0", "f1"]}}, "that are in no other group"),
]


@pytest.mark.parametrize(("method", "options", "message"), WRONG)
def test_what_cannot_be_done_is_refused(kv, method, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.debias(kv, method, **options)


def test_pairs_to_equalise_that_share_a_word_are_named(kv):
    """They are equal to all neutral words, as many as the record says, and the others are not."""
    sets = [("m1", "f0"), ("m3", "f3"), ("m2", "f0")]
    for method, options in (("hard", {}), ("hard_multiclass", {"components": 1})):
        after = bb.debias(kv, method, definitional=PAIRS, equalize=sets, **options)
        neutral = np.stack([after[f"w{at}"] for at in range(300)])
        apart = [np.abs(neutral @ (after[first] - after[second])).max() for first, second in sets]
        assert [distance < 1e-5 for distance in apart] == [False, True, True]
        (note,) = after.bayesbias_debiasing.notes
        assert (note.numbers["count"], note.numbers["total"], note.numbers["words"]) == (1, 3, ["f0"])


def test_an_axis_or_its_name_stands_for_its_pairs():
    axis = bb.axis("glove-50d-slice", "affluence", words=["nurse"])
    pairs = list(axis.poles.poles.pairs)
    assert pairs[:2] == [("poor", "rich"), ("poorer", "richer")]
    found = [bb.debias("glove-50d-slice", "hard", definitional=given) for given in (pairs, axis, "affluence")]
    for one in found[1:]:
        np.testing.assert_array_equal(one.vectors, found[0].vectors)
    assert found[1].bayesbias_debiasing.options == {"definitional": pairs}


@pytest.mark.parametrize("method", ["hard", "leace"])
def test_the_record_is_kept_in_npz_files(debiased, method, tmp_path):
    after = debiased(method)
    bb.save_embedding(after, tmp_path / "after.npz")
    for back in (
        bb.load_embedding(tmp_path / "after.npz"),
        bb.load_embedding(tmp_path / "after.npz", words=["m0", "w3"]),
        bb.load_embedding(bb.load_embedding(tmp_path / "after.npz"), words=["m0", "w3"]),
        bb.load_embedding(tmp_path / "after.npz", mmap=True),
    ):
        records = [kv.bayesbias_debiasing for kv in (back, after)]
        one, other = map(debiasing.methods.recorded, records)
        assert one == other
        np.testing.assert_array_equal(records[0].subspace, records[1].subspace)
        assert back.bayesbias_name == f"unnamed ({method})"
        assert bb.cite(back).text() == bb.cite(after).text()


def test_source_and_doi_are_kept_in_npz_files(tmp_path, slice_vectors):
    given = bb.load_embedding({"he": [1.0, 0.0], "she": [0.0, 1.0]}, source="Doe (2020)", doi="10.1000/x")
    for name, kv, cited in (
        ("given", given, ("Doe (2020)", "10.1000/x")),
        ("slice", slice_vectors, ("Mikolov, Chen, Corrado and Dean (2013)", "10.48550/arXiv.1310.4546")),
    ):
        bb.save_embedding(kv, tmp_path / f"{name}.npz")
        back = bb.load_embedding(tmp_path / f"{name}.npz")
        work = bb.cite(back).used[-1]
        assert work.what == f"embedding {name}.npz"
        assert work.doi == cited[1]
        assert name == "slice" or work.source == cited[0]
        assert not hasattr(back, "bayesbias_debiasing")
