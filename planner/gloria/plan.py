"""Sharing plans: which queries share which transitions, with which snapshots (GLORIA, Definitions 2.6 and 2.7).

This is what the executor reads. All queries of a plan have the same partition attributes, the same number of grouping
attributes and the same MIN and MAX; their windows may differ. A plan has a Q-set for every query and every stage of its
route: `SharingPlan.q_set(query, stage)`. There are three kinds of Q-sets.

- *Non-shared* (`snapshot is None`): the Q-set is one query, which propagates values of its own.
- *Local* (`local`): each event of node `snapshot`, the source of the transition, has a snapshot of its own. For each
  query of the Q-set the value of the snapshot is the intermediate aggregate of the event. This value is known if the
  query came non-shared or begins with the event; else the expression of the event is evaluated for the query first.
  Then the Q-set propagates the snapshot, an expression of length 1, along the transition, once for all its queries.
- *Reused* (a snapshot, not `local`): at the stage before this one in their routes, all queries of the Q-set are in the
  same Q-set, with the same snapshots (`previous` is its number there). The expressions of events from there are
  propagated as they are. The Q-set may have fewer queries than the one before, even a single one: the others end, join
  other Q-sets, or are evaluated.

Where a query that shares does not reuse its Q-set behind a node, its expression is evaluated at the events of the node.
The same is done at the nodes where the query may end.

In a Kleene sub-pattern all transitions are one stage with one snapshot for all of them. Reused snapshots come from
before the sub-pattern and do not change in the loop: nothing is evaluated in it. Local ones are of a node of the loop:
an event of this node begins new expressions, so what comes to it, from before the loop or around it, is evaluated for
each query. Where the node is not the first of the loop, events before it that come from outside of the loop have a
value for each query. That is a snapshot too, which lives until the first event of the node.
"""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.templates.template import Mask, Template, Transition, bits


@dataclass(frozen=True)
class QSet:
    """Queries that share the execution of a stage, or a single query that shares it with no other."""

    queries: Mask
    snapshot: int | None = None
    """The node whose events have the snapshots that the Q-set propagates; None: non-shared."""
    local: bool = False
    """True if the snapshots are created at this stage; else they are those of the Q-set that the queries come from."""
    previous: int | None = None
    """Number of that Q-set among those of the stage before this one in the routes of the queries; None: not reused."""

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
    """The total cost by the optimizer's cost model."""
    apart: float
    """The cost of running all queries apart."""
    proved: bool
    """True if every other plan has been ruled out; else the plan is the best that was found."""
    graph: GraphRecord
    """The GLORIA graph in which the plan was found."""

    def q_set(self, query: int, stage: int) -> QSet:
        """Return the Q-set of a query of the template at a stage of its route."""
        return next(one for one in self.q_sets[stage] if one.queries >> query & 1)

    def steps(self, query: int) -> tuple[tuple[Transition, QSet], ...]:
        """Return all transitions of a query in the order of its route, each with its Q-set."""
        stages = self.template.routes[query].stages
        return tuple(
            (transition, self.q_set(query, stage))
            for stage in stages
            for transition in self.template.stages[stage].transitions
        )

    @property
    def shares(self) -> bool:
        return any(one.shared for sets in self.q_sets for one in sets)
