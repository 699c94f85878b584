"""Queries that return matches: what is accepted, what their values say, and what no engine runs yet."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from elsinore.planner.checks.check import check, check_attributes, check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import Item, Matches, Query, Summary, Workload
from elsinore.planner.language.walk import bound, column, listed
from tests.vectors.detection import CASES, OTHERS

DETECTING = [case["workload"] for case in (*CASES, *OTHERS) if "aggregate" not in case["tags"]]


def one(clauses: str) -> Query:
    return check_text(f"RETURN MATCHES {clauses} WITHIN 10 events").queries[0]


@pytest.mark.parametrize("text", DETECTING)
def test_vectors_are_accepted_and_printed(text: str) -> None:
    checked = check_text(text)
    assert check(parse(text)) == checked
    assert check_text(str(checked)) == checked


@pytest.mark.parametrize(
    "clauses",
    [
        "PATTERN SEQ(A x+, A y+)",
        "PATTERN SEQ(NOT A, B, NOT C)",
        "PATTERN SEQ(A, NOT A, B)",
        "PATTERN SEQ(A, NOT SEQ(N, M), B) WHERE N.v > A.v AND M.v > B.v AND N.v < M.v",
        "PATTERN SEQ(A, NOT N, B+) WHERE N.v > A.v + B.v",
        "PATTERN SEQ(A & B, NOT N, C)",
        "PATTERN SEQ(A, NOT (N & M), C)",
        "PATTERN A & SEQ(B, NOT N, C) | SEQ(D, E & F)",
        "PATTERN (A & SEQ(B, NOT N, C)) SEMANTICS next WHERE A.v > B.v",
        "PATTERN AND(A x, A y) SEMANTICS contiguous WHERE x.v + y.v > 3",
        "PATTERN SEQ(A, B, C, D) WHERE A.v < D.v OR (B.v = C.v AND A.v IS NULL) AND A.v BETWEEN B.v AND C.v",
        "PATTERN A+ WHERE FIRST(A).v < LAST(A).v AND COUNT(A) IN (2, 3) AND A.v <= AVG(A.v) * 2 AND SUM(A.v) > 1",
        "PATTERN A{2,5} WHERE A.v < NEXT(A).v + 1 LIMIT 3",
        "PATTERN SEQ(A, B) WHERE [g] GROUP-BY h",
        "PATTERN SEQ(start s, query q)",
        "PATTERN SEQ(window_start, B window_end)",
    ],
)
def test_accepted(clauses: str) -> None:
    one(clauses)


def test_a_query_says_what_its_rows_need() -> None:
    query = one("PATTERN SEQ(A y, NOT N, (B b | C){1,3}, D?, A z) WHERE [k] AND SUM(b.v) > 1 AND z.w < N.x GROUP-BY g")
    assert [leaf.variable for leaf in bound(query.pattern)] == ["y", "b", "C", "D", "z"]
    assert listed(query.pattern) == {"b", "C"}
    assert query.columns == ("g", "k", "v", "w", "x")
    assert query.partition == ("g", "k")
    assert query.whole_events
    assert check_text(str(query)).spans == ()
    flat = replace(query, returns=Matches((Item(Summary("FIRST", "b", "q"), "FIRST(b).q"),)))
    assert flat.columns == ("g", "k", "q", "v", "w", "x")
    assert not flat.whole_events


def test_the_column_of_a_type_that_is_forbidden_too_has_its_name() -> None:
    query = one("PATTERN SEQ(A, NOT A, B)")
    assert [column(leaf.variable or "") for leaf in bound(query.pattern)] == ["A", "B"]


def test_windows_of_both_clocks_have_lengths() -> None:
    text = "RETURN MATCHES PATTERN A WITHIN 5 events; RETURN MATCHES PATTERN A WITHIN 2 minutes"
    assert check_text(text).spans == (Fraction(120),)


def test_items_name_types_by_their_variables() -> None:
    query = one("X.v, COUNT(B) AS n, LAST(B).w PATTERN SEQ(A X, B b+)")
    assert [item.value.variable for item in query.items] == ["X", "b", "b"]
    assert [item.label for item in query.items] == ["X.v", "n", "LAST(B).w"]


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (Summary("COUNT", "A", "v"), "COUNT counts events, not attributes"),
        (Summary("FIRST", "A", None), "FIRST is taken over an attribute, not over events"),
    ],
)
def test_values_that_no_text_has_are_refused(summary: Summary, message: str) -> None:
    query = replace(one("PATTERN A"), returns=Matches((Item(summary, "x"),)), limit=0)
    with pytest.raises(WorkloadError) as caught:
        check(Workload((query,)))
    assert [problem.message for problem in caught.value.problems] == ["LIMIT must be above zero", message]


def test_attributes_of_items_and_lists_are_known() -> None:
    text = "RETURN MATCHES A.w, FIRST(B).x, COUNT(B) PATTERN SEQ(A, B+) WHERE SUM(B.y) > A.z WITHIN 1 minute"
    with pytest.raises(WorkloadError) as caught:
        check_attributes(check_text(text), {"A": ["v"], "B": ["v"]})
    assert [problem.message for problem in caught.value.problems] == [
        "no event of type `A` has an attribute `w`",
        "no event of type `B` has an attribute `x`",
        "no event of type `B` has an attribute `y`",
        "no event of type `A` has an attribute `z`",
    ]
