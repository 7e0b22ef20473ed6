"""Seconds and memory of reading, auditing and debiasing large embeddings, which are made of random vectors.

- ``reading``: 684,830 words (as in a published vocabulary) of 300 dimensions in word2vec's binary format, a tenth of
  them as text, whole and 800 words, beside gensim's whole load of the same file; each in a process of its own, after a
  first reading that fills the disk cache;
- ``words_of_binary``: 800 words of 200,000 in word2vec's binary format, of one length and of many, beside a plain
  ``read()`` of the file in the same process (seconds of the processor, best of seven): all words told and the 800
  read, and ``load_embedding`` with its sample of the vocabulary;
- ``audit``: an audit, beside reading the vectors from disk and multiplying them once, in the same process; the .npz is
  mapped into memory, and 14 of the words are the protected ones;
- ``pool``: a pool of tables of 256 distances each, beside making these tables, in a process of its own;
- ``report``: a report of a fit, beside the fit;
- ``debias``: debiasing 684,830 x 300 vectors, beside a copy and one product of them in the same process.
"""

import gc
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.vectors import keyed_vectors
from bayesbias.vectors.readers import Named, blocks
from benchmarks.simulation import simulate
from benchmarks.study import Design, crossed, main

WORDS, DIMENSIONS, WANTED = 684_830, 300, 800
TASKS = {
    "gensim, whole": "KeyedVectors.load_word2vec_format({path!r}, binary={binary})",
    "800 words": "load_embedding({path!r}, {words})",
    "whole": "load_embedding({path!r})",
}
CODE = """
import time
from gensim.models import KeyedVectors
from bayesbias import load_embedding
from benchmarks.speed.large import memory
before = memory("VmHWM")
begin = time.process_time()
kv = {task}
seconds = time.process_time() - begin
print(seconds, memory("VmHWM") - before, len(kv))
"""
PAIRS = [(f"word{at}", f"word{at + 1}") for at in range(0, 20, 2)]


def memory(name):
    """Megabytes of this process: ``VmRSS`` now, ``RssAnon`` without mapped files, ``VmHWM`` the most so far."""
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) / 1024


def timed(work):
    """Seconds of a piece of work, and its result."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def cpu_seconds(work):
    """Seconds of the processor for a piece of work."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def random_vectors(words):
    """Vectors (words, dimensions), drawn in blocks."""
    rng, vectors = np.random.default_rng(0), np.empty((words, DIMENSIONS), dtype=np.float32)
    for begin in range(0, words, 50_000):
        vectors[begin : begin + 50_000] = rng.standard_normal((min(50_000, words - begin), DIMENSIONS))
    return vectors


def word2vec_file(path, words, dimensions=DIMENSIONS, binary=False, listed=(), noise=0.0):
    """A file of random vectors, with noise of that size; words that are listed stand among its first."""
    rng, apart = np.random.default_rng(0), np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(f"{words} {dimensions}\n".encode())
        for begin in range(0, words, 10_000):
            vectors = rng.standard_normal((min(10_000, words - begin), dimensions)).astype("<f4")
            vectors += noise * apart.standard_normal(vectors.shape, dtype=np.float32)
            for at, vector in enumerate(vectors, start=begin):
                name = listed[at - 100] if 0 <= at - 100 < len(listed) else f"word{at}"
                body = vector.tobytes() if binary else " ".join(f"{one:.6f}" for one in vector).encode()
                file.write(f"{name} ".encode() + body + b"\n")


def read_once(path):
    """Read a file in blocks, which fills the disk cache."""
    with path.open("rb") as file:
        while file.read(1 << 23):
            pass


def reading(cell):
    binary, gensim = cell["format"] == "binary", 0.0
    count = WORDS if binary else WORDS // 10
    with tempfile.TemporaryDirectory() as folder:
        word2vec_file(path := Path(folder) / ("large.bin" if binary else "large.txt"), count, binary=binary)
        plain, _ = timed(lambda: read_once(path))
        words = [f"word{at}" for at in np.linspace(0, count - 1, WANTED).astype(int)]
        for what, task in TASKS.items():
            code = CODE.format(task=task.format(path=str(path), binary=binary, words=words))
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            seconds, size, found = map(float, done.stdout.split())
            gensim = seconds if what.startswith("gensim") else gensim
            row = {"words": count, "task": what, "cpu_seconds": seconds, "times_gensim": gensim / seconds}
            yield row | {"megabytes": size, "of_matrix": size / (found * DIMENSIONS * 4 / 2**20), "read_file": plain}


