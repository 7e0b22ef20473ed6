"""The page of a fit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd
import xarray as xr

from bayesbias._page import SCORES, TEXTS, Block, Code, Items, Page, Picture, Section, Table, filled, table_of, unsaid
from bayesbias._phrases import MINUS, difference, ends_of, excludes_zero, figure, percent, share, signed
from bayesbias._results import Result
from bayesbias.calibration.topics import TopicNull
from bayesbias.checks.convergence import Verdict, check_predictions, diagnose
from bayesbias.checks.summaries import PROB, summary, variance_shares
from bayesbias.comparison import (
    SIMILAR,
    Plan,
    adjustment,
    beside_associated,
    cluster_sentence,
    contrasts,
    decomposable_controls,
    decomposition,
    influence,
    plan,
    prior_sensitivity,
    size_sentence,
)
from bayesbias.comparison.associations import DIFFERENCE, POOLED
from bayesbias.distances.storage import Coverage
from bayesbias.distances.vocabularies import FREQUENCY, LENGTH
from bayesbias.errors import listed, many
from bayesbias.models import list_models
from bayesbias.models.fits import fit
from bayesbias.models.results import Fit, kept_open
from bayesbias.models.spec import load_model
from bayesbias.plots.fits import (
    plot_association,
    plot_coefficients,
    plot_contrasts,
    plot_decomposition,
    plot_distances,
    plot_overview,
    plot_predictions,
)
from bayesbias.reporting.verdicts import (
    contrast_sentences,
    effective_sentences,
    frequency_sentences,
    reservations,
    verdict_sentences,
    words_sentence,
)
from bayesbias.words import OTHER, OWN, PHRASES, STEREOTYPES, labelled, list_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTERPARTS = {"published": ("auto",), "related": ("published", "crossed")}
"""Models that are set beside a fit's own; the published one alone where nothing else is said."""


def _side_by_side(post: xr.DataTree, prob: float) -> pd.DataFrame:
    """Whole-list contrasts of these protected words under a fit's model and others, fitted to the same distances.

    Columns ``contrast``, ``model``, ``mean``, ``low``, ``high``, ``width``. Counterparts are the published
    model and, for related words, the crossed one; the default beside the published model.
    """
    result = Fit.read(post)
    names = COUNTERPARTS.get(result.model, ("published",))
    table, seed = result.data.to_frame(), result.seed
    fits = [*(Fit.read(fit(table, name, seed=seed)) for name in names), result]
    rows = []
    labels = result.labels
    for second in beside_associated(result):
        for each in fits:
            with kept_open(each):
                row = contrasts(each.tree, "associated", second, prob).iloc[0]
            width = row["high"] - row["low"]
            label = f"associated{MINUS}{labelled(second, labels)}"
            rows.append((label, each.model, row["mean"], row["low"], row["high"], width))
    return pd.DataFrame(rows, columns=["contrast", "model", "mean", "low", "high", "width"])


def _what_changed(table: pd.DataFrame) -> list[str]:
    """A sentence for each contrast of :func:`_side_by_side`: how the width changed, and whether the conclusion did."""
    sentences = []
    pairs = [
        (contrast, first, rows[-1])
        for contrast, group in table.groupby("contrast", sort=False)
        for rows in [group.to_dict("records")]
        for first in rows[:-1]
    ]
    for contrast, first, second in pairs:
        ratio = second["width"] / first["width"]
        sentence = (
            f"{contrast}: {signed(first['low'])} to {signed(first['high'])} under {first['model']}, "
            f"{signed(second['low'])} to {signed(second['high'])} under {second['model']}, {ratio:.2f} times "
            "as wide; "
        )
        settled = [excludes_zero(row) for row in (first, second)]
        if settled[0] == settled[1]:
            sentence += f"both intervals {'exclude' if settled[0] else 'include'} 0."
        else:
            names = (first["model"], second["model"]) if settled[0] else (second["model"], first["model"])
            sentence += f"the {names[0]} interval excludes 0, the {names[1]} one does not."
        sentences.append(sentence)
    return sentences


