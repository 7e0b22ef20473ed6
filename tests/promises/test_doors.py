"""Vectors that users hold in a table, a file or another library would not load, or load as other numbers."""

import bz2
import csv
import gzip
import json
import lzma
import pickle
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model

import bayesbias as bb

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of other libraries, when they load
    import model2vec
    import polars as pl
    import spacy
    from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = ["he", "she", "new york", "Ähre", '"', "nurse"]
MATRIX = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
DIMENSIONS = [f"d{number}" for number in range(5)]
WIDE = pd.DataFrame(MATRIX, index=WORDS, columns=DIMENSIONS).rename_axis("word").reset_index()
LISTS = pd.DataFrame({"word": WORDS, "vector": [row.astype(float).tolist() for row in MATRIX]})

# as NumPy writes arrays that are longer than a line
ARRAYS = LISTS.assign(vector=[f"[{'\n '.join(map(str, row))}]" for row in LISTS["vector"]])


def keyed():
    kv = KeyedVectors(5)
    kv.add_vectors(WORDS, MATRIX)
    return kv


def pipeline():
    nlp = spacy.blank("en")
    for word, vector in zip(WORDS, MATRIX, strict=True):
        nlp.vocab.set_vector(word, vector)
    return nlp


def static_model(**options):
    places = {word: place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(places, unk_token="he"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Split("|", "removed")
    return model2vec.StaticModel(MATRIX, tokenizer, **options)


DOORS = {
    "mapping": lambda: dict(zip(WORDS, MATRIX, strict=True)),
    "KeyedVectors": keyed,
    "wide DataFrame": lambda: WIDE,
    "DataFrame with words as its index": lambda: WIDE.set_index("word"),
    "DataFrame of lists": lambda: LISTS,
    "DataFrame of arrays, and a count": lambda: LISTS.assign(vector=list(MATRIX), count=range(6)),
    "DataFrame of categories": lambda: WIDE.astype({"word": "category"}),
    "Polars of lists": lambda: pl.DataFrame({"word": WORDS, "vector": MATRIX.tolist()}),
    "Arrow": lambda: pa.table(WIDE),
    "words and matrix": lambda: (WORDS, MATRIX),
    "spaCy pipeline": pipeline,
    "spaCy vectors": lambda: pipeline().vocab.vectors,
    "model2vec": static_model,
}
"""What an embedding is given as, in memory."""
FILES = {
    "wide.csv": lambda file: WIDE.to_csv(file, index=False),
    "bare.csv": lambda file: WIDE.to_csv(file, index=False, header=False),
    "wide.tsv": lambda file: file.write_text(
        "\n".join("\t".join(map(str, row)) for row in [WIDE.columns, *WIDE.to_numpy().tolist()]), encoding="utf-8"
    ),
    "words.json": lambda file: file.write_text(json.dumps(dict(LISTS.to_numpy().tolist()))),
    "parts.json": lambda file: file.write_text(json.dumps({"words": WORDS, "vectors": MATRIX.astype(float).tolist()})),
    "rows.json": lambda file: file.write_text(json.dumps(LISTS.to_dict("records"))),
    "rows.jsonl": lambda file: file.write_text("\n".join(map(json.dumps, LISTS.to_dict("records")))),
    "wide.parquet": lambda file: WIDE.to_parquet(file),
    "lists.parquet": lambda file: LISTS.to_parquet(file),
    "words.npz": lambda file: bb.save_embedding(keyed(), file),
    "words.safetensors": lambda file: bb.save_embedding(keyed(), file),
    "glove.txt": lambda file: file.write_text(
        "\n".join(f"{word} {' '.join(map(str, row.tolist()))}" for word, row in zip(WORDS, MATRIX, strict=True))
    ),
    "numbered.csv": lambda file: pd.DataFrame(MATRIX, WORDS).to_csv(file),
    "numbered, and named.csv": lambda file: pd.DataFrame(MATRIX, WORDS).rename_axis("word").to_csv(file),
    "numbered from one.csv": lambda file: pd.DataFrame(MATRIX, WORDS, range(1, 6)).rename_axis("w").to_csv(file),
    "quotes doubled.tsv": lambda file: pd.DataFrame(MATRIX, WORDS).to_csv(file, sep="\t"),
    "all in quotes.tsv": lambda file: WIDE.to_csv(file, sep="\t", index=False, quoting=csv.QUOTE_NONNUMERIC),
    "lists.csv": lambda file: LISTS.to_csv(file, index=False),
    "lists without names.csv": lambda file: LISTS.to_csv(file, index=False, header=False),
    "arrays.csv": lambda file: ARRAYS.to_csv(file),
    "lists.json": lambda file: file.write_text(json.dumps(ARRAYS.to_dict("records"))),
    "ends in CR.csv": lambda file: WIDE.to_csv(file, index=False, lineterminator="\r"),
    "numbered.txt": lambda file: file.write_text(
        " 0 1 2 3 4\n" + "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in LISTS.to_numpy())
    ),
}
"""What writes an embedding to a file."""


def zipped(file, to):
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)


def packed_by(module):
    return lambda file, to: to.write_bytes(module.compress(file.read_bytes()))


PACKINGS = {".gz": packed_by(gzip), ".bz2": packed_by(bz2), ".xz": packed_by(lzma), ".zip": zipped}


def assert_same(kv, words=WORDS):
    assert sorted(kv.index_to_key) == sorted(words)
    for word in words:
        assert np.array_equal(kv[word], MATRIX[WORDS.index(word)]), word


@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_numbers(door):
    assert_same(bb.load_embedding(DOORS[door]()))
    assert_same(bb.load_embedding(DOORS[door](), words=["nurse", "new york", "absent"]), ["new york", "nurse"])


PACKED = [("wide.csv", packing) for packing in PACKINGS] + [("rows.jsonl", ".gz"), ("glove.txt", ".zip")]


@pytest.mark.parametrize(("name", "packing"), [*((name, "") for name in FILES), *PACKED])
def test_every_file_gives_the_same_numbers(name, packing, tmp_path):
    file = tmp_path / name
    FILES[name](file)
    if packing:
        to = file.with_name(name + packing)
        PACKINGS[packing](file, to)
        file = to
    assert_same(bb.load_embedding(file))
    assert_same(bb.load_embedding(file, words=["nurse", "new york", "absent"]), ["new york", "nurse"])


PLAIN = [word for word in WORDS if " " not in word]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "embeddings.md"
ROWS = re.findall(r"^\| (.*) \| `(bb\..*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def rows_given(tmp_path_factory, text_encoder):
    """What the rows of the page name, as files of one folder and as objects."""
    folder, kv = tmp_path_factory.mktemp("doors"), KeyedVectors(5)
    kv.add_vectors(PLAIN, np.stack([MATRIX[WORDS.index(word)] for word in PLAIN]))
    for suffix in (".bin", ".txt", ".npz", ".safetensors", ".parquet"):
        bb.save_embedding(kv, folder / f"vectors{suffix}")
    for name in ("wide.csv", "words.json", "rows.jsonl"):
        FILES[name](folder / f"vectors{Path(name).suffix}")
    zipped(folder / "vectors.csv", folder / "vectors.csv.zip")
    kv.save(str(folder / "model.kv"))
    np.save(folder / "1990-w.npy", kv.vectors)
    (folder / "1990-vocab.pkl").write_bytes(pickle.dumps(PLAIN))
    fasttext = FastText([PLAIN] * 5, vector_size=5, min_count=1, epochs=1, seed=1, workers=1, bucket=10)
    save_facebook_model(fasttext, str(folder / "cc.bin"))
    PACKINGS[".gz"](folder / "cc.bin", folder / "cc.en.300.bin.gz")
    objects = {"model": keyed(), "mapping": DOORS["mapping"](), "frame": WIDE, "polars_frame": pl.from_pandas(WIDE)}
    objects |= {"arrow_table": pa.table(WIDE), "nlp": pipeline()}
    objects |= {"matrix": MATRIX, "words": WORDS, "static_model": static_model(), "encoder": text_encoder}
    sentences = pd.concat([LISTS.assign(template=name) for name in ("a", "b")])
    return folder, {"bb": bb, "sentences": sentences} | objects, fasttext.wv


@pytest.mark.parametrize(("door", "code"), ROWS, ids=[door for door, _ in ROWS])
def test_every_row_of_the_page_gives_the_vectors(door, code, rows_given, monkeypatch):
    folder, names, composed = rows_given
    monkeypatch.chdir(folder)
    loaded = eval(code, names)  # noqa: S307 - code of a page of ours
    if isinstance(loaded, KeyedVectors):
        words = PLAIN if len(loaded) == len(PLAIN) else WORDS
        expected = composed.get_vector if "fastText model" in door and "cc." in code else None
        for word in words:
            assert np.array_equal(loaded[word], expected(word) if expected else MATRIX[WORDS.index(word)]), word
        assert sorted(loaded.index_to_key) == sorted(words)
    else:
        assert sorted(loaded.words) == sorted(WORDS)
        assert loaded.keyed_vectors().vectors.shape[0] == len(WORDS)


@pytest.fixture(scope="module")
def subwords():
    sentences = [["he", "is", "a", "doctor"], ["she", "is", "a", "nurse"], ["he", "and", "she", "work"]] * 20
    return FastText(sentences, vector_size=6, min_count=1, epochs=1, seed=1, workers=1, bucket=1000)


@pytest.fixture(params=["model", "packed file"])
def fasttext(request, subwords, tmp_path):
    if request.param == "model":
        return subwords
    save_facebook_model(subwords, str(tmp_path / "model.bin"))
    PACKINGS[".gz"](tmp_path / "model.bin", tmp_path / "model.bin.gz")
    return tmp_path / "model.bin.gz"


@pytest.mark.filterwarnings("ignore:the table does not tell how words are related")
def test_a_fasttext_model_composes_words_and_coverage_says_so(fasttext, subwords):
    lists = bb.WordLists("l", {"m": ["he"], "f": ["she"]}, {"m": ["doctor", "doctors"], "f": ["nurse", "nursing"]})
    table = bb.distance_table(fasttext, lists)
    assert table.coverage.composed == ["doctors", "nursing"]
    assert table.coverage.table()["found"].tolist() == [1, 1, 2, 2]
    assert "composed: 2 vectors made of parts of words: doctors, nursing" in table.coverage.notes()
    he, doctors = (subwords.wv.get_vector(word).astype(float) for word in ("he", "doctors"))
    expected = 1 - he @ doctors / np.linalg.norm(he) / np.linalg.norm(doctors)
    row = table.query("protected_word == 'he' and attribute_word == 'doctors'")
    assert row["distance"].item() == pytest.approx(expected, abs=1e-6)
    assert bb.load_embedding(fasttext, words=["doctors", "he"]).index_to_key == ["he", "doctors"]


def test_weights_and_rows_that_tokens_share_are_those_of_model2vec():
    model = static_model()
    model.token_mapping, model.embedding = np.array([0, 1, 1, 0, 2, 2]), MATRIX[:3]
    model.weights = np.array([1, 0.5, 2, 1, 3, 1.0])
    kv = bb.load_embedding(model)
    assert np.allclose(kv["nurse"], MATRIX[2])
    assert np.allclose(kv["new york"], 2 * MATRIX[1])
    assert np.allclose(model.encode(["nurse"])[0], kv["nurse"])


def frame(**columns):
    return pd.DataFrame({"word": ["a", "b", "c"]} | columns)


REFUSED = {
    "no word column": (pd.DataFrame({"x": [1.0], "y": [2.0]}), "none of x, y holds words"),
    "two word columns": (
        pd.DataFrame({"a": ["x"], "b": ["y"], "d": [1.0]}), "columns a, b hold words .*: call one 'word'"
    ),
    "strings for numbers": (frame(x=[1.0, 2.0, 3.0], y=["1", "?", "3"]), r"row 2 of the column 'y' is '\?', no number"),
    "a missing number": (frame(x=[1.0, None, 2.0]), "row 2 of the column 'x' is missing"),
    "a Series": (pd.Series([1.0, 2.0], index=["a", "b"]), "cannot be read as a table"),
    "a mapping of numbers": ({7: [1.0, 2.0]}, "word 1 is 7, which is no text"),
    "fewer words than rows": ((["a"], MATRIX), r"holds 1 word and an array of float32 with the shape \(6, 5\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_are_no_embedding_are_refused_in_a_sentence(name):
    source, message = REFUSED[name]
    with pytest.raises(bb.InputError, match=message) as refusal:
        bb.load_embedding(source)
    assert "\n" not in str(refusal.value)


def test_of_a_word_that_stands_twice_the_first_vector_is_kept(tmp_path):
    (tmp_path / "v.json").write_text('{"a": [1, 2], "b": [5, 6], "a": [3, 4]}')
    kv = bb.load_embedding(tmp_path / "v.json")
    assert (kv["a"].tolist(), kv["b"].tolist()) == ([1, 2], [5, 6])


def test_where_no_word_is_held_the_sentence_shows_the_first_keys(slice_vectors, tmp_path):
    lists = bb.WordLists("two", {"m": ["he"], "f": ["she"]}, {"m": ["engineer"], "f": ["nurse"]})
    mapping = {f"/c/en/{word}": slice_vectors[word] for word in lists.every_word()}
    kv = bb.load_embedding(mapping)
    bb.save_embedding(kv, tmp_path / "v.bin")
    message = r"none of the .*words.*; its first keys are '/c/en/he', .*: rename them, or give"
    for given in (mapping, kv, tmp_path / "v.bin"):
        with pytest.raises(bb.InputError, match=message):
            bb.load_embedding(given, lists)


@pytest.fixture(scope="module")
def encoded(text_encoder):
    return bb.encode(text_encoder, "weat7", ["the {}", "a {} here"], vocabulary=40, name="mine")


@pytest.fixture(scope="module")
def sentences(encoded):
    words, templates = (np.array(names)[places] for names, places in (
        (encoded.words, encoded.word), (encoded.templates, encoded.template)
    ))  # fmt: skip
    columns = {"word": words, "template": templates, "vector": list(encoded.vectors), "text": encoded.texts}
    return pd.DataFrame(columns).sample(frac=1, random_state=1)


@pytest.mark.filterwarnings("ignore:only 351 words of the vocabulary")
def test_vectors_of_sentences_encoded_elsewhere_are_those_of_encode(encoded, sentences):
    again = bb.contexts_from(sentences, "weat7", encoder="mine", representation=encoded.representation)
    columns = ["protected_word", "attribute_word", "connection", "template"]
    first, second = (
        pd.DataFrame(bb.distance_table(each, "weat7")).sort_values(columns, ignore_index=True)
        for each in (encoded, again)
    )
    pd.testing.assert_frame_equal(first, second)
    assert again.notes[0].numbers["encoder"] == "mine, 2 templates"


BROKEN = {
    "b.csv": (b"word,x\na,1\nb,2,3\n", "cannot be read as CSV: .*Expected 2 columns, got 3: b,2,3"),
    "c.csv": (b"word,x,y\na,1,2\nb,zz,3\n", "row 2 of the column 'x' is 'zz', no number: correct it, or leave"),
    "d.csv": (b"word,x,y\na,1,2\nb,,3\n", "row 2 of the column 'x' is missing"),
    "f.csv": (b"word;x\na;1,5\n", "has ';' between columns: write commas there, and points"),
    "h.txt": (b"1.5e+00 2 3\n.25 3 4\n", "has no words: its first column holds decimal numbers"),
    "j.json": (b'{"a": [1, 2], "b": [1]}', "the vector of 'b' is .*: give 2 real numbers"),
    "l.json": (b'[{"word": "a", "vector": [1]}, {"word": "b"}]', "row 2 of the column 'vector' is missing"),
    "o.csv.gz": (gzip.compress(b"word,x\na,1\n" * 5000)[:-20], "truncated or damaged"),
}


AS_IT_WAS = {
    "whole.csv": ("he,1,2\nshe,3,4\n", {"he": [1, 2], "she": [3, 4]}),
    "whole.txt": ("he 0 1\nshe 3 4\n", {"he": [0, 1], "she": [3, 4]}),
    "years.csv": ("word,x,y\n1990,.5,2.5\n2000,1.5,.5\n", {"1990": [0.5, 2.5], "2000": [1.5, 0.5]}),
    "decimals.txt": ("3.5 1 2\nhe 3 4\n", {"3.5": [1, 2], "he": [3, 4]}),
    "other.csv": ("0,5,6\n1,7,8\n", {"0": [5, 6], "1": [7, 8]}),
    "quotes.tsv": ('"\t1\t2\n""""\t3\t4\n"a"\t5\t6\n', {'"': [1, 2], '""""': [3, 4], '"a"': [5, 6]}),
    "quoted.tsv": ('he\t1\t2\n"a"\t5\t6\n""\t5\t7\n', {"he": [1, 2], '"a"': [5, 6], '""': [5, 7]}),
    "brackets.csv": ('word,x\n[1],2\n"[",3\n', {"[1]": [2], "[": [3]}),
    "one.txt": ("he 1 2\r", {"he": [1, 2]}),
}
"""Files that look like those of other kinds, and what each has always held."""


@pytest.mark.parametrize("name", AS_IT_WAS)
def test_what_was_read_right_is_read_as_it_was(name, tmp_path):
    text, vectors = AS_IT_WAS[name]
    (tmp_path / name).write_text(text, newline="")
    kv = bb.load_embedding(tmp_path / name)
    assert {word: kv[word].tolist() for word in kv.index_to_key} == vectors


def test_an_empty_word_is_left_out_and_named(tmp_path):
    (tmp_path / "v.txt").write_text("3 1\na 1\n 2\nb 3\n")
    np.savez(tmp_path / "v.npz", words=["a", "", "b"], vectors=[[1.0], [2.0], [3.0]])
    for file in ("v.txt", "v.npz"):
        with pytest.warns(bb.errors.CoverageWarning, match="1 empty word left out, the first of vector 2"):
            kv = bb.load_embedding(tmp_path / file)
        assert {word: kv[word].tolist() for word in kv.index_to_key} == {"a": [1], "b": [3]}


def test_words_of_a_trusted_archive_may_be_objects(tmp_path):
    np.savez(tmp_path / "o.npz", words=np.array(WORDS, dtype=object), vectors=MATRIX)
    assert_same(bb.load_embedding(tmp_path / "o.npz", trust_pickle=True))
    assert_same(bb.load_embedding(tmp_path / "o.npz", ["nurse"], trust_pickle=True), ["nurse"])
    assert_same(bb.load_embedding(tmp_path / "o.npz", trust_pickle=True, mmap=True))


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_by_name(name, tmp_path):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(bb.InputError, match=rf"{name}.*({message})"):
        bb.load_embedding(tmp_path / name)
