"""The page of a fit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pandas as pd
import xarray as xr

from bayesbias._phrases import MINUS, difference, ends_of, excludes_zero, figure, percent, share, signed
from bayesbias._results import (
    SCORES,
    TEXTS,
    Block,
    Code,
    Items,
    Page,
    Picture,
    Result,
    Section,
    Table,
    filled,
    table_of,
    unsaid,
)
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
from bayesbias.distances.list_coverage import Coverage
from bayesbias.distances.vocabularies import FREQUENCY, LENGTH
from bayesbias.errors import listed, many
from bayesbias.models import list_models
from bayesbias.models.families import family_of
from bayesbias.models.fits import AUTO, fit, made_independently, sampling_text
from bayesbias.models.results import Fit, kept_open
from bayesbias.models.spec import load_model
from bayesbias.models.weights import DIFFERENCE
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
    answered,
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

MOST_WORDS = 10
LINES = 30  # nearest, and farthest, stereotype words that the figure of a protected word shows
MOST_GROUPS = 4  # groups of whose words a figure is drawn
NOT_ASKED = (
    "Not computed. bayesbias report FIT --out report.html adds how much the answer depends on the model, the prior and "
    "single words."
)
UNKNOWN = "The table carried no coverage: how many of the words that were asked for it holds is not known."


def _columns(kind: str, names: str) -> dict[str, tuple[str, str]]:
    """Columns of one kind, each headed by its name."""
    return {name: (name.replace("_", " "), kind) for name in names.split()}


ENDS = _columns("number", "mean sd low high")
CLOSER = {**ENDS, "p_closer": ("P(closer)", "share")}
OF_WORDS = {**_columns("text", "protected_word"), **CLOSER}


@dataclass(frozen=True, repr=False, eq=False)
class FitReport(Result):
    """A fit as a result with a page."""

    picture: ClassVar[str] = "plot_overview"

    result: Fit
    topics: TopicNull | None = None  # for its word lists, if that is known
    sensitivity: bool = True  # whether the page tells how the answer depends on model, prior and single words

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
        caption, question = (
            "Mean distance to own stereotypes less that to other words",
            "How far are these words from each other?",
        )
        if facts.other is not None:
            kind = labelled(facts.other, facts.labels, PHRASES)
            question = f"Are words of a group closer to their own stereotypes than to {kind}?"
        listed_as = "A distance table" if record is None else f"Word list {record.word_list}"
        numbers = "scores" if self.result.data.measure else "cosine distances"
        return Page(
            title=question,
            lead=f"{listed_as}: {len(table):,} {numbers} of "
            f"{many(table['protected_word'].nunique(), 'protected word')} "
            f"to {many(table['attribute_word'].nunique(), 'attribute word')}. Model {self.result.model}, engine "
            f"{self.result.engine}; intervals hold {facts.percent} of the posterior mass.",
            answer=_answer(facts) if facts.other is None else answered(_answer(facts), self.result),
            lines=_lines(facts),
            picture=None if facts.other is None else Picture("overview", caption, overview, _spoken(facts)),
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
            result = self.result
            table = result.data.to_frame()
            other = next(iter(beside_associated(result)), None) if len(result.data.protected_words) > 1 else None
            headline, planned = pd.DataFrame(), None
            if other is not None:
                headline = contrasts(result.tree, "associated", other, prob)
                planned = _plan(result, headline.iloc[0], prob, other)
            known = (result, result.tree, result.data.coverage, result.labels, table, prob, percent(prob))
            self._made[prob] = _Given(*known, self.topics, diagnose(result.tree), other, headline, planned)
        return self._made[prob]

    @cached_property
    def _made(self) -> dict[float, _Given]:
        return {}


class _Given(NamedTuple):
    """A fit with what its page needs several times."""

    result: Fit
    post: xr.DataTree
    coverage: Coverage | None  # how word lists met the embedding
    labels: dict[str, str]  # what control lists are called
    table: pd.DataFrame
    prob: float
    percent: str  # mass of the intervals
    topics: TopicNull | None
    verdict: Verdict
    other: str | None  # the connection of the headline contrast, None where there is none
    headline: pd.DataFrame  # its table
    plan: Plan | None  # the list length that would decide it


def _answer(facts: _Given) -> str:
    """The result in a sentence that needs no statistics."""
    if facts.other is None:
        return contrast_sentences(facts.result, facts.prob)[0]
    record, row = facts.coverage, facts.headline.iloc[0]
    where = "In these vectors" if record is None or not record.embedding else f"In {record.embedding['name']}"
    where = "By these scores" if facts.result.data.measure else where
    groups = [str(name) for name in facts.table["group"].drop_duplicates()]
    listing = " and ".join(filter(None, [", ".join(groups[:-1]), groups[-1]]))
    named = "these protected words" if "" in groups or len(groups) > MOST_GROUPS else f"words for {listing}"
    kind = labelled(facts.other, facts.labels, PHRASES)
    credible = f"(credible at {facts.percent})"
    if row["high"] < 0:
        return f"Yes. {where}, {named} are on average closer to their own stereotypes than to {kind} {credible}."
    if row["low"] > 0:
        return f"No. {where}, {named} are on average farther from their own stereotypes than from {kind} {credible}."
    return (
        f"Inconclusive. {where}, it cannot be told whether {named} are closer to their own stereotypes than to {kind}."
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
    chosen = pd.concat([first, nearer.drop(first.index)]).head(3).sort_values(ascending=False)
    named = "; ".join(
        f"{word}, {figure(value)} nearer to words for {groups[word]} than to the others"
        for word, value in zip(chosen.index.astype(str), chosen, strict=True)
    )
    return f"Large differences among {many(len(own), 'stereotype word')}: {named}."


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
    beyond = excludes_zero(similar)
    further = (
        f"For further protected words like these the interval, {ends_of(similar)}, "
        f"{'excludes' if beyond else 'includes'} 0."
    )
    lines = {
        "For example?": _examples(facts),
        "How sure?": f"The probability that they are {direction} is {share(sure)}. The mean difference is "
        f"{signed(row['mean'])} ({facts.result.data.unit}), {facts.percent} interval {ends_of(row)}: what other lists "
        f"of stereotypes, as long, as coherent and as near as these, could have given. {size_sentence(table)}"
        + ("" if facts.topics is None else f" {facts.topics.sentence}"),
        "About which words?": f"About these {many(len(table) - 1, 'protected word')} and lists of stereotypes like "
        f"these. {words_sentence(table)} {further}",
    }
    if not excludes_zero(row):
        lines["What would decide it?"] = (
            f"A difference of {signed(facts.plan.effect)} would be seen with probability {percent(facts.plan.power)} "
            f"with longer lists: {facts.plan.ways}."
        )
    elif not beyond:
        lines["What would decide it?"] = (
            "For further words like these it would take more protected words, as unlike each other as possible: "
            "longer lists of stereotypes do not help."
        )
    return {name: line for name, line in lines.items() if line} | unsaid(
        "A word's row is about that word; further protected words may differ.",
        about=SCORES if facts.result.data.measure else TEXTS,
    )


def _plan(result: Fit, row: pd.Series, prob: float, other: str) -> Plan:
    """What list length would decide the headline contrast: as large as its posterior mean, or a small one if it is."""
    effect = 0.05 if excludes_zero(row) else round(float(row["mean"]), 3) or 0.001
    own_scales = family_of(result.spec).scales(result) is not None
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
    caption = "Words asked for and found, by list, with the effective number of words for the mean distance of the list"
    columns = dict.fromkeys(("list", "kind", "asked"), "text")
    yield Table(caption, {**columns, "found": "count", "effective": "plain", "missing": "text"}, rows)
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
            means = part.groupby("attribute_word", observed=True)["distance"].mean().nsmallest(6)
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
        distances, which = facts.table[facts.table["protected_word"] == word], "each stereotype word"
        own = distances[distances["connection"].isin(STEREOTYPES)].sort_values("distance", kind="stable")
        if len(own) > 2 * LINES:  # a figure has no place for all
            distances = distances.drop(index=own.index[LINES:-LINES])
            which = f"the {LINES} nearest and the {LINES} farthest of {len(own):,} stereotype words"
        yield Picture(f"word-{i}", f"Distances of {word} to {which}", partial(plot_distances, distances, str(word)))
    drawn = partial(plot_contrasts, facts.post, prob=facts.prob, second=facts.other)
    yield Picture("contrasts", f"Associated{MINUS}{labelled(facts.other, facts.labels)}, by protected word", drawn)
    yield facts.headline.attrs["meaning"]


ASSOCIATION_TEXT = (
    "The association of a word with a list is how much nearer the word is to this list than to the others, less how "
    "much nearer all protected words are, with groups of equal weight. With two groups the mean association of either "
    "group is the whole list, by arithmetic: two lists do not tell which group contributes it. They are not pooled "
    "here; those of the tables and of the sentence on words are partially pooled, and more certain."
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
        caption = (
            f"{title}. Whole list: associated{MINUS}different, special to a word's own stereotypes, and "
            f"different{MINUS}{label}, shared by stereotype words of any kind. Words: association, "
            "nearness of the own list to all words, nearness of the word to the stereotypes of other groups; negative: "
            "closer. Associations are not pooled here, so that the parts add up"
        )
        yield table_of(caption, parts, {**_columns("text", "protected_word contrast"), **CLOSER})
    for name in beside_associated(facts.result):
        rows = contrasts(facts.post, "associated", name, facts.prob)
        title = f"Associated{MINUS}{labelled(name, facts.labels)}"
        yield table_of(f"{title}; negative: associated is closer. {rows.attrs['meaning']}", rows, OF_WORDS)
        yield Items([*rows.attrs["notes"], f"{title}. {cluster_sentence(rows)}"])
        if rows.attrs["left_out"]:
            yield f"Without the distances that a row needs: {', '.join(rows.attrs['left_out'])}."
    if facts.other == OTHER and facts.headline.attrs["rows"] != DIFFERENCE and facts.table["group"].nunique() > 2:
        rows = contrasts(facts.post, "associated", facts.other, facts.prob, by="group")
        title = f"Association (associated{MINUS}{facts.other}, partially pooled) by group, and differences of groups"
        yield table_of(title, rows, {**_columns("text", "group"), **CLOSER})


def _frequency(facts: _Given) -> Iterator[Block]:
    balance = facts.verdict.balance
    if balance is None:
        return
    yield balance.sentence
    yield from balance.notes
    by, labels = balance.attribute, facts.labels
    lists = balance.lists.assign(list=[labelled(name, labels) for name in balance.lists["list"]])
    columns = {**_columns("text", "list kind"), **_columns("count", "words known"), **_columns("plain", "mean")}
    columns |= {"low": ("lowest", "plain"), "high": ("highest", "plain")}
    yield table_of(f"Words of each list by {by} ({balance.unit}; {balance.source})", lists, columns)
    pairs = balance.contrasts.assign(contrast=[labelled(each, labels) for each in balance.contrasts["contrast"]])
    alike = {**_columns("plain", "difference"), "overlap": ("in common", "percent"), **_columns("number", "expected")}
    yield table_of(
        f"Lists of each contrast: difference of their mean {by}, share of the two distributions "
        "that is common, and the difference in distance that this alone predicts",
        pairs,
        {**_columns("text", "contrast"), **alike},
    )
    sides = {name: [labelled(pair, labels) for pair in balance.pairs[name]] for name in ("first", "second")}
    columns = {"first": ("list", "text"), "second": ("other list", "text"), **alike}
    columns |= {"expected_low": ("lowest", "number"), "expected_high": ("highest", "number")}
    yield table_of(
        f"Each two lists: difference of their mean {by}, share in common, and the mean, lowest and "
        "highest difference in distance that this alone predicts for a protected word",
        balance.pairs.assign(**sides),
        columns,
    )
    rows = balance.rows[balance.rows["warning"].astype(bool)]
    if len(rows):
        largest = rows.sort_values("expected", key=lambda values: -values.abs(), kind="stable").head(MOST_WORDS)
        named = [difference(labelled(contrast, labels)) for contrast in largest["contrast"]]
        columns = {**_columns("text", "protected_word contrast"), **_columns("number", "expected")}
        columns |= {"distance": ("observed", "number"), "se": ("standard error", "number")}
        yield table_of(
            f"Rows of single words of which {by} alone predicts more than half a standard error: "
            f"the {len(largest):,} largest of {len(rows):,}",
            largest.assign(contrast=named),
            columns,
        )


def _adjusted(facts: _Given) -> Iterator[Block]:
    """Contrasts before distances were adjusted for an attribute of words."""
    if "adjust" in facts.post.attrs:
        yield from frequency_sentences(facts.result, facts.prob)
        table = adjustment(facts.post, facts.prob)
        table["contrast"] = [difference(labelled(contrast, facts.labels)) for contrast in table["contrast"]]
        columns = _columns("number", "raw raw_low raw_high adjusted adjusted_low adjusted_high")
        caption = f"Contrasts as they are and adjusted for {facts.post.attrs['adjust']}"
        yield table_of(caption, table, {**_columns("text", "contrast"), **columns})


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
        {**_columns("text", "connection"), **shares, **_columns("count", "n")},
    )
    yield Picture("predictions", "Observed and predicted distances", partial(plot_predictions, facts.post, facts.prob))
    if facts.topics is not None:
        yield (
            "The posterior interval says what other lists of stereotypes, as long, as coherent and as near as these, "
            f"could have given. The chance check asks something else. {facts.topics.text()}"
        )
        null = facts.topics.table(facts.prob)
        columns = {**_columns("text", "statistic"), **_columns("number", "observed mean low high")}
        columns |= {"p_value": ("p-value", "plain")}
        yield table_of(f"Random lists: mean and central {facts.percent} of the null distribution", null, columns)
        pairs = facts.topics.similarity
        columns = {"first": ("list", "text"), "second": ("other list", "text")}
        columns |= {"cosine_target": ("cosine, as given", "plain"), "cosine_reached": ("of random lists", "plain")}
        yield table_of("Cosine of the mean vectors of two lists, less the mean of the vocabulary", pairs, columns)


def _models(facts: _Given) -> Iterator[Block]:
    """Whole-list contrasts under this and other models of the same distances, and whether the conclusion changes."""
    others = beside_associated(facts.result)
    if not others:
        return
    table = facts.result.data.to_frame()
    family = family_of(facts.result.spec)
    # no model stands beside itself
    names = [name for name in family.counterparts if name != facts.result.model] or [AUTO]
    fits = [*(Fit.read(fit(table, name, seed=facts.result.seed)) for name in names), facts.result]
    rows, sentences = [], []
    for second in others:
        contrast = f"associated{MINUS}{labelled(second, facts.labels)}"
        each = []
        for one in fits:
            with kept_open(one):
                row = contrasts(one.tree, "associated", second, facts.prob).iloc[0].to_dict()
            each.append({"contrast": contrast, "model": one.model, "width": row["high"] - row["low"], **row})
        own = each[-1]
        for other in each[:-1]:
            sentence = (
                f"{contrast}: {ends_of(other)} under {other['model']}, {ends_of(own)} under {own['model']}, "
                f"{own['width'] / other['width']:.2f} times as wide; "
            )
            if excludes_zero(other) == excludes_zero(own):
                sentence += f"both intervals {'exclude' if excludes_zero(own) else 'include'} 0."
            else:
                yes, no = (own, other) if excludes_zero(own) else (other, own)
                sentence += f"the {yes['model']} interval excludes 0, the {no['model']} one does not."
            sentences.append(sentence)
        rows += each
    yield family.beside_counterparts
    columns = {**_columns("text", "contrast model"), **_columns("number", "mean low high width")}
    yield table_of("Whole-list contrasts under several models of the same distances", pd.DataFrame(rows), columns)
    yield Items(sentences)


def _sensitivity(facts: _Given) -> Iterator[Block]:
    """What the model, the prior and single words change."""
    yield from _models(facts)
    spec = facts.result.spec
    if facts.plan is None or facts.other is None or family_of(spec).obstacle(spec) is not None:
        return
    yield facts.plan.text()
    yield str(prior_sensitivity(facts.post, "associated", facts.other))
    columns = {**_columns("text", "word kind list"), "mean": ("contrast without it", "number")}
    columns |= {"shift": ("change", "number"), "shift_sd": ("in posterior sds", "plain")}
    yield table_of(
        f"What associated{MINUS}{labelled(facts.other, facts.labels)} becomes without a word, by refits: the protected "
        "and stereotype words that move it most",
        influence(facts.post, words="stereotype").head(MOST_WORDS),
        columns,
    )


def _coefficients(facts: _Given) -> Iterator[Block]:
    drawn = partial(plot_coefficients, facts.post, facts.prob)
    yield Picture("coefficients", "Mean distances by connection and by protected word", drawn)
    columns = {**_columns("text", "connection"), "component": ("part", "text"), "mean": ("share", "percent")}
    columns |= _columns("percent", "low high")
    shares = variance_shares(facts.post, facts.prob)
    yield table_of("Shares of the variance of distances within each connection", shares, columns)
    everything = summary(facts.post, facts.prob)
    of_words, unit = everything["protected_word"].notna(), facts.result.data.unit
    everything["connection"] = everything["connection"].fillna(everything.get("attribute_class")).fillna("")
    everything["connection"] = [labelled(name, facts.labels) for name in everything["connection"]]
    columns = {**_columns("text", "connection"), **ENDS, **_columns("count", "n")}
    yield table_of(
        f"Whole list ({unit}); connection_mean is that of similar words, where the answer above is "
        "about the given ones; n counts distances",
        everything[~of_words],
        {**_columns("text", "parameter"), **columns},
    )
    single = {**_columns("text", "protected_word"), **columns}
    yield table_of(f"Mean of each protected word by connection ({unit})", everything[of_words], single)


def _method(facts: _Given) -> str:
    """What was done, as a paper says it."""
    attrs, record = facts.post.attrs, facts.coverage
    spec, versions = facts.result.spec, facts.result.versions
    where, listed_as, measured = "", "", "the cosine distances"
    if record is not None:
        listed_as = f" of the list {record.word_list}"
        measured = f"{record.measure} (standardised)" if record.measure else measured
        if record.embedding:
            where = f" in {record.embedding['name']} ({record.embedding['vectors']:,} vectors)"
    stereotypes = facts.table[facts.table["attribute_class"].isin(facts.table["group"])]["attribute_word"].nunique()
    text = (
        f"We measured {measured} of {many(facts.table['protected_word'].nunique(), 'protected word')}"
        f"{listed_as} to {many(facts.table['attribute_word'].nunique(), 'attribute word')}, {stereotypes:,} of them "
        f"stereotypes{where}: {len(facts.table):,} distances. We modelled all distances together (model "
        f"{attrs['model']}). {family_of(spec).method_text(spec)}. The posterior was computed "
        f"{sampling_text(facts.result)} (bayesbias {versions['bayesbias']}, seed {attrs['seed']}). We report posterior "
        f"means and {facts.percent} equal-tailed intervals."
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
    debiased = source.get("debiasing", "")
    name = "DEBIASED.npz" if debiased else str(source.get("name", "EMBEDDING"))
    bundled, model = list_models().set_index("name")["path"], str(attrs["model"])
    if model not in bundled or load_model(bundled[model]).hash != attrs["model_hash"]:
        model = "MODEL.toml"
    sizes, adjusted = facts.post["posterior"].sizes, attrs.get("adjust")
    options = f" --draws {sizes['chain'] * sizes['draw']}"
    options += "" if made_independently(facts.result) else f" --engine {facts.result.engine}"
    options += f" --adjust {adjusted}" * (adjusted in (FREQUENCY, LENGTH))
    yield Code(
        f"bayesbias distances {_shell(name)} {_shell(words)} --out distances.parquet\n"
        f"bayesbias fit distances.parquet --model {_shell(model)} --seed {attrs['seed']}{options} --out fit.nc\n"
        "bayesbias report fit.nc --out report.html"
    )
    own_numbers = adjusted and adjusted not in (FREQUENCY, LENGTH)
    beside = {
        f"DEBIASED.npz is the embedding debiased in the same way ({source.get('debiasing')}).": bool(
            source.get("debiasing")
        ),
        "MODEL.toml is the model below: its text or priors are not those of the package.": model == "MODEL.toml",
        "Frequencies are those that the notes of the fit name; --frequencies gives them.": adjusted == FREQUENCY,
        f"Distances were adjusted for {adjusted}, with numbers of the user's own: that takes bb.fit(table, "
        "adjust=...).": own_numbers,
    }
    yield Items([sentence for sentence, applies in beside.items() if applies])
    versions = ", ".join(f"{name} {value}" for name, value in facts.result.versions.items())
    hashes = f"Hash of the model: {attrs['model_hash'][:16]}. Hash of the distances: {_hash(facts.table)[:16]}."
    yield Items([f"Versions: {versions}.", hashes, f"Seed {attrs['seed']}, engine {attrs['engine']}."])
    yield Code(attrs["model_text"])


def _shell(text: str) -> str:
    """A word that a shell takes as one."""
    plain = text.translate(str.maketrans("", "", "-_."))
    return text if plain.isalnum() else "'" + text.replace("'", "'\\''") + "'"


def _hash(table: pd.DataFrame) -> str:
    """A number for the words and distances of a table, whatever the order of its rows."""
    columns = table[["protected_word", "attribute_word", "connection", "distance"]].astype({"distance": float})
    rows = sorted(
        f"{word}\t{attribute}\t{connection}\t{distance!r}"
        for word, attribute, connection, distance in columns.itertuples(index=False)
    )
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()
