"""Sums, differences and averages that a user takes of estimates would have wrong errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import bayesbias as bb
from bayesbias.contrast.contrast import rows_of
from bayesbias.models.tree import Fit
from bayesbias.numerics import mixtures
from bayesbias.posteriors import Estimates
from benchmarks.simulation import simulate

NUMBERS = ["mean", "sd", "low", "high", "p_closer"]


def words_of(contrasts):
    """Numbers of the words of a table of contrasts, without the whole list."""
    return contrasts[NUMBERS].iloc[1:].reset_index(drop=True)


@pytest.fixture(scope="module")
def cells(gender_fit):
    return bb.estimates(gender_fit)


@pytest.fixture(scope="module")
def crossed(slice_vectors):
    table = bb.distance_table(slice_vectors, "religion", relatedness=False)
    return bb.fit(table, "crossed", draws=400, seed=0)


def normals(seed=0, size=5, nodes=3):
    """Estimates with a mixture of normals, its means and its covariance at each node by numpy."""
    rng = np.random.default_rng(seed)
    mean, roots = rng.normal(size=size), rng.normal(size=(2, size, 4))
    mass, factors = rng.dirichlet(np.ones(nodes)), rng.gamma(5, 0.2, size=(nodes, 2))
    index = pd.DataFrame({"word": list("abcde")[:size], "kind": ["x", "x", "y", "y", "y"][:size]}, dtype="string")
    law = mixtures.Normals(mean, tuple(roots), mass, factors)
    each = np.einsum("na,amr->nmr", factors, roots)
    return Estimates.of(law, size, index), mean, mass, each @ np.swapaxes(each, 1, 2)


def check(found, mean, mass, covariances):
    """Means, sds, quantiles and probabilities of sums against those of scipy's normals."""
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.sd, np.sqrt(mass @ variances), rtol=1e-12)
    below = mass @ stats.norm.cdf((0.3 - mean) / np.sqrt(variances))
    np.testing.assert_allclose(found.below(0.3), below, rtol=1e-10)
    np.testing.assert_allclose(found.below(found.quantile(0.2)), 0.2, rtol=1e-8)
    np.testing.assert_allclose(found.covariance, np.einsum("n,nij->ij", mass, covariances), atol=1e-12)


def test_sums_differences_and_multiples_are_those_of_numpy():
    found, mean, mass, each = normals()
    check(found, mean, mass, each)
    weights = np.random.default_rng(1).normal(size=(3, 5))
    made = [weights @ matrix @ weights.T for matrix in each]
    check(found.combine(weights), weights @ mean, mass, np.array(made))
    check(found.combine(sparse.csr_array(weights)), weights @ mean, mass, np.array(made))
    difference = np.array([[1.0, 0, 0, -1, 0], [0, 1, 0, 0, -1]])
    first, second = found[:2], found[3:]
    made = np.array([difference @ matrix @ difference.T for matrix in each])
    check(first - second, difference @ mean, mass, made)
    check(2 * (first - second) / 4 + 1, difference @ mean / 2 + 1, mass, made / 4)
    check(1 - (first - second), 1 - difference @ mean, mass, made)
    check(np.array([1.0, 2.0]) * (first - second), [1, 2] * (difference @ mean), mass, made * np.outer([1, 2], [1, 2]))
    check(found[1].join(found[4]), mean[[1, 4]], mass, each[:, [1, 4]][:, :, [1, 4]])
    one = found - found[0]
    assert one.sd[0] == 0
    np.testing.assert_allclose(one.mean, mean - mean[0])
    assert [len(single) for single in found] == [1] * 5


def test_averages_by_a_label():
    found, mean, _, _ = normals()
    whole, by_kind = found.average(), found.average("kind")
    np.testing.assert_allclose(whole.mean, [mean.mean()])
    np.testing.assert_allclose(by_kind.mean, [mean[:2].mean(), mean[2:].mean()])
    assert by_kind.index["kind"].tolist() == ["x", "y"]
    assert by_kind.index["word"].tolist() == ["mean of 2", "mean of 3"]
    assert whole.index.iloc[0].tolist() == ["mean of 5", "mean of 5"]


def test_labels_of_a_difference_are_those_of_both():
    found, *_ = normals()
    assert (found[:2] - found[3:]).index.to_numpy().tolist() == [["a - d", "x - y"], ["b - e", "x - y"]]
    assert (found[2] + found[3]).index.iloc[0].tolist() == ["c + d", "y"]
    assert (found[:2] - found[0]).index["word"].tolist() == ["a", "b - a"]


def test_opposite_signs_and_draws_agree():
    found, mean, _, _ = normals(3)
    drawn = found.draws(200_000, seed=4)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.02)
    covariance = found.covariance.to_numpy()
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    np.testing.assert_allclose(np.cov(drawn.T) / scale, covariance / scale, atol=0.02)
    turned = found[[1, 2, 3, 4, 0]]
    share = (drawn * drawn[:, [1, 2, 3, 4, 0]] < 0).mean(axis=0)
    np.testing.assert_allclose(found.p_opposite(turned), share, atol=0.005)
    tree = found.to_datatree(500, seed=1)
    np.testing.assert_allclose(tree["posterior/value"][0], found.draws(500, seed=1))
    assert tree["posterior"]["word"].to_numpy().tolist() == list("abcde")
    labelled = found.covariance
    assert labelled.dims == ("quantity", "quantity_other")
    assert labelled["word_other"].to_numpy().tolist() == list("abcde")


