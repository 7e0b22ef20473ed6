"""Contrasts and associations of a fit, and their decomposition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from bayesbias._checks import interval, one_of, probability
from bayesbias._core.mixtures import pooled_rows
from bayesbias._core.shrinkage import false_sign_rates, s_values
from bayesbias._core.vectors import FloatArray, IntArray
from bayesbias._core.weat import effect_size
from bayesbias._files import from_json
from bayesbias._phrases import difference, percent, signed
from bayesbias.checks.summaries import PROB, cluster_interval, contrast_partners, contrasted, flat_draws
from bayesbias.distances.distances import Distances
from bayesbias.distances.storage import carried_labels
from bayesbias.errors import InputError, listed
from bayesbias.models.cells import (
    Cells,
    association_weights,
    cell_weights,
    cells_of,
    difference_weights,
    list_difference_weights,
    nearness_weights,
    whole_weights,
)
from bayesbias.models.families import family_of, functionals_of
from bayesbias.models.functionals import DrawnFunctionals, Functionals, NormalFunctionals
from bayesbias.models.related import distance_sd
from bayesbias.models.results import Fit
from bayesbias.words import CONTROLS, OTHER, OWN, WHOLE, controls_of, labelled

LEAST_RATIO = 0.95
GIVEN, SIMILAR = "given", "similar"
POPULATIONS = {
    GIVEN: "these protected words and attribute lists like these",
    SIMILAR: "protected words and attribute lists like these",
}
"""What a whole-list contrast speaks about, in words."""
RAW, POOLED, DIFFERENCE = ROWS = ("association", "pooled", "difference")
MEANINGS = {
    POOLED: "Rows of words are associations, partially pooled: a word's own stereotypes against those of other groups, "
    "less how near each list is to all protected words.",
    RAW: "Rows of words are associations: a word's own stereotypes against those of other groups, less how near each "
    "list is to all protected words.",
    DIFFERENCE: "Rows of words are differences of two mean distances. They also hold how near the lists are to all "
    "protected words, so that a row by itself is not the word's bias.",
}
"""What the rows of single words are."""
POOL_SD = 0.35
"""Scale of the half-Cauchy prior of the standard deviation between words' associations, in standard deviations of a
protected word's distances to the vocabulary: .03 in cosine distance for Google News."""
SIGN_RATE = 0.05
"""Expected share of wrong signs among the words that are named together."""


@dataclass(frozen=True)
class Rows:
    """Posteriors behind a table of contrasts.

    Attributes
    ----------
    whole
        One quantity: the whole list.
    words
        One for each protected word that has a row.
    kept
        Which protected words (J,) have a row.
    weights
        Weight (J,) of each word in the whole list.
    kind
        One of :data:`ROWS`.
    notes
        Sentences on what the rows could not be.
    """

    whole: Functionals
    words: Functionals
    kept: NDArray[np.bool_]
    weights: FloatArray
    kind: str
    notes: tuple[str, ...] = ()


def rows_of(result: Fit, first: str, second: str, population: str = GIVEN, rows: str | None = None) -> Rows:
    """Posteriors of a contrast for the whole list and for each protected word."""
    data = result.data
    cells = cells_of(data)
    lacking = why_no_association(data, cells, first, second)
    if rows is None:
        rows = DIFFERENCE if lacking else RAW
    one_of(rows, ROWS, "rows")
    if rows == DIFFERENCE:
        drawn = _difference_rows(result, cells, first, second)
    elif lacking:
        raise InputError(f"rows={rows!r}: {lacking}; rows='difference' gives differences of mean distances")
    else:
        drawn = _association_rows(result, cells, rows)
    notes = (*drawn.notes, *([f"There are no associations: {lacking}."] if lacking and second == OTHER else ()))
    if population == SIMILAR:
        draws = flat_draws(result.posterior["connection_mean"].sel(connection=[first, second]).to_numpy())
        whole: Functionals = DrawnFunctionals((draws @ [1.0, -1.0])[:, None])
    else:
        whole = drawn.whole
    return Rows(whole, drawn.words, drawn.kept, drawn.weights, drawn.kind, notes)


def why_no_association(data: Distances, cells: Cells, first: str = OWN, second: str = OTHER) -> str:
    """What a contrast or a table lacks to have associations; empty if it has them."""
    if (first, second) != (OWN, OTHER):
        return f"associations are rows of {OWN} - {OTHER}, not of {first} - {second}"
    if "" in data.groups.tolist():
        return "the groups of the protected words are not known: the table needs a column group"
    if len(cells.lists) < 2:
        names = [repr(name) for name in cells.columns[cells.connections :]]
        there = f"only {names[0]} has" if names else "no group has"
        return f"an association needs the stereotype lists of two groups, and {there} one"
    if same := cells.same_lists:
        return f"the stereotype lists of {listed(list(same))} hold the same words"
    if gone := _groups_without(data, cells, cells.associated):
        return f"no protected word of {listed(gone)} has distances to the stereotypes of every group"
    return ""


