"""How words' distances are correlated in one or several embeddings, estimated at words sampled from vocabularies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import mapping, whole_number
from bayesbias.distances.covariances import Relatedness, relatedness_in_fit
from bayesbias.distances.dataframe import Coverage, DistanceTable, entries_of, provenance_of
from bayesbias.errors import InputError, RelatednessWarning, warn
from bayesbias.numerics.arrays import NOTHING, FloatArray, unit_rows
from bayesbias.numerics.constants import ENOUGH, LEAST_SAMPLE, SAMPLE
from bayesbias.numerics.related import PairSample, near_weights, root_of, sample_pairs, variograms
from bayesbias.results import Note
from bayesbias.vectors import Case, Embedding, find_lists, opened, opened_by_name, rows_of
from bayesbias.vectors.lookup import (
    FoundConcepts,
    VocabularySample,
    local_sample,
    missing_words,
    nearness_of,
    places_of,
    sample_of,
    scrambled,
    waiting_words,
    warn_lost,
)
from bayesbias.words import AnyWords, WordLists, load_words

if TYPE_CHECKING:
    import xarray as xr


KINDS = PROTECTED, STEREOTYPE, CONTROL = "protected", "stereotype", "control"  # of lists
ROWS = 10_000  # vectors that are compared together
# multiplications for the similarities of each two sampled words, beyond which fewer words are taken for them
PRODUCTS = 3e10
COMMON_WORDS = "of an encoder, encode 1,000 common words of the language too"
BESIDE = "are no protected or stereotype words"  # of the words that a sample may hold
SHARED = "shared"  # kind of a sample that embeddings share which were sampled in different ways


def relatedness(
    kv: Embedding | pd.DataFrame | xr.DataTree,
    words: AnyWords | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    case: Case = "as-is",
) -> Relatedness:
    """Estimate the correlation of the distances of similar words from the vectors.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; a distance table or a fit carries its own relatedness.
    words, case
        As in :func:`distance_table`; not with a table or a fit.
    sample
        Words of the vocabulary to sample, none of them a protected or stereotype word. Where the file is ordered by
        frequency (its first words are much shorter than the others, and not in alphabetical order) they follow the
        smoothed distribution of the stereotypes' ranks, each list weighing the same (without stereotypes, that of the
        control words'); elsewhere each word is as likely as any other. Below 400 a warning says that variances are
        made larger.
    seed
        Seed of the sample. A part of an embedding (``load_embedding(path, words=...)``) carries one drawn with seed 0.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> related = bb.relatedness(kv, "weat7")
    >>> related.effective_words()[["list", "words"]].head(2)
       list  words
    0  math      8
    1  arts      8
    """
    import xarray as xr

    if isinstance(kv, pd.DataFrame | xr.DataTree):
        carried = getattr(kv, "relatedness", None) if isinstance(kv, pd.DataFrame) else relatedness_in_fit(kv)
        if not isinstance(carried, Relatedness) or words is not None:
            raise InputError(
                "a table or a fit has its own relatedness, without words: make it with distance_table(kv, words), or "
                "give the embedding"
            )
        return carried
    lists = load_words(words)  # type: ignore[arg-type]  # which refuses None
    looked = find_lists(opened(kv, lists, case), lists, case)
    measured = known_or_refused(measured_relatedness(looked, whole_number(sample, "sample", LEAST_SAMPLE), seed))
    if measured.sampled < ENOUGH:
        warn(few_words(measured), RelatednessWarning)
    held = {*measured.protected_words, *measured.attribute_words}
    warn_lost(missing_words(entries_of(lists, held)), "bb.check_words(words, kv)")
    return measured


def known_or_refused[T](found: T | str) -> T:
    """What was estimated; the reason why there is none is an error."""
    if isinstance(found, str):
        raise InputError(found)
    return found


def few_words(relatedness: Relatedness) -> str:
    """A warning about a small sample."""
    return (
        f"only {relatedness.sampled} words of the vocabulary {BESIDE}, fewer than {ENOUGH}: their covariance is known "
        f"badly, and intervals are made up to {np.sqrt(max(relatedness.inflations)):.2f} times as wide; {COMMON_WORDS}"
    )


def measured_relatedness(
    looked: FoundConcepts, sample: int = SAMPLE, seed: int = 0, drawn: VocabularySample | None = None
) -> Relatedness | str:
    """The relatedness of word lists in an embedding, or the reason why there is none.

    ``drawn`` is a sample that several embeddings share; None draws one from the vocabulary.
    """
    lists, concepts = looked.lists, looked.concepts
    protected = [word for word in lists.group_of if word in concepts]
    entries = tuple(
        (name, kind, found)
        for kind, lists_of_kind in lists.by_kind
        for name, words in lists_of_kind.items()
        if (found := tuple(word for word in words if word in concepts))
    )
    attributes = list(dict.fromkeys(word for _, role, words in entries if role != PROTECTED for word in words))
    seed = whole_number(seed, "seed", least=0, most=None)
    drawn = drawn or _drawn(looked, sample, seed)
    if len(drawn.words) < LEAST_SAMPLE:
        return (
            f"{len(drawn.words)} words of the embedding {BESIDE}, and relatedness needs {LEAST_SAMPLE}: give the whole "
            "embedding, or load the words of the lists from it with load_embedding(path, words=lists), which keeps a "
            f"sample of the others; {COMMON_WORDS}"
        )
    vectors = unit_rows(drawn.vectors)
    everywhere = np.ones(len(vectors)) if drawn.everywhere is None else drawn.everywhere.astype(float)
    everywhere /= everywhere.mean()
    mean = everywhere @ vectors / len(vectors)
    centre = mean.astype(np.float32).astype(float)
    centred = unit_rows(vectors - centre)
    own = [looked.units(words) for words in (protected, attributes)]
    for role, units in zip(("protected", "attribute"), own, strict=True):
        blocks = (units[begin : begin + ROWS] for begin in range(0, len(units), ROWS))
        if len(units) and not any(np.abs((vectors - vectors[0]) @ block.T).max() > NOTHING for block in blocks):
            return f"each {role} word is as far from all words outside of the lists: look at where vectors come from"
    # what tables carry is in half precision, and all else follows from that
    half = [units.astype(np.float16) for units in own]
    apart = -(vectors - mean).T
    scatter = apart.astype(np.float32)
    if len(protected) <= len(apart):
        scatter = (half[0].astype(float) @ apart).astype(np.float16)
    fields = _list_fields(entries, attributes, half[1], vectors, everywhere)
    pairs = sample_pairs(centred, np.random.default_rng([seed, 1]))
    curve: FloatArray = variograms(fields, pairs, everywhere).mean(axis=0)
    several = [(i, form) for i, word in enumerate(attributes) if len(concepts[word]) > 1 for form in concepts[word]]
    keys = [looked.forms.keys[concepts[word][0]] for word in (*protected, *attributes)]
    result = Relatedness(
        embedding=looked.about,
        kind=drawn.kind,
        seed=seed,
        sample_words=drawn.words,
        lists=entries,
        protected_words=tuple(protected),
        attribute_words=tuple(attributes),
        protected=half[0],
        attributes=half[1],
        centre=centre,
        scatter=scatter,
        pairs=pairs,
        protected_curve=curve,
        ranks=np.array([drawn.places[key] for key in (*drawn.words, *keys)], np.int32) if drawn.places else None,
        forms=looked.forms.units[looked.forms.rows(form for _, form in several)].astype(np.float16)
        if several
        else None,
        form_of=np.array([place for place, _ in several], dtype=np.int32) if several else None,
        sample=vectors.astype(np.float16),
        everywhere=None if drawn.everywhere is None else everywhere.astype(np.float32),
    )
    if not protected or not (lists_near := result.stereotype_nearness()):
        return result
    at = (vectors - mean) @ half[0].mean(axis=0, dtype=float)
    near = near_weights(at, [np.array(list(words.values())) for words in lists_near.values()])
    return replace(result, near=near.astype(np.float32))


def _list_fields(
    entries: Sequence[tuple[str, str, tuple[str, ...]]],
    words: Sequence[str],
    units: NDArray[np.float16],
    vectors: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Standardised products (k, N) of sampled vectors with what tells attribute lists apart."""
    place = {word: i for i, word in enumerate(words)}
    by_kind = {kind: [own for _, role, own in entries if role == kind] for kind in (STEREOTYPE, CONTROL)}
    # one list alone does not tell how distances to one differ from those to another
    compared = by_kind[STEREOTYPE] + (by_kind[CONTROL] if len(by_kind[STEREOTYPE]) < 2 else [])
    means = np.stack([units[[place[word] for word in own]].mean(axis=0, dtype=float) for own in compared])
    # what several lists share says nothing of how distances to one list differ from those to another
    for rows in (means - means.mean(axis=0) if len(means) > 1 else means, units[:ROWS].astype(float)):
        fields = rows @ vectors.T
        fields -= (fields @ weights / len(vectors))[:, None]
        spread = np.sqrt(fields**2 @ weights / len(vectors))
        if (known := spread > NOTHING).any():  # else lists have one mean, or words that cancel out, and words tell it
            break
    return fields[known] / spread[known, None]


