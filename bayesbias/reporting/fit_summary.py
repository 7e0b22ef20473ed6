"""``summary``: the answer of a fit as one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import pandas as pd
import xarray as xr

from bayesbias._support.arguments import probability
from bayesbias.checks.convergence import Verdict, check_predictions, diagnose
from bayesbias.checks.summaries import PROB, cluster_interval_of, describe, flat_draws
from bayesbias.checks.topics import TopicNull, refuse_other
from bayesbias.contrast import (
    POPULATION,
    adjustment,
    beside_associated,
    contrasts,
    decomposable,
    decomposition,
)
from bayesbias.contrast.contrast import Rows, control_spread, equal_groups, rows_of, weat_effect_size
from bayesbias.distances.dataframe import COSINE
from bayesbias.errors import InputError
from bayesbias.models.tree import FURTHER, TEMPLATES, Fit
from bayesbias.models.weights import left_out as without_row
from bayesbias.results import Note, Result
from bayesbias.vectors.lookup import left_out
from bayesbias.words import OTHER, OWN

NUMBERS = ["mean", "sd", "low", "high", "p_closer"]
FEW_GROUPS = 3  # up to which the differences of groups are printed
NEW, CLUSTERS, STANDARDISED, WEAT = (
    "overall, new words",
    "overall, clusters",
    "overall / sd of controls",
    "WEAT's d (> 0: closer)",
)
"""Rows of the table beside contrasts: further protected words, attribute words as clusters, and effect sizes."""


@dataclass(frozen=True, repr=False, eq=False)
class FitSummary(Result):
    """The answer of a fit: what :func:`summary` returns.

    ``table()`` has the rows that are printed and further ones, :attr:`words` those of single protected words,
    :attr:`lists` the lists with their effective sample sizes, :attr:`diagnostics` the checks of the draws, and
    ``tables()`` these and others.
    """

    picture: ClassVar[str] = "plot_contrasts"

    fit: Fit
    topics: TopicNull | None = None
    prob: float = PROB

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        if not self._others:
            return f"mean distances ({COSINE})"
        return f"{OWN} - {self._others[0]} ({COSINE}; < 0: closer to {OWN})"

    def header(self) -> dict[str, object]:
        """Facts of what was measured."""
        templates = self.fit.tree.children.get(TEMPLATES)
        return {
            "words": self.fit.measured.get("word_list"),
            "embedding": self.fit.measured.get("embedding"),
            "distances": len(self.fit.data.y),
            "model": f"{self.fit.model} ({self.fit.engine})",
            "adjusted for": self.fit.adjusted_for,
            "templates": None if templates is None else int(templates.attrs["templates"]),
            "intervals": f"{self.prob:.0%}",
        }

    def table(self) -> pd.DataFrame:
        """One row a quantity: ``quantity``, ``mean``, ``sd``, ``low``, ``high``, ``p_closer``.

        The overall contrast, for new words, by group; its parts and the other contrasts of associated words; then the
        interval with attribute words as clusters, the contrast over the standard deviation of control words, and WEAT's
        effect size of the same words. With random lists ``as_far``: how many are at least as far from 0.
        """
        table = pd.DataFrame([*self._rows, *self._beside], columns=["quantity", *NUMBERS])
        table = table.astype(dict.fromkeys(NUMBERS, float))
        if self._far is not None:
            counts = self._far.table().set_index("statistic")["count"]
            named = table["quantity"].replace("overall", f"{OWN} - {self._others[0]}")
            table["as_far"] = named.map(counts).astype("Int64")
        return table

    def summary(self) -> pd.DataFrame:
        """The contrasts; of many groups without their differences."""
        groups, table = set(self.fit.data.groups.tolist()), self.table()
        between = [f"group {one} - {other}" for one in groups for other in groups] if len(groups) > FEW_GROUPS else []
        further = [row["quantity"] for row in self._beside]
        return table[~table["quantity"].isin([*further, *between])].dropna(axis=1, how="all")

    @cached_property
    def _rows(self) -> list[dict[Any, Any]]:
        """Rows that are printed, with the numbers that are known."""
        post, prob, others = self.fit.tree, self.prob, self._others
        if not others:
            means = pd.DataFrame(describe(flat_draws(self.fit.posterior["connection_mean"].to_numpy()), prob))
            names = [f"distance to {name}" for name in self.fit.posterior["connection"].to_numpy()]
            return means.assign(quantity=names).to_dict("records")
        parts = [self._overall.whole.summary(prob).iloc[:1].assign(quantity="overall")]
        if FURTHER in self.fit.posterior:  # a model of one's own may have none
            parts.append(contrasts(post, OWN, others[0], prob, target=POPULATION).iloc[:1].assign(quantity=NEW))
        if self._groups:
            groups = contrasts(post, OWN, others[0], prob, by="group")
            parts.append(groups.assign(quantity="group " + groups["group"]))
        summed = [f"{OWN} - {others[0]}"]
        for control in decomposable(self.fit.data)[:1]:
            three = decomposition(post, control, prob).iloc[:3]
            parts.append(three.assign(quantity=three["contrast"])[three["contrast"] != summed[0]])
            summed += three["contrast"].tolist()
        further = {other: f"{OWN} - {other}" for other in others[1:] if f"{OWN} - {other}" not in summed}
        parts += [contrasts(post, OWN, other, prob).iloc[:1].assign(quantity=name) for other, name in further.items()]
        return [row for part in parts for row in part.to_dict("records")]

    @cached_property
    def _overall(self) -> Rows:
        """The headline contrast: overall, and of words."""
        return rows_of(self.fit, OWN, self._others[0])

    @cached_property
    def _beside(self) -> list[dict[str, Any]]:
        """Rows that are in the table and not printed."""
        if not self._others:
            return []
        data, spread = self.fit.data, control_spread(self.fit.data)
        cluster = cluster_interval_of(data, OWN, self._others[0], self.prob)
        ends = {"mean": cluster.estimate, "sd": cluster.se, "low": cluster.low, "high": cluster.high}
        rows = [] if cluster.reason else [{"quantity": CLUSTERS, **ends}]
        standardised = None if spread is None else float(self._overall.whole.mean[0]) / spread
        sizes = {STANDARDISED: standardised, WEAT: weat_effect_size(data) if self._others[0] == OTHER else None}
        return [*rows, *({"quantity": name, "mean": size} for name, size in sizes.items() if size is not None)]

    @cached_property
    def _others(self) -> list[str]:
        """Connections beside associated, the headline first."""
        return beside_associated(self.fit) if len(self.fit.data.protected_words) > 1 else []

    @property
    def _groups(self) -> bool:
        """True where two groups or more are known, whose words have their own stereotypes."""
        groups = set(self.fit.data.groups.tolist())
        return self._others[0] == OTHER and len(groups) > 1 and "" not in groups

    @cached_property
    def words(self) -> pd.DataFrame:
        """One row a protected word: those of :func:`contrasts`."""
        if not self._others:
            raise InputError("there is no contrast of associated words, and no row of a word")
        return self._overall.table(self.prob).iloc[1:].reset_index(drop=True)

    @cached_property
    def lists(self) -> pd.DataFrame:
        """One row a list: ``list``, ``kind``, ``asked``, ``found``, ``used``, ``n_eff``, ``missing``."""
        record, related = self.fit.data.coverage, self.fit.data.relatedness
        columns = ["list", "kind", "asked", "found", "used", "missing"]
        table = pd.DataFrame(columns=columns) if record is None else record.table()
        known = {} if related is None else related.effective_words().set_index(["list", "kind"])["effective"].to_dict()
        keys = zip(table["list"], table["kind"], strict=True)
        table.insert(5, "n_eff", pd.Series([known.get(key) for key in keys], dtype=float))
        return table

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """The checks of the draws: a row of the fit and one of the limits, a column each."""
        return self._verdict.table()

    @cached_property
    def _verdict(self) -> Verdict:
        return diagnose(self.fit.tree)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Failed checks first, then what limits the answer."""
        notes: list[Note] = [*self._verdict.faults]
        rows: tuple[Note, ...] = ()
        if any(row["quantity"] == NEW for row in self._rows):
            notes.append(Note("new words"))
        if self._far is not None:
            notes.append(Note("as far", replicates=self._far.replicates))
            notes += [note for note in self._far.notes if note.code != "coverage"]
        if self._others:
            gone = without_row(self.fit.data, self._overall.words)
            notes += left_out(len(gone), len(self.fit.data.protected_words), "words", "no row of their own", gone)
            rows = self._overall.notes
            notes += [Note("one-group")] * (self._others[0] != OTHER)
            if self._groups and equal_groups(self.fit.data):
                notes.append(Note("equalised", side="here", change="these vectors"))
        several = {note.code for note in rows} & {"several-lists"}  # how words of several lists count in the rows
        of_fit = [note for note in self._verdict.notes if note.code not in several]
        return tuple(dict.fromkeys([*notes, *of_fit, *rows]))

    @property
    def _far(self) -> TopicNull | None:
        """Random lists whose differences are those of the rows: their distances are as they were measured."""
        return None if self.fit.adjusted_for or not self._others else self.topics

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the page."""
        post, prob, balance = self.fit.tree, self.prob, self._verdict.balance
        tables = {"Contrasts": self.table()}
        if self._others:
            tables["Protected words"] = self.words
            controls = decomposable(self.fit.data)
            tables |= {f"Parts of {OWN} - {name}": decomposition(post, name, prob) for name in controls}
        if self.fit.adjusted_for and self.fit.unadjusted is not None:
            tables["Before and after the adjustment"] = adjustment(post, prob)
        tables["Lists"] = self.lists
        if balance is not None:
            tables |= {f"{name}, by {balance.attribute}": table for name, table in balance.tables().items()}
        if not self.fit.spec.own or "posterior_predictive" in post.children:
            tables["Distances within predictive intervals"] = check_predictions(post)
        if self.topics is not None:
            tables["Matched reference lists"] = self.topics.table()
        facts: dict[str, Any] = {name: post.attrs.get(name) for name in ("engine", "seed", "model_hash")}
        record = self.fit.data.coverage
        embedding: Mapping[str, Any] = {} if record is None else record.embedding
        facts |= self.fit.versions | {name: embedding.get(name) for name in ("name", "vectors", "dimensions")}
        fit = pd.DataFrame({"fact": facts.keys(), "value": map(str, facts.values())})
        return tables | {"Draws": self.diagnostics, "Fit": fit}

    def drawn_from(self) -> tuple[Any, dict[str, Any]]:
        """The fit."""
        return self.fit.tree, {"prob": self.prob}

    def pictures(self) -> dict[str, Callable[[], Any]]:
        """The figures of the page."""
        if not self._others:
            return {}
        pictures: dict[str, Callable[[], Any]] = {"Contrasts": self.figure}
        if decomposable(self.fit.data):
            from bayesbias.plots import plot_decomposition

            pictures["Parts"] = partial(plot_decomposition, self.fit.tree, prob=self.prob)
        return pictures if self.topics is None else {**pictures, "Matched reference lists": self.topics.figure}

    def sources(self) -> tuple[Any, ...]:
        """The fit, which records its model, word lists and embedding."""
        return (self.fit.tree,)


def summary(post: xr.DataTree, topics: TopicNull | None = None, prob: float = PROB) -> FitSummary:
    """The answer of a fit: are words of a group closer to their own stereotypes?

    Parameters
    ----------
    post
        A result of :func:`fit`. For its parameters use ``arviz.summary(post)``.
    topics
        The result of :func:`topic_null` for the same words and vectors, which adds a column: how many sets of reference
        lists are as far from 0.
    prob
        Posterior mass of the equal-tailed intervals.

    Returns
    -------
    FitSummary
        ``print`` and notebooks show the principal rows of ``table()``; ``words``, ``lists`` and ``diagnostics`` are
        further tables, ``figure()`` draws the contrasts, and :func:`report` writes all of it.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.summary(post).table()[["quantity", "mean"]].round(3).head(2)
                 quantity   mean
    0             overall -0.014
    1  overall, new words -0.014
    """
    result = Fit.read(post)
    if topics is not None:
        if not isinstance(topics, TopicNull):
            raise InputError(f"topics is a {type(topics).__name__}: give what topic_null returns")
        refuse_other(topics, result.data)
    return FitSummary(result, topics, probability(prob, "prob"))
