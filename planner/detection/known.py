"""What is known of a stream when its plans are explained or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan
from elsinore.planner.detection.statistics import SELECTIVITY, Statistics

Seen = Mapping[int, float]
"""By node, matches that a window had on average."""

EVENTS = 10
"""What is assumed of a type: so many events in the longest window."""

ASSUMED = (
    f"assumed: {EVENTS} events of each type in the longest window, of which {SELECTIVITY:.0%} satisfy a condition; "
    "with --events FILE they are estimated"
)


class Known:
    """What is assumed of a stream of which no event is known."""

    source = ASSUMED
    """Where the statistics are from, in words."""

    def of(self, patterns: Sequence[Pattern]) -> Statistics:
        """Return the statistics for the patterns of a set, on one clock; the longest window is a second."""
        longest = max(pattern.window.length for pattern in patterns)
        types = {event.type for pattern in patterns for event in pattern.events}
        if patterns[0].window.clock == "time":
            return Statistics(dict.fromkeys(types, EVENTS / longest))
        return Statistics(dict.fromkeys(types, min(EVENTS, longest / len(types))), total=longest)

    def seen(self, plan: DetectionPlan) -> Seen:
        """Return what was seen of the nodes of a plan."""
        return {}
