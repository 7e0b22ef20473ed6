"""Checks of word lists against an embedding: coverage, near duplicates, effective numbers, frequency, spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import combining, normalize

import numpy as np
import pandas as pd

from bayesbias.checks.confounds import Balance, balance
from bayesbias.checks.convergence import outlying, too_few_words
from bayesbias.distances import distance_table, relatedness
from bayesbias.distances.dataframe import FEWEST_PROTECTED, FEWEST_STEREOTYPE, entries_of
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import SAME
from bayesbias.posteriors import PROB
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Embedding, about, find_keys, find_lists, opened
from bayesbias.vectors.lookup import missing_words
from bayesbias.words import AnyWords, WordLists, bundled_controls, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.vectors.lookup import FoundConcepts

NEAR = 0.9  # cosine similarity above which two words are nearly one
LEAST_EFFECTIVE = 2.0  # effective words of a list below which it is little more than one topic
LISTS = ["list", "kind", "asked", "found", "effective", "missing"]
PAIRS = ["first", "second", "lists", "same_list", "cosine"]
ENDINGS = (
    (re.compile(r"is(e|es|ed|er|ers|ing|ation|ations)$"), r"iz\1"),
    (re.compile(r"iz(e|es|ed|er|ers|ing|ation|ations)$"), r"is\1"),
    (re.compile(r"ys(e|es|ed|er|ers|ing)$"), r"yz\1"),
    (re.compile(r"yz(e|es|ed|er|ers|ing)$"), r"ys\1"),
    (re.compile(r"our(s|ed|ing|ite|ites|ful|able)?$"), r"or\1"),
    (re.compile(r"or(s|ed|ing|ite|ites|ful|able)?$"), r"our\1"),
    (re.compile(r"(?<=...)s$"), ""),
    (re.compile(r"$"), "s"),
)
"""British and American endings, and plurals."""


@dataclass(frozen=True, repr=False)
class WordCheck(Result):
    """Word lists in an embedding, before anything is measured.

    Attributes
    ----------
    word_list, embedding
        Their names.
    lists
        One row a list: ``list``, ``kind`` (protected, stereotype, control), ``asked``, ``found`` (numbers of words),
        ``effective`` (effective number of words; NaN where that is not known), ``missing`` (the words).
    duplicates
        Pairs of words with a cosine similarity above .9, none within bundled control lists: ``first``, ``second``, the
        ``lists`` of both, ``same_list`` (whether one list holds both), ``cosine``; 1 where they have one vector.
    repeated, spellings
        Words of more than one list, with these lists; missing words that the embedding has under another spelling:
        ``word``, ``list``, ``found``.
    balance, bundled
        The :class:`Balance` of frequencies, or None; control lists that are bundled ones, which notes leave out.
    notes
        Missing words, words of several lists, what these lists cannot tell, and what could not be checked.
    """

    prob: ClassVar[float] = PROB

    word_list: str
    embedding: str
    lists: pd.DataFrame
    duplicates: pd.DataFrame
    repeated: Mapping[str, tuple[str, ...]]
    spellings: pd.DataFrame
    balance: Balance | None
    notes: tuple[Note, ...]
    bundled: tuple[str, ...] = ()

    def caption(self) -> str:
        return f"Words of {self.word_list} in {self.embedding}"

    def header(self) -> dict[str, object]:
        """Facts of what was found, without bundled control lists."""
        own = self.lists[~(self.lists["kind"].eq("control") & self.lists["list"].isin(self.bundled))]
        pairs: dict[bool, list[str]] = {True: [], False: []}
        for row in self.duplicates.itertuples():
            pairs[bool(row.same_list)].append(f"{row.first} = {row.second} {row.cosine:.2f}")
        return {
            "found": f"{own['found'].sum():,}/{own['asked'].sum():,}",
            "beside bundled controls": list(self.bundled),
            f"cosine > {NEAR:g} within lists": pairs[True],
            "across lists": pairs[False],
            "other spellings": [f"{row.word} as {row.found}" for row in self.spellings.itertuples()],
        }

    def table(self) -> pd.DataFrame:
        """One row a list, as in :attr:`lists`."""
        return self.lists

    def summary(self) -> pd.DataFrame:
        return self.lists.drop(columns="missing")

    def tables(self) -> dict[str, pd.DataFrame]:
        tables = {"Lists": self.lists, "Near duplicates": self.duplicates, "Other spellings": self.spellings}
        tables |= {} if self.balance is None else self.balance.tables()
        return {caption: table for caption, table in tables.items() if len(table)}

    def sources(self) -> tuple[Any, ...]:
        return Cited(f"word list {self.word_list}"), Cited(f"embedding {self.embedding}")


def check_words(words: AnyWords, kv: Embedding, frequencies: Any = None) -> WordCheck:
    """Check word lists against an embedding before anything is measured.

    Parameters
    ----------
    words
        Word lists, or what :func:`load_words` takes.
    kv, frequencies
        An embedding, or what :func:`load_embedding` takes; where frequencies come from, as in :func:`balance`.

    Returns
    -------
    WordCheck
        Coverage, effective numbers, near duplicates, words in several lists, other spellings of missing words
        (capitals, joints, accents, British and American endings, plurals), frequencies, and what the lists cannot tell.

    Examples
    --------
    >>> found = bb.check_words("weat7", "google-news-slice")
    >>> found.table()[["list", "asked", "found"]].head(2)
       list  asked  found
    0  math      8      8
    1  arts      8      8
    """
    lists = load_words(words)
    vectors = opened(kv, lists.every_word(), language=lists.language)
    known = find_lists(vectors, lists)
    table = pd.DataFrame(entries_of(lists, known.concepts)).assign(effective=np.nan)
    notes, balanced = list[Note](), None
    protected = table.loc[table["found"] > 0, "kind"] == "protected"
    if protected.any() and not protected.all():
        balanced = _measured(vectors, lists, table, frequencies, notes)
    bundled = bundled_controls(lists)
    places: dict[str, tuple[str, ...]] = {}
    for kind, part in lists.by_kind:
        for name, listed in part.items():
            places |= {word: (*places.get(word, ()), f"{kind} {name}") for word in listed}
    several = {word: where for word, where in places.items() if len(where) > 1}
    own: list[dict[Any, Any]] = table[(table["kind"] != "control") | ~table["list"].isin(bundled)].to_dict("records")
    of_words = missing_words(own, lost=False)
    if several:
        named = [f"{word} ({'/'.join(where)})" for word, where in several.items()]
        of_words.append(Note("several-lists", rule="count once", words=named))
    return WordCheck(
        lists.name,
        str(about(vectors)["name"]),
        table[LISTS],
        _near(known, places, {word for name in bundled for word in lists.controls[name]}),
        several,
        _spelled(vectors, lists, own),
        balanced,
        (*_unsettled(table), *of_words, *notes, *(() if balanced is None else balanced.notes)),
        bundled,
    )


def _measured(
    vectors: KeyedVectors, lists: WordLists, table: pd.DataFrame, frequencies: Any, notes: list[Note]
) -> Balance | None:
    """Write effective numbers into the table, and the balance of frequencies; what fails is noted."""
    try:
        distances = distance_table(vectors, lists)
    except InputError as error:
        notes.append(Note("no-value", what="distances", reason=str(error)))
        return None
    try:
        effective = relatedness(distances).effective_words().set_index(["kind", "list"])["effective"]
        table["effective"] = effective.reindex(pd.MultiIndex.from_frame(table[["kind", "list"]])).to_numpy()
        notes += outlying(table.rename(columns={"found": "words"}))
    except InputError as error:
        notes.append(Note("no-value", what="effective numbers", reason=str(error)))
    try:
        return balance(distances, frequencies)
    except InputError as error:
        if frequencies is not None:
            raise
        notes.append(Note("no-value", what="balance of frequency", reason=str(error)))
        return None


def _spelled(vectors: KeyedVectors, lists: WordLists, entries: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    where: dict[str, str] = {}
    for entry in entries:
        where = dict.fromkeys(entry["missing"], f"{entry['kind']} {entry['list']}") | where
    forms = {word: [variant for form in lists.concepts[word] for variant in variants(form)] for word in where}
    keys = find_keys(chain(*forms.values()), vectors.key_to_index)
    held = {word: next((keys[form] for form in own if form in keys), None) for word, own in forms.items()}
    rows = [(word, where[word], key) for word, key in held.items() if key is not None]
    return pd.DataFrame(rows, columns=["word", "list", "found"])


def _unsettled(table: pd.DataFrame) -> list[Note]:
    protected = table["kind"] == "protected"
    attributes, count, notes = table[~protected], int(table.loc[protected, "found"].sum()), list[Note]()
    own = attributes[attributes["kind"] == "stereotype"]
    few = [f"{row.list} {row.found}" for row in own[own["found"] < FEWEST_STEREOTYPE].itertuples()]
    if count < FEWEST_PROTECTED:
        notes.append(Note("no-value", what="whole-list answer", reason=too_few_words(count)))
    elif few:
        notes.append(Note("short-lists", most=FEWEST_STEREOTYPE - 1, words=few))
    if not attributes["found"].sum():
        notes.append(Note("no-value", what="distances", reason="no attribute word found"))
    effective = attributes.set_index("list")["effective"].round(1)  # as it is shown
    poor = effective[effective < LEAST_EFFECTIVE].items()
    return [*notes, *(Note("few-levels", count=number, factor=f"effective words of {name}") for name, number in poor)]


def _near(concepts: FoundConcepts, places: Mapping[str, Sequence[str]], given: set[str]) -> pd.DataFrame:
    """Pairs of forms of different words whose vectors are nearly one, the nearest first; those ``given`` left out."""
    word_of = {form: word for word, forms in concepts.concepts.items() for form in forms}
    forms, rows = list(word_of), []
    units = concepts.forms.units[concepts.forms.rows(forms)]
    cosines = np.triu(units @ units.T, 1)
    for i, j in np.argwhere(cosines > NEAR).tolist():
        first, second = forms[i], forms[j]
        if word_of[first] == word_of[second] or {first, second} <= given:
            continue
        one, other = places[word_of[first]], places[word_of[second]]
        where, cosine = " and ".join(dict.fromkeys([*one, *other])), float(cosines[i, j])
        rows.append((first, second, where, bool(set(one) & set(other)), 1.0 if cosine > 1 - SAME else cosine))
    return pd.DataFrame(rows, columns=PAIRS).sort_values("cosine", ascending=False, kind="stable", ignore_index=True)


def variants(word: str) -> Iterator[str]:
    """Other spellings of a word: joints, accents, British and American endings, plurals, each in other capitals."""
    bare = "".join(letter for letter in normalize("NFD", word) if not combining(letter))
    joined = (re.sub("[ _-]", joint, word) for joint in ("_", "-", "", " "))
    ends = (pattern.sub(to, word, count=1) for pattern, to in ENDINGS if pattern.search(word))
    for form in dict.fromkeys([word, *joined, normalize("NFC", bare), *ends]):
        capitals = "_".join(part.capitalize() for part in form.split("_"))
        yield from (
            spelling
            for spelling in (form, form.lower(), form.capitalize(), form.upper(), capitals)
            if spelling != word and spelling
        )
