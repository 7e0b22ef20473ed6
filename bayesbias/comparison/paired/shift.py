"""Cosine similarities near 0 before and after: the shares of section 5.2 of the published study."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayesbias._checks import finite_number
from bayesbias.comparison.paired.results import Comparison
from bayesbias.errors import InputError
from bayesbias.words import CONTROLS


def similarity_shift(
    result: Comparison, mac: float | None = None, before: str | None = None, after: str | None = None
) -> pd.DataFrame:
    """How many cosine similarities lie within 0 plus or minus 1 - MAC, before and after.

    The study takes 1 - MAC, which the authors of MAC held to be a sign of bias, as a yardstick of what words without a
    bias do.

    Parameters
    ----------
    result
        What :func:`compare` returns.
    mac
        The mean average cosine distance; None takes that of the pairs before, over protected words and stereotype
        lists.
    before, after
        Two of the embeddings, where there are more than two.

    Returns
    -------
    DataFrame
        One row a connection: ``connection``, ``n`` (pairs), ``before``, ``after`` (shares within the limit).
        ``attrs["mac"]`` and ``attrs["limit"]`` are the yardstick.

    Raises
    ------
    InputError
        There are no stereotype words to take MAC of, or a MAC outside [0, 2].

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2), figures 15 to 17. https://doi.org/10.1162/coli_a_00507
    """
    if not isinstance(result, Comparison):
        raise InputError(f"given is {type(result).__name__}: similarity_shift takes what compare returns")
    pairs = paired_distances(result, before, after)
    if mac is None:
        own = pairs[~pairs["connection"].isin(CONTROLS)]
        if own.empty:
            raise InputError("there are no stereotype words to take MAC of: pass mac=")
        mac = float(own.groupby(["protected_word", "attribute_class"])["before"].mean().mean())
    elif not 0 <= finite_number(mac, "mac") <= 2:
        raise InputError(f"mac is {mac!r}: give a mean cosine distance, from 0 to 2")
    limit = abs(1 - mac)
    inside = pairs.assign(**{side: (1 - pairs[side]).abs() < limit for side in ("before", "after")})
    by = inside.groupby("connection", sort=False)
    table = by.agg(n=("before", "size"), before=("before", "mean"), after=("after", "mean"))
    table = table.reindex([name for name in result.connections if name in table.index]).reset_index()
    table.attrs = {"mac": mac, "limit": limit}
    return table


def paired_distances(result: Comparison, before: str | None = None, after: str | None = None) -> pd.DataFrame:
    """The pairs of a comparison: ``protected_word``, ``attribute_class``, ``connection``, ``before``, ``after``."""
    names = result.pair(result.place(before, after))
    constant = result.posterior["constant_data"].to_dataset()
    distance = result.posterior["observed_data/distance"]
    return pd.DataFrame(
        {
            "protected_word": constant["protected_word"].to_numpy()[constant["word_index"].to_numpy()],
            "attribute_class": constant["attribute_class"].to_numpy(),
            "connection": np.array(result.connections)[constant["connection_index"].to_numpy()],
            "before": distance.sel(embedding=names[0]).to_numpy(),
            "after": distance.sel(embedding=names[1]).to_numpy(),
        }
    )
