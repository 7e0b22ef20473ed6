"""The exact engine and the baseline model would differ from long runs of independent methods."""

import numpy as np
import pytest

import bayesbias as bb

TABLE = "religion_group_reddit_dataset"


def disagreements(exact, nuts):
    """Differences of means and sds in units of their Monte Carlo standard errors, and relative differences of sds."""
    from arviz_stats.base import array_stats

    in_mean, in_sd = {}, {}
    for name, reference in nuts["posterior"].data_vars.items():
        a, b = exact["posterior"][name].to_numpy(), reference.to_numpy()
        a, b = (x.reshape(*x.shape[:2], -1) for x in (a, b))
        some = ~np.isnan(a[0, 0])
        assert (some == ~np.isnan(b[0, 0])).all()
        a, b = a[:, :, some], b[:, :, some]
        errors = [[array_stats.mcse(x, chain_axis=0, draw_axis=1, method=m) for m in ("mean", "sd")] for x in (a, b)]
        error_mean, error_sd = (np.hypot(errors[0][i], errors[1][i]) for i in (0, 1))
        in_mean[name] = np.abs(a.mean((0, 1)) - b.mean((0, 1))) / error_mean
        difference = np.abs(a.std((0, 1)) - b.std((0, 1)))
        in_sd[name] = difference / np.maximum(4 * error_sd, 0.05 * b.std((0, 1)))
    return in_mean, in_sd


@pytest.mark.nuts
@pytest.mark.study
@pytest.mark.parametrize("model", ["published", "pooled"])
@pytest.mark.full
def test_exact_agrees_with_nuts(shared, model, sized):
    rows = bb.read_distance_table(shared / "paper_tables" / f"{TABLE}.csv")
    exact = bb.fit(rows, model, engine="exact", draws=16_000, seed=1)
    nuts = bb.fit(rows, model, engine="nuts", draws=sized(16_000, 4000), seed=2)
    in_mean, in_sd = disagreements(exact, nuts)
    for name, values in in_mean.items():
        assert values.max() < 4, f"mean of {name}"
        assert in_sd[name].max() < 1, f"sd of {name}"


@pytest.mark.nuts
@pytest.mark.study
@pytest.mark.full
def test_baseline_equals_importance_sampling(shared, sized):
    """The baseline model on a small table, against self-normalised importance sampling from the dense marginal."""
    from scipy import stats

    rows = bb.read_distance_table(shared / "paper_tables" / "weat_7_glove.csv")
    rows = rows[rows["connection"].isin(["associated", "neutral"])]
    rows = rows.groupby(["protected_word", "connection"]).head(3).groupby("connection").head(12)
    post = bb.fit(rows, "baseline", draws=sized(16_000, 6000), seed=3)
    rng = np.random.default_rng(0)
    size = 60_000
    sigma = np.exp(rng.normal(np.log(0.12), 0.5, size))
    scale = np.exp(rng.normal(np.log(0.08), 1.2, (size, 2)))
    y = rows["distance"].to_numpy()
    connection = (rows["connection"] == "neutral").to_numpy().astype(int)
    same_connection = np.equal.outer(connection, connection)
    word = rows["protected_word"].to_numpy()
    same_cell = same_connection & np.equal.outer(word, word)
    s2 = scale[:, connection] ** 2
    cov = sigma[:, None, None] ** 2 * np.eye(len(y)) + s2[:, :, None] * same_cell + 0.2**2 * same_connection + 0.5**2
    chol = np.linalg.cholesky(cov)
    white = np.linalg.solve(chol, np.broadcast_to((y - 1)[:, None], (size, len(y), 1)))[..., 0]
    log_weight = -0.5 * (white**2).sum(1) - np.log(np.diagonal(chol, axis1=1, axis2=2)).sum(1)
    log_weight += stats.expon(scale=0.2).logpdf(sigma) + stats.expon(scale=0.2).logpdf(scale).sum(1)
    log_weight -= stats.lognorm(0.5, scale=0.12).logpdf(sigma) + stats.lognorm(1.2, scale=0.08).logpdf(scale).sum(1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    ess = 1 / (weight**2).sum()
    assert ess > 2000
    # means given the scales are linear in the data: E[mu_k] and E[m] = 1 + cov(., y) cov(y)^-1 (y - 1)
    explained = np.linalg.solve(np.swapaxes(chol, 1, 2), white[..., None])[..., 0]
    members = np.equal.outer(np.arange(2), connection).astype(float)
    mean_of = 1 + (0.5**2 + 0.2**2 * members) @ explained.T
    m_of = 1 + 0.5**2 * explained.sum(axis=1)
    for name, draws in (("sigma", sigma), ("connection_sd", scale), ("connection_mean", mean_of.T), ("m", m_of)):
        mean = weight @ draws
        found = post["posterior"][name]
        error = np.sqrt(weight @ (draws - mean) ** 2 / ess + found.var(("chain", "draw")).to_numpy() / 2000)
        assert np.all(np.abs(found.mean(("chain", "draw")).to_numpy() - mean) < 4 * error), name
