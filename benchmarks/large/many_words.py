"""Seconds and memory of a table, a fit with related words and its contrasts for 10,000 protected words.

Two lists of 20 words and 50 control words, vectors of 300 dimensions in topics. Processor seconds are given too: they
depend less on what else the machine does. Memory is the most above that of the loaded vectors and packages.
"""

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

SIZES, DIMENSIONS, OUTSIDE = (100, 1_000, 10_000), 300, 6_000


def memory(name):
    """Memory of this process in megabytes: ``VmRSS`` now, ``VmHWM`` the most since it was last cleared."""
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) / 1024


def lists_of(protected, words):
    """Word lists with so many protected words in two groups."""
    names = words[:protected]
    stereotypes = {"g": words[-90:-70], "h": words[-70:-50]}
    halves = {"g": names[: protected // 2], "h": names[protected // 2 :]}
    return bb.WordLists("many", halves, stereotypes, {"neutral": words[-50:]})


def measured(work, before):
    """The result of a piece of work, with seconds, processor seconds, and megabytes above ``before``."""
    Path("/proc/self/clear_refs").write_text("5")
    begin, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, (time.perf_counter() - begin, time.process_time() - processor, memory("VmHWM") - before)


def one(protected):
    """Rows of one size."""
    rng, count = np.random.default_rng(0), protected + OUTSIDE
    axes = rng.standard_normal((40, DIMENSIONS)) * np.linspace(3, 0.5, 40)[:, None] / 8
    vectors = rng.standard_normal((count, 40)) @ axes + 0.6 * rng.standard_normal((count, DIMENSIONS))
    words = [f"w{at}" for at in range(count)]
    kv = keyed_vectors(words, vectors.astype(np.float32))
    del vectors
    bb.contrasts(bb.fit(bb.distance_table(kv, lists_of(8, words)), "related", seed=0))  # what loads when first used
    before, lists = memory("VmRSS"), lists_of(protected, words)
    table, of_table = measured(lambda: bb.distance_table(kv, lists), before)
    post, of_fit = measured(lambda: bb.fit(table, seed=0), before)
    found, of_contrasts = measured(lambda: bb.contrasts(post), before)
    assert post.attrs["model"] == "related"
    assert len(found) == protected + 1
    figures = {"table": of_table, "fit": of_fit, "contrasts": of_contrasts}
    return [(protected, what, *values, post["posterior"].sizes["draw"] * 4) for what, values in figures.items()]


def main():
    """Write seconds and megabytes, each size in a process of its own."""
    rows = []
    for size in SIZES:
        command = [sys.executable, "-m", "benchmarks.large.many_words", str(size)]
        rows += json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    columns = ["protected_words", "work", "seconds", "processor_seconds", "megabytes", "draws"]
    keep(pd.DataFrame(rows, columns=columns).round(2), "large/many_words")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            print(json.dumps(one(int(sys.argv[1]))))
