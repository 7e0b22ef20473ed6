"""Shares of the variance of a multilevel regression, and the table of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import describe, flat_draws

INTERCEPT, FIXED, RESIDUAL, TOTAL = "intercept", "fixed effects", "residual", "total"
"""Names of rows that stand for no feature and no grouping."""
NUMBERS = ["mean", "sd", "low", "high"]
FEW_LEVELS = 5
"""Levels of a grouping below which they cannot tell how much levels differ."""


def variance_shares(
    columns: FloatArray, parts: Sequence[str], values: Mapping[str, FloatArray], groups: Sequence[str]
) -> dict[str, FloatArray]:
    """Part to its share of the variance (chain, draw).

    Parameters
    ----------
    columns, parts
        Design of the fixed effects (rows, terms), the intercept first, and the feature of each term.
    values
        Draws (chain, draw, ...) of ``coefficient`` (term), ``group_sd`` (group) and ``residual_sd``.
    groups
        Names of the groupings.
    """
    covariance = np.atleast_2d(np.cov(columns[:, 1:], rowvar=False, ddof=1))
    coefficient, features = values["coefficient"][:, :, 1:], np.array(parts[1:])

    def variance(own: NDArray[np.bool_], covariance: FloatArray) -> FloatArray:
        some = coefficient[:, :, own]
        value: FloatArray = np.vecdot(some @ covariance, some)
        return value

    variances = {}
    for name in dict.fromkeys(parts[1:]):
        own = features == name
        shared = covariance[np.ix_(own, ~own)]
        explained = shared @ np.linalg.solve(covariance[np.ix_(~own, ~own)], shared.T)
        variances[name] = variance(own, covariance[np.ix_(own, own)] - explained)
    variances[FIXED] = variance(np.ones(len(features), dtype=bool), covariance)
    variances |= {name: values["group_sd"][:, :, at] ** 2 for at, name in enumerate(groups)}
    variances[RESIDUAL] = values["residual_sd"] ** 2
    whole = sum(variances[name] for name in (FIXED, *groups, RESIDUAL))
    shares = {name: one / whole for name, one in variances.items()}
    return shares | {TOTAL: 1 - shares[RESIDUAL]}


def table_of_terms(
    terms: Sequence[str],
    parts: Sequence[str],
    values: Mapping[str, FloatArray],
    shares: Mapping[str, FloatArray],
    groups: Sequence[str],
    prob: float,
) -> pd.DataFrame:
    """Coefficients and sds with the shares of the variance, in the order of the terms."""
    sds = np.concatenate([values["group_sd"], values["residual_sd"][:, :, None]], axis=2)
    drawn = np.concatenate([values["coefficient"], sds], axis=2)
    numbers = pd.DataFrame(describe(flat_draws(drawn), prob)).set_axis(NUMBERS, axis=1)
    numbers.index = pd.Index([*terms, *groups, RESIDUAL])
    part_of = dict(zip([*terms, *shares], [*parts, *shares], strict=True))
    order = [INTERCEPT]
    for name in shares:
        order += dict.fromkeys([name, *(term for term, part in part_of.items() if part == name)])
    described = describe(flat_draws(np.stack(list(shares.values()), axis=2)), prob)
    r2 = pd.DataFrame({"r2": described["mean"], "r2_low": described["hdi_low"], "r2_high": described["hdi_high"]})
    table = numbers.reindex(order).join(r2.set_axis(list(shares)))
    return (
        table.assign(part=[part_of[term] for term in order])
        .rename_axis("term")
        .reset_index()[["term", "part", *NUMBERS, "r2", "r2_low", "r2_high"]]
    )


def unsettled(
    values: Mapping[str, FloatArray], shares: Mapping[str, FloatArray], names: Mapping[str, list[str]], scale: float
) -> list[str]:
    """A sentence on groupings of few levels, with what other priors of the groupings' sds would make of the shares.

    Weights turn draws under exponential priors of mean ``scale`` into draws under priors of half and twice that mean.
    """
    few = [name for name, labels in names.items() if len(labels) < FEW_LEVELS]
    if not few:
        return []
    asked = [*few, FIXED]
    drawn = flat_draws(np.stack([shares[name] for name in asked], axis=2))
    slopes, sds = flat_draws(values["coefficient"][:, :, 1:]), flat_draws(values["group_sd"]).sum(axis=1)
    means, moved = [drawn.mean(axis=0)], 0.0
    for factor in (0.5, 2.0):
        weights = np.exp((1 - 1 / factor) * (sds - sds.max()) / scale)
        weights /= weights.sum()
        means.append(weights @ drawn)
        moved = max(moved, np.max(np.abs(weights @ slopes - slopes.mean(axis=0)) / slopes.std(axis=0)))
    said = [
        f"{name} {half:.0%} or {twice:.0%} instead of {now:.0%}"
        for name, now, half, twice in zip(asked, *means, strict=True)
    ]
    levels = " and ".join(f"{len(names[name])} levels of {name}" for name in few)
    return [
        f"{levels} cannot settle how much levels differ: with prior means of their sds half or twice as large, the "
        f"shares of the variance would be {', '.join(said)}, while no coefficient of a feature would move by more than "
        f"{max(moved, 0.01):.2f} posterior sds."
    ]