@pytest.mark.parametrize("kind", ["gaussian", "draws", "pooled", "fields", "conditional"])
def test_every_law_agrees_with_its_draws(kind, cells, crossed, gender_fit):
    """Means, covariances and probabilities of opposite signs of weighted sums against a sample."""
    rng = np.random.default_rng(2)
    if kind == "gaussian":
        root = rng.normal(size=(6, 6))
        found = Estimates.of(mixtures.Gaussian(rng.normal(size=6), root @ root.T), 6)
    elif kind == "draws":
        found = Estimates.of(mixtures.Empirical(rng.normal(size=(50_000, 6)) @ rng.normal(size=(6, 6))), 6)
    elif kind == "pooled":
        found = rows_of(Fit(gender_fit), "associated", "different").words
    else:
        found = cells if kind == "fields" else bb.estimates(crossed)
        found = found.select(protected_word=found.index["protected_word"].drop_duplicates()[:2].tolist())
    sums = found.combine(rng.normal(size=(4, len(found))))
    drawn = sums.draws(20_000, seed=3)
    scale = np.outer(sums.sd, sums.sd)
    np.testing.assert_allclose(drawn.mean(axis=0), sums.mean, atol=5 * sums.sd.max() / np.sqrt(20_000))
    np.testing.assert_allclose(np.diag(sums.covariance), sums.sd**2, rtol=1e-9)
    np.testing.assert_allclose(np.cov(drawn.T) / scale, sums.covariance / scale, atol=0.05)
    centred = sums - sums.mean
    turned = centred[[1, 2, 3, 0]]
    away = drawn - sums.mean
    share = (away * away[:, [1, 2, 3, 0]] < 0).mean(axis=0)
    np.testing.assert_allclose(centred.p_opposite(turned), share, atol=0.02)


def test_cells_make_the_contrasts_of_the_package(gender_fit, cells):
    """Of two groups: the whole list, differences of words, and associations."""
    apart = cells.select(connection="associated") - cells.select(connection="different")
    rows = bb.contrasts(gender_fit, rope=0.01)
    whole = apart.average("group").average().summary(rope=0.01)
    columns = [*NUMBERS, "p_rope"]
    np.testing.assert_allclose(whole[columns].iloc[0], rows[columns].iloc[0].astype(float), rtol=1e-9)
    control = cells.select(connection="associated") - cells.select(list="human")
    pd.testing.assert_frame_equal(
        control.summary()[NUMBERS], words_of(bb.contrasts(gender_fit, second="human")), rtol=1e-9
    )
    # the association: the difference of both lists less its mean over both groups
    toward = cells.select(list="man") - cells.select(list="woman")
    sign = np.where(toward.index["group"] == "man", 1.0, -1.0)
    centred = (toward - toward.average("group").average()) * sign
    expected = bb.association(gender_fit).query("own")[NUMBERS].reset_index(drop=True)
    pd.testing.assert_frame_equal(centred.summary()[NUMBERS], expected, rtol=1e-9)


def test_cells_are_the_observed_mean_distances(gender_table, cells):
    wide = cells.index.assign(mean=cells.mean).pivot_table("mean", "protected_word", "list", sort=False)
    expected = gender_table.pivot_table("distance", "protected_word", "attribute_class", sort=False)
    assert wide.index.tolist() == expected.index.tolist()
    np.testing.assert_allclose(wide[expected.columns], expected, rtol=1e-12)


def test_a_table_without_groups_has_cells_by_connection(religion):
    table = religion.drop(columns="group")
    table.attrs = religion.attrs
    cells = bb.estimates(bb.fit(table, seed=0))
    assert set(cells.index["list"]) == {"associated", "different", "human", "neutral"}
    assert (cells.index["list"] == cells.index["connection"]).all()


def check_moments(estimates, rows, mean="mean", sd="sd", atol=0, rtol=1e-7):
    """Means and sds of estimates are those of a table's columns."""
    np.testing.assert_allclose(estimates.mean, rows[mean].astype(float), rtol=1e-7, atol=atol)
    np.testing.assert_allclose(estimates.sd, rows[sd].astype(float), rtol=rtol)


