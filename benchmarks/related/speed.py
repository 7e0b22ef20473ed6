"""Seconds of relatedness, tables and fits, and the memory of a table of 100,000 attribute words.

    python benchmarks/related/speed.py
    python benchmarks/related/speed.py --quick       # 10,000 attribute words

Times are the least of several in one process; memory is the most that a process has held beyond the vectors.
"""

import json
import resource
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from nulls import LISTS, RESULTS, arguments, parsed, vocabularies

import bayesbias as bb

REPEATS = 7
WORDS, PROTECTED, DIMENSIONS, EXTRA = 100_000, 10, 300, 5_000
"""Attribute words, protected words, dimensions, and further words of the synthetic vocabulary."""


def seconds(call):
    """The least of several times."""
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def list_rows(vocabulary):
    """Times for the five lists."""
    kv = vocabulary.kv
    for name in LISTS:
        words = bb.load_words(name)
        table, plain = bb.distance_table(kv, words), bb.distance_table(kv, words, relatedness=False)
        times = {
            "relatedness": seconds(lambda words=words: bb.relatedness(kv, words)),
            "distance_table": seconds(lambda words=words: bb.distance_table(kv, words)),
            "distance_table without": seconds(lambda words=words: bb.distance_table(kv, words, relatedness=False)),
            "fit related, 4000 draws": seconds(lambda table=table: bb.fit(table, "related", seed=1)),
            "fit published, 4000 draws": seconds(lambda plain=plain: bb.fit(plain, "published", seed=1)),
        }
        for what, took in times.items():
            ratio = took / times["fit published, 4000 draws" if "fit" in what else "distance_table without"]
            yield {"words": name, "pairs": len(table), "what": what, "seconds": took, "ratio": ratio}


def synthetic(words):
    """Random vectors with word lists: two groups of protected words, half of the attribute words for each."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((words + PROTECTED + EXTRA, DIMENSIONS), dtype=np.float32)
    vectors += 0.3 * rng.standard_normal(DIMENSIONS, dtype=np.float32)
    keys = [f"w{at}" for at in range(len(vectors))]
    kv = KeyedVectors(DIMENSIONS, count=0)
    kv.add_vectors(keys, vectors)
    protected, attributes = keys[:PROTECTED], keys[PROTECTED : PROTECTED + words]
    groups = {"a": protected[: PROTECTED // 2], "b": protected[PROTECTED // 2 :]}
    cut = [words * part // 4 for part in range(5)]
    parts = [attributes[begin:end] for begin, end in pairwise(cut)]
    return kv, bb.WordLists(
        "synthetic", groups, dict(zip("ab", parts, strict=False)), {"human": parts[2], "neutral": parts[3]}
    )


def peak():
    """Most memory that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def large(words, related):
    """Seconds and memory of a large table and its fit, in this process."""
    bb.fit(bb.distance_table(*synthetic(50), relatedness=related), "related" if related else "published", draws=8)
    kv, lists = synthetic(words)
    before, begun = peak(), time.perf_counter()
    table = bb.distance_table(kv, lists, relatedness=related)
    made, held = time.perf_counter() - begun, peak()
    bb.fit(table, "related" if related else "published", draws=1000, seed=1)
    fitted = time.perf_counter() - begun - made
    print(json.dumps({"table": made, "fit": fitted, "table_mb": held - before, "all_mb": peak() - before}))


def large_rows(words):
    """Large tables with and without relatedness, each in a process of its own."""
    for related in (False, True):
        command = [sys.executable, __file__, "--large", str(words), "--related", str(int(related))]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        name = f"{words:,} attribute words, {PROTECTED} protected, {'with' if related else 'without'} relatedness"
        for what, value in found.items():
            unit = "megabytes beyond the vectors" if what.endswith("mb") else "seconds"
            yield {"words": name, "pairs": words * PROTECTED, "what": what.removesuffix("_mb"), unit: value}


def main():
    parser = arguments(__doc__, 1)
    parser.add_argument("--large", type=int, help="for the script's own use: a large table in this process")
    parser.add_argument("--related", type=int, default=1, help="for the script's own use")
    given = parsed(parser)
    if given.large:
        large(given.large, bool(given.related))
        return
    rows = list(list_rows(next(vocabularies(given.embeddings[:1]))))
    rows += large_rows(WORDS // 10 if given.quick else WORDS)
    table = pd.DataFrame(rows).round(4)
    table.to_csv(RESULTS / ("speed_quick.csv" if given.quick else "speed.csv"), index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
