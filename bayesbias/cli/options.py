"""How the command line takes the parameters of public functions: one table, and the commands that it makes."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from bayesbias.cli import names, reading

UNSET: Any = inspect.Parameter.empty
MORE = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a command that takes the options of what it runs, as ``--name value``."""


@dataclass(frozen=True)
class Target:
    """What a file ends in, and what sentences call it: before the work, and when it is written.

    Without ``said`` the command writes it itself.
    """

    suffixes: tuple[str, ...]
    noun: str
    said: str = ""


@dataclass(frozen=True)
class Option:
    """How the command line takes a parameter; what is not set here is read off the function.

    ``read`` makes a value of the text at once, ``load`` from it and all other arguments when none of them is wrong.
    """

    help: str | None = None
    type: Any = None
    default: Any = UNSET
    names: tuple[str, ...] | None = None
    argument: bool | None = None
    complete: Callable[[str], list[str]] | None = None
    min: float | None = None
    valid: tuple[str, ...] | None = None
    read: Callable[[Any], Any] | None = None
    load: Callable[[Any, Mapping[str, Any]], Any] | None = None
    target: Target | None = None

    def value(self, text: Any, name: str) -> Any:
        """The value of what was given."""
        if self.valid is not None:
            from bayesbias._checks import one_of

            one_of(text, self.valid, name)
        return text if self.read is None else self.read(text)

    def over(self, other: Option) -> Option:
        """This option, with what it leaves open as in another one."""
        left = [one.name for one in fields(Option) if getattr(self, one.name) is one.default]
        return replace(self, **{name: getattr(other, name) for name in left})


def table_target(noun: str = "a table", said: str = "table", help: str = "Write the table as .csv.") -> Option:  # noqa: A002  # an option's
    """The option ``--out`` of a command whose result is a table."""
    return Option(help, default=None, target=Target((".csv",), noun, said))


OUT = ("--out", "-o")
WORDS = Option("A bundled word list or the path of a TOML file.", complete=names.word_lists)
EMBEDDING = Option("A bundled name or the path of an embedding file.", complete=names.embeddings)
FILE = Option("A distance table, .csv or .parquet.", Path)
TABLES = Option(
    "Bundled names, embedding files, or distance tables (.csv, .parquet).", list[str], complete=names.embeddings
)
MEASURED = Option("A bundled word list or a TOML file, to measure embeddings with.", default=None)
SOURCES = Option(
    "Where frequencies come from: a file of words and counts, or NAME=FILE of an embedding.",
    list[str],
    read=reading.counts_of,
)
FRESH = Option("Seed of the draws; a fresh one if not given.", int, default=None)
DRAWING = Option("Also write the picture, .png.", default=None, target=Target((".png",), "a picture", "picture"))
NUMBERS = table_target("a table", "{rows}", "Also write the numbers as .csv.")
SEVERAL = Option(type=list[str], default=None)

