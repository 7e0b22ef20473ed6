"""Pages of comparisons, pools, trends, audits and sets of metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from bayesbias._phrases import MINUS, difference, is_share_of_draws, percent, signed
from bayesbias.comparison import Audit, Comparison, SideEffects, similarity_shift
from bayesbias.comparison.contrast import figures
from bayesbias.comparison.paired import UNNAMED, led, route
from bayesbias.errors import many
from bayesbias.metrics import list_metrics
from bayesbias.plots.audits import plot_audit
from bayesbias.plots.changes import plot_change, plot_side_effects, plot_similarity_shift
from bayesbias.plots.second_stage import plot_pool, plot_relation, plot_trend
from bayesbias.reporting.document import (
    Block,
    Code,
    Items,
    Page,
    Photo,
    Picture,
    Section,
    Table,
    cited,
    filled,
    table_of,
)
from bayesbias.second_stage import Pool, Trend
from bayesbias.words import PHRASES, STEREOTYPES, controls_of, labelled

MOST_ROWS = 2000
"""Words of an audit that a page shows."""
HIDDEN = "The test for bias that remains: Gonen, H. and Goldberg, Y. (2019), doi 10.18653/v1/N19-1061."
METRIC_COLUMNS = ("embedding", "query", "metric", "value", "optimum", "found", "missing", "reason")


def whole_table(caption: str, frame: pd.DataFrame) -> Table:
    """All columns of a DataFrame, written as their types and names ask for."""
    named = frame.rename(columns=str)
    columns = {name: (name.replace("_", " "), _kind(name, named[name])) for name in named.columns}
    shown = named.astype({name: "str" for name, (_, kind) in columns.items() if kind == "text"})
    return table_of(caption, shown.where(named.notna(), None), columns)


def _kind(name: str, column: pd.Series) -> str:
    if is_bool_dtype(column) or not is_numeric_dtype(column):
        return "text"
    if is_integer_dtype(column):
        return "count"
    return "share" if is_share_of_draws(name) else "number"


def change_page(result: Comparison, effects: SideEffects | None, prob: float) -> Page:
    """The page of a comparison: what changed, for whom, how certain that is, and what broke."""
    attrs = result.posterior.attrs
    parts = result.parts(prob) if effects is None else effects.added_to(result.parts(prob))
    asked = json.loads(attrs["coverage"])
    topic = next((record["word_list"] for record in asked.values()), "distance tables")
    sizes = {name: result.posterior[name].sizes for name in ("observed_data", "posterior")}
    pairs, words = sizes["observed_data"]["pair"], sizes["posterior"]["protected_word"]
    told = {f"{name}?": sentences[0] for name, sentences in parts.items() if name != "Notes"}
    if effects is not None:
        told |= {f"{name}?": " ".join(effects.first) for name in ("What broke", "Controls") if f"{name}?" in told}
    full = [f"{name}. {' '.join(sentences)}" for name, sentences in parts.items() if name != "Notes"]
    versions = json.loads(attrs["versions"])
    return Page(
        title=_title(result),
        lead=f"{topic}: {pairs:,} pairs of {words} protected word{'s' * (words != 1)}, the same in every embedding. "
        f"Model {attrs['model']}, engine {attrs['engine']}; intervals are equal-tailed and hold {percent(prob)} of the "
        "posterior mass.",
        answer=_moved(result, prob) or next(iter(parts.values()))[0],
        lines=told,
        picture=_small_picture(result, prob),
        fault=f"These draws should not be read: {'; '.join(result.faults)}." if result.faults else "",
        sections=filled(
            (
                Section("In sentences", [Items(full)]),
                *(_of_change(result, number, prob) for number in range(len(result.pairs))),
                Section("Side effects", [] if effects is None else list(_of_effects(effects))),
                Section("What was measured", list(_asked(asked)), shut=True),
                Section("Notes and checks", [Items(parts.get("Notes", [])), *_figures(result)], shut=True),
                Section(
                    "Model and how to cite",
                    [
                        _modelled(attrs),
                        Code(attrs["model_text"]),
                        f"Model hash {attrs['model_hash'][:16]}, engine {attrs['engine']}, seed {attrs['seed']}. "
                        f"Versions: {', '.join(f'{name} {value}' for name, value in versions.items())}.",
                        cited(result),
                        *([] if effects is None else [HIDDEN]),
                    ],
                    shut=True,
                ),
            )
        ),
    )


def _title(result: Comparison) -> str:
    """What was compared: names of embeddings, or what was debiased."""
    debiased = result.debiasing(result.embeddings[-1]).partition(":")[0]
    names = f"debiasing ({debiased})" if result.embeddings == UNNAMED and debiased else ", ".join(result.embeddings)
    return f"What changed: {names}"


def _modelled(attrs: Mapping[Any, Any]) -> str:
    """What the model of the page is a model of."""
    if attrs["levels_model"] == attrs["model"]:
        return "The distances in all embeddings follow this model together."
    return f"Differences of paired distances follow this model; distances as such the model {attrs['levels_model']}."


def _moved(result: Comparison, prob: float) -> str:
    """What became of the headline contrast, in a sentence that needs no statistics; empty where there is none."""
    if result.headline is None:
        return ""
    sentences = []
    for number in range(len(result.pairs)):
        row = result.outcomes(*result.headline, prob, change=number).iloc[0]
        other = labelled(result.headline[1], result.labels, PHRASES)
        if row["outcome"] == "unchanged":
            told = "on average, protected words did not move towards or away from their own stereotypes"
        elif row["low"] <= 0 <= row["high"]:
            told = "it is not settled whether protected words moved towards their own stereotypes or away from them"
        else:
            way = "away from" if row["change"] > 0 else "towards"
            told = f"on average, protected words moved {way} their own stereotypes"
        sentence = (
            f"{told}, compared with {other}: the difference was {signed(row['before'])} and is {signed(row['after'])}."
        )
        sentences.append(led(result, number, sentence))
    return " ".join(sentences)


def _small_picture(result: Comparison, prob: float) -> Picture:
    """The whole list before and after."""
    before, after = result.pair(0)
    title = f"Mean distances and the contrast of the whole list, {route(before, after)}"
    return Picture("whole", title, plot_change(result, prob, before, after, words=False))


def _of_change(result: Comparison, number: int, prob: float) -> Section:
    """Pictures and tables of one change."""
    before, after = result.pair(number)
    title = f"Mean distances and associations of protected words, {route(before, after)}"
    shown = [Picture(f"change-{number}", title, plot_change(result, prob, before, after))]
    if set(result.connections) & set(STEREOTYPES):
        title = f"Cosine similarities by connection, {before} and {after}"
        shown.append(Picture(f"shift-{number}", title, plot_similarity_shift(result, None, before, after)))
    heading = route(before, after)
    return Section(heading[0].upper() + heading[1:], [*shown, *_change_tables(result, number, prob)])


def _change_tables(result: Comparison, number: int, prob: float) -> Iterator[Block]:
    before, after = result.pair(number)
    others = [name for name in result.connections if name != "associated"]
    pairs = [("associated", name) for name in others] if "associated" in result.connections else []
    shared = [("different", name) for name in controls_of(result.connections) if "different" in result.connections]
    means: list[tuple[str, str | None]] = [(name, None) for name in result.connections]
    columns = {"quantity": "text", "before": "number", "after": "number", "change": "number", "low": "number"}
    yield Table(
        f"Whole list: posterior means of mean distances and contrasts in {before} and in {after}, and the change with "
        "its interval, in cosine distance",
        {**columns, "high": "number", "P(change below 0)": "share"},
        [_whole(result, first, second, number, prob) for first, second in [*means, *pairs, *shared]],
    )
    outcome = {
        "protected_word": ("protected word", "text"),
        "group": ("group", "text"),
        **{name: (name, "number") for name in ("before", "after", "change", "low", "high")},
        "p_shrank": ("P(decreased in size)", "share"),
        "p_reversed": ("P(sign reversed)", "share"),
        "outcome": ("outcome", "text"),
        "observed_before": ("observed before", "number"),
        "observed_after": ("observed after", "number"),
    }
    for first, second in pairs:
        rows = result.outcomes(first, second, prob, change=number)
        away = result.sides(first, second, number).away_after(prob)
        rows["p_reversed"] = rows["p_reversed"].where(away, np.nan)
        yield table_of(
            f"{_quantity(result, first, second)}. {rows.attrs['meaning']} Posterior means; the probability that the "
            "value decreased in size, word by word, not adjusted for multiple comparisons; that its sign reversed, "
            "where the value after is away from 0; and what the pairs show",
            rows.fillna({"group": ""}),
            outcome,
        )
    if set(result.connections) & set(STEREOTYPES):
        shift = similarity_shift(result, None, before, after)
        shift["connection"] = [labelled(name, result.labels) for name in shift["connection"]]
        shares = {"before": ("before", "percent"), "after": ("after", "percent")}
        columns_of_shift = {"connection": ("connection", "text"), "n": ("pairs", "count"), **shares}
        yield table_of("Share of cosine similarities within 0 plus or minus 1 − MAC", shift, columns_of_shift)


def _whole(result: Comparison, first: str, second: str | None, number: int, prob: float) -> list[Any]:
    sides = result.sides(first, second, number)
    row = {name: values[0] for name, values in figures(sides.change, prob).items()}
    numbers = [sides.before.mean[0], sides.after.mean[0], row["mean"], row["low"], row["high"], row["p_closer"]]
    return [_quantity(result, first, second), *map(float, numbers)]


def _quantity(result: Comparison, first: str, second: str | None) -> str:
    """A connection or a contrast as the page names it."""
    quantity = first if second is None else f"{first} - {second}"
    return difference(labelled(quantity, result.labels))


def _of_effects(effects: SideEffects) -> Iterator[Block]:
    yield Picture("effects", "Side effects", plot_side_effects(effects))
    columns = {"effect": ("effect", "text"), "of": ("of", "text")}
    columns |= {name: (name, "number") for name in ("value", "low", "high")}
    yield table_of("Estimates and intervals", effects.table(), columns)


def _figures(result: Comparison) -> Iterator[Block]:
    stats = result.posterior["sample_stats"].data_vars if "sample_stats" in result.posterior.children else {}
    rows = [
        (str(name).replace("_", " "), ", ".join(f"{value:.3g}" for value in stats[name].to_numpy().ravel()))
        for name in ("pareto_k", "importance_ess")
        if name in stats
    ]
    if rows:
        yield Table("Figures of the fit", {"figure": "text", "value": "text"}, rows)


def _asked(asked: Mapping[str, Any]) -> Iterator[Block]:
    """What each embedding was asked for."""
    if not asked:
        yield "The tables carried no coverage: how many of the words that were asked for they hold is not known."
    for name, record in asked.items():
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


def _sentences(text: str) -> list[str]:
    """A text in its sentences; a full stop within brackets or a number ends none."""
    pieces, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if (
            letter == "."
            and depth <= 0
            and text[at + 1 : at + 2] in ("", " ")
            and text[at + 2 : at + 3].isupper() | (at + 1 == len(text))
        ):
            pieces.append(text[begin : at + 1].strip())
            begin = at + 1
    rest = text[begin:].strip()
    return [*pieces, rest] if rest else pieces


def _staged(
    title: str, what: str, result: Pool | Trend, prob: float, picture: Picture, sections: Sequence[Section]
) -> Page:
    """A page whose sentences are a result's own: the first is the answer, the others and the notes follow."""
    told = [one for one in _sentences(result.text(prob)) if one not in result.notes]
    lines = {"In detail": " ".join(told[1:])} if told[1:] else {}
    notes = {"What limits it": " ".join(result.notes)} if result.notes else {}
    return Page(
        title=title, lead=what, answer=told[0], lines={**lines, **notes}, picture=picture, sections=filled(sections)
    )


