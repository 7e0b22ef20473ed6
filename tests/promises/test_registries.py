"""What is written is registered: no metric, method, engine, picture, model or word list is forgotten in silence."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias import debiasing, metrics, models

ROOT = Path(__file__).parents[2]


def modules(package):
    """The modules of a subpackage."""
    held = importlib.import_module(f"bayesbias.{package}")
    return [importlib.import_module(f"bayesbias.{package}.{one.name}") for one in pkgutil.iter_modules(held.__path__)]


def own(module, kind):
    """Functions that a module defines, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if kind(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def test_every_metric_is_registered():
    held = [one for module in modules("metrics") for one in vars(module).values()]
    written = {one.name for one in held if isinstance(one, metrics.definition.Metric)}
    functions = {
        value
        for module in modules("metrics")
        for value in own(module, inspect.isfunction).values()
        if list(inspect.signature(value).parameters)[:2] == ["targets", "attributes"]
        and value.__annotations__["return"] == "Measured"
    }
    assert functions == {metric.measure for metric in metrics.catalogue.METRICS.values()}
    assert written <= set(bb.list_metrics()["name"])


def test_every_debiasing_method_is_registered():

    written = {
        value
        for module in modules("vectors.debiasing")
        for value in own(module, inspect.isfunction).values()
        if value.__annotations__.get("return") == "Changed"
    }
    assert written == {method.run for method in debiasing.registry.METHODS.values()}
    for name, method in debiasing.registry.METHODS.items():
        assert method.source, name
        assert next(iter(inspect.signature(method.run).parameters)) == "vocabulary"


def test_every_engine_is_registered():

    written = {
        module.__name__.rsplit(".", 1)[1] for module in modules("models") if {"obstacle", "sample"} <= set(vars(module))
    }
    assert written == {engine.name for engine in models.fits.ENGINES}


def test_every_picture_is_public():
    written = {
        name for module in modules("plots") for name in own(module, inspect.isfunction) if name.startswith("plot_")
    }
    assert written | {"forest", "matrix", "strip"} == set(bb.plots.__all__)


def test_every_prior_of_a_scale_is_known_to_model_files():

    written = {value for value in own(models.spec, inspect.isclass).values() if issubclass(value, models.spec._Scale)}
    assert written == set(models.spec.ScalePrior.__args__)


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.toml")), ids=lambda path: path.stem)
def test_every_model_has_its_files_name_and_an_engine(path):
    listed = bb.list_models().set_index("name")
    assert path.stem in listed.index
    assert listed.loc[path.stem, "engines"]
    spec = bb.load_model(path)
    assert spec.name == path.stem
    assert spec.description
    assert spec.source
    assert bb.load_model(spec) is spec


@pytest.mark.parametrize("path", sorted((ROOT / "data" / "words").glob("*.toml")), ids=lambda path: path.stem)
def test_every_word_list_has_its_files_name_and_a_source(path):
    row = bb.list_words().set_index("name").loc[path.stem]
    listed = bb.load_words(path.stem) if row["kind"] == "words" else bb.load_list(path.stem)
    assert listed.name == path.stem
    assert row["description"]
    assert row["source"]


@pytest.mark.parametrize("path", sorted((ROOT / "data" / "queries").glob("*.toml")), ids=lambda path: path.stem)
def test_every_query_has_its_files_name(path):
    assert bb.load_query(path.stem).name == path.stem
    assert path.stem in bb.list_queries()["name"].tolist()
