"""What graph actors have seen of a stream, added up for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from elsinore.planner.costs.drift import Observed


class Gathering:
    """Of one stream. An engine sees of a route what is its own; a batch that is told of again counts once."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}
        """By place, the last batch that was told of."""
        self._seen: dict[tuple[int, int], Observed] = {}
        """By place and engine, since its route was last taken."""

    def add(self, place: int, batch: int, seen: Sequence[Observed | None]) -> None:
        """By engine, what it saw since the last batch; nothing where no time passed."""
        if batch <= self._told.get(place, -1):
            return
        self._told[place] = batch
        for number, one in enumerate(seen):
            if one is not None:
                before = self._seen.get((place, number))
                self._seen[place, number] = one if before is None else before.then(one)

    def take(self, least: Sequence[Fraction]) -> list[Observed | None]:
        """By route, what all have seen since it was last taken, where that is no shorter than so many seconds."""
        return [self._taken(route, len(least), seconds) for route, seconds in enumerate(least)]

    def _taken(self, route: int, routes: int, least: Fraction) -> Observed | None:
        """Engines are told by range and route."""
        shards = [key for key in self._seen if key[1] % routes == route]
        if not shards:
            return None
        whole = reduce(Observed.with_shard, (self._seen[key] for key in shards))
        if whole.seconds < least:
            return None
        for key in shards:
            del self._seen[key]
        return whole
