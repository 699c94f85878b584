"""SHARON's counters: one for every prefix of the sequences that Kleene is flattened into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from actors.blocks import Blocks
from actors.buffered_graph import WindowGraph
from actors.counters_numba_fns import Events, Tables
from actors.event_numba_fns import Links
from actors.event_tables import event_tables
from actors.limits import beyond, span
from planner.automaton import automaton
from planner.clock import Clock
from planner.errors import WorkloadError
from planner.machine import Machine, TooComplexError
from planner.plan import QueryPlan, plan_query
from planner.unroll import LENGTH, LONGEST, repeated


class PrefixGraph(WindowGraph):
    """A type-grained graph whose sequences are as long as the longest match of Kleene that the stream has shown.

    Nothing is known of that before a window is over; its events are kept until then.
    """

    def __init__(self, plan: QueryPlan, clock: Clock, tables_of: Callable[[Machine], Tables], *rest: Any) -> None:
        super().__init__(*rest)
        self.plan = plan
        self.clock = clock
        self.tables_of = tables_of
        self.length = LENGTH
        names = repeated([automaton(plan.query.pattern)])
        positions = self.counter.automata[0].positions
        classes = [
            any(positions[p].variable in names for p in one.positions[0]) for one in self.counter.machine.classes
        ]
        self.repeated = np.array([False, *classes], np.bool_)
        """By class: may Kleene match such an event?"""

    def add_lanes(self, at: int, count: int, column: int, tables: Tables) -> None:
        super().add_lanes(at, count, column, self.tables_of(self.counter.machine))

    def _run(self, start: int, events: Events, links: Links, runs: Any, out: Blocks, group: Any) -> tuple[int, int]:
        seen = np.concatenate([[0], np.cumsum(self.repeated[events.kind])])
        longest = int(np.diff(seen[runs]).max())
        if longest > self.length:
            self._lengthen(longest, start)
        return super()._run(start, events, links, runs, out, group)

    def _lengthen(self, longest: int, start: int) -> None:
        """Sequences for matches of so many events, twice as long at a time."""
        if longest > LONGEST:
            raise self._too_long(longest, start)
        while self.length < longest:
            self.length *= 2
        try:
            (self.counter,) = plan_query(self.plan.query, self.plan.method, self.length).counters
        except TooComplexError as error:
            raise beyond(self.plan.query, f"with sequences of {self.length} events {error.message}") from None
        self.tables = self.tables_of(self.counter.machine)
        self.single = event_tables(self.counter, self.plan.predicates)
        self.shape = self.shape._replace(states=len(self.counter.machine.states))

    def _too_long(self, longest: int, start: int) -> WorkloadError:
        window = span(self.clock, start, start + self.windows.within)
        message = (
            f"in the window {window} Kleene can match {longest:,} events of one partition; "
            f"strategy sharon has sequences of {LONGEST} events at most"
        )
        return beyond(self.plan.query, message)
