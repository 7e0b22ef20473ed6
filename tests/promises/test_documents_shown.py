"""A reader of documents would be told a difference that its interval does not hold, or see other numbers."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

import bayesbias as bb
from bayesbias._support.phrases import negatives, signed
from bayesbias._support.results import Picture


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
                "speaker": f"s{speaker}",
                "vector": kv["labor"] + (speaker < few) * difference * way + rng.normal(size=50) / 10,
            }
            for speaker in range(24)
            for _ in range(10)
        ]
        sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="speaker")
        return bb.covariates(sample, formula).contrast(["home", "family"], ["office", "career"], names=("home", "work"))

    return contrast


def test_a_difference_that_is_planted_is_told(planted):
    found = planted(4.0)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] > 0
    interval = f"(89% interval of the difference {row['low']:.3f} to {row['high']:.3f})"
    assert found.findings()[0] == (
        f"'labor' is {row['mean']:.3f} nearer to work, relative to home, for party Republican than for party "
        f"Democratic {interval}."
    )
    assert not any("no clear direction" in sentence for sentence in found.findings())
    turned = planted(-4.0)
    row = turned.table().query("quantity == 'difference'").iloc[0]
    assert turned.findings()[0].startswith(f"'labor' is {-row['mean']:.3f} nearer to home, relative to work, for party")


def test_a_difference_of_few_speakers_has_no_headline(planted):
    """Of two speakers with a planted difference the figures are printed, and no direction is named."""
    whole = planted(4.0, few=4)
    row = whole.table().query("quantity == 'difference'").iloc[0]
    assert whole.findings()[0].startswith("'labor' is ")
    found = planted(4.0, few=2)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] > 0
    figures = f"{row['mean']:.3f} for party Republican less party Democratic"
    assert found.findings()[0] == (
        "1 difference of 'labor' (below 0: nearer to home) rests on few speakers, and no direction is named: "
        f"{figures} (89% interval {row['low']:.3f} to {row['high']:.3f}; 2 speakers with party Republican)."
    )
    assert "party Republican has 2 speakers: its error is known only roughly." in found.notes
    number = planted(4.0, few=2, formula="seat")
    row = number.table().query("name == 'seat: 1 - 0'").iloc[0]
    assert row["mean"] == pytest.approx(found.table().query("quantity == 'difference'")["mean"].iloc[0])
    assert "2 speakers with another seat than 0" in number.findings()[0]


def test_a_difference_within_combinations_of_values_rests_on_the_rarest(planted):
    found = planted(4.0, formula="party * house")
    assert any("3 speakers with house B and party Republican" in sentence for sentence in found.findings())
    assert "; " not in planted(4.0, formula="party + house").findings()[0]


def test_a_line_along_a_number_has_the_figures_of_the_table(planted):
    found = planted(1.0, formula="party + age")
    line, table = found.along("age"), found.table()
    assert line["at"].iloc[[0, -1]].tolist() == [20, 43]
    middle = np.interp(found.design.frame["age"].mean(), line["at"], line["mean"])
    assert middle == pytest.approx(table.loc[table["quantity"] == "value", "mean"].mean())
    slope = table.loc[table["name"] == "age", "mean"].iloc[0]
    assert line["mean"].iloc[-1] - line["mean"].iloc[0] == pytest.approx(23 * slope)
    assert (found.along("age", words="given")["sd"] <= line["sd"] + 1e-12).all()
    (axes,) = bb.plots.plot_covariates(found, along="age").axes
    band = axes.collections[0].get_paths()[0].vertices
    for column in ("low", "high"):
        assert np.isin(line[column].round(9), band[:, 1].round(9)).all()
    np.testing.assert_allclose(axes.lines[0].get_ydata(), line["mean"])
    with pytest.raises(bb.InputError, match="'party' is no number of the formula: its numbers are age"):
        found.along("party")
    pages = [block for section in found.sections() for block in section.blocks if isinstance(block, Picture)]
    assert [each.name for each in pages] == ["along-1"]


def test_estimates_are_made_once(planted):
    found = planted(1.0)
    assert found.estimates() is found.estimates("similar", "weighted")
    assert found.estimates("given") is not found.estimates()


def test_what_is_not_told_stands_open_with_what_would_settle_it(planted):
    found = planted(0.0)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] < 0 < row["high"]
    opened, part, basis = found.findings()[:3]
    assert opened == (
        f"1 difference of 'labor' (below 0: nearer to home) has no clear direction: {signed(row['mean'])} for party "
        f"Republican less party Democratic (89% interval {signed(row['low'])} to {signed(row['high'])})."
    )
    shares = row[["share_instances", "share_speakers", "share_words"]].astype(float)
    remedy = {
        "share_instances": "instances; more instances of each speaker",
        "share_speakers": "speakers; more speakers",
        "share_words": "attribute words; further attribute words",
    }
    source = remedy[shares.idxmax()]
    assert part == f"The largest part of this error ({shares.max():.0%}) comes from {source} would lessen it."
    assert basis == "This rests on 240 vectors of 24 speakers."


def test_an_effect_that_is_tied_to_how_much_one_talks_is_said():
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
    figure = f"{row['equal']:.3f} for party R less party L, not {row['mean']:.3f}"
    assert found.findings()[-1] == (
        f"Equal weights for all speakers give another figure: {figure}. The effect may depend on how much each speaker "
        "says."
    )


def test_a_picture_has_the_figures_of_the_table(made):
    found = made.covariate_contrast
    table, given = found.table(0.5), found.table(0.5, "given")
    shown = (table["quantity"] != "coefficient").to_numpy()
    figure = bb.plots.plot_covariates(found, prob=0.5)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [negatives(name) for name in table["name"][shown]]
    drawn = np.concatenate(
        [np.asarray(each.get_offsets())[:, 0] for each in axes.collections if isinstance(each, PathCollection)]
    )
    assert np.sort(drawn) == pytest.approx(np.sort(table.loc[shown, ["mean", "equal"]].to_numpy(dtype=float).ravel()))
    bars = {
        width: np.concatenate(
            [np.array(each.get_segments())[:, :, 0] for each in axes.collections if _width(each) == width]
        )
        for width in (1.1, 3.0)
    }
    for width, rows in ((1.1, table), (3.0, given)):
        assert np.sort(bars[width], axis=0) == pytest.approx(
            np.sort(rows.loc[shown, ["low", "high"]].to_numpy(), axis=0)
        )
    with pytest.raises(bb.InputError, match="prob is 2"):
        bb.plots.plot_covariates(found, prob=2)


def _width(drawn):
    return drawn.get_linewidth()[0] if hasattr(drawn, "get_segments") else None


def test_documents_embedding_and_methods_are_cited(made):
    works = bb.cite(made.covariate_contrast).table().set_index("what")
    assert works.loc["embeddings à la carte", "doi"] == "10.18653/v1/P18-1002"
    assert works.loc["regression of embeddings on covariates", "source"] == "Rodriguez, Spirling and Stewart (2023)"
    assert works.loc["embedding glove-50d-slice", "doi"] == "10.3115/v1/D14-1162"
    assert "datasets-sotu" in works.loc["documents sotu-addresses", "source"]


def test_the_addresses_are_bundled():
    addresses = bb.datasets.load_dataset("sotu-addresses")
    assert list(addresses) == ["year", "president", "party", "text"]
    assert (len(addresses), addresses["president"].nunique()) == (233, 43)
    assert addresses["year"].iloc[[0, -1]].tolist() == [1790, 2021]
    assert sum(map(len, addresses["text"])) == 10_759_831
    row = bb.datasets.list_datasets().set_index("name").loc["sotu-addresses"]
    assert (row["licence"], row["here"]) == ("PDDL-1.0", True)
