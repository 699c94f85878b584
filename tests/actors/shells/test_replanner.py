"""Who looks for other plans: counts what flows, keeps the graphs, and changes the plan exactly where that pays."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import elsinore.actors.shells.replanner
from elsinore.actors.shells.replanner import Patience, Replanner
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.drift import Observed
from elsinore.planner.gloria.graph.graph import graph_of
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.changing import speaking
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock
from tests.support.streams import batch, noted

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"
ABC = "; ".join(f"QUERY q{number} RETURN COUNT(*) PATTERN SEQ(A, B, C) {WINDOW}" for number in (1, 2))


def seen(**counts: int) -> Observed:
    """So many events in a window."""
    return Observed(Fraction(10), counts, counts)


def shares(one: Plan) -> list[bool]:
    """By Q-set of all sharing plans."""
    sets = [share_set for share_set in one.share_sets if isinstance(share_set, PlannedSet)]
    return [q_set.shared for share_set in sets for some in share_set.plan.q_sets for q_set in some]


def test_events_and_bursts() -> None:
    """A burst goes on from one batch to the next, and types have other numbers there."""
    one = noted(batch(list("AABBA"), range(5)), batch(list("ACC"), range(5, 8)), batch([], []), ticks=2)
    assert one.read_and_reset() == Observed(Fraction(7, 2), {"A": 4, "B": 2, "C": 2}, {"A": 2, "B": 1, "C": 1})


def test_from_one_look_to_the_next() -> None:
    one = noted(batch("A", [3]))
    assert one.read_and_reset() is None
    part = batch(list("AB"), [4, 7])
    one.note(part.column(0), part.column(1))
    assert one.read_and_reset() == Observed(Fraction(4), {"A": 2, "B": 1}, {"A": 1, "B": 1})
    assert one.read_and_reset() is None


def test_bursts_and_windows_of_partitions() -> None:
    """Of two partitions that take turns; in windows of 5 seconds, two and then one of them have events."""
    one = StreamStatistics(Clock(1, Fraction(1), pa.int64()), Fraction(5))
    turns, alone = batch(list("AAABAX"), [0, 0, 1, 2, 2, 3]), batch(list("AB"), [6, 8])
    one.note(turns.column(0), turns.column(1), np.array([0, 1, 0, 1, 0, -1], np.int32))
    one.keep(np.array([1, 0]))
    one.note(alone.column(0), alone.column(1), np.array([1, 0], np.int32))
    seen = one.read_and_reset()
    assert seen == Observed(Fraction(8), {"A": 5, "B": 2}, {"A": 2, "B": 1}, 4)
    assert seen.per_window(Fraction(5)).counts == {"A": 5 / 4, "B": 2 / 4}
    assert Observed.read(seen.save()) == seen
    later = batch(list("A"), [9])
    one.note(later.column(0), later.column(1), np.array([0], np.int32))
    assert one.read_and_reset() == Observed(Fraction(1), {"A": 1}, {"A": 1})


FEW = {"A": 5, "B": 10, "C": 3}
MANY = {"A": 5, "B": 1, "C": 10}
"""By the costs of `tests/planner/costs/test_migration.py`: sharing costs 95 instead of 170, here 120 instead of 40."""


@pytest.mark.parametrize(
    ("first", "then", "windows", "changes"),
    [(FEW, MANY, 1.5, False), (FEW, MANY, 1.51, True), (MANY, FEW, 2.26, False), (MANY, FEW, 2.27, True)],
)
def test_a_plan_changes_exactly_where_the_gain_exceeds_the_cost(
    first: dict[str, int], then: dict[str, int], windows: float, changes: bool
) -> None:
    """Not to share any more gains 80 a window, and costs 120: so much does the plan that shares cost by now.

    To share again gains 75, and costs 170.
    """
    one = Replanner(check_text(ABC), "gloria", patience=Patience(windows=windows))
    one.observe(seen(**first))
    before = one.plan
    assert shares(before) == ([True, True] if first is FEW else [])
    found = one.observe(seen(**then))
    assert found is (one.plan if changes else None)
    assert (one.plan is not before) is changes
    assert shares(one.plan) == ([True, True] if (first is FEW) is not changes else [])


def test_without_drift_nobody_looks() -> None:
    one = Replanner(check_text(ABC), "gloria")
    one.observe(seen(**FEW))
    with patch.object(Replanner, "_planned", side_effect=AssertionError("it looked")):
        assert one.observe(seen(A=9, B=11, C=2)) is None
        with pytest.raises(AssertionError, match="it looked"):
            one.observe(seen(A=12, B=11, C=2))


def test_graphs_are_generated_once() -> None:
    made = check_text(ABC.replace("SEQ(A, B, C)", "SEQ(A, B, C, D)"))
    with patch.object(elsinore.actors.shells.replanner, "graph_of", side_effect=graph_of) as generated:
        one = Replanner(made, "gloria")
        for drift in (FEW, MANY, FEW, {"A": 100, "B": 1, "C": 1}):
            one.observe(seen(**drift))
        one.change(check_text(f"{ABC}; QUERY q3 RETURN COUNT(*) PATTERN SEQ(X, Y) {WINDOW}"))
        one.replan()
    # That of the workload before, and that of this one.
    assert generated.call_count == 2


def test_a_new_query_is_planned_at_once_and_joins_the_others_later() -> None:
    one = Replanner(check_text(ABC), "gloria")
    one.observe(seen(**FEW))
    now = one.change(check_text(f"{ABC}; QUERY q3 RETURN COUNT(*) PATTERN SEQ(A, B, C) {WINDOW}"))
    (kept,) = now.share_sets
    assert len(kept.members) == 2
    (together,) = one.replan().share_sets
    assert len(together.members) == 3
    assert speaking(now) == speaking(one.plan)


def test_other_strategies_have_no_graph() -> None:
    for strategy in ("auto", "cogra", "prefix"):
        one = Replanner(check_text(ABC), strategy)
        assert one.observe(seen(**FEW)) is None
        assert one.plan.strategy == strategy
