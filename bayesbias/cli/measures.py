"""Commands on one embedding, distance table or fit, on metrics, and on changes between embeddings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

import bayesbias as bb
from bayesbias.cli import options, reading
from bayesbias.cli.options import bundled, choice, to_write
from bayesbias.cli.reading import embeddings_by_name, extra_options, lists_after
from bayesbias.cli.screen import (
    say,
    say_notes,
    show,
    show_checks,
    show_coverage,
    show_coverages,
    write_picture,
    write_report,
    write_table,
)
from bayesbias.errors import InputError, many

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.metrics import Query

Missing = Literal["drop", "error"]
TESTED = ("weat", "weat_effect_size")


def distances(
    embedding: options.Embedding,
    words: options.Words,
    out: Annotated[Path, to_write("a distance table", *options.TABLES, help="A distance table, .csv or .parquet.")],
    case: options.Case = "as-is",
    keep_duplicates: Annotated[bool, Option(help="Count a pair as often as it is listed.")] = False,
    relatedness: Annotated[bool, Option(help="Estimate the covariance from all words; takes longer.")] = True,
    twins: options.Twins = "once",
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Cosine distances between protected words and attribute words."""
    from bayesbias.vectors import spellings

    listed = lists_after(embedding, words)
    # spellings other than those of the lists have ranks that the file's sample would not follow
    part = listed if case == "as-is" else None
    wanted = part if relatedness else spellings(listed.every_word(), case, listed.language)
    kv = bb.load_embedding(embedding, wanted, trust_pickle)
    table = bb.distance_table(
        kv, listed, keep_duplicates=keep_duplicates, case=case, relatedness=relatedness, twins=twins
    )
    bb.write_distance_table(table, out)
    show_coverage(table)
    say(f"{many(len(table), 'distance')} written to {out}")


def fit(
    table: options.TablePath,
    out: Annotated[Path, to_write("a fit", ".nc", help="A fit to write, .nc.")],
    model: options.Model = "auto",
    engine: Annotated[
        str,
        Option(
            help="auto takes the fastest that is exact for the model; exact (independent draws by quadrature), "
            "marginal (crossed models: importance sampling of the scales, all else exact) or nuts (PyMC)."
        ),
    ] = "auto",
    draws: options.Draws = 4000,
    seed: options.Seed = 0,
    keep_duplicates: Annotated[bool | None, Option(help="Count repeated rows; by default as written.")] = None,
    adjust: options.AdjustBefore = None,
    frequencies: options.Frequencies = None,
    verbose: Annotated[
        bool, Option("--verbose", help="Show coverage, checks and what adjustment changed too.")
    ] = False,
) -> None:
    """Fit a model to a distance table."""
    measured = bb.read_distance_table(table, keep_duplicates=keep_duplicates)
    post = bb.fit(measured, model=model, engine=engine, draws=draws, seed=seed, adjust=adjust, frequencies=frequencies)
    bb.save_fit(post, out)
    say(str(bb.summary(post)))
    if verbose:
        show_coverage(measured)
        show_checks(post)
    if verbose and adjust is not None:
        from bayesbias.contrast import adjustment

        show(adjustment(post).round(3), "Contrasts before and after")
    say(f"fit of model {post.attrs['model']} (seed {post.attrs['seed']}) written to {out}")
    say(f"Next: bayesbias report {out} -o report.html, or bayesbias diagnose {out}")


def diagnose(fit: options.FitPath, out: options.Out = None) -> None:
    """Check a fit: its convergence, its predictions, and what limits its answers."""
    post = bb.load_fit(fit)
    write_table(show_checks(post).table(), out)


def report(
    fit: options.FitPath,
    out: Annotated[Path, to_write("a report", *options.PAGES, help="A report to write, .html.")],
    prob: options.Prob = 0.89,
) -> None:
    """Write a report on a fit: one HTML file."""
    write_report(bb.summary(bb.load_fit(fit), prob=prob), out)


