"""Places of words in sentences would have intervals that forget the choice of templates."""

from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import unit_rows
from bayesbias.vectors.contextual import ContextVectors

DIMS = 20
PAIRS = [("n0", "p0"), ("n1", "p1"), ("n2", "p2"), ("n3", "p3")]
WORDS = [f"w{i}" for i in range(40)]
VOCABULARY = [f"v{i}" for i in range(200)]
EVERY = [*WORDS, *(word for pair in PAIRS for word in pair)]


def own_vectors(seed):
    """Vectors of words, and of pairs that one direction opposes."""
    rng = np.random.default_rng([seed, 1])
    own = dict(zip([*EVERY, *VOCABULARY], rng.standard_normal((len(EVERY) + len(VOCABULARY), DIMS)), strict=True))
    opposition = rng.standard_normal(DIMS)
    for negative, positive in PAIRS:
        middle, apart = own[negative], own[positive]
        own[negative], own[positive] = middle - 1.5 * opposition, middle + 1.5 * opposition + 0.3 * apart
    return own


def drawn(own, count, rng, vocabulary=VOCABULARY):
    """Words in templates that turn all vectors, beside what is of a word and a template alone."""
    own = {word: vector for word, vector in own.items() if word in EVERY or word in vocabulary}
    vectors = np.stack(list(own.values()))
    turns = rng.standard_normal((count, DIMS, DIMS)) / np.sqrt(DIMS)
    inside = vectors + 0.5 * vectors @ turns + 0.3 * rng.standard_normal((count, *vectors.shape))
    rows = np.moveaxis(inside, 0, 1).reshape(-1, DIMS).astype(np.float32)
    return ContextVectors(
        words=tuple(own),
        vocabulary=tuple(vocabulary),
        templates=tuple(f"t{i}" for i in range(count)),
        word=np.repeat(np.arange(len(own)), count),
        template=np.tile(np.arange(count), len(own)),
        vectors=rows,
        texts=("",) * len(rows),
        pieces=None,
        encoder="planted",
        representation="sentence",
        source="planted",
    )


def encoded(count, vocabulary=VOCABULARY):
    return drawn(own_vectors(0), count, np.random.default_rng(7), vocabulary)


@cache
def over_many_templates(seed):
    """Vectors of words, their places over 200 templates, and the generator that drew these."""
    own, rng = own_vectors(seed), np.random.default_rng([seed, 2])
    return own, bb.axis(drawn(own, 200, rng), PAIRS, words=WORDS).places, rng


def places(vectors, words, weights, centre):
    """Places by hand, from means over templates with weights."""
    place = {word: i for i, word in enumerate(vectors.words)}
    units = unit_rows(np.einsum("wtd,t->wd", vectors.units().astype(float), weights))
    offset = np.mean([units[place[b]] - units[place[a]] for a, b in PAIRS], axis=0)
    rows = [place[word] for word in words]
    base = {"vocabulary": units, "words": units[rows], None: np.zeros_like(units)}[centre].mean(axis=0)
    return (units[rows] - base) @ offset


@pytest.fixture(scope="module")
def vectors():
    return encoded(6)


@pytest.fixture(scope="module")
def on(vectors):
    return bb.axis(vectors, PAIRS, words=WORDS)


def templates_alone(axis):
    """An axis whose only error is that of templates."""
    none = np.zeros_like(axis.offset.opposition)
    return replace(axis, offset=replace(axis.offset, opposition=none, pairs=none))


class TestPlaces:
    @pytest.mark.parametrize(("centre", "size"), [("vocabulary", 200), ("words", 72), (None, 200)])
    def test_they_are_those_of_means_over_templates(self, centre, size):
        few = encoded(5, vocabulary=VOCABULARY[:size])
        on = bb.axis(few, PAIRS, words=WORDS, centre=centre)
        np.testing.assert_allclose(on.places, places(few, WORDS, np.full(5, 0.2), centre), atol=1e-6)

    @pytest.mark.parametrize("centre", ["vocabulary", "words", None])
    def test_what_a_template_changes_is_a_derivative(self, vectors, centre):
        on, step = bb.axis(vectors, PAIRS, words=WORDS, centre=centre), 1e-4
        for template in range(6):
            weights = np.full(6, 1 / 6)
            weights[template] += step
            more = places(vectors, WORDS, weights, centre)
            weights[template] -= 2 * step
            slope = (more - places(vectors, WORDS, weights, centre)) / (2 * step)
            np.testing.assert_allclose(on.templates.placed.places[template], slope, atol=1e-5)


