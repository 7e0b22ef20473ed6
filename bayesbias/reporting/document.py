"""Pages written as HTML or as Markdown."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bayesbias._files import whole_file
from bayesbias._page import Block, Code, Items, Page, Picture, Table
from bayesbias.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
DPI = 150
NARROW = 6.0  # inches up to which the letters of a figure are large enough on a small screen
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONT = re.compile(r"(?P<before>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
CARE = (
    "The word lists name stereotypes and social groups in order to measure how texts use words. A distance says how "
    "words are used in the texts an embedding was trained on; it says nothing about people."
)


def svg(picture: Picture) -> Markup:
    """A figure as an element of the page: our own drawing, whose words are escaped."""
    drawn = Markup(_inline_svg(picture.figure, picture.name, picture.spoken or picture.caption))
    if picture.figure.get_figwidth() <= NARROW:
        return drawn
    # a wide one scrolls on a small screen, where its letters would else be too small
    where = Markup('<div class="scroll wide" tabindex="0" role="region" aria-label="{}">{}</div>')
    return where.format(picture.caption, drawn)


def data_address(picture: Picture) -> str:
    """A figure as PNG, as the address that a page takes."""
    content = io.BytesIO()
    picture.figure.savefig(content, format="png", dpi=130, bbox_inches="tight")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()


def write_png(picture: Picture, folder: Path) -> None:
    """A figure as a file, whole or not at all; its layout is not sought again afterwards."""
    with whole_file(folder / f"{picture.name}.png") as temporary:
        style.write_png(picture.figure, temporary, DPI)
    if not picture.photo:
        picture.figure.set_layout_engine("none")


def anchors(page: Page) -> list[str]:
    """An address for each section, from its title; numbered where two would have the same."""
    names: list[str] = []
    for section in page.sections:
        name = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "part"
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def to_html(page: Page) -> str:
    """One file without requests: style and script inside, allowed by their digests and nothing else."""
    css, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.tests.update(
        {
            kind.__name__.lower(): (lambda block, kind=kind: isinstance(block, kind))
            for kind in (Table, Picture, Code, Items)
        }
    )
    environment.filters |= {"svg": svg, "data_address": data_address}
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("report.html.jinja").render(
        page=page, anchors=anchors(page), css=Markup(css), script=Markup(script), policy=policy, care=CARE
    )


def _digest(text: str) -> str:
    """How a content security policy names a style or a script that is allowed."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


MARKED = re.compile(r"([\\`*_\[\]<>|#])")


def to_markdown(page: Page) -> str:
    """The page as Markdown; a figure is its description, since one file holds no figures."""
    lines = [f"# {_plain(page.title)}", _plain(page.lead)]
    lines += [f"**{_plain(page.fault)}**"] if page.fault else []
    lines += [f"**{_plain(page.answer)}**"]
    lines += [f"- **{_plain(name)}** {_plain(text)}" for name, text in page.lines.items()]
    for section in page.sections:
        lines += [f"## {_plain(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join([*lines, _plain(CARE)]) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        heading = [_plain(name) for name in block.columns]
        sides = [":--" if kind == "text" else "--:" for kind in block.columns.values()]
        rows = [heading, sides, *([_plain(cell) for cell in row] for row in block.cells())]
        return "\n".join([f"{_plain(block.caption)}:", "", *(f"| {' | '.join(row)} |" for row in rows)])
    if isinstance(block, Picture):
        return f"*Figure: {_plain(block.caption)}.*"
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
        return f"{fence}\n{block.text.rstrip()}\n{fence}"
    if isinstance(block, Items):
        return "\n".join(f"- {_plain(item)}" for item in block.items)
    return _plain(block)


def _plain(text: str) -> str:
    """Text whose marks mean themselves, on one line."""
    return MARKED.sub(r"\\\1", " ".join(str(text).split()))


def _inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an ``<svg>`` element for inlining.

    Style attributes become presentation attributes, ids get the prefix ``name`` so that they are unique on a page, and
    ``title`` is what a screen reader says. The text is the same for the same figure.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        style.write_svg(figure, buffer)
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}style", f"{{{SVG}}}metadata"):
                parent.remove(child)
    for element in root.iter():
        _plain_attributes(element)
        _prefix_ids(element, name)
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    width = root.attrib.pop("width", "")
    root.attrib.pop("height", None)
    root.set("width", width)
    root.set("role", "img")
    root.set("aria-label", title)
    label = ET.Element(f"{{{SVG}}}title")
    label.text = title
    root.insert(0, label)
    return ET.tostring(root, encoding="unicode")


def _plain_attributes(element: ET.Element) -> None:
    style = element.attrib.pop("style", None)
    if style is None:
        return
    for part in filter(None, (piece.strip() for piece in style.split(";"))):
        key, _, value = (text.strip() for text in part.partition(":"))
        if key == "font" and (font := FONT.match(value)):
            element.set("font-size", font["size"])
            element.set("font-family", font["family"])
            if "bold" in font["before"] or "700" in font["before"]:
                element.set("font-weight", "bold")
        else:
            element.set(key, value)


def _prefix_ids(element: ET.Element, name: str) -> None:
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == f"{{{XLINK}}}href" and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, REFERENCE.sub(rf"url(#{name}-\1)", value))
