"""A cost model of this engine: nanoseconds per second of the stream, with nodes stored or searched.

A stored node keeps its matches: candidates are tried once, and what passes is written. A searched node is enumerated
for each of its users: nothing is written, but each user tries the candidates again, and again for each event that may
end one of its matches. A sequence shrinks the range of candidates, so that of k events in order only 1/k! of all
choices are candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from elsinore.planner.detection.costs.cardinality import Cardinalities, by_extensions
from elsinore.planner.detection.costs.model import Facts
from elsinore.planner.detection.pattern import Window
from elsinore.planner.detection.shape import Shape
from elsinore.planner.detection.statistics import Statistics


@dataclass(frozen=True)
class EngineNanoseconds:
    """Constants of a machine, chosen so that costs follow what `benchmarks.detection.plans` measures."""

    event: float = 3.0
    """Putting an event into its leaf."""
    range: float = 15.0
    """Finding the range of candidates for one partial match."""
    candidate: float = 1.5
    """Trying one candidate."""
    emit: float = 15.0
    """Writing a match of a stored node."""
    byte: float = 0.3
    """Keeping a byte of a stored match until it expires."""
    again: float = 12.0
    """How often a search tries the same candidate: once for each of the events that might follow."""


ROW_BYTES = 16
"""A stored match's first and last time."""
EVENT_BYTES = 4
"""The row number of an event in a stored match."""
MOST_BYTES = 1 << 26
"""The largest node that is stored."""


class Engine:
    """Costs in ns per second of the stream. A node is stored or searched, whichever is cheaper for its users."""

    name = "engine"
    by_split = True

    def __init__(self, statistics: Statistics, constants: EngineNanoseconds | None = None) -> None:
        self.constants = constants or EngineNanoseconds()
        self._cardinalities = Cardinalities(statistics, by_extensions())

    def facts(self, shape: Shape, mask: int, window: Window) -> Facts:
        return self._cardinalities.facts(shape, mask, window)

    def leaf(self, leaf: Facts) -> float:
        return leaf.per_second * self.constants.event

    def join(self, joined: Facts, left: Facts, right: Facts, triggers: float, users: int) -> float:
        return min(self.stored(joined, left, right, triggers), users * self.searched(joined, left, right))

    def stored(self, joined: Facts, left: Facts, right: Facts, triggers: float) -> float:
        """Return the cost of a node that keeps its matches: new matches of a side look for counterparts.

        A node that would need too much memory is not stored at any cost.
        """
        bytes_ = ROW_BYTES + EVENT_BYTES * joined.size
        if joined.matches * bytes_ > MOST_BYTES:
            return inf
        written = joined.per_second * (self.constants.emit + self.constants.byte * bytes_)
        return triggers * self.constants.range + self._tried(joined, left, right) + written

    def searched(self, joined: Facts, left: Facts, right: Facts) -> float:
        """Return the cost of a node for one user that enumerates it, and looks for the next event for each match."""
        ranges = (min(left.per_second, right.per_second) + joined.per_second) * self.constants.range
        return self.constants.again * (ranges + self._tried(joined, left, right))

    def _tried(self, joined: Facts, left: Facts, right: Facts) -> float:
        in_range = joined.ordered / (left.ordered * right.ordered)
        return left.per_second * right.matches * in_range * self.constants.candidate
