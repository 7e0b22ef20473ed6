"""The frequency of words: rare words, lists of unlike frequency, their warnings, and what adjusting leaves.

Nothing is biased in any of these studies. ``--files glove=FILE`` takes an embedding that is ordered by frequency.

- ``rare_words``: false positives of rare topics, with a sample of the 20,000 most frequent words, as in earlier
  versions, and with one that follows the ranks of the lists. Seeds are spread evenly over the logarithm of ranks within
  a band, and all words are of that band; control lists are made of topics of eight words;
- ``unlike_frequency``: rows of single words where the stereotypes of the first group are random words (or a topic) of
  one band of ranks and those of the others of another one: how often they exclude 0, as they are and adjusted for the
  order of the file, and whether ``balance`` warns.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

import bayesbias as bb
from benchmarks.inside import (
    Distances,
    association_rows,
    measured_relatedness,
    related_model,
    sampled_rows,
    unit_rows,
    vocabularies,
    word_weights,
)
from benchmarks.study import TAIL, Design, crossed, generator, main
from benchmarks.validity.lists import SPEC, answer, nearest, vocabulary

BANDS = {"300 to 100,000": (300, 100_000), "20,000 to 60,000": (20_000, 60_000), "300 to 20,000": (300, 20_000)}
TOPIC, HUMAN, LONGEST = 8, 40, 12
"""Words of a topic and of the controls, and of a stereotype list at most."""
UNLIKE = {
    "random, 0-3,000 against 10,000-20,000": ((0, 3000), (10_000, 20_000), False),
    "random, 3,000-10,000 against 20,000-60,000": ((3000, 10_000), (20_000, 60_000), False),
    "random, 3,000-20,000 both": ((3000, 20_000), (3000, 20_000), False),
    "topics, 3,000-10,000 against 20,000-60,000": ((3000, 10_000), (20_000, 60_000), True),
}


def protected_of(vectors, name):
    """The protected words of a bundled list, their rows and the length of each stereotype list."""
    given = bb.load_words(name)
    protected = {group: vectors.held(words) for group, words in given.protected.items()}
    rows = vectors.rows([word for words in protected.values() for word in words])
    return protected, rows, {group: min(len(given.stereotypes[group]), LONGEST) for group in protected}


def topical_lists(vectors, name, band, rng):
    """The protected words of a bundled list, with topics of the band in place of its other words."""
    protected, rows, sizes = protected_of(vectors, name)
    low, high = band
    free = np.zeros(len(vectors.units), dtype=bool)
    free[low:high] = True
    free[rows] = False

    def topic(size):
        while not free[seed := int(np.exp(rng.uniform(np.log(low), np.log(high))))]:
            pass
        near = nearest(vectors, seed, size, free)
        free[near] = False
        return [vectors.words[row] for row in near]

    stereotypes = {group: topic(size) for group, size in sizes.items()}
    human = [word for _ in range(HUMAN // TOPIC) for word in topic(TOPIC)]
    return bb.WordLists(name, protected, stereotypes, {"human": human})


def first_words(kv, lists):
    """Relatedness with the sample of earlier versions: the most frequent words."""
    rows, kind = sampled_rows(kv, set(lists.every_word()), 3000, 0)
    words = tuple(kv.index_to_key[row] for row in rows)
    drawn = vocabularies.VocabularySample(words, kv.vectors[rows], kind, len(kv), kv.key_to_index, None)
    return measured_relatedness(kv, lists, 3000, 0, drawn)


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


def listed_of(related):
    """Group to its stereotypes, and the group of each protected word."""
    listed = {name: words for name, kind, words in related.lists if kind == "stereotype"}
    group = {word: name for name, kind, words in related.lists if kind == "protected" for word in words}
    return listed, [group[word] for word in related.protected_words]


def association_weights(related):
    """Weights (J, J, W) of the distances in the association of each protected word with its own list."""
    listed, groups = listed_of(related)
    member = np.array([np.isin(related.attribute_words, words) / len(words) for words in listed.values()])
    own = np.array([list(listed).index(group) for group in groups])
    weights = word_weights(groups, np.ones(len(own), dtype=bool), list(listed))
    return association_rows(own, weights, len(listed)) @ member


def difference_weights(related):
    """Weights (J, J, W) of associated - different of each protected word."""
    listed, groups = listed_of(related)
    weights = np.zeros((len(groups), len(groups), len(related.attribute_words)))
    for at, group in enumerate(groups):
        own = np.isin(related.attribute_words, listed[group])
        others = np.isin(related.attribute_words, [w for name, words in listed.items() if name != group for w in words])
        weights[at, at] = own / own.sum() - others / others.sum()
    return weights


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
    return found | {"rows, association": (np.abs(value) > ndtri(1 - TAIL) * sd, sd)}


def rare_words(cell):
    vectors = vocabulary("glove", cell.options.file("glove"))
    for at in range(cell.replicates):
        rng = generator(cell["lists"], cell["ranks"], at)
        lists = topical_lists(vectors, cell["lists"], BANDS[cell["ranks"]], rng)
        table = bb.distance_table(vectors.kv, lists)
        samples = {"most frequent": first_words(vectors.kv, lists), "ranks of the lists": bb.relatedness(table)}
        for sample, related in samples.items():
            for statement, (wrong, sd) in statements(table, related).items():
                figures = {"rate": np.mean(wrong), "sd": np.mean(sd)}
                yield {"sample": sample, "statement": statement, **figures}


def unlike_lists(vectors, name, cell, rng):
    """The protected words of a bundled list, with stereotypes from two bands and control words from both."""
    first, second, topical = UNLIKE[cell]
    protected, rows, sizes = protected_of(vectors, name)
    free = np.ones(len(vectors.units), dtype=bool)
    free[rows] = False

    def drawn(band, size, topic):
        inside = free & (np.arange(len(free)) >= band[0]) & (np.arange(len(free)) < band[1])
        places = np.flatnonzero(inside)
        seed = rng.choice(places) if topic else None
        taken = nearest(vectors, seed, size, inside) if topic else rng.choice(places, size, replace=False)
        free[taken] = False
        return [vectors.words[row] for row in taken]

    stereotypes = {
        group: drawn(second if at else first, size, topical) for at, (group, size) in enumerate(sizes.items())
    }
    human = [word for band in (first, second) for word in drawn(band, 12, False)]
    return bb.WordLists(name, protected, stereotypes, {"human": human})


def share_excluding(table, related, weights):
    """Share of sums of distances whose interval excludes 0."""
    wide = table.pivot_table(index="protected_word", columns="attribute_word", values="distance")
    distances = wide.reindex(index=related.protected_words, columns=related.attribute_words).fillna(0).to_numpy()
    value = np.einsum("mjw,jw->m", weights, distances)
    return np.mean(np.abs(value) > ndtri(1 - TAIL) * np.sqrt(np.diag(related.covariance(weights))))


def unlike_frequency(cell):
    vectors = vocabulary("glove", cell.options.file("glove"))
    for at in range(cell.replicates):
        rng = generator(cell["lists"], cell["cell"], at)
        table = bb.distance_table(vectors.kv, unlike_lists(vectors, cell["lists"], cell["cell"], rng))
        related, adjusted = bb.relatedness(table), bb.adjust(table, "frequency")
        left, warnings = bb.relatedness(adjusted), bb.balance(table).warnings
        moved = {note.numbers["contrast"] for note in warnings if note.code == "frequency-words"}
        row = {"warned": bool(warnings), "warned associations": "association" in moved}
        row["warned differences"] = "associated - different" in moved
        both = {"difference": difference_weights(related), "association": association_weights(related)}
        for what, weights in both.items():
            row[what] = share_excluding(table, related, weights)
            row[f"{what}, adjusted"] = share_excluding(adjusted, left, weights)
        row["not warned though more than a fifth"] = row["difference"] > 0.2 and not row["warned"]
        yield row


RARE = crossed(lists=("gender", "race", "religion"), ranks=BANDS)
DESIGNS = (
    Design("related/rare_words", RARE, rare_words, by=("sample", "statement"), how={"se": "rate"}),
    Design("related/unlike_frequency", crossed(lists=("gender", "religion"), cell=UNLIKE), unlike_frequency, by=()),
)

if __name__ == "__main__":
    main(*DESIGNS)
