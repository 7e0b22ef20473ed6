"""Estimates with a known covariance: the second stage, pools of embeddings, trends and criteria."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from scipy.special import ndtr, ndtri
from scipy.stats import chisquare

import bayesbias as bb
from bayesbias import numerics, second_stage
from bayesbias.errors import InputError

BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ]
)
"""Cases and others, vaccinated and not: Colditz et al. (1994), https://doi.org/10.1001/jama.1994.03510330076038"""
WOMEN = ["she", "her", "hers", "woman", "girl", "daughter", "mother", "female", "sister", "herself"]
MEN = ["he", "his", "him", "man", "boy", "son", "father", "male", "brother", "himself"]


@pytest.fixture(scope="module")
def bcg():
    """Log relative risks and their variances."""
    a, b, c, d = BCG.T.astype(float)
    return np.log(a / (a + b) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


@pytest.fixture(scope="module")
def noisy(slice_vectors):
    """A function from a seed, a size of noise and a shift to a copy of the slice with noisy vectors."""
    unit = slice_vectors.vectors / np.linalg.norm(slice_vectors.vectors, axis=1, keepdims=True)

    def copy(seed, size=0.5):
        rng = np.random.default_rng(seed)
        vectors = KeyedVectors(slice_vectors.vector_size)
        noise = rng.standard_normal(unit.shape) * size / np.sqrt(unit.shape[1])
        vectors.add_vectors(slice_vectors.index_to_key, (unit + noise).astype(np.float32))
        return vectors

    return copy


@pytest.fixture(scope="module")
def tables(noisy):
    """Six embeddings' tables of one list."""
    return {f"e{seed}": bb.distance_table(noisy(seed), "gender") for seed in range(6)}


@pytest.fixture(scope="module")
def pooled(tables):
    return bb.pool(tables)


class TestTheSecondStage:
    def test_its_restricted_likelihood_is_that_of_a_published_meta_analysis(self, bcg):
        y, variance = bcg
        stage = numerics.second_stage.second_stage(y, np.diag(variance), np.ones((13, 1)), [], [100.0])
        # a prior that wide leaves the restricted likelihood, whose mode is published: tau^2 = .3132, mean -.7145
        tau = np.linspace(0.3, 0.8, 5001)
        best = tau[stage.rotated.log_likelihood(tau[None]).argmax()]
        assert best**2 == pytest.approx(0.3132, abs=2e-4)
        weights = 1 / (variance + best**2)
        assert weights @ y / weights.sum() == pytest.approx(-0.7145, abs=1e-4)
        assert stage.mass.sum() == pytest.approx(1.0)

    def test_moments_are_those_of_brute_force(self, bcg):
        y, variance = bcg
        draws = numerics.second_stage.second_stage(y, np.diag(variance), np.ones((13, 1)), [], [0.5]).draw(
            40_000, np.random.default_rng(0)
        )
        tau = np.geomspace(1e-4, 20, 4000)
        weights = 1 / (variance + tau[:, None] ** 2)
        mean = weights @ y / weights.sum(axis=1)
        log = 0.5 * (np.log(weights).sum(1) - np.log(weights.sum(1)) - (weights * (y - mean[:, None]) ** 2).sum(1))
        mass = np.exp(log - log.max()) / (1 + (tau / 0.5) ** 2) * np.gradient(tau)
        mass /= mass.sum()
        theta = draws.coefficients + draws.effects[0]
        shrunken = mass @ (mean[:, None] + tau[:, None] ** 2 * weights * (y - mean[:, None]))
        assert draws.scales.mean() == pytest.approx(mass @ tau, rel=0.01)
        assert draws.coefficients.mean() == pytest.approx(mass @ mean, abs=4 * 0.2 / 200)
        assert np.allclose(theta.mean(axis=0), shrunken, atol=0.01)
        sd = np.sqrt(mass @ (mean**2 + 1 / weights.sum(axis=1)) - (mass @ mean) ** 2)
        assert draws.coefficients.std() == pytest.approx(sd, rel=0.02)

    @pytest.mark.nuts
    @pytest.mark.full
    def test_nuts_agrees(self):
        import pymc as pm

        rng = np.random.default_rng(3)
        root = rng.normal(0, 0.02, (9, 9)) + 0.02 * np.eye(9)
        covariance, group = root @ root.T + 1e-6 * np.eye(9), np.repeat(np.arange(3), 3)
        x = np.linspace(-1, 1, 9)
        y = 0.1 + 0.05 * x + rng.normal(0, 0.05, 3)[group] + rng.multivariate_normal(np.zeros(9), covariance)
        member = (group[:, None] == group).astype(float)
        design = np.column_stack([np.ones(9), x])
        own = numerics.second_stage.second_stage(y, covariance, design, [member], [0.05, 0.05]).draw(20_000, rng)
        with pm.Model():
            tau = pm.HalfCauchy("tau", 0.05, shape=2)
            b = pm.Flat("b", shape=2)
            u = pm.Normal("u", 0, 1, shape=3)
            e = pm.Normal("e", 0, 1, shape=9)
            theta = pm.Deterministic("theta", design @ b + tau[0] * u[group] + tau[1] * e)
            pm.MvNormal("y", theta, cov=covariance, observed=y)
            found = pm.sample(
                12_000, tune=2000, chains=2, cores=1, target_accept=0.99, random_seed=1, progressbar=False
            )["posterior"]
        ours = own.coefficients @ design.T + own.effects.sum(axis=0)
        theirs = found["theta"].to_numpy().reshape(-1, 9)
        assert (np.abs(ours.mean(0) - theirs.mean(0)) / theirs.std(0)).max() < 0.1
        assert np.allclose(ours.std(0), theirs.std(0), rtol=0.1)
        slope = found["b"].to_numpy()[..., 1].ravel()
        assert own.coefficients[:, 1].mean() == pytest.approx(slope.mean(), abs=0.1 * slope.std())
        assert own.coefficients[:, 1].std() == pytest.approx(slope.std(), rel=0.1)
        mine, theirs = (np.quantile(draws, [0.055, 0.25, 0.75, 0.945]) for draws in (own.coefficients[:, 1], slope))
        assert mine[2] - mine[1] == pytest.approx(theirs[2] - theirs[1], rel=0.05)
        assert mine[3] - mine[0] == pytest.approx(theirs[3] - theirs[0], rel=0.1)
        # The slope's tails are long and NUTS reaches them slowly: the sd by quadrature over both scales as well.
        scales = np.geomspace(1e-5, 200, 120)
        group_scale, word_scale = (scale.ravel() for scale in np.meshgrid(scales, scales))
        precision = np.linalg.inv(
            covariance + group_scale[:, None, None] ** 2 * member + word_scale[:, None, None] ** 2 * np.eye(9)
        )
        variances = np.linalg.inv(design.T @ precision @ design)
        means = variances @ (design.T @ precision @ y)[..., None]
        rest = y - (design @ means)[..., 0]
        log = np.linalg.slogdet(precision)[1] + np.linalg.slogdet(variances)[1]
        log = 0.5 * (log - np.einsum("ni,nij,nj->n", rest, precision, rest)) + np.log(group_scale * word_scale)
        mass = np.exp(log - log.max()) / (1 + (group_scale / 0.05) ** 2) / (1 + (word_scale / 0.05) ** 2)
        mass /= mass.sum()
        mean, second = mass @ means[:, 1, 0], mass @ (variances[:, 1, 1] + means[:, 1, 0] ** 2)
        assert own.coefficients[:, 1].std() == pytest.approx(np.sqrt(second - mean**2), rel=0.03)

    def test_ranks_are_uniform(self):
        rng = np.random.default_rng(0)
        n, ranks = 10, []
        covariance = np.diag(rng.uniform(0.005, 0.03, n) ** 2) + 1e-4
        design = np.column_stack([np.ones(n), np.linspace(0, 1, n)])
        for _ in range(400):
            tau = 0.05 * abs(rng.standard_cauchy())
            theta = design @ [0.1, -0.05] + tau * rng.standard_normal(n)
            y = rng.multivariate_normal(theta, covariance)
            draws = numerics.second_stage.second_stage(y, covariance, design, [], [0.05]).draw(99, rng)
            found = draws.coefficients @ design.T + draws.effects[0]
            ranks.append(
                [
                    (draws.scales[:, 0] < tau).sum(),
                    (draws.coefficients[:, 1] < -0.05).sum(),
                    (found[:, 2] < theta[2]).sum(),
                    (found[:, 9] - found[:, 1] < theta[9] - theta[1]).sum(),
                ]
            )
        for column in np.array(ranks).T:
            assert chisquare(np.bincount(column // 10, minlength=10)).pvalue > 0.001

    @pytest.mark.parametrize(
        ("errors", "covariate"),
        [(0.0, False), (0.0, True), pytest.param(0.5, False, marks=pytest.mark.full), (0.5, True)],
    )
    def test_ranks_of_a_relation_are_uniform(self, errors, covariate):
        rng = np.random.default_rng(1)
        n, ranks = 15, []
        covariance = np.diag(rng.uniform(0.01, 0.03, n) ** 2) + 1e-4
        for _ in range(120 if errors == 0 else 50):
            rho, sd = rng.uniform(-1, 1), min(0.05 * abs(rng.standard_cauchy()), 5.0)
            latent, both = rng.standard_normal(n), rng.standard_normal(n) if covariate else None
            unit = 1.0
            if errors == 0:
                rest = latent - latent.mean()
                if covariate:
                    apart = both - both.mean()
                    rest = rest - apart * (apart @ rest / (apart @ apart))
                unit = np.sqrt(rest @ rest / (n - 1 - covariate))
            theta = sd * (rho * latent / unit + np.sqrt(1 - rho**2) * rng.standard_normal(n))
            y, x = rng.multivariate_normal(theta, covariance), latent + errors * rng.standard_normal(n)
            if covariate:
                y, x = y + 3 * both, x - 2 * both
            found = numerics.second_stage.latent_relation(
                y, covariance, x, np.full(n, errors**2), [np.eye(n)], 0.05, 99, rng, both
            )
            ranks.append([(found.correlation < rho).sum(), (found.residual_sd < sd * np.sqrt(1 - rho**2)).sum()])
        for column in np.array(ranks).T:
            assert chisquare(np.bincount(column // 20, minlength=5)).pvalue > 0.001


class TestRelation:
    """The relation of latent contrasts to an outside variable."""

    def test_the_correlation_is_that_of_brute_force(self):
        n, rng = 15, np.random.default_rng(5)
        x, covariance = rng.standard_normal(n), np.diag(rng.uniform(0.01, 0.03, n) ** 2) + 1e-4
        y = rng.multivariate_normal(0.03 * x + 0.03 * rng.standard_normal(n), covariance)
        sd, rho = np.geomspace(1e-4, 3, 300), np.linspace(-0.999, 0.999, 401)
        values, vectors = np.linalg.eigh(covariance)
        y_, x_, one = (vectors.T @ column for column in (y, x / x.std(ddof=1), np.ones(n)))
        variance = values + (sd[:, None] ** 2 * (1 - rho**2))[..., None]
        left = y_ - (sd[:, None] * rho)[..., None] * x_
        information = (one**2 / variance).sum(axis=-1)
        log = (left**2 / variance).sum(axis=-1) - (one * left / variance).sum(axis=-1) ** 2 / information
        log = -0.5 * (log + np.log(variance).sum(axis=-1) + np.log(information))
        log += np.log(sd)[:, None] - np.log1p((sd / 0.05) ** 2)[:, None]
        mass = np.exp(log - log.max()).sum(axis=0)
        mass /= mass.sum()
        found = numerics.second_stage.latent_relation(
            y, covariance, x, np.zeros(n), [np.eye(n)], 0.05, 40_000, rng
        ).correlation
        assert found.mean() == pytest.approx(mass @ rho, abs=0.01)
        assert found.std() == pytest.approx(np.sqrt(mass @ rho**2 - (mass @ rho) ** 2), rel=0.03)
        assert np.quantile(found, [0.055, 0.945]) == pytest.approx(
            np.interp([0.055, 0.945], np.cumsum(mass), rho), abs=0.02
        )

    @pytest.mark.parametrize("groups", [True, False])
    def test_a_variable_of_groups_is_not_taken_for_one_of_embeddings(self, groups):
        """No relation: contrasts and the variable are alike within 4 groups of 6."""
        rng, band, calls = np.random.default_rng(0), np.repeat(np.arange(4), 6), 0
        residuals = [(1 - part) * np.eye(24) + part * second_stage.pools._same(band) for part in (0.0, 0.3, 0.6, 0.9)]
        for _ in range(60):
            x, theta = (rng.normal(0, 1, 4)[band] + rng.normal(0, 0.3, 24) for _ in range(2))
            y = 0.03 * theta + rng.normal(0, 0.01, 24)
            found = numerics.second_stage.latent_relation(
                y, 1e-4 * np.eye(24), x, np.zeros(24), residuals if groups else residuals[:1], 0.05, 1000, rng
            )
            low, high = np.quantile(found.correlation, [0.055, 0.945])
            calls += low > 0 or high < 0
        assert (calls / 60 < 0.11 + 3 * 0.04) == groups

    @pytest.mark.parametrize("errors", [0.0, 0.5])
    def test_a_covariance_of_few_dimensions_forces_nothing(self, errors):
        """20 embeddings whose errors have five dimensions: what is left around the line is free in the others."""
        rng, hits, means = np.random.default_rng(0), 0, []
        for _ in range(60):
            root = rng.normal(0.01, 0.015, (20, 5))
            latent = rng.standard_normal(20)
            theta = 0.03 * (0.7 * latent + np.sqrt(0.51) * rng.standard_normal(20))
            found = numerics.second_stage.latent_relation(
                theta + root @ rng.standard_normal(5),
                root @ root.T,
                latent + errors * rng.standard_normal(20),
                np.full(20, errors**2),
                [np.eye(20)],
                0.05,
                1000,
                rng,
            ).correlation
            low, high = np.quantile(found, [0.055, 0.945])
            hits += low < 0.7 < high
            means.append(found.mean())
        assert hits / 60 > 0.89 - 3 * 0.04
        assert 0.5 < np.mean(means) < 0.75

    def test_the_line_goes_through_the_middle(self):
        rng, sd = np.random.default_rng(0), 0.03 * np.linspace(1, 2.5, 12)
        covariance, x = np.outer(sd, sd) * (0.95 + 0.05 * np.eye(12)), np.arange(12.0)
        y = rng.multivariate_normal(np.zeros(12), covariance)
        found = numerics.second_stage.latent_relation(
            y, covariance, x, np.zeros(12), [np.eye(12)], 0.05, 20_000, rng, weights=np.full(12, 1 / 12)
        )
        assert (found.intercept + found.slope * x.mean()).mean() == pytest.approx(y.mean(), abs=2e-3)

    def test_the_share_of_groups_is_reported(self, tables):
        on = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0], "x_se": 0.5}, index=list(tables))
        groups = {name: "abc"[at % 3] for at, name in enumerate(tables)}
        found = bb.pool(tables, on=on.assign(x=[1.0, 3.0, 2.0, 5.0, 6.0, 4.5]), groups=groups)
        assert 0 < found.relation()["group_share"][0] < 0.95
        assert found.relation()[["n", "of"]].iloc[0].tolist() == [6, "embeddings"]
        assert "is shared within groups" in found.text()

    def test_a_variable_of_few_groups_is_related_to_their_means(self, tables):
        x = np.array([1.0, 3.0, 2.0, 1.1, 3.1, 2.1])
        groups = {name: "abc"[at % 3] for at, name in enumerate(tables)}
        found = bb.pool(tables, on=pd.DataFrame({"x": x}, index=list(tables)), groups=groups)
        row = found.relation().iloc[0]
        assert row[["n", "of"]].tolist() == [3, "groups"]
        y = found.estimates.mean
        assert row["plain"] == pytest.approx(np.corrcoef((y[:3] + y[3:]) / 2, (x[:3] + x[3:]) / 2)[0, 1])
        assert "group_share" not in row
        assert "over the means of 3 groups" in found.text()
        assert "only 3 values tell of this relation" in found.text()
        two = {name: "ab"[at % 2] for at, name in enumerate(tables)}
        on = pd.DataFrame({"x": [1.0, 3.0, 1.1, 3.1, 1.2, 3.2]}, index=list(tables))
        with pytest.raises(InputError, match="2 groups are fewer than the 3"):
            bb.pool(tables, on=on, groups=two)

    @pytest.mark.parametrize("size", [3, 4, 6])
    def test_a_relation_of_few_means_holds_0_at_its_rate(self, size):
        rng, held = np.random.default_rng(size), 0
        covariance = 0.03**2 * (0.9 + 0.1 * np.eye(size))
        for _ in range(60):
            x, y = rng.standard_normal(size), rng.multivariate_normal(0.03 * rng.standard_normal(size), covariance)
            found = numerics.second_stage.latent_relation(
                y, covariance, x, np.zeros(size), [np.eye(size)], 0.05, 500, rng, weights=np.full(size, 1 / size)
            )
            low, high = np.quantile(found.correlation, [0.055, 0.945])
            held += low < 0 < high
        assert held / 60 > 0.89 - 2 * np.sqrt(0.89 * 0.11 / 60)


class TestPool:
    def test_estimates_are_the_contrasts_of_single_fits(self, tables, pooled):
        pool = pooled
        table = pool.table()
        for name, row in table.set_index("name").iterrows():
            single = bb.contrasts(bb.fit(tables[name], seed=0), "associated", "different").iloc[0]
            assert row["estimate"] == pytest.approx(single["mean"], abs=4 * single["sd"] / np.sqrt(4000))
            # errors of a pool are those of words that are near in all embeddings
            assert row["se"] == pytest.approx(single["sd"], rel=0.1)
        assert (table["sd"] < table["se"] * 1.05).all()
        assert pool.notes[0].startswith("The covariance of the estimates follows from the vectors")
        assert list(pool.tree["posterior"].dims) == ["chain", "draw", "setting"]

    def test_the_default_contrast_is_what_every_table_has(self, tables, pooled):
        assert pooled.contrast == ("associated", "different")
        without = tables["e0"][tables["e0"]["connection"] != "different"]
        fallen = bb.pool({**tables, "e0": without})
        assert fallen.contrast == ("associated", "human")
        assert "The contrast is associated − human: no protected word has both" in fallen.notes[-1]
        time = {name: at for at, name in enumerate(tables)}
        assert bb.trend(tables, time).contrast == ("associated", "different")
        assert bb.trend({**tables, "e0": without}, time).notes[-1] == fallen.notes[-1]
        bare = without[without["connection"] == "associated"]
        with pytest.raises(InputError, match="no connection stands beside associated everywhere"):
            bb.pool({**tables, "e0": bare})

    def test_embeddings_that_are_one_are_no_pool(self, tables):
        table = tables["e0"]
        with pytest.raises(InputError, match="a, b, c hold the same distances: they are one embedding"):
            bb.pool({"a": table, "b": table.copy(), "c": table.copy()})

    def test_a_copy_changes_nothing(self, tables, pooled, noisy):
        """A copy may have other control lists, vectors of another length, and words in another order."""
        longer = noisy(2)
        longer.vectors = 3 * longer.vectors
        without = tables["e0"][tables["e0"]["connection"] != "human"]
        again = {"a": without, **tables, "b": tables["e1"].iloc[::-1], "c": bb.distance_table(longer, "gender")}
        found = bb.pool(again)
        assert found.settings == ["a", *list(tables)[1:]]
        np.testing.assert_allclose(found.estimates.mean, pooled.estimates.mean, atol=1e-7)
        both = (each.estimates.covariance for each in (found, pooled))
        np.testing.assert_allclose(*both, rtol=1e-6)
        np.testing.assert_allclose(found.draws("population_mean"), pooled.draws("population_mean"), atol=1e-6)
        assert "a, e0 hold the same distances: one embedding, counted once." in found.notes
        assert sum("hold the same distances" in note for note in found.notes) == 3

    def test_copies_with_two_labels_or_values_are_refused(self, tables):
        again = {**tables, "copy": tables["e0"]}
        groups = {name: "ab"[at % 2] for at, name in enumerate(tables)}
        with pytest.raises(InputError, match="groups gives them a and b"):
            bb.pool(again, groups={**groups, "copy": "b"})
        on = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 7.0]}, index=list(again))
        with pytest.raises(InputError, match="on has other values for each"):
            bb.pool(again, on=on)
        on.loc["copy"] = 1.0
        related = [bb.pool(given, on=values).relation() for given, values in ((again, on), (tables, on.iloc[:6]))]
        pd.testing.assert_frame_equal(*related)

    def test_near_copies_are_said_unless_they_are_replicates(self, tables, noisy):
        base, rng = noisy(0), np.random.default_rng(9)
        near = KeyedVectors(base.vector_size)
        moved = base.vectors + 0.01 * rng.standard_normal(base.vectors.shape).astype(np.float32) / 17
        near.add_vectors(base.index_to_key, moved)
        again = {**tables, "near": bb.distance_table(near, "gender")}
        said = bb.pool(again)
        covariance = said.estimates.covariance.to_numpy()
        correlation = covariance[0, 6] / np.sqrt(covariance[0, 0] * covariance[6, 6])
        assert correlation > 0.99
        assert any("correlated by more than 0.99 between e0 and near" in note for note in said.notes)
        named = bb.pool(again, replicates={name: "e0" if name == "near" else name for name in again})
        assert named.settings == list(tables)
        assert not any("correlated by more than" in note for note in named.notes)
        assert named.estimates.index["weight"].tolist() == pytest.approx([1 / 12, *[1 / 6] * 5, 1 / 12])

    def test_copies_cost_the_population_mean_nothing(self):
        """Three copies of the first of six embeddings, left out; counted, they cost the interval its coverage."""
        rng, source = np.random.default_rng(0), np.array([*range(6), 0, 0, 0])
        covariance = 0.01**2 * np.where(np.equal(source[:, None], source), 1.0, 0.5)
        held = {6: 0, 9: 0}
        for _ in range(150):
            theta = (0.03 * rng.standard_normal(6))[source]
            y = rng.multivariate_normal(theta, covariance, method="eigh")
            for size in held:
                layout = second_stage.pools._Grouping(np.arange(size), None, False, np.full(size, 1 / size))
                drawn = layout.drawn(y[:size], covariance[:size, :size], 0.05, 500, rng)
                low, high = np.quantile(drawn.coefficients[:, 0], [0.055, 0.945])
                held[size] += low < 0 < high
        assert held[6] / 150 > 0.89 - 2 * np.sqrt(0.89 * 0.11 / 150)
        assert held[9] < held[6] - 8

    def test_copies_with_noise_differ_by_what_the_covariance_says(self, noisy):
        found = bb.pool({f"e{seed}": bb.distance_table(noisy(seed), "gender") for seed in range(8)})
        y = found.estimates.mean
        centred = np.eye(8) - 1 / 8
        expected = np.trace(centred @ found.estimates.covariance.to_numpy() @ centred)
        assert 0.05 < (centred @ y) @ (centred @ y) / expected < 2.0

    def test_groups_replicates_and_another_scale(self, tables, pooled):
        grouped = bb.pool(tables, groups={name: "ab"[at % 2] for at, name in enumerate(tables)})
        assert {"group_mean", "group_sd", "within_sd"} <= set(grouped.tree["posterior"].data_vars)
        total, between, within = (grouped.draws(f"{name}_sd") for name in ("between", "group", "within"))
        np.testing.assert_allclose(total**2, between**2 + within**2)
        figures = [f"{draws.mean():.3f}" for draws in (total, between, within)]
        said = next(sentence for sentence in grouped.findings() if sentence.startswith("Between embeddings"))
        assert said.startswith(f"Between embeddings it varies with a standard deviation of {figures[0]} (")
        assert f": between groups by {figures[1]} (" in said
        assert f", within groups by {figures[2]} (" in said
        mean = grouped.draws("theta") @ grouped.estimates.index["weight"].to_numpy()
        assert np.allclose(mean, grouped.draws("mean"))
        assert mean.mean() == pytest.approx(grouped.estimates.mean.mean(), abs=1e-12)
        assert "That is the mean over these embeddings" in grouped.text()
        settings = {name: f"s{at // 2}" for at, name in enumerate(tables)}
        replicated = bb.pool(tables, replicates=settings)
        assert replicated.settings == ["s0", "s1", "s2"]
        assert "training_sd" in replicated.tree["posterior"]
        assert ((replicated.training_share >= 0) & (replicated.training_share <= 1)).all()
        assert "Noise of training" in replicated.text()
        plain, scaled = pooled, bb.pool(tables, standardise=True)
        units = [table.coverage.embedding["spread"]["sd"] for table in tables.values()]
        assert scaled.estimates.index["unit"].tolist() == units
        assert np.allclose(scaled.estimates.mean * units, plain.estimates.mean)
        assert "standard deviations of the embedding's distances on average" in scaled.text()
        mine = bb.pool(tables, standardise=dict.fromkeys(tables, 0.5))
        assert np.allclose(mine.estimates.mean, 2 * plain.estimates.mean)
        assert "the given units on average" in mine.text()

    def test_replicates_find_a_planted_noise_of_training(self):
        rng = np.random.default_rng(5)
        own, training = np.repeat(np.arange(8), 6), 0.03
        covariance = 0.01**2 * np.eye(48)
        y = rng.normal(0, 0.05, 8)[own] + rng.normal(0, training, 48) + rng.normal(0, 0.01, 48)
        layout = second_stage.pools._Grouping(own, None, True, np.full(48, 1 / 48))
        drawn = layout.drawn(y, covariance, 0.05, 4000, rng)
        low, high = np.quantile(drawn.scales[:, 1], [0.005, 0.995])
        assert low < training < high

    @pytest.mark.parametrize("ratio", [1.0, 2.5])
    def test_the_mean_is_the_plain_one_and_that_of_the_pooled(self, ratio):
        """Also where the weights of generalised least squares put it outside all estimates."""
        rng, sd = np.random.default_rng(0), 0.03 * np.linspace(1, ratio, 6)
        covariance = np.outer(sd, sd) * (0.95 + 0.05 * np.eye(6))
        own, band = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 0, 0, 0, 0, 1])
        weights = second_stage.pools._equal_weights(own, band)
        assert weights == pytest.approx([1 / 16, 1 / 16, 1 / 8, 1 / 8, 1 / 8, 1 / 2])
        for _ in range(5):
            y = rng.multivariate_normal(np.zeros(6), covariance)
            layout = second_stage.pools._Grouping(own, band, True, weights)
            drawn = layout.drawn(y, covariance, 0.05, 1000, rng)
            mean = layout.settings(drawn) @ layout.setting_weights(weights)
            training = drawn.effects[-1] @ weights
            assert np.allclose(mean + training, (drawn.coefficients + drawn.effects.sum(axis=0)) @ weights)
            # scales have long tails: draws of the effects, which cancel, are up to some tens
            assert (mean + training).mean() == pytest.approx(weights @ y, abs=1e-10)
        alone = second_stage.pools._Grouping(np.arange(6), None, False, np.full(6, 1 / 6))
        by_precision = replace(alone, weights=None)
        equal, least = (
            each.drawn(y, covariance, 0.05, 1000, np.random.default_rng(1)) for each in (alone, by_precision)
        )
        # errors of one size and one correlation weigh the same either way
        same = np.allclose(equal.coefficients, least.coefficients) and np.allclose(equal.effects, least.effects)
        assert same == (ratio == 1.0)

    def test_pooled_deviations_are_those_of_brute_force(self):
        y, sd = np.array([-0.04, 0.01, -0.08, -0.02]), np.array([0.02, 0.03, 0.04, 0.05])
        covariance, mean = np.outer(sd, sd) * (0.9 + 0.1 * np.eye(4)), np.full((4, 4), 0.25)
        across, log, centre, second = np.eye(4) - mean, [], [], []
        grid = np.geomspace(1e-5, 5, 800)
        basis = np.linalg.svd(across)[0][:, :3]
        for tau in grid:
            total = basis.T @ (covariance + tau**2 * np.eye(4)) @ basis
            gain = tau**2 * across @ basis @ np.linalg.solve(total, basis.T)
            of_y, of_u = mean + gain, gain - across
            rest = basis.T @ y
            log.append(-0.5 * (np.linalg.slogdet(total)[1] + rest @ np.linalg.solve(total, rest)))
            centre.append(y.mean() + gain @ y)
            second.append(np.diag(of_y @ covariance @ of_y.T + tau**2 * of_u @ of_u.T) + centre[-1] ** 2)
        mass = np.exp(np.array(log) - max(log)) / (1 + (grid / 0.05) ** 2) * grid
        mass /= mass.sum()
        expected = mass @ np.array(centre)
        stage = numerics.second_stage.second_stage(y, covariance, np.ones((4, 1)), [], [0.05], np.full((1, 4), 0.25))
        drawn = stage.draw(100_000, np.random.default_rng(0))
        theta = drawn.coefficients + drawn.effects[0]
        assert theta.mean(axis=0) == pytest.approx(expected, abs=4e-4)
        assert theta.std(axis=0) == pytest.approx(np.sqrt(mass @ np.array(second) - expected**2), rel=0.01)

    def test_a_wrong_covariance_costs_the_precision_its_coverage(self):
        rng, sd = np.random.default_rng(0), 0.03 * np.linspace(0.63, 1.58, 6)
        taken = np.outer(sd, sd) * (0.95 + 0.05 * np.eye(6))
        true, covered = 0.03**2 * (0.95 + 0.05 * np.eye(6)), {}
        for name, weights in (("equal", np.full(6, 1 / 6)), ("precision", None)):
            layout = second_stage.pools._Grouping(np.arange(6), None, False, weights)
            draws = [layout.drawn(y, taken, 0.05, 500, rng) for y in rng.multivariate_normal(np.zeros(6), true, 60)]
            means = np.array([(each.coefficients + each.effects[0]).mean(axis=1) for each in draws])
            low, high = np.quantile(means, [0.055, 0.945], axis=1)
            covered[name] = ((low < 0) & (high > 0)).mean()
        assert covered["equal"] > 0.89 - 3 * 0.04 > 0.7 > covered["precision"]

    def test_embeddings_that_hold_few_words_or_other_languages_are_named(self, tables):
        few = {name: table.copy() for name, table in list(tables.items())[:3]}
        record = few["e1"].coverage
        lists = [{**entry, "found": entry["found"] // 2} for entry in record.lists]
        few["e1"] = bb.DistanceTable(few["e1"], coverage=replace(record, lists=lists, language="fr"))
        held = second_stage.estimates.holdings(few, ("associated", "different"))
        assert held["language"].tolist() == ["en", "fr", "en"]
        counted = [entry for entry in lists if entry["kind"] != "control"]
        share = sum(entry["found"] for entry in counted) / sum(entry["asked"] for entry in counted)
        assert held.loc["e1", "found"] == pytest.approx(share)
        for found in (bb.pool(few), bb.trend(few, {"e0": 0, "e1": 1, "e2": 2})):
            assert f"Clearly fewer are in e1 ({100 * held.loc['e1', 'found']:.0f}%)" in found.text()
            assert "The lists are in 2 languages (en, fr)" in found.text()
            assert found.estimates.index["found"].tolist() == held["found"].tolist()

    def test_words_of_control_lists_that_the_contrast_does_not_take_are_not_counted(self, tables):
        few = {name: table.copy() for name, table in list(tables.items())[:3]}
        record = few["e1"].coverage
        lists = [{**entry, "found": 1} if entry["kind"] == "control" else entry for entry in record.lists]
        few["e1"] = bb.DistanceTable(few["e1"], coverage=replace(record, lists=lists))
        counted = [entry for entry in record.lists if entry["kind"] != "control"]
        share = sum(entry["found"] for entry in counted) / sum(entry["asked"] for entry in counted)
        found = bb.pool(few)
        assert found.estimates.index["found"].tolist() == pytest.approx([share] * 3)
        assert "Clearly fewer" not in found.text()
        assert "Clearly fewer are in e1" in bb.pool(few, ("associated", "human")).text()

    def test_the_same_seed_gives_the_same_numbers(self, tables):
        first, second = bb.pool(tables, seed=4), bb.pool(tables, seed=4)
        assert (first.draws("theta") == second.draws("theta")).all()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"contrast": ("associated", "associated")}, "give two connections"),
            ({"contrast": ("associated", "neither")}, "e0: "),
            ({"groups": {"e0": "a"}}, "groups is"),
            ({"replicates": {f"e{at}": "s" for at in range(6)}}, "one setting"),
            ({"replicates": {f"e{at}": f"s{at}" for at in range(6)}}, "a setting of its own"),
            ({"on": pd.DataFrame({"x": [1.0]}, index=["e0"])}, "3 are needed"),
            ({"on": pd.DataFrame({"x": [1.0] * 6}, index=[f"e{at}" for at in range(6)])}, "the same for all"),
            (
                {"on": pd.DataFrame({"x": range(6), "x_se": [-1.0] * 6}, index=[f"e{at}" for at in range(6)])},
                "negative",
            ),
            ({"standardise": "yes"}, "standardise"),
            ({"standardise": {"e0": 0.1}}, "names of all tables"),
            ({"standardise": {f"e{at}": -0.1 for at in range(6)}}, "a cosine distance above 0"),
            ({"stages": {"weights": "precision"}}, "stages is .*: give options of both stages"),
            (
                {
                    "groups": {f"e{at}": "ab"[at % 2] for at in range(6)},
                    "replicates": {f"e{at}": f"s{at // 2}" for at in range(6)},
                },
                "replicates in several groups",
            ),
        ],
    )
    def test_wrong_input_is_named(self, tables, options, message):
        with pytest.raises(InputError, match=message):
            bb.pool(tables, **options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"weights": "optimal"}, "weights"),
            ({"draws": 4001}, "give a multiple of 4"),
            ({"draws": "many"}, "draws is"),
            ({"frequencies": {"a": 1}}, "nothing is adjusted for"),
        ],
    )
    def test_wrong_options_of_both_stages_are_named(self, options, message):
        with pytest.raises(InputError, match=message):
            bb.checks.TwoStage(**options)

    def test_a_relation_is_told_with_the_mass_that_is_asked_for(self, tables):
        found = bb.pool(tables, on=pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 6.0, 4.5]}, index=list(tables)))
        draws = found.draws("correlation")[:, 0]
        row = found.relation(0.5).iloc[0]
        assert [row["correlation_low"], row["correlation_high"]] == np.quantile(draws, [0.25, 0.75]).tolist()
        assert row["correlation"] == pytest.approx(draws.mean(), abs=1e-12)
        assert f"50% interval {row['correlation_low']:.2f} to" in found.text(0.5).replace("\N{MINUS SIGN}", "-")

    def test_one_embedding_is_no_pool(self, tables):
        with pytest.raises(InputError, match="at least 2 embeddings"):
            bb.pool({"e0": tables["e0"]})
        with pytest.raises(InputError, match="mapping of names"):
            bb.pool([tables["e0"]])

    def test_embeddings_without_a_common_word_are_independent(self, slice_vectors):
        words = [word for word in slice_vectors.index_to_key if word.islower()][:40]
        half = {
            name: bb.WordLists(name, {"g": own[:4]}, {"g": own[4:12]}, {"human": own[12:20]})
            for name, own in (("one", words[:20]), ("two", words[20:]))
        }
        pool = bb.pool({name: bb.distance_table(slice_vectors, lists) for name, lists in half.items()})
        assert pool.estimates.covariance.to_numpy()[0, 1] == 0 or "vectors" in pool.notes[0]


