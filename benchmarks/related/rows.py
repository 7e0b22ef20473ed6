"""Rows of single words: associations, raw and partially pooled, under no bias and under a planted one.

    python benchmarks/related/rows.py --glove glove.bin
    python benchmarks/related/rows.py --signs --replicates 100

The relatedness of the protected words is measured once; each replicate draws its attribute lists. A bias is planted by
moving the distances of cells, which moves the associations by known amounts and leaves their errors as they are.

``--signs`` counts the words whose signs a table names, and how many of them are wrong, for random topics that are near
to the protected words or far from them. It takes the bundled vectors of Google News and of GloVe, and those that the
encoder all-MiniLM-L6-v2 has for whole words before its first layer, on which nothing was tuned; tables are measured
anew for each replicate. It needs Debian's package wordnet-base for the nouns.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from lists import MOST, alike_lists, around, category_lists, nouns_of, random_lists, topics
from minilm import token_vectors
from nulls import (
    PROB,
    SHARED,
    SPEC,
    Parts,
    Vocabulary,
    arguments,
    associations,
    functionals,
    mixtures,
    parsed,
    prior_scale,
    read_distances,
    replicate_data,
    rng_for,
    subjects_of,
    unit_rows,
    weights_of,
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
WIDE = ("nouns 40", "nouns 50", "nouns 60", "nouns 70", "nouns 100")
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
    weights, block, scale
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
    block: np.ndarray
    scale: float
    matrix: np.ndarray
    own: np.ndarray
    cells: object

    def moved(self, theta):
        """The raw associations after a planted bias (J,) is added."""
        return self.raw + theta

    def pooled(self, theta=0.0, scale=1.0):
        """Pooled rows after a planted bias is added, with a multiple of the prior's scale."""
        return associations.pooled_over_words(self.moved(theta), self.weights, self.block, scale * self.scale)

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
    scale = associations.POOL_SD * prior_scale(data)
    matrix = (combine @ parts).tocsr()
    block = associations.pooled_blocks(data.group_index[words])
    return Associations(raw, weights[words], block, scale, matrix, cells.own[words] - cells.connections, cells)


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
        scores["whole list"].append(scored(moved.combine(each.weights), each.weights @ theta))
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


PLACES = ("near", "far")
"""Seeds of topics: as near to the protected words as the middle half of the real stereotypes, or the farthest third."""
SIGNED = {"google news": ("gender", "religion"), "glove 50d": ("gender", "religion", "nouns 70")}
SIGNED |= {"minilm tokens": ("gender", "religion")}
MEANS, SDS = (-0.03, -0.06), (0.0, 0.015, 0.03)
"""Mean and standard deviation of planted associations, the latter independent between words."""
RAW_RATE = 0.05
"""Expected share of wrong signs of the rule that names words from rows that are not pooled, whatever the whole list."""


def sign_vocabularies():
    """The bundled vectors, and the input vectors of whole words of an encoder."""
    bundled = {"google news": "google-news-slice", "glove 50d": "glove-50d-slice"}
    found = {name: bb.load_embedding(file) for name, file in bundled.items()} | {"minilm tokens": token_vectors()}
    for name, kv in found.items():
        yield Vocabulary(name, kv, unit_rows(kv.vectors).astype(np.float32))


def nearness(vocabulary, words):
    """Mean cosine (V,) of every word to some words."""
    return vocabulary.units @ vocabulary.units[vocabulary.rows(words)].mean(axis=0)


def topics_near(vocabulary, lists, place, rng):
    """Word lists whose stereotypes are random topics, as long as the given ones, from seeds near or far."""
    given = [[word for word in words if word in vocabulary.kv] for words in lists.stereotypes.values()]
    protected = [word for words in lists.protected.values() for word in words if word in vocabulary.kv]
    near = nearness(vocabulary, protected)
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
        name: [next(word for word in words if word in vocabulary.kv and word not in used)]
        for name, words in lists.controls.items()
    }
    return bb.WordLists(f"{lists.name}, {place} topics", lists.protected, stereotypes, controls)


def named_signs(given, theta):
    """Signs (2, J) that are named: from pooled rows as the package does, and from rows as they are."""
    moved, pooled = given.moved(theta), given.pooled(theta)
    whole = moved.combine(given.weights)
    rows = associations.Rows(whole, pooled, pooled, associations.POOLED, whole)
    below = moved.below(0.0)
    named = mixtures.s_values(mixtures.false_sign_rates(below)) < RAW_RATE
    return np.stack([rows.clear_signs(PROB), np.where(named, np.where(below > 0.5, -1, 1), 0)])


def sign_study(vocabulary, lists, cell, replicates, rng):
    """Named signs of random topics, without a bias and with a planted one."""
    biases, counted = [(0.0, 0.0), *product(MEANS, SDS)], {}
    for _ in range(replicates):
        data = read_distances(bb.distance_table(vocabulary.kv, topics_near(vocabulary, lists, cell["topics"], rng)))
        given = associations_of(data)
        error = float(given.raw.combine(given.weights).sd[0])
        for mean, sd in biases:
            theta = given.planted(fields(np.eye(len(given.own)), given.own, sd, rng, mean))
            signs = named_signs(given, theta)
            wrong = (signs != 0) & (signs != np.sign(theta))
            counted.setdefault((mean, sd), []).append([signs != 0, wrong, np.full_like(signs, error, dtype=float)])
    for (mean, sd), values in counted.items():
        named, wrong, error = np.moveaxis(np.array(values, dtype=float), 1, 0)  # (replicates, rules, J)
        for rule, place in (("pooled", 0), ("raw", 1)):
            total = named[:, place].sum()
            yield {
                **cell,
                "mean": mean,
                "sd": sd,
                "rule": rule,
                "tables": named[:, place].any(axis=1).mean(),
                "named": total / replicates,
                "wrong": wrong[:, place].sum() / total if total else np.nan,
                "error": error.mean(),
                "words": named.shape[2],
                "replicates": replicates,
            }


def signs(given):
    """The study of signs in all embeddings."""
    parts = Parts("signs", given)
    for vocabulary in sign_vocabularies():
        for name, place in product(SIGNED[vocabulary.name], PLACES):
            lists = lists_of(name, vocabulary)
            cell = {"embedding": vocabulary.name, "lists": name, "topics": place}
            make = partial(sign_study, vocabulary, lists, cell, given.replicates, rng_for(given.seed, *cell.values()))
            parts.once(tuple(cell.values()), make)
    table = parts.collect()
    index = ["embedding", "lists", "mean", "sd", "topics"]
    with pd.option_context("display.width", 200, "display.max_rows", None):
        print(table.pivot_table(index=index, columns="rule", values=["tables", "named", "wrong"]).round(3))


def main():
    parser = arguments(__doc__, 200)
    parser.add_argument("--signs", action="store_true", help="the study of signs")
    parser.add_argument("--glove", help="file of GloVe 6B 50d in a format that load_embedding reads")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.set_defaults(lists=list(LISTS), embeddings=["google news", "glove 50d"])
    given = parsed(parser)
    if given.signs:
        signs(given)
        return
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
