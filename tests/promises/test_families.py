"""A family of models from outside would be half known: some analysis would take it for one of the package."""

import html
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias.checks.calibration.simulation import simulate
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit

families = models.families
SAID = {
    "caution": "Toys are taken for toys.",
    "reservation": "This toy is no model: play with it.",
    "caution_of_changes": "Changes of toys are taken for games.",
    "method": "Distances were played with",
    "beside_counterparts": "This toy stands beside a grown-up model.",
}
OF_PACKAGE = {
    vars(kind).get(name) for kind in (families.Independent, families.Crossed, families.Related) for name in SAID
}
ASKED = {
    *("prepared", "is_exact", "functionals", "cells", "obstacle", "log_priors", "log_likelihood"),
    *("density", "predicted", "predicted_cells"),
    *("drawn_truth", "completed_truth", "drawn_distances"),
    *("lacking", "numbers_of_words", "shrinks_words", "unit_of_pooling", "method_text"),
    *("needs_relatedness", "most_numbers", "method", "counterparts", "beside_counterparts", "caution_of_changes"),
    *("caution", "reservation", "about_given_words", "attribute_words", "cell_errors", "without_prior"),
}


class Toy(families.Crossed):
    """A family whose models are told by their names, with words of its own, that records what it is asked."""

    attribute_words, counterparts, asked = "played with", ("crossed",), set()
    caution, reservation, caution_of_changes = SAID["caution"], SAID["reservation"], SAID["caution_of_changes"]
    method, beside_counterparts = SAID["method"], SAID["beside_counterparts"]

    @staticmethod
    def holds(spec):
        return spec.name.startswith("toy")

    def __getattribute__(self, name):
        if name in ASKED:
            Toy.asked.add(name)
        return super().__getattribute__(name)


@pytest.fixture(scope="module", autouse=True)
def registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "FAMILIES", list(families.FAMILIES))
        families.register(Toy())
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def written(folder, name, like, **own):
    """A model file like a bundled one, with another name."""
    text = models.load_model(like).text.replace(f'name = "{like}"', f'name = "{name}"')
    path = folder / f"{name}.toml"
    path.write_text("".join(f'{key} = "{value}"\n' for key, value in own.items()) + text)
    return path


def moved(table, seed):
    return table.assign(distance=table["distance"] + 0.02 * np.random.default_rng(seed).standard_normal(len(table)))


@pytest.fixture(scope="module")
def table():
    every = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    return every[every["attribute_word"].isin(every["attribute_word"].drop_duplicates()[::2])]


@pytest.fixture(scope="module")
def toy(table, folder):
    """A model of the family, its table and its fit."""
    model = written(folder, "toy", "crossed")
    return SimpleNamespace(table=table, model=model, post=bb.fit(table, model, draws=400, seed=0), folder=folder)


@pytest.fixture(scope="module")
def plain(table, folder):
    """The same model under its own name."""
    post = bb.fit(table, "crossed", draws=400, seed=0)
    return SimpleNamespace(table=table, model="crossed", post=post, folder=folder)


@pytest.fixture(scope="module")
def page(toy):
    return texts(bb.report(toy.post, toy.folder / "toy.html").read_text())


