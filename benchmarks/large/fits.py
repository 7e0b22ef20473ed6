"""Seconds and memory of tables and fits at size, each in a process of its own: tables, fits from sums, holes, draws."""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.embeddings import keyed_vectors
from benchmarks.common import keep
from benchmarks.large.tables import simulated

FITS = ((10_000, 100, 0.0), (100, 10_000, 0.0), (100, 1_000, 0.05), (100, 100, 0.05), (1_000, 100, 0.0))
"""Protected words, attribute words, share of pairs that are missing."""


def most_memory():
    """The most memory this process has had, in megabytes."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def timed(work):
    """Seconds of a piece of work, the most memory so far in megabytes, and its result."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = work()
    return time.perf_counter() - begin, most_memory(), result


def table_of_pairs():
    """A table of ten million pairs from vectors."""
    words = [f"w{at}" for at in range(11_500)]
    kv = keyed_vectors(words, np.random.default_rng(0).standard_normal((len(words), 100), dtype=np.float32))
    stereotypes = {"a": words[10_000:10_333], "b": words[10_333:10_666]}
    lists = bb.WordLists(
        "big", {"a": words[:5000], "b": words[5000:10_000]}, stereotypes, {"neutral": words[10_666:11_000]}
    )
    seconds, memory, table = timed(lambda: bb.distance_table(kv, lists, relatedness=False))
    return [("table of 10^7 pairs", seconds, memory, table.memory_usage(deep=True).sum() / 1e6)]


def one_fit(protected, attributes, holes, model):
    """One fit; of 100,000 rows also predictive draws and log likelihoods."""
    table = simulated(protected, attributes, holes)
    bb.fit(simulated(20, 20), model, seed=0)  # what loads when first used
    name = f"fit {model} {protected:,} x {attributes:,}" + (f", {holes:.0%} missing" if holes else "")
    seconds, memory, post = timed(lambda: bb.fit(table, model, seed=0))
    rows = [(name, seconds, memory, float("nan"))]
    if len(table) == 100_000:
        for what in ("add_predictive", "add_log_likelihood"):
            seconds, memory, _ = timed(lambda what=what: getattr(bb.checks, what)(post))
            rows.append((f"{what}, 10^5 rows", seconds, memory, float("nan")))
    return rows


def main():
    """Write seconds and megabytes: the most of the process, and of the table itself."""
    jobs = (
        [("pairs",)]
        + [("fit", *map(str, size), "crossed") for size in FITS]
        + [("fit", "10000", "100", "0.0", "published")]
    )
    rows = []
    for job in jobs:
        command = [sys.executable, "-m", "benchmarks.large.fits", *job]
        rows += json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    keep(pd.DataFrame(rows, columns=["work", "seconds", "process_mb", "table_mb"]).round(2), "large/fits")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "pairs":
        print(json.dumps(table_of_pairs()))
    else:
        print(json.dumps(one_fit(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])))
