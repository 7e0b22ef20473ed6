"""Comparison of word lists in frequency or another attribute, and its effect on their distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias.checks.summaries import PROB, cluster_interval_of
from bayesbias.distances.adjustment import FEWEST, FREQUENCY, WordValues, control_slope, vocabulary_curve, word_values
from bayesbias.distances.dataframe import COSINE
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.tree import Fit, read_distances
from bayesbias.models.weights import association_rows, word_weights
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.related import list_correlations
from bayesbias.results import Note, Result
from bayesbias.vectors.lookup import left_out
from bayesbias.words import OTHER, OWN, STEREOTYPES, counterparts

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.distances.covariances import Relatedness

MOST_JUDGED = 300  # protected words beyond which associations, each of which rests on all of them, are not judged
QUESTIONABLE = 0.5  # standard errors of a row beyond which what the attribute predicts calls it into question
ROWS = ["protected_word", "group", "contrast", "expected", "distance", "se", "warning"]
PAIRS = ["first", "second", "difference", "overlap", "expected", "expected_low", "expected_high"]
FAR = 0.5  # mean zipf values of lists that differ by more differ much; other attributes: half a standard deviation
MOST_R2 = 0.1
MOST_SHARE = 0.5
"""A slope matters if it explains more than the former of the variance of distances, or if it is known (beyond two
standard errors) and predicts a difference of more than the latter of the contrast's cluster standard error."""
MOST_ROWS = 0.1  # share of a contrast's rows that are called into question beyond which a note says so
BIN = 0.5  # width of the bins in which distributions are compared, in standard deviations of the values
CONTRASTS = ["contrast", "difference", "overlap", "expected", "distance", "warning"]
LISTS = ["list", "kind", "words", "known", "mean", "sd", "low", "high"]


class _ListMeans(NamedTuple):
    """Distances and expected distances of protected words to attribute lists."""

    words: list[str]  # protected words, J, and their groups
    groups: list[str]
    names: list[str]  # of the attribute lists, L
    own: IntArray  # place of the list of each word's group, (J,), -1 where it has none
    stereotypes: IntArray  # places of the lists of the groups
    member: np.ndarray  # which attribute word is in which list, (L, W)
    attributes: list[str]  # the attribute words, W
    distances: FloatArray  # (J, W), NaN where there is none
    expected: FloatArray  # what the attribute predicts of them, NaN where it is not known
    # of words that are related, by Q components: correlations of lists (Q, L, L), and loadings times their sd (J, Q)
    kernels: FloatArray | None
    loadings: FloatArray | None

    def means(self, values: FloatArray) -> FloatArray:
        """Means (J, L) of values (J, W) over the words of each list; NaN where there is none."""
        known = np.isfinite(values)
        total, count = np.where(known, values, 0.0) @ self.member.T, known.astype(float) @ self.member.T
        result: FloatArray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return result

    def compared(self, other: str) -> FloatArray:
        """Weights (J, L) of the lists in each word's contrast of associated with another connection."""
        weights = np.zeros((len(self.words), len(self.names)))
        sizes = self.member.sum(axis=1)
        for i, own in enumerate(self.own.tolist()):
            places = [self.names.index(other)] if other in self.names else []
            if other == OTHER:
                places = [place for place in self.stereotypes.tolist() if place != own]
            if own < 0 or not places:
                weights[i] = np.nan
            else:
                weights[i, own] = 1.0
                weights[i, places] -= sizes[places] / sizes[places].sum()
        return weights

    def association(self) -> FloatArray | None:
        """Weights (J, J, L) of the mean distances in each word's association; None where there is none."""
        size, lists = len(self.words), len(self.stereotypes)
        if lists < 2 or (self.own < 0).any() or size > MOST_JUDGED:
            return None
        own = np.searchsorted(self.stereotypes, self.own)
        everyone = np.ones(size, dtype=bool)
        of_words = word_weights(own.astype(str).tolist(), everyone, np.unique(own).astype(str).tolist())
        weights = np.zeros((size, size, len(self.names)))
        weights[:, :, self.stereotypes] = association_rows(own, of_words, lists)
        return weights

    def variances(self, weights: FloatArray) -> FloatArray:
        """Variance (J,) of each word's sum of mean distances, with weights (J, L).

        It follows from the vectors, or attribute words are independent clusters.
        """
        if self.kernels is not None and self.loadings is not None:
            by_component: FloatArray = np.einsum("jl,qlk,jk->jq", weights, self.kernels, weights)
            return (self.loadings**2 * by_component).sum(axis=1)
        # lists that do not count may have no scatter
        scatter = self._scatter(self.distances)
        return np.multiply(weights**2, scatter, out=np.zeros_like(weights), where=weights != 0).sum(axis=1)

    def joint_variances(self, weights: FloatArray) -> FloatArray:
        """The same (m,) of sums over words, with weights (m, J, L)."""
        if self.kernels is not None and self.loadings is not None:
            turned = np.einsum("mjl,jq->mql", weights, self.loadings)
            result: FloatArray = np.einsum("mql,qlk,mqk->m", turned, self.kernels, turned)
            return result
        filled = np.nan_to_num(self.distances)
        total = np.zeros(len(weights))
        for i in np.flatnonzero(weights.any(axis=(0, 1))):
            sums = np.where(self.member[i] > 0, weights[:, :, i] @ filled, np.nan)
            total += self._scatter(sums)[:, i]
        return total

    def _scatter(self, values: FloatArray) -> FloatArray:
        """Variance (rows, L) of the mean of values (rows, W) over the words of each list."""
        mean, square = self.means(values), self.means(values**2)
        count = np.isfinite(values).astype(float) @ self.member.T
        spread = np.maximum(square - mean**2, 0)
        result: FloatArray = np.divide(spread, count - 1, out=np.full(spread.shape, np.inf), where=count > 1)
        return result


