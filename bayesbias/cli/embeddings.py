"""Commands on many embeddings: pool, trend, criterion, audit, sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli import names
from bayesbias.cli.arguments import check_report, check_targets, csv_table, save_picture, save_report

if TYPE_CHECKING:
    import pandas as pd

Tables = Annotated[
    list[str],
    typer.Argument(
        help="Bundled names, embedding files, or distance tables (.csv, .parquet).", autocompletion=names.embeddings
    ),
]
Words = Annotated[
    str | None,
    typer.Option(
        help="A bundled word list or a TOML file, to measure embeddings with.", autocompletion=names.word_lists
    ),
]
Contrast = Annotated[
    str | None, typer.Option(help="Two connections with a comma between; associated,different where there is one.")
]
Adjust = Annotated[str | None, typer.Option(help="frequency or length: adjust distances for it first.")]
Frequencies = Annotated[
    list[str] | None,
    typer.Option(help="Where frequencies come from: a file of words and counts, or NAME=FILE of an embedding."),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the draws; a fresh one if not given.", min=0)]
Prob = Annotated[float, typer.Option(help="Posterior mass of the intervals.")]
Case = Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")]
TrustPickle = Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the table as .csv.")]
Picture = Annotated[Path | None, typer.Option(help="Write the picture, .png.")]
Report = Annotated[Path | None, typer.Option(help="Write a report, .html or .md.")]


MOST = 20
"""Words of an audit that the screen shows."""
SHOWN = ["name", "estimate", "se", "mean", "low", "high", "rank", "p_below_zero"]
"""Columns that a terminal shows; the file has all."""
Workers = Annotated[int | None, typer.Option(help="Processes; one for each processor unless given.", min=1)]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")]


def pool(
    embeddings: Tables,
    words: Words = None,
    contrast: Contrast = None,
    on: Annotated[Path | None, typer.Option(help="CSV of outside variables: name, and one column each.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="NAME=GROUP of an embedding; once for each.")] = None,
    replicate: Annotated[list[str] | None, typer.Option(help="NAME=SETTING of a training; once for each.")] = None,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="In standard deviations of each embedding's distances.")
    ] = False,
    adjust: Adjust = None,
    frequencies: Frequencies = None,
    seed: Seed = None,
    prob: Prob = 0.89,
    case: Case = "as-is",
    trust_pickle: TrustPickle = False,
    out: Out = None,
    picture: Picture = None,
    report: Report = None,
) -> None:
    """One contrast in many embeddings, partially pooled, and its relation to something outside."""
    from bayesbias.cli.screen import say, show, working
    from bayesbias.plots import plot_pool
    from bayesbias.second_stage import pool as pool_tables

    check_report(report)
    tables = _prepared(embeddings, words, out, picture, prob, case, trust_pickle)
    variables = None if on is None else csv_table(on)
    options: dict[str, Any] = {"groups": _pairs(group, "--group"), "replicates": _pairs(replicate, "--replicate")}
    with working("pooling"):
        found = pool_tables(
            tables,
            _connections(contrast),
            variables,
            seed=seed,
            standardise=standardise,
            adjust=adjust,
            frequencies=counts_of(frequencies),
            prob=prob,
            **options,
        )
    show(found.table(prob)[SHOWN], "Embeddings", whole="name")
    say(found.text(prob))
    _written(found.table(prob), out, None if picture is None else plot_pool(found, prob), picture)
    save_report(found, report, prob=prob)


def trend(
    embeddings: Tables,
    words: Words = None,
    time: Annotated[
        list[str] | None, typer.Option(help="NAME=NUMBER of an embedding; by default names are numbers.")
    ] = None,
    contrast: Contrast = None,
    kind: Annotated[str, typer.Option(help="linear, or walk: steps and turns.")] = "linear",
    adjust: Adjust = None,
    frequencies: Frequencies = None,
    seed: Seed = None,
    prob: Prob = 0.89,
    case: Case = "as-is",
    trust_pickle: TrustPickle = False,
    out: Out = None,
    picture: Picture = None,
    report: Report = None,
) -> None:
    """How a contrast changes over ordered embeddings."""
    from bayesbias.cli.screen import say, show, working
    from bayesbias.plots import plot_trend
    from bayesbias.second_stage import trend as trend_of

    check_report(report)
    tables = _prepared(embeddings, words, out, picture, prob, case, trust_pickle)
    times: Any = _pairs(time, "--time") or {name: Path(name).stem for name in tables}
    with working("fitting the trend"):
        found = trend_of(tables, times, _connections(contrast), kind, seed, adjust, counts_of(frequencies))
    show(found.table(prob)[["embedding", *SHOWN[1:6]]], "Levels", whole="embedding")
    say(found.text(prob))
    _written(found.slopes(prob), out, None if picture is None else plot_trend(found, prob), picture)
    save_report(found, report, prob=prob)


def criterion(
    fit: Annotated[Path, typer.Argument(help="A fit, .nc.")],
    values: Annotated[Path, typer.Argument(help="CSV of word, value and, where known, se, with a header.")],
    contrast: Contrast = None,
    adjust: Annotated[
        str | None, typer.Option(help="frequency or length of the protected words: adjust the relation for it.")
    ] = None,
    frequencies: Frequencies = None,
    seed: Seed = None,
    prob: Prob = 0.89,
    out: Out = None,
    picture: Picture = None,
) -> None:
    """Whether words whose contrast is larger have more of something outside."""
    from bayesbias.cli.screen import say, show
    from bayesbias.errors import InputError
    from bayesbias.models import load_fit
    from bayesbias.plots import plot_relation
    from bayesbias.second_stage import criterion as criterion_of

    check_targets(out, picture)
    table = csv_table(values)
    if len(table.columns) not in (2, 3):
        raise InputError(f"{values} has {len(table.columns)} columns: give word, value and, where known, se")
    word, value = table.columns[:2]
    se = None if len(table.columns) == 2 else _column(table, word, table.columns[2])
    pair = _connections(contrast)
    outside = _column(table, word, value)
    found = criterion_of(load_fit(fit), outside, se, pair, seed, adjust, counts_of(frequencies))
    show(found.table(prob), "Relation", whole="quantity")
    say(found.text(prob))
    _written(found.words, out, None if picture is None else plot_relation(found, prob=prob), picture)


def audit(
    embedding: Annotated[str, typer.Argument(help="A bundled name or an embedding file.")],
    groups: Annotated[
        str, typer.Option(help="A bundled word list or a TOML file: its protected words are the groups.")
    ],
    level: Annotated[float, typer.Option(help="Share of wrong signs expected among the words called.")] = 0.05,
    rope: Annotated[float, typer.Option(help="Contrasts that are as good as none.")] = 0.02,
    seed: Annotated[int, typer.Option(help="Seed of the sample.", min=0)] = 0,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write all words, .parquet.")] = None,
    report: Report = None,
    picture: Picture = None,
) -> None:
    """Which words of the vocabulary lean to one social group, and how sure that is."""
    from bayesbias.cli.arguments import check_target
    from bayesbias.cli.screen import say, show, working
    from bayesbias.comparison import audit as audit_of
    from bayesbias.embeddings import load_embedding

    check_targets(None, picture)
    check_report(report)
    if out is not None:
        check_target(out, (".parquet",), "an audit")
    asked = {"level": level, "rope": rope, "seed": seed}
    with working("reading the embedding"):
        kv = load_embedding(embedding, trust_pickle=trust_pickle)
    found = audit_of(kv, groups, **asked)  # type: ignore[arg-type]
    columns = ["word", "leans_to", "mean", "low", "high", "lfsr", "rank"]
    called = found.table()
    title = f"Words called: {min(len(called), MOST)} of {len(called):,}"
    show(called.head(MOST)[columns], title, whole="word")
    say(found.text())
    if out is not None:
        found.write(out)
        say(f"audit written to {out}")
    save_report(found, report)
    if picture is not None:
        from bayesbias.plots import plot_audit

        save_picture(plot_audit(found), picture)
        say(f"picture written to {picture}")


def counts_of(given: list[str] | None) -> str | dict[str, str] | None:
    """Where frequencies come from: one source, or one for each embedding."""
    if not given or (len(given) == 1 and "=" not in given[0]):
        return given[0] if given else None
    return _pairs(given, "--frequencies")


def _column(table: pd.DataFrame, word: str, name: str) -> pd.Series:
    """A column by word."""
    from bayesbias.errors import InputError

    words = table[word].map(str)
    if words.duplicated().any():
        raise InputError(f"the word {words[words.duplicated()].iloc[0]!r} has two values: give each word once")
    return table[name].set_axis(words)


def _prepared(
    embeddings: list[str],
    words: str | None,
    out: Path | None,
    picture: Path | None,
    prob: float,
    case: str,
    trust: bool,
) -> dict[str, pd.DataFrame]:
    """Tables by name, once it is known that the results can be written."""
    from bayesbias._checks import probability
    from bayesbias.cli.changes import measured

    probability(prob, "prob")
    check_targets(out, picture)
    return measured(embeddings, words, False, case, trust)[0]


def _connections(text: str | None) -> tuple[str, str] | None:
    from bayesbias.errors import InputError

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise InputError(f"--contrast {text}: give two connections with a comma between, such as associated,different")
    return parts[0], parts[1]


def _pairs(given: list[str] | None, option: str) -> dict[str, str] | None:
    """NAME=VALUE arguments as a mapping."""
    from bayesbias.errors import InputError

    if not given:
        return None
    found = {}
    for one in given:
        name, equals, value = one.rpartition("=")
        if not equals or not name or not value:
            raise InputError(f"{option} {one}: give NAME=VALUE, such as {option} 1990.vec=1990")
        found[name] = value
    return found


def _written(table: pd.DataFrame, out: Path | None, figure: Any, picture: Path | None) -> None:
    from bayesbias._files import write_text
    from bayesbias.cli.screen import say

    if out is not None:
        write_text(out, table.to_csv(index=False))
        say(f"table written to {out}")
    if picture is not None:
        save_picture(figure, picture)
        say(f"picture written to {picture}")


def sweep(
    plan: Annotated[Path, typer.Argument(help="A TOML file: embeddings, words, tables, models, debiasing, seeds.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder; a sweep that was stopped there goes on.")],
    workers: Workers = None,
    scheduler: Scheduler = None,
    retry: Annotated[bool, typer.Option("--retry", help="Make fits again that failed.")] = False,
) -> None:
    """Many fits into one folder, resumed after a stop."""
    from bayesbias.cli.screen import say
    from bayesbias.sweeps import sweep as sweep_of

    try:
        found = sweep_of(plan, out, scheduler or "processes", workers, retry)
    except KeyboardInterrupt:
        say(f"what is finished is kept in {out}; the same command goes on")
        raise
    say(found.text())
    say(f"contrasts written to {out / 'contrasts.parquet'}")
    if found.fits["status"].eq("failed").all():
        raise typer.Exit(1)
