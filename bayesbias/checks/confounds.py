"""Whether word lists differ in frequency, or another attribute, and whether that matters for their distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import signed
from bayesbias._results import Result, Section, whole_table
from bayesbias.checks.row_balance import ASSOCIATION, MOST_JUDGED, judged_pairs, judged_rows, list_means
from bayesbias.checks.summaries import PROB, cluster_interval_of
from bayesbias.distances.covariances import MOST_PROTECTED
from bayesbias.distances.distances import Distances
from bayesbias.distances.vocabularies import FREQUENCY, WordValues, word_values
from bayesbias.errors import InputError
from bayesbias.models.adjust import FEWEST, control_slope
from bayesbias.models.results import Fit, read_distances
from bayesbias.words import STEREOTYPES, counterparts

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from bayesbias.distances.covariances import Relatedness

MINUS = "\N{MINUS SIGN}"
FAR = 0.5
"""Mean zipf values of lists that differ by more differ much; other attributes: half a standard deviation."""
MOST_R2 = 0.1
MOST_SHARE = 0.5
"""A slope matters if it explains more than the former of the variance of distances, or if it is known (beyond two
standard errors) and predicts a difference of more than the latter of the contrast's cluster standard error."""
MOST_ROWS = 0.1
"""Share of a contrast's rows that are called into question beyond which that is said."""
FEWEST_EMBEDDINGS = 2
BIN = 0.5
"""Width of the bins in which distributions are compared, in standard deviations of the values."""
FAMILY = 0.5
"""Correlation of two protected words, beyond that of most of their group, from which on they are of one family."""
CONTRASTS = ["contrast", "difference", "overlap", "expected", "distance", "warning"]
LISTS = ["list", "kind", "words", "known", "mean", "sd", "low", "high"]


