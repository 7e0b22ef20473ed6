"""Long tables of cosine distances, of embeddings and of words in sentences, and tables that are adjusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, mapping, one_of, whole_number
from bayesbias._support.progress import progress
from bayesbias.distances.adjustment import (
    FREQUENCY,
    Attribute,
    Frequencies,
    by_slope,
    by_vocabulary,
    check_used,
    control_slope,
    word_values,
)
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import (
    ADJUSTED_FOR,
    ATTRIBUTE_TEMPLATE,
    COLUMNS,
    PAIR,
    TEMPLATE,
    Coverage,
    DistanceTable,
    ListEntry,
    limits_of,
    list_entry,
    provenance_of,
    text_where_few,
)
from bayesbias.distances.distances import Distances
from bayesbias.distances.vocabularies import draws_for, few_words, measured_relatedness
from bayesbias.errors import BayesbiasWarning, InputError, RelatednessWarning, listed, many, warn
from bayesbias.numerics.constants import ENOUGH
from bayesbias.results import stored
from bayesbias.vectors import (
    TWINS,
    Case,
    Embedding,
    Twins,
    find_keys,
    find_lists,
    opened,
    opened_by_name,
    twins_within,
)
from bayesbias.vectors.contextual import CENTRES, PAIRINGS, SAME, ContextVectors
from bayesbias.vectors.lookup import FoundConcepts, VocabularySample, first_keys, subwords_of, warn_lost
from bayesbias.words import GENDERED, AnyWords, WordLists, bundled_controls, in_order, load_words, subtag

TOLD = ("encoder", "representation", "source", "templates", "centre", "all_but_top")  # what a table says of its vectors


def distance_table(
    kv: Embedding | ContextVectors,
    words: AnyWords,
    keep_duplicates: bool = False,
    case: Case = "as-is",
    relatedness: bool = True,
    twins: Twins = "once",
    pairing: str = SAME,
    centre: str = "none",
    all_but_top: int = 0,
) -> DistanceTable:
    """Cosine distances between protected words and attribute words, one row a pair.

    The distance of a concept with several forms is the mean over the pairs of forms that are found. Words that the
    embedding lacks are left out.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; or vectors of words in sentences (:func:`encode`).
    words
        Word lists, or what :func:`load_words` takes.
    keep_duplicates
        Count a pair as often as its words are listed, as the published tables do. By default a pair counts once, for
        the first of associated, different, human, neutral, other control lists.
    case
        ``"as-is"`` looks words up as they are written, phrases also with other blanks (``New_York``);
        ``"fallback"`` also tries lower case, capital first letters and capitals, by the rules of the lists' language.
    relatedness
        Whether the table carries how the distances of similar words are correlated, as :func:`relatedness` estimates
        it. Without it, models take different words for unrelated.
    twins
        Words of one list that have one vector (cosine of 1 - 1e-6 and more, as in pruned embeddings) are one word:
        ``"once"`` takes the first, ``"keep"`` all. :func:`coverage` names them.
    pairing
        Of words in sentences: both words of a pair in the ``"same"`` template, or in different ones (``"crossed"``).
        Equal templates make all sentences similar, and every distance smaller.
    centre, all_but_top
        Of words in sentences: the origin and the components that are taken out, as in
        :meth:`ContextVectors.centred <bayesbias.vectors.contextual.ContextVectors.centred>`.

    Returns
    -------
    DistanceTable
        A DataFrame that carries its ``coverage`` and ``relatedness``. Columns ``protected_word``, ``group``,
        ``attribute_word``, ``attribute_class`` (the group whose stereotype it is, or the control list), ``connection``
        (associated, different, or the control list) and ``distance`` (cosine distance in [0, 2]); from 100,000 rows on
        words and labels are categories. Of words in sentences there is one row for each template of a pair, named in
        ``template`` (crossed ones have ``attribute_template`` too), of words that suit all templates.

    Warns
    -----
    CoverageWarning
        The embedding lacks more than a fifth of the words of a list, or a word that names its list.
    RelatednessWarning
        Fewer than 400 words are no protected or stereotype words: relatedness is then known badly, and below 30 there
        is none. Common words of the language, encoded too, are the remedy.
    BayesbiasWarning
        The language has grammatical gender, and no word has several forms, or not all forms are found: distances may
        then speak of grammar (Zhou et al. 2019, https://doi.org/10.18653/v1/D19-1531).

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> len(table)
    2256
    >>> round(float(table["distance"].iloc[0]), 3)
    0.962
    """
    one_of(twins, TWINS, "twins")
    flag(keep_duplicates, "keep_duplicates")
    flag(relatedness, "relatedness")
    if isinstance(kv, WordLists):
        raise InputError(f"kv holds the word lists {kv.name!r}: an embedding comes first, distance_table(kv, words)")
    lists = load_words(words)
    one_of(pairing, tuple(PAIRINGS), "pairing")
    one_of(centre, CENTRES, "centre")
    all_but_top = whole_number(all_but_top, "all_but_top", least=0)
    contextual = isinstance(kv, ContextVectors)
    if keep_duplicates if contextual else (pairing != SAME or centre != "none" or all_but_top):
        raise InputError("keep_duplicates is for embeddings; pairing, centre, all_but_top are for words in sentences")
    if isinstance(kv, ContextVectors):
        moved = kv.whole().centred(centre, lists, all_but_top)
        means = distance_table(moved.keyed_vectors(pairing), lists, False, case, relatedness, twins)
        return _with_templates(means, moved, lists, pairing, case)
    looked = find_lists(opened(kv, lists, case), lists, case)
    return warned(distances_of(looked, keep_duplicates, relatedness, twins))


def warned(*tables: DistanceTable) -> DistanceTable:
    """The first of some tables, after one warning of the words that they lack."""
    warn_lost(limits_of(table.coverage for table in tables if table.coverage), "bb.coverage(table)")
    return tables[0]


def distance_tables(
    embeddings: Mapping[str, Embedding],
    words: AnyWords | Mapping[str, AnyWords],
    keep_duplicates: bool = False,
    case: Case = "as-is",
    twins: Twins = "once",
) -> dict[str, DistanceTable]:
    """Distance tables of several embeddings, whose relatedness is estimated at the same words of all vocabularies.

    :func:`compare` and :func:`pool` need a sample that the embeddings share, to know how the errors of one embedding's
    distances are correlated with those of another's. Where the vocabularies share fewer than 30 words outside of the
    lists, such as those of several languages, each table is sampled for itself.

    Parameters
    ----------
    embeddings
        Name of each to the embedding, or to what :func:`load_embedding` takes.
    words
        As in :func:`distance_table`, with all other options; or a mapping of the same names to lists, such as those of
        each one's language.

    Examples
    --------
    >>> embeddings = {"google": "google-news-slice", "glove": "glove-50d-slice"}
    >>> tables = bb.distance_tables(embeddings, "weat7")
    >>> {name: len(table) for name, table in tables.items()}
    {'google': 2256, 'glove': 5216}
    """
    given: dict[str, Any] = mapping(embeddings, "embeddings", "embeddings")
    several = isinstance(words, Mapping) and "protected" not in words
    by_name = mapping(words, "words", "word lists") if several else dict.fromkeys(given, words)
    flag(keep_duplicates, "keep_duplicates")
    one_of(twins, TWINS, "twins")
    lists = {name: load_words(by_name[name]) for name in given}
    looked = {name: find_lists(kv, lists[name], case) for name, kv in opened_by_name(given, lists, case).items()}
    drawn = draws_for(list(looked.values()))
    tables = {}
    with progress("measuring distances", len(looked)) as done:
        for number, (name, found) in enumerate(looked.items()):
            own = None if isinstance(drawn, str) else drawn[number]
            tables[name] = distances_of(found, keep_duplicates, True, twins, own)
            done(number + 1)
    warned(*tables.values())
    return tables


def distances_of(
    looked: FoundConcepts,
    keep_duplicates: bool = False,
    relatedness: bool = True,
    twins: Twins = "once",
    drawn: VocabularySample | None = None,
) -> DistanceTable:
    """The distance table of words in an embedding; ``drawn`` is a sample of its vocabulary that others share."""
    entries, asked, concepts = _entries(looked), looked.lists, looked.concepts
    # the words of each list that have the vector of an earlier word of the same list
    same = [
        {"list": name, "kind": kind, "word": word, "first": first}
        for kind, part in asked.by_kind
        for name, words in part.items()
        for word, first in twins_within([word for word in words if word in concepts], looked.duplicates).items()
    ]
    if twins == "once" and same:
        left_out = {(entry["kind"], entry["list"], entry["word"]) for entry in same}
        kept: Any = [
            {name: [word for word in words if (kind, name, word) not in left_out] for name, words in part.items()}
            for kind, part in asked.by_kind
        ]
        lists = replace(asked, **dict(zip(("protected", "stereotypes", "controls"), kept, strict=True)))
        looked = replace(looked, lists=lists)
    lists = looked.lists
    table, own = _measured(looked, keep_duplicates)
    if keep_duplicates and lists.repeats:
        table = table.loc[table.index.repeat(table["protected_word"].map(lists.repeats).fillna(1).astype(int))]
        table = table.reset_index(drop=True)
    measured = measured_relatedness(looked, drawn=drawn) if relatedness else ""
    known, why = (measured, "") if isinstance(measured, Relatedness) else (None, measured)
    by_word = _lists_by_word((lists.stereotypes, lists.controls))
    # concepts of which not all forms are found do not balance grammatical gender
    half = [name for name, forms in lists.forms.items() if 0 < len(concepts.get(name, ())) < len(forms)]
    gendered = subtag(lists.language) in GENDERED and (half or not lists.forms)
    record = Coverage(
        word_list=lists.name,
        lists=entries,
        substituted={word: used for word, used in looked.forms.keys.items() if word != used},
        composed=[word for word, key in looked.forms.keys.items() if key in subwords_of(looked.kv)],
        own_pairs=own,
        in_several_lists={word: names for word, names in by_word.items() if len(names) > 1 and word in concepts},
        repeated_rows=int(table.duplicated(PAIR).sum()) if keep_duplicates else 0,
        kept_duplicates=keep_duplicates,
        source=lists.source,
        doi=lists.doi,
        embedding=looked.about,
        pairs=len(table),
        relatedness=known.drawn if known else why and f"none, because {why}",
        twins=same,
        kept_twins=twins == "keep",
        one_vector=_one_vector(looked),
        labels=dict(lists.labels),
        forms={name: list(concepts[name]) for name in lists.forms if name in concepts},
        gender=(f"not all forms of {listed(half, 5)}" if half else "one form a word") if gendered else "",
        language=lists.language,
        case=looked.case,
        bundled=bundled_controls(asked),
        path=asked.path,
    )
    if known and known.sampled < ENOUGH:
        warn(few_words(known), RelatednessWarning)
    if why:
        warn(
            "the table does not tell how words are related, so that models take different words for unrelated and "
            f"intervals may be too narrow by a factor of 2 and more: {why}",
            RelatednessWarning,
        )
    if record.gender:
        warn(next(note for note in record.notes() if note.code == "gender"), BayesbiasWarning)
    return DistanceTable(table, coverage=record, relatedness=known)


def _one_vector(looked: FoundConcepts) -> list[dict[str, list[str]]]:
    """Sets of words, or of forms, of different lists that have one vector: each with the lists that hold it."""
    first = looked.forms.duplicates
    sets: dict[str, dict[str, list[str]]] = {}
    for word, names in _lists_by_word(part for _, part in looked.lists.by_kind).items() if first else ():
        for form in looked.concepts.get(word, ()):
            sets.setdefault(first.get(form, form), {})[form] = names
    return [words for words in sets.values() if len(words) > 1 and len(set(chain(*words.values()))) > 1]


def _entries(looked: FoundConcepts) -> list[ListEntry]:
    """The coverage of each list, none of which may be lost whole."""
    lists = looked.lists
    entries, lacking, empty = [], [], []
    for kind, part in lists.by_kind:
        for name, words in part.items():
            forms = [form for word in words for form in lists.forms.get(word, (word,))]
            missing = [form for form in forms if form not in looked.forms.keys]
            if missing:
                lacking.append(f"{len(missing)} of {many(len(forms), 'word')} of the {kind} list {name!r}")
            if len(missing) == len(forms):
                empty.append(f"of the {len(forms)} words of the {kind} list {name!r} ({listed(forms, 5)})")
            entries.append(list_entry(name, kind, forms, missing))
    if empty:
        whole = not looked.forms.keys
        what = f"of the {len(lists.every_word())} words" if whole else f"{empty[0]}: take it out or choose other words"
        also = f"; it lacks {listed(lacking)}" if len(lacking) > 1 and not whole else ""
        keys = first_keys(looked.kv, lists.every_word(), looked.case, lists.language)
        raise InputError(f"the embedding holds none {what}; {keys}{also}")
    return entries


def _measured(looked: FoundConcepts, keep_duplicates: bool) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a table, and words that are protected and attribute words."""
    lists, rows = looked.lists, list[tuple[str, str, str, str]]()
    group_of = {word: group for word, group in lists.group_of.items() if word in looked.concepts}
    for group in lists.protected:
        order = [("associated", group, lists.stereotypes.get(group, ()))]
        order += [("different", name, words) for name, words in lists.stereotypes.items() if name != group]
        order += [(name, name, lists.controls[name]) for name in in_order(lists.controls)]
        found = [(group, word, name, how) for how, name, words in order for word in words if word in looked.concepts]
        # a pair in doubt has the first of its connections
        rows += found if keep_duplicates else list({row[1]: row for row in reversed(found)}.values())[::-1]
    listed = pd.DataFrame(rows, columns=["group", "attribute_word", "attribute_class", "connection"])
    words = pd.DataFrame(group_of.items(), columns=["protected_word", "group"])
    # there may be millions of rows: their words are codes
    for table in (listed, words):
        for name in table:
            values = list(lists.protected) if name == "group" else table[name].unique()
            table[name] = pd.Categorical(table[name], pd.Index(values, dtype="str"))
    protected, attributes = (list(each.cat.categories) for each in (words["protected_word"], listed["attribute_word"]))
    distances = np.clip(1.0 - looked.units(protected) @ looked.units(attributes).T, 0.0, 2.0)
    holders: dict[str, list[int]] = {}
    for column, word in enumerate(attributes):
        for key in looked.keys([word]):
            holders.setdefault(key, []).append(column)
    for row, word in enumerate(protected):
        distances[row, [column for key in looked.keys([word]) for column in holders.get(key, ())]] = np.nan
    table = words.merge(listed, on="group")[COLUMNS[:-1]]
    table["distance"] = distances[table["protected_word"].cat.codes, table["attribute_word"].cat.codes]
    own = table.loc[table["distance"].isna(), "protected_word"].unique().tolist()
    table = table.dropna(subset="distance", ignore_index=True) if own else table
    return text_where_few(table), own


def _lists_by_word(parts: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Word to the names of the lists that hold it."""
    names_of: dict[str, list[str]] = {}
    for part in parts:
        for name, words in part.items():
            for word in words:
                names_of.setdefault(word, []).append(name)
    return names_of


def _with_templates(
    table: DistanceTable, vectors: ContextVectors, lists: WordLists, pairing: str, case: Case
) -> DistanceTable:
    """A table of mean distances with one row for each template of each pair."""
    found, carried = _concepts(vectors, lists, case), provenance_of(table)
    words, attributes = (pd.Index(list(found)).get_indexer(pd.Index(table[name].astype(str))) for name in PAIR)
    matrix, present = (np.stack(part) for part in zip(*found.values(), strict=True))
    pairs = table.drop(columns="distance")
    mean = matrix.sum(axis=1) / np.maximum(present.sum(axis=1), 1)[:, None]
    names = vectors.templates or tuple(f"sentence {i + 1}" for i in range(present.shape[1]))
    parts = []
    for i, name in enumerate(names):
        # each sentence of a corpus is compared with the mean over those of the attribute word
        others: list[tuple[str, NDArray[Any], NDArray[np.bool_]]] = [("", mean, np.ones(len(present), dtype=bool))]
        if not vectors.nested:
            others = [
                ("" if j == i else other, matrix[:, j], present[:, j])
                for j, other in enumerate(names)
                if (j == i) == (pairing == SAME)
            ]
        for other, unit, has_template in others:
            rows = np.flatnonzero(present[words, i] & has_template[attributes])
            cosines = (matrix[:, i].astype(float) @ unit.astype(float).T)[words[rows], attributes[rows]]
            columns = {TEMPLATE: name} | ({ATTRIBUTE_TEMPLATE: other} if other else {})
            parts.append(pairs.iloc[rows].assign(distance=np.clip(1 - cosines, 0, 2), **columns))
    result = pd.concat([part for part in parts if len(part)], ignore_index=True)
    facts = {name: getattr(vectors, name) for name in TOLD} | {
        "pairing": "sentences" if vectors.nested else pairing,
        "sentences": len(vectors.texts),
        "means": len(table),
        "notes": stored(vectors.notes),
    }
    # mean cosines live in a space of their own; what is told is the encoder's
    record = carried.coverage or Coverage(lists.name, [])
    embedding = record.embedding | {"dimensions": int(vectors.vectors.shape[1])}
    record = replace(record, pairs=len(result), contexts=facts, embedding=embedding)
    return DistanceTable.carrying(result, replace(carried, coverage=record))


def _concepts(vectors: ContextVectors, lists: WordLists, case: Case) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Vectors (templates, d) of each word, of a concept with several forms their mean, and which templates it has."""
    units, filled = vectors.units(), vectors.filled
    number = {word: i for i, word in enumerate(vectors.words)}
    keys = find_keys(chain(*lists.concepts.values()), number, case, lists.language)
    found = {}
    for name, forms in lists.concepts.items():
        rows = [row for form in forms if form in keys and filled[row := number[keys[form]]].any()]
        if rows:
            count, total = filled[rows].sum(axis=0), units[rows].sum(axis=0)
            mean = np.divide(total, count[:, None], out=np.zeros_like(total), where=count[:, None] > 0)
            found[name] = mean, count > 0
    return found


def adjust(table: pd.DataFrame, by: Attribute = FREQUENCY, frequencies: Frequencies = None) -> DistanceTable:
    """A distance table less what an attribute of its words lets expect.

    With vectors the expectation is a smooth curve for each protected word over the vocabulary's sample; without them,
    or where fewer than 200 sampled words have a value, a common slope that is estimated from the control words, whose
    error travels with the table into the posterior of :func:`fit`. Attribute words without a value are left out.
    ``table.adjustment`` says what was subtracted; adjusted distances can lie outside of [0, 2].

    Parameters
    ----------
    table
        A distance table as it was measured.
    by, frequencies
        ``"frequency"``, ``"length"`` (letters), or an attribute of your own: a mapping of its name to a mapping of
        words to numbers; and where frequencies come from, as in :func:`balance`.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> from bayesbias.distances import adjust
    >>> adjusted = adjust(table, by="length")
    >>> adjusted.adjustment.how
    'vocabulary'
    >>> post = bb.fit(adjusted, seed=0)
    >>> post.attrs["adjust"]
    'length'
    """
    check_used(by if by == FREQUENCY else None, frequencies)
    distances, carried = Distances.read(table), provenance_of(table)
    if carried.adjustment is not None:
        raise InputError(f"the table is {carried.moved} already: adjust the table as it was measured")
    related = distances.relatedness
    attributes = table["attribute_word"].astype(str)
    distinct = attributes.unique().tolist()
    values = word_values(
        [*distinct, *(() if related is None else related.sample_words)], by, frequencies, related, distances.language
    )
    every = pd.Series(values.of(distinct), index=distinct)
    known = every.dropna()
    rows = table[attributes.isin(known.index).to_numpy()]
    lists = ["connection", "attribute_class"] if "attribute_class" in table else ["connection"]
    held, left = (set(each[lists].astype(str).itertuples(index=False, name=None)) for each in (table, rows))
    if lost := sorted({name for name, *_ in held - left}):
        raise InputError(f"{values.source} has {values.name} for no word of {listed(lost)}: give more words")
    made, changed = by_vocabulary(related, values, known) or (None, related)
    made = made or by_slope(values, control_slope(rows, values), known, rows["protected_word"].astype(str))
    adjustment = replace(made, left_out=tuple(every.index[every.isna()]), before=related)
    moved = ", ".join([*filter(None, [carried.moved]), f"{ADJUSTED_FOR}{values.name}"])
    result = rows.assign(distance=rows["distance"] - adjustment.of_rows(rows))
    return DistanceTable.carrying(result, replace(carried, relatedness=changed, adjustment=adjustment, moved=moved))


def as_measured(table: DistanceTable) -> DistanceTable:
    """The rows of an adjusted table with their distances before."""
    carried = provenance_of(table)
    if (adjustment := carried.adjustment) is None:
        return table
    rows = table.assign(distance=table["distance"] + adjustment.of_rows(table))
    moved = carried.moved.removesuffix(f"{ADJUSTED_FOR}{adjustment.attribute.name}").removesuffix(", ")
    return DistanceTable.carrying(rows, replace(carried, relatedness=adjustment.before, adjustment=None, moved=moved))
