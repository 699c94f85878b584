"""What an executor relies on, for every plan of every optimizer; and the cost, added up transition by transition."""

from __future__ import annotations

import pickle

import pytest

from elsinore.planner.gloria.optimizers import OPTIMIZERS, PathSearch
from elsinore.planner.gloria.plan import QSet, SharingPlan
from elsinore.planner.gloria.templates.template import bits
from tests.planner.gloria.workloads import COUNTS, WORKLOADS, optimized, plans, sharing, template

SEARCHING = [name for name, one in OPTIMIZERS.items() if isinstance(one, PathSearch)]
"""Those that have a graph."""


def before(plan: SharingPlan, query: int, stage: int) -> QSet | None:
    """The Q-set that a query comes from."""
    route = plan.template.routes[query].stages
    place = route.index(stage)
    return plan.q_set(query, route[place - 1]) if place else None


@pytest.mark.one_in(4)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_stage_is_partitioned_and_what_is_reused_is_there(workload: str, optimizer: str) -> None:
    for plan in plans(workload, optimizer):
        for number, (stage, sets) in enumerate(zip(plan.template.stages, plan.q_sets, strict=True)):
            members = [query for one in sets for query in one.members]
            assert sorted(members) == list(bits(stage.queries))
            for one in sets:
                check(plan, number, one)


def check(plan: SharingPlan, number: int, one: QSet) -> None:
    stage = plan.template.stages[number]
    if not one.shared:
        assert len(one.members) == 1
        assert (one.local, one.previous) == (False, None)
        return
    assert not one.queries & stage.guarded
    if one.local:
        assert one.snapshot in stage.locals
        assert one.previous is None
        assert len(one.members) > 1
        return
    sources = {before(plan, query, number) for query in one.members}
    (source,) = sources
    assert source is not None
    assert source.snapshot == one.snapshot
    assert one.queries & ~source.queries == 0
    for query in one.members:
        route = plan.template.routes[query]
        place = route.stages.index(number)
        assert plan.q_sets[route.stages[place - 1]][one.previous or 0] == source
        assert not route.starts.intersection(route.junctions[place])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("optimizer", SEARCHING)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_plan_is_a_path_through_the_graph(workload: str, optimizer: str) -> None:
    for plan in plans(workload, optimizer):
        names = [node.name for pool in plan.graph.pools for node in pool.nodes]
        assert len(set(names)) == len(names)
        for pool, sets in zip(plan.graph.pools, plan.q_sets, strict=True):
            (node,) = (node for node in pool.nodes if node.chosen)
            together = {one.queries: one.snapshot for one in sets if one.shared}
            assert {queries: snapshot for queries, snapshot in node.q_sets if snapshot is not None} == together
        ends = {edge.target for edge in plan.graph.edges if edge.chosen}
        assert {node.name for pool in plan.graph.pools for node in pool.nodes if node.chosen} <= ends | first(plan)


@pytest.mark.parametrize("optimizer", SEARCHING)
@pytest.mark.parametrize("workload", ["sequences", "negations"])
def test_lemma_4_4_the_weight_of_the_path_is_the_cost(workload: str, optimizer: str) -> None:
    """Those edges too that only the plan has; and a Q-set whose queries go apart pays no part twice."""
    for plan in plans(workload, optimizer):
        assert sum(edge.weight for edge in plan.graph.edges if edge.chosen) == pytest.approx(plan.cost)


def first(plan: SharingPlan) -> set[str]:
    """Nodes that no edge leads to: no query starts there, and all come by a circle."""
    targets = {edge.target for edge in plan.graph.edges}
    return {node.name for pool in plan.graph.pools for node in pool.nodes if node.name not in targets}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_cost_is_that_of_the_q_sets(workload: str, optimizer: str) -> None:
    for plan in plans(workload, optimizer):
        assert plan.cost == pytest.approx(cost(plan))


def cost(plan: SharingPlan) -> float:
    """From the Q-sets and the numbers of events alone."""
    events = [COUNTS.of(node) for node in plan.template.nodes]
    total = sum(events[node] for route in plan.template.routes for node in route.starts)
    for stage, sets in zip(plan.template.stages, plan.q_sets, strict=True):
        for one in sets:
            for tran in stage.transitions:
                source, target = events[tran.source], events[tran.target]
                if one.snapshot is None:
                    total += source * target
                elif one.local and stage.kleene and tran.target == one.snapshot:
                    total += len(one.members) * source * events[one.snapshot]
                else:
                    total += source * (1 if tran.source == one.snapshot else events[one.snapshot])
    return total + sum(evaluations(plan, query, events) for query in range(len(plan.template.routes)))


def evaluations(plan: SharingPlan, query: int, events: list[float]) -> float:
    """Where a query is in another kind of Q-set behind a junction than before it, and where it may end."""
    route = plan.template.routes[query]
    total = 0.0
    for place, number in enumerate(route.stages, start=1):
        one = plan.q_set(query, number)
        if one.snapshot is None:
            continue
        onward = plan.q_set(query, route.stages[place]) if place < len(route.stages) else None
        stopped = onward is not None and (onward.snapshot is None or onward.local)
        in_loop = onward is not None and plan.template.stages[route.stages[place]].kleene
        ends = () if in_loop else route.ends.intersection(route.junctions[place])
        nodes = route.junctions[place] if stopped else ends
        total += sum(events[node] * events[one.snapshot] for node in nodes if node != one.snapshot)
    return total


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_plan_is_no_dearer_than_a_path_or_nobody_sharing(workload: str) -> None:
    for plan, greedy in zip(plans(workload, "gloria"), plans(workload, "gloria-greedy"), strict=True):
        assert plan.cost <= min(plan.apart, greedy.cost)


def test_the_same_plan_every_time_and_it_can_be_sent() -> None:
    (one, *_), (other, *_) = plans("mixed", "gloria"), plans("mixed", "gloria")
    assert one == other
    assert pickle.loads(pickle.dumps(one)) == one


def test_steps_of_a_query() -> None:
    plan = optimized(template("SEQ(C, SEQ(A, B)+, D)", "SEQ(C, SEQ(A, B)+)"), {"A": 2, "B": 2, "C": 1, "D": 1})
    names = [str(node) for node in plan.template.nodes]
    steps = [(names[one.source], names[one.target], q_set.local, q_set.members) for one, q_set in plan.steps(0)]
    assert steps == [
        ("C", "A", True, (0, 1)),
        ("A", "B", False, (0, 1)),
        ("B", "A", False, (0, 1)),
        ("B", "D", False, (0,)),
    ]


def test_routes_that_go_round_in_a_circle_are_shared_too() -> None:
    """By Equation 3 a Q-set is so cheap that q3 helps q1 to one, though it gains nothing itself."""
    made = template("SEQ(A, B, C)", "SEQ(B, C, A)", "SEQ(C, A, B)")
    plan = optimized(made, {"A": 1, "B": 9, "C": 9})
    assert plan.proved
    assert sharing(plan) == {"A-B": "(1,3)^A", "B-C": "(1)^A (2)", "C-A": "(2) (3)"}
    # starts 1, 9, 9; A-B 1, evaluated for q3 9; B-C 9, evaluated for q1 9, and q2 81; C-A 9 and 9
    assert plan.cost == 19 + 1 + 9 + 9 + 9 + 81 + 9 + 9


def test_a_plan_that_shares_nothing_is_a_plan() -> None:
    plan = optimized(template("SEQ(A, B)", "SEQ(A, B)"), {})
    assert not plan.shares
    assert plan.cost == plan.apart