OPTIONS = {
    # what a command works on
    "embedding": EMBEDDING,
    "kv": Option(load=reading.vectors).over(EMBEDDING),
    "embeddings": Option("Bundled names or paths of embedding files.", list[str], complete=names.embeddings),
    "several": TABLES,
    "tables": Option(load=reading.tables).over(TABLES),
    "words": WORDS,
    "file": FILE,
    "table": Option(load=reading.distances).over(FILE),
    "post": Option("A fit, .nc.", Path, load=reading.fit_of),
    "words_or_table": Option(
        "A distance table (.csv, .parquet), a bundled word list or a TOML file.", load=reading.table_or_name
    ),
    # words, metrics and models by name
    "asked": Option(
        "A bundled query ('bayesbias queries') or a TOML file; several times for several.", complete=names.queries
    ).over(SEVERAL),
    "lists": Option("Word lists as a query: groups against their stereotypes.", complete=names.word_lists).over(
        SEVERAL
    ),
    "metric": Option("A metric instead of the contrasts.", complete=names.metrics),
    "metrics": Option("A metric; several times for several.", list[str], complete=names.metrics),
    "model": Option(
        "A model that 'bayesbias models' shows, a TOML file, or auto: related where the table knows how.",
        complete=names.models,
    ),
    "pairs": Option("Pairs: a bundled list ('bayesbias lists') or a TOML file."),
    "first": Option("associated, different or a control list."),
    "second": Option("By default different, else the first control list."),
    "contrast": Option(
        "Two connections with a comma between; associated,different where there is one.", str, read=reading.connections
    ),
    "frequencies": Option(
        "A file with two columns, word and count, or wordfreq; by default the order of the embedding."
    ),
    "adjust": Option("frequency or length of words: adjust distances for it first."),
    # how it is done
    "case": Option("as-is, or fallback: try other capitalisations.", str, default="as-is", valid=("as-is", "fallback")),
    "twins": Option(
        "once, or keep: words of one list that have one vector.", str, default="once", valid=("once", "keep")
    ),
    "trust_pickle": Option(
        "Open a pickle; that runs the code in it.",
        bool,
        default=False,
        names=("--trust-pickle/--no-trust-pickle",),
    ),
    "keep_duplicates": Option(
        "Count a pair as often as it is listed.", names=("--keep-duplicates/--no-keep-duplicates",)
    ),
    "max_missing": Option("Share of a set's words that may be missing."),
    "normalise": Option("Scale vectors to length 1 first.", names=("--normalise/--no-normalise",)),
    "prob": Option("Posterior mass of the intervals.", default=0.89, read=reading.prob),
    "draws": Option("Posterior draws in all, a multiple of 4.", min=4),
    "seed": Option("Seed of the random draws.", min=0),
    # what is written
    "out": Option(type=Path, names=OUT),
    "picture": Option("Write the picture, .png.", Path).over(DRAWING),
    "report": Option(
        "Write a report, .html or .md.",
        Path,
        default=None,
        target=Target((".html", ".htm", ".md"), "a report", "report"),
    ),
}
"""Kind of parameter to how the command line takes it."""


class Given(SimpleNamespace):
    """The values of a command's parameters, by name; ``more`` is what else stands on the command line."""

    def call(self, function: Callable[..., Any], **others: Any) -> Any:
        """What a function gives for those of the values that it takes; ``others`` come first."""
        takes = inspect.signature(function).parameters
        return function(**{name: value for name, value in vars(self).items() if name in takes} | others)


Body = Callable[[Given], Any]


@dataclass(frozen=True)
class Command:
    """A command: the function that runs it, and the public functions and the table that its options come from."""

    body: Body
    of: tuple[str, ...]
    takes: tuple[tuple[str, str], ...]
    own: Mapping[str, Option]
    more: bool = False

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.body.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        """Its first line of help."""
        return str(inspect.getdoc(self.body)).splitlines()[0]

    def options(self) -> dict[str, Option]:
        """Name on the command line to how it is taken; reads the public functions, which load slowly."""
        public = [_function(place) for place in self.of]
        documented = [documented_parameters(one) for one in public]
        found = {}
        for name, parameter in self.takes:
            option = self.own.get(name, Option()).over(OPTIONS.get(parameter, Option()))
            known = [one for each in public if (one := inspect.signature(each).parameters.get(parameter)) is not None]
            said = next((each[parameter] for each in documented if each.get(parameter)), "")
            option = option.over(Option(said, default=known[0].default if known else UNSET))
            found[name] = option.over(Option(type=value_type(option.default, known)))
        return found

    def made(self) -> Any:
        """The command as the library of command lines takes it."""
        options = self.options()

        def run(context: typer.Context, **given: Any) -> None:
            self.run(options, given, context.args)

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        shown = [_parameter(name, option) for name, option in options.items()]
        run.__signature__ = inspect.Signature([context, *shown])  # type: ignore[attr-defined]  # which inspect reads
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(self.name, help=inspect.getdoc(self.body), context_settings=MORE if self.more else None)(run)
        return typer.main.get_command(app)

    def run(self, options: Mapping[str, Option], given: Mapping[str, Any], more: list[str]) -> None:
        """Check and read the arguments, run the body, and write what is asked for."""
        from bayesbias.cli.writing import check_target, write

        asked = {name: option for name, option in options.items() if given[name] is not None}
        targets = {given[name]: option.target for name, option in asked.items() if option.target is not None}
        for path, target in targets.items():
            check_target(path, target.suffixes, target.noun)
        values = {**given, **{name: option.value(given[name], name) for name, option in asked.items()}}
        for name, option in asked.items():
            values[name] = values[name] if option.load is None else option.load(values[name], values)
        result = self.body(Given(more=more, **{parameter: values[name] for name, parameter in self.takes}))
        write(result, {path: target for path, target in targets.items() if target.said}, values.get("prob"))