class TestPictures:
    """What pools, trends and relations look like."""

    def test_every_embedding_is_named_and_drawn(self, tables):
        pool = bb.pool(tables)
        axes = bb.plots.plot_pool(pool).axes[0]
        names = pool.table().sort_values("mean")["name"].tolist()
        assert [label.get_text() for label in axes.get_yticklabels()] == names
        assert "associated" in axes.get_title(loc="left")
        drawn = np.concatenate([points.get_offsets()[:, 0] for points in axes.collections if len(points.get_offsets())])
        assert {round(float(x), 6) for x in pool.table()["estimate"]} <= {round(float(x), 6) for x in drawn}

    def test_a_relation_has_its_points_and_its_correlation(self, tables):
        on = pd.DataFrame({"x": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0], "x_se": 0.5}, index=list(tables))
        pool = bb.pool(tables, on=on)
        axes = bb.plots.plot_relation(pool).axes[0]
        assert f"{abs(pool.relation()['correlation'][0]):.2f}" in axes.get_title(loc="left")
        assert sorted(axes.collections[-1].get_offsets()[:, 0]) == sorted(on["x"])
        with pytest.raises(InputError, match="no outside variable"):
            bb.plots.plot_relation(bb.pool(tables))
        with pytest.raises(InputError, match="takes what pool or criterion returns"):
            bb.plots.plot_relation(tables)

    def test_a_trend_is_drawn_over_time(self, tables):
        time = {name: 1900 + 10 * at for at, name in enumerate(tables)}
        axes = bb.plots.plot_trend(bb.trend(tables, time)).axes[0]
        assert axes.collections[-1].get_offsets()[:, 0].tolist() == list(time.values())


