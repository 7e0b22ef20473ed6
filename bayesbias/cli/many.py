"""Commands on axes, on debiasing, and on many embeddings."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

import bayesbias as bb
from bayesbias.cli import options, reading
from bayesbias.cli.options import bundled, choice, to_write
from bayesbias.cli.screen import (
    say,
    say_notes,
    show,
    show_changes,
    show_coverages,
    working,
    write_picture,
    write_report,
    write_table,
)
from bayesbias.errors import InputError, many

MOST = 20  # words of an audit or an axis that the screen shows
SHOWN = ["name", "estimate", "se", "mean", "low", "high", "rank", "p_closer"]
"""Columns that a terminal shows; the file has all."""
VECTORS = (".bin", ".txt", ".vec", ".npz")
Centres = Literal["vocabulary", "words", "none"]


def axis(
    embedding: options.Embedding,
    pairs: Annotated[
        str, Argument(help="A bundled axis or list of pairs, or a TOML file of pairs.", autocompletion=bundled("axes"))
    ],
    words: Annotated[
        str | None,
        Option(help="Words with commas between (one word: dog,), or a bundled list or a TOML file; by default all."),
    ] = None,
    centre: Annotated[
        Centres,
        choice("centre", Centres, help="0 is the mean over the vocabulary or words; none: as near to both poles."),
    ] = "vocabulary",
    adjust: Annotated[str | None, Option(help="frequency: take off what the frequency of words predicts.")] = None,
    frequencies: options.Frequencies = None,
    case: options.Case = "as-is",
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    trust_pickle: options.TrustPickle = False,
    out: options.Out = None,
    picture: options.Picture = None,
    report: options.ReportPath = None,
) -> None:
    """Words between two poles, with intervals, and the pairs that do not belong to them."""
    kv, chosen = reading.vectors(embedding, trust_pickle), reading.words_or_list(words)
    middle = None if centre == "none" else centre
    with working("placing words"):
        placed = bb.axis(
            kv, pairs, words=chosen, centre=middle, adjust=adjust, frequencies=frequencies, case=case, seed=seed
        )
    table = placed.table(prob)
    columns = ["word", "mean", "low", "high", "p_positive"]
    ends = table.iloc[[*range(MOST // 2), *range(-MOST // 2, 0)]] if len(table) > MOST else table
    whole = "" if len(table) <= MOST else f", the ends of {len(table):,} words"
    show(ends[columns], f"From {placed.ends[1]} (above 0) to {placed.ends[0]}{whole}", whole="word")
    if placed.paired and len(placed.poles.pairs) > 1:
        agreement = placed.pairs()[["negative", "positive", "agreement", "influence"]]
        show(agreement.head(8), "Pairs, least agreement first")
    say(placed.text(prob))
    write_table(table, out)
    write_picture(lambda: placed.figure(prob=prob), picture)
    write_report(placed, report, prob=prob)


def audit(
    embedding: options.Embedding,
    groups: Annotated[
        str,
        Option(
            help="A bundled axis ('bayesbias lists axes'), or a word list whose protected words are the groups; or a "
            "TOML file.",
            autocompletion=bundled("axes", "word lists"),
        ),
    ],
    level: Annotated[float, Option(help="Expected share of wrong or empty calls among the words called.")] = 0.05,
    rope: Annotated[
        float | None,
        Option(
            help="Places of no interest, in cosine distance; by default half of their standard deviation in a sample."
        ),
    ] = None,
    most_frequent: Annotated[
        int | None, Option(help="Only so many first words of a file that is ordered by frequency; by default all.")
    ] = None,
    prob: options.Prob = 0.89,
    seed: options.Seed = 0,
    trust_pickle: options.TrustPickle = False,
    out: Annotated[Path | None, to_write("an audit", ".parquet", help="An audit to write, .parquet.")] = None,
    report: options.ReportPath = None,
    picture: options.Picture = None,
) -> None:
    """Find the words of the vocabulary that lean to one end of an axis or to a group, and how sure that is."""
    kv = reading.vectors(embedding, trust_pickle)
    audited = bb.audit(kv, groups, level=level, rope=rope, prob=prob, most_frequent=most_frequent, seed=seed)
    called = audited.table()
    columns = ["word", "leans_to", "mean", "low", "high", "lfsr", "rank"]
    largest = f"The {min(len(called), MOST)} largest of {many(len(called), 'word')} called"
    show(called.head(MOST)[columns], largest if len(called) else "No word is called", whole="word")
    say(audited.text())
    if out is not None:
        audited.write(out)
        say(f"audit written to {out}")
    write_picture(audited.figure, picture)
    write_report(audited, report)


def criterion(
    source: Annotated[str, Argument(help="A fit, .nc; with --pairs an embedding: a bundled name or a file.")],
    values: Annotated[
        Path, Argument(parser=options.path, help="CSV of word, value and, where known, se, with a header.")
    ],
    pairs: Annotated[
        str | None,
        Option(help="With an embedding: a bundled axis or a TOML file of pairs.", autocompletion=bundled("axes")),
    ] = None,
    contrast: Annotated[
        str | None, Option(help="Two lists of a fit, such as math,arts; by default its two stereotype lists.")
    ] = None,
    adjust: Annotated[
        str | None, Option(help="frequency or length of words: relate words of equal frequency or length.")
    ] = None,
    frequencies: options.SourcesOfFrequencies = None,
    case: options.Case = "as-is",
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    trust_pickle: options.TrustPickle = False,
    out: options.Out = None,
    picture: options.Picture = None,
    report: options.ReportPath = None,
) -> None:
    """Relate outside values of words to their places between two poles."""
    from bayesbias._support.phrases import share

    value, se = reading.values_by_word(values)
    lists = reading.connections(contrast)
    if pairs is None and (source in bb.list_embeddings()["name"].tolist() or source.endswith(VECTORS)):
        raise InputError(f"{source} is an embedding: give --pairs, a bundled axis or a TOML file of pairs, too")
    if pairs is None:
        post: Any = bb.load_fit(source)
    else:
        post = bb.axis(reading.vectors(source, trust_pickle), pairs, value.index.tolist(), case=case)
    relation = bb.criterion(
        post,
        value,
        se=se,
        contrast=lists,
        adjust=adjust,
        frequencies=reading.frequencies_of(frequencies),
        seed=seed,
    )
    table = relation.table(prob)
    said = table.assign(p_positive=table["p_positive"].map(share, na_action="ignore"))
    show(said, table.attrs["subject"], whole="quantity")
    say(relation.text(prob))
    write_table(relation.words, out)
    write_picture(lambda: relation.figure(prob=prob), picture)
    write_report(relation, report, prob=prob)


def pool(
    embeddings: options.EmbeddingsOrTables,
    words: options.MeasuredWords = None,
    contrast: options.Contrast = None,
    on: Annotated[
        Path | None, Option(parser=options.path, help="CSV of outside variables: name, and one column each.")
    ] = None,
    group: Annotated[list[str] | None, Option(help="NAME=GROUP of an embedding; once for each.")] = None,
    replicate: Annotated[list[str] | None, Option(help="NAME=SETTING of a training; once for each.")] = None,
    weights: options.Weights = "equal",
    standardise: options.Standardise = False,
    adjust: options.AdjustBefore = None,
    frequencies: options.SourcesOfFrequencies = None,
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    case: options.Case = "as-is",
    trust_pickle: options.TrustPickle = False,
    out: options.Out = None,
    picture: options.Picture = None,
    report: options.ReportPath = None,
) -> None:
    """One contrast in many embeddings, partially pooled, and its relation to something outside."""
    from bayesbias._support.files import csv_table

    outside = None if on is None else csv_table(on)
    groups, replicates = reading.named_values("--group", group), reading.named_values("--replicate", replicate)
    lists = reading.connections(contrast)
    tables, _ = reading.distance_tables(embeddings, words, case, trust_pickle)
    with working("pooling"):
        pooled = bb.pool(
            tables,
            contrast=lists,
            on=outside,
            groups=groups,
            replicates=replicates,
            standardise=standardise,
            weights=weights,
            adjust=adjust,
            frequencies=reading.frequencies_of(frequencies),
            seed=seed,
        )
    show(pooled.table(prob)[SHOWN], "Embeddings", whole="name")
    say(pooled.text(prob))
    write_table(pooled.table(prob), out)
    write_picture(lambda: pooled.figure(prob=prob), picture)
    write_report(pooled, report, prob=prob)


def compare(
    embeddings: options.EmbeddingsOrTables,
    words: options.MeasuredWords = None,
    out: Annotated[Path | None, to_write("changes", ".csv", help="Changes to write, .csv.")] = None,
    picture: options.Picture = None,
    report: options.ReportPath = None,
    side_effects: Annotated[bool, Option(help="Look for side effects; reads two embeddings whole.")] = False,
    similarity: Annotated[
        Path | None,
        Option(parser=options.path, help="CSV of word, word, similarity for the side effects, with a header."),
    ] = None,
    model: Annotated[str, Option(help="auto, or the model of changes.", autocompletion=bundled("models"))] = "auto",
    draws: options.Draws = 4000,
    seed: options.Seed = 0,
    prob: options.Prob = 0.89,
    case: options.Case = "as-is",
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Compare embeddings: the same pairs of words in each."""
    from bayesbias.comparison.effects import similarities
    from bayesbias.models.fits import checked_draws

    if picture is not None and len(embeddings) > 2:
        raise InputError("a figure shows one change: give two embeddings, or --report for all")
    if len(embeddings) < 2:
        raise InputError(f"given is {embeddings[0]} alone: a comparison needs two embeddings or tables")
    if similarity is not None and not side_effects:
        raise InputError("--similarity is for the side effects: give --side-effects too")
    checked_draws(draws, 4)
    if model != "auto":
        bb.load_model(model)
    scores = None if similarity is None else similarities(similarity)
    tables, kvs = reading.distance_tables(embeddings, words, case, trust_pickle, whole=side_effects)
    show_coverages(tables)
    comparison = bb.compare(tables, model=model, draws=draws, seed=seed, case=case)
    beside = None
    if side_effects:
        beside = bb.side_effects(
            kvs[0],
            kvs[1],
            comparison,
            similarity=scores,
            prob=prob,
            seed=int(comparison.tree.attrs["seed"]) % 2**32,
            case=case,
        )
    show_changes(comparison, beside, prob)
    write_table(comparison.table(prob).assign(unit="cosine distance"), out)
    write_picture(lambda: comparison.figure(prob=prob), picture)
    write_report(comparison, report, prob=prob, effects=beside)


