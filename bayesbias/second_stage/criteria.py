"""``criterion``: whether words whose contrast is larger have more of something outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import probability
from bayesbias._support.figures import drawing
from bayesbias._support.phrases import MINUS, QUANTITIES, excludes_zero, percent, share, signed
from bayesbias._support.results import Cited, Page, Picture, Section, table_of, unsaid, whole_table
from bayesbias._support.threads import one_thread
from bayesbias.axes import Axis
from bayesbias.axes.poles import refuse_one_pair, refuse_templates
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.distances import Distances
from bayesbias.distances.vocabularies import FREQUENCY, PROTECTED, WordValues, check_used, numbers_by_word, word_values
from bayesbias.errors import InputError, agreed, listed, many, shown
from bayesbias.estimates import Estimates
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.related import components_for
from bayesbias.models.tree import Fit
from bayesbias.models.weights import DIFFERENCE
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Gaussian
from bayesbias.numerics.offsets import Field, Signal, Strata, mean_offset, outside_relation, signal
from bayesbias.numerics.second_stage import latent_relation
from bayesbias.second_stage.estimates import (
    CHAINS,
    Adjust,
    Staged,
    checked_contrast,
    default_contrast,
    posterior_tree,
    stage_of,
    word_rows,
)
from bayesbias.vectors import find_keys
from bayesbias.words import OWN, STEREOTYPES

UNNAMED = "outside values"
FEWEST = 5
"""Words from which a relation is estimated."""
WIDTH = 0.1
"""Width of the half-Cauchy prior of the spread of words' contrasts, in cosine distance."""
MOST_WORDS = 2000
ADJUSTED_SHARE = 1e-2
"""Directions with less than this share of the largest variance are left as they are where distances are adjusted."""
LARGEST = 1_000_000
"""Times the range of the values that a standard error is at most."""
ADJUSTED = "Places and values are adjusted for"
"""Beginning of the note on an attribute."""
FURTHER_PAIRS, FURTHER_WORDS = "further pairs", "further words of the two lists"
"""What the errors of places are over."""
LESS = {
    None: "",
    "vocabulary": ", less the mean of this over the vocabulary",
    "words": ", less the mean of this over the words of the axis",
    FREQUENCY: ", less what frequency predicts of this over the vocabulary",
}
"""What the places of an axis are taken less, by their centre or what they are adjusted for."""
SMOOTH, CLOSE = 0.9, 0.75
"""Smooth share of what is left of values, and words by dimension, from which relations are called too often."""
SAME = 1 - 1e-9
"""Correlation from which on two variables are one."""


