"""A list would be read as other words than its file holds, or a faulty one measured without a sentence."""

import dataclasses
import json
import pickle
import re
import unicodedata

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.words import WordList

PUBLISHED = {
    "gender": "gender_group_google_dataset",
    "race": "race_group_google_dataset",
    "religion": "religion_group_google_dataset",
    "weat1": "weat_1_google",
    "weat7": "weat_7_google",
}
GROUPED = {  # groups, protected words, stereotype words
    "gender": (2, 14, 25),
    "race": (3, 10, 15),
    "religion": (3, 15, 11),
    "weat3": (2, 64, 50),
    "weat8": (2, 16, 16),
}
PLAIN = {"adj": 230, "human": 85, "neutral": 226, "occ16": 320, "occ18": 76}
PLAIN |= dict.fromkeys(("arts", "arts_2", "career", "family", "math", "science"), 8)
NAME = 'name = "mine"\n'
GROUPS = '[protected]\na = ["x", "y"]\nb = ["z"]\n[stereotypes]\na = ["p"]\n'


@pytest.fixture
def written(tmp_path):
    """A function that writes a TOML file and gives its path."""

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_bundled_words_have_one_row_for_each_list_that_says_where_it_comes_from():
    table = bb.bundled("words")
    assert table["name"].is_unique
    assert table["source"].str.contains(r"\(20\d\d\)").all()
    others = table["name"].str.startswith("weathub/")
    assert others.sum() == 144
    german = table.loc[table["language"] == "de", "name"].tolist()
    assert german == [f"weathub/de/weat{n}" for n in (1, 2, 6, 7, 8, 9)]
    table = table[~others]
    assert table["form"].drop_duplicates().tolist() == ["words", "list", "pairs"]
    assert set(table["language"]) == {"en"}
    sizes = table.set_index("name")
    for name, (groups, *counts) in GROUPED.items():
        assert len(bb.load_words(name).protected) == groups
        assert sizes.loc[name, ["protected", "attributes"]].tolist() == counts
    plain = sizes[sizes["form"] != "words"]
    assert {**PLAIN, "gender_pairs": 23}.items() <= plain["attributes"].to_dict().items()
    assert plain["protected"].isna().all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_words_are_those_of_the_published_table(shared, name):
    lists = bb.load_words(name)
    raw = pd.read_csv(shared / "paper_tables" / f"{PUBLISHED[name]}.csv", keep_default_na=False)
    raw["word_class"] = raw["word_class"].str.removesuffix("_stereotype")
    own = raw[raw["connection"] == "associated"]
    for table, column, ours in (
        (raw, "word_to_compare", {**lists.stereotypes, **lists.controls}),
        (own, "protected_word", lists.protected),
    ):
        theirs = table[column].groupby(table["word_class"]).agg(set)
        assert theirs.to_dict() == {listed: set(words) for listed, words in ours.items()}
    assert set(raw["protected_word"]) == set(lists.group_of)
    attributes = sum(map(len, (*lists.stereotypes.values(), *lists.controls.values())))
    counts = raw["protected_word"].value_counts() / attributes
    assert {word: count for word, count in counts.items() if count > 1} == lists.repeats


def test_file_of_ones_own(written, monkeypatch):
    about = 'description = "Letters."\nsource = "Me (2024)"\ndoi = "10.1/x"\ncontrols = ["human"]\n'
    path = written(NAME + about + GROUPS)
    lists = bb.load_words(path)
    assert (lists.name, lists.description, lists.source, lists.doi) == ("mine", "Letters.", "Me (2024)", "10.1/x")
    assert lists.protected == {"a": ("x", "y"), "b": ("z",)}
    assert lists.stereotypes == {"a": ("p",)}
    assert list(lists.controls) == ["human"]
    assert lists.group_of == {"x": "a", "y": "a", "z": "b"}
    assert lists.every_word()[:4] == ("x", "y", "z", "p")
    monkeypatch.setenv("HOME", str(path.parent))
    assert bb.load_words(str(path)) == bb.load_words("~/mine.toml") == lists


