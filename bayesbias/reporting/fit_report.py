"""The page of a fit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.files import from_json
from bayesbias._support.phrases import barely, difference, excludes_zero, percent
from bayesbias._support.prose import Prose
from bayesbias._support.results import (
    Block,
    Code,
    Items,
    Page,
    Picture,
    Result,
    Section,
    filled,
    table_of,
    unsaid,
)
from bayesbias.checks.calibration.null_models import as_far
from bayesbias.checks.calibration.topics import TopicNull, refuse_other
from bayesbias.checks.convergence import Verdict, check_predictions, diagnose
from bayesbias.checks.summaries import PROB, summary
from bayesbias.contrast import (
    adjustment,
    beside_associated,
    cluster_sentence,
    contrasts,
    decomposable_controls,
    decomposition,
    size_sentence,
)
from bayesbias.distances.list_coverage import Coverage, lists_named
from bayesbias.distances.vocabularies import FREQUENCY, LENGTH, WORDFREQ
from bayesbias.errors import InputError, listed
from bayesbias.models import list_models
from bayesbias.models.families import family_of
from bayesbias.models.fits import AUTO, fit, made_independently
from bayesbias.models.own import ELSEWHERE
from bayesbias.models.spec import load_model
from bayesbias.models.tree import Fit, kept_open
from bayesbias.models.weights import DIFFERENCE
from bayesbias.plots.fits import (
    plot_coefficients,
    plot_contrasts,
    plot_decomposition,
    plot_distances,
    plot_overview,
    plot_predictions,
)
from bayesbias.reporting.verdicts import (
    by_group_sentence,
    contrast_sentences,
    effective_sentences,
    equal_sentence,
    frequency_sentences,
    nearness_of_lists,
    of_further_words,
    opposed_groups,
    reservations,
    rows_of_groups,
    shortness,
    slight,
    verdict_sentences,
    whole,
    without_stereotypes,
    words_sentence,
)
from bayesbias.vectors import list_embeddings
from bayesbias.words import OTHER, OWN, PHRASES, STEREOTYPES, controls_of, labelled, list_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WORDS = 10
USUAL = 0.05  # share of random lists as far from 0 above which the answer says so
LINES = 30  # nearest, and farthest, stereotype words that the figure of a protected word shows
EXAMPLES = 4  # stereotype words on the first screen
MOST_GROUPS = 4  # groups of whose words a figure is drawn
WORDS = Prose("fit")


@dataclass(frozen=True, repr=False, eq=False)
class FitReport(Result):
    """A fit as a result with a page."""

    picture: ClassVar[str] = "plot_overview"

    result: Fit
    topics: TopicNull | None = None  # for its word lists, if that is known
    sensitivity: bool = True  # whether the page tells how the answer depends on the model

    def __post_init__(self) -> None:
        if self.topics is None:
            return
        if not isinstance(self.topics, TopicNull):
            raise InputError(f"topics is a {type(self.topics).__name__}: give what topic_null returns")
        refuse_other(self.topics, self.result.data)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the fit."""
        return tuple(self.result.notes)

    def table(self) -> pd.DataFrame:
        """The contrasts of the headline."""
        return contrasts(self.result.tree)

    def findings(self, prob: float = PROB) -> list[str]:
        """The verdict, with the reservations that belong to it."""
        return verdict_sentences(self.result.tree, prob)

    def figure(self, **options: Any) -> Figure:
        """The whole-list contrasts."""
        drawn: Figure = plot_overview(self.result.tree, **options)
        return drawn

    def sources(self) -> tuple[Any, ...]:
        """The fit, which records its model, word lists and embedding."""
        return (self.result.tree,)

    def answer(self, prob: float = PROB) -> str:
        """The result in a sentence that needs no statistics, or why there is none."""
        facts = self._given(prob)
        if not facts.verdict.ok:
            return WORDS.unread()
        return contrast_sentences(self.result, prob)[0] if facts.other is None else _answer(facts)

    def front(self, prob: float = PROB) -> Page:
        """The first screen: the answer, one figure, a few lines."""
        facts, result = self._given(prob), self.result
        record = facts.coverage
        if facts.other is None:
            picture, other = None, ""
        else:
            overview = partial(plot_overview, facts.post, self.topics, prob)
            picture = Picture("overview", WORDS.overview(), overview, _spoken(facts))
            other = labelled(facts.other, facts.labels, PHRASES)
        return Page(
            title=WORDS.question(other=other),
            lead=WORDS.lead(
                word_list="" if record is None else record.word_list,
                adjusted=result.adjusted_for,
                model=result.model,
                engine=result.engine,
                mass=facts.percent,
                **facts.counts,
            ),
            answer=self.answer(prob),
            lines=_lines(facts),
            picture=picture,
            fault="" if facts.verdict.ok else facts.verdict.headline(),
        )

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report."""
        facts = self._given(prob)
        return filled(
            (
                Section(WORDS.measured_title(), list(_measured(facts))),
                Section(WORDS.missing_title(), list(_missing(facts)), shut=True),
                Section(WORDS.words_title(), list(_words(facts))),
                Section(WORDS.contrasts_title(), list(_contrasts(facts)), shut=True),
                Section(WORDS.frequency_title(), list(_frequency(facts)), shut=True),
                Section(WORDS.adjusted_title(by=facts.post.attrs.get("adjust")), list(_adjusted(facts))),
                Section(WORDS.checks_title(), list(_checks(facts))),
                Section(
                    WORDS.sensitivity_title(),
                    list(_models(facts)) if self.sensitivity else [WORDS.not_computed()],
                ),
                Section(WORDS.coefficients_title(), list(_coefficients(facts)), shut=True),
                Section(WORDS.reproduction_title(), list(_reproduction(facts)), shut=True),
            )
        )

    def _given(self, prob: float) -> _PageFacts:
        """The fit with what its page needs several times; made once for each mass of the intervals."""
        if prob not in self._made:
            result = self.result
            table = result.data.to_frame()
            other = next(iter(beside_associated(result)), None) if len(result.data.protected_words) > 1 else None
            headline = pd.DataFrame()
            by_group: Callable[[], dict[str, pd.DataFrame]] = cache(dict)
            if other is not None:
                headline = contrasts(result.tree, "associated", other, prob)
                by_group = cache(partial(rows_of_groups, result, headline))
            known = (result, result.tree, result.data.coverage, result.labels, table, prob, percent(prob))
            verdict = diagnose(result.tree)
            self._made[prob] = _PageFacts(*known, self.topics, verdict, other, headline, by_group)
        return self._made[prob]

    @cached_property
    def _made(self) -> dict[float, _PageFacts]:
        return {}


class _PageFacts(NamedTuple):
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
    # its groups by themselves, worked out once and where they are shown
    by_group: Callable[[], dict[str, pd.DataFrame]]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of distances, protected and attribute words."""
        words = {name: self.table[f"{name}_word"].nunique() for name in ("protected", "attribute")}
        return {"distances": len(self.table), **words}


