"""Silhouettes and their scores would not be those of the metrics on the words that are used."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias.baselines import silhouettes
from bayesbias.baselines.silhouettes import (
    Silhouette,
    silhouette,
    silhouette_accuracy,
    silhouette_separation,
    silhouette_study,
    silhouette_uncertainty,
)

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

    def order(grown, runs, seed, shared, together):
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


METRICS = {
    "weat_effect_size": (query((12, 9)), {}, "saturate"),
    "ect": (single((12, 9)), {}, "saturate"),
    "mac": (query(), {}, "trimmed"),
    "nbm": (single(), {"neighbours": 5}, "trimmed"),
    "rnd": (single(), {"distance": "cos"}, "trimmed"),
}


@pytest.mark.parametrize(("name", "vary"), [*((name, "targets") for name in METRICS), ("ect", "attributes")])
def test_values_are_those_of_the_metric_on_the_words_used(kv, name, vary, monkeypatch):
    asked, options, sizes = METRICS[name]
    rng, lists = np.random.default_rng(1), getattr(asked, vary)
    if sizes == "saturate":
        orders = {key: [list(rng.permutation(words)) for _ in range(3)] for key, words in lists.items()}
    else:  # lists of one length, which grow as pairs
        places = [rng.permutation(len(next(iter(lists.values())))) for _ in range(3)]
        orders = {key: [[words[at] for at in run] for run in places] for key, words in lists.items()}
    step = 6 if sizes == "saturate" else 12
    monkeypatch.setattr(silhouettes, "shuffled", in_orders(orders))
    found = silhouette(kv, asked, (name, options), vary, 3, step, sizes)
    lengths = silhouettes.lengths_of([len(words) for words in lists.values()], step)
    for run in range(3):
        for at, row in enumerate(lengths):
            expected = bb.metric(name, kv, parts(asked, vary, orders, run, row), **options).value
            assert found.values[run, at] == pytest.approx(expected, abs=1e-12)
    assert found.sizes.tolist() == lengths.sum(axis=1).tolist()
    # the study draws ECT, of which 1 is no bias, around 0
    assert found.zero == (0 if name == "ect" else bb.metric(name, kv, asked, **options).optimum)


@pytest.mark.parametrize("vary", ["targets", "attributes"])
def test_the_contrast_is_that_of_a_fit_to_the_words_used(kv, vary):
    asked = query()
    model = ("crossed", {"draws": 400, "seed": 3})
    found = silhouette(kv, asked, model, vary=vary, runs=2, step=12, seed=1)
    places = silhouettes.shuffled(getattr(asked, vary), 2, 1, shared=False, together=False)
    lists = getattr(asked, vary).items()
    for run, at in ((0, 0), (1, 0), (0, 1)):
        chosen = [order[run, : found.sizes[at] // 2] for order in places]
        cut = {name: [words[at] for at in order] for (name, words), order in zip(lists, chosen, strict=True)}
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


def test_rnsb_is_a_converged_logistic_regression(kv):
    asked = query()
    found = silhouette(kv, asked, "rnsb", runs=1, step=24)
    x, first = kv[[*asked.attributes["a"], *asked.attributes["b"]]].astype(float), np.arange(24) < 12
    model = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(x, first)
    means = [kv[words].astype(float).mean(axis=0) for words in asked.targets.values()]
    negative = model.predict_proba(np.stack(means))[:, 0]
    shares = negative / negative.sum()
    assert found.values[0, -1] == pytest.approx((shares * np.log(2 * shares)).sum(), abs=1e-7)
    assert found.bounds == (0.0, pytest.approx(np.log(2)))
    assert silhouette(kv, asked, "rnsb", runs=1, compat="published").bounds == (0.0, 1.0)


def test_lengths():
    assert silhouettes.lengths_of([4, 4], 2).tolist() == [[1, 1], [2, 2], [3, 3], [4, 4]]
    assert silhouettes.lengths_of([5, 3], 4).tolist() == [[2, 2], [4, 3], [5, 3]]
    assert silhouettes.lengths_of([7], 6).tolist() == [[6], [7]]


def test_orders_of_lists_are_independent_unless_as_published():
    lists = dict.fromkeys("ab", range(30))
    own = silhouettes.shuffled(lists, 20, 1, shared=False, together=False)
    assert all(sorted(row) == list(range(30)) for places in own for row in places.tolist())
    assert not any((a == b).all() for a, b in zip(*own, strict=True))
    same = silhouettes.shuffled(lists, 20, 1, shared=True, together=False)
    np.testing.assert_array_equal(*same)


def by_hand(values, metric="ect", bounds=(-1.0, 1.0), **options):
    """The silhouette of these values, in steps of two words."""
    values = np.array(values, dtype=float)
    return Silhouette(metric, "targets", 2 * np.arange(1, values.shape[1] + 1), values, bounds, 0.0, **options)


def test_scores_by_hand():
    one = by_hand([[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]], optimum=1.0)
    other = by_hand(np.zeros((2, 3)))
    assert one.robustness == pytest.approx(1 - 1.0 / (2 * 6))
    assert silhouette_accuracy(one, other) == pytest.approx(0.5 + 0.5 * 2 / 6)
    assert silhouette_accuracy(one, other, compat="published") == pytest.approx(0.5 + 0.5 * 2 / 12)
    turned = one.oriented()
    assert turned.bounds == (0.0, 2.0)
    np.testing.assert_array_equal(turned.values, 1 - one.values)
    assert np.isnan(by_hand(np.ones((2, 1))).robustness)
    assert one.by_size()[["words", "smallest", "largest"]].iloc[0].tolist() == [2, 0, 1]


def test_wrong_input(kv):
    for asked, metric, message in (
        (query(), ("crossed", {"model": "crossed_t"}), "the model 'crossed_t' needs NUTS"),
        (query(), "ect", "ect takes fewer"),
        (single(), "ripa", "ripa has no smallest and largest value"),
    ):
        with pytest.raises(bb.InputError, match=message):
            silhouette(kv, asked, metric)


def test_accuracy_counts_from_the_value_of_no_bias():
    biased = dataclasses.replace(by_hand(np.full((2, 2), 0.7), "mac", (0.0, 2.0), optimum=1.0), zero=1.0)
    unbiased = dataclasses.replace(biased, values=np.ones((2, 2)))
    assert silhouette_accuracy(biased, unbiased) == pytest.approx(0.5 + 0.5 * 0.3 * 2 / 4)
    assert silhouette_accuracy(unbiased, biased) < 0.5
    with pytest.raises(bb.InputError, match="give the same metric and lists"):
        silhouette_accuracy(biased, dataclasses.replace(unbiased, metric="rnsb"))


def test_separation_by_hand():
    far = by_hand([[0.3, 0.2, 0.2], [0.1, 0.2, 0.2]], "rnsb", (0.0, 1.0))
    near = by_hand([[0.2, 0.2, 0.1], [0.0, 0.0, 0.1]], "rnsb", (0.0, 1.0))
    # shares of pairs of runs: 3/4, 2/4 and two halves, 1; trapezoids (.75 + .75) / 2 and (.75 + 1) / 2
    assert silhouette_separation(far, near) == pytest.approx((0.75 + 0.875) / 2)
    assert silhouette_separation(near, far) == pytest.approx(1 - (0.75 + 0.875) / 2)
    turned = [dataclasses.replace(one, values=1 - one.values, optimum=1.0) for one in (far, near)]
    assert silhouette_separation(*turned) == pytest.approx((0.75 + 0.875) / 2)


def test_coverage_by_hand():
    values = np.array([[0.2, 0.1], [0.0, 0.1]])
    one = by_hand(values, "c", (-2.0, 2.0), low=values - 0.09, high=values + 0.11)
    np.testing.assert_array_equal(one.coverage, [0.5, 1.0])
    assert np.isnan(dataclasses.replace(one, low=None).coverage).all()


def test_uncertainty_of_means_is_their_standard_error():
    values = np.abs(np.random.default_rng(5).normal(1, 0.2, size=(60, 2)))
    biased = by_hand(values, "rnsb", (0.0, 1.0))
    unbiased = dataclasses.replace(biased, values=np.zeros((60, 2)))
    expected = 0.5 * (values.sum(axis=1) / 4).std(ddof=1) / np.sqrt(60)  # accuracy adds half of the mean height x 2 / 4
    table = silhouette_uncertainty(biased, unbiased, resamples=2000).set_index("score")
    assert table.loc["accuracy", "sd"] == pytest.approx(expected, rel=0.05)
    assert table.loc["accuracy", "value"] == silhouette_accuracy(biased, unbiased)
    assert list(table.index) == ["robustness of the biased", "robustness of the unbiased", "accuracy", "separation"]
    assert table.loc["robustness of the biased", "half_the_runs"] > biased.robustness
    assert table["covered"].tolist() == [0.77, 0.77, 0.875, 0.958]
    assert silhouette_uncertainty(biased, resamples=10, prob=0.5)["covered"].isna().all()


def test_uncertainty_needs_the_same_runs():
    one, few = (by_hand(np.ones((runs, 2))) for runs in (20, 5))
    with pytest.raises(bb.InputError, match="there are 20 and 5 runs"):
        silhouette_uncertainty(one, few)


def test_a_study_is_its_silhouettes(kv):
    rng = np.random.default_rng(5)
    other = bb.load_embedding({word: rng.normal(size=20) for word in WORDS if word != "x3"})
    table = silhouette_study({"one": kv, "two": other}, {"q": query()}, runs=6)
    assert len(table) == 3 * 2 * 2
    ((note,),) = table["notes"].unique()
    assert (note.code, note.numbers["count"], note.numbers["total"]) == ("left-out", 1, 12)
    assert note.numbers["words"] == ["x3"]
    rows = table.set_index(["metric", "vary"]).sort_index()
    targets = query().targets
    kept = bb.Query({**targets, "x": [word for word in targets["x"] if word != "x3"]}, query().attributes)
    both = [silhouette(each, kept, "weat", runs=6) for each in (kv, other)]
    weat = rows.loc[("weat_effect_size", "targets")]
    assert weat["robustness"].tolist() == [one.robustness for one in both]
    assert weat["accuracy"].unique() == [silhouette_accuracy(*both)]
    assert weat["words"].unique() == [22]
    assert weat["oriented_accuracy"].isna().all()
    assert rows.loc[("ect", "attributes"), "words"].unique() == [24]
    one_set = bb.Query(kept.targets, {"a and b": [*kept.attributes["a"], *kept.attributes["b"]]})
    both = [silhouette(each, one_set, "ect", "targets", runs=6).oriented() for each in (kv, other)]
    assert rows.loc[("ect", "targets"), "oriented_accuracy"].unique() == [silhouette_accuracy(*both)]


@pytest.mark.slow
def test_the_coverage_of_the_intervals_stands_beside_them(slice_vectors):
    """Robustness of 60 sets of 100 runs: fewer than 89% of the intervals hold its mean."""
    sets = [silhouette(slice_vectors, "weat7_wefe", "weat", runs=100, seed=seed) for seed in range(60)]
    truth = np.mean([one.robustness for one in sets])
    rows = [silhouette_uncertainty(one, resamples=100, seed=0).iloc[0] for one in sets]
    assert 0.72 < np.mean([row["low"] <= truth <= row["high"] for row in rows]) < 0.9
