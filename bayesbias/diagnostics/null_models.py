"""What a statistic is worth where there is no bias: stereotype words replaced by random words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._checks import one_of, whole_number
from bayesbias._core.cells import reduce_to_cells
from bayesbias._core.cosine import FloatArray
from bayesbias._progress import progress
from bayesbias.diagnostics.null_lists import (
    CONTROLS,
    STEREOTYPES,
    Places,
    Pool,
    control_pool,
    drawn_tables,
    places_of,
    stand_ins,
    stereotype_rows,
    vocabulary_pool,
)
from bayesbias.diagnostics.null_results import NullDistribution
from bayesbias.diagnostics.null_statistics import BLOCK, Cells, named_value, parts_of, stereotype_cells
from bayesbias.distances import distance_table
from bayesbias.distances.tables import once
from bayesbias.embeddings import Embedding, load_embedding
from bayesbias.errors import InputError
from bayesbias.metrics import Query
from bayesbias.metrics.preparing import prepared, untested
from bayesbias.models.data import ModelData, model_data
from bayesbias.words import WordLists, load_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

Metric = Callable[[pd.DataFrame], float]


def null_distribution(
    kv: Embedding | None,
    words: WordLists | Query | str | Path | pd.DataFrame,
    statistic: str | Metric | tuple[str, Mapping[str, Any]] = "associated - human",
    draws: int = 1000,
    seed: int = 0,
    source: str | None = None,
    match_frequency: bool = True,
) -> NullDistribution:
    """A statistic on real vectors when the stereotype lists hold random words, and the observed value among them.

    Each stereotype word is replaced by a word drawn at random, which takes its place in the list; no word is drawn
    twice. Protected words and vectors stay as they are.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; None where ``words`` is a distance table.
    words
        Word lists, or what :func:`load_words` takes; or a distance table; or a :class:`Query`, for classic metrics:
        then words of the embedding stand in for its attribute words.
    statistic
        ``"a - b"``: mean over protected words of the difference of their mean distances under two connections, at
        least one of them associated or different. ``"weat"``: the effect size for two groups (population sd; positive
        if own stereotypes are closer). ``"mac"``: mean over protected words and stereotype lists of their mean
        distance. Or a function of a distance table that returns a number. For a :class:`Query` any metric that
        :func:`list_metrics` shows, or a pair of it and its options (those of the look-up too).
    draws, seed
        How many times the lists are drawn, and the seed.
    source
        ``"controls"`` (the default, but for a :class:`Query`): control words, which then leave their list; for a
        contrast with ``human`` or ``neutral`` the words of that list, else of both. The p-value is on the safe side
        where these words are fewer than some three times all stereotype words. ``"vocabulary"`` (the only one for a
        query): any words of the embedding that stand in none of the lists.
    match_frequency
        From the vocabulary, draw the stand-in of a word among the 200 nearest to it in frequency rank, which is taken
        to be the order of the embedding.

    Raises
    ------
    InputError
        An unknown statistic or source, too few words to draw from, a statistic that is not a finite number, or an
        embedding in alphabetical order, which cannot be matched by rank.

    References
    ----------
    Caliskan, A., Bryson, J. J. and Narayanan, A. (2017). Semantics derived automatically from language corpora contain
    human-like biases. Science 356(6334). https://doi.org/10.1126/science.aal4230
    Manzini, T. et al. (2019). Black is to Criminal as Caucasian is to Police. NAACL. https://doi.org/10.18653/v1/N19-1062
    """
    one_of(source or "controls", ("controls", "vocabulary"), "source")
    if isinstance(words, Query):
        if source == "controls":
            raise InputError("a query has no control words: pass source='vocabulary' or leave it out")
        return metric_null(kv, words, statistic, whole_number(draws, "draws"), seed, match_frequency)
    if not callable(statistic) and not isinstance(statistic, str):
        raise InputError(f"statistic is {statistic!r}: give its name or a function of a distance table")
    draws, source = whole_number(draws, "draws"), source or "controls"
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    vectors, lists, table = _given(kv, words, source)
    data = model_data(table)
    named = _checked(statistic, data) if isinstance(statistic, str) else ()
    slots = np.flatnonzero(data.class_of_attribute == 0)
    if not len(slots):
        raise InputError("there are no stereotype words that random words could replace: give lists with stereotypes")
    if vectors is None or lists is None:
        pool = control_pool(data, len(slots), [name for name in named if name in CONTROLS], draws, rng)
    else:
        pool = vocabulary_pool(vectors, lists, data, slots, match_frequency, draws, rng)
    places = places_of(data, slots)
    if isinstance(statistic, str):
        label, observed = statistic, _of_table(statistic, data)
        values = np.concatenate(list(_named_values(statistic, data, places, pool)))
    else:
        label, observed = getattr(statistic, "__name__", type(statistic).__name__), _called(statistic, table)
        values = np.array(list(_called_values(statistic, data, places, pool)))
    odd = ~np.isfinite(values)
    if odd.any() or not np.isfinite(observed):
        raise InputError(
            f"{label} is {observed:g} for the lists as they are and not a finite number for {odd.sum():,} of {draws:,} "
            "draws: check that no list is empty and that distances vary, or choose another statistic"
        )
    return NullDistribution(label, source, observed, values, float(np.median(values)), pool.candidates)


def metric_null(
    kv: Embedding | None, query: Query, statistic: object, draws: int, seed: int, match: bool
) -> NullDistribution:
    """A classic metric when random words of the embedding stand in for the attribute words of a query."""
    name, options = statistic if isinstance(statistic, tuple) and len(statistic) == 2 else (statistic, {})
    if kv is None:
        raise InputError("kv is None: give the embedding in which the query is measured")
    vectors = load_embedding(kv)
    observed = prepared(str(name), vectors, query, untested(options))
    if observed.found.reason is not None:
        raise InputError(f"there is no {name} of {query.name!r}: {observed.found.reason}")
    words = [word for listed in query.attributes for word in observed.found.words[listed]]
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    taken = {word for listed in query.sets.values() for word in listed}
    drawn, candidates = stand_ins(vectors, taken, words, match, draws, rng)
    values = np.empty(draws)
    with progress("drawing attribute words", draws) as done:
        for at, rows in enumerate(drawn):
            values[at] = observed.with_attributes(rows).value
            done(at + 1)
    odd = int((~np.isfinite(values)).sum())
    if odd:
        raise InputError(f"{name} is not a finite number for {odd:,} of {draws:,} draws: choose another metric")
    source = "vocabulary"
    return NullDistribution(
        f"{name} of {query.name}", source, observed.measure().value, values, float(np.median(values)), candidates
    )


def _checked(statistic: str, data: ModelData) -> tuple[str, ...]:
    """The connections that a named statistic rests on, once it is known that the table has them."""
    named = STEREOTYPES if statistic == "weat" else () if statistic == "mac" else parts_of(statistic)
    valid = data.connections.tolist()
    if statistic not in ("weat", "mac") and (len(named) != 2 or len(set(named)) < 2):
        raise InputError(f"statistic is {statistic!r}: valid are 'weat', 'mac', 'a - b' of two connections, a function")
    for name in named:
        one_of(name, valid, "the connection")
    if statistic == "mac" and (data.attribute_class[stereotype_rows(data)] == "").any():
        raise InputError("mac is a mean over stereotype lists: give the table the column attribute_class")
    if named and not set(named) & set(STEREOTYPES):
        raise InputError(f"{statistic!r} does not rest on the stereotype lists: name associated or different")
    if statistic == "weat" and (len(data.group_names) != 2 or "" in data.group_names):
        shown = ", ".join(name or "not known" for name in data.group_names)
        raise InputError(f"weat compares two groups, not {len(data.group_names)} ({shown}): take 'mac' or 'a - b'")
    return named


def _given(
    kv: Embedding | None, words: WordLists | str | Path | pd.DataFrame, source: str
) -> tuple[KeyedVectors | None, WordLists | None, pd.DataFrame]:
    """Vectors and lists where they are to be drawn from, and the distance table."""
    if isinstance(words, pd.DataFrame):
        if kv is not None or source != "controls":
            raise InputError(
                "a distance table holds the control words only: give kv=None and source='controls', "
                "or the embedding with word lists"
            )
        model_data(words)
        return None, None, once(words, "the table", "each pair is taken once")
    if kv is None:
        raise InputError("kv is None: give an embedding, or a distance table in place of the word lists")
    lists = words if isinstance(words, WordLists) else load_words(words)
    vectors = load_embedding(kv)
    table = distance_table(vectors, lists, relatedness=False)
    return (None, None, table) if source == "controls" else (vectors, lists, table)


def _of_table(statistic: str, data: ModelData) -> float:
    """A named statistic of a table as it is."""
    cells: Cells = {name: data.cells.mean[:, [at]] for at, name in enumerate(data.connections.tolist())}
    rows = stereotype_rows(data)
    names, listed = np.unique(data.attribute_class[rows], return_inverse=True)
    found = reduce_to_cells(data.word[rows], listed, data.y[rows], (len(data.protected_words), len(names)))
    cells["list"] = found.mean.T[:, :, None]
    return float(named_value(statistic, cells, data.group_index)[0])


def _named_values(statistic: str, data: ModelData, places: Places, pool: Pool) -> Iterator[FloatArray]:
    size = max(1, BLOCK // places.connection.size)
    with progress(f"drawing words for {statistic}", len(pool.chosen)) as done:
        for begin in range(0, len(pool.chosen), size):
            chosen = pool.chosen[begin : begin + size]
            near = pool.distances[:, chosen]
            cells = stereotype_cells(near, places)
            for name in set(parts_of(statistic)) & set(CONTROLS):
                cells[name] = _control_cell(data, name, near, pool.control[chosen] == name)
            yield named_value(statistic, cells, places.group)
            done(begin + len(chosen))


def _called(statistic: Metric, table: pd.DataFrame) -> float:
    try:
        return float(statistic(table))
    except TypeError as error:
        raise InputError(
            f"the statistic must be a function of a distance table that returns a number: {error}"
        ) from error


def _called_values(statistic: Metric, data: ModelData, places: Places, pool: Pool) -> Iterator[float]:
    with progress("drawing words", len(pool.chosen)) as done:
        for at, table in enumerate(drawn_tables(data, places, pool)):
            yield _called(statistic, table)
            done(at + 1)


def _control_cell(data: ModelData, name: str, near: FloatArray, leaves: np.ndarray) -> FloatArray:
    """Mean distances (J, B) of a control list without the words (B, S) that have left it."""
    at = data.connections.tolist().index(name)
    count, mean = data.cells.n[:, [at]], data.cells.mean[:, [at]]
    gone = leaves & ~np.isnan(near)
    with np.errstate(invalid="ignore", divide="ignore"):
        left: FloatArray = (count * mean - np.where(gone, near, 0).sum(axis=2)) / (count - gone.sum(axis=2))
    return left
