"""The commands below their headings, and those of the first contact. What a command needs loads when it runs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import bayesbias as bb
from bayesbias.cli import many, measures  # noqa: F401  # they name their commands
from bayesbias.cli.options import COMMANDS, FRESH, Given, Option, bundled, command
from bayesbias.cli.screen import say, show, working
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

HEADINGS = {
    "Start": ("demo", "run", "new-words", "check-words", "doctor"),
    "Step by step": ("distances", "fit", "contrasts", "plot", "report"),
    "What can be told": ("plan", "balance", "relatedness", "topics", "calibrate"),
    "Classic metrics": ("metrics", "rank", "silhouette", "reliability", "stability"),
    "Words on axes": ("axis", "quadrants", "intersections", "audit", "criterion"),
    "Debiasing, and many embeddings": ("debias", "compare", "pool", "trend", "multiverse", "sweep"),
    "What is bundled or known": ("lists", "models", "queries", "datasets"),
}


class Made(Mapping[str, Any]):
    """Name to command, in the order of the headings; a command is made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = COMMANDS[name].made()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return (name for names in HEADINGS.values() for name in names)

    def __len__(self) -> int:
        return len(list(iter(self)))


class Grouped(TyperGroup):
    """Commands below headings in the help, and five of them where nothing is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Made()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say what one can do before anything is loaded to read arguments."""
        if not args and not ctx.resilient_parsing:
            typer.echo(WELCOME)
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; none of them is made for that."""
        return list(self.commands)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names that begin so, and their summaries; none of them is made for that."""
        names = [name for name in self.commands if name.startswith(incomplete)]
        begun = [SimpleNamespace(value=name, help=COMMANDS[name].summary, type="plain") for name in names]
        return begun or super(TyperGroup, self).shell_complete(ctx, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each heading a section."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                first = [COMMANDS[name].summary.split(". ")[0].removesuffix(".") + "." for name in commands]
                shown = [shorten(sentence, width, placeholder="...") for sentence in first]
                formatter.write_dl(list(zip(commands, shown, strict=True)))


app = typer.Typer(
    help="Measure bias in word embeddings: distances, a model of all of them, posterior distributions.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Grouped,
)
_state = {"debug": False}


def debugging() -> bool:
    """Whether ``--debug`` was given."""
    return _state["debug"]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bayesbias {bb.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measure bias in word embeddings: distances, a model of all of them, posterior distributions."""
    _state["debug"] = debug
    # matrix products here are small: more threads than one only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if context.invoked_subcommand is None:
        typer.echo(WELCOME)


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

TEMPLATE = """\
# A word list: whose bias is measured (protected), with which stereotypes, beside which control words.
# Replace the example words by your own, then check the list against an embedding:
#   bayesbias check-words {file} EMBEDDING
# and measure:
#   bayesbias run EMBEDDING {file} -o DIR

name = {name}
description = "What the list is about"
source = "Who made it, when, and how the words were chosen"
# doi = "of the article that the words are from"
# language = "en"  # a tag such as de or pt-BR, for languages other than English

# Control words belong to no stereotype. "neutral" and "human" are bundled, in English; lists of your own go into a
# table at the end of this file instead (then take this line out):
#   [controls]
#   animals = ["cat", "dog", "horse"]
controls = ["neutral", "human"]

# Protected words by group. A contrast of the whole list needs 3 words or more; 5 to 10 in each group are better.
# Words that an embedding holds under several forms can be given together: ["Lehrer", "Lehrerin"].
[protected]
nurses = ["nurse", "midwife", "caregiver"]
engineers = ["engineer", "mechanic", "technician"]

# Stereotypes: what is said of each group. The names are those of the groups above.
# Twelve words of one topic may tell as little as two unrelated ones: choose words of several topics.
[stereotypes]
nurses = ["caring", "gentle", "patient", "tired"]
engineers = ["technical", "precise", "logical", "rich"]
"""
FOLDER = Option("Folder for figures, table, fit and report.")


@command(
    "",
    "words out seed debias",
    words=Option(default="gender"),
    out=Option(default=Path("bayesbias-demo"), names=("--out",)).over(FOLDER),
    seed=Option(default=0),
    debias=Option("Debias the vectors too, and say what changed.", default=False),
)
def demo(given: Given) -> None:
    """Bundled Google News vectors to posterior distributions, figures and a report."""
    from bayesbias.cli.example import run_debiasing, run_demo

    given.call(run_demo)
    if given.debias:
        given.call(run_debiasing)


@command(
    "",
    "embedding words out model seed case topics trust_pickle",
    out=FOLDER,
    model=Option(default="auto"),
    seed=FRESH,
    topics=Option("Sets of random lists to compare the contrasts with; 0 for none.", default=1000, min=0),
)
def run(given: Given) -> None:
    """An embedding and a word list of your own, from distances to figures and a report."""
    from bayesbias.cli.example import run_analysis

    given.call(run_analysis)


@command(
    "",
    "name out",
    name=Option("Name of the list."),
    out=Option("File to write, .toml; by default NAME.toml.", default=None),
)
def new_words(given: Given) -> None:
    """Write a word list to start from, with comments."""
    from bayesbias._checks import printable
    from bayesbias._files import check_target, write_text

    name = printable(given.name, "the name of the list").removesuffix(".toml")
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    if given.out is None and not stem:
        raise InputError(f"no file can be named after {given.name!r}: give one with --out FILE.toml")
    path = check_target(given.out or f"{stem}.toml", (".toml",), "a word list")
    if path.exists():
        raise InputError(f"{path} is there already: give another name, or another file with --out")
    title = json.dumps(name, ensure_ascii=False)
    write_text(path, TEMPLATE.replace("{name}", title).replace("{file}", path.name))
    say(f"{path} written")
    say(f"Next: put your words in, then bayesbias check-words {path} EMBEDDING")


@command("checks.word_lists:check_words", "words embedding frequencies trust_pickle")
def check_words(given: Given) -> None:
    """Check a word list against an embedding: coverage, near duplicates, frequency, spellings."""
    from bayesbias.checks.word_lists import check_words as check
    from bayesbias.checks.word_lists import variants
    from bayesbias.embeddings.formats import load_lists

    listed = bb.load_words(given.words)
    others = (form for word in listed.every_word() for form in variants(word))
    with working(f"reading {given.embedding}"):
        kv = load_lists(given.embedding, listed, others, given.trust_pickle)
    checked = given.call(check, words=listed, kv=kv)
    table = checked.table()[["list", "kind", "asked", "found", "effective"]]
    table["effective"] = table["effective"].map("{:.1f}".format).replace("nan", "unknown")
    show(table, f"Word list {checked.word_list} in {checked.embedding}")
    for sentence in checked.sentences():
        say(sentence)


@command(
    "",
    "name",
    name=Option("Fetch this one, and show where its file is.", default=None, names=(), complete=bundled("datasets")),
)
def datasets(given: Given) -> None:
    """Data sets that are known by name, with their licences, or the file of one of them."""
    from bayesbias.datasets import FOLDER, dataset_path, list_datasets

    if given.name is not None:
        with working(f"fetching {given.name}"):
            path = dataset_path(given.name)
        typer.echo(path)
        return
    table = list_datasets()
    table["size"] = table["bytes"].map(_size)
    table["here"] = table["here"].map({True: "yes", False: ""})
    lists = table["kind"] == "word lists"
    for kind, part in table[~lists].groupby("kind", sort=False):
        title = "Frequencies" if kind == "frequencies" else f"{str(kind).capitalize()}s"
        show(part[["name", "size", "licence", "here"]], title, whole="name")
        _say_origins(part)
    several = table[lists]
    languages = dict.fromkeys(name.split("_")[1] for name in several["name"])
    say(
        f"Word lists: {len(several)}, weathub_LANGUAGE_TEST, such as weathub_de_weat7; languages {', '.join(languages)}"
    )
    _say_origins(several)
    if unknown := table.loc[table["url"] == "", "name"].tolist():
        say(f"No address is known of: {', '.join(unknown)}.")
    known = table.loc[table["url"] != "", "name"].iloc[0]
    say(f'In Python: bb.datasets.load_dataset("{known}"). Files are fetched once and their hash is checked;')
    say(f"those in the folder that {FOLDER} names are taken first.")


@command("words:list_words", "language")
def lists(given: Given) -> None:
    """The bundled word lists; of other languages one line each."""
    table = bb.list_words(given.language)
    columns = ["name", "kind", "groups", "protected", "attributes", "description"]
    if given.language is None:
        others = table["name"].str.contains("/")
        tests = table.loc[others, "name"].str.rpartition("/")[2]
        folders = tests.groupby(table["language"]).agg(", ".join)
        show(table.loc[~others, columns], "Word lists")
        axes = bb.list_axes()[["name", "negative", "positive", "pairs"]]
        show(axes, "Axes, of pairs: bayesbias axis, quadrants, intersections, audit")
        show(folders.rename("weathub/<language>/...").reset_index(), "Word lists of other languages (--language de)")
    elif table.empty:
        say(f"no bundled list is in the language {given.language!r}: 'bayesbias lists' names all")
    else:
        show(table[columns], f"Word lists in the language {given.language!r}")


@command("", "")
def models(_: Given) -> None:
    """The bundled models."""
    show(bb.list_models()[["name", "engines", "description", "path"]], "Models")


@command("", "")
def queries(_: Given) -> None:
    """The bundled queries of classic metrics."""
    listed = bb.list_queries()
    for column in ("targets", "attributes"):
        listed[column] = [", ".join(f"{name} ({size})" for name, size in sets.items()) for sets in listed[column]]
    show(listed[["name", "targets", "attributes", "description"]], "Queries", whole="name")


def _say_origins(part: pd.DataFrame) -> None:
    for (source, doi), rows in part.groupby(["source", "doi"], sort=False):
        licences = dict.fromkeys(rows["licence"])
        terms = f"; licence {next(iter(licences))}" if len(licences) == 1 else ""
        say(f"  {source}{f', doi {doi}' if doi else ''}{terms}")


def _size(number: int) -> str:
    return f"{number / 1e6:,.0f} MB" if number >= 1e6 else f"{number / 1e3:,.0f} kB"


LIBRARIES = (
    *("bayesbias", "numpy", "scipy", "pandas", "xarray", "arviz", "gensim", "matplotlib", "scikit-learn"),
    *("pymc", "pytensor", "nutpie", "numba", "pooch"),
)
EXTRAS = {"contextual": ("torch", "transformers"), "distributed": ("distributed",), "frequencies": ("wordfreq",)}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@command("", "json=as_json", json=Option("Write it as JSON, for programs.", default=False))
def doctor(given: Given) -> None:
    """Versions, engines, caches, threads and extras: whether all is installed."""
    facts = examined()
    if given.as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    say(f"Python {facts['python']}, {sys.platform}, {facts['processors']} processors")
    say("Versions: " + ", ".join(f"{name} {known or 'missing'}" for name, known in facts["versions"].items()))
    for name, state in facts["engines"].items():
        say(f"Engine {name}: {state}")
    for name, cache in facts["caches"].items():
        size = f"{cache['files']:,} files, {_size(cache['bytes'])}" if cache["files"] else "empty"
        say(f"Cache of {name}: {cache['path']} ({size})")
    say(
        "numba and PyTensor keep the code that they compile for NUTS: the first such fit after an installation takes "
        "longer than those after it."
    )
    for name, value in facts["threads"].items():
        say(f"Threads, {name}: {value}")
    say("  Commands set OPENBLAS_NUM_THREADS to 1 where it is not set, since their matrices are small.")
    say("  Audits and sweeps use one thread whatever it says, so that their bits do not depend on it.")
    for name, state in facts["extras"].items():
        say(f"Extra {name}: {state}")


def examined() -> dict[str, Any]:
    """What :func:`doctor` says, as plain values; nothing is imported to find it."""
    import pooch  # type: ignore[import-untyped]

    lacking = [name for name in ("pymc", "nutpie") if find_spec(name) is None]
    caches = {
        "data sets": Path(pooch.os_cache("bayesbias")),
        "gensim's downloader": Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")),
        "PyTensor": Path.home() / ".pytensor",
    }
    if folder := os.environ.get("NUMBA_CACHE_DIR"):
        caches["numba"] = Path(folder)
    absent = {name: [part for part in parts if find_spec(part) is None] for name, parts in EXTRAS.items()}
    return {
        "python": sys.version.split()[0],
        "processors": os.cpu_count(),
        "versions": {name: _version(name) for name in LIBRARIES},
        "engines": {
            "exact": "ready",
            "marginal": "ready",
            "nuts": f"needs {' and '.join(lacking)}: pip install {' '.join(lacking)}" if lacking else "ready",
        },
        "caches": {name: {"path": str(path), **_held(path)} for name, path in caches.items()},
        "threads": {name: os.environ.get(name, "not set") for name in THREADS},
        "extras": {
            name: f"not installed: pip install 'bayesbias[{name}]'" if parts else "installed"
            for name, parts in absent.items()
        },
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _held(folder: Path) -> dict[str, int]:
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
