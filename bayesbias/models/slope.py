"""Posteriors of adjusted distances: the error of a common slope, and the fit before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from bayesbias._support.files import to_json
from bayesbias.distances.adjustment import Adjustment
from bayesbias.models.tree import ADJUSTMENT, Fit


def with_slope(post: xr.DataTree, adjustment: Adjustment, seed: int) -> xr.DataTree:
    """The fit with the uncertainty of the common slope in its means: the posterior variable ``slope`` has its draws."""
    if adjustment.slope is None:
        return post
    slope, posterior = adjustment.slope, post["posterior"].dataset
    steps = (posterior.sizes["chain"], posterior.sizes["draw"])
    moved = slope.se * np.random.default_rng([seed, 2]).standard_t(slope.df, steps)
    data = Fit(post).data
    value = adjustment.attribute.of(data.attribute_words)[data.attribute] - adjustment.reference
    by_cell = np.where(data.filled, replace(data, y=value).cells.mean, np.nan)
    changed = posterior.assign(
        word_mean=posterior["word_mean"] - moved[:, :, None, None] * by_cell,
        connection_mean=posterior["connection_mean"] - moved[:, :, None] * np.nanmean(by_cell, axis=0),
        slope=(("chain", "draw"), slope.value + moved),
    )
    tree = post.copy()
    tree["posterior"] = xr.DataTree(changed)
    return tree


def recorded(post: xr.DataTree, adjustment: Adjustment, raw: xr.DataTree) -> xr.DataTree:
    """The fit with a group ``adjustment``: raw distances, words' values, and the means of the fit before."""
    result = Fit(post)
    data = result.data
    ordered = adjustment.expected.reindex(index=data.protected_words, columns=data.attribute_words)
    expected = ordered.to_numpy()[data.word, data.attribute]
    group = xr.Dataset(
        {
            "raw_distance": ("pair", data.y + expected),
            "value": ("attribute_word", adjustment.attribute.of(data.attribute_words)),
            "raw_word_mean": raw["posterior/word_mean"],
        },
        coords={"pair": post["observed_data"]["pair"].to_numpy(), "attribute_word": data.attribute_words},
        attrs={"facts": to_json(adjustment.facts())},
    )
    tree = post.copy()
    tree[ADJUSTMENT] = xr.DataTree(group)
    notes = [*result.notes, *adjustment.sentences]
    tree.attrs = {**post.attrs, "adjust": adjustment.attribute.name, "notes": to_json(notes)}
    return tree
