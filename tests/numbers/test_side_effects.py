"""What debiasing breaks or leaves would go unseen: neighbours, groups that are still found, similarities."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from scipy import stats

import bayesbias as bb
from bayesbias.comparison import comparison, effects
from bayesbias.comparison.effects import _most_biased, _shared_vocabulary, recovery, similarities
from bayesbias.numerics.statistics import mean_interval, share_interval

RATES = Path(__file__).parents[2] / "benchmarks/results/related/near_debiasing.csv"


def outcomes(result, of="associated - different"):
    """The rows of one contrast."""
    return result.table().query("of == @of")


def noted(result, code):
    """The numbers of the notes of a code."""
    return [note.numbers for note in result.notes if note.code == code]


def vectors(words, values):
    kv = KeyedVectors(vector_size=values.shape[1], dtype=np.float32)
    kv.add_vectors(list(words), values.astype(np.float32))
    return kv


@pytest.fixture(scope="module")
def debiased(slice_vectors):
    return bb.debias(slice_vectors, "hard", definitional=list(bb.load_list("gender_pairs").pairs))


@pytest.fixture(scope="module")
def tables(slice_vectors, debiased):
    words = bb.load_words("gender")
    return bb.distance_table(slice_vectors, words), bb.distance_table(debiased, words)


@pytest.fixture(scope="module")
def compared(tables):
    """The comparison that side effects make themselves of word lists."""
    return bb.compare(before=tables[0], after=tables[1], seed=0)


@pytest.fixture(scope="module")
def scored(slice_vectors):
    """Pairs of words with a similarity."""
    names, rng = slice_vectors.index_to_key, np.random.default_rng(3)
    return [(names[a], names[b], float(rng.random())) for a, b in rng.integers(0, len(names), (80, 2)) if a != b]


@pytest.fixture(scope="module")
def found(slice_vectors, debiased, scored):
    return bb.side_effects(slice_vectors, debiased, "gender", similarity=[*scored, ("absent", "words", 1.0)])


@pytest.fixture(scope="module")
def small(compared, slice_vectors, debiased):
    """A function that looks at few words, with the comparison at hand."""

    def look(*kvs, **options):
        return bb.side_effects(*(kvs or (slice_vectors, debiased)), compared, **SMALL | options)

    return look


SMALL = {"k": 10, "biased": 50}
"""Fewer words and neighbours, where what is asserted does not depend on them."""


def brute_force(before, after, word, k):
    """Share of the k nearest neighbours of a word in one embedding that are so in the other."""
    nearest = []
    for kv in (before, after):
        unit = kv.vectors / np.linalg.norm(kv.vectors, axis=1, keepdims=True)
        cosines = unit @ unit[kv.key_to_index[word]]
        order = [at for at in np.argsort(-cosines) if kv.index_to_key[at] != word]
        nearest.append({kv.index_to_key[at] for at in order[:k]})
    return len(nearest[0] & nearest[1]) / k


def test_neighbours_kept_by_brute_force(found, slice_vectors, debiased):
    rows = found.neighbours_by_word
    for word, k in (("she", 10), ("he", 100), ("mother", 10)):
        value = rows[(rows["word"] == word) & (rows["k"] == k)]["kept"].item()
        assert value == pytest.approx(brute_force(slice_vectors, debiased, word, k), abs=0.011)


def test_means_and_intervals_of_neighbours(found):
    assert found.neighbours["kind"].tolist() == ["protected"] * 2 + ["attribute"] * 2 + ["control"] * 2
    by = found.neighbours_by_word.groupby(["kind", "k"])["kept"]
    for row in found.neighbours.itertuples():
        part = by.get_group((row.kind, row.k))
        assert row.kept == pytest.approx(part.mean())
        assert row.words == len(part)
        half = stats.t.ppf(0.945, len(part) - 1) * part.std() / np.sqrt(len(part))
        assert row.high - row.low == pytest.approx(2 * half, rel=0.15)
    protected, _, control = (
        found.neighbours.query("k == 10 and kind == @kind").iloc[0] for kind in ("protected", "attribute", "control")
    )
    assert protected["high"] < control["low"]


def test_control_changes_are_those_of_the_comparison(found, compared):
    for row in found.controls.itertuples():
        whole = compared.changes(row.connection).iloc[0]
        assert row.mean == whole["mean"]
        assert row.low == whole["low"]


def test_the_old_bias_is_found_after_hard_debiasing(found):
    """As Gonen and Goldberg found: less than before, far more than by chance."""
    row = found.recovery.set_index("test").loc["classify"]
    assert row["words"] == 2 * (2949 // 8)
    assert row["before"] > 0.9
    assert 0.6 < row["after"] < row["before"]
    assert row["after_low"] > row["chance"] == 0.5
    assert row["after"] < row["reference"]
    assert row["as_much"] == 9
    assert 0.09 < row["size_left"] < 0.12
    known = found.table().set_index(["effect", "of"])
    for side, columns in (("before", ["value"]), ("after", ["value", "reference", "as_much"])):
        for column, own in zip(columns, [side, *columns[1:]], strict=True):
            assert known.loc[("old side, logistic", side), column] == row[own]
    assert known.loc[("former bias left", "all"), "value"] == row["size_left"]
    assert {"rule": "most biased of 2,949 words", "used": 368, "total": 500} in noted(found, "sampled")


@pytest.mark.parametrize(("strength", "left"), [(0.5, 0.35), (1, 0.0)])
def test_the_bias_that_is_left_is_the_mean_distance_of_projections(strength, left):
    """With two groups: sizes of projections on the difference of the groups' means, as each embedding has it."""
    words, before, _, groups = planted(False)
    values = before.vectors.copy()
    values[:, 0] *= 1 - strength
    after = vectors(words, values)
    shared = _shared_vocabulary(before, after, words, None)
    rows = _most_biased(shared, groups, 150)[0]
    sizes = []
    for unit in (shared.before.astype(float), shared.after.astype(float)):
        first, second = (unit[shared.rows(listed)].mean(axis=0) for listed in groups.values())
        projection = unit @ (first - second)
        sizes.append(np.abs(projection - projection.mean())[rows].mean())
    part = recovery(shared, groups, 150, 0.89, 0)[0]["size_left"].iloc[0]
    assert part == pytest.approx(sizes[1] / sizes[0], abs=1e-5)
    assert part == pytest.approx(left, abs=0.12)


