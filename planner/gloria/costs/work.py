"""The cost of running a sharing plan step by step (`planner/gloria/steps.py`), in nanoseconds for a window.

A finished plan is known more precisely than one in the search: when each snapshot is renewed, and which steps read the
values of which queries. Types are taken to come in random order.
"""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.gloria.costs.engine_cost import MOST_SNAPSHOTS, EngineCost, turns
from elsinore.planner.gloria.steps import Arrival, Inlet, State, Steps
from elsinore.planner.gloria.templates.template import TypeNode


class Work:
    def __init__(
        self, steps: Steps, nodes: Sequence[TypeNode], numbers: Sequence[int], model: EngineCost, decided: bool
    ) -> None:
        """Count the snapshots of each chain.

        `numbers` has, by query, how many counters an event may change; `decided` says whether bursts are decided about.
        """
        self._steps, self._numbers, self._model, self._costs = steps, numbers, model, model.costs
        self._decided = decided
        self._bursts = [model.statistics.bursts(node.type) for node in nodes]
        self._events = [model.statistics.of(node) for node in nodes]
        self._renewed = [0.0] * len(steps.inlets)
        for node, arrivals in steps.arrivals.items():
            for inlet in {inlet for one in arrivals for inlet in one.inlets}:
                self._renewed[inlet] += self._renewals(steps.inlets[inlet], node)
        self._made = [0.0] * len(steps.chains)
        """Snapshots created in a window, by chain."""
        for one, times in zip(steps.inlets, self._renewed, strict=True):
            self._made[one.chain] += times

    def cost(self) -> float:
        steps = self._steps
        return (
            sum(self._events) * self._costs.scan
            + sum(self._arrived(node, one) for node, some in steps.arrivals.items() for one in some)
            + sum(self._own(node) for node in steps.own)
            + sum(self._let_in(number) for number in range(len(steps.inlets)))
            + sum(map(self._settled, steps.states))
        )

    def _renewals(self, inlet: Inlet, node: int) -> float:
        """Return how often an inlet is renewed for events of a node; for the empty trend, once in a pane."""
        changed = sum(self._bursts[one] for one in inlet.nodes)
        return turns(changed, self._bursts[node]) if inlet.nodes else self._model.panes

    def _arrived(self, node: int, one: Arrival) -> float:
        bursts, length = self._bursts[node], self._length(self._steps.states[one.state].chain)
        if not one.loops:
            ways = len(one.sources) * length + len(one.inlets)
            return bursts * (self._costs.arrive + self._costs.lengthen * ways)
        arrived, taken = bursts * self._costs.arrive, bursts * self._costs.loop
        if not self._decided:
            return arrived + taken * length
        anew = bursts * (length + 1) * self._costs.value * self._every(one.state)
        return arrived + min(taken * length, taken + anew)

    def _own(self, node: int) -> float:
        """Return the cost of queries by themselves at a node, and of the shared states that they have evaluated."""
        some = self._steps.own[node]
        burst, events = self._bursts[node] * self._costs.own, self._events[node] * self._costs.step
        asked = {ask for one in some for ask in one.asks}
        return sum(self._numbers[one.query] * (burst + one.loops * events) for one in some) + self._asked(asked, node)

    def _asked(self, states: set[int], node: int) -> float:
        return sum(
            turns(self._bursts[state.node], self._bursts[node]) * self._evaluated(state.early, state)
            for state in (self._steps.states[number] for number in sorted(states))
        )

    def _evaluated(self, users: Sequence[int], state: State) -> float:
        return self._length(state.chain) * self._costs.value * self._of(users)

    def _let_in(self, number: int) -> float:
        inlet, times = self._steps.inlets[number], self._renewed[number]
        asked = sum(self._evaluated(state.early, state) for state in (self._steps.states[ask] for ask in inlet.asks))
        created = self._costs.value * self._of(tuple(inlet.states)) if inlet.nodes else 0.0
        return times * (created + asked)

    def _settled(self, state: State) -> float:
        """Return the cost of evaluating each snapshot once; if a chain is full, each state begins with one again."""
        made = self._made[state.chain]
        again = max(0.0, made - MOST_SNAPSHOTS * self._model.panes) / MOST_SNAPSHOTS
        return self._costs.value * (made * self._of(state.late) + again * self._of(state.users))

    def _length(self, chain: int) -> float:
        """Return the mean length of a chain, which grows from one snapshot to its limit."""
        return (1.0 + min(MOST_SNAPSHOTS, max(1.0, self._made[chain] / self._model.panes))) / 2

    def _every(self, state: int) -> int:
        chain = self._steps.states[state].chain
        return sum(self._of(one.users) for one in self._steps.states if one.chain == chain)

    def _of(self, users: Sequence[int]) -> int:
        return sum(self._numbers[query] for query in users)
