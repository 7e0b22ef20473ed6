"""Posteriors by NUTS of bundled models, which tests/numbers/test_nuts_posteriors.py holds the fast engines against.

``python -m benchmarks.builders.nuts_posteriors [NAME ...]`` writes tests/data/nuts_NAME.csv in some five minutes.
"""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats

import bayesbias as bb
from benchmarks.builders import joint_nuts
from tests.numbers.test_changes import simulated

DATA = Path(__file__).parents[2] / "tests" / "data"
DRAWS, CHAINS = 16_000, 4
NOT_STORED = {"interaction_effect", "connection_covariance"}
"""What follows from other variables, or is a single interaction, of which a table has hundreds."""


@dataclass(frozen=True)
class Case:
    """What is fitted, and the moments of its posterior by an engine."""

    models: tuple[str, ...]
    tables: Callable[[], tuple[pd.DataFrame, ...]]
    moments: Callable[..., pd.DataFrame]

    def header(self) -> list[str]:
        """The hash of each model, and the number and sum of the distances of each table."""
        hashes = [f"# model {name}: {bb.load_model(name).hash}" for name in self.models]
        tables = self.tables()
        return hashes + [f"# table: {len(table)} distances, sum {table['distance'].sum():.5f}" for table in tables]


def bundled() -> tuple[pd.DataFrame, ...]:
    """The table of WEAT 7 in the bundled vectors."""
    return (bb.distance_table("google-news-slice", "weat7"),)


def before_and_after() -> tuple[pd.DataFrame, ...]:
    """Two simulated tables of the same pairs, of which the second has moved."""
    return simulated(0)[:2]


def moments_of(variable: str, values: np.ndarray, labels: list[str]) -> pd.DataFrame:
    """Mean, sd and Monte Carlo error of the mean of each parameter of draws (chain, draw, ...)."""
    flat = values.reshape(*values.shape[:2], -1)
    drawn = ~np.isnan(flat[0, 0])
    flat = flat[:, :, drawn]
    mcse = array_stats.mcse(flat, chain_axis=0, draw_axis=1, method="mean")
    index = np.array(labels)[drawn]
    mean, sd = flat.mean(axis=(0, 1)), flat.std(axis=(0, 1), ddof=1)
    return pd.DataFrame({"variable": variable, "index": index, "mean": mean, "sd": sd, "mcse": np.atleast_1d(mcse)})


def labels_of(values) -> list[str]:
    """The labels of each parameter, joined by " | "."""
    dims = values.dims[2:]
    if not dims:
        return ["-"]
    grid = np.meshgrid(*(values[name].to_numpy().astype(str) for name in dims), indexing="ij")
    return [" | ".join(labels) for labels in zip(*(each.ravel().tolist() for each in grid), strict=True)]


def of_a_fit(model: str) -> Callable[..., pd.DataFrame]:
    """A function to the moments of one model."""

    def moments(tables, engine="auto", draws=DRAWS, chains=CHAINS, seed=1):
        post = bb.fit(tables[0], model, engine=engine, draws=draws, chains=chains, seed=seed)["posterior"]
        stored = [values for name, values in post.data_vars.items() if name not in NOT_STORED]
        return pd.concat(
            [moments_of(values.name, values.to_numpy(), labels_of(values)) for values in stored], ignore_index=True
        )

    return moments


def of_a_comparison(tables, engine="auto", draws=DRAWS, chains=CHAINS, seed=1):
    """The changes of each connection and of the headline contrast; their Monte Carlo error by the worst of words."""
    both = dict(zip(("before", "after"), tables, strict=True))
    how = {"draws": draws, "chains": chains, "seed": seed}
    found = joint_nuts.compare(both, **how) if engine == "nuts" else bb.compare(both, model="change", **how)
    drawn = found.posterior["posterior/word_change"].to_numpy()
    drawn = drawn.reshape(*drawn.shape[:2], -1)
    ess = np.min(array_stats.ess(drawn[:, :, ~np.isnan(drawn[0, 0])], chain_axis=0, draw_axis=1, method="bulk"))
    parts = []
    for connection in (*found.connections, None):
        rows = found.changes(connection)
        words = rows["protected_word"].fillna("whole list")
        name = f"change of {connection or 'contrast'}"
        parts.append(pd.DataFrame({"variable": name, "index": words, "mean": rows["mean"], "sd": rows["sd"]}))
    outcomes = found.table().query("of == 'associated - human'")
    words, p = outcomes["protected_word"], outcomes["p_shrank"]
    parts.append(pd.DataFrame({"variable": "shrank", "index": words, "mean": p, "sd": np.sqrt(p * (1 - p))}))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(mcse=table["sd"] / np.sqrt(ess))


CASES = {
    "published": Case(("published",), bundled, of_a_fit("published")),
    "pooled": Case(("pooled",), bundled, of_a_fit("pooled")),
    "crossed": Case(("crossed",), bundled, of_a_fit("crossed")),
    "related": Case(("related",), bundled, of_a_fit("related")),
    "changes": Case(("crossed", "change"), before_and_after, of_a_comparison),
}


def path_of(name: str) -> Path:
    """The file of a case."""
    return DATA / f"nuts_{name}.csv"


def stored(name: str) -> tuple[list[str], pd.DataFrame]:
    """The header and the moments of a case's file."""
    text = path_of(name).read_text(encoding="utf-8")
    header = [line for line in text.splitlines() if line.startswith("#")]
    return header, pd.read_csv(io.StringIO("\n".join(text.splitlines()[len(header) :])))


def main() -> None:
    """Sample the cases that are named, or all, and write them."""
    DATA.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        table = case.moments(case.tables(), engine="nuts")
        header = "\n".join(case.header())
        path_of(name).write_text(f"{header}\n{table.to_csv(index=False, float_format='%.7g')}", encoding="utf-8")
        print(f"{name}: {len(table)} parameters, largest mcse {(table['mcse'] / table['sd']).max():.3f} sd", flush=True)


if __name__ == "__main__":
    main()
