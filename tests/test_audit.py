"""Audits of whole vocabularies: shrinkage, false signs, and the words of real vectors."""

import re

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from scipy.stats import norm

import bayesbias as bb
import bayesbias._core.shrinkage
from bayesbias import _core
from bayesbias.errors import InputError

GROUPS = {"men": ["he", "man", "his", "male", "boy"], "women": ["she", "woman", "her", "female", "girl"]}


class TestShrinkage:
    def test_variances_borrow_from_each_other(self):
        rng = np.random.default_rng(0)
        true = 0.02 * 8 / rng.chisquare(8, 20_000)
        found = _core.shrinkage.shared_variance(true * rng.chisquare(5, 20_000) / 5, 5.0)
        assert found.freedom == pytest.approx(8, rel=0.1)
        assert found.scale == pytest.approx(0.02, rel=0.03)
        observed = true * rng.chisquare(5, 20_000) / 5
        moderated = found.moderated(observed, 5.0)
        assert np.mean((moderated - true) ** 2) < 0.6 * np.mean((observed - true) ** 2)
        one = _core.shrinkage.shared_variance(0.02 * rng.chisquare(5, 20_000) / 5, 5.0)
        assert one.freedom > 100

    def test_one_normal_gives_the_normal_posterior(self):
        rng = np.random.default_rng(1)
        theta = rng.normal(0.01, 0.03, 20_000)
        se = rng.uniform(0.01, 0.03, 20_000)
        y = theta + se * rng.standard_normal(20_000)
        found = _core.shrinkage.fitted_mixture(y, se, heavy=False)
        assert found.mean == pytest.approx(0.01, abs=0.002)
        assert found.sd == pytest.approx(0.03, rel=0.03)
        posterior = found.posterior(y[:5], se[:5], 0.02)
        share = found.sd**2 / (found.sd**2 + se[:5] ** 2)
        mean, sd = found.mean + share * (y[:5] - found.mean), np.sqrt(share) * se[:5]
        assert np.allclose(posterior.mean, mean)
        assert np.allclose(posterior.sd, sd)
        assert np.allclose(posterior.below, norm.cdf(0, mean, sd))
        assert np.allclose(posterior.inside, norm.cdf(0.02, mean, sd) - norm.cdf(-0.02, mean, sd))

    @pytest.mark.parametrize("level", [0.05, 0.1])
    def test_wrong_signs_among_the_called_are_as_many_as_said(self, level):
        rng, wrong, called, held = np.random.default_rng(2), [], 0, []
        for _ in range(10):
            n = 4000
            theta = np.where(rng.random(n) < 0.8, rng.normal(0, 0.01, n), rng.normal(0, 0.06, n))
            true = 0.0016 * 10 / rng.chisquare(10, n)
            y = theta + np.sqrt(true * 2 / 7) * rng.standard_normal(n)
            observed = true * rng.chisquare(12, n) / 12
            shared = _core.shrinkage.shared_variance(observed, 12.0)
            se = np.sqrt(shared.moderated(observed, 12.0) * 2 / 7)
            posterior = _core.shrinkage.fitted_mixture(y, se).posterior(y, se, 0.02, 12 + shared.freedom)
            rates = _core.shrinkage.false_sign_rates(posterior.below)
            kept = _core.shrinkage.s_values(rates) <= level
            called += kept.sum()
            wrong.append((np.sign(posterior.mean) != np.sign(theta))[kept].sum())
            held.append((np.abs(theta - posterior.mean) < 1.598 * posterior.sd).mean())
        assert called > 3000
        assert sum(wrong) / called == pytest.approx(level, abs=0.01)
        assert np.mean(held) == pytest.approx(0.89, abs=0.02)

    def test_s_values_are_running_means(self):
        rates = np.array([0.3, 0.01, 0.05, 0.5])
        assert np.allclose(_core.shrinkage.s_values(rates), [0.12, 0.01, 0.03, 0.215])


@pytest.fixture(scope="module")
def slice_audit():
    return bb.audit("google-news-slice", GROUPS)


