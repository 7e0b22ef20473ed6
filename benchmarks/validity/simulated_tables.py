"""Distance tables with a known truth: false positives, coverage, ranks, and the real null.

- ``real_null``: false positives for pseudo-lists from the neutral words of the published tables;
- ``changes``: intervals of changes, simulated tables before and after, with a known change and without one. Distances
  before follow the crossed model and changes the model of changes, with the scales that both have in the published
  tables before and after debiasing;
- ``ranks``, ``related_ranks``: simulation-based calibration of the fast engines;
- ``ranks_own``: simulation-based calibration of a model of one's own in PyMC, fitted by ``bayesbias.fit``.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pymc as pm
from scipy.stats import kstwo

import bayesbias as bb
from benchmarks.inside import DistanceTable, by_list, family_of, read_distances
from benchmarks.simulation import METRICS, rates, simulate, table_of_shape
from benchmarks.study import TABLES, Design, crossed, main, published_table

CHANGE = {"associated": 0.08, "different": 0.03, "human": 0.01, "neutral": 0.0}
"""Known changes of the connection means."""
CHANGES = ["associated", "human", *(("associated", name) for name in ("human", "neutral", "different"))]
SMALL = {
    "small": {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 5, "h": 5}, "human": 8, "neutral": 10},
    "thin": {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 2, "h": 1}, "human": 4},
}


def pseudo_lists(table: pd.DataFrame) -> Callable[[np.random.Generator], pd.DataFrame]:
    """A function to the table with neutral words, drawn at random, in place of the stereotype lists."""
    sizes = table[table["connection"] == "associated"].groupby("group", sort=False)["attribute_word"].nunique()
    pool = table.loc[table["connection"] == "neutral", "attribute_word"].unique()
    controls = table[~table["connection"].isin(["associated", "different"])].reset_index(drop=True)
    group, word = controls["group"].to_numpy(), controls["attribute_word"].to_numpy()
    neutral = (controls["connection"] == "neutral").to_numpy()

    def relabel(rng: np.random.Generator) -> pd.DataFrame:
        parts = by_list(rng.permutation(len(pool))[: sizes.sum()], sizes.tolist())
        owner = {drawn: name for name, part in zip(sizes.index, parts, strict=True) for drawn in pool[part]}
        listed = np.array([owner.get(each, "") for each in word], dtype=object)
        pseudo = neutral & (listed != "")
        connection = np.where(pseudo, np.where(listed == group, "associated", "different"), controls["connection"])
        classes = np.where(pseudo, listed, controls["connection"])
        return controls.assign(connection=connection.astype(str), attribute_class=classes.astype(str))

    return relabel


def real_null(cell):
    relabel = pseudo_lists(published_table(cell["table"]))
    rngs = (np.random.default_rng([1, at]) for at in range(cell.replicates))
    found = rates(((relabel(rng), rng) for rng in rngs), ("published", "crossed"), METRICS)
    found = found[found["contrast"] != "associated - human"]  # human words differ from neutral ones in truth
    return found.to_dict("records")


def scales_of(post):
    """Posterior medians of a fit's scales, as a truth to simulate from."""
    truth = {}
    for name in ("connection_sd", "sigma", "attribute_sd", "interaction_sd"):
        values = post["posterior"][name].median(("chain", "draw"))
        truth[name] = values.to_series().to_dict() if values.ndim else float(values)
    return truth


def changes(cell):
    before = published_table(f"{cell['topic']}_group_reddit_dataset")
    after = published_table(f"debiased_{cell['topic']}_reddit")[["protected_word", "attribute_word", "distance"]]
    paired = before.merge(after, on=["protected_word", "attribute_word"])
    shape = paired.drop(columns=["distance_x", "distance_y"]).assign(distance=1.0)
    levels = bb.fit(before, seed=1)
    moves = bb.DistanceTable(shape.assign(distance=paired["distance_y"] - paired["distance_x"]), truth={})
    changed = bb.fit(moves, "change", seed=1)
    mean = levels["posterior/connection_mean"].mean(("chain", "draw")).to_series().to_dict()
    start = scales_of(levels) | {"connection_mean": mean}
    for kind, means in (("known change", CHANGE), ("no change", dict.fromkeys(CHANGE, 0.0))):
        truth = scales_of(changed) | {"connection_mean": means}
        for seed in range(cell.replicates):
            one = simulate(shape, "crossed", start, seed=seed)
            moved = simulate(shape, "change", truth, seed=10_000 + seed)
            both = {"before": one, "after": one.assign(distance=one["distance"] + moved["distance"])}
            result, words = bb.compare(both, draws=1000, seed=seed), moved.truth["word_mean"]
            for asked in CHANGES:
                single = isinstance(asked, str)
                found = result.changes(asked) if single else result.sides(*asked, rows="difference").change.summary()
                first, second = (asked, None) if single else asked
                at = list(CHANGE).index
                true = words[:, at(first)] - (0 if single else words[:, at(second)])
                true = np.r_[means[first] - (0.0 if single else means[second]), true]
                covered = (found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy())
                labels = {"kind": kind, "quantity": first if single else f"{first} - {second}"}
                figures = {"coverage": covered[0], "of_words": covered[1:].mean()}
                yield labels | figures | {"width": found["high"][0] - found["low"][0]}