def _drawn(looked: FoundConcepts, sample: int, seed: int) -> VocabularySample:
    """The sample of an embedding, or of the one that an embedding is a part of."""
    kv, own, part = looked.kv, _keys_beside(looked), sample_of(looked.kv)
    if part is not None:
        codes = np.array([i for i, word in enumerate(part.words) if word not in own], dtype=np.intp)
        waits = scrambled([part.words[code] for code in codes.tolist()], seed)
        rows = codes[np.sort(np.argsort(waits, kind="stable")[:sample])]
        sampled = tuple(part.words[row] for row in rows.tolist())
        weights = None if part.everywhere is None else part.everywhere[rows]
        return replace(part, words=sampled, vectors=part.vectors[rows], everywhere=weights)
    followed = [rows_of(kv, keys) for words in looked.lists.followed.values() if (keys := looked.keys(words))]
    waiting = waiting_words(kv.index_to_key, own, sample, seed, followed)
    rows, [vectors], weights = local_sample(waiting, [kv.vectors.__getitem__], [nearness_of(looked)], sample)
    sampled = tuple(kv.index_to_key[row] for row in rows.tolist())
    return VocabularySample(sampled, vectors, waiting.kind, len(kv.index_to_key), places_of(kv), weights)


def _keys_beside(looked: FoundConcepts) -> set[str]:
    """Keys of the protected words and of the lists that a sample follows: no sample holds them."""
    lists = looked.lists
    return {*looked.keys(lists.group_of), *(key for words in lists.followed.values() for key in looked.keys(words))}


