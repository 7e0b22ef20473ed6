"""Commands on many embeddings, and on a whole vocabulary: pool, trend, criterion, audit, sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import bayesbias as bb
from bayesbias.cli import names
from bayesbias.cli.options import FRESH, MEASURED, SOURCES, TABLE, Given, Option, command, written
from bayesbias.cli.reading import csv_table, named_values
from bayesbias.cli.screen import say, show, working
from bayesbias.cli.writing import Made
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MOST = 20
"""Words of an audit that the screen shows."""
SHOWN = ["name", "estimate", "se", "mean", "low", "high", "rank", "p_below_zero"]
"""Columns that a terminal shows; the file has all."""


def outside_of(path: Path) -> tuple[pd.Series, pd.Series | None]:
    """The values by word, and their standard errors where a file has them."""
    table = csv_table(path)
    if len(table.columns) not in (2, 3):
        raise InputError(f"{path} has {len(table.columns)} columns: give word, value and, where known, se")
    words = table.iloc[:, 0].map(str)
    if words.duplicated().any():
        raise InputError(f"the word {words[words.duplicated()].iloc[0]!r} has two values: give each word once")
    value, *se = (table[name].set_axis(words) for name in table.columns[1:])
    return value, se[0] if se else None


def named(option: str, help: str) -> Option:  # noqa: A002  # an option's
    """An option that is given for each embedding, as NAME=VALUE."""
    return Option(help, list[str], default=None, read=named_values(option))


@command(
    "second_stage:pool",
    "embeddings=tables words contrast on group=groups replicate=replicates standardise adjust frequencies seed prob "
    "case trust_pickle out picture report",
    words=MEASURED,
    on=Option("CSV of outside variables: name, and one column each.", Path, read=csv_table),
    group=named("--group", "NAME=GROUP of an embedding; once for each."),
    replicate=named("--replicate", "NAME=SETTING of a training; once for each."),
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def pool(given: Given) -> Any:
    """One contrast in many embeddings, partially pooled, and its relation to something outside."""
    with working("pooling"):
        pooled = given.call(bb.pool)
    show(pooled.table(given.prob)[SHOWN], "Embeddings", whole="name")
    say(pooled.text(given.prob))
    return pooled


@command(
    "second_stage:trend",
    "embeddings=tables words time contrast kind adjust frequencies seed prob case trust_pickle out picture report",
    words=MEASURED,
    time=named("--time", "NAME=NUMBER of an embedding; by default names are numbers."),
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def trend(given: Given) -> Made:
    """How a contrast changes over ordered embeddings."""
    with working("fitting the trend"):
        trends = given.call(bb.trend, time=given.time or {name: Path(name).stem for name in given.tables})
    show(trends.table(given.prob)[["embedding", *SHOWN[1:6]]], "Levels", whole="embedding")
    say(trends.text(given.prob))
    return Made(trends, trends.slopes(given.prob))


@command(
    "second_stage:criterion",
    "fit=post values=outside contrast adjust frequencies seed prob out picture",
    values=Option("CSV of word, value and, where known, se, with a header.", Path, read=outside_of),
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def criterion(given: Given) -> Made:
    """Whether words whose contrast is larger have more of something outside."""
    relation = given.call(bb.criterion, values=given.outside[0], se=given.outside[1])
    show(relation.table(given.prob), "Relation", whole="quantity")
    say(relation.text(given.prob))
    return Made(relation, relation.words)


@command(
    "axes:audit",
    "embedding=kv groups level rope seed trust_pickle out report picture",
    groups=Option(
        "A bundled word list or a TOML file: its protected words are the groups.",
        names=("--groups",),
        complete=names.word_lists,
    ),
    out=written("an audit", ".parquet", said="audit"),
)
def audit(given: Given) -> Any:
    """Which words of the vocabulary lean to one social group, and how sure that is."""
    audited = given.call(bb.audit)
    called = audited.table()
    columns = ["word", "leans_to", "mean", "low", "high", "lfsr", "rank"]
    show(called.head(MOST)[columns], f"Words called: {min(len(called), MOST)} of {len(called):,}", whole="word")
    say(audited.text())
    return audited


@command(
    "sweeps:sweep",
    "plan=file out workers scheduler=executor retry",
    plan=Option("A TOML file: embeddings, words, tables, models, debiasing, seeds."),
    out=Option("The folder; a sweep that was stopped there goes on."),
    workers=Option(min=1),
    scheduler=Option("Address of a Dask scheduler, such as tcp://host:8786.", default=None),
)
def sweep(given: Given) -> None:
    """Many fits into one folder, resumed after a stop."""
    try:
        swept = given.call(bb.sweep, plan=given.file, executor=given.executor or "processes")
    except KeyboardInterrupt:
        say(f"what is finished is kept in {given.out}; the same command goes on")
        raise
    say(swept.text())
    say(f"contrasts written to {given.out / 'contrasts.parquet'}")
    if swept.fits["status"].eq("failed").all():
        raise typer.Exit(1)