def test_an_interval_is_called_too_narrow_only_for_methods_of_which_it_was_measured():
    """More than two standard errors above 11%."""
    rates = pd.read_csv(RATES).query("region == 'near'").set_index("method")
    high = rates[rates["rate"] - 0.11 > 2 * rates["se"]]
    assert high["rate"].to_dict() == comparison.EXCLUDED
    assert "hard" in rates.index.difference(high.index)


def test_a_difference_near_0_that_follows_from_leace_is_called_so(slice_vectors, tables):
    """LEACE by the compared groups makes their means equal, so that it must be so."""
    groups = {name: part["protected_word"].unique().tolist() for name, part in tables[0].groupby("group", sort=False)}
    after = bb.debias(slice_vectors, "leace", definitional=groups)
    apart = []
    for kv in (slice_vectors, after):
        first, second = (np.mean([kv.get_vector(word, norm=True) for word in words], 0) for words in groups.values())
        apart.append(np.linalg.norm(first - second))
    assert apart[1] < 0.1 * apart[0]
    result = bb.compare(before=tables[0], after=bb.distance_table(after, "gender"), seed=0)
    assert noted(result, "equalised") == [{"side": "after", "change": "before → after, nearly"}]
    assert result.header()["debiased by"] == ["leace"]


def test_a_difference_of_equalised_groups_is_0_for_any_words(gender_after, gender_change):
    """Words of equalised pairs are equally far from every other word, which no interval of the model knows."""
    assert gender_after.pivot_table("distance", "attribute_word", "group").diff(axis=1).iloc[:, 1].abs().max() < 1e-6
    assert abs(outcomes(gender_change).iloc[0]["after"]) < 1e-6
    post = bb.fit(gender_after, seed=0)
    assert abs(bb.contrasts(post)["mean"].iloc[0]) < 1e-6
    assert noted(gender_change, "equalised") == [{"side": "after", "change": "before → after"}]


