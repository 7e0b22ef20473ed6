"""Large tables would fill the memory, or give other draws on another number of processors."""

import numpy as np
import pytest

import bayesbias as bb


@pytest.mark.parametrize("model", ["crossed", "published"])
def test_large_tables_have_fewer_draws_and_say_so(model, monkeypatch):
    table = bb.distance_table("google-news-slice", "gender", relatedness=False)
    every = bb.fit(table, model, seed=0, draws=4000)
    monkeypatch.setattr("bayesbias.models.families.Independent.most_numbers", 10_000)
    fewer = bb.fit(table, model, seed=0, draws=4000)
    assert fewer["posterior"].sizes["draw"] == 125
    assert any("500 draws are made, not 4,000" in note for note in bb.diagnose(fewer).notes)
    assert bb.fit(table, model, seed=0, draws=400)["posterior"].sizes["draw"] == 100
    one, other = (bb.contrasts(post).set_index(["protected_word"]) for post in (every, fewer))
    np.testing.assert_allclose(one["mean"], other["mean"], rtol=0, atol=float(0.1 * one["sd"].min()))


@pytest.mark.reproducible
@pytest.mark.parametrize("model", ["crossed", "published"])
def test_draws_do_not_depend_on_the_number_of_processors(model, monkeypatch):
    table = bb.distance_table("google-news-slice", "gender", relatedness=False)
    monkeypatch.setattr("bayesbias.numerics.conditionals.BLOCK", 20_000)
    monkeypatch.setattr("bayesbias.models.exact.BLOCK", 20_000)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr("os.process_cpu_count", lambda cores=cores: cores, raising=False)
        found.append(bb.fit(table, model, seed=1, draws=1000))
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