@dataclass(frozen=True, repr=False, eq=False)
class Criterion(Staged):
    """The relation of words' latent contrasts to outside values.

    Attributes
    ----------
    contrast, variable
        The two poles, the negative one first; what the outside values are, "outside values" where it is not said.
    words
        One row a word: ``word``, ``group``, ``estimate`` (its contrast, not shrunken), ``se``, ``value``,
        ``value_se``, ``fitted`` (on the line), ``residual``. Where the relation is adjusted for an attribute, estimates
        and values are those at its mean, a column ``attribute`` holds it, and ``attrs`` its name and source.
    estimates
        The words' contrasts, as :class:`Estimates` by ``word`` and ``group``, with their joint covariance.
    population
        The relation, as :class:`Estimates` by ``variable``: the draws of :attr:`tree`.
    tree
        A DataTree that ArviZ reads: ``posterior`` with ``correlation``, ``slope``, ``intercept``, ``residual_sd`` and
        ``r2``.
    plain
        The correlation of the estimates with the values, which takes no error into account.
    missing
        Words of the fit without a value, and words with a value that the fit does not hold.
    errors
        Whether the values have standard errors.
    unadjusted
        The relation before adjustment for an attribute of the words, where it was asked for; else None.
    further
        What the errors of places are over, such as ``"further pairs"``; empty where words are unrelated.
    less
        What places are taken less, beside the distance to the second pole; empty where that is nothing.
    doubt
        The sentence that the pairs of the axis show no credible common direction; empty where they do.
    """

    picture: ClassVar[str] = "plot_relation"

    contrast: tuple[str, str]
    variable: str
    words: pd.DataFrame
    estimates: Estimates
    tree: xr.DataTree
    plain: float
    missing: Mapping[str, tuple[str, ...]]
    errors: bool
    unadjusted: Criterion | None
    cited: tuple[Any, ...]
    notes: tuple[str, ...]
    further: str
    less: str
    doubt: str

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """The relation in numbers.

        Returns
        -------
        DataFrame
            Rows ``correlation``, ``slope`` (cosine distance per unit of the value), ``intercept``, ``residual_sd``,
            ``r2``; columns ``quantity``, ``mean``, ``sd``, ``low``, ``high`` (with the mass ``prob``), ``p_positive``
            (missing for the last two, which are above 0). The line is that of places on values.
        """
        names = ["correlation", "slope", "intercept", "residual_sd", "r2"]
        draws = np.column_stack([self.draws(name) for name in names])
        table = pd.DataFrame(
            {"quantity": pd.array(names, dtype="string"), **describe(draws, probability(prob, "prob"))}
        )
        # what is above 0 by definition has no sign to ask for
        table["p_positive"] = np.append((draws[:, :3] > 0).mean(axis=0), [np.nan, np.nan])
        table.attrs = {"subject": self._subject, "prob": prob, "rows": QUANTITIES}
        return table

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        rows = self.table(prob).set_index("quantity").to_dict("index")
        rho, r2 = rows["correlation"], rows["r2"]
        first, second = self.ends
        settled = excludes_zero(rho)
        inside = f"{percent(prob)} interval {_ends_of(rho)}"
        positive, positive_mass = rho["p_positive"] >= 0.5, rho["p_positive"]
        way, sign = ("larger", "positive") if positive else ("smaller", "negative")
        chance = f"probability that it is {sign} {share(positive_mass if positive else 1 - positive_mass)}"
        words = many(len(self.words), "word")
        similar = "what similar words share" if self.by_vectors else ""
        places = f"places over {self.further}" if self.further else "places"
        doubt = f"{self.doubt} " if self.doubt else ""
        sentences = [
            f"{doubt}Words nearer to {second} than to {first} have {way} {self.kind} ({words}): correlation "
            f"{_two(rho['mean'])} ({inside}; {chance})."
            if settled
            else f"{doubt}Whether words nearer to {second} than to {first} have larger {self.kind} is not known "
            f"({words}): the correlation is {_two(rho['mean'])} ({inside}, which includes 0; {chance}).",
            f"This is a posterior mean and allows for the errors of the {places}"
            f"{' and of the values' if self.errors else ''}{f' and for {similar}' if similar else ''}; the plain "
            f"correlation of the estimates with the values is {_two(self.plain)}.",
        ]
        if abs(rho["mean"]) < abs(self.plain):
            causes = f"{similar} and the uniform prior make" if similar else "the uniform prior makes"
            sentences.append(f"Errors alone would make it stronger than the plain one; {causes} it weaker.")
        if settled:
            sentences.append(
                f"The share of the variance that goes along with the places (R2) is {_two(r2['mean'])} "
                f"({_ends_of(r2)})."
            )
        off = self.words.reindex(self.words["residual"].abs().sort_values(ascending=False).index).head(3)
        sentences.append(
            f"Places furthest from the line, which is that of places on {self._values}, are those of "
            f"{listed([f'{word} ({signed(left)})' for word, left in zip(off['word'], off['residual'], strict=True)])}, "
            "in cosine distance."
        )
        if self.unadjusted is not None:
            raw = self.unadjusted.table(prob).iloc[0]
            sentences.append(f"Without adjustment the correlation is {_two(raw['mean'])} ({_ends_of(raw)}).")
            if excludes_zero(raw) and not settled:
                sentences.append("The adjustment explains the relation that is found without it.")
        return sentences

    @property
    def by_vectors(self) -> bool:
        """True if the vectors tell which words are similar, so that what is left of their values may be shared."""
        return bool(self.further)

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the two poles in sentences: a list of stereotypes by the group that it is associated with."""
        groups = ", ".join(filter(None, dict.fromkeys(self.words["group"])))
        own = f"the words associated with {groups}" if groups else "the associated words"
        first, second = (own if end == OWN else end for end in self.contrast)
        return first, second

    @property
    def _values(self) -> str:
        """The outside values within a sentence."""
        return f"the {UNNAMED}" if self.variable == UNNAMED else f"“{self.variable}”"

    @property
    def kind(self) -> str:
        """A name of the outside values that stands after an adjective or a verb."""
        return UNNAMED if self.variable == UNNAMED else f"values of {self._values}"

    @property
    def _subject(self) -> str:
        """The subject of the table of the relation: its line is that of places, in cosine distance."""
        return (
            f"Relation of {self._values} to the places of {many(len(self.words), 'word')} between "
            f"{' and '.join(self.ends)}; slope, intercept and residual standard deviation: the line of places (cosine "
            f"distance) on {self._values}"
        )

    def front(self, prob: float = PROB) -> Page:
        """The first screen of a report."""
        first, second = self.ends
        answer, *rest = self.findings(prob)
        lines = {
            "What is correlated?": f"The place of a word, its mean distance to {first} less that to "
            f"{second}{self.less}, with {self._values}. Above 0: words nearer to {second} have larger values.",
            "In detail": " ".join(rest),
            "What limits it?": " ".join(self.notes),
            **unsaid("A correlation over words does not say which side is the cause."),
        }
        return Page(
            title=f"Do words nearer to {second} than to {first} have larger {self.kind}?",
            lead=f"{many(len(self.words), 'word')} with a place and an outside value ({self.variable}).",
            answer=answer,
            lines=lines,
            picture=Picture(
                "relation",
                f"Places of words against {self._values}",
                partial(drawing, "plot_relation", self, prob=prob),
            ),
        )

    def sections(self, prob: float = PROB) -> tuple[Section, ...]:
        """The parts of a report: the relation in numbers, and the words."""
        columns = {
            "word": ("word", "text"),
            "value": ("value", "figure"),
            "estimate": ("place", "number"),
            "se": ("se", "number"),
            "fitted": ("on the line", "number"),
            "residual": ("off the line", "number"),
        }
        mass = percent(probability(prob, "prob"))
        return (
            Section("Relation", [whole_table(f"{self._subject}; {mass} intervals", self.table(prob))]),
            Section("Words", [table_of(f"Places, {self.variable}, and the line of places", self.words, columns)]),
        )

    def sources(self) -> tuple[Any, ...]:
        """The second stage, and what the axis or the fit rests on."""
        return (Cited("second stage: criterion", "bayesbias"), *self.cited)


def criterion(
    post: Axis | xr.DataTree,
    values: Mapping[str, float] | pd.Series,
    se: Mapping[str, float] | pd.Series | float | None = None,
    contrast: tuple[str, str] | None = None,
    adjust: Adjust = None,
    frequencies: Any = None,
    draws: int = 4000,
    seed: int | None = 0,
) -> Criterion:
    """Relate outside values of words to their places between two poles.

    The two poles are the same for all words: an axis, or two lists of a fit. Places are linear in the vectors of words,
    and outside values are regressed on the places that lie behind them. What is left of a value is in part its own and
    in part what related words share, since values that are smooth over meanings agree with many axes; which part is
    estimated. The errors of places are those of further pairs, or of further words of the two lists.

    Parameters
    ----------
    post
        An axis (:func:`axis`), whose words are those with a value; or a fit (:func:`fit`).
    values
        Word to its outside value, such as the share of women in an occupation. The name of a Series is said in
        sentences and on axes.
    se
        Standard errors of the values: by word, or one for all; None where the values are exact.
    contrast
        Two lists of a fit, stereotypes or controls, by name; ``"associated"`` is the stereotype list of a fit with one
        group. The contrast is the mean distance to the first less that to the second: negative, closer to the first. By
        default the two stereotype lists, or associated less the first control list.
    adjust, frequencies
        An attribute of the words, such as ``"frequency"``, that contrasts and values may both depend on, or their
        numbers, and where frequencies come from, as in :func:`fit`. The relation is then that among words of equal
        frequency, and the result says what it was before. Frequencies of attribute words are adjusted for in the fit.
    draws
        Draws in all, a multiple of 4, which are independent.
    seed
        As in :func:`fit`.

    Returns
    -------
    Criterion
        ``table()``, ``text()``, ``words`` and ``tree``.

    References
    ----------
    Fuller, W. A. (1987). Measurement Error Models. Wiley. https://doi.org/10.1002/9780470316665
    Lippert, C. et al. (2011). FaST linear mixed models for genome-wide association studies. Nature Methods 8.
    https://doi.org/10.1038/nmeth.1681

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> values = {"math": 1, "algebra": 2, "geometry": 3, "poetry": 4, "art": 5, "dance": 6}
    >>> found = bb.criterion(post, values)
    >>> found.words[["word", "value"]].head(2)
          word  value
    0     math    1.0
    1  algebra    2.0
    """
    pair = checked_contrast(contrast)
    if isinstance(post, Axis) and pair is not None:
        raise InputError("an axis is one contrast by itself: leave contrast out")
    outside, errors = _values(values, se)
    check_used(adjust, frequencies)
    checked_draws(draws, CHAINS)
    seed_used = used_seed(seed)
    side = _side_of_axis(post, outside) if isinstance(post, Axis) else _side_of_fit(Fit.read(post), pair)
    spelled = {key: word for word, key in find_keys(side.words, outside.index).items()}
    outside, errors = outside.rename(spelled), errors.rename(spelled)
    attribute = None
    if adjust is not None:
        valued = [word for word in side.words if word in outside.index]
        attribute = word_values(valued, adjust, frequencies, side.relatedness, side.language)
    absent = "not in the embedding" if isinstance(post, Axis) else "not in the fit"
    shared, missing = _shared_words(side.words, outside, attribute, absent)
    x, x_se = outside[shared].to_numpy(), errors[shared].to_numpy()
    if np.ptp(x) == 0:
        raise InputError("the values of all words are the same: they cannot be related to anything")
    covariate = None if attribute is None else _covariate(attribute, shared, x)
    rows = pd.Index(side.words).get_indexer(pd.Index(shared))
    y, covariance = side.y[rows], side.covariance(rows)
    relation = side.relation(rows, x, x_se**2, covariate, draws, np.random.default_rng([seed_used, 3]))
    smooth = _smooth_note(relation.pop("smooth"), len(shared), side.dimensions) if isinstance(side, _AxisSide) else []
    relation["r2"] = relation["correlation"] ** 2
    if covariate is not None:
        y, x = (_without(values_, covariate) for values_ in (y, x))
    fitted = float(relation["intercept"].mean()) + float(relation["slope"].mean()) * x
    words = pd.DataFrame(
        {
            "word": pd.array(shared, dtype="string"),
            "group": pd.array([side.groups[row] for row in rows], dtype="string"),
            "estimate": y,
            "se": np.sqrt(np.diag(covariance)),
            "value": x,
            "value_se": x_se,
            "fitted": fitted,
            "residual": y - fitted,
        }
    )
    if attribute is not None:
        words["attribute"] = attribute.of(shared)
        words.attrs |= {"attribute": attribute.name, "source": attribute.source}
    return Criterion(
        contrast=side.contrast,
        variable=str(values.name) if isinstance(values, pd.Series) and values.name is not None else UNNAMED,
        words=words,
        estimates=Estimates.of(Gaussian.known(y, covariance), len(y), words[["word", "group"]]),
        tree=posterior_tree({name: (None, values_) for name, values_ in relation.items()}, seed_used),
        plain=float(np.corrcoef(y, x)[0, 1]),
        missing=missing,
        errors=bool(x_se.any()),
        unadjusted=None if attribute is None else criterion(post, values, se, pair, draws=draws, seed=seed_used),
        cited=post.sources() if isinstance(post, Axis) else _sources_of_fit(Fit.read(post)),
        notes=(
            *([] if attribute is None else [f"{ADJUSTED} {attribute.name} (source: {attribute.source})."]),
            *_named_errors(values, se),
            *smooth,
            *_notes(missing, bool(side.further), bool(x_se.any()), side.notes),
        ),
        further=side.further,
        less=side.less,
        doubt=side.doubt,
    )


def _two(value: float) -> str:
    """A correlation, or a share."""
    return signed(value, digits=2)


def _ends_of(row: Any) -> str:
    """The interval of a correlation, or of a share."""
    return f"{_two(row['low'])} to {_two(row['high'])}"


def _shared_words(
    every: tuple[str, ...], outside: pd.Series, attribute: WordValues | None, absent: str
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Words with a place, a value and, where it is adjusted for, an attribute; and by what they lack, all others."""
    present, unvalued = set(every), tuple(word for word in every if word not in outside.index)
    missing = {"without a value": unvalued, absent: tuple(word for word in outside.index if word not in present)}
    shared = [word for word in every if word in outside.index]
    if attribute is not None:
        shared = [word for word in shared if word in attribute.numbers]
        known = {*unvalued, *shared}
        missing[f"without a known {attribute.name}"] = tuple(word for word in every if word not in known)
    if len(shared) < FEWEST:
        raise InputError(
            f"{len(shared)} words have a place and a value, and {FEWEST} are needed: places are those of "
            f"{listed(list(every))}, values those of {listed(outside.index.tolist())}"
        )
    if len(shared) > MOST_WORDS:
        raise InputError(f"{len(shared):,} words have a value, more than {MOST_WORDS:,}: give a part of them")
    return shared, missing


