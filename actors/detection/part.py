"""Execution of a part of a plan whose queries return matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.detection.match_rows import match_rows
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.run import ALONE, DetectionRun, DetectionSetting, TooManyError
from elsinore.actors.plan_part import PlanPart
from elsinore.actors.plan_state import save_plan
from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END, START
from elsinore.actors.work_done import Stopwatch, WorkDone
from elsinore.planner.checks.patterns import at_edge
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock


class DetectionPart(PlanPart):
    """Queries that split the stream alike, for the matches that begin at `since` or later and, after `stop`, before
    `until`. A match of a query with NOT at the start begins with the window that ends with it: all that can forbid it
    lies in there.

    Its times are those of the clock of windows, which may count events; `clock` is that of the user's times.
    """

    def __init__(
        self,
        plan: Plan,
        partitions: Partitions,
        since: int,
        windows: Clock,
        clock: Clock,
        setting: DetectionSetting = ALONE,
    ) -> None:
        super().__init__(plan, partitions, since)
        self.first = since
        """The time in ticks from which on the part gets events."""
        self.sets: tuple[()] = ()
        """It has no share sets of counters."""
        self._watch = Stopwatch()
        self._windows, self._clock, self._merged = windows, clock, setting.merged
        queries = {query.query.name: query.query for query in plan.queries}
        self._queries = queries
        self._looks_back = {
            name: windows.ticks(query.within.length)
            for name, query in queries.items()
            if at_edge(query.pattern, backwards=False)
        }
        """By query with NOT at the start, the length of its windows."""
        (strategy,) = {one.strategy for one in plan.share_sets if isinstance(one, DetectionSet)}
        self._run = DetectionRun(tuple(queries.values()), windows, partitions, strategy, setting)
        self.record = self._run.record

    def stop(self, until: int) -> None:
        """Leave the matches that begin at `until` or later to other parts."""
        if self.until == END:
            self.until = until
            # NOT at the end looks ahead for as long as a window, behind a match that is as long as one.
            longest = max(self._windows.ticks(query.within.length) for query in self._queries.values())
            self.end = until + 2 * longest

    def process(self, batch: Batch) -> Iterator[PartialRows]:
        """Take in events, and return the rows of the matches that end with them, searched as they are taken."""
        batch = batch.between(self.first, self.end)
        if not len(batch.times):
            return iter(())
        return self._rows(self._watch.of(lambda: self._run.process(batch, batch.times)))

    def end_until(self, time: int) -> Iterator[PartialRows]:
        """Return the rows of matches that are known now that no event older than `time` will come."""
        return self._rows(self._run.settle(time, time))

    def finish(self) -> Iterator[PartialRows]:
        return self._rows(self._run.finish())

    def _rows(self, found: Iterable[Matches]) -> Iterator[PartialRows]:
        """Return the rows of matches, without silent queries and without matches of other parts."""
        silent = {query.query.name for query in self.plan.queries if query.silent}
        partitions = self.partitions.frozen()
        heard = (self._own(one) for one in found if one.query not in silent)
        return self._watch.each(self._shown(heard, partitions))

    def _shown(self, heard: Iterable[Matches], partitions: Partitions) -> Iterator[PartialRows]:
        try:
            for one in heard:
                if len(one):
                    yield match_rows(one, self._queries[one.query], partitions, self._clock, self._merged)
        except TooManyError as error:
            raise error.told(self._clock) from None

    def _own(self, matches: Matches) -> Matches:
        if self.since == START and self.until == END:
            return matches
        # What NOT at the start forbids may be as old as the window that ends with the match.
        back = self._looks_back.get(matches.query)
        begin = matches.start if back is None else matches.end - back
        own = (begin >= self.since) & (begin < self.until)
        return matches if own.all() else matches.take(np.flatnonzero(own))

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Keep these partitions alone, in this order."""
        self._run.keep(kept)

    def work(self) -> list[WorkDone]:
        """Return what was done so far."""
        members = tuple((name, 0) for name in self._queries)
        return [WorkDone(members, self._watch.seconds, stored=self._run.planned.stored())]

    def types(self) -> dict[str, pa.DataType]:
        """Return no types: values are compared as they are."""
        return {}

    def know(self, types: Mapping[str, pa.DataType]) -> None:
        """Ignore the types of attributes."""

    def save(self) -> dict[str, Any]:
        return {
            "plan": save_plan(self.plan),
            "since": self.since,
            "until": self.until,
            "run": self._run.save(),
        }

    def load(self, state: dict[str, Any]) -> None:
        if state["until"] != END:
            self.stop(state["until"])
        self._run.load(state["run"])
