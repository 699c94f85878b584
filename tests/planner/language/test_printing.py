"""What is printed is read back as the same."""

from __future__ import annotations

import pytest
from hypothesis import given

from elsinore.planner.checks.check import check
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import Workload
from tests.planner.language.strategies import WORKLOADS
from tests.vectors import WORKLOAD_TEXTS


@given(WORKLOADS)
def test_round_trip(workload: Workload) -> None:
    text = str(workload)
    assert parse(text) == workload
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", WORKLOAD_TEXTS)
def test_vectors_round_trip(text: str) -> None:
    workload = parse(text)
    assert parse(str(workload)) == workload
    checked = check(workload)
    assert check(parse(str(checked))) == checked


def test_query_as_the_papers_write_it() -> None:
    text = """\
QUERY slow_cancelled
RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed) AS pace
PATTERN SEQ(Request R, Travel T+, NOT Pickup P, (SEQ(Stop S?, Cancel C{2,}))+, (B | C x))
SEMANTICS skip-till-any-match
WHERE [driver, rider] AND R.kind = 'Pool''s' AND T.speed < 10 AND T.speed + 1 >= NEXT(T).speed
GROUP-BY district
WITHIN 30 minutes SLIDE 0.5 minutes"""
    assert str(parse(text)) == text
    assert str(check(parse(text.replace("(B | C x)", "D x")))) == text.replace("(B | C x)", "D x")


@pytest.mark.parametrize(
    "expression",
    [
        "A.x - (A.y - 1) - 2",
        "(A.x + 1) * -2 < -A.y",
        "A.x - -2 = -(-A.y)",
        "NOT (A.x < 1 OR A.y IN (1, -2, 'x'))",
        "(A.x < 1 OR A.y > 2) AND NOT A.z IS NOT NULL",
        "A.x NOT BETWEEN 1 AND 2 + A.y",
        "(A.x < 1) = TRUE",
        "A.x = 1e-05",
    ],
)
def test_parentheses_only_where_needed(expression: str) -> None:
    text = f"RETURN COUNT(*) PATTERN A WHERE {expression} WITHIN 1 minute"
    assert f"WHERE {expression}\n" in str(parse(text))
