"""Commands on one embedding, distance table or fit, and on metrics, silhouettes, reliability and stability."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias.cli import reading
from bayesbias.cli.options import FRESH, NUMBERS, PICTURE, SOURCES, WORDS, Given, Option, bundled, command, written
from bayesbias.cli.reading import csv_table, extra_options, names_of, short_names
from bayesbias.cli.reading import embeddings as load_embeddings
from bayesbias.cli.screen import (
    Made,
    save_picture,
    save_table,
    say,
    say_notes,
    show,
    show_contrasts,
    show_coverage,
    working,
)
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.embeddings import Setting
    from bayesbias.metrics import Query


@command(
    "distances:distance_table",
    "embedding words out case keep_duplicates relatedness twins trust_pickle",
    out=written("a distance table", *reading.TABLES),
    relatedness=Option("Estimate the covariance from the whole vocabulary, which takes longer."),
)
def distances(given: Given) -> None:
    """Cosine distances between protected words and attribute words."""
    from bayesbias.embeddings import spellings

    listed = bb.load_words(given.words)
    wanted: Any = spellings(listed.every_word(), given.case, listed.language)
    if given.relatedness:  # spellings other than those of the lists have ranks that the file's sample would not follow
        wanted = listed if given.case == "as-is" else None
    kv = bb.load_embedding(given.embedding, words=wanted, trust_pickle=given.trust_pickle)
    table = given.call(bb.distance_table, kv=kv, words=listed)
    bb.write_distance_table(table, given.out)
    show_coverage(table)
    say(f"{len(table):,} distances written to {given.out}")


@command(
    "models:fit distances:read_distance_table",
    "table=file out model engine draws seed keep_duplicates adjust frequencies",
    out=written("a fit", ".nc"),
    seed=FRESH,
    keep_duplicates=Option("Count repeated rows of the table; by default as the table was written.", default=None),
)
def fit(given: Given) -> None:
    """Fit a model to a distance table."""
    table = given.call(bb.read_distance_table, path=given.file)
    show_coverage(table)
    post = given.call(bb.fit, table=table)
    bb.save_fit(post, given.out)
    say(str(bb.diagnose(post)))
    if given.adjust is not None:
        from bayesbias.comparison import adjustment

        show(adjustment(post).round(3), "Contrasts before and after")
    say(f"fit of model {post.attrs['model']} (seed {post.attrs['seed']}) written to {given.out}")


@command(
    "checks.confounds:balance",
    "table=files frequencies attribute",
    table=Option("A distance table, .csv or .parquet, or several.", list[Path]),
    frequencies=SOURCES,
    attribute=Option("frequency or length."),
)
def balance(given: Given) -> None:
    """Whether word lists differ in frequency, and whether that matters for distances and for several embeddings."""
    one, *more = given.files
    data = reading.measured([str(path) for path in given.files])[0] if more else bb.read_distance_table(one)
    found = given.call(bb.balance, data=data)
    show(found.lists.round(2), f"Words by {found.attribute} ({found.source})")
    show(found.contrasts.round(3), "Lists of the contrasts")
    if found.embeddings:
        show(found.spreads, "Contrasts over embeddings")
    for text in (found.sentence, *found.notes):
        say(text)


@command(
    "comparison:contrasts",
    "fit=post first second prob rope population by rows out",
    rope=Option("Half width of the region of practical equivalence, in cosine distance."),
    out=written("a table of contrasts", ".csv", said="contrasts"),
)
def contrasts(given: Given) -> Any:
    """How much closer one kind of attribute word is than another."""
    from bayesbias.comparison import decomposable_controls, decomposition_sentence
    from bayesbias.models.results import Fit

    table = given.call(bb.contrasts)
    show_contrasts(table)
    controls = decomposable_controls(Fit(given.post)) if given.first == "associated" else []
    if controls:
        control = given.second if given.second in controls else controls[0]
        say(f"  {decomposition_sentence(given.call(bb.decomposition, second=control))}")
    say(str(bb.diagnose(given.post)))
    return table


@command(
    "",
    "kind file out",
    more=True,
    kind=Option("Of a fit: contrasts, coefficients, ...; of a table: distances, ..."),
    file=Option("A fit, .nc, or a distance table, .csv or .parquet."),
    out=written("a figure", ".png"),
)
def plot(given: Given) -> None:
    """A figure of a fit or of a distance table. Its options follow as --name value, such as --second human."""
    from bayesbias.plots import OF_A_FIT, OF_A_TABLE

    known, holder = (OF_A_FIT, "fit") if given.file.suffix == ".nc" else (OF_A_TABLE, "distance table")
    if given.kind not in known:
        raise InputError(f"there is no figure {given.kind!r} of a {holder}: valid are {', '.join(known)}")
    valid = [name for name in list(inspect.signature(known[given.kind]).parameters)[1:] if name != "ax"]
    others, options = reading.extra_options(given.more, valid, given.kind)
    if others:
        raise InputError(f"a figure shows one {holder}, and {others[0]} is given too")
    shown = bb.load_fit(given.file) if holder == "fit" else bb.read_distance_table(given.file)
    with working("drawing"):
        save_picture(known[given.kind](shown, **options), given.out)
    say(f"figure written to {given.out}")


@command(
    "reporting.document:report",
    "fit=post out prob sensitivity pictures",
    out=written("a report", ".html", ".htm", ".md"),
)
def report(given: Given) -> None:
    """Write a report on a fit: one HTML file, or Markdown."""
    with working("drawing figures"):
        given.call(bb.report, path=given.out)
    say(f"report written to {given.out}")


@command(
    "calibration.simulation:null_false_positive_rate",
    "table model=models replicates source seed out",
    model=Option("A model to try; may be given several times.", complete=bundled("models")),
    replicates=Option("How many random word lists to draw.", default=100, min=10),
    out=written("a table of rates", ".csv", said="rates"),
)
def calibrate(given: Given) -> Any:
    """How often intervals and tests call a bias on this table when stereotype words are random control words."""
    from bayesbias.calibration.simulation import null_false_positive_rate

    rates = given.call(null_false_positive_rate)
    nominal = f"{float(rates['nominal'].iloc[0]):.2f}"
    show(rates[["method", "contrast", "rate", "se", "width"]], f"False-positive rates, nominal {nominal}")
    return rates


@command("comparison:plan", "what=words_or_table effect prob power first second seed out", out=PICTURE)
def plan(given: Given) -> Any:
    """How many words a list needs so that a contrast of a given size is seen."""
    with working("planning"):
        design = given.call(bb.plan)
    say(design.sentence)
    table = design.table()
    table = table.drop(columns="reachable") if table["reachable"].all() else table
    show(table, f"Words needed to see {design.effect:g} with probability {design.power:g}")
    return design


@command("", "table out", out=PICTURE)
def relatedness(given: Given) -> Any:
    """The effective sample size of each list, and whether similar words scatter as the vectors predict."""
    from bayesbias.checks.convergence import check_relatedness

    related = bb.relatedness(given.table)
    say(related.sentence)
    show(related.effective_words(), "Words, and their effective sample size")
    show(check_relatedness(given.table), "Scatter of control words against its prediction")
    return related


@command(
    "calibration.topics:topic_null",
    "embedding=kv words=words_or_query metric replicates kind seed out trust_pickle",
    words=Option("A bundled word list or query, or the path of a TOML file.").over(WORDS),
    replicates=Option("How many random word lists to draw.", min=1),
    out=PICTURE,
)
def topics(given: Given) -> Any:
    """How large a contrast is for random topics of the vocabulary in place of the word lists."""
    null = given.call(bb.topic_null)
    say(null.sentence)
    say_notes(f"{note}." for note in null.notes)
    show(null.table(), "Observed values among those of random lists")
    return null


TESTED = ("weat", "weat_effect_size")
SETTINGS = ("corpus", "algorithm", "dims", "seed", "path")
MEASURES = written("a table of measures", ".csv")


def _benchmarks(path: Path) -> dict[str, dict[str, float]]:
    """Benchmark to the scores of embeddings."""
    table = csv_table(path)
    if "embedding" not in table or len(table.columns) < 2:
        raise InputError(
            f"{path} has the columns {', '.join(table.columns)}: give embedding and a column for each benchmark"
        )
    names = table.pop("embedding").astype(str)
    return {str(name): dict(zip(names, scores, strict=True)) for name, scores in table.items()}


@command(
    "metrics:run_metrics metrics:metric",
    "embeddings query=asked words=lists metric=metrics p_value alternative permutations seed max_missing on_missing "
    "compat case normalise twins trust_pickle out report",
    more=True,
    p_value=Option("Permutation test of WEAT.", default=False),
    alternative=Option("Of the test: two-sided, greater or less.", default="two-sided"),
    permutations=Option("Random ones where a million do not hold all.", default=10_000, min=1),
    seed=Option(default=0),
    out=written("a table of metrics", ".csv", said="{rows}"),
)
def metrics(given: Given) -> Any:
    """Classic bias metrics of embeddings: WEAT, RND, RNSB, MAC, ECT and others.

    Options of metrics follow as --name value, such as --distance cos of rnd.
    """
    from bayesbias.metrics.catalogue import find_metric

    queries = asked_queries(given.asked, given.lists)
    chosen = _chosen(given.metrics, queries)
    if given.p_value and not set(chosen) & set(TESTED):
        raise InputError(f"--p-value is the permutation test of WEAT: give --metric {' or '.join(TESTED)} too")
    test = {name: getattr(given, name) for name in ("p_value", "alternative", "permutations", "seed")}
    own = {name: [option for option in find_metric(name).options if option not in test] for name in chosen}
    valid = list(dict.fromkeys(option for options in own.values() for option in options))
    named, extra = extra_options(given.embeddings, valid, " and ".join(chosen))
    tested = TESTED if given.p_value else ()
    with_options = {
        name: (name, {key: extra[key] for key in extra if key in own[name]} | (test if name in tested else {}))
        for name in chosen
    }
    kvs = _loaded(named, queries, chosen, given)
    scores = given.call(bb.run_metrics, kvs=kvs, queries=queries, metrics=with_options)
    for (embedding, name), rows in scores.groupby(["embedding", "query"], sort=False):
        show(_shown(rows), f"{name} in {embedding}")
    say_notes(scores.attrs["notes"])
    return scores


@command(
    "comparison:rank",
    "embeddings query=asked words=lists metric=metrics aggregate draws seed replicates outside max_missing case "
    "normalise twins trust_pickle out picture",
    draws=Option("Bootstrap draws of words; 0 for none.", min=0),
    replicates=Option("Random topics; 0 for none.", min=0),
    outside=Option(
        "A .csv with the column embedding and columns of benchmarks, larger is better.", Path, read=_benchmarks
    ),
    out=written("a ranking", ".csv", said="{rows}"),
)
def rank(given: Given) -> Any:
    """Embeddings from least to most biased, and how sure that order is."""
    queries = asked_queries(given.asked, given.lists)
    kvs = _loaded(given.embeddings, queries, given.metrics, given)
    ranking = given.call(bb.rank, kvs=kvs, queries=queries)
    show(ranking.ranks.map("{:g}".format).rename_axis("embedding").reset_index(), "Ranks (1: least biased)")
    if given.draws:
        shares = ranking.table().drop(columns=["score", "rank"])
        show(shares.rename(columns=lambda name: str(name).removeprefix("rank ")), "Probability of each rank")
    say_notes((*ranking.sentences, *ranking.notes))
    return ranking


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one embedding and query, without what is empty."""
    shown = rows[["metric", "subquery", "value", "p_value", "optimum", "found", "missing", "reason"]]
    shown = shown.rename(columns={"subquery": "sets", "optimum": "no bias", "found": "words"})
    shown["p_value"] = [f"{p:.3g}" if p == p else None for p in rows["p_value"]]
    empty = [column for column in ("sets", "p_value", "reason") if shown[column].isna().all()]
    return shown.drop(columns=empty)


