"""Random workloads of RETURN MATCHES: the checks accept them, and the judge finds each match once, in order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.parse import parse
from tests.oracle.detecting import cases, workloads
from tests.oracle.detection import matches, numbered
from tests.oracle.query import Query, text_of

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@settings(max_examples=200, deadline=None)
@given(workloads())
def test_random_workloads_are_accepted(workload: tuple[Query, ...]) -> None:
    text = text_of(workload)
    checked = check_text(text)
    assert check_text(str(checked)) == checked
    assert len(parse(text).queries) == len(workload)


@settings(max_examples=100, deadline=None)
@given(cases(8, 3))
def test_the_judge_finds_each_match_once(case: Case) -> None:
    workload, events = case
    for query in workload:
        rows = numbered(matches([query], events))
        if not query.items:
            assert len({repr(row) for row in rows}) == len(rows)
        assert [row["end"] for row in rows] == sorted(row["end"] for row in rows)