def _answer(facts: _PageFacts) -> str:
    """The result in a sentence that needs no statistics."""
    record, rows = facts.coverage, facts.headline["group"].iloc[1:]
    groups = [str(name) for name in rows.fillna("").drop_duplicates()] if len(rows) else [""]
    caution = family_of(facts.result.spec).caution
    return WORDS.answer(
        row=whole(facts.headline),
        short=shortness(facts.result),
        embedding=record.embedding["name"] if record is not None and record.embedding else "",
        groups=[] if "" in groups or len(groups) > MOST_GROUPS else groups,
        other=labelled(str(facts.other), facts.labels, PHRASES),
        mass=facts.percent,
        caution=" ".join(filter(None, [without_stereotypes(facts.result, facts.headline), caution])),
        edge=barely(facts.headline.iloc[0]),
        chance=_often_by_chance(facts),
        slight=slight(facts.headline),
        opposed=opposed_groups(facts.headline, facts.by_group()),
        equal=equal_sentence(facts.result, str(facts.other)),
    )


def _of_frequency(facts: _PageFacts) -> list[str]:
    """The note on what frequency alone predicts of the headline contrast, where that matters."""
    said = labelled(f"associated - {facts.other}", facts.labels)
    return [note for note in facts.verdict.notes if note.lower().startswith(f"{difference(said)}:".lower())]


def _often_by_chance(facts: _PageFacts) -> dict[str, Any] | None:
    """Number of random lists as far from 0 as the headline contrast, where they are more than a few."""
    if facts.topics is None or (name := f"associated - {facts.other}") not in facts.topics.observed:
        return None
    if facts.result.adjusted_for:  # the check is of distances before adjustment, and says nothing of the answer
        return None
    values, centre = facts.topics.of(name), facts.topics.centre[name]
    far = values[as_far(values, facts.topics.observed[name], centre)]
    sides = {"closer": int((far < centre).sum()), "farther": int((far > centre).sum())}
    # more often than intervals exclude 0 where there is nothing: the two do not agree
    often = len(far) > (1 - facts.prob) * facts.topics.replicates
    counts = {"count": len(far), "replicates": facts.topics.replicates, "often": often, **sides}
    return counts if len(far) > USUAL * facts.topics.replicates else None


