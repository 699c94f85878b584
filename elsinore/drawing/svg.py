"""SVG of boxes, lines and texts, built as an element tree, so that texts are always escaped."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK, PALE = "#1a1a1a", "#666666"
WHITE, GRAY = "#ffffff", "#d9d9d9"
SIZE, SMALL = 13, 11

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot represent."""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    def inside(self, margin: float) -> Box:
        return Box(self.x + margin, self.y + margin, self.width - 2 * margin, self.height - 2 * margin)

    def moved(self, x: float, y: float) -> Box:
        return Box(self.x + x, self.y + y, self.width, self.height)


@dataclass(frozen=True)
class Picture:
    """A group of elements with its upper left corner at the origin."""

    group: ET.Element
    width: float
    height: float


def group(parent: ET.Element | None = None, x: float = 0, y: float = 0, hint: str | None = None) -> ET.Element:
    """Return a group of elements that move together; viewers show the hint as a tooltip of each element."""
    made = ET.Element("g") if parent is None else ET.SubElement(parent, "g")
    if x or y:
        made.set("transform", f"translate({_number(x)} {_number(y)})")
    if hint is not None:
        ET.SubElement(made, "title").text = _clean(hint)
    return made


def rectangle(
    parent: ET.Element, box: Box, fill: str = WHITE, round_by: float = 0, dashed: bool = False, line: float = 1.2
) -> None:
    """Add an outlined box."""
    made = ET.SubElement(parent, "rect", fill=fill, stroke=INK)
    _numbers(made, x=box.x, y=box.y, width=box.width, height=box.height, rx=round_by)
    _stroke(made, dashed, line)


def text(
    parent: ET.Element,
    x: float,
    y: float,
    content: str,
    size: float = SIZE,
    fill: str = INK,
    anchor: Literal["start", "middle", "end"] = "middle",
    bold: bool = False,
) -> None:
    """Add a line of text; y is its base line."""
    made = ET.SubElement(parent, "text", {"text-anchor": anchor, "fill": fill})
    _numbers(made, x=x, y=y)
    made.set("font-size", _number(size))
    if bold:
        made.set("font-weight", "bold")
    made.text = _clean(content)


def curve(parent: ET.Element, commands: str, dashed: bool = False, line: float = 1.2) -> None:
    made = ET.SubElement(parent, "path", d=commands, fill="none", stroke=INK)
    _stroke(made, dashed, line)


def arrowhead(parent: ET.Element, x: float, y: float, towards: Literal["left", "right", "down"]) -> None:
    """Add an arrowhead with its tip at (x, y)."""
    back = {"left": ((8, -4), (8, 4)), "right": ((-8, -4), (-8, 4)), "down": ((-4, -8), (4, -8))}[towards]
    points = [(x, y), *((x + dx, y + dy) for dx, dy in back)]
    ET.SubElement(parent, "polygon", points=" ".join(point(*at) for at in points), fill=INK)


def point(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def width_of(content: str, size: float = SIZE) -> float:
    """Return an upper estimate of a text's width in any of the fonts."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in content)
    return size * (0.64 * (len(content) - wide) + 1.1 * wide)


def cut(content: str, most: int) -> str:
    """Shorten a text to at most so many characters, with an ellipsis."""
    return content if len(content) <= most else f"{content[: most - 1]}…"


def document(picture: Picture, margin: float = 16) -> str:
    """Return a whole SVG file, with a white background because notebooks may be dark."""
    width, height = _number(picture.width + 2 * margin), _number(picture.height + 2 * margin)
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=height)
    root.set("viewBox", f"0 0 {width} {height}")
    root.set("font-family", FONT)
    ET.SubElement(root, "rect", width=width, height=height, fill=WHITE)
    group(root, margin, margin).append(picture.group)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _stroke(element: ET.Element, dashed: bool, line: float) -> None:
    element.set("stroke-width", _number(line))
    if dashed:
        element.set("stroke-dasharray", "5 3")


def _numbers(element: ET.Element, **values: float) -> None:
    for name, value in values.items():
        element.set(name, _number(value))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _clean(content: str) -> str:
    return _FORBIDDEN.sub("\ufffd", content)