@dataclass(frozen=True, kw_only=True)
class _Side:
    """Contrasts of words, the first side of a relation."""

    contrast: tuple[str, str]
    words: tuple[str, ...]
    groups: tuple[str, ...]  # of each word; empty where there is none
    y: FloatArray  # as they were measured
    relatedness: Relatedness | None = None  # what a fit knows of its words, as the language
    language: str | None = None
    further: str = ""  # what the errors are over
    less: str = ""  # what places are taken less
    doubt: str = ""  # that the pairs of an axis show no common direction
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _AxisSide(_Side):
    """Places on one axis."""

    coordinates: FloatArray  # (words, Q)
    behind: Signal  # what lies behind the mean offset
    dimensions: int  # of the vectors

    def covariance(self, rows: IntArray) -> FloatArray:
        """Covariance of the errors of some words' contrasts, over further pairs or words like these."""
        result: FloatArray = (self.coordinates[rows] * self.behind.noise) @ self.coordinates[rows].T
        return result

    def relation(
        self,
        rows: IntArray,
        x: FloatArray,
        variances: FloatArray,
        covariate: FloatArray | None,
        draws: int,
        rng: np.random.Generator,
    ) -> dict[str, FloatArray]:
        """Draws of the relation, as a line of contrasts over outside values."""
        columns = [np.ones(len(x)), *([] if covariate is None else [covariate - covariate.mean()])]
        with one_thread():
            law = outside_relation(
                self.coordinates[rows], self.behind, x, variances, np.column_stack(columns), draws, rng
            )
        slope = law.correlation * law.place_sd / law.value_sd
        left = law.place_sd * np.sqrt(1 - law.correlation**2)
        intercept = self.y[rows].mean() - slope * x.mean()
        found = {"correlation": law.correlation, "slope": slope, "intercept": intercept, "residual_sd": left}
        return found | {"smooth": law.shared}


