"""What the first events of a stream say of plans of detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from elsinore.actors.detection.joins.observing import Observation
from elsinore.cluster.run.searches import observed
from elsinore.connectors.sources import Source, open_events
from elsinore.errors import InputError
from elsinore.planner.detection.known import Known, Seen
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.detection.statistics import Statistics
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock

MOST_EVENTS = 200_000
"""The first events of a stream, from which its statistics are estimated."""


class Sampled(Known):
    """What the first events of a stream say of the share sets of a plan."""

    def __init__(self, observations: Sequence[Observation], events: int) -> None:
        self.observations = observations
        self.source = f"estimated from {events:,} events"

    def of(self, patterns: Sequence[Pattern]) -> Statistics:
        return self._about(patterns[0].name).statistics

    def seen(self, plan: DetectionPlan) -> Seen:
        return self._about(plan.roots[0].pattern).seen(plan)

    def _about(self, pattern: str) -> Observation:
        return next(one for one in self.observations if pattern in one.names)


def known_from(plan: Plan, events: Any, reading: Mapping[str, Any]) -> Known:
    """Return what the first events of a stream say of a plan's patterns; `reading` is for `open_events`."""
    source = open_events(events, **reading)
    clock = Clock.of(source.form, source.time_unit, plan.spans)
    batches = _first(source, clock, plan)
    count = sum(batch.num_rows for batch in batches)
    if not count:
        raise InputError("there are no events from which statistics could be estimated")
    sets = [one for one in plan.share_sets if isinstance(one, DetectionSet)]
    queries = [[plan.queries[member.query].query for member in one.members] for one in sets]
    return Sampled([*observed(queries, batches, clock)], count)


def _first(source: Source, clock: Clock, plan: Plan) -> list[pa.RecordBatch]:
    """Return the first events, in batches."""
    taken: list[pa.RecordBatch] = []
    count = 0
    for batch in source.batches(clock, plan.columns):
        taken.append(batch.slice(0, MOST_EVENTS - count))
        count += len(taken[-1])
        if count == MOST_EVENTS:
            break
    return taken
