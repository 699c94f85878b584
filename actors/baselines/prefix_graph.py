"""SHARON's graph of one query: a counter for every prefix of the sequences into which Kleene is flattened."""

from __future__ import annotations

from typing import Any

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events, Tables
from elsinore.actors.baselines.sequences import Sequences
from elsinore.actors.columns.intake import Growth
from elsinore.actors.lowering.entries import event_tables
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import WindowGraph
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.time.clock import Clock


class PrefixGraph(WindowGraph):
    """A type-grained graph whose sequences become longer when the stream needs it."""

    def __init__(self, plan: QueryPlan, clock: Clock, *rest: Any) -> None:
        super().__init__(*rest)
        self.sequences = Sequences(plan, clock)

    def extend(self, growth: Growth, tables: Tables) -> None:
        super().extend(growth, self.member.tables(self.counter.machine))

    def _run(self, start: int, events: Events, links: Links, runs: Any, out: Blocks, group: Any) -> tuple[int, int]:
        if self.sequences.stretch(events.kind, runs, start, start + self.windows.within):
            self._lengthen()
        return super()._run(start, events, links, runs, out, group)

    def _lengthen(self) -> None:
        self.counter = self.sequences.counter
        self.tables = self.member.tables(self.counter.machine)
        self.single = event_tables(self.counter, self.sequences.plan.predicates)
        self.shape = self.shape._replace(states=len(self.counter.machine.states))
