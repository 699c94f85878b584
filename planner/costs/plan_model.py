"""The cost of a plan in this engine, whatever its parts: queries apart, HAMLET's share sets, GLORIA's planned sets.

Costs are in nanoseconds, for the events of the longest window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import mean

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.costs.work import Work
from elsinore.planner.gloria.sets import PlannedSet, steps_of_set
from elsinore.planner.gloria.templates.members import members_of
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.calibrated import CalibratedModel
from elsinore.planner.hamlet.facts import facts_of, numbers_of
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.sharing import Kleene, ShareSet
from elsinore.planner.time.spans import common

Plans = Sequence[tuple[QueryPlan, Counter]]


@dataclass(frozen=True)
class PlanModel:
    """The costs of plans for the queries of a workload, each of which looks at all its events."""

    queries: tuple[QueryPlan, ...]
    model: EngineCost

    @classmethod
    def of(cls, queries: tuple[QueryPlan, ...], model: CostModel | None = None) -> PlanModel:
        """Return a model of this engine; another model contributes only its statistics."""
        if model is None or isinstance(model, EngineCost):
            return cls(queries, model or EngineCost())
        return cls(queries, EngineCost(model.statistics))

    def cost(self, queries: Mapping[int, QueryPlan], share_sets: Iterable[ShareSet]) -> float:
        """Return the cost of some queries, by number, with their share sets."""
        share_sets = tuple(share_sets)
        inside = {(member.query, member.counter) for one in share_sets for member in one.members}
        alone = [
            (query, counter)
            for number, query in queries.items()
            for place, counter in enumerate(query.counters)
            if (number, place) not in inside
        ]
        sets = (self._set(one, plans_of(one, queries)) for one in share_sets)
        together = {query for query, _ in inside}
        closed = (self._closed(query, number in together) for number, query in queries.items())
        return sum(sets) + sum(self._apart(*one) for one in alone) + sum(closed)

    @cached_property
    def gloria(self) -> EngineCost:
        """Return the cost model for sharing plans of these queries."""
        if not self.queries:
            return self.model
        numbers = mean(numbers_of(query, counter) for query in self.queries for counter in query.counters)
        spans = [span.length for query in self.queries for span in (query.query.within, query.query.slide) if span]
        panes = float(self._window / common(spans))
        return replace(self.model, numbers=numbers, panes=panes, starts=starts_of(self.queries))

    @property
    def statistics(self) -> Statistics:
        return self.model.statistics

    @property
    def costs(self) -> PlanCosts:
        return self.model.costs

    @cached_property
    def _window(self) -> Fraction:
        return max(query.query.within.length for query in self.queries)

    @cached_property
    def _events(self) -> float:
        """Return the events that some query may take: each query apart, and each set, looks at all of them."""
        return self._of(frozenset[str]().union(*(query.query.types for query in self.queries)))

    def _of(self, types: Iterable[str]) -> float:
        return sum(self.statistics.events(name) for name in sorted(types))

    def _closed(self, query: QueryPlan, together: bool) -> float:
        slide, cost = query.query.slide, self.costs.close_shared if together else self.costs.close
        return cost * float(self._window / slide.length) if slide else 0.0

    def _apart(self, query: QueryPlan, counter: Counter) -> float:
        own = self._of({one.type for one in counter.machine.classes})
        return self._events * self.costs.look + own * self.costs.step * numbers_of(query, counter)

    def _set(self, share_set: ShareSet, plans: Plans) -> float:
        types = {one.type for _, counter in plans for one in counter.machine.classes}
        taken = self._events * self.costs.look + self._of(types) * self.costs.event
        if isinstance(share_set, PlannedSet):
            bursts = sum(self.statistics.bursts(name) for name in sorted(types))
            return taken + bursts * self.costs.burst + self._planned(share_set, plans)
        if type(share_set) is ShareSet:
            shared = sum(self._kleene(kleene, plans) for kleene in share_set.kleenes)
            return taken + shared + self._machines(share_set, plans)
        # Sets of other kinds always share all that they can, so there is nothing to choose.
        return sum(self._apart(*one) for one in plans)

    def _planned(self, planned: PlannedSet, plans: Plans) -> float:
        template = planned.plan.template
        numbers = [numbers_of(query, counter) for query, counter in plans]
        steps = steps_of_set(planned, [query for query, _ in plans])
        return Work(steps, template.nodes, numbers, self.gloria, planned.bursts is not None).cost()

    def _kleene(self, kleene: Kleene, plans: Plans) -> float:
        """Return the cost of HAMLET's graphlets; sharers that take different events have one for each lane."""
        facts = facts_of(kleene, plans)
        terms = CalibratedModel(self.model.bursts).terms(facts)
        events, bursts = self.statistics.events(kleene.type), self.statistics.bursts(kleene.type)
        alone = terms.apart * bursts + terms.apart_event * events
        graphlet = terms.graphlet * bursts + terms.event * events
        return sum(min(graphlet + terms.query * bursts * len(lane), alone * len(lane)) for lane in kleene.lanes)

    def _machines(self, share_set: ShareSet, plans: Plans) -> float:
        """Return the cost of events that queries of a HAMLET set take in one by one."""
        shared = {(sharer.member, kleene.type) for kleene in share_set.kleenes for sharer in kleene.sharers}
        return self.costs.member * sum(
            self.statistics.events(name) * numbers_of(query, counter)
            for number, (query, counter) in enumerate(plans)
            for name in sorted({one.type for one in counter.machine.classes})
            if (number, name) not in shared
        )


def plans_of(share_set: ShareSet, queries: Mapping[int, QueryPlan]) -> Plans:
    return [(queries[member.query], queries[member.query].counters[member.counter]) for member in share_set.members]


def starts_of(queries: Sequence[QueryPlan]) -> frozenset[TypeNode]:
    """Return the nodes of all templates that trends begin with and no sequence transition leads to."""
    chains = members_of(tuple(queries))[0].values()
    begun = {chain.nodes[place] for chain in chains for place in chain.starts}
    edges = [(chain, edge) for chain in chains for link in chain.links for edge in link.edges]
    return frozenset(begun - {chain.nodes[after] for chain, (_, after, kind) in edges if kind == "sequence"})
