"""A layered layout: nodes in columns, edges from left to right, without overlaps.

Each node, edge label and edge in a column has a slot of its own. Slots of a column do not overlap, and between columns
there are only curves; so no edge can cross a node or a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elsinore.drawing.slots import Column, Slot, chained, columns_of
from elsinore.drawing.svg import Box

GAP = 36
"""Space between two columns, for curves."""
PORTS = 10
"""Distance of two edges on the same side of a node, where there is enough space."""


@dataclass(frozen=True)
class Node:
    """A node of the layout. Edges meet its body, `body` wide and centred, at heights around `anchor` below its top."""

    name: str
    rank: int
    width: float
    height: float
    body: float
    anchor: float
    spread: float
    """The largest distance between the first and the last edge of a side."""


@dataclass(frozen=True)
class Edge:
    """An edge from a lower rank to a higher one, with its label in the middle rank between them."""

    source: str
    target: str
    label: tuple[float, float] = (0, 0)


@dataclass(frozen=True)
class Stretch:
    """A straight part of an edge across a column."""

    start: float
    end: float
    y: float


@dataclass(frozen=True)
class EdgeRoute:
    stretches: tuple[Stretch, ...]
    label: Box | None


@dataclass(frozen=True)
class Layout:
    boxes: dict[str, Box]
    routes: tuple[EdgeRoute, ...]
    width: float
    height: float


def layered(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Lay out nodes of a rank one above the other, near the nodes that they are connected with."""
    slots = {node.name: Slot(node.rank, node.width, node.height, node.anchor) for node in nodes}
    chains = [_chain(edge, slots[edge.source], slots[edge.target]) for edge in edges]
    passing = [slot for chain in chains for slot in chain[1:-1]]
    placed = _Placement({node.name: node for node in nodes}, columns_of([*slots.values(), *passing]))
    leaving = placed.ports([chain[:2] for chain in chains], [edge.source for edge in edges])
    entering = placed.ports([chain[:-3:-1] for chain in chains], [edge.target for edge in edges])
    routes = tuple(map(placed.route, edges, chains, leaving, entering))
    return Layout({name: placed.box(slot) for name, slot in slots.items()}, routes, placed.width, placed.height)


def _chain(edge: Edge, source: Slot, target: Slot) -> list[Slot]:
    """Return the slots of an edge, including both ends."""
    width, height = edge.label
    labelled = (source.rank + target.rank) // 2
    passing = (
        Slot(rank, width, height, height, 4) if rank == labelled else Slot(rank, 0, 0, 0, 8)
        for rank in range(source.rank + 1, target.rank)
    )
    return chained([source, *passing, target])


class _Placement:
    """The boxes and routes of placed slots, with coordinates from the origin."""

    def __init__(self, nodes: dict[str, Node], columns: list[Column]) -> None:
        self._nodes = nodes
        self._top = min((slot.top for column in columns for slot in column), default=0.0)
        self.height = max((slot.bottom for column in columns for slot in column), default=0.0) - self._top
        self._spans: dict[int, tuple[float, float]] = {}
        x = 0.0
        for column in columns:
            end = x + max(slot.width for slot in column)
            self._spans[column[0].rank] = (x, end)
            x = end + GAP
        self.width = max(x - GAP, 0.0)

    def box(self, slot: Slot) -> Box:
        start, end = self._spans[slot.rank]
        return Box((start + end - slot.width) / 2, slot.top - self._top, slot.width, slot.height)

    def ports(self, ends: list[list[Slot]], names: list[str]) -> list[float]:
        """Return the height at which each edge meets its node, ordered like the edges' next slots."""
        heights = [0.0] * len(ends)
        sides: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            sides.setdefault(name, []).append(number)
        for name, numbers in sides.items():
            numbers.sort(key=lambda number: ends[number][1].y)
            step = min(PORTS, self._nodes[name].spread / max(1, len(numbers) - 1))
            for place, number in enumerate(numbers):
                heights[number] = ends[number][0].y - self._top + (place - (len(numbers) - 1) / 2) * step
        return heights

    def route(self, edge: Edge, chain: list[Slot], leaving: float, entering: float) -> EdgeRoute:
        source, target = self._nodes[edge.source], self._nodes[edge.target]
        (left, out), (into, right) = self._spans[chain[0].rank], self._spans[chain[-1].rank]
        stretches = [Stretch((left + out + source.body) / 2, out, leaving)]
        stretches += [Stretch(*self._spans[slot.rank], slot.y - self._top) for slot in chain[1:-1]]
        stretches.append(Stretch(into, (into + right - target.body) / 2, entering))
        labels = [self.box(slot) for slot in chain[1:-1] if slot.height]
        return EdgeRoute(tuple(stretches), labels[0] if labels else None)
