"""Families of models: every analysis asks the model's family, so that a new one cannot be half known."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias.models.tree import Fit

families = models.families
ASKED = (
    *("prepared", "is_exact", "functionals", "cells", "obstacle", "moments", "log_terms", "words_left_out"),
    "cell_errors",
    *("density", "predicted", "predicted_cells", "variances", "drawn_truth", "completed_truth", "drawn_distances"),
    *("unpredicted", "lacking", "numbers_of_words", "scales", "shrinks_words", "unit_of_pooling", "method_text"),
    *("needs_relatedness", "most_numbers", "method", "counterparts", "beside_counterparts", "caution_of_changes"),
    *("caution", "reservation", "about_given_words", "attribute_words"),
)


def recording(family, calls):
    """A family that does what another does, and says what it was asked."""

    class Toy(type(family)):
        def __getattribute__(self, name):
            if name in ASKED:
                calls.add(name)
            return super().__getattribute__(name)

    return Toy()


@pytest.fixture(scope="module")
def table():
    return bb.distance_table("google-news-slice", "weat7", relatedness=False)


@pytest.fixture(scope="module")
def post(table):
    return bb.fit(table, "crossed_plain", draws=200, seed=0)


SIZES = ("numbers_of_words", "most_numbers", "attribute_words")


def report_of(post):
    """The pages of a fit, as text."""
    with TemporaryDirectory() as folder:
        return bb.report(post, Path(folder) / "fit.md").read_text()


ANALYSES = {
    "fit": (lambda table, post: bb.fit(table, "crossed_plain", draws=40, seed=0), {"prepared", *SIZES}),
    "contrasts": (
        lambda table, post: bb.contrasts(post),
        {"functionals", "unit_of_pooling", "needs_relatedness", "caution"},
    ),
    "diagnose": (lambda table, post: bb.diagnose(post), {"needs_relatedness", "shrinks_words", "caution"}),
    "verdict": (lambda table, post: bb.checks.verdict_sentences(post), {"caution", "reservation"}),
    "plan": (lambda table, post: bb.plan(post), {"needs_relatedness", "scales"}),
    "report": (lambda table, post: report_of(post), {"method_text", "method", "counterparts", "beside_counterparts"}),
    "association": (lambda table, post: bb.association(post), {"functionals"}),
    "decomposition": (lambda table, post: bb.decomposition(post), {"functionals"}),
    "cell_estimates": (lambda table, post: bb.cell_estimates(post), {"cells"}),
    "add_predictive": (lambda table, post: bb.checks.add_predictive(post, seed=0, draws=40), {"predicted"}),
    "add_log_likelihood": (lambda table, post: bb.checks.add_log_likelihood(post, draws=40), {"density"}),
    "check_predictions": (
        lambda table, post: bb.check_predictions(post, seed=0),
        {"predicted_cells", "variances"},
    ),
    "variance_shares": (lambda table, post: bb.checks.variance_shares(post), {"variances"}),
    "influence": (
        lambda table, post: bb.checks.influence(post, words="protected"),
        {"obstacle", "prepared", "moments", "about_given_words"},
    ),
    "prior_sensitivity": (lambda table, post: bb.checks.prior_sensitivity(post), {"log_terms", "density"}),
    "compare_models": (
        lambda table, post: bb.checks.compare_models(table, ["crossed_plain"], draws=40),
        {"unpredicted", "words_left_out", "density", "prepared"},
    ),
    "simulate": (
        lambda table, post: bb.calibration.simulate(table, "crossed_plain", seed=0),
        {"drawn_truth", "needs_relatedness"},
    ),
    "simulate from a truth": (
        lambda table, post: bb.calibration.simulate(
            table, "crossed_plain", {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05}
        ),
        {"completed_truth", "drawn_distances"},
    ),
    "sbc": (
        lambda table, post: bb.calibration.sbc("crossed_plain", table, replicates=2, draws=20, seed=0),
        {"drawn_truth", "drawn_distances"},
    ),
    "criterion": (
        lambda table, post: bb.criterion(
            post, dict(zip(Fit(post).data.protected_words, range(16), strict=True)), contrast=("human", "neutral")
        ),
        {"cell_errors"},
    ),
}


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_asks_the_family_of_the_model(table, post, name, monkeypatch):
    calls = set()
    toy = recording(families.family_of(bb.load_model("crossed_plain")), calls)
    monkeypatch.setattr(families, "FAMILIES", (toy, *families.FAMILIES))
    analysis, expected = ANALYSES[name]
    analysis(table, post)
    assert expected <= calls


def test_every_question_is_asked_by_some_analysis():
    asked = set().union(*(expected for _, expected in ANALYSES.values()))
    assert set(ASKED) - asked == {
        "is_exact",
        "caution_of_changes",
        "lacking",
    }  # of adjusted distances, comparisons, "auto"
    public = {name for name in dir(families.Independent) if not name.startswith("_")}
    assert public == {*ASKED, "holds"}


def test_a_family_says_what_it_cannot_predict(table):
    silent = families.Independent()
    assert not any(silent.unpredicted(unit) for unit in ("attribute", "protected", "pair"))
    reason = families.Related().unpredicted("protected")
    assert families.Related().unpredicted("attribute") is None
    with pytest.raises(bb.errors.InputError, match="cannot predict a protected word: it reads the covariance") as error:
        bb.checks.compare_models(table, ["crossed", "related"], unit="protected")
    assert reason in str(error.value)


def test_a_simulated_table_keeps_what_its_family_reads():
    carrying = bb.distance_table("google-news-slice", "weat7")
    for model in ("related", "published"):
        simulated = bb.calibration.simulate(carrying, model, seed=0)
        needed = families.family_of(bb.load_model(model)).needs_relatedness
        assert (simulated.relatedness is carrying.relatedness) == needed == (model == "related")
        assert simulated.truth["word_mean"].shape == (16, 4)


def test_a_model_is_of_one_family():
    for name in bb.list_models()["name"]:
        spec = bb.load_model(name)
        assert sum(family.holds(spec) for family in families.FAMILIES) == 1, name
        assert families.family_of(spec).attribute_words in ("independent", "modelled", "related")


def test_predictive_draws_of_rows_and_cells_have_the_same_spread(post):
    """Two ways to the same residuals: of each row given its word's effect, and of a cell with that effect drawn."""
    result, rng = Fit(post), np.random.default_rng(0)
    family = families.family_of(result.spec)
    rows = family.predicted(result, result.posterior, rng)
    means = result.posterior["word_mean"].to_numpy()
    cells = family.predicted_cells(result, rng)
    parts = family.variances(result)
    residual = np.sqrt(parts["residual"].mean(axis=(0, 1)))
    effects = result.posterior["attribute_effect"].to_numpy()[:, :, result.places["attribute_word"]]
    places = result.places["protected_word"], result.places["connection"]
    apart = pd.DataFrame({"connection": places[1], "sd": (rows - means[:, :, *places] - effects).std(axis=(0, 1))})
    np.testing.assert_allclose(apart.groupby("connection")["sd"].mean(), residual, rtol=0.03)
    whole = np.sqrt((parts["residual"] + parts["attribute word"]).mean(axis=(0, 1)))
    np.testing.assert_allclose(np.nanstd(cells - means, axis=(0, 1)).mean(axis=0), whole, rtol=0.05)
