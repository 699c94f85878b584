"""Plan a workload: choose for each query its machine, granularities, partition keys and windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from elsinore.planner.baselines.unroll import LENGTH, unrolled
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.optimizers import GloriaOptimizer
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.machines.ambiguity import named
from elsinore.planner.machines.automaton import Automaton, automaton, operands
from elsinore.planner.machines.event_classes import event_classes
from elsinore.planner.machines.lanes import lanes
from elsinore.planner.machines.machine import TooComplexError
from elsinore.planner.machines.predicates import Predicates, classify
from elsinore.planner.machines.subsets import machine
from elsinore.planner.plans.auto import best_of_all
from elsinore.planner.plans.kinds import BY_STRATEGY, DETECTION, Search, find_sets
from elsinore.planner.plans.kinds import PLANNED as PLANNED_SETS
from elsinore.planner.plans.model import Counter, Granularity, Plan, QueryPlan
from elsinore.planner.plans.parts import in_order, joined
from elsinore.planner.plans.strategies import METHODS, Method, check_strategy
from elsinore.planner.plans.strategies import STRATEGIES as STRATEGIES

PLANNED = tuple(strategy for strategy, kinds in BY_STRATEGY.items() if PLANNED_SETS in kinds)
"""Strategies that share transitions, as a sharing plan says."""

MAX_COUNTERS = 1024
"""The largest number of counters of one query: of sets of operands of AND that a trend can match at once."""

GRAINS: dict[Method, Granularity] = {"events": "event", "trends": "trend", "prefixes": "prefix"}
"""By method, the granularity of all variables, for methods that do not choose it by variable."""


def plan(
    workload: Workload,
    strategy: str = "auto",
    model: CostModel | None = None,
    optimizer: GloriaOptimizer | None = None,
    searching: bool = True,
) -> Plan:
    """Plan a checked workload; `auto` looks for sharing plans only if it is `searching`, which takes long.

    `model` prices sharing plans. Without it, they are priced by what is known before the first event: with a model of
    this engine for `auto`, else with the paper's. `optimizer` replaces the strategy's own search for sharing plans.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"there is no strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
    check_strategy(workload, strategy)
    if len(kinds := {_planned_with(query) for query in workload.queries}) > 1:
        split = (tuple(one for one in workload.queries if _planned_with(one) == kind) for kind in sorted(kinds))
        parts = [plan(Workload(some, workload.text), strategy, model, optimizer, searching) for some in split]
        return in_order(joined(strategy, parts), [query.name for query in workload.queries])
    queries = _queries(workload, METHODS.get(strategy, "coarsest"))
    if any(query.query.detects for query in queries):
        return Plan(strategy, queries, *find_sets((DETECTION,), queries, Search(strategy)))
    if strategy == "auto":
        return Plan(strategy, queries, *best_of_all(queries, model, optimizer, searching))
    search = Search(optimizer or strategy, model)
    return Plan(strategy, queries, *find_sets(BY_STRATEGY.get(strategy, ()), queries, search))


def _planned_with(query: Query) -> tuple[bool, bool]:
    """Return what queries have in common that are planned together.

    Nothing is shared between aggregates and matches, nor between windows of time and windows of events: their costs
    have no common unit.
    """
    return query.detects, query.counts_events


def _queries(workload: Workload, method: Method) -> tuple[QueryPlan, ...]:
    """Plan each query; raise WorkloadError if any is too complex.

    Checked queries are not too complex, but flattening may make them so.
    """
    plans, problems = [], []
    for query in workload.queries:
        try:
            plans.append(plan_query(query, method))
        except TooComplexError as error:
            problems.append(Problem(error.message, error.hint, query.pattern.place, query.name))
    if problems:
        raise WorkloadError(problems, workload.text)
    return tuple(plans)


def plan_query(query: Query, method: Method = "coarsest", length: int = LENGTH) -> QueryPlan:
    """Plan one query; `length` is that of the longest match of Kleene, where it is flattened."""
    if query.detects:
        return QueryPlan(query, Predicates({}, ()), (), (), method)
    predicates = classify(query)
    wholes = tuple(automaton(part) for part in operands(query.pattern))
    grains = _granularities(query, predicates, wholes, method)
    if method == "prefixes":
        wholes = tuple(unrolled(whole, length) for whole in wholes)
    return QueryPlan(query, predicates, _counters(query, predicates, wholes), grains, method)


def _counters(query: Query, predicates: Predicates, wholes: tuple[Automaton, ...]) -> tuple[Counter, ...]:
    """Return a counter per operand of AND, and one per set of operands that some trend could match at once."""
    names = named(query)
    needed = lanes(query.aggregates)
    counters: list[Counter] = []
    for chosen in _joint(len(wholes), counters):
        automata = tuple(wholes[i] for i in chosen)
        built = machine(automata, predicates, names, query.semantics, event_classes(automata, predicates))
        if not built.accepting:
            continue
        if len(counters) == MAX_COUNTERS:
            raise TooComplexError(
                f"some trends match several operands of AND at once, in more than {MAX_COUNTERS:,} combinations",
                "use fewer operands, or operands of different types",
            )
        variables = {position.variable for position in automata[0].positions}
        own = tuple(lane for lane in needed if len(chosen) == 1 and lane.variable in variables)
        counters.append(Counter(chosen, automata, built, own))
    return tuple(counters)


def _joint(operands: int, found: Sequence[Counter]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of operands that a trend might match at once, smaller ones first.

    A trend that matches a set matches each of its subsets, so a set is left out unless all subsets with one operand
    less have been found: of operands with nothing in common, no set of three is ever looked at.
    """
    yield from ((i,) for i in range(operands))
    size = 1
    while level := [counter.operands for counter in found if len(counter.operands) == size]:
        known = set(level)
        followers: dict[tuple[int, ...], list[int]] = {}
        for one in level:
            followers.setdefault(one[:-1], []).append(one[-1])
        for prefix, lasts in followers.items():
            for i, j in combinations(lasts, 2):
                chosen = (*prefix, i, j)
                if all(part in known for part in combinations(chosen, size)):
                    yield chosen
        size += 1


def _granularities(
    query: Query, predicates: Predicates, wholes: tuple[Automaton, ...], method: Method
) -> tuple[tuple[str, Granularity], ...]:
    """Return the granularity of each variable (COGRA, Table 5): events are kept only for comparison with later ones."""
    compared = {link.before for link in predicates.links}
    coarsest: Granularity = "type" if query.semantics == "any" else "pattern"
    found: dict[str, Granularity] = {}
    for position in (position for whole in wholes for position in whole.positions):
        grain = "event" if position.variable in compared else coarsest
        found[position.variable] = GRAINS.get(method, grain)
    return tuple(found.items())
