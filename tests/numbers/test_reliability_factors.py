"""What makes scores reliable would be told wrongly: features of words and shares of the variance."""

import arviz as az
import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from scipy import linalg, stats

import bayesbias as bb
from bayesbias import numerics
from bayesbias.baselines.reliability import word_features
from bayesbias.baselines.reliability.regression import FIXED_SD, _design, _variance_shares
from bayesbias.baselines.reliability.scores import word_stability
from bayesbias.numerics.arrays import orthogonal_map

HALF = np.sqrt(0.5)


def test_the_map_is_the_best_orthogonal_one(monkeypatch):
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 40, 5))
    found = orthogonal_map(first, second)
    np.testing.assert_allclose(found, linalg.orthogonal_procrustes(first, second)[0], atol=1e-12)
    np.testing.assert_allclose(found @ found.T, np.eye(5), atol=1e-12)
    monkeypatch.setattr(numerics.arrays, "BLOCK", 7)
    np.testing.assert_allclose(orthogonal_map(first, second), found, atol=1e-12)


def test_stability_by_hand():
    """The maps, fitted to other words, change nothing: cosines between vectors at 0, 60 and 90 degrees."""
    fitted = [np.eye(2)] * 3
    turned = [np.array([[np.cos(angle), np.sin(angle)]]) for angle in np.radians([0, 60, 90])]
    assert word_stability(turned, fitted)[0] == pytest.approx((0.5 + 0 + np.cos(np.radians(30))) / 3)


def keyed(vectors, counts=None):
    kv = KeyedVectors(len(next(iter(vectors.values()))))
    kv.add_vectors(list(vectors), np.array(list(vectors.values()), dtype=np.float32))
    for word, count in (counts or {}).items():
        kv.set_vecattr(word, "count", count)
    return kv


SQUARE = {"east": [1.0, 0.0], "north": [0.0, 2.0], "both": [3.0, 3.0]}
COUNTS = {"east": 100, "north": 20, "both": 20}


def test_features_by_hand():
    turned = {word: [-2 * y, 2 * x] for word, (x, y) in SQUARE.items()}
    features = word_features([SQUARE, turned], ["both", "east"], counts={"east": 8, "both": 2})
    assert features["word"].tolist() == ["both", "east"]
    np.testing.assert_allclose(features["log_frequency"], np.log([2, 8]))
    np.testing.assert_allclose(features["log_frequency_squared"], 0.5)  # two z-scores are plus and minus .71
    np.testing.assert_allclose(features["nn_similarity"], HALF, atol=1e-7)
    np.testing.assert_allclose(features["l2_norm"], [1.5 * np.sqrt(18), 1.5])
    np.testing.assert_allclose(features["stability"], 1, atol=1e-7)
    assert features["notes"].tolist() == [(), ()]


def test_means_over_embeddings():
    """The second embedding turns one word by 60 degrees; without it the map would be the identity."""
    first = {"a": [1.0, 0.0], "b": [0.0, 1.0], "w": [2.0, 0.0]}
    second = first | {"w": [4 * np.cos(np.pi / 3), 4 * np.sin(np.pi / 3)]}
    found = word_features({"one": first, "other": second}, ["w"])
    assert found["nn_similarity"][0] == pytest.approx((1 + np.sqrt(0.75)) / 2)
    assert found["l2_norm"][0] == pytest.approx(3)
    assert found["log_frequency"].isna().all()
    assert found["log_frequency_squared"].isna().all()
    counts, frequency = found["notes"][0]
    assert (counts.code, counts.numbers["count"], counts.numbers["words"]) == ("left-out", 2, ["one", "other"])
    assert (frequency.code, frequency.numbers["what"]) == ("no-value", "log_frequency")


