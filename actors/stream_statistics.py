"""What a stream is like, counted while it flows: events and bursts by type."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa

from actors.statistics_numba_fns import count
from planner.clock import Clock
from planner.drift import Observed


class StreamStatistics:
    """From one look at it to the next."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts, self._bursts = Counter[str](), Counter[str]()
        self._last: str | None = None
        """The type of the last event: its burst may go on."""
        self._begun: int | None = None
        self._until = 0

    def note(self, types: pa.DictionaryArray, times: pa.Array) -> None:
        """Events sorted by time, none older than those before."""
        if not len(types):
            return
        names, codes = types.dictionary.to_pylist(), types.indices.to_numpy()
        events, bursts = np.zeros((2, len(names)), np.int64)
        count(codes, names.index(self._last) if self._last in names else -1, events, bursts)
        for found, counted in ((self._counts, events), (self._bursts, bursts)):
            found.update({name: number for name, number in zip(names, counted.tolist(), strict=True) if number})
        self._last = names[codes[-1]]
        self._begun = times[0].as_py() if self._begun is None else self._begun
        self._until = times[-1].as_py()

    def take(self) -> Observed | None:
        """What was seen since the last look; nothing where no time has passed."""
        if self._begun is None or self._until == self._begun:
            return None
        seconds = Fraction(self._until - self._begun, self._clock.ticks_per_second)
        seen = Observed(seconds, dict(self._counts), dict(self._bursts))
        self._counts, self._bursts, self._begun = Counter(), Counter(), self._until
        return seen
