"""False positives of changes for related words: random topics as stereotypes, before and after, or in two embeddings.

The topics of a replicate are drawn alike, so that associations and contrasts are 0 in expectation, before, after and in
their change. A topic is a random part of the neighbours of a random word; no word of it defines the direction that hard
debiasing removes. ``change`` is the model that takes words for unrelated. ``--files glove_6b_50d=FILE`` takes vectors
whose first 20,000 words are used.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances import Relatedness
from benchmarks.inside import (
    Distances,
    cell_fields,
    joint_relatedness,
    measured_relatedness,
    near_weights,
    sides,
    stacked_tables,
    unit_rows,
    weights_of,
)
from benchmarks.study import PROB, TAIL, Design, crossed, excludes, main

WORDS, CONTROLS, NEAREST, FIRST = 12, 20, 4, 20_000
"""Words of a topic and of the controls; neighbours for each of them; words of a file."""
SETS = [
    ("judaism", "christianity", "islam"),
    ("jew", "christian", "muslim"),
    ("synagogue", "church", "mosque"),
    ("torah", "bible", "quran"),
    ("rabbi", "priest", "imam"),
]
QUANTITIES = {
    "association": ("associated", "different", None),
    "difference": ("associated", "different", "difference"),
    "associated - human": ("associated", "human", None),
}
FIGURES = ["quantity", "side", "rows", "rate", "z2", "sd", "called"]


@dataclass(frozen=True)
class Setting:
    """Protected words in two embeddings, and the words that topics are drawn from."""

    groups: dict  # protected word to its group
    related: Relatedness  # of the protected words in both embeddings
    units: tuple  # unit vectors (words, dimensions) of the embeddings
    joined: np.ndarray  # vectors (words, dimensions of all) whose products are mean similarities; debiased do not count
    words: list
    protected: np.ndarray  # rows of these words, of those that topics are drawn from, and of the sample
    free: np.ndarray
    sampled: np.ndarray

    @property
    def nearness(self):
        """How near each word is to the protected words, (words,), mean over the embeddings."""
        return np.mean([own @ own[self.protected].mean(axis=0) for own in self.units], axis=0)


def embeddings_of(cell):
    """Two embeddings, and the sets of words that define what debiasing removes."""
    first, _, other = cell["vectors"].partition(" and ")
    if first == "google news":
        kv = bb.load_embedding("google-news-slice")
    else:
        whole = bb.load_embedding(cell.options.file(first))
        kv = bb.load_embedding({word: whole[word] for word in whole.index_to_key[:FIRST]})
    if other:
        both = kv, bb.load_embedding(other)
        words = [word for word in kv.index_to_key if all(word in each for each in both)]
        return [bb.load_embedding({word: each[word] for word in words}) for each in both], []
    if cell["words"] == "gender":
        sets = list(bb.load_list("gender_pairs").pairs)
        return [kv, bb.debias(kv, "hard", definitional=sets, equalize=sets)], sets
    return [kv, bb.debias(kv, "hard_multiclass", definitional=SETS)], SETS


def setting_of(cell):
    both, sets = embeddings_of(cell)
    lists, words = bb.load_words(cell["words"]), both[0].index_to_key
    groups = {word: group for group, listed in lists.protected.items() for word in listed if word in both[0]}
    # a sample of the whole vocabulary, the same in both embeddings: random topics may lie anywhere in it
    every = replace(lists, stereotypes={}, controls={**lists.controls, **lists.stereotypes})
    each = [measured_relatedness(one, every, 3000, 0) for one in both]
    place = {word: at for at, word in enumerate(words)}
    taken = set(groups).union(*sets)
    units = tuple(unit_rows(np.asarray(one.vectors, dtype=float)) for one in both)
    related = joint_relatedness(each, [list(groups)] * 2)
    sampled = np.array([place[word] for word in related.sample_words])
    apart = [unit_rows(own - own[sampled].mean(axis=0)) for own in (units[:1] if sets else units)]
    joined = np.hstack(apart) / np.sqrt(len(apart))
    protected = np.array([place[word] for word in groups])
    free = np.array([at for word, at in place.items() if word not in taken])
    related = replace(related, centre=np.zeros(joined.shape[1]))
    return Setting(groups, related, units, joined, words, protected, free, sampled)


def draw_topics(setting, rng):
    """Rows of the words of each group's topic, and of one of controls."""
    used, topics = set(), []
    for size in (*[WORDS] * len(set(setting.groups.values())), CONTROLS):
        centre = setting.units[0][rng.choice(setting.free)]
        near = setting.free[np.argsort(-setting.units[0][setting.free] @ centre)[: NEAREST * size]]
        topics.append(rng.choice([row for row in near if row not in used], size, replace=False))
        used |= set(topics[-1].tolist())
    return topics


