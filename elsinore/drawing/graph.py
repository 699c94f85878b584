"""Drawing HAMLET graphs: graphlets over time, with snapshots between them (HAMLET, Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from xml.etree import ElementTree as ET

from elsinore.drawing.drawing import Drawing, Titled, stacked
from elsinore.drawing.graphlets import GraphletBox, Table
from elsinore.drawing.layout import Edge, Layout, Node, layered
from elsinore.drawing.lines import draw_route
from elsinore.drawing.svg import PALE, SMALL, Picture, curve, cut, group, point, text
from elsinore.planner.hamlet.graph_record import DrawnGraphlet, DrawnSnapshot, GraphRecord

MAX_LETTERS = 60
STRIP = 20
"""Space above the graph for the names of the panes."""
LEGEND = "gray: shared graphlet; bold: active graphlet; below an event: its intermediate trend count, and its time"


def draw_graph(record: GraphRecord) -> Drawing:
    """Draw the graphs of all partitions, one below the other."""
    parts = []
    for partition, graphlets in _by_partition(record.graphlets).items():
        title = f"partition {cut(partition, MAX_LETTERS)}" if partition else "HAMLET graph"
        parts.append(Titled(title, _caption(graphlets), PartitionPicture(graphlets, record.snapshots).draw()))
    return stacked(parts, LEGEND)


def _by_partition(graphlets: Iterable[DrawnGraphlet]) -> dict[str, list[DrawnGraphlet]]:
    found: dict[str, list[DrawnGraphlet]] = {}
    for graphlet in graphlets:
        found.setdefault(graphlet.partition, []).append(graphlet)
    return found


def _caption(graphlets: Sequence[DrawnGraphlet]) -> str:
    events, shared = sum(len(graphlet.events) for graphlet in graphlets), sum(graphlet.shared for graphlet in graphlets)
    return f"graphlets: {len(graphlets)}, {shared} of them shared; events in them: {events}"


def columns(graphlets: Sequence[DrawnGraphlet]) -> dict[str, int]:
    """Return the column of each graphlet: right of earlier graphlets with a common query, and of earlier panes."""
    found: dict[str, int] = {}
    for number, graphlet in enumerate(graphlets):
        earlier = graphlets[:number]
        left = [found[one.name] for one in earlier if one.pane < graphlet.pane or _in_common(one, graphlet)]
        found[graphlet.name] = max(left, default=-1) + 1
    return found


def active(graphlets: Sequence[DrawnGraphlet]) -> frozenset[str]:
    """Return the graphlets that new events may still join (Definition 3.6): the latest of each of their queries."""
    return frozenset(
        graphlet.name
        for number, graphlet in enumerate(graphlets, 1)
        if not any(_in_common(graphlet, later) for later in graphlets[number:])
    )


def _in_common(one: DrawnGraphlet, other: DrawnGraphlet) -> bool:
    return not set(one.queries).isdisjoint(other.queries)


class PartitionPicture:
    """The laid out graph of one partition, with snapshots at graphlet level left of their graphlet."""

    def __init__(self, graphlets: Sequence[DrawnGraphlet], snapshots: Sequence[DrawnSnapshot]) -> None:
        self._graphlets = {graphlet.name: graphlet for graphlet in graphlets}
        self._snapshots = [snapshot for snapshot in snapshots if snapshot.graphlet in self._graphlets]
        open_still = active(graphlets)
        self.boxes = {
            graphlet.name: GraphletBox(graphlet, graphlet.name in open_still, self._tables(graphlet))
            for graphlet in graphlets
        }
        self.tables = {
            snapshot.name: Table(snapshot, snapshot.name)
            for snapshot in self._snapshots
            if snapshot.level == "graphlet"
        }
        column = columns(graphlets)
        self._ranks = {name: 2 * column[name] + 1 for name in self.boxes}
        self._ranks |= {name: 2 * column[table.snapshot.graphlet] for name, table in self.tables.items()}
        self.edges = list(dict.fromkeys(self._connections()))
        self.layout: Layout = layered(list(self._nodes()), [Edge(*edge) for edge in self.edges])

    def _tables(self, graphlet: DrawnGraphlet) -> tuple[Table, ...]:
        """Return the snapshots at event level: intermediate trend counts of single events (Definition 3.11)."""
        events = {event.expression: event.name for event in graphlet.events}
        own = (one for one in self._snapshots if one.level == "event" and one.graphlet == graphlet.name)
        return tuple(
            Table(one, f"{one.name} = count({events[one.name]})" if one.name in events else one.name) for one in own
        )

    def _nodes(self) -> Iterator[Node]:
        for name, box in self.boxes.items():
            yield Node(name, self._ranks[name], box.width, box.height, box.body, box.tall / 2, box.tall - 24)
        for name, table in self.tables.items():
            height = table.height
            yield Node(name, self._ranks[name], table.width, height, table.width, height / 2, height - 16)

    def _connections(self) -> Iterator[tuple[str, str]]:
        """Yield the edges: from the summands of a snapshot to it, and from it to the graphlets that propagate it."""
        home = {one.name: one.name if one.level == "graphlet" else one.graphlet for one in self._snapshots}
        home |= {name: name for name in self.boxes}
        for name, table in self.tables.items():
            yield from ((home[source], name) for source in table.snapshot.sources)
        for name, graphlet in self._graphlets.items():
            yield from ((snapshot, name) for snapshot in graphlet.snapshots if snapshot in self.tables)

    def draw(self) -> Picture:
        whole = group()
        self._draw_panes(whole)
        graph = group(whole, 0, STRIP)
        for (source, target), route in zip(self.edges, self.layout.routes, strict=True):
            draw_route(group(graph, hint=f"{source} -> {target}"), route)
        for name, table in self.tables.items():
            at = self.layout.boxes[name]
            table.draw(graph, at.x, at.y)
        for name, box in self.boxes.items():
            box.draw(graph, self.layout.boxes[name])
        return Picture(whole, self.layout.width, self.layout.height + STRIP)

    def _draw_panes(self, parent: ET.Element) -> None:
        """Draw dashed lines between panes, as in Figure 6, and the panes' names."""
        spans: dict[int, list[float]] = {}
        for name, at in self.layout.boxes.items():
            graphlet = self._graphlets[name if name in self._graphlets else self.tables[name].snapshot.graphlet]
            spans.setdefault(graphlet.pane, []).extend((at.x, at.right))
        starts = [0.0]
        for one, other in pairwise(sorted(spans)):
            x = (max(spans[one]) + min(spans[other])) / 2
            starts.append(x + 6)
            curve(parent, f"M{point(x, 0)}L{point(x, self.layout.height + STRIP)}", dashed=True, line=0.8)
        for x, pane in zip(starts, sorted(spans), strict=True):
            text(parent, x, SMALL, f"pane {pane}", SMALL, PALE, "start")
