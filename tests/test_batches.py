"""How the input is cut into batches never shows in the rows, and neither does a snapshot between two of them."""

from __future__ import annotations

from random import Random

import pyarrow as pa
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import elsinore
from elsinore.planner.checks.check import check
from elsinore.planner.language.parse import parse
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.query import Query, text_of
from tests.oracle.strategies import cases
from tests.support.batches import SCHEMA, Event, cut, fed, shown


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