def _list_means(data: Distances, values: WordValues, related: Relatedness | None, slope: float) -> _ListMeans:
    """Distances and what an attribute predicts of them: by the vocabulary's curves, else by a common slope."""
    table, words = data.table, data.protected_words.tolist()
    wide = table.drop_duplicates(["protected_word", "attribute_word"]).pivot_table(
        index="protected_word", columns="attribute_word", values="distance", observed=True
    )
    attributes = [str(word) for word in wide.columns]
    listed = table[["attribute_class", "attribute_word"]].drop_duplicates()
    names = [str(name) for name in dict.fromkeys(listed["attribute_class"]) if name]
    by_list = listed.groupby("attribute_class")["attribute_word"]
    member = np.array([np.isin(attributes, by_list.get_group(name)) for name in names], dtype=float)
    member = member.reshape(len(names), len(attributes))
    mine = table[table["connection"] == OWN].drop_duplicates("protected_word")
    list_of = dict(zip(mine["protected_word"], mine["attribute_class"], strict=True))
    own = [names.index(list_of[word]) if list_of.get(word) else -1 for word in words]
    x = values.of(attributes)
    expected, kernels, loadings = np.tile(slope * x, (len(words), 1)), None, None
    if related is not None:
        rows = np.array([related.protected_words.index(word) for word in words])
        if (drawn := vocabulary_curve(related, values)) is not None:
            expected = np.full((len(words), len(x)), np.nan)
            expected[:, np.isfinite(x)] = related.of_words(drawn[0].at(x[np.isfinite(x)]), rows)
        parts = related.components
        kernels = list_correlations(parts.correlations, *related.overlaps(member > 0, attributes))
        loadings = parts.loadings[rows] * np.sqrt(parts.variances)
    return _ListMeans(
        words,
        data.groups.tolist(),
        names,
        np.array(own),
        np.array(sorted({place for place in own if place >= 0}), dtype=np.intp),
        member,
        attributes,
        wide.reindex(index=words).to_numpy(dtype=float),
        expected,
        kernels,
        loadings,
    )


