"""Commands on debiasing and comparison."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli import names
from bayesbias.cli.arguments import (
    AUTO,
    EmbeddingName,
    check_report,
    check_target,
    csv_table,
    extra_options,
    save_picture,
    save_report,
    short_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.comparison import Comparison, SideEffects


TABLES = (".csv", ".parquet")
CHAINS = 4
BY_LIST = ("definitional", "sets", "groups", "subspace", "equalize", "neutralize", "ignore")
"""Options of debiasing methods that are words or directions, which come from files."""


def debias(
    context: typer.Context,
    embedding: EmbeddingName,
    out: Annotated[Path, typer.Option("--out", "-o", help="Embedding to write: .bin, .txt (word2vec) or .npz.")],
    method: Annotated[
        str, typer.Option(help="project, hard, hard_multiclass, soft, half_sibling or null_space.")
    ] = "hard",
    pairs: Annotated[
        str | None, typer.Option(help="Defining pairs: a bundled list such as gender_pairs, or a TOML file.")
    ] = None,
    words: Annotated[
        str | None, typer.Option(help="Word lists whose groups, word by word, are the defining sets, such as religion.")
    ] = None,
    equalize: Annotated[str | None, typer.Option(help="Pairs to equalise (hard): a list of pairs.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Words to leave alone: a list of words.")] = None,
    trust_pickle: Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")] = False,
) -> None:
    """A debiased copy of an embedding. Options of the method follow as --name value, such as --components 2."""
    from bayesbias._files import home_folder
    from bayesbias.cli.screen import say, working
    from bayesbias.debiasing import debias as debias_embedding
    from bayesbias.debiasing.registry import find_method
    from bayesbias.embeddings import load_embedding, save_embedding
    from bayesbias.embeddings.formats import SUFFIXES
    from bayesbias.errors import InputError

    check_target(out, SUFFIXES, "an embedding")
    if out.exists() and (source := home_folder(embedding)).exists() and out.samefile(source):
        raise InputError(f"{out} is the embedding itself, which the result would replace: give another file")
    taken = find_method(method).options
    defining = _defining(taken, pairs, words)
    own = [name for name in taken if name not in {*defining, *BY_LIST}]
    others, extra = extra_options(context.args, own, method)
    if others:
        raise InputError(f"one embedding is debiased at a time, and {others[0]} is given too")
    options = defining | extra
    if equalize is not None:
        options["equalize"] = list(_pairs(equalize))
    if ignore is not None:
        options["ignore"] = list(_words(ignore))
    kv = load_embedding(embedding, trust_pickle=trust_pickle)
    with working("debiasing"):
        after = debias_embedding(kv, method, **options)
    save_embedding(after, out)
    say(str(after.bayesbias_debiasing))
    say(f"{len(after):,} vectors written to {out}")


def compare(
    embeddings: Annotated[
        list[str],
        typer.Argument(
            help="Bundled names, embedding files, or distance tables (.csv, .parquet).", autocompletion=names.embeddings
        ),
    ],
    words: Annotated[
        str | None,
        typer.Option(
            help="A bundled word list or a TOML file, to measure embeddings with.", autocompletion=names.word_lists
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report, .html or .md.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the changes as .csv.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Write the picture of the change, .png.")] = None,
    effects: Annotated[
        bool, typer.Option("--side-effects", help="Look for side effects too; reads two embeddings whole.")
    ] = False,
    similarity: Annotated[
        Path | None, typer.Option(help="CSV of word, word, similarity for the side effects, with a header.")
    ] = None,
    model: Annotated[str, typer.Option(help="auto, or the model of changes.")] = AUTO,
    engine: Annotated[str, typer.Option(help="auto, marginal or nuts.")] = "auto",
    draws: Annotated[int, typer.Option(help="Posterior draws in all, a multiple of 4.", min=4)] = 4000,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws; a fresh one if not given.", min=0)] = None,
    prob: Annotated[float, typer.Option(help="Posterior mass of the intervals.")] = 0.89,
    case: Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")] = "as-is",
    trust_pickle: Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")] = False,
) -> None:
    """What changed between embeddings: the same pairs of words in each."""
    from bayesbias._checks import one_of, probability
    from bayesbias._files import write_text
    from bayesbias.cli.screen import say, working
    from bayesbias.comparison import compare as compare_tables
    from bayesbias.comparison import side_effects
    from bayesbias.comparison.changes import ENGINES
    from bayesbias.errors import InputError
    from bayesbias.models import load_model
    from bayesbias.models.fits import checked_draws

    _check_targets(report, out, picture, several=len(embeddings) > 2)
    probability(prob, "prob")
    if len(embeddings) < 2:
        raise InputError(f"given is {embeddings[0]} alone: a comparison needs two embeddings or tables")
    if similarity is not None and not effects:
        raise InputError("--similarity is for the side effects: give --side-effects too")
    checked_draws(draws, CHAINS)
    one_of(engine, ENGINES, "engine")
    if model != AUTO:
        load_model(model)
    pairs = None if similarity is None else _similarities(similarity)
    tables, vectors = measured(embeddings, words, effects, case, trust_pickle)
    _show_coverages(tables)
    settings: dict[str, Any] = {"model": model, "engine": engine, "draws": draws, "seed": seed, "case": case}
    found = compare_tables(tables, **settings)
    beside = None
    if effects:
        used = int(found.posterior.attrs["seed"])
        before, after = tables.values()
        options: dict[str, Any] = {"similarity": pairs, "prob": prob, "seed": used % 2**32, "case": case}
        beside = side_effects(before, after, vectors[0], vectors[1], comparison=found, **options)
    show_changes(found, beside, prob)
    if out is not None:
        write_text(out, _rows(found, prob).to_csv(index=False))
        say(f"changes written to {out}")
    if picture is not None:
        _draw(found, picture, prob)
        say(f"picture written to {picture}")
    with working("drawing pictures"):
        save_report(found, report, prob=prob, effects=beside)


def _check_targets(report: Path | None, out: Path | None, picture: Path | None, several: bool) -> None:
    from bayesbias.errors import InputError

    check_report(report)
    for path, suffix, what in ((out, ".csv", "changes"), (picture, ".png", "a picture")):
        if path is not None:
            check_target(path, (suffix,), what)
    if picture is not None and several:
        raise InputError("a picture shows one change: give two embeddings, or --report for all")


def show_changes(found: Comparison, beside: SideEffects | None, prob: float) -> None:
    """What changed, on the terminal: a table of the headline, then sentences by part."""
    from bayesbias._phrases import share
    from bayesbias.cli.screen import say, show

    if found.headline is not None:
        table = found.changes(prob=prob)
        shown = table.assign(group=table["group"].fillna(""), p_below_zero=table["p_below_zero"].map(share))
        show(shown, f"Change of {table.attrs['of']}, {100 * prob:g}% equal-tailed intervals, in {table.attrs['unit']}")
        say(table.attrs["meaning"])
    parts = found.parts(prob)
    if beside is not None:
        parts = beside.added_to(parts)
    for name, sentences in parts.items():
        say(f"{name}. {' '.join(sentences)}")


def _show_coverages(tables: dict[str, pd.DataFrame]) -> None:
    """What of the lists each table holds, once where it is the same for all."""
    from bayesbias.cli.screen import say, show_coverage
    from bayesbias.distances.storage import stored_coverage

    shown: list[object] = []
    for name, table in tables.items():
        record = stored_coverage(table)
        if record is not None and (found := (record.lists, record.notes(table))) not in shown:
            shown.append(found)
            say(f"{name}: {len(table):,} distances")
            show_coverage(table)


def _rows(found: Comparison, prob: float) -> pd.DataFrame:
    """The table of a comparison as it is written."""
    return found.table(prob).assign(unit="cosine distance")


def _draw(found: Comparison, path: Path, prob: float) -> None:
    from bayesbias.plots import plot_change

    save_picture(plot_change(found, prob), path)


def measured(
    arguments: list[str], words: str | None, whole: bool, case: str, trust_pickle: bool
) -> tuple[dict[str, pd.DataFrame], list[KeyedVectors]]:
    """Name to distance table, and the embeddings where all are."""
    from bayesbias.cli.screen import working
    from bayesbias.distances import distance_table, read_distance_table
    from bayesbias.embeddings import load_embedding
    from bayesbias.errors import InputError
    from bayesbias.words import load_words

    ready = [one.endswith(TABLES) for one in arguments]
    if whole and len(arguments) != 2:
        raise InputError(f"--side-effects looks at two embeddings, given are {len(arguments)}")
    if whole and any(ready):
        raise InputError("--side-effects looks at two embeddings: give both as embeddings, not as tables")
    if words is None and not all(ready):
        raise InputError("embeddings are measured with word lists: give --words (see 'bayesbias lists')")
    if words is not None and all(ready):
        raise InputError("--words is for embeddings: distance tables have their words already")
    names = _names(arguments)
    listed = None if words is None else load_words(words)
    tables, vectors = {}, []
    for name, argument, is_table in zip(names, arguments, ready, strict=True):
        if is_table or listed is None:
            tables[name] = read_distance_table(argument)
            continue
        with working(f"reading {name}"):
            # spellings other than those of the lists have ranks that the file's sample would not follow
            part = None if whole or case != "as-is" else listed
            vectors.append(load_embedding(argument, part, trust_pickle))
        tables[name] = distance_table(vectors[-1], listed, case=case)  # type: ignore[arg-type]  # checked where used
    return tables, vectors


def _names(arguments: list[str]) -> list[str]:
    """Short names of embeddings, apart from each other."""
    names = short_names(arguments, lambda one: Path(one).stem if one.endswith(TABLES) else Path(one).name)
    return [name if (n := names[:at].count(name)) == 0 else f"{name} ({n + 1})" for at, name in enumerate(names)]


def _similarities(path: Path) -> pd.DataFrame:
    from bayesbias._files import home_folder
    from bayesbias.errors import InputError

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
    from bayesbias.errors import InputError
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
    from bayesbias.errors import InputError
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if not isinstance(listed, PairList):
        raise InputError(f"{name} is a list of words: pairs are needed, such as gender_pairs")
    return listed.pairs


def _words(name: str) -> tuple[str, ...]:
    from bayesbias.errors import InputError
    from bayesbias.words import PairList, load_list

    listed = load_list(name)
    if isinstance(listed, PairList):
        raise InputError(f"{name} is a list of pairs: a list of words is needed")
    return tuple(listed)
