"""``criterion``: whether words whose contrast is larger have more of something outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._support.arguments import one_of, probability
from bayesbias._support.progress import one_thread
from bayesbias.axes import Axis
from bayesbias.axes.poles import refuse_one_pair, refuse_templates
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.adjustment import check_used, numbers_by_word, word_values
from bayesbias.distances.covariances import Relatedness
from bayesbias.distances.vocabularies import PROTECTED
from bayesbias.errors import InputError, listed
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.related import components_for
from bayesbias.models.tree import Fit
from bayesbias.models.weights import DIFFERENCE
from bayesbias.numerics.arrays import FloatArray, IntArray
from bayesbias.numerics.mixtures import Gaussian
from bayesbias.numerics.offsets import Field, Signal, Strata, mean_offset, outside_relation, signal
from bayesbias.numerics.second_stage import latent_relation
from bayesbias.posteriors import Estimates
from bayesbias.results import Cited, Note
from bayesbias.second_stage.stages import (
    CHAINS,
    LINE,
    Adjust,
    Staged,
    checked_contrast,
    default_contrast,
    posterior_tree,
    stage_of,
)
from bayesbias.vectors import find_keys
from bayesbias.vectors.lookup import left_out
from bayesbias.words import OWN, STEREOTYPES

UNNAMED = "outside values"
FEWEST = 5  # words from which a relation is estimated
WIDTH = 0.1  # of the half-Cauchy prior of the spread of words' contrasts, in cosine distance
ADJUSTED_SHARE = 1e-2  # of the largest variance: directions with less are left as they are where distances are adjusted
FURTHER_PAIRS, FURTHER_WORDS = "further pairs", "further words of the two lists"  # what the errors of places are over
LESS = {None: "", "vocabulary": "their mean over the vocabulary", "words": "their mean over the axis"}
"""What the places of an axis are taken less, by their centre."""
SMOOTH, CLOSE = 0.9, 0.75
"""Smooth share of what is left of values, and words by dimension, from which relations are called too often."""
LEAST_LEFT = 4e-5  # share of the sd of values from which they are not those of an attribute


@dataclass(frozen=True, repr=False, eq=False)
class Criterion(Staged):
    """The relation of words' latent contrasts to outside values.

    Attributes
    ----------
    contrast, variable
        The two poles, the negative one first; what the outside values are.
    words
        One row a word: ``word``, ``group``, ``estimate`` (its contrast, not shrunken), ``se``, ``value``, ``value_se``,
        ``fitted`` (on the line), ``residual``; with ``adjust`` all at the mean of the column ``attribute``.
    estimates, population, tree
        The words' contrasts by ``word`` and ``group``, and the relation by ``variable``, as :class:`Estimates`; and a
        DataTree that ArviZ reads, ``posterior``: ``correlation``, ``slope``, ``intercept``, ``residual_sd``, ``r2``.
    plain, missing
        The correlation of the estimates with the values, which takes no error into account; by reason, words that have
        no place, no value or no attribute.
    errors, further, less
        ``"given"`` where values have standard errors; what the errors of places are over, and what places are taken
        less, beside the distance to the second pole.
    adjusted, unadjusted
        The attribute that the relation is adjusted for, with its source, and the relation before that; empty and None
        where there is none.
    """

    contrast: tuple[str, str]
    variable: str
    words: pd.DataFrame
    estimates: Estimates
    tree: xr.DataTree
    plain: float
    missing: Mapping[str, tuple[str, ...]]
    errors: str
    unadjusted: Criterion | None
    cited: tuple[Any, ...]
    notes: tuple[Note, ...]
    further: str
    less: str
    adjusted: str = ""

    def caption(self) -> str:
        first, second = self.contrast
        return f"{self.variable} and place, {first} - {second} (> 0: larger near {second})"

    def header(self) -> dict[str, object]:
        return {
            "words": len(self.words),
            "groups": [group for group in dict.fromkeys(self.words["group"]) if group],
            "places less": self.less,
            "errors of places over": self.further,
            "errors of values": self.errors or "none",
            "adjusted for": self.adjusted,
            "intervals": f"{self.prob:.0%}",
        }

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """The relation in numbers.

        Returns
        -------
        DataFrame
            Rows ``correlation``, ``slope`` (cosine distance per unit of the value), ``intercept``, ``residual_sd``,
            ``r2``, ``plain correlation`` (of the estimates) and, where it is adjusted, ``unadjusted correlation``;
            columns ``quantity``, ``mean``, ``sd``, ``low``, ``high`` (with the mass ``prob``), ``p_positive`` (missing
            for what is above 0 by definition). The line is that of places on values.
        """
        names = [*LINE, "r2"]
        draws = np.column_stack([self.draws(name) for name in names])
        table = pd.DataFrame(
            {"quantity": pd.array(names, dtype="string"), **describe(draws, probability(prob, "prob"))}
        )
        table["p_positive"] = np.append((draws[:, :3] > 0).mean(axis=0), [np.nan, np.nan])
        rows = [table, pd.DataFrame({"quantity": ["plain correlation"], "mean": [self.plain]})]
        if self.unadjusted is not None:
            rows.append(self.unadjusted.table(prob).head(1).assign(quantity="unadjusted correlation"))
        return pd.concat(rows, ignore_index=True).astype({"quantity": "string"})

    def summary(self) -> pd.DataFrame:
        table = self.table(self.prob)
        return table[table["quantity"].str.contains("correlation|r2")]

    def tables(self) -> dict[str, pd.DataFrame]:
        off = self.words["residual"].abs().sort_values(ascending=False, kind="stable").index
        return {"Relation": self.table(self.prob), "Words": self.words.loc[off]}

    def sources(self) -> tuple[Any, ...]:
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
    in part what related words share, since values that are smooth over meanings agree with many axes. The errors of
    places are those of further pairs, or of further words of the two lists.

    Parameters
    ----------
    post
        An axis (:func:`axis`), whose words are those with a value; or a fit (:func:`fit`).
    values
        Word to its outside value, such as the share of women in an occupation.
    se
        Standard errors of the values: by word, or one for all; None where the values are exact.
    contrast
        Two lists of a fit, by name; ``"associated"`` is the stereotype list of a fit with one group. The contrast is
        the mean distance to the first less that to the second. By default the two stereotype lists, or associated less
        the first control list.
    adjust, frequencies
        An attribute of words, such as ``"frequency"``, or their numbers, and where frequencies come from, as in
        :func:`fit`. The relation is then that among words of equal frequency, and the result says what it was before.
        Frequencies of attribute words are adjusted for in the fit.
    draws, seed
        Independent draws in all, a multiple of 4, and the seed, as in :func:`fit`.

    Returns
    -------
    Criterion
        ``table()``, ``words`` and ``tree``.

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
    if isinstance(post, Axis):
        side, absent, cited = _side_of_axis(post, outside), "not in the embedding", post.sources()
    else:
        fit = Fit.read(post)
        side, absent = _side_of_fit(fit, pair), "not in the fit"
        record = fit.data.coverage
        cited = (Cited(f"model {fit.spec.name}", fit.spec.source, fit.spec.doi or ""), *([record] if record else []))
    spelled = {key: word for word, key in find_keys(side.words, outside.index).items()}
    outside, errors = outside.rename(spelled), errors.rename(spelled)
    present, unvalued = set(side.words), tuple(word for word in side.words if word not in outside.index)
    missing = {"without a value": unvalued, absent: tuple(word for word in outside.index if word not in present)}
    shared, attribute, unadjusted = [word for word in side.words if word in outside.index], None, None
    if adjust is not None:
        attribute = word_values(shared, adjust, frequencies, side.relatedness, side.language)
        lost = tuple(word for word in shared if word not in attribute.numbers)
        missing[f"without a known {attribute.name}"] = lost
        shared = [word for word in shared if word in attribute.numbers]
    if len(shared) < FEWEST:
        raise InputError(
            f"{len(shared)} words have a place and a value, and {FEWEST} are needed: places are those of "
            f"{listed(list(side.words))}, values those of {listed(outside.index.tolist())}"
        )
    x, x_se = outside[shared].to_numpy(), errors[shared].to_numpy()
    covariate = None if attribute is None else attribute.of(shared)
    left = x if covariate is None else _without(x, covariate)
    if not np.std(left) > LEAST_LEFT * np.std(x):
        raise InputError("nothing is left to relate: the values, or those of the attribute, are the same for all words")
    rows = pd.Index(side.words).get_indexer(pd.Index(shared))
    y, covariance = side.y[rows], side.covariance(rows)
    relation = side.relation(rows, x, x_se**2, covariate, draws, np.random.default_rng([seed_used, 3]))
    notes = _smooth_note(side, len(shared), relation.pop("smooth", None))
    for reason, words_lost in missing.items():
        total = len(outside) if reason == absent else len(side.words)
        notes += left_out(len(words_lost), total, "words", reason, words_lost)
    relation["r2"] = relation["correlation"] ** 2
    if covariate is not None:
        unadjusted = criterion(post, outside[shared], errors[shared], pair, draws=draws, seed=seed_used)
        y, x = _without(y, covariate), left
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
    return Criterion(
        contrast=side.contrast,
        variable=str(values.name) if isinstance(values, pd.Series) and values.name is not None else UNNAMED,
        words=words,
        estimates=Estimates.of(Gaussian(y, covariance), len(y), words[["word", "group"]]),
        tree=posterior_tree({name: (None, values_) for name, values_ in relation.items()}, seed_used),
        plain=float(np.corrcoef(y, x)[0, 1]),
        missing=missing,
        errors="given" if x_se.any() else "",
        unadjusted=unadjusted,
        cited=cited,
        notes=(*notes, *side.notes),
        further=side.further,
        less=side.less,
        adjusted="" if attribute is None else f"{attribute.name} ({attribute.source})",
    )


@dataclass(frozen=True, kw_only=True)
class _Side:
    """Contrasts of words: places with what lies behind them, or those of words that a fit takes for unrelated."""

    contrast: tuple[str, str]
    words: tuple[str, ...]
    groups: tuple[str, ...]  # of each word; empty where there is none
    y: FloatArray  # as they were measured
    coordinates: FloatArray  # (words, Q), or the covariance of the errors of unrelated words
    behind: Signal | None = None  # what lies behind the mean offset; None where words are unrelated
    dimensions: int = 0  # of the vectors
    relatedness: Relatedness | None = None  # what a fit knows of its words, as the language
    language: str | None = None
    further: str = ""  # what the errors are over
    less: str = ""  # what places are taken less
    notes: tuple[Note, ...]

    def covariance(self, rows: IntArray) -> FloatArray:
        """Covariance of the errors of some words' contrasts, over further pairs or words like these."""
        own = self.coordinates[rows]
        return own[:, rows] if self.behind is None else (own * self.behind.noise) @ own.T

    def relation(
        self,
        rows: IntArray,
        x: FloatArray,
        variances: FloatArray,
        covariate: FloatArray | None,
        draws: int,
        rng: np.random.Generator,
    ) -> dict[str, FloatArray]:
        """Draws of the relation, as a line of contrasts over outside values; of places also of the ``smooth`` share."""
        y = self.y[rows]
        if self.behind is None:
            residuals = [np.eye(len(rows))]
            found = latent_relation(y, self.covariance(rows), x, variances, residuals, WIDTH, draws, rng, covariate)
            return {name: found[name] for name in LINE}
        columns = np.column_stack([np.ones(len(x)), *([] if covariate is None else [covariate - covariate.mean()])])
        with one_thread():
            law = outside_relation(self.coordinates[rows], self.behind, x, variances, columns, draws, rng)
        slope = law["correlation"] * law["place_sd"] / law["value_sd"]
        rest = law["place_sd"] * np.sqrt(1 - law["correlation"] ** 2)
        line = law["correlation"], slope, y.mean() - slope * x.mean(), rest
        return dict(zip(LINE, line, strict=True)) | {"smooth": law["shared"]}


