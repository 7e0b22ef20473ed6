"""False positives and coverage of contrasts of a word in documents, whose errors are between speakers.

Words, speakers and attribute lists are drawn anew in each replicate: two random topics, or nothing where speakers are
simulated. 89% intervals should leave the truth out in 11%. The addresses are those on the State of the Union, on which
the constants of the estimator were chosen; the speeches, of 156 members of Congress, come with 500 vectors, from which
the lists are drawn too.

- ``shuffled``: values, differences and slopes where speakers get labels, or numbers, at random;
- ``planted``: the vectors of one group differ, or years are real, and lists have nothing to do with it;
- ``association``: of two groups of two words the same as ``shuffled`` and ``planted`` (in the vectors of one group of
  words), and two halves of the speakers answer the same question;
- ``simulated``: speakers with Student's tails, of unlike spread, or whose effect goes with how much they say.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
from formulaic import model_matrix
from gensim.models import KeyedVectors
from scipy.linalg import helmert
from scipy.stats import t as student
from scipy.stats import zscore

import bayesbias as bb
from benchmarks.inside import (
    LEAST,
    ListWords,
    UnitMeans,
    bias_reduced,
    documents,
    groups_core,
    lower_case,
    regression,
    related_core,
    unit_rows,
)
from benchmarks.study import SHARED, TAIL, Design, crossed, holds, main
from benchmarks.validity.lists import Vocabulary, topic

TOPIC = 8
"""Words of a list."""
GROUPS, MEMBERS = 2, 2
"""Groups of words of an association, and the words of each."""
TARGETS, SPEAKERS, LETTERS, OCCURRENCES = 500, 33, 4, 2000
"""Target words of a corpus at most, speakers who use each, its letters, and how often it occurs at most."""
SPLITS = ("4:4", "2:6", "1:7", "8:8", "2:14", "16:17", "8:25", "3:30")
SLOPES = ("slope of 8", "slope of 16", "slope of 33")
"""Numbers of speakers in two groups, or with a number each."""
PLANTED = {"groups": 0.5, "slope": 0.25}
"""Vector by which groups differ, or that a standard deviation adds, in lengths of the target's mean vector."""
DIFFERENCE = np.array([0.0, 1.0])
"""Weights of the intercept and of the other term."""
WAYS = {
    "given words": ("given", "weighted"),
    "similar words": ("similar", "weighted"),
    "given words, equal": ("given", "equal"),
    "similar words, equal": ("similar", "equal"),
}
TAU, SPREAD_OF_NUMBERS = 0.3, (2.5, 1.3)
"""Simulated speakers: sd between them where it is 1 within, and mean and sd of the logarithm of their instances."""
WORLDS = {
    "normal": {},
    "Student t3": {"tails": 3},
    "spread 1.6": {"spread": 1.6},
    "spread 3": {"spread": 3.0},
    "effect by instances": {"talk": 1.0},
}


def file_of(name):
    """A file of documents."""
    file = SHARED / "documents" / name
    if not file.exists():
        raise SystemExit(f"no documents {file}: set BAYESBIAS_SHARED, or leave the corpus out with --only")
    return file


