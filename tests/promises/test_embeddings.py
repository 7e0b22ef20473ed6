"""Vectors would be read otherwise than they were written, and every distance would be wrong."""

import gzip
import io
import pickle
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.vectors import find_lists, find_words, spellings

VECTORS = {"cat": [1.0, 2.0, 3.0], "dog": [-4.5, 0.25, 1e-3], "Ähre": [7.0, -8.0, 0.0], "東京": [0.1, 0.2, 0.3]}
SUFFIXES = (".bin", ".txt", ".vec", ".npz", ".safetensors", ".parquet", ".bin.gz", ".txt.gz", ".vec.gz")
MARK = b"\xef\xbb\xbf"


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


CONTENTS = {
    "binary": binary,
    "c binary": lambda vectors: binary(vectors, b"\n"),
    "text": text,
    "glove": lambda vectors: text(vectors, header=False),
    "npz": lambda vectors: npz(words=list(vectors), vectors=list(vectors.values())),
    "compressed npz": lambda vectors: npz(np.savez_compressed, words=list(vectors), vectors=list(vectors.values())),
}
CONTENTS |= {
    f"{form}.gz": lambda vectors, form=form: gzip.compress(CONTENTS[form](vectors))
    for form in ("binary", "text", "glove")
}
IN_MEMORY = {"mapping": dict, "KeyedVectors": keyed}
PLAIN = ("binary", "text", "glove")


@pytest.fixture
def written(tmp_path):
    """A function that writes bytes to a file whose name tells nothing, and gives its path."""

    def write(data):
        path = tmp_path / "unnamed"
        path.write_bytes(data)
        return path

    return write


@pytest.fixture
def source(written):
    """A function from the name of a format, or of a kind in memory, to vectors in it."""

    def make(form, vectors):
        return IN_MEMORY[form](vectors) if form in IN_MEMORY else written(CONTENTS[form](vectors))

    return make


def assert_holds(kv, vectors):
    assert isinstance(kv, KeyedVectors)
    assert kv.index_to_key == list(vectors)
    assert kv.vectors.dtype == np.float32
    np.testing.assert_array_equal(kv.vectors, np.array(list(vectors.values()), dtype=np.float32))


@pytest.fixture(scope="module")
def shared_slice(shared):
    return KeyedVectors.load_word2vec_format(shared / "embeddings" / "google_news_slice.bin", binary=True)


class TestBundledVectors:
    def test_they_are_the_shared_slice_at_the_bundled_words_and_a_sample(
        self, slice_vectors, shared_slice, listed_words
    ):
        words = {word for word in listed_words if word in shared_slice}
        assert len(words) == 949
        held = slice_vectors.index_to_key
        assert words <= set(held)
        assert len(held) == len(set(held)) == 949 + 2000
        assert held == [word for word in shared_slice.index_to_key if word in slice_vectors]
        np.testing.assert_array_equal(slice_vectors.vectors, np.stack([shared_slice[word] for word in held]))

    def test_the_larger_slice_is_read_as_gensim_reads_it(self, news, shared_slice):
        assert news.index_to_key == shared_slice.index_to_key
        np.testing.assert_array_equal(news.vectors, shared_slice.vectors)


