"""Named statistics of many draws of stereotype lists at once, from mean distances."""

from __future__ import annotations

import numpy as np

from bayesbias._core.cells import IntArray
from bayesbias._core.cosine import FloatArray
from bayesbias.diagnostics.null_lists import STEREOTYPES, Places

BLOCK = 2**21
"""Distances that are looked at together."""

Cells = dict[str, FloatArray]
"""Mean distances (J, B) of B draws by connection, and by stereotype list under the key ``list`` (lists, J, B)."""


def named_value(statistic: str, cells: Cells, group: IntArray) -> FloatArray:
    """A named statistic (B,) from mean distances; a protected word without one of its cells is left out."""
    if statistic == "mac":
        return _mean(cells["list"].reshape(-1, cells["list"].shape[-1]))
    if statistic == "weat":
        closer = cells["different"] - cells["associated"]  # to the own stereotypes
        closer[group == 1] *= -1
        gap = _mean(closer[group == 0]) - _mean(closer[group == 1])
        with np.errstate(invalid="ignore", divide="ignore"):
            return gap / np.sqrt(_mean((closer - _mean(closer)) ** 2))
    first, second = parts_of(statistic)
    return _mean(cells[first] - cells[second])


def _mean(values: FloatArray) -> FloatArray:
    """Mean (B,) over the rows of (R, B) that are known."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(known, values, 0).sum(axis=0) / known.sum(axis=0)
    return mean


def parts_of(statistic: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in statistic.split("-"))


def stereotype_cells(near: FloatArray, places: Places) -> Cells:
    """Mean distances of the stereotype lists; ``near`` (J, B, S) holds the distances of each draw."""
    known = ~np.isnan(near)
    near = np.where(known, near, 0)
    whole = bool(known.all())

    def mean(members: np.ndarray) -> FloatArray:
        weight = members.astype(float)[:, :, None]
        count = members.sum(axis=1)[:, None] if whole else (known @ weight)[:, :, 0]
        with np.errstate(invalid="ignore"):
            value: FloatArray = (near @ weight)[:, :, 0] / count
        return value

    cells = {name: mean(places.connection == at) for at, name in enumerate(STEREOTYPES)}
    lists = range(places.attribute_class.max() + 1)
    return cells | {"list": np.stack([mean(places.attribute_class == at) for at in lists])}
