"""The commands ``run`` and ``demo``: from an embedding and a word list to figures and a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias._support.files import home_folder
from bayesbias._support.phrases import share
from bayesbias.checks.calibration.topics import load_for_topics
from bayesbias.checks.summaries import PROB
from bayesbias.cli.options import Cases
from bayesbias.cli.screen import (
    save_picture,
    save_table,
    say,
    show,
    show_changes,
    show_contrasts,
    show_coverage,
    working,
)
from bayesbias.contrast import beside_associated, size_sentence
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit, kept_open
from bayesbias.reporting.verdicts import verdict_sentences
from bayesbias.vectors import about
from bayesbias.words import OTHER, PairList, WordLists

if TYPE_CHECKING:
    import xarray as xr
    from gensim.models import KeyedVectors

EMBEDDING = "google-news-slice"


def run_analysis(
    embedding: str,
    words: str,
    out: Path,
    seed: int,
    model: str = "auto",
    case: Cases = "as-is",
    topics: int = 1000,
    trust_pickle: bool = False,
    sensitivity: bool = True,
    adjust: str | None = None,
    frequencies: Any = None,
) -> None:
    """Distances, fit, contrasts on the screen; table, fit, figures and report in the folder ``out``."""
    listed = bb.load_words(words)
    if model != "auto":
        bb.load_model(model)
    with working(f"reading {embedding}"):
        kv = _part(embedding, listed, case, topics, seed, trust_pickle)
    table = bb.distance_table(kv, listed, case=case)
    out = made_folder(out)  # not before the input is known to be good
    source = "Google News vectors" if embedding == EMBEDDING else f"vectors of {Path(embedding).name}"
    say(f"{about(kv)['vectors']:,} {source}, word list {listed.name}: {len(table):,} distances")
    for term in terms(listed):
        say(term)
    show_coverage(table)
    with working("fitting"):
        post = bb.fit(table, model, seed=seed, adjust=adjust, frequencies=frequencies)
        result = Fit(post)
    with kept_open(result):
        verdict = bb.diagnose(post)
        other = next(iter(beside_associated(result)), None)
        if other is not None:
            headline = bb.contrasts(post, "associated", other)
            show_contrasts(headline)
            say(size_sentence(headline))
            if other == OTHER and len(result.data.group_names) > 2:
                _show_groups(post)
        for sentence in verdict_sentences(post, verdict=verdict):
            say(sentence)
        null = None
        if other is not None and topics:
            null = bb.topic_null(kv, listed, replicates=topics, seed=seed or 0, case=case)
            say(null.sentence)
        say(verdict.headline())
        with working("drawing figures and writing the report"):
            bb.write_distance_table(table, out / "distances.parquet")
            save_table(table, out / "distances.csv")
            bb.save_fit(post, out / "fit.nc")
            save_picture(lambda: bb.plot_distances(table), out / "distances.png")
            bb.report(post, out / "report.html", topics=null, sensitivity=sensitivity, pictures=out)
    files = "report.html and its figures (.png), distances.png, distances.parquet, distances.csv (its rows), fit.nc"
    say(f"Written to {out}: {files}")
    say(f"Next: open {out / 'report.html'} in a browser")


def _show_groups(post: xr.DataTree) -> None:
    """The contrast by group, and the differences of groups; why not, where there are none."""
    try:
        groups = bb.contrasts(post, by="group")
    except InputError as error:
        say(f"No contrasts by group: {error}")
        return
    show(groups.assign(p_closer=groups["p_closer"].map(share)), "The same by group, and differences of groups")


def _part(embedding: str, listed: WordLists, case: Cases, topics: int, seed: int, trust_pickle: bool) -> KeyedVectors:
    """Part of an embedding that the analysis needs; all of it for spellings other than those of the lists."""
    if case != "as-is":
        return bb.load_embedding(embedding, trust_pickle=trust_pickle)
    if topics:
        return load_for_topics(embedding, listed, seed, trust_pickle)
    return bb.load_embedding(embedding, words=listed, trust_pickle=trust_pickle)


def made_folder(out: Path) -> Path:
    """A folder that is there from now on."""
    folder = home_folder(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    return folder


def terms(listed: WordLists) -> list[str]:
    """One line for each term of the tables that follow."""
    words = next(iter(listed.protected.values()))
    controls = ", ".join(listed.labels.get(name, name) for name in listed.controls)
    lines = [
        f"protected: a word whose bias is measured, such as {words[0]}",
        "associated: a stereotype of the protected word's own group",
        *(["different: a stereotype of another group"] if len(listed.stereotypes) > 1 else []),
        f"control: a word of no stereotype, to compare with ({controls or 'this list has none'})",
        f"{100 * PROB:g}% interval: holds the true value with probability {PROB:g}, given model and data",
    ]
    return [f"  {line}" for line in lines]


def run_debiasing(words: str, out: Path, seed: int) -> None:
    """The same slice debiased: what changed on the screen; both tables, figures and a report in the folder ``out``."""
    listed, out = bb.load_words(words), home_folder(out)
    kv = bb.load_embedding(EMBEDDING)
    method, options = _method(listed)
    with working("debiasing"):
        debiased = bb.debias(kv, method, **options)
    say(str(debiased.bayesbias_debiasing))
    before, after = bb.distance_table(kv, listed), bb.distance_table(debiased, listed)
    comparison = bb.compare(before=before, after=after, seed=seed)
    beside = bb.side_effects(before, after, kv, debiased, seed=seed, comparison=comparison)
    show_changes(comparison, beside, PROB)
    with working("drawing figures and writing the report"):
        bb.write_distance_table(after, out / "distances-after.parquet")
        save_table(comparison.changes(), out / "changes.csv")
        pictures = {
            "change": partial(bb.plot_change, comparison),
            "side-effects": partial(bb.plots.plot_side_effects, beside),
        }
        for name, draw in pictures.items():
            save_picture(draw, out / f"{name}.png")
        bb.report(comparison, out / "change.html", effects=beside)
    written = ["change.html", *(f"{name}.png" for name in pictures), "changes.csv", "distances-after.parquet"]
    say(f"Written to {out}: {', '.join(written)}")
    say(f"Next: open {out / 'change.html'} in a browser")


def _method(listed: WordLists) -> tuple[str, dict[str, Any]]:
    """Debiasing method for the words of a list: by gender pairs, by groups word by word, or by the null space."""
    groups = {name: list(words) for name, words in listed.protected.items()}
    if listed.name == "gender" and isinstance(pairs := bb.load_list("gender_pairs"), PairList):
        return "hard", {"definitional": list(pairs.pairs), "equalize": list(pairs.pairs)}
    if len({len(words) for words in groups.values()}) == 1:
        return "hard_multiclass", {"definitional": groups}
    return "null_space", {"definitional": groups}
