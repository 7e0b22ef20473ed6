"""The command line: its commands below their headings, and those of the first contact.

What a command needs loads when it runs.
"""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperGroup

import bayesbias as bb
from bayesbias._support.paths import shipped
from bayesbias.cli import many, measures, options
from bayesbias.cli.options import among, bundled, to_write
from bayesbias.cli.screen import as_commands, say, show, working
from bayesbias.errors import InputError, install

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

WELCOME = """\
bayesbias measures bias in word embeddings. Five things to do:

  See it work on bundled vectors
    bayesbias demo
  Measure an embedding with a word list, bundled or your own
    bayesbias run EMBEDDING WORDS -o DIR
  Write a word list of your own, and check it against an embedding
    bayesbias new-words NAME
    bayesbias check-words NAME.toml EMBEDDING
  Compare two embeddings, such as before and after debiasing
    bayesbias compare BEFORE AFTER --words WORDS --report change.html
  Find the words of a whole vocabulary that lean to one of two poles
    bayesbias audit EMBEDDING --groups gender

EMBEDDING is a file of vectors, or one that is bundled: google-news-slice or
glove-50d-slice.
'bayesbias lists' shows word lists, 'bayesbias doctor' what is installed,
'bayesbias --help' all commands."""
LIBRARIES = (
    *("bayesbias", "numpy", "scipy", "pandas", "xarray", "arviz", "gensim", "matplotlib", "scikit-learn"),
    *("pymc", "pytensor", "nutpie", "numba", "pooch"),
)
EXTRAS = {
    "contextual": ("sentence_transformers", "torch", "transformers"),
    "distributed": ("distributed",),
    "frequencies": ("wordfreq",),
}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Kinds = Literal["words", "axes", "queries", "models"]


def demo(
    words: Annotated[
        str, Option(help="A bundled word list or the path of a TOML file.", autocompletion=bundled("word lists"))
    ] = "gender",
    out: options.Folder = Path("bayesbias-demo"),
    seed: options.Seed = 0,
    debias: Annotated[bool, Option(help="Debias the vectors too, and say what changed.")] = False,
) -> None:
    """Bundled Google News vectors to posterior distributions, figures and a report."""
    from bayesbias.cli.example import EMBEDDING, run_analysis, run_debiasing

    run_analysis(EMBEDDING, words, out, seed, sensitivity=False)
    if debias:
        run_debiasing(words, out, seed)


