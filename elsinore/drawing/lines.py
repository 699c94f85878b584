"""Drawing edges as curves: straight across columns, bent between them."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

from elsinore.drawing.layout import EdgeRoute
from elsinore.drawing.svg import arrowhead, curve, point


def draw_route(
    parent: ET.Element, route: EdgeRoute, backwards: bool = False, dashed: bool = False, line: float = 1.2
) -> None:
    """Draw an edge along its route, with the arrowhead at the right end, or at the left one if `backwards`."""
    first, last = route.stretches[0], route.stretches[-1]
    commands = [f"M{point(first.start, first.y)}L{point(first.end, first.y)}"]
    for left, right in pairwise(route.stretches):
        half = (left.end + right.start) / 2
        bend = (point(half, left.y), point(half, right.y), point(right.start, right.y))
        commands.append(f"C{' '.join(bend)}L{point(right.end, right.y)}")
    curve(parent, "".join(commands), dashed, line)
    if backwards:
        arrowhead(parent, first.start, first.y, "left")
    else:
        arrowhead(parent, last.end, last.y, "right")


def draw_loop(parent: ET.Element, x: float, y: float, top: float, dashed: bool = False) -> None:
    """Draw an arrow from the upper side of a box, at height y, back to it."""
    out, back, bend = x + 12, x - 12, top + 8
    right = f"M{point(out, y)}L{point(out, bend)}Q{point(out, top)} {point(out - 8, top)}"
    left = f"L{point(back + 8, top)}Q{point(back, top)} {point(back, bend)}L{point(back, y)}"
    curve(parent, right + left, dashed)
    arrowhead(parent, back, y, "down")