def _groups_without(data: Distances, cells: Cells, chosen: NDArray[np.bool_]) -> list[str]:
    """Groups with a stereotype list of which no protected word is among some chosen ones (J,)."""
    present = set(data.groups[chosen].tolist())
    return [name for name in cells.columns[cells.connections :] if name not in present]


def _difference_rows(result: Fit, cells: Cells, first: str, second: str) -> Rows:
    """Differences of mean distances under two connections."""
    data = result.data
    names = data.connections.tolist()
    places = [names.index(first), names.index(second)]
    kept = cells.filled[:, places].all(axis=1)
    weights = whole_weights(data, kept)
    if not kept.any():
        draws = result.draws("connection_mean")
        whole = DrawnFunctionals((draws[:, places[0]] - draws[:, places[1]])[:, None])
        return Rows(whole, DrawnFunctionals(np.empty((len(draws), 0))), kept, weights, DIFFERENCE)
    chosen = np.flatnonzero(kept)
    between = difference_weights(cells, chosen, *(np.full(len(chosen), place) for place in places))
    words = functionals_of(result, cells, between)
    return Rows(words.combined(weights[kept][None]), words, kept, weights, DIFFERENCE)


def _association_rows(result: Fit, cells: Cells, kind: str) -> Rows:
    """Associations, as they were observed or partially pooled.

    Models with normal means of words pool them themselves; that of related words does not, so that its associations
    are pooled here.
    """
    data, kept = result.data, cells.associated
    weights = whole_weights(data, kept)
    words = np.flatnonzero(kept)
    combine, parts = association_weights(cells, words, weights)
    raw = functionals_of(result, cells, parts).combined(combine)
    rows = Rows(raw.combined(weights[words][None]), raw, kept, weights, kind, tuple(_doubts(data, cells)))
    if kind == RAW or not isinstance(raw, NormalFunctionals):
        return rows
    pooled = _pooled_associations(raw, weights[words], data.group_index[words], POOL_SD * distance_sd(data))
    return Rows(rows.whole, pooled, kept, weights, kind, rows.notes)


def _pooled_associations(raw: NormalFunctionals, weights: FloatArray, groups: IntArray, scale: float) -> Functionals:
    """Associations whose deviations from the whole list are partially pooled.

    Parameters
    ----------
    raw
        The associations as they were observed.
    weights, groups
        Weight and group of each word.
    scale
        Scale of the half-Cauchy prior of the standard deviation between words.
    """
    several = len(np.unique(groups)) > 2
    # with two groups the mean association of each is the whole list, by arithmetic
    block = np.zeros(len(groups), dtype=np.intp) if several else np.unique(groups, return_inverse=True)[1]
    grid = (raw.grid.factor, raw.grid.mass[raw.classes[0]])
    return pooled_rows(raw.mean, raw.roots[0], weights, block, grid, scale) or raw