def pool_page(result: Pool, prob: float) -> Page:
    """The page of a pool over embeddings."""
    first, second = result.contrast
    unit = "standard deviations of distances" if result.standardised else "cosine distance"
    sections = [
        Section(
            "Embeddings",
            [whole_table(f"Each embedding, raw and partially pooled, in {unit}", result.table(prob))],
        ),
        Section("Outside variables", _relations(result, prob)),
        Section("How it was made", [cited(result)], shut=True),
    ]
    picture = Picture("pool", "Each embedding's estimate, and the partially pooled one", plot_pool(result, prob))
    what = f"{first}{MINUS}{second} in {len(result.estimates):,} embeddings, partially pooled."
    return _staged(f"Bias over embeddings: {first}{MINUS}{second}", what, result, prob, picture, sections)


def _relations(result: Pool, prob: float) -> list[Block]:
    if result.relation.empty:
        return []
    drawn = plot_relation(result, prob=prob)
    return [
        Picture("relation", "Contrasts against the outside variable", drawn),
        whole_table("Correlation and slope with outside variables, errors of both sides taken out", result.relation),
    ]


def trend_page(result: Trend, prob: float) -> Page:
    """The page of a trend."""
    first, second = result.contrast
    sections = [
        Section(
            "Embeddings", [whole_table("Each embedding: its estimate, and the level of the trend", result.table(prob))]
        ),
        Section("How it was made", [f"Kind of trend: {result.kind}.", cited(result)], shut=True),
    ]
    times = result.estimates["time"]
    what = f"{first}{MINUS}{second} in {len(times):,} embeddings, from {times.min():g} to {times.max():g}."
    picture = Picture("trend", "Estimates over time, and the trend", plot_trend(result, prob))
    return _staged(f"Bias over time: {first}{MINUS}{second}", what, result, prob, picture, sections)