class TestTrend:
    def test_a_planted_change_is_seen_and_none_is_not_made_up(self, tables):
        time = {name: 1900 + 10 * at for at, name in enumerate(tables)}
        still = bb.trend(tables, time)
        row = still.change("e0", "e5")
        assert row["low"] < 0 < row["high"]
        moved = {}
        for at, (name, table) in enumerate(tables.items()):
            own = pd.DataFrame(table).copy()
            own.loc[own["connection"] == "associated", "distance"] -= 0.02 * at
            moved[name] = own
        risen = bb.trend(moved, time)
        found = risen.slopes().iloc[0]
        assert found["over_all"] == pytest.approx(-0.1, abs=3 * found["sd"] * 50)
        assert found["high"] < 0
        assert "fell" in risen.text()
        words = risen.slopes().iloc[1:]
        assert (words["mean"] < 0).all()

    def test_either_kind_agrees_on_a_line(self, tables):
        time = {name: at for at, name in enumerate(tables)}
        line, walk = bb.trend(tables, time), bb.trend(tables, time, kind="walk")
        assert np.abs(line.table()["mean"] - walk.table()["mean"]).max() < 0.02
        own = {"slope", "shared_sd", "correlation"}
        assert {"deviation_sd", "level", "word_slope"} | own == set(line.tree["posterior"].data_vars)
        assert {"step_sd", "deviation_sd", "level", "word_slope"} == set(walk.tree["posterior"].data_vars)

    @pytest.mark.study
    @pytest.mark.parametrize("kind", ["linear", "walk"])
    def test_changes_are_covered_at_their_rate(self, sized, kind):
        rng = np.random.default_rng(0)
        times, size = np.arange(10.0), sized(200, 80)
        root = rng.normal(0, 0.004, (10, 10))
        covariance, calls, hits = root @ root.T + 0.03**2, 0, 0
        for trial in range(size):
            # deviations from a line are in part shared by neighbours
            shared = 0.01**2 * 0.8 ** np.abs(times[:, None] - times) if kind == "linear" else 0.0
            noise = rng.multivariate_normal(np.zeros(10), covariance + shared) + rng.normal(0, 0.005, 10)
            # half of the linear trends are none; a walk is one of its own kind
            slope = 0.003 * (trial % 2)
            truth = slope * times if kind == "linear" else np.cumsum(rng.normal(0, 0.01, 10))
            level, _ = second_stage.trends._levels(truth + noise, covariance, times, kind, "precision", 1000, rng)
            low, high = np.quantile(level[:, -1] - level[:, 0], [0.055, 0.945])
            hits += low < truth[-1] - truth[0] < high
            calls += kind == "linear" and slope == 0 and not low < 0 < high
        error = np.sqrt(0.89 * 0.11 / size)
        assert abs(hits / size - 0.89) < 3 * error
        assert calls / (size / 2) < 0.11 + 3 * error * np.sqrt(2)

    def test_words_that_leave_are_named_and_keep_their_own_trend(self, tables):
        time = {name: at for at, name in enumerate(tables)}
        gone = dict(tables)
        gone["e5"] = gone["e5"][gone["e5"]["protected_word"] != "he"]
        trend = bb.trend(gone, time)
        assert any("he" in note and "1 of" in note for note in trend.notes)
        assert "he" in trend.slopes()["protected_word"].dropna().tolist()
        assert (trend.estimates.index["protected_words"] == 13).all()

    @pytest.mark.parametrize(
        ("time", "message"),
        [
            ({f"e{at}": 1 for at in range(6)}, "time repeats"),
            ({f"e{at}": "soon" for at in range(6)}, "finite number"),
            ({"e0": 1}, "names of all tables"),
            (None, "finite number"),
        ],
    )
    def test_wrong_times_are_named(self, tables, time, message):
        with pytest.raises(InputError, match=message):
            bb.trend(tables, time)

    @pytest.mark.study
    @pytest.mark.parametrize("size", [3, 6])
    def test_an_ordinary_line_covers_what_errors_of_other_sizes_hide(self, sized, size):
        """Equal errors that are taken for unequal ones; training adds noise."""
        rng, times, hits = np.random.default_rng(0), np.arange(float(size)), 0
        sizes = np.full(size, 0.03), 0.03 * np.linspace(0.63, 1.58, size)
        true, taken = (np.outer(sd, sd) * (0.95 + 0.05 * np.eye(size)) for sd in sizes)
        trials = sized(100, 50)
        for _ in range(trials):
            y = rng.multivariate_normal(np.zeros(size), true) + rng.normal(0, 0.01, size)
            level, _ = second_stage.trends._levels(y, taken, times, "linear", "equal", 1000, rng)
            low, high = np.quantile(level[:, -1] - level[:, 0], [0.055, 0.945])
            hits += low < 0 < high
            assert (np.median(level, axis=0) - y).mean() == pytest.approx(0, abs=3e-3)
        assert hits / trials > 0.89 - 3 * np.sqrt(0.89 * 0.11 / trials)

    @pytest.mark.parametrize("kind", ["linear", "walk"])
    def test_levels_lie_around_the_plain_mean(self, kind):
        rng, times = np.random.default_rng(2), np.arange(8.0)
        sd = np.linspace(0.01, 0.03, 8)
        y = rng.multivariate_normal(np.zeros(8), covariance := np.outer(sd, sd) * (0.98 + 0.02 * np.eye(8)))
        level, extra = second_stage.trends._levels(y, covariance, times, kind, "equal", 40_000, rng)
        error = np.sqrt((extra["deviation_sd"] ** 2).mean() / 40_000)
        assert level.mean() == pytest.approx(y.mean(), abs=3 * error)
        by_precision, _ = second_stage.trends._levels(y, covariance, times, kind, "precision", 40_000, rng)
        assert abs(by_precision.mean() - y.mean()) > 5 * abs(level.mean() - y.mean())

    def test_the_plain_difference_stands_beside_the_change(self, tables):
        trend = bb.trend({name: tables[name] for name in ("e0", "e1", "e2")}, {"e0": 0, "e1": 1, "e2": 2})
        row, y = trend.change("e0", "e2"), trend.estimates.mean
        covariance = trend.estimates.covariance.to_numpy()
        sd = np.sqrt(covariance[0, 0] + covariance[2, 2] - 2 * covariance[0, 2])
        assert row["estimate"] == pytest.approx(y[2] - y[0])
        assert row["estimate_high"] - row["estimate"] == pytest.approx(1.598 * sd, rel=1e-3)
        assert "The estimates of these two differ by" in trend.text()

    def test_two_embeddings_make_no_trend_and_three_have_noise_of_training(self, tables):
        with pytest.raises(InputError, match="two embeddings tell a difference, but not how much of it is chance"):
            bb.trend({name: tables[name] for name in ("e0", "e1")}, {"e0": 0, "e1": 1})
        with pytest.raises(InputError, match="at least 3"):
            bb.trend({"e0": tables["e0"]}, {"e0": 0})
        with pytest.raises(InputError, match="e0 and e2 hold the same distances: give another embedding"):
            bb.trend({**{name: tables[name] for name in ("e0", "e1")}, "e2": tables["e0"]}, {"e0": 0, "e1": 1, "e2": 2})
        three = {name: tables[name] for name in ("e0", "e1", "e2")}
        trend = bb.trend(three, {"e0": 0, "e1": 1, "e2": 2})
        assert trend.draws("deviation_sd").min() > 0
        assert "A single embedding deviates from the trend, in part together with its neighbours" in trend.text()
        unit = [table.coverage.embedding["spread"]["sd"] for table in three.values()]
        scaled = bb.trend(three, {"e0": 0, "e1": 1, "e2": 2}, standardise=True)
        np.testing.assert_allclose(scaled.estimates.mean * unit, trend.estimates.mean)
        assert scaled.unit == "standard deviations of the embedding's distances"
        assert scaled.unit in scaled.text()

    def test_the_mixture_over_correlations_is_that_of_brute_force(self):
        """The mean and sd of the slope by a sum over correlations and both scales, on a grid of its own."""
        rng, times = np.random.default_rng(4), np.arange(6.0)
        covariance = 0.004**2 * np.eye(6) + 0.03**2
        y = 0.01 * times + rng.multivariate_normal(np.zeros(6), covariance) + np.cumsum(rng.normal(0, 0.006, 6))
        design = second_stage.trends._line(times)
        across = np.linalg.svd(design)[0][:, 2:]
        least, scales = np.linalg.pinv(design), np.geomspace(1e-5, 4, 90)
        log, variance = [], []
        for correlation in second_stage.trends.CORRELATIONS:
            shared = correlation ** np.abs(times[:, None] - times)
            for first in scales:
                for second in scales:
                    total = covariance + first**2 * shared + second**2 * np.eye(6)
                    inner, rest = across.T @ total @ across, across.T @ y
                    prior = np.log(first * second / (1 + (first / 0.02) ** 2) / (1 + (second / 0.02) ** 2))
                    quadratic = rest @ np.linalg.solve(inner, rest)
                    log.append(prior - 0.5 * (np.linalg.slogdet(inner)[1] + quadratic))
                    # the slope of the trend itself: what contrasts tell of the deviations is taken off the residuals
                    variance.append((least @ total @ least.T)[1, 1])
        mass = np.exp(np.array(log) - max(log))
        mass /= mass.sum()
        level, extra = second_stage.trends._levels(y, covariance, times, "linear", "equal", 40_000, rng)
        by_model = mass.reshape(3, -1).sum(axis=1)
        found = [(extra["correlation"] == each).mean() for each in second_stage.trends.CORRELATIONS]
        np.testing.assert_allclose(found, by_model, atol=0.01)
        assert np.median(extra["slope"]) == pytest.approx((least @ y)[1], abs=3e-4)
        slope = (least @ y)[1] + np.sqrt(variance) * ndtri(0.945)
        order = np.sqrt(np.array(variance))
        grid = np.linspace(slope.min() - (least @ y)[1], slope.max() - (least @ y)[1], 4000)[:, None]
        below = (mass * ndtr(grid[:400] / order)).sum(axis=1)
        expected = float(np.interp(0.945, below, grid[:400, 0]))
        assert np.quantile(extra["slope"], 0.945) - (least @ y)[1] == pytest.approx(expected, rel=0.05)
        assert level.shape == (40_000, 6)

    @pytest.mark.study
    @pytest.mark.parametrize(("correlation", "sd", "most"), [(0.0, 0.01, 0.11), (0.7, 0.01, 0.16), (0.9, 0.02, 0.4)])
    def test_correlated_deviations_are_seldom_called_a_change(self, sized, correlation, sd, most):
        rng, times, called = np.random.default_rng(0), np.arange(10.0), {"before": 0, "now": 0}
        covariance, design = 0.03**2 * (0.98 + 0.02 * np.eye(10)), second_stage.trends._line(np.arange(10.0))
        apart = sd**2 * correlation ** np.abs(times[:, None] - times)
        for _ in range(60):
            y = rng.multivariate_normal(np.zeros(10), covariance + apart)
            alone = numerics.second_stage.second_stage(y, covariance, design, [], [0.02], np.linalg.pinv(design))
            level, _ = second_stage.trends._levels(y, covariance, times, "linear", "equal", 500, rng)
            slopes = {"before": alone.draw(500, rng).coefficients[:, 1], "now": level[:, 1] - level[:, 0]}
            for name, slope in slopes.items():
                called[name] += int(np.sign(np.quantile(slope, [0.055, 0.945])).sum() != 0)
        assert called["now"] / 60 <= most
        assert correlation == 0 or called["now"] < 0.6 * called["before"]


