"""Answers would depend on what bears on none: scales, names, spellings, repeats, orders, unused lists."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias import comparison

LISTS = bb.WordLists(
    "mine",
    {"ga": ["p", "q", "r", "u"], "gb": ["s", "t", "v", "w"]},
    {"ga": ["k", "l", "c"], "gb": ["m", "n", "d"]},
    {"human": ["h", "i", "j", "x"], "neutral": [f"n{number}" for number in range(14)]},
)
FREQUENCIES = {word: float(1 + (place * 7) % 11) for place, word in enumerate(LISTS.every_word())}
SIDES = "e1", "e2"
NAMES = *SIDES, "e3"


def embedding(words, values):
    kv = KeyedVectors(vector_size=values.shape[1], dtype=np.float32)
    kv.add_vectors(list(words), np.asarray(values, dtype=np.float32))
    return kv


def planted(seed):
    """Random vectors of the words and 420 others in 12 dimensions: each group leans to its own stereotypes."""
    rng = np.random.default_rng(seed)
    values = {word: rng.normal(size=12) for word in (*LISTS.every_word(), *(f"z{number}" for number in range(420)))}
    for group, words in LISTS.protected.items():
        lean = 0.8 * rng.normal(size=12)
        for word in (*words, *LISTS.stereotypes[group]):
            values[word] += lean
    return embedding(sorted(values), np.array([values[word] for word in sorted(values)]))


def lists_with(protected=lambda name: name, words=list, lists=LISTS):
    """The lists with other names of groups and other words."""
    parts = ({protected(name): words(own) for name, own in part.items()} for _, part in lists.by_kind)
    return bb.WordLists("mine", *parts)


@dataclass(frozen=True)
class World:
    """What analyses are given, and what its labels were called before a change."""

    kvs: Mapping[str, KeyedVectors] = field(
        default_factory=lambda: {name: planted(seed) for seed, name in enumerate(NAMES)}
    )
    lists: bb.WordLists = LISTS
    spelled: bb.WordLists = LISTS  # the same as the embeddings write them, for what knows no other spelling
    pairs: tuple = (("k", "m"), ("l", "n"), ("c", "d"))
    metrics: tuple = ("weat", "weat_effect_size", "mac")
    outside: Mapping[str, float] = field(
        default_factory=lambda: dict(zip("pqrustvw", (0.3, 2.0, 1.0, 4.0, 3.0, 7.0, 5.0, 6.5), strict=True))
    )
    before: Mapping[str, str] = field(default_factory=dict)  # label to what it was called

    def now(self, label):
        """What a label is called."""
        return {old: new for new, old in self.before.items()}.get(label, label)

    @cached_property
    def tables(self):
        return bb.distance_tables(self.kvs, self.lists, case="fallback")

    @cached_property
    def first(self):
        return self.kvs[self.now("e1")]

    @cached_property
    def table(self):
        return self.tables[self.now("e1")]

    @cached_property
    def post(self):
        return bb.fit(self.table, draws=4000, seed=1)

    @cached_property
    def query(self):
        stereotypes = {f"of {name}": words for name, words in self.lists.stereotypes.items()}
        return bb.Query(self.lists.protected, stereotypes, name="query")

    @cached_property
    def comparison(self):
        return bb.compare({self.now(name): self.tables[self.now(name)] for name in SIDES}, seed=1)


def told(result, without=()):
    notes = [(note.code, note.numbers) for note in result.notes if note.code != "spelling"]
    return [f"{result.caption()} {result.header()} {notes}", result.table().drop(columns=[*without])]


def of_fit(world):
    facts, table = told(bb.summary(world.post))
    table = table[~table["quantity"].str.contains(r"^group .* - ")]  # whose signs follow the order of groups
    return [bb.contrasts(world.post), *told(bb.diagnose(world.post)), facts, table]


def of_ranking(world):
    ranking = bb.rank(world.kvs, world.query, world.metrics, draws=0, replicates=0, case="fallback")
    agreement = ranking.agreement
    pairs = agreement.assign(first=agreement["first"] + " " + agreement["second"], second="")
    return [pairs, *told(ranking)]


def of_side_effects(world):
    both = [world.kvs[world.now(name)] for name in SIDES]
    return told(bb.side_effects(*both, world.comparison, k=5, biased=12, draws=50, case="fallback"))


def of_axis(world):
    words = [word for own in world.lists.protected.values() for word in own]
    return told(bb.axis(world.first, world.pairs, words=words, case="fallback"))


def of_audit(world):
    groups = {world.now(name): world.spelled.protected[world.now(name)] for name in ("ga", "gb")}
    return told(bb.audit(world.first, groups), ["ripa"])  # which is measured in the lengths of vectors


def of_balance(world):
    return told(bb.balance(world.table, {world.now(word): value for word, value in FREQUENCIES.items()}))


ANALYSES = {
    "fit": of_fit,
    "associations": lambda of: [bb.association(of.post), bb.decomposition(of.post)],
    "topics": lambda of: told(bb.topic_null(of.first, of.lists, replicates=20, case="fallback")),
    "comparison": lambda of: told(of.comparison),
    "side_effects": of_side_effects,
    "pool": lambda of: told(bb.pool(of.tables)),
    "criterion": lambda of: told(bb.criterion(of.post, of.outside, contrast=(of.now("ga"), of.now("gb")))),
    "ranking": of_ranking,
    "metrics": lambda of: [bb.run_metrics(of.kvs, of.query, list(of.metrics), case="fallback")],
    "silhouettes": lambda of: told(bb.silhouettes.silhouette(of.first, of.query, "weat", runs=20, case="fallback")),
    "axis": of_axis,
    "audit": of_audit,
    "balance": of_balance,
    "words": lambda of: told(bb.check_words(of.spelled, of.first, FREQUENCIES)),
}
DRAWN = {"fit": 0.05, "pool": 0.05, "criterion": 0.05}
"""Analyses whose draws are others where lists stand in another order, and how far numbers differ."""
SEEDED = {"topics", "side_effects", "silhouettes"}
"""Analyses that draw words list by list: with other lists first they are as with another seed."""


def changed(world):
    """Vectors scaled and turned; embeddings and groups renamed; words respelled; words and pairs twice."""
    order, rng = np.random.default_rng(9).permutation(12), np.random.default_rng(8)
    names = {"e1": "z", "e2": "y", "e3": "x", "ga": "women", "gb": "men"}
    upper = {word: word.upper() for word in LISTS.every_word()}

    def moved(kv, size):
        return embedding(kv.index_to_key, size * kv.vectors[:, order] * rng.choice([-1.0, 1.0], 12))

    def twice(words):
        return [*words, words[0]]

    def renamed(name):
        return names.get(name, name)

    pairs = tuple((upper[one], upper[other]) for one, other in world.pairs)
    return replace(
        world,
        kvs={names[name]: moved(kv, 3.0 + place) for place, (name, kv) in enumerate(world.kvs.items())},
        lists=lists_with(renamed, lambda words: twice([upper[word] for word in words])),
        spelled=lists_with(renamed, twice),
        pairs=(*pairs, pairs[0]),
        outside={upper[word]: value for word, value in world.outside.items()},
        before={new: old for old, new in (names | upper).items()},
    )


def reordered(world):
    """All in another order. The first pair of an axis stays, which names its ends."""

    def backwards(mapping):
        return dict(reversed(mapping.items()))

    def upwards(kv):
        return embedding(kv.index_to_key[::-1], kv.vectors[::-1])

    parts = ({name: words[::-1] for name, words in reversed(part.items())} for _, part in LISTS.by_kind)
    lists = bb.WordLists("mine", *parts)
    return replace(
        world,
        kvs={name: upwards(kv) for name, kv in backwards(world.kvs).items()},
        lists=lists,
        spelled=lists,
        pairs=(world.pairs[0], *world.pairs[:0:-1]),
        metrics=world.metrics[::-1],
        outside=backwards(world.outside),
    )


CHANGES = {change.__name__: change for change in (changed, reordered)}
WORD, NUMBER = re.compile(r"[^\W\d]\w*"), re.compile(r"[−-]?\d+(?:\.\d+)?(?:e-?\d+)?")


def parts_of(text, before):
    """The words of a text, by what labels were called, and its numbers, in no order."""
    text = text.replace(",", "")
    words = sorted(before.get(word, word) for word in WORD.findall(text))
    return words, sorted(float(number.replace("−", "-")) for number in NUMBER.findall(WORD.sub(" ", text)))


def rows_of(frame, before):
    """The texts of rows, by what labels were called, and their numbers, in the order of the texts."""
    frame = frame.reset_index(names=["row"] if frame.index.name is None else [frame.index.name])
    frame = frame.drop(columns="row", errors="ignore")
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    words = [" | ".join(" ".join(parts_of(str(cell), before)[0]) for cell in row) for row in frame[texts].to_numpy()]
    numbers = frame.drop(columns=texts).astype(float)
    ordered = numbers.assign(words=words).sort_values(["words", *numbers], kind="stable")
    return ordered["words"].tolist(), ordered.drop(columns="words").to_numpy()


def assert_same(answers, expected, before=None, tolerance=1e-6):
    """The same words and, up to a tolerance, the same numbers."""
    for one, other in zip(answers, expected, strict=True):
        parts = parts_of if isinstance(one, str) else rows_of
        (words, numbers), (former_words, former) = parts(one, before or {}), parts(other, {})
        assert words == former_words
        # some facts are rounded
        atol = max(tolerance, 1.1e-3) if isinstance(one, str) else tolerance
        np.testing.assert_allclose(numbers, former, rtol=max(tolerance, atol), atol=atol)


@pytest.fixture(scope="module")
def worlds():
    """The world as it is and after each change, and what the analyses say of it as it is."""
    base = World()
    with pytest.MonkeyPatch.context() as patch:
        for name, few in (("REFERENCES", 2), ("STARTS", 2), ("PERMUTATIONS", 20)):
            patch.setattr(comparison.effects, name, few)
        yield {"base": base, "told": {}} | {name: change(base) for name, change in CHANGES.items()}


def told_of_base(worlds, name):
    if name not in worlds["told"]:
        worlds["told"][name] = ANALYSES[name](worlds["base"])
    return worlds["told"][name]


@pytest.mark.parametrize("name", ANALYSES)
def test_units_names_spellings_and_repeats_change_nothing(worlds, name):
    world = worlds["changed"]
    assert_same(ANALYSES[name](world), told_of_base(worlds, name), world.before)


@pytest.mark.parametrize("name", [name for name in ANALYSES if name not in SEEDED])
def test_no_order_changes_anything(worlds, name):
    answers = ANALYSES[name](worlds["reordered"])
    assert_same(answers, told_of_base(worlds, name), tolerance=DRAWN.get(name, 1e-6))


def test_an_embedding_a_metric_or_a_query_twice_in_a_ranking(worlds):
    base = worlds["base"]

    def ranked(kvs=base.kvs, queries=base.query, metrics=("weat", "mac")):
        return bb.rank(kvs, queries, metrics, draws=20, replicates=10)

    once = ranked()
    queries = ranked(queries={"one": base.query, "again": base.query})
    assert_same([queries.table()], [once.table()])
    metrics = ranked(metrics={"weat": "weat", "mac": "mac", "again": "weat"})
    assert_same([metrics.table().query("metric != 'again'")], [once.table()])
    again = metrics.table().query("metric == 'again'").assign(metric="weat")
    assert_same([again], [once.table().query("metric == 'weat'")])
    assert metrics.agreement.set_index(["first", "second"]).loc[("weat", "again"), "topics"] == pytest.approx(1)
    kvs = ranked(kvs={**base.kvs, "e4": base.kvs["e3"]})
    chances = [each.probabilities.query("less != 'e4' and more != 'e4'") for each in (kvs, once)]
    assert_same(chances[:1], chances[1:])
