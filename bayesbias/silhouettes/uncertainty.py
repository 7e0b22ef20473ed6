"""``silhouette_uncertainty``: how far the scores of silhouettes hang on which runs were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtri

from bayesbias._checks import one_of, probability, whole_number
from bayesbias._core.cells import IntArray
from bayesbias.diagnostics.intervals import PROB
from bayesbias.errors import InputError
from bayesbias.silhouettes.results import Silhouette, check_comparable, silhouette_accuracy, silhouette_separation

METHODS = ("half", "bootstrap")
FEWEST_RUNS = 10
COLUMNS = ["score", "value", "sd", "low", "high", "half_the_runs", "covered"]
COVERED = {"robustness": 0.77, "accuracy": 0.875, "separation": 0.958}
"""Smallest share of 89% intervals (by halves of 100 runs) that held the score's mean over other runs, as found."""


def silhouette_uncertainty(
    biased: Silhouette,
    unbiased: Silhouette | None = None,
    resamples: int = 1000,
    prob: float = PROB,
    method: Literal["half", "bootstrap"] = "half",
    seed: int = 0,
) -> pd.DataFrame:
    """Standard errors of robustness, accuracy and separation over the choice of runs.

    Parameters
    ----------
    biased, unbiased
        Silhouettes of at least ten runs; with one alone, its robustness. Two need the same runs (one seed), which are
        drawn together.
    resamples
        How many samples of the runs.
    prob
        Probability of the normal intervals.
    method
        ``"half"`` draws halves of the runs without replacement: for means, and so for accuracy, their spread is exactly
        the standard error. For robustness, which rests on extremes, it is a lower bound, 0.6 to 1 of the standard error
        where we tried; that of ``"bootstrap"``, as many runs drawn with replacement, is 0.5 to 0.8 of it.
    seed
        Seed of the samples.

    Returns
    -------
    DataFrame
        A row a score: ``score``, ``value``, ``sd`` (standard error), ``low`` and ``high``, and ``half_the_runs``, the
        score's mean over halves of the runs. Robustness falls as runs are added, since a silhouette only grows: where
        ``half_the_runs`` is clearly above ``value``, more runs would lower it further. ``covered`` is the smallest
        share of 89% intervals that we found to hold the score's mean over other runs: .77 for robustness (.82 to .87
        for weat1 and weat7 in the bundled vectors), whose intervals are too narrow. It is known for ``prob=0.89`` and
        ``method="half"`` and NaN otherwise.

    Raises
    ------
    InputError
        Fewer than ten runs, or silhouettes that cannot be compared.

    References
    ----------
    Shao, J. and Wu, C. F. J. (1989). A general theory for jackknife variance estimation. Annals of Statistics 17(3).
    https://doi.org/10.1214/aos/1176347263
    """
    one_of(method, METHODS, "method")
    resamples, prob = whole_number(resamples, "resamples", least=2), probability(prob, "prob")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    check_comparable(biased, biased if unbiased is None else unbiased)
    runs = len(biased.values)
    if unbiased is not None and len(unbiased.values) != runs:
        raise InputError(f"the silhouettes have {runs} and {len(unbiased.values)} runs: give the same runs of both")
    if runs < FEWEST_RUNS:
        raise InputError(f"there are {runs} runs: the uncertainty of a score needs at least {FEWEST_RUNS}")
    halves = [rng.permutation(runs)[: runs // 2] for _ in range(resamples)]
    drawn = halves if method == "half" else [rng.integers(runs, size=runs) for _ in range(resamples)]
    half_width = float(ndtri((1 + prob) / 2))
    rows = []
    for name, score in _scores(biased, unbiased).items():
        value, spread = score(np.arange(runs)), float(np.std([score(chosen) for chosen in drawn], ddof=1))
        fewer = float(np.mean([score(chosen) for chosen in halves]))
        tried = COVERED[name.split()[0]] if (prob, method) == (PROB, "half") else float("nan")
        rows.append((name, value, spread, value - half_width * spread, value + half_width * spread, fewer, tried))
    return pd.DataFrame(rows, columns=COLUMNS)


def _scores(biased: Silhouette, unbiased: Silhouette | None) -> dict[str, Callable[[IntArray], float]]:
    """Name of a score to its value on some of the runs."""
    if unbiased is None:
        return {"robustness": lambda chosen: biased.of_runs(chosen).robustness}
    other = unbiased
    return {
        "robustness of the biased": lambda chosen: biased.of_runs(chosen).robustness,
        "robustness of the unbiased": lambda chosen: other.of_runs(chosen).robustness,
        "accuracy": lambda chosen: silhouette_accuracy(biased.of_runs(chosen), other.of_runs(chosen)),
        "separation": lambda chosen: silhouette_separation(biased.of_runs(chosen), other.of_runs(chosen)),
    }
