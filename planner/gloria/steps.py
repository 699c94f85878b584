"""A sharing plan as what runs it: shared states, and what arrives at them.

Between two nodes a query's trends are taken along by its Q-set there. A *shared state* is a node with the Q-set that
brings the trends of its queries there: what ends with events of the node, as one expression for all of them. Within
Kleene that is the sub-pattern's Q-set, which also lets in what comes from before it. Q-sets that are reused one from
the other have the same snapshots: they are a *chain*.

What arrives with an event comes from *sources*, other states of the chain, or, where snapshots are created, an *inlet*:
a snapshot with the value, for each query, of its own counters of the nodes before; it is renewed when these have
changed. The empty trend is such a counter that never changes, so queries that all begin with the first node of a chain
need no snapshot for its events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elsinore.planner.gloria.plan import QSet, SharingPlan

EMPTY = 0
"""The machine's state of the empty trend."""

QSetKey = tuple[int, int, bool]
"""Stage, number among its Q-sets; and whether it stands for what comes before it: the start of all its queries."""


@dataclass
class State:
    node: int
    chain: int
    users: tuple[int, ...]
    """The queries."""
    read: bool = False
    """Does its expression go on?"""
    valued: set[int] = field(default_factory=set)
    """Queries whose counters are read before the events of a pane are over."""

    @property
    def early(self) -> tuple[int, ...]:
        """Those whose expression is evaluated when it is asked for; the others' when all is settled."""
        return tuple(query for query in self.users if query in self.valued or not self.read)

    @property
    def late(self) -> tuple[int, ...]:
        return tuple(query for query in self.users if query not in self.early)


@dataclass(frozen=True)
class Inlet:
    chain: int
    states: Mapping[int, tuple[int, ...]]
    """By query, the states of its machine whose trends come in."""
    nodes: frozenset[int]
    """Events of these change them."""
    asks: tuple[int, ...]
    """The shared states whose queries have to have values for it."""


@dataclass(frozen=True)
class Arrival:
    """What an event of a node does for a shared state."""

    state: int
    sources: tuple[int, ...]
    """Shared states."""
    inlets: tuple[int, ...]
    loops: bool
    """Does it go on from events of its own node?"""


@dataclass(frozen=True)
class OwnArrival:
    """What it does for a query that nobody shares with."""

    query: int
    loops: bool
    asks: tuple[int, ...]


@dataclass
class Steps:
    """All of a plan."""

    chains: list[tuple[int, ...]] = field(default_factory=list)
    """Their queries."""
    states: list[State] = field(default_factory=list)
    inlets: list[Inlet] = field(default_factory=list)
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    """By node."""
    own: dict[int, list[OwnArrival]] = field(default_factory=dict)


def steps_of(plan: SharingPlan, state_of: Sequence[Mapping[int, int]]) -> Steps:
    """`state_of`: by query and node, the state of its machine."""
    return _Builder(plan, state_of).build()