def _doubts(data: Distances, cells: Cells) -> list[str]:
    """Lists that an association rests on only in part."""
    notes = []
    if cells.in_several:
        notes.append(
            f"{listed(list(cells.in_several))} stand in the stereotype lists of several groups, and count in each."
        )
    sizes = cells.n[:, cells.lists].max(axis=0)
    single = [name for name, size in zip(cells.columns[cells.connections :], sizes, strict=True) if size == 1]
    if single:
        notes.append(
            f"One stereotype word only was found for {listed(single)}: how far another one would lie is known from "
            "the vocabulary and the other lists alone."
        )
    return notes


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
    group than to those of others. A difference of two mean distances of a single word also holds how near the two lists
    are to all protected words. The association of a word is what is left without this: with m[j, l] the mean distance
    of word j to list l, g its double-centred value and G groups,

        association of j = G / (G - 1) g[j, own],    whole list = weighted mean of the associations,

    where groups weigh the same, and words within a group. With two groups each group's mean association is the whole
    list: which group contributes it cannot be told.

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
        A region of practical equivalence: plus or minus a number, or (low, high), in cosine distance.
    population
        What the row of the whole list speaks about. ``"given"``: these protected words, and attribute lists like
        these. ``"similar"``: further protected words like these too, which is less certain.
    by
        ``"protected_word"``, or ``"group"``: means over the protected words of each group, and differences of groups.
        Associations have it for three groups or more.
    rows
        What the rows of words are. ``"association"`` (the default of associated - different): associations, with the
        observed mean. ``"pooled"``: associations whose deviations from the whole list are partially pooled; closer to
        the truth on average, with intervals that miss it more often (docs/model.md). ``"difference"`` (that of all
        other contrasts): differences of two mean distances, which also hold how near the lists are. Models with normal
        means of words (``crossed``, ``published``) pool in either case.

    Returns
    -------
    DataFrame
        First the whole list (``protected_word`` is ``"whole list"``), then each protected word that has what the row
        needs. Columns ``protected_word``, ``group`` (missing for the whole list), ``mean``, ``sd``, ``low``, ``high``
        (cosine distance), ``p_closer`` (posterior probability of a value below 0), and ``p_rope`` where a rope was
        given. With ``by="group"`` there is no ``protected_word``: one row a group, and one for each two groups
        (``g - h``, negative: that of g is the smaller one). For the model ``related`` all figures are exact: they do
        not depend on the draws. Pooled deviations are normal; their standard deviation has a half-Cauchy prior and is
        integrated over.

        ``attrs``: ``rows`` and ``meaning`` (what rows are), ``population``, ``left_out`` (words without a row),
        ``signs`` (words whose sign is told with an expected share of wrong signs below .05 of their number),
        ``standardised`` (the whole list over the standard deviation of control words), ``weat_d`` (WEAT's effect size
        of the same words, for two groups), ``cluster`` (the :class:`ClusterInterval` of the whole list), ``sd_ratio``
        (posterior sd over its standard error), ``notes``.

    References
    ----------
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
    1           math  math  0.018
    2        algebra  math  0.026
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    region = interval(rope, "rope")
    one_of(population, tuple(POPULATIONS), "population")
    first, second = contrasted(first, second, *connections_of(result))
    if by == "group" and population != GIVEN:
        raise InputError("contrasts of groups speak about these protected words: leave population as it is")
    data, drawn = result.data, rows_of(result, first, second, population, rows)
    kept = drawn.kept
    groups = data.groups[kept]
    if by == "group":
        table = _group_table(drawn, groups, prob, region)
    else:
        table = _whole_and_words(drawn, data.protected_words[kept], groups, prob, region)
    cluster = cluster_interval(post, first, second, prob)
    attrs: dict[Any, Any] = {
        "first": first,
        "second": second,
        "prob": prob,
        "rope": region,
        "population": population,
        "rows": drawn.kind,
        "meaning": MEANINGS[drawn.kind],
        "related": result.related,
        "left_out": data.protected_words[~kept].tolist(),
        "cluster": cluster,
        "sd_ratio": float("nan") if cluster.reason else float(drawn.whole.sd[0]) / cluster.se,
        "notes": drawn.notes,
    }
    if by != "group":
        attrs |= _told(table) | _sizes(data, float(table["mean"].iloc[0]), first, second)
    table.attrs = attrs | carried_labels(data.labels)
    return table


def _word_table(
    words: Any, groups: Any, functionals: Functionals, prob: float, region: tuple[float, float] | None
) -> pd.DataFrame:
    """One row for each quantity."""
    labels = {"protected_word": pd.array(list(words), dtype="string"), "group": pd.array(list(groups), dtype="string")}
    return pd.DataFrame({**labels, **figures(functionals, prob, region)})


def _whole_and_words(
    drawn: Rows,
    words: NDArray[np.str_],
    groups: NDArray[np.str_],
    prob: float,
    region: tuple[float, float] | None,
) -> pd.DataFrame:
    """The row of the whole list, then those of the words."""
    top = _word_table([WHOLE], [pd.NA], drawn.whole, prob, region)
    rows = _word_table(words, [name or pd.NA for name in groups], drawn.words, prob, region)
    return pd.concat([top, rows], ignore_index=True)


def figures(functionals: Functionals, prob: float, region: tuple[float, float] | None = None) -> dict[str, FloatArray]:
    """``mean``, ``sd``, ``low``, ``high``, ``p_closer`` and, with a region, ``p_rope`` (m,) of functionals."""
    tail = (1 - prob) / 2
    columns = {
        "mean": functionals.mean,
        "sd": functionals.sd,
        "low": functionals.quantile(tail),
        "high": functionals.quantile(1 - tail),
        "p_closer": functionals.below(0.0),
    }
    return (
        columns if region is None else columns | {"p_rope": functionals.below(region[1]) - functionals.below(region[0])}
    )


def _group_table(
    drawn: Rows, groups: NDArray[np.str_], prob: float, region: tuple[float, float] | None
) -> pd.DataFrame:
    """One row a group and one for each two groups: means over their words."""
    names = [str(name) for name in dict.fromkeys(groups.tolist())]
    if "" in names:
        raise InputError("the fit does not know the groups of all protected words: by='group' needs a column group")
    if drawn.kind != DIFFERENCE and len(names) < 3:
        raise InputError(
            "by='group': with two groups the mean association of each is the whole list, by arithmetic, so that two "
            "lists do not tell which group contributes it; it takes three groups, or rows='difference'"
        )
    labels, matrix = group_weights(groups)
    return pd.DataFrame(
        {"group": pd.array(labels, dtype="string"), **figures(drawn.words.combined(matrix), prob, region)}
    )


def group_weights(groups: NDArray[np.str_]) -> tuple[list[str], FloatArray]:
    """Labels of groups and of each two of them, and the weights (labels, J) of their means over words."""
    names = [str(name) for name in dict.fromkeys(groups.tolist())]
    means = np.array([(groups == name) / (groups == name).sum() for name in names])
    first, second = np.triu_indices(len(names), 1)
    labels = [*names, *(f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True))]
    return labels, np.vstack([means, means[first] - means[second]])


