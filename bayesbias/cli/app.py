"""The commands below their headings. What a command needs loads when it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from bayesbias.cli import comparisons, first, many, metrics, steps  # noqa: F401  # they name their commands
from bayesbias.cli.options import COMMANDS

HEADINGS = {
    "Start": ("demo", "run", "new-words", "check-words", "doctor"),
    "Step by step": ("distances", "fit", "contrasts", "plot", "report"),
    "What can be told": ("plan", "balance", "relatedness", "topics", "calibrate"),
    "Classic metrics": ("metrics", "rank", "silhouette", "reliability", "stability"),
    "Words on axes": ("axis", "quadrants", "intersections", "audit", "criterion"),
    "Debiasing, and many embeddings": ("debias", "compare", "pool", "trend", "multiverse", "sweep"),
    "What is bundled or known": ("lists", "models", "queries", "datasets"),
}


class Completion(NamedTuple):
    """What a shell is offered."""

    value: str
    help: str
    type: str = "plain"


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
            typer.echo(first.WELCOME)
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; none of them is made for that."""
        return list(self.commands)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names that begin so, and their summaries; none of them is made for that."""
        begun = [Completion(name, COMMANDS[name].summary) for name in self.commands if name.startswith(incomplete)]
        return begun or super(TyperGroup, self).shell_complete(ctx, incomplete)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each heading a section."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, shorten(_sentence(name), width, placeholder="...")) for name in commands])


def _sentence(name: str) -> str:
    return COMMANDS[name].summary.split(". ")[0].removesuffix(".") + "."


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


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bayesbias {version('bayesbias')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measure bias in word embeddings: distances, a model of all of them, posterior distributions."""
    _state["debug"] = debug
    # matrix products here are small: more threads than one only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if context.invoked_subcommand is None:
        typer.echo(first.WELCOME)
