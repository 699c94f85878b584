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
from elsinore.planner.checks.check import check
from elsinore.planner.language.parse import parse
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock

TYPE = pa.dictionary(pa.int32(), pa.string())
Row = dict[str, Any]


def planned(text: str) -> Plan:
    return plan(check(parse(text)))


def engine(text: str, *, numeric: str = "exact", lateness: int = 0) -> Engine:
    """An engine whose times are whole seconds, one tick each."""
    made = planned(text)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric, lateness)


def batch(types: Any, times: Any, **columns: Any) -> pa.RecordBatch:
    """Types are a text for all events, or one of each."""
    times = np.asarray(times, np.int64)
    names = pa.array([types] * len(times) if isinstance(types, str) else types, pa.string())
    arrays = {name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in columns.items()}
    return pa.RecordBatch.from_pydict({"type": names.cast(TYPE), "time": pa.array(times), **arrays})


def cut(whole: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(whole), size):
        yield whole.slice(start, size)


def fed(one: Engine, batches: Iterable[pa.RecordBatch]) -> list[Row]:
    """The rows of a whole stream."""
    found = [rows for part in batches for rows in one.feed(part)]
    return shown(one, [*found, *one.finish()])


def run(text: str, *batches: pa.RecordBatch, **options: Any) -> list[Row]:
    return fed(engine(text, **options), batches)


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
