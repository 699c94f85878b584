"""A-Seq's sharing (Section 4) as plans of a template: common prefixes, and common sub-patterns at any place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.search.choices import Choice, cost_of, lonely, q_sets_of
from elsinore.planner.gloria.search.segments import Segment, Space, space_of
from elsinore.planner.gloria.templates.template import Template

Place = tuple[int, Segment]
"""A query by number, and a segment of its route."""


@dataclass(frozen=True)
class PrefixTree:
    """The PreTree: queries that begin alike share one path up to the place where they differ.

    Behind that place a query continues with the expression that it has, so nothing has to be connected.
    """

    name: str = "prefix"

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        space = space_of(template, Prices(template, model))
        choices = [tuple(_whole(space, query)) for query in range(len(template.routes))]
        alone = lonely(choices)
        return _plan(self.name, template, space, [tuple(_without(choice, alone)) for choice in choices])


def _whole(space: Space, query: int) -> Iterator[Segment]:
    """Yield the longest segment with the snapshots that a query begins with."""
    for run in space.runs[query]:
        if run.first == 0:
            yield run.segments[-1]
            return


def _without(choice: Choice, roots: set[int]) -> Iterator[Segment]:
    return (segment for segment in choice if segment.strands[0] not in roots)


@dataclass(frozen=True)
class ChopConnect:
    """Chop-Connect: routes are chopped into sub-patterns that other queries have too, and the rest between them.

    The sub-pattern that saves most is chosen first. A snapshot connects each with what comes before it.
    """

    name: str = "chop-connect"

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        space = space_of(template, Prices(template, model))
        chosen: list[list[Segment]] = [[] for _ in template.routes]
        found = _common(space)
        while found:
            best = max(found, key=lambda strands: (_saved(strands, found[strands]), strands))
            for query, segment in found[best]:
                chosen[query].append(segment)
            found = {strands: free for strands, places in found.items() if len(free := _free(places, chosen)) > 1}
        return _plan(self.name, template, space, [tuple(sorted(some, key=lambda one: one.first)) for some in chosen])


def _common(space: Space) -> dict[tuple[int, ...], list[Place]]:
    """Return the sub-patterns that several queries have, by their strands, with snapshots of their first node."""
    found: dict[tuple[int, ...], list[Place]] = {}
    for query, runs in enumerate(space.runs):
        for run in runs:
            for segment in run.segments:
                if space.strands.queries[segment.strands[-1]].bit_count() > 1:
                    found.setdefault(segment.strands, []).append((query, segment))
    return {strands: places for strands, places in found.items() if len(places) > 1}


def _saved(strands: tuple[int, ...], places: list[Place]) -> int:
    """Return the number of propagations that are saved."""
    return len(strands) * (len(places) - 1)


def _free(places: list[Place], chosen: list[list[Segment]]) -> list[Place]:
    return [(query, one) for query, one in places if all(_apart(one, other) for other in chosen[query])]


def _apart(one: Segment, other: Segment) -> bool:
    return one.last <= other.first or other.last <= one.first


def _plan(name: str, template: Template, space: Space, choices: list[Choice]) -> SharingPlan:
    cost = cost_of(space, choices)
    apart = cost_of(space, [()] * len(choices))
    return SharingPlan(template, name, q_sets_of(template, choices), cost, apart, False, GraphRecord((), (), cost))