def test_controls_may_be_words_names_and_files_beside(written):
    written('kind = "list"\nname = "people"\nwords = ["walk", "eat", "walk"]\n', "people.toml")
    controls = 'controls = { human = "people.toml", neutral = "neutral", things = ["table", "chair"] }\n'
    assert bb.load_words(written(NAME + controls + GROUPS)).controls == {
        "human": ("walk", "eat"),
        "neutral": tuple(bb.load_list("neutral")),
        "things": ("table", "chair"),
    }


PAIRS = (("man", "woman"), ("he", "she"))
IN_TEXT = {
    "he\nshe\n": ("he", "she"),
    "\ufeffNew York\r\n\r\nWashington, D.C.\r\n he": ("New York", "Washington, D.C.", "he"),
    '"New York, NY"\rhe\r': ("New York, NY", "he"),
    "0\nhe\nshe\n": ("he", "she"),
    ",0\n0,he\n1,she\n": ("he", "she"),
    "1\n2\n3\n": ("1", "2", "3"),
    "0\n": ("0",),
    "man,woman\r\nhe,she\r\n": PAIRS,
    "man;woman\nhe; she": PAIRS,
    "man\twoman\rhe\tshe\r": PAIRS,
    ",0,1\n0,man,woman\n1,he,she\n": PAIRS,
}


@pytest.mark.parametrize("text", IN_TEXT)
def test_a_list_may_be_text_with_a_word_or_a_pair_a_line(tmp_path, text):
    for name in ("l.txt", "l.csv", "l"):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        held = bb.load_list(tmp_path / name)
        assert (held.name, tuple(held)) == ("l", IN_TEXT[text])


FAULTS = {
    "unknown key 'colour'; valid keys here are name, protected": NAME + 'colour = "red"\n' + GROUPS,
    "the key 'name' is missing": GROUPS,
    "protected.b is []: give a list of words": NAME + GROUPS.replace('"z"', ""),
    "words are missing: give a group under [protected]": NAME + '[protected]\na = ["x"]\n[stereotypes]\n',
    "the protected word 'x' is in two groups, 'a' and 'b'": NAME + GROUPS.replace('"z"', '["z", "x"]'),
    "a group cannot be named 'human'": NAME + '[protected]\nhuman = ["x"]\n[stereotypes]\nhuman = ["y"]\n',
    "stereotypes.a is 'p': give a list of words": NAME + GROUPS.replace('["p"]', '"p"'),
    "language: the language is 'German': give a BCP": NAME + 'language = "German"\n' + GROUPS,
    "protected.b: 'v' has other forms elsewhere, or one of v, w is": NAME
    + GROUPS.replace('"z"', '["z", "w"], ["v", "w"]'),
    "a group cannot be named 'controls', as a control list or a key": NAME
    + "[protected]\na = ['x']\ncontrols = ['human']\n[stereotypes]\na = ['p']\n",
    "is not a TOML file": NAME + "[protected\n",
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_in_a_file_is_named(written, message):
    path = written(FAULTS[message])
    with pytest.raises(bb.InputError, match=re.escape(message)) as error:
        bb.load_words(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: bb.load_words("occ16"), "kind 'list': load_list reads"),
        (lambda: bb.load_list("race"), "load_words reads the lists of groups"),
        (lambda: bb.load_words(3), "by name or path, a WordLists or a mapping, not as int"),
        (lambda: bb.load_words("glove-50d-slice"), "an embedding, not a word list: an embedding comes first"),
        (lambda: bb.distance_table(bb.load_words("race"), "glove-50d-slice"), "'race': an embedding comes first, dist"),
        (lambda: bb.Query([["a"]], [["b"]], ["M"], ["A"]), r"are lists: give mappings, such as bb\.Query\(\{'M': X"),
        (lambda: bb.WordLists("l", {"a": 3, "b": [1]}, {}, doi=b"x"), r"protected\.a is 3: .*; protected\.b holds 1: "),
    ],
)
def test_what_is_no_list_of_its_kind_is_refused_with_all_its_faults(load, message):
    with pytest.raises(bb.InputError, match=message):
        load()