def asked_queries(names: list[str] | None, words: list[str] | None) -> dict[str, Query]:
    """Name to query, of bundled queries or files and of word lists."""
    from bayesbias.metrics.batch import named_queries

    queries = [bb.load_query(name) for name in names or []]
    queries += [bb.Query.from_words(bb.load_words(name)) for name in words or []]
    if not queries:
        raise InputError("nothing is asked: give --query (see 'bayesbias queries') or --words (see 'bayesbias lists')")
    return named_queries(queries)


def _chosen(names: list[str] | None, queries: dict[str, Query]) -> list[str]:
    """The metrics that were named, or those that need no pairs and for which every query has enough sets."""
    from bayesbias.metrics.batch import usual_metrics

    if names:
        return list(dict.fromkeys(names))
    usual, too_few = usual_metrics(queries.values())
    if too_few:
        say(f"left out, since a query has too few sets: {', '.join(too_few)}")
    return usual


def _loaded(
    arguments: list[str], queries: dict[str, Query], metrics: list[str], given: Given
) -> dict[str, KeyedVectors]:
    """Name to embedding: of the words asked for, or whole where a metric looks at the whole vocabulary."""
    from bayesbias.embeddings import spellings
    from bayesbias.metrics.catalogue import find_metric

    whole = any(find_metric(name).space for name in metrics)
    every = (word for query in queries.values() for listed in query.sets.values() for word in listed)
    words = spellings(every, given.case)
    return load_embeddings(arguments, given.trust_pickle, None if whole else words)


