"""A fit that should not be read would pass its checks, and summaries would not be those of its draws."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias.checks.convergence import _extreme_word, _prior_width
from bayesbias.distances import Coverage
from bayesbias.reporting.fit_report import FitReport

MEANS = {"associated": 0.8, "human": 0.9, "neutral": 0.95}


def planted(mean, n_words=12, n=40, sd=0.02, sigma=0.1, seed=0):
    """Distances whose connection means are known, without any noise in the cells' own means beyond ``sd``."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"w{word}", "g", f"{connection}{at}", "g", connection, centre + shift + rng.normal(0, sigma))
        for connection, centre in mean.items()
        for word, shift in enumerate(rng.normal(0, sd, n_words))
        for at in range(n)
    ]
    names = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=names)


def shifted(table, word, by):
    """The table with the associated distances of a word moved."""
    chosen = (table["protected_word"] == word) & (table["connection"] == "associated")
    return table.assign(distance=table["distance"] + by * chosen)


def notes_of(table, model=None, seed=0):
    """What the diagnosis of a fit of a table notes."""
    return " ".join(bb.diagnose(bb.fit(table, *filter(None, [model]), seed=seed)).notes)


@pytest.fixture(scope="module")
def post():
    return bb.fit(planted(MEANS), seed=0)


@pytest.fixture(scope="module")
def published():
    return bb.fit(planted(MEANS), "published", seed=0)


def test_a_planted_contrast_is_found(post):
    table = bb.contrasts(post, "associated", "human")
    assert table["protected_word"].tolist() == ["whole list", *(f"w{word}" for word in range(12))]
    assert table["group"][0] is pd.NA
    whole = table.iloc[0]
    assert whole["low"] < -0.1 < whole["high"]
    assert whole["mean"] == pytest.approx(-0.1, abs=0.02)
    assert whole["p_closer"] > 0.999


def test_contrasts_of_groups_and_their_differences():
    table = planted({"associated": 0.8, "human": 0.9})
    group = table["protected_word"].map(lambda word: "abc"[int(word[1:]) % 3])
    shift = -0.1 * ((group == "b") & (table["connection"] == "associated"))
    post = bb.fit(table.assign(group=group, distance=table["distance"] + shift), seed=0)
    found = bb.contrasts(post, "associated", "human", by="group")
    assert found["group"].tolist() == ["a", "b", "c", "a - b", "a - c", "b - c"]
    rows = found.set_index("group")
    assert rows.loc["a - b", "mean"] == pytest.approx(rows.loc["a", "mean"] - rows.loc["b", "mean"])
    assert rows.loc["a - b", "low"] < 0.1 < rows.loc["a - b", "high"]
    assert rows.loc["a - c", "low"] < 0 < rows.loc["a - c", "high"]
    words = bb.contrasts(post, "associated", "human")[1:]
    own = words[words["protected_word"].isin(["w0", "w3", "w6", "w9"])]
    assert rows.loc["a", "mean"] == pytest.approx(own["mean"].mean())
    with pytest.raises(bb.InputError, match="leave population as it is"):
        bb.contrasts(post, by="group", population="similar")
    with pytest.raises(bb.InputError, match="does not know the groups"):
        bb.contrasts(bb.fit(table.drop(columns="group"), seed=0), by="group")


def test_a_contrast_is_the_difference_of_draws(post):
    """The draws of a word have Monte Carlo errors: of their mean sd / sqrt(draws)."""
    table = bb.contrasts(post, "human", "neutral", rope=(-0.06, -0.04))
    draws = post["posterior/word_mean"].sel(connection="human") - post["posterior/word_mean"].sel(connection="neutral")
    third = draws.sel(protected_word="w3")
    row = table[table["protected_word"] == "w3"].iloc[0]
    error = row["sd"] / np.sqrt(third.size)
    assert row["mean"] == pytest.approx(float(third.mean()), abs=3 * error)
    assert row["sd"] == pytest.approx(float(third.std(ddof=1)), abs=3 * error)
    share = float(((third >= -0.06) & (third <= -0.04)).mean())
    assert row["p_rope"] == pytest.approx(share, abs=3 * np.sqrt(share * (1 - share) / third.size))
    opposite = bb.contrasts(post, "neutral", "human")
    np.testing.assert_allclose(opposite["mean"], -table["mean"], atol=1e-12)