@dataclass(frozen=True, repr=False)
class Balance(Result):
    """How lists differ in an attribute of their words, and how distances depend on it.

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
        of the two distributions that is common, in bins of half a zipf or half a standard deviation), ``expected``
        (difference of the distances that the attribute predicts: by the curves of :func:`fit` with ``adjust`` where
        there are vectors, else by the slope), ``distance`` (the difference that there is), ``warning``.
    pairs
        One row for each two attribute lists: ``first``, ``second``, ``difference`` of their mean values, ``overlap``,
        and what that predicts of the difference of a protected word's mean distances to them: ``expected`` (mean over
        protected words), ``expected_low`` and ``expected_high`` (smallest and largest).
    rows
        One row for each protected word and contrast, and for its association (``contrast`` is then ``association``:
        the mean distance to its own list, centred by word and by list, so that no list's nearness to all words counts):
        ``expected``, ``distance``, ``se`` (standard error, attribute lists being exchangeable), ``warning`` (whether
        ``expected`` is more than half of it).
    families
        One row for protected words that are nearly one word, such as *he, him, his*: ``group``, ``words``, ``number``
        of them, ``effective`` (effective number of words). Empty without vectors.
    notes
        What is to be read with the numbers.
    """

    attribute: str
    unit: str
    source: str
    lists: pd.DataFrame
    slopes: pd.DataFrame
    contrasts: pd.DataFrame
    pairs: pd.DataFrame
    rows: pd.DataFrame
    families: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each contrast whose lists differ in an attribute that matters, and one on single words."""
        whole = [
            f"{row['contrast'].capitalize().replace('-', MINUS)}: the lists differ by {abs(row['difference']):.1f} "
            f"{self.unit} in {self.attribute}, which alone predicts a difference of {signed(row['expected'], '+')} in "
            f"distance. Read fit(table, adjust={self.attribute!r}) too."
            for row in self.contrasts[self.contrasts["warning"]].to_dict("records")
        ]
        called = set(self.contrasts.loc[self.contrasts["warning"], "contrast"])
        rows = {
            str(name): part
            for name, part in self.rows.groupby("contrast", sort=False)
            if name not in called and part["warning"].mean() > MOST_ROWS
        }
        return (*whole, self._of_rows(rows)) if rows else tuple(whole)

    def _of_rows(self, contrasts: Mapping[str, pd.DataFrame]) -> str:
        """A sentence on the rows of contrasts that the attribute calls into question."""
        widest = self.pairs.iloc[int(self.pairs["difference"].abs().argmax())]
        parts = [
            f"{signed(rows['expected'].min(), '+')} to {signed(rows['expected'].max(), '+')} for "
            f"{'the associations' if name == ASSOCIATION else name.replace('-', MINUS)} ({int(rows['warning'].sum())} "
            f"of {len(rows)} words)"
            for name, rows in contrasts.items()
        ]
        return (
            f"Rows of single words: the lists {widest['first']} and {widest['second']} differ by "
            f"{abs(widest['difference']):.1f} {self.unit} in {self.attribute}. {self.attribute.capitalize()} alone "
            f"predicts (in brackets: words for which that is more than half a standard error) {'; '.join(parts)}. Read "
            f"fit(table, adjust={self.attribute!r}) too."
        )

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        if self.slopes.empty:
            start = f"How distances depend on {self.attribute} is not known: there are no control words and no vectors."
        else:
            row = self.slopes.iloc[0]
            start = (
                f"By {self.attribute} ({self.source}): a difference of 1 {self.unit} goes with "
                f"{signed(row['slope'], '+')} in distance among {row['words']:,} words ({row['where']}), which "
                f"explains {100 * row['r2']:.0f}% of its variance."
            )
        return " ".join([start, *(self.warnings or ["No contrast is called into question by it, nor its rows."])])

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        return [self.sentence]

    def text(self) -> str:
        """The result in sentences."""
        tables = [table.round(3).to_string(index=False) for table in (self.lists.round(2), self.contrasts, self.pairs)]
        return "\n\n".join([self.sentence, *self.notes, *tables])

    def sections(self) -> tuple[Section, ...]:
        """The parts of a report: lists, slopes, contrasts and pairs of lists."""
        tables = {
            f"Words of each list by {self.attribute}": self.lists,
            f"Change of distance with {self.attribute}": self.slopes,
            "Lists of each contrast": self.contrasts,
            "Each two lists": self.pairs,
        }
        return (Section("Balance", [whole_table(caption, table) for caption, table in tables.items()]),)

    def table(self) -> pd.DataFrame:
        """The lists of each contrast: ``contrasts``."""
        return self.contrasts


@dataclass(frozen=True, repr=False)
class Balances(Result):
    """How far the differences between embeddings are those of an attribute of their words.

    Attributes
    ----------
    by_embedding
        The :class:`Balance` of each embedding by its name.
    contrasts
        The contrasts of all of them, with ``embedding`` as first column.
    spreads
        One row a contrast that all embeddings have: ``difference_low`` and ``difference_high`` (the smallest and
        largest difference of the lists' mean values), ``slope`` (mean over embeddings; that over the vocabulary where
        there are vectors, else among control words), ``expected_sd`` and
        ``distance_sd`` (standard deviation over embeddings of what the slope gives, and of the contrast itself),
        ``warning``.
    notes
        What is to be read with the numbers.
    """

    by_embedding: Mapping[str, Balance]
    contrasts: pd.DataFrame
    spreads: pd.DataFrame
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """How contrasts vary over embeddings: ``spreads``."""
        return self.spreads

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each contrast whose variation over embeddings may be that of the attribute."""
        first = next(iter(self.by_embedding.values()))
        return tuple(
            f"{row['contrast'].capitalize().replace('-', MINUS)}: the lists differ by "
            f"{signed(row['difference_low'], '+')} to {signed(row['difference_high'], '+')} {first.unit} in "
            f"{first.attribute}, which alone predicts contrasts that vary over embeddings with a standard deviation of "
            f"{signed(row['expected_sd'])}; they vary with {signed(row['distance_sd'])}. "
            f"Read the result with adjust={first.attribute!r} too."
            for row in self.spreads[self.spreads["warning"]].to_dict("records")
        )

    def findings(self) -> list[str]:
        """The result in sentences, without its notes."""
        first = next(iter(self.by_embedding.values()))
        start = f"By {first.attribute}, over {len(self.by_embedding)} embeddings."
        return [start, *(self.warnings or ["No difference between embeddings is called into question by it."])]

    def text(self) -> str:
        """The result in sentences."""
        return "\n\n".join([" ".join(self.findings()), *self.notes, self.spreads.round(4).to_string(index=False)])