COMMANDS: dict[str, Command] = {}
"""Name to command, of the modules that are loaded."""


def command(of: str, takes: str, more: bool = False, **own: Option) -> Callable[[Body], Command]:
    """A command made from a function that shows what public functions give.

    Parameters
    ----------
    of
        Public functions of this package, ``module:function``, that types, defaults and help come from.
    takes
        Parameters in the order of the help; ``name=parameter`` where the command line calls one otherwise.
    more
        Whether it takes the options of what it runs, as ``--name value``.
    own
        What is peculiar to this command in an option. The function's result is written as those that have a target
        ask, such as ``--out``.
    """
    pairs = [part.partition("=") for part in takes.split()]
    named = tuple((name, parameter or name) for name, _, parameter in pairs)

    def known(body: Body) -> Command:
        found = Command(body, tuple(f"bayesbias.{place}" for place in of.split()), named, own, more)
        COMMANDS[found.name] = found
        return found

    return known


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """An argument where there is no default and no name with hyphens, else an option."""
    how = {"help": option.help, "autocompletion": option.complete, "min": option.min}
    if option.argument or (option.default is UNSET and not option.names):
        kind: Any = typer.Argument(**how)
    else:
        kind = typer.Option(*(option.names or _flags(name, option)), **how)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=list(option.default) if isinstance(option.default, tuple) else option.default,
        annotation=Annotated[option.type | None if option.default is None else option.type, kind],
    )


def _flags(name: str, option: Option) -> tuple[str, ...]:
    """The name of an option; a flag that is on by default can be turned off."""
    flag = name.replace("_", "-")
    return (f"--{flag}/--no-{flag}",) if option.default is True else (f"--{flag}",)


SCALARS = {"bool": bool, "int": int, "float": float}


def value_type(default: object, known: list[inspect.Parameter]) -> Any:
    """The type of the text's value: of the default, else the first number of the annotation, else text."""
    if isinstance(default, tuple):
        return list[str]
    if isinstance(default, bool | int | float | str | Path):
        return type(default)
    annotation = re.sub(r"\[.*\]", "", str(known[0].annotation)) if known else ""
    return next((SCALARS[kind] for kind in annotation.split(" | ") if kind in SCALARS), str)


ENTRIES = re.compile(r"\nParameters\n-+\n(.*?)(?=\n\n\S+\n-{3,}|\Z)", re.DOTALL)
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([^`]*)`")
VALUE = re.compile(r'``"([\w-]+)"``')
SENTENCE = re.compile(r'(?<=[a-z)`,\]])\.\s+(?=[A-Z`"(])|; None ')


def documented_parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Parameter to its help: the first sentence of its docstring, and the values that only later ones name."""
    section = ENTRIES.search(inspect.getdoc(function) or "")
    entries = ENTRY.findall(section[1] + "\n") if section else []
    return {name.strip(): sentence for given, text in entries for name, sentence in _said(given, text)}


def _said(given: str, text: str) -> Iterator[tuple[str, str]]:
    flat = " ".join(text.split())
    first, values = SENTENCE.split(flat, maxsplit=1)[0].rstrip("."), list(dict.fromkeys(VALUE.findall(flat)))
    named = VALUE.findall(first)
    if first.startswith("As in "):
        return
    if set(values) > set(named):
        listed = f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]
        first = listed if first.startswith('``"') else f"{first}: {listed}"
    plain = re.sub(r"``\"?|\"?``", "", ROLE.sub(r"\1", first))
    for name in given.split(","):
        yield name, f"{plain[0].upper() if not named else plain[0]}{plain[1:]}."
