"""Pools would no longer be those of the single fits, and a copy of an embedding would count as another."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.contrast.contrast import rows_of
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit, read_distances
from bayesbias.second_stage import pools, stages

NAMES = [f"e{at}" for at in range(6)]
THREE = NAMES[:3]
OUTSIDE = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 6.0, 4.5]}, index=NAMES)


def labels(letters):
    """These labels of the six embeddings, again and again."""
    return {name: letters[at % len(letters)] for at, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def noisy(slice_vectors):
    """A function from a seed to a copy of the slice with noisy vectors."""
    unit = slice_vectors.vectors / np.linalg.norm(slice_vectors.vectors, axis=1, keepdims=True)

    def copy(seed):
        noise = np.random.default_rng(seed).standard_normal(unit.shape) * 0.5 / np.sqrt(unit.shape[1])
        return moved(slice_vectors, unit + noise)

    return copy


def single(pool):
    """The rows of single embeddings."""
    return pool.table().query("quantity == 'embedding'").set_index("name")


def codes(pool, code):
    """The numbers of the notes with a code."""
    return [note.numbers for note in pool.notes if note.code == code]


def moved(kv, vectors):
    """The same words at other vectors."""
    copy = KeyedVectors(kv.vector_size)
    copy.add_vectors(kv.index_to_key, vectors.astype(np.float32))
    return copy


@pytest.fixture(scope="module")
def tables(noisy):
    """Six embeddings' tables of one list."""
    return {f"e{seed}": bb.distance_table(noisy(seed), "gender") for seed in range(6)}


@pytest.fixture(scope="module")
def three(tables):
    return {name: tables[name] for name in THREE}


@pytest.fixture(scope="module")
def pooled(tables):
    return bb.pool(tables)


@pytest.fixture(scope="module")
def related(tables):
    return bb.pool(tables, on=OUTSIDE)


def test_estimates_are_the_contrasts_of_single_fits(tables, pooled):
    table = single(pooled)
    for name, row in table.iterrows():
        alone = bb.contrasts(bb.fit(tables[name], seed=0), "associated", "different").iloc[0]
        assert row["estimate"] == pytest.approx(alone["mean"], abs=4 * alone["sd"] / np.sqrt(4000))
        # errors of a pool are those of words that are near in all embeddings
        assert row["se"] == pytest.approx(alone["sd"], rel=0.1)
    assert (table["sd"] < table["se"] * 1.05).all()
    assert pooled.joint == "vectors"
    assert list(pooled.tree["posterior"].dims) == ["chain", "draw", "setting"]


@pytest.fixture(scope="module")
def unequal(noisy):
    """Tables of three groups with 1, 2 and 3 protected words, and lists of 6, 2 and 3 words."""
    work = bb.load_words("gender").stereotypes["woman"]
    words = bb.WordLists(
        "unequal",
        protected={"he": ["he"], "family": ["mother", "uncle"], "young": ["boy", "girl", "son"]},
        stereotypes={"he": work[:6], "family": work[6:8], "young": work[8:11]},
    )
    return bb.distance_tables({name: noisy(seed) for seed, name in enumerate(THREE)}, words)


@pytest.mark.parametrize("related", [True, False])
def test_lists_of_unequal_size_weigh_the_same_as_in_a_fit(unequal, related):
    """Of the words of the other lists, two in three would be those of one list."""
    tables = unequal if related else {name: table.without_relatedness() for name, table in unequal.items()}
    pool = bb.pool(tables)
    for name, row in single(pool).iterrows():
        cell = tables[name].pivot_table("distance", ["protected_word", "group"], "attribute_class")
        own = pd.Series([values[group] for (_, group), values in cell.iterrows()], cell.index)
        difference = own - (cell.sum(axis=1) - own) / 2
        assert row["estimate"] == pytest.approx(difference.groupby("group").mean().mean(), abs=1e-6)
    assert pool.rows == "association"


