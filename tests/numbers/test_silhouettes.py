"""Silhouettes: values against the metrics themselves, the logistic regression in rows, orders, and wrong input."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias import numerics, silhouettes

WORDS = [f"{kind}{at}" for kind in "xyab" for at in range(12)]


@pytest.fixture(scope="module")
def kv():
    rng = np.random.default_rng(0)
    return bb.load_embedding({word: rng.normal(size=20) for word in WORDS})


def query(targets=(12, 12), attributes=(12, 12)):
    sets = {
        kind: [f"{kind}{at}" for at in range(size)] for kind, size in zip("xyab", (*targets, *attributes), strict=False)
    }
    return bb.Query({"x": sets["x"], "y": sets["y"]}, {kind: sets[kind] for kind in "ab" if kind in sets})


def single(targets=(12, 12)):
    every = query(targets)
    return bb.Query(every.targets, {"a": [*every.attributes["a"], *every.attributes["b"]]})


def in_orders(orders):
    """Places of the lists that grow in given orders: name of a set to the words of each run."""

    def order(grown, together):
        places = tuple(
            np.array([[words.index(word) for word in run] for run in orders[name]])
            for name, words in ((name, list(words)) for name, words in grown.items())
        )
        assert not together or all(np.array_equal(places[0], other) for other in places)
        return places

    return order


def parts(asked, vary, orders, run, lengths):
    """The query with the first words of each varied list in a run's order."""
    cut = {name: orders[name][run][:length] for name, length in zip(orders, lengths, strict=True)}
    sets = {"targets": asked.targets, "attributes": asked.attributes}
    sets[vary] = cut
    return bb.Query(sets["targets"], sets["attributes"])


@pytest.mark.parametrize("vary", ["targets", "attributes"])
@pytest.mark.parametrize("metric", ["weat_effect_size", "ect"])
def test_values_are_those_of_the_metric_on_the_words_used(kv, metric, vary):
    asked = query((12, 9)) if metric != "ect" else single((12, 9))
    rng = np.random.default_rng(1)
    lists = getattr(asked, vary)
    orders = {name: [list(rng.permutation(words)) for _ in range(3)] for name, words in lists.items()}
    found = silhouettes.studies._silhouette_in(in_orders(orders), kv, asked, metric, vary, 6, "saturate")
    lengths = silhouettes.results.lengths_of([len(words) for words in lists.values()], 6)
    for run in range(3):
        for at, row in enumerate(lengths):
            expected = bb.metric(metric, kv, parts(asked, vary, orders, run, row)).value
            assert found.values[run, at] == pytest.approx(expected, abs=1e-12)
    assert found.sizes.tolist() == lengths.sum(axis=1).tolist()


@pytest.mark.parametrize("vary", ["targets", "attributes"])
@pytest.mark.parametrize("metric", ["mac", "semaxis", "db_wa", "nbm", ("rnd", {"distance": "cos"})])
def test_any_metric_with_a_range_is_measured_on_the_words_used(kv, metric, vary):
    name, options = metric if isinstance(metric, tuple) else (metric, {})
    options = {"neighbours": 5} if name == "nbm" else options
    asked = single() if name in ("db_wa", "nbm", "rnd") else query()
    rng = np.random.default_rng(1)
    order = [rng.permutation(12) for _ in range(2)]
    lists = getattr(asked, vary)
    orders = {name: [[words[at] for at in run] for run in order] for name, words in lists.items()}
    if len(lists) == 1:
        orders = {"a": [list(rng.permutation(asked.attributes["a"])) for _ in range(2)]}
    found = silhouettes.studies._silhouette_in(in_orders(orders), kv, asked, (name, options), vary, 12)
    lengths = silhouettes.results.lengths_of([len(words) for words in lists.values()], 12)
    for run in range(2):
        for at, row in enumerate(lengths):
            expected = bb.metric(name, kv, parts(asked, vary, orders, run, row), **options).value
            assert found.values[run, at] == pytest.approx(expected, abs=1e-12)
    assert found.zero == bb.metric(name, kv, asked, **options).optimum


def test_pairs_grow_as_pairs(kv):
    asked = single()
    found = bb.silhouettes.silhouette(kv, asked, "db_wa", runs=4, step=2)
    alone = [
        bb.metric("db_wa", kv, bb.Query({"x": [f"x{at}"], "y": [f"y{at}"]}, asked.attributes)).value for at in range(12)
    ]
    assert all(np.abs(np.array(alone) - value).min() < 1e-12 for value in found.values[:, 0])


