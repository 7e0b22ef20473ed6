"""Folders of the shipped files; apart, since the completion of the shell needs nothing else."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def shipped(kind: str) -> Path:
    """The folder of shipped files of a kind (``"models"`` or ``"data"``).

    In a wheel they stand inside the package, in a checkout beside it.
    """
    inside = PACKAGE / f"_{kind}"
    return inside if inside.is_dir() else PACKAGE.parent / kind
