"""What lists of unlike frequency do to rows of single words, what `balance` says, and what adjusting leaves.

    python benchmarks/related/unlike_frequency.py --embeddings glove.npz    # GloVe 6B, 50 dimensions

The stereotypes of the first group are random words (or a topic) of one band of ranks, those of the other groups of
another one; nothing is biased. Per replicate: the share of rows whose 89% interval excludes 0, by
`relatedness.covariance` (associated - different, and the association), before and after adjusting for the order of the
file, and whether `balance` warns.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from nulls import TAIL, Parts, Vocabulary, arguments, nearest, parsed, rng_for
from rare_words import association_weights
from scipy.special import ndtri

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import unit_rows

CELLS = {
    "random, 0-3,000 against 10,000-20,000": ((0, 3000), (10_000, 20_000), False),
    "random, 3,000-10,000 against 20,000-60,000": ((3000, 10_000), (20_000, 60_000), False),
    "random, 3,000-20,000 both": ((3000, 20_000), (3000, 20_000), False),
    "topics, 3,000-10,000 against 20,000-60,000": ((3000, 10_000), (20_000, 60_000), True),
}
LONGEST, HUMAN = 12, 24


def unlike_lists(vocabulary, name, cell, rng):
    """The protected words of a bundled list, with stereotypes from two bands and control words from both."""
    first, second, topical = CELLS[cell]
    given = bb.load_words(name)
    protected = {group: [w for w in words if w in vocabulary.kv] for group, words in given.protected.items()}
    free = np.ones(len(vocabulary.units), dtype=bool)
    free[vocabulary.rows([word for words in protected.values() for word in words])] = False

    def drawn(band, size, topic):
        inside = free & (np.arange(len(free)) >= band[0]) & (np.arange(len(free)) < band[1])
        places = np.flatnonzero(inside)
        rows = (
            nearest(vocabulary, rng.choice(places), size, inside) if topic else rng.choice(places, size, replace=False)
        )
        free[rows] = False
        return [vocabulary.words[row] for row in rows]

    stereotypes = {
        group: drawn(second if at else first, min(len(given.stereotypes[group]), LONGEST), topical)
        for at, group in enumerate(protected)
    }
    human = [word for band in (first, second) for word in drawn(band, HUMAN // 2, False)]
    return bb.WordLists(name, protected, stereotypes, {"human": human})


def row_weights(related):
    """Weights (J, J, W) of associated - different of each protected word."""
    listed = {name: words for name, kind, words in related.lists if kind == "stereotype"}
    group = {word: name for name, kind, words in related.lists if kind == "protected" for word in words}
    weights = np.zeros((len(group), len(related.protected_words), len(related.attribute_words)))
    for at, word in enumerate(related.protected_words):
        own = np.isin(related.attribute_words, listed[group[word]])
        others = np.isin(
            related.attribute_words, [w for name, words in listed.items() if name != group[word] for w in words]
        )
        weights[at, at] = own / own.sum() - others / others.sum()
    return weights


def excluded(table, related, weights):
    """Share of sums whose interval excludes 0."""
    wide = table.pivot_table(index="protected_word", columns="attribute_word", values="distance")
    distances = wide.reindex(index=related.protected_words, columns=related.attribute_words).fillna(0).to_numpy()
    value = np.einsum("mjw,jw->m", weights, distances)
    return np.mean(np.abs(value) > ndtri(1 - TAIL) * np.sqrt(np.diag(related.covariance(weights))))


def cell_rows(vocabulary, name, cell, replicates):
    """One row for each replicate, then their means."""
    rows = []
    for at in range(replicates):
        lists = unlike_lists(vocabulary, name, cell, rng_for(name, cell, at))
        table = bb.distance_table(vocabulary.kv, lists)
        related = bb.relatedness(table)
        adjusted = bb.adjust(table, "frequency")
        left = bb.relatedness(adjusted)
        weights = {"difference": row_weights(related), "association": association_weights(related)}
        found = bb.balance(table)
        said = " ".join(found.warnings)
        row = {"warned": bool(found.warnings), "warned associations": "the associations" in said}
        row["warned differences"] = "associated \N{MINUS SIGN} different" in said
        for what, own in weights.items():
            row[what] = excluded(table, related, own)
            row[f"{what}, adjusted"] = excluded(adjusted, left, own)
        rows.append(row)
    table = pd.DataFrame(rows)
    often = table["difference"] > 0.2
    table["not warned though more than a fifth"] = often & ~table["warned"]
    return [{"lists": name, "cell": cell, "replicates": replicates, **table.mean().to_dict()}]


def main():
    parser = arguments(__doc__, 100)
    parser.set_defaults(lists=["gender", "religion"], embeddings=["glove.npz"])
    parser.add_argument("--cells", nargs="+", default=list(CELLS))
    given = parsed(parser)
    parts = Parts("unlike_frequency", given)
    kv = bb.load_embedding(given.embeddings[0])
    vocabulary = Vocabulary("glove", kv, unit_rows(kv.vectors).astype(np.float32))
    for cell in given.cells:
        for name in given.lists:
            parts.once((cell, name), partial(cell_rows, vocabulary, name, cell, given.replicates))
    print(parts.collect().round(3).T.to_string())


if __name__ == "__main__":
    main()
