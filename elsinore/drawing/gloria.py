"""Drawing GLORIA graphs, with the plan as a path through each (GLORIA, Figure 7).

Each pool is a column, in the order of construction; nodes are transition sharing plans, and edges have weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree as ET

from elsinore.drawing.drawing import Drawing, Section, Titled, sections
from elsinore.drawing.layout import Edge, EdgeRoute, Layout, Node, layered
from elsinore.drawing.lines import draw_route
from elsinore.drawing.svg import GRAY, PALE, SIZE, SMALL, WHITE, Box, Picture, cut, group, rectangle, text, width_of
from elsinore.drawing.template import TemplatePicture
from elsinore.drawing.words import brief
from elsinore.planner.gloria.explain import node_text, stage_name
from elsinore.planner.gloria.graph.record import EdgeRecord, NodeRecord
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.hamlet.template import template_of_query
from elsinore.planner.plans.model import QueryPlan

MAX_LETTERS = 60
MAX_NODES = 6
"""The most nodes shown of a pool: those of the plan, and the others nearest to the start nodes."""
MAX_EDGES = 120
"""The most edges shown of a graph before its pruned edges are left out."""
MAX_SETS = 4
"""The most Q-sets shown of a node, one per line."""
LINE = 15
HEAD = 26
"""Space above the graph for the names of the pools."""
LEGEND = (
    "gray, bold: the plan; dashed: pruned; d: distance from all start nodes; on edges: weights; "
    "(q1, q2) A: they share snapshots of A"
)


def draw_plans(
    plans: Sequence[SharingPlan], reasons: Sequence[tuple[str, str]], queries: Sequence[QueryPlan]
) -> Drawing:
    """Draw the graph of each plan, and the template of each query that is in none."""
    return sections([graphs(plans, reasons, queries)])


def graphs(plans: Sequence[SharingPlan], reasons: Sequence[tuple[str, str]], queries: Sequence[QueryPlan]) -> Section:
    """Return the graph of each plan, and the template of each query that is in none."""
    return Section((*_graphs(plans), *_apart(queries, dict(reasons))), LEGEND)


def _graphs(plans: Sequence[SharingPlan]) -> Iterator[Titled]:
    for number, plan in enumerate(plans, 1):
        title = f"sharing plan {number}: {brief(plan.template.names, MAX_LETTERS)}"
        best = "the cheapest of all plans" if plan.proved else "the cheapest plan that was found"
        caption = f"{plan.optimizer}: costs {_number(plan.cost)}, apart {_number(plan.apart)}; {best}"
        yield Titled(title, caption, GloriaPicture(plan).draw())


def _apart(queries: Sequence[QueryPlan], reasons: dict[str, str]) -> Iterator[Titled]:
    for query in queries:
        if query.query.name in reasons:
            picture = TemplatePicture(template_of_query(query)).draw()
            yield Titled(brief([query.query.name], MAX_LETTERS), f"apart: {reasons[query.query.name]}", picture)


@dataclass(frozen=True)
class PlanBox:
    """A transition sharing plan with its name, its Q-sets, and its distance from the start nodes."""

    node: NodeRecord
    plan: SharingPlan

    @cached_property
    def lines(self) -> tuple[str, ...]:
        names = self.plan.template.label
        sets = [
            f"{brief(names(queries))} apart"
            if snapshot is None
            else f"({brief(names(queries))}) {self.plan.template.nodes[snapshot].type}"
            for queries, snapshot in self.node.q_sets
        ]
        more = [f"+{len(sets) - MAX_SETS} Q-sets"] if len(sets) > MAX_SETS else []
        return (*(cut(one, 40) for one in sets[:MAX_SETS]), *more, f"d = {_number(self.node.distance)}")

    @property
    def body(self) -> float:
        return max(width_of(self.node.name) + 12, *(width_of(one, SMALL) + 12 for one in self.lines))

    @property
    def height(self) -> float:
        return SIZE + 8 + LINE * len(self.lines)

    def draw(self, parent: ET.Element, at: Box) -> None:
        made = group(parent, hint=node_text(self.plan.template, self.node))
        fill = GRAY if self.node.chosen else WHITE
        rectangle(made, at, fill, 6, self.node.verdict == "pruned", 2.4 if self.node.chosen else 1.2)
        text(made, at.middle, at.y + SIZE + 2, self.node.name, bold=self.node.chosen)
        for number, one in enumerate(self.lines, 1):
            pale = PALE if number == len(self.lines) else "#1a1a1a"
            text(made, at.middle, at.y + SIZE + 2 + LINE * number, one, SMALL, pale)


class GloriaPicture:
    """A laid out graph: the start nodes, a column for each pool, and the end nodes."""

    def __init__(self, plan: SharingPlan) -> None:
        self._plan = plan
        self.boxes = {node.name: PlanBox(node, plan) for pool in plan.graph.pools for node in _shown(pool.nodes)}
        self._rank = {node.name: 2 * number for number, pool in enumerate(plan.graph.pools, 1) for node in pool.nodes}
        self.edges = self._edges()
        self.ends = {name: label for edge in self.edges for name, label in self._outer(edge)}
        self.layout: Layout = layered(list(self._nodes()), [self._laid(edge) for edge in self.edges])

    def _edges(self) -> list[EdgeRecord]:
        shown = [
            edge
            for edge in self._plan.graph.edges
            if (edge.source is None or edge.source in self.boxes)
            and (isinstance(edge.target, int) or edge.target in self.boxes)
        ]
        return shown if len(shown) <= MAX_EDGES else [edge for edge in shown if not edge.pruned]

    def _outer(self, edge: EdgeRecord) -> Iterator[tuple[str, str]]:
        """Yield the start and end node of an edge, if it has them, with the queries that start or end there."""
        if edge.source is None:
            yield self.ends_of(edge)[0], f"start {brief(self._starting(edge))}"
        if isinstance(edge.target, int):
            yield self.ends_of(edge)[1], f"end {brief(self._plan.template.label(edge.target))}"

    def _starting(self, edge: EdgeRecord) -> tuple[str, ...]:
        stage = self._stage(edge)
        routes = zip(self._plan.template.names, self._plan.template.routes, strict=True)
        return tuple(name for name, route in routes if route.stages[0] == stage)

    def _stage(self, edge: EdgeRecord) -> int:
        return self._plan.graph.pools[self._rank[str(edge.target)] // 2 - 1].stage

    def ends_of(self, edge: EdgeRecord) -> tuple[str, str]:
        """Return the names of both ends in the layout."""
        source = edge.source if edge.source is not None else f"start {self._stage(edge)}"
        return source, edge.target if isinstance(edge.target, str) else f"end {edge.target}"

    def _nodes(self) -> Iterator[Node]:
        last = 2 * len(self._plan.graph.pools) + 2
        for name, label in self.ends.items():
            rank = 0 if name.startswith("start") else last
            yield Node(name, rank, width_of(label) + 16, 30, width_of(label) + 16, 15, 18)
        for name, box in self.boxes.items():
            yield Node(name, self._rank[name], box.body, box.height, box.body, box.height / 2, box.height - 12)

    def _laid(self, edge: EdgeRecord) -> Edge:
        source, target = self.ends_of(edge)
        return Edge(source, target, (width_of(_number(edge.weight), SMALL) + 6, LINE))

    def draw(self) -> Picture:
        whole = group()
        graph = group(whole, 0, HEAD)
        pairs = sorted(zip(self.edges, self.layout.routes, strict=True), key=lambda pair: pair[0].chosen)
        for edge, route in pairs:
            self._draw_edge(graph, edge, route)
        for name, label in self.ends.items():
            at = self.layout.boxes[name]
            rectangle(graph, at, round_by=15)
            text(graph, at.middle, at.y + 15 + SIZE / 3, label)
        for name, box in self.boxes.items():
            box.draw(graph, self.layout.boxes[name])
        width = self._draw_heads(whole)
        return Picture(whole, max(self.layout.width, width), self.layout.height + HEAD)

    def _draw_edge(self, parent: ET.Element, edge: EdgeRecord, route: EdgeRoute) -> None:
        made = group(parent, hint=f"{' -> '.join(self.ends_of(edge))}: {_number(edge.weight)}")
        draw_route(made, route, dashed=edge.pruned, line=2.8 if edge.chosen else 1.0)
        assert route.label is not None
        text(made, route.label.middle, route.label.bottom - 5, _number(edge.weight), SMALL, bold=edge.chosen)

    def _draw_heads(self, parent: ET.Element) -> float:
        """Draw the names of the pools above their columns, with the number of hidden nodes; return the right border."""
        right = 0.0
        for pool in self._plan.graph.pools:
            boxes = [self.layout.boxes[node.name] for node in pool.nodes if node.name in self.boxes]
            more = len(pool.nodes) - len(boxes)
            name = stage_name(self._plan.template, pool.stage)
            head = group(parent, hint=name)
            shown = f"{cut(name, 16)}, +{more}" if more else cut(name, 18)
            text(head, boxes[0].middle, SMALL, shown, SMALL, PALE)
            right = max(right, boxes[0].middle + width_of(shown, SMALL) / 2)
        return right


def _shown(nodes: Sequence[NodeRecord]) -> list[NodeRecord]:
    return sorted(nodes, key=lambda node: (not node.chosen, node.distance))[:MAX_NODES]


def _number(value: float) -> str:
    return f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"
