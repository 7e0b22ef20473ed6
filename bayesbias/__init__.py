"""Bias in word embeddings, measured honestly: every distance kept, answers as posterior distributions."""

from importlib import import_module
from typing import Any

import lazy_loader

from bayesbias._support import offer

offer("plots", lambda: import_module("bayesbias.plots"))
_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first asked for; the version is that of the installed package."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _loaded(name)
