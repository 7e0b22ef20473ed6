"""``criterion``: whether words whose contrast is larger have more of something outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import probability
from bayesbias._core.second_stage import latent_relation
from bayesbias._core.vectors import FloatArray
from bayesbias._phrases import MINUS, negatives, percent, share
from bayesbias.checks.summaries import PROB, describe
from bayesbias.distances.vocabularies import WordValues, word_values
from bayesbias.errors import InputError, listed, shown
from bayesbias.models.fits import checked_draws, used_seed
from bayesbias.models.results import Fit
from bayesbias.second_stage.estimates import STEPS, Staged, cells_of, checked_contrast, contrasts_of, default_contrast

FEWEST = 5
"""Words from which a relation is estimated."""
WIDTH = 0.1
"""Width of the half-Cauchy prior of the spread of words' contrasts, in cosine distance."""
ALIKE = (0.0, 0.25, 0.5, 0.75, 0.95)
"""Shares of the spread around the line that alike words have in common; equally probable beforehand."""
MOST_WORDS = 1000
LARGEST = 1_000_000
"""Times the range of the values that a standard error is at most."""
SAME = 1 - 1e-9
"""Correlation from which on two variables are one."""


@dataclass(frozen=True, repr=False, eq=False)
class Criterion(Staged):
    """The relation of words' latent contrasts to outside values.

    Attributes
    ----------
    contrast
        The two connections.
    words
        One row a word: ``word``, ``group``, ``estimate`` (its contrast, not shrunken), ``se``, ``value``,
        ``value_se``, ``fitted`` (on the line), ``residual``. Where the relation is adjusted for an attribute, estimates
        and values are those at its mean, and a column ``attribute`` holds it.
    covariance
        Joint covariance of the words' estimates, (words, words), in squared cosine distance.
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
        The relation that is not adjusted for an attribute of the words, where adjustment was asked for; else None.
    notes
        What limits the result.
    """

    picture: ClassVar[str] = "plot_relation"

    contrast: tuple[str, str]
    words: pd.DataFrame
    covariance: FloatArray
    tree: xr.DataTree
    plain: float
    missing: Mapping[str, tuple[str, ...]]
    errors: bool
    unadjusted: Criterion | None
    notes: tuple[str, ...]

    def table(self, prob: float = PROB) -> pd.DataFrame:
        """The relation in numbers.

        Parameters
        ----------
        prob
            Mass of the intervals.

        Returns
        -------
        DataFrame
            Rows ``correlation``, ``slope`` (cosine distance per unit of the value), ``intercept``, ``residual_sd``,
            ``r2``; columns ``quantity``, ``mean``, ``sd``, ``low``, ``high``, ``p_positive``.
        """
        names = ["correlation", "slope", "intercept", "residual_sd", "r2"]
        draws = np.column_stack([self.draws(name) for name in names])
        table = pd.DataFrame(
            {"quantity": pd.array(names, dtype="string"), **describe(draws, probability(prob, "prob"))}
        )
        table["p_positive"] = (draws > 0).mean(axis=0)
        return table

    def findings(self, prob: float = PROB) -> list[str]:
        """The result in sentences, without its notes."""
        rows = self.table(prob).set_index("quantity").to_dict("index")
        rho, r2 = rows["correlation"], rows["r2"]
        first, second = self.contrast
        settled = rho["low"] > 0 or rho["high"] < 0
        mass = percent(prob)
        sentences = [
            f"Over {len(self.words)} words the contrast {first}{MINUS}{second} is "
            f"{'' if settled else 'not in a settled way '}correlated with the outside values: the correlation of what "
            f"lies behind the estimates is {rho['mean']:.2f} ({mass} interval {rho['low']:.2f} to "
            f"{rho['high']:.2f}; probability that it is positive {share(rho['p_positive'])}).",
            f"R2 is {r2['mean']:.2f} ({r2['low']:.2f} to {r2['high']:.2f}).",
            "The correlation of the estimates with the values, which takes no error into account, is "
            f"{self.plain:.2f}.",
        ]
        off = self.words.reindex(self.words["residual"].abs().sort_values(ascending=False).index)["word"].head(3)
        sentences.append(f"Furthest from the line: {', '.join(off)}.")
        if self.unadjusted is not None:
            raw = self.unadjusted.table(prob).iloc[0]
            sentences.append(
                f"Without adjustment the correlation is {raw['mean']:.2f} ({raw['low']:.2f} to {raw['high']:.2f})."
            )
            if (raw["low"] > 0 or raw["high"] < 0) and not settled:
                sentences.append("The raw relation is one that the adjustment explains.")
        return [negatives(sentence) for sentence in sentences]


