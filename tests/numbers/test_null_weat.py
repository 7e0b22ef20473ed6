"""What noise alone does to WEAT would be shown wrongly, and the numbers of the article would not come out."""

import numpy as np
import pytest
from scipy import stats

import bayesbias as bb


def effect(s):
    first, second = np.split(s, 2)
    return (first.mean() - second.mean()) / s.std()


def s_of(sample):
    a, b = np.split(sample, 2, axis=1)
    return a.mean(axis=1) - b.mean(axis=1)


def test_the_statistics_have_the_spread_that_theory_says():
    null = bb.calibration.simulate_null_weat(words=6, attributes=10, sd=0.1, draws=40_000)
    # s(w) has the variance of the difference of two means of 10; s is a signed sum of 12 of them
    assert null.s.std() == pytest.approx(0.1 * np.sqrt(2 / 10 * 12), rel=0.02)
    # d is a function of Student's t with 10 degrees of freedom: d = t sqrt(4 / 12) / sqrt((t^2 + 10) / 12)
    t = stats.t.ppf([0.05, 0.5, 0.975], 10)
    np.testing.assert_allclose(np.quantile(null.effect_size, [0.05, 0.5, 0.975]), 2 * t / np.sqrt(t**2 + 10), atol=0.02)
    # the effect size does not depend on the scale of cosines
    small, large = (bb.calibration.simulate_null_weat(draws=20, sd=sd).effect_size for sd in (0.08, 8))
    np.testing.assert_allclose(small, large, rtol=1e-9)


def test_noise_reaches_the_effect_of_the_article_in_about_one_sample_of_a_hundred():
    ours = bb.calibration.simulate_null_weat(draws=40_000)
    row = ours.summary().set_index("statistic").loc["effect_size"]
    assert row["as_extreme"] == pytest.approx(0.0087, abs=0.002)
    # what the article reports comes out when sums take the place of the means
    assert (ours.effect_size * 8 >= 1.27).mean() == pytest.approx(0.384, abs=0.01)


def test_the_example_is_a_split_of_noise_like_the_article_s():
    null = bb.calibration.simulate_null_weat()
    assert null.sample.shape == (16, 16)
    assert null.observed_effect_size == pytest.approx(1.27, abs=0.01)
    assert null.observed_effect_size == pytest.approx(effect(s_of(null.sample)))
    assert null.observed_s == pytest.approx(s_of(null.sample) @ np.repeat([1, -1], 8))
    assert len(null.partition_s) == null.test.partitions == 12_870
    assert null.test.exact
    assert (np.abs(null.partition_s) >= null.observed_s - 1e-9).mean() == pytest.approx(null.test.p_value)
    assert (np.abs(null.partition_effect_size) >= null.observed_effect_size - 1e-9).mean() == pytest.approx(
        null.test.p_value
    )


def test_raw_rows_are_welch_tests():
    sample = np.random.default_rng(5).normal(0.1, 0.08, (8, 6))
    null = bb.calibration.simulate_null_weat(words=4, attributes=3, sample=sample, draws=10)
    raw = null.raw.set_index("compared")
    for name, values in (("A", sample[:, :3]), ("B", sample[:, 3:]), ("s of words", s_of(sample))):
        test = stats.ttest_ind(values[:4].ravel(), values[4:].ravel(), equal_var=False)
        assert raw.loc[name, "p_value"] == pytest.approx(test.pvalue)
        assert raw.loc[name, ["low", "high"]].tolist() == pytest.approx(list(test.confidence_interval(0.95)))
    # the numbers of the article hang together: a 95% interval of [.0052, .061] for 64 against 64 has p = .02
    middle, half = (0.0052 + 0.061) / 2, (0.061 - 0.0052) / 2
    assert 2 * stats.t.sf(middle / (half / stats.t.ppf(0.975, 126)), 126) == pytest.approx(0.02, abs=0.002)


def test_the_permutation_test_of_noise_is_honest():
    """Of samples of noise 5% have p below .05: averaging first costs the test nothing where cosines are independent."""
    p = [bb.calibration.simulate_null_weat(5, 4, draws=1, seed=seed, effect_size=0, sample=noise).test.p_value
         for seed, noise in enumerate(np.random.default_rng(8).normal(0, 0.08, (1000, 10, 8)))]  # fmt: skip
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.0476, abs=3 * np.sqrt(0.05 * 0.95 / 1000))
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_results_are_seeded_and_say_what_they_are():
    one, two = (bb.calibration.simulate_null_weat(draws=200, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.s, two.s)
    np.testing.assert_array_equal(one.sample, two.sample)
    assert "noise (sd 0.08, 8 + 8 words, 8 + 8 attributes; 200 samples)" in str(one)
    many = bb.calibration.simulate_null_weat(words=13, draws=500)
    assert (many.test.exact, many.test.partitions, len(many.partition_s)) == (False, 500, 500)
    as_far = (np.abs(many.partition_s) >= abs(many.observed_s) - 1e-9).sum()
    assert many.test.p_value == pytest.approx((as_far + 1) / 501)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (np.zeros((4, 4)), r"the sample has shape \(4, 4\): give finite cosines of shape \(16, 16\)"),
        (np.full((16, 16), np.nan), "give finite cosines"),
        (np.zeros((16, 16)), "s is the same for all words"),
        ("noise", "the sample does not hold numbers"),
    ],
    ids=["shape", "nan", "flat", "text"],
)
def test_what_cannot_be_simulated_is_refused(sample, message):
    with pytest.raises(bb.InputError, match=message):
        bb.calibration.simulate_null_weat(draws=10, sample=sample)
