"""``distance_table``: embedding and word lists to a long table, by one matrix product."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bayesbias._checks import flag, one_of
from bayesbias._core.cosine import FloatArray, cosine_distances
from bayesbias.distances.covariances import ENOUGH, Relatedness
from bayesbias.distances.coverages import Coverage, list_entry
from bayesbias.distances.storage import KEY, packed
from bayesbias.distances.vocabularies import SAMPLE, few_words, measured_relatedness
from bayesbias.embeddings import TWINS, Case, Embedding, Twins, about, find_words, opened, twins_of, twins_within
from bayesbias.errors import InputError, shortened
from bayesbias.words import WordLists, load_words


class _Attribute(NamedTuple):
    word: str
    attribute_class: str
    connection: str


def distance_table(
    kv: Embedding,
    words: WordLists | str | Path,
    keep_duplicates: bool = False,
    case: Case = "as-is",
    relatedness: bool = True,
    twins: Twins = "once",
) -> pd.DataFrame:
    """Cosine distances between protected words and attribute words, one row a pair.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes.
    words
        Word lists, or what :func:`load_words` takes.
    keep_duplicates
        Count a pair as often as its words are listed, as the published tables do. By default a pair counts once:
        a protected word listed in several sets is one word, and an attribute word in several lists takes the first
        of associated, different, human, neutral.
    case
        ``"as-is"`` looks words up as they are written; ``"fallback"`` also tries lower case, a capital first letter
        and capitals for words that are not found.
    relatedness
        Whether the table carries how the distances of alike words are correlated, as :func:`relatedness` reads it off
        the vectors; ``attrs["relatedness"]`` holds it as text. Without it, models take different words for unrelated.
    twins
        Words of one list that have one vector (cosine of 1 - 1e-6 and more, as in pruned embeddings) are one word:
        ``"once"`` takes the first and leaves the others out, ``"keep"`` takes all. :func:`coverage` names them, and
        words of different lists that have one vector, which stay.

    Returns
    -------
    DataFrame
        Columns ``protected_word``, ``group``, ``attribute_word``, ``attribute_class`` (the group whose stereotype it
        is, ``human`` or ``neutral``), ``connection`` (associated, different, human, neutral) and ``distance``
        (cosine distance in [0, 2]). Words that the embedding lacks are left out; ``attrs["coverage"]`` and
        :func:`coverage` tell which.

    Raises
    ------
    InputError
        A list of which no word is found; a vector with NaN; an unknown ``case`` or ``twins``.

    Warns
    -----
    UserWarning
        Fewer than 400 words of the embedding lie outside of the lists: relatedness is then known badly. (Below 50 there
        is none, and the coverage says so.)
    """
    flag(relatedness, "relatedness")
    one_of(twins, TWINS, "twins")
    lists = words if isinstance(words, WordLists) else load_words(words)
    kv = opened(kv)
    looked = find_words(kv, lists.every_word(), case)
    found = looked.keys
    entries = _entries(lists, found)
    alike = twins_of(looked)
    counted = _counted_once(lists, found, alike)
    if twins == "once":
        lists = _without(lists, counted)
    by_group = {group: _attributes(lists, group, found, keep_duplicates) for group in lists.protected}
    protected = [word for word in lists.group_of if word in found]
    attributes = list(dict.fromkeys(a.word for listed in by_group.values() for a in listed))
    matrix = cosine_distances(looked.of(protected), looked.of(attributes))
    table, own = _long(lists, protected, attributes, by_group, matrix, found)
    if keep_duplicates and lists.repeats:
        table = table.loc[table.index.repeat(table["protected_word"].map(lists.repeats).fillna(1).astype(int))]
        table = table.reset_index(drop=True)
    related = measured_relatedness(kv, lists, SAMPLE, 0, case) if relatedness else ""
    record = Coverage(
        word_list=lists.name,
        lists=entries,
        substituted={word: used for word, used in found.items() if word != used},
        own_pairs=own,
        in_several_lists=_in_several_lists(lists, found),
        repeated_rows=int(table.duplicated(["protected_word", "attribute_word"]).sum()),
        kept_duplicates=keep_duplicates,
        source=lists.source,
        doi=lists.doi,
        embedding=about(kv),
        pairs=len(table),
        relatedness=_said(related),
        twins=counted,
        kept_twins=twins == "keep",
        one_vector=_one_vector(lists, alike) if alike else [],
    )
    table.attrs["coverage"] = record.as_dict()
    if isinstance(related, Relatedness):
        table.attrs[KEY] = packed(related)
        if related.sampled < ENOUGH:
            warnings.warn(few_words(related), UserWarning, stacklevel=2)
    return table


def _said(related: Relatedness | str) -> str:
    """What the coverage says of relatedness: nothing where it was not asked for."""
    if isinstance(related, Relatedness):
        return related.sentence
    return related and f"none, because {related}"


def _counted_once(lists: WordLists, found: Mapping[str, str], alike: Mapping[str, str]) -> list[dict[str, str]]:
    """The words of each list that have the vector of an earlier word of the same list."""
    return [
        {"list": name, "kind": kind, "word": word, "first": first}
        for kind, part in lists.by_kind
        for name, listed in part.items()
        for word, first in twins_within([word for word in listed if word in found], alike).items()
    ]


def _without(lists: WordLists, counted: list[dict[str, str]]) -> WordLists:
    """The lists without the words that are counted once."""
    if not counted:
        return lists
    left_out = {(entry["kind"], entry["list"], entry["word"]) for entry in counted}

    def kept(kind: str, part: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        return {name: [w for w in words if (kind, name, w) not in left_out] for name, words in part.items()}

    return replace(
        lists,
        protected=kept("protected", lists.protected),
        stereotypes=kept("stereotype", lists.stereotypes),
        controls=kept("control", lists.controls),
    )


def _one_vector(lists: WordLists, alike: Mapping[str, str]) -> list[dict[str, list[str]]]:
    """Sets of words of different lists that have one vector: each word with the lists that hold it."""
    places: dict[str, list[str]] = {}
    for _, part in lists.by_kind:
        for name, listed in part.items():
            for word in listed:
                places.setdefault(word, []).append(name)
    sets: dict[str, dict[str, list[str]]] = {}
    several = set(alike).union(alike.values())
    for word, names in places.items():
        if word in several:
            sets.setdefault(alike.get(word, word), {})[word] = names
    return [words for words in sets.values() if len(words) > 1 and len(set(chain(*words.values()))) > 1]


def _entries(lists: WordLists, found: Mapping[str, str]) -> list[dict[str, object]]:
    entries = []
    for kind, part in lists.by_kind:
        for name, listed in part.items():
            missing = [word for word in listed if word not in found]
            if len(missing) == len(listed):
                raise InputError(
                    f"the embedding holds none of the {len(listed)} words of the {kind} list {name!r} "
                    f"({shortened(listed, 5)}): take the list out, choose other "
                    "words, or pass case='fallback' if only capital letters differ"
                )
            entries.append(list_entry(name, kind, list(listed), missing))
    return entries


def _attributes(lists: WordLists, group: str, found: Mapping[str, str], keep_duplicates: bool) -> list[_Attribute]:
    """The attribute words of a group's protected words, in the order that decides doubtful pairs."""
    others = [name for name in lists.stereotypes if name != group]
    order = [("associated", group, lists.stereotypes.get(group, ()))]
    order += [("different", name, lists.stereotypes[name]) for name in others]
    order += [(name, name, lists.controls.get(name, ())) for name in ("human", "neutral")]
    listed = [_Attribute(word, name, connection) for connection, name, part in order for word in part if word in found]
    return listed if keep_duplicates else list({a.word: a for a in reversed(listed)}.values())[::-1]