class TestFormats:
    @pytest.mark.parametrize("form", [*CONTENTS, *IN_MEMORY])
    def test_the_content_tells_the_format_and_words_keep_their_order(self, source, form):
        given = source(form, VECTORS)
        assert_holds(bb.load_embedding(given), VECTORS)
        kept = {word: VECTORS[word] for word in ("dog", "東京")}
        assert_holds(bb.load_embedding(given, words=(word for word in ("東京", "dog"))), kept)
        lists = bb.WordLists("mine", {"a": ["dog"], "b": ["unicorn"]}, {"a": ["東京"]})
        assert_holds(bb.load_embedding(given, words=lists), kept)
        with pytest.raises(bb.InputError, match="none of the words that were asked for"):
            bb.load_embedding(given, words=["unicorn"])

    def test_keyed_vectors_without_need_of_change_are_returned_themselves(self):
        kv = keyed(VECTORS)
        assert bb.load_embedding(kv) is kv
        assert bb.load_embedding(kv, words=VECTORS) is kv
        model = Word2Vec([["a", "b"], ["b", "c"]], vector_size=4, min_count=1, seed=1, workers=1)
        assert bb.load_embedding(model) is model.wv

    @st.composite
    @staticmethod
    def vocabularies(draw):
        size = draw(st.integers(2, 5))
        letters = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c")
        words = st.text(letters, min_size=1, max_size=6)
        number = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)
        vector = st.lists(number, min_size=size, max_size=size).filter(any)
        return draw(st.dictionaries(words, vector, min_size=1, max_size=8))

    @pytest.mark.parametrize("is_binary", [True, False])
    @settings(deadline=None, max_examples=40, derandomize=True)
    @given(vectors=vocabularies(), name=st.sampled_from(["vectors", "vectors.gz"]))
    def test_what_gensim_writes_is_read_back(self, is_binary, vectors, name):
        with tempfile.TemporaryDirectory() as folder:
            keyed(vectors).save_word2vec_format(Path(folder) / name, binary=is_binary)
            assert_holds(bb.load_embedding(Path(folder) / name), vectors)

    @pytest.mark.parametrize("form", ["glove", "text"])
    def test_a_token_may_have_spaces(self, source, form):
        vectors = {"cat": [1.0, 2.0], "new york": [3.0, 4.0], ". . .": [5.0, 6.0], '" "': [7.0, 8.0], "cow": [9.0, 0.0]}
        path = source(form, vectors)
        assert_holds(bb.load_embedding(path), vectors)
        for first in (". . .", '" "'):  # by which alone the number of dimensions cannot be told
            again = {first: vectors[first]} | vectors
            assert_holds(bb.load_embedding(source(form, again)), again)
        assert_holds(bb.load_embedding(path, words=[". . ."]), {". . .": [5.0, 6.0]})
        with pytest.raises(bb.InputError, match="none of the words"):
            bb.load_embedding(path, words=["new"])

    @pytest.mark.parametrize(
        "content",
        [
            b"2 2\r\ncat 1 2\r\n\r\ndog 3 4\r\n",
            b"2 2\ncat\t1\t2\ndog\t3\t4\n",
            b"cat\t1\t2\ndog\t3\t4\n",
            b"2 2\n\ncat 1  2\n\ndog  3 4\n",
            b"cat 1  2 \ndog   3 4\n",
            MARK + b"2 2\ncat 1 2\ndog 3 4\n",
            MARK + b"cat 1 2\ndog 3 4",
        ],
        ids=range(7),
    )
    def test_line_ends_blanks_tabs_and_byte_order_marks_are_passed_over(self, written, content):
        assert_holds(bb.load_embedding(written(content)), {"cat": [1, 2], "dog": [3, 4]})

    @pytest.mark.parametrize("form", ["binary", "glove"])
    def test_a_token_that_is_not_utf_8_is_said(self, written, form):
        path = written(CONTENTS[form]({"cXt": [1.0, 2.0], "dog": [3.0, 4.0]}).replace(b"cXt", b"c\xfft"))
        for words, held in ((None, {"c\\xfft": [1, 2], "dog": [3, 4]}), (["dog"], {"dog": [3, 4]})):
            with pytest.warns(UserWarning, match=r"1 word that cannot be read as UTF-8, the first c\\xfft: bad bytes"):
                assert_holds(bb.load_embedding(path, words=words), held)

    @pytest.mark.parametrize("form", ["c binary", "text"])
    def test_the_first_vector_of_a_repeated_word_is_kept(self, written, form):
        data = CONTENTS[form]({"cat": [1.0, 2.0], "cXt": [3.0, 4.0], "dog": [5.0, 6.0]}).replace(b"cXt", b"cat")
        with pytest.warns(UserWarning, match="1 vector of words seen before left out: the first"):
            kv = bb.load_embedding(written(data))
        assert_holds(kv, {"cat": [1, 2], "dog": [5, 6]})

    @pytest.mark.parametrize("form", ["glove", "npz", *IN_MEMORY])
    def test_vectors_of_zeros_are_left_out(self, source, form):
        given = source(form, {"cat": [1.0, 2.0], "nil": [0.0, 0.0], "dog": [5.0, 6.0]})
        with pytest.warns(UserWarning, match="'nil' left out, because a vector of zeros has no direction"):
            kv = bb.load_embedding(given)
        assert_holds(kv, {"cat": [1, 2], "dog": [5, 6]})
        assert_holds(bb.load_embedding(given, words=["dog"]), {"dog": [5, 6]})

    @pytest.mark.parametrize(
        ("form", "number"), [("binary", "nan"), ("text.gz", "inf"), ("npz", "-inf"), ("KeyedVectors", "nan")]
    )
    def test_numbers_that_are_not_finite_name_the_word(self, source, form, number):
        given = source(form, {"cat": [1.0, 2.0], "odd": [3.0, float(number)]})
        with pytest.raises(bb.InputError, match="the vectors of 'odd' hold NaN or infinite numbers"):
            bb.load_embedding(given)
        assert_holds(bb.load_embedding(given, words=["cat"]), {"cat": [1, 2]})

    @pytest.mark.parametrize(("kind", "order"), [("<f4", "F"), (">f8", "C"), ("<f2", "F"), ("<i4", "C")])
    def test_arrays_of_any_order_and_kind_hold_their_vectors(self, written, order, kind):
        vectors = np.arange(1, 13).reshape(4, 3)
        words = np.array(list("abcd"), dtype="S" if kind == "<i4" else "U")
        path = written(npz(words=words, vectors=np.asarray(vectors, kind, order=order)))
        assert_holds(bb.load_embedding(path), dict(zip("abcd", vectors, strict=True)))
        assert_holds(bb.load_embedding(path, words=["b", "d"]), {"b": vectors[1], "d": vectors[3]})

    @pytest.mark.parametrize("form", ["c binary", "binary.gz", "text", "npz"])
    def test_part_of_a_file_of_many_pieces_has_the_vectors_and_the_sample_of_the_whole(self, source, form):
        matrix = np.random.default_rng(0).normal(size=(6_000, 60)).astype(np.float32)
        vectors = {f"w{row}" + "x" * (row % 23): vector for row, vector in enumerate(matrix)}
        words = list(vectors)[::500]
        part, expected = (bb.load_embedding(each, words) for each in (source(form, vectors), vectors))
        assert_holds(part, {word: vectors[word] for word in words})
        samples = [each.bayesbias_sample for each in (part, expected)]
        assert samples[0].words == samples[1].words
        np.testing.assert_array_equal(samples[0].vectors, samples[1].vectors)
        np.testing.assert_array_equal(samples[0].overall, samples[1].overall)

    def test_a_decade_of_histwords_is_read_without_running_its_pickle(self, tmp_path):
        matrix = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
        np.save(tmp_path / "1990-w.npy", matrix)
        (tmp_path / "1990-vocab.pkl").write_bytes(pickle.dumps(["he", "gone", "caf\u00e9"], protocol=2))
        kv = bb.load_embedding(tmp_path / "1990-w.npy")
        assert_holds(kv, {"he": [1, 2], "caf\u00e9": [3, 4]})  # a row of zeros is a word that the decade lacks
        assert bb.load_embedding(tmp_path / "1990-w.npy", words=["he", "gone"]).index_to_key == ["he"]


