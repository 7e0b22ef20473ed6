"""Numbers, words and tables as they are printed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesbias._support.arguments import plain

if TYPE_CHECKING:
    import pandas as pd

WIDTH, CELL = 88, 30  # most characters of a line, and of a text in a cell of a table
IN_SDS = "sds of distances"  # the unit of what is standardised
MINUS = " \N{MINUS SIGN} "  # between the two parts of a difference
HEADINGS = {
    "p_closer": "P(<0)",
    "p_positive": "P(>0)",
    "p_shrank": "P(shrank)",
    "p_value": "p",
    "protected_word": "word",
}
SCALE = frozenset(
    ("mean", "sd", "low", "high", "before", "after", "change", "unshrunk", "value", "estimate", "se", "equal")
)
"""Columns that have the decimals which the standard deviations ask for; ``low`` and ``high`` are headed in percent."""
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
LATEX |= {"\N{RIGHTWARDS ARROW}": r"$\to$", "\N{MINUS SIGN}": "$-$"}


def difference(name: str) -> str:
    """A contrast such as ``associated - human`` with a proper minus sign."""
    return name.replace(" - ", MINUS)


def percent(mass: float) -> str:
    """The posterior mass of an interval, or a level, in percent."""
    return f"{100 * mass:g}%"


def written(value: object, decimals: int | None = None) -> str:
    """A value as it is printed: counts with commas, numbers with three significant digits or with so many decimals."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if decimals is None:
        return f"{value:.{4 if abs(value) >= 1 else 3}g}"
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def cut(words: Iterable[Any], room: int) -> str:
    """As many words as have room, and an ellipsis for the others."""
    text = ", ".join(map(str, words))
    return text if len(text) <= room else f"{text[: max(room - 5, 0)].rpartition(', ')[0]}, ...".removeprefix(", ")


def short(text: str, room: int) -> str:
    """A text on one line that has room."""
    text = text.replace("\n", " ")
    return text if len(text) <= room else f"{text[: room - 3]}..."


def cells(table: pd.DataFrame, prob: float) -> pd.DataFrame:
    """A table as text: decimals by which most sds have two digits and each has one, probabilities never 0 or 1."""
    import pandas as pd

    ends = {name: f"{round(50 + side * 50 * prob, 6):g}%" for name, side in (("low", -1), ("high", 1))}
    spread = table["sd"] if "sd" in table else (table["high"] - table["low"]) / 3 if ends.keys() <= set(table) else ()
    known = sorted(_size(float(sd)) for sd in spread if 1e-9 < sd < math.inf)
    common = max(1 - known[len(known) // 2], -known[0]) if known else None
    heads, columns = [], []
    for i, name in enumerate(map(str, table)):
        column, form = table.iloc[:, i], partial(written)
        if name.startswith("p_"):
            form = partial(probability_text, test=name == "p_value")
        elif column.dtype.kind == "f":
            own = 2 - max((_size(abs(value)) for value in column if value and math.isfinite(value)), default=0)
            form = partial(written, decimals=min(max(own if common is None or name not in SCALE else common, 0), 6))
        values = zip(column, column.isna(), strict=True)
        heads.append(ends.get(name) or HEADINGS.get(name) or name.replace("_", " "))
        columns.append(["" if missing else form(plain(value)) for value, missing in values])
    texts = pd.DataFrame(dict(enumerate(columns)), index=range(len(table)), dtype=object)
    return texts.set_axis(heads, axis=1)  # several columns may have one heading


def _size(value: float) -> int:
    return math.floor(math.log10(value))


def probability_text(value: Any, test: bool = False) -> str:
    """A probability of draws, never 0 or 1, or the p-value of a test."""
    if isinstance(value, str):
        return value
    if test:
        return "< 0.0001" if value < 1e-4 else f"{value:.2g}"
    return f"{min(max(value, 0.001), 0.999):.3f}"


def latex(text: str) -> str:
    """A text in which LaTeX reads no command; what cannot be printed is shown as a question mark."""
    return "".join(LATEX.get(letter, letter if letter.isprintable() else "?") for letter in text)


def lines_of(table: pd.DataFrame, prob: float) -> list[str]:
    """A table as lines: texts to the left, the first without a heading, numbers to the right; as wide as a line."""
    if table.empty:
        return []
    texts, numeric = cells(table, prob), [kind.kind in "iufb" for kind in table.dtypes]
    rows = [[name if i or numeric[i] else "" for i, name in enumerate(texts)], *texts.to_numpy().tolist()]
    rows = [[short(cell, CELL) for cell in row] for row in rows]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    kept = [i for i in range(len(wide)) if sum(wide[: i + 1]) + 2 * i <= WIDTH]
    lines = ["  ".join(f"{row[i]:{'>' if numeric[i] else '<'}{wide[i]}}" for i in kept).rstrip() for row in rows]
    hidden = list(texts)[len(kept) :]
    return [*lines, *([f"... more columns in table(): {cut(hidden, WIDTH - 30)}"] if hidden else [])]


def latex_table(table: pd.DataFrame, prob: float, **options: Any) -> str:
    """A table in LaTeX with the rules of booktabs, by the options of ``Styler.to_latex``; a caption is plain text."""
    numeric = [kind.kind in "iufb" for kind in table.dtypes]
    texts = cells(table, prob).map(latex).rename(columns=latex)
    for i in (i for i, each in enumerate(numeric) if each):
        texts.isetitem(i, [text.replace("-", "$-$") for text in texts.iloc[:, i]])
    sides = "".join("r" if each else "l" for each in numeric)
    if isinstance(caption := options.get("caption"), str):
        options["caption"] = latex(caption)
    lines: str = texts.style.hide(axis="index").to_latex(**{"hrules": True, "column_format": sides, **options})
    return lines
