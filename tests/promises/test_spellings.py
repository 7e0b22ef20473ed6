"""A word spelled otherwise than in the embedding would be missing, or change what a function draws at random."""

import dataclasses
import inspect
import re
from collections.abc import Mapping
from functools import cache, cached_property
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import FastText, KeyedVectors

import bayesbias as bb
from bayesbias.axes import Axis

NO_BREAK = "\N{NO-BREAK SPACE}"
SPELLINGS = (  # how an embedding holds a word, and two ways to ask for it
    lambda word: (f"{word}_of_work", f"{word}_of_work", f"{word} of work"),
    lambda word: (f"{word} of work", f"{word} of work", f"{word}_of_work"),
    lambda word: (f"{word}{NO_BREAK}café", f"{word}_café", f"{word} cafe\u0301"),
    lambda word: (f"{word}e\u0301", f"{word}e\u0301", f"{word}é"),
    lambda word: (f"{word}é", f"{word}é", f"{word}e\u0301"),
    lambda word: (f"{word}_biê\u0301n", f"{word}_biê\u0301n", f"{word} biến"),  # one accent composed, one not
)
OTHERS = [f"o{number}" for number in range(14)]
NAMES = [*"pquvrstwklcmndhijxye", *OTHERS]
HELD, PLAIN, ASKED = (
    {name: SPELLINGS[place % len(SPELLINGS)](name)[side] for place, name in enumerate(NAMES)} for side in range(3)
)
CAPITALS = {name: word.upper() for name, word in ASKED.items()}
NAME_OF = {normalize("NFC", word): name for words in (HELD, PLAIN, ASKED, CAPITALS) for name, word in words.items()}


def embedding(seed):
    """Random vectors of the words as they are held, among 600 others."""
    rng, words = np.random.default_rng(seed), [*HELD.values(), *(f"z{number}" for number in range(600))]
    kv = KeyedVectors(vector_size=12, dtype=np.float32)
    order = np.random.default_rng(7).permutation(len(words))
    kv.add_vectors([words[place] for place in order], rng.normal(size=(len(words), 12)).astype(np.float32))
    return kv


KVS = {name: embedding(seed) for seed, name in enumerate(("one", "two", "three"))}
ONE, TWO = (KVS[name] for name in ("one", "two"))


@cache
def sentences():
    """Vectors of the words, as they are held, in two templates."""
    rng = np.random.default_rng(3)
    words = [*HELD.values(), *(f"z{number}" for number in range(450))]
    rows = [(word, template, rng.normal(size=12)) for word in words for template in ("a {}", "the {}")]
    return pd.DataFrame(rows, columns=["word", "template", "vector"])


class Asked:
    """What functions are given, with words in one spelling, and how they look them up."""

    def __init__(self, words, **case):
        self.words, self.case = words, case

    def __call__(self, names):
        return [self.words[name] for name in names]

    def pairs(self, names="km ln cd"):
        return [tuple(self(pair)) for pair in names.split()]

    @cached_property
    def lists(self):
        groups = [{"a": self(first), "b": self(second)} for first, second in (("pquv", "rstw"), ("klc", "mnd"))]
        return bb.WordLists("mine", *groups, {"human": self("hijxye"), "neutral": self(OTHERS)})

    @cached_property
    def query(self):
        return bb.Query(self.lists.protected, {"x": self("klc"), "y": self("mnd")}, name="mine")

    @cached_property
    def numbers(self):
        return {self.words[name]: 1.0 + (7 * place) % 11 for place, name in enumerate(NAMES)}

    @cached_property
    def tables(self):
        return bb.distance_tables({"one": ONE, "two": TWO}, self.lists, **self.case)

    @cached_property
    def post(self):
        return bb.fit(self.tables["one"], "crossed", draws=200, seed=1)

    def axis(self, kv=ONE, pairs="km ln cd", **options):
        return bb.axis(kv, self.pairs(pairs), words=self("pqrs"), **options, **self.case)

    @cached_property
    def settings(self):
        return {bb.stability.Setting("corpus", "sgns", 12, seed): kv for seed, kv in enumerate(KVS.values())}

    @cached_property
    def sentences(self):
        return bb.contexts_from(sentences(), self(NAMES))

    def debiased(self, method, name, sets):
        changed = [*self("pqrstuvwklc"), *ONE.index_to_key[:99]]
        return bb.debias(ONE, method, **{name: sets}, neutralize=changed, ignore=self("pk"))