WHOLE = binary(VECTORS)
LINES = text(VECTORS).splitlines(keepends=True)
EXPECTED = r"line {}: a word and {} numbers were expected"
REFUSED = {
    "a short line": (b"2 3\ncat 1 2 3\ndog 4 5\n", EXPECTED.format(3, 3) + ", found b'dog "),
    "no number": (b"3 3\ncat 1 2 3\n\ndog 4 5 six\nowl 7 8 9\n", EXPECTED.format(4, 3) + ", found b'dog "),
    "a long line without a header": (b"cat 1 2 3\ndog 4 5 6 7\n", EXPECTED.format(2, 3) + r".*\(4 numbers\)"),
    "a cut last line of another word": (b"dog 1 2 3\nowl 7 8 9\ncat .5", EXPECTED.format(3, 3)),
    "no last line break": (b"a .1234 .2567\ndog .1345 .26", "ends without a line break"),
    "a cut binary file": (WHOLE[:-1], "its first line promises 4 vectors, it holds 3 whole ones"),
    "a cut text": (b"".join(LINES[:3]), "promises 4 vectors, it holds 2"),
    "more than promised": (b"1 2\ncat 1 2\ndog 3 4\n", "damaged: its first line promises 1 vectors, it holds more"),
    "an empty file": (b"", "is no embedding of a known format"),
    "prose": (
        b"just some prose here\nand more of it\n", r"is no embedding of a known format.*begins with b'just some prose"
    ),
    "a line without end": (b"a " + b"1" * (1 << 25), ""),
    "fewer numbers than promised": (  # as many bytes a line as binary numbers would have
        b"3 6\n" + b"".join(b"%s .51 .52 .53 .54 .551\n" % word for word in (b"dog", b"cat", b"cow")),
        r"line 2: a word and 6 numbers were expected, found b'dog .51 .52 .53 .54 .551' \(5 numbers\)"
    ),
    "decimal commas": (b"2 2\ndog 0,5 1,2 \ncat 0,5 1,2 \n", "line 2.*'0,5' is no number: write decimal points"),
    "binary with more dimensions": (b"1 6" + binary({"cat": [0.0] * 3, "dog": [1.0] * 3})[3:], "damaged|truncated"),
    "words alone": (npz(words=["cat"]), r"cannot be read as \.npz"),
    "fewer vectors than words": (npz(words=["cat", "dog"], vectors=[[1.0, 2.0]]), "as many rows"),
    "a cut packed file": (CONTENTS["text.gz"](VECTORS)[:-20], "truncated or damaged"),
}  # fmt: skip


