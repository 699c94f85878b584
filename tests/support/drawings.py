"""Look at drawings: their texts, and whether anything lies on anything else."""

from __future__ import annotations

from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

from elsinore.drawing.drawing import Drawing
from elsinore.drawing.layout import EdgeRoute, Layout
from elsinore.drawing.svg import Box

SVG = "{http://www.w3.org/2000/svg}"

WINDOW = "WITHIN 10 minutes SLIDE 10 minutes"

SLACK = 1e-6


def text_of(patterns: list[str]) -> str:
    return "; ".join(f"RETURN COUNT(*) PATTERN {pattern} {WINDOW}" for pattern in patterns)


def texts(drawing: Drawing) -> set[str]:
    """Return all texts of a drawing, including tooltips."""
    root = ET.fromstring(drawing.svg)
    assert root.tag == f"{SVG}svg"
    return {element.text or "" for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}title")}


def overlap(one: Box, other: Box) -> bool:
    wide = min(one.right, other.right) - max(one.x, other.x)
    high = min(one.bottom, other.bottom) - max(one.y, other.y)
    return wide > SLACK and high > SLACK


def crossed(route: EdgeRoute, box: Box) -> bool:
    """Return whether an edge crosses a box, or bends in one."""
    straight = any(
        stretch.start < box.right - SLACK and stretch.end > box.x + SLACK and box.y < stretch.y < box.bottom
        for stretch in route.stretches
    )
    bent = any(
        left.end < box.right - SLACK and right.start > box.x + SLACK for left, right in pairwise(route.stretches)
    )
    return straight or bent


def check_layout(layout: Layout, ends: list[tuple[str, str]]) -> None:
    labels = [route.label for route in layout.routes if route.label]
    things = [*layout.boxes.values(), *labels]
    assert not [pair for pair in combinations(things, 2) if overlap(*pair)]
    for route, own in zip(layout.routes, ends, strict=True):
        others = [box for name, box in layout.boxes.items() if name not in own]
        others += [label for label in labels if label != route.label]
        assert not [box for box in others if crossed(route, box)]
    for box in things:
        assert box.x >= -SLACK
        assert box.y >= -SLACK
        assert box.right <= layout.width + SLACK
        assert box.bottom <= layout.height + SLACK
