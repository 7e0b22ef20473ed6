"""Seconds and memory of an audit, beside reading the vectors from disk and multiplying them once, in the same process.

Random vectors of 300 dimensions in an .npz that is mapped into memory; 14 of them are the protected words.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from benchmarks.common import keep

SIZES, DIMENSIONS = (13_013, 100_000, 1_000_000), 300


def peak():
    """The most memory of this process in megabytes, mapped files left out."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def main(*sizes):
    """Write seconds, their ratio, and memory."""
    rows = []
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path, rng = Path(folder) / "large.npz", np.random.default_rng(0)
            words = np.array([f"word{at}" for at in range(size)])
            vectors = np.empty((size, DIMENSIONS), dtype=np.float32)
            for begin in range(0, size, 50_000):
                vectors[begin : begin + 50_000] = rng.standard_normal((min(50_000, size - begin), DIMENSIONS))
            np.savez(path, words=words, vectors=vectors)
            del vectors
            begin = time.perf_counter()
            kv = bb.load_embedding(path, mmap=True)
            loaded = time.perf_counter() - begin
            begin = time.perf_counter()
            side = np.asarray(kv.vectors[:14]).T
            total = np.concatenate([kv.vectors[at : at + 8192] @ side for at in range(0, size, 8192)])
            product = time.perf_counter() - begin
            assert total.shape == (size, 14)
            before = peak()
            begin = time.perf_counter()
            found = bb.audit(kv, {"a": kv.index_to_key[:7], "b": kv.index_to_key[7:14]})
            seconds = time.perf_counter() - begin
            called = float(found.words["called"].mean())
            rows.append((size, loaded, product, seconds, seconds / (loaded + product), peak() - before, called))
            print(rows[-1], flush=True)
    columns = ["words", "load", "read_and_multiply", "audit", "of_load_and_product", "megabytes", "called"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "large/audit")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
