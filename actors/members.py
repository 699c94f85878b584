"""The members of sets: counters of queries, and the columns that each of them reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Shape, Tables
from elsinore.actors.columns.intake import Growth
from elsinore.actors.columns.lanes import LaneColumns
from elsinore.actors.lowering.machines import tables
from elsinore.actors.lowering.sets import MemberColumns
from elsinore.planner.machines.lanes import Lane
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import Counter, QueryPlan

EACH_COUNTS_ONE = -1
"""In place of a column: every event counts one, as for COUNT of a variable."""


@dataclass(frozen=True)
class SetMember:
    """A counter of a query as a member of a set, or a counter that shares nothing."""

    plan: QueryPlan
    counter: Counter
    columns: LaneColumns
    """Its own lanes, by which its cells become rows."""
    shared: LaneColumns | None = None
    """The columns of its set, in which its lanes find theirs; None: its own columns are read."""

    @property
    def of_conjunction(self) -> bool:
        """Return whether results are by partition, to be paired with those of the other counters of an AND."""
        return len(self.plan.counters) > 1

    @property
    def ends(self) -> npt.NDArray[np.bool_]:
        """Return, by class, whether such an event may end a trend."""
        return np.array(self.counter.machine.ends, np.bool_)

    def shape(self, words: int, rows: int = 1) -> Shape:
        """Return the shape of a block of its counters, with numbers of so many words."""
        lanes, keys = 1 + len(self.columns.sums), len(self.columns.minima)
        return Shape(rows, len(self.counter.machine.states), lanes, keys, words)

    def follow(self) -> Growth:
        """Adopt what the columns of the set have learned."""
        assert self.shared is not None
        shared = self.shared
        return Growth.of(self.columns, lambda: self.columns.follow(shared))

    def reads(self) -> MemberColumns:
        """Return the columns that its lanes add up and compare."""
        if self.shared is None:
            own = self.columns
            return MemberColumns(own.layout, [(lane.variable, n) for n, lane in enumerate(own.minima)])
        sums = {(lane.kind, lane.attribute, digit): n for n, (lane, digit) in enumerate(self.shared.sums)}
        minima = {(lane.kind, lane.attribute): n for n, lane in enumerate(self.shared.minima)}
        found = [(lane, sums.get((lane.kind, lane.attribute, digit))) for lane, digit in self.columns.sums]
        return MemberColumns(
            [(lane.variable, EACH_COUNTS_ONE if column is None else column) for lane, column in found],
            [(lane.variable, minima[lane.kind, lane.attribute]) for lane in self.columns.minima],
        )

    def tables(self, machine: Machine | None = None) -> Tables:
        """Return the arrays of its machine, or of another one in the place of it."""
        own = self.reads()
        made = tables(machine or self.counter.machine, own.sums, [name for name, _ in own.minima])
        numbers = np.array([number for _, number in own.minima], np.int32)
        return made._replace(least_column=numbers[made.least_key])


def shared_columns(counted: Sequence[tuple[QueryPlan, Counter]], exact: bool) -> LaneColumns:
    """Return the columns that the queries of a set add up or compare, each once."""
    lanes: dict[tuple[str, str], Lane] = {}
    asked: dict[Lane, str] = {}
    for plan, counter in counted:
        for lane in counter.lanes:
            if lane.attribute is not None and (lane.kind, lane.attribute) not in lanes:
                lanes[lane.kind, lane.attribute] = lane
                asked[lane] = plan.query.name
    return LaneColumns(tuple(lanes.values()), exact, counted[0][0].query.name, asked=asked)


def members_of_set(counted: Sequence[tuple[QueryPlan, Counter]], exact: bool) -> list[SetMember]:
    """Return the members of a share set, which read common columns."""
    shared = shared_columns(counted, exact)
    return [
        SetMember(plan, counter, LaneColumns(counter.lanes, exact, plan.query.name), shared)
        for plan, counter in counted
    ]
