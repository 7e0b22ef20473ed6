"""Distance tables with a known truth: false positives, coverage, ranks, and the real null.

- ``simulated``: false positives without bias, simulated tables of published shapes;
- ``real_null``: the same for pseudo-lists from the neutral words of the published tables;
- ``calibration_small_lists``: false positives and coverage of a planted bias in short lists, under default priors of
  the scales and under Exponential(2); scales are typical ones, those of protected or of attribute words also a third of
  that and three times as large;
- ``calibration_extreme_12``, ``calibration_extreme_2`` (stereotypes of a group): one protected word of 15 whose
  associated mean is .4 below that of the population: coverage of its contrast, and how often ``diagnose`` names it;
- ``changes``: intervals of changes, simulated tables before and after, with a known change and without one. Distances
  before follow the crossed model and changes the model of changes, with the scales that both have in the published
  tables before and after debiasing;
- ``ranks``, ``ranks_2``, ``related_ranks``: simulation-based calibration of the fast engines;
- ``ranks_own``: simulation-based calibration of a model of one's own in PyMC, fitted by ``bayesbias.fit``;
- ``priors``: printed intervals for truths that were drawn from each model's own prior;
- ``power``: what tests of ranks see of intervals that are too narrow, too wide or shifted: the truth and the draws are
  normal, so that the rank of the truth among 199 draws is binomial given the truth.
"""

from itertools import product

import numpy as np
import pymc as pm
from scipy.special import ndtr

import bayesbias as bb
from benchmarks.inside import Ranks, kolmogorov_smirnov, model_of_text, read_distances, spread_test
from benchmarks.study import TABLES, Design, crossed, holds, main, published_table

ALWAYS = ("published", "crossed", "crossed_plain")
RELIGION = {
    "connection_mean": 0.93,
    "connection_sd": {"associated": 0.127, "different": 0.100, "human": 0.058, "neutral": 0.038},
    "sigma": 0.117,
    "attribute_sd": 0.135,
    "interaction_sd": 0.0,
}
BY_CLASS = {"attribute_sd": {"stereotype": 0.193, "human": 0.129, "neutral": 0.138}, "sigma": 0.118}
WEAT = {
    "connection_mean": 0.93,
    "connection_sd": {"associated": 0.019, "different": 0.020, "human": 0.015, "neutral": 0.0105},
    "sigma": 0.053,
    "attribute_sd": 0.053,
    "interaction_sd": 0.0,
}
WITH_GROUPS = {"interaction_sd": 0.026, "sigma": float(np.sqrt(0.053**2 - 0.026**2))}
TRUTHS = {
    "religion/Reddit": ("religion_group_reddit_dataset", RELIGION),
    "religion/Reddit, unequal class scales": ("religion_group_reddit_dataset", RELIGION | BY_CLASS),
    "WEAT 1/Google": ("weat_1_google", WEAT),
    "WEAT 1/Google, word x group": ("weat_1_google", WEAT | WITH_GROUPS),
}
WORLDS = {"3 x 8": (3, 8, 8), "6 x 12": (6, 12, 20), "15 x 25": (15, 25, 40), "50 x 500": (50, 500, 500)}
"""Protected words of both groups, stereotype words of both, control words of a list."""
TYPICAL_SCALES = {
    "connection_sd": {"associated": 0.054, "different": 0.050, "human": 0.045},
    "sigma": {"associated": 0.069, "different": 0.065, "human": 0.063},
    "attribute_sd": {"stereotype": 0.077, "human": 0.060},
    "interaction_sd": 0.012,
}
"""Medians over the published tables of the posterior means of the crossed model."""
FACTORS = {0.33: 1 / 3, 1.0: 1.0, 3.0: 3.0}
PLANTED, LARGE = -0.3, 50
"""A planted bias, and the protected words from which a quarter of the tables does."""
WIDE = """
name = "Exponential(2)"
[likelihood]
family = "normal"
sigma = "connection"
[terms]
attribute_sd = "pooled"
word_x_group = true
[priors]
connection_mean = { distribution = "normal", mean = 1.0, sd = 0.3 }
connection_sd = { distribution = "exponential", rate = 2.0 }
sigma = { distribution = "exponential", rate = 2.0 }
attribute_sd0 = { distribution = "exponential", rate = 2.0 }
attribute_sd = { distribution = "pooled", spread = 0.3 }
interaction_sd = { distribution = "exponential", rate = 2.0 }
"""
CONNECTIONS = ("associated", "different", "human")
CHANGE = {"associated": 0.08, "different": 0.03, "human": 0.01, "neutral": 0.0}
"""Known changes of the connection means."""
CHANGES = ["associated", "human", *(("associated", name) for name in ("human", "neutral", "different"))]
SMALL = {
    "small": {"groups": {"g": 4, "h": 4}, "stereotypes": {"g": 5, "h": 5}, "human": 8, "neutral": 10},
    "thin": {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 2, "h": 1}, "human": 4},
}
QUICK = ("places", "audit", "pool", "trend", "multiverse")
"""Analyses of which five times as many replicates are drawn from the prior."""
FAULTS = {
    # factor of the right standard deviation, and shift of the mean
    "none": (1.0, 0.0),
    "10% too narrow": (0.9, 0.0),
    "25% too narrow": (0.75, 0.0),
    "50% too narrow": (0.5, 0.0),
    "10% too wide": (1.1, 0.0),
    "25% too wide": (1.25, 0.0),
    "shifted by .25 sd": (1.0, 0.25),
}


