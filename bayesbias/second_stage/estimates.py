"""Mean distances of several embeddings with their joint covariance, and contrasts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import one_of
from bayesbias._core.related import cell_covariance, list_correlations
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import MINUS
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias.checks.confounds import frequencies_by_name
from bayesbias.checks.summaries import PROB, contrasted, flat_draws
from bayesbias.comparison.related_changes import stacked_scatter
from bayesbias.distances.covariances import Relatedness
from bayesbias.errors import InputError, listed, shown
from bayesbias.models.cell_errors import CellErrors
from bayesbias.models.families import family_of
from bayesbias.models.fits import fit
from bayesbias.models.frames import GROUP as FRAMES
from bayesbias.models.related import (
    cell_lists,
)
from bayesbias.models.results import Fit, read_distances

STACKED, SHARED, APART = "related", "shared words", "independent"
JOINT = {
    STACKED: "The covariance of the estimates was read off the vectors of the embeddings together.",
    SHARED: "Errors of embeddings with the same attribute words are correlated; how much was estimated from the words.",
    APART: "The embeddings share no attribute words, and their errors are independent.",
}
"""What is said about the joint covariance of embeddings."""
DRAWS = 400
"""Draws of a fit, of which only the scales are used."""
MOST_CELLS = 4000
"""Mean distances whose covariance matrix is built."""


STEPS = ("chain", "draw")


class Staged(Result):
    """A result whose draws are in a DataTree that ArviZ reads, ``tree``."""

    tree: xr.DataTree

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        raise NotImplementedError

    def text(self, prob: float = PROB) -> str:
        """The result in sentences, notes last."""
        return " ".join([*self.findings(prob), *self.notes])

    def draws(self, name: str) -> FloatArray:
        """Draws (D, ...) of a variable of the posterior."""
        one_of(name, list(map(str, self.tree["posterior"].data_vars)), "the variable")
        return flat_draws(self.tree["posterior"][name].to_numpy())


@dataclass(frozen=True)
class Cells:
    """Mean distances of protected words to connections in several embeddings.

    Attributes
    ----------
    embeddings
        Their names.
    embedding, word, connection
        Embedding (a number), protected word and connection of each mean, (n,).
    y
        The means, not shrunken, (n,).
    covariance
        Their covariance for attribute lists like these, (n, n).
    joint
        How the covariance between embeddings was found: a key of :data:`JOINT`.
    notes
        What is to be said about it.
    """

    embeddings: tuple[str, ...]
    embedding: IntArray
    word: np.ndarray
    connection: np.ndarray
    y: FloatArray
    covariance: FloatArray
    joint: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Contrasts:
    """Contrasts of cells: ``y`` (m,), ``covariance`` (m, m), and the embedding and word that each is about.

    ``words`` is empty where each is the mean over protected words; ``counts`` says over how many.
    """

    embedding: IntArray
    words: NDArray[np.str_]
    counts: IntArray
    y: FloatArray
    covariance: FloatArray


def checked_tables(tables: object, least: int, what: str) -> dict[str, pd.DataFrame]:
    """Named distance tables, at least so many."""
    if not isinstance(tables, Mapping) or not all(isinstance(table, pd.DataFrame) for table in tables.values()):
        raise InputError(
            f"tables is {shown(tables)}: give a mapping of names to distance tables, such as {{'de': table}}"
        )
    named = {str(name): table for name, table in tables.items()}
    if len(named) < len(tables) or not all(name.strip() and name.isprintable() for name in named):
        raise InputError(
            f"tables has the names {listed([str(name) for name in tables])}: give different printable names"
        )
    if len(named) < least:
        raise InputError(
            f"{what} needs at least {least} embeddings, given {'is' if len(named) == 1 else 'are'} {len(named)}"
        )
    return named


def checked_contrast(contrast: object) -> tuple[str, str]:
    """Two connections."""
    if (
        isinstance(contrast, tuple | list)
        and len(contrast) == 2
        and all(isinstance(name, str) for name in contrast)
        and contrast[0] != contrast[1]
    ):
        return contrast[0], contrast[1]
    raise InputError(f"contrast is {shown(contrast)}: give two connections, such as ('associated', 'different')")


def default_contrast(fits: Iterable[xr.DataTree]) -> tuple[tuple[str, str], tuple[str, ...]]:
    """Associated - different where every fit has it, else associated - the first control list; and a note if so."""
    from bayesbias.comparison.contrast import beside_associated

    first, *rest = [beside_associated(Fit(post)) for post in fits]
    common = [name for name in first if all(name in others for others in rest)]
    if not common:
        raise InputError("no connection stands beside associated everywhere: name two connections as contrast")
    if common[0] == "different":
        return ("associated", "different"), ()
    note = (
        f"The contrast is associated{MINUS}{common[0]}: no protected word has both associated and different "
        "words everywhere."
    )
    return ("associated", common[0]), (note,)


def fits_of(
    tables: Mapping[str, pd.DataFrame], seed: int, adjust: Any = None, frequencies: Any = None
) -> dict[str, xr.DataTree]:
    """A fit of each table: all of related words where every table knows how words are related, else all crossed.

    ``frequencies`` is what :func:`fit` takes, or a mapping of the tables' names to that.
    """
    related = all(read_distances(table).relatedness is not None for table in tables.values())
    by_name = frequencies_by_name(list(tables), frequencies)
    fits = {}
    with progress("fitting the embeddings", len(tables)) as done:
        for number, (name, table) in enumerate(tables.items()):
            options: dict[str, Any] = {"draws": DRAWS, "adjust": adjust, "frequencies": by_name[name]}
            try:
                fits[name] = fit(table, "related" if related else "crossed", seed=seed + number, **options)
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
            done(number + 1)
    return fits


def cells_of(fits: Mapping[str, xr.DataTree], contrast: tuple[str, str], topic: bool = False) -> Cells:
    """The means behind fits of one or more embeddings, with their joint covariance.

    Parameters
    ----------
    fits
        Fits by name of the embedding.
    contrast
        Two connections.
    topic
        Whether errors are those of further words on the same topics (one embedding only). Otherwise they are those of
        attribute lists like these, whose topics differ too.
    """
    parts = []
    for name, post in fits.items():
        try:
            parts.append(_part(Fit(post), contrast, topic))
        except InputError as error:
            raise InputError(f"{name}: {error}" if len(fits) > 1 else str(error)) from error
    sizes = [len(part.y) for part in parts]
    if sum(sizes) > MOST_CELLS:
        raise InputError(
            f"there are {sum(sizes):,} means (protected words x connections x embeddings), more than {MOST_CELLS:,}: "
            "take fewer protected words"
        )
    own = np.zeros((sum(sizes), sum(sizes)))
    ends = np.cumsum([0, *sizes])
    for part, begin, end in zip(parts, ends[:-1], ends[1:], strict=True):
        own[begin:end, begin:end] = part.covariance
    embedding = np.repeat(np.arange(len(parts)), sizes)
    joint, between, notes = _between(parts, embedding)
    covariance = np.where(embedding[:, None] == embedding, own, between)
    return Cells(
        embeddings=tuple(fits),
        embedding=embedding,
        word=np.concatenate([part.word for part in parts]),
        connection=np.concatenate([part.connection for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        covariance=covariance,
        joint=joint,
        notes=notes,
    )


def _part(result: Fit, contrast: tuple[str, str], topic: bool) -> CellErrors:
    """The cells of one embedding, with the errors that words and sentence frames leave."""
    data = result.data
    contrasted(*contrast, data.connections.tolist(), data.filled)
    errors = family_of(result.spec).cell_errors(result, contrast, topic)
    if FRAMES not in result.tree.children:
        return errors
    shifts = flat_draws(result.tree[f"{FRAMES}/word_shift"].to_numpy())
    names = data.protected_words.tolist()
    words = [names.index(word) for word in errors.word.tolist()]
    connections = [data.connections.tolist().index(name) for name in errors.connection.tolist()]
    return replace(errors, covariance=errors.covariance + np.cov(shifts[:, words, connections], rowvar=False))


def _between(parts: Sequence[CellErrors], embedding: IntArray) -> tuple[str, FloatArray, tuple[str, ...]]:
    """How the covariance between embeddings is known, and that covariance (n, n)."""
    size = len(embedding)
    if len(parts) == 1:
        return APART, np.zeros((size, size)), ()
    if all(part.factors is not None for part in parts):
        stacked = _stacked(parts)
        if not isinstance(stacked, str):
            return STACKED, stacked, ()
        shared = _shared_words(parts)
        note = f"The embeddings were taken as independent, since {stacked}." if shared else ""
        return APART, np.zeros((size, size)), (note,) if note else ()
    if not _shared_words(parts):
        return APART, np.zeros((size, size)), ()
    return SHARED, _shared(parts), ()


def _shared_words(parts: Sequence[CellErrors]) -> bool:
    """Whether any two embeddings have an attribute word in common."""
    seen: set[str] = set()
    for part in parts:
        own = set(part.data.attribute_words.tolist())
        if own & seen:
            return True
        seen |= own
    return False


def _stacked(parts: Sequence[CellErrors]) -> FloatArray | str:
    """The covariance of all cells from the vectors of all embeddings, or why there is none."""
    relatedness = [part.data.relatedness for part in parts if part.data.relatedness is not None]
    if any(each.forms is not None for each in relatedness):
        return "attribute words have several forms"
    names = list(dict.fromkeys(word for part in parts for word in part.data.attribute_words.tolist()))
    related = stacked_scatter(relatedness, [part.data.protected_words.tolist() for part in parts])
    if isinstance(related, str):
        return related
    units = _joined_units(relatedness, names)
    related = replace(
        related, attribute_words=tuple(names), attributes=units.astype(np.float16), centre=np.zeros(units.shape[1])
    )
    member: list[np.ndarray] = []
    rows: list[IntArray] = []
    places: list[IntArray] = []
    begin = lists_before = 0
    for part in parts:
        lists = cell_lists(part.data)
        inside = np.isin(part.data.connections[lists.connection], np.unique(part.connection))
        own = np.zeros((len(lists.member), len(names)), dtype=bool)
        own[:, [names.index(word) for word in part.data.attribute_words.tolist()]] = lists.member
        rows.append(begin + lists.word[inside])
        places.append(lists_before + lists.listed[inside])
        member.append(own)
        lists_before += len(own)
        begin += len(part.data.protected_words)
    # equal lists of several embeddings are one
    every, place = np.unique(np.concatenate(member), axis=0, return_inverse=True)
    same, shares = related.overlaps(every, names)
    kernel = related.components
    correlations = list_correlations(kernel.correlations, same, shares)
    raw = cell_covariance(kernel, correlations, np.concatenate(rows), place.ravel()[np.concatenate(places)])
    factors = np.concatenate([part.factors for part in parts if part.factors is not None])
    covariance: FloatArray = raw * np.outer(factors, factors)
    return covariance


def _joined_units(found: Sequence[Relatedness], words: Sequence[str]) -> FloatArray:
    """Vectors of words whose products are their mean similarities over embeddings, (words, sum of dimensions)."""
    parts = []
    for each in found:
        own = np.zeros((len(words), each.units.shape[1]))
        known = [i for i, word in enumerate(words) if word in each.attribute_words]
        own[known] = each.units_of([words[i] for i in known])
        parts.append(own)
    joined = np.concatenate(parts, axis=1)
    units: FloatArray = joined / np.linalg.norm(joined, axis=1, keepdims=True)
    return units


def _shared(parts: Sequence[CellErrors]) -> FloatArray:
    """The covariance between embeddings that words cause which both have.

    Each part of the covariance (attribute words, word x group, residuals) has one correlation over pairs of
    embeddings, estimated from the deviations of distances from the means of their cells.
    """
    by_word, by_pair = _deviations(parts)
    word = _mean_positive(by_word)
    pair = _mean_positive(by_pair)
    total = 0.0
    count = max(len(part.sources) for part in parts)
    for source in range(count):
        roots = [part.sources[min(source, len(part.sources) - 1)] for part in parts if len(part.sources) > source]
        if len(roots) < len(parts):
            continue
        names = np.unique(np.concatenate([labels for _, labels in roots]))
        stacked = sparse.vstack(
            [
                sparse.csr_array(
                    (root.tocoo().data, (root.tocoo().row, np.searchsorted(names, labels)[root.tocoo().col])),
                    shape=(root.shape[0], len(names)),
                )
                for root, labels in roots
            ]
        ).tocsr()
        total = total + (pair if source == count - 1 else word) * (stacked @ stacked.T).toarray()
    size = sum(len(part.y) for part in parts)
    return total + np.zeros((size, size))


def _deviations(parts: Sequence[CellErrors]) -> tuple[FloatArray, FloatArray]:
    """Correlations over pairs of embeddings: of attribute words' mean deviations, and of what is left of each pair."""
    frames = []
    for part in parts:
        data = part.data
        rows = np.isin(data.connections[data.connection], np.unique(part.connection))
        frame = pd.DataFrame(
            {
                "word": data.protected_words[data.word[rows]],
                "attribute": data.attribute_words[data.attribute[rows]],
                "connection": data.connections[data.connection[rows]],
                "value": (data.y - data.cells.mean[data.word, data.connection])[rows],
            }
        )
        frame["mean"] = frame.groupby(["attribute", "connection"])["value"].transform("mean")
        frame["rest"] = frame["value"] - frame["mean"]
        frames.append(frame)
    means = [frame.groupby(["attribute", "connection"])["mean"].first() for frame in frames]
    rests = [frame.set_index(["word", "attribute", "connection"])["rest"] for frame in frames]
    return _pairwise(means), _pairwise([rest[~rest.index.duplicated()] for rest in rests])


