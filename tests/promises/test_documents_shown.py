"""A reader of documents would be told a difference that its interval does not hold, or see other numbers."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

import bayesbias as bb
from bayesbias._support.phrases import negatives


@pytest.fixture(scope="module")
def planted():
    """A function from a difference between parties to its contrast, of 24 speakers with 10 vectors each."""
    kv = bb.load_embedding("glove-50d-slice")
    home, career = (
        np.mean([kv.get_vector(word, norm=True) for word in words], axis=0)
        for words in (["home", "family"], ["office", "career"])
    )

    def contrast(difference):
        rng = np.random.default_rng(0)
        way = (career - home) / np.linalg.norm(career - home)
        rows = [
            {
                "word": "labor",
                "party": "Republican" if speaker % 2 else "Democratic",
                "speaker": f"s{speaker}",
                "vector": kv["labor"] + (speaker % 2) * difference * way + rng.normal(size=50) / 10,
            }
            for speaker in range(24)
            for _ in range(10)
        ]
        sample = bb.vector_sample(pd.DataFrame(rows), kv, clusters="speaker")
        return bb.covariates(sample, "party").contrast(["home", "family"], ["office", "career"], names=("home", "work"))

    return contrast


def test_a_difference_that_is_planted_is_told(planted):
    found = planted(4.0)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] > 0
    first = "From Democratic to Republican 'labor' moves towards work"
    assert found.findings()[0].startswith(f"{first}: {row['mean']:.3f} (89% interval ")
    assert not any(sentence.startswith("No move") for sentence in found.findings())


def test_what_is_not_told_stands_open_with_what_would_settle_it(planted):
    found = planted(0.0)
    row = found.table().query("quantity == 'difference'").iloc[0]
    assert row["low"] < 0 < row["high"]
    opened, basis = found.findings()[:2]
    assert opened.startswith("No move of 'labor' between home and work can be told from Democratic to Republican, ")
    shares = row[["share_instances", "share_speakers", "share_words"]].astype(float)
    remedy = {
        "share_instances": "more text",
        "share_speakers": "more speakers",
        "share_words": "further attribute words",
    }
    assert remedy[shares.idxmax()] in opened
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
    figure = f"Where every speaker counts equally the figure is another (from L to R {row['equal']:.3f})"
    assert found.findings()[-1] == f"{figure}: an effect may be tied to how much one talks."


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