def _judged_rows(given: _ListMeans, connections: list[str], known: bool) -> pd.DataFrame:
    """Each row of a protected word, what the attribute predicts of it, and whether that (if ``known``) is too much."""
    means, expected, contrasts = given.means(given.distances), given.means(given.expected), []
    for other in counterparts(OWN, connections):
        weights = given.compared(other)
        predicted, distance = ((weights * each).sum(axis=1) for each in (expected, means))
        contrasts.append((f"{OWN} - {other}", predicted, distance, given.variances(weights)))
    if (joint := given.association()) is not None:
        predicted, distance = (np.einsum("mjl,jl->m", joint, np.nan_to_num(each)) for each in (expected, means))
        contrasts.append(("association", predicted, distance, given.joint_variances(joint)))
    pieces = []
    for contrast, predicted, distance, variances in contrasts:
        labels = {"protected_word": given.words, "group": given.groups, "contrast": contrast}
        numbers = {"expected": predicted, "distance": distance, "se": np.sqrt(np.maximum(variances, 0))}
        pieces.append(pd.DataFrame(labels | numbers).dropna(subset=["expected", "se"]))
    rows = pd.concat(pieces or [pd.DataFrame(columns=ROWS[:-1])], ignore_index=True)
    return rows.assign(warning=known & (rows["expected"].abs() > QUESTIONABLE * rows["se"]))


def _judged_pairs(given: _ListMeans, values: WordValues, spread: float) -> pd.DataFrame:
    """Each two attribute lists: how far their values differ, and what that predicts of distances."""
    own, expected = values.of(given.attributes), given.means(given.expected)
    centres = given.means(own[None])[0]
    known = [own[(member > 0) & np.isfinite(own)] for member in given.member]
    rows = []
    for i, j in combinations(range(len(given.names)), 2):
        common, apart = _overlap(known[i], known[j], BIN * spread), expected[:, i] - expected[:, j]
        predicted = apart.mean(), apart.min(), apart.max()
        rows.append((given.names[i], given.names[j], centres[i] - centres[j], common, *predicted))
    return pd.DataFrame(rows, columns=PAIRS)


@dataclass(frozen=True, repr=False)
class Balance(Result):
    """Differences of lists in an attribute of their words, and the dependence of distances on it.

    Attributes
    ----------
    attribute, unit, source
        Name of the attribute, what a difference of 1 is, and where the numbers come from.
    lists
        One row a list: ``list``, ``kind`` (protected, stereotype, control), ``words``, ``known`` (words with a value),
        ``mean``, ``sd``, ``low`` and ``high`` of the values.
    slopes
        Slope of distance on the attribute: ``where`` (``controls``: within control lists, a word counting once;
        ``vocabulary``: over the sample of the vocabulary, mean over protected words), ``slope``, ``se``, ``r2``,
        ``words``.
    contrasts
        One row for each contrast of associated with another list: ``difference`` of the mean values, ``overlap`` (share
        of the two distributions that is common), ``expected`` (difference of distances that the attribute predicts, by
        the curves of :func:`fit` with ``adjust``, else by the slope), ``distance`` (that there is), ``warning``.
    pairs
        The same of each two attribute lists, ``first`` and ``second``, with ends over protected words, ``expected_low``
        and ``expected_high``.
    rows
        One row for each protected word and contrast, and for its ``association``: ``expected``, ``distance``, ``se``
        (standard error, attribute lists being exchangeable), ``warning`` (``expected`` is more than half of it).
    limits, measured
        Notes on what could not be looked at (``notes`` has :attr:`warnings` too); ``word_list`` and ``embedding``.
    """

    prob: ClassVar[float] = PROB

    attribute: str
    unit: str
    source: str
    lists: pd.DataFrame
    slopes: pd.DataFrame
    contrasts: pd.DataFrame
    pairs: pd.DataFrame
    rows: pd.DataFrame
    limits: tuple[Note, ...]
    measured: Mapping[str, str] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """A note for each contrast that may be one of the attribute, and one on single words."""
        notes, called = [], set()
        for row in self.contrasts[self.contrasts["warning"].astype(bool)].to_dict("records"):
            called.add(row["contrast"])
            numbers: dict[str, Any] = {name: row[name] for name in ("contrast", "expected", "distance")}
            notes.append(Note("frequency", attribute=self.attribute, **numbers))
        for contrast, part in self.rows.groupby("contrast", sort=False):
            # with several stereotype lists rows of associated - different are associations
            behind = contrast == f"{OWN} - {OTHER}" and (self.lists["kind"] == "stereotype").sum() > 1
            if contrast not in called and not behind and part["warning"].mean() > MOST_ROWS:
                named = part.loc[part["warning"], "protected_word"].tolist()
                numbers = {"contrast": contrast, "count": len(named), "words": len(part), "named": named}
                notes.append(Note("frequency-words", attribute=self.attribute, **numbers))
        return tuple(notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self.warnings, *self.limits)

    def caption(self) -> str:
        return f"{self.attribute} ({self.unit}) of lists, predicted {COSINE}"

    def header(self) -> dict[str, object]:
        """Facts of what was measured; the slope is the vocabulary's where it is known, as predictions are."""
        slope: dict[Any, Any] = {} if self.slopes.empty else self.slopes.iloc[-1].to_dict()
        return {
            "words": self.measured.get("word_list"),
            "embedding": self.measured.get("embedding"),
            self.attribute: self.source,
            f"slope per {self.unit}": slope.get("slope"),
            "R2": slope.get("r2"),
            f"words of {slope.get('where')}": slope.get("words"),
        }

    def table(self) -> pd.DataFrame:
        """The lists of each contrast, :attr:`contrasts`."""
        return self.contrasts

    def tables(self) -> dict[str, pd.DataFrame]:
        by = f"by {self.attribute}"
        tables = {f"Contrasts {by}": self.contrasts, f"Lists {by}": self.lists, f"Slope of distance {by}": self.slopes}
        tables |= {f"Each two lists {by}": self.pairs, f"Protected words {by}": self.rows}
        return {caption: table for caption, table in tables.items() if len(table)}


