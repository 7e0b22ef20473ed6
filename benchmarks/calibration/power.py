"""What tests of ranks see: their size, and their power against intervals that are too narrow, too wide or shifted.

    python benchmarks/calibration/power.py

The truth is normal, and so are the draws, with a standard deviation that is a factor of the right one (.75: intervals
25% too narrow) or with a mean that is off. The rank of the truth among 199 draws is then binomial given the truth.
Rates are shares of simulated calibrations in which the p-value of one parameter is at most 5%.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from bayesbias.calibration.simulation import _kolmogorov_smirnov, _spread_test

DRAWS = 199
TABLES = (20, 60, 200, 1000)
FAULTS = {
    "none": (1.0, 0.0),
    "10% too narrow": (0.9, 0.0),
    "25% too narrow": (0.75, 0.0),
    "50% too narrow": (0.5, 0.0),
    "10% too wide": (1.1, 0.0),
    "25% too wide": (1.25, 0.0),
    "shifted by .25 sd": (1.0, 0.25),
}
LEVEL = 0.05
REPLICATES = 4000
RESULT = Path(__file__).parent / "results" / "power.csv"


def drawn_ranks(width, shift, tables, rng):
    """Ranks (tables,) of a standard normal truth among draws from N(shift, width^2)."""
    return rng.binomial(DRAWS, ndtr((rng.standard_normal(tables) - shift) / width))


def rates(width, shift, tables, rng):
    """Share of calibrations that each test calls wrong."""
    p_values = [
        (_spread_test(ranks, DRAWS)[1], _kolmogorov_smirnov(ranks, DRAWS))
        for ranks in (drawn_ranks(width, shift, tables, rng) for _ in range(REPLICATES))
    ]
    return (np.array(p_values) <= LEVEL).mean(axis=0)


def main():
    rng = np.random.default_rng(0)
    rows = [
        (fault, tables, *rates(width, shift, tables, rng))
        for fault, (width, shift) in FAULTS.items()
        for tables in TABLES
    ]
    found = pd.DataFrame(rows, columns=["intervals", "tables", "spread", "kolmogorov_smirnov"]).round(3)
    found.to_csv(RESULT, index=False)
    print(found.to_string(index=False))


if __name__ == "__main__":
    main()
