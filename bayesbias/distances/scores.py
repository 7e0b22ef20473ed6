"""Tables of scores that are no distances, such as log odds of a masked model, in the form of distance tables."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from bayesbias._checks import one_of
from bayesbias.distances.storage import SCALE, Coverage, entries_of
from bayesbias.distances.tables import attributes_of
from bayesbias.errors import InputError, listed, many, near, shown
from bayesbias.words import WordLists, load_words

NEEDED = ("protected_word", "attribute_word", "score")


def score_table(
    scores: pd.DataFrame,
    words: WordLists | str | Path,
    what: str = "scores",
    closer: Literal["high", "low"] = "high",
) -> pd.DataFrame:
    """A table of scores of word pairs as a distance table, which :func:`fit` takes.

    Any number that says how strongly two words go together can stand in place of a distance: log odds of a masked
    language model, ratings, pointwise mutual information. Scores are standardised over the whole table: a difference
    of 0.1 is one standard deviation, and less is closer, as with distances. Without vectors the model is ``crossed``,
    which takes different words for unrelated: intervals for lists of one topic are too narrow.

    Parameters
    ----------
    scores
        One row for each pair with the columns ``protected_word``, ``attribute_word`` and ``score``. With a column
        ``template`` there is one row for each pair and template: differences between the means of templates are taken
        out, and a pair has the mean over its templates. How far templates differ is then not part of the intervals.
    words
        Word lists, or what :func:`load_words` takes, which tell how each attribute word stands to each protected word.
    what
        What the scores are, as reports name them, such as ``"log odds of a masked model"``.
    closer
        Whether ``"high"`` or ``"low"`` scores are of words that go together.

    Returns
    -------
    DataFrame
        As :func:`distance_table` returns it, without relatedness. Missing pairs and words are in its coverage.

    Examples
    --------
    >>> lists = bb.load_words("weat7")
    >>> pairs = bb.distance_table("google-news-slice", lists, relatedness=False)
    >>> scores = pairs.rename(columns={"distance": "score"})[["protected_word", "attribute_word", "score"]]
    >>> table = bb.checks.score_table(scores, lists, "distances as scores", closer="low")
    >>> bool(bb.contrasts(bb.fit(table, seed=0)).loc[0, "mean"] < 0)
    True
    """
    one_of(closer, ("high", "low"), "closer")
    if not isinstance(what, str) or not what.strip():
        raise InputError(f"what is {shown(what)}: say what the scores are, such as 'log odds of a masked model'")
    lists = words if isinstance(words, WordLists) else load_words(words)
    values = _by_pair(scores)
    spread = float(values.std())
    if not spread > 0:
        raise InputError("all scores are equal: there is nothing to compare")
    standard = (values - values.mean()) / spread
    distance = 1 - SCALE * (standard if closer == "high" else -standard)
    extreme = distance[(distance < 0) | (distance > 2)]
    if len(extreme):
        pair = " and ".join(map(str, extreme.index[0]))
        raise InputError(
            f"{many(len(extreme), 'score')}, that of {pair} first, lie more than {1 / SCALE:g} standard deviations "
            "from the mean: correct them, or transform them, such as to logarithms"
        )
    table, asked = _of_lists(lists, distance)
    used = pd.MultiIndex.from_frame(table[["protected_word", "attribute_word"]])
    given = pd.MultiIndex.from_frame(scores[["protected_word", "attribute_word"]].astype(str))
    coverage = Coverage(
        word_list=lists.name,
        lists=entries_of(lists, {*table["protected_word"], *table["attribute_word"]}),
        missing_pairs=asked - len(table),
        unused_rows=int((~given.isin(used) | scores["score"].isna().to_numpy()).sum()),
        source=lists.source,
        doi=lists.doi,
        pairs=len(table),
        relatedness=f"none: {what} come without vectors",
        labels=dict(lists.labels),
        language=lists.language,
        measure=what.strip(),
    )
    table.attrs["coverage"] = coverage.as_dict()
    return table


def _by_pair(scores: pd.DataFrame) -> pd.Series:
    """The score of each pair: the mean over templates, whose own means are taken out."""
    if not isinstance(scores, pd.DataFrame):
        raise InputError(f"scores is a {type(scores).__name__}: give a DataFrame with columns {', '.join(NEEDED)}")
    if missing := [name for name in NEEDED if name not in scores]:
        raise InputError(f"scores lacks {', '.join(missing)}: its columns must be {', '.join(NEEDED)}")
    number = pd.to_numeric(scores["score"], errors="coerce").astype(float)
    wrong = scores.loc[~np.isfinite(number) & scores["score"].notna(), "score"]
    if len(wrong):
        raise InputError(f"row {wrong.index[0]}, column 'score': {wrong.tolist()[0]!r} is no finite number")
    if "template" not in scores and (odd := [name for name in scores if near(str(name), ["template"])]):
        raise InputError(f"the column {odd[0]!r} is not known (did you mean 'template'?)")
    rows = scores.assign(score=number).dropna(subset=list(NEEDED))
    unit = ["protected_word", "attribute_word", *(["template"] if "template" in scores else [])]
    if (twice := rows.duplicated(unit)).any():
        again = " and ".join(map(str, rows.loc[twice, unit].iloc[0]))
        raise InputError(f"{again} have more than one score: keep one row for each {' and '.join(unit)}")
    if "template" in scores:
        rows["score"] -= rows.groupby("template")["score"].transform("mean")
    return rows.groupby(["protected_word", "attribute_word"])["score"].mean()


def _of_lists(lists: WordLists, distance: pd.Series) -> tuple[pd.DataFrame, int]:
    """The pairs of word lists that have a score, in the lists' order, and how many pairs the lists make."""
    everything = {word for part in (*lists.stereotypes.values(), *lists.controls.values()) for word in part}
    rows = [
        (word, group, other.word, other.attribute_class, other.connection)
        for group, protected in lists.protected.items()
        for other in attributes_of(lists, group, everything, keep_duplicates=False)
        for word in protected
        if word != other.word
    ]
    columns = ["protected_word", "group", "attribute_word", "attribute_class", "connection"]
    table = pd.DataFrame(rows, columns=columns)
    place = pd.MultiIndex.from_frame(table[["protected_word", "attribute_word"]])
    table["distance"] = distance.reindex(place).to_numpy()
    known = table.dropna(subset="distance").reset_index(drop=True)
    if known.empty:
        raise InputError(
            f"no pair of the word list {lists.name} has a score: the scores hold "
            f"{listed(sorted(set(distance.index.get_level_values(0).astype(str))), 5)}"
        )
    return known.astype(dict.fromkeys(columns, "str")), len(table)
