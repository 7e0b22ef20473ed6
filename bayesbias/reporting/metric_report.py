"""A table of metrics as a result with a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayesbias._page import Page, Section, filled, whole_table
from bayesbias._results import Result
from bayesbias.errors import many
from bayesbias.metrics import list_metrics

COLUMNS = ("embedding", "query", "metric", "value", "optimum", "found", "missing", "reason")
"""Columns that every table of metrics has."""
SHOWN = ("embedding", "query", "subquery", "metric", "value", "p_value", "optimum", "found", "missing", "reason")


@dataclass(frozen=True, repr=False, eq=False)
class MetricTable(Result):
    """A table that :func:`run_metrics` returned, as a result."""

    values: pd.DataFrame

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the table."""
        return tuple(map(str, self.values.attrs.get("notes", ())))

    @property
    def used(self) -> pd.DataFrame:
        """The metrics of the table, with their definitions."""
        known = list_metrics().set_index("name")
        return known.loc[[name for name in known.index if name in set(self.values["metric"])]].reset_index()

    def table(self) -> pd.DataFrame:
        """The values."""
        return self.values

    def findings(self) -> list[str]:
        """How many values there are."""
        measured, queries = int(self.values["value"].notna().sum()), self.values["query"].nunique()
        return [
            f"{many(measured, 'value')} of {many(len(self.used), 'metric')} for {queries} "
            f"quer{'y' if queries == 1 else 'ies'} and {many(self.values['embedding'].nunique(), 'embedding')}."
        ]

    def front(self) -> Page:
        """The first screen of a report."""
        measured = self.values[self.values["value"].notna()]
        without = len(self.values) - len(measured)
        tested = measured["p_value"].dropna() if "p_value" in measured else pd.Series(dtype=float)
        below = f" {int((tested < 0.05).sum())} of {len(tested)} p-values are below .05." if len(tested) else ""
        missing = f"{without:,} of {len(self.values):,} values could not be computed; the table says why."
        return Page(
            title="Classic bias metrics",
            lead=f"Embeddings: {', '.join(map(str, self.values['embedding'].unique()))}.",
            answer=self.findings()[0],
            lines={
                "How sure?": "A metric is one number for the words that were listed. How far it depends on them is not "
                "part of it: bootstrap_metric tells, and permutation tests take the words for unrelated (unless "
                f"p_value='related').{below}",
                "Which values are missing?": missing if without else "None: every metric has a value.",
                "What is no bias?": "The column optimum has the value that each metric takes without bias. Values of "
                "different metrics cannot be compared with each other.",
            },
            picture=None,
        )

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: values and definitions."""
        values = self.values[[name for name in SHOWN if name in self.values]].dropna(axis=1, how="all")
        used = self.used
        definitions = used[[name for name in ("name", "title", "description", "source", "doi") if name in used]]
        shown = whole_table("Values of the metrics, with the words found and missing", values)
        sources = whole_table("The metrics used, with their sources", definitions)
        return filled((Section("Values", [shown, *self.notes]), Section("Definitions", [sources])))

    def sources(self) -> tuple[Any, ...]:
        """The table, which names metrics, queries and embeddings."""
        return (self.values,)
