"""``diagnose``: whether a fit is fit to be read, and if not, why."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.diagnostics.scatter import scatter_of
from bayesbias.distances.coverages import stored_coverage
from bayesbias.models.fitting import related_data
from bayesbias.models.results import check_fit, distances_of, pair_places

MAX_R_HAT = 1.01
MIN_ESS = 400
MAX_PARETO_K = 0.7
MAX_GRID_MASS_OUTSIDE = 1e-6
FEW_WORDS = 3
MISSING_CODE = -1.0
THIN = 0.5


@dataclass(frozen=True)
class Verdict:
    """How a fit converged.

    Attributes
    ----------
    engine, chains, draws
        What made the fit, and how many draws it kept in all.
    r_hat
        The largest rank-normalised R-hat; None with a single chain.
    ess
        The smallest effective sample size, bulk or tail, over all parameters; that of the importance weights if it is
        smaller.
    divergences
        Divergent transitions; None where the engine has none.
    pareto_k
        Pareto k of importance weights; None where the engine uses none.
    importance_ess
        Effective number of importance points; None where the engine uses none.
    grid_mass_outside
        Posterior mass outside the grid; None where the engine uses no grid.
    faults
        Why the fit should not be read; empty if it can be.
    notes
        What about the data limits what the fit can say.
    """

    engine: str
    chains: int
    draws: int
    r_hat: float | None
    ess: float
    divergences: int | None
    pareto_k: float | None
    importance_ess: float | None
    grid_mass_outside: float | None
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the fit can be read."""
        return not self.faults

    def numbers(self) -> dict[str, str]:
        """The figures by name, as they are shown."""
        shown = {"engine": self.engine, "draws": f"{self.draws} in {self.chains} chains"}
        if self.r_hat is not None:
            shown["largest R-hat"] = f"{self.r_hat:.3f}"
        shown["smallest ESS"] = f"{self.ess:.0f}"
        if self.divergences is not None:
            shown["divergences"] = str(self.divergences)
        if self.pareto_k is not None:
            shown["Pareto k"] = f"{self.pareto_k:.2f}"
        if self.importance_ess is not None:
            shown["importance ESS"] = f"{self.importance_ess:.0f}"
        if self.grid_mass_outside is not None:
            shown["posterior mass outside the grid"] = f"{self.grid_mass_outside:.0e}"
        return shown

    def headline(self) -> str:
        """Whether the fit can be read, and if not, why, in a sentence."""
        if self.ok:
            return "This fit can be read, within limits." if self.notes else "This fit can be read."
        return f"This fit should not be read: {'; '.join(self.faults)}."

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self.numbers().items())
        return " ".join([f"{self.headline()} ({figures})", *self.notes])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{escape(value)}</td></tr>" for name, value in self.numbers().items())
        return f"<p>{escape(' '.join([self.headline(), *self.notes]))}</p><table>{rows}</table>"


def diagnose(post: xr.DataTree) -> Verdict:
    """Judge the convergence of a fit.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    Verdict
        A fault is an R-hat above 1.01, an effective sample size below 400, a divergence, a Pareto k above 0.7,
        posterior mass above 1e-6 outside the grid, or a parameter that holds NaN or does not vary.

    References
    ----------
    Vehtari, A. et al. (2021). Rank-normalization, folding, and localization: an improved R-hat for assessing
    convergence of MCMC. Bayesian Analysis 16(2). https://doi.org/10.1214/20-BA1221
    """
    check_fit(post)
    chains, draws = post["posterior"].sizes["chain"], post["posterior"].sizes["draw"]
    values, broken = _columns(post)
    r_hat, ess = _mixing(values) if values.size else (None, float("nan"))
    stats = post["sample_stats"].data_vars if "sample_stats" in post.children else {}
    divergences = int(stats["diverging"].sum()) if "diverging" in stats else None
    pareto_k = float(stats["pareto_k"]) if "pareto_k" in stats else None
    importance_ess = float(stats["importance_ess"]) if "importance_ess" in stats else None
    ess = ess if importance_ess is None else min(ess, importance_ess)
    outside = float(post.attrs["grid_mass_outside"]) if "grid_mass_outside" in post.attrs else None
    coded = int((post["observed_data/distance"] < MISSING_CODE).sum())
    checks = (
        (bool(broken), f"{', '.join(broken)} holds draws that are not finite or do not vary"),
        (r_hat is not None and r_hat > MAX_R_HAT, f"the largest R-hat is {r_hat or 0:.3f}, above {MAX_R_HAT}"),
        (np.isnan(ess), f"{chains * draws} draws are too few to judge convergence by"),
        (
            ess < MIN_ESS,
            f"the smallest effective sample size is {ess:.0f}, below {MIN_ESS}{_remedy(importance_ess, ess)}",
        ),
        (bool(divergences), f"{divergences} transitions diverged"),
        (coded > 0, f"{coded:,} values lie below -1, which published tables write where a distance is missing"),
        (pareto_k is not None and pareto_k > MAX_PARETO_K, f"Pareto k is {pareto_k or 0:.2f}, above {MAX_PARETO_K}"),
        (
            outside is not None and not outside <= MAX_GRID_MASS_OUTSIDE,
            f"posterior mass of about {outside or 0:.0e} lies outside the grid",
        ),
    )
    return Verdict(
        engine=str(post.attrs.get("engine", "unknown")),
        chains=chains,
        draws=chains * draws,
        r_hat=r_hat,
        ess=ess,
        divergences=divergences,
        pareto_k=pareto_k,
        importance_ess=importance_ess,
        grid_mass_outside=outside,
        faults=tuple(reason for failed, reason in checks if failed),
        notes=tuple(_notes(post)),
    )