@pytest.fixture(scope="module")
def occupations(shared, slice_vectors):
    """Women's share in 25 occupations, and a fit of the occupations with women's and men's words."""
    text = (shared / "criteria" / "female_share_40_occupations.json").read_text(encoding="utf-8")
    held = {word: share for word, share in json.loads(text).items() if word in slice_vectors}
    lists = bb.WordLists("occupations", {"occupations": sorted(held)}, {"occupations": WOMEN}, {"human": MEN})
    return held, bb.distance_table(slice_vectors, lists)


class TestCriterion:
    @pytest.mark.parametrize("model", ["related", "crossed"])
    def test_womens_share_in_occupations(self, occupations, slice_vectors, model):
        values, table = occupations
        post = bb.fit(table, model, seed=0)
        found = bb.criterion(post, values, contrast=("associated", "human"))
        unit = slice_vectors.get_vector

        def cosine(a, b):
            return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

        plain = [
            np.mean([cosine(unit(word), unit(one)) for one in MEN])
            - np.mean([cosine(unit(word), unit(one)) for one in WOMEN])
            for word in found.words["word"]
        ]
        assert np.allclose(found.words["estimate"], plain, atol=1e-6)
        assert found.plain == pytest.approx(-0.81, abs=0.005)
        row = found.table().iloc[0]
        assert row["high"] < 0
        assert -0.9 < row["mean"] < -0.6
        assert found.words["value"].tolist() == [values[word] for word in found.words["word"]]

    def test_words_without_a_value_are_named(self, occupations):
        values, table = occupations
        post = bb.fit(table, "crossed", seed=0)
        found = bb.criterion(
            post, {**{word: values[word] for word in list(values)[:20]}, "astronaut": 1.0}, 5.0, ("associated", "human")
        )
        assert len(found.words) == 20
        assert found.missing["not in the fit"] == ("astronaut",)
        assert len(found.missing["without a value"]) == len(values) - 20
        assert found.errors

    def test_a_relation_of_frequency_alone_goes_away(self, occupations):
        values, table = occupations
        post = bb.fit(table, seed=0)
        raw = bb.criterion(post, values, contrast=("associated", "human"))
        rng = np.random.default_rng(0)
        y = dict(zip(raw.words["word"], raw.words["estimate"], strict=True))
        # frequencies that go with the contrast, and values that go with frequency only
        zipf = {word: 4 - 10 * y[word] + 0.1 * rng.standard_normal() for word in y}
        counts = {word: 10**each for word, each in zipf.items()}
        outside = {word: zipf[word] + 0.3 * rng.standard_normal() for word in y}
        found = bb.criterion(
            post,
            outside,
            contrast=("associated", "human"),
            stages=bb.checks.TwoStage(adjust="frequency", frequencies={**counts, "x": 1e9}),
        )
        before, after = found.unadjusted.table().iloc[0], found.table().iloc[0]
        assert before["high"] < 0
        assert after["low"] < 0 < after["high"]
        assert "The raw relation is one that the adjustment explains." in found.text()
        assert np.corrcoef(found.words["attribute"], found.words["estimate"])[0, 1] == pytest.approx(0, abs=1e-9)
        unknown = dict(list(counts.items())[:10])
        part = bb.criterion(
            post,
            outside,
            contrast=("associated", "human"),
            stages=bb.checks.TwoStage(adjust="frequency", frequencies=unknown),
        )
        assert len(part.missing["without a known frequency"]) == len(y) - 10
        with pytest.raises(InputError, match="nothing is left of them"):
            bb.criterion(
                post, outside, contrast=("associated", "human"), stages=bb.checks.TwoStage(adjust={"same": outside})
            )

    @pytest.mark.study
    def test_false_positives_of_values_that_are_unrelated(self, occupations, sized):
        values, table = occupations
        post = bb.fit(table, "crossed", seed=0)
        rng, calls, trials = np.random.default_rng(0), 0, sized(60, 30)
        for _ in range(trials):
            shuffled = dict(zip(values, rng.permutation(list(values.values())), strict=True))
            found = bb.criterion(
                post, shuffled, contrast=("associated", "human"), stages=bb.checks.TwoStage(draws=1000)
            )
            row = found.table().iloc[0]
            calls += row["low"] > 0 or row["high"] < 0
        assert calls / trials < 0.11 + 3 * np.sqrt(0.11 * 0.89 / trials)

    @pytest.mark.parametrize(
        ("values", "se", "message"),
        [
            ({"astronaut": 1.0}, None, "5 are needed"),
            ({}, None, "mapping of protected words"),
            ([1, 2], None, "mapping of protected words"),
            ("same", None, "the same"),
            ("real", -1.0, "negative"),
            ("real", {"nurse": 1.0}, "se lacks"),
            ("nan", None, "finite"),
        ],
    )
    def test_wrong_input_is_named(self, occupations, values, se, message):
        held, table = occupations
        given = {"same": dict.fromkeys(held, 1.0), "real": held, "nan": {**held, "nurse": np.nan}}
        post = bb.fit(table, "crossed", seed=0)
        with pytest.raises(InputError, match=message):
            bb.criterion(post, given[values] if isinstance(values, str) else values, se, ("associated", "human"))

    def test_a_criterion_has_no_mean_to_weigh(self, occupations):
        held, table = occupations
        with pytest.raises(InputError, match="weights is 'precision'"):
            bb.criterion(bb.fit(table, "crossed", seed=0), held, stages=bb.checks.TwoStage(weights="precision"))


