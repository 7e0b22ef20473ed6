"""A page as data: a first screen, then sections of paragraphs, tables and pictures; written as HTML or as Markdown."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from bayesbias._files import whole_file
from bayesbias._phrases import share, signed
from bayesbias.references import cite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
DPI = 150
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONT = re.compile(r"(?P<before>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
CARE = (
    "The word lists name stereotypes and social groups in order to measure how texts use words. A distance says how "
    "words are used in the texts an embedding was trained on; it says nothing about people."
)
FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "number": signed,
    "count": "{:,}".format,
    "plain": "{:.2f}".format,
    "rate": "{:.1g}".format,
    "share": share,
    "percent": "{:.0%}".format,
}
"""Kind of a column to how its values are written; a missing value is written as nothing."""


@dataclass(frozen=True)
class Table:
    """Rows below a caption.

    Attributes
    ----------
    caption
        What the rows are.
    columns
        Heading to the kind of its values, one of :data:`FORMATS`.
    rows
        Values in the order of the columns.
    """

    caption: str
    columns: dict[str, str]
    rows: Sequence[Sequence[Any]]

    def cells(self) -> list[list[str]]:
        """The rows as they are written."""
        writers = [FORMATS[kind] for kind in self.columns.values()]
        return [
            ["" if is_missing(value) else write(value) for write, value in zip(writers, row, strict=True)]
            for row in self.rows
        ]


def is_missing(value: Any) -> bool:
    """Whether a cell has no value; infinite numbers have one."""
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def table_of(caption: str, frame: pd.DataFrame, columns: dict[str, tuple[str, str]]) -> Table:
    """Columns of a DataFrame: name to heading and kind."""
    return Table(caption, dict(columns.values()), frame[list(columns)].astype(object).to_numpy().tolist())


@dataclass(frozen=True)
class Picture:
    """A figure with a name that is unique on its page, a caption, and what a screen reader says."""

    name: str
    caption: str
    figure: Figure
    spoken: str = ""

    def svg(self) -> Markup:
        """The figure as an element of the page: our own drawing, whose words are escaped."""
        return Markup(inline_svg(self.figure, self.name, self.spoken or self.caption))

    def write(self, folder: Path) -> None:
        """The figure as PNG, whole or not at all; its layout is not sought again afterwards."""
        _write_png(self.figure, folder / f"{self.name}.png")
        self.figure.set_layout_engine("none")


def _write_png(figure: Figure, file: Path) -> None:
    with whole_file(file) as temporary:
        figure.savefig(temporary, dpi=DPI, format="png")


@dataclass(frozen=True)
class Photo:
    """A picture of very many points, as PNG."""

    name: str
    caption: str
    figure: Figure

    def source(self) -> str:
        """The picture as the address that a page takes."""
        content = io.BytesIO()
        self.figure.savefig(content, format="png", dpi=130, bbox_inches="tight")
        return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()

    def write(self, folder: Path) -> None:
        """The figure as a file, whole or not at all."""
        _write_png(self.figure, folder / f"{self.name}.png")


@dataclass(frozen=True)
class Code:
    """Text that is to be copied as it stands."""

    text: str


@dataclass(frozen=True)
class Items:
    """Paragraphs of a list."""

    items: Sequence[str]


def cited(result: Any) -> Items:
    """What to cite for a result."""
    return Items(cite(result).text().splitlines())


Block = str | Table | Picture | Photo | Code | Items


@dataclass(frozen=True)
class Section:
    """A part of the page that can be folded.

    Attributes
    ----------
    title
        Its heading.
    blocks
        What it holds.
    shut
        Whether it is folded at first.
    """

    title: str
    blocks: Sequence[Block]
    shut: bool = False


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes
    ----------
    title, lead
        What it is about, and how much there is of it.
    answer
        The result in a sentence that needs no statistics.
    lines
        Question to its answer, below the picture.
    picture
        The one picture of the first screen.
    fault
        Why the result should not be read; empty if it can be.
    sections
        The details.
    """

    title: str
    lead: str
    answer: str
    lines: dict[str, str]
    picture: Picture | Photo | None
    fault: str = ""
    sections: Sequence[Section] = field(default_factory=tuple)

    def pictures(self) -> list[Picture | Photo]:
        """All pictures of the page."""
        blocks = [self.picture, *(block for section in self.sections for block in section.blocks)]
        return [block for block in blocks if isinstance(block, Picture | Photo)]


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Sections that hold something."""
    kept = (Section(each.title, [block for block in each.blocks if block], each.shut) for each in sections)
    return tuple(each for each in kept if each.blocks)


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
            for kind in (Table, Picture, Photo, Code, Items)
        }
    )
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
    """The page as Markdown; a picture is its description, since one file holds no pictures."""
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
    if isinstance(block, Picture | Photo):
        return f"*Picture: {_plain(block.caption)}.*"
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
        return f"{fence}\n{block.text.rstrip()}\n{fence}"
    if isinstance(block, Items):
        return "\n".join(f"- {_plain(item)}" for item in block.items)
    return _plain(block)


def _plain(text: str) -> str:
    """Text whose marks mean themselves, on one line."""
    return MARKED.sub(r"\\\1", " ".join(str(text).split()))


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an ``<svg>`` element for inlining.

    Style attributes become presentation attributes, ids get the prefix ``name`` so that they are unique on a page, and
    ``title`` is what a screen reader says. The text is the same for the same figure.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
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
