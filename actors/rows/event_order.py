"""The order of matches that several engines have found: by their events, from left to right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class EventOrder:
    """What matches with the same end and start are compared by: numbers of events, in the order of the columns.

    Matches of one engine are in order already, so it is read only where matches of several have to be merged.
    """

    offsets: Numbers
    """Where the numbers of each match begin, and the end of the last."""
    numbers: Numbers
    """By match, its events as numbers in the columns below; negative where none is bound, and behind each list."""
    times: Ints
    """By event, its time in ticks."""
    arrivals: Ints
    """By event, a number that is greater for events of the same time that arrived later."""

    def take(self, rows: Ints) -> EventOrder:
        """Return the order of these matches, with the same columns of events."""
        counts = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], counts)
        return replace(self, offsets=offsets, numbers=self.numbers[places])
