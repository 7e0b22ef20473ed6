"""Words encoded beside those of lists would be rare ones or of the lists: relatedness would be off."""

import sys

import pytest

import bayesbias as bb


@pytest.fixture(params=["wordfreq", "bundled"])
def source(request, monkeypatch):
    """Where words come from: the package wordfreq, or the bundled vectors where it is not installed."""
    if request.param == "bundled":
        monkeypatch.setitem(sys.modules, "wordfreq", None)


@pytest.mark.usefixtures("source")
def test_words_lie_at_even_steps_among_the_most_frequent():
    words = bb.common_words(n=10_000)
    assert len(set(words)) == 10_000
    assert all(word.isalpha() and len(word) > 1 for word in words)
    assert bb.common_words(n=400) == words[::25]
    assert words[0] == "the"


@pytest.mark.usefixtures("source")
def test_words_of_lists_are_left_out():
    lists = bb.load_words("gender")
    words = bb.common_words(n=10_000, lists=lists)
    assert len(words) == 10_000
    assert not {word.lower() for word in lists.every_word()} & {word.lower() for word in words}
    assert bb.common_words(n=10_000, lists="gender") == words
    assert "the" not in bb.common_words(lists=["the"])


@pytest.mark.usefixtures("source")
def test_an_embedding_of_list_words_and_these_has_relatedness():
    lists, glove = bb.load_words("weat7"), bb.load_embedding("glove-50d-slice")
    wanted = [word for word in (*lists.every_word(), *bb.common_words(lists=lists)) if word in glove.key_to_index]
    few = bb.load_embedding({word: glove[word] for word in wanted})
    part, whole = (bb.contrasts(bb.fit(bb.distance_table(kv, lists), seed=0))["sd"][0] for kv in (few, glove))
    assert 0.8 < part / whole < 1.25


def test_other_languages_need_wordfreq(monkeypatch):
    german = bb.common_words("de", 500)
    assert len(german) == 500
    assert "die" in german
    assert bb.common_words("de-AT", 500) == german
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(bb.InputError, match=r"'de' need the package wordfreq: pip install 'bayesbias\[frequencies\]'"):
        bb.common_words("de")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"language": "th"}, "wordfreq has no words of the language 'th': valid are ar, "),
        ({"language": ""}, "give a tag such as 'en'"),
        ({"language": None}, "give a tag such as 'en'"),
        ({"n": 0}, "n is 0"),
        ({"n": 10**6}, r"n is 1,000,000, and [\d,]+ frequent words of 'en' are known: give fewer"),
        ({"lists": 3}, "words"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(bb.InputError, match=message):
        bb.common_words(**arguments)
