"""Intervals of the crossed models would rest on wrong variances, and thin or wrong tables would pass."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias import models, numerics
from bayesbias.numerics import quadrature

COLUMNS = ["protected_word", "group", "attribute_word", "attribute_class", "connection", "distance"]
CENTRES = {"associated": 0.80, "different": 0.88, "human": 0.93, "neutral": 0.97}
CONTROLS = {"human": 4, "neutral": 6}
TRUTH = {"connection_sd": 0.05, "sigma": 0.08, "attribute_sd": 0.07, "interaction_sd": 0.04}
PRIOR_SD = 0.3


def simulated(words=6, groups="ab", own=3, controls=CONTROLS, seed=0):
    """A complete table drawn from the crossed model: ``own`` stereotypes of each group and the controls."""
    rng = np.random.default_rng(seed)
    group_of = {f"w{at}": groups[at % len(groups)] for at in range(words)}
    cell = {(w, k): rng.normal(mean, TRUTH["connection_sd"]) for w in group_of for k, mean in CENTRES.items()}
    rows = []
    for label, size in {**dict.fromkeys(groups, own), **controls}.items():
        for at in range(size):
            effect, by_group = rng.normal(0, TRUTH["attribute_sd"]), rng.normal(0, TRUTH["interaction_sd"], len(groups))
            for w, g in group_of.items():
                k = label if label in CONTROLS else "associated" if label == g else "different"
                centre = cell[w, k] + effect + by_group[groups.index(g)]
                rows.append((w, g, f"{label}{at}", label, k, rng.normal(centre, TRUTH["sigma"])))
    return pd.DataFrame(rows, columns=COLUMNS)


def holed(table):
    """The table without the associated words of w3, and with human0 never compared with a word of b."""
    gone = (table["protected_word"] == "w3") & (table["connection"] == "associated")
    return table[~gone & ~((table["attribute_word"] == "human0") & (table["group"] == "b"))]


def distances_expected(post, table):
    """Mean and sd of each row's distance in each draw, (chain, draw, row), by labels."""
    posterior = post["posterior"]
    word, group, attribute, connection = (
        posterior.indexes[dim].get_indexer(table[name]) if dim in posterior.indexes else None
        for dim, name in (
            ("protected_word", "protected_word"),
            ("word_group", "group"),
            ("attribute_word", "attribute_word"),
            ("connection", "connection"),
        )
    )
    mean = posterior["word_mean"].to_numpy()[:, :, word, connection]
    mean = mean + posterior["attribute_effect"].to_numpy()[:, :, attribute]
    if "interaction_effect" in posterior:
        mean = mean + posterior["interaction_effect"].to_numpy()[:, :, attribute, group]
    return mean, posterior["sigma"].to_numpy()[:, :, connection]


DIMS = {
    "connection_mean": ("connection",),
    "connection_sd": ("connection",),
    "connection_sd0": (),
    "word_mean": ("protected_word", "connection"),
    "sigma": ("connection",),
    "attribute_effect": ("attribute_word",),
    "attribute_sd": ("attribute_class",),
    "attribute_sd0": (),
    "interaction_effect": ("attribute_word", "word_group"),
    "interaction_sd": (),
}
LABELS = {
    "connection": ["associated", "different", "human", "neutral"],
    "protected_word": [f"w{at}" for at in range(6)],
    "attribute_word": [f"{label}{at}" for label, size in (("a", 3), ("b", 3), *CONTROLS.items()) for at in range(size)],
    "attribute_class": ["stereotype", "human", "neutral"],
    "word_group": ["a", "b"],
}


PLAIN = (
    ('attribute_sd = "pooled"', 'attribute_sd = "shared"'),
    ("word_x_group = true", "word_x_group = false"),
    ('attribute_sd0 = { distribution = "half_cauchy", scale = 0.07 }\n', ""),
    ('"pooled", spread = 0.3', '"half_cauchy", scale = 0.07'),
    ('interaction_sd = { distribution = "exponential", rate = 30.0 }\n', ""),
)
"""One scale of all attribute words, which have no effects on groups."""
SEPARATE = (
    ('sigma = "connection"', 'sigma = "shared"'),
    ('attribute_sd = "pooled"', 'attribute_sd = "separate"'),
    PLAIN[2],
    PLAIN[3],
)


