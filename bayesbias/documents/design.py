"""Rows of a regression of vectors on covariates: its terms, and the values that are compared."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayesbias.documents.samples import LEAST, TargetVectors, VectorSample, units_of
from bayesbias.errors import InputError, agreed, listed, many, near
from bayesbias.numerics.arrays import FloatArray, IntArray, unit_rows
from bayesbias.numerics.offsets import Field
from bayesbias.numerics.related import PairSample, list_correlations, pair_shares, principal_components, sample_pairs
from bayesbias.results import Note
from bayesbias.vectors.lookup import in_order, left_out, sampled_rows

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

FEW = 3  # clusters of a value up to which a note says so
GRID = 48  # combinations of values of which each has a row, at most
NEARLY_ONE = 0.9  # squared multiple correlation of a term with the others from which a note says so
ROUNDING = 1e-9  # weights of a difference that are rounding, as a share of the largest term
QUANTILES = (0.1, 0.9)  # of a number, between which values are compared


type Compared = tuple[str, Any, Any]
"""A covariate, and two values of it."""


def _less(compared: Compared) -> str:
    """The name of a difference; numbers of a design are floats."""
    name, first, other = (f"{each:g}" if isinstance(each, float | np.number) else str(each) for each in compared)
    return f"{name}: {other} - {f'({first})' if first.startswith('-') else first}"


@dataclass(frozen=True)
class Design:
    """The rows of a regression: what each cluster says of a word, or of groups of words, under the same covariates."""

    frame: pd.DataFrame  # covariates (R rows), those that are numbers last
    terms: list[str]  # names of the terms
    x: FloatArray  # the terms (R, p)
    spec: Any  # of the terms, for other values of the covariates
    vectors: TargetVectors
    cluster: IntArray  # (R,), from 0
    numbers: tuple[str, ...]  # covariates that are numbers
    levels: Mapping[str, list[Any]]  # the others, with their values
    groups: Mapping[str, Sequence[str]]  # the words by group; one where a word is alone
    notes: tuple[Note, ...]  # limits of every answer of these rows
    noun: str  # what a cluster is called

    @cached_property
    def centred(self) -> tuple[pd.DataFrame, FloatArray]:
        """Covariates and their terms (R, p) of numbers less their means, on whose 0 products of terms depend."""
        from formulaic.errors import FormulaicError  # type: ignore[import-untyped]

        centred = self.frame.assign(**{name: self.frame[name] - self.frame[name].mean() for name in self.numbers})
        with np.errstate(invalid="ignore", divide="ignore"), suppress(ValueError, FormulaicError):
            terms: FloatArray = self.spec.formula.get_model_matrix(centred).to_numpy(dtype=float)
            if self.numbers and terms.shape == self.x.shape and np.isfinite(terms).all():
                return centred, terms
        return self.frame, self.x  # such as logarithms

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1

    @cached_property
    def uneven(self) -> FloatArray:
        """Each term but the intercept from -1/2 to 1/2, (R, q); of factors all levels, over the square root of 2."""
        matrix = self.spec.formula.get_model_matrix(self.centred[0], ensure_full_rank=False)
        kinds = {factor: kind.name for factor, (kind, _) in matrix.model_spec.encoder_state.items()}
        sizes = np.empty(matrix.shape[1])
        for term, place in matrix.model_spec.term_slices.items():
            sizes[place] = 2 ** (sum(kinds.get(str(factor)) == "CATEGORICAL" for factor in term.factors) / 2)
        columns, spread = matrix.to_numpy(dtype=float), np.ptp(matrix.to_numpy(dtype=float), axis=0)
        value: FloatArray = ((columns - columns.min(axis=0)) / np.where(spread > 0, spread, 1) - 0.5) / sizes
        return value[:, spread > 0]

    @cached_property
    def _combinations(self) -> list[dict[str, Any]]:
        """Values that occur together of the covariates that are no numbers."""
        names = list(self.levels)
        held: set[tuple[Any, ...]] = set(self.frame[names].itertuples(index=False, name=None)) if names else {()}
        return [dict(zip(names, each, strict=True)) for each in product(*self.levels.values()) if each in held][:GRID]

    @cached_property
    def _grid(self) -> pd.DataFrame:
        """These combinations, with each number at its mean."""
        means = {name: float(self.frame[name].mean()) for name in self.numbers}
        return pd.DataFrame([each | means for each in self._combinations], index=range(len(self._combinations)))

    def _terms_at(self, rows: pd.DataFrame) -> FloatArray:
        """The terms (rows, p) of values of the covariates."""
        return np.asarray(self.spec.get_model_matrix(rows).to_numpy(dtype=float))

    def along(self, name: str, points: FloatArray) -> FloatArray:
        """Weights (points, p) of the terms at values of a number, averaged over the combinations of the others."""
        rows = pd.concat([self._grid.assign(**{name: point}) for point in points], ignore_index=True)
        return self._terms_at(rows).reshape(len(points), len(self._grid), -1).mean(axis=1)

    @cached_property
    def questions(self) -> tuple[pd.DataFrame, FloatArray, pd.DataFrame]:
        """Labels of coefficients, values and differences, the weights (m, p) of the terms, and what they rest on.

        That is, of values and differences, ``clusters``, of the value that has fewest, and ``rarest``, what that is;
        ``at``, numbers on which a difference depends, which are at their means; and ``overlap`` of coefficients, the
        squared multiple correlation of the term with the others.
        """
        labels: list[dict[str, Any]] = [{"quantity": "coefficient", "name": term} for term in self.terms]
        weights, rests = (
            list(np.eye(len(self.terms))),
            list[dict[str, Any]]({"overlap": overlap} for overlap in self.overlaps),
        )
        values = self._terms_at(self._grid) if len(self.frame.columns) else np.ones((1, 1))
        for each, own in zip(self._combinations, values, strict=True):
            texts = {name: str(value) for name, value in each.items()}
            labels.append({"quantity": "value", "name": ", ".join(texts.values()) or "all"} | texts)
            weights.append(own)
            rests.append(self._rarest([each]))
        # differences, then changes of differences along another covariate, where terms are products
        products = any(":" in term for term in self.terms)
        both = [(a, b) for a, b in combinations(self._pairs, 2) if a[0] != b[0]] if products else []
        for compared in [*((each,) for each in self._pairs), *both]:
            if (weighed := self._weighed(compared)) is None:
                continue
            sides: list[dict[Any, Any]] = [
                {name: value} for name, *values in compared if name in self.levels for value in values
            ]
            if products and self.levels:
                sides += pd.concat(weighed[1])[list(self.levels)].drop_duplicates().to_dict("records")
            labels.append({"quantity": "difference", "name": ", ".join(map(_less, compared))})
            numbers = [name for name, _, _ in compared if name in self.numbers]
            own, alone = compared[0], products and len(compared) == 1
            others = [each for each in self._pairs if each[0] in self.numbers and each[0] != own[0]] * alone
            depends = [name for name, *two in others if self._weighed((own, (name, *two)))]
            at = ", ".join(f"{name} {self.frame[name].mean():.4g}" for name in depends)
            rests.append(self._rarest(sides, numbers) | {"at": at})
            weights.append(weighed[0])
        columns = ["clusters", "rarest", "at", "overlap"]
        return pd.DataFrame(labels).astype("string"), np.array(weights), pd.DataFrame(rests).reindex(columns=columns)

    @cached_property
    def _pairs(self) -> list[Compared]:
        """Values of each covariate that are compared: of a number, quantiles."""
        pairs = [(name, levels[0], other) for name, levels in self.levels.items() for other in levels[1:]]
        for name in self.numbers:
            low, high = self.frame[name].quantile(list(QUANTILES), interpolation="nearest")
            if low == high:  # a number that few have
                low, high = self.frame[name].min(), self.frame[name].max()
            pairs.append((name, low, high))
        return pairs

    def _weighed(self, compared: Sequence[Compared]) -> tuple[FloatArray, list[pd.DataFrame]] | None:
        """Weights (p,) of the terms in a difference, and its corners; None where no values are compared, or nothing.

        A change of a difference has four corners, of which the second and the third count negatively.
        """
        names = [name for name, _, _ in compared]
        others = self._grid.drop(columns=names).drop_duplicates()
        corners = [
            others.assign(**dict(zip(names, values, strict=True)))[list(self._grid)]
            for values in product(*((other, first) for _, first, other in compared))
        ]
        occurring = {tuple(each.values()) for each in self._combinations}
        held = [[tuple(row) in occurring for row in corner[list(self.levels)].to_numpy(object)] for corner in corners]
        kept = np.all(held, axis=0)
        if not kept.any():
            return None
        corners = [corner[kept] for corner in corners]
        signs = [1.0, -1.0] if len(compared) == 1 else [1.0, -1.0, -1.0, 1.0]
        parts = [sign * self._terms_at(corner).mean(axis=0) for sign, corner in zip(signs, corners, strict=True)]
        weights: FloatArray = np.sum(parts, axis=0)
        # differences that do not change leave rounding errors
        return None if np.abs(weights).max() < ROUNDING * np.abs(self.x).max() else (weights, corners)

    def _number(self, rows: Any) -> int:
        """Number of clusters in some rows."""
        return len(np.unique(self.cluster[np.asarray(rows)]))

    def _rarest(self, sides: Sequence[Mapping[Any, Any]], numbers: Sequence[str] = ()) -> dict[str, Any]:
        """Clusters of the combination of values that has fewest, or of another number than the commonest, and which."""
        counted = []
        for side in sides:
            rows = np.logical_and.reduce([self.frame[name] == value for name, value in side.items()])
            counted.append((self._number(rows), " and ".join(f"{name} {value}" for name, value in side.items())))
        for name in numbers:  # a number may stand for two groups
            common = self.frame[name].mode().iloc[0]
            counted.append((self._number(self.frame[name] != common), f"another {name} than {common:g}"))
        clusters, rarest = min(counted, key=itemgetter(0))
        return {"clusters": clusters, "rarest": rarest}

    def products(self, attributes: AttributeWords) -> FloatArray:
        """Products (R,) of the rows' means with the direction of a contrast."""
        return np.asarray(self.vectors.mean @ attributes.direction)

    @cached_property
    def overlaps(self) -> list[float]:
        """Squared multiple correlation of each term with the others; NaN of the intercept."""
        overlaps, centred = [], self.centred[1]
        for place, spread in enumerate(np.ptp(self.x, axis=0)):
            column, others = centred[:, place], np.delete(centred, place, axis=1)
            left = column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
            overlaps.append(float(1 - left @ left / ((column - column.mean()) ** 2).sum()) if spread > 0 else np.nan)
        return overlaps

    def limits(self) -> list[Note]:
        """Notes on values that few clusters have, and on terms that go closely with others."""
        notes = []
        for name, level in ((name, level) for name, levels in self.levels.items() for level in levels):
            number = self._number(self.frame[name] == level)
            if number <= FEW:
                noun = agreed(number, self.noun, f"{self.noun}s")
                notes.append(Note("few-levels", count=number, factor=f"{noun} with {name} {level}"))
        close = [term for term, overlap in zip(self.terms, self.overlaps, strict=True) if overlap > NEARLY_ONE]
        reason = f"R2 > {NEARLY_ONE:g} with others"
        return notes + [Note("no-value", what=f"separate effect of {', '.join(close)}", reason=reason)] * bool(close)