MOST_WORDS = 10
NEAREST = 6  # stereotype words that are named as nearest to a group
OVERVIEW = "Mean distance to own stereotypes less that to other words"
EXAMPLES = 3  # stereotype words that the first screen names
LINES = 30  # nearest, and farthest, stereotype words that the figure of a protected word shows
MOST_GROUPS = 4  # groups of whose words a figure is drawn
HEAVY = {"nu", "word_nu"}  # degrees of freedom of distributions with heavy tails
SMALL = 0.05  # contrast that is planned for where the headline excludes 0, in cosine distance
NOT_ASKED = (
    "Not computed. bayesbias report FIT --out report.html adds how much the answer depends on the model, the prior and "
    "single words."
)
UNKNOWN = "The table carried no coverage: how many of the words that were asked for it holds is not known."
MODEL_SENTENCES = {
    "related": "This fit estimates from the vectors how the distances of similar words are correlated. The published "
    "model takes all distances for independent, the crossed one those of different words.",
    "modelled": "This fit gives every attribute word an effect of its own, since distances that share a word are "
    "correlated. It takes different words for unrelated. The published model takes all distances for independent.",
    "independent": "This fit takes distances that share an attribute word for independent. They are correlated, as the "
    "default model, set beside it here, allows for.",
}
METHODS = {
    "related": "The covariance of the distances was estimated from the vectors of the embedding: attribute words that "
    "are similar have correlated distances. A factor for each kind of list follows from the scatter within lists",
    "modelled": "Attribute words had effects of their own, crossed with those of protected words, since distances that "
    "share a word are correlated",
    "independent": "Distances were taken for independent given the mean of their protected word and connection, as in "
    "the published model",
}
ENGINES = {
    "exact": "by quadrature, with {draws:,} independent draws",
    "marginal": "by importance sampling of the scales and exact conditional distributions, with {draws:,} independent "
    "draws",
    "nuts": "by the No-U-Turn sampler, with {draws:,} draws",
}
ENDS = {
    "mean": ("mean", "number"),
    "sd": ("sd", "number"),
    "low": ("low", "number"),
    "high": ("high", "number"),
}
CLOSER = {**ENDS, "p_closer": ("P(closer)", "share")}
OF_WORDS = {"protected_word": ("protected word", "text"), **CLOSER}


@dataclass(frozen=True, repr=False, eq=False)
class FitReport(Result):
    """A fit as a result with a page.

    Attributes
    ----------
    result
        The fit.
    topics
        What :func:`topic_null` returned for its word lists, if that is known.
    sensitivity
        Whether the page tells how much the answer depends on the model, the prior and single words.
    """

    picture: ClassVar[str] = "plot_overview"

    result: Fit
    topics: TopicNull | None = None
    sensitivity: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the fit."""
        return tuple(self.result.notes)

    def table(self) -> pd.DataFrame:
        """The contrasts of the headline."""
        return contrasts(self.result.tree)

    def findings(self, prob: float = PROB) -> list[str]:
        """What the fit says, with the reservations that belong to it."""
        return verdict_sentences(self.result.tree, prob)

    def figure(self, **options: Any) -> Figure:
        """The whole-list contrasts."""
        return plot_overview(self.result.tree, **options)

    def sources(self) -> tuple[Any, ...]:
        """The fit, which records its model, word lists and embedding."""
        return (self.result.tree,)

    def front(self, prob: float = PROB) -> Page:
        """The first screen: the answer, one figure, three lines."""
        facts = self._given(prob)
        record, table = facts.coverage, facts.table
        overview = partial(plot_overview, facts.post, self.topics, prob)
        listed_as = "A distance table" if record is None else f"Word list {record.word_list}"
        numbers = "scores" if self.result.data.measure else "cosine distances"
        return Page(
            title=_question(facts),
            lead=f"{listed_as}: {len(table):,} {numbers} of "
            f"{many(table['protected_word'].nunique(), 'protected word')} "
            f"to {many(table['attribute_word'].nunique(), 'attribute word')}. Model {self.result.model}, engine "
            f"{self.result.engine}; intervals hold {facts.percent} of the posterior mass.",
            answer=_answer(facts),
            lines=_lines(facts),
            picture=None if facts.other is None else Picture("overview", OVERVIEW, overview, _spoken(facts)),
            fault="" if facts.verdict.ok else facts.verdict.headline(),
        )

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report."""
        facts = self._given(prob)
        return filled(
            (
                Section("What was measured", list(_measured(facts))),
                Section("Words that are missing", list(_missing(facts)), shut=True),
                Section("Words", list(_words(facts))),
                Section("Contrasts", list(_contrasts(facts)), shut=True),
                Section("Frequency of words", list(_frequency(facts)), shut=True),
                Section(f"Distances adjusted for {facts.post.attrs.get('adjust')}", list(_adjusted(facts))),
                Section("Checks", list(_checks(facts))),
                Section("Sensitivity", list(_sensitivity(facts)) if self.sensitivity else [NOT_ASKED]),
                Section("All coefficients", list(_coefficients(facts)), shut=True),
                Section("Methods text for a paper", [_method(facts)], shut=True),
                Section("How to reproduce this", list(_reproduction(facts)), shut=True),
            )
        )

    def _given(self, prob: float) -> _Given:
        """The fit with what its page needs several times; made once for each mass of the intervals."""
        if prob not in self._made:
            self._made[prob] = _given_of(self.result, prob, self.topics)
        return self._made[prob]

    @cached_property
    def _made(self) -> dict[float, _Given]:
        return {}


