"""Commands on one embedding, distance table or fit, and on metrics, silhouettes and reliability."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

import bayesbias as bb
from bayesbias.cli import options
from bayesbias.cli.options import bundled, choice, to_write
from bayesbias.cli.reading import benchmarks, embeddings_by_name, extra_options, lists_after, vectors
from bayesbias.cli.screen import (
    as_commands,
    say,
    say_notes,
    show,
    show_checks,
    show_contrasts,
    show_coverage,
    write_picture,
    write_report,
    write_table,
)
from bayesbias.errors import InputError, many

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.metrics import Query

Aggregates = Literal["mean", "median", "max"]
Kinds = Literal["topical", "random"]
Missing = Literal["drop", "error"]
Published = Literal["published"]
Sizes = Literal["trimmed", "saturate"]
Varied = Literal["both", "targets", "attributes"]
RANKED = ["weat", "weat_effect_size", "rnd", "rnsb"]
SCORED = ["db_wa", "ripa", "nbm"]
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
    from bayesbias.cli.example import answer
    from bayesbias.models.tree import Fit

    measured = bb.read_distance_table(table, keep_duplicates=keep_duplicates)
    post = bb.fit(measured, model=model, engine=engine, draws=draws, seed=seed, adjust=adjust, frequencies=frequencies)
    bb.save_fit(post, out)
    for paragraph in answer(Fit.read(post), None):
        say(paragraph)
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


def contrasts(
    fit: options.FitPath,
    first: options.First = "associated",
    second: options.Second = None,
    prob: options.Prob = 0.89,
    rope: Annotated[
        float | None, Option(help="Half width of the region of practical equivalence, in cosine distance.")
    ] = None,
    population: Annotated[
        str, Option(help="The words that the row of the whole list speaks about: given, or similar ones.")
    ] = "given",
    by: Annotated[
        str,
        Option(help="protected_word, or group: means over the words of each group, and differences of groups."),
    ] = "protected_word",
    rows: Annotated[str | None, Option(help="Rows of words: pooled, association or difference.")] = None,
    out: options.Out = None,
) -> None:
    """Contrast two kinds of attribute words: how much closer one is than the other."""
    from bayesbias.contrast import decomposable_controls, decomposition_sentence
    from bayesbias.models.tree import Fit

    post = bb.load_fit(fit)
    table = bb.contrasts(
        post, first=first, second=second, prob=prob, rope=rope, population=population, by=by, rows=rows
    )
    show_contrasts(table)
    controls = decomposable_controls(Fit(post)) if first == "associated" else []
    if controls:
        control = second if second in controls else controls[0]
        say(f"  {decomposition_sentence(bb.decomposition(post, second=control, prob=prob, population=population))}")
    say(as_commands(str(bb.diagnose(post))))
    write_table(table, out)


def report(
    fit: options.FitPath,
    out: Annotated[Path, to_write("a report", *options.PAGES, help="A report to write, .html or .htm or .md.")],
    prob: Annotated[float | None, Option(callback=options.mass, help="Posterior mass; by default 0.89.")] = None,
    sensitivity: Annotated[
        bool,
        Option(help="Tell how much the answer depends on the model, by refits."),
    ] = True,
    pictures: Annotated[Path | None, Option(parser=options.path, help="Folder for the figures as .png too.")] = None,
) -> None:
    """Write a report on a fit: one HTML file, or Markdown."""
    write_report(bb.load_fit(fit), out, prob=prob, sensitivity=sensitivity, pictures=pictures)


def topics(
    embedding: options.Embedding,
    words: Annotated[
        str,
        Argument(help="A word list or query, bundled or a TOML file.", autocompletion=bundled("word lists", "queries")),
    ],
    metric: Annotated[
        str | None, Option(help="A metric, not the contrasts.", autocompletion=bundled("metrics"))
    ] = None,
    replicates: Annotated[int, Option(min=1, help="How many random word lists to draw.")] = 1000,
    kind: Annotated[Kinds, choice("kind", Kinds, help="How words of random lists belong together.")] = "topical",
    seed: options.Seed = 0,
    out: options.OutPicture = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Compare a contrast with that of random topics of the vocabulary in place of the word lists."""
    kv = vectors(embedding, trust_pickle)
    null = bb.topic_null(kv, words, metric=metric, replicates=replicates, seed=seed, kind=kind)
    say(null.sentence)
    say_notes(null.notes)
    show(null.table(), "Observed values among those of random lists")
    write_picture(null.figure, out)


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
    report: options.ReportPath = None,
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
    write_report(scores, report)