@dataclass(frozen=True, eq=False)
class Corpus:
    """Vectors of many words in documents of known speakers."""

    sample: bb.VectorSample
    numbers: np.ndarray  # a covariate of each unit
    vocabulary: Vocabulary
    base: ListWords  # what other lists change is the lists alone
    speakers: Mapping[str, np.ndarray]  # who uses each word

    @classmethod
    def of(cls, table, number, transform, kv, speaker):
        held, counts = defaultdict(set), Counter()
        for text, name in zip(table["text"], table[speaker], strict=True):
            words = lower_case(text)
            counts.update(words)
            for word in set(words):
                held[word].add(name)
        targets = sorted(
            word
            for word, names in held.items()
            if len(names) >= SPEAKERS and len(word) >= LETTERS and word in kv and counts[word] <= OCCURRENCES
        )
        if len(targets) > TARGETS:
            targets = sorted(np.random.default_rng(0).choice(targets, TARGETS, replace=False).tolist())
        sample = bb.instances(table, targets, kv, transform=transform, clusters=speaker)
        vocabulary = Vocabulary(speaker, sample.kv, unit_rows(sample.kv.vectors).astype(float))
        some = sample.kv.index_to_key[: 2 * TOPIC]
        base = ListWords.of(sample.kv, [some[:TOPIC], some[TOPIC:]], np.array([[-1.0, 1.0]]))
        speakers = {word: np.unique(sample.cluster[sample.vectors[word].n > 0]) for word in sample.targets}
        return cls(sample, sample.units[number].to_numpy(dtype=float), vocabulary, base, speakers)

    def lists(self, targets, rng, signs=None):
        """Two random topics without the targets, by default of a contrast."""
        signs = self.base.signs if signs is None else signs
        free, vectors = np.ones(len(self.vocabulary.units), dtype=bool), []
        free[self.vocabulary.rows(targets)] = False
        for _ in range(2):
            words = topic(self.vocabulary, TOPIC, free, rng)
            free[words] = False
            vectors.append(self.vocabulary.units[words])
        member = np.repeat(np.eye(2), TOPIC, axis=1) > 0
        directions = unit_rows(np.concatenate(vectors) - self.base.units.mean(axis=0))
        same, shares = related_core.pair_shares(member, directions)
        means = np.stack([each.mean(axis=0) for each in vectors])
        return replace(self.base, signs=signs, direction=signs[0] @ means, same=same, shares=shares)

    def direction(self, rng):
        """The direction from one random word to another (d,)."""
        first, second = self.vocabulary.units[rng.choice(len(self.vocabulary.units), 2, replace=False)]
        return (first - second) / np.linalg.norm(first - second)

    def units(self, target, speakers):
        """Rows of the units in which speakers use a word, and the place of each unit's speaker."""
        rows = np.flatnonzero((self.sample.vectors[target].n > 0) & np.isin(self.sample.cluster, speakers))
        return rows, np.searchsorted(np.sort(speakers), self.sample.cluster[rows])

    def draw(self, size, rng):
        """A word and so many of its speakers, whose mean vector has a length."""
        while True:
            target = str(rng.choice(self.sample.targets))
            if len(self.speakers[target]) < size:
                continue
            rows, place = self.units(target, rng.choice(self.speakers[target], size, replace=False))
            vectors = self.sample.vectors[target].at(rows)
            if np.isfinite(vectors.grouped(place, size).length(np.arange(size))):
                return target, rows, place, vectors

    def draw_groups(self, size, rng):
        """Words of groups, and rows of the units of so many speakers who use some of each group."""
        while True:
            words = rng.choice(self.sample.targets, GROUPS * MEMBERS, replace=False).tolist()
            using = [
                set(np.concatenate([self.speakers[word] for word in words[at : at + MEMBERS]]))
                for at in range(0, len(words), MEMBERS)
            ]
            both = sorted(set.intersection(*using))
            if len(both) >= size:
                some = np.sort(rng.choice(both, size, replace=False))
                used = np.any([self.sample.vectors[word].n > 0 for word in words], axis=0)
                rows = np.flatnonzero(used & np.isin(self.sample.cluster, some))
                return words, rows, np.searchsorted(some, self.sample.cluster[rows])


@cache
def corpus_of(name):
    """The State of the Union addresses in a bundled embedding, or conText's speeches with its vectors."""
    if name == "addresses":
        kv = bb.load_embedding("glove-50d-slice")
        return Corpus.of(pd.read_parquet(file_of("addresses.parquet")), "year", None, kv, "president")
    held = np.load(file_of("vectors.npz"))
    kv = KeyedVectors(held["vectors"].shape[1])
    kv.add_vectors(held["words"].tolist(), held["vectors"].astype(np.float32))
    table = pd.read_parquet(file_of("speeches.parquet"))[["docname_", "nominate_dim1", "text"]]
    table["speaker"] = table["nominate_dim1"].astype(str)
    return Corpus.of(table, "nominate_dim1", held["transform"], kv, "speaker")


def design_of(vectors, x):
    """The rows of a regression on terms x (R, p), each a speaker."""
    terms = pd.DataFrame(x, columns=[f"x{at}" for at in range(x.shape[1])])
    matrix = model_matrix("0 + " + " + ".join(terms), terms)
    own = np.arange(len(x))
    return groups_core.Design(terms, matrix, matrix.model_spec, vectors, own, (), {}, {}, (), "speaker")


def terms_of(labels, numbers, rng):
    """Terms (speakers, 2) of labels at random, and the weights of these in values and in the difference."""
    if labels.startswith(("slope", "year")):
        own = rng.permutation(numbers) if labels.startswith("slope") else numbers
        return np.column_stack([np.ones(len(own)), zscore(own)]), {"value": [[1, 0]], "difference": [[0, 1]]}
    group = rng.permutation(len(numbers)) < int(labels.split(":")[0])
    return np.column_stack([np.ones(len(group)), group]), {"value": [[1, 0], [1, 1]], "difference": [[0, 1]]}


