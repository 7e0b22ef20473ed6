"""Silhouettes: curves, their figures and their uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesbias._support.arguments import by_name_or_none, probability, whole_number
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.results import Cited, Note, Result

Sizes = Literal["trimmed", "saturate"]
SIZES: tuple[str, ...] = get_args(Sizes)
MOST_SIZES = 10  # that are printed


def lengths_of(sizes: Sequence[int], step: int) -> IntArray:
    """Numbers of words of each list, (sizes, lists), growing by ``step`` over all; a list grows until it is used up."""
    each = max(1, step // len(sizes))
    if min(sizes) < each:
        raise InputError(f"a list has {min(sizes)} words, fewer than the {each} of a step: give a smaller step")
    grown = np.arange(each, max(sizes) + each, each)
    lengths: IntArray = np.minimum(grown[:, None], np.array(sizes)).astype(np.intp)
    return lengths


def shuffled(sizes: Sequence[int], runs: int, seed: int, shared: bool, together: bool = False) -> tuple[IntArray, ...]:
    """Places (runs, words) of each list in random order.

    ``shared`` takes the run's number as seed of every list; ``together`` gives all lists one order.
    """
    if shared:  # sklearn.utils.shuffle(list, random_state=run)
        return tuple(np.stack([np.random.RandomState(run).permutation(size) for run in range(runs)]) for size in sizes)
    if together:
        return shuffled(sizes[:1], runs, seed, shared) * len(sizes)
    generators = np.random.default_rng(seed).spawn(len(sizes))
    return tuple(
        np.stack([generator.permutation(size) for _ in range(runs)])
        for size, generator in zip(sizes, generators, strict=True)
    )


@dataclass(frozen=True, repr=False, eq=False)
class Silhouette(Result):
    """Values of a metric on random parts of its word lists: what :func:`silhouette` returns.

    Attributes
    ----------
    metric, vary, embedding
        The metric, which lists grow (``"targets"`` or ``"attributes"``), and what it was measured in.
    sizes
        (sizes,): words used, over all lists that grow.
    values
        (runs, sizes): NaN where the metric has no value.
    bounds, zero, optimum
        The metric's smallest and largest value, the value from which accuracy counts, and that of no bias.
    low, high
        (runs, sizes): ends of the intervals of the values, of mass ``prob``; None for a metric without.
    """

    picture: ClassVar[str] = "plot_silhouette"

    metric: str
    vary: str
    sizes: IntArray
    values: FloatArray
    bounds: tuple[float, float]
    zero: float
    embedding: str = "unnamed"
    notes: tuple[Note, ...] = ()
    optimum: float = 0.0
    low: FloatArray | None = None
    high: FloatArray | None = None
    prob: float = PROB

    @property
    def min(self) -> FloatArray:
        """Smallest value over the runs at each size, (sizes,)."""
        return self.values.min(axis=0)

    @property
    def max(self) -> FloatArray:
        """Largest value over the runs at each size, (sizes,)."""
        return self.values.max(axis=0)

    @property
    def mean(self) -> FloatArray:
        """Mean over the runs at each size, (sizes,)."""
        return self.values.mean(axis=0)

    @property
    def robustness(self) -> float:
        """1 less the silhouette's area over that of all values, in [0, 1]; NaN with one size or a missing value."""
        low, high = self.bounds
        return 1 - self._area(self.max - self.min) / ((high - low) * int(self.sizes[-1]))

    @property
    def full(self) -> float:
        """The value with all words."""
        return float(self.mean[-1])

    @property
    def coverage(self) -> FloatArray:
        """Share of the runs whose interval holds the value with all words, (sizes,); NaN for a metric without."""
        if self.low is None or self.high is None:
            return np.full(len(self.sizes), np.nan)
        return ((self.low <= self.full) & (self.full <= self.high)).mean(axis=0)

    def _of_runs(self, chosen: IntArray) -> Silhouette:
        """The same of some of the runs, by their places, which may repeat."""
        low, high = (None if end is None else end[chosen] for end in (self.low, self.high))
        return replace(self, values=self.values[chosen], low=low, high=high)

    def oriented(self) -> Silhouette:
        """The same of optimum - value, for a metric whose value of no bias is not 0 (1 - ECT): there 0 is no bias."""
        if self.optimum == 0:
            raise InputError(f"{self.metric} is 0 without bias already: there is nothing to turn round")
        low, high = self.bounds
        return replace(
            self,
            metric=f"{self.optimum:g} - {self.metric}",
            values=self.optimum - self.values,
            bounds=(self.optimum - high, self.optimum - low),
            zero=0.0,
            optimum=0.0,
            low=None if self.high is None else self.optimum - self.high,
            high=None if self.low is None else self.optimum - self.low,
        )

    def _area(self, curve: NDArray[np.floating]) -> float:
        return float(np.trapezoid(curve, self.sizes)) if len(self.sizes) > 1 else float("nan")

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return f"Silhouette of {self.metric}, growing {self.vary}: values by number of words"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        runs, sizes = self.values.shape
        low, high = (f"{bound:.3g}" for bound in self.bounds)
        facts = {"embedding": self.embedding, "runs": runs, "sizes": sizes, "range": f"{low} to {high}"}
        robustness = None if np.isnan(self.robustness) else self.robustness
        return {**facts, "no bias": self.optimum, "robustness": robustness}

    def sources(self) -> tuple[Any, ...]:
        """The metric and the embedding."""
        return Cited(f"metric {self.metric}"), Cited(f"embedding {self.embedding}")

    def table(self) -> pd.DataFrame:
        """One row a value: ``run``, ``words``, ``value``, and for a metric with intervals ``low`` and ``high``."""
        runs, sizes = self.values.shape
        table = pd.DataFrame({"run": np.repeat(np.arange(runs), sizes), "words": np.tile(self.sizes, runs)})
        ends = {"value": self.values, "low": self.low, "high": self.high}
        return table.assign(**{name: end.ravel() for name, end in ends.items() if end is not None})

    def by_size(self) -> pd.DataFrame:
        """One row a size: ``words``, ``mean_value``, ``smallest``, ``largest``, and ``coverage`` of intervals."""
        columns = {"words": self.sizes, "mean_value": self.mean, "smallest": self.min, "largest": self.max}
        return pd.DataFrame(columns if self.low is None else {**columns, "coverage": self.coverage})

    def summary(self) -> pd.DataFrame:
        """The same of at most ten sizes, the last with all words."""
        places = np.unique(np.linspace(0, len(self.sizes) - 1, MOST_SIZES).round().astype(int))
        return self.by_size().iloc[places].reset_index(drop=True)

    def tables(self) -> dict[str, pd.DataFrame]:
        """:meth:`by_size`, and all values."""
        return {"By number of words": self.by_size(), "All values": self.table()}


