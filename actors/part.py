"""Execution of a part of a plan: queries that share, or one that runs apart, over the windows that they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.kinds import Setting, rows_of, run_apart, run_of_set
from elsinore.actors.members import SetMember
from elsinore.actors.plan_part import PlanPart
from elsinore.actors.plan_state import save_plan
from elsinore.actors.query_rows import QueryRows
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.set_graph import merged
from elsinore.actors.set_run import SetRun
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END
from elsinore.actors.work_done import WorkDone
from elsinore.planner.plans.model import Plan, QueryPlan
from elsinore.planner.plans.sharing import Member
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class Answer:
    """What makes the rows of one query, and where the results of its counters come from."""

    rows: QueryRows[Any]
    places: list[tuple[int, int]]
    """By counter, its run and its number among the members of the run."""


class Part(PlanPart):
    """A part of a plan, for the windows that begin at `since` or later and, after `stop`, before `until`."""

    def __init__(self, plan: Plan, partitions: Partitions, since: int, setting: Setting) -> None:
        super().__init__(plan, partitions, since)
        self.first = min(_first(query, since, setting.clock) for query in plan.queries)
        """The time in ticks from which on the part needs events."""
        self._clock = setting.clock
        self.sets = [run_of_set(plan, share_set, setting) for share_set in plan.share_sets]
        shared = {place for run in self.sets for place in run.places}
        self.apart = [
            run_apart(plan, places, setting)
            for q, query in enumerate(plan.queries)
            if (places := [one for c in range(len(query.counters)) if (one := Member(q, c)) not in shared])
        ]
        self.runs = [*self.sets, *self.apart]
        numbers = {place: (r, m) for r, run in enumerate(self.runs) for m, place in enumerate(run.places)}
        self.answers = [
            self._answer(query, [numbers[Member(q, c)] for c in range(len(query.counters))])
            for q, query in enumerate(plan.queries)
        ]
        """By query."""
        self.admit()

    def _answer(self, query: QueryPlan, places: list[tuple[int, int]]) -> Answer:
        members = [self.runs[run].members[member] for run, member in places]
        kind = self.runs[places[0][0]].kind
        return Answer(rows_of(kind, query, members, self.partitions), places)

    def stop(self, until: int) -> None:
        """Leave the windows that begin at `until` or later to other parts."""
        if self.until == END:
            self.until = until
            self.end = max(_over(query, until, self._clock) for query in self.plan.queries)

    def admit(self) -> None:
        """Make room for new partitions."""
        for run in self.runs:
            run.admit(self.partitions)

    def process(self, batch: Batch) -> list[PartialRows]:
        self.admit()
        batch = batch.between(self.first, self.end)
        if not len(batch.times):
            return []
        time = int(batch.times[-1])
        return self._rows(lambda run: merged((run.process(batch), run.graph.end_until(time))))

    def end_until(self, time: int) -> list[PartialRows]:
        """Return the rows of windows that end no later than `time`; no event older than that will come."""
        return self._rows(lambda run: run.graph.end_until(time))

    def finish(self) -> list[PartialRows]:
        return self._rows(lambda run: run.graph.finish())

    def _rows(self, step: Callable[[SetRun[Any]], list[list[Any]]]) -> list[PartialRows]:
        """Return the rows that `step` finds, without silent queries and without windows of other parts."""
        found = [run.watch.of(partial(step, run)) for run in self.runs]
        rows = (
            some
            for query, answer in zip(self.plan.queries, self.answers, strict=True)
            if not query.silent
            for some in answer.rows.of([found[run][member] for run, member in answer.places])
        )
        return [one for some in rows if len(one := some.begun(self.since, self.until))]

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Keep these partitions alone, in this order."""
        for run in self.runs:
            run.keep(kept, self.partitions)

    def work(self) -> list[WorkDone]:
        """Return what its runs have done so far."""
        return [run.work() for run in self.runs]

    def types(self) -> dict[str, pa.DataType]:
        """Return the types of attributes, as far as they are known."""
        found: dict[str, pa.DataType] = {}
        for member in self._members():
            found |= member.columns.types
        return found

    def know(self, types: Mapping[str, pa.DataType]) -> None:
        """Adopt types that are known of attributes: where some values were floats, integers count as floats."""
        columns = [member.columns for member in self._members()]
        for one in (*columns, *(intake.columns for run in self.sets for intake in run.intakes)):
            read = {lane.attribute for lane in one.lanes}
            one.types |= {name: kind for name, kind in types.items() if name in read}

    def _members(self) -> Iterator[SetMember]:
        return (member for answer in self.answers for member in answer.rows.members)

    def save(self) -> dict[str, Any]:
        return {
            "plan": save_plan(self.plan),
            "since": self.since,
            "until": self.until,
            "sharings": [run.save() for run in self.sets],
            "graphs": [
                [self.runs[run].save_member(member) for run, member in answer.places] for answer in self.answers
            ],
        }

    def load(self, state: dict[str, Any]) -> None:
        if state["until"] != END:
            self.stop(state["until"])
        for run, saved in zip(self.sets, state["sharings"], strict=True):
            run.load(saved)
        for answer, counters in zip(self.answers, state["graphs"], strict=True):
            for (number, member), saved in zip(answer.places, counters, strict=True):
                self.runs[number].load_member(member, saved)
        for run in self.runs:
            run.resume()


def _first(plan: QueryPlan, since: int, clock: Clock) -> int:
    """Return the time at which the first window begins that begins no earlier than `since`."""
    if plan.query.slide is None:
        return since
    slide = clock.ticks(plan.query.slide.length)
    return -(-since // slide) * slide


def _over(plan: QueryPlan, until: int, clock: Clock) -> int:
    """Return when the last window that begins before `until` is over. One that moves is `(t - within, t]`."""
    within = clock.ticks(plan.query.within.length)
    if plan.query.slide is None:
        return until + within
    slide = clock.ticks(plan.query.slide.length)
    return (until - 1) // slide * slide + within