@dataclass(frozen=True, kw_only=True)
class _Unrelated(_Side):
    """Contrasts of words that a fit takes for unrelated, each with its own error."""

    errors: FloatArray

    def covariance(self, rows: IntArray) -> FloatArray:
        """Covariance of the errors of some words' contrasts."""
        return self.errors[np.ix_(rows, rows)]

    def relation(
        self,
        rows: IntArray,
        x: FloatArray,
        variances: FloatArray,
        covariate: FloatArray | None,
        draws: int,
        rng: np.random.Generator,
    ) -> dict[str, FloatArray]:
        """Draws of the relation."""
        residuals = [np.eye(len(rows))]
        found = latent_relation(
            self.y[rows], self.covariance(rows), x, variances, residuals, WIDTH, draws, rng, covariate
        )
        return {name: getattr(found, name) for name in ("correlation", "slope", "intercept", "residual_sd")}


def _side_of_axis(given: Axis, outside: pd.Series) -> _AxisSide:
    """The places of the words that have a value."""
    refuse_templates(given.templates, "a criterion")
    refuse_one_pair(given.offset, "a criterion", given.poles)
    placed = given.with_words(outside.index.tolist())
    further = FURTHER_PAIRS if placed.paired else FURTHER_WORDS
    return _AxisSide(
        contrast=placed.ends,
        words=placed.words,
        groups=("",) * len(placed.words),
        coordinates=placed.coordinates,
        behind=signal(placed.offset),
        dimensions=len(placed.field.centre),
        y=placed.places,
        further=further,
        less=LESS[placed.adjusted or placed.centre],
        doubt=placed.doubt,
        notes=(
            f"The standard errors of places are those over {further} (pairs_sd in the table of the axis), not those "
            "behind the intervals of the axis, which are over axes without a meaning.",
            *_pole_notes(placed),
            *(note for note in placed.notes if "are missing" not in note),
        ),
    )


