"""Run queries that return matches over events that are Python values, and read the matches as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.actors.counting import Batch
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.run import DetectionRun
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve
from elsinore.planner.language.syntax import Query
from elsinore.planner.language.walk import column
from elsinore.planner.time.clock import Clock

Event = dict[str, Any]
Row = dict[str, Any]


def queries_of(text: str) -> list[Query]:
    return [resolve(query) for query in parse(text).queries]


def clock_of(queries: Sequence[Query]) -> Clock:
    spans = [query.within.seconds for query in queries if not query.counts_events]
    return Clock.of(pa.int64(), "s", [Fraction(1), *spans])


def batches_of(events: Sequence[Event], cuts: Sequence[int] = ()) -> Iterator[tuple[pa.RecordBatch, np.ndarray, int]]:
    """Yield the events in the order of time, cut before each of these times; with places, and the next time."""
    ordered = sorted(events, key=lambda event: event["time"])
    times = [event["time"] for event in ordered]
    places = np.searchsorted(times, times)
    names = [name for name in (events[0] if events else {}) if name not in ("type", "time")]
    bounds = sorted({0, len(times), *(int(np.searchsorted(times, cut)) for cut in cuts)})
    for lo, hi in pairwise(bounds):
        part = ordered[lo:hi]
        columns = {name: pa.array([event.get(name) for event in part]) for name in names}
        types = pa.array([event["type"] for event in part]).dictionary_encode()
        batch = pa.RecordBatch.from_arrays(
            [types, pa.array([event["time"] for event in part], pa.int64()), *columns.values()],
            ["type", "time", *columns],
        )
        yield batch, places[lo:hi], times[hi] if hi < len(times) else times[-1] + 1


class Routes:
    """The queries of a workload, along the routes that they need."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self.clock = clock_of(queries)
        self.runs: dict[tuple[tuple[str, ...], int], DetectionRun] = {}
        routes: dict[tuple[tuple[str, ...], int], list[Query]] = {}
        for query in queries:
            routes.setdefault((query.partition, len(query.groups)), []).append(query)
        for (attributes, groups), some in routes.items():
            self.runs[attributes, groups] = DetectionRun(some, self.clock, Partitions(attributes, groups))

    def process(self, events: pa.RecordBatch, places: np.ndarray, later: int) -> list[Matches]:
        found = []
        columns = dict(zip(events.schema.names[2:], events.columns[2:], strict=True))
        ticks = self.clock.read(events.column(1))
        for run in self.runs.values():
            slots = run.partitions.slots(columns, ticks)
            batch = Batch(events.column(0), ticks, columns, slots, int(self.clock.read(pa.array([later]))[0]))
            found += run.process(batch, places)
        return found

    def finish(self) -> list[Matches]:
        return [one for run in self.runs.values() for one in run.finish()]


def run(text: str, events: Sequence[Event], cuts: Sequence[int] = ()) -> list[Row]:
    """Return the matches of a workload as rows, with the ids of events in place of the events."""
    queries = queries_of(text)
    routes = Routes(queries)
    found: list[Matches] = []
    for batch, places, later in batches_of(events, cuts):
        found += routes.process(batch, places, later)
    found += routes.finish()
    by_name = {query.name: query for query in queries}
    partitions = {
        query.name: run.partitions
        for run in routes.runs.values()
        for query in (finder.form.query for finder in run.finders)
    }
    return [row for one in found for row in rows_of(one, by_name[one.query], partitions[one.query], routes.clock)]


def rows_of(matches: Matches, query: Query, partitions: Partitions, clock: Clock) -> Iterator[Row]:
    ids = matches.events.column(matches.events.schema.names.index("id")).to_pylist()
    starts, ends = (clock.show(times).to_pylist() for times in (matches.start, matches.end))
    groups = partitions.group_columns(partitions.group_of[matches.slot])
    grouping = {name: values.to_pylist() for name, values in groups.items()}
    bound = {column(name): _ids(one, ids) for name, one in matches.bound.items()}
    for number in range(len(matches)):
        yield {
            "query": query.name,
            "start": starts[number],
            "end": ends[number],
            **{name: values[number] for name, values in grouping.items()},
            **{name: values[number] for name, values in bound.items()},
        }


def _ids(one: Any, ids: list[Any]) -> list[Any]:
    if one.offsets is None:
        return [ids[row] if row >= 0 else None for row in one.rows.tolist()]
    rows, at = one.rows.tolist(), one.offsets.tolist()
    return [[ids[row] for row in rows[lo:hi]] for lo, hi in pairwise(at)]
