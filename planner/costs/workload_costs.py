"""What it costs this engine to run the queries of a workload apart, and what every share set costs besides.

Costs are in nanoseconds, for the events of the longest window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import mean

from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.engine_cost import EngineCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.templates.members import members_of
from elsinore.planner.gloria.templates.template import TypeNode
from elsinore.planner.hamlet.facts import numbers_of
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.time.spans import common

Counted = Sequence[tuple[QueryPlan, Counter]]
"""By member of a share set, its query and its counter."""


@dataclass(frozen=True)
class WorkloadCosts:
    """The costs of the queries of a workload, each of which looks at all its events."""

    queries: tuple[QueryPlan, ...]
    model: EngineCost

    @classmethod
    def of(cls, queries: tuple[QueryPlan, ...], model: CostModel | None = None) -> WorkloadCosts:
        """Return the costs in this engine; another model contributes only its statistics."""
        if model is None or isinstance(model, EngineCost):
            return cls(queries, model or EngineCost())
        return cls(queries, EngineCost(model.statistics))

    @property
    def statistics(self) -> Statistics:
        return self.model.statistics

    @property
    def costs(self) -> PlanCosts:
        return self.model.costs

    @cached_property
    def gloria(self) -> EngineCost:
        """Return the cost model for sharing plans of these queries."""
        if not self.queries:
            return self.model
        numbers = mean(numbers_of(query, counter) for query in self.queries for counter in query.counters)
        spans = [span.length for query in self.queries for span in (query.query.within, query.query.slide) if span]
        panes = float(self._window / common(spans))
        return replace(self.model, numbers=numbers, panes=panes, starts=starts_of(self.queries))

    def windows(self, events: float) -> float:
        """Return of how many windows of partitions so many events are."""
        return events / self._events if self._events else 0.0

    def part_of_window(self, span: Fraction) -> float:
        """Return which part a span is of the longest window."""
        return float(span / self._window)

    def apart(self, query: QueryPlan, counter: Counter) -> float:
        """Return the cost of a counter that shares nothing."""
        own = self.events_of({one.type for one in counter.machine.classes})
        return self._events * self.costs.look + own * self.costs.step * numbers_of(query, counter)

    def closed(self, query: QueryPlan, together: bool) -> float:
        """Return what panes and ends of windows of a query cost each partition; `together`: it is in a share set."""
        slide = query.query.slide
        if not slide:
            return 0.0
        ends = float(self._window / slide.length) / self.statistics.partitions
        if not together:
            return ends * self.costs.close
        return ends * self.costs.close_shared + self._touched(query) * self.costs.touch

    def _touched(self, query: QueryPlan) -> float:
        """Return the number of a query's counters, by state, times the panes in which a partition has events."""
        panes = min(self.events_of(query.query.types), float(self._window / query.pane))
        states = sum(len(one.machine.states) * numbers_of(query, one) for one in query.counters)
        return panes * states

    def taken(self, members: Counted) -> float:
        """Return the cost of finding where each event belongs in a share set."""
        return self._events * self.costs.look + self.events_of(types_of(members)) * self.costs.event

    def events_of(self, types: Iterable[str]) -> float:
        return sum(self.statistics.events(name) for name in sorted(types))

    @cached_property
    def _window(self) -> Fraction:
        return max(query.query.within.length for query in self.queries)

    @cached_property
    def _events(self) -> float:
        """Return the events that some query may take: each query apart, and each set, looks at all of them."""
        return self.events_of(frozenset[str]().union(*(query.query.types for query in self.queries)))


def types_of(members: Counted) -> set[str]:
    return {one.type for _, counter in members for one in counter.machine.classes}


def starts_of(queries: Sequence[QueryPlan]) -> frozenset[TypeNode]:
    """Return the nodes of all templates that trends begin with and no sequence transition leads to."""
    chains = members_of(tuple(queries))[0].values()
    begun = {chain.nodes[place] for chain in chains for place in chain.starts}
    edges = [(chain, edge) for chain in chains for link in chain.links for edge in link.edges]
    return frozenset(begun - {chain.nodes[after] for chain, (_, after, kind) in edges if kind == "sequence"})
