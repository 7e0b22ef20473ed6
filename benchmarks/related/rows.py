"""Rows of single words: associations, raw and partially pooled, under no bias and under a planted one.

    python benchmarks/related/rows.py null --glove glove.bin
    python benchmarks/related/rows.py planted --glove glove.bin

The relatedness of the protected words is measured once; each replicate draws its attribute lists. A bias is planted by
moving the distances of cells, which moves the associations by known amounts and leaves their errors as they are.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from lists import alike_lists, category_lists, nouns_of, random_lists, topics
from nulls import (
    PROB,
    SHARED,
    SPEC,
    Parts,
    Vocabulary,
    arguments,
    associations,
    functionals,
    parsed,
    replicate_data,
    rng_for,
    subjects_of,
    unit_rows,
)

import bayesbias as bb

TAIL = (1 - PROB) / 2
LISTS = ("gender", "religion", "race", "unequal")
UNEQUAL = {
    "man": ("he", "son", "father"),
    "woman": (
        *("she", "her", "hers", "daughter", "mother", "aunt"),
        *("niece", "wife", "grandmother", "actress", "princess", "sister"),
    ),
}
"""Groups of 3 and 12 words, with the stereotypes of ``gender``."""
WIDE = ("nouns 40", "nouns 50", "nouns 60", "nouns 100")
"""As many protected words as the 50 dimensions of an embedding, or nearly, or more."""
ALIKE = (0.2, 0.4, 0.6, 0.8)
KINDS = ("random", "topics", "categories", *(f"alike {cosine}" for cosine in ALIKE))
MEAN = -0.05
"""Mean of planted associations."""
TAUS = (0.03, 0.08)
STRUCTURES = ("independent", "families", "distances", "lists")
"""How planted associations of words are correlated: not at all, as the model's families, as their distances to lists
are; or the associations of other random lists, as a bias of lists is."""


def vocabularies(given):
    """Google News vectors of the shared slice and, where a file is given, GloVe's."""
    files = {"google news": SHARED / "embeddings" / "google_news_slice.bin"}
    if given.glove:
        files["glove 50d"] = given.glove
    for name, file in files.items():
        if name in given.embeddings:
            kv = bb.load_embedding(file)
            yield Vocabulary(name, kv, unit_rows(kv.vectors).astype(np.float32))


