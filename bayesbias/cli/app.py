"""The commands: what a command needs loads when it runs, and what it prints is what results print of themselves."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option, echo

import bayesbias as bb
from bayesbias.cli import options
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
TABLES = (".csv", ".parquet")
state = {"debug": False}


def _show_version(wanted: bool) -> None:
    if wanted:
        echo(f"bayesbias {bb.__version__}")
        raise typer.Exit


@app.callback()
def start(
    debug: Annotated[bool, Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measure bias in word embeddings: distances, a model of all of them, posterior distributions."""
    state["debug"] = debug
    # matrix products here are small: more threads than one only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@app.command()
def demo(
    words: options.DemoWords = "gender",
    out: options.Folder = Path("bayesbias-demo"),
    seed: options.Seed = 0,
) -> None:
    """See it work: run, with bundled Google News vectors."""
    run("google-news-slice", words, out, seed=seed)


@app.command()
def run(
    embedding: options.Embedding,
    words: options.Words,
    out: options.Folder,
    model: options.Model = "auto",
    draws: options.Draws = 4000,
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    adjust: options.Adjust = None,
    frequencies: options.Frequencies = None,
    case: options.Case = "as-is",
    topics: options.Topics = 1000,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Measure an embedding with word lists: distances, fit, summary, figures and report."""
    from bayesbias.checks.topics import load_for_topics

    listed = bb.load_words(words)
    if model != "auto":
        bb.load_model(model)
    if topics and case == "as-is":
        kv = load_for_topics(embedding, listed, trust_pickle)
    else:
        kv = _load(embedding, listed, case, trust_pickle)
    table = bb.distance_table(kv, listed, case=case)
    post = bb.fit(table, model, draws=draws, seed=seed, adjust=adjust, frequencies=frequencies)
    answer = bb.summary(post, prob=prob)
    if topics and answer.pictures():
        answer = bb.summary(post, bb.topic_null(kv, listed, replicates=topics, seed=seed, case=case), prob)
    echo(answer)
    with _whole_folder(out) as folder:
        bb.write_distance_table(table, folder / "distances.parquet")
        bb.save_fit(post, folder / "fit.nc")
        _write(folder, {"distances": table, "summary": answer.table()}, answer.pictures(), answer)


@app.command()
def check(
    embedding: options.EmbeddingOrFit,
    words: options.CheckedWords = None,
    frequencies: options.Frequencies = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Check word lists in an embedding before anything is measured, or the draws of a fit."""
    if words is not None:
        listed = bb.load_words(words)
        echo(bb.check_words(listed, bb.load_embedding(embedding, trust_pickle=trust_pickle), frequencies))
    elif Path(embedding).suffix == ".nc":
        echo(bb.diagnose(bb.load_fit(embedding)))
    else:
        raise InputError(f"{embedding} alone cannot be checked: give an embedding and words, or a fit, .nc")


@app.command()
def compare(
    embeddings: options.EmbeddingsOrTables,
    words: options.MeasuredWords = None,
    out: options.OptionalFolder = None,
    side_effects: options.SideEffects = False,
    model: options.Model = "auto",
    draws: options.Draws = 4000,
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    case: options.Case = "as-is",
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Compare embeddings, such as before and after debiasing: the same pairs of words in each."""
    from dataclasses import replace

    if model != "auto":
        bb.load_model(model)
    given = _named(embeddings)
    files = {name: one for name, one in given.items() if not one.endswith(TABLES)}
    if (words is None) == bool(files):
        raise InputError("give --words for embeddings, to measure them with; distance tables have their words already")
    if side_effects and len(files) != 2:
        raise InputError(f"--side-effects looks at two embeddings, given are {len(files)}")
    listed = bb.load_words(words) if words else None
    part = None if side_effects else listed
    kvs = {name: _load(one, part, case, trust_pickle) for name, one in files.items()}
    measured: Mapping[str, Any] = bb.distance_tables(kvs, listed, case=case) if listed else {}
    tables = {name: measured[name] if name in kvs else bb.read_distance_table(one) for name, one in given.items()}
    comparison = replace(bb.compare(tables, model=model, draws=draws, seed=seed, case=case), prob=prob)
    echo(comparison)
    results: list[Any] = [comparison]
    if side_effects:
        before, after = kvs.values()
        results.append(bb.side_effects(before, after, comparison, prob=prob, seed=seed % 2**32, case=case))
        echo(results[1])
    if out is not None:
        with _whole_folder(out) as folder:
            _write(folder, {"changes": comparison.table()}, {"change": comparison.figure}, results)


@app.command()
def metrics(
    embeddings: options.Embeddings,
    query: options.Queries = [],  # noqa: B006  # typer's own way
    words: options.QueryWords = [],  # noqa: B006
    metric: options.Metrics = [],  # noqa: B006
    p_value: options.PValue = False,
    seed: options.Seed = 0,
    out: options.OptionalFolder = None,
    max_missing: options.MaxMissing = 0.2,
    case: options.Case = "as-is",
    normalise: options.Normalise = False,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Classic bias metrics of embeddings: WEAT, RND, RNSB, MAC, ECT and others."""
    queries = [bb.load_query(name) for name in query] + [bb.Query.from_words(bb.load_words(name)) for name in words]
    if not queries:
        raise InputError("no query was given: name one with --query, or word lists with --words")
    names = metric or (["weat", "weat_effect_size"] if p_value else [])
    tested = {"p_value": True, "seed": seed} if p_value else {}
    asked = [word for one in queries for part in one.sets.values() for word in part]
    kvs = {name: _load(one, asked, case, trust_pickle) for name, one in _named(embeddings).items()}
    scores = bb.run_metrics(
        kvs,
        queries,
        {name: (name, tested) for name in names} or None,
        max_missing=max_missing,
        case=case,
        normalise=normalise,
    )
    notes = dict.fromkeys(note for own in scores["notes"] for note in own)
    one = [name for name in ("embedding", "query") if len(set(scores[name])) == 1]
    _print(scores.drop(columns=["optimum", "notes", *one]).dropna(axis="columns", how="all"), tuple(notes))
    if out is not None:
        with _whole_folder(out) as folder:
            _write(folder, {"metrics": scores.assign(notes=scores["notes"].map("; ".join))})


@app.command(name="list")
def list_(kind: options.Kind = "words", language: options.Language = None) -> None:
    """List what is known by name: word lists, embeddings, models, metrics, axes, queries and others."""
    table = bb.bundled(kind)
    if kind == "words":
        own = table["name"].str.contains("/")
        table = table[own & (table["language"] == language) if language else ~own]
    _print(table.drop(columns=["kind", "source", "doi"]).dropna(axis="columns", how="all"))


def _load(embedding: str, words: Any, case: str, trust_pickle: bool) -> Any:
    """The words of an embedding that a command asks for, and all of them where other spellings are looked for."""
    return bb.load_embedding(embedding, words if case == "as-is" else None, trust_pickle)


def _named(arguments: list[str]) -> dict[str, str]:
    """Names of files to their paths; whole paths where two files have one name."""
    names = [Path(one).name for one in arguments]
    return dict(zip(names if len({*names}) == len({*arguments}) else arguments, arguments, strict=True))


def _print(table: pd.DataFrame, notes: tuple[str, ...] = ()) -> None:
    """A table and notes, as results print theirs."""
    from bayesbias._support.numbers import lines_of

    echo("\n".join([*lines_of(table, 0.89), *notes]))


@contextmanager
def _whole_folder(out: Path) -> Iterator[Path]:
    """A folder beside ``out``, whose files go there when the block ends without an error."""
    from bayesbias._support.files import home_folder

    target = home_folder(out)
    folder = target.with_name(f".{target.name}-{secrets.token_hex(6)}")
    folder.mkdir(parents=True)
    try:
        yield folder
        target.mkdir(exist_ok=True)
        written = sorted(file.name for file in folder.iterdir())
        for name in written:
            (folder / name).replace(target / name)
    finally:
        shutil.rmtree(folder)
    echo(f"Written to {target}: {', '.join(written)}")


def _write(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    pictures: Mapping[str, Callable[[], Any]] | None = None,
    results: Any = None,
) -> None:
    """Tables as .csv, figures as .png and a report."""
    from bayesbias.plots.style import write_png
    from bayesbias.results import unlisted

    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    with unlisted():
        for name, draw in (pictures or {}).items():
            if (figure := draw()) is not None:
                write_png(figure, folder / f"{name.lower().replace(' ', '-')}.png", dpi=150)
    if results is not None:
        bb.report(results, folder / "report.html")
