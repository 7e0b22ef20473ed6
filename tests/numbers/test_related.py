"""Words of one topic would count as independent evidence, and most intervals would be far too narrow."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias import models, numerics
from bayesbias.distances.distances import Distances
from bayesbias.vectors import keyed_vectors
from benchmarks.inside import related_posterior


def embedding(words, vectors):
    return keyed_vectors(list(words), np.asarray(vectors, dtype=np.float32))


def made_up(sampled=500, topics=60, dims=20, seed=0):
    """An embedding whose words come in topics, with two groups of protected words and lists of three kinds."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(topics, dims))
    own = {"p1": 0, "p2": 0, "p3": 1, "p4": 1, **{f"a{i}": 2 for i in range(4)}, **{f"b{i}": 3 for i in range(3)}}
    vectors = [centres[topic] + 0.5 * rng.normal(size=dims) for topic in own.values()]
    vectors += list(rng.normal(size=(6, dims)))  # unrelated control words
    vectors += list(centres[rng.integers(topics, size=sampled)] + 0.5 * rng.normal(size=(sampled, dims)))
    words = [*own, *(f"h{i}" for i in range(6)), *(f"v{i}" for i in range(sampled))]
    return embedding(words, np.array(vectors)), LISTS


LISTS = bb.WordLists(
    "made up",
    {"a": ["p1", "p2"], "b": ["p3", "p4"]},
    {"a": ["a0", "a1", "a2", "a3"], "b": ["b0", "b1", "b2"]},
    {"human": [f"h{i}" for i in range(6)]},
)


@pytest.fixture(scope="module")
def small():
    kv, lists = made_up()
    return kv, lists, bb.distance_table(kv, lists)


@pytest.fixture(scope="module")
def known(small):
    """The relatedness of the small table."""
    return bb.relatedness(small[2])


@pytest.fixture(scope="module")
def data(small, known):
    """What a fit reads of the small table."""
    return replace(Distances.read(small[2]), relatedness=known)


@pytest.fixture(scope="module")
def posterior(data):
    """The exact posterior of the small table."""
    return related_posterior(bb.load_model("related"), data)


