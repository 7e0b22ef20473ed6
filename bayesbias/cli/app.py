"""The command line: its commands below their headings, and those of the first contact.

What a command needs loads when it runs.
"""

from __future__ import annotations

import json
import os
import re
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperGroup

import bayesbias as bb
from bayesbias._support.paths import shipped
from bayesbias.cli import measures, options
from bayesbias.cli.options import among, bundled, to_write
from bayesbias.cli.screen import say, show, working
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


WELCOME = """\
bayesbias measures bias in word embeddings. Four things to do:

  See it work on bundled vectors
    bayesbias demo
  Measure an embedding with a word list, bundled or your own
    bayesbias run EMBEDDING WORDS -o DIR
  Write a word list of your own, and check it against an embedding
    bayesbias new-words NAME
    bayesbias check-words NAME.toml EMBEDDING
  Compare two embeddings, such as before and after debiasing
    bayesbias compare BEFORE AFTER --words WORDS --report change.html

EMBEDDING is a file of vectors, or one that is bundled: google-news-slice or
glove-50d-slice.
'bayesbias lists' shows word lists, 'bayesbias --help' all commands."""
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

    run_analysis(EMBEDDING, words, out, seed)
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
    from bayesbias.vectors.formats import load_part

    listed = bb.load_words(words)
    others = (form for word in listed.every_word() for form in variants(word))
    with working(f"reading {embedding}"):
        kv, _ = load_part(embedding, listed, others, trust_pickle)
    checked = bb.check_words(listed, kv, frequencies)
    say(str(checked))


def lists(
    kind: Annotated[
        Kinds,
        Argument(parser=str, callback=among("kind", Kinds), help="What to show."),
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
        show(axes, "Axes, of pairs")
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


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo, run, new_words, check_words),
    "Step by step": (measures.distances, measures.fit, measures.diagnose, measures.report),
    "Classic metrics": (measures.metrics,),
    "Before and after": (measures.compare,),
    "What is bundled": (lists,),
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
        more = MORE if one is measures.metrics else None
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
