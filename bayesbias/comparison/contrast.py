"""Contrasts of a fit and their decomposition."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import interval, one_of, probability
from bayesbias._core.vectors import FloatArray
from bayesbias.diagnostics.summaries import (
    PROB,
    beside,
    cluster_interval,
    contrasted,
    describe,
    flat_draws,
    signed,
    word_statistics,
)
from bayesbias.distances.storage import carried_labels
from bayesbias.errors import InputError
from bayesbias.models.data import ModelData
from bayesbias.models.results import GROUP, check_fit, fit_data
from bayesbias.models.word_draws import GROUP as WORDS
from bayesbias.models.word_draws import keeps_summaries, mean_over_words
from bayesbias.words import CONTROLS, controls_of, labelled

LEAST_RATIO = 0.95
GIVEN, SIMILAR = "given", "similar"
POPULATIONS = {
    GIVEN: "these protected words and attribute lists like these",
    SIMILAR: "protected words and attribute lists like these",
}
"""What a whole-list contrast speaks about, in words."""
COLUMNS = ["protected_word", "mean", "sd", "low", "high", "p_below_zero", "p_in_rope"]


def contrasts(
    post: xr.DataTree,
    first: str = "associated",
    second: str | None = None,
    prob: float = PROB,
    rope: float | tuple[float, float] | None = None,
    population: str = GIVEN,
    by: str = "protected_word",
) -> pd.DataFrame:
    """The difference of two connections' mean distances, for the whole list and for each protected word or group.

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
        ``"protected_word"``, or ``"group"``: the mean over the protected words of each group, and the differences of
        groups, for these protected words.

    Returns
    -------
    DataFrame
        First the whole list (``protected_word`` is pd.NA): the mean over the protected words with both connections, or
        ``connection_mean[first] - connection_mean[second]`` for similar ones. Then each protected word that has
        distances under both connections. Columns ``protected_word``, ``mean``, ``sd``, ``low``, ``high``
        (cosine distance), ``p_below_zero``, ``p_in_rope`` (NaN without a rope). With ``by="group"`` there is ``group``
        in place of ``protected_word``: one row a group, and one for each two groups (``g - h``, negative: the contrast
        of g is the smaller one). ``bb.to_latex`` names the first row as it writes the table. ``attrs["population"]``
        names the population; ``attrs["left_out"]`` the words without one of the two connections; ``attrs["cluster"]``
        is the :class:`ClusterInterval` of the whole list, and ``attrs["sd_ratio"]`` the posterior sd over its standard
        error (NaN without one).

    Raises
    ------
    InputError
        A connection that the fit does not hold, the same one twice, a rope that is no region, another population, or
        groups of a fit that knows none.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> found = bb.contrasts(post)
    >>> found.attrs["first"], found.attrs["second"]
    ('associated', 'different')
    >>> found[["protected_word", "mean"]].round(2).head(3)
      protected_word  mean
    0           <NA> -0.01
    1           math  0.04
    2        algebra  0.05
    """
    check_fit(post, summaries=True)
    prob = probability(prob, "prob")
    one_of(by, ("protected_word", "group"), "by")
    region = interval(rope, "rope")
    one_of(population, tuple(POPULATIONS), "population")
    valid, filled = connections_of(post)
    first, second = contrasted(first, second, valid, filled)
    names = post["constant_data"]["protected_word"].to_numpy()
    kept = filled[:, [valid.index(first), valid.index(second)]].all(axis=1)
    groups = post["constant_data/group"].to_numpy()
    if by == "group" and population != GIVEN:
        raise InputError("contrasts of groups speak about these protected words: leave population as it is")
    if keeps_summaries(post):
        whole = whole_draws(post, (first, second), population) @ [1.0, -1.0]
        if by == "group":
            labels, draws = _group_means(post, first, second, groups[kept])
            table = _rows(by, labels, draws, prob, region)
        elif region is not None:
            raise InputError("a rope needs the draws of words, and this fit keeps summaries: fit with keep='draws'")
        else:
            single = _kept_contrasts(post, names[kept], first, second, prob)
            table = pd.concat([_rows(by, [pd.NA], whole[:, None], prob, region), single], ignore_index=True)
    else:
        whole, words = contrast_draws(post, first, second, population)
        if by == "group":
            labels, draws = group_draws(words[:, kept], groups[kept])
        else:
            labels, draws = [pd.NA, *names[kept]], np.column_stack([whole, words[:, kept]])
        table = _rows(by, labels, draws, prob, region)
    cluster = cluster_interval(post, first, second, prob)
    table.attrs = {
        "first": first,
        "second": second,
        "prob": prob,
        "rope": region,
        "population": population,
        "related": "sd_factor" in post["posterior"],
        "left_out": list(names[~kept]),
        **carried_labels(post),
        "cluster": cluster,
        "sd_ratio": float("nan") if cluster.reason else float(whole.std(ddof=1) / cluster.se),
    }
    return table


def _rows(
    by: str, labels: list[Any], draws: FloatArray, prob: float, region: tuple[float, float] | None
) -> pd.DataFrame:
    """One row for each column of draws (D, labels)."""
    table = pd.DataFrame({by: pd.array(labels, dtype="string"), **describe(draws, prob)})
    table["p_below_zero"] = (draws < 0).mean(axis=0)
    inside = np.nan if region is None else ((draws >= region[0]) & (draws <= region[1])).mean(axis=0)
    table["p_in_rope"] = inside
    return table[[by, *COLUMNS[1:]]]


def _kept_contrasts(post: xr.DataTree, words: NDArray[np.str_], first: str, second: str, prob: float) -> pd.DataFrame:
    """Rows of single words, from the summaries that a fit keeps of them."""
    kept = post[WORDS].to_dataset().sel(protected_word=words)
    turned = f"{first} - {second}" not in kept["contrast"].to_numpy()
    if turned and f"{second} - {first}" not in kept["contrast"].to_numpy():
        raise InputError(
            f"this fit keeps summaries of {', '.join(kept['contrast'].to_numpy())}, not of {first} - {second}: fit "
            "with keep='draws', or take bb.checks.word_draws(post, words)"
        )
    kept = kept.sel(contrast=f"{second} - {first}" if turned else f"{first} - {second}")
    found = dict(word_statistics(kept, "word_contrast", prob))
    below = kept["word_contrast"].sel(statistic="p_below_zero").to_numpy()
    if turned:
        low, high = found["low"], found["high"]
        found |= {"mean": -found["mean"], "low": -high, "high": -low}
        below = 1 - below
    table = pd.DataFrame({"protected_word": pd.array(words, dtype="string"), **found})
    return table.assign(p_below_zero=below, p_in_rope=np.nan)


def whole_draws(post: xr.DataTree, connections: Sequence[str], population: str) -> FloatArray:
    """Draws (D, connections) of means over the words that have all of some connections, or of similar words."""
    if population == GIVEN:
        found = mean_over_words(post[WORDS].to_dataset(), connections)
        if found is not None:
            return found
    return flat_draws(post["posterior/connection_mean"].sel(connection=list(connections)).to_numpy())


def _group_means(post: xr.DataTree, first: str, second: str, groups: NDArray[np.str_]) -> tuple[list[Any], FloatArray]:
    """Labels of groups and of each two of them, and draws of their mean contrasts, from sums over words."""
    words = post[WORDS].to_dataset()
    names = list(dict.fromkeys(groups.tolist()))
    means = [mean_over_words(words, (first, second), name) for name in names]
    columns = np.column_stack([mean @ [1.0, -1.0] for mean in means if mean is not None])
    return group_draws(columns, np.array(names))


def group_draws(words: FloatArray, groups: NDArray[np.str_]) -> tuple[list[Any], FloatArray]:
    """Labels of groups and of each two of them, and draws (D, labels) of their means over words (D, J)."""
    names = [str(name) for name in dict.fromkeys(groups.tolist())]
    if "" in names:
        raise InputError("the fit does not know the groups of all protected words: by='group' needs a column group")
    means = {name: words[:, groups == name].mean(axis=1) for name in names}
    pairs = {f"{one} - {other}": means[one] - means[other] for one, other in combinations(names, 2)}
    return [*means, *pairs], np.column_stack([*means.values(), *pairs.values()])


def cluster_sentence(table: pd.DataFrame) -> str:
    """What the cluster interval says, which takes attribute words for unrelated, beside a table of contrasts."""
    cluster, ratio = table.attrs["cluster"], table.attrs["sd_ratio"]
    if cluster.reason:
        return f"There is no interval with attribute words as clusters: {cluster.reason}."
    sentence = (
        f"A check that takes attribute words for unrelated, as if each were evidence of its own, gives "
        f"{signed(cluster.estimate)} ({100 * cluster.prob:g}% interval {signed(cluster.low)} to "
        f"{signed(cluster.high)}). The uncertainty of the whole list, for "
        f"{POPULATIONS[table.attrs['population']]}, is {ratio:.2f} times as large."
    )
    if ratio < LEAST_RATIO and not table.attrs["related"]:
        sentence += " The posterior is narrower than the choice of attribute words alone suggests: trust the wider one."
    return sentence


FEWEST_CONTROLS = 3
"""Control words below which their spread is not taken for a measure."""


def contrast_size(post: xr.DataTree, first: str, second: str) -> float | None:
    """A contrast of the whole list in spreads of control words: its mean over their standard deviation.

    The spread is the standard deviation, over the words of all control lists, of a word's mean distance to the
    protected words.

    Parameters
    ----------
    post
        A result of :func:`fit`.
    first, second
        Connections; the contrast is the mean of ``first`` minus that of ``second``, for these protected words.

    Returns
    -------
    float or None
        The ratio, with the sign of the contrast; None with fewer than three control words, or if they do not differ.

    Raises
    ------
    InputError
        A connection that the fit does not hold, or the same one twice.
    """
    check_fit(post, summaries=True)
    pair = contrasted(first, second, *connections_of(post))
    if keeps_summaries(post):
        draws = whole_draws(post, pair, GIVEN) @ [1.0, -1.0]
    else:
        draws = contrast_draws(post, *pair, GIVEN)[0]
    spread = control_spread(fit_data(post))
    return None if spread is None else float(draws.mean()) / spread


def control_spread(data: ModelData) -> float | None:
    """The standard deviation of control words' mean distances to the protected words; None where it is not known."""
    names = data.connections.tolist()
    rows = np.isin(data.connection, [names.index(name) for name in controls_of(names)])
    counts = np.bincount(data.attribute[rows])
    sums = np.bincount(data.attribute[rows], weights=data.y[rows])
    means = sums[counts > 0] / counts[counts > 0]
    spread = float(means.std(ddof=1)) if len(means) >= FEWEST_CONTROLS else 0.0
    return spread if spread > 0 else None


