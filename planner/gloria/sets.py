"""Share sets that run a sharing plan of GLORIA, and the reasons why the other queries run apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.optimizers import GloriaOptimizer, sharing_plans
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.steps import Steps, steps_of
from elsinore.planner.gloria.templates.chains import chain_of
from elsinore.planner.gloria.templates.members import why_apart
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.share_sets import MAX_LANES, conditions
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.needs import Need, no_negation, why_unmet
from elsinore.planner.plans.sharing import Member, ShareSet

NOTHING = "its sharing plan shares nothing: every plan that shares costs more"
FULL = f"a plan distinguishes at most {MAX_LANES} sets of predicates on a type"


@dataclass(frozen=True)
class PlannedSet(ShareSet):
    """Queries of one template, with the sharing plan that they run by."""

    plan: SharingPlan
    bursts: PlanCosts | None = None
    """Costs for deciding, burst by burst, how events that may follow one another are taken in; None: always as the plan
    says."""


@dataclass(frozen=True)
class NodePlace:
    """A node of a template in the machine of one query."""

    state: int
    """The machine's state of all trends that end with an event of the node."""
    variable: str
    accepts: frozenset[int]
    """The classes of events that the node takes."""


def planned_sets(
    queries: tuple[QueryPlan, ...], optimizer: str | GloriaOptimizer, model: CostModel | None = None
) -> tuple[tuple[PlannedSet, ...], tuple[tuple[str, str], ...]]:
    """Return a set for each plan that shares something, and the name and reason of each query that is in none."""
    unfit = {number: reason for number, plan in enumerate(queries) if (reason := _why_unfit(plan))}
    numbers = [number for number in range(len(queries)) if number not in unfit]
    plans, apart = sharing_plans(tuple(queries[number] for number in numbers), model, optimizer)
    reasons = {queries[number].query.name: reason for number, reason in unfit.items()} | dict(apart)
    found = []
    for plan in plans:
        template = plan.template
        members = tuple(Member(numbers[member.query], member.counter) for member in template.members)
        made = PlannedSet(members, (), "any", replace(plan, template=replace(template, members=members)))
        if reason := _why_dropped(made, queries):
            reasons |= dict.fromkeys(template.names, reason)
        else:
            found.append(made)
    return tuple(found), tuple((name, reasons[name]) for plan in queries if (name := plan.query.name) in reasons)


def places(plan: QueryPlan) -> dict[TypeNode, NodePlace] | None:
    """Return the nodes of a query with their places in its machine, or None if some node has no state of its own."""
    counter = plan.counters[0]
    chain = chain_of(plan, counter)
    assert chain is not None
    found = {
        node: place
        for node, position in zip(chain.nodes, counter.automata[0].positions, strict=True)
        if (place := _place(counter.machine, node, position.variable))
    }
    return found if len({place.state for place in found.values()}) == len(chain.nodes) else None


def places_by_number(planned: PlannedSet, queries: Sequence[QueryPlan]) -> list[dict[int, NodePlace]]:
    """Return, by query, the places of the nodes of the plan's template, by number."""
    nodes = {node: number for number, node in enumerate(planned.plan.template.nodes)}
    return [{nodes[node]: place for node, place in (places(query) or {}).items()} for query in queries]


def steps_of_set(planned: PlannedSet, queries: Sequence[QueryPlan]) -> Steps:
    """Return the steps that run the plan."""
    own = places_by_number(planned, queries)
    return steps_of(planned.plan, [{node: place.state for node, place in one.items()} for one in own])


def _place(machine: Machine, node: TypeNode, variable: str) -> NodePlace | None:
    """Return the place of a node, or None if not all events that it takes do the same."""
    classes = [c for c, one in enumerate(machine.classes, start=1) if one.type == node.type and machine.appends[c]]
    ways = {machine.appends[c] for c in classes}
    targets = {append.target for appends in ways for append in appends}
    return NodePlace(targets.pop(), variable, frozenset(classes)) if len(ways) == len(targets) == 1 else None


def _why_unfit(plan: QueryPlan) -> str | None:
    """Return why a query's machine cannot run in a plan, if so; `sharing_plans` gives all other reasons."""
    return why_unmet(MACHINE_NEEDS, plan, plan.counters[0]) if why_apart(plan) is None else None


MACHINE_NEEDS = (
    no_negation("a match of NOT moves the trends of one query, while those of a plan move together"),
    Need(
        "own states",
        lambda plan, _: places(plan) is not None,
        "trends that end with different types continue alike in it, so its machine does not know the type",
    ),
)
"""What a query needs beyond being in a template."""


def _why_dropped(made: PlannedSet, queries: tuple[QueryPlan, ...]) -> str | None:
    if not made.plan.shares:
        return NOTHING
    plans = [(queries[member.query], queries[member.query].counters[member.counter]) for member in made.members]
    return FULL if max(map(len, conditions(plans).values()), default=0) > MAX_LANES else None


def renumbered_plan(planned: PlannedSet, members: tuple[Member, ...]) -> PlannedSet:
    """Return a set with other numbers for its queries, in its template too."""
    template = replace(planned.plan.template, members=members)
    return replace(planned, members=members, plan=replace(planned.plan, template=template))


def with_burst_costs(planned: PlannedSet, costs: PlanCosts) -> PlannedSet:
    """Return a set that decides burst by burst how events that may follow one another are taken in."""
    return replace(planned, bursts=costs)


def planned_work(planned: PlannedSet) -> object:
    """Return what execution depends on: neither costs nor rejected alternatives."""
    return planned.members, planned.plan.template, planned.plan.q_sets, planned.bursts


def without_graph(planned: PlannedSet) -> PlannedSet:
    """Return a set without the GLORIA graph of its plan: the graph is large, and execution does not read it."""
    return replace(planned, plan=replace(planned.plan, graph=GraphRecord((), (), planned.plan.graph.found)))