def test_errors_of_one_embedding_are_those_of_its_fit(unequal):
    for name, table in unequal.items():
        stage = stages.stage_of({name: read_distances(table)}, ("associated", "different"))
        alone = rows_of(Fit(bb.fit(table, draws=40, seed=0)), "associated", "different")
        assert stage.contrasts().sd == pytest.approx(alone.whole.sd, rel=0.01)
        assert stage.contrasts(single=True).sd == pytest.approx(alone.unshrunk.sd, rel=0.01)


def test_contrasts_are_of_one_kind_in_all_embeddings(unequal):
    """Where the only word of a group lacks a list in one embedding, that has no associations."""
    gone = dict(unequal)
    first = next(iter(gone))
    gone[first] = gone[first].query("not (protected_word == 'he' and attribute_class == 'young')")
    pool = bb.pool(gone)
    assert pool.rows == "difference"
    assert codes(pool, "no-value") == [{"what": "associations", "reason": f"missing lists in {first}"}]
    for name, row in single(pool).iterrows():
        cells = gone[name].pivot_table("distance", ["group", "protected_word"], "connection")
        difference = cells["associated"] - cells["different"]
        assert row["estimate"] == pytest.approx(difference.groupby("group").mean().mean(), abs=1e-6)


def test_the_default_contrast_is_what_every_table_has(tables, pooled):
    assert pooled.contrast == ("associated", "different")
    without = tables["e0"][tables["e0"]["connection"] != "different"]
    fallen = bb.pool({**tables, "e0": without})
    assert fallen.contrast == ("associated", "human")
    assert [each["what"] for each in codes(fallen, "no-value")] == ["associated - different"]


def test_a_copy_changes_nothing(tables, pooled, noisy):
    """A copy may have other control lists, vectors of another length, and words in another order."""
    longer = noisy(2)
    longer.vectors = 3 * longer.vectors
    without = tables["e0"][tables["e0"]["connection"] != "human"]
    again = {"a": without, **tables, "b": tables["e1"].iloc[::-1], "c": bb.distance_table(longer, "gender")}
    copied = bb.pool(again)
    assert copied.settings == ["a", *NAMES[1:]]
    np.testing.assert_allclose(copied.estimates.mean, pooled.estimates.mean, atol=1e-7)
    np.testing.assert_allclose(copied.estimates.covariance, pooled.estimates.covariance, rtol=1e-6)
    np.testing.assert_allclose(copied.draws("population_mean"), pooled.draws("population_mean"), atol=1e-6)
    same = codes(copied, "duplicates")
    assert same[0] == {"count": 2, "rule": "once", "reason": "equal distances", "words": ["a", "e0"]}
    assert len(same) == 3


def test_copies_with_two_labels_or_values_are_refused(tables):
    again = {**tables, "copy": tables["e0"]}
    with pytest.raises(InputError, match="groups tells them apart"):
        bb.pool(again, groups={**labels("ab"), "copy": "b"})
    on = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0]}, index=list(again))
    on.loc["copy"] = 1.0
    relations = [bb.pool(given, on=values).relation() for given, values in ((again, on), (tables, on.iloc[:6]))]
    pd.testing.assert_frame_equal(*relations)


def test_near_copies_count_once(slice_vectors):
    """One copy moved the ends over these embeddings by 22% of the width, and those over further ones by 13%."""

    def ends(pool):
        return {name: np.quantile(pool.draws(name), [0.055, 0.945]) for name in ("mean", "population_mean")}

    unit = slice_vectors.vectors / np.linalg.norm(slice_vectors.vectors, axis=1, keepdims=True)
    noise = 0.1 * np.random.default_rng(1).standard_normal(unit.shape) / np.sqrt(unit.shape[1])
    hard = bb.debias(slice_vectors, "hard", definitional=[("woman", "man"), ("she", "he")])
    kvs = {"google": slice_vectors, "glove": bb.load_embedding("glove-50d-slice"), "hard": hard}
    tables = {name: bb.distance_table(kv, "gender") for name, kv in kvs.items()}
    alone, near = bb.pool(tables), bb.distance_table(moved(slice_vectors, unit + noise), "gender")
    for again in ({**tables, "copy": near}, {"copy": near, **tables}):
        copied = bb.pool(again)
        assert len(copied.settings) == 3
        assert copied.estimates.index["embedding"].tolist() == list(again)
        weights = dict(zip(again, copied.estimates.index["weight"], strict=True))
        assert weights == pytest.approx({"google": 1 / 6, "copy": 1 / 6, "glove": 1 / 3, "hard": 1 / 3})
        names = [name for name in again if name in ("google", "copy")]
        (same,) = codes(copied, "duplicates")
        assert (same["rule"], same["words"]) == ("once", names)
        for (name, moved_to), at in zip(ends(copied).items(), ends(alone).values(), strict=True):
            most = {"mean": 0.05, "population_mean": 0.1}[name]
            assert np.abs(moved_to - at).max() < most * np.ptp(at), name