HALF = 0.5
"""Of a spread: half of all normal values are farther than .67 spreads from their mean."""


def size_sentence(post: xr.DataTree, first: str, second: str) -> str:
    """Whether a contrast of the whole list is large, beside the spread of control words; or that this is unknown."""
    size, spread = contrast_size(post, first, second), control_spread(fit_data(post))
    if size is None or spread is None:
        return "Whether the contrast is large cannot be said: there are fewer than three control words to compare with."
    if abs(size) >= 1:
        where = "nearer to their mean than that"
    else:
        where = "farther from their mean than that" if abs(size) < HALF else "as far from their mean as that"
    return (
        f"Is {signed(size * spread)} large? It is {abs(size):.1f} times the spread of control words (the standard "
        f"deviation of single control words' mean distance to the protected words): single control words "
        f"typically lie {where}."
    )


def beside_associated(post: xr.DataTree) -> list[str]:
    """Connections that a fit can set beside associated, the headline first; empty without associated distances."""
    valid, filled = connections_of(post)
    return beside("associated", valid, filled) if "associated" in valid else []


def connections_of(post: xr.DataTree) -> tuple[list[str], NDArray[np.bool_]]:
    """Connections (K,) of a fit, and which protected words have which (J, K)."""
    cells = post["constant_data/n"]
    return cells["connection"].to_numpy().tolist(), cells.to_numpy() > 0


