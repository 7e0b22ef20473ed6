"""Rows of single words: associations, raw and partially pooled, under no bias and under a planted one.

The relatedness of the protected words is measured once; each replicate draws its attribute lists. A bias is planted by
moving the distances of cells, which moves the associations by known amounts and leaves their errors as they are.

- ``rows``: how often rows miss the planted associations, by how lists are drawn (``--files 'glove 50d'=FILE``);
- ``signs``: the words whose signs a table names, and how many of them are wrong, for random topics near the protected
  words or far from them, in the bundled vectors and in those that the encoder all-MiniLM-L6-v2 has for whole words
  before its first layer, on which nothing was tuned; tables are measured anew for each replicate.

Lists of nouns and categories need Debian's package wordnet-base.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

import bayesbias as bb
from benchmarks.inside import (
    constants,
    functionals,
    mixtures,
    prior_scale,
    read_distances,
    related_core,
    rows_in,
    unit_rows,
    weights_of,
)
from benchmarks.study import PROB, TAIL, Design, crossed, generator, main
from benchmarks.validity.lists import (
    MOST,
    OTHERS,
    SLICE,
    SPEC,
    around,
    category_lists,
    coherent_topics,
    nouns_of,
    replicate_data,
    subjects_of,
    vocabulary_of,
)

UNEQUAL = {
    "man": ("he", "son", "father"),
    "woman": (
        *("she", "her", "hers", "daughter", "mother", "aunt"),
        *("niece", "wife", "grandmother", "actress", "princess", "sister"),
    ),
}
"""Groups of 3 and 12 words, with the stereotypes of ``gender``."""
WIDE = ("nouns 60", "nouns 70", "nouns 100")
"""More protected words than the 50 dimensions of an embedding."""
KINDS = ("topics", "categories")
MEAN, TAUS = -0.05, (0.03, 0.08)
"""Mean of planted associations, and their sds."""
STRUCTURES = ("independent", "families", "distances", "lists")
"""How planted associations of words are correlated: not at all, as the model's families, as their distances to lists
are; or the associations of other random lists, as a bias of lists is."""
SIGNED = {"google news": ("gender", "religion"), "glove 50d": ("gender", "religion", "nouns 70")}
SIGNED |= {"minilm tokens": ("gender", "religion")}
BUNDLED = {"google news": "google-news-slice", "glove 50d": "glove-50d-slice", "minilm tokens": "minilm tokens"}
MEANS, SDS = (-0.03, -0.06), (0.0, 0.015, 0.03)
"""Mean and standard deviation of planted associations, the latter independent between words."""
RAW_RATE = 0.05
"""Expected share of wrong signs of the rule that names words from rows that are not pooled, whatever the whole list."""


def lists_of(name, vocabulary):
    """Bundled word lists, those with groups of unequal size, or so many random frequent nouns in two groups."""
    if name not in ("unequal", *WIDE):
        return bb.load_words(name)
    gender, protected = bb.load_words("gender"), UNEQUAL
    if name in WIDE:
        taken, size = set(gender.every_word()), int(name.split()[1])
        nouns = [word for word in nouns_of(vocabulary) if word not in taken]
        drawn = generator(name).choice(nouns, size, replace=False).tolist()
        protected = {"man": drawn[: size // 2], "woman": drawn[size // 2 :]}
    return bb.WordLists(name, protected, gender.stereotypes, gender.controls)


@dataclass(frozen=True)
class Associations:
    """What a table says of the associations of its words."""

    raw: object  # their posterior
    weights: np.ndarray  # weights, block and scale are what pooling takes
    block: np.ndarray
    scale: float
    matrix: np.ndarray  # weights (J, J * C) of the cells
    own: np.ndarray  # column of the own list among the lists, (J,)
    cells: object

    def pooled(self, theta=0.0):
        """Pooled rows after a planted bias is added."""
        return rows_in.pooled_over_words(self.raw + theta, self.weights, self.block, self.scale)

    def planted(self, fields):
        """Associations (J,) of a bias that moves the distance of word j to list l by ``fields`` (J, G)."""
        shift = np.zeros(self.cells.n.shape)
        shift[:, self.cells.lists] = fields
        return self.matrix @ shift.ravel()


def associations_of(data):
    """The associations of a table."""
    cells = weights_of.cells_of(data)
    words = np.flatnonzero(cells.associated)
    weights = weights_of.whole_weights(data, cells.associated)
    combine, parts = weights_of.association_weights(cells, words, weights)
    raw = functionals.related_functionals(SPEC, data, cells, parts).combine(combine)
    scale = constants.POOL_SD * prior_scale(data)
    block = rows_in.pooled_blocks(data.group_index[words])
    own = cells.own[words] - cells.connections
    return Associations(raw, weights[words], block, scale, (combine @ parts).tocsr(), own, cells)


def correlations(subjects, structure):
    """Correlation (J, J) of planted fields of protected words, in the order of the table."""
    words = list(subjects.template.protected_words)
    if structure == "independent":
        return np.eye(len(words))
    return subjects.base.families(words) if structure == "families" else subjects.base.similarity_of_distances(words)


def fields(root, own, tau, rng, mean=MEAN):
    """A planted bias (J, G): normal fields of the words, of which own less other lists has the sd tau, and a mean."""
    lists = own.max() + 1
    drawn = root @ rng.standard_normal((len(own), lists)) * tau * np.sqrt((lists - 1) / lists)
    drawn[np.arange(len(own)), own] += mean
    return drawn


def scored(rows, theta):
    """Whether intervals miss (J,), z (J,), sds (J,) and errors (J,)."""
    below = rows.below(theta)
    error = rows.mean - theta
    return np.stack([(below < TAIL) | (below > 1 - TAIL), error / rows.sd, rows.sd, error])


def summary(scores):
    """One row of replicates' scores (replicates, 4, J): the rate with the standard error of dependent rows."""
    missed, z, sd, error = np.moveaxis(np.array(scores), 1, 0)
    by_replicate, by_word = missed.mean(axis=1), missed.mean(axis=0)
    return {
        "missed": missed.mean(),
        "se": by_replicate.std(ddof=1) / np.sqrt(len(missed)),
        "least": by_word.min(),
        "most": by_word.max(),
        "z_sd": np.sqrt((z**2).mean()),
        "sd": sd.mean(),
        "rmse": np.sqrt((error**2).mean()),
        "replicates": len(missed),
    }


