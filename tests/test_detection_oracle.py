"""The judge of detection is judged: by cases counted by hand, by random ones, and by what other systems return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from elsinore.planner.checks.check import check_text
from tests.oracle.answer import answer
from tests.oracle.compare import differences
from tests.oracle.detection import matches, numbered
from tests.oracle.query import text_of
from tests.oracle.read import read
from tests.vectors import name
from tests.vectors.detection import CASES, OTHERS


def multiset(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("case", [*CASES, *OTHERS], ids=name)
def test_the_judge_gives_the_rows_of_the_vectors(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    aggregated = {query.name for query in queries if not query.detects}
    expected = [row for row in case["expected"] if row["query"] not in aggregated]
    found = matches([query for query in queries if query.detects], case["events"])
    assert multiset(numbered(found)) == multiset(expected)
    counted = answer([query for query in queries if not query.detects], case["events"])
    assert differences([row for row in case["expected"] if row["query"] in aggregated], counted, "exact") == []


@pytest.mark.parametrize("case", [*CASES, *OTHERS], ids=name)
def test_queries_print_as_they_were_read(case: dict[str, Any]) -> None:
    queries = read(case["workload"])
    assert read(text_of(queries)) == queries


def stream(text: str) -> list[dict[str, Any]]:
    """`A1 B2:7`: types and times, and values of `v`; ids are numbers from 1."""
    words = (word.partition(":") for word in text.split())
    return [
        {"id": n, "type": at[0], "time": int(at[1:]), "v": int(value) if value else None, "g": "p"}
        for n, (at, _, value) in enumerate(words, start=1)
    ]


def found(clauses: str, events: str | list[dict[str, Any]], within: str = "100 seconds") -> list[dict[str, Any]]:
    """Return the rows of a query that skips any events unless it says otherwise, without what every row has."""
    semantics = "" if "SEMANTICS" in clauses else "SEMANTICS skip-till-any-match\n"
    returns = "" if "RETURN" in clauses else "RETURN MATCHES\n"
    text = f"QUERY q\n{returns}{clauses}\n{semantics}WITHIN {within}\n"
    check_text(text)
    rows = numbered(matches(read(text), stream(events) if isinstance(events, str) else events))
    return [{name: value for name, value in row.items() if name not in ("query", "start", "end")} for row in rows]


BY_HAND: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    # Rows are in order of their ends, then of their starts, then of their events from left to right.
    "order of rows": (
        "PATTERN SEQ(A, B+)",
        "A1 A2 B3 B4",
        [
            {"A": 1, "B": [3]},
            {"A": 2, "B": [3]},
            {"A": 1, "B": [3, 4]},
            {"A": 1, "B": [4]},
            {"A": 2, "B": [3, 4]},
            {"A": 2, "B": [4]},
        ],
    ),
    "order of rows at equal times": (
        "PATTERN AND(B, A)",
        "A1 B1 A1 B1",
        [{"B": 2, "A": 1}, {"B": 2, "A": 3}, {"B": 4, "A": 1}, {"B": 4, "A": 3}],
    ),
    "an absent event comes before one that is there": (
        "PATTERN SEQ(A, B?, C)",
        "A1 B2 C3",
        [{"A": 1, "B": None, "C": 3}, {"A": 1, "B": 2, "C": 3}],
    ),
    "the first of each end": ("PATTERN SEQ(A, B)\nLIMIT 1", "A1 A2 B3 B4", [{"A": 1, "B": 3}, {"A": 1, "B": 4}]),
    "no more than there are": ("PATTERN SEQ(A, B)\nLIMIT 9", "A1 B3", [{"A": 1, "B": 2}]),
    # Items.
    "items": (
        "RETURN MATCHES A.v, B.v AS all, COUNT(B), SUM(B.v), AVG(B.v) AS mean, MIN(B.v), MAX(B.v)\n"
        "PATTERN SEQ(A, B+)\nWHERE COUNT(B) = 3",
        "A1:9 B2:4 B3 B4:2",
        [{"A.v": 9, "all": [4, None, 2], "COUNT(B)": 3, "SUM(B.v)": 6, "mean": 3, "MIN(B.v)": 2, "MAX(B.v)": 4}],
    ),
    "items of what is absent": (
        "RETURN MATCHES A.v, B.v, C.v, COUNT(B), COUNT(C), SUM(B.v), LAST(B).v\nPATTERN SEQ(A, B*, C?)",
        "A1:9",
        [{"A.v": 9, "B.v": [], "C.v": None, "COUNT(B)": 0, "COUNT(C)": 0, "SUM(B.v)": None, "LAST(B).v": None}],
    ),
    # FIRST and LAST leave nulls out, as the aggregates do.
    "nulls are no values": (
        "RETURN MATCHES FIRST(A).v, LAST(A).v, COUNT(A), MIN(A.v)\nPATTERN A+\nWHERE COUNT(A) = 4",
        "A1 A2:5 A3:6 A4",
        [{"FIRST(A).v": 5, "LAST(A).v": 6, "COUNT(A)": 4, "MIN(A.v)": 5}],
    ),
    "a comparison with no value is false": ("PATTERN SEQ(A, B?)\nWHERE SUM(B.v) < 5", "A1", []),
    "count of nothing is a number": ("PATTERN SEQ(A, B?)\nWHERE COUNT(B) < 1", "A1", [{"A": 1, "B": None}]),
    "an attribute beside a list": (
        "PATTERN SEQ(A, B+)\nWHERE A.v < SUM(B.v)",
        "A1:3 B2:2 B3:2",
        [{"A": 1, "B": [2, 3]}],
    ),
    # Negation.
    "every event of a list has to be exceeded to forbid": (
        "PATTERN SEQ(A+, NOT N, B)\nWHERE N.v > A.v",
        "A1:1 A2:5 N3:3 B4",
        [{"A": [1, 2], "B": 4}, {"A": [2], "B": 4}],
    ),
    "what is absent lets everything forbid": ("PATTERN SEQ(A, C?, NOT N, B)\nWHERE N.v > C.v", "A1 N2:3 B3", []),
    "what comes later may decide what forbids": (
        "PATTERN SEQ(A, NOT N, B, C)\nWHERE N.v > C.v",
        "A1 N2:3 B3 C4:2 C5:3",
        [{"A": 1, "B": 3, "C": 5}],
    ),
    "all predicates must hold to forbid": (
        "PATTERN SEQ(A, NOT N, B)\nWHERE N.v > A.v AND N.v < B.v",
        "A1:1 N2:3 B3:2 B4:9",
        [{"A": 1, "B": 3}],
    ),
    "two events that are forbidden": (
        "PATTERN SEQ(A, NOT SEQ(N, M), B)\nWHERE N.v < M.v AND M.v > A.v",
        "A1:1 N2:3 M3:2 B4 A5:9 N6:3 M7:5 B8",
        [{"A": 1, "B": 4}, {"A": 5, "B": 8}],
    ),
    "not before AND": (
        "PATTERN SEQ(A, NOT N, B & C)",
        "A1 C2 N3 B4 A5 B6 C7 N8",
        [{"A": 1, "B": 4, "C": 2}, {"A": 1, "B": 6, "C": 2}, {"A": 5, "B": 6, "C": 7}],
    ),
    # AND.
    "AND of lists shares no event": (
        "PATTERN AND(A x+, A y)",
        "A1 A2",
        [{"x": [1], "y": 2}, {"x": [2], "y": 1}],
    ),
    "AND of OR": ("PATTERN AND(A, (B | C))", "C1 A2", [{"A": 2, "B": None, "C": 1}]),
    "AND inside of AND": ("PATTERN AND(A, SEQ(B & C, D))", "C1 B2 A3 D4", [{"A": 3, "B": 2, "C": 1, "D": 4}]),
    "AND in one branch": (
        "PATTERN ((A & B) | C)",
        "B1 C2 A3",
        [{"A": None, "B": None, "C": 2}, {"A": 3, "B": 1, "C": None}],
    ),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_by_hand(case: str) -> None:
    clauses, events, rows = BY_HAND[case]
    assert found(clauses, events) == rows


@pytest.mark.parametrize(
    ("pattern", "events", "count"),
    [
        # Of two forbidden events the first counts at the start, the last at the end.
        ("SEQ(NOT SEQ(N, M), A)", "N1 M5 A10", 0),
        ("SEQ(NOT SEQ(N, M), A)", "N0 M5 A10", 1),
        ("SEQ(A, NOT SEQ(N, M))", "A1 N5 M10", 0),
        ("SEQ(A, NOT SEQ(N, M))", "A1 N5 M11", 1),
        # The window begins at the first event of the match, or ends at its last.
        ("SEQ(NOT N, A, B)", "N1 A5 B11", 1),
        ("SEQ(A, B, NOT N)", "A1 B5 N10", 0),
        ("SEQ(A, B, NOT N)", "A1 B5 N11", 1),
        # Where the neighbour is absent, the gap reaches to the next event.
        ("SEQ(NOT N, C?, A)", "N1 A5", 0),
        ("SEQ(A, B?, NOT N)", "A1 N5 B6", 1),
        # At equal times nothing is forbidden.
        ("SEQ(NOT N, A)", "N1 A1", 1),
        ("SEQ(A, NOT N)", "A1 N1", 1),
    ],
)
def test_negation_at_the_edges(pattern: str, events: str, count: int) -> None:
    assert len(found(f"PATTERN {pattern}", events, "10 seconds")) == count


def test_the_first_of_each_group_and_end_counts_partitions_together() -> None:
    events = [{"id": n, "type": kind, "time": n, "g": "pq"[n % 2], "h": n} for n, kind in enumerate("AAAA")]
    events = [{**event, "time": 1} for event in events]
    rows = found("PATTERN A\nWHERE [h]\nGROUP-BY g\nLIMIT 1", events)
    assert rows == [{"g": "p", "A": 0}, {"g": "q", "A": 1}]


def test_a_row_has_whole_events() -> None:
    events = [{"type": "A", "time": 1.5, "x": "y", "v": 0.25}]
    assert matches(read("QUERY q\nRETURN MATCHES\nPATTERN A\nSEMANTICS contiguous\nWITHIN 1 seconds\n"), events) == [
        {"query": "q", "start": 1.5, "end": 1.5, "A": events[0]}
    ]
