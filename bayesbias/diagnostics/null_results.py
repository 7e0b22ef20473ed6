"""The result of a null model: values without bias, and the observed one among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.intervals import PROB


@dataclass(frozen=True)
class NullDistribution:
    """Where a statistic stands among its values without bias.

    Attributes
    ----------
    statistic, source
        What was asked.
    observed
        The statistic of the lists as they are.
    values
        (draws,): the statistic of each draw.
    centre
        From where two-sided distances are measured: the median of the values, 0 for plain noise.
    n_candidates
        How many words could be drawn; 0 for plain noise.
    """

    statistic: str
    source: str
    observed: float
    values: FloatArray
    centre: float
    n_candidates: int

    @property
    def p_value(self) -> float:
        """Two-sided: (draws at least as far from the centre as the observed + 1) / (draws + 1)."""
        far = np.abs(self.values - self.centre) >= abs(self.observed - self.centre) - 1e-12
        return float((far.sum() + 1) / (len(self.values) + 1))

    @property
    def p_value_se(self) -> float:
        """Monte Carlo standard error of the p-value."""
        return float(np.sqrt(self.p_value * (1 - self.p_value) / len(self.values)))

    @property
    def quantile(self) -> float:
        """Share of the draws below the observed value."""
        return float((self.values < self.observed).mean())

    def summary(self) -> pd.DataFrame:
        """One row: the fields, with ``mean``, ``sd`` and the central 89% (``low``, ``high``) of the draws."""
        low, high = np.quantile(self.values, [(1 - PROB) / 2, (1 + PROB) / 2])
        row = {
            "statistic": self.statistic,
            "source": self.source,
            "observed": self.observed,
            "mean": self.values.mean(),
            "sd": self.values.std(ddof=1),
            "low": low,
            "high": high,
            "quantile": self.quantile,
            "p_value": self.p_value,
            "p_value_se": self.p_value_se,
            "draws": len(self.values),
            "n_candidates": self.n_candidates,
        }
        return pd.DataFrame([row])

    def __str__(self) -> str:
        row = self.summary().iloc[0]
        pool = f"{self.source}, {self.n_candidates:,} candidates" if self.n_candidates else self.source
        return (
            f"{self.statistic}: {self.observed:.4f} observed; without bias ({pool}; {len(self.values):,} draws) "
            f"{row['mean']:.4f} on average, {100 * PROB:g}% between {row['low']:.4f} and {row['high']:.4f}; "
            f"quantile {self.quantile:.3f}, two-sided p {self.p_value:.4f} (± {self.p_value_se:.4f} of simulation)"
        )
