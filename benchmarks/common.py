"""Where the published tables are, and how results are kept."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import bayesbias as bb

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("BAYESBIAS_SHARED", HERE.parents[1] / "shared"))


def published_tables():
    """Name to distance table, all published CSV files."""
    files = sorted((SHARED / "paper_tables").glob("*.csv"))
    if not files:
        raise SystemExit(f"no published tables at {SHARED}: set BAYESBIAS_SHARED")
    return {file.stem: bb.read_distance_table(file) for file in files}


def keep(table: pd.DataFrame, name: str) -> None:
    """Print a table and write it to results/."""
    libraries = ", ".join(f"{lib} {version(lib)}" for lib in ("bayesbias", "numpy", "scipy", "pymc", "nutpie"))
    print(table.to_string(index=False))
    print(f"Python {platform.python_version()}, {libraries}, {os.cpu_count()} cores")
    file = HERE / "results" / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(file, index=False)
