"""Contrasts of a fit: of the whole list, of its words, shrunken and as they are, and of its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._support.arguments import WIDEST, interval, one_of, probability
from bayesbias.checks.summaries import PROB, contrast_partners, contrasted
from bayesbias.distances.distances import Distances
from bayesbias.errors import InputError
from bayesbias.models.families import family_notes, family_of, functionals_of
from bayesbias.models.functionals import further_functionals
from bayesbias.models.related import prior_scale
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    DIFFERENCE,
    RAW,
    Cells,
    cells_of,
    group_sums,
    group_weights,
    mean_words,
    row_sums,
    whole_weights,
    why_no_association,
)
from bayesbias.numerics.arrays import NOTHING, FloatArray, IntArray
from bayesbias.numerics.constants import POOL_SD, SIGN_RATE
from bayesbias.numerics.mixtures import Empirical, Normals, false_sign_rates, pooled_rows, s_values
from bayesbias.numerics.related import root_of
from bayesbias.numerics.statistics import effect_size
from bayesbias.posteriors import Estimates
from bayesbias.results import Note
from bayesbias.words import OTHER, OWN, controls_of

SAMPLE, POPULATION = "sample", "population"
TARGETS = (SAMPLE, POPULATION)  # these protected words, or new ones like them
FEWEST_CONTROLS = 3  # control words below which their spread is not taken for a measure


def contrasts(
    post: xr.DataTree,
    first: str = OWN,
    second: str | None = None,
    prob: float = PROB,
    rope: float | tuple[float, float] | None = None,
    by: str = "protected_word",
    target: str = SAMPLE,
) -> pd.DataFrame:
    """A contrast for the whole list, and for each protected word, shrunken, or each group.

    The whole list of associated - different says whether protected words are closer to the stereotypes of their own
    group than to those of others. The association of a word is its difference of two mean distances without how near
    the two lists are to all protected words: with g[j, l] the double-centred mean distance of word j to list l and G
    groups,

        association of j = G / (G - 1) g[j, own],    whole list = weighted mean of the associations,

    where groups weigh the same, and words within a group. Rows of words are these associations, whose deviations from
    the whole list are shrunken (around 0, with a half-Cauchy prior of their standard deviation). Rows of all other
    contrasts are differences of two mean distances, which are not. Models with normal means of words (``crossed``,
    ``published``) shrink these means, and nothing afterwards.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, by default ``different`` or, where
        the fit has none, the first control list that it has. Negative: ``first`` is closer.
    prob
        Posterior mass of the equal-tailed intervals.
    rope
        A region of practical equivalence: plus or minus a number, or (low, high), in cosine distance, at most 2.
    by
        ``"protected_word"``, or ``"group"``: of associated - different by how much the words of a group are nearer to
        the stereotypes of their group than the words of the other groups are, beyond the mean of the control lists
        where there are any; how near a list or a group is to all words cancels, and the mean of the groups is the
        whole list. Of other contrasts the means over the words of each group.
    target
        What the whole list speaks about. ``"sample"``: these protected words, over attribute lists of this kind.
        ``"population"``: new protected words too, which is less certain; there every word weighs the same.

    Returns
    -------
    DataFrame
        First the whole list (``protected_word`` is ``"whole list"``), then each protected word that has what the row
        needs. Columns ``protected_word``, ``group`` (missing for the whole list), ``mean``, ``sd``, ``low``, ``high``
        (cosine distance), ``p_closer`` (posterior probability of a value below 0), ``p_rope`` where a rope was given,
        ``unshrunk`` (the mean by the word's own distances) and ``sign`` (``"closer"`` or ``"farther"`` where it is
        clear). By group ``group`` and these numbers: one row a group, and one for each two (``g - h``, negative: that
        of g is the smaller one). For the model ``related`` all figures are exact: they do not depend on the draws.

    Notes
    -----
    No sign is clear where the ``prob`` interval of the whole list of these words includes 0. Otherwise those are with
    the lowest false sign rates among the words whose own intervals exclude 0, as many as the expected share of wrong
    signs among them allows, which is below .025 (s-values, Stephens 2017); docs/validation.md has how often they are
    wrong in simulations.

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041

    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis 1(3).
    https://doi.org/10.1214/06-BA117A

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.contrasts(post)[["protected_word", "group", "mean", "unshrunk"]].round(3).head(3)
      protected_word group   mean  unshrunk
    0     whole list  <NA> -0.014    -0.014
    1           math  math -0.012     0.018
    2        algebra  math -0.010     0.026
    """
    result, prob, region = Fit.read(post), probability(prob, "prob"), interval(rope, "rope", WIDEST)
    one_of(by, ("protected_word", "group"), "by")
    one_of(target, tuple(TARGETS), "target")
    data = result.data
    first, second = contrasted(first, second, data.connections.tolist(), data.filled)
    if by == "group":
        if target != SAMPLE:
            raise InputError("contrasts of groups speak about these protected words only: leave target as it is")
        if "" in data.groups.tolist():
            raise InputError("the fit does not know the groups of all protected words: by='group' needs a column group")
        cells = cells_of(data)
        plain = bool(why_no_association(data, cells, first, second))
        sums = row_sums(data, cells, first, second) if plain else group_sums(data, cells)
        words = sums.of(functionals_of(result, cells, sums.parts))[int(plain) :]  # the whole list stands first
        labels, matrix = group_weights(words.index["group"].to_numpy(dtype=str))
        table = words.combine(matrix, pd.DataFrame({"group": labels}, dtype="string")).summary(prob, region)
    else:
        table = rows_of(result, first, second, target).table(prob, region)
    table.attrs = result.origin(prob)
    return table


@dataclass(frozen=True)
class Rows:
    """Posteriors behind a table of contrasts."""

    whole: Estimates  # of the whole list
    unshrunk: Estimates  # of each protected word that has a row
    shrunken: Estimates  # the same with deviations from the whole list shrunken
    kind: str  # RAW or DIFFERENCE
    of_sample: Estimates  # the whole list of these protected words, whichever target ``whole`` has
    notes: tuple[Note, ...] = ()  # on what the rows could not be

    @property
    def words(self) -> Estimates:
        """The rows of words that are shown."""
        return self.unshrunk if self.kind == DIFFERENCE else self.shrunken

    def clear_signs(self, prob: float) -> IntArray:
        """-1 for words that are closer, 1 for words that are farther, 0 for words whose sign is not clear.

        Rows share most of their errors, so that no sign is clear where the interval of the whole list includes 0.
        """
        signs = np.zeros(len(self.words), dtype=np.intp)
        if self.of_sample.excludes(0.0, prob)[0]:
            outside = np.flatnonzero(self.words.excludes(0.0, prob))
            below = self.shrunken.below(0.0)[outside]
            signs[outside] = np.where(named_together(below), np.where(below > 0.5, -1, 1), 0)
        return signs

    def table(self, prob: float, rope: Any = None) -> pd.DataFrame:
        """The table of :func:`contrasts`."""
        table = pd.concat([each.summary(prob, rope) for each in (self.whole, self.words)], ignore_index=True)
        signs = [None, *map({-1: "closer", 1: "farther"}.get, self.clear_signs(prob).tolist())]
        unshrunk = np.r_[self.whole.mean, self.unshrunk.mean]
        return table.assign(unshrunk=unshrunk, sign=pd.array(signs, dtype="string"))


def named_together(below: FloatArray) -> NDArray[np.bool_]:
    """True for the signs (n,) that are named: those of the lowest false sign rates, few of which are likely wrong.

    ``below`` are the posterior probabilities (n,) of one of the two signs.
    """
    return s_values(false_sign_rates(below)) < SIGN_RATE


def rows_of(result: Fit, first: str, second: str, target: str = SAMPLE) -> Rows:
    """Posteriors of a contrast for the whole list and for each protected word."""
    data = result.data
    cells = cells_of(data)
    sums = row_sums(data, cells, first, second)
    every = sums.of(functionals_of(result, cells, sums.parts))
    whole, words = every[:1], every[1:]
    headline = whole
    if target == POPULATION or not len(words):  # means of connections, for words like these
        headline = of_connections(result, cells, [first, second], [[1.0, -1.0]], whole.index)
    notes, shrunken = list(data.limits), words
    lacking = why_no_association(data, cells, first, second)
    if lacking and second == OTHER:
        notes.append(Note("no-value", what="associations", reason=lacking))
    elif sums.kind == RAW:
        sizes = cells.n[:, cells.lists].max(axis=0)
        single = [name for name, size in zip(cells.columns[cells.connections :], sizes, strict=True) if size == 1]
        notes += [Note("several-lists", rule="count in each", words=cells.in_several)] if cells.in_several else []
        notes += [Note("short-lists", most=1, words=single)] if single else []
    # other models than that of related words have shrunken the means of words themselves
    if family_of(result.spec).needs_relatedness and len(words):
        kept = np.isin(data.protected_words, words.index["protected_word"].tolist())
        block = pooled_blocks(data.group_index[kept]) if sums.kind == RAW else np.zeros(len(words), dtype=np.intp)
        shrunken = pooled_over_words(words, whole_weights(data, kept)[kept], block, POOL_SD * prior_scale(data))
    of_sample, notes = whole if len(words) else headline, [*notes, *family_notes(result.spec)]
    return Rows(headline, words, shrunken, sums.kind, of_sample, tuple(notes))


def of_connections(result: Fit, cells: Cells, names: Sequence[str], weights: Any, index: pd.DataFrame) -> Estimates:
    """Weighted sums (m, names) of means of connections, for protected words like these."""
    places, combine = [result.data.connections.tolist().index(name) for name in names], np.array(weights)
    if family_of(result.spec).needs_relatedness:
        given = functionals_of(result, cells, sparse.csr_array(combine @ mean_words(cells, places)))
        return replace(further_functionals(result, given, places, combine), index=index)
    return Estimates.of(Empirical(result.draws("connection_mean")[:, places]), len(places)).combine(combine, index)


def pooled_blocks(groups: IntArray) -> IntArray:
    """Blocks (J,) of words whose deviations have the mean 0 by arithmetic, from numbers of their groups."""
    labels = np.unique(groups, return_inverse=True)[1]
    # with two groups the mean association of each is the whole list
    return np.zeros_like(labels) if labels.max() > 1 else labels


def pooled_over_words(raw: Estimates, weights: FloatArray, block: IntArray, scale: float) -> Estimates:
    """Rows (J,) whose deviations from their weighted mean are partially pooled, see :func:`pooled_rows`."""
    law = raw.law
    if isinstance(law, Normals) and len(law.roots) == 1:
        root, grid = raw.weights @ law.roots[0], (law.factors[:, 0], law.mass)
    else:  # several factors, or draws: normal, with the covariance that they give on average
        root, grid = root_of(raw.covariance.to_numpy()), (np.ones(1), np.ones(1))
    pooled = pooled_rows(raw.mean, root, weights, block, grid, scale)
    return raw if pooled is None else Estimates.of(pooled, len(raw), raw.index)


def beside_associated(result: Fit) -> list[str]:
    """Connections that a fit can set beside associated, the headline first; empty without associated distances."""
    valid = result.data.connections.tolist()
    return contrast_partners(OWN, valid, result.data.filled) if OWN in valid else []


def equal_groups(data: Distances) -> bool:
    """True where all groups have the same mean distance to each attribute word, as groups of equalised words have.

    The contrast of own and other stereotypes is then 0 for any attribute words, which a model does not know.
    """
    rows = pd.DataFrame({"group": data.groups[data.word], "attribute": data.attribute, "distance": data.y})
    means = rows.pivot_table("distance", "attribute", "group").to_numpy()
    return bool(means.shape[1] > 1 and np.ptp(means, axis=1).max() <= NOTHING)  # False where a mean is missing


def weat_effect_size(data: Distances) -> float | None:
    """WEAT's effect size d for two groups: positive where words are closer to the stereotypes of their own group.

    The protected words of the groups are WEAT's targets, their stereotypes its attributes (Caliskan et al. 2017,
    https://doi.org/10.1126/science.aal4230). None for another number of groups, or where associations do not vary.
    """
    cells = cells_of(data)
    if len(cells.lists) != 2 or why_no_association(data, cells):
        return None
    words = np.flatnonzero(cells.associated)
    means = cells.mean[words][:, cells.lists]
    values, own = means[:, 1] - means[:, 0], cells.own[words] == cells.lists[0]
    size = float(effect_size(values[own], values[~own]))
    return size if np.isfinite(size) else None


def control_spread(data: Distances) -> float | None:
    """The standard deviation of control words' mean distances to the protected words; None where it is not known."""
    names = data.connections.tolist()
    rows = np.isin(data.connection, [names.index(name) for name in controls_of(names)])
    counts = np.bincount(data.attribute[rows])
    sums = np.bincount(data.attribute[rows], weights=data.y[rows])
    means = sums[counts > 0] / counts[counts > 0]
    spread = float(means.std(ddof=1)) if len(means) >= FEWEST_CONTROLS else 0.0
    return spread if spread > 0 else None