def test_counts_that_gensim_makes_up_are_not_used(tmp_path):
    path = str(tmp_path / "vectors.bin")
    keyed(SQUARE).save_word2vec_format(path, binary=True)
    made_up = KeyedVectors.load_word2vec_format(path, binary=True)
    assert [made_up.get_vecattr(word, "count") for word in SQUARE] == [3, 2, 1]
    found = word_features({"file": made_up}, list(SQUARE))
    assert found["log_frequency"].isna().all()
    assert ["file"] in [note.numbers.get("words") for note in found["notes"][0]]
    both = word_features({"file": made_up, "trained": keyed(SQUARE, COUNTS)}, list(SQUARE))
    np.testing.assert_allclose(both["log_frequency"], np.log(list(COUNTS.values())))


def scores(words=30, seed=0, slope=0.03, word_sd=0.0):
    """Scores of words by two measures in two algorithms and three corpora, with a planted slope on stability."""
    rng = np.random.default_rng(seed)
    levels = {"number": range(words), "algorithm": ["glove", "sgns"], "corpus": ["a", "b", "c"]}
    cells = pd.MultiIndex.from_product([*levels.values(), ["db_wa", "nbm"]], names=[*levels, "measure"])
    table = cells.to_frame(index=False)
    at = table.pop("number").to_numpy()
    table = table.assign(word=[f"w{number}" for number in at], log_frequency=rng.normal(8, 2, words)[at])
    stability, effect = rng.uniform(0.8, 1, words)[at], rng.normal(0, word_sd, words)[at]
    planted = 0.1 * (table["algorithm"] == "sgns") + 0.02 * (table["measure"] == "nbm") + effect
    planted += 0.7 + slope * (stability - stability.mean()) / stability.std(ddof=1)
    return table.assign(stability=stability, value=planted + rng.normal(0, 0.03, len(table)))


def test_a_design_by_hand():
    """Numbers are standardised, squares are of z-scores, truths and texts are levels beside a reference."""
    rows = pd.DataFrame({"log_frequency": [1.0, 2, 3, 4, 5, 9, 4], "part_of_speech": [*"VANAVAV"]})
    rows["proper"] = [at in (1, 6) for at in range(7)]
    names = ["log_frequency", "log_frequency_squared", "part_of_speech", "proper"]
    columns, parts, references = _design(rows, names)
    assert list(columns) == ["intercept", *names[:2], "part_of_speech[N]", "part_of_speech[V]", "proper[True]"]
    assert parts == ["intercept", *names[:2], *2 * ["part_of_speech"], "proper"]
    assert references == {"part_of_speech": "A", "proper": "False"}
    z = (rows["log_frequency"] - 4) / np.sqrt(40 / 6)
    np.testing.assert_allclose(columns.iloc[:, 1:3], np.column_stack([z, z**2]))
    noun, verb, proper = [0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 1], [0, 1, 0, 0, 0, 0, 1]
    np.testing.assert_array_equal(columns.iloc[:, 3:].T, [noun, verb, proper])


class Still:
    """A generator without noise: what is drawn is the mean."""

    def standard_normal(self, shape):
        return np.zeros(shape)


def crossed(seed=0, rows=40):
    """An irregular design: columns, outcome, and the numbers of levels of two groupings."""
    rng = np.random.default_rng(seed)
    columns = np.column_stack([np.ones(rows), rng.standard_normal((rows, 2))])
    groupings = [rng.integers(0, 2, rows), np.concatenate([np.arange(5), rng.integers(0, 5, rows - 5)])]
    return columns, rng.standard_normal(rows), groupings


def dense(columns, groupings, sds):
    """Effects' design and prior variances, and the outcome's covariance with all integrated out."""
    indicators = [np.eye(codes.max() + 1)[codes] for codes in groupings]
    design = np.column_stack([columns, *indicators])
    variances = np.repeat([FIXED_SD**2, *sds[1:] ** 2], [columns.shape[1], *(one.shape[1] for one in indicators)])
    return design, variances, design * variances @ design.T + sds[0] ** 2 * np.eye(len(columns))


