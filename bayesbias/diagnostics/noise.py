"""What a statistic is worth where distances are plain noise: no bias, no vectors, no words."""

from __future__ import annotations

import numpy as np

from bayesbias._checks import finite_number, one_of, whole_number
from bayesbias.diagnostics.null_lists import Places
from bayesbias.diagnostics.null_results import NullDistribution
from bayesbias.diagnostics.null_statistics import BLOCK, named_value, stereotype_cells
from bayesbias.errors import InputError


def noise_null(
    protected: int = 16,
    attributes: int = 16,
    sd: float = 0.08,
    statistic: str = "weat",
    draws: int = 10_000,
    seed: int = 0,
    observed: float = 1.27,
) -> NullDistribution:
    """A statistic when every distance is drawn from N(0, sd^2): no bias, no vectors, no words.

    Half of the protected words belong to each of two groups, half of the attributes to each of two stereotype lists.
    The defaults are those of the simulation behind Figure 10 of Dobrzeniecka and Urbaniak (2024). Their text says that
    around 38% of such samples have a WEAT score at least as extreme as 1.27; by WEAT's definition 0.9% do, both sides
    taken together. Above 1.27 are 38% of the samples if the groups' sums stand in the numerator in place of means.

    Parameters
    ----------
    protected, attributes
        Even numbers of words.
    sd
        Of the distances.
    statistic
        ``"weat"``, ``"mac"`` or ``"associated - different"``.
    draws, seed
        Number and seed of the samples.
    observed
        The value to find among them.

    Raises
    ------
    InputError
        A number of words that is odd or below 2, an sd that is not positive, an unknown statistic.

    References
    ----------
    Dobrzeniecka, A. and Urbaniak, R. (2024). A Bayesian approach to uncertainty in word embedding bias estimation.
    Computational Linguistics 50(2). https://doi.org/10.1162/coli_a_00507
    """
    for name, number in (("protected", protected), ("attributes", attributes)):
        if whole_number(number, name, least=2) % 2:
            raise InputError(f"{name} is {number}: give an even number, half of it for each of two groups")
    sd, observed = finite_number(sd, "sd", positive=True), finite_number(observed, "observed")
    one_of(statistic, ("weat", "mac", "associated - different"), "statistic")
    draws = whole_number(draws, "draws")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    group, listed = np.repeat([0, 1], protected // 2), np.repeat([0, 1], attributes // 2)
    own = np.tile(listed, (protected, 1))
    places = Places((own != group[:, None]).astype(np.intp), own, group)
    size = max(1, BLOCK // (protected * attributes))
    counts = (min(size, draws - begin) for begin in range(0, draws, size))
    blocks = (rng.normal(0, sd, (protected, count, attributes)) for count in counts)
    values = np.concatenate([named_value(statistic, stereotype_cells(block, places), places.group) for block in blocks])
    return NullDistribution(statistic, f"noise with sd {sd:g}", observed, values, 0.0, 0)
