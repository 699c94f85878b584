"""Plans as values: what an engine relies on, for every strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from elsinore.bench.multi.generator import STOCKS, TRAFFIC, Parameters, with_density, workload
from elsinore.planner.detection.costs.engine import Engine
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.explain import explained
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, closed
from elsinore.planner.detection.plan import DetectionPlan, Node
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.search.searching import Search, searched
from elsinore.planner.detection.shape import shape_of
from elsinore.planner.detection.statistics import Statistics
from elsinore.planner.detection.strategies.strategies import EDGE_PREFIX, SA_EDGE, STRATEGIES, TS_EDGE
from elsinore.planner.detection.text import structure_text
from tests.planner.detection.workloads import random_pattern, seq, shuffled

FEW = Budget(steps=300)


def mixed(seed: int) -> tuple[list[Pattern], Statistics]:
    """Patterns with repeated types, NOT, Kleene, partial orders and wider conditions; some are renamed copies."""
    rng = Random(seed)
    patterns = [random_pattern(rng, f"p{number}", "ABC", rng.randint(2, 5)) for number in range(6)]
    copies = [replace(shuffled(rng, one), name=f"c{number}") for number, one in enumerate(patterns[:3])]
    return [*patterns, *copies], Statistics({kind: rng.uniform(0.1, 1) for kind in "ABC"})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(6))
def test_nodes_check_all_that_patterns_ask_for(seed: int, strategy: str) -> None:
    patterns, statistics = mixed(seed)
    plan = detection_plan(patterns, Instances(statistics), strategy, FEW, seed)
    check(plan, patterns)
    if not STRATEGIES[strategy].shares:
        assert plan.shared == ()
        assert plan.cost == pytest.approx(plan.apart)
    assert plan == detection_plan(patterns, Instances(statistics), strategy, FEW, seed)


@pytest.mark.parametrize("seed", range(4))
def test_plans_by_the_engines_costs(seed: int) -> None:
    patterns, statistics = mixed(seed)
    plan = detection_plan(patterns, Engine(statistics), "mpm", FEW, seed)
    check(plan, patterns)
    assert plan.cost <= detection_plan(patterns, Engine(statistics), "share", FEW).cost * (1 + 1e-9)


def check(plan: DetectionPlan, patterns: Sequence[Pattern]) -> None:
    assert [root.pattern for root in plan.roots] == [pattern.name for pattern in patterns]
    for number, node in enumerate(plan.nodes):
        assert node.number == number
        assert node.window.length == max(user.window.length for user in node.users)
        if node.left is not None and node.right is not None:
            left, right = plan.nodes[node.left], plan.nodes[node.right]
            assert max(node.left, node.right) < number
            assert [_asked(slot) for slot in node.slots] == [_asked(slot) for slot in (*left.slots, *right.slots)]
            assert set(node.patterns) <= set(left.patterns) & set(right.patterns)
            assert left.slots[0].positive or not left.leaf
    assert len({node.identity for node in plan.nodes}) == len(plan.nodes) or plan.strategy in ("trivial", "reorder")
    for pattern in patterns:
        root = plan.root(pattern.name)
        assert sorted(root.variables) == sorted(event.name for event in pattern.events)
        order, conditions = gathered(plan, plan.nodes[root.node], root.variables)
        assert order == pattern.before
        asked = [one for one in pattern.conditions if len(one.events) > 1]
        assert sorted(map(_told, conditions)) == sorted(map(_told, asked))
        users = [user for node in plan.nodes for user in node.users if user.pattern == pattern.name]
        assert {user.window for user in users} == {pattern.window}


def gathered(plan: DetectionPlan, node: Node, names: Sequence[str]) -> tuple[set[tuple[str, str]], list[Condition]]:
    """All that is checked below a node, in terms of a pattern's variables, which go down by slot."""
    if node.left is None or node.right is None:
        return set(), []
    size = len(plan.nodes[node.left].slots)
    left = gathered(plan, plan.nodes[node.left], names[:size])
    right = gathered(plan, plan.nodes[node.right], names[size:])
    symmetric = dict.fromkeys(("$0.v = $1.v", "$0.v = $1.v = $2.v"), True)
    mine = [Condition(tuple(names[x] for x in one.slots), one.text, one.text in symmetric) for one in node.conditions]
    order = {(names[x], names[y]) for x, y in node.order}
    assert all((x < size) != (y < size) for x, y in node.order)
    return left[0] | right[0] | order, [*left[1], *right[1], *mine]


