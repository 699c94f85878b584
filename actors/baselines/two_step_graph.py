"""Graphs of the two-step strategy: all trends of a window are constructed, and then aggregated."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, number_type
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.baselines.limits import beyond, span
from elsinore.actors.baselines.two_step_numba_fns import Path, construct_moments, construct_partitions
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.neighbours.graph import BufferedGraph, Moments, MovingGraph, WindowGraph
from elsinore.actors.rows.cells import Numbers
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock

LIMIT = 10_000_000
"""Most trends, complete or partial, that a query may construct in a run (with AND: that each counter may)."""


class Budget:
    """The number of trends that a counter has constructed so far, and may still construct."""

    def __init__(self, query: Query, clock: Clock) -> None:
        self.query = query
        self.clock = clock
        self.made = 0

    @property
    def left(self) -> int:
        return LIMIT - self.made

    def spend(self, made: int, start: int, end: int) -> None:
        """Count `made` more trends, the last of them in the window from `start` to `end`; raise if over the limit."""
        self.made += made
        if self.left < 0:
            message = f"strategy two-step constructs more than {LIMIT:,} trends, whole or begun; it came as far as"
            raise beyond(self.query, f"{message} the window {span(self.clock, start, end)}")


class TrendWindowGraph(WindowGraph):
    """A two-step graph with windows of panes: each window is evaluated by itself, partition by partition."""

    def __init__(self, budget: Budget, *rest: Any) -> None:
        super().__init__(*rest)
        self.budget = budget

    def _run(self, start: int, events: Events, links: Links, runs: Any, out: Blocks, group: Any) -> tuple[int, int]:
        result_of = np.full(self.groups, -1, np.int32)
        rows, made, flag = construct_partitions(
            events, runs, self.tables, self.single, links, self.shape, path(self, runs), one(self), self.budget.left,
            self.group_of, result_of, out.numbers, out.least, group,
        )  # fmt: skip
        if not flag >> 62:
            self.budget.spend(made, start, start + self.windows.within)
        return rows, flag

    def save(self) -> dict[str, Any]:
        return {**super().save(), "made": self.budget.made}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.budget.made = state["made"]


class TrendMovingGraph(MovingGraph):
    """A two-step graph with windows that move with every event."""

    def __init__(self, budget: Budget, *rest: Any) -> None:
        super().__init__(*rest)
        self.budget = budget

    def _by_window(
        self, events: Events, links: Links, runs: Any, moments: Moments, row_of: Any, out: Blocks, found: Any
    ) -> int:
        made, end, flag = construct_moments(
            events, runs, self.within, moments.at, moments.time, moments.group_of, row_of, self.tables, self.single,
            links, self.shape, path(self, runs), one(self), self.budget.left, out.numbers, out.least, found,
        )  # fmt: skip
        if not flag >> 62:
            self.budget.spend(made, end - self.within, end)
        return int(flag)

    def save(self) -> dict[str, Any]:
        return {**super().save(), "made": self.budget.made}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.budget.made = state["made"]


def path(graph: BufferedGraph, runs: npt.NDArray[np.int64]) -> Path:
    """Return room for a trend of all events of the longest run."""
    longest = int(np.diff(runs).max()) + 1
    machine = graph.counter.machine
    accepts = np.zeros(len(machine.states), np.bool_)
    accepts[list(machine.accepting)] = True
    return Path(
        accepts, np.zeros(len(runs) and int(runs[-1]), np.int64), *(np.zeros(longest, np.int64) for _ in range(6))
    )


def one(graph: BufferedGraph) -> Numbers:
    """Return the number 1 as an array of words."""
    number = np.zeros(graph.shape.words, number_type(graph.exact, graph.shape.words))
    number[0] = 1
    return number