def draw_faults(values: np.ndarray, diverging: np.ndarray | None) -> list[str]:
    """Why draws (chain, draw, parameter) by NUTS should not be read, in sentences; none if they can be."""
    r_hat, ess = _mixing(values)
    divergences = 0 if diverging is None else int(diverging.sum())
    checks = (
        (r_hat is not None and r_hat > MAX_R_HAT, f"the largest R-hat is {r_hat or 0:.3f}, above {MAX_R_HAT}"),
        (not ess >= MIN_ESS, f"the smallest effective sample size is {ess:.0f}, below {MIN_ESS} (more draws may help)"),
        (divergences > 0, f"{divergences} transitions diverged"),
    )
    faults = [reason for failed, reason in checks if failed]
    return [f"This should not be read: {'; '.join(faults)}."] if faults else []


def _remedy(importance_ess: float | None, ess: float) -> str:
    return " (more draws, or engine='nuts', may help)" if importance_ess == ess else " (more draws may help)"


def _notes(post: xr.DataTree) -> list[str]:
    """Sentences on what is unusual about the distances behind a fit."""
    table = distances_of(post)
    words = table["protected_word"].nunique()
    repeated = int(table.duplicated(["protected_word", "attribute_word"]).sum())
    outside = int((~table["distance"].between(0, 2)).sum())
    single = table["protected_word"].value_counts().max() == 1
    checks = (
        (words < FEW_WORDS, f"Only {words} protected word{'s' * (words > 1)}: whole-list means rest on the prior."),
        (single, "No protected word has more than one distance."),
        (repeated > 0, f"{repeated:,} of {len(table):,} rows repeat a pair and are counted as if they were new."),
        (outside > 0, f"{outside:,} of {len(table):,} values lie outside [0, 2], where no cosine distance lies."),
    )
    notes = [*json.loads(post.attrs.get("notes", "[]")), *(sentence for unusual, sentence in checks if unusual)]
    if "sd_factor" in post["posterior"]:
        notes += _scatter_notes(table)
    record = stored_coverage(table)
    if record is not None:
        held = set(table["attribute_class"]) | set(table["group"])
        thin = [
            f"{entry['list']} ({entry['found']} of {entry['asked']})"
            for entry in record.lists
            if entry["found"] < THIN * entry["asked"] and entry["list"] in held
        ]
        if thin:
            notes.append(f"Less than half of these word lists was found: {', '.join(thin)}.")
    return notes


def _scatter_notes(table: pd.DataFrame) -> list[str]:
    """Sentences on pairs of control words that scatter otherwise than their similarity predicts."""
    found = scatter_of(related_data(table, check=False))
    return [
        f"Relative to other control words, {row['similarity']} ones scatter {row['relative']:.2f} times as much as the "
        "vectors predict (squared differences, check_relatedness): the variogram does not fit these lists, and "
        f"intervals may be too {'narrow' if row['relative'] < 1 else 'wide'}."
        for row in found[found["fault"]].to_dict("records")
    ]


def _columns(post: xr.DataTree) -> tuple[np.ndarray, list[str]]:
    """All parameters as (chain, draw, parameter), empty cells left out, and the names of the broken ones."""
    columns, broken = [], []
    places = pair_places(post)
    for name, values in post["posterior"].data_vars.items():
        labels, array = [str(dim) for dim in values.dims[2:]], values.to_numpy()
        held = np.zeros(array.shape[2:], dtype=bool)
        held[tuple(places[dim] for dim in labels)] = True
        array = array[:, :, held] if labels else array[:, :, None]
        if not np.isfinite(array).all() or (np.ptp(array, axis=(0, 1)) == 0).any():
            broken.append(str(name))
        else:
            columns.append(array)
    if not columns:
        return np.empty((0, 0, 0)), broken
    return np.concatenate(columns, axis=2), broken


def _mixing(values: np.ndarray) -> tuple[float | None, float]:
    from arviz_stats.base import array_stats

    axes = {"chain_axis": 0, "draw_axis": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # too few draws for a figure give NaN, which is a fault
        bulk = array_stats.ess(values, method="bulk", **axes)
        tail = array_stats.ess(values, method="tail", prob=(0.055, 0.945), **axes)
        r_hat = float(np.max(array_stats.rhat(values, **axes))) if values.shape[0] > 1 else None
    return r_hat, float(np.min([np.min(bulk), np.min(tail)]))
