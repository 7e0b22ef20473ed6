"""Attribute lists without bias for fixed protected words, and what the model of related words says of them.

Every kind draws the lists of a replicate in the same way, so that no list is nearer to one group in expectation. The
relatedness of the protected words is measured once; a replicate only changes the attribute words.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

import bayesbias as bb
from bayesbias.distances import Relatedness
from benchmarks.builders.minilm import minilm, token_vectors
from benchmarks.inside import (
    Distances,
    RelatedPosterior,
    Wanted,
    by_list,
    draw_alike,
    factor_quantiles,
    measured_relatedness,
    near_weights,
    related_posterior,
    unit_rows,
)
from benchmarks.study import SHARED, TAIL

SLICE = SHARED / "embeddings" / "google_news_slice.bin"
"""The larger slice of the Google News vectors, 13,013 words."""
FIVE = ("gender", "race", "religion", "weat1", "weat7")
OTHERS = ("human", "neutral", "different")
CONTROL_TOPIC = 8
"""Words of one topic in a control list made of topics."""
MOST = 20_000
"""Words of the vocabulary that the lists of rows are drawn from."""
WORDNET = Path("/usr/share/wordnet")
"""Where Debian's package wordnet-base keeps the database."""
LARGEST, ROOM = 300, 1.5
"""Words of a semantic category at most, and those that are needed for each word of a list."""
SPEC = bb.load_model("related")
QUANTILES = 31  # points of equal probability that stand for the posterior of a factor


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """An embedding with unit vectors of all its words."""

    name: str
    kv: object
    units: np.ndarray

    @property
    def words(self):
        return self.kv.index_to_key

    def rows(self, words):
        return np.array([self.kv.key_to_index[word] for word in words], dtype=np.intp)

    def held(self, words):
        return [word for word in words if word in self.kv]


@cache
def vocabulary(name, source, kept=None):
    """The vectors of a file or a bundled name; ``minilm`` are MiniLM's of the same words, from the file ``kept``."""
    if source == "minilm":
        kv = minilm(bb.load_embedding(SLICE).index_to_key, cache=kept and Path(kept))
    else:
        kv = token_vectors() if source == "minilm tokens" else bb.load_embedding(source)
    return Vocabulary(name, kv, unit_rows(kv.vectors).astype(np.float32))


def vocabulary_of(cell, sources):
    """The vectors of a cell: those that the command line names, or a source by name."""
    name, files = cell["embedding"], cell.options.files
    source = files.get(name) or sources.get(name) or cell.options.file(name)
    return vocabulary(name, source, files.get("cache"))


TWO = {"google news": SLICE, "minilm": "minilm"}


@dataclass(frozen=True)
class Subjects:
    """Protected words in a vocabulary, their relatedness, and the sizes of the lists that are drawn for them."""

    vocabulary: Vocabulary
    rows: np.ndarray  # row in the vocabulary and number of the group of each protected word
    groups: np.ndarray
    names: tuple  # of the groups
    sizes: tuple  # words of each attribute list: stereotypes by group, then human and neutral
    base: Relatedness  # of these protected words
    table: pd.DataFrame  # a table of such lists, whose attribute words are numbered, and its rows and cells
    template: Distances

    @property
    def free(self):
        """Which words of the vocabulary are not protected."""
        free = np.ones(len(self.vocabulary.units), dtype=bool)
        free[self.rows] = False
        return free


def subjects_of(vocabulary, lists, sizes=None, sample=3000, seed=0):
    """The protected words of word lists that the vocabulary holds; list sizes as found unless they are given."""
    found = {group: vocabulary.held(words) for group, words in lists.protected.items()}
    if sizes is None:
        parts = [lists.stereotypes[group] for group in found] + [lists.controls[name] for name in OTHERS[:2]]
        sizes = [len(vocabulary.held(words)) for words in parts]
    # a sample of the whole vocabulary: random lists may lie anywhere in it
    base = measured_relatedness(vocabulary.kv, replace(lists, stereotypes={}), sample, seed)
    protected = [word for words in found.values() for word in words]
    groups = np.repeat(np.arange(len(found)), [len(words) for words in found.values()])
    table = placeholder_table(protected, groups, tuple(found), sizes)
    template = Distances.read(table, check=False)
    return Subjects(vocabulary, vocabulary.rows(protected), groups, tuple(found), tuple(sizes), base, table, template)


@cache
def bundled_subjects(vocabulary, name):
    """The protected words of a bundled list, and its sizes."""
    return subjects_of(vocabulary, bb.load_words(name))


