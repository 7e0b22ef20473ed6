"""Associations of words and their intervals would not be those that the posterior implies."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import bayesbias as bb
from bayesbias import contrast, models, numerics
from bayesbias.models import families
from bayesbias.models.tree import Fit
from bayesbias.posteriors import Estimates

mixtures, functionals = numerics.mixtures, models.functionals
UNEQUAL = {
    "man": ["he", "son", "father"],
    "woman": [
        *("she", "her", "hers", "daughter", "mother", "aunt"),
        *("niece", "wife", "grandmother", "actress", "princess", "sister"),
    ],
}


def lists_of(name):
    """Bundled word lists, those with groups of 3 and 12 words, or those with one word in the lists of both groups."""
    if name not in ("unequal", "both"):
        return bb.load_words(name)
    gender = bb.load_words("gender")
    if name == "both":
        stereotypes = {**gender.stereotypes, "woman": (*gender.stereotypes["woman"], gender.stereotypes["man"][0])}
        return bb.WordLists("both", gender.protected, stereotypes, gender.controls)
    return bb.WordLists("unequal", UNEQUAL, gender.stereotypes, gender.controls)


@pytest.fixture(scope="module")
def fits(slice_vectors):
    """Word lists to their fit, each made once."""
    made = {}

    def fit(name, seed=0):
        if (name, seed) not in made:
            made[name, seed] = bb.fit(bb.distance_table(slice_vectors, lists_of(name)), seed=seed)
        return made[name, seed]

    return fit


def associations_by_hand(kv, lists):
    """Associations of the words that the vectors hold, from means of cosines and their double centring."""
    groups = {name: [word for word in words if word in kv] for name, words in lists.protected.items()}
    units = {name: unit(kv[[word for word in lists.stereotypes[name] if word in kv]]) for name in groups}
    size, found = len(groups), {}
    means = {
        word: np.array([1 - float((unit(kv[[word]]) @ units[other].T).mean()) for other in groups])
        for words in groups.values()
        for word in words
    }
    by_list = np.mean([np.mean([means[word] for word in words], axis=0) for words in groups.values()], axis=0)
    for place, words in enumerate(groups.values()):
        for word in words:
            centred = means[word] - means[word].mean() - by_list + by_list.mean()
            found[word] = size / (size - 1) * centred[place]
    whole = np.mean([np.mean([found[word] for word in words]) for words in groups.values()])
    return found, whole


def unit(vectors):
    vectors = vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["religion", "unequal", "both"])
def test_associations_are_double_centred_mean_distances(slice_vectors, fits, name):
    table = bb.contrasts(fits(name))
    words, whole = associations_by_hand(slice_vectors, lists_of(name))
    rows = table.iloc[1:].set_index("protected_word")["unshrunk"]
    assert set(rows.index) == set(words)
    np.testing.assert_allclose(rows.to_numpy(), [words[word] for word in rows.index], atol=1e-6)
    assert table["mean"].iloc[0] == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize("name", ["religion", "unequal"])
def test_the_variance_is_that_of_the_weighted_distances(fits, name):
    """Another path to the same variance: the weights of single distances."""
    post = fits(name)
    data = Fit(post).data
    raw, weights, matrix = raw_associations(data)
    related, cells = data.relatedness, models.weights.cells_of(data)
    single = np.zeros((len(raw.mean), len(related.protected_words), len(related.attribute_words)))
    protected = [related.protected_words.index(word) for word in data.protected_words.tolist()]
    attributes = [related.attribute_words.index(word) for word in data.attribute_words.tolist()]
    for word, column, attribute in zip(cells.word, cells.column, cells.attribute, strict=True):
        share = matrix[:, word * len(cells.columns) + column] / cells.n[word, column]
        single[:, protected[word], attributes[attribute]] += share
    covariance = related.covariance(single)
    np.testing.assert_allclose(covariance_of(raw), covariance, rtol=1e-6, atol=1e-10)
    factor = np.sqrt((raw.law.mass * raw.law.factors[:, 0] ** 2).sum())
    np.testing.assert_allclose(raw.sd, factor * np.sqrt(np.diag(covariance)), rtol=1e-6)
    rows = contrast.contrast.rows_of(Fit(post), "associated", "different")
    np.testing.assert_allclose(rows.unshrunk.sd, raw.sd, rtol=1e-12)
    assert weights.sum() == pytest.approx(1)


def raw_associations(data):
    """The posterior of a table's raw associations, the weights of the words, and those of cells (J, J * C), dense."""
    cells, combine, parts = association_cells(data)
    raw = functionals.related_functionals(bb.load_model("related"), data, cells, parts).combine(combine)
    weights = models.weights.whole_weights(data, cells.associated)
    return raw, weights[cells.associated], (combine @ parts).toarray()


