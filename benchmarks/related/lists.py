"""Attribute lists without bias: random words, topics, semantic categories of WordNet, and lists that are alike.

Every kind draws the lists of a replicate in the same way, so that no list is nearer to one group in expectation. Words
come from the most frequent ones, as the sample behind relatedness does.
"""

from pathlib import Path

import numpy as np
from nulls import Wanted, draw_alike

MOST = 20_000
"""Words of the vocabulary that lists are drawn from."""
WORDNET = Path("/usr/share/wordnet")
"""Where Debian's package wordnet-base keeps the database."""
LARGEST = 300
"""Words of a semantic category at most: larger ones, such as *entity*, are no category of lists."""
ROOM = 1.5
"""Words of a category that are needed for each word of a list."""
TRIES = 10
"""Lists that are tried for a list as alike to the first as wanted."""


def free_rows(subjects):
    """Rows of the frequent words that are letters only and not protected."""
    words = subjects.vocabulary.words[:MOST]
    taken = set(subjects.rows.tolist())
    return np.array([at for at, word in enumerate(words) if at not in taken and word.isalpha() and len(word) > 2])


def random_lists(subjects, replicates, rng):
    """Unrelated words."""
    rows = free_rows(subjects)
    return [split(rng.choice(rows, sum(subjects.sizes), replace=False), subjects.sizes) for _ in range(replicates)]


def topics(subjects, given, replicates, rng):
    """Topics as coherent as the lists that are given (rows of their words), and as similar as random words are."""
    rows = free_rows(subjects)
    units = subjects.vocabulary.units[rows]
    centre = units.mean(axis=0, dtype=float)
    means = np.stack([subjects.vocabulary.units[words].mean(axis=0, dtype=float) for words in given])
    products = np.full((len(given), len(given)), centre @ centre)
    np.fill_diagonal(products, (means**2).sum(axis=1))
    weights = tuple(np.full(size, 1 / size) for size in subjects.sizes)
    wanted = Wanted(weights, tuple(subjects.sizes), products, (tuple(range(len(given))),))
    drawn = draw_alike(units.astype(np.float32), wanted, replicates, rng, lambda _: None)
    return [split(rows[words], subjects.sizes) for words in drawn]


def split(rows, sizes):
    """The words of lists that stand one after the other."""
    return np.split(rows, np.cumsum(sizes)[:-1])


def semantic_categories(subjects, folder=WORDNET):
    """Rows of the words of each category: a noun's sense with all that lies below it in WordNet.

    References
    ----------
    Miller, G. A. (1995). WordNet: a lexical database for English. Communications of the ACM 38(11).
    https://doi.org/10.1145/219717.219748
    """
    place = {subjects.vocabulary.words[row].lower(): row for row in free_rows(subjects)}
    words, below = {}, {}
    for line in (folder / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        parts = line.split(" | ")[0].split()
        count = int(parts[3], 16)
        words[parts[0]] = {place[word] for word in map(str.lower, parts[4 : 4 + 2 * count : 2]) if word in place}
        pointers = parts[5 + 2 * count :]
        targets = zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False)
        below[parts[0]] = [target for kind, target, part in targets if part == "n" and kind in ("~", "~i")]
    collected = {}

    def descend(sense):
        if sense not in collected:
            collected[sense] = set(words[sense])
            for other in below[sense]:
                collected[sense] |= descend(other)
        return collected[sense]

    least = ROOM * max(subjects.sizes)
    unique = {tuple(sorted(descend(sense))) for sense in words}
    return [np.array(found) for found in sorted(unique) if least <= len(found) <= LARGEST]


def nouns_of(vocabulary, folder=WORDNET, most=5000):
    """The nouns of WordNet among the most frequent words."""
    lines = (folder / "index.noun").read_text(encoding="utf-8").splitlines()
    nouns = {line.split()[0] for line in lines if not line.startswith("  ")}
    return [word for word in vocabulary.words[:most] if word in nouns and word.isalpha() and len(word) > 3]


def category_lists(subjects, replicates, rng):
    """Random words of random categories that share none."""
    categories, found = semantic_categories(subjects), []
    while len(found) < replicates:
        drawn, used = [], np.empty(0, dtype=np.intp)
        for size in subjects.sizes:
            category = np.setdiff1d(categories[rng.integers(len(categories))], used)
            if len(category) < size:
                break
            drawn.append(rng.choice(category, size, replace=False))
            used = np.concatenate([used, drawn[-1]])
        if len(drawn) == len(subjects.sizes):
            found.append(drawn)
    return found


def alike_lists(subjects, cosine, replicates, rng):
    """Topics whose mean vectors have about this cosine with each other, and the mean cosine that was reached.

    Of lists around words at growing distances from the first seed, those are taken whose cosine comes nearest.
    """
    rows = free_rows(subjects)
    units = subjects.vocabulary.units[rows]
    found, reached = [], []
    for _ in range(replicates):
        free = np.ones(len(rows), dtype=bool)
        seed = rng.integers(len(rows))
        order = np.argsort(-(units @ units[seed]))
        listed = [around(units, seed, subjects.sizes[0], free, rng)]
        for size in subjects.sizes[1:]:
            free[listed[-1]] = False
            ranks = np.unique(np.geomspace(1, len(rows) - 1, TRIES).astype(int))
            tried = [around(units, place, size, free, rng) for place in order[ranks] if free[place]]
            apart = [max(abs(mean_cosine(units, words, own) - cosine) for own in listed) for words in tried]
            listed.append(tried[int(np.argmin(apart))])
        pairs = [mean_cosine(units, a, b) for at, a in enumerate(listed) for b in listed[:at]]
        reached.append(np.mean(pairs))
        order = rng.permutation(len(listed)) if len(set(subjects.sizes)) == 1 else np.arange(len(listed))
        found.append([rows[listed[at]] for at in order])
    return found, float(np.mean(reached))


def around(units, seed, size, free, rng):
    """A word with random ones of the free words nearest to it."""
    cosines = np.where(free, units @ units[seed], -9.0)
    cosines[seed] = 9.0
    near = np.argpartition(-cosines, 3 * size)[: 3 * size]
    near = near[near != seed]
    return np.append(seed, rng.choice(near, size - 1, replace=False))


def mean_cosine(units, first, second):
    """Cosine of the mean vectors of two lists."""
    a, b = units[first].mean(axis=0), units[second].mean(axis=0)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