def documents(
    corpus: Annotated[
        str,
        Argument(
            help="Documents with covariates (.jsonl, .csv, .tsv, .parquet), or a data set such as sotu-addresses.",
            autocompletion=bundled("datasets"),
        ),
    ],
    embedding: Annotated[
        str, Option(help="A bundled name or the path of a file.", autocompletion=bundled("embeddings"))
    ],
    formula: Annotated[str, Option(help="Covariates, such as 'party + year'.")],
    targets: Annotated[
        str | None, Option(help="Words with commas between; by default the protected words of --association.")
    ] = None,
    clusters: Annotated[
        str | None, Option(help="The column that says who speaks; by default nobody speaks twice.")
    ] = None,
    contrast: Annotated[
        str | None, Option(help="Two lists with a colon between, such as family:career or home,house:job,office.")
    ] = None,
    axis: Annotated[
        str | None,
        Option(help="In place of a contrast: a bundled axis or a TOML file.", autocompletion=bundled("axes")),
    ] = None,
    association: Annotated[
        str | None,
        Option(
            help="In place of a contrast: word lists, whose groups of words are compared by their own stereotypes.",
            autocompletion=bundled("word lists"),
        ),
    ] = None,
    transform_from: Annotated[
        Path | None,
        Option(parser=options.path, help="The transform.npz of another folder, in place of estimating a transform."),
    ] = None,
    text: Annotated[str, Option(help="The column of texts.")] = "text",
    window: Annotated[int, Option(min=1, help="Words on either side of an instance.")] = 6,
    prob: options.Prob = 0.89,
    trust_pickle: options.TrustPickle = False,
    out: Annotated[
        Path | None,
        Option("--out", "-o", parser=options.path, help="Folder for a table, the transform, figures and reports."),
    ] = None,
) -> None:
    """Relate words in documents to who says them: differences by party, author or year."""
    import numpy as np
    import pandas as pd

    from bayesbias._support.files import whole_file
    from bayesbias.cli.example import made_folder

    lists = None if contrast is None else [reading.words_or_list(part) or [] for part in contrast.split(":")]
    if sum(each is not None for each in (lists, axis, association)) != 1 or (lists is not None and len(lists) != 2):
        raise InputError("give one of --contrast with two lists, such as family:career, --axis and --association")
    groups = None if association is None else bb.load_words(association)
    words = groups if targets is None else [word.strip() for word in targets.split(",") if word.strip()]
    if words is None:
        raise InputError("give --targets, the words whose vectors are related to the covariates")
    transform = None if transform_from is None else reading.transform_of(transform_from)
    kv = bb.load_embedding(embedding, trust_pickle=trust_pickle)
    texts = bb.datasets.load_dataset(corpus) if corpus in options.BUNDLED["datasets"]() else corpus
    with working("reading documents"):
        sample = bb.instances(texts, words, kv, transform=transform, window=window, text=text, clusters=clusters)
    by = bb.covariates(sample, formula)
    if groups is not None:
        results = [by.association(groups)]
    elif lists is not None:
        results = [by.contrast(lists[0], lists[1], word) for word in sample.targets]
    else:
        results = [by.axis(axis, word) for word in sample.targets]
    for result in results:
        say(" ".join(result.findings(prob)))
    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    if out is None:
        say("With --out DIR: a table, the transform, figures and reports.")
        return
    folder = made_folder(out)
    tables = [result.table(prob).assign(target=result.target) for result in results]
    write_table(pd.concat(tables), folder / "differences.csv")
    with whole_file(folder / "transform.npz") as file:
        np.savez(file, transform=np.asarray(sample.transform))
    for result in results:
        page = folder / f"{re.sub(r'[^\w-]+', '-', result.target)}.html"
        write_picture(partial(result.figure, prob=prob), page.with_suffix(".png"))
        write_report(result, page, prob=prob)