class TestRefusals:
    @pytest.mark.parametrize("name", REFUSED)
    def test_files_that_are_no_embedding(self, written, name):
        content, message = REFUSED[name]
        path = written(content)
        for words in (None, ["dog"]):
            with pytest.raises(bb.InputError, match=f"unnamed.*{message}"):
                bb.load_embedding(path, words=words)

    @pytest.mark.parametrize(
        ("given", "words", "message"),
        [
            ("glove", None, r"no embedding 'glove': give .* a bundled name \(google-news-slice, glove-50d-slice\)"),
            (3, None, "cannot read an embedding from int"),
            (VECTORS, "cat", "words is one string, 'cat': give a list of words"),
            ({"cat": [1, 2], "dog": [1, 2, 3]}, None, "the vector of 'dog' is .1, 2, 3.: give 2 real numbers"),
        ],
    )
    def test_what_is_no_file_no_words_or_no_vectors(self, given, words, message):
        with pytest.raises(bb.InputError, match=message):
            bb.load_embedding(given, words=words)


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


class TestPickles:
    def test_vectors_and_models_are_read_if_trusted(self, tmp_path):
        model = Word2Vec([["a", "b", "c"]] * 20, vector_size=8, min_count=1, epochs=1, workers=1, seed=1)
        model.save(str(tmp_path / "v.kv"))
        with pytest.raises(bb.InputError, match="runs the code in it: pass trust_pickle=True"):
            bb.load_embedding(tmp_path / "v.kv")
        assert_holds(
            bb.load_embedding(tmp_path / "v.kv", trust_pickle=True),
            {one: model.wv[one] for one in model.wv.index_to_key},
        )
        part = bb.load_embedding(tmp_path / "v.kv", words=["b", "x"], trust_pickle=True)
        assert_holds(part, {"b": model.wv["b"]})

    def test_objects_of_an_archive_run_no_code_unasked(self, written, tmp_path):
        trap = npz(words=np.array(["a", Trap(tmp_path / "sprung")], dtype=object), vectors=np.eye(2))
        with pytest.raises(bb.InputError, match="opening a pickle runs the code in it: pass trust_pickle=True"):
            bb.load_embedding(written(trap))
        assert not (tmp_path / "sprung").exists()


WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=6)