@pytest.fixture(scope="module")
def ratings(shared):
    """Mean ratings of 59 terms for gender (100: a man's), and their standard errors."""
    survey = pd.read_csv(shared / "axes" / "kozlowski_survey.csv")
    survey.index = survey["term"].str.lower()
    return survey["gender_mean"], survey["gender_se"]


class TestPolesOfACriterion:
    """Two poles that are the same for all words: two lists of a fit, or an axis."""

    def test_two_groups_have_their_two_lists_by_default(self, slice_vectors):
        table = bb.distance_table(slice_vectors, "gender")
        post = bb.fit(table, seed=0)
        lists = bb.load_words("gender").stereotypes
        (first, own), (second, other) = lists.items()
        rng = np.random.default_rng(0)
        words = table["protected_word"].unique().tolist()
        values = {word: rng.standard_normal() for word in words}
        found = bb.criterion(post, values)
        assert found.contrast == (first, second)
        assert set(found.words["group"]) == {"man", "woman"}
        means = table.pivot_table(index="protected_word", columns="attribute_word", values="distance")
        held = [[word for word in one if word in means.columns] for one in (own, other)]
        plain = means[held[0]].mean(axis=1) - means[held[1]].mean(axis=1)
        assert np.allclose(found.words["estimate"], plain[found.words["word"]], atol=1e-6)
        turned = bb.criterion(post, values, contrast=(second, first))
        assert np.allclose(turned.words["estimate"], -found.words["estimate"])
        assert turned.table()["mean"][0] == pytest.approx(-found.table()["mean"][0], abs=0.03)

    @pytest.mark.parametrize("model", ["related", "crossed"])
    def test_own_less_other_is_refused_for_several_groups(self, slice_vectors, model):
        table = bb.distance_table(slice_vectors, "gender")
        post = bb.fit(table, model, seed=0)
        values = dict(zip(table["protected_word"].unique(), range(100), strict=False))
        with pytest.raises(InputError, match="has another pole for each group, and its sign turns with it"):
            bb.criterion(post, values, contrast=("associated", "different"))

    def test_three_lists_are_to_be_named(self, religion_fit):
        values = {word: row for row, word in enumerate(["rabbi", "priest", "imam", "bible", "torah"])}
        with pytest.raises(InputError, match="name two of them as contrast"):
            bb.criterion(religion_fit, values)

    def test_an_axis_and_its_words_with_a_value(self, ratings):
        values, se = ratings
        axis = bb.axis("glove-50d-slice", "gender_pairs", ["nurse"])
        found = bb.criterion(axis, values, se)
        assert found.contrast == ("boy", "girl")
        held = [word for word in values.index if word in axis.kv]
        assert found.words["word"].tolist() == held
        assert set(found.missing["not in the embedding"]) == set(values.index) - set(held)
        placed = axis.with_words(held)
        assert np.allclose(found.words["estimate"], placed.places)
        assert np.allclose(found.words["se"], placed.table(order=False)["pairs_sd"])
        assert np.allclose(found.estimates.covariance.to_numpy(), placed.covariance("pairs"))
        assert found.plain == pytest.approx(np.corrcoef(placed.places, values[held])[0, 1])
        row = found.table().iloc[0]
        assert -0.9 < row["low"] < row["mean"] < row["high"] < -0.5
        assert row["mean"] < found.plain < -0.6  # errors attenuate the plain one
        assert bb.criterion(axis, values, se).table().equals(found.table())
        with pytest.raises(InputError, match="an axis is one contrast by itself"):
            bb.criterion(axis, values, contrast=("boy", "girl"))

    def test_units_of_the_values_do_not_matter(self, ratings):
        values, se = ratings
        axis = bb.axis("glove-50d-slice", "gender_pairs", ["nurse"])
        found, other = bb.criterion(axis, values, se), bb.criterion(axis, -10 * values + 3, 10 * se)
        assert other.table()["mean"][0] == pytest.approx(-found.table()["mean"][0], abs=0.01)
        assert other.table()["mean"][1] == pytest.approx(-found.table()["mean"][1] / 10, rel=0.02)

    @pytest.mark.study
    def test_a_planted_relation_of_twice_as_many_words_as_dimensions(self, sized):
        """Where the residual could not be in the places, and the slope was forced to 0 before."""
        axis = bb.axis("glove-50d-slice", "affluence")
        rng, rows, trials = np.random.default_rng(0), [], sized(40, 24)
        for seed in range(trials):
            words = rng.choice(axis.words, 100, replace=False)
            placed = axis.with_words(words.tolist())
            true = (placed.places - placed.places.mean()) / placed.places.std()
            values = -0.8 * true + 0.6 * rng.standard_normal(100)
            noise = np.sqrt(axis.offset.pairs) * rng.standard_normal(50)
            seen = replace(axis, offset=replace(axis.offset, mean=axis.offset.mean + noise))
            row = bb.criterion(seen, dict(zip(words, values, strict=True)), seed=seed).table().iloc[0]
            rows.append(row[["mean", "low", "high"]].to_numpy(dtype=float))
        mean, low, high = np.array(rows).T
        # what related words may share is above 0 a priori, which draws the mean towards 0
        assert mean.mean() == pytest.approx(-0.77, abs=0.05)
        assert ((low < -0.8) & (high > -0.8)).mean() > 0.89 - 3 * np.sqrt(0.89 * 0.11 / trials)
        assert (high < 0).all()

    @pytest.mark.study
    def test_values_of_other_words_are_unrelated(self, ratings, sized):
        values, _ = ratings
        axis = bb.axis("glove-50d-slice", "gender_pairs", ["nurse"])
        rng, calls, trials = np.random.default_rng(0), 0, sized(60, 30)
        for seed in range(trials):
            order = rng.permutation(len(values))
            row = bb.criterion(axis, pd.Series(values.to_numpy()[order], values.index), seed=seed).table().iloc[0]
            calls += row["low"] > 0 or row["high"] < 0
        assert calls / trials < 0.11 + 3 * np.sqrt(0.11 * 0.89 / trials)


