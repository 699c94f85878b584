"""A query's part of a sharing plan: runs of stages that it shares with the same snapshots.

Independently of the other queries, the plan of a query is a set of *segments*: stages in a row through which it
propagates the snapshots of one node. It goes through the stages between them non-shared. It pays for evaluations alone.
Propagations are paid together, once for all queries that have shared everything since the snapshots were created. So
the propagations make a tree for each node, and each edge of it is a *strand*, paid once however many queries use it. A
workload sharing plan is a choice of segments for each query; its cost is that of the queries alone plus that of the
strands in use. The choices cover all plans, also those that split a Q-set.
"""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.costs.prices import Prices, only
from elsinore.planner.gloria.templates.template import Mask, Stage, StageRoute, Template


@dataclass(frozen=True)
class Segment:
    """Stages `first` to `last` of a route (places, `last` excluded), with the snapshots of a node."""

    first: int
    last: int
    snapshot: int
    strands: tuple[int, ...]
    """Strands by stage."""
    own: float
    """The cost that the query pays alone."""
    saves: float
    """The non-shared cost of these stages, less `own`."""


@dataclass(frozen=True)
class Run:
    """All segments that begin at one place with one node's snapshots, the shortest first."""

    first: int
    root: int
    """The strand of the first stage."""
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Strands:
    cost: tuple[float, ...]
    root: tuple[bool, ...]
    """True if the snapshots are created here, which takes at least two queries: one alone shares nothing."""
    queries: tuple[Mask, ...]
    """The queries that could use the strand."""


@dataclass(frozen=True)
class Space:
    """All plans of a template."""

    strands: Strands
    runs: tuple[tuple[Run, ...], ...]
    """By query, in order of place."""
    apart: tuple[tuple[float, ...], ...]
    """By query and place, the cost of the non-shared stage."""
    start: float
    """The cost that all queries pay in any plan."""


def space_of(template: Template, prices: Prices) -> Space:
    builder = _Builder(template, prices)
    runs = [builder.runs(query, route) for query, route in enumerate(template.routes)]
    strands = Strands(tuple(builder.cost), tuple(builder.root), tuple(builder.queries))
    return Space(
        strands,
        tuple(tuple(run for run in some if strands.queries[run.root].bit_count() > 1) for some in runs),
        tuple(tuple(prices.nonshared(stage) for stage in route.stages) for route in template.routes),
        sum(prices.start(node) for route in template.routes for node in sorted(route.starts)),
    )


class _Builder:
    def __init__(self, template: Template, prices: Prices) -> None:
        self._template, self._prices = template, prices
        self._known: dict[tuple[int, int], int] = {}
        self.cost: list[float] = []
        self.root: list[bool] = []
        self.queries: list[Mask] = []

    def runs(self, query: int, route: StageRoute) -> list[Run]:
        return [
            self._run(query, route, first, snapshot)
            for first, stage in enumerate(self._stages(route))
            if first not in route.guarded
            for snapshot in stage.locals
        ]

    def _run(self, query: int, route: StageRoute, first: int, snapshot: int) -> Run:
        stage = route.stages[first]
        paid = self._prices.own(stage, snapshot)
        strands = [self._strand(-1 - snapshot, stage, self._prices.begun(stage, snapshot), query)]
        segments = [self._segment(route, first, first + 1, snapshot, strands, paid)]
        for place in range(first + 1, len(route.stages)):
            if place in route.guarded or only(route.junctions[place], route.starts):
                break
            paid += self._prices.evaluated(self._ends(route, place), snapshot, None)
            stage = route.stages[place]
            strands.append(self._strand(strands[-1], stage, self._prices.shared(stage, snapshot), query))
            segments.append(self._segment(route, first, place + 1, snapshot, strands, paid))
        return Run(first, strands[0], tuple(segments))

    def _segment(
        self, route: StageRoute, first: int, last: int, snapshot: int, strands: list[int], paid: float
    ) -> Segment:
        """Return a segment; its own cost includes the evaluation behind it, of events that go on or that end."""
        over = last == len(route.stages)
        nodes = self._ends(route, last) if over else frozenset(route.junctions[last])
        own = paid + self._prices.evaluated(nodes, snapshot, None if over else route.stages[last])
        apart = sum(map(self._prices.nonshared, route.stages[first:last]))
        return Segment(first, last, snapshot, tuple(strands), own, apart - own)

    def _ends(self, route: StageRoute, place: int) -> frozenset[int]:
        """Return the nodes where the query may end; those of a Kleene sub-pattern are counted behind it."""
        if place < len(route.stages) and self._template.stages[route.stages[place]].kleene:
            return frozenset()
        return only(route.junctions[place], route.ends)

    def _stages(self, route: StageRoute) -> list[Stage]:
        return [self._template.stages[stage] for stage in route.stages]

    def _strand(self, before: int, stage: int, cost: float, query: int) -> int:
        """Return the number of a strand; `before` is the strand before it, or -1 - node at a root."""
        number = self._known.setdefault((before, stage), len(self.cost))
        if number == len(self.cost):
            self.cost.append(cost)
            self.root.append(before < 0)
            self.queries.append(0)
        self.queries[number] |= 1 << query
        return number
