"""Which queries whose windows move with every event share a graph, and why the others do not."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.sharing import MovingSet

WINDOW = "WITHIN 10 minutes"


def planned(*queries: str) -> Plan:
    return plan(check_text("; ".join(f"RETURN COUNT(*) {query}" for query in queries)), "hamlet")


def test_windows_of_any_length_are_in_one_set() -> None:
    (found,) = planned(f"PATTERN SEQ(A, T+) {WINDOW}", "PATTERN SEQ(B, T x+, C) WITHIN 1 hour").share_sets
    assert isinstance(found, MovingSet)
    assert [[sharer.member for sharer in kleene.sharers] for kleene in found.kleenes] == [[0, 1]]


def test_windows_that_move_and_windows_that_slide_are_in_sets_of_their_own() -> None:
    sliding = f"{WINDOW} SLIDE 5 minutes"
    found = planned(*(f"PATTERN SEQ(A, T+) {window}" for window in (WINDOW, sliding, WINDOW, sliding))).share_sets
    assert [[member.query for member in one.members] for one in found] == [[1, 3], [0, 2]]
    assert [isinstance(one, MovingSet) for one in found] == [False, True]


def test_a_kleene_of_a_single_query_is_in_bursts_as_well() -> None:
    (found,) = planned(f"PATTERN SEQ(U+, T+) {WINDOW}", f"PATTERN SEQ(A, T+) {WINDOW}").share_sets
    assert [(kleene.type, len(kleene.sharers)) for kleene in found.kleenes] == [("U", 1), ("T", 2)]


NO_OTHER = "no other query whose windows move with every event has T+ with the same grouping, MIN and MAX"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"PATTERN SEQ(A, T+) WHERE [k] {WINDOW}", NO_OTHER),
        (f"PATTERN SEQ(A, T) {WINDOW}", "no Kleene sub-pattern E+ over a single event type"),
        (
            f"PATTERN T+ & A {WINDOW}",
            "its windows move with every event, and the trends of an AND are counted by partition and then paired up",
        ),
        *(
            (
                f"PATTERN SEQ(A, T+) SEMANTICS {semantics} {WINDOW}",
                "its windows move with every event; such queries are shared under skip-till-any-match only",
            )
            for semantics in ("next", "contiguous")
        ),
        (
            f"PATTERN SEQ(A, T+) WHERE T.v < NEXT(T).v {WINDOW}",
            "T.v < NEXT(T).v: its windows move with every event; "
            "those that compare neighbours are shared where they have a SLIDE",
        ),
    ],
)
def test_why_a_query_runs_apart(query: str, why: str) -> None:
    made = planned(f"PATTERN SEQ(A, T+) {WINDOW}", f"PATTERN SEQ(B, T+) {WINDOW}", query)
    assert [[member.query for member in one.members] for one in made.share_sets] == [[0, 1]]
    assert made.reasons == (("q3", why),)


def test_min_and_max_share_with_the_same_only() -> None:
    patterns = ("SEQ(A, T+)", "SEQ(B, T+)")
    items = ("MIN(T.v)", "COUNT(*)")
    text = "; ".join(f"RETURN {item} PATTERN {pattern} {WINDOW}" for item in items for pattern in patterns)
    found = plan(check_text(text), "hamlet").share_sets
    assert [[member.query for member in one.members] for one in found] == [[0, 1], [2, 3]]


def test_explain_shows_the_set() -> None:
    made = planned(f"PATTERN SEQ(A, T+) {WINDOW}", f"PATTERN SEQ(T+, A) WHERE T.w < 3 {WINDOW}")
    assert explain(made).splitlines()[:6] == [
        "plan: strategy hamlet, 1 share set",
        "share set 1: one graph of moving windows for q1, q2",
        "├─ windows that move with every event: the effect of a burst on trends is computed once for all queries",
        "├─ share T+: q1, q2",
        "├─ lane T+: q1; every event",
        "├─ lane T+: q2; those with event.w < 3",
    ]
