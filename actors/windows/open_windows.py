"""Windows of panes over a buffer of events: which of them are over, and which events are still needed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.windows.buffer import Buffer
from elsinore.planner.time.windows import Windows


class OpenWindows:
    """The open windows of panes over a buffer, from which events that no later window needs are dropped."""

    def __init__(self, windows: Windows, buffer: Buffer) -> None:
        self.windows = windows
        self.buffer = buffer
        self.next: int | None = None

    def until(self, time: int) -> Iterator[int]:
        """Yield the start of each window that ends no later than `time`, once, while the buffer has all its events."""
        while len(self.buffer):
            first = self._first(self.buffer.first_time)
            self.next = first if self.next is None else max(self.next, first)
            start = self.next * self.windows.slide
            if start + self.windows.within > time:
                return
            yield start
            self.next += 1
            self.buffer.drop_before(start + self.windows.slide)

    def rest(self) -> Iterator[int]:
        """Yield the start of each window that has events and was not over yet."""
        if len(self.buffer):
            yield from self.until(int(self.buffer.events.time[-1]) + self.windows.within + self.windows.slide)

    def _first(self, time: int) -> int:
        """Return the number of the first window that contains a time."""
        return -((self.windows.within - 1 - time) // self.windows.slide)

    def events(self, start: int, slots: int) -> tuple[Events, Links, npt.NDArray[np.int64]] | None:
        """Return the events of a window by partition, and where each partition begins; None if there are none."""
        times = self.buffer.events.time
        lo, hi = (int(np.searchsorted(times, bound)) for bound in (start, start + self.windows.within))
        return self.buffer.by_slot(lo, hi, slots) if lo < hi else None
