"""The commands of the classic metrics: queries, values of embeddings, ranks of embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias._files import check_target
from bayesbias.cli.arguments import csv_table, names_of

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.metrics import Query

TESTED = ("weat", "weat_effect_size")

Embeddings = Annotated[list[str], typer.Argument(help="Bundled names or paths of embedding files.")]
Queries = Annotated[
    list[str] | None,
    typer.Option("--query", help="A bundled query ('bayesbias queries') or a TOML file; several times for several."),
]
Words = Annotated[
    list[str] | None, typer.Option("--words", help="Word lists as a query: groups against their stereotypes.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", help="A metric; several times for several. By default those that need no pairs."),
]
MaxMissing = Annotated[float, typer.Option(help="Share of a set's words that may be missing.")]
Case = Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")]
Normalize = Annotated[bool, typer.Option("--normalize", help="Scale vectors to length 1 first.")]
TrustPickle = Annotated[bool, typer.Option(help="Open a pickle; that runs the code in it.")]


def queries() -> None:
    """The bundled queries of classic metrics."""
    from bayesbias.cli.screen import show
    from bayesbias.metrics import list_queries

    listed = list_queries()
    for column in ("targets", "attributes"):
        listed[column] = [", ".join(f"{name} ({size})" for name, size in sets.items()) for sets in listed[column]]
    show(listed[["name", "targets", "attributes", "description"]], "Queries", whole="name")


def metrics(
    embeddings: Embeddings,
    query: Queries = None,
    words: Words = None,
    metric: Metrics = None,
    p_value: Annotated[bool, typer.Option("--p-value", help="Permutation test of WEAT.")] = False,
    alternative: Annotated[str, typer.Option(help="Of the test: two-sided, greater or less.")] = "two-sided",
    permutations: Annotated[int, typer.Option(help="Random ones where a million do not hold all.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Of random permutations.", min=0)] = 0,
    max_missing: MaxMissing = 0.2,
    on_missing: Annotated[str, typer.Option(help="drop, or error: refuse missing words.")] = "drop",
    compat: Annotated[str | None, typer.Option(help="wefe: the numbers of WEFE 1.0.1.")] = None,
    case: Case = "as-is",
    normalize: Normalize = False,
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write them as .csv.")] = None,
) -> None:
    """Classic bias metrics of embeddings: WEAT, RND, RNSB, MAC, ECT and others."""
    from bayesbias.cli.screen import say, show
    from bayesbias.errors import InputError
    from bayesbias.metrics import run_metrics

    if out is not None:
        check_target(out, (".csv",), "a table of metrics")
    asked = asked_queries(query, words)
    chosen = _chosen(metric, asked)
    if p_value and not set(chosen) & set(TESTED):
        raise InputError(f"--p-value is the permutation test of WEAT: give --metric {' or '.join(TESTED)} too")
    test = {"p_value": True, "alternative": alternative, "permutations": permutations, "seed": seed}
    with_options: dict[str, Any] = {name: (name, test if p_value and name in TESTED else {}) for name in chosen}
    found = run_metrics(
        _loaded(embeddings, asked, chosen, case, trust_pickle),
        asked,
        with_options,
        on_missing=on_missing,  # type: ignore[arg-type]  # checked where it is used
        max_missing=max_missing,
        case=case,  # type: ignore[arg-type]  # checked where it is used
        normalize=normalize,
        compat=compat,
    )
    for (embedding, name), rows in found.groupby(["embedding", "query"], sort=False):
        show(_shown(rows), f"{name} in {embedding}")
    for note in found.attrs["notes"]:
        say(f"  {note}")
    if out is not None:
        write_table(found, out)


def rank(
    embeddings: Embeddings,
    query: Queries = None,
    words: Words = None,
    metric: Metrics = None,
    aggregate: Annotated[
        str, typer.Option(help="Over queries: mean, median or max of distances from no bias.")
    ] = "mean",
    draws: Annotated[int, typer.Option(help="Bootstrap draws of words; 0 for none.", min=0)] = 500,
    seed: Annotated[int, typer.Option(help="Of the draws.", min=0)] = 0,
    outside: Annotated[
        Path | None, typer.Option(help="A .csv with the column embedding and columns of benchmarks, larger is better.")
    ] = None,
    max_missing: MaxMissing = 0.2,
    case: Case = "as-is",
    normalize: Normalize = False,
    trust_pickle: TrustPickle = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the ranking, .png.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write it as .csv.")] = None,
) -> None:
    """Embeddings from least to most biased, and how sure that order is."""
    from bayesbias._files import whole_file
    from bayesbias.cli.screen import say, show
    from bayesbias.comparison import rank as rank_embeddings
    from bayesbias.comparison.ranking import METRICS
    from bayesbias.plots import plot_ranking

    for path, suffix, what in ((out, ".csv", "a ranking"), (picture, ".png", "a picture")):
        if path is not None:
            check_target(path, (suffix,), what)
    asked = asked_queries(query, words)
    chosen = metric or list(METRICS)
    benchmarks = None if outside is None else _benchmarks(outside)
    found = rank_embeddings(
        _loaded(embeddings, asked, chosen, case, trust_pickle),
        asked,
        chosen,
        aggregate=aggregate,  # type: ignore[arg-type]  # checked where it is used
        draws=draws,
        seed=seed,
        outside=benchmarks,
        max_missing=max_missing,
        case=case,  # type: ignore[arg-type]  # checked where it is used
        normalize=normalize,
    )
    show(found.ranks.map("{:g}".format).rename_axis("embedding").reset_index(), "Ranks (1: least biased)")
    if draws:
        shares = found.table.drop(columns=["score", "rank"])
        show(shares.rename(columns=lambda name: str(name).removeprefix("rank ")), "Probability of each rank")
    for sentence in (*found.sentences, *found.notes):
        say(f"  {sentence}")
    if out is not None:
        write_table(found.table, out)
    if picture is not None:
        with whole_file(picture) as temporary:
            plot_ranking(found).savefig(temporary, dpi=150, format="png")
        say(f"picture written to {picture}")


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one embedding and query, without what is empty."""
    shown = rows[["metric", "subquery", "value", "p_value", "optimum", "found", "missing", "reason"]]
    shown = shown.rename(columns={"subquery": "sets", "optimum": "no bias", "found": "words"})
    shown["p_value"] = [f"{p:.3g}" if p == p else None for p in rows["p_value"]]
    empty = [column for column in ("sets", "p_value", "reason") if shown[column].isna().all()]
    return shown.drop(columns=empty)