class TestCovariance:
    def test_components_are_the_covariance_of_the_sample(self, known):
        """The mean distance as it varies over the vocabulary, and what it leaves as it varies near the stereotypes."""
        scatter, parts = known.scatter.astype(float), known.components
        again = (parts.loadings * parts.variances) @ parts.loadings.T
        both = np.vstack([scatter.mean(axis=0), scatter])
        near, everywhere = (
            np.cov(both, aweights=weights, ddof=0) for weights in (known.near_weights, known.everywhere_weights)
        )
        slope = near[1:, 0] / near[0, 0]
        of_mean, rest = np.outer(slope, slope), near[1:, 1:] - np.outer(slope, slope) * near[0, 0]
        expected = of_mean * everywhere[0, 0] * known.inflations[0] + rest * known.inflations[1]
        np.testing.assert_allclose(again, expected, atol=1e-12)
        np.testing.assert_allclose((parts.loadings**2).sum(axis=0), 1)
        np.testing.assert_allclose(parts.loadings[:, 1:].T @ parts.loadings[:, 1:], np.eye(3), atol=1e-9)

    def test_variance_of_a_sum_equals_the_double_loop(self, known):
        weights = np.random.default_rng(1).normal(size=(4, len(known.attribute_words)))
        parts, similarity = known.components, known.units @ known.units.T
        total = 0.0
        for w in range(weights.shape[1]):
            for other in range(weights.shape[1]):
                place = min(int((similarity[w, other] + 1) / 0.01), 199)
                for q, variance in enumerate(parts.variances):
                    rho = 1.0 if w == other else parts.correlations[q, place]
                    left, right = (parts.loadings[:, q] @ weights[:, at] for at in (w, other))
                    total += variance * rho * left * right
        assert known.covariance(weights) == pytest.approx(total, rel=1e-9)

    def test_cells_have_the_covariance_of_their_mean_distances(self, known, data):
        sums = models.related.related_sums(data)
        weights = np.zeros((len(sums.y), 4, len(known.attribute_words)))
        for at, (word, connection) in enumerate(zip(sums.word, sums.connection, strict=True)):
            rows = (data.word == word) & (data.connection == connection)
            columns = [known.attribute_words.index(data.attribute_words[w]) for w in data.attribute[rows]]
            weights[at, known.protected_words.index(data.protected_words[word]), columns] = 1 / rows.sum()
        expected = known.covariance(weights)
        np.testing.assert_allclose(sums.covariance, expected, atol=1e-6 * np.trace(expected))

    def test_long_lists_are_estimated_from_some_of_their_words(self):
        rng = np.random.default_rng(0)
        units = rng.normal(size=(5000, 8)) + np.repeat(rng.normal(size=(2, 8)), 2500, axis=0)
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        member = np.zeros((2, 5000), dtype=bool)
        member[0, :2500], member[1, 2500:] = True, True
        same, shares = numerics.related.pair_shares(member, units)
        assert same.tolist() == [[1 / 2500, 0], [0, 1 / 2500]]
        np.testing.assert_allclose(shares.sum(axis=2) + same, 1)
        middle = -1 + 0.01 * (np.arange(200) + 0.5)
        exact = [[units[a].mean(0) @ units[b].mean(0) for b in member] for a in member]
        np.testing.assert_allclose(shares @ middle + same, exact, atol=0.01)

    def test_a_field_without_relation_has_no_correlation(self):
        rng = np.random.default_rng(3)
        units = rng.normal(size=(1500, 10))
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        scatter = rng.normal(size=(2, 1500))
        parts = numerics.related.components_of(
            scatter, numerics.related.sample_pairs(units, rng), np.ones(1500), np.ones(1500)
        )
        assert np.abs(parts.correlations[:, 70:130]).max() < 0.03
        one = numerics.related.list_correlations(parts.correlations, np.eye(1) / 10, np.zeros((1, 1, 200)))
        np.testing.assert_allclose(one, 0.1)

    def test_more_protected_than_sampled_words_have_the_components_of_their_covariance(self):
        rng = np.random.default_rng(5)
        units, scatter, near = rng.normal(size=(60, 10)), rng.normal(size=(90, 60)), rng.uniform(0.5, 2, 60)
        near /= near.mean()
        pairs = numerics.related.sample_pairs(units / np.linalg.norm(units, axis=1, keepdims=True), rng)
        parts = numerics.related.components_of(scatter, pairs, near, near)
        apart = scatter - (scatter @ near / 60)[:, None]
        covariance = (parts.loadings * parts.variances) @ parts.loadings.T
        np.testing.assert_allclose(covariance, (apart * near) @ apart.T / 60, atol=1e-12)
        assert parts.loadings.shape == (90, 1 + 58)  # the mean, and what is left of 60 words centred


REMEDY = "encode 1,000 common words of the language too"


class TestSample:
    def test_few_words_warn_and_widen(self):
        kv, lists = made_up(sampled=94)  # and 6 control words
        with pytest.warns(bb.errors.RelatednessWarning, match=rf"only 100 words .*{REMEDY}"):
            found = bb.relatedness(kv, lists)
        assert max(found.inflations) == pytest.approx(1.51)
        near = found.near.sum() ** 2 / (found.near**2).sum()
        assert found.inflations[1] == pytest.approx(1 + (100 / near - 1) * (2 - 0.35) * 0.35)
        assert bb.relatedness(*made_up()).inflations[0] == 1.0


