"""``axis``: words between two poles, with errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from bayesbias._support.arguments import by_name_or_none, flag, one_of, probability
from bayesbias._support.progress import one_thread
from bayesbias.axes.poles import (
    FoundPoles,
    TemplateErrors,
    find_poles,
    refuse_one_pair,
    refuse_templates,
    sample_beside,
    template_errors,
    turns_of,
    vocabulary_of,
)
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError, listed
from bayesbias.numerics.arrays import NOTHING, FloatArray, unit_rows
from bayesbias.numerics.mixtures import Normals
from bayesbias.numerics.offsets import Field, MeanOffset, field_of, mean_offset
from bayesbias.numerics.related import root_of
from bayesbias.posteriors import Estimates
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import (
    Case,
    Embedding,
    about,
    composed_notes,
    find_words,
    opened,
    rows_of,
    with_composed,
)
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import (
    CASES,
    first_keys,
    left_out,
    lost_of,
    other_capitals,
    places_of,
    spread_of,
    warn_lost,
)
from bayesbias.vectors.poles import poles_of
from bayesbias.words import WordLists, words_given

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

POPULATIONS = ("oppositions", "pairs")
"""What the errors of places are over: axes without a meaning, and further pairs of this opposition."""
CENTRES = ("vocabulary", "words")
DRAWS, BLOCK = 20_000, 200
"""Draws that count intervals which exclude 0 by chance, a tenth for more words than a page shows; drawn at once."""
MOST_ROWS, PRINTED = 400, 14
"""Words that a page shows, and that are printed."""
PLACES = "10.1177/0003122419877135"


@dataclass(frozen=True, repr=False, eq=False)
class Axis(Result):
    """The places of words on an axis.

    The place of a word is its mean cosine distance to the negative words of the pairs less that to the positive ones:
    positive where the word is nearer to the positive pole.

    Attributes
    ----------
    name, ends
        Of the axis, and what its negative and its positive pole are called.
    words, keys
        The words placed, and how the embedding spells them.
    coordinates, zero
        Of the words (words, Q), centred, such that the product with ``offset.mean`` is the place, and the mean place
        that the centring took off.
    offset, field, poles
        The mean offset with its errors, what the vocabulary tells of vectors, and the words at the poles that were
        found.
    centre, base
        What places are centred on, and the vector (d,) that words are taken less.
    embedding, kv
        Name, number of vectors and dimensions, and the vectors, for axes that are compared with this one.
    templates
        What templates of sentences add to the errors of places; None where words have one vector each.
    """

    picture: ClassVar[str] = "plot_axis"
    prob: ClassVar[float] = PROB

    name: str
    ends: tuple[str, str]
    words: tuple[str, ...]
    coordinates: FloatArray
    zero: float
    offset: MeanOffset
    field: Field
    poles: FoundPoles
    keys: tuple[str, ...]
    centre: str | None
    embedding: Any
    notes: tuple[Note, ...]
    kv: KeyedVectors
    base: FloatArray
    templates: TemplateErrors | None = None

    def with_words(self, words: Iterable[str] | str | Path, case: Case = "as-is") -> Axis:
        """The same axis with other words on it, or those of a list that :func:`load_list` takes."""
        names = words_given(words, "words")
        one_of(case, CASES, "case")
        place = {word: row for row, word in enumerate(self.words)}
        if all(word in place for word in names):
            rows = np.array([place[word] for word in names], dtype=np.intp)
            keys = {word: self.keys[row] for word, row in zip(names, rows.tolist(), strict=True)}
            return replace(
                self,
                words=tuple(keys),
                keys=tuple(keys.values()),
                coordinates=self.coordinates[rows],
                notes=(*self.poles.notes, *_word_notes(self, keys)),
                templates=self.templates and replace(self.templates, placed=self.templates.placed.rows(rows)),
            )
        vectors = with_composed(self.kv, names, case)
        keys, missing = _placed(vectors, names, case)
        warn_lost(missing, "the notes of the result")
        return _with(replace(self, kv=vectors), keys, missing, _units(vectors, keys.values()))

    @property
    def at_poles(self) -> tuple[str, ...]:
        """Those of the words that are at the poles: they lie near these by construction."""
        own = self.poles.keys_at_poles
        return tuple(word for word, key in zip(self.words, self.keys, strict=True) if key in own)

    @cached_property
    def places(self) -> FloatArray:
        """Places (words,), in cosine distance."""
        result: FloatArray = self.coordinates @ self.offset.mean
        return result

    @cached_property
    def length(self) -> float:
        """Length of the mean offset: a place divided by it is the cosine of the word with the axis."""
        return float(self.field.lengths(self.offset.mean))

    @property
    def spread(self) -> float:
        """Standard deviation of places over the sampled words that errors come from."""
        return self.field.spread(self.offset.mean**2)

    @cached_property
    def doubt(self) -> bool:
        """True where pairs show no credible common direction; False where they do, or cannot tell."""
        # the offsets of a simulated axis are not those of its pairs
        several = 1 < len(self.poles.pairs) == len(self.offset.offsets[0])
        return several and not self.pairs()["agreement"].mean() > self.random_agreement

    @cached_property
    def estimates(self) -> Estimates:
        """Places by ``word``, as :class:`Estimates` with normal errors over oppositions."""
        size, index = len(self.words), pd.DataFrame({"word": self.words}, dtype="string")
        return Estimates.of(Normals(self.places, (self._root(),)), size, index)

    def _root(self) -> FloatArray:
        """A root of the covariance of places over oppositions, of templates too."""
        root: FloatArray = self.coordinates * np.sqrt(self.variances("oppositions"))
        return root if self.templates is None else np.hstack([root, root_of(self.templates.placed.covariance())])

    def chance(self) -> tuple[int, float]:
        """The number of words whose intervals exclude 0, and the probability of as many on an axis without a meaning.

        The probability is that of as many or more, by draws of the errors over oppositions of all words together. Words
        of the poles are left out of both: they lie near their pole on any axis.
        """
        table = self.table(order=False)
        judged = ~table["word"].isin(self.at_poles).to_numpy()
        table, root = table[judged], self._root()[judged]
        reach = ((table["high"] - table["low"]) / 2).to_numpy()[:, None]
        count = int(((table["low"] > 0) | (table["high"] < 0)).sum())
        rng, draws = np.random.default_rng(0), DRAWS if len(self.words) <= MOST_ROWS else DRAWS // 10
        drawn = [
            (np.abs(root @ rng.standard_normal((root.shape[1], BLOCK))) > reach).sum(axis=0)
            for _ in range(draws // BLOCK)
        ]
        return count, float((np.concatenate(drawn) >= count).mean())

    def variances(self, population: str) -> FloatArray:
        """Variances (Q,) of the errors of the mean offset."""
        if one_of(population, POPULATIONS, "population") == "pairs":
            refuse_one_pair(self.offset, "population='pairs'")
        return self.offset.variances(population)

    def covariance(self, population: str = "oppositions") -> FloatArray:
        """Covariance (words, words) of the errors of places, in squared cosine distance."""
        variances = self.variances(population)
        result: FloatArray = (self.coordinates * variances) @ self.coordinates.T
        return result if self.templates is None else result + self.templates.placed.covariance()

    def table(self, prob: float = PROB, population: str = "oppositions", order: bool = True) -> pd.DataFrame:
        """The places of the words.

        Parameters
        ----------
        prob
            Mass of the intervals.
        population
            What the errors are over. ``"oppositions"``: of an axis without a meaning, whose pairs are as similar and as
            parallel as these, intervals exclude 0 in the share of words that ``prob`` leaves. ``"pairs"``: further
            pairs of this opposition, with Student's tails of Satterthwaite's degrees of freedom, which one pair does
            not tell.
        order
            Whether words are sorted by place, the positive end first.

        Returns
        -------
        DataFrame
            ``word``, ``mean``, ``sd``, ``low``, ``high``, ``p_positive``, ``p_above_next`` (that the word lies beyond
            the next row, missing for the last), ``pairs_sd`` (of further pairs of this opposition; missing for one
            pair), and ``frequency_rank`` (missing where it is not known).
        """
        mass, variances = probability(prob, "prob"), self.variances(population)
        rows = np.argsort(-self.places, kind="stable") if flag(order, "order") else np.arange(len(self.words))
        places = places_of(self.kv)  # in a file ordered by frequency
        ranks = [places.get(self.keys[row], -1) + 1 for row in rows]
        coordinates, mean = self.coordinates[rows], self.places[rows]
        scatter = None if self.templates is None else self.templates.placed.rows(rows)
        more, more_apart = (None, None) if scatter is None else (scatter.variances(), scatter.of_steps())
        errors = self._errors(coordinates**2 @ variances, more, population)
        errors_apart = self._errors(np.diff(coordinates, axis=0) ** 2 @ variances, more_apart, population)
        table = pd.DataFrame(
            {
                "word": pd.array([self.words[row] for row in rows], dtype="string"),
                **summary_of(mean, *errors, mass),
                "p_above_next": np.append(above_zero(-np.diff(mean), *errors_apart), np.nan),
                "pairs_sd": np.sqrt(coordinates**2 @ self.offset.pairs),
                "frequency_rank": pd.array([rank or None for rank in ranks], dtype="Int64"),
            }
        )
        table.attrs = {"prob": mass}
        return table

    def pairs(self) -> pd.DataFrame:
        """Agreement of each pair with the others, the least first.

        ``negative``, ``positive``; ``similarity`` (cosine of the two words); ``agreement`` (correlation, over the
        vocabulary, of the places by this pair with those by the mean of the others); ``random_agreement`` (that 5% of
        random pairs of words in its place exceed); ``influence`` (root mean square change of places over the vocabulary
        if the pair is left out, in standard deviations of places); ``belongs`` (whether the agreement is above 0).
        """
        if not self.poles.pairs:
            raise InputError(f"the axis {self.name} is made of two lists: give pairs of words to see how each agrees")
        return agreement_of(self.poles, self.offset, self.field)

    def contrast(
        self,
        words_a: Iterable[str] | str | Path,
        words_b: Iterable[str] | str | Path,
        prob: float = PROB,
        population: str = "oppositions",
    ) -> pd.DataFrame:
        """Difference of the mean places of two lists: above 0 where the first is nearer to the positive pole.

        The error is from the joint covariance of places: what the axis is uncertain about for both lists cancels. The
        words are taken as they are, not as a sample of others. Lists are words, or what :func:`load_list` takes.

        Returns
        -------
        DataFrame
            One row: ``mean`` (mean place of ``words_a`` less that of ``words_b``), ``sd``, ``low``, ``high``,
            ``p_positive``, ``words_a`` and ``words_b`` (the numbers of words found), ``missing`` (words that were not).

        Examples
        --------
        >>> gender = bb.axis("glove-50d-slice", "gender", words=["nurse"])
        >>> row = gender.contrast(["actress", "nurse"], ["colonel", "captain"])
        >>> bool(row["high"][0] < 0)  # nearer to woman
        True
        """
        mass, variances = probability(prob, "prob"), self.variances(population)
        lists = {name: words_given(words, name) for name, words in (("words_a", words_a), ("words_b", words_b))}
        every = list(dict.fromkeys(chain(*lists.values())))
        placed = self.with_words(every)
        found = {name: np.isin(placed.words, words) for name, words in lists.items()}
        for name, inside in found.items():
            if not inside.any():
                raise InputError(f"none of the words of {name} is in {self.embedding['name']}: {listed(lists[name])}")
        held = set(placed.words)
        first, second = (inside / inside.sum() for inside in found.values())
        signs = first - second
        more = None
        if placed.templates is not None:
            more = np.maximum(signs @ placed.templates.placed.covariance() @ signs, 0.0)[None]
        apart = (signs @ placed.coordinates)[None]
        table = pd.DataFrame(
            {
                **summary_of(apart @ self.offset.mean, *self._errors(apart**2 @ variances, more, population), mass),
                **{name: [inside.sum()] for name, inside in found.items()},
                "missing": pd.array([", ".join(word for word in every if word not in held)], dtype="string"),
            }
        )
        table.attrs = {"prob": mass}
        return table

    def _errors(
        self, variances: FloatArray, more: FloatArray | None, population: str
    ) -> tuple[FloatArray, float | FloatArray]:
        """Standard deviations of errors of the axis and of templates together, and their degrees of freedom."""
        freedom = np.inf if population == "oppositions" else self.offset.freedom
        if self.templates is None or more is None:
            return np.sqrt(variances), freedom
        total = variances + more
        # Satterthwaite: errors of few degrees of freedom matter as far as they are a part of the whole
        moderated = (len(self.templates.turns) - 1) / (1 - self.templates.placed.share)
        inverse = variances**2 / freedom + more**2 / max(moderated, 1.0)
        return np.sqrt(total), np.divide(total**2, inverse, out=np.full_like(total, np.inf), where=inverse > 0)

    @property
    def random_agreement(self) -> float:
        """Mean agreement that axes of as many pairs of random words exceed with a probability of 5%."""
        return random_agreement(self.field, len(self.poles.pairs))

    @property
    def effective_pairs(self) -> float:
        """Number of unrelated pairs that would give places as precise over oppositions; 1 if all pairs are parallel."""
        squares = self.field.variances**2
        return float((self.offset.single @ squares) / (self.offset.opposition @ squares))

    def caption(self) -> str:
        """Which side is which."""
        return f"places: {self.ends[0]} < 0 < {self.ends[1]}; cosine distance"

    def header(self) -> dict[str, object]:
        """Facts of the axis, and how many intervals exclude 0: of the words, by chance, and of the vocabulary."""
        (out, chance, share), judged = self._outside, len(self.words) - len(self.at_poles)
        several = len(self.poles.pairs) > 1
        agreement = self.pairs()["agreement"].mean() if several else None
        return {
            "axis": self.name,
            "embedding": self.embedding["name"],
            "words": len(self.words),
            "pairs": f"{len(self.poles.pairs)} (effective {self.effective_pairs:.1f})" if self.poles.pairs else None,
            "lists": [f"{name} {len(words)}" for name, words in self.poles.lists],
            "intervals": f"{PROB:.0%}, axes without meaning",
            "without 0": f"in {out:,} of {judged:,}{f' (by chance p {chance:.2g})' if out else ''}",
            "in the vocabulary": None if self.templates is not None else f"{share:.0%}",
            "agreement": f"{agreement:.2f} (random < {self.random_agreement:.2f})" if several else None,
            "templates": None if self.templates is None else len(self.templates.turns),
            "0 is": f"the mean of the {self.centre}" if self.centre else "equally far from both",
            "sd of places": self.spread,
            "median pairs sd": float(self._table["pairs_sd"].median()) if self.offset.freedom else None,
        }

    @cached_property
    def _table(self) -> pd.DataFrame:
        return self.table()

    @cached_property
    def _outside(self) -> tuple[int, float, float]:
        """What :meth:`chance` returns, and the share of words of the vocabulary whose intervals exclude 0 as well."""
        coordinates = self.field.coordinates(vocabulary_of(self.kv)[1] - self.base)
        sds = np.sqrt(coordinates**2 @ self.variances("oppositions"))
        share = (np.abs(coordinates @ self.offset.mean) > stdtrit(np.inf, (1 + PROB) / 2) * sds).mean()
        return *self.chance(), float(share)

    def summary(self) -> pd.DataFrame:
        """The mean place of the words, and the words in order; of many words those at the two ends."""
        return self._shown_words(PRINTED)[["word", "mean", "sd", "low", "high", "p_positive", "pairs_sd"]]

    def tables(self) -> dict[str, pd.DataFrame]:
        """The mean place and the words, of many the two ends; and the pairs."""
        pairs = {"Agreement of pairs": self.pairs()} if self.poles.pairs else {}
        return {"Places": self._shown_words(MOST_ROWS), **pairs}

    def _shown_words(self, most: int) -> pd.DataFrame:
        """The mean place of the words that are not of the poles, and so many words at the two ends.

        There is no mean of one word, of very many, and of those that places are centred on.
        """
        inside, own = np.arange(len(self.words)) < most // 2, set(self.at_poles)
        words = self._table if len(self.words) <= most else self._table.loc[inside | inside[::-1]]
        judged = np.array([word not in own for word in self.words])
        count = int(judged.sum())
        if not 1 < count <= MOST_ROWS or self.centre == "words":
            return words
        mean = self.estimates.combine(judged[None] / count).summary(PROB)
        mean = mean[["mean", "sd", "low", "high"]].assign(word=f"mean of {count} words")
        return pd.concat([mean.astype({"word": "string"}), words], ignore_index=True)[list(words)]

    def sources(self) -> tuple[Any, ...]:
        """The work that began with such places, the pairs and the embedding."""
        origin = self.embedding.get("source", ""), self.embedding.get("doi", "")
        embedding = Cited(f"embedding {self.embedding['name']}", *origin)
        return Cited("places on an axis", doi=PLACES), *self.poles.sources(), embedding


def summary_of(mean: FloatArray, sd: FloatArray, freedom: float | FloatArray, mass: float) -> dict[str, FloatArray]:
    """Means with their intervals, and the probability that they are above 0."""
    reach = stdtrit(freedom, (1 + mass) / 2) * sd  # normal of infinite degrees of freedom
    ends = {"low": mean - reach, "high": mean + reach}
    return {"mean": mean, "sd": sd, **ends, "p_positive": above_zero(mean, sd, freedom)}


def above_zero(mean: FloatArray, sd: FloatArray, freedom: float | FloatArray) -> FloatArray:
    """Probability above 0; of no error and no difference one half."""
    sure = np.where(np.abs(mean) > NOTHING, np.copysign(np.inf, mean), 0.0)
    z = np.divide(mean, sd, out=sure, where=sd > NOTHING)
    value: FloatArray = stdtr(freedom, np.where(np.isnan(z), 0.0, z))
    return value


def axis(
    kv: Embedding | ContextVectors,
    pairs: Any,
    words: Iterable[str] | WordLists | str | Path | None = None,
    centre: str | None = "vocabulary",
    case: Case = "as-is",
) -> Axis:
    """Words between two poles: their places on an axis of pairs, with errors.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes; or words in sentences (:func:`encode`), whose places are
        means over templates and have the scatter of templates as a second error.
    pairs
        A bundled axis (``bundled("axes")``), pairs of words (negative, positive), a bundled list or a file of pairs,
        or two lists by name, the negative one first, which say less: what the words of a list have in common beside the
        opposition does not cancel.
    words
        Words to place, a list that :func:`load_list` takes, or word lists, whose protected words are placed; by default
        the vocabulary, of a file that is ordered by frequency its 20,000 most frequent words.
    centre
        What the place 0 is: ``"vocabulary"``, the mean over that vocabulary; ``"words"``, that over the words placed;
        None, equal distance to both poles.
    case
        As in :func:`distance_table`.

    References
    ----------
    Kozlowski, A. C., Taddy, M. and Evans, J. A. (2019). The geometry of culture: analyzing the meanings of class
    through word embeddings. American Sociological Review 84(5). https://doi.org/10.1177/0003122419877135

    Examples
    --------
    >>> found = bb.axis("glove-50d-slice", "gender", words=["nurse", "captain", "dancer"])
    >>> found.table()["word"].tolist()
    ['captain', 'dancer', 'nurse']
    """
    where = by_name_or_none(centre, CENTRES, "centre")
    sentences = kv if isinstance(kv, ContextVectors) else None
    if sentences is not None:
        refuse_templates(sentences.nested, "an axis", "sentences of a corpus")
        sentences = sentences.whole()
    people = chain.from_iterable(words.protected.values()) if isinstance(words, WordLists) else words
    names = None if people is None else words_given(people, "words")
    asked = poles_of(pairs)
    vectors = opened(kv, [*asked.words, *(names or ())], case) if sentences is None else sentences.mean_vectors()
    poles = find_poles(vectors, asked, case)
    if isinstance(kv, ContextVectors) and sentences is not None:
        alone = Note("no-value", what="scatter of templates", reason="there is one template")
        poles = replace(poles, notes=(*poles.notes, *kv.notes, *[alone] * (len(sentences) == 1)))
    vocabulary, of_vocabulary = vocabulary_of(vectors)
    every = dict(zip(vocabulary, vocabulary, strict=True))
    keys, missing = (every, []) if names is None else _placed(vectors, names, case)
    if where == "words" and len(keys) == 1:
        raise InputError(f"centre='words' takes places less their mean, and there is one, {next(iter(keys))}")
    with one_thread():
        sample = sample_beside(vectors, poles.keys_at_poles)
        if sentences is not None and len(sample) <= vectors.vector_size:
            sample = sample_beside(vectors, ())  # the poles too, where the others do not span all dimensions
        sampled = field_of(sample)
        offset = mean_offset(sampled, poles.strata)
    if poles.pairs:
        usual = random_agreement(sampled, len(poles.pairs))
        disagree = agreement_notes(agreement_of(poles, offset, sampled), usual, poles.ends)
        poles = replace(poles, notes=(*poles.notes, *disagree))
    units = of_vocabulary if names is None else _units(vectors, keys.values())
    base = {"vocabulary": of_vocabulary, "words": units}.get(where or "", np.zeros((1, units.shape[1]))).mean(axis=0)
    weights, errors = poles.strata.weights, None
    if sentences is not None:
        turns, spanned = turns_of(sentences, vectors), rows_of(vectors, every)
        centred = {"vocabulary": spanned, "words": rows_of(vectors, keys.values())}.get(where or "")
        with one_thread():
            errors = template_errors(
                turns,
                offset=weights @ poles.strata.vectors,
                offsets=weights @ turns[:, rows_of(vectors, poles.keys)],
                base=base,
                bases=np.zeros((len(turns), len(base))) if centred is None else turns[:, centred].mean(axis=1),
                rows=spanned,
                units=of_vocabulary,
            )
    placed = Axis(
        name=poles.name,
        ends=poles.ends,
        words=(),
        coordinates=np.empty((0, len(sampled.variances))),
        zero=float(base @ (weights @ poles.strata.vectors)),
        offset=offset,
        field=sampled,
        poles=poles,
        keys=(),
        centre=where,
        embedding={**about(vectors), "spread": spread_of(vectors)},
        notes=poles.notes,
        kv=vectors,
        base=base,
        templates=errors,
    )
    made = _with(placed, keys, missing, units)
    warn_lost(made.notes, "the notes of the result")
    return made


def _with(on: Axis, keys: dict[str, str], missing: Sequence[Note], units: FloatArray) -> Axis:
    """An axis with other words: word to the key under which the embedding holds it, and their unit vectors."""
    return replace(
        on,
        words=tuple(keys),
        keys=tuple(keys.values()),
        coordinates=on.field.coordinates(units - on.base),
        notes=(*on.poles.notes, *missing, *_word_notes(on, keys)),
        templates=on.templates and on.templates.with_rows(rows_of(on.kv, keys.values()), units),
    )


def _units(kv: KeyedVectors, keys: Iterable[str]) -> FloatArray:
    return unit_rows(np.asarray(kv.vectors[rows_of(kv, keys)], dtype=float))


def _placed(kv: KeyedVectors, names: Sequence[str], case: Case) -> tuple[dict[str, str], list[Note]]:
    """Word to the key under which the embedding holds it, of the words to place, and notes on those it lacks."""
    keys = dict(find_words(kv, names, case).keys)
    missing = [word for word in names if word not in keys]
    if not keys:
        raise InputError(
            f"none of the words is in {about(kv)['name']}: {listed(missing)}; {first_keys(kv, missing, case)}"
        )
    lost, other = lost_of("placed", {"": names}, keys), other_capitals(kv, missing, case)
    if other or not lost:
        lost += left_out(len(missing), len(names), "words", other or "missing", missing)
    return keys, lost


def _word_notes(on: Axis, keys: dict[str, str]) -> list[Note]:
    """Notes on words, given with their keys, whose vectors are made of parts of words, or are those of the poles."""
    notes = composed_notes(on.kv, keys)
    if own := [word for word, key in keys.items() if key in on.poles.keys]:
        notes.append(Note("poles", words=own))
    return notes


RANDOM = 1.645
"""Standard deviations above the mean that a normal variable exceeds with a probability of 5%."""


def agreement_of(poles: FoundPoles, offset: MeanOffset, field: Field) -> pd.DataFrame:
    """Agreement of each pair with the others, the least first; the columns are those of :meth:`Axis.pairs`."""
    offsets, squares = offset.offsets[0], field.variances**2
    count = len(offsets)
    rest = (offset.mean * count - offsets) / max(count - 1, 1)
    inner = (offsets * rest) @ squares
    size = rest**2 @ squares
    lengths = np.sqrt((offsets**2 @ squares) * size)
    agreement = np.divide(inner, lengths, out=np.full(count, np.nan), where=(lengths > 0) & (count > 1))
    # coordinates of a random pair's offset have equal variances: its correlation with given places is nearly normal
    share = np.divide(rest**2 @ squares**2, size, out=np.full(count, np.nan), where=(size > 0) & (count > 1))
    change = np.sqrt((offset.mean - rest) ** 2 @ squares) / field.spread(offset.mean**2) if count > 1 else np.nan
    vectors, member = poles.strata.vectors, poles.strata.members[0]
    table = pd.DataFrame(
        {
            "negative": pd.array([pair[0] for pair in poles.pairs], dtype="string"),
            "positive": pd.array([pair[1] for pair in poles.pairs], dtype="string"),
            "similarity": (vectors[member.argmin(axis=1)] * vectors[member.argmax(axis=1)]).sum(axis=1),
            "agreement": agreement,
            "random_agreement": RANDOM * np.sqrt(share / squares.sum()),
            "influence": change,
            "belongs": ~(agreement <= 0),
        }
    )
    return table.sort_values("agreement", ignore_index=True)


def random_agreement(field: Field, count: int) -> float:
    """Mean agreement that so many pairs of random words exceed with a probability of 5%.

    The correlations of random pairs with the mean of the others have the variance v of those of two random pairs; that
    of their mean is 2 v / count, since each pair is among the others of each other.
    """
    squares = field.variances**2
    return float(RANDOM * np.sqrt((squares**2).sum() * 2 / max(count, 2)) / squares.sum())


def agreement_notes(pairs: pd.DataFrame, usual: float, ends: tuple[str, ...]) -> list[Note]:
    """A note where pairs have no common direction, some are the wrong way round, or that which names the poles is."""
    values, bounds = pairs["agreement"], pairs["random_agreement"]
    naming = (pairs["negative"] == ends[0]) & (pairs["positive"] == ends[1]) & (len(pairs) > 2)
    turned = (values < -bounds) | (naming & (values <= 0))
    if len(pairs) < 2 or (values.mean() > usual and not turned.any()):
        return []
    least = pairs[values <= bounds]
    named = [f"{low}/{high}" for low, high in zip(least["negative"], least["positive"], strict=True)]
    return [Note("disagree", mean=float(values.mean()), limit=usual, words=named)]
