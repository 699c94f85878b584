"""The sequences into which Kleene is flattened for one query, as long as the stream needs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elsinore.actors.baselines.limits import beyond, span
from elsinore.planner.baselines.unroll import LENGTH, LONGEST_SEQUENCE, repeated
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.machines.automaton import automaton
from elsinore.planner.machines.machine import TooComplexError
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.planning import plan_query
from elsinore.planner.time.clock import Clock


class Sequences:
    """The flattened sequences of a query: long enough for the longest possible match of Kleene in any window so far.

    That length is known only when a window is over; its events are kept until then.
    """

    def __init__(self, plan: QueryPlan, clock: Clock) -> None:
        self.plan = plan
        self.clock = clock
        self.length = LENGTH
        (self.counter,) = plan.counters
        names = repeated([automaton(plan.query.pattern)])
        positions = self.counter.automata[0].positions
        classes = [
            any(positions[p].variable in names for p in one.positions[0]) for one in self.counter.machine.classes
        ]
        self.repeated = np.array([False, *classes], np.bool_)
        """By class, whether Kleene may match such an event."""

    def stretch(self, classes: npt.NDArray[np.integer], runs: npt.NDArray[np.int64], start: int, end: int) -> bool:
        """Make sequences long enough for the events of a window, by partition. Return whether they became longer."""
        seen = np.concatenate([[0], np.cumsum(self.repeated[classes])])
        longest = int(np.diff(seen[runs]).max())
        if longest <= self.length:
            return False
        if longest > LONGEST_SEQUENCE:
            raise self._too_long(longest, start, end)
        while self.length < longest:
            self.length *= 2
        self.counter = self._counter()
        return True

    def _counter(self) -> Counter:
        try:
            (counter,) = plan_query(self.plan.query, self.plan.method, self.length).counters
        except TooComplexError as error:
            raise beyond(self.plan.query, f"with sequences of {self.length} events {error.message}") from None
        return counter

    def _too_long(self, longest: int, start: int, end: int) -> WorkloadError:
        message = (
            f"in the window {span(self.clock, start, end)} Kleene can match {longest:,} events of one partition; "
            f"strategy sharon has sequences of {LONGEST_SEQUENCE} events at most"
        )
        return beyond(self.plan.query, message)