AS_HELD, AS_ASKED, IN_CAPITALS = Asked(PLAIN), Asked(ASKED), Asked(CAPITALS, case="fallback")
CALLS = {
    "adjust": lambda of: bb.adjust(of.tables["one"], frequencies=of.numbers),
    "adjust of a word's own numbers": lambda of: bb.adjust(of.tables["one"], {"number": of.numbers}),
    "audit": lambda of: bb.audit(ONE, {"a": of("pquv"), "b": of("rstw")}),
    "audit of pairs": lambda of: bb.audit(ONE, of.pairs()),
    "axis": lambda of: of.axis(),
    "axis of sentences": lambda of: of.axis(AS_HELD.sentences),
    "Axis.with_words": lambda of: of.axis().with_words(of("hijx"), **of.case),
    "Axis.contrast": lambda of: Asked(of.words).axis().contrast(of("pq"), of("hi")),
    "balance": lambda of: bb.balance(of.tables["one"], of.numbers),
    "contexts_from": lambda of: of.sentences,
    "ContextVectors.centred": lambda of: of.sentences.centred("controls", of.lists),
    "criterion": lambda of: bb.criterion(
        of.post, {word: of.numbers[word] for word in of("pquvrstw")}, None, ("human", "neutral"), draws=200
    ),
    "debias": lambda of: of.debiased("project", "definitional", of.pairs()),
    "debias of hard": lambda of: bb.debias(ONE, "hard", definitional=of.pairs(), equalize=of.pairs("pr qs")),
    "debias of hard_multiclass": lambda of: of.debiased("hard_multiclass", "definitional", of.pairs("km ln cd hijx")),
    "debias of soft": lambda of: of.debiased("soft", "definitional", of.pairs()),
    "debias of half_sibling": lambda of: of.debiased("half_sibling", "definitional", of.pairs()),
    "debias of null_space": lambda of: of.debiased("null_space", "definitional", {"a": of("pquv"), "b": of("rstw")}),
    "debias of leace": lambda of: of.debiased("leace", "definitional", {"a": of("pquv"), "b": of("rstw")}),
    "debias of a part": lambda of: bb.debias(
        bb.load_embedding(ONE, of("klmncdpq")), "project", definitional=of.pairs(), ignore=of("ph")
    ),
    "distance_table": lambda of: bb.distance_table(ONE, of.lists, **of.case),
    "distance_table of sentences": lambda of: bb.distance_table(AS_HELD.sentences, of.lists, **of.case),
    "distance_tables": lambda of: [of.tables, *map(bb.relatedness, of.tables.values())],
    "fit": lambda of: bb.fit(
        of.tables["one"], "crossed", draws=200, seed=1, adjust="frequency", frequencies=of.numbers
    ),
    "load_embedding": lambda of: bb.load_embedding(ONE, of.lists),
    "load_embedding of words": lambda of: bb.load_embedding(ONE, of("pqurst")),
    "metric": lambda of: bb.metric("weat", ONE, of.query, **of.case),
    "metric of pairs": lambda of: bb.metric(
        "ripa", ONE, bb.Query(of.lists.stereotypes, {"x": of("pqr")}), **of.case
    ),
    "rank": lambda of: bb.rank(KVS, of.query, ["weat", "mac"], draws=10, replicates=5, **of.case),
    "relatedness": lambda of: bb.relatedness(ONE, of.lists, sample=300, **of.case),
    "run_metrics": lambda of: bb.run_metrics(KVS, of.query, ["weat", "mac", "rnsb"], **of.case),
    "side_effects": lambda of: bb.side_effects(
        ONE, TWO, of.lists, [(*pair, at % 5) for at, pair in enumerate(of.pairs("pk ql uc vm rn sd"))], k=5,
        biased=12, draws=20, **of.case,
    ),
    "topic_null": lambda of: bb.topic_null(ONE, of.lists, replicates=5, **of.case),
    "topic_null of a metric": lambda of: bb.topic_null(ONE, of.query, "weat", replicates=5, **of.case),
    "checks.check_words": lambda of: bb.checks.check_words(of.lists, ONE),
    "checks.share_sample": lambda of: [
        bb.relatedness(table) for table in bb.checks.share_sample(of.tables, {"one": ONE, "two": TWO}).values()
    ],
    "calibration.null_distribution": lambda of: bb.calibration.null_distribution(
        ONE, of.lists, draws=20, source="vocabulary"
    ),
    "calibration.null_distribution of a query": lambda of: bb.calibration.null_distribution(
        ONE, of.query, ("weat", of.case), draws=20
    ),
    "calibration.null_distribution of controls": lambda of: bb.calibration.null_distribution(
        ONE, of.lists, "associated - neutral", draws=20
    ),
    "silhouettes.silhouette": lambda of: bb.silhouettes.silhouette(ONE, of.query, "weat", runs=5, **of.case),
    "silhouettes.silhouette_study": lambda of: bb.silhouettes.silhouette_study(KVS, {"q": of.query}, ["weat"], runs=3),
    "reliability.bias_scores": lambda of: bb.reliability.bias_scores(
        [*KVS.values()], of("pqrs"), of.pairs(), neighbours=9
    ),
    "reliability.word_features": lambda of: bb.reliability.word_features(
        [*KVS.values()], of("pqrs"), of.numbers
    ),
    "stability.direct_bias_study": lambda of: bb.stability.direct_bias_study(
        of.settings, of("pqrs"), of.pairs(), draws=10, random_pairs=20
    ),
    "stability.metric_stability": lambda of: bb.stability.metric_stability(
        of.settings, of.query, ["weat"], contrast=False, draws=200, random_pairs=20, **of.case
    ),
}  # fmt: skip
"""Functions that look words up in an embedding, and others that look them up in tables of the user's."""
WITHOUT_WORDS = {
    "save_embedding",
    "pool",  # its words are those of the tables
    "plots.plot_axis",  # as Axis.with_words
    "instances",  # its words are those of the texts
    "vector_sample",  # its words are those of the table
}  # fmt: skip
"""Functions that take vectors and no words, or words that one of the others looks up."""
VECTORS = re.compile(r"Embedding|KeyedVectors|ContextVectors|Seeds|Axis\b")


