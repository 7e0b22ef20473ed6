"""Mean distances of several embeddings with their joint covariance, and contrasts of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import block_diag

from bayesbias._checks import one_of
from bayesbias._core.related import list_correlations, root_of
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._phrases import MINUS
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias.axes import Axis
from bayesbias.checks.confounds import frequencies_by_name
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted, flat_draws
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import frame_columns
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, listed, shown
from bayesbias.models.families import family_of
from bayesbias.models.fits import FALLBACK, RELATED, fit
from bayesbias.models.frames import GROUP as FRAMES
from bayesbias.models.functionals import CellErrors, related_cell_errors
from bayesbias.models.related import (
    cell_lists,
)
from bayesbias.models.results import Fit, read_distances
from bayesbias.models.spec import ModelSpec, load_model

STACKED, SHARED, APART, PAIRS = "related", "shared words", "independent", "pairs"
JOINT = {
    STACKED: "The covariance of the estimates follows from the vectors of the embeddings together.",
    SHARED: "Errors of embeddings with the same attribute words are correlated; how much was estimated from the words.",
    APART: "The embeddings share no attribute words, and their errors are independent.",
    PAIRS: "Errors are those of further pairs of this opposition; how they are correlated between embeddings was read "
    "off the pairs that all have.",
}
"""What is said about the joint covariance of embeddings."""
DRAWS = 400
"""Draws of a fit, of which only the scales are used."""
MOST_CELLS = 4000
"""Mean distances whose covariance matrix is built, where the vectors do not tell it."""


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
    errors
        Their covariance for attribute lists like these.
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
    errors: Errors
    joint: str
    notes: tuple[str, ...]


class Errors(Protocol):
    """The covariance of the errors of n means."""

    def covariance(self, weights: sparse.csr_array) -> FloatArray:
        """Covariance (m, m) of weighted sums (m, n) of the means."""
        ...


@dataclass(frozen=True)
class DenseErrors:
    """A covariance (n, n) that is made whole."""

    matrix: FloatArray

    def covariance(self, weights: sparse.csr_array) -> FloatArray:
        """Covariance (m, m) of weighted sums (m, n) of the means."""
        value: FloatArray = weights @ (weights @ self.matrix).T
        return value


@dataclass(frozen=True)
class FieldErrors:
    """A covariance from the components of protected words and the fields of lists, which is never made whole.

    Attributes
    ----------
    scaled
        Loadings (words, Q) times the standard deviations of the components.
    correlations
        Of the lists in each component, (Q, lists, lists).
    word, listed, factors
        Protected word, list and factor of each mean, (n,).
    notes
        What limits it.
    """

    scaled: FloatArray
    correlations: FloatArray
    word: IntArray
    listed: IntArray
    factors: FloatArray
    notes: tuple[str, ...]

    def covariance(self, weights: sparse.csr_array) -> FloatArray:
        """Covariance (m, m) of weighted sums (m, n) of the means."""
        roots = root_of(self.correlations)
        total = np.zeros((weights.shape[0], *roots.shape[::2]))
        for place in np.unique(self.listed):
            rows = np.flatnonzero(self.listed == place)
            by_word = sparse.csr_array(
                (self.factors[rows], (np.arange(len(rows)), self.word[rows])), shape=(len(rows), len(self.scaled))
            )
            total += ((weights[:, rows] @ by_word) @ self.scaled)[:, :, None] * roots[:, place]
        flat = total.reshape(len(total), -1)
        value: FloatArray = flat @ flat.T
        return value


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


type Tables = Mapping[str, pd.DataFrame | Axis]
"""Name of each embedding to its distance table, or to an axis in it."""


def checked_tables(tables: Tables, least: int, what: str) -> dict[str, pd.DataFrame | Axis]:
    """Named distance tables, or named axes, at least so many."""
    kinds = (pd.DataFrame, Axis)
    if not isinstance(tables, Mapping) or not any(all(isinstance(t, k) for t in tables.values()) for k in kinds):
        raise InputError(
            f"tables is {shown(tables)}: give a mapping of names to distance tables, such as {{'de': table}}, or "
            "to axes"
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


@dataclass(frozen=True)
class Measured:
    """One embedding: the model of its distances, these, and the fit where a part of their errors is known by draws."""

    spec: ModelSpec
    data: Distances
    fit: Fit | None = None

    @classmethod
    def of(cls, fit: Fit) -> Measured:
        """What a fit says."""
        return cls(fit.spec, fit.data, fit)

    def errors(self, connections: tuple[str, str], topic: bool) -> CellErrors:
        """Means of cells, with the errors that attribute words and templates leave."""
        contrasted(*connections, self.data.connections.tolist(), self.data.filled)
        if self.fit is None:
            return related_cell_errors(self.spec, self.data, connections, topic)
        errors = family_of(self.spec).cell_errors(self.fit, connections, topic)
        if FRAMES not in self.fit.tree.children:
            return errors
        shifts = flat_draws(self.fit.tree[f"{FRAMES}/word_shift"].to_numpy())
        names = self.data.protected_words.tolist()
        words = [names.index(word) for word in errors.word.tolist()]
        columns = [self.data.connections.tolist().index(name) for name in errors.connection.tolist()]
        return replace(errors, covariance=errors.covariance + np.cov(shifts[:, words, columns], rowvar=False))


def default_contrast(measured: Iterable[Measured]) -> tuple[tuple[str, str], tuple[str, ...]]:
    """Associated - different where every table has it, else associated - the first control list; and a note if so."""
    first, *rest = [_partners(each.data) for each in measured]
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


def _partners(data: Distances) -> list[str]:
    valid = data.connections.tolist()
    return contrast_partners("associated", valid, data.filled) if "associated" in valid else []


def measured_tables(
    tables: Mapping[str, pd.DataFrame], seed: int, adjust: Any = None, frequencies: Any = None
) -> dict[str, Measured]:
    """Each table with the model of its errors: related words where every table knows how words are, else all crossed.

    ``frequencies`` is what :func:`fit` takes, or a mapping of the tables' names to that.
    """
    by_name = frequencies_by_name(list(tables), frequencies)
    data, measured = {}, {}
    with progress("reading the tables", len(tables)) as done:
        for number, (name, table) in enumerate(tables.items()):
            try:
                data[name] = read_distances(table)
                data[name].refuse_scores("a second stage")
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
            done(number + 1)
    related = all(each.relatedness is not None for each in data.values())
    if related and adjust is None and not any(frame_columns(table) for table in tables.values()):
        spec = load_model(RELATED)
        return {name: Measured(spec, each) for name, each in data.items()}
    model = RELATED if related else FALLBACK
    with progress("fitting the embeddings", len(tables)) as done:
        for number, (name, table) in enumerate(tables.items()):
            options: dict[str, Any] = {"draws": DRAWS, "adjust": adjust, "frequencies": by_name[name]}
            try:
                measured[name] = Measured.of(Fit(fit(table, model, seed=seed + number, **options)))
            except InputError as error:
                raise InputError(f"{name}: {error}") from error
            done(number + 1)
    return measured


def cells_of(measured: Mapping[str, Measured], contrast: tuple[str, str], topic: bool = False) -> Cells:
    """The mean distances in one or more embeddings, with their joint covariance.

    Parameters
    ----------
    measured
        Each embedding by name.
    contrast
        Two connections.
    topic
        Whether errors are those of further words on the same topics (one embedding only). Otherwise they are those of
        attribute lists like these, whose topics differ too.
    """
    parts = []
    for name, each in measured.items():
        try:
            parts.append(each.errors(contrast, topic))
        except InputError as error:
            raise InputError(f"{name}: {error}" if len(measured) > 1 else str(error)) from error
    embedding = np.repeat(np.arange(len(parts)), [len(part.y) for part in parts])
    joint, errors, notes = _joint_errors(parts, embedding)
    return Cells(
        embeddings=tuple(measured),
        embedding=embedding,
        word=np.concatenate([part.word for part in parts]),
        connection=np.concatenate([part.connection for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        errors=errors,
        joint=joint,
        notes=notes,
    )


def _joint_errors(parts: Sequence[CellErrors], embedding: IntArray) -> tuple[str, Errors, tuple[str, ...]]:
    """How the covariance between embeddings is known, the covariance, and what is to be said about it."""
    notes: tuple[str, ...] = ()
    if len(parts) > 1 and all(part.factors is not None for part in parts):
        stacked = _stacked(parts)
        if not isinstance(stacked, str):
            return STACKED, stacked, stacked.notes
        if _shared_words(parts):
            notes = (f"The embeddings were taken as independent, since {stacked}.",)
    size = len(embedding)
    if size > MOST_CELLS:
        raise InputError(
            f"there are {size:,} means (protected words x connections x embeddings), more than {MOST_CELLS:,}: take "
            "fewer protected words, or tables with relatedness"
        )
    own = block_diag(*[part.covariance for part in parts])
    if len(parts) > 1 and not notes and parts[0].factors is None and _shared_words(parts):
        return SHARED, DenseErrors(np.where(embedding[:, None] == embedding, own, _shared(parts))), ()
    return APART, DenseErrors(own), notes


def _shared_words(parts: Sequence[CellErrors]) -> bool:
    """Whether any two embeddings have an attribute word in common."""
    seen: set[str] = set()
    for part in parts:
        own = set(part.data.attribute_words.tolist())
        if own & seen:
            return True
        seen |= own
    return False


def _stacked(parts: Sequence[CellErrors]) -> FieldErrors | str:
    """The covariance of all cells from the vectors of all embeddings, or why there is none."""
    relatedness = [part.data.relatedness for part in parts if part.data.relatedness is not None]
    related = joint_relatedness(relatedness, [part.data.protected_words.tolist() for part in parts])
    if isinstance(related, str):
        return related
    names = list(related.attribute_words)
    place_of = {word: i for i, word in enumerate(names)}
    member: list[np.ndarray] = []
    rows: list[IntArray] = []
    places: list[IntArray] = []
    begin = lists_before = 0
    for part in parts:
        lists = cell_lists(part.data)
        inside = np.isin(part.data.connections[lists.connection], np.unique(part.connection))
        own = np.zeros((len(lists.member), len(names)), dtype=bool)
        own[:, [place_of[word] for word in part.data.attribute_words.tolist()]] = lists.member
        rows.append(begin + lists.word[inside])
        places.append(lists_before + lists.listed[inside])
        member.append(own)
        lists_before += len(own)
        begin += len(part.data.protected_words)
    # equal lists of several embeddings are one
    every, place = np.unique(np.concatenate(member), axis=0, return_inverse=True)
    used, listed_ = np.unique(place.ravel()[np.concatenate(places)], return_inverse=True)
    same, shares = related.overlaps(every[used], names)
    kernel = related.components
    return FieldErrors(
        scaled=kernel.loadings * np.sqrt(kernel.variances),
        correlations=list_correlations(kernel.correlations, same, shares),
        word=np.concatenate(rows),
        listed=listed_,
        factors=np.concatenate([part.factors for part in parts if part.factors is not None]),
        notes=few_shared(related),
    )


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
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    values: list[FloatArray] = []
    embedding: list[int] = []
    labels: list[str] = []
    counts: list[int] = []
    size = 0
    for number in range(len(cells.embeddings)):
        own = cells.embedding == number
        cell_of = {
            name: dict(zip(cells.word[inside].tolist(), np.flatnonzero(inside).tolist(), strict=True))
            for name in (first, second)
            for inside in [own & (cells.connection == name)]
        }
        both = [word for word in cell_of[first] if word in cell_of[second]]
        chosen = both if wanted is None else [word for word in both if word in wanted]
        if not chosen:
            raise InputError(f"{cells.embeddings[number]}: no protected word has {first} and {second} distances")
        # one row for each word, or one for all
        own_rows = size + (np.arange(len(chosen)) if wanted is not None else np.zeros(len(chosen), dtype=np.intp))
        share = 1.0 if wanted is not None else 1 / len(chosen)
        for name, sign in ((first, share), (second, -share)):
            rows.append(own_rows)
            columns.append(np.array([cell_of[name][word] for word in chosen]))
            values.append(np.full(len(chosen), sign))
        count = len(chosen) if wanted is not None else 1
        size += count
        embedding += [number] * count
        labels += chosen if wanted is not None else [""]
        counts.append(len(chosen))
    weights = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, len(cells.y))
    )
    return Contrasts(
        embedding=np.array(embedding),
        words=np.array(labels, dtype=str),
        counts=np.array(counts),
        y=weights @ cells.y,
        covariance=cells.errors.covariance(weights),
    )


def standardised(found: Contrasts, spreads: Sequence[float]) -> Contrasts:
    """Contrasts in units of a spread of each embedding, taken as known."""
    scale = 1 / np.array(spreads)[found.embedding]
    return replace(found, y=found.y * scale, covariance=found.covariance * np.outer(scale, scale))