def _told(table: pd.DataFrame) -> dict[str, Any]:
    """The words whose sign is told together: the expected share of wrong signs among them is below a rate."""
    words = table.iloc[1:]
    below = words["p_closer"].to_numpy()
    chosen = s_values(false_sign_rates(below)) < SIGN_RATE if len(words) else np.zeros(0, dtype=bool)
    return {
        "signs": {
            "closer": words.loc[chosen & (below > 0.5), "protected_word"].tolist(),
            "farther": words.loc[chosen & (below < 0.5), "protected_word"].tolist(),
        }
    }


def _sizes(data: Distances, mean: float, first: str, second: str) -> dict[str, Any]:
    """The whole list in standard deviations of control words, and WEAT's effect size of the same words."""
    spread = control_spread(data)
    effect = weat_effect_size(data) if (first, second) == (OWN, OTHER) else None
    return {"standardised": None if spread is None else mean / spread, "weat_d": effect}


def weat_effect_size(data: Distances) -> float | None:
    """WEAT's effect size d for two groups: positive where words are closer to the stereotypes of their own group.

    The protected words of the groups are WEAT's targets, their stereotypes its attributes. None for another number of
    groups, or where associations do not vary.

    References
    ----------
    Caliskan, A., Bryson, J. J. and Narayanan, A. (2017). Semantics derived automatically from language corpora contain
    human-like biases. Science 356(6334). https://doi.org/10.1126/science.aal4230
    """
    cells = cells_of(data)
    if len(cells.lists) != 2 or why_no_association(data, cells):
        return None
    words = np.flatnonzero(cells.associated)
    means = cells.mean[words][:, cells.lists]
    values, own = means[:, 1] - means[:, 0], cells.own[words] == cells.lists[0]
    size = float(effect_size(values[own], values[~own]))
    return size if np.isfinite(size) else None


def association(post: xr.DataTree, prob: float = PROB, by: str = "protected_word") -> pd.DataFrame:
    """The association of each protected word, or group, with each stereotype list.

    The association of word j with list l is G / (G - 1) times the double-centred mean distance g[j, l]: how much nearer
    the word is to this list than to the others, less how much nearer all protected words are. Those of a word add up to
    0. With its own list it is the row of :func:`contrasts`.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    prob
        Posterior mass of the equal-tailed intervals.
    by
        ``"protected_word"``, or ``"group"``: means over the words of each group, for three groups or more.

    Returns
    -------
    DataFrame
        One row for each word, or group, and list: ``protected_word``, ``group``, ``list``, ``own`` (whether the list is
        that of the word's group), ``mean``, ``sd``, ``low``, ``high`` (cosine distance; negative: closer),
        ``p_closer``. ``table.pivot(index="protected_word", columns="list", values="mean")`` is the matrix;
        :func:`plots.plot_association <bayesbias.plots.plot_association>` draws it.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "religion"), seed=0)
    >>> bb.association(post, by="group").round(3).head(3)[["group", "list", "own", "mean"]]
       group       list    own   mean
    0    jew        jew   True -0.026
    1    jew  christian  False -0.027
    2    jew     muslim  False  0.053
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    data = result.data
    cells = cells_of(data)
    if lacking := why_no_association(data, cells):
        raise InputError(f"there are no associations: {lacking}")
    rows = np.flatnonzero(cells.associated)
    lists, size = cells.columns[cells.connections :], len(cells.lists)
    weights = whole_weights(data, cells.associated)
    # list by list: the words' difference of this list and the others, less that of the mean word
    of_words = [list_difference_weights(cells, rows, np.full(len(rows), column)) for column in cells.lists]
    every = sparse.vstack([*of_words, nearness_weights(cells, weights)], format="csr")
    sums = functionals_of(result, cells, every)
    # the nearness of a list is the mean word's difference of this list and the others
    mean_word = sparse.kron(sparse.eye_array(size), np.ones((len(rows), 1)))
    combine = sparse.hstack([sparse.eye_array(len(rows) * size), -mean_word], format="csr")
    table_of = sums.combined(combine)
    order = np.arange(len(rows) * size).reshape(size, len(rows)).T.ravel()
    words, groups = data.protected_words[rows], data.groups[rows]
    if by == "group":
        names = list(dict.fromkeys(groups.tolist()))
        if len(names) < 3:
            raise InputError(
                "by='group': with two groups the mean association of each is the whole list, by arithmetic; it takes "
                "three groups"
            )
        means = np.array([(groups == name) / (groups == name).sum() for name in names])
        by_group = np.vstack([np.kron(np.eye(size), row) for row in means])
        table = pd.DataFrame({"group": np.repeat(names, size), "list": np.tile(lists, len(names))})
        numbers = figures(table_of.combined(by_group), prob)
    else:
        table = pd.DataFrame(
            {
                "protected_word": np.repeat(words, size),
                "group": np.repeat(groups, size),
                "list": np.tile(lists, len(words)),
            }
        )
        numbers = {name: values[order] for name, values in figures(table_of, prob).items()}
    table = table.astype("string")
    table["own"] = table["group"] == table["list"]
    table = table.assign(**numbers)
    table.attrs = {
        "prob": prob,
        "left_out": data.protected_words[~cells.associated].tolist(),
        **carried_labels(data.labels),
    }
    return table


def cluster_sentence(table: pd.DataFrame) -> str:
    """What the cluster interval says, which takes attribute words for independent, beside a table of contrasts."""
    cluster, ratio = table.attrs["cluster"], table.attrs["sd_ratio"]
    if cluster.reason:
        return f"There is no interval with attribute words as clusters: {cluster.reason}."
    sentence = (
        f"Treating attribute words as independent would give {signed(cluster.estimate)} ({percent(cluster.prob)} "
        f"interval {signed(cluster.low)} to {signed(cluster.high)}). The standard deviation of the whole list, for "
        f"{POPULATIONS[table.attrs['population']]}, is {ratio:.2f} times as large."
    )
    if ratio < LEAST_RATIO and not table.attrs["related"]:
        sentence += " The posterior is narrower than the choice of attribute words alone suggests: trust the wider one."
    return sentence


FEWEST_CONTROLS = 3
"""Control words below which their spread is not taken for a measure."""


def control_spread(data: Distances) -> float | None:
    """The standard deviation of control words' mean distances to the protected words; None where it is not known."""
    names = data.connections.tolist()
    rows = np.isin(data.connection, [names.index(name) for name in controls_of(names)])
    counts = np.bincount(data.attribute[rows])
    sums = np.bincount(data.attribute[rows], weights=data.y[rows])
    means = sums[counts > 0] / counts[counts > 0]
    spread = float(means.std(ddof=1)) if len(means) >= FEWEST_CONTROLS else 0.0
    return spread if spread > 0 else None


