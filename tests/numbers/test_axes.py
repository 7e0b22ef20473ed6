"""Words would stand in wrong places between opposites, with intervals that are too narrow or too wide."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import chi2, norm, t

import bayesbias as bb
from bayesbias.axes.poles import find_poles
from bayesbias.errors import InputError
from bayesbias.numerics.constants import FACTOR_MEDIAN as MEDIAN
from bayesbias.numerics.constants import FACTOR_SPREAD as SPREAD
from bayesbias.numerics.constants import STEP
from bayesbias.numerics.offsets import (
    LEAST,
    _squared_factors,
    signal,
)
from bayesbias.numerics.related import MIDDLES
from bayesbias.vectors.poles import poles_of

PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl")]
WORDS = ["nurse", "captain", "actress", "banker", "poet"]
REACH = norm.ppf(0.945)


@pytest.fixture(scope="module")
def glove():
    return bb.load_embedding("glove-50d-slice")


@pytest.fixture(scope="module")
def gender(glove):
    return bb.axis(glove, "gender_pairs")


@pytest.fixture(scope="module")
def affluence(glove):
    return bb.axis(glove, "affluence")


def test_an_axis_by_name_is_that_of_its_own_pairs(glove):
    """Words of pairs that are left out were kept out of the sample of the vocabulary: sds moved by up to 1.3%."""
    named = bb.axis(glove, "education", words=WORDS)
    own = bb.axis(glove, list(named.poles.pairs), words=WORDS)
    assert len(named.poles.keys) > len(own.poles.keys)
    columns = ["mean", "sd", "low", "high", "pairs_sd"]
    pd.testing.assert_frame_equal(own.table()[columns], named.table()[columns], rtol=1e-9, atol=1e-12)


def units_of(kv, words):
    """Unit vectors of words."""
    return np.array([kv.get_vector(word, norm=True).astype(float) for word in words])


def difference(kv, word, negative, positive):
    """Mean distance to the negative words less that to the positive ones."""
    (own,), away, toward = (units_of(kv, words) for words in ([word], negative, positive))
    return (1 - away @ own).mean() - (1 - toward @ own).mean()


def kernels(field, vectors):
    """Correlations (Q, R, R) of words by loops over pairs of words."""
    apart = [vector - field.centre for vector in vectors]
    apart = [vector / np.linalg.norm(vector) for vector in apart]
    found = np.ones((len(field.variances), len(apart), len(apart)))
    for i, one in enumerate(apart):
        for j, other in enumerate(apart):
            if i != j:
                nearest = min(int((one @ other + 1) / STEP), len(MIDDLES) - 1)
                found[:, i, j] = field.correlations[:, nearest]
    return found


def scatters(kernel):
    """Expected variance of pairs (a, b), rows in the order a, b, a, b, ..., around each other: by loops."""
    count = len(kernel) // 2
    own = np.mean([2 - 2 * kernel[2 * k, 2 * k + 1] for k in range(count)])
    rest = [
        kernel[2 * k, 2 * m] + kernel[2 * k + 1, 2 * m + 1] - kernel[2 * k, 2 * m + 1] - kernel[2 * k + 1, 2 * m]
        for k in range(count)
        for m in range(count)
        if k != m
    ]
    return max(own - np.mean(rest), LEAST)


class TestPlaces:
    def test_they_are_differences_of_mean_distances(self, glove):
        negative, positive = zip(*PAIRS, strict=True)
        by_hand = np.array([difference(glove, word, negative, positive) for word in WORDS])
        plain = bb.axis(glove, PAIRS, WORDS, centre=None)
        assert np.allclose(plain.places, by_hand, atol=1e-6)
        assert plain.zero == 0
        offset = np.diff([units_of(glove, words).mean(axis=0) for words in (negative, positive)], axis=0)
        assert plain.length == pytest.approx(np.linalg.norm(offset), abs=1e-6)
        among = bb.axis(glove, PAIRS, WORDS, centre="words")
        assert np.allclose(among.places, by_hand - by_hand.mean(), atol=1e-6)
        assert among.zero == pytest.approx(by_hand.mean(), abs=1e-6)
        over = bb.axis(glove, PAIRS, WORDS)
        assert np.allclose(over.places + over.zero, by_hand, atol=1e-6)
        assert bb.axis(glove, PAIRS).places.mean() == pytest.approx(0, abs=1e-7)
        turned = bb.axis(glove, [pair[::-1] for pair in PAIRS], WORDS)
        assert np.allclose(turned.places, -over.places, atol=1e-12)
        assert np.allclose(turned.table(order=False)["sd"], over.table(order=False)["sd"])

    def test_errors_of_two_pairs_by_hand(self, glove):
        found = bb.axis(glove, PAIRS[:2], WORDS, centre=None)
        field = found.field
        vectors = units_of(glove, [word for pair in PAIRS[:2] for word in pair])
        kernel = kernels(field, vectors)
        apart = np.array([scatters(one) for one in kernel])
        single = np.array([max(np.mean([2 - 2 * one[2 * k, 2 * k + 1] for k in range(2)]), LEAST) for one in kernel])
        scatter = single * apart.sum() / single.sum()
        offsets = np.array([(vectors[2 * k + 1] - vectors[2 * k]) @ field.basis for k in range(2)])
        seen = ((offsets - offsets.mean(axis=0)) ** 2).sum(axis=0)
        observed = seen.sum()
        expected = scatter * field.variances
        # the posterior mean of the squared factor, by quadrature
        freedom = expected.sum() ** 2 / (expected**2).sum()
        ratio = observed / expected.sum()

        def density(log):
            square = np.exp(2 * log)
            return norm.pdf(log, np.log(MEDIAN), SPREAD) * chi2.pdf(ratio * freedom / square, freedom) / square

        mass = quad(density, -2, 2, limit=200, points=[0])[0]
        square = quad(lambda log: np.exp(2 * log) * density(log), -2, 2, limit=200, points=[0])[0] / mass
        assert found.offset.factor**2 == pytest.approx(square, rel=0.01)
        square = found.offset.factor**2
        assert np.allclose(
            found.offset.pairs, _squared_factors(scatter, seen / field.variances, square, 1)[0] * scatter / 2
        )
        weights = np.array([-0.5, 0.5, -0.5, 0.5])
        opposition = [max(weights @ one @ weights, own / 2) for one, own in zip(kernel, scatter, strict=True)]
        common = square * (np.array(opposition) - scatter / 2)
        assert np.allclose(found.offset.opposition, common + found.offset.pairs)
        coordinates = units_of(glove, WORDS) @ field.basis
        table, loadings = found.table(order=False), coordinates**2 * field.variances
        assert np.allclose(table["pairs_sd"], np.sqrt(loadings @ found.offset.pairs), rtol=1e-5)
        assert np.allclose(table["sd"], np.sqrt(loadings @ found.offset.opposition), rtol=1e-5)
        covariance = coordinates * field.variances * found.offset.opposition @ coordinates.T
        assert np.allclose(found.covariance("oppositions"), covariance, rtol=1e-4, atol=1e-9)
        centred = np.eye(len(WORDS)) - 1 / len(WORDS)
        among = bb.axis(glove, PAIRS[:2], WORDS, centre="words").covariance("oppositions")
        assert np.allclose(among, centred @ covariance @ centred, rtol=1e-4, atol=1e-9)

    def test_intervals_and_probabilities(self, glove):
        found = bb.axis(glove, PAIRS, WORDS)
        table, pairs, covariance = found.table(0.8), found.table(population="pairs"), found.covariance()
        assert table["mean"].is_monotonic_decreasing
        assert np.allclose(table["high"] - table["low"], 2 * norm.ppf(0.9) * table["sd"])
        assert np.allclose(table["p_positive"], norm.cdf(table["mean"] / table["sd"]))
        first, second = (found.words.index(word) for word in table["word"][:2])
        apart = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        step = table["mean"][0] - table["mean"][1]
        assert table["p_above_next"][0] == pytest.approx(norm.cdf(step / np.sqrt(apart)))
        assert np.isnan(table["p_above_next"].iloc[-1])
        tails = t(found.offset.freedom)
        assert 10 < found.offset.freedom < 100  # three pairs, a sum over 50 components
        assert np.allclose(pairs["sd"], pairs["pairs_sd"])
        assert np.allclose(pairs["high"] - pairs["low"], 2 * tails.ppf(0.945) * pairs["sd"])
        assert np.allclose(pairs["p_positive"], tails.cdf(pairs["mean"] / pairs["sd"]))
        assert np.allclose(np.diag(found.covariance("pairs")), found.table(order=False)["pairs_sd"] ** 2)

    def test_contrasts_of_two_lists_have_the_joint_error(self, glove):
        found = bb.axis(glove, PAIRS, WORDS)
        first, second = ["nurse", "actress"], ["captain", "banker", "poet"]
        weights = np.array([0.5 * (w in first) - (w in second) / 3 for w in WORDS])
        for population, tails in (("oppositions", norm), ("pairs", t(found.offset.freedom))):
            row = found.contrast(first, [*second, "zzzz"], 0.8, population=population).iloc[0]
            sd = np.sqrt(weights @ found.covariance(population) @ weights)
            assert (row["mean"], row["sd"]) == pytest.approx((weights @ found.places, sd))
            assert row["high"] - row["mean"] == pytest.approx(tails.ppf(0.9) * sd)
            assert row["p_positive"] == pytest.approx(tails.cdf(row["mean"] / sd))
            assert (row["words_a"], row["words_b"], row["missing"]) == (2, 3, "zzzz")
        with pytest.raises(InputError, match="none of the words of words_a is in"):
            found.contrast(["zzzz"], ["poet", "nurse"])

    def test_two_lists(self, glove):
        poles = {"poor": ["poor", "needy"], "rich": ["rich", "wealthy", "affluent"]}
        found = bb.axis(glove, poles, WORDS, centre=None)
        assert np.allclose(found.places, [difference(glove, word, *poles.values()) for word in WORDS], atol=1e-6)
        assert (found.ends, found.poles.pairs) == (("poor", "rich"), ())
        assert found.offset.freedom > 3
        assert [(note.code, dict(note.numbers)) for note in found.notes] == [
            ("no-value", {"what": "agreement of pairs", "reason": "two lists"})
        ]
        with pytest.raises(InputError, match="made of two lists"):
            found.pairs()
        lists = bb.WordLists("money", poles, {name: ["castle"] for name in poles})
        assert np.array_equal(bb.axis(glove, lists, WORDS, centre=None).places, found.places)

    def test_one_pair(self, glove):
        found = bb.axis(glove, PAIRS[:1], WORDS)
        assert found.offset.freedom == 0
        assert [(note.code, dict(note.numbers)) for note in found.notes] == [("pairs", {"pairs": 1, "asked": 1})]
        table, pairs = found.table(), found.pairs()
        assert np.isfinite(table[["sd", "low", "high"]].to_numpy()).all()
        assert table["pairs_sd"].isna().all()
        assert np.isnan(pairs["agreement"][0])
        assert pairs["belongs"].tolist() == [True]
        assert found.effective_pairs == pytest.approx(1)
        as_the_prior_has_it = MEDIAN**2 * np.exp(2 * SPREAD**2)
        assert found.offset.factor**2 == pytest.approx(as_the_prior_has_it, rel=0.01)

    def test_doubled_flat_and_missing_pairs_are_left_out_and_named(self):
        kv, pairs = noise(400, 6), [("w0", "w1"), ("w2", "w3")]
        twice = dict(zip(kv.index_to_key, kv.vectors, strict=True))
        twice |= {"same0": twice["w0"], "same1": 2 * twice["w1"]}
        found, plain = (bb.axis(twice, each, ["w9"]) for each in ([pairs[0], ("same0", "same1"), pairs[1]], pairs))
        assert np.allclose(found.places, plain.places, rtol=1e-12)
        assert np.allclose(found.offset.factor, plain.offset.factor, rtol=0.1)  # the samples differ by two words
        (note,) = (note for note in found.notes if note.code != "disagree")
        again = {"count": 1, "total": 3, "kind": "pairs", "reason": "the vectors of an earlier pair"}
        assert (note.code, note.numbers) == ("left-out", {**again, "words": ["same0/same1"]})
        doubled = bb.axis(twice, [pairs[0], ("same0", "same1"), pairs[1]], ["same0", "same1", "w2", "w9"])
        assert doubled.at_poles == ("same0", "same1", "w2")
        flat = bb.axis(twice, [("w0", "same0"), ("w2", "w3")], ["w9"])
        assert (flat.notes[0].numbers["reason"], flat.notes[0].numbers["words"]) == (
            "both words have one vector",
            ["w0/same0"],
        )
        lost = bb.axis(twice, [("w0", "gone"), ("w2", "w3"), ("w4", "w5")], ["w9", "absent"])
        assert (lost.poles.pairs, lost.words) == ((("w2", "w3"), ("w4", "w5")), ("w9",))
        assert {"w0/gone", "absent"} <= {word for note in lost.notes for word in note.numbers.get("words", ())}
        for kv, pairs, message in (
            (twice, [("w0", "same0")], "the two words of each have one vector"),
            (twice, {"a": ["w0"], "b": ["same0"]}, "one vector: there is nothing between"),
            (noise(60, 6), [("w0", "w1"), ("w2", "w3")], "errors of places need 100"),
        ):
            with pytest.raises(InputError, match=message):
                bb.axis(kv, pairs)

    def test_random_pairs_in_the_place_of_one_agree_as_little_as_is_said(self, glove):
        found, rng = bb.axis(glove, "affluence", ["nurse"]), np.random.default_rng(2)
        offsets, vectors = found.offset.offsets[0], np.asarray(glove.vectors, dtype=float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        first, second = rng.integers(0, len(vectors), (2, 20_000))
        kept = np.linalg.norm(vectors[first] - vectors[second], axis=1) > 1e-3
        random = found.field.offsets(vectors[first[kept]] - vectors[second[kept]])
        squares = found.field.variances**2
        table = found.pairs().set_index(["negative", "positive"])["random_agreement"]
        for i in (0, len(offsets) // 2):
            others = np.delete(offsets, i, axis=0).mean(axis=0)
            agreement = (random * others) @ squares / np.sqrt((random**2 @ squares) * (others**2 @ squares))
            assert (agreement > table[found.poles.pairs[i]]).mean() == pytest.approx(0.05, abs=0.01)

    def test_words_of_the_poles_are_not_judged(self, glove):
        pairs = [("bad", "good"), ("worst", "best"), ("terrible", "wonderful"), ("awful", "excellent")]
        words = ["bad", "good", "hotel", "music"]
        found, others = bb.axis(glove, pairs, words), bb.axis(glove, pairs, words[2:])
        assert found.at_poles == ("bad", "good")
        assert [(note.code, note.numbers) for note in found.notes] == [("poles", {"words": ["bad", "good"]})]
        assert found.chance() == others.chance()
        assert len(found.table()) == 4
        means = [axis.summary().iloc[0] for axis in (found, others)]
        assert [row["word"] for row in means] == ["mean of 2 words"] * 2
        assert means[0]["mean"] == pytest.approx(others.places.mean())
        assert means[0]["sd"] == pytest.approx(np.sqrt(others.covariance().mean()))
        assert found.with_words(words[1:]).notes[-1].numbers == {"words": ["good"]}

    def test_a_pair_the_wrong_way_round_is_named(self, glove):
        pairs = [("bad", "good"), ("best", "worst"), ("terrible", "wonderful"), ("awful", "excellent")]
        found = bb.axis(glove, pairs, ["hotel", "music"])
        least = found.pairs().iloc[0]
        assert (least["negative"], least["agreement"] < -least["random_agreement"]) == ("best", True)
        (note,), values = found.notes, found.pairs()["agreement"]
        assert (note.code, note.numbers["words"][0], note.above) == ("disagree", "best/worst", True)
        assert (note.numbers["mean"], note.numbers["limit"]) == pytest.approx((values.mean(), found.random_agreement))
        assert found.doubt
        audited = bb.audit(glove, pairs)
        assert [each.code for each in audited.notes] == ["pairs", "disagree", "no-value"]
        assert audited.notes[1] == note
        mended = bb.axis(glove, [pairs[0], ("worst", "best"), *pairs[2:]], ["hotel", "music"])
        assert (mended.notes, mended.doubt) == ((), False)

    @pytest.mark.parametrize(
        ("pairs", "options", "message"),
        [
            ([("he", "she"), ("man", "he")], {}, "he at both poles"),
            ([("zzzz", "yyyy")], {}, "no word of the axis"),
            ([("he", "yyyy")], {}, "each lacks a word"),
            ("afluence", {}, r"there is no axis 'afluence' \(did you mean 'affluence'\?\)\. Bundled axes are activity"),
            (PAIRS, {"words": ["zzzz"]}, "none of the words"),
        ],
    )
    def test_wrong_input_is_named(self, glove, pairs, options, message):
        with pytest.raises(InputError, match=message):
            bb.axis(glove, pairs, **options)

    def test_other_words_are_those_of_a_new_axis(self, glove, gender):
        words = ["nurse", "colonel", "he"]
        assert np.allclose(gender.with_words(words).places, bb.axis(glove, "gender_pairs", words).places, atol=1e-6)
        inside = gender.with_words(["colonel", "nurse"])
        place = {word: row for row, word in enumerate(gender.words)}
        assert np.allclose(inside.places, gender.places[[place["colonel"], place["nurse"]]], rtol=1e-12)

    def test_pairs_that_do_not_belong(self, gender):
        table = gender.pairs().set_index("negative")
        assert table.index[~table["belongs"]].tolist() == ["male"]
        assert table.loc["male", "agreement"] < 0
        pairs = gender.poles.pairs
        row = [pair[0] for pair in pairs].index("male")
        # over every fifth word: the table has it over the sample that the covariance comes from
        left = bb.axis(gender.kv, [pair for pair in pairs if pair[0] != "male"], gender.words[::5]).places
        own = gender.coordinates[::5] @ gender.offset.offsets[0][row]
        assert np.corrcoef(own, left)[0, 1] == pytest.approx(table.loc["male", "agreement"], abs=0.1)
        change = np.sqrt(((left - gender.places[::5]) ** 2).mean()) / gender.places[::5].std()
        assert change == pytest.approx(table.loc["male", "influence"], rel=0.15)
        assert 1 < gender.effective_pairs < len(pairs) / 3

    def test_bundled_axes(self, glove):
        table = bb.bundled("axes").set_index("name")
        assert (len(table), table["pairs"].sum()) == (27, 325)
        assert table.loc["gender_pairs", "pairs"] == len(bb.load_list("gender_pairs").pairs)
        for name, row in table.iterrows():
            poles = poles_of(name)
            assert (poles.name, *poles.ends) == (name, row["negative"], row["positive"])
            assert (len(set(poles.pairs)), poles.source) == (row["pairs"], row["source"])
            if whole := [pair for pair in poles.pairs if set(pair) <= set(glove.key_to_index)]:
                assert find_poles(glove, poles).pairs == tuple(whole)


def noise(count, dimensions, seed=0):
    """An embedding of independent normal vectors."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions))
    return bb.load_embedding({f"w{row}": vector for row, vector in enumerate(vectors)})