def debias(
    context: typer.Context,
    embedding: options.Embedding,
    out: Annotated[
        Path,
        to_write(
            "an embedding",
            *VECTORS,
            help="Embedding to write: .npz, which keeps the record of the debiasing, .bin or .txt (word2vec).",
        ),
    ],
    method: Annotated[
        str,
        Option(help=f"{', '.join(options.METHODS)}, or a method of a plugin.", autocompletion=bundled("methods")),
    ] = "hard",
    definitional: Annotated[
        str | None, Option(help="Defining pairs: gender_pairs, an axis such as affluence, or a TOML file.")
    ] = None,
    words: Annotated[str | None, Option(help="Word lists whose groups, word by word, are the defining sets.")] = None,
    equalize: Annotated[str | None, Option(help="Pairs to equalise (hard): a list of pairs or an axis.")] = None,
    ignore: Annotated[str | None, Option(help="Words to leave alone: a list of words.")] = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """A debiased copy of an embedding. Options of the method follow as --name value, such as --components 2."""
    from bayesbias._support.files import home_folder
    from bayesbias.vectors.debiasing.registry import find_method
    from bayesbias.vectors.poles import pairs_of

    source = home_folder(embedding)
    if out.exists() and source.exists() and out.samefile(source):
        raise InputError(f"{out} is the embedding itself, which the result would replace: give another file")
    accepted = find_method(method).options
    chosen = _defining(accepted, definitional, words)
    # options that are words or directions come from files
    of_files = {"definitional", "subspace", "equalize", "neutralize", "ignore"}
    others, extra = reading.extra_options(context.args, [name for name in accepted if name not in of_files], method)
    if others:
        raise InputError(f"one embedding is debiased at a time, and {others[0]} is given too")
    chosen |= extra
    if equalize is not None:
        chosen["equalize"] = pairs_of(equalize, "--equalize")
    if ignore is not None:
        chosen["ignore"] = _words(ignore)
    kv = bb.load_embedding(embedding, trust_pickle=trust_pickle)
    with working("debiasing"):
        after = bb.debias(kv, method, **chosen)
    bb.save_embedding(after, out)
    say(str(after.bayesbias_debiasing))
    say(f"{len(after):,} vectors written to {out}")


def _defining(taken: Collection[str], definitional: str | None, words: str | None) -> dict[str, Any]:
    """The option of a method that holds its defining pairs, or groups; none for a method that takes none."""
    from bayesbias.vectors.poles import pairs_of

    if "definitional" not in taken:
        if definitional is not None or words is not None:
            raise InputError("this method takes no defining words: leave --definitional and --words out")
        return {}
    if (definitional is None) == (words is None):
        raise InputError("the defining words are needed: give --definitional or --words, one of the two")
    if definitional is not None:
        return {"definitional": pairs_of(definitional, "--definitional")}
    lists = bb.load_words(str(words))
    lists.single_forms("debiasing")
    return {"definitional": {name: list(listed) for name, listed in lists.protected.items()}}


def _words(name: str) -> list[str]:
    """The words of a list of words."""
    from bayesbias.words import PairList

    listed = bb.load_list(name)
    if isinstance(listed, PairList):
        raise InputError(f"{name} is a list of pairs: a list of words is needed")
    return list(listed)
