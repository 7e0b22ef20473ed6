"""Several embeddings: words at which all are sampled, and one relatedness of the distances in all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._core.related import PairSample, root_of, sample_pairs
from bayesbias._core.vectors import FloatArray
from bayesbias.distances.covariances import ENOUGH, KEY, LEAST, Relatedness, packed, relatedness_of
from bayesbias.distances.storage import coverage_from
from bayesbias.distances.vocabularies import PROTECTED, Drawn, resampled
from bayesbias.embeddings import Case, Embedding, find_concepts, opened
from bayesbias.embeddings.samples import SAMPLE, drawn_rows, ordered_by_frequency, sample_of
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WordLists

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

PRODUCTS = 3e10
"""Multiplications for the similarities of each two sampled words, beyond which fewer words are taken for them."""
SHARED = "shared"
"""Kind of a sample that embeddings share which were sampled in different ways."""


def share_sample(tables: Mapping[str, pd.DataFrame], embeddings: Mapping[str, Embedding]) -> dict[str, pd.DataFrame]:
    """Distance tables whose relatedness is estimated at the same words of all embeddings.

    Tables that were made one by one are sampled each for itself, and samples of different vocabularies share few
    words. :func:`distance_tables` makes tables with a shared sample.

    Parameters
    ----------
    tables
        Distance tables of different embeddings by name, each with relatedness.
    embeddings
        The embedding of each table, under the same names.

    Returns
    -------
    dict of DataFrame
        The same distances; ``attrs["relatedness"]`` is of up to 3,000 words that all vocabularies hold and that are in
        no list.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "hard", definitional="gender_pairs")
    >>> embeddings = {"before": kv, "after": debiased}
    >>> tables = {name: bb.distance_table(each, "weat7") for name, each in embeddings.items()}
    >>> shared = bb.checks.share_sample(tables, embeddings)
    >>> len(set(bb.relatedness(shared["before"]).sample_words) ^ set(bb.relatedness(shared["after"]).sample_words))
    0
    """
    if not isinstance(tables, Mapping) or not isinstance(embeddings, Mapping) or set(tables) != set(embeddings):
        raise InputError(
            f"tables is {shown(tables)} and embeddings is {shown(embeddings)}: give two mappings with the same names, "
            "one to distance tables and one to their embeddings"
        )
    related = {name: relatedness_of(table) for name, table in tables.items()}
    if lacking := [str(name) for name, each in related.items() if each is None]:
        raise InputError(f"the tables of {listed(lacking)} carry no relatedness: make them with distance_table")
    vectors = {name: opened(embeddings[name]) for name in tables}
    known = {name: each for name, each in related.items() if each is not None}
    keys = {key for name, table in tables.items() for key in _keys(table, known[name])}
    lists = [words for each in known.values() for _, kind, words in each.lists if kind != PROTECTED]
    drawn = shared_draws([vectors[name] for name in tables], keys, lists)
    if isinstance(drawn, str):
        raise InputError(drawn)
    shared = {}
    for name, own in zip(tables, drawn, strict=True):
        table = tables[name].copy()
        table.attrs[KEY] = packed(resampled(known[name], own))
        shared[name] = table
    return shared


def _keys(table: pd.DataFrame, related: Relatedness) -> set[str]:
    """The words of a table's lists as they are written in its embedding."""
    keys = {word for _, _, words in related.lists for word in words}
    if "coverage" in table.attrs:
        record = coverage_from(table.attrs["coverage"])
        keys |= {*record.substituted.values(), *(form for forms in record.forms.values() for form in forms)}
    return keys


def draws_for(
    embeddings: Sequence[KeyedVectors], lists: Sequence[Sequence[WordLists]], case: Case
) -> list[Drawn] | str:
    """Samples of several embeddings at the same words, for the word lists of each; or why there are none."""
    keys, followed = set[str](), list[tuple[str, ...]]()
    for kv, own in zip(embeddings, lists, strict=True):
        for each in own:
            looked = find_concepts(kv, each.concepts, case, each.language)
            keys |= set(looked.forms.keys.values())
            for words in (*each.stereotypes.values(), *each.controls.values()):
                forms = [form for word in words for form in looked.concepts.get(word, ())]
                followed.append(tuple(looked.forms.keys[form] for form in forms))
    return shared_draws(embeddings, keys, followed)


