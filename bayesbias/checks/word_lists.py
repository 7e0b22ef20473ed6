"""Checks of word lists against an embedding: coverage, near duplicates, effective numbers, frequency, spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
BLOCK = 1_000
LEAST_WORTH = 2.0  # effective words of a list below which it is little more than one topic
LISTS = ["list", "kind", "asked", "found", "effective", "missing"]
PAIRS = ["first", "second", "lists", "same_list", "cosine"]
SPELLINGS = ["word", "list", "found"]
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
        Pairs of words with a cosine similarity above .9: ``first``, ``second``, the ``lists`` of both, ``same_list``
        (whether one list holds both), ``cosine``; 1 where they have one vector. Pairs within the bundled control lists
        are left out.
    repeated
        Words of more than one list, with these lists.
    spellings
        Missing words that the embedding has under another spelling: ``word``, ``list``, ``found``.
    balance
        The :class:`Balance` of frequencies; None where they are not known, for the reason that a note gives.
    notes
        Missing words, words of several lists, what these lists cannot tell, and what could not be checked.
    bundled
        Control lists that are the bundled ones: ``lists`` has them, and notes on words leave them out.
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
        """Subject and unit of the numbers."""
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
        """The same without the missing words, which a note names."""
        return self.lists.drop(columns="missing")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Lists, near duplicates and other spellings, and the balance of frequencies."""
        tables = {"Lists": self.lists, "Near duplicates": self.duplicates, "Other spellings": self.spellings}
        tables |= {} if self.balance is None else self.balance.tables()
        return {caption: table for caption, table in tables.items() if len(table)}

    def sources(self) -> tuple[Any, ...]:
        """The word lists and the embedding."""
        return Cited(f"word list {self.word_list}"), Cited(f"embedding {self.embedding}")


def check_words(words: AnyWords, kv: Embedding, frequencies: Any = None) -> WordCheck:
    """Check word lists against an embedding before anything is measured.

    Parameters
    ----------
    words
        Word lists, or what :func:`load_words` takes.
    kv
        An embedding, or what :func:`load_embedding` takes.
    frequencies
        Where frequencies of words come from, as in :func:`balance`.

    Returns
    -------
    WordCheck
        Coverage and effective number of words by list, near duplicates, words in several lists, other spellings of
        missing words (capitals, underscores, hyphens, accents, British and American endings, plurals), the balance of
        frequencies, and in notes what these lists cannot tell.

    Examples
    --------
    >>> found = bb.checks.check_words("weat7", "google-news-slice")
    >>> found.table()[["list", "asked", "found"]].head(2)
       list  asked  found
    0  math      8      8
    1  arts      8      8
    """
    lists = load_words(words)
    vectors = opened(kv, lists.every_word(), language=lists.language)
    known = find_lists(vectors, lists)
    table = pd.DataFrame(entries_of(lists, known.concepts)).assign(effective=np.nan)
    notes: list[Note] = []
    balanced = None
    protected = table.loc[table["found"] > 0, "kind"] == "protected"
    if protected.any() and not protected.all():
        balanced = _measured(vectors, lists, table, frequencies, notes)
    bundled = bundled_controls(lists)
    given = {word for name in bundled for word in lists.controls[name]}
    missing = [
        (word, f"{row['kind']} {row['list']}")
        for row in table.to_dict("records")
        for word in row["missing"]
        if row["kind"] != "control" or row["list"] not in bundled
    ]
    forms = {word: [variant for form in lists.concepts[word] for variant in variants(form)] for word, _ in missing}
    keys = find_keys(chain(*forms.values()), vectors.key_to_index)
    held = {word: next((keys[form] for form in own if form in keys), None) for word, own in forms.items()}
    spellings = [(word, where, held[word]) for word, where in missing if held[word] is not None]
    places = _places(lists)
    own: list[dict[Any, Any]] = [
        row for row in table.to_dict("records") if row["kind"] != "control" or row["list"] not in bundled
    ]
    several = {word: where for word, where in places.items() if len(where) > 1}
    named = [f"{word} ({'/'.join(where)})" for word, where in several.items()]
    of_words = missing_words(own, lost=False)
    of_words += [Note("several-lists", rule="count once", words=named)] if named else []
    return WordCheck(
        lists.name,
        str(about(vectors)["name"]),
        table[LISTS],
        _near(known, places, lists.forms, given),
        several,
        pd.DataFrame(spellings, columns=SPELLINGS).drop_duplicates("word", ignore_index=True),
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
        worth = relatedness(distances).effective_words().set_index(["kind", "list"])["effective"]
        keys = pd.MultiIndex.from_frame(table[["kind", "list"]])
        table["effective"] = worth.reindex(keys).to_numpy()
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


def _unsettled(table: pd.DataFrame) -> list[Note]:
    """Notes on what these lists cannot tell, by their numbers of words."""
    protected, attributes = (table[(table["kind"] == "protected") == of] for of in (True, False))
    own, count = attributes[attributes["kind"] == "stereotype"], int(protected["found"].sum())
    few = [f"{row.list} {row.found}" for row in own[own["found"] < FEWEST_STEREOTYPE].itertuples()]
    poor = attributes[attributes["effective"].round(1) < LEAST_WORTH]  # as it is shown
    notes = []
    if count < FEWEST_PROTECTED:
        notes.append(Note("no-value", what="whole-list answer", reason=too_few_words(count)))
    elif few:
        notes.append(Note("short-lists", most=FEWEST_STEREOTYPE - 1, words=few))
    if not attributes["found"].sum():
        notes.append(Note("no-value", what="distances", reason="no attribute word found"))
    for row in poor.to_dict("records"):
        name = f"effective words of {row['list']}"
        notes.append(Note("few-levels", count=round(row["effective"], 1), factor=name))
    return notes


def _places(lists: WordLists) -> dict[str, tuple[str, ...]]:
    """Word to the lists that hold it."""
    places: dict[str, tuple[str, ...]] = {}
    for kind, part in lists.by_kind:
        for name, words in part.items():
            for word in words:
                places[word] = (*places.get(word, ()), f"{kind} {name}")
    return places


def _near(
    concepts: FoundConcepts,
    places_of: Mapping[str, Sequence[str]],
    forms: Mapping[str, Sequence[str]],
    given: set[str],
) -> pd.DataFrame:
    """Pairs of words, or of forms of different words, whose vectors are nearly one, the nearest first.

    Pairs within ``given`` are left out.
    """
    concept_of = {form: name for name, own in concepts.concepts.items() for form in own} if forms else {}
    places = {form: places_of[name] for form, name in concept_of.items()} if forms else places_of
    names = list(concepts.forms.keys if forms else concepts.concepts)
    units = concepts.forms.units if forms else concepts.units(names)
    rows = []
    for begin in range(0, len(names), BLOCK):
        cosines = units[begin : begin + BLOCK] @ units.T
        for i, other in np.argwhere(np.triu(cosines, begin + 1) > NEAR).tolist():
            first, second, cosine = names[begin + i], names[other], float(cosines[i, other])
            if (forms and concept_of[first] == concept_of[second]) or {first, second} <= given:
                continue
            where = " and ".join(dict.fromkeys([*places[first], *places[second]]))
            same = not set(places[first]).isdisjoint(places[second])
            rows.append((first, second, where, same, 1.0 if cosine > 1 - SAME else cosine))
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