def test_a_line_that_does_not_fit_is_said(slice_vectors, hard_debiased, tables):
    """Three embeddings, of which the second is debiased: the errors of the three are nearly the same."""
    again = KeyedVectors(slice_vectors.vector_size)
    noise = np.random.default_rng(0).standard_normal(slice_vectors.vectors.shape).astype(np.float32)
    length = np.linalg.norm(slice_vectors.vectors, axis=1).mean()
    again.add_vectors(slice_vectors.index_to_key, slice_vectors.vectors + 0.005 * length * noise / 17)
    embeddings = {"before": slice_vectors, "after": hard_debiased, "again": again}
    three = {name: bb.distance_table(kv, "gender") for name, kv in embeddings.items()}
    bent = bb.trend(three, {"before": 1990.0, "after": 2000.0, "again": 2010.0})
    assert any("A line does not fit these estimates" in note for note in bent.notes)
    straight = bb.trend({name: tables[name] for name in ("e0", "e1", "e2")}, {"e0": 1990, "e1": 2000, "e2": 2010})
    assert not any("A line does not fit" in note for note in straight.notes)


@pytest.fixture(scope="module")
def axes():
    """One axis in an embedding and in two noisy copies of it."""
    kv, rng = bb.load_embedding("glove-50d-slice"), np.random.default_rng(3)
    vectors = kv.vectors[:12000] / np.linalg.norm(kv.vectors[:12000], axis=1, keepdims=True)
    copies = {}
    for year, noise in (("1990", 0.0), ("2000", 0.3), ("2010", 0.3)):
        moved = vectors + noise * rng.standard_normal(vectors.shape) / np.sqrt(vectors.shape[1])
        embedding = bb.load_embedding(dict(zip(kv.index_to_key[:12000], moved, strict=True)))
        copies[year] = bb.axis(embedding, "gender_pairs", words=["nurse", "teacher", "captain", "guard"])
    return copies