def _told(one: Condition) -> tuple[str, list[str]]:
    return one.text, sorted(one.events) if one.symmetric else list(one.events)


def _asked(slot: Event) -> object:
    return slot.type, slot.own, slot.kind, slot.least, slot.most


def test_a_copy_of_a_pattern_costs_nothing() -> None:
    patterns, statistics = mixed(3)
    model = Instances(statistics)
    copies = [replace(shuffled(Random(1), one), name=f"copy of {one.name}") for one in patterns]
    one = detection_plan(patterns, model, "share")
    both = detection_plan([*patterns, *patterns_named(patterns)], model, "share")
    assert both.cost == pytest.approx(one.cost)
    assert len(both.nodes) == len(one.nodes)
    assert detection_plan([*patterns, *copies], model, "mpm", FEW).cost < 1.5 * one.cost


def patterns_named(patterns: Sequence[Pattern]) -> list[Pattern]:
    return [replace(one, name=f"again {one.name}") for one in patterns]


GRID = [
    replace(kind, patterns=12, size=size, types=types, rate_difference=difference)
    for kind in (STOCKS, TRAFFIC)
    for size in (3, 5)
    for types, difference in ((7, 1.0), (20, 1.0), (12, 0.1))
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("parameters", GRID, ids=[f"{p.name}-{p.size}-{p.types}-{p.rate_difference}" for p in GRID])
def test_search_is_never_worse_than_what_it_competes_with(parameters: Parameters) -> None:
    made = workload(parameters, 1)
    model = Instances(made.statistics)
    costs = {name: detection_plan(made.patterns, model, name, FEW, 1).cost for name in STRATEGIES}
    rivals = min(costs[name] for name in ("trivial", "reorder", "share", "spass", "motto"))
    assert max(costs["mpm"], costs["mpm-tabu"]) <= rivals * (1 + 1e-9), costs


@pytest.mark.parametrize("search", [SA_EDGE, TS_EDGE, EDGE_PREFIX], ids=["sa", "tabu", "prefix"])
def test_search_repeats_by_its_seed_and_is_never_worse_than_its_start(search: Search) -> None:
    made = workload(replace(STOCKS, patterns=20, types=12), 2)
    graph, model = MultiPatternGraph(made.patterns), Instances(made.statistics)
    found = [searched(graph, model, search, Budget(steps=1500), seed) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert all(one.cost <= one.start for one in found)
    assert found[0].steps == pytest.approx(1500, abs=5)


def test_a_search_needs_a_limit() -> None:
    with pytest.raises(ValueError, match="set seconds, steps or patience"):
        Budget()


def test_a_search_ends_when_nothing_gets_better() -> None:
    made = workload(replace(STOCKS, patterns=10, types=8), 2)
    found = searched(MultiPatternGraph(made.patterns), Instances(made.statistics), SA_EDGE, Budget(patience=500))
    assert 500 < found.steps < 100_000


@pytest.mark.parametrize("kind", [STOCKS, TRAFFIC], ids=["stocks", "traffic"])
def test_generated_workloads_have_the_papers_parameters(kind: Parameters) -> None:
    made = workload(kind, 3)
    assert made == workload(kind, 3)
    assert made != workload(kind, 4)
    per_window = [rate * kind.window for rate in made.statistics.rates.values()]
    assert kind.per_window[0] <= min(per_window) <= max(per_window) <= kind.per_window[1]
    assert all(0.003 <= one <= 0.92 for one in made.statistics.selectivities.values())
    assert {len(one.events) for one in made.patterns} == {5}
    assert made.expected_matches() <= 1
    predicates = sum(len(one.conditions) for one in made.patterns) / len(made.patterns)
    assert 1.5 < predicates < 3.5
    special = [one for one in made.patterns if any(event.kind is not Kind.SINGLE for event in one.events)]
    assert 8 <= len(special) <= 32
    assert 30 < sum(not one.before for one in made.patterns) < 70


def test_parameters_of_appendix_d() -> None:
    sparse, dense = (
        with_density(replace(STOCKS, patterns=15, conjunctions=0), density).density for density in (0.05, 0.5)
    )
    assert sparse == pytest.approx(0.05, abs=0.05)
    assert dense == pytest.approx(0.5, abs=0.15)
    near = workload(replace(STOCKS, patterns=30, rate_difference=0.1))
    for pattern in near.patterns:
        amounts = [near.statistics.rates[event.type] * STOCKS.window for event in pattern.events]
        assert max(amounts) - min(amounts) <= 0.1 * 45


def test_what_was_seen_stands_beside_what_was_expected() -> None:
    patterns = [seq("p1", "AxB"), seq("p2", "BA", 20)]
    statistics = Statistics({"A": 1.0, "B": 1.0, "X": 1.0})
    text = explained(detection_plan(patterns, Engine(statistics), "share"), patterns, {0: 11.5})
    assert "1  A: shared by p1, p2; within 20 s; 20 expected, 11.5 seen" in text
    assert "NOT X" in text
    assert "searched" not in text


def test_what_is_too_large_to_be_stored_is_searched() -> None:
    patterns = [seq("p1", "AxB"), seq("p2", "BA", 20)]
    model = Engine(Statistics({"A": 1e4, "B": 1e4, "X": 1.0}))
    assert "searched" in explained(detection_plan(patterns, model, "share"), patterns)


def test_a_negated_leaf_is_on_the_right() -> None:
    for letters in ("Ax", "xA"):
        patterns = [seq("p1", letters)]
        *_, root = detection_plan(patterns, Instances(Statistics({"A": 1.0, "X": 9.0})), "mpm", FEW).nodes
        assert [slot.kind for slot in root.slots] == [Kind.SINGLE, Kind.NEGATED]


def test_structures_as_text() -> None:
    events = (Event("a", "A"), Event("b", "B"), Event("n", "N", kind=Kind.NEGATED), Event("c", "C"), Event("d", "A"))
    pairs = closed({("a", "c"), ("b", "c"), ("a", "n"), ("b", "n"), ("n", "c"), ("c", "d")})
    assert structure_text(Pattern("p", events, pairs, (), Window(1))) == "SEQ(AND(A#1, B), NOT N, C, A#2)"
    crossed = frozenset({("a", "c"), ("b", "c"), ("b", "d")})
    four = tuple(event for event in events if event.positive)
    text = structure_text(Pattern("p", four, crossed, (), Window(1)))
    assert text == "AND(A#1, B, C, A#2; A#1 before C, B before A#2, B before C)"
    assert shape_of(Pattern("p", four, crossed, (), Window(1))).size == 4


def test_components_are_searched_apart() -> None:
    """What two workloads without a common type cost together is the sum of what they cost alone."""
    first = workload(replace(STOCKS, patterns=8, types=9), 1)
    second = workload(replace(TRAFFIC, patterns=8, types=9), 1)
    statistics = Statistics(
        {**first.statistics.rates, **second.statistics.rates},
        {**first.statistics.selectivities, **second.statistics.selectivities},
    )
    renamed = tuple(replace(one, name=f"t{number}") for number, one in enumerate(second.patterns))
    budget = Budget(patience=3000)
    alone = sum(detection_plan(some, Instances(statistics), "mpm", budget).cost for some in (first.patterns, renamed))
    both = detection_plan([*first.patterns, *renamed], Instances(statistics), "mpm", budget)
    assert both.cost == pytest.approx(alone, rel=0.01)
    assert not any(len({name[0] for name in node.patterns}) > 1 for node in both.nodes)