def uniformity(ranks, draws):
    """One row a parameter: Kolmogorov-Smirnov test of uniform ranks on 0..draws, and the share in the last 5%."""
    for name, values in ranks.items():
        for place, below in enumerate(np.transpose(values)):
            # differences between the values only, where ranks have the distribution of continuous ones
            shares = np.bincount(below, minlength=draws + 1).cumsum() / len(below)
            distance = np.abs(shares - np.arange(1, draws + 2) / (draws + 1)).max()
            tests = {
                "ks_p_value": kstwo.sf(distance, len(below)),
                "last_5_percent": (below >= 0.95 * (draws + 1)).mean(),
            }
            yield {"parameter": name, "place": place, **tests}


def from_prior(shape, model, rng):
    """A table from parameters that are drawn from the prior."""
    spec, table = bb.load_model(model), table_of_shape(shape)
    data, family = read_distances(table, check=False), family_of(spec)
    truth = family.drawn_truth(spec, data, rng)
    rows = pd.DataFrame(table).assign(distance=family.drawn_distances(spec, truth, data, rng))
    return DistanceTable(rows, relatedness=data.relatedness, truth=truth)


def ranks_of(model, shape, replicates, engine, seed, draws=199):
    """Rows for ranks of true values among draws of the posterior of tables from the prior."""
    rng, ranks = np.random.default_rng(seed), {}
    for _ in range(replicates):
        simulated = from_prior(shape, model, rng)
        post = bb.fit(simulated, model, engine=engine, draws=draws, chains=1, seed=int(rng.integers(2**31)))
        for name, true in simulated.truth.items():
            drawn, true = post["posterior"][name].to_numpy().reshape(draws, -1), np.ravel(true)
            known = ~np.isnan(true)
            ranks.setdefault(name, []).append((drawn[:, known] < true[known]).sum(axis=0))
    return uniformity(ranks, draws)


def ranks(cell):
    return ranks_of("crossed", SMALL[cell["shape"]], cell.replicates, "marginal", 41)


def related_ranks(cell):
    table = bb.distance_table("google-news-slice", cell["words"])
    return [row | {"replicates": cell.replicates} for row in ranks_of("related", table, cell.replicates, "auto", 1)]


def student(data):
    """A model of one's own: Student-t distances around means that depend on a covariate of the protected word."""
    covariate = np.linspace(-1, 1, len(data.protected_words))
    coords = {"protected_word": data.protected_words, "connection": data.connections, "pair": range(len(data.y))}
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("connection_mean", 0.9, 0.1, dims="connection")
        slope = pm.Normal("slope_of_words", 0, 0.05)
        sd = pm.HalfNormal("connection_sd", 0.1, dims="connection")
        apart = pm.Normal("apart", dims=("protected_word", "connection"))
        word = pm.Deterministic(
            "word_mean", mean + slope * covariate[:, None] + sd * apart, dims=("protected_word", "connection")
        )
        nu, sigma = pm.Gamma("nu", 4, 0.5), pm.HalfNormal("sigma", 0.1)
        mu = word[data.word, data.connection]
        pm.StudentT("distance", nu=nu, mu=mu, sigma=sigma, observed=data.y, dims="pair")
    return model


def own_ranks(cell):
    """Every fifth of 500 draws, so that they are nearly independent."""
    table, ranks = table_of_shape(SMALL["small"]), {}
    with student(read_distances(table)):
        drawn = pm.sample_prior_predictive(cell.replicates, random_seed=1)
    for i in range(cell.replicates):
        distances = drawn["prior_predictive/distance"][0, i].to_numpy()
        simulated = bb.DistanceTable(table.assign(distance=distances), truth={})
        posterior = bb.fit(simulated, student, draws=500, chains=1, seed=i)["posterior"]
        for name in ("connection_mean", "slope_of_words", "connection_sd", "word_mean", "nu", "sigma"):
            values, true = posterior[name].to_numpy()[0, 1::5], drawn[f"prior/{name}"].to_numpy()[0, i]
            ranks.setdefault(name, []).append((values < true).sum(axis=0).ravel())
    return [row | {"replicates": cell.replicates} for row in uniformity(ranks, 100)]


TOPICS = crossed(topic=("religion", "gender", "race"))
DESIGNS = (
    Design("calibration/real_null", crossed(table=TABLES), real_null, 300, 5),
    Design("calibration/changes", TOPICS, changes, 250, by=("kind", "quantity"), how={"se": "coverage"}),
    Design("calibration/ranks", crossed(shape=SMALL), ranks, 1000, 5),
    Design("calibration/ranks_own", [{}], own_ranks, 200, 5),
    Design("related/ranks", crossed(words=("gender", "race", "religion")), related_ranks, 1000),
)

if __name__ == "__main__":
    main(*DESIGNS)