def _names(factor: str, held: Sequence[str]) -> set[str]:
    """The variables in a factor: a column, or what is in a call such as ``bs(year, df=4)``."""
    if factor in held or factor == "1":
        return {factor} & set(held)
    tree = ast.parse(factor, mode="eval")
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions}


def designed(sample: VectorSample, groups: Mapping[str, Sequence[str]], formula: str) -> Design:
    """The rows of the regression of a word alone, or of the words of groups, on the terms of a formula, checked."""
    from formulaic import Formula  # type: ignore[import-untyped]  # loads slowly

    held = list(map(str, sample.units.columns))
    terms = Formula(formula)
    names = sorted({name for term in terms for factor in term.factors for name in _names(str(factor), held)})
    if unknown := [name for name in names if name not in held]:
        raise InputError(f"the formula names {unknown[0]!r}{near(unknown[0], held)}: covariates are {listed(held)}")
    words = [word for own in groups.values() for word in own]
    sums = [sample.vectors[word] for word in words]
    known = ~sample.units[names].isna().any(axis=1).to_numpy()
    rows = np.flatnonzero(np.any([each.n > 0 for each in sums], axis=0) & known)
    total = sum(int(each.n.sum()) for each in sums)
    dropped = total - sum(int(each.n[rows].sum()) for each in sums)
    notes = left_out(dropped, total, "vectors", "a covariate is missing", words)
    frame = sample.units.loc[rows, names].assign(**{"": sample.cluster[rows]})
    exact = sums[0].errors is not None
    frame, group = (frame.reset_index(drop=True), np.arange(len(rows))) if exact else units_of(frame)
    cluster = pd.factorize(frame.pop(""))[0]
    # of texts with a missing value of their own formulaic makes no terms
    frame = frame.astype({name: "str" for name in names if isinstance(frame[name].dtype, pd.StringDtype)})
    sums = [each.at(rows) if exact else each.at(rows).grouped(group, len(frame)) for each in sums]
    vectors = sums[0]
    if len(groups) > 1:
        vectors, kept, lost = joined(groups, sums, cluster, sample.noun)
        frame, cluster = frame.iloc[kept].reset_index(drop=True), pd.factorize(cluster[kept])[0]
        notes = [*lost, *notes]
    number = len(np.unique(cluster))
    if number < LEAST and not exact:
        raise InputError(
            f"there are vectors of {many(number, sample.noun)} for {listed(list(map(repr, words)))}, and intervals "
            f"need {LEAST}: give more speakers or documents, or finer clusters"
        )
    for name in names:
        if frame[name].nunique() < 2:
            raise InputError(f"{name!r} has one value, {frame[name].iloc[0]}: nothing can be compared")
    matrix = terms.get_model_matrix(frame)
    x = matrix.to_numpy(dtype=float)
    if not x.shape[1] or np.linalg.matrix_rank(x) < x.shape[1] or (x.shape[1] >= number and not exact):
        raise InputError(
            f"the terms {listed(list(map(str, matrix.columns))) or 'of the formula'} cannot be told apart by "
            f"{many(number, sample.noun)}: leave one out"
        )
    numeric = tuple(name for name in names if pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool)
    levels = {name: sorted(frame[name].unique().tolist(), key=str) for name in names if name not in numeric}
    design = Design(
        frame=frame[[*levels, *numeric]],
        terms=list(map(str, matrix.columns)),
        x=x,
        spec=matrix.model_spec,
        vectors=vectors,
        cluster=cluster,
        numbers=numeric,
        levels=levels,
        groups=groups,
        notes=tuple(notes),
        noun=sample.noun,
    )
    return replace(design, notes=(*notes, *design.limits()))


