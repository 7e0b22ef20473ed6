"""The nine patterns of an association test of two groups, with their posterior probabilities."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._checks import finite_number, whole_number
from bayesbias.comparison.associations import DIFFERENCE, GIVEN, rows_of
from bayesbias.errors import InputError, listed
from bayesbias.models.results import Fit
from bayesbias.words import OTHER, OWN

SIDES = ("own", "neither", "other")
"""Which list a group's words are nearer to: that of the group, neither, or that of the other group."""
DRAWS = 40_000
COLUMNS = ["pattern", "first", "second", "probability"]


def patterns(post: xr.DataTree, rope: float = 0.02, seed: int = 0) -> pd.DataFrame:
    """Probability of each pattern of two groups: whether the words of each are nearer to their own list or the other.

    The single-category tests of ML-EAT (Wolfe, Hiniker and Howe 2024) sort an association test into nine outcomes by
    two effect sizes, one for each group. These are their posterior probabilities, for these protected words and
    attribute lists like these. The two differences hold how near each list is to all words, so that both groups may be
    nearer to one list without any bias: what the groups do not share is the association
    (:func:`bayesbias.association`).

    Parameters
    ----------
    post
        A result of :func:`fit` with two groups and the stereotypes of both, by the model ``related``.
    rope
        Difference of mean distances up to which a group is nearer to neither list; 0 leaves four patterns.
    seed
        Of the draws from the posterior.

    Returns
    -------
    DataFrame
        One row for each pattern, the most probable first: ``pattern`` in words, ``first`` and ``second`` (``own``,
        ``neither`` or ``other``, of the two groups in ``attrs["groups"]``) and ``probability``, which sum to 1.

    References
    ----------
    Wolfe, R., Hiniker, A. and Howe, B. (2024). ML-EAT: A multilevel embedding association test for interpretable and
    transparent social science. https://doi.org/10.48550/arXiv.2408.01966

    Examples
    --------
    >>> post = bb.fit(bb.distance_table("google-news-slice", "gender"), seed=0)
    >>> bb.checks.patterns(post).loc[0, "pattern"]
    'man nearer to the other list; woman nearer to its own list'
    """
    result = Fit.read(post)
    rope = finite_number(rope, "rope")
    if rope < 0:
        raise InputError(f"rope is {rope}: give the largest difference that counts as none, at least 0")
    seed = whole_number(seed, "seed", least=0, most=None)
    groups = [name for name in result.data.group_names if name]
    if len(groups) != 2 or not {OWN, OTHER} <= set(result.data.connections.tolist()):
        raise InputError(
            f"patterns are those of two groups with a stereotype list each; the fit has {listed(groups) or 'no groups'}"
        )
    if not result.related:
        raise InputError(
            f"the model {result.model} counts the nearness of a list to all words as an effect of its words, so that "
            "it is not in the rows: give a fit of a table with relatedness (model related)"
        )
    rows = rows_of(result, OWN, OTHER, GIVEN, DIFFERENCE)
    of_group = np.stack([result.data.groups[rows.kept] == name for name in groups]).astype(float)
    if not of_group.any(axis=1).all():
        raise InputError("the words of a group lack distances to one of the lists: there are no patterns")
    means = rows.words.combined(of_group / of_group.sum(axis=1, keepdims=True))
    drawn = means.draws(DRAWS, np.random.default_rng(seed))
    side = np.where(drawn < -rope, 0, np.where(drawn > rope, 2, 1))
    share = np.bincount(3 * side[:, 0] + side[:, 1], minlength=9) / len(side)
    table = pd.DataFrame(
        [
            ("; ".join(map(_said, groups, sides)), *sides, float(share[i]))
            for i, sides in enumerate(product(SIDES, repeat=2))
        ],
        columns=COLUMNS,
    )
    table = table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)
    table.attrs = {"groups": groups, "rope": rope}
    return table


def _said(group: str, side: str) -> str:
    whose = {"own": "its own list", "neither": "neither", "other": "the other list"}[side]
    return f"{group} nearer to {whose}"
