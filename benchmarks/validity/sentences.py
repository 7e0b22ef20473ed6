"""False positives for words in sentence frames, by how frames are taken.

``--files sentences=FOLDER`` is where the encodings of MiniLM are kept; they are made where it lacks them.

- ``nulls``: two lists of 12 common words (random, or of one topic) as stereotypes of gender's groups and 40 others as
  neutral list; frames as random effect (``fit``), averages over frames, and sentences counted as words;
- ``classic``: SEAT, CEAT and WEAT on the same lists, which find bias where p < .11;
- ``simulated``: tables with the variance components of MiniLM's vectors, in which each frame moves every connection for
  itself and no contrast differs from 0 over frames.
"""

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.distances.distances import averaged
from benchmarks.builders.sentence_vectors import KINDS, drawn_from, encoded
from benchmarks.study import Design, crossed, excludes, main

WORDS, NEUTRAL = 12, 40
CONTRASTS = ("different", "neutral")
METHODS = {
    "frames as random effect": lambda table: (table, "related"),
    "average over frames": lambda table: (averaged(table), "related"),
    "average, words unrelated": lambda table: (averaged(table), "crossed"),
    "sentences as words": lambda table: (sentences_as_words(table), "crossed"),
}
COUNTS, SUBSETS = (1, 4, 8, 16), 5
"""Numbers of frames, and random choices of so many."""
TESTS = {
    "SEAT, permutation of sentences": ("seat", {"p_value": True}),
    "CEAT, combined effect": ("ceat", {}),
    "WEAT of mean cosines, permutation of words": ("weat_effect_size", {"p_value": True}),
    "WEAT of mean cosines, random related lists": ("weat", {"p_value": "related"}),
}
TOTAL = {"sentence": 0.0164, "word": 0.0053}
SHARES = {"sentence": (44, 1.6, 19, 1, 8, 10, 7, 4), "word": (2, 1, 22, 13, 48, 4, 1, 6)}
PARTS = ("frame", "connection", "attribute", "group", "pair", "in frame", "of", "rest")
"""Variance of frame, frame x connection, attribute word, attribute word x group, pair, frame x attribute word, frame x
protected word, and what is left, in percent, for gender's words."""
GROUPS, LISTS, EACH = ("g", "h"), {"g": 12, "h": 13, "neutral": 60}, 7
"""Groups, words of each list, and protected words of each group."""


def sentences_as_words(table):
    """Every attribute word in every frame as a word of its own."""
    words = table["attribute_word"] + " " + table["template"]
    found = table.assign(attribute_word=words).drop(columns="template")
    found.attrs = {}
    return found


def relabelled(table, stereotypes, neutral):
    """The rows of the drawn words, under the connections that they have as pseudo-lists."""
    owner = {word: group for group, words in stereotypes.items() for word in words}
    kept = table[table["attribute_word"].isin([*owner, *neutral])].copy()
    kept.attrs = dict(table.attrs)
    own = kept["attribute_word"].map(owner)
    kept["attribute_class"] = own.fillna("neutral").astype(str)
    same = (own == kept["group"]).to_numpy()
    kept["connection"] = np.where(own.isna(), "neutral", np.where(same, "associated", "different"))
    return kept.astype({"connection": "str"})


def drawn(rng, pool, similar, topical, groups):
    """Stereotypes of each group and neutral words."""
    left, found = list(range(len(pool))), {}
    for group in groups:
        seed = rng.choice(left)
        near = sorted(left, key=lambda at: -similar[seed, at])[:WORDS]
        chosen = near if topical else rng.choice(left, WORDS, replace=False).tolist()
        found[group] = [pool[at] for at in chosen]
        left = [at for at in left if at not in set(chosen)]
    return found, [pool[at] for at in rng.choice(left, NEUTRAL, replace=False)]


def calls_of(table, model, seed):
    """Whether the interval of each contrast excludes 0."""
    post = bb.fit(table, model, draws=1000, seed=seed)
    return {other: bool(excludes(bb.contrasts(post, "associated", other).iloc[0])) for other in CONTRASTS}


