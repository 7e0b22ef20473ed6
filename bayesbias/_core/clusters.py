"""The interval of a contrast of cell-balanced means with attribute words as clusters; no model."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from bayesbias._core.cells import Cells, IntArray
from bayesbias._core.cosine import FloatArray


@dataclass(frozen=True)
class Clustered:
    """A contrast, its standard error, Satterthwaite's degrees of freedom and the words of each list behind it."""

    estimate: float
    se: float
    df: float
    words: IntArray


def clustered_contrast(
    word: IntArray,
    connection: IntArray,
    attribute: IntArray,
    list_of_attribute: IntArray,
    y: FloatArray,
    cells: Cells,
    first: int,
    second: int,
) -> Clustered:
    """Mean over protected words of the difference of two cell means, as a sum over attribute words.

    Attribute words of one list are independent draws: the variance of the sum is the sum over lists of n times the
    variance of a word's contribution. With complete lists this is the leave-one-word-out jackknife.

    Parameters
    ----------
    word, connection, attribute
        Arrays (rows): protected word, connection and attribute word.
    list_of_attribute
        The list of each attribute word.
    y
        Array (rows): distances.
    cells
        Count and mean by protected word and connection.
    first, second
        The two connections; the standard error is NaN where a list has one word.
    """
    both = (cells.n[:, first] > 0) & (cells.n[:, second] > 0)
    sign = np.where(connection == first, 1.0, np.where(connection == second, -1.0, 0.0))
    weight = sign * both[word] / (max(int(both.sum()), 1) * cells.n[word, connection])
    apart = y - cells.mean[word, connection]
    size = len(list_of_attribute)
    used = np.bincount(attribute, weights=np.abs(weight), minlength=size) > 0
    contribution = np.bincount(attribute, weights=weight * apart, minlength=size)
    members = [np.flatnonzero(used & (list_of_attribute == at)) for at in np.unique(list_of_attribute[used])]
    n = np.array([len(rows) for rows in members])
    estimate = float((weight * y).sum())
    if not both.any() or (n < 2).any():
        return Clustered(estimate if both.any() else float("nan"), float("nan"), float("nan"), n)
    variance = n * np.array([contribution[rows].var(ddof=1) for rows in members])
    total = variance.sum()
    df = total**2 / (variance**2 / (n - 1)).sum() if total > 0 else float("inf")
    return Clustered(estimate, float(np.sqrt(total)), float(df), n)


def t_ends(estimate: float, se: float, df: float, prob: float) -> tuple[float, float]:
    """Ends of the central interval of Student's t."""
    half = se * float(stdtrit(df, 0.5 + prob / 2))
    return estimate - half, estimate + half
