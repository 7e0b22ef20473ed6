"""A comparison of embeddings, and what it says in sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import finite_number, flag, one_of, probability
from bayesbias._core.vectors import FloatArray
from bayesbias._results import Result
from bayesbias.comparison.contrast import (
    GIVEN,
    ONE_GROUP,
    POPULATIONS,
    SIMILAR,
    control_of_parts,
    decomposable,
    decomposition_sentence,
)
from bayesbias.diagnostics.summaries import PROB, contrasted, describe, flat_draws, share, signed
from bayesbias.distances.storage import carried_labels, labels_of
from bayesbias.errors import InputError, listed, many, shown
from bayesbias.words import OTHER, OWN, PHRASES, STEREOTYPES, controls_of, labelled

SLIGHT = 0.005
"""Size of an observed difference below which its sign says nothing."""
FINE = 0.01
"""Figures below this get two significant digits in place of three decimals."""


def verdict_of(result: Comparison, prob: float) -> dict[str, list[str]]:
    """Sentences by part: what changed, for whom, how surely, what broke (or controls), and notes."""
    broke = "What broke" if len(result.embeddings) == 2 else "Controls"
    parts: dict[str, list[str]] = {"What changed": [], "For whom": [], "How surely": [], broke: [], "Notes": []}
    if result.faults:
        parts["What changed"].append(f"These draws should not be read: {'; '.join(result.faults)}.")
    for number in range(len(result.pairs)):
        if result.headline is not None:
            first, second = result.headline
            table = result.outcomes(first, second, prob, change=number)
            parts["What changed"] += [*_headline(result, number, prob, table), *_decomposed(result, number, prob)]
            parts["For whom"] += [_words(result, number, table), *_groups(result, number, prob)]
            if second == "different":
                parts["For whom"].append(_orders(result, number, table))
            parts["How surely"] += _widths(result, number, prob, table)
        parts[broke] += _controls(result, number, prob)
    if result.headline is None and not parts[broke]:
        parts["What changed"].append("The pairs hold one kind of word only, so that there is no contrast to compare.")
    parts["Notes"] += result.notes
    return {name: sentences for name, sentences in parts.items() if sentences}


def figure(value: float) -> str:
    """A number with a proper minus sign: three decimals, or two significant digits where it is small."""
    if value == 0 or abs(value) >= FINE:
        return signed(value)
    text = np.format_float_positional(value, precision=2, fractional=False, unique=False, trim="-")
    return text.replace("-", "\N{MINUS SIGN}")


def _whole(table: pd.DataFrame) -> dict[str, Any]:
    """The whole list's row of a change."""
    return {str(name): value for name, value in table.iloc[0].items()}


def _route(result: Comparison, number: int) -> str:
    return "From {} to {}".format(*result.pair(number))


def _prefix(result: Comparison, number: int) -> str:
    """Which change a sentence speaks of, where there are several."""
    return "{} to {}: ".format(*result.pair(number)) if len(result.pairs) > 1 else ""


def _interval(row: Mapping[str, Any], prob: float) -> str:
    low, high = row["low"], row["high"]
    settled = "excludes" if low > 0 or high < 0 else "includes"
    return f"{100 * prob:g}% interval {figure(low)} to {figure(high)}, which {settled} 0"


