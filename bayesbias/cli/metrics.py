"""Commands on metrics, silhouettes, reliability and stability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesbias.cli import names
from bayesbias.cli.arguments import (
    check_report,
    check_target,
    check_targets,
    csv_table,
    extra_options,
    names_of,
    save_picture,
    save_report,
    short_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from matplotlib.figure import Figure

    from bayesbias.embeddings import Setting
    from bayesbias.metrics import Query
    from bayesbias.reliability import VarianceComponents
    from bayesbias.silhouettes.studies import StudyPart


TESTED = ("weat", "weat_effect_size")

Embeddings = Annotated[
    list[str], typer.Argument(help="Bundled names or paths of embedding files.", autocompletion=names.embeddings)
]
Queries = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        help="A bundled query ('bayesbias queries') or a TOML file; several times for several.",
        autocompletion=names.queries,
    ),
]
Words = Annotated[
    list[str] | None, typer.Option("--words", help="Word lists as a query: groups against their stereotypes.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="A metric; several times for several. By default those that need no pairs.",
        autocompletion=names.metrics,
    ),
]
MaxMissing = Annotated[float, typer.Option(help="Share of a set's words that may be missing.")]
Case = Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")]
Normalise = Annotated[bool, typer.Option("--normalise", help="Scale vectors to length 1 first.")]
Twins = Annotated[str, typer.Option(help="once, or keep: words of one list that have one vector.")]
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
    normalise: Normalise = False,
    twins: Twins = "once",
    trust_pickle: TrustPickle = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write them as .csv.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report, .html or .md.")] = None,
) -> None:
    """Classic bias metrics of embeddings: WEAT, RND, RNSB, MAC, ECT and others.

    Options of metrics follow as --name value, such as --distance cos of rnd.
    """
    from bayesbias.cli.screen import say, show
    from bayesbias.errors import InputError
    from bayesbias.metrics import run_metrics
    from bayesbias.metrics.catalogue import find_metric

    check_report(report)
    if out is not None:
        check_target(out, (".csv",), "a table of metrics")
    asked = asked_queries(query, words)
    chosen = _chosen(metric, asked)
    if p_value and not set(chosen) & set(TESTED):
        raise InputError(f"--p-value is the permutation test of WEAT: give --metric {' or '.join(TESTED)} too")
    test = {"p_value": True, "alternative": alternative, "permutations": permutations, "seed": seed}
    own = {name: [one for one in find_metric(name).options if one not in test] for name in chosen}
    valid = list(dict.fromkeys(option for options in own.values() for option in options))
    named, extra = extra_options(embeddings, valid, " and ".join(chosen))
    tested = TESTED if p_value else ()
    with_options: dict[str, Any] = {
        name: (name, {key: extra[key] for key in extra if key in own[name]} | (test if name in tested else {}))
        for name in chosen
    }
    found = run_metrics(
        _loaded(named, asked, chosen, case, trust_pickle),
        asked,
        with_options,
        on_missing=on_missing,  # type: ignore[arg-type]  # checked where it is used
        max_missing=max_missing,
        case=case,  # type: ignore[arg-type]  # checked where it is used
        normalise=normalise,
        compat=compat,
        twins=twins,  # type: ignore[arg-type]  # checked where it is used
    )
    for (embedding, name), rows in found.groupby(["embedding", "query"], sort=False):
        show(_shown(rows), f"{name} in {embedding}")
    for note in found.attrs["notes"]:
        say(f"  {note}")
    if out is not None:
        write_table(found, out)
    save_report(found, report)


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
    normalise: Annotated[
        bool, typer.Option(help="Scale vectors to length 1 first, so that their lengths do not count.")
    ] = True,
    twins: Twins = "once",
    trust_pickle: TrustPickle = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the ranking, .png.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write it as .csv.")] = None,
) -> None:
    """Embeddings from least to most biased, and how sure that order is."""
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
        normalise=normalise,
        twins=twins,  # type: ignore[arg-type]  # checked where it is used
    )
    show(found.ranks.map("{:g}".format).rename_axis("embedding").reset_index(), "Ranks (1: least biased)")
    if draws:
        shares = found.table().drop(columns=["score", "rank"])
        show(shares.rename(columns=lambda name: str(name).removeprefix("rank ")), "Probability of each rank")
    for sentence in (*found.sentences, *found.notes):
        say(f"  {sentence}")
    if out is not None:
        write_table(found.table(), out)
    if picture is not None:
        save_picture(plot_ranking(found), picture)
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
    from bayesbias.metrics.batch import named_queries
    from bayesbias.words import load_words

    asked = [load_query(name) for name in names or []] + [Query.from_words(load_words(name)) for name in words or []]
    if not asked:
        raise InputError("nothing is asked: give --query (see 'bayesbias queries') or --words (see 'bayesbias lists')")
    return named_queries(asked)


def _chosen(names: list[str] | None, asked: dict[str, Query]) -> list[str]:
    """The metrics that were named, or those that need no pairs and for which every query has enough sets."""
    from bayesbias.cli.screen import say
    from bayesbias.metrics.batch import usual_metrics

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
    from bayesbias.metrics.catalogue import find_metric

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


SETTINGS = ("corpus", "algorithm", "dims", "seed", "path")

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Also write the numbers as .csv.")]
Picture = Annotated[Path | None, typer.Option(help="Also draw them, .png.")]
Pairs = Annotated[str, typer.Option(help="Base pairs: a bundled list ('bayesbias lists') or a TOML file.")]


def silhouette(
    embeddings: Annotated[
        list[str], typer.Argument(help="Bundled names or paths; of two the first is held to be biased, the second not.")
    ],
    query: Annotated[
        list[str] | None, typer.Option("--query", help="A bundled query ('bayesbias queries') or a TOML file.")
    ] = None,
    words: Annotated[
        list[str] | None, typer.Option("--words", help="Word lists as a query: groups against their stereotypes.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", help="weat, ect, rnsb, another metric with a known range, or crossed; several times."),
    ] = None,
    vary: Annotated[str, typer.Option(help="Which lists grow: targets, attributes or both.")] = "both",
    runs: Annotated[int, typer.Option(help="How many random orders.", min=1)] = 100,
    step: Annotated[int | None, typer.Option(help="Words over all lists by which they grow.", min=1)] = None,
    sizes: Annotated[str, typer.Option(help="trimmed, saturate or proportional.")] = "trimmed",
    seed: Annotated[int, typer.Option(help="Of the orders.", min=0)] = 0,
    compat: Annotated[str | None, typer.Option(help="published: the study's own seeds and range.")] = None,
    twins: Twins = "once",
    trust_pickle: TrustPickle = False,
    picture: Picture = None,
    out: Out = None,
) -> None:
    """How much a metric depends on which words are listed: bias silhouettes, their robustness and accuracy."""
    from bayesbias._checks import one_of
    from bayesbias.cli.screen import say, show
    from bayesbias.silhouettes.studies import STUDIED, VARIED, follow_study, scores_of

    check_targets(out, picture)
    varied = VARIED if one_of(vary, ("both", *VARIED), "vary") == "both" else (vary,)
    asked = asked_queries(query, words)
    parts, notes = follow_study(
        _embeddings(embeddings, trust_pickle),
        asked,
        metric or STUDIED,
        runs,
        step,
        sizes,  # type: ignore[arg-type]  # checked where it is used
        seed,
        compat,  # type: ignore[arg-type]  # checked where it is used
        varied,  # type: ignore[arg-type]  # checked above
        twins,  # type: ignore[arg-type]  # checked where it is used
    )
    scores = scores_of(parts, compat)  # type: ignore[arg-type]  # checked where it is used
    shown = scores.drop(columns=[name for name in ("accuracy", "separation", "coverage") if scores[name].isna().all()])
    show(shown.drop(columns=[] if len(asked) > 1 else "query"), f"Silhouettes of {runs} runs")
    for note in notes:
        say(f"  {note}")
    if out is not None:
        write_table(_long(parts), out)
    if picture is not None:
        from bayesbias.plots import plot_silhouette

        _draw(plot_silhouette([part.silhouettes for part in parts]), picture)


def reliability(
    embeddings: Annotated[list[str], typer.Argument(help="Embeddings trained alike but for their seed.")],
    targets: Annotated[
        str, typer.Option(help="Words to score: a bundled list ('bayesbias lists') or a file.")
    ] = "occ16",
    pairs: Pairs = "gender_pairs",
    query: Annotated[
        list[str] | None, typer.Option("--query", help="A list of words that should measure one thing; several times.")
    ] = None,
    measure: Annotated[list[str] | None, typer.Option("--measure", help="db_wa, ripa or nbm; several times.")] = None,
    neighbours: Annotated[int, typer.Option(help="Nearest neighbours that NBM looks at.", min=1)] = 100,
    draws: Annotated[
        int, typer.Option(help="Posterior draws of the variance components, a multiple of 4.", min=4)
    ] = 4000,
    seed: Annotated[int, typer.Option(help="Of the draws.", min=0)] = 0,
    twins: Twins = "once",
    trust_pickle: TrustPickle = False,
    picture: Picture = None,
    out: Out = None,
) -> None:
    """Whether bias scores agree over seeds, measures, words and pairs, and how many pairs are enough."""
    from bayesbias.cli.screen import say, show
    from bayesbias.reliability import bias_scores, variance_components
    from bayesbias.reliability.consistency import MEASURES
    from bayesbias.words import words_given

    check_targets(out, picture)
    queries = {name: words_given(name, "query") for name in query or []}
    words = list(dict.fromkeys([*words_given(targets, "targets"), *(word for one in queries.values() for word in one)]))
    kvs = list(_embeddings(embeddings, trust_pickle).values())
    scores = bias_scores(kvs, words, pairs, measure or MEASURES, neighbours, twins=twins)  # type: ignore[arg-type]
    for note in scores.attrs["notes"]:
        say(note)
    tables = _coefficients(scores, queries)
    show(_summary(tables), f"Reliability of {scores.sizes['target']} words, {scores.sizes['base_pair']} base pairs")
    components = variance_components(scores, draws=draws, seed=seed)
    found = components.table().sort_values("share", ascending=False).head(6)
    show(found[["component", "share", "share_low", "share_high"]], "What the scores vary with (89% intervals)")
    for note in components.notes:
        if note not in scores.attrs["notes"]:
            say(f"  {note}")
    if "target" in components.sizes and "base_pair" in components.sizes:
        say(f"  {_enough(components)}")
    if out is not None:
        write_table(_stacked(tables), out)
    if picture is not None:
        from bayesbias.plots import plot_reliability

        _draw(plot_reliability(tables), picture)


def stability(
    settings: Annotated[
        Path | None, typer.Argument(help="A .csv of embeddings: corpus, algorithm, dims, seed, path.")
    ] = None,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="A text to train on, a sentence a line; several times.")
    ] = None,
    algorithm: Annotated[list[str] | None, typer.Option("--algorithm", help="sgns or cbow; several times.")] = None,
    dims: Annotated[list[int] | None, typer.Option("--dims", help="Dimensions to train; several times.")] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds to train each with.", min=1)] = 2,
    models: Annotated[Path | None, typer.Option(help="Folder that keeps what was trained, to go on from.")] = None,
    words: Annotated[list[str] | None, typer.Option("--words", help="Words that should be neutral: a list.")] = None,
    pairs: Pairs = "gender_pairs",
    query: Annotated[
        str | None, typer.Option("--query", help="Measure every metric and the contrast on this query too.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws of pairs and words.", min=2)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws.", min=0)] = 0,
    trust_pickle: TrustPickle = False,
    picture: Picture = None,
    out: Out = None,
    measures: Annotated[Path | None, typer.Option(help="With --query: also write every measure as .csv.")] = None,
) -> None:
    """Whether direct bias speaks of the corpus or of how its embedding was trained."""
    from bayesbias.cli.screen import say, show
    from bayesbias.errors import InputError
    from bayesbias.metrics import load_query
    from bayesbias.stability import direct_bias_study, metric_stability

    check_targets(out, picture)
    if measures is not None:
        check_target(measures, (".csv",), "a table of measures")
    if measures is not None and query is None:
        raise InputError("--measures writes what --query measures: give --query too")
    asked = None if query is None else load_query(query)
    embeddings = _by_setting(settings, corpus, algorithm, dims, seeds, models, trust_pickle)
    study = direct_bias_study(embeddings, {name: name for name in words or ["occ16"]}, pairs, draws=draws, seed=seed)
    for note in study.notes:
        say(note)
    show(study.table().drop(columns="isotropic"), "Direct bias, 89% bootstrap intervals")
    _say_components(study.table())
    if out is not None:
        write_table(study.table(), out)
    if picture is not None:
        from bayesbias.plots import plot_bias_decay

        _draw(plot_bias_decay(study), picture)
    if asked is not None:
        found = metric_stability(embeddings, asked, seed=seed)
        summary = found.summary().drop(columns=["low", "high"])
        show(summary, "Measures, the most stable first: share of the corpora", whole="metric")
        for note in found.notes:
            say(f"  {note}")
        if measures is not None:
            write_table(found.table(), measures)


def _embeddings(arguments: list[str], trust_pickle: bool) -> dict[str, Any]:
    """Name to embedding, each given once."""
    from bayesbias.embeddings import load_embedding

    return {
        name: load_embedding(one, trust_pickle=trust_pickle)
        for name, one in zip(names_of(arguments), arguments, strict=True)
    }


def _draw(figure: Figure, path: Path) -> None:
    from bayesbias.cli.screen import say

    save_picture(figure, path)
    say(f"picture written to {path}")


def _long(parts: list[StudyPart]) -> pd.DataFrame:
    """One row a value: query, metric, kind of list, embedding, run, words, value and its interval."""
    import pandas as pd

    tables = []
    for part in parts:
        named = {"query": part.query, "metric": part.metric, "vary": part.vary}
        tables += [one.frame().assign(**named, embedding=name) for name, one in part.silhouettes.items()]
    stacked = pd.concat(tables, ignore_index=True)
    first = ["query", "metric", "vary", "embedding"]
    return stacked[[*first, *(name for name in stacked.columns if name not in first)]]


def _coefficients(scores: Any, queries: dict[str, list[str]]) -> dict[str, pd.DataFrame]:
    """Name of a kind of reliability to its table; kinds that the scores do not allow are said and left out."""
    from bayesbias.cli.screen import say
    from bayesbias.errors import InputError
    from bayesbias.reliability import inter_rater_consistency, internal_consistency, retest_reliability
    from bayesbias.reliability.consistency import NOTES

    wanted: dict[str, tuple[Any, dict[str, Any]]] = {
        "test-retest of words": (retest_reliability, {"of": "target"}),
        "test-retest of pairs": (retest_reliability, {"of": "base_pair"}),
        "inter-rater of words": (inter_rater_consistency, {"of": "target"}),
        "inter-rater of words, standardised": (inter_rater_consistency, {"of": "target", "standardise": True}),
        "inter-rater of pairs": (inter_rater_consistency, {"of": "base_pair"}),
        "internal, queries": (internal_consistency, {"of": "query", "queries": queries or None}),
        "internal, pairs": (internal_consistency, {"of": "base_pair"}),
    }
    found = {}
    for name, (function, options) in wanted.items():
        try:
            found[name] = function(scores, **options)
        except InputError as error:
            say(f"  no {name}: {error}")
    if found:
        say(f"  {NOTES['f'][0]}")
    return found


def _summary(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Median, smallest and largest value of each kind and measure, and how many have no value."""
    import pandas as pd

    rows = []
    for kind, table in tables.items():
        groups = table.groupby("measure", sort=False) if "measure" in table else [("all", table)]
        for measure, part in groups:
            values = part["value"]
            count, missing = len(part), int(values.isna().sum())
            rows.append((kind, measure, count, missing, values.median(), values.min(), values.max()))
    return pd.DataFrame(rows, columns=["kind", "measure", "number", "without value", "median", "smallest", "largest"])