def public_functions():
    """Public functions by name, each once, and the methods of what holds vectors."""
    held = {}
    for module in ["", *(name for name in dir(bb) if inspect.ismodule(getattr(bb, name)))]:
        holder = getattr(bb, module) if module else bb
        for name in holder.__all__:
            if inspect.isfunction(function := getattr(holder, name)):
                held.setdefault(function, f"{module}.{name}".strip("."))
    for one in (Axis, bb.contextual.ContextVectors):
        methods = inspect.getmembers(one, inspect.isfunction)
        held |= {method: f"{one.__name__}.{name}" for name, method in methods if not name.startswith("_")}
    return {name: inspect.signature(function).parameters for function, name in held.items()}


def takes_both(name, arguments):
    """Test that a function takes vectors, or frequencies, which may be those of an embedding, and words."""
    if "." in name and name[0].isupper():
        return any(argument.startswith("words") for argument in arguments)
    return "frequencies" in arguments or any(VECTORS.search(str(each.annotation)) for each in arguments.values())


def test_every_function_of_words_and_vectors_is_tried():
    functions, tried = public_functions(), {name.split(" of ")[0] for name in CALLS}
    assert {name for name, arguments in functions.items() if takes_both(name, arguments)} - WITHOUT_WORDS <= tried
    assert {*WITHOUT_WORDS, *tried} <= functions.keys()


UNEQUAL = {"frequencies", "notes", "substituted", "options", "query", "kv", "poles"}
"""What tells the spelling of words."""


