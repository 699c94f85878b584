"""Drawing a merged query template (HAMLET, Figure 3).

Event types are boxes: double where trends end, gray where a Kleene sub-pattern can be shared or run alone, dashed where
the type is negated. Arrows are labelled with the queries for which they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree as ET

from elsinore.drawing.layout import Edge, EdgeRoute, Layout, Node, layered
from elsinore.drawing.lines import draw_loop, draw_route
from elsinore.drawing.ranks import ranks
from elsinore.drawing.svg import (
    GRAY,
    PALE,
    SIZE,
    SMALL,
    WHITE,
    Box,
    Picture,
    cut,
    group,
    rectangle,
    text,
    width_of,
)
from elsinore.drawing.words import brief_of
from elsinore.planner.hamlet.template import Label, Template, Transition

HEIGHT = 38
"""Height of the box of a type with few arrows."""
NARROWEST = 64
MAX_LETTERS = 28
"""The most characters shown of a name."""
LOOP = 34
"""Space above a box for an arrow from it to itself, and its label."""
NOTE = 15
"""Height of a line below a box."""
LINE = 16
"""Height of a label above its arrow."""


@dataclass(frozen=True)
class Arrow:
    before: str
    after: str
    queries: Label
    label: str
    dashed: bool
    """Whether the arrow passes a negated sub-pattern."""

    @property
    def width(self) -> float:
        return width_of(self.label, SMALL) + 8


@dataclass(frozen=True)
class TypeBox:
    """The box of a type, with its loops above, and the queries that it starts and ends below."""

    name: str
    template: Template
    arrows: tuple[Arrow, ...]
    """All arrows from or to the type."""

    @cached_property
    def loops(self) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in self.arrows if arrow.before == arrow.after)

    @property
    def shown(self) -> str:
        return cut(self.name, MAX_LETTERS)

    @property
    def negated(self) -> bool:
        """Return whether the type occurs only negated, so that no trend has an event of it."""
        touched = (
            *self.template.starts,
            *self.template.ends,
            *(name for edge in self.template.transitions for name in edge),
        )
        return self.name not in touched

    @cached_property
    def notes(self) -> tuple[tuple[str, Label], ...]:
        kinds = (("starts", self.template.starts), ("ends", self.template.ends), ("NOT in", self.template.negated))
        return tuple(
            (f"{kind} {brief_of(held[self.name], self.template.queries)}", held[self.name])
            for kind, held in kinds
            if self.name in held
        )

    @property
    def above(self) -> float:
        """Return the space for loops."""
        return LOOP if self.loops else 0

    @property
    def tall(self) -> float:
        """Return the height of the box, which grows with its arrows to keep them apart."""
        return max(HEIGHT, 6 * len(self.arrows))

    @property
    def body(self) -> float:
        """Return the width of the box, at least that of all loops if there are several."""
        several = sum(loop.width for loop in self.loops) if len(self.loops) > 1 else 0
        return max(NARROWEST, width_of(self.shown) + 24, several)

    def node(self, rank: int) -> Node:
        widths = [self.body, *(width_of(note, SMALL) for note, _ in self.notes), *(loop.width for loop in self.loops)]
        height = self.above + self.tall + NOTE * len(self.notes)
        return Node(self.name, rank, max(widths), height, self.body, self.above + self.tall / 2, self.tall - 12)


class TemplatePicture:
    """A laid out template."""

    def __init__(self, template: Template) -> None:
        arrows = _arrows(template)
        self.types = {
            name: TypeBox(name, template, tuple(arrow for arrow in arrows if name in (arrow.before, arrow.after)))
            for name in template.types
        }
        self._template = template
        self._ranks = ranks(template.types, ((arrow.before, arrow.after) for arrow in arrows))
        self.arrows = [arrow for arrow in arrows if arrow.before != arrow.after]
        self.layout: Layout = layered(
            [kind.node(2 * self._ranks[name]) for name, kind in self.types.items()],
            [self._edge(arrow) for arrow in self.arrows],
        )

    def _backwards(self, arrow: Arrow) -> bool:
        return self._ranks[arrow.after] < self._ranks[arrow.before]

    def _edge(self, arrow: Arrow) -> Edge:
        left, right = (arrow.after, arrow.before) if self._backwards(arrow) else (arrow.before, arrow.after)
        return Edge(left, right, (arrow.width, LINE))

    def draw(self) -> Picture:
        whole = group()
        for arrow, route in zip(self.arrows, self.layout.routes, strict=True):
            self._draw_arrow(whole, arrow, route)
        for name, kind in self.types.items():
            self._draw_type(whole, kind, self.layout.boxes[name])
        return Picture(whole, self.layout.width, self.layout.height)

    def _draw_arrow(self, parent: ET.Element, arrow: Arrow, route: EdgeRoute) -> None:
        made = group(parent, hint=_hint(f"{arrow.before} -> {arrow.after}", arrow.queries))
        draw_route(made, route, self._backwards(arrow), arrow.dashed)
        assert route.label is not None
        text(made, route.label.middle, route.label.bottom - 5, arrow.label, SMALL)

    def _draw_type(self, parent: ET.Element, kind: TypeBox, whole: Box) -> None:
        made = group(parent, hint=kind.name)
        box = Box(whole.middle - kind.body / 2, whole.y + kind.above, kind.body, kind.tall)
        x = whole.middle - sum(loop.width for loop in kind.loops) / 2
        for loop in kind.loops:
            _draw_loop(made, loop, x + loop.width / 2, box.y)
            x += loop.width
        rectangle(made, box, GRAY if kind.name in self._template.kleenes else WHITE, dashed=kind.negated)
        if kind.name in self._template.ends:
            rectangle(made, box.inside(4), "none")
        text(made, box.middle, box.y + kind.tall / 2 + SIZE / 3, kind.shown)
        for number, (note, queries) in enumerate(kind.notes, 1):
            text(group(made, hint=_hint(note, queries)), box.middle, box.bottom + NOTE * number - 2, note, SMALL, PALE)


def _arrows(template: Template) -> list[Arrow]:
    def of(edges: Mapping[Transition, Label], dashed: bool) -> list[Arrow]:
        return [Arrow(*edge, queries, brief_of(queries, template.queries), dashed) for edge, queries in edges.items()]

    return of(template.transitions, False) + of(template.gaps, True)


def _draw_loop(parent: ET.Element, loop: Arrow, x: float, y: float) -> None:
    made = group(parent, hint=_hint(f"{loop.before} -> {loop.after}", loop.queries))
    top = y - LOOP + LINE
    draw_loop(made, x, y, top, loop.dashed)
    text(made, x, top - 4, loop.label, SMALL)


def _hint(what: str, queries: Label) -> str:
    return f"{what}: {', '.join(queries)}"