def _headline(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The whole list's contrast, in either unit."""
    first, second = table.attrs["first"], table.attrs["second"]
    row = _whole(table)
    what = (
        f"{_route(result, number)} the contrast {first} \N{MINUS SIGN} {labelled(second, result.labels)} of the whole "
        f"list, for "
        f"{POPULATIONS[result.population]} (negative: {first} words are closer),"
    )
    if row["outcome"] == "unchanged":
        return [f"{what} did not change: it is {figure(row['after'])}."]
    part = f", {100 * abs(row['change'] / row['before']):.0f}% of its size" if abs(row["before"]) > FINE else ""
    sentences = [
        f"{what} went from {signed(row['before'])} to {signed(row['after'])}, a change of {figure(row['change'])}"
        f"{part} ({_interval(row, prob)}). Probability that it came nearer to 0: {share(row['p_shrank'])}; that its "
        f"sign reversed: {share(row['p_reversed'])}."
    ]
    return sentences + _scale(result, number, prob, table)


def _decomposed(result: Comparison, number: int, prob: float) -> list[str]:
    """How much of the change is special to a word's own stereotypes; nothing without control words."""
    if "different" not in result.connections:
        return [ONE_GROUP]
    controls = decomposable(result.filled, list(result.connections))
    if not controls:
        return []
    table = result.decomposition(controls[0], prob, change=number)
    return [_prefix(result, number) + decomposition_sentence(table, "the change of ", figure)]


def _scale(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The same in spreads of control distances, and whether that says something else."""
    spreads = result.spreads()
    names = list(result.pair(number))
    if spreads[names].isna().any():
        return ["There are too few control words to take out differences of scale."]
    row = _whole(result.outcomes(table.attrs["first"], table.attrs["second"], prob, standardise=True, change=number))
    listed = ", ".join(f"{name} {spreads[name]:.3f}" for name in names)
    sentence = (
        f"In spreads of control distances ({listed}), which takes out differences of scale, it changed by "
        f"{figure(row['change'])} ({_interval(row, prob)}); probability that it came nearer to 0: "
        f"{share(row['p_shrank'])}."
    )
    if row["outcome"] != _whole(table)["outcome"]:
        sentence += " The two disagree, so that the change is, at least in part, one of scale."
    return [sentence]


def _words(result: Comparison, number: int, table: pd.DataFrame) -> str:
    part = table.iloc[1:]
    counted = {name: part.loc[part["outcome"] == name, "protected_word"].tolist() for name in ("shrank", "grew")}
    same = int((part["outcome"] == "unchanged").sum())
    left = len(part) - same - sum(map(len, counted.values()))
    nearer = int((part["observed_after"].abs() < part["observed_before"].abs()).sum())
    sentence = (
        f"{_prefix(result, number)}Of {many(len(part), 'protected word')} the contrast surely came nearer to 0 for "
        f"{_counted(counted['shrank'])}, surely moved away from 0 for {_counted(counted['grew'])}, and is undecided "
        f"for {left}"
    )
    sentence += f"; {same} did not change" if same else ""
    return f"{sentence}. In the observed pairs it came nearer to 0 for {nearer}."


def _groups(result: Comparison, number: int, prob: float) -> list[str]:
    """Groups whose contrasts have opposite signs afterwards, so that the mean over all words hides both."""
    if result.headline is None:
        return []
    after = result.sides(*result.headline, number).after[:, 1:]
    groups = result.posterior["constant_data/group"].to_numpy()
    held = ~np.isnan(after).any(axis=0)
    names = [str(name) for name in dict.fromkeys(groups[held].tolist()) if name]
    draws = (
        np.column_stack([after[:, held & (groups == name)].mean(axis=1) for name in names]) if names else after[:, :0]
    )
    if draws.shape[1] < 2:
        return []
    found = describe(draws, prob)
    whole = abs(float(result.sides(*result.headline, number).after[:, 0].mean()))
    if not found["mean"].min() < -max(whole, SLIGHT) < max(whole, SLIGHT) < found["mean"].max():
        return []
    told = [
        f"{name} {figure(mean)} ({figure(low)} to {figure(high)})"
        for name, mean, low, high in zip(names, found["mean"], found["low"], found["high"], strict=True)
    ]
    return [
        f"{_prefix(result, number)}In {result.pair(number)[1]} the contrast of the groups differs in sign, "
        f"{', '.join(told)}: in the mean of the whole list they cancel."
    ]


def _orders(result: Comparison, number: int, table: pd.DataFrame) -> str:
    part = table.iloc[1:]
    clear = (part["observed_before"].abs() >= SLIGHT) & (part["observed_after"].abs() >= SLIGHT)
    turned = part[clear & (part["observed_before"] * part["observed_after"] < 0)]
    turned = turned.sort_values("p_reversed", ascending=False)
    sentence = (
        f"{_prefix(result, number)}In this sample the order of associated and different words, where they are apart by "
        f"{SLIGHT} or more, reversed for "
    )
    if turned.empty:
        return f"{sentence}no protected word."
    named = [f"{word} ({share(p)})" for word, p in zip(turned["protected_word"], turned["p_reversed"], strict=True)]
    return (
        f"{sentence}{len(turned)} of {len(part)}; in brackets the probability that it did for words of their kind: "
        f"{listed(named)}."
    )


def _controls(result: Comparison, number: int, prob: float) -> list[str]:
    sentences = []
    for name in controls_of(result.connections):
        row = _whole(result.changes(name, prob=prob, change=number))
        phrase = labelled(name, result.labels, PHRASES)
        what = f"{_route(result, number)} mean distances to {phrase} changed by {figure(row['mean'])}"
        sentences.append(f"{what}, exactly." if row["sd"] == 0 else f"{what} ({_interval(row, prob)}).")
    return sentences


def _widths(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    separate = result.changes(prob=prob, paired=False, change=number)
    widths = [row["high"] - row["low"] for row in map(_whole, (table, separate))]
    if widths[0] == 0:
        return [f"{_prefix(result, number)}The change is known exactly, in cosine distance."]
    return [
        f"{_prefix(result, number)}Since the same pairs were measured, the interval of the change is "
        f"{figure(widths[0])} wide (cosine distance); two separate fits would leave {figure(widths[1])}."
    ]


def _counted(words: list[str]) -> str:
    return f"{len(words)} ({listed(words)})" if words else "0"


DISTANCE, SPREADS = "cosine distance", "spreads of control distances"
SURE = 0.945
"""Probability from which on an outcome is called: that of one side of an 89% interval."""


class Sides(NamedTuple):
    """Draws (D, 1 + words), or values, before and after: the whole list, then protected words; NaN where none."""

    before: FloatArray
    after: FloatArray
    change: FloatArray


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The same pairs in several embeddings: what :func:`compare` returns.

    A contrast is the mean distance of one connection minus that of another, in one embedding; by default associated -
    different. A change is its value after minus its value before, draw by draw, so that what both embeddings share
    cancels.

    Attributes
    ----------
    posterior
        ArviZ groups. ``posterior``: ``connection_mean`` (embedding, connection), ``word_mean`` (embedding,
        protected_word, connection), ``connection_change`` (change, connection), ``word_change`` (change,
        protected_word, connection), and the scales of the changes, ``change_connection_sd``, ``change_sigma`` (change,
        connection), ``change_attribute_sd`` (change, attribute_class), ``change_interaction_sd`` (change). NUTS adds
        ``connection_covariance``, ``residual_covariance``, ``attribute_covariance`` and ``interaction_covariance``
        (..., embedding, embedding_other). ``paired``: ``connection_before`` and ``word_before``, what each change
        starts from. With more than two embeddings levels are those of the first, and what changed from it; differences
        of two others must be read from the changes. ``observed_data``: ``distance`` (pair, embedding).
        ``constant_data``: the pairs, ``n`` of each cell, and ``control_spread`` (embedding), the sd of the distances of
        control words (NaN for fewer than ten). A change is named ``"before → after"``. ``save_fit`` and ``load_fit``
        keep the tree on disk, and ``Comparison(tree)`` is the comparison again.
    """

    posterior: xr.DataTree

    @property
    def embeddings(self) -> tuple[str, ...]:
        """Names, in the order given."""
        return tuple(self.posterior["posterior"]["embedding"].to_numpy().tolist())

    @property
    def connections(self) -> tuple[str, ...]:
        """Connections that the pairs hold."""
        return tuple(self.posterior["posterior"]["connection"].to_numpy().tolist())

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The two embeddings of each change, in the order of the posterior's ``change``."""
        return [self.pair(number) for number in range(self.posterior["posterior"].sizes["change"])]

    @property
    def engine(self) -> str:
        """``"marginal"`` or another engine for differences, ``"nuts"`` for all embeddings at once."""
        return str(self.posterior.attrs["engine"])

    @property
    def labels(self) -> dict[str, str]:
        """Control list to what it is called, where it has a label."""
        return labels_of(self.posterior)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the draws should not be read; empty if they can be."""
        return tuple(json.loads(self.posterior.attrs["faults"]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, replaced or taken as known."""
        return tuple(json.loads(self.posterior.attrs["notes"]))

    @property
    def population(self) -> str:
        """What whole-list results speak about, ``"given"`` or ``"similar"``, as in :func:`contrasts`."""
        return str(self.posterior.attrs.get("population", SIMILAR))

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which protected words have which connections (J, K)."""
        some: NDArray[np.bool_] = self.posterior["constant_data/n"].to_numpy() > 0
        return some

    @property
    def headline(self) -> tuple[str, str] | None:
        """The two connections of the contrast that is shown where none is asked for; None without one."""
        if "associated" not in self.connections or len(self.connections) < 2:
            return None
        return contrasted("associated", None, list(self.connections), self.filled)

    @property
    def verdict(self) -> str:
        """What changed, for whom, how surely, and what changed beside it, in sentences."""
        return " ".join(self.sentences())

    def sentences(self, prob: float = PROB) -> list[str]:
        """The verdict as a list of sentences, with intervals of that posterior mass."""
        return [sentence for part in self.parts(prob).values() for sentence in part]

    def parts(self, prob: float = PROB) -> dict[str, list[str]]:
        """The verdict by what it speaks of: what changed, for whom, how surely, what broke, notes."""
        return verdict_of(self, probability(prob, "prob"))

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """What became of every contrast with associated words, or of every connection's mean where there is none.

        Columns of :meth:`outcomes` (or of :meth:`changes`) and ``of``, which names the contrast or the connection.
        """
        if self.headline is None:
            pieces = [self.changes(name, prob=prob).assign(of=name) for name in self.connections]
        else:
            others = [name for name in self.connections if name != "associated"]
            pieces = [self.outcomes("associated", name, prob).assign(of=f"associated - {name}") for name in others]
        return pd.concat(pieces, ignore_index=True)

    def text(self) -> str:
        """The result in sentences."""
        pairs = self.posterior["observed_data"].sizes["pair"]
        return f"Comparison of {', '.join(self.embeddings)} on {pairs:,} pairs ({self.engine}). {self.verdict}"

    def contrasts(
        self,
        first: str = "associated",
        second: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        paired: bool = True,
        change: int | None = None,
    ) -> pd.DataFrame:
        """The change of a contrast, for the whole list and for each protected word.

        Parameters
        ----------
        first, second
            Two connections (``second`` by default different, or a control list): the change of their contrast, the
            value after minus the value before. :meth:`between` compares two embeddings.
        prob
            Posterior mass of the equal-tailed intervals.
        standardise
            Divide the contrast in each embedding by the spread of its control distances (their standard deviation), so
            that embeddings whose cosines differ in scale can be compared. ``attrs["unit"]`` says which is shown.
        paired
            False takes the two embeddings for independent, as two separate fits do; for comparison only.
        change
            The place of one change among :attr:`pairs`; None takes all.

        Returns
        -------
        DataFrame
            Columns ``protected_word`` (pd.NA for the whole list), ``mean``, ``sd``, ``low``, ``high``,
            ``p_below_zero``; for more than one change first ``before`` and ``after``.

        Raises
        ------
        InputError
            A name that is no connection, the same one twice, or no control words.
        """
        if first in self.embeddings and second in self.embeddings and not {first, second} <= set(self.connections):
            raise InputError(f"{first!r} and {second!r} are embeddings: between({first!r}, {second!r}) compares them")
        first, second = contrasted(first, second, list(self.connections), self.filled)
        label = f"{first} \N{MINUS SIGN} {second}"
        draws = self._draws_of(first, second, standardise, paired, self._chosen(change))
        return self._table(draws, label, prob, standardise)

    def changes(
        self,
        connection: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        paired: bool = True,
        change: int | None = None,
    ) -> pd.DataFrame:
        """What changed: the headline contrast, or the mean distance of one connection.

        Parameters
        ----------
        connection
            None takes the contrast that :attr:`headline` names; ``"associated"``, ``"human"``, ... the mean distance
            to those words: the change of control words is a side effect.
        prob, standardise, paired, change
            As in :meth:`contrasts`, which says what is returned too.

        Raises
        ------
        InputError
            A connection that is not there; no headline contrast and no connection asked for.
        """
        if connection is None:
            if self.headline is None:
                raise InputError(
                    f"there is no contrast of associated words: name a connection, one of {', '.join(self.connections)}"
                )
            return self.contrasts(*self.headline, prob, standardise, paired, change)
        one_of(connection, self.connections, "connection")
        draws = self._draws_of(connection, None, standardise, paired, self._chosen(change))
        return self._table(draws, connection, prob, standardise)

    def outcomes(
        self,
        first: str = "associated",
        second: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        change: int | None = None,
    ) -> pd.DataFrame:
        """What became of a contrast, for the whole list and for each protected word.

        Parameters
        ----------
        first, second
            Two connections, as in :meth:`contrasts`. With ``"associated", "different"`` a reversal is a change of
            their order.
        prob, standardise, change
            As in :meth:`contrasts`; what is observed stays in cosine distance.

        Returns
        -------
        DataFrame
            Columns ``protected_word``, ``group``, ``before``, ``after``, ``change`` (posterior means), ``low``,
            ``high`` (of the change), ``p_shrank`` (that the contrast is nearer to 0 after than before),
            ``p_reversed`` (that its sign is another), and ``outcome``: ``shrank`` or ``grew`` where that has a
            probability of .945 or more, ``unchanged`` where the change is exactly 0, else ``undecided``. Unless NUTS
            made the draws these probabilities are approximate: closely for the whole list, roughly for single words
            (docs/debiasing.md).
            ``observed_before`` and ``observed_after`` are the differences of mean distances of the observed pairs (for
            the whole list their mean over protected words): what became of these attribute words, where the posterior
            speaks of words of their kind. For more than one change first ``before_embedding`` and ``after_embedding``.
        """
        first, second = contrasted(first, second, list(self.connections), self.filled)
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        groups = [pd.NA, *self.posterior["constant_data/group"].to_numpy().tolist()]
        pieces = {}
        for number in self._chosen(change):
            sides = self.sides(first, second, number, standardise)
            kept = ~np.isnan(sides.before).any(axis=0)
            before, after = sides.before[:, kept], sides.after[:, kept]
            shrank = (np.abs(after) < np.abs(before)).mean(axis=0)
            grew = (np.abs(after) > np.abs(before)).mean(axis=0)
            same = (sides.change[:, kept] == 0).all(axis=0)
            moved = describe(sides.change[:, kept], prob)
            observed = self.observed(first, second, number)
            outcome = np.select(
                [same, shrank >= SURE, grew >= SURE], ["unchanged", "shrank", "grew"], default="undecided"
            )
            pieces[number] = pd.DataFrame(
                {
                    "protected_word": pd.array(self._names[kept], dtype="string"),
                    "group": pd.array(np.array(groups, dtype=object)[kept], dtype="string"),
                    "before": before.mean(axis=0),
                    "after": after.mean(axis=0),
                    "change": moved["mean"],
                    "low": moved["low"],
                    "high": moved["high"],
                    "p_shrank": shrank,
                    "p_reversed": (np.sign(after) != np.sign(before)).mean(axis=0),
                    "outcome": outcome,
                    "observed_before": observed.before[kept],
                    "observed_after": observed.after[kept],
                }
            )
        table = self._joined(pieces, ("before_embedding", "after_embedding"))
        table.attrs = {"first": first, "second": second, "prob": prob, "unit": SPREADS if standardise else DISTANCE}
        return table

    def decomposition(
        self, second: str | None = None, prob: float = PROB, standardise: bool = False, change: int | None = None
    ) -> pd.DataFrame:
        """The change of a contrast of associated words as the sum of two changes, as in :func:`decomposition`.

        The change of (associated - human) is that of (associated - different), special to a word's own stereotypes,
        plus that of (different - human), which stereotype words of any kind share.

        Parameters
        ----------
        second
            The control list; by default human, or else the first that the pairs have.
        prob, standardise, change
            As in :meth:`contrasts`.

        Returns
        -------
        DataFrame
            Three rows for the whole list, then three for each protected word with all three connections. Columns
            ``protected_word``, ``contrast``, ``mean``, ``sd``, ``low``, ``high``, ``p_below_zero``; for more
            than one change first ``before`` and ``after``.

        Raises
        ------
        InputError
            A connection that the pairs do not hold, or no control words.
        """
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        second = control_of_parts(list(self.connections), second)
        pieces, left_out = {}, []
        for number in self._chosen(change):
            means = [self.sides(name, None, number, standardise).change for name in (OWN, OTHER, second)]
            stacked = np.stack(means, axis=-1)
            whole = None if self.population == GIVEN else stacked[:, 0]
            parts = parts_of(stacked[:, 1:], whole, second)
            left_out += self._names[1:][~parts.kept].tolist()
            pieces[number] = tabulated(parts, self._names[1:], prob)
        table = self._joined(pieces, ("before", "after"))
        table.attrs = {
            "second": second,
            "prob": prob,
            "population": self.population,
            "unit": SPREADS if standardise else DISTANCE,
            "left_out": list(dict.fromkeys(left_out)),
            **carried_labels(self.posterior),
        }
        return table

    def sides(self, first: str, second: str | None, change: int = 0, standardise: bool = False) -> Sides:
        """Draws of a contrast, or of a connection's mean, before and after a change, by its place among all."""
        posterior, paired = (self.posterior[group].to_dataset() for group in ("posterior", "paired"))
        at = [self.connections.index(name) for name in (first, second) if name is not None]

        def of(whole: xr.DataArray, words: xr.DataArray) -> FloatArray:
            both = [flat_draws(values.to_numpy()[:, :, change]) for values in (whole, words)]
            stacked = np.concatenate([both[0][:, None, :], both[1]], axis=1)
            value: FloatArray = stacked[..., at[0]] - (stacked[..., at[1]] if second is not None else 0.0)
            return value

        before = of(paired["connection_before"], paired["word_before"])
        moved = of(posterior["connection_change"], posterior["word_change"])
        after = before + moved
        if not standardise:
            return Sides(before, after, moved)
        spreads = self.spreads()
        if spreads.isna().any():
            raise InputError("there are too few control distances to measure a spread by: pass standardise=False")
        one, other = (spreads[name] for name in self.pair(change))
        centre = 1.0 if second is None else 0.0  # a mean distance is seen from 1, a contrast from 0
        before, after = (before - centre) / one, (after - centre) / other
        return Sides(before, after, after - before)

    def place(self, before: str | None = None, after: str | None = None) -> int:
        """The place of a change among all, by its two embeddings; with two embeddings it need not be named.

        Raises
        ------
        InputError
            No such change, or more than one and none named.
        """
        pairs = self.pairs
        if before is None and after is None and len(pairs) == 1:
            return 0
        if isinstance(before, str) and isinstance(after, str) and (before, after) in pairs:
            return pairs.index((before, after))
        kept = ", ".join(f"{one} to {other}" for one, other in pairs)
        raise InputError(f"before is {shown(before)} and after is {shown(after)}: the changes are {kept}")

    def spreads(self) -> pd.Series:
        """The standard deviation of control distances in each embedding; NaN without control words."""
        values = self.posterior["constant_data/control_spread"]
        return pd.Series(values.to_numpy(), index=list(self.embeddings), name="control_spread")

    def observed(self, first: str, second: str | None, change: int = 0) -> Sides:
        """Observed mean distances, or the difference of two connections', before and after: (1 + words,) each."""
        constant = self.posterior["constant_data"].to_dataset()
        distance = self.posterior["observed_data/distance"].to_numpy()
        n = constant["n"].to_numpy()
        at = np.ravel_multi_index((constant["word_index"].to_numpy(), constant["connection_index"].to_numpy()), n.shape)
        found = []
        for name in self.pair(change):
            column = distance[:, self.embeddings.index(name)]
            total = np.bincount(at, weights=column, minlength=n.size).reshape(n.shape)
            mean = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
            apart = mean[:, self.connections.index(first)]
            if second is not None:
                apart = apart - mean[:, self.connections.index(second)]
            found.append(np.r_[np.nanmean(apart), apart] if not np.isnan(apart).all() else np.full(1 + len(n), np.nan))
        before, after = found
        return Sides(before, after, after - before)

    @property
    def _names(self) -> np.ndarray:
        words = self.posterior["posterior"]["protected_word"].to_numpy().tolist()
        return np.array([pd.NA, *words], dtype=object)

    def _chosen(self, change: int | None) -> Sequence[int]:
        """Places of the changes asked for."""
        every = range(len(self.pairs))
        return every if change is None else every[change : change + 1]

    def _draws_of(
        self, first: str, second: str | None, standardise: bool, paired: bool, chosen: Sequence[int]
    ) -> dict[int, FloatArray]:
        """Draws (D, 1 + words) of some changes, by their places."""
        standardise, paired = flag(standardise, "standardise"), flag(paired, "paired")
        found = {}
        for number in chosen:
            sides = self.sides(first, second, number, standardise)
            found[number] = sides.change
            if not paired:
                rng = np.random.default_rng([int(self.posterior.attrs["seed"]), number])
                found[number] = sides.after - rng.permutation(sides.before, axis=0)
        return found

    def _table(self, draws: Mapping[int, FloatArray], label: str, prob: float, standardise: bool) -> pd.DataFrame:
        prob = probability(prob, "prob")
        pieces, left_out = {}, []
        for number, values in draws.items():
            kept = ~np.isnan(values).any(axis=0)
            left_out += self._names[~kept].tolist()
            piece = pd.DataFrame({"protected_word": pd.array(self._names[kept], dtype="string")})
            below = (values[:, kept] < 0).mean(axis=0)
            pieces[number] = piece.assign(**describe(values[:, kept], prob), p_below_zero=below)
        table = self._joined(pieces, ("before", "after"))
        table.attrs = {
            "of": label,
            "prob": prob,
            "unit": SPREADS if standardise else DISTANCE,
            "left_out": list(dict.fromkeys(left_out)),
        }
        return table

    def _joined(self, pieces: Mapping[int, pd.DataFrame], columns: tuple[str, str]) -> pd.DataFrame:
        """Tables of changes one below another, with the two embeddings in front where there are several."""
        if len(pieces) > 1:
            for number, piece in pieces.items():
                for at, (column, name) in enumerate(zip(columns, self.pair(number), strict=True)):
                    piece.insert(at, column, name)
        return pd.concat(pieces.values(), ignore_index=True)

    def pair(self, number: int) -> tuple[str, str]:
        """The two embeddings of a change, by its place among all."""
        places = self.posterior["paired"]
        before, after = (int(places[side].to_numpy()[number]) for side in ("before_index", "after_index"))
        return self.embeddings[before], self.embeddings[after]

    def between(
        self, first: str, second: str, prob: float = PROB, standardise: bool = False, paired: bool = True
    ) -> pd.DataFrame:
        """The contrast that :attr:`headline` names in one embedding minus that in another.

        Parameters
        ----------
        first, second
            Two of the embeddings.
        prob, standardise, paired
            As in :meth:`contrasts`, which says what is returned too.

        Raises
        ------
        InputError
            A name that is no embedding, the same one twice, or no contrast of associated words.
        """
        for name in (first, second):
            one_of(name, self.embeddings, "an embedding")
        if first == second:
            raise InputError(f"{first!r} is given twice: name two embeddings, of {', '.join(self.embeddings)}")
        if self.headline is None:
            raise InputError("there is no contrast of associated words to compare the embeddings by")
        forward = (second, first) in self.pairs
        number = self.pairs.index((second, first) if forward else (first, second))
        draws = self._draws_of(*self.headline, standardise, paired, [number])[number]
        label = f"{self.headline[0]} \N{MINUS SIGN} {self.headline[1]}, {first} \N{MINUS SIGN} {second}"
        return self._table({number: draws if forward else -draws}, label, prob, standardise)


def similarity_shift(
    result: Comparison, mac: float | None = None, before: str | None = None, after: str | None = None
) -> pd.DataFrame:
    """How many cosine similarities lie within 0 plus or minus 1 - MAC, before and after.

    The study takes 1 - MAC, which the authors of MAC held to be a sign of bias, as a yardstick of what words without a
    bias do.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    mac
        The mean average cosine distance; None takes that of the pairs before, over protected words and stereotype
        lists.
    before, after
        Two of the embeddings, where there are more than two.

    Returns
    -------
    DataFrame
        One row a connection: ``connection``, ``n`` (pairs), ``before``, ``after`` (shares within the limit).
        ``attrs["mac"]`` and ``attrs["limit"]`` are the yardstick.

    Raises
    ------
    InputError
        There are no stereotype words to take MAC of, or a MAC outside [0, 2].

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2), figures 15 to 17. https://doi.org/10.1162/coli_a_00507

    Examples
    --------
    >>> kv = bb.load_embedding("google-news-slice")
    >>> debiased = bb.debias(kv, "project", definitional=[("he", "she"), ("man", "woman")])
    >>> before, after = (bb.distance_table(one, "weat7", relatedness=False) for one in (kv, debiased))
    >>> result = bb.compare(before=before, after=after, seed=0)
    >>> bb.checks.similarity_shift(result)["connection"].tolist()
    ['associated', 'different', 'human', 'neutral']
    """
    if not isinstance(result, Comparison):
        raise InputError(f"given is {type(result).__name__}: similarity_shift takes what compare returns")
    pairs = paired_distances(result, before, after)
    if mac is None:
        own = pairs[pairs["connection"].isin(STEREOTYPES)]
        if own.empty:
            raise InputError("there are no stereotype words to take MAC of: pass mac=")
        mac = float(own.groupby(["protected_word", "attribute_class"])["before"].mean().mean())
    elif not 0 <= finite_number(mac, "mac") <= 2:
        raise InputError(f"mac is {mac!r}: give a mean cosine distance, from 0 to 2")
    limit = abs(1 - mac)
    inside = pairs.assign(**{side: (1 - pairs[side]).abs() < limit for side in ("before", "after")})
    by = inside.groupby("connection", sort=False)
    table = by.agg(n=("before", "size"), before=("before", "mean"), after=("after", "mean"))
    table = table.reindex([name for name in result.connections if name in table.index]).reset_index()
    table.attrs = {"mac": mac, "limit": limit}
    return table


def paired_distances(result: Comparison, before: str | None = None, after: str | None = None) -> pd.DataFrame:
    """The pairs of a comparison: ``protected_word``, ``attribute_class``, ``connection``, ``before``, ``after``."""
    names = result.pair(result.place(before, after))
    constant = result.posterior["constant_data"].to_dataset()
    distance = result.posterior["observed_data/distance"]
    return pd.DataFrame(
        {
            "protected_word": constant["protected_word"].to_numpy()[constant["word_index"].to_numpy()],
            "attribute_class": constant["attribute_class"].to_numpy(),
            "connection": np.array(result.connections)[constant["connection_index"].to_numpy()],
            "before": distance.sel(embedding=names[0]).to_numpy(),
            "after": distance.sel(embedding=names[1]).to_numpy(),
        }
    )
