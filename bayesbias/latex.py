"""Results as LaTeX tables."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from bayesbias._checks import whole_number
from bayesbias._files import check_target, write_text
from bayesbias._phrases import difference, is_share_of_draws, percent
from bayesbias._results import Result
from bayesbias.checks.summaries import ETI, HDI
from bayesbias.errors import InputError, listed, shown
from bayesbias.words import WHOLE, labelled

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\N{MINUS SIGN}": "$-$",
}
WORDS = "protected_word"  # the first column of a table whose row without a word is that of the whole list
MOST_DIGITS = 12
ROW_NOUNS = {"pooled": "partially pooled associations", "association": "associations"}
KINDS = {ETI: "equal-tailed", HDI: "highest-density"}


def to_latex(
    result: pd.DataFrame | xr.DataTree | Result,
    path: str | Path | None = None,
    caption: str | None = None,
    label: str | None = None,
    digits: int = 3,
) -> str:
    r"""A result as a LaTeX table, with the rules of the package booktabs.

    Parameters
    ----------
    result
        A DataFrame that a function of this package returns, such as those of :func:`contrasts`, :func:`summary`,
        :func:`decomposition`, :func:`coverage` and :func:`run_metrics`; a fit, for its contrasts; a result of
        :func:`compare`, for the changes of its headline contrast; or any other result with ``table()``.
    path
        File to write too, ``.tex``, whole or not at all.
    caption
        Caption, as plain text; by default one that names the contrast, the mass of the intervals and what the whole
        list speaks about, as far as the table knows them.
    label
        Label for ``\ref``.
    digits
        Decimals of numbers.

    Returns
    -------
    str
        The table. LaTeX's special characters are escaped, numbers below 0 have a proper minus sign, the row of the
        whole list is named, and what is missing is left empty; columns without any value are left out.

    Examples
    --------
    >>> table = bb.distance_table("google-news-slice", "weat7")
    >>> print(bb.to_latex(bb.coverage(table).head(2)[["list", "asked", "found"]]))
    \begin{table}
    \centering
    \begin{tabular}{lrr}
    \toprule
    list & asked & found \\
    \midrule
    math & 8 & 8 \\
    arts & 8 & 8 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    digits = whole_number(digits, "digits", least=0, most=MOST_DIGITS)
    for text, name in ((caption, "caption"), (label, "label")):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{name} is {shown(text)}: give a text")
    target = None if path is None else check_target(path, (".tex",), "a LaTeX table")
    table = _table_of(result)
    title = _caption(table.attrs) if caption is None else caption
    if label is not None and not re.fullmatch(r"[\w:.-]+", label):
        raise InputError(f"label is {label!r}: give letters, digits and : . - _, such as 'tab:contrasts'")
    text = _latex(table, title, label, digits)
    if target is not None:
        write_text(target, text)
    return text.rstrip("\n")


def _table_of(result: Any) -> pd.DataFrame:
    import pandas as pd
    import xarray as xr

    from bayesbias.comparison import contrasts

    if isinstance(result, xr.DataTree):
        return contrasts(result)
    table = result.brief() if isinstance(result, Result) else result
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"to_latex takes a DataFrame, a fit, or a result with table(); given is {type(result).__name__}"
        )
    if table.empty:
        raise InputError("the table has no row or no column: there is nothing to write")
    return table


def _caption(attrs: dict[Any, Any]) -> str:
    """What a table of contrasts is about; empty for others."""
    from bayesbias.comparison import POPULATIONS

    parts = []
    if "first" in attrs and "second" in attrs:
        contrast = labelled(f"{attrs['first']} - {attrs['second']}", attrs.get("labels", {}))
        parts.append(f"change of {contrast}, {attrs['change']}" if "change" in attrs else contrast)
    if "prob" in attrs:
        parts.append(f"{percent(attrs['prob'])} {KINDS[attrs.get('ci_kind', ETI)]} intervals")
    if "change" in attrs and attrs.get("rows") == "association":
        parts.append("rows of words are changes of associations")
    if attrs.get("population") in POPULATIONS:
        parts.append(f"the whole list speaks about {POPULATIONS[attrs['population']]}")
    if attrs.get("rows") in ROW_NOUNS and "change" not in attrs:
        parts.append(f"rows of words are {ROW_NOUNS[attrs['rows']]}")
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _latex(table: pd.DataFrame, caption: str, label: str | None, digits: int) -> str:
    kept = [
        i for i in range(table.shape[1]) if not table.iloc[:, i].isna().all() or (i == 0 and table.columns[0] == WORDS)
    ]
    columns = [str(table.columns[i]) for i in kept]
    cells = [
        [
            _escaped(WHOLE)
            if i == 0 and name == WORDS and _missing(value)
            else _cell(value, digits, is_share_of_draws(name))
            for value in table.iloc[:, i]
        ]
        for i, name in zip(kept, columns, strict=True)
    ]
    present = [[value for value in table.iloc[:, i] if not _missing(value)] for i in kept]
    numeric = ["r" if values and all(map(_is_number, values)) else "l" for values in present]
    names = [_escaped(name.replace("_", " ")) for name in columns]
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\caption{{{_escaped(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [rf"\begin{{tabular}}{{{''.join(numeric)}}}", r"\toprule"]
    heading, *rows = (" & ".join(row) + r" \\" for row in [names, *zip(*cells, strict=True)])
    return "\n".join([*lines, heading, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _cell(value: Any, digits: int, share: bool = False) -> str:
    """A value in LaTeX; nothing where it is missing. A share of draws is never said to be 0 or 1."""
    if _missing(value):
        return ""
    if isinstance(value, list | tuple | set | frozenset):
        return _escaped(listed([str(item) for item in value]))
    digits = max(digits, 1) if share else digits
    least = 10.0**-digits
    if share and _is_number(value) and not least <= value <= 1 - least:
        return f"$< {least:.{digits}f}$" if value < least else f"$> {1 - least:.{digits}f}$"
    if _is_number(value):
        return _number(value, digits)
    return _escaped(str(value))


def _number(value: float, digits: int) -> str:
    if isinstance(value, int | np.integer):
        text = str(int(value))
    elif math.isinf(value):
        text = r"\infty" if value > 0 else r"-\infty"
    else:
        text = f"{round(float(value), digits) + 0.0:.{digits}f}"
    return f"${text}$" if text.startswith(("-", "\\")) else text


def _escaped(text: str) -> str:
    """Text in which LaTeX reads no command; what cannot be printed is shown as a question mark."""
    plain = difference(text)
    return "".join(SPECIAL.get(letter, letter if letter.isprintable() else "?") for letter in plain)
