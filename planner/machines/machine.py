"""Machines: finitely many counters, and what an event does to them. `subsets` makes them of automata.

A partial trend is remembered by its *state*: which positions may come next, through which
gaps, and how far the guards in these gaps have got since its last event. All partial trends
in one state share one counter (COGRA's type-grained aggregate); an event appends itself to
the trends of some states (Theorem 4.2), and moves or ends others:

- it may *consume* them: under skip-till-next-match the trends that it is adjacent to, under
  contiguous all trends that are older;
- it may advance a *guard*: a negated sub-pattern matched inside the gap closes it.

Each of these is linear in the counters, so spans of a stream can be summed up and combined.

States are subsets of positions, built as for a deterministic automaton, so a trend is counted
once however many ways there are to read it. Variables that an aggregate or a predicate on
neighbours names are kept apart; such a query is checked to have one reading (`ambiguity`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from elsinore.planner.language.syntax import Semantics
from elsinore.planner.machines.automaton import Crossings


class TooComplexError(Exception):
    """A pattern that would need more than can reasonably be kept; says what, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


Successors = frozenset[tuple[int, Crossings]]
"""Positions that may come next, each with the ways to cross the gap before it."""

Reached = frozenset[tuple[int, frozenset[int]]]
"""Per guard in a gap: the positions of it that were matched since the last event."""

Symbol = frozenset[tuple[int, int, int]]
"""(pattern, guard, position): what events of one time may take in negated sub-patterns."""


@dataclass(frozen=True)
class Part:
    """What there is to know of a partial trend for one pattern; the trend as a whole may be of several (AND)."""

    threads: frozenset[Successors]
    """Successors by the position of the last event; under `any` and `contiguous` all in one."""
    accept: Crossings
    """The ways in which the trend may end here."""
    reached: Reached
    label: str | None
    """The variable that binds the last event, where it is named."""


@dataclass(frozen=True)
class State:
    parts: tuple[Part, ...]
    started: bool = True
    """Not the empty trend: it has a last event."""


@dataclass(frozen=True)
class EventClass:
    """Events that are alike to a query: of one type, satisfying the same local predicates."""

    type: str
    satisfied: frozenset[str]
    """Variables with local predicates whose predicates hold."""
    positions: tuple[frozenset[int], ...]
    """Per pattern, the positions that such an event may take."""
    guarded: Symbol


@dataclass(frozen=True)
class Append:
    """Trends in state `source`, lengthened by the event, are in state `target`."""

    source: int
    target: int
    bound: tuple[str, ...]
    """The named variables that bind the event."""
    links: tuple[int, ...]
    """The predicates on neighbours that must hold between last event and this one."""


Moves = tuple[tuple[int, int], ...]
"""(from, to) in an order in which they may be done one by one; to -1 means that the trends end."""


@dataclass(frozen=True)
class Consume:
    """Trends in state `source` that the event is adjacent to go on in `target`, or, where that is -1, not at all."""

    source: int
    target: int
    links: tuple[int, ...]
    """The predicates on neighbours without which they are not adjacent."""


@dataclass(frozen=True)
class Machine:
    """State 0 is the empty trend; its counter is 1 where a window starts."""

    semantics: Semantics
    classes: tuple[EventClass, ...]
    """Number 0 of the classes, left out here, is every event that takes no position."""
    states: tuple[State, ...]
    accepting: tuple[int, ...]
    appends: tuple[tuple[Append, ...], ...]
    """By class."""
    consumes: tuple[tuple[Consume, ...], ...]
    """By class, in an order in which they may be done one by one."""
    symbols: tuple[int, ...]
    """By class: what it says to the guards."""
    unions: tuple[tuple[int, ...], ...]
    """What two symbols at the same time say together."""
    advances: tuple[Moves, ...]
    """By symbol."""
    closes: tuple[tuple[tuple[int, int], Moves], ...]
    """By (pattern, guard) with predicates on neighbours inside: what its match moves, of trends older than it."""
    ends: tuple[bool, ...]
    """By class: may such an event end a trend?"""

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The states that an event or a guard can do something to: a span of the stream is a map of these."""
        sources = {append.source for appends in self.appends for append in appends}
        consumed = {consume.source for consumes in self.consumes for consume in consumes}
        moved = {source for moves in self.advances for source, _ in moves}
        return tuple(sorted(sources | consumed | moved | {0}))