def test_a_pool_of_axes_has_the_errors_of_further_pairs(axes):
    found = bb.pool(axes, seed=0)
    first = axes["1990"]
    assert found.contrast == first.ends
    np.testing.assert_allclose(found.estimates.mean[0], first.places.mean())
    # by hand: the mean place by each pair, over the pairs; of a t distribution, whose variance is larger
    weights = np.full(4, 1 / 4) @ first.coordinates
    sd = np.sqrt(weights**2 @ first.offset.variances("pairs"))
    by_word = np.sqrt(first.coordinates**2 @ first.offset.variances("pairs"))
    freedom = first.offset.freedom
    assert found.estimates.sd[0] == pytest.approx(sd * np.sqrt(freedom / (freedom - 2)), rel=0.25)
    assert found.estimates.sd[0] < by_word.max() * np.sqrt(freedom / (freedom - 2))
    covariance = found.estimates.covariance.to_numpy()
    correlation = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert 0.4 < correlation[0, 1] < 1
    assert "further pairs of this opposition" in found.text()


def test_one_axis_twice_counts_once(axes):
    with pytest.raises(bb.InputError, match="a, b hold the same distances"):
        bb.pool({"a": axes["1990"], "b": axes["1990"]}, seed=0)
    again, plain = (bb.pool(given, seed=0) for given in ({**axes, "again": axes["1990"]}, axes))
    np.testing.assert_array_equal(again.draws("population_mean"), plain.draws("population_mean"))
    difference = bb.trend(axes, seed=0).change("1990", "2010")
    assert difference["estimate"] == pytest.approx(axes["2010"].places.mean() - axes["1990"].places.mean())
    assert bb.trend(axes, seed=0).slopes()["protected_word"].iloc[1:].tolist() == list(axes["1990"].words)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda axes: {**axes, "2010": bb.axis("glove-50d-slice", "affluence", words=["nurse"])}, "another axis"),
        (lambda axes: {"a": axes["1990"], "b": pd.DataFrame()}, "distance tables, .* or to axes"),
        (
            lambda axes: dict.fromkeys("ab", bb.axis("glove-50d-slice", [("he", "she"), ("man", "woman")], ["nurse"])),
            "4",
        ),
    ],
)
def test_axes_that_cannot_be_pooled_are_refused(axes, changed, message):
    with pytest.raises(bb.InputError, match=message):
        bb.pool(changed(axes))
    with pytest.raises(bb.InputError, match="make the axes with"):
        bb.pool(axes, stages=bb.checks.TwoStage(adjust="frequency"))