PARTS = {
    KeyedVectors: lambda kv: [
        kv.index_to_key,
        kv.vectors,
        *(getattr(kv, f"bayesbias_{name}", None) for name in ("debiasing", "sample")),
    ],
    pd.DataFrame: lambda frame: [list(map(str, frame)), *(frame[name].to_numpy() for name in frame)],
    pd.Series: lambda numbers: numbers.reset_index(),
    xr.DataTree: lambda tree: [node.to_dataset() for node in tree.subtree],
    xr.Dataset: lambda dataset: dict(dataset.variables),
    xr.DataArray: lambda array: array.to_dataset(name="values"),
    xr.Variable: lambda variable: variable.to_numpy(),
    Mapping: lambda mapping: [part for item in mapping.items() for part in item],
    np.ndarray: lambda texts: texts.ravel().tolist(),
    list | tuple: list,
}
"""Kinds of answers to what they are made of."""


def parts_of(answer):
    if dataclasses.is_dataclass(answer):
        return [getattr(answer, field.name) for field in dataclasses.fields(answer) if field.name not in UNEQUAL]
    return next((parts(answer) for kind, parts in PARTS.items() if isinstance(answer, kind)), [])


def told(answer):
    """The names of the words that an answer holds, in their order, and its numbers."""
    if isinstance(answer, str):
        return [NAME_OF.get(word) for word in normalize("NFC", answer).split("/")], []
    if isinstance(answer, int | float | np.number) or (isinstance(answer, np.ndarray) and answer.dtype.kind in "biuf"):
        return [], [np.ravel(answer).astype(float)]
    parts = parts_of(answer)
    both = [told(part) for part in parts] if isinstance(parts, list) else [told(parts)]
    return [name for names, _ in both for name in names], [each for _, numbers in both for each in numbers]


@cache
def as_held(name):
    return told(CALLS[name](AS_HELD))


def assert_same(name, asked):
    (names, numbers), (former_names, former) = told(CALLS[name](asked)), as_held(name)
    assert names == former_names
    assert len(numbers) == len(former) > 0
    np.testing.assert_allclose(np.concatenate(numbers), np.concatenate(former), rtol=1e-6, atol=1e-6)


LOOK_UP = re.compile(r"\bof\.(axis|case|post|tables)\b")


@pytest.mark.filterwarnings("ignore::bayesbias.errors.RelatednessWarning")
class TestAnswers:
    @pytest.mark.parametrize("name", CALLS)
    def test_blanks_and_accents_change_nothing(self, name):
        assert_same(name, AS_ASKED)

    @pytest.mark.parametrize("name", [name for name, call in CALLS.items() if LOOK_UP.search(inspect.getsource(call))])
    def test_nor_do_capitals_where_these_may_differ(self, name):
        assert_same(name, IN_CAPITALS)


FORMATS = ("npz", "safetensors", "parquet", "txt", "csv")


def written(kv, folder, form):
    """The path of an embedding in a file of some format."""
    path = folder / f"v.{form}"
    if form in ("txt", "csv"):
        blank = "," if form == "csv" else " "
        lines = (blank.join([word, *map(str, kv[word].tolist())]) for word in kv.index_to_key)
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        bb.save_embedding(kv, path)
    return path


class TestFiles:
    @pytest.mark.parametrize("form", FORMATS)
    def test_what_is_read_of_a_file_is_what_is_found_in_memory(self, tmp_path, form):
        twice = bb.load_embedding(dict(zip(ONE.index_to_key, ONE.vectors, strict=True)) | {"p of work": np.ones(12)})
        path = written(twice, tmp_path, form)
        for words in (AS_ASKED.lists, AS_HELD.lists, AS_ASKED(NAMES)):
            part, expected = (bb.load_embedding(source, words) for source in (path, twice))
            assert part.index_to_key == expected.index_to_key
            assert np.array_equal(part.vectors, expected.vectors)
            assert part.bayesbias_sample.words == expected.bayesbias_sample.words


