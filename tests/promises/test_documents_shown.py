"""A reader of documents would be told a difference that its interval does not hold, or see other numbers."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.distances import datasets


@pytest.fixture(scope="module")
def planted():
    """A function from a difference between parties to its contrast, of 24 speakers with 10 vectors each."""
    kv = bb.load_embedding("glove-50d-slice")
    home, career = (
        np.mean([kv.get_vector(word, norm=True) for word in words], axis=0)
        for words in (["home", "family"], ["office", "career"])
    )

    def contrast(difference, few=12, formula="party"):
        rng = np.random.default_rng(0)
        way = (career - home) / np.linalg.norm(career - home)
        rows = [
            {
                "word": "labor",
                "party": "Republican" if speaker < few else "Democratic",
                "seat": int(speaker < few),
                "house": "B" if speaker % 8 > 4 else "A",
                "age": 20 + speaker,
                "turn": speaker % 12,
                "mood": "xy"[row % 2],
                "late": 1900 + speaker % 12,
                "speaker": f"s{speaker}",
                "vector": kv["labor"] + (speaker < few) * difference * way + rng.normal(size=50) / 10,
            }
            for speaker in range(24)
            for row in range(10)
        ]
        sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="speaker")
        return bb.covariates(sample, formula).contrast(["home", "family"], ["office", "career"], names=("home", "work"))

    return contrast


def test_a_change_of_a_difference_does_not_depend_on_the_zero_of_a_number(planted):
    found, shifted = (planted(4.0, formula=f"party * {name}") for name in ("turn", "late"))
    table, other = (each.table().query("quantity != 'coefficient'").reset_index(drop=True) for each in (found, shifted))
    for column in ("mean", "sd", "low", "high", "equal"):
        np.testing.assert_allclose(table[column], other[column], rtol=1e-5, atol=1e-9)
    assert found.notes == shifted.notes
    assert not found.notes
    close = planted(4.0, formula="age + I(age + turn / 100)").notes
    assert [note.code for note in close] == ["no-value"]
    assert close[0].numbers["what"] == "separate effect of age, I(age + turn / 100)"
    row = table.iloc[-1]
    assert row["name"] == "party: Republican - Democratic, turn: 10 - 1"
    slope = found.table().set_index("name").loc["party[T.Republican]:turn", "mean"]
    assert row["mean"] == pytest.approx(9 * slope)
    assert table.set_index("name").loc["party: Republican - Democratic", "at"] == "turn 5.5"


def test_a_difference_has_the_number_of_speakers_that_it_rests_on(planted):
    found = planted(4.0, few=2)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] > 0
    assert (row["clusters"], row["rarest"]) == (2, "party Republican")
    assert found.notes[0].numbers == {"count": 2, "factor": "speakers with party Republican"}
    number = planted(4.0, few=2, formula="seat").table().query("name == 'seat: 1 - 0'").iloc[0]
    assert number["mean"] == pytest.approx(row["mean"])
    assert (number["clusters"], number["rarest"]) == (2, "another seat than 0")
    product = planted(4.0, formula="party * house").table().query("quantity == 'difference'").iloc[0]
    assert (product["clusters"], product["rarest"]) == (3, "house B and party Republican")


def test_a_line_along_a_number_has_the_figures_of_the_table(planted):
    found = planted(1.0, formula="party + age")
    line, table = found.along("age"), found.table()
    assert line["at"].iloc[[0, -1]].tolist() == [20, 43]
    middle = np.interp(found.design.frame["age"].mean(), line["at"], line["mean"])
    assert middle == pytest.approx(table.loc[table["quantity"] == "value", "mean"].mean())
    slope = table.loc[table["name"] == "age", "mean"].iloc[0]
    assert line["mean"].iloc[-1] - line["mean"].iloc[0] == pytest.approx(23 * slope)
    given = found.table(words="given")
    assert table["these_low"].tolist() == given["low"].tolist()
    assert (given["these_high"] < table["high"])[1:].all()
    (axes,) = bb.plots.plot_covariates(found, along="age").axes
    band = axes.collections[0].get_paths()[0].vertices
    for column in ("low", "high"):
        assert np.isin(line[column].round(9), band[:, 1].round(9)).all()
    np.testing.assert_allclose(axes.lines[0].get_ydata(), line["mean"])
    assert list(found.pictures()) == [found.caption(), "Along age"]
    three = found.by.contrast(["home", "family", "children"], ["office", "career"])
    assert three.ends == ("home, family, …", "office, career")


def test_an_effect_that_is_tied_to_how_much_one_talks_is_marked():
    """Half of the speakers talk, and only those of one party who do have another view."""
    kv, rng = bb.load_embedding("glove-50d-slice"), np.random.default_rng(3)
    lists = {"work": ["office", "career"], "home": ["home", "family"]}
    work, home = (np.mean([kv.get_vector(word, norm=True) for word in words], axis=0) for words in lists.values())
    rows = [
        {
            "word": "labor",
            "speaker": speaker,
            "party": "LR"[speaker >= 24],
            "vector": kv["labor"] + 2 * rng.normal(size=50) + 2 * (work - home) * (speaker >= 24 and speaker % 4 < 2),
        }
        for speaker in range(48)
        for _ in range(40 if speaker % 4 < 2 else 2)
    ]
    sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="speaker")
    found = bb.covariates(sample, "party").contrast(lists["home"], lists["work"], names=("home", "work"))
    row = found.table().iloc[-1]
    assert row["equal"] < row["mean"] / 2
    ends = found.estimates("similar", "equal").summary().iloc[-1]
    assert row[["equal_low", "equal_high"]].tolist() == ends[["low", "high"]].tolist()
    assert row["equal_apart"]


def test_documents_embedding_and_methods_are_cited(made):
    works = bb.cite(made.covariate_contrast).table().set_index("what")
    assert works.loc["embeddings à la carte", "doi"] == "10.18653/v1/P18-1002"
    assert works.loc["regression of embeddings on covariates", "source"] == "Rodriguez, Spirling and Stewart (2023)"
    assert "datasets-sotu" in works.loc["documents sotu-addresses", "source"]


def test_checks_without_an_answer_have_a_reason(planted):
    assert (planted(0.0).checks(permutations=9)["reason"] == "").all()
    found = planted(0.0, formula="party + mood")
    checks = found.checks(permutations=9)
    assert checks[["mean_cr2", "p_cr2", "p_permutation"]].isna().all(axis=None)
    assert set(checks["reason"]) == {"24 speakers have several values of mood, and these methods need one each"}


def test_the_addresses_are_bundled():
    addresses = datasets.load_dataset("sotu-addresses")
    assert list(addresses) == ["year", "president", "party", "text"]
    assert (len(addresses), addresses["president"].nunique()) == (233, 43)
    assert addresses["year"].iloc[[0, -1]].tolist() == [1790, 2021]
    assert sum(map(len, addresses["text"])) == 10_759_831
    row = bb.bundled("datasets").set_index("name").loc["sotu-addresses"]
    assert row["licence"] == "PDDL-1.0"
