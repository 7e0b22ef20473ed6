"""Commands of the first contact: what one can do, word lists of one's own, data sets, and whether all is installed."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli import names
from bayesbias.cli.arguments import EmbeddingName, TrustPickle, WordsName

if TYPE_CHECKING:
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
  Find the words of a whole vocabulary that lean to one group
    bayesbias audit EMBEDDING --groups WORDS

EMBEDDING is a file of vectors or google-news-slice, which is bundled.
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
LETTER = re.compile(r"[^\w.-]+")


def new_words(
    name: Annotated[str, typer.Argument(help="Name of the list.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write, .toml; by default NAME.toml.")] = None,
) -> None:
    """Write a word list to start from, with comments."""
    from bayesbias._checks import printable
    from bayesbias._files import check_target, write_text
    from bayesbias.cli.screen import say
    from bayesbias.errors import InputError

    printable(name, "the name of the list")
    stem = LETTER.sub("-", name.removesuffix(".toml")).strip("-.")
    if out is None and not stem:
        raise InputError(f"no file can be named after {name!r}: give one with --out FILE.toml")
    path = check_target(out or f"{stem}.toml", (".toml",), "a word list")
    if path.exists():
        raise InputError(f"{path} is there already: give another name, or another file with --out")
    title = json.dumps(name.removesuffix(".toml"), ensure_ascii=False)
    write_text(path, TEMPLATE.replace("{name}", title).replace("{file}", path.name))
    say(f"{path} written")
    say(f"Next: put your words in, then bayesbias check-words {path} EMBEDDING")


def check_words(
    words: WordsName,
    embedding: EmbeddingName,
    frequencies: Annotated[
        str | None, typer.Option(help="A file of words and counts, or wordfreq; by default the embedding's order.")
    ] = None,
    trust_pickle: TrustPickle = False,
) -> None:
    """Check a word list against an embedding: coverage, near duplicates, frequency, spellings."""
    from bayesbias.cli.screen import say, show, working
    from bayesbias.diagnostics import check_words as check
    from bayesbias.diagnostics.word_lists import variants
    from bayesbias.embeddings.formats import load_lists
    from bayesbias.words import load_words

    listed = load_words(words)
    others = (form for word in listed.every_word() for form in variants(word))
    with working(f"reading {embedding}"):
        kv = load_lists(embedding, listed, others, trust_pickle)
    found = check(listed, kv, frequencies)
    table = found.table().assign(effective=found.table()["effective"].map("{:.1f}".format).replace("nan", "unknown"))
    show(table[["list", "kind", "asked", "found", "effective"]], f"Word list {found.word_list} in {found.embedding}")
    for sentence in found.sentences():
        say(sentence)


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(help="Fetch this one, and show where its file is.", autocompletion=names.datasets),
    ] = None,
) -> None:
    """Data sets that are known by name, with their licences, or the file of one of them."""
    from bayesbias.cli.screen import say, show, working
    from bayesbias.datasets import FOLDER, dataset_path, list_datasets

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


def _say_origins(part: pd.DataFrame) -> None:
    from bayesbias.cli.screen import say

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
EXTRAS = {
    "contextual": ("torch", "transformers"),
    "distributed": ("distributed",),
    "frequencies": ("wordfreq",),
}
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NUTS = ("pymc", "nutpie")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Write it as JSON, for programs.")] = False,
) -> None:
    """Versions, engines, caches, threads and extras: whether all is installed."""
    from bayesbias.cli.screen import say

    found = examined()
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    say(f"Python {found['python']}, {sys.platform}, {found['processors']} processors")
    say("Versions: " + ", ".join(f"{name} {known or 'missing'}" for name, known in found["versions"].items()))
    for name, state in found["engines"].items():
        say(f"Engine {name}: {state}")
    for name, cache in found["caches"].items():
        size = f"{cache['files']:,} files, {_size(cache['bytes'])}" if cache["files"] else "empty"
        say(f"Cache of {name}: {cache['path']} ({size})")
    say(
        "numba and PyTensor keep the code that they compile for NUTS: the first such fit after an installation takes "
        "longer than those after it."
    )
    for name, value in found["threads"].items():
        say(f"Threads, {name}: {value}")
    say("  Commands set OPENBLAS_NUM_THREADS to 1 where it is not set, since their matrices are small.")
    say("  Audits and sweeps use one thread whatever it says, so that their bits do not depend on it.")
    for name, state in found["extras"].items():
        say(f"Extra {name}: {state}")


def examined() -> dict[str, Any]:
    """What :func:`doctor` says, as plain values; nothing is imported to find it."""
    import pooch  # type: ignore[import-untyped]

    lacking = [name for name in NUTS if find_spec(name) is None]
    caches = {
        "data sets": Path(pooch.os_cache("bayesbias")),
        "gensim's downloader": Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data")),
        "PyTensor": Path.home() / ".pytensor",
    }
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        caches["numba"] = Path(given)
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
        "extras": {name: _extra(name, parts) for name, parts in EXTRAS.items()},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extra(name: str, parts: tuple[str, ...]) -> str:
    lacking = [one for one in parts if find_spec(one) is None]
    return f"not installed: pip install 'bayesbias[{name}]'" if lacking else "installed"


def _held(folder: Path) -> dict[str, int]:
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
