"""The two tables of kinds of share sets: what one has a row for, the other has too."""

from __future__ import annotations

import pytest

from elsinore.actors.engine import Engine
from elsinore.actors.kinds import EXECUTIONS
from elsinore.actors.part import Part
from elsinore.actors.plan_state import TAGS
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.kinds import (
    BY_STRATEGY,
    DETECTION,
    FOREST,
    HAMLET,
    KINDS,
    LINKED,
    MOVING_WINDOWS,
    PLANNED,
    PREFIX,
    SetKind,
)
from elsinore.planner.plans.needs import unmet
from elsinore.planner.plans.planning import STRATEGIES, plan_query
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.clock import Clock
from tests import golden_states
from tests.golden_states import planned, stream

COUNTING = [kind for kind in KINDS if kind is not DETECTION]
"""Detection has parts of its own, `DetectionPart`, and a query needs nothing to be detected with others."""

SLIDING, MOVING = "WITHIN 10 seconds SLIDE 10 seconds", "WITHIN 10 seconds"


def test_every_kind_has_an_execution_and_a_tag() -> None:
    assert [kind.tag for kind in COUNTING] == list(EXECUTIONS)
    assert {kind.tag: kind.made for kind in KINDS} == {
        tag: made for tag, made in TAGS.items() if issubclass(made, ShareSet)
    }


def test_strategies_look_for_kinds_of_the_table() -> None:
    assert set(BY_STRATEGY) <= set(STRATEGIES)
    assert {kind.tag for kinds in BY_STRATEGY.values() for kind in kinds} == set(EXECUTIONS)


@pytest.mark.parametrize(
    "name", [name for name, kind in golden_states.KINDS.items() if not kind.changed and DETECTION.tag not in kind.sets]
)
def test_a_set_is_run_by_the_row_of_its_kind(name: str) -> None:
    """Every counter is a member of exactly one run, and every run returns results for each of its members."""
    kind = golden_states.KINDS[name]
    plan = planned(kind.workload, kind.strategy)
    one = Engine(plan, Clock.of(stream()[0].schema.field(1).type, "s", plan.spans))
    assert sorted(run.kind for run in one.runs()) == sorted(kind.sets)
    for part in one._parts:
        assert isinstance(part, Part)
        places = [place for run in part.runs for place in run.places]
        assert len(set(places)) == len(places) == sum(len(query.counters) for query in part.plan.queries)
        assert all(run.graph.finish() == [[]] * len(run.members) for run in part.runs)


@pytest.mark.parametrize(
    ("kind", "query", "lacking"),
    [
        (HAMLET, f"A+ {MOVING}", "SLIDE"),
        (HAMLET, f"A+ WHERE A.v < NEXT(A).v {SLIDING}", "type-grained"),
        (LINKED, f"A+ {SLIDING}", "neighbours"),
        (LINKED, f"A+ WHERE A.v < NEXT(A).v {MOVING}", "SLIDE"),
        (LINKED, f"A+ SEMANTICS skip-till-next-match WHERE A.v < NEXT(A).v {SLIDING}", "any match"),
        (LINKED, f"SEQ(A, NOT X+, B) WHERE X.v < NEXT(X).v {SLIDING}", "no neighbours in NOT"),
        (LINKED, f"A+ & B WHERE A.v < NEXT(A).v {SLIDING}", "no AND"),
        (MOVING_WINDOWS, f"A+ {SLIDING}", "moving windows"),
        (MOVING_WINDOWS, f"A+ WHERE A.v < NEXT(A).v {MOVING}", "type-grained"),
        (MOVING_WINDOWS, f"A+ SEMANTICS contiguous {MOVING}", "any match"),
        (MOVING_WINDOWS, f"A+ & B {MOVING}", "no AND"),
        (PLANNED, f"A+ & B {SLIDING}", "no AND"),
        (PLANNED, f"SEQ(A, B) SEMANTICS contiguous {SLIDING}", "any match"),
        (PLANNED, f"SEQ(A, B) WHERE A.v < B.v {SLIDING}", "type-grained"),
        (PLANNED, f"SEQ(A, B) {MOVING}", "SLIDE"),
        (PLANNED, f"SEQ(A, B, A) {SLIDING}", "types once"),
        (PLANNED, f"SEQ(A, NOT A, B) {SLIDING}", "types in or outside of NOT"),
        (PLANNED, f"SEQ(A, (B | C)) {SLIDING}", "chain"),
        (PLANNED, f"SEQ(A, NOT X, B) {SLIDING}", "no NOT"),
        (FOREST, f"SEQ(A, B) {SLIDING}", "moving windows"),
        (FOREST, f"SEQ(A, B) SEMANTICS contiguous {MOVING}", "any match"),
        (FOREST, f"SEQ(A, B) WHERE A.v < B.v {MOVING}", "no neighbours"),
        (FOREST, f"SEQ(A, B+) {MOVING}", "sequence"),
        (PREFIX, f"SEQ(A, NOT X, B) {SLIDING}", "no NOT"),
    ],
)
def test_what_a_kind_needs_is_refused_by_name(kind: SetKind[ShareSet], query: str, lacking: str) -> None:
    (checked,) = check_text(f"RETURN COUNT(*) PATTERN {query}").queries
    plan = plan_query(checked)
    need = unmet(kind.needs, plan, plan.counters[0])
    assert need is not None
    assert need.name == lacking
    assert need.reason


@pytest.mark.parametrize("kind", COUNTING, ids=[kind.tag for kind in COUNTING])
def test_needs_of_a_kind_have_names_of_their_own(kind: SetKind[ShareSet]) -> None:
    names = [need.name for need in kind.needs]
    assert len(set(names)) == len(names) > 0
