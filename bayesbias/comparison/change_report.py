"""What a comparison says, in sentences and as a page: what changed, for whom, how certain that is, and what broke."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias._phrases import FINE, IN_SDS, MINUS, difference, excludes_zero, figure, percent, share, signed
from bayesbias._results import (
    Block,
    Code,
    Items,
    Page,
    Picture,
    Result,
    Section,
    Table,
    drawing,
    filled,
    table_of,
    unsaid,
)
from bayesbias.comparison.associations import ONE_GROUP, POPULATIONS, SIGN_RATE, decomposition_sentence
from bayesbias.errors import InputError, listed, many, shown
from bayesbias.models.results import Fit
from bayesbias.models.weights import RAW, group_means
from bayesbias.words import OTHER, OWN, PHRASES, STEREOTYPES, controls_of, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bayesbias.comparison.comparison import Comparison
    from bayesbias.comparison.effects import SideEffects

SLIGHT = 0.005  # size of an observed difference below which its sign says nothing
UNNAMED = ("before", "after")  # names of two tables that were given without names
HIDDEN = "The test for bias that remains: Gonen, H. and Goldberg, Y. (2019), doi 10.18653/v1/N19-1061."


def verdict_of(result: Comparison, prob: float) -> dict[str, list[str]]:
    """Sentences by part: what changed, for whom, how certain that is, what broke (or controls), and notes."""
    broke = "What broke" if len(result.embeddings) == 2 else "Controls"
    parts: dict[str, list[str]] = {"What changed": [], "For whom": [], "How certain": [], broke: [], "Notes": []}
    if result.faults:
        parts["What changed"].append(f"These draws should not be read: {'; '.join(result.faults)}.")
    for number in range(len(result.pairs)):
        if result.headline is not None:
            first, second = result.headline
            table = result.outcomes(first, second, prob, change=number)
            parts["What changed"] += _headline(result, number, prob, table)
            # how much of the change is special to a word's own stereotypes; nothing without control words
            if OTHER not in result.connections:
                parts["What changed"].append(ONE_GROUP)
            elif controls := result.decomposable:
                sums = result.decomposition(controls[0], prob, change=number)
                sentence = decomposition_sentence(sums, "the change of ", figure)
                parts["What changed"].append(_prefix(result, number) + sentence)
            parts["For whom"] += [_words(result, number, table), *_groups(result, number, prob)]
            parts["How certain"].append(_prefix(result, number) + _widths(result, number, prob, table))
        parts[broke] += _controls(result, number, prob)
    if result.headline is None and not parts[broke]:
        parts["What changed"].append("The pairs hold one kind of word only, so that there is no contrast to compare.")
    parts["Notes"] += result.notes
    return {name: sentences for name, sentences in parts.items() if sentences}


def _whole(table: pd.DataFrame) -> dict[Any, Any]:
    """The whole list's row of a change."""
    return table.iloc[0].to_dict()


def route(before: str, after: str) -> str:
    """Two embeddings as a title names them."""
    return "before and after" if (before, after) == UNNAMED else f"from {before} to {after}"


def led(result: Comparison, number: int, sentence: str) -> str:
    """A sentence after what it speaks of: two embeddings by name, or a debiasing method where they have no names."""
    names = result.pair(number)
    if names != UNNAMED:
        return f"From {names[0]} to {names[1]}, {sentence}"
    method = result.debiasing(names[1]).partition(":")[0]
    return f"With debiasing ({method}), {sentence}" if method else f"{sentence[0].upper()}{sentence[1:]}"


def _prefix(result: Comparison, number: int) -> str:
    """Which change a sentence speaks of, where there are several."""
    return "{} to {}: ".format(*result.pair(number)) if len(result.pairs) > 1 else ""


def _interval(result: Comparison, row: Mapping[Any, Any], prob: float) -> str:
    settled = "excludes" if excludes_zero(row) else "includes"
    how = ", words taken for unrelated," if result.unrelated else ""
    return f"{percent(prob)} interval{how} {figure(row['low'])} to {figure(row['high'])}, which {settled} 0"


