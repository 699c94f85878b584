"""Requests for plans: what is sent is what is read, and all who ask for the same patterns get one answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elsinore.actors.shells.optimizer_actor import OptimizerActor, plan_request, read_trees
from elsinore.actors.state import pack, unpack
from elsinore.planner.detection import choosing
from elsinore.planner.detection.choosing import PlanRequest, SharedChooser, chosen_trees
from elsinore.planner.detection.clauses import patterns_of
from elsinore.planner.detection.normal_form import normal_form
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.statistics import Statistics
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve
from elsinore.planner.plans.strategies import DETECTING

WORKLOAD = """
QUERY one RETURN MATCHES PATTERN SEQ(A a, B b, C c, D d+) WHERE a.v < b.v AND b.v < c.v WITHIN 10 seconds;
QUERY two RETURN MATCHES PATTERN SEQ(B b, C c, NOT A n, E e) WHERE b.v < c.v AND e.w > 1 WITHIN 20 seconds;
QUERY three RETURN MATCHES PATTERN AND(B b, C c, E e) WHERE b.v < c.v WITHIN 9 EVENTS
"""

EVEN = Statistics(dict.fromkeys("ABCDE", 1.0), {"B.v < C.v": 0.5}, 5.0)
RARE_A = Statistics({**EVEN.rates, "A": 0.001}, EVEN.selectivities, 4.0)


def patterns() -> tuple[Pattern, ...]:
    queries = [resolve(query) for query in parse(WORKLOAD).queries]
    return tuple(pattern for query in queries for pattern in patterns_of(normal_form(query)).values())


def request(strategy: str = "auto", statistics: Statistics = EVEN) -> PlanRequest:
    found = patterns()
    singles = tuple(tuple(event.name for event in one.events if event.kind == "single") for one in found)
    return PlanRequest(strategy, found, singles, statistics)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["auto", *DETECTING]), st.booleans())
def test_a_request_reads_as_it_was_written(strategy: str, known: bool) -> None:
    asked = request(strategy)
    if known:
        asked = replace(asked, present=chosen_trees(asked))
    assert PlanRequest.load(unpack(pack(asked.save()))) == asked


@pytest.mark.parametrize("strategy", ["auto", *DETECTING])
def test_trees_join_the_single_events_of_each_pattern(strategy: str) -> None:
    asked = request(strategy)
    plan = asked.plan(chosen_trees(asked))
    assert [set(root.variables) for root in plan.roots] == [set(names) for names in asked.singles]


def test_nothing_is_searched_where_no_plan_could_gain_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two events have one join, that of the whole matches, which every plan has."""
    pairs = patterns_of(normal_form(resolve(parse("RETURN MATCHES PATTERN SEQ(A a, B b) WITHIN 9 seconds").queries[0])))
    asked = PlanRequest("mpm", tuple(pairs.values()), (("a", "b"),), EVEN)
    present = chosen_trees(asked)
    monkeypatch.setattr(choosing, "SEARCH_SECONDS", "no search may ask for its time")
    assert chosen_trees(replace(asked, present=present, statistics=RARE_A)) == present


def test_trees_stay_where_others_gain_too_little() -> None:
    asked = request()
    trees = chosen_trees(asked)
    assert chosen_trees(replace(asked, present=trees)) == trees


def test_better_trees_replace_those_that_a_stream_has_outgrown() -> None:
    now = request("trivial")
    written = chosen_trees(now)
    late = Statistics({**EVEN.rates, "A": 1000.0, "C": 0.001}, {}, 1003.0)
    asked = replace(request("auto", late), present=written)
    assert asked.plan(chosen_trees(asked)).cost < 0.9 * asked.plan(written).cost


def test_those_who_see_alike_streams_get_one_answer() -> None:
    choose = SharedChooser()
    answers = [choose(request()), choose(request("auto", replace(EVEN, rates={**EVEN.rates, "A": 1.3})))]
    assert answers[0] == answers[1]
    assert choose.searches == 1
    choose(request("auto", RARE_A))
    choose(request("reorder"))
    assert choose.searches == 3


def test_the_optimizer_actor_answers_as_a_process_alone_does() -> None:
    actor = OptimizerActor(optimizer_of("auto"))
    asked = request("reorder")
    assert read_trees(actor.choose(plan_request(asked))) == chosen_trees(asked)
    assert actor.statistics()["searches"] == 1