def test_a_list_made_in_memory_is_that_of_a_file(written):
    text = 'kind = "list"\nname = "l"\nlanguage = "fr"\nwords = ["cafe\u0301", "bar", "caf\u00e9"]\n'
    words = WordList("l", ["cafe\u0301", "bar", "caf\u00e9"], language="fr")
    assert words == bb.load_list(written(text))
    assert words.words == ("caf\u00e9", "bar")
    assert bb.WordLists(**vars(bb.load_words("race"))) == bb.load_words("race")


def test_a_mapping_of_words_is_that_of_a_file(written):
    content = {"protected": {"a": ["x", "y"], "b": ["z"]}, "stereotypes": {"a": ["p"]}, "controls": ["human"]}
    lists = bb.load_words(content)
    assert (lists.name, len(lists.controls["human"])) == ("own lists", 85)
    assert bb.load_words({"name": "mine", **content}) == bb.load_words(written(f'{NAME}controls = ["human"]\n{GROUPS}'))
    assert bb.WordLists("own lists", content["protected"], content["stereotypes"], ["human"]) == lists
    assert bb.load_words(lists) is lists
    with pytest.raises(bb.InputError, match="'animals' is no list of control lists"):
        bb.load_words({**content, "controls": ["animals"]})
    vectors = {word: [1.0, place] for place, word in enumerate(("x", "y", "z", "p", "friend"))}
    table = bb.distance_table(vectors, {**content, "controls": {"c": ["friend"]}}, relatedness=False)
    assert len(table) == 6


def test_a_query_gives_word_lists_and_back():
    query = bb.load_query("weat6")
    lists = query.words()
    assert lists.protected == query.targets
    assert lists.stereotypes == {"male_names": query.attributes["career"], "female_names": query.attributes["family"]}
    assert bb.Query.from_words(lists).words() == lists
    with_controls = bb.load_words("weat7")
    assert bb.Query.from_words(with_controls, controls=True).words().controls == with_controls.controls
    with pytest.raises(bb.InputError, match=r"^there is no counterpart of 1 target and 2 attribute sets: groups need"):
        bb.Query({"x": ["a"]}, {"p": ["b"], "q": ["c"]}).words()


def test_lists_travel_between_processes_and_cannot_be_changed():
    for one in (bb.load_words("weathub/de/weat7"), bb.load_list("occ16"), bb.load_query("weat6")):
        assert pickle.loads(pickle.dumps(one)) == one
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.name = "other"


def test_repeated_words_are_kept_once_and_only_protected_ones_are_counted():
    lists = bb.WordLists("mine", {"a": ["x", "y", "x"]}, {"a": ["p", "p"]}, {"human": ["q", "q"]})
    assert lists.protected == {"a": ("x", "y")}
    assert (lists.stereotypes, lists.controls) == ({"a": ("p",)}, {"human": ("q",)})
    assert lists.repeats == {"x": 2}
    assert dataclasses.replace(lists, name="other").repeats == {"x": 2}


def test_html_escapes_what_a_file_says():
    lists = bb.WordLists("<b>", {"<i>": ["<x>"]}, {"<i>": ["&y"]}, description="<script>")
    html = lists._repr_html_()
    assert html.startswith("<b>&lt;b&gt;</b>: &lt;script&gt;<table>")
    assert "<td>&lt;i&gt;</td><td>1</td><td style='text-align:left'>&lt;x&gt;</td>" in html


def test_a_concept_has_the_name_of_its_first_form(written):
    text = NAME + 'language = "de-AT"\nprovenance = "translated"\n' + GROUPS.replace('"z"', '["z", "w"], "v"')
    lists = bb.load_words(written(text))
    assert lists.protected == {"a": ("x", "y"), "b": ("z", "v")}
    assert lists.forms == {"z": ("z", "w")}
    assert lists.concepts == {"x": ("x",), "y": ("y",), "z": ("z", "w"), "v": ("v",), "p": ("p",)}
    assert lists.every_word() == ("x", "y", "z", "w", "v", "p")
    assert (lists.language, lists.provenance) == ("de-AT", "translated")


