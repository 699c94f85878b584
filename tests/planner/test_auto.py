"""What `auto` chooses for which streams, and what it says of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from elsinore.bench.gloria.streams import both, complex_queries, simple_queries
from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.auto import APART, BOTH, DEARER, GLORIA, HAMLET, MARGIN, chosen_for
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import joined, parts_of
from elsinore.planner.plans.planning import plan

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"


def queries(*patterns: str) -> str:
    return "; ".join(f"RETURN COUNT(*) PATTERN {pattern} {WINDOW}" for pattern in patterns)


def seen(counts: Mapping[str, float], lengths: Mapping[str, float], other: float = 0.0) -> EngineCost:
    return EngineCost(Statistics(counts, other, {name: lengths.get(name, 1.0) for name in counts}))


def bursts(size: float) -> EngineCost:
    """5,000 events in a window: bursts of T with an event of another type behind each."""
    others = 5_000 / (size + 1)
    types = [f"{side}{number}" for side, count in (("S", 10), ("E", 10), ("L", 5), ("R", 5)) for number in range(count)]
    return seen({"T": others * size} | dict.fromkeys(types, others / len(types)), {"T": size})


SEQUENCES = queries(*["SEQ(A, B, C, D)", "SEQ(A, B, C, E)"] * 15)
NAMES = tuple(f"q{number}" for number in range(1, 31))
CASES = {
    "long bursts": (both(50, 50), bursts(200), HAMLET),
    "single events": (simple_queries(100), bursts(1), GLORIA),
    "sequences": (SEQUENCES, None, GLORIA),
    "two queries": (simple_queries(2), bursts(1), APART),
    "some of both": (both(50, 5), bursts(5), BOTH),
}


@pytest.mark.parametrize(("text", "model", "name"), CASES.values(), ids=CASES)
def test_the_cheapest_is_chosen(text: str, model: EngineCost | None, name: str) -> None:
    made = plan(check_text(text), "auto", model)
    (choice,) = made.choices
    assert choice.chosen.name == name
    planned = {isinstance(one, PlannedSet) for one in made.share_sets}
    assert planned == {HAMLET: {False}, GLORIA: {True}, BOTH: {True, False}, APART: set()}[name]
    # What is to be rejected for HAMLET may cost a little less.
    assert all(
        choice.chosen.cost * ((1 - MARGIN) if name == HAMLET else 1) <= option.cost for option in choice.rejected
    )
    assert APART in {option.name for option in (choice.chosen, *choice.rejected)}


def test_each_group_has_its_own_choice() -> None:
    text = f"{SEQUENCES}; {queries('SEQ(X, Y+)', 'SEQ(X, Y+)', 'SEQ(Z, Z2)')}"
    made = plan(check_text(text), "auto", seen({"X": 100_000, "Y": 1}, {}, other=10.0))
    assert [(choice.queries, choice.chosen.name) for choice in made.choices] == [
        (NAMES, GLORIA),
        (("q31", "q32"), APART),
    ]
    reasons = dict(made.reasons)
    assert reasons["q31"] == reasons["q32"] == DEARER
    assert reasons["q33"].startswith("no other query has one of its transitions")


def test_what_is_chosen_is_priced_and_explained() -> None:
    text = explain(plan(check_text(SEQUENCES), "auto"))
    assert "plan: strategy auto, 1 share set" in text
    assert "sharing plan 1: gloria for q1-q30; costs " in text
    _, choice = text.split("choice 1: q1-q30\n")
    chosen, rejected, *_ = choice.splitlines()
    assert chosen.startswith("├─ chosen GLORIA: costs 0.")
    assert rejected.startswith(f"└─ rejected {APART}: costs 0.")
    assert chosen.endswith("ms for the events of the longest window")


def test_planned_sets_decide_about_bursts() -> None:
    (found,) = plan(check_text(SEQUENCES), "auto").share_sets
    assert isinstance(found, PlannedSet)
    assert found.bursts == EngineCost().costs
    (other,) = plan(check_text(SEQUENCES), "gloria").share_sets
    assert isinstance(other, PlannedSet)
    assert other.bursts is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", [simple_queries(40), complex_queries(40), both(60, 50)])
def test_the_same_plan_whenever_asked_the_same(text: str) -> None:
    one, other = (plan(check_text(text), "auto", bursts(5)) for _ in range(2))
    assert one == other


def test_a_plan_chosen_anew() -> None:
    """A plan of the same queries, which nobody has to plan from their text again."""
    before = plan(check_text(simple_queries(20)), "auto", bursts(200))
    after = chosen_for(before, bursts(1))
    assert kinds(before) == [False]
    assert after == plan(check_text(simple_queries(20)), "auto", bursts(1))


def test_the_paper_s_model_can_look_for_plans() -> None:
    made = plan(check_text(SEQUENCES), "auto", PaperCost(Statistics(dict.fromkeys("ABCDE", 100.0))))
    assert kinds(made) == [True]


def test_parts_keep_their_choices() -> None:
    made = plan(check_text(f"{SEQUENCES}; {queries('SEQ(X, Y+)', 'SEQ(X, Y+)')}"), "auto")
    parts = parts_of(made)
    assert {choice.queries for choice in parts[0].choices} == {NAMES}
    assert set(joined("auto", parts).choices) == set(made.choices)


def kinds(made: Plan) -> list[bool]:
    return [isinstance(one, PlannedSet) for one in made.share_sets]


def test_sets_without_prices_share() -> None:
    """Queries that compare neighbours, and those whose windows move with every event."""
    linked = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({name}, T+) WHERE T.v < NEXT(T).v {WINDOW}" for name in "AB")
    moving = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({name}, T+) WITHIN 10 seconds" for name in "AB")
    made = plan(check_text(f"{linked}; {moving}"), "auto")
    assert [len(one.members) for one in made.share_sets] == [2, 2]
    assert (made.choices, made.reasons) == ((), ())
