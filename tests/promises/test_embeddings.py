"""Embeddings: every format, what is left out or refused, and equality with gensim's own reader."""

import contextlib
import gzip
import hashlib
import io
import pickle
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
import unicodedata
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors, Word2Vec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import bayesbias as bb
from bayesbias.vectors import find_concepts, find_words, spellings

DATA = Path(__file__).parents[2] / "data"

VECTORS = {"cat": [1.0, 2.0, 3.0], "dog": [-4.5, 0.25, 1e-3], "Ähre": [7.0, -8.0, 0.0], "東京": [0.1, 0.2, 0.3]}
FORMATS = ["binary", "binary.gz", "c binary", "text", "text.gz", "glove", "glove.gz", "npz", "compressed npz"]
LISTS = bb.WordLists("mine", {"a": ["dog"], "b": ["unicorn"]}, {"a": ["東京"]})


def keyed(vectors):
    kv = KeyedVectors(len(next(iter(vectors.values()))))
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    return kv


def text(vectors, header=True):
    first = f"{len(vectors)} {len(next(iter(vectors.values())))}\n" if header else ""
    return (first + "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items())).encode()


def binary(vectors, end=b""):
    """``end`` follows each vector: nothing as gensim writes it, a newline as the C program does."""
    size = len(next(iter(vectors.values())))
    entries = (word.encode() + b" " + struct.pack(f"<{size}f", *vector) + end for word, vector in vectors.items())
    return f"{len(vectors)} {size}\n".encode() + b"".join(entries)


def npz(save=np.savez, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def content(form, vectors):
    arrays = {"words": np.array(list(vectors)), "vectors": np.array(list(vectors.values()))}
    plain = {
        "binary": lambda: binary(vectors),
        "c binary": lambda: binary(vectors, b"\n"),
        "text": lambda: text(vectors),
        "glove": lambda: text(vectors, header=False),
        "npz": lambda: npz(**arrays),
        "compressed npz": lambda: npz(np.savez_compressed, **arrays),
    }[form.removesuffix(".gz")]()
    return gzip.compress(plain) if form.endswith(".gz") else plain


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file whose name tells nothing and gives its path."""

    def write(data):
        path = tmp_path / "vectors"
        path.write_bytes(data)
        return path

    return write


def assert_holds(kv, vectors):
    assert isinstance(kv, KeyedVectors)
    assert kv.index_to_key == list(vectors)
    assert kv.vectors.dtype == np.float32
    np.testing.assert_array_equal(kv.vectors, np.array(list(vectors.values()), dtype=np.float32))


@pytest.fixture(scope="module")
def shared_slice(shared):
    return KeyedVectors.load_word2vec_format(shared / "embeddings" / "google_news_slice.bin", binary=True)


def test_bundled_slice_is_the_shared_slice_at_the_bundled_words_and_a_sample(slice_vectors, shared_slice, listed_words):
    words = {word for word in listed_words if word in shared_slice}
    assert len(words) == 949
    held = slice_vectors.index_to_key
    assert words <= set(held)
    assert len(held) == len(set(held)) == 949 + 2000
    assert held == [word for word in shared_slice.index_to_key if word in slice_vectors]
    np.testing.assert_array_equal(slice_vectors.vectors, np.stack([shared_slice[w] for w in held]))


def test_bundled_slice_is_built_again_byte_for_byte(shared, tmp_path):
    script = Path(__file__).parents[2] / "benchmarks" / "builders" / "slices.py"
    larger, again = shared / "embeddings" / "google_news_slice.bin", tmp_path / "again.bin"
    done = subprocess.run([sys.executable, script, "google", larger, again], capture_output=True, text=True, check=True)
    assert again.read_bytes() == (DATA / "embeddings" / "google-news-slice.bin").read_bytes()
    assert "vectors = 2949" in done.stdout


def test_shared_slice_is_read_as_gensim_reads_it(shared, shared_slice):
    kv = bb.load_embedding(shared / "embeddings" / "google_news_slice.bin")
    assert len(kv) == 13013
    assert kv.index_to_key == shared_slice.index_to_key
    np.testing.assert_array_equal(kv.vectors, shared_slice.vectors)


def test_manifest_tells_the_bundled_file():
    about = tomllib.loads((DATA / "manifest.toml").read_text(encoding="utf-8"))["google-news-slice"]
    data = (DATA / about["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == about["sha256"]
    assert data.startswith(b"2949 300\n")


def test_list_embeddings():
    table = bb.list_embeddings()
    assert list(table.columns) == ["name", "vectors", "dimensions", "description", "source", "licence", "doi"]
    assert table[["name", "vectors", "dimensions", "licence"]].to_numpy().tolist() == [
        ["google-news-slice", 2949, 300, "Apache-2.0"],
        ["glove-50d-slice", 20518, 50, "PDDL-1.0"],
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_format_is_found_from_the_content(written, form):
    assert_holds(bb.load_embedding(written(content(form, VECTORS))), VECTORS)


@pytest.mark.parametrize("form", FORMATS)
def test_words_keep_their_order_in_the_file(written, form):
    path = written(content(form, VECTORS))
    kept = {word: VECTORS[word] for word in ("dog", "東京")}
    assert_holds(bb.load_embedding(path, words=["東京", "unicorn", "dog"]), kept)
    assert_holds(bb.load_embedding(path, words=(word for word in ("東京", "dog"))), kept)
    assert_holds(bb.load_embedding(str(path), words=LISTS), kept)


@pytest.mark.parametrize("form", FORMATS)
def test_none_of_the_words_is_found(written, form):
    with pytest.raises(bb.InputError, match="none of the words that were asked for"):
        bb.load_embedding(written(content(form, VECTORS)), words=["unicorn"])


@pytest.mark.parametrize("source", [VECTORS, keyed(VECTORS)], ids=["mapping", "KeyedVectors"])
def test_sources_in_memory(source):
    kept = {word: VECTORS[word] for word in ("dog", "東京")}
    assert_holds(bb.load_embedding(source), VECTORS)
    assert_holds(bb.load_embedding(source, words=["東京", "unicorn", "dog"]), kept)
    assert_holds(bb.load_embedding(source, words=LISTS), kept)
    with pytest.raises(bb.InputError, match="none of the words that were asked for"):
        bb.load_embedding(source, words=["unicorn"])


def test_keyed_vectors_without_need_of_change_are_returned_themselves():
    kv = keyed(VECTORS)
    assert bb.load_embedding(kv) is kv
    assert bb.load_embedding(kv, words=VECTORS) is kv


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("name", ["vectors", "vectors.gz"])
def test_what_gensim_writes(tmp_path, slice_vectors, is_binary, name):
    words = slice_vectors.index_to_key[::10]
    bb.load_embedding(slice_vectors, words=words).save_word2vec_format(tmp_path / name, binary=is_binary)
    kv = bb.load_embedding(tmp_path / name)
    assert set(kv.index_to_key) == set(words)
    np.testing.assert_array_equal(kv[words], slice_vectors[words])


@st.composite
def vocabularies(draw):
    size = draw(st.integers(2, 5))
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c")
    words = st.text(letters, min_size=1, max_size=6)
    number = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)
    vector = st.lists(number, min_size=size, max_size=size).filter(any)
    return draw(st.dictionaries(words, vector, min_size=1, max_size=8))


@pytest.mark.parametrize("is_binary", [True, False])
@settings(deadline=None, max_examples=100, derandomize=True)
@given(vectors=vocabularies())
def test_any_vocabulary_survives_the_round_trip(is_binary, vectors):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        keyed(vectors).save_word2vec_format(path, binary=is_binary)
        assert_holds(bb.load_embedding(path), vectors)


@pytest.mark.parametrize("form", ["glove", "text"])
def test_token_with_spaces(written, form):
    vectors = {"cat": [1.0, 2.0], "new york": [3.0, 4.0], ". . .": [5.0, 6.0]}
    path = written(content(form, vectors))
    assert_holds(bb.load_embedding(path), vectors)
    assert_holds(bb.load_embedding(path, words=[". . ."]), {". . .": [5.0, 6.0]})
    with pytest.raises(bb.InputError, match="none of the words"):
        bb.load_embedding(path, words=["new"])


def test_lines_that_end_as_in_windows_and_blank_lines(written):
    assert_holds(bb.load_embedding(written(b"2 2\r\ncat 1 2\r\n\r\ndog 3 4\r\n")), {"cat": [1, 2], "dog": [3, 4]})


@pytest.mark.parametrize("form", ["binary", "text", "glove"])
def test_token_that_is_not_utf_8(written, form):
    data = content(form, {"cXt": [1.0, 2.0], "dog": [3.0, 4.0]}).replace(b"cXt", b"c\xfft")
    for words, held in ((None, {"c\\xfft": [1, 2], "dog": [3, 4]}), (["dog"], {"dog": [3, 4]})):
        with pytest.warns(
            UserWarning, match=r"holds 1 word that cannot be read as UTF-8, the first c\\xfft: bad bytes"
        ):
            assert_holds(bb.load_embedding(written(data), words=words), held)


def test_words_in_another_encoding_are_counted(written):
    with pytest.warns(UserWarning, match=r"holds 2 words that cannot be read as UTF-8, the first caf\\xe9"):
        bb.load_embedding(written("caf\xe9 1 2\ncat 3 4\nna\xefve 5 6\n".encode("latin-1")))


def test_a_backslash_in_a_word_is_no_other_encoding(written):
    assert_holds(bb.load_embedding(written(b"2 2\nc\\xff 1 2\ncat\xc3\xa9 3 4\n")), {"c\\xff": [1, 2], "caté": [3, 4]})


@pytest.mark.parametrize("form", ["binary", "text", "glove"])
def test_first_vector_of_a_repeated_word_is_kept(written, form):
    data = content(form, {"cat": [1.0, 2.0], "cXt": [3.0, 4.0], "dog": [5.0, 6.0]}).replace(b"cXt", b"cat")
    with pytest.warns(UserWarning, match="1 vectors belong to words seen before; the first vector of a word is kept"):
        kv = bb.load_embedding(written(data))
    assert_holds(kv, {"cat": [1, 2], "dog": [5, 6]})


ZEROS = {"cat": [1.0, 2.0], "nil": [0.0, 0.0], "dog": [5.0, 6.0]}


@pytest.mark.parametrize("form", [*FORMATS, "mapping", "KeyedVectors"])
def test_vectors_of_zeros_are_left_out(written, form):
    sources = {"mapping": lambda: ZEROS, "KeyedVectors": lambda: keyed(ZEROS)}
    source = sources.get(form, lambda: written(content(form, ZEROS)))()
    with pytest.warns(UserWarning, match="'nil' left out, because a vector of zeros has no direction"):
        kv = bb.load_embedding(source)
    assert_holds(kv, {"cat": [1, 2], "dog": [5, 6]})
    assert_holds(bb.load_embedding(source, words=["dog"]), {"dog": [5, 6]})


def test_nothing_but_zeros():
    with (
        pytest.warns(UserWarning, match="'nil' left out"),
        pytest.raises(bb.InputError, match="holds only vectors of zeros"),
    ):
        bb.load_embedding({"nil": [0.0, 0.0]})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("form", [*FORMATS, "mapping", "KeyedVectors"])
def test_numbers_that_are_not_finite_name_the_word(written, form, number):
    vectors = {"cat": [1.0, 2.0], "odd": [3.0, number]}
    sources = {"mapping": lambda: vectors, "KeyedVectors": lambda: keyed(vectors)}
    source = sources.get(form, lambda: written(content(form, vectors)))()
    with pytest.raises(bb.InputError, match="the vectors of 'odd' hold NaN or infinite numbers"):
        bb.load_embedding(source)
    assert_holds(bb.load_embedding(source, words=["cat"]), {"cat": [1, 2]})


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (b"2 3\ncat 1 2 3\ndog 4 5\n", 3),
        (b"3 3\ncat 1 2 3\n\ndog 4 5 six\nowl 7 8 9\n", 4),
        (b"cat 1 2 3\ndog 4 5\nowl 7 8 9\n", 2),
    ],
)
def test_line_with_the_wrong_numbers_is_named(written, lines, number):
    with pytest.raises(bb.InputError, match=rf"line {number}: a word and 3 numbers were expected, found b'dog "):
        bb.load_embedding(written(lines))
    with pytest.raises(bb.InputError, match=rf"line {number}: a word and 3 numbers were expected, found b'dog "):
        bb.load_embedding(written(lines), words=["dog"])


WHOLE = binary(VECTORS)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 9, 19, 20, 24, 40, len(WHOLE) - 12, len(WHOLE) - 1])
@pytest.mark.parametrize("words", [None, ["cat"]])
def test_truncated_binary_file(written, size, words):
    with pytest.raises(bb.InputError, match="truncated"):
        bb.load_embedding(written(WHOLE[:size]), words=words)


def test_truncated_binary_file_tells_what_it_holds(written):
    with pytest.raises(bb.InputError, match="its first line promises 4 vectors, it holds 3 whole ones"):
        bb.load_embedding(written(WHOLE[:-1]))


@pytest.mark.parametrize("kept", [2, 3, 4])
def test_truncated_text_file(written, kept):
    lines = text(VECTORS).splitlines(keepends=True)
    with pytest.raises(bb.InputError, match=rf"promises 4 vectors, it holds {kept - 1}"):
        bb.load_embedding(written(b"".join(lines[:kept])))
    with pytest.raises(bb.InputError, match=rf"line {kept + 1}: a word and 3 numbers were expected"):
        bb.load_embedding(written(b"".join(lines[:kept]) + lines[kept].rsplit(b" ", 1)[0]))


def test_text_file_with_nothing_after_its_header(written):
    with pytest.raises(bb.InputError, match="promises 4 vectors, it holds 0"):
        bb.load_embedding(written(text(VECTORS).splitlines(keepends=True)[0]))


def test_text_file_with_more_than_its_header_promises(written):
    with pytest.raises(bb.InputError, match="promises 1 vectors, it holds 2") as error:
        bb.load_embedding(written(b"1 2\ncat 1 2\ndog 3 4\n"))
    assert "truncated" not in str(error.value)


@pytest.mark.parametrize("form", ["binary.gz", "text.gz", "glove.gz"])
@pytest.mark.parametrize("lost", [1, 8, 9, 20, 60])
def test_truncated_gzip_file(written, form, lost):
    with pytest.raises(bb.InputError, match="truncated or damaged"):
        bb.load_embedding(written(content(form, VECTORS)[:-lost]))


def test_gzip_file_cut_in_its_own_header(written):
    with pytest.raises(bb.InputError, match="truncated or damaged"):
        bb.load_embedding(written(content("text.gz", VECTORS)[:6]))


@pytest.mark.parametrize("form", ["binary.gz", "compressed npz"])
def test_damaged_compression(written, form):
    data = bytearray(content(form, {f"w{number}": [number + 1.0, 2.0] for number in range(500)}))
    middle = len(data) // 2
    for start in (60, 100, middle):
        damaged = bytes(data[:start]) + b"\xff" * 40 + bytes(data[start + 40 :])
        with pytest.raises(bb.InputError, match=r"damaged|cannot be read"):
            bb.load_embedding(written(damaged))


@pytest.mark.parametrize("data", [b"", b"\n", b"  \n", gzip.compress(b"", mtime=0)])
def test_empty_file(written, data):
    with pytest.raises(bb.InputError, match="is empty"):
        bb.load_embedding(written(data))


@pytest.mark.parametrize("header", ["0 3", "3 0", "0 0"])
def test_header_without_words_or_dimensions(written, header):
    with pytest.raises(bb.InputError, match=f"it holds {header.replace(' ', ' x ')} numbers"):
        bb.load_embedding(written(header.encode() + b"\n"))


def test_text_that_is_no_embedding(written):
    with pytest.raises(bb.InputError, match=r"is no embedding of a known format.*begins with b'just some prose"):
        bb.load_embedding(written(b"just some prose here\nand more of it\n"))


def test_pickle_is_refused_unless_trusted(tmp_path):
    keyed(VECTORS).save(str(tmp_path / "vectors.kv"))
    with pytest.raises(bb.InputError, match="runs the code in it: pass trust_pickle=True"):
        bb.load_embedding(tmp_path / "vectors.kv")
    assert_holds(bb.load_embedding(tmp_path / "vectors.kv", trust_pickle=True), VECTORS)
    kept = bb.load_embedding(tmp_path / "vectors.kv", words=["dog", "unicorn"], trust_pickle=True)
    assert_holds(kept, {"dog": VECTORS["dog"]})


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_code_in_a_pickle_does_not_run_unasked(tmp_path):
    (tmp_path / "vectors.kv").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(bb.InputError, match="is a Python pickle"):
        bb.load_embedding(tmp_path / "vectors.kv")
    assert not (tmp_path / "sprung").exists()


def test_pickled_word2vec_model(tmp_path):
    model = Word2Vec([["a", "b", "c"]] * 20, vector_size=8, min_count=1, epochs=1, workers=1, seed=1)
    model.save(str(tmp_path / "w2v.model"))
    with pytest.raises(bb.InputError, match="trust_pickle"):
        bb.load_embedding(tmp_path / "w2v.model")
    kv = bb.load_embedding(tmp_path / "w2v.model", trust_pickle=True)
    assert_holds(kv, {word: model.wv[word] for word in model.wv.index_to_key})
    assert kv.vector_size == 8


def test_trusted_pickle_of_something_else(written):
    path = written(pickle.dumps(VECTORS))
    with pytest.raises(bb.InputError, match="holds a dict, not gensim vectors"):
        bb.load_embedding(path, trust_pickle=True)


def test_truncated_trusted_pickle(tmp_path):
    path = tmp_path / "vectors.kv"
    keyed(VECTORS).save(str(path))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(bb.InputError, match=r"vectors\.kv"):
        bb.load_embedding(path, trust_pickle=True)


def test_npz_with_pickled_objects_is_refused(written):
    data = npz(words=np.array(["cat", "dog"], dtype=object), vectors=np.eye(2))
    with pytest.raises(bb.InputError, match="Object arrays cannot be loaded"):
        bb.load_embedding(written(data))
    with pytest.raises(bb.InputError, match="Object arrays cannot be loaded"):
        bb.load_embedding(written(data), trust_pickle=True)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": ["cat"]}, "holds words: an .npz embedding has words and vectors"),
        ({"arr_0": [1.0]}, "holds arr_0: an .npz embedding has words and vectors"),
        ({"words": ["cat", "dog"], "vectors": [[1.0, 2.0]]}, "as many rows"),
        ({"words": ["cat", "dog"], "vectors": [1.0, 2.0]}, "2-D array"),
        ({"words": [1, 2], "vectors": [[1.0, 2.0], [3.0, 4.0]]}, "words must be a 1-D array of text"),
        ({"words": ["cat", "dog"], "vectors": [["a", "b"], ["c", "d"]]}, "vectors"),
        ({"words": ["cat", "dog"], "vectors": [[1j, 2.0], [3.0, 4.0]]}, "vectors"),
    ],
)
def test_npz_with_other_arrays(written, arrays, message):
    data = npz(**{name: np.array(values) for name, values in arrays.items()})
    with pytest.raises(bb.InputError, match=re.escape(message)):
        bb.load_embedding(written(data))


def test_npz_with_words_as_bytes(written):
    words = np.array([word.encode() for word in VECTORS])
    assert_holds(bb.load_embedding(written(npz(words=words, vectors=list(VECTORS.values())))), VECTORS)


@pytest.mark.parametrize("size", [4, 100, 400])
def test_truncated_npz(written, size):
    with pytest.raises(bb.InputError, match=r"cannot be read as \.npz"):
        bb.load_embedding(written(content("npz", VECTORS)[:size]))


def test_zip_of_something_else(written):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("glove.txt", text(VECTORS))
    with pytest.raises(bb.InputError, match=r"holds glove\.txt: an \.npz embedding has words and vectors"):
        bb.load_embedding(written(file.getvalue()))


def test_unknown_name_or_path(tmp_path):
    with pytest.raises(
        bb.InputError, match=r"no embedding 'glove': give .* a bundled name \(google-news-slice, glove-50d-slice\)"
    ):
        bb.load_embedding("glove")
    with pytest.raises(bb.InputError, match="there is no embedding"):
        bb.load_embedding(tmp_path / "gone.bin")
    with pytest.raises(bb.InputError, match="there is no embedding"):
        bb.load_embedding(tmp_path)


@pytest.mark.parametrize("source", [3, None, ["cat"], np.eye(2)])
def test_source_of_another_type(source):
    with pytest.raises(bb.InputError, match=f"cannot read an embedding from {type(source).__name__}"):
        bb.load_embedding(source)


def test_words_as_one_string():
    with pytest.raises(bb.InputError, match="words is one string, 'cat': give a list of words"):
        bb.load_embedding(VECTORS, words="cat")


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"cat": [1, 2], "dog": [1, 2, 3]}, r"shapes \[\(2,\), \(3,\)\] \(for instance the word 'dog'\)"),
        ({"cat": 1.0}, "all vectors must be 1-D"),
        ({"cat": []}, "all vectors must be 1-D"),
        ({"cat": [[1, 2], [3, 4]]}, "all vectors must be 1-D"),
        ({"cat": ["x", "y"]}, "does not hold vectors of numbers"),
        ({"cat": None}, "all vectors must be 1-D"),
        ({}, "holds no vector"),
    ],
)
def test_mapping_without_proper_vectors(vectors, message):
    with pytest.raises(bb.InputError, match=message):
        bb.load_embedding(vectors)


@pytest.mark.parametrize("header", ["2 3\n", ""])
def test_line_with_one_number_too_many(written, header):
    path = written(f"{header}cat 1 2 3\ndog 4 5 6 7\n".encode())
    number = 3 if header else 2
    for words in (None, ["dog"]):
        with pytest.raises(bb.InputError, match=rf"line {number}: a word and 3 numbers were expected.*\(4 numbers\)"):
            bb.load_embedding(path, words=words)


@pytest.mark.parametrize("words", [[1], [None, "cat"]])
def test_words_that_are_no_words(words):
    with pytest.raises(bb.InputError, match="give a list of words"):
        bb.load_embedding({"cat": [1.0]}, words=words)


@pytest.mark.parametrize("header", [b"2 2", b"1 3", b"1 6"])
def test_binary_header_that_does_not_fit_what_follows(written, header):
    path = written(b"2 3\ncat " + bytes(12) + b"dog " + np.ones(3, "<f4").tobytes())
    path.write_bytes(header + path.read_bytes()[3:])
    with pytest.raises(bb.InputError, match=r"damaged|truncated"):
        bb.load_embedding(path)


@pytest.mark.parametrize("header", ["2 3\n", ""])
def test_text_apart_by_tabs(written, header):
    kv = bb.load_embedding(written(f"{header}cat\t1\t2\t3\ndog\t4\t5\t6\n".encode()))
    assert kv["dog"].tolist() == [4, 5, 6]


def test_a_gensim_model_is_taken_for_its_vectors():
    from gensim.models import Word2Vec

    model = Word2Vec([["a", "b"], ["b", "c"]], vector_size=4, min_count=1, seed=1, workers=1)
    assert bb.load_embedding(model) is model.wv


@pytest.mark.parametrize("suffix", [".bin", ".txt", ".npz"])
def test_saved_vectors_are_read_back(tmp_path, suffix):
    rng = np.random.default_rng(0)
    kv = keyed({"caf\u00e9": rng.normal(size=5), "\u732b": rng.normal(size=5), "dog": 1e-8 * rng.normal(size=5)})
    bb.save_embedding(kv, tmp_path / f"v{suffix}")
    again = bb.load_embedding(tmp_path / f"v{suffix}")
    assert again.index_to_key == kv.index_to_key
    np.testing.assert_array_equal(again.vectors, kv.vectors)


def test_what_cannot_be_saved_is_refused_and_leaves_nothing(tmp_path, limited_files):
    kv = keyed({"new york": [1.0, 2.0], "dog": [3.0, 4.0]})
    with pytest.raises(bb.InputError, match="1 words hold blanks"):
        bb.save_embedding(kv, tmp_path / "v.bin")
    bb.save_embedding(kv, tmp_path / "v.npz")
    assert bb.load_embedding(tmp_path / "v.npz").index_to_key == ["new york", "dog"]
    with pytest.raises(bb.InputError, match=r"an embedding ends in \.bin or \.txt"):
        bb.save_embedding(kv, tmp_path / "v.kv")
    with pytest.raises(bb.InputError, match="takes a gensim KeyedVectors, given is dict"):
        bb.save_embedding({"dog": [1.0]}, tmp_path / "v.bin")
    before = (tmp_path / "v.npz").read_bytes()
    many = keyed({f"w{at}": np.ones(50) for at in range(500)})
    with limited_files(20_000), pytest.raises(OSError, match="too large"):
        bb.save_embedding(many, tmp_path / "v.npz")
    assert (tmp_path / "v.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["v.npz"]


@pytest.mark.parametrize(("asked", "held"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_accents_are_found_however_they_are_encoded(tmp_path, asked, held):
    kv = bb.load_embedding({held: [1, 0], "tea": [0, 1]})
    assert find_words(kv, [asked, "tea", "gone"]).keys == {asked: held, "tea": "tea"}
    bb.save_embedding(kv, tmp_path / "v.txt")
    assert bb.load_embedding(tmp_path / "v.txt", words=[asked]).index_to_key == [held]


def test_normal_form_c_is_looked_up_on_both_sides(tmp_path):
    bengali = "\u09b8\u09c1\u099c\u09df"  # its last letter is two characters in normal form C
    vietnamese = "bi\u00ea\u0301n"  # one accent composed, one not
    kv = bb.load_embedding({bengali: [1, 0], vietnamese: [0, 1], "\u00e9": [1, 1]})
    asked = [unicodedata.normalize("NFC", word) for word in (bengali, vietnamese)]
    assert find_words(kv, [*asked, "e\u0301", "\u00e8"]).keys == {
        asked[0]: bengali,
        asked[1]: vietnamese,
        "e\u0301": "\u00e9",
    }
    bb.save_embedding(kv, tmp_path / "v.txt")
    assert bb.load_embedding(tmp_path / "v.txt", words=[asked[0]]).index_to_key == [bengali]


def test_a_phrase_is_looked_up_as_written_then_joined(tmp_path):
    kv = bb.load_embedding({"New_York": [1, 0], "San Jose": [0, 1], "San_Jose": [1, 1]})
    assert find_words(kv, ["New York", "San Jose", "new york"]).keys == {"New York": "New_York", "San Jose": "San Jose"}
    bb.save_embedding(kv, tmp_path / "v.npz")
    assert bb.load_embedding(tmp_path / "v.npz", words=["New York"]).index_to_key == ["New_York"]


def test_a_blank_without_a_break_is_asked_for_as_a_blank(tmp_path):
    words = ["New\xa0York", "caf\u00e9\xa0noir"]
    kv = bb.load_embedding(dict(zip(words, np.eye(2), strict=True)))
    asked = ["New York", "cafe\u0301 noir"]
    for case in ("as-is", "fallback"):
        assert list(find_words(kv, asked, case).keys.values()) == words
    bb.save_embedding(kv, tmp_path / "v.npz")
    assert bb.load_embedding(tmp_path / "v.npz", words=asked).index_to_key == words


@pytest.mark.parametrize(
    ("language", "asked", "held"),
    [
        ("tr", "\u0130stanbul", "istanbul"),
        ("tr", "istanbul", "\u0130stanbul"),
        ("tr", "istanbul", "\u0130STANBUL"),
        ("az", "I\u015f\u0131k", "\u0131\u015f\u0131k"),
        ("tr-CY", "\u0131\u015f\u0131k", "I\u015eIK"),
        ("en", "istanbul", "ISTANBUL"),
        ("de", "Stra\u00dfe", "STRASSE"),
        ("de", "Stra\u00dfe", "STRA\u1e9eE"),
        ("de", "Stra\u00dfe", "strasse"),
        ("de", "STRA\u1e9eE", "stra\u00dfe"),
    ],
)
def test_capitals_follow_the_rules_of_a_language(language, asked, held):
    kv = bb.load_embedding({held: [1, 0], "tea": [0, 1]})
    assert find_words(kv, [asked], "fallback", language).keys == {asked: held}
    assert find_words(kv, [asked], "as-is", language).keys == {}
    assert held in spellings([asked], "fallback", language)


@pytest.mark.parametrize(("asked", "held"), [("ISTANBUL", "istanbul"), ("istanbul", "ISTANBUL")])
def test_a_turkish_i_keeps_its_dot(asked, held):
    kv = bb.load_embedding({held: [1, 0], "tea": [0, 1]})
    assert find_words(kv, [asked], "fallback", "tr").keys == {}
    assert find_words(kv, [asked], "fallback").keys == {asked: held}


def test_the_vector_of_a_concept_is_the_mean_of_unit_vectors():
    kv = bb.load_embedding({"a": [2, 0], "b": [0, 5], "c": [3, 4], "d": [-1, 0]})
    found = find_concepts(kv, {"a": ("a", "b", "gone"), "c": ("c",), "lost": ("x", "y"), "B": ("no", "b")})
    assert found.concepts == {"a": ("a", "b"), "c": ("c",), "B": ("b",)}
    assert_allclose(found.units(["c", "a", "B"]), [[0.6, 0.8], [0.5, 0.5], [0, 1]])
    assert found.keys("a") == {"a", "b"}
    with pytest.raises(bb.InputError, match="the vectors of the forms a, d cancel out"):
        find_concepts(kv, {"a": ("a", "d")})


@pytest.mark.parametrize("held", ["New_York", "new_york", "new york"])
@pytest.mark.parametrize("asked", ["New York", "new york"])
def test_fallback_finds_phrases(held, asked):
    kv = bb.load_embedding({held: [1, 0], "tea": [0, 1]})
    found = find_words(kv, [asked], case="fallback").keys
    assert found == {asked: held}
    assert held in spellings([asked], "fallback")


def test_a_decade_of_histwords_is_read_without_running_its_pickle(tmp_path):
    matrix = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    np.save(tmp_path / "1990-w.npy", matrix)
    (tmp_path / "1990-vocab.pkl").write_bytes(pickle.dumps(["he", "gone", "caf\u00e9"], protocol=2))
    kv = bb.load_embedding(tmp_path / "1990-w.npy")
    assert kv.index_to_key == ["he", "caf\u00e9"]  # a row of zeros is a word that the decade lacks
    assert_allclose(kv.vectors, matrix[[0, 2]])
    assert bb.load_embedding(tmp_path / "1990-w.npy", words=["he", "gone"]).index_to_key == ["he"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (Path("x"), "holds .*Path.*a vocabulary is a list of words"),
        (["one"], "3 rows, and 1990-vocab.pkl 1 words"),
        ({"he": 1}, "no matrix and list of words"),
        (None, "no file 1990-vocab.pkl"),
    ],
)
def test_a_decade_with_other_words_is_refused(tmp_path, words, said):
    np.save(tmp_path / "1990-w.npy", np.ones((3, 2)))
    if words is not None:
        (tmp_path / "1990-vocab.pkl").write_bytes(pickle.dumps(words, protocol=2))
    with pytest.raises(bb.InputError, match=said):
        bb.load_embedding(tmp_path / "1990-w.npy")


FORMATS = (".bin", ".txt", ".vec", ".npz", ".safetensors", ".parquet", ".bin.gz", ".txt.gz", ".vec.gz")
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6)


@pytest.mark.parametrize("suffix", FORMATS)
@given(
    words=st.lists(WORDS, min_size=1, max_size=12, unique=True), dimensions=st.integers(1, 5), seed=st.integers(0, 99)
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_format_is_read_as_it_was_written(tmp_path, suffix, words, dimensions, seed):
    rng = np.random.default_rng(seed)
    vectors = {word: rng.standard_normal(dimensions).astype(np.float32) + 3 for word in words}
    kv = keyed(vectors)
    bb.save_embedding(kv, tmp_path / f"v{suffix}")
    back = bb.load_embedding(tmp_path / f"v{suffix}")
    assert back.index_to_key == kv.index_to_key
    np.testing.assert_allclose(back.vectors, kv.vectors, rtol=1e-6)
    some = bb.load_embedding(tmp_path / f"v{suffix}", words=words[::2])
    assert some.index_to_key == [word for word in kv.index_to_key if word in set(words[::2])]
    np.testing.assert_allclose(
        some.vectors, kv.vectors[[kv.key_to_index[word] for word in some.index_to_key]], rtol=1e-6
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_random_damage_ends_in_one_kind_of_error(tmp_path, suffix):
    rng = np.random.default_rng(0)
    kv = keyed({f"word{at}": rng.standard_normal(20) for at in range(200)})
    path = tmp_path / f"v{suffix}"
    bb.save_embedding(kv, path)
    whole = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole) + 1)] if rng.random() < 0.4 else whole)
        for at in rng.integers(0, len(damaged), rng.integers(1, 6)):
            damaged[at] = rng.integers(256)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # any other error fails the test
            with contextlib.suppress(bb.InputError):
                bb.load_embedding(path, words=["word3", "word100"] if rng.random() < 0.5 else None)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_vectors_can_stay_on_disk(tmp_path, suffix):
    rng = np.random.default_rng(0)
    kv = keyed({f"word{at}": rng.standard_normal(8) for at in range(50)})
    bb.save_embedding(kv, tmp_path / f"v{suffix}")
    mapped = bb.load_embedding(tmp_path / f"v{suffix}", mmap=True)
    assert isinstance(mapped.vectors, np.memmap)
    np.testing.assert_array_equal(mapped.vectors, kv.vectors)
    assert mapped.similarity("word1", "word2") == pytest.approx(float(kv.similarity("word1", "word2")))
    with pytest.raises(ValueError, match="read-only"):
        mapped.vectors[0] = 1


def test_what_cannot_stay_on_disk_is_named(tmp_path):
    kv = keyed({"a": [1.0, 2.0], "b": [0.0, 0.0]})
    bb.save_embedding(kv, tmp_path / "v.bin")
    with pytest.raises(bb.InputError, match="cannot be memory-mapped"):
        bb.load_embedding(tmp_path / "v.bin", mmap=True)
    np.savez_compressed(tmp_path / "packed.npz", words=np.array(["a", "b"]), vectors=np.eye(2, dtype=np.float32))
    with pytest.raises(bb.InputError, match="cannot be memory-mapped"):
        bb.load_embedding(tmp_path / "packed.npz", mmap=True)
    with pytest.raises(bb.InputError, match="for whole files"):
        bb.load_embedding(tmp_path / "v.bin", words=["a"], mmap=True)
    bb.save_embedding(kv, tmp_path / "v.npz")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(bb.InputError, match="cannot be mapped as it is"):
        bb.load_embedding(tmp_path / "v.npz", mmap=True)


def test_parquet_with_one_column_a_dimension(tmp_path):
    pd.DataFrame({"token": ["a", "b"], "x": [1.0, 2.0], "y": [3, 4]}).to_parquet(tmp_path / "v.parquet")
    assert_holds(bb.load_embedding(tmp_path / "v.parquet"), {"a": [1, 3], "b": [2, 4]})
    pd.DataFrame({"x": [1.0], "y": [3]}).to_parquet(tmp_path / "w.parquet")
    with pytest.raises(bb.InputError, match="a column of words"):
        bb.load_embedding(tmp_path / "w.parquet")


def test_a_fasttext_model(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    model = FastText([["nurse", "soldier", "farmer"]] * 20, vector_size=6, min_count=1, epochs=1, bucket=50)
    save_facebook_model(model, str(tmp_path / "v.bin"))
    found = bb.load_embedding(tmp_path / "v.bin", words=["nurse", "dragon"])
    assert found.index_to_key == ["nurse"]
    np.testing.assert_allclose(found["nurse"], model.wv["nurse"], rtol=1e-5)


def test_a_cut_file_tells_at_which_byte(tmp_path):
    bb.save_embedding(keyed({f"w{at}": np.ones(4) for at in range(9)}), tmp_path / "v.bin")
    content = (tmp_path / "v.bin").read_bytes()
    (tmp_path / "v.bin").write_bytes(content[:100])
    with pytest.raises(bb.InputError, match="truncated at byte 100"):
        bb.load_embedding(tmp_path / "v.bin")