def given_rows(subjects, lists):
    """Rows of the words of the lists that are given: stereotypes by group, human and neutral."""
    parts = [lists.stereotypes[name] for name in subjects.names] + [lists.controls[name] for name in OTHERS[:2]]
    return [subjects.vocabulary.rows(subjects.vocabulary.held(words)) for words in parts]


def placeholder_table(protected, groups, names, sizes):
    """A table of numbered attribute words."""
    rows = []
    for word, group in zip(protected, groups, strict=True):
        kinds = [(names[at], "associated" if at == group else "different") for at in range(len(names))]
        labels = [*kinds, ("human", "human"), ("neutral", "neutral")]
        for own, (label, connection) in zip(by_list(np.arange(sum(sizes)), sizes), labels, strict=True):
            rows += [(word, names[group], f"{slot:06d}", label, connection, 1.0) for slot in own]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=columns)


def nearest(vocabulary, seed, count, free):
    """A word and those nearest to it, of the words that are free."""
    cosines = vocabulary.units @ vocabulary.units[seed]
    cosines[~free] = -9
    cosines[seed] = 9
    return np.argpartition(-cosines, count - 1)[:count] if count < len(cosines) else np.flatnonzero(free)


def topic(vocabulary, count, free, rng, pool=None):
    """A random word with others drawn from the pool of the words nearest to it, by default the very nearest."""
    seed = rng.choice(np.flatnonzero(free))
    pool = count if pool is None else min(pool, int(free.sum()))
    near = nearest(vocabulary, seed, pool, free)
    return np.append(seed, rng.choice(near[near != seed], count - 1, replace=False)) if pool > count else near


def draw_lists(subjects, kind, rng, pool=None):
    """Rows of the words of each attribute list, no word twice: stereotypes by group, then human and neutral."""
    free, drawn = subjects.free, []
    for at, size in enumerate(subjects.sizes):
        control = at >= len(subjects.names)
        if kind == "random" or (control and kind == "topical"):
            drawn.append(rng.choice(np.flatnonzero(free), size, replace=False))
            free[drawn[-1]] = False
            continue
        parts, most = [], CONTROL_TOPIC if control else size
        for begin in range(0, size, most):
            parts.append(topic(subjects.vocabulary, min(most, size - begin), free, rng, pool))
            free[parts[-1]] = False
        drawn.append(np.concatenate(parts))
    return drawn


def replicate_data(subjects, drawn, shift=None, base=None):
    """The table of drawn lists as a model takes it.

    Parameters
    ----------
    shift
        Added to the distances of each cell, (protected words, connections).
    base
        Relatedness of the protected words, if not that of the subjects.
    """
    base = subjects.base if base is None else base
    vectors = subjects.vocabulary.units[np.concatenate(drawn)]
    template = subjects.template
    distances = 1 - unit_rows(base.protected) @ unit_rows(vectors).T
    place = {word: at for at, word in enumerate(base.protected_words)}
    order = np.array([place[word] for word in template.protected_words.tolist()])
    y = distances[order][template.word, template.attribute]
    if shift is not None:
        y = y + shift[template.word, template.connection]
    return replace(template, y=y, relatedness=with_attributes(base, subjects, vectors))


def numbered_table(subjects, drawn):
    """The distance table of drawn lists with numbered attribute words and without relatedness."""
    return subjects.table.assign(distance=replicate_data(subjects, drawn).y)


def with_attributes(base, subjects, vectors):
    """The relatedness of the same protected words with other attribute words, as near as the stereotypes among them."""
    slots = [f"{at:06d}" for at in range(len(vectors))]
    labels = [*((name, "stereotype") for name in subjects.names), ("human", "control"), ("neutral", "control")]
    entries = tuple(entry for entry in base.lists if entry[1] == "protected")
    parts = by_list(np.array(slots), subjects.sizes)
    entries += tuple((*label, tuple(part.tolist())) for label, part in zip(labels, parts, strict=True))
    found = replace(base, attribute_words=tuple(slots), attributes=vectors.astype(np.float16), lists=entries)
    near = [np.array(list(words.values())) for words in found.stereotype_nearness().values()]
    return replace(found, near=near_weights(-base.mean_distances, near).astype(np.float32))


def contrast_weights(data):
    """Weights (3, cells) of associated - human, - neutral, - different, averaged over protected words."""
    connection = np.nonzero(data.filled)[1]
    names = data.connections.tolist()
    own = (connection == names.index("associated")).astype(float)
    other = np.stack([connection == names.index(name) for name in OTHERS]).astype(float)
    return (own - other) / len(data.protected_words)


