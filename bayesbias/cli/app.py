"""The commands: each a thin line from arguments to the public functions. Heavy imports wait until a command runs."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bayesbias.cli import changes, embeddings, first, metrics, names
from bayesbias.cli.arguments import (
    EXTRA,
    EmbeddingName,
    TrustPickle,
    WordsName,
    check_target,
    extra_options,
    home_folder,
    save_picture,
)

HEADINGS = {
    "Start": ("demo", "run", "new-words", "check-words", "doctor"),
    "Step by step": ("distances", "fit", "contrasts", "plot", "report"),
    "What can be told": ("plan", "balance", "relatedness", "topics", "calibrate"),
    "Classic metrics": ("metrics", "rank", "silhouette", "reliability", "stability"),
    "Debiasing, and many embeddings": ("debias", "compare", "pool", "trend", "criterion", "audit", "sweep"),
    "What is bundled or known": ("lists", "models", "queries", "datasets"),
}


class Grouped(TyperGroup):
    """Commands below headings in the help, and five of them where nothing is asked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say what one can do before anything is loaded to read arguments."""
        if not args and not ctx.resilient_parsing:
            typer.echo(first.WELCOME)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each heading a section."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in commands])


app = typer.Typer(
    help="Measure bias in word embeddings: distances, a model of all of them, posterior distributions.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Grouped,
)
_state = {"debug": False}

Model = Annotated[
    str,
    typer.Option(
        help="A model that 'bayesbias models' shows, a TOML file, or auto: related where the table knows how.",
        autocompletion=names.models,
    ),
]
Engine = Annotated[str, typer.Option(help="auto, exact, marginal or nuts.")]
Draws = Annotated[int, typer.Option(help="Posterior draws in all, a multiple of 4.", min=4)]
Seed = Annotated[int | None, typer.Option(help="Seed of the draws; a fresh one if not given.", min=0)]
Frequencies = Annotated[
    str | None,
    typer.Option(help="A file with two columns, word and count, or wordfreq; by default the order of the embedding."),
]
Prob = Annotated[float, typer.Option(help="Posterior mass of the intervals.")]


def debugging() -> bool:
    """Whether ``--debug`` was given."""
    return _state["debug"]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bayesbias {version('bayesbias')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Measure bias in word embeddings: distances, a model of all of them, posterior distributions."""
    _state["debug"] = debug
    # matrix products here are small: more threads than one only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if context.invoked_subcommand is None:
        typer.echo(first.WELCOME)