def _sources_of_fit(fit: Fit) -> tuple[Any, ...]:
    """The model, and the record of the word lists and the embedding."""
    record = fit.data.coverage
    return (Cited(f"model {fit.spec.name}", fit.spec.source, fit.spec.doi or ""), *([] if record is None else [record]))


def _pole_notes(on: Axis) -> tuple[str, ...]:
    """The words at the ends of an axis of several pairs, each end named by its first word."""
    pairs = on.poles.pairs
    if len(pairs) < 2:
        return ()
    below, above = (listed(list(dict.fromkeys(words)), 4) for words in zip(*pairs, strict=True))
    return (f"The words at {on.ends[0]} are {below}; those at {on.ends[1]} are {above}.",)


def _side_of_fit(fit: Fit, contrast: tuple[str, str] | None) -> _AxisSide | _Unrelated:
    """The mean distance of each word to one list less that to another, the same two for all words."""
    data, related = fit.data, fit.data.relatedness
    every = tuple(data.protected_words.tolist())
    groups = tuple(data.groups.tolist()) or ("",) * len(every)
    if related is None:
        pair = default_contrast([fit])[0] if contrast is None else contrast
        _refuse_two_poles(pair, groups)
        stage = stage_of({"fit": fit}, pair)
        contrasts = word_rows(stage, rows=DIFFERENCE)
        known = dict(zip(every, groups, strict=True))
        names = tuple(contrasts.index["word"].tolist())
        return _Unrelated(
            contrast=pair,
            words=names,
            groups=tuple(known[word] for word in names),
            y=contrasts.mean,
            errors=contrasts.covariance.to_numpy(),
            language=data.language,
            notes=(*data.limits, *stage.notes),
        )
    lists = {name: words for name, kind, words in related.lists if kind != PROTECTED}
    stereotypes = [name for name, kind, _ in related.lists if kind == "stereotype"]
    if len(set(groups)) == 1 and len(stereotypes) == 1:
        lists[OWN] = lists[stereotypes[0]]
    pair = contrast or _default_lists(
        stereotypes, [name for name in lists if name not in stereotypes], len(set(groups))
    )
    if unknown := [name for name in pair if name not in lists]:
        _refuse_two_poles(pair, groups)
        raise InputError(f"contrast names {unknown[0]!r}, which is no list of the fit: valid are {', '.join(lists)}")
    y, full = _list_differences(data, [lists[name] for name in pair])
    labels = [word for word, whole in zip(every, full, strict=True) if whole]
    parts = components_for(related, np.array(labels))
    # the distances to a list have these components; places are those of offsets between the two lists. The value of a
    # word in each component is its product with these directions, since loadings need not be orthogonal
    place = {word: row for row, word in enumerate(related.protected_words)}
    units = related.protected[[place[word] for word in labels]].astype(float)
    directions = units.T @ np.linalg.pinv(parts.loadings).T
    field = Field(related.centre, directions, parts.variances, parts.correlations)
    coordinates = parts.loadings * np.sqrt(parts.variances)
    offset = mean_offset(field, _strata(related, [lists[name] for name in pair]))
    refuse_one_pair(offset, "a criterion")
    lost = [word for word in every if word not in set(labels)]
    notes = [f"Without a distance to either list, and left out: {listed(lost)}."] if lost else []
    if data.adjusted:
        # adjusted distances are not those of the vectors: the offset takes up what differs, in strong components
        moved = np.linalg.lstsq(coordinates, y[full] - coordinates @ offset.mean, rcond=ADJUSTED_SHARE)[0]
        offset = replace(offset, mean=offset.mean + moved)
    return _AxisSide(
        contrast=pair,
        words=tuple(labels),
        groups=tuple(group for group, whole in zip(groups, full, strict=True) if whole),
        coordinates=coordinates,
        behind=signal(offset),
        dimensions=len(related.centre),
        y=y[full],
        relatedness=related,
        language=data.language,
        further=FURTHER_WORDS,
        notes=(*data.limits, *notes),
    )


