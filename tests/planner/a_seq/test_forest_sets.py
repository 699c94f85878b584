"""Sequences whose windows move with every event: which share a forest, where they are chopped, who runs apart, why."""

from __future__ import annotations

import pytest

from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from tests.planner.gloria.workloads import PATTERNS

WINDOW = "WITHIN 10 minutes"


def planned(*queries: str, strategy: str = "prefix", window: str = WINDOW) -> Plan:
    return plan(check_text("; ".join(f"RETURN COUNT(*) PATTERN {query} {window}" for query in queries)), strategy)


def members(made: Plan) -> list[list[int]]:
    return [[member.query for member in one.members] for one in made.share_sets]


def prefixes(made: Plan) -> dict[str, list[int]]:
    """The members that count each prefix of a tree."""
    (found,) = made.share_sets
    assert isinstance(found, ForestSet)
    names: dict[int, str] = {}
    for number, node in enumerate(found.forest.nodes):
        names[number] = ("" if node.parent is None else f"{names[node.parent]} ") + str(node.step.node)
    return {name: list(found.forest.users(number)) for number, name in names.items()}


def pieces(made: Plan) -> list[tuple[int, ...]]:
    """Where each route is cut."""
    (found,) = made.share_sets
    assert isinstance(found, ForestSet)
    return [route.cuts for route in found.forest.routes]


def test_figure_9() -> None:
    made = planned(*PATTERNS)
    assert members(made) == [[0, 1, 2, 3]]
    assert prefixes(made) == {
        "VKindle": [0, 1, 2, 3],
        "VKindle BKindle": [0, 1, 2, 3],
        "VKindle BKindle VCase": [0, 2, 3],
        "VKindle BKindle VCase BCase": [0, 2, 3],
        "VKindle BKindle VKindleFire": [1],
        "VKindle BKindle VCase BCase VeBook": [2],
        "VKindle BKindle VCase BCase VeBook BeBook": [2],
        "VKindle BKindle VCase BCase VLight": [3],
        "VKindle BKindle VCase BCase VLight BLight": [3],
    }
    assert dict(made.reasons) == {
        "q5": "no other query whose windows move with every event begins with the same two event types"
    }


def test_example_6() -> None:
    """Q5 has (VKindle, BKindle) at its end, and is connected there."""
    made = planned(*PATTERNS, strategy="chop-connect")
    assert pieces(made) == [(0,), (0,), (0,), (0,), (0, 2)]
    assert prefixes(made)["VKindle BKindle"] == [0, 1, 2, 3, 4]
    assert prefixes(made)["ViPad VKindleFire"] == [4]


def test_several_pieces() -> None:
    """Section 4.2: (A, B, C), (D, E) and (F, G), each shared with another query."""
    patterns = ("SEQ(A, B, C, D, E, F, G)", "SEQ(A, B, C, X)", "SEQ(X, D, E)", "SEQ(Y, F, G)")
    made = planned(*patterns, strategy="chop-connect")
    assert pieces(made) == [(0, 3, 5), (0,), (0, 1), (0, 1)]


def test_the_sub_pattern_that_saves_most_comes_first() -> None:
    patterns = ("SEQ(A, B, C, D)", "SEQ(X, B, C, D)", "SEQ(Y, A, B)")
    made = planned(*patterns, strategy="chop-connect")
    assert (members(made), pieces(made)) == ([[0, 1]], [(0, 1), (0, 1)])


def test_steps_are_alike_where_they_do_the_same_with_the_same_events() -> None:
    """Predicates may have other variables; what is negated behind a type empties its counter."""
    queries = ("SEQ(A x, B) WHERE x.v > 1", "SEQ(A, B, C) WHERE A.v > 1", "SEQ(A, B)", "SEQ(A, NOT N, B, C)")
    made = planned(*queries, "SEQ(A, NOT N, B)")
    assert members(made) == [[0, 1], [3, 4]]


def test_windows_of_any_length_share_and_grouping_parts() -> None:
    queries = ("SEQ(A, B) WITHIN 5 minutes", "SEQ(A, B, C) WITHIN 1 hour", "SEQ(A, B) WHERE [k] WITHIN 5 minutes")
    assert members(planned(*queries, window="")) == [[0, 1]]


def test_sequences_with_a_slide_have_sets_of_their_own() -> None:
    sliding = "SEQ(A, B, C) WITHIN 10 minutes SLIDE 5 minutes"
    made = planned(sliding, sliding, f"SEQ(A, B, C) {WINDOW}", f"SEQ(A, B, D) {WINDOW}", window="")
    assert members(made) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SEQ(B, A)", "no other query whose windows move with every event begins with the same two event types"),
    ],
)
def test_why_a_query_runs_apart(query: str, why: str) -> None:
    made = planned("SEQ(A, B)", "SEQ(A, B, C)", query)
    assert members(made) == [[0, 1]]
    assert why in dict(made.reasons)["q3"]


def test_explain_tells_of_prefixes_and_connections() -> None:
    text = explain(planned("SEQ(A, B, C)", "SEQ(A, B, D)", "SEQ(X, A, B)", strategy="chop-connect"))
    assert "share set 1: one forest of prefix counters for q1, q2, q3" in text
    assert "├─ prefix (A, B): q1, q2, q3" in text
    assert "├─ prefix (A, B, C): q1\n" in text
    assert "├─ connect (X) with (A, B): q3" in text
