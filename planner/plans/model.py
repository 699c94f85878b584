"""The values of a plan: for each query its machine, granularities and windows, and which queries share.

`planning` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.machines.automaton import Automaton
from elsinore.planner.machines.lanes import Lane
from elsinore.planner.machines.machine import Machine
from elsinore.planner.machines.predicates import Predicates
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.plans.strategies import Method
from elsinore.planner.time.spans import common

Granularity = Literal["pattern", "type", "event", "trend", "prefix"]

WindowMethod = Literal["one row", "row per window", "pane maps", "two stacks", "row per start", "window by window"]

Panes = Literal["unknown", "few", "many", "earlier"]
"""How many events a partition has in a pane; "earlier" in states that were saved when this was not asked."""


@dataclass(frozen=True)
class Counter:
    """A counter of the trends that match all of some operands of AND; a pattern without AND is its only operand."""

    operands: tuple[int, ...]
    automata: tuple[Automaton, ...]
    machine: Machine
    lanes: tuple[Lane, ...]

    @property
    def event_grained(self) -> bool:
        """Return whether a predicate on neighbours has to be evaluated on single events."""
        linked = any(append.links for appends in self.machine.appends for append in appends)
        return linked or bool(self.machine.closes)


@dataclass(frozen=True)
class QueryPlan:
    query: Query
    predicates: Predicates
    counters: tuple[Counter, ...]
    granularities: tuple[tuple[str, Granularity], ...]
    """Pairs (variable, granularity), in the order of the pattern."""
    method: Method = "coarsest"
    silent: bool = False
    """True for a removed query: it gives no rows, but runs on for the queries that it shares its work with."""
    panes: Panes = "unknown"

    @property
    def partition(self) -> tuple[str, ...]:
        return self.query.partition

    @property
    def per_event(self) -> bool:
        """Return whether windows move with every event."""
        return self.query.slide is None

    @property
    def overlap(self) -> int:
        """Return the largest number of windows that an event can be in."""
        assert self.query.slide is not None
        return -int(-self.query.within.length // self.query.slide.length)

    @property
    def pane(self) -> Fraction:
        """Return the length of a pane in seconds, or in events where windows count these."""
        assert self.query.slide is not None
        return common([self.query.within.length, self.query.slide.length])

    def keeps_events(self, counter: Counter) -> bool:
        """Return whether the evaluation of a window has to see its single events."""
        return self.method not in ("coarsest", "starts") or counter.event_grained

    def window_method(self, counter: Counter) -> WindowMethod:
        """Return how the windows of a counter are evaluated.

        Overlapping windows have a row of counters per open window, or maps of panes where those are less work.
        """
        if self.keeps_events(counter):
            return "window by window"
        if self.per_event:
            return "row per start" if self.method == "starts" else "two stacks"
        if self.overlap == 1:
            return "one row"
        return "row per window" if self.overlap <= self._most_rows(counter) else "pane maps"

    def _most_rows(self, counter: Counter) -> int:
        """Return the most rows that are less work than maps, which have as many rows as starts, and are multiplied."""
        starts = len(counter.machine.starts)
        if not self.rows_by_begin(counter) or self.panes == "many":
            return max(2, starts)
        return 4 * starts if self._has_few() else starts + 1

    def _has_few(self) -> bool:
        """Return whether a partition has few events in a pane, by what is known, or else by what splits the stream.

        Attributes that have to be equal, such as [driver, rider], make more partitions than groups alone.
        """
        by_equality = len(self.partition) > len(self.query.groups)
        return self.panes == "few" or (self.panes == "unknown" and by_equality)

    def rows_by_begin(self, counter: Counter) -> bool:
        """Return whether a row per window counts only trends that begin before the next window does."""
        return counter.machine.steady and self.panes != "earlier"


@dataclass(frozen=True)
class Option:
    """A way to run a group of queries, and its cost."""

    name: str
    cost: float
    """Nanoseconds, for the events of the longest window."""


@dataclass(frozen=True)
class Choice:
    queries: tuple[str, ...]
    chosen: Option
    rejected: tuple[Option, ...]
    """The other options by cost, the cheapest first; HAMLET precedes options that cost only a little less."""


@dataclass(frozen=True)
class Plan:
    strategy: str
    queries: tuple[QueryPlan, ...]
    share_sets: tuple[ShareSet, ...] = ()
    reasons: tuple[tuple[str, str], ...] = ()
    """Pairs of the name of a query that runs apart, and the reason."""
    choices: tuple[Choice, ...] = ()
    """The choices of `auto`, with the options that it rejected."""

    @property
    def workload(self) -> Workload:
        """Return the queries of the plan."""
        return Workload(tuple(one.query for one in self.queries))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the attributes that any of the queries reads, sorted by name."""
        return tuple(sorted({column for one in self.queries for column in one.query.columns}))

    @property
    def types(self) -> frozenset[str]:
        """Return the event types that any of the queries names."""
        return self.workload.types

    @property
    def spans(self) -> tuple[Fraction, ...]:
        """Return the distinct lengths of windows and slides in seconds, ascending."""
        return self.workload.spans