def _chance(facts: _PageFacts, topics: str) -> str:
    """The sentences of a chance check, which say so where only the distances of the fit were adjusted."""
    by = facts.result.adjusted_for
    return WORDS.chance_before_adjustment(by=by, topics=topics) if by else topics


def _counted(facts: _PageFacts) -> str:
    """The sentence on random lists as far as those of the headline, where it was checked; else on any contrast."""
    if facts.topics is None:
        return WORDS.no_chance_check() if facts.other == OTHER else ""
    name = f"associated - {facts.other}"
    return _chance(facts, facts.topics.counted(name) if name in facts.topics.observed else facts.topics.sentence)


def _examples(facts: _PageFacts) -> str:
    """The stereotype words whose distances to their own group and to the others differ most, in either direction."""
    if facts.other != OTHER:
        return ""
    means = facts.table.groupby(["attribute_word", "connection", "group"])["distance"].mean().reset_index()
    own = means[means["connection"] == OWN].set_index("attribute_word")
    others = means[means["connection"] == OTHER].groupby("attribute_word")["distance"].mean()
    own = own[~own.index.duplicated(keep=False)]  # a stereotype of several groups has no others
    nearer = (others - own["distance"]).dropna()
    if nearer.empty:
        return ""
    controls = facts.table[~facts.table["connection"].isin(STEREOTYPES)]
    if beyond := set(controls["group"]) >= set(own["group"]):
        of_group = controls.groupby("group")["distance"].mean()
        others_of = (of_group.sum() - of_group) / max(len(of_group) - 1, 1)
        nearer -= own["group"].map(others_of - of_group).reindex(nearer.index)
    largest = nearer.sort_values(key=np.abs, ascending=False).head(EXAMPLES)
    named = [{"name": str(w), "group": own.loc[str(w), "group"], "difference": d} for w, d in largest.items()]
    return WORDS.examples(words=len(nearer), largest=named, beyond=beyond)


def _spoken(facts: _PageFacts) -> str:
    """The figure of the first screen for those who hear it."""
    others = beside_associated(facts.result)
    rows = [contrasts(facts.post, "associated", other, facts.prob).iloc[0].to_dict() for other in others]
    labels = [labelled(other, facts.labels) for other in others]
    named = [{**row, "other": label} for row, label in zip(rows, labels, strict=True)]
    return WORDS.overview_spoken(rows=named, mass=facts.percent)


def _lines(facts: _PageFacts) -> dict[str, str]:
    """Examples, certainty, words spoken about, what would decide it for further words, and limits."""
    if facts.other is None:
        return {}
    table, row = facts.headline, whole(facts.headline)
    similar = of_further_words(facts.result, facts.other, facts.prob)
    nearness = None if similar is None else nearness_of_lists(facts.result, facts.other)
    lines = {
        WORDS.examples_question(): _examples(facts),
        WORDS.certainty_question(): WORDS.certainty(
            row=row,
            mass=facts.percent,
            size=size_sentence(table),
            topics=_counted(facts),
        ),
        WORDS.groups_question(): "" if shortness(facts.result) else by_group_sentence(facts.result, facts.by_group()),
        WORDS.frequency_question(): " ".join(_of_frequency(facts)),
        WORDS.words_question(): WORDS.words_spoken_about(
            words=len(table) - 1,
            similar=similar,
            nearness=nearness,
            told="" if shortness(facts.result) else words_sentence(table),
        ),
    }
    if similar is not None and excludes_zero(row) and not excludes_zero(similar):
        lines[WORDS.decision_question()] = WORDS.decision(nearness=nearness)
    said = {question: line for question, line in lines.items() if line}
    return said | unsaid(WORDS.limit_of_rows())