@pytest.mark.parametrize("changes", [(), SEPARATE], ids=["crossed", "separate"])
def test_names_dims_and_holes_of_a_posterior(edited, changes):
    post = bb.fit(holed(simulated()), edited("crossed", *changes), draws=200, chains=2, seed=1)
    posterior, dims = post["posterior"], dict(DIMS)
    if changes:
        dims["sigma"] = ()
        del dims["attribute_sd0"]
    assert {name: values.dims[2:] for name, values in posterior.data_vars.items()} == dims
    assert {label: posterior[label].to_numpy().tolist() for label in LABELS} == LABELS
    assert dict(posterior.sizes) == {"chain": 2, "draw": 100} | {label: len(each) for label, each in LABELS.items()}
    holes = {name: int(np.isnan(values).sum()) for name, values in posterior.data_vars.items()}
    assert {name: count for name, count in holes.items() if count} == {"word_mean": 200, "interaction_effect": 200}
    assert np.isnan(posterior["word_mean"].sel(protected_word="w3", connection="associated")).all()
    assert np.isnan(posterior["interaction_effect"].sel(attribute_word="human0", word_group="b")).all()
    assert {name: values.dims for name, values in post["sample_stats"].data_vars.items()} == {
        "pareto_k": (),
        "importance_ess": (),
    }
    assert post["constant_data"]["class"].to_numpy().tolist() == [
        {"h": "human", "n": "neutral"}.get(word[0], "stereotype") for word in LABELS["attribute_word"]
    ]
    assert (post.attrs["engine"], post.attrs["attribute_words"]) == ("marginal", "modelled")


def test_a_seed_fixes_the_draws_whatever_the_chains_and_cores(monkeypatch):
    table = simulated()
    first, other = (bb.fit(table, draws=600, seed=seed)["posterior"] for seed in (1, 2))
    two = bb.fit(table, draws=600, chains=2, seed=1)["posterior"]
    assert (dict(first.sizes)["chain"], dict(first.sizes)["draw"]) == (4, 150)
    assert (dict(two.sizes)["chain"], dict(two.sizes)["draw"]) == (2, 300)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert bb.fit(table, draws=600, seed=1)["posterior"].identical(first)
    for name, values in first.data_vars.items():
        np.testing.assert_array_equal(values.to_numpy().ravel(), two[name].to_numpy().ravel())
        assert not np.isin(values, other[name]).any()


@pytest.mark.parametrize("table", [simulated(seed=3), holed(simulated(seed=3))], ids=["complete", "holed"])
def test_the_order_of_rows_moves_a_contrast_by_rounding_alone(table):
    shuffled = table.sample(frac=1, random_state=0, ignore_index=True)
    found, expected = (bb.contrasts(bb.fit(rows, seed=1)).set_index("protected_word") for rows in (shuffled, table))
    figures = expected.select_dtypes("number")
    np.testing.assert_allclose(found.loc[expected.index, figures.columns], figures, atol=1e-7)


def same(values):
    return np.equal.outer(values, values).astype(float)


def log_normal(table, connection_sd, sigma, attribute, interaction):
    """Log density (B,) of all rows from their whole covariance, at variances (B, rows), (B,) for interaction."""
    word, connection, group = (table[name].to_numpy() for name in ("protected_word", "connection", "group"))
    same_attribute = same(table["attribute_word"].to_numpy())
    value = np.empty(len(sigma))
    for at in range(0, len(sigma), 1000):
        part = slice(at, at + 1000)
        covariance = PRIOR_SD**2 * same(connection) + connection_sd[part, :, None] * same(connection) * same(word)
        covariance += attribute[part, :, None] * same_attribute
        covariance += interaction[part, None, None] * same_attribute * same(group)
        covariance += sigma[part, :, None] * np.eye(len(table))
        chol = np.linalg.cholesky(covariance)
        y = np.broadcast_to(table["distance"].to_numpy()[:, None] - 1, (*chol.shape[:2], 1))
        white = np.linalg.solve(chol, y)[..., 0]
        value[part] = -0.5 * (white**2).sum(axis=1) - np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(axis=1)
    return value - 0.5 * len(table) * np.log(2 * np.pi)


