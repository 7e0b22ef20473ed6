"""Every public function with wrong values of every argument: refused with the argument's name, or understood."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb

MODULES = (
    *(
        "checks",
        "calibration",
        "metrics",
        "debiasing",
        "silhouettes",
        "reliability",
        "sentences",
        "stability",
        "plots",
        "datasets",
    ),
)
LISTS = bb.WordLists(
    "mine",
    {"a": ["p", "q", "r", "u"], "b": ["s", "t", "v", "w"]},
    {"a": ["k", "l", "c"], "b": ["m", "n", "d"]},
    {"human": ["h", "i", "j", "x"], "neutral": [f"n{number}" for number in range(14)]},
)
QUERY = bb.Query({"x": ["p", "q", "r"], "y": ["s", "t", "v"]}, {"a": ["k", "l", "c"], "b": ["m", "n", "d"]})
PAIRS = [("k", "m"), ("l", "n")]
SHAPE = {"groups": {"g": 3, "h": 3}, "stereotypes": {"g": 3, "h": 3}, "human": 6}
TRUTH = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0.0}
PLANTED = TRUTH | {"connection_mean": {"associated": 0.8, "different": 0.9, "human": 0.9}}
WRONG = {
    "None": None,
    "a negative number": -1,
    "an enormous number": 10**30,
    "NaN": float("nan"),
    "a name": "nonsense",
    "a long name": "x" * 300,
    "a lone surrogate": "\ud800",
    "an empty list": [],
    "a list of lists": [[["x"]]],
    "an empty mapping": {},
    "a mapping of None": {"a": None},
    "an array": np.arange(3.0),
    "an empty table": pd.DataFrame(),
    "a tree": xr.DataTree(),
    "an object": object(),
    "a complex number": 1j,
}
SWEEP = {"embeddings": ["google-news-slice"], "words": ["weat7"], "models": ["related"], "draws": 400}
UNTRIED = {
    "report": "slow: it draws every picture, and its own tests try its arguments",
    "checks.prior_sensitivity": "slow: every call that is understood fits a dozen models",
    "checks.influence": "slow: as above",
    "hf_token_encoder": "needs an extra; test_sentences has its wrong values",
    "side_effects": "slow: as above; test_side_effects has its wrong values",
    "stability.train_embeddings": "slow: it trains; test_trainer has its wrong values",
    "stability.metric_stability": "slow: as above; test_stability has its wrong values",
    "stability.setting_components": "slow: as above",
    "reliability.variance_components": "slow: as above",
    "reliability.reliability_regression": "slow: as above",
    "checks.compare_models": "slow: as above",
    "plots": "each picture's own tests",
    "datasets": "what is understood would be fetched; test_datasets has its wrong values",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory, random_embedding, text_encoder):
    """Name of a public function to arguments with which it runs, fast."""
    folder = tmp_path_factory.mktemp("arguments")
    kv, other = (random_embedding(LISTS, seed) for seed in (1, 2))
    table, after = (bb.distance_table(one, LISTS, relatedness=False) for one in (kv, other))
    related = bb.distance_table(kv, LISTS)
    post = bb.fit(table, "crossed", draws=200, seed=1)
    length = {"length": {word: float(number) for number, word in enumerate(LISTS.every_word())}}
    bb.save_fit(post, folder / "fit.nc")
    bb.write_distance_table(table, folder / "t.csv")
    bb.save_embedding(kv, folder / "e.npz")
    scores = bb.reliability.bias_scores([kv, other], ["p", "q", "r", "s"], [*PAIRS, ("c", "d")], ["db_wa", "ripa"])
    studied = [bb.silhouettes.silhouette(one, QUERY, "weat_effect_size", runs=12) for one in (kv, other)]
    settings = {bb.stability.Setting(name, "sgns", 12, 0): random_embedding(LISTS, at) for at, name in enumerate("abc")}
    pair = {"one": kv, "two": other}
    vectors = bb.encode(text_encoder, LISTS, ["{}", "a {}", "the {}"], vocabulary=450)
    framed = bb.distance_table(vectors, LISTS, relatedness=False)
    vectors.save(folder / "vectors.npz")
    return {
        "audit": {"kv": bb.load_embedding("google-news-slice"), "groups": {"a": ["he", "man"], "b": ["she", "woman"]}},
        "contexts": {"corpus": ["a p b", "b q a"], "words": ["p", "q"]},
        "encode": {"encoder": text_encoder, "words": ["p", "q"], "templates": ["the {}"], "vocabulary": 0},
        "frame_effects": {"post": bb.fit(framed, "crossed", draws=200, seed=1)},
        "checks.origin_sensitivity": {"vectors": vectors, "words": LISTS, "origins": [("none", 0)], "seed": 1},
        "sentences.load_templates": {"given": "seat"},
        "sentences.load_context_vectors": {"path": folder / "vectors.npz"},
        "pool": {"tables": {"one": table, "two": after}},
        "trend": {"tables": {"1": table, "2": after, "3": table}},
        "criterion": {"post": post, "values": {word: float(at) for at, word in enumerate("pqrustvw")}},
        "resample_corpus": {"corpus": ["one two", "three four", "five six"], "n": 2},
        "balance": {"data": table, "frequencies": {word: 1.0 + at for at, word in enumerate(LISTS.every_word())}},
        "check_predictions": {"post": post, "seed": 1},
        "compare": {"before": table, "after": after, "draws": 200, "seed": 1},
        "contrasts": {"post": post},
        "coverage": {"table": table},
        "debias": {"kv": kv, "method": "project", "definitional": PAIRS},
        "decomposition": {"post": post},
        "association": {"post": post},
        "checks.mean_distances": {"post": post},
        "checks.functionals": {"post": post, "weights": 0.0 * bb.checks.mean_distances(post)},
        "diagnose": {"post": post},
        "distance_table": {"kv": kv, "words": LISTS, "relatedness": False},
        "fit": {"table": table, "model": "crossed", "draws": 200, "seed": 1},
        "list_words": {"language": "de"},
        "load_embedding": {"source": str(folder / "e.npz")},
        "load_fit": {"path": folder / "fit.nc"},
        "load_list": {"name_or_path": "occ16"},
        "load_model": {"name_or_path": "crossed"},
        "load_query": {"name_or_path": "weat6"},
        "load_words": {"name_or_path": "gender"},
        "metric": {"name": "weat", "kv": kv, "query": QUERY},
        "plan": {"words_or_table": table, "seed": 1},
        "plot_change": {"result": bb.compare(before=table, after=after, draws=200, seed=1)},
        "plot_coefficients": {"post": post},
        "plot_contrasts": {"post": post},
        "plot_decomposition": {"post": post},
        "plot_distances": {"table": table},
        "rank": {"kvs": pair, "queries": QUERY, "metrics": "weat", "draws": 5},
        "read_distance_table": {"path": folder / "t.csv"},
        "relatedness": {"kv": kv, "words": LISTS, "sample": 420},
        "run_metrics": {"kvs": kv, "queries": QUERY, "metrics": ["weat"]},
        "save_embedding": {"kv": kv, "path": folder / "o.npz"},
        "save_fit": {"post": post, "path": folder / "o.nc"},
        "summary": {"post": post},
        "sweep": {"plan": SWEEP, "out": folder / "sweep", "executor": "serial", "workers": 1, "retry": False},
        "topic_null": {"kv": kv, "words_or_query": LISTS, "replicates": 5},
        "write_distance_table": {"table": table, "path": folder / "o.csv"},
        "cite": {"result": table},
        "to_latex": {"result": table, "path": folder / "o.tex"},
        "checks.check_words": {"words": LISTS, "kv": kv, "frequencies": dict.fromkeys(LISTS.every_word(), 1.0)},
        "checks.add_log_likelihood": {"post": post},
        "checks.add_predictive": {"post": post, "seed": 1, "draws": 8},
        "checks.adjustment": {"post": bb.fit(table, "crossed", draws=200, seed=1, adjust=length)},
        "checks.bootstrap_metric": {"name": "weat", "kv": kv, "query": QUERY, "draws": 10, "posterior": False},
        "checks.check_relatedness": {"data": related},
        "checks.cluster_interval": {"data": table},
        "checks.similarity_shift": {"result": bb.compare(before=table, after=after, draws=200, seed=1)},
        "checks.variance_shares": {"post": post},
        "checks.verdict_sentences": {"post": post},
        "calibration.coverage_study": {"shape": SHAPE, "truth": PLANTED, "models": ["published"], "replicates": 2},
        "calibration.false_positive_rate": {"shape": SHAPE, "truth": TRUTH, "models": ["published"], "replicates": 2},
        "calibration.null_distribution": {"kv": None, "words": table, "statistic": "associated - neutral", "draws": 5},
        "calibration.null_false_positive_rate": {"table": table, "models": ["published"], "replicates": 2},
        "calibration.sbc": {"model": "published", "shape": SHAPE, "replicates": 3, "draws": 19},
        "calibration.simulate": {"table_or_shape": SHAPE, "truth": TRUTH, "seed": 1},
        "calibration.simulate_null_weat": {"draws": 20},
        "silhouettes.silhouette": {"kv": kv, "query": QUERY, "metric": "weat_effect_size", "runs": 2},
        "silhouettes.silhouette_accuracy": {"biased": studied[0], "unbiased": studied[1]},
        "silhouettes.silhouette_separation": {"biased": studied[0], "unbiased": studied[1]},
        "silhouettes.silhouette_study": {"kvs": pair, "queries": {"q": QUERY}, "metrics": ["ect"], "runs": 2},
        "silhouettes.silhouette_uncertainty": {"biased": studied[0], "unbiased": studied[1], "resamples": 10},
        "reliability.bias_scores": {"kvs": [kv, other], "targets": ["p", "q"], "pairs": PAIRS, "measures": ["ripa"]},
        "reliability.inter_rater_consistency": {"scores": scores},
        "reliability.internal_consistency": {"scores": scores, "of": "base_pair"},
        "reliability.retest_reliability": {"scores": scores},
        "reliability.word_features": {"kvs": [kv, other], "words": ["p", "q"]},
        "stability.direct_bias_study": {
            "kvs": settings, "words": ["p", "q", "r"], "pairs": PAIRS, "draws": 10, "random_pairs": 10
        },
        "stability.toy_corpus": {"sentences": 50},
    }  # fmt: skip


def public_functions():
    """Every public function by its name below ``bb``, once."""
    found = {name: getattr(bb, name) for name in bb.__all__ if inspect.isfunction(getattr(bb, name))}
    for module in MODULES:
        held = getattr(bb, module)
        found |= {
            f"{module}.{name}": getattr(held, name)
            for name in held.__all__
            if inspect.isfunction(getattr(held, name)) and getattr(held, name) not in found.values()
        }
    return found


FUNCTIONS = public_functions()


def tried():
    without = {name for name in FUNCTIONS if name in UNTRIED or name.split(".")[0] in UNTRIED}
    return sorted(name for name in FUNCTIONS.keys() - without if inspect.signature(FUNCTIONS[name]).parameters)


def refusal(function, arguments, name):
    """What is wrong with how a call was refused, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except bb.InputError:
        return None
    except (TypeError, ValueError) as error:
        return None if name in str(error) else f"{type(error).__name__}: {error}"
    except OSError as error:
        return None if name in ("path", "source", "folder") else f"{type(error).__name__}: {error}"
    except Exception as error:  # the point of the test: no other error reaches a user
        return f"{type(error).__name__}: {error}"
    return None


def test_every_function_is_tried(calls):
    assert set(tried()) == set(calls)


@pytest.mark.parametrize("function", tried())
def test_wrong_values_are_refused_by_name(calls, function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called, base = FUNCTIONS[function], calls[function]
    called(**base)
    unclean = []
    for name, parameter in inspect.signature(called).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for label, value in WRONG.items():
            if (fault := refusal(called, base | {name: value}, name)) is not None:
                unclean.append(f"{name} as {label}: {fault}")
    assert not unclean, "\n".join(unclean)


@pytest.mark.parametrize("function", tried())
def test_flags_are_true_or_false(calls, function):
    called, base = FUNCTIONS[function], calls[function]
    for name, parameter in inspect.signature(called).parameters.items():
        if parameter.annotation == "bool":
            for value in ("False", 0, None, []):
                with pytest.raises(bb.InputError, match=name):
                    called(**(base | {name: value}))