def _measured(facts: _PageFacts) -> Iterator[Block]:
    record = facts.coverage
    if record is None:
        yield WORDS.no_coverage()
        return
    if record.embedding:
        yield WORDS.embedding(**{name: record.embedding[name] for name in ("name", "vectors", "dimensions")})
    yield WORDS.word_list(record=record)
    lists, related = lists_named(record.lists, facts.labels), facts.result.data.relatedness
    worth = {} if related is None else related.effective_words().set_index(["kind", "list"])["effective"].to_dict()
    lists["effective"] = [worth.get((each["kind"], each["list"])) for each in record.lists]
    yield WORDS.table("coverage", lists.assign(missing=lists["missing"].map(listed)))
    yield Items([*record.notes(facts.table, missing=False), *effective_sentences(facts.result)])


def _missing(facts: _PageFacts) -> Iterator[Block]:
    """All missing words of lists that name only some of them above."""
    record = facts.coverage
    for each in [] if record is None else record.lists:
        if len(each["missing"]) > len(listed(each["missing"]).split(", ")):
            yield WORDS.missing(list=labelled(each["list"], facts.labels), kind=each["kind"], words=each["missing"])


def _words(facts: _PageFacts) -> Iterator[Block]:
    """The stereotype words nearest to each group, and the association of each protected word."""
    table = facts.table[facts.table["connection"].isin(STEREOTYPES)]
    if not table.empty:
        rows = []
        for group, part in table.groupby("group", sort=False, observed=True):
            means = part.groupby("attribute_word", observed=True)["distance"].mean().nsmallest(6)
            rows.append((str(group), ", ".join(f"{word} ({value:.3f})" for word, value in means.items())))
        nearest = pd.DataFrame(rows, columns=["group", "nearest"])
        yield WORDS.table("nearest", nearest, adjusted=facts.result.adjusted_for)
    if facts.other is None:
        return
    words = facts.headline.iloc[1:].set_index("protected_word")["mean"]
    groups = facts.table.drop_duplicates("protected_word").set_index("protected_word")["group"]
    chosen = words.groupby(groups.reindex(words.index).to_numpy(), sort=False).idxmin()
    for i, word in enumerate(chosen.head(MOST_GROUPS)):
        distances = facts.table[facts.table["protected_word"] == word]
        own = distances[distances["connection"].isin(STEREOTYPES)].sort_values("distance", kind="stable")
        most = LINES if len(own) > 2 * LINES else None  # a figure has no place for all
        if most:
            distances = distances.drop(index=own.index[most:-most])
        caption = WORDS.distances_of_word(word=word, most=most, stereotypes=len(own))
        yield Picture(f"word-{i}", caption, partial(plot_distances, distances, str(word)))
    drawn = partial(plot_contrasts, facts.post, prob=facts.prob, second=facts.other)
    yield Picture("contrasts", WORDS.contrast_by_word(other=labelled(facts.other, facts.labels)), drawn)
    yield facts.headline.attrs["meaning"]


def _contrasts(facts: _PageFacts) -> Iterator[Block]:
    yield Items(contrast_sentences(facts.result, facts.prob))
    for i, name in enumerate(decomposable_controls(facts.result)):
        label = labelled(name, facts.labels)
        if not i:
            drawn = partial(plot_decomposition, facts.post, name, facts.prob)
            yield Picture("decomposition", WORDS.sum_of_parts(label=label), drawn)
        parts = decomposition(facts.post, name, facts.prob)
        yield WORDS.table("parts", _called(facts, parts, "contrast"), label=label)
    for name in beside_associated(facts.result):
        rows, label = contrasts(facts.post, "associated", name, facts.prob), labelled(name, facts.labels)
        yield WORDS.table("contrast", rows, label=label, meaning=rows.attrs["meaning"])
        yield Items([*rows.attrs["notes"], WORDS.independent_words(label=label, cluster=cluster_sentence(rows))])
        if rows.attrs["left_out"]:
            yield WORDS.left_out(words=rows.attrs["left_out"])
    if facts.other == OTHER and facts.headline.attrs["rows"] != DIFFERENCE:
        rows = contrasts(facts.post, "associated", facts.other, facts.prob, by="group")
        controls = bool(controls_of(facts.result.data.connections.tolist()))
        yield WORDS.table("contrast_by_group", rows, controls=controls)