class _Builder:
    def __init__(self, plan: SharingPlan, state_of: Sequence[Mapping[int, int]]) -> None:
        self.plan = plan
        self.template = plan.template
        self.state_of = state_of
        self.steps = Steps()
        self.chain_of: dict[tuple[int, int], int] = {}
        self.number_of: dict[tuple[int, QSetKey], int] = {}
        self.inlet_of: dict[tuple[int, tuple[tuple[int, tuple[int, ...]], ...]], int] = {}

    def build(self) -> Steps:
        for query in range(len(self.template.routes)):
            for node in self.state_of[query]:
                key = self._brings(query, node)
                if key is not None:
                    self._state(node, key)
                else:
                    self._own(query, node)
        for (node, key), number in list(self.number_of.items()):
            self.steps.arrivals.setdefault(node, []).append(self._arrival(node, key, number))
        return self.steps

    def _brings(self, query: int, node: int) -> QSetKey | None:
        """The Q-set that brings a query's trends to a node, if several share it."""
        route = self.template.routes[query]
        stages = self.template.stages
        loop = [stage for stage in route.stages if stages[stage].kleene and node in stages[stage].nodes]
        into = loop or [stage for stage in route.stages if node in stages[stage].targets]
        if into:
            number = self._number(query, into[0])
            return (into[0], number, False) if self._q_set(into[0], number).shared else None
        if not route.stages:
            return None
        first = route.stages[0]
        number = self._number(query, first)
        return (first, number, True) if self._begins(first, number, node) else None

    def _begins(self, stage: int, number: int, node: int) -> bool:
        """Do all queries of a Q-set begin with the node that it comes from?"""
        one = self._q_set(stage, number)
        routes = [self.template.routes[query] for query in one.members]
        return (
            one.shared
            and not self.template.stages[stage].kleene
            and all(route.stages[0] == stage and node in route.starts for route in routes)
        )

    def _number(self, query: int, stage: int) -> int:
        return next(n for n, one in enumerate(self.plan.q_sets[stage]) if one.queries >> query & 1)

    def _q_set(self, stage: int, number: int) -> QSet:
        return self.plan.q_sets[stage][number]

    def _before(self, stage: int, one: QSet) -> int:
        """The stage before, of queries that all come from one."""
        route = self.template.routes[one.members[0]].stages
        return route[route.index(stage) - 1]

    def _chain(self, stage: int, number: int) -> int:
        one = self._q_set(stage, number)
        if one.previous is not None:
            return self._chain(self._before(stage, one), one.previous)
        if (stage, number) not in self.chain_of:
            self.chain_of[stage, number] = len(self.steps.chains)
            self.steps.chains.append(one.members)
        return self.chain_of[stage, number]

    def _state(self, node: int, key: QSetKey) -> int:
        if (node, key) not in self.number_of:
            members = self._q_set(*key[:2]).members
            users = tuple(query for query in members if self._brings(query, node) == key)
            self.number_of[node, key] = len(self.steps.states)
            self.steps.states.append(State(node, self._chain(*key[:2]), users))
        return self.number_of[node, key]

    def _arrival(self, node: int, key: QSetKey, number: int) -> Arrival:
        stage, q_set, begins = key
        one = self._q_set(stage, q_set)
        if begins:
            return Arrival(number, (), (self._inlet(stage, q_set, {query: [] for query in one.members}),), False)
        if not self.template.stages[stage].kleene:
            return Arrival(number, *self._along(stage, q_set, node), False)
        inside = self._transitions(stage, node)
        self.steps.states[number].read |= node in inside
        sources = [self._read(source, key) for source in inside if source != node]
        if one.previous is not None:
            before, inlets = self._along(self._before(stage, one), one.previous, node)
            return Arrival(number, (*sources, *before), inlets, node in inside)
        outside = {query: self._outside(query, stage, node) for query in one.members}
        inlets = (self._inlet(stage, q_set, outside),) if any(found is not None for found in outside.values()) else ()
        return Arrival(number, tuple(sources), inlets, node in inside)

    def _transitions(self, stage: int, node: int) -> list[int]:
        return [one.source for one in self.template.stages[stage].transitions if one.target == node]

    def _along(self, stage: int, number: int, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What a Q-set of a sequence takes along to a node: states, and inlets."""
        one = self._q_set(stage, number)
        sources = self._transitions(stage, node)
        if one.previous is not None:
            key = (self._before(stage, one), one.previous, False)
            return tuple(self._read(source, key) for source in sources), ()
        begun = [source for source in sources if self._begins(stage, number, source)]
        others = [source for source in sources if source not in begun]
        inlets = (self._inlet(stage, number, dict.fromkeys(one.members, others)),) if others else ()
        return tuple(self._read(source, (stage, number, True)) for source in begun), inlets

    def _read(self, node: int, key: QSetKey) -> int:
        number = self._state(node, key)
        self.steps.states[number].read = True
        return number

    def _outside(self, query: int, stage: int, node: int) -> list[int] | None:
        """The nodes from which a query comes to a node of Kleene, none where it begins there; None: it does not."""
        route = self.template.routes[query]
        place = route.stages.index(stage)
        if place == 0:
            return [] if node in route.starts else None
        return self._transitions(route.stages[place - 1], node) or None

    def _inlet(self, stage: int, number: int, nodes: Mapping[int, list[int] | None]) -> int:
        """A snapshot of counters of these nodes, by query; where there are none, of the empty trend."""
        chain = self._chain(stage, number)
        states = {
            query: tuple(self.state_of[query][node] for node in some) or (EMPTY,)
            for query, some in nodes.items()
            if some is not None
        }
        key = chain, tuple(states.items())
        if key not in self.inlet_of:
            ends = [(query, node) for query, some in nodes.items() for node in some or ()]
            asks = dict.fromkeys(ask for query, node in ends for ask in self._value(query, node))
            self.inlet_of[key] = len(self.steps.inlets)
            outside = frozenset(node for _, node in ends)
            self.steps.inlets.append(Inlet(chain, states, outside, tuple(asks)))
        return self.inlet_of[key]

    def _value(self, query: int, node: int) -> list[int]:
        """The shared state that a query's counter of a node is evaluated from, if there is one."""
        key = self._brings(query, node)
        if key is None:
            return []
        number = self._state(node, key)
        self.steps.states[number].valued.add(query)
        return [number]

    def _own(self, query: int, node: int) -> None:
        route = self.template.routes[query]
        sources = [source for stage in route.stages for source in self._transitions(stage, node)]
        asks = dict.fromkeys(ask for source in sources if source != node for ask in self._value(query, source))
        self.steps.own.setdefault(node, []).append(OwnArrival(query, node in sources, tuple(asks)))
