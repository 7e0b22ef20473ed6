"""Words of a whole vocabulary would be called biased that are not, or not be called though they are."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import bayesbias as bb
from bayesbias import numerics
from bayesbias.errors import InputError

GROUPS = {"men": ["he", "man", "his", "male", "boy"], "women": ["she", "woman", "her", "female", "girl"]}
PAIRS = list(zip(*GROUPS.values(), strict=True))


@pytest.fixture(scope="module")
def slice_audit(slice_vectors):
    return bb.audit(slice_vectors, PAIRS)


@pytest.fixture(scope="module")
def grouped(slice_vectors):
    return bb.audit(slice_vectors, GROUPS)


def mean_distances(kv, word, groups):
    """Mean distances of a word to the words of each group."""
    return [np.mean([1 - kv.similarity(word, other) for other in words]) for words in groups.values()]


def test_s_values_are_running_means():
    rates = np.array([0.3, 0.01, 0.05, 0.5])
    assert np.allclose(numerics.mixtures.s_values(rates), [0.12, 0.01, 0.03, 0.215])


class TestAudit:
    def test_contrasts_are_differences_of_mean_distances(self, slice_vectors, slice_audit, grouped):
        query = bb.Query(GROUPS, {"a": [slice_audit.words["word"][100], "nurse"]})
        ripa = bb.metric("ripa", slice_vectors, query, normalise=False).per_word.set_index("word")["value"]
        for found, paired, names in ((slice_audit, True, ("he", "she")), (grouped, False, ("men", "women"))):
            row = found.words.iloc[100]
            men, women = mean_distances(slice_vectors, row["word"], GROUPS)
            assert row["contrast"] == pytest.approx(men - women, abs=1e-6)
            assert row["db_wa"] == pytest.approx(-row["contrast"])
            assert abs(row["ripa"]) == pytest.approx(abs(ripa[row["word"]]), rel=1e-3)
            assert not set(found.words["word"]) & {word for words in GROUPS.values() for word in words}
            assert (found.poles.ends, bool(found.poles.pairs)) == (names, paired)
        words = slice_audit.words
        assert slice_audit.zero == pytest.approx(words["contrast"].mean())
        assert words["place"].mean() == pytest.approx(0, abs=1e-9)
        assert np.allclose(words["place"] + slice_audit.zero, words["contrast"])

    def test_they_are_those_of_the_axis(self, slice_vectors, slice_audit):
        """Errors and what lies behind, by the axis and the posterior of its mean offset."""
        axis = bb.axis(slice_vectors, PAIRS, slice_audit.words["word"].tolist(), centre="words")
        table = axis.table(order=False)
        assert np.allclose(table["mean"], slice_audit.words["place"], atol=1e-7)
        assert np.allclose(table["pairs_sd"], slice_audit.words["se"], rtol=1e-4)
        assert slice_audit.rope == pytest.approx(axis.spread / 2, rel=1e-6)
        behind, tails = numerics.offsets.signal(axis.offset), t(axis.offset.freedom)
        rope = slice_audit.rope
        # the moments of the mixture over nodes, by loops
        for row in (0, 100, 2000):
            y, mean, square = axis.coordinates[row], 0.0, 0.0
            for sd, mass in zip(behind.sds, behind.mass, strict=True):
                gain = sd**2 / (sd**2 + axis.offset.pairs)
                own = y @ (gain * axis.offset.mean)
                mean += mass * own
                square += mass * (own**2 + y**2 @ (gain * axis.offset.pairs))
            found, sd = slice_audit.words.iloc[row], np.sqrt(square - mean**2)
            assert (found["mean"], found["sd"]) == pytest.approx((mean, sd), rel=1e-4)
            assert found["lfsr"] == pytest.approx(tails.cdf(-abs(mean) / sd), abs=1e-5)
            assert found["p_beyond_rope"] == pytest.approx(tails.cdf((abs(mean) - rope) / sd), abs=1e-5)
            reach = tails.ppf(0.945) * sd
            assert (found["low"], found["high"]) == pytest.approx((mean - reach, mean + reach), rel=1e-3)

    def test_calls_are_those_whose_running_mean_is_at_most_the_level(self, slice_audit):
        words = slice_audit.words
        wrong = np.sort(1 - words["p_beyond_rope"].to_numpy())
        running = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
        assert words["called"].sum() == (running <= 0.05).sum() > 100
        assert (1 - words.loc[words["called"], "p_beyond_rope"]).mean() <= 0.05
        wider = bb.audit("google-news-slice", PAIRS, rope=0.06)
        assert wider.rope == 0.06
        assert 0 < wider.words["called"].sum() < words["called"].sum()
        none = bb.audit("google-news-slice", PAIRS, rope=0)
        assert none.words["called"].sum() > words["called"].sum()
        assert np.allclose(none.words["p_beyond_rope"], 1 - none.words["lfsr"])
        with pytest.raises(InputError, match="rope is -1"):
            bb.audit("google-news-slice", PAIRS, rope=-1)

    def test_words_of_women_lean_to_women(self, slice_audit):
        found = slice_audit.words.set_index("word")
        assert found.loc[["actress", "captain"], "leans_to"].tolist() == ["she", "he"]
        assert found.loc["actress", "called"]
        assert slice_audit.table()["called"].all()
        assert len(slice_audit.table(called=False)) == len(slice_audit.words)
        assert 0 < found.loc["actress", "mean"] < found.loc["actress", "place"]
        assert (found["rank_low"] <= found["rank"]).all()
        assert (found["rank"] <= found["rank_high"]).all()
        assert sorted(found["rank"]) == list(range(1, len(found) + 1))
        assert 0 < slice_audit.size < found["place"].std() * 1.2

    def test_groups_say_less_than_pairs(self, slice_audit, grouped):
        assert np.allclose(grouped.words["contrast"], slice_audit.words["contrast"], atol=1e-9)
        assert (grouped.words["se"] > slice_audit.words["se"]).all()
        assert grouped.words["called"].sum() < slice_audit.words["called"].sum()
        assert (grouped.by_pair, grouped.usual) == (None, None)
        axis = bb.axis("google-news-slice", PAIRS, ["nurse"])
        pd.testing.assert_frame_equal(slice_audit.by_pair, axis.pairs(), check_flags=False)
        assert slice_audit.usual == axis.random_agreement

    def test_no_word_is_called_where_groups_are_noise(self):
        # a common mean, so that all words are nearer to one group than to the other
        rng, words = np.random.default_rng(0), [f"w{at}" for at in range(3000)]
        vectors = rng.standard_normal((3000, 50)) + rng.standard_normal(50)
        kv = bb.load_embedding(dict(zip(words, vectors, strict=True)))
        found = bb.audit(kv, {"a": words[:7], "b": words[7:14]})
        assert found.words["called"].sum() == 0
        assert abs(found.zero) > 0.001
        numbers = [note.numbers for note in found.notes if note.code == "no-value"]
        assert [each["what"] for each in numbers][-3:] == ["frequency ranks", "measured share of errors", "word called"]
        assert found.summary()["word"].tolist() == found.table(called=False)["word"].head(10).tolist()
        assert bb.audit(kv, list(zip(words[:7], words[7:14], strict=True))).words["called"].sum() == 0

    def test_the_most_frequent_words_alone(self):
        kv = bb.load_embedding("glove-50d-slice")
        found, own = bb.audit(kv, PAIRS, most_frequent=1000), {word for pair in PAIRS for word in pair}
        assert found.words["word"].tolist() == [word for word in kv.index_to_key[:1000] if word not in own]
        assert found.words["frequency_rank"].max() == 1000
        for source, most, message in (
            ("google-news-slice", 1000, "does not seem to be ordered by frequency"),
            (kv, 10, "most_frequent"),
        ):
            with pytest.raises(InputError, match=message):
                bb.audit(source, PAIRS, most_frequent=most)

    def test_an_axis_and_its_name_are_the_same(self):
        axis = bb.axis("google-news-slice", "gender_pairs", ["nurse"])
        named, of_an_axis = (bb.audit("google-news-slice", given) for given in ("gender_pairs", axis))
        pd.testing.assert_frame_equal(of_an_axis.words, named.words)

    def test_one_word_a_list_tells_no_errors(self):
        with pytest.raises(InputError, match="two pairs or more, or two words a list"):
            bb.audit("google-news-slice", {"a": ["he"], "b": ["she"]})


@pytest.mark.filterwarnings("ignore::bayesbias.errors.CoverageWarning")
def test_lists_that_lose_words_keep_their_partners_for_ripa(slice_vectors):
    given = {"men": ["he", "zzone", "father"], "women": ["zztwo", "woman", "mother"]}
    words = bb.audit(slice_vectors, given).words
    pair = slice_vectors["father"].astype(float) - slice_vectors["mother"]
    expected = [abs(slice_vectors[word].astype(float) @ pair) / np.linalg.norm(pair) for word in words["word"][:20]]
    np.testing.assert_allclose(words["ripa"].abs()[:20], expected, rtol=1e-5)