def metrics(
    embeddings: options.Embeddings,
    query: options.Queries = None,
    words: options.QueryWords = None,
    metric: options.Metrics = None,
    p_value: Annotated[bool, Option(help="Permutation test of WEAT.")] = False,
    alternative: Annotated[str, Option(help="Of the test: two-sided, greater or less.")] = "two-sided",
    permutations: Annotated[int, Option(min=1, help="Random ones where a million do not hold all.")] = 10_000,
    seed: options.Seed = 0,
    max_missing: options.MaxMissing = 0.2,
    on_missing: Annotated[Missing, choice("on_missing", Missing, help="Words that the embedding lacks.")] = "drop",
    compat: Annotated[
        str | None,
        Option(
            help="wefe gives the number of WEFE 1.0.1 where ours differs: repeated words count as lost, pairs shift "
            "past a missing word, rnsb holds out a fifth of the words and stops at its solver's tolerance."
        ),
    ] = None,
    case: options.Case = "as-is",
    normalise: options.Normalise = False,
    twins: options.Twins = "once",
    trust_pickle: options.TrustPickle = False,
    out: Annotated[Path | None, to_write("a table of metrics", ".csv", help="A table to write, .csv.")] = None,
) -> None:
    """Classic bias metrics of embeddings: WEAT, RND, RNSB, MAC, ECT and others.

    Options of metrics follow as --name value, such as --distance cos of rnd.
    """
    from bayesbias.metrics.catalogue import find_metric

    queries = _queries(query, words)
    chosen = _chosen(metric, queries)
    if p_value and not set(chosen) & set(TESTED):
        raise InputError(f"--p-value is the permutation test of WEAT: give --metric {' or '.join(TESTED)} too")
    test = {"p_value": p_value, "alternative": alternative, "permutations": permutations, "seed": seed}
    own = {name: [option for option in find_metric(name).options if option not in test] for name in chosen}
    valid = list(dict.fromkeys(option for options in own.values() for option in options))
    named, extra = extra_options(embeddings, valid, " and ".join(chosen))
    with_options = {}
    for name in chosen:
        own_options = {key: value for key, value in extra.items() if key in own[name]}
        with_options[name] = (name, own_options | (test if p_value and name in TESTED else {}))
    kvs = _embeddings_of(named, queries, chosen, case, trust_pickle)
    scores = bb.run_metrics(
        kvs,
        queries,
        metrics=with_options,
        on_missing=on_missing,
        max_missing=max_missing,
        case=case,
        normalise=normalise,
        compat=compat,
        twins=twins,
    )
    for (where, groups), rows in scores.groupby(["embedding", "query"], sort=False):
        show(_shown(rows), f"{groups} in {where}")
    say_notes(scores.attrs["notes"])
    write_table(scores, out)


def _queries(names: list[str] | None, words: list[str] | None) -> dict[str, Query]:
    """Name to query, of bundled queries or files and of word lists."""
    from bayesbias.metrics.batch import named_queries

    queries = [bb.load_query(name) for name in names or []]
    queries += [bb.Query.from_words(bb.load_words(name)) for name in words or []]
    if not queries:
        raise InputError(
            "nothing is asked: give --query (see 'bayesbias lists queries') or --words (see 'bayesbias lists')"
        )
    return named_queries(queries)


def _chosen(names: list[str] | None, queries: Mapping[str, Query]) -> list[str]:
    """The metrics that were named, or those that need no pairs and for which every query has enough sets."""
    from bayesbias.metrics.batch import usual_metrics

    if names:
        return list(dict.fromkeys(names))
    usual, too_few = usual_metrics(queries.values())
    if too_few:
        say(f"left out, since a query has too few sets: {', '.join(too_few)}")
    return usual


def _embeddings_of(
    arguments: list[str],
    queries: Mapping[str, Query],
    metrics: Collection[str],
    case: str,
    trust_pickle: bool,
) -> dict[str, KeyedVectors]:
    """Name to embedding: of the words asked for, or whole where a metric needs the vocabulary."""
    from bayesbias.metrics.catalogue import find_metric
    from bayesbias.vectors import spellings

    whole = any(find_metric(name).space for name in metrics)
    words = [
        form
        for query in queries.values()
        for listed in query.sets.values()
        for form in spellings(listed, case, query.language)
    ]
    return embeddings_by_name(arguments, trust_pickle, None if whole else words)


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one embedding and query, without what is empty."""
    table = rows[["metric", "subquery", "value", "p_value", "optimum", "found", "missing", "reason"]]
    table = table.rename(columns={"subquery": "sets", "optimum": "no bias", "found": "words"})
    table["p_value"] = [f"{p:.3g}" if p == p else None for p in rows["p_value"]]
    empty = [column for column in ("sets", "p_value", "reason") if table[column].isna().all()]
    return table.drop(columns=empty)


def compare(
    embeddings: options.EmbeddingsOrTables,
    words: options.MeasuredWords = None,
    out: Annotated[Path | None, to_write("changes", ".csv", help="Changes to write, .csv.")] = None,
    picture: options.Picture = None,
    report: options.ReportPath = None,
    side_effects: Annotated[bool, Option(help="Look for side effects; reads two embeddings whole.")] = False,
    similarity: Annotated[
        Path | None,
        Option(parser=options.path, help="Table of word, word, similarity for the side effects."),
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
    shown = [replace(comparison, prob=prob), *([] if beside is None else [beside])]
    for each in shown:
        say(str(each))
    write_table(comparison.table(prob).assign(unit="cosine distance"), out)
    write_picture(lambda: comparison.figure(prob=prob), picture)
    write_report(shown, report)
