"""Contrasts of a fit, in figures and sentences, and weighted sums of mean distances of any kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._support.arguments import WIDEST, interval, one_of, probability
from bayesbias._support.files import from_json
from bayesbias.checks.summaries import PROB, cluster_interval_of, contrast_partners, contrasted
from bayesbias.contrast.associations import GIVEN, POPULATIONS, Rows, rows_of
from bayesbias.distances.distances import Distances
from bayesbias.distances.list_coverage import carried_labels
from bayesbias.errors import InputError
from bayesbias.estimates import Estimates
from bayesbias.models.families import family_of, functionals_of, unrelated_notes
from bayesbias.models.tree import Fit
from bayesbias.models.weights import (
    DIFFERENCE,
    GROUPS,
    cells_of,
    group_sums,
    group_weights,
    left_out,
    list_difference_sums,
    list_sums,
    why_no_association,
)
from bayesbias.numerics.resampling import effect_size
from bayesbias.words import OTHER, OWN, controls_of


def contrasts(
    post: xr.DataTree,
    first: str = OWN,
    second: str | None = None,
    prob: float = PROB,
    rope: float | tuple[float, float] | None = None,
    population: str = GIVEN,
    by: str = "protected_word",
    rows: str | None = None,
) -> pd.DataFrame:
    """A contrast for the whole list, and the association of each protected word or group.

    The whole list of associated - different says whether protected words are closer to the stereotypes of their own
    group than to those of others. The association of a word is its difference of two mean distances without how near
    the two lists are to all protected words: with g[j, l] the double-centred mean distance of word j to list l and G
    groups,

        association of j = G / (G - 1) g[j, own],    whole list = weighted mean of the associations,

    where groups weigh the same, and words within a group. With two groups each group's mean association is the whole
    list, which does not tell which group contributes it (``rows="groups"`` does, beside control words).

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
    population
        What the row of the whole list speaks about. ``"given"``: these protected words, and attribute lists like
        these. ``"similar"``: further protected words like these too, which is less certain; there every word weighs the
        same, so that the mean is another one where groups are of unequal size.
    by
        ``"protected_word"``, or ``"group"``: means over the protected words of each group, and differences of groups.
    rows
        What the rows of words are. ``"pooled"`` (the default of associated - different): associations whose deviations
        from the whole list are partially pooled (around 0, with a half-Cauchy prior of their standard deviation), so
        that words and whole list have one posterior. ``"association"``: the same without pooling, unbiased for each
        word and about twice as uncertain; for sums and comparisons of your own. ``"difference"`` (that of all other
        contrasts, and of groups): differences of two mean distances, not pooled; of three groups or more the whole list
        is then their mean, in which the lists of other groups weigh by their words. ``"groups"`` (with ``by="group"``,
        and the default of associated - different there): by how much the words of a group are nearer to the
        stereotypes of their group than the words of the other groups are, beyond the mean of the control lists where
        there are any; how near a list or a group is to all words cancels. The mean of the groups is the whole list.
        With ``by="group"`` lists of other groups weigh the same in all rows, and associations take three groups.
        Models with normal means of words (``crossed``, ``published``) pool these means, whatever the rows.

    Returns
    -------
    DataFrame
        First the whole list (``protected_word`` is ``"whole list"``), then each protected word that has what the row
        needs. Columns ``protected_word``, ``group`` (missing for the whole list), ``mean``, ``sd``, ``low``, ``high``
        (cosine distance), ``p_closer`` (posterior probability of a value below 0), and ``p_rope`` where a rope was
        given. With ``by="group"`` there is no ``protected_word``: one row a group, and one for each two groups
        (``g - h``, negative: that of g is the smaller one). For the model ``related`` all figures are exact: they do
        not depend on the draws.

        ``attrs``: ``rows`` (what rows are), ``population``, ``measured`` (word list, embedding and adjustment),
        ``left_out`` (words without a row), ``signs`` (the words that are clearly ``closer`` or ``farther``, see
        below), ``standardised`` (the whole list over the standard deviation of control words), ``weat_d`` (WEAT's
        effect size of the same words, for two groups), ``cluster`` (the :class:`ClusterInterval` of the whole list),
        ``notes``.

    Notes
    -----
    The words of ``signs`` are told from partially pooled rows, whatever ``rows`` are shown. There are none where the
    ``prob`` interval of the whole list of these words includes 0. Otherwise they are those with the lowest false sign
    rates among the words whose own ``prob`` intervals exclude 0, as many as the expected share of wrong signs among
    them allows, which is below .025 (s-values, Stephens 2017); how often they are wrong in simulations is in
    docs/validation.md.

    References
    ----------
    Stephens, M. (2017). False discovery rates: a new deal. Biostatistics 18(2).
    https://doi.org/10.1093/biostatistics/kxw041

    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis 1(3).
    https://doi.org/10.1214/06-BA117A

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> found = bb.contrasts(post)
    >>> found.attrs["first"], found.attrs["second"]
    ('associated', 'different')
    >>> found[["protected_word", "group", "mean"]].round(3).head(3)
      protected_word group   mean
    0     whole list  <NA> -0.014
    1           math  math -0.012
    2        algebra  math -0.010
    >>> round(float(found.set_index("protected_word").loc["whole list", "mean"]), 3)
    -0.014
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    region = interval(rope, "rope", WIDEST)
    one_of(population, tuple(POPULATIONS), "population")
    first, second = contrasted(first, second, *connections_of(result))
    if by == "group" and population != GIVEN:
        raise InputError("contrasts of groups speak about these protected words only: leave population as it is")
    data = result.data
    if by == "group":
        cells = cells_of(data)
        if why_no_association(data, cells, first, second):
            drawn = rows_of(result, first, second, population, DIFFERENCE if rows in (None, GROUPS) else rows)
        elif rows in (None, GROUPS, DIFFERENCE):
            sums = list_difference_sums(data, cells) if rows == DIFFERENCE else group_sums(data, cells)
            drawn = rows_of(result, first, second, population, DIFFERENCE)
            drawn = replace(drawn, words=sums.of(functionals_of(result, cells, sums.parts)), kind=sums.kind)
        else:
            drawn = rows_of(result, first, second, population, rows)
        table = _by_group(drawn).summary(prob, region)
    else:
        drawn = rows_of(result, first, second, population, rows)
        table = pd.concat([each.summary(prob, region) for each in (drawn.whole, drawn.words)], ignore_index=True)
    attrs: dict[Any, Any] = {
        "first": first,
        "second": second,
        "prob": prob,
        "rope": region,
        "population": population,
        "measured": result.measured,
        "rows": drawn.kind,
        "left_out": left_out(data, drawn.words),
        "cluster": cluster_interval_of(data, first, second, prob),
        "notes": (*data.limits, *drawn.notes, *unrelated_notes(result.spec)),
    }
    if by != "group":
        spread, signs = _control_spread(data), drawn.clear_signs(prob)
        named = drawn.words.index["protected_word"].to_numpy(dtype=str)
        attrs |= {
            "signs": {side: named[signs == sign].tolist() for side, sign in (("closer", -1), ("farther", 1))},
            "standardised": None if spread is None else float(table["mean"].iloc[0]) / spread,
            "weat_d": weat_effect_size(data) if (first, second) == (OWN, OTHER) else None,
        }
    table.attrs = attrs | carried_labels(data.labels)
    return table