def test_changes_of_cells_are_the_changes_of_the_comparison(gender_change):
    before, after, moved = (gender_change.estimates.select(value=value) for value in ("before", "after", "change"))
    np.testing.assert_allclose((after - before).mean, moved.mean, atol=1e-12)
    np.testing.assert_allclose((after - before).sd, moved.sd, rtol=1e-6)
    for control in ("human", "neutral"):
        check_moments(moved.select(list=control), gender_change.changes(control)[1:], atol=1e-12, rtol=1e-6)
    apart = moved.select(connection="associated") - moved.select(connection="different")
    sides = gender_change.sides("associated", "different", rows="difference")
    check_moments(apart, sides.change.summary()[1:], atol=1e-12, rtol=1e-6)
    start = before.select(connection="associated") - before.select(connection="different")
    np.testing.assert_allclose(apart.p_opposite(start + start + apart), sides.p_shrank[1:], rtol=1e-6, atol=1e-9)


def test_drawn_changes_of_two_embeddings_have_estimates(crossed):
    shape = {"groups": {"a": 3, "b": 3}, "stereotypes": {"a": 6, "b": 6}, "human": 8}
    scales = {"connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.1, "interaction_sd": 0.03}
    before = simulate(shape, "crossed", scales | {"connection_mean": 0.9}, 1)
    before.attrs = {}
    rng = np.random.default_rng(0)
    moved = [before.assign(distance=before["distance"] + rng.normal(0.01, 0.01, len(before))) for _ in range(2)]
    result = bb.compare(before=before, after=moved[0], draws=400, seed=0)
    human = result.estimates.select(value="change", list="human")
    check_moments(human, result.changes("human")[1:], atol=1e-9, rtol=1e-9)
    several = bb.compare({"a": before, "b": moved[0], "c": moved[1]}, draws=400, seed=0)
    with pytest.raises(bb.InputError, match="drawn one by one have no joint posterior"):
        _ = several.estimates


def test_estimates_of_pools_and_trends(slice_vectors, hard_debiased):
    embeddings = {"one": slice_vectors, "other": bb.load_embedding("glove-50d-slice"), "third": hard_debiased}
    tables = {name: bb.distance_table(kv, "gender") for name, kv in embeddings.items()}
    pool = bb.pool(tables, seed=0)
    table = pool.table().query("quantity == 'embedding'")
    check_moments(pool.estimates, table, "estimate", "se")
    apart = pool.estimates.select(embedding="one") - pool.estimates.select(embedding="other")
    covariance = pool.estimates.covariance.to_numpy()
    assert apart.sd[0] ** 2 == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    theta = pool.population.select(variable="theta")
    np.testing.assert_allclose(theta.mean, table["mean"])
    assert theta.index["name"].tolist() == ["one", "other", "third"]
    larger = (theta.select(name="one") - theta.select(name="other")).below(0.0)[0]
    assert 1 - larger == pytest.approx(pool.probability("one", "other"))


def test_estimates_of_axes_and_criteria(slice_vectors):
    words = ["math", "science", "art", "poetry", "dance"]
    pairs = bb.load_list("gender_pairs").pairs
    axis = bb.axis(slice_vectors, pairs, words=words)
    table = axis.table(order=False)
    check_moments(axis.estimates, table)
    np.testing.assert_allclose(axis.estimates.covariance, axis.covariance())
    both = axis.estimates.select(word=["math", "science"]).average() - axis.estimates.select(word="art")
    row = axis.contrast(["math", "science"], ["art"]).iloc[0]
    names = ["mean", "sd", "low", "high"]
    assert both.summary()[names].iloc[0].tolist() == pytest.approx(row[names].tolist())
    found = bb.criterion(axis, dict(zip(words, [1, 2, 4, 5, 7], strict=True)), seed=0)
    check_moments(found.estimates, found.words, "estimate", "se")
    slope = found.population.select(variable="slope")
    assert slope.mean[0] == pytest.approx(found.table().set_index("quantity").loc["slope", "mean"])


def test_two_tables_whose_controls_stand_in_another_order(slice_vectors):
    """The covariance of cells follows their labels, not the order of connections in each table."""
    lists = bb.load_words("weat7")
    glove = bb.load_embedding("glove-50d-slice")
    controls = {"first": lists.controls["human"], "second": lists.controls["neutral"]}
    tables = {}
    for turned in (False, True):
        given = dict(reversed(controls.items())) if turned else controls
        one = bb.WordLists("one", lists.protected, lists.stereotypes, controls)
        other = bb.WordLists("one", lists.protected, lists.stereotypes, given)
        tables[turned] = {"a": bb.distance_table(slice_vectors, one), "b": bb.distance_table(glove, other)}
    found = [bb.pool(each, ("first", "second"), seed=0).estimates.covariance.to_numpy() for each in tables.values()]
    np.testing.assert_allclose(*found, rtol=1e-4)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda cells: cells.select(protected_word="motherr"), r"the protected_word 'motherr' \(did you mean 'mother'"),
        (lambda cells: cells * cells, "products and ratios of estimates are no weighted sums"),
    ],
)
def test_wrong_input_is_said(cells, ask, message):
    with pytest.raises(bb.InputError, match=message):
        ask(cells)


def test_estimates_of_two_posteriors_are_not_combined(gender_fit, cells):
    with pytest.raises(bb.InputError, match="no joint posterior"):
        cells.join(bb.estimates(gender_fit))
