"""Observations of a stream, and whether it has changed so much that its plan should be reconsidered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from elsinore.planner.gloria.costs.statistics import Statistics


@dataclass(frozen=True)
class Observed:
    """A span of a stream, as observed by one shard or summed over several."""

    seconds: Fraction
    counts: Mapping[str, int]
    """Events by type."""
    bursts: Mapping[str, int]
    """By type, runs of events of one partition, with no event between them of another type that some query names."""
    cells: int = 0
    """Where the stream is split: the partitions with events in each of the longest windows, summed over these."""

    def with_shard(self, other: Observed) -> Observed:
        """Return the sum with another shard's observation of the same span."""
        return Observed(
            max(self.seconds, other.seconds),
            Counter(self.counts) + Counter(other.counts),
            Counter(self.bursts) + Counter(other.bursts),
            self.cells + other.cells,
        )

    def then(self, later: Observed) -> Observed:
        """Return the sum with the same shard's observation of the span after this one."""
        return Observed(
            self.seconds + later.seconds,
            Counter(self.counts) + Counter(later.counts),
            Counter(self.bursts) + Counter(later.bursts),
            self.cells + later.cells,
        )

    def save(self) -> list[Any]:
        return [self.seconds.numerator, self.seconds.denominator, dict(self.counts), dict(self.bursts), self.cells]

    @classmethod
    def read(cls, saved: list[Any]) -> Observed:
        # Saved states from before cells were counted lack the last value.
        numerator, denominator, counts, bursts, *cells = saved
        return cls(Fraction(numerator, denominator), counts, bursts, *cells)

    def per_window(self, within: Fraction, parts: int = 1) -> Statistics:
        """Return |E| of a partition in the longest window, `within` in seconds; 0 for types that were not seen.

        Of the partitions of the stream, one in `parts` was observed.
        """
        windows = self.cells * min(Fraction(1), self.seconds / within) if self.cells else self.seconds / within
        counts = {name: float(count / windows) for name, count in self.counts.items()}
        partitions = max(1.0, float(parts * self.cells / max(Fraction(1), self.seconds / within)))
        return Statistics(counts, 0.0, {name: self.length(name) for name in counts}, partitions)

    def length(self, name: str) -> float:
        """Return the mean length of a type's bursts, in events."""
        return self.counts.get(name, 0) / max(1, self.bursts.get(name, 0))


def drifted(before: Observed, now: Observed, threshold: float) -> frozenset[str]:
    """Return the types whose frequency or mean burst length differs from before by more than the factor `threshold`.

    One event more or less never counts as drift, however rare a type is.
    """
    span = now.cells / before.cells if now.cells and before.cells else float(now.seconds / before.seconds)
    names = before.counts.keys() | now.counts.keys()
    often = {name: (before.counts.get(name, 0) * span, now.counts.get(name, 0)) for name in names}
    long = {name: (before.length(name), now.length(name)) for name in before.counts.keys() & now.counts.keys()}
    return frozenset(name for told in (often, long) for name, (old, new) in told.items() if _far(old, new, threshold))


def _far(old: float, new: float, threshold: float) -> bool:
    return max(old + 1, new + 1) > threshold * min(old + 1, new + 1)
