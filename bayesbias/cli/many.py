"""Commands on axes, on debiasing, and on many embeddings."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import bayesbias as bb
from bayesbias.cli.options import FRESH, MEASURED, SOURCES, TABLE, Given, Option, bundled, command, written
from bayesbias.cli.reading import centre_of, csv_table, extra_options, measured, named_values, vectors, words_or_list
from bayesbias.cli.screen import Made, say, show, show_coverage, working
from bayesbias.errors import InputError, many

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from bayesbias.comparison import Comparison, SideEffects

MOST = 20  # words of an audit that the screen shows
PAIRS = Option("A bundled axis or list of pairs, or a TOML file of pairs.", str, complete=bundled("axes"))
CHOSEN = Option(
    "Words with commas between, or a bundled list or a TOML file of words; by default the vocabulary.",
    str,
    read=words_or_list,
)
CENTRE = Option(
    "vocabulary, words or none: 0 is the mean over the vocabulary, over the words, or equal distance to both poles.",
    default="vocabulary",
    read=centre_of,
)
ADJUST = Option("frequency: take off what the frequency of words predicts.")
WEIGHTS = Option("equal or precision.", default="equal")
BEFORE = Option("frequency or length of words: adjust distances for it first.", default=None)
SHOWN = ["name", "estimate", "se", "mean", "low", "high", "rank", "p_below_zero"]
"""Columns that a terminal shows; the file has all."""


def outside_of(path: Path) -> tuple[pd.Series, pd.Series | None]:
    """The values by word, and their standard errors where a file has them."""
    import numpy as np
    import pandas as pd

    table = csv_table(path)
    if len(table.columns) not in (2, 3):
        hint = "; are they separated by semicolons? Write commas" if ";" in str(table.columns[0]) else ""
        raise InputError(
            f"{path} has {many(len(table.columns), 'column')}: give word, value and, where known, se{hint}"
        )
    words = table.iloc[:, 0].map(str)
    if words.duplicated().any():
        raise InputError(f"the word {words[words.duplicated()].iloc[0]!r} has two values: give each word once")
    for name in table.columns[1:]:
        wrong = np.flatnonzero(pd.to_numeric(table[name], errors="coerce").isna() & table[name].notna())
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{path}, line {row + 2}, column {name!r}: {words[row]!r} has {table[name][row]!r}, which is no "
                "number; leave the cell empty where a value is not known"
            )
    value, *se = (table[name].set_axis(words) for name in table.columns[1:])
    return value, se[0] if se else None


def named(option: str, help: str) -> Option:  # noqa: A002  # an option's
    """An option that is given for each embedding, as NAME=VALUE."""
    return Option(help, list[str], default=None, read=named_values(option))


@command(
    "second_stage:pool",
    "embeddings=tables words contrast on group=groups replicate=replicates weights standardise adjust frequencies "
    "seed prob case trust_pickle out picture report",
    words=MEASURED,
    on=Option("CSV of outside variables: name, and one column each.", Path, read=csv_table),
    group=named("--group", "NAME=GROUP of an embedding; once for each."),
    replicate=named("--replicate", "NAME=SETTING of a training; once for each."),
    weights=WEIGHTS,
    adjust=BEFORE,
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def pool(given: Given) -> Any:
    """One contrast in many embeddings, partially pooled, and its relation to something outside."""
    with working("pooling"):
        pooled = given.call(bb.pool, stages=given.call(bb.checks.TwoStage))
    show(pooled.table(given.prob)[SHOWN], "Embeddings", whole="name")
    say(pooled.text(given.prob))
    return pooled


@command(
    "second_stage:trend",
    "embeddings=tables words time contrast kind weights standardise adjust frequencies seed prob case trust_pickle out "
    "picture report",
    words=MEASURED,
    time=named("--time", "NAME=NUMBER of an embedding; by default names are numbers."),
    weights=WEIGHTS,
    adjust=BEFORE,
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def trend(given: Given) -> Made:
    """How a contrast changes over ordered embeddings."""
    with working("fitting the trend"):
        time = given.time or {name: Path(name).stem for name in given.tables}
        trends = given.call(bb.trend, time=time, stages=given.call(bb.checks.TwoStage))
    show(trends.table(given.prob)[["embedding", *SHOWN[1:6]]], "Levels", whole="embedding")
    say(trends.text(given.prob))
    return Made(trends, trends.slopes(given.prob))


def fit_or_axis(source: str, given: Mapping[str, Any]) -> Any:
    """A fit, or the axis of pairs in an embedding."""
    if given["pairs"] is None:
        return bb.load_fit(Path(source))
    words = given["values"][0].index.tolist()
    return bb.axis(vectors(source, given), given["pairs"], words, case=given["case"])


@command(
    "second_stage:criterion axes:axis",
    "source values=outside pairs contrast adjust frequencies case seed prob trust_pickle out picture report",
    source=Option("A fit, .nc; with --pairs an embedding: a bundled name or a file.", str, load=fit_or_axis),
    values=Option("CSV of word, value and, where known, se, with a header.", Path, read=outside_of),
    pairs=Option("With an embedding: a bundled axis or a TOML file of pairs.", default=None).over(PAIRS),
    contrast=Option("Two lists of a fit, such as math,arts; by default its two stereotype lists."),
    adjust=Option("frequency or length of words: relate words of equal frequency or length.", default=None),
    frequencies=SOURCES,
    seed=FRESH,
    out=TABLE,
)
def criterion(given: Given) -> Made:
    """Whether words whose place between two poles is larger have more of something outside."""
    values, se = given.outside
    relation = given.call(bb.criterion, post=given.source, values=values, se=se, stages=given.call(bb.checks.TwoStage))
    show(relation.table(given.prob), "Relation", whole="quantity")
    say(relation.text(given.prob))
    return Made(relation, relation.words)


@command(
    "axes:axis",
    "embedding=kv pairs words centre adjust frequencies case seed prob trust_pickle out picture report",
    pairs=PAIRS,
    words=Option(default=None).over(CHOSEN),
    centre=CENTRE,
    adjust=ADJUST,
    out=TABLE,
)
def axis(given: Given) -> Any:
    """Words between two poles, with intervals, and the pairs that do not belong to them."""
    with working("placing words"):
        placed = given.call(bb.axis)
    table = placed.table(given.prob)
    columns = ["word", "mean", "low", "high", "p_positive"]
    ends = table.iloc[[*range(MOST // 2), *range(-MOST // 2, 0)]] if len(table) > MOST else table
    whole = "" if len(table) <= MOST else f", the ends of {len(table):,} words"
    show(ends[columns], f"From {placed.ends[1]} (above 0) to {placed.ends[0]}{whole}", whole="word")
    if placed.paired and len(placed.poles.pairs) > 1:
        pairs = placed.pairs()[["negative", "positive", "agreement", "influence"]]
        show(pairs.head(8), "Pairs, least agreement first")
    say(placed.text(given.prob))
    return placed


@command(
    "axes:quadrants axes:axis",
    "embedding=kv axis=axis_ other traits population centre adjust frequencies case draws seed prob trust_pickle "
    "out picture report",
    axis=PAIRS,
    other=Option("The second axis, as the first.").over(PAIRS),
    population=Option("oppositions: errors of axes without a meaning; pairs: of further pairs of both oppositions."),
    centre=CENTRE,
    adjust=ADJUST,
    traits=Option("Words with commas between, or a bundled list or a TOML file.", names=("--traits",)).over(CHOSEN),
    out=TABLE,
)
def quadrants(given: Given) -> Any:
    """Words between two axes: the probability of each quadrant, and the cosine of the axes."""
    with working("placing words"):
        axes = [given.call(bb.axis, pairs=pairs, words=given.traits) for pairs in (given.axis_, given.other)]
        quarters = given.call(bb.quadrants, axis_=axes[0], other=axes[1])
    show(quarters.shares(), "Quadrants", whole="quadrant")
    say(quarters.text())
    say(bb.angle(axes[0], axes[1], prob=given.prob, seed=given.seed).text())
    return quarters


@command(
    "axes:intersections axes:axis",
    "embedding=kv pairs words=lists population adjust frequencies seed prob trust_pickle out report",
    pairs=PAIRS,
    words=Option(
        "Word lists with two factors, such as gender and race, whose levels divide the groups: a TOML file.",
        str,
        names=("--words",),
        load=lambda given, _: bb.load_words(given),
    ),
    population=Option("oppositions: errors of axes without a meaning; pairs: of further pairs of this opposition."),
    adjust=ADJUST,
    out=TABLE,
)
def intersections(given: Given) -> Any:
    """Whether the place of a group with two attributes is the sum of its parts."""
    with working("placing words"):
        on = given.call(bb.axis, words=[word for words in given.lists.protected.values() for word in words])
        effects = given.call(bb.intersections, axis=on, words=given.lists)
    show(effects.table(), "Differences from the mean over groups, and from the sum of the parts", whole="effect")
    say(effects.text())
    return effects


@command(
    "axes:audit",
    "embedding=kv groups level rope most_frequent prob seed trust_pickle out report picture",
    groups=Option(
        "A bundled axis ('bayesbias lists'), or a word list whose protected words are the groups; or a TOML file.",
        names=("--groups",),
        complete=bundled("axes", "word lists"),
    ),
    out=written("an audit", ".parquet", said="audit"),
)
def audit(given: Given) -> Any:
    """Which words of the vocabulary lean to one end of an axis or to a group, and how sure that is."""
    audited = given.call(bb.audit)
    called = audited.table()
    columns = ["word", "leans_to", "mean", "low", "high", "lfsr", "rank"]
    show(called.head(MOST)[columns], f"Words called: {min(len(called), MOST)} of {len(called):,}", whole="word")
    say(audited.text())
    return audited


@command(
    "sweeps:sweep",
    "plan=file out workers scheduler=executor retry",
    plan=Option("A TOML file: embeddings, words, tables, models, debiasing, seeds."),
    out=Option("The folder; a sweep that was stopped there goes on."),
    workers=Option(min=1),
    scheduler=Option("Address of a Dask scheduler, such as tcp://host:8786.", default=None),
)
def sweep(given: Given) -> None:
    """Many fits into one folder, resumed after a stop."""
    try:
        swept = given.call(bb.sweep, plan=given.file, executor=given.executor or "processes")
    except KeyboardInterrupt:
        say(f"what is finished is kept in {given.out}; the same command goes on")
        raise
    say(swept.text())
    say(f"contrasts written to {given.out / 'contrasts.parquet'}")
    if swept.fits["status"].eq("failed").any():
        raise typer.Exit(1)


@command(
    "multiverses:multiverse",
    "plan=file folder workers scheduler=executor retry prob out picture report",
    plan=Option("A TOML file: decisions with their options, such as embedding, words, contrast."),
    folder=Option("A folder that keeps what is measured; a run that was stopped goes on there.", Path, default=None),
    workers=Option("Processes that measure embeddings; by default this process alone.", min=1),
    scheduler=Option("Address of a Dask scheduler, such as tcp://host:8786.", default=None),
    out=written("a table", ".csv", said="specifications"),
)
def multiverse(given: Given) -> Made:
    """One contrast under every combination of decisions: which choice made the answer."""
    executor = given.executor or ("serial" if given.workers is None else "processes")
    with working("combining decisions"):
        found = given.call(bb.multiverse, plan=given.file, out=given.folder, executor=executor)
    show(found.spreads(given.prob), "Standard deviation of each decision's effects", whole="decision")
    say(found.text(given.prob))
    if given.folder is not None:
        say(f"what was measured is in {given.folder}")
    return Made(found, found.table(given.prob))


AUTO = "auto"
# options of debiasing methods that are words or directions, which come from files
BY_LIST = ("definitional", "sets", "groups", "subspace", "equalize", "neutralize", "ignore")


@command(
    "debiasing:debias",
    "embedding out method pairs words equalize ignore trust_pickle",
    more=True,
    out=Option("Embedding to write: .bin, .txt (word2vec) or .npz."),
    method=Option(complete=bundled("methods")),
    pairs=Option("Defining pairs: a bundled list such as gender_pairs, or a TOML file.", default=None),
    words=Option("Word lists whose groups, word by word, are the defining sets, such as religion.", default=None),
    equalize=Option("Pairs to equalise (hard): a list of pairs.", default=None),
    ignore=Option("Words to leave alone: a list of words.", default=None),
)
def debias(given: Given) -> None:
    """A debiased copy of an embedding. Options of the method follow as --name value, such as --components 2."""
    from bayesbias._files import check_target, home_folder
    from bayesbias.debiasing.registry import find_method
    from bayesbias.embeddings.formats import SUFFIXES
    from bayesbias.words import PairList

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
        ignored = bb.load_list(given.ignore)
        if isinstance(ignored, PairList):
            raise InputError(f"{given.ignore} is a list of pairs: a list of words is needed")
        options["ignore"] = list(ignored)
    kv = bb.load_embedding(given.embedding, trust_pickle=given.trust_pickle)
    with working("debiasing"):
        after = bb.debias(kv, given.method, **options)
    bb.save_embedding(after, given.out)
    say(str(after.bayesbias_debiasing))
    say(f"{len(after):,} vectors written to {given.out}")


@command(
    "comparison:compare",
    "embeddings=several words out picture report side_effects similarity model draws seed prob case trust_pickle",
    words=MEASURED,
    out=written("changes", ".csv", said="changes"),
    side_effects=Option("Look for side effects too; reads two embeddings whole.", default=False),
    similarity=Option("CSV of word, word, similarity for the side effects, with a header.", Path, None),
    model=Option("auto, or the model of changes."),
    seed=FRESH,
)
def compare(given: Given) -> Made:
    """What changed between embeddings: the same pairs of words in each."""
    from bayesbias.models.fits import checked_draws

    if given.picture is not None and len(given.several) > 2:
        raise InputError("a figure shows one change: give two embeddings, or --report for all")
    if len(given.several) < 2:
        raise InputError(f"given is {given.several[0]} alone: a comparison needs two embeddings or tables")
    if given.similarity is not None and not given.side_effects:
        raise InputError("--similarity is for the side effects: give --side-effects too")
    checked_draws(given.draws, 4)
    if given.model != AUTO:
        bb.load_model(given.model)
    pairs = None if given.similarity is None else _similarities(given.similarity)
    tables, vectors = measured(given.several, given.words, given.case, given.trust_pickle, given.side_effects)
    _show_coverages(tables)
    comparison = given.call(bb.compare, tables=tables)
    beside = None
    if given.side_effects:
        before, after = tables.values()
        seed = int(comparison.tree.attrs["seed"]) % 2**32
        settings: dict[str, Any] = {"similarity": pairs, "prob": given.prob, "seed": seed, "case": given.case}
        beside = bb.side_effects(before, after, vectors[0], vectors[1], comparison=comparison, **settings)
    show_changes(comparison, beside, given.prob)
    return Made(comparison, comparison.table(given.prob).assign(unit="cosine distance"), beside={"effects": beside})


def show_changes(comparison: Comparison, beside: SideEffects | None, prob: float) -> None:
    """A table of the headline, then sentences by part."""
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
    from bayesbias.distances.dataframe import coverage_of

    shown: list[object] = []
    for name, table in tables.items():
        record = coverage_of(table)
        if record is not None and (content := (record.lists, record.notes(table))) not in shown:
            shown.append(content)
            say(f"{name}: {len(table):,} distances")
            show_coverage(table)


def _similarities(path: Path) -> pd.DataFrame:
    import pandas as pd

    from bayesbias._files import home_folder

    file = home_folder(path)
    if not file.is_file():
        raise InputError(f"there is no file {file}")
    table = csv_table(path, keep_default_na=False)
    if len(table.columns) == 3 and not pd.isna(pd.to_numeric(table.columns[2], errors="coerce")):
        raise InputError(f"{path} begins with a pair, {', '.join(table.columns)}: put a header above it")
    if len(table.columns) != 3:
        raise InputError(f"{path} has {len(table.columns)} columns: three are needed, word, word and similarity")
    return table


def _defining(taken: Collection[str], pairs: str | None, words: str | None) -> dict[str, Any]:
    """The option of a method that holds its defining sets, or groups; none for a method that takes none of them."""
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
        lists = bb.load_words(str(words))
        lists.single_forms("debiasing")
        groups = {name: list(listed) for name, listed in lists.protected.items()}
        if len({len(listed) for listed in groups.values()}) > 1 and option != "groups":
            sizes = ", ".join(f"{name} {len(listed)}" for name, listed in groups.items())
            raise InputError(f"the groups of {words} have different numbers of words ({sizes}): give --pairs")
        sets = list(zip(*groups.values(), strict=False))
    return {option: groups if option == "groups" else sets}


def _pairs(name: str) -> tuple[tuple[str, str], ...]:
    from bayesbias.words import PairList

    listed = bb.load_list(name)
    if not isinstance(listed, PairList):
        raise InputError(f"{name} is a list of words: pairs are needed, such as gender_pairs")
    return listed.pairs
