"""The arrays that kernels read for the steps of a sharing plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Shape
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.gloria.plan_numba_fns import UNKNOWN, Arrivals, Chains, Inlets, PlanWorkspace, States
from elsinore.actors.lowering.arrays import column, flat, long_column, pointers, starts_of
from elsinore.actors.lowering.sets import MemberColumns
from elsinore.planner.gloria.sets import NodePlace, PlannedSet
from elsinore.planner.gloria.steps import Steps

Ints = npt.NDArray[np.int64]
Added = tuple[int, int]
"""A node, and the column that its events add up or compare."""


@dataclass(frozen=True)
class PlanMember:
    """A query of a planned set, with the lanes and the shape of its counters."""

    places: dict[int, NodePlace]
    """By node, its place in the query."""
    columns: MemberColumns
    shape: Shape

    @property
    def sums(self) -> list[Added]:
        return [(self._node(variable), number) for variable, number in self.columns.sums]

    @property
    def minima(self) -> list[Added]:
        return [(self._node(variable), number) for variable, number in self.columns.minima]

    def _node(self, variable: str) -> int:
        return next(node for node, place in self.places.items() if place.variable == variable)


class PlanTables:
    """The arrays of a planned set, for members with these columns and shapes."""

    def __init__(
        self, planned: PlannedSet, steps: Steps, members: Sequence[PlanMember], kinds: EventKinds, capacity: int
    ) -> None:
        self.planned = planned
        self.steps = steps
        self.members = members
        self.kinds = kinds
        self.capacity = max(capacity, 1 + max(_sizes(steps), default=0))
        self.users = [(chain, query) for chain, queries in enumerate(steps.chains) for query in queries]
        self.user_of = {user: number for number, user in enumerate(self.users)}
        nodes = [{state.node for state in steps.states if state.chain == chain} for chain in range(len(steps.chains))]
        self.sums = [self._needed(chain, nodes[chain], [one.sums for one in members]) for chain in range(len(nodes))]
        self.minima = [
            self._needed(chain, nodes[chain], [one.minima for one in members]) for chain in range(len(nodes))
        ]
        self.state_order = sorted(range(len(steps.states)), key=lambda state: steps.states[state].chain)
        self.inlet_order = sorted(range(len(steps.inlets)), key=lambda inlet: steps.inlets[inlet].chain)
        self.state_number = {old: new for new, old in enumerate(self.state_order)}
        self.inlet_number = {old: new for new, old in enumerate(self.inlet_order)}
        self.chains = self._chains()
        self.states = self._states()
        self.inlets = self._inlets()
        self.arrivals = self._arrivals()

    def _needed(self, chain: int, nodes: set[int], added: Sequence[Sequence[Added]]) -> list[Added]:
        """Return what events of a chain's nodes add to lanes of its queries, each once."""
        queries = self.steps.chains[chain]
        return list(dict.fromkeys(one for query in queries for one in added[query] if one[0] in nodes))

    def _chains(self) -> Chains:
        steps, shapes = self.steps, [one.shape for one in self.members]
        values, value_widths, own_value = self._room([s.rows * s.lanes * s.words for s in shapes])
        least, least_widths, own_least = self._room([s.rows * s.keys for s in shapes])
        sums = [_places(self.members[query].sums, self.sums[chain], 1, 0) for chain, query in self.users]
        minima = [_places(self.members[query].minima, self.minima[chain], 0, -1) for chain, query in self.users]
        chains = range(len(steps.chains))
        return Chains(
            state_at=pointers([[1 for one in steps.states if one.chain == chain] for chain in chains]),
            inlet_at=pointers([[1 for one in steps.inlets if one.chain == chain] for chain in chains]),
            lanes=long_column(1 + len(some) for some in self.sums),
            keys=long_column(map(len, self.minima)),
            value_at=values,
            value_width=value_widths,
            least_at=least,
            least_width=least_widths,
            member=column(query for _, query in self.users),
            own_value=own_value,
            own_least=own_least,
            **flat(sum=sums, key=minima),
        )

    def _room(self, size: Sequence[int]) -> tuple[Ints, Ints, Ints]:
        """Return where each chain's snapshots begin, how wide one is, and where each query's value is in it."""
        widths = [sum(size[query] for query in queries) for queries in self.steps.chains]
        own = [place for queries in self.steps.chains for place in starts_of(size[query] for query in queries)]
        return long_column(starts_of(width * self.capacity for width in widths)), long_column(widths), long_column(own)

    def _states(self) -> States:
        ordered = [self.steps.states[state] for state in self.state_order]
        lanes = [1 + len(self.sums[one.chain]) for one in ordered]
        keys = [len(self.minima[one.chain]) for one in ordered]
        flow = [one.read for one in ordered]
        due = [bool(one.early) for one in ordered]
        places, self.coefficients = _spread(flow, due, [count * self.capacity for count in lanes], self._before(lanes))
        least, self.keys = _spread(flow, due, [count * self.capacity for count in keys], self._before(keys))
        sums = [_of_node(one.node, self.sums[one.chain]) for one in ordered]
        minima = [_of_node(one.node, self.minima[one.chain]) for one in ordered]
        users = [(*one.early, *one.late) for one in ordered]
        first = starts_of(map(len, users))
        return States(
            chain=column(one.chain for one in ordered),
            flow=places[0],
            flow_least=least[0],
            due=places[1],
            due_least=least[1],
            user_at=pointers(users),
            late_at=column(start + len(one.early) for start, one in zip(first, ordered, strict=True)),
            user=column(self.user_of[one.chain, q] for one, some in zip(ordered, users, strict=True) for q in some),
            place=column(
                self.members[q].places[one.node].state for one, some in zip(ordered, users, strict=True) for q in some
            ),
            lane_at=pointers(sums),
            lane=column(place + 1 for one in sums for place, _ in one),
            column=column(number for one in sums for _, number in one),
            key_at=pointers(minima),
            key=column(place for one in minima for place, _ in one),
            column_key=column(number for one in minima for _, number in one),
        )

    def _before(self, lanes: Sequence[int]) -> int:
        """Return the room for what belongs to no state: the number 1, and two expressions of the greatest width."""
        return max(lanes, default=1) * (1 + 2 * self.capacity)

    def _inlets(self) -> Inlets:
        ordered = [self.steps.inlets[inlet] for inlet in self.inlet_order]
        users = [[self.user_of[one.chain, query] for query in one.states] for one in ordered]
        asks = [[self.state_number[state] for state in one.asks] for one in ordered]
        return Inlets(
            chain=column(one.chain for one in ordered),
            from_at=pointers([states for one in ordered for states in one.states.values()]),
            source=column(state for one in ordered for states in one.states.values() for state in states),
            **flat(user=users, ask=asks),
        )

    def _arrivals(self) -> Arrivals:
        steps, nodes = self.steps, range(len(self.planned.plan.template.nodes))
        shared = [steps.arrivals.get(node, []) for node in nodes]
        own = [steps.own.get(node, []) for node in nodes]
        every, alone = [one for some in shared for one in some], [one for some in own for one in some]
        sources = [[self.state_number[state] for state in one.sources] for one in every]
        inlets = [[self.inlet_number[inlet] for inlet in one.inlets] for one in every]
        asks = [[self.state_number[state] for state in one.asks] for one in alone]
        of_type = [[n for n in nodes if self.planned.plan.template.nodes[n].type == name] for name in self.kinds.types]
        stale = [[self.inlet_number[k] for k, one in enumerate(steps.inlets) if node in one.nodes] for node in nodes]
        sums = [sorted({k for one in self.members for n, k in one.sums if n == node and k >= 0}) for node in nodes]
        minima = [sorted({k for one in self.members for n, k in one.minima if n == node}) for node in nodes]
        return Arrivals(
            of_kind=column(self.kinds.type_of),
            type_at=pointers(of_type),
            node=column(node for some in of_type for node in some),
            takes=np.array([list(self._takes(node)) for node in nodes], np.bool_).reshape(-1),
            at=pointers(shared),
            state=column(self.state_number[one.state] for one in every),
            loops=np.array([one.loops for one in every], np.bool_),
            **self._costs([one.state for one in every]),
            own_at=pointers(own),
            own_member=column(one.query for one in alone),
            own_loops=np.array([one.loops for one in alone], np.bool_),
            **flat(source=sources, inlet=inlets, ask=asks, stale=stale, sum=sums, least=minima),
        )

    def _costs(self, states: Sequence[int]) -> dict[str, npt.NDArray[np.float64]]:
        """Return, by state, the costs of the ways in which a burst may arrive there; 0 if there is no decision."""
        names = ("event", "value", "settled", "alone", "alone_event")
        found = np.zeros((len(names), len(states)))
        costs = self.planned.bursts
        if costs is not None:
            for place, state in enumerate(states):
                numbers, chain = self._numbers(state), self.steps.states[state].chain
                every = sum(self._numbers(n) for n, one in enumerate(self.steps.states) if one.chain == chain)
                snapshots = costs.value * numbers, costs.value * every
                found[:, place] = costs.loop, *snapshots, costs.own * numbers, costs.step * numbers
        return dict(zip(names, found, strict=True))

    def _numbers(self, state: int) -> int:
        """Return how many numbers the counters of a state's users have."""
        shapes = [self.members[query].shape for query in self.steps.states[state].users]
        return sum(shape.rows * shape.lanes for shape in shapes)

    def _takes(self, node: int) -> Iterator[bool]:
        """Yield, by kind of events, whether a node takes them; all queries with the node take the same events."""
        member, place = next((n, one.places[node]) for n, one in enumerate(self.members) if node in one.places)
        for classes in self.kinds.classes:
            yield classes[member] in place.accepts

    def workspace(self, exact: bool, words: int, insertions: int) -> PlanWorkspace:
        """Return the memory for one partition, with coefficients of `words` words."""
        most_lanes = int(self.chains.lanes.max(initial=1))
        most_keys = int(self.chains.keys.max(initial=0))
        coefficients = np.zeros(self.coefficients * words, number_type(exact, words))
        coefficients[0] = 1
        shape = self.members[0].shape
        chains, states, inlets = len(self.steps.chains), len(self.steps.states), len(self.steps.inlets)
        columns = [number for one in self.members for _, number in one.columns.sums]
        keys = [number for one in self.members for _, number in one.columns.minima]
        return PlanWorkspace(
            coefficients=coefficients,
            least=np.full(self.keys, NONE, np.int64),
            base=most_lanes,
            base_least=most_keys,
            before=most_lanes * (1 + self.capacity),
            before_least=most_keys * (1 + self.capacity),
            words=words,
            capacity=self.capacity,
            values=np.zeros(int(self.chains.value_width.sum()) * self.capacity, number_type(exact, shape.words)),
            value_least=np.full(int(self.chains.least_width.sum()) * self.capacity, NONE, np.int64),
            snapshots=np.zeros(chains, np.int64),
            made=np.zeros(1, np.int64),
            insertions=insertions,
            settled=np.zeros(chains, np.int64),
            initial=np.full(states, UNKNOWN, np.int64),
            grown=np.zeros(states, np.bool_),
            owing=np.zeros(states, np.bool_),
            current=np.full(inlets, UNKNOWN, np.int64),
            sums=np.zeros(1 + max(columns, default=0), np.int64 if exact else np.float64),
            minima=np.zeros(1 + max(keys, default=0), np.int64),
        )


