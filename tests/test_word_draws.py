"""Fits that keep summaries of words: the same numbers as from draws, in little memory."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

NUMBERS = ["mean", "sd", "low", "high"]


@pytest.fixture(scope="module", params=["crossed", "published", "related"])
def both(request):
    """A fit with the draws of words, and the same with summaries."""
    table = bb.distance_table("google-news-slice", "gender", relatedness=request.param == "related")
    return tuple(bb.fit(table, request.param, seed=3, draws=2000, keep=keep) for keep in ("draws", "summary"))


def test_summaries_are_those_of_the_draws(both):
    drawn, kept = (bb.summary(post, effects=True) for post in both)
    key = [name for name in drawn.columns if name not in (*NUMBERS, "n")]
    merged = drawn.merge(kept, on=key, suffixes=("", "_kept"))
    assert len(merged) == len(drawn) == len(kept)
    for name in (*NUMBERS, "n"):
        np.testing.assert_allclose(merged[name], merged[f"{name}_kept"], rtol=0, atol=1e-13, equal_nan=True)
    assert bb.summary(both[1], prob=0.5)["low"].gt(bb.summary(both[1])["low"]).all()


@pytest.mark.parametrize("second", ["different", "human"])
@pytest.mark.parametrize("by", ["protected_word", "group"])
def test_contrasts_are_those_of_the_draws(both, second, by):
    drawn, kept = (bb.contrasts(post, second=second, by=by, rows="difference") for post in both)
    pd.testing.assert_frame_equal(drawn, kept, rtol=0, atol=1e-13)
    assert kept.attrs["left_out"] == drawn.attrs["left_out"]


def test_turned_contrasts_change_their_sign(both):
    one, other = (bb.contrasts(both[1], *names) for names in (("associated", "human"), ("human", "associated")))
    np.testing.assert_allclose(one["mean"], -other["mean"], atol=1e-15)
    np.testing.assert_allclose(one["low"], -other["high"], atol=1e-15)
    np.testing.assert_allclose(one["p_closer"], 1 - other["p_closer"], atol=1e-15)


def test_decompositions_and_verdicts_are_those_of_the_draws(both):
    drawn, kept = (bb.decomposition(post) for post in both)
    pd.testing.assert_frame_equal(drawn, kept, rtol=0, atol=1e-13)
    assert [bb.diagnose(post).faults for post in both] == [(), ()]


def test_draws_of_some_words_are_those_of_the_fit(both):
    words, attributes = (
        both[0]["constant_data"][f"{name}_word"].to_numpy().tolist() for name in ("protected", "attribute")
    )
    asked = [words[2], attributes[5]]
    again, drawn = (bb.checks.word_draws(post, asked) for post in reversed(both))
    assert list(again) == list(drawn)
    for name in again:
        np.testing.assert_array_equal(again[name], drawn[name])
    own = both[0]["posterior/word_mean"].sel(protected_word=again["protected_word"].to_numpy())
    np.testing.assert_array_equal(again["word_mean"], own)


def test_a_kept_summary_survives_its_file(both, tmp_path):
    bb.save_fit(both[1], tmp_path / "fit.nc")
    back = bb.load_fit(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(bb.contrasts(back), bb.contrasts(both[1]))
    assert (tmp_path / "fit.nc").stat().st_size > 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (bb.plot_coefficients, "keeps summaries of its words"),
        (bb.checks.add_predictive, "keeps summaries of its words"),
        (lambda post: bb.contrasts(post, population="all"), "population is 'all'"),
        (lambda post: bb.checks.word_draws(post, ["unheard"]), "no word unheard"),
        (lambda post: bb.checks.word_draws(post, []), "words"),
    ],
)
def test_what_needs_draws_says_so(both, ask, message):
    with pytest.raises(bb.InputError, match=message):
        ask(both[1])


@pytest.mark.parametrize("options", [{"prob": 0.8}, {"rope": 0.01}, {"first": "human", "second": "neutral"}, {}])
def test_every_contrast_is_that_of_the_draws(both, options):
    pd.testing.assert_frame_equal(*(bb.contrasts(post, **options) for post in both), rtol=0, atol=1e-13)


def test_large_tables_keep_summaries_and_say_so(monkeypatch):
    monkeypatch.setattr("bayesbias.models.fits.MOST_NUMBERS", 10_000)
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    post = bb.fit(table, "crossed", seed=0, draws=400)
    assert "word_mean" not in post["posterior"]
    assert any("a summary is kept" in note for note in bb.diagnose(post).notes)
    assert "word_mean" in bb.fit(table, "crossed", seed=0, draws=400, keep="draws")["posterior"]
    with pytest.raises(bb.InputError, match="keep is 'all'"):
        bb.fit(table, keep="all")
    with pytest.raises(bb.InputError, match="adjusted"):
        bb.fit(table, keep="summary", adjust="length")


@pytest.mark.reproducible
@pytest.mark.parametrize("model", ["crossed", "published"])
def test_draws_do_not_depend_on_the_number_of_processors(model, monkeypatch):
    table = bb.distance_table("google-news-slice", "gender", relatedness=False)
    monkeypatch.setattr("bayesbias._core.conditionals.BLOCK", 20_000)
    monkeypatch.setattr("bayesbias.models.exact.BLOCK", 20_000)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("os.process_cpu_count", lambda cores=cores: cores, raising=False)
        found.append(bb.fit(table, model, seed=1, draws=1000, keep="summary"))
    assert found[0].identical(found[1])


def test_groups_of_many_numbers_are_made_of_fewer_draws(monkeypatch):
    table = bb.distance_table("google-news-slice", "weat7")
    for model in ("crossed", "related"):
        post = bb.fit(table, model, seed=0, draws=400)
        whole = bb.checks.add_predictive(post)["posterior_predictive/distance"]
        assert whole.sizes["draw"] == 100
        part = bb.checks.add_log_likelihood(post, draws=80)["log_likelihood/distance"]
        every = bb.checks.add_log_likelihood(post)["log_likelihood/distance"]
        np.testing.assert_array_equal(part, every[:, ::5])
        with monkeypatch.context() as limited:
            limited.setattr("bayesbias.models.fits.MOST_NUMBERS", 100 * len(table))
            with pytest.warns(UserWarning, match="100 of 400 draws"):
                fewer = bb.checks.add_predictive(post)["posterior_predictive/distance"]
        assert dict(fewer.sizes) == {"chain": 4, "draw": 25, "pair": len(table)}
        assert fewer["draw"].to_numpy().tolist() == list(range(0, 100, 4))
        sd = [float(values.std(("chain", "draw")).mean()) for values in (whole, fewer)]
        assert sd[0] == pytest.approx(sd[1], rel=0.05)


def test_a_table_with_too_many_holes_is_refused(monkeypatch):
    table = bb.distance_table("google-news-slice", "gender", relatedness=False)
    holed = table[np.random.default_rng(0).random(len(table)) > 0.1]
    monkeypatch.setattr("bayesbias.models.marginal.MOST_NUMBERS", 1000)
    with pytest.raises(bb.InputError, match="holes in too many places"):
        bb.fit(holed, "crossed")


def test_no_attribute_word_need_be_asked_for():
    post = bb.fit(
        bb.distance_table("google-news-slice", "weat7", relatedness=False), "crossed", draws=400, seed=0, keep="summary"
    )
    some = bb.checks.word_draws(post, ["math"])
    assert some["word_mean"].sizes["protected_word"] == 1
    assert some["word_mean"].shape[:2] == (4, 100)
