"""Single words would be named as biased too often, and not the same words in every table and picture."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias import contrast
from bayesbias.models.related import prior_scale
from bayesbias.models.tree import Fit
from bayesbias.models.weights import whole_weights
from bayesbias.numerics import constants, mixtures
from bayesbias.numerics.mixtures import Normals
from bayesbias.posteriors import Estimates

rows_in = contrast.contrast


@pytest.fixture(scope="module")
def posts(gender_fit, religion_fit, weat7_fit):
    """Fits of bundled lists by name."""
    return {"gender": gender_fit, "religion": religion_fit, "weat7": weat7_fit}


def named(table):
    return table["protected_word"][table["sign"].notna()].tolist()


def weights_of(data, rows):
    """The weights in the whole list of the words that have a row."""
    kept = np.isin(data.protected_words, rows.unshrunk.index["protected_word"].tolist())
    return whole_weights(data, kept)[kept]


@pytest.mark.parametrize(("name", "second"), [("gender", "different"), ("religion", "human")])
def test_pooled_rows_and_the_whole_list_have_one_posterior(posts, name, second):
    """For associations and for differences, whose errors have a factor for each kind of list."""
    result = Fit(posts[name])
    rows = rows_in.rows_of(result, "associated", second)
    whole = rows.shrunken.combine(weights_of(result.data, rows))
    np.testing.assert_allclose(whole.mean, rows.whole.mean, atol=1e-9)
    np.testing.assert_allclose(whole.sd, rows.whole.sd, rtol=1e-3)
    np.testing.assert_allclose(whole.quantile(0.055), rows.whole.quantile(0.055), atol=2e-2 * rows.whole.sd[0])
    assert (rows.shrunken.sd < rows.whole.sd + rows.words.sd).all()


def test_words_are_named_by_the_rule(posts):
    """The expected share of wrong signs among the named is below .025, and one word more would raise it above."""
    for name in ("gender", "religion"):
        table = bb.contrasts(posts[name])
        assert table["high"].iloc[0] < 0
        rows = table.iloc[1:].set_index("protected_word")
        rates = np.minimum(rows["p_closer"], 1 - rows["p_closer"]).sort_values()
        chosen = named(table)
        assert rates[chosen].sum() <= 0.025 * len(chosen)
        # one word more has an interval that includes 0, or too many wrong signs with it
        following = rates.iloc[: len(chosen) + 1]
        assert len(chosen) == len(rates) or following.iloc[-1] >= 0.055 or following.mean() >= 0.025
        outside = (rows["low"] > 0) | (rows["high"] < 0)
        assert outside[chosen].all()
        assert (rows["mean"][rows["sign"] == "closer"] < 0).all()


@pytest.mark.parametrize(("name", "prob"), [("weat7", 0.89), ("gender", 0.9999999)])
def test_no_word_is_named_where_the_whole_list_includes_0(posts, name, prob):
    table = bb.contrasts(posts[name], prob=prob)
    assert table["low"].iloc[0] < 0 < table["high"].iloc[0]
    assert table["sign"].isna().all()


def test_signs_do_not_depend_on_the_target(posts):
    own = bb.contrasts(posts["gender"])["sign"]
    assert own.notna().any()
    similar = bb.contrasts(posts["gender"], target="population")
    assert similar["low"].iloc[0] < 0 < similar["high"].iloc[0]
    pd.testing.assert_series_equal(similar["sign"], own)


def test_a_sign_is_clear_only_where_the_interval_excludes_0():
    """Many certain words leave room for an uncertain one, whose interval includes 0."""
    means = np.array([-3.0] * 15 + [-1.5])  # standard deviations of 1: the last has 6.7% on the other side
    index = pd.DataFrame({"protected_word": [f"w{at}" for at in range(16)]})
    words = Estimates.of(Normals(means, (np.eye(16),)), 16, index)
    whole = words.combine(np.full((1, 16), 1 / 16), index.iloc[:1])
    assert rows_in.named_together(words.below(0.0)).all()
    signs = rows_in.Rows(whole, words, words, "association", whole).clear_signs(0.89)
    assert signs.tolist() == [-1] * 15 + [0]


def test_rows_of_groups_average_to_the_whole_list(posts, religion):
    """By hand from the distances: lists and groups weigh the same, however many words they have."""
    lists = religion[religion["connection"].isin(["associated", "different"])]
    assert len(set(lists.groupby("attribute_class")["attribute_word"].nunique())) > 1
    means = lists.pivot_table("distance", ["group", "protected_word"], "attribute_class", observed=True)
    by_group = means.groupby("group").mean()  # (groups, lists)
    controls = religion[~religion.index.isin(lists.index)].groupby(["group", "connection"], observed=True)
    beyond = by_group.sub(controls["distance"].mean().groupby("group").mean(), axis=0)
    found = bb.contrasts(posts["religion"], by="group").set_index("group")["mean"]
    for group in by_group.index:
        expected = beyond.loc[group, group] - beyond[group].drop(group).mean()
        assert found[group] == pytest.approx(expected, abs=0.01)
    whole = bb.contrasts(posts["religion"])["mean"].iloc[0]
    assert found[by_group.index].mean() == pytest.approx(whole, abs=1e-9)


def test_controls_of_groups_are_left_out_where_there_are_none():
    groups = {"a": ("priest", "church", "bible"), "b": ("imam", "mosque", "koran")}
    lists = bb.WordLists("pair", groups, {"a": ("greedy", "rich", "old"), "b": ("violent", "dirty", "poor")}, {})
    table = bb.distance_table("glove-50d-slice", lists)
    means = table.pivot_table("distance", "group", "attribute_class", observed=True)
    found = bb.contrasts(bb.fit(table, seed=0), by="group").set_index("group")["mean"]
    for group, other in ("ab", "ba"):
        assert found[group] == pytest.approx(means.loc[group, group] - means.loc[other, group], abs=0.01)


@pytest.mark.slow
def test_a_group_with_random_stereotypes_is_not_credible_beside_groups_with_own():
    kv, rng = bb.load_embedding("glove-50d-slice"), np.random.default_rng(0)
    lists = bb.load_words("religion")
    people = {group: [word for word in words if word in kv] for group, words in lists.protected.items()}
    listed = {word for words in people.values() for word in words}

    def near(words, count):
        return [word for word, _ in kv.most_similar(list(words), topn=60) if word not in listed][:count]

    own = {group: near(people[group], 10) for group in ("jew", "christian")}
    vocabulary = [word for word in kv.index_to_key[300:8000] if word.isalpha() and len(word) > 2]
    away, means = [], []
    for word in rng.choice(vocabulary, 60, replace=False):
        stereotypes = own | {"muslim": [word, *near([word], 9)]}
        post = bb.fit(bb.distance_table(kv, bb.WordLists("one random", people, stereotypes, lists.controls)), seed=0)
        row = bb.contrasts(post, by="group").set_index("group").loc["muslim"]
        away.append(row["low"] > 0 or row["high"] < 0)
        means.append(row["mean"])
    assert np.mean(away) <= 0.11 + 2 * np.sqrt(0.11 * 0.89 / 60)
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(len(means))


def encoder(texts):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [[text.count(letter) + 0.1 for letter in letters] for text in texts]


def test_rows_of_a_fit_with_templates_are_pooled_too():
    """Its posterior is one of draws, with errors of templates."""
    vectors = bb.encode(encoder, "weat7", ["{}.", "This is {}."])
    post = bb.fit(bb.distance_table(vectors, "weat7"), seed=0)
    rows = bb.contrasts(post).iloc[1:]
    assert rows["mean"].mean() == pytest.approx(rows["unshrunk"].mean(), abs=1e-9)
    assert rows["mean"].std() < rows["unshrunk"].std()
    assert rows["sd"].mean() < bb.association(post).query("own")["sd"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gender", "religion"])
def test_null_tables_name_no_word_and_named_signs_are_right(posts, name):
    """Associations of the vectors' covariance around planted ones, named from pooled rows and as raw rows would."""
    result = Fit(posts[name])
    found = rows_in.rows_of(result, "associated", "different")
    raw, weights = found.unshrunk, weights_of(result.data, found)
    assert len(weights) == len(result.data.groups)
    block = rows_in.pooled_blocks(result.data.group_index)
    scale = constants.POOL_SD * prior_scale(result.data)
    rng, replicates, root = np.random.default_rng(4), 2000, raw.weights @ raw.law.roots[0]
    counts = {}
    for mean, sd in ((0.0, 0.0), (-0.06, 0.0), (-0.06, 0.03)):
        tables, total, wrong, raw_total = 0, 0, 0, 0
        for _ in range(replicates):
            theta = mean + sd * rng.standard_normal(len(weights))
            factor = rng.choice(raw.law.factors[:, 0], p=raw.law.mass)
            errors = factor * root @ rng.standard_normal(root.shape[1])
            moved = raw - raw.mean + (theta + errors)
            whole = moved.combine(weights)
            signs = np.zeros(len(weights), dtype=int)
            if whole.excludes(0.0, 0.89)[0]:  # otherwise the rule names no word
                pooled = rows_in.pooled_over_words(moved, weights, block, scale)
                signs = rows_in.Rows(whole, pooled, pooled, "association", whole).clear_signs(0.89)
            tables += signs.any()
            total += np.count_nonzero(signs)
            wrong += np.count_nonzero((signs != 0) & (signs != np.sign(theta)))
            below = moved.below(0.0)
            raw_total += np.count_nonzero(mixtures.s_values(mixtures.false_sign_rates(below)) < 0.05)
        counts[mean, sd] = tables / replicates, wrong / max(total, 1), total, raw_total
    assert counts[0.0, 0.0][0] <= 0.11
    for planted in ((-0.06, 0.0), (-0.06, 0.03)):
        assert counts[planted][1] <= 0.05
    # where words differ by as much as the whole list's error, both rules name about as many
    assert counts[-0.06, 0.0][2] > counts[-0.06, 0.0][3]