@pytest.mark.parametrize("count", [0, 2])
def test_effects_given_sds_are_those_of_the_dense_normal(count):
    columns, y, groupings = crossed()
    groupings, sds = groupings[2 - count :], np.array([0.7, 0.5, 1.3])[: 1 + count]
    design, variances, covariance = dense(columns, groupings, sds)
    gain = np.linalg.solve(covariance, design * variances).T
    mean, spread = gain @ y, np.diag(variances) - gain @ (design * variances)
    sums = numerics.statistics.mixed_sums(columns, y, groupings)

    def drawn(draws, rng):
        fixed, effects = numerics.statistics.draw_effects(sums, np.tile(sds, (draws, 1)), FIXED_SD, rng)
        return np.column_stack([fixed, *effects])

    np.testing.assert_allclose(drawn(1, Still())[0], mean, atol=1e-10)
    many = drawn(40_000, np.random.default_rng(1))
    np.testing.assert_allclose(many.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(many.T), spread, atol=0.05 * np.diag(spread).max())


@pytest.mark.parametrize("count", [0, 2])
def test_the_density_of_the_sds_is_that_of_the_dense_normal(count):
    columns, y, groupings = crossed()
    groupings = groupings[2 - count :]
    sds = np.array([[0.7, 0.5, 1.3], [1.1, 0.02, 0.4], [0.3, 2.0, 0.01]])[:, : 1 + count]
    sums = numerics.statistics.mixed_sums(columns, y, groupings)
    own = numerics.statistics.log_density_of_sds(sums, sds, FIXED_SD)
    expected = [stats.multivariate_normal(cov=dense(columns, groupings, each)[2]).logpdf(y) for each in sds]
    np.testing.assert_allclose(np.subtract(own, own[0]), np.subtract(expected, expected[0]), atol=1e-9)


def shares_of(columns, parts, coefficient, group_sd=(), residual_sd=0.2, groups=()):
    """Shares of the variance by a single draw."""
    values = {"coefficient": coefficient, "group_sd": group_sd}
    values = {name: np.array(each, dtype=float)[None, None] for name, each in values.items()}
    found = _variance_shares(columns, parts, values | {"residual_sd": np.array([[residual_sd]])}, groups)
    return {name: share[0, 0] for name, share in found.items()}


def test_shares_by_hand():
    """Two features with correlation 1/2, each of variance 1: what x1 holds alone has variance 3/4."""
    x = np.random.default_rng(0).standard_normal((200, 2))
    x = np.linalg.qr(x - x.mean(axis=0))[0] * np.sqrt(199) @ np.array([[1, 0.5], [0, np.sqrt(0.75)]])
    columns = np.column_stack([np.ones(200), x])
    shares = shares_of(columns, ["intercept", "x1", "x2"], [0.7, 2.0, 1.0], [2.0, 1.0], 2.0, ["algorithm", "corpus"])
    whole = (4 + 1 + 2) + 4 + 1 + 4  # b1² + b2² + 2 b1 b2 r, groupings, residuals
    parts = {"x1": 3, "x2": 0.75, "fixed effects": 7, "algorithm": 4, "corpus": 1, "residual": 4, "total": 12}
    assert list(shares) == list(parts)
    assert shares == pytest.approx({name: part / whole for name, part in parts.items()})


WRONG = [
    ({}, {"features": ["measure", "corpus"]}, "give each column one part"),
    ({"stability": 0.9}, {}, "stability is 0.9 in every row: leave it out"),
    ({"stability": np.nan}, {"features": ["stability"]}, r"each of the 360 rows lacks a value \(stability \(360\)\)"),
    (
        {"l2_norm": "double"},
        {},
        "stability, l2_norm some follow from others|l2_norm, stability some follow from others",
    ),
    ({"row": range(360)}, {"groups": ["row"]}, "row differs in every row, like the residuals"),
]


@pytest.mark.parametrize(("change", "options", "message"), WRONG)
def test_wrong_regressions(change, options, message):
    table = scores()
    for name, value in change.items():
        table[name] = 2 * table["log_frequency"] + 1 if isinstance(value, str) and value == "double" else value
    with pytest.raises(bb.InputError, match=message):
        bb.reliability.reliability_regression(table, **options)


