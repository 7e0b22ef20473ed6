"""Seconds and memory of documents with covariates.

- ``norms``: the instances of a word in conText's speeches and the norms of their coefficients, beside the algorithm of
  conText in NumPy in the same process (seconds, best of the replicates), and the largest difference of the figures;
- ``vectors``: 72,720 vectors of 1,024 dimensions from each of five encoders, by speaker, with a planted confound: the
  contrast by party alone and with the control, seconds and megabytes;
- ``stream``: a million documents that are made as they are read, and a tenth as many: seconds and megabytes.
"""

import gc
import time
from collections import Counter

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.vectors import keyed_vectors
from benchmarks.speed.large import memory, timed
from benchmarks.study import SHARED, Design, crossed, main

SPEECHES, DIMENSIONS, ENCODERS, SPEAKERS = 72_720, 1024, 5, 600
FRAMES = ["the committee of the house", "a budget for schools and roads", "we must act for our people today"]


def plain_norms(table, target, kv, transform, window=6, least=5):
    """Norms by the algorithm of conText, one instance after the other."""
    texts = [text.split() for text in table["text"]]
    counts = Counter(word for text in texts for word in text)
    kept = {word for word, number in counts.items() if number >= least and word in kv.key_to_index}
    rows, vectors = [], []
    for tokens, party, gender in zip(texts, table["party"], table["gender"], strict=True):
        for place, word in enumerate(tokens):
            if word != target:
                continue
            beside = tokens[max(0, place - window) : place] + tokens[place + 1 : place + 1 + window]
            known = [kv[each] for each in beside if each in kept]
            if known:
                vectors.append(transform @ np.mean(known, axis=0))
                rows.append((1.0, party == "R", gender == "M"))
    x, e = np.array(rows, dtype=float), np.array(vectors)
    coefficients = np.linalg.lstsq(x, e, rcond=None)[0]
    inverse = np.linalg.inv(x.T @ x)
    left = ((e - x @ coefficients) ** 2).sum(axis=1) * len(x) / (len(x) - x.shape[1])
    squared = (coefficients**2).sum(axis=1)
    return np.array([squared, squared - np.diag(inverse @ (x.T * left) @ x @ inverse)])[:, 1:]


def norms(cell):
    folder = SHARED / "documents"
    table, arrays = pd.read_parquet(folder / "speeches.parquet"), np.load(folder / "vectors.npz")
    kv = KeyedVectors(arrays["vectors"].shape[1])
    kv.add_vectors(list(map(str, arrays["words"])), arrays["vectors"].astype(np.float32))
    transform = arrays["transform"]

    def ours():
        sample = bb.instances(table, "immigration", kv, transform=transform)
        return bb.covariates(sample, "party + gender").norms(permutations=0)[["squared_norm", "debiased"]].to_numpy().T

    def theirs():
        return plain_norms(table, "immigration", kv, transform)

    (seconds, own), (plain, other) = (
        min((timed(work) for _ in range(cell.replicates)), key=lambda run: run[0]) for work in (ours, theirs)
    )
    yield {"seconds": seconds, "plain_seconds": plain, "ratio": seconds / plain, "apart": np.abs(own - other).max()}


def vectors(cell):
    """The vote is what speaks; parties vote alike in all but one case of ten, so that it is a confound of theirs."""
    before, begin = memory("VmHWM"), time.perf_counter()
    rng = np.random.default_rng(cell["encoder"])
    words = [f"w{i}" for i in range(2000)]
    kv = keyed_vectors(words, rng.standard_normal((2000, DIMENSIONS)).astype(np.float32))
    speaker = rng.integers(0, SPEAKERS, SPEECHES)
    party = (np.arange(SPEAKERS) % 2)[speaker]
    votes = np.where(rng.random(SPEAKERS) < 0.9, np.arange(SPEAKERS) % 2, 1 - np.arange(SPEAKERS) % 2)
    unit = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
    apart = unit[:10].mean(axis=0) - unit[10:20].mean(axis=0)
    e = rng.standard_normal((SPEECHES, DIMENSIONS), dtype=np.float32)
    e += (
        0.5
        + votes[speaker, None].astype(np.float32) * apart
        + rng.standard_normal((SPEAKERS, DIMENSIONS))[speaker] * 0.1
    )
    table = pd.DataFrame(
        {"word": "tax", "speaker": speaker, "party": party.astype(str), "vote": votes[speaker].astype(str)}
    )
    made = time.perf_counter() - begin
    import pyarrow as pa

    arrow = pa.Table.from_pandas(table).append_column(
        "vector", pa.FixedSizeListArray.from_arrays(pa.array(e.ravel()), DIMENSIONS)
    )
    del e
    gc.collect()
    begin = time.perf_counter()
    sample = bb.vector_sample(arrow, kv, clusters="speaker")
    found, both = (
        bb.covariates(sample, formula).contrast(words[:10], words[10:20]) for formula in ("party", "party + vote")
    )
    truth = both.table(words="given").set_index("name")
    alone, controlled = (each.table().query("quantity == 'difference'").iloc[0] for each in (found, both))
    seconds = time.perf_counter() - begin
    row = truth.loc["vote: 1 - 0"]
    planted = -(apart @ apart) / found.length  # towards the first words
    yield {
        "seconds": seconds,
        "seconds_made": made,
        "megabytes": memory("VmHWM") - before,
        "party_alone": alone["mean"],
        "party_with_vote": controlled["mean"],
        "low": controlled["low"],
        "high": controlled["high"],
        "overlap": both.table().set_index("name")["overlap"].filter(like="vote").iloc[0],
        "planted": planted,
        "held": bool(row["low"] < planted < row["high"]),
    }


class Made:
    """Documents that are made as they are read."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        for number in range(self.size):
            text = f"{FRAMES[number % 3]} {'tax' if number % 4 == 0 else 'war'} {FRAMES[(number + 1) % 3]}"
            yield {"text": text, "speaker": number % 500, "party": "LR"[number % 500 % 2]}


def stream(cell):
    kv = bb.load_embedding("glove-50d-slice")
    before = memory("VmHWM")
    seconds, sample = timed(
        lambda: bb.instances(Made(cell["documents"]), ["tax"], kv, transform=np.eye(50), clusters="speaker")
    )
    yield {"seconds": seconds, "megabytes": memory("VmHWM") - before, "instances": int(sample.vectors["tax"].n.sum())}


if __name__ == "__main__":
    main(
        Design("documents/norms", [{}], norms, 5, 6),
        Design("documents/vectors", crossed(encoder=range(ENCODERS)), vectors, 1, 4),
        Design("documents/stream", crossed(documents=(100_000, 1_000_000)), stream, 1, 1),
    )
