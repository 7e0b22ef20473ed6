"""Arguments and options of commands as annotated types, and the names that the shell completes.

A path to write is checked as soon as it is read, and so are words of which few are valid: before anything is computed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from typer import Argument, BadParameter, Option

from bayesbias._support.paths import shipped

TABLES = (".csv", ".parquet")
PAGES = (".html",)
Cases = Literal["as-is", "fallback"]
Repetitions = Literal["once", "keep"]
# names of registers that load slowly, for help and completion; tests compare them with the registers
METRICS = (
    *("weat", "weat_effect_size", "rnd", "rnsb", "mac", "ect", "ripa", "direct_bias", "db_wa", "nbm", "same"),
    *("wefat", "seat", "ceat", "semaxis"),
)


def _stems(folder: str, pattern: str) -> list[str]:
    place = shipped("data") / folder
    return [path.relative_to(place).with_suffix("").as_posix() for path in place.glob(pattern)]


def _content(file: str) -> dict[str, Any]:
    return tomllib.loads((shipped("data") / file).read_text(encoding="utf-8"))


# kind of thing to its names, read from files and their names, since what loads the things loads slowly
BUNDLED: dict[str, Callable[[], Iterable[str]]] = {
    "word lists": lambda: _stems("words", "**/*.toml"),
    "queries": lambda: _stems("queries", "*.toml"),
    "models": lambda: ["auto", *(path.stem for path in shipped("models").glob("*.toml"))],
    "embeddings": lambda: _content("manifest.toml"),
    "metrics": lambda: [*METRICS, *(entry.name for entry in entry_points(group="bayesbias.metrics"))],
}


def bundled(*kinds: str) -> Callable[[str], list[str]]:
    """The completion of the names of some kinds."""

    def complete(incomplete: str) -> list[str]:
        return sorted({name for kind in kinds for name in BUNDLED[kind]() if name.startswith(incomplete)})

    return complete


def path(text: str) -> Path:
    """A path; an empty one, which would be the current folder, is an error."""
    if not text:
        raise BadParameter("the path is empty: name a file or a folder, . for the current one")
    return Path(text)


def to_write(what: str, *suffixes: str, help: str, names: tuple[str, ...] = ("--out", "-o")) -> Any:  # noqa: A002
    """An option that names a file to write; its suffix and its folder are checked."""

    def check(file: Path | None) -> Path | None:
        from bayesbias._support.files import check_target

        if file is not None:
            check_target(file, suffixes, what)
        return file

    return Option(*names, parser=path, callback=check, help=help)


def among(name: str, words: Any) -> Callable[[str | None], str | None]:
    """A check of a word that a ``Literal`` lists; others are refused as functions of the package refuse them."""

    def check(word: str | None) -> str | None:
        from bayesbias._support.arguments import one_of

        return word if word is None else one_of(word, get_args(words), name)

    return check


def choice(name: str, words: Any, help: str) -> Any:  # noqa: A002
    """An option of few words, which the help shows; ``parser`` leaves it to :func:`among` to refuse others."""
    return Option(parser=str, callback=among(name, words), help=help)


def mass(prob: float | None) -> float | None:
    """The check of a posterior mass."""
    from bayesbias._support.arguments import probability

    return prob if prob is None else probability(prob, "prob")


def seeding(seed: int | None) -> int | None:
    """The check of a seed, made before the work begins."""
    from bayesbias._support.arguments import whole_number

    return seed if seed is None else whole_number(seed, "seed", least=0, most=None)


# what a command works on
Embedding = Annotated[
    str, Argument(help="A bundled name or the path of an embedding file.", autocompletion=bundled("embeddings"))
]
Embeddings = Annotated[
    list[str], Argument(help="Bundled names or paths of embedding files.", autocompletion=bundled("embeddings"))
]
EmbeddingsOrTables = Annotated[
    list[str],
    Argument(
        help="Bundled names, embedding files, or distance tables (.csv, .parquet).",
        autocompletion=bundled("embeddings"),
    ),
]
Words = Annotated[
    str, Argument(help="A bundled word list or the path of a TOML file.", autocompletion=bundled("word lists"))
]
TablePath = Annotated[Path, Argument(parser=path, help="A distance table, .csv or .parquet.")]
FitPath = Annotated[Path, Argument(parser=path, help="A fit, .nc.")]

# words, metrics and models by name
MeasuredWords = Annotated[
    str | None,
    Option(
        help="A bundled word list or a TOML file, to measure embeddings with.", autocompletion=bundled("word lists")
    ),
]
Queries = Annotated[
    list[str] | None,
    Option(
        help="A bundled query ('bayesbias lists queries') or a TOML file; several times for several.",
        autocompletion=bundled("queries"),
    ),
]
QueryWords = Annotated[
    list[str] | None,
    Option(help="Word lists as a query: groups and their stereotypes.", autocompletion=bundled("word lists")),
]
Metrics = Annotated[
    list[str] | None,
    Option(
        help=f"A metric: {', '.join(METRICS)}, or one of a plugin; several times for several.",
        autocompletion=bundled("metrics"),
    ),
]
Model = Annotated[
    str,
    Option(help="A model that 'bayesbias lists models' shows, a TOML file, or auto.", autocompletion=bundled("models")),
]
Frequencies = Annotated[
    str | None, Option(help="A file of words and counts, or wordfreq; by default the order of the embedding.")
]

# how it is done
Case = Annotated[Cases, choice("case", Cases, help="fallback tries other capitalisations.")]
Twins = Annotated[
    Repetitions, choice("twins", Repetitions, help="Words of a list with one vector: count them once, or keep all.")
]
AdjustBefore = Annotated[str | None, Option(help="frequency or length of words: adjust distances for it first.")]
TrustPickle = Annotated[bool, Option(help="Open a pickle; that runs the code in it.")]
MaxMissing = Annotated[float, Option(help="Share of a set's words that may be missing.")]
Normalise = Annotated[bool, Option(help="Scale vectors to length 1 first.")]
Prob = Annotated[float, Option(callback=mass, help="Posterior mass of the intervals.")]
Draws = Annotated[int, Option(min=4, help="Posterior draws in all, a multiple of 4.")]
Seed = Annotated[int, Option(callback=seeding, min=0, help="Seed of the random draws.")]

# what is written
Folder = Annotated[Path, Option("--out", "-o", parser=path, help="Folder for figures, table, fit and report.")]
Out = Annotated[Path | None, to_write("a table", ".csv", help="A table to write, .csv.")]
Picture = Annotated[Path | None, to_write("a figure", ".png", names=("--picture",), help="A figure to write, .png.")]
ReportPath = Annotated[
    Path | None,
    to_write("a report", *PAGES, names=("--report",), help="A report to write, .html."),
]