def planted_associations(subjects, found, structure, tau, rng):
    """Planted associations (replicates, J); of lists: those of the next replicate, scaled to the sd tau, and a mean."""
    if structure == "none":
        return np.zeros((len(found), len(found[0].own)))
    if structure == "lists":
        apart = np.array([each.raw.mean - each.weights @ each.raw.mean for each in found])
        return MEAN + tau / np.sqrt((apart**2).mean()) * np.roll(apart, -1, axis=0)
    root = unit_rows(related_core.root_of(correlations(subjects, structure)))
    return np.array([each.planted(fields(root, each.own, tau, rng)) for each in found])


def rows(cell):
    vectors, rng, kind = vocabulary_of(cell, {"google news": SLICE}), cell.generator(), cell["lists"]
    lists = lists_of(cell["words"], vectors)
    # lists as long as the given ones, one word in each control list
    given = [vectors.held(lists.stereotypes[group]) for group in lists.protected]
    given += [vectors.held(lists.controls[name])[:1] for name in OTHERS[:2]]
    subjects = subjects_of(vectors, lists, [len(words) for words in given])
    if kind == "topics":
        drawn = coherent_topics(subjects, [vectors.rows(words) for words in given], cell.replicates, rng)
    else:
        drawn = category_lists(subjects, cell.replicates, rng)
    found = [associations_of(replicate_data(subjects, listed)) for listed in drawn]
    for structure, tau in [("none", 0.0), *product(STRUCTURES, TAUS)]:
        scores = {"raw": [], "pooled": [], "whole list": []}
        planted = planted_associations(subjects, found, structure, tau, rng)
        for each, theta in zip(found, planted, strict=True):
            moved = each.raw + theta
            scores["raw"].append(scored(moved, theta))
            scores["pooled"].append(scored(each.pooled(theta), theta))
            scores["whole list"].append(scored(moved.combine(each.weights), each.weights @ theta))
        for which, values in scores.items():
            yield {"structure": structure, "tau": tau, "rows": which, **summary(values)}