def test_rnsb_of_three_groups_has_its_own_range(kv):
    asked = query()
    three = bb.Query({**asked.targets, "z": [f"x{at}" for at in range(6, 12)]}, asked.attributes)
    found = bb.silhouettes.silhouette(kv, three, "rnsb", runs=2, step=3)
    assert found.bounds == (0.0, pytest.approx(np.log(3)))
    assert found.sizes[-1] == 18


@pytest.mark.parametrize("vary", ["targets", "attributes"])
def test_the_contrast_is_that_of_a_fit_to_the_words_used(kv, vary):
    asked = query()
    found = bb.silhouettes.silhouette(
        kv, asked, ("crossed", {"draws": 400, "seed": 3}), vary=vary, runs=2, step=12, seed=1
    )
    places = silhouettes.results.shuffled([12, 12], 2, 1, shared=False)
    lists = getattr(asked, vary)
    for run, at in ((0, 0), (1, 0), (0, 1)):
        length = found.sizes[at] // 2
        cut = {
            name: [words[place] for place in order[run, :length]]
            for (name, words), order in zip(lists.items(), places, strict=True)
        }
        targets, attributes = (cut, asked.attributes) if vary == "targets" else (asked.targets, cut)
        words = bb.WordLists("own", targets, dict(zip(targets, attributes.values(), strict=True)))
        post = bb.fit(bb.distance_table(kv, words, relatedness=False), draws=4000, seed=0)
        expected = bb.contrasts(post, "associated", "different").iloc[0]
        assert found.values[run, at] == pytest.approx(expected["mean"], abs=0.1 * expected["sd"])
        width = expected["high"] - expected["low"]
        assert found.high[run, at] - found.low[run, at] == pytest.approx(width, rel=0.15)
    assert found.metric == "associated - different"
    assert found.coverage.shape == found.sizes.shape
    assert found.coverage[-1] == 1


def test_control_sets_are_controls(kv):
    asked = query()
    controlled = bb.Query(
        asked.targets, {"a": asked.attributes["a"][:6], "b": asked.attributes["b"], "human": asked.attributes["a"][6:]}
    )
    found = bb.silhouettes.silhouette(kv, controlled, ("crossed", {"draws": 200, "second": "human"}), runs=1, step=24)
    assert found.metric == "associated - human"
    assert (
        bb.silhouettes.silhouette(kv, controlled, ("crossed", {"draws": 200}), runs=1, step=24).metric
        == "associated - different"
    )
    one = bb.silhouettes.silhouette(kv, single(), ("crossed", {"draws": 200}), runs=1, step=24)
    assert one.metric == "associated - different"  # the one list is the first group's
    with pytest.raises(bb.InputError, match="no counterpart of 2 target and 3 attribute sets"):
        bb.silhouettes.silhouette(kv, bb.Query(asked.targets, {**asked.attributes, "c": ["x0"]}), "crossed")


def test_the_place_of_a_control_set_among_the_attribute_sets_does_not_matter(kv):
    asked = query(attributes=(12, 6))
    human = {"human": [f"b{at}" for at in range(6, 12)]}
    full = [
        bb.silhouettes.silhouette(
            kv, bb.Query(asked.targets, sets), ("crossed", {"draws": 200}), "attributes", 1, sizes="saturate"
        ).full
        for sets in (human | asked.attributes, asked.attributes | human)
    ]
    assert full[0] == full[1]


def test_all_words_give_one_value(kv):
    for metric, asked in (("weat", query()), ("rnsb", query()), ("ect", single())):
        for vary in ("targets", "attributes"):
            found = bb.silhouettes.silhouette(kv, asked, metric, vary=vary, runs=10, step=6)
            assert np.ptp(found.values[:, -1]) < 1e-8
            assert (found.min <= found.mean + 1e-12).all()
            assert 0 < found.robustness < 1


def test_rnsb_is_a_converged_logistic_regression(kv):
    asked = query()
    found = bb.silhouettes.silhouette(kv, asked, "rnsb", runs=1, step=24)
    vectors = {
        name: np.stack([kv[word] for word in words]).astype(float)
        for name, words in {**asked.targets, **asked.attributes}.items()
    }
    x, first = np.vstack([vectors["a"], vectors["b"]]), np.arange(24) < 12
    model = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(x, first)
    negative = model.predict_proba(np.stack([vectors["x"].mean(axis=0), vectors["y"].mean(axis=0)]))[:, 0]
    shares = negative / negative.sum()
    assert found.values[0, -1] == pytest.approx((shares * np.log(2 * shares)).sum(), abs=1e-7)
    assert found.bounds == (0.0, pytest.approx(np.log(2)))
    assert bb.silhouettes.silhouette(kv, asked, "rnsb", runs=1, compat="published").bounds == (0.0, 1.0)


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_logistic_regression_in_rows(scale):
    rng = np.random.default_rng(3)
    x, first = scale * rng.normal(size=(40, 100)), np.arange(40) < 13
    alpha, b = numerics.logistic.fit_in_rows(x @ x.T, first)
    w = x.T @ alpha
    p = 1 / (1 + np.exp(-(x @ w + b)))
    np.testing.assert_allclose(w, x.T @ (first - p), atol=1e-8 * scale)
    assert abs((first - p).sum()) < 1e-8
    again = numerics.logistic.fit_in_rows(x @ x.T, first, (np.where(np.arange(40) < 30, alpha, 0), b))
    np.testing.assert_allclose(again[0], alpha, atol=1e-8)


