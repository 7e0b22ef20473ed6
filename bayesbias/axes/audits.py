"""``audit``: which words of a vocabulary lean to one end of an axis, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesbias._support.arguments import flag, probability, share, whole_number
from bayesbias._support.progress import one_thread, progress
from bayesbias.axes.places import (
    MOST_ROWS,
    PRINTED,
    Axis,
    above_zero,
    agreement_notes,
    agreement_of,
    random_agreement,
    summary_of,
)
from bayesbias.axes.poles import FoundPoles, find_poles, refuse_one_pair, refuse_templates, sample_beside
from bayesbias.checks.summaries import PROB
from bayesbias.errors import InputError
from bayesbias.numerics.arrays import FloatArray, mean_unit, unit_rows
from bayesbias.numerics.mixtures import false_sign_rates, s_values
from bayesbias.numerics.offsets import Field, MeanOffset, field_of, mean_offset, signal
from bayesbias.results import Cited, Note, Result
from bayesbias.vectors import Embedding, about, opened, rows_of, with_composed
from bayesbias.vectors.contextual import ContextVectors
from bayesbias.vectors.lookup import ordered_by_frequency, warn_lost
from bayesbias.vectors.poles import poles_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

BLOCK = 512
"""Words whose numbers are made at once: so few that they stay in a processor's cache."""
HALF = 0.5
"""The region of no interest, in standard deviations of places over the vocabulary."""
SHRINKAGE = "10.1093/biostatistics/kxw041"
FEW = 6
"""Pairs below which an audit says that they are few."""
LARGEST = 10
"""Words that are shown where none is called."""
FEWEST = 100
"""Words beside the protected ones from which a distribution is described."""


