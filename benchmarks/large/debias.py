"""Seconds and memory of debiasing 684,830 x 300 vectors, beside a copy and one product of them in the same process."""

import gc
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.embeddings import keyed_vectors
from benchmarks.common import keep

WORDS, DIMENSIONS = 684_830, 300
PAIRS = [(f"word{at}", f"word{at + 1}") for at in range(0, 20, 2)]
METHODS = ("project", "hard", "soft")


def anonymous():
    """Memory of this process in megabytes, and the most it had."""
    status = Path("/proc/self/status").read_text()
    return [int(status.split(name)[1].split()[0]) / 1024 for name in ("VmRSS:", "VmHWM:")]


def main():
    """Write seconds, ratios, and memory beside the input in matrices."""
    rng, rows = np.random.default_rng(0), []
    matrix = np.empty((WORDS, DIMENSIONS), dtype=np.float32)
    for begin in range(0, WORDS, 50_000):
        matrix[begin : begin + 50_000] = rng.standard_normal((min(50_000, WORDS - begin), DIMENSIONS))
    kv, size = keyed_vectors([f"word{at}" for at in range(WORDS)], matrix), matrix.nbytes / 2**20
    begin = time.perf_counter()
    copied = matrix.copy() @ np.eye(DIMENSIONS, dtype=np.float32)
    plain = time.perf_counter() - begin
    del copied
    for method in METHODS:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the most memory from here on
        before = anonymous()[0]
        begin = time.perf_counter()
        after = bb.debias(kv, method, definitional=PAIRS)
        seconds = time.perf_counter() - begin
        rows.append((method, seconds, seconds / plain, (anonymous()[1] - before) / size))
        print(rows[-1], flush=True)
        del after
    columns = ["method", "seconds", "times_copy_and_product", "matrices_beside_input"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "large/debias")


if __name__ == "__main__":
    main()