def log_prior(model, scale, theta, connections):
    """Log prior (B,) of log scales: connection_sd, sigma, attribute_sd, then the rest of the model's."""
    s, sigma, rest = np.split(theta, [connections, 2 * connections], axis=1)
    if model == "half-normal":
        return (stats.halfnorm(scale=0.2).logpdf(scale) + theta).sum(axis=1)
    value = stats.norm(rest[:, [-1]], 0.5).logpdf(s).sum(axis=1)
    value += stats.halfcauchy(scale=0.05).logpdf(scale[:, -1]) + rest[:, -1]
    value += (stats.expon(scale=0.5).logpdf(np.exp(sigma)) + sigma).sum(axis=1)
    value += stats.norm(rest[:, [2]], 0.3).logpdf(rest[:, :2]).sum(axis=1)
    value += stats.halfcauchy(scale=0.07).logpdf(np.exp(rest[:, 2])) + rest[:, 2]
    return value + stats.expon(scale=1 / 30).logpdf(np.exp(rest[:, 3])) + rest[:, 3]


def log_posterior(table, model, theta):
    """Log of prior and likelihood (B,) at log scales (B, d): connection_sd, sigma, attribute_sd, interaction_sd."""
    connections = [k for k in CENTRES if k in set(table["connection"])]
    k = np.array([connections.index(name) for name in table["connection"]])
    scale = np.exp(np.clip(theta, -12, 3))  # far beyond the mass, where a covariance is singular in its rounding
    s, sigma, rest = np.split(scale, [len(connections), 2 * len(connections)], axis=1)
    classes = np.where(table["connection"].isin(CONTROLS), 1, 0) if model == "crossed" else np.zeros_like(k)
    attribute = rest[:, classes]
    interaction = rest[:, 3] if model == "crossed" else np.zeros(len(rest))
    value = log_prior(model, scale, theta, len(connections))
    return value + log_normal(table, s[:, k] ** 2, sigma[:, k] ** 2, attribute**2, interaction**2)


HALF_NORMAL = (
    ('connection_sd0 = { distribution = "half_cauchy", scale = 0.05 }\n', ""),
    ('connection_sd = "pooled"', 'connection_sd = "separate"'),
    ('"pooled", spread = 0.5', '"half_normal", sd = 0.2'),
    ('"exponential", rate = 2.0', '"half_normal", sd = 0.2'),
    ('"half_cauchy", scale = 0.07', '"half_normal", sd = 0.2'),
)


@pytest.mark.parametrize("model", ["half-normal", "crossed"])
def test_log_evidence_equals_plain_importance_sampling(edited, model):
    """Log scales from a multivariate t, thrice fitted to its own weights, against the normal of all rows."""
    table = simulated(words=4, controls={"neutral": 4}, seed=3)
    rng = np.random.default_rng(0)
    scales = ["connection_sd"] * 3 + ["sigma"] * 3 + ["attribute_sd"]
    scales += ["attribute_sd", "attribute_sd", "interaction_sd"] if model == "crossed" else []
    scales += ["connection_sd"] if model != "half-normal" else []
    centre, spread = np.log([TRUTH[name] for name in scales]), 0.5 * np.eye(len(scales))
    for size, power in ((1000, 0.3), (1000, 0.6), (2000, 1.0), (4000, 1.0), (8000, 1.0)):
        proposal = stats.multivariate_t(centre, spread, df=5)
        theta = proposal.rvs(size, random_state=rng)
        log_weight = log_posterior(table, model, theta) - proposal.logpdf(theta)
        relative = np.exp(log_weight - log_weight.max())
        tempered = relative**power / (relative**power).sum()
        centre, spread = tempered @ theta, 1.3 * np.cov(theta.T, aweights=tempered)
    expected = np.log(relative.mean()) + log_weight.max()
    error = relative.std() / relative.mean() / np.sqrt(size)
    assert error < 0.05
    post = bb.fit(table, edited("crossed", *PLAIN, *HALF_NORMAL) if model == "half-normal" else model, seed=0)
    own_error = 1 / np.sqrt(float(post["sample_stats/importance_ess"]))
    assert abs(post.attrs["log_evidence"] - expected) < 4 * np.hypot(error, own_error)


