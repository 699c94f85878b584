"""Generated streams as record batches, cut anywhere, and the rows of an engine as the oracle has them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa

from elsinore.actors.rows.rows import Rows
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock

Event = dict[str, Any]

COLUMNS: dict[str, pa.DataType] = {"v": pa.int64(), "w": pa.int64(), "g": pa.string(), "h": pa.int64()}

SCHEMA = pa.schema({"type": pa.string(), "time": pa.int64(), **COLUMNS})

TYPE = pa.dictionary(pa.int32(), pa.string())


def cut(events: list[Event], random: Random) -> Iterator[list[Event]]:
    """Batches of any size, none included, the events in any order inside of each."""
    left = events
    while left:
        size = random.randint(0, len(left))
        batch, left = left[:size], left[size:]
        random.shuffle(batch)
        yield batch


def record_batch(events: list[Event], made: Plan, clock: Clock) -> pa.RecordBatch:
    times = pa.array([event["time"] for event in events], pa.int64())
    columns: dict[str, Any] = {
        "type": pa.array([event["type"] for event in events], pa.string()).cast(TYPE),
        "time": pa.array(clock.read(times)),
    }
    for name in made.columns:
        columns[name] = pa.array([event[name] for event in events], COLUMNS[name])
    return pa.RecordBatch.from_pydict(columns)


def shown(rows: Rows, clock: Clock) -> Iterator[dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "window_start": clock.show(rows.window_start).to_pylist(),
        "window_end": clock.show(rows.window_end).to_pylist(),
        **{name: values.to_pylist() for name, values in rows.groups.items()},
        **{name: values.tolist() for name, values in rows.values.items()},
    }
    for each in zip(*columns.values(), strict=True):
        yield {"query": rows.query, **dict(zip(columns, each, strict=True))}
