"""Bundled names for the completion of the shell: read from file names, since what loads them loads slowly."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from bayesbias._paths import shipped

METRICS = (  # names of metrics; repeated here, since their definitions load slowly
    *("weat", "weat_effect_size", "rnd", "rnsb", "mac", "ect", "ripa", "direct_bias", "db_wa", "nbm", "same"),
    *("semaxis", "wefat", "seat", "ceat"),
)


def word_lists(incomplete: str) -> list[str]:
    """Bundled word lists."""
    return _beginning(incomplete, _stems("words", "**/*.toml"))


def axes(incomplete: str) -> list[str]:
    """Bundled axes, and the bundled list of pairs that is one."""
    return _beginning(incomplete, [*_content("axes.toml")["axes"], "gender_pairs"])


def axes_and_lists(incomplete: str) -> list[str]:
    """Bundled axes and word lists."""
    return sorted({*axes(incomplete), *word_lists(incomplete)})


def queries(incomplete: str) -> list[str]:
    """Bundled queries."""
    return _beginning(incomplete, _stems("queries", "*.toml"))


def models(incomplete: str) -> list[str]:
    """Bundled models, and auto."""
    return _beginning(incomplete, ["auto", *(path.stem for path in shipped("models").glob("*.toml"))])


def embeddings(incomplete: str) -> list[str]:
    """Bundled embeddings."""
    return _beginning(incomplete, _content("manifest.toml"))


def datasets(incomplete: str) -> list[str]:
    """Data sets that are known by name."""
    families = _content("datasets.toml").values()
    return _beginning(incomplete, [name for family in families for name in family["files"]])


def metrics(incomplete: str) -> list[str]:
    """Metrics."""
    return _beginning(incomplete, METRICS)


def _stems(folder: str, pattern: str) -> list[str]:
    place = shipped("data") / folder
    return [path.relative_to(place).with_suffix("").as_posix() for path in place.glob(pattern)]


def _content(file: str) -> dict[str, Any]:
    return tomllib.loads((shipped("data") / file).read_text(encoding="utf-8"))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