def pairs_of(setting, topics):
    """The pairs of some topics, their distances (pairs, embeddings), and the rows of the attribute words."""
    names = [*dict.fromkeys(setting.groups.values()), "human"]
    rows, lists = np.concatenate(topics), np.repeat(names, [len(topic) for topic in topics])
    table = pd.DataFrame(
        {
            "protected_word": np.repeat(list(setting.groups), len(rows)),
            "group": np.repeat(list(setting.groups.values()), len(rows)),
            "attribute_word": np.tile([setting.words[row] for row in rows], len(setting.groups)),
            "attribute_class": np.tile(lists, len(setting.groups)),
        }
    )
    own = table["attribute_class"] == table["group"]
    connection = np.select([own, table["attribute_class"] == "human"], ["associated", "human"], "different")
    distances = np.column_stack([1 - (units[setting.protected] @ units[rows].T).ravel() for units in setting.units])
    return table.assign(connection=connection), distances, rows


def posterior_of(setting, topics):
    """The pairs of some topics, and the law of the cells of both embeddings."""
    table, distances, rows = pairs_of(setting, topics)
    one = Distances.read(table.assign(distance=distances[:, 0]), check=False)
    near = near_weights(setting.nearness[setting.sampled], [setting.nearness[topic] for topic in topics[:-1]])
    given = {"attribute_words": tuple(setting.words[row] for row in rows), "lists": ()}
    vectors = {"attributes": setting.joined[rows].astype(np.float16), "near": near.astype(np.float32)}
    every = stacked_tables(
        [replace(one, y=column) for column in distances.T], replace(setting.related, **given, **vectors)
    )
    return one, distances, cell_fields(bb.load_model("related"), every, weights_of.cells_of(every))


def parts_of(quantity, side, away, z2, sd, called):
    """Two rows: the whole list, and the mean over words."""
    for kind, part in (("whole list", slice(1)), ("words", slice(1, None))):
        means = (np.mean(values[part]) for values in (away, z2, sd, called))
        yield dict(zip(FIGURES, (quantity, side, kind, *means), strict=True))


def with_relatedness(setting, rng):
    """Rows of each quantity and side: whether 0 is excluded, the square of z, and whether a change is called."""
    one, distances, law = posterior_of(setting, draw_topics(setting, rng))
    cells = weights_of.cells_of(one)
    known = sides.known_changes(one, cells, distances[:, 1] - distances[:, 0])
    for quantity, asked in QUANTITIES.items():
        sums = weights_of.row_sums(one, cells, *asked)
        observed = [sums.observed(weights_of.cells_of(replace(one, y=column))) for column in distances.T]
        before, change = sides.related_sides(law, sums, (0, 1), known)
        both = sides.BeforeAfter(before, before + change, *observed, sums.kind)
        called = (both.p_shrank >= 1 - TAIL) | (1 - both.p_shrank >= 1 - TAIL)
        for name in ("before", "after", "change"):
            found = getattr(both, name)
            z = np.divide(found.mean, found.sd, out=np.zeros(len(found)), where=found.sd > 1e-7)
            yield from parts_of(quantity, name, found.excludes(0.0, PROB), z**2, found.sd, called)


def unrelated(setting, rng):
    """The same of the model of changes, which takes words for unrelated: changes only."""
    table, distances, _ = pairs_of(setting, draw_topics(setting, rng))
    before, after = (table.assign(distance=column) for column in distances.T)
    result = bb.compare(before=before, after=after, model="change", draws=1000, seed=0)
    for quantity, (first, second, kind) in QUANTITIES.items():
        found = result.sides(first, second, rows=kind).change.summary(PROB)
        z2, none = (found["mean"] / found["sd"]) ** 2, np.full(len(found), np.nan)
        yield from parts_of(quantity, "change", excludes(found), z2, found["sd"], none)


def changes_related(cell):
    setting, rng = setting_of(cell), np.random.default_rng(0)
    one = with_relatedness if cell["model"] == "related" else unrelated
    table = pd.DataFrame([row for _ in range(cell.replicates) for row in one(setting, rng)])
    for labels, part in table.groupby(FIGURES[:3], sort=False):
        row = dict(zip(FIGURES[:3], labels, strict=True)) | {"rate": part["rate"].mean(), "se": part["rate"].sem()}
        row |= {"z_sd": np.sqrt(part["z2"].mean()), "sd": part["sd"].mean(), "called": part["called"].mean()}
        yield row | {"replicates": cell.replicates}


VECTORS = ("google news", "glove_6b_50d", "google news and glove-50d-slice")
CELLS = crossed(vectors=VECTORS, words=("gender", "religion"), model=["related"])
CELLS += crossed(vectors=VECTORS, words=["gender"], model=["change"])

if __name__ == "__main__":
    main(Design("calibration/changes_related", CELLS, changes_related, 200))
