"""How the command line takes the parameters of public functions: one table, and the commands that it makes."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

import bayesbias as bb
from bayesbias._paths import shipped
from bayesbias.cli import reading

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
    """How the command line takes a parameter; what is not set here is read from the function.

    Without a default and without ``names`` it is an argument; so it is with a default where ``names`` is ``()``.
    ``read`` makes a value of the text; ``load``, which takes longer, of that value and all others, once these are read.
    """

    help: str | None = None
    type: Any = None
    default: Any = UNSET
    names: tuple[str, ...] | None = None
    complete: Callable[[str], list[str]] | None = None
    min: float | None = None
    read: Callable[[Any], Any] | None = None
    load: Callable[[Any, Mapping[str, Any]], Any] | None = None
    target: Target | None = None

    def over(self, other: Option) -> Option:
        """The same, with what it leaves open as in another one."""
        left = [field.name for field in fields(Option) if getattr(self, field.name) is field.default]
        return replace(self, **{name: getattr(other, name) for name in left})


def written(noun: str, *suffixes: str, said: str = "") -> Option:
    """An option that names a file to write; with ``said`` it need not be given, as in :class:`Target`."""
    about = f"{noun[0].upper()}{noun[1:]} to write, {' or '.join(suffixes)}."
    return Option(about, Path, None if said else UNSET, target=Target(suffixes, noun, said))


def _stems(folder: str, pattern: str) -> list[str]:
    place = shipped("data") / folder
    return [path.relative_to(place).with_suffix("").as_posix() for path in place.glob(pattern)]


def _content(file: str) -> dict[str, Any]:
    return tomllib.loads((shipped("data") / file).read_text(encoding="utf-8"))


def _registered(module: str, kind: str, group: str) -> list[str]:
    """Names of a register: those of its module, as it is written, and those of entry points."""
    calls = [node for statement in _parsed(module) for node in ast.walk(statement) if isinstance(node, ast.Call)]
    named = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == kind and call.args]
    own = [str(name.value) for name in named if isinstance(name, ast.Constant)]
    return [*own, *(entry.name for entry in entry_points(group=group))]


# kind of thing to its names, read from files and their names, since what loads them loads slowly
BUNDLED: dict[str, Callable[[], Iterable[str]]] = {
    "word lists": lambda: _stems("words", "**/*.toml"),
    "axes": lambda: [*_content("axes.toml")["axes"], "gender_pairs"],  # the bundled list of pairs that is an axis
    "queries": lambda: _stems("queries", "*.toml"),
    "models": lambda: ["auto", *(path.stem for path in shipped("models").glob("*.toml"))],
    "embeddings": lambda: _content("manifest.toml"),
    "datasets": lambda: [name for family in _content("datasets.toml").values() for name in family["files"]],
    "metrics": lambda: _registered("bayesbias.metrics.catalogue", "Metric", "bayesbias.metrics"),
    "methods": lambda: _registered("bayesbias.debiasing.registry", "Method", "bayesbias.debiasing"),
}


def bundled(*kinds: str) -> Callable[[str], list[str]]:
    """What completes the names of some kinds in the shell."""

    def complete(incomplete: str) -> list[str]:
        return sorted({name for kind in kinds for name in BUNDLED[kind]() if name.startswith(incomplete)})

    return complete


PICTURE = written("a figure", ".png", said="figure")
TABLE = written("a table", ".csv", said="table")
NUMBERS = written("a table", ".csv", said="{rows}")
FRESH = Option("Seed of the draws; a fresh one if not given.", int, None)
WORDS = Option("A bundled word list or the path of a TOML file.", complete=bundled("word lists"))
EMBEDDING = Option("A bundled name or the path of an embedding file.", complete=bundled("embeddings"))
FILE = Option("A distance table, .csv or .parquet.", Path)
TABLES = Option("Bundled names, embedding files, or distance tables (.csv, .parquet).", list[str]).over(EMBEDDING)
MEASURED = Option("A bundled word list or a TOML file, to measure embeddings with.", default=None)
SOURCES = Option(
    "A file of words and counts, or NAME=FILE for each embedding.", list[str], default=None, read=reading.counts_of
)

OPTIONS = {  # kind of parameter to how the command line takes it
    # what a command works on
    "embedding": EMBEDDING,
    "kv": Option(load=reading.vectors).over(EMBEDDING),
    "embeddings": Option("Bundled names or paths of embedding files.", list[str]).over(EMBEDDING),
    "several": TABLES,
    "tables": Option(load=reading.tables).over(TABLES),
    "words": WORDS,
    "file": FILE,
    "table": Option(load=lambda path, _: bb.read_distance_table(path)).over(FILE),
    "post": Option("A fit, .nc.", Path, load=lambda path, _: bb.load_fit(path)),
    "words_or_table": Option("A distance table, a bundled word list or a TOML file.", load=reading.table_or_name),
    # words, metrics and models by name
    "asked": Option(
        "A bundled query or a TOML file; several times for several.", list[str], None, complete=bundled("queries")
    ),
    "lists": Option(
        "Word lists as a query: groups and their stereotypes.", list[str], None, complete=bundled("word lists")
    ),
    "metric": Option("A metric instead of the contrasts.", complete=bundled("metrics")),
    "metrics": Option("A metric; several times for several.", list[str], complete=bundled("metrics")),
    "model": Option("A model that 'bayesbias models' shows, a TOML file, or auto.", complete=bundled("models")),
    "pairs": Option("Pairs: a bundled list ('bayesbias lists') or a TOML file."),
    "first": Option("associated, different or a control list.", default="associated"),
    "second": Option("By default different, else the first control list."),
    "contrast": Option("Two connections, such as associated,different.", str, read=reading.connections),
    "frequencies": Option("A file of words and counts, or wordfreq; by default the order of the embedding."),
    "adjust": Option("frequency or length of words: adjust distances for it first."),
    # how it is done
    "case": Option(
        "as-is, or fallback: try other capitalisations.",
        default="as-is",
        read=reading.one_of("case", "as-is", "fallback"),
    ),
    "twins": Option(
        "once, or keep: words of a list that have one vector.",
        default="once",
        read=reading.one_of("twins", "once", "keep"),
    ),
    "trust_pickle": Option("Open a pickle; that runs the code in it.", default=False),
    "keep_duplicates": Option("Count a pair as often as it is listed."),
    "max_missing": Option("Share of a set's words that may be missing."),
    "normalise": Option("Scale vectors to length 1 first."),
    "prob": Option("Posterior mass of the intervals.", default=0.89, read=reading.prob),
    "draws": Option("Posterior draws in all, a multiple of 4.", min=4),
    "seed": Option("Seed of the random draws.", min=0),
    # what is written
    "out": Option(type=Path, names=("--out", "-o")),
    "picture": PICTURE,
    "report": written("a report", ".html", ".htm", ".md", said="report"),
}


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
        """Name on the command line to how it is taken."""
        public = [source_of(*place.split(":")) for place in self.of]
        documented = [documented_parameters(source.docstring) for source in public]
        options = {}
        for name, parameter in self.takes:
            option = self.own.get(name, Option()).over(OPTIONS.get(parameter, Option()))
            annotations = {source: source.annotation(parameter) for source in public}
            known = next((source for source, annotation in annotations.items() if annotation), None)
            if option.default is UNSET and known is not None:
                option = replace(option, default=known.default(parameter))
            option = option.over(Option(next((each[parameter] for each in documented if parameter in each), "")))
            kind = value_type(option.default, annotations[known] if known is not None else "")
            options[name] = option.over(Option(type=kind))
        return options

    def made(self) -> Any:
        """The command as the library of command lines takes it."""
        options = self.options()

        def run(context: typer.Context, **values: Any) -> None:
            self.run(options, values, context.args)

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        shown = [_parameter(name, option) for name, option in options.items()]
        run.__signature__ = inspect.Signature([context, *shown])  # type: ignore[attr-defined]  # which inspect reads
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(self.name, help=inspect.getdoc(self.body), context_settings=MORE if self.more else None)(run)
        return typer.main.get_command(app)

    def run(self, options: Mapping[str, Option], given: Mapping[str, Any], more: list[str]) -> None:
        """Check and read the arguments, run the body, and write what is asked for."""
        from bayesbias._files import check_target
        from bayesbias.cli.screen import write

        passed = [(name, option) for name, option in options.items() if given[name] is not None]
        targets = [(given[name], option.target) for name, option in passed if option.target is not None]
        for path, target in targets:
            check_target(path, target.suffixes, target.noun)
        values = {**given, **{name: option.read(given[name]) for name, option in passed if option.read is not None}}
        for name, option in passed:
            values[name] = values[name] if option.load is None else option.load(values[name], values)
        result = self.body(Given(more=more, **{parameter: values[name] for name, parameter in self.takes}))
        write(result, [(path, target) for path, target in targets if target.said], values.get("prob"))


COMMANDS: dict[str, Command] = {}  # name to command, of the modules that are loaded


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
        made = Command(body, tuple(f"bayesbias.{place}" for place in of.split()), named, own, more)
        COMMANDS[made.name] = made
        return made

    return known


def path(text: str) -> Path:
    """A path; an empty one, which would be the current folder, is an error."""
    if not text:
        raise typer.BadParameter("the path is empty: name a file or a folder, . for the current one")
    return Path(text)


def _parameter(name: str, option: Option) -> inspect.Parameter:
    how: dict[str, Any] = {"help": option.help, "autocompletion": option.complete, "min": option.min}
    if option.type is Path:
        how["parser"] = path
    argument = option.names == () or (option.names is None and option.default is UNSET)
    kind: Any = typer.Argument(**how) if argument else typer.Option(*option.names or (), **how)
    value = option.type | None if option.default is None else option.type
    default = list(option.default) if isinstance(option.default, tuple) else option.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[value, kind])


def value_type(default: object, annotation: str) -> Any:
    """The type of the text's value: of the default, else the first number of the annotation, else text."""
    if isinstance(default, tuple):
        return list[str]
    if isinstance(default, bool | int | float | str | Path):
        return type(default)
    scalars = {"bool": bool, "int": int, "float": float}
    kinds = re.sub(r"\[.*\]", "", annotation).split(" | ")
    return next((scalars[kind] for kind in kinds if kind in scalars), str)


