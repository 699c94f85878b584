"""The GLORIA template: a workload as one automaton over event types (GLORIA, Section 2.2).

A node is an event type together with the local predicates on it, so that queries meet in a transition only where they
take the same events. Queries are numbered within the template, and sets of them are bit masks.

What a query does between two places where all its trends pass is a *stage*: one transition of a sequence, or a whole
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
    """tran(E_i, E_j), by number of the nodes."""

    source: int
    target: int
    kind: Kind = "sequence"


@dataclass(frozen=True)
class Stage:
    """What all queries of a Q-set share as a whole, or not at all."""

    transitions: tuple[Transition, ...]
    """One, but in a Kleene sub-pattern, or before or behind one that may begin or end in several ways."""
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
        """The nodes whose snapshots may be created here: the source; within Kleene any (Path Generation Principle)."""
        return self.nodes if self.kleene else self.sources if len(self.sources) == 1 else ()


@dataclass(frozen=True)
class Route:
    """A query: its stages in the order in which trends go through them.

    Between two stages, before the first and behind the last, trends pass a *junction*: a few nodes, mostly one.
    """

    stages: tuple[int, ...]
    junctions: tuple[tuple[int, ...], ...]
    """One more than stages."""
    starts: frozenset[int]
    """The nodes that START has a transition to."""
    ends: frozenset[int]
    """The nodes that have a transition to END."""
    guarded: frozenset[int]
    """Places in the route whose stage has a negation in its gap."""


@dataclass(frozen=True)
class Template:
    members: tuple[Member, ...]
    """The queries by number: which counter of which query of the workload."""
    names: tuple[str, ...]
    nodes: tuple[TypeNode, ...]
    stages: tuple[Stage, ...]
    """In an order in which a stage comes behind those that lead to it, as far as there is one."""
    routes: tuple[Route, ...]
    """By query."""

    def label(self, queries: Mask) -> tuple[str, ...]:
        return tuple(self.names[query] for query in bits(queries))


def bits(mask: Mask) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