class TestAudit:
    def test_contrasts_are_differences_of_mean_distances(self, slice_audit):
        kv = bb.load_embedding("google-news-slice")
        row = slice_audit.words.iloc[100]
        by_hand = [np.mean([1 - kv.similarity(row["word"], other) for other in words]) for words in GROUPS.values()]
        assert row["contrast"] == pytest.approx(by_hand[0] - by_hand[1], abs=1e-5)
        assert row["db_wa"] == pytest.approx(-row["contrast"])
        ripa = bb.metric(
            "ripa", kv, bb.Query(GROUPS, {"a": [row["word"], "nurse"]}), normalise=False
        ).per_word.set_index("word")["value"]
        assert abs(row["ripa"]) == pytest.approx(abs(ripa[row["word"]]), rel=1e-3)
        assert not set(slice_audit.words["word"]) & {word for words in GROUPS.values() for word in words}

    def test_words_of_women_lean_to_women(self, slice_audit):
        found = slice_audit.words.set_index("word")
        assert found.loc["actress", "leans_to"] == "women"
        assert found.loc["actress", "called"]
        assert slice_audit.table()["called"].all()
        assert len(slice_audit.table(called=False)) == len(slice_audit.words)
        assert found.loc["actress", "mean"] < found.loc["actress", "contrast"]
        assert (found["rank_low"] <= found["rank"]).all()
        assert (found["rank"] <= found["rank_high"]).all()
        assert 0.5 < slice_audit.equivalent_words["men"] / 10 < 1.5

    def test_false_signs_over_halves_of_the_protected_words(self):
        # the sign of words called with half of the protected words, by the contrast of the others
        kv = bb.load_embedding("google-news-slice")
        first = {"men": ["man", "his", "boy", "son"], "women": ["woman", "her", "girl", "daughter"]}
        second = {"men": ["he", "male", "father", "uncle"], "women": ["she", "female", "mother", "aunt"]}
        found, other = (bb.audit(kv, one, level=0.1).words.set_index("word") for one in (first, second))
        called = found[found["called"]]
        contrast = other["contrast"].reindex(called.index)
        assert contrast.notna().sum() > 20
        assert (np.sign(called["mean"]) != np.sign(contrast))[contrast.notna()].mean() < 0.1

    def test_three_groups_have_a_contrast_each(self):
        found = bb.audit("google-news-slice", "religion")
        assert found.words["group"].unique().tolist() == ["jew", "christian", "muslim"]
        kv = bb.load_embedding("google-news-slice")
        row = found.words.iloc[7]
        means = {
            name: np.mean([1 - kv.similarity(row["word"], one) for one in words])
            for name, words in found.groups.items()
        }
        assert row["contrast"] == pytest.approx(means["jew"] - (means["christian"] + means["muslim"]) / 2, abs=1e-5)
        assert "not jew" in found.table()["leans_to"].tolist()

    def test_no_word_is_called_where_groups_are_noise(self):
        rng = np.random.default_rng(0)
        kv = KeyedVectors(50, count=0)
        words = [f"w{at}" for at in range(3000)]
        kv.add_vectors(words, rng.standard_normal((3000, 50)).astype(np.float32))
        found = bb.audit(kv, {"a": words[:6], "b": words[6:12]})
        assert found.words["called"].mean() < 0.005
        assert "not ordered by frequency" in found.text()

    def test_normal_and_mixture(self, slice_audit):
        other = bb.audit("google-news-slice", GROUPS, shape="normal")
        assert np.array_equal(other.words["contrast"], slice_audit.words["contrast"])
        assert not np.allclose(other.words["mean"], slice_audit.words["mean"])

    def test_it_is_written_and_shown(self, slice_audit, tmp_path):
        slice_audit.write(tmp_path / "a.parquet")
        back = pd.read_parquet(tmp_path / "a.parquet")
        assert back["word"].tolist() == slice_audit.words["word"].tolist()
        page = bb.report(slice_audit, tmp_path / "a.html").read_text(encoding="utf-8")
        assert "script-src" in page
        assert len(page) < 500_000
        assert re.search(r"<th class=\"text\" scope=\"row\">actress</th>", page)
        figure = bb.plots.plot_audit(slice_audit, labels=5)
        assert sum(bool(text.get_text()) for text in figure.axes[0].texts) == 5
        with pytest.raises(InputError, match="valid are men"):
            bb.plots.plot_audit(slice_audit, "children")
        with pytest.raises(InputError, match=r"\.parquet"):
            slice_audit.write(tmp_path / "a.csv")

    @pytest.mark.parametrize(
        ("groups", "options", "message"),
        [
            ({"a": ["he", "man"]}, {}, "an audit needs two"),
            ({"a": ["he", "man"], "b": ["she"]}, {}, "1 words are found"),
            ({"a": ["he", "man"], "b": ["she", "he"]}, {}, "'he' is in two groups"),
            ({"a": "he", "b": ["she", "her"]}, {}, "give a list of words"),
            ([1, 2], {}, "groups is"),
            (GROUPS, {"level": 2}, "level"),
            (GROUPS, {"rope": -1}, "rope"),
            (GROUPS, {"shape": "cauchy"}, "shape"),
            (GROUPS, {"sample": 3}, "sample"),
        ],
    )
    def test_wrong_input_is_named(self, groups, options, message):
        with pytest.raises(InputError, match=message):
            bb.audit("google-news-slice", groups, **options)


