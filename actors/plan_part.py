"""What the parts of a plan have in common: how long each has rows, and for which queries."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from elsinore.actors.detection.joins.record import StoredRecord
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.streams.reorder import END
from elsinore.planner.language.syntax import Query
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.parts import run_alike


class PlanPart:
    """A part of a plan, for what begins at `since` or later and, after it was stopped, before `until`."""

    def __init__(self, plan: Plan, partitions: Partitions, since: int) -> None:
        self.plan = plan
        self.partitions = partitions
        self.since = since
        self.until = END
        self.end = END
        """The time in ticks from which on the part has no more rows."""
        self.record: StoredRecord | None = None
        """What was stored of each batch, where matches are stored and that is recorded."""

    def goes_on_as(self, other: Plan) -> bool:
        """Return whether this part can continue as a part of a new plan.

        Silent queries have to stay silent there, and windows are kept as they were.
        """
        if self.until != END or not run_alike(self.plan, other):
            return False
        both = tuple(zip(self.plan.queries, other.queries, strict=True))
        heard = all(after.silent for now, after in both if now.silent)
        return heard and all(after.panes in ("unknown", now.panes) for now, after in both)

    def go_on_as(self, other: Plan) -> None:
        """Continue as a part of a new plan, which may know less about panes."""
        both = zip(self.plan.queries, other.queries, strict=True)
        self.plan = replace(other, queries=tuple(replace(after, panes=now.panes) for now, after in both))

    def silence(self, wanted: Set[Query]) -> None:
        """Make all queries silent but these: they have no more rows."""
        queries = (replace(one, silent=one.silent or one.query not in wanted) for one in self.plan.queries)
        self.plan = replace(self.plan, queries=tuple(queries))

    def over(self, time: int) -> bool:
        """Return whether there will be no more rows, given that no event older than `time` will come."""
        empty = self.until <= self.since or all(query.silent for query in self.plan.queries)
        return empty or self.end <= time
