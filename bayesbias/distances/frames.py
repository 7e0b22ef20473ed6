"""Distance tables of words in sentences: one row for each pair and template, and their means over templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias.contextual import PAIRINGS, SAME, ContextVectors
from bayesbias.distances.storage import coverage_from
from bayesbias.errors import InputError
from bayesbias.words import WordLists

TEMPLATE, ATTRIBUTE_TEMPLATE = "template", "attribute_template"
FRAMES = (TEMPLATE, ATTRIBUTE_TEMPLATE)
TOLD = ("encoder", "representation", "templates", "centre", "all_but_top")
"""What a table says of its vectors."""
PAIR = ["protected_word", "attribute_word"]
LABELS = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]


def frame_columns(table: object) -> list[str]:
    """Columns of a table that name the templates of its distances; none of what is no table."""
    return [name for name in FRAMES if name in getattr(table, "columns", ())]


def averaged(table: pd.DataFrame) -> pd.DataFrame:
    """The table with one row for each pair and connection: the mean over templates.

    ``attrs`` stay. What is no table with templates stays as it is, and so does one that lacks or repeats a column.
    """
    whole = {*PAIR, "connection", "distance"} <= set(getattr(table, "columns", ()))
    if not frame_columns(table) or not whole or not table.columns.is_unique:
        return table
    labels = [name for name in LABELS if name in table.columns]
    rows = table[labels].assign(distance=finite_distances(table["distance"]))
    rows.attrs = {}
    means = rows.groupby(labels, sort=False, dropna=False, observed=True)["distance"].mean().reset_index()
    means.attrs = dict(table.attrs)
    return means


def finite_distances(column: pd.Series) -> FloatArray:
    """The distances of a table."""
    if column.dtype.kind in "bcmM":
        raise InputError(f"the column 'distance' holds {column.dtype}: give cosine distances as numbers")
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        more = f", and in {len(bad) - 1} more rows" if len(bad) > 1 else ""
        raise InputError(
            f"row {column.index[bad[0]]}, column 'distance' holds {column.iloc[bad[0]]}{more}: "
            "every distance must be a finite number; leave missing pairs out"
        )
    return values


def with_frames(table: pd.DataFrame, vectors: ContextVectors, lists: WordLists, frames: str) -> pd.DataFrame:
    """A table of mean distances with one row for each template of each pair."""
    units, filled = _concepts(vectors, lists)
    place = {name: i for i, name in enumerate(units)}
    words = np.array([place[word] for word in table["protected_word"]])
    attributes = np.array([place[word] for word in table["attribute_word"]])
    matrix, present = np.stack(list(units.values())), np.stack(list(filled.values()))
    record = coverage_from(table.attrs["coverage"])
    attrs = dict(table.attrs)
    table = table.drop(columns="distance")
    table.attrs = {}
    mean = matrix.sum(axis=1) / np.maximum(present.sum(axis=1), 1)[:, None]
    names = vectors.frames or tuple(f"sentence {i + 1}" for i in range(present.shape[1]))
    parts = []
    for i, name in enumerate(names):
        # each sentence of a corpus is compared with the mean over those of the attribute word
        others: list[tuple[str, NDArray[Any], NDArray[np.bool_]]] = [("", mean, np.ones(len(present), dtype=bool))]
        if not vectors.nested:
            others = [
                ("" if j == i else other, matrix[:, j], present[:, j])
                for j, other in enumerate(names)
                if (j == i) == (frames == SAME)
            ]
        for other, unit, has_frame in others:
            rows = np.flatnonzero(present[words, i] & has_frame[attributes])
            cosines = _products(matrix[:, i], unit, words[rows], attributes[rows])
            columns = {TEMPLATE: name} | ({ATTRIBUTE_TEMPLATE: other} if other else {})
            parts.append(table.iloc[rows].assign(distance=np.clip(1 - cosines, 0, 2), **columns))
    result = pd.concat([part for part in parts if len(part)], ignore_index=True)
    facts = {name: getattr(vectors, name) for name in TOLD} | {
        "frames": list(vectors.frames),
        "pairing": "sentences" if vectors.nested else frames,
        "notes": [*vectors.notes, *([f"Distances are between {PAIRINGS[frames]}."] if not vectors.nested else [])],
    }
    # mean cosines live in a space of their own; what is told is the encoder's
    embedding = record.embedding | {"dimensions": int(vectors.vectors.shape[1])}
    result.attrs = attrs | {
        "coverage": replace(record, pairs=len(result), contexts=facts, embedding=embedding).as_dict()
    }
    return result


def _concepts(
    vectors: ContextVectors, lists: WordLists
) -> tuple[dict[str, NDArray[np.float32]], dict[str, NDArray[np.bool_]]]:
    """Vectors (templates, d) of each word, of a concept with several forms their mean, and which templates it has."""
    units, filled = vectors.units(), vectors.filled
    place = {word: i for i, word in enumerate(vectors.words)}
    means, present = {}, {}
    for name, forms in lists.concepts.items():
        rows = [place[form] for form in forms if form in place and filled[place[form]].any()]
        if rows:
            count = filled[rows].sum(axis=0)
            total = units[rows].sum(axis=0)
            means[name] = np.divide(total, count[:, None], out=np.zeros_like(total), where=count[:, None] > 0)
            present[name] = count > 0
    return means, present


def _products(first: NDArray[Any], second: NDArray[Any], rows: IntArray, columns: IntArray) -> FloatArray:
    """Products of some rows of two matrices with each other."""
    left, row = np.unique(rows, return_inverse=True)
    right, column = np.unique(columns, return_inverse=True)
    result: FloatArray = (first[left].astype(float) @ second[right].astype(float).T)[row, column]
    return result


def contexts_of(table: pd.DataFrame) -> Mapping[str, Any]:
    """What the coverage of a table says of its sentences; empty for tables without any."""
    stored = table.attrs.get("coverage")
    return coverage_from(stored).contexts if stored else {}


def checked_frames(table: pd.DataFrame) -> None:
    """Refuse templates without a name."""
    for column in frame_columns(table):
        names = table[column]
        if names.isna().any() or (names.astype(str).str.strip() == "").any():
            row = table.index[names.isna() | (names.astype(str).str.strip() == "")][0]
            raise InputError(f"row {row}, column {column!r}: a template has no name")
