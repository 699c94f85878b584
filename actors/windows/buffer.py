"""A buffer of the events that are still in some window, as columns in order of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.intake import Growth, Taken
from elsinore.actors.columns.lanes import Ints, LaneColumns
from elsinore.actors.neighbours.buffered_numba_fns import order_by_slot
from elsinore.actors.neighbours.entries_numba_fns import Links


class Buffer:
    def __init__(self, values: int, keys: int, links: int, kind: type[np.generic]) -> None:
        self._events = Events(
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
            np.zeros(0, np.int16),
            np.zeros((values, 0), kind),
            np.zeros((keys, 0), np.int64),
        )
        self._links = Links(
            np.zeros((links, 0), np.int64),
            np.zeros((links, 0), np.int64),
            np.zeros((links, 0), np.bool_),
            np.zeros((links, 0), np.bool_),
        )
        self._new: list[tuple[Events, Links]] = []
        """Events that are not in the columns yet; they are appended when the columns are next read."""

    @classmethod
    def of(cls, columns: LaneColumns, links: int, exact: bool) -> Buffer:
        """Return an empty buffer for the values of some columns and of so many links."""
        return cls(columns.width, len(columns.minima), links, np.int64 if exact else np.float64)

    @property
    def events(self) -> Events:
        self._gather()
        return self._events

    @property
    def links(self) -> Links:
        self._gather()
        return self._links

    def __len__(self) -> int:
        return len(self._events.time) + sum(len(events.time) for events, _ in self._new)

    @property
    def first_time(self) -> int:
        """Return the time of the first event; the buffer must not be empty."""
        times = [self._events.time, *(events.time for events, _ in self._new)]
        return int(next(column[0] for column in times if len(column)))

    def append(self, taken: Taken) -> None:
        """Add events, sorted by time and none older than those before."""
        for link, as_floats in taken.promoted.items():
            self._promote(link, as_floats)
        self._new.append((taken.events, taken.links))

    def _gather(self) -> None:
        if self._new:
            events = [self._events, *(events for events, _ in self._new)]
            links = [self._links, *(links for _, links in self._new)]
            self._new = []
            self._events = Events(*(np.concatenate(columns, axis=-1) for columns in zip(*events, strict=True)))
            self._links = Links(*(np.concatenate(columns, axis=-1) for columns in zip(*links, strict=True)))

    def drop_before(self, time: int) -> None:
        """Drop the events older than `time`: they are in no window any more."""
        first = int(np.searchsorted(self.events.time, time))
        if first:
            self._events = Events(*(column[..., first:].copy() for column in self.events))
            self._links = Links(*(column[..., first:].copy() for column in self.links))

    def by_slot(self, lo: int, hi: int, slots: int) -> tuple[Events, Links, npt.NDArray[np.int64]]:
        """Return events `lo` to `hi` sorted by partition and then by time, and where each partition begins."""
        order, runs = order_by_slot(self.events.slot[lo:hi], slots)
        # Where all events are of one partition, they are in order already.
        which = slice(None) if int(np.diff(runs).max(initial=0)) == hi - lo else order
        events = Events(*(np.ascontiguousarray(column[..., lo:hi][..., which]) for column in self.events))
        links = Links(*(np.ascontiguousarray(column[..., lo:hi][..., which]) for column in self.links))
        return events, links, runs

    def extend_columns(self, growth: Growth) -> None:
        """Insert the columns of new lanes, and convert minima."""
        for _, count, column in growth.lanes:
            self._add_values(column, count)
        for key, as_floats in growth.floats.items():
            self.events.keys[key] = as_floats(self.events.keys[key])

    def _add_values(self, at: int, count: int) -> None:
        """Insert columns of zeros before column `at` of the values."""
        values = self.events.values
        zeros = np.zeros((count, values.shape[1]), values.dtype)
        self._events = self.events._replace(values=np.concatenate([values[:at], zeros, values[at:]]))

    def _promote(self, link: int, as_floats: Callable[[Ints], Ints]) -> None:
        """Convert the values of a link from integers to floats, as which they are compared from now on."""
        for column in (self.links.left, self.links.right):
            column[link] = as_floats(column[link])

    def keep(self, slots: npt.NDArray[np.int64], known: int) -> None:
        """Keep only the events of these partitions, and number these in the order given."""
        number = np.full(known, -1, np.int32)
        number[slots] = np.arange(len(slots), dtype=np.int32)
        renumbered = number[self.events.slot]
        kept = renumbered >= 0
        self._events = Events(*(column[..., kept] for column in self.events._replace(slot=renumbered)))
        self._links = Links(*(column[..., kept] for column in self.links))

    def save(self) -> list[Any]:
        return [*self.events, *self.links]

    def load(self, state: list[Any]) -> None:
        self._events = Events(*state[:5])
        self._links = Links(*state[5:])