class _Given(NamedTuple):
    """A fit with what its page needs several times.

    ``other`` is the connection of the headline contrast, and ``plan`` the list length that would decide it; None where
    there is none. ``headline`` is its table.
    """

    result: Fit
    table: pd.DataFrame
    prob: float
    topics: TopicNull | None
    verdict: Verdict
    other: str | None
    headline: pd.DataFrame
    plan: Plan | None

    @property
    def post(self) -> xr.DataTree:
        """The tree of the fit."""
        return self.result.tree

    @property
    def coverage(self) -> Coverage | None:
        """The record of how word lists met the embedding."""
        return self.result.data.coverage

    @property
    def labels(self) -> dict[str, str]:
        """What control lists are called."""
        return self.result.labels

    @property
    def percent(self) -> str:
        """Mass of the intervals."""
        return percent(self.prob)


def _given_of(result: Fit, prob: float, topics: TopicNull | None) -> _Given:
    table = result.data.table
    if result.data.coverage is not None:
        table.attrs["coverage"] = result.data.coverage.as_dict()
    other = next(iter(beside_associated(result)), None) if len(result.data.protected_words) > 1 else None
    headline = pd.DataFrame() if other is None else contrasts(result.tree, "associated", other, prob)
    planned = None if other is None else _plan(result, headline.iloc[0], prob, other)
    return _Given(result, table, prob, topics, diagnose(result.tree), other, headline, planned)


def _answer(facts: _Given) -> str:
    """The result in a sentence that needs no statistics."""
    if facts.other is None:
        return contrast_sentences(facts.result, facts.prob)[0]
    record, row = facts.coverage, facts.headline.iloc[0]
    where = "In these vectors" if record is None or not record.embedding else f"In {record.embedding['name']}"
    where = "By these scores" if facts.result.data.measure else where
    groups = [str(name) for name in facts.table["group"].drop_duplicates()]
    named = "these protected words" if "" in groups or len(groups) > MOST_GROUPS else f"words for {_and(groups)}"
    kind = labelled(facts.other, facts.labels, PHRASES)
    credible = f"(credible at {facts.percent})"
    if row["high"] < 0:
        return f"Yes. {where}, {named} are on average closer to their own stereotypes than to {kind} {credible}."
    if row["low"] > 0:
        return f"No. {where}, {named} are on average farther from their own stereotypes than from {kind} {credible}."
    return (
        f"Inconclusive. {where}, it cannot be told whether {named} are closer to their own stereotypes than to {kind}."
    )


def _question(facts: _Given) -> str:
    """What the page answers."""
    if facts.other is None:
        return "How far are these words from each other?"
    return (
        f"Are words of a group closer to their own stereotypes than to {labelled(facts.other, facts.labels, PHRASES)}?"
    )


def _examples(facts: _Given) -> str:
    """The stereotype words that lie nearest to their own group, beside the other groups."""
    table = facts.table[facts.table["connection"].isin(STEREOTYPES)]
    if facts.other != OTHER:
        return ""
    means = table.groupby(["attribute_word", "connection", "group"])["distance"].mean().reset_index()
    own = means[means["connection"] == OWN].set_index("attribute_word")
    others = means[means["connection"] == OTHER].groupby("attribute_word")["distance"].mean()
    nearer = (others - own["distance"]).dropna().sort_values(ascending=False)
    nearer = nearer[~nearer.index.duplicated() & (nearer > 0)]
    if nearer.empty:
        return ""
    groups = own["group"][~own.index.duplicated()]
    first = nearer.groupby(groups, sort=False).head(1)
    chosen = pd.concat([first, nearer.drop(first.index)]).head(EXAMPLES).sort_values(ascending=False)
    named = "; ".join(
        f"{word}, {figure(value)} nearer to words for {groups[word]} than to the others"
        for word, value in zip(chosen.index.astype(str), chosen, strict=True)
    )
    return f"Large differences among {many(len(own), 'stereotype word')}: {named}."