def silhouette_accuracy(biased: Silhouette, unbiased: Silhouette, compat: Literal["published"] | None = None) -> float:
    """Accuracy with which a metric tells a biased embedding from an unbiased one: 0.5 is not at all, 1 is perfect.

    Parameters
    ----------
    biased, unbiased
        Silhouettes of one metric with the same lists, in two embeddings.
    compat
        ``"published"`` divides by the whole range where no bias is 0, as the authors' program does against their own
        formula: that halves what the score says beyond 0.5 for ECT and WEAT.

    References
    ----------
    Spliethöver, M. and Wachsmuth, H. (2021). Bias silhouette analysis: towards assessing the quality of bias metrics
    for word embedding models. IJCAI. https://doi.org/10.24963/ijcai.2021/77

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> biased, unbiased = (bb.silhouettes.silhouette(one, "weat7", "weat", runs=10) for one in (kv, debiased))
    >>> 0 <= bb.silhouettes.silhouette_accuracy(biased, unbiased) <= 1
    True
    """
    by_name_or_none(compat, ["published"], "compat")
    _check_comparable(biased, unbiased)
    low, high = biased.bounds
    range_ = high - low if compat == "published" and biased.zero == 0 else high - biased.zero
    area = biased._area(np.abs(biased.mean - biased.zero) - np.abs(unbiased.mean - unbiased.zero))
    return 0.5 + 0.5 * area / (range_ * int(biased.sizes[-1]))


def silhouette_separation(biased: Silhouette, unbiased: Silhouette) -> float:
    """Probability that the biased embedding gets the value further from no bias, whatever the metric's range.

    At each size a run in the biased embedding is compared with a run in the unbiased one, all with all; the score is
    the mean over sizes, by the trapezoid rule. 1 tells the two apart from a few words on, 0.5 is guessing. Accuracy
    divides by a range that no embedding comes near, so that it compares metrics by their ranges; this score does not.

    Parameters
    ----------
    biased, unbiased
        As in :func:`silhouette_accuracy`.

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> biased, unbiased = (bb.silhouettes.silhouette(one, "weat7", "weat", runs=10) for one in (kv, debiased))
    >>> 0 <= bb.silhouettes.silhouette_separation(biased, unbiased) <= 1
    True
    """
    _check_comparable(biased, unbiased)
    far, near = (np.abs(curves.values - curves.optimum).T for curves in (biased, unbiased))  # noqa: PD011
    apart = far[:, :, None] - near[:, None, :]
    share = np.where(np.isnan(apart), np.nan, (np.sign(apart) + 1) / 2).mean(axis=(1, 2))
    if len(share) == 1:
        return float(share[0])
    return biased._area(share) / int(biased.sizes[-1] - biased.sizes[0])


