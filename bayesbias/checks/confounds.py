"""Comparison of word lists in frequency or another attribute, and its effect on their distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import mapping
from bayesbias.checks.summaries import PROB, cluster_interval_of
from bayesbias.distances.adjustment import FEWEST, FREQUENCY, WordValues, control_slope, vocabulary_curve, word_values
from bayesbias.distances.covariances import MOST_PROTECTED
from bayesbias.distances.dataframe import COSINE
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError, agreed, many, within
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

ASSOCIATION = "association"
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
FEWEST_EMBEDDINGS = 2
BIN = 0.5  # width of the bins in which distributions are compared, in standard deviations of the values
FAMILY = 0.5
"""Correlation of two protected words, beyond that of most of their group, from which on they are of one family."""
CONTRASTS = ["contrast", "difference", "overlap", "expected", "distance", "warning"]
LISTS = ["list", "kind", "words", "known", "mean", "sd", "low", "high"]
SPREADS = ["contrast", "difference_low", "difference_high", "slope", "expected_sd", "distance_sd", "warning"]


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

    def means(self, values: FloatArray) -> FloatArray:
        """Means (J, L) of values (J, W) over the words of each list; NaN where there is none."""
        known = np.isfinite(values)
        total = np.where(known, values, 0.0) @ self.member.T
        count = known.astype(float) @ self.member.T
        result: FloatArray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return result

    def compared(self, other: str) -> FloatArray:
        """Weights (J, L) of the lists in each word's contrast of associated with another connection."""
        weights = np.zeros((len(self.words), len(self.names)))
        sizes = self.member.sum(axis=1)
        for i, own in enumerate(self.own.tolist()):
            places = [self.names.index(other)] if other in self.names else []
            if other == STEREOTYPES[1]:
                places = [place for place in self.stereotypes.tolist() if place != own]
            if own < 0 or not places:
                weights[i] = np.nan
                continue
            weights[i, own] = 1.0
            weights[i, places] -= sizes[places] / sizes[places].sum()
        return weights


def list_means(data: Distances, values: WordValues, related: Relatedness | None, slope: float) -> _ListMeans:
    """Distances and what an attribute predicts of them: by the vocabulary's curves, else by a common slope."""
    table = data.table
    wide = table.drop_duplicates(["protected_word", "attribute_word"]).pivot_table(
        index="protected_word", columns="attribute_word", values="distance", observed=True
    )
    words, attributes = data.protected_words.tolist(), [str(word) for word in wide.columns]
    listed = table[["attribute_class", "attribute_word"]].drop_duplicates()
    names = [str(name) for name in dict.fromkeys(listed["attribute_class"]) if name]
    member = np.zeros((len(names), len(attributes)))
    places = pd.Index(attributes)
    for i, name in enumerate(names):
        member[i, places.get_indexer(pd.Index(listed.loc[listed["attribute_class"] == name, "attribute_word"]))] = 1
    mine = table[table["connection"] == STEREOTYPES[0]].drop_duplicates("protected_word").set_index("protected_word")
    # -1 where the list of a protected word's own stereotypes is not known
    list_of = {word: str(name) for word, name in mine["attribute_class"].items()}
    own = [names.index(list_of[word]) if list_of.get(word) else -1 for word in words]
    groups = data.groups.tolist()
    x = values.of(attributes)
    expected = np.tile(slope * x, (len(words), 1))
    if related is not None and (drawn := vocabulary_curve(related, values)) is not None:
        rows = [related.protected_words.index(word) for word in words]
        expected = np.full((len(words), len(x)), np.nan)
        expected[:, np.isfinite(x)] = related.of_words(drawn[0].at(x[np.isfinite(x)]), np.array(rows))
    stereotypes = np.array(sorted({place for place in own if place >= 0}), dtype=np.intp)
    distances = wide.reindex(index=words).to_numpy(dtype=float)
    return _ListMeans(words, groups, names, np.array(own), stereotypes, member, attributes, distances, expected)


