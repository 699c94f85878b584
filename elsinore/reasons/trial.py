"""Tests of changed queries: each is run over the events, or over a part of them where there are many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.calendar_years import rows_as_python
from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of, table
from elsinore.errors import InputError, WorkloadError
from elsinore.planner.checks.check import check
from elsinore.planner.detection.sets import with_event_columns
from elsinore.planner.language.syntax import Query, Workload
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from elsinore.reasons.cause import AS_IT_IS, Fix, Reading
from elsinore.reasons.edits import whole_rows
from elsinore.reasons.events import Events, Mask, Replay

MOST_EVENTS = 1 << 13
"""Events that a changed query is run over."""

SPOTS = 4
"""Parts of a long stream, around events of the rarest type, that make up these events."""

MOST_ROWS = 1_000
"""Rows that are counted: that there are more says nothing about a cause."""


@dataclass
class Trials:
    """Runs of one query and of changed ones."""

    query: Query
    text: str
    events: Events
    """All events."""
    runs: int = 0
    """How many runs there were."""
    _part: dict[bool, Events] = field(default_factory=dict)

    def rows(self, query: Query, reading: Reading = AS_IT_IS, whole: bool = False) -> int:
        """Return how many rows a query has over the events, up to MOST_ROWS; 0 for one that cannot be run."""
        try:
            run = self._run(query, reading, whole)
            count = 0
            for rows in run:
                count += len(rows)
                if count >= MOST_ROWS:
                    break
        except (WorkloadError, InputError):
            return 0
        return min(count, MOST_ROWS)

    def of(self, fix: Fix) -> int:
        """Return how many rows the query has with a fix."""
        changed = fix.edit(self.query)
        return self.rows(changed, fix.reading) if changed != self.query or fix.reading != AS_IT_IS else 0

    def example(self, query: Query, reading: Reading = AS_IT_IS) -> list[Mapping[str, Any]]:
        """Return the events of the first match of a query's pattern, in order; none where it cannot be shown."""
        asked = whole_rows(query)
        try:
            run = self._run(asked, reading, False)
            found = next((rows for rows in run if len(rows)), None)
        except (WorkloadError, InputError):
            return []
        if found is None:
            return []
        columns = columns_of(Workload((asked,)))
        rows = answers([found], columns, run.clock)
        first = rows_as_python(table(rows.values(), columns, bounds_type(run.clock), False).slice(0, 1))[0]
        bound = [first[name] for name in columns[asked.name][2 + len(asked.groups) :]]
        events = [one for some in bound for one in (some if isinstance(some, list) else [some]) if one is not None]
        kept = {self.events.columns.type, self.events.columns.time, *self.query.columns}
        shown = [{name: value for name, value in event.items() if name in kept} for event in events]
        return sorted(shown, key=lambda event: event[self.events.columns.time])

    def _run(self, query: Query, reading: Reading, whole: bool) -> LocalRun:
        self.runs += 1
        checked = check(Workload((query,), self.text))
        events = self._part_of(reading.late) if not whole else (self.events if reading.late else self.events.on_time)
        replay = Replay(events, reading)
        own = replace(events.columns, attributes=tuple(events.batch.schema.names[2:]))
        planned = with_event_columns(plan(checked, "auto"), own)
        return LocalRun(planned, replay, lateness=replay.finer)

    def _part_of(self, late: bool) -> Events:
        if late not in self._part:
            self._part[late] = part_of(self.events if late else self.events.on_time, self.query)
        return self._part[late]

    def clock_of(self, query: Query) -> Clock:
        """Return the clock on which a query is run."""
        spans = [one.seconds for one in (query.within, query.slide) if one is not None and one.unit != "events"]
        return Clock.of(self.events.clock.form, self.events.time_unit, spans)


def part_of(events: Events, query: Query) -> Events:
    """Return the events over which changes are tested: all, or some of a long stream.

    Half of these are around events of the pattern's rarest type, and half are all events of some partitions that have
    such an event.
    """
    if len(events) <= MOST_EVENTS:
        return events
    present = [(events.counts[name], name) for name in query.types if name in events.counts]
    if not present:
        return events.where(_mask(len(events), events.in_order[:MOST_EVENTS]))
    _, rarest = min(present)
    rare = events.types == events.batch.column(0).dictionary.to_pylist().index(rarest)
    mask = _mask(len(events), _around(events, rare))
    if query.partition and not query.counts_events:
        mask |= _whole_partitions(events, query.partition, rare)
    return events.where(mask)


def _around(events: Events, rare: Mask) -> np.ndarray[Any, Any]:
    """Return the places of the events around some of the rare ones."""
    ordered = events.in_order
    places = np.flatnonzero(rare[ordered])
    spots = places[np.linspace(0, len(places) - 1, SPOTS).astype(np.int64)]
    half = MOST_EVENTS // SPOTS // 4
    return np.concatenate([ordered[max(0, spot - half) : spot + half] for spot in spots.tolist()])


def _whole_partitions(events: Events, attributes: tuple[str, ...], rare: Mask) -> Mask:
    """Return the events of the first partitions that have a rare event, as many as there is room for."""
    codes = np.zeros(len(events), np.int64)
    known = np.ones(len(events), np.bool_)
    for name in attributes:
        values = events.values(name)
        coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        known &= coded.is_valid().to_numpy(zero_copy_only=False)
        _, codes = np.unique(
            codes * (len(coded.dictionary) + 1) + coded.indices.fill_null(0).to_numpy(zero_copy_only=False),
            return_inverse=True,
        )
    counts = np.bincount(codes[known], minlength=int(codes.max()) + 1)
    wanted, first = np.unique(codes[known & rare], return_index=True)
    wanted = wanted[np.argsort(first)]
    taken = wanted[np.cumsum(counts[wanted]) <= MOST_EVENTS // 2]
    return known & np.isin(codes, taken)


def _mask(count: int, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    mask = np.zeros(count, np.bool_)
    mask[places] = True
    return mask
