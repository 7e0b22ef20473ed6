"""Commands on one embedding, distance table or fit."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import bayesbias as bb
from bayesbias.cli import names, reading
from bayesbias.cli.options import FRESH, PICTURE, SOURCES, WORDS, Given, Option, command, written
from bayesbias.cli.screen import say, say_notes, show, show_contrasts, show_coverage, working
from bayesbias.cli.writing import save_picture
from bayesbias.errors import InputError


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
    if len(given.files) > 1:
        tables, _ = reading.measured([str(path) for path in given.files])
        many = given.call(bb.balance, data=tables)
        show(many.contrasts.round(3), "Lists of the contrasts", whole="embedding")
        say(many.text())
        return
    balanced = given.call(bb.balance, data=bb.read_distance_table(given.files[0]))
    show(balanced.lists.round(2), f"Words by {balanced.attribute} ({balanced.source})")
    show(balanced.contrasts.round(3), "Lists of the contrasts")
    for text in (balanced.sentence, *balanced.notes):
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
    "calibration.false_positives:null_false_positive_rate",
    "table model=models replicates source seed out",
    model=Option("A model to try; may be given several times.", complete=names.models),
    replicates=Option("How many random word lists to draw.", default=100, min=10),
    out=written("a table of rates", ".csv", said="rates"),
)
def calibrate(given: Given) -> Any:
    """How often intervals and tests call a bias on this table when stereotype words are random control words."""
    from bayesbias.calibration.false_positives import null_false_positive_rate

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
    if table["reachable"].all():
        table = table.drop(columns="reachable")
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