def _long(
    lists: WordLists,
    protected: list[str],
    attributes: list[str],
    by_group: dict[str, list[_Attribute]],
    matrix: FloatArray,
    found: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    at = {word: column for column, word in enumerate(attributes)}
    pieces, own = [], []
    for row, word in enumerate(protected):
        listed = [a for a in by_group[lists.group_of[word]] if found[a.word] != found[word]]
        if len(listed) < len(by_group[lists.group_of[word]]):
            own.append(word)
        piece = pd.DataFrame(listed, columns=["attribute_word", "attribute_class", "connection"])
        piece.insert(0, "protected_word", word)
        piece.insert(1, "group", lists.group_of[word])
        piece["distance"] = matrix[row, [at[a.word] for a in listed]]
        pieces.append(piece)
    table = pd.concat(pieces, ignore_index=True)
    if table.empty:
        raise InputError("no pair is left: the only attribute words found are the protected words themselves")
    return table.astype(dict.fromkeys(table.columns[:-1], "str")), own


def _in_several_lists(lists: WordLists, found: Mapping[str, str]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for part in (lists.stereotypes, lists.controls):
        for name, listed in part.items():
            for word in listed:
                places.setdefault(word, []).append(name)
    return {word: names for word, names in places.items() if len(names) > 1 and word in found}