@command(
    "silhouettes:silhouette",
    "embeddings query=asked words=lists metric=metrics vary runs step sizes seed compat twins trust_pickle out picture",
    embeddings=Option("Bundled names or paths; of two the first is held to be biased, the second not."),
    metric=Option("weat, ect, rnsb, another metric with a known range, or crossed; several times.", default=None),
    vary=Option("Which lists grow: targets, attributes or both.", default="both"),
    runs=Option(min=1),
    step=Option(min=1),
    out=NUMBERS,
)
def silhouette(given: Given) -> Made:
    """How much a metric depends on which words are listed: bias silhouettes, their robustness and accuracy."""
    from bayesbias._checks import one_of
    from bayesbias.silhouettes.studies import SCORES, STUDIED, VARIED, follow_study, scores_of, values_of

    varied = VARIED if one_of(given.vary, ("both", *VARIED), "vary") == "both" else (given.vary,)
    queries = asked_queries(given.asked, given.lists)
    kvs = load_embeddings(given.embeddings, given.trust_pickle)
    chosen = given.metrics or STUDIED
    parts, notes = given.call(follow_study, kvs=kvs, queries=queries, metrics=chosen, varied=varied)
    scores = scores_of(parts, given.compat)
    shown = scores.drop(columns=[name for name in SCORES if scores[name].isna().all()])
    show(shown.drop(columns=[] if len(queries) > 1 else "query"), f"Silhouettes of {given.runs} runs")
    say_notes(notes)
    return Made(parts, values_of(parts), lambda: bb.plots.plot_silhouette([part.silhouettes for part in parts]))


