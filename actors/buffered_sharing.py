"""Common base of share sets whose graph keeps the events of all queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.sharing import SharedColumns, SharedCounting
from elsinore.actors.windows.buffer import Buffer
from elsinore.planner.plans.model import Counter, Plan, QueryPlan
from elsinore.planner.plans.sharing import ShareSet


class KeepsEvents(Protocol):
    """The graph of a share set that keeps events."""

    @property
    def buffer(self) -> Buffer: ...

    def renew(self) -> None: ...

    def save(self) -> dict[str, Any]: ...

    def load(self, state: dict[str, Any]) -> None: ...


class BufferedCounting(SharedCounting):
    """A counter whose share set keeps its events. On `load`, the share set has loaded its columns before."""

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.follow()


C = TypeVar("C", bound=BufferedCounting)
G = TypeVar("G", bound=KeepsEvents)


class BufferedSharing(Generic[C, G]):
    """The counters of a share set, and the graph that they share."""

    countings: Sequence[C]
    graph: G

    def __init__(self, plan: Plan, share_set: ShareSet, exact: bool) -> None:
        self.share_set = share_set
        queries = [plan.queries[member.query] for member in share_set.members]
        self.plans: list[tuple[QueryPlan, Counter]] = [
            (query, query.counters[m.counter]) for query, m in zip(queries, share_set.members, strict=True)
        ]
        self.exact = exact
        self.shared = SharedColumns(self.plans, exact)
        self.kinds = EventKinds(self.plans, share_set.kleenes)

    def new_buffer(self, links: int) -> Buffer:
        columns = self.shared.columns
        return Buffer(columns.width, len(columns.minima), links, np.int64 if self.exact else np.float64)

    @property
    def members(self) -> dict[tuple[int, int], SharedCounting]:
        """Return the counters by query and counter number."""
        return {(m.query, m.counter): c for m, c in zip(self.share_set.members, self.countings, strict=True)}

    def learn(self, columns: Mapping[str, pa.Array]) -> None:
        """Add the columns that these values need, to the buffer and to each counter."""
        shared, buffer = self.shared.columns, self.graph.buffer
        types, whole = dict(shared.types), shared.whole_keys
        added = shared.learn(columns)
        if not added and types == shared.types:
            return
        for _, count, column in added:
            buffer.add_values(column, count)
        for key in whole - shared.whole_keys:
            buffer.events.keys[key] = shared.as_floats(key, buffer.events.keys[key])
        for counting in self.countings:
            counting.follow()
        self.graph.renew()

    def keep(self, slots: Any) -> None:
        """Keep these partitions alone, in this order."""
        buffer = self.graph.buffer
        known = max(int(column.max(initial=-1)) for column in (slots, buffer.events.slot)) + 1
        buffer.keep(slots, known)

    def save(self) -> dict[str, Any]:
        return {"columns": self.shared.columns.save(), "kinds": self.kinds.save(), "graph": self.graph.save()}

    def load(self, state: dict[str, Any]) -> None:
        """Load the state of the share set; the counters load their own."""
        self.shared.columns.load(state["columns"])
        self.kinds.load(state["kinds"])
        self.graph.load(state["graph"])
