"""False positives and shrinkage in short lists, by the prior of the crossed model's scales.

    python benchmarks/calibration/small_lists.py

Worlds of so many protected words and attribute words a group, two groups; scales are medians over the published tables,
those of the protected words also a third of that and three times as large. Priors of all scales are Exponential(rate).
"""

import argparse
from dataclasses import replace
from pathlib import Path

import pandas as pd

import bayesbias as bb
from bayesbias.comparison.planning import TYPICAL_SCALES

HERE = Path(__file__).resolve().parents[1]
WORLDS = {"3 x 8": (3, 8, 8), "6 x 12": (6, 12, 20), "15 x 25": (15, 25, 40)}
"""Protected words of both groups, stereotype words of both, control words of a list."""
WORD_SDS = (1 / 3, 1.0, 3.0)
RATES = (2.0, 4.0, 8.0, 15.0)
PLANTED = -0.3


def model(rate):
    """The crossed model with Exponential(rate) for every scale."""
    spec = bb.load_model("crossed")
    priors = {
        name: prior.model_copy(update={"rate": rate}) if hasattr(prior, "rate") else prior
        for name, prior in spec.priors.items()
    }
    return replace(spec, name=f"Exponential({rate:g})", priors=priors)


def shape(protected, stereotypes, controls):
    """Two groups, uneven where the numbers are."""
    return {
        "groups": {"g": (protected + 1) // 2, "h": protected // 2},
        "stereotypes": {"g": (stereotypes + 1) // 2, "h": stereotypes // 2},
        "human": controls,
    }


def truth(factor, planted=0.0):
    """Typical scales, those of protected words times a factor."""
    present = ("associated", "different", "human")
    scales = {
        "connection_sd": {name: factor * TYPICAL_SCALES["connection_sd"][name] for name in present},
        "sigma": {name: TYPICAL_SCALES["sigma"][name] for name in present},
        "attribute_sd": {name: TYPICAL_SCALES["attribute_sd"][name] for name in ("stereotype", "human")},
        "interaction_sd": TYPICAL_SCALES["interaction_sd"],
    }
    means = {"associated": 0.9 + planted, "different": 0.9, "human": 0.9}
    return {**scales, "connection_mean": means if planted else 0.9}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    given = parser.parse_args()
    models, parts = [model(rate) for rate in RATES], []
    for name, sizes in WORLDS.items():
        for factor in WORD_SDS:
            found = bb.false_alarms(shape(*sizes), truth(factor), models, ("cluster",), given.replicates, seed=1)
            covered = bb.coverage_study(shape(*sizes), truth(factor, PLANTED), models, given.replicates, seed=2)
            found = found.merge(covered[["method", "contrast", "coverage"]], on=["method", "contrast"])
            parts.append(found.assign(world=name, word_sds=round(factor, 2)))
            print(parts[-1].drop(columns=["nominal", "replicates"]).round(3).to_string(index=False), flush=True)
    pd.concat(parts).round(4).to_csv(HERE / "results" / "calibration_small_lists.csv", index=False)


if __name__ == "__main__":
    main()
