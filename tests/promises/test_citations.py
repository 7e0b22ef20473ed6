"""Authors would not be cited for the words, vectors, metrics and models that a result rests on."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.distances import datasets
from bayesbias.reporting.papers import references

APPROACH = "10.1162/coli_a_00507"
CALISKAN = "10.1126/science.aal4230"
MIKOLOV = "10.48550/arXiv.1310.4546"
BOLUKBASI = "10.48550/arXiv.1607.06520"
GONEN = "10.18653/v1/N19-1061"
PLACES, TEXT2MAP, GLOVE = "10.1177/0003122419877135", "10.21105/joss.03741", "10.3115/v1/D14-1162"


def dois(result):
    return set(bb.cite(result).table()["doi"]) - {""}


def test_a_table_a_fit_and_a_comparison(weat7, slice_vectors):
    assert dois(weat7) == dois(bb.fit(weat7, seed=0, draws=400)) == {APPROACH, CALISKAN, MIKOLOV}
    debiased = bb.debias(slice_vectors, "hard", definitional="gender_pairs")
    after = bb.distance_table(debiased, "weat7")
    assert dois(bb.compare(before=weat7, after=after, seed=0, draws=400)) == {APPROACH, CALISKAN, MIKOLOV, BOLUKBASI}
    looked = bb.side_effects(slice_vectors, debiased, "weat7", k=5, biased=20, draws=20)
    assert dois(looked) == {APPROACH, CALISKAN, MIKOLOV, BOLUKBASI, GONEN}
    assert bb.cite(looked).notes == ()
    assert dois(replace(looked, recovery=looked.recovery.iloc[:0])) == {APPROACH, CALISKAN, MIKOLOV, BOLUKBASI}
    assert dois(debiased) == {MIKOLOV, BOLUKBASI}
    assert dois(debiased.bayesbias_debiasing) == {BOLUKBASI}
    pooled = bb.pool({"a": weat7, "b": after, "c": weat7})
    assert dois(pooled) == {APPROACH, CALISKAN, MIKOLOV, BOLUKBASI}


def test_the_default_model_is_our_own_and_the_published_one_is_that_of_the_article(weat7):
    default, published = (
        bb.cite(bb.fit(weat7, model, seed=0, draws=400)).table().set_index("what") for model in ("auto", "published")
    )
    assert default.loc["approach", "doi"] == published.loc["approach", "doi"] == APPROACH
    assert default.loc["model related", ["source", "doi"]].tolist() == ["bayesbias", ""]
    assert published.loc["model published", "doi"] == APPROACH
    own = bb.bundled("models").set_index("name")["doi"].dropna()
    assert set(own.index) == {"published", "pooled"}


def test_metrics_and_an_audit(slice_vectors):
    assert dois(bb.metric("weat", slice_vectors, bb.load_query("weat7"))) == {CALISKAN, MIKOLOV}
    several = bb.run_metrics(slice_vectors, ["weat7"], ["rnd", "mac"])
    assert dois(several) == {"10.1073/pnas.1720347115", "10.18653/v1/N19-1062", CALISKAN, MIKOLOV}
    assert "10.1093/biostatistics/kxw041" in dois(bb.audit(slice_vectors, "gender"))


def test_a_published_table_carries_its_source(shared, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_DATA", str(shared / "paper_tables"))
    assert dois(datasets.load_dataset("weat_7_google")) == {APPROACH}


def test_lists_of_ones_own_are_not_taken_for_bundled_ones_of_their_name(slice_vectors):
    own = bb.WordLists("weat7", {"a": ["math"], "b": ["poetry"]}, {"a": ["man"], "b": ["woman"]})
    for item in (own, bb.distance_table(slice_vectors, own, relatedness=False)):
        assert bb.cite(item).table().set_index("what").loc["word list weat7", ["source", "doi"]].tolist() == ["", ""]
    debiased = bb.debias(slice_vectors, "hard", definitional=[("he", "she")])
    assert bb.cite(bb.metric("mac", debiased, "weat7")).table()["what"].tolist()[-2:] == [
        "embedding google-news-slice",
        "debiasing method hard",
    ]


def test_entries_have_the_authors_and_the_year_that_the_source_names():
    assert set(bb.bundled()["doi"].dropna()) - {""} <= set(references())
    both = pd.concat([bb.bundled("metrics"), bb.bundled("words")])
    for row in both[["source", "doi"]].drop_duplicates().dropna().itertuples():
        work = references()[row.doi]
        assert work["year"] in row.source, row
        assert work["author"].split(",")[0] in row.source, row


def test_bibtex(weat7):
    cited = bb.cite(weat7)
    entries = cited.bibtex().split("\n\n")
    assert len(entries) == 4
    assert entries[1].startswith("@article{dobrzeniecka2024bayesian,\n  author = {Dobrzeniecka, Alicja and Urbaniak,")
    keys = re.findall(r"@\w+\{([a-z0-9]+),", cited.bibtex())
    assert len(set(keys)) == 4
    for entry in entries:
        assert entry.count("{") == entry.count("}")
        assert entry.endswith("\n}")


def test_one_bibliography_of_several_results_has_each_work_once(weat7, slice_vectors, tmp_path):
    axis = bb.axis("glove-50d-slice", "gender", words=["nurse"])
    cited = bb.cite(weat7, axis, weat7)
    keys = re.findall(r"@\w+\{([^,]+),", cited.bibtex())
    assert len(keys) == len(set(keys)) == 1 + len(dois(weat7) | dois(axis))
    works = cited.table()["what"].tolist()
    assert works == list(dict.fromkeys([*bb.cite(weat7).table()["what"], *bb.cite(axis).table()["what"]]))
    bb.save_embedding(slice_vectors, tmp_path / "own.npz")
    twice = [bb.load_embedding(tmp_path / "own.npz", source="My own", doi=f"10.1000/{i}") for i in (1, 2)]
    entries = bb.cite(*twice).bibtex()
    assert "@misc{embedding-own-npz,\n" in entries
    assert "@misc{embedding-own-npz-2,\n" in entries
    with pytest.raises(bb.InputError, match=r"of list: .*, several one by one, as bb\.cite\(\*results\)"):
        bb.cite([weat7, axis])
    with pytest.raises(bb.InputError, match="sources of int"):
        bb.cite(weat7, 1)


def test_sources_of_own_vectors_and_lists_go_through_tables_files_and_fits_to_the_bibliography(tmp_path, slice_vectors):
    bb.save_embedding(slice_vectors, tmp_path / "own.npz")
    kv = bb.load_embedding(tmp_path / "own.npz", source="Own crawl of 2020", doi="10.1000/own_1")
    lists = replace(bb.load_words("weat7"), name="mine", source="My survey", doi="10.1000/list")
    table = bb.distance_table(kv, lists)
    assert table.coverage.embedding["path"] == str(tmp_path / "own.npz")
    bb.write_distance_table(table, tmp_path / "table.parquet")
    post = bb.fit(bb.read_distance_table(tmp_path / "table.parquet"), seed=0)
    bb.save_fit(post, tmp_path / "fit.nc")
    for given in (table, bb.load_fit(tmp_path / "fit.nc")):
        found = bb.cite(given).table().set_index("what")
        assert found.loc["embedding own.npz"].tolist() == ["Own crawl of 2020", "10.1000/own_1"]
        assert found.loc["word list mine"].tolist() == ["My survey", "10.1000/list"]
        entries = bb.cite(given).bibtex()
        assert "@misc{embedding-own-npz,\n  title = {{Own crawl of 2020}},\n  doi = {10.1000/own_1}," in entries
        assert "@misc{word-list-mine,\n  title = {{My survey}},\n  doi = {10.1000/list}," in entries
    debiased = bb.debias(kv, "project", definitional=[("he", "she")])
    kept = bb.cite(debiased).table()["what"].tolist()
    assert kept[-2:] == ["embedding own.npz (project)", "debiasing method project"]


def test_the_year_of_the_package_is_that_of_its_citation_file():
    released = re.search(r"date-released: (\d{4})", (Path(__file__).parents[2] / "CITATION.cff").read_text())[1]
    assert f"  year = {{{released}}}," in bb.cite(bb.load_words("weat7")).bibtex()
