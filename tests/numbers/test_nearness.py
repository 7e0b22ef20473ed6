"""Intervals would hold for random lists and be too narrow for lists that lie where stereotypes do."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde

import bayesbias as bb
from bayesbias.numerics.arrays import unit_rows
from bayesbias.numerics.related import density_ratio, effective_size, flattened, near_weights
from bayesbias.vectors import lookup

GLOVE = "glove-50d-slice"


@pytest.fixture(scope="module")
def glove():
    return bb.load_embedding(GLOVE)


@pytest.fixture(scope="module")
def related(glove):
    return bb.relatedness(glove, "gender")


@pytest.fixture(scope="module")
def google(slice_vectors):
    return bb.relatedness(slice_vectors, "gender")


def nearness(kv, found, words):
    """Products of words' unit vectors with the mean unit vector of the protected words."""
    towards = unit_rows(kv[list(found.protected_words)]).mean(axis=0)
    return unit_rows(kv[list(words)]) @ towards


def stereotypes(found):
    return [words for _, kind, words in found.lists if kind == "stereotype"]


class TestWeights:
    def test_the_ratio_is_that_of_two_kernel_densities(self):
        rng = np.random.default_rng(0)
        vocabulary, lists = rng.normal(size=800), [rng.normal(1, 0.4, 7), rng.normal(2, 0.3, 30)]
        at = np.linspace(-1, 2.5, 9)
        width = 0.3 * vocabulary.std()
        kernel = lambda points: gaussian_kde(points, width / points.std(ddof=1))  # noqa: E731
        expected = np.mean([kernel(words)(at) for words in lists], axis=0) / kernel(vocabulary)(at)
        np.testing.assert_allclose(density_ratio(at, vocabulary, lists), np.minimum(expected, 20), rtol=0.01)

    def test_weights_move_a_sample_to_the_lists_and_are_worth_a_hundred_words(self):
        rng = np.random.default_rng(1)
        sample, lists = rng.normal(size=3000), [rng.normal(1.2, 0.5, 40)]
        weights = near_weights(sample, lists)
        assert weights.mean() == pytest.approx(1)
        assert weights @ sample / 3000 == pytest.approx(lists[0].mean(), abs=0.1)
        few = near_weights(sample, [np.full(5, 3.2)])
        assert effective_size(few) < 100 < effective_size(flattened(few)) < 140
        assert flattened(few).mean() == pytest.approx(1)
        assert effective_size(flattened(near_weights(sample[:30], lists))) == pytest.approx(30)


class TestSample:
    def test_the_sample_is_as_near_as_the_stereotypes_and_stands_for_the_vocabulary(self, glove, related):
        at = nearness(glove, related, related.sample_words)
        real = np.mean([nearness(glove, related, words).mean() for words in stereotypes(related)])
        # the sample of the same table without stereotypes: as frequent as the stereotypes, and anywhere
        lists = bb.load_words("gender")
        rows = [
            np.array([glove.key_to_index[w] for w in words if w in glove])
            for part in (lists.stereotypes, lists.controls)
            for words in part.values()
        ]
        waiting = lookup.waiting_words(glove.index_to_key, set(lists.every_word()), 3000, 0, rows)
        assert waiting.kind == related.kind == "ranks"
        plain = nearness(glove, related, [glove.index_to_key[row] for row in waiting.rows[:3000].tolist()])
        spread = plain.std()
        assert abs(at.mean() - real) < 0.4 * spread
        assert abs(plain.mean() - real) > spread
        assert related.near_weights @ at / 3000 == pytest.approx(real, abs=0.1 * spread)
        assert related.everywhere_weights @ at / 3000 == pytest.approx(plain.mean(), abs=0.12 * spread)

    def test_words_are_drawn_in_proportion_to_their_factors(self):
        """Shares over many seeds are the probabilities from which the weights come."""
        words = [f"w{i}" for i in range(2000)]
        factors = np.where(np.arange(2000) < 200, 8.0, 0.5)
        share, inverse = [], []
        for seed in range(40):
            waiting = lookup.waiting_words(words, set(), 300, seed)
            chosen, weights = waiting.redrawn(factors[waiting.rows], 300)
            rows = waiting.rows[chosen]
            share.append((rows < 200).mean())
            inverse.append(weights[rows < 200].sum() / weights.sum())
        # 200 words of rate 8 and 1800 of rate 1/2: expected share by the time at which 300 are drawn
        time = next(t for t in np.linspace(0, 2, 4001) if 200 * -np.expm1(-8 * t) + 1800 * -np.expm1(-t / 2) >= 300)
        assert np.mean(share) == pytest.approx(200 * -np.expm1(-8 * time) / 300, abs=0.01)
        assert np.mean(inverse) == pytest.approx(0.1, abs=0.02)


class TestTopics:
    def test_random_lists_are_as_near_as_the_stereotypes(self, glove, related):
        null = bb.topic_null(glove, "gender", replicates=30, seed=1)
        everywhere = nearness(glove, related, glove.index_to_key[:20_000])
        near, sd = everywhere.mean() + 0.5 * everywhere.std(), everywhere.std()
        for name, kind, words in related.lists:
            drawn = [nearness(glove, related, null.lists(at)[name]).mean() for at in range(30)]
            if kind == "stereotype":
                assert np.mean(drawn) == pytest.approx(nearness(glove, related, words).mean(), abs=0.5 * sd)
                assert np.mean(drawn) > near
            elif name == "neutral":  # control lists are random topics of the whole vocabulary
                assert np.mean(drawn) < near


def test_what_a_method_removes_is_as_uncertain_as_what_was_there(slice_vectors):
    """Words are as similar as before debiasing: what was taken off their vectors is what made them alike."""
    after = bb.debias(slice_vectors, "hard", definitional="gender_pairs")
    tables = bb.distance_tables({"before": slice_vectors, "after": after}, "gender")
    alone = bb.contrasts(bb.fit(tables["before"], seed=0)).iloc[0]
    compared = bb.compare(**tables, seed=0)
    change = compared.changes().iloc[0]
    # hardly anything is left: the change is the contrast as it was
    assert abs(change["mean"] + alone["mean"]) < 0.002
    assert change["sd"] == pytest.approx(alone["sd"], rel=0.05)
    assert "undercoverage" not in {note.code for note in compared.notes}