class TestTable:
    def test_relatedness_of_other_vectors_is_refused(self, small):
        other = bb.distance_table(*made_up(seed=1))
        table = bb.DistanceTable(small[2], relatedness=other.relatedness)
        with pytest.raises(bb.InputError, match="is of other vectors"):
            bb.fit(table, seed=0)

    def test_a_fit_keeps_it_on_disk_and_takes_nothing_for_granted(self, small, known, tmp_path):
        post = bb.fit(small[2], seed=0)
        bb.save_fit(post, tmp_path / "fit.nc")
        back = bb.load_fit(tmp_path / "fit.nc")
        np.testing.assert_array_equal(bb.relatedness(back).scatter, known.scatter)
        pd.testing.assert_frame_equal(bb.contrasts(back), bb.contrasts(post))
        assert "unrelated" not in {note.code for note in bb.summary(post).notes}


def brute_force(sums, prior_sd=100.0, spread=0.2):
    """Posterior mean and covariance of the cells by a grid over both factors and dense formulas.

    The means have a very wide normal prior here in place of the flat one of the model.
    """
    same = (sums.connection[:, None] == sums.connection).astype(float)
    prior = prior_sd**2 * (same + np.eye(len(sums.y)))
    z = np.linspace(-4.5, 4.5, 61)
    log_mass, means, covariances = [], [], []
    for at in np.ndindex(61, 61):
        factors = np.exp(-(spread**2) + spread * z[list(at)])
        scale = factors[sums.kind]
        noise = scale[:, None] * scale * sums.covariance + 1e-9 * np.diag(sums.covariance).mean() * np.eye(len(scale))
        inverse, (_, log_det) = np.linalg.inv(prior + noise), np.linalg.slogdet(prior + noise)
        y = sums.y - 1
        density = -0.5 * (log_det + y @ inverse @ y) - 0.5 * (z[list(at)] ** 2).sum()
        density -= (sums.freedom * (np.log(factors) + 0.5 * sums.scatter / factors**2)).sum()
        gain = prior @ inverse
        log_mass.append(density)
        means.append(1 + gain @ y)
        covariances.append(prior - gain @ prior)
    mass = np.exp(np.array(log_mass) - max(log_mass))
    mass /= mass.sum()
    mean = mass @ np.array(means)
    apart = np.array(means) - mean
    return mean, np.tensordot(mass, np.array(covariances), 1) + (apart * mass[:, None]).T @ apart


