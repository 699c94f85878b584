"""The costs of a template's stages, each computed once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.templates.template import Template, Transition, TypeNode


class Prices:
    """The costs of stages by a cost model; nodes and stages by number."""

    def __init__(self, template: Template, model: CostModel) -> None:
        self._stages, self._nodes, self._model = template.stages, template.nodes, model
        self.start = cache(self._start)
        self.nonshared = cache(self._nonshared)
        self.shared = cache(self._shared)
        self.begun = cache(self._begun)
        self.own = cache(self._own)
        self.evaluated = cache(self._evaluated)

    def _start(self, node: int) -> float:
        return self._model.start(self._nodes[node])

    def _nonshared(self, stage: int) -> float:
        """Return the cost of a stage per query."""
        return sum(map(self.apart, self._stages[stage].transitions))

    def _shared(self, stage: int, snapshot: int) -> float:
        """Return the cost of a stage per Q-set; snapshots of a Kleene sub-pattern come from before it."""
        return sum(self.step(transition, snapshot) for transition in self._stages[stage].transitions)

    def _begun(self, stage: int, snapshot: int) -> float:
        """Return the cost of a stage per Q-set, with snapshots created here."""
        return sum(
            self.renewal(one)[0] if self._renews(stage, one, snapshot) else self.step(one, snapshot)
            for one in self._stages[stage].transitions
        )

    def _own(self, stage: int, snapshot: int) -> float:
        """Return the cost per query of creating snapshots here, and of bringing what comes around a loop into them."""
        transitions = self._stages[stage].transitions
        around = sum(self.renewal(one)[1] for one in transitions if self._renews(stage, one, snapshot))
        readers = self._readers(stage, frozenset([snapshot]))
        return self._model.created(self._nodes[snapshot], readers) + around

    def _evaluated(self, nodes: frozenset[int], snapshot: int, stage: int | None) -> float:
        """Return the cost per query of evaluating expressions for the stage behind, or at the end if that is None.

        Events with a snapshot of their own need no evaluation: their value is known.
        """
        readers = () if stage is None else self._readers(stage, nodes)
        return sum(
            self._model.evaluated(self._nodes[node], self._nodes[snapshot], readers)
            for node in nodes
            if node != snapshot
        )

    def _readers(self, stage: int, nodes: frozenset[int]) -> tuple[TypeNode, ...]:
        """Return the nodes of a stage whose events follow those of some nodes."""
        read = {one.target for one in self._stages[stage].transitions if one.source in nodes}
        return tuple(self._nodes[node] for node in sorted(read))

    def _renews(self, stage: int, transition: Transition, snapshot: int) -> bool:
        return self._stages[stage].kleene and transition.target == snapshot

    def fewer(self, one: int, other: int) -> bool:
        """Return whether a window has fewer events, and so fewer snapshots, of one node than of another."""
        of = self._model.statistics.of
        return of(self._nodes[one]) < of(self._nodes[other])

    def apart(self, transition: Transition) -> float:
        return self._model.nonshared(self._nodes[transition.source], self._nodes[transition.target])

    def step(self, transition: Transition, snapshot: int) -> float:
        source, target = self._nodes[transition.source], self._nodes[transition.target]
        return self._model.shared(source, target, self._nodes[snapshot])

    def renewal(self, transition: Transition) -> tuple[float, float]:
        """Return the costs, per Q-set and per query, of a transition around a loop into the node of the snapshots."""
        return self._model.around(self._nodes[transition.source], self._nodes[transition.target])


def only(nodes: Iterable[int], among: frozenset[int]) -> frozenset[int]:
    return among.intersection(nodes)