def conditional(table, scale, by_group):
    """Names of all Gaussians and their joint mean and covariance given the scales, by one dense solve over the rows."""
    names = [("mu", k) for k in CENTRES]
    basis = {name: {name: PRIOR_SD} for name in names}
    for word, k in table[["protected_word", "connection"]].drop_duplicates().itertuples(index=False):
        basis["cell", word, k] = {("mu", k): PRIOR_SD, ("cell", word, k): scale["connection_sd", k]}
    for word, label in table[["attribute_word", "attribute_class"]].drop_duplicates().itertuples(index=False):
        name = label if label in CONTROLS else "stereotype"
        basis["u", word] = {("u", word): scale["attribute_sd", name]}
    for word, group in table[["attribute_word", "group"]].drop_duplicates().itertuples(index=False):
        if by_group:
            basis["v", word, group] = {("v", word, group): scale["interaction_sd"]}
    names = list(basis)
    place = {name: at for at, name in enumerate(names)}
    loads = np.zeros((len(names), len(names)))
    for name, parts in basis.items():
        for part, size in parts.items():
            loads[place[name], place[part]] = size
    design = np.zeros((len(table), len(names)))
    for at, row in enumerate(table.itertuples(index=False)):
        design[at, place["cell", row.protected_word, row.connection]] = 1
        design[at, place["u", row.attribute_word]] = 1
        if by_group:
            design[at, place["v", row.attribute_word, row.group]] = 1
    noise = np.array([scale["sigma", k] for k in table["connection"]])
    white = design @ loads / noise[:, None]
    covariance = loads @ np.linalg.inv(np.eye(len(names)) + white.T @ white) @ loads.T
    return names, covariance @ design.T @ ((table["distance"].to_numpy() - 1) / noise**2), covariance


def gaussian_draws(table, scale, by_group, draws):
    """The package's draws at one point, as columns named as in ``conditional``."""
    data = models.tree.read_distances(table)
    sums = models.marginal.reduced(data, 1.0, by_group)

    def repeated(*names):
        return np.tile([scale[name] ** 2 for name in names], (draws, 1))

    scales = numerics.marginal.Scales(
        repeated(*(("sigma", k) for k in data.connections)),
        repeated(*(("connection_sd", k) for k in data.connections)),
        repeated(*(("attribute_sd", name) for name in data.attribute_classes)),
        repeated("interaction_sd")[:, 0] if by_group else None,
    )

    class Columns:
        cell, effect = {}, {}

        def cells(self, words, drawn):
            self.cell.update(zip(range(words.start, words.stop), drawn, strict=True))

        def effects(self, words, attribute, interaction):
            for at, word in enumerate(words.tolist()):
                self.effect[word] = attribute[at], None if interaction is None else interaction[at]

    taken = Columns()
    rng = np.random.default_rng(5)
    mu, cells_of = sums.draw_cells(scales, PRIOR_SD, data.filled, rng)
    given = (sums.patterns, sums.groups, scales, data.filled, rng)
    numerics.marginal.draw_words(cells_of, *given, taken.cells, taken.effects)
    columns = {("mu", k): mu[:, at] for at, k in enumerate(data.connections)}
    for j, k in np.argwhere(data.filled):
        columns["cell", data.protected_words[j], data.connections[k]] = taken.cell[j][k]
    for at, name in enumerate(data.attribute_words):
        columns["u", name] = taken.effect[at][0]
        for h, group in enumerate(data.group_names if by_group else ()):
            columns["v", name, group] = taken.effect[at][1][h]
    return columns


