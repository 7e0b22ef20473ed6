"""A wrong argument would end in a stray error of another library, or in an answer that silently ignores it."""

import copy
import dataclasses
import inspect
import re
import warnings
from collections.abc import Mapping
from functools import cache, partial
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from gensim.models import KeyedVectors

import bayesbias as bb
from bayesbias.results import Result

MODULES = (
    *("checks", "calibration", "metrics", "debiasing", "silhouettes", "reliability", "contextual", "stability"),
    "datasets",
)
TRUTH = {"connection_mean": 0.9, "connection_sd": 0.05, "sigma": 0.1, "attribute_sd": 0.05, "interaction_sd": 0.0}
UNFIT = {
    "bytes": b"x",
    "an object": object(),
    "a complex number": 1j,
    "a tree": xr.DataTree(),
    "an empty table": pd.DataFrame(),
    "a list of lists": [[["x"]]],
}
"""Values that no argument takes."""
WRONG = UNFIT | {
    "None": None,
    "True": True,
    "a negative number": -1,
    "an enormous number": 10**30,
    "an enormous fraction": 1e30,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "an empty text": "",
    "a name": "nonsense",
    "a long name": "x" * 300,
    "a lone surrogate": "\ud800",
    "an empty list": [],
    "an empty mapping": {},
    "a mapping of None": {"a": None},
    "an array": np.arange(3.0),
}
"""Values that few arguments take: what is taken changes the answer."""
USUAL = (*UNFIT, "an enormous number", "NaN", "an empty text", "a name", "an empty list")
"""What is tried without ``--full``."""
UNTRIED = {"hf_token_encoder", "datasets.dataset_path", "datasets.load_dataset"}
"""An encoder that needs an extra, and files that would be fetched: test_sentences and test_datasets try them."""
CALLS = {
    "axis": lambda made: {"kv": made.slice, "pairs": made.gender_pairs, "words": ["nurse", "captain"]},
    "Query": lambda made: {"targets": made.query.targets, "attributes": made.query.attributes},
    "Query.from_words": lambda made: {"words": "weat6"},
    "WordLists": lambda made: {"name": "n", "protected": {"a": ["p"]}, "stereotypes": {"a": ["k"]}},
    "association": lambda made: {"post": made.related},
    "audit": lambda made: {"kv": made.slice, "groups": {"a": ["he", "man"], "b": ["she", "woman"]}},
    "adjust": lambda made: {"frequencies": made.lengths},
    "balance": lambda made: {"data": made.table, "frequencies": made.lengths},
    "check_predictions": lambda made: {"seed": 1},
    "cite": lambda made: {"result": made.table},
    "compare": lambda made: {"before": made.table, "after": made.after, "draws": 200, "seed": 1},
    "instances": lambda made: {
        "corpus": made.speeches[:20], "targets": "people", "kv": "glove-50d-slice", "transform": np.eye(50)
    },
    "vector_sample": lambda made: {
        "table": pd.DataFrame({"word": ["p"] * 4, "vector": list(np.eye(50)[:4])}), "kv": "glove-50d-slice"
    },
    "covariates": lambda made: {"formula": "party"},
    "contexts": lambda made: {"corpus": ["a p b", "b q a"], "words": ["p", "q"]},
    "contexts_from": lambda made: {
        "table": pd.DataFrame({"word": [*"ppqq"], "template": [*"abab"], "x": [1.0, 2, 3, 4], "y": [4.0, 1, 2, 5]}),
        "words": ["p", "q"],
    },
    "criterion": lambda made: {"values": made.outside, "contrast": ("human", "neutral"), "draws": 200},
    "debias": lambda made: {"method": "project", "definitional": made.pairs},
    "distance_table": lambda made: {"words": made.lists, "relatedness": False},
    "distance_tables": lambda made: {"embeddings": {"one": made.kv}, "words": made.lists},
    "checks.share_sample": lambda made: {"tables": {"one": made.related_table}, "embeddings": {"one": made.kv}},
    "encode": lambda made: {"encoder": made.encoder, "words": ["p", "q"], "templates": ["the {}"], "vocabulary": 0},
    "fit": lambda made: {"model": "crossed", "draws": 200, "seed": 1},
    "from_draws": lambda made: {"draws": made.published["posterior"].to_dataset()[["word_mean", "connection_mean"]]},
    "list_words": lambda made: {"language": "de"},
    "methods_text": lambda made: {"result": made.post},
    "load_embedding": lambda made: {"embedding": str(made.file("e.npz", partial(bb.save_embedding, made.kv)))},
    "load_fit": lambda made: {"path": made.file("fit.nc", partial(bb.save_fit, made.post))},
    "load_list": lambda made: {"name_or_path": "occ16"},
    "load_model": lambda made: {"name_or_path": "crossed"},
    "load_query": lambda made: {"name_or_path": "weat6"},
    "load_words": lambda made: {"name_or_path": "gender"},
    "debiasing.register": lambda made: {"method": bb.debiasing.METHODS["hard"]},
    "metrics.register": lambda made: {"metric": bb.metrics.catalogue.METRICS["weat"]},
    "metric": lambda made: {"name": "weat"},
    "pool": lambda made: {"tables": {"one": made.table, "two": made.after}, "draws": 200},
    "rank": lambda made: {"kvs": made.pair, "queries": made.query, "metrics": "weat", "draws": 5},
    "pymc_model": lambda made: {"model": "published"},
    "read_distance_table": lambda made: {"path": made.file("t.parquet", partial(bb.write_distance_table, made.table))},
    "relatedness": lambda made: {"words": made.lists, "sample": 420},
    "report": lambda made: {"results": made.metric_result, "path": made.folder / "r.html"},
    "run_metrics": lambda made: {"kvs": made.kv, "queries": made.query, "metrics": ["weat"]},
    "save_embedding": lambda made: {"path": made.folder / "o.npz"},
    "save_fit": lambda made: {"path": made.folder / "o.nc"},
    "side_effects": lambda made: {
        "before": made.kv, "after": made.other, "words": made.lists, "k": 5, "biased": 20, "draws": 50
    },
    "side_effects of a comparison": lambda made: {
        "before": made.kv, "after": made.other, "words": made.comparison, "k": 5, "biased": 20, "draws": 50
    },
    "sweep": lambda made: {
        "function": bb.load_list, "settings": [{"name_or_path": "occ16"}], "folder": made.folder / "sweep"
    },
    "to_latex": lambda made: {"result": made.table, "path": made.folder / "o.tex"},
    "topic_null": lambda made: {"words_or_query": made.lists, "replicates": 5},
    "write_distance_table": lambda made: {"path": made.folder / "o.csv"},
    "checks.add_predictive": lambda made: {"seed": 1, "draws": 8},
    "checks.add_prior": lambda made: {"post": made.published, "draws": 8, "seed": 1},
    "checks.adjustment": lambda made: {"post": made.adjusted},
    "checks.check_relatedness": lambda made: {"data": made.related_table},
    "check_words": lambda made: {"words": made.lists, "frequencies": made.lengths},
    "checks.cluster_interval": lambda made: {"data": made.table},
    "calibration.null_distribution": lambda made: {
        "kv": None, "words": made.table, "statistic": "associated - neutral", "draws": 5
    },
    "calibration.simulate_null_weat": lambda made: {"draws": 20},
    "silhouettes.silhouette": lambda made: {"metric": "weat_effect_size", "runs": 2},
    "silhouettes.silhouette_accuracy": lambda made: {"biased": made.silhouette, "unbiased": made.silhouette_of_other},
    "silhouettes.silhouette_separation": lambda made: {"biased": made.silhouette, "unbiased": made.silhouette_of_other},
    "silhouettes.silhouette_study": lambda made: {
        "kvs": made.pair, "queries": {"q": made.query}, "metrics": ["ect"], "runs": 2
    },
    "silhouettes.silhouette_uncertainty": lambda made: {
        "biased": made.silhouette, "unbiased": made.silhouette_of_other, "resamples": 10
    },
    "reliability.bias_scores": lambda made: {
        "kvs": [made.kv, made.other], "targets": ["p", "q"], "pairs": made.pairs, "measures": ["ripa"]
    },
    "reliability.internal_consistency": lambda made: {"of": "base_pair"},
    "reliability.reliability_regression": lambda made: {
        "table": made.features, "features": ["measure", "frequency"], "groups": ["corpus"], "draws": 200, "seed": 1
    },
    "reliability.variance_components": lambda made: {"draws": 200, "seed": 1},
    "reliability.word_features": lambda made: {"kvs": [made.kv, made.other], "words": ["p", "q"]},
    "contextual.Template": lambda made: {"name": "n", "texts": {"any": "a {}"}},
    "contextual.Templates": lambda made: {"name": "n", "templates": (bb.contextual.Template("n", {"any": "a {}"}),)},
    "contextual.load_context_vectors": lambda made: {"path": made.file("vectors.npz", made.context_vectors.save)},
    "contextual.load_templates": lambda made: {"given": "seat"},
    "stability.direct_bias_study": lambda made: {
        "kvs": made.settings, "words": ["p", "q", "t"], "pairs": made.pairs, "draws": 10, "random_pairs": 10
    },
    "stability.metric_stability": lambda made: {
        "kvs": made.settings, "metrics": ["weat"], "contrast": False, "draws": 200,
        "random_pairs": 20
    },
    "stability.setting_components": lambda made: {"table": made.direct_bias_study.table(), "draws": 200, "seed": 1},
}  # fmt: skip
"""Public functions to arguments with which they run, fast, where ``made`` has none by the names of arguments."""
METHODS = {
    "Axis.variances": lambda made: {"population": "oppositions"},
    "Axis.with_words": lambda made: {"words": ["nurse"]},
    "Comparison.debiasing": lambda made: {"name": "before"},
    "Comparison.pair": lambda made: {"number": 0},
    "Comparison.without_units": lambda made: {"change": 0},
    "Comparison.sides": lambda made: {"first": "associated"},
    "ContextVectors.of_templates": lambda made: {"names": ["{}"]},
    "ContextVectors.save": lambda made: {"path": made.folder / "v.npz"},
    "CovariateContrast.along": lambda made: {"name": "year"},
    "Criterion.draws": lambda made: {"name": "slope"},
    "Axis.contrast": lambda made: {"words_a": ["nurse"], "words_b": ["guard"]},
    "Pool.draws": lambda made: {"name": "theta"},
    "Pool.probability": lambda made: {"first": "a", "second": "b"},
    "Query.subqueries": lambda made: {"targets": 2, "attributes": 2},
    "Relatedness.covariance": lambda made: {"weights": np.eye(8, 24)},
    "Relatedness.families": lambda made: {"words": ["p", "q"]},
    "TopicNull.lists": lambda made: {"replicate": 0},
    "TopicNull.of": lambda made: {"statistic": "associated - human"},
}
"""Methods to the arguments that they need."""
STEPS = {
    *("distances", "expanded", "factors_of", "of_words", "overlaps", "own_correlations", "units_of"),
    *("sampled_families", "similarity_of_distances", "stereotype_nearness", "with_sample"),
}
"""Methods of Relatedness that are steps of a computation, and take what the steps before made."""
FULL = {"reliability.reliability_regression"}
"""What is tried under --full only, since it takes long."""


