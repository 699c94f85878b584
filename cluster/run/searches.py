"""Searches for the matches of bounded events, which count them and list some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from elsinore.actors.columns.joining import one_table
from elsinore.actors.detection.joins.observing import Observation
from elsinore.actors.detection.match_rows import TICKS, match_rows
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.run import DetectionRun
from elsinore.actors.detection.searching import Search
from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.places import Places
from elsinore.actors.streams.reorder import END, START
from elsinore.planner.kernels.interpreted import MAX_STEPS, interpreting
from elsinore.planner.language.syntax import Query
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class QuerySearch:
    """The search for the matches of one query over all events of a stream."""

    query: Query
    search: Search | None
    """None where no event can be in a match."""
    partitions: Partitions
    clock: Clock
    few: bool
    """Whether there are so few events that kernels are interpreted sooner than compiled."""

    @property
    def count(self) -> int:
        with interpreting(self.few):
            return self.search.count() if self.search else 0

    def page(self, first: int, count: int) -> list[Rows]:
        with interpreting(self.few):
            return self._rows(self.search.page(first, count)) if self.search else []

    def sample(self, count: int, seed: int) -> list[Rows]:
        with interpreting(self.few):
            return self._rows(self.search.sample(count, seed)) if self.search else []

    def _rows(self, found: Matches) -> list[Rows]:
        return [match_rows(found, self.query, self.partitions, self.clock).finished()] if len(found) else []


def searches(queries: Iterable[Query], batches: Iterable[pa.RecordBatch], clock: Clock) -> Iterator[QuerySearch]:
    """Yield a search for each query over these batches, as sources yield them."""
    whole = _in_order(list(batches))
    for query in queries:
        partitions = Partitions(query.partition, len(query.groups))
        run = DetectionRun([query], clock.of_events() if query.counts_events else clock, partitions)
        few = whole is None or len(whole) ** 2 <= MAX_STEPS
        with interpreting(few):
            found = _found(run, _batch(whole, query, partitions)) if whole is not None else None
        yield QuerySearch(query, found, partitions, clock, few)


def observed(sets: Iterable[Sequence[Query]], batches: Iterable[pa.RecordBatch], clock: Clock) -> Iterator[Observation]:
    """Yield what these batches say of the patterns of each set of queries, which split the stream alike."""
    whole = _in_order(list(batches))
    for queries in sets if whole is not None else ():
        query = queries[0]
        partitions = Partitions(query.partition, len(query.groups))
        run = DetectionRun(queries, clock.of_events() if query.counts_events else clock, partitions)
        batch = _batch(whole, query, partitions)
        observation = run.observe(batch, batch.times)
        if observation is not None:
            yield observation


def _found(run: DetectionRun, batch: Batch) -> Search | None:
    return next(iter(run.whole(batch, batch.times)), None)


def _in_order(batches: list[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Return all events as one batch, sorted by time; None if there are none."""
    events = [one for one in batches if one.num_rows]
    if not events:
        return None
    (whole,) = one_table(events).to_batches()
    return whole.take(pa.array(np.argsort(whole.column(1).to_numpy(), kind="stable")))


def _batch(whole: pa.RecordBatch, query: Query, partitions: Partitions) -> Batch:
    types, times, *attributes = whole.columns
    columns = dict(zip(whole.schema.names[2:], attributes, strict=True))
    ticks = np.require(times.to_numpy(), requirements=["W"])
    slots = partitions.slots(columns, ticks)
    if query.counts_events:
        places = Places()
        places.note(ticks, START)
        columns[TICKS] = times
        ticks = places.of(ticks)
    return Batch(types, ticks, columns, slots, END)
