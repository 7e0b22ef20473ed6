"""Variance components of bias scores, coefficients, and how many pairs or seeds are enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import flag, one_of, probability, whole_number, whole_numbers
from bayesbias.baselines.reliability.consistency import DIMS, check_scores, standardised
from bayesbias.checks.summaries import PROB, describe, flat_draws
from bayesbias.checks.variance_components import (
    SHARES,
    ComponentEngine,
    Components,
    Layout,
    component_table,
    draw_components,
)
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray
from bayesbias.results import Note, Result

SEEDS, FEW = (1, 2, 5, 10), 5
GOOD = 0.75
"""Reliability that is called good (Koo and Li 2016, https://doi.org/10.1016/j.jcm.2016.02.012)."""


@dataclass(frozen=True)
class MeasurementDesign:
    """Measurement design of a decision study: how scores are made and used."""

    objects: str  # the facet whose levels are told apart
    over: Mapping[str, float]  # facets that should make no difference, and of how many levels a score is the mean
    averaged: Mapping[str, float] = field(default_factory=dict)  # further ones, whose effects only count as less
    absolute: bool = False  # whether levels of ``over`` that shift all objects equally count as error too


def _coefficient(variances: FloatArray, components: Components, design: MeasurementDesign) -> FloatArray:
    """Share (D,) of the variance of scores that belongs to the objects, from variances (D, components).

    References
    ----------
    Brennan, R. L. (2001). Generalizability theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0
    """
    signal, error = _parts(variances, components, design)
    return signal / (signal + error)


def _parts(variances: FloatArray, components: Components, design: MeasurementDesign) -> tuple[FloatArray, FloatArray]:
    """Variance (D,) of the objects, and that of errors."""
    levels = {**design.averaged, **design.over}
    signal, error = np.zeros(len(variances)), np.zeros(len(variances))
    for i, component in enumerate(components):
        value = variances[:, i] / np.prod([levels.get(facet, 1) for facet in component])
        of_objects = design.objects in component
        if component & design.over.keys():
            error += value if of_objects or design.absolute else 0.0
        elif of_objects:
            signal += value
    return signal, error


def _needed(
    variances: FloatArray, components: Components, design: MeasurementDesign, facet: str, threshold: float
) -> FloatArray:
    """Smallest number (D,) of levels of a facet with which the coefficient reaches a threshold; inf where none does."""
    signal, always = _parts(variances, components, replace(design, over={**design.over, facet: np.inf}))
    errors = _parts(variances, components, replace(design, over={**design.over, facet: 1}))[1] - always
    allowed = signal * (1 / threshold - 1) - always
    with np.errstate(divide="ignore"):
        number: FloatArray = np.where(allowed > 0, np.maximum(1, np.ceil(errors / allowed)), np.inf)
    return number


@dataclass(frozen=True, repr=False, eq=False)
class VarianceComponents(Result):
    """Posterior of the variance components of bias scores: what :func:`variance_components` returns.

    Attributes
    ----------
    posterior
        DataTree with the group ``posterior``: ``component_sd`` (chain, draw, component), of words, pairs and seeds like
        those at hand, in standard deviations of a measure's scores (or in the scores' unit, if they were not
        standardised), and ``finite_population_sd``, of those at hand.
    components, sizes
        Facets of each component, in the order of the posterior's, and levels of each facet that varies.
    standardised
        Whether each measure was first brought to standard deviation 1.
    """

    picture: ClassVar[str] = "forest"
    prob: ClassVar[float] = PROB

    posterior: xr.DataTree
    components: Components
    sizes: dict[str, int]
    standardised: bool
    notes: tuple[Note, ...] = ()

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        return "Components of bias scores: share of the variance of a single score; sd"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        sizes = {f"{name.replace('_', ' ')}s": size for name, size in self.sizes.items()}
        return {**sizes, "standardised": "each measure" if self.standardised else None, "intervals": f"{self.prob:.0%}"}

    @property
    def variances(self) -> FloatArray:
        """Draws (D, components) of the variances."""
        return flat_draws(self.posterior["posterior/component_sd"].to_numpy()) ** 2

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Each component's standard deviation and its share of the variance of a single score, with intervals.

        Columns ``component``, ``sd``, ``low``, ``high``, ``share``, ``share_low``, ``share_high``.
        """
        return component_table(self.posterior, probability(prob, "prob"))

    def summary(self) -> pd.DataFrame:
        """The same, the largest share first."""
        columns = ["component", "share", "share_low", "share_high", "sd", "low", "high"]
        return self.table().sort_values("share", ascending=False, ignore_index=True)[columns]

    def drawn_from(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """The shares, the largest on top."""
        return self.summary(), SHARES

    def tables(self) -> dict[str, pd.DataFrame]:
        """The same, :meth:`reliability`, and :meth:`needed` for words where targets and base pairs vary."""
        found = {"Components of the variance": self.table(), "Coefficients of reliability": self.reliability()}
        if {"target", "base_pair"} <= self.sizes.keys():
            found[f"Base pairs needed ({GOOD:g})"] = pd.DataFrame([self.needed()]).rename(
                columns={"low": "least", "high": "most"}
            )
        return found

    def reliability(self, prob: float = PROB) -> pd.DataFrame:
        """The study's coefficients as posteriors: of a word or pair like these, with as many conditions as there are.

        Returns
        -------
        DataFrame
            ``coefficient``, ``of``, ``form``, ``mean``, ``low``, ``high`` and ``p_good``, the probability that it
            is at least 0.75. Test-retest and inter-rater coefficients are those of one target word or base pair out of
            the population; alpha is that of all words, or pairs, together.
        """
        prob, sizes = probability(prob, "prob"), self.sizes
        seeds = {"seed": sizes["seed"]} if "seed" in sizes else {}
        either = (("target", "base_pair"), ("base_pair", "target"))
        of_all = (("query", "target", "base_pair"), ("base_pair", "base_pair", "target"))
        designs = [
            *(
                ("test-retest", of, "ICC(2,1)", MeasurementDesign(rows, {"seed": 1}, absolute=True), "seed")
                for of, rows in either
            ),
            *(
                ("inter-rater", of, "ICC(3,1)", MeasurementDesign(rows, {"measure": 1}, seeds), "measure")
                for of, rows in either
            ),
            *(
                ("internal", of, "alpha", MeasurementDesign(cases, {items: sizes.get(items, 1)}, seeds), items)
                for of, items, cases in of_all
            ),
        ]
        rows = []
        for name, of, form, design, facet in designs:
            if {design.objects, facet} <= sizes.keys():
                drawn = _coefficient(self.variances, self.components, design)
                rows.append((name, of, form, *_described(drawn, prob), float((drawn >= GOOD).mean())))
        return pd.DataFrame(rows, columns=["coefficient", "of", "form", "mean", "low", "high", "p_good"])

    def decision(
        self,
        base_pairs: int | Iterable[int] = (1, 2, 5, 10, 20, 50),
        seeds: int | Iterable[int] | None = None,
        of: Literal["target", "base_pair"] = "target",
        absolute: bool = False,
        threshold: float = GOOD,
        prob: float = PROB,
    ) -> pd.DataFrame:
        """Reliability of the mean over so many base pairs and seeds, by which words are told apart (a D-study).

        Parameters
        ----------
        base_pairs, seeds
            Numbers to look at; ``base_pairs`` are numbers of target words where pairs are told apart. ``seeds`` are by
            default 1, 2, 5 and 10, and 1 where the scores have one seed only: they are then about that embedding.
        of
            What is told apart.
        absolute
            Whether equal shifts of all words count as error: for reading a score as it is, not for ranking words.
        threshold
            Reliability that is enough.
        prob
            Posterior mass of the intervals.

        Returns
        -------
        DataFrame
            ``base_pairs`` (``targets`` where pairs are told apart), ``seeds``, ``mean``, ``low``, ``high`` and
            ``p_reliable``, the probability that the threshold is reached.
        """
        facet = self._other(of)
        seeds = (SEEDS if "seed" in self.sizes else 1) if seeds is None else seeds
        threshold, prob = probability(threshold, "threshold"), probability(prob, "prob")
        absolute = flag(absolute, "absolute")
        rows = []
        for number in whole_numbers(base_pairs, "base_pairs"):
            for trained in whole_numbers(seeds, "seeds"):
                design = MeasurementDesign(of, self._over(facet, number, trained), absolute=absolute)
                drawn = _coefficient(self.variances, self.components, design)
                rows.append((number, trained, *_described(drawn, prob), float((drawn >= threshold).mean())))
        return pd.DataFrame(rows, columns=[f"{facet}s", "seeds", "mean", "low", "high", "p_reliable"])

    def needed(
        self,
        seeds: int = 1,
        of: Literal["target", "base_pair"] = "target",
        absolute: bool = False,
        threshold: float = GOOD,
        prob: float = PROB,
    ) -> dict[str, float]:
        """Number of base pairs that makes words reliable with so many seeds (target words, where pairs are told apart).

        Returns
        -------
        dict
            ``median``, ``low`` and ``high`` (quantiles) of the smallest number, inf where no number is enough, and
            ``p_never``, the probability of that. With scores of one seed it is about that embedding.
        """
        facet = self._other(of)
        threshold, prob = probability(threshold, "threshold"), probability(prob, "prob")
        design = MeasurementDesign(
            of, self._over(facet, 1, whole_number(seeds, "seeds")), absolute=flag(absolute, "absolute")
        )
        drawn = _needed(self.variances, self.components, design, facet, threshold)
        tail = (1 - prob) / 2
        ends = np.quantile(drawn, [0.5, tail, 1 - tail], method="closest_observation").tolist()
        return dict(zip(("median", "low", "high"), ends, strict=True)) | {"p_never": float(np.isinf(drawn).mean())}

    def _other(self, of: str) -> str:
        one_of(of, ("target", "base_pair"), "of")
        facet = "base_pair" if of == "target" else "target"
        for name in (of, facet):
            if name not in self.sizes:
                raise InputError(f"the scores have one {name.replace('_', ' ')} only, so that others are not known")
        return facet

    def _over(self, facet: str, number: int, seeds: int) -> dict[str, int]:
        if seeds > 1 and "seed" not in self.sizes:
            raise InputError(
                f"the scores have one seed only, so that {seeds} are not known: give seeds=1, or score more"
            )
        return {name: count for name, count in ((facet, number), ("seed", seeds)) if name in self.sizes}


def variance_components(
    scores: xr.DataArray,
    standardise: bool = True,
    engine: ComponentEngine = "auto",
    draws: int = 4000,
    chains: int = 4,
    seed: int | None = 0,
) -> VarianceComponents:
    """Variance of bias scores by target word, base pair, measure, seed and all their combinations.

    Every score is a mean plus a normal effect of each set of facets; the set of all is the residual. The standard
    deviations have Exponential(2) priors, in units of the scores' standard deviation.

    Parameters
    ----------
    scores
        What :func:`bias_scores` returns. Facets with one level are left out.
    standardise
        Whether each measure is first brought to mean 0 and standard deviation 1: the measures have different units.
        There is then no effect of the measure alone. Take one measure (``scores.sel(measure=["nbm"])``) for its own
        reliability: in a joint model the measures share the components.
    engine
        ``"marginal"``: the sums of squares hold all that a complete array says, and the components are drawn by
        importance sampling; ``"nuts"`` (PyMC) also takes arrays with gaps (NaN), in minutes, and may not converge:
        it is better to leave out the words or pairs with gaps; ``"auto"`` chooses.
    draws, chains, seed
        As in :func:`fit`.

    Returns
    -------
    VarianceComponents
        Posteriors of the components, and from them of every coefficient and of how many pairs or seeds are enough.

    References
    ----------
    Cronbach, L. J., Rajaratnam, N. and Gleser, G. C. (1963). Theory of generalizability: a liberalization of
    reliability theory. British Journal of Statistical Psychology 16(2).
    https://doi.org/10.1111/j.2044-8317.1963.tb00206.x

    Examples
    --------
    >>> kv = bb.load_embedding("glove-50d-slice")
    >>> kvs = [kv, bb.debias(kv, "project", definitional=[("poor", "rich")])]  # or of two seeds
    >>> scores = bb.reliability.bias_scores(kvs, "occ16", measures=["db_wa", "ripa"])
    >>> found = bb.reliability.variance_components(scores, draws=400, seed=0)
    >>> found.table().columns.tolist()[:2]
    ['component', 'sd']
    """
    check_scores(scores, gaps=True)
    y = scores.transpose(*DIMS).to_numpy().astype(np.float64)
    sizes = {name: size for name, size in zip(DIMS, y.shape, strict=True) if size > 1}
    by_measure = y.reshape(len(y), -1)
    spread, level = np.nanstd(by_measure, axis=1), np.abs(np.nanmean(by_measure, axis=1))
    if not (spread > 1e-12 * np.maximum(level, 1e-300)).all():
        constant = scores["measure"].to_numpy()[np.argmin(spread)]
        raise InputError(f"the scores of {constant} do not vary, so that they have no components: leave it out")
    if flag(standardise, "standardise"):
        y, unit = standardised(y), 1.0
    else:
        unit = float(np.nanstd(y))
        y = (y - np.nanmean(y)) / unit
    y = y.reshape(tuple(sizes.values()))
    if y.ndim < 2:
        facets = " and ".join(sizes) or "nothing"
        raise InputError(f"the scores vary by {facets} only: give scores with several levels of two facets")
    without = ("measure",) if standardise and "measure" in sizes else ()
    layout = Layout(tuple(sizes), without)
    tree, faults = draw_components(y, layout, engine, draws, chains, seed, unit)
    wanted = {"target": 2, "base_pair": 2, "measure": FEW, "seed": FEW}
    few = {name.replace("_", " "): sizes.get(name, 1) for name in DIMS if sizes.get(name, 1) < wanted[name]}
    notes = [Note("few-levels", count=size, factor=name if size == 1 else f"{name}s") for name, size in few.items()]
    every = (*scores.attrs.get("notes", ()), *notes, *faults)
    return VarianceComponents(tree, layout.components, sizes, standardise, every)


def _described(drawn: FloatArray, prob: float) -> tuple[float, float, float]:
    summary = describe(drawn[:, None], prob)
    return float(summary["mean"][0]), float(summary["low"][0]), float(summary["high"][0])