class TestModel:
    def test_moments_equal_the_dense_posterior(self, posterior):
        mean, covariance = posterior.moments(np.eye(len(posterior.sums.y)))
        expected_mean, expected = brute_force(posterior.sums)
        sd = np.sqrt(np.diag(expected))
        np.testing.assert_allclose(mean, expected_mean, atol=1e-3 * sd.min())
        scale = np.outer(sd, sd)
        np.testing.assert_allclose(covariance / scale, expected / scale, atol=0.003)

    def test_draws_have_these_moments(self, small, posterior):
        mean, covariance = posterior.moments(np.eye(len(posterior.sums.y)))
        draws = bb.fit(small[2], draws=40_000, seed=1)["posterior/word_mean"].to_numpy().reshape(40_000, -1)
        sd = np.sqrt(np.diag(covariance))
        assert (np.abs(draws.mean(axis=0) - mean) < 4 * sd / 200).all()
        np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.03)

    def test_the_given_contrast_is_the_observed_one_with_the_variance_of_the_vectors(self, gender_table, gender_fit):
        table, post, second = gender_table, gender_fit, "human"
        found = bb.relatedness(table)
        means = table.pivot_table("distance", "protected_word", "connection")
        observed = (means["associated"] - means[second]).mean()
        row = bb.contrasts(post, second=second).iloc[0]
        factors = (post["posterior/sd_factor"] ** 2).mean(["chain", "draw"]) ** 0.5
        signs = table["connection"].map({"associated": 1.0, second: -1.0}).astype(float).fillna(0.0)
        n = table.groupby(["protected_word", "connection"])["distance"].transform("size")
        of_class = {"associated": factors[0], "different": factors[0], "human": factors[1]}
        scale = table["connection"].map(of_class).astype(float).fillna(0.0)
        weights = table.assign(weight=signs * scale / n / 14)
        weights = weights.pivot_table("weight", "protected_word", "attribute_word")
        assert row["mean"] == pytest.approx(observed, abs=0.004)
        assert row["sd"] == pytest.approx(np.sqrt(found.covariance(weights.fillna(0))), rel=0.04)

    def test_without_relatedness_it_is_the_crossed_model(self, plain_gender):
        post = bb.fit(plain_gender, seed=0)
        assert post.attrs["model"] == "crossed"
        assert {"model", "unrelated"} <= {note.code for note in bb.summary(post).notes}
        with pytest.raises(bb.InputError, match="needs to know how words are related"):
            bb.fit(plain_gender, "related", seed=0)

    def test_words_with_one_vector_count_once(self):
        kv, lists = made_up()
        twins = {word: kv[word] for word in kv.index_to_key} | {"p2": kv["p1"]}
        pruned = embedding(twins, np.array(list(twins.values())))
        assert "p2" not in set(bb.distance_table(pruned, lists)["protected_word"])
        table = bb.distance_table(pruned, lists, twins="keep")
        words = bb.fit(table, seed=0)["posterior/word_mean"]
        apart = words.sel(protected_word="p1") - words.sel(protected_word="p2")
        assert float(np.abs(apart).max()) < 1e-3
        assert bb.relatedness(table).effective_words()["effective"][0] < 1.3

    def test_a_single_attribute_word_has_the_variance_of_one_word(self, small):
        kv, _, _ = small
        one = bb.WordLists("one", {"a": ["p1", "p2"]}, {"a": ["a0"]}, {"human": ["h0", "h1"]})
        table = bb.distance_table(kv, one)
        found = bb.relatedness(table)
        sums = models.related.related_sums(replace(Distances.read(table), relatedness=found))
        alone, own = found.components.loadings**2 @ found.components.variances, np.flatnonzero(sums.connection == 0)
        np.testing.assert_allclose(np.diag(sums.covariance)[own], alone[sums.word[own]], rtol=1e-6)

    @pytest.mark.slow
    def test_nuts_agrees(self, small):
        exact = bb.fit(small[2], draws=16_000, seed=1)
        nuts = bb.fit(small[2], engine="nuts", draws=8_000, seed=2)
        assert bb.diagnose(nuts).ok
        for name in ("word_mean", "sd_factor", "connection_mean", "connection_sd"):
            a, b = (post["posterior"][name].to_numpy() for post in (exact, nuts))
            a, b = (values.reshape(values.shape[0] * values.shape[1], -1) for values in (a, b))
            error = np.hypot(b.std(axis=0) / np.sqrt(2000), a.std(axis=0) / np.sqrt(16_000))
            assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all(), name
            if name != "connection_sd":  # its tails are heavy
                np.testing.assert_allclose(a.std(axis=0), b.std(axis=0), rtol=0.08)


def test_predicted_distances_have_the_covariance_of_the_table(data):
    rows, size = np.linspace(0, len(data.y) - 1, 40).astype(int), 4000
    kernels, columns = models.related.kernels_of(data), models.related.protected_root(data)[data.word[rows]]
    attribute = data.attribute[rows]
    expected = sum(
        np.outer(column, column) * kernels.mean(each)[np.ix_(attribute, attribute)]
        for column, each in zip(columns.T, kernels.correlations, strict=True)
    )
    drawn = models.related._fields_of(data)(size, np.random.default_rng(0))[:, rows]
    sds = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(drawn.std(axis=0), sds, rtol=5 / np.sqrt(2 * size))
    np.testing.assert_allclose(
        np.cov(drawn, rowvar=False) / np.outer(sds, sds), expected / np.outer(sds, sds), atol=0.1
    )


def test_predictions_of_further_words_and_of_other_lists(gender_table, gender_fit):
    inside = bb.check_predictions(gender_fit).set_index("connection")["inside_89"]
    assert 0.85 < inside["human"] < 0.99
    tree = bb.checks.add_predictive(bb.fit(gender_table, draws=200, seed=1))
    drawn = tree["posterior_predictive/distance"].to_numpy()
    assert drawn.shape == (4, 50, len(gender_table))
    assert 0.8 < drawn.std(axis=(0, 1)).mean() / gender_table["distance"].std() < 1.6


