"""``bayesbias demo``: from the bundled vectors to a report."""

from __future__ import annotations

from pathlib import Path

from bayesbias._files import whole_file
from bayesbias.cli.screen import say, show_contrasts, show_coverage, working
from bayesbias.comparison import beside_associated, contrasts
from bayesbias.diagnostics import diagnose
from bayesbias.distances import distance_table, write_distance_table
from bayesbias.embeddings import load_embedding
from bayesbias.errors import InputError
from bayesbias.models import fit, save_fit
from bayesbias.plots import plot_coefficients, plot_contrasts, plot_distances, plot_predictions
from bayesbias.reporting.page import report
from bayesbias.reporting.sentences import verdict_sentences
from bayesbias.words import load_words

EMBEDDING = "google-news-slice"


def run_demo(words: str, out: Path, seed: int) -> None:
    """Slice, distances, fit, contrasts on the screen; table, fit, pictures and report in the folder ``out``."""
    listed = load_words(words)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror or error}") from error
    with working(f"reading {EMBEDDING}"):
        kv = load_embedding(EMBEDDING)
    table = distance_table(kv, listed)
    say(f"{len(kv.index_to_key):,} Google News vectors, word list {listed.name}: {len(table):,} distances")
    show_coverage(table)
    with working("fitting"):
        post = fit(table, seed=seed)
        verdict = diagnose(post)
    other = next(iter(beside_associated(post)), None)
    if other is not None:
        show_contrasts(contrasts(post, "associated", other))
    for sentence in verdict_sentences(post, verdict=verdict):
        say(sentence)
    say(verdict.headline())
    with working("drawing pictures and writing the report"):
        write_distance_table(table, out / "distances.csv")
        save_fit(post, out / "fit.nc")
        pictures = {
            "coefficients": plot_coefficients(post),
            "predictions": plot_predictions(post),
            "distances": plot_distances(table),
        }
        if other is not None:
            pictures["contrasts"] = plot_contrasts(post, second=other)
        for name, figure in pictures.items():
            with whole_file(out / f"{name}.png") as temporary:
                figure.savefig(temporary, dpi=150)
        report(post, out / "report.html")
    say(f"Written to {out}: report.html, {', '.join(f'{name}.png' for name in pictures)}, distances.csv, fit.nc")