def contrast_draws(
    post: xr.DataTree, first: str, second: str, population: str = GIVEN
) -> tuple[FloatArray, FloatArray]:
    """Draws of a contrast: (D,) for the whole list, (D, protected words) for each, NaN where a cell is empty.

    The whole list is the mean of these protected words, or that of a population of similar ones.
    """
    posterior = post["posterior"]
    valid, filled = connections_of(post)
    first, second = contrasted(first, second, valid, filled)
    one_of(population, tuple(POPULATIONS), "population")
    a, b = valid.index(first), valid.index(second)
    word = flat_draws(posterior["word_mean"].to_numpy())
    words = word[:, :, a] - word[:, :, b]
    both = ~np.isnan(words).any(axis=0)
    if population == GIVEN and both.any():
        return words[:, both].mean(axis=1), words
    mean = flat_draws(posterior["connection_mean"].to_numpy())
    return mean[:, a] - mean[:, b], words


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

    Raises
    ------
    InputError
        A fit of distances that are not adjusted.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, adjust="length", seed=0)
    >>> bb.checks.adjustment(post)["contrast"].tolist()
    ['associated - different', 'associated - human', 'associated - neutral']
    """
    check_fit(post)
    prob = probability(prob, "prob")
    if GROUP not in post.children:
        raise InputError("the distances of this fit are not adjusted: fit(table, adjust='frequency') adjusts them")
    raw = post.copy()
    raw["posterior"] = xr.DataTree(post["posterior"].dataset.assign(word_mean=post[f"{GROUP}/raw_word_mean"]))
    rows = []
    for other in beside_associated(post):
        row: dict[str, object] = {"contrast": f"associated - {other}"}
        for name, tree in (("raw", raw), ("adjusted", post)):
            found = describe(contrast_draws(tree, "associated", other, GIVEN)[0][:, None], prob)
            row |= {name: found["mean"][0], f"{name}_low": found["low"][0], f"{name}_high": found["high"][0]}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs = {**json.loads(post[GROUP].attrs["facts"]), "prob": prob}
    return table


OWN, OTHER = "associated", "different"
MINUS = " \N{MINUS SIGN} "
ONE_GROUP = (
    "With one group only it cannot be told how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""What a fit without distances to other groups' stereotypes leaves open."""
