"""A table that loses what it carries, or carries what is no longer its own, would give wrong intervals."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.distances import adjust
from bayesbias.distances.covariances import relatedness_content
from bayesbias.errors import RelatednessWarning
from bayesbias.models.tree import Fit
from benchmarks.simulation import simulate

KEPT = {
    "mask": lambda t: t[t["group"] == "math"],
    "astype": lambda t: t.astype({"group": "category"}),
    "groupby head": lambda t: t.groupby("group").head(3),
    "index": lambda t: t.set_index("protected_word").reset_index(),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)),
}


@pytest.mark.parametrize("name", KEPT)
def test_rows_keep_what_the_table_carries(weat7, name):
    rows = KEPT[name](weat7)
    assert isinstance(rows, bb.DistanceTable)
    assert rows.coverage == weat7.coverage
    assert relatedness_content(rows.relatedness) == relatedness_content(weat7.relatedness)
    if name != "pickle":
        assert rows.relatedness is weat7.relatedness
    assert not rows.attrs


def test_what_is_no_table_of_pairs_is_a_plain_frame(weat7):
    assert type(weat7[["group", "distance"]]) is pd.DataFrame
    assert type(weat7.groupby("connection", as_index=False)["distance"].mean()) is pd.DataFrame


def test_a_table_that_pandas_put_together_says_what_it_lost(weat7):
    found = pd.concat([weat7.head(1200), weat7.tail(1056)])
    assert found.relatedness is None
    with pytest.warns(RelatednessWarning, match="put together from others"):
        assert bb.fit(found, seed=0, draws=40, chains=1).attrs["model"] == "crossed"
    again = bb.DistanceTable(found, like=weat7)
    assert bb.fit(again, seed=0, draws=40, chains=1).attrs["model"] == "related"


@pytest.mark.parametrize(
    ("sep", "decimal", "end"),
    [(";", ",", "\r\n"), (" ", ".", "\n")],
)
def test_columns_may_be_apart_by_other_than_commas(weat7, tmp_path, sep, decimal, end):
    words = weat7[:300].assign(group="New, York; city")
    words.to_csv(tmp_path / "commas.csv", index=False)
    words.to_csv(tmp_path / "t.csv", index=False, sep=sep, decimal=decimal, lineterminator=end)
    tables = [bb.read_distance_table(tmp_path / name) for name in ("commas.csv", "t.csv")]
    assert tables[0]["group"].unique().tolist() == ["New, York; city"]
    pd.testing.assert_frame_equal(*tables)
    assert tables[1]["distance"].tolist() == pytest.approx(words["distance"].tolist(), abs=1e-12)


def test_a_file_that_lost_a_part_is_refused(weat7, tmp_path):
    import pyarrow.parquet as pq

    bb.write_distance_table(adjust(weat7, by="length"), tmp_path / "t.parquet")
    metadata = pq.read_metadata(tmp_path / "t.parquet").metadata
    content = pq.read_table(tmp_path / "t.parquet")
    for gone in (b"bayesbias.adjustment", b"bayesbias.relatedness"):
        with pq.ParquetWriter(tmp_path / "u.parquet", content.schema) as writer:
            writer.write_table(content)
            writer.add_key_value_metadata({k: v for k, v in metadata.items() if k.startswith(b"bayes") and k != gone})
        with pytest.raises(bb.InputError, match=f"cannot be read as a table: .*{gone.decode()}"):
            bb.read_distance_table(tmp_path / "u.parquet")


def test_a_simulated_table_carries_its_truth(weat7, tmp_path):
    drawn = simulate(weat7, "related", {"sd_factor": 1.0}, 1)
    assert drawn.head().truth["word_mean"].shape == (16, 4)
    bb.write_distance_table(drawn, tmp_path / "t.parquet")
    again = bb.read_distance_table(tmp_path / "t.parquet")
    np.testing.assert_array_equal(again.truth["word_mean"], drawn.truth["word_mean"])
    # its distances are not those of the vectors, also once they are in a fit
    post = bb.fit(again, seed=0, draws=400)
    bb.save_fit(post, tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(bb.contrasts(post), bb.contrasts(bb.load_fit(tmp_path / "fit.nc")))


def test_a_criterion_places_words_of_simulated_distances_by_their_vectors(gender_table):
    """Only distances that were adjusted move the places."""
    drawn = simulate(gender_table, "related", {"sd_factor": 1.0}, 0)
    post = bb.fit(drawn, seed=0)
    words = post["posterior"]["protected_word"].to_numpy().tolist()
    values = dict(zip(words, np.random.default_rng(0).normal(size=len(words)), strict=True))
    found = bb.criterion(post, values, seed=0).table().set_index("quantity").loc["correlation"]
    assert found[["mean", "low", "high"]].tolist() == pytest.approx([-0.328, -0.693, 0.102], abs=0.002)
    assert found["p_positive"] == pytest.approx(0.103, abs=0.002)


@pytest.fixture(scope="module")
def adjusted(weat7):
    return adjust(weat7, by="length")


@pytest.fixture(scope="module")
def bare(weat7):
    """Without the covariance of the vectors."""
    return adjust(weat7.without_relatedness(), by="length")


class TestAdjusted:
    def test_the_error_of_a_slope_travels_with_the_table_and_its_file(self, bare, tmp_path):
        slope = bare.adjustment.slope
        assert slope.se > 0
        bb.write_distance_table(bare, tmp_path / "t.parquet")
        again = bb.read_distance_table(tmp_path / "t.parquet")
        assert again.adjustment.slope == slope
        post = bb.fit(again, seed=0, draws=8000)
        assert post["posterior/slope"].std().item() == pytest.approx(slope.se, rel=0.06)

    def test_a_file_holds_what_was_before(self, weat7, adjusted, tmp_path):
        bb.write_distance_table(adjusted, tmp_path / "t.parquet")
        again = bb.read_distance_table(tmp_path / "t.parquet")
        before, after = again.adjustment.before, adjusted.adjustment.before
        assert relatedness_content(before) == relatedness_content(after) == relatedness_content(weat7.relatedness)
        pd.testing.assert_frame_equal(again.adjustment.expected, adjusted.adjustment.expected)
        post = bb.fit(again[again["group"] == "math"], seed=0, draws=400)
        assert post["unadjusted/observed_data/distance"].size == 1128

    def test_densities_leave_out_the_error_of_the_slope(self, weat7):
        rng = np.random.default_rng(0)
        numbers = {word: rng.normal() for word in weat7["attribute_word"].unique()}
        numbers |= {word: 15 + rng.normal() for word in bb.load_words("weat7").stereotypes["math"]}
        post = bb.fit(adjust(weat7.without_relatedness(), by={"made up": numbers}), seed=0)
        plain = bb.fit(pd.DataFrame(Fit(post).data.to_frame()), seed=0)
        both = [bb.checks.add_prior(each, draws=1, log_likelihood=True) for each in (post, plain)]
        for group in ("log_prior", "log_likelihood"):
            xr.testing.assert_allclose(*(each[group].to_dataset() for each in both))
        assert bb.contrasts(post, "associated", "neutral").loc[0, "sd"] > 1.2 * bb.contrasts(plain).loc[0, "sd"]

    def test_adjusted_and_other_tables_are_not_compared(self):
        tables = bb.distance_tables({"a": "google-news-slice", "b": "glove-50d-slice"}, "weat7")
        mixed = {"a": tables["a"], "b": adjust(tables["b"], by="length")}
        for analysis in (bb.compare, bb.pool):
            with pytest.raises(bb.InputError, match="a is not and b is adjusted for length: adjust all tables"):
                analysis(mixed)
        both = {name: adjust(each, by="length") for name, each in tables.items()}
        assert "adjusted: distances adjusted for length (the tables)" in bb.compare(both, seed=0, draws=400).notes
        assert "length" in str(bb.pool(both).header())