def test_few_words_that_samples_share_are_said():
    rng, words = np.random.default_rng(0), bb.load_words("weat7").every_word()
    embeddings = {}
    for name, others in (("a", range(500)), ("b", range(400, 900))):
        keys = [*words, *(f"w{number}" for number in others)]
        vectors = rng.standard_normal((len(keys), 20)) + 0.5
        embeddings[name] = bb.load_embedding(dict(zip(keys, vectors, strict=True)))
    tables = {name: bb.distance_table(kv, "weat7") for name, kv in embeddings.items()}
    for found in (bb.pool(tables, seed=0), bb.compare(tables, seed=0)):
        assert any("share 100 words, fewer than 400" in note for note in found.notes)
    with pytest.warns(UserWarning, match="only 100 words"):
        shared = bb.distance_tables(embeddings, "weat7")
    assert set(bb.relatedness(shared["a"]).sample_words) == set(bb.relatedness(shared["b"]).sample_words)
    pools = [bb.pool({name: shared[name] for name in names}, seed=0) for names in ("ab", "ba")]
    orders = [pool.estimates.covariance.to_numpy() for pool in pools]
    np.testing.assert_allclose(orders[0], orders[1][::-1, ::-1], rtol=1e-9)
    both = [bb.compare({name: shared[name] for name in names}, seed=0).contrasts() for names in ("ab", "ba")]
    np.testing.assert_allclose(both[0]["sd"], both[1]["sd"], rtol=1e-6)
    np.testing.assert_allclose(both[0]["mean"], -both[1]["mean"], atol=1e-12)