def size_of(labels):
    """Number of speakers."""
    return int(labels.split()[-1]) if " " in labels else sum(map(int, labels.split(":")))


def answer(design, attributes):
    """What the package says of the terms of a design."""
    length = design.vectors.length(design.cluster)
    fitted, of_words = documents._fitted(design, attributes, length)
    asked = {"index": pd.DataFrame({"name": design.terms}), "weights": np.eye(len(design.terms)), "rests": None}
    found = {"fitted": fitted, "of_words": of_words, "length": length, "centre": None, "notes": ()}
    asked |= {"target": "", "by": None, "ends": ("a", "b"), "design": design, "attributes": attributes}
    return documents.CovariateContrast(**asked, **found)


def missed(found, questions, truth=0.0):
    """Rows of whether intervals leave the truth out: of several values the share."""
    weights = np.concatenate([np.array(rows, dtype=float) for rows in questions.values()])
    names = np.repeat(list(questions), [len(rows) for rows in questions.values()])
    for way, (words, speakers) in WAYS.items():
        below = found.estimates(words, speakers).combine(weights).below(truth)
        out = (below < TAIL) | (below > 1 - TAIL)
        yield from ({"quantity": name, "method": way, "missed": out[names == name].mean()} for name in questions)


def of_instances(n, total, x, cluster):
    """p-value of the last term of all instances, by least squares and CR1 of clusters."""
    inverse = np.linalg.inv(x.T @ (n[:, None] * x))
    slopes = inverse @ (x.T @ total)
    clusters, size = cluster.max() + 1, n.sum()
    scores = np.zeros((clusters, x.shape[1]))
    np.add.at(scores, cluster, x * (total - n * (x @ slopes))[:, None])
    factor = clusters / (clusters - 1) * (size - 1) / (size - x.shape[1])
    sd = np.sqrt(factor * ((scores @ inverse[-1]) ** 2).sum())
    return 2 * student.sf(abs(slopes[-1]) / sd, clusters - 1)


def rivals(found, vectors, place, direction):
    """The same of the difference by other methods, for these words."""
    y, x = found.design.vectors.mean @ direction, found.design.x
    n, total = vectors.n, vectors.total @ direction
    p_values = {
        "Welch": bias_reduced(y, np.ones(len(y)), x, DIFFERENCE)[1],
        "CR2 of speakers": bias_reduced(y, 1 / found.fitted.weighting.spread, x, DIFFERENCE)[1],
        "CR1 of speakers": of_instances(n, total, x[place], place),
        "CR1 of documents": of_instances(n, total, x[place], np.arange(len(place))),
    }
    for method, p in p_values.items():
        yield {"quantity": "difference", "method": method, "missed": float(p < 2 * TAIL) if p == p else np.nan}


def shuffled(cell, planted=False):
    corpus, labels, rng = corpus_of(cell["corpus"]), cell["labels"], cell.generator()
    size = size_of(labels)
    for _ in range(cell.replicates):
        target, rows, place, vectors = corpus.draw(size, rng)
        x, questions = terms_of(labels, np.bincount(place, corpus.numbers[rows]) / np.bincount(place), rng)
        if planted and not labels.startswith("year"):
            amount = PLANTED["slope" if labels in SLOPES else "groups"]
            shift = amount * vectors.grouped(place, size).length(np.arange(size)) * corpus.direction(rng)
            vectors = replace(vectors, total=vectors.total + (vectors.n * x[place, 1])[:, None] * shift)
        design = design_of(vectors.grouped(place, size), x)
        if np.isfinite(design.vectors.length(design.cluster)):
            attributes = corpus.lists([target], rng)
            found = answer(design, attributes)
            yield from missed(found, questions)
            yield from rivals(found, vectors, place, attributes.direction)


def joined_groups(words, sums, x):
    """The rows of the regression of an association; None where these speakers cannot answer."""
    groups = {str(at): tuple(words[at : at + MEMBERS]) for at in range(0, len(words), MEMBERS)}
    try:
        vectors, kept, _ = groups_core.joined(groups, sums, np.arange(len(x)), "speaker")
    except bb.InputError:
        return None
    x = x[kept]
    return design_of(vectors, x) if len(x) >= LEAST and np.ptp(x[:, 1]) > 0 else None