def test_lengths():
    assert silhouettes.results.lengths_of([4, 4], 2).tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert silhouettes.results.lengths_of([5, 3], 4).tolist() == [[2, 2], [4, 3], [5, 3]]
    assert silhouettes.results.lengths_of([7], 6).tolist() == [[6], [7]]


def test_orders_of_lists_are_independent_unless_as_published():
    own = silhouettes.results.shuffled([30, 30], 20, 1, shared=False)
    assert all(sorted(row) == list(range(30)) for places in own for row in places.tolist())
    assert not any((a == b).all() for a, b in zip(*own, strict=True))
    same = silhouettes.results.shuffled([30, 30], 20, 1, shared=True)
    np.testing.assert_array_equal(*same)


def test_a_seed_gives_the_same(kv):
    one, other = (bb.silhouettes.silhouette(kv, query(), "weat", runs=5, seed=4).values for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, bb.silhouettes.silhouette(kv, query(), "weat", runs=5, seed=5).values)


def test_trimmed_lists_and_missing_words_are_said(kv):
    asked = bb.Query(
        {"x": [*(f"x{at}" for at in range(12)), "absent"], "y": [f"y{at}" for at in range(8)]},
        {kind: [f"{kind}{at}" for at in range(12)] for kind in "ab"},
    )
    found = bb.silhouettes.silhouette(kv, asked, "weat", runs=3)
    assert found.sizes[-1] == 16
    assert found.notes == ("1 of 13 words of x are missing: absent.",)
    assert "absent" in str(found)


def test_scores_by_hand():
    sizes = np.array([2, 4, 6])
    one = bb.silhouettes.Silhouette(
        "ect", "targets", sizes, np.array([[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]]), (-1.0, 1.0), 0.0, optimum=1.0
    )
    other = bb.silhouettes.Silhouette("ect", "targets", sizes, np.zeros((2, 3)), (-1.0, 1.0), 0.0)
    assert one.robustness == pytest.approx(1 - 1.0 / (2 * 6))
    assert bb.silhouettes.silhouette_accuracy(one, other) == pytest.approx(0.5 + 0.5 * 2 / 6)
    assert bb.silhouettes.silhouette_accuracy(one, other, compat="published") == pytest.approx(0.5 + 0.5 * 2 / 12)
    turned = one.oriented()
    assert turned.bounds == (0.0, 2.0)
    np.testing.assert_array_equal(turned.values, 1 - one.values)
    assert np.isnan(
        bb.silhouettes.Silhouette("ect", "targets", sizes[:1], np.ones((2, 1)), (-1.0, 1.0), 0.0).robustness
    )


