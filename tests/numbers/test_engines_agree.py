"""The exact engine would differ from long runs of NUTS."""

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
