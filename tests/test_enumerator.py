"""Every row that the product gives is the row that an enumeration of all trends gives."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from random import Random

from hypothesis import assume, given, note
from hypothesis import strategies as st

import elsinore
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import Query, text_of
from tests.oracle.strategies import cases, workloads
from tests.support.generated import Case, quick


@quick(10)
@given(workloads())
def test_an_empty_stream_gives_no_rows(queries: tuple[Query, ...]) -> None:
    agree((queries, []), "exact")


EPOCH = datetime(1970, 1, 1)


@quick(30)
@given(cases(8, whole=True))
def test_timestamps_are_times_since_the_epoch(case: Case) -> None:
    queries, events = case
    assume(not any(map(ambiguous, queries)))
    note(f"{text_of(queries)}\n" + "\n".join(map(str, events)))
    stamped = [{**event, "time": stamp(event["time"])} for event in events]
    expected = [
        {**row, "window_start": stamp(row["window_start"]), "window_end": stamp(row["window_end"])}
        for row in answer(queries, events)
    ]
    rows = elsinore.run(text_of(queries), stamped, engine="local").rows()
    assert differences(expected, rows, "exact") == []


def stamp(seconds: int | Fraction) -> datetime:
    return EPOCH + timedelta(microseconds=int(seconds * 10**6))


@quick(30)
@given(cases(8), st.randoms(use_true_random=False))
def test_the_order_of_a_list_never_shows(case: Case, random: Random) -> None:
    queries, events = case
    random.shuffle(events)
    agree((queries, events), "exact")


def agree(case: Case, numeric: Numeric) -> None:
    queries, events = case
    text = text_of(queries)
    note(f"{text}\n" + "\n".join(map(str, events)) + f"\nnumeric={numeric}")
    try:
        rows = elsinore.run(text, events, engine="local", numeric=numeric).rows()
    except elsinore.WorkloadError:
        # Refused as ambiguous, which only a query that can be so may be.
        if any(map(ambiguous, queries)):
            return
        raise
    assert differences(answer(queries, events), rows, numeric) == []