def test_a_change_that_is_next_to_nothing_is_called_so(tables):
    """An interval of a change within a hundredth of the size before is neither an open question nor a change."""
    noise = np.random.default_rng(0).normal(0, 1e-5, len(tables[0]))
    table = tables[0].copy()
    table["distance"] += noise
    result = bb.compare(before=tables[0], after=table, seed=0)
    row = outcomes(result).iloc[0]
    assert max(abs(row["low"]), abs(row["high"])) < 0.01 * abs(row["before"])
    assert result.table()["at_most"].iloc[0] == 0.01


def test_units_of_distances_that_hardly_changed_are_not_told(compared):
    assert not noted(compared, "units")
    assert "associated - different, in sds" not in compared.summary()["quantity"].tolist()
    assert "associated - different, in sds" in compared.table()["of"].tolist()


def test_the_change_of_control_words_has_the_error_over_these_words():
    """The errors of the model before and after may be correlated so much that next to nothing of them is left."""
    kv = bb.load_embedding("glove-50d-slice")
    pairs = [("young", "old"), ("boy", "man"), ("girl", "woman"), ("son", "father"), ("daughter", "mother")]
    pairs += [("grandson", "grandfather"), ("granddaughter", "grandmother"), ("juvenile", "adult")]
    groups = {"old": ("elderly", "aged", "grandmother", "widow"), "young": ("teenager", "teenagers", "kids", "student")}
    words = {"old": ("frail", "slow", "lonely", "tired"), "young": ("lively", "reckless", "rude", "naive")}
    lists = bb.WordLists("age", groups, words, {"neutral": bb.load_words("gender").controls["neutral"]})
    equal = bb.debias(kv, "hard", definitional=pairs, equalize=pairs)
    before, after = (bb.distance_table(each, lists) for each in (kv, equal))
    result = bb.compare(before=before, after=after, seed=0)
    moved = after.assign(change=after["distance"] - before["distance"])
    of_words = moved[moved["connection"] == "neutral"].groupby("attribute_word", observed=True)["change"].mean()
    error = of_words.std() / np.sqrt(len(of_words))
    row = result.changes("neutral").iloc[0]
    assert result.sides("neutral").change.sd[0] < error / 2
    assert row["sd"] == pytest.approx(error)
    low, high = row["mean"] + np.array([-1, 1]) * stats.t.ppf(0.945, len(of_words) - 1) * error
    assert (row["low"], row["high"]) == pytest.approx((low, high))
    halves = [of_words.iloc[start::2].mean() for start in (0, 1)]
    assert all(abs(half - row["mean"]) < 3 * np.sqrt(2) * error for half in halves)
    # words of stereotypes are few, and the model's error is the larger one
    assert result.changes("associated").iloc[0]["sd"] == pytest.approx(result.sides("associated").change.sd[0])