def adjustment(post: xr.DataTree, prob: float = PROB) -> pd.DataFrame:
    """Contrasts before and after distances were adjusted for an attribute of words.

    Parameters
    ----------
    post
        A fit of adjusted distances: of :func:`adjust`, or ``fit(table, adjust=...)``.
    prob
        Posterior mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        One row for each contrast of associated, for these protected words: ``contrast``, ``raw``, ``raw_low``,
        ``raw_high`` (of the fit of the distances as they were measured), ``adjusted``, ``adjusted_low``,
        ``adjusted_high``.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, adjust="length", seed=0)
    >>> bb.checks.adjustment(post)["contrast"].tolist()
    ['associated - different', 'associated - human', 'associated - neutral']
    """
    result, prob = Fit.read(post), probability(prob, "prob")
    before = result.unadjusted
    if before is None:
        raise InputError("the distances of this fit are not adjusted: fit(table, adjust='frequency') adjusts them")
    rows = []
    for other in beside_associated(result):
        row: dict[str, object] = {"contrast": f"{OWN} - {other}"}
        for name, one in (("raw", before), ("adjusted", result)):
            number = rows_of(one, OWN, other).whole.summary(prob).iloc[0]
            row |= {name: number["mean"], f"{name}_low": number["low"], f"{name}_high": number["high"]}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs = result.origin(prob)
    return table
