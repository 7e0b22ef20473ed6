"""A family of models from outside would be half known: some analysis would take it for one of the package."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias.models.tree import Fit
from benchmarks.simulation import simulate

families = models.families


class Toy(families.Crossed):
    """A family whose models are known by their names."""

    attribute_words, unrelated = "played with", True

    @staticmethod
    def holds(spec):
        return spec.name.startswith("toy")


@pytest.fixture(scope="module", autouse=True)
def registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "FAMILIES", list(families.FAMILIES))
        families.register(Toy())
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toys")


def written(folder, name, like):
    """A model file like a bundled one, with another name."""
    text = models.load_model(like).text.replace(f'name = "{like}"', f'name = "{name}"')
    path = folder / f"{name}.toml"
    path.write_text(text)
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


SCALES = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1}
TRUTH = SCALES | {"attribute_sd": 0.05, "interaction_sd": 0.02}
ANALYSES = {
    "fit": lambda of: bb.fit(of.table, of.model, draws=40, seed=0)["posterior"].to_dataset().to_dataframe(),
    "contrasts": lambda of: bb.contrasts(of.post),
    "association": lambda of: bb.association(of.post),
    "decomposition": lambda of: bb.decomposition(of.post),
    "add_log_likelihood": lambda of: (
        bb.checks.add_log_likelihood(of.post, draws=40)["log_likelihood"].to_dataset().to_dataframe()
    ),
    "add_prior": lambda of: (
        bb.checks.add_prior(of.post, draws=40, seed=0)["prior_predictive"].to_dataset().to_dataframe()
    ),
    "check_predictions": lambda of: bb.check_predictions(of.post, seed=0),
    "simulate": lambda of: pd.DataFrame(simulate(of.table, of.model, TRUTH, 0)),
    "criterion": lambda of: bb.criterion(
        of.post, dict(zip(Fit(of.post).data.protected_words, range(16), strict=True)), contrast=("human", "neutral")
    ).table(),
}
"""Analyses whose numbers are those of the same model under its own name."""
NOTED = {
    "summary": lambda post: bb.summary(post).notes,
    "diagnose": lambda post: bb.diagnose(post).notes,
}
"""Answers that say what the family assumes."""


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_gives_the_numbers_of_the_same_model(toy, plain, name):
    result = ANALYSES[name](toy)
    assert len(result) > 0
    pd.testing.assert_frame_equal(result, ANALYSES[name](plain))


@pytest.mark.parametrize("name", NOTED)
def test_an_answer_says_that_the_family_takes_words_for_unrelated(toy, name):
    notes = NOTED[name](toy.post)
    assert [note.numbers for note in notes if note.code == "unrelated"] == [{"reason": "model toy"}]


def test_a_comparison_is_of_the_model_of_the_family(table, folder):
    changes = written(folder, "toy_change", "change")
    result = bb.compare(before=table, after=moved(table, 0), model=changes, draws=400, seed=0)
    assert "unrelated" in {note.code for note in result.notes}
    assert result.posterior.attrs["model"] == "toy_change"


def test_a_simulated_table_keeps_what_its_family_reads():
    carrying = bb.distance_table("google-news-slice", "weat7")
    for model, truth in {"related": {"sd_factor": 1.0}, "published": SCALES}.items():
        simulated = simulate(carrying, model, truth, 0)
        needed = families.family_of(bb.load_model(model)).needs_relatedness
        assert (simulated.relatedness is carrying.relatedness) == needed == (model == "related")
        assert simulated.truth["word_mean"].shape == (16, 4)


def test_a_model_is_of_one_family():
    for name in bb.bundled("models")["name"]:
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
