"""Changes of the rates of event types, seen in the types of events alone, before any of them is taken in."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.planner.detection.statistics import DRIFT, FEW_EVENTS

Amounts = npt.NDArray[np.float64]

BLOCK_EVENTS = 1 << 14
"""Events whose types are counted together."""


class Changes:
    """The shares that types have of a stream, since they changed last.

    A plan is changed between slices of a stream alone, and a slice may be a whole batch. So it has to end where the
    rates change: counting types takes about a nanosecond an event, much less than a plan that does not fit.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._seen = np.zeros(len(self._places) + 1)
        """Events of each type since the last change, and of all other types."""

    def steady(self, types: pa.DictionaryArray, most: int) -> tuple[int, bool]:
        """Return how many of the first events have the same rates, at most so many, and if these differ from before.

        The block in which rates change may be of both kinds, so that the next one is what later ones are compared with.
        """
        most, changed = min(most, len(types)), False
        codes = types.indices.to_numpy()
        places = np.array([self._places.get(name, len(self._places)) for name in types.dictionary.to_pylist()])
        for lo in range(0, most, BLOCK_EVENTS):
            found = np.bincount(codes[lo : min(lo + BLOCK_EVENTS, most)], minlength=len(places))
            block = np.bincount(places, found, minlength=len(self._seen)).astype(np.float64)
            if self._is_like(block):
                self._seen += block
            elif lo:
                return lo, changed
            else:
                self._seen, changed = np.zeros_like(self._seen), True
        return most, changed

    def _is_like(self, block: Amounts) -> bool:
        """Return whether no type has a share that differs by more than a factor of `DRIFT` from that so far."""
        seen, found = self._seen.sum(), block.sum()
        if not seen or not found:
            return True
        fewer = min(seen, found)
        before, now = self._seen * (fewer / seen) + FEW_EVENTS, block * (fewer / found) + FEW_EVENTS
        return bool(np.all(now < DRIFT * before) and np.all(before < DRIFT * now))
