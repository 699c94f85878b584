"""Statistics that graph actors report of a stream, added up for the whole stream."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from elsinore.planner.costs.drift import Observed


class Gathering:
    """Statistics of one stream. An engine sees its own part of a route. A batch that is reported again counts once."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}
        """By place, the last batch that was reported."""
        self._seen: dict[tuple[int, int], Observed] = {}
        """By place and engine, what it has seen since its route was last taken."""

    def add(self, place: int, batch: int, seen: Sequence[Observed | None]) -> None:
        """Add what each engine saw since the last batch, None where no time passed."""
        if batch <= self._told.get(place, -1):
            return
        self._told[place] = batch
        for number, one in enumerate(seen):
            if one is not None:
                before = self._seen.get((place, number))
                self._seen[place, number] = one if before is None else before.then(one)

    def read_and_reset(self, least: Sequence[Fraction]) -> list[Observed | None]:
        """Return and reset what all engines saw, by route; None where that spans less than its `least` seconds."""
        return [self._taken(route, len(least), seconds) for route, seconds in enumerate(least)]

    def _taken(self, route: int, routes: int, least: Fraction) -> Observed | None:
        """Do as `take` for one route. Engines are numbered by range and, within a range, by route."""
        shards = [key for key in self._seen if key[1] % routes == route]
        if not shards:
            return None
        whole = reduce(Observed.with_shard, (self._seen[key] for key in shards))
        if whole.seconds < least:
            return None
        for key in shards:
            del self._seen[key]
        return whole
