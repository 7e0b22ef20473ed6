"""A comparison of embeddings, and what it says in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from bayesbias._support.arguments import finite_number, flag, one_of, probability, whole_number
from bayesbias._support.phrases import IN_SDS, MINUS
from bayesbias._support.results import Page, Result, Section
from bayesbias.checks.summaries import PROB, contrasted, flat_draws
from bayesbias.comparison.change_draws import related_changes, with_draws
from bayesbias.comparison.change_report import front_of, route, sections_of, verdict_of, whole_lists_of
from bayesbias.comparison.sides import (
    MEANINGS,
    ROWS,
    BeforeAfter,
    drawn_sides,
    fixed_values,
    known_changes,
    related_sides,
    side_weights,
)
from bayesbias.contrast.associations import (
    ONE_GROUP,
    PARTS_OF_WHOLE,
    POPULATIONS,
    SIMILAR,
    control_of_parts,
    decomposable,
)
from bayesbias.distances.covariances import relatedness_in_fit
from bayesbias.distances.distances import Distances, stacked_tables
from bayesbias.distances.list_coverage import COSINE, carried_labels
from bayesbias.errors import InputError, in_words, listed, shown
from bayesbias.estimates import Estimates
from bayesbias.models.families import family_of
from bayesbias.models.functionals import Fields, cell_fields
from bayesbias.models.layout import PAIRED, check_comparison, check_records
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    Cells,
    Sums,
    cells_of,
    decomposition_sums,
    left_out,
    list_sums,
    row_sums,
    why_no_association,
)
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.vectors.lookup import distance_sd
from bayesbias.words import OTHER, OWN, STEREOTYPES, WHOLE, controls_of, labelled

if TYPE_CHECKING:
    from bayesbias.comparison.effects import SideEffects


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The same pairs in several embeddings: what :func:`compare` returns.

    A contrast is by default associated - different, whose rows of words are associations as in :func:`contrasts`, not
    pooled. A change is the value after minus the value before, so that what both embeddings share cancels. For the
    model of related words all figures are exact and do not depend on the draws.

    Attributes
    ----------
    tree
        ArviZ groups without draws of related words, else :attr:`posterior`. ``Comparison(tree)`` is the comparison
        again, of either.
    posterior
        ArviZ groups, with draws. ``posterior``: ``connection_mean`` (embedding, connection), ``word_mean`` (embedding,
        protected_word, connection), ``connection_change`` (change, connection), ``word_change`` (change,
        protected_word, connection), and the scales of the changes, ``change_connection_sd``, ``change_sigma`` (change,
        connection), ``change_attribute_sd`` (change, attribute_class), ``change_interaction_sd`` (change). ``paired``:
        ``connection_before`` and ``word_before``, what each change starts from; with more than two embeddings levels
        are those of the first, and what changed from it to each other one. ``observed_data``: ``distance`` (pair,
        embedding). ``constant_data``: the pairs, and ``n`` of each cell. ``relatedness``: where figures are exact.
        A change is named ``"before → after"``. ``save_fit`` and ``load_fit`` keep the tree on disk.
    """

    picture: ClassVar[str] = "plot_change"

    tree: xr.DataTree

    def __post_init__(self) -> None:
        """Refuse a tree that is no comparison, or a damaged one."""
        if not isinstance(self.tree, xr.DataTree) or PAIRED not in self.tree.children:
            raise InputError(f"the tree is {shown(self.tree)}: give that of a comparison, as compare returns it")
        try:
            check_records(self.tree.attrs)
            one_of(self.population, tuple(POPULATIONS), "the attribute population")
            check_comparison(self.tree, Fit(self.tree).spec)
            related = relatedness_in_fit(self.tree)
            lost = set() if related is None else {*self.data.attribute_words.tolist()} - {*related.attribute_words}
            if lost:
                raise InputError(f"its relatedness does not know {listed(sorted(lost))}")
        except InputError as error:
            raise InputError(f"the tree is a damaged comparison: {error}; give it as compare returns it") from error

    @cached_property
    def posterior(self) -> xr.DataTree:
        """The tree with its draws, which are made when they are first asked for."""
        if "posterior" in self.tree.children or self.stacked is None:
            return self.tree
        result, size = Fit(self.tree), (int(self.tree.attrs["chains"]), int(self.tree.attrs["draws"]))
        return with_draws(
            self.tree, self.data, related_changes(result.spec, self.data, self.stacked, size, result.seed)
        )

    @property
    def embeddings(self) -> tuple[str, ...]:
        """Names, in the order given."""
        return tuple(self.tree["observed_data"]["embedding"].to_numpy().tolist())

    @property
    def connections(self) -> tuple[str, ...]:
        """Connections that the pairs hold."""
        return tuple(self.tree["constant_data"]["connection"].to_numpy().tolist())

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The two embeddings of each change, in the order of the posterior's ``change``."""
        return [self.pair(number) for number in range(self.tree["paired"].sizes["change"])]

    @property
    def engine(self) -> str:
        """``"exact"`` for related words, that of the fits of differences otherwise."""
        return str(self.tree.attrs["engine"])

    @property
    def labels(self) -> dict[str, str]:
        """Control list to what it is called, where it has a label."""
        return {name: label for record in self.coverage.values() for name, label in record.get("labels", {}).items()}

    @property
    def coverage(self) -> dict[str, dict[str, Any]]:
        """Embedding to the record of how the word lists met it, where there is one."""
        records = Fit(self.tree).fact("coverage") or {}
        return {name: record for name, record in records.items() if record}

    @property
    def faults(self) -> tuple[str, ...]:
        """Reasons not to read the draws; empty if there are none."""
        return tuple(Fit(self.tree).fact("faults"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was left out, replaced or taken as known."""
        return tuple(Fit(self.tree).notes)

    @property
    def population(self) -> str:
        """Population of whole-list results, ``"given"`` or ``"similar"``, as in :func:`contrasts`."""
        return str(self.tree.attrs.get("population", SIMILAR))

    @cached_property
    def data(self) -> Distances:
        """The pairs, with the distances of the first embedding."""
        every = Fit(self.tree).data
        return replace(every, y=self.distances[:, 0], relatedness=None, coverage=None, moved="")

    @property
    def distances(self) -> FloatArray:
        """Distances (pairs, embeddings)."""
        return np.asarray(self.tree["observed_data/distance"])

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The cells of each embedding."""
        return tuple(cells_of(replace(self.data, y=column)) for column in self.distances.T)

    @cached_property
    def stacked(self) -> Distances | None:
        """The pairs of all embeddings with how their words are related; None where figures are drawn."""
        related = relatedness_in_fit(self.tree)
        if related is None:
            return None
        return stacked_tables([replace(self.data, y=column) for column in self.distances.T], related)

    @cached_property
    def joint(self) -> Fields | None:
        """The law of the mean distances (embedding, protected word, column) of all embeddings; None where drawn."""
        every = self.stacked
        return None if every is None else cell_fields(Fit(self.tree).spec, every, cells_of(every))

    @cached_property
    def estimates(self) -> Estimates:
        """Mean distances before and after each change, and what changed, to make contrasts of one's own.

        They are labelled by ``change`` (``"before → after"``), ``value`` (``"before"``, ``"after"`` or ``"change"``),
        and as those of :func:`cell_estimates`. All have one joint posterior; where changes are drawn, only those of a
        comparison of two embeddings have one.
        """
        sums, pieces = list_sums(self.data, self.cells[0]), []
        if self.joint is None and len(self.pairs) > 1:
            raise InputError(
                f"{len(self.pairs)} changes are drawn one by one and have no joint posterior: compare two embeddings"
            )
        for number, label in enumerate(self.tree["paired/change"].to_numpy().tolist()):
            if self.joint is None:
                before, change = drawn_sides(self.cells[0], sums, self._word_draws(number))
            else:
                places = self._places(number)
                weights, known = side_weights(self.joint, sums.parts, places, self._known(places))
                every = Estimates.of(self.joint, len(self.joint.mean))
                before, change = (every.combine(each, sums.index) for each in weights)
                change += known
            for value, parts in (("before", before), ("after", before + change), ("change", change)):
                first = pd.DataFrame({"change": label, "value": value}, index=parts.index.index, dtype="string")
                pieces.append(replace(parts, index=pd.concat([first, parts.index], axis=1)))
        return pieces[0].join(*pieces[1:])

    @property
    def unrelated(self) -> bool:
        """True if the model takes different words for unrelated."""
        return not family_of(Fit(self.tree).spec).needs_relatedness

    @property
    def filled(self) -> NDArray[np.bool_]:
        """True where a protected word has a connection, (J, K)."""
        return np.asarray(self.tree["constant_data/n"]) > 0

    @property
    def decomposable(self) -> list[str]:
        """Control lists whose contrast with associated words has a decomposition."""
        if why_no_association(self.data, self.cells[0]):
            return []
        return decomposable(self.filled, list(self.connections))

    def debiasing(self, name: str) -> str:
        """Sentence by :func:`debias` on what it did to an embedding; empty for others."""
        one_of(name, self.embeddings, "an embedding")
        return str((self.coverage.get(name, {}).get("embedding") or {}).get("debiasing") or "")

    @property
    def headline(self) -> tuple[str, str] | None:
        """The two connections of the contrast that is shown where none is asked for; None without one."""
        if OWN not in self.connections or len(self.connections) < 2:
            return None
        return contrasted(OWN, None, list(self.connections), self.filled)

    @property
    def verdict(self) -> str:
        """Sentences on what changed, for whom, how certain that is, and what changed beside it."""
        return " ".join(self.sentences())

    def sentences(self, prob: float = PROB) -> list[str]:
        """The verdict as a list of sentences, with intervals of that posterior mass."""
        return [sentence for part in self.parts(prob).values() for sentence in part]

    def parts(self, prob: float = PROB) -> dict[str, list[str]]:
        """The verdict by what it speaks of: what changed, for whom, how certain, what broke, notes."""
        return verdict_of(self, probability(prob, "prob"))

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """Outcome of every contrast with associated words, or of every connection's mean where there is none.

        Columns of :meth:`outcomes` (or of :meth:`changes`) and ``of``, which names the contrast or the connection.
        """
        if self.headline is None:
            pieces = [self.changes(name, prob=prob).assign(of=name) for name in self.connections]
        else:
            others = [name for name in self.connections if name != OWN]
            pieces = [self.outcomes(OWN, name, prob).assign(of=f"{OWN} - {name}") for name in others]
        table = pd.concat(pieces, ignore_index=True)
        first, *rest = (piece.attrs for piece in pieces)
        table.attrs = {key: value for key, value in first.items() if all(each.get(key) == value for each in rest)}
        table.attrs["subject"] = "contrasts with associated words" if self.headline else "mean distances"
        return table

    def findings(self, prob: float = PROB) -> list[str]:
        """The verdict without its notes."""
        return [sentence for name, part in self.parts(prob).items() if name != "Notes" for sentence in part]

    def text(self) -> str:
        """Two embeddings in sentences; of more, the whole list's row of each change."""
        pairs = self.tree["observed_data"].sizes["pair"]
        said = self.verdict if len(self.pairs) == 1 else whole_lists_of(self)
        return f"Comparison of {', '.join(self.embeddings)} on {pairs:,} pairs ({self.engine}). {said}"

    def brief(self) -> pd.DataFrame:
        """The changes of the headline contrast, of several those of the whole list; without one, :meth:`table`."""
        table = self.table() if self.headline is None else self.changes()
        if len(self.pairs) == 1:
            return table
        whole = table[table["protected_word"] == WHOLE].reset_index(drop=True)
        whole.attrs = table.attrs
        return whole

    @property
    def _recorded(self) -> dict[str, Any]:
        """Facts of the change, the words and the vectors for the caption of a table."""
        records = list(self.coverage.values())
        names = dict.fromkeys(filter(None, (record["embedding"].get("name") for record in records)))
        measured = {
            "word_list": records[0]["word_list"] if records else "",
            "embedding": in_words([*names] if len(self.pairs) == 1 else self.embeddings),
            "adjusted": self.data.adjusted,
        }
        between = route(*self.pair(0)) if len(self.pairs) == 1 else "from one embedding to another"
        return {"population": self.population, "change": between, "measured": measured}

    def sources(self) -> tuple[Any, ...]:
        """The fit of the changes."""
        return (self.tree,)

    def front(self, prob: float = PROB, effects: SideEffects | None = None) -> Page:
        """The first screen of a report, with :func:`side_effects` if they are given."""
        return front_of(self, prob, effects)

    def sections(self, prob: float = PROB, effects: SideEffects | None = None) -> tuple[Section, ...]:
        """The parts of a report, with :func:`side_effects` if they are given."""
        return sections_of(self, prob, effects)

    def contrasts(
        self,
        first: str = OWN,
        second: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        paired: bool = True,
        change: int | None = None,
        rows: str | None = None,
    ) -> pd.DataFrame:
        """The change of a contrast, for the whole list and for each protected word.

        Parameters
        ----------
        first, second
            Two connections (``second`` by default different, or a control list).
        prob
            Posterior mass of the equal-tailed intervals.
        standardise
            Divide the contrast in each embedding by the standard deviation of the distances between words of its
            vocabulary, so that embeddings whose cosines differ in scale can be compared.
        paired
            False takes the two embeddings for independent, as two separate fits do; for comparison only.
        change
            The place of one change among :attr:`pairs`; None takes all.
        rows
            What the rows of words are: changes of ``"association"`` (the default of associated - different), or of
            ``"difference"`` of two mean distances (that of all other contrasts).

        Returns
        -------
        DataFrame
            First the whole list (``protected_word`` is ``"whole list"``), then each protected word that has what the
            row needs. Columns ``protected_word``, ``group``, ``mean``, ``sd``, ``low``, ``high``, ``p_closer``; for
            more than one change first ``from`` and ``to``, the two embeddings. ``p_closer`` is the probability that the
            change is below 0: towards closer. ``attrs`` hold ``unit``, ``rows`` and ``meaning``
            (what rows are), and ``left_out``, the words without a row.
        """
        first, second = contrasted(first, second, list(self.connections), self.filled)
        return self._changes((first, second), f"{first}{MINUS}{second}", prob, standardise, paired, change, rows)

    def changes(
        self,
        connection: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        paired: bool = True,
        change: int | None = None,
        rows: str | None = None,
    ) -> pd.DataFrame:
        """Changes of the headline contrast, or of the mean distance of one connection.

        Parameters
        ----------
        connection
            None takes the contrast that :attr:`headline` names; ``"associated"``, ``"human"``, ... the mean distance
            to those words: the change of control words is a side effect. Of a control list in cosine distance the whole
            list has the error over its words where that is larger than the model's, which may be far too small there
            (a cluster standard error with Student's t).
        prob, standardise, paired, change, rows
            As in :meth:`contrasts`, which says what is returned too.
        """
        if connection is None:
            if self.headline is None:
                raise InputError(
                    f"there is no contrast of associated words: name a connection, one of {', '.join(self.connections)}"
                )
            return self.contrasts(*self.headline, prob, standardise, paired, change, rows)
        one_of(connection, self.connections, "connection")
        return self._changes((connection, None), connection, prob, standardise, paired, change, rows)

    def outcomes(
        self,
        first: str = OWN,
        second: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        change: int | None = None,
        rows: str | None = None,
    ) -> pd.DataFrame:
        """Outcome of a contrast, for the whole list and for each protected word.

        Parameters
        ----------
        first, second
            Two connections, as in :meth:`contrasts`.
        prob, standardise, change, rows
            As in :meth:`contrasts`; what is observed stays in cosine distance.

        Returns
        -------
        DataFrame
            Columns ``protected_word``, ``group``, ``before``, ``after``, ``change`` (posterior means), ``low``,
            ``high`` (of the change), ``p_shrank`` (that the value is nearer to 0 after than before), ``p_reversed``
            (that its sign is another; near .5 by itself where the value after is near 0), and ``outcome``:
            ``unchanged`` where the change is exactly 0, ``shrank`` or ``grew`` where that is clear, else
            ``inconclusive``. None is clear where the interval of the whole list's change includes 0; otherwise that of
            the whole list is at a probability of .945, and of words, which share most of their errors, the most
            probable ones are, as many as leave an expected share of wrong ones below .025. The probabilities are exact
            for the model of related words; otherwise approximate, closely for the whole list, roughly for single words
            (docs/debiasing.md). ``observed_before`` and ``observed_after`` are the same quantities of the
            observed pairs. For more than one change first ``from`` and ``to``.
        """
        first, second = contrasted(first, second, list(self.connections), self.filled)
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        pieces = {}
        for number in self._chosen(change):
            sides = self.sides(first, second, number, standardise, rows)
            moved = sides.change.summary(prob)
            pieces[number] = sides.change.index.assign(
                before=sides.before.mean,
                after=sides.after.mean,
                change=moved["mean"],
                low=moved["low"],
                high=moved["high"],
                p_shrank=sides.p_shrank,
                p_reversed=sides.p_reversed,
                outcome=sides.outcomes(prob),
                observed_before=sides.observed_before,
                observed_after=sides.observed_after,
            )
        table = self._joined(pieces)
        table.attrs = {
            "first": first,
            "second": second,
            "prob": prob,
            "unit": IN_SDS if standardise else COSINE,
            "rows": sides.kind,
            "meaning": MEANINGS[sides.kind],
            **carried_labels(self.labels),
        } | self._recorded
        return table

    def decomposition(
        self, second: str | None = None, prob: float = PROB, standardise: bool = False, change: int | None = None
    ) -> pd.DataFrame:
        """The change of a contrast of associated words as a sum of changes, as in :func:`decomposition`.

        Parameters
        ----------
        second
            The control list; by default human, or else the first that the pairs have.
        prob, standardise, change
            As in :meth:`contrasts`.

        Returns
        -------
        DataFrame
            Three rows for the whole list, then four for each protected word that has every part. Columns
            ``protected_word``, ``contrast``, ``mean``, ``sd``, ``low``, ``high``, ``p_closer``; for more than one
            change first ``from`` and ``to``.
        """
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        second = control_of_parts(list(self.connections), second)
        if lacking := why_no_association(self.data, self.cells[0]):
            raise InputError(f"a decomposition needs associations: {lacking}. {ONE_GROUP}")
        sums, pieces = decomposition_sums(self.data, self.cells[0], second), {}
        for number in self._chosen(change):
            sides = self._sides(sums, number, (OWN, OTHER, second), PARTS_OF_WHOLE)
            changed = self._standardised(sides, number, 0.0, standardise).change
            pieces[number] = changed.summary(prob)
        table = self._joined(pieces)
        of = MINUS.join(labelled(name, self.labels) for name in (OWN, second))
        table.attrs = {
            "subject": f"{of} and its parts",
            "sign": "negative: closer than before",
            "second": second,
            "prob": prob,
            "unit": IN_SDS if standardise else COSINE,
            "left_out": left_out(self.data, changed),
            **carried_labels(self.labels),
        } | self._recorded
        return table

    def sides(
        self, first: str, second: str | None = None, change: int = 0, standardise: bool = False, rows: str | None = None
    ) -> BeforeAfter:
        """The posterior of a contrast, or of a connection's mean, before and after a change.

        Parameters
        ----------
        first, second
            Two connections; without ``second`` the mean distance to the first.
        change
            The place of the change among :attr:`pairs`.
        standardise, rows
            As in :meth:`contrasts`.

        Returns
        -------
        BeforeAfter
            ``before``, ``after`` and ``change`` for the whole list first, then for protected words: each are
            :class:`Estimates`.
        """
        change, standardise = self._known_change(change), flag(standardise, "standardise")
        for name in (first,) if second is None else (first, second):
            one_of(name, self.connections, "a connection")
        question = (first, second, change, standardise, str(rows))
        if question not in self._known_sides:
            if rows is not None:
                one_of(rows, ROWS, "rows")
            sums = row_sums(self.data, self.cells[0], first, second, rows)
            names = [first] if second is None else [first, second]
            sides = self._sides(sums, change, names, [[1.0, -1.0][: len(names)]])
            # a mean distance is seen from 1, a contrast from 0
            self._known_sides[question] = self._standardised(sides, change, float(second is None), standardise)
        return self._known_sides[question]

    @cached_property
    def _known_sides(self) -> dict[tuple[Any, ...], BeforeAfter]:
        """Results of :meth:`sides`, kept because tables, sentences and figures ask for the same."""
        return {}

    def _sides(self, sums: Sums, number: int, names: Sequence[str], whole: Any) -> BeforeAfter:
        """The posterior of weighted sums; ``whole`` are the weights of connections in the first of them."""
        places = self._places(number)
        observed = [sums.observed(self.cells[place]) for place in places]
        if self.joint is not None:
            before, change = related_sides(self.joint, sums, places, self._known(places))
        else:
            further = []
            if self.population == SIMILAR:
                columns = [self.connections.index(name) for name in names]
                of_connections = ("paired/connection_before", "posterior/connection_change")
                further = [self._draws(name, number)[:, columns] @ np.transpose(whole) for name in of_connections]
            before, change = drawn_sides(self.cells[0], sums, self._word_draws(number), further)
        return BeforeAfter(before, before + change, observed[0], observed[1], sums.kind)

    def _known(self, places: tuple[int, int]) -> FloatArray:
        """Changes (J, C) of cells between two embeddings that are known exactly; NaN elsewhere."""
        fixed = fixed_values(self.data, self.distances[:, places[1]] - self.distances[:, places[0]])
        return known_changes(self.data, self.cells[0], fixed)

    def _word_draws(self, number: int) -> list[FloatArray]:
        """Draws (D, J, K) of the means of words before a change, and of what changed."""
        return [self._draws(name, number) for name in ("paired/word_before", "posterior/word_change")]

    def _draws(self, name: str, number: int) -> FloatArray:
        """Draws (D, ...) of a variable that has a value for each change."""
        return flat_draws(self.posterior[name].to_numpy()[:, :, number])

    def _standardised(self, sides: BeforeAfter, number: int, centre: float, standardise: bool) -> BeforeAfter:
        """Sides in the units of their embeddings, if that was asked for."""
        if not standardise:
            return sides
        if reason := self.without_units(number):
            raise InputError(f"the changes cannot be standardised, since {reason}; or pass standardise=False")
        before, after = (float(self.units()[name]) for name in self.pair(number))
        return sides.standardised((before, after), centre)

    def place(self, before: str | None = None, after: str | None = None) -> int:
        """The place of a change among all, by its two embeddings; with two embeddings it need not be named."""
        pairs = self.pairs
        if before is None and after is None and len(pairs) == 1:
            return 0
        if isinstance(before, str) and isinstance(after, str) and (before, after) in pairs:
            return pairs.index((before, after))
        changes = ", ".join(f"{pair} to {other}" for pair, other in pairs)
        raise InputError(f"before is {shown(before)} and after is {shown(after)}: the changes are {changes}")

    def units(self) -> pd.Series:
        """The standard deviation of the distances between words of each embedding; NaN where it is not known."""
        known = {name: unit if isinstance(unit, float) else np.nan for name, unit in self._units.items()}
        return pd.Series(known, name="distance_sd", dtype=float)

    def without_units(self, change: int) -> str:
        """Reason why the embeddings of a change have no unit; empty where they have one."""
        return next((unit for name in self.pair(change) if isinstance(unit := self._units[name], str)), "")

    @property
    def _units(self) -> dict[str, float | str]:
        return {name: distance_sd(self.coverage.get(name, {}).get("embedding", {}), name) for name in self.embeddings}

    def _chosen(self, change: int | None) -> Sequence[int]:
        """Places of the changes asked for."""
        return range(len(self.pairs)) if change is None else [self._known_change(change)]

    def _changes(
        self,
        connections: tuple[str, str | None],
        label: str,
        prob: float,
        standardise: bool,
        paired: bool,
        change: int | None,
        rows: str | None,
    ) -> pd.DataFrame:
        """The table of :meth:`contrasts`."""
        prob, paired = probability(prob, "prob"), flag(paired, "paired")
        standardise = flag(standardise, "standardise")
        pieces = {}
        for number in self._chosen(change):
            sides = self.sides(*connections, number, standardise, rows)
            seed = [int(self.tree.attrs["seed"]), number]
            changed = sides.change if paired else sides.unpaired(seed)
            pieces[number] = changed.summary(prob)
            if connections[1] is None and connections[0] in controls_of(self.connections) and not standardise:
                self._widened(pieces[number], connections[0], number, prob)
        table = self._joined(pieces)
        mean = {"subject": f"the mean distance to {label} words"}
        table.attrs = {
            "of": label,
            **(mean if connections[1] is None else dict(zip(("first", "second"), connections, strict=True))),
            "prob": prob,
            "unit": IN_SDS if standardise else COSINE,
            "rows": sides.kind,
            "meaning": MEANINGS[sides.kind],
            "left_out": left_out(self.data, changed),
            **carried_labels(self.labels),
        } | self._recorded
        return table

    def _widened(self, table: pd.DataFrame, connection: str, number: int, prob: float) -> None:
        """Give the whole list the error over the words of a control list, in place, where that is larger."""
        before, after = self._places(number)
        rows = self.data.connection == self.connections.index(connection)
        moved = pd.Series(self.distances[rows, after] - self.distances[rows, before])
        words = moved.groupby(self.data.attribute[rows]).mean()
        error, freedom = float(words.std() / np.sqrt(len(words))) if len(words) > 1 else 0.0, len(words) - 1
        mean, sd = table[["mean", "sd"]].to_numpy()[0].tolist()
        if error > max(sd, NOTHING):  # more than rounding
            reach = stdtrit(freedom, (1 + prob) / 2) * error
            table.loc[0, ["sd", "low", "high"]] = error, mean - reach, mean + reach
            table.loc[0, "p_closer"] = stdtr(freedom, -mean / error)

    def _joined(self, pieces: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
        """Tables of changes one below another, with the two embeddings in front where there are several."""
        if len(pieces) > 1:
            for number, piece in pieces.items():
                for i, (column, name) in enumerate(zip(("from", "to"), self.pair(number), strict=True)):
                    piece.insert(i, column, name)
        return pd.concat(pieces.values(), ignore_index=True)

    def pair(self, number: int) -> tuple[str, str]:
        """The two embeddings of a change, by its place among all."""
        before, after = self._places(number)
        return self.embeddings[before], self.embeddings[after]

    def _places(self, number: int) -> tuple[int, int]:
        """Their places among the embeddings."""
        number, places = self._known_change(number), self.tree["paired"]
        before, after = (int(places[side].to_numpy()[number]) for side in ("before_index", "after_index"))
        return before, after

    def _known_change(self, number: int) -> int:
        """The place of a change among all."""
        return whole_number(number, "change", least=0, most=self.tree["paired"].sizes["change"] - 1)

    def paired_distances(self, before: str | None = None, after: str | None = None) -> pd.DataFrame:
        """The pairs: ``protected_word``, ``attribute_class``, ``connection``, ``before``, ``after``."""
        names = self.pair(self.place(before, after))
        places = [self.embeddings.index(name) for name in names]
        return pd.DataFrame(
            {
                "protected_word": self.data.protected_words[self.data.word],
                "attribute_class": self.data.attribute_class,
                "connection": self.data.connections[self.data.connection],
                "before": self.distances[:, places[0]],
                "after": self.distances[:, places[1]],
            }
        )

    def similarity_shift(
        self, mac: float | None = None, before: str | None = None, after: str | None = None
    ) -> pd.DataFrame:
        """Share of cosine similarities within 0 plus or minus 1 - MAC, before and after.

        The study takes 1 - MAC, which the authors of MAC held to be a sign of bias, as a baseline of what words
        without a bias do.

        Parameters
        ----------
        mac
            The mean average cosine distance; None takes that of the pairs before, over protected words and stereotype
            lists.
        before, after
            Two of the embeddings, where there are more than two.

        Returns
        -------
        DataFrame
            One row a connection: ``connection``, ``n`` (pairs), ``before``, ``after`` (shares within the limit).
            ``attrs["mac"]`` and ``attrs["limit"]`` are the baseline.

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
        >>> result.similarity_shift()["connection"].tolist()
        ['associated', 'different', 'human', 'neutral']
        """
        pairs = self.paired_distances(before, after)
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
        table = table.reindex([name for name in self.connections if name in table.index]).reset_index()
        table.attrs = {"mac": mac, "limit": limit}
        return table