def size_sentence(table: pd.DataFrame) -> str:
    """The whole list of a table of contrasts in standard deviations of control words, and WEAT's d beside it."""
    size, effect = table.attrs["standardised"], table.attrs["weat_d"]
    if size is None:
        sentence = "The contrast cannot be standardised: there are fewer than three control words."
    else:
        sentence = f"Size: {signed(size, digits=1)} standard deviations of control words' mean distances."
    if effect is not None:
        sentence += f" WEAT's effect size of the same words is {signed(effect, digits=2)}."
    return sentence


def beside_associated(result: Fit) -> list[str]:
    """Connections that a fit can set beside associated, the headline first; empty without associated distances."""
    valid, filled = connections_of(result)
    return contrast_partners(OWN, valid, filled) if OWN in valid else []


def connections_of(result: Fit) -> tuple[list[str], NDArray[np.bool_]]:
    """Connections (K,) of a fit, and which protected words have which (J, K)."""
    cells = result.tree["constant_data/n"]
    return cells["connection"].to_numpy().tolist(), cells.to_numpy() > 0


def contrast_draws(result: Fit, first: str, second: str, population: str = GIVEN) -> FloatArray:
    """The fit's own draws (D,) of a contrast of the whole list, for what is looked at draw by draw."""
    names, filled = connections_of(result)
    places = [names.index(first), names.index(second)]
    kept = filled[:, places].all(axis=1)
    if population == SIMILAR or not kept.any():
        means = result.draws("connection_mean")[:, places]
    else:
        data = result.data
        weights = whole_weights(data, kept)
        words = result.draws("word_mean")[:, kept][:, :, places]
        means = np.einsum("djk,j->dk", words, weights[kept])
    difference: FloatArray = means[:, 0] - means[:, 1]
    return difference


def adjustment(post: xr.DataTree, prob: float = PROB) -> pd.DataFrame:
    """Contrasts before and after distances were adjusted for an attribute of words.

    Parameters
    ----------
    post
        A result of ``fit(table, adjust=...)``.
    prob
        Posterior mass of the equal-tailed intervals.

    Returns
    -------
    DataFrame
        One row for each contrast of associated, for these protected words: ``contrast``, ``raw``, ``raw_low``,
        ``raw_high``, ``adjusted``, ``adjusted_low``, ``adjusted_high``. ``attrs`` hold the attribute, its source, and
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
    adjusted = result.adjustment
    if adjusted is None:
        raise InputError("the distances of this fit are not adjusted: fit(table, adjust='frequency') adjusts them")
    before = adjusted["raw_word_mean"].to_numpy()
    data = result.data
    names = data.connections.tolist()
    cells = cells_of(data)
    raw_means = replace(data, y=adjusted["raw_distance"].to_numpy()).cells.mean
    rows = []
    for other in beside_associated(result):
        places = [names.index(OWN), names.index(other)]
        weights = whole_weights(data, cells.filled[:, places].all(axis=1))
        values = flat_draws(before)[:, :, places] @ [1.0, -1.0]
        drawn = np.nan_to_num(values) @ weights[:, None]
        if family_of(result.spec).is_exact(result):  # the mean is the observed one, and draws tell of the errors
            drawn += weights @ np.nan_to_num(raw_means[:, places] @ [1.0, -1.0]) - drawn.mean()
        raw = DrawnFunctionals(drawn)
        row: dict[str, object] = {"contrast": f"{OWN} - {other}"}
        for name, whole in (("raw", raw), ("adjusted", rows_of(result, OWN, other).whole)):
            number = figures(whole, prob)
            row |= {name: number["mean"][0], f"{name}_low": number["low"][0], f"{name}_high": number["high"][0]}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs = {**from_json(adjusted.attrs["facts"]), "prob": prob}
    return table


ONE_GROUP = (
    "With one group only it cannot be told how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""What a fit without distances to other groups' stereotypes leaves open."""
