"""The commands ``run`` and ``demo``: from an embedding and a word list to figures and a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesbias as bb
from bayesbias._support.files import home_folder, made_folder
from bayesbias.checks.topics import load_for_topics
from bayesbias.cli.options import Cases
from bayesbias.cli.reading import lists_after
from bayesbias.cli.screen import save_picture, save_table, say, working
from bayesbias.contrast import beside_associated
from bayesbias.models.tree import Fit
from bayesbias.words import PairList, WordLists

if TYPE_CHECKING:
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
    null = None
    if beside_associated(result) and topics:
        null = bb.topic_null(kv, listed, replicates=topics, seed=seed or 0, case=case)
    answer = bb.summary(post, null)
    say(str(answer))
    with working("drawing figures and writing the report"):
        bb.write_distance_table(table, out / "distances.parquet")
        save_table(table, out / "distances.csv")
        bb.save_fit(post, out / "fit.nc")
        pictures = {"distances": lambda: bb.plots.plot_distances(table), **answer.pictures()}
        for name, draw in pictures.items():
            save_picture(draw, out / f"{name.lower().replace(' ', '-')}.png")
        bb.report(answer, out / "report.html")
    say(f"Written to {out}: report.html, fit.nc, distances (.parquet, .csv), figures")
    say(f"Next: open {out / 'report.html'} in a browser")


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
    say(str(comparison))
    say(str(beside))
    with working("drawing figures and writing the report"):
        bb.write_distance_table(after, out / "distances-after.parquet")
        save_table(comparison.changes(), out / "changes.csv")
        pictures = {
            "change": partial(bb.plots.plot_change, comparison),
            "side-effects": partial(bb.plots.plot_side_effects, beside),
        }
        for name, draw in pictures.items():
            save_picture(draw, out / f"{name}.png")
        bb.report([comparison, beside], out / "change.html")
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
