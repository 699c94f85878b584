"""Canonical names."""

from __future__ import annotations

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve
from elsinore.planner.language.syntax import Attribute, Query, nodes
from elsinore.planner.language.walk import leaves


def resolved(clauses: str) -> Query:
    return resolve(parse(f"{clauses} WITHIN 1 minute").queries[0])


def test_every_event_type_has_a_variable() -> None:
    query = resolved("RETURN COUNT(*) PATTERN SEQ(A, B, B x, NOT (C | B), A b+, D)")
    assert [leaf.variable for leaf in leaves(query.pattern)] == ["A#1", "B#1", "x", "C", "B#3", "b", "D"]


def test_a_type_that_stands_once_names_its_variable() -> None:
    query = resolved(
        "RETURN SUM(Travel.v), COUNT(T) PATTERN SEQ(A, Travel T+) WHERE Travel.v < NEXT(Travel).v AND -A.v < T.v"
    )
    assert [item.variable for item in query.aggregates] == ["T", "T"]
    assert [item.text for item in query.aggregates] == ["SUM(Travel.v)", "COUNT(T)"]
    used = [node for predicate in query.predicates for node in nodes(predicate) if isinstance(node, Attribute)]
    assert used == [Attribute("T", "v"), Attribute("T", "v", next=True), Attribute("A", "v"), Attribute("T", "v")]


def test_unknown_names_stay() -> None:
    query = resolved("RETURN SUM(X.v) PATTERN SEQ(A, A)")
    assert query.aggregates[0].variable == "X"


def test_a_variable_is_not_taken_for_the_type() -> None:
    query = resolved("RETURN SUM(B.v) PATTERN SEQ(A B, B)")
    assert [leaf.variable for leaf in leaves(query.pattern)] == ["B", "B#1"]


def test_resolved_twice_is_resolved_once() -> None:
    query = resolved("RETURN SUM(x.v) PATTERN SEQ(A, B, B x, C c) WHERE C.v < 1")
    assert resolve(query) == query


def test_synthetic_names_do_not_show() -> None:
    text = "QUERY q\nRETURN COUNT(*)\nPATTERN SEQ(B, A, B+)\nSEMANTICS contiguous\nWITHIN 1 day"
    assert str(check_text(text)) == text
