"""Commands on debiasing and comparison."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli.options import FRESH, MEASURED, Given, Option, command, written
from bayesbias.cli.reading import csv_table, extra_options, measured
from bayesbias.cli.screen import say, show, show_coverage, working
from bayesbias.cli.writing import Made, check_target
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.comparison import Comparison, SideEffects

AUTO = "auto"
CHAINS = 4
BY_LIST = ("definitional", "sets", "groups", "subspace", "equalize", "neutralize", "ignore")
"""Options of debiasing methods that are words or directions, which come from files."""


@command(
    "debiasing:debias",
    "embedding out method pairs words equalize ignore trust_pickle",
    more=True,
    out=Option("Embedding to write: .bin, .txt (word2vec) or .npz."),
    pairs=Option("Defining pairs: a bundled list such as gender_pairs, or a TOML file.", default=None),
    words=Option("Word lists whose groups, word by word, are the defining sets, such as religion.", default=None),
    equalize=Option("Pairs to equalise (hard): a list of pairs.", default=None),
    ignore=Option("Words to leave alone: a list of words.", default=None),
)
def debias(given: Given) -> None:
    """A debiased copy of an embedding. Options of the method follow as --name value, such as --components 2."""
    from bayesbias._files import home_folder
    from bayesbias.debiasing.registry import find_method
    from bayesbias.embeddings.formats import SUFFIXES

    check_target(given.out, SUFFIXES, "an embedding")
    source = home_folder(given.embedding)
    if given.out.exists() and source.exists() and given.out.samefile(source):
        raise InputError(f"{given.out} is the embedding itself, which the result would replace: give another file")
    taken = find_method(given.method).options
    defining = _defining(taken, given.pairs, given.words)
    own = [name for name in taken if name not in {*defining, *BY_LIST}]
    others, extra = extra_options(given.more, own, given.method)
    if others:
        raise InputError(f"one embedding is debiased at a time, and {others[0]} is given too")
    options = defining | extra
    if given.equalize is not None:
        options["equalize"] = list(_pairs(given.equalize))
    if given.ignore is not None:
        options["ignore"] = list(_words(given.ignore))
    kv = bb.load_embedding(given.embedding, trust_pickle=given.trust_pickle)
    with working("debiasing"):
        after = bb.debias(kv, given.method, **options)
    bb.save_embedding(after, given.out)
    say(str(after.bayesbias_debiasing))
    say(f"{len(after):,} vectors written to {given.out}")


@command(
    "comparison:compare",
    "embeddings=several words out picture report side_effects similarity model engine draws seed prob case "
    "trust_pickle",
    words=MEASURED,
    out=written("changes", ".csv", said="changes"),
    side_effects=Option("Look for side effects too; reads two embeddings whole.", default=False),
    similarity=Option("CSV of word, word, similarity for the side effects, with a header.", Path, None),
    model=Option("auto, or the model of changes."),
    seed=FRESH,
)
def compare(given: Given) -> Made:
    """What changed between embeddings: the same pairs of words in each."""
    from bayesbias._checks import one_of
    from bayesbias.comparison.changes import ENGINES
    from bayesbias.models.fits import checked_draws

    if given.picture is not None and len(given.several) > 2:
        raise InputError("a figure shows one change: give two embeddings, or --report for all")
    if len(given.several) < 2:
        raise InputError(f"given is {given.several[0]} alone: a comparison needs two embeddings or tables")
    if given.similarity is not None and not given.side_effects:
        raise InputError("--similarity is for the side effects: give --side-effects too")
    checked_draws(given.draws, CHAINS)
    one_of(given.engine, ENGINES, "engine")
    if given.model != AUTO:
        bb.load_model(given.model)
    pairs = None if given.similarity is None else _similarities(given.similarity)
    tables, vectors = measured(given.several, given.words, given.case, given.trust_pickle, given.side_effects)
    _show_coverages(tables)
    comparison = given.call(bb.compare, tables=tables)
    beside = None
    if given.side_effects:
        before, after = tables.values()
        seed = int(comparison.posterior.attrs["seed"]) % 2**32
        settings: dict[str, Any] = {"similarity": pairs, "prob": given.prob, "seed": seed, "case": given.case}
        beside = bb.side_effects(before, after, vectors[0], vectors[1], comparison=comparison, **settings)
    show_changes(comparison, beside, given.prob)
    return Made(comparison, comparison.table(given.prob).assign(unit="cosine distance"), beside={"effects": beside})


def show_changes(comparison: Comparison, beside: SideEffects | None, prob: float) -> None:
    """What changed, on the terminal: a table of the headline, then sentences by part."""
    from bayesbias._phrases import share

    if comparison.headline is not None:
        table = comparison.changes(prob=prob)
        shown = table.assign(group=table["group"].fillna(""), p_below_zero=table["p_below_zero"].map(share))
        show(shown, f"Change of {table.attrs['of']}, {100 * prob:g}% equal-tailed intervals, in {table.attrs['unit']}")
        say(table.attrs["meaning"])
    parts = comparison.parts(prob)
    if beside is not None:
        parts = beside.added_to(parts)
    for name, sentences in parts.items():
        say(f"{name}. {' '.join(sentences)}")


def _show_coverages(tables: dict[str, pd.DataFrame]) -> None:
    """What of the lists each table holds, once where it is the same for all."""
    from bayesbias.distances.storage import stored_coverage

    shown: list[object] = []
    for name, table in tables.items():
        record = stored_coverage(table)
        if record is not None and (content := (record.lists, record.notes(table))) not in shown:
            shown.append(content)
            say(f"{name}: {len(table):,} distances")
            show_coverage(table)


def _similarities(path: Path) -> pd.DataFrame:
    from bayesbias._files import home_folder

    file = home_folder(path)
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    table = csv_table(path, keep_default_na=False)
    if len(table.columns) == 3 and _is_number(table.columns[2]):
        raise InputError(f"{path} begins with a pair, {', '.join(table.columns)}: put a header above it")
    if len(table.columns) != 3:
        raise InputError(f"{path} has {len(table.columns)} columns: three are needed, word, word and similarity")
    return table


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


def _defining(taken: Collection[str], pairs: str | None, words: str | None) -> dict[str, Any]:
    """The option of a method that holds its defining sets, or groups; none for a method that takes none of them."""
    from bayesbias.words import load_words

    option = next((name for name in ("groups", "sets", "definitional") if name in taken), None)
    if option is None and pairs is None and words is None:
        return {}
    if option is None:
        raise InputError("this method takes no defining words: leave --pairs and --words out")
    if (pairs is None) == (words is None):
        raise InputError("the defining words are needed: give --pairs or --words, one of the two")
    if pairs is not None:
        sets = list(_pairs(pairs))
        groups = {"first": [pair[0] for pair in sets], "second": [pair[1] for pair in sets]}
    else:
        lists = load_words(str(words))
        lists.single_forms("debiasing")
        groups = {name: list(listed) for name, listed in lists.protected.items()}
        if len({len(listed) for listed in groups.values()}) > 1 and option != "groups":
            sizes = ", ".join(f"{name} {len(listed)}" for name, listed in groups.items())
            raise InputError(f"the groups of {words} have different numbers of words ({sizes}): give --pairs")
        sets = list(zip(*groups.values(), strict=False))
    return {option: groups if option == "groups" else sets}


def _pairs(name: str) -> tuple[tuple[str, str], ...]:
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if not isinstance(listed, PairList):
        raise InputError(f"{name} is a list of words: pairs are needed, such as gender_pairs")
    return listed.pairs


def _words(name: str) -> tuple[str, ...]:
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if isinstance(listed, PairList):
        raise InputError(f"{name} is a list of pairs: a list of words is needed")
    return tuple(listed)