def _and(names: list[str]) -> str:
    """Names as a sentence lists them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _spoken(facts: _Given) -> str:
    """The figure of the first screen for those who hear it."""
    rows = []
    for other in beside_associated(facts.result):
        row = contrasts(facts.post, "associated", other, facts.prob).iloc[0]
        rows.append(f"associated minus {labelled(other, facts.labels)} {signed(row['mean'])}, {ends_of(row)}")
    return f"Differences in mean distance with their {facts.percent} intervals: {'; '.join(rows)}."


def _lines(facts: _Given) -> dict[str, str]:
    """How sure, about which words, and what would decide it."""
    if facts.plan is None or facts.other is None:
        return {}
    table = facts.headline
    row = table.iloc[0]
    closer = float(row["p_closer"])
    direction, sure = ("closer", closer) if row["mean"] < 0 else ("farther", 1 - closer)
    similar = contrasts(facts.post, "associated", facts.other, facts.prob, population=SIMILAR).iloc[0]
    settled = excludes_zero(row)
    beyond = excludes_zero(similar)
    further = (
        f"For further protected words like these the interval, {ends_of(similar)}, "
        f"{'excludes' if beyond else 'includes'} 0."
    )
    lines = {
        "For example?": _examples(facts),
        "How sure?": f"The probability that they are {direction} is {share(sure)}. The mean difference is "
        f"{signed(row['mean'])} ({facts.result.data.unit}), {facts.percent} interval {ends_of(row)}: what other lists "
        f"of stereotypes, as long and as coherent as these, could have given. {size_sentence(table)}"
        + ("" if facts.topics is None else f" {facts.topics.sentence}"),
        "About which words?": f"About these {many(len(table) - 1, 'protected word')} and lists of stereotypes like "
        f"these. {words_sentence(table)} {further}",
    }
    if not settled or not beyond:
        lines["What would decide it?"] = _open_question(settled, facts.plan)
    return {name: line for name, line in lines.items() if line} | unsaid(
        "A word's row is about that word; further protected words may differ.",
        about=SCORES if facts.result.data.measure else TEXTS,
    )


def _open_question(settled: bool, planned: Plan) -> str:
    """What further words would tell."""
    if settled:
        return (
            "For further words like these it would take more protected words, as unlike each other as possible: "
            "longer lists of stereotypes do not help."
        )
    return (
        f"A difference of {signed(planned.effect)} would be seen with probability {percent(planned.power)} with longer "
        f"lists: {planned.ways}."
    )


def _plan(result: Fit, row: pd.Series, prob: float, other: str) -> Plan:
    """What list length would decide the headline contrast: as large as its posterior mean, or a small one if it is."""
    settled = excludes_zero(row)
    effect = SMALL if settled else round(float(row["mean"]), 3) or 0.001
    own_scales = result.tree.attrs["attribute_words"] == "modelled" and not HEAVY & set(result.posterior.data_vars)
    return plan(result.tree if own_scales else result.data.to_frame(), effect=effect, prob=prob, second=other)


def _measured(facts: _Given) -> Iterator[Block]:
    record = facts.coverage
    if record is None:
        yield UNKNOWN
        return
    related = facts.result.data.relatedness
    worth = {} if related is None else related.effective_words().set_index(["kind", "list"])["effective"].to_dict()
    if record.embedding:
        size = f"{record.embedding['vectors']:,} vectors of {record.embedding['dimensions']} dimensions"
        yield f"Embedding {record.embedding['name']}: {size}."
    source = f": {record.source}" if record.source else ""
    yield f"Word list {record.word_list}{source}{f', doi {record.doi}' if record.doi else ''}."
    rows = [
        (
            labelled(each["list"], facts.labels),
            each["kind"],
            "unknown" if each["asked"] is None else f"{each['asked']:,}",
            each["found"],
            worth.get((each["kind"], each["list"])),
            listed(each["missing"]),
        )
        for each in record.lists
    ]
    columns = {
        "list": "text",
        "kind": "text",
        "asked": "text",
        "found": "count",
        "effective": "plain",
        "missing": "text",
    }
    yield Table(
        "Words asked for and found, by list, with the effective number of words for the mean distance of the list",
        columns,
        rows,
    )
    yield Items([*record.notes(facts.table, missing=False), *effective_sentences(facts.result)])


def _missing(facts: _Given) -> Iterator[Block]:
    """All missing words of lists that name only some of them above."""
    record = facts.coverage
    for each in [] if record is None else record.lists:
        if len(each["missing"]) > len(listed(each["missing"]).split(", ")):
            yield f"{labelled(each['list'], facts.labels)} ({each['kind']}): {', '.join(each['missing'])}."


def _words(facts: _Given) -> Iterator[Block]:
    """The stereotype words nearest to each group, and the association of each protected word."""
    table = facts.table[facts.table["connection"].isin(STEREOTYPES)]
    if not table.empty:
        rows = []
        for group, part in table.groupby("group", sort=False, observed=True):
            means = part.groupby("attribute_word", observed=True)["distance"].mean().nsmallest(NEAREST)
            rows.append((str(group), ", ".join(f"{word} ({value:.3f})" for word, value in means.items())))
        caption = f"Stereotype words nearest to the words of each group, with their means ({facts.result.data.unit})"
        yield Table(caption, {"group": "text", "nearest": "text"}, rows)
    if facts.other is None:
        return
    if facts.headline.attrs["rows"] != DIFFERENCE:
        matrix = partial(plot_association, facts.post, facts.prob)
        yield Picture("association", "Association of each protected word with each stereotype list", matrix)
        yield ASSOCIATION_TEXT
    words = facts.headline.iloc[1:].set_index("protected_word")["mean"]
    groups = facts.table.drop_duplicates("protected_word").set_index("protected_word")["group"]
    chosen = words.groupby(groups.reindex(words.index).to_numpy(), sort=False).idxmin()
    for i, word in enumerate(chosen.head(MOST_GROUPS)):
        distances, which = _nearest_and_farthest(facts.table[facts.table["protected_word"] == word])
        caption = f"Distances of {word} to {which}"
        yield Picture(f"word-{i}", caption, partial(plot_distances, distances, str(word)))
    drawn = partial(plot_contrasts, facts.post, prob=facts.prob, second=facts.other)
    yield Picture(
        "contrasts", f"Associated {MINUS.strip()} {labelled(facts.other, facts.labels)}, by protected word", drawn
    )
    yield facts.headline.attrs["meaning"]


def _nearest_and_farthest(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of a protected word that a figure has place for, and which they are."""
    own = rows[rows["connection"].isin(STEREOTYPES)].sort_values("distance", kind="stable")
    if len(own) <= 2 * LINES:
        return rows, "each stereotype word"
    middle = own.index[LINES:-LINES]
    return rows.drop(index=middle), f"the {LINES} nearest and the {LINES} farthest of {len(own):,} stereotype words"


