"""How well cosines agree with judgements of similarity that a user supplies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.bootstrap import ends, resampled_rows
from bayesbias._core.correlation import spearman
from bayesbias.comparison.effects.vocabularies import Shared
from bayesbias.errors import InputError

FEWEST = 5
COLUMNS = ["side", "spearman", "low", "high", "asked", "found"]


def checked_pairs(pairs: Any) -> list[tuple[str, str, float]]:
    """Pairs of words with a score, from a DataFrame of three columns or an iterable of triples.

    Raises
    ------
    InputError
        Something else, or a score that is no finite number.
    """
    rows: Iterable[Any] = pairs.itertuples(index=False, name=None) if isinstance(pairs, pd.DataFrame) else pairs
    advice = "give triples (word, word, score), or a DataFrame of three such columns"
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise InputError(f"similarity is {pairs!r}: {advice}")
    found = []
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Iterable) or len(one := tuple(row)) != 3:
            raise InputError(f"similarity holds {row!r}: {advice}")
        try:
            score = float(one[2])
        except (TypeError, ValueError):
            score = float("nan")
        if not all(isinstance(word, str) for word in one[:2]) or not np.isfinite(score):
            raise InputError(f"similarity holds {row!r}: {advice}, every score a finite number")
        found.append((one[0], one[1], score))
    if not found:
        raise InputError(f"similarity holds no pair: {advice}")
    return found


def agreement(
    shared: Shared, pairs: list[tuple[str, str, float]], prob: float, draws: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, str]:
    """Spearman's correlation of cosines and scores, ``before``, ``after`` and the ``change``, with intervals.

    The intervals are of pairs drawn with replacement, the same for both embeddings. The second value says why there is
    none; empty if there is.
    """
    place = {word: at for at, word in enumerate(shared.words)}
    held = [(place[one], place[other], score) for one, other, score in pairs if one in place and other in place]
    if len(held) < FEWEST:
        reason = f"{len(held)} of {len(pairs)} pairs of similarity are in both embeddings; {FEWEST} are needed"
        return pd.DataFrame(columns=COLUMNS), reason
    left, right, scores = (np.array(column) for column in zip(*held, strict=True))
    cosines = [np.vecdot(unit[left], unit[right]).astype(np.float64) for unit in (shared.before, shared.after)]
    if np.ptp(scores) == 0:
        return pd.DataFrame(columns=COLUMNS), f"all {len(held)} pairs of similarity have the same score"
    chosen = resampled_rows(len(held), draws, rng)
    every = [spearman(one, scores) for one in cosines]
    drawn = [spearman(one[chosen], scores[chosen]) for one in cosines]
    every.append(every[1] - every[0])
    drawn.append(drawn[1] - drawn[0])
    rows = [
        (side, float(value), *ends(values, prob), len(pairs), len(held))
        for side, value, values in zip(("before", "after", "change"), every, drawn, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS), ""
