"""Workloads made to hurt: deep, long, or many."""

from __future__ import annotations

import time

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.language.parse import parse
from elsinore.planner.plans.planning import MAX_COUNTERS, plan

WITHIN = "WITHIN 1 minute SLIDE 1 minute"
DEEP = 10_000


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "pattern",
    [
        "(" * DEEP + "A" + ")" * DEEP,
        "(" * DEEP,
        "A" + "+" * DEEP,
        "NOT " * DEEP + "A",
        "SEQ(" * DEEP + "A" + ")" * DEEP,
        "SEQ(A, (B | " * DEEP + "C" + "))" * DEEP,
    ],
)
def test_deep_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(WorkloadError, match="nested more than 100 deep"):
        parse(f"RETURN COUNT(*) PATTERN {pattern} {WITHIN}")


@pytest.mark.parametrize(
    "expression",
    [
        "(" * DEEP + "A.v" + ")" * DEEP + " < 1",
        "NOT " * DEEP + "A.v < 1",
        "- " * DEEP + "A.v < 1",
        "A.v" + " + A.v" * DEEP + " < 1",
    ],
)
def test_deep_expressions_are_refused(expression: str) -> None:
    with pytest.raises(WorkloadError, match="nested more than 100 deep"):
        parse(f"RETURN COUNT(*) PATTERN A WHERE {expression} {WITHIN}")


def test_what_is_not_too_deep_can_be_checked_and_printed() -> None:
    deep = 45
    pattern = "(SEQ(B, " * deep + "A" + "))+" * deep
    expression = "(" * 99 + "A.v" + ")" * 99 + " + 1" * 95 + " < 1"
    workload = check_text(f"RETURN COUNT(*) PATTERN {pattern} WHERE {expression} {WITHIN}")
    assert check_text(str(workload)) == workload


@pytest.mark.parametrize(
    "clauses",
    [
        f"PATTERN A{{{'9' * 5000}}} {WITHIN}",
        f"PATTERN A WHERE A.v < {'9' * 5000} {WITHIN}",
        f"PATTERN A WITHIN {'9' * 5000} seconds",
        f"PATTERN A WITHIN 0.{'0' * 5000}1 seconds",
        "PATTERN A WITHIN 1e999999999 seconds",
    ],
)
def test_long_numbers_are_refused(clauses: str) -> None:
    with pytest.raises(WorkloadError):
        parse(f"RETURN COUNT(*) {clauses}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("good", "clauses"),
    [
        (True, "PATTERN A WHERE A.v IN ({})".format(", ".join(map(str, range(20_000))))),
        (True, "PATTERN A WHERE {}".format(" AND ".join(f"A.v != {i}" for i in range(5_000)))),
        (True, "PATTERN A WHERE {}".format(" OR ".join(f"A.v != {i}" for i in range(5_000)))),
        (True, "-- \n" * 50_000 + "PATTERN A"),
        (False, "PATTERN SEQ({})".format(", ".join(f"A{i}" for i in range(10_000)))),
        (False, "PATTERN A WHERE {}".format(" AND ".join(["bare = 1"] * 5_000))),
        (False, "PATTERN A WHERE A.v = " + "'" * 100_001),
        (True, "PATTERN A " + "x" * 100_000),
        (False, "PATTERN A " + "WHERE A.v " * 10_000),
    ],
)
def test_long_workloads_take_no_time_beyond_their_length(good: bool, clauses: str) -> None:
    """Each takes a second or less; what were quadratic would take minutes."""
    started = time.process_time()
    if good:
        check_text(f"RETURN COUNT(*) {clauses} {WITHIN}")
    else:
        with pytest.raises(WorkloadError) as caught:
            check_text(f"RETURN COUNT(*) {clauses} {WITHIN}")
        assert str(caught.value)
    assert time.process_time() - started < 15


def _joined(pattern: str, count: int, between: str = " | ") -> str:
    return between.join(pattern.format(i, i + 1) for i in range(count))


MANY = {
    "types": f"({_joined('T{0}', 200)})+",
    "named types": f"({_joined('T{0}', 200)})+ WHERE T0.v < T1.v AND T2.v < 3",
    "links": f"({_joined('T{0}', 120)})+ WHERE {_joined('T{0}.v < T{1}.v', 119, ' AND ')}",
    "nested": f"(SEQ(({_joined('T{0}', 100)})+, ({_joined('U{0}', 100)})*))+",
    "alternatives that begin alike": f"({_joined('SEQ(A, T{0})', 150)})+",
    "optional elements": f"SEQ(A, {_joined('T{0}?', 150, ', ')})",
    "one after another": f"SEQ({_joined('T{0}+', 200, ', ')})",
    "at once": f"AND({_joined('T{0}+', 60, ', ')})",
    "two at once": f"AND(({_joined('T{0}', 100)})+, ({_joined('U{0}', 100)})+)",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", MANY)
def test_patterns_of_many_types_are_planned_quickly(shape: str) -> None:
    """Each takes a second or less; what were cubic in the number of types would take a minute."""
    started = time.process_time()
    assert plan(check_text(f"RETURN COUNT(*) PATTERN {MANY[shape]} {WITHIN}")).types
    assert time.process_time() - started < 8


def test_operands_that_can_match_at_once_in_too_many_ways_are_refused() -> None:
    operands = _joined("(A | B{0})+", 20, ", ")
    started = time.process_time()
    with pytest.raises(WorkloadError, match=f"more than {MAX_COUNTERS:,} combinations"):
        check_text(f"RETURN COUNT(*) PATTERN AND({operands}) {WITHIN}")
    assert time.process_time() - started < 15