ASSOCIATION_TEXT = (
    "The association of a word with a list is how much nearer the word is to this list than to the others, less how "
    "much nearer all protected words are, with groups of equal weight. With two groups the mean association of either "
    "group is the whole list, by arithmetic: two lists do not tell which group contributes it."
)


POOLED_CAPTION = (
    "Associations, partially pooled towards the whole list: closer to the truth on average, with intervals that miss "
    "it more often where words differ"
)


def _contrasts(facts: _Given) -> Iterator[Block]:
    yield Items(contrast_sentences(facts.result, facts.prob))
    for i, name in enumerate(decomposable_controls(facts.result)):
        label = labelled(name, facts.labels)
        title = f"Associated{MINUS}{label} as a sum of parts"
        if not i:
            yield Picture("decomposition", title, partial(plot_decomposition, facts.post, name, facts.prob))
        parts = decomposition(facts.post, name, facts.prob)
        parts["contrast"] = [difference(labelled(each, facts.labels)) for each in parts["contrast"]]
        columns = {"protected_word": ("protected word", "text"), "contrast": ("contrast", "text"), **CLOSER}
        yield table_of(
            f"{title}. Whole list: associated{MINUS}different, special to a word's own stereotypes, and "
            f"different{MINUS}{label}, shared by stereotype words of any kind. Words: association, "
            "nearness of the own list to all words, nearness of the word to the stereotypes of other groups; negative: "
            "closer",
            parts,
            columns,
        )
    for name in beside_associated(facts.result):
        rows = contrasts(facts.post, "associated", name, facts.prob)
        title = f"Associated{MINUS}{labelled(name, facts.labels)}"
        yield table_of(f"{title}; negative: associated is closer. {rows.attrs['meaning']}", rows, OF_WORDS)
        yield Items([*rows.attrs["notes"], f"{title}. {cluster_sentence(rows)}"])
        if rows.attrs["left_out"]:
            yield f"Without the distances that a row needs: {', '.join(rows.attrs['left_out'])}."
    if facts.other == OTHER and facts.headline.attrs["rows"] != DIFFERENCE:
        pooled = contrasts(facts.post, prob=facts.prob, rows=POOLED)
        yield table_of(POOLED_CAPTION, pooled.iloc[1:], OF_WORDS)
        if facts.table["group"].nunique() > 2:
            rows = contrasts(facts.post, "associated", facts.other, facts.prob, by="group")
            title = f"Association (associated{MINUS}{facts.other}) by group, and differences of groups"
            yield table_of(title, rows, {"group": ("group", "text"), **CLOSER})