@dataclass(frozen=True, repr=False, eq=False)
class Audit(Result):
    """The places of all words of a vocabulary on an axis, and which of them lean to one end.

    Attributes
    ----------
    poles
        The words at the poles that were found.
    words
        One row a word: ``word``, ``contrast`` (mean distance to the negative pole less that to the positive one),
        ``place`` (the contrast less its mean over the vocabulary), ``se`` (of further pairs or words like these),
        ``mean``, ``sd``, ``low``, ``high`` (of the place, shrunken towards 0), ``p_beyond_rope`` (that the place lies
        beyond the region of no interest on the side it leans to), ``lfsr`` (local false sign rate), ``s_value``
        (expected share of wrong or empty calls among the words that are surer), ``leans_to``, ``called``, ``rank`` (1:
        closest to the negative pole), ``rank_low``, ``rank_high``, ``frequency_rank`` (in a file ordered by frequency,
        -1 elsewhere), ``db_wa``, ``ripa`` (of pairs, or two lists of equally many words).
    zero, size, rope
        Mean of contrasts over the vocabulary, posterior mean of the standard deviation of places over it, errors taken
        out, and half the width of the region of no interest, in cosine distance.
    by_pair, usual
        Agreement of the pairs, as :meth:`Axis.pairs` has it, and mean agreement that 5% of sets of random pairs exceed;
        None for lists.
    """

    picture: ClassVar[str] = "forest"

    poles: FoundPoles
    words: pd.DataFrame
    zero: float
    size: float
    rope: float
    level: float
    prob: float
    embedding: str
    notes: tuple[Note, ...]
    most_frequent: int | None = None
    by_pair: pd.DataFrame | None = None
    usual: float | None = None

    def table(self, called: bool = True) -> pd.DataFrame:
        """The words called, or all words: the largest means of places first."""
        rows = self.words[self.words["called"]] if flag(called, "called") else self.words
        return rows.sort_values("mean", key=abs, ascending=False, kind="stable", ignore_index=True)

    def caption(self) -> str:
        """Which side is which."""
        low, high = self.poles.ends
        return f"shrunken places: {low} < 0 < {high}; cosine distance"

    def header(self) -> dict[str, object]:
        """Facts of the vocabulary, of the words called, and of the pairs."""
        called, agreement = self.words.loc[self.words["called"], "leans_to"].value_counts(sort=False), None
        if self.by_pair is not None:
            agreement = f"{self.by_pair['agreement'].mean():.2f} (random < {self.usual:.2f})"
        return {
            "embedding": self.embedding,
            "words": len(self.words),
            "most frequent": self.most_frequent,
            "called": int(called.sum()),
            "to": [f"{end} {count:,}" for end, count in called.items() if count],
            "errors at most": f"{self.level:.0%}",
            "rope": f"{self.rope:.3g}",
            "median se": float(self.words["se"].median()),
            "pairs": len(self.poles.pairs) or None,
            "agreement": agreement,
            "intervals": f"{self.prob:.0%}, further {'pairs' if self.poles.pairs else 'words'}",
        }

    def summary(self) -> pd.DataFrame:
        """The words called with the largest places on each side, or the largest places where no word is called."""
        called = bool(self.words["called"].any())
        rows = self.table(called).head(LARGEST)
        if called:
            sides = self.table().groupby("leans_to", observed=True, sort=False)
            rows = sides.head(PRINTED // sides.ngroups).sort_values("leans_to", kind="stable")
        ranks = ["frequency_rank"] if (rows["frequency_rank"] > 0).all() else []
        return rows[["word", "leans_to", "mean", "sd", "low", "high", "p_beyond_rope", *ranks]]

    def drawn_from(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """The words that are printed."""
        low, high = self.poles.ends
        label = f"shrunken place (cosine distance)\n← {low}      {high} →"
        return self.summary(), {"rows": ["word"], "by": "leans_to", "label": label}

    def tables(self) -> dict[str, pd.DataFrame]:
        """The words with the largest places, of those that are called if any is; all contrasts; and the pairs."""
        columns = ["word", "leans_to", "mean", "sd", "low", "high", "p_beyond_rope", "rank", "rank_low", "rank_high"]
        over = {"mean": self.zero, "sd": self.words["place"].std(ddof=0), "size": self.size, "rope": self.rope}
        return {
            "Words": self.table(bool(self.words["called"].any())).head(MOST_ROWS)[columns],
            "Contrasts over the vocabulary": pd.DataFrame([over]),
            **({} if self.by_pair is None else {"Agreement of pairs": self.by_pair}),
        }

    def sources(self) -> tuple[Any, ...]:
        """The method of shrinkage, the word lists and the embedding."""
        return (
            Cited("shrinkage of the audit", doi=SHRINKAGE),
            *self.poles.sources(),
            Cited(f"embedding {self.embedding}"),
        )


def audit(
    kv: Embedding,
    groups: Any,
    level: float = 0.05,
    rope: float | None = None,
    prob: float = PROB,
    most_frequent: int | None = None,
) -> Audit:
    """Find the words of a vocabulary that lean to one end of an axis, and how sure that is.

    Each word has a place on the axis, the difference of its mean distances to the two poles less the mean of that
    difference over the vocabulary. Places of all words are products with one offset, and what lies behind the offset is
    normal around 0 with the covariance of the vocabulary times an unknown variance: the error of the mean, and of what
    all words together tell of the size of places, is in the posterior of each word. A word is called where its place
    lies beyond a region of no interest.

    Parameters
    ----------
    kv
        The embedding, or what :func:`load_embedding` takes. It is read in blocks.
    groups
        Pairs as :func:`axis` takes them, an axis itself, or two lists of words, which say less, since what the words of
        a list have in common beside the opposition does not cancel.
    level
        Share of wrong or empty calls that is expected among the words called.
    rope
        Places, in cosine distance, at most 1, within which a word is of no interest; by default half of their standard
        deviation over the sample that the covariance comes from.
    most_frequent
        Only that many of the first words of a file that is ordered by frequency; by default all words.
    prob
        Mass of the intervals.

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041

    Examples
    --------
    >>> found = bb.audit("glove-50d-slice", "gender")
    >>> found.words.set_index("word").loc[["actress", "colonel"], "leans_to"].tolist()
    ['woman', 'man']
    """
    level, prob = probability(level, "level"), probability(prob, "prob")
    rope = rope if rope is None else share(rope, "rope")
    refuse_templates(isinstance(kv, ContextVectors) or (isinstance(groups, Axis) and groups.templates), "an audit")
    asked = poles_of(groups.poles.poles if isinstance(groups, Axis) else groups, "groups")
    vectors = with_composed(opened(kv), asked.words)
    poles = find_poles(vectors, asked)
    warn_lost(poles.notes, "the notes of the result")
    ordered, count, at_poles = ordered_by_frequency(vectors.index_to_key), len(poles.pairs), {*poles.keys_at_poles}
    if most_frequent is not None:
        whole_number(most_frequent, "most_frequent", least=FEWEST)
        if not ordered:
            raise InputError(
                "most_frequent is given, but the file does not seem to be ordered by frequency: leave it out"
            )
    rows = np.array([i for i, key in enumerate(vectors.index_to_key[:most_frequent]) if key not in at_poles], np.intp)
    with one_thread():
        field = field_of(sample_beside(vectors, poles.keys_at_poles))
        offset = mean_offset(field, poles.strata)
        refuse_one_pair(offset, "an audit")
        words, zero, size, rope = _places(vectors, rows, field, poles, offset, rope, prob)
    if not ordered:
        words["frequency_rank"] = -1
    words["called"] = words["s_value"] <= level
    notes = [] if ordered else [Note("no-value", what="frequency ranks", reason="file of another order")]
    by_pair, usual = None, None
    if not count:
        notes.append(Note("no-value", what="measured share of errors", reason="lists, not pairs"))
    else:
        by_pair, usual = agreement_of(poles, offset, field), random_agreement(field, count)
        notes += [Note("pairs", pairs=count, asked=len(asked.pairs))] if count < FEW else []
        notes += agreement_notes(by_pair, usual, poles.ends)
    if not words["called"].any():
        notes.append(Note("no-value", what="word called", reason="the largest are shown"))
    return Audit(
        poles=poles,
        words=words,
        zero=zero,
        size=size,
        rope=rope,
        level=level,
        prob=prob,
        embedding=str(about(vectors)["name"]),
        notes=(*poles.notes, *notes),
        most_frequent=most_frequent,
        by_pair=by_pair,
        usual=usual,
    )


def _places(
    kv: KeyedVectors,
    rows: NDArray[np.intp],
    field: Field,
    poles: FoundPoles,
    offset: MeanOffset,
    rope: float | None,
    prob: float,
) -> tuple[pd.DataFrame, float, float, float]:
    """One row a word, by rows of the embedding, the mean of contrasts, the sd of places without errors, the rope."""
    behind, relation = signal(offset), _relation(kv, poles)
    parts = [slice(begin, begin + BLOCK) for begin in range(0, len(rows), BLOCK)]
    sums = [len(rows[part]) * mean_unit(np.asarray(kv.vectors[rows[part]], dtype=float)) for part in parts]
    mean: FloatArray = np.sum(sums, axis=0) / len(rows)
    # means are products with a vector; variances need all coordinates, whose squares are summed in single precision
    means = field.coordinates(np.eye(len(mean))) @ np.array([offset.mean, behind.mean]).T
    pairs = offset.pairs.astype(np.float32)
    place, se, shrunken, scale, ripa = np.full((5, len(rows)), np.nan)
    with progress("auditing the vocabulary", len(rows)) as done:
        for part in parts:
            block = np.asarray(kv.vectors[rows[part]], dtype=float)
            apart = unit_rows(block) - mean
            words = field.coordinates(apart.astype(np.float32))
            place[part], shrunken[part] = (apart @ means).T
            se[part], scale[part] = np.sqrt(words**2 @ pairs), behind.place_sds(words)
            if relation is not None:
                ripa[part] = block @ relation
            done(min(part.stop, len(rows)))
    zero = float(mean @ (poles.strata.weights @ poles.strata.vectors))
    rope = HALF * field.spread(offset.mean**2) if rope is None else rope
    posterior = summary_of(shrunken, scale, behind.freedom, prob)
    beyond = above_zero(np.abs(shrunken) - rope, scale, behind.freedom)
    ranked = np.sort(shrunken)
    table = pd.DataFrame(
        {
            "word": pd.array([kv.index_to_key[row] for row in rows.tolist()], dtype="str"),
            "contrast": place + zero,
            "place": place,
            "se": se,
            **{name: posterior[name] for name in ("mean", "sd", "low", "high")},
            "p_beyond_rope": beyond,
            "lfsr": false_sign_rates(posterior["p_positive"]),
            "s_value": s_values(1 - beyond),
            "leans_to": pd.Categorical.from_codes((shrunken > 0).astype(np.int8).tolist(), pd.Index(poles.ends)),
            "rank": np.searchsorted(ranked, shrunken) + 1,
            "rank_low": np.searchsorted(ranked, posterior["low"]) + 1,
            "rank_high": np.minimum(np.searchsorted(ranked, posterior["high"]) + 1, len(rows)),
            "frequency_rank": rows + 1,
            "db_wa": np.nan if relation is None else -(place + zero),
            "ripa": ripa,
        }
    )
    return table, zero, field.spread(behind.mean**2 + behind.variances), rope


def _relation(kv: KeyedVectors, poles: FoundPoles) -> FloatArray | None:
    """Mean unit relation vector (d,), for RIPA, of pairs, or of the words of two lists as they were given in order."""
    pairs = list(poles.pairs)
    if not pairs:
        sides, kept = [words for _, words in poles.poles.lists], {word for _, words in poles.lists for word in words}
        pairs = list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else []
        pairs = [pair for pair in pairs if kept.issuperset(pair)]  # words without their partner are left out
    if not pairs:
        return None
    low, high = zip(*pairs, strict=True)
    below, above = (np.asarray(kv.vectors[rows_of(kv, words)], dtype=float) for words in (low, high))
    relation: FloatArray = unit_rows(below - above).mean(axis=0)
    return relation
