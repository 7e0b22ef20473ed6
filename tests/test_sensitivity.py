"""Sensitivity to priors: planted cases, refits against edited files, power-scaling, and wrong input."""

import numpy as np
import pandas as pd
import pytest
from arviz_stats import psense
from scipy import stats

import bayesbias as bb
from bayesbias import comparison, models

MEANS = {"associated": 0.80, "different": 0.90, "human": 0.95}
TRUTH = {"connection_mean": MEANS, "connection_sd": 0.05, "sigma": 0.10}
FEW = {"groups": {"a": 1, "b": 1}, "stereotypes": {"a": 3, "b": 3}, "human": 3}
PLENTY = {"groups": {"a": 30, "b": 30}, "stereotypes": {"a": 10, "b": 10}, "human": 10}


@pytest.fixture(scope="module")
def few():
    return bb.fit(bb.calibration.simulate(FEW, "published", TRUTH, seed=0), "published", seed=0)


@pytest.fixture(scope="module")
def few_found(few):
    return bb.checks.prior_sensitivity(few, seed=2, second="human", population="similar")


@pytest.fixture(scope="module")
def plenty():
    return bb.fit(bb.calibration.simulate(PLENTY, "published", TRUTH, seed=0), "published", seed=0)


@pytest.fixture(scope="module")
def plenty_found(plenty):
    return bb.checks.prior_sensitivity(plenty, second="human", population="similar")


def test_with_two_words_the_prior_matters(few_found):
    assert few_found.matters
    assert str(few_found) == few_found.verdict
    assert few_found.verdict.startswith(
        "The prior matters for associated - human: with the prior of connection_mean wider it moves by "
    )
    flagged = few_found.refits.set_index(["prior", "change"])["matters"]
    assert flagged["connection_mean"].all()
    assert not flagged["sigma"].any()
    whole = few_found.power.iloc[0]
    assert (whole["parameter"], whole["diagnosis"]) == ("associated - human", "strong prior, weak likelihood")
    assert whole["prior"] > 0.05 > whole["likelihood"]


def test_with_sixty_words_the_prior_does_not_matter(plenty_found):
    assert not plenty_found.matters
    assert plenty_found.verdict.startswith("The prior does not matter for associated - human: over 8 refits it moves")
    assert plenty_found.refits["shift"].abs().max() < 0.2
    assert (plenty_found.refits["sd_ratio"] - 1).abs().max() < 0.1
    assert (plenty_found.power.query("parameter == 'connection_mean'")["prior"] < 0.05).all()


def test_the_rows_and_the_fit_as_given(few, few_found):
    refits = few_found.refits
    assert list(refits.columns) == [
        "prior", "change", "mean", "sd", "hdi_low", "hdi_high", "shift", "sd_ratio", "matters",
    ]  # fmt: skip
    assert refits["prior"].isna().tolist() == [True] + 8 * [False]
    assert refits["prior"][1:].tolist() == [
        name for name in ("connection_mean", "connection_sd", "sigma", "all") for _ in range(2)
    ]
    assert refits["change"].tolist() == ["as given", *4 * ["wider", "narrower"]]
    given = bb.contrasts(few, "associated", "human", population="similar").iloc[0]
    numbers = ["mean", "sd", "hdi_low", "hdi_high"]
    assert refits.loc[0, numbers].tolist() == pytest.approx(given[numbers].tolist(), abs=1e-12)
    assert refits.loc[0, ["shift", "sd_ratio"]].tolist() == [0, 1]
    np.testing.assert_allclose(refits["shift"], (refits["mean"] - given["mean"]) / given["sd"], atol=1e-12)
    assert not refits.loc[0, "matters"]


BETWEEN = 'connection_sd = { distribution = "exponential", rate = 2.0'


