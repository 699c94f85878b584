"""Numbers of matches without a list, pages and samples, against all matches in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.searching import Search
from tests.actors.detection.support import Routes, batches_of, clock_of, queries_of
from tests.oracle.detecting import cases
from tests.oracle.query import Query, text_of
from tests.support.generated import fresh

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]
Listed = list[tuple[Any, ...]]

SEQUENCE = "QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWHERE a.v < b.v\nWITHIN 9 seconds"


def searches_of(text: str, events: list[dict[str, Any]]) -> list[Search]:
    """Return the searches of a stream that comes in one batch."""
    queries = queries_of(text)
    routes = Routes(queries, clock_of(queries, pa.array([event["time"] for event in events])))
    return [search for batch in batches_of(events) for search in routes.begin(*batch)]


def listed(matches: Matches) -> Listed:
    columns = [
        np.split(one.rows, one.offsets[1:-1]) if one.offsets is not None else one.rows for one in _bound(matches)
    ]
    return [tuple(np.asarray(column[m]).tolist() for column in columns) for m in range(len(matches))]


def _bound(matches: Any) -> list[Any]:
    return list(matches.bound.values())


@fresh(60)
@given(cases(9, 2))
def test_counts_pages_and_samples(case: Case) -> None:
    workload, events = case
    for search in searches_of(text_of(workload), events):
        whole = [one for matches in search.matches() for one in listed(matches)]
        assert search.count() == len(whole)
        for first in (0, 1, len(whole) // 2, len(whole)):
            assert listed(search.page(first, 3)) == whole[first : first + 3]
        sample = listed(search.sample(4, 1))
        assert len(sample) == min(4, len(whole))
        assert [one for one in whole if one in sample] == sample


def test_samples_are_uniform() -> None:
    events = [{"id": n, "type": "AAB"[n % 3], "time": n, "v": n * 7 % 5} for n in range(30)]
    (search,) = searches_of(SEQUENCE, events)
    counts = np.zeros(search.count())
    whole = listed(search.page(0, search.count()))
    rounds, size = 1000, len(whole) // 4
    for seed in range(rounds):
        for one in listed(search.sample(size, seed)):
            counts[whole.index(one)] += 1
    expected = rounds * size / len(whole)
    assert abs(counts / expected - 1).max() < 6 / np.sqrt(expected)


def test_counting_lists_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [{"id": n, "type": "A" if n < 24 else "B", "time": n, "v": 0} for n in range(25)]
    (search,) = searches_of("QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWITHIN 100 seconds", events)
    monkeypatch.setattr(Search, "matches", None)
    assert search.count() == 2**24 - 1