def lists_of(name, vocabulary):
    """Bundled word lists, those with groups of unequal size, or so many random frequent nouns in two groups."""
    if name not in ("unequal", *WIDE):
        return bb.load_words(name)
    gender = bb.load_words("gender")
    protected = UNEQUAL
    if name in WIDE:
        taken = set(gender.every_word())
        nouns = [word for word in nouns_of(vocabulary) if word not in taken]
        size = int(name.split()[1])
        drawn = rng_for(name).choice(nouns, size, replace=False).tolist()
        protected = {"man": drawn[: size // 2], "woman": drawn[size // 2 :]}
    return bb.WordLists(name, protected, gender.stereotypes, gender.controls)


def subjects_for(vocabulary, lists):
    """Protected words with lists as long as theirs, one word in each control list; rows of the words that are given."""
    kv = vocabulary.kv
    parts = [[word for word in lists.stereotypes[group] if word in kv] for group in lists.protected]
    parts += [[word for word in lists.controls[name] if word in kv][:1] for name in ("human", "neutral")]
    subjects = subjects_of(vocabulary, lists, tuple(map(len, parts)))
    return subjects, [vocabulary.rows(words) for words in parts]


def drawn_lists(subjects, given, kind, replicates, rng):
    """Lists of each replicate, and the mean cosine of the lists' means where it was asked for."""
    if kind == "random":
        return random_lists(subjects, replicates, rng), np.nan
    if kind == "topics":
        return topics(subjects, given, replicates, rng), np.nan
    if kind == "categories":
        return category_lists(subjects, replicates, rng), np.nan
    return alike_lists(subjects, float(kind.split()[1]), replicates, rng)


@dataclass(frozen=True)
class Associations:
    """What a table says of the associations of its words.

    Attributes
    ----------
    raw
        Their posterior.
    weights, groups, scale
        What pooling takes.
    matrix
        Weights (J, J * C) of the cells.
    own
        Column of the own list among the lists, (J,).
    cells
        The cells.
    """

    raw: object
    weights: np.ndarray
    groups: np.ndarray
    scale: float
    matrix: np.ndarray
    own: np.ndarray
    cells: object

    def moved(self, theta):
        """The raw associations after a planted bias (J,) is added."""
        return associations.NormalFunctionals(self.raw.mean + theta, self.raw.roots, self.raw.classes, self.raw.grid)

    def pooled(self, theta=0.0, scale=1.0):
        """Pooled rows after a planted bias is added, with a multiple of the prior's scale."""
        return associations._pooled_associations(self.moved(theta), self.weights, self.groups, scale * self.scale)

    def planted(self, fields):
        """Associations (J,) of a bias that moves the distance of word j to list l by ``fields`` (J, G)."""
        shift = np.zeros(self.cells.n.shape)
        shift[:, self.cells.lists] = fields
        return self.matrix @ shift.ravel()


def associations_of(data):
    """The associations of a table."""
    cells = functionals.cells_of(data)
    words = np.flatnonzero(cells.associated)
    weights = functionals.whole_weights(data, cells.associated)
    combine, parts = functionals.association_weights(cells, words, weights)
    raw = functionals.related_functionals(SPEC, data, cells, parts).combined(combine)
    scale = associations.POOL_SD * associations.distance_sd(data)
    matrix = (combine @ parts).tocsr()
    return Associations(
        raw, weights[words], data.group_index[words], scale, matrix, cells.own[words] - cells.connections, cells
    )


def correlations(subjects, structure):
    """Correlation (J, J) of planted fields of protected words, in the order of the table."""
    words = list(subjects.template.protected_words)
    if structure == "independent":
        return np.eye(len(words))
    if structure == "families":
        return subjects.base.families(words)
    return subjects.base.similarity_of_distances(words)


def fields(root, own, tau, rng, mean=MEAN):
    """A planted bias (J, G): normal fields of the words, of which own less other lists has the sd tau, and a mean."""
    lists = own.max() + 1
    drawn = root @ rng.standard_normal((len(own), lists)) * tau * np.sqrt((lists - 1) / lists)
    drawn[np.arange(len(own)), own] += mean
    return drawn


def root_of(correlation):
    """A root of a correlation matrix whose negative eigenvalues are 0, rows of length 1."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return root / np.linalg.norm(root, axis=1, keepdims=True)


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


def of_other_lists(found, tau):
    """Planted associations (replicates, J): those of the next replicate, scaled to the sd tau, and a mean."""
    apart = np.array([each.raw.mean - each.weights @ each.raw.mean for each in found])
    return MEAN + tau / np.sqrt((apart**2).mean()) * np.roll(apart, -1, axis=0)


def planted_associations(subjects, found, structure, tau, rng):
    """Planted associations (replicates, J)."""
    if structure == "none":
        return np.zeros((len(found), len(found[0].own)))
    if structure == "lists":
        return of_other_lists(found, tau)
    root = root_of(correlations(subjects, structure))
    return np.array([each.planted(fields(root, each.own, tau, rng)) for each in found])


def cell_rows(found, cell, planted):
    """Raw, pooled and whole-list rows of replicates under planted associations (replicates, J)."""
    scores = {"raw": [], "pooled": [], "whole list": []}
    for each, theta in zip(found, planted, strict=True):
        moved = each.moved(theta)
        scores["raw"].append(scored(moved, theta))
        scores["pooled"].append(scored(each.pooled(theta), theta))
        scores["whole list"].append(scored(moved.combined(each.weights[None]), each.weights @ theta))
    return [{**cell, "rows": kind, **summary(values)} for kind, values in scores.items()]


def study(subjects, given_lists, cell, replicates, rng):
    """All replicates of a cell: under the null, and for topics and categories with a planted bias."""
    drawn, cosine = drawn_lists(subjects, given_lists, cell["lists"], replicates, rng)
    found = [associations_of(replicate_data(subjects, lists)) for lists in drawn]
    biases = [("none", 0.0)]
    if cell["lists"] in ("topics", "categories"):
        biases += [(structure, tau) for structure in STRUCTURES for tau in TAUS]
    rows = []
    for structure, tau in biases:
        planted = planted_associations(subjects, found, structure, tau, rng)
        rows += cell_rows(found, {**cell, "cosine": cosine, "structure": structure, "tau": tau}, planted)
    return rows


def main():
    parser = arguments(__doc__, 200)
    parser.add_argument("--glove", help="file of GloVe 6B 50d in a format that load_embedding reads")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.set_defaults(lists=list(LISTS), embeddings=["google news", "glove 50d"])
    given = parsed(parser)
    parts = Parts("rows", given)
    for vocabulary in vocabularies(given):
        for name in given.lists:
            subjects, given_lists = subjects_for(vocabulary, lists_of(name, vocabulary))
            for kind in given.kinds:
                cell = {"embedding": vocabulary.name, "words": name, "lists": kind}
                rng = rng_for(given.seed, *cell.values())
                make = partial(study, subjects, given_lists, cell, given.replicates, rng)
                parts.once(tuple(cell.values()), make)
    table = parts.collect()
    index = ["embedding", "words", "lists", "structure", "tau"]
    with pd.option_context("display.width", 200, "display.max_rows", None):
        print(table.pivot_table(index=index, columns="rows", values=["missed", "z_sd", "sd"]).round(3))


if __name__ == "__main__":
    main()