def run(
    embedding: options.Embedding,
    words: options.Words,
    out: options.Folder,
    model: options.Model = "auto",
    seed: options.Seed = 0,
    adjust: options.AdjustBefore = None,
    frequencies: options.Frequencies = None,
    case: options.Case = "as-is",
    topics: Annotated[int, Option(min=0, help="Sets of random lists to compare contrasts with; 0: none.")] = 1000,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """An embedding and a word list of your own, from distances to figures and a report."""
    from bayesbias.cli.example import run_analysis

    run_analysis(embedding, words, out, seed, model, case, topics, trust_pickle, adjust=adjust, frequencies=frequencies)


def new_words(
    name: Annotated[str, Argument(help="Name of the list.")],
    out: Annotated[
        Path | None, to_write("a word list", ".toml", help="File to write, .toml; by default NAME.toml.")
    ] = None,
) -> None:
    """Write a word list to start from, with comments."""
    from bayesbias._support.arguments import printable
    from bayesbias._support.files import home_folder, write_text

    title = printable(name, "the name of the list").removesuffix(".toml")
    stem = re.sub(r"[^\w.-]+", "-", title).strip("-.")
    if out is None and not stem:
        raise InputError(f"no file can be named after {name!r}: give one with --out FILE.toml")
    file = home_folder(out or f"{stem}.toml")
    if file.exists():
        raise InputError(f"{file} is there already: give another name, or another file with --out")
    text = (shipped("data") / "new-words.toml").read_text(encoding="utf-8").replace("FILE", file.name)
    write_text(file, text.replace('"NAME"', json.dumps(title, ensure_ascii=False)))
    say(f"{file} written")
    say(f"Next: put your words in, then bayesbias check-words {file} EMBEDDING")


def check_words(
    words: options.Words,
    embedding: options.Embedding,
    frequencies: options.Frequencies = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Check a word list against an embedding: coverage, near duplicates, frequency, spellings."""
    from bayesbias.checks.word_lists import variants
    from bayesbias.vectors.formats import load_lists

    listed = bb.load_words(words)
    others = (form for word in listed.every_word() for form in variants(word))
    with working(f"reading {embedding}"):
        kv = load_lists(embedding, listed, others, trust_pickle)
    checked = bb.checks.check_words(listed, kv, frequencies)
    table = checked.table()[["list", "kind", "asked", "found", "effective"]]
    table["effective"] = table["effective"].map("{:.1f}".format).replace("nan", "unknown")
    show(table, f"Word list {checked.word_list} in {checked.embedding}")
    for sentence in checked.sentences():
        say(as_commands(sentence))


def doctor() -> None:
    """Versions, engines, caches, threads and extras: whether all is installed."""
    say(f"Python {sys.version.split()[0]}, {sys.platform}, {os.cpu_count()} processors")
    say("Versions: " + ", ".join(f"{name} {_version(name)}" for name in LIBRARIES))
    for name, state in engines().items():
        say(f"Engine {name}: {state}")
    for name, folder in _caches().items():
        files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
        size = f"{len(files):,} files, {_size(sum(path.stat().st_size for path in files))}" if files else "empty"
        say(f"Cache of {name}: {folder} ({size})")
    say(
        "numba and PyTensor keep the code that they compile for NUTS: the first such fit after an installation takes "
        "longer than those after it."
    )
    for name in THREADS:
        say(f"Threads, {name}: {os.environ.get(name, 'not set')}")
    say("  Commands set OPENBLAS_NUM_THREADS to 1 where it is not set, since their matrices are small.")
    say("  Audits use one thread whatever it says, so that their bits do not depend on it.")
    for name, parts in EXTRAS.items():
        absent = any(find_spec(part) is None for part in parts)
        say(f"Extra {name}: " + (f"not installed: {install(name)}" if absent else "installed"))


def engines() -> dict[str, str]:
    """Engine to whether it is ready; nothing is imported to find out."""
    lacking = [name for name in ("pymc", "nutpie") if find_spec(name) is None]
    needs = f"needs {' and '.join(lacking)}: pip install {' '.join(lacking)}"
    return {"exact": "ready", "marginal": "ready", "nuts": needs if lacking else "ready"}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _caches() -> dict[str, Path]:
    import pooch  # type: ignore[import-untyped]

    caches = {
        "data sets": Path(pooch.os_cache("bayesbias")),
        "gensim's downloader": Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")),
        "PyTensor": Path.home() / ".pytensor",
    }
    if folder := os.environ.get("NUMBA_CACHE_DIR"):
        caches["numba"] = Path(folder)
    return caches


def lists(
    kind: Annotated[
        Kinds,
        Argument(parser=str, callback=among("kind", Kinds), help="What to show; embeddings are shown by datasets."),
    ] = "words",
    language: Annotated[
        str | None,
        Option(help="BCP 47 tag: word lists of that language only, with and without a region (pt shows pt-BR too)."),
    ] = None,
) -> None:
    """The bundled word lists, axes, queries of metrics, or models."""
    if language is not None and kind != "words":
        raise InputError(f"--language is for word lists: leave it out of {kind}")
    if kind == "words":
        _show_word_lists(language)
    elif kind == "axes":
        axes = bb.list_axes()[["name", "negative", "positive", "pairs"]]
        show(axes, "Axes, of pairs: bayesbias axis, audit, criterion")
    elif kind == "queries":
        queries = bb.list_queries()
        for column in ("targets", "attributes"):
            queries[column] = [", ".join(f"{name} ({size})" for name, size in sets.items()) for sets in queries[column]]
        show(queries[["name", "targets", "attributes", "description"]], "Queries of classic metrics", whole="name")
    else:
        show(bb.list_models()[["name", "engines", "description", "path"]], "Models")


def _show_word_lists(language: str | None) -> None:
    table = bb.list_words(language)
    columns = ["name", "kind", "groups", "protected", "attributes", "description"]
    if language is not None:
        if table.empty:
            say(f"no bundled list is in the language {language!r}: 'bayesbias lists' names all")
        else:
            show(table[columns], f"Word lists in the language {language!r}")
        return
    others = table["name"].str.contains("/")
    tests = table.loc[others, "name"].str.rpartition("/")[2]
    folders = tests.groupby(table["language"]).agg(", ".join)
    show(table.loc[~others, columns], "Word lists")
    show(folders.rename("weathub/<language>/...").reset_index(), "Word lists of other languages (--language de)")
    say("Other bundled things: bayesbias lists axes, bayesbias lists queries, bayesbias lists models.")


def datasets(
    name: Annotated[
        str | None, Argument(help="Fetch this one, and show where its file is.", autocompletion=bundled("datasets"))
    ] = None,
) -> None:
    """Data sets that are known by name, with their licences, or the file of one of them."""
    from bayesbias.distances.datasets import FOLDER, dataset_path, list_datasets

    if name is not None:
        with working(f"fetching {name}"):
            path = dataset_path(name)
        typer.echo(path)
        return
    table = list_datasets()
    table["size"] = table["bytes"].map(_size)
    table["here"] = table["here"].map({True: "yes", False: ""})
    lists = table["kind"] == "word lists"
    for kind, part in table[~lists].groupby("kind", sort=False):
        title = str(kind).capitalize().removesuffix("s") + "s"
        show(part[["name", "size", "licence", "here"]], title, whole="name")
        _say_origins(part)
    several = table[lists]
    languages = dict.fromkeys(name.split("_")[1] for name in several["name"])
    say(
        f"Word lists: {len(several)}, weathub_LANGUAGE_TEST, such as weathub_de_weat7; languages {', '.join(languages)}"
    )
    _say_origins(several)
    if unknown := table.loc[(table["url"] == "") & (table["kind"] != "documents"), "name"].tolist():
        say(f"No address is known of: {', '.join(unknown)}.")
    known = table.loc[table["url"] != "", "name"].iloc[0]
    say(f'In Python: bb.datasets.load_dataset("{known}"). Files are fetched once and their hash is checked;')
    say(f"those in the folder that {FOLDER} names are taken first.")


def _say_origins(part: pd.DataFrame) -> None:
    for (source, doi), rows in part.groupby(["source", "doi"], sort=False):
        licences = dict.fromkeys(rows["licence"])
        terms = f"; licence {next(iter(licences))}" if len(licences) == 1 else ""
        say(f"  {source}{f', doi {doi}' if doi else ''}{terms}")


def _size(number: int) -> str:
    return f"{number / 1e6:,.0f} MB" if number >= 1e6 else f"{number / 1e3:,.0f} kB"


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo, run, new_words, check_words, doctor),
    "Step by step": (measures.distances, measures.fit, measures.diagnose, measures.contrasts, measures.report),
    "Chance": (measures.topics,),
    "Classic metrics": (measures.metrics, measures.rank, measures.silhouette, measures.reliability),
    "Words on axes": (many.axis, many.audit, many.criterion),
    "Words in documents": (many.documents,),
    "Debiasing, and many embeddings": (*(many.debias, many.compare, many.pool),),
    "What is bundled or known": (lists, datasets),
}
"""Heading of the help to commands."""
MORE = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of the commands that take the options of what they run, as ``--name value``."""


class Headed(TyperGroup):
    """Commands whose help stands below headings, and things to do where nothing is asked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say what one can do before libraries are loaded to read arguments."""
        if not args and not ctx.resilient_parsing:
            typer.echo(WELCOME)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each heading a section."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, commands in groupby(self.commands.values(), attrgetter("rich_help_panel")):
            with formatter.section(heading):
                formatter.write_dl([(str(one.name), one.get_short_help_str(width)) for one in commands])


app = typer.Typer(cls=Headed, invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False)
for heading, commands in COMMANDS.items():
    for one in commands:
        more = MORE if one in (measures.metrics, many.debias) else None
        app.command(rich_help_panel=heading, context_settings=more)(one)
_state = {"debug": False}


def debugging() -> bool:
    """True if ``--debug`` was given."""
    return _state["debug"]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesbias {bb.__version__}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    debug: Annotated[bool, Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measure bias in word embeddings: distances, a model of all of them, posterior distributions."""
    _state["debug"] = debug
    # matrix products here are small: more threads than one only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if context.invoked_subcommand is None:
        typer.echo(WELCOME)