def public_functions():
    """Every public function by its name below ``bb``, and every class of ``CALLS``, once."""
    held = {}
    for module in ("", *MODULES):
        holder = getattr(bb, module) if module else bb
        for name in holder.__all__:
            value, place = getattr(holder, name), f"{module}.{name}".strip(".")
            if (inspect.isfunction(value) or place in CALLS) and value not in held.values():
                held[place] = value
    return held


def public_methods():
    """Every method with arguments of a result, or of what is given, by class and name.

    Options of ``figure`` and ``to_latex`` are those of pictures and of pandas; test_every_result has wrong ones.
    """
    given = (bb.Query, bb.contextual.ContextVectors)
    return {
        f"{one.__name__}.{name}"
        for one in {*given, *results_below(Result)}
        for name, method in inspect.getmembers(one, inspect.isfunction)
        if not name.startswith("_")
        and name not in ("figure", "to_latex")
        and one.__name__ not in ("Covariates", "Estimates", "VectorSample")  # what later steps are made of
        and len(inspect.signature(method).parameters) > 1
        and not (one.__name__ == "Relatedness" and name in STEPS)
    }


def results_below(one):
    """The classes below one that have none below them."""
    return {each for below in one.__subclasses__() for each in results_below(below)} or {one}


FUNCTIONS, BOUND = public_functions(), sorted(public_methods())
NAMES = [
    *(name for name, one in FUNCTIONS.items() if name not in UNTRIED and inspect.signature(one).parameters),
    *("Query.from_words", *(name for name in CALLS if " of " in name), *BOUND),
]