NUMBERS = ["mean", "sd", "low", "high", "p_closer"]


@pytest.mark.parametrize(("name", "target"), [("religion", "sample"), ("crossed", "population")])
def test_one_name_is_one_number(posts, weat7_crossed, name, target):
    """Of one word, fit and target, wherever words are shown."""
    post = weat7_crossed if name == "crossed" else posts[name]
    rows = bb.contrasts(post, target=target)
    words = rows.iloc[1:].reset_index(drop=True)
    assert words.columns.tolist() == ["protected_word", "group", *NUMBERS, "unshrunk", "sign"]
    pd.testing.assert_frame_equal(words, bb.summary(post).words)
    raw, parts = bb.association(post).query("own"), bb.decomposition(post, target=target)
    for unshrunk in (raw, parts[parts["contrast"] == "association"]):
        assert unshrunk["protected_word"].tolist() == words["protected_word"].tolist()
        np.testing.assert_allclose(unshrunk["mean"], words["unshrunk"], atol=1e-12)
    assert parts["mean"].iloc[0] == pytest.approx(rows["mean"].iloc[0], abs=1e-12)
    human = bb.contrasts(post, second="human").iloc[1:]
    assert (human["mean"] == human["unshrunk"]).all()
    of_parts = parts.iloc[3:].query("contrast == 'associated - human'")
    np.testing.assert_allclose(of_parts[NUMBERS], human[NUMBERS], rtol=1e-9, atol=1e-12)
    forest = bb.plots.plot_contrasts(post, target=target).axes[0]
    drawn = [
        x
        for each in forest.collections
        if hasattr(each, "get_sizes")
        for x in np.ma.compressed(each.get_offsets()[:, 0])
    ]
    assert np.isin(np.round(words["mean"], 9), np.round(drawn, 9)).all()
    for table in (rows, raw, parts, human):
        assert set(table.attrs) == {"words", "embedding", "model", "prob", "version"}