class TestErrors:
    def test_variances_of_axis_and_templates_add_up(self, vectors, on):
        alone = bb.axis(vectors.mean_vectors(), PAIRS, words=WORDS)
        table, plain = on.table(order=False), alone.table(order=False)
        np.testing.assert_allclose(table["mean"], plain["mean"], atol=1e-9)
        added = on.templates.placed.variances()
        assert (added > 0).all()
        np.testing.assert_allclose(table["sd"] ** 2, plain["sd"] ** 2 + added)
        np.testing.assert_allclose(on.covariance().diagonal(), table["sd"] ** 2)
        assert (np.linalg.eigvalsh(on.covariance()) > 0).all()

    def test_contrasts_and_steps_are_those_of_the_covariance(self, on):
        covariance = on.covariance()
        row = on.contrast(WORDS[:4], WORDS[10:12]).iloc[0]
        signs = np.zeros(len(WORDS))
        signs[:4], signs[10:12] = 1 / 4, -1 / 2
        assert row["sd"] ** 2 == pytest.approx(signs @ covariance @ signs)
        steps = [covariance[i, i] + covariance[j, j] - 2 * covariance[i, j] for i, j in pairwise(range(len(WORDS)))]
        inside = on.templates.placed.of_steps() + np.diff(on.coordinates, axis=0) ** 2 @ on.offset.opposition
        np.testing.assert_allclose(inside, steps)

    @pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.slow)])
    def test_places_over_many_templates_are_inside(self, count):
        words, lists = [], []
        for seed in range(10):
            own, true, rng = over_many_templates(seed)
            on = templates_alone(bb.axis(drawn(own, count, deepcopy(rng)), PAIRS, words=WORDS))
            table = on.table(order=False)
            words += ((table["low"] <= true) & (true <= table["high"])).tolist()
            for begin in range(0, 40, 8):
                row = on.contrast(WORDS[begin : begin + 4], WORDS[begin + 4 : begin + 8]).iloc[0]
                contrast = true[begin : begin + 4].mean() - true[begin + 4 : begin + 8].mean()
                lists.append(row["low"] <= contrast <= row["high"])
        assert 0.83 < np.mean(words) < 0.95
        assert 0.8 < np.mean(lists) < 0.98

    def test_further_pairs_and_templates_have_tails_of_both(self, on):
        row = on.table(population="pairs", order=False).iloc[0]
        reach = (row["high"] - row["mean"]) / row["sd"]
        normal = on.table(order=False).iloc[0]
        assert reach > (normal["high"] - normal["mean"]) / normal["sd"] > 1.598


UNKNOWING = r"does not know the choice of templates.*mean_vectors\(\)"


class TestWords:
    def test_one_template_tells_nothing_of_others(self, on):
        assert on.header()["templates"] == 6
        single = encoded(1)
        one, plain = (bb.axis(vectors, PAIRS, words=WORDS) for vectors in (single, single.mean_vectors()))
        np.testing.assert_array_equal(one.table()[["mean", "sd", "low"]], plain.table()[["mean", "sd", "low"]])
        np.testing.assert_array_equal(one.contrast(["w1"], ["w2"])["sd"], plain.contrast(["w1"], ["w2"])["sd"])
        alone = {"what": "scatter of templates", "reason": "there is one template"}
        assert [note.numbers for note in one.notes if note.code == "no-value"] == [alone]

    def test_what_does_not_know_templates_is_refused(self, vectors, on):
        for asked, message in (
            (lambda: bb.audit(vectors, PAIRS), UNKNOWING),
            (lambda: bb.criterion(on, {word: float(i) for i, word in enumerate(WORDS)}), UNKNOWING),
            (lambda: bb.axis(replace(vectors, templates=()), PAIRS), r"sentences of a corpus.*mean_vectors\(\)"),
            (lambda: bb.axis(encoded(3, vocabulary=VOCABULARY[:20]), PAIRS), "a larger vocabulary"),
        ):
            with pytest.raises(InputError, match=message):
                asked()