@overload
def balance(  # type: ignore[overload-overlap]  # a DataTree is a mapping too
    data: pd.DataFrame | xr.DataTree,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance: ...


@overload
def balance(
    data: Mapping[str, pd.DataFrame] | Mapping[str, xr.DataTree],
    frequencies: Any = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balances: ...


def balance(
    data: pd.DataFrame | xr.DataTree | Mapping[str, pd.DataFrame] | Mapping[str, xr.DataTree],
    frequencies: Any = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance | Balances:
    """Whether word lists differ in frequency, and whether distances depend on it.

    Frequent words are closer to, or farther from, everything in some embeddings, whatever they mean. Lists of other
    frequency then differ in distance without any bias.

    Parameters
    ----------
    data
        A distance table, or a fit of one; or a mapping of names to these, for several embeddings (of a pool or trend).
    frequencies
        Counts or relative frequencies: a mapping of words, the path of a file with two columns (word, count), an
        embedding whose file is ordered by frequency, or ``"wordfreq"`` (an extra: ``bayesbias[frequencies]``). None
        takes the order of the embedding behind the table where it is ordered by frequency, else wordfreq, in the
        language of the word lists. For several
        embeddings also a mapping of their names to these, such as counts by period.
    attribute
        ``"frequency"``, ``"length"``, or a mapping with one entry: the name of an attribute of your own and the number
        of each word, such as its concreteness.

    Returns
    -------
    Balance
        Tables of lists, slopes and contrasts; ``sentence`` and ``warnings``. A contrast is warned about where its lists
        differ by more than .5 zipf (half a standard deviation of another attribute) and the slope matters: it explains
        more than 10% of the variance of distances, or predicts a difference of more than half the standard error of
        the contrast (that of the cluster interval). The rows of single words are judged one by one, since opposite
        differences of the lists of two groups cancel in their mean: a row is called into question where the attribute
        predicts more than half of its standard error, and that is said where it is so for more than a tenth of them.
    Balances
        For several embeddings: the same of each, and how far the attribute predicts differences between them. A
        contrast is warned about where the standard deviation over embeddings of what the mean slope predicts is more
        than half that of the contrast, and the slope is beyond two standard errors in most embeddings.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> counts = {word: len(word) + 1 for word in table["attribute_word"]}
    >>> found = bb.balance(table, counts)
    >>> found.lists.columns.tolist()[:3]
    ['list', 'kind', 'words']
    """
    if not isinstance(data, pd.DataFrame | xr.DataTree) and isinstance(data, Mapping):
        return _balances(data, frequencies, attribute)
    return _balance(data, frequencies, attribute)


def frequencies_by_name(names: Sequence[str], frequencies: Any) -> dict[str, Any]:
    """The frequencies of each embedding: its own where they are given by name, else the same for all."""
    own = isinstance(frequencies, Mapping) and set(map(str, frequencies)) == set(names)
    return {str(key): value for key, value in frequencies.items()} if own else dict.fromkeys(names, frequencies)


def _balances(
    data: Mapping[str, Any], frequencies: Any, attribute: str | Mapping[str, Mapping[str, float]]
) -> Balances:
    named = {str(name): table for name, table in data.items()}
    if len(named) < FEWEST_EMBEDDINGS:
        raise InputError(
            f"{len(named)} embedding{' is' if len(named) == 1 else 's are'} named: give at least "
            f"{FEWEST_EMBEDDINGS}, or one table alone"
        )
    sources = frequencies_by_name(list(named), frequencies)
    balances = {}
    for name, table in named.items():
        try:
            balances[name] = _balance(table, sources[name], attribute)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    contrasts = pd.concat(
        [result.contrasts.assign(embedding=name)[["embedding", *CONTRASTS]] for name, result in balances.items()],
        ignore_index=True,
    )
    slopes = pd.DataFrame(
        [result.slopes.iloc[-1][["slope", "se", "r2"]].to_dict() for result in balances.values() if len(result.slopes)],
        dtype=float,
    )
    rows, notes = [], [f"{name}: {note}" for name, result in balances.items() for note in result.notes]
    for contrast, part in contrasts.groupby("contrast", sort=False):
        if len(part) < len(balances) or part["difference"].isna().any():
            notes.append(f"Not every embedding has the contrast {contrast} with known values.")
            continue
        slope = float(slopes["slope"].mean()) if len(slopes) else np.nan
        matters = (
            len(slopes) > 0 and ((slopes["slope"].abs() > 2 * slopes["se"]) | (slopes["r2"] > MOST_R2)).mean() > 1 / 2
        )
        expected, distance = abs(slope) * part["difference"].std(ddof=1), part["distance"].std(ddof=1)
        warning = bool(matters and expected > MOST_SHARE * distance)
        ends = part["difference"].min(), part["difference"].max()
        rows.append((contrast, *ends, slope, expected, distance, warning))
    columns = ["contrast", "difference_low", "difference_high", "slope", "expected_sd", "distance_sd", "warning"]
    return Balances(balances, contrasts, pd.DataFrame(rows, columns=columns), tuple(notes))


def _balance(
    data: pd.DataFrame | xr.DataTree,
    frequencies: Mapping[str, float] | str | Path | KeyedVectors | None = None,
    attribute: str | Mapping[str, Mapping[str, float]] = FREQUENCY,
) -> Balance:
    rows = read_distances(data, check=False)
    if isinstance(data, xr.DataTree) and (adjusted := Fit(data).adjustment) is not None:
        rows = replace(rows, y=adjusted["raw_distance"].to_numpy())
    table, related = rows.table, rows.relatedness
    words = [*dict.fromkeys([*table["protected_word"].astype(str), *table["attribute_word"].astype(str)])]
    sampled = () if related is None else related.sample_words
    values = word_values([*words, *sampled], attribute, frequencies, related, rows.language)
    lists = _lists(table, values)
    slopes, notes = _slopes(table, values, related)
    spread = 1.0 if values.unit == "zipf" else float(np.nanstd(values.of(words)))
    known = slopes.iloc[0] if len(slopes) else None
    by_list = list_means(rows, values, related, np.nan if known is None else float(known["slope"]))
    sure = known is not None and abs(float(known["slope"])) > 2 * float(known["se"])
    judged = judged_rows(by_list, rows.connections.tolist(), related, sure or related is not None)
    contrasts = _contrasts(rows, values, slopes, spread, judged)
    overlap = _overlaps([values.of(np.array(by_list.attributes)[own > 0]) for own in by_list.member], BIN * spread)
    pairs = judged_pairs(by_list, values, overlap)
    unknown = [row["list"] for row in lists.to_dict("records") if row["known"] < row["words"] / 2]
    if unknown:
        notes.append(f"Less than half of the words have a known {values.name} in: {', '.join(unknown)}.")
    protected = table["protected_word"].astype(str).unique().tolist()
    few = len(protected) <= MOST_PROTECTED
    families = _word_families(related if few else None, protected)
    notes += _family_notes(families)
    if len(protected) > MOST_JUDGED and len(by_list.stereotypes) > 1:
        notes.append(f"Associations of words were not judged: there are more than {MOST_JUDGED:,} protected words.")
    if not few:
        notes.append(f"Families were not looked for: there are more than {MOST_PROTECTED:,} protected words.")
    return Balance(
        values.name, values.unit, values.source, lists, slopes, contrasts, pairs, judged, families, tuple(notes)
    )


def _word_families(related: Relatedness | None, words: list[str]) -> pd.DataFrame:
    """Protected words of a group that are nearly one word: any two are correlated by more than :data:`FAMILY`."""
    columns = ["group", "words", "number", "effective"]
    if related is None:
        return pd.DataFrame(columns=columns)
    from scipy.cluster.hierarchy import fcluster, linkage  # both load slowly
    from scipy.spatial.distance import squareform

    rows, every = [], related.families(words)
    for group, kind, listed in related.lists:
        places = np.flatnonzero(np.isin(words, listed))
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


def _family_notes(families: pd.DataFrame) -> list[str]:
    if families.empty:
        return []
    named = "; ".join(f"{row['words']} (effective {row['effective']:.1f})" for row in families.to_dict("records"))
    return [
        f"Protected words that are nearly one word: {named}. They count fully in the mean over these protected words: "
        "keep one of each where that is not meant."
    ]


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
        known = values.of(words)
        known = known[np.isfinite(known)]
        figures = [np.nan] * 4
        if len(known):
            figures = [known.mean(), known.std(ddof=1) if len(known) > 1 else np.nan, known.min(), known.max()]
        rows.append((name, kind, len(words), len(known), *figures))
    return pd.DataFrame(rows, columns=LISTS)


def _slopes(table: pd.DataFrame, values: WordValues, related: Relatedness | None) -> tuple[pd.DataFrame, list[str]]:
    """Slopes among control words and over the vocabulary's sample, and why one is missing."""
    rows, notes = [], []
    try:
        slope = control_slope(table, values)
    except InputError as error:
        notes.append(f"No slope among control words: {error}.")
    else:
        rows.append(("controls", slope.value, slope.se, slope.r2, slope.words))
    if related is not None:
        x = values.of(related.sample_words)
        known = np.isfinite(x)
        if known.sum() >= FEWEST and np.ptp(x[known]) > 0:
            rows.append(("vocabulary", *_mean_slope(x[known], related.mean_distances[known])))
    return pd.DataFrame(rows, columns=["where", "slope", "se", "r2", "words"]), notes


def _mean_slope(x: FloatArray, distances: FloatArray) -> tuple[float, float, float, int]:
    """Slope, standard error, R2 and words of the mean distance (N,) over protected words to N words."""
    x, y = x - x.mean(), distances - distances.mean()
    slope = float(x @ y / (x @ x))
    rest = y - slope * x
    total = float(y @ y)
    se = float(np.sqrt(rest @ rest / (len(x) - 2) / (x @ x)))
    return slope, se, 1 - float(rest @ rest) / total if total > 0 else 0.0, len(x)


def _overlaps(values: Sequence[FloatArray], width: float) -> FloatArray:
    """Overlap (L, L) of the distributions of the known values of lists."""
    known = [each[np.isfinite(each)] for each in values]
    return np.array([[_overlap(entry, other, width) for other in known] for entry in known])


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
    for other in counterparts("associated", data.connections.tolist()):
        if "associated" not in present or other not in present:
            continue
        difference = float((means["associated"] - means[other]).mean())
        parts = [rows.loc[rows["connection"] == name, "value"].to_numpy() for name in ("associated", other)]
        slope, error, r2 = slopes[["slope", "se", "r2"]].to_numpy(dtype=float)[0] if len(slopes) else np.full(3, np.nan)
        expected = float(judged.loc[judged["contrast"] == f"associated - {other}", "expected"].mean())
        cluster = cluster_interval_of(data, "associated", other, PROB)
        known = abs(slope) > 2 * error and abs(expected) > MOST_SHARE * cluster.se
        warning = bool(abs(difference) > FAR * spread and (r2 > MOST_R2 or known))
        common = _overlap(parts[0], parts[1], BIN * spread)
        records.append((f"associated - {other}", difference, common, expected, cluster.estimate, warning))
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