@pytest.mark.parametrize(
    ("missing", "by_cell", "draws"),
    [(0.0, False, 60_000), (0.3, False, 40_000), (0.3, True, 8_000)],
    ids=["complete", "incomplete", "incomplete, by cell"],
)
@pytest.mark.parametrize("by_group", [True, False], ids=["by group", "plain"])
def test_gaussians_given_the_scales_have_the_moments_of_the_dense_normal(
    missing, by_group, by_cell, draws, monkeypatch
):
    """Means within 4 standard errors; the covariances, thousands, within as unlikely a bound for the largest."""
    table = simulated(words=4, own=2, controls={"human": 2, "neutral": 3}, seed=4)
    rows = np.random.default_rng(1).random(len(table)) >= missing
    table = holed(table[rows]) if missing else table
    scale = {("sigma", k): value for k, value in zip(CENTRES, (0.05, 0.1, 0.07, 0.2), strict=True)}
    scale |= {("connection_sd", k): value for k, value in zip(CENTRES, (0.2, 0.03, 0.08, 0.05), strict=True)}
    kinds = zip(("stereotype", "human", "neutral"), (0.12, 0.05, 0.08), strict=True)
    scale |= {("attribute_sd", kind): value for kind, value in kinds} | {"interaction_sd": 0.09}
    names, mean, covariance = conditional(table, scale, by_group)
    monkeypatch.setattr(models.marginal, "MOST_EFFECTS", 0 if by_cell else 10**9)
    columns = gaussian_draws(table, scale, by_group, draws)
    never = {name for name, values in columns.items() if np.isnan(values).all()}
    assert set(columns) - never == set(names)
    assert bool(never) == (by_group and missing > 0)
    drawn = np.column_stack([columns[name] for name in names])
    variance = np.diag(covariance)
    apart = (drawn.mean(axis=0) - mean) / np.sqrt(variance / draws)
    assert np.abs(apart).max() < 4, names[np.abs(apart).argmax()]
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / draws)
    apart = (np.cov(drawn.T) - covariance) / error
    assert np.abs(np.diag(apart)).max() < 4
    assert np.abs(apart).max() < stats.norm.isf(stats.norm.sf(4) / len(names) ** 2)


FULL = simulated()
THIN = {
    "one word per class": (simulated(own=1, controls={"human": 1, "neutral": 1}), []),
    "one protected word": (simulated(words=1), ["model", "no-value"]),
    "no controls": (simulated(controls={}), ["few-levels"]),
    "one group": (simulated(groups="a"), ["model"]),
    "no group of w0": (FULL.assign(group=FULL["group"].where(FULL["protected_word"] != "w0", pd.NA)), ["model"]),
    "one row": (FULL.head(1), ["model", "no-value", "few-levels"]),
    "irregular missing pairs": (FULL.sample(frac=0.6, random_state=1), []),
    "most pairs missing": (FULL.sample(frac=0.25, random_state=1), []),
}


@pytest.mark.parametrize("kind", THIN)
def test_a_thin_table_has_a_posterior_and_its_notes(kind):
    table, notes = THIN[kind]
    post = bb.fit(table, "crossed", seed=0)
    assert [note.code for note in bb.diagnose(post).notes if note.code != "unrelated"] == notes
    assert ("interaction_sd" in post["posterior"]) == ("model" not in notes)
    n, means = (post[name].to_series() for name in ("constant_data/n", "posterior/word_mean"))
    counted = table.groupby(["protected_word", "connection"])["distance"].count()
    assert n[n > 0].sort_index().tolist() == counted.tolist()
    means = means.groupby(["protected_word", "connection"]).mean()
    assert means[n[n > 0].index].between(0.6, 1.2).all()
    assert (post["posterior/connection_mean"].std(("chain", "draw")) < PRIOR_SD).all()


def test_repeated_rows_count_once(tmp_path):
    twice = pd.concat([FULL, FULL.iloc[[3, 40, 41]]])
    post, expected = (bb.fit(table, "crossed", seed=0) for table in (twice, FULL))
    assert post["posterior"].identical(expected["posterior"])
    assert post["constant_data"].identical(expected["constant_data"])
    assert {"rows": 3, "total": 99, "rule": "dropped"} in [note.numbers for note in bb.diagnose(post).notes]
    with pytest.raises(bb.InputError, match="3 of 99 rows repeat a pair"):
        bb.fit(twice, "published", seed=0)
    twice.to_csv(tmp_path / "twice.csv", index=False)
    asked = bb.read_distance_table(tmp_path / "twice.csv", keep_duplicates=True)
    assert bb.fit(asked, "published", seed=0)["observed_data"].sizes["pair"] == 99