@dataclass(frozen=True, kw_only=True)
class GroupVectors(TargetVectors):
    """Contrasts of G groups of words in each unit, whose mean is G - 1 vectors (d,), one after another."""

    words: tuple[TargetVectors, ...]
    weights: FloatArray  # of the words' means in that of their group, (J, U); 0 where a unit does not say the word
    contrasts: FloatArray  # weights of the words' groups, (G - 1, J)

    def variances(self, b: FloatArray) -> FloatArray:
        of_words = self.contrasts.T @ b.reshape(len(self.contrasts), -1)
        parts = zip(self.weights, self.words, of_words, strict=True)
        return np.asarray(np.sum([weights**2 * word.variances(own) for weights, word, own in parts], axis=0))

    def length(self, cluster: IntArray) -> float:
        """1: each word is divided by its own length."""
        return 1.0


def joined(
    groups: Mapping[str, Sequence[str]], sums: Sequence[TargetVectors], cluster: IntArray, unit: str
) -> tuple[GroupVectors, IntArray, list[Note]]:
    """Words of groups as one vector of each unit, the units that say a word of each group, and notes.

    With ``t[h]``, the mean over the words of a group, and ``u[l]``, that over a list, the association is
    ``-sum over h, l of C[h, l] t[h] u[l] / G``, where the contrasts of lists are ``C = G / (G - 1) H'H`` with the rows
    H of Helmert. That is the product of ``H t / (G - 1)`` with ``-H u``, each laid end to end.
    """
    group = np.repeat(np.arange(len(groups)), list(map(len, groups.values())))
    lengths, notes = _lengths(groups, sums, cluster, unit)
    said = np.array([each.n > 0 for each in sums]) & np.isfinite(lengths)[:, None]
    spoken = np.array([said[group == place].any(axis=0) for place in range(len(groups))])
    if lacking := [name for name, own in zip(groups, spoken, strict=True) if not own.any()]:
        raise InputError("; ".join([f"no word of {listed(lacking)} is left, and an association needs each", *notes]))
    whole = spoken.all(axis=0)
    if not whole.any():
        raise InputError(
            f"no {unit} says words of each group, {listed(list(groups))}: name who speaks with clusters, or leave out "
            "covariates that vary within them"
        )
    if not whole.all():
        vectors = sum(int(each.n[own & ~whole].sum()) for each, own in zip(sums, said, strict=True))
        total = sum(int(each.n[own].sum()) for each, own in zip(sums, said, strict=True))
        notes += left_out(vectors, total, "vectors", f"{unit} without every group", list(groups))
    kept = np.flatnonzero(whole)
    said = said[:, kept]
    if not said[np.isfinite(lengths)].all():
        notes.append(Note("model", model=f"additive: words, {unit}s", reason="some lack a word"))
    words = [replace(each, n=np.maximum(each.n, 1)) for each in (own.at(kept) for own in sums)]  # the mean of none is 0
    lengths = np.where(np.isfinite(lengths), lengths, 1.0)
    vectors_of = [word.mean / length for word, length in zip(words, lengths, strict=True)]
    of_groups = [np.flatnonzero(group == place) for place in range(len(groups))]
    means = [
        _additive([vectors_of[word] for word in own], said[own], unit, name)
        for name, own in zip(groups, of_groups, strict=True)
    ]
    counts = np.array([said[group == place].sum(axis=0) for place in range(len(groups))])
    rows = helmert(len(groups)) / (len(groups) - 1)
    mean = np.einsum("kg,gud->ukd", rows, np.array(means)).reshape(len(kept), -1)
    weights = said / counts[group] / lengths[:, None]
    n = np.sum([np.where(own > 0, word.n, 0) for word, own in zip(words, weights, strict=True)], axis=0)
    known = [
        np.kron(np.outer(signs, signs), (own**2)[:, None, None] * word.errors)
        for word, own, signs in zip(words, weights, rows[:, group].T, strict=True)
        if word.errors is not None
    ]
    joint = GroupVectors(
        n=n,
        total=mean * n[:, None],
        squares=n * np.vecdot(mean, mean),
        within=np.zeros((mean.shape[1], mean.shape[1])),  # each word has its own
        errors=np.sum(known, axis=0) if known else None,
        words=tuple(words),
        weights=weights,
        contrasts=rows[:, group],
    )
    return joint, kept, notes