@app.command()
def demo(
    words: Annotated[
        str,
        typer.Option(help="A bundled word list, or the path of a TOML file.", autocompletion=names.word_lists),
    ] = "gender",
    out: Annotated[Path, typer.Option(help="Folder for pictures, table, fit and report.")] = Path("bayesbias-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    debias: Annotated[bool, typer.Option("--debias", help="Debias the vectors too, and say what changed.")] = False,
) -> None:
    """Bundled Google News vectors to posterior distributions, pictures and a report."""
    from bayesbias.cli.example import run_debiasing, run_demo

    run_demo(words, home_folder(out), seed)
    if debias:
        run_debiasing(words, home_folder(out), seed)


@app.command()
def run(
    embedding: EmbeddingName,
    words: WordsName,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for pictures, table, fit and report.")],
    model: Model = "auto",
    seed: Seed = None,
    case: Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")] = "as-is",
    topics: Annotated[
        int, typer.Option(help="Sets of random lists to compare the contrasts with; 0 for none.", min=0)
    ] = 1000,
    trust_pickle: TrustPickle = False,
) -> None:
    """An embedding and a word list of your own, from distances to pictures and a report."""
    from bayesbias.cli.example import run_analysis

    run_analysis(embedding, words, home_folder(out), seed, model, case, topics, trust_pickle)


@app.command(context_settings=EXTRA)
def plot(
    kind: Annotated[str, typer.Argument(help="Of a fit: contrasts, coefficients, ...; of a table: distances, ...")],
    file: Annotated[Path, typer.Argument(help="A fit, .nc, or a distance table, .csv or .parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Picture to write, .png.")],
    context: typer.Context,
) -> None:
    """A picture of a fit or of a distance table. Its options follow as --name value, such as --second human."""
    from bayesbias.cli.screen import say, working
    from bayesbias.distances import read_distance_table
    from bayesbias.errors import InputError
    from bayesbias.models import load_fit
    from bayesbias.plots import OF_A_FIT, OF_A_TABLE

    check_target(out, (".png",), "a picture")
    known, holder = (OF_A_FIT, "fit") if file.suffix == ".nc" else (OF_A_TABLE, "distance table")
    if kind not in known:
        raise InputError(f"there is no picture {kind!r} of a {holder}: valid are {', '.join(known)}")
    valid = [name for name in list(inspect.signature(known[kind]).parameters)[1:] if name != "ax"]
    others, options = extra_options(context.args, valid, kind)
    if others:
        raise InputError(f"a picture shows one {holder}, and {others[0]} is given too")
    given = load_fit(file) if holder == "fit" else read_distance_table(file)
    with working("drawing"):
        save_picture(known[kind](given, **options), out)
    say(f"picture written to {out}")


@app.command()
def lists(
    language: Annotated[str | None, typer.Option(help="Lists of one language only, such as de.")] = None,
) -> None:
    """The bundled word lists; of other languages one line each."""
    from bayesbias.cli.screen import say, show
    from bayesbias.words import list_words

    table = list_words(language)
    columns = ["name", "kind", "groups", "protected", "attributes", "description"]
    if language is None:
        others = table["name"].str.contains("/")
        folders = (
            table[others].groupby("language")["name"].agg(lambda names: ", ".join(n.split("/")[-1] for n in names))
        )
        show(table.loc[~others, columns], "Word lists")
        show(folders.rename("weathub/<language>/...").reset_index(), "Word lists of other languages (--language de)")
    elif table.empty:
        say(f"no bundled list is in the language {language!r}: 'bayesbias lists' names all")
    else:
        show(table[columns], f"Word lists in the language {language!r}")


@app.command()
def models() -> None:
    """The bundled models."""
    from bayesbias.cli.screen import show
    from bayesbias.models import list_models

    show(list_models()[["name", "engines", "description", "path"]], "Models")


@app.command()
def distances(
    embedding: EmbeddingName,
    words: WordsName,
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write, .csv or .parquet.")],
    case: Annotated[str, typer.Option(help="as-is, or fallback: try other capitalisations.")] = "as-is",
    keep_duplicates: Annotated[bool, typer.Option(help="Count a pair as often as it is listed.")] = False,
    relatedness: Annotated[
        bool, typer.Option(help="Read the covariance of alike words off the whole vocabulary, which takes longer.")
    ] = True,
    twins: metrics.Twins = "once",
    trust_pickle: TrustPickle = False,
) -> None:
    """Cosine distances between protected words and attribute words."""
    from bayesbias._checks import one_of
    from bayesbias.cli.screen import say, show_coverage
    from bayesbias.distances import distance_table, write_distance_table
    from bayesbias.embeddings import load_embedding, spellings
    from bayesbias.words import load_words

    one_of(case, ("as-is", "fallback"), "case")
    one_of(twins, ("once", "keep"), "twins")
    check_target(out, (".csv", ".parquet"), "a distance table")
    listed = load_words(words)
    wanted: Any = spellings(listed.every_word(), case, listed.language)
    if relatedness:  # spellings other than those of the lists have ranks that the file's sample would not follow
        wanted = listed if case == "as-is" else None
    kv = load_embedding(embedding, words=wanted, trust_pickle=trust_pickle)
    table = distance_table(
        kv,
        listed,
        keep_duplicates=keep_duplicates,
        case="fallback" if case == "fallback" else "as-is",
        relatedness=relatedness,
        twins="keep" if twins == "keep" else "once",
    )
    write_distance_table(table, out)
    show_coverage(table)
    say(f"{len(table):,} distances written to {out}")


@app.command()
def fit(
    table: Annotated[Path, typer.Argument(help="A distance table, .csv or .parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Fit to write, .nc.")],
    model: Model = "auto",
    engine: Engine = "auto",
    draws: Draws = 4000,
    seed: Seed = None,
    keep_duplicates: Annotated[
        bool | None, typer.Option(help="Count repeated rows of the table; by default as the table was written.")
    ] = None,
    adjust: Annotated[
        str | None, typer.Option(help="Adjust distances for an attribute of words: frequency or length.")
    ] = None,
    frequencies: Frequencies = None,
) -> None:
    """Fit a model to a distance table."""
    from bayesbias.cli.screen import say, show, show_coverage
    from bayesbias.diagnostics import diagnose
    from bayesbias.distances import read_distance_table
    from bayesbias.models import fit as fit_model
    from bayesbias.models import save_fit

    check_target(out, (".nc",), "a fit")
    distances = read_distance_table(table, keep_duplicates=keep_duplicates)
    show_coverage(distances)
    post = fit_model(
        distances, model=model, engine=engine, draws=draws, seed=seed, adjust=adjust, frequencies=frequencies
    )
    save_fit(post, out)
    say(str(diagnose(post)))
    if adjust is not None:
        from bayesbias.comparison import adjustment

        show(adjustment(post).round(3), "Contrasts before and after")
    say(f"fit of model {post.attrs['model']} (seed {post.attrs['seed']}) written to {out}")


@app.command()
def balance(
    table: Annotated[list[Path], typer.Argument(help="A distance table, .csv or .parquet, or several.")],
    frequencies: embeddings.Frequencies = None,
    attribute: Annotated[str, typer.Option(help="frequency or length.")] = "frequency",
) -> None:
    """Whether word lists differ in frequency, and whether that matters for distances and for several embeddings."""
    from bayesbias.cli.screen import say, show
    from bayesbias.diagnostics import balance as balance_of
    from bayesbias.distances import read_distance_table

    if len(table) > 1:
        tables, _ = changes.measured([str(path) for path in table], None, False, "as-is", False)
        many = balance_of(tables, embeddings.counts_of(frequencies), attribute)
        show(many.contrasts.round(3), "Lists of the contrasts", whole="embedding")
        say(many.text())
        return
    found = balance_of(read_distance_table(table[0]), embeddings.counts_of(frequencies), attribute)
    show(found.lists.round(2), f"Words by {found.attribute} ({found.source})")
    show(found.contrasts.round(3), "Lists of the contrasts")
    for text in (found.sentence, *found.notes):
        say(text)


@app.command()
def contrasts(
    fit: Annotated[Path, typer.Argument(help="A fit, .nc.")],
    first: Annotated[str, typer.Option(help="associated, different or a control list.")] = "associated",
    second: Annotated[str | None, typer.Option(help="By default different, else the first control list.")] = None,
    prob: Prob = 0.89,
    rope: Annotated[float | None, typer.Option(help="Half width of the region of practical equivalence.")] = None,
    population: Annotated[
        str, typer.Option(help="given: these protected words; similar: protected words like these too.")
    ] = "given",
    by: Annotated[str, typer.Option(help="protected_word, or group: groups and their differences.")] = "protected_word",
    rows: Annotated[str | None, typer.Option(help="What rows of words are: pooled, association or difference.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write them as .csv.")] = None,
) -> None:
    """How much closer one kind of attribute word is than another."""
    from bayesbias._files import write_text
    from bayesbias.cli.screen import say, show_contrasts
    from bayesbias.comparison import contrasts as contrast_table
    from bayesbias.comparison import decomposable_controls, decomposition, decomposition_sentence
    from bayesbias.diagnostics import diagnose
    from bayesbias.models import load_fit
    from bayesbias.models.results import Fit

    if out is not None:
        check_target(out, (".csv",), "a table of contrasts")
    post = load_fit(fit)
    found = contrast_table(post, first, second, prob=prob, rope=rope, population=population, by=by, rows=rows)
    show_contrasts(found)
    controls = decomposable_controls(Fit(post)) if first == "associated" else []
    if controls:
        control = second if second in controls else controls[0]
        say(f"  {decomposition_sentence(decomposition(post, control, prob, population))}")
    say(str(diagnose(post)))
    if out is not None:
        write_text(out, found.to_csv(index=False))
        say(f"contrasts written to {out}")


@app.command()
def report(
    fit: Annotated[Path, typer.Argument(help="A fit, .nc.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Report to write, .html or .md.")],
    prob: Prob = 0.89,
    sensitivity: Annotated[
        bool, typer.Option(help="Refit without single words, with other priors and other models.")
    ] = True,
    pictures: Annotated[Path | None, typer.Option(help="A folder for the pictures of the page, as .png.")] = None,
) -> None:
    """Write a report on a fit: one HTML file, or Markdown."""
    from bayesbias.cli.screen import say, working
    from bayesbias.models import load_fit
    from bayesbias.reporting.page import report as write_report

    check_target(out, (".html", ".htm", ".md"), "a report")
    post = load_fit(fit)
    with working("drawing pictures"):
        write_report(post, out, prob=prob, sensitivity=sensitivity, pictures=pictures)
    say(f"report written to {out}")


@app.command()
def calibrate(
    table: Annotated[Path, typer.Argument(help="A distance table, .csv or .parquet, with groups and control lists.")],
    model: Annotated[list[str] | None, typer.Option(help="A model to try; may be given several times.")] = None,
    replicates: Annotated[int, typer.Option(help="How many random word lists to draw.", min=10)] = 100,
    source: Annotated[str, typer.Option(help="Control list to draw them from.")] = "neutral",
    seed: Annotated[int, typer.Option(help="Seed of the lists.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write the rates as .csv.")] = None,
) -> None:
    """How often intervals and tests call a bias on this table when stereotype words are random control words."""
    from bayesbias._files import write_text
    from bayesbias.cli.screen import say, show
    from bayesbias.diagnostics import null_false_positive_rate
    from bayesbias.distances import read_distance_table

    if out is not None:
        check_target(out, (".csv",), "a table of rates")
    distances = read_distance_table(table)
    found = null_false_positive_rate(
        distances, model or ["published", "crossed"], replicates=replicates, seed=seed, source=source
    )
    nominal = f"{float(found['nominal'].iloc[0]):.2f}"
    show(found[["method", "contrast", "rate", "se", "width"]], f"False-positive rates, nominal {nominal}")
    if out is not None:
        write_text(out, found.to_csv(index=False))
        say(f"rates written to {out}")


@app.command()
def plan(
    what: Annotated[str, typer.Argument(help="A distance table (.csv, .parquet), a bundled word list or a TOML file.")],
    effect: Annotated[float, typer.Option(help="Contrast to be seen, in cosine distance.")] = 0.05,
    prob: Prob = 0.89,
    power: Annotated[float, typer.Option(help="Probability with which the interval is to exclude 0.")] = 0.8,
    first: Annotated[str, typer.Option(help="associated, different or a control list.")] = "associated",
    second: Annotated[str | None, typer.Option(help="By default different, else the first control list.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the fit.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write the picture, .png.")] = None,
) -> None:
    """How many words a list needs so that a contrast of a given size is seen."""
    from bayesbias.cli.screen import say, show, working
    from bayesbias.comparison import plan as plan_words
    from bayesbias.distances import read_distance_table
    from bayesbias.plots import plot_plan

    if out is not None:
        check_target(out, (".png",), "a picture")
    given = read_distance_table(what) if what.endswith((".csv", ".parquet")) else what
    with working("planning"):
        found = plan_words(given, effect=effect, prob=prob, power=power, first=first, second=second, seed=seed)
    say(found.sentence)
    show(found.needed, f"Words needed to see {effect:g} with probability {power:g}")
    if out is not None:
        save_picture(plot_plan(found), out)
        say(f"picture written to {out}")


@app.command()
def relatedness(
    table: Annotated[Path, typer.Argument(help="A distance table with relatedness, .csv or .parquet.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also draw who is like whom, .png.")] = None,
) -> None:
    """How many unrelated words each list is worth, and whether alike words scatter as the vectors predict."""
    from bayesbias.cli.screen import say, show
    from bayesbias.diagnostics import check_relatedness
    from bayesbias.distances import read_distance_table
    from bayesbias.distances import relatedness as relatedness_of
    from bayesbias.plots import plot_relatedness

    if out is not None:
        check_target(out, (".png",), "a picture")
    distances = read_distance_table(table)
    found = relatedness_of(distances)
    say(found.sentence)
    show(found.effective_words(), "Words, and as many unrelated words as would tell as much")
    show(check_relatedness(distances), "Scatter of control words against its prediction")
    if out is not None:
        save_picture(plot_relatedness(found), out)
        say(f"picture written to {out}")


@app.command()
def topics(
    embedding: EmbeddingName,
    words: Annotated[
        str,
        typer.Argument(
            help="A bundled word list or query, or the path of a TOML file.", autocompletion=names.word_lists
        ),
    ],
    metric: Annotated[
        str | None, typer.Option(help="A metric instead of the contrasts.", autocompletion=names.metrics)
    ] = None,
    replicates: Annotated[int, typer.Option(help="Random lists.", min=1)] = 1000,
    kind: Annotated[
        str, typer.Option(help="topical: as coherent and alike as the lists; random: unrelated words.")
    ] = "topical",
    seed: Annotated[int, typer.Option(help="Seed of the lists.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write the picture, .png.")] = None,
    trust_pickle: TrustPickle = False,
) -> None:
    """How large a contrast is for random topics of the vocabulary in place of the word lists."""
    from bayesbias.cli.screen import say, show
    from bayesbias.diagnostics import topic_null
    from bayesbias.embeddings import load_embedding
    from bayesbias.plots import plot_topic_null

    if out is not None:
        check_target(out, (".png",), "a picture")
    kv = load_embedding(embedding, trust_pickle=trust_pickle)
    found = topic_null(kv, words, metric, replicates, seed, kind)  # type: ignore[arg-type]  # checked where it is used
    say(found.sentence)
    for note in found.notes:
        say(f"  {note}.")
    show(found.table(), "Observed values among those of random lists")
    if out is not None:
        save_picture(plot_topic_null(found), out)
        say(f"picture written to {out}")


app.command()(first.new_words)
app.command()(first.check_words)
app.command()(first.datasets)
app.command()(first.doctor)
app.command()(metrics.queries)
app.command(context_settings=EXTRA)(metrics.metrics)
app.command()(metrics.rank)
app.command(context_settings=EXTRA)(changes.debias)
app.command()(changes.compare)
app.command()(metrics.silhouette)
app.command()(metrics.reliability)
app.command()(metrics.stability)
app.command()(embeddings.pool)
app.command()(embeddings.trend)
app.command()(embeddings.criterion)
app.command()(embeddings.audit)
app.command()(embeddings.sweep)
