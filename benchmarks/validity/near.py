"""False positives of 89% intervals for random topics that lie as near to the protected words as stereotypes, or not.

Protected words are real, stereotype lists random topics of the same region, dealt to the groups at random, so that
associated - different is 0 in expectation. Everything goes through the public functions, the sample of the vocabulary
included. A topic is a random word of a region and the words nearest to it. Nominal: 11%.

- ``near_regions``: near, nearest, middle and far topics;
- ``near_sizes``: by the number of words beside those of the lists;
- ``near_planted``: planted truths that intervals miss: deviations of protected words around 0, for further words, and a
  bias of -.03 whose size varies between stereotypes (``--files 'spacy 300d=PATH'``);
- ``near_debiasing``: changes by the bundled methods.
"""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np

import bayesbias as bb
from benchmarks.inside import Fit, law_of_rows, related_core, rows_in
from benchmarks.study import PROB, Design, crossed, excludes, main
from benchmarks.validity.lists import vocabulary, vocabulary_of

REGIONS = {"near": None, "nearest": (0.97, 1.0), "middle": (0.4, 0.6), "far": (0.0, 0.25)}
"""Shares of the vocabulary, by nearness; near topics begin in the middle half of the real stereotypes' words."""
EMBEDDINGS = {"google news": "google-news-slice", "glove 50d": "glove-50d-slice", "minilm": "minilm"}
"""The bundled vectors, and MiniLM's of the words of the shared slice, on which nothing was tuned."""
LISTS = ("gender", "religion", "race")
SIZES = (30, 100, 300, 1000, 3000)
PAIRS = bb.load_list("gender_pairs").pairs
SIDES = {"male": [pair[0] for pair in PAIRS], "female": [pair[1] for pair in PAIRS]}
METHODS = {
    **{key: {"definitional": PAIRS} for key in ("hard", "soft", "project", "half_sibling")},
    "hard_multiclass": {"definitional": PAIRS},
    **{key: {"definitional": SIDES} for key in ("leace", "null_space")},
}


PLANTS = {"words": (0, 0.02, 0.04, 0.08), "stereotypes": (0, 0.02, 0.04)}
"""Standard deviations of what is planted."""
BIAS = -0.03


class Place:
    """Protected words and the words of an embedding by how near they are to these."""

    def __init__(self, vocabulary, lists):
        self.kv, self.units, self.lists = vocabulary.kv, vocabulary.units, lists
        self.protected = {group: vocabulary.held(words) for group, words in lists.protected.items()}
        self.sizes = [len(vocabulary.held(lists.stereotypes[group])) for group in self.protected]
        own = [word for words in self.protected.values() for word in words]
        self.nearness = self.units @ self.units[vocabulary.rows(own)].mean(axis=0)
        self.free = np.ones(len(self.units), dtype=bool)
        self.free[vocabulary.rows(vocabulary.held(lists.every_word()))] = False
        self.real = vocabulary.rows([w for words in lists.stereotypes.values() for w in vocabulary.held(words)])

    def region(self, name):
        """Which words a topic of the region may begin with."""
        if name == "near":
            low, high = np.quantile(self.nearness[self.real], [0.25, 0.75])
        else:
            low, high = np.quantile(self.nearness[self.free], REGIONS[name])
        return self.free & (self.nearness >= low) & (self.nearness <= high)

    def topics(self, region, rng):
        """Word lists with random topics of a region in place of the stereotypes."""
        free, drawn = self.free.copy(), {}
        for at in rng.permutation(len(self.sizes)):
            seed = rng.choice(np.flatnonzero(region & free))
            cosines = np.where(free, self.units @ self.units[seed], -9)
            drawn[at] = np.argsort(-cosines)[: self.sizes[at]]
            free[drawn[at]] = False
        stereotypes = {
            group: [self.kv.index_to_key[row] for row in drawn[at]] for at, group in enumerate(self.protected)
        }
        return bb.WordLists("random topics", self.protected, stereotypes)


@cache
def place_of(vocabulary, lists):
    return Place(vocabulary, bb.load_words(lists))


def measured(kv, lists):
    """What associated - different says of a replicate, and the share of rows whose interval excludes 0."""
    with warnings.catch_warnings(action="ignore"):
        post = bb.fit(bb.distance_table(kv, lists), "related", seed=0, draws=100)
        rows = law_of_rows(post, "association").summary(PROB)
    missed = excludes(rows)
    return figures_of(rows.iloc[0]) | {"rows": missed.iloc[1:].mean()}