def _called(facts: _PageFacts, table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """A table whose lists, or contrasts of lists, are called as the page calls them."""
    named = {column: [difference(labelled(each, facts.labels)) for each in table[column]] for column in columns}
    return table.assign(**named)


def _frequency(facts: _PageFacts) -> Iterator[Block]:
    balance = facts.verdict.balance
    if balance is None:
        return
    yield balance.sentence
    yield from balance.notes
    by, lists = balance.attribute, _called(facts, balance.lists, "list")
    yield WORDS.table("attribute_of_lists", lists, by=by, unit=balance.unit, source=balance.source)
    yield WORDS.table("attribute_of_contrasts", _called(facts, balance.contrasts, "contrast"), by=by)
    yield WORDS.table("attribute_of_pairs", _called(facts, balance.pairs, "first", "second"), by=by)
    rows = balance.rows[balance.rows["warning"].astype(bool)]
    if len(rows):
        largest = rows.sort_values("expected", key=lambda values: -values.abs(), kind="stable").head(MOST_WORDS)
        counts = {"largest": len(largest), "rows": len(rows)}
        yield WORDS.table("attribute_of_words", _called(facts, largest, "contrast"), by=by, **counts)


def _adjusted(facts: _PageFacts) -> Iterator[Block]:
    """Contrasts before distances were adjusted for an attribute of words."""
    if "adjust" in facts.post.attrs:
        yield from frequency_sentences(facts.result, facts.prob)
        table = _called(facts, adjustment(facts.post, facts.prob), "contrast")
        yield WORDS.table("adjusted", table, by=facts.post.attrs["adjust"])


def _checks(facts: _PageFacts) -> Iterator[Block]:
    yield facts.verdict.headline()
    yield Items([*facts.verdict.notes, *reservations(facts.result)])
    numbers = pd.DataFrame(list(facts.verdict.numbers().items()), columns=["figure", "value"])
    yield WORDS.table("figures_of_fit", numbers)
    if facts.result.predicts:
        table = check_predictions(facts.post, (0.5, facts.prob)).fillna({"connection": "all"})
        inside = [str(name) for name in table if str(name).startswith("inside_")]
        shares = {name: (WORDS.inside_heading(mass=name[7:]), "percent") for name in inside}
        columns = {"connection": ("connection", "text"), **shares, "n": ("n", "count")}
        yield table_of(WORDS.predicted_shares(), _called(facts, table, "connection"), columns)
        yield Picture("predictions", WORDS.predictions(), partial(plot_predictions, facts.post, facts.prob))
    else:
        yield WORDS.no_predictions()
    if facts.topics is not None:
        yield WORDS.chance(topics=_chance(facts, facts.topics.text()))
        yield WORDS.table("random_lists", facts.topics.table(facts.prob), mass=facts.percent)
        yield WORDS.table("cosines_of_lists", facts.topics.similarity)


def _models(facts: _PageFacts) -> Iterator[Block]:
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
        contrast, each = WORDS.whole_contrast(label=labelled(second, facts.labels)), []
        for one in fits:
            with kept_open(one):
                row = contrasts(one.tree, "associated", second, facts.prob).iloc[0].to_dict()
            each.append({"contrast": contrast, "model": one.model, "width": row["high"] - row["low"], **row})
        own = each[-1]
        sentences += [
            WORDS.model_beside(contrast=contrast, other=other, own=own, ratio=own["width"] / other["width"])
            for other in each[:-1]
        ]
        rows += each
    yield family.beside_counterparts
    yield WORDS.table("models", pd.DataFrame(rows))
    yield Items(sentences)


def _coefficients(facts: _PageFacts) -> Iterator[Block]:
    yield Picture("coefficients", WORDS.coefficients(), partial(plot_coefficients, facts.post, facts.prob))
    everything = summary(facts.post, facts.prob)
    of_words = everything["protected_word"].notna()
    everything["connection"] = everything["connection"].fillna(everything.get("attribute_class")).fillna("")
    everything = _called(facts, everything, "connection")
    yield WORDS.table("parameters", everything[~of_words])
    yield WORDS.table("means_of_words", everything[of_words])


def _reproduction(facts: _PageFacts) -> Iterator[Block]:
    attrs, record = facts.post.attrs, facts.coverage
    words = "WORDS.toml"
    if record is not None and (record.path or record.word_list in list_words()["name"].tolist()):
        words = record.path or record.word_list
    source = {} if record is None else record.embedding or {}
    debiased = source.get("debiasing", "")
    bundled_vectors = source.get("name") in list_embeddings()["name"].tolist()
    path = source.get("name") if bundled_vectors else source.get("path")
    name = str(path or ("DEBIASED.npz" if debiased else "EMBEDDING"))
    bundled, model = list_models().set_index("name")["path"], str(attrs["model"])
    if model not in bundled or load_model(bundled[model]).hash != attrs["model_hash"]:
        model = "MODEL.toml"
    sizes, adjusted = facts.post["posterior"].sizes, facts.result.adjusted_for
    options = f" --draws {sizes['chain'] * sizes['draw']}"
    options += "" if made_independently(facts.result) else f" --engine {facts.result.engine}"
    options += f" --adjust {adjusted}" * (adjusted in (FREQUENCY, LENGTH))
    if (moved := facts.result.adjustment) is not None:
        options += f" --frequencies {WORDFREQ}" * from_json(moved.attrs["facts"])["source"].startswith(WORDFREQ)
    distances = f"bayesbias distances {quote(name)} {quote(words)}{_measured_with(record)} --out distances.parquet"
    prob = "" if facts.prob == PROB else f" --prob {facts.prob:g}"
    own, drawn_here = facts.result.spec.own, facts.result.engine != ELSEWHERE
    sampler = {} if "sampler_options" not in attrs else facts.result.fact("sampler_options")
    if own:
        made = f"post = bb.from_draws(draws, table, name={attrs['model']!r})  # draws of another sampler"
        if drawn_here:
            number = f"draws={sizes['chain'] * sizes['draw']}, chains={sizes['chain']}"
            made = f"post = bb.fit(table, builder, seed={attrs['seed']}, {number})  # the function below"
        read = 'import bayesbias as bb\n\ntable = bb.read_distance_table("distances.parquet")'
        yield Code(distances)
        yield Code(f'{read}\n{made}\nbb.report(post, "report.html")')
    else:
        yield Code(
            f"{distances}\n"
            f"bayesbias fit distances.parquet --model {quote(model)} --seed {attrs['seed']}{options} --out fit.nc\n"
            f"bayesbias report fit.nc{prob} --out report.html"
        )
    own_numbers = adjusted and adjusted not in (FREQUENCY, LENGTH)
    beside = (
        (debiased and not path, WORDS.debiased(method=debiased)),
        (facts.topics is not None, _chance_call(facts.topics, record, name, words)),
        (record is not None and record.contexts, WORDS.in_sentences()),
        (name == "EMBEDDING" or words == "WORDS.toml", WORDS.placeholders(embedding=name, words=words)),
        (model == "MODEL.toml" and not own, WORDS.own_model()),
        (adjusted == FREQUENCY, WORDS.own_frequencies()),
        (own_numbers, WORDS.own_numbers(by=adjusted)),
        (sampler, WORDS.sampler(options=sampler)),
    )
    yield Items([sentence for applies, sentence in beside if applies])
    hashes = WORDS.hashes(model=attrs["model_hash"][:16], distances=_hash(facts.table)[:16])
    seed = WORDS.seed(seed=attrs["seed"], engine=attrs["engine"])
    yield Items([WORDS.versions(versions=facts.result.versions), hashes, *[seed] * drawn_here])
    if attrs["model_text"]:
        yield Code(attrs["model_text"])


def _chance_call(topics: TopicNull | None, record: Coverage | None, embedding: str, words: str) -> str:
    """The call that gives a page its chance check; empty where there is none."""
    if topics is None:
        return ""
    options: dict[str, object] = {"replicates": topics.replicates, "seed": topics.seed}
    options |= {} if topics.kind == "topical" else {"kind": topics.kind}
    options |= {} if record is None or record.case == "as-is" else {"case": record.case}
    given = ", ".join([repr(embedding), repr(words), *(f"{name}={value!r}" for name, value in options.items())])
    return WORDS.chance_check(given=given)


def _measured_with(record: Coverage | None) -> str:
    """The options of the command that measures distances, where they are not the usual ones."""
    if record is None:
        return ""
    options = {
        f" --case {record.case}": record.case != "as-is",
        " --keep-duplicates": record.kept_duplicates,
        " --twins keep": record.kept_twins,
        " --no-relatedness": bool(record.embedding) and not record.relatedness,
    }
    return "".join(option for option, given in options.items() if given)


def _hash(table: pd.DataFrame) -> str:
    """A number for the words and distances of a table, whatever the order of its rows."""
    columns = [table[name].tolist() for name in ("protected_word", "attribute_word", "connection")]
    distances = table["distance"].astype(float).tolist()
    rows = sorted([f"{a}\t{b}\t{c}\t{distance!r}" for a, b, c, distance in zip(*columns, distances, strict=True)])
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()
