"""The commands ``run`` and ``demo``: from an embedding and a word list to figures and a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias._support.files import home_folder, made_folder
from bayesbias._support.phrases import difference, ends_of, percent, share, signed
from bayesbias.checks.calibration.topics import load_for_topics
from bayesbias.checks.convergence import headline_of
from bayesbias.checks.summaries import PROB
from bayesbias.cli.options import Cases
from bayesbias.cli.reading import lists_after
from bayesbias.cli.screen import save_picture, save_table, say, working
from bayesbias.contrast import beside_associated
from bayesbias.errors import agreed, many
from bayesbias.models.tree import Fit, kept_open
from bayesbias.reporting.fit_report import WORDS, FitReport
from bayesbias.reporting.verdicts import beside_given, of_further_words, whole
from bayesbias.words import OWN, PairList, WordLists, labelled

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.checks.calibration.topics import TopicNull
    from bayesbias.checks.confounds import Balance

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
    """The answer on the screen; distances, fit, figures and report in the folder ``out``."""
    listed = lists_after(embedding, words)
    if model != "auto":
        bb.load_model(model)
    with working(f"reading {embedding}"):
        kv = _part(embedding, listed, case, topics, trust_pickle)
    table = bb.distance_table(kv, listed, case=case)
    out = made_folder(out)  # not before the input is known to be good
    with working("fitting"):
        post = bb.fit(table, model, seed=seed, adjust=adjust, frequencies=frequencies)
        result = Fit(post)
    with kept_open(result):
        null = None
        if beside_associated(result) and topics:
            null = bb.topic_null(kv, listed, replicates=topics, seed=seed or 0, case=case)
        for paragraph in answer(result, null):
            say(paragraph)
        with working("drawing figures and writing the report"):
            bb.write_distance_table(table, out / "distances.parquet")
            save_table(table, out / "distances.csv")
            bb.save_fit(post, out / "fit.nc")
            save_picture(lambda: bb.plot_distances(table), out / "distances.png")
            bb.report(post, out / "report.html", topics=null, sensitivity=sensitivity, pictures=out)
    say(f"Written to {out}: report.html, fit.nc, distances (.parquet, .csv), figures")
    say(f"Next: open {out / 'report.html'} in a browser")


def answer(result: Fit, null: TopicNull | None) -> list[str]:
    """The answer of a fit, and in a second paragraph how sure it is, with what was measured."""
    # what has no room in ten lines is left to the report, the least important first
    for left_out in (set[str](), {"further"}, {"further", "found"}):
        paragraphs = _paragraphs(result, null, left_out)
        if sum(len(wrap(each, WIDTH)) for each in paragraphs) <= LINES:
            break
    return paragraphs


WIDTH, LINES = 79, 8
"""Columns of a screen, and lines of an answer on it, with two more for what is written where."""


def _paragraphs(result: Fit, null: TopicNull | None, left_out: set[str]) -> list[str]:
    """The same without further words, or how many words were found."""
    record, verdict, adjusted = result.data.coverage, bb.diagnose(result.tree), result.adjusted_for
    said, sentences = FitReport(result, null).answer(), []
    counted = "random list" in said
    if other := next(iter(beside_associated(result)), None) if result.data.protected_words.size > 1 else None:
        row = whole(bb.contrasts(result.tree, OWN, other))
        further = None if "further" in left_out else of_further_words(result, other, PROB)
        name = labelled(f"{OWN} - {other}", result.labels)
        sentences.append(
            f"{difference(name).capitalize()} is {signed(row['mean'])} (negative: closer; {percent(PROB)} interval "
            f"{ends_of(row)}, probability of {'closer' if row['mean'] < 0 else 'farther'} {share(row['probability'])}"
            f"{beside_given(row, further)})."
        )
        sentences += [] if verdict.balance is None else _of_frequency(verdict.balance, f"{OWN} - {other}")
    if adjusted:
        sentences.append(WORDS.adjusted_for(by=adjusted))
    if null is not None and not counted:
        as_far = int(null.table()["count"].iloc[0])
        are = agreed(as_far, "is", "are")
        before = ", before the adjustment" if adjusted else ""  # their distances are not adjusted
        sentences.append(
            f"{as_far:,} of {null.replicates:,} sets of random lists {are} at least as far from 0{before}."
        )
    if record is not None and "found" not in left_out:
        words = record.held
        sentences.append(f"{words.held:,} of {many(words.asked, 'word')}{words.and_controls} were found.")
    judged = headline_of(verdict, see="bayesbias diagnose")
    if verdict.caution in said:
        judged = judged.removesuffix(verdict.caution).rstrip()
    return [said, " ".join([*sentences, judged])]


def _of_frequency(balance: Balance, contrast: str) -> list[str]:
    """The prediction by frequency alone of a contrast that is warned about."""
    rows = balance.contrasts[(balance.contrasts["contrast"] == contrast) & balance.contrasts["warning"]]
    by = balance.attribute
    return [
        f"{by.capitalize()} alone predicts a difference of {signed(each)}: fit with --adjust {by} too."
        for each in rows["expected"]
    ]


def _part(embedding: str, listed: WordLists, case: Cases, topics: int, trust_pickle: bool) -> KeyedVectors:
    """Part of an embedding that the analysis needs; all of it for spellings other than those of the lists."""
    if case != "as-is":
        return bb.load_embedding(embedding, trust_pickle=trust_pickle)
    if topics:
        return load_for_topics(embedding, listed, trust_pickle)
    return bb.load_embedding(embedding, words=listed, trust_pickle=trust_pickle)


def run_debiasing(words: str, out: Path, seed: int) -> None:
    """The same slice debiased: the change on the screen; its distances, figures and a report in the folder ``out``."""
    listed, out = bb.load_words(words), home_folder(out)
    kv = bb.load_embedding(EMBEDDING)
    method, options = _method(listed)
    with working("debiasing"):
        debiased = bb.debias(kv, method, **options)
    before, after = bb.distance_table(kv, listed), bb.distance_table(debiased, listed)
    comparison = bb.compare(before=before, after=after, seed=seed)
    beside = bb.side_effects(kv, debiased, comparison, seed=seed)
    say(" ".join(next(iter(comparison.parts().values()))))
    say(str(debiased.bayesbias_debiasing))
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