def _frequency(facts: _Given) -> Iterator[Block]:
    balance = facts.verdict.balance
    if balance is not None:
        yield balance.sentence
        yield from balance.notes
        lists = balance.lists.assign(list=[labelled(name, facts.labels) for name in balance.lists["list"]])
        columns = {
            **{name: (name, "text") for name in ("list", "kind")},
            **{name: (name, "count") for name in ("words", "known")},
            **{
                name: (heading, "plain") for name, heading in (("mean", "mean"), ("low", "lowest"), ("high", "highest"))
            },
        }
        yield table_of(f"Words of each list by {balance.attribute} ({balance.unit}; {balance.source})", lists, columns)
        pairs = balance.contrasts.assign(
            contrast=[labelled(contrast, facts.labels) for contrast in balance.contrasts["contrast"]]
        )
        yield table_of(
            f"Lists of each contrast: difference of their mean {balance.attribute}, share of the two distributions "
            "that is common, and the difference in distance that this alone predicts",
            pairs,
            {
                "contrast": ("contrast", "text"),
                "difference": ("difference", "plain"),
                "overlap": ("in common", "percent"),
                "expected": ("expected", "number"),
            },
        )
        yield table_of(
            f"Each two lists: difference of their mean {balance.attribute}, share in common, and the mean, lowest and "
            "highest difference in distance that this alone predicts for a protected word",
            balance.pairs.assign(
                **{name: [labelled(pair, facts.labels) for pair in balance.pairs[name]] for name in ("first", "second")}
            ),
            {
                "first": ("list", "text"),
                "second": ("other list", "text"),
                "difference": ("difference", "plain"),
                "overlap": ("in common", "percent"),
                "expected": ("expected", "number"),
                "expected_low": ("lowest", "number"),
                "expected_high": ("highest", "number"),
            },
        )
        rows = balance.rows[balance.rows["warning"].astype(bool)]
        if len(rows):
            rows = rows.reindex(rows["expected"].abs().sort_values(ascending=False, kind="stable").index)
            yield table_of(
                f"Rows of single words of which {balance.attribute} alone predicts more than half a standard error: "
                f"the {min(len(rows), MOST_WORDS):,} largest of {len(rows):,}",
                rows.head(MOST_WORDS).assign(
                    contrast=[
                        difference(labelled(contrast, facts.labels)) for contrast in rows["contrast"][:MOST_WORDS]
                    ]
                ),
                {
                    "protected_word": ("protected word", "text"),
                    "contrast": ("contrast", "text"),
                    "expected": ("expected", "number"),
                    "distance": ("observed", "number"),
                    "se": ("standard error", "number"),
                },
            )


def _adjusted(facts: _Given) -> Iterator[Block]:
    """Contrasts before distances were adjusted for an attribute of words."""
    if "adjust" in facts.post.attrs:
        yield from frequency_sentences(facts.result, facts.prob)
        table = adjustment(facts.post, facts.prob)
        table["contrast"] = [difference(labelled(contrast, facts.labels)) for contrast in table["contrast"]]
        names = ("raw", "raw_low", "raw_high", "adjusted", "adjusted_low", "adjusted_high")
        columns = {"contrast": ("contrast", "text"), **{name: (name.replace("_", " "), "number") for name in names}}
        yield table_of(f"Contrasts as they are and adjusted for {facts.post.attrs['adjust']}", table, columns)


