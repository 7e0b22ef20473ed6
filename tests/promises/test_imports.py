"""Rooms would lean on each other in circles, and the package would load slowly or hide a public function."""

import ast
import pkgutil
import re
import sys
import tomllib
from pathlib import Path

import pytest

import bayesbias as bb

PACKAGE = Path(bb.__file__).parent
LAYERS = (
    ("errors",),
    ("numerics",),
    ("_support",),
    ("results",),
    ("posteriors", "words"),
    ("vectors",),
    ("distances",),
    ("models", "metrics"),
    ("checks",),
    ("contrast", "axes"),
    ("comparison", "baselines", "documents"),
    ("second_stage",),
    ("plots",),
    ("reporting",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = {"pymc", "pytensor", "nutpie", "matplotlib", "gensim", "pandas", "xarray", "arviz", "numpy", "pydantic"}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(nodes: list[ast.AST]) -> set[str]:
    """The modules that code imports, and the names that it takes from them as if they were modules."""
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_imports_run_one_way():
    assert {part_of(path) for path in FILES} <= set(RANK), "a part has no place in the order of imports"
    parts = {
        path: {name.split(".")[1] for name in imported(nodes_of(path)) if name.startswith("bayesbias.")}
        for path in FILES
    }
    assert not [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path, names in parts.items()
        for name in names - {part_of(path)}
        if RANK[name] >= RANK[part_of(path)]
    ]


def test_numerics_imports_numpy_scipy_and_the_statistics_of_arviz_only():
    known = {*sys.stdlib_module_names, "numpy", "scipy", "arviz_stats", "bayesbias"}
    core = {path.name: imported(nodes_of(path)) for path in FILES if part_of(path) == "numerics"}
    assert core
    assert not {file: names for file, names in core.items() if {name.split(".")[0] for name in names} - known}


def test_no_module_hides_a_public_function():
    modules = {one.name for one in pkgutil.iter_modules([str(PACKAGE)])}
    assert not {name for name in modules & set(bb.__all__) if callable(getattr(bb, name))}


NAMES = """
DistanceTable Estimates InputError Query VectorSample WordLists association audit axis balance bundled calibration
check_predictions check_words checks cite compare contexts contexts_from contextual contrasts covariates
coverage criterion debias debiasing decomposition diagnose distance_table distance_tables encode errors estimates fit
from_draws
instances load_embedding load_fit load_list load_model load_query load_words methods_text metric metrics plots pool
pymc_model rank read_distance_table relatedness reliability report run_metrics save_embedding save_fit side_effects
silhouettes stability summary sweep topic_null vector_sample write_distance_table
"""


def test_the_public_names_are_these_and_are_documented():
    assert sorted(bb.__all__) == NAMES.split()
    for name in bb.__all__:
        assert getattr(bb, name).__doc__, f"{name} has no docstring"


SLIM = {
    "help": (
        "import sys; sys.argv = ['bayesbias', '--help']\n"
        "from bayesbias.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert stop.code == 0",
        HEAVY,
    ),
    "exact fit": (
        "import bayesbias as bb\nbb.fit(bb.distance_table(bb.load_embedding('google-news-slice'), 'weat7'), seed=0)",
        {"pymc", "pytensor", "nutpie", "matplotlib", "sklearn"},
    ),
}
"""Programs, and what they do not load."""


@pytest.mark.parametrize("name", ["help", pytest.param("exact fit", marks=pytest.mark.slow)])
def test_nothing_heavy_is_loaded(name, python, tmp_path):
    code, heavy = SLIM[name]
    code += "\nimport sys; print('LOADED', *{name.split('.')[0] for name in sys.modules})"
    stop, out, errors = python(tmp_path, "-c", code)
    assert stop == 0, errors
    loaded = set(out.rpartition("LOADED")[2].split())
    assert "bayesbias" in loaded
    assert not loaded & heavy


def test_the_lock_file_names_only_the_default_index():
    lock = tomllib.loads((PACKAGE.parent / "uv.lock").read_text(encoding="utf-8"))
    sources = {str(package["source"]) for package in lock["package"] if package["name"] != "bayesbias"}
    assert len(sources) == 1
    assert "registry" in sources.pop()


def test_the_map_shows_the_floors_of_the_house():
    docs = PACKAGE.parent / "docs"
    drawn = re.findall(r'font-weight="bold">(\w+)<', (docs / "architecture.svg").read_text(encoding="utf-8"))
    assert drawn == [room for floor in reversed(LAYERS[:-1]) for room in floor]
    page = (docs / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", page)) - {"tests/promises/test_imports.py"}
    assert named
    assert not [name for name in named if not (PACKAGE / name.removeprefix("bayesbias/")).exists()]
