"""Vectors with errors: for each word the vectors of many units, which may belong to speakers and have covariates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from bayesbias._support.arguments import mapping, one_of, several
from bayesbias.errors import InputError, listed, shown
from bayesbias.numerics.arrays import FloatArray, IntArray, sums_by
from bayesbias.posteriors import PROB
from bayesbias.results import Note, Result
from bayesbias.vectors import Embedding, opened
from bayesbias.vectors.tables import VECTORS, arrow_of, rows_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


LEAST = 8  # clusters from which intervals were found to hold


@dataclass(frozen=True)
class TargetVectors:
    """Sums over the vectors of one word in each of U units: any linear functional needs no more."""

    n: IntArray  # number of vectors, (U,)
    total: FloatArray  # their sum, (U, d)
    squares: FloatArray  # sum of their squared lengths, (U,)
    within: FloatArray  # covariance (d, d) of the vectors of one unit; 0 where every unit has one vector
    errors: FloatArray | None = None  # covariances (U, d, d) of the units' means, where they are known from elsewhere

    @classmethod
    def of(cls, n: IntArray, total: FloatArray, squares: FloatArray, products: FloatArray) -> TargetVectors:
        """From the sum (d, d) of e e' over all vectors e."""
        sums = cls(n, total, squares, products)
        return replace(sums, within=(products - sums._between) / max(int(n.sum() - (n > 0).sum()), 1))

    @property
    def _between(self) -> FloatArray:
        """Sum (d, d) over units of n m m', with their mean m."""
        held = self.n > 0
        return np.asarray((self.total[held] / self.n[held, None]).T @ self.total[held])

    def at(self, rows: IntArray) -> TargetVectors:
        """Some units; the scatter within units stays that of all."""
        errors = None if self.errors is None else self.errors[rows]
        return TargetVectors(self.n[rows], self.total[rows], self.squares[rows], self.within, errors)

    def grouped(self, group: IntArray, groups: int) -> TargetVectors:
        """Units taken together by the number of their group (U,)."""
        total = sums_by(self.total, group, groups)
        products = self.within * int(self.n.sum() - (self.n > 0).sum()) + self._between
        n, squares = np.bincount(group, self.n, groups).astype(np.intp), np.bincount(group, self.squares, groups)
        return TargetVectors.of(n, total, squares, products)

    def less(self, vector: FloatArray) -> TargetVectors:
        """All vectors less one (d,)."""
        squares = self.squares - 2 * self.total @ vector + self.n * (vector @ vector)
        return replace(self, total=self.total - np.outer(self.n, vector), squares=squares)

    @property
    def mean(self) -> FloatArray:
        """Means of the units (U, d)."""
        return self.total / self.n[:, None]

    def variances(self, b: FloatArray) -> FloatArray:
        """Variances (U,) that the vectors of a unit give to the product of its mean with b (d,)."""
        if self.errors is not None:
            return np.asarray(np.einsum("i,uij,j->u", b, self.errors, b, optimize=True))
        return np.maximum(b @ self.within @ b, 0.0) / self.n

    def length(self, cluster: IntArray) -> float:
        """Length of the mean vector without what noise adds: products of different clusters alone; NaN if below 0."""
        number = int(cluster.max()) + 1
        if number == 1 and self.errors is not None:
            square = float(self.mean[0] @ self.mean[0] - np.trace(self.errors[0]))
            return float(np.sqrt(square)) if square > 0 else float("nan")
        m = sums_by(self.mean, cluster, number) / np.bincount(cluster, minlength=number)[:, None]
        square = ((m.sum(axis=0) ** 2).sum() - (m**2).sum()) / (number * (number - 1))
        return float(np.sqrt(square)) if square > 0 else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class VectorSample(Result):
    """Vectors of words in many documents or contexts, of which the mean has an error.

    Attributes
    ----------
    targets, units
        The words; and a DataFrame with a row for each unit: the covariates, and the cluster (speaker, document) that it
        belongs to.
    cluster, clusters
        Number of the cluster of each unit, (units,), and their column; None where each document or row is one.
    vectors
        The sums of each word.
    kv
        The embedding that holds the vectors of attribute words in the same space.
    about
        How the vectors were made: facts by name.
    transform
        Of :func:`instances`, the matrix (d, d) that was given or estimated. Given to another corpus, it makes vectors
        in the same space.
    """

    prob: ClassVar[float] = PROB

    targets: tuple[str, ...]
    units: pd.DataFrame
    cluster: IntArray
    clusters: str | None
    vectors: Mapping[str, TargetVectors]
    kv: KeyedVectors
    about: Mapping[str, Any]
    notes: tuple[Note, ...] = ()
    transform: FloatArray | None = None

    @classmethod
    def from_covariances(cls, kv: Embedding, covariances: Mapping[str, Any]) -> VectorSample:
        """The vectors of an embedding with errors that are known from elsewhere, such as those of GloVe-V.

        Parameters
        ----------
        kv
            The embedding.
        covariances
            Word to the covariance of its vector: (d, d), or the variances (d,) of independent dimensions.

        References
        ----------
        Vallebueno, A., Handan-Nader, C., Manning, C. D. and Ho, D. E. (2024). Statistical uncertainty in word
        embeddings: GloVe-V. EMNLP. https://doi.org/10.18653/v1/2024.emnlp-main.510

        Examples
        --------
        >>> import numpy as np
        >>> bb.VectorSample.from_covariances("glove-50d-slice", {"nurse": np.full(50, 0.01)})
        vectors of words by embedding
        vectors errors known from elsewhere
               vectors  units  clusters
        nurse        1      1         1
        """
        embedding = opened(kv)
        d, sums = embedding.vector_size, {}
        for word, given in mapping(covariances, "covariances", "covariances").items():
            known = np.asarray(given, dtype=float)
            known = np.diag(known) if known.ndim == 1 else known
            fits = known.shape == (d, d) and np.isfinite(known).all() and np.allclose(known, known.T)
            if not fits or np.linalg.eigvalsh(known)[0] < -1e-8 * max(float(np.trace(known)), 0.0):
                raise InputError(f"the covariance of {word!r} is no covariance of {d} dimensions, nor {d} variances")
            vector = embedding.vectors[[embedding.key_to_index[word]]].astype(float)
            sums[word] = replace(summed(vector, np.zeros(1, dtype=np.intp), 1), errors=known[None])
        units = pd.DataFrame(index=pd.RangeIndex(1))
        about = {"vectors": "errors known from elsewhere"}
        return cls(tuple(sums), units, np.zeros(1, dtype=np.intp), "embedding", sums, embedding, about)

    def caption(self) -> str:
        return f"vectors of words by {self.clusters or 'document'}"

    def header(self) -> dict[str, object]:
        made = {name.replace("_", " "): fact for name, fact in self.about.items()}
        return made | {"corpus": self.about.get("corpus", {}).get("name")}

    @property
    def noun(self) -> str:
        """Name of a cluster: that of its column where this is a word whose plural has an s."""
        unit = self.clusters or "document"
        return unit if unit.isalpha() and len(unit) > 2 and unit[-1] not in "hsxyz" else "cluster"

    def target(self, word: str | None) -> str:
        """A word of the sample; the only one where none is named."""
        if word is None and len(self.targets) == 1:
            return self.targets[0]
        return one_of(str(word), self.targets, "target")

    def table(self) -> pd.DataFrame:
        """Numbers of vectors, units and clusters of each word."""
        rows = []
        for word in self.targets:
            held = self.vectors[word].n > 0
            rows.append((word, int(self.vectors[word].n.sum()), int(held.sum()), len(np.unique(self.cluster[held]))))
        return pd.DataFrame(rows, columns=["target", "vectors", "units", "clusters"]).astype({"target": "string"})


