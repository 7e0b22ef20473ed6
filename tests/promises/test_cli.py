"""The command line as a user runs it: every command, its files, its exit codes and its errors."""

import os
import signal
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


def run(*arguments, cwd=None, code=0):
    done = subprocess.run([BAYESBIAS, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def chain(program, tmp_path_factory, blank_pictures):
    """distances, fit, contrasts and report, one after the other: the first in a process of its own."""
    folder = tmp_path_factory.mktemp("chain")
    said = {"distances": run("distances", "google-news-slice", "weat7", "-o", "t.parquet", cwd=folder).stdout}
    with chdir(folder), blank_pictures():
        for name, *given in (
            ("fit", "t.parquet", "-o", "f.nc", "--seed", 5, "--model", "pooled", "--draws", 2000),
            ("contrasts", "f.nc", "--second", "neutral", "--rope", 0.02, "-o", "c.csv"),
            ("report", "f.nc", "-o", "r.html"),
        ):
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
    expected = bb.contrasts(post, "associated", "neutral", rope=0.02)
    assert pd.read_csv(folder / "c.csv")["mean"].to_numpy() == pytest.approx(expected["mean"].to_numpy(), abs=1e-12)
    assert "2,256 distances written" in said["distances"]
    assert "61 of 226" in said["distances"]
    assert "passes its checks" in said["fit"]
    assert "whole list" in said["contrasts"]
    flat = " ".join(said["contrasts"].split())
    assert f"Associated − neutral, {expected['mean'][0]:.3f}".replace("-", "−") in flat
    assert "which stereotype words of any kind share." in flat
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


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
    assert "Of 50 random lists as coherent as these and as similar to each other, " in " ".join(out.split())
    page = Path("made/report.html").read_text(encoding="utf-8")
    assert "random lists of words that have nothing to do with the groups" in page
    null = bb.topic_null(slice_vectors, "forms.toml", replicates=5)
    found = {word for word in ("he", "him", "she", "her") if word in slice_vectors}
    assert found == {"he", "him", "she", "her"}
    assert [sum(counts) for counts in null.forms.values()] == null.coherence["words"].tolist()


def test_the_random_lists_of_run_are_1000(here):
    code, out, errors = here("run", "--help")
    assert code == 0, errors
    assert "1000" in out


@pytest.mark.full
def test_run_takes_an_embedding_and_words_of_ones_own(here, slice_vectors, tmp_path):
    bb.save_embedding(slice_vectors, "mine.npz")
    code, out, errors = here("run", "mine.npz", "weat7", "--out", "made", "--topics", "0", "--seed", "3")
    assert code == 0, errors
    assert "vectors of mine.npz, word list weat7: 2,256 distances" in out
    assert out.splitlines()[-1] == "Next: open made/report.html in a browser"
    assert bb.load_fit("made/fit.nc").attrs["seed"] == 3
    for arguments, message in (
        (("run", "mine.npz", "gendre", "--out", "more"), "one of gender, race"),
        (("run", "mine.npz", "weat7", "--out", "more", "--model", "crosed"), "there is no model"),
        (("run", "mine.npz", "weat7", "--out", "more", "--case", "lower"), "as-is, fallback"),
    ):
        code, _, errors = here(*arguments)
        assert code == 1
        assert message in errors
    assert not Path("more").exists()


def test_options_of_metrics_and_methods_reach_the_command_line(here):
    code, out, errors = here("metrics", "google-news-slice", "--query", "weat6", "--metric", "rnd", "--distance", "cos")
    assert code == 0, errors
    expected = bb.run_metrics("google-news-slice", "weat6", {"rnd": ("rnd", {"distance": "cos"})})["value"]
    assert all(f"{value:.3f}" in out for value in expected)
    pairs = ("--pairs", "gender_pairs", "--method", "null_space")
    code, out, errors = here("debias", "google-news-slice", "-o", "d.npz", *pairs, "--iterations=1")
    assert code == 0, errors
    assert "1 direction" in out
    for arguments, message in (
        (
            ("metrics", "google-news-slice", "--query", "weat6", "--metric", "rnd", "--dist", "cos"),
            "no option --dist of",
        ),
        (("metrics", "google-news-slice", "--query", "weat6", "--metric", "rnd", "--distance", "x"), "norm, cos"),
        (("debias", "google-news-slice", "-o", "e.npz", *pairs, "--components", "1"), "valid are --iterations, --seed"),
        (("debias", "google-news-slice", "-o", "e.npz", *pairs, "glove"), "one embedding is debiased at a time"),
    ):
        code, _, errors = here(*arguments)
        assert code == 1
        assert message in errors


def test_what_is_bundled_is_shown(here):
    code, out, _ = here("lists")
    assert code == 0
    assert "gender_pairs" in out
    assert out.count("weat1, weat2, weat6") == 24
    code, out, _ = here("lists", "--language", "tr")
    assert code == 0
    assert "weathub/tr/weat9" in out
    assert "gender_pairs" not in out
    assert "no bundled list is in the language" in here("lists", "--language", "xx")[1]
    code, _, errors = here("lists", "--language", "Turkish")
    assert code == 1
    assert "give a BCP 47 tag" in errors
    assert "published" in here("lists", "models")[1]
    assert "affluence" in here("lists", "axes")[1]
    assert "weat10" in here("lists", "queries")[1]
    for arguments, message in (
        (("lists", "metrics"), "kind is 'metrics': valid are words, axes, queries, models"),
        (("lists", "axes", "--language", "de"), "--language is for word lists: leave it out of axes"),
    ):
        code, _, errors = here(*arguments)
        assert code == 1
        assert message in errors


@pytest.mark.parametrize("arguments", [(), ("--help",), ("fit", "--help"), ("--version",)])
def test_help_and_version(here, arguments):
    code, out, errors = here(*arguments)
    assert (code, errors) == (0, "")
    assert "bayesbias" in out


@pytest.mark.parametrize(
    "arguments",
    [("fits",), ("fit",), ("fit", "t.csv", "--draw", "3", "-o", "f.nc"), ("fit", "t", "-o", "f.nc", "--seed", "x")],
)
def test_wrong_usage_exits_with_2(here, arguments):
    code, _, errors = here(*arguments)
    assert code == 2
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("distances", "google-news-slise", "gender", "-o", "t.csv"), "google-news-slice"),
        (("distances", "google-news-slice", "gendre", "-o", "t.csv"), "one of gender, race"),
        (("distances", "google-news-slice", "gender", "-o", "t.xlsx"), ".csv or .parquet"),
        (("distances", "google-news-slice", "gender", "-o", "t.csv", "--case", "lower"), "as-is, fallback"),
        (("distances", "vectors.kv", "gender", "-o", "t.csv"), "pickle"),
        (("distances", "truncated.bin", "gender", "-o", "t.csv"), "truncated"),
        (("fit", "absent.csv", "-o", "f.nc"), "there is no file"),
        (("fit", "bad.csv", "-o", "f.nc"), "row 1, column 'distance': 2.5"),
        (("fit", "good.csv", "-o", "f.nc", "--model", "crosed"), "published"),
        (("fit", "good.csv", "-o", "f.nc", "--engine", "exact", "--model", "baseline"), "cannot fit"),
        (("fit", "good.csv", "-o", "f.nc", "--draws", "4001"), "do not split evenly"),
        (("fit", "good.csv", "-o", "absent/f.nc"), "there is no folder absent"),
        (("fit", "good.csv", "-o", "f.h5", "--engine", "nuts"), "a fit ends in .nc"),
        (("demo", "--out", "good.csv"), "cannot make the folder good.csv"),
        (("contrasts", "good.csv"), "cannot be read"),
        (("report", "absent.nc", "-o", "r.html"), "there is no file"),
        (("demo", "--words", "gendre"), "one of gender, race"),
    ],
)
def test_errors_are_one_sentence_and_leave_nothing(here, tmp_path, arguments, message):
    names = "protected_word,attribute_word,connection,distance\n"
    (tmp_path / "good.csv").write_text(names + "he,nurse,different,0.9\nhe,doctor,associated,0.8\n")
    (tmp_path / "bad.csv").write_text(names + "he,nurse,different,0.9\nhe,doctor,associated,2.5\n")
    (tmp_path / "vectors.kv").write_bytes(b"\x80\x04N.")
    (tmp_path / "truncated.bin").write_bytes(b"2 3\nhe \x00\x00\x80?")
    before = {path.name for path in tmp_path.iterdir()}
    code, _, errors = here(*arguments)
    assert code == 1
    assert errors.startswith("Error: ")
    assert message in errors
    assert errors.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == before


