"""Share sets that run a sharing plan of GLORIA, and the reasons why the other queries run apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from elsinore.planner.a_seq.sets import ALONE, ForestSet, forest_sets
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.optimizers import GloriaOptimizer, sharing_plans
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.steps import Steps, steps_of
from elsinore.planner.gloria.templates.chains import chain_of
from elsinore.planner.gloria.templates.members import why_apart
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.share_sets import MAX_LANES, conditions
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.sharing import Member, ShareSet

NEGATED = "a match of NOT moves the trends of one query, while those of a plan move together"
SHARED_STATE = "trends that end with different types continue alike in it, so its machine does not know the type"
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
class Place:
    """A node of a template in the machine of one query."""

    state: int
    """The machine's state of all trends that end with an event of the node."""
    variable: str
    accepts: frozenset[int]
    """The classes of events that the node takes."""


def planned_sets(
    queries: tuple[QueryPlan, ...], optimizer: str | GloriaOptimizer, model: CostModel | None = None
) -> tuple[tuple[ShareSet, ...], tuple[tuple[str, str], ...]]:
    """Return a set for each plan that shares something, and the name and reason of each query that is in none.

    The optimizers of A-Seq also share sequences whose windows move with every event.
    """
    unfit = {number: reason for number, plan in enumerate(queries) if (reason := _why_unfit(plan))}
    trees: tuple[ForestSet, ...] = ()
    if isinstance(optimizer, str) and optimizer in ALONE:
        trees, alone = forest_sets(queries, optimizer)
        unfit |= alone
    moving = {member.query for one in trees for member in one.members}
    numbers = [number for number in range(len(queries)) if number not in unfit and number not in moving]
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
    named = tuple((name, reasons[name]) for plan in queries if (name := plan.query.name) in reasons)
    return (*found, *trees), named


def places(plan: QueryPlan) -> dict[TypeNode, Place] | None:
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


def places_by_number(planned: PlannedSet, queries: Sequence[QueryPlan]) -> list[dict[int, Place]]:
    """Return, by query, the places of the nodes of the plan's template, by number."""
    nodes = {node: number for number, node in enumerate(planned.plan.template.nodes)}
    return [{nodes[node]: place for node, place in (places(query) or {}).items()} for query in queries]


def steps_of_set(planned: PlannedSet, queries: Sequence[QueryPlan]) -> Steps:
    """Return the steps that run the plan."""
    own = places_by_number(planned, queries)
    return steps_of(planned.plan, [{node: place.state for node, place in one.items()} for one in own])


def _place(machine: Machine, node: TypeNode, variable: str) -> Place | None:
    """Return the place of a node, or None if not all events that it takes do the same."""
    classes = [c for c, one in enumerate(machine.classes, start=1) if one.type == node.type and machine.appends[c]]
    ways = {machine.appends[c] for c in classes}
    targets = {append.target for appends in ways for append in appends}
    return Place(targets.pop(), variable, frozenset(classes)) if len(ways) == len(targets) == 1 else None


def _why_unfit(plan: QueryPlan) -> str | None:
    """Return why a query's machine cannot run in a plan, if so; `sharing_plans` gives all other reasons."""
    return next(_reasons(plan), None) if why_apart(plan) is None else None


def _reasons(plan: QueryPlan) -> Iterator[str]:
    if plan.counters[0].automata[0].guards:
        yield NEGATED
    if places(plan) is None:
        yield SHARED_STATE


def _why_dropped(made: PlannedSet, queries: tuple[QueryPlan, ...]) -> str | None:
    if not made.plan.shares:
        return NOTHING
    plans = [(queries[member.query], queries[member.query].counters[member.counter]) for member in made.members]
    return FULL if max(map(len, conditions(plans).values()), default=0) > MAX_LANES else None
