"""A metric, method, engine, picture, model or list that is written would be forgotten, and nothing would say so."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias import debiasing, metrics, models

ROOT = Path(__file__).parents[2]
PACKAGE = Path(bb.__file__).parent


def modules(package):
    """The modules of a subpackage."""
    held = importlib.import_module(f"bayesbias.{package}")
    return [importlib.import_module(f"bayesbias.{package}.{one.name}") for one in pkgutil.iter_modules(held.__path__)]


def own(package, kind):
    """Functions or classes that the modules of a subpackage define."""
    return {
        value
        for module in modules(package)
        for name, value in vars(module).items()
        if kind(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def returning(package, annotation):
    """Functions of a subpackage that return so."""
    return {one for one in own(package, inspect.isfunction) if one.__annotations__.get("return") == annotation}


REGISTERS = {
    "metrics": (
        lambda: {
            one
            for one in returning("metrics", "Measured")
            if list(inspect.signature(one).parameters)[:2] == ["targets", "attributes"]
        },
        lambda: {metrics.catalogue.METRICS[name].measure for name in bb.bundled("metrics")["name"]},
    ),
    "debiasing methods": (
        lambda: returning("vectors.debiasing", "Changed"),
        lambda: {method.run for method in debiasing.METHODS.values()},
    ),
    "pictures": (
        lambda: {one.__name__ for one in own("plots", inspect.isfunction) if one.__name__.startswith("plot_")},
        lambda: set(bb.plots.__all__) - {"curve", "forest", "matrix", "strip"},
    ),
    "priors of scales": (
        lambda: {one for one in own("models", inspect.isclass) if hasattr(one, "from_normal")},
        lambda: set(models.spec.ScalePrior.__args__),
    ),
}  # fmt: skip
"""What is written in the package, and what is registered."""


@pytest.mark.parametrize("name", REGISTERS)
def test_all_that_is_written_is_registered(name):
    written, registered = (each() for each in REGISTERS[name])
    assert written == registered
    assert len(written) > 2


def test_every_debiasing_method_has_a_source():
    for name, method in debiasing.METHODS.items():
        assert method.source, name
        assert next(iter(inspect.signature(method.run).parameters)) == "vocabulary"


def files(*folder):
    """The files of a folder that describe something."""
    return sorted(ROOT.joinpath(*folder).glob("*.toml"))


def test_every_model_has_its_files_name_and_an_engine():
    engines = bb.bundled("models").set_index("name")["engines"]
    for path in files("models"):
        assert engines[path.stem]
        spec = bb.load_model(path)
        assert (spec.name, bool(spec.description), bool(spec.source)) == (path.stem, True, True)


def test_every_word_list_has_its_files_name_and_a_source():
    rows = bb.bundled("words").set_index("name")
    for path in files("data", "words"):
        row = rows.loc[path.stem]
        listed = bb.load_words(path.stem) if row["form"] == "words" else bb.load_list(path.stem)
        assert (listed.name, bool(row["description"]), bool(row["source"])) == (path.stem, True, True)


def test_every_query_has_its_files_name():
    known = bb.bundled("queries")["name"].tolist()
    for path in files("data", "queries"):
        assert bb.load_query(path.stem).name == path.stem
        assert path.stem in known
