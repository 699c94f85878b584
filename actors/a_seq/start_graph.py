"""The A-Seq graph of one sequence whose windows move with every event (A-Seq, Section 3.2: Start Event Marking).

The counters of the paper are kept from event to event. Here they are made anew for each batch, from the events that are
still in some window, as in all graphs whose windows move. Only a buffer of events is kept between batches. It takes no
more room than a row of counters for each of its start events.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elsinore.actors.a_seq.forest_numba_fns import NUMBERS, Answers, Questions, run_forest
from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.algebra.numbers_numba_fns import OVERFLOW
from elsinore.actors.lowering.forests import ForestTables, RouteMember
from elsinore.actors.neighbours.graph import Moments, MovingGraph
from elsinore.planner.a_seq.forest import Forest


class StartGraph(MovingGraph):
    """A graph with a forest of one route, which is not chopped."""

    def __init__(self, forest: Forest, *rest: Any) -> None:
        super().__init__(*rest)
        self.forest = forest

    def _by_stacks(
        self, events: Events, links: Any, runs: Any, moments: Moments, row_of: Any, out: Blocks, found: Any
    ) -> int:
        kinds = [[number] for number in range(len(self.counter.machine.appends))]
        tables = ForestTables(self.forest, [RouteMember(self.counter, self.member.reads(), self.within)], kinds)
        due, start = len(moments.time), np.zeros(1, np.int64)
        questions = Questions(moments.at, moments.time, np.zeros(due, np.int64), np.arange(due))
        answers = Answers(out.numbers, out.least, start, start, found, start)
        # Share sets have kinds of this dtype: with the same one here, the kernel is compiled once.
        events = events._replace(kind=events.kind.astype(np.int32))
        rows = tables.rows(events, runs, self.shape.words, self.exact)
        stopped = run_forest(
            events, runs, moments.group_of, questions, tables.trees, tables.targets, rows, tables.snapshots(1, rows),
            answers,
        )  # fmt: skip
        return int(OVERFLOW) if stopped == NUMBERS else 0
