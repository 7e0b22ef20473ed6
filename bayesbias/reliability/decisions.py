"""Reliability from variance components: what coefficients and numbers of conditions follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bayesbias._core.cosine import FloatArray
from bayesbias.comparison.facets import Components


@dataclass(frozen=True)
class Design:
    """How scores are made and used.

    Attributes
    ----------
    objects
        The facet whose levels are told apart.
    over
        Facets that should make no difference, with the number of their levels that a score is the mean of; it may be
        infinite.
    averaged
        Further facets that a score is the mean of, with their numbers: those effects only count as less.
    absolute
        Whether levels of ``over`` that shift all objects alike count as error too.
    """

    objects: str
    over: Mapping[str, float]
    averaged: Mapping[str, float] = field(default_factory=dict)
    absolute: bool = False


def coefficient(variances: FloatArray, components: Components, design: Design) -> FloatArray:
    """Share (D,) of the variance of scores that belongs to the objects, from variances (D, components).

    References
    ----------
    Brennan, R. L. (2001). Generalizability theory. Springer. https://doi.org/10.1007/978-1-4757-3456-0
    """
    signal, error = parts(variances, components, design)
    share: FloatArray = signal / (signal + error)
    return share


def parts(variances: FloatArray, components: Components, design: Design) -> tuple[FloatArray, FloatArray]:
    """Variance (D,) of the objects, and that of errors."""
    levels = {**design.averaged, **design.over}
    signal, error = np.zeros(len(variances)), np.zeros(len(variances))
    for at, component in enumerate(components):
        value = variances[:, at] / np.prod([levels.get(facet, 1) for facet in component])
        held = design.objects in component
        if component & design.over.keys():
            error += value if held or design.absolute else 0.0
        elif held:
            signal += value
    return signal, error


def needed(variances: FloatArray, components: Components, design: Design, facet: str, threshold: float) -> FloatArray:
    """Smallest number (D,) of levels of a facet with which the coefficient reaches a threshold; inf where none does."""
    signal, always = parts(variances, components, _with(design, facet, np.inf))
    errors = parts(variances, components, _with(design, facet, 1))[1] - always
    allowed = signal * (1 / threshold - 1) - always
    with np.errstate(divide="ignore"):
        number: FloatArray = np.where(allowed > 0, np.maximum(1, np.ceil(errors / allowed)), np.inf)
    return number


def _with(design: Design, facet: str, number: float) -> Design:
    over = {**design.over, facet: number}
    return Design(design.objects, over, design.averaged, design.absolute)
