"""Statistics of a stream for plans of detection, estimated from its first events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.expressions import Evaluator
from elsinore.connectors.sources import Source, open_events
from elsinore.errors import InputError
from elsinore.planner.detection.estimating import chosen, estimated
from elsinore.planner.detection.known import Known
from elsinore.planner.detection.pattern import Pattern, filled
from elsinore.planner.detection.planned_sets import patterns_of_set
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import All, Attribute, Expression, nodes
from elsinore.planner.language.walk import map_attributes
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock

MOST_EVENTS = 200_000
"""The first events of a stream, from which its statistics are estimated."""


def known_from(plan: Plan, events: Any, reading: Mapping[str, Any]) -> Known:
    """Return what the first events of a stream say of a plan's patterns; `reading` is for `open_events`."""
    patterns = [one for found in plan.share_sets if isinstance(found, DetectionSet) for one in _patterns(plan, found)]
    sample = Sampled.of(open_events(events, **reading), plan)
    statistics = estimated(patterns, sample.types, sample.seconds, sample.passing)
    return Known(statistics, f"estimated from {len(sample.types):,} events")


def _patterns(plan: Plan, one: DetectionSet) -> tuple[Pattern, ...]:
    return patterns_of_set(plan, one)[0]


@dataclass(frozen=True)
class Sampled:
    """The first events of a stream, as columns."""

    events: pa.Table
    """Type, time in ticks, and attributes."""
    clock: Clock

    @classmethod
    def of(cls, source: Source, plan: Plan) -> Sampled:
        clock = Clock.of(source.form, source.time_unit, plan.spans)
        taken: list[pa.RecordBatch] = []
        count = 0
        for batch in source.batches(clock, plan.columns):
            taken.append(batch.slice(0, MOST_EVENTS - count))
            count += len(taken[-1])
            if count == MOST_EVENTS:
                break
        if not count:
            raise InputError("there are no events from which statistics could be estimated")
        return cls(pa.Table.from_batches(taken).unify_dictionaries().combine_chunks(), clock)

    @cached_property
    def types(self) -> npt.NDArray[np.str_]:
        found: npt.NDArray[np.str_] = np.array(self.events.column(0).to_pylist(), np.str_)
        return found

    @property
    def seconds(self) -> float:
        """Return how long the events take, from the first to the last; at least one tick."""
        times = self.events.column(1).to_numpy()
        return max(int(times.max() - times.min()), 1) / self.clock.ticks_per_second

    def passing(self, text: str, types: Sequence[str]) -> tuple[int, int]:
        """Return how many choices of events of some types were tried, and how many satisfy a condition.

        Of one type all events are tried, of several random choices.
        """
        rows = [np.flatnonzero(self.types == one) for one in types]
        if len(types) > 1:
            rows = chosen(rows)
        expression = _expression(text, len(types))
        read = {(one.variable, one.name) for one in nodes(expression) if isinstance(one, Attribute)}
        columns = {
            f"{variable}.{name}": self.events.column(name).combine_chunks().take(pa.array(rows[int(variable[1:])]))
            for variable, name in read
        }
        truth = Evaluator(columns, len(rows[0]), "").condition(map_attributes(expression, _joined))
        return len(rows[0]), int(np.count_nonzero(truth))


def _expression(text: str, count: int) -> Expression:
    """Return a condition whose variables are v0, v1 ..."""
    names = [f"v{number}" for number in range(count)]
    pattern = ", ".join(f"T {name}" for name in names)
    (query,) = parse(f"RETURN MATCHES PATTERN AND({pattern}) WHERE ({filled(text, names)}) WITHIN 1 second").queries
    return query.predicates[0] if len(query.predicates) == 1 else All(query.predicates)


def _joined(one: Attribute) -> Attribute:
    return replace(one, variable="", name=f"{one.variable}.{one.name}")
