"""Node generation (GLORIA, Section 5.1): which transition sharing plans a pool gets, and from which nodes before it.

Queries come to a stage from several pools, and some begin there. A *part* of a node is the plan for the queries from
one pool; a node has a part for each pool. The weight of an edge is the cost to the common queries of the stage before
and of the evaluations behind it, so it is known from the part. Where the queries of a Q-set go apart, each pays in
proportion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from elsinore.planner.gloria.costs.prices import Prices
from elsinore.planner.gloria.graph.kleene import path_weight
from elsinore.planner.gloria.graph.nodes import Pool, PoolNode, Shared, Sharing
from elsinore.planner.gloria.graph.weights import paid
from elsinore.planner.gloria.templates.template import Mask, Template, bits

Part = tuple[Shared, Mask, Mask, int]
"""Q-sets that are reused, queries that do not share, queries with snapshots created here, and the node of these."""

NOBODY = -1

Sources = dict[PoolNode, float]
"""The nodes before from which a part may come, with the weights of the edges."""

Whole = dict[Part, tuple[float, tuple[Sources, ...]]]
"""Combined parts, with the distance from the start nodes, and the sources in each pool before."""


@dataclass(frozen=True)
class Entrance:
    """The stages from which queries come to a stage."""

    starting: Mask
    """Queries without a stage before this one."""
    begun: Mask
    """Queries of whose trends some start here and others come from before: no expression covers both."""
    queries: dict[int, Mask]
    """Queries by the stage that they come from."""


class Generator:
    def __init__(self, template: Template, prices: Prices, only_reuse: bool = False) -> None:
        """Create snapshots only where patterns begin if `only_reuse` is true (Greedy, Section 8.1)."""
        self._template, self._prices, self._only_reuse = template, prices, only_reuse

    def nodes(self, pools: Sequence[Pool], stage: int, entrance: Entrance, most: int) -> list[PoolNode]:
        """Return the nodes of a pool; of more than `most` those that are nearest to the start nodes."""
        start = sum(self._prices.start(node) for query in bits(entrance.starting) for node in self._starts(query))
        whole: Whole = dict.fromkeys(self._beginnings(stage, entrance.starting), (start, ()))
        for before, queries in entrance.queries.items():
            parts = self._parts(pools[before], stage, queries, queries & ~entrance.begun)
            whole = _nearest(dict(self._product(stage, whole, parts)), most)
        made = (self._node(stage, part, distance, sources, start) for part, (distance, sources) in whole.items())
        return nsmallest(most, _merged(node for node in made if node), key=lambda node: node.distance)

    def _starts(self, query: int) -> Iterable[int]:
        return self._template.routes[query].starts

    def _beginnings(self, stage: int, starting: Mask) -> Iterator[Part]:
        """Yield the parts of queries that begin here: with values they go on alone, or with snapshots created here."""
        able = starting & ~self._template.stages[stage].guarded
        yield (), starting, 0, NOBODY
        if able:
            for snapshot in self._template.stages[stage].locals:
                yield (), starting & ~able, able, snapshot

    def _parts(self, pool: Pool, stage: int, queries: Mask, able: Mask) -> dict[Part, Sources]:
        """Return the parts that a pool generates, with their sources; queries in `able` may reuse expressions."""
        found: dict[Part, Sources] = {}
        nodes = self._between(pool.stage, stage)
        for node in pool.nodes:
            shared = tuple((one & queries, snapshot) for one, snapshot in node.sharing[0] if one & queries)
            onward = paid(self._template, self._prices, node, queries)
            for part in self._options(stage, shared, node.sharing[1] & queries, able):
                kept = sum(one for one, _ in part[0])
                evaluated = sum(
                    (one & ~kept).bit_count() * self._prices.evaluated(nodes, snapshot, stage)
                    for one, snapshot in shared
                )
                found.setdefault(part, {})[node] = onward + evaluated
        return found

    def _options(self, stage: int, shared: Shared, alone: Mask, able: Mask) -> Iterator[Part]:
        guarded = self._template.stages[stage].guarded
        everybody = alone | sum(one for one, _ in shared)
        free = everybody & ~guarded
        if self._template.stages[stage].kleene:
            yield from self._cycles(stage, shared, everybody, free, able)
            return
        yield self._reuse(shared, alone, able & ~guarded)
        if self._only_reuse:
            yield (), everybody, 0, NOBODY
            return
        for snapshot in self._template.stages[stage].locals:
            local = sum(one for one, old in shared if self._prices.fewer(snapshot, old)) & free
            if local and local != free:
                kept = tuple((one, old) for one, old in shared if not one & local)
                reused, others, _, _ = self._reuse(kept, alone, able & ~guarded)
                yield reused, others | (everybody & guarded & ~alone), local, snapshot
            if free:
                yield (), everybody & ~free, free, snapshot

    def _reuse(self, shared: Shared, alone: Mask, able: Mask) -> Part:
        """Return the part in which expressions are reused; queries that cannot reuse theirs are evaluated."""
        kept = tuple((one & able, snapshot) for one, snapshot in shared if one & able)
        return kept, alone | sum(one & ~able for one, _ in shared), 0, NOBODY

    def _cycles(self, stage: int, shared: Shared, everybody: Mask, free: Mask, able: Mask) -> Iterator[Part]:
        """Yield the parts of a Kleene sub-pattern (Path Generation Principle).

        All queries share with the snapshots of one node of the sub-pattern, or none does. They may also share with
        snapshots that all of them have already, as in Example 3.2.
        """
        yield (), everybody, 0, NOBODY
        for snapshot in self._template.stages[stage].locals if free and not self._only_reuse else ():
            yield (), everybody & ~free, free, snapshot
        if len(shared) == 1 and shared[0][0] == free == free & able == self._template.stages[stage].queries:
            yield shared, 0, 0, NOBODY

    def _between(self, before: int, stage: int) -> frozenset[int]:
        return self._template.stages[before].targets.intersection(self._template.stages[stage].sources)

    def _product(
        self, stage: int, whole: Whole, parts: dict[Part, Sources]
    ) -> Iterator[tuple[Part, tuple[float, tuple[Sources, ...]]]]:
        """Yield every combination of parts; a Kleene sub-pattern is shared by all queries or by none."""
        one = self._template.stages[stage]
        added = [(min(node.distance + some[node] for node in some), part, some) for part, some in parts.items()]
        for (kept, alone, local, snapshot), (distance, sources) in whole.items():
            for more, part, some in added:
                both = kept + part[0], alone | part[1], local | part[2], max(snapshot, part[3])
                mixed = one.kleene and both[1] & ~one.guarded and (both[0] or both[2])
                if not mixed and (snapshot == part[3] or NOBODY in (snapshot, part[3])):
                    yield both, (distance + more, (*sources, some))

    def _node(
        self, stage: int, part: Part, distance: float, sources: tuple[Sources, ...], start: float
    ) -> PoolNode | None:
        """Return the node of combined parts; None where a query would be alone with new snapshots."""
        kept, alone, local, snapshot = part
        if local.bit_count() == 1:
            return None
        one = self._template.stages[stage]
        shared = tuple(sorted((*kept, (local, snapshot)) if local else kept))
        inside = path_weight(one, self._prices, (shared, alone)) if one.kleene else 0.0
        return PoolNode(stage, (shared, alone), 0, distance + inside, inside, sources, start)


def _nearest(whole: Whole, most: int) -> Whole:
    """Return the parts nearest to the start nodes, and the first: without new snapshots it always makes a node."""
    if len(whole) <= most:
        return whole
    first = next(iter(whole))
    return {first: whole[first], **dict(nsmallest(most, whole.items(), key=lambda item: item[1][0]))}


def _merged(nodes: Iterable[PoolNode]) -> Iterable[PoolNode]:
    """Keep one node for each sharing plan: behind a loop, reused snapshots of the source equal those created here."""
    found: dict[Sharing, PoolNode] = {}
    for node in nodes:
        other = found.setdefault(node.sharing, node)
        if other is not node:
            near, far = sorted((node, other), key=lambda one: one.distance)
            near.edges = tuple({**more, **some} for some, more in zip(near.edges, far.edges, strict=True))
            found[node.sharing] = near
    return found.values()
