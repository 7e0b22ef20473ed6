"""What every result has: a table, notes, and its sentences as text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


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
        return f"<p>{escape(self.text())}</p>{self.table().round(4).to_html(index=False)}"
