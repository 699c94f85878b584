"""Tests of changed queries: each is run over the events, or over a part of them where there are many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from elsinore.actors.rows.rows import Rows
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
from elsinore.reasons.edits import lists_may_be_short, shortened, whole_rows
from elsinore.reasons.events import Events, Ints, Mask, Replay

MOST_EVENTS = 1 << 13
"""Events that a changed query is run over."""

SPOTS = 4
"""Parts of a long stream, around events of the rarest type, that make up these events."""

FIRST_KEYS = 1 << 6
"""Rare events whose partitions are looked for at first."""

MOST_GROWTH = 1 << 4
"""How many times as many of them are looked at next, at most, where there is room for more partitions."""

COUNTING, MATCHING = "cogra", "reorder"
"""Strategies that look for no way to share: a trial has one query, over few events."""

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

    def example(self, query: Query, reading: Reading = AS_IT_IS) -> list[Mapping[str, Any]] | None:
        """Return the events of a match of a query's pattern, in order; None if it has none or cannot be run.

        A match with short lists is searched first. Without one, a search for long lists may look at exponentially many,
        so trends are counted where they can be; then the list is empty if there are some, but none with short lists.
        """
        if query.semantics != "any":
            return self._first(query, reading)
        found = self._first(shortened(query, 1), reading)
        if found is not None or lists_may_be_short(query):
            return found
        if query.detects:
            return self._first(query, reading)
        return self._first(shortened(query, 2), reading) or [] if self.rows(query, reading) else None

    def _first(self, query: Query, reading: Reading) -> list[Mapping[str, Any]] | None:
        """Return the events of the first match of a query's pattern, in order."""
        asked = whole_rows(query)
        try:
            run = self._run(asked, reading, False)
            found = next((rows for rows in run if len(rows)), None)
        except (WorkloadError, InputError):
            return None
        if found is None:
            return None
        columns = columns_of(Workload((asked,)))
        rows = answers([_head(found)], columns, run.clock)
        first = rows_as_python(table(rows.values(), columns, bounds_type(run.clock), False))[0]
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
        own = replace(events.columns, attributes=events.attributes)
        planned = with_event_columns(plan(checked, MATCHING if query.detects else COUNTING), own)
        return LocalRun(planned, replay, lateness=replay.finer)

    def _part_of(self, late: bool) -> Events:
        if late not in self._part:
            self._part[late] = part_of(self.events if late else self.events.on_time, self.query)
        return self._part[late]

    def clock_of(self, query: Query) -> Clock:
        """Return the clock on which a query is run."""
        spans = [one.seconds for one in (query.within, query.slide) if one is not None and one.unit != "events"]
        return Clock.of(self.events.clock.form, self.events.time_unit, spans)


def _head(rows: Rows) -> Rows:
    """Return the first of some rows."""
    return replace(
        rows,
        window_start=rows.window_start[:1],
        window_end=rows.window_end[:1],
        groups={name: column[:1] for name, column in rows.groups.items()},
        values={name: column[:1] for name, column in rows.values.items()},
    )


def part_of(events: Events, query: Query) -> Events:
    """Return the events over which changes are tested: all, or some of a long stream.

    Half of these are around events of the pattern's rarest type, and half are all events of some partitions that have
    such an event.
    """
    if len(events) <= MOST_EVENTS:
        return events
    present = [(events.counts[name], name) for name in query.types if name in events.counts]
    if not present:
        return events.at(np.sort(events.in_order[:MOST_EVENTS]))
    _, rarest = min(present)
    rare = events.types == events.data.column(0).dictionary.to_pylist().index(rarest)
    places = _around(events, rare)
    if query.partition and not query.counts_events:
        places = np.concatenate([places, _whole_partitions(events, query.partition, rare)])
    return events.at(np.unique(places))


def _around(events: Events, rare: Mask) -> Ints:
    """Return the places of the events around some of the rare ones."""
    ordered = events.in_order
    places = np.flatnonzero(rare[ordered])
    spots = places[np.linspace(0, len(places) - 1, SPOTS).astype(np.int64)]
    half = MOST_EVENTS // SPOTS // 4
    return np.concatenate([ordered[max(0, spot - half) : spot + half] for spot in spots.tolist()])


def _whole_partitions(events: Events, attributes: tuple[str, ...], rare: Mask) -> Ints:
    """Return the places of the events of the first partitions that have a rare event, as many as there is room for.

    Keys are looked for among a few rare events at first: to number those of all events takes as long as a run.
    """
    room = MOST_EVENTS // 2
    rare_places = np.flatnonzero(rare)
    count = FIRST_KEYS
    while True:
        few = rare_places[:count]
        places = _with_keys_of(events, attributes, few)
        codes, sizes = _numbered(events, attributes, places)
        own = codes[np.searchsorted(places, few[np.isin(few, places)])]
        wanted, first = np.unique(own, return_index=True)
        wanted = wanted[np.argsort(first)]
        held = np.cumsum(sizes[wanted])
        if len(few) == len(rare_places) or held[-1:].sum() > room:
            return places[np.isin(codes, wanted[held <= room])]
        count *= int(np.clip(2 * room // max(1, held[-1:].sum()), 2, MOST_GROWTH))


def _with_keys_of(events: Events, attributes: tuple[str, ...], some: Ints) -> Ints:
    """Return the places of the events whose attributes each have the value of one of some events, and no null."""
    few = events.at(some)
    first, *others = sorted(attributes, key=lambda name: -len(few.distinct(name)))
    places = np.flatnonzero(events.among(first, few))
    for name in others:
        places = places[events.at(places).among(name, few)]
    return places


def _numbered(events: Events, attributes: tuple[str, ...], places: Ints) -> tuple[Ints, Ints]:
    """Return the partitions of some events, as numbers, and by number how many of the events each has."""
    codes, found = np.zeros(len(places), np.int64), events.at(places)
    for name in attributes:
        coded = found.values(name)
        coded = coded if pa.types.is_dictionary(coded.type) else coded.dictionary_encode()
        numbers = codes * len(coded.dictionary) + coded.indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(numbers, return_inverse=True)
    return codes, np.bincount(codes)
