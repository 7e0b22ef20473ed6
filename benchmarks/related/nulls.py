"""Random attribute lists of a vocabulary for fixed protected words, and what the model of related words says of them.

The lists of a replicate are drawn alike, so that every contrast is 0 in expectation. The relatedness of the protected
words is measured once; a replicate only changes the attribute words.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

import bayesbias as bb
from bayesbias.distances import Relatedness

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import HERE, SHARED
from inside import (  # noqa: F401  (some for the scripts beside this one)
    Distances,
    Wanted,
    associations,
    draw_alike,
    functionals,
    interval_of,
    measured_relatedness,
    mixtures,
    near_weights,
    prior_scale,
    read_distances,
    related_core,
    related_model,
    unit_rows,
    weights_of,
)
from minilm import minilm

RESULTS = HERE / "results" / "related"
LISTS = ("gender", "race", "religion", "weat1", "weat7")
KINDS = ("random", "topical", "topical controls")
OTHERS = ("human", "neutral", "different")
PROB = 0.89
TAIL = (1 - PROB) / 2
CONTROL_TOPIC = 8
"""Words of one topic in a control list made of topics."""
SPEC = bb.load_model("related")


@dataclass(frozen=True)
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


def vocabularies(names, cache=None):
    """The words of the shared slice in Google News vectors, and the same words in MiniLM vectors."""
    google = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin")
    for name in names:
        kv = google if name == "google news" else minilm(google.index_to_key, cache=cache)
        yield Vocabulary(name, kv, unit_rows(kv.vectors).astype(np.float32))


@dataclass(frozen=True)
class Subjects:
    """Protected words in a vocabulary, their relatedness, and the sizes of the lists that are drawn for them.

    Attributes
    ----------
    rows, groups
        Row in the vocabulary and number of the group of each protected word.
    names
        Names of the groups.
    sizes
        Words of each attribute list: stereotypes by group, then human and neutral.
    base
        Relatedness of these protected words.
    table, template
        A table of such lists, whose attribute words are numbered, and its rows and cells.
    """

    vocabulary: Vocabulary
    rows: np.ndarray
    groups: np.ndarray
    names: tuple
    sizes: tuple
    base: Relatedness
    table: pd.DataFrame
    template: Distances

    @property
    def protected(self):
        return [self.vocabulary.words[row] for row in self.rows]


def subjects_of(vocabulary, lists, sizes=None, sample=3000, seed=0):
    """The protected words of word lists that the vocabulary holds; list sizes as found unless they are given."""
    found = {group: [w for w in words if w in vocabulary.kv] for group, words in lists.protected.items()}
    if sizes is None:
        parts = [lists.stereotypes[group] for group in found] + [lists.controls[name] for name in OTHERS[:2]]
        sizes = tuple(sum(word in vocabulary.kv for word in words) for words in parts)
    # a sample of the whole vocabulary: random lists may lie anywhere in it
    base = measured_relatedness(vocabulary.kv, replace(lists, stereotypes={}), sample, seed, "as-is")
    assert isinstance(base, Relatedness), base
    protected = [word for words in found.values() for word in words]
    groups = np.repeat(np.arange(len(found)), [len(words) for words in found.values()])
    table = placeholder_table(protected, groups, tuple(found), sizes)
    rows = vocabulary.rows(protected)
    return Subjects(
        vocabulary, rows, groups, tuple(found), tuple(sizes), base, table, Distances.read(table, check=False)
    )


def placeholder_table(protected, groups, names, sizes):
    """A table of numbered attribute words."""
    slots = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    rows = []
    for word, group in zip(protected, groups, strict=True):
        kinds = [(names[at], "associated" if at == group else "different") for at in range(len(names))]
        for own, (label, connection) in zip(slots, [*kinds, ("human", "human"), ("neutral", "neutral")], strict=True):
            rows += [(word, names[group], slot_name(slot), label, connection, 1.0) for slot in own]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=columns)


def slot_name(slot):
    return f"{slot:06d}"


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
    free = np.ones(len(subjects.vocabulary.units), dtype=bool)
    free[subjects.rows] = False
    drawn = []
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
    slots = [slot_name(at) for at in range(len(vectors))]
    parts = np.split(np.array(slots), np.cumsum(subjects.sizes)[:-1])
    labels = [*((name, "stereotype") for name in subjects.names), ("human", "control"), ("neutral", "control")]
    entries = tuple(entry for entry in base.lists if entry[1] == "protected")
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


def answer(found: related_model.RelatedPosterior, weights, truth=0.0):
    """Exact moments and tail probabilities: the posterior is a mixture of normals over the factors."""
    mean, covariance = found.moments(weights)
    sums, below = found.sums, []
    for row, value, true in zip(weights, mean, np.broadcast_to(truth, mean.shape), strict=True):
        met = np.unique(sums.kind[row != 0]).tolist()
        by_class = row * (sums.kind == np.arange(len(sums.freedom))[:, None])
        points = related_core.factor_points(found.grid, met)
        spread = np.sqrt(np.einsum("ma,ab,mb->m", points, by_class @ sums.covariance @ by_class.T, points))
        below.append(ndtr((true - value) / spread).mean())
    return Answer(mean, np.sqrt(np.diag(covariance)), np.array(below), found.grid.mean)


def related_answer(data, truth=0.0):
    """What the model of related words says of a table's contrasts."""
    return answer(related_model.related_posterior(SPEC, data), contrast_weights(data), truth)


def rng_for(*parts):
    """A generator for a cell of a study, whichever cells are run."""
    return np.random.default_rng([b for part in parts for b in str(part).encode()])


def rate_row(missed):
    """Rate, its standard error and the number of replicates."""
    missed = np.asarray(missed, dtype=float)
    rate = missed.mean()
    return {"rate": rate, "se": np.sqrt(rate * (1 - rate) / len(missed)), "replicates": len(missed)}


def arguments(description, replicates):
    """Options that all scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a tenth of the replicates")
    parser.add_argument("--replicates", type=int, default=replicates)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="file that keeps the MiniLM vectors")
    parser.add_argument("--embeddings", nargs="+", default=["google news", "minilm"])
    parser.add_argument("--lists", nargs="+", default=list(LISTS))
    return parser


def parsed(parser):
    given = parser.parse_args()
    if given.quick:
        given.replicates = max(10, given.replicates // 10)
    return given


class Parts:
    """Rows of a study by cell, kept as they come in a folder for interrupted runs, and as one file in the end."""

    def __init__(self, name, given):
        self.name = f"{name}_quick" if given.quick else name
        self.folder = Path(os.environ.get("BAYESBIAS_PARTS", RESULTS / "parts")) / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.started = time.time()

    def once(self, cell, make):
        """The rows of a cell, made unless they are there."""
        file = self.folder / ("_".join(str(part).replace(" ", "-").replace("/", "-") for part in cell) + ".csv")
        if file.exists():
            return pd.read_csv(file)
        begun = time.time()
        rows = pd.DataFrame(make())
        rows.to_csv(file, index=False)
        print(f"{time.time() - self.started:7.0f} s", *cell, f"({time.time() - begun:.1f} s)", flush=True)
        if "rate" in rows and len(rows) <= 6:
            print(rows.round(3).to_string(index=False), flush=True)
        return rows

    def collect(self, digits=4):
        """All cells in one file of the results."""
        files = sorted(self.folder.glob("*.csv"))
        table = pd.concat([pd.read_csv(file) for file in files], ignore_index=True).round(digits)
        RESULTS.mkdir(parents=True, exist_ok=True)
        table.to_csv(RESULTS / f"{self.name}.csv", index=False)
        return table