def test_near_copies_are_said_where_they_are_not_joined(tables, noisy):
    base, rng = noisy(0), np.random.default_rng(9)
    near = moved(base, base.vectors + 0.01 * rng.standard_normal(base.vectors.shape).astype(np.float32) / 17)
    again = {**tables, "near": bb.distance_table(near, "gender")}
    covariance = bb.pool(again).estimates.covariance.to_numpy()
    assert covariance[0, 6] / np.sqrt(covariance[0, 0] * covariance[6, 6]) > 0.99
    on = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 6.0, 4.5, 2.0]}, index=list(again))
    groups = {name: "b" if name == "near" else "a" for name in again}
    for apart in (bb.pool(again, on=on), bb.pool(again, groups=groups)):
        (same,) = codes(apart, "duplicates")
        assert (same["rule"], same["words"]) == ("apart", ["e0", "near"])
        assert "near" in apart.settings
    named = bb.pool(again, replicates={name: "e0" if name == "near" else name for name in again})
    assert named.settings == NAMES
    assert not codes(named, "duplicates")
    assert named.estimates.index["weight"].tolist() == pytest.approx([1 / 12, *[1 / 6] * 5, 1 / 12])


def test_groups_part_what_varies(tables):
    grouped = bb.pool(tables, groups=labels("ab"))
    assert "group_mean" in grouped.tree["posterior"]
    total, between, within = (grouped.draws(f"{name}_sd") for name in ("between", "group", "within"))
    np.testing.assert_allclose(total**2, between**2 + within**2)
    rows = grouped.table().set_index("quantity").filter(like="sd ", axis=0)
    assert rows["mean"].tolist() == [np.median(draws) for draws in (total, between, within)]
    assert rows["low"].tolist() == pytest.approx([np.quantile(draws, 0.055) for draws in (total, between, within)])
    mean = grouped.draws("theta") @ grouped.estimates.index["weight"].to_numpy()
    assert np.allclose(mean, grouped.draws("mean"))
    assert mean.mean() == pytest.approx(grouped.estimates.mean.mean(), abs=1e-12)
    assert not codes(grouped, "few-levels")
    two = bb.pool({name: tables[name] for name in NAMES[:2]})
    assert codes(two, "few-levels") == [{"count": 2, "factor": "embeddings"}]


def test_the_table_holds_both_means_and_who_is_lowest(pooled):
    table = pooled.table().set_index("quantity")
    for row, name in (("overall", "mean"), ("overall, new embeddings", "population_mean")):
        draws = pooled.draws(name)
        found = table.loc[row, ["mean", "low", "high", "p_closer"]].astype(float)
        assert found.tolist() == pytest.approx([draws.mean(), *np.quantile(draws, [0.055, 0.945]), (draws < 0).mean()])
    first = np.bincount(pooled.draws("theta").argmin(axis=1), minlength=6) / 4000
    assert single(pooled)["p_lowest"].tolist() == first.tolist()
    assert pooled.summary()["name"].tolist()[3:] == pooled.settings