@pytest.mark.parametrize(
    ("row", "changes"),
    [
        (1, [("sd = 0.3", "sd = 0.6")]),
        (4, [(BETWEEN, BETWEEN.replace("2.0", "4.0"))]),
        (8, [("sd = 0.3", "sd = 0.15"), ("rate = 2.0", "rate = 4.0")]),
    ],
)
def test_a_refit_is_the_fit_of_an_edited_file(edited, few, few_found, row, changes):
    again = bb.fit(models.results.distances_of(few), edited("published", *changes), seed=2)
    expected = bb.contrasts(again, "associated", "human", population="similar").iloc[0]
    numbers = ["mean", "sd", "hdi_low", "hdi_high"]
    assert few_found.refits.loc[row, numbers].tolist() == pytest.approx(expected[numbers].tolist(), abs=1e-12)


def judged(*rows):
    """Refits with a given fit of mean -0.1 and sd 0.1 and these others: prior, change, mean, sd, low, high."""
    names = ["prior", "change", "mean", "sd", "hdi_low", "hdi_high"]
    refits = pd.DataFrame([(pd.NA, "as given", -0.1, 0.1, -0.22, 0.02), *rows], columns=names)
    refits["shift"] = (refits["mean"] + 0.1) / 0.1
    refits["sd_ratio"] = refits["sd"] / 0.1
    return refits.assign(
        matters=(comparison.sensitivity._strength(refits) > 1) | comparison.sensitivity._decides(refits)
    )


@pytest.mark.parametrize(
    ("rows", "matters", "said"),
    [
        ([("sigma", "wider", -0.11, 0.1, -0.23, 0.01)], False, "moves by at most 0.10 posterior sds, its sd changes"),
        ([("sigma", "wider", -0.12, 0.1, -0.24, -0.001)], False, "none decides whether its interval excludes 0."),
        ([("sigma", "wider", -0.14, 0.1, -0.26, -0.02)], True, "+0%, and its interval comes to exclude 0."),
        ([("sigma", "wider", -0.04, 0.1, -0.16, 0.08)], True, "with the prior of sigma wider it moves by +0.60"),
        ([("sigma", "wider", -0.1, 0.07, -0.18, -0.02)], True, "sds and its sd changes by -30%, and its interval"),
        ([("all", "narrower", -0.03, 0.1, -0.15, 0.09)], True, "with all priors narrower it moves by +0.70"),
        (
            [("m", "wider", -0.04, 0.1, -0.1, 0.03), ("sigma", "wider", -0.02, 0.1, -0.1, 0.03)],
            True,
            "the prior of sigma wider it moves by +0.80 posterior sds and its sd changes by +0%; m matters too.",
        ),
    ],
)
def test_what_makes_a_prior_matter(rows, matters, said):
    refits = judged(*rows)
    assert refits["matters"].any() == matters
    verdict = comparison.sensitivity._verdict(refits, "associated - human")
    assert verdict.startswith(f"The prior {'matters' if matters else 'does not matter'} for associated - human: ")
    assert said in verdict


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (
            models.spec.Normal(distribution="normal", mean=1.0, sd=0.3),
            models.spec.Normal(distribution="normal", mean=1.0, sd=0.6),
        ),
        (
            models.spec.Exponential(distribution="exponential", rate=2.0),
            models.spec.Exponential(distribution="exponential", rate=1.0),
        ),
        (
            models.spec.HalfNormal(distribution="half_normal", sd=0.4),
            models.spec.HalfNormal(distribution="half_normal", sd=0.8),
        ),
        (models.spec.Pooled(distribution="pooled", spread=0.3), models.spec.Pooled(distribution="pooled", spread=0.6)),
        (
            models.spec.Gamma(distribution="gamma", shape=2.0, rate=0.1),
            models.spec.Gamma(distribution="gamma", shape=2.0, rate=0.1),
        ),
    ],
)
def test_each_prior_widens_by_its_own_scale(prior, expected):
    assert prior.widened(2) == expected