def test_debug_shows_the_traceback(tmp_path):
    assert "Traceback" in run("--debug", "fit", tmp_path / "absent.csv", "-o", "f.nc", code=1).stderr


@pytest.mark.parametrize("command", ["report", "contrasts"])
def test_a_folder_that_takes_no_file_is_said(chain, here, tmp_path, command):
    folder, _ = chain
    (tmp_path / "file").write_text("not a folder")
    name = "r.html" if command == "report" else "c.csv"
    code, _, errors = here(command, folder / "f.nc", "-o", tmp_path / "file" / name)
    assert code == 1
    assert errors == f"Error: cannot write {name}: there is no folder {tmp_path / 'file'}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("command", ["report", "contrasts"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(chain, here, tmp_path, limited_files, command):
    folder, _ = chain
    name, *options = ("r.html", "--no-sensitivity") if command == "report" else ("c.csv",)
    with limited_files(500):
        code, _, errors = here(command, folder / "f.nc", "-o", tmp_path / name, *options)
    assert code == 1
    assert errors == f"Error: cannot write {name} in the folder {tmp_path}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_stops_a_fit(chain, here, tmp_path, limited_files):
    folder, _ = chain
    with limited_files(20_000):
        code, _, errors = here("fit", folder / "t.parquet", "-o", tmp_path / "f.nc")
    assert code == 1
    assert errors == f"Error: cannot write f.nc in the folder {tmp_path}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_repeated_rows_are_kept_as_the_table_was_written(here, tmp_path):
    assert here("distances", "google-news-slice", "race", "-o", "t.parquet", "--keep-duplicates")[0] == 0
    published = ("--model", "published")
    for options, rows in (published, 2520), ((*published, "--no-keep-duplicates"), 1400), ((), 1400):
        code, out, _ = here("fit", "t.parquet", "-o", "f.nc", "--seed", 0, *options)
        assert code == 0
        assert "repeat a pair" in out
        assert bb.load_fit(tmp_path / "f.nc")["observed_data"].sizes["pair"] == rows