def valid_call(made, name):
    """What is called and the arguments with which it runs."""
    if name in BOUND:
        of, method = name.split(".")
        holder = getattr(made, re.sub(r"(?<!^)(?=[A-Z])", "_", of).lower())
        return getattr(holder, method), METHODS.get(name, lambda made: {})(made)
    function = bb.Query.from_words if name == "Query.from_words" else FUNCTIONS[name.split(" of ")[0]]
    given = CALLS.get(name, lambda made: {})(made)
    needed = inspect.signature(function).parameters.values()
    needed = {each.name for each in needed if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD}
    return function, given | {argument: getattr(made, argument) for argument in needed - given.keys()}


@pytest.fixture
def call(made, name):
    return valid_call(made, name)


NOTHING = (("None", None), ("bool", True), ("Mapping", {}), ("Iterable", []), ("Sequence", []), ("str | None", ""))
"""Types and what of them says the same as leaving the argument out."""
PATHS = ("path", "out", "folder", "cache", "pictures")


def is_valid(value, parameter, usual):
    """Test that a value is what the argument has anyway, names a file, or says that nothing is given, as is usual."""
    said = str(parameter.annotation)
    if isinstance(value, str) and (parameter.name in ("what", "description", "source") or parameter.default == "own"):
        return True  # names what scores are, where vectors are from, or a model of one's own; stands in attrs only
    if value is usual or (isinstance(value, str) and value == "nonsense" and parameter.name in PATHS):
        return True
    if isinstance(value, Mapping) and not isinstance(value, dict):
        value = dict(value)  # a tree without groups is an empty mapping
    if parameter.name == "controls" and isinstance(value, list) and not value:
        return True  # names of control lists, of which there may be none
    fits = any(kind in said and type(one) is type(value) and one == value for kind, one in NOTHING)
    nothing_is_usual = isinstance(usual, str | tuple | None) and usual in (None, "", ())
    return fits and (value in (None, True) or nothing_is_usual or "factory" in repr(parameter.default))


