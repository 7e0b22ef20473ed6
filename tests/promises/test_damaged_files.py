"""Files that are damaged, hostile or oddly written: read as meant, or refused with their name, in little memory."""

import gzip
import io
import json
import os
import random
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import models
from bayesbias._support import files

MARK = b"\xef\xbb\xbf"
GLOVE = b"he 1 0 .5\nshe 0 1 .5\nnurse .5 1 0\n"
WORDS = 'name = "two"\n[protected]\na = ["he"]\n[stereotypes]\na = ["she"]\n'
QUERY = 'name = "q"\n[targets]\na = ["he"]\nb = ["she"]\n[attributes]\nc = ["nurse"]\nd = ["table"]\n'


def npz(path, words=("he", "she", "nurse"), vectors=None, pack=np.savez):
    pack(path, words=np.array(words), vectors=np.eye(3, 4, dtype=np.float32) if vectors is None else vectors)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("header", [b"", b"3 3\n"])
def test_a_byte_order_mark_before_vectors_is_passed_over(tmp_path, pack, header):
    (tmp_path / "v.txt").write_bytes(pack(MARK + header + GLOVE))
    kv = bb.load_embedding(tmp_path / "v.txt")
    assert kv.index_to_key == ["he", "she", "nurse"]
    assert kv["he"].tolist() == [1, 0, 0.5]


def test_a_byte_order_mark_before_word_lists_queries_and_corpora_is_passed_over(tmp_path):
    (tmp_path / "w.toml").write_bytes(MARK + WORDS.encode())
    (tmp_path / "q.toml").write_bytes(MARK + QUERY.encode())
    (tmp_path / "c.txt").write_bytes(MARK + b"he said\nhe said\n")
    assert bb.load_words(tmp_path / "w.toml").every_word() == ("he", "she")
    assert list(bb.load_query(tmp_path / "q.toml").targets) == ["a", "b"]
    (kv,) = bb.stability.train_embeddings(tmp_path / "c.txt", seeds=1, dims=2, min_count=1).values()
    assert sorted(kv.index_to_key) == ["he", "said"]


def test_a_model_with_a_byte_order_mark_is_read_from_its_fit_too(tmp_path):
    plain = bb.load_model("crossed")
    path = tmp_path / "mine.toml"
    path.write_bytes(MARK + plain.text.encode())
    assert bb.load_model(path) == plain
    table = bb.distance_table("google-news-slice", "weat7")
    post = bb.fit(table, path, seed=0)
    assert post.attrs["model_text"] == plain.text
    assert models.tree.Fit(post).spec.priors == plain.priors


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5_000 + "]" * 5_000,
        "x = " + "{a = " * 5_000 + "1" + "}" * 5_000,
        "x = " + "9" * 5_000,
        ".".join("a" * 20_000) + " = 1",
        "[" + " . ".join(['"a"'] * 20_000) + "]",
        "x = { " + ".".join("a" * 20_000) + " = 1 }",
    ],
    ids=["arrays", "tables", "digits", "key", "header", "inline key"],
)
@pytest.mark.parametrize("read", [bb.load_words, bb.load_query, bb.load_model, bb.load_list])
def test_deep_or_long_toml_is_refused(tmp_path, text, read):
    path = tmp_path / "deep.toml"
    path.write_text(text + "\n" + WORDS)
    with pytest.raises(bb.InputError, match=r"deep\.toml is not a TOML file"):
        read(path)


@pytest.mark.parametrize("words", [None, ["he"]])
def test_a_file_that_was_cut_in_its_last_line_is_refused_whichever_words_are_asked_for(tmp_path, words):
    (tmp_path / "v.txt").write_bytes(GLOVE[:-6])
    with pytest.raises(bb.InputError, match=r"v\.txt, line 3: a word and 3 numbers were expected"):
        bb.load_embedding(tmp_path / "v.txt", words=words)


def test_a_word_alone_on_its_line_is_refused_where_it_is_asked_for(tmp_path):
    (tmp_path / "v.txt").write_bytes(GLOVE.replace(b"she 0 1 .5", b"she"))
    with pytest.raises(bb.InputError, match="line 2: a word and 3 numbers"):
        bb.load_embedding(tmp_path / "v.txt", words=["she"])


def test_an_embedding_in_place_of_a_word_list_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TOML", 30)
    (tmp_path / "v.txt").write_bytes(GLOVE)
    with pytest.raises(bb.InputError, match=r"v\.txt is not a TOML file: it has 34 bytes, and 30 are read at most"):
        bb.load_words(tmp_path / "v.txt")