def _lengths(
    groups: Mapping[str, Sequence[str]], sums: Sequence[TargetVectors], cluster: IntArray, unit: str
) -> tuple[FloatArray, list[Note]]:
    """Length (J,) of the mean vector of each word, NaN for words that are left out, and notes on these."""
    lengths, rare, noise = np.full(len(sums), np.nan), [], []
    for place, (word, each) in enumerate(zip((word for own in groups.values() for word in own), sums, strict=True)):
        rows = np.flatnonzero(each.n > 0)
        numbers, names = pd.factorize(cluster[rows])
        if each.errors is None and len(names) < LEAST:
            rare.append(word)
            continue
        lengths[place] = each.at(rows).length(numbers)
        if not np.isfinite(lengths[place]):
            noise.append(word)
    few = left_out(len(rare), len(sums), "words", f"fewer than {LEAST} {unit}s", rare)
    return lengths, few + left_out(len(noise), len(sums), "words", "no common direction", noise)


def _additive(vectors: Sequence[FloatArray], said: NDArray[np.bool_], unit: str, name: str) -> FloatArray:
    """Means (U, d) over words (J, each (U, d)) of what units say: additive in words and units, by least squares."""
    share = said / said.sum(axis=0)
    plain = np.sum([own[:, None] * each for own, each in zip(share, vectors, strict=True)], axis=0)
    # the normal equations of the words' effects, without those of the units; effects have the mean 0
    normal = np.diag(said.sum(axis=1)) - said @ share.T
    if np.linalg.matrix_rank(normal, hermitian=True) < said.any(axis=1).sum() - 1:
        raise InputError(f"the words of {name} are in two parts, and no {unit} says words of both: leave some out")
    right = np.array([each[own].sum(axis=0) - own @ plain for own, each in zip(said, vectors, strict=True)])
    return np.asarray(plain - share.T @ (np.linalg.pinv(normal, hermitian=True) @ right))


