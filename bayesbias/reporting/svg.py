"""Figures as SVG that a page with a strict content security policy shows: no style attribute, no script."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import matplotlib as mpl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONT = re.compile(r"(?P<before>.*?)(?P<size>[\d.]+)px\s+(?P<family>.+)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")


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
