"""Arguments and options of the commands as annotated types; the same options for the same things."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, BadParameter, Option

Kinds = Literal["words", "embeddings", "models", "metrics", "axes", "queries", "methods", "templates", "datasets"]
Cases = Literal["as-is", "fallback"]


def _folder(path: Path | None) -> Path | None:
    """The folder to write; a file that is there, or an empty name, is refused before the work begins."""
    if path is not None and (str(path) == "" or (path.exists() and not path.is_dir())):
        raise BadParameter(f"{str(path)!r} is no folder")
    return path


Embedding = Annotated[str, Argument(help="A bundled name or the path of an embedding file.")]
EmbeddingOrFit = Annotated[str, Argument(help="A bundled name or an embedding file; or a fit, .nc.")]
Embeddings = Annotated[list[str], Argument(help="Bundled names or paths of embedding files.")]
EmbeddingsOrTables = Annotated[
    list[str], Argument(help="Bundled names, embedding files, or distance tables (.csv, .parquet).")
]
Words = Annotated[str, Argument(help="A bundled word list or the path of a TOML file.")]
CheckedWords = Annotated[str | None, Argument(help="A bundled word list or a TOML file, to check in an embedding.")]
Kind = Annotated[Kinds, Argument(help="What to list.")]

DemoWords = Annotated[str, Option("--words", help="A bundled word list or the path of a TOML file.")]
MeasuredWords = Annotated[str | None, Option("--words", help="Word lists to measure embeddings with.")]
Queries = Annotated[list[str], Option(help="A bundled query or a TOML file; several times for several.")]
QueryWords = Annotated[list[str], Option("--words", help="Word lists as a query: groups and their stereotypes.")]
Metrics = Annotated[list[str], Option(help="A metric that 'bayesbias list metrics' shows; several times for several.")]
Model = Annotated[str, Option(help="A model that 'bayesbias list models' shows, a TOML file, or auto.")]
Adjust = Annotated[str | None, Option(help="frequency or length of words: adjust distances for it first.")]
Frequencies = Annotated[
    str | None, Option(help="A file of words and counts, or wordfreq; by default the order of the embedding.")
]
Case = Annotated[Cases, Option(help="fallback tries other capitalisations.")]
Draws = Annotated[int, Option(min=4, help="Posterior draws in all, a multiple of 4.")]
Prob = Annotated[float, Option(min=0.001, max=0.999, help="Posterior mass of the intervals.")]
Seed = Annotated[int, Option(min=0, max=2**63 - 1, help="Seed of the random draws.")]
Topics = Annotated[int, Option(min=0, help="Sets of random lists to compare contrasts with; 0: none.")]
Language = Annotated[str | None, Option(help="Word lists of one language, such as de; by default English ones.")]
MaxMissing = Annotated[float, Option(min=0, max=1, help="Share of a set's words that may be missing.")]
Normalise = Annotated[bool, Option(help="Scale vectors to length 1 first.")]
PValue = Annotated[bool, Option("--p-value", help="Permutation test of WEAT.")]
SideEffects = Annotated[bool, Option("--side-effects", help="Look for side effects between two embeddings too.")]
TrustPickle = Annotated[bool, Option("--trust-pickle", help="Open a pickle; that runs the code in it.")]
Folder = Annotated[Path, Option("--out", "-o", callback=_folder, help="Folder for tables, figures and report.")]
OptionalFolder = Annotated[
    Path | None, Option("--out", "-o", callback=_folder, help="Folder for tables, figures and report.")
]