def _judged_rows(given: _ListMeans, connections: list[str], related: Relatedness | None, known: bool) -> pd.DataFrame:
    """Each row of a protected word, what the attribute predicts of it, and whether that calls it into question.

    ``known`` says whether the predictions are known to be other than 0.
    """
    means, expected = given.means(given.distances), given.means(given.expected)
    errors = _Errors(given, related)
    contrasts: list[tuple[str, FloatArray, FloatArray, FloatArray]] = []
    for other in counterparts(OWN, connections):
        weights = given.compared(other)
        predicted, distance = ((weights * each).sum(axis=1) for each in (expected, means))
        contrasts.append((f"{OWN} - {other}", predicted, distance, errors.of_words(weights)))
    joint = association_weights(given)
    if joint is not None:
        predicted, distance = (np.einsum("mjl,jl->m", joint, np.nan_to_num(each)) for each in (expected, means))
        contrasts.append((ASSOCIATION, predicted, distance, errors.of_sums(joint)))
    if not contrasts:
        return pd.DataFrame(columns=ROWS)
    pieces = []
    for name, predicted, distance, variances in contrasts:
        numbers = {"expected": predicted, "distance": distance, "se": np.sqrt(np.maximum(variances, 0))}
        labels = {"protected_word": given.words, "group": given.groups, "contrast": name}
        pieces.append(pd.DataFrame(labels | numbers).dropna(subset=["expected", "se"]))
    rows = pd.concat(pieces, ignore_index=True)
    return rows.assign(warning=known & (rows["expected"].abs() > QUESTIONABLE * rows["se"]))


def association_weights(given: _ListMeans) -> FloatArray | None:
    """Weights (J, J, L) of the mean distances in each word's association; None where there is none."""
    size, lists = len(given.words), len(given.stereotypes)
    if lists < 2 or (given.own < 0).any() or size > MOST_JUDGED:
        return None
    own = np.searchsorted(given.stereotypes, given.own)
    of_words = word_weights(own.astype(str).tolist(), np.ones(size, dtype=bool), np.unique(own).astype(str).tolist())
    weights = np.zeros((size, size, len(given.names)))
    weights[:, :, given.stereotypes] = association_rows(own, of_words, lists)
    return weights


class _Errors:
    """Variances of sums of mean distances: from the vectors, or with attribute words as independent clusters."""

    def __init__(self, given: _ListMeans, related: Relatedness | None) -> None:
        self.given, self.relatedness = given, related
        if related is not None:
            self.parts = related.components
            same, shares = related.overlaps(given.member > 0, given.attributes)
            self.kernels = list_correlations(self.parts.correlations, same, shares)
            rows = [related.protected_words.index(word) for word in given.words]
            self.loadings = self.parts.loadings[rows] * np.sqrt(self.parts.variances)

    def of_words(self, weights: FloatArray) -> FloatArray:
        """Variance (J,) of each word's own sum with weights (J, L)."""
        if self.relatedness is not None:
            by_component = np.einsum("jl,qlk,jk->jq", weights, self.kernels, weights)
            result: FloatArray = (self.loadings**2 * by_component).sum(axis=1)
            return result
        # lists that do not count may have no scatter
        scatter = self._scatter(self.given.distances)
        return np.multiply(weights**2, scatter, out=np.zeros_like(weights), where=weights != 0).sum(axis=1)

    def of_sums(self, weights: FloatArray) -> FloatArray:
        """Variance (m,) of sums over words with weights (m, J, L)."""
        if self.relatedness is not None:
            turned = np.einsum("mjl,jq->mql", weights, self.loadings)
            result: FloatArray = np.einsum("mql,qlk,mqk->m", turned, self.kernels, turned)
            return result
        filled = np.nan_to_num(self.given.distances)
        total = np.zeros(len(weights))
        for i, own in enumerate(self.given.member):
            if not weights[:, :, i].any():
                continue
            sums = np.where(own > 0, weights[:, :, i] @ filled, np.nan)
            total += self._scatter(sums)[:, i]
        return total

    def _scatter(self, values: FloatArray) -> FloatArray:
        """Variance (rows, L) of the mean of values (rows, W) over the words of each list."""
        mean, square = self.given.means(values), self.given.means(values**2)
        count = np.isfinite(values).astype(float) @ self.given.member.T
        spread = np.maximum(square - mean**2, 0)
        result: FloatArray = np.divide(spread, count - 1, out=np.full(spread.shape, np.inf), where=count > 1)
        return result


def _judged_pairs(given: _ListMeans, values: WordValues, spread: float) -> pd.DataFrame:
    """Each two attribute lists: how far their values differ, and what that predicts of distances."""
    own, expected = values.of(given.attributes), given.means(given.expected)
    centres = given.means(own[None])[0]
    known = [own[(member > 0) & np.isfinite(own)] for member in given.member]
    rows = []
    for i, j in combinations(range(len(given.names)), 2):
        apart = expected[:, i] - expected[:, j]
        common = _overlap(known[i], known[j], BIN * spread)
        numbers = (centres[i] - centres[j], common, float(apart.mean()), float(apart.min()), float(apart.max()))
        rows.append((given.names[i], given.names[j], *numbers))
    return pd.DataFrame(rows, columns=PAIRS)