def audit_page(found: Audit) -> Page:
    """The page of an audit."""
    table = found.table()
    largest = table["mean"].abs().nlargest(MOST_ROWS).index
    rows = table.loc[largest].astype({"band": "str", "leans_to": "str"})
    rows["ranks"] = [f"{row.rank_low} to {row.rank_high}" for row in rows.itertuples()]
    more = f"the {MOST_ROWS:,} largest contrasts of {len(table):,}" if len(table) > MOST_ROWS else f"all {len(table):,}"
    answer, *rest = _sentences(found.text())
    leaning = [one for one in rest if one.startswith(("To ", "Away from "))]
    others = [one for one in rest if one not in leaning]
    ends = {"mean": ("contrast", "number"), "low": ("low", "number"), "high": ("high", "number")}
    columns = {"word": ("word", "text"), "leans_to": ("leans to", "text"), **ends, "lfsr": ("wrong sign", "rate")}
    columns |= {"rank": ("rank", "count"), "ranks": ("ranks at its ends", "text"), "band": ("frequency", "text")}
    return Page(
        title=f"Audit: {', '.join(found.groups)} in {found.embedding}",
        lead=f"{found.words['word'].nunique():,} words of the vocabulary beside "
        f"{sum(map(len, found.groups.values()))} protected words.",
        answer=answer,
        lines={"Which words?": " ".join(leaning), "How sure?": " ".join(others)},
        picture=Photo(
            "audit",
            "Contrast of each word against its place in the vocabulary; words called are named",
            plot_audit(found),
        ),
        sections=filled(
            (
                Section(
                    "Words called",
                    [
                        table_of(
                            f"Words called, {more}: shrunken contrast in cosine distance with its "
                            f"{percent(found.prob)} interval, and the probability that its sign is wrong",
                            rows,
                            columns,
                        )
                    ],
                ),
                Section(
                    "Groups",
                    [
                        Table(
                            "Protected words of each group that were found",
                            {"group": "text", "words": "text"},
                            [(name, ", ".join(words)) for name, words in found.groups.items()],
                        ),
                        *found.notes,
                    ],
                ),
                Section("How to cite", [cited(found)], shut=True),
            )
        ),
    )


