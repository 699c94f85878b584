"""Matches are handed out some at a time, from events that later batches do not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.rows.found import Found, Outlet, rows_by_query
from elsinore.actors.rows.partial_rows import LISTED, PartialAggregate, PartialRows
from tests.support.streams import batch, engine, shown


def rows(query: str, first: int, count: int) -> PartialRows:
    times = np.arange(first, first + count)
    return PartialRows(query, times, times + 1, {}, {"x": PartialAggregate(LISTED, pa.array(times))})


PARTS = [("a", 0, 3), ("a", 3, 4), ("b", 0, 2), ("b", 2, 0), ("b", 2, 5), ("c", 0, 1)]
ALL = [(query, first + n) for query, first, count in PARTS for n in range(count)]


def outlet(drawn: list[str] | None = None) -> Outlet:
    def search() -> Iterator[PartialRows]:
        for query, first, count in PARTS:
            if drawn is not None:
                drawn.append(query)
            yield rows(query, first, count)

    return Outlet(Found(matches=[search()]))


def listed(found: list[PartialRows]) -> list[tuple[str, int]]:
    return [(some.query, int(start)) for some in found for start in some.window_start]


@pytest.mark.parametrize("least", [1, 2, 4, 100])
def test_a_request_that_is_repeated_has_the_same_rows(least: int) -> None:
    one, arrived, found = outlet(), Counter[str](), list[tuple[str, int]]()
    while one.more:
        message = one.after(arrived, least)
        assert one.after(arrived, least) == message
        assert not one.more or sum(map(len, message)) >= least
        arrived += rows_by_query(message)
        found += listed(message)
    assert found == ALL
    assert one.after(arrived, least) == []


@pytest.mark.parametrize("arrived", range(len(ALL) + 1))
def test_another_outlet_goes_on_where_one_ended(arrived: int) -> None:
    one = outlet()
    one.after({}, 2)
    found = listed(one.after(Counter(query for query, _ in ALL[:arrived]), 100)) if arrived > 2 else ALL[arrived:]
    assert found == ALL[arrived:]


def test_no_more_is_searched_than_is_asked_for() -> None:
    drawn: list[str] = []
    one = outlet(drawn)
    assert listed(one.after({}, 4)) == ALL[:7]
    assert drawn == ["a", "a"]


def test_what_is_not_kept_is_refused() -> None:
    one = outlet()
    one.after({}, 1)
    one.after({"a": 3}, 1)
    with pytest.raises(ValueError, match="are not kept"):
        one.after({}, 1)


TEXT = """
QUERY pairs RETURN MATCHES a.v, b.v PATTERN SEQ(A a, B b) GROUP-BY k WITHIN 9 seconds LIMIT 3;
QUERY ahead RETURN MATCHES PATTERN SEQ(A a, NOT C) GROUP-BY k WITHIN 5 seconds;
QUERY counted RETURN k, COUNT(*) PATTERN SEQ(A, B+) GROUP-BY k WITHIN 9 seconds SLIDE 3 seconds
"""


def stream(first: int) -> pa.RecordBatch:
    times = np.arange(first, first + 40) // 2
    # Each batch has keys of its own, so that those of earlier ones are forgotten.
    keys = [f"{first // 80}-{n % 3}" for n in range(40)]
    return batch(list("AABC" * 10), times, v=times % 7, k=keys)


def test_rows_may_be_taken_when_later_batches_have_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.actors.streams.partitions.KEEP_ALL_BELOW", 1)
    batches = [stream(first) for first in range(0, 400, 40)]
    at_once, later = engine(TEXT), engine(TEXT)
    for one in (at_once, later):
        for partitions in one._partitions.values():
            partitions.worth_a_look = 1
    expected = [shown(at_once, at_once.feed(part)) for part in batches]
    waiting = [(later.feeding(part), later.save()) for part in batches]
    assert [shown(later, found) for found, _ in waiting] == expected
    assert waiting[-1][1] == at_once.save()
    assert sum(map(len, expected)) > 100
    assert {one.count < 30 for one in at_once._partitions.values()} == {True}
