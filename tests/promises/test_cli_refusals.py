"""A wrong command would end in a traceback or half a file, and not in a sentence that says what to do."""

import shlex
from pathlib import Path

import pytest

import bayesbias as bb

COMPARED = "compare google-news-slice google-news-slice --words gender"
REFUSALS = {
    "lists metrics": "kind is 'metrics': valid are words, axes, queries, models",
    "lists axes --language de": "--language is for word lists: leave it out of axes",
    "lists --language Turkish": "give a BCP 47 tag",
    "new-words ''": "the name of the list is ''",
    "new-words a\x1b[31m": r"'a\x1b[31m': give a printable text",
    "new-words ///": "no file can be named after '///': give one with --out FILE.toml",
    "new-words a -o a.txt": "a word list ends in .toml",
    "new-words a -o no/a.toml": "there is no folder no",
    f"new-words {'a' * 300}": "names have up to 240 bytes",
    "check-words none.toml google-news-slice": "there is no file none.toml:",
    "check-words weat7 none.bin": "there is no embedding 'none.bin'",
    "distances google-news-slise gender -o t.csv": "google-news-slice",
    "distances google-news-slice gendre -o t.csv": "one of gender, race",
    "distances google-news-slice gender -o t.xlsx": ".csv or .parquet",
    "distances google-news-slice gender -o t.csv --case lower": "as-is, fallback",
    "distances vectors.kv gender -o t.csv": "pickle",
    "distances truncated.bin gender -o t.csv": "truncated",
    "fit absent.csv -o f.nc": "there is no file",
    "fit bad.csv -o f.nc": "row 1, column 'distance' holds 2.5",
    "fit good.csv -o f.nc --model crosed": "published",
    "fit good.csv -o f.nc --engine exact --model crossed": "cannot fit",
    "fit good.csv -o f.nc --draws 4001": "do not split evenly",
    f"fit good.csv -o f.nc --seed {2**63}": f"seed is {2**63}: give a whole number of at most",
    "fit good.csv -o absent/f.nc": "there is no folder absent",
    "fit good.csv -o f.h5 --engine nuts": "a fit ends in .nc",
    "run google-news-slice gendre --out more": "one of gender, race",
    "run google-news-slice weat7 --out more --model crosed": "there is no model",
    "run google-news-slice weat7 --out more --case lower": "as-is, fallback",
    "demo --out good.csv": "cannot make the folder good.csv",
    "demo --words gendre": "one of gender, race",
    f"demo --out more --seed {2**70}": f"seed is {2**70}: give a whole number of at most 9,223,372,036,854,775,807",
    "report good.csv -o r.html": "(bayesbias fit good.csv -o FIT.nc)",
    "fit three-lists.toml -o f.nc": "three-lists.toml is a word list, not a table of distances: measure it first, with",
    "run three-lists.toml glove-50d-slice -o more": "glove-50d-slice is an embedding and comes first: give glove-50d",
    "run three-lists.toml v.npz -o more": "three-lists.toml is a word list and comes after the embedding",
    "distances gender google-news-slice -o t.csv": "google-news-slice is an embedding and comes first: give",
    "run google-news-slice three-lists.toml -o more": (
        "it also lacks 1 of 3 words of the protected list 'a', 1 of 2 words of the stereotype list 'a', which"
    ),
    "report absent.nc -o r.html": "there is no file",
    "metrics google-news-slice": "nothing is asked: give --query",
    "metrics google-news-slice --query weat77": "there is no query 'weat77'",
    "metrics google-news-slice --query weat7 --metric wheat": "did you mean 'weat'?",
    "metrics absent.txt --query weat7": "absent.txt",
    "metrics google-news-slice google-news-slice --query weat7": "google-news-slice is given twice",
    "metrics google-news-slice --query weat7 --on-missing keep": "on_missing is 'keep'",
    "metrics google-news-slice --query weat7 --p-value --alternative both": "alternative is 'both'",
    "metrics google-news-slice --query weat7 --max-missing 2": "max_missing is 2.0",
    "metrics google-news-slice --query weat7 --compat gensim": "compat is 'gensim'",
    "metrics google-news-slice --query weat7 -o m.xlsx": "a table of metrics ends in .csv",
    "metrics google-news-slice --query weat7 --metric mac --p-value": "permutation test of WEAT",
    "metrics google-news-slice --query weat7 --case upper": "case is 'upper'",
    "metrics google-news-slice --query weat6 --metric rnd --dist cos": "no option --dist of",
    "metrics google-news-slice --query weat6 --metric rnd --distance x": "norm, cos",
    "compare google-news-slice --words gender": "needs two embeddings or tables",
    "compare google-news-slice google-news-slice": "give --words",
    "compare a.csv b.csv --words gender": "--words is for embeddings",
    "compare a.csv b.csv --side-effects": "give both as embeddings",
    f"{COMPARED} --similarity s.csv": "give --side-effects too",
    f"{COMPARED} --side-effects --similarity t.csv": "there is no file t.csv",
    f"{COMPARED} google-news-slice --side-effects": "looks at two embeddings, given are 3",
    "compare a.csv b.csv c.csv --picture p.png": "a figure shows one change",
    "compare a.csv b.csv --draws 10": "do not split evenly",
    "compare a.csv b.csv --model x": "there is no model 'x'",
    "compare a.csv b.csv": "there is no file a.csv",
    "compare a.csv b.csv --report r.pdf": ".html",
    "compare a.csv b.csv --prob 89": "prob is 89",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that commands are given."""
    folder = tmp_path_factory.mktemp("given")
    head = "protected_word,attribute_word,connection,distance\n"
    (folder / "good.csv").write_text(head + "he,nurse,different,0.9\nhe,doctor,associated,0.8\n")
    (folder / "bad.csv").write_text(head + "he,nurse,different,0.9\nhe,doctor,associated,2.5\n")
    (folder / "s.csv").write_text("word,share\nnurse,1\n")
    words = '[protected]\na = ["he", "him", "zzz"]\n[stereotypes]\na = ["doctor", "zzzz"]\n[controls]\nb = ["zzzzz"]\n'
    (folder / "three-lists.toml").write_text(f'name = "mine"\nsource = "own"\n{words}')
    (folder / "vectors.kv").write_bytes(b"\x80\x04N.")
    (folder / "truncated.bin").write_bytes(b"2 3\nhe \x00\x00\x80?")
    bb.save_embedding(bb.load_embedding("google-news-slice", words=["he", "she", "nurse"]), folder / "v.npz")
    return folder


@pytest.mark.parametrize(("line", "message"), REFUSALS.items(), ids=[line[:60] for line in REFUSALS])
def test_refusals_are_one_sentence_and_write_nothing(program, folder, monkeypatch, line, message):
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    code, _, errors = program(*shlex.split(line))
    assert code == 1
    assert errors.startswith("Error: ")
    assert message in errors
    assert errors.count("\n") == 1
    assert "\x1b" not in errors
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
