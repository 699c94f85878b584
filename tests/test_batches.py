"""How the input is cut into batches never shows in the rows, and neither does a snapshot between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import elsinore
from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.planner.checks.check import check
from elsinore.planner.language.parse import parse
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.query import Query, text_of
from tests.oracle.strategies import cases

Event = dict[str, Any]

COLUMNS: dict[str, pa.DataType] = {"v": pa.int64(), "w": pa.int64(), "g": pa.string(), "h": pa.int64()}
SCHEMA = pa.schema({"type": pa.string(), "time": pa.int64(), **COLUMNS})
TYPE = pa.dictionary(pa.int32(), pa.string())


@settings(max_examples=60, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(cases(12, whole=True), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(
    case: tuple[tuple[Query, ...], list[Event]], random: Random, saved: bool
) -> None:
    queries, events = case
    assume(not any(map(ambiguous, queries)))
    batches = list(cut(events, random))
    note(text_of(queries) + "\n" + "\n".join(map(str, batches)))
    made = plan(check(parse(text_of(queries))))
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed(made, clock, batches, saved) for row in shown(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []


@settings(max_examples=30, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(cases(10, whole=True), st.integers(0, 8), st.randoms(use_true_random=False))
def test_events_that_are_not_too_late_count(
    case: tuple[tuple[Query, ...], list[Event]], late: int, random: Random
) -> None:
    queries, events = case
    assume(not any(map(ambiguous, queries)))
    # No event is overtaken by one that is more than `late` seconds younger.
    arriving = sorted(events, key=lambda event: event["time"] + random.randint(0, late))
    note(text_of(queries) + f"\nlateness={late}\n" + "\n".join(map(str, arriving)))
    batches = pa.Table.from_pylist(arriving, SCHEMA).to_batches(max_chunksize=2)
    result = elsinore.run(
        text_of(queries), pa.RecordBatchReader.from_batches(SCHEMA, batches), engine="local", lateness=late
    )
    assert result.metrics.late == 0
    assert differences(answer(queries, events), result.rows(), "exact") == []


def cut(events: list[Event], random: Random) -> Iterator[list[Event]]:
    """Batches of any size, none included, the events in any order inside of each."""
    left = events
    while left:
        size = random.randint(0, len(left))
        batch, left = left[:size], left[size:]
        random.shuffle(batch)
        yield batch


def fed(made: Plan, clock: Clock, batches: list[list[Event]], saved: bool) -> Iterator[Rows]:
    engine = Engine(made, clock)
    for batch in batches:
        yield from engine.feed(record_batch(batch, made, clock))
        engine = Engine.restore(made, engine.save()) if saved else engine
    yield from engine.finish()


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
