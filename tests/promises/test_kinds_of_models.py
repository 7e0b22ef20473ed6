"""Outside bayesbias/models nothing asks which kind a model is, or names an engine: families and engines say it."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import bayesbias
from bayesbias import models
from bayesbias.cli import app

PACKAGE = Path(bayesbias.__file__).parent
KINDS = {"related", "crossed"}  # what a specification knows of itself
TREATED = {family.attribute_words for family in models.families.FAMILIES[:2]} - KINDS
ENGINES = {engine.name for engine in models.fits.ENGINES} | {"quadrature"}
ALLOWED = {
    # components of scores are another kind of model, whose two engines have their names in one place
    "checks/variance_components.py": Counter({"marginal": 1, "nuts": 1, "engine='...'": 2}),
    # doctor loads no model; that its engines are those of the models is tested below
    "cli/app.py": Counter({"exact": 1, "marginal": 1, "nuts": 1}),
}
"""File to what it may name, and how often."""


def named(source):
    """The kinds of models that code asks for as attributes, and the engines that it names as texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in KINDS:
            yield f".{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in ENGINES | TREATED:
                yield node.value
            elif "engine='" in node.value and "\n" not in node.value:
                yield "engine='...'"


def outside():
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "models" not in path.relative_to(PACKAGE).parts[:-1]]


def test_no_kind_of_model_and_no_engine_is_named_outside_models():
    sites = {path.relative_to(PACKAGE).as_posix(): Counter(named(path.read_text())) for path in outside()}
    assert len(sites) > 100
    assert {file: each for file, each in sites.items() if each} == ALLOWED


@pytest.mark.parametrize(
    "line",
    [
        "if spec.related: pass",
        "wide = fit.spec.crossed",
        "slow = engine == 'nuts'",
        "own = attrs['attribute_words'] == 'modelled'",
    ],
)
def test_what_is_looked_for_is_found(line):
    assert len(list(named(line))) == 1


def test_doctor_speaks_of_engines_of_models():
    assert set(app.engines()) <= ENGINES