class TestCovariance:
    """The covariance of places beside other ways to it."""

    @pytest.mark.parametrize("planted", [3.0, 1000.0])
    def test_factors_of_components_are_as_unequal_as_these(self, planted):
        rng, freedom = np.random.default_rng(0), 10
        true = 1.3 * (planted - 2) / rng.chisquare(planted, 300)  # their mean is 1.3
        expected = freedom * np.geomspace(0.1, 1, 300)
        observed = expected * true * rng.chisquare(freedom, 300) / freedom
        found, share = _squared_factors(expected, observed, 1.3, freedom)
        errors = [((np.log(values) - np.log(true)) ** 2).mean() for values in (found, observed / expected, 1.3)]
        assert errors[0] < 0.85 * errors[1]
        assert errors[0] < (0.4 * errors[2] if planted < 10 else 0.01)
        assert share == pytest.approx((planted - 2) / (planted - 2 + freedom), abs=0.1)
        none, share = _squared_factors(expected, observed, 1.3, 0)
        assert np.array_equal(none, np.full(300, 1.3))
        assert share == 1


def test_a_criterion_of_exact_places_has_the_error_of_a_plain_correlation(gender):
    """With many words the posterior is far narrower than first nodes are apart."""
    rng = np.random.default_rng(0)
    exact = replace(gender, offset=replace(gender.offset, pairs=gender.offset.pairs * 1e-9))
    rows = rng.choice(len(exact.words), 1500, replace=False)
    places, own = stats.zscore(exact.places[rows]), stats.zscore(rng.standard_normal(1500))
    values = 0.6 * own - 0.8 * places
    found = bb.criterion(exact, dict(zip([exact.words[row] for row in rows], values, strict=True)), seed=0)
    row = found.table().iloc[0]
    assert row["mean"] == pytest.approx(found.plain, abs=0.2 * row["sd"])
    # of a correlation over given places, whose spread is known
    error = (1 - found.plain**2) * np.sqrt((1 - found.plain**2 / 2) / 1500)
    assert row["sd"] == pytest.approx(error, rel=0.12)