def criterion(
    post: xr.DataTree,
    values: Mapping[str, float] | pd.Series,
    se: Mapping[str, float] | pd.Series | float | None = None,
    contrast: tuple[str, str] | None = None,
    seed: int | None = 0,
    adjust: str | Mapping[str, Mapping[str, float]] | None = None,
    frequencies: Any = None,
    draws: int = 4000,
    chains: int = 4,
) -> Criterion:
    """Whether protected words whose contrast is larger have more of something outside.

    The words' estimates are taken as they are, not shrunken, with their joint covariance: all are distances to the same
    attribute words, and their errors are those of further attribute words on the same topics. Latent contrasts and
    values are normal with a correlation. Where the fit knows how words are related, a share of the spread around the
    line, itself unknown, is common to alike words such as *nurse* and *midwife*.

    Parameters
    ----------
    post
        A fit (:func:`fit`).
    values
        Protected word to its outside value, such as the share of women in an occupation.
    se
        Standard errors of the values: by word, or one for all; None where the values are exact.
    contrast
        Two connections; by default associated less the first of different and the control lists that the fit holds.
    seed
        Seed of the draws; None takes a fresh one.
    adjust, frequencies
        An attribute of the protected words, such as ``"frequency"``, that contrasts and values may both depend on, and
        where frequencies come from, as in :func:`fit`. The relation is then that among words of equal frequency, and
        the result says what it was before. Frequencies of attribute words are adjusted for in the fit.
    draws, chains
        Draws in all, split evenly over chains.

    Returns
    -------
    Criterion
        ``table()``, ``text()``, ``words`` and ``tree``.

    References
    ----------
    Fuller, W. A. (1987). Measurement Error Models. Wiley. https://doi.org/10.1002/9780470316665
    Pagel, M. (1999). Inferring the historical patterns of biological evolution. Nature 401.
    https://doi.org/10.1038/44766

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
    result = Fit.read(post)
    pair = default_contrast([post])[0] if contrast is None else checked_contrast(contrast)
    outside, errors = _values(values, se)
    draws, chains = checked_draws(draws, chains)
    used = used_seed(seed)
    if adjust is None and frequencies is not None:
        raise InputError("frequencies are given, but nothing is adjusted for: give adjust='frequency' too")
    raw = None if adjust is None else criterion(post, values, se, pair, used, draws=draws, chains=chains)
    cells = cells_of({"fit": post}, pair, topic=True)
    every = list(dict.fromkeys(cells.word.tolist()))
    contrasts = contrasts_of(cells, pair, every)
    related = result.data.relatedness
    shared = [word for word in contrasts.words.tolist() if word in outside.index]
    attribute = None if adjust is None else word_values(shared, adjust, frequencies, related, result.data.language)
    if attribute is not None:
        shared = [word for word in shared if word in attribute.numbers]
    missing = {
        "without a value": tuple(word for word in contrasts.words.tolist() if word not in outside.index),
        "not in the fit": tuple(word for word in outside.index if word not in set(contrasts.words.tolist())),
    }
    if attribute is not None:
        unknown = [word for word in contrasts.words.tolist() if word in outside.index and word not in shared]
        missing[f"without a known {attribute.name}"] = tuple(unknown)
    if len(shared) < FEWEST:
        raise InputError(
            f"{len(shared)} words have a contrast and a value, and {FEWEST} are needed: the fit holds "
            f"{listed(contrasts.words.tolist())}, the values are for {listed(outside.index.tolist())}"
        )
    if len(shared) > MOST_WORDS:
        raise InputError(f"{len(shared):,} words have a value, more than {MOST_WORDS:,}: give a part of them")
    rows = np.array([contrasts.words.tolist().index(word) for word in shared])
    y, covariance = contrasts.y[rows], contrasts.covariance[np.ix_(rows, rows)]
    x, x_se = outside[shared].to_numpy(), errors[shared].to_numpy()
    if np.ptp(x) == 0:
        raise InputError("the values of all words are the same: they cannot be related to anything")
    covariate = None if attribute is None else _covariate(attribute, shared, x)
    residuals = [np.eye(len(shared))]
    if related is not None:
        alike = related.families(shared)
        residuals = [share_ * alike + (1 - share_) * np.eye(len(shared)) for share_ in ALIKE]
    rng = np.random.default_rng([used, 3])
    relation = latent_relation(y, covariance, x, x_se**2, residuals, WIDTH, draws, rng, covariate)
    if covariate is not None:
        y, x = (_without(side, covariate) for side in (y, x))
    fitted = float(relation.intercept.mean()) + float(relation.slope.mean()) * x
    groups = dict(
        zip(
            result.tree["constant_data/protected_word"].to_numpy().tolist(),
            result.tree["constant_data/group"].to_numpy().tolist(),
            strict=True,
        )
    )
    words = pd.DataFrame(
        {
            "word": pd.array(shared, dtype="string"),
            "group": pd.array([groups[word] for word in shared], dtype="string"),
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
    shape = (chains, draws // chains)
    parts = {
        "correlation": relation.correlation,
        "slope": relation.slope,
        "intercept": relation.intercept,
        "residual_sd": relation.residual_sd,
        "r2": relation.correlation**2,
    }
    coords = {"chain": np.arange(chains), "draw": np.arange(shape[1])}
    dataset = xr.Dataset({name: (STEPS, value.reshape(shape)) for name, value in parts.items()}, coords=coords)
    tree = xr.DataTree.from_dict({"/posterior": dataset})
    tree.attrs = {"seed": used, "engine": "exact"}
    return Criterion(
        contrast=pair,
        words=words,
        covariance=covariance,
        tree=tree,
        plain=float(np.corrcoef(y, x)[0, 1]),
        missing=missing,
        errors=bool(x_se.any()),
        unadjusted=raw,
        notes=_notes(missing, related is not None, bool(x_se.any()), cells.notes),
    )


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
    if not isinstance(values, Mapping | pd.Series) or not len(values):
        raise InputError(f"values is {shown(values)}: give a mapping of protected words to numbers")
    outside = _numbers(values, "values")
    if se is None or (isinstance(se, int | float | np.integer | np.floating) and not isinstance(se, bool)):
        errors = pd.Series(float(se or 0.0), index=outside.index)
    elif isinstance(se, Mapping | pd.Series):
        errors = _numbers(se, "se").reindex(outside.index)
        if errors.isna().any():
            raise InputError(f"se lacks {listed(errors.index[errors.isna()].tolist())}: give one for each value")
    else:
        raise InputError(f"se is {shown(se)}: give one number, a mapping of words to numbers, or None")
    if not np.isfinite(errors).all() or (errors < 0).any():
        raise InputError("se holds a negative number or one that is not finite: give standard errors")
    if (errors > LARGEST * np.ptp(outside)).any():
        raise InputError(f"se holds {errors.max():g}, more than {LARGEST:,} times the range of the values: give less")
    return outside, errors


def _numbers(mapping: Mapping[str, float] | pd.Series, name: str) -> pd.Series:
    try:
        numbers = pd.Series(dict(mapping.items()), dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds what is no number: give a mapping of words to numbers") from None
    numbers.index = numbers.index.map(str)
    bad = numbers.index[~np.isfinite(numbers)]
    if len(bad):
        raise InputError(f"{name} of {bad[0]!r} is {numbers[bad[0]]}: give finite numbers, and leave unknown words out")
    if numbers.index.duplicated().any():
        raise InputError(f"{name} has two numbers for {numbers.index[numbers.index.duplicated()][0]!r}")
    return numbers


def _notes(
    missing: Mapping[str, tuple[str, ...]], related: bool, errors: bool, others: tuple[str, ...]
) -> tuple[str, ...]:
    notes = [f"{len(words)} words are {what}: {listed(list(words))}." for what, words in missing.items() if words]
    if not related:
        notes.append("The table does not know how words are related: alike words count as different ones.")
    if not errors:
        notes.append("The values are taken as exact.")
    return (*notes, *others)