ADDITIVE = FULL.assign(
    distance=FULL["protected_word"].str[1:].astype(int) * 0.01 + pd.factorize(FULL["attribute_word"])[0] * 0.02 + 0.5
)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (FULL.assign(distance=FULL["distance"].where(FULL["connection"] != "neutral", 0.9)), "of neutral do not vary"),
        (ADDITIVE, "do not vary beyond their means, so their spread cannot be estimated"),
        (
            pd.concat([FULL, FULL.iloc[[20]].assign(distance=0.5)]),
            r"the pair 'w2', 'b0' has more than one distance; the model 'crossed' takes each pair once",
        ),
    ],
    ids=["one connection equal", "additive", "two distances"],
)
def test_a_table_without_a_posterior_is_refused(table, message):
    with pytest.raises(bb.InputError, match=message):
        bb.fit(table, "crossed")


@pytest.mark.parametrize(
    ("model", "engine", "able"),
    [("crossed", "exact", "auto or marginal or nuts"), ("crossed_t", "marginal", "auto or nuts")],
)
def test_an_engine_that_cannot_fit_a_model_is_refused(model, engine, able):
    with pytest.raises(bb.InputError, match=f"'{engine}' cannot fit the model '{model}': use {able}"):
        bb.fit(FULL, model, engine=engine)


def test_predictive_draws_are_around_the_sum_of_the_terms():
    table = holed(simulated())
    post = bb.fit(table, "crossed", seed=0)
    predicted = bb.checks.add_predictive(post, seed=1)["posterior_predictive/distance"].to_numpy()
    mean, sigma = distances_expected(post, table)
    standard = (predicted - mean) / sigma
    error = sigma.mean(axis=(0, 1)) / np.sqrt(4000)
    assert np.abs((predicted - mean).mean(axis=(0, 1)) / error).max() < 4
    assert np.abs((standard**2).mean(axis=(0, 1)) - 1).max() < 4 * np.sqrt(2 / 4000)
    assert np.abs(np.corrcoef(standard.reshape(4000, -1).T) - np.eye(len(table))).max() < 6 / np.sqrt(4000)


def standard_errors_apart(weighted, walked):
    """The largest difference of means of each variable, without single interactions, in Monte Carlo standard errors."""
    from arviz_stats.base import array_stats

    ess = float(weighted["sample_stats/importance_ess"])
    shape, apart = walked["posterior/sigma"].shape[:2], {}
    for name in sorted(set(weighted["posterior"].data_vars) - {"interaction_effect"}):
        a, b = (fit["posterior"][name].to_numpy().reshape(*shape, -1) for fit in (weighted, walked))
        error = array_stats.mcse(b, chain_axis=0, draw_axis=1, method="mean")
        difference = np.abs(a.mean((0, 1)) - b.mean((0, 1))) / np.hypot(error, a.std((0, 1)) / np.sqrt(ess))
        apart[name] = float(difference.max())
    return apart


@pytest.mark.slow
def test_where_weights_fail_the_scales_are_walked_and_the_result_says_so(monkeypatch):
    """A limit that no table keeps sends the engine to NUTS on the same marginal posterior."""
    table = simulated()
    weighted = bb.fit(table, "crossed", draws=1600, seed=0)
    monkeypatch.setattr(quadrature, "MAX_PARETO_K", -9)
    monkeypatch.setattr(models.nuts, "TUNE", 400)
    with pytest.warns(UserWarning, match="scales by NUTS"):
        walked = bb.fit(table, "crossed", draws=1600, seed=0)
    verdict = bb.diagnose(walked)
    assert verdict.ok, verdict.faults
    assert (verdict.engine, verdict.pareto_k, verdict.divergences) == ("marginal", None, 0)
    assert "model" in {note.code for note in verdict.notes}
    assert max(standard_errors_apart(weighted, walked).values()) < 4


@pytest.mark.parametrize(
    ("pareto_k", "ess", "fault"),
    [
        (0.4, 51.0, None),
        (0.4, 49.0, "49 effective points"),
        (0.71, 51.0, "Pareto k 0.71"),
    ],
)
def test_weights_that_cannot_be_trusted_hand_over_to_nuts(pareto_k, ess, fault):
    drawn = quadrature.WeightedPoints(np.zeros((8, 2)), np.full(8, 1 / 8), pareto_k, ess, 0.0, 4)
    assert quadrature.weights_fault(drawn, points=1000) == fault
