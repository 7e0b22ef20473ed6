"""Public namespaces whose names are imported where they are first used, from other rooms too."""

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any


def attached(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the imports of the stub beside ``file``.

    As ``lazy_loader.attach_stub``, and names may come from rooms that are not below the package.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: resolve_name("." * line.level + (line.module or ""), package)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    names = sorted(name for name, home in homes.items() if home != package)  # packages below have names elsewhere

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes[name]), name)

    return load, lambda: names, names
