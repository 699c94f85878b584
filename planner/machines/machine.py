"""Machines: finitely many counters, and what an event does to them. `subsets` builds them from automata.

The *state* of a partial trend holds which positions may come next, through which gaps, and how far the guards in these
gaps have advanced since its last event. All partial trends in one state share one counter (COGRA's type-grained
aggregate). An event appends itself to the trends of some states (Theorem 4.2), and moves or ends others:

- It may *consume* trends: under skip-till-next-match those that it is adjacent to, under contiguous all older ones.
- It may advance a *guard*: a negated sub-pattern that is matched inside a gap closes the gap.

Each of these operations is linear in the counters, so spans of a stream can be summed up and combined.

States are subsets of positions, built as for a deterministic automaton. So a trend is counted once, however many ways
there are to read it. Variables that an aggregate or a predicate on neighbours names are kept apart; `ambiguity` checks
that a query with such variables has only one reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from elsinore.planner.language.syntax import Semantics
from elsinore.planner.machines.automaton import Crossings


class TooComplexError(Exception):
    """The error for a pattern that needs more than can reasonably be kept; says what, and what to write instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


Successors = frozenset[tuple[int, Crossings]]
"""Positions that may come next, each with the ways to cross the gap before it."""

Reached = frozenset[tuple[int, frozenset[int]]]
"""By guard in a gap: its positions that were matched since the last event of the trend."""

Symbol = frozenset[tuple[int, int, int]]
"""A set of (pattern, guard, position): what events of one time may take in negated sub-patterns."""


@dataclass(frozen=True)
class PartialTrend:
    """The state of a partial trend for one pattern; a `State` has several parts only under AND."""

    threads: frozenset[Successors]
    """One set of successors for each position of the last event; under `any` and `contiguous` one for all."""
    accept: Crossings
    """The ways in which the trend may end here; none if it cannot."""
    reached: Reached
    label: str | None
    """The variable that binds the last event, if it is named and a predicate compares that event with the next one."""


@dataclass(frozen=True)
class State:
    parts: tuple[PartialTrend, ...]
    started: bool = True
    """False for the empty trend, which has no last event."""


@dataclass(frozen=True)
class EventClass:
    """Events of one type that satisfy the same of a query's local predicates."""

    type: str
    satisfied: frozenset[str]
    """Of the variables with local predicates, those whose predicates hold."""
    positions: tuple[frozenset[int], ...]
    """Per pattern, the positions that such an event may take."""
    guarded: Symbol


@dataclass(frozen=True)
class Append:
    """A transition: an event lengthens trends in state `source` to trends in state `target`."""

    source: int
    target: int
    bound: tuple[str, ...]
    """The named variables that bind the event."""
    links: tuple[int, ...]
    """Numbers of the predicates on neighbours that must hold between the last event of the trend and this one."""


Moves = tuple[tuple[int, int], ...]
"""Pairs (from, to), in an order in which they can be applied one by one; to -1 means that the trends end."""


@dataclass(frozen=True)
class Consume:
    """A transition: trends in state `source` that the event is adjacent to move to `target`, or end if that is -1."""

    source: int
    target: int
    links: tuple[int, ...]
    """Numbers of the predicates on neighbours that must hold for the event to be adjacent to a trend."""


@dataclass(frozen=True)
class Machine:
    """The counters of a query's trends, one for each state, and what events of each class do to them.

    State 0 is the empty trend. Its counter is 1 where a window starts.
    """

    semantics: Semantics
    classes: tuple[EventClass, ...]
    """The classes from number 1 on. Class 0, left out here, is every event that takes no position."""
    states: tuple[State, ...]
    accepting: tuple[int, ...]
    appends: tuple[tuple[Append, ...], ...]
    """By class: which trends its events lengthen."""
    consumes: tuple[tuple[Consume, ...], ...]
    """By class, in an order in which they can be applied one by one."""
    symbols: tuple[int, ...]
    """By class: the number of the symbol by which its events advance guards."""
    unions: tuple[tuple[int, ...], ...]
    """By two symbols: the number of their union, for events at the same time."""
    advances: tuple[Moves, ...]
    """By symbol: the moves of the trends whose guards it advances."""
    closes: tuple[tuple[tuple[int, int], Moves], ...]
    """By (pattern, guard), where predicates on neighbours stand inside: the moves of trends older than a match."""
    ends: tuple[bool, ...]
    """By class: whether such an event may end a trend."""

    @cached_property
    def steady(self) -> bool:
        """Return whether no event changes the empty trend: a window has it once, whatever events are in it."""
        consumed = {consume.source for consumes in self.consumes for consume in consumes}
        return 0 not in consumed | {source for moves in self.advances for source, _ in moves}

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Return state 0 and the states that events or guards act on: a span of the stream is a linear map of them."""
        sources = {append.source for appends in self.appends for append in appends}
        consumed = {consume.source for consumes in self.consumes for consume in consumes}
        moved = {source for moves in self.advances for source, _ in moves}
        return tuple(sorted(sources | consumed | moved | {0}))
