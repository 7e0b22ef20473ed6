"""Estimates: labelled quantities with one joint posterior, and what can be asked of them.

Every linear question (a contrast, an association, a part of a decomposition, a mean over a group, a change) is a matrix
of weights. Estimates are ``offset + weights @ numbers``; the numbers have a law, which all estimates that are made of
them share, so that sums and differences of estimates are estimates again, without a draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from bayesbias._support.arguments import interval, one_of, probability, several
from bayesbias.errors import InputError, listed, many, near, shown
from bayesbias.numerics.arrays import FloatArray
from bayesbias.numerics.mixtures import Empirical, Law, Matrix, NormalMixture
from bayesbias.results import Note, Result

if TYPE_CHECKING:
    import xarray as xr

PROB = 0.89  # the share of posterior mass in an interval unless another is asked for, as in the published study


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """Labelled quantities with one joint posterior.

    Sums, differences and weighted sums of estimates are estimates again: their posterior takes into account how the
    errors go together. :func:`estimates` gives those of a fit, and results with a joint posterior have
    ``estimates`` of their own.

    Attributes
    ----------
    index
        A DataFrame of m rows: what each quantity is.

    Notes
    -----
    ``estimates[2]``, ``estimates[:5]`` and ``estimates[mask]`` take quantities by place, ``len(estimates)`` is m.
    ``+``, ``-``, ``*`` and ``/`` work quantity by quantity: with a number, with one number each, and ``+`` and ``-``
    with as many estimates, or one, of the same result. Of two labels that differ the sum and the difference have both.

    Examples
    --------
    >>> cells = bb.estimates(bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0))
    >>> difference = cells.select(list="math") - cells.select(list="arts")
    >>> difference.select(protected_word=["math", "poetry"]).table()[["protected_word", "list", "mean", "sd"]].round(3)
      protected_word         list   mean     sd
    0           math  math - arts  0.043  0.036
    1         poetry  math - arts  0.057  0.046
    """

    prob: ClassVar[float] = PROB
    notes: ClassVar[tuple[Note, ...]] = ()

    index: pd.DataFrame
    law: Law  # the joint distribution of p numbers
    weights: sparse.csr_array  # of these numbers in each quantity, (m, p)
    offset: FloatArray  # what each holds beside them, (m,)

    __array_ufunc__ = None  # arrays leave sums and products with estimates to these

    @classmethod
    def of(cls, law: Law, size: int, index: pd.DataFrame | None = None) -> Estimates:
        """The numbers of a law themselves."""
        index = pd.DataFrame(index=pd.RangeIndex(size)) if index is None else index
        return cls(index, law, identity(size), np.zeros(size))

    def __len__(self) -> int:
        return len(self.offset)

    def caption(self) -> str:
        """Number of the estimates, and their labels."""
        labels = f" by {', '.join(map(str, self.index))}" if len(self.index.columns) else ""
        return f"{many(len(self), 'estimate')}{labels}"

    def header(self) -> dict[str, object]:
        """The mass of the intervals."""
        return {"intervals": f"{self.prob:.0%}"}

    def table(self) -> pd.DataFrame:
        """The :meth:`summary`."""
        return self.summary()

    @cached_property
    def _marginals(self) -> NormalMixture | Empirical:
        """The posterior of each."""
        return self.law.marginals(self.weights, self.offset)

    @property
    def mean(self) -> FloatArray:
        """Posterior means (m,)."""
        return self._marginals.mean

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviations (m,)."""
        return self._marginals.sd

    @property
    def covariance(self) -> xr.DataArray:
        """Posterior covariance (quantity, quantity_other), with the labels of both."""
        import xarray as xr  # loads slowly

        dims = ("quantity", "quantity_other")
        coords = {f"{name}{end}": (dims[end != ""], label) for end in ("", "_other") for name, label in self._labels()}
        return xr.DataArray(self.law.covariance(self.weights), coords, dims, name="covariance")

    def quantile(self, p: float) -> FloatArray:
        """Posterior quantiles (m,) at one probability."""
        return self._marginals.quantile(probability(p, "p"))

    def below(self, x: FloatArray | float) -> FloatArray:
        """Posterior probability (m,) of a value below one number, or below one each."""
        return self._marginals.below(self._each(x))

    def summary(self, prob: float = PROB, rope: float | tuple[float, float] | None = None) -> pd.DataFrame:
        """The labels and the posterior of each quantity, in the columns of :func:`contrasts`.

        Parameters
        ----------
        prob
            Posterior mass of the equal-tailed intervals.
        rope
            A region of values that count as none: one number for plus or minus it, or two ends.

        Returns
        -------
        DataFrame
            The labels, ``mean``, ``sd``, ``low``, ``high``, ``p_closer`` (posterior probability of a value below 0),
            and ``p_rope`` (of one in the region) where a rope was given.
        """
        tail, region = (1 - probability(prob, "prob")) / 2, interval(rope, "rope")
        columns = {
            **{str(name): column.array for name, column in self.index.items()},
            "mean": self.mean,
            "sd": self.sd,
            "low": self.quantile(tail),
            "high": self.quantile(1 - tail),
            "p_closer": self.below(0.0),
        }
        if region is not None:
            columns["p_rope"] = self.below(region[1]) - self.below(region[0])
        return pd.DataFrame(columns)

    def excludes(self, value: float = 0.0, prob: float = PROB) -> np.ndarray:
        """True (m,) where an equal-tailed interval excludes a value."""
        tail = (1 - probability(prob, "prob")) / 2
        return (self.quantile(tail) > value) | (self.quantile(1 - tail) < value)

    def p_opposite(self, other: Estimates) -> FloatArray:
        """Probability (m,) that each quantity and its counterpart in ``other`` have opposite signs."""
        other = self._same(other, len(self))
        return self.law.opposite((self.weights, self.offset), (other.weights, other.offset))

    def select(self, **labels: object) -> Estimates:
        """The quantities with such labels: ``select(group="jew", list=["jew", "muslim"])``."""
        chosen = np.ones(len(self), dtype=bool)
        for name, wanted in labels.items():
            one_of(name, list(map(str, self.index)), "the label")
            column = self.index[name]
            names, valid = several(wanted), column.dropna().unique().tolist()
            if unknown := [label for label in names if label not in valid]:
                hint = near(unknown[0], list(map(str, valid)))
                raise InputError(
                    f"no estimate has the {name} {shown(unknown[0])}{hint}: valid are {listed(list(map(str, valid)))}"
                )
            chosen &= column.isin(names).to_numpy(dtype=bool)
        if not chosen.any():
            raise InputError(f"no estimate has {labels} at once: estimates.index shows which there are")
        return self[chosen]

    def __getitem__(self, places: Any) -> Estimates:
        rows = np.atleast_1d(np.arange(len(self))[places])
        index = self.index.take(rows).reset_index(drop=True)
        return Estimates(index, self.law, self.weights[rows], self.offset[rows])

    def combine(self, weights: Matrix | Sequence[Any], labels: pd.DataFrame | Iterable[str] | None = None) -> Estimates:
        """Weighted sums of the quantities.

        Parameters
        ----------
        weights
            One weight for each quantity, (m,), or as many for each of k sums, (k, m), as an array or a sparse array.
        labels
            What the sums are: a DataFrame of k rows, or a name for each.

        Returns
        -------
        Estimates
            k quantities, of the same joint posterior.
        """
        matrix = sparse.csr_array(weights if sparse.issparse(weights) else np.atleast_2d(weights))
        if labels is None:
            labels = pd.DataFrame(index=pd.RangeIndex(matrix.shape[0]))
        index = labels if isinstance(labels, pd.DataFrame) else pd.DataFrame({"name": several(labels)}, dtype="string")
        return Estimates(index, self.law, sparse.csr_array(matrix @ self.weights), matrix @ self.offset)

    def average(self, by: str | None = None) -> Estimates:
        """The mean of all quantities, or of those of each value of a label; a label that differs is ``"mean of n"``."""
        number = np.zeros(len(self), dtype=np.intp)
        if by is not None:
            one_of(by, list(map(str, self.index)), "by")
            number = pd.factorize(self.index[by], use_na_sentinel=False)[0]
        count = np.bincount(number)
        weights = sparse.csr_array((1 / count[number], (number, np.arange(len(self)))), shape=(len(count), len(self)))
        groups = self.index.astype("string").fillna("").groupby(number)
        first, last = groups.min(), groups.max()
        means = pd.DataFrame(
            {name: [f"mean of {size}" for size in count] for name in first}, first.index, dtype="string"
        )
        return self.combine(weights, first.where(first == last, means).reset_index(drop=True))

    def join(self, *others: Estimates) -> Estimates:
        """These quantities and others of the same result, one below another."""
        every = [self, *map(self._same, others)]
        index = pd.concat([each.index for each in every], ignore_index=True)
        weights = sparse.csr_array(sparse.vstack([each.weights for each in every]))
        return Estimates(index, self.law, weights, np.concatenate([each.offset for each in every]))

    def __add__(self, other: Estimates | ArrayLike) -> Estimates:
        return self._plus(other, 1.0, "+")

    def __sub__(self, other: Estimates | ArrayLike) -> Estimates:
        return self._plus(other, -1.0, "-")

    def __rsub__(self, other: ArrayLike) -> Estimates:
        return -self + other

    def __neg__(self) -> Estimates:
        return self * -1.0

    def __mul__(self, by: ArrayLike) -> Estimates:
        if isinstance(by, Estimates):
            raise InputError("products and ratios of estimates are no weighted sums: give numbers, or draw from them")
        scale = self._each(by)
        weights = sparse.csr_array(sparse.diags_array(scale) @ self.weights)
        return replace(self, weights=weights, offset=self.offset * scale)

    def __truediv__(self, by: ArrayLike) -> Estimates:
        return self * (by if isinstance(by, Estimates) else 1 / self._each(by))

    __radd__, __rmul__ = __add__, __mul__

    def draws(self, size: int = 4000, seed: int = 0) -> FloatArray:
        """Joint draws (size, m)."""
        return self.law.draws(self.weights, size, np.random.default_rng(seed)) + self.offset

    def to_datatree(self, size: int = 4000, seed: int = 0) -> xr.DataTree:
        """Joint draws as a DataTree for ArviZ: ``value`` (chain, draw, quantity), with the labels as coordinates."""
        import xarray as xr  # loads slowly

        dims = ("chain", "draw", "quantity")
        coords = {name: ("quantity", label) for name, label in self._labels()}
        posterior = xr.Dataset({"value": (dims, self.draws(size, seed)[None])}, coords)
        return xr.DataTree.from_dict({"/posterior": posterior})

    def _labels(self) -> Iterable[tuple[str, np.ndarray]]:
        """Labels as arrays that files keep: texts are empty where there is none."""
        for name, column in self.index.items():
            text = not pd.api.types.is_numeric_dtype(column)
            yield str(name), column.astype("string").fillna("").to_numpy(dtype=str) if text else column.to_numpy()

    def _same(self, other: Any, size: int = 1) -> Estimates:
        """Estimates of the same joint posterior; a single one is repeated ``size`` times."""
        if not isinstance(other, Estimates) or other.law is not self.law:
            raise InputError(
                f"{shown(other)} has no joint posterior with these estimates: make both of one result, as one call of "
                "estimates does"
            )
        return other if len(other) != 1 or size == 1 else other[np.zeros(size, dtype=np.intp)]

    def _plus(self, other: Estimates | ArrayLike, sign: float, mark: str) -> Estimates:
        if not isinstance(other, Estimates):
            return replace(self, offset=self.offset + sign * self._each(other))
        if len(self) == 1 < len(other):
            return self[np.zeros(len(other), dtype=np.intp)]._plus(other, sign, mark)
        other = self._same(other, len(self))
        weights = sparse.csr_array(self.weights + sign * other.weights)
        return Estimates(_of_both(self.index, other.index, mark), self.law, weights, self.offset + sign * other.offset)

    def _each(self, values: Any) -> FloatArray:
        """One number for all quantities, or one each, as (m,)."""
        return np.broadcast_to(np.asarray(values, dtype=float), (len(self),))


def identity(size: int) -> sparse.csr_array:
    """The identity matrix (size, size)."""
    places = np.arange(size + 1)
    return sparse.csr_array((np.ones(size), places[:-1], places), shape=(size, size))


def _of_both(one: pd.DataFrame, other: pd.DataFrame, mark: str) -> pd.DataFrame:
    """Labels of sums or differences: those that both have, and ``a - b`` where they differ."""
    if one is other or one.equals(other):
        return one
    columns = {}
    for name in [name for name in one if name in other]:
        first, second = (each[name].astype("string").fillna("").reset_index(drop=True) for each in (one, other))
        same = (first == second).to_numpy(dtype=bool)
        joined = (first + f" {mark} " + second).str.strip()
        columns[name] = one[name].reset_index(drop=True) if same.all() else first.where(same, joined)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(one)))
