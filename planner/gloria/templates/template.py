"""The GLORIA template: a workload as one automaton over event types (GLORIA, Section 2.2).

A node is an event type together with the local predicates on it, so that queries meet in a transition only where they
take the same events. Queries are numbered within the template, and sets of them are bit masks.

A *stage* is the part of a query between two places that all its trends pass: one transition of a sequence, or a whole
Kleene sub-pattern with its feedback transitions (Section 7.1 keeps these apart from sequences over the same types). A
query is a *route* of stages. All queries with a stage could share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from elsinore.planner.plans.sharing import Member

Mask = int
"""A set of queries of the template: bit `q` for query number `q`."""

Kind = Literal["sequence", "feedback", "nested feedback"]
"""A feedback Kleene transition goes from an end of a Kleene sub-pattern to its start; nested: around another one."""


@dataclass(frozen=True, order=True)
class TypeNode:
    """An event type with the local predicates that its events satisfy, as texts without a variable."""

    type: str
    condition: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.type if not self.condition else f"{self.type}[{' AND '.join(sorted(self.condition))}]"


@dataclass(frozen=True)
class Transition:
    """A transition tran(E_i, E_j), with its nodes by number."""

    source: int
    target: int
    kind: Kind = "sequence"


@dataclass(frozen=True)
class Stage:
    """A part of a route that all queries of a Q-set share as a whole, or not at all."""

    transitions: tuple[Transition, ...]
    """One; several in a Kleene sub-pattern, and before or behind one that may begin or end in several ways."""
    kleene: bool
    queries: Mask
    guarded: Mask
    """Queries with a negation in the gap: they never share this stage."""

    @property
    def sources(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(transition.source for transition in self.transitions))

    @property
    def targets(self) -> frozenset[int]:
        return frozenset(transition.target for transition in self.transitions)

    @property
    def nodes(self) -> tuple[int, ...]:
        ends = (node for transition in self.transitions for node in (transition.source, transition.target))
        return tuple(dict.fromkeys(ends))

    @property
    def locals(self) -> tuple[int, ...]:
        """Return the nodes whose snapshots may be created here: a single source; in Kleene any node (Section 6)."""
        return self.nodes if self.kleene else self.sources if len(self.sources) == 1 else ()


@dataclass(frozen=True)
class StageRoute:
    """The stages of a query in the order in which trends go through them.

    Between two stages, before the first and behind the last, trends pass a *junction*: a few nodes, mostly one.
    """

    stages: tuple[int, ...]
    junctions: tuple[tuple[int, ...], ...]
    """Junctions by their nodes; there is one more than stages."""
    starts: frozenset[int]
    """The nodes that START has a transition to."""
    ends: frozenset[int]
    """The nodes that have a transition to END."""
    guarded: frozenset[int]
    """Places in the route of the stages with a negation in their gap."""


@dataclass(frozen=True)
class Template:
    members: tuple[Member, ...]
    """By number of the query in the template: its counter in the workload."""
    names: tuple[str, ...]
    nodes: tuple[TypeNode, ...]
    stages: tuple[Stage, ...]
    """In topological order, as far as the routes have no cycle."""
    routes: tuple[StageRoute, ...]
    """By query."""

    def label(self, queries: Mask) -> tuple[str, ...]:
        return tuple(self.names[query] for query in bits(queries))


def bits(mask: Mask) -> Iterator[int]:
    """Yield the numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