def share_sample(tables: Mapping[str, pd.DataFrame], embeddings: Mapping[str, Embedding]) -> dict[str, DistanceTable]:
    """Distance tables whose relatedness is estimated at the same words of all embeddings.

    Tables with relatedness that were made one by one are sampled each for itself, and samples of different vocabularies
    share few words. :func:`distance_tables` makes tables with a shared sample.

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
    tables = mapping(tables, "tables", "distance tables", DistanceTable)
    kvs = opened_by_name(mapping(embeddings, "embeddings", "embeddings"))
    carried, looked = {name: provenance_of(table) for name, table in tables.items()}, {}
    for name, each in carried.items():
        related = known_or_refused(each.relatedness or f"the table of {name} carries no relatedness")
        record = each.coverage or Coverage(name, [])
        protected, stereotypes, controls = (
            {own: words for own, role, words in related.lists if role == kind} for kind in KINDS
        )
        lists = WordLists(
            record.word_list, protected, stereotypes, controls, forms=record.forms, language=record.language
        )
        looked[name] = find_lists(kvs[name], lists, "fallback" if record.case == "fallback" else "as-is")
    drawn = known_or_refused(draws_for(list(looked.values())))
    return {
        name: DistanceTable(tables[name], relatedness=known_or_refused(measured_relatedness(found, drawn=own)))
        for (name, found), own in zip(looked.items(), drawn, strict=True)
    }


def draws_for(looked: Sequence[FoundConcepts]) -> list[VocabularySample] | str:
    """Samples of several embeddings at the same words, for the word lists of each; or why there are none.

    The words of all lists are not sampled; where files are ordered by frequency, the sample follows the ranks of
    the words of attribute lists, and in all files how near those of stereotypes are to the protected words.
    """
    embeddings, keys = [found.kv for found in looked], set[str]().union(*map(_keys_beside, looked))
    lists = [found.keys(words) for found in looked for words in found.lists.followed.values()]
    parts, places = [sample_of(kv) for kv in embeddings], [dict(places_of(kv)) for kv in embeddings]
    held = [kv.index_to_key if part is None else part.words for kv, part in zip(embeddings, parts, strict=True)]
    common = set(held[0]).intersection(*held[1:])
    common |= {word for words in lists for word in words if all(word in kv.key_to_index for kv in embeddings)}
    if len(common - keys) < LEAST_SAMPLE:
        return f"the vocabularies share {len(common - keys)} words that {BESIDE}, and {LEAST_SAMPLE} are needed"
    ordered = [place for place in places if place]
    # a word's place among the common ones is by its mean place in the files that are ordered, in logarithms
    order = sorted(common)
    if ordered:
        order.sort(key=lambda word: sum(np.log1p(place.get(word, len(place))) for place in ordered))
    place_of = {word: place for place, word in enumerate(order)}
    followed = [np.array([place_of[word] for word in words if word in place_of], dtype=np.intp) for words in lists]
    waiting = waiting_words(order, keys, SAMPLE, 0, followed)

    def vectors_of(number: int, rows: NDArray[np.intp]) -> NDArray[np.floating]:
        kv, part, words = embeddings[number], parts[number], [order[row] for row in rows.tolist()]
        if part is None:
            own: NDArray[np.floating] = kv.vectors[rows_of(kv, words)]
            return own
        row_of = {word: row for row, word in enumerate(part.words)}
        return part.vectors[[row_of[word] for word in words]]

    readers = [partial(vectors_of, number) for number in range(len(embeddings))]
    rows, vectors, weights = local_sample(waiting, readers, [nearness_of(found) for found in looked], SAMPLE)
    words = tuple(order[row] for row in rows.tolist())
    if len(words) < LEAST_SAMPLE:
        return f"{len(words)} words of the vocabularies have a direction in each of them, and {LEAST_SAMPLE} are needed"
    for part in parts:
        if part is not None and part.everywhere is not None:
            # words wait equally long in all samples: one that is in several is the rarest of these
            known = dict(zip(part.words, part.everywhere.tolist(), strict=True))
            weights = np.maximum(weights, [known.get(word, 1.0) for word in words])
    return [
        VocabularySample(words, own, waiting.kind, len(order), place, weights)
        for own, place in zip(vectors, places, strict=True)
    ]


def joint_relatedness(related: Sequence[Relatedness], words: Sequence[Sequence[str]]) -> Relatedness | str:
    """One relatedness of the distances in several embeddings, or why there is none.

    The similarity of two words is the mean over the embeddings of their similarities: the product of their concatenated
    centred unit vectors. Debiased copies of one of the embeddings do not count: what was taken off the vectors is part
    of how similar two words are, and it is what changes. The result has the protected words of one embedding after
    those of another, each with the number of its embedding.
    """
    first = related[0]
    if any(each.sample is None for each in related):
        return "a table was made without the vectors of its sampled words"
    if len({each.form_of is not None and (each.attribute_words, each.form_of.tobytes()) for each in related}) > 1:
        return "attribute words have several forms, which differ between embeddings"
    shared = set(first.sample_words).intersection(*(each.sample_words for each in related[1:]))
    if len(shared) < LEAST_SAMPLE:
        return (
            f"the samples of the vocabularies share {len(shared)} words, and {LEAST_SAMPLE} are needed: make the "
            "tables together with distance_tables, or give them a common sample with checks.share_sample"
        )
    sampled = [word for word in first.sample_words if word in shared]
    places = [pd.Index(each.sample_words).get_indexer(pd.Index(sampled)) for each in related]
    chosen = [
        pd.Index(each.protected_words).get_indexer(pd.Index(own)) for each, own in zip(related, words, strict=True)
    ]
    # words wait equally long in all samples: one that is in several is the rarest of these
    everywhere = np.max([e.everywhere_weights[columns] for e, columns in zip(related, places, strict=True)], axis=0)
    scatter = np.concatenate(
        [each.distances(rows)[:, columns] for each, rows, columns in zip(related, chosen, places, strict=True)]
    )
    scatter -= (scatter @ everywhere / everywhere.sum())[:, None]
    # a debiased copy of an embedding has its name, and that of the method
    copied = tuple(f"{each.embedding.get('name')} (" for each in related if not each.embedding.get("debiasing"))
    counted = [
        (each, each.sample[columns])
        for each, columns in zip(related, places, strict=True)
        if each.sample is not None
        and not (each.embedding.get("debiasing") and str(each.embedding.get("name")).startswith(copied))
    ]
    attributes = list(dict.fromkeys(word for each in related for word in each.attribute_words))
    protected = list(dict.fromkeys(word for own in words for word in own))
    vectors = _joined([each for each, _ in counted], attributes, protected)
    place = {word: len(attributes) + i for i, word in enumerate(protected)}
    near = pd.DataFrame(
        [
            (name, word, value, len(own))
            for each, own in zip(related, chosen, strict=True)
            for name, values in each.stereotype_nearness(own).items()
            for word, value in values.items()
        ],
        columns=["list", "word", "value", "rows"],
    )
    near["value"] *= near["rows"]
    total = near.groupby(["list", "word"], sort=False)[["value", "rows"]].sum()
    nearness = [own.to_numpy() for _, own in (total["value"] / total["rows"]).groupby("list", sort=False)]
    return replace(
        first,
        lists=tuple(
            (name, kind, tuple(f"{word} {number}" for word in listed if word in own) if kind == PROTECTED else listed)
            for number, (each, own) in enumerate(zip(related, words, strict=True))
            for name, kind, listed in each.lists
            if kind == PROTECTED or number == 0
        ),
        kind=first.kind if len({each.kind for each in related}) == 1 else SHARED,
        sample_words=tuple(sampled),
        protected_words=tuple(f"{word} {number}" for number, own in enumerate(words) for word in own),
        attribute_words=tuple(attributes),
        protected=vectors[[place[word] for own in words for word in own]],
        attributes=vectors[: len(attributes)],
        centre=np.zeros(vectors.shape[1]),
        scatter=scatter,
        pairs=_pairs([each.centred(own) for each, own in counted], first.seed),
        protected_curve=np.mean([each.protected_curve for each in related], axis=0),
        ranks=None,
        forms=None if first.forms is None else vectors[len(attributes) + len(protected) :],
        sample=None,
        near=near_weights(-scatter.mean(axis=0), nearness).astype(np.float32) if nearness else None,
        everywhere=everywhere.astype(np.float32),
    )


def few_shared(joint: Relatedness) -> tuple[Note, ...]:
    """A note where the embeddings' samples share few words."""
    return (Note("shared-words", words=joint.sampled, enough=ENOUGH),) if joint.sampled < ENOUGH else ()


