"""Search for a sequence of events that can bind a named variable in two ways.

Two readings of the same events are followed side by side through the pattern. The shortest pair that ends well and
differs in a named variable is the example in the message to the user.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from elsinore.planner.language.syntax import Query
from elsinore.planner.machines.automaton import Automaton, Position, automaton, operands
from elsinore.planner.machines.predicates import classify


@dataclass(frozen=True)
class Ambiguity:
    events: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]

    def __str__(self) -> str:
        events, one, other = (", ".join(names) for names in (self.events, self.one, self.other))
        return f"the events {events} can be read as {one} and as {other}"


@dataclass(frozen=True)
class _Pair:
    """The positions of the last event in two readings, and whether the readings have differed so far."""

    one: int
    other: int
    differ: bool


def named(query: Query) -> frozenset[str]:
    """Return the variables that an aggregate or a predicate on neighbours names."""
    aggregated = {item.variable for item in query.aggregates if item.variable}
    linked = {name for link in classify(query).links for name in (link.before, link.after)}
    return frozenset(aggregated | linked)


def ambiguity(query: Query) -> Ambiguity | None:
    """Return an example of events that bind the named variables of a resolved query in two ways, or None."""
    names = named(query)
    if not names:
        return None
    wholes = [automaton(part) for part in operands(query.pattern)]
    for whole in wholes:
        if found := _search(whole, whole, names):
            return found
    if any(item.variable for item in query.aggregates):
        for i, one in enumerate(wholes):
            for other in wholes[i + 1 :]:
                if found := _search(one, other, None):
                    return found
    return None


def _search(one: Automaton, other: Automaton, names: frozenset[str] | None) -> Ambiguity | None:
    """Search breadth first for events with two readings that differ in a named variable.

    Without names, any events that both patterns match will do.
    """

    def pair(p: int, q: int, before: bool) -> _Pair:
        a, b = one.positions[p].variable, other.positions[q].variable
        return _Pair(p, q, before or names is None or (a != b and (a in names or b in names)))

    @cache
    def by_type(q: int | None) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for r in other.first if q is None else other.follow[q]:
            found.setdefault(other.positions[r].type, []).append(r)
        return found

    def steps(state: _Pair | None) -> Iterator[_Pair]:
        firsts = one.first if state is None else one.follow[state.one]
        seconds = by_type(None if state is None else state.other)
        for p in firsts:
            for q in seconds.get(one.positions[p].type, ()):
                yield pair(p, q, state is not None and state.differ)

    came: dict[_Pair, _Pair | None] = {}
    queue: deque[_Pair | None] = deque([None])
    while queue:
        state = queue.popleft()
        if state and state.differ and state.one in one.last and state.other in other.last:
            return _example(one, other, _path(came, state))
        for after in steps(state):
            if after not in came:
                came[after] = state
                queue.append(after)
    return None


def _path(came: dict[_Pair, _Pair | None], end: _Pair) -> list[_Pair]:
    path: list[_Pair] = []
    state: _Pair | None = end
    while state is not None:
        path.append(state)
        state = came[state]
    return path[::-1]


def _example(one: Automaton, other: Automaton, path: list[_Pair]) -> Ambiguity:
    return Ambiguity(
        tuple(one.positions[pair.one].type for pair in path),
        tuple(_shown(one.positions[pair.one]) for pair in path),
        tuple(_shown(other.positions[pair.other]) for pair in path),
    )


def _shown(position: Position) -> str:
    """Return the variable of a position for a message; its type, if the variable is one that no user can write."""
    return position.type if "#" in position.variable else position.variable