def test_damaged_archives_are_refused_by_name(tmp_path):
    whole = npz(tmp_path / "whole.npz").read_bytes()
    rng = random.Random(0)  # noqa: S311
    path = tmp_path / "cut.npz"
    errors = []
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged[: rng.randrange(5, len(damaged) + 1)] if rng.random() < 0.2 else damaged)
        try:
            assert len(bb.load_embedding(path)) <= 3
        except bb.InputError as error:
            errors.append(str(error))
    assert len(errors) > 300
    assert all("cut.npz" in error for error in errors)


def members(**content):
    """An archive with these bytes as its members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in content.items():
            archive.writestr(f"{name}.npy", held)
    return buffer.getvalue()


def array(values):
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "vectors",
    [
        b"",
        b"no array",
        array(np.ones((3, 2)))[:-1],
        array(np.ones((3, 2))).replace(b"(3, 2)", b"(3, 9)"),
        array(np.ones((3, 2))).replace(b"'<f8'", b"'(f8'"),
        array(np.array([{}, {}, {}], dtype=object)),
        array(np.ones((3, 2))).replace(b"(3, 2), ", b"(3, -2),"),
        array(np.ones(3)),
    ],
    ids=["empty", "no array", "cut", "larger", "kind", "objects", "negative", "one dimension"],
)
def test_an_archive_with_other_arrays_is_refused_by_name(tmp_path, vectors):
    path = tmp_path / "odd.npz"
    path.write_bytes(members(words=array(np.array(["a", "b", "c"])), vectors=vectors))
    with pytest.raises(bb.InputError, match=r"odd\.npz"):
        bb.load_embedding(path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f4", ">f8", "<f2", "<i4"])
@pytest.mark.parametrize("wanted", [None, ["b", "d"]])
def test_archives_of_any_order_and_kind_hold_their_vectors(tmp_path, order, kind, wanted):
    vectors = np.arange(1, 13).reshape(4, 3)
    np.savez(tmp_path / "v.npz", words=np.array(list("abcd")), vectors=np.asarray(vectors, kind, order=order))
    kv = bb.load_embedding(tmp_path / "v.npz", words=wanted)
    assert kv.index_to_key == (wanted or list("abcd"))
    assert np.array_equal(kv.vectors, vectors[[1, 3]] if wanted else vectors)


def test_wanted_words_of_an_archive_are_read_without_the_others(tmp_path):
    words = [f"w{at}" for at in range(60_000)]
    npz(tmp_path / "v.npz", words, np.ones((60_000, 200), dtype=np.float32))
    tracemalloc.start()
    try:
        assert len(bb.load_embedding(tmp_path / "v.npz", words=["w5", "w59999"])) == 2
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # all vectors are 48 MB


def test_packed_files_that_unpack_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ROOM", 1 << 20)  # of 64 MB: files need not be as large
    line = b"w 1" + b" 0" * 300 + b"\n"
    with gzip.open(tmp_path / "bomb.gz", "wb") as file:
        file.write(line * 5_000)
    npz(tmp_path / "bomb.npz", vectors=np.zeros((3, 900_000), dtype=np.float32), pack=np.savez_compressed)
    for name in ("bomb.gz", "bomb.npz"):
        with pytest.raises(bb.InputError, match=rf"{name} unpacks to more than 100 times its size"):
            bb.load_embedding(tmp_path / name)


@pytest.mark.parametrize("content", [b"a " + b"1" * (1 << 26), b"9999999999999 3\na 1 2 3\n", b"1 999999999999\na 1\n"])
def test_lines_and_headers_without_measure_are_refused(tmp_path, content):
    (tmp_path / "long.txt").write_bytes(content)
    with pytest.raises(bb.InputError, match=r"long\.txt"):
        bb.load_embedding(tmp_path / "long.txt")


def test_a_header_of_thousands_of_digits_is_no_header(tmp_path):
    (tmp_path / "long.txt").write_bytes(b"9" * 5_000 + b" 3\n" + GLOVE)
    with pytest.raises(bb.InputError, match=r"long\.txt, line 2"):
        bb.load_embedding(tmp_path / "long.txt")


def test_trained_vectors_of_other_shapes_are_refused(tmp_path):
    how = {"seeds": 1, "dims": 2, "min_count": 1, "folder": tmp_path}
    bb.stability.train_embeddings([["a", "b"]] * 5, **how)
    (path,) = tmp_path.iterdir()
    held = files.read_arrays(io.BytesIO(path.read_bytes()), path.name)
    for changed in ({"vectors": held["vectors"][:, :1]}, {"words": np.array([1.0, 2.0])}, {"counts": np.array("x")}):
        np.savez(path, **{**held, **changed})
        with pytest.raises(bb.InputError, match=r"seed 0\.npz is damaged"):
            bb.stability.train_embeddings([["a", "b"]] * 5, **how)
    np.savez(path, **{**held, "record": np.array("[" * 5_000)})
    with pytest.raises(bb.InputError, match=r"seed 0\.npz is damaged"):
        bb.stability.train_embeddings([["a", "b"]] * 5, **how)


def test_a_window_wider_than_a_sentence_can_be_is_refused():
    with pytest.raises(bb.InputError, match="window is 2147483648: give a whole number of at most 10,000"):
        bb.stability.train_embeddings([["a", "b"]] * 5, window=2**31)


def test_an_error_in_the_worker_ends_the_training(monkeypatch):
    from gensim.models import Word2Vec

    monkeypatch.setattr(Word2Vec, "_do_train_job", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bb.stability.train_embeddings([["a", "b"]] * 5, seeds=2, dims=2, min_count=1)


def test_a_read_only_file_stays(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    path.chmod(0o444)
    with pytest.raises(OSError, match=r"cannot write a\.txt .*read-only"):
        files.write_text(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_to_a_pipe_or_device_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, target in (("a.txt", tmp_path / "pipe"), ("b.txt", "/dev/null")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(OSError, match=f"cannot write {name} .*no file"):
            files.write_text(tmp_path / name, "new")
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", "b.txt", "pipe"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a 1_0 .2\nb .1 .2\n", "no embedding of a known format"),
        (b"a .1 .2\nb 1_0 .2\n", "line 2: a word and 2 numbers"),
        (b"a .1234 .2567\nb .1345 .26", "ends without a line break"),
        (b"2 2\na .1234 .2567\nb .1345 .26", "ends without a line break"),
        (b"2 2\n .1 .2\nb .1 .2\n", "the word of vector 1 is empty"),
        (b"2 1\na \0\0\0? \0\0\0?", "the word of vector 2 is empty"),
        (b"a 1e300 .2\nb .1 .2\n", "'a' hold NaN or infinite numbers"),
    ],
)
def test_odd_text_is_refused(tmp_path, content, said):
    (tmp_path / "v.txt").write_bytes(content)
    with pytest.raises(bb.InputError, match=rf"v\.txt.*{said}"):
        bb.load_embedding(tmp_path / "v.txt")


def test_an_empty_word_or_a_number_too_large_in_an_archive_is_refused(tmp_path):
    with pytest.raises(bb.InputError, match="the word of vector 2 is empty"):
        bb.load_embedding(npz(tmp_path / "v.npz", words=("a", "", "b")))
    with pytest.raises(bb.InputError, match="'nurse' hold NaN or infinite numbers"):
        bb.load_embedding(npz(tmp_path / "v.npz", vectors=np.diag([1.0, 1.0, 1e300])))


HEAD = "protected_word,group,attribute_word,attribute_class,connection,distance"


@pytest.mark.parametrize(
    ("head", "rows", "said"),
    [
        (HEAD, ["a,g,b,g,associated,True"] * 2, "the column 'distance' holds bool"),
        (HEAD, ["a,g,b,g,associated,1_0", "a,g,c,g,associated,.5"], "'1_0' is not a number"),
        (HEAD + ",distance", ["a,g,b,g,associated,.4,.5"], "two columns 'distance'"),
        (HEAD, ["a\x1b[31m,g,b,g,associated,.4"], "column 'protected_word'.*no printable text"),
        (HEAD, ["a,g\ufffe,b,g,associated,.4"], "column 'group'.*no printable text"),
        (HEAD, ["a,g,b, g,associated,.4"], "column 'attribute_class'.*no printable text"),
    ],
)
def test_odd_tables_are_refused(tmp_path, head, rows, said):
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]) + "\n")
    with pytest.raises(bb.InputError, match=rf"t\.csv.*{said}"):
        bb.read_distance_table(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["", " a", "\x1b[31m", "a\0", "\ufffe", "\ud800"])
def test_names_are_held_to_what_words_are_held_to(name):
    groups = {"a": ["he"], "b": ["she"]}
    with pytest.raises(bb.InputError, match="name is"):
        bb.WordLists(name, groups, groups)
    with pytest.raises(bb.InputError, match="a name in protected is"):
        bb.WordLists("n", {name: ["he"]}, {name: ["she"]})
    with pytest.raises(bb.InputError, match="a name in attributes is"):
        bb.Query(groups, {name: ["x"]})
    with pytest.raises(bb.InputError, match="the name of an embedding is"):
        bb.run_metrics({name: "google-news-slice"}, ["weat7"], ["weat"])
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    with pytest.raises(bb.InputError, match="the name of a table is"):
        bb.compare({"a": table, name: table})
    if name not in ("", "\ud800"):  # an empty group is not known; pandas refuses half a letter itself
        with pytest.raises(bb.InputError, match="column 'group' holds"):
            bb.fit(table.assign(group=table["group"].replace("math", name)), "published")


def test_coverage_of_another_table_is_not_read(tmp_path):
    one, other = (bb.distance_table("google-news-slice", name, relatedness=False) for name in ("weat6", "weat7"))
    for name, table in (("one", one), ("other", other)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        digest = sha256((tmp_path / f"{name}.csv").read_bytes()).hexdigest()
        note = {"table_sha256": digest, "coverage": table.coverage.as_dict()}
        (tmp_path / f"{name}.csv.coverage.json").write_text(json.dumps(note))
    assert bb.read_distance_table(tmp_path / "one.csv").coverage == one.coverage
    (tmp_path / "one.csv").replace(tmp_path / "other.csv")
    table = bb.read_distance_table(tmp_path / "other.csv")
    assert table.coverage.word_list == "other"
    assert bb.coverage(table)["asked"].isna().all()
    assert "other.csv.coverage.json is of another table" in bb.coverage(table).attrs["notes"][0]


@pytest.mark.usefixtures("without_pictures")
def test_a_report_on_a_table_without_coverage_says_that_it_is_unknown(tmp_path):
    table = bb.distance_table("google-news-slice", "weat7")
    table.to_csv(tmp_path / "plain.csv", index=False)
    post = bb.fit(bb.read_distance_table(tmp_path / "plain.csv"), seed=0)
    bb.report(post, tmp_path / "report.html", sensitivity=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count('<td class="text">unknown</td>') == 6
    assert "coverage unknown, because no coverage goes with the file" in page


@pytest.mark.parametrize(
    "changed", [{"lists": 5}, {"lists": [{"list": "a"}]}, {"twins": ["x"]}, {"embedding": {"vectors": "many"}}]
)
def test_coverage_of_another_inner_kind_is_refused(tmp_path, changed):
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    record = table.coverage.as_dict() | changed
    table.to_csv(tmp_path / "t.csv", index=False)
    note = {"table_sha256": sha256((tmp_path / "t.csv").read_bytes()).hexdigest(), "coverage": record}
    (tmp_path / "t.csv.coverage.json").write_text(json.dumps(note))
    old = pd.DataFrame(table)
    old.attrs["coverage"] = record
    old.to_parquet(tmp_path / "old.parquet", index=False)
    bb.write_distance_table(
        bb.DistanceTable(table, coverage=replace(table.coverage, **changed)), tmp_path / "t.parquet"
    )
    for name in ("t.csv", "t.parquet", "old.parquet"):
        with pytest.raises(bb.InputError, match=rf"what goes with .*{name} is not as write_distance_table writes it"):
            bb.read_distance_table(tmp_path / name)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # h5netcdf's, of a file half opened
def test_damaged_fits_are_refused_by_name(tmp_path):
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    bb.save_fit(bb.fit(table, "published", seed=0, draws=40), tmp_path / "fit.nc")
    whole = (tmp_path / "fit.nc").read_bytes()
    rng = random.Random(0)  # noqa: S311
    path = tmp_path / "cut.nc"
    errors = []
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(40):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            bb.load_fit(path)
        except bb.InputError as error:
            errors.append(str(error))
    assert len(errors) > 30
    assert all("cut.nc" in error for error in errors)


def test_letters_without_a_glyph_are_drawn_without_a_warning(tmp_path):
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    word = table["protected_word"].iloc[0]
    renamed = table.assign(protected_word=table["protected_word"].replace(word, "\U00012000"))  # cuneiform
    bb.plot_distances(renamed, "\U00012000").savefig(tmp_path / "picture.png")


def test_a_command_that_is_ended_leaves_no_temporary_file(tmp_path):
    code = (
        "import os, signal, sys\n"
        "import bayesbias.cli, bayesbias.cli.app\n"
        "from bayesbias._support.files import whole_file\n"
        "def work():\n"
        "    with whole_file(sys.argv[1]) as temporary:\n"
        "        temporary.write_text('half')\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "bayesbias.cli.app.app = work\n"
        "bayesbias.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.txt")], capture_output=True, text=True)
    assert done.returncode == 143
    assert list(tmp_path.iterdir()) == []