@dataclass(frozen=True)
class Answer:
    """Contrasts (3,): posterior mean and sd, probability below a value; posterior means of the factors (classes,)."""

    mean: np.ndarray
    sd: np.ndarray
    below: np.ndarray
    factors: np.ndarray

    @property
    def missed(self):
        """Whether the central 89% interval leaves the value out."""
        return (self.below < TAIL) | (self.below > 1 - TAIL)


def factor_points(grid, classes):
    """Points (M, A), equally probable, of the posterior of some classes' factors; the others are 1."""
    own = factor_quantiles(grid, np.tile(((np.arange(QUANTILES) + 0.5) / QUANTILES)[:, None], len(grid.mass)))
    places = np.indices((QUANTILES,) * len(classes)).reshape(len(classes), -1)
    points = np.ones((QUANTILES ** len(classes), len(grid.mass)))
    for i, kind in enumerate(classes):
        points[:, kind] = own[places[i], kind]
    return points


def answer(found: RelatedPosterior, weights, truth=0.0):
    """Exact moments and tail probabilities: the posterior is a mixture of normals over the factors."""
    mean, covariance = found.moments(weights)
    sums, below = found.sums, []
    for row, value, true in zip(weights, mean, np.broadcast_to(truth, mean.shape), strict=True):
        met = np.unique(sums.kind[row != 0]).tolist()
        by_class = row * (sums.kind == np.arange(len(sums.freedom))[:, None])
        points = factor_points(found.grid, met)
        spread = np.sqrt(np.einsum("ma,ab,mb->m", points, by_class @ sums.covariance @ by_class.T, points))
        below.append(ndtr((true - value) / spread).mean())
    return Answer(mean, np.sqrt(np.diag(covariance)), np.array(below), found.grid.mass @ found.grid.factor)


def related_answer(data, truth=0.0):
    """What the model of related words says of a table's contrasts."""
    return answer(related_posterior(SPEC, data), contrast_weights(data), truth)


def free_rows(subjects):
    """Rows of the frequent words that are letters only and not protected."""
    words, free = subjects.vocabulary.words[:MOST], subjects.free
    return np.array([at for at, word in enumerate(words) if free[at] and word.isalpha() and len(word) > 2])


def coherent_topics(subjects, given, replicates, rng):
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
    return [by_list(rows[words], subjects.sizes) for words in drawn]


def synsets(folder):
    """The words of each noun synset of WordNet 3 as they are written, and the synsets right below it.

    References
    ----------
    Miller, G. A. (1995). WordNet: a lexical database for English. Communications of the ACM 38(11).
    https://doi.org/10.1145/219717.219748
    """
    words, below = {}, {}
    for line in (Path(folder) / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" | ")[0].split()
        count = int(fields[3], 16)
        words[fields[0]] = [word.lower() for word in fields[4 : 4 + 2 * count : 2]]
        pointers = fields[5 + 2 * count :]
        targets = zip(pointers[::4], pointers[1::4], pointers[2::4], strict=False)
        below[fields[0]] = [target for kind, target, part in targets if part == "n" and kind in ("~", "~i")]
    return words, below


def descendants(synset, below):
    """All synsets below one."""
    found, left = set(), list(below.get(synset, ()))
    while left:
        other = left.pop()
        if other not in found:
            found.add(other)
            left += below.get(other, ())
    return found


def semantic_categories(subjects, folder=WORDNET):
    """Rows of the words of each category: a noun's sense with all that lies below it in WordNet."""
    place = {subjects.vocabulary.words[row].lower(): row for row in free_rows(subjects)}
    words, below = synsets(folder)
    rows = {sense: {place[word] for word in listed if word in place} for sense, listed in words.items()}
    unique = {tuple(sorted(rows[sense].union(*(rows[other] for other in descendants(sense, below))))) for sense in rows}
    return [np.array(found) for found in sorted(unique) if ROOM * max(subjects.sizes) <= len(found) <= LARGEST]


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


def around(units, seed, size, free, rng):
    """A word with random ones of the free words nearest to it."""
    cosines = np.where(free, units @ units[seed], -9.0)
    cosines[seed] = 9.0
    near = np.argpartition(-cosines, 3 * size)[: 3 * size]
    near = near[near != seed]
    return np.append(seed, rng.choice(near, size - 1, replace=False))