def texts(text):
    """The words of a page, without marks and breaks."""
    return " ".join(html.unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", text, flags=re.DOTALL)).split())


def of_package(text):
    """Texts of the families of the package that stand in another."""
    return [each for each in OF_PACKAGE if each and each in text]


SCALES = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1}
TRUTH = SCALES | {"attribute_sd": 0.05, "interaction_sd": 0.02}
ANALYSES = {
    "fit": (
        lambda of: bb.fit(of.table, of.model, draws=40, seed=0)["posterior"].to_dataset().to_dataframe(),
        {"prepared", "numbers_of_words", "most_numbers", "attribute_words"},
    ),
    "contrasts": (
        lambda of: bb.contrasts(of.post),
        {"functionals", "unit_of_pooling", "needs_relatedness", "caution", "obstacle"},
    ),
    "association": (lambda of: bb.association(of.post), {"functionals"}),
    "decomposition": (lambda of: bb.decomposition(of.post), {"functionals"}),
    "cell_estimates": (lambda of: bb.cell_estimates(of.post).summary(), {"cells"}),
    "add_predictive": (
        lambda of: (
            bb.checks.add_predictive(of.post, seed=0, draws=40)["posterior_predictive"].to_dataset().to_dataframe()
        ),
        {"predicted"},
    ),
    "add_log_likelihood": (
        lambda of: bb.checks.add_log_likelihood(of.post, draws=40)["log_likelihood"].to_dataset().to_dataframe(),
        {"density"},
    ),
    "add_prior": (
        lambda of: bb.checks.add_prior(of.post, draws=40, seed=0)["prior_predictive"].to_dataset().to_dataframe(),
        {"without_prior", "log_priors", "drawn_truth", "drawn_distances"},
    ),
    "check_predictions": (lambda of: bb.check_predictions(of.post, seed=0), {"predicted_cells"}),
    "false_positive_rate": (
        lambda of: bb.calibration.false_positive_rate(of.table, TRUTH, [], replicates=2, simulated_by=of.model),
        {"completed_truth", "drawn_distances", "needs_relatedness"},
    ),
    "criterion": (
        lambda of: bb.criterion(
            of.post, dict(zip(Fit(of.post).data.protected_words, range(16), strict=True)), contrast=("human", "neutral")
        ).table(),
        {"cell_errors"},
    ),
    "pool": (lambda of: bb.pool({f"table {at}": moved(of.table, at) for at in range(3)}).table(), set()),
}
"""Analyses whose numbers are those of the same model under its own name, and what they ask the family."""
SPOKEN = {
    "contrasts": (lambda post: " ".join(bb.contrasts(post).attrs["notes"]), {"caution"}),
    "summary": (lambda post: " ".join(bb.summary(post).attrs["notes"]), {"caution"}),
    "diagnose": (lambda post: str(bb.diagnose(post)), {"needs_relatedness", "shrinks_words", "caution"}),
    "verdict": (lambda post: " ".join(bb.checks.verdict_sentences(post)), {"caution", "reservation"}),
}
"""Answers that carry the caution of the family, and what they ask it."""


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr(Toy, "asked", set())
    return Toy.asked


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_asks_the_family_and_gives_the_numbers_of_the_same_model(toy, plain, asked, name):
    analysis, questions = ANALYSES[name]
    result = analysis(toy)
    assert questions <= asked
    assert len(result) > 0
    pd.testing.assert_frame_equal(result, analysis(plain))


@pytest.mark.parametrize("name", SPOKEN)
def test_an_answer_carries_the_caution_of_the_family(toy, asked, name):
    answer, questions = SPOKEN[name]
    said = answer(toy.post)
    assert questions <= asked
    assert SAID["caution"] in said
    assert not of_package(said)


def test_the_report_has_the_texts_of_the_family_and_none_of_another(toy, asked, page, program):
    bb.save_fit(toy.post, toy.folder / "toy.nc")
    code, _, errors = program("report", toy.folder / "toy.nc", "--out", toy.folder / "again.html")
    assert (code, errors) == (0, "")
    assert texts((toy.folder / "again.html").read_text()) == page
    assert {"method_text", "method", "counterparts", "beside_counterparts"} <= asked
    for name in SAID.keys() - {"caution_of_changes"}:
        assert SAID[name] in page
    assert not of_package(page)
    assert "0 independent draws" in page  # the engine's own words
    assert "under crossed" in page


def test_every_question_is_asked_by_some_analysis():
    asked = {question for _, questions in (*ANALYSES.values(), *SPOKEN.values()) for question in questions}
    asked |= {"method_text", "method", "counterparts", "beside_counterparts"}  # by a report
    assert ASKED - asked == {"is_exact", "log_likelihood", "caution_of_changes", "about_given_words", "lacking"}
    assert {name for name in dir(families.Independent) if not name.startswith("_")} == ASKED | {"holds"}