@pytest.mark.parametrize(("vectors", "words"), [("google-news-slice", "gender"), ("glove-50d-slice", "race")])
def test_a_contrast_does_not_depend_on_lists_that_it_does_not_use(vectors, words):
    kv, lists = bb.load_embedding(vectors), bb.load_words(words)
    human = lists.controls["human"]
    four = {f"part {at}": human[at::4] for at in range(4)}
    found = {"sample": [], "population": [], "tree": []}
    for controls in ({}, {"human": human}, four):
        given = bb.WordLists(words, lists.protected, lists.stereotypes, controls)
        post = bb.fit(bb.distance_table(kv, given), draws=40_000, seed=0)
        for population in ("sample", "population"):
            row = bb.contrasts(post, target=population).iloc[0]
            found[population].append(row[["mean", "sd", "low", "high"]].to_numpy(dtype=float))
        mean = post["posterior/connection_mean"]
        draws = (mean.sel(connection="associated") - mean.sel(connection="different")).to_numpy()
        found["tree"].append(np.quantile(draws, [0.055, 0.25, 0.75, 0.945]))
    for exact in (found["sample"], found["population"]):
        # a control word that another list holds leaves an empty cell
        np.testing.assert_allclose(exact[1:], [exact[0]] * 2, rtol=1e-3)
    of_nodes = bb.contrasts(post, prob=0.5, target="population").iloc[0]
    expected = [*found["population"][0][2:], of_nodes["low"], of_nodes["high"]]
    for quantiles in found["tree"]:
        np.testing.assert_allclose(quantiles[[0, 3, 1, 2]], expected, atol=0.05 * found["population"][0][1])


def test_exchanged_stereotypes_of_two_groups_mirror_the_interval():
    kv, lists = bb.load_embedding("glove-50d-slice"), bb.load_words("weat7")
    first, second = lists.protected
    exchanged = {first: lists.stereotypes[second], second: lists.stereotypes[first]}
    other = bb.WordLists("weat7", lists.protected, exchanged, lists.controls)
    one, two = (bb.contrasts(bb.fit(bb.distance_table(kv, each), seed=0)).iloc[0] for each in (lists, other))
    assert one["mean"] == pytest.approx(-two["mean"], abs=1e-12)
    assert one["sd"] == pytest.approx(two["sd"], rel=1e-9)
    assert one["low"] == pytest.approx(-two["high"], abs=1e-9)


def test_levels_of_words_are_no_scatter(slice_vectors):
    """Where pairs are missing, too."""
    table = bb.distance_table(slice_vectors, "religion", relatedness=True)
    rng = np.random.default_rng(0)
    for rows in (table, table[rng.random(len(table)) > 0.05]):
        data = models.tree.read_distances(rows)
        level = 0.1 * rng.standard_normal(len(data.protected_words))
        fields = models.related.related_sums(data)
        squares = fields.counted.squares(level[data.word][None])[0]
        np.testing.assert_allclose(squares, 0, atol=1e-9)


