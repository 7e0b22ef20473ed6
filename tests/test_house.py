"""The package would grow again, a line here and a refusal there, until nobody could keep it."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import bayesbias

PACKAGE = Path(bayesbias.__file__).parent
LINES = {
    "_support": 1040, "axes": 1270, "baselines": 2900, "checks": 2410, "cli": 380, "comparison": 1950,
    "contrast": 580, "distances": 3210, "documents": 1830, "metrics": 1800, "models": 4600, "numerics": 4700,
    "plots": 1720, "reporting": 730, "second_stage": 1500, "top level": 1370, "vectors": 4280,
}  # fmt: skip
"""Room to its lines at most: a budget is raised by a commit of its own that says why."""
FILES, FUNCTIONS, CLASSES, REFUSALS, SENTENCES = 115, 1960, 192, 405, 113
SPEAKS = ("cli", "errors.py", "results.py")  # rooms whose work is to speak
PATHS = [path for path in sorted(PACKAGE.rglob("*.py")) if "_data" not in path.parts]
NODES = {path: [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))] for path in PATHS}


def nodes(kind, paths=PATHS):
    """Each node of a kind."""
    return [node for path in paths for node in NODES[path] if isinstance(node, kind)]


def room_of(path):
    part = path.relative_to(PACKAGE).parts[0]
    return part if (PACKAGE / part).is_dir() else "top level"


def test_each_room_keeps_its_lines():
    lines = dict.fromkeys(LINES, 0)
    for path in PATHS:
        lines[room_of(path)] += len(path.read_text(encoding="utf-8").splitlines())
    assert {room: count for room, count in lines.items() if count > LINES[room]} == {}


def test_files_functions_classes_and_refusals_are_few():
    assert len(PATHS) <= FILES
    most = {ast.FunctionDef: FUNCTIONS, ast.ClassDef: CLASSES, ast.Raise: REFUSALS}
    assert {kind: len(nodes(kind)) for kind in most if len(nodes(kind)) > most[kind]} == {}


def test_no_modules_import_each_other_in_a_circle():
    dotted = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PATHS}
    homes, graph = {name.removesuffix(".__init__"): path for path, name in dotted.items()}, {}
    for name, path in homes.items():
        typing = {id(one) for node in nodes(ast.If, [path]) if "TYPE_CH" in ast.unparse(node.test) for one in node.body}
        called = [node for node in nodes(ast.Call, [path]) if ast.unparse(node.func).endswith("import_module")]
        graph[name] = {ast.unparse(argument).strip("'") for node in called for argument in node.args} & homes.keys()
        for node in nodes(ast.ImportFrom, [path]):
            if id(node) not in typing:
                parts = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[name] |= {part if part in homes else node.module for part in parts} & homes.keys() - {name}
    assert list(TopologicalSorter(graph).static_order())


def sentences(path):
    """Texts of five words or more in functions, beside docstrings, refusals, warnings and notes."""
    kept = set()
    for node in NODES[path]:
        speaks = isinstance(node, ast.Call) and ast.unparse(node.func) in ("warn", "Note", "InputError", "ValueError")
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Raise) or speaks or docstring:
            kept |= {id(part) for part in ast.walk(node)}
    for function in nodes(ast.FunctionDef, [path]):
        for node in ast.walk(function):
            text = node.value if isinstance(node, ast.Constant) and id(node) not in kept else ""
            if isinstance(text, str) and len(text.split()) >= 5:
                yield text


def test_functions_hold_no_sentences():
    held = {path: {*sentences(path)} for path in PATHS if path.relative_to(PACKAGE).parts[0] not in SPEAKS}
    assert sum(map(len, held.values())) <= SENTENCES, {path.name: texts for path, texts in held.items() if texts}
