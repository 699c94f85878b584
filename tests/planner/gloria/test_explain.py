"""What is said of a sharing plan."""

from __future__ import annotations

from elsinore.planner.gloria.explain import explain_plan
from tests.planner.gloria.workloads import figure_7, optimized, template


def test_the_plan_of_figure_7() -> None:
    assert explain_plan(figure_7()) == [
        "sharing plan 1: gloria for q1, q2, q3; costs 307, apart 588",
        "the cheapest of all plans",
        "apart F -> A: q1",
        "share A -> B: q1, q2; snapshots of A, created here",
        "rejected A -> B: q1, q2 apart; 65 from the start instead of 65",
        "share B -> C: q1, q2; snapshots of A, reused",
        "rejected B -> C: q1, q2 apart; 165 from the start instead of 70",
        "rejected B -> C: (q1, q2) by B; 165 from the start instead of 70, pruned for (q1, q2) by A",
        "apart E -> C: q3",
        "share C -> D: q1, q2; snapshots of A, reused",
        "apart C -> D: q3",
        "rejected C -> D: (q1, q2) by C, q3 apart; 279 from the start instead of 159, pruned for (q1, q2) by A, "
        "q3 apart",
        "rejected C -> D: (q1, q2, q3) by C; 279 from the start instead of 159",
        "rejected C -> D: q1, q2, q3 apart; 444 from the start instead of 159",
    ]


def test_a_loop_and_many_rejected() -> None:
    lines = explain_plan(optimized(template(*["SEQ(C, SEQ(A, B)+, D)+"] * 4), {"A": 5, "B": 10, "C": 12, "D": 4}), 3)
    assert lines[0] == "sharing plan 3: gloria for q1-q4; costs 320, apart 1,040"
    name = "(C -> A, A -> B, B -> A, B -> D, D -> C)+"
    assert lines[2] == f"share {name}: q1-q4; snapshots of D, created here"
    assert lines[-1] == f"rejected {name}: 1 more"
    assert len(lines) == 7


def test_a_plan_by_a_rule_rejects_nothing() -> None:
    lines = explain_plan(optimized(template("SEQ(A, B, C)", "SEQ(A, B, D)"), {}, "prefix"))
    assert lines[1:] == [
        "share A -> B: q1, q2; snapshots of A, created here",
        "share B -> C: q1; snapshots of A, reused",
        "share B -> D: q2; snapshots of A, reused",
    ]
