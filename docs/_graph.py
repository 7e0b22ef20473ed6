"""The graph of the published model, from its PyMC model: ``python docs/_graph.py`` writes ``docs/pymc.svg``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pymc import Model
from pymc.model_graph import ModelGraph
from pytensor.tensor import TensorVariable

import bayesbias as bb

FILE = Path(__file__).parent / "pymc.svg"
WIDE, HIGH, GAP, BELOW = 200, 64, 14, 40
"""Size of a box, and the space beside and below it."""


def parents(model: Model) -> dict[str, list[str]]:
    """Each random variable to those that it depends on; the places of rows are no part of the picture."""
    drawn, graph = {each.name for each in model.basic_RVs}, ModelGraph(model)
    return {each.name: sorted(graph.get_parent_names(each) & drawn) for each in model.basic_RVs}


def columns(name: str, above: dict[str, list[str]]) -> int:
    """Boxes that stand side by side above a variable, or it alone."""
    return sum(columns(each, above) for each in above[name]) or 1


def placed(name: str, above: dict[str, list[str]], left: float, level: int) -> Iterator[tuple[str, float, int]]:
    """A variable over the middle of its column, in levels from the distances up, and all above it."""
    yield name, left + columns(name, above) / 2, level
    for each in above[name]:
        yield from placed(each, above, left, level + 1)
        left += columns(each, above)


def box(variable: TensorVariable, model: Model, x: float, y: float) -> str:
    """A variable: its name, distribution and dimensions; observed ones are grey."""
    dims = " \N{MULTIPLICATION SIGN} ".join(dim.replace("_", " ") for dim in model.named_vars_to_dims[variable.name])
    fill = "#d9dee4" if variable in model.observed_RVs else "#eef2f7"
    lines = (("bold", 14, variable.name), ("normal", 12, variable.owner.op._print_name[0]), ("normal", 12, dims))
    texts = "".join(
        f'<text x="{x:g}" y="{y + 20 + 18 * at:g}" text-anchor="middle" font-weight="{weight}" font-size="{size}">'
        f"{line}</text>"
        for at, (weight, size, line) in enumerate(lines)
    )
    rect = (
        f'<rect x="{x - WIDE / 2:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="12" fill="{fill}" stroke="#5b7083"/>'
    )
    return rect + texts


def drawn(model: Model, title: str) -> str:
    """The graph as SVG: arrows run from what a variable depends on down to it."""
    above = parents(model)
    (root,) = [each.name for each in model.observed_RVs]
    spots = list(placed(root, above, 0, 0))
    top = max(level for _, _, level in spots)
    at = {name: ((WIDE + GAP) * x, 10 + (HIGH + BELOW) * (top - level)) for name, x, level in spots}
    width, height = (WIDE + GAP) * columns(root, above), 20 + HIGH + (HIGH + BELOW) * top
    arrows = [
        f'<line x1="{at[one][0]:g}" y1="{at[one][1] + HIGH:g}" x2="{at[name][0]:g}" y2="{at[name][1] - 3:g}" '
        'stroke="#5b7083" stroke-width="1.5" marker-end="url(#head)"/>'
        for name, every in above.items()
        for one in every
    ]
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        'fill="#1b2733" role="img">',
        f"<title>{title}</title>",
        f'<defs>{head}<path d="M0 0L8 4L0 8z" fill="#5b7083"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *arrows,
        *(box(model[name], model, *place) for name, place in at.items()),
        "</svg>\n",
    ]
    return "\n".join(lines)


def published() -> str:
    """The picture of the page."""
    table = bb.distance_table("google-news-slice", "weat7", relatedness=False)
    return drawn(bb.pymc_model(table, "published"), "The published model as a graph")


if __name__ == "__main__":
    FILE.write_text(published(), encoding="utf-8")