def association_cells(data):
    """The cells of a table, and the weights of associations in two steps."""
    cells = models.weights.cells_of(data)
    words, weights = np.flatnonzero(cells.associated), models.weights.whole_weights(data, cells.associated)
    return cells, *models.weights.association_weights(cells, words, weights)


def covariance_of(raw):
    """Covariance at a factor of 1."""
    root = raw.weights @ raw.law.roots[0]
    return root @ root.T


def test_what_moves_all_distances_of_a_list_or_a_word_moves_no_association(fits):
    data = Fit(fits("unequal")).data
    before = raw_associations(data)[0]
    names = data.connections.tolist()
    own_list = data.attribute_words[
        data.attribute[(data.group_index[data.word] == 0) & (data.connection == names.index("associated"))]
    ]
    of_list = np.isin(data.attribute_words, own_list)[data.attribute]
    for moved in (of_list, data.word == 1):
        after = raw_associations(replace(data, y=data.y + 0.37 * moved))[0]
        np.testing.assert_allclose(after.mean, before.mean, atol=1e-12)
        np.testing.assert_allclose(after.sd, before.sd, rtol=1e-9)


def pooling_of(post):
    """Raw associations, their weights, blocks, and the covariance of the deviations' errors by dense matrices."""
    data = Fit(post).data
    raw, weights, _ = raw_associations(data)
    groups = data.group_index
    block = groups if groups.max() == 1 else np.zeros(len(groups), dtype=np.intp)
    means = np.array([weights * (block == own) / weights[block == own].sum() for own in block])
    centring, covariance = np.eye(len(weights)) - means, covariance_of(raw)
    return raw, weights, block, centring, covariance


@pytest.mark.parametrize("name", ["religion", "unequal"])
def test_pooled_rows_are_those_of_the_definition(fits, name):
    """Rows by dense matrices of words, with the factor and tau on grids."""
    raw, weights, block, centring, covariance = pooling_of(fits(name))
    scale, grid = 0.05, (raw.law.factors[:, 0], raw.law.mass)
    law = mixtures.pooled_rows(raw.mean, raw.weights @ raw.law.roots[0], weights, block, grid, scale)
    found = Estimates.of(law, len(weights))
    logs, masses = mixtures.gauss_rule(np.log(grid[0]), grid[1], 7)
    taus = scale * np.tan(np.pi / 2 * (np.arange(1500) + 0.5) / 1500)
    apart, mean_of = raw.mean - weights @ raw.mean, np.ones((len(weights), 1)) * weights
    scores, sizes, axes, shapes = directions_of(raw, weights, centring, covariance)
    means, squares, total = np.zeros(len(weights)), np.zeros(len(weights)), 0.0
    for log_factor, mass in zip(logs, masses, strict=True):
        f2 = np.exp(2 * log_factor)
        priors = taus[:, None, None] ** 2 * shapes
        logp = -0.5 * (np.log(f2 * sizes + priors) + scores**2 / (f2 * sizes + priors)).sum(axis=2)
        share = np.exp(logp - logp.max())
        share *= mass / share.sum()
        for prior, each in zip(priors.reshape(-1, len(sizes)), share.ravel(), strict=True):
            if each < 1e-9:
                continue
            kept = axes * (prior / (prior + f2 * sizes)) @ axes.T
            row = weights @ raw.mean + kept @ apart
            # the error of the estimate, and the truth's share that is not kept
            error, left = mean_of + kept @ centring, axes - kept @ axes
            variance = f2 * np.diag(error @ covariance @ error.T) + np.diag(left * prior @ left.T)
            means += each * row
            squares += each * (variance + row**2)
            total += each
    assert total == pytest.approx(1, abs=1e-4)
    sd = np.sqrt(squares - means**2)
    np.testing.assert_allclose(found.sd, sd, rtol=2e-3)
    np.testing.assert_allclose(found.mean, means, atol=2e-3 * sd.min())


