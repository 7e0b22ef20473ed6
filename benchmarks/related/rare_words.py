"""False positives of rare words in an embedding whose file is ordered by frequency, by what the sample follows.

    python benchmarks/related/rare_words.py --embeddings glove.npz    # GloVe 6B, 50 dimensions

Stereotype lists are topics: a random word and the words nearest to it. Control lists are made of topics of eight words.
Seeds are spread evenly over the logarithm of ranks within a band, and all words are of that band. Nothing is biased.
Once the sample is of the 20,000 most frequent words, as in earlier versions, once it follows the ranks of the lists.
"""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from nulls import (
    SPEC,
    TAIL,
    Parts,
    Vocabulary,
    answer,
    arguments,
    nearest,
    parsed,
    rate_row,
    related_model,
    rng_for,
)
from scipy.special import ndtri

import bayesbias as bb

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import Distances, association_rows, measured_relatedness, unit_rows, vocabularies, word_weights

BANDS = {"300 to 100,000": (300, 100_000), "20,000 to 60,000": (20_000, 60_000), "300 to 20,000": (300, 20_000)}
TOPIC, HUMAN = 8, 40
LONGEST = 12
"""Words of a stereotype list, at most."""


def topical_lists(vocabulary, name, band, rng):
    """The protected words of a bundled list, with topics of the band in place of its other words."""
    given = bb.load_words(name)
    protected = {group: [w for w in words if w in vocabulary.kv] for group, words in given.protected.items()}
    low, high = band
    free = np.zeros(len(vocabulary.units), dtype=bool)
    free[low:high] = True
    free[vocabulary.rows([word for words in protected.values() for word in words])] = False

    def topic(size):
        while not free[seed := int(np.exp(rng.uniform(np.log(low), np.log(high))))]:
            pass
        rows = nearest(vocabulary, seed, size, free)
        free[rows] = False
        return [vocabulary.words[row] for row in rows]

    stereotypes = {group: topic(min(len(given.stereotypes[group]), LONGEST)) for group in protected}
    human = [word for _ in range(HUMAN // TOPIC) for word in topic(TOPIC)]
    return bb.WordLists(name, protected, stereotypes, {"human": human})


def first_words(kv, lists, case="as-is"):
    """Relatedness with the sample of earlier versions: the most frequent words."""
    rows, kind = vocabularies.sampled_rows(kv, set(lists.every_word()), 3000, 0)
    words = tuple(kv.index_to_key[row] for row in rows)
    drawn = vocabularies.Drawn(words, kv.vectors[rows], kind, kv.key_to_index, None)
    return measured_relatedness(kv, lists, 3000, 0, case, drawn)


def cell_weights(data):
    """Weights over cells of each statement: whole list, groups, and rows as differences of two mean distances."""
    word, connection = np.nonzero(data.filled)
    names, found = data.connections.tolist(), {}
    for other in ("different", "human"):
        sign = (connection == names.index("associated")) * 1.0 - (connection == names.index(other))
        rows = [sign * (word == at) for at in range(len(data.protected_words))]
        groups = [np.mean([rows[at] for at in np.flatnonzero(data.groups == g)], axis=0) for g in data.group_names]
        found[f"whole list, - {other}"] = [np.mean(rows, axis=0)]
        found[f"groups, - {other}"] = groups
        found[f"rows, - {other}"] = rows
    return found


def association_weights(related):
    """Weights (J, J, W) of the distances in the association of each protected word with its own list."""
    listed = {name: words for name, kind, words in related.lists if kind == "stereotype"}
    member = np.array([np.isin(related.attribute_words, words) / len(words) for words in listed.values()])
    group = {word: name for name, kind, words in related.lists if kind == "protected" for word in words}
    own = np.array([list(listed).index(group[word]) for word in related.protected_words])
    groups = [group[word] for word in related.protected_words]
    weights = word_weights(groups, np.ones(len(own), dtype=bool), list(listed))
    return association_rows(own, weights, len(listed)) @ member


def statements(table, related):
    """Which intervals exclude 0, and their sds, by kind of statement."""
    data = replace(Distances.read(table, check=False), relatedness=related)
    posterior = related_model.related_posterior(SPEC, data)
    found = {}
    for kind, weights in cell_weights(data).items():
        said = answer(posterior, np.array(weights))
        found[kind] = said.missed, said.sd
    weights = association_weights(related)
    distances = 1 - unit_rows(related.protected) @ unit_rows(related.attributes).T
    sd = np.sqrt(np.diag(related.covariance(weights)))
    value = np.einsum("mjw,jw->m", weights, distances)
    found["rows, association"] = np.abs(value) > ndtri(1 - TAIL) * sd, sd
    return found


def cell_rows(vocabulary, name, band, replicates):
    """Rates of one word list and band, by sample and statement."""
    missed, sds, rows = {}, {}, []
    for at in range(replicates):
        lists = topical_lists(vocabulary, name, BANDS[band], rng_for(name, band, at))
        table = bb.distance_table(vocabulary.kv, lists)
        samples = {"most frequent": first_words(vocabulary.kv, lists), "ranks of the lists": bb.relatedness(table)}
        for sample, related in samples.items():
            for statement, (wrong, sd) in statements(table, related).items():
                missed.setdefault((sample, statement), []).append(np.mean(wrong))
                sds.setdefault((sample, statement), []).append(np.mean(sd))
    for (sample, statement), wrong in missed.items():
        rate = rate_row(wrong) | {"se": np.std(wrong) / np.sqrt(len(wrong))}
        rows.append({"lists": name, "ranks": band, "sample": sample, "statement": statement, **rate})
        rows[-1]["sd"] = np.mean(sds[sample, statement])
    return rows


def main():
    parser = arguments(__doc__, 100)
    parser.set_defaults(lists=["gender", "race", "religion"], embeddings=["glove.npz"])
    parser.add_argument("--bands", nargs="+", default=list(BANDS))
    given = parsed(parser)
    parts = Parts("rare_words", given)
    kv = bb.load_embedding(given.embeddings[0])
    vocabulary = Vocabulary("glove", kv, unit_rows(kv.vectors).astype(np.float32))
    for band in given.bands:
        for name in given.lists:
            parts.once((band, name), partial(cell_rows, vocabulary, name, band, given.replicates))
    table = parts.collect()
    mean = table.groupby(["ranks", "statement", "sample"], sort=False)["rate"].mean().unstack("sample")
    print(mean.round(3).to_string())


if __name__ == "__main__":
    main()
