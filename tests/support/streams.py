"""Streams for engines: batches from columns, rows as dicts, and engines that go on in another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.errors import WorkloadError
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

TYPE = pa.dictionary(pa.int32(), pa.string())
Row = dict[str, Any]


def planned(text: str, strategy: str = "auto") -> Plan:
    return plan(check_text(text), strategy)


def refused(text: str, strategy: str) -> bool:
    workload = check_text(text)
    try:
        plan(workload, strategy)
    except WorkloadError as error:
        return f"strategy {strategy} cannot run" in str(error)
    return False


def engine(text: str, strategy: str = "auto", *, numeric: str = "exact", lateness: int = 0) -> Engine:
    """Return an engine whose times are whole seconds, one tick each."""
    made = planned(text, strategy)
    places = any(one.query.counts_events for one in made.queries)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric, lateness, places=places)


def batch(types: Any, times: Any, **columns: Any) -> pa.RecordBatch:
    """Types are a text for all events, or one of each."""
    times = np.asarray(times, np.int64)
    names = pa.array([types] * len(times) if isinstance(types, str) else types, pa.string())
    arrays = {name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in columns.items()}
    return pa.RecordBatch.from_pydict({"type": names.cast(TYPE), "time": pa.array(times), **arrays})


def bursts(count: int, types: str = "ABBBCDX", *, stay: float = 0.6, keys: int = 3, seed: int = 1) -> pa.RecordBatch:
    """Return bursts of any types, three events in two seconds, some at equal times; some values are missing."""
    random = np.random.default_rng(seed)
    names = random.choice(list(types), count)
    runs = np.cumsum(random.random(count) >= stay)
    v, w = random.integers(0, 9, (2, count))
    k = random.integers(0, keys, count)
    missing = random.random((3, count)) < 0.1
    return batch(
        names[runs].tolist(),
        np.sort(random.integers(0, 2 * count // 3, count)),
        v=pa.array(v, mask=missing[0]),
        w=w,
        f=random.integers(0, 99, count) / 8,
        t=pa.array([None if gone else "pqrst"[value % 5] for value, gone in zip(w, missing[1], strict=True)]),
        k=pa.array(k, mask=missing[2] & (w == 0)),
        g=pa.array(k // 2, mask=missing[2] & (w == 0)),
    )


def with_column(events: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    return events.set_column(events.schema.get_field_index(name), name, column)


def cut(whole: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(whole), size):
        yield whole.slice(start, size)


def fed(one: Engine, batches: Iterable[pa.RecordBatch]) -> list[Row]:
    """The rows of a whole stream."""
    found = [rows for part in batches for rows in one.feed(part)]
    return shown(one, [*found, *one.finish()])


def run(text: str, *batches: pa.RecordBatch, strategy: str = "auto", **options: Any) -> list[Row]:
    return fed(engine(text, strategy, **options), batches)


def rows_of(text: str, strategy: str, events: pa.RecordBatch, size: int | None = None, **options: Any) -> list[Row]:
    """Return the rows of a stream, in one batch or in batches of a size."""
    return fed(engine(text, strategy, **options), cut(events, size or max(len(events), 1)))


def shown(one: Engine, found: Iterable[Rows]) -> list[Row]:
    """Rows as dicts, in order of query, window and group."""
    rows = [row for part in found for row in dicts(one, part)]
    names = {name for row in rows for name in row}
    return sorted(rows, key=lambda row: tuple(repr(row.get(name)) for name in sorted(names)))


def dicts(one: Engine, rows: Rows) -> Iterator[Row]:
    columns: dict[str, list[Any]] = {
        "start": one.clock.show(rows.window_start).to_pylist(),
        "end": one.clock.show(rows.window_end).to_pylist(),
        **{name: values.to_pylist() for name, values in rows.groups.items()},
        **{
            name: values.to_pylist() if isinstance(values, pa.Array) else values.tolist()
            for name, values in rows.values.items()
        },
    }
    for each in zip(*columns.values(), strict=True):
        yield {"query": rows.query, **dict(zip(columns, each, strict=True))}


def noted(*parts: pa.RecordBatch, ticks: int = 1) -> StreamStatistics:
    one = StreamStatistics(Clock(ticks, Fraction(1), pa.int64()))
    for part in parts:
        one.note(part.column(0), part.column(1))
    return one
