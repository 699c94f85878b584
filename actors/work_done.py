"""What the parts of an engine have done so far: their seconds, bursts and stored matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Stopwatch:
    """The seconds that some work took, which are counted while it is done."""

    seconds: float = 0.0

    def of(self, step: Callable[[], T]) -> T:
        """Return what a step returns."""
        began = perf_counter()
        try:
            return step()
        finally:
            self.seconds += perf_counter() - began

    def each(self, items: Iterator[T]) -> Iterator[T]:
        """Yield what an iterator yields; only what it does for that is counted, not what is done with it."""
        while True:
            found = self.of(lambda: next(items, None))
            if found is None:
                return
            yield found


@dataclass(frozen=True)
class WorkDone:
    """The work of one share set, or of counters of a query that share nothing."""

    members: tuple[tuple[str, int], ...]
    """By member, the name of its query and the number of its counter."""
    seconds: float
    totals: tuple[int, int, int] = (0, 0, 0)
    """Numbers of bursts decided about, of bursts shared, and of snapshots."""
    stored: Mapping[str, int] = field(default_factory=dict)
    """By identity of a node of a plan of detection, the matches that were stored of it."""
