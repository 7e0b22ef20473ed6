"""Imports run one way, the package loads fast, and no module hides a public function."""

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import bayesbias as bb

PACKAGE = Path(bb.__file__).parent
LAYERS = (
    ("errors",),
    ("numerics",),
    ("_support",),
    ("estimates", "words"),
    ("vectors",),
    ("distances",),
    ("models", "metrics", "datasets"),
    ("checks",),
    ("contrast", "axes"),
    ("comparison", "baselines"),
    ("second_stage",),
    ("plots",),
    ("reporting",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = {"pymc", "pytensor", "nutpie", "matplotlib", "gensim", "pandas", "xarray", "arviz", "numpy"}
HEAVY |= {"pydantic"}


def imported(path: Path) -> set[str]:
    """Parts of the package that a file imports, wherever in the file it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("bayesbias.")}
    return found


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_imports_run_one_way():
    assert {part_of(path) for path in FILES} <= set(RANK), "a part has no place in the order of imports"
    backwards = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in FILES
        for name in imported(path) - {part_of(path)}
        if RANK[name] >= RANK[part_of(path)]
    ]
    assert not backwards


def test_modules_of_the_command_line_form_no_circle():
    modules = {f"bayesbias.cli.{path.stem}": path for path in FILES if part_of(path) == "cli" and path.stem[0] != "_"}
    needs = {}
    for name, path in modules.items():
        froms = [
            one for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(one, ast.ImportFrom)
        ]
        found = {one.module for one in froms}
        found |= {f"{one.module}.{alias.name}" for one in froms for alias in one.names}
        needs[name] = found & set(modules)
    assert sum(map(len, needs.values())) > 5
    assert list(TopologicalSorter(needs).static_order())


def test_the_house_has_twenty_entries_at_most():
    entries = {path.name for path in PACKAGE.iterdir()} - {"__init__.py", "__init__.pyi", "py.typed", "__pycache__"}
    assert entries == {path.name for path in PACKAGE.iterdir() if part_of(path) in RANK}
    assert len(entries) <= 20


def modules_taken(path: Path) -> set[str]:
    """Modules of the package that a file imports when it runs, in functions too; not those for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {name for node in found for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))}


def test_no_modules_import_each_other_in_a_circle():
    homes = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    homes = {name.removesuffix(".__init__"): path for name, path in homes.items()}
    # a package's own list of names is what others take from it, not what its modules need
    graph = {
        name: {taken for taken in modules_taken(path) if taken in homes and taken != name}
        for name, path in homes.items()
        if path.name != "__init__.py"
    }
    left = dict(graph)
    while free := [name for name, taken in left.items() if not taken & set(left)]:
        left = {name: taken for name, taken in left.items() if name not in free}
    assert not left


def outside(path: Path) -> set[str]:
    """What a file imports besides NumPy, SciPy, the package and the standard library."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {n.split(".")[0] for n in names} - set(sys.stdlib_module_names) - {"numpy", "scipy", "bayesbias"}


def test_numerics_imports_numpy_and_scipy_only():
    core = {path.name: outside(path) for path in FILES if part_of(path) == "numerics"}
    assert core
    assert not any(core.values()), core


def test_no_module_bears_the_name_of_a_public_function():
    modules = {name.rsplit(".", 1)[-1] for _, name, _ in pkgutil.walk_packages([str(PACKAGE)], "bayesbias.")}
    assert not {name for name in modules & set(bb.__all__) if callable(getattr(bb, name))}


def test_every_public_name_loads_and_is_documented():
    assert len(bb.__all__) <= 78
    for name in bb.__all__:
        assert getattr(bb, name).__doc__, f"{name} has no docstring"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_loads_nothing_heavy():
    loaded = set(run("import sys, bayesbias; print(*{m.split('.')[0] for m in sys.modules})").split())
    assert not loaded & HEAVY


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['bayesbias', '--help']\n"
        "from bayesbias.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "print('LOADED', *{m.split('.')[0] for m in sys.modules})"
    )
    loaded = set(run(code).rpartition("LOADED")[2].split())
    assert not loaded & HEAVY


def test_an_exact_fit_does_not_load_pymc(tmp_path):
    code = (
        "import sys, bayesbias as bb\n"
        "bb.fit(bb.distance_table(bb.load_embedding('google-news-slice'), 'weat7'), seed=0)\n"
        "print('LOADED', *{m.split('.')[0] for m in sys.modules})"
    )
    loaded = set(run(code).rpartition("LOADED")[2].split())
    assert not loaded & {"pymc", "pytensor", "nutpie", "matplotlib", "sklearn"}


def test_the_lock_file_names_only_the_default_index():
    lock = tomllib.loads((PACKAGE.parent / "uv.lock").read_text(encoding="utf-8"))
    sources = {str(package["source"]) for package in lock["package"] if package["name"] != "bayesbias"}
    assert len(sources) == 1
    assert "registry" in sources.pop()


def test_no_module_name_stands_three_times():
    names = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert not [name for name, count in names.items() if count > 2]


def test_no_two_classes_have_one_name():
    homes = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    assert len(homes) > 200
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_no_docstring_begins_with_what_whether_or_how():
    """A first line is a noun phrase or an imperative."""
    kinds, first = (ast.Module, ast.ClassDef, ast.FunctionDef), {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                place = f"{path.relative_to(PACKAGE)}: {getattr(node, 'name', 'module')}: {text.splitlines()[0]}"
                first[place] = text.split(maxsplit=1)[0].strip(",.:")
    assert len(first) > 2000
    assert not [place for place, word in first.items() if word in {"What", "Whether", "How"}]


def test_what_benchmarks_take_from_inside_is_there():
    """Names of ``benchmarks/inside.py``, and the attributes that scripts take of the modules among them."""
    inside = pytest.importorskip("benchmarks.inside", reason="the benchmarks are not here")
    missing, seen = [], 0
    for script in Path(inside.__file__).parent.rglob("*.py"):
        tree = ast.parse(script.read_text(encoding="utf-8"))
        taken = {
            alias.asname or alias.name: alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).rpartition(".")[2] == "inside"
            for alias in node.names
        }
        seen += len(taken)
        missing += [f"{script.name}: {name}" for name in taken.values() if not hasattr(inside, name)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in taken:
                of = getattr(inside, taken[node.value.id], None)
                if isinstance(of, ModuleType) and not hasattr(of, node.attr):
                    missing.append(f"{script.name}: {node.value.id}.{node.attr}")
    assert seen > 20
    assert not missing


def test_the_map_shows_the_floors_of_the_house():
    docs = PACKAGE.parent / "docs"
    drawn = re.findall(r'font-weight="bold">(\w+)<', (docs / "architecture.svg").read_text(encoding="utf-8"))
    assert drawn == [room for floor in reversed(LAYERS) for room in floor]
    page = (docs / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", page)) - {"tests/promises/test_imports.py"}
    assert named
    assert not [name for name in named if not (PACKAGE / name.removeprefix("bayesbias/")).exists()]
