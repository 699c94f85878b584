"""Which queries are in a GLORIA plan with which others, and why not the rest."""

from __future__ import annotations

import pytest

from elsinore.planner.gloria.templates.members import why_apart
from tests.planner.gloria.workloads import WINDOW, found, planned, query

ALONE = "no other query has one of its transitions, with the same predicates and grouping"


def sets(*texts: str) -> list[list[str]]:
    return [list(template.names) for template in found(*texts)[0]]


def why(*texts: str) -> dict[str, str]:
    return found(*texts)[1]


def test_queries_with_a_transition_in_common() -> None:
    texts = ("SEQ(A, B, C)", "SEQ(B, C, D)", "SEQ(X, Y)", "SEQ(D, E)", "SEQ(C, D)", "SEQ(Z, X, Y)")
    assert sets(*texts) == [["q1", "q2", "q5"], ["q3", "q6"]]
    assert why(*texts) == {"q4": ALONE}


def test_a_sequence_and_a_loop_over_the_same_types_have_nothing_in_common() -> None:
    """Section 7.1: sequences are kept apart from Kleene sub-patterns, and these from one another."""
    assert sets("SEQ(A, B)", "SEQ(A, B)+", "SEQ(A, B, C)+") == []
    assert sets("SEQ(A, B)", "SEQ(A, B)+", "SEQ(X, SEQ(A, B)+)", "SEQ(A, B, C)") == [["q1", "q4"], ["q2", "q3"]]


def test_all_the_reasons() -> None:
    texts = (
        "SEQ(A, B, C)",
        query("SEQ(A, B, C)", window=f"SEMANTICS contiguous {WINDOW}"),
        query("SEQ(A, B, C)", where="A.v < B.v"),
        query("SEQ(A, B, C)", window="WITHIN 10 minutes"),
        "SEQ(A X, B, A Y)",
        "SEQ(A, NOT B, C, B)",
        "SEQ(A, B?, C)",
        "SEQ(A, B | C)",
        "SEQ(A, B) & SEQ(B, C)",
        "SEQ(C, D)",
    )
    assert why(*texts) == {
        "q1": ALONE,
        "q2": "only skip-till-any-match lets every event before another be its predecessor, as snapshots take it",
        "q3": "it compares neighbours, so each event has predecessors of its own; expressions are of all of a type",
        "q4": "its windows move with every event; a plan is for windows of WITHIN and SLIDE",
        "q5": "A stands at several places of the pattern; a template has each type once",
        "q6": "B stands in NOT and outside of it",
        "q7": "its pattern can choose or leave something out; a plan is for sequences and Kleene sub-patterns of them",
        "q8": "its pattern can choose or leave something out; a plan is for sequences and Kleene sub-patterns of them",
        "q9": "AND counts trends of several patterns; a template has one pattern per query",
        "q10": ALONE,
    }


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (query("SEQ(A, B)", group="g"), query("SEQ(A, B)", group="g"), True),
        (query("SEQ(A, B)", group="g"), query("SEQ(A, B)", where="[g]"), False),
        (query("SEQ(A, B)"), query("SEQ(A, B)", window="WITHIN 9 minutes SLIDE 3 minutes"), True),
        (query("SEQ(A, B)", items="SUM(A.v)"), query("SEQ(A, B)", items="AVG(B.v)"), True),
        (query("SEQ(A, B)", items="MIN(A.v)"), query("SEQ(A, B)", items="MIN(A.v), COUNT(*)"), True),
        (query("SEQ(A, B)", items="MIN(A.v)"), query("SEQ(A, B)"), False),
        (query("SEQ(A, B)", where="A.v < 3"), query("SEQ(A X, B)", where="X.v < 3"), True),
        (query("SEQ(A, B)", where="A.v < 3"), query("SEQ(A, B)", where="A.v < 4"), False),
        (query("SEQ(A, B, C)", where="A.v < 3"), query("SEQ(A, B, C)", where="A.v < 4"), True),
    ],
)
def test_who_may_share(one: str, other: str, together: bool) -> None:
    assert bool(sets(one, other)) == together


def test_why_a_query_can_be_in_no_plan_at_all() -> None:
    able, unable = planned("SEQ(A, B)", "SEQ(A, B?, C)")
    assert why_apart(able) is None
    assert "choose or leave something out" in (why_apart(unable) or "")


def test_a_gap_with_a_negation_is_never_shared_but_others_of_the_query_are() -> None:
    assert sets("SEQ(A, NOT X, B)", "SEQ(A, B)") == []
    (made,), apart = found("SEQ(A, NOT X, B, C)", "SEQ(A, B, C)")
    assert apart == {}
    assert [stage.guarded for stage in made.stages] == [1, 0]
    assert [route.guarded for route in made.routes] == [{0}, frozenset()]


def test_a_negation_at_an_end_is_in_no_transition() -> None:
    assert sets("SEQ(NOT X, A, B)", "SEQ(A, B, NOT Y)") == [["q1", "q2"]]
