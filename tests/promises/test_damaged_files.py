"""A damaged or hostile file would be read as something else, or end in a traceback without its name."""

import gzip
import json
import lzma
import os
import pickle
import random
import shutil
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model

import bayesbias as bb
from bayesbias._support import files

MARK = b"\xef\xbb\xbf"
WORDS = 'name = "two"\n[protected]\na = ["he"]\n[stereotypes]\na = ["she"]\n'
QUERY = 'name = "q"\n[targets]\na = ["he"]\nb = ["she"]\n[attributes]\nc = ["nurse"]\nd = ["table"]\n'


def test_a_byte_order_mark_before_word_lists_queries_and_corpora_is_passed_over(tmp_path):
    (tmp_path / "w.toml").write_bytes(MARK + WORDS.encode())
    (tmp_path / "q.toml").write_bytes(MARK + QUERY.encode())
    (tmp_path / "c.txt").write_bytes(MARK + b"he said\nhe said\n")
    assert bb.load_words(tmp_path / "w.toml").every_word() == ("he", "she")
    assert list(bb.load_query(tmp_path / "q.toml").targets) == ["a", "b"]
    assert bb.contexts(tmp_path / "c.txt", ["he"]).found == {"he": 2}


def test_an_embedding_in_place_of_a_word_list_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TOML", 30)
    (tmp_path / "v.txt").write_bytes(b"he 1 0 .5\nshe 0 1 .5\nnurse .5 1 0\n")
    with pytest.raises(bb.InputError, match=r"v\.txt is not a TOML file, it has 34 bytes: is it an embedding"):
        bb.load_words(tmp_path / "v.txt")


HEAD = "protected_word,group,attribute_word,attribute_class,connection,distance"


@pytest.mark.parametrize(
    ("head", "row", "said"),
    [
        (HEAD, "a,g,b,g,associated,1_0", "row 0, column 'distance' holds '1_0'"),
        (HEAD + ",distance", "a,g,b,g,associated,.4,.5", "two columns 'distance'"),
        (HEAD, "a\x1b[31m,g,b,g,associated,.4", "row 0, column 'protected_word' holds .*printable texts"),
    ],
)
def test_odd_tables_are_refused(tmp_path, head, row, said):
    (tmp_path / "t.csv").write_text(f"{head}\n{row}\n")
    with pytest.raises(bb.InputError, match=rf"t\.csv.*{said}"):
        bb.read_distance_table(tmp_path / "t.csv")


def counts(path):
    return bb.balance(table_of_two(), path)


@cache
def table_of_two():
    return bb.distance_table(SMALL, TWO, relatedness=False)


TWO = bb.WordLists("two", {"m": ["he"], "f": ["she"]}, {"m": ["table"], "f": ["nurse"]})
SMALL = dict(zip(["he", "she", "nurse", "table"], np.random.default_rng(0).normal(size=(4, 5)), strict=True))
FRAME = pd.DataFrame(SMALL).T.add_prefix("d").rename_axis("word").reset_index()
PART = {f"w{place}": np.random.default_rng(place).normal(size=5) for place in range(40)} | SMALL
READERS = {
    "v.bin": bb.load_embedding, "v.txt": bb.load_embedding, "part.npz": bb.load_embedding,
    "v.safetensors": bb.load_embedding, "v.parquet": bb.load_embedding, "v.csv": bb.load_embedding,
    "v.json": bb.load_embedding, "v.jsonl": bb.load_embedding, "v.txt.xz": bb.load_embedding,
    "v.txt.zip": bb.load_embedding, "fasttext.bin": bb.load_embedding,
    "1990-vocab.pkl": lambda path: bb.load_embedding(path.with_name("1990-w.npy")),
    "contexts.npz": bb.contextual.load_context_vectors, "t.parquet": bb.read_distance_table,
    "t.csv": bb.read_distance_table, "fit.nc": bb.load_fit, "w.toml": bb.load_words, "m.toml": bb.load_model,
}  # fmt: skip
SNIPPETS = (
    b"[" * 5_000, b"{" * 5_000, b"1e999", b"-1", b"Infinity", b"NaN", b"null", b"9" * 30, b"\0", b"\xff\xfe", b"\n",
    b" ", b",", b'"' b"\r\n\r\n", b"true", b"\x80", b"0x1",
)  # fmt: skip


