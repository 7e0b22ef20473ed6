"""One study for all: a design with its cells, whose rows are kept as they come; and the tables that studies share.

A script of ``validity`` is a table of designs and the functions that draw and count. ``study`` goes through the cells
of a design: a stopped study goes on with the cells that are not there yet, and each cell has its own seed, so that its
rows do not depend on which others are measured. ``main`` is the command line of every script.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SHARED = Path(os.environ.get("BAYESBIAS_SHARED", HERE.parents[1] / "shared"))
PROB = 0.89
"""Mass of the intervals whose misses are counted."""
TAIL = (1 - PROB) / 2


@dataclass(frozen=True)
class Options:
    """The seed of a study, and files that are not in the checkout: vectors by name, others by what they are."""

    seed: int = 1
    files: Mapping[str, str] = field(default_factory=dict)

    def file(self, name: str) -> str:
        """The path of a file or folder that is needed."""
        if name not in self.files:
            raise SystemExit(f"no file for {name!r}; files given: {sorted(self.files)}; add --files '{name}=PATH'")
        return self.files[name]


@dataclass(frozen=True)
class Cell:
    """One level of each factor, with its number of replicates."""

    levels: Mapping[str, object]  # factor to level; the columns of the rows begin with them
    replicates: int
    options: Options

    def __getitem__(self, factor: str):
        return self.levels[factor]

    def generator(self, *more) -> np.random.Generator:
        """Random numbers that belong to the seed, the levels and whatever else is given."""
        return generator(self.options.seed, *self.levels.values(), *more)


@dataclass(frozen=True, eq=False)
class Design:
    """A study: how lists, vectors and truth are drawn and what is counted, at each level of its factors."""

    file: str  # path of the results below results/, without its ending; it or its last part names the design
    cells: Sequence[Mapping[str, object]]  # levels of the factors, a mapping a cell; ``crossed`` combines all
    rows: Callable[[Cell], Iterable[Mapping[str, object]]]  # draws all replicates of a cell, and counts
    replicates: int = 100  # of each cell, unless asked otherwise
    digits: int = 4  # decimals that are kept
    by: Sequence[str] | None = None  # labels of rows of replicates, whose means are kept; None keeps the rows
    how: Mapping[str, object] = field(default_factory=dict)  # options of ``averaged``


def crossed(**factors) -> list[dict[str, object]]:
    """All combinations of the levels of factors."""
    return [dict(zip(factors, levels, strict=True)) for levels in product(*factors.values())]


def study(design: Design, options: Options, replicates: int, parts: Path, out: Path, only=()) -> pd.DataFrame:
    """Rows of the cells of a design, each kept in ``parts`` when it is done, and all of them in a results file.

    Parameters
    ----------
    only
        Pairs of factor and level (text): cells with other levels are left out, and the results keep their rows.
    """
    asked = {factor: {level for other, level in only if other == factor} for factor, _ in only}
    wanted = [
        levels
        for levels in design.cells
        if all(str(levels[factor]) in asked[factor] for factor in asked if factor in levels)
    ]
    if not wanted:
        raise SystemExit(f"{design.file} has no cell with {asked}; levels of its first cell: {design.cells[0]}")
    folder = parts / design.file / f"seed {options.seed}, {replicates} replicates"
    folder.mkdir(parents=True, exist_ok=True)
    done = {}
    for levels in wanted:
        name = "_".join(str(level).replace(" ", "-").replace("/", "-") for level in levels.values())
        file, begun = folder / f"{name or 'all'}.csv", time.time()
        if not file.exists():
            rows = design.rows(Cell(levels, replicates, options))
            rows = rows if design.by is None else averaged(rows, design.by, **design.how)
            unfinished = file.with_suffix(".part")
            pd.DataFrame([{**levels, **row} for row in rows]).to_csv(unfinished, index=False)
            unfinished.replace(file)
            print(f"{design.file}: {', '.join(map(str, levels.values()))} ({time.time() - begun:.1f} s)", flush=True)
        done[file] = pd.read_csv(file)
    table = pd.concat(done.values(), ignore_index=True)
    file = out / f"{design.file}.csv"
    if file.exists() and len(wanted) < len(design.cells):
        known, factors = pd.read_csv(file), list(wanted[0])
        measured = {tuple(map(str, levels.values())) for levels in wanted}
        others = [tuple(map(str, row)) not in measured for row in known[factors].itertuples(index=False)]
        table = pd.concat([known[others], table], ignore_index=True)
    table = keep(table.round(design.digits), design.file, out)
    for part in done:
        part.unlink()
    return table


def main(*designs: Design) -> None:
    """Measure the designs that the command line names, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("designs", nargs="*", metavar="design", help=", ".join(each.file for each in designs))
    parser.add_argument("--replicates", type=int, help="of each cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], metavar="FACTOR=LEVEL", help="cells with these levels alone")
    parser.add_argument("--files", nargs="+", default=[], metavar="NAME=PATH", help="vectors and folders by name")
    parser.add_argument("--cache", help="file that keeps MiniLM's vectors")
    parser.add_argument("--parts", type=Path, default=RESULTS / "parts", help="folder of finished cells")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of results")
    given = parser.parse_args()
    named = {each: {each.file, each.file.rpartition("/")[2]} for each in designs}
    if unknown := set(given.designs).difference(*named.values()):
        parser.error(f"no design {', '.join(unknown)}; there are {', '.join(each.file for each in designs)}")
    chosen = [each for each, names in named.items() if names & set(given.designs)]
    files = dict(one.split("=", 1) for one in given.files) | ({"cache": given.cache} if given.cache else {})
    for design in chosen or designs:
        replicates, only = given.replicates or design.replicates, [one.split("=", 1) for one in given.only]
        study(design, Options(given.seed, files), replicates, given.parts, given.out, only)


def generator(*parts) -> np.random.Generator:
    """Random numbers that belong to what is given, whatever else is measured."""
    return np.random.default_rng([byte for part in parts for byte in str(part).encode()])


def rate(missed) -> dict[str, float]:
    """Share of replicates, or mean of their shares, its standard error and their number."""
    missed = np.asarray(missed, dtype=float)
    return {"rate": missed.mean(), "se": missed.std() / np.sqrt(len(missed)), "replicates": len(missed)}


def averaged(rows, by=(), se=None, count="replicates", shares=(), **how) -> list[dict[str, object]]:
    """Means of the rows of replicates by labels, in the order of the rows, and their number.

    Parameters
    ----------
    se, count
        The column whose standard error stands after it, and the column of the number of rows.
    shares
        Column to the one that its mean is divided by.
    **how
        What is told of a column in place of its mean: a name or a function for ``agg``. Of columns that begin with
        ``rms`` it is the root of the mean square.
    """
    table = pd.DataFrame(list(rows))
    figures = table.columns.difference(list(by), sort=False)
    table[figures] = table[figures].astype(float)
    apart = table.assign(all="").groupby(list(by) or "all", sort=False)
    ways = {name: root_mean_square if name.startswith("rms") else how.get(name, "mean") for name in figures}
    found = apart.agg(ways)
    if se:
        found.insert(found.columns.get_loc(se) + 1, "se", apart[se].std(ddof=0) / np.sqrt(apart.size()))
    for part, whole in dict(shares).items():
        found[part] /= found[whole]
    return found.assign(**{count: apart.size()}).reset_index(drop=not by).to_dict("records")


def root_mean_square(values) -> float:
    """The root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(values))))


def excludes(table, value=0.0) -> np.ndarray:
    """Whether intervals from ``low`` to ``high`` leave a value out."""
    return (table["low"] > value) | (table["high"] < value)


def holds(draws, truth) -> np.ndarray:
    """Whether central intervals of draws (draws, ...) hold the truth."""
    low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
    return (low <= truth) & (truth <= high)


TABLES = sorted(file.stem for file in (SHARED / "paper_tables").glob("*.csv"))
"""Names of the published distance tables."""


@cache
def published_table(name: str) -> pd.DataFrame:
    """A published distance table."""
    file = SHARED / "paper_tables" / f"{name}.csv"
    if not file.exists():
        raise SystemExit(f"no published table {file}: set BAYESBIAS_SHARED")
    return bb.read_distance_table(file)


def keep(table: pd.DataFrame, name: str, out: Path = RESULTS) -> pd.DataFrame:
    """Print a table with what it was made by, and write it to ``results/``."""
    libraries = ", ".join(f"{lib} {version(lib)}" for lib in ("bayesbias", "numpy", "scipy", "pymc", "nutpie"))
    print(table.to_string(index=False))
    print(f"{name}: Python {platform.python_version()}, {libraries}, {os.cpu_count()} cores", flush=True)
    file = out / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(file, index=False)
    return table