def pooled(found):
    """Rates of methods that test several times in a table, such as by group, as one row a contrast."""
    weights = found.assign(alarms=found["rate"] * found["replicates"], widths=found["width"] * found["replicates"])
    table = weights.groupby(["method", "contrast"], sort=False)[["alarms", "widths", "replicates"]].sum(min_count=1)
    rate = table["alarms"] / table["replicates"]
    se = np.sqrt(rate * (1 - rate) / table["replicates"])
    table = table.assign(rate=rate, se=se, width=table["widths"] / table["replicates"]).reset_index()
    return table[["method", "contrast", "rate", "se", "width", "replicates"]].to_dict("records")


def simulated(cell):
    table, truth = TRUTHS[cell["shape"]]
    models, count = ("published", "crossed", "crossed_plain", "crossed_shared"), cell.replicates
    return pooled(bb.calibration.false_positive_rate(published_table(table), truth, models, replicates=count, seed=0))


def real_null(cell):
    found = bb.calibration.null_false_positive_rate(published_table(cell["table"]), ALWAYS, cell.replicates, seed=1)
    return pooled(found[found["contrast"] != "associated - human"])  # human words differ from neutral ones in truth


def shape_of(protected, stereotypes, controls):
    """Two groups, uneven where the numbers are."""
    return {
        "groups": {"g": (protected + 1) // 2, "h": protected // 2},
        "stereotypes": {"g": (stereotypes + 1) // 2, "h": stereotypes // 2},
        "human": controls,
    }


def typical(words=1.0, attributes=1.0):
    """Typical scales, those of protected words and of attribute words times a factor."""
    return {
        "connection_sd": {name: words * sd for name, sd in TYPICAL_SCALES["connection_sd"].items()},
        "sigma": TYPICAL_SCALES["sigma"],
        "attribute_sd": {name: attributes * sd for name, sd in TYPICAL_SCALES["attribute_sd"].items()},
        "interaction_sd": attributes * TYPICAL_SCALES["interaction_sd"],
    }


def small_lists(cell):
    sizes = WORLDS[cell["world"]]
    shape, replicates = shape_of(*sizes), cell.replicates // 4 if sizes[0] >= LARGE else cell.replicates
    models = [bb.load_model("crossed"), model_of_text(WIDE, "Exponential(2)")]
    scales = typical(FACTORS[cell["word_sds"]], FACTORS[cell["attribute_sds"]])
    truth = scales | {"connection_mean": 0.9}
    biased = scales | {"connection_mean": dict.fromkeys(CONNECTIONS, 0.9) | {"associated": 0.9 + PLANTED}}
    found = bb.calibration.false_positive_rate(shape, truth, models, (), replicates, seed=1)
    covered = bb.calibration.coverage_study(shape, biased, models, replicates, seed=2)
    covered = covered.loc[covered["method"] != "cluster", ["method", "contrast", "coverage"]]
    return found.merge(covered, on=["method", "contrast"]).drop(columns="nominal").to_dict("records")


def extreme(stereotypes):
    """A study with so many stereotypes of each group."""
    shape = {"groups": {"g": 8, "h": 7}, "stereotypes": {"g": stereotypes, "h": stereotypes}, "human": 20}

    def one(model, away, seed):
        rng, scales = np.random.default_rng([seed, 1]), typical()
        sds = np.array(list(scales["connection_sd"].values()))
        means = 0.9 + sds * rng.standard_normal((15, 3))
        means[0, 0] = 0.9 + away if away else means[0, 0]
        truth = scales | {"connection_mean": 0.9, "connection_sd": sds, "word_mean": means}
        post = bb.fit(bb.calibration.simulate(shape, "crossed", truth, seed=seed), model, draws=2000, seed=seed)
        words = post["posterior"].dataset["word_mean"]
        apart = words.sel(connection="associated") - words.sel(connection="human")
        draws, true = apart.to_numpy().reshape(-1, 15), means[:, 0] - means[:, 2]
        covered, (low, high) = holds(draws, true), np.quantile(draws[:, 0], [0.055, 0.945])
        return {
            "extreme": covered[0],
            "others": covered[1:].mean(),
            "error": float(apart.mean(("chain", "draw"))[0] - true[0]),
            "width": high - low,
            "named": any("Grubbs" in note for note in bb.diagnose(post).notes),
        }

    def rows(cell):
        return [one(cell["model"], cell["away"], seed) for seed in range(cell.replicates)]

    return rows


def scales_of(post):
    """Posterior medians of a fit's scales, as a truth of ``bb.calibration.simulate``."""
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
            one = bb.calibration.simulate(shape, "crossed", start, seed=seed)
            moved = bb.calibration.simulate(shape, "change", truth, seed=10_000 + seed)
            both = {"before": one, "after": one.assign(distance=one["distance"] + moved["distance"])}
            result, words = bb.compare(both, draws=1000, seed=seed), moved.truth["word_mean"]
            for asked in CHANGES:
                single = isinstance(asked, str)
                found = result.changes(asked) if single else result.contrasts(*asked, rows="difference")
                first, second = (asked, None) if single else asked
                at = list(CHANGE).index
                true = words[:, at(first)] - (0 if single else words[:, at(second)])
                true = np.r_[means[first] - (0.0 if single else means[second]), true]
                covered = (found["low"].to_numpy() <= true) & (true <= found["high"].to_numpy())
                labels = {"kind": kind, "quantity": first if single else f"{first} - {second}"}
                figures = {"coverage": covered[0], "of_words": covered[1:].mean()}
                yield labels | figures | {"width": found["high"][0] - found["low"][0]}


def ranks(seed):
    """Ranks of the marginal engine from one seed."""

    def rows(cell):
        how = {"engine": "marginal", "seed": seed, "draws": 199}
        found = bb.calibration.sbc(cell["model"], SMALL[cell["shape"]], cell.replicates, **how)
        return found.uniformity.assign(pareto_k=found.pareto_k).to_dict("records")

    return rows


def related_ranks(cell):
    table = bb.distance_table("google-news-slice", cell["words"])
    found = bb.calibration.sbc("related", table, replicates=cell.replicates, seed=1)
    return found.uniformity.assign(replicates=cell.replicates).to_dict("records")


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
    table, ranks = bb.calibration.simulate(SMALL["small"], "published", seed=0), {}
    with student(read_distances(table)):
        drawn = pm.sample_prior_predictive(cell.replicates, random_seed=1)
    for i in range(cell.replicates):
        distances = drawn["prior_predictive/distance"][0, i].to_numpy()
        simulated = bb.DistanceTable(table.assign(distance=distances), truth={})
        posterior = bb.fit(simulated, student, draws=500, chains=1, seed=i)["posterior"]
        for name in ("connection_mean", "slope_of_words", "connection_sd", "word_mean", "nu", "sigma"):
            values, true = posterior[name].to_numpy()[0, 1::5], drawn[f"prior/{name}"].to_numpy()[0, i]
            ranks.setdefault(name, []).append((values < true).sum(axis=0).ravel())
    found = Ranks("student", "nuts", 100, {name: np.array(values) for name, values in ranks.items()}, None)
    return found.uniformity.assign(replicates=cell.replicates).to_dict("records")


def priors(cell):
    replicates = cell.replicates * (5 if cell["analysis"] in QUICK else 1)
    found = bb.calibration.prior_check(cell["analysis"], replicates, seed=1)
    return found.table().drop(columns="analysis").to_dict("records")


def power(cell):
    """Shares of calibrations in which the p-value of one parameter is at most 5%."""
    rng, draws = np.random.default_rng(0), 199
    for (fault, (width, shift)), tables in product(FAULTS.items(), (20, 60, 200, 1000)):
        below = (
            rng.binomial(draws, ndtr((rng.standard_normal(tables) - shift) / width)) for _ in range(cell.replicates)
        )
        p_values = [(spread_test(each, draws)[1], kolmogorov_smirnov(each, draws)) for each in below]
        called = (np.array(p_values) <= 0.05).mean(axis=0)
        yield {"intervals": fault, "tables": tables, "spread": called[0], "kolmogorov_smirnov": called[1]}


MODELS = ("crossed_plain", "crossed_shared", "crossed")
EXTREME = ({"model": "crossed", "away": -0.4}, {"model": "crossed_t", "away": -0.4}, {"model": "crossed", "away": 0.0})
SCALES = [{"word_sds": word, "attribute_sds": other} for word, other in ((0.33, 1.0), (1.0, 1.0), (3.0, 1.0))]
SCALES += [{"word_sds": 1.0, "attribute_sds": other} for other in (0.33, 3.0)]
TOPICS = crossed(topic=("religion", "gender", "race"))
DESIGNS = (
    Design("calibration/simulated", crossed(shape=TRUTHS), simulated, 500, 5),
    Design("calibration/real_null", crossed(table=TABLES), real_null, 300, 5),
    Design("calibration_small_lists", [{"world": name} | each for name in WORLDS for each in SCALES], small_lists, 400),
    Design("calibration_extreme_12", EXTREME, extreme(12), 100, by=()),
    Design("calibration_extreme_2", EXTREME, extreme(2), 100, by=()),
    Design("calibration/changes", TOPICS, changes, 250, by=("kind", "quantity"), how={"se": "coverage"}),
    Design("calibration/ranks", crossed(model=MODELS, shape=SMALL), ranks(41), 1000, 5),
    Design("calibration/ranks_2", [{"model": "crossed", "shape": "small"}], ranks(42), 2000, 5),
    Design("calibration/ranks_own", [{}], own_ranks, 200, 5),
    Design("related/ranks", crossed(words=("gender", "race", "religion")), related_ranks, 1000),
    Design("calibration/priors", crossed(analysis=bb.calibration.prior_analyses()), priors, 200),
    Design("calibration/power", [{}], power, 4000, 3),
)

if __name__ == "__main__":
    main(*DESIGNS)