class TestPopulation:
    """The second stage: protected words like these."""

    def test_the_scatter_of_errors_is_that_of_simulated_ones(self):
        rng = np.random.default_rng(0)
        filled = np.ones((5, 3), dtype=bool)
        filled[2, 1] = False
        root = rng.standard_normal((14, 14))
        found = numerics.related.scatter_of_errors(root @ root.T, filled)
        cells = np.full((20_000, 5, 3), np.nan)
        cells[:, filled] = rng.standard_normal((20_000, 14)) @ root.T
        apart = cells[:, filled.all(axis=1)]
        apart -= apart.mean(axis=1, keepdims=True)
        simulated = np.einsum("bjk,bjl->kl", apart, apart) / 20_000
        np.testing.assert_allclose(found, simulated, atol=0.05 * np.abs(found).max())

    def test_intervals_for_similar_words_hold_the_mean_of_the_population(self):
        """400 tables of 8 words, with errors of .03 that are half common to all words."""
        rng, covered, one = np.random.default_rng(3), [], np.ones((1, 2))
        filled = np.ones((8, 2), dtype=bool)
        errors = 0.03**2 * (np.eye(16) + np.kron(np.ones((8, 8)), np.eye(2))) / 2
        root, contrast = np.linalg.cholesky(errors), np.tile([1, -1], 8) / 8
        noise = numerics.related.scatter_of_errors(errors, filled)
        for _ in range(400):
            observed = 0.05 * rng.standard_normal((8, 2)) + (root @ rng.standard_normal(16)).reshape(8, 2)
            found = numerics.related.population_of(observed, noise, np.eye(8), 0.03)
            inverse, mass = found.nodes()
            variance = found.of_sums(np.array([[1.0, -1.0]]), inverse, one)[:, 0, 0] + contrast @ errors @ contrast
            below = mass @ stats.norm.cdf(0, observed[:, 0].mean() - observed[:, 1].mean(), np.sqrt(variance))
            covered.append(0.055 < below < 0.945)
        assert 0.83 < np.mean(covered) < 0.95

    def test_errors_are_taken_off_each_sum_by_itself(self):
        """However other connections are correlated: never below 0, never above what was there."""
        scale, errors = 10 * np.array([[1, 0, 0], [0, 1, 0.98], [0, 0.98, 1]]), np.diag([0, 0.9, 0])
        found = numerics.related.Population(scale, 5.0, errors, np.ones((3, 3)))
        weights, inverse, one = np.array([[0, 1.0, -1], [1, -1, 0]]), np.array([0.1, 1.0]), np.ones((2, 3))
        variance = np.diagonal(found.of_sums(weights, inverse, one), axis1=1, axis2=2)
        # b - c: .04 and .4 less .9; a - b: 2 and 20 less .9
        np.testing.assert_allclose(variance, [[0, 1.1], [0, 19.1]], atol=1e-12)
        by_basis = found.covariance(inverse, one)
        np.testing.assert_allclose(variance[:, 1], weights[1] @ by_basis @ weights[1], rtol=1e-12)

    def test_draws_of_the_population_are_those_of_its_nodes(self):
        rng = np.random.default_rng(0)
        found = numerics.related.population_of(rng.standard_normal((9, 3)), 2 * np.eye(3), np.eye(9), 0.3)
        inverse, mass = found.nodes()
        drawn = np.log(found.draw(40_000, rng))
        assert drawn.mean() == pytest.approx(mass @ np.log(inverse), abs=0.01)
        assert drawn.std() == pytest.approx(np.sqrt(mass @ (np.log(inverse) - drawn.mean()) ** 2), abs=0.01)
        few = numerics.related.population_of(np.ones((1, 2)), np.eye(2), np.eye(1), 0.3)
        spread = np.sqrt(few.covariance(few.draw(2000, rng), np.zeros((2000, 2)))[:, 0, 0])
        assert 0.1 < np.median(spread) < spread.max() <= 1.5 + 1e-9  # one word tells nothing: five times the scale

    def test_words_of_one_family_are_worth_one(self):
        families = np.full((6, 6), 0.999)
        np.fill_diagonal(families, 1.0)
        two = np.kron(np.eye(2), families[:3, :3])
        assert numerics.related.freedom_of(np.eye(6))[0] == pytest.approx(5)
        assert numerics.related.freedom_of(two)[0] == pytest.approx(1, abs=0.01)
        assert numerics.related.freedom_of(np.ones((1, 1))) == (0.0, 0.0)

    def test_few_independent_words_are_noted(self, slice_vectors):
        post = bb.fit(bb.distance_table(slice_vectors, "race"), seed=0)
        worth = post.attrs["independent_protected_words"]
        assert worth == pytest.approx(4.02, abs=0.01)
        assert {"effective": worth, "words": 10} in [note.numbers for note in bb.diagnose(post).notes]