PARTS = ["protected_word", "contrast", "mean", "sd", "low", "high", "p_below_zero"]


class Parts(NamedTuple):
    """Draws of two parts and their sum.

    Attributes
    ----------
    labels
        The three contrasts.
    whole, words
        Draws (D, 3) of the whole list and (D, kept words, 3) of protected words, in the order of ``labels``; the
        third is the sum of the first two.
    kept
        Which protected words (J,) have all three connections.
    """

    labels: tuple[str, str, str]
    whole: FloatArray
    words: FloatArray
    kept: np.ndarray


def decomposition(
    post: xr.DataTree, second: str | None = None, prob: float = PROB, population: str = GIVEN
) -> pd.DataFrame:
    """A contrast of associated words as the sum of what is special to them and what all stereotype words share.

    (associated - human) = (associated - different) + (different - human), draw by draw. The first part says how much
    closer protected words are to their own stereotypes than to those of other groups. The second says how much closer
    they are to the stereotypes of other groups than to control words: that is so for stereotype words of any kind.

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
        Three rows for the whole list (``protected_word`` is pd.NA), then three for each protected word that has
        distances under all three connections: ``associated - different``, ``different - human``, ``associated -
        human``. Columns ``protected_word``, ``contrast``, ``mean``, ``sd``, ``low``, ``high`` (cosine
        distance), ``p_below_zero``. For these protected words the whole list is their mean. ``attrs`` holds
        ``second``, ``prob``, ``population`` and ``left_out``, the words without one of the three connections.

    Raises
    ------
    InputError
        A connection that the fit does not hold: with one group there are no stereotypes of others. Or ``second`` is
        no control list, another population, or no protected word with all three connections.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> post = bb.fit(table, seed=0)
    >>> bb.decomposition(post)[["protected_word", "contrast", "mean"]].round(3).head(3)
      protected_word                contrast   mean
    0           <NA>  associated - different -0.015
    1           <NA>       different - human -0.005
    2           <NA>      associated - human -0.019
    """
    check_fit(post, summaries=True)
    prob = probability(prob, "prob")
    names = post["constant_data"]["protected_word"].to_numpy()
    if keeps_summaries(post):
        table, labels, kept = _kept_parts(post, second, prob, population)
    else:
        parts = decomposition_draws(post, second, population)
        table, labels, kept = tabulated(parts, names, prob), parts.labels, parts.kept
    table.attrs = {
        "second": labels[2].split(" - ")[1],
        "prob": prob,
        "population": population,
        "left_out": names[~kept].tolist(),
        **carried_labels(post),
    }
    return table