ASSOCIATION, NEAR_LISTS, NEAR_WORD = "association", "nearness of the lists", "nearness of the word"
PARTS = ["protected_word", "contrast", "mean", "sd", "low", "high", "p_closer"]


class Parts(NamedTuple):
    """Posteriors of the parts of a contrast and their sum.

    Attributes
    ----------
    whole_labels, word_labels
        Names of the parts of the whole list, and of a protected word; the last is the sum of those before.
    whole, words
        Posteriors of the parts of the whole list, and, part by part, of the protected words.
    kept
        Which protected words (J,) have what the parts need.
    """

    whole_labels: tuple[str, ...]
    word_labels: tuple[str, ...]
    whole: Functionals
    words: Functionals
    kept: NDArray[np.bool_]

    def of_word(self, place: int) -> slice:
        """Where in ``words`` a part is, by its place among the labels."""
        count = int(self.kept.sum())
        return slice(place * count, (place + 1) * count)


def decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, population: str = GIVEN
) -> pd.DataFrame:
    """A contrast of associated words with a control list as a sum of parts.

    For the whole list (associated - human) = (associated - different) + (different - human). The first part says how
    much closer protected words are to their own stereotypes than to those of other groups. The second says how much
    closer they are to the stereotypes of other groups than to control words: that is so for stereotype words of any
    kind.

    For a word (associated - human) = association + nearness of the lists + nearness of the word. The association is
    the row of :func:`contrasts`. The nearness of the lists is how much nearer the word's own list is to
    all protected words than other lists are. The nearness of the word is how much nearer it is to other groups'
    stereotypes than to control words. The first part of the whole list is the mean association, its second part the
    mean nearness of the words; the nearness of the lists has the mean 0.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    second
        The control list; by default human, or else the first that the fit has.
    prob
        Posterior mass of the equal-tailed intervals.
    population
        What the rows of the whole list speak about, as in :func:`contrasts`.

    Returns
    -------
    DataFrame
        Three rows for the whole list (``protected_word`` is ``"whole list"``): ``associated - different``,
        ``different - human``, ``associated - human``. Then four for each protected word: ``association``,
        ``nearness of the lists``, ``nearness of the word``, ``associated - human``. A table without associations (of
        one group) has the three rows of the whole list for each word. Columns ``protected_word``,
        ``contrast``, ``mean``, ``sd``, ``low``, ``high`` (cosine distance), ``p_closer``. ``attrs`` holds ``second``,
        ``prob``, ``population`` and ``left_out``, the words without distances to one of the lists.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.decomposition(post)[["protected_word", "contrast", "mean"]].round(3).head(4)
      protected_word                contrast   mean
    0     whole list  associated - different -0.014
    1     whole list       different - human -0.005
    2     whole list      associated - human -0.019
    3           math             association  0.018
    """
    result = Fit.read(post)
    prob = probability(prob, "prob")
    names = result.data.protected_words
    parts = decomposition_parts(result, second, population)
    table = tabulated(parts, names, prob)
    table.attrs = {
        "second": parts.whole_labels[-1].split(" - ")[1],
        "prob": prob,
        "population": population,
        "left_out": names[~parts.kept].tolist(),
        **carried_labels(result.labels),
    }
    return table


def decomposition_parts(result: Fit, second: str | None = None, population: str = GIVEN) -> Parts:
    """Posteriors of the parts; see :func:`decomposition`."""
    one_of(population, tuple(POPULATIONS), "population")
    data = result.data
    names = data.connections.tolist()
    second = control_of_parts(names, second)
    cells = cells_of(data)
    labels: tuple[str, ...] = (f"{OWN} - {OTHER}", f"{OTHER} - {second}", f"{OWN} - {second}")
    if why_no_association(data, cells):
        kept, weights, first = _difference_parts(data, cells, second)
        words = functionals_of(result, cells, first)
        whole: Functionals = words.combined(np.kron(np.eye(3), weights[kept][None]).astype(float))
        of_word = labels
    else:
        kept, weights, combine, first = decomposition_weights(data, cells, second)
        words = functionals_of(result, cells, first).combined(combine)
        whole = words.combined(whole_parts(weights[kept], int(kept.sum())))
        of_word = (ASSOCIATION, NEAR_LISTS, NEAR_WORD, labels[-1])
    if population == SIMILAR:
        places = [names.index(name) for name in (OWN, OTHER, second)]
        draws = result.draws("connection_mean")[:, places]
        whole = DrawnFunctionals(draws @ np.array([[1.0, 0, 1], [-1, 1, 0], [0, -1, -1]]))
    return Parts(labels, of_word, whole, words, kept)