def directions_of(raw, weights, centring, covariance):
    """Observed deviations, error variances and axes by principal direction, and the three prior variances (3, r)."""
    errors = centring @ covariance @ centring.T
    sizes, axes = np.linalg.eigh(errors)
    kept = sizes > 1e-6 * sizes[-1]
    sizes, axes = sizes[kept], axes[:, kept]
    alike, unlike = sizes / (np.trace(errors) / len(weights)), np.full(len(sizes), len(weights) / len(sizes))
    shapes = np.stack([unlike, (alike + unlike) / 2, alike])
    np.testing.assert_allclose(((axes**2) @ shapes.T).mean(axis=0), 1, rtol=1e-5)  # tau is the sd of the mean word
    return axes.T @ (raw.mean - weights @ raw.mean), sizes, axes, shapes


def test_a_decomposition_adds_up_draw_by_draw(fits):
    whole, words = contrast.associations.decomposition_parts(Fit(fits("religion")))
    draws = words.draws(50).reshape(50, -1, 4)
    np.testing.assert_allclose(draws[:, :, :3].sum(axis=2), draws[:, :, 3], atol=1e-10)
    whole = whole.draws(50)
    np.testing.assert_allclose(whole[:, 0] + whole[:, 1], whole[:, 2], atol=1e-10)


def test_the_gauss_rule_integrates_polynomials():
    rng = np.random.default_rng(3)
    points, mass = np.sort(rng.normal(size=400)), rng.random(400)
    nodes, weights = mixtures.gauss_rule(points, mass, 6)
    assert len(nodes) == 6
    assert (weights > 0).all()
    for degree in range(12):
        exact = (mass * points**degree).sum() / mass.sum()
        assert weights @ nodes**degree == pytest.approx(exact, rel=1e-9, abs=1e-9)
    single, share = mixtures.gauss_rule(points, (points == points[7]).astype(float), 6)
    np.testing.assert_allclose((single, share), ([points[7]], [1.0]))
    few, shares = mixtures.gauss_rule(np.array([0.0, 1.0, 5.0]), np.ones(3), 6)
    np.testing.assert_allclose((few, shares), ([0.0, 1.0, 5.0], [1 / 3] * 3), atol=1e-9)


def test_quantiles_of_a_mixture_are_those_found_by_brute_force():
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(7))
    mixture = mixtures.NormalMixture(weights[:, None], rng.normal(size=(7, 4)), rng.gamma(2, 0.3, size=(7, 4)))
    for p in (1e-4, 0.055, 0.5, 0.945):
        found = mixture.quantile(p)
        for place in range(4):

            def off(x, place=place, p=p):
                return weights @ stats.norm.cdf(x, mixture.means[:, place], mixture.sds[:, place]) - p

            assert found[place] == pytest.approx(optimize.brentq(off, -60, 60, xtol=1e-13), abs=1e-9)
        np.testing.assert_allclose(mixture.below(found), p, rtol=1e-8)


@pytest.mark.parametrize("rows", ["shrunken", "unshrunk"])
def test_draws_have_the_moments_of_the_mixture(fits, rows):
    found = getattr(contrast.contrast.rows_of(Fit(fits("religion")), "associated", "different"), rows)
    draws = found.draws(40_000, seed=2)
    np.testing.assert_allclose(draws.mean(axis=0), found.mean, atol=5 * found.sd.max() / 200)
    np.testing.assert_allclose(draws.std(axis=0), found.sd, rtol=0.03)
    share = (draws < found.quantile(0.055)).mean(axis=0)
    np.testing.assert_allclose(share, 0.055, atol=5 * np.sqrt(0.055 * 0.945 / 40_000))


