"""False positives and coverage in short lists, under the default priors of the scales and under Exponential(2).

    python benchmarks/calibration/small_lists.py

Worlds of so many protected words and attribute words a group, two groups. Scales are medians over the published tables;
those of protected words, or those of attribute words, are also a third of that and three times as large.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import pandas as pd

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import TYPICAL_SCALES, model_of_text

HERE = Path(__file__).resolve().parents[1]
WORLDS = {"3 x 8": (3, 8, 8), "6 x 12": (6, 12, 20), "15 x 25": (15, 25, 40), "50 x 500": (50, 500, 500)}
"""Protected words of both groups, stereotype words of both, control words of a list."""
FACTORS = ((1 / 3, 1.0), (1.0, 1.0), (3.0, 1.0), (1.0, 1 / 3), (1.0, 3.0))
"""Scales of protected words and of attribute words, times the usual ones."""
PLANTED = -0.3
LARGE = 50
"""Protected words from which a quarter of the tables does."""
WIDE = """
name = "Exponential(2)"
[likelihood]
family = "normal"
sigma = "connection"
[terms]
attribute_sd = "pooled"
word_x_group = true
[priors]
connection_mean = { distribution = "normal", mean = 1.0, sd = 0.3 }
connection_sd = { distribution = "exponential", rate = 2.0 }
sigma = { distribution = "exponential", rate = 2.0 }
attribute_sd0 = { distribution = "exponential", rate = 2.0 }
attribute_sd = { distribution = "pooled", spread = 0.3 }
interaction_sd = { distribution = "exponential", rate = 2.0 }
"""


def shape(protected, stereotypes, controls):
    """Two groups, uneven where the numbers are."""
    return {
        "groups": {"g": (protected + 1) // 2, "h": protected // 2},
        "stereotypes": {"g": (stereotypes + 1) // 2, "h": stereotypes // 2},
        "human": controls,
    }


def truth(words, attributes, planted=0.0):
    """Typical scales, those of protected words and of attribute words times a factor."""
    present = ("associated", "different", "human")
    scales = {
        "connection_sd": {name: words * TYPICAL_SCALES["connection_sd"][name] for name in present},
        "sigma": {name: TYPICAL_SCALES["sigma"][name] for name in present},
        "attribute_sd": {name: attributes * TYPICAL_SCALES["attribute_sd"][name] for name in ("stereotype", "human")},
        "interaction_sd": attributes * TYPICAL_SCALES["interaction_sd"],
    }
    means = {"associated": 0.9 + planted, "different": 0.9, "human": 0.9}
    return {**scales, "connection_mean": means if planted else 0.9}


def cell(world, factors, replicates):
    """Rates and coverage of one world."""
    sizes = WORLDS[world]
    replicates = replicates // 4 if sizes[0] >= LARGE else replicates
    models = [bb.load_model("crossed"), model_of_text(WIDE, "Exponential(2)")]
    found = bb.calibration.false_positive_rate(shape(*sizes), truth(*factors), models, (), replicates, seed=1)
    covered = bb.calibration.coverage_study(shape(*sizes), truth(*factors, PLANTED), models, replicates, seed=2)
    covered = covered[covered["method"] != "cluster"]
    found = found.merge(covered[["method", "contrast", "coverage"]], on=["method", "contrast"])
    return found.assign(world=world, word_sds=round(factors[0], 2), attribute_sds=round(factors[1], 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    parser.add_argument("--out", default=str(HERE / "results" / "calibration_small_lists.csv"))
    given = parser.parse_args()
    cells = list(product(given.worlds, FACTORS))
    with ProcessPoolExecutor(given.workers) as pool:
        parts = pool.map(cell, *zip(*cells, strict=True), [given.replicates] * len(cells))
        table = pd.concat(parts).drop(columns="nominal").round(4)
    table.to_csv(given.out, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
