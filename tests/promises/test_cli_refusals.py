"""A wrong command would end in a traceback or half a file, and not in a sentence that says what to do."""

import shlex
from pathlib import Path

import pytest

import bayesbias as bb

COMPARED = "compare google-news-slice google-news-slice"
REFUSALS = {
    "check none.bin weat7": "there is no embedding 'none.bin'",
    "check google-news-slice none.toml": "there is no file none.toml:",
    "check google-news-slice": "alone cannot be checked: give an embedding and words, or a fit",
    "run google-news-slice gendre -o more": "one of gender, race",
    "run google-news-slice weat7 -o more --draws 4001 --topics 0": "do not split evenly",
    "run vectors.kv gender -o more": "pickle",
    "run google-news-slice three-lists.toml -o more": "holds none of the 1 words of the control list 'b'",
    "metrics google-news-slice": "no query was given",
    "metrics google-news-slice --query weat7 --metric mac --p-value": "the metric has no permutation test",
    COMPARED: "give --words",
    f"{COMPARED} --words gender": "two",
    "compare a.csv b.csv --words gender": "distance tables have their words already",
    "compare a.csv b.csv --side-effects": "--side-effects looks at two embeddings, given are 0",
    "compare bad.csv good.csv": "row 1, column 'distance' holds 2.5",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that commands are given."""
    folder = tmp_path_factory.mktemp("given")
    head = "protected_word,attribute_word,connection,distance\n"
    (folder / "good.csv").write_text(head + "he,nurse,different,0.9\nhe,doctor,associated,0.8\n")
    (folder / "bad.csv").write_text(head + "he,nurse,different,0.9\nhe,doctor,associated,2.5\n")
    words = '[protected]\na = ["he", "him", "zzz"]\n[stereotypes]\na = ["doctor", "zzzz"]\n[controls]\nb = ["zzzzz"]\n'
    (folder / "three-lists.toml").write_text(f'name = "mine"\nsource = "own"\n{words}')
    (folder / "vectors.kv").write_bytes(b"\x80\x04N.")
    bb.save_embedding(bb.load_embedding("google-news-slice", words=["he", "she", "nurse"]), folder / "v.npz")
    return folder


@pytest.mark.parametrize(("line", "message"), REFUSALS.items(), ids=[line[:60] for line in REFUSALS])
def test_refusals_are_one_sentence_and_write_nothing(program, folder, monkeypatch, line, message):
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    code, _, errors = program(*shlex.split(line))
    errors = "".join(part for part in errors.splitlines(keepends=True) if not part.startswith("Note: "))
    assert code == 1
    assert errors.startswith("Error: ")
    assert message in errors
    assert errors.count("\n") == 1
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_file_in_the_place_of_the_folder_is_refused_before_the_work_begins(program, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, _, errors = program("demo", "--out", "good.csv")
    assert code == 2
    assert "'good.csv' is no folder" in errors