def test_words_are_kept_in_normal_form_c():
    lists = bb.WordLists("l", {"a": ["cafe\u0301", "caf\u00e9"]}, {"a": [["e\u0301", "e"]]})
    assert lists.protected == {"a": ("caf\u00e9",)}
    assert lists.repeats == {"caf\u00e9": 2}
    assert lists.forms == {"\u00e9": ("\u00e9", "e")}


def test_the_lists_of_weathub_are_those_of_its_files(shared):
    folder = shared / "languages" / "weathub_human"
    for language, test in (("de", "weat7"), ("bn", "weat1"), ("fr", "weat7")):
        sets = json.loads((folder / f"{language}_{test}.json").read_text(encoding="utf-8"))
        lists = bb.load_words(f"weathub/{language}/{test}")
        kept = [*lists.protected.values(), *lists.stereotypes.values()]
        for words, key in zip(kept, ("targ1", "targ2", "attr1", "attr2"), strict=True):
            given = dict.fromkeys(unicodedata.normalize("NFC", word) for word in sets[key]["examples"])
            assert words == tuple(word for word in given if (language, word) != ("fr", "son"))


def test_what_takes_single_words_refuses_concepts():
    lists = bb.WordLists("l", {"a": [["he", "him"]], "b": ["she"]}, {"a": ["nurse"], "b": ["doctor"]})
    with pytest.raises(bb.InputError, match="takes single words, and 'he' has 2 forms: choose one form of each"):
        bb.Query.from_words(lists)


SENT_BIAS = {
    "targ1": {"category": "Math", "examples": ["algebra", "sums"]},
    "targ2": {"category": "Arts", "examples": ["poetry"]},
    "attr1": {"category": "Male", "examples": ["he"]},
    "attr2": {"category": "Female", "examples": ["she"]},
}
RESPONSIBLY = {
    "first_target": {"name": "Math", "words": ["algebra", "sums"], "remove": ["sums"]},
    "second_target": {"name": "Arts", "words": ["poetry"]},
    "first_attribute": {"name": "Male", "words": ["he"]},
    "second_attribute": {"name": "Female", "words": ["she"]},
    "original_finding": {"N": "28k"},
}
OWN = {"targets": {"Math": ["algebra", "sums"], "Arts": ["poetry"]}, "attributes": {"Male": ["he"], "Female": ["she"]}}


@pytest.fixture
def in_json(tmp_path):
    def write(content, name="mine.json"):
        (tmp_path / name).write_text(json.dumps(content))
        return tmp_path / name

    return write


@pytest.mark.parametrize("content", [SENT_BIAS, RESPONSIBLY, OWN])
def test_a_query_in_json_has_its_targets_and_attributes(in_json, content):
    query = bb.load_query(in_json(content, "mine.jsonl"))
    sets = {name: list(words) for name, words in query.sets.items()}
    assert sets == OWN["targets"] | OWN["attributes"]
    assert (query.template, query.name) == ((2, 2), "mine")


def test_lists_pairs_and_word_lists_are_read_from_json(in_json):
    assert bb.load_list(in_json(["he", "his"])).words == ("he", "his")
    assert bb.load_list(in_json([["he", "she"], ["man", "woman"]])).pairs == (("he", "she"), ("man", "woman"))
    lists = bb.load_words(in_json({"protected": {"m": ["he"]}, "stereotypes": {"m": ["strong"]}}))
    assert (lists.name, lists.every_word()) == ("mine", ("he", "strong"))


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (bb.load_words, SENT_BIAS, "kind 'query': .*load_query a query"),
        (bb.load_words, {"a": ["x"], "b": ["y"]}, r"in JSON are read .*give other sets to bb\.Query or bb\.WordLists"),
        (bb.load_query, SENT_BIAS | {"targ1": ["he"]}, "cannot be read as a test"),
    ],
)
def test_json_that_leaves_a_doubt_is_refused_with_what_to_do(in_json, read, content, message):
    with pytest.raises(bb.InputError, match=rf"mine\.json.*{message}"):
        read(in_json(content))