def _refuse_two_poles(pair: tuple[str, str], groups: tuple[str, ...]) -> None:
    """Own less other stereotypes turns the sign with the group."""
    if len(set(groups)) > 1 and any(name in STEREOTYPES for name in pair):
        raise InputError(
            f"{pair[0]}{MINUS}{pair[1]} of words of {len(set(groups))} groups has another pole for each group, and its "
            "sign turns with it: name two lists of the fit as contrast, such as contrast=('math', 'arts'), or give an "
            "axis: bb.criterion(bb.axis(kv, pairs), values)"
        )


def _default_lists(stereotypes: list[str], controls: list[str], groups: int) -> tuple[str, str]:
    others = [name for name in controls if name != OWN]
    if len(stereotypes) == 2:
        return stereotypes[0], stereotypes[1]
    if len(stereotypes) == 1 and groups == 1 and others:
        return OWN, others[0]
    raise InputError(
        f"the fit has the lists {', '.join([*stereotypes, *others])}: name two of them as contrast, the same for all "
        "words, or give an axis: bb.criterion(bb.axis(kv, pairs), values)"
    )


def _list_differences(data: Distances, lists: Sequence[Sequence[str]]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Mean distance (J,) to the words of one list less that to the other, and which words have both."""
    means = []
    for words in lists:
        inside = np.isin(data.attribute_words, words)[data.attribute]
        # a word may stand to two groups of a table: each distance counts once
        pair = np.unique(data.word[inside] * len(data.attribute_words) + data.attribute[inside], return_index=True)[1]
        word, y = data.word[inside][pair], data.y[inside][pair]
        counts = np.bincount(word, minlength=len(data.protected_words))
        sums = np.bincount(word, y, minlength=len(counts))
        means.append(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0))
    difference = means[0] - means[1]
    return difference, np.isfinite(difference)


def _strata(related: Relatedness, lists: Sequence[Sequence[str]]) -> Strata:
    """The two lists as poles, the first being the negative one."""
    every = list(dict.fromkeys(word for words in lists for word in words))
    if both := sorted(set(lists[0]) & set(lists[1])):
        raise InputError(f"{listed(both)} stands in both lists of the contrast: it cancels, give other lists")
    row_of = {word: row for row, word in enumerate(related.attribute_words)}
    vectors = related.attributes[[row_of[word] for word in every]].astype(float)
    members = []
    for sign, words in zip((-1.0, 1.0), lists, strict=True):
        member = np.zeros((len(words), len(every)))
        member[np.arange(len(words)), [every.index(word) for word in words]] = sign
        members.append(member)
    return Strata(vectors, tuple(members))


def _covariate(attribute: WordValues, words: list[str], x: FloatArray) -> FloatArray:
    """The attribute of words, for a relation that is adjusted for it."""
    values = attribute.of(words)
    if np.ptp(values) == 0:
        raise InputError(f"{attribute.name} is the same for all words: nothing can be adjusted for it")
    if abs(np.corrcoef(values, x)[0, 1]) > SAME:
        raise InputError(f"the values are those of {attribute.name}: nothing is left of them once it is adjusted for")
    return values


def _without(side: FloatArray, covariate: FloatArray) -> FloatArray:
    """One side of the relation at the mean of the covariate."""
    apart = covariate - covariate.mean()
    rest: FloatArray = side - apart * (apart @ side / (apart @ apart))
    return rest


def _values(values: Any, se: Any) -> tuple[pd.Series, pd.Series]:
    """Values by word and their standard errors."""
    if isinstance(values, pd.DataFrame) and len(values.columns):
        column = [*values.select_dtypes("number"), *values][0]
        raise InputError(
            f"values is a DataFrame: give one column, such as frame[{column!r}]; standard errors go to se="
        )
    if not isinstance(values, Mapping | pd.Series) or not len(values):
        raise InputError(f"values is {shown(values)}: give a mapping of protected words to numbers")
    outside = pd.Series(numbers_by_word(values, "values"))
    if se is None or (isinstance(se, int | float | np.integer | np.floating) and not isinstance(se, bool)):
        errors = pd.Series(float(se or 0.0), index=outside.index)
    elif isinstance(se, Mapping | pd.Series):
        errors = pd.Series(numbers_by_word(se, "se")).reindex(outside.index)
        if errors.isna().any():
            raise InputError(f"se lacks {listed(errors.index[errors.isna()].tolist())}: give one for each value")
    else:
        raise InputError(f"se is {shown(se)}: give one number, a mapping of words to numbers, or None")
    if not np.isfinite(errors).all() or (errors < 0).any():
        raise InputError("se holds a negative number or one that is not finite: give standard errors")
    if (errors > LARGEST * np.ptp(outside)).any():
        raise InputError(f"se holds {errors.max():g}, more than {LARGEST:,} times the range of the values: give less")
    return outside, errors


def _smooth_note(shares: FloatArray, words: int, dimensions: int) -> list[str]:
    """A note on values that may be nearly all smooth over meanings, by draws of the share that similar words have."""
    low, high = np.quantile(shares, [(1 - PROB) / 2, (1 + PROB) / 2])
    if words < CLOSE * dimensions or high < SMOOTH:
        return []
    return [
        f"Similar words may share nearly all that is left of the values ({percent(PROB)} interval of the share "
        f"{_two(low)} to {_two(high)}), with {words} words in {dimensions} dimensions: in simulations like this, "
        "relations that are not there were called in 15%, not in 11%."
    ]


def _named_errors(values: Any, se: Any) -> list[str]:
    """A note on standard errors whose name does not say that they are such."""
    name = getattr(se, "name", None)
    usual = (None, "se", f"{getattr(values, 'name', '')}_se")
    return [] if name in usual else [f"The standard errors of the values are those named “{name}”."]


def _notes(
    missing: Mapping[str, tuple[str, ...]], related: bool, errors: bool, others: tuple[str, ...]
) -> tuple[str, ...]:
    notes = [
        f"{many(len(words), 'word')} {agreed(len(words), 'is', 'are')} {what}: {listed(list(words))}."
        for what, words in missing.items()
        if words
    ]
    if not related:
        notes.append("The table does not record how words are related: errors of similar words count as independent.")
    if not errors:
        notes.append("The values are taken as exact.")
    return (*notes, *others)
