"""What is known of a stream when its plans are explained or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.statistics import SELECTIVITY, Statistics

Seen = Mapping[int, float]
"""Partial matches that a running engine has seen at a time, by node."""

EVENTS = 10
"""What is assumed of a type: so many events in the longest window."""

ASSUMED = (
    f"assumed: {EVENTS} events of each type in the longest window, of which {SELECTIVITY:.0%} satisfy a condition; "
    "with --events FILE they are estimated"
)


@dataclass(frozen=True)
class Known:
    statistics: Statistics | None = None
    """None where the stream is not known."""
    source: str = ASSUMED
    """Where the statistics are from, in words."""
    seen: Mapping[int, Seen] = field(default_factory=dict)
    """By number of the share set, what its engine has seen."""

    def of(self, patterns: Sequence[Pattern]) -> Statistics:
        """Return the statistics for some patterns on one clock; unknown ones make the longest window a second."""
        if self.statistics is not None:
            return self.statistics
        longest = max(pattern.window.length for pattern in patterns)
        types = {event.type for pattern in patterns for event in pattern.events}
        if patterns[0].window.clock == "time":
            return Statistics(dict.fromkeys(types, EVENTS / longest))
        return Statistics(dict.fromkeys(types, min(EVENTS, longest / len(types))), total=longest)
