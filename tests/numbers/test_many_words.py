"""Large tables would fill the memory, or give other answers and other draws to save it."""

import json

import numpy as np
import pytest
from scipy import sparse

import bayesbias as bb
from bayesbias import models
from bayesbias.models import functionals
from bayesbias.numerics import mixtures
from bayesbias.numerics import related as core
from bayesbias.posteriors import Estimates
from bayesbias.vectors import keyed_vectors
from benchmarks.inside import related_posterior

WORDS, DIMS = 300, 20


@pytest.fixture(scope="module")
def many():
    """300 protected words in 20 dimensions, lists of 8, 7 and 12 words, and a table without some pairs."""
    rng = np.random.default_rng(0)
    names = [f"w{at}" for at in range(WORDS + 627)]
    centres = rng.normal(size=(30, DIMS))
    vectors = centres[rng.integers(30, size=len(names))] + 0.8 * rng.normal(size=(len(names), DIMS))
    kv = keyed_vectors(names, vectors.astype(np.float32))
    rest = names[WORDS:]
    lists = bb.WordLists(
        "many",
        {"g": names[:150], "h": names[150:WORDS]},
        {"g": rest[:8], "h": rest[8:15]},
        {"neutral": rest[15:27]},
    )
    return bb.distance_table(kv, lists)


@pytest.fixture(scope="module")
def holed(many):
    """Without the distances of one word to the controls, and of another to one stereotype."""
    left = (many["protected_word"] == "w3") & (many["connection"] == "neutral")
    return many[~left & ~((many["protected_word"] == "w200") & (many["attribute_word"] == f"w{WORDS}"))]


def data_of(table):
    return models.tree.read_distances(table)


def row_weights(data, cells, weights):
    """Weights (m, J, W) of distances, in the order of the relatedness, of sums of cells (m, J * C)."""
    found, size = data.relatedness, weights.shape[0]
    dense = weights.toarray().reshape(size, *cells.n.shape)
    total = np.zeros((size, len(found.protected_words), len(found.attribute_words)))
    own = [found.protected_words.index(word) for word in data.protected_words.tolist()]
    listed = [found.attribute_words.index(word) for word in data.attribute_words.tolist()]
    for word, column, attribute in zip(cells.word, cells.column, cells.attribute, strict=True):
        total[:, own[word], listed[attribute]] += dense[:, word, column] / cells.n[word, column]
    return total


def test_sums_of_cells_have_the_dense_covariance(many):
    """Associations of words, the whole list, and differences of two classes of lists."""
    data = data_of(many)
    cells = models.weights.cells_of(data)
    words = np.arange(WORDS)
    weights = models.weights.whole_weights(data, cells.associated)
    combine, parts = models.weights.association_weights(cells, words, weights)
    own = combine @ parts
    every = sparse.vstack([own[[0, 7, 170]], (weights @ own.toarray())[None]], format="csr")
    some = words[[5, 160]]
    to_controls = models.weights.differences(cells, some, cells.own[some], 2)
    spec = bb.load_model("related")
    for chosen in (every, to_controls):
        found = functionals.related_functionals(spec, data, cells, chosen)
        expected = data.relatedness.covariance(row_weights(data, cells, chosen))
        root = sum(found.law.roots)
        np.testing.assert_allclose(root @ root.T, expected, atol=1e-8 * np.diag(expected).min())
    assert len(found.law.roots) == 2
    assert functionals.related_functionals(spec, data, cells, every).law.roots[0].shape[1] == DIMS


def test_cells_without_their_covariance_are_as_with_it(holed):
    data = data_of(holed)
    sums = models.related.related_sums(data)
    assert len(sums.y) == 3 * WORDS - 1
    assert sums.correlations.shape[1] == 4
    np.testing.assert_allclose(
        core.scatter_from_fields(sums, data.filled),
        core.scatter_of_errors(sums.covariance, data.filled),
        rtol=1e-8,
        atol=1e-12 * np.trace(sums.covariance),
    )
    posterior = related_posterior(bb.load_model("related"), data)
    weights = np.random.default_rng(1).normal(size=(5, len(sums.y)))
    covariance = sums.covariance * posterior.grid.products[np.ix_(sums.kind, sums.kind)]
    mean, found = posterior.moments(weights)
    np.testing.assert_allclose(mean, weights @ sums.y)
    np.testing.assert_allclose(found, weights @ covariance @ weights.T, atol=1e-9 * np.trace(found))


def test_draws_of_cells_from_fields_have_their_covariance(holed):
    sums = models.related.related_sums(data_of(holed))
    factors = np.full((20_000, 2), 1.0)
    drawn = -core.draw_cell_errors(sums, factors, np.random.default_rng(2))
    weights = np.random.default_rng(3).normal(size=(4, len(sums.y)))
    weights[3] = sums.kind == 0
    expected = weights @ sums.covariance @ weights.T
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(np.cov(weights @ drawn.T) / scale, expected / scale, atol=4 / np.sqrt(10_000))
    np.testing.assert_allclose(drawn.std(axis=0), np.sqrt(np.diag(sums.covariance)), rtol=0.03)
    largest = (np.abs(drawn) / np.sqrt(np.diag(sums.covariance))).max(axis=1)
    assert largest.min() > 0.5  # of every draw
    assert largest.max() < 8


