"""A comparison of embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import stdtr, stdtrit

from bayesbias._support.arguments import flag, one_of, probability, whole_number
from bayesbias.checks.summaries import PROB, contrasted, flat_draws
from bayesbias.comparison.sides import (
    BeforeAfter,
    drawn_sides,
    known_changes,
    related_changes,
    related_sides,
    side_weights,
    with_draws,
)
from bayesbias.contrast import POPULATION
from bayesbias.contrast.associations import ONE_GROUP, PARTS_OF_WHOLE, control_of_parts, decomposable
from bayesbias.contrast.contrast import equal_groups
from bayesbias.distances.covariances import relatedness_in_fit
from bayesbias.distances.dataframe import COSINE, coverage_from, distance_sd
from bayesbias.distances.distances import Distances, stacked_tables
from bayesbias.errors import InputError
from bayesbias.models.functionals import Fields, cell_fields
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    RAW,
    Cells,
    Sums,
    cells_of,
    decomposition_sums,
    group_means,
    list_sums,
    row_sums,
    why_no_association,
)
from bayesbias.numerics.arrays import NOTHING, FloatArray
from bayesbias.posteriors import Estimates
from bayesbias.results import Note, Result, restored
from bayesbias.words import OTHER, OWN, STEREOTYPES, WHOLE, controls_of

RESCALED = 1.1  # ratio of the units of two embeddings from which on all distances changed in scale
EQUAL_MEANS = ("leace",)  # debiasing methods after which the means of the groups given are nearly equal
NEARLY = 0.1  # share of a contrast before, below which it is nearly 0 after a method that makes groups' means equal
EQUAL_SIDE = 0.01  # size of a contrast up to which it is 0 by construction where all groups are equally far
EXCLUDED = {"hard_multiclass": 0.22}
"""Debiasing method to the share of random topics whose interval excludes 0, where that lies above 11% by more than two
standard errors (docs/validation.md)."""
FACTS = ("name", "vectors", "dimensions", "debiasing")
MADE_BY = ("model", "levels_model", "model_hash", "engine", "seed", "chains", "draws")
FIGURES = ("pareto_k", "importance_ess")
SCALED = ", in sds"  # end of the label of a contrast in sds of distances
ENDS = {"": "mean", "_low": "low", "_high": "high"}
COLUMNS = [
    *("of", "protected_word", "group", "before", "before_low", "before_high", "after", "after_low", "after_high"),
    *("change", "sd", "low", "high", "p_closer", "p_shrank", "p_reversed", "clear", "share", "at_most", "unpaired"),
    *("observed_before", "observed_after"),
]
"""Columns of :meth:`Comparison.table`."""
NUMBERS = ["before", "after", "change", "low", "high", "p_closer", "p_shrank"]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The same pairs in several embeddings: what :func:`compare` returns.

    Words before and after are unshrunken, so that before + change = after: before is ``unshrunk`` of
    :func:`contrasts`. A change is the value after minus the value before, so that what both embeddings share cancels.
    For the model of related words all figures are exact and do not depend on the draws.

    Attributes
    ----------
    tree
        What ``save_fit`` and ``load_fit`` keep on disk; ``Comparison(tree)`` is the comparison again.
    posterior
        ArviZ groups, with draws. ``posterior``: ``connection_mean`` (embedding, connection), ``word_mean`` (embedding,
        protected_word, connection), ``connection_change`` and ``word_change`` (change in place of embedding), and
        scales, ``change_connection_sd``, ``change_sigma`` (change, connection), ``change_attribute_sd`` (change,
        attribute_class), ``change_interaction_sd`` (change). ``paired``: ``connection_before`` and ``word_before``,
        what each change, ``"before → after"``, starts from. ``observed_data``: ``distance`` (pair, embedding).
        ``constant_data``: the pairs, and ``n`` of each cell. ``relatedness``: where figures are exact.
    prob
        Mass of the intervals of :meth:`table` and of what is printed.
    """

    picture: ClassVar[str] = "plot_change"

    tree: xr.DataTree
    prob: float = PROB  # mass of the intervals that are printed
    # results of `sides`, kept because tables, notes and figures ask for the same
    _known: dict[tuple[Any, ...], BeforeAfter] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def posterior(self) -> xr.DataTree:
        """The tree with its draws, which are made when they are first asked for."""
        if "posterior" in self.tree.children or self.stacked is None:
            return self.tree
        result, size = Fit(self.tree), (int(self.tree.attrs["chains"]), int(self.tree.attrs["draws"]))
        changes = related_changes(result.spec, self.data, self.stacked, size, result.seed)
        return with_draws(self.tree, self.data, changes)

    @property
    def embeddings(self) -> tuple[str, ...]:
        """Names, in the order given."""
        return tuple(self.tree["observed_data"]["embedding"].to_numpy().tolist())

    @property
    def connections(self) -> tuple[str, ...]:
        """Connections that the pairs hold."""
        return tuple(self.tree["constant_data"]["connection"].to_numpy().tolist())

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Places of the two embeddings of each change."""
        before, after = (self.tree[f"paired/{side}_index"].to_numpy().tolist() for side in ("before", "after"))
        return list(zip(before, after, strict=True))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The two embeddings of each change, in the order of the posterior's ``change``."""
        return [(self.embeddings[before], self.embeddings[after]) for before, after in self._places]

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
    def faults(self) -> tuple[Note, ...]:
        """Reasons not to read the draws; empty if there are none."""
        return restored(Fit(self.tree).fact("faults"))

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Faults first, then what is known of changes, and what was left out, replaced or taken as known."""
        notes = [*self.faults, *(note for number in range(len(self.pairs)) for note in self._notes_of(number))]
        if self.headline is None:
            reason = "one kind of words" if len(self.connections) == 1 else "no associated words"
            notes.append(Note("no-value", what="contrast", reason=reason))
        elif self.headline[1] != OTHER:
            notes.append(Note("one-group"))
        if self.target == POPULATION:
            notes.append(Note("new words"))
        if not self.coverage:
            notes.append(Note("coverage-unknown", reason="tables without a record"))
        return tuple(dict.fromkeys([*notes, *restored(Fit(self.tree).fact("notes"))]))

    def _notes_of(self, number: int) -> list[Note]:
        """Notes on one change: its scale, contrasts that are 0 by construction, and methods of known limits."""
        names, notes = self.pairs[number], list[Note]()
        label, units = " → ".join(names), self.units()[list(names)]
        if units.max(skipna=False) >= RESCALED * units.min(skipna=False):
            notes.append(Note("units", before=float(units.iloc[0]), after=float(units.iloc[1]), change=label))
        if self.headline is not None and (unknown := units.index[units.isna()].tolist()):
            notes.append(Note("no-value", what="standardised change", reason=f"no unit of {' and '.join(unknown)}"))
        if self.headline == (OWN, OTHER):
            sides = self.sides(OWN, OTHER, number)
            values = (sides.before.mean[0], sides.after.mean[0])
            for side, name, value in zip(("before", "after"), names, values, strict=True):
                distances = self.distances[:, self.embeddings.index(name)]
                if abs(value) < EQUAL_SIDE and equal_groups(replace(self.data, y=distances)):
                    notes.append(Note("equalised", side=side, change=label))
            if abs(values[1]) < NEARLY * abs(values[0]) and self._equal_means(names[1]):
                notes.append(Note("equalised", side="after", change=f"{label}, nearly"))
        method = self.debiasing(names[1])
        return notes + ([Note("undercoverage", method=method, share=EXCLUDED[method])] if method in EXCLUDED else [])

    def _equal_means(self, name: str) -> bool:
        """True where the compared groups are those whose means a debiasing method made nearly equal."""
        groups = [{*words} for words in self._record(name).get("groups", {}).values()]
        own = [{*part} for part in self.data.to_frame().groupby("group")["protected_word"].unique()]
        return self.debiasing(name) in EQUAL_MEANS and len(own) > 1 and all(words in groups for words in own)

    @property
    def target(self) -> str:
        """What results of the whole list speak about, ``"sample"`` or ``"population"``, as in :func:`contrasts`."""
        return str(self.tree.attrs.get("target", POPULATION))

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
        and as those of :func:`estimates`. Changes that are drawn have a joint posterior for two embeddings only.
        """
        sums, pieces, cells = list_sums(self.data, self.cells[0]), [], self.cells[0]
        if self.joint is None and len(self.pairs) > 1:
            raise InputError("changes that are drawn one by one have no joint posterior: compare two embeddings")
        every = None if self.joint is None else Estimates.of(self.joint, len(self.joint.mean))
        for number, label in enumerate(self.tree["paired/change"].to_numpy().tolist()):
            if every is None:
                before, change = drawn_sides(cells, sums, self._draws(number, "word"))
            else:
                places, moved = self._places[number], known_changes(self.data, cells, self._moved(number))
                weights, known = side_weights(len(every), sums.parts, places, moved)
                before, change = (every.combine(each, sums.index) for each in weights)
                change += known
            for value, parts in (("before", before), ("after", before + change), ("change", change)):
                first = pd.DataFrame({"change": label, "value": value}, index=parts.index.index, dtype="string")
                pieces.append(replace(parts, index=pd.concat([first, parts.index], axis=1)))
        return pieces[0].join(*pieces[1:])

    def debiasing(self, name: str) -> str:
        """The method of :func:`debias` that made an embedding; empty for others."""
        one_of(name, self.embeddings, "an embedding")
        return str(self._record(name).get("debiasing") or "").partition(":")[0]

    def _record(self, name: str) -> dict[str, Any]:
        return self.coverage.get(name, {}).get("embedding") or {}

    @property
    def headline(self) -> tuple[str, str] | None:
        """The two connections of the contrast that is shown where none is asked for; None without one."""
        if OWN not in self.connections or len(self.connections) < 2:
            return None
        return contrasted(OWN, None, list(self.connections), self.data.filled)

    def caption(self) -> str:
        of = " - ".join(self.headline) if self.headline else "Mean distances"
        return f"{of} ({COSINE}; change < 0: towards closer)"

    def header(self) -> dict[str, object]:
        attrs = self.tree.attrs
        return {
            "words": next((record["word_list"] for record in self.coverage.values()), None),
            "embeddings": list(self.embeddings),
            "pairs": len(self.data.y),
            "model": f"{attrs['model']} ({self.engine})",
            "levels": attrs["levels_model"] if attrs["levels_model"] != attrs["model"] else None,
            "target": "new words" if self.target == POPULATION else None,
            "intervals": f"{self.prob:.0%}",
            "debiased by": list(filter(None, map(self.debiasing, self.embeddings))),
        }

    def table(self, prob: float | None = None) -> pd.DataFrame:
        """All numbers: a row a quantity and protected word, the whole list first.

        Columns ``of``, the quantity (contrasts of connections, that of the headline in sds of distances and, with three
        groups or more, by group; mean distances to connections), ``protected_word``, ``group``; ``before``, ``after``
        (posterior means) with ``_low`` and ``_high``; ``change``, ``sd``, ``low``, ``high``, ``p_closer`` of the change
        (below 0: towards closer); ``p_shrank`` (that the value is nearer to 0 after than before) and ``p_reversed``
        (that its sign is another), approximate for unrelated words; ``clear``, whether it is nearer to 0, or farther,
        for certain; ``observed_before``, ``observed_after`` of the pairs. Of the whole list also ``share``, the size of
        the change over that before, ``at_most``, the share of the size before, up to .1, that the change does not
        exceed with probability ``prob`` (up to .01 where its interval excludes 0), and ``unpaired``, the width of the
        interval had the embeddings other pairs. With more than two embeddings first ``from`` and ``to``.

        None is ``clear`` where the interval of the whole list's change includes 0. Otherwise that of the whole list is
        at a probability of .945, and the most probable words are, as many as leave an expected share of wrong ones
        below .025.
        """
        prob, pieces = self.prob if prob is None else probability(prob, "prob"), {}
        for number in range(len(self.pairs)):
            rows = [self._rows(*each, number, prob) for each in self._quantities(number)]
            pieces[number] = pd.concat(rows, ignore_index=True)[COLUMNS].astype({"clear": "boolean"})
        return self._joined(pieces, prob)

    def _quantities(self, number: int) -> Iterator[tuple[str, BeforeAfter, str]]:
        """Label of each quantity, its values before and after a change, and the connection of a mean distance."""
        headline, names = self.headline, self.connections
        contrasts = [(OWN, name) for name in names if name != OWN] if OWN in names else []
        contrasts += [(OTHER, name) for name in controls_of(names)] if OTHER in names else []
        for pair in sorted(contrasts, key=lambda pair: pair != headline):
            sides, label = self.sides(*pair, number), " - ".join(pair)
            yield label, sides, ""
            if pair == headline and self.units()[list(self.pairs[number])].notna().all():
                yield f"{label}{SCALED}", self.sides(*pair, number, standardise=True), ""
            if pair == headline and sides.kind == RAW:
                index = sides.change.index
                groups, weights = group_means(index["group"].iloc[1:].fillna("").to_numpy(dtype=str))
                # with two groups the mean association of each is the whole list
                for group, own in zip(groups, weights, strict=True) if len(groups) > 2 else ():
                    of_group, labels = np.r_[0.0, own][None], index[:1].assign(group=group)
                    before, after = (each.combine(of_group, labels) for each in (sides.before, sides.after))
                    seen_before, seen_after = of_group @ sides.observed_before, of_group @ sides.observed_after
                    yield f"group {group}", BeforeAfter(before, after, seen_before, seen_after, sides.kind), ""
        for name in names:
            yield f"to {name} words", self.sides(name, None, number), name

    def _rows(self, of: str, sides: BeforeAfter, mean_of: str, number: int, prob: float) -> pd.DataFrame:
        levels = {side: getattr(sides, side).summary(prob) for side in ("before", "after")}
        table = self._brief(of, sides, mean_of, number, prob).assign(
            **{f"{side}{end}": level[name] for side, level in levels.items() for end, name in ENDS.items()},
            observed_before=sides.observed_before,
            observed_after=sides.observed_after,
        )
        whole = sides[:1]
        apart, size = self._change(whole, mean_of, number, prob, paired=False), np.abs(whole.before.mean)
        of_whole = {"unpaired": apart["high"] - apart["low"], "share": np.nan, "at_most": np.nan}
        table[["p_reversed", "clear"]] = np.nan, None
        if not mean_of:
            table["p_reversed"], table["clear"] = sides.p_reversed, sides.clear(prob)
            of_whole["at_most"] = whole.at_most(prob)
            of_whole["share"] = np.abs(whole.change.mean) / np.where(size > EQUAL_SIDE, size, np.nan)
        return table.join(pd.DataFrame(of_whole))

    def _brief(self, of: str, sides: BeforeAfter, mean_of: str, number: int, prob: float) -> pd.DataFrame:
        moved = self._change(sides, mean_of, number, prob).rename(columns={"mean": "change"})
        shrank = np.nan if mean_of else sides.p_shrank
        return moved.assign(of=of, before=sides.before.mean, after=sides.after.mean, p_shrank=shrank)

    def summary(self) -> pd.DataFrame:
        """Of two embeddings all quantities of the whole list, of more the headline of each change.

        The headline in sds of distances is left out where these differ little and both intervals exclude 0, or neither.
        """
        pieces, first = {}, 1 if len(self.pairs) > 1 else None
        for number in range(len(self.pairs)):
            chosen = islice(self._quantities(number), first)
            rows = [self._brief(of, sides[:1], mean_of, number, self.prob) for of, sides, mean_of in chosen]
            pieces[number] = pd.concat(rows, ignore_index=True)
        table = self._joined(pieces, self.prob)
        if first is not None:
            return table.assign(change_of=table["from"] + " → " + table["to"])[["change_of", *NUMBERS]]
        away, scaled = (table["low"] > 0) | (table["high"] < 0), table["of"].str.endswith(SCALED)
        told = any(note.code == "units" for note in self.notes) or away[scaled].tolist() != away[:1].tolist()
        return table[~scaled | told][["of", *NUMBERS]].rename(columns={"of": "quantity"})

    def tables(self) -> dict[str, pd.DataFrame]:
        every, attrs, stats = self.table(), self.tree.attrs, Fit(self.tree).stats
        whole = every["protected_word"] == WHOLE
        tables = {"Whole list": every[whole], "Protected words": every[~whole].dropna(axis=1, how="all")}
        lacking = why_no_association(self.data, self.cells[0])
        if not lacking and decomposable(self.data):
            tables["Parts of the change"] = self.decomposition(prob=self.prob)
        records = {name: coverage_from(self.coverage[name]) for name in self.embeddings if name in self.coverage}
        facts = {name: {fact: known.embedding.get(fact) for fact in FACTS} for name, known in records.items()}
        facts = {name: {"embedding": name, "sd": self.units()[name], **known} for name, known in facts.items()}
        tables["Embeddings"] = pd.DataFrame(facts.values())
        lists = [record.table().assign(embedding=name) for name, record in records.items()]
        tables |= {"Lists": pd.concat(lists, ignore_index=True)} if lists else {}
        fit = {name: attrs[name] for name in MADE_BY}
        fit |= Fit(self.tree).versions | {name: stats[name].to_numpy().tolist() for name in FIGURES if name in stats}
        return tables | {"Fit": pd.DataFrame({"fact": fit.keys(), "value": map(str, fit.values())})}

    def sources(self) -> tuple[Any, ...]:
        return (self.tree,)

    def changes(
        self,
        first: str | None = None,
        second: str | None = None,
        prob: float = PROB,
        standardise: bool = False,
        paired: bool = True,
        change: int | None = None,
    ) -> pd.DataFrame:
        """Changes of a contrast, or of the mean distance to one connection, of the whole list and of each word.

        Parameters
        ----------
        first, second
            Two connections; ``first`` alone for the mean distance to those words; none for :attr:`headline`. The mean
            distance to a control list has the error over its words (cluster standard error, Student's t) where that is
            larger than the model's.
        prob, standardise
            Mass of the intervals; whether to divide by the sd of the distances between words of each vocabulary.
        paired
            False takes the two embeddings for independent, as two separate fits do.
        change
            The place of one change among :attr:`pairs`; None takes all.

        Returns
        -------
        DataFrame
            The whole list, then each word: ``protected_word``, ``group``, ``mean``, ``sd``, ``low``, ``high``,
            ``p_closer`` (the probability of a change below 0); for more than one change first ``from`` and ``to``.
        """
        prob, paired, standardise = probability(prob, "prob"), flag(paired, "paired"), flag(standardise, "standardise")
        if first is None:
            first, second = contrasted(OWN, None, list(self.connections), self.data.filled)
        mean_of, pieces = first if second is None and not standardise else "", {}
        for number in range(len(self.pairs)) if change is None else [change]:
            sides = self.sides(first, second, number, standardise)
            pieces[number] = self._change(sides, mean_of, number, prob, paired)
        return self._joined(pieces, prob)

    def decomposition(
        self, second: str | None = None, prob: float = PROB, standardise: bool = False, change: int | None = None
    ) -> pd.DataFrame:
        """The change of a contrast with a control list as a sum of changes, as in :func:`decomposition`."""
        prob, standardise = probability(prob, "prob"), flag(standardise, "standardise")
        second = control_of_parts(list(self.connections), second)
        if lacking := why_no_association(self.data, self.cells[0]):
            raise InputError(f"a decomposition needs associations: {lacking}. {ONE_GROUP}")
        sums, pieces = decomposition_sums(self.data, self.cells[0], second), {}
        for number in range(len(self.pairs)) if change is None else [change]:
            sides = self._sides(sums, number, (OWN, OTHER, second), PARTS_OF_WHOLE)
            pieces[number] = self._standardised(sides, number, 0.0, standardise).change.summary(prob)
        return self._joined(pieces, prob)

    def sides(
        self, first: str, second: str | None = None, change: int = 0, standardise: bool = False, rows: str | None = None
    ) -> BeforeAfter:
        """``before``, ``after`` and ``change`` of a contrast or mean: :class:`Estimates` of the whole list, then words.

        Arguments are as in :meth:`changes`; ``rows="difference"`` takes differences of two mean distances for
        associated - different, too.
        """
        for name in (first,) if second is None else contrasted(first, second, list(self.connections)):
            one_of(name, self.connections, "a connection")
        question = (first, second, change, standardise, rows)
        if question not in self._known:
            sums = row_sums(self.data, self.cells[0], first, second, rows)
            names = [first] if second is None else [first, second]
            sides = self._sides(sums, change, names, [[1.0, -1.0][: len(names)]])
            # a mean distance is seen from 1, a contrast from 0
            self._known[question] = self._standardised(sides, change, float(second is None), standardise)
        return self._known[question]

    def _sides(self, sums: Sums, number: int, names: Sequence[str], whole: Any) -> BeforeAfter:
        """The posterior of weighted sums; ``whole`` are the weights of connections in the first of them."""
        places = self._places[whole_number(number, "change", least=0, most=len(self.pairs) - 1)]
        seen_before, seen_after = (sums.observed(self.cells[place]) for place in places)
        if self.joint is not None:
            moved = known_changes(self.data, self.cells[0], self._moved(number))
            before, change = related_sides(self.joint, sums, places, moved)
        else:
            words, connections = self._draws(number, "word"), []
            if self.target == POPULATION:
                columns = [self.connections.index(name) for name in names]
                connections = [each[:, columns] @ np.transpose(whole) for each in self._draws(number, "connection")]
            before, change = drawn_sides(self.cells[0], sums, words, connections)
        return BeforeAfter(before, before + change, seen_before, seen_after, sums.kind)

    def _moved(self, number: int) -> FloatArray:
        """Differences (pairs,) of the distances in the two embeddings of a change."""
        before, after = self._places[number]
        return self.distances[:, after] - self.distances[:, before]

    def _draws(self, number: int, of: str) -> list[FloatArray]:
        """Draws (D, ...) of means before a change, and of what changed; ``of`` words or connections."""
        names = f"paired/{of}_before", f"posterior/{of}_change"
        return [flat_draws(self.posterior[name].to_numpy()[:, :, number]) for name in names]

    def _standardised(self, sides: BeforeAfter, number: int, centre: float, standardise: bool) -> BeforeAfter:
        """Sides in the units of their embeddings, if that was asked for."""
        if not standardise:
            return sides
        units = [distance_sd(self._record(name), name) for name in self.pairs[number]]
        if reason := next((unit for unit in units if isinstance(unit, str)), ""):
            raise InputError(f"the changes cannot be standardised, since {reason}; or pass standardise=False")
        # what is observed stays in cosine distance
        before, after = ((each - centre) / by for each, by in zip((sides.before, sides.after), units, strict=True))
        return replace(sides, before=before, after=after)

    def place(self, before: str | None = None, after: str | None = None) -> int:
        """The place of a change among all, by its two embeddings; with two embeddings it need not be named."""
        labels: list[str] = self.tree["paired/change"].to_numpy().tolist()
        if before is None and after is None and len(labels) == 1:
            return 0
        return labels.index(one_of(f"{before} → {after}", labels, "the change"))

    def units(self) -> pd.Series:
        """The standard deviation of the distances between words of each embedding; NaN where it is not known."""
        units = {name: distance_sd(self._record(name), name) for name in self.embeddings}
        known = {name: unit if isinstance(unit, float) else np.nan for name, unit in units.items()}
        return pd.Series(known, name="distance_sd", dtype=float)

    def _change(self, sides: BeforeAfter, mean_of: str, number: int, prob: float, paired: bool = True) -> pd.DataFrame:
        """The posterior of what changed; of the mean distance to a control list with the error over its words."""
        table = (sides.change if paired else sides.unpaired([int(self.tree.attrs["seed"]), number])).summary(prob)
        if mean_of not in controls_of(self.connections):
            return table
        rows = self.data.connection == self.connections.index(mean_of)
        words = pd.Series(self._moved(number)[rows]).groupby(self.data.attribute[rows]).mean()
        error, freedom = float(words.std() / np.sqrt(len(words))) if len(words) > 1 else 0.0, len(words) - 1
        mean, sd = table[["mean", "sd"]].to_numpy()[0].tolist()
        if error > max(sd, NOTHING):  # more than rounding
            reach = stdtrit(freedom, (1 + prob) / 2) * error
            table.loc[0, ["sd", "low", "high"]] = error, mean - reach, mean + reach
            table.loc[0, "p_closer"] = stdtr(freedom, -mean / error)
        return table

    def _joined(self, pieces: Mapping[int, pd.DataFrame], prob: float) -> pd.DataFrame:
        """Tables of changes one below another, with the two embeddings in front where there are several."""
        if len(pieces) > 1:
            for number, piece in pieces.items():
                for i, (column, name) in enumerate(zip(("from", "to"), self.pairs[number], strict=True)):
                    piece.insert(i, column, name)
        table = pd.concat(pieces.values(), ignore_index=True)
        names = {"words": self.header()["words"], "embedding": ", ".join(self.embeddings)}
        table.attrs = {name: fact for name, fact in names.items() if fact} | Fit(self.tree).origin(prob)
        return table

    def paired_distances(self, before: str | None = None, after: str | None = None) -> pd.DataFrame:
        """The pairs: columns of a distance table, with ``before`` and ``after`` in place of ``distance``."""
        distances = self.distances[:, self._places[self.place(before, after)]].T
        return self.data.to_frame().drop(columns="distance").assign(before=distances[0], after=distances[1])

    def similarity_shift(
        self, mac: float | None = None, before: str | None = None, after: str | None = None
    ) -> pd.DataFrame:
        """Share of cosine similarities within 0 plus or minus 1 - MAC, before and after.

        The study (https://doi.org/10.1162/coli_a_00507, figures 15 to 17) takes 1 - MAC, which the authors of MAC held
        to be a sign of bias, as what words without a bias do. ``mac`` is the mean average cosine distance; None takes
        that of the pairs before, over protected words and stereotype lists.

        Returns
        -------
        DataFrame
            One row a connection: ``connection``, ``n`` (pairs), ``before``, ``after`` (shares within the limit),
            ``limit``, 1 - MAC.
        """
        pairs = self.paired_distances(before, after)
        if mac is None:
            own = pairs[pairs["connection"].isin(STEREOTYPES)]
            if own.empty:
                raise InputError("there are no stereotype words to take MAC of: pass mac=")
            mac = float(own.groupby(["protected_word", "attribute_class"])["before"].mean().mean())
        limit = abs(1 - mac)
        inside = pairs.assign(**{side: (1 - pairs[side]).abs() < limit for side in ("before", "after")})
        by = inside.groupby("connection", sort=False)
        table = by.agg(n=("before", "size"), before=("before", "mean"), after=("after", "mean"))
        table = table.reindex([name for name in self.connections if name in table.index]).reset_index()
        return table.assign(limit=limit)
