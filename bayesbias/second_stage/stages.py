"""Material of pools and criteria: means of tables or axes, their joint covariance, and contrasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from bayesbias._support.arguments import finite_number, flag, one_of
from bayesbias._support.progress import one_thread, progress
from bayesbias.axes import Axis
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted, flat_draws
from bayesbias.distances.adjustment import check_used
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.dataframe import Coverage, coverage_of, distance_sd, limits_of, template_columns
from bayesbias.distances.distances import Distances, refuse_mixed
from bayesbias.distances.vocabularies import few_shared, joint_relatedness
from bayesbias.errors import InputError, listed, shown, within
from bayesbias.models.families import family_of
from bayesbias.models.fits import FALLBACK, RELATED, fit
from bayesbias.models.functionals import CellErrors, ErrorFields, cell_errors, error_fields, related_cell_errors
from bayesbias.models.related import relatedness_for
from bayesbias.models.spec import load_model
from bayesbias.models.tree import EXACT, TEMPLATES, Fit, read_distances
from bayesbias.models.weights import DIFFERENCE, RAW, Sums, row_sums, stacked
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.mixtures import Empirical, Gaussian, Matrix, Normals
from bayesbias.posteriors import Estimates, identity
from bayesbias.results import Note, Result
from bayesbias.vectors.lookup import left_out
from bayesbias.words import OTHER, OWN, STEREOTYPES, WHOLE

STACKED, SHARED, APART, PAIRS = "vectors", "shared words", "independent", "pairs"
"""What the covariance of embeddings follows from."""
DRAWS = 400  # of a fit, of which only the scales are used
FEWEST = 4  # pairs that all embeddings must have: fewer tell little of how errors are correlated
SAME = 1e-6  # mean distances that differ by less are those of one embedding
NEARLY = 0.99  # correlation of the errors of two embeddings from which on they are nearly one
CHAINS = 4  # into which draws are divided for ArviZ; all draws are independent
LINE = ("correlation", "slope", "intercept", "residual_sd")  # variables of the posterior that tell of a relation


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
        name: (("chain", "draw", *([dim] if dim else [])), values.reshape(CHAINS, -1, *values.shape[1:]))
        for name, (dim, values) in variables.items()
    }
    size = next(iter(variables.values()))[1].shape[0] // CHAINS
    posterior = xr.Dataset(made, {"chain": np.arange(CHAINS), "draw": np.arange(size), **coords})
    tree = xr.DataTree.from_dict({"/posterior": posterior})
    tree.attrs = {"seed": seed, "engine": EXACT}
    return tree


type Tables = Mapping[str, pd.DataFrame | Axis]
"""Name of each embedding to its distance table, or to an axis in it."""
type Adjust = str | Mapping[str, Mapping[str, float]] | None
"""An attribute of words that is adjusted for, as in :func:`fit`."""
type Measured = Fit | Distances | Axis
"""An embedding: a fit of its distances, these alone where they know how words are related, or an axis."""
type Errors = Callable[[Matrix], FloatArray]
"""The covariance (m, m) of the errors of weighted sums (m, n) of n means."""


@dataclass(frozen=True)
class Stage:
    """Mean distances of protected words in several embeddings, not shrunken, and the rows that a fit makes of them."""

    measured: Mapping[str, Measured]
    contrast: tuple[str, str]
    means: Estimates  # by ``embedding`` (its number), for attribute lists like these
    parts: Sequence[CellErrors | Axis]  # of each embedding
    joint: str  # what the covariance between embeddings follows from
    notes: tuple[Note, ...]  # on the covariance
    asked: tuple[Note, ...] = ()  # on the contrast that was taken
    adjusted: str = ""  # attribute of words that distances are adjusted for
    copies: Mapping[str, str] = MappingProxyType({})  # name of an embedding that came before to that; has no means

    def sums(self, rows: str | None) -> list[Sums]:
        """The sums of the means of each embedding, none of which is without words, given what rows of words are."""
        every = []
        for name, part in zip(self.measured, self.parts, strict=True):
            if isinstance(part, Axis):  # the mean of all places, and below it each
                words, each = list(part.words), identity(len(part.words))
                mean = sparse.csr_array(np.full((1, len(words)), 1 / max(len(words), 1)))
                labels = pd.DataFrame({"protected_word": pd.array([WHOLE, *words], dtype="string")})
                every.append(Sums(labels, stacked(mean, each), each, PAIRS))
            else:
                every.append(row_sums(part.data, part.cells, *self.contrast, rows))
            if len(every[-1].index) < 2:
                raise InputError(f"{name}: no protected word has {' and '.join(self.contrast)} distances")
        return every

    def contrasts(self, rows: str | None = None, single: bool = False) -> Estimates:
        """The contrast of the whole list as a fit has it, by ``embedding``, and ``count``, how many words it holds.

        Of one embedding also that of each ``single`` word, by ``word``. The joint covariance is made once.
        """
        every = self.sums(rows)
        words = [sums.index["protected_word"].iloc[1:] for sums in every]
        if single:
            parts, combine, index = every[0].parts, every[0].combine[1:], pd.DataFrame({"word": words[0].to_numpy()})
        else:
            parts = sparse.csr_array(sparse.block_diag([sums.combine[[0]] @ sums.parts for sums in every]))
            combine, counts = identity(len(every)), [own.nunique() for own in words]
            index = pd.DataFrame({"embedding": range(len(every)), "count": counts})
        means = self.means.combine(parts)
        covariance = means.law.covariance(means.weights)
        law = Gaussian(combine @ means.mean, combine @ (combine @ covariance).T)
        return Estimates.of(law, len(index), index)


def checked_contrast(contrast: tuple[str, str] | None) -> tuple[str, str] | None:
    """Two connections, or None for the default."""
    if contrast is None or (isinstance(contrast, tuple | list) and len(contrast) == len(set(contrast)) == 2):
        return contrast if contrast is None else (contrast[0], contrast[1])
    raise InputError(f"contrast is {shown(contrast)}: give two connections, such as ('associated', 'different')")


def _cell_errors(measured: Fit | Distances, connections: tuple[str, str]) -> CellErrors:
    """The means of cells, and the errors that attribute words and templates leave."""
    data = measured.data if isinstance(measured, Fit) else measured
    contrasted(*connections, data.connections.tolist(), data.filled)
    if isinstance(measured, Distances):
        spec = load_model(RELATED)
        return related_cell_errors(*family_of(spec).prepared(spec, data))
    errors = cell_errors(measured)
    if TEMPLATES not in measured.tree.children:
        return errors
    shifts = flat_draws(measured.tree[f"{TEMPLATES}/word_shift"].to_numpy())
    apart = (shifts - shifts.mean(axis=0)) / np.sqrt(len(shifts) - 1)
    connection = errors.cells.stands_for
    root = apart[:, np.arange(len(connection))[:, None], connection].reshape(len(apart), -1).T
    return replace(errors, templates=sparse.csr_array(np.nan_to_num(root)))


def default_contrast(every: Iterable[Distances]) -> tuple[tuple[str, str], tuple[Note, ...]]:
    """Associated - different where every table has it, else associated - the first control list, with a note."""
    first, *rest = (
        contrast_partners("associated", data.connections.tolist(), data.filled)
        if "associated" in data.connections
        else []
        for data in every
    )
    common = [name for name in first if all(name in others for others in rest)]
    if not common:
        raise InputError("no connection stands beside associated everywhere: name two connections as contrast")
    lacking = Note("no-value", what="associated - different", reason="lacking in some embedding")
    return ("associated", common[0]), (lacking,) * (common[0] != "different")


def measured_stage(
    tables: Tables, contrast: tuple[str, str] | None, seed: int, adjust: Adjust = None, frequencies: Any = None
) -> Stage:
    """Estimates of tables or axes that a pool is made of."""
    check_used(adjust, frequencies)
    axes = {name: each for name, each in tables.items() if isinstance(each, Axis)}
    if axes:
        ends = next(iter(axes.values())).ends
        if adjust is not None or contrast not in (None, ends):
            raise InputError(f"contrast, adjust and frequencies are for distance tables: axes have {ends}")
        copies = _copies({name: pd.Series(axis.places, list(axis.words)) for name, axis in axes.items()})
        return replace(_stage_of_axes({name: axes[name] for name in axes if name not in copies}), copies=copies)
    frames = {name: each for name, each in tables.items() if isinstance(each, pd.DataFrame)}
    named = isinstance(frequencies, Mapping) and set(map(str, frequencies)) == set(frames)
    by_name = {str(key): frequencies[key] for key in frequencies} if named else dict.fromkeys(frames, frequencies)
    with one_thread():  # thousands of small matrices, of which several threads make more work
        data = dict[str, Distances]()
        for name, frame in frames.items():
            with within(name):
                data[name] = read_distances(frame)
        refuse_mixed(data)
        pair, notes = default_contrast(data.values()) if contrast is None else (contrast, ())
        attribute = "" if adjust is None else str(next(iter([adjust] if isinstance(adjust, str) else adjust)))
        attribute = next(iter(data.values())).adjusted or attribute
        means = {}
        for name, each in data.items():
            word, connection = np.nonzero(each.filled & np.isin(each.connections, pair))
            labels = [each.protected_words[word], each.connections[connection]]
            means[name] = pd.Series(each.cells.mean[word, connection], pd.MultiIndex.from_arrays(labels))
        copies = _copies(means)
        copies = {name: first for name, first in copies.items() if by_name[name] is by_name[first]}
        kept = {name: each for name, each in data.items() if name not in copies}
        measured: dict[str, Measured] = dict(kept)
        related = all(each.relatedness is not None for each in kept.values())
        templates = any(template_columns(frames[name]) for name in kept)
        if not related or adjust is not None or templates or any(each.slope_error for each in kept.values()):
            with progress("fitting the embeddings", len(kept)) as done:
                for number, name in enumerate(kept):
                    options: dict[str, Any] = {"draws": DRAWS, "adjust": adjust, "frequencies": by_name[name]}
                    with within(name):
                        model = RELATED if related else FALLBACK
                        measured[name] = Fit(fit(frames[name], model, seed=seed + number, **options))
                    done(number + 1)
        return replace(stage_of(measured, pair), asked=notes, adjusted=attribute, copies=copies)


def _copies(means: Mapping[str, pd.Series]) -> dict[str, str]:
    """Name to the first name with the same means of the same words, for those whose means came before."""
    first, again = dict[str, pd.Series](), dict[str, str]()
    for name, given in means.items():
        own = given.sort_index()
        held = (other for other, known in first.items() if len(own) and known.index.equals(own.index))
        if other := next((other for other in held if (first[other] - own).abs().max() <= SAME), None):
            again[name] = other
        else:
            first[name] = own
    return again


def _stage_of_axes(axes: Mapping[str, Axis]) -> Stage:
    """Places as the distance to the negative pole less that to the positive one, half on either side."""
    first = next(iter(axes.values()))
    common = [
        pair
        for pair in first.poles.pairs
        if all(pair in each.poles.pairs and each.centre == first.centre for each in axes.values())
    ]
    if len(common) < FEWEST:
        named = listed([" and ".join(pair) for pair in common])
        raise InputError(
            f"the axes have {len(common)} pairs and their centre in common ({named}): give one axis of {FEWEST} pairs "
            "or more in several embeddings"
        )
    errors = []
    for axis in axes.values():
        rows = [axis.poles.pairs.index(pair) for pair in common]
        places = axis.offset.offsets[0][rows] @ axis.coordinates.T
        # what each pair adds to the error of the mean over the common pairs
        by_pair = (places - places.mean(axis=0)) / np.sqrt(len(rows) * (len(rows) - 1))
        # from these to the errors that the axis has by itself
        sd, plain = np.sqrt(axis.coordinates**2 @ axis.variances("pairs")), np.sqrt((by_pair**2).sum(axis=0))
        errors.append(by_pair * np.divide(sd, plain, out=np.ones_like(sd), where=plain > 0))
    every_pair = dict.fromkeys(pair for each in axes.values() for pair in each.poles.pairs)
    lost = ["/".join(pair) for pair in every_pair if pair not in common]
    notes = tuple(left_out(len(lost), len(every_pair), "pairs", "not in every embedding", lost))
    law = Normals(np.concatenate([axis.places for axis in axes.values()]), (np.concatenate(errors, axis=1).T,))
    number = np.repeat(np.arange(len(axes)), [len(axis.words) for axis in axes.values()])
    means = Estimates.of(law, len(number), pd.DataFrame({"embedding": number}))
    return Stage(axes, first.ends, means, list(axes.values()), PAIRS, notes)


def stage_of(measured: Mapping[str, Measured], contrast: tuple[str, str]) -> Stage:
    """The mean distances, or places, in one or more embeddings, with their joint covariance.

    Errors are those of attribute lists like these, whose topics differ too.
    """
    if axes := {name: each for name, each in measured.items() if isinstance(each, Axis)}:
        return _stage_of_axes(axes)
    parts = []
    for name, each in measured.items():
        if not isinstance(each, Axis):
            with within(name):
                parts.append(_cell_errors(each, contrast))
    joint, errors, notes = _joint_errors(parts, contrast)

    def with_templates(weights: Matrix) -> FloatArray:
        each = zip(parts, _by_part(parts, weights), strict=True)  # errors of templates are those of single embeddings
        own = [_of_roots([part.templates], some) for part, some in each if part.templates is not None]
        return errors(weights) + np.sum(own, axis=0)

    templates = any(part.templates is not None for part in parts)
    embedding = np.repeat(np.arange(len(parts)), [part.cells.n.size for part in parts])
    law = Gaussian(np.concatenate([part.cells.means for part in parts]), with_templates if templates else errors)
    means = Estimates.of(law, len(embedding), pd.DataFrame({"embedding": embedding}))
    repeats = dict.fromkeys(note for part in parts for note in part.data.notes)
    return Stage(measured, contrast, means, parts, joint, (*notes, *repeats))


def _joint_errors(parts: Sequence[CellErrors], contrast: tuple[str, str]) -> tuple[str, Errors, tuple[Note, ...]]:
    """Source of the covariance between embeddings, the covariance, and notes on it."""
    words, notes = [word for part in parts for word in part.data.attribute_words.tolist()], tuple[Note, ...]()
    share_words = len(parts) > 1 and len(set(words)) < len(words)
    if len(parts) > 1 and all(part.factors is not None for part in parts):
        related = [relatedness_for(part.data) for part in parts]
        joined = joint_relatedness(related, [part.data.protected_words.tolist() for part in parts])
        if not isinstance(joined, str):
            return STACKED, _fields_of(parts, contrast, joined).covariance, few_shared(joined)
        notes = (Note("independent", what="embeddings", reason=joined),) * share_words
    elif share_words and parts[0].factors is None:
        return SHARED, _shared(parts, contrast), ()
    each: list[Errors] = [
        partial(_of_roots, [root for root, _ in part.sources])
        if part.factors is None
        else _fields_of([part], contrast, relatedness_for(part.data)).covariance
        for part in parts
    ]

    def apart(weights: Matrix) -> FloatArray:
        own = [errors(some) for errors, some in zip(each, _by_part(parts, weights), strict=True)]
        return np.asarray(np.sum(own, axis=0))

    return APART, apart, notes


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
        frame = data.table.assign(value=data.y - data.cells.mean[data.word, data.connection])[rows]
        by_word = frame.groupby(["attribute_word", "connection"])["value"]
        # the mean deviation of an attribute word is its own effect, what is left belongs to the pair
        frame["rest"] = frame["value"] - by_word.transform("mean")
        rest = frame.set_index(["protected_word", "attribute_word", "connection"])["rest"]
        means.append(by_word.mean())
        rests.append(rest[~rest.index.duplicated()])
    shares = [_mean_correlation(means)] * (len(parts[0].sources) - 1) + [_mean_correlation(rests)]
    stacked_roots = []
    for share, roots in zip(shares, zip(*(part.sources for part in parts), strict=True), strict=True):
        # the roots of all embeddings, with the columns of the same words below each other
        names, below = np.unique(np.concatenate([labels for _, labels in roots])), []
        for root, labels in roots:
            entries = root.tocoo()
            places = entries.row, np.searchsorted(names, labels)[entries.col]
            below.append(sparse.csr_array((entries.data, places), shape=(root.shape[0], len(names))))
        stacked_roots.append(np.sqrt(share) * stacked(*below))

    def errors(weights: Matrix) -> FloatArray:
        total = _of_roots(stacked_roots, weights)
        for part, some in zip(parts, _by_part(parts, weights), strict=True):
            own = zip(part.sources, shares, strict=True)
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
    """The rows that all embeddings have, associations if each has them; and a note where only some have."""
    kinds = [sums.kind for sums in stage.sums(None)]
    lacking = [name for name, kind in zip(stage.measured, kinds, strict=True) if kind != RAW]
    if not lacking or len(lacking) == len(kinds):
        return kinds[0], []
    return DIFFERENCE, [Note("no-value", what="associations", reason=f"missing lists in {listed(lacking)}")]


def units_of(standardise: object, tables: Tables) -> FloatArray | None:
    """The unit of each embedding (tables,), in cosine distance; None where contrasts are in cosine distance.

    ``standardise`` is a flag, or a mapping of the names of all tables to their units.
    """
    if isinstance(standardise, Mapping):
        return np.array([finite_number(standardise[name], f"standardise of {name}", positive=True) for name in tables])
    if not flag(standardise, "standardise"):
        return None
    units = [
        distance_sd(each.embedding, name)
        if isinstance(each, Axis)
        else Distances.read(each, check=False).distance_sd(name)
        for name, each in tables.items()
    ]
    if unknown := [unit for unit in units if isinstance(unit, str)]:
        own = f"standardise={{{next(iter(tables))!r}: 0.12, ...}}"
        raise InputError(f"contrasts cannot be standardised, since {unknown[0]}; or give your own units, such as {own}")
    return np.array(units)


def holdings(tables: Tables, contrast: tuple[str, str]) -> tuple[pd.DataFrame, list[Note]]:
    """Share of the words of a contrast that each embedding holds, its lists' language and name, and notes on these.

    The share is NaN where it is not known; control lists that the contrast does not take are not counted.
    """
    rows, records, used = list[tuple[object, ...]](), list[Coverage](), set[str]()
    kinds = ("protected", "stereotype") if set(contrast) & set(STEREOTYPES) else ("protected",)
    for table in tables.values():
        if (record := coverage_of(table)) is None:  # an axis has notes of its own
            rows.append((np.nan, None, table.name if isinstance(table, Axis) else None))
            continue
        controls = [entry for entry in record.lists if entry["kind"] == "control" and entry["list"] in contrast]
        lists = [entry for entry in record.lists if entry["kind"] in kinds] + controls
        total = sum(np.nan if entry["asked"] is None else entry["asked"] for entry in lists) or np.nan
        rows.append((sum(entry["found"] for entry in lists) / total, record.language, record.word_list))
        records.append(record)
        used.update(entry["list"] for entry in lists)
    respelled = dict.fromkeys(f"{a} as {b}" for record in records for a, b in record.substituted.items())
    notes = [*limits_of(records, used), *([Note("spelling", words=list(respelled))] if respelled else [])]
    held = pd.DataFrame(rows, columns=["found", "language", "word_list"])
    return held.astype({"found": float, "language": "string", "word_list": "string"}), notes
