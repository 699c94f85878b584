"""What a stream was like, and whether it has changed so much that its plan should be looked at anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from elsinore.planner.gloria.costs.statistics import Statistics


@dataclass(frozen=True)
class Observed:
    """A span of a stream: what one shard saw of it, or several added up."""

    seconds: Fraction
    counts: Mapping[str, int]
    """Events by type."""
    bursts: Mapping[str, int]
    """By type, runs of events with none of another type between them that some query names, of the same partition."""
    cells: int = 0
    """Where the stream is split: in how many of the longest windows how many partitions had events, added up."""

    def with_shard(self, other: Observed) -> Observed:
        """Of the same span: shards see it at once."""
        return Observed(
            max(self.seconds, other.seconds),
            Counter(self.counts) + Counter(other.counts),
            Counter(self.bursts) + Counter(other.bursts),
            self.cells + other.cells,
        )

    def then(self, later: Observed) -> Observed:
        """Of the same shard: one span after the other."""
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
        # Without the last, where it was saved before anybody counted by partition.
        numerator, denominator, counts, bursts, *cells = saved
        return cls(Fraction(numerator, denominator), counts, bursts, *cells)

    def per_window(self, within: Fraction) -> Statistics:
        """|E| of a partition in a window of so many seconds, the longest one; none of a type that was not seen."""
        windows = self.cells * min(Fraction(1), self.seconds / within) if self.cells else self.seconds / within
        counts = {name: float(count / windows) for name, count in self.counts.items()}
        return Statistics(counts, 0.0, {name: self.length(name) for name in counts})

    def length(self, name: str) -> float:
        """The mean length of a type's bursts."""
        return self.counts.get(name, 0) / max(1, self.bursts.get(name, 0))


def drifted(before: Observed, now: Observed, threshold: float) -> frozenset[str]:
    """The types that come more than so many times as often as before, or as seldom, or in bursts that differ so much.

    One event more or less never counts as drift, however rare a type is.
    """
    span = now.cells / before.cells if now.cells and before.cells else float(now.seconds / before.seconds)
    names = before.counts.keys() | now.counts.keys()
    often = {name: (before.counts.get(name, 0) * span, now.counts.get(name, 0)) for name in names}
    long = {name: (before.length(name), now.length(name)) for name in before.counts.keys() & now.counts.keys()}
    return frozenset(name for told in (often, long) for name, (old, new) in told.items() if _far(old, new, threshold))


def _far(old: float, new: float, threshold: float) -> bool:
    return max(old + 1, new + 1) > threshold * min(old + 1, new + 1)