@command(
    "reliability:bias_scores reliability:variance_components",
    "embeddings targets pairs query=queries measure=measures neighbours draws seed twins trust_pickle out picture",
    embeddings=Option("Embeddings trained in the same way but for their seed."),
    targets=Option("Words to score: a bundled list ('bayesbias lists') or a file.", default="occ16"),
    query=Option("A list of words that should measure one thing; several times.", list[str], None),
    measure=Option("db_wa, ripa or nbm; several times."),
    seed=Option(default=0),
    neighbours=Option("Nearest neighbours that NBM looks at.", min=1),
    out=NUMBERS,
)
def reliability(given: Given) -> Any:
    """Whether bias scores agree over seeds, measures, words and pairs, and how many pairs are enough."""
    from bayesbias.reliability import bias_scores, variance_components
    from bayesbias.reliability.consistency import coefficients_of
    from bayesbias.words import words_given

    queries = {name: words_given(name, "query") for name in given.queries or []}
    every = [*words_given(given.targets, "targets"), *(word for listed in queries.values() for word in listed)]
    kvs = list(load_embeddings(given.embeddings, given.trust_pickle).values())
    scores = given.call(bias_scores, kvs=kvs, targets=list(dict.fromkeys(every)))
    for note in scores.attrs["notes"]:
        say(note)
    found = coefficients_of(scores, queries)
    say_notes(found.notes)
    show(found.brief(), f"Reliability of {scores.sizes['target']} words, {scores.sizes['base_pair']} base pairs")
    components = given.call(variance_components, scores=scores)
    shares = components.table().sort_values("share", ascending=False).head(6)
    show(shares[["component", "share", "share_low", "share_high"]], "What the scores vary with (89% intervals)")
    say_notes(note for note in components.notes if note not in scores.attrs["notes"])
    say_notes(components.findings()[1:])
    return found