def _difference_parts(
    data: Distances, cells: Cells, second: str
) -> tuple[NDArray[np.bool_], FloatArray, sparse.csr_array]:
    """The same of a table without associations: differences of mean distances, part by part."""
    names = data.connections.tolist()
    places = [names.index(name) for name in (OWN, OTHER, second)]
    kept = cells.filled[:, places].all(axis=1)
    if not kept.any():
        raise InputError(f"no protected word has {OWN}, {OTHER} and {second} distances")
    words = np.flatnonzero(kept)
    pairs = [(places[0], places[1]), (places[1], places[2]), (places[0], places[2])]
    parts = [difference_weights(cells, words, *(np.full(len(words), place) for place in pair)) for pair in pairs]
    return kept, whole_weights(data, kept), sparse.vstack(parts, format="csr")


def whole_parts(weights: FloatArray, count: int) -> FloatArray:
    """Weights (3, 4 * count) of the parts of the whole list over those of words."""
    nothing = np.zeros(count)
    return np.array(
        [
            np.concatenate([weights, weights, nothing, nothing]),
            np.concatenate([nothing, nothing, weights, nothing]),
            np.concatenate([nothing, nothing, nothing, weights]),
        ]
    )


def decomposition_weights(
    data: Distances, cells: Cells, second: str
) -> tuple[NDArray[np.bool_], FloatArray, sparse.csr_array, sparse.csr_array]:
    """Which words (J,) have all parts, their weights (J,), and two matrices whose product weighs the cells.

    The rows of the product are the four parts of all words, part by part.
    """
    if lacking := why_no_association(data, cells):
        raise InputError(f"a decomposition needs associations: {lacking}. {ONE_GROUP}")
    control = data.connections.tolist().index(second)
    kept = cells.associated & cells.filled[:, control]
    if gone := _groups_without(data, cells, kept):
        raise InputError(
            f"a decomposition needs words of each group with distances to every stereotype list and to {second} words, "
            f"and {listed(gone)} has none"
        )
    weights, words = whole_weights(data, kept), np.flatnonzero(kept)
    count, groups = len(words), len(cells.lists)
    own = list_difference_weights(cells, words, cells.own[words])
    near = nearness_weights(cells, weights)
    total = difference_weights(cells, words, cells.own[words], np.full(count, control))
    first = sparse.vstack([own, near, total], format="csr")
    place = cells.own[words] - cells.connections
    select = sparse.csr_array((np.ones(count), (np.arange(count), place)), shape=(count, groups))
    identity = sparse.eye_array(count)
    combine = sparse.block_array(
        [
            [identity, -select, None],
            [None, select, sparse.csr_array((count, count))],
            [-identity, None, identity],
            [None, None, identity],
        ],
        format="csr",
    )
    return kept, weights, combine, first


def decomposable(filled: NDArray[np.bool_], valid: list[str]) -> list[str]:
    """Control lists in their order whose contrast with associated words has a decomposition.

    Parameters
    ----------
    filled
        Which protected words have which connections (J, K).
    valid
        Names of the K connections.
    """
    return [
        name
        for name in controls_of(valid)
        if {OWN, OTHER} <= set(valid)
        and filled[:, [valid.index(OWN), valid.index(OTHER), valid.index(name)]].all(axis=1).any()
    ]


def decomposable_controls(result: Fit) -> list[str]:
    """The same for a fit."""
    data = result.data
    return decomposable(data.filled, data.connections.tolist())


def control_of_parts(valid: list[str], second: str | None) -> str:
    """The control list of a decomposition, of connections that have one."""
    known = controls_of(valid) or controls_of(CONTROLS)
    second = known[0] if second is None else one_of(second, known, "second")
    missing = [name for name in (OWN, OTHER, second) if name not in valid]
    if OTHER in missing and OWN in valid:
        raise InputError(
            f"there are no distances to the stereotypes of other groups, only {', '.join(valid)}. {ONE_GROUP}"
        )
    if missing:
        raise InputError(f"there are no {missing[0]} distances, only {', '.join(valid)}")
    return second


def tabulated(parts: Parts, names: np.ndarray, prob: float) -> pd.DataFrame:
    """The table of :func:`decomposition`: whole list first, then the parts of each word."""
    of_words = figures(parts.words, prob)
    count, size = int(parts.kept.sum()), len(parts.word_labels)
    order = np.arange(count * size).reshape(size, count).T.ravel()
    top = pd.DataFrame({"protected_word": WHOLE, "contrast": parts.whole_labels, **figures(parts.whole, prob)})
    rows = pd.DataFrame(
        {
            "protected_word": np.repeat(names[parts.kept], size),
            "contrast": np.tile(parts.word_labels, count),
            **{name: values[order] for name, values in of_words.items()},
        }
    )
    table = pd.concat([top, rows], ignore_index=True)
    return table.astype({"protected_word": "string", "contrast": "string"})[PARTS]