@dataclass(frozen=True, repr=False)
class Balance(Result):
    """Differences of lists in an attribute of their words, and the dependence of distances on it.

    Of several embeddings, all tables but :attr:`spreads` have a first column ``embedding``.

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
        ``words``. Without control words or vectors a row is missing.
    contrasts
        One row for each contrast of associated with another list: ``difference`` of the mean values, ``overlap`` (share
        of the two distributions that is common), ``expected`` (difference of the distances that the attribute predicts:
        by the curves of :func:`fit` with ``adjust`` where there are vectors, else by the slope), ``distance`` (the
        difference that there is), ``warning``.
    pairs
        One row for each two attribute lists: ``first``, ``second``, ``difference``, ``overlap``, and ``expected``, with
        its ends over protected words, ``expected_low`` and ``expected_high``.
    rows
        One row for each protected word and contrast, and for its ``association``: ``expected``, ``distance``, ``se``
        (standard error, attribute lists being exchangeable), ``warning`` (``expected`` is more than half of it).
    families
        One row for protected words with correlated associations, such as *he, him, his*: ``group``, ``words``,
        ``number``, ``effective`` (effective number of words). Empty without vectors.
    spreads
        One row a contrast that all embeddings have: ``difference_low`` and ``difference_high`` (the smallest and
        largest difference of the lists' mean values), ``slope`` (mean over embeddings), ``expected_sd`` and
        ``distance_sd`` (standard deviation over embeddings of what the slope gives, and of the contrast), ``warning``.
        Empty for one embedding.
    limits
        Notes on words without a value, and on what could not be looked at; ``notes`` has :attr:`warnings` too.
    measured
        ``word_list`` and ``embedding``, their names where the table knows them; of several embeddings what they have in
        common.
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
    families: pd.DataFrame
    spreads: pd.DataFrame
    limits: tuple[Note, ...]
    measured: Mapping[str, str] = field(default_factory=dict)

    @property
    def embeddings(self) -> list[str]:
        """Names of several embeddings; empty for one."""
        return [str(name) for name in self.lists["embedding"].unique()] if "embedding" in self.lists else []

    @property
    def warnings(self) -> tuple[Note, ...]:
        """A note for each contrast, or difference between embeddings, that may be one of the attribute, and one on
        single words of one embedding, whose rows of associated - different are associations.
        """
        table, name = self.table(), self.attribute
        expected, distance = ("expected_sd", "distance_sd") if self.embeddings else ("expected", "distance")
        notes = [
            Note("frequency", attribute=name, contrast=row["contrast"], expected=row[expected], distance=row[distance])
            for row in table[table["warning"].astype(bool)].to_dict("records")
        ]
        called, rows = {note.numbers["contrast"] for note in notes}, self.rows[:0] if self.embeddings else self.rows
        for contrast, part in rows.groupby("contrast", sort=False):
            behind = contrast == f"{OWN} - {OTHER}" and (self.lists["kind"] == "stereotype").sum() > 1
            if contrast not in called and not behind and part["warning"].mean() > MOST_ROWS:
                named = part.loc[part["warning"], "protected_word"].tolist()
                numbers = {"contrast": contrast, "count": len(named), "words": len(part), "named": named}
                notes.append(Note("frequency-words", attribute=name, **numbers))
        return tuple(notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings, and what limits the tables."""
        return (*self.warnings, *self.limits)

    def caption(self) -> str:
        """Subject and unit of the numbers."""
        what = f"sd of {COSINE}" if self.embeddings else COSINE
        return f"{self.attribute} ({self.unit}) of lists, predicted {what}"

    def header(self) -> dict[str, object]:
        """Facts of what was measured; the slope is the vocabulary's where it is known, as predictions are."""
        slope: dict[Any, Any] = {} if self.embeddings or self.slopes.empty else self.slopes.iloc[-1].to_dict()
        return {
            "words": self.measured.get("word_list"),
            "embedding": self.measured.get("embedding"),
            "embeddings": len(self.embeddings) or None,
            self.attribute: self.source,
            f"slope per {self.unit}": slope.get("slope"),
            "R2": slope.get("r2"),
            f"words of {slope.get('where')}": slope.get("words"),
        }

    def table(self) -> pd.DataFrame:
        """The lists of each contrast, ``contrasts``; of several embeddings how contrasts vary, ``spreads``."""
        return self.spreads if self.embeddings else self.contrasts

    def summary(self) -> pd.DataFrame:
        """The same, of several embeddings without the slope."""
        ends = {"difference_low": "difference from", "difference_high": "to"}
        return self.table().drop(columns="slope", errors="ignore").rename(columns=ends)

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables that have rows."""
        tables = {
            f"Contrasts by {self.attribute}": self.table(),
            f"Lists by {self.attribute}": self.lists,
            f"Slope of distance on {self.attribute}": self.slopes,
            "Contrasts of each embedding" if self.embeddings else "": self.contrasts,
            f"Each two lists by {self.attribute}": self.pairs,
            f"Protected words by {self.attribute}": self.rows,
            "Families of protected words": self.families,
        }
        return {caption: table for caption, table in tables.items() if caption and len(table)}


def balance(
    data: pd.DataFrame | xr.DataTree | Mapping[str, pd.DataFrame] | Mapping[str, xr.DataTree],
    frequencies: Any = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance:
    """Compare word lists in frequency, and estimate how distances depend on it.

    Frequent words are closer to, or farther from, everything in some embeddings, whatever they mean. Lists of other
    frequency then differ in distance without any bias.

    Parameters
    ----------
    data
        A distance table, or a fit of one; or a mapping of names to these, for several embeddings (of a pool).
    frequencies
        Counts or relative frequencies: a mapping of words, the path of a file with two columns (word, count), an
        embedding whose file is ordered by frequency, or ``"wordfreq"`` (an extra: ``bayesbias[frequencies]``). None
        takes the order of the embedding behind the table where it is ordered by frequency, else wordfreq, in the
        language of the word lists. For several embeddings also a mapping of their names to these.
    attribute
        ``"frequency"``, ``"length"``, or a mapping with one entry: the name of an attribute of your own and the number
        of each word, such as its concreteness.

    Returns
    -------
    Balance
        Tables of lists, slopes and contrasts, and ``warnings``. A contrast is warned about where its lists
        differ by more than .5 zipf (half a standard deviation of another attribute) and the slope matters: it explains
        more than 10% of the variance of distances (that of control words, where there are such), or predicts a
        difference of more than half the standard error of the contrast (that of the cluster interval). A row of a
        single word is called into question where the attribute predicts more than half of its standard error, and there
        is a warning where it is so for more than a tenth of them.

        Warnings on several embeddings are on the differences between them. A contrast is warned about
        where the standard deviation over embeddings of what the mean slope predicts is more than half that of the
        contrast, and the slope is beyond two standard errors in most embeddings.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> counts = {word: len(word) + 1 for word in table["attribute_word"]}
    >>> found = bb.balance(table, counts)
    >>> found.lists.columns.tolist()[:3]
    ['list', 'kind', 'words']
    """
    if not isinstance(data, pd.DataFrame | xr.DataTree) and isinstance(data, Mapping):
        return _over_embeddings(data, frequencies, attribute)
    return _balance(data, frequencies, attribute)


def frequencies_by_name(names: Sequence[str], frequencies: Any) -> dict[str, Any]:
    """The frequencies of each embedding: its own where they are given by name, else the same for all."""
    own = isinstance(frequencies, Mapping) and set(map(str, frequencies)) == set(names)
    return {str(key): value for key, value in frequencies.items()} if own else dict.fromkeys(names, frequencies)


def _over_embeddings(
    data: Mapping[str, Any], frequencies: Any, attribute: str | Mapping[str, Mapping[str, float]]
) -> Balance:
    """The balance of each embedding as one, and how far it predicts differences between them."""
    named: dict[str, Any] = mapping(data, "data", "distance tables or fits")
    if len(named) < FEWEST_EMBEDDINGS:
        raise InputError(
            f"{many(len(named), 'embedding')} {agreed(len(named), 'is', 'are')} named: give at least "
            f"{FEWEST_EMBEDDINGS}, or one table alone"
        )
    sources, balances = frequencies_by_name(list(named), frequencies), {}
    for name, table in named.items():
        with within(name):
            balances[name] = _balance(table, sources[name], attribute)
    tables: dict[str, Any] = {
        kind: _stacked({name: getattr(one, kind) for name, one in balances.items()})
        for kind in ("lists", "slopes", "contrasts", "pairs", "rows", "families")
    }
    spreads, lacking = _spreads(tables["contrasts"], tables["slopes"], len(balances))
    return replace(
        next(iter(balances.values())),
        **tables,
        source=", ".join(dict.fromkeys(one.source for one in balances.values())),
        spreads=spreads,
        measured=_shared([one.measured for one in balances.values()]),
        limits=tuple(dict.fromkeys([*(note for one in balances.values() for note in one.limits), *lacking])),
    )


def _shared(measured: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Entries that all tables have in common."""
    return {name: value for name, value in measured[0].items() if all(other.get(name) == value for other in measured)}


