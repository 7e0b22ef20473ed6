"""Trained vectors would change from run to run, or be those of another text, without a word about it."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
from gensim.models import Word2Vec

import bayesbias as bb
from bayesbias import vectors

SMALL = {"dims": 8, "epochs": 1, "min_count": 1}
TINY = [["the", "cat", "sat"], ["the", "dog", "sat"], ["the", "cat", "ran"], ["a", "cat", "ran"]]


@pytest.fixture(scope="module")
def toy():
    return bb.stability.toy_corpus(sentences=500)


@pytest.fixture(scope="module")
def kvs(toy):
    return trained(toy, 2, jobs=1)


def trained(corpus=TINY, seeds=1, **options):
    """Embeddings of eight dimensions after one pass over the text."""
    return bb.stability.train_embeddings(corpus, seeds=seeds, **SMALL | options)


def assert_same(found, expected):
    assert list(found) == list(expected)
    for setting, kv in expected.items():
        assert found[setting].index_to_key == kv.index_to_key
        np.testing.assert_array_equal(found[setting].vectors, kv.vectors)
        np.testing.assert_array_equal(found[setting].expandos["count"], kv.expandos["count"])
        assert found[setting].bayesbias_name == kv.bayesbias_name


def assert_refused_and_kept(folder, message, corpus=TINY, **options):
    """A call that says the message and leaves the files as they are."""
    before = state(folder)
    with pytest.raises(bb.InputError, match=message):
        trained(corpus, 2, folder=folder, **options)
    assert state(folder) == before


def state(folder):
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_seed_gives_the_same_bits_however_many_are_trained_side_by_side(toy, kvs, jobs):
    assert_same(trained(toy, 2, jobs=jobs), kvs)


def test_seeds_differ_and_do_not_depend_on_each_other(toy, kvs):
    assert_same(trained(toy, [1]), {("corpus", "sgns", 8, 1): kvs["corpus", "sgns", 8, 1]})
    first, second = kvs.values()
    assert first.index_to_key == second.index_to_key
    assert not np.isclose(first.vectors, second.vectors).any(axis=1).all()


@pytest.mark.parametrize(("algorithm", "sg"), [("sgns", 1), ("cbow", 0)])
def test_vectors_are_those_of_gensim(algorithm, sg):
    """Where no two words are equally frequent: of those that are gensim does not fix the order."""
    text = [[f"word{number}", *(f"word{other}" for other in range(0, number, 2))] for number in range(60)] * 9
    text += [[f"word{number}"] * (number + 1) for number in range(1, 60, 2)]
    text += [["word0"] * 5]
    options = {"window": 3, "min_count": 20, "epochs": 2, "sample": 1e-2}
    kv = bb.stability.train_embeddings(text, algorithm, seeds=[7], dims=12, **options)["corpus", algorithm, 12, 7]
    model = Word2Vec(text, sg=sg, vector_size=12, seed=7, workers=1, **options)
    assert len(set(kv.expandos["count"])) == len(kv) > 40
    assert kv.index_to_key == model.wv.index_to_key
    np.testing.assert_array_equal(kv.vectors, model.wv.vectors)
    np.testing.assert_array_equal(kv.expandos["count"], model.wv.expandos["count"])


def test_words_stand_by_frequency_and_then_as_in_the_text():
    (kv,) = trained([["b", "a", "d", "c"], ["c", "e"], ["a", "c"]]).values()
    assert kv.index_to_key == ["c", "a", "b", "d", "e"]
    assert [kv.get_vecattr(word, "count") for word in kv.index_to_key] == [3, 2, 1, 1, 1]
    (kv,) = trained(min_count=2).values()
    assert {word: kv.get_vecattr(word, "count") for word in kv.index_to_key} == {"the": 3, "cat": 3, "sat": 2, "ran": 2}


CODE = (
    "import hashlib, bayesbias as bb\n"
    f"kvs = bb.stability.train_embeddings(bb.stability.toy_corpus(sentences=500), seeds=2, jobs=2, **{SMALL})\n"
    "for kv in kvs.values(): print(hashlib.sha256(kv.vectors.tobytes() + repr(kv.index_to_key).encode()).hexdigest())"
)


@pytest.mark.full
def test_other_processes_train_the_same(kvs, capsys):
    exec(CODE)
    here = capsys.readouterr().out
    assert len(set(here.split())) == 2
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    for process in started:
        assert process.communicate() == (here, "")


def test_nested_order_and_names():
    kvs = bb.stability.train_embeddings(
        {"b": TINY, "a": TINY}, ["cbow", "sgns"], seeds=[5, 2], dims=(6, 4), epochs=1, min_count=1
    )
    assert list(kvs) == [
        (corpus, algorithm, dims, seed)
        for corpus in ("b", "a")
        for algorithm in ("cbow", "sgns")
        for dims in (6, 4)
        for seed in (5, 2)
    ]
    assert all(isinstance(setting, bb.stability.Setting) for setting in kvs)
    assert all(kv.vectors.shape == (6, setting.dims) for setting, kv in kvs.items())
    assert vectors.about(kvs["a", "sgns", 4, 2]) == {"name": "a sgns 4 seed 2", "vectors": 6, "dimensions": 4}
    np.testing.assert_array_equal(kvs["a", "sgns", 4, 2].vectors, kvs["b", "sgns", 4, 2].vectors)


def test_forms_of_one_corpus(tmp_path):
    (expected,) = trained().values()
    packed = tmp_path / "wiki.en.txt.gz"
    packed.write_bytes(gzip.compress(b"the cat sat\n\nthe\tdog  sat \r\nthe cat ran\na cat ran", mtime=0))
    (tmp_path / "plain.txt").write_text("".join(" ".join(words) + "\n" for words in TINY), encoding="utf-8")
    forms = {
        "list": TINY,
        "tuples": tuple(map(tuple, TINY)),
        "strings": [" ".join(words) for words in TINY],
        "generator": (words for words in TINY),
        "file": tmp_path / "plain.txt",
        "text": str(tmp_path / "plain.txt"),
        "packed": packed,
    }
    kvs = trained(forms)
    assert [setting.corpus for setting in kvs] == list(forms)
    for kv in kvs.values():
        assert kv.index_to_key == expected.index_to_key
        np.testing.assert_array_equal(kv.vectors, expected.vectors)
    for options, name in (({}, "wiki.en"), ({"name": "x"}, "x")):
        assert [setting.corpus for setting in trained(packed, **options)] == [name]


def test_long_sentences_are_cut_and_not_lost():
    line = ["one", "two", "three"] * 8_000
    pieces = [line[:10_000], line[10_000:20_000], line[20_000:]]
    whole, cut = (bb.stability.train_embeddings(text, seeds=1, dims=4, epochs=1) for text in ([line], pieces))
    assert_same(whole, cut)
    (kv,) = whole.values()
    assert kv.get_vecattr("three", "count") == 8_000


def test_a_second_call_reads_what_the_first_wrote(tmp_path, toy, kvs):
    folder = tmp_path / "new" / "folder"
    assert_same(trained(toy, 2, folder=folder), kvs)
    before = state(folder)
    assert sorted(before) == ["corpus sgns 8 seed 0.npz", "corpus sgns 8 seed 1.npz"]
    assert_same(trained((words for words in toy), 2, folder=folder), kvs)
    assert state(folder) == before
    more = trained(toy, 3, folder=folder)
    assert_same({setting: kv for setting, kv in more.items() if setting.seed < 2}, kvs)
    assert {name: times for name, times in state(folder).items() if "seed 2" not in name} == before
    for setting, kv in kvs.items():
        loaded = bb.load_embedding(folder / f"{setting.label}.npz")
        assert loaded.index_to_key == kv.index_to_key
        np.testing.assert_array_equal(loaded.vectors, kv.vectors)


def test_what_is_read_back_is_not_trained(tmp_path):
    """The vectors in the file are changed: they come back as they are there."""
    (setting,) = trained(folder=tmp_path)
    (file,) = tmp_path.iterdir()
    with np.load(file) as archive:
        arrays = dict(archive)
    np.savez(file, **arrays | {"vectors": np.full_like(arrays["vectors"], 3.0), "counts": arrays["counts"] + 10})
    kv = trained(folder=tmp_path)[setting]
    assert (kv.vectors == 3).all()
    assert kv.get_vecattr("cat", "count") == 13


def test_files_tell_what_they_were_trained_with(tmp_path):
    trained(seeds=[3], folder=tmp_path, window=2)
    with np.load(tmp_path / "corpus sgns 8 seed 3.npz") as archive:
        record = json.loads(str(archive["record"]))
    assert len(record.pop("sha256")) == 64
    setting = {"corpus": "corpus", "algorithm": "sgns", "dims": 8, "seed": 3}
    options = {"window": 2, "min_count": 1, "epochs": 1, "sample": 1e-3, "negative": 5}
    assert record == {**setting, **options, "sentences": 4, "words": 12}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("window", 4, "window was 5 and is 4"),
        ("min_count", 2, "min_count was 1 and is 2"),
        ("epochs", 3, "epochs was 1 and is 3"),
        ("sample", 0, "sample was 0.001 and is 0.0"),
    ],
)
def test_other_options_are_refused(tmp_path, option, value, message):
    trained(folder=tmp_path)
    assert_refused_and_kept(tmp_path, rf"{message}\. Choose another folder", **{option: value})


@pytest.mark.parametrize(
    ("other", "now"),
    [
        ([*TINY, ["a", "dog"]], "5 sentences, 14 words"),
        ([*TINY[:3], ["a", "dog", "ran"]], "4 sentences, 12"),
        (TINY[::-1], "4 sentences, 12 words"),
        ([["the", "cat"], ["sat", "the", "dog", "sat"], *TINY[2:]], "4 sentences"),
    ],
    ids=["longer", "one word", "order", "ends of sentences"],
)
def test_another_text_is_refused(tmp_path, other, now):
    trained(folder=tmp_path)
    message = rf"the text was another \(4 sentences, 12 words\) and is now of {now}"
    assert_refused_and_kept(tmp_path, message, other)


def test_damaged_files_are_named(tmp_path):
    trained(folder=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    at = whole.index(b"vectors.npy") + 300
    for data in (b"", whole[:-40], whole[: len(whole) // 2], whole[:at] + b"\xff" * 8 + whole[at + 8 :]):
        file.write_bytes(data)
        with pytest.raises(bb.InputError, match=r"seed 0\.npz is damaged .*: delete it, and it is trained again"):
            trained(folder=tmp_path)
        assert file.read_bytes() == data
    bb.save_embedding(*trained().values(), file)
    with pytest.raises(bb.InputError, match=r"lacks counts, record.*choose another folder"):
        trained(folder=tmp_path)


@pytest.mark.parametrize("record", ["3", "{", '"text"'])
def test_a_record_that_is_none(tmp_path, record):
    trained(folder=tmp_path)
    (file,) = tmp_path.iterdir()
    with np.load(file) as archive:
        arrays = dict(archive)
    np.savez(file, **arrays | {"record": np.array(record)})
    with pytest.raises(bb.InputError, match="is damaged"):
        trained(folder=tmp_path)


def test_a_failed_call_leaves_neither_a_folder_nor_a_part_of_a_file(tmp_path, limited_files, toy):
    with limited_files(1_000), pytest.raises(OSError, match="cannot write corpus sgns 8 seed"):
        trained(toy, 2, folder=tmp_path)
    with pytest.raises(bb.InputError, match="holds no sentence"):
        trained([], folder=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
@pytest.mark.full
def test_interrupt_keeps_what_is_done_and_stops_the_rest(tmp_path):
    code = (
        "import faulthandler, signal, bayesbias as bb\n"
        "faulthandler.register(signal.SIGUSR1)\n"  # where its threads are, should it not end
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        "toy = bb.stability.toy_corpus(sentences=2000)\n"
        f"bb.stability.train_embeddings(toy, seeds=1000, dims=20, folder={str(tmp_path)!r}, jobs=2)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("corpus*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    try:
        said = process.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        process.kill()
        pytest.fail(f"the process did not end:\n{process.communicate()[1]}")
    assert "KeyboardInterrupt" in said
    assert time.monotonic() - begin < 5
    assert process.returncode != 0
    files = sorted(path.name for path in tmp_path.iterdir())
    assert 1 <= len(files) < 100
    assert all(name.startswith("corpus sgns 20 seed ") for name in files)
    for name in files:
        assert len(bb.load_embedding(tmp_path / name)) > 200


class Shrinking:
    """Gives fewer sentences on every pass."""

    def __init__(self):
        self.left = 6

    def __iter__(self):
        self.left -= 1
        yield from TINY[: self.left]


class Failing(Shrinking):
    def __iter__(self):
        self.left -= 1
        yield from TINY
        if self.left < 4:
            raise OSError("the line broke")


def test_a_corpus_that_changes_between_passes_and_one_that_breaks_off():
    changed = r"gave 4 sentences of 12 words on the first pass and 3 of 9 on a later one"
    with pytest.raises(bb.InputError, match=changed):
        trained(Shrinking(), epochs=5)
    with pytest.raises(OSError, match="the line broke"):
        trained(Failing(), epochs=5, jobs=1)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([[], ""], "holds no sentence"),
        (["the", "cat"], "no sentence of the corpus 'corpus' has two words"),
        ([["the", 1]], "the sentence .*1.* of 'corpus' holds what is no text"),
        ([["a", "b"], ["\ud800", "b"]], "the sentence .*ud800.* of 'corpus' holds what is no text"),
        ([["the", "cat"], 3], "sentence 1 of a corpus is given as int"),
        ([{"the", "cat"}], "sentence 0 of a corpus is given as set"),
        ([b"the cat"], "sentence 0 of a corpus is given as bytes"),
        ([["the", ""]], "holds the word ''"),
        ([["the", "c\0t"]], "holds the word 'c"),
        (frozenset({"the cat"}), "given as a set, which has no order"),
        (3, "a corpus is given as int"),
        ({}, "corpus is an empty mapping"),
        ({"a": {"b": TINY}}, "a corpus is given as dict"),
        ({"../a": TINY}, "the name of a corpus is '../a'"),
        ({3: TINY}, "the name of a corpus is 3"),
        ({"Wiki": TINY, "wiki": TINY}, "differ in capitals only"),
        ("no such file.txt", "there is no file 'no such file.txt'"),
        ("the cat sat on the mat\n" * 1_000, "'the cat sat .* is no path"),
    ],
)
def test_what_is_no_corpus(corpus, message):
    with pytest.raises(bb.InputError, match=message):
        trained(corpus)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"caf\xe9 au lait\n", "is no text in UTF-8"),
        (gzip.compress(b"the cat sat\n" * 1_000, mtime=0)[:-20], "is truncated or damaged"),
        (b"", "holds no sentence"),
    ],
)
def test_files_that_are_no_text(tmp_path, data, message):
    (tmp_path / "text").write_bytes(data)
    with pytest.raises(bb.InputError, match=message):
        trained(tmp_path / "text")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": ["sgns", "GloVe"]}, "read them with load_embedding.* under a Setting"),
        ({"algorithm": "fasttext"}, "algorithm is 'fasttext': valid are sgns, cbow"),
        ({"algorithm": []}, "algorithm is empty"),
        ({"algorithm": ["sgns", "sgns"]}, "algorithm holds sgns more than once"),
        ({"seeds": 0}, "seeds is 0: give a whole number of at least 1"),
        ({"seeds": [-1]}, "seeds is -1: give a whole number of at least 0"),
        ({"seeds": [2**32]}, "seeds is 4294967296"),
        ({"seeds": [1, 2, 1]}, "seeds holds 1 more than once"),
        ({"dims": [10, -2]}, "dims is -2"),
        ({"min_count": 4}, r"no word of the corpus 'corpus' occurs 4 times: it has 6 distinct .* occurs 3 times"),
        ({"sample": 1}, "sample is 1"),
        ({"name": "a:b"}, "the name of a corpus is 'a:b'"),
        ({"corpus": {"a": TINY}, "name": "b"}, "name is 'b', but corpus is a mapping"),
        ({"folder": __file__}, "which is a file: give a folder"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(bb.InputError, match=message):
        trained(**options)


def test_nothing_is_said(toy, caplog, capsys):
    with caplog.at_level("INFO"):
        trained(toy)
    assert [record for record in caplog.records if record.name.startswith("gensim")] == []
    assert capsys.readouterr() == ("", "")


WORDS = vectors.training.WORDS


def own_share(corpus):
    """Share of own-stereotype words in sentences about a group, and how many stereotype words there are."""
    own = other = 0
    for words in corpus:
        group = next((corpus.words.group_of[word] for word in words if word in corpus.words.group_of), None)
        for stereotype, listed in corpus.words.stereotypes.items():
            many = len(set(words) & set(listed)) and sum(word in listed for word in words)
            assert group is not None or many == 0
            own, other = own + many * (stereotype == group), other + many * (stereotype != group)
    return own / (own + other), own + other


@pytest.mark.parametrize("bias", [-1, -0.5, 0, 0.25, 0.8, 1])
def test_the_planted_bias_is_in_the_text(bias):
    found, many = own_share(bb.stability.toy_corpus(bias, seed=4))
    expected = (1 + bias) / 2
    assert many > 9_000
    assert abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / many)


def test_shares_of_the_toy_corpus():
    corpus = bb.stability.toy_corpus(0.6, seed=2)
    group_of = corpus.words.group_of
    groups = [[group_of[word] for word in words if word in group_of] for words in corpus]
    people = [found for found in groups if found]
    assert all(len(found) == 2 and len(set(found)) == 1 for found in people)
    share = vectors.training.PEOPLE
    assert abs(len(people) / len(corpus) - share) < 4 * np.sqrt(share * (1 - share) / len(corpus))
    female = np.mean([found[0] == "female" for found in people])
    assert abs(female - 0.5) < 4 * np.sqrt(0.25 / len(people))
    counts = Counter(word for words in corpus for word in words)
    human = sum(counts[word] for word in WORDS["human"])
    stereotypes = sum(counts[word] for word in WORDS["female"] + WORDS["male"])
    assert human + stereotypes == 2 * len(people)
    assert abs(human / (2 * len(people)) - vectors.training.HUMAN_SHARE) < 4 * np.sqrt(0.25 / (2 * len(people)))


def test_controls_are_used_alike_for_both_groups():
    corpus = bb.stability.toy_corpus(1.0, seed=5)
    alike = {
        *WORDS["human"],
        *WORDS["neutral"],
        *WORDS["filler"],
        *(w for pair in vectors.training.SHARED for w in pair),
    }
    tables = {group: Counter() for group in corpus.words.protected}
    for words in corpus:
        groups = {corpus.words.group_of[word] for word in words if word in corpus.words.group_of}
        for group in groups:
            tables[group].update(word for word in words if word in alike)
    female, male = (np.array([table[word] for word in sorted(alike)]) for table in tables.values())
    z = (female - male) / np.sqrt(female + male)
    assert abs(np.mean(z**2) - 1) < 4 * np.sqrt(2 / len(z))


def test_one_seed_differs_in_stereotype_words_only():
    stereotypes = {*WORDS["female"], *WORDS["male"]}
    for first, second in zip(bb.stability.toy_corpus(0, seed=3), bb.stability.toy_corpus(1, seed=3), strict=True):
        assert len(first) == len(second)
        assert all(a == b or {a, b} <= stereotypes for a, b in zip(first, second, strict=True))


def test_the_toy_corpus_comes_from_its_seed(tmp_path):
    corpus = bb.stability.toy_corpus(sentences=300)
    assert list(corpus) == list(corpus) == list(bb.stability.toy_corpus(0.5, 0, 300))
    assert list(corpus) != list(bb.stability.toy_corpus(seed=1, sentences=300))
    assert len(corpus) == len(list(corpus)) == 300
    next(iter(corpus)).append("more")
    assert "more" not in next(iter(corpus))
    with pytest.raises(FrozenInstanceError):
        corpus.bias = 0.1
    with pytest.raises(bb.InputError, match=r"bias is -1\.01"):
        bb.stability.toy_corpus(-1.01)
    corpus.save(tmp_path / "toy.txt")
    lines = (tmp_path / "toy.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split() for line in lines] == list(corpus)
    with pytest.raises(bb.InputError, match=r"ends in \.txt"):
        corpus.save(tmp_path / "toy.csv")


def test_word_lists_of_the_toy_corpus():
    corpus = bb.stability.toy_corpus(sentences=20)
    lists = corpus.words
    assert {group: len(words) for group, words in lists.protected.items()} == {"female": 12, "male": 12}
    assert {group: len(words) for group, words in lists.stereotypes.items()} == {"female": 12, "male": 12}
    assert {name: len(words) for name, words in lists.controls.items()} == {"neutral": 24, "human": 24}
    assert corpus.base_pairs == tuple(zip(lists.protected["male"], lists.protected["female"], strict=True))
    assert set(corpus.targets) == {*lists.stereotypes["female"], *lists.stereotypes["male"], *lists.controls["neutral"]}
    roles = [
        *lists.every_word(),
        *WORDS["filler"],
        *(word for words in vectors.training.SHARED + vectors.training.TOPICS for word in words),
    ]
    assert len(roles) == len(set(roles)) == 244


@pytest.fixture(scope="module")
def levels(sized):
    biases = sized((0, 0.25, 0.5, 0.75, 1), (0, 0.25, 1))
    toys = {f"{bias}": bb.stability.toy_corpus(bias, seed=at, sentences=8_000) for at, bias in enumerate(biases)}
    kvs = bb.stability.train_embeddings(toys, seeds=1, dims=30, epochs=8)
    return [(kv, toys[setting.corpus].words) for setting, kv in kvs.items()]


def test_what_was_planted_is_found(levels):
    fits = [
        bb.fit(bb.distance_table(kv, words, relatedness=False), model="crossed", draws=1_000, seed=0)
        for kv, words in levels
    ]
    found = [bb.contrasts(post, "associated", "different").iloc[0] for post in fits]
    assert all(after["mean"] < before["mean"] - 0.02 for before, after in pairwise(found))
    assert found[0]["low"] < 0 < found[0]["high"]
    assert found[1]["high"] < 0
    human = bb.contrasts(fits[0], "associated", "human").iloc[0]
    assert human["low"] < 0 < human["high"]


def test_vectors_of_the_toy_corpus_make_sense(levels):
    kv, _ = levels[2]
    near = [
        word in topic for topic in vectors.training.TOPICS for one in topic for word, _ in kv.most_similar(one, topn=5)
    ]
    assert np.mean(near) > 0.95
    found = kv.most_similar(positive=["king", "woman"], negative=["man"], topn=3)
    assert "queen" in [word for word, _ in found]
