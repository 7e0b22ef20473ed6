"""What changed between embeddings, with its uncertainty."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import flag, one_of, probability
from bayesbias._core.cosine import FloatArray
from bayesbias.comparison.contrasting import GIVEN, SIMILAR
from bayesbias.comparison.decomposed import OTHER, OWN, check_parts, parts_of, tabulated
from bayesbias.comparison.paired.sentences import verdict_of
from bayesbias.diagnostics.clustering import contrasted
from bayesbias.diagnostics.intervals import PROB, describe, flat_draws
from bayesbias.errors import InputError

DISTANCE, SPREADS = "cosine distance", "spreads of control distances"
SURE = 0.945
"""Probability from which on an outcome is called: that of one side of an 89% interval."""


class Sides(NamedTuple):
    """Draws (D, 1 + words), or values, before and after: the whole list, then protected words; NaN where none."""

    before: FloatArray
    after: FloatArray
    change: FloatArray


@dataclass(frozen=True)
class Comparison:
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

    def __str__(self) -> str:
        pairs = self.posterior["observed_data"].sizes["pair"]
        return f"Comparison of {', '.join(self.embeddings)} on {pairs:,} pairs ({self.engine}). {self.verdict}"

    __repr__ = __str__

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
            Two connections (``second`` by default different, else human or neutral): the change of their contrast, the
            value after minus the value before. Or two embeddings: the contrast that :attr:`headline` names, in
            ``first`` minus in ``second``.
        prob
            Posterior mass of the highest-density intervals.
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
            Columns ``protected_word`` (pd.NA for the whole list), ``mean``, ``sd``, ``hdi_low``, ``hdi_high``,
            ``p_below_zero``; for more than one change first ``before`` and ``after``.

        Raises
        ------
        InputError
            A name that is neither a connection nor an embedding, the same one twice, or no control words.
        """
        first, second = str(first), None if second is None else str(second)
        if first in self.embeddings and second in self.embeddings and not {first, second} <= set(self.connections):
            return self._between(first, str(second), prob, standardise, paired)
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
            As in :meth:`contrasts`.

        Returns
        -------
        DataFrame
            As of :meth:`contrasts`.

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
            Columns ``protected_word``, ``group``, ``before``, ``after``, ``change`` (posterior means), ``hdi_low``,
            ``hdi_high`` (of the change), ``p_shrank`` (that the contrast is nearer to 0 after than before),
            ``p_reversed`` (that its sign is another), and ``outcome``: ``shrank`` or ``grew`` where that has a
            probability of .945 or more, ``unchanged`` where the change is exactly 0, else ``undecided``. Unless NUTS
            made the draws these probabilities are approximate: closely for the whole list, roughly for single words
            (docs/debiasing.md).
            ``observed_before`` and ``observed_after`` are the differences of mean distances of the pairs at hand (for
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
                    "hdi_low": moved["hdi_low"],
                    "hdi_high": moved["hdi_high"],
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
        self, second: str = "human", prob: float = PROB, standardise: bool = False, change: int | None = None
    ) -> pd.DataFrame:
        """The change of a contrast of associated words as the sum of two changes, as in :func:`decomposition`.

        The change of (associated - human) is that of (associated - different), special to a word's own stereotypes,
        plus that of (different - human), which stereotype words of any kind share.

        Parameters
        ----------
        second
            The control words, ``"human"`` or ``"neutral"``.
        prob, standardise, change
            As in :meth:`contrasts`.

        Returns
        -------
        DataFrame
            Three rows for the whole list, then three for each protected word with all three connections. Columns
            ``protected_word``, ``contrast``, ``mean``, ``sd``, ``hdi_low``, ``hdi_high``, ``p_below_zero``; for more
            than one change first ``before`` and ``after``.

        Raises
        ------
        InputError
            A connection that the pairs do not hold, or no control words.
        """
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        check_parts(list(self.connections), second)
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
        if (before, after) in pairs:
            return pairs.index((str(before), str(after)))
        kept = ", ".join(f"{one} to {other}" for one, other in pairs)
        raise InputError(f"before is {before!r} and after is {after!r}: the changes at hand are {kept}")

    def spreads(self) -> pd.Series:
        """The standard deviation of control distances in each embedding; NaN without control words."""
        values = self.posterior["constant_data/control_spread"]
        return pd.Series(values.to_numpy(), index=list(self.embeddings), name="control_spread")

    def observed(self, first: str, second: str | None, change: int = 0) -> Sides:
        """Mean distances at hand, or the difference of two connections', before and after: (1 + words,) each."""
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

    def _between(self, first: str, second: str, prob: float, standardise: bool, paired: bool) -> pd.DataFrame:
        if first == second:
            raise InputError(f"{first!r} is given twice: name two embeddings, of {', '.join(self.embeddings)}")
        if self.headline is None:
            raise InputError("there is no contrast of associated words to compare the embeddings by")
        forward = (second, first) in self.pairs
        number = self.pairs.index((second, first) if forward else (first, second))
        draws = self._draws_of(*self.headline, standardise, paired, [number])[number]
        label = f"{self.headline[0]} \N{MINUS SIGN} {self.headline[1]}, {first} \N{MINUS SIGN} {second}"
        return self._table({number: draws if forward else -draws}, label, prob, standardise)
