"""``prior_check``: truths from a model's own prior, the analysis that is printed, and how often its intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._checks import one_of, probability, several, text, whole_number
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import percent
from bayesbias._progress import progress
from bayesbias._results import Result
from bayesbias._runs import one_thread
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, listed

DOUBTED = 3.0
"""Standard errors between the share of intervals that hold and their mass, from which an analysis is named."""


class Interval(NamedTuple):
    """Intervals of one quantity in one replicate, and the truths: numbers or arrays of one shape."""

    quantity: str
    truth: Any
    low: Any
    high: Any


type Replicate = Callable[[np.random.Generator, float], Iterator[Interval]]
"""One replicate: draws truths from the prior, runs the analysis at a mass, and yields the intervals that it prints."""

_ANALYSES: dict[str, Replicate] = {}


def prior_analyses() -> dict[str, Replicate]:
    """The analyses that :func:`prior_check` knows, by name.

    Examples
    --------
    >>> list(bb.calibration.prior_analyses())[:2]
    ['places', 'audit']
    """
    import_module("bayesbias.prior_analyses")  # those of the package, which add themselves
    return dict(_ANALYSES)


def prior_analysis(name: str) -> Callable[[Replicate], Replicate]:
    """Add an analysis to those that :func:`prior_check` knows: a function from a generator and a mass to intervals.

    Examples
    --------
    >>> @bb.calibration.prior_analysis("one number")
    ... def one_number(rng, prob):
    ...     truth = rng.uniform()  # the prior, which is the posterior of no data
    ...     yield bb.calibration.Interval("number", truth, (1 - prob) / 2, (1 + prob) / 2)
    >>> bb.calibration.prior_check("one number", replicates=3).table()["quantity"].tolist()
    ['number']
    """
    text(name, "name")

    def added(replicate: Replicate) -> Replicate:
        _ANALYSES[name] = replicate
        return replicate

    return added


@dataclass(frozen=True, repr=False)
class PriorCheck(Result):
    """How often printed intervals hold truths that were drawn from each model's own prior.

    Attributes
    ----------
    rows
        One row a quantity: ``analysis``, ``quantity``, ``level`` (mass of its intervals), ``replicates``, ``intervals``
        (in all replicates), ``covered`` (share that hold the truth), ``se`` (of that share, over replicates).
    """

    notes: ClassVar[tuple[str, ...]] = ()

    rows: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """One row a quantity: see ``rows``."""
        return self.rows

    @property
    def doubted(self) -> pd.DataFrame:
        """The rows whose share is more than three standard errors from the mass of the intervals."""
        return self.rows[(self.rows["covered"] - self.rows["level"]).abs() > DOUBTED * self.rows["se"]]

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        doubted, level = self.doubted, percent(float(self.rows["level"].iloc[0]))
        named = [f"{row.analysis}, {row.quantity} ({row.covered:.3f})" for row in doubted.itertuples()]
        return [
            f"Truths were drawn from the models' own priors, {self.rows['replicates'].min():,} replicates or more, and "
            f"the {level} intervals of {len(self.rows)} quantities counted.",
            f"Intervals of all quantities hold the truth in {self.rows['covered'].min():.3f} to "
            f"{self.rows['covered'].max():.3f}.",
            f"More than three standard errors from {level}: {listed(named)}."
            if named
            else f"None is more than three standard errors from {level}.",
        ]


def prior_check(
    analyses: str | Sequence[str] | None = None, replicates: int = 100, prob: float = PROB, seed: int = 0
) -> PriorCheck:
    """Truths from each model's own prior, data from them, the analysis as it is printed, and its intervals counted.

    Intervals of a Bayesian model hold truths from its prior as often as they say. Where they do not, a density, a grid
    or a summary is wrong, or an approximation does not hold. Real data do not come from the prior: what they do to
    intervals is another question.

    Parameters
    ----------
    analyses
        Names of analyses, by default all: ``"places"``, ``"audit"``, ``"angle"``, ``"criterion"`` (axes of three
        pairs), ``"contrasts"`` and ``"related contrasts"``, ``"changes"``, ``"pool"``, ``"trend"``, ``"multiverse"``.
        :func:`prior_analysis` adds others.
    replicates, prob, seed
        Draws from the prior for each analysis; mass of the intervals; seed.

    Returns
    -------
    PriorCheck
        ``table()``, ``doubted``, ``text()``.

    References
    ----------
    Cook, S. R., Gelman, A. and Rubin, D. B. (2006). Validation of software for Bayesian models using posterior
    quantiles. Journal of Computational and Graphical Statistics 15(3). https://doi.org/10.1198/106186006X136976

    Examples
    --------
    >>> found = bb.calibration.prior_check("audit", replicates=3)
    >>> found.table()[["analysis", "quantity", "intervals"]].values.tolist()
    [['audit', 'place', 180]]
    """
    known = prior_analyses()
    names = [one_of(name, tuple(known), "analyses") for name in (known if analyses is None else several(analyses))]
    if not names:
        raise InputError(f"analyses is empty: give some of {', '.join(known)}, or None for all")
    count, mass = whole_number(replicates, "replicates", least=2), probability(prob, "prob")
    start = whole_number(seed, "seed", least=0, most=None)
    rows = []
    with progress("drawing from priors", len(names) * count) as done, one_thread():
        for at, name in enumerate(names):
            held: dict[str, list[FloatArray]] = {}
            for i in range(count):
                rng = np.random.default_rng([start, list(known).index(name), i])
                for each in known[name](rng, mass):
                    inside = (np.asarray(each.low) <= each.truth) & (each.truth <= np.asarray(each.high))
                    held.setdefault(each.quantity, []).append(np.ravel(inside).astype(float))
                done(at * count + i + 1)
            rows += [_row(name, quantity, mass, counted) for quantity, counted in held.items()]
    return PriorCheck(pd.DataFrame(rows))


def _row(name: str, quantity: str, level: float, held: Sequence[FloatArray]) -> dict[str, Any]:
    """The share of intervals that hold, with its standard error; intervals of one replicate go together."""
    shares = np.array([each.mean() for each in held])
    # of replicates that all hold there is no variance: it is at least that of independent intervals
    variance = max(shares.var(ddof=1), level * (1 - level) / np.mean([len(each) for each in held]))
    return {
        "analysis": name,
        "quantity": quantity,
        "level": level,
        "replicates": len(shares),
        "intervals": sum(map(len, held)),
        "covered": shares.mean(),
        "se": np.sqrt(variance / len(shares)),
    }