def topics_near(vocabulary, lists, place, rng):
    """Word lists whose stereotypes are random topics, as long as the given ones, from seeds near or far.

    Seeds are as near to the protected words as the middle half of the real stereotypes, or the farthest third.
    """
    given = [vocabulary.held(words) for words in lists.stereotypes.values()]
    protected = [word for words in lists.protected.values() for word in vocabulary.held(words)]
    near = vocabulary.units @ vocabulary.units[vocabulary.rows(protected)].mean(axis=0)
    words, taken = vocabulary.words[:MOST], {*protected}
    free = np.array([word.isalpha() and len(word) > 2 and word not in taken for word in words])
    within = np.quantile(near[: len(words)][free], [0, 1 / 3])
    if place == "near":
        within = np.quantile(near[vocabulary.rows([word for listed in given for word in listed])], [0.25, 0.75])
    seeds = np.flatnonzero(free & (near[: len(words)] >= within[0]) & (near[: len(words)] <= within[1]))
    drawn = []
    for listed in given:
        topic = around(vocabulary.units[: len(words)], rng.choice(seeds[free[seeds]]), len(listed), free, rng)
        free[topic] = False
        drawn.append([words[row] for row in topic])
    order = rng.permutation(len(drawn)) if len({len(topic) for topic in drawn}) == 1 else range(len(drawn))
    stereotypes = dict(zip(lists.stereotypes, (drawn[at] for at in order), strict=True))
    used = {word for topic in drawn for word in topic}
    controls = {
        name: [next(word for word in vocabulary.held(words) if word not in used)]
        for name, words in lists.controls.items()
    }
    return bb.WordLists(f"{lists.name}, {place} topics", lists.protected, stereotypes, controls)


def named_signs(given, theta):
    """Signs (2, J) that are named: from pooled rows as the package does, and from rows as they are."""
    moved, pooled = given.raw + theta, given.pooled(theta)
    whole = moved.combine(given.weights)
    found = rows_in.Rows(whole, pooled, pooled, weights_of.RAW, whole)
    below = moved.below(0.0)
    named = mixtures.s_values(mixtures.false_sign_rates(below)) < RAW_RATE
    return np.stack([found.clear_signs(PROB), np.where(named, np.where(below > 0.5, -1, 1), 0)])


def signs(cell):
    vectors, rng = vocabulary_of(cell, BUNDLED), cell.generator()
    lists = lists_of(cell["lists"], vectors)
    for _ in range(cell.replicates):
        data = read_distances(bb.distance_table(vectors.kv, topics_near(vectors, lists, cell["topics"], rng)))
        given = associations_of(data)
        error = float(given.raw.combine(given.weights).sd[0])
        for mean, sd in [(0.0, 0.0), *product(MEANS, SDS)]:
            theta = given.planted(fields(np.eye(len(given.own)), given.own, sd, rng, mean))
            for rule, named in zip(("pooled", "raw"), named_signs(given, theta), strict=True):
                called, wrong = named != 0, (named != 0) & (named != np.sign(theta))
                row = {"mean": mean, "sd": sd, "rule": rule, "words": len(theta), "tables": called.any()}
                yield row | {"named": called.sum(), "wrong": wrong.sum(), "error": error}


WORDS = ("gender", "religion", "race", "unequal")
MEASURED = crossed(embedding=["google news"], words=WORDS, lists=KINDS)
MEASURED += crossed(embedding=["glove 50d"], words=(*WORDS, "nouns 60", "nouns 100"), lists=KINDS)
TOPICS = [
    cell for name, lists in SIGNED.items() for cell in crossed(embedding=[name], lists=lists, topics=("near", "far"))
]
NAMED = {"by": ("mean", "sd", "rule", "words"), "how": {"shares": {"wrong": "named"}}}
DESIGNS = (
    Design("related/rows", MEASURED, rows, 200),
    Design("related/signs", TOPICS, signs, 200, **NAMED),
)

if __name__ == "__main__":
    main(*DESIGNS)
