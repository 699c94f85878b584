"""Which queries with predicates on neighbours share a graph, and why the others do not."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.sharing import LinkedSet, LinkLane

WINDOW = "WITHIN 10 minutes SLIDE 5 minutes"
RISING = "PATTERN SEQ(A, T+) WHERE T.v < NEXT(T).v"


def planned(*queries: str) -> Plan:
    return plan(check_text("; ".join(f"RETURN COUNT(*) {query}" for query in queries)), "hamlet")


def linked(*queries: str) -> LinkedSet:
    (found,) = planned(*queries).share_sets
    assert isinstance(found, LinkedSet)
    return found


def test_queries_with_the_same_links_are_one_lane() -> None:
    """Whatever their variables are called, and in whatever order they have them."""
    found = linked(
        f"PATTERN SEQ(A, T+) WHERE T.v < NEXT(T).v AND T.w = NEXT(T).w {WINDOW}",
        f"PATTERN SEQ(B, T x+) WHERE x.v != NEXT(x).v {WINDOW}",
        f"PATTERN SEQ(T y+, C) WHERE y.w = NEXT(y).w AND NEXT(y).v > y.v {WINDOW}",
    )
    assert [link.link for link in found.links] == [0, 1, 0]
    assert found.lanes == ((LinkLane((0, 1), 2), LinkLane((2,), 1)),)
    assert [[sharer.member for sharer in kleene.sharers] for kleene in found.kleenes] == [[0, 2, 1]]


def test_the_same_links_over_other_types_are_others() -> None:
    where = "WHERE A.v < NEXT(A).v AND B.v < NEXT(B).v"
    found = linked(f"PATTERN SEQ(A+, B+) {where} {WINDOW}", f"PATTERN SEQ(B+, A+) {where} {WINDOW}")
    assert [kleene.type for kleene in found.kleenes] == ["A", "B"]
    assert found.lanes == ((LinkLane((0,), 2),), (LinkLane((1,), 2),))


def test_a_kleene_without_links_beside_one_with_links() -> None:
    """Its trends so far are an input of its own."""
    found = linked(f"{RISING} {WINDOW}", f"PATTERN SEQ(T x+, C, T y+) WHERE y.v < NEXT(y).v {WINDOW}")
    (kleene,) = found.kleenes
    assert found.lanes == ((LinkLane((0,), 2), LinkLane((), 1)),)
    assert [sharer.target in sharer.inputs for sharer in kleene.sharers] == [False, False, True]


def test_queries_with_and_without_links_are_in_sets_of_their_own() -> None:
    plain = f"PATTERN SEQ(A, T+) {WINDOW}"
    found = planned(f"{RISING} {WINDOW}", plain, f"{RISING} {WINDOW}", plain).share_sets
    assert [[member.query for member in one.members] for one in found] == [[1, 3], [0, 2]]
    assert [isinstance(one, LinkedSet) for one in found] == [False, True]


ELSEWHERE = "neighbours are compared elsewhere than within one E+ over a single event type that nothing interrupts"
NO_OTHER = "no other query compares neighbours in T+ with the same grouping, windows, MIN and MAX"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"PATTERN SEQ(A, T+) WHERE A.v < T.v {WINDOW}", f"A.v < T.v: {ELSEWHERE}"),
        (f"PATTERN (SEQ(T, A))+ WHERE T.v < A.v {WINDOW}", f"T.v < A.v: {ELSEWHERE}"),
        (f"PATTERN SEQ(T+, NOT N, A) WHERE T.v < NEXT(T).v {WINDOW}", f"T.v < NEXT(T).v: {ELSEWHERE}"),
        (
            f"PATTERN SEQ(A, NOT T+, C) WHERE T.v < NEXT(T).v {WINDOW}",
            "T.v < NEXT(T).v: they stand in a negation, whose matches have to be found event by event",
        ),
        (
            f"PATTERN T+ & A WHERE T.v < NEXT(T).v {WINDOW}",
            "T.v < NEXT(T).v: the trends of an AND are counted by partition and then paired up, each query for itself",
        ),
        (
            f"PATTERN T+ SEMANTICS skip-till-next-match WHERE T.v < NEXT(T).v {WINDOW}",
            "T.v < NEXT(T).v: predicates on neighbours are shared under skip-till-any-match only: otherwise events end "
            "trends, so which events there are to compare with differs from query to query",
        ),
        (
            f"{RISING} WITHIN 10 minutes",
            "T.v < NEXT(T).v: its windows move with every event; "
            "those that compare neighbours are shared where they have a SLIDE",
        ),
        (f"{RISING} WITHIN 10 minutes SLIDE 10 minutes", NO_OTHER),
        (f"{RISING} AND [k] {WINDOW}", NO_OTHER),
    ],
)
def test_why_a_query_runs_apart(query: str, why: str) -> None:
    made = planned(f"{RISING} {WINDOW}", f"{RISING} {WINDOW}", query)
    assert [[member.query for member in one.members] for one in made.share_sets] == [[0, 1]]
    assert made.reasons == (("q3", why),)


def test_a_negation_in_front_is_no_hindrance() -> None:
    assert linked(f"PATTERN SEQ(A, NOT N, T+, C) WHERE T.v < NEXT(T).v {WINDOW}", f"{RISING} {WINDOW}")


def test_explain_says_who_compares_what() -> None:
    made = planned(
        f"{RISING} {WINDOW}",
        f"PATTERN T x+ WHERE x.v != NEXT(x).v AND x.w < 3 {WINDOW}",
        f"PATTERN SEQ(T+, A) WHERE T.v < NEXT(T).v {WINDOW}",
    )
    lines = explain(made).splitlines()
    assert lines[:8] == [
        "plan: strategy hamlet, 1 share set",
        "share set 1: one event-grained graph for q1, q2, q3",
        "├─ windows one by one: the events of each are kept for all queries, and evaluated when it is over",
        "├─ share T+: q1, q3, q2",
        "├─ lane T+: q1, q3; every event",
        "├─ lane T+: q2; those with event.w < 3",
        "├─ neighbours in T+: q1, q3; if T.v < NEXT(T).v",
        "├─ neighbours in T+: q2; if x.v != NEXT(x).v",
    ]
