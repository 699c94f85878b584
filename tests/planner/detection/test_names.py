"""Strategies by name: what is planned together, and which queries a strategy refuses."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.strategies import DETECTING, STRATEGIES

MATCHES = "QUERY {} RETURN MATCHES PATTERN SEQ(A, B, C) {}"
COUNT = "QUERY n RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 9 seconds SLIDE 3 seconds"


def sets(made: Plan) -> list[tuple[list[str], str]]:
    found = []
    for one in made.share_sets:
        assert isinstance(one, DetectionSet)
        found.append(([made.queries[member.query].query.name for member in one.members], one.strategy))
    return found


@pytest.mark.parametrize("strategy", ["auto", *DETECTING])
def test_queries_that_split_the_stream_alike_are_planned_together(strategy: str) -> None:
    windows = ("WITHIN 9 seconds", "WHERE [k] WITHIN 9 seconds", "WITHIN 7 seconds", "WITHIN 9 events")
    text = "; ".join(MATCHES.format(f"q{number}", rest) for number, rest in enumerate(windows))
    made = plan(check_text(text), strategy)
    assert sorted(sets(made)) == [(["q0", "q2"], strategy), (["q1"], strategy), (["q3"], strategy)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_auto_alone_runs_matches_and_aggregates(strategy: str) -> None:
    workload = check_text(f"{MATCHES.format('q', 'WITHIN 9 seconds')}; {COUNT}")
    if strategy == "auto":
        assert [one.query.name for one in plan(workload, strategy).queries] == ["q", "n"]
        return
    with pytest.raises(WorkloadError) as raised:
        plan(workload, strategy)
    (problem,) = raised.value.problems
    query, what = ("n", "COUNT(*)") if strategy in DETECTING else ("q", "MATCHES")
    assert (problem.query, problem.message) == (query, f"strategy {strategy} cannot run RETURN {what}")
    assert problem.hint == 'use strategy="auto", which runs every query'


def test_no_name_is_that_of_two_strategies() -> None:
    assert len(set(STRATEGIES)) == len(STRATEGIES)
