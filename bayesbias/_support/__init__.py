"""Tools that all parts of the package share; here those that need nothing else."""

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]


def shipped(kind: str) -> Path:
    """The folder of shipped files, ``"models"`` or ``"data"``: in a wheel inside the package, in a checkout beside."""
    inside = PACKAGE / f"_{kind}"
    return inside if inside.is_dir() else PACKAGE.parent / kind


_above: dict[str, Callable[[], Any]] = {}


def offer(name: str, load: Callable[[], Any]) -> None:
    """Let rooms below one that is named ask for it when they need it, without an import of what stands above them."""
    _above[name] = load


def offered(name: str) -> Any:
    """A room that was offered, loaded."""
    return _above[name]()


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
