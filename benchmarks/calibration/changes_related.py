"""False positives of changes for related words: random topics as stereotypes, before and after hard debiasing.

    python benchmarks/calibration/changes_related.py gender                        # the bundled Google News vectors
    python benchmarks/calibration/changes_related.py gender --other glove-50d-slice  # two unlike embeddings
    python benchmarks/calibration/changes_related.py religion --vectors GLOVE.npz  # others: their first 20,000 words
    python benchmarks/calibration/changes_related.py gender --model change         # words taken for unrelated
    python benchmarks/calibration/changes_related.py collect                       # results/changes_related.csv

The topics of a replicate are drawn alike, so that associations and contrasts are 0 in expectation, before, after and in
their change. 89% intervals should exclude 0 in 11%. A topic is a random part of the neighbours of a random word; no
word of it defines the direction that is removed. About two minutes each on one core.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.comparison.sides import Sides, fixed_values, known_changes, related_sides
from bayesbias.distances import Relatedness
from bayesbias.distances.distances import Distances, stacked_tables
from bayesbias.distances.vocabularies import joint_relatedness
from bayesbias.models.functionals import cell_fields
from bayesbias.models.weights import cells_of, row_sums

sys.path.insert(0, str(Path(__file__).parents[1]))
from inside import measured_relatedness, near_weights

HERE = Path(__file__).parent / "results"
WORDS, CONTROLS, NEAREST, FIRST = 12, 20, 4, 20_000
PROB, CALLED = 0.89, 0.945
SETS = [
    ("judaism", "christianity", "islam"),
    ("jew", "christian", "muslim"),
    ("synagogue", "church", "mosque"),
    ("torah", "bible", "quran"),
    ("rabbi", "priest", "imam"),
]
SAME = 1e-7
QUANTITIES = {
    "association": ("associated", "different", None),
    "difference": ("associated", "different", "difference"),
    "associated - human": ("associated", "human", None),
}


@dataclass(frozen=True)
class Setting:
    """Protected words in two embeddings, and the words that topics are drawn from.

    Attributes
    ----------
    groups
        Protected word to its group.
    related
        Relatedness of the protected words in both embeddings.
    units
        Unit vectors (words, dimensions) of the embeddings.
    joined
        Vectors (words, dimensions of all) whose products are mean similarities; debiased copies do not count.
    words, protected, free, sampled
        All words, and the rows of the protected ones, of those that topics are drawn from, and of the sample.
    """

    groups: dict
    related: Relatedness
    units: tuple
    joined: np.ndarray
    words: list
    protected: np.ndarray
    free: np.ndarray
    sampled: np.ndarray

    @property
    def nearness(self):
        """How near each word is to the protected words, (words,), mean over the embeddings."""
        return np.mean([own @ own[self.protected].mean(axis=0) for own in self.units], axis=0)


def setting_of(topic, vectors, other):
    kv = bb.load_embedding("google-news-slice") if vectors is None else first_words(vectors)
    if other is not None:
        sets = []
        kv, after = common(kv, bb.load_embedding(other))
    elif topic == "gender":
        sets = list(bb.load_list("gender_pairs").pairs)
        after = bb.debias(kv, "hard", definitional=sets, equalize=sets)
    else:
        sets = SETS
        after = bb.debias(kv, "hard_multiclass", sets=sets)
    lists = bb.load_words(topic)
    groups = {word: group for group, listed in lists.protected.items() for word in listed if word in kv}
    # a sample of the whole vocabulary, the same in both embeddings: random topics may lie anywhere in it
    every = replace(lists, stereotypes={}, controls={**lists.controls, **lists.stereotypes})
    each = [measured_relatedness(one, every, 3000, 0, "as-is") for one in (kv, after)]
    assert each[0].sample_words == each[1].sample_words
    words = kv.index_to_key
    place = {word: at for at, word in enumerate(words)}
    taken = set(groups).union(*sets)
    units = tuple(units_of(one) for one in (kv, after))
    related = joint_relatedness(each, [list(groups)] * 2)
    sampled = np.array([place[word] for word in related.sample_words])
    apart = [own - own[sampled].mean(axis=0) for own in (units[:1] if other is None else units)]
    joined = np.hstack([own / np.linalg.norm(own, axis=1, keepdims=True) for own in apart]) / np.sqrt(len(apart))
    return Setting(
        groups,
        replace(related, centre=np.zeros(joined.shape[1])),
        units,
        joined,
        words,
        np.array([place[word] for word in groups]),
        np.array([at for word, at in place.items() if word not in taken]),
        sampled,
    )


def common(*embeddings):
    """The words that all embeddings hold, in the order of the first."""
    words = [word for word in embeddings[0].index_to_key if all(word in kv.key_to_index for kv in embeddings)]
    return [bb.load_embedding({word: kv[word] for word in words}) for kv in embeddings]


def units_of(kv):
    vectors = np.asarray(kv.vectors, dtype=float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def first_words(path):
    """The first words of an .npz file with ``words`` and ``vectors``."""
    with np.load(path) as file:
        return bb.load_embedding(dict(zip(file["words"][:FIRST].tolist(), file["vectors"][:FIRST], strict=True)))


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
    words = [setting.words[row] for row in rows]
    one = Distances.read(table.assign(distance=distances[:, 0]), check=False)
    vectors = setting.joined[rows].astype(np.float16)
    near = near_weights(setting.nearness[setting.sampled], [setting.nearness[topic] for topic in topics[:-1]])
    given = {"attribute_words": tuple(words), "attributes": vectors, "lists": (), "near": near.astype(np.float32)}
    related = replace(setting.related, **given)
    every = stacked_tables([replace(one, y=column) for column in distances.T], related)
    return one, distances, cell_fields(bb.load_model("related"), every, cells_of(every))


def replicate(setting, rng):
    """One row a quantity, side and kind of row: the share that excludes 0, and the mean square of z."""
    one, distances, law = posterior_of(setting, draw_topics(setting, rng))
    cells = cells_of(one)
    known = known_changes(one, cells, fixed_values(one, distances[:, 1] - distances[:, 0]))
    rows = []
    for quantity, asked in QUANTITIES.items():
        sums = row_sums(one, cells, *asked)
        observed = [sums.observed(cells_of(replace(one, y=column))) for column in distances.T]
        before, change = related_sides(law, sums, (0, 1), known)
        sides = Sides(before, before + change, *observed, sums.kind)
        called = (sides.p_shrank >= CALLED) | (1 - sides.p_shrank >= CALLED)
        for name in ("before", "after", "change"):
            found = getattr(sides, name)
            away = found.excludes(0.0, PROB)
            z2 = np.divide(found.mean, found.sd, out=np.zeros(len(found)), where=found.sd > SAME) ** 2
            for kind, part in (("whole list", slice(1)), ("words", slice(1, None))):
                figures = (away[part].mean(), z2[part].mean(), found.sd[part].mean(), called[part].mean())
                rows.append((quantity, name, kind, *figures))
    return rows


def unrelated(setting, rng):
    """The same of the model of changes, which takes words for unrelated: changes only."""
    table, distances, _ = pairs_of(setting, draw_topics(setting, rng))
    before, after = (table.assign(distance=column) for column in distances.T)
    result = bb.compare(before=before, after=after, model="change", draws=1000, seed=0)
    rows = []
    for quantity, (first, second, kind) in QUANTITIES.items():
        found = result.contrasts(first, second, PROB, rows=kind)
        away = (found["low"] > 0) | (found["high"] < 0)
        z2 = (found["mean"] / found["sd"]) ** 2
        for name, part in (("whole list", slice(1)), ("words", slice(1, None))):
            rows.append(
                (quantity, "change", name, away[part].mean(), z2[part].mean(), found["sd"][part].mean(), np.nan)
            )
    return rows


def study(topic, vectors, other, model, replicates):
    """Shares of intervals that exclude 0 with their standard errors, sds of z, and mean sds."""
    setting, rng = setting_of(topic, vectors, other), np.random.default_rng(0)
    one = replicate if model == "related" else unrelated
    rows = [row for _ in range(replicates) for row in one(setting, rng)]
    table = pd.DataFrame(rows, columns=["quantity", "side", "rows", "rate", "z2", "sd", "called"])
    by = table.groupby(["quantity", "side", "rows"], sort=False)
    found = by.agg(
        rate=("rate", "mean"), se=("rate", "sem"), z_sd=("z2", "mean"), sd=("sd", "mean"), called=("called", "mean")
    )
    found["z_sd"] = np.sqrt(found["z_sd"])
    name = "google news" if vectors is None else Path(vectors).stem
    name = name if other is None else f"{name} and {other}"
    return found.reset_index().assign(vectors=name, words=topic, model=model, replicates=replicates).round(4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topic", choices=["gender", "religion", "collect"])
    parser.add_argument("--vectors", help="an .npz file with words and vectors")
    parser.add_argument("--other", help="another embedding, in place of a debiased one")
    parser.add_argument("--model", choices=["related", "change"], default="related")
    parser.add_argument("--replicates", type=int, default=200)
    given = parser.parse_args()
    folder = HERE / "parts"
    if given.topic == "collect":
        table = pd.concat([pd.read_csv(part) for part in sorted(folder.glob("changes_*_*.csv"))])
        table.to_csv(HERE / "changes_related.csv", index=False)
        print(table.to_string(index=False))
        return
    folder.mkdir(parents=True, exist_ok=True)
    table = study(given.topic, given.vectors, given.other, given.model, given.replicates)
    name = f"changes_{given.model}_{given.topic}_{table['vectors'].iloc[0].replace(' ', '_')}.csv"
    table.to_csv(folder / name, index=False)


if __name__ == "__main__":
    main()