def test_estimates_in_other_units(tables, pooled):
    scaled = bb.pool(tables, standardise=True)
    units = [table.coverage.embedding["spread"]["sd"] for table in tables.values()]
    assert scaled.estimates.index["unit"].tolist() == units
    assert np.allclose(scaled.estimates.mean * units, pooled.estimates.mean)
    assert scaled.unit == "sds of distances"
    mine = bb.pool(tables, standardise=dict.fromkeys(tables, 0.5))
    assert np.allclose(mine.estimates.mean, 2 * pooled.estimates.mean)
    assert mine.unit == "the given units"


def test_embeddings_that_hold_few_words_or_other_languages_are_named(three):
    record = three["e1"].coverage
    lists = [{**entry, "found": entry["found"] // 2} for entry in record.lists]
    few = {**three, "e1": bb.DistanceTable(three["e1"].copy(), coverage=replace(record, lists=lists, language="fr"))}
    counted = [entry for entry in lists if entry["kind"] != "control"]  # which the contrast does not take
    share = sum(entry["found"] for entry in counted) / sum(entry["asked"] for entry in counted)
    pool = bb.pool(few)
    held = pool.estimates.index
    assert held["language"].tolist() == ["en", "fr", "en"]
    assert held.loc[1, "found"] == pytest.approx(share)
    assert pool.header()["words held"][0] == f"{share:.0%} (e1)"
    assert pool.header()["languages"] == ["en", "fr"]


def test_wrong_pools_are_named(tables):
    two = OUTSIDE.assign(x=[1.0, 3.0, 1.1, 3.1, 1.2, 3.2])
    for options, message in (
        ({"groups": {"e0": "a"}}, "groups is"),
        ({"replicates": labels("s")}, "are one embedding or setting, and a pool needs two"),
        ({"groups": labels("ab"), "on": two}, "2 groups are fewer"),
        ({"on": OUTSIDE[:1]}, "a relation needs 3"),
    ):
        with pytest.raises(InputError, match=message):
            bb.pool(tables, **options)


def test_a_relation_is_told_with_the_mass_that_is_asked_for(related):
    draws = related.draws("correlation")[:, 0]
    row = related.relation(0.5).iloc[0]
    assert [row["correlation_low"], row["correlation_high"]] == pytest.approx(np.quantile(draws, [0.25, 0.75]))
    assert row["correlation"] == pytest.approx(draws.mean(), abs=1e-12)
    below = related.table(0.5).set_index("quantity").loc["correlation"]
    assert below[["name", "low", "estimate"]].tolist() == ["x", row["correlation_low"], row["plain"]]
    assert set(related.tables()) == {"All numbers", "Each embedding, not pooled", "Outside variables"}
    slope = related.draws("slope")[:, 0]
    assert row[["slope", "p_positive"]].tolist() == pytest.approx([slope.mean(), (draws > 0).mean()])


def test_embeddings_without_a_value_and_words_of_another_spelling_are_noted(tables):
    record = tables["e0"].coverage
    table = bb.DistanceTable(tables["e0"].copy(), coverage=replace(record, substituted={"she": "She"}))
    pool = bb.pool({**tables, "e0": table}, on=OUTSIDE.assign(x=[1.0, 3.0, 2.0, 5.0, 6.0, np.nan]))
    assert codes(pool, "left-out") == [
        {"count": 1, "total": 6, "kind": "embeddings", "reason": "no x", "words": ["e5"]}
    ]
    assert codes(pool, "spelling") == [{"words": ["she as She"]}]


def test_a_mean_outside_all_estimates_is_noted(three, monkeypatch):
    def moved_to_0(variables, seed, **coords):
        return stages.posterior_tree(variables | {"mean": (None, 0 * variables["mean"][1])}, seed, **coords)

    assert not codes(bb.pool(three, weights="precision", draws=400), "edge")
    monkeypatch.setattr(pools, "posterior_tree", moved_to_0)
    assert codes(bb.pool(three, weights="precision", draws=400), "edge") == [{"side": "above"}]


def test_a_variable_of_few_groups_is_related_to_their_means(tables):
    x = np.array([1.0, 3.0, 2.0, 1.1, 3.1, 2.1])
    grouped = bb.pool(tables, on=OUTSIDE.assign(x=x), groups=labels("abc"))
    row = grouped.relation().iloc[0]
    assert row[["n", "of"]].tolist() == [3, "groups"]
    y = grouped.estimates.mean
    assert row["plain"] == pytest.approx(np.corrcoef((y[:3] + y[3:]) / 2, (x[:3] + x[3:]) / 2)[0, 1])
    assert "group_share" not in row
    within = bb.pool(tables, on=OUTSIDE.assign(x_se=0.5), groups=labels("abc")).relation().iloc[0]
    assert 0 < within["group_share"] < 0.95
    assert within[["n", "of"]].tolist() == [6, "embeddings"]


@pytest.fixture(scope="module")
def axes():
    """One axis in an embedding and in two noisy copies of it."""
    kv, rng = bb.load_embedding("glove-50d-slice"), np.random.default_rng(3)
    vectors = kv.vectors[:12000] / np.linalg.norm(kv.vectors[:12000], axis=1, keepdims=True)
    copies = {}
    for year, noise in (("1990", 0.0), ("2000", 0.3), ("2010", 0.3)):
        changed = vectors + noise * rng.standard_normal(vectors.shape) / np.sqrt(vectors.shape[1])
        embedding = bb.load_embedding(dict(zip(kv.index_to_key[:12000], changed, strict=True)))
        copies[year] = bb.axis(embedding, "gender_pairs", words=["nurse", "teacher", "captain", "guard"])
    return copies


def test_a_pool_of_axes_has_the_errors_of_further_pairs(axes):
    pool, first = bb.pool(axes, seed=0), axes["1990"]
    assert pool.contrast == first.ends
    np.testing.assert_allclose(pool.estimates.mean[0], first.places.mean())
    # by hand: the mean place by each pair, over the pairs; of a t distribution, whose variance is larger
    weights = np.full(4, 1 / 4) @ first.coordinates
    sd = np.sqrt(weights**2 @ first.offset.variances("pairs"))
    by_word = np.sqrt(first.coordinates**2 @ first.offset.variances("pairs"))
    freedom = first.offset.freedom
    assert pool.estimates.sd[0] == pytest.approx(sd * np.sqrt(freedom / (freedom - 2)), rel=0.25)
    assert pool.estimates.sd[0] < by_word.max() * np.sqrt(freedom / (freedom - 2))
    covariance = pool.estimates.covariance.to_numpy()
    assert 0.4 < covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]) < 1
    assert pool.joint == "pairs"


