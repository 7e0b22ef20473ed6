"""The same contrasts under the published model and under the crossed one, and what changed."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from bayesbias.comparison import beside_associated, contrasts, signed
from bayesbias.models.fitting import fit
from bayesbias.models.results import distances_of

COUNTERPART = "published"
INSTEAD = "crossed"


def side_by_side(post: xr.DataTree, prob: float) -> pd.DataFrame:
    """Whole-list contrasts under the fit's model and its counterpart, which is fitted to the same distances.

    Columns ``contrast``, ``model``, ``mean``, ``hdi_low``, ``hdi_high``, ``width``; the counterpart is the published
    model, or the crossed one where the fit is the published model's.
    """
    name = COUNTERPART if post.attrs["model"] != COUNTERPART else INSTEAD
    other = fit(distances_of(post), name, seed=int(post.attrs["seed"]))
    rows = []
    for second in beside_associated(post):
        for each in (other, post):
            row = contrasts(each, "associated", second, prob).iloc[0]
            width = row["hdi_high"] - row["hdi_low"]
            label = f"associated \N{MINUS SIGN} {second}"
            rows.append((label, each.attrs["model"], row["mean"], row["hdi_low"], row["hdi_high"], width))
    return pd.DataFrame(rows, columns=["contrast", "model", "mean", "hdi_low", "hdi_high", "width"])


def what_changed(table: pd.DataFrame) -> list[str]:
    """A sentence for each contrast of :func:`side_by_side`: how the width changed, and whether the conclusion did."""
    sentences = []
    for contrast, pair in table.groupby("contrast", sort=False):
        first, second = pair.to_dict("records")
        ratio = second["width"] / first["width"]
        sentence = (
            f"{contrast}: {signed(first['hdi_low'])} to {signed(first['hdi_high'])} under {first['model']}, "
            f"{signed(second['hdi_low'])} to {signed(second['hdi_high'])} under {second['model']}, {ratio:.2f} times "
            "as wide; "
        )
        settled = [row["hdi_low"] > 0 or row["hdi_high"] < 0 for row in (first, second)]
        if settled[0] == settled[1]:
            sentence += f"both intervals {'exclude' if settled[0] else 'include'} 0."
        else:
            names = (first["model"], second["model"]) if settled[0] else (second["model"], first["model"])
            sentence += f"the {names[0]} interval excludes 0, the {names[1]} one does not."
        sentences.append(sentence)
    return sentences
