"""The merged query template: all patterns of a workload as one automaton over event types (HAMLET, Section 3.1).

An event type occurs once, however many patterns have it. A transition carries the queries for which it holds, so a
sub-pattern that several queries have is visible. A type that occurs only in negations has no transitions; the gaps that
its matches close are kept separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from elsinore.planner.machines.automaton import Automaton, Crossings
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.sharing import ShareSet

Key = TypeVar("Key")

Transition = tuple[str, str]
"""E1 and E2: events of type E1 precede events of type E2 in a trend."""

Label = tuple[str, ...]
"""The queries for which something holds, in the order of the workload."""


@dataclass(frozen=True)
class Template:
    queries: Label
    types: tuple[str, ...]
    """Each type once, in the order of the patterns; types in negations are included."""
    transitions: Mapping[Transition, Label]
    starts: Mapping[str, Label]
    """By type: the queries whose trends such an event may start."""
    ends: Mapping[str, Label]
    kleenes: Mapping[str, Label]
    """By type E: the queries with a Kleene sub-pattern E+."""
    negated: Mapping[str, Label]
    gaps: Mapping[Transition, Label]
    """Ways through negated sub-patterns, from the type before the gap to the type behind it."""

    def start(self, query: str) -> frozenset[str]:
        return _having(self.starts, query)

    def end(self, query: str) -> frozenset[str]:
        return _having(self.ends, query)

    def predecessors(self, name: str, query: str) -> frozenset[str]:
        """Return pt(E, q)."""
        return frozenset(before for before, after in _having(self.transitions, query) if after == name)


def template(automata: Mapping[str, Iterable[Automaton]]) -> Template:
    """Return the template of patterns by query; a pattern with AND has an automaton for each of its operands."""
    builder = _Builder()
    for query, wholes in automata.items():
        for whole in wholes:
            builder.add(query, whole)
    return builder.template(tuple(automata))


def template_of_set(plan: Plan, share_set: ShareSet) -> Template:
    found: dict[str, list[Automaton]] = {}
    for member in share_set.members:
        query = plan.queries[member.query]
        # A query that returns matches has no counter.
        for counter in query.counters[member.counter : member.counter + 1]:
            found.setdefault(query.query.name, []).extend(counter.automata)
    return template(found)


def template_of_query(query: QueryPlan) -> Template:
    return template({query.query.name: [whole for counter in query.counters for whole in counter.automata]})


def _having(labels: Mapping[Key, Label], query: str) -> frozenset[Key]:
    return frozenset(key for key, queries in labels.items() if query in queries)


class _Labels(Generic[Key]):
    """Queries by key, each once."""

    def __init__(self) -> None:
        self._found: dict[Key, dict[str, None]] = {}

    def add(self, key: Key, query: str) -> None:
        self._found.setdefault(key, {})[query] = None

    def done(self) -> dict[Key, Label]:
        return {key: tuple(queries) for key, queries in self._found.items()}


@dataclass
class _Builder:
    types: dict[str, None] = field(default_factory=dict)
    transitions: _Labels[Transition] = field(default_factory=_Labels)
    starts: _Labels[str] = field(default_factory=_Labels)
    ends: _Labels[str] = field(default_factory=_Labels)
    kleenes: _Labels[str] = field(default_factory=_Labels)
    negated: _Labels[str] = field(default_factory=_Labels)
    gaps: _Labels[Transition] = field(default_factory=_Labels)

    def template(self, queries: Label) -> Template:
        return Template(
            queries,
            tuple(self.types),
            self.transitions.done(),
            self.starts.done(),
            self.ends.done(),
            self.kleenes.done(),
            self.negated.done(),
            self.gaps.done(),
        )

    def add(self, query: str, whole: Automaton) -> None:
        name = [position.type for position in whole.positions]
        self.types |= dict.fromkeys(name)
        for p, crossings in whole.first.items():
            self.starts.add(name[p], query)
            self._gap(query, whole, crossings, (), (name[p],))
        for p, edges in whole.follow.items():
            for r, crossings in edges.items():
                self.transitions.add((name[p], name[r]), query)
                self._gap(query, whole, crossings, (name[p],), (name[r],))
            if p in edges:
                self.kleenes.add(name[p], query)
        for p, crossings in whole.last.items():
            self.ends.add(name[p], query)
            self._gap(query, whole, crossings, (name[p],), ())
        for guard in whole.guards:
            self._negate(query, guard)

    def _gap(
        self, query: str, whole: Automaton, crossings: Crossings, before: tuple[str, ...], behind: tuple[str, ...]
    ) -> None:
        """Add the edges from the type before a gap into each negation in it, and on to the type behind the gap."""
        for number in sorted({number for way in crossings for number in way}):
            guard = whole.guards[number]
            entered = ((one, guard.positions[p].type) for one in before for p in guard.first)
            left = ((guard.positions[p].type, one) for p in guard.last for one in behind)
            for edge in (*entered, *left):
                self.gaps.add(edge, query)

    def _negate(self, query: str, guard: Automaton) -> None:
        name = [position.type for position in guard.positions]
        self.types |= dict.fromkeys(name)
        for one in name:
            self.negated.add(one, query)
        for p, edges in guard.follow.items():
            for r in edges:
                self.gaps.add((name[p], name[r]), query)
