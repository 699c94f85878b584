"""A plan is changed only where that pays; with costs that were computed by hand."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.migration import Migration, cost_of_part, migration
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.changing import changed, speaking
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import joined, parts_of, run_alike
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.strategies import DETECTING, METHODS

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"
ABC = "; ".join(f"QUERY q{number} RETURN COUNT(*) PATTERN SEQ(A, B, C) {WINDOW}" for number in (1, 2))
FOUND = "; ".join(f"QUERY q{number} RETURN MATCHES PATTERN SEQ(A, B, C) WITHIN 10 seconds" for number in (1, 2))
MODEL = PaperCost(Statistics({"A": 5, "B": 10, "C": 3}))
MIXED = "; ".join(
    f"QUERY q{number} RETURN COUNT(*) PATTERN {pattern} {window}"
    for number, (pattern, window) in enumerate(
        [
            ("SEQ(A, B+)", WINDOW),
            ("SEQ(C, D, E)", WINDOW),
            ("SEQ(C, B+)", WINDOW),
            ("B+", "WITHIN 10 seconds"),
            ("SEQ(C, D, E)", WINDOW),
            ("SEQ(A, B+)", "WITHIN 10 seconds"),
            ("A & SEQ(C, B+)", WINDOW),
        ]
    )
)


def planned(text: str, strategy: str = "gloria") -> Plan:
    return plan(check_text(text), strategy, MODEL)


def _plan(one: Plan) -> SharingPlan:
    (found,) = one.share_sets
    assert isinstance(found, PlannedSet)
    return found.plan


def names(one: Plan) -> list[str]:
    return [query.query.name for query in one.queries]


def test_costs_by_hand() -> None:
    """Apart each query begins 5 trends, and takes 10 · 5 steps to B and 3 · 10 to C.

    Together each begins 5. Snapshots of A go to B once, 5 expressions of length 1, and to C once, 10 of length 5. Each
    query evaluates 3 expressions of length 5.
    """
    apart, together = planned(ABC, "cogra"), planned(ABC)
    assert [one.shared for sets in _plan(together).q_sets for one in sets] == [True, True]
    assert cost_of_part(apart, MODEL) == 2 * (5 + 50 + 30) == 170
    assert cost_of_part(together, MODEL) == 2 * 5 + 5 + 50 + 2 * 15 == 95
    assert migration(apart, together, MODEL) == Migration(170 - 95, 170)
    assert migration(together, apart, MODEL) == Migration(95 - 170, 95)


def test_a_plan_is_priced_by_what_the_stream_is_like_now() -> None:
    """10 events of C, and 1 of B: now it is 2 · (5 + 5 + 10), and together 2 · 5 + 5 + 5 + 2 · 50."""
    now = PaperCost(Statistics({"A": 5, "B": 1, "C": 10}))
    assert migration(planned(ABC), planned(ABC, "cogra"), now) == Migration(120 - 40, 120)


def test_what_both_plans_have_is_no_cost() -> None:
    more = f"{ABC}; QUERY q3 RETURN COUNT(*) PATTERN SEQ(X, Y) {WINDOW}"
    assert migration(planned(more), planned(more), MODEL) == Migration(0, 0)
    assert migration(planned(more, "cogra"), planned(more), MODEL) == Migration(75, 170)


@pytest.mark.parametrize(
    ("gain", "cost", "windows", "pays"),
    [(10, 100, 10, False), (10, 100, 10.1, True), (10, 99, 10, True), (0, 0, 10, False), (-1, 0, 10, False)],
)
def test_it_pays_where_the_gain_exceeds_the_cost(gain: float, cost: float, windows: float, pays: bool) -> None:
    assert Migration(gain, cost).pays(windows) is pays


@pytest.mark.parametrize("strategy", ["auto", "gloria", "prefix", "cogra"])
def test_parts_joined_are_the_plan(strategy: str) -> None:
    whole = planned(MIXED, strategy)
    parts = parts_of(whole)
    assert sorted(name for part in parts for name in names(part)) == sorted(names(whole))
    assert sum(len(part.share_sets) for part in parts) == len(whole.share_sets)
    again = parts_of(joined(strategy, parts))
    assert all(run_alike(one, other) for one, other in zip(parts, again, strict=True))
    if strategy == "cogra":
        assert len(parts) == len(whole.queries)
    else:
        assert 1 < len(parts) < len(whole.queries)


def test_parts_of_hamlet() -> None:
    """An AND's counters are in share sets, too, so it is one part with all that they share with."""
    assert [names(part) for part in parts_of(planned(MIXED, "hamlet"))] == [
        ["q0", "q2", "q6"],
        ["q1"],
        ["q3", "q5"],
        ["q4"],
    ]


def test_new_queries_are_planned_among_themselves() -> None:
    two = f"QUERY q8 RETURN COUNT(*) PATTERN SEQ(A, B+) {WINDOW}; QUERY q9 RETURN COUNT(*) PATTERN SEQ(A, B+) {WINDOW}"
    running = planned(MIXED, "hamlet")
    now = parts_of(changed(running, check_text(f"{MIXED}; {two}"), MODEL))
    assert all(run_alike(one, other) for one, other in zip(parts_of(running), now, strict=False))
    assert [names(part) for part in now[4:]] == [["q8", "q9"]]
    assert now[4].share_sets


def test_who_leaves_a_set_is_silent_and_who_was_alone_is_gone() -> None:
    running = planned(MIXED, "hamlet")
    left = check_text("; ".join(text for text in MIXED.split("; ") if text[:8] not in ("QUERY q1", "QUERY q2")))
    now = changed(running, left)
    assert {query.query.name for query in now.queries if query.silent} == {"q2"}
    assert {query.name for query in speaking(now)} == {"q0", "q3", "q4", "q5", "q6"}
    assert "q1" not in names(now)
    # Who comes back is a new query: in between it gave no rows.
    back = changed(now, check_text(MIXED))
    assert [query.silent for query in back.queries if query.query.name == "q2"] == [True, False]
    assert not run_alike(parts_of(back)[-1], parts_of(back)[0])


def test_a_query_with_another_text_is_another_query() -> None:
    running = planned(ABC)
    now = changed(running, check_text(ABC.replace("SEQ(A, B, C)", "SEQ(A, C)", 1)), MODEL)
    assert [(query.query.name, query.silent) for query in now.queries] == [("q1", True), ("q2", False), ("q1", False)]


@pytest.mark.parametrize(
    ("strategy", "text"),
    [*((strategy, ABC) for strategy in METHODS), *((strategy, FOUND) for strategy in ("auto", *DETECTING))],
)
def test_nobody_is_left(strategy: str, text: str) -> None:
    assert changed(plan(check_text(text), strategy), Workload(())).queries == ()