@cache
def fasttext_model():
    """A model whose 4,900 words are ordered by frequency, as those are that can be downloaded."""
    rng = np.random.default_rng(0)
    short, long = (
        sorted({"".join(letters) for letters in rng.choice(list(alphabet), (number, length))})
        for alphabet, number, length in (("abcdefgh", 700, 3), ("ijklm", 4500, 9))
    )
    texts = [rng.choice(short, 10).tolist() for _ in range(2000)]
    texts += [long[at : at + 10] for at in range(0, len(long), 10)]
    return FastText(texts, vector_size=12, min_count=1, epochs=1, bucket=500, seed=1, workers=1).wv


COMPOSED = ("abcxa", "bcaxb", "cabxc", "deaxd", "edaxe", "fghxf", "hgfxg", "agbxh")


class Composing:
    """Functions of words, half of which a model lacks and composes."""

    def __init__(self, kv):
        self.kv, held = kv, kv.index_to_key[100:140]
        p, q, r, s, t, u, v, w = COMPOSED
        self.pairs = [(held[0], p), (q, held[1]), (held[2], held[3])]
        self.lists = bb.WordLists(
            "mine", {"a": [held[4], p, held[5]], "b": [held[6], q, held[7]]},
            {"a": [r, s, held[8]], "b": [held[9], t, u]}, {"human": [*held[10:16], v]}
        )  # fmt: skip
        self.query = bb.Query(self.lists.protected, {"x": [r, s, held[8]], "y": [held[9], t, u]}, name="mine")
        self.places = [*held[16:20], w]


