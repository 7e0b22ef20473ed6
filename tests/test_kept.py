"""Tests would share a result that the package no longer makes."""

import pandas as pd
import xarray as xr
from gensim.models import KeyedVectors


def figures(result):
    """A result as a frame of numbers."""
    if isinstance(result, xr.DataTree):
        return result["posterior"].to_dataset()[["word_mean", "connection_mean"]].to_dataframe()
    if isinstance(result, KeyedVectors):
        return pd.DataFrame(result.vectors, index=result.index_to_key)
    return result if isinstance(result, pd.DataFrame) else result.table()


def test_kept_results_are_what_a_fresh_call_gives(kept):
    for name in kept:
        pd.testing.assert_frame_equal(figures(kept(name)), figures(kept.fresh(name)), check_exact=True)