def fault(called, base, name, label, expected):
    """The fault of how a call with a wrong value of one argument ends, or None."""
    parameter = inspect.signature(called).parameters[name]
    value = WRONG[label]
    if is_valid(value, parameter, base.get(name, parameter.default)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = called(**base | {name: value})
            same = label not in UNFIT and answer(result) == expected()
    except bb.InputError:
        return None
    except (TypeError, ValueError, AttributeError, LookupError):  # Python's, NumPy's and pandas' own
        return None
    except Exception as error:
        return None if isinstance(error, OSError) and name in PATHS else f"raw {type(error).__name__}: {error}"
    if label in UNFIT:
        return "taken"
    return "ignored" if same else None


def answer(result):
    """A value that is equal for equal answers."""
    match result:
        case xr.DataTree():
            nodes = result.subtree_with_keys
            return repr({path: node.to_dataset().drop_attrs().to_dict() for path, node in nodes})
        case pd.DataFrame() | pd.Series():
            return result.to_csv()
        case KeyedVectors():
            return result.index_to_key, result.vectors.tobytes()
        case np.ndarray():
            return result.tobytes()
        case Mapping():
            return [(name, answer(value)) for name, value in result.items()]
        case tuple() | list():
            return [answer(value) for value in result]
    if dataclasses.is_dataclass(result):
        return [answer(getattr(result, field.name)) for field in dataclasses.fields(result)]
    return repr(result)


def test_every_function_is_tried():
    assert len(NAMES) > 150
    assert set(CALLS) <= set(NAMES)
    assert set(METHODS) <= set(BOUND)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in FULL)) for name in NAMES])
