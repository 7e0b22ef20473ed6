"""The result of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bayesbias._core.vectors import FloatArray
from bayesbias._results import Result
from bayesbias.metrics.queries import Query

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class MetricResult(Result):
    """A metric's value for an embedding and a query, with what it rests on.

    Attributes
    ----------
    metric, title
        Name of the metric, in code and in print.
    value
        The number; NaN where there is none, for the reason in ``reason``.
    p_value, partitions, exact
        Of the test, if one was asked for; for a permutation test the partitions that were looked at, and whether these
        are all.
    optimum, range
        The value of no bias, and the smallest and largest value (NaN where there is no value).
    query, embedding
        What was measured.
    words, by_word
        Set to the words that :attr:`per_word` is about, and what each of them adds, in that order.
    entries
        Asked, found and missing words of each set; :attr:`coverage` is the table of it.
    options
        All options of the metric and of the look-up, as used.
    reason
        Why there is no value.
    notes
        Sentences on words that repeat, stand in several sets or were left out, and on small sets.
    source, doi
        Where the metric is defined.
    null_mean, null_sd
        Mean and sd of the metric over random attribute lists, as alike as these, for ``p_value="related"``.
    """

    metric: str
    title: str
    value: float
    p_value: float | None
    partitions: int | None
    exact: bool | None
    optimum: float
    range: tuple[float, float]
    query: Query
    embedding: str
    entries: tuple[Mapping[str, Any], ...]
    words: Mapping[str, tuple[str, ...]]
    by_word: FloatArray
    options: Mapping[str, Any]
    reason: str | None
    notes: tuple[str, ...]
    source: str
    doi: str
    null_mean: float | None = None
    null_sd: float | None = None

    def __float__(self) -> float:
        return self.value

    @property
    def per_word(self) -> pd.DataFrame:
        """What each word adds: ``word``, ``set``, ``value``."""
        import pandas as pd

        rows = [(word, name) for name, words in self.words.items() for word in words]
        return pd.DataFrame(rows, columns=["word", "set"]).assign(value=self.by_word)

    @property
    def coverage(self) -> pd.DataFrame:
        """One row a set: ``set``, ``kind``, ``asked``, ``found`` (numbers of words), ``missing`` (the words)."""
        import pandas as pd

        return pd.DataFrame(self.entries, columns=["set", "kind", "asked", "found", "missing"])

    @property
    def sentence(self) -> str:
        """The result in words."""
        where = f"{self.query.name} in {self.embedding}"
        if self.reason is not None:
            return f"{self.title} of {where}: no value, because {self.reason}."
        tested = "" if self.p_value is None else f", p = {self.p_value:.3g} ({self._test})"
        return f"{self.title} of {where}: {self.value:.4g}{tested}; {self.optimum:g} is no bias."

    @property
    def _test(self) -> str:
        if self.null_mean is not None and self.null_sd is not None:
            return (
                f"random lists as alike as these, covariance from the vectors: mean {self.null_mean:.4g}, "
                f"sd {self.null_sd:.3g}"
            )
        return f"{'all' if self.exact else 'random'} {self.partitions:,} partitions"

    def text(self) -> str:
        """The result in sentences."""
        return " ".join([self.sentence, *(f"{note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.coverage.to_html(index=False)}"

    def table(self) -> pd.DataFrame:
        """One row: ``metric``, ``query``, ``embedding``, ``value``, ``p_value``, ``optimum``."""
        import pandas as pd

        row = (self.metric, self.query.name, self.embedding, self.value, self.p_value, self.optimum)
        return pd.DataFrame([row], columns=["metric", "query", "embedding", "value", "p_value", "optimum"])
