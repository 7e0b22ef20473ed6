"""``decomposition``: what of a contrast is special to own stereotypes, and what stereotype words of any kind share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesbias._checks import one_of, probability
from bayesbias._core.cosine import FloatArray
from bayesbias.comparison.contrasting import GIVEN, POPULATIONS, connections_of, signed
from bayesbias.diagnostics.intervals import PROB, describe, flat_draws
from bayesbias.errors import InputError
from bayesbias.models.results import check_fit
from bayesbias.words import CONTROLS

OWN, OTHER = "associated", "different"
MINUS = " \N{MINUS SIGN} "
ONE_GROUP = (
    "With one group only it cannot be told how much of this is special to its own stereotypes, and how much is shared "
    "by stereotype words of any kind."
)
"""What a fit without distances to other groups' stereotypes leaves open."""
COLUMNS = ["protected_word", "contrast", "mean", "sd", "hdi_low", "hdi_high", "p_below_zero"]


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
    post: xr.DataTree, second: str = "human", prob: float = PROB, population: str = GIVEN
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
        The control words, ``"human"`` or ``"neutral"``.
    prob
        Posterior mass of the highest-density intervals.
    population
        What the rows of the whole list speak about, as in :func:`contrasts`.

    Returns
    -------
    DataFrame
        Three rows for the whole list (``protected_word`` is pd.NA), then three for each protected word that has
        distances under all three connections: ``associated - different``, ``different - human``, ``associated -
        human``. Columns ``protected_word``, ``contrast``, ``mean``, ``sd``, ``hdi_low``, ``hdi_high`` (cosine
        distance), ``p_below_zero``. For these protected words the whole list is their mean. ``attrs`` holds
        ``second``, ``prob``, ``population`` and ``left_out``, the words without one of the three connections.

    Raises
    ------
    InputError
        A connection that the fit does not hold: with one group there are no stereotypes of others. Or ``second`` is
        no control list, another population, or no protected word with all three connections.
    """
    prob = probability(prob, "prob")
    parts = decomposition_draws(post, second, population)
    names = post["posterior"]["protected_word"].to_numpy()
    table = tabulated(parts, names, prob)
    table.attrs = {
        "second": second,
        "prob": prob,
        "population": population,
        "left_out": names[~parts.kept].tolist(),
    }
    return table


def decomposition_draws(post: xr.DataTree, second: str = "human", population: str = GIVEN) -> Parts:
    """Draws of the two parts and their sum; see :func:`decomposition`."""
    check_fit(post)
    one_of(population, tuple(POPULATIONS), "population")
    posterior = post["posterior"]
    valid = [str(name) for name in posterior["connection"].to_numpy()]
    check_parts(valid, second)
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
    """Control lists, human first, whose contrast with associated words has a decomposition.

    Parameters
    ----------
    filled
        Which protected words have which connections (J, K).
    valid
        Names of the K connections.
    """
    return [
        name
        for name in reversed(CONTROLS)
        if {OWN, OTHER, name} <= set(valid)
        and filled[:, [valid.index(OWN), valid.index(OTHER), valid.index(name)]].all(axis=1).any()
    ]


def decomposable_controls(post: xr.DataTree) -> list[str]:
    """The same for a fit."""
    valid, filled = connections_of(post)
    return decomposable(filled, valid)


def check_parts(valid: list[str], second: str) -> None:
    """Refuse connections that have no decomposition.

    Raises
    ------
    InputError
        ``second`` is no control list, or one of the three connections is missing.
    """
    one_of(second, CONTROLS, "second")
    missing = [name for name in (OWN, OTHER, second) if name not in valid]
    if OTHER in missing and OWN in valid:
        raise InputError(
            f"there are no distances to the stereotypes of other groups, only {', '.join(valid)}. {ONE_GROUP}"
        )
    if missing:
        raise InputError(f"there are no {missing[0]} distances, only {', '.join(valid)}")


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
    return table[COLUMNS]


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
        ends = f"{figure(row['hdi_low'])} to {figure(row['hdi_high'])}"
        parts.append(f"{of}{row['contrast'].replace(' - ', MINUS)}, {figure(row['mean'])} ({said}{ends})")
    special, shared, total = parts
    return (
        f"{total[0].upper()}{total[1:]}, is the sum of {special}, which is special to a word's own stereotypes, and "
        f"{shared}, which stereotype words of any kind share."
    )