def shared_draws(
    embeddings: Sequence[KeyedVectors], keys: Collection[str], lists: Sequence[Sequence[str]], sample: int = SAMPLE
) -> list[Drawn] | str:
    """Samples of several embeddings at the same words, or why there are none.

    Parameters
    ----------
    embeddings
        Loaded, whole or in part.
    keys
        Words that are not sampled: those of all lists.
    lists
        Words of each attribute list, whose ranks the sample follows where files are ordered by frequency.
    sample
        Words to sample.
    """
    parts = [sample_of(kv) for kv in embeddings]
    vocabularies = [kv.index_to_key if part is None else part.words for kv, part in zip(embeddings, parts, strict=True)]
    places = [
        (dict(kv.key_to_index) if ordered_by_frequency(kv.index_to_key) else {}) if part is None else dict(part.places)
        for kv, part in zip(embeddings, parts, strict=True)
    ]
    common = (
        set(vocabularies[0])
        .intersection(*vocabularies[1:])
        .union(word for words in lists for word in words if all(word in kv.key_to_index for kv in embeddings))
    )
    if len(common - set(keys)) < LEAST:
        return f"the vocabularies share {len(common - set(keys))} words outside of the lists, and {LEAST} are needed"
    ordered = [place for place in places if place]
    # a word's place among the common ones is by its mean place in the files that are ordered, in logarithms
    order = sorted(common)
    if ordered:
        order.sort(key=lambda word: sum(np.log1p(place.get(word, len(place))) for place in ordered))
    place_of = {word: place for place, word in enumerate(order)}
    followed = [np.array([place_of[word] for word in words if word in place_of], dtype=np.intp) for words in lists]
    rows, kind = drawn_rows(order, set(keys), sample, 0, followed)
    words = [order[row] for row in rows.tolist()]
    vectors = [_vectors(kv, words) for kv in embeddings]
    directed = np.all([np.isfinite(own).all(axis=1) & own.any(axis=1) for own in vectors], axis=0)
    chosen = np.flatnonzero(directed)[:sample]
    sampled = tuple(words[i] for i in chosen.tolist())
    return [Drawn(sampled, own[chosen], kind, place) for own, place in zip(vectors, places, strict=True)]


def _vectors(kv: KeyedVectors, words: Sequence[str]) -> NDArray[np.floating]:
    """Vectors of words of an embedding, or of the one that it is a part of."""
    part = sample_of(kv)
    if part is None:
        vectors: NDArray[np.floating] = kv.vectors[[kv.key_to_index[word] for word in words]]
        return vectors
    place = {word: row for row, word in enumerate(part.words)}
    return part.vectors[[place[word] for word in words]]


