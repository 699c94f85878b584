"""What a query says of itself agrees with the machines that are made of it."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import nodes
from elsinore.planner.plans.planning import plan
from tests.vectors import WORKLOAD_TEXTS


@pytest.mark.parametrize("text", WORKLOAD_TEXTS)
def test_the_types_of_a_query_are_those_of_its_machines(text: str) -> None:
    workload = check_text(text)
    for one in plan(workload, "cogra").queries:
        assert one.query.types == {kind.type for counter in one.counters for kind in counter.machine.classes}
    assert workload.types == {name for query in workload.queries for name in query.types}


def test_facts_of_a_workload() -> None:
    workload = check_text(
        "QUERY a RETURN g, SUM(B.x) PATTERN SEQ(A, NOT C, B+) WHERE [h] AND A.y < 3 GROUP-BY g WITHIN 1 minute;"
        "QUERY b RETURN COUNT(*) PATTERN D WITHIN 2 minutes SLIDE 30 seconds"
    )
    first, second = workload.queries
    assert sorted(first.types) == ["A", "B", "C"]
    assert first.columns == ("g", "h", "x", "y")
    assert (sorted(second.types), second.columns) == (["D"], ())
    assert sorted(workload.types) == ["A", "B", "C", "D"]
    assert list(workload.spans) == [30, 60, 120]
    assert next(nodes(first)) == first
