"""Damaged embedding files for some minutes: each is read, or refused with a documented error.

``uv run python -m benchmarks.large.fuzz 10`` damages files of every format for ten minutes. A file of the folder
that is printed at the end is one that ended otherwise; the seed of each is in its name.
"""

import collections
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.embeddings import keyed_vectors
from benchmarks.common import keep

SUFFIXES = (".bin", ".txt", ".npz", ".safetensors", ".parquet", ".txt.gz", ".bin.gz")
MOST_SECONDS = 5.0
"""A reading that takes longer is counted as a hang."""


def whole_files(folder):
    """Suffix to the bytes of a sound file."""
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "caf\u00e9", "New_York", "x" * 60, "\u732b", "he", "she"]
    kv = keyed_vectors(words, rng.standard_normal((len(words), 6)).astype(np.float32))
    found = {}
    for suffix in SUFFIXES:
        path = folder / f"whole{suffix}"
        bb.save_embedding(kv, path)
        found[suffix] = path.read_bytes()
    return found


def damaged(content, rng):
    """Bytes with a few changed, cut, doubled or put in."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at, kind = rng.randrange(len(data)), rng.randrange(6)
        if kind < 2:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at : at + rng.choice((1, 3, 50))]
        elif kind == 3:
            data[at:at] = data[at : at + rng.choice((1, 7, 60))]
        elif kind == 4:
            data[at:at] = rng.choice((b"\n", b" ", b"\0", b"9" * 30, b"nan ", b"\xff\xfe", b"1e999 "))
        else:
            del data[at:]
    return bytes(data)


def main(minutes="10"):
    """Write counts of outcomes by format."""
    warnings.simplefilter("ignore")
    counts, kept, seed = collections.Counter(), Path(tempfile.mkdtemp(prefix="fuzz-")), 0
    end = time.monotonic() + 60 * float(minutes)
    with tempfile.TemporaryDirectory() as name:
        sound = whole_files(Path(name))
        while time.monotonic() < end:
            for suffix, content in sound.items():
                rng = random.Random(seed)  # noqa: S311
                data = damaged(content, rng)
                path = Path(name) / f"damaged{suffix}"
                path.write_bytes(data)
                words = rng.choice((None, ["cat", "she"]))
                begin = time.monotonic()
                try:
                    bb.load_embedding(path, words=words)
                    outcome = "read"
                except bb.InputError:
                    outcome = "refused"
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # a panic of a library is no Exception
                    outcome = f"unclean: {type(error).__name__}"
                if time.monotonic() - begin > MOST_SECONDS:
                    outcome = "hang"
                if outcome.startswith(("unclean", "hang")):
                    (kept / f"{seed}{suffix}").write_bytes(data)
                counts[suffix, outcome] += 1
            seed += 1
    rows = [(suffix, outcome, count) for (suffix, outcome), count in sorted(counts.items())]
    keep(pd.DataFrame(rows, columns=["format", "outcome", "files"]), "large/fuzz")
    print(f"seeds 0 to {seed - 1}; files that ended otherwise: {kept}")


if __name__ == "__main__":
    main(*sys.argv[1:])
