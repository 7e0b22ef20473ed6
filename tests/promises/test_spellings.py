"""A word spelled otherwise than in the embedding would be missing, or change what a function draws at random."""

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors

import bayesbias as bb

NO_BREAK = "\N{NO-BREAK SPACE}"
SPELLINGS = (  # how an embedding holds a word, and two ways to ask for it
    lambda word: (f"{word}_of_work", f"{word}_of_work", f"{word} of work"),
    lambda word: (f"{word} of work", f"{word} of work", f"{word}_of_work"),
    lambda word: (f"{word}{NO_BREAK}café", f"{word}_café", f"{word} cafe\u0301"),
    lambda word: (f"{word}e\u0301", f"{word}e\u0301", f"{word}é"),
    lambda word: (f"{word}_biê\u0301n", f"{word}_biê\u0301n", f"{word} biến"),  # one accent composed, one not
)
NAMES = [*"pquvrstwklcmndhijxye", *(f"o{number}" for number in range(14))]
HELD, PLAIN, ASKED = (
    {name: SPELLINGS[place % len(SPELLINGS)](name)[side] for place, name in enumerate(NAMES)} for side in range(3)
)
CAPITALS = {name: word.upper() for name, word in ASKED.items()}


@pytest.fixture(scope="module")
def kv():
    """Random vectors of the words as they are held, among 600 others."""
    made = KeyedVectors(vector_size=12, dtype=np.float32)
    words = [*HELD.values(), *(f"z{number}" for number in range(600))]
    order = np.random.default_rng(7).permutation(len(words))
    made.add_vectors(
        [words[place] for place in order], np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    )
    return made


class Asked:
    """What functions are given, with words in one spelling."""

    def __init__(self, words):
        self.words = words
        groups = [{"a": self(first), "b": self(second)} for first, second in (("pquv", "rstw"), ("klc", "mnd"))]
        self.lists = bb.WordLists("mine", *groups, {"human": self("hijxye"), "neutral": self(NAMES[20:])})
        self.query = bb.Query(self.lists.protected, {"x": self("klc"), "y": self("mnd")}, name="mine")
        self.pairs = [tuple(self(pair)) for pair in ("km", "ln", "cd")]

    def __call__(self, names):
        return [self.words[name] for name in names]


CALLS = {
    "distance_table": lambda kv, of, **case: bb.distance_table(kv, of.lists, **case)["distance"],
    "topic_null": lambda kv, of, **case: bb.topic_null(kv, of.lists, replicates=5, **case).table()["observed"],
    "metric": lambda kv, of, **case: [bb.metric("weat", kv, of.query, **case).value],
    "axis": lambda kv, of, **case: bb.axis(kv, of.pairs, words=of("pqrs"), **case).places,
    "debias": lambda kv, of: bb.debias(kv, "project", definitional=of.pairs, ignore=of("pk")).vectors,
}


@pytest.mark.filterwarnings("ignore::bayesbias.errors.RelatednessWarning")
def test_blanks_accents_and_capitals_change_nothing(kv):
    for name, call in CALLS.items():
        former = np.asarray(call(kv, Asked(PLAIN)), dtype=float)
        found = [call(kv, Asked(ASKED))]
        found += [] if name == "debias" else [call(kv, Asked(CAPITALS), case="fallback")]
        for each in found:
            np.testing.assert_allclose(np.asarray(each, dtype=float), former, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("form", ["npz", "txt"])
def test_what_is_read_of_a_file_is_what_is_found_in_memory(kv, tmp_path, form):
    twice = bb.load_embedding(dict(zip(kv.index_to_key, kv.vectors, strict=True)) | {"p of work": np.ones(12)})
    path = tmp_path / f"v.{form}"
    if form == "txt":
        path.write_text("\n".join(" ".join([word, *map(str, twice[word].tolist())]) for word in twice.index_to_key))
    else:
        bb.save_embedding(twice, path)
    part, expected = (bb.load_embedding(source, Asked(ASKED).lists) for source in (path, twice))
    assert part.index_to_key == expected.index_to_key
    assert np.array_equal(part.vectors, expected.vectors)
    assert part.bayesbias_sample.words == expected.bayesbias_sample.words


def test_words_that_a_model_composes_are_found_as_those_that_it_holds():
    rng = np.random.default_rng(0)
    held = sorted({"".join(letters) for letters in rng.choice(list("abcdefgh"), (700, 3))})
    texts = [rng.choice(held, 10).tolist() for _ in range(2000)]
    wv = FastText(texts, vector_size=12, min_count=1, epochs=1, bucket=500, seed=1, workers=1).wv
    p, q, r, s = composed = ("abcxa", "bcaxb", "cabxc", "deaxd")
    plain = KeyedVectors(vector_size=12, dtype=np.float32)
    plain.add_vectors([*wv.index_to_key, *composed], np.vstack([wv.vectors, *map(wv.get_vector, composed)]))
    groups = {"a": [held[4], p, held[5]], "b": [held[6], q, held[7]]}
    lists = bb.WordLists("mine", groups, {"a": [r, held[8]], "b": [s, held[9]]}, {"human": held[10:16]})
    one, other = (bb.distance_table(kv, lists, relatedness=False) for kv in (wv, plain))
    np.testing.assert_allclose(one["distance"], other["distance"], atol=1e-6)
    assert one.coverage.composed == [p, q, r, s]
    query = bb.Query(groups, {"x": [r, held[8]], "y": [s, held[9]]})
    assert bb.metric("weat", wv, query).value == pytest.approx(bb.metric("weat", plain, query).value, abs=1e-6)
    assert len(wv.vectors) == len(wv.index_to_key)  # the model is as it was


def test_phrases_may_be_written_with_blanks(slice_vectors):
    """The bundled vectors hold phrases with ``_``."""
    phrases = [word for word in slice_vectors.index_to_key if "_" in word.strip("_")][:40]
    pairs = list(zip(phrases[::2], phrases[1::2], strict=True))
    asked = [tuple(word.replace("_", " ") for word in pair) for pair in pairs]
    one, other = (bb.debias(slice_vectors, "hard", definitional=each, equalize=each) for each in (pairs, asked))
    assert np.array_equal(one.vectors, other.vectors)
