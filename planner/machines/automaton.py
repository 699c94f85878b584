"""Build position automata from patterns.

Every occurrence of an event type in a pattern is a position. `first`, `last` and `follow` say which positions may start
a trend, end it, and stand next to each other in it, as in Glushkov's construction. `NOT p` is an element that matches
no event: it is crossed, and leaves its guard in its gap.

A gap may be crossed in several ways: `SEQ(A, (NOT C | NOT E), B)` lets B follow A where no C, or where no E, lies
between. So an edge carries *crossings*: alternatives, each a set of guards of which none may have been matched. Guards
are numbered in the order of the pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from elsinore.planner.language.syntax import And, EventType, Kleene, Not, Or, Pattern, Seq

Gap = frozenset[int]
"""One way to cross a gap: the guards of which none may have been matched."""

Crossings = frozenset[Gap]
"""The alternative ways to cross a gap; an empty set means that it cannot be crossed."""

FREE: Crossings = frozenset({frozenset()})
CLOSED: Crossings = frozenset()

Edges = dict[int, Crossings]


@dataclass(frozen=True)
class Position:
    type: str
    variable: str


@dataclass(frozen=True)
class Automaton:
    positions: tuple[Position, ...]
    first: Mapping[int, Crossings]
    last: Mapping[int, Crossings]
    follow: Mapping[int, Mapping[int, Crossings]]
    empty: Crossings
    """The ways to cross the pattern without an event."""
    guards: tuple[Automaton, ...] = ()

    @property
    def neighbours(self) -> set[tuple[str, str]]:
        """Return pairs of variables (x, y) such that an event of y may directly follow one of x."""
        name = [position.variable for position in self.positions]
        return {(name[p], name[r]) for p, edges in self.follow.items() for r in edges}


def automaton(pattern: Pattern) -> Automaton:
    """Return the automaton of a resolved pattern without AND."""
    builder = _Builder()
    fragment = builder.build(pattern)
    return Automaton(
        tuple(builder.positions),
        fragment.first,
        fragment.last,
        {p: builder.follow.get(p, {}) for p in range(len(builder.positions))},
        fragment.empty,
        tuple(automaton(guard) for guard in builder.guards),
    )


def operands(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return the operands of the AND at the top, nested ones flattened; a pattern without AND is its own operand."""
    if not isinstance(pattern, And):
        return (pattern,)
    return tuple(leaf for part in pattern.parts for leaf in operands(part))


def follows(pattern: Pattern) -> set[tuple[str, str]]:
    """Return all pairs of variables of a resolved pattern that may be neighbours, including those inside NOT."""
    found: set[tuple[str, str]] = set()
    for operand in operands(pattern):
        whole = automaton(operand)
        for part in (whole, *whole.guards):
            found |= part.neighbours
    return found


def least(gaps: Iterable[Gap]) -> Crossings:
    """Return the minimal ways to cross: without those that contain all guards of another way."""
    ways = set(gaps)
    return frozenset(way for way in ways if not any(other < way for other in ways))


def either(one: Crossings, other: Crossings) -> Crossings:
    if not one or not other or one == other:
        return one or other
    return least(one | other)


def both(one: Crossings, other: Crossings) -> Crossings:
    if one == FREE or other == FREE:
        return other if one == FREE else one
    return least(a | b for a in one for b in other)


@dataclass
class _Fragment:
    empty: Crossings
    first: Edges = field(default_factory=dict)
    last: Edges = field(default_factory=dict)


class _Builder:
    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.follow: dict[int, Edges] = {}
        self.guards: list[Pattern] = []

    def build(self, pattern: Pattern) -> _Fragment:
        match pattern:
            case EventType():
                return self._position(pattern)
            case Not():
                return _Fragment(frozenset({frozenset({self._guard(pattern.part)})}))
            case Seq():
                return self._sequence(pattern.parts)
            case Or():
                return self._alternatives(pattern.parts)
            case Kleene():
                return self._kleene(pattern.part, pattern.least, pattern.most)
            case And():
                raise AssertionError("AND is only at the top of a pattern")

    def _position(self, leaf: EventType) -> _Fragment:
        assert leaf.variable is not None, "the pattern is resolved"
        position = len(self.positions)
        self.positions.append(Position(leaf.name, leaf.variable))
        return _Fragment(CLOSED, {position: FREE}, {position: FREE})

    def _guard(self, pattern: Pattern) -> int:
        if pattern not in self.guards:
            self.guards.append(pattern)
        return self.guards.index(pattern)

    def _sequence(self, parts: Iterable[Pattern]) -> _Fragment:
        whole = _Fragment(FREE)
        for part in parts:
            whole = self._join(whole, self.build(part))
        return whole

    def _join(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self._connect(left.last, right.first)
        return _Fragment(
            both(left.empty, right.empty),
            _merge(left.first, _through(left.empty, right.first)),
            _merge(right.last, _through(right.empty, left.last)),
        )

    def _alternatives(self, parts: Iterable[Pattern]) -> _Fragment:
        whole = _Fragment(CLOSED)
        for part in parts:
            one = self.build(part)
            whole.empty = either(whole.empty, one.empty)
            whole.first.update(one.first)
            whole.last.update(one.last)
        return whole

    def _kleene(self, part: Pattern, fewest: int, most: int | None) -> _Fragment:
        whole = _Fragment(FREE)
        for copy in range(fewest):
            fragment = self.build(part)
            if most is None and copy == fewest - 1:
                self._connect(fragment.last, fragment.first)
            whole = self._join(whole, fragment)
        if most is None:
            return whole if fewest else self._star(part)
        return self._join(whole, self._at_most(part, most - fewest))

    def _star(self, part: Pattern) -> _Fragment:
        fragment = self.build(part)
        self._connect(fragment.last, fragment.first)
        return _Fragment(FREE, fragment.first, fragment.last)

    def _at_most(self, part: Pattern, copies: int) -> _Fragment:
        """Return the fragment of `(p (p …)?)?`: one copy is entered before the next, so equal trends read alike."""
        whole = _Fragment(FREE)
        for _ in range(copies):
            inner = self._join(self.build(part), whole)
            whole = _Fragment(FREE, inner.first, inner.last)
        return whole

    def _connect(self, lasts: Edges, firsts: Edges) -> None:
        for p, leave in lasts.items():
            edges = self.follow.setdefault(p, {})
            for r, enter in firsts.items():
                edges[r] = either(edges.get(r, CLOSED), both(leave, enter))


def _merge(one: Edges, other: Edges) -> Edges:
    return {p: either(one.get(p, CLOSED), other.get(p, CLOSED)) for p in {**one, **other}}


def _through(empty: Crossings, edges: Edges) -> Edges:
    """Return the edges as reached across a part that matches no event, with the guards of that part."""
    if not empty:
        return {}
    return {p: both(empty, crossings) for p, crossings in edges.items()}