def _sizes(steps: Steps) -> Iterator[int]:
    """Yield, by arrival, the most snapshots that it can need at once."""
    for arrivals in steps.arrivals.values():
        for one in arrivals:
            asked = {ask for inlet in one.inlets for ask in steps.inlets[inlet].asks}
            yield 1 + len(one.sources) + len(one.inlets) + len(asked)


def _spread(
    flow: Sequence[bool], due: Sequence[bool], size: Sequence[int], before: int
) -> tuple[tuple[Ints, Ints], int]:
    """Return where the `flow` and the `due` expression of each state begin (-1: it has none), and where all end."""
    wanted = [here for both in zip(flow, due, strict=True) for here in both]
    ends = list(accumulate((width * here for width, here in zip(np.repeat(size, 2), wanted, strict=True)), initial=0))
    places = [before + int(end) if here else -1 for end, here in zip(ends, wanted, strict=False)]
    return (long_column(places[::2]), long_column(places[1::2])), before + int(ends[-1])


def _of_node(node: int, added: Sequence[Added]) -> list[Added]:
    """Return what events of a node add to, as pairs of place and column."""
    return [(place, number) for place, (own, number) in enumerate(added) if own == node]


def _places(own: Sequence[Added], needed: Sequence[Added], first: int, none: int) -> list[int]:
    return [first + needed.index(one) if one in needed else none for one in own]