def nulls(cell):
    words, count = bb.load_words("gender"), cell["frames"]
    vectors = encoded("gender", cell["vectors"], cell.options.file("sentences")).whole()
    pool, similar = drawn_from(vectors)
    rng = np.random.default_rng(count)
    subsets = SUBSETS if count < len(vectors) else 1
    for _ in range(subsets):
        frames = rng.choice(vectors.templates, count, replace=False)
        # all words of the pool show how words are related
        table = bb.distance_table(
            vectors.of_templates(frames), bb.WordLists("null", words.protected, {}, {"neutral": pool})
        )
        for lists in ("random", "topical"):
            for replicate in range(cell.replicates // subsets):
                one = relabelled(table, *drawn(rng, pool, similar, lists == "topical", words.protected))
                for method, make in METHODS.items():
                    found = calls_of(*make(one), replicate)
                    for other, called in found.items():
                        yield {"lists": lists, "method": method, "contrast": other, "false_positives": called}


def classic(cell):
    words = bb.load_words("gender")
    vectors = encoded("gender", cell["vectors"], cell.options.file("sentences")).whole()
    (pool, similar), means = drawn_from(vectors), vectors.keyed_vectors()
    rng = np.random.default_rng(0)
    for _ in range(cell.replicates):
        attributes, _ = drawn(rng, pool, similar, cell["lists"] == "topical", words.protected)
        query = bb.Query(dict(words.protected), {f"{name} list": held for name, held in attributes.items()})
        for name, (metric, options) in TESTS.items():
            given = vectors if metric in ("seat", "ceat") else means
            yield {"test": name, "false_positives": bb.metric(metric, given, query, **options).p_value < 0.11}


def simulated_table(rng, kind, frames):
    """A table of two groups of protected words, their stereotypes and neutral words, in some frames."""
    sd = {name: np.sqrt(TOTAL[kind] * share / 100) for name, share in zip(PARTS, SHARES[kind], strict=True)}
    people = [f"{group}{at}" for group in GROUPS for at in range(EACH)]
    step = sd["frame"] * rng.standard_normal(frames)
    moved = {name: sd["connection"] * rng.standard_normal(frames) for name in ("associated", *CONTRASTS)}
    of_word = {word: sd["of"] * rng.standard_normal(frames) for word in people}
    rows = []
    for name, count in LISTS.items():
        for at in range(count):
            own, in_frame = sd["attribute"] * rng.standard_normal(), sd["in frame"] * rng.standard_normal(frames)
            group = {one: sd["group"] * rng.standard_normal() for one in GROUPS}
            for word in people:
                connection = name if name == "neutral" else "associated" if word[0] == name else "different"
                distance = 0.8 + own + group[word[0]] + sd["pair"] * rng.standard_normal()
                distance = distance + step + moved[connection] + in_frame + of_word[word]
                distance = distance + sd["rest"] * rng.standard_normal(frames)
                rows.append((word, word[0], f"{name} {at}", name, connection, distance))
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
    table = pd.DataFrame(rows, columns=columns).explode("distance", ignore_index=True).astype({"distance": float})
    return table.assign(template=np.tile([f"f{at}" for at in range(frames)], len(rows)))


def simulated(cell):
    rng = np.random.default_rng(cell["frames"])
    for replicate in range(cell.replicates):
        table = simulated_table(rng, cell["vectors"], cell["frames"])
        first = table[table["template"] == "f0"].drop(columns="template")
        methods = {
            "one frame": first,
            "average over frames": averaged(table),
            "frames as random effect": table,
        }
        for method, given in methods.items():
            for other, called in calls_of(given, "crossed", replicate).items():
                yield {"method": method, "contrast": other, "false_positives": called}


SIMULATED, CLASSIC = crossed(vectors=SHARES, frames=(4, 8, 16)), crossed(vectors=KINDS, lists=("random", "topical"))
DESIGNS = (
    Design("sentences/nulls", crossed(vectors=KINDS, frames=COUNTS), nulls, 150, 3, ("lists", "method", "contrast")),
    Design("sentences/classic", CLASSIC, classic, 200, 3, ["test"]),
    Design("sentences/simulated", SIMULATED, simulated, 200, 3, ("method", "contrast")),
)

if __name__ == "__main__":
    main(*DESIGNS)