@pytest.mark.parametrize("part", ["stereotypes", "controls"])
def test_demo_shows_what_a_list_allows(here, tmp_path, part):
    text = {"stereotypes": "[stereotypes]\nman = ['doctor', 'lawyer']\n", "controls": "[stereotypes]\n"}[part]
    controls = "controls = ['neutral']\n" if part == "controls" else ""
    (tmp_path / "mine.toml").write_text(f"name = 'mine'\n{controls}[protected]\nman = ['he', 'his']\n{text}")
    code, out, errors = here("demo", "--words", "mine.toml", "--out", "out")
    assert (code, errors) == (0, "")
    assert "there is no contrast of associated words to report" in " ".join(out.split())
    assert (tmp_path / "out" / "report.html").is_file()
    assert not (tmp_path / "out" / "contrasts.png").exists()


def test_a_reader_that_goes_away_is_no_error():
    done = subprocess.run(f"{BAYESBIAS} lists | head -1", shell=True, capture_output=True, text=True)
    assert "Word lists" in done.stdout
    assert done.stderr == ""


def test_plan_gives_what_the_function_gives(here, tmp_path):
    assert here("distances", "google-news-slice", "weat7", "-o", "t.parquet")[0] == 0
    table = bb.read_distance_table("t.parquet")
    code, out, _ = here("plan", "t.parquet", "--effect", "0.03", "-o", "plan.png")
    assert code == 0
    found = bb.plan(table, effect=0.03)
    assert f"is seen with probability {100 * found.present.power:.1f}%" in " ".join(out.split())
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = here("plan", "weat7")
    assert code == 0
    assert "typical scales of 18 published tables" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "gendre"), "gender"),
        (("plan", "weat7", "--effect", "0"), "effect is 0"),
        (("plan", "weat7", "-o", "plan.svg"), ".png"),
        (("plan", "absent.csv"), "there is no file"),
    ],
)
def test_plan_refuses_with_a_sentence(here, arguments, message):
    code, _, errors = here(*arguments)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors


