"""Signatures and docstrings of public functions, read from their source: to import them takes seconds."""

from __future__ import annotations

import ast
import importlib
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """A function as its module writes it."""

    module: str
    function: ast.FunctionDef

    @property
    def docstring(self) -> str:
        """What it is, and its parameters."""
        return ast.get_docstring(self.function) or ""

    def annotation(self, parameter: str) -> str:
        """The type of a parameter as text; nothing where it has none or there is no such parameter."""
        arguments = self.function.args
        named = {argument.arg: argument.annotation for argument in (*arguments.args, *arguments.kwonlyargs)}
        return "" if (declared := named.get(parameter)) is None else ast.unparse(declared)

    def default(self, parameter: str) -> Any:
        """The default of a parameter; what is no literal is found by an import."""
        arguments = self.function.args
        named = dict(
            zip((argument.arg for argument in reversed(arguments.args)), reversed(arguments.defaults), strict=False)
        )
        named |= {
            argument.arg: each
            for argument, each in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if each
        }
        if parameter not in named:
            return inspect.Parameter.empty
        try:
            return ast.literal_eval(_literal(self.module, named[parameter]))
        except ValueError:
            function = getattr(importlib.import_module(self.module), self.function.name)
            return inspect.signature(function).parameters[parameter].default


@cache
def source_of(module: str, name: str) -> Source:
    """A function, by the name under which a module has it."""
    for statement in reversed(_parsed(module)):  # overloads stand before what they are of
        if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}:
            return source_of(str(statement.module), name)
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return Source(module, statement)
    raise LookupError(f"{module} has no function {name}")


def _literal(module: str, value: ast.expr) -> ast.expr:
    """A value, or what a name of its own module or of another stands for."""
    if not isinstance(value, ast.Name):
        return value
    for statement in _parsed(module):
        if isinstance(statement, ast.ImportFrom) and value.id in {alias.name for alias in statement.names}:
            return _literal(str(statement.module), value)
        for target, assigned in _assigned(statement):
            if isinstance(target, ast.Name) and target.id == value.id:
                return _literal(module, assigned)
    return value


def _assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """The names of an assignment, each with its value."""
    if not isinstance(statement, ast.Assign):
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


@cache
def _parsed(module: str) -> list[ast.stmt]:
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8")).body