def words_of_binary(cell):
    words = [f"word{at:06}" + "x" * (at % 17 if cell["lengths"] == "many" else 0) for at in range(200_000)]
    chosen = words[:: len(words) // WANTED]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.bin"
        keyed_vectors(words, random_vectors(len(words))).save_word2vec_format(str(path), binary=True)
        asked = frozenset(chosen)
        tasks = {
            "plain": path.read_bytes,
            "words": lambda: [len(tokens) for tokens, _ in blocks(path, Named(asked), lambda _: None)],
            "words_and_sample": lambda: bb.load_embedding(path, chosen),
        }
        runs = pd.DataFrame([{name: cpu_seconds(task) for name, task in tasks.items()} for _ in range(7)])
    best = runs.min()
    ratios = {f"{name}_of_plain": best[name] / best["plain"] for name in list(tasks)[1:]}
    yield best.add_suffix("_seconds").to_dict() | ratios


def audit(cell):
    size = cell["words"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.npz"
        np.savez(path, words=np.array([f"word{at}" for at in range(size)]), vectors=random_vectors(size))
        loaded, kv = timed(lambda: bb.load_embedding(path, mmap=True))
        side = np.asarray(kv.vectors[:14]).T
        blocks = range(0, size, 8192)
        product, _ = timed(lambda: np.concatenate([kv.vectors[at : at + 8192] @ side for at in blocks]))
        groups, before = {"a": kv.index_to_key[:7], "b": kv.index_to_key[7:14]}, memory("RssAnon")
        seconds, found = timed(lambda: bb.audit(kv, groups))
        row = {"load": loaded, "read_and_multiply": product, "audit": seconds}
        row |= {"of_load_and_product": seconds / (loaded + product), "megabytes": memory("RssAnon") - before}
        yield row | {"called": float(found.words["called"].mean())}


def debias(cell):
    matrix = random_vectors(WORDS)
    kv, size = keyed_vectors([f"word{at}" for at in range(WORDS)], matrix), matrix.nbytes / 2**20
    plain, copied = timed(lambda: matrix.copy() @ np.eye(DIMENSIONS, dtype=np.float32))
    del copied
    for method in ("project", "hard", "soft"):
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # the most memory from here on
        before = memory("VmRSS")
        seconds, after = timed(lambda method=method: bb.debias(kv, method, definitional=PAIRS))
        beside = (memory("VmHWM") - before) / size
        del after
        row = {"method": method, "seconds": seconds, "times_copy_and_product": seconds / plain}
        yield row | {"matrices_beside_input": beside}


POOL = """
import numpy as np
import bayesbias as bb
from bayesbias.vectors import keyed_vectors
from benchmarks.speed.large import cpu_seconds, memory, vectors_and_lists
kv, lists = vectors_and_lists(16, 16)
rng, size = np.random.default_rng(0), kv.vectors.shape
tables, embeddings = {{}}, {{}}
for at in range({count}):
    vectors = kv.vectors + rng.standard_normal(size, dtype=np.float32)
    embeddings[str(at)] = keyed_vectors(kv.index_to_key, vectors)
made = cpu_seconds(lambda: tables.update(bb.distance_tables(embeddings, lists)))
bb.pool({{name: tables[name] for name in ("0", "1")}})  # what is loaded when first used
before = memory("VmRSS")
print(cpu_seconds(lambda: bb.pool(tables)), made, memory("VmHWM") - before)
"""


def pool(cell):
    code = POOL.format(count=cell["embeddings"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, tables, size = map(float, done.stdout.split())
    yield {"cpu_seconds": seconds, "of_tables": seconds / tables, "megabytes": size}


def report(cell):
    table = bb.distance_table(*vectors_and_lists(cell["protected"], cell["pairs"] // cell["protected"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.html"
        small = bb.fit(bb.distance_table(*vectors_and_lists(16, 16)))
        bb.report(bb.summary(small), path)  # what is loaded when first used
        fits = []
        fitting = cpu_seconds(lambda: fits.append(bb.fit(table)))
        seconds = cpu_seconds(lambda: bb.report(bb.summary(fits[0]), path))
        yield {"cpu_seconds": seconds, "of_fit": seconds / fitting}


def simulated(protected, attributes, seed=0):
    """A distance table: two groups, their stereotypes, human and neutral words in equal parts."""
    half, part = protected // 2, attributes // 4
    shape = {"groups": {"a": half, "b": half}, "stereotypes": {"a": part, "b": part}, "human": part, "neutral": part}
    scales = {"connection_sd": 0.02, "attribute_sd": 0.03, "interaction_sd": 0.0, "sigma": 0.05}
    return simulate(shape, "crossed", {"connection_mean": 0.9, **scales}, seed)


def vectors_and_lists(protected, attributes, groups=2, others=500, dimensions=100):
    """Random vectors, and lists of them: groups, a list of stereotypes for each, human and neutral words."""
    names = [f"w{at}" for at in range(protected + attributes + others)]
    kv = keyed_vectors(names, np.random.default_rng(0).standard_normal((len(names), dimensions), dtype=np.float32))
    held, listed = np.array_split(names[:protected], groups), np.array_split(names[protected:][:attributes], groups + 2)
    letters, (human, neutral) = "abc"[:groups], (words.tolist() for words in listed[groups:])
    own, stereotypes = (dict(zip(letters, [w.tolist() for w in each], strict=False)) for each in (held, listed))
    return kv, bb.WordLists("made", own, stereotypes, {"human": human, "neutral": neutral})


if __name__ == "__main__":
    main(
        Design("large/reading", crossed(format=("binary", "text")), reading, 1, 3),
        Design("large/words_of_binary", crossed(lengths=("one", "many")), words_of_binary, 1, 3),
        Design("large/audit", crossed(words=(13_013, 100_000, 1_000_000, 2_000_000)), audit, 1, 3),
        Design("large/pool", crossed(embeddings=(50, 100, 200)), pool, 1, 3),
        Design("large/report", crossed(pairs=(10_000, 1_000_000), protected=(100,)), report, 1, 3),
        Design("large/debias", [{}], debias, 1, 3),
    )
