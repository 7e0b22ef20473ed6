"""Seconds and memory of reading a large embedding, beside gensim's whole load of the same file in the same run.

The file is made: 684,830 words (as in a published vocabulary) of 300 dimensions, in word2vec's binary format; the text
format has a tenth of the words. Each reading runs in a process of its own, after a first one that fills the disk cache.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import keep

WORDS, DIMENSIONS, WANTED = 684_830, 300, 800
TASKS = {
    "gensim, whole": "KeyedVectors.load_word2vec_format({path!r}, binary={binary})",
    "800 words": "load_embedding({path!r}, {words})",
    "whole": "load_embedding({path!r})",
}
CODE = """
import time
from pathlib import Path
from gensim.models import KeyedVectors
from bayesbias import load_embedding
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
before = peak()
begin = time.process_time()
kv = {task}
seconds = time.process_time() - begin
print(seconds, peak() - before, len(kv))
"""


def made(folder, words, binary):
    """A file of random vectors."""
    rng, path = np.random.default_rng(0), folder / ("large.bin" if binary else "large.txt")
    with path.open("wb") as file:
        file.write(f"{words} {DIMENSIONS}\n".encode())
        for begin in range(0, words, 10_000):
            count = min(10_000, words - begin)
            vectors = rng.standard_normal((count, DIMENSIONS)).astype("<f4")
            for at, vector in enumerate(vectors):
                name = f"word{begin + at}".encode()
                body = vector.tobytes() if binary else " ".join(f"{one:.6f}" for one in vector).encode()
                file.write(name + b" " + body + b"\n")
    return path


def measured(task):
    """CPU seconds, megabytes and words of a task in a new process."""
    found = subprocess.run([sys.executable, "-c", CODE.format(task=task)], capture_output=True, text=True, check=True)
    seconds, size, words = map(float, found.stdout.split())
    return seconds, size, int(words)


def main():
    """Write seconds, megabytes and ratios."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for binary, count in ((True, WORDS), (False, WORDS // 10)):
            path = made(Path(name), count, binary)
            begin = time.perf_counter()
            with path.open("rb") as file:
                while file.read(1 << 23):
                    pass
            plain = time.perf_counter() - begin
            words = [f"word{at}" for at in np.linspace(0, count - 1, WANTED).astype(int)]
            gensim = 0.0
            for what, code in TASKS.items():
                seconds, size, found = measured(code.format(path=str(path), binary=binary, words=words))
                gensim = seconds if what.startswith("gensim") else gensim
                matrix = found * DIMENSIONS * 4 / 2**20
                kind = "binary" if binary else "text"
                rows.append((kind, count, what, seconds, gensim / seconds, size, size / matrix, plain))
                print(rows[-1], flush=True)
    columns = ["format", "words", "task", "cpu_seconds", "times_gensim", "megabytes", "of_matrix", "read_file"]
    keep(pd.DataFrame(rows, columns=columns).round(3), "large/reading")


if __name__ == "__main__":
    main()