@pytest.fixture(scope="module")
def planted():
    table = scores(words=60, word_sd=0.02)
    table.loc[3, "stability"] = np.nan
    return bb.reliability.reliability_regression(table, groups=("word", "algorithm", "corpus"), seed=1)


def test_what_was_planted_is_found(planted):
    table = planted.table().set_index("term")
    assert table.index.tolist() == [
        "intercept", "measure", "measure[nbm]", "log_frequency", "log_frequency_squared", "stability",
        "fixed effects", "word", "algorithm", "corpus", "residual", "total",
    ]  # fmt: skip
    truth = {"measure[nbm]": 0.02, "stability": 0.03, "log_frequency": 0, "word": 0.02, "residual": 0.03}
    for term, value in truth.items():
        assert abs(table.loc[term, "mean"] - value) < 3 * table.loc[term, "sd"], term
    assert table.loc["residual", "sd"] < 0.001
    assert 0.0015 < table.loc["stability", "sd"] < 0.0045  # .02 / sqrt(60) by the words, not .03 / sqrt(720)
    assert table.loc["corpus", "mean"] < 0.1 < table.loc["algorithm", "high"]
    whole = table["r2"]
    assert whole["total"] + whole["residual"] == pytest.approx(1)
    assert whole[["fixed effects", "word", "algorithm", "corpus"]].sum() == pytest.approx(whole["total"])
    assert whole.isna().sum() == 2
    assert (table["r2_low"] <= table["r2"]).where(whole.notna(), True).all()


def test_the_posterior_is_arviz_s(planted):
    summary = az.summary(planted.posterior, var_names=["coefficient", "group_sd", "residual_sd"], round_to="none")
    assert summary["r_hat"].max() < 1.01
    assert summary[["ess_bulk", "ess_tail"]].min().min() > 400
    assert float(planted.posterior["sample_stats/pareto_k"]) < 0.7
    table = planted.table().set_index("term")
    assert summary.loc["coefficient[stability]", "mean"] == pytest.approx(table.loc["stability", "mean"])
    low, high = az.eti(planted.posterior["posterior/residual_sd"], prob=0.89).to_numpy()
    assert (low, high) == pytest.approx(tuple(table.loc["residual", ["low", "high"]]))
    effects = planted.posterior["posterior/algorithm_effect"]
    gap = effects.sel(algorithm_level="sgns") - effects.sel(algorithm_level="glove")
    assert float(gap.mean()) == pytest.approx(0.1, abs=0.01)
    assert planted.posterior["posterior/word_effect"].sizes["word_level"] == 60
    assert planted.posterior["observed_data/value"].shape == (719,)


def test_the_notes(planted):
    assert planted.references == {"measure": "db_wa"}
    assert planted.levels == {"word": 60, "algorithm": 2, "corpus": 3}
    absent, left, *few = (note.numbers for note in planted.notes)
    assert absent["words"] == ["log_senses", "part_of_speech", "nn_similarity", "l2_norm"]
    assert (left["count"], left["total"], left["words"]) == (1, 720, ["stability (1)"])
    assert few == [{"count": 2, "factor": "levels of algorithm"}, {"count": 3, "factor": "levels of corpus"}]


def test_without_groups_the_same_seed_gives_the_same_numbers():
    first, again = (
        bb.reliability.reliability_regression(scores(words=10), groups=(), draws=80, chains=2, seed=3) for _ in range(2)
    )
    pd.testing.assert_frame_equal(first.table(), again.table())
    assert (first.notes[-1].code, first.notes[-1].numbers["what"]) == ("independent", "rows of one word")
    assert "group_sd" not in first.posterior["posterior"]
    shares = first.table().set_index("term")["r2"]
    assert shares["fixed effects"] == pytest.approx(shares["total"])
