"""A family of models from outside the package goes through every analysis and report, with words of its own."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
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
PACKAGE = [vars(kind).get(name) for kind in (families.Independent, families.Crossed, families.Related) for name in SAID]


class Toy(families.Crossed):
    """A family whose models are told by their names, and say so."""

    attribute_words = "played with"
    caution, reservation, caution_of_changes = SAID["caution"], SAID["reservation"], SAID["caution_of_changes"]
    method, beside_counterparts = SAID["method"], SAID["beside_counterparts"]
    counterparts = ("crossed_plain",)

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


@pytest.fixture(scope="module")
def toy(folder):
    return written(folder, "toy", "crossed_plain")


def written(folder, name, like, **own):
    """A model file like a bundled one, with another name."""
    text = models.load_model(like).text.replace(f'name = "{like}"', f'name = "{name}"')
    path = folder / f"{name}.toml"
    path.write_text("".join(f'{key} = "{value}"\n' for key, value in own.items()) + text)
    return path


@pytest.fixture(scope="module")
def table():
    every = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    return every[every["attribute_word"].isin(every["attribute_word"].drop_duplicates()[::2])]


@pytest.fixture(scope="module")
def post(table, toy):
    return bb.fit(table, toy, draws=400, seed=0)


def texts(text):
    """What a page or a result says, without marks and breaks."""
    return " ".join(html.unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", text, flags=re.DOTALL)).split())


def of_package(text):
    """Texts of the families of the package that stand in another."""
    return [each for each in PACKAGE if each and each in text]


def test_the_fit_says_how_attribute_words_are_treated(post, table):
    assert post.attrs["attribute_words"] == "played with"
    same = bb.fit(table, "crossed_plain", draws=400, seed=0)
    np.testing.assert_array_equal(post["posterior/word_mean"], same["posterior/word_mean"])


ANALYSES = {
    "contrasts": lambda post, table, toy: bb.contrasts(post).attrs["notes"],
    "summary": lambda post, table, toy: bb.summary(post).attrs["notes"],
    "diagnose": lambda post, table, toy: str(bb.diagnose(post)),
    "verdict": lambda post, table, toy: " ".join(bb.checks.verdict_sentences(post)),
}


@pytest.mark.parametrize("name", ANALYSES)
def test_answers_carry_the_caution_of_the_family(name, post, table, toy):
    said = ANALYSES[name](post, table, toy)
    assert SAID["caution"] in said
    assert not of_package(" ".join([said] if isinstance(said, str) else said))


def test_reservations_end_the_verdict(post):
    assert bb.checks.verdict_sentences(post)[-1] == SAID["reservation"]


def test_associations_and_decompositions_are_those_of_the_same_model_under_its_own_name(post, table):
    same = bb.fit(table, "crossed_plain", draws=400, seed=0)
    for analysis in (bb.association, bb.decomposition, bb.checks.variance_shares, bb.check_predictions):
        pd.testing.assert_frame_equal(analysis(post), analysis(same))


def test_plan_takes_the_scales_of_the_fit(post):
    planned = bb.plan(post)
    assert planned.scales_from == "this table"
    assert 0 < planned.present.width < 1


def test_plan_says_what_a_family_without_scales_lacks(post, monkeypatch):
    monkeypatch.setattr(Toy, "scales", families.Independent.scales)
    with pytest.raises(InputError, match="the model 'toy' has no effects of attribute words"):
        bb.plan(post)


def test_models_are_compared_by_words_left_out(table, toy):
    found = bb.checks.compare_models(table, [toy, "crossed_plain"], draws=100)
    first, second = found["elpd_word"]
    assert set(found["model"]) == {"toy", "crossed_plain"}
    assert first == pytest.approx(second, abs=1e-9)


def test_sensitivity_to_priors_and_words(post):
    assert bb.checks.prior_sensitivity(post).refits["mean"].notna().all()
    found = bb.checks.influence(post, words="protected")
    assert len(found) == 16
    assert found.attrs["population"] == "similar"


def test_draws_can_be_predicted_and_simulated(post, table, toy):
    assert "posterior_predictive" in bb.checks.add_predictive(post, seed=0, draws=40).children
    assert "log_likelihood" in bb.checks.add_log_likelihood(post, draws=40).children
    assert bb.calibration.simulate(table, toy, seed=0).shape[0] == len(table)


def test_values_from_outside_are_related_to_contrasts(post):
    words = Fit(post).data.protected_words
    values = dict(zip(words, np.random.default_rng(0).standard_normal(len(words)), strict=True))
    assert np.isfinite(bb.criterion(post, values, contrast=("human", "neutral")).table()["mean"]).all()


def test_a_comparison_says_what_the_family_says_of_changes(table, folder):
    rng = np.random.default_rng(0)
    after = table.assign(distance=table["distance"] + 0.02 * rng.standard_normal(len(table)))
    changes = written(folder, "toy_change", "change")
    result = bb.compare(before=table, after=after, model=changes, draws=400, seed=0)
    assert SAID["caution_of_changes"] in result.notes
    assert result.posterior.attrs["model"] == "toy_change"
    page = texts(bb.report(result, folder / "changes.html").read_text())
    assert SAID["caution_of_changes"] in page
    assert not of_package(page)


def test_pools_are_made_of_tables_whatever_families_there_are(table):
    rng = np.random.default_rng(0)
    moved = (table["distance"] + 0.02 * rng.standard_normal(len(table)) for _ in range(3))
    tables = {f"table {i}": table.assign(distance=each) for i, each in enumerate(moved)}
    assert np.isfinite(bb.pool(tables, seed=0).table()["mean"]).all()


@pytest.fixture(scope="module")
def page(post, folder):
    return texts(bb.report(post, folder / "toy.html").read_text())


@pytest.mark.parametrize("name", sorted(set(SAID) - {"caution_of_changes"}))
def test_the_report_has_every_text_of_the_family(name, page):
    assert SAID[name] in page


def test_the_report_has_no_text_of_another_family(page):
    assert not of_package(page)
    assert "0 independent draws" in page  # the engine's own words
    assert "under crossed_plain" in page


def test_the_command_line_gives_the_same_report(post, page, folder, program):
    bb.save_fit(post, folder / "toy.nc")
    code, _, errors = program("report", folder / "toy.nc", "--out", folder / "again.html")
    assert (code, errors) == (0, "")
    assert texts((folder / "again.html").read_text()) == page


def test_a_model_file_has_words_of_its_own(table, folder):
    path = written(folder, "toysaid", "crossed_plain", method="Distances were thrown about")
    post = bb.fit(table, path, draws=400, seed=0, priors={"sigma": {"rate": 3}})
    page = texts(bb.report(post, folder / "said.md", sensitivity=False).read_text())
    assert "(model toysaid). Distances were thrown about. The posterior was computed by importance sampling" in page
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
    assert len(families.FAMILIES) == 4