def _side_of_axis(given: Axis, outside: pd.Series) -> _Side:
    """The places of the words that have a value."""
    refuse_templates(given.templates, "a criterion")
    refuse_one_pair(given.offset, "a criterion")
    placed = given.with_words(outside.index.tolist())
    absent = set(outside.index) - set(placed.words)
    return _Side(
        contrast=placed.ends,
        words=placed.words,
        groups=("",) * len(placed.words),
        coordinates=placed.coordinates,
        behind=signal(placed.offset),
        dimensions=len(placed.field.centre),
        y=placed.places,
        further=FURTHER_PAIRS if placed.poles.pairs else FURTHER_WORDS,
        less=LESS[placed.centre],
        # of words without a place there is a note that counts those with a value
        notes=tuple(
            note
            for note in placed.notes
            if note.code not in ("coverage", "left-out") or not absent or {*note.numbers["words"]} != absent
        ),
    )


def _side_of_fit(fit: Fit, contrast: tuple[str, str] | None) -> _Side:
    """The mean distance of each word to one list less that to another, the same two for all words."""
    data, related = fit.data, fit.data.relatedness
    every = tuple(data.protected_words.tolist())
    groups = tuple(data.groups.tolist()) or ("",) * len(every)
    if related is None:
        poles = _two_poles(contrast or default_contrast([data])[0], groups)
        stage = stage_of({"fit": fit}, poles)
        contrasts, known = stage.contrasts(DIFFERENCE, single=True), dict(zip(every, groups, strict=True))
        names = tuple(contrasts.index["word"].tolist())
        return _Side(
            contrast=poles,
            words=names,
            groups=tuple(known[word] for word in names),
            y=contrasts.mean,
            coordinates=contrasts.covariance.to_numpy(),
            language=data.language,
            notes=(Note("independent", what="words", reason="relatedness not recorded"), *data.limits, *stage.notes),
        )
    lists = {name: words for name, kind, words in related.lists if kind != PROTECTED}
    stereotypes = [name for name, kind, _ in related.lists if kind == "stereotype"]
    controls, pair = [name for name in lists if name not in stereotypes], contrast
    if len(set(groups)) == 1 and len(stereotypes) == 1:
        lists[OWN] = lists[stereotypes[0]]
        pair = contrast or ((OWN, controls[0]) if controls else None)
    elif pair is None and len(stereotypes) == 2:
        pair = stereotypes[0], stereotypes[1]
    poles = pair if pair and set(pair) <= set(lists) else _two_poles(pair, groups)
    for name in poles:
        one_of(name, list(lists), "a list of the contrast")
    # a word may stand to two groups of a table: each distance counts once
    pairs, means = data.table.drop_duplicates(["protected_word", "attribute_word"]), []
    for name in poles:
        own = pairs[pairs["attribute_word"].isin(lists[name])]
        means.append(own.groupby("protected_word", observed=True)["distance"].mean().reindex(every).to_numpy())
    y = means[0] - means[1]
    full = np.isfinite(y)
    labels = [word for word, whole in zip(every, full, strict=True) if whole]
    parts = components_for(related, np.array(labels))
    # the distances to a list have these components; places are those of offsets between the two lists. The value of a
    # word in each component is its product with these directions, since loadings need not be orthogonal
    place = {word: row for row, word in enumerate(related.protected_words)}
    units = related.protected[[place[word] for word in labels]].astype(float)
    directions = units.T @ np.linalg.pinv(parts.loadings).T
    field = Field(related.centre, directions, parts.variances, parts.correlations)
    coordinates = parts.loadings * np.sqrt(parts.variances)
    # the two lists as poles, the first being the negative one
    if both := sorted(set(lists[poles[0]]) & set(lists[poles[1]])):
        raise InputError(f"{listed(both)} stands in both lists of the contrast: it cancels, give other lists")
    words = np.array([word for name in poles for word in dict.fromkeys(lists[name])])
    vectors = related.attributes[pd.Index(related.attribute_words).get_indexer(pd.Index(words))].astype(float)
    first, second = (np.equal.outer(np.array(lists[name]), words).astype(float) for name in poles)
    offset = mean_offset(field, Strata(vectors, (-first, second)))
    refuse_one_pair(offset, "a criterion")
    lost = [word for word in every if word not in set(labels)]
    if data.adjusted:
        # adjusted distances are not those of the vectors: the offset takes up what differs, in strong components
        moved = np.linalg.lstsq(coordinates, y[full] - coordinates @ offset.mean, rcond=ADJUSTED_SHARE)[0]
        offset = replace(offset, mean=offset.mean + moved)
    return _Side(
        contrast=poles,
        words=tuple(labels),
        groups=tuple(group for group, whole in zip(groups, full, strict=True) if whole),
        coordinates=coordinates,
        behind=signal(offset),
        dimensions=len(related.centre),
        y=y[full],
        relatedness=related,
        language=data.language,
        further=FURTHER_WORDS,
        notes=(*data.limits, *left_out(len(lost), len(every), "words", "without distances to both", lost)),
    )