def assert_moments(one, data, weights, prior):
    """Mean and sd of weighted cells (m, J * K) at one point of the scales, from the covariance of all distances."""
    scales, connections, words = one.law.scales, len(data.connections), len(data.protected_words)
    k = np.tile(np.arange(connections), words)
    cells = prior.sd**2 * (k[:, None] == k) + np.diag(scales.s2[0, k])
    met = (data.word * connections + data.connection)[:, None] == np.arange(words * connections)
    group = data.group_index[data.word]
    same = data.attribute[:, None] == data.attribute
    covariance = met @ cells @ met.T + np.diag(scales.sigma2[0, data.connection])
    covariance += scales.attribute[0, data.class_index[data.attribute]] * same
    if scales.interaction is not None:
        covariance += scales.interaction[0] * (same & (group[:, None] == group))
    across = weights @ cells @ met.T
    mean = prior.mean * weights.sum(axis=1) + across @ np.linalg.solve(covariance, data.y - prior.mean)
    variance = np.einsum("mj,jk,mk->m", weights, cells, weights)
    variance -= np.einsum("mi,im->m", across, np.linalg.solve(covariance, across.T))
    np.testing.assert_allclose(one.mean, mean, atol=1e-9)
    np.testing.assert_allclose(one.sd, np.sqrt(variance), rtol=1e-6)


def at_one_point(found, place):
    """The functionals given the scales at one point of their law."""
    law, here = found.law, slice(place, place + 1)
    given = replace(law, scales=law.scales.at(here), centre=law.centre[here], root=law.root[here], mass=np.ones(1))
    return replace(found, law=given)


@pytest.mark.parametrize("model", ["published", "pooled", "crossed"])
def test_given_the_scales_cells_have_the_moments_of_all_distances(slice_vectors, model):
    table = bb.distance_table(slice_vectors, lists_of("unequal"), relatedness=False)
    neutral = table["connection"] == "neutral"
    table = table[~(neutral & table["attribute_word"].isin(table["attribute_word"][neutral].unique()[:3]))]
    table = table[~((table["protected_word"] == "he") & (table["connection"] == "human"))]
    fit = Fit(bb.fit(table, model, draws=400, seed=0))
    cells, combine, parts = association_cells(fit.data)
    every = families.functionals_of(fit, cells, parts).combine(combine)
    assert every.law.root.shape[0] == 400
    one, prior = at_one_point(every, 7), fit.spec.priors["connection_mean"]
    weights = (combine @ models.weights.by_connection(cells, parts)).toarray()
    assert_moments(one, fit.data, weights, prior)
    whole = one.combine(np.full(len(weights), 1 / len(weights)))  # more terms than are looked up in pairs
    assert_moments(whole, fit.data, weights.mean(axis=0)[None], prior)
    drawn = every.draws(4000, seed=1)
    np.testing.assert_allclose(drawn.mean(axis=0), every.mean, atol=4 * every.sd.max() / np.sqrt(4000))
    np.testing.assert_allclose(drawn.std(axis=0), every.sd, rtol=0.06)


def test_tables_with_many_holes_answer_with_draws(plain_gender):
    holed = plain_gender[np.random.default_rng(0).random(len(plain_gender)) > 0.1]
    post = bb.fit(holed, "crossed", draws=400, seed=0)
    assert set(post["sample_stats"]) == {"pareto_k", "importance_ess"}
    cells = models.weights.cells_of(Fit(post).data)
    weights = models.weights.differences(cells, np.arange(3), 0, 1)
    found = families.functionals_of(Fit(post), cells, weights)
    draws = post["posterior/word_mean"].to_numpy().reshape(400, *cells.n[:, : cells.connections].shape)
    np.testing.assert_allclose(found.mean, (draws[:, :3, 0] - draws[:, :3, 1]).mean(axis=0))
