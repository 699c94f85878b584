"""The run of a share set with predicates on neighbours: from a batch's columns to the cells of all its queries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Events, Tables
from elsinore.actors.buffered_sharing import BufferedCounting, BufferedSharing
from elsinore.actors.columns.links import LinkColumns, Mask
from elsinore.actors.counting import Batch
from elsinore.actors.neighbours.graph import MovingGraph
from elsinore.actors.neighbours.set_graph import LinkedGraph, LinkedMember
from elsinore.actors.sharing import taken
from elsinore.planner.hamlet.linked_sets import without_linked
from elsinore.planner.plans.model import Counter, Plan, QueryPlan
from elsinore.planner.plans.sharing import LinkedSet
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


class LinkedCounting(BufferedCounting):
    """An event-grained counter; events of the types that it shares only become entries of the share set."""

    graph: LinkedMember

    def __init__(self, types: frozenset[str], *rest: Any) -> None:
        self.types = types
        super().__init__(*rest)
        # The share set encodes all links.
        self.links = None

    def _buffered(self, plan: QueryPlan, clock: Clock) -> tuple[type[LinkedMember], type[MovingGraph]]:
        return LinkedMember, MovingGraph

    def _tables(self) -> Tables:
        return self._tables_of(without_linked(self.counter.machine, self.types))


class LinkedSharing(BufferedSharing[LinkedCounting, LinkedGraph]):
    """The counters of a share set, and the graph that they share."""

    share_set: LinkedSet

    def __init__(self, plan: Plan, share_set: LinkedSet, clock: Clock, exact: bool) -> None:
        super().__init__(plan, share_set, exact)
        self.countings = [
            LinkedCounting(_shared_types(share_set, number), self.shared, query, counter, clock, exact)
            for number, (query, counter) in enumerate(self.plans)
        ]
        self.links = _link_columns(share_set, self.plans)
        self.graph = LinkedGraph(
            share_set,
            [counting.graph for counting in self.countings],
            self.kinds,
            lambda: [counting.layout() for counting in self.countings],
            [link.operator for link in self.links.links],
            self.links.comparable,
            Windows.of(self.plans[0][0].query, clock),
            self.new_buffer(len(self.links.links)),
        )

    def process(self, batch: Batch) -> None:
        """Take in a batch, and leave the results that are due with each counter."""
        found = self.kinds.of(batch.types, batch.columns)
        columns, slots, times, kinds = taken(batch, found, self.shared.reads | self.links.reads)
        self.learn(columns)
        values, keys = self.shared.columns.values(columns, len(times)), self.shared.columns.keys(columns, len(times))
        self.links.readers = [(reads, reads) for reads in self._readers()]
        links, promoted = self.links.encode(columns, kinds)
        for link in promoted:
            self.graph.buffer.promote(link, partial(self.links.as_floats, link))
        self.graph.process(Events(slots, times, kinds, values, keys), links)
        for counting in self.countings:
            counting.ready += counting.graph.hand_out()

    def _readers(self) -> list[Mask]:
        """Return, by link and kind of events, whether a sharer with this link takes such events."""
        found = [np.zeros(len(self.kinds), np.bool_) for _ in self.links.links]
        for kleene, lanes in zip(self.share_set.kleenes, self.share_set.lanes, strict=True):
            bit = {sharer: 1 << n for n, same in enumerate(kleene.lanes) for sharer in same}
            first = 0
            for lane in lanes:
                asking = [bit[sharer] for sharer in range(first, first + lane.sharers)]
                first += lane.sharers
                for kind, takes in enumerate(self.kinds.takes):
                    own = kind > 0 and self.kinds.types[self.kinds.type_of[kind]] == kleene.type
                    for link in lane.links if own and any(takes & one for one in asking) else ():
                        found[link][kind] = True
        return found

    def save(self) -> dict[str, Any]:
        return {**super().save(), "links": self.links.save()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.links.load(state["links"])


def _shared_types(share_set: LinkedSet, member: int) -> frozenset[str]:
    return frozenset(
        kleene.type for kleene in share_set.kleenes if any(sharer.member == member for sharer in kleene.sharers)
    )


def _link_columns(share_set: LinkedSet, plans: list[tuple[QueryPlan, Counter]]) -> LinkColumns:
    asked = [(plans[one.member][0], one.link) for one in share_set.links]
    links = [plan.predicates.links[number] for plan, number in asked]
    return LinkColumns(links, [plan.query.name for plan, _ in asked], [])