def _check_comparable(biased: Silhouette, unbiased: Silhouette) -> None:
    """Refuse silhouettes of different metrics, lists or sizes."""
    for result in (biased, unbiased):
        if not isinstance(result, Silhouette):
            raise InputError(f"given is {type(result).__name__}: give what silhouette returns")
    kinds = [(curves.metric, curves.vary, curves.bounds, curves.zero) for curves in (biased, unbiased)]
    if kinds[0] != kinds[1] or not np.array_equal(biased.sizes, unbiased.sizes):
        raise InputError(
            f"these are silhouettes of {biased.metric} growing {biased.vary} to {biased.sizes[-1]} words and of "
            f"{unbiased.metric} growing {unbiased.vary} to {unbiased.sizes[-1]}: give the same metric and lists"
        )


FEWEST_RUNS = 10
COLUMNS = ["score", "value", "sd", "low", "high", "half_the_runs", "covered"]
COVERED = {"robustness": 0.77, "accuracy": 0.875, "separation": 0.958}
"""Smallest share of 89% intervals (by halves of 100 runs) that held the score's mean over other runs, as found."""


def silhouette_uncertainty(
    biased: Silhouette,
    unbiased: Silhouette | None = None,
    resamples: int = 1000,
    prob: float = PROB,
    seed: int = 0,
) -> pd.DataFrame:
    """Standard errors of robustness, accuracy and separation over the choice of runs.

    Halves of the runs are drawn without replacement: for means, and so for accuracy, their spread is exactly the
    standard error. For robustness, which rests on extremes, it is a lower bound, 0.6 to 1 of the standard error where
    we tried.

    Parameters
    ----------
    biased, unbiased
        Silhouettes of at least ten runs; with one alone, its robustness. Two need the same runs (one seed), which are
        drawn together.
    resamples, seed
        How many samples of the runs, and their seed.
    prob
        Probability of the normal intervals.

    Returns
    -------
    DataFrame
        A row a score: ``score``, ``value``, ``sd`` (standard error), ``low`` and ``high``, and ``half_the_runs``, the
        score's mean over halves of the runs. Robustness falls as runs are added, since a silhouette only grows: where
        ``half_the_runs`` is clearly above ``value``, more runs would lower it further. ``covered`` is the smallest
        share of 89% intervals that we found to hold the score's mean over other runs: .77 for robustness (.82 to .87
        for weat1 and weat7 in the bundled vectors), whose intervals are too narrow. It is known for ``prob=0.89``
        and NaN otherwise.

    References
    ----------
    Shao, J. and Wu, C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17(3).
    https://doi.org/10.1214/aos/1176347263

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> biased, unbiased = (bb.silhouettes.silhouette(one, "weat7", "weat", runs=10) for one in (kv, debiased))
    >>> found = bb.silhouettes.silhouette_uncertainty(biased, unbiased, resamples=50)
    >>> found.columns.tolist()[:2]
    ['score', 'value']
    """
    resamples, prob = whole_number(resamples, "resamples", least=2), probability(prob, "prob")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0, most=None))
    _check_comparable(biased, biased if unbiased is None else unbiased)
    runs = len(biased.values)
    if unbiased is not None and len(unbiased.values) != runs:
        raise InputError(f"the silhouettes have {runs} and {len(unbiased.values)} runs: give the same runs of both")
    if runs < FEWEST_RUNS:
        raise InputError(f"there are {runs} runs: the uncertainty of a score needs at least {FEWEST_RUNS}")
    halves = [rng.permutation(runs)[: runs // 2] for _ in range(resamples)]
    half_width = float(ndtri((1 + prob) / 2))
    scores: dict[str, Callable[[IntArray], float]] = {"robustness": lambda runs: biased._of_runs(runs).robustness}
    if unbiased is not None:
        scores = {
            "robustness of the biased": scores["robustness"],
            "robustness of the unbiased": lambda runs: unbiased._of_runs(runs).robustness,
            "accuracy": lambda runs: silhouette_accuracy(biased._of_runs(runs), unbiased._of_runs(runs)),
            "separation": lambda runs: silhouette_separation(biased._of_runs(runs), unbiased._of_runs(runs)),
        }
    rows = []
    for name, score in scores.items():
        drawn = [score(chosen) for chosen in halves]
        value, spread, fewer = score(np.arange(runs)), float(np.std(drawn, ddof=1)), float(np.mean(drawn))
        tried = COVERED[name.split()[0]] if prob == PROB else float("nan")
        rows.append((name, value, spread, value - half_width * spread, value + half_width * spread, fewer, tried))
    return pd.DataFrame(rows, columns=COLUMNS)
