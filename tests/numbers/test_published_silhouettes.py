"""Silhouettes would differ from the recorded runs of the study's own program and from its printed curves."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.baselines import silhouettes

KEYS = {"weat_effect_size": "weat", "ect": "ect", "rnsb": "rnsb"}
CLOSE = {"weat_effect_size": 1e-9, "ect": 5e-5, "rnsb": 1e-6}
MODES = {"trimmed": "trimmed", "saturate": "different_sizes"}
NAMES = {"targets": ("target_1", "target_2"), "attributes": ("attribute_1", "attribute_2")}


@pytest.fixture(scope="module")
def record(shared):
    return json.loads((shared / "oracles" / "bsa_oracles_public.json").read_text())


@pytest.fixture(scope="module")
def models(news, record):
    biased = news
    direction = np.array(record["models"]["unbiased_gender_projected"]["direction"])
    left = biased.vectors - (biased.vectors @ direction)[:, None] * direction
    unbiased = KeyedVectors(vector_size=300, dtype=np.float32)
    unbiased.add_vectors(biased.index_to_key, left.astype(np.float32))
    return {"biased": biased, "unbiased": unbiased}


def asked(record, metric, sizes):
    lists = record["lists"]
    targets = {name: lists[name] for name in NAMES["targets"]}
    if metric != "ect":
        return bb.Query(targets, {name: lists[name] for name in NAMES["attributes"]})
    words = record["modes"][MODES[sizes]]["orders"]["attribute_combined_ECT"][0]
    return bb.Query(targets, {"attribute_combined_ECT": words})


def followed(record, kv, metric, sizes, vary, runs=None, **options):
    """The silhouette over the recorded orders, or over the first ``runs`` of them."""
    orders = record["modes"][MODES[sizes]]["orders"]

    def order(grown, *_):
        return tuple(
            np.array([[list(words).index(word) for word in run] for run in orders[name][:runs]])
            for name, words in grown.items()
        )

    count = len(next(iter(orders.values()))[:runs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silhouettes, "shuffled", order)
        return silhouettes.silhouette(kv, asked(record, metric, sizes), metric, vary, count, sizes=sizes, **options)


def recorded_values(record, model, metric, sizes, vary):
    results = record["modes"][MODES[sizes]]["results"][model]
    converged = results.get("rnsb_converged_tol1e-10")
    chosen = converged if metric == "rnsb" and converged else results[KEYS[metric]]
    return np.array(chosen[f"shuffled_{vary.removesuffix('s')}_results"])


@pytest.mark.parametrize("vary", ["targets", "attributes"])
@pytest.mark.parametrize("metric", KEYS)
@pytest.mark.parametrize("sizes", ["trimmed", "saturate"])
def test_values_and_scores_in_the_recorded_orders(record, models, metric, vary, sizes):
    unconverged = metric == "rnsb" and sizes == "saturate"  # recorded with scikit-learn's default tolerance only
    runs = 3 if unconverged else None  # of 20: classifiers of up to 75 words take long
    close = 0.02 if unconverged else CLOSE[metric]
    mode = record["modes"][MODES[sizes]]
    expected = mode["scores"]["biased_vs_unbiased"][KEYS[metric]][f"shuffled_{vary.removesuffix('s')}_results"]
    both = []
    for model, kv in models.items():
        own = followed(record, kv, metric, sizes, vary, runs=runs, compat="published")
        measured = recorded_values(record, model, metric, sizes, vary)
        assert own.values.shape == measured[:runs].shape
        np.testing.assert_allclose(own.values, measured[:runs], atol=close, rtol=0)
        default = followed(record, kv, metric, sizes, vary, runs=1)
        np.testing.assert_allclose(default.values, measured[:1], atol=close, rtol=0)
        curves = np.array(mode["results"][model][KEYS[metric]][f"shuffled_{vary.removesuffix('s')}_results"])
        one = replace(own, values=curves)
        assert one.robustness == pytest.approx(expected[f"robustness_paper_formula_{model}"], abs=1e-9)
        if metric != "rnsb":  # two words that are as near as rounding tells swap ranks in one of 1,520 correlations
            assert own.robustness == pytest.approx(one.robustness, abs=1e-9)
        both.append(one)
    assert bb.silhouettes.silhouette_accuracy(*both) == pytest.approx(expected["accuracy_paper_formula"], abs=1e-9)
    published = bb.silhouettes.silhouette_accuracy(*both, compat="published")
    assert published == pytest.approx(expected["accuracy_code"], abs=1e-9)
    assert int(both[0].sizes[-1]) == expected["W_union_size"]
    if metric == "ect":
        turned = bb.silhouettes.silhouette_accuracy(*(one.oriented() for one in both))
        assert turned == pytest.approx(expected["accuracy_if_bias_is_1_minus_ECT_range_0_2"], abs=1e-9)


def test_the_studys_own_shuffles(record, models):
    """Lists cut to the shorter one and shuffled with the run's number as seed give the recorded orders."""
    query = asked(record, "weat_effect_size", "trimmed")
    found = bb.silhouettes.silhouette(models["biased"], query, "weat", runs=20, compat="published")
    expected = recorded_values(record, "biased", "weat_effect_size", "trimmed", "targets")
    np.testing.assert_allclose(found.values, expected, atol=1e-9, rtol=0)


BOUNDS = {"weat": (-2.0, 2.0), "ect": (-1.0, 1.0), "rnsb": (0.0, 1.0)}
PANELS = [f"{topic}/{kind}" for topic in ("gender", "religion") for kind in ("group", "concept")]


def drawn(curves, name, metric):
    """A silhouette of curves read off a figure, each on a grid of its own."""
    grid = np.unique(np.concatenate([x for x, _ in curves.values()]))
    rows = [np.interp(grid, *curve) for key, curve in curves.items() if key in name]
    return bb.silhouettes.Silhouette(metric, "targets", grid, np.array(rows), BOUNDS[metric], 0.0)


@pytest.mark.parametrize("metric", BOUNDS)
def test_scores_of_the_printed_curves(shared, metric):
    """Curves read off the supplement's figures to four decimals: robustness, accuracy with the fault and without."""
    panels = json.loads((shared / "oracles" / "bsa_paper_figures_public.json").read_text())["panels"]
    for figures in (panels[f"{metric}/{name}"] for name in PANELS):
        both = []
        for side in ("biased", "unbiased"):
            curves = figures[f"curve_{side}"]
            assert drawn(curves, ("b1", "b2"), metric).robustness == pytest.approx(figures[f"r_{side}"], abs=2e-5)
            both.append(drawn(curves, ("mean",), metric))
        grid = np.unique(np.concatenate([one.sizes for one in both]))
        both = [replace(one, sizes=grid, values=np.interp(grid, one.sizes, one.values[0])[None]) for one in both]
        assert bb.silhouettes.silhouette_accuracy(*both) == pytest.approx(figures["acc_paper_formula"], abs=2e-5)
        published = bb.silhouettes.silhouette_accuracy(*both, compat="published")
        assert published == pytest.approx(figures["acc_code_divisor_full_range"], abs=2e-5)
