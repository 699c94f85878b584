"""Statistics of a stream, counted while it flows: events and bursts by type.

Where queries split the stream, a burst belongs to one partition: bursts of different partitions are taken in apart.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.streams.statistics_numba_fns import count_events
from elsinore.actors.windows.panes import NEVER
from elsinore.planner.costs.drift import Observed
from elsinore.planner.plans.model import Plan
from elsinore.planner.time.clock import Clock

Slots = npt.NDArray[np.int32]


class StreamStatistics:
    """The counts since the last `take`."""

    def __init__(self, clock: Clock, window: Fraction | None = None) -> None:
        """Count by partition, with `window` seconds for the longest window; None: over the whole stream."""
        self._clock = clock
        self._span = max(1, clock.ticks(window)) if window is not None else 0
        self._names: dict[str, int] = {}
        """Numbers of types; the dictionaries of batches may number them differently."""
        self._last = np.zeros(0, np.int64)
        self._seen = np.zeros(0, np.int64)
        self._counts, self._bursts = Counter[str](), Counter[str]()
        self._cells = 0
        self._begun: int | None = None
        self._until = 0

    @classmethod
    def of(cls, plan: Plan, clock: Clock) -> StreamStatistics:
        """Create statistics by partition where all queries split the stream alike, else of the whole stream."""
        ways = {query.partition for query in plan.queries}
        split = len(ways) == 1 and () not in ways
        return cls(clock, max(query.query.within.length for query in plan.queries) if split else None)

    def note(self, types: pa.DictionaryArray, times: pa.Array, slots: Slots | None = None) -> None:
        """Count events sorted by time, none older than those before; `slots`: the partition of each, -1 for none."""
        if not len(types):
            return
        if slots is None or not self._span:
            slots = np.zeros(0, np.int32)
        self._know(int(slots.max(initial=0)) + 1)
        names = types.dictionary.to_pylist()
        numbers = np.array([self._names.setdefault(name, len(self._names)) for name in names], np.int64)
        counts, bursts = np.zeros((2, len(self._names)), np.int64)
        codes, ticks = types.indices.to_numpy(), times.to_numpy()
        if (numbers != np.arange(len(numbers))).any():
            codes = numbers[codes]
        self._cells += count_events(codes, ticks, slots, self._span, self._last, self._seen, counts, bursts)
        for found, some in ((self._counts, counts), (self._bursts, bursts)):
            found.update({name: int(some[number]) for name, number in self._names.items() if some[number]})
        self._begun = int(ticks[0]) if self._begun is None else self._begun
        self._until = int(ticks[-1])

    def _know(self, slots: int) -> None:
        missing = slots - len(self._last)
        if missing > 0:
            self._last = np.concatenate([self._last, np.full(missing, -1, np.int64)])
            self._seen = np.concatenate([self._seen, np.full(missing, NEVER, np.int64)])

    def keep(self, slots: npt.NDArray[np.int64]) -> None:
        """Keep these partitions alone, in this order."""
        if not self._span:
            return
        self._know(int(slots.max(initial=-1)) + 1)
        self._last, self._seen = self._last[slots], self._seen[slots]

    def read_and_reset(self) -> Observed | None:
        """Return the counts since the last call and reset them; return None where no time has passed."""
        if self._begun is None or self._until == self._begun:
            return None
        seconds = Fraction(self._until - self._begun, self._clock.ticks_per_second)
        seen = Observed(seconds, dict(self._counts), dict(self._bursts), self._cells)
        self._counts, self._bursts, self._cells, self._begun = Counter(), Counter(), 0, self._until
        return seen