@command(
    "stability:direct_bias_study stability:train_embeddings",
    "settings=listed corpus algorithm dims seeds models=folder words=neutral pairs query draws seed trust_pickle "
    "out picture measures",
    settings=Option("A .csv of embeddings: corpus, algorithm, dims, seed, path.", Path, None, names=()),
    corpus=Option("A text to train on, a sentence a line; several times.", list[str], default=None),
    algorithm=Option("sgns or cbow; several times.", list[str], default=None),
    dims=Option("Dimensions to train; several times.", list[int], default=None),
    seeds=Option("How many seeds to train each with.", default=2, min=1),
    models=Option("Folder that keeps what was trained, to go on from.", Path, None),
    words=Option("Words that should be neutral: a list.", list[str], None),
    query=Option("Measure every metric and the contrast on this query too.", default=None, complete=bundled("queries")),
    draws=Option("Bootstrap draws of pairs and words.", min=2),
    out=NUMBERS,
    measures=Option("With --query: also write every measure as .csv.", default=None).over(
        written("a table of measures", ".csv")
    ),
)
def stability(given: Given) -> Any:
    """Whether direct bias speaks of the corpus or of how its embedding was trained."""
    if given.measures is not None and given.query is None:
        raise InputError("--measures writes what --query measures: give --query too")
    query = None if given.query is None else bb.load_query(given.query)
    kvs = _by_setting(given)
    words = {name: name for name in given.neutral or ["occ16"]}
    study = given.call(bb.stability.direct_bias_study, kvs=kvs, words=words)
    for note in study.notes:
        say(note)
    show(study.table().drop(columns="isotropic"), "Direct bias, 89% bootstrap intervals")
    try:
        components = bb.stability.setting_components(study.table(), log=True, seed=0)
    except InputError as error:
        say(f"  no variance components: {error}")
    else:
        say(f"  Of the logarithm of direct bias: {components}")
    if query is not None:
        measured = bb.stability.metric_stability(kvs, query, seed=given.seed)
        summary = measured.summary().drop(columns=["low", "high"])
        show(summary, "Measures, the most stable first: share of the corpora", whole="metric")
        say_notes(measured.notes)
        if given.measures is not None:
            save_table(measured.table(), given.measures)
            say(f"{len(measured.table())} rows written to {given.measures}")
    return study


def _by_setting(given: Given) -> dict[Setting, Any]:
    """Embeddings of a file of settings, and those trained on texts."""
    if given.listed is None and not given.corpus:
        raise InputError("nothing is given: give a .csv of embeddings, or --corpus with texts to train on")
    by_setting = {} if given.listed is None else _of_file(given.listed, given.trust_pickle)
    if given.corpus:
        names_of(given.corpus)
        names = short_names(given.corpus, lambda path: Path(path).stem)
        texts = dict(zip(names, map(Path, given.corpus), strict=True))
        usual = {"algorithm": given.algorithm or "sgns", "dims": given.dims or (50, 100, 200)}
        trained = given.call(bb.stability.train_embeddings, corpus=texts, **usual)
        if twice := [setting.label for setting in trained if setting in by_setting]:
            raise InputError(f"{twice[0]} is in {given.listed} and is trained too: give it once")
        by_setting |= trained
    return by_setting


def _of_file(path: Path, trust_pickle: bool) -> dict[Setting, Any]:
    """The embeddings of a .csv of settings; paths are looked up beside it."""
    from bayesbias._files import home_folder
    from bayesbias.embeddings import Setting, load_embedding

    table = csv_table(path)
    if missing := [name for name in SETTINGS if name not in table]:
        raise InputError(f"{path} lacks the column {', '.join(missing)}: give {', '.join(SETTINGS)}")
    folder = home_folder(path).parent
    if table.empty:
        raise InputError(f"{path} has no row: give an embedding a row, with {', '.join(SETTINGS)}")
    by_setting = {}
    for row in table.to_dict("records"):
        setting = Setting(str(row["corpus"]), str(row["algorithm"]), row["dims"], row["seed"])
        if setting in by_setting:
            raise InputError(f"{path} gives {setting.label} twice: give each setting once")
        by_setting[setting] = load_embedding(folder / str(row["path"]), trust_pickle=trust_pickle)
    return by_setting
