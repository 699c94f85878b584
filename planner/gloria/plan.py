"""Sharing plans: which queries share which transitions, with which snapshots (GLORIA, Definitions 2.6 and 2.7).

For the executor. All queries of a plan have the same partition attributes, the same number of grouping attributes and
the same MIN and MAX; their windows may differ. A plan has an answer for every query and every transition of its route:
`SharingPlan.q_set(query, stage)`. An answer is one of three.

- *Non-shared* (`snapshot is None`): the Q-set is one query; values of its own go along the transition.
- *Local* (`local`): each event of node `snapshot`, the source of the transition, has a snapshot of its own. For each
  query of the Q-set the value of the snapshot is the intermediate aggregate of the event. It is there as a value where
  the query came non-shared or begins with the event; else the expression of the event is evaluated for the query first.
  Then the Q-set propagates the snapshot, an expression of length 1, along the transition, once for all its queries.
- *Reused* (a snapshot, not `local`): at the route's stage before this one each query of the Q-set is in one and the
  same Q-set, with the same snapshots (`previous` is its number there). The expression that an event has from there goes
  on as it is. The Q-set may have fewer queries than the one before, even a single one: the others end, go elsewhere, or
  are evaluated.

Where a query is in another kind of Q-set, or in none, behind a node than before it, its expression is evaluated at the
events of the node. So it is at the nodes where the query may end.

In a Kleene sub-pattern all transitions are one stage with one snapshot for all of them. Reused snapshots come from
before it and stay as they are in the loop: nothing is evaluated in it. Local ones are of a node of the loop: an event
of this node begins new expressions, so what comes to it, from before the loop or around it, is evaluated for each
query. Where the node is not the first of the loop, events before it that come from outside of the loop have a value for
each query; that too is a snapshot, which lives until the first event of the node.
"""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.templates.template import Mask, Template, Transition, bits


@dataclass(frozen=True)
class QSet:
    """Queries that share the execution of a stage; or a single one that does not."""

    queries: Mask
    snapshot: int | None = None
    """The node whose events have the snapshots that it propagates; None: non-shared."""
    local: bool = False
    """Are they created here? Else they are those of the Q-set that the queries come from."""
    previous: int | None = None
    """That Q-set: its number among those of the stage before this in the routes of the queries."""

    @property
    def shared(self) -> bool:
        return self.snapshot is not None

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(bits(self.queries))


@dataclass(frozen=True)
class SharingPlan:
    """A workload sharing plan: for every stage of the template its Q-sets, which partition the stage's queries."""

    template: Template
    optimizer: str
    q_sets: tuple[tuple[QSet, ...], ...]
    """By stage."""
    cost: float
    """What it costs in all, by the optimizer's cost model."""
    apart: float
    """What it costs to run all queries apart."""
    proved: bool
    """Has every other plan been ruled out? Else it is the best that was found."""
    graph: GraphRecord
    """The GLORIA graph that it was found in."""

    def q_set(self, query: int, stage: int) -> QSet:
        """The Q-set that a query of the template is in, at a stage of its route."""
        return next(one for one in self.q_sets[stage] if one.queries >> query & 1)

    def steps(self, query: int) -> tuple[tuple[Transition, QSet], ...]:
        """All transitions of a query in the order of its route, each with its Q-set."""
        stages = self.template.routes[query].stages
        return tuple(
            (transition, self.q_set(query, stage))
            for stage in stages
            for transition in self.template.stages[stage].transitions
        )

    @property
    def shares(self) -> bool:
        return any(one.shared for sets in self.q_sets for one in sets)
