"""False positives of 89% intervals for random topics that lie as near to the protected words as stereotypes, or not.

    python benchmarks/related/near.py regions                   # near, nearest, middle and far topics, some 30 minutes
    python benchmarks/related/near.py sizes                     # by the number of words beside those of the lists
    python benchmarks/related/near.py debiasing                 # changes by the bundled methods
    python benchmarks/related/near.py categories --wordnet DIR  # lists of WordNet: hyponyms of one word

Protected words are real, stereotype lists random topics of the same region, dealt to the groups at random, so that
associated - different is 0 in expectation. Everything goes through the public functions, the sample of the vocabulary
included. A topic is a random word of a region and the words nearest to it. Nominal: 11%.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from nulls import SHARED, Parts, arguments, minilm, parsed, rate_row, rng_for, unit_rows

import bayesbias as bb

REGIONS = {"near": None, "nearest": (0.97, 1.0), "middle": (0.4, 0.6), "far": (0.0, 0.25)}
"""Shares of the vocabulary, by nearness; near topics begin in the middle half of the real stereotypes' words."""
EMBEDDINGS = ("google news", "glove 50d", "minilm")
SIZES = (30, 100, 300, 1000, 3000)
PAIRS = bb.load_list("gender_pairs").pairs
SIDES = {"male": [pair[0] for pair in PAIRS], "female": [pair[1] for pair in PAIRS]}
METHODS = {
    **{key: {"definitional": PAIRS} for key in ("hard", "soft", "project", "half_sibling")},
    "hard_multiclass": {"sets": PAIRS},
    **{key: {"groups": SIDES} for key in ("leace", "null_space")},
}


def embedding(name, cache):
    """The bundled vectors, or MiniLM's of the words of the shared slice, on which nothing was tuned."""
    if name == "minilm":
        words = bb.load_embedding(SHARED / "embeddings" / "google_news_slice.bin").index_to_key
        return minilm(words, cache=cache)
    return bb.load_embedding({"google news": "google-news-slice", "glove 50d": "glove-50d-slice"}[name])


class Place:
    """Protected words and the words of an embedding by how near they are to these."""

    def __init__(self, kv, lists):
        self.kv, self.lists = kv, lists
        self.protected = {group: [w for w in words if w in kv] for group, words in lists.protected.items()}
        self.sizes = [sum(w in kv for w in lists.stereotypes[group]) for group in self.protected]
        self.units = unit_rows(kv.vectors).astype(np.float32)
        own = [w for words in self.protected.values() for w in words]
        self.nearness = self.units @ self.units[[kv.key_to_index[w] for w in own]].mean(axis=0)
        self.free = np.ones(len(self.units), dtype=bool)
        self.free[[kv.key_to_index[w] for w in lists.every_word() if w in kv]] = False

    def region(self, name):
        """Which words a topic of the region may begin with."""
        if name == "near":
            real = [w for words in self.lists.stereotypes.values() for w in words if w in self.kv]
            low, high = np.quantile(self.nearness[[self.kv.key_to_index[w] for w in real]], [0.25, 0.75])
        else:
            low, high = np.quantile(self.nearness[self.free], REGIONS[name])
        return self.free & (self.nearness >= low) & (self.nearness <= high)

    def topics(self, region, rng):
        """Word lists with random topics of a region in place of the stereotypes."""
        free, stereotypes = self.free.copy(), {}
        order = rng.permutation(len(self.sizes))
        drawn = {}
        for at in order:
            seed = rng.choice(np.flatnonzero(region & free))
            cosines = np.where(free, self.units @ self.units[seed], -9)
            drawn[at] = np.argsort(-cosines)[: self.sizes[at]]
            free[drawn[at]] = False
        for at, group in enumerate(self.protected):
            stereotypes[group] = [self.kv.index_to_key[row] for row in drawn[at]]
        return bb.WordLists("random topics", self.protected, stereotypes)