class TestSaving:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    @given(
        words=st.lists(WORDS, min_size=1, max_size=12, unique=True),
        dimensions=st.integers(3, 5),
        seed=st.integers(0, 99),
        scale=st.sampled_from([1, 1e-8]),
    )
    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_every_format_is_read_as_it_was_written(self, tmp_path, suffix, words, dimensions, seed, scale):
        rng = np.random.default_rng(seed)
        vectors = {word: scale * (rng.standard_normal(dimensions).astype(np.float32) + 3) for word in words}
        bb.save_embedding(keyed(vectors), tmp_path / f"v{suffix}")
        assert_holds(bb.load_embedding(tmp_path / f"v{suffix}"), vectors)
        some = {word: vectors[word] for word in words[::2]}
        assert_holds(bb.load_embedding(tmp_path / f"v{suffix}", words=words[::2]), some)

    @pytest.mark.parametrize("seed", range(4))
    def test_a_word_with_a_blank_never_loads_from_word2vecs_binary(self, tmp_path, seed):
        """Wherever it stands, and whatever the bytes of the numbers that are read as words look like."""
        rng = np.random.default_rng(seed)
        words = rng.permutation(["he", "new york", "cat", "dog", "bird"])
        (tmp_path / "v.bin").write_bytes(binary({word: rng.standard_normal(10).tolist() for word in words}))
        with pytest.raises(bb.InputError, match="holds the word 'new york', and word2vec's binary format cannot hold"):
            bb.load_embedding(tmp_path / "v.bin")

    def test_what_cannot_be_saved_is_refused_and_leaves_nothing(self, tmp_path, limited_files):
        kv = keyed({"new york": [1.0, 2.0], "dog": [3.0, 4.0]})
        with pytest.raises(bb.InputError, match="1 words hold blanks"):
            bb.save_embedding(kv, tmp_path / "v.bin")
        bb.save_embedding(kv, tmp_path / "v.npz")
        assert bb.load_embedding(tmp_path / "v.npz").index_to_key == ["new york", "dog"]
        with pytest.raises(bb.InputError, match=r"an embedding ends in \.bin or \.txt"):
            bb.save_embedding(kv, tmp_path / "v.kv")
        before = (tmp_path / "v.npz").read_bytes()
        with limited_files(20_000), pytest.raises(OSError, match="too large"):
            bb.save_embedding(keyed({f"w{at}": np.ones(50) for at in range(500)}), tmp_path / "v.npz")
        assert (tmp_path / "v.npz").read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["v.npz"]

    @pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
    def test_vectors_can_stay_on_disk(self, tmp_path, source, suffix):
        kv = keyed({f"word{at}": np.random.default_rng(at).standard_normal(8) for at in range(50)})
        bb.save_embedding(kv, tmp_path / f"v{suffix}")
        mapped = bb.load_embedding(tmp_path / f"v{suffix}", mmap=True)
        assert isinstance(mapped.vectors, np.memmap)
        np.testing.assert_array_equal(mapped.vectors, kv.vectors)
        with pytest.raises(bb.InputError, match="cannot be memory-mapped"):
            bb.load_embedding(source("compressed npz", {"a": [1.0, 2.0], "b": [2.0, 1.0]}), mmap=True)


ALIKE = [  # language, asked, held, and whether a word is found as it is
    ("en", "New York", "new_york", False),
    ("tr", "\u0130stanbul", "istanbul", False),
    ("en", "New York", "New_York", True),
    ("az", "I\u015f\u0131k", "\u0131\u015f\u0131k", False),
    ("de", "Stra\u00dfe", "STRASSE", False),
]


class TestLookUp:
    @pytest.mark.parametrize(("language", "asked", "held", "as_it_is"), ALIKE)
    def test_words_are_found_however_they_are_written(self, tmp_path, language, asked, held, as_it_is):
        kv = bb.load_embedding({held: [1, 0], "tea": [0, 1]})
        words = [asked, "tea", "gone", "t\u00e8a"]
        assert find_words(kv, words, "fallback", language).keys == {asked: held, "tea": "tea"}
        assert find_words(kv, words, "as-is", language).keys == ({asked: held} if as_it_is else {}) | {"tea": "tea"}
        bb.save_embedding(kv, tmp_path / "v.npz")
        for source in (kv, tmp_path / "v.npz"):
            assert bb.load_embedding(source, words=spellings([asked], "fallback", language)).index_to_key == [held]
            if as_it_is:
                assert bb.load_embedding(source, words=[asked]).index_to_key == [held]

    def test_a_phrase_is_looked_up_as_written_then_joined(self):
        kv = bb.load_embedding({"New_York": [1, 0], "San Jose": [0, 1], "San_Jose": [1, 1]})
        words = ["New York", "San Jose", "new york"]
        assert find_words(kv, words).keys == {"New York": "New_York", "San Jose": "San Jose"}

    def test_the_vector_of_a_concept_is_the_mean_of_unit_vectors(self):
        kv = bb.load_embedding({"a": [2, 0], "b": [0, 5], "c": [3, 4], "d": [-1, 0], "e": [0, 2]})
        lists = bb.WordLists("l", {"g": [["a", "b", "gone"], "c", ["x", "y"], ["no", "e"]]}, {"g": ["d"]})
        concepts = find_lists(kv, lists)
        assert concepts.concepts == {"a": ("a", "b"), "c": ("c",), "no": ("e",), "d": ("d",)}
        np.testing.assert_allclose(concepts.units(["c", "a", "no"]), [[0.6, 0.8], [0.5, 0.5], [0, 1]])
        assert concepts.keys(["a"]) == ["a", "b"]