def test_wrong_values_are_refused_or_used(call, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    called, base = call

    @cache
    def expected():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer(called(**base))

    full = request.config.getoption("--full")
    if full:  # by default only where a value is taken, to hold the answers together
        expected()
    faults = {
        f"{argument} as {label}": said
        for argument, parameter in inspect.signature(called).parameters.items()
        if parameter.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        for label in (WRONG if full else USUAL)
        if (said := fault(called, base, argument, label, expected)) is not None
    }
    assert not faults, "\n".join(f"{where}: {said}" for where, said in faults.items())


def flags(called):
    """The arguments that are true or false."""
    return [name for name, each in inspect.signature(called).parameters.items() if each.annotation == "bool"]


@pytest.mark.parametrize("name", sorted({*NAMES} - FULL))
def test_flags_are_true_or_false(call):
    called, base = call
    for argument in flags(called):
        for value in ("False", *(value for value in WRONG.values() if not isinstance(value, bool))):
            with pytest.raises(bb.InputError, match=argument):
                called(**(base | {argument: value}))


def with_cell(column, value):
    """A function from a table to the same with another value in the row 3 of a column, which may be a new one."""
    return lambda table: table.assign(
        **{
            column: pd.Series(
                [value if row == 3 else old for row, old in enumerate(table.get(column, table["group"]))], dtype=object
            )
        }
    )


def with_distance(value):
    return lambda table: table.assign(distance=table["distance"].where(np.arange(len(table)) != 3, value))


def changed(**attributes):
    """A function from an embedding to one with other vectors, keys or rows."""

    def change(kv):
        new = copy.deepcopy(kv)
        vars(new).update({name: value(kv) for name, value in attributes.items()})
        return new

    return change


ODD_CELLS = {
    "a list": ([], r"\[\]"),
    "bytes": (b"x", "b'x'"),
    "an object": (object(), "<object"),
    "a complex number": (1j, "1j"),
    "a fraction": (0.5, "0.5"),
    "True": (True, "True"),
    "a blank at the end": ("x ", "'x '"),
    "half a letter": ("\ud800", r"'\\ud800'"),
    "an escape": ("a\x1b[0m", r"'a\\x1b\[0m'"),
    "a mark of direction": ("a\u202eb", r"'a\\u202eb'"),
}
WORDS = ("protected_word", "attribute_word", "connection", "group", "attribute_class")
WRONG_TABLES = {
    **{
        f"{column} is {name}": (with_cell(column, value), f"row 3, column '{column}' holds {said}")
        for i, (name, (value, said)) in enumerate(ODD_CELLS.items())
        for column in (WORDS[0], WORDS[1 + i % 4])
    },
    **{
        f"{column} is empty": (with_cell(column, value), f"row 3, column '{column}' is empty")
        for column, value in zip((*WORDS[:3], WORDS[4]), (None, "", pd.NA, np.nan), strict=True)
    },
    "two groups": (with_cell("group", "b"), "column 'group' holds '.': the protected word of that row is in two"),
    "no connection": (with_cell("connection", "near"), "row 3, column 'connection' holds 'near'"),
    "text as a distance": (with_cell("distance", "0.5"), "row 3, column 'distance' holds '0.5'"),
    "a complex distance": (with_cell("distance", 0.5 + 0j), r"row 3, column 'distance' holds \(0.5\+0j\)"),
    "complex distances": (lambda t: t.assign(distance=t["distance"] + 0j), r"row 0, column 'distance' holds \(\d"),
    "a distance beyond floats": (with_cell("distance", 10**400), "row 3, column 'distance' holds 1000"),
    "a distance of 1e30": (with_distance(1e30), r"row 3, column 'distance' holds 1e\+30"),
    "a distance of -1": (with_distance(-1.0), r"row 3, column 'distance' holds -1.0: give a cosine distance in"),
    "no distance": (with_distance(np.nan), "row 3, column 'distance' is empty"),
    "an infinite distance": (with_distance(np.inf), "row 3, column 'distance' holds inf"),
    "a column twice": (lambda t: pd.concat([t, t[["distance"]]], axis=1), "duplicate column 'distance'"),
    "no column": (lambda t: pd.DataFrame(t).drop(columns="connection"), "the table lacks the column connection"),
    "no row": (lambda t: t[:0], "the table has no row"),
    "a template of none": (lambda t: t.assign(template=None), r"row 0, column 'template' is empty \(\d+ more rows"),
    "a list as a template": (with_cell("template", []), r"row 3, column 'template' holds \[\]"),
}
"""What is wrong with one element of a table, and what is said."""
WRONG_EMBEDDINGS = {
    "no vectors": (changed(vectors=lambda kv: None), "the embedding holds None: give vectors"),
    "a list": (changed(vectors=lambda kv: kv.vectors[:2].tolist()), r"the embedding holds \[\["),
    "objects": (changed(vectors=lambda kv: kv.vectors.astype(object)), "the embedding holds object of shape"),
    "text": (changed(vectors=lambda kv: kv.vectors.astype(str)), "the embedding holds <U"),
    "complex numbers": (changed(vectors=lambda kv: kv.vectors + 1j), "the embedding holds complex64 of shape"),
    "truth values": (changed(vectors=lambda kv: kv.vectors > 0), "the embedding holds bool of shape"),
    "numbers": (changed(vectors=lambda kv: kv.vectors[:, 0]), "the embedding holds float32 of shape"),
    "fewer vectors": (changed(vectors=lambda kv: kv.vectors[:3]), "3 vectors, .* words in index_to_key"),
    "more vectors": (changed(vectors=lambda kv: np.tile(kv.vectors, (2, 1))), "vectors, .* words in index_to_key"),
    "fewer keys": (changed(index_to_key=lambda kv: kv.index_to_key[:5]), " 5 words in index_to_key"),
    "fewer rows": (changed(key_to_index=lambda kv: {"x": 0}), " 1 in key_to_index"),
    "other sizes": (changed(vector_size=lambda kv: 7), "vector_size of the embedding is 7"),
    "a number as a word": (
        changed(index_to_key=lambda kv: [*kv.index_to_key[:-1], 7]), r"the word of vector \d+ of the embedding is 7"
    ),
    "rows of other words": (
        changed(key_to_index=lambda kv: {word: len(kv) - 1 - row for word, row in kv.key_to_index.items()}),
        r"the embedding has '.*' at row \d+, which",
    ),
}  # fmt: skip
"""What is wrong with one part of an embedding, and what is said."""
NAMES_OF_NOTHING = (None, object(), float("nan"), pd.NA, b"x", ("a", "b"), True, "", " x", "\ud800", "a\x1b", "a\nb")
NUMBERS_OF_NOTHING = (None, [], "3", True, 1j, object(), b"1", float("nan"), float("inf"), 10**400, pd.NA, np.arange(2))
UNREAD = {
    *("cite", "coverage", "to_latex", "plots.strip"),
}
"""Functions of tables that look at some columns only, or at none, and of a truth, whose numbers may be any."""


def wrong_ones(value):
    """Calls that make a value wrong in one element, each with what must be said of it."""
    if isinstance(value, pd.DataFrame) and {*WORDS[:2], "distance"} <= {*value.columns}:
        yield from WRONG_TABLES.items()
    elif isinstance(value, KeyedVectors):
        yield from WRONG_EMBEDDINGS.items()
    elif isinstance(value, dict | list) and value:
        items = value if isinstance(value, dict) else dict(enumerate(value))
        last = list(items)[-1]
        for name, (change, said) in wrong_ones(items[last]):
            yield name, (lambda of, change=change: put(of, last, change(items[last])), said)
        if isinstance(value, dict) and isinstance(items[last], pd.DataFrame | KeyedVectors) and isinstance(last, str):
            for odd in NAMES_OF_NOTHING:
                yield f"the name {odd!r}", (lambda of, odd=odd: {odd: items[last], **of}, "a name in .* is ")
        if all(isinstance(number, float) for number in items.values()):
            for odd in NUMBERS_OF_NOTHING:
                yield f"the number {odd!r}", (lambda of, odd=odd: {**of, last: odd}, f"{last!r} is .*: give ")
            yield "the word None", (lambda of: {**of, None: 1.0}, "of None is 1.0: give each word")


def put(holder, key, value):
    return {**holder, key: value} if isinstance(holder, dict) else [*holder[:key], value]


ELEMENTS = [name for name in NAMES if name not in UNREAD | FULL]


@pytest.mark.parametrize("name", ELEMENTS)
def test_one_wrong_element_is_refused_by_its_row_or_key(call, name, request):
    called, base = call
    faults = []
    for argument, value in base.items():
        tried = list(wrong_ones(value))
        for what, (change, said) in (
            tried if request.config.getoption("--full") else tried[crc32(f"{name} {argument}".encode()) % 3 :: 3]
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bb.errors.BayesbiasWarning)
                try:
                    called(**base | {argument: change(value)})
                    faults.append(f"{argument}, {what}: taken")
                except bb.InputError as error:
                    if not re.search(said, str(error)):
                        faults.append(f"{argument}, {what}: {error}")
    assert not faults, "\n".join(faults)


def test_seeds_are_0_by_default():
    """Functions that follow the seed of a fit have None, and say so."""
    public = [getattr(bb, name) for name in dir(bb) if callable(getattr(bb, name)) and not name.startswith("_")]
    seeds = {
        each.__name__: inspect.signature(each).parameters.get("seed") for each in public if inspect.isfunction(each)
    }
    assert {name: seed.default for name, seed in seeds.items() if seed is not None and seed.default != 0} == {
        "check_predictions": None
    }
    assert "None takes one that follows from the seed of the fit" in " ".join(bb.check_predictions.__doc__.split())
