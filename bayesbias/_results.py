"""What every result has: a table, notes, and its sentences as text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


MOST_ROWS = 20
"""Rows of a table that a notebook shows."""


class Result:
    """A result: ``table()`` has its figures, ``notes`` what limits them, ``text()`` both in sentences.

    ``print`` shows the text, and a notebook the text and the table.
    """

    def table(self) -> pd.DataFrame:
        """The figures as a DataFrame."""
        raise NotImplementedError

    def text(self) -> str:
        """The result in sentences, notes last."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.table().round(4)
        left = len(table) - MOST_ROWS
        more = f"<p>and {left:,} further rows: <code>.table()</code> has all</p>" if left > 0 else ""
        return f"<p>{escape(self.text())}</p>{table.head(MOST_ROWS).to_html(index=False)}{more}"