def test_a_contrast_reports_the_words_it_leaves_out():
    table = planted({"associated": 0.8, "neutral": 0.9}, n_words=3)
    table = table[~((table["protected_word"] == "w1") & (table["connection"] == "associated"))]
    found = bb.contrasts(bb.fit(table, seed=0), "associated", "neutral")
    assert found["protected_word"][1:].tolist() == ["w0", "w2"]
    assert found.attrs["left_out"] == ["w1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"second": "different"}, "valid are associated, human, neutral"),
        ({"second": "associated"}, "needs two connections"),
        ({"prob": 89}, "between 0 and 1"),
        ({"rope": -0.1}, "positive number"),
        ({"rope": (0.1, -0.1)}, "pair"),
    ],
)
def test_a_faulty_contrast_is_refused(post, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.contrasts(post, **options)


@pytest.mark.parametrize("ci_kind", ["eti", "hdi"])
def test_summary_gives_means_intervals_and_counts(post, published, ci_kind):
    import arviz as az

    table = bb.summary(post, prob=0.5, ci_kind=ci_kind)
    notes = (
        "Different words are treated as unrelated, so that intervals may be too narrow by a factor of 2 and more.",
    )
    assert table.attrs == {"prob": 0.5, "ci_kind": ci_kind, "notes": notes}
    counts = table["parameter"].value_counts().to_dict()
    three = dict.fromkeys(["connection_mean", "connection_sd", "sigma", "attribute_sd"], 3)
    assert counts == three | {"word_mean": 36, "connection_sd0": 1, "attribute_sd0": 1}
    row = table[(table["parameter"] == "word_mean") & (table["protected_word"] == "w2")].iloc[1]
    assert (row["connection"], row["n"]) == ("human", 40)
    draws = post["posterior/word_mean"].sel(protected_word="w2", connection="human")
    assert row["mean"] == pytest.approx(float(draws.mean()), abs=1e-12)
    ends = getattr(az, ci_kind)(draws, prob=0.5).to_numpy()
    assert [row["low"], row["high"]] == pytest.approx(list(ends), abs=1e-12)
    assert table.iloc[0]["n"] == 480
    assert table.iloc[0]["protected_word"] is pd.NA
    scale = table[(table["parameter"] == "attribute_sd") & (table["attribute_class"] == "stereotype")].iloc[0]
    assert scale["mean"] == pytest.approx(float(post["posterior/attribute_sd"][..., 0].mean()), abs=1e-12)
    assert (scale["n"], scale["connection"]) == (480, pd.NA)
    effects = bb.summary(post, effects=True).query("parameter == 'attribute_effect'")
    assert effects["attribute_word"].tolist() == post["posterior/attribute_word"].to_numpy().tolist()
    assert effects["n"].tolist() == [12] * 120
    assert bb.summary(post).equals(bb.summary(post, ci_kind="eti"))
    plain = bb.summary(published)
    assert len(plain) == 3 * 3 + 36
    assert not {"attribute_class", "attribute_word"} & set(plain)


def test_a_contrast_excludes_0_where_one_sign_has_the_upper_tail(post):
    for prob in (0.5, 0.89, 0.99):
        for second in ("human", "neutral"):
            table = bb.contrasts(post, "associated", second, prob=prob)
            largest = np.maximum(table["p_closer"], 1 - table["p_closer"])
            excludes = (table["low"] > 0) | (table["high"] < 0)
            assert (excludes == (largest > (1 + prob) / 2)).all()


def test_predictive_shares_show_a_model_that_is_wrong():
    """Two far clusters in every cell: a normal distribution puts its 50% interval between them."""
    table = planted({"neutral": 0.9}, sigma=0.01)
    table["distance"] += np.where(np.arange(len(table)) % 2, 0.3, -0.3)
    assert bb.check_predictions(bb.fit(table, seed=0))["inside_50"][0] < 0.05


def test_predictive_checks_repeat_and_refuse(post):
    shares = bb.check_predictions(post)
    pd.testing.assert_frame_equal(shares, bb.check_predictions(post))
    assert shares["connection"].fillna("all").tolist() == ["all", "associated", "human", "neutral"]
    assert shares["n"].tolist() == [1440, 480, 480, 480]
    assert "inside_30" in bb.check_predictions(post, probs=(0.3,))
    for probs, message in (((0,), "between 0 and 1"), ((), "empty")):
        with pytest.raises(bb.InputError, match=message):
            bb.check_predictions(post, probs=probs)


def test_a_good_fit_can_be_read(post, published):
    verdict = bb.diagnose(post)
    assert (verdict.ok, verdict.faults, verdict.engine) == (True, (), "marginal")
    assert (verdict.draws, verdict.independent, verdict.r_hat) == (4000, True, None)
    assert verdict.ess == min(4000, verdict.importance_ess)
    assert (verdict.divergences, verdict.grid_mass_outside) == (None, None)
    assert verdict.pareto_k == float(post["sample_stats/pareto_k"]) < 0.7
    assert verdict.importance_ess == float(post["sample_stats/importance_ess"]) >= verdict.ess
    assert "passes its checks" in str(verdict)
    exact = bb.diagnose(published)
    assert (exact.ok, exact.engine, exact.draws) == (True, "exact", 4000)
    assert (exact.independent, exact.r_hat, exact.ess) == (True, None, 4000)
    assert (exact.divergences, exact.pareto_k, exact.importance_ess) == (None, None, None)
    assert exact.grid_mass_outside < 1e-6


def test_too_few_draws_and_stuck_chains_are_said(post):
    few = bb.fit(planted({"neutral": 0.9}), draws=40, seed=0)
    assert any("effective sample size" in fault for fault in bb.diagnose(few).faults)
    stuck = post.copy(deep=True)
    stuck.attrs["engine"] = "nuts"
    stuck["posterior/sigma"][0] += 1.0
    verdict = bb.diagnose(stuck)
    assert not verdict.ok
    assert "R-hat" in " ".join(verdict.faults)
    assert "should not be read" in str(verdict)
    stuck["posterior/sigma"][:] = 1.0
    assert "sigma holds draws" in " ".join(bb.diagnose(stuck).faults)


def test_importance_and_grid_faults_are_said(post):
    marked = post.copy()
    marked["sample_stats/pareto_k"] = 0.9
    marked["sample_stats/importance_ess"] = 399.0
    marked.attrs = {**post.attrs, "grid_mass_outside": 2e-3}
    faults = " ".join(bb.diagnose(marked).faults)
    assert "Pareto k is 0.90" in faults
    assert "effective sample size is 399" in faults
    assert "posterior mass of about 0.002 lies outside the grid (the engine nuts has none)" in faults
    said = FitReport(models.tree.Fit.read(marked)).answer()
    assert said == "No answer: this fit should not be read."
    little = post.copy()
    little.attrs = {**post.attrs, "grid_mass_outside": 9e-4}  # moves intervals less than the noise of draws
    assert bb.diagnose(little).ok


def test_notes_tell_what_limits_a_fit(religion):
    table = planted({"associated": 0.8, "neutral": 0.9}, n_words=1)
    assert "Only 1 protected word: too few for an answer on the whole list." in notes_of(table, seed=2)
    assert "one protected word only" in bb.checks.verdict_sentences(bb.fit(table, seed=2))[0]
    twice = pd.concat([planted({"neutral": 0.9})] * 2, ignore_index=True)
    notes = notes_of(twice)
    assert notes.count("480 of 960 rows repeat a pair and were dropped.") == notes.count("repeat a pair") == 1
    twice = bb.DistanceTable(twice, coverage=Coverage("twice", [], kept_duplicates=True))
    assert "480 of 960 rows repeat a pair and count as if they were new." in notes_of(twice, "published")
    # lists that are not in the table are not said to be thin
    kept = religion[religion["connection"].isin(["associated", "different"])].reset_index(drop=True)
    kept.attrs = religion.attrs
    assert "neutral" not in notes_of(kept)


def test_distances_of_another_scale_are_a_fault():
    table = bb.DistanceTable(planted({"associated": 0.9, "neutral": 0.9}, n_words=5, n=36), truth={})
    assert bb.diagnose(bb.fit(table, "published", seed=0)).ok
    verdict = bb.diagnose(bb.fit(table.assign(distance=10 * table["distance"]), "published", seed=0))
    assert not verdict.ok
    assert "360 of 360 values lie beyond 2, where no cosine distance lies" in verdict.headline()


@pytest.mark.parametrize(
    ("kind", "said"), [("complex128", r"\(1\+0j\)"), ("bool", "True"), ("datetime64[ns]", "Timest")]
)
def test_distances_that_are_no_numbers_or_code_missing_ones_are_refused(religion, kind, said):
    with pytest.raises(bb.InputError, match=f"row 0, column 'distance' holds {said}"):
        bb.fit(religion.assign(distance=np.ones(len(religion)).astype(kind)), "published")
    coded = religion.assign(distance=religion["distance"].where(religion.index != 3, -9.0))
    with pytest.raises(bb.InputError, match=r"row 3, column 'distance' holds -9.*: every cosine distance lies"):
        bb.fit(coded.without_relatedness(), seed=0)


def test_diagnose_says_when_priors_set_the_width():
    tight = {"connection_sd": {"distribution": "pooled", "spread": 0.25}}
    few, many = (bb.fit(planted(MEANS, n_words=words), seed=0) for words in (3, 30))
    told = "With 3 protected words, intervals for further words like these depend on the priors of the scales"
    assert told in " ".join(bb.diagnose(few).notes)
    assert "depend on the priors of the scales" not in " ".join(bb.diagnose(many).notes)
    assert -0.4 < _prior_width(models.tree.Fit(few)) < -0.01
    for post in (many, bb.fit(planted(MEANS, n_words=30), "crossed", seed=0, priors=tight)):
        assert abs(_prior_width(models.tree.Fit(post))) < 0.05


def test_an_extreme_word_is_named():
    # Grubbs' critical value for 15 values at 5%, two-sided, is 2.549
    rest = np.linspace(-1, 1, 14)
    for away in np.linspace(2.0, 3.0, 2001):
        values = np.append(rest, away)
        if (values[-1] - values.mean()) / values.std(ddof=1) >= 2.549:
            break
    word, _, p = _extreme_word(pd.Series(values, index=[f"w{at}" for at in range(15)]))
    assert (word, round(p, 3)) == ("w14", 0.05)
    assert _extreme_word(pd.Series([0.1, 0.1, 0.1], index=list("abc")))[2] == 1
    table = planted({"associated": 0.8, "human": 0.9}, seed=1)
    assert "Grubbs" not in notes_of(table)
    notes = notes_of(shifted(table, "w3", -0.3))
    assert "w3 lies" in notes
    assert "'crossed_t' allows for such words" in notes


def test_the_caution_does_not_hang_on_the_name_of_the_model(edited):
    mine = edited("published", ('name = "published"', 'name = "mine"'))
    post = bb.fit(planted({"associated": 0.8, "neutral": 0.9}), mine, seed=0)
    assert "share an attribute word as independent" in " ".join(bb.checks.verdict_sentences(post))


def test_a_sentence_counts_both_directions():
    table = shifted(planted({"associated": 0.8, "neutral": 0.9}, n_words=6), "w1", 0.3)
    sentence = bb.checks.verdict_sentences(bb.fit(table, seed=0))[0]
    assert "is clear for 6 of 6 protected words: 5 closer (w0, w2, w3, w4, w5), 1 farther (w1); 0 not clear" in sentence
    assert "fewer than 2.5% of the signs that are named are expected to be wrong" in sentence
