"""Prefix trees: sequences, with common parts represented once (A-Seq, Sections 4.1 and 4.2).

A sequence is a route through nodes, one for each of its event types. Routes that begin alike have their first nodes in
common: that is the PreTree. A route may be chopped into pieces. Each piece begins a tree of its own or goes along one
that another route has begun; a snapshot connects it with the pieces before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.share_sets import condition
from elsinore.planner.machines.automaton import CLOSED, FREE, Automaton
from elsinore.planner.plans.model import QueryPlan


@dataclass(frozen=True)
class ForestStep:
    """An event type of a sequence; equal steps do the same with the same events."""

    node: TypeNode
    guards: frozenset[TypeNode]
    """Types negated behind the step: an event of one of these empties its counter (Lemma 6)."""


@dataclass(frozen=True)
class ForestNode:
    """A counter per start event of its tree, of the trends that begin with that event and end here."""

    step: ForestStep
    parent: int | None
    """The node before it in its tree; None: its events are the start events."""
    root: int


@dataclass(frozen=True)
class ForestRoute:
    """The nodes of a sequence, and where its pieces begin (places in the route, 0 first)."""

    nodes: tuple[int, ...]
    cuts: tuple[int, ...]

    @property
    def pieces(self) -> tuple[tuple[int, ...], ...]:
        ends = (*self.cuts[1:], len(self.nodes))
        return tuple(self.nodes[cut:end] for cut, end in zip(self.cuts, ends, strict=True))


@dataclass(frozen=True)
class Forest:
    nodes: tuple[ForestNode, ...]
    """Nodes tree by tree, each behind its parent."""
    routes: tuple[ForestRoute, ...]
    """Routes by member."""

    def users(self, node: int) -> tuple[int, ...]:
        """Return the members whose routes go through a node."""
        return tuple(member for member, route in enumerate(self.routes) if node in route.nodes)


def forest_of(sequences: Sequence[tuple[ForestStep, ...]], cuts: Sequence[Iterable[int]]) -> Forest:
    """Return the forest of some sequences; `cuts` has, for each, where pieces behind the first begin."""
    builder = _Builder()
    routes = [builder.route(steps, (0, *sorted(own))) for steps, own in zip(sequences, cuts, strict=True)]
    order = sorted(range(len(builder.nodes)), key=lambda number: builder.nodes[number].root)
    number_of = {old: new for new, old in enumerate(order)}
    return Forest(
        tuple(_renumbered(builder.nodes[old], number_of) for old in order),
        tuple(ForestRoute(tuple(number_of[node] for node in route.nodes), route.cuts) for route in routes),
    )


def _renumbered(node: ForestNode, number_of: Mapping[int, int]) -> ForestNode:
    parent = None if node.parent is None else number_of[node.parent]
    return ForestNode(node.step, parent, number_of[node.root])


class _Builder:
    def __init__(self) -> None:
        self.nodes: list[ForestNode] = []
        self._known: dict[tuple[int | None, ForestStep], int] = {}

    def route(self, steps: tuple[ForestStep, ...], cuts: tuple[int, ...]) -> ForestRoute:
        nodes: list[int] = []
        for place, step in enumerate(steps):
            nodes.append(self._node(None if place in cuts else nodes[-1], step))
        return ForestRoute(tuple(nodes), cuts)

    def _node(self, parent: int | None, step: ForestStep) -> int:
        number = self._known.setdefault((parent, step), len(self.nodes))
        if number == len(self.nodes):
            root = number if parent is None else self.nodes[parent].root
            self.nodes.append(ForestNode(step, parent, root))
        return number


def sequence_of(plan: QueryPlan) -> tuple[ForestStep, ...] | None:
    """Return the steps of a query whose pattern is a sequence of event types; None for all other patterns.

    Single event types may be negated between two steps and behind the last one.
    """
    if len(plan.counters) != 1:
        return None
    whole = plan.counters[0].automata[0]
    last = len(whole.positions) - 1
    chained = all(set(following) == ({p + 1} if p < last else set()) for p, following in whole.follow.items())
    ways = [*(whole.follow[p].get(p + 1, CLOSED) for p in range(last)), whole.last.get(last, CLOSED)]
    if not chained or whole.first != {0: FREE} or len(whole.last) != 1 or any(len(one) != 1 for one in ways):
        return None
    gaps = [next(iter(one)) for one in ways]
    if any(len(whole.guards[guard].positions) > 1 for gap in gaps for guard in gap):
        return None
    return tuple(
        ForestStep(_type_node(plan, whole, p), frozenset(_type_node(plan, whole.guards[guard], 0) for guard in gap))
        for p, gap in enumerate(gaps)
    )


def _type_node(plan: QueryPlan, whole: Automaton, position: int) -> TypeNode:
    one = whole.positions[position]
    local = plan.predicates.local
    return TypeNode(one.type, condition(plan, one.variable) if one.variable in local else frozenset())
