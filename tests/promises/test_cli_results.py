"""Commands would give other numbers than the functions of their names, or leave out files and pictures."""

import subprocess
import sys
from contextlib import chdir
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb

BAYESBIAS = Path(sys.executable).with_name("bayesbias")
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def chain(program, tmp_path_factory, blank_pictures):
    """distances, fit, diagnose and report, one after the other: the first in a process of its own."""
    folder = tmp_path_factory.mktemp("chain")
    first = [BAYESBIAS, "distances", "google-news-slice", "weat7", "-o", "t.parquet"]
    done = subprocess.run(first, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    said = {"distances": done.stdout}
    with chdir(folder), blank_pictures():
        for line in (
            "fit t.parquet -o f.nc --seed 5 --model pooled --draws 2000",
            "diagnose f.nc -o d.csv",
            "report f.nc -o r.html",
        ):
            name, *given = line.split()
            code, said[name], errors = program(name, *given)
            assert code == 0, errors
    return folder, said


def test_the_chain_gives_what_the_functions_give(chain, slice_vectors):
    folder, said = chain
    table = bb.distance_table(slice_vectors, "weat7")
    pd.testing.assert_frame_equal(bb.read_distance_table(folder / "t.parquet"), table, check_dtype=False)
    post = bb.fit(table, "pooled", draws=2000, seed=5)
    # the command runs with one thread of linear algebra, which rounds in another order than several
    xr.testing.assert_allclose(bb.load_fit(folder / "f.nc").posterior.dataset, post.posterior.dataset, rtol=1e-9)
    assert "2,256 distances written" in said["distances"]
    assert "125 of 311 control words found" in " ".join(said["distances"].split())
    assert set(repr(bb.summary(post)).splitlines()) <= set(said["fit"].splitlines())
    verdict = bb.diagnose(post)
    assert set(repr(verdict).splitlines()) <= set(said["diagnose"].splitlines())
    assert f"{bb.check_predictions(post)['inside_89'][0]:.3f}" in said["diagnose"]
    assert pd.read_csv(folder / "d.csv").columns.tolist() == verdict.table().columns.tolist()
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_that_takes_no_file_is_said(chain, here, tmp_path):
    folder, _ = chain
    (tmp_path / "file").write_text("not a folder")
    code, _, errors = here("report", folder / "f.nc", "-o", tmp_path / "file" / "r.html")
    assert code == 1
    assert errors == f"Error: cannot write r.html: there is no folder {tmp_path / 'file'}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("command", "given", "name", "room"),
    [
        ("report", ("f.nc",), "r.html", 500),
        ("fit", ("t.parquet",), "f.nc", 20_000),
    ],
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    chain, here, tmp_path, limited_files, command, given, name, room
):
    (file, *options), (folder, _) = given, chain
    with limited_files(room):
        code, _, errors = here(command, folder / file, "-o", tmp_path / name, *options)
    assert code == 1
    assert errors == f"Error: cannot write {name} in the folder {tmp_path}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_repeated_rows_are_kept_as_the_table_was_written(prints):
    prints("distances google-news-slice race -o t.parquet --keep-duplicates")
    for options, rows in (
        ("--model published", 2520), ("--model published --no-keep-duplicates", 1400), ("", 1400)
    ):  # fmt: skip
        assert "repeated: " in prints(f"fit t.parquet -o f.nc --seed 0 --verbose {options}")
        assert bb.load_fit("f.nc")["observed_data"].sizes["pair"] == rows


@pytest.mark.usefixtures("without_pictures")
def test_draws_of_a_model_of_ones_own_have_a_report(here, slice_vectors):
    table = bb.distance_table(slice_vectors, "weat7")
    draws = bb.fit(table, "published", draws=800, seed=5)["posterior"].to_dataset()[["word_mean"]]
    post = bb.from_draws(draws, table, name="by Stan")
    bb.save_fit(post, "own.nc")
    code, _, errors = here("report", "own.nc", "-o", "own.html")
    assert code == 0, errors
    assert "model by Stan (elsewhere)" in Path("own.html").read_text(encoding="utf-8")


FORMS = """
name = "forms"
controls = ["human"]
[protected]
man = [["he", "him"], "his", "boy"]
woman = [["she", "her"], "hers", "girl"]
[stereotypes]
man = [["soldier", "soldiers"], "captain", "engineer", "boss"]
woman = ["nurse", ["dancer", "dancers"], "maid", "teacher"]
"""