@pytest.fixture
def two_embeddings(slice_vectors, tmp_path):
    """The slice in the text format, and the same with noise."""
    rng = np.random.default_rng(0)
    words = [word for name in ("weat6", "weat7") for listed in bb.load_query(name).sets.values() for word in listed]
    for name, noise in (("plain.txt", 0.0), ("noisy.txt", 0.1)):
        lines = [
            " ".join([word, *map(str, slice_vectors[word] + rng.normal(0, noise, slice_vectors.vector_size))])
            for word in dict.fromkeys(words)
        ]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_metrics_gives_what_run_metrics_gives(here, two_embeddings):
    code, out, errors = here(
        "metrics", "plain.txt", "noisy.txt", "--query", "weat6", "--query", "weat7", "--p-value", "-o", "m.csv"
    )
    assert (code, errors) == (0, "")
    kvs = {name: bb.load_embedding(name) for name in ("plain.txt", "noisy.txt")}
    test = {"p_value": True}
    metrics = {"weat": ("weat", test), "weat_effect_size": ("weat_effect_size", test)}
    metrics |= {name: name for name in ("rnd", "rnsb", "mac", "ect", "same", "semaxis")}
    expected = bb.run_metrics(kvs, ["weat6", "weat7"], metrics)
    written = pd.read_csv("m.csv")
    pd.testing.assert_frame_equal(written, pd.read_csv(StringIO(expected.to_csv(index=False))), rtol=1e-9)
    assert len(written) == 2 * 2 * 11
    assert "weat7 in noisy.txt" in out
    assert f"{written['p_value'].iloc[0]:.3g}" in out


def test_metrics_says_what_is_missing_and_what_does_not_fit(here, two_embeddings):
    Path("mine.toml").write_text(
        'name = "mine"\n[targets]\nmale = ["he", "him", "sir"]\nfemale = ["she", "her"]\n'
        '[attributes]\narts = ["poetry"]\n'
    )
    code, out, _ = here("metrics", "plain.txt", "--query", "mine.toml", "--max-missing", "0.5")
    said = " ".join(out.split())
    assert code == 0
    assert "left out, since a query has too few sets: weat, weat_effect_size, rnsb, semaxis" in said
    assert "mine in plain.txt: male lacks sir (1 of 3 words)." in said
    code, out, _ = here("metrics", "plain.txt", "--query", "mine.toml")
    assert "1 of 3 words of the set 'male' are missing" in " ".join(out.replace("│", " ").split())