def _pairwise(series: Sequence[pd.Series]) -> FloatArray:
    """Correlations of each two series at their common places; NaN where there are fewer than three."""
    wide = pd.concat(series, axis=1, keys=range(len(series)))
    correlations = wide.corr(min_periods=3).to_numpy()
    return correlations[np.triu_indices(len(series), 1)]


def _mean_positive(correlations: FloatArray) -> float:
    known = correlations[np.isfinite(correlations)]
    return float(np.clip(known.mean(), 0.0, 0.99)) if len(known) else 0.0


def contrasts_of(cells: Cells, contrast: tuple[str, str], words: Iterable[str] | None = None) -> Contrasts:
    """Contrasts of cells: for each embedding the mean over protected words, or for each embedding and word.

    Parameters
    ----------
    cells
        From :func:`cells_of`.
    contrast
        Two connections.
    words
        The protected words to take one by one; None for the mean over all words of an embedding with both.
    """
    first, second = contrast
    wanted = None if words is None else set(words)
    weights: list[FloatArray] = []
    embedding: list[int] = []
    labels: list[str] = []
    counts: list[int] = []
    for number in range(len(cells.embeddings)):
        own = cells.embedding == number
        cell_of = {
            name: dict(zip(cells.word[rows].tolist(), np.flatnonzero(rows).tolist(), strict=True))
            for name in (first, second)
            for rows in [own & (cells.connection == name)]
        }
        both = [word for word in cell_of[first] if word in cell_of[second]]
        chosen = both if wanted is None else [word for word in both if word in wanted]
        rows = np.zeros((len(chosen), len(cells.y)))
        for place, word in enumerate(chosen):
            rows[place, cell_of[first][word]], rows[place, cell_of[second][word]] = 1.0, -1.0
        if not chosen:
            raise InputError(f"{cells.embeddings[number]}: no protected word has {first} and {second} distances")
        weights.append(rows.mean(axis=0, keepdims=True) if wanted is None else rows)
        embedding += [number] * len(weights[-1])
        labels += chosen if wanted is not None else [""]
        counts.append(len(chosen))
    matrix = np.concatenate(weights)
    covariance = matrix @ cells.covariance @ matrix.T
    return Contrasts(
        embedding=np.array(embedding),
        words=np.array(labels, dtype=str),
        counts=np.array(counts),
        y=matrix @ cells.y,
        covariance=(covariance + covariance.T) / 2,
    )


def standardised(found: Contrasts, spreads: Sequence[float]) -> Contrasts:
    """Contrasts in units of a spread of each embedding, taken as known."""
    scale = 1 / np.array(spreads)[found.embedding]
    return replace(found, y=found.y * scale, covariance=found.covariance * np.outer(scale, scale))