def asked_queries(names: list[str] | None, words: list[str] | None) -> dict[str, Query]:
    """Name to query, of bundled queries or files and of word lists."""
    from bayesbias.errors import InputError
    from bayesbias.metrics import Query, load_query
    from bayesbias.metrics.running import named_queries
    from bayesbias.words import load_words

    asked = [load_query(name) for name in names or []] + [Query.from_words(load_words(name)) for name in words or []]
    if not asked:
        raise InputError("nothing is asked: give --query (see 'bayesbias queries') or --words (see 'bayesbias lists')")
    return named_queries(asked)


def _chosen(names: list[str] | None, asked: dict[str, Query]) -> list[str]:
    """The metrics that were named, or those that need no pairs and for which every query has enough sets."""
    from bayesbias.cli.screen import say
    from bayesbias.metrics.running import usual_metrics

    if names:
        return list(dict.fromkeys(names))
    usual, too_few = usual_metrics(asked.values())
    if too_few:
        say(f"left out, since a query has too few sets: {', '.join(too_few)}")
    return usual


def _loaded(
    arguments: list[str], asked: dict[str, Query], metrics: list[str], case: str, trust_pickle: bool
) -> dict[str, KeyedVectors]:
    """Name to embedding: of the words asked for, or whole where a metric looks at the whole vocabulary."""
    from bayesbias.embeddings import load_embedding, spellings
    from bayesbias.metrics.registry import find_metric

    names = names_of(arguments)
    whole = any(find_metric(name).space for name in metrics)
    words = spellings((word for query in asked.values() for listed in query.sets.values() for word in listed), case)
    return {
        name: load_embedding(one, words=None if whole else words, trust_pickle=trust_pickle)
        for name, one in zip(names, arguments, strict=True)
    }


def _benchmarks(path: Path) -> dict[str, dict[str, float]]:
    """Benchmark to the scores of embeddings."""
    from bayesbias.errors import InputError

    table = csv_table(path)
    if "embedding" not in table or len(table.columns) < 2:
        raise InputError(
            f"{path} has the columns {', '.join(table.columns)}: give embedding and a column for each benchmark"
        )
    names = table["embedding"].astype(str)
    return {str(name): dict(zip(names, table[name], strict=True)) for name in table.columns if name != "embedding"}


def write_table(table: pd.DataFrame, out: Path) -> None:
    """A table as .csv, whole or not at all."""
    from bayesbias._files import write_text
    from bayesbias.cli.screen import say

    write_text(out, table.to_csv(index=False))
    say(f"{len(table)} rows written to {out}")
