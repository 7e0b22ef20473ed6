"""Material of pools and criteria: means of tables or axes, their joint covariance, and contrasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.arguments import flag, mapping, one_of
from bayesbias._support.progress import one_thread, progress
from bayesbias.axes import Axis
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted, flat_draws
from bayesbias.distances.adjustment import check_used
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import ListEntry, coverage_of, limits_of, template_columns
from bayesbias.distances.distances import Distances, refuse_mixed
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, listed, shown, within
from bayesbias.models.families import family_of
from bayesbias.models.fits import FALLBACK, RELATED, fit
from bayesbias.models.functionals import CellErrors, ErrorFields, error_fields, related_cell_errors
from bayesbias.models.related import relatedness_for
from bayesbias.models.spec import load_model
from bayesbias.models.tree import EXACT, TEMPLATES, Fit, read_distances
from bayesbias.models.weights import DIFFERENCE, RAW, Sums, row_sums, stacked
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Empirical, Gaussian, Matrix, Normals
from bayesbias.posteriors import Estimates, identity
from bayesbias.results import Note, Result
from bayesbias.vectors.lookup import distance_sd, left_out
from bayesbias.words import OTHER, OWN, STEREOTYPES, WHOLE

STACKED, SHARED, APART, PAIRS = "vectors", "shared words", "independent", "pairs"
"""What the covariance of embeddings follows from."""
DRAWS = 400
"""Draws of a fit, of which only the scales are used."""
FEWEST = 4
"""Pairs that all embeddings must have: fewer tell little of how errors are correlated."""
SAME = 1e-6
"""Mean distances that differ by less are those of one embedding."""
NEARLY = 0.99
"""Correlation of the errors of two embeddings from which on they are nearly one."""
GIVEN_UNITS = "the given units"
"""Name of the unit of contrasts where the caller gives the unit of each embedding."""
CHAINS = 4
"""Chains into which draws are divided for ArviZ; all draws are independent."""
STEPS = ("chain", "draw")


class Staged(Result):
    """A result whose draws are in a DataTree that ArviZ reads, ``tree``."""

    prob: ClassVar[float] = PROB

    tree: xr.DataTree

    @cached_property
    def population(self) -> Estimates:
        """All variables of the posterior by ``variable`` and ``name``, which is empty for single numbers."""
        labels, values = [], []
        for variable, array in self.tree["posterior"].data_vars.items():
            draws = flat_draws(array.to_numpy())
            names = array[array.dims[2]].to_numpy().tolist() if draws.ndim > 1 else [""]
            labels += [(str(variable), str(name)) for name in names]
            values.append(draws.reshape(len(draws), -1))
        index = pd.DataFrame(labels, columns=["variable", "name"], dtype="string")
        return Estimates.of(Empirical(np.hstack(values)), len(index), index)

    def draws(self, name: str) -> FloatArray:
        """Draws (D, ...) of a variable of the posterior."""
        one_of(name, list(map(str, self.tree["posterior"].data_vars)), "the variable")
        return flat_draws(self.tree["posterior"][name].to_numpy())


def posterior_tree(variables: Mapping[str, tuple[str | None, FloatArray]], seed: int, **coords: Any) -> xr.DataTree:
    """A DataTree of draws (D, ...): each variable with the name of its dimension beside the draws, if it has one."""
    made = {
        name: (STEPS if dim is None else (*STEPS, dim), values.reshape(CHAINS, -1, *values.shape[1:]))
        for name, (dim, values) in variables.items()
    }
    draws = next(iter(made.values()))[1].shape[1]
    posterior = xr.Dataset(made, {"chain": np.arange(CHAINS), "draw": np.arange(draws), **coords})
    tree = xr.DataTree.from_dict({"/posterior": posterior})
    tree.attrs = {"seed": seed, "engine": EXACT}
    return tree


type StageSums = Callable[[int, str | None], Sums]
"""Sums of the means of an embedding, given its number and what rows of words are."""


class Stage(NamedTuple):
    """Mean distances of protected words in several embeddings, not shrunken, and the rows that a fit makes of them."""

    embeddings: tuple[str, ...]
    contrast: tuple[str, str]
    means: Estimates  # by ``embedding`` (its number), for attribute lists like these
    joint: str  # what the covariance between embeddings follows from
    notes: tuple[Note, ...]  # on the covariance
    sums: StageSums
    part: Callable[[Iterable[str]], Stage]  # the same of some of the embeddings
    asked: tuple[Note, ...] = ()  # on the contrast that was taken
    adjusted: str = ""  # attribute of words that distances are adjusted for
    copies: Mapping[str, str] = {}  # name of each embedding that came before under another name, to that; has no means


type Errors = Callable[[Matrix], FloatArray]
"""The covariance (m, m) of the errors of weighted sums (m, n) of n means."""


type Tables = Mapping[str, pd.DataFrame | Axis]
"""Name of each embedding to its distance table, or to an axis in it."""


def checked_tables(tables: Tables) -> dict[str, pd.DataFrame | Axis]:
    """Named distance tables, or named axes, two at least."""
    known: dict[str, pd.DataFrame | Axis] = mapping(tables, "tables", "distance tables, or axes", pd.DataFrame | Axis)
    if len(known) < 2 or len({isinstance(each, Axis) for each in known.values()}) > 1:
        raise InputError(f"tables holds {listed(list(known))}: give two embeddings or more, all tables or all axes")
    return known


def checked_contrast(contrast: tuple[str, str] | None) -> tuple[str, str] | None:
    """Two connections, or None for the default."""
    if contrast is None or (isinstance(contrast, tuple | list) and len(contrast) == len(set(contrast)) == 2):
        return contrast if contrast is None else (contrast[0], contrast[1])
    raise InputError(f"contrast is {shown(contrast)}: give two connections, such as ('associated', 'different')")


type Adjust = str | Mapping[str, Mapping[str, float]] | None
"""An attribute of words that is adjusted for, as in :func:`fit`."""


type Measured = Fit | Distances
"""An embedding: a fit of its distances, or these alone where they know how words are related."""


def _data_of(measured: Measured) -> Distances:
    return measured.data if isinstance(measured, Fit) else measured


def _cell_errors(measured: Measured, connections: tuple[str, str]) -> CellErrors:
    """The means of cells, and the errors that attribute words and templates leave."""
    data = _data_of(measured)
    contrasted(*connections, data.connections.tolist(), data.filled)
    if isinstance(measured, Distances):
        spec = load_model(RELATED)
        return related_cell_errors(*family_of(spec).prepared(spec, data))
    errors = family_of(measured.spec).cell_errors(measured)
    if TEMPLATES not in measured.tree.children:
        return errors
    shifts = flat_draws(measured.tree[f"{TEMPLATES}/word_shift"].to_numpy())
    apart = (shifts - shifts.mean(axis=0)) / np.sqrt(len(shifts) - 1)
    connection = errors.cells.stands_for
    root = apart[:, np.arange(len(connection))[:, None], connection].reshape(len(apart), -1).T
    return replace(errors, templates=sparse.csr_array(np.nan_to_num(root)))


def default_contrast(measured: Iterable[Measured]) -> tuple[tuple[str, str], tuple[Note, ...]]:
    """Associated - different where every table has it, else associated - the first control list, with a note."""
    first, *rest = (
        contrast_partners("associated", data.connections.tolist(), data.filled)
        if "associated" in data.connections
        else []
        for data in map(_data_of, measured)
    )
    common = [name for name in first if all(name in others for others in rest)]
    if not common:
        raise InputError("no connection stands beside associated everywhere: name two connections as contrast")
    if common[0] == "different":
        return ("associated", "different"), ()
    lacking = Note("no-value", what="associated - different", reason="lacking in some embedding")
    return ("associated", common[0]), (lacking,)


def _read(tables: Mapping[str, pd.DataFrame]) -> dict[str, Distances]:
    """The distances of each table."""
    data: dict[str, Distances] = {}
    with progress("reading the tables", len(tables)) as done:
        for number, (name, table) in enumerate(tables.items()):
            with within(name):
                data[name] = read_distances(table)
            done(number + 1)
    refuse_mixed(data)
    return data


def _measured(
    tables: Mapping[str, pd.DataFrame],
    data: Mapping[str, Distances],
    seed: int,
    adjust: Adjust,
    frequencies: Mapping[str, Any],
) -> Mapping[str, Measured]:
    """Each table as it is where every one knows how words are related, else fitted with errors of crossed effects."""
    fits: dict[str, Fit] = {}
    related = all(each.relatedness is not None for each in data.values())
    templates = any(template_columns(table) for table in tables.values())
    if related and adjust is None and not templates and not any(each.slope_error for each in data.values()):
        return data
    model = RELATED if related else FALLBACK
    with progress("fitting the embeddings", len(tables)) as done:
        for number, (name, table) in enumerate(tables.items()):
            options: dict[str, Any] = {"draws": DRAWS, "adjust": adjust, "frequencies": frequencies[name]}
            with within(name):
                fits[name] = Fit(fit(table, model, seed=seed + number, **options))
            done(number + 1)
    return fits


def measured_stage(
    tables: Tables, contrast: tuple[str, str] | None, seed: int, adjust: Adjust = None, frequencies: Any = None
) -> Stage:
    """Estimates of tables or axes that a pool is made of."""
    check_used(adjust, frequencies)
    attribute = "" if adjust is None else str(next(iter([adjust] if isinstance(adjust, str) else adjust)))
    axes = {name: each for name, each in tables.items() if isinstance(each, Axis)}
    if axes:
        if adjust is not None:
            raise InputError("adjust and frequencies are for distance tables: leave them out")
        copies = _copies({name: pd.Series(axis.places, list(axis.words)) for name, axis in axes.items()})
        return _stage_of_axes(axes, contrast, [name for name in axes if name not in copies])._replace(copies=copies)
    frames = {name: each for name, each in tables.items() if isinstance(each, pd.DataFrame)}
    named = isinstance(frequencies, Mapping) and set(map(str, frequencies)) == set(frames)
    by_name = {str(key): frequencies[key] for key in frequencies} if named else dict.fromkeys(frames, frequencies)
    with one_thread():  # thousands of small matrices, of which several threads make more work
        data = _read(frames)
        pair, notes = default_contrast(data.values()) if contrast is None else (contrast, ())
        attribute = next(iter(data.values())).adjusted or attribute
        copies = _copies({name: _cell_means(each, pair) for name, each in data.items()})
        copies = {name: first for name, first in copies.items() if by_name[name] is by_name[first]}
        kept = {name: frame for name, frame in frames.items() if name not in copies}
        measured = _measured(kept, {name: data[name] for name in kept}, seed, adjust, by_name)
        return stage_of(measured, pair)._replace(asked=notes, adjusted=attribute, copies=copies)


def _cell_means(data: Distances, contrast: tuple[str, str]) -> pd.Series:
    """The mean distances of a contrast by protected word and connection."""
    word, connection = np.nonzero(data.filled & np.isin(data.connections, contrast))
    labels = [data.protected_words[word], data.connections[connection]]
    return pd.Series(data.cells.mean[word, connection], pd.MultiIndex.from_arrays(labels))


def _copies(means: Mapping[str, pd.Series]) -> dict[str, str]:
    """Name to the first name with the same means of the same words, for those whose means came before."""
    first: dict[str, tuple[float, pd.Series]] = {}
    again: dict[str, str] = {}
    for name, given in means.items():
        own, total = given.sort_index(), float(given.sum())
        same = (
            other
            for other, (sum_of, known) in first.items()
            if len(own) and abs(sum_of - total) <= SAME * len(own)  # all words are compared where the sums are equal
            if known.index.equals(own.index) and np.allclose(known, own, rtol=0, atol=SAME)
        )
        if (other := next(same, None)) is None:
            first[name] = total, own
        else:
            again[name] = other
    return again


def copy_notes(copies: Mapping[str, str], reason: str) -> list[Note]:
    """Notes on embeddings that count once: those of one first, and why."""
    same: dict[str, list[str]] = {}
    for name, first in copies.items():
        same.setdefault(first, [first]).append(name)
    return [Note("duplicates", count=len(names), rule="once", reason=reason, words=names) for names in same.values()]


def near_copies(covariance: FloatArray, settings: IntArray) -> NDArray[np.bool_]:
    """True (E, E) for embeddings of different settings with nearly the same errors, of which this is the covariance."""
    sd = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    near: NDArray[np.bool_] = (covariance / np.outer(sd, sd) > NEARLY) & (settings[:, None] != settings)
    return near


def near_copy_notes(names: Sequence[str], near: NDArray[np.bool_], alike: Mapping[str, str]) -> list[Note]:
    """Notes on near copies: which have one setting, that of a first, and which pairs (E, E) count as several."""
    reason = f"errors correlated above {NEARLY:g}"
    apart = [[names[one], names[other]] for one, other in np.argwhere(near).tolist()]
    every = [Note("duplicates", count=2, rule="apart", reason=reason, words=pair) for pair in apart]
    return [*copy_notes(alike, reason), *every]


def _stage_of_axes(every: Mapping[str, Axis], contrast: tuple[str, str] | None, names: Iterable[str]) -> Stage:
    """Places as the distance to the negative pole less that to the positive one, half on either side."""
    axes = {name: every[name] for name in names}
    first = next(iter(axes.values()))
    if any(not each.paired for each in axes.values()):
        raise InputError("an axis of two lists has no pairs that tell how errors are correlated: give axes of pairs")
    asked = first.poles.poles.ends
    if odd := [name for name, each in axes.items() if each.poles.poles.ends != asked or each.centre != first.centre]:
        raise InputError(f"{odd[0]} has another axis than {next(iter(axes))}: give one axis in several embeddings")
    if contrast not in (None, first.ends):
        raise InputError(f"contrast is {contrast}: that of axes is {first.ends}, or leave it out")
    common = [pair for pair in first.poles.pairs if all(pair in each.poles.pairs for each in axes.values())]
    if len(common) < FEWEST:
        named = listed([" and ".join(pair) for pair in common])
        raise InputError(f"the embeddings have {len(common)} pairs in common ({named}): {FEWEST} are needed")
    number, values, by_pair, own = [], [], [], []
    for place, axis in enumerate(axes.values()):
        rows = [axis.poles.pairs.index(pair) for pair in common]
        places = axis.offset.offsets[0][rows] @ axis.coordinates.T
        # what each pair adds to the error of the mean over the common pairs
        by_pair.append((places - places.mean(axis=0)) / np.sqrt(len(rows) * (len(rows) - 1)))
        number += [place] * len(axis.words)
        values.append(axis.places)
        # from these to the errors that the axis has by itself
        sd, plain = np.sqrt(axis.coordinates**2 @ axis.variances("pairs")), np.sqrt((by_pair[-1] ** 2).sum(axis=0))
        own.append(np.divide(sd, plain, out=np.ones_like(sd), where=plain > 0))
    every_pair = dict.fromkeys(pair for each in axes.values() for pair in each.poles.pairs)
    lost = ["/".join(pair) for pair in every_pair if pair not in common]
    notes = tuple(left_out(len(lost), len(every_pair), "pairs", "not in every embedding", lost))
    law = Normals.with_root(np.concatenate(values), (np.concatenate(by_pair, axis=1) * np.concatenate(own)).T)
    means = Estimates.of(law, len(number), pd.DataFrame({"embedding": number}))
    sums = partial(_sums_of_places, [list(axis.words) for axis in axes.values()])
    return Stage(tuple(axes), first.ends, means, PAIRS, notes, sums, partial(_stage_of_axes, every, contrast))


def _sums_of_places(words: Sequence[list[str]], number: int, _: str | None) -> Sums:
    """The mean of all places, and below it each."""
    own = words[number]
    mean = sparse.csr_array(np.full((1, len(own)), 1 / max(len(own), 1)))
    labels = pd.DataFrame({"protected_word": pd.array([WHOLE, *own], dtype="string")})
    return Sums(labels, stacked(mean, identity(len(own))), identity(len(own)), PAIRS)


def _sums_of_cells(
    parts: Sequence[CellErrors],
    contrast: tuple[str, str],
    number: int,
    rows: str | None,
) -> Sums:
    """Rows as a fit has them."""
    return row_sums(parts[number].data, parts[number].cells, *contrast, rows)


def stage_of(measured: Mapping[str, Measured], contrast: tuple[str, str]) -> Stage:
    """The mean distances in one or more embeddings, with their joint covariance.

    Errors are those of attribute lists like these, whose topics differ too.
    """
    parts = []
    for name, each in measured.items():
        with within(name):
            parts.append(_cell_errors(each, contrast))
    joint, errors, notes = _joint_errors(parts, contrast)
    embedding = np.repeat(np.arange(len(parts)), [part.cells.n.size for part in parts])
    law = Gaussian(np.concatenate([part.cells.means for part in parts]), errors)
    means = Estimates.of(law, len(embedding), pd.DataFrame({"embedding": embedding}))
    repeats = dict.fromkeys(note for part in parts for note in part.data.notes)
    sums, part_of = partial(_sums_of_cells, parts, contrast), partial(_part_of, measured, contrast)
    return Stage(tuple(measured), contrast, means, joint, (*notes, *repeats), sums, part_of)


def _part_of(measured: Mapping[str, Measured], contrast: tuple[str, str], names: Iterable[str]) -> Stage:
    """The mean distances in some of the embeddings."""
    return stage_of({name: measured[name] for name in names}, contrast)


def _joint_errors(parts: Sequence[CellErrors], contrast: tuple[str, str]) -> tuple[str, Errors, tuple[Note, ...]]:
    """Source of the covariance between embeddings, the covariance, and notes on it."""
    words = [word for part in parts for word in part.data.attribute_words.tolist()]
    share_words = len(set(words)) < len(words)
    if len(parts) > 1 and all(part.factors is not None for part in parts):
        joined = joint_relatedness(
            [relatedness_for(part.data) for part in parts], [part.data.protected_words.tolist() for part in parts]
        )
        if not isinstance(joined, str):
            return STACKED, _with_templates(parts, _fields_of(parts, contrast, joined).covariance), few_shared(joined)
        alone = Note("independent", what="embeddings", reason=joined)
        return APART, _apart(parts, contrast), (alone,) * share_words
    if len(parts) > 1 and parts[0].factors is None and share_words:
        return SHARED, _with_templates(parts, _shared(parts, contrast)), ()
    return APART, _apart(parts, contrast), ()


def _fields_of(parts: Sequence[CellErrors], contrast: tuple[str, str], related: Relatedness) -> ErrorFields:
    """Errors of the cells of a contrast in one embedding, or in all whose words ``related`` joins."""
    columns = []
    for part in parts:
        own = np.array([part.cells.columns.index(name) for name in contrast])
        columns.append(np.r_[own, part.cells.lists] if contrast == (OWN, OTHER) else own)
    words = parts[0].data.protected_words if len(parts) == 1 else np.array(related.protected_words)
    return error_fields(parts, columns, related, words)


def _of_roots(roots: Sequence[Matrix], weights: Matrix) -> FloatArray:
    """The covariance (m, m) of weighted sums (m, n), from roots (n, units) of independent parts of that of all."""
    parts = [sparse.csr_array(weights @ root) for root in roots]
    return sum(((part @ part.T).toarray() for part in parts), np.zeros((weights.shape[0], weights.shape[0])))


def _apart(parts: Sequence[CellErrors], contrast: tuple[str, str]) -> Errors:
    """Errors that are independent between embeddings."""
    fields = [
        None if part.factors is None else _fields_of([part], contrast, relatedness_for(part.data)) for part in parts
    ]

    def errors(weights: Matrix) -> FloatArray:
        total = np.zeros((weights.shape[0], weights.shape[0]))
        for part, own, some in zip(parts, fields, _by_part(parts, weights), strict=True):
            total += _of_roots([root for root, _ in part.sources], some) if own is None else own.covariance(some)
        return total

    return _with_templates(parts, errors)


def _with_templates(parts: Sequence[CellErrors], errors: Errors) -> Errors:
    """The same with the errors of templates, which are those of single embeddings."""
    if all(part.templates is None for part in parts):
        return errors

    def both(weights: Matrix) -> FloatArray:
        each = zip(parts, _by_part(parts, weights), strict=True)
        own = [_of_roots([part.templates], some) for part, some in each if part.templates is not None]
        return errors(weights) + np.sum(own, axis=0)

    return both


def _by_part(parts: Sequence[CellErrors], weights: Matrix) -> list[sparse.csr_array]:
    """The weights of the cells of each embedding."""
    ends, columns = np.cumsum([0, *(part.cells.n.size for part in parts)]), sparse.csc_array(weights)
    return [sparse.csr_array(columns[:, begin:end]) for begin, end in pairwise(ends.tolist())]


def _shared(parts: Sequence[CellErrors], contrast: tuple[str, str]) -> Errors:
    """Errors that are correlated between embeddings by words which both have.

    Each part of the covariance (attribute words, word x group, residuals) has one correlation over pairs of
    embeddings, estimated from the deviations of distances from the means of their cells.
    """
    means, rests = [], []
    for part in parts:
        data = part.data
        rows = np.isin(data.connections[data.connection], contrast)
        frame = pd.DataFrame(
            {
                "word": data.protected_words[data.word[rows]],
                "attribute": data.attribute_words[data.attribute[rows]],
                "connection": data.connections[data.connection[rows]],
                "value": (data.y - data.cells.mean[data.word, data.connection])[rows],
            }
        )
        by_word = frame.groupby(["attribute", "connection"])["value"]
        # the mean deviation of an attribute word is its own effect, what is left belongs to the pair
        frame["rest"] = frame["value"] - by_word.transform("mean")
        rest = frame.set_index(["word", "attribute", "connection"])["rest"]
        means.append(by_word.mean())
        rests.append(rest[~rest.index.duplicated()])
    of_words, of_pairs = _mean_correlation(means), _mean_correlation(rests)
    count = max(len(part.sources) for part in parts)
    shares = [of_pairs if source == count - 1 else of_words for source in range(count)]
    stacked_roots = []
    for source in range(count):
        roots = [part.sources[source] for part in parts if len(part.sources) > source]
        if len(roots) < len(parts):
            shares[source] = 0.0
            continue
        # the roots of all embeddings, with the columns of the same words below each other
        names = np.unique(np.concatenate([labels for _, labels in roots]))
        below = []
        for root, labels in roots:
            entries = root.tocoo()
            column = np.searchsorted(names, labels)[entries.col]
            below.append(sparse.csr_array((entries.data, (entries.row, column)), shape=(root.shape[0], len(names))))
        stacked_roots.append(np.sqrt(shares[source]) * stacked(*below))

    def errors(weights: Matrix) -> FloatArray:
        total = _of_roots(stacked_roots, weights)
        for part, some in zip(parts, _by_part(parts, weights), strict=True):
            own = zip(part.sources, shares, strict=False)
            total += _of_roots([np.sqrt(1 - share) * root for (root, _), share in own], some)
        return total

    return errors


def _mean_correlation(series: Sequence[pd.Series]) -> float:
    """Mean correlation of each two series at their common places, three at least; 0 where it is negative or unknown."""
    wide = pd.concat(series, axis=1, keys=range(len(series)))
    correlations = wide.corr(min_periods=3).to_numpy()[np.triu_indices(len(series), 1)]
    known = correlations[np.isfinite(correlations)]
    return float(np.clip(known.mean(), 0.0, 0.99)) if len(known) else 0.0


def rows_of_all(stage: Stage) -> tuple[str, list[Note]]:
    """The rows that all embeddings have: associations, if each has them, or places.

    And a note where only some have associations.
    """
    kinds = [stage.sums(number, None).kind for number in range(len(stage.embeddings))]
    lacking = [name for name, kind in zip(stage.embeddings, kinds, strict=True) if kind != RAW]
    if not lacking or len(lacking) == len(kinds):
        return kinds[0], []
    return DIFFERENCE, [Note("no-value", what="associations", reason=f"missing lists in {listed(lacking)}")]


def _sums(stage: Stage, rows: str | None) -> list[Sums]:
    """The sums of each embedding, of which none is without words."""
    every = [stage.sums(number, rows) for number in range(len(stage.embeddings))]
    for embedding, sums in zip(stage.embeddings, every, strict=True):
        if len(sums.index) < 2:
            raise InputError(f"{embedding}: no protected word has {' and '.join(stage.contrast)} distances")
    return every


def whole_lists(stage: Stage, rows: str | None = None) -> Estimates:
    """The contrast of the whole list as a fit has it, by ``embedding``.

    ``count`` is how many protected words it holds.
    """
    every = _sums(stage, rows)
    weights = sparse.csr_array(sparse.block_diag([sums.combine[[0]] @ sums.parts for sums in every]))
    counts = [sums.index["protected_word"].iloc[1:].nunique() for sums in every]
    index = pd.DataFrame({"embedding": range(len(every)), "count": counts})
    return _known(stage, weights, identity(len(every)), index)


def word_rows(stage: Stage, rows: str | None = None) -> Estimates:
    """The rows of single words as a fit has them, by ``embedding`` and ``word``."""
    every = _sums(stage, rows)
    own = [sums.index["protected_word"].to_numpy()[1:] for sums in every]
    combine = sparse.csr_array(sparse.block_diag([sums.combine[1:] for sums in every]))
    parts = sparse.csr_array(sparse.block_diag([sums.parts for sums in every]))
    number = np.repeat(np.arange(len(own)), [len(each) for each in own])
    return _known(stage, parts, combine, pd.DataFrame({"embedding": number, "word": np.concatenate(own)}))


def _known(stage: Stage, parts: sparse.csr_array, combine: sparse.csr_array, index: pd.DataFrame) -> Estimates:
    """Sums ``combine @ parts`` of the means of all embeddings, with their joint covariance, which is made once."""
    means = stage.means.combine(parts)
    covariance = means.law.covariance(means.weights)
    law = Gaussian.known(combine @ means.mean, combine @ (combine @ covariance).T)
    return Estimates.of(law, len(index), index)


def units_of(standardise: object, tables: Tables) -> FloatArray | None:
    """The unit of each embedding (tables,), in cosine distance; None where contrasts are in cosine distance.

    ``standardise`` is a flag, or a mapping of the names of all tables to their units.
    """
    if isinstance(standardise, Mapping):
        given = np.array(pd.Series(standardise, dtype=float).reindex(list(tables)), dtype=float)
        if not (given > 0).all() or not np.isfinite(given).all():
            raise InputError(
                f"standardise is {shown(standardise)}: give True, False, or a mapping of the names of all tables, "
                f"{listed(list(tables))}, to the unit of each, a cosine distance above 0"
            )
        return given
    if not flag(standardise, "standardise"):
        return None
    units = []
    for name, each in tables.items():
        if isinstance(each, Axis):
            unit = distance_sd(each.embedding, name)
        else:
            unit = Distances.read(each, check=False).distance_sd(name)
        if isinstance(unit, str):
            raise InputError(
                f"contrasts cannot be standardised, since {unit}; or give units of your own, such as "
                f"standardise={{{name!r}: 0.12, ...}}"
            )
        units.append(unit)
    return np.array(units)


def standardised(estimates: Estimates, units: FloatArray) -> Estimates:
    """Contrasts in the units (embeddings,) of their embeddings, which are taken as known."""
    return estimates / units[estimates.index["embedding"]]


def holdings(tables: Mapping[str, Any], contrast: tuple[str, str]) -> pd.DataFrame:
    """Share of the words of a contrast that each embedding holds, NaN where not known; its lists' language and name.

    Control lists that the contrast does not take are not counted.
    """
    present, languages, names = [], [], []
    records = {name: coverage_of(table) for name, table in tables.items()}
    for table, record in zip(tables.values(), records.values(), strict=True):  # an axis has notes of its own
        lists = [] if record is None else [entry for entry in record.lists if _counts(entry, contrast)]
        sizes = [entry["asked"] for entry in lists]
        known = bool(sizes) and all(count is not None for count in sizes)
        total = sum(count or 0 for count in sizes)
        present.append(sum(entry["found"] for entry in lists) / total if known and total else np.nan)
        languages.append(None if record is None else record.language)
        names.append(table.name if isinstance(table, Axis) else None if record is None else record.word_list)
    texts = {"language": languages, "word_list": names}
    held = pd.DataFrame(
        {
            "found": present,
            **{name: pd.array([each or pd.NA for each in part], dtype="string") for name, part in texts.items()},
        },
        index=list(tables),
    )
    used = {
        entry["list"] for record in records.values() if record for entry in record.lists if _counts(entry, contrast)
    }
    held.attrs["limits"] = limits_of(filter(None, records.values()), used)
    held.attrs["respelled"] = {name: record.substituted for name, record in records.items() if record is not None}
    return held


def sources_of(tables: Tables) -> tuple[Any, ...]:
    """The records of word lists and embeddings of tables, and the sources of axes, for :func:`bayesbias.cite`."""
    each = (table.sources() if isinstance(table, Axis) else (coverage_of(table),) for table in tables.values())
    return tuple(chain.from_iterable(each))


def _counts(entry: ListEntry, contrast: tuple[str, str]) -> bool:
    """True if a contrast takes the words of a list."""
    if entry["kind"] == "stereotype":
        return any(name in STEREOTYPES for name in contrast)
    return entry["kind"] == "protected" or entry["list"] in contrast


def holding_notes(coverage: pd.DataFrame) -> list[Note]:
    """Notes on words that some embedding lacks, and on those that are read under other spellings."""
    respelled = dict.fromkeys(f"{a} as {b}" for pairs in coverage.attrs["respelled"].values() for a, b in pairs.items())
    return [*coverage.attrs["limits"], *([Note("spelling", words=list(respelled))] if respelled else [])]


def outside_note(mean: float, estimates: FloatArray) -> list[Note]:
    """A note where a mean lies below or above all estimates."""
    side = "below" if np.all(mean < estimates) else "above" if np.all(mean > estimates) else ""
    return [Note("edge", side=side)] if side else []