def _by_group(drawn: Rows) -> Estimates:
    """Means over the words of each group, and their differences."""
    groups = drawn.words.index["group"].fillna("").to_numpy(dtype=str)
    if "" in groups:
        raise InputError("the fit does not know the groups of all protected words: by='group' needs a column group")
    if drawn.kind not in (DIFFERENCE, GROUPS) and len(set(groups.tolist())) < 3:
        raise InputError(
            "by='group': with two groups the mean association of each is the whole list, by arithmetic, so that two "
            "lists do not tell which group contributes it; it takes three groups, or rows='groups'"
        )
    labels, matrix = group_weights(groups)
    return drawn.words.combine(matrix, pd.DataFrame({"group": labels}, dtype="string"))


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


FEWEST_CONTROLS = 3  # control words below which their spread is not taken for a measure


def _control_spread(data: Distances) -> float | None:
    """The standard deviation of control words' mean distances to the protected words; None where it is not known."""
    names = data.connections.tolist()
    rows = np.isin(data.connection, [names.index(name) for name in controls_of(names)])
    counts = np.bincount(data.attribute[rows])
    sums = np.bincount(data.attribute[rows], weights=data.y[rows])
    means = sums[counts > 0] / counts[counts > 0]
    spread = float(means.std(ddof=1)) if len(means) >= FEWEST_CONTROLS else 0.0
    return spread if spread > 0 else None


def beside_associated(result: Fit) -> list[str]:
    """Connections that a fit can set beside associated, the headline first; empty without associated distances."""
    valid, filled = connections_of(result)
    return contrast_partners(OWN, valid, filled) if OWN in valid else []


def connections_of(result: Fit) -> tuple[list[str], NDArray[np.bool_]]:
    """Connections (K,) of a fit, and which protected words have which (J, K)."""
    cells = result.tree["constant_data/n"]
    return cells["connection"].to_numpy().tolist(), cells.to_numpy() > 0


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
        ``adjusted_high``. ``attrs`` hold the attribute, its source, and
        how the expected distances were found.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, adjust="length", seed=0)
    >>> bb.checks.adjustment(post)["contrast"].tolist()
    ['associated - different', 'associated - human', 'associated - neutral']
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    before, group = result.unadjusted, result.adjustment
    if before is None or group is None:
        raise InputError("the distances of this fit are not adjusted: fit bb.adjust(table, by='frequency')")
    rows = []
    for other in beside_associated(result):
        row: dict[str, object] = {"contrast": f"{OWN} - {other}"}
        for name, one in (("raw", before), ("adjusted", result)):
            number = rows_of(one, OWN, other).whole.summary(prob).iloc[0]
            row |= {name: number["mean"], f"{name}_low": number["low"], f"{name}_high": number["high"]}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs = {**from_json(group.attrs["facts"]), "prob": prob}
    return table


def cell_estimates(post: xr.DataTree) -> Estimates:
    """The joint posterior of the mean distances of protected words to lists, to make contrasts of one's own.

    Every contrast is a weighted sum of these. For the model ``related`` the posterior is exact, a scale mixture of
    normals around the observed values. ``published``, ``pooled`` and ``crossed`` are mixtures of the normals that they
    have given their scales; models that NUTS fits answer with draws. These other models know the means of words under
    connections: for them all lists of other groups have one mean.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    Estimates
        By ``protected_word`` and its ``group``, ``list`` (the stereotypes of a group by its name, or a control list;
        the connection where groups are not known), and ``connection``, which the list has to the word. Where there is
        no distance there is no estimate.

    Examples
    --------
    >>> cells = bb.cell_estimates(bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0))
    >>> math = cells.select(protected_word="math")
    >>> (math.select(list="math") - math.select(list="arts")).summary()[["list", "mean", "p_closer"]].round(3)
              list   mean  p_closer
    0  math - arts  0.043      0.11
    """
    result = Fit.read(post)
    cells = cells_of(result.data)
    sums = list_sums(result.data, cells)
    return sums.of(family_of(result.spec).cells(result, cells, sums.parts))
