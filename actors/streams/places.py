"""The clock of windows that count events: the place of an event is how many events of the stream have an earlier time.

Events of equal time have one place, and a later event has a higher one. So places order events as their times do, and a
graph that is given places instead of times counts events where it would count time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.streams.places_numba_fns import place_events

Ticks = npt.NDArray[np.int64]


class Places:
    """The events of a stream, counted by time."""

    def __init__(self) -> None:
        self.passed = 0
        """Number of events older than the watermark: no later event has a lower place."""
        self._waiting: Ticks = np.zeros(0, np.int64)
        """The times of the other events, in order."""

    @property
    def noted(self) -> int:
        """The number of all events so far."""
        return self.passed + len(self._waiting)

    def note(self, times: Ticks, watermark: int) -> None:
        """Count the events of a batch, in any order; those older than the watermark are late, and do not count."""
        self._waiting = np.sort(np.concatenate([self._waiting, times[times >= watermark]]), kind="stable")

    def of(self, times: Ticks) -> Ticks:
        """Return the places of events, sorted by time, that were noted and that the watermark had not passed before."""
        places = np.empty(len(times), np.int64)
        place_events(self._waiting, times, self.passed, places)
        return places

    def advance(self, watermark: int) -> None:
        """Note that no event older than the watermark will come."""
        passed = int(np.searchsorted(self._waiting, watermark))
        self.passed += passed
        self._waiting = self._waiting[passed:]

    def save(self) -> dict[str, Any]:
        return {"passed": self.passed, "waiting": self._waiting}

    def load(self, state: dict[str, Any]) -> None:
        self.passed, self._waiting = state["passed"], state["waiting"]
