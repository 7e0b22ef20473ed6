"""The page of a table of classic metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import pandas as pd

from bayesbias._support.prose import Prose
from bayesbias._support.results import Page, Result, Section, filled, whole_table
from bayesbias.errors import InputError
from bayesbias.metrics import list_metrics, load_query

WORDS = Prose("metrics")
# columns that every table of metrics has, and those that a report shows
COLUMNS = ("embedding", "query", "metric", "value", "optimum", "found", "missing", "reason")
# above 0: the first target set is nearer to the first attribute set
DIRECTED = ("weat", "weat_effect_size", "seat", "ceat")
MOST_SAID = 4  # values whose direction is said one by one
SHOWN = ("embedding", "query", "subquery", "metric", "value", "p_value", *COLUMNS[4:])


def is_metric_table(given: object) -> TypeGuard[pd.DataFrame]:
    """True for a table that :func:`run_metrics` returned."""
    return isinstance(given, pd.DataFrame) and set(COLUMNS) <= set(given.columns)


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
        """Which target set is nearer to which attribute set, where metrics tell that; then the number of values."""
        counts = {f"{column}s": self.values[column].nunique() for column in ("metric", "embedding")}
        values = int(self.values["value"].notna().sum())
        return [*self._directions(), WORDS.findings(values=values, queries=self.values["query"].nunique(), **counts)]

    def _directions(self) -> list[str]:
        """The direction of each value of the metrics that have one, or how many values have which."""
        rows = self.values[self.values["metric"].isin(DIRECTED) & self.values["value"].notna()]
        rows = rows[rows["value"] != rows["optimum"]]
        found = [(row, self._sets(row["query"])) for row in rows.to_dict("records")]
        known = [(row, sets) for row, sets in found if sets is not None]
        if known and len(known) == len(found) <= MOST_SAID:
            return [WORDS.direction(row=row, **sets) for row, sets in known]
        above = int((rows["value"] > rows["optimum"]).sum())
        return (
            [WORDS.directions(metrics=rows["metric"].unique().tolist(), above=above, rows=len(rows))]
            if len(rows)
            else []
        )

    @staticmethod
    def _sets(name: str) -> dict[str, list[str]] | None:
        """The names of the target and attribute sets of a query that is known by its name."""
        try:
            query = load_query(name)
        except InputError:
            return None
        return {"targets": list(query.targets), "attributes": list(query.attributes)}

    def front(self) -> Page:
        """The first screen of a report."""
        measured = self.values[self.values["value"].notna()]
        tested = measured["p_value"].dropna() if "p_value" in measured else pd.Series(dtype=float)
        answer, *others = self.findings()
        missing, rows = len(self.values) - len(measured), len(self.values)
        return Page(
            title=WORDS.title(),
            lead=WORDS.lead(embeddings=self.values["embedding"].unique().tolist()),
            answer=answer,
            lines=({"In detail": " ".join(others)} if others else {})
            | {
                WORDS.certainty_question(): WORDS.certainty(tested=len(tested), below=int((tested < 0.05).sum())),
                WORDS.missing_question(): WORDS.missing(missing=missing, values=rows),
                WORDS.optimum_question(): WORDS.optimum(),
            },
            picture=None,
        )

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: values and definitions."""
        values = self.values.reindex(columns=list(SHOWN)).dropna(axis=1, how="all")
        definitions = self.used.filter(items=("name", "title", "description", "source", "doi"))
        tables, sources = whole_table(WORDS.values(), values), whole_table(WORDS.definitions(), definitions)
        parts = (Section(WORDS.values_title(), [tables, *self.notes]), Section(WORDS.definitions_title(), [sources]))
        return filled(parts)

    def sources(self) -> tuple[Any, ...]:
        """The table, which names metrics, queries and embeddings."""
        return (self.values,)