def _two_poles(pair: tuple[str, str] | None, groups: tuple[str, ...]) -> tuple[str, str]:
    """Two poles for all words: own less other stereotypes turns the sign with the group."""
    if pair is None or (len(set(groups)) > 1 and any(name in STEREOTYPES for name in pair)):
        raise InputError(
            f"contrast is {pair}: name two lists of the fit that are the poles for all of its groups, such as "
            "contrast=('math', 'arts'), or give an axis: bb.criterion(bb.axis(kv, pairs), values)"
        )
    return pair


def _without(values: FloatArray, covariate: FloatArray) -> FloatArray:
    """Values at the mean of the covariate; missing where that does not vary."""
    apart = covariate - covariate.mean()
    with np.errstate(invalid="ignore"):
        return np.asarray(values - apart * (apart @ values / (apart @ apart)))


def _values(values: Any, se: Any) -> tuple[pd.Series, pd.Series]:
    """Values by word and their standard errors."""
    outside = pd.Series(numbers_by_word(values, "values"))
    given = numbers_by_word(se, "se") if isinstance(se, Mapping | pd.Series) else float(se or 0.0)
    errors = pd.Series(given, outside.index)
    if not np.isfinite(errors).all() or (errors < 0).any():
        raise InputError("se is negative, not finite or missing for some value: give one standard error for each")
    return outside, errors


def _smooth_note(side: _Side, words: int, shares: FloatArray | None) -> list[Note]:
    """A note on values that may be nearly all smooth over meanings, by draws of the share that similar words have."""
    if shares is None or words < CLOSE * side.dimensions:
        return []
    low, high = np.quantile(shares, [(1 - PROB) / 2, (1 + PROB) / 2])
    return [Note("smooth", low=low, high=high, words=words, dimensions=side.dimensions)] if high >= SMOOTH else []