def figures_of(row):
    """Whether an interval excludes 0, its estimate in sds, and its sd."""
    return {"rate": excludes(row), "z_sd": row["mean"] / row["sd"], "sd": row["sd"]}


def regions(cell):
    place, rng = place_of(vocabulary_of(cell, EMBEDDINGS), cell["lists"]), cell.generator()
    inside = place.region(cell["region"])
    return [measured(place.kv, place.topics(inside, rng)) for _ in range(cell.replicates)]


def sizes(cell):
    place, rng = place_of(vocabulary_of(cell, EMBEDDINGS), cell["lists"]), cell.generator()
    inside = place.region(cell["region"])
    drawn = [place.topics(inside, rng) for _ in range(cell.replicates)]
    return [measured(some_of(place.kv, each, cell["size"], rng), each) for each in drawn]


def planted(cell):
    place, rng = place_of(vocabulary_of(cell, EMBEDDINGS), cell["lists"]), cell.generator()
    inside = place.region("near")
    for _ in range(cell.replicates):
        with warnings.catch_warnings(action="ignore"):
            table = bb.distance_table(place.kv, place.topics(inside, rng))
            fitted = Fit.read(bb.fit(table, "related", seed=0, draws=100))
            for what, sds in PLANTS.items():
                for sd in sds:
                    yield {"planted": what, "by": sd} | planted_in(fitted, what, sd, rng)


def planted_in(fitted, what, sd, rng):
    """Whether the interval of a truth that is planted in the observed distances of a fit misses it."""
    data, of_words = fitted.data, what == "words"
    place = data.word if of_words else data.attribute
    shift = sd * rng.standard_normal(place.max() + 1)
    if of_words:  # similar words have similar bias
        shift = related_core.root_of(data.relatedness.families(data.protected_words.tolist())) @ shift
    truth = 0 if of_words else BIAS
    moved = np.where(data.connections[data.connection] == "associated", shift[place] + truth, 0.0)
    planted = Fit(fitted.tree)
    vars(planted)["data"] = replace(data, y=data.y + moved)  # a table must have the distances of its vectors
    whole = rows_in.rows_of(planted, "associated", "different", "population" if of_words else "sample").whole
    return {"rate": whole.excludes(truth, PROB)[0], "sd": whole.sd[0]}


def some_of(kv, lists, size, rng):
    """An embedding of the lists' words and of some others, any of the vocabulary."""
    listed = set(lists.every_word())
    others = [word for word in kv.index_to_key if word not in listed]
    some = rng.choice(len(others), min(size, len(others)), replace=False)
    return bb.load_embedding({word: kv[word] for word in [*listed, *(others[at] for at in some)]})


def debiasing(cell):
    name = "google news"
    place, rng = place_of(vocabulary(name, EMBEDDINGS[name]), cell["lists"]), cell.generator()
    kv = place.kv
    after, inside = bb.debias(kv, cell["method"], **METHODS[cell["method"]]), place.region(cell["region"])
    for _ in range(cell.replicates):
        with warnings.catch_warnings(action="ignore"):
            tables = bb.distance_tables({"before": kv, "after": after}, place.topics(inside, rng))
            change = bb.compare(**tables, seed=0).changes().iloc[0]
        yield figures_of(change) | {"rows": np.nan}


PLACES = {"embedding": EMBEDDINGS, "lists": LISTS, "region": REGIONS}
RATES = {"by": (), "how": {"se": "rate", "z_sd": lambda z: z.std(ddof=0)}}
DESIGNS = (
    Design("related/near_regions", crossed(**PLACES), regions, 200, **RATES),
    Design("related/near_sizes", crossed(**PLACES, size=SIZES), sizes, 200, **RATES),
    Design(
        "related/near_planted",
        crossed(embedding=("google news", "glove 50d", "spacy 300d"), lists=LISTS),
        planted,
        150,
        by=("planted", "by"),
        how={"se": "rate"},
    ),
    Design("related/near_debiasing", crossed(lists=LISTS, method=METHODS, region=REGIONS), debiasing, 200, **RATES),
)

if __name__ == "__main__":
    main(*DESIGNS)
