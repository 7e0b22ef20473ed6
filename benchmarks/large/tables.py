"""Simulated distance tables in any size, with or without holes."""

import numpy as np
import pandas as pd


def simulated(protected, attributes, holes=0.0, seed=0):
    """Two groups, their stereotypes, human and neutral words in equal parts; a share of the pairs is missing."""
    rng, part = np.random.default_rng(seed), attributes // 4
    classes = np.array(["a"] * part + ["b"] * part + ["human"] * part + ["neutral"] * (attributes - 3 * part))
    groups = np.array(["a", "b"])[np.arange(protected) % 2]
    word, attribute = np.arange(protected).repeat(attributes), np.tile(np.arange(attributes), protected)
    own = np.where(classes[attribute] == groups[word], "associated", "different")
    connection = np.where(np.isin(classes[attribute], ["human", "neutral"]), classes[attribute], own)
    codes = pd.factorize(connection)[0]
    mean = (
        0.9
        + 0.02 * rng.standard_normal((protected, 4))[word, codes]
        + 0.03 * rng.standard_normal(attributes)[attribute]
    )
    table = pd.DataFrame(
        {
            "protected_word": pd.Categorical.from_codes(word, [f"p{at}" for at in range(protected)]),
            "group": pd.Categorical(groups[word]),
            "attribute_word": pd.Categorical.from_codes(attribute, [f"w{at}" for at in range(attributes)]),
            "attribute_class": pd.Categorical(classes[attribute]),
            "connection": pd.Categorical(connection),
            "distance": mean + 0.05 * rng.standard_normal(len(word)),
        }
    )
    return table[rng.random(len(table)) >= holes].reset_index(drop=True) if holes else table