def _checks(facts: _Given) -> Iterator[Block]:
    yield facts.verdict.headline()
    yield Items([*facts.verdict.notes, *reservations(facts.result)])
    yield Table("Figures of the fit", {"figure": "text", "value": "text"}, list(facts.verdict.numbers().items()))
    table = check_predictions(facts.post, (0.5, facts.prob))
    table["connection"] = [labelled(name, facts.labels) for name in table["connection"].fillna("all")]
    shares = {name: (f"in {name[7:]}%", "percent") for name in table.columns if name.startswith("inside_")}
    yield table_of(
        "Share of distances inside their predictive equal-tailed intervals; a fitting model has shares near the "
        "nominal ones",
        table,
        {"connection": ("connection", "text"), **shares, "n": ("n", "count")},
    )
    yield Picture("predictions", "Observed and predicted distances", partial(plot_predictions, facts.post, facts.prob))
    if facts.topics is not None:
        yield (
            "The posterior interval says what other lists of stereotypes, as long and as coherent as these, could have "
            f"given. The chance check asks something else. {facts.topics.text()}"
        )
        null = facts.topics.table(facts.prob)
        columns = {"statistic": ("statistic", "text"), "observed": ("observed", "number"), "mean": ("mean", "number")}
        columns |= {"low": ("low", "number"), "high": ("high", "number"), "p_value": ("p-value", "plain")}
        yield table_of(f"Random lists: mean and central {facts.percent} of the null distribution", null, columns)
        pairs = facts.topics.similarity
        columns = {"first": ("list", "text"), "second": ("other list", "text")}
        columns |= {"cosine_target": ("cosine, as given", "plain"), "cosine_reached": ("of random lists", "plain")}
        yield table_of("Cosine of the mean vectors of two lists, less the mean of the vocabulary", pairs, columns)


def _sensitivity(facts: _Given) -> Iterator[Block]:
    """What the model, the prior and single words change."""
    models = _side_by_side(facts.post, facts.prob)
    if not models.empty:
        yield MODEL_SENTENCES.get(facts.post.attrs["attribute_words"], "")
        names = ("mean", "low", "high", "width")
        columns = {"contrast": ("contrast", "text"), "model": ("model", "text")}
        columns |= {name: (name, "number") for name in names}
        yield table_of("Whole-list contrasts under several models of the same distances", models, columns)
        yield Items(_what_changed(models))
    if facts.plan is None or facts.other is None or {*HEAVY, "m"} & set(facts.post["posterior"].data_vars):
        return
    yield facts.plan.text()
    yield str(prior_sensitivity(facts.post, "associated", facts.other))
    moved = influence(facts.post, words="stereotype").head(MOST_WORDS)
    columns = {"word": ("word", "text"), "kind": ("kind", "text"), "list": ("list", "text")}
    columns |= {"mean": ("contrast without it", "number"), "shift": ("change", "number")}
    columns |= {"shift_sd": ("in posterior sds", "plain")}
    yield table_of(
        f"What associated{MINUS}{labelled(facts.other, facts.labels)} becomes without a word, by refits: the protected "
        "and stereotype words that move it most",
        moved,
        columns,
    )


def _coefficients(facts: _Given) -> Iterator[Block]:
    drawn = partial(plot_coefficients, facts.post, facts.prob)
    yield Picture("coefficients", "Mean distances by connection and by protected word", drawn)
    shares = variance_shares(facts.post, facts.prob)
    columns = {"connection": ("connection", "text"), "component": ("part", "text")}
    columns |= {name: (heading, "percent") for name, heading in (("mean", "share"), ("low", "low"), ("high", "high"))}
    yield table_of("Shares of the variance of distances within each connection", shares, columns)
    everything = summary(facts.post, facts.prob)
    of_words = everything["protected_word"].notna()
    everything["connection"] = everything["connection"].fillna(everything.get("attribute_class")).fillna("")
    everything["connection"] = [labelled(name, facts.labels) for name in everything["connection"]]
    columns = {"connection": ("connection", "text"), **ENDS, "n": ("n", "count")}
    whole = {"parameter": ("parameter", "text"), **columns}
    yield table_of(
        f"Whole list ({facts.result.data.unit}); connection_mean is that of similar words, where the answer above is "
        "about the given ones; n counts distances",
        everything[~of_words],
        whole,
    )
    single = {"protected_word": ("protected word", "text"), **columns}
    yield table_of(
        f"Mean of each protected word by connection ({facts.result.data.unit})", everything[of_words], single
    )