@pytest.mark.full
def test_run_takes_words_of_several_forms(here, slice_vectors):
    bb.save_embedding(slice_vectors, "mine.npz")
    Path("forms.toml").write_text(FORMS, encoding="utf-8")
    code, out, errors = here("run", "mine.npz", "forms.toml", "--out", "made", "--topics", "50", "--seed", "3")
    assert code == 0, errors
    assert "as far: of 50 sets of matched reference lists" in out
    null = bb.topic_null(slice_vectors, "forms.toml", replicates=5)
    assert {"he", "him", "she", "her"} <= set(slice_vectors.key_to_index)
    assert [sum(counts) for counts in null.forms.values()] == null.coherence["words"].tolist()


@pytest.mark.full
def test_run_takes_an_embedding_of_ones_own(here, slice_vectors):
    bb.save_embedding(slice_vectors, "mine.npz")
    code, out, errors = here("run", "mine.npz", "weat7", "--out", "made", "--topics", "0", "--seed", "3")
    assert code == 0, errors
    assert "as far" not in out
    assert out.splitlines()[-1] == "Next: open made/report.html in a browser"
    assert bb.load_fit("made/fit.nc").attrs["seed"] == 3


@pytest.mark.full
def test_run_adjusts_for_an_attribute_of_words(here, slice_vectors):
    bb.save_embedding(slice_vectors, "mine.npz")
    code, out, errors = here("run", "mine.npz", "weat7", "--out", "made", "--topics", "0", "--adjust", "length")
    assert code == 0, errors
    assert "adjusted for length" in out
    fitted, expected = bb.load_fit("made/fit.nc"), bb.fit(bb.distance_table("mine.npz", "weat7"), adjust="length")
    np.testing.assert_allclose(bb.contrasts(fitted)["mean"], bb.contrasts(expected)["mean"], atol=1e-9)


@pytest.mark.parametrize("part", ["stereotypes", "controls"])
def test_demo_shows_what_a_list_allows(prints, part):
    text = {"stereotypes": "[stereotypes]\nman = ['doctor', 'lawyer']\n", "controls": "[stereotypes]\n"}[part]
    controls = "controls = ['neutral']\n" if part == "controls" else ""
    Path("mine.toml").write_text(f"name = 'mine'\n{controls}[protected]\nman = ['he', 'his']\n{text}")
    assert "mean distances (cosine distance)" in prints("demo --words mine.toml --out out")
    assert Path("out/report.html").is_file()
    assert not Path("out/contrasts.png").exists()


@pytest.mark.full
def test_demo_writes_pictures_and_reports_and_debiases(here):
    code, out, errors = here("demo", "--debias", "--words", "race", "--out", "d")
    assert (code, errors) == (0, "")
    pictures = ("change", "side-effects", "distances")
    files = {"change.html", "changes.csv", "distances.csv", "fit.nc", "report.html"}
    assert files | {f"{name}.png" for name in pictures} <= {path.name for path in Path("d").iterdir()}
    assert out.splitlines()[-1] == "Next: open d/change.html in a browser"
    page = Path("d/change.html").read_text(encoding="utf-8")
    # two to four words a group: nothing tells them apart, and nothing is removed
    assert "every distance of all words changed by 0" in page


@pytest.fixture
def two_embeddings(here, slice_vectors):
    """The vectors of some words in the text format, and the same with noise."""
    rng = np.random.default_rng(0)
    words = [word for name in ("weat6", "weat7") for listed in bb.load_query(name).sets.values() for word in listed]
    words += [word for pair in bb.load_list("gender_pairs") for word in pair if word in slice_vectors]
    kvs = {}
    for name, noise in (("plain.txt", 0.0), ("noisy.txt", 0.2)):
        vectors = {word: slice_vectors[word] + rng.normal(0, noise, 300) for word in words}
        kvs[name] = bb.load_embedding(vectors)
        bb.save_embedding(kvs[name], name)
    return kvs


def test_metrics_gives_what_run_metrics_gives(prints, two_embeddings):
    out = prints("metrics plain.txt noisy.txt --query weat6 --query weat7 --p-value -o m.csv")
    test = {"p_value": True}
    metrics = {"weat": ("weat", test), "weat_effect_size": ("weat_effect_size", test)}
    metrics |= {name: name for name in ("rnd", "rnsb", "mac", "ect", "same", "semaxis")}
    expected = bb.run_metrics(two_embeddings, ["weat6", "weat7"], metrics)
    written = pd.read_csv("m.csv")
    pd.testing.assert_frame_equal(written, pd.read_csv(StringIO(expected.to_csv(index=False))), rtol=1e-9)
    assert len(written) == 2 * 2 * 11
    assert "weat7 in noisy.txt" in out
    assert f"{written['p_value'].iloc[0]:.3g}" in out