def rank(
    embeddings: options.Embeddings,
    query: options.Queries = None,
    words: options.QueryWords = None,
    metric: options.Metrics = RANKED,
    aggregate: Annotated[Aggregates, choice("aggregate", Aggregates, help="Of the distances over queries.")] = "mean",
    draws: Annotated[int, Option(min=0, help="Bootstrap draws of words; 0 for none.")] = 500,
    seed: options.Seed = 0,
    replicates: Annotated[int, Option(min=0, help="Random topics, from whole embeddings; 0 for none.")] = 100,
    outside: Annotated[
        Path | None,
        Option(parser=options.path, help="A .csv of embedding and columns of benchmarks, larger is better."),
    ] = None,
    max_missing: options.MaxMissing = 0.2,
    case: options.Case = "as-is",
    normalise: options.Normalise = True,
    twins: options.Twins = "once",
    trust_pickle: options.TrustPickle = False,
    out: Annotated[Path | None, to_write("a ranking", ".csv", help="A ranking to write, .csv.")] = None,
    picture: options.Picture = None,
) -> None:
    """Embeddings from least to most biased, and how sure that order is."""
    beside = None if outside is None else benchmarks(outside)
    queries, chosen = _queries(query, words), metric or RANKED
    kvs = _embeddings_of(embeddings, queries, chosen, case, trust_pickle, topics=replicates > 0)
    ranking = bb.rank(
        kvs,
        queries,
        metrics=chosen,
        aggregate=aggregate,
        draws=draws,
        seed=seed,
        replicates=replicates,
        outside=beside,
        max_missing=max_missing,
        case=case,
        normalise=normalise,
        twins=twins,
    )
    show(ranking.ranks.map("{:g}".format).rename_axis("embedding").reset_index(), "Ranks (1: least biased)")
    if draws:
        shares = ranking.table().drop(columns=["score", "rank"])
        show(shares.rename(columns=lambda name: str(name).removeprefix("rank ")), "Probability of each rank")
    say_notes((*ranking.sentences, *ranking.notes))
    write_table(ranking.table(), out)
    write_picture(ranking.figure, picture)


