"""The known cases of detection through the public function, with whole events in the rows."""

from __future__ import annotations

from typing import Any

import pytest

import elsinore
from tests.vectors import name
from tests.vectors.detection import CASES, OTHERS, multiset, numbered


@pytest.mark.parametrize("case", [*CASES, *OTHERS], ids=name)
def test_rows_of_the_vectors(case: dict[str, Any]) -> None:
    result = elsinore.run(case["workload"], case["events"], engine="local")
    events = {event["id"]: event for event in case["events"]}
    assert multiset(numbered(row, events) for row in result.rows()) == multiset(case["expected"])


WORKLOAD = """
QUERY found RETURN MATCHES PATTERN SEQ(A, B+) WHERE A.v < B.v WITHIN 6 seconds
QUERY counted RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 6 seconds SLIDE 6 seconds
QUERY near RETURN MATCHES A.v, COUNT(B) AS n, B.v PATTERN SEQ(A, B+) WITHIN 3 events LIMIT 1
"""
EVENTS = [{"type": kind, "time": n, "v": n * 3 % 7, "s": 'a"b'} for n, kind in enumerate("ABABBA")]


def test_matches_and_aggregates_stand_in_one_table() -> None:
    table = elsinore.run(WORKLOAD, EVENTS, engine="local").to_arrow()
    bounds = ["window_start", "window_end", "start", "end"]
    assert table.column_names == ["query", *bounds, "A", "B", "COUNT(*)", "A.v", "n", "B.v"]
    first = table.slice(0, 1).to_pylist()[0]
    assert first["A"] == {"type": "A", "time": 0, "v": 0, "s": 'a"b'}
    assert first["B"] == [{"type": "B", "time": 1, "v": 3, "s": 'a"b'}]


def test_a_preview_shows_events_short() -> None:
    shown = repr(elsinore.run(WORKLOAD, EVENTS, engine="local"))
    assert 'time=0 v=0 s=a"b' in shown
    assert "[time=1 v=3" in shown


def test_rows_are_ordered_by_end_then_start() -> None:
    rows = elsinore.run(WORKLOAD, EVENTS, engine="local").query("found").rows()
    bounds = [(row["end"], row["start"]) for row in rows]
    assert bounds == sorted(bounds)
    assert len(rows) > 5


@pytest.mark.parametrize("strategy", ["hamlet", "cogra", "two-step"])
def test_strategies_of_aggregation_refuse_matches(strategy: str) -> None:
    with pytest.raises(elsinore.WorkloadError, match=f"strategy {strategy} cannot run RETURN MATCHES"):
        elsinore.run(WORKLOAD, EVENTS, engine="local", strategy=strategy)


STREAM = [{"type": "AB"[n % 2], "time": n // 2, "v": n * 3 % 7, "k": n % 3} for n in range(120)]


@pytest.mark.parametrize("within", ["20 seconds", "30 events"])
@pytest.mark.parametrize(
    "pattern", ["SEQ(A x, B y, A z)", "AND(A x, B y)", "SEQ(A x, B y{1,2}, NOT C)", "SEQ(A x, B y) | B z"]
)
def test_matches_are_counted_and_paged_without_a_list(pattern: str, within: str) -> None:
    query = f"RETURN MATCHES PATTERN {pattern} WHERE [k] AND x.v < y.v WITHIN {within}"
    listed = elsinore.run(query, STREAM, engine="local").rows()
    found = elsinore.matches(query, STREAM)
    assert found.count() == len(listed) > 20
    assert [row for first in range(0, len(listed), 7) for row in found.page(first, 7).rows()] == listed
    assert found.page(len(listed), 5).rows() == []
    chosen = found.sample(9, seed=3).rows()
    assert len(chosen) == 9
    assert all(row in listed for row in chosen)
    assert found.sample(9, seed=3).rows() == chosen != found.sample(9, seed=4).rows()


def test_of_no_events_there_are_no_matches() -> None:
    found = elsinore.matches("RETURN MATCHES PATTERN SEQ(A, B) WITHIN 5 seconds", [])
    assert (found.count(), found.page(0, 5).rows(), found.sample(3).rows()) == (0, [], [])


def test_one_of_several_queries_is_named() -> None:
    found = elsinore.matches("QUERY a RETURN MATCHES PATTERN A WITHIN 5 s".replace("5 s", "5 seconds"), STREAM)
    assert found.count("a") == found.count() == 60
    with pytest.raises(elsinore.InputError, match="the workload has no query 'b'; it has a"):
        found.count("b")
    with pytest.raises(elsinore.InputError, match="counted returns aggregates and has no matches"):
        elsinore.matches(WORKLOAD, EVENTS)


def test_too_many_matches_end_a_run_with_ways_out() -> None:
    query = "QUERY all RETURN MATCHES PATTERN SEQ(A x, B y) WITHIN 60 seconds"
    with pytest.raises(
        elsinore.WorkloadError, match="all has 1,711 matches so far; a run lists at most 1,000"
    ) as error:
        elsinore.run(query, STREAM, engine="local", most_matches=1000)
    assert all(
        way in str(error.value) for way in ("{n,m}", "skip-till-next-match", "LIMIT", "COUNT(*)", "elsinore.matches")
    )
    assert len(elsinore.run(query, STREAM, engine="local", most_matches=None)) > 1000