def _headline(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The whole list's contrast, in either unit."""
    first, second = table.attrs["first"], table.attrs["second"]
    row = _whole(table)
    what = (
        f"the contrast {first}{MINUS}{labelled(second, result.labels)} of the whole list, for "
        f"{POPULATIONS[result.population]} (negative: {first} words are closer),"
    )
    if row["outcome"] == "unchanged":
        return [led(result, number, f"{what} did not change: it is {figure(row['after'])}.")]
    part = f", {100 * abs(row['change'] / row['before']):.0f}% of its size" if abs(row["before"]) > FINE else ""
    away = result.sides(first, second, number).after.excludes(0.0, prob)[0]
    turned = f", and that its sign reversed, {share(row['p_reversed'])}" if away else ""
    interval = _interval(result, row, prob)
    sentence = (
        f"{what} went from {signed(row['before'])} to {signed(row['after'])}, a change of {figure(row['change'])}"
        f"{part} ({interval}). Probability that it decreased in size, {share(row['p_shrank'])}{turned}."
    )
    return [led(result, number, sentence), *_scale(result, number, prob, table)]


def _scale(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> list[str]:
    """The same in the embeddings' units, and whether that says something else."""
    units, names = result.units(), list(result.pair(number))
    if reason := result.without_units(number):
        return [f"Differences of scale cannot be taken out, since {reason}."]
    row = _whole(result.outcomes(table.attrs["first"], table.attrs["second"], prob, standardise=True, change=number))
    listed = ", ".join(f"{name} {units[name]:.3f}" for name in names)
    sentence = (
        f"In {IN_SDS} ({listed}), which takes out differences of scale, it changed by "
        f"{figure(row['change'])} ({_interval(result, row, prob)}); probability that it decreased in size, "
        f"{share(row['p_shrank'])}."
    )
    if row["outcome"] != _whole(table)["outcome"]:
        sentence += " The two disagree, so that the change is, at least in part, one of scale."
    return [sentence]


def _words(result: Comparison, number: int, table: pd.DataFrame) -> str:
    """For how many words the association, or the difference, became smaller or larger."""
    part = table.iloc[1:]
    what = "association" if table.attrs["rows"] == RAW else "contrast"
    moved = [part.loc[part["outcome"] == name, "protected_word"].tolist() for name in ("shrank", "grew")]
    shrank, grew = (f"{len(words)} ({listed(words)})" if words else "0" for words in moved)
    same, left = (int((part["outcome"] == name).sum()) for name in ("unchanged", "inconclusive"))
    smaller = int((part["observed_after"].abs() < part["observed_before"].abs()).sum())
    away = int(((part["low"] > 0) | (part["high"] < 0)).sum())
    still = f"; it did not change for {same}" if same else ""
    rule = ""
    if moved[0] or moved[1]:
        rule = f" (by the model, fewer than {percent(SIGN_RATE)} of the words that are named are expected to be wrong)"
    if same < len(part) and not excludes_zero(_whole(table)):
        rule = ": words cannot be told apart, since the interval of the whole list's change includes 0"
    return (
        f"{_prefix(result, number)}Of {many(len(part), 'protected word')} the {what} decreased in size for {shrank}, "
        f"increased for {grew}, and is inconclusive for {left}{still}{rule}. The "
        f"{percent(table.attrs['prob'])} interval of its change excludes 0 for {away}. In the observed pairs it "
        f"decreased in size for {smaller}."
    )


def _groups(result: Comparison, number: int, prob: float) -> list[str]:
    """Groups whose mean associations have opposite signs afterwards, so that the whole list hides both.

    With two groups the mean association of each is the whole list.
    """
    if result.headline is None:
        return []
    sides = result.sides(*result.headline, number)
    names, weights = group_means(sides.after.index["group"].iloc[1:].fillna("").to_numpy(dtype=str))
    if sides.kind != RAW or len(names) < 3:
        return []
    matrix = np.column_stack([np.zeros(len(names)), weights])
    numbers = sides.after.combine(matrix).summary(prob)
    whole = max(abs(float(sides.after.mean[0])), SLIGHT)
    if not numbers["mean"].min() < -whole < whole < numbers["mean"].max():
        return []
    named = [
        f"{name} {figure(mean)} ({figure(low)} to {figure(high)})"
        for name, mean, low, high in zip(names, numbers["mean"], numbers["low"], numbers["high"], strict=True)
    ]
    before, after = result.pair(number)
    where = "Afterwards" if (before, after) == UNNAMED else f"In {after}"
    return [
        f"{_prefix(result, number)}{where} the mean associations of the groups differ in sign, {', '.join(named)}: in "
        "the mean of the whole list they cancel."
    ]


def _controls(result: Comparison, number: int, prob: float) -> list[str]:
    """What became of the mean distances to control words."""
    sentences = []
    for name in controls_of(result.connections):
        row = _whole(result.changes(name, prob=prob, change=number))
        phrase = labelled(name, result.labels, PHRASES)
        how = ", exactly" if row["sd"] == 0 else f" ({_interval(result, row, prob)})"
        sentences.append(led(result, number, f"mean distances to {phrase} changed by {figure(row['mean'])}{how}."))
    return sentences


EQUALISED = "sets equalised"  # in the record of a debiasing method
EXCLUDED = 0.22  # of hard_multiclass: docs/validation.md


def _widths(result: Comparison, number: int, prob: float, table: pd.DataFrame) -> str:
    """How wide the interval is, and what two separate fits would leave."""
    separate = result.changes(prob=prob, paired=False, change=number)
    widths = [row["high"] - row["low"] for row in map(_whole, (table, separate))]
    if widths[0] == 0:
        return "The change is known exactly, in cosine distance."
    return (
        f"Since the same pairs were measured, the interval of the change is {figure(widths[0])} wide (cosine "
        f"distance); two separate fits would leave {figure(widths[1])}.{_too_narrow(result, number)}"
    )


def _too_narrow(result: Comparison, number: int) -> str:
    """A sentence where the interval of what debiasing changed is known to be too narrow."""
    if EQUALISED not in result.debiasing(result.pair(number)[1]):
        return ""
    return (
        " The defining words were equalised, and for such changes the interval is too narrow: of random topics, as "
        f"near to the protected words as stereotypes of gender, {EXCLUDED:.0%} had an interval that excludes 0, where "
        "11% should."
    )


def front_of(result: Comparison, prob: float, effects: SideEffects | None) -> Page:
    """The first screen: what changed, for whom, how certain that is, and what broke."""
    attrs, (before, after) = result.tree.attrs, result.pair(0)
    topic = next((record["word_list"] for record in result.coverage.values()), "distance tables")
    pairs, words = len(result.data.y), len(result.data.protected_words)
    parts = _parts(result, prob, effects)
    lines = {f"{name}?": sentences[0] for name, sentences in parts.items() if name != "Notes"}
    if effects is not None:
        lines |= {name: " ".join(effects.first) for name in ("What broke?", "Controls?") if name in lines}
        first = [name for name in ("What changed?", "What broke?", "Controls?") if name in lines]
        lines = {name: lines[name] for name in dict.fromkeys([*first, *lines])}
    lines |= unsaid(
        "A smaller mean difference leaves differences of single words."
        if effects is not None
        else "Whether the former difference can still be predicted from the vectors, and how many neighbours words "
        "lost, was not looked at: give effects=side_effects(...)."
    )
    return Page(
        title=_title(result),
        lead=f"{topic}: {pairs:,} pairs of {words} protected word{'s' * (words != 1)}, the same in every embedding. "
        f"Model {attrs['model']}, engine {attrs['engine']}; intervals are equal-tailed and hold {percent(prob)} of the "
        "posterior mass.",
        answer=_moved(result, prob) or next(iter(parts.values()))[0],
        lines=lines,
        picture=Picture(
            "whole",
            f"Mean distances and the contrast of the whole list, {route(before, after)}",
            partial(drawing, "plot_change", result, prob, before, after, words=False),
        ),
        fault=f"These draws should not be read: {'; '.join(result.faults)}." if result.faults else "",
    )


def sections_of(result: Comparison, prob: float, effects: SideEffects | None) -> tuple[Section, ...]:
    """The details: all sentences, each change, side effects, what was measured, and the model."""
    attrs, parts = result.tree.attrs, _parts(result, prob, effects)
    full = [f"{name}. {' '.join(sentences)}" for name, sentences in parts.items() if name != "Notes"]
    fitted = Fit(result.tree)
    versions = ", ".join(f"{name} {value}" for name, value in fitted.versions.items())
    modelled = (
        f"Differences of paired distances follow this model; distances as such the model {attrs['levels_model']}."
    )
    if attrs["levels_model"] == attrs["model"]:
        modelled = "The distances in all embeddings follow this model together."
    model: list[Block] = [
        modelled,
        Code(attrs["model_text"]),
        f"Model hash {attrs['model_hash'][:16]}, engine {attrs['engine']}, seed {attrs['seed']}. Versions: {versions}.",
    ]
    broke: list[Block] = []
    if effects is not None:
        model.append(HIDDEN)
        columns = {"effect": ("effect", "text"), "of": ("of", "text")}
        columns |= {name: (name, "number") for name in ("value", "low", "high")}
        broke.append(Picture("effects", "Side effects", partial(drawing, "plot_side_effects", effects)))
        broke.append(table_of("Estimates and intervals", effects.table(), columns))
    checks: list[Block] = [Items(parts.get("Notes", []))]
    stats = {name: fitted.stats[name] for name in ("pareto_k", "importance_ess") if name in fitted.stats}
    rows = [
        (name.replace("_", " "), ", ".join(f"{value:.3g}" for value in values.to_numpy().ravel()))
        for name, values in stats.items()
    ]
    if rows:
        checks.append(Table("Figures of the fit", {"figure": "text", "value": "text"}, rows))
    return filled(
        (
            Section("In sentences", [Items(full)]),
            *(_of_change(result, number, prob) for number in range(len(result.pairs))),
            Section("Side effects", broke),
            Section("What was measured", list(_asked(result.coverage)), shut=True),
            Section("Notes and checks", checks, shut=True),
            Section("Model", model, shut=True),
        )
    )


def _parts(result: Comparison, prob: float, effects: SideEffects | None) -> dict[str, list[str]]:
    """The verdict by parts, with side effects where they are known."""
    if effects is None:
        return result.parts(prob)
    if not isinstance(effects, Result) or not hasattr(effects, "added_to"):
        raise InputError(f"effects is {shown(effects)}: give what side_effects returns")
    return effects.added_to(result.parts(prob))


def _title(result: Comparison) -> str:
    """The question: names of embeddings, or what was debiased."""
    first, *between, last = result.embeddings
    debiased = result.debiasing(last).partition(":")[0]
    if result.embeddings == UNNAMED and debiased:
        return f"What did debiasing ({debiased}) change?"
    return f"What changed from {first} to {last}{f', by way of {listed(between)}' if between else ''}?"


def _moved(result: Comparison, prob: float) -> str:
    """What became of the headline contrast, in a sentence that needs no statistics; empty where there is none."""
    if result.headline is None:
        return ""
    sentences = []
    for number in range(len(result.pairs)):
        row = result.outcomes(*result.headline, prob, change=number).iloc[0]
        other = labelled(result.headline[1], result.labels, PHRASES)
        if row["outcome"] == "unchanged":
            move = "on average, protected words did not move towards or away from their own stereotypes"
        elif row["low"] <= 0 <= row["high"]:
            move = "it is inconclusive whether protected words moved towards their own stereotypes or away from them"
        else:
            way = "away from" if row["change"] > 0 else "towards"
            move = f"on average, protected words moved {way} their own stereotypes"
        sentence = (
            f"{move}, compared with {other}: the difference was {signed(row['before'])} and is {signed(row['after'])}."
        )
        sentences.append(led(result, number, sentence))
    return " ".join(sentences)


def _of_change(result: Comparison, number: int, prob: float) -> Section:
    """Figures and tables of one change."""
    before, after = result.pair(number)
    heading = route(before, after)
    title = f"Mean distances and associations of protected words, {heading}"
    shown = [Picture(f"change-{number}", title, partial(drawing, "plot_change", result, prob, before, after))]
    if set(result.connections) & set(STEREOTYPES):
        title = f"Cosine similarities by connection, {before} and {after}"
        shown.append(Picture(f"shift-{number}", title, partial(_similarities, result, before, after)))
    return Section(heading[0].upper() + heading[1:], [*shown, *_change_tables(result, number, prob)])


def _similarities(result: Comparison, before: str, after: str) -> Figure:
    """Cosine similarities before and after by connection, and the limits of MAC."""
    pairs = result.paired_distances(before, after).rename(columns={"before": before, "after": after})
    table = pairs.melt("connection", [before, after], "embedding", "similarity")
    table["similarity"] = 1 - table["similarity"]
    table["connection"] = [labelled(name, result.labels) for name in table["connection"]]
    limit = result.similarity_shift(None, before, after).attrs["limit"]
    label = f"cosine similarity (lines at \N{PLUS-MINUS SIGN}(1{MINUS}MAC) = \N{PLUS-MINUS SIGN}{limit:.3f})"
    options: dict[str, Any] = {"by": "embedding", "mark": (-limit, limit), "label": label}
    return drawing("strip", table, "similarity", "connection", **options)


def _change_tables(result: Comparison, number: int, prob: float) -> Iterator[Block]:
    before, after = result.pair(number)
    others = [name for name in result.connections if name != OWN]
    pairs = [(OWN, name) for name in others] if OWN in result.connections else []
    shared = [(OTHER, name) for name in controls_of(result.connections) if OTHER in result.connections]
    means: list[tuple[str, str | None]] = [(name, None) for name in result.connections]
    numbers = ("before", "after", "change", "low", "high")
    rows: list[list[Any]] = []
    for first, second in [*means, *pairs, *shared]:
        sides = result.sides(first, second, number)
        change = sides.change.summary(prob).iloc[0]
        moved = [change[name] for name in ("mean", "low", "high", "p_closer")]
        ends = [sides.before.mean[0], sides.after.mean[0], *moved]
        rows.append([_quantity(result, first, second), *map(float, ends)])
    yield Table(
        f"Whole list: posterior means of mean distances and contrasts in {before} and in {after}, and the change with "
        "its interval, in cosine distance",
        {"quantity": "text", **dict.fromkeys(numbers, "number"), "P(change below 0)": "share"},
        rows,
    )
    outcome = {
        "protected_word": ("protected word", "text"),
        "group": ("group", "text"),
        **{name: (name, "number") for name in numbers},
        "p_shrank": ("P(decreased in size)", "share"),
        "p_reversed": ("P(sign reversed)", "share"),
        "outcome": ("outcome", "text"),
        "observed_before": ("observed before", "number"),
        "observed_after": ("observed after", "number"),
    }
    for first, second in pairs:
        table = result.outcomes(first, second, prob, change=number)
        away = result.sides(first, second, number).after.excludes(0.0, prob)
        table["p_reversed"] = table["p_reversed"].where(away, np.nan)
        yield table_of(
            f"{_quantity(result, first, second)}. {table.attrs['meaning']} Posterior means; the probability that the "
            "value decreased in size; that its sign reversed, where the value after is away from 0; and what the pairs "
            "show",
            table.fillna({"group": ""}),
            outcome,
        )
    if set(result.connections) & set(STEREOTYPES):
        shift = result.similarity_shift(None, before, after)
        shift["connection"] = [labelled(name, result.labels) for name in shift["connection"]]
        shares = {"before": ("before", "percent"), "after": ("after", "percent")}
        columns_of_shift = {"connection": ("connection", "text"), "n": ("pairs", "count"), **shares}
        yield table_of("Share of cosine similarities within 0 plus or minus 1 − MAC", shift, columns_of_shift)


def _quantity(result: Comparison, first: str, second: str | None) -> str:
    """A connection or a contrast as the page names it."""
    quantity = first if second is None else f"{first} - {second}"
    return difference(labelled(quantity, result.labels))


def _asked(records: Mapping[str, Any]) -> Iterator[Block]:
    """What each embedding was asked for."""
    if not records:
        yield "The tables carried no coverage: how many of the words that were asked for they hold is not known."
    for name, record in records.items():
        facts = record.get("embedding") or {}
        size = f", {facts['vectors']:,} vectors of {facts['dimensions']} dimensions" if facts else ""
        debiasing = f" Debiasing: {facts['debiasing'].removesuffix('.')}." if facts.get("debiasing") else ""
        yield f"{name}: {facts.get('name', record['word_list'])}{size}.{debiasing}"
        columns = {"list": "text", "kind": "text", "asked": "text", "found": "count", "missing": "text"}
        rows = [
            (
                labelled(each["list"], record.get("labels") or {}),
                each["kind"],
                "unknown" if each["asked"] is None else f"{each['asked']:,}",
                each["found"],
                ", ".join(each["missing"]),
            )
            for each in record["lists"]
        ]
        yield Table(f"{name}: words asked for and found, by list", columns, rows)
