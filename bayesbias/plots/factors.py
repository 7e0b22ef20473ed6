"""What reliability hangs on: the study's Table 2 as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import flat_draws
from bayesbias.plots.pieces import check_kind, note_below, note_beside
from bayesbias.plots.style import FONT, Look, draw_intervals, label_rows, new_figure
from bayesbias.reliability import ReliabilityRegression
from bayesbias.reliability.shares import FIXED, INTERCEPT, RESIDUAL, TOTAL

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TERM, SPREAD, EXPLAINED = Look("#0072B2", "o", ""), Look("#009E73", "^", ""), Look("#D55E00", "s", "")
LEVEL = "    "
"""Before the name of a level."""


def plot_factors(regression: ReliabilityRegression) -> Figure:
    """Coefficients and the share of the variance of each part.

    Above, features: left their coefficients, of numbers for a standard deviation more and of text against the reference
    level; right the share that is each feature's own. Below, left the standard deviations of groupings and residuals;
    right their shares, with those of all features and of all but the residuals. Points are posterior means, thick bars
    50% and thin bars the regression's highest-density intervals.

    Parameters
    ----------
    regression
        What :func:`reliability_regression` returns.
    """
    check_kind(regression, ReliabilityRegression, "plot_factors", "reliability_regression")
    posterior = regression.posterior["posterior"].to_dataset()
    coefficients, spreads, shares = _draws(posterior, "coefficient"), _spreads(posterior), _draws(posterior, "r2")
    wholes = [FIXED, *regression.levels, RESIDUAL, TOTAL]
    features = [str(term) for term in regression.table["term"] if term not in (INTERCEPT, *wholes)]
    prob, sizes = regression.prob, [0.22 * len(rows) + 0.8 for rows in (features, wholes)]
    change = f"change of {regression.outcome} (numbers: for a standard deviation more)"
    spread = f"standard deviation of {regression.outcome}"
    intervals = f"with 50% and {100 * prob:g}% intervals"
    with mpl.rc_context(FONT):
        figure = new_figure(9.2, sum(sizes) + 0.5)
        figure.set_layout_engine("constrained", h_pad=0.1)
        (above, own), (below, whole) = figure.subplots(2, 2, height_ratios=sizes, width_ratios=(1.25, 1))
        own.sharex(whole)
        _column(above, features, coefficients, prob, TERM)
        label_rows(above, [_feature(regression, term) for term in features], change, "Coefficients", 0.0)
        _column(own, features, shares, prob, EXPLAINED, told=True)
        label_rows(own, [""] * len(features), "", "Own share of the variance", 0.0)
        _column(below, wholes, spreads, prob, SPREAD)
        label_rows(below, [_whole(regression, name) for name in wholes], spread, "Standard deviations", 0.0)
        _column(whole, wholes, shares, prob, EXPLAINED, told=True)
        label_rows(whole, [""] * len(wholes), f"share of the variance, {intervals}", "Share of the variance", 0.0)
        whole.set_xlim(-0.01, 1.01)
        whole.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        note_below(figure, *regression.notes)
    return figure


def _draws(posterior: xr.Dataset, name: str) -> dict[str, FloatArray]:
    """Label to draws (D,) of a quantity of one dimension beside chain and draw."""
    if name not in posterior:
        return {}
    drawn = flat_draws(posterior[name].to_numpy())
    labels = posterior[name].coords[posterior[name].dims[-1]].to_numpy()
    return {str(label): drawn[:, at] for at, label in enumerate(labels)}


def _spreads(posterior: xr.Dataset) -> dict[str, FloatArray]:
    return _draws(posterior, "group_sd") | {RESIDUAL: flat_draws(posterior["residual_sd"].to_numpy())}


def _column(
    axes: Axes, names: Sequence[str], draws: Mapping[str, FloatArray], prob: float, look: Look, told: bool = False
) -> None:
    """The intervals of the rows that have draws, with their means in percent beside them if ``told``."""
    held = [at for at, name in enumerate(names) if name in draws]
    drawn = np.stack([draws[names[at]] for at in held], axis=1)
    draw_intervals(axes, -np.array(held, dtype=float), drawn, prob, look)
    for at, mean in zip(held, drawn.mean(axis=0), strict=True) if told else ():
        note_beside(axes, -at, f"{mean:.1%}")


def _feature(regression: ReliabilityRegression, term: str) -> str:
    """A term's label: the feature, its reference level, or the level."""
    if term in regression.references:
        return f"{term.replace('_', ' ')} (against {regression.references[term]})"
    for name in regression.references:
        if term.startswith(f"{name}[") and term.endswith("]"):
            return LEVEL + term[len(name) + 1 : -1]
    return term.replace("_", " ")


def _whole(regression: ReliabilityRegression, name: str) -> str:
    if name in regression.levels:
        return f"{name.replace('_', ' ')} ({regression.levels[name]} levels)"
    return {FIXED: "all features", TOTAL: "all but the residual"}.get(name, name)