def vector_sample(
    table: Any,
    kv: Embedding,
    *,
    word: str = "word",
    vector: str | Sequence[str] | None = None,
    clusters: str | None = None,
    targets: Iterable[str] | None = None,
) -> VectorSample:
    """Vectors of words that were made elsewhere, one row a document or context, with their covariates.

    Parameters
    ----------
    table
        A DataFrame of pandas, Polars, Arrow or another library: a column of words, one of vectors or one for each
        dimension, and covariates.
    kv
        An embedding of attribute words in the same space, such as the same encoder gives.
    word, vector
        The column of words, and that of vectors, or those of the dimensions; by default a column ``vector`` or
        ``embedding``.
    clusters
        The column of speakers, authors or whoever is sampled; by default each row is one of its own.
    targets
        Words to keep; by default all.

    Raises
    ------
    InputError
        A column is missing, a vector is not finite, or the embedding has other dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [{"word": "tax", "party": party, "vector": rng.normal(size=50)} for party in "LR" * 20]
    >>> bb.vector_sample(pd.DataFrame(rows), "glove-50d-slice")
    vectors of words by document
    vectors of a table
         vectors  units  clusters
    tax       40     40        40
    """
    whole = arrow_of(table, "the table")
    held = whole.column_names
    chosen = ([name for name in VECTORS if name in held] or [*VECTORS])[:1] if vector is None else several(vector)
    named = [("word", [word]), ("vector", chosen), ("clusters", several(clusters or []))]
    if missing := [(name, column) for name, columns in named for column in columns if column not in held]:
        name, column = missing[0]
        raise InputError(f"{name} is {shown(column)}: the columns of the table are {listed(held)}")
    matrix = np.concatenate([vectors for _, vectors in rows_of(whole.select([word, *chosen]), "the table")])
    embedding = opened(kv)
    if matrix.shape[1] != embedding.vector_size:
        raise InputError(
            f"the vectors have {matrix.shape[1]} dimensions and the embedding {embedding.vector_size}: give vectors of "
            "one space"
        )
    frame = whole.drop_columns(chosen).to_pandas()
    keep = frame[word].notna() if targets is None else frame[word].isin(several(targets))
    if not keep.any():
        raise InputError(f"the table holds none of the words: its first are {listed(list(frame[word].unique()[:5]))}")
    frame, matrix = frame[keep].reset_index(drop=True), matrix[keep.to_numpy()]
    covariates = frame.drop(columns=word)
    units, unit = (covariates, np.arange(len(frame))) if clusters is None else units_of(covariates)
    words = tuple(map(str, dict.fromkeys(frame[word])))
    sums = {
        each: summed(matrix[own], unit[own], len(units))
        for each in words
        if (own := np.flatnonzero(frame[word] == each)).size
    }
    notes = tuple(speakers_noted(units, clusters))
    return VectorSample(
        words, units, cluster_of(units, clusters), clusters, sums, embedding, {"vectors": "of a table"}, notes
    )