def _stacked(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of embeddings below each other, their names in front."""
    named = [table.assign(embedding=name) for name, table in tables.items()]
    every = pd.concat([table for table in named if len(table)] or named[:1], ignore_index=True)
    return every[["embedding", *every.columns.drop("embedding")]]


def _spreads(contrasts: pd.DataFrame, slopes: pd.DataFrame, count: int) -> tuple[pd.DataFrame, list[Note]]:
    """Spread of contrasts over ``count`` embeddings, its part predicted by slopes, and contrasts that some lack."""
    last = slopes.groupby("embedding", sort=False).tail(1).astype(dict.fromkeys(("slope", "se", "r2"), float))
    slope = float(last["slope"].mean())
    matters = len(last) > 0 and ((last["slope"].abs() > 2 * last["se"]) | (last["r2"] > MOST_R2)).mean() > 1 / 2
    rows, every, lacking = [], list(contrasts["contrast"].unique()), []
    for contrast, part in contrasts.groupby("contrast", sort=False):
        if len(part) < count or part["difference"].isna().any():
            lacking.append(str(contrast))
            continue
        expected, distance = abs(slope) * part["difference"].std(ddof=1), part["distance"].std(ddof=1)
        warning = bool(matters and expected > MOST_SHARE * distance)
        ends = part["difference"].min(), part["difference"].max()
        rows.append((contrast, *ends, slope, expected, distance, warning))
    notes = left_out(len(lacking), len(every), "contrasts", "missing in some embedding", lacking)
    return pd.DataFrame(rows, columns=SPREADS), notes


def _balance(
    data: pd.DataFrame | xr.DataTree,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance:
    """The balance of one embedding."""
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
    by_list = list_means(distances, values, related, np.nan if known is None else float(known["slope"]))
    judged = _judged_rows(by_list, distances.connections.tolist(), related, sure or related is not None)
    lists, protected = _lists(table, values), table["protected_word"].astype(str).unique().tolist()
    families = _word_families(related if len(protected) <= MOST_PROTECTED else None, protected)
    return Balance(
        attribute=values.name,
        unit=values.unit,
        source=values.source,
        lists=lists,
        slopes=slopes,
        contrasts=_contrasts(distances, values, slopes, spread, judged),
        pairs=_judged_pairs(by_list, values, spread),
        rows=judged,
        families=families,
        spreads=pd.DataFrame(columns=SPREADS),
        limits=(*notes, *_limits(values.name, lists, by_list)),
        measured=distances.measured,
    )


def _limits(attribute: str, lists: pd.DataFrame, means: _ListMeans) -> list[Note]:
    """Notes on lists most of whose words have no value, and on what was left out for its size."""
    few = lists[lists["known"] < lists["words"] / 2]
    words = int(few["words"].sum())
    notes = left_out(words - int(few["known"].sum()), words, "words of lists", f"no {attribute}", map(str, few["list"]))
    size, stereotypes = len(means.words), len(means.stereotypes)
    sizes = {"predicted associations": MOST_JUDGED if stereotypes > 1 else size, "families of words": MOST_PROTECTED}
    reasons = {what: f"more than {most:,} protected words" for what, most in sizes.items() if size > most}
    return [*notes, *(Note("no-value", what=what, reason=reason) for what, reason in reasons.items())]


def _word_families(related: Relatedness | None, words: list[str]) -> pd.DataFrame:
    """Protected words of a group, of which any two have associations correlated by more than :data:`FAMILY`."""
    columns = ["group", "words", "number", "effective"]
    if related is None:
        return pd.DataFrame(columns=columns)
    from scipy.cluster.hierarchy import fcluster, linkage  # both load slowly
    from scipy.spatial.distance import squareform

    rows, every = [], related.families(words)
    for group, kind, held in related.lists:
        places = np.flatnonzero(np.isin(words, held))
        if kind != "protected" or len(places) < 2:
            continue
        matrix = every[np.ix_(places, places)]
        apart = squareform(1 - (matrix + matrix.T) / 2, checks=False)
        labels = fcluster(linkage(apart, "complete"), 1 - FAMILY, "distance")
        for label in dict.fromkeys(labels.tolist()):
            members = np.flatnonzero(labels == label)
            if len(members) > 1:
                worth = len(members) ** 2 / float(matrix[np.ix_(members, members)].sum())
                rows.append((group, ", ".join(words[place] for place in places[members]), len(members), worth))
    return pd.DataFrame(rows, columns=columns)


def _lists(table: pd.DataFrame, values: WordValues) -> pd.DataFrame:
    """The values of each list's words."""
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
        known = values.of(words)
        known = known[np.isfinite(known)]
        figures = [np.nan] * 4
        if len(known):
            figures = [known.mean(), known.std(ddof=1) if len(known) > 1 else np.nan, known.min(), known.max()]
        rows.append((name, kind, len(words), len(known), *figures))
    return pd.DataFrame(rows, columns=LISTS)


def _slopes(table: pd.DataFrame, values: WordValues, related: Relatedness | None) -> tuple[pd.DataFrame, list[Note]]:
    """Slopes among control words and over the vocabulary's sample, and why one is missing."""
    rows, notes = [], list[Note]()
    try:
        slope = control_slope(table, values)
    except InputError as error:
        notes.append(Note("no-value", what="slope among control words", reason=str(error)))
    else:
        rows.append(("controls", slope.value, slope.se, slope.r2, slope.words))
    if related is not None:
        x = values.of(related.sample_words)
        known = np.isfinite(x)
        if known.sum() >= FEWEST and np.ptp(x[known]) > 0:
            weights = related.everywhere_weights[known]
            rows.append(("vocabulary", *_slope_of(x[known], related.mean_distances[known], weights)))
    return pd.DataFrame(rows, columns=["where", "slope", "se", "r2", "words"]), notes


def _slope_of(x: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[float, float, float, int]:
    """Slope, standard error, R2 and number of the numbers y (N,) on x, each with the weight at which it was sampled.

    The standard error of unequal weights is that of White (1980, https://doi.org/10.2307/1912934), with N / (N - 2).
    """
    x, y = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
    squares = float(x**2 @ weights)
    slope = float((x * y) @ weights) / squares
    rest = y - slope * x
    total = float(y**2 @ weights)
    se = float(np.sqrt(((weights * x * rest) ** 2).sum() * len(x) / (len(x) - 2))) / squares
    return slope, se, 1 - float(rest**2 @ weights) / total if total > 0 else 0.0, len(x)


def _contrasts(
    data: Distances, values: WordValues, slopes: pd.DataFrame, spread: float, judged: pd.DataFrame
) -> pd.DataFrame:
    """Differences of the mean values of the lists behind each contrast, and what they predict."""
    rows = data.table.assign(value=values.of(data.attribute_words)[data.attribute])
    rows = rows[rows["value"].notna()]
    by_cell = rows.groupby(["protected_word", "connection"])["value"].mean().reset_index()
    means = by_cell.pivot_table(index="protected_word", columns="connection", values="value")
    present = [str(name) for name in means.columns]
    records = []
    slope, error, r2 = slopes[["slope", "se", "r2"]].to_numpy(dtype=float)[0] if len(slopes) else np.full(3, np.nan)
    for other in counterparts(OWN, data.connections.tolist()):
        if OWN not in present or other not in present:
            continue
        difference = float((means[OWN] - means[other]).mean())
        parts = [rows.loc[rows["connection"] == name, "value"].to_numpy() for name in (OWN, other)]
        expected = float(judged.loc[judged["contrast"] == f"{OWN} - {other}", "expected"].mean())
        cluster = cluster_interval_of(data, OWN, other, PROB)
        known = abs(slope) > 2 * error and abs(expected) > MOST_SHARE * cluster.se
        warning = bool(abs(difference) > FAR * spread and (r2 > MOST_R2 or known))
        common = _overlap(parts[0], parts[1], BIN * spread)
        records.append((f"{OWN} - {other}", difference, common, expected, cluster.estimate, warning))
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


def known_balance(result: Fit) -> Balance | None:
    """The balance of a fit whose embedding tells how frequent words are, and whose distances are not adjusted."""
    relatedness = result.data.relatedness
    if relatedness is None or not relatedness.ranks_by_word or result.adjustment is not None:
        return None
    return _balance(result.tree)