def test_the_freedom_of_words_is_that_of_the_matrix_and_is_estimated_from_some():
    rng = np.random.default_rng(4)
    loadings = np.abs(rng.normal(size=(1200, 40))) * (rng.random((1200, 40)) < 0.05)
    families = loadings @ loadings.T + np.diag(rng.random(1200) + 0.5)
    spread = np.sqrt(np.diag(families))
    families /= np.outer(spread, spread)
    matrix = families - families.mean(axis=0)
    exact = np.trace(matrix) ** 2 / (matrix * matrix.T).sum()
    freedom, trace = core.freedom_of(families)
    assert freedom == pytest.approx(exact, rel=1e-9)
    assert trace == pytest.approx(np.trace(matrix), rel=1e-9)
    found = []
    for seed in range(40):
        some = np.random.default_rng(seed).choice(1200, 500, replace=False)
        found.append(core.freedom_of(families[np.ix_(some, some)], 1200))
    assert np.mean(found, axis=0) == pytest.approx([exact, trace], rel=0.02)
    assert np.std(found, axis=0)[0] < 0.1 * exact


def test_pooling_more_words_than_dimensions_takes_what_errors_can_move():
    """Combinations of words without an error tell nothing of the spread: the gain is that of the moving ones."""
    rng = np.random.default_rng(6)
    root = rng.normal(size=(400, 20)) / 20
    weights = np.full(400, 1 / 400)
    values = root @ rng.normal(size=20) * 3
    grid = (np.array([1.0]), np.ones(1))
    rows = mixtures.pooled_rows(values, root, weights, np.zeros(400, dtype=int), grid, 1.0)
    # in each of the 20 directions that errors can move, by quadrature over tau and the three shapes of its prior
    axes, lengths, _ = np.linalg.svd(root - root.mean(axis=0), full_matrices=False)
    axes, sizes = axes[:, lengths > 1e-6], lengths[lengths > 1e-6] ** 2
    assert len(sizes) == 20
    scores = axes.T @ (values - values.mean())
    taus = np.tan(np.pi / 2 * (np.arange(4000) + 0.5) / 4000)
    logp, gains = [], []
    for share in (0.0, 0.5, 1.0):
        shape = (1 + share * (sizes / sizes.mean() - 1)) * 400 / 20
        variance = taus[:, None] ** 2 * shape
        logp.append(-0.5 * (np.log(variance + sizes) + scores**2 / (variance + sizes)).sum(axis=1))
        gains.append(variance / (variance + sizes))
    mass = np.exp(np.stack(logp) - np.max(logp))
    gain = np.einsum("st,std->d", mass / mass.sum(), np.stack(gains))
    np.testing.assert_allclose(rows.mass @ rows.gain, gain, rtol=2e-3)
    expected = values.mean() + axes @ (gain * scores)
    np.testing.assert_allclose(Estimates.of(rows, 400).mean, expected, rtol=1e-3, atol=1e-4)


def test_fewer_draws_are_kept_of_many_cells_and_contrasts_stay(many, monkeypatch):
    every = bb.fit(many, seed=0, draws=1000)
    monkeypatch.setattr("bayesbias.models.families.Related.most_numbers", 1000)
    fewer = bb.fit(many, seed=0, draws=1000)
    assert fewer["posterior"].sizes["draw"] == 125
    assert json.loads(fewer.attrs["notes"])[0][1]["used"] == 500
    one, other = bb.contrasts(every), bb.contrasts(fewer)
    np.testing.assert_array_equal(one["mean"], other["mean"])
    np.testing.assert_array_equal(one["high"], other["high"])
    assert bb.diagnose(fewer).draws == 500
    sd = fewer["posterior/word_mean"].std(("chain", "draw")) / every["posterior/word_mean"].std(("chain", "draw"))
    assert float(sd.mean()) == pytest.approx(1, abs=0.02)


def test_too_many_lists_are_told(holed, monkeypatch):
    monkeypatch.setattr("bayesbias.models.related.MOST_NUMBERS_OF_LISTS", 4**2 * 220 - 1)
    with pytest.raises(bb.InputError, match="4 lists, more than 3, of attribute words"):
        bb.fit(holed, "related", seed=0)
    post = bb.fit(holed, seed=0, draws=400)
    assert post.attrs["model"] == "crossed"
    assert "4 lists, more than 3" in post.attrs["notes"]


def test_large_tables_have_fewer_draws_and_say_so(plain_gender, monkeypatch):
    every = bb.fit(plain_gender, "crossed", seed=0, draws=4000)
    monkeypatch.setattr("bayesbias.models.families.Independent.most_numbers", 10_000)
    fewer = bb.fit(plain_gender, "crossed", seed=0, draws=4000)
    assert fewer["posterior"].sizes["draw"] == 125
    sampled = [note.numbers for note in bb.diagnose(fewer).notes if note.code == "sampled"]
    assert [(each["used"], each["total"]) for each in sampled] == [(500, 4000)]
    assert bb.fit(plain_gender, "crossed", seed=0, draws=400)["posterior"].sizes["draw"] == 100
    one, other = (bb.contrasts(post).set_index(["protected_word"]) for post in (every, fewer))
    np.testing.assert_allclose(one["mean"], other["mean"], rtol=0, atol=float(0.1 * one["sd"].min()))


def test_a_table_with_too_many_holes_is_refused(plain_gender, monkeypatch):
    holed = plain_gender[np.random.default_rng(0).random(len(plain_gender)) > 0.1]
    monkeypatch.setattr("bayesbias.numerics.holes.MOST_NUMBERS", 1000)
    with pytest.raises(bb.InputError, match="missing in too many places"):
        bb.fit(holed, "crossed")
