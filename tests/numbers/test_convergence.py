"""A fit that should not be read would pass its checks, and summaries would not be those of its draws."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias.checks.convergence import _extreme_word, _prior_width
from bayesbias.distances import Coverage

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


def notes_of(table, model=None, seed=0):
    """What the diagnosis of a fit of a table notes: code to numbers."""
    return {note.code: note.numbers for note in bb.diagnose(bb.fit(table, *filter(None, [model]), seed=seed)).notes}


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


def test_a_contrast_reports_the_words_it_leaves_out():
    table = planted({"associated": 0.8, "neutral": 0.9}, n_words=3)
    table = table[~((table["protected_word"] == "w1") & (table["connection"] == "associated"))]
    found = bb.contrasts(bb.fit(table, seed=0), "associated", "neutral")
    assert found["protected_word"][1:].tolist() == ["w0", "w2"]


def test_a_contrast_excludes_0_where_one_sign_has_the_upper_tail(post):
    table = bb.contrasts(post, "associated", "neutral", prob=0.89)
    excludes = (table["low"] > 0) | (table["high"] < 0)
    assert (excludes == (np.maximum(table["p_closer"], 1 - table["p_closer"]) > 0.945)).all()


def test_predictive_shares_show_a_model_that_is_wrong():
    """Two far clusters in every cell: a normal distribution puts its 50% interval between them."""
    table = planted({"neutral": 0.9}, sigma=0.01)
    table["distance"] += np.where(np.arange(len(table)) % 2, 0.3, -0.3)
    assert bb.check_predictions(bb.fit(table, seed=0))["inside_50"][0] < 0.05


def test_predictive_checks_count_the_rows_of_each_connection(post):
    shares = bb.check_predictions(post, probs=(0.3, 0.89))
    assert shares["connection"].fillna("all").tolist() == ["all", "associated", "human", "neutral"]
    assert shares["n"].tolist() == [1440, 480, 480, 480]
    assert shares["inside_30"][0] == pytest.approx(0.3, abs=0.05)


def test_a_good_fit_can_be_read(post, published):
    verdict = bb.diagnose(post)
    assert (verdict.ok, verdict.faults, verdict.engine) == (True, (), "marginal")
    assert (verdict.draws, verdict.independent, verdict.r_hat) == (4000, True, None)
    assert verdict.pareto_k == float(post["sample_stats/pareto_k"]) < 0.7
    assert 4000 >= verdict.ess == min(4000, float(post["sample_stats/importance_ess"]))
    known = verdict.table().set_index("of")
    assert known.loc["fit", ["ess", "pareto_k"]].tolist() == [verdict.ess, verdict.pareto_k]
    assert known.loc["limit", ["ess", "pareto_k"]].tolist() == [400, 0.7]
    exact = bb.diagnose(published)
    assert (exact.ok, exact.engine, exact.ess, exact.pareto_k) == (True, "exact", 4000, None)
    assert exact.grid_mass_outside < 1e-6


def test_too_few_draws_and_stuck_chains_are_said(post):
    few = bb.fit(planted({"neutral": 0.9}), draws=40, seed=0)
    assert [fault.numbers["figure"] for fault in bb.diagnose(few).faults] == ["ESS"]
    stuck = post.copy(deep=True)
    stuck.attrs["engine"] = "nuts"
    stuck["posterior/sigma"][0] += 1.0
    verdict = bb.diagnose(stuck)
    assert {"figure": "R-hat", "value": verdict.r_hat, "limit": 1.01} in [fault.numbers for fault in verdict.faults]
    stuck["posterior/sigma"][:] = 1.0
    assert ["sigma"] in [fault.numbers["value"] for fault in bb.diagnose(stuck).faults]


def test_importance_and_grid_faults_are_said(post):
    marked = post.copy()
    marked["sample_stats/pareto_k"] = 0.9
    marked["sample_stats/importance_ess"] = 399.0
    marked.attrs = {**post.attrs, "grid_mass_outside": 2e-3}
    faults = {fault.numbers["figure"]: fault.numbers["value"] for fault in bb.diagnose(marked).faults}
    assert faults == {"ESS": 399, "Pareto k": 0.9, "mass outside": 2e-3}


def test_notes_tell_what_limits_a_fit():
    table = planted({"associated": 0.8, "neutral": 0.9}, n_words=1)
    assert notes_of(table, seed=2)["no-value"] == {
        "what": "whole-list answer",
        "reason": "1 protected words, fewer than 3",
    }
    single = table.drop_duplicates("connection").query("connection == 'neutral'")
    assert notes_of(single, "published")["few-levels"]["count"] == 1
    twice = pd.concat([planted({"neutral": 0.9})] * 2, ignore_index=True)
    assert notes_of(twice)["repeated"] == {"rows": 480, "total": 960, "rule": "dropped"}
    twice = bb.DistanceTable(twice, coverage=Coverage("twice", [], kept_duplicates=True))
    assert notes_of(twice, "published")["repeated"] == {"rows": 480, "total": 960, "rule": "kept"}


def test_distances_of_another_scale_are_a_fault():
    table = bb.DistanceTable(planted({"associated": 0.9, "neutral": 0.9}, n_words=5, n=36), truth={})
    assert bb.diagnose(bb.fit(table, "published", seed=0)).ok
    verdict = bb.diagnose(bb.fit(table.assign(distance=10 * table["distance"]), "published", seed=0))
    assert not verdict.ok
    (fault,) = [fault for fault in verdict.faults if "beyond" in fault]
    assert fault.numbers == {"figure": "values beyond 2:", "value": 360, "limit": 180}
    assert {"rows": 360, "total": 360, "name": "the table"} in [note.numbers for note in verdict.notes]


def test_diagnose_says_when_priors_set_the_width():
    tight = {"connection_sd": {"distribution": "pooled", "spread": 0.25}}
    few, many = (bb.fit(planted(MEANS, n_words=words), seed=0) for words in (3, 30))
    verdict = bb.diagnose(few)
    assert {"count": 3, "factor": "protected words"} in [note.numbers for note in verdict.notes]
    assert verdict.table()["prior_width"][0] == verdict.prior_width == _prior_width(models.tree.Fit(few))
    assert "few-levels" not in {note.code for note in bb.diagnose(many).notes}
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
    assert "outlier" not in notes_of(table)
    moved = (table["protected_word"] == "w3") & (table["connection"] == "associated")
    found = notes_of(table.assign(distance=table["distance"] - 0.3 * moved))["outlier"]
    assert (found["word"], found["connection"]) == ("w3", "associated")
    assert found["p"] < 0.01
