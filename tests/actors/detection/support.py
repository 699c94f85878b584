"""Run queries that return matches over events that are Python values, and read the matches as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.actors.detection.items import attribute, item_columns
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.run import DetectionRun
from elsinore.actors.detection.searching import Search
from elsinore.actors.state import pack, unpack
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.connectors.rows.row_columns import listed
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve
from elsinore.planner.language.syntax import Query
from elsinore.planner.language.walk import column
from elsinore.planner.time.clock import Clock

Event = dict[str, Any]
Row = dict[str, Any]


def queries_of(text: str) -> list[Query]:
    return [resolve(query) for query in parse(text).queries]


def clock_of(queries: Sequence[Query], times: pa.Array) -> Clock:
    spans = [query.within.seconds for query in queries if not query.counts_events]
    return Clock.of(times.type, "s", [Fraction(1), *spans])


def batches_of(events: Sequence[Event], cuts: Sequence[float] = ()) -> Iterator[tuple[pa.RecordBatch, Any, pa.Array]]:
    """Yield the events in the order of time, cut before each of these times; with places, and the next time."""
    ordered = sorted(events, key=lambda event: event["time"])
    times = [event["time"] for event in ordered]
    places = np.searchsorted(times, times)
    names = list(dict.fromkeys(name for event in events for name in event if name not in ("type", "time")))
    bounds = sorted({0, len(times), *(int(np.searchsorted(times, cut)) for cut in cuts)})
    kind = pa.array(times).type
    for lo, hi in pairwise(bounds):
        part = ordered[lo:hi]
        columns = {name: pa.array([event.get(name) for event in part]) for name in names}
        types = pa.array([event["type"] for event in part]).dictionary_encode()
        batch = pa.RecordBatch.from_arrays(
            [types, pa.array([event["time"] for event in part], kind), *columns.values()], ["type", "time", *columns]
        )
        later = times[hi] if hi < len(times) else times[-1] + 1
        yield batch, places[lo:hi], pa.array([later], kind)


class Routes:
    """The queries of a workload, along the routes that they need."""

    def __init__(self, queries: Sequence[Query], clock: Clock, strategy: str = "auto") -> None:
        self.clock = clock
        self.strategy = strategy
        self.runs: dict[tuple[tuple[str, ...], int], DetectionRun] = {}
        routes: dict[tuple[tuple[str, ...], int], list[Query]] = {}
        for query in queries:
            routes.setdefault((query.partition, len(query.groups)), []).append(query)
        for (attributes, groups), some in routes.items():
            self.runs[attributes, groups] = DetectionRun(some, self.clock, Partitions(attributes, groups), strategy)

    def process(self, events: pa.RecordBatch, places: Any, later: pa.Array) -> Iterator[Matches]:
        for run, batch in self._batches(events, later):
            yield from run.process(batch, places)

    def begin(self, events: pa.RecordBatch, places: Any, later: pa.Array) -> Iterator[Search]:
        for run, batch in self._batches(events, later):
            yield from run.begin(batch, places)

    def _batches(self, events: pa.RecordBatch, later: pa.Array) -> Iterator[tuple[DetectionRun, Batch]]:
        columns = dict(zip(events.schema.names[2:], events.columns[2:], strict=True))
        ticks = self.clock.read(events.column(1))
        for run in self.runs.values():
            slots = run.partitions.slots(columns, ticks)
            yield run, Batch(events.column(0), ticks, columns, slots, int(self.clock.read(later)[0]))

    def finish(self) -> Iterator[Matches]:
        for run in self.runs.values():
            yield from run.finish()

    def saved(self) -> Routes:
        """Return routes with the same state, by way of what is saved of it."""
        queries = [finder.form.query for run in self.runs.values() for finder in run.finders]
        other = Routes(queries, self.clock, self.strategy)
        for key, run in self.runs.items():
            state = unpack(pack({"partitions": run.partitions.save(), "run": run.save()}))
            other.runs[key].partitions.load(state["partitions"])
            other.runs[key].load(state["run"])
        return other


def run(
    text: str, events: Sequence[Event], cuts: Sequence[float] = (), save: bool = False, strategy: str = "auto"
) -> list[Row]:
    """Return the matches of a workload as rows, with the ids of events in place of the events.

    `cuts`: where the stream is cut into batches; `save`: whether the state is saved and restored there.
    """
    if not events:
        return []
    queries = queries_of(text)
    routes = Routes(queries, clock_of(queries, pa.array([event["time"] for event in events])), strategy)
    rows: list[Row] = []
    for batch, places, later in batches_of(events, cuts):
        rows += (row for one in routes.process(batch, places, later) for row in rows_of(one, routes))
        if save:
            routes = routes.saved()
    rows += (row for one in routes.finish() for row in rows_of(one, routes))
    return rows


def rows_of(matches: Matches, routes: Routes) -> Iterator[Row]:
    found = ((one, run) for run in routes.runs.values() for one in run.finders)
    query, partitions = next((f.form.query, run.partitions) for f, run in found if f.form.query.name == matches.query)
    groups = partitions.group_columns(partitions.group_of[matches.slot])
    columns = {name: values.to_pylist() for name, values in groups.items()}
    if query.items:
        columns |= {name: listed(values) for name, values in item_columns(matches, query.items).items()}
    else:
        ids = matches.events.column("id")
        columns |= {column(name): attribute(one, ids).to_pylist() for name, one in matches.bound.items()}
    columns |= {name: routes.clock.show(times).to_pylist() for name, times in _bounds(matches)}
    for number in range(len(matches)):
        yield {"query": query.name, **{name: values[number] for name, values in columns.items()}}


def _bounds(matches: Matches) -> Iterator[tuple[str, Any]]:
    yield "start", matches.start
    yield "end", matches.end


def plain(value: Any) -> Any:
    """Return a value with its numbers as floats, so that equal rows are equal texts."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return float(value) if isinstance(value, int | float | Fraction) else value


def shown(row: Row) -> str:
    return repr(sorted((name, plain(value)) for name, value in row.items()))


def multiset(rows: Iterable[Row]) -> Counter[str]:
    return Counter(map(shown, rows))
