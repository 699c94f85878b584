"""Which queries are in a planned set, and why the others run apart."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import PLANNED, plan

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"
PLAIN = ("SEQ(A, B+, C)", "SEQ(A, B+, C)", "SEQ(A, B+, D)")


def planned(*patterns: str, strategy: str = "gloria", window: str = WINDOW, where: str = "") -> Plan:
    texts = [f"RETURN COUNT(*) PATTERN {pattern} {where} {window}" for pattern in patterns]
    return plan(check_text("; ".join(texts)), strategy)


def members(made: Plan) -> list[list[int]]:
    return [[member.query for member in one.members] for one in made.share_sets]


@pytest.mark.parametrize("strategy", PLANNED)
def test_queries_of_one_template_are_one_set(strategy: str) -> None:
    made = planned(*PLAIN, strategy=strategy)
    (found,) = made.share_sets
    assert isinstance(found, PlannedSet)
    assert members(made) == [[0, 1, 2]]
    assert (found.plan.optimizer, made.reasons) == (strategy, ())


def test_members_are_numbered_as_in_the_workload_whoever_is_left_out() -> None:
    made = planned("SEQ(A, NOT X, B+, C)", *PLAIN, "A & B")
    assert members(made) == [[1, 2, 3]]
    (found,) = made.share_sets
    assert isinstance(found, PlannedSet)
    assert found.plan.template.members == found.members
    assert [name for name, _ in made.reasons] == ["q1", "q5"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("SEQ(A, NOT X, B+, C)", "a match of NOT moves the trends of one query"),
        ("SEQ(A, (B | C)+)", "trends that end with different types continue alike in it"),
        ("A & B", "AND counts trends of several patterns"),
        ("SEQ(A, B, A)", "A stands at several places of the pattern"),
        ("SEQ(X, Y)", "no other query has one of its transitions"),
    ],
)
def test_why_a_query_runs_apart(pattern: str, why: str) -> None:
    made = planned(*PLAIN, pattern)
    assert members(made) == [[0, 1, 2]]
    ((name, reason),) = made.reasons
    assert name == "q4"
    assert reason.startswith(why)


def test_a_plan_that_shares_nothing_is_no_set() -> None:
    made = planned("SEQ(A, B)", "SEQ(A, B)")
    assert made.share_sets == ()
    assert {reason for _, reason in made.reasons} == {
        "its sharing plan shares nothing: every plan that shares costs more"
    }


def test_more_sets_of_predicates_than_one_set_tells_apart() -> None:
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B+, C, D, E) WHERE A.v > {number} {WINDOW}" for number in range(61)]
    made = plan(check_text("; ".join(texts)), "gloria")
    assert made.share_sets == ()
    assert {reason for _, reason in made.reasons} == {"a plan distinguishes at most 60 sets of predicates on a type"}


def test_explain_tells_of_the_plan() -> None:
    text = explain(planned(*PLAIN))
    assert "share set 1: one planned graph for q1, q2, q3" in text
    assert "sharing plan 1: gloria for q1, q2, q3; costs " in text
    assert "share A -> B: q1, q2, q3; snapshots of A, created here" in text
    assert "in the graph of share set 1" in text
