"""The same contrasts under the published model and under the crossed one, and what changed."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from bayesbias.comparison import beside_associated, contrasts, signed
from bayesbias.models.fitting import fit
from bayesbias.models.results import distances_of

COUNTERPARTS = {"published": ("auto",), "related": ("published", "crossed")}
"""Models that are set beside a fit's own; the published one alone where nothing else is said."""


def side_by_side(post: xr.DataTree, prob: float) -> pd.DataFrame:
    """Whole-list contrasts of these protected words under a fit's model and others, fitted to the same distances.

    Columns ``contrast``, ``model``, ``mean``, ``hdi_low``, ``hdi_high``, ``width``. Counterparts are the published
    model and, for related words, the crossed one; the default beside the published model.
    """
    names = COUNTERPARTS.get(post.attrs["model"], ("published",))
    table, seed = distances_of(post), int(post.attrs["seed"])
    others = [fit(table, name, seed=seed) for name in names]
    rows = []
    for second in beside_associated(post):
        for each in (*others, post):
            row = contrasts(each, "associated", second, prob).iloc[0]
            width = row["hdi_high"] - row["hdi_low"]
            label = f"associated \N{MINUS SIGN} {second}"
            rows.append((label, each.attrs["model"], row["mean"], row["hdi_low"], row["hdi_high"], width))
    return pd.DataFrame(rows, columns=["contrast", "model", "mean", "hdi_low", "hdi_high", "width"])


def what_changed(table: pd.DataFrame) -> list[str]:
    """A sentence for each contrast of :func:`side_by_side`: how the width changed, and whether the conclusion did."""
    sentences = []
    pairs = [
        (contrast, first, rows[-1])
        for contrast, group in table.groupby("contrast", sort=False)
        for rows in [group.to_dict("records")]
        for first in rows[:-1]
    ]
    for contrast, first, second in pairs:
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
