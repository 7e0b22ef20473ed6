"""The answers of many specifications: their curve, what the decisions behind them contribute, and their null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayesbias._support.arguments import probability
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import ends_of, excludes_zero, figure, percent, share, signed
from bayesbias._support.results import Cited, Page, Picture, Section, filled, front_page, whole_table
from bayesbias.checks.summaries import PROB, describe
from bayesbias.errors import InputError, agreed, many
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.second_stage import Decisions, curve_spreads, distinct
from bayesbias.second_stage.estimates import Staged, posterior_tree

ARBITRARY, PRINCIPLED, UNSURE = ("arbitrary", "principled", "unsure")
"""Statuses of a decision: its options are equally good, one of them is better, or that is not known."""
DECLARED = {
    ARBITRARY: "its options declared equally good",
    PRINCIPLED: "one option declared better",
    UNSURE: "not known which option is better",
}
"""Statuses as sentences say them."""
RESIDUAL = "residual"
WITHOUT, NONE = "without", "none"  # the decision that leaves a word out, and its option that leaves none out
WIDTH, STANDARD_WIDTH = 0.05, 0.5
"""Width of the half-Cauchy priors of the scales, in cosine distance and in standard deviations of distances."""
DRAWS = 2000
MOST_SAID = 4  # means over the specifications of an option that a sentence names
ROUNDING = 1e-12  # spreads that differ by less are the same


@dataclass(frozen=True, repr=False, eq=False)
class Multiverse(Staged):
    """The answers to one question under every combination of decisions.

    Attributes
    ----------
    decisions
        One row a decision: ``decision``, ``status`` (arbitrary, principled, unsure) and ``options`` (how many).
    specifications
        One row for each combination, one column for each decision, and ``status`` (done, impossible, failed),
        ``reason``, ``estimate``, ``se``, ``same_as`` (the number of an earlier row that is the same functional of the
        same distances; missing for the first).
    covariance
        Joint covariance of the estimates of the distinct specifications, in their order.
    tree
        A DataTree that ArviZ reads: ``posterior`` with ``theta`` (specification), ``spread``, ``share`` and ``sd``
        (decision, and the residual) and ``effect`` (option; those of a decision add up to 0 over the specifications).
    designs
        Of each decision (distinct specifications, options): shares of 1 for the options behind a specification.
        Options of the same specifications, such as an embedding and its copy, are one column.
    null
        Estimates (replicates, distinct specifications) with random topics in place of the lists; none without vectors.
    standardised
        Whether estimates are in standard deviations of each embedding's distances, else in cosine distance.
    """

    picture: ClassVar[str] = "plot_multiverse"

    decisions: pd.DataFrame
    specifications: pd.DataFrame
    covariance: FloatArray
    tree: xr.DataTree
    designs: tuple[FloatArray, ...]
    null: FloatArray
    standardised: bool
    notes: tuple[str, ...]
    cited: tuple[Any, ...] = ()

    @property
    def distinct(self) -> pd.DataFrame:
        """The specifications that were computed, each once."""
        table = self.specifications
        return table[(table["status"] == "done") & table["same_as"].isna()]

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """The specification curve: all specifications, by their estimate.

        Returns
        -------
        DataFrame
            ``number`` (that of a row of :attr:`specifications`, to which ``same_as`` refers), the decisions,
            ``status``, ``reason``, ``same_as``, ``estimate``, ``se``, ``low`` and ``high`` (its own interval),
            ``p_closer``, and ``mean``, ``sd`` of what lies behind the estimate by the model of all.
            Impossible and failed specifications come last.
        """
        reach = float(ndtri((1 + probability(prob, "prob")) / 2))
        table = self.specifications.copy()
        table.insert(0, "number", table.index)
        table["low"], table["high"] = (table["estimate"] + sign * reach * table["se"] for sign in (-1, 1))
        z = table["estimate"] / table["se"].where(table["se"] > 0)
        table["p_closer"] = ndtr(-z)
        theta = describe(self.draws("theta"), prob)
        rows = {number: place for place, number in enumerate(self.distinct.index)}
        place = [rows.get(first if pd.notna(first) else number, -1) for number, first in table["same_as"].items()]
        for name in ("mean", "sd"):
            table[name] = [theta[name][i] if i >= 0 else np.nan for i in place]
        return table.sort_values("estimate", kind="stable", na_position="last")

    def spreads(self, prob: float = PROB) -> pd.DataFrame:
        """Movement of the answer by each decision, and the p-value of the same for random topics.

        Random topics differ between embeddings, lists and options too. A decision matters for this answer where its
        effects are larger than those that it has on them.

        Returns
        -------
        DataFrame
            One row a decision and one for the residual (what combinations of decisions add): ``decision``, ``status``,
            ``options``; ``mean``, ``sd``, ``low``, ``high`` of the standard deviation of its effects over the
            specifications, without errors; ``observed``, the same of the estimates, by least squares, and ``topics``,
            its mean over random topics; ``p_value``, (1 + topics with as much) / (1 + topics). All are NaN where one
            of several options alone was computed.
        """
        table = self._by_decision("spread", prob)
        # a decision that changes no specification may go along with another, and has no effect
        matters = self.draws("spread").max(axis=0) > 0
        curves = np.vstack([self.distinct["estimate"].to_numpy(float), self.null])
        spread = np.zeros((len(curves), len(table)))
        if matters.any():
            designs = [design for design, own in zip(self.designs, matters[:-1], strict=True) if own]
            spread[:, np.append(matters[:-1], True)] = curve_spreads(designs, curves)
        observed, null = spread[0], spread[1:]
        table["observed"], table["topics"] = observed, null.mean(axis=0) if len(null) else np.nan
        p_value = (1 + (null >= observed - ROUNDING).sum(axis=0)) / (1 + len(null))
        table["p_value"] = np.where(matters & (len(null) > 0), p_value, np.nan)
        table[["observed", "topics"]] = table[["observed", "topics"]].where(table["mean"].notna())
        return table

    def _by_decision(self, name: str, prob: float) -> pd.DataFrame:
        """A variable of decisions and the residual, summarised."""
        rows = describe(self.draws(name), probability(prob, "prob"))
        names = self.tree["posterior/decision"].to_numpy().tolist()
        table = self.decisions.set_index("decision").reindex(names).rename_axis("decision").reset_index()
        return table.astype({"options": "Int64"}).assign(**self._where_varied(rows, names))

    def shares(self, prob: float = PROB) -> pd.DataFrame:
        """The share of the variance between specifications that each decision has.

        Shares have no zero: of random topics, which are no bias, decisions have shares too. Read :meth:`spreads` first.

        Returns
        -------
        DataFrame
            One row a decision and one for the residual (what combinations of decisions add): ``decision``, ``status``,
            ``options``, ``mean``, ``sd``, ``low``, ``high`` (NaN where one of several options alone was computed).
            Shares are of the given options and add up to 1.
        """
        return self._by_decision("share", prob)

    def effects(self, prob: float = PROB) -> pd.DataFrame:
        """Effect of each option on the mean of all specifications: ``decision``, ``option``, ``mean``, ``low``, ..."""
        rows = describe(self.draws("effect"), probability(prob, "prob"))
        names = [str(name) for name in self.tree["posterior/option"].to_numpy()]
        parts = [name.partition("=") for name in names]
        decisions, options = [part[0] for part in parts], [part[2] for part in parts]
        return pd.DataFrame({"decision": decisions, "option": options, **self._where_varied(rows, decisions)})

    def means(self, prob: float = PROB) -> pd.DataFrame:
        """The mean over the specifications, in all and for each combination of the options of principled decisions.

        Every distinct specification weighs the same; the interval holds the errors of all, which share words and
        vectors.

        Returns
        -------
        DataFrame
            The principled decisions (``"all"`` in the first row), ``specifications``, ``mean``, ``sd``, ``low``,
            ``high``, ``p_closer``.
        """
        reach = float(ndtri((1 + probability(prob, "prob")) / 2))
        names = self.decisions.loc[self.decisions["status"] == PRINCIPLED, "decision"].tolist()
        table = self.distinct.reset_index(drop=True)
        parts: list[tuple[list[str], Any]] = [(["all"] * len(names), np.arange(len(table)))]
        if names:
            groups = table.groupby(names, sort=False)
            parts += [([str(value) for value in key], rows.index.to_numpy()) for key, rows in groups]
        weights = np.zeros((len(parts), len(table)))
        for place, (_, rows) in enumerate(parts):
            weights[place, rows] = 1 / len(rows)
        mean = weights @ table["estimate"].to_numpy()
        sd = np.sqrt(np.maximum(np.einsum("sn,nm,sm->s", weights, self.covariance, weights), 0))
        return pd.DataFrame(
            {
                **{name: [labels[i] for labels, _ in parts] for i, name in enumerate(names)},
                "specifications": [len(rows) for _, rows in parts],
                "mean": mean,
                "sd": sd,
                "low": mean - reach * sd,
                "high": mean + reach * sd,
                "p_closer": ndtr(-np.divide(mean, sd, out=np.sign(mean) * np.inf, where=sd > 0)),
            }
        )

    def signs(self) -> dict[str, float]:
        """Stability of the sign.

        Returns
        -------
        dict
            ``negative``: share of the distinct specifications whose estimate is below 0; ``excludes_zero``: share whose
            own 89% interval excludes 0; ``p_all_one_sign``: posterior probability, under the model of the decisions,
            that what lies behind the estimates has one sign in all of them. It is right on average if the scales of
            effects are as their priors say, and too low if options hardly matter and errors are large.
        """
        table, theta = self.table(), self.draws("theta")
        table = table.loc[self.distinct.index]
        return {
            "negative": float((table["estimate"] < 0).mean()),
            "excludes_zero": float(((table["low"] > 0) | (table["high"] < 0)).mean()),
            "p_all_one_sign": float(((theta < 0).all(axis=1) | (theta > 0).all(axis=1)).mean()),
        }

    def against_topics(self) -> pd.DataFrame:
        """Number of random topics whose curve over all specifications is as extreme as that of the given lists.

        Returns
        -------
        DataFrame
            One row a statistic of the curve: ``median`` (its absolute value) and ``excludes_zero`` (how many intervals
            exclude 0, by the given lists' standard errors); ``observed``, ``replicates``, ``as_extreme``, ``p_value``
            ((1 + as extreme) / (1 + replicates)). Empty without vectors.
        """
        if not len(self.null):
            return pd.DataFrame(columns=["statistic", "observed", "replicates", "as_extreme", "p_value"])
        table, reach = self.distinct, float(ndtri((1 + PROB) / 2))
        curves = np.vstack([table["estimate"], self.null])  # the given lists first
        statistics = {
            "median": np.abs(np.median(curves, axis=1)),
            "excludes_zero": (np.abs(curves) > reach * table["se"].to_numpy()).sum(axis=1).astype(float),
        }
        rows = []
        for name, (observed, *null) in statistics.items():
            count = int((np.array(null) >= observed).sum())
            rows.append((name, observed, len(null), count, (1 + count) / (1 + len(null))))
        return pd.DataFrame(rows, columns=["statistic", "observed", "replicates", "as_extreme", "p_value"])

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        table, counts = self.distinct, self.specifications["status"].value_counts()
        mean = self._means_said(prob)
        topics = [
            "Lists on random topics, run through all specifications, give a median as far from 0 in "
            f"{row['as_extreme'] or 'none'} of {row['replicates']:,} draws (p = {row['p_value']:.2g})."
            for row in self.against_topics().head(1).to_dict("records")
        ]
        sentences = [" ".join([mean, *topics])]
        if len(table) > 1:
            sentences = [
                " ".join([self._dependence(prob), mean, *topics, self._strongest(prob)]),
                f"Estimates are between {signed(table['estimate'].min())} and {signed(table['estimate'].max())}. The "
                "posterior probability that what lies behind them has one sign in all specifications is "
                f"{share(self.signs()['p_all_one_sign'])}; it is too low where choices hardly matter.",
                *self._decided(prob),
            ]
        done, impossible, failed = (int(counts.get(name, 0)) for name in ("done", "impossible", "failed"))
        others = ((done - len(table), "the same as another"), (impossible, "impossible"), (failed, "failed"))
        apart = ", ".join(f"{count:,} {what}" for count, what in others if count)
        sentences.append(
            f"Of {len(self.specifications):,} combinations {done:,} were computed{f' ({apart})' if apart else ''}."
        )
        return [*sentences, *self._not_varied()]

    def _means_said(self, prob: float) -> str:
        """The mean over all specifications, or over those of each option of principled decisions: other questions."""
        means = self.means(prob)
        chosen = [name for name in self._varied if name in means]
        rows = means.iloc[1:] if chosen else means.iloc[:1]
        said = []
        for row in rows.head(MOST_SAID).to_dict("records"):
            excluded = "excludes" if excludes_zero(row) else "includes"
            of = "".join(f" with {name} {row[name]}" for name in chosen)
            said.append(
                f"over {many(row['specifications'], 'different specification')}{of} is {signed(row['mean'])}"
                f"{self._unit} ({percent(prob)} interval {ends_of(row)}, which {excluded} 0"
            )
        more = f", and means() has {len(rows) - MOST_SAID} more" if len(rows) > MOST_SAID else ""
        return f"The mean {'); '.join(said)}; negative: associated words are closer){more}."

    def _where_varied(self, rows: Mapping[str, FloatArray], decisions: Sequence[str]) -> dict[str, FloatArray]:
        """Numbers on decisions; NaN for those of which one of several options alone was computed."""
        known = ~np.isin(decisions, self._alone["decision"].to_numpy())
        return {column: np.where(known, values, np.nan) for column, values in rows.items()}

    @property
    def _done(self) -> pd.DataFrame:
        """Options of the combinations that were computed."""
        done = self.specifications["status"] == "done"
        return self.specifications.loc[done, self.decisions["decision"].tolist()].astype(str)

    @property
    def _computed(self) -> IntArray:
        """Number of options of each decision that were computed."""
        return np.asarray(self._done.nunique(), dtype=np.intp)

    @property
    def _varied(self) -> list[str]:
        """Decisions of which several options were computed."""
        return self.decisions.loc[self._computed > 1, "decision"].astype(str).tolist()

    @property
    def _alone(self) -> pd.DataFrame:
        """Decisions of which one of several options alone was computed."""
        alone: pd.DataFrame = self.decisions[(self._computed == 1) & (self.decisions["options"] > 1)]
        return alone

    def _not_varied(self) -> list[str]:
        """Sentences on decisions of which one option alone was computed."""
        done = self._done
        return [
            f"How {row['decision']} moves the answer is not known: of its {row['options']} options only "
            f"“{done[row['decision']].iloc[0]}” could be computed."
            for row in self._alone.to_dict("records")
        ]

    @property
    def _unit(self) -> str:
        """The unit of a number within a sentence; none of cosine distance."""
        return " standard deviations of distances" if self.standardised else ""

    @property
    def _choices(self) -> NDArray[np.bool_]:
        """Which of the decisions and the residual can move the answer: a decision with one option moves nothing."""
        return np.append(self._computed > 1, True)

    def _dependence(self, prob: float) -> str:
        """A sentence on the sign of the answer: in how many specifications it is the same."""
        table = self.table(prob).loc[self.distinct.index]
        total = len(table)
        sure = {"negative": int((table["high"] < 0).sum()), "positive": int((table["low"] > 0).sum())}
        found = {"negative": int((table["estimate"] < 0).sum())}
        found["positive"] = total - found["negative"]
        main, other = sorted(found, key=lambda sign: -found[sign])
        counted = f"All {total:,} estimates are {main}"
        if found[other]:
            counted = (
                f"{found[main]:,} of {total:,} estimates {agreed(found[main], 'is', 'are')} {main} and "
                f"{found[other]:,} {agreed(found[other], 'is', 'are')} {other}"
            )
        same, least = self.signs()["p_all_one_sign"], (1 + prob) / 2
        verdict = "Whether the sign is the same under all choices is not known"
        if not found[other] and same >= least:
            verdict = "The sign is the same under all choices"
        elif all(sure.values()) and 1 - same >= least:
            verdict = "The sign depends on the choices"
        clear = sum(sure.values())
        return f"{counted}; {clear:,} of {total:,} intervals {agreed(clear, 'excludes', 'exclude')} 0. {verdict}."

    def _strongest(self, prob: float) -> str:
        """Which choice moves the answer most and by how much, where that is known."""
        names = [*self.decisions["decision"].astype(str), RESIDUAL]
        chosen = np.flatnonzero(self._choices)
        draws = self.draws("spread")[:, chosen]
        if (draws <= ROUNDING).all():
            return "No choice is found to move the answer."
        place = int(draws.mean(axis=0).argmax())
        most = float((draws.argmax(axis=1) == place).mean())
        name = names[chosen[place]]
        if most < (1 + prob) / 2:
            return "Which choice moves the answer most is not known."
        if name == RESIDUAL:
            return f"What combinations of choices add moves the answer most (probability {share(most)})."
        effects, every = self.effects(prob), self.draws("effect")
        rows = np.flatnonzero(effects["decision"] == name)
        means = effects["mean"].to_numpy()[rows]
        low, high = rows[means.argmin()], rows[means.argmax()]
        by = {end: value[0] for end, value in describe((every[:, high] - every[:, low])[:, None], prob).items()}
        size = f"{signed(by['mean'])}{self._unit} higher {_taken(name, effects['option'][high])} than"
        ends = f"{_taken(name, effects['option'][low])} ({percent(prob)} interval {ends_of(by)}"
        if not excludes_zero(by):
            return f"No choice credibly moves the answer: by that of {name} it is {size} {ends}, which includes 0)."
        return f"The choice of {name} moves the answer most (probability {share(most)}): it is {size} {ends})."

    def _decided(self, prob: float) -> list[str]:
        """Sentences on how far each decision moves the answer, the farthest first."""
        table = self.spreads(prob).assign(share=self.shares(prob)["mean"])
        table["name"] = table["decision"].astype(str).replace(RESIDUAL, "combinations of decisions")
        table = table[self._choices].reset_index(drop=True)
        tested = table["p_value"].notna().any()
        named = []
        for row in table.sort_values("mean", ascending=False).to_dict("records"):
            p = f"; p = {row['p_value']:.2g}" if np.isfinite(row["p_value"]) else ""
            mean, low, high = (figure(row[name] if row[name] > ROUNDING else 0.0) for name in ("mean", "low", "high"))
            status = "" if row["decision"] == RESIDUAL else f" ({DECLARED[row['status']]})"
            named.append(f"{row['name']}{status} {mean} ({low} to {high}{p})")
        shares = ", ".join(f"{row['name']} {100 * row['share']:.0f}%" for row in table.to_dict("records"))
        against, large = "", ""
        if tested:
            against = ", with the p-value of its effects against those on random topics"
            large = (
                " Where p is large it is not known whether a decision moves the answer more than lists without a bias."
            )
        return [
            "How far each decision moves the answer, as the standard deviation of its effects over the "
            f"specifications{against}: {'; '.join(named)}.{large}",
            f"Shares of the variance between specifications: {shares}. Random topics, which are no bias, have shares "
            "too.",
        ]

    def front(self, prob: float = PROB) -> Page:
        """The first screen of a report."""
        drawn = partial(drawing, "plot_multiverse", self, prob=prob)
        picture = Picture("multiverse", "Every specification, by its estimate, with the decisions behind it", drawn)
        decisions = many(int((self.decisions["options"] > 1).sum()), "decision")
        lead = f"{len(self.specifications):,} combinations of {decisions}."
        silent = "Choices that are not among these decisions may matter too."
        return front_page(
            "Does the answer depend on the choices?", lead, self.findings(prob), self.notes, picture, silent
        )

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report: means, shares, effects, and all specifications."""
        null, spreads = self.against_topics(), declared(self.spreads(prob))
        return filled(
            (
                Section("Mean over specifications", [whole_table("By principled decision", self.means(prob))]),
                Section("What decides", [whole_table("Standard deviation of the effects", spreads)]),
                Section("Options", [whole_table("What each option adds to the mean", self.effects(prob))], shut=True),
                Section("Shares", [whole_table("Share of the variance", declared(self.shares(prob)))], shut=True),
                Section("Random topics", [] if null.empty else [whole_table("The curve against random topics", null)]),
                Section("Specifications", [whole_table("All combinations", self.table(prob))], shut=True),
            )
        )

    def sources(self) -> tuple[Any, ...]:
        """Specification curves, multiverse analysis, the second stage, and the word lists and embeddings."""
        return (
            Cited("second stage: multiverse", "bayesbias"),
            Cited(
                "specification curve",
                "Simonsohn, Simmons and Nelson (2020), Specification curve analysis, Nature Human Behaviour 4",
                "10.1038/s41562-020-0912-z",
            ),
            Cited(
                "multiverse decisions",
                "Del Giudice and Gangestad (2021), A traveler's guide to the multiverse, Advances in Methods and "
                "Practices in Psychological Science 4(1)",
                "10.1177/2515245920954925",
            ),
            *self.cited,
        )


def declared(table: pd.DataFrame) -> pd.DataFrame:
    """Decisions with their statuses in words."""
    return table.assign(status=table["status"].map(DECLARED)).rename(columns={"status": "as declared"})


def multiverse_of(
    specifications: pd.DataFrame,
    decisions: Mapping[str, str],
    y: FloatArray,
    covariance: FloatArray,
    null: FloatArray,
    standardised: bool,
    seed: int,
    notes: Sequence[str] = (),
    cited: Sequence[Any] = (),
) -> Multiverse:
    """The result from the estimates (n,) of the specifications that are done, with their joint covariance.

    ``specifications`` has one row for each combination: the decisions, ``status`` and ``reason``; ``decisions`` the
    status of each; ``null`` estimates (replicates, n), or (0, n).
    """
    table = specifications.reset_index(drop=True).copy()
    done = np.flatnonzero(table["status"] == "done")
    if not len(done):
        reasons = "; ".join(dict.fromkeys(table["reason"].astype(str)))
        raise InputError(f"no specification could be computed: {reasons}")
    first = distinct(y, covariance)
    kept = np.flatnonzero(first == np.arange(len(y)))
    table["estimate"], table["se"] = np.nan, np.nan
    table.loc[done, "estimate"], table.loc[done, "se"] = y, np.sqrt(np.maximum(np.diag(covariance), 0))
    same = np.where(first == np.arange(len(y)), -1, done[first])
    table["same_as"] = pd.array([pd.NA] * len(table), dtype="Int64")
    table.loc[done, "same_as"] = pd.array([pd.NA if place < 0 else int(place) for place in same], dtype="Int64")
    rows = table.loc[done].reset_index(drop=True)
    position = np.searchsorted(kept, first)
    made = [_decision(name, list(decisions), rows, position, len(kept)) for name in decisions]
    own = covariance[np.ix_(kept, kept)]
    tree = _posterior(y[kept], own, made, standardised, seed)
    counts = [specifications[name].astype(str).nunique() for name in decisions]
    return Multiverse(
        decisions=pd.DataFrame(
            {"decision": list(decisions), "status": list(decisions.values()), "options": counts}
        ).astype({"decision": "string", "status": "string"}),
        specifications=table,
        covariance=own,
        tree=tree,
        designs=tuple(each.design for each in made),
        null=null[:, kept],
        standardised=standardised,
        notes=tuple(notes),
        cited=tuple(cited),
    )


def _taken(decision: str, option: str) -> str:
    """An option of a decision in a sentence; that of leaving a word out names the word."""
    if decision != WITHOUT:
        return f"with {option}"
    return "with all words" if option == NONE else f"without {option}"


@dataclass(frozen=True)
class _Decision:
    """A decision as the model of all specifications sees it."""

    name: str
    options: tuple[str, ...]
    design: FloatArray  # shares of 1 for the effects behind each distinct specification, (n, effects)
    effect: IntArray  # of each option: options of the same specifications have one
    matters: bool  # whether it changes a specification


def _decision(name: str, names: Sequence[str], rows: pd.DataFrame, position: IntArray, size: int) -> _Decision:
    """A decision from the combinations that are done, each the same as one of so many distinct specifications."""
    codes, values = pd.factorize(rows[name].astype(str))
    member = np.zeros((size, len(values)))
    # a specification that several combinations are the same as has a share of each of their options
    np.add.at(member, (position, codes), 1.0)
    # options of the same specifications have one effect: a difference known to be 0 would say that all are 0
    effect = pd.factorize(pd.Series([column.tobytes() for column in member.T]))[0]
    design = member @ np.eye(effect.max() + 1)[effect]
    # whether two specifications that differ in this decision alone are different
    others = [other for other in names if other != name]
    keys = rows[others].astype(str).agg("\t".join, axis=1) if others else pd.Series("", index=rows.index)
    apart = pd.factorize(keys)[0]
    pairs = np.unique(np.column_stack([apart, position]), axis=0)
    return _Decision(
        name=name,
        options=tuple(map(str, values)),
        design=design / design.sum(axis=1, keepdims=True),
        effect=effect,
        matters=len(pairs) > len(np.unique(apart)),
    )


def _posterior(
    y: FloatArray, covariance: FloatArray, decisions: Sequence[_Decision], standardised: bool, seed: int
) -> xr.DataTree:
    """Draws of the model of the decisions; a decision that changes no specification has the share 0."""
    rng = np.random.default_rng([seed, 3])
    chosen = [i for i, each in enumerate(decisions) if each.matters] if len(y) > 2 else []
    size = len(decisions) + 1
    spreads, scales = np.zeros((DRAWS, size)), np.zeros((DRAWS, size))
    effects = [np.zeros((DRAWS, len(each.options))) for each in decisions]
    if chosen:
        designs = [decisions[i].design for i in chosen]
        draws = Decisions(y, covariance, designs, STANDARD_WIDTH if standardised else WIDTH).draw(DRAWS, rng)
        theta = draws.theta
        spreads[:, [*chosen, size - 1]], scales[:, [*chosen, size - 1]] = draws.spreads, draws.scales
        begins = np.cumsum([0, *(design.shape[1] for design in designs)])
        for begin, i in zip(begins.tolist(), chosen, strict=False):
            effects[i] = draws.effects[:, begin + decisions[i].effect]
    else:
        values, basis = np.linalg.eigh(covariance)
        theta = y + rng.standard_normal((DRAWS, len(y))) @ (basis * np.sqrt(np.maximum(values, 0))).T
    total = (spreads**2).sum(axis=1, keepdims=True)
    variables: dict[str, tuple[str | None, FloatArray]] = {
        "theta": ("specification", theta),
        "spread": ("decision", spreads),
        "share": ("decision", np.divide(spreads**2, total, out=np.zeros_like(spreads), where=total > 0)),
        "sd": ("decision", scales),
        "effect": ("option", np.hstack(effects)),
    }
    labels = {
        "decision": [*(each.name for each in decisions), RESIDUAL],
        "option": [f"{each.name}={option}" for each in decisions for option in each.options],
    }
    return posterior_tree(variables, seed, specification=np.arange(len(y)), **labels)