def silhouette(
    embeddings: Annotated[
        list[str],
        Argument(
            help="Bundled names or paths; of two the first is held to be biased, the second not.",
            autocompletion=bundled("embeddings"),
        ),
    ],
    query: options.Queries = None,
    words: options.QueryWords = None,
    metric: Annotated[
        list[str] | None,
        Option(
            help="weat, ect, rnsb, another metric with a known range, or crossed; several times.",
            autocompletion=bundled("metrics"),
        ),
    ] = None,
    vary: Annotated[Varied, choice("vary", Varied, help="The lists that grow.")] = "both",
    runs: Annotated[int, Option(min=1, help="How many random orders.")] = 100,
    step: Annotated[
        int | None, Option(min=1, help="Words over all lists by which they grow; by default 2 targets, 6 attributes.")
    ] = None,
    sizes: Annotated[
        Sizes,
        choice(
            "sizes",
            Sizes,
            help="trimmed first cuts all lists of a kind to the shortest; saturate grows each by as many words until "
            "it is used up.",
        ),
    ] = "trimmed",
    seed: options.Seed = 0,
    compat: Annotated[
        Published | None, choice("compat", Published, help="The study's seeds of orders, and its range of RNSB.")
    ] = None,
    twins: options.Twins = "once",
    trust_pickle: options.TrustPickle = False,
    out: options.Out = None,
    picture: options.Picture = None,
) -> None:
    """Measure how a metric depends on the words listed: bias silhouettes, their robustness and accuracy."""
    from bayesbias.baselines.silhouettes.studies import SCORES, STUDIED, VARIED, follow_study, scores_of, values_of

    queries = _queries(query, words)
    kvs = embeddings_by_name(embeddings, trust_pickle)
    varied = VARIED if vary == "both" else (vary,)
    parts, notes = follow_study(
        kvs,
        queries,
        metric or STUDIED,
        runs=runs,
        step=step,
        sizes=sizes,
        seed=seed,
        compat=compat,
        varied=varied,
        twins=twins,
    )
    scores = scores_of(parts, compat)
    columns = scores.drop(columns=[name for name in SCORES if scores[name].isna().all()])
    show(columns.drop(columns=[] if len(queries) > 1 else "query"), f"Silhouettes of {runs} runs")
    say_notes(notes)
    write_table(values_of(parts), out)
    write_picture(lambda: bb.plots.plot_silhouette([part.silhouettes for part in parts]), picture)


def reliability(
    embeddings: Annotated[
        list[str], Argument(help="Trained in the same way but for their seed.", autocompletion=bundled("embeddings"))
    ],
    targets: Annotated[str, Option(help="Words to score: a list ('bayesbias lists') or a file.")] = "occ16",
    pairs: Annotated[str, Option(help="Pairs: a list ('bayesbias lists') or a TOML file.")] = "gender_pairs",
    query: Annotated[list[str] | None, Option(help="A list that should measure one thing; several times.")] = None,
    measure: Annotated[list[str], Option(help="db_wa, ripa or nbm; several times.")] = SCORED,
    neighbours: Annotated[int, Option(min=1, help="Nearest neighbours that NBM looks at.")] = 100,
    draws: options.Draws = 4000,
    seed: options.Seed = 0,
    twins: options.Twins = "once",
    trust_pickle: options.TrustPickle = False,
    out: options.Out = None,
    picture: options.Picture = None,
) -> None:
    """Measure the agreement of bias scores over seeds, measures, words and pairs, and how many pairs are enough."""
    from bayesbias.baselines.reliability.consistency import coefficients_of
    from bayesbias.words import words_given

    queries = {name: words_given(name, "query") for name in query or []}
    every = [*words_given(targets, "targets"), *(word for listed in queries.values() for word in listed)]
    kvs = list(embeddings_by_name(embeddings, trust_pickle).values())
    words = list(dict.fromkeys(every))
    scores = bb.reliability.bias_scores(kvs, words, pairs=pairs, measures=measure, neighbours=neighbours, twins=twins)
    for note in scores.attrs["notes"]:
        say(note)
    coefficients = coefficients_of(scores, queries)
    say_notes(coefficients.notes)
    show(
        coefficients.brief(),
        f"Reliability of {many(scores.sizes['target'], 'word')}, {many(scores.sizes['base_pair'], 'base pair')}",
    )
    components = bb.reliability.variance_components(scores, draws=draws, seed=seed)
    shares = components.table().sort_values("share", ascending=False).head(6)
    show(shares[["component", "share", "share_low", "share_high"]], "What the scores vary with (89% intervals)")
    say_notes(note for note in components.notes if note not in scores.attrs["notes"])
    say_notes(components.findings()[1:])
    write_table(coefficients.table(), out)
    write_picture(coefficients.figure, picture)


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
    topics: bool = False,
) -> dict[str, KeyedVectors]:
    """Name to embedding: of the words asked for, or whole where a metric or random topics need the vocabulary."""
    from bayesbias.metrics.catalogue import find_metric
    from bayesbias.vectors import spellings

    whole = topics or any(find_metric(name).space for name in metrics)
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