COMPOSING = {
    "distances": lambda of: bb.distance_table(of.kv, of.lists)["distance"].tolist(),
    "distances, where capitals may differ": lambda of: bb.distance_table(
        of.kv, of.lists, case="fallback"
    )["distance"].tolist(),
    "tables": lambda of: bb.distance_tables({"a": of.kv}, of.lists)["a"]["distance"].tolist(),
    "relatedness": lambda of: bb.relatedness(of.kv, of.lists).protected,
    "metric": lambda of: bb.metric("weat", of.kv, of.query).value,
    "metrics": lambda of: bb.run_metrics(of.kv, of.query, ["weat", "mac", "rnsb"])["value"].tolist(),
    "ranking": lambda of: bb.rank(
        {"a": of.kv, "b": of.kv}, of.query, "mac", draws=0, replicates=0
    ).scores.loc["a"].tolist(),
    "axis": lambda of: bb.axis(of.kv, of.pairs, centre=None, words=of.places).places,
    "further words": lambda of: bb.axis(
        of.kv, of.pairs[2:], centre=None, words=of.places[:2]
    ).with_words(of.places).places,
    "audit": lambda of: bb.audit(of.kv, of.pairs).words.set_index("word")["place"].loc[of.places[:4]].tolist(),
    "project": lambda of: bb.debias(of.kv, "project", definitional=of.pairs).vectors,
    "hard": lambda of: bb.debias(
        of.kv, "hard", definitional=of.pairs, equalize=of.pairs[:2], ignore=COMPOSED[5:]
    ).vectors,
    "topics": lambda of: bb.topic_null(of.kv, of.lists, replicates=2).table()["observed"].tolist(),
    "stand-ins": lambda of: bb.calibration.null_distribution(of.kv, of.lists, draws=2, source="vocabulary").observed,
    "stand-ins of a query": lambda of: bb.calibration.null_distribution(of.kv, of.query, "mac", draws=2).observed,
    "lists": lambda of: bb.checks.check_words(of.lists, of.kv).table()["found"].tolist(),
    "silhouette": lambda of: bb.silhouettes.silhouette(of.kv, of.query, "mac", runs=2, sizes="saturate").sizes,
    "scores": lambda of: bb.reliability.bias_scores(of.kv, COMPOSED[:3], of.pairs, ["db_wa", "ripa"]).to_numpy(),
    "features": lambda of: bb.reliability.word_features(of.kv, COMPOSED[:3])["l2_norm"].tolist(),
    "direct bias": lambda of: bb.stability.direct_bias_study(
        {("a", "ft", 12, 0): of.kv, ("a", "ft", 12, 1): of.kv}, COMPOSED[:4], of.pairs, draws=10, random_pairs=20
    ).rows["raw_direct_bias"].tolist(),
    "metric stability": lambda of: bb.stability.metric_stability(
        {("a", "ft", 12, seed): of.kv for seed in range(2)}, of.query, "mac", contrast=False, draws=200, random_pairs=20
    ).rows.query("form == 'raw'")["value"].tolist(),
    "side effects": lambda of: len(bb.side_effects(of.kv, of.kv, of.lists, k=3, draws=5, biased=5).neighbours_by_word),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesbiasWarning")
class TestSubwords:
    def test_a_word_that_is_composed_has_one_vector_in_all_spellings(self):
        texts = [["café", "noir", "thé", "vert"]] * 20
        model = FastText(texts, vector_size=6, min_count=1, epochs=1, bucket=50, seed=1, workers=1)
        parts = [bb.load_embedding(model, [word]) for word in ("café noir", "cafe\u0301_noir", f"café{NO_BREAK}noir")]
        assert [part.index_to_key for part in parts] == [["café_noir"]] * 3
        assert all(np.array_equal(part.vectors[0], model.wv["café_noir"]) for part in parts)

    @pytest.mark.parametrize("name", COMPOSING)
    def test_words_that_a_model_composes_are_found_as_those_that_it_holds(self, name):
        """The other embedding holds them, with the same vectors, as its last words."""
        wv = fasttext_model()
        assert not set(COMPOSED) & wv.key_to_index.keys()
        plain = KeyedVectors(vector_size=12, dtype=np.float32)
        plain.add_vectors([*wv.index_to_key, *COMPOSED], np.vstack([wv.vectors, *map(wv.get_vector, COMPOSED)]))
        answer, expected = (np.asarray(COMPOSING[name](Composing(kv))) for kv in (wv, plain))
        if answer.ndim == 2 and len(answer) > 1000:  # the words that are named in no option stay unknown
            answer, expected = answer[: len(wv)], expected[: len(wv)]
        assert answer.size
        np.testing.assert_allclose(answer, expected, rtol=1e-6, atol=1e-6)
        assert len(wv.vectors) == len(wv.index_to_key)  # the model is as it was

    def test_that_a_word_is_composed_is_said(self):
        of = Composing(fasttext_model())
        debiased = bb.debias(of.kv, "project", definitional=of.pairs)
        record, axis = debiased.bayesbias_debiasing, bb.axis(of.kv, of.pairs, words=of.places)
        results = bb.metric("mac", of.kv, of.query), axis, record
        composed = [[note.numbers["words"] for note in one.notes if note.code == "composed"] for one in results]
        assert composed == [[[*COMPOSED[:6]]], [["abcxa", "bcaxb"], ["agbxh"]], [["abcxa", "bcaxb"]]]
        assert bb.distance_table(debiased, of.lists, relatedness=False).coverage.composed == ["abcxa", "bcaxb"]


class TestBundledVectors:
    def test_random_topics_depend_on_the_words_that_are_found(self):
        """In this file topics are of the 20,000 most frequent words outside of the lists."""
        plain = bb.load_words("weat7")
        groups = [{name: [word.upper() for word in words] for name, words in part.items()} for _, part in plain.by_kind]
        kv = bb.load_embedding("glove-50d-slice")
        lists = bb.WordLists("capitals", *groups)
        one, other = (bb.topic_null(kv, each, replicates=5, case="fallback") for each in (plain, lists))
        assert one.drawn.tolist() == other.drawn.tolist()
        np.testing.assert_allclose(one.table()["observed"], other.table()["observed"], atol=1e-6)

    def test_phrases_may_be_written_with_blanks(self, slice_vectors):
        """The bundled vectors hold phrases with ``_``."""
        phrases = [word for word in slice_vectors.index_to_key if "_" in word.strip("_")][:40]
        pairs = list(zip(phrases[::2], phrases[1::2], strict=True))
        asked = [tuple(word.replace("_", " ") for word in pair) for pair in pairs]
        one, other = (bb.debias(slice_vectors, "hard", definitional=each, equalize=each) for each in (pairs, asked))
        assert np.array_equal(one.vectors, other.vectors)
        assert other.bayesbias_debiasing.sets == tuple(asked)