WRONG = {
    "metric": ({"metric": "wat"}, "there is no metric 'wat'"),
    "options of the study's": ({"metric": ("ect", {"a": 1})}, "ect takes no options here, given are a"),
    "no metric": ({"metric": 3}, "3 is no metric: give the name of one, a Metric, or a function"),
    "options of the model": ({"metric": ("crossed", {"a": 1})}, "crossed has no option 'a': it takes model, first"),
    "a model by NUTS": ({"metric": ("crossed", {"model": "robust"})}, "the model 'robust' is fitted by the No-U-Turn"),
    "a connection": ({"metric": ("crossed", {"second": "human"})}, "the connection is 'human': valid are associated"),
    "vary": ({"vary": "words"}, "vary is 'words'"),
    "sizes": ({"sizes": "cut"}, "sizes is 'cut'"),
    "runs": ({"runs": 0}, "runs is 0"),
    "step": ({"step": 60}, "a list has 12 words, fewer than the 30 of a step"),
    "compat": ({"compat": "wefe"}, "compat is 'wefe'"),
    "the shape of a query": ({"metric": "ect"}, "ect takes 2 target and 1 attribute sets"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input(kv, options, message):
    with pytest.raises(bb.InputError, match=message):
        bb.silhouettes.silhouette(kv, query(), **{"metric": "weat", **options})


@pytest.mark.parametrize("metric", ["rnd", "ripa"])
def test_a_metric_without_a_range_is_refused(kv, metric):
    with pytest.raises(bb.InputError, match=f"{metric} has no smallest and largest value.* those of weat_effect_size"):
        bb.silhouettes.silhouette(kv, single(), metric)


def test_accuracy_counts_from_the_value_of_no_bias():
    sizes = np.array([2, 4])
    biased = bb.silhouettes.Silhouette("mac", "targets", sizes, np.full((2, 2), 0.7), (0.0, 2.0), 1.0, optimum=1.0)
    unbiased = dataclasses.replace(biased, values=np.ones((2, 2)))
    assert bb.silhouettes.silhouette_accuracy(biased, unbiased) == pytest.approx(0.5 + 0.5 * 0.3 * 2 / 4)
    assert bb.silhouettes.silhouette_accuracy(unbiased, biased) < 0.5
    with pytest.raises(bb.InputError, match="give the same metric and lists"):
        bb.silhouettes.silhouette_accuracy(biased, dataclasses.replace(unbiased, bounds=(0.0, 1.0)))
    with pytest.raises(bb.InputError, match="given is int: give what silhouette returns"):
        bb.silhouettes.silhouette_accuracy(biased, 3)


def test_separation_by_hand():
    sizes = np.array([2, 4, 6])
    far = bb.silhouettes.Silhouette(
        "rnsb", "targets", sizes, np.array([[0.3, 0.2, 0.2], [0.1, 0.2, 0.2]]), (0.0, 1.0), 0.0
    )
    near = bb.silhouettes.Silhouette(
        "rnsb", "targets", sizes, np.array([[0.2, 0.2, 0.1], [0.0, 0.0, 0.1]]), (0.0, 1.0), 0.0
    )
    # shares of pairs of runs: 3/4, 2/4 and two halves, 1; trapezoids (.75 + .75) / 2 and (.75 + 1) / 2
    assert bb.silhouettes.silhouette_separation(far, near) == pytest.approx((0.75 + 0.875) / 2)
    assert bb.silhouettes.silhouette_separation(near, far) == pytest.approx(1 - (0.75 + 0.875) / 2)
    turned = [dataclasses.replace(one, values=1 - one.values, optimum=1.0) for one in (far, near)]
    assert bb.silhouettes.silhouette_separation(*turned) == pytest.approx((0.75 + 0.875) / 2)


def test_coverage_by_hand():
    values = np.array([[0.2, 0.1], [0.0, 0.1]])
    one = bb.silhouettes.Silhouette(
        "c", "targets", np.array([2, 4]), values, (-2.0, 2.0), 0.0, low=values - 0.09, high=values + 0.11
    )
    np.testing.assert_array_equal(one.coverage, [0.5, 1.0])
    assert np.isnan(dataclasses.replace(one, low=None).coverage).all()


def test_uncertainty_of_means_is_their_standard_error():
    rng = np.random.default_rng(5)
    sizes = np.array([2, 4])
    values = np.abs(rng.normal(1, 0.2, size=(60, 2)))
    biased = bb.silhouettes.Silhouette("rnsb", "targets", sizes, values, (0.0, 1.0), 0.0)
    unbiased = dataclasses.replace(biased, values=np.zeros((60, 2)))
    expected = 0.5 * (values.sum(axis=1) / 4).std(ddof=1) / np.sqrt(60)  # accuracy adds half of the mean height x 2 / 4
    table = bb.silhouettes.silhouette_uncertainty(biased, unbiased, resamples=2000).set_index("score")
    assert table.loc["accuracy", "sd"] == pytest.approx(expected, rel=0.05)
    assert table.loc["accuracy", "value"] == bb.silhouettes.silhouette_accuracy(biased, unbiased)
    assert list(table.index) == ["robustness of the biased", "robustness of the unbiased", "accuracy", "separation"]
    assert table.loc["robustness of the biased", "half_the_runs"] > biased.robustness


@pytest.mark.study
def test_uncertainty_of_robustness_over_runs(kv, sized):
    """Half-sampling against the spread of scores over sets of runs."""
    runs = sized(4000, 2000)
    pool = bb.silhouettes.silhouette(kv, query(), "weat", runs=runs, seed=2)
    sets = [dataclasses.replace(pool, values=pool.values[at : at + 50]) for at in range(0, runs, 50)]
    truth = np.std([one.robustness for one in sets], ddof=1)
    found = [bb.silhouettes.silhouette_uncertainty(one, resamples=60)["sd"].item() for one in sets[:20]]
    assert np.mean(found) == pytest.approx(truth, rel=0.3)


def test_uncertainty_needs_the_same_runs(kv):
    one, few = (bb.silhouettes.silhouette(kv, query(), "weat", runs=runs) for runs in (20, 5))
    for given, message in (((few,), "there are 5 runs"), ((one, few), "have 20 and 5 runs")):
        with pytest.raises(bb.InputError, match=message):
            bb.silhouettes.silhouette_uncertainty(*given)


def test_silhouettes_of_different_metrics_are_not_compared(kv):
    one = bb.silhouettes.silhouette(kv, query(), "weat", runs=2)
    with pytest.raises(bb.InputError, match="give the same metric and lists"):
        bb.silhouettes.silhouette_accuracy(one, bb.silhouettes.silhouette(kv, query(), "rnsb", runs=2))
    with pytest.raises(bb.InputError, match="0 without bias already"):
        one.oriented()
    with pytest.raises(bb.InputError, match="compat is 'wefe'"):
        bb.silhouettes.silhouette_accuracy(one, one, compat="wefe")


def test_a_study_is_its_silhouettes(kv):
    rng = np.random.default_rng(5)
    other = bb.load_embedding({word: rng.normal(size=20) for word in WORDS if word != "x3"})
    table = bb.silhouettes.silhouette_study({"one": kv, "two": other}, {"q": query()}, runs=6)
    assert table.columns.tolist() == silhouettes.studies.COLUMNS
    assert len(table) == 3 * 2 * 2
    kept = query()
    kept = bb.Query(
        {"x": [word for word in kept.targets["x"] if word != "x3"], "y": kept.targets["y"]}, kept.attributes
    )
    both = [bb.silhouettes.silhouette(each, kept, "weat", runs=6) for each in (kv, other)]
    rows = table[(table["metric"] == "weat_effect_size") & (table["vary"] == "targets")]
    assert rows["robustness"].tolist() == [one.robustness for one in both]
    assert rows["accuracy"].unique() == [bb.silhouettes.silhouette_accuracy(*both)]
    assert rows["words"].unique() == [22]
    assert rows["oriented_accuracy"].isna().all()
    ect = table[(table["metric"] == "ect") & (table["vary"] == "attributes")]
    assert ect["words"].unique() == [24]
    one_set = bb.Query(kept.targets, {"a and b": [*kept.attributes["a"], *kept.attributes["b"]]})
    both = [bb.silhouettes.silhouette(each, one_set, "ect", "targets", runs=6).oriented() for each in (kv, other)]
    ect = table[(table["metric"] == "ect") & (table["vary"] == "targets")]
    assert ect["oriented_accuracy"].unique() == [bb.silhouettes.silhouette_accuracy(*both)]
    assert table.attrs["notes"] == ["q: 1 of 12 words of x are left out, since some embedding lacks them: x3."]


def test_a_study_of_one_model_has_no_accuracy(kv):
    table = bb.silhouettes.silhouette_study({"one": kv}, {"q": query()}, ["weat"], runs=3)
    assert table["accuracy"].isna().all()
    with pytest.raises(bb.InputError, match="needs kvs and queries"):
        bb.silhouettes.silhouette_study({}, {"q": query()})
    with pytest.raises(bb.InputError, match="share none of the 12 words of 'x'"):
        bb.silhouettes.silhouette_study(
            {"none": bb.load_embedding({word: np.ones(3) for word in ("y0", "a0")})}, {"q": query()}
        )


def test_the_coverage_of_the_intervals_stands_beside_them(slice_vectors, sized):
    """Robustness of 60 or 40 sets of 100 runs: fewer than 89% of the intervals hold its mean."""
    seeds = range(sized(60, 40))
    sets = [bb.silhouettes.silhouette(slice_vectors, "weat7_wefe", "weat", runs=100, seed=seed) for seed in seeds]
    truth = np.mean([one.robustness for one in sets])
    rows = [bb.silhouettes.silhouette_uncertainty(one, resamples=100, seed=0).iloc[0] for one in sets]
    assert 0.72 < np.mean([row["low"] <= truth <= row["high"] for row in rows]) < 0.9
    assert rows[0]["covered"] == 0.77
    both = bb.silhouettes.silhouette_uncertainty(sets[0], sets[1], resamples=10)
    assert both["covered"].tolist() == [0.77, 0.77, 0.875, 0.958]
    assert bb.silhouettes.silhouette_uncertainty(sets[0], resamples=10, prob=0.5)["covered"].isna().all()