ENTRIES = re.compile(r"\nParameters\n-+\n(.*?)(?=\n\n\S+\n-{3,}|\Z)", re.DOTALL)
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([^`]*)`")
VALUE = re.compile(r'``"([\w-]+)"``')
SENTENCE = re.compile(r'(?<=[a-z)`,\]])\.\s+(?=[A-Z`"(])|; None ')


def documented_parameters(docstring: str) -> dict[str, str]:
    """Parameter to its help: the first sentence on it, and the values that only later ones name."""
    section = ENTRIES.search(docstring)
    entries = ENTRY.findall(section[1] + "\n") if section else []
    return {name.strip(): sentence for entry, text in entries for name, sentence in _said(entry, text)}


def _said(entry: str, text: str) -> Iterator[tuple[str, str]]:
    flat = " ".join(text.split())
    first, values = SENTENCE.split(flat, maxsplit=1)[0].rstrip("."), list(dict.fromkeys(VALUE.findall(flat)))
    named = VALUE.findall(first)
    if first.startswith("As in "):
        return
    if set(values) > set(named):
        listed = f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]
        first = listed if first.startswith('``"') else f"{first}: {listed}"
    plain = re.sub(r"``\"?|\"?``", "", ROLE.sub(r"\1", first))
    for name in entry.split(","):
        yield name, f"{plain[0].upper() if not named else plain[0]}{plain[1:]}."


ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """A function as its module writes it."""

    module: str
    function: ast.FunctionDef

    @property
    def docstring(self) -> str:
        """What it is, and its parameters."""
        return ast.get_docstring(self.function) or ""

    def annotation(self, parameter: str) -> str:
        """The type of a parameter as text; nothing where it has none or there is no such parameter."""
        arguments = self.function.args
        named = {argument.arg: argument.annotation for argument in (*arguments.args, *arguments.kwonlyargs)}
        return "" if (declared := named.get(parameter)) is None else ast.unparse(declared)

    def default(self, parameter: str) -> Any:
        """The default of a parameter; what is no literal is found by an import."""
        arguments = self.function.args
        named: dict[str, ast.expr | None] = {
            argument.arg: value
            for argument, value in zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)
        }
        named |= {each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
        if (value := named.get(parameter)) is None:
            return UNSET
        try:
            return ast.literal_eval(_literal(self.module, value))
        except ValueError:
            function = getattr(importlib.import_module(self.module), self.function.name)
            return inspect.signature(function).parameters[parameter].default


@cache
def source_of(module: str, name: str) -> Source:
    """A function, by the name under which a module has it."""
    for statement in reversed(_parsed(module)):  # overloads stand before what they are of
        if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}:
            return source_of(str(statement.module), name)
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return Source(module, statement)
    raise LookupError(f"{module} has no function {name}")


def _literal(module: str, value: ast.expr) -> ast.expr:
    """A value, or what a name of its own module or of another stands for."""
    if not isinstance(value, ast.Name):
        return value
    for statement in _parsed(module):
        if isinstance(statement, ast.ImportFrom) and value.id in {alias.name for alias in statement.names}:
            return _literal(str(statement.module), value)
        if isinstance(statement, ast.Assign):
            target, assigned = statement.targets[0], statement.value
            pairs = [(target, assigned)]
            if isinstance(target, ast.Tuple) and isinstance(assigned, ast.Tuple):
                pairs = list(zip(target.elts, assigned.elts, strict=True))
            for name, each in pairs:
                if isinstance(name, ast.Name) and name.id == value.id:
                    return _literal(module, each)
    return value


@cache
def _parsed(module: str) -> list[ast.stmt]:
    place = ROOT.joinpath(*module.split("."))
    file = package if (package := place / "__init__.py").is_file() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8")).body
