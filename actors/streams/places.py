"""The clock of windows that count events: the place of an event is how many events of the stream have an earlier time.

Events of equal time have one place, and a later event has a higher one. So places order events as their times do, and a
graph that is given places instead of times counts events where it would count time.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.streams.places_numba_fns import place_events
from elsinore.actors.streams.reorder import START

Ticks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Beginning:
    """Where the count of a stream's events begins: the stream had so many, all of them older than a time."""

    count: int
    time: int


class Places:
    """The events of a stream, counted by time.

    A count that begins in the middle of a stream gives the events that are not older than its beginning the places that
    they have in the whole stream. Older ones that are still to come have the last place before these; they are counted,
    but no window may begin with them, because the older ones that came before are not known.
    """

    def __init__(self, beginning: Beginning | None = None) -> None:
        self._beginning = beginning if beginning and beginning.count else None
        self.passed = self._beginning.count if self._beginning else 0
        """Number of events older than the watermark: no later event has a lower place."""
        self._waiting: list[Ticks] = []
        """The times of the other events, in order, in parts that are not empty: to join them takes as long as to place
        their events."""

    @property
    def first(self) -> int:
        """Return the first place that a window may begin at."""
        return self._beginning.count if self._beginning else START

    @property
    def noted(self) -> int:
        """Return the number of all events so far."""
        return self.passed + sum(map(len, self._waiting))

    def note(self, times: Ticks, watermark: int) -> None:
        """Count the events of a batch, in any order; those older than the watermark are late, and do not count."""
        if not len(times):
            return
        # Most batches are in order: to look costs a third of sorting them once more.
        if not np.all(times[:-1] <= times[1:]):
            times = np.sort(times, kind="stable")
        if times[0] < watermark:
            times = times[int(np.searchsorted(times, watermark)) :]
        if self._waiting and len(times) and times[0] < self._waiting[-1][-1]:
            self._waiting = [_read_only(np.sort(np.concatenate([*self._waiting, times]), kind="stable"))]
        elif len(times):
            self._waiting.append(_read_only(times))
        if self._beginning is not None:
            older = int(np.count_nonzero(times < self._beginning.time))
            self._beginning = Beginning(self._beginning.count + older, self._beginning.time)

    def of(self, times: Ticks) -> Ticks:
        """Return the places of events, sorted by time, that were noted and that the watermark had not passed before."""
        places, passed, lo = np.empty(len(times), np.int64), self.passed, 0
        for part in self._waiting:
            hi = int(np.searchsorted(times, part[-1], side="right"))
            place_events(part, times[lo:hi], passed, places[lo:hi])
            passed, lo = passed + len(part), hi
        places[lo:] = passed
        if self._beginning is not None:
            places[times < self._beginning.time] = self._beginning.count - 1
        return places

    def advance(self, watermark: int) -> None:
        """Note that no event older than the watermark will come."""
        while self._waiting and self._waiting[0][-1] < watermark:
            self.passed += len(self._waiting.pop(0))
        if self._waiting:
            passed = int(np.searchsorted(self._waiting[0], watermark))
            self.passed += passed
            # A copy, so that these few do not keep all times of a batch in memory.
            self._waiting[0] = _read_only(self._waiting[0][passed:].copy()) if passed else self._waiting[0]

    def save(self) -> dict[str, Any]:
        beginning = None if self._beginning is None else list(astuple(self._beginning))
        waiting = np.concatenate([np.zeros(0, np.int64), *self._waiting])
        return {"passed": self.passed, "waiting": waiting, "beginning": beginning}

    def load(self, state: dict[str, Any]) -> None:
        self.passed = state["passed"]
        self._waiting = [_read_only(state["waiting"])] if len(state["waiting"]) else []
        beginning = state.get("beginning")
        self._beginning = None if beginning is None else Beginning(*beginning)


def _read_only(times: Ticks) -> Ticks:
    """Return a view that cannot be written, as those of Arrow's columns, so that the kernel is compiled once."""
    times = times.view()
    times.flags.writeable = False
    return times
