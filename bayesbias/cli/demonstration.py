"""``bayesbias demo``: from the bundled vectors to a report."""

from __future__ import annotations

from pathlib import Path

from bayesbias._files import whole_file
from bayesbias.cli.screen import say, show_contrasts, show_coverage, working
from bayesbias.comparison import contrasts
from bayesbias.diagnostics import diagnose
from bayesbias.distances import distance_table, write_distance_table
from bayesbias.embeddings import load_embedding
from bayesbias.models import fit, save_fit
from bayesbias.plots import plot_coefficients, plot_contrasts, plot_distances, plot_predictions
from bayesbias.reporting.page import report
from bayesbias.reporting.sentences import verdict_sentences
from bayesbias.words import load_words

EMBEDDING = "google-news-slice"


def run_demo(words: str, out: Path, seed: int) -> None:
    """Slice, distances, fit, contrasts on the screen; table, fit, pictures and report in the folder ``out``."""
    listed = load_words(words)
    out.mkdir(parents=True, exist_ok=True)
    with working(f"reading {EMBEDDING}"):
        kv = load_embedding(EMBEDDING)
    table = distance_table(kv, listed)
    say(f"{len(kv.index_to_key):,} Google News vectors, word list {listed.name}: {len(table):,} distances")
    show_coverage(table)
    with working("fitting"):
        post = fit(table, seed=seed)
        verdict = diagnose(post)
    show_contrasts(contrasts(post, "associated", _control(post.posterior["connection"].to_numpy().tolist())))
    for sentence in verdict_sentences(post, verdict=verdict):
        say(sentence)
    say(str(verdict))
    with working("drawing pictures and writing the report"):
        write_distance_table(table, out / "distances.csv")
        save_fit(post, out / "fit.nc")
        pictures = {
            "coefficients": plot_coefficients(post),
            "contrasts": plot_contrasts(post, second=_control(post.posterior["connection"].to_numpy().tolist())),
            "predictions": plot_predictions(post),
            "distances": plot_distances(table),
        }
        for name, figure in pictures.items():
            with whole_file(out / f"{name}.png") as temporary:
                figure.savefig(temporary, dpi=150)
        report(post, out / "report.html")
    say(f"Written to {out}: report.html, {', '.join(f'{name}.png' for name in pictures)}, distances.csv, fit.nc")


def _control(connections: list[str]) -> str:
    """The connection to set beside associated: human, or what there is."""
    return next(name for name in ("human", "neutral", "different", *connections) if name in connections)