def test_the_command_writes_what_the_function_gives(here):
    code, out, errors = here(
        "audit",
        "google-news-slice",
        "--groups",
        "gender",
        "-o",
        "a.parquet",
        "--report",
        "a.html",
        "--picture",
        "a.png",
    )
    assert (code, errors) == (0, "")
    assert "lean to one group" in " ".join(out.split())
    found = bb.audit("google-news-slice", "gender")
    pd.testing.assert_series_equal(pd.read_parquet("a.parquet")["mean"], found.words["mean"])
    code, _, errors = here("audit", "google-news-slice", "--groups", "gender", "-o", "a.csv")
    assert code == 1
    assert ".parquet" in errors


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    words = [word for held in GROUPS.values() for word in held] + [f"w{at}" for at in range(70_000)]
    vectors = rng.standard_normal((len(words), 12)).astype(np.float32)
    path = tmp_path_factory.mktemp("audit") / "large.npz"
    np.savez(path, words=words[::-1], vectors=vectors)  # the protected words come last, in the second block
    return path


@pytest.fixture(scope="module")
def unshared(file):
    return bb.audit(file, GROUPS)


@pytest.fixture(scope="module")
def religions():
    return bb.audit("google-news-slice", "religion")


class TestThreeGroups:
    """What is said of words where each has a contrast with every group."""

    def test_words_are_counted_once(self, religions):
        called = religions.words[religions.words["called"]]
        assert called["word"].nunique() < len(called)
        assert f"{called['word'].nunique():,} lean to a group or away from it" in religions.text()
        assert "Away from jew: " in religions.text()

    def test_every_contrast_is_described(self, religions):
        assert list(religions.distribution) == list(religions.equivalent_words) == list(religions.groups)
        for group in religions.groups:
            assert f"contrasts of {group} and the others" in religions.text()

    def test_the_page_shows_the_largest(self, religions, tmp_path, monkeypatch):
        monkeypatch.setattr("bayesbias.axes.audits.MOST_ROWS", 5)
        page = bb.report(religions, tmp_path / "a.md", pictures=tmp_path).read_text(encoding="utf-8")
        called = religions.table()
        for word in called.loc[called["mean"].abs().nlargest(5).index, "word"]:
            assert f"| {word} " in page.replace("\\", "")
        assert "the 5 largest contrasts of" in page
        assert (tmp_path / "audit.png").is_file()

    def test_its_sources_are_cited(self, religions, hard_debiased):
        assert "word list religion" in bb.cite(religions).text()
        assert "debiasing method hard" in bb.cite(bb.audit(hard_debiased, "gender")).text()

    def test_an_interval_of_ones_own_is_refused(self, religions, tmp_path):
        with pytest.raises(InputError, match="an audit has the intervals that it was made with"):
            bb.report(religions, tmp_path / "a.html", prob=0.5)


def test_a_vocabulary_without_other_words_is_refused():
    kv = KeyedVectors(4)
    kv.add_vectors(["he", "him", "she", "her"], np.eye(4, dtype=np.float32))
    with pytest.raises(InputError, match="0 words beside the protected ones: an audit needs 100"):
        bb.audit(kv, {"men": ["he", "him"], "women": ["she", "her"]})


@pytest.mark.reproducible
def test_threads_of_linear_algebra_change_no_bit(file, unshared, threads):
    here = bb.audit(file, GROUPS)
    pd.testing.assert_frame_equal(here.words, unshared.words, check_exact=True)
