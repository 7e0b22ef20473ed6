"""Coverage of the intervals of intraclass correlations: F against the bootstrap, normal and heavy-tailed objects.

python benchmarks/reliability_intervals.py          # about ten minutes on one core
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from itertools import product

import numpy as np
import pandas as pd
from common import keep
from inside import bootstrap_icc, icc

PROB, TABLES, DRAWS = 0.89, 400, 400
OBJECTS, RATERS, TRUTHS = (10, 20, 50, 150), 4, (0.4, 0.8)
FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(3,k)")


def standard_t4(rng, shape):
    return rng.standard_t(4, shape) / np.sqrt(2)


def standard_normal(rng, shape):
    return rng.standard_normal(shape)


KINDS = {"normal": standard_normal, "t4": standard_t4}


def simulated(kind, n, k, truth, tables, rng):
    """Tables (tables, n, k) of ratings with the intraclass correlation ``truth``; the rows' effects are of a kind."""
    rows = np.sqrt(truth) * KINDS[kind](rng, (tables, n, 1))
    return rows + np.sqrt(1 - truth) * rng.standard_normal((tables, n, k))


def covered(found, truth):
    return float(np.mean((found.low <= truth) & (truth <= found.high)))


def study(kind, n, truth, form, tables=TABLES, draws=DRAWS):
    """Coverage and median width of both intervals on the same tables."""
    rng = np.random.default_rng([n, int(100 * truth), FORMS.index(form), list(KINDS).index(kind)])
    ratings = simulated(kind, n, RATERS, truth, tables, rng)
    target = RATERS * truth / (1 + (RATERS - 1) * truth) if form[6] == "k" else truth
    by_f, drawn = icc(ratings, form, PROB), bootstrap_icc(ratings, form, PROB, draws, rng)
    return {
        "objects": kind,
        "n": n,
        "icc": truth,
        "form": form,
        "tables": tables,
        "covered_f": covered(by_f, target),
        "covered_bootstrap": covered(drawn, target),
        "width_f": np.median(by_f.high - by_f.low),
        "width_bootstrap": np.nanmedian(drawn.high - drawn.low),
    }


def main(tables=TABLES):
    cells = product(KINDS, OBJECTS, TRUTHS, FORMS)
    table = pd.DataFrame([study(*cell, tables=tables) for cell in cells])
    keep(table.round(4), "reliability_intervals")
    print(table.groupby(["objects", "n"])[["covered_f", "covered_bootstrap"]].agg(["min", "mean", "max"]).round(3))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