def test_metrics_says_what_is_missing_and_what_does_not_fit(prints, two_embeddings):
    Path("mine.toml").write_text(
        'name = "mine"\n[targets]\nmale = ["he", "him", "sir"]\nfemale = ["she", "her"]\n'
        '[attributes]\narts = ["poetry"]\n'
    )
    said = prints("metrics plain.txt --query mine.toml --max-missing 0.5")
    assert "left out, since a query has too few sets: weat, weat_effect_size, rnsb, semaxis" in said
    assert "coverage: 4 of 5 mine: target words found (missing: sir)" in said
    refused = prints("metrics plain.txt --query mine.toml").replace("│", " ")
    assert "1 of 3 words of the set 'male' are missing" in " ".join(refused.split())


def test_options_of_metrics_reach_them(prints):
    out = prints("metrics google-news-slice --query weat6 --metric rnd --distance cos")
    expected = bb.run_metrics("google-news-slice", "weat6", {"rnd": ("rnd", {"distance": "cos"})})["value"]
    assert all(f"{value:.3f}" in out for value in expected)


@pytest.mark.usefixtures("without_pictures")
def test_a_report_on_a_saved_file_names_its_debiasing(prints):
    bb.save_embedding(bb.debias("google-news-slice", "soft", definitional="gender_pairs"), "soft.npz")
    prints("compare google-news-slice soft.npz --words gender --draws 400 --report r.html")
    text = Path("r.html").read_text(encoding="utf-8")
    assert "debiased by soft" in text


@pytest.mark.full
def test_compare_gives_what_the_functions_give(here, slice_vectors, hard_debiased):
    bb.save_embedding(hard_debiased, "after.bin")
    code, out, errors = here(
        "compare", "google-news-slice", "after.bin", "--words", "gender", "--seed", 3, "-o", "c.csv",
        "--picture", "c.png", "--report", "c.html", "--side-effects",
    )  # fmt: skip
    assert code == 0, errors
    tables = [bb.distance_table(kv, "gender") for kv in (slice_vectors, bb.load_embedding("after.bin"))]
    expected = bb.compare({"google-news-slice": tables[0], "after.bin": tables[1]}, seed=3)
    written = pd.read_csv("c.csv")
    assert {f"associated - {name}" for name in ("different", "human", "neutral")} <= set(written["of"])
    own = written[written["of"] == "associated - different"]
    assert own["change"].to_numpy() == pytest.approx(expected.changes()["mean"].to_numpy(), abs=1e-9)
    assert own["protected_word"].iloc[0] == "whole list"
    assert written["unit"].unique() == ["cosine distance"]
    assert "P(shrank)" in out
    assert "nearest 10 kept" in out
    assert Path("c.png").read_bytes().startswith(PNG)
    assert "Side effects" in Path("c.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_pictures")
def test_compare_takes_tables_and_the_same_embedding_twice(prints, slice_vectors, hard_debiased):
    for name, kv in (("before.parquet", slice_vectors), ("after.parquet", hard_debiased)):
        bb.write_distance_table(bb.distance_table(kv, "gender"), name)
    out = prints("compare before.parquet after.parquet --seed 1 --draws 400")
    assert "to neutral words" in out
    out = prints("compare google-news-slice google-news-slice --words gender")
    assert "fixed: every distance of all words changed by 0" in out
    prints("compare before.parquet after.parquet before.parquet --draws 400 --report r.html")
    assert Path("r.html").is_file()


@pytest.mark.full
def test_similarities_come_from_a_file(here, slice_vectors, hard_debiased):
    bb.save_embedding(hard_debiased, "after.bin")
    names = slice_vectors.index_to_key
    rows = pd.DataFrame([(names[at], names[at + 7], at / 10) for at in range(40)], columns=["a", "b", "score"])
    rows.to_csv("s.csv", index=False)
    rows[["a", "b"]].to_csv("two.csv", index=False)
    rows.to_csv("bare.csv", index=False, header=False)
    asked = ("compare", "google-news-slice", "after.bin", "--words", "gender", "--side-effects", "--draws", 400)
    code, out, _ = here(*asked, "--similarity", "s.csv")
    assert code == 0
    assert here(*asked, "--similarity", "bare.csv")[1] == out
    code, _, errors = here(*asked, "--similarity", "two.csv")
    assert code == 1
    assert "two.csv has 2 columns" in " ".join(errors.split())