def _stacked(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    columns = ["kind", "measure", "label", "value", "low", "high", "reason"]
    stacked = pd.concat([table.assign(kind=kind) for kind, table in tables.items()], ignore_index=True)
    return stacked.reindex(columns=columns)


def _enough(components: VarianceComponents) -> str:
    """How many base pairs tell words apart, by a single measure."""
    needed = components.needed()
    where = "With one seed" if "seed" in components.sizes else "In this one embedding"
    by = "by one of these measures" if "measure" in components.sizes else "by this measure"
    if needed["p_never"] > 0.5:
        return f"{where} no number of base pairs tells words apart with reliability 0.75, {by}."
    low, median, high = (f"{needed[name]:g}" for name in ("low", "median", "high"))
    return f"{where} the mean over {median} base pairs ({low} to {high}) tells words apart with reliability 0.75, {by}."


def _by_setting(
    settings: Path | None,
    corpus: list[str] | None,
    algorithm: list[str] | None,
    dims: list[int] | None,
    seeds: int,
    models: Path | None,
    trust_pickle: bool,
) -> dict[Setting, Any]:
    """Embeddings of a file of settings, and those trained on texts."""
    from bayesbias.embeddings import train_embeddings
    from bayesbias.errors import InputError

    if settings is None and not corpus:
        raise InputError("nothing is given: give a .csv of embeddings, or --corpus with texts to train on")
    found = {} if settings is None else _of_file(settings, trust_pickle)
    if corpus:
        names_of(corpus)
        texts = dict(zip(short_names(corpus, lambda one: Path(one).stem), map(Path, corpus), strict=True))
        trained = train_embeddings(
            texts, algorithm=algorithm or "sgns", seeds=seeds, dims=dims or (50, 100, 200), folder=models
        )
        if twice := [setting.label for setting in trained if setting in found]:
            raise InputError(f"{twice[0]} is in {settings} and is trained too: give it once")
        found |= trained
    return found


def _of_file(path: Path, trust_pickle: bool) -> dict[Setting, Any]:
    """The embeddings of a .csv of settings; paths are looked up beside it."""
    from bayesbias._files import home_folder
    from bayesbias.embeddings import Setting, load_embedding
    from bayesbias.errors import InputError

    table = csv_table(path)
    if missing := [name for name in SETTINGS if name not in table]:
        raise InputError(f"{path} lacks the column {', '.join(missing)}: give {', '.join(SETTINGS)}")
    folder = home_folder(path).parent
    if table.empty:
        raise InputError(f"{path} has no row: give an embedding a row, with {', '.join(SETTINGS)}")
    found = {}
    for row in table.to_dict("records"):
        setting = Setting(str(row["corpus"]), str(row["algorithm"]), row["dims"], row["seed"])
        if setting in found:
            raise InputError(f"{path} gives {setting.label} twice: give each setting once")
        found[setting] = load_embedding(folder / str(row["path"]), trust_pickle=trust_pickle)
    return found


def _say_components(table: pd.DataFrame) -> None:
    """What direct bias varies with, and whether settings outweigh corpora."""
    from bayesbias.cli.screen import say, show
    from bayesbias.errors import InputError
    from bayesbias.stability import setting_components

    try:
        found = setting_components(table, log=True, seed=0)
    except InputError as error:
        say(f"  no variance components: {error}")
        return
    say(f"  Of the logarithm of direct bias: {found}")
    if "corpus" in found.sizes and len(found.sizes) > 1:
        show(found.claims(), "Do settings outweigh corpora?")
