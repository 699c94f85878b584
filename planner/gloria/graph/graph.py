"""The GLORIA graph: built pool by pool from the start nodes, pruned as it grows (GLORIA, Sections 5.1, 5.2 and 6)."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.generation import Entrance, Generator
from elsinore.planner.gloria.graph.nodes import Pool
from elsinore.planner.gloria.graph.pruning import prune
from elsinore.planner.gloria.templates.template import Mask, Template


@dataclass(frozen=True)
class Policy:
    """The limits that an optimizer puts on pools."""

    most: int
    """Most nodes in a pool: of more, those nearest to the start nodes are kept."""
    prunes: bool = True
    greedy: bool = False
    """True for one node per pool: snapshots are reused, or their queries stop sharing (Section 8.1)."""


@dataclass(frozen=True)
class Ending:
    """An edge to an end node: queries of a pool whose trends end behind its stage."""

    stage: int
    queries: Mask
    node: frozenset[int]
    """The types with which the queries end; queries that end with the same types have one end node."""
    last: bool
    """True if the stage is the last of the queries; else their trends may go on."""


@dataclass(frozen=True)
class Graph:
    template: Template
    pools: tuple[Pool, ...]
    """By stage."""
    endings: tuple[Ending, ...]


def graph_of(template: Template, prices: Prices, policy: Policy) -> Graph:
    pools: list[Pool] = []
    generator = Generator(template, prices, only_reuse=policy.greedy)
    entrances = _entrances(template)
    count = 0
    for stage, entrance in enumerate(entrances):
        pool = Pool(stage, entrance.queries, entrance.starting, generator.nodes(pools, stage, entrance, policy.most))
        for node in pool.nodes:
            count += 1
            node.number = count
        if policy.greedy:
            pool.nodes = [min(pool.nodes, key=lambda node: (node.distance, node.sharing[1].bit_count()))]
        elif policy.prunes:
            prune(pool, prices)
        pools.append(pool)
    return Graph(template, tuple(pools), tuple(_endings(template)))


def _entrances(template: Template) -> list[Entrance]:
    """Return, by stage, where its queries come from; if the stage before has a later number, they start here."""
    found: list[dict[int, Mask]] = [{} for _ in template.stages]
    starts = [0] * len(template.stages)
    begun = [0] * len(template.stages)
    for query, route in enumerate(template.routes):
        for place, stage in enumerate(route.stages):
            if place and route.stages[place - 1] < stage:
                before = route.stages[place - 1]
                found[stage][before] = found[stage].get(before, 0) | 1 << query
            else:
                starts[stage] |= 1 << query
            if place and route.starts.intersection(route.junctions[place]):
                begun[stage] |= 1 << query
    return [Entrance(*one) for one in zip(starts, begun, found, strict=True)]


def _endings(template: Template) -> list[Ending]:
    found: dict[tuple[int, frozenset[int], bool], Mask] = {}
    for query, route in enumerate(template.routes):
        for place, stage in enumerate(route.stages, start=1):
            last = place == len(route.stages)
            ends = route.ends.intersection(route.junctions[place])
            if ends and (last or not template.stages[route.stages[place]].kleene):
                found[stage, ends, last] = found.get((stage, ends, last), 0) | 1 << query
    return [Ending(stage, queries, ends, last) for (stage, ends, last), queries in found.items()]
