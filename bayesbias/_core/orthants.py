"""Probabilities that two normal quantities have opposite signs."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, owens_t

from bayesbias._core.vectors import FloatArray

TINY = 1e-150  # what a mean of 0 is replaced by: the limit is the same from either side


def opposite_signs(
    means: tuple[FloatArray, FloatArray], sds: tuple[FloatArray, FloatArray], covariance: FloatArray
) -> FloatArray:
    """Probability (...) that the product of two jointly normal quantities is below 0.

    Parameters
    ----------
    means, sds
        Of the two quantities, arrays that broadcast to (...). An sd of 0 is a known value; a value that is known to be
        0 has no sign.
    covariance
        Of the two, (...).

    References
    ----------
    Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of Mathematical Statistics 27(4).
    https://doi.org/10.1214/aoms/1177728074
    """
    h, k = (_standardised(mean, sd) for mean, sd in zip(means, sds, strict=True))
    h, k, first, second, covariance = np.broadcast_arrays(h, k, *sds, covariance)
    product = first * second
    rho = np.clip(np.divide(covariance, product, out=np.zeros(product.shape), where=product > 0), -1.0, 1.0)
    rest = np.sqrt(1 - rho**2)
    # with Owen's T, P(both above 0) + P(both below 0) = 1 - 2 T(h, a) - 2 T(k, b), less 1 for means of opposite signs
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (k - rho * h) / (h * rest), (h - rho * k) / (k * rest)
    # 0 / 0: the two are one quantity, up to its sign
    a, b = np.where(np.isnan(a), 0.0, a), np.where(np.isnan(b), 0.0, b)
    value = 2 * (owens_t(h, a) + owens_t(k, b))
    value = value + ((h > 0) != (k > 0))
    # a known value has its sign for certain: what is left is whether the other one has the opposite sign
    known = np.where(np.isinf(h), ndtr(-np.sign(h) * k), ndtr(-np.sign(k) * h))
    value = np.where(np.isinf(h) | np.isinf(k), known, value)
    return np.clip(np.where(np.isnan(h) | np.isnan(k), 0.0, value), 0.0, 1.0)


def _standardised(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Mean over sd: infinite for a known value, NaN for a known 0, and never 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value: FloatArray = np.divide(mean, sd)
    return np.where(value == 0, TINY, value)
