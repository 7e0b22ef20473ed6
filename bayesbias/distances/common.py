"""Frequent words of a language, which an encoder is given beside the words of lists."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bayesbias._support.arguments import whole_number
from bayesbias.distances.vocabularies import ENGLISH, WORDFREQ_TAGS
from bayesbias.errors import InputError, install, shown
from bayesbias.vectors import load_embedding
from bayesbias.words import WordLists, lists_and_words, subtag

FREQUENT = 10_000  # most frequent words, among which those given lie at even steps
ORDERED = "glove-50d-slice"  # bundled, its first words in the order of their frequency


def common_words(
    language: str = ENGLISH, n: int = 1000, lists: WordLists | str | Path | Iterable[str] | None = None
) -> list[str]:
    """Frequent words of a language, to encode beside the words of lists.

    How the distances of similar words are correlated is read off the other words of an embedding. Whoever encodes the
    words of the lists alone has none, and intervals may be too narrow by a factor of 2 and more.

    Parameters
    ----------
    language
        BCP 47 tag. Words are those of the package wordfreq where it is installed; without it English ones are the most
        frequent of GloVe's, which are bundled, and other languages are refused.
    n
        How many: 400 and more are enough, 1,000 are better. They lie at even steps of rank among the 10,000 most
        frequent words of two letters and more: the most frequent ones alone are words of grammar, which scatter less
        than words of lists.
    lists
        Word lists, what :func:`load_words` takes, or words, that are left out.

    Returns
    -------
    list of str
        In the order of frequency; lower case in most languages.

    Examples
    --------
    >>> words = bb.common_words("en", n=1000, lists="weat7")
    >>> len(words), "algebra" in words
    (1000, False)
    """
    most = max(whole_number(n, "n"), FREQUENT)
    if not isinstance(language, str) or not subtag(language):
        raise InputError(f"language is {shown(language)}: give a tag such as 'en' or 'de'")
    left_out = set() if lists is None else {word.lower() for word in lists_and_words(lists)[1]}
    words = [word for word in _by_frequency(language) if word.isalpha() and len(word) > 1]
    words = [word for word in words if word.lower() not in left_out][:most]
    if len(words) < n:
        raise InputError(f"n is {n:,}, and {len(words):,} frequent words of {language!r} are known: give fewer")
    return [words[place] for place in (np.arange(n) * len(words) // n).tolist()]


def _by_frequency(language: str) -> list[str]:
    """All words of a language that are known, the most frequent first."""
    tag = subtag(language)
    try:
        from wordfreq import available_languages, iter_wordlist
    except ImportError:
        if tag == ENGLISH:
            return list(load_embedding(ORDERED).index_to_key[: 2 * FREQUENT])
        raise InputError(
            f"frequent words of {language!r} need the package wordfreq: {install('frequencies')}"
        ) from None
    tag = WORDFREQ_TAGS.get(tag, tag)
    if tag not in (known := available_languages()):
        raise InputError(f"wordfreq has no words of the language {language!r}: valid are {', '.join(sorted(known))}")
    return [str(word) for word in iter_wordlist(tag)]
