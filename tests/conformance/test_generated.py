"""Of every kind, the rows of small workloads are those of the enumeration of all trends."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from elsinore.errors import WorkloadError
from elsinore.planner.time.clock import Clock
from tests.conformance.kinds import Kind
from tests.conformance.matrix import of_each_kind
from tests.conformance.ways import Way
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import text_of
from tests.support.batches import SCHEMA, cut, record_batch, shown
from tests.support.generated import ALL, FAST, LONG, NUMERIC, Case, Tally, quick

SEEDS = st.integers(0, 2**32)


def able(kind: Kind, case: Case) -> Case:
    """Return a case without the queries that the kind cannot run."""
    queries = tuple(query for query in case[0] if kind.generated.run(query))
    assume(queries)
    return queries, case[1]


def ways_of(kind: Kind, case: Case, seed: int) -> list[Way]:
    """Return the ways to run a case; a case that is refused as ambiguous is left out."""
    try:
        found = kind.generated.ways(text_of(case[0]), seed)
    except WorkloadError:
        assert any(map(ambiguous, case[0]))
        found = []
    assume(found)
    return found


def agree(kind: Kind, case: Case, seed: int, numeric: Numeric, tally: Tally) -> None:
    queries, events = able(kind, case)
    text = text_of(queries)
    ways = ways_of(kind, (queries, events), seed)
    expected = answer(queries, events)
    about = {"cases"}
    for way in ways:
        note(f"{text}\n" + "\n".join(map(str, events)) + f"\n{way.name}, seed={seed}, numeric={numeric}")
        result = way.run(text, events, numeric)
        assert differences(expected, result.rows(), numeric) == []
        about |= set(kind.generated.likely(way, result))
    for what in about:
        tally.note(what, True)


def enumerate_cases(kind: Kind, how: settings, most: int, covered: Mapping[str, float]) -> None:
    tally = Tally()

    @how
    @given(kind.generated.cases(most, False), SEEDS, NUMERIC)
    def every_case(case: Case, seed: int, numeric: Numeric) -> None:
        agree(kind, case, seed, numeric, tally)

    every_case()
    for what, share in () if FAST else covered.items():
        assert tally.share(what) > share, (what, tally.found)


@of_each_kind("rows of the enumeration")
def test_rows_are_those_of_the_enumeration(kind: Kind) -> None:
    """And most cases are about something."""
    enumerate_cases(kind, quick(kind.generated.examples), kind.generated.most, kind.generated.covered)


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
@of_each_kind("rows of the enumeration, at length")
def test_rows_are_those_of_the_enumeration_at_length(kind: Kind) -> None:
    most = kind.generated.most + (4 if kind.generated.most > 15 else 2)
    enumerate_cases(kind, settings(LONG, max_examples=2000), most, kind.generated.covered_at_length)


@of_each_kind("batches and states never show")
def test_batches_and_states_never_show(kind: Kind) -> None:
    @quick(30)
    @given(kind.generated.cases(min(kind.generated.most, 14), True), SEEDS, st.booleans())
    def every_case(drawn: Case, seed: int, saved: bool) -> None:
        queries, events = case = able(kind, drawn)
        ways = ways_of(kind, case, seed)
        way = ways[seed % len(ways)]
        batches = list(cut(events, Random(seed)))
        note(f"{text_of(queries)}\n" + "\n".join(map(str, batches)) + f"\n{way.name}, seed={seed}")
        clock = Clock.of(pa.int64(), "s", way.plan.spans)
        one, rows = way.engine(clock), []
        for batch in batches:
            rows += one.feed(record_batch(batch, way.plan, clock))
            one = way.restored(one.save()) if saved else one
        rows += one.finish()
        found = [row for part in rows for row in shown(part, clock)]
        assert differences(answer(queries, events), found, "exact") == []

    every_case()


@of_each_kind("events that are not too late count")
def test_events_that_are_not_too_late_count(kind: Kind) -> None:
    """No event is overtaken by one that is more than `late` seconds younger."""

    @quick(15)
    @given(kind.generated.cases(min(kind.generated.most, 10), True), SEEDS, st.integers(0, 8))
    def every_case(drawn: Case, seed: int, late: int) -> None:
        queries, events = case = able(kind, drawn)
        ways = ways_of(kind, case, seed)
        way, random = ways[seed % len(ways)], Random(seed)
        arriving = sorted(events, key=lambda one: one["time"] + random.randint(0, late))
        note(f"{text_of(queries)}\n{way.name}, lateness={late}\n" + "\n".join(map(str, arriving)))
        batches = pa.Table.from_pylist(arriving, SCHEMA).to_batches(max_chunksize=2)
        result = way.run(text_of(queries), pa.RecordBatchReader.from_batches(SCHEMA, batches), lateness=late)
        assert result.metrics.late == 0
        assert differences(answer(queries, events), result.rows(), "exact") == []

    every_case()