def _pairs(units: Sequence[NDArray[np.float32]], seed: int) -> PairSample:
    """Pairs of sampled words with their similarity over all embeddings."""
    size, most = len(units[0]), int(np.sqrt(PRODUCTS / sum(each.shape[1] for each in units)))
    chosen = np.arange(size)
    if size > most:
        chosen = np.sort(np.random.default_rng([seed, 2]).choice(size, most, replace=False))
    joined = np.concatenate([each[chosen] for each in units], axis=1)
    joined /= np.sqrt(len(units), dtype=np.float32)
    pairs = sample_pairs(joined, np.random.default_rng([seed, 1]))
    return replace(pairs, first=chosen[pairs.first], second=chosen[pairs.second])


def _joined(related: Sequence[Relatedness], attributes: Sequence[str], protected: Sequence[str]) -> NDArray[np.float16]:
    """Unit vectors of words, and of the forms of concepts, whose products are mean similarities over embeddings.

    A word that some embeddings lack has the mean over those that have it. Only products matter: a root of their matrix
    stands for the concatenated vectors, of which there may be thousands of dimensions.
    """
    size = len(attributes) + len(protected) + (0 if related[0].forms is None else len(related[0].forms))
    products, length = np.zeros((size, size)), np.zeros(size)
    for each in related:
        own = np.zeros((size, len(each.centre)), dtype=np.float32)
        for begin, names, known, vectors in (
            (0, attributes, each.attribute_words, each.units),
            (len(attributes), protected, each.protected_words, each.centred(each.protected)),
        ):
            _, rows, columns = np.intersect1d(names, known, return_indices=True)
            own[begin + rows] = vectors[columns]
        if each.form_units is not None:
            own[len(attributes) + len(protected) :] = each.form_units
        products += own @ own.T
        length += (own**2).sum(axis=1)
    products /= np.sqrt(np.outer(length, length))
    units: FloatArray = root_of(products)
    return units.astype(np.float16)
