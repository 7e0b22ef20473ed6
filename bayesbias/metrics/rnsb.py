"""Relative negative sentiment bias: how unevenly a sentiment classifier treats target words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, rel_entr

from bayesbias._checks import flag, whole_number
from bayesbias._core.logistic import fit_logistic
from bayesbias._core.vectors import FloatArray
from bayesbias.errors import InputError
from bayesbias.metrics.base import Measured, Metric, Option, Sets

HELD_OUT = 0.2


def rnsb(
    targets: Sets,
    attributes: Sets,
    holdout: bool | None = None,
    train: Sequence[int] | None = None,
    seed: int = 0,
    compat: str | None = None,
) -> Measured:
    """Kullback-Leibler divergence (natural log) of the target words' negative probabilities from the uniform.

    A logistic regression separates the words of the first attribute set (positive) from the second (negative); the
    probabilities of the second, over all target words, are scaled to sum 1. Fitted to convergence on all attribute
    words, unless ``holdout`` leaves a fifth of them out or ``train`` names the rows (of the first set, then the second)
    to learn from. ``compat="wefe"`` fits with WEFE's solver and tolerance (scikit-learn's liblinear), and holds out by
    default as WEFE does.
    """
    x = np.vstack(attributes)
    positive = np.arange(len(x)) < len(attributes[0])
    rows = _rows(positive, compat == "wefe" if holdout is None else holdout, train, seed)
    fitted = _liblinear if compat == "wefe" else fit_logistic
    w = fitted(x[rows], positive[rows])
    negative = expit(-(np.vstack(targets) @ w[:-1] + w[-1]))
    shares = negative / negative.sum()
    return Measured(float(rel_entr(shares, 1 / len(shares)).sum()), shares)


def _rows(positive: np.ndarray, holdout: bool, train: Sequence[int] | None, seed: int) -> np.ndarray:
    """The attribute words that the classifier learns from."""
    every = np.arange(len(positive))
    if train is not None and holdout:
        raise InputError("holdout and train are given both: one of them says which words the classifier learns from")
    if train is not None:
        rows = np.asarray(train)
        if rows.max() >= len(every):
            raise InputError(f"train holds the row {rows.max()}: the attribute words found are 0 to {len(every) - 1}")
    elif holdout:
        from sklearn.model_selection import train_test_split

        rows = train_test_split(every, test_size=HELD_OUT, random_state=seed, stratify=positive)[0]
    else:
        rows = every
    if positive[rows].all() or not positive[rows].any():
        raise InputError("the classifier would learn from words of one attribute set only: give more words, or train")
    return rows


def _checked_train(value: object, name: str) -> object:
    if value is None:
        return None
    rows = np.asarray(value)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or rows.min() < 0:
        raise InputError(f"{name} is {value!r}: give the rows of attribute words to learn from, whole numbers from 0")
    return rows


def _liblinear(x: FloatArray, positive: np.ndarray) -> FloatArray:
    from sklearn.linear_model import LogisticRegression

    found = LogisticRegression(solver="liblinear", max_iter=10_000).fit(x, positive)
    coefficients: FloatArray = np.r_[found.coef_[0], found.intercept_]
    return coefficients


METRICS = (
    Metric(
        name="rnsb",
        title="RNSB",
        measure=rnsb,
        targets=(1, None),
        attributes=(2, 2),
        words="targets",
        optimum=0.0,
        bounds=lambda sizes, options: (0.0, float(np.log(sum(sizes)))),
        options={
            "holdout": Option(None, lambda value, name: value if value is None else flag(value, name)),
            "train": Option(None, _checked_train),
            "seed": Option(0, lambda value, name: whole_number(value, name, least=0)),
        },
        source="Sweeney and Najafian (2019)",
        doi="10.18653/v1/P19-1162",
        compat=True,
    ),
)
