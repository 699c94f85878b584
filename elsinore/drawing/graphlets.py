"""Drawing the parts of a HAMLET graph as in the paper: graphlets with their events, and tables of snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree as ET

from elsinore.drawing.svg import GRAY, PALE, SMALL, WHITE, Box, cut, group, rectangle, text, width_of
from elsinore.drawing.words import brief
from elsinore.planner.hamlet.graph_record import DrawnEvent, DrawnGraphlet, DrawnSnapshot

PER_ROW = 8
"""Events of a graphlet side by side."""
CIRCLE = 30
CELL = CIRCLE + 38
"""Height of an event with its expression and its time."""
PAD = 10
HEAD = 38
"""Height of the title: a line for the graphlet's name and type, and one for its queries."""
ROW = 16
"""Height of a line of a table."""
MAX_ROWS = 8
MAX_LETTERS = 22


@dataclass(frozen=True)
class Table:
    """A snapshot with its values; queries with the same value share a line."""

    snapshot: DrawnSnapshot
    title: str

    @cached_property
    def rows(self) -> tuple[tuple[str, str], ...]:
        by_value: dict[str, list[str]] = {}
        for query, value in self.snapshot.values:
            by_value.setdefault(value, []).append(query)
        found = [(brief(queries, MAX_LETTERS), cut(value, MAX_LETTERS)) for value, queries in by_value.items()]
        more = f"+{len(found) - MAX_ROWS} values"
        return (*found[:MAX_ROWS], (more, "")) if len(found) > MAX_ROWS else tuple(found)

    @property
    def width(self) -> float:
        return max(40, width_of(self.title), *(width_of(f"{row[0]}  {row[1]}", SMALL) for row in self.rows)) + 2 * PAD

    @property
    def height(self) -> float:
        return ROW * (len(self.rows) + 1) + PAD

    def draw(self, parent: ET.Element, x: float, y: float) -> None:
        values = "\n".join(f"{query}: {value}" for query, value in self.snapshot.values)
        made = group(parent, x, y, hint=f"snapshot {self.snapshot.name} at {self.snapshot.level} level\n{values}")
        rectangle(made, Box(0, 0, self.width, self.height), round_by=3)
        text(made, self.width / 2, ROW, self.title, bold=True)
        for number, (queries, value) in enumerate(self.rows, 2):
            text(made, PAD, ROW * number, queries, SMALL, PALE, "start")
            text(made, self.width - PAD, ROW * number, value, SMALL, anchor="end")


@dataclass(frozen=True)
class GraphletBox:
    """A graphlet, with the snapshots of its events below it."""

    graphlet: DrawnGraphlet
    active: bool
    tables: tuple[Table, ...]

    @cached_property
    def _titles(self) -> tuple[str, str]:
        name, kind = self.graphlet.name, self.graphlet.type
        what = name if name.startswith(kind) else f"{name} of {kind}"
        whose = brief(self.graphlet.queries)
        state = "active" if self.active else "inactive"
        return cut(what, 2 * MAX_LETTERS), f"{'shared by ' if self.graphlet.shared else ''}{whose}, {state}"

    @cached_property
    def _cell(self) -> float:
        return max((_room(event) for event in self.graphlet.events), default=CIRCLE) + 10

    @property
    def _side_by_side(self) -> int:
        return min(PER_ROW, len(self.graphlet.events))

    @property
    def body(self) -> float:
        return (
            max(self._cell * self._side_by_side, width_of(self._titles[0]) * 1.1, width_of(self._titles[1], SMALL))
            + 2 * PAD
        )

    @property
    def tall(self) -> float:
        return HEAD + CELL * -(-len(self.graphlet.events) // PER_ROW) + PAD

    @property
    def width(self) -> float:
        return max(self.body, sum(table.width + PAD for table in self.tables) - PAD)

    @property
    def height(self) -> float:
        return self.tall + max((table.height + PAD for table in self.tables), default=0)

    def draw(self, parent: ET.Element, at: Box) -> None:
        hint = f"graphlet {self.graphlet.name} of type {self.graphlet.type}: {', '.join(self.graphlet.queries)}"
        made = group(parent, at.middle - self.body / 2, at.y, hint)
        fill, line = GRAY if self.graphlet.shared else WHITE, 2.6 if self.active else 1.2
        rectangle(made, Box(0, 0, self.body, self.tall), fill, round_by=12, line=line)
        text(made, self.body / 2, 18, self._titles[0], bold=True)
        text(made, self.body / 2, 33, self._titles[1], SMALL, PALE)
        for number, event in enumerate(self.graphlet.events):
            row, place = divmod(number, PER_ROW)
            x = self.body / 2 + self._cell * (place - (self._side_by_side - 1) / 2)
            _draw_event(made, event, x, HEAD + CELL * row)
        x = at.middle - (sum(table.width + PAD for table in self.tables) - PAD) / 2
        for table in self.tables:
            table.draw(parent, x, at.y + self.tall + PAD)
            x += table.width + PAD


def _shown(event: DrawnEvent) -> tuple[str, str, str]:
    return cut(event.name, MAX_LETTERS), cut(event.expression, MAX_LETTERS), cut(event.time, MAX_LETTERS)


def _room(event: DrawnEvent) -> float:
    name, expression, time = _shown(event)
    return max(CIRCLE, width_of(name, SMALL) + 12, width_of(expression, SMALL), width_of(time, SMALL - 1))


def _draw_event(parent: ET.Element, event: DrawnEvent, x: float, y: float) -> None:
    name, expression, time = _shown(event)
    made = group(parent, hint=f"{event.name} at {event.time}: {event.expression}")
    width = max(CIRCLE, width_of(name, SMALL) + 12)
    rectangle(made, Box(x - width / 2, y + 4, width, CIRCLE), round_by=CIRCLE / 2)
    text(made, x, y + 4 + CIRCLE / 2 + SMALL / 3, name, SMALL)
    text(made, x, y + CIRCLE + 18, expression, SMALL)
    text(made, x, y + CIRCLE + 31, time, SMALL - 1, PALE)