def measured(kv, lists):
    """Estimate and sd of associated - different, whether its interval excludes 0, and the share of rows that do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        post = bb.fit(bb.distance_table(kv, lists), "related", seed=0, draws=100)
        rows = bb.contrasts(post, rows="association")
    missed = (rows["low"] > 0) | (rows["high"] < 0)
    return rows["mean"].iloc[0], rows["sd"].iloc[0], missed.iloc[0], missed.iloc[1:].mean()


def rates(results):
    """Rates over replicates."""
    mean, sd, missed, rows = map(np.array, zip(*results, strict=True))
    return {**rate_row(missed), "z_sd": (mean / sd).std(), "sd": sd.mean(), "rows": rows.mean()}


def places(given):
    """Embedding, place and beginnings of topics of each cell that is asked for, with its labels."""
    for name in given.embeddings:
        kv = embedding(name, given.cache)
        for lists in given.lists:
            place = Place(kv, bb.load_words(lists))
            for region in given.regions:
                yield {"embedding": name, "lists": lists, "region": region}, kv, place, place.region(region)


def regions(given, parts):
    for cell, kv, place, inside in places(given):
        rng = rng_for(given.seed, *cell.values())

        def make(cell=cell, rng=rng, inside=inside, place=place, kv=kv):
            found = [measured(kv, place.topics(inside, rng)) for _ in range(given.replicates)]
            return [{**cell, **rates(found)}]

        parts.once(("regions", *cell.values()), make)


def sizes(given, parts):
    for labels, kv, place, inside in places(given):
        for size in SIZES:
            cell = {**labels, "size": size}
            rng = rng_for(given.seed, *cell.values())

            def make(cell=cell, rng=rng, inside=inside, place=place, kv=kv, size=size):
                drawn = [place.topics(inside, rng) for _ in range(given.replicates)]
                return [{**cell, **rates([measured(some_of(kv, each, size, rng), each) for each in drawn])}]

            parts.once(("sizes", *cell.values()), make)


def some_of(kv, lists, size, rng):
    """An embedding of the lists' words and of some others, any of the vocabulary."""
    listed = set(lists.every_word())
    others = [word for word in kv.index_to_key if word not in listed]
    some = rng.choice(len(others), min(size, len(others)), replace=False)
    return bb.load_embedding({word: kv[word] for word in [*listed, *(others[at] for at in some)]})


def debiasing(given, parts):
    kv = embedding("google news", given.cache)
    for lists in given.lists:
        place = Place(kv, bb.load_words(lists))
        for method, options in METHODS.items():
            after = bb.debias(kv, method, **options)
            for region in given.regions:
                cell = {"lists": lists, "method": method, "region": region}
                rng, inside = rng_for(given.seed, *cell.values()), place.region(region)

                def make(cell=cell, rng=rng, inside=inside, place=place, after=after):
                    found = []
                    for _ in range(given.replicates):
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            tables = bb.distance_tables({"before": kv, "after": after}, place.topics(inside, rng))
                            change = bb.compare(**tables, seed=0).contrasts().iloc[0]
                        found.append((change["mean"], change["sd"], change["low"] > 0 or change["high"] < 0, np.nan))
                    return [{**cell, **rates(found)}]

                parts.once(("debiasing", *cell.values()), make)


def categories(given, parts):
    """Lists of WordNet: each the hyponyms of one noun that an embedding holds, at any depth, one category a list."""
    hyponyms = categories_of(given.wordnet)
    for name in given.embeddings:
        kv = embedding(name, given.cache)
        for lists in given.lists:
            place = Place(kv, bb.load_words(lists))
            usable = {word for word, row in kv.key_to_index.items() if place.free[row]}
            known = [sorted(words & usable) for words in hyponyms]
            known = [words for words in known if len(words) >= max(place.sizes)]
            cell = {"embedding": name, "lists": lists, "categories": len(known)}
            rng = rng_for(given.seed, "categories", name, lists)

            def make(cell=cell, rng=rng, place=place, known=known, kv=kv):
                found = []
                while len(found) < given.replicates:
                    chosen = [known[at] for at in rng.choice(len(known), len(place.sizes), replace=False)]
                    words, taken = {}, set()
                    for group, size, listed in zip(place.protected, place.sizes, chosen, strict=True):
                        left = [word for word in listed if word not in taken]
                        words[group] = [left[at] for at in rng.permutation(len(left))[:size]]
                        taken |= set(words[group])
                    if all(len(words[group]) >= 3 for group in words):
                        found.append(measured(kv, bb.WordLists("categories", place.protected, words)))
                return [{**cell, **rates(found)}]

            parts.once(("categories", name, lists), make)


def categories_of(folder):
    """The nouns below each noun synset of WordNet 3: sets of single words."""
    words, below = {}, {}
    for line in (Path(folder) / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" | ")[0].split()
        count = int(fields[3], 16)
        words[fields[0]] = {fields[4 + 2 * at].lower() for at in range(count) if fields[4 + 2 * at].isalpha()}
        pointers = fields[4 + 2 * count + 1 :]
        below[fields[0]] = [pointers[at + 1] for at in range(0, len(pointers) - 3, 4) if pointers[at] in ("~", "~i")]

    def inside(synset, seen):
        for other in below.get(synset, ()):
            if other not in seen:
                seen.add(other)
                inside(other, seen)
        return seen

    found = []
    for synset in words:
        members = inside(synset, set())
        if 10 <= len(members) <= 400:
            found.append(set().union(*(words[member] for member in members)))
    return found


def main():
    parser = arguments(__doc__.splitlines()[0], 200)
    parser.add_argument("what", choices=["regions", "sizes", "debiasing", "categories"])
    parser.add_argument("--regions", nargs="+", default=list(REGIONS))
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.set_defaults(embeddings=list(EMBEDDINGS), lists=["gender", "religion", "race"])
    given = parsed(parser)
    parts = Parts(f"near_{given.what}", given)
    {"regions": regions, "sizes": sizes, "debiasing": debiasing, "categories": categories}[given.what](given, parts)
    table = parts.collect()
    print(table.to_string(index=False))
    assert isinstance(table, pd.DataFrame)


if __name__ == "__main__":
    main()
