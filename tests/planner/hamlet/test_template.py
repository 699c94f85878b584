"""The merged query template against Section 3.1 of HAMLET, and what `explain` says of sharing."""

from __future__ import annotations

from pathlib import Path

from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.query_names import listed
from elsinore.planner.explain.text import explain
from elsinore.planner.hamlet.template import Template, template, template_of_query, template_of_set
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan

WINDOW = "WITHIN 10 minutes SLIDE 5 minutes"
FIGURE_1 = Path(__file__).parents[3] / "examples" / "ridesharing" / "workload.elsinore"


def planned(*patterns: str, window: str = WINDOW) -> Plan:
    return plan(check_text("; ".join(f"RETURN COUNT(*) PATTERN {pattern} {window}" for pattern in patterns)), "hamlet")


def of(*patterns: str) -> Template:
    return template(
        {
            query.query.name: [whole for counter in query.counters for whole in counter.automata]
            for query in planned(*patterns).queries
        }
    )


def test_example_3_3() -> None:
    one = of("SEQ(A, B+)")
    assert one.predecessors("B", "q1") == {"A", "B"}
    assert one.start("q1") == {"A"}
    assert one.end("q1") == {"B"}


def test_example_3_4() -> None:
    assert of("SEQ(A, B+)", "SEQ(C, B+)") == Template(
        queries=("q1", "q2"),
        types=("A", "B", "C"),
        transitions={("A", "B"): ("q1",), ("B", "B"): ("q1", "q2"), ("C", "B"): ("q2",)},
        starts={"A": ("q1",), "C": ("q2",)},
        ends={"B": ("q1", "q2")},
        kleenes={"B": ("q1", "q2")},
        negated={},
        gaps={},
    )


def test_the_workload_of_figure_1() -> None:
    one = of(
        "SEQ(Request R, Travel T+, NOT Pickup P)", "SEQ(Request, Travel+, Dropoff)", "SEQ(Request, Travel+, Cancel)"
    )
    everyone = ("q1", "q2", "q3")
    assert one.transitions == {
        ("Request", "Travel"): everyone,
        ("Travel", "Travel"): everyone,
        ("Travel", "Dropoff"): ("q2",),
        ("Travel", "Cancel"): ("q3",),
    }
    assert one.starts == {"Request": everyone}
    assert one.ends == {"Travel": ("q1",), "Dropoff": ("q2",), "Cancel": ("q3",)}
    assert one.kleenes == {"Travel": everyone}
    assert one.negated == {"Pickup": ("q1",)}
    assert one.gaps == {("Travel", "Pickup"): ("q1",)}


def test_gaps_lead_into_a_negation_through_it_and_out_of_it() -> None:
    one = of("SEQ(NOT S, A, NOT SEQ(X+, Y), B)")
    assert set(one.transitions) == {("A", "B")}
    assert set(one.gaps) == {("S", "A"), ("A", "X"), ("X", "X"), ("X", "Y"), ("Y", "B")}
    assert set(one.negated) == {"S", "X", "Y"}
    assert one.types == ("A", "B", "S", "X", "Y")


def test_a_type_at_several_places_of_a_pattern_is_there_once() -> None:
    one = of("SEQ(A X, B+, A Y)")
    assert one.types == ("A", "B")
    assert one.predecessors("A", "q1") == {"B"}
    assert one.predecessors("B", "q1") == {"A", "B"}
    assert one.kleenes == {"B": ("q1",)}


def test_two_events_of_a_type_are_no_kleene_sub_pattern() -> None:
    one = of("SEQ(A X, A Y)")
    assert one.transitions == {("A", "A"): ("q1",)}
    assert one.kleenes == {}


def test_both_sides_of_and() -> None:
    query = planned("SEQ(A, B+) & SEQ(C, D)").queries[0]
    assert set(template_of_query(query).transitions) == {("A", "B"), ("B", "B"), ("C", "D")}


def test_a_share_set_has_the_template_of_its_members() -> None:
    whole = planned("SEQ(A, B+)", "SEQ(C, D)", "SEQ(C, B+)")
    (share_set,) = whole.share_sets
    assert template_of_set(whole, share_set).transitions == {
        ("A", "B"): ("q1",),
        ("B", "B"): ("q1", "q3"),
        ("C", "B"): ("q3",),
    }


def test_explain_says_who_may_share_what() -> None:
    queries = [
        f"RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x < 3 {WINDOW}",
        "RETURN COUNT(*) PATTERN SEQ(C, B+, NOT D) WITHIN 15 minutes SLIDE 5 minutes",
        f"RETURN COUNT(*) PATTERN SEQ(A, B+) {WINDOW}",
        f"RETURN COUNT(*) PATTERN SEQ(A, C) {WINDOW}",
    ]
    lines = explain(plan(check_text("; ".join(queries)), "hamlet")).splitlines()
    assert lines[:18] == [
        "plan: strategy hamlet, 1 share set; 1 query apart",
        "share set 1: one HAMLET graph for q1, q2, q3",
        "├─ panes of 5 min: what all windows and slides are multiples of",
        "├─ share B+: q1, q2, q3",
        "├─ lane B+: q1; those with event.x < 3",
        "├─ lane B+: q2, q3; every event",
        "├─ template start A: q1, q3",
        "├─ template start C: q2",
        "├─ template end B: q1, q2, q3",
        "├─ template NOT D: q2",
        "├─ template A -> B: q1, q3",
        "├─ template B -> B: q1, q2, q3",
        "└─ template C -> B: q2",
        "queries apart",
        "└─ q4: no Kleene sub-pattern E+ over a single event type",
        "query q1: skip-till-any-match",
        "├─ pattern SEQ(A, B+)",
        "├─ partition none: all events may form trends together",
    ]
    counted = [line.rpartition("; ")[2] for line in lines if "─ count " in line]
    assert counted[:3] == ["in the graph of share set 1"] * 3
    assert "share set" not in counted[3]


def test_explain_of_queries_that_are_all_apart_says_nothing_of_share_sets() -> None:
    text = explain(plan(check_text(FIGURE_1.read_text()), "cogra"))
    assert text.startswith("plan: strategy cogra, every query apart at its coarsest granularity\nquery not_picked_up")


def test_explain_is_the_same_text_every_time() -> None:
    patterns = [f"SEQ({kind}, B+, NOT D{number})" for number in range(20) for kind in "ACE"]
    assert explain(planned(*patterns)) == explain(planned(*patterns))


def test_many_names_in_few_words() -> None:
    assert listed(f"q{number}" for number in range(1, 51)) == "q1-q50"
    assert listed(["q1", "q2", "q3"]) == "q1, q2, q3"
    assert listed(["q8", "q9", "q10", "q11", "a", "q1", "r2", "q3", "q4"]) == "q8-q11, a, q1, r2, q3, q4"
    assert listed(["q08", "q09", "q10", "q11"]) == "q08, q09, q10, q11"
    assert listed([]) == ""