def planted(redundant, size=1600, dimensions=30, seed=0):
    """Words of two groups along the first axis, and with ``redundant`` along nine others as well."""
    rng = np.random.default_rng(seed)
    side = np.repeat([1.0, -1.0], size // 2)
    values = rng.normal(0, 1, (size, dimensions))
    values[:, 0] += 4 * side
    if redundant:
        values[:, 1:10] += 1.0 * side[:, None]
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    words = [f"w{at}" for at in range(size)]
    groups = {"a": words[:400], "b": words[size // 2 : size // 2 + 400]}
    without = values.copy()
    without[:, 0] = 0
    return words, vectors(words, values), vectors(words, without), groups


@pytest.mark.parametrize("redundant", [False, True])
def test_planted_groups_are_found_only_where_they_are(redundant):
    words, before, after, groups = planted(redundant)
    shared = _shared_vocabulary(before, after, words, None)
    rows, labels = _most_biased(shared, groups, 150)
    assert np.bincount(labels).tolist() == [150, 150]
    assert not set(rows) & set(shared.rows([word for listed in groups.values() for word in listed]))
    side = np.array([int(shared.words[row][1:]) >= 800 for row in rows])
    assert (side == labels).mean() > 0.98
    table = recovery(shared, groups, 150, 0.89, seed=0)[0].set_index("test")
    assert (table["before"] > 0.97).all()
    assert (table["words"] == 300).all()
    for test in ("classify", "cluster"):
        row = table.loc[test]
        if redundant:
            assert row["after_low"] > 0.85
        else:
            assert abs(row["after"] - row["chance"]) < 0.09
    assert table.loc["cluster", "chance"] == pytest.approx(0.52, abs=0.02)


@pytest.mark.slow
def test_more_is_left_than_of_random_topics_as_often_as_by_chance(slice_vectors):
    """The difference of random topics is removed: more is left than of each of ten others in 1 of 11."""
    shared = _shared_vocabulary(slice_vectors, slice_vectors, [], None)
    groups = {name: list(words) for name, words in bb.load_words("gender").protected.items()}
    rng, told = np.random.default_rng(1), []
    for seed in range(40):
        parts = effects._random_topics(shared, groups, rng)[0]
        topics = {str(place): [shared.words[row] for row in part] for place, part in enumerate(parts)}
        first, second = (shared.before[part].astype(float) for part in parts)
        offset = effects.mean_unit(second) - effects.mean_unit(first)
        offset /= np.linalg.norm(offset)
        after = shared.before - np.outer(shared.before @ offset, offset)
        removed = shared._replace(after=effects.unit_single(after))
        told.append(recovery(removed, topics, 40, 0.89, seed)[0]["as_much"].to_numpy())
    # as often as not fewer than five of ten leave as much
    assert np.mean(told) == pytest.approx(5, abs=4 * np.sqrt(10 / len(told)))
    assert np.mean(np.array(told) == 0) <= 1 / 11 + 3 * np.sqrt(1 / 11 * 10 / 11 / len(told))


def test_a_vocabulary_too_small_for_topics_says_so():
    words, before, after, groups = planted(True, size=200)
    few = {name: listed[:70] for name, listed in groups.items()}
    shared = _shared_vocabulary(before, after, words, None)
    table, notes = recovery(shared, few, 12, 0.89, seed=0)
    assert table["reference"].isna().all()
    assert notes[-1].numbers == {"what": "random topics", "reason": "vocabulary too small"}


def test_words_most_biased_are_those_of_the_projection(slice_vectors):
    """With two groups: the largest and smallest projections on the difference of the groups' means."""
    words = bb.load_words("gender").protected
    held = {name: [word for word in listed if word in slice_vectors] for name, listed in words.items()}
    shared = _shared_vocabulary(slice_vectors, slice_vectors, [], None)
    rows, labels = _most_biased(shared, held, 50)
    unit = shared.before.astype(float)
    means = [unit[shared.rows(listed)].mean(axis=0) for listed in held.values()]
    direction = means[0] - means[1]
    projection = (unit - unit.mean(axis=0)) @ direction
    projection[shared.rows([word for listed in held.values() for word in listed])] = 0
    order = np.argsort(-projection)
    assert set(rows[labels == 0]) == set(order[:50])
    assert set(rows[labels == 1]) == set(order[-50:])


def test_three_groups():
    rng = np.random.default_rng(1)
    values = np.vstack([rng.normal(0, 0.3, (60, 12)) + 2 * np.eye(12)[at] for at in range(3)])
    words = [f"w{at}" for at in range(180)]
    kv, groups = vectors(words, values), {"a": words[:4], "b": words[60:64], "c": words[120:124]}
    shared = _shared_vocabulary(kv, kv, words, None)
    assert np.bincount(_most_biased(shared, groups, 500)[1]).tolist() == [15, 15, 15]
    table = recovery(shared, groups, 500, 0.89, seed=0)[0].set_index("test")
    assert table.loc["classify", "chance"] == pytest.approx(1 / 3)
    assert (table["after"] > 0.98).all()
    np.testing.assert_array_equal(table["before"], table["after"])


def test_agreement_with_similarities(found, scored, slice_vectors, debiased):
    rows = found.similarity.set_index("side")
    assert rows["asked"].iloc[0] == rows["found"].iloc[0] + 1
    spearman, scores = rows["spearman"], [score for *_, score in scored]
    for side, kv in (("before", slice_vectors), ("after", debiased)):
        cosines = [kv.similarity(one, other) for one, other, _ in scored]
        assert spearman[side] == pytest.approx(stats.spearmanr(cosines, scores).statistic, abs=1e-3)
    assert spearman["change"] == pytest.approx(spearman["after"] - spearman["before"])
    width = rows["high"] - rows["low"]
    assert width["change"] < 0.5 * width["before"], "pairs are drawn alike for both"


def test_the_same_embedding_twice(slice_vectors):
    same = bb.side_effects(slice_vectors, slice_vectors, "gender", similarity=[("a", "b", 1.0)], **SMALL)
    assert (same.neighbours[["kept", "low", "high"]].to_numpy() == 1).all()
    assert (same.controls[["mean", "sd"]].to_numpy() == 0).all()
    np.testing.assert_array_equal(same.recovery["before"], same.recovery["after"])
    assert same.similarity.empty
    assert noted(same, "no-value") == [{"what": "correlation with similarities", "reason": "0 of 1 pairs, 5 needed"}]
    assert noted(same, "fixed")[0]["connection"] == "all"


def test_known_limits_of_a_method_are_noted_and_one_that_hardly_changes_anything_hides_nothing(slice_vectors, tables):
    pairs = list(bb.load_list("gender_pairs").pairs)
    after = bb.distance_table(bb.debias(slice_vectors, "hard_multiclass", definitional=pairs), "gender")
    result = bb.compare(before=tables[0], after=after)
    assert noted(result, "undercoverage") == [{"method": "hard_multiclass", "share": 0.22}]
    soft = bb.side_effects(slice_vectors, bb.debias(slice_vectors, "soft", definitional=pairs), "gender", **SMALL)
    assert soft.recovery["size_left"].to_numpy() == pytest.approx(0.99, abs=0.01)


def test_words_that_one_embedding_lacks_are_named(small, slice_vectors, debiased):
    kept = [word for word in debiased.index_to_key if word != "she"]
    some = small(slice_vectors, vectors(kept, debiased[kept]))
    lost = {"count": 1, "total": 14, "kind": "protected words", "reason": "not in both embeddings", "words": ["she"]}
    assert lost in noted(some, "left-out")


def test_intervals_of_shares_and_means():
    assert share_interval(30, 40, 0.89) == pytest.approx(stats.beta.ppf([0.055, 0.945], 30.5, 10.5))
    assert share_interval(0, 40, 0.89)[0] == 0
    assert share_interval(40, 40, 0.89)[1] == 1
    rng = np.random.default_rng(0)
    for size in (4, 14):  # skewed shares, as few words have them
        covered = [low < 0.8 < high for low, high in (mean_interval(rng.beta(4, 1, size), 0.89) for _ in range(1000))]
        assert 0.82 < np.mean(covered) < 0.92
    assert np.isnan(mean_interval(np.array([0.5]), 0.89)).all()


def test_embeddings_belong_to_the_comparison(compared, slice_vectors, debiased):
    for kvs, name in (((debiased, slice_vectors), "before"), ((slice_vectors, slice_vectors), "after")):
        with pytest.raises(bb.InputError, match=rf"{name} does not belong to the comparison: .* apart, not"):
            bb.side_effects(*kvs, compared)


def test_word_lists_stand_for_their_comparison(small, slice_vectors, debiased):
    """The same figures by lists and by the comparison of their tables."""
    known = small().table()
    pd.testing.assert_frame_equal(bb.side_effects(slice_vectors, debiased, "gender", **SMALL).table(), known)
    values = known.set_index(["effect", "of"])["value"]
    assert values["nearest 10 kept", "protected"] == pytest.approx(0.7)
    assert values["old side, logistic", "after"] == pytest.approx(0.71)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("he;she;3\nNew York;city;1,5\n", None),
        ("a,b,c\nhe,she,3\nhe,,2\nboy,girl,much\nNew York,city,1.5\n", "2 lines without two words.*line 3: 'he,,2'"),
    ],
)
def test_pairs_of_a_file_are_read_whatever_stands_between_them(tmp_path, text, told):
    (tmp_path / "s.csv").write_text(text, newline="")
    with pytest.warns(bb.errors.CoverageWarning, match=told) if told else nullcontext():
        assert similarities(tmp_path / "s.csv") == [("he", "she", 3.0), ("New York", "city", 1.5)]