def letters(texts):
    return [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, plain_weat7):
    """A folder with all of these files, undamaged."""
    folder = tmp_path_factory.mktemp("whole")
    kv = bb.load_embedding(SMALL)
    for name in ("v.bin", "v.txt", "v.safetensors", "v.parquet"):
        bb.save_embedding(kv, folder / name)
    bb.save_embedding(bb.load_embedding(PART, words=list(SMALL)), folder / "part.npz")
    FRAME.to_csv(folder / "v.csv", index=False)
    lists = [{"word": word, "vector": vector.tolist()} for word, vector in SMALL.items()]
    (folder / "v.json").write_text(json.dumps(lists))
    (folder / "v.jsonl").write_text("\n".join(map(json.dumps, lists)))
    text = (folder / "v.txt").read_bytes()
    (folder / "v.txt.xz").write_bytes(lzma.compress(text))
    with zipfile.ZipFile(folder / "v.txt.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.txt", text)
    model = FastText([["he", "she", "nurse"]] * 20, vector_size=6, min_count=1, epochs=1, bucket=50)
    save_facebook_model(model, str(folder / "fasttext.bin"))
    np.save(folder / "1990-w.npy", kv.vectors)
    (folder / "1990-vocab.pkl").write_bytes(pickle.dumps(kv.index_to_key, protocol=2))
    bb.encode(letters, ["nurse", "bad"], ["{} a.", "the {}"], vocabulary=0, name="x").save(folder / "contexts.npz")
    bb.write_distance_table(plain_weat7, folder / "t.parquet")
    plain_weat7[:50].to_csv(folder / "t.csv", index=False)
    bb.save_fit(bb.fit(table_of_two(), "published", seed=0, draws=4), folder / "fit.nc")
    (folder / "w.toml").write_text(WORDS)
    (folder / "m.toml").write_text(bb.load_model("crossed").text)
    return folder


def damaged(content, rng):
    """A copy with some bytes changed, cut, left out, put in or said twice."""
    new, place = bytearray(content), rng.randrange(len(content))
    match rng.randrange(6):
        case 0:
            for _ in range(rng.choice((1, 1, 3, 30))):
                new[rng.randrange(len(new))] = rng.randrange(256)
        case 1:
            del new[place:]
        case 2:
            del new[place : place + rng.randrange(1, 20)]
        case 3:
            new[place:place] = rng.choice(SNIPPETS)
        case 4:
            snippet = rng.choice(SNIPPETS)
            new[place : place + len(snippet)] = snippet
        case _:
            new[place:place] = new[place : place + rng.randrange(1, 60)]
    return bytes(new)


@pytest.mark.filterwarnings("ignore")  # a damaged file that can be read may be odd
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_by_name_in_one_line(whole, tmp_path, name):
    times, rng, content, refusals = 100, random.Random(0), (whole / name).read_bytes(), []  # noqa: S311
    READERS[name](whole / name)
    times = times // 10 if name == "fit.nc" else times  # which takes longer
    if name.startswith("1990"):
        shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    for _ in range(times):
        (tmp_path / name).write_bytes(damaged(content, rng))
        try:
            READERS[name](tmp_path / name)
        except bb.InputError as error:
            refusals.append(str(error))
    assert len(refusals) > 0.03 * times
    assert [text for text in refusals if name not in text or not text.isprintable()] == []


def test_a_pickle_with_room_for_two_billion_words_fills_no_memory(whole, tmp_path):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (tmp_path / "1990-vocab.pkl").write_bytes(b"\x80\x02]r\xff\xff\xff\x7f.")
    with pytest.raises(bb.InputError, match=r"1990-vocab\.pkl"):
        bb.load_embedding(tmp_path / "1990-w.npy")


class TestBombs:
    """Small files that would fill the memory or take for ever; the limits are smaller here, so that bombs are too."""

    @pytest.fixture(autouse=True)
    def limits(self, monkeypatch):
        monkeypatch.setattr(files, "ROOM", 1 << 16)

    def test_parquet(self, tmp_path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"word": ["a"] * 200_000, "x": [1.0] * 200_000}
        pq.write_table(pa.table(columns), tmp_path / "v.parquet", compression="zstd")
        for read in (bb.load_embedding, lambda path: bb.load_embedding(path, words=["a"]), bb.read_distance_table):
            with pytest.raises(bb.InputError, match=r"v\.parquet unpacks to more than 100 times its size"):
                read(tmp_path / "v.parquet")

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("v.txt.gz", gzip.compress(b"a " + b"1 " * 1_000_000)),
            ("v.csv.xz", lzma.compress(b"word,x\n" + b"a,1\n" * 500_000)),
        ],
    )
    def test_packed_vectors(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(bb.InputError, match=f"{name} unpacks to more than 100 times its size"):
            bb.load_embedding(tmp_path / name)

    def test_a_packed_corpus_of_one_line(self, tmp_path):
        path = tmp_path / "c.txt.gz"
        path.write_bytes(gzip.compress(b"he said " * 2_000_000))
        with pytest.raises(bb.InputError, match=r"c\.txt\.gz unpacks to more than 100 times its size"):
            bb.contexts(path, ["he"])


ALONE = {"embedding": bb.load_embedding, "fit": bb.load_fit, "words": bb.load_words, "frequencies": counts}


@pytest.mark.parametrize("what", ALONE)
def test_pipes_and_devices_are_no_files(tmp_path, what):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(bb.InputError, match=rf"there (is|are) no .*{path.name}"):
            ALONE[what](path)