def test_one_axis_twice_counts_once(axes):
    again, plain = (bb.pool(given, seed=0) for given in ({**axes, "again": axes["1990"]}, axes))
    np.testing.assert_array_equal(again.draws("population_mean"), plain.draws("population_mean"))


def test_few_words_that_samples_share_are_said():
    rng, lists = np.random.default_rng(0), bb.load_words("weat7")
    lists = bb.WordLists("weat7", lists.protected, lists.stereotypes)
    words = lists.every_word()

    def made(**others):
        every = {name: [*words, *(f"w{number}" for number in own)] for name, own in others.items()}
        drawn = {name: rng.standard_normal((len(keys), 20)) + 0.5 for name, keys in every.items()}
        return {name: bb.load_embedding(dict(zip(every[name], drawn[name], strict=True))) for name in every}

    embeddings = made(a=range(500), b=range(400, 900))
    tables = {name: bb.distance_table(kv, lists) for name, kv in embeddings.items()}
    assert {"words": 100, "enough": 400} in codes(bb.pool(tables, seed=0), "shared-words")
    with pytest.warns(UserWarning, match="only 100 words"):
        shared = bb.distance_tables(embeddings, lists)
    orders = [{name: shared[name] for name in names} for names in ("ab", "ba")]
    one, other = (bb.pool(order, seed=0).estimates.covariance.to_numpy() for order in orders)
    np.testing.assert_allclose(one, other[::-1, ::-1], rtol=1e-9)
    alone = bb.pool({name: bb.distance_table(kv, lists) for name, kv in made(c=range(500), d=range(600, 1100)).items()})
    assert alone.joint == "independent"
    assert codes(alone, "independent")[0]["what"] == "embeddings"
