"""What else changed from one embedding to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bayesbias.comparison.contrasting import signed

SLIGHT = 0.15
"""How much better than chance a test must have been before, to say something afterwards."""
KINDS = {"protected": "protected words", "attribute": "stereotype words", "control": "control words"}


@dataclass(frozen=True)
class SideEffects:
    """What :func:`side_effects` found.

    Attributes
    ----------
    neighbours
        Means over words: ``kind`` (protected, attribute, control), ``k``, ``words``, ``kept`` (share of the k nearest
        neighbours), ``low``, ``high`` (t interval over words).
    neighbours_by_word
        ``kind``, ``word``, ``k``, ``kept``.
    controls
        Change of the mean distance of control words, after minus before: ``connection``, ``mean``, ``sd``,
        ``hdi_low``, ``hdi_high``, ``p_below_zero`` (posterior, cosine distance).
    similarity
        Spearman's correlation with the supplied scores: ``side`` (before, after, change), ``spearman``, ``low``,
        ``high`` (bootstrap over pairs), ``asked``, ``found``; empty without pairs.
    recovery
        How well the words most biased before are told apart: ``test`` (cluster, classify), ``words``, ``chance``,
        ``before``, ``before_low``, ``before_high``, ``after``, ``after_low``, ``after_high``, ``reference``,
        ``reference_low``, ``reference_high`` (random groups of words whose difference was removed: what is found of any
        direction); empty without two groups.
    prob
        Mass of all intervals.
    notes
        What was left out, and why.
    """

    neighbours: pd.DataFrame
    neighbours_by_word: pd.DataFrame
    controls: pd.DataFrame
    similarity: pd.DataFrame
    recovery: pd.DataFrame
    prob: float
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """All figures one below another: ``effect``, ``of``, ``value``, ``low``, ``high``."""
        rows = [
            (f"neighbours kept, k = {row['k']}", KINDS[row["kind"]], row["kept"], row["low"], row["high"])
            for row in self.neighbours.to_dict("records")
        ]
        rows += [
            ("change of mean distance", f"{row['connection']} words", row["mean"], row["hdi_low"], row["hdi_high"])
            for row in self.controls.to_dict("records")
        ]
        rows += [
            ("Spearman correlation with similarities", row["side"], row["spearman"], row["low"], row["high"])
            for row in self.similarity.to_dict("records")
        ]
        for row in self.recovery.to_dict("records"):
            for side in ("before", "after", "reference"):
                ends = (row[f"{side}_low"], row[f"{side}_high"])
                rows.append((f"old bias found by {_TESTS[row['test']]}", side, row[side], *ends))
        return pd.DataFrame(rows, columns=["effect", "of", "value", "low", "high"])

    @property
    def sentences(self) -> list[str]:
        """The figures in words."""
        return [*self._moved(), *self.beside_controls, *self.notes]

    @property
    def beside_controls(self) -> list[str]:
        """Neighbours, similarities and the search for the old bias in words."""
        return [*self._kept(), *self._agreement(), *self._recovered()]

    def added_to(self, parts: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """A comparison's verdict by parts, with what else broke; the distances of controls stand there already."""
        known = parts.get("Notes", [])
        notes = [*known, *(note for note in self.notes if note not in known)]
        broke = "Controls" if "Controls" in parts else "What broke"
        both = {name: told for name, told in parts.items() if name != "Notes"}
        both |= {broke: [*parts.get(broke, []), *self.beside_controls], "Notes": notes}
        return {name: sentences for name, sentences in both.items() if sentences}

    def __str__(self) -> str:
        return " ".join(self.sentences)

    __repr__ = __str__

    def _kept(self) -> list[str]:
        sentences = []
        for k, part in self.neighbours.groupby("k", sort=False):
            named = [f"{KINDS[row['kind']]} kept {_share(row)}" for row in part.to_dict("records")]
            sentences.append(f"Of their {k} nearest neighbours {', '.join(named)}.")
        return sentences

    def _moved(self) -> list[str]:
        return [
            f"The mean distance of {row['connection']} words changed by {signed(row['mean'])} "
            f"({signed(row['hdi_low'])} to {signed(row['hdi_high'])})."
            for row in self.controls.to_dict("records")
        ]

    def _agreement(self) -> list[str]:
        if self.similarity.empty:
            return []
        at = {row["side"]: row for row in self.similarity.to_dict("records")}
        change = at["change"]
        return [
            f"Spearman's correlation of cosines with the similarities supplied changed by {signed(change['spearman'])} "
            f"({signed(change['low'])} to {signed(change['high'])}), from {at['before']['spearman']:.3f} to "
            f"{at['after']['spearman']:.3f}, on {change['found']} of {change['asked']} pairs."
        ]

    def _recovered(self) -> list[str]:
        sentences = []
        for row in self.recovery.to_dict("records"):
            if row["after_low"] <= row["chance"]:
                judged = "that is no better than chance"
            elif row["before"] - row["chance"] < SLIGHT:
                judged = "it hardly found them before, so that this says little"
            elif row["after_low"] > row["reference_high"]:
                judged = "more of the old bias can be found than of any such direction"
            else:
                judged = "no more of the old bias can be found than of a meaningless direction"
            sentences.append(
                f"Of the {row['words']:,} words most biased before, {_TESTS[row['test']]} finds the side of "
                f"{_percent(row['after'])} ({_percent(row['after_low'])} to {_percent(row['after_high'])}) afterwards, "
                f"{_percent(row['before'])} before, {_percent(row['chance'])} by chance, and "
                f"{_percent(row['reference'])} ({_percent(row['reference_low'])} to {_percent(row['reference_high'])}) "
                f"of random groups whose difference was removed: {judged}."
            )
        return sentences


_TESTS = {"cluster": "k-means", "classify": "a cross-validated logistic regression"}


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"


def _share(row: dict[Any, Any]) -> str:
    """A share with its interval; that of one word has none."""
    if row["words"] < 2:
        return f"{_percent(row['kept'])} (one word)"
    return f"{_percent(row['kept'])} ({_percent(row['low'])} to {_percent(row['high'])})"