def _method(facts: _Given) -> str:
    """What was done, as a paper says it."""
    attrs, record = facts.post.attrs, facts.coverage
    draws = facts.post["posterior"].sizes["chain"] * facts.post["posterior"].sizes["draw"]
    versions = facts.result.versions
    where, listed_as, measured = "", "", "the cosine distances"
    if record is not None:
        listed_as = f" of the list {record.word_list}"
        measured = f"{record.measure} (standardised)" if record.measure else measured
        if record.embedding:
            where = f" in {record.embedding['name']} ({record.embedding['vectors']:,} vectors)"
    stereotypes = facts.table[facts.table["attribute_class"].isin(facts.table["group"])]["attribute_word"].nunique()
    engine = ENGINES.get(str(attrs["engine"]), "with {draws:,} draws").format(draws=draws)
    text = (
        f"We measured {measured} of {many(facts.table['protected_word'].nunique(), 'protected word')}"
        f"{listed_as} to {many(facts.table['attribute_word'].nunique(), 'attribute word')}, {stereotypes:,} of them "
        f"stereotypes{where}: {len(facts.table):,} distances. We modelled all distances together (model "
        f"{attrs['model']}). {METHODS.get(attrs['attribute_words'], 'The model is printed below')}. The posterior was "
        f"computed {engine} (bayesbias {versions['bayesbias']}, seed {attrs['seed']}). We report posterior means and "
        f"{facts.percent} equal-tailed intervals."
    )
    if facts.other is None:
        return text
    row = facts.headline.iloc[0]
    return (
        f"{text} For these protected words and attribute lists like these, associated{MINUS}"
        f"{labelled(facts.other, facts.labels)} was {signed(row['mean'])} ({facts.percent} interval {ends_of(row)}; "
        f"negative: own stereotypes are closer)."
    )


def _reproduction(facts: _Given) -> Iterator[Block]:
    attrs, record = facts.post.attrs, facts.coverage
    words = "WORDS" if record is None else record.word_list
    if words not in list_words()["name"].tolist():
        words = "WORDS.toml"
    source = {} if record is None else record.embedding or {}
    name = "DEBIASED.npz" if source.get("debiasing") else str(source.get("name", "EMBEDDING"))
    bundled, model = list_models().set_index("name")["path"], str(attrs["model"])
    if model not in bundled or load_model(bundled[model]).hash != attrs["model_hash"]:
        model = "MODEL.toml"
    sizes, adjusted = facts.post["posterior"].sizes, attrs.get("adjust")
    options = f" --draws {sizes['chain'] * sizes['draw']}" + " --engine nuts" * (attrs["engine"] == "nuts")
    options += f" --adjust {adjusted}" * (adjusted in (FREQUENCY, LENGTH))
    yield Code(
        f"bayesbias distances {_shell(name)} {_shell(words)} --out distances.csv\n"
        f"bayesbias fit distances.csv --model {_shell(model)} --seed {attrs['seed']}{options} --out fit.nc\n"
        "bayesbias report fit.nc --out report.html"
    )
    beside = [
        f"DEBIASED.npz is the embedding debiased in the same way ({source['debiasing']})."
        if source.get("debiasing")
        else "",
        "MODEL.toml is the model below: its text or priors are not those of the package." * (model == "MODEL.toml"),
        "Frequencies are those that the notes of the fit name; --frequencies gives them." * (adjusted == FREQUENCY),
        f"Distances were adjusted for {adjusted}, with numbers of the user's own: that takes bb.fit(table, adjust=...)."
        if adjusted and adjusted not in (FREQUENCY, LENGTH)
        else "",
    ]
    yield Items([sentence for sentence in beside if sentence])
    versions = ", ".join(f"{name} {value}" for name, value in facts.result.versions.items())
    yield Items(
        [
            f"Versions: {versions}.",
            f"Hash of the model: {attrs['model_hash'][:16]}. Hash of the distances: {_hash(facts.table)[:16]}.",
            f"Seed {attrs['seed']}, engine {attrs['engine']}.",
        ]
    )
    yield Code(attrs["model_text"])


def _shell(text: str) -> str:
    """A word that a shell takes as one."""
    return (
        text
        if text.replace("-", "").replace("_", "").replace(".", "").isalnum()
        else "'" + text.replace("'", "'\\''") + "'"
    )


def _hash(table: pd.DataFrame) -> str:
    """A number for the words and distances of a table, whatever the order of its rows."""
    rows = sorted(
        f"{word}\t{attribute}\t{connection}\t{distance!r}"
        for word, attribute, connection, distance in table[
            ["protected_word", "attribute_word", "connection", "distance"]
        ]
        .astype({"distance": float})
        .itertuples(index=False)
    )
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()
