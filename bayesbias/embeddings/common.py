"""Words and pairs that several embeddings hold, those of one vector once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bayesbias.embeddings.lookup import Case, find_words, twin_sentence, twins_of, twins_within
from bayesbias.errors import listed

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def alike_in_some(words: Sequence[str], kvs: Iterable[KeyedVectors], case: Case = "as-is") -> dict[str, str]:
    """Word to the first word whose vector it has in one of several embeddings, or through several of them."""
    place = {word: i for i, word in enumerate(words)}
    first: dict[str, str] = {}
    for kv in kvs:
        for word, other in twins_of(find_words(kv, words, case)).items():
            keep, gone = sorted((first.get(word, word), first.get(other, other)), key=place.__getitem__)
            first |= dict.fromkeys([gone, *(each for each, of in first.items() if of == gone)], keep)
    return {word: of for word, of in first.items() if word != of}


def alike_in_all(words: Sequence[str], kvs: Iterable[KeyedVectors]) -> dict[str, str]:
    """Word to the first word whose vector it has in every one of several embeddings."""
    first, *others = [twins_of(find_words(kv, words)) for kv in kvs]
    return {word: of for word, of in first.items() if all(other.get(word) == of for other in others)}


def in_all[Unit: (str, tuple[str, str])](
    asked: Iterable[Unit], kvs: Iterable[KeyedVectors], what: str
) -> tuple[list[Unit], list[str]]:
    """The words, or pairs of words, that all embeddings hold, and a sentence on the others."""
    every, indices = list(asked), [kv.key_to_index for kv in kvs]
    words = {word: (word,) if isinstance(word, str) else word for word in every}
    shared = [unit for unit in every if all(word in keys for word in words[unit] for keys in indices)]
    some = set(shared)
    lost = ["/".join(words[word]) for word in every if word not in some]
    sentence = f"{len(lost)} of {len(every)} {what} are left out, since some embedding lacks them: {listed(lost)}."
    return shared, [sentence] if lost else []


def pairs_once(pairs: Sequence[tuple[str, str]], alike: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs without those of one vector and those that have the vectors of an earlier pair, and sentences on them.

    Parameters
    ----------
    pairs
        Pairs of words; one that is listed twice stays twice.
    alike
        As :func:`twins_of` returns it.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    distinct, single, again = [], [], []
    for pair in pairs:
        one, other = (alike.get(word, word) for word in pair)
        earlier = first.setdefault((one, other), pair)
        if one == other:
            single.append(pair)
        elif earlier != pair:
            again.append(("/".join(pair), "/".join(earlier)))
        else:
            distinct.append(pair)
    notes = [f"pairs left out, since their words have one vector: {', '.join(map('/'.join, single))}"] if single else []
    if again:
        notes.append(f"pairs counted once: {', '.join(f'{pair} has the vectors of {of}' for pair, of in again)}")
    return distinct, notes


def words_once(words: Sequence[str], alike: Mapping[str, str], what: str) -> tuple[list[str], list[str]]:
    """Words without those that have the vector of an earlier one, and a sentence on these."""
    again = twins_within(words, alike)
    distinct = [word for word in words if word not in again]
    return distinct, [f"{what}: {twin_sentence(again.items())}: counted once."] if again else []
