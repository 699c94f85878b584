"""The terms of an era: what a live stream computes, and which actor owns which key groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from elsinore.actors.shells.graph_actor import Duty, Keeper, Legacy, engines_of
from elsinore.actors.shells.replanner import plan_along
from elsinore.actors.state import reading
from elsinore.cluster.machines.costs import cost_model
from elsinore.connectors.errors import InputError
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.drift import Observed
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.language.resolve import with_events
from elsinore.planner.language.syntax import EventColumns, Workload
from elsinore.planner.plans.components import components
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import Components, Ranges, Route, Way, routes
from elsinore.planner.time.clock import Clock


@dataclass(frozen=True)
class Terms:
    """The terms of an era, which hold from its beginning to its end."""

    stream: str
    """The identifier of the stream: the same in all its eras, and unique."""
    workload: str
    strategy: str
    numeric: str
    clock: Clock
    ranges: Ranges
    statistics: Mapping[Way, Observed] = field(default_factory=dict, compare=False)
    """Statistics of the stream along each route from which its plan was chosen. No row depends on them."""
    events: EventColumns | None = None
    """The columns of the stream's events, if a query returns whole events."""
    components: Components = field(default_factory=dict, compare=False)
    """By query that keys do not place, the number of its route. No row depends on it."""

    @cached_property
    def queries(self) -> Workload:
        """Return the checked workload."""
        found = check_text(self.workload)
        if self.events is None:
            return found
        return replace(found, queries=tuple(with_events(query, self.events) for query in found.queries))

    def with_columns(self, columns: EventColumns) -> Terms:
        """Return the terms of a stream with these columns; only queries that return whole events depend on them."""
        whole = any(query.whole_events for query in self.queries.queries)
        return replace(self, events=columns if whole else None)

    @property
    def plan(self) -> Plan:
        """Return the plan without statistics of the stream; statistics only decide which queries share."""
        return plan(self.queries, self.strategy)

    @property
    def routes(self) -> tuple[Route, ...]:
        return routes(self.queries, components=self.components)

    def with_components(self, kept: Components | None = None) -> Terms:
        """Return the same terms with queries without keys distributed; those that are kept keep their routes."""
        return replace(self, components=components(self.queries, kept))

    def duty(self, keeper: Keeper | None = None, remembered: int = 0, observed_as: str = "") -> Duty:
        planned = self.plan
        found = self.routes
        return Duty(
            found,
            tuple(plan_along(route, planned, self.statistics.get(route.way)) for route in found),
            tuple(sorted(self.queries.types)),
            self.clock.save(),
            self.numeric,
            optimizer_of(self.strategy, cost_model()),
            record_decisions=remembered > 0,
            remembered=remembered,
            key_groups=self.ranges.groups,
            keeper=keeper,
            observed_as=observed_as,
            places=self.ranges.places,
        )

    def changed(self, workload: str, strategy: str, places: int) -> Terms:
        """Return the terms with another workload, strategy and number of places.

        Raise InputError where the clock, which was chosen for the first queries, is too coarse for the windows.
        """
        found = replace(self, workload=workload, strategy=strategy, ranges=self.ranges.among(places))
        if any((span * self.clock.ticks_per_second).denominator != 1 for span in found.queries.spans):
            raise InputError(
                f"this stream counts time in steps of 1/{self.clock.ticks_per_second} seconds, which is too coarse for "
                "windows of these queries; run them as a separate stream"
            )
        found = found.with_components({name: route.component for route in self.routes for name in route.queries})
        return replace(found, statistics=self._still_known(found))

    def _still_known(self, found: Terms) -> dict[Way, Observed]:
        """Return the statistics that are still valid for the changed terms.

        They are not where the route has types that no query named before, nor under another strategy, which relies on
        other statistics.
        """
        if found.strategy != self.strategy:
            return {}
        named = {route.way: route.types for route in self.routes}
        return {
            route.way: self.statistics[route.way]
            for route in found.routes
            if route.way in self.statistics and _within(route.types, named.get(route.way, frozenset()))
        }

    def document(self) -> dict[str, Any]:
        ranges = self.ranges
        return {
            "stream": self.stream,
            "workload": self.workload,
            "strategy": self.strategy,
            "numeric": self.numeric,
            "clock": self.clock.save(),
            "ranges": [ranges.groups, list(ranges.starts), list(ranges.firsts)],
            "statistics": [
                [list(partition), list(keys), counts_events, component, seen.save()]
                for (partition, keys, counts_events, component), seen in self.statistics.items()
            ],
            "events": self.events and [self.events.type, self.events.time, list(self.events.attributes)],
            "components": dict(self.components),
        }

    @classmethod
    def read(cls, document: dict[str, Any]) -> Terms:
        with reading():
            groups, starts, firsts = document["ranges"]
            clock, ranges = Clock.load(document["clock"]), Ranges(groups, tuple(starts), tuple(firsts))
            statistics = {
                _way(partition, keys, *others): Observed.read(seen)
                for partition, keys, *others, seen in document.get("statistics", [])
            }
            return cls(
                **{
                    **document,
                    "clock": clock,
                    "ranges": ranges,
                    "statistics": statistics,
                    "events": _event_columns(document.get("events")),
                }
            )


def _way(partition: list[str], keys: list[str], counts_events: bool = False, component: int = 0) -> Way:
    return tuple(partition), tuple(keys), counts_events, component


def _event_columns(saved: list[Any] | None) -> EventColumns | None:
    if saved is None:
        return None
    type_, time, attributes = saved
    return EventColumns(type_, time, tuple(attributes))


def _within(types: frozenset[str] | None, others: frozenset[str] | None) -> bool:
    """Return whether the types are among the others; None means all types."""
    return others is None or (types is not None and types <= others)


def legacies(before: Terms, states: Sequence[bytes], terms: Terms) -> list[Legacy | None]:
    """Return, for each range and route of an era, the state that its engine inherits from the era before.

    Ranges are only ever cut, so each lies in one range of the era before.
    """
    engines = [engine for state in states for engine in engines_of(state)]
    old, new = before.routes, terms.routes
    left: list[Legacy | None] = []
    for number in range(len(terms.ranges)):
        lo, hi = terms.ranges.bounds(number)
        holder = max(one for one, start in enumerate(before.ranges.starts) if start <= lo)
        whole = before.ranges.bounds(holder) == (lo, hi)
        for route in new:
            at = next((n for n, one in enumerate(old) if one.leads_as(route)), None)
            if at is None or not (route.keys or lo <= route.home(terms.ranges.groups) < hi):
                left.append(None)
            else:
                own = None if whole or not route.keys else (lo, hi)
                left.append(Legacy(engines[holder * len(old) + at], own))
    return left
