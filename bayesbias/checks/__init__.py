"""Checks of an answer: of its model, its priors, its words.

Names of this room and of those that are built on it are imported where they are first used, by the stub beside.
"""

import ast
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {
    alias.name: resolve_name("." * line.level + (line.module or ""), __name__)
    for line in _STUB.body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
