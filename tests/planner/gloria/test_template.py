"""The GLORIA template against Section 2.2 and Section 6."""

from __future__ import annotations

from elsinore.planner.gloria.templates.template import bits
from tests.planner.gloria.workloads import found, query, stages, template


def kinds(*texts: str) -> dict[str, str]:
    made = template(*texts)
    names = [str(node) for node in made.nodes]
    return {f"{names[one.source]}-{names[one.target]}": one.kind for stage in made.stages for one in stage.transitions}


def test_example_2_5() -> None:
    """Figure 2: every transition with the queries that have it."""
    made = template("SEQ(R, SEQ(P, T)+, D)", "SEQ(A, R, SEQ(P, T)+, D)", "SEQ(A, R, SEQ(P, T)+, C)")
    who = {name: list(bits(stage.queries)) for name, stage in zip(stages(made), made.stages, strict=True)}
    assert who == {"A-R": [1, 2], "R-P": [0, 1, 2], "P-T,T-P": [0, 1, 2], "T-D": [0, 1], "T-C": [2]}


def test_feedback_flat_and_nested() -> None:
    flat, nested = ["SEQ(A, B)+"] * 2, ["SEQ(C, SEQ(A, B)+, D)+"] * 2
    assert kinds(*flat) == {"A-B": "sequence", "B-A": "feedback"}
    assert kinds(*nested) == {
        "C-A": "sequence",
        "A-B": "sequence",
        "B-A": "feedback",
        "B-D": "sequence",
        "D-C": "nested feedback",
    }


def test_feedback_of_one_type() -> None:
    assert kinds(*["SEQ(X, A+)"] * 2) == {"X-A": "sequence", "A-A": "feedback"}
    assert kinds(*["SEQ(X, SEQ(A, B+)+)"] * 2) == {
        "X-A": "sequence",
        "A-B": "sequence",
        "B-B": "feedback",
        "B-A": "nested feedback",
    }


def test_a_loop_of_one_type_and_loops_one_behind_the_other() -> None:
    assert stages(template(*["SEQ(X, A+, SEQ(B, C)+, D)"] * 2)) == ["X-A", "A-A", "A-B", "B-C,C-B", "C-D"]


def test_a_loop_with_a_choice_is_one_stage_and_so_is_the_way_out_of_it() -> None:
    made = template(*["SEQ(X, (A | B)+, C)"] * 2)
    assert [len(stage.transitions) for stage in made.stages] == [2, 4, 2]
    assert [stage.kleene for stage in made.stages] == [False, True, False]
    assert [len(stage.locals) for stage in made.stages] == [1, 2, 0]


def test_queries_may_end_early_and_start_late() -> None:
    made = template("SEQ(A?, B, C, D?)", "SEQ(A, B, C, D)")
    names = [str(node) for node in made.nodes]
    first, second = made.routes
    assert {names[node] for node in first.starts} == {"A", "B"}
    assert {names[node] for node in first.ends} == {"C", "D"}
    assert first.stages == second.stages
    assert {names[node] for node in second.starts} == {"A"}


def test_a_type_under_other_predicates_is_another_node() -> None:
    texts = [query("SEQ(A, B, C)", where=f"{part}A.w = 1") for part in ("B.v < 3 AND ", "B.v > 3 AND ", "")]
    made, apart = found(*texts, query("SEQ(A X, B Y, C)", where="Y.v < 3 AND X.w = 1"))
    assert [one.names for one in made] == [("q1", "q4")]
    assert set(apart) == {"q2", "q3"}
    assert str(made[0].nodes[1]) == "B[event.v < 3]"


def test_routes_that_go_round_in_a_circle() -> None:
    """There is no order in which every stage comes behind those that lead to it, and none is needed."""
    made = template("SEQ(A, B, C)", "SEQ(B, C, A)", "SEQ(C, A, B)")
    assert sorted(stages(made)) == ["A-B", "B-C", "C-A"]
