"""How many of a word's nearest neighbours it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bayesbias._core.bootstrap import mean_interval
from bayesbias._core.neighbours import nearest_rows
from bayesbias.comparison.effects.vocabularies import Shared
from bayesbias.errors import InputError

COLUMNS = ["kind", "k", "words", "kept", "low", "high"]


def neighbours_kept(shared: Shared, kinds: Mapping[str, Sequence[str]], ks: Sequence[int]) -> pd.DataFrame:
    """One row a word and k: ``kind``, ``word``, ``k``, ``kept``, the share of its k nearest neighbours that it keeps.

    Raises
    ------
    InputError
        A k that is not below the number of shared words.
    """
    for k in ks:
        if k >= len(shared.words):
            raise InputError(
                f"k is {k}: give whole numbers from 1 to {len(shared.words) - 1}, the other words that both embeddings "
                "hold"
            )
    pieces = []
    for kind, words in kinds.items():
        rows = shared.rows(words)
        names = [shared.words[row] for row in rows]
        for k in ks:
            both = np.hstack([np.sort(nearest_rows(unit, rows, k), axis=1) for unit in (shared.before, shared.after)])
            both.sort(axis=1)
            kept = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
            pieces.append(pd.DataFrame({"kind": kind, "word": names, "k": k, "kept": kept}))
    return pd.concat(pieces, ignore_index=True)


def mean_kept(by_word: pd.DataFrame, prob: float) -> pd.DataFrame:
    """Means over words with t intervals within [0, 1]: ``kind``, ``k``, ``words``, ``kept``, ``low``, ``high``."""
    rows = [
        (kind, k, len(part), part["kept"].mean(), *mean_interval(part["kept"].to_numpy(), prob))
        for (kind, k), part in by_word.groupby(["kind", "k"], sort=False)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.assign(low=table["low"].clip(0, 1), high=table["high"].clip(0, 1))