def joint_relatedness(related: Sequence[Relatedness], words: Sequence[Sequence[str]]) -> Relatedness | str:
    """One relatedness of the distances in several embeddings, or why there is none.

    The similarity of two words is the mean over the embeddings of their similarities, so that the order of the
    embeddings does not matter: the product of their concatenated centred unit vectors.

    Parameters
    ----------
    related
        Of each embedding.
    words
        Protected words of each embedding; the result has those of one embedding after those of another, each with the
        number of its embedding.
    """
    first = related[0]
    samples = [each.sample_units for each in related]
    if any(units is None for units in samples):
        return "a table was made without the vectors of its sampled words"
    if any((each.form_of is None) != (first.form_of is None) for each in related) or (
        first.form_of is not None and len({(each.attribute_words, each.form_of.tobytes()) for each in related}) > 1  # type: ignore[union-attr]
    ):
        return "attribute words have several forms, which differ between embeddings"
    shared = set(first.sample_words).intersection(*(each.sample_words for each in related[1:]))
    if len(shared) < LEAST:
        return (
            f"the samples of the vocabularies share {len(shared)} words, and {LEAST} are needed: make the tables "
            "together with distance_tables, or give them a common sample with checks.share_sample"
        )
    sampled = [word for word in first.sample_words if word in shared]
    rows, units = [], []
    for each, own_units, chosen in zip(related, samples, words, strict=True):
        place = {word: i for i, word in enumerate(each.sample_words)}
        columns = [place[word] for word in sampled]
        own = [each.protected_words.index(word) for word in chosen]
        scatter = each.distances(np.array(own))[:, columns]
        rows.append(scatter - scatter.mean(axis=1, keepdims=True))
        if own_units is not None:
            units.append(own_units[columns])
    attributes = list(dict.fromkeys(word for each in related for word in each.attribute_words))
    protected = list(dict.fromkeys(word for chosen in words for word in chosen))
    vectors = _joined(related, attributes, protected)
    place = {word: len(attributes) + i for i, word in enumerate(protected)}
    forms = None if first.form_of is None else vectors[len(attributes) + len(protected) :]
    return replace(
        first,
        lists=tuple(
            (name, kind, tuple(f"{word} {number}" for word in listed_words if word in chosen))
            if kind == PROTECTED
            else (name, kind, listed_words)
            for number, (each, chosen) in enumerate(zip(related, words, strict=True))
            for name, kind, listed_words in each.lists
            if kind == PROTECTED or number == 0
        ),
        kind=first.kind if len({each.kind for each in related}) == 1 else SHARED,
        sample_words=tuple(sampled),
        protected_words=tuple(f"{word} {number}" for number, chosen in enumerate(words) for word in chosen),
        attribute_words=tuple(attributes),
        protected=vectors[[place[word] for chosen in words for word in chosen]],
        attributes=vectors[: len(attributes)],
        centre=np.zeros(vectors.shape[1]),
        scatter=np.concatenate(rows),
        pairs=_pairs(units, first.seed),
        protected_curve=np.mean([each.protected_curve for each in related], axis=0),
        ranks=None,
        forms=forms,
        sample=None,
    )


def few_shared(joint: Relatedness) -> tuple[str, ...]:
    """A note where the embeddings' samples share few words."""
    if joint.sampled >= ENOUGH:
        return ()
    return (
        f"The samples of the vocabularies share {joint.sampled} words, fewer than {ENOUGH}, so that errors are made "
        "larger: distance_tables measures embeddings at the same words.",
    )


def _pairs(units: Sequence[NDArray[np.float32]], seed: int) -> PairSample:
    """Pairs of sampled words with their similarity over all embeddings."""
    size, dimensions = len(units[0]), sum(each.shape[1] for each in units)
    most = int(np.sqrt(PRODUCTS / dimensions))
    chosen = np.arange(size)
    if size > most:
        chosen = np.sort(np.random.default_rng([seed, 2]).choice(size, most, replace=False))
    joined = np.concatenate([each[chosen] for each in units], axis=1) / np.sqrt(len(units))
    pairs = sample_pairs(joined, np.random.default_rng([seed, 1]))
    return replace(pairs, first=chosen[pairs.first], second=chosen[pairs.second])


def _joined(related: Sequence[Relatedness], attributes: Sequence[str], protected: Sequence[str]) -> NDArray[np.float16]:
    """Unit vectors of words, and of the forms of concepts, whose products are mean similarities over embeddings.

    A word that some embeddings lack has the mean over those that have it. Only products matter: a root of their matrix
    stands for the concatenated vectors, of which there may be thousands of dimensions.
    """
    first = related[0]
    size = len(attributes) + len(protected) + (0 if first.forms is None else len(first.forms))
    products, length = np.zeros((size, size)), np.zeros(size)
    for each in related:
        own = np.zeros((size, each.centre.shape[0]), dtype=np.float32)
        begin = 0
        for names, known, vectors in (
            (attributes, each.attribute_words, each.units),
            (protected, each.protected_words, each.protected_units),
        ):
            place = {word: i for i, word in enumerate(known)}
            rows = [i for i, word in enumerate(names) if word in place]
            own[[begin + i for i in rows]] = vectors[[place[names[i]] for i in rows]]
            begin += len(names)
        if each.form_units is not None:
            own[begin:] = each.form_units
        products += own @ own.T
        length += (own**2).sum(axis=1)
    products /= np.sqrt(np.outer(length, length))
    units: FloatArray = root_of(products)
    return units.astype(np.float16)