def decomposition_sentence(table: pd.DataFrame, of: str = "", figure: Callable[[float], str] = signed) -> str:
    """One sentence on the whole list of a table of :func:`decomposition`.

    Parameters
    ----------
    table
        What :func:`decomposition` returns, or the rows of one change.
    of
        What goes before each contrast, such as "the change of ".
    figure
        Writes a number.
    """
    parts = []
    for row, lead in zip(
        table.iloc[:3].to_dict("records"), ("", "", f"{percent(table.attrs['prob'])} interval "), strict=True
    ):
        ends = f"{figure(row['low'])} to {figure(row['high'])}"
        what = difference(labelled(row["contrast"], table.attrs.get("labels", {})))
        parts.append(f"{of}{what}, {figure(row['mean'])} ({lead}{ends})")
    special, shared, total = parts
    return (
        f"{total[0].upper()}{total[1:]}, is the sum of {special}, which is special to a word's own stereotypes, and "
        f"{shared}, which stereotype words of any kind share."
    )


def mean_distances(post: xr.DataTree) -> pd.DataFrame:
    """The observed mean distance of each protected word to each list.

    Parameters
    ----------
    post
        A result of :func:`fit`.

    Returns
    -------
    DataFrame
        One row a protected word, one column a list: the stereotypes of each group by its name, then the control lists.
        NaN where there is no distance. It is what :func:`functionals` weighs.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> bb.checks.mean_distances(post).columns.tolist()
    ['math', 'arts', 'human', 'neutral']
    """
    result = Fit.read(post)
    data = result.data
    cells = cells_of(data)
    places = _list_places(data, cells)
    names = [cells.columns[place] for place in places]
    index = pd.Index(data.protected_words, name="protected_word")
    return pd.DataFrame(cells.mean[:, places], index=index, columns=names)


def _list_places(data: Distances, cells: Cells) -> NDArray[np.intp]:
    """Columns of the cells that are lists: those of the groups, then the control lists."""
    names = data.connections.tolist()
    controls = [names.index(name) for name in controls_of(names)]
    return np.concatenate([cells.lists, np.array(controls, dtype=np.intp)])


def functionals(post: xr.DataTree, weights: FloatArray | pd.DataFrame) -> Functionals:
    """The joint posterior of weighted sums of mean distances.

    Every contrast is such a sum. For the model ``related`` the posterior is exact, a scale mixture of normals around
    the observed values. ``published``, ``pooled`` and ``crossed`` are mixtures of the normals that they have given
    their scales; models that NUTS fits answer with draws. With three groups or more these models do not tell the lists
    of other groups apart.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    weights
        Weights over the cells of :func:`mean_distances`: an array (protected words, lists), or (m, protected words,
        lists) for m sums, or a DataFrame with its labels (what it lacks has the weight 0). Weights of empty cells are
        0.

    Returns
    -------
    Functionals
        ``mean`` and ``sd`` (m,), ``quantile(p)`` and ``below(x)`` (m,), ``draws(size, rng)`` (size, m), and
        ``combined(matrix)`` for sums of these sums.

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    >>> weights = 0.0 * bb.checks.mean_distances(post)
    >>> weights.loc["math", ["math", "arts"]] = 1.0, -1.0
    >>> found = bb.checks.functionals(post, weights)
    >>> round(float(found.mean[0]), 3), round(float(found.below(0.0)[0]), 3)
    (0.043, 0.132)
    """
    result = Fit.read(post)
    data = result.data
    cells = cells_of(data)
    places = _list_places(data, cells)
    matrices = _checked_weights(weights, data, [cells.columns[place] for place in places])
    sums, word, column = np.nonzero(matrices)
    if not cells.filled[word, places[column]].all():
        raise InputError("weights fall on cells without a distance: give 0 to these (NaN in bb.checks.mean_distances)")
    matrix = cell_weights(sums, word, places[column], matrices[sums, word, column], cells, len(matrices))
    return functionals_of(result, cells, matrix)


def _checked_weights(weights: object, data: Distances, lists: list[str]) -> FloatArray:
    """Weights as an array (m, J, L)."""
    words = data.protected_words.tolist()
    if isinstance(weights, pd.DataFrame) and not weights.empty:
        unknown = [str(name) for name in weights.index if name not in words]
        unknown += [str(name) for name in weights.columns if name not in lists]
        if unknown:
            raise InputError(f"weights name {listed(unknown)}, which is no protected word and no list of the fit")
        weights = weights.reindex(index=words, columns=lists).fillna(0.0).to_numpy()
    shape = (len(words), len(lists))
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim not in (2, 3) or array.shape[-2:] != shape or not array.size or not np.isfinite(array).all():
        raise InputError(
            f"weights have the shape {array.shape}: give finite numbers of shape {shape} (protected words, lists), or "
            "several of these stacked"
        )
    return array.reshape(-1, *shape)
