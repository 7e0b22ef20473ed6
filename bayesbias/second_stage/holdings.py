"""How much of the word lists each of several embeddings holds, and how their estimates are weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.distances.storage import stored_coverage
from bayesbias.errors import listed

WEIGHTS = ("equal", "precision")
"""How a mean over embeddings, or a line through them, weighs the estimates."""
FEWER = 0.1
"""Share of the list words that an embedding holds less than another before it is said to hold clearly fewer."""


def holdings(tables: Mapping[str, Any]) -> pd.DataFrame:
    """Share of the list words that each embedding holds, and the language of its lists.

    Returns
    -------
    DataFrame
        One row a table, by its name: ``found``, NaN where it is not known which words were asked for, and ``language``,
        missing where the lists do not tell.
    """
    found, languages = [], []
    for table in tables.values():
        record = stored_coverage(table) if isinstance(table, pd.DataFrame) else None  # an axis has notes of its own
        lists = [] if record is None else record.lists
        asked = [entry["asked"] for entry in lists]
        known = bool(asked) and all(count is not None for count in asked)
        total = sum(count or 0 for count in asked)
        found.append(sum(entry["found"] for entry in lists) / total if known and total else np.nan)
        languages.append(None if record is None else record.language)
    return pd.DataFrame(
        {"found": found, "language": pd.array([name or pd.NA for name in languages], dtype="string")},
        index=list(tables),
    )


def holding_notes(held: pd.DataFrame) -> list[str]:
    """What holdings limit: words that are missing, and lists in several languages."""
    notes, found = [], held["found"].dropna()
    if len(found):
        least, most = f"{100 * found.min():.0f}", f"{100 * found.max():.0f}"
        shares = f"{most}%" if least == most else f"{least} to {most}%"
        notes.append(f"The embeddings hold {shares} of the list words.")
        if len(few := found.index[found < found.max() - FEWER].tolist()):
            shares = listed([f"{name} ({100 * found[name]:.0f}%)" for name in few])
            notes.append(f"Clearly fewer are in {shares}: contrasts there are those of other words.")
    languages = held["language"].dropna().unique().tolist()
    if len(languages) > 1:
        notes.append(
            f"The lists are in {len(languages)} languages ({listed(sorted(languages))}): contrasts may differ because "
            "the words do."
        )
    return notes


def outside_note(values: np.ndarray, estimates: np.ndarray, what: str) -> list[str]:
    """A note where a mean or a line lies below or above all estimates."""
    if not (np.all(values < estimates) or np.all(values > estimates)):
        return []
    return [
        f"{what} lies {'below' if np.all(values < estimates) else 'above'} all estimates. Errors that are strongly "
        f"correlated and of unequal size lead there, and it is right only if their covariance is exact: take "
        "weights='equal'."
    ]