def test_rank_gives_what_the_function_gives(here, two_embeddings):
    Path("web.csv").write_text("embedding,WEB\nnoisy.txt,0.4\nplain.txt,0.7\n")
    code, out, errors = here(
        "rank", "plain.txt", "noisy.txt", "--query", "weat6", "--metric", "weat", "--metric", "ripa", "--draws", "30",
        "--outside", "web.csv", "-o", "r.csv", "--picture", "r.png",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    kvs = {name: bb.load_embedding(name) for name in ("plain.txt", "noisy.txt")}
    outside = {"WEB": {"plain.txt": 0.7, "noisy.txt": 0.4}}
    expected = bb.rank(kvs, "weat6", ["weat", "ripa"], draws=30, outside=outside)
    pd.testing.assert_frame_equal(pd.read_csv("r.csv"), expected.table(), check_dtype=False, rtol=1e-9)
    assert expected.ranks["WEB"].to_dict() == {"plain.txt": 1.0, "noisy.txt": 2.0}
    assert "WEB" in out
    assert " ".join(expected.sentences[0].split()) in " ".join(out.split())
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("metrics", "plain.txt"), "nothing is asked: give --query"),
        (("metrics", "plain.txt", "--query", "weat77"), "there is no query 'weat77'"),
        (("metrics", "plain.txt", "--query", "weat7", "--metric", "wheat"), "did you mean 'weat'?"),
        (("metrics", "absent.txt", "--query", "weat7"), "absent.txt"),
        (("metrics", "plain.txt", "plain.txt", "--query", "weat7"), "plain.txt is given twice"),
        (("metrics", "plain.txt", "--query", "weat7", "--on-missing", "keep"), "on_missing is 'keep'"),
        (("metrics", "plain.txt", "--query", "weat7", "--p-value", "--alternative", "both"), "alternative is 'both'"),
        (("metrics", "plain.txt", "--query", "weat7", "--max-missing", "2"), "max_missing is 2.0"),
        (("metrics", "plain.txt", "--query", "weat7", "--compat", "gensim"), "compat is 'gensim'"),
        (("metrics", "plain.txt", "--query", "weat7", "-o", "m.xlsx"), "a table of metrics ends in .csv"),
        (("metrics", "plain.txt", "--query", "weat7", "--metric", "mac", "--p-value"), "permutation test of WEAT"),
        (("metrics", "plain.txt", "--query", "weat7", "--case", "upper"), "case is 'upper'"),
        (("rank", "plain.txt", "--query", "weat7"), "two embeddings at least"),
        (("rank", "plain.txt", "noisy.txt", "--query", "weat7", "--outside", "odd.csv"), "WEB of plain.txt is '0.5'"),
        (("rank", "plain.txt", "noisy.txt", "--query", "weat7", "--aggregate", "sum"), "aggregate is 'sum'"),
        (("rank", "plain.txt", "noisy.txt", "--query", "weat7", "--outside", "plain.txt"), "give embedding and a"),
        (("rank", "plain.txt", "noisy.txt", "--query", "weat7", "--picture", "r.svg"), "a figure ends in .png"),
    ],
)  # fmt: skip
def test_metrics_and_rank_refuse_with_a_sentence(here, two_embeddings, arguments, message):
    (two_embeddings / "odd.csv").write_text("embedding,WEB\nplain.txt,0.5\nnoisy.txt,good\n")
    before = set(two_embeddings.iterdir())
    code, _, errors = here(*arguments)
    assert code == 1
    assert message in errors
    assert "Traceback" not in errors
    assert set(two_embeddings.iterdir()) == before


def test_debias_gives_what_the_function_gives(here):
    code, out, errors = here(
        "debias", "google-news-slice", "--pairs", "gender_pairs", "--equalize", "gender_pairs", "-o", "out.bin"
    )
    assert (code, errors) == (0, "")
    pairs = list(bb.load_list("gender_pairs").pairs)
    expected = bb.debias("google-news-slice", "hard", definitional=pairs, equalize=pairs)
    written = bb.load_embedding("out.bin")
    assert written.index_to_key == expected.index_to_key
    np.testing.assert_allclose(written.vectors, expected.vectors, atol=1e-7)
    assert " ".join(str(expected.bayesbias_debiasing).split()) in " ".join(out.split())
    code, out, _ = here("debias", "google-news-slice", "--method", "hard_multiclass", "--words", "religion",
                        "--components", "2", "-o", "out.npz")  # fmt: skip
    assert code == 0
    assert "2 directions" in out
    assert here("debias", "google-news-slice", "--method", "null_space", "--words", "gender", "-o", "n.txt")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "o.bin"), "give --pairs or --words, one of the two"),
        (("--pairs", "neutral", "-o", "o.bin"), "neutral is a list of words: pairs are needed"),
        (("--pairs", "gender_pairs", "-o", "o.kv"), "an embedding ends in .bin or .txt or .vec or .npz"),
        (("--pairs", "gender_pairs", "--method", "hart", "-o", "o.bin"), "did you mean 'hard'?"),
        (("--pairs", "gender_pairs", "--strength", "2", "-o", "o.bin"), "there is no option --strength of hard"),
        (
            ("--words", "gender", "--method", "null_space", "--iterations", "1", "--iterations=2", "-o", "o.bin"),
            "--iterations is given twice",
        ),
        (("--words", "race", "-o", "o.bin"), "different numbers of words (black 3, caucasian 4, asian 3)"),
        (("--words", "religion", "--ignore", "gender_pairs", "-o", "o.bin"), "a list of words is needed"),
    ],
)
def test_debias_refuses_with_a_sentence(here, tmp_path, arguments, message):
    code, _, errors = here("debias", "google-news-slice", *arguments)
    assert code == 1
    assert message in " ".join(errors.split())
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def debiased_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("debiased") / "after.bin"
    bb.save_embedding(
        bb.debias("google-news-slice", "hard", definitional=list(bb.load_list("gender_pairs").pairs)), path
    )
    return path