def test_the_signal_is_that_of_a_quadrature(gender):
    """Shrinkage by adaptive quadrature over the size itself, not its logarithm, with a half-Cauchy prior."""
    rng = np.random.default_rng(1)
    noise = np.full(len(gender.offset.mean), 0.5)
    mean = 0.15 * rng.standard_normal(len(noise)) + np.sqrt(noise) * rng.standard_normal(len(noise))

    def density(sd):
        total = sd**2 + noise
        return np.exp(-0.5 * (np.log(total / noise) + mean**2 / total - mean**2 / noise).sum()) / (1 + (sd / 0.5) ** 2)

    points = np.linspace(0.02, 3, 40)
    mass = quad(density, 0.02, 3, limit=400, points=points)[0]
    gain = quad(lambda sd: density(sd) * sd**2 / (sd**2 + noise[0]), 0.02, 3, limit=400, points=points)[0] / mass
    found = signal(replace(gender.offset, mean=mean, pairs=noise))
    assert np.allclose(found.mean, gain * mean, rtol=0.02)


def test_word_lists_have_their_protected_words_placed():
    lists = bb.load_words("gender")
    words = [word for own in lists.protected.values() for word in own]
    of_lists, of_words = (bb.axis("glove-50d-slice", "gender", words=given) for given in (lists, words))
    pd.testing.assert_frame_equal(of_lists.table(), of_words.table())
