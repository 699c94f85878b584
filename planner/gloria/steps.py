"""The executable form of a sharing plan: shared states, and what arrives at them.

Between two nodes a Q-set propagates the trends of its queries. A *shared state* is a node with the Q-set that brings
the trends of its queries there: all trends that end with events of the node, as one expression for all these queries.
Within Kleene that is the sub-pattern's Q-set, which also takes in what comes from before the sub-pattern. Q-sets that
are reused one from the other propagate the same snapshots: they are a *chain*.

An event adds to a shared state what its *sources* hold, other states of the chain. Where snapshots are created it adds
an *inlet*: a snapshot with the value, for each query, of the query's own counters of the nodes before. The inlet is
renewed when these counters have changed. The empty trend is such a counter that never changes, so a chain whose queries
all begin with its first node needs one snapshot in a pane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elsinore.planner.gloria.plan import QSet, SharingPlan

EMPTY = 0
"""The machine's state of the empty trend."""

QSetKey = tuple[int, int, bool]
"""Stage, number of the Q-set in it, and whether all its queries begin with the node, so that no Q-set leads there."""


@dataclass
class State:
    node: int
    chain: int
    users: tuple[int, ...]
    """Queries whose trends the state holds."""
    read: bool = False
    """True if events of other nodes, or later ones of its own, propagate its expression."""
    valued: set[int] = field(default_factory=set)
    """Queries whose counters are read before the events of a pane are over."""

    @property
    def early(self) -> tuple[int, ...]:
        """Return the queries whose expression is evaluated on demand; that of the others is evaluated on settling."""
        return tuple(query for query in self.users if query in self.valued or not self.read)

    @property
    def late(self) -> tuple[int, ...]:
        return tuple(query for query in self.users if query not in self.early)


@dataclass(frozen=True)
class Inlet:
    chain: int
    states: Mapping[int, tuple[int, ...]]
    """By query, the states of its machine whose trends the snapshot holds."""
    nodes: frozenset[int]
    """Nodes whose events change these trends."""
    asks: tuple[int, ...]
    """Shared states to evaluate first, for the values of their queries."""


@dataclass(frozen=True)
class Arrival:
    """The effect of an event of a node on a shared state."""

    state: int
    sources: tuple[int, ...]
    """Shared states whose expressions are added."""
    inlets: tuple[int, ...]
    loops: bool
    """True if events of the node may follow one another."""


@dataclass(frozen=True)
class OwnArrival:
    """The effect of an event of a node on a query that shares nothing there."""

    query: int
    loops: bool
    asks: tuple[int, ...]


@dataclass
class Steps:
    """All steps of a plan."""

    chains: list[tuple[int, ...]] = field(default_factory=list)
    """The queries of each chain."""
    states: list[State] = field(default_factory=list)
    inlets: list[Inlet] = field(default_factory=list)
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    """By node."""
    own: dict[int, list[OwnArrival]] = field(default_factory=dict)


def steps_of(plan: SharingPlan, state_of: Sequence[Mapping[int, int]]) -> Steps:
    """Return the steps of a plan; `state_of` has, by query and node, the state of the query's machine."""
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
        """Return the Q-set that brings a query's trends to a node, or None if the query shares nothing there."""
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
        """Return whether a Q-set is shared and all its queries begin with the node that it comes from."""
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
        """Return the stage before, for a Q-set whose queries all come from the same one."""
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
        starts = self._starts(stage, q_set, node)
        if not self.template.stages[stage].kleene:
            along, inlets = self._along(stage, q_set, node)
            return Arrival(number, along, (*inlets, *starts), False)
        inside = self._transitions(stage, node)
        self.steps.states[number].read |= node in inside
        sources = [self._read(source, key) for source in inside if source != node]
        if one.previous is not None:
            before, inlets = self._along(self._before(stage, one), one.previous, node)
            return Arrival(number, (*sources, *before), (*inlets, *starts), node in inside)
        outside = {query: self._outside(query, stage, node) for query in one.members}
        inlets = (self._inlet(stage, q_set, outside),) if any(found is not None for found in outside.values()) else ()
        return Arrival(number, tuple(sources), (*inlets, *starts), node in inside)

    def _starts(self, stage: int, number: int, node: int) -> tuple[int, ...]:
        """Return the inlet of the empty trend for queries whose trends also start at a node that a stage leads to.

        So it is where the elements before it may be left out. Queries that enter Kleene with their first stage have
        the empty trend there already.
        """
        routes = {query: self.template.routes[query] for query in self._q_set(stage, number).members}
        kleene = self.template.stages[stage].kleene
        found = [
            query
            for query, route in routes.items()
            if node in route.starts and not (kleene and route.stages.index(stage) == 0)
        ]
        return (self._inlet(stage, number, {query: [] for query in found}),) if found else ()

    def _transitions(self, stage: int, node: int) -> list[int]:
        return [one.source for one in self.template.stages[stage].transitions if one.target == node]

    def _along(self, stage: int, number: int, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the states and inlets that a Q-set of a sequence propagates to a node."""
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
        """Return the nodes from which a query enters a Kleene node; [] if its first stage begins there, else None."""
        route = self.template.routes[query]
        place = route.stages.index(stage)
        if place == 0:
            return [] if node in route.starts else None
        return self._transitions(route.stages[place - 1], node) or None

    def _inlet(self, stage: int, number: int, nodes: Mapping[int, list[int] | None]) -> int:
        """Return the inlet with counters of these nodes, by query; with the empty trend where a query has no nodes."""
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
        """Mark a query's counter of a node as read, and return the shared state that it is evaluated from, if any."""
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