def metrics_page(table: pd.DataFrame) -> Page:
    """The page of a set of metrics."""
    measured = table[table["value"].notna()]
    without = len(table) - len(measured)
    tested = measured["p_value"].notna() if "p_value" in measured else pd.Series(dtype=bool)
    embeddings, queries = table["embedding"].nunique(), table["query"].nunique()
    known = list_metrics().set_index("name")
    used = known.loc[[name for name in known.index if name in set(table["metric"])]].reset_index()
    notes = [str(note) for note in table.attrs.get("notes", ())]
    columns = ["embedding", "query", "subquery", "metric", "value", "p_value", "optimum", "found", "missing", "reason"]
    shown = table[[name for name in columns if name in table]].dropna(axis=1, how="all")
    answer = (
        f"{many(len(measured), 'value')} of {many(len(used), 'metric')} for {queries} "
        f"quer{'y' if queries == 1 else 'ies'} and {many(embeddings, 'embedding')}."
    )
    lines = {
        "How sure?": "A metric is one number for the words that were listed. How far it depends on them is not part of "
        "it: bootstrap_metric tells, and permutation tests take the words for unrelated (unless "
        "p_value='related')."
        + (
            f" {int((measured['p_value'] < 0.05).sum())} of {int(tested.sum())} p-values are below .05."
            if tested.any()
            else ""
        ),
        "Which values are missing?": f"{without:,} of {len(table):,} values could not be computed; the table says why."
        if without
        else "None: every metric has a value.",
        "What is no bias?": "The column optimum has the value that each metric takes without bias. Values of different "
        "metrics cannot be compared with each other.",
    }
    definitions = used[[name for name in ("name", "title", "description", "source", "doi") if name in used]]
    return Page(
        title="Classic bias metrics",
        lead=f"Embeddings: {', '.join(map(str, table['embedding'].unique()))}.",
        answer=answer,
        lines=lines,
        picture=None,
        sections=filled(
            (
                Section(
                    "Values", [whole_table("Values of the metrics, with the words found and missing", shown), *notes]
                ),
                Section("Definitions", [whole_table("The metrics used, with their sources", definitions)]),
                Section("How to cite", [cited(table)], shut=True),
            )
        ),
    )