def balance(
    data: pd.DataFrame | xr.DataTree,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance:
    """Compare word lists in frequency, and estimate how distances depend on it.

    In some embeddings frequent words are closer to, or farther from, everything: lists of other frequency differ in
    distance without any bias.

    Parameters
    ----------
    data
        A distance table, or a fit of one.
    frequencies
        Counts or relative frequencies: a mapping of words, the path of a file with two columns (word, count), an
        embedding whose file is ordered by frequency, or ``"wordfreq"`` (an extra: ``bayesbias[frequencies]``), in the
        language of the word lists. None takes the order of the table's embedding where it is by frequency, else
        wordfreq.
    attribute
        ``"frequency"``, ``"length"``, or a mapping with one entry: the name of an attribute of your own and the number
        of each word, such as its concreteness.

    Returns
    -------
    Balance
        Tables of lists, slopes and contrasts, and ``warnings``. A contrast is warned about where its lists differ by
        more than .5 zipf (half a standard deviation of another attribute) and the slope explains more than 10% of the
        variance of distances (to control words, if any), or predicts more than half the contrast's cluster standard
        error; words, where the attribute predicts more than half the standard error of more than a tenth of them.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> counts = {word: len(word) + 1 for word in table["attribute_word"]}
    >>> found = bb.balance(table, counts)
    >>> found.lists.columns.tolist()[:3]
    ['list', 'kind', 'words']
    """
    before = Fit(data).unadjusted if isinstance(data, xr.DataTree) else None
    distances = read_distances(data, check=False) if before is None else before.data
    table, related = distances.table, distances.relatedness
    words = [*dict.fromkeys([*table["protected_word"].astype(str), *table["attribute_word"].astype(str)])]
    sampled = () if related is None else related.sample_words
    values = word_values([*words, *sampled], attribute, frequencies, related, distances.language)
    spread = 1.0 if values.unit == "zipf" else float(np.nanstd(values.of(words)))

    slopes, notes = _slopes(table, values, related)
    known = slopes.iloc[0] if len(slopes) else None
    sure = known is not None and abs(float(known["slope"])) > 2 * float(known["se"])
    means = _list_means(distances, values, related, np.nan if known is None else float(known["slope"]))
    judged = _judged_rows(means, distances.connections.tolist(), sure or related is not None)
    lists = _lists(table, values)
    few = lists[lists["known"] < lists["words"] / 2]
    count = int(few["words"].sum())
    notes += left_out(count - int(few["known"].sum()), count, "words of lists", f"no {values.name}", few["list"])
    if len(means.stereotypes) > 1 and len(means.words) > MOST_JUDGED:
        reason = f"more than {MOST_JUDGED:,} protected words"
        notes.append(Note("no-value", what="predicted associations", reason=reason))
    return Balance(
        attribute=values.name,
        unit=values.unit,
        source=values.source,
        lists=lists,
        slopes=slopes,
        contrasts=_contrasts(distances, values, slopes, spread, judged),
        pairs=_judged_pairs(means, values, spread),
        rows=judged,
        limits=tuple(notes),
        measured=distances.measured,
    )


def _lists(table: pd.DataFrame, values: WordValues) -> pd.DataFrame:
    entries = [
        (name, "protected", group["protected_word"].astype(str).unique())
        for name, group in table.groupby("group", sort=False)
        if name
    ]
    attributes = table[["attribute_class", "attribute_word"]].astype(str).drop_duplicates()
    own = set(table.loc[table["connection"].isin(STEREOTYPES), "attribute_class"].astype(str))
    entries += [
        (name, "stereotype" if name in own else "control", group["attribute_word"].to_numpy())
        for name, group in attributes.groupby("attribute_class", sort=False)
    ]
    rows = []
    for name, kind, words in entries:
        known = pd.Series(values.of(words)).dropna()
        rows.append((name, kind, len(words), len(known), known.mean(), known.std(), known.min(), known.max()))
    return pd.DataFrame(rows, columns=LISTS)


def _slopes(table: pd.DataFrame, values: WordValues, related: Relatedness | None) -> tuple[pd.DataFrame, list[Note]]:
    rows, notes = [], list[Note]()
    try:
        slope = control_slope(table, values)
        rows.append(("controls", slope.value, slope.se, slope.r2, slope.words))
    except InputError as error:
        notes.append(Note("no-value", what="slope among control words", reason=str(error)))
    if related is not None:
        x = values.of(related.sample_words)
        known = np.isfinite(x)
        if known.sum() >= FEWEST and np.ptp(x[known]) > 0:
            x, y, weights = x[known], related.mean_distances[known], related.everywhere_weights[known]
            x, y = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
            squares, total = float(x**2 @ weights), float(y**2 @ weights)
            slope_there = float((x * y) @ weights) / squares
            rest = y - slope_there * x
            # the error is White's (1980, https://doi.org/10.2307/1912934)
            se = float(np.sqrt(((weights * x * rest) ** 2).sum() * len(x) / (len(x) - 2))) / squares
            r2 = 1 - float(rest**2 @ weights) / total if total > 0 else 0.0
            rows.append(("vocabulary", slope_there, se, r2, len(x)))
    return pd.DataFrame(rows, columns=["where", "slope", "se", "r2", "words"]), notes


def _contrasts(
    data: Distances, values: WordValues, slopes: pd.DataFrame, spread: float, judged: pd.DataFrame
) -> pd.DataFrame:
    """Differences of the mean values of the lists behind each contrast, and what they predict."""
    rows = data.table.assign(value=values.of(data.attribute_words)[data.attribute])
    rows = rows[rows["value"].notna()]
    by_cell = rows.groupby(["protected_word", "connection"])["value"].mean().reset_index()
    means = by_cell.pivot_table(index="protected_word", columns="connection", values="value")
    expected = judged.groupby("contrast")["expected"].mean()
    slope, error, r2 = slopes[["slope", "se", "r2"]].to_numpy(dtype=float)[0] if len(slopes) else np.full(3, np.nan)
    records = []
    for other in counterparts(OWN, data.connections.tolist()) if OWN in means else ():
        if other not in means:
            continue
        difference = float((means[OWN] - means[other]).mean())
        first, second = (rows.loc[rows["connection"] == name, "value"].to_numpy() for name in (OWN, other))
        predicted = float(expected.get(f"{OWN} - {other}", np.nan))
        cluster = cluster_interval_of(data, OWN, other, PROB)
        known = abs(slope) > 2 * error and abs(predicted) > MOST_SHARE * cluster.se
        warning = bool(abs(difference) > FAR * spread and (r2 > MOST_R2 or known))
        common = _overlap(first, second, BIN * spread)
        records.append((f"{OWN} - {other}", difference, common, predicted, cluster.estimate, warning))
    return pd.DataFrame(records, columns=CONTRASTS)


def _overlap(first: FloatArray, second: FloatArray, width: float) -> float:
    """Share that two distributions have in common, in bins of some width."""
    if not (len(first) and len(second)) or width <= 0:
        return float("nan")
    low = min(first.min(), second.min())
    bins = [np.floor((part - low) / width).astype(int) for part in (first, second)]
    size = max(part.max() for part in bins) + 1
    shares = [np.bincount(part, minlength=size) / len(part) for part in bins]
    return float(np.minimum(*shares).sum())