def test_the_fit_says_how_attribute_words_are_treated(toy):
    assert toy.post.attrs["attribute_words"] == "played with"
    assert bb.checks.verdict_sentences(toy.post)[-1] == SAID["reservation"]


def test_a_comparison_says_what_the_family_says_of_changes(table, folder):
    changes = written(folder, "toy_change", "change")
    result = bb.compare(before=table, after=moved(table, 0), model=changes, draws=400, seed=0)
    assert SAID["caution_of_changes"] in result.notes
    assert result.posterior.attrs["model"] == "toy_change"
    page = texts(bb.report(result, folder / "changes.html").read_text())
    assert SAID["caution_of_changes"] in page
    assert not of_package(page)


def test_a_model_file_has_words_of_its_own(table, folder):
    path = written(folder, "toysaid", "crossed", method="Distances were thrown about")
    post = bb.fit(table, path, draws=400, seed=0, priors={"sigma": {"rate": 3}})
    page = texts(bb.report(post, folder / "said.md", sensitivity=False).read_text())
    assert "(model toysaid). Distances were thrown about. Priors: " in page
    assert "The posterior was computed by importance sampling" in page
    assert SAID["method"] not in page


def test_a_family_without_words_of_its_own_is_refused():
    class Silent(families.Independent):
        @staticmethod
        def holds(spec):
            return False

    with pytest.raises(InputError, match="the family Silent has no attribute_words, caution, reservation, "):
        families.register(Silent())
    with pytest.raises(InputError, match="the family is a type: give an object of a class derived from Independent"):
        families.register(Toy)
    assert len(families.FAMILIES) == 5


def test_a_simulated_table_keeps_what_its_family_reads():
    carrying = bb.distance_table("google-news-slice", "weat7")
    for model, truth in {"related": {"sd_factor": 1.0}, "published": SCALES}.items():
        simulated = simulate(carrying, model, truth, 0)
        needed = families.family_of(bb.load_model(model)).needs_relatedness
        assert (simulated.relatedness is carrying.relatedness) == needed == (model == "related")
        assert simulated.truth["word_mean"].shape == (16, 4)


def test_a_model_is_of_one_family():
    for name in bb.list_models()["name"]:
        spec = bb.load_model(name)
        assert sum(family.holds(spec) for family in families.FAMILIES) == 1, name
        assert families.family_of(spec).attribute_words in ("independent", "modelled", "related")


def test_predictive_draws_of_rows_and_cells_have_the_same_spread(plain):
    """Two ways to the same residuals: of each row given its word's effect, and of a cell with that effect drawn."""
    result, rng = Fit(plain.post), np.random.default_rng(0)
    family = families.family_of(result.spec)
    rows = family.predicted(result, result.posterior, rng)
    means = result.posterior["word_mean"].to_numpy()
    cells = family.predicted_cells(result, rng)
    scales = {name: result.posterior[name].to_numpy() ** 2 for name in ("sigma", "interaction_sd")}
    residual = np.sqrt(scales["sigma"].mean(axis=(0, 1)))
    effects = result.posterior["attribute_effect"].to_numpy()[:, :, result.places["attribute_word"]]
    groups = result.posterior["interaction_effect"].to_numpy()
    effects = effects + groups[:, :, result.places["attribute_word"], result.data.group_index[result.data.word]]
    places = result.places["protected_word"], result.places["connection"]
    apart = pd.DataFrame({"connection": places[1], "sd": (rows - means[:, :, *places] - effects).std(axis=(0, 1))})
    np.testing.assert_allclose(apart.groupby("connection")["sd"].mean(), residual, rtol=0.03)
    words = scales["interaction_sd"][:, :, None] + result.by_connection("attribute_sd") ** 2
    whole = np.sqrt((scales["sigma"] + words).mean(axis=(0, 1)))
    np.testing.assert_allclose(np.nanstd(cells - means, axis=(0, 1)).mean(axis=0), whole, rtol=0.05)