@pytest.mark.full
def test_compare_gives_what_the_functions_give(here, debiased_file):
    code, out, errors = here(
        "compare", "google-news-slice", debiased_file, "--words", "gender", "--seed", 3, "-o", "c.csv",
        "--picture", "c.png", "--report", "c.html", "--side-effects",
    )  # fmt: skip
    assert code == 0, errors
    kvs = [bb.load_embedding(one) for one in ("google-news-slice", debiased_file)]
    tables = [bb.distance_table(kv, "gender") for kv in kvs]
    expected = bb.compare({"google-news-slice": tables[0], "after.bin": tables[1]}, seed=3)
    written = pd.read_csv("c.csv")
    assert written["of"].unique().tolist() == [f"associated - {name}" for name in ("different", "human", "neutral")]
    own = written[written["of"] == "associated - different"]
    assert own["change"].to_numpy() == pytest.approx(expected.changes()["mean"].to_numpy(), abs=1e-9)
    assert own["protected_word"].iloc[0] == "whole list"
    assert written["unit"].unique() == ["cosine distance"]
    flat = " ".join(out.split())
    assert "Change of associated \N{MINUS SIGN} different, 89% equal-tailed intervals, in cosine distance" in flat
    assert "Rows of words are changes of associations" in flat
    for part in ("What changed.", "For whom.", "How certain.", "What broke.", "nearest neighbours", "Coverage"):
        assert part in flat
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    assert "Side effects" in Path("c.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_pictures")
def test_compare_takes_tables_and_the_same_embedding_twice(here, debiased_file, slice_vectors):
    for name, kv in (("before.parquet", slice_vectors), ("after.parquet", bb.load_embedding(debiased_file))):
        bb.write_distance_table(bb.distance_table(kv, "gender"), name)
    code, out, _ = here("compare", "before.parquet", "after.parquet", "--seed", 1, "--draws", 400)
    assert code == 0
    assert "Mean distances to neutral words changed by" in " ".join(out.split())
    code, out, _ = here("compare", "google-news-slice", "google-news-slice", "--words", "gender")
    assert code == 0
    assert "(negative: associated words are closer), did not change" in " ".join(out.split())
    code, out, _ = here(
        "compare", "before.parquet", "after.parquet", "before.parquet", "--draws", 400, "--report", "r.html"
    )
    assert code == 0
    assert Path("r.html").is_file()


COMPARED_WRONGLY = {
    "one embedding": (["google-news-slice", "--words", "gender"], "needs two embeddings or tables"),
    "no words": (["google-news-slice", "google-news-slice"], "give --words"),
    "words for tables": (["a.csv", "b.csv", "--words", "gender"], "--words is for embeddings"),
    "side effects of tables": (["a.csv", "b.csv", "--side-effects"], "give both as embeddings"),
    "similarity alone": (
        ["google-news-slice", "google-news-slice", "--words", "gender", "--similarity", "s.csv"],
        "give --side-effects too",
    ),
    "three in a picture": (["a.csv", "b.csv", "c.csv", "--picture", "p.png"], "a figure shows one change"),
    "odd draws": (["a.csv", "b.csv", "--draws", "10"], "do not split evenly"),
    "no such model": (["a.csv", "b.csv", "--model", "x"], "there is no model 'x'"),
    "no such similarities": (
        ["google-news-slice", "google-news-slice", "--words", "gender", "--side-effects", "--similarity", "s.csv"],
        "there is no file s.csv",
    ),
    "three with side effects": (
        ["google-news-slice"] * 3 + ["--words", "gender", "--side-effects"],
        "looks at two embeddings, given are 3",
    ),
    "no such file": (["a.csv", "b.csv"], "there is no file a.csv"),
    "a report that is no page": (["a.csv", "b.csv", "--report", "r.pdf"], ".html"),
    "prob": (["a.csv", "b.csv", "--prob", "89"], "prob is 89"),
}