def association(cell):
    corpus, labels, rng, signs = corpus_of(cell["corpus"]), cell["labels"], cell.generator(), -helmert(GROUPS)
    size, done = size_of(labels), 0
    while done < cell.replicates:
        words, rows, place = corpus.draw_groups(size, rng)
        x, questions = terms_of(labels, np.bincount(place, corpus.numbers[rows]) / np.bincount(place), rng)
        sums = [corpus.sample.vectors[word].at(rows).grouped(place, size) for word in words]
        if cell["study"] == "planted":
            amount, way = PLANTED["slope" if labels in SLOPES else "groups"], corpus.direction(rng)
            for at in range(MEMBERS):
                used = np.flatnonzero(sums[at].n > 0)
                length = sums[at].at(used).length(np.arange(len(used)))
                shift = np.outer(sums[at].n * x[:, 1], amount * np.nan_to_num(length) * way)
                sums[at] = replace(sums[at], total=sums[at].total + shift)
        parts = np.split(rng.permutation(size), 2) if cell["study"] == "halves" else [np.arange(size)]
        designs = [joined_groups(words, [each.at(part) for each in sums], x[part]) for part in parts]
        if any(each is None for each in designs):
            continue
        done += 1
        attributes = corpus.lists(words, rng, signs)
        found = [answer(each, attributes) for each in designs]
        if cell["study"] != "halves":
            yield from missed(found[0], questions)
            continue
        sides = [each.estimates("given").draws(2000, int(rng.integers(2**31))) for each in found]
        for name, held in zip(questions, holds(sides[0] - sides[1], 0.0), strict=True):
            yield {"quantity": name, "method": "given words", "missed": not held}


def simulated(cell):
    """Whether intervals hold a difference of 0 between simulated groups of speakers."""
    rng, world = cell.generator(), {"tails": 0, "spread": 1.0, "talk": 0.0} | WORLDS[cell["world"]]
    size = size_of(cell["labels"])
    for _ in range(cell.replicates):
        x, _ = terms_of(cell["labels"], np.zeros(size), rng)
        logs = rng.normal(*SPREAD_OF_NUMBERS, size)
        variances = 1 / np.clip(np.exp(logs), 1, 600).round()
        noise = rng.standard_normal(size)
        if world["tails"]:
            noise = rng.standard_t(world["tails"], size) / np.sqrt(world["tails"] / (world["tails"] - 2))
        effect = TAU * np.where(x[:, 1] > 0, world["spread"], 1.0) * noise
        effect += world["talk"] * TAU * (logs - SPREAD_OF_NUMBERS[0]) / SPREAD_OF_NUMBERS[1] * x[:, 1]
        y = effect + np.sqrt(variances) * rng.standard_normal(size)
        found = regression(y, UnitMeans(variances, x, np.arange(size)), x[:, 1:] - 0.5)
        for speakers, law in (("weighted", found.law), ("equal", found.equal)):
            whole = bb.Estimates.of(law, 2)[1]
            below = whole.below(0.0)[0]
            yield {"speakers": speakers, "held": TAIL <= below <= 1 - TAIL, "sd": whole.sd[0]}
        yield {
            "speakers": "Welch",
            "held": not bias_reduced(y, np.ones(size), x, DIFFERENCE)[1] < 2 * TAIL,
            "sd": np.nan,
        }


BOTH = ("addresses", "speeches")
RATES = {"by": ("quantity", "method"), "how": {"se": "missed"}}
HELD = {"se": "held"}
DESIGNS = (
    Design("documents/shuffled", crossed(corpus=BOTH, labels=SPLITS + SLOPES), shuffled, 200, **RATES),
    Design(
        "documents/planted",
        crossed(corpus=BOTH, labels=("2:6", "8:8", "3:30", *SLOPES[1:]))
        + crossed(corpus=("addresses",), labels=("year of 16", "year of 33")),
        partial(shuffled, planted=True),
        200,
        **RATES,
    ),
    Design(
        "documents/association",
        crossed(corpus=("addresses",), study=("shuffled", "planted"), labels=("8:8", "3:30", SLOPES[-1]))
        + crossed(corpus=("addresses",), study=("halves",), labels=("year of 32",)),
        association,
        200,
        **RATES,
    ),
    Design(
        "documents/simulated",
        crossed(world=WORLDS, labels=("2:6", "2:14", "3:30")),
        simulated,
        500,
        by=("speakers",),
        how=HELD,
    ),
)

if __name__ == "__main__":
    main(*DESIGNS)
