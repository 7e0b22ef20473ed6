"""Numbers of words, such as their frequency, and what they let expect of distances."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import as_float
from bayesbias._support.files import (
    are_quoted,
    file_at,
    from_json,
    lines_of,
    read_arrays,
    separator_of,
    tell_passed_over,
    to_json,
    unquoted,
)
from bayesbias.distances.covariances import Relatedness, relatedness_content, relatedness_from
from bayesbias.errors import InputError, listed, shown
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.related import MIDDLES, root_of, similarity_bins
from bayesbias.results import Note
from bayesbias.vectors import find_keys, opened
from bayesbias.vectors.lookup import about, left_out, places_of
from bayesbias.words import STEREOTYPES, subtag

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

FREQUENCY, LENGTH = "frequency", "length"
WORDFREQ, ENGLISH = "wordfreq", "en"
WORDFREQ_TAGS = {"tl": "fil"}  # languages that wordfreq has under another tag
PER_BILLION = 9.0
OFFSET = 2.7  # frequency falls with 1 / (rank + this), from rank 1 (Mandelbrot)
FEWEST = 200  # words of the sample with a known value from which on the curves of the vocabulary are used
KNOTS = (0.25, 0.5, 0.75)
ENDS = (0.01, 0.99)  # quantiles of the vocabulary's values: inner knots, and where the curves become straight lines
FEWEST_CONTROLS = 8
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8
LEAST_REST = 0.1  # least share of a vector's squared length that is left when what goes with its value is taken out

type Attribute = str | Mapping[str, Mapping[str, float]]
type Frequencies = Mapping[str, float] | str | Path | KeyedVectors | None


@dataclass(frozen=True)
class WordValues:
    """A number for each of some words."""

    name: str  # frequency, length or a name of the user's own
    unit: str  # what a difference of 1 is
    source: str  # where the numbers come from
    numbers: Mapping[str, float]  # words without one are absent

    def of(self, words: Iterable[str]) -> FloatArray:
        """The numbers of some words, NaN where there is none."""
        return np.array([self.numbers.get(word, np.nan) for word in words], dtype=float)


def word_values(
    words: Sequence[str],
    attribute: Attribute = FREQUENCY,
    frequencies: Frequencies = None,
    related: Relatedness | None = None,
    language: str | None = None,
) -> WordValues:
    """The numbers of words under an attribute: frequency, length (letters), or one of the user's own.

    Frequencies are counts or relative frequencies in a mapping or a file with two columns (word, count), an embedding
    whose file is ordered by frequency, or ``"wordfreq"``. They are looked up as words are written, else in lower case,
    and counted in zipf, the decimal logarithm of the occurrences in a billion words (van Heuven et al. 2014,
    https://doi.org/10.1080/17470218.2013.850521). None takes the order of the embedding behind the table, which its
    relatedness knows, else wordfreq where that is installed.
    """
    if attribute == LENGTH:
        values = WordValues(LENGTH, "letter", "the words", {word: float(len(word)) for word in words})
    elif attribute == FREQUENCY:
        values = _zipf(words, frequencies, related, language)
    elif isinstance(attribute, Mapping) and len(attribute) == 1:
        [(name, given)] = attribute.items()
        numbers = numbers_by_word(given, str(name))
        held = find_keys(words, numbers, language=language)
        values = WordValues(str(name), "unit", "what was given", {word: numbers[key] for word, key in held.items()})
    else:
        raise InputError(
            f"the attribute is {shown(attribute)}: give 'frequency', 'length', or a mapping with one entry, such as "
            "{'concreteness': {'table': 4.9, ...}}"
        )
    if np.isnan(values.of(words)).all():
        raise InputError(f"{values.source} has {values.name} for none of the words, such as {listed(list(words)[:3])}")
    return values


def check_used(adjust: object, frequencies: object) -> None:
    """Refuse frequencies that nothing would use."""
    if adjust is None and frequencies is not None:
        raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")


def numbers_by_word(values: Mapping[str, float] | pd.Series, name: str, positive: bool = False) -> dict[str, float]:
    """The finite numbers of words, above 0 if ``positive``."""
    numbers: dict[str, float] = {}
    for word, value in values.items():
        number = as_float(value)
        if not isinstance(word, str) or word in numbers or not isfinite(number) or (positive and number <= 0):
            kind = "numbers above 0" if positive else "finite numbers"
            raise InputError(
                f"{name} of {shown(word)} is {shown(value)}: give each word {kind} once, and leave unknown words out"
            )
        numbers[word] = number
    return numbers


def _zipf(
    words: Sequence[str], frequencies: Frequencies, related: Relatedness | None, language: str | None
) -> WordValues:
    if frequencies is None and related is not None and (ranks := related.ranks_by_word):
        source = f"the order of the file of {related.embedding.get('name', 'the embedding')}"
        return WordValues(FREQUENCY, "zipf", source, _zipf_of_ranks(ranks, int(related.embedding["vectors"])))
    if frequencies is None or (isinstance(frequencies, str) and frequencies == WORDFREQ):
        return _from_wordfreq(words, language)
    if hasattr(frequencies, "index_to_key"):
        kv = opened(frequencies)
        if not (places := places_of(kv)):
            raise InputError("the embedding does not seem to be ordered by frequency: give counts")
        held = find_keys(words, places, language=language)
        zipf = _zipf_of_ranks({word: places[key] for word, key in held.items()}, about(kv)["vectors"])
        return WordValues(FREQUENCY, "zipf", "the order of the embedding's file", zipf)
    if isinstance(frequencies, str | Path):
        counts, source = _read_counts(frequencies), f"the file {Path(frequencies).name}"
    else:
        counts, source = numbers_by_word(frequencies, FREQUENCY, positive=True), "the frequencies that were given"
    # the Zipf scale: log10 of the occurrences in a billion words
    offset = PER_BILLION - np.log10(sum(counts.values()) or 1)
    lower = find_keys((word.lower() for word in words), counts, language=language)
    held = {word: lower[word.lower()] for word in words if word.lower() in lower}
    held |= find_keys(words, counts, language=language)
    return WordValues(FREQUENCY, "zipf", source, {w: float(np.log10(counts[key]) + offset) for w, key in held.items()})


def _zipf_of_ranks(ranks: Mapping[str, int], size: int) -> dict[str, float]:
    """Zipf values of places in a file that is ordered by frequency, counted from 0."""
    total = (1 / (np.arange(1, size + 1) + OFFSET)).sum()
    return {word: float(PER_BILLION - np.log10((rank + 1 + OFFSET) * total)) for word, rank in ranks.items()}


def _from_wordfreq(words: Sequence[str], language: str | None) -> WordValues:
    tag = subtag(language) or ENGLISH
    tag = WORDFREQ_TAGS.get(tag, tag)
    try:
        from wordfreq import available_languages, zipf_frequency

        if tag not in available_languages():  # else it takes a language near it
            raise LookupError(tag)
        zipf = {word: float(zipf_frequency(word.replace("_", " "), tag)) for word in words}
    except (ImportError, LookupError) as error:  # words of some languages are cut by other packages
        raise InputError(
            f"wordfreq has no frequencies of the language {language!r} of the word lists ({error}): give frequencies= "
            "(a mapping of words to counts, or the path of a file with two columns), or pip install "
            "'bayesbias[frequencies]'"
        ) from None
    known = {word: value for word, value in zipf.items() if value > 0}
    return WordValues(FREQUENCY, "zipf", f"wordfreq ({'English' if tag == ENGLISH else tag})", known)


def _read_counts(path: str | Path) -> dict[str, float]:
    """Counts from a file with two columns, apart by tabs, semicolons, commas or blanks; a header is passed over.

    Counts of 0 and lines that cannot be read are passed over and told.
    """
    content = file_at(path, "give the path of a file with frequencies, or 'wordfreq'").read_bytes()
    lines = lines_of(content.decode("utf-8-sig", errors="surrogateescape"))
    separator = separator_of(lines.values(), "\t", lambda line, each: _word_and_count(line, each)[1] >= 0)
    parts = [_word_and_count(line, separator) for line in lines.values()]
    words = [word for word, _ in parts]
    words = unquoted(words) if are_quoted(words) else words
    counts: dict[str, float] = {}
    odd: dict[int, str] = {}
    for (number, line), word, (_, count) in zip(lines.items(), words, parts, strict=True):
        if count > 0 and not ESCAPED.search(word):
            counts[word] = counts.get(word, 0.0) + count
        elif number > min(lines) or count >= 0:  # else a header
            odd[number] = line
    if len(odd) > len(counts):
        number, line = next(iter(odd.items()))
        raise InputError(f"{path}, line {number}: {line[:60]!r} is not a word and its count")
    tell_passed_over(path, odd, "a word and a count above 0")
    return counts


def _word_and_count(line: str, separator: str) -> tuple[str, float]:
    """The two parts of a line, whose word may hold a comma; the count is NaN where it is no number from 0."""
    word, *count = (part.strip() for part in line.rsplit(separator.strip(" ") or None, 1))
    try:
        value = float(count[0]) if count and word else np.nan
    except ValueError:
        value = np.nan
    return word, value if 0 <= value < np.inf else np.nan


@dataclass(frozen=True)
class _Curve:
    """Expected distances of J protected words by a word's value: a cubic spline, a straight line beyond its ends."""

    knots: FloatArray  # with the boundary knots repeated
    low: float  # the ends
    high: float
    least: float  # smallest and largest value of the data, beyond which the curve is flat
    most: float
    coefficients: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # (basis functions, J)

    def basis(self, x: FloatArray) -> FloatArray:
        """Values (len(x), basis functions) of the splines, continued beyond both ends along their tangents."""
        from scipy.interpolate import BSpline  # loads slowly

        x = np.clip(x, self.least, self.most)
        inside = np.clip(x, self.low, self.high)
        design: FloatArray = BSpline.design_matrix(inside, self.knots, 3).toarray()
        slopes = BSpline(self.knots, np.eye(design.shape[1]), 3).derivative()
        return design + (x - inside)[:, None] * slopes(inside)

    def at(self, x: FloatArray) -> FloatArray:
        """Expected distances (J, len(x))."""
        return (self.basis(x) @ self.coefficients).T


def _fitted_curve(x: FloatArray, distances: FloatArray, weights: FloatArray) -> _Curve:
    """The weighted least-squares spline of distances (J, N) on the words' values (N,), those beyond its ends included.

    Weights (N,) make the words those of the vocabulary: words that are sampled for their distances would bend it.
    """
    low, high = np.quantile(x, ENDS)
    if not high > low:
        low, high = float(x.min()), float(x.max())
    inner = np.unique(np.quantile(x, KNOTS))
    knots = np.concatenate([[low] * 4, inner[(inner > low) & (inner < high)], [high] * 4])
    curve = _Curve(knots, float(low), float(high), float(x.min()), float(x.max()))
    root = np.sqrt(weights)[:, None]
    return replace(curve, coefficients=np.linalg.lstsq(root * curve.basis(x), root * distances.T, rcond=None)[0])


class Slope(NamedTuple):
    """A common slope of distance on a value: estimate, standard error and degrees of freedom."""

    value: float
    se: float
    df: float
    r2: float = float("nan")
    words: int = 0


def control_slope(table: pd.DataFrame, values: WordValues) -> Slope:
    """The slope of the control words' distances on their values, within lists, a word counting once."""
    rows = pd.DataFrame(table)[~table["connection"].isin(STEREOTYPES)]
    rows = rows.assign(value=values.of(rows["attribute_word"].astype(str)))
    rows = rows[rows["value"].notna()]
    apart = rows["distance"] - rows.groupby(["protected_word", "connection"])["distance"].transform("mean")
    words = rows.assign(apart=apart).groupby(["connection", "attribute_word"])[["apart", "value"]].mean()
    words = words - words.groupby("connection").transform("mean")
    x, y = words["value"].to_numpy(), words["apart"].to_numpy()
    # each list's mean takes a degree of freedom, and so does the slope
    df = len(words) - words.index.get_level_values("connection").nunique() - 1
    squares = float(x @ x)
    if len(words) < FEWEST_CONTROLS or df < 1 or squares <= 1e-12 * len(x):
        raise InputError(
            f"{len(words)} control words have a known {values.name}, and a slope needs {FEWEST_CONTROLS} that differ: "
            f"give the {values.name} of more words, or make the table with distance_table(kv, words) from all vectors"
        )
    slope = float(x @ y) / squares
    rest = y - slope * x
    total = float(y @ y)
    r2 = 1 - float(rest @ rest) / total if total > 0 else 0.0
    return Slope(slope, float(np.sqrt(rest @ rest / df / squares)), float(df), r2, len(words))


@dataclass(frozen=True, repr=False, eq=False)
class Adjustment:
    """The amounts that were subtracted from the distances, and the curves or slope behind them."""

    attribute: WordValues
    how: str  # "vocabulary" or "controls"
    reference: float  # value of a word whose distances stay as they are
    expected: pd.DataFrame  # protected words by attribute words: what was taken from their distance
    slope: Slope | None  # that of the controls; None where the curves are those of the vocabulary
    words: int  # behind the curves or the slope
    left_out: tuple[str, ...]  # attribute words without a value
    before: Relatedness | None  # how the distances were correlated before

    def facts(self) -> dict[str, Any]:
        """Everything but the expected distances, for the record."""
        facts = {name: getattr(self.attribute, name) for name in ("name", "unit", "source")}
        facts |= {name: getattr(self, name) for name in ("how", "reference", "words", "left_out", "slope")}
        return facts

    def of_rows(self, table: pd.DataFrame) -> FloatArray:
        """Amount (rows,) that was subtracted from the distance of each row."""
        known = {"protected_word": self.expected.index, "attribute_word": self.expected.columns}
        places = (pd.Series(range(len(own)), own).loc[table[name].astype(str)] for name, own in known.items())
        expected: FloatArray = self.expected.to_numpy()[tuple(places)]
        return expected

    @property
    def notes(self) -> list[Note]:
        """Notes on what was subtracted, and on the words that were left out."""
        values, slope = self.attribute, self.slope
        by = "curve" if slope is None else f"slope {slope.value:.4f}, se {slope.se:.4f} per {values.unit}"
        words = self.words if slope is None else slope.words
        source, reason = f"{values.source}; {by}, {words:,} words", f"no known {values.name}"
        total = len(self.left_out) + words
        return [
            Note("adjusted", attribute=values.name, source=source),
            *left_out(len(self.left_out), total, "attribute words", reason, self.left_out),
        ]


def by_vocabulary(
    related: Relatedness | None, values: WordValues, known: pd.Series
) -> tuple[Adjustment, Relatedness] | None:
    """The adjustment by curves over the vocabulary's sample, and relatedness less these; None where it is too small."""
    if related is None or (drawn := vocabulary_curve(related, values)) is None:
        return None
    curve, enough = drawn
    reference = float(known.mean())
    # least squares: the curve of a protected word follows from those of the rows of the scatter
    by_word = related.of_words(curve.at(known.to_numpy(dtype=float)) - curve.at(np.array([reference])))
    expected = pd.DataFrame(by_word, index=list(related.protected_words), columns=known.index)
    x: FloatArray = values.of(related.sample_words)[enough]
    rest = related.scatter.astype(float)[:, enough] - curve.at(x)
    changed = related.with_sample(enough, rest - rest.mean(axis=1, keepdims=True))
    changed = _without_levels(changed, curve, x, values.of(related.attribute_words))
    return Adjustment(values, "vocabulary", reference, expected, None, len(enough), (), None), changed


def by_slope(
    values: WordValues, slope: Slope, known: pd.Series, protected: Iterable[str], reference: float | None = None
) -> Adjustment:
    """The adjustment by a common slope, of all protected words by one line through the ``known`` values of words."""
    reference, protected = float(known.mean()) if reference is None else reference, list(dict.fromkeys(protected))
    line = slope.value * (known - reference)
    expected = pd.DataFrame([line.to_numpy()] * len(protected), index=protected, columns=line.index)
    return Adjustment(values, "controls", reference, expected, slope, slope.words, (), None)


def slope_adjustment(
    numbers: Mapping[str, float], record: str, protected: Sequence[str], before: Relatedness | None
) -> Adjustment | None:
    """The adjustment by a common slope from the text of its facts and the words' values; None of one by curves."""
    facts = from_json(record)
    if facts["slope"] is None:
        return None
    values = WordValues(facts["name"], facts["unit"], facts["source"], numbers)
    made = by_slope(values, Slope(*facts["slope"]), pd.Series(numbers), protected, float(facts["reference"]))
    return replace(made, left_out=tuple(facts["left_out"]), before=before)


def adjustment_arrays(adjustment: Adjustment) -> dict[str, NDArray[Any]]:
    """An adjustment as arrays, as a file holds it."""
    numbers = adjustment.attribute.numbers
    arrays = {
        "facts": np.array(to_json(adjustment.facts())),
        "words": np.array(list(numbers), dtype=str),
        "values": np.array(list(numbers.values()), dtype=float),
        "expected": adjustment.expected.to_numpy(dtype=float),
        "protected_words": np.array(adjustment.expected.index, dtype=str),
        "attribute_words": np.array(adjustment.expected.columns, dtype=str),
    }
    if adjustment.before is not None:
        arrays["before"] = np.frombuffer(relatedness_content(adjustment.before), dtype=np.uint8)
    return arrays


def adjustment_from(arrays: Mapping[str, NDArray[Any]]) -> Adjustment:
    """An adjustment from the arrays of :func:`adjustment_arrays`."""
    numbers = dict(zip(arrays["words"].tolist(), arrays["values"].tolist(), strict=True))
    facts = from_json(str(arrays["facts"]))
    values, slope = WordValues(facts["name"], facts["unit"], facts["source"], numbers), facts["slope"]
    index, columns = (arrays[name].tolist() for name in ("protected_words", "attribute_words"))
    content = read_arrays(io.BytesIO(arrays["before"].tobytes()), "the adjustment") if "before" in arrays else None
    before = None if content is None else relatedness_from(content)
    expected = pd.DataFrame(arrays["expected"], index=index, columns=columns)
    left, words = tuple(facts["left_out"]), int(facts["words"])
    slope = slope and Slope(*slope)
    return Adjustment(values, facts["how"], float(facts["reference"]), expected, slope, words, left, before)


def vocabulary_curve(related: Relatedness, values: WordValues) -> tuple[_Curve, IntArray] | None:
    """The curve over the vocabulary's sample and the places of its words with values; None where these are too few."""
    x = values.of(related.sample_words)
    known = np.flatnonzero(np.isfinite(x))
    if len(known) < FEWEST or np.ptp(x[known]) <= 0:
        return None
    scatter, weights = related.scatter.astype(float), related.everywhere_weights
    return _fitted_curve(x[known], scatter[:, known], weights[known]), known


def _without_levels(related: Relatedness, curve: _Curve, x: FloatArray, own: FloatArray) -> Relatedness:
    """Relatedness whose similarities are those beyond what the words' values make of them.

    Frequent words are similar as such. Once frequency is out of the distances, that part of their similarity predicts
    nothing, and would make random words of one frequency count as words of one topic. Unit vectors are u = m(x) + r,
    and the product of two is on average m(x)'m(x'), which is B(x)' M B(x') with the splines B of the curves and an M
    that the pairs of sampled words give. The similarity that is left is that of r.

    ``x`` and ``own`` are values of the sampled words and of the attribute words, NaN where one is not known, whose
    vector stays.
    """
    pairs = related.pairs
    if related.forms is not None or not len(pairs.first):
        return related
    design = curve.basis(x)
    drawn = np.bincount(pairs.bins, minlength=len(pairs.counts))
    share = np.divide(pairs.counts, drawn, out=np.zeros(len(drawn)), where=drawn > 0)[pairs.bins]
    similarity, size = MIDDLES[pairs.bins], design.shape[1]
    rows, columns = np.triu_indices(size)
    first, second = design[pairs.first], design[pairs.second]
    # B(x)' M B(x') of a symmetric M, by its upper triangle: the coefficient of two different splines comes out twice
    # as large, and is shared out between the two places of M below
    products = (first[:, rows] * second[:, columns] + first[:, columns] * second[:, rows]) / 2
    weighted = products * share[:, None]
    solution = np.zeros((size, size))
    solution[rows, columns] = np.linalg.lstsq(weighted.T @ products, weighted.T @ similarity, rcond=None)[0]
    root = root_of((solution + solution.T) / 2)  # positive semi-definite, as products of vectors are
    levels = design @ root
    rest = np.maximum(1 - (levels**2).sum(axis=1), LEAST_REST)
    apart = similarity - (levels[pairs.first] * levels[pairs.second]).sum(axis=1)
    bins = similarity_bins(apart / np.sqrt(rest[pairs.first] * rest[pairs.second]))
    counts = np.round(np.bincount(bins, share, minlength=len(pairs.counts))).astype(np.intp)
    known = np.isfinite(own)
    mine = np.zeros((len(own), root.shape[1]))
    mine[known] = curve.basis(own[known]) @ root
    left = np.maximum(1 - (mine**2).sum(axis=1), LEAST_REST)
    units = related.units.astype(float)
    matrix = (units @ units.T - mine @ mine.T) / np.sqrt(left[:, None] * left)
    np.fill_diagonal(matrix, 1.0)
    values, axes = np.linalg.eigh(matrix)
    dimensions = related.attributes.shape[1]
    # vectors with these products, in as many dimensions as there were: the nearest ones by the largest eigenvalues
    # (Eckart and Young 1936, https://doi.org/10.1007/BF02288367)
    most = min(dimensions, len(values))
    vectors = np.zeros((len(values), dimensions))
    vectors[:, :most] = axes[:, ::-1][:, :most] * np.sqrt(np.maximum(values[::-1][:most], 0))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    changed = np.divide(vectors, lengths, out=vectors, where=lengths > 0).astype(np.float16)
    return replace(
        related, pairs=replace(pairs, bins=bins, counts=counts), attributes=changed, centre=np.zeros(dimensions)
    )