@pytest.mark.parametrize(("arguments", "message"), COMPARED_WRONGLY.values(), ids=COMPARED_WRONGLY.keys())
def test_compare_refuses_with_a_sentence(here, arguments, message):
    code, _, errors = here("compare", *arguments)
    assert code == 1
    assert message in " ".join(errors.split())
    assert "Traceback" not in errors


@pytest.mark.full
def test_similarities_come_from_a_file(here, debiased_file, slice_vectors):
    names = slice_vectors.index_to_key
    rows = [(names[at], names[at + 7], at / 10) for at in range(40)]
    pd.DataFrame(rows, columns=["a", "b", "score"]).to_csv("s.csv", index=False)
    asked = ("compare", "google-news-slice", debiased_file, "--words", "gender", "--side-effects", "--draws", 400)
    code, out, _ = here(*asked, "--similarity", "s.csv")
    assert code == 0
    assert "on 40 of 40 pairs" in " ".join(out.split())
    pd.DataFrame(rows).iloc[:, :2].to_csv("two.csv", index=False)
    code, _, errors = here(*asked, "--similarity", "two.csv")
    assert code == 1
    assert "two.csv has 2 columns" in " ".join(errors.split())
    pd.DataFrame(rows).to_csv("bare.csv", index=False, header=False)
    code, _, errors = here(*asked, "--similarity", "bare.csv")
    assert code == 1
    assert "put a header above it" in " ".join(errors.split())


@pytest.mark.full
def test_demo_writes_pictures_and_reports_and_debiases(here):
    code, out, errors = here("demo", "--debias", "--words", "race", "--out", "d")
    assert (code, errors) == (0, "")
    made = {path.name for path in Path("d").iterdir()}
    assert {"change.html", "change.png", "side-effects.png", "changes.csv"} <= made
    assert {"coefficients.png", "contrasts.png", "decomposition.png", "predictions.png", "distances.png"} <= made
    assert {"distances.csv", "fit.nc", "report.html"} <= made
    assert "whole list" in out
    assert "associated: a stereotype of the protected word's own group" in out
    assert "standard deviations of control words" in " ".join(out.split())
    assert out.splitlines()[-1] == "Next: open d/change.html in a browser"
    page = Path("d/change.html").read_text(encoding="utf-8")
    assert page.index("<figure>") < page.index("What changed.") < page.index("What broke.")
    # two to four words a group: nothing tells them apart, and nothing is removed
    assert "the change is exactly 0" in page


def test_an_embedding_is_not_replaced_by_what_is_made_of_it(here, slice_vectors):
    slice_vectors.save_word2vec_format("v.bin", binary=True)
    before = Path("v.bin").read_bytes()
    code, _, errors = here("debias", "v.bin", "-o", "./v.bin", "--pairs", "gender_pairs")
    assert code == 1
    assert "v.bin is the embedding itself" in errors
    assert Path("v.bin").read_bytes() == before


def test_a_seed_that_no_file_holds_is_refused(here):
    assert here("distances", "google-news-slice", "weat7", "-o", "d.parquet")[0] == 0
    code, _, errors = here("fit", "d.parquet", "-o", "f.nc", "--seed", str(2**63))
    assert code == 1
    assert "seed is 9223372036854775808: give a whole number of at most" in errors


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="sends Ctrl-C as POSIX does")
def test_ctrl_c_is_said(tmp_path):
    program = (
        "import functools, os, signal, time; from bayesbias.second_stage import sweeps\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells start what runs behind without it
        "def stopped(*_, **__): os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "sweeps.sweep = functools.wraps(sweeps.sweep)(stopped)\n"
        "from bayesbias.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "sweep", "plan.toml", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 130
    assert done.stderr == "Error: interrupted\n"
    assert "what is finished is kept in out; the same command goes on" in " ".join(done.stdout.split())
