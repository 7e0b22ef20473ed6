"""Commands on axes, and criterion: what the functions give, files, pictures, reports, errors."""

from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb

SLICE = "glove-50d-slice"
SPORTS = ["golf", "tennis", "boxing", "rugby"]


@pytest.fixture
def here(program, monkeypatch, tmp_path):
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return program


def written():
    """The files of the folder; pictures and reports hold something."""
    for file in Path().iterdir():
        assert file.stat().st_size > 50
    return {file.name for file in Path().iterdir()}


@pytest.mark.usefixtures("without_pictures")
def test_axis_gives_what_the_function_gives(here):
    code, out, errors = here(
        "axis", SLICE, "affluence", "--words", ",".join(SPORTS), "--centre", "words", "--prob", 0.5,
        "-o", "a.csv", "--picture", "a.png", "--report", "a.html",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    found = bb.axis(SLICE, "affluence", SPORTS, centre="words")
    table = pd.read_csv("a.csv")
    assert table["word"].tolist() == found.table()["word"].tolist()
    assert table["low"].to_numpy() == pytest.approx(found.table(0.5)["low"].to_numpy())
    assert " ".join(found.text(0.5).split()) in " ".join(out.split())
    assert "From rich (above 0) to poor" in out
    assert "economical" in out  # a pair that does not belong
    assert written() == {"a.csv", "a.png", "a.html"}
    assert "50% intervals" in Path("a.html").read_text(encoding="utf-8")


def test_axis_shows_the_ends_of_the_vocabulary(here):
    code, out, _ = here("axis", SLICE, "gender", "-o", "a.csv")
    assert code == 0
    assert "the ends of 20,000 words" in " ".join(out.split())
    assert len(pd.read_csv("a.csv")) == 20_000


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("groups", ["gender", "weat7"])
def test_audits_are_on_axes_or_word_lists(here, groups):
    code, out, errors = here(
        "audit",
        SLICE,
        "--groups",
        groups,
        "--most-frequent",
        3000,
        "--rope",
        0.02,
        "-o",
        "a.parquet",
        "--report",
        "a.html",
    )
    assert (code, errors) == (0, "")
    found = bb.audit(SLICE, groups, most_frequent=3000, rope=0.02)
    pd.testing.assert_series_equal(pd.read_parquet("a.parquet")["mean"], found.words["mean"])
    assert f"Words called: {min(20, len(found.table()))} of {len(found.table()):,}" in out
    assert written() == {"a.parquet", "a.html"}


@pytest.mark.usefixtures("without_pictures")
def test_a_criterion_takes_the_axis_of_an_embedding(here):
    values = pd.Series(
        {"nurse": 95.0, "guard": 20.0, "engineer": 12.0, "dancer": 80.0, "janitor": 40.0, "soldier": 10.0}
    )
    values.rename_axis("word").rename("share").to_csv("s.csv")
    code, out, errors = here(
        "criterion", SLICE, "s.csv", "--pairs", "gender", "--seed", 0, "-o", "c.csv", "--picture", "c.png",
        "--report", "c.html",
    )  # fmt: skip
    assert (code, errors) == (0, "")
    found = bb.criterion(bb.axis(SLICE, "gender", list(values.index)), values, seed=0)
    assert pd.read_csv("c.csv")["estimate"].tolist() == pytest.approx(found.words["estimate"].tolist())
    assert found.findings()[0] in " ".join(out.split())
    assert written() == {"s.csv", "c.csv", "c.png", "c.html"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["axis", SLICE, "class"], "Bundled axes are"),
        (["axis", SLICE, "affluence", "--centre", "0"], "centre is '0': valid are vocabulary, words, none"),
        (["axis", SLICE, "affluence", "--words", "zzzz,"], "none of the words is in glove-50d-slice: zzzz"),
        (["audit", SLICE, "--groups", "gender", "-o", "a.csv"], ".parquet"),
        (["criterion", SLICE, "s.csv"], "there is no file"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_with_a_sentence(here, arguments, message):
    Path("s.csv").write_text("word,share\nnurse,1\n")
    code, _, errors = here(*arguments)
    assert code == 1
    assert message in " ".join(errors.split())
    assert [file.name for file in Path().iterdir()] == ["s.csv"]
