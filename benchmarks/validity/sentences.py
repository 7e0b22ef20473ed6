"""False positives for words in sentence frames, by how frames are taken.

``--files sentences=FOLDER`` is where the encodings of MiniLM are kept; they are made where it lacks them.

- ``nulls``: two lists of 12 common words (random, or of one topic) as stereotypes of gender's groups and 40 others as
  neutral list; frames as random effect (``fit``), averages over frames, and sentences counted as words;
- ``classic``: SEAT, CEAT and WEAT on the same lists, which find bias where p < .11.
"""

import numpy as np

import bayesbias as bb
from bayesbias.distances.dataframe import averaged
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


CLASSIC = crossed(vectors=KINDS, lists=("random", "topical"))
DESIGNS = (
    Design("sentences/nulls", crossed(vectors=KINDS, frames=COUNTS), nulls, 150, 3, ("lists", "method", "contrast")),
    Design("sentences/classic", CLASSIC, classic, 200, 3, ["test"]),
)

if __name__ == "__main__":
    main(*DESIGNS)