def test_log_priors_are_those_of_scipy():
    table = bb.calibration.simulate(FEW, "crossed", TRUTH | {"attribute_sd": 0.05, "interaction_sd": 0.03}, seed=0)
    post = bb.fit(table, "crossed", draws=40, seed=0)
    posterior, spec = post["posterior"].dataset, bb.load_model("robust")
    nu = np.random.default_rng(0).gamma(2, 10, (4, 10))
    values = {name: posterior[name].to_numpy() for name in posterior.data_vars}
    found = models.spec.log_priors(values | {"nu": nu}, spec.priors)

    def apart(name):
        return np.log(values[name] / values[f"{name}0"][:, :, None])

    expected = {
        "connection_mean": stats.norm(1, 0.3).logpdf(values["connection_mean"]).sum(axis=2),
        "connection_sd0": stats.halfcauchy(scale=0.05).logpdf(values["connection_sd0"]),
        "connection_sd": stats.norm(0, 0.5).logpdf(apart("connection_sd")).sum(axis=2),
        "sigma": stats.expon(scale=0.5).logpdf(values["sigma"]).sum(axis=2),
        "attribute_sd0": stats.halfcauchy(scale=0.07).logpdf(values["attribute_sd0"]),
        "attribute_sd": stats.norm(0, 0.3).logpdf(apart("attribute_sd")).sum(axis=2),
        "interaction_sd": stats.expon(scale=1 / 30).logpdf(values["interaction_sd"]),
        "nu": stats.gamma(2, scale=10).logpdf(nu),
    }
    assert set(found) == set(expected)
    for name, values in expected.items():
        difference = found[name] - values
        np.testing.assert_allclose(difference, difference[0, 0], atol=1e-9, err_msg=name)


def test_the_log_likelihood_is_the_sum_over_pairs(plenty):
    pairs = bb.checks.add_log_likelihood(plenty)["log_likelihood/distance"].to_numpy()
    np.testing.assert_allclose(comparison.sensitivity._log_likelihood(plenty), pairs.sum(axis=2).ravel(), rtol=1e-12)


def test_power_scaling_is_that_of_arviz_on_the_same_groups(few, few_found):
    power = few_found.power.set_index(["parameter", "label"])
    assert list(few_found.power.columns) == ["parameter", "label", "prior", "likelihood", "diagnosis"]
    assert len(power) == 1 + 3 * 3
    whole = bb.checks.add_log_likelihood(few)
    found = psense(whole, var_names=["connection_mean"], group="likelihood")["connection_mean"]
    mine = power.loc["connection_mean", "likelihood"]
    assert mine[found["connection"].to_numpy()].tolist() == pytest.approx(found.to_numpy().tolist(), abs=1e-9)


def test_a_model_is_read_back_from_its_fit(few, edited):
    spec = comparison.sensitivity.model_of(few)
    assert spec == bb.load_model("published")
    path = edited("crossed", ("spread = 0.3", "spread = 0.1"))
    post = bb.fit(bb.calibration.simulate(FEW, "published", TRUTH, seed=0), path, draws=40, seed=0)
    path.unlink()
    assert comparison.sensitivity.model_of(post).priors["attribute_sd"] == models.spec.Pooled(
        distribution="pooled", spread=0.1
    )


def test_a_fit_by_nuts_is_refitted_by_a_faster_engine_and_an_unused_prior_is_left_alone():
    table = bb.calibration.simulate(FEW, "published", TRUTH, seed=0).query("group == 'a'")
    post = bb.fit(table, "crossed_shared", draws=400, seed=0)
    post.attrs["engine"] = "nuts"
    found = bb.checks.prior_sensitivity(post)
    asked = found.refits["prior"].dropna().unique().tolist()
    assert asked == ["connection_mean", "connection_sd0", "connection_sd", "sigma", "attribute_sd", "all"]
    assert set(found.power["parameter"]) == {"associated - different", *asked[:-1]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 1}, "factor is 1: give a number above 1"),
        ({"factor": "2"}, "factor is '2'"),
        ({"factor": True}, "factor is True"),
        ({"factor": float("nan")}, "factor is nan"),
        ({"second": "neutral"}, "valid are associated, different, human"),
        ({"second": "associated"}, "needs two connections"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_wrong_arguments_are_refused(few, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.checks.prior_sensitivity(few, **options)


def test_what_is_no_fit_is_refused(few):
    with pytest.raises(bb.InputError, match="give the DataTree that fit returns"):
        bb.checks.prior_sensitivity(pd.DataFrame())
    bare = few.copy()
    del bare.attrs["model_text"]
    with pytest.raises(bb.InputError, match="does not carry the text of its model"):
        bb.checks.prior_sensitivity(bare)