def _kept_parts(
    post: xr.DataTree, second: str | None, prob: float, population: str
) -> tuple[pd.DataFrame, tuple[str, str, str], NDArray[np.bool_]]:
    """The rows of a decomposition, its contrasts and its words, of a fit that keeps summaries of them."""
    one_of(population, tuple(POPULATIONS), "population")
    valid, filled = connections_of(post)
    second = control_of_parts(valid, second)
    three = (OWN, OTHER, second)
    kept = filled[:, [valid.index(name) for name in three]].all(axis=1)
    if not kept.any():
        raise InputError(f"no protected word has associated, different and {second} distances")
    whole = whole_draws(post, three, population)
    parts = parts_of(whole[:, None, :], whole, second)
    words = post["constant_data"]["protected_word"].to_numpy()[kept]
    names = [(OWN, OTHER), (OTHER, second), (OWN, second)]
    single = [
        _kept_contrasts(post, words, first, other, prob).assign(contrast=label)
        for label, (first, other) in zip(parts.labels, names, strict=True)
    ]
    rows = pd.concat(single).sort_index(kind="stable")[PARTS]
    return pd.concat([tabulated(parts, words[:1], prob)[:3], rows], ignore_index=True), parts.labels, kept


def decomposition_draws(post: xr.DataTree, second: str | None = None, population: str = GIVEN) -> Parts:
    """Draws of the two parts and their sum; see :func:`decomposition`."""
    check_fit(post)
    one_of(population, tuple(POPULATIONS), "population")
    posterior = post["posterior"]
    valid = [str(name) for name in posterior["connection"].to_numpy()]
    second = control_of_parts(valid, second)
    at = [valid.index(name) for name in (OWN, OTHER, second)]
    means = flat_draws(posterior["word_mean"].to_numpy())[:, :, at]
    whole = None if population == GIVEN else flat_draws(posterior["connection_mean"].to_numpy())[:, at]
    return parts_of(means, whole, second)


def parts_of(means: FloatArray, whole: FloatArray | None, second: str) -> Parts:
    """The parts of draws (D, J, 3) of associated, different and control means.

    Parameters
    ----------
    means
        NaN where a cell is empty.
    whole
        Means (D, 3) of a population; None takes the protected words with all three.
    second
        Name of the control words.
    """
    kept = ~np.isnan(means).any(axis=(0, 2))
    if not kept.any():
        raise InputError(f"no protected word has associated, different and {second} distances")
    held = means[:, kept]
    labels = (f"{OWN} - {OTHER}", f"{OTHER} - {second}", f"{OWN} - {second}")
    return Parts(labels, _summed(held.mean(axis=1) if whole is None else whole), _summed(held), kept)


def _summed(means: FloatArray) -> FloatArray:
    """Draws (..., 3) of two differences and their sum, from those of three means."""
    special, shared = means[..., 0] - means[..., 1], means[..., 1] - means[..., 2]
    return np.stack([special, shared, special + shared], axis=-1)


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


def decomposable_controls(post: xr.DataTree) -> list[str]:
    """The same for a fit."""
    valid, filled = connections_of(post)
    return decomposable(filled, valid)


def control_of_parts(valid: list[str], second: str | None) -> str:
    """The control list of a decomposition, of connections that have one.

    Raises
    ------
    InputError
        ``second`` is no control list, or one of the three connections is missing.
    """
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
    """The table of :func:`decomposition`: whole list first, three rows each."""
    draws = np.concatenate([parts.whole[:, None], parts.words], axis=1).reshape(len(parts.whole), -1)
    words = np.array([pd.NA, *names[parts.kept]], dtype=object)
    table = pd.DataFrame(
        {
            "protected_word": pd.array(np.repeat(words, 3), dtype="string"),
            "contrast": pd.array(list(parts.labels) * len(words), dtype="string"),
            **describe(draws, prob),
            "p_below_zero": (draws < 0).mean(axis=0),
        }
    )
    return table[PARTS]


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
    for row, said in zip(
        table.iloc[:3].to_dict("records"), ("", "", f"{100 * table.attrs['prob']:g}% interval "), strict=True
    ):
        ends = f"{figure(row['low'])} to {figure(row['high'])}"
        what = labelled(row["contrast"], table.attrs.get("labels", {})).replace(" - ", MINUS)
        parts.append(f"{of}{what}, {figure(row['mean'])} ({said}{ends})")
    special, shared, total = parts
    return (
        f"{total[0].upper()}{total[1:]}, is the sum of {special}, which is special to a word's own stereotypes, and "
        f"{shared}, which stereotype words of any kind share."
    )