def summed(vectors: FloatArray, unit: IntArray, units: int) -> TargetVectors:
    """The sums of vectors (N, d) by the number of their unit (N,)."""
    vectors = np.asarray(vectors, dtype=float)
    total = sums_by(vectors, unit, units)
    squares = np.bincount(unit, np.vecdot(vectors, vectors), units).astype(float)
    n = np.bincount(unit, minlength=units).astype(np.intp)
    return TargetVectors.of(n, total, squares, vectors.T @ vectors)


def units_of(covariates: pd.DataFrame) -> tuple[pd.DataFrame, IntArray]:
    """The distinct rows of covariates, and the number of each row's."""
    if not len(covariates.columns):
        return pd.DataFrame(index=pd.RangeIndex(1)), np.zeros(len(covariates), dtype=np.intp)
    grouped = covariates.groupby(list(covariates.columns), dropna=False, sort=False)
    number = grouped.ngroup().to_numpy().astype(np.intp)
    first = np.unique(number, return_index=True)[1]
    return covariates.iloc[first].reset_index(drop=True), number


def cluster_of(units: pd.DataFrame, clusters: str | None) -> IntArray:
    """Number of the cluster of each unit."""
    if clusters is None:
        return np.arange(len(units))
    if units[clusters].isna().any():
        raise InputError(f"{clusters} is missing in some rows: name the cluster of each, or leave these rows out")
    return pd.factorize(units[clusters])[0]


def speakers_noted(units: pd.DataFrame, clusters: str | None) -> list[Note]:
    """A note where no clusters are given and a column of texts has values that several documents share."""
    if clusters is not None:
        return []
    for name, column in units.items():
        distinct = column.nunique()
        if column.dtype.kind in "OUT" and LEAST <= distinct < 0.8 * len(column):
            reason = f"{name} has {distinct} values: see clusters={name!r}"
            return [Note("independent", what=f"{len(column):,} documents", reason=reason)]
    return []