SAMPLE = 3000  # words of the vocabulary
FEWEST = 100  # words without which errors of attribute words cannot be told
PAIRS = 1000  # pairs of each bin of similarity


@dataclass(frozen=True)
class AxisWords:
    """Words at the poles of an axis, with the errors that :func:`axis` has for them."""

    direction: FloatArray  # the weighted sum of their unit vectors (d,)
    field: Field
    variances: FloatArray  # of the mean offset, (Q,)

    def covariance(self, vectors: FloatArray) -> FloatArray:
        """Covariance (J, J), over words like these, of the products of vectors (J, d) with the direction."""
        coordinates = self.field.coordinates(vectors)
        return np.asarray((coordinates * self.variances) @ coordinates.T)


@dataclass(frozen=True)
class ListWords:
    """Two lists of words or more, with a sample of the vocabulary that says how much other words would differ."""

    direction: FloatArray  # the weighted sums of their unit vectors in the K parts of the contrast, end to end
    signs: FloatArray  # of the lists in the K parts of the contrast, (K, L)
    units: FloatArray  # unit vectors (N, d) of the sample
    pairs: PairSample
    # share of a word with itself among pairs of two lists, (L, L), and of other pairs by similarity, (L, L, bins)
    same: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, kv: KeyedVectors, lists: Sequence[Sequence[str]], signs: FloatArray) -> ListWords:
        """Lists of words by their keys in the embedding, no word twice in one, and their signs (K, L)."""
        keys = list(dict.fromkeys(key for each in lists for key in each))
        rows, kind = sampled_rows(kv, set(keys), SAMPLE, 0)
        rows = rows[in_order(rows, kv.index_to_key, kind)]
        if len(rows) < FEWEST:
            raise InputError(
                f"the embedding holds {many(len(rows), 'word')} outside of the lists, and errors of attribute words "
                f"need {FEWEST}: give the whole embedding"
            )
        units, own = unit_rows(kv.vectors[rows]), unit_rows(kv.vectors[[kv.key_to_index[key] for key in keys]])
        centre = units.mean(axis=0)
        pairs = sample_pairs(unit_rows(units - centre), np.random.default_rng(0), PAIRS)
        member = np.array([[key in each for key in keys] for each in map(set, lists)])
        sizes = member.sum(axis=1)
        same, shares = pair_shares(member, unit_rows(own - centre))
        return cls((signs / sizes @ member @ own).ravel(), signs, units, pairs, same, shares)

    def covariance(self, vectors: FloatArray) -> FloatArray:
        """Covariance (J, J), over words like these, of the products of vectors (J, K d) with the direction."""
        scatter = vectors.reshape(len(vectors) * len(self.signs), -1) @ self.units.T
        parts = principal_components(scatter, self.pairs)
        kernel = list_correlations(parts.correlations, self.same, self.shares)
        between = parts.variances[:, None, None] * (self.signs @ kernel @ self.signs.T)
        loadings = parts.loadings.reshape(len(vectors), len(self.signs), -1)
        return np.asarray(np.einsum("ikq,qkl,jlq->ij", loadings, between, loadings, optimize=True))


type AttributeWords = AxisWords | ListWords


def total_variance(attributes: AttributeWords, vectors: FloatArray) -> float:
    """The sum, over vectors (J, d), of the variances of their products with the direction."""
    if len(vectors) > vectors.shape[1]:
        vectors = np.linalg.qr(vectors, mode="r")  # V'V is the same
    return float(np.trace(attributes.covariance(vectors)))
