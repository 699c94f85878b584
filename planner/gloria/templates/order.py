"""A topological order of stages."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise


def ordered(count: int, routes: Sequence[Sequence[int]]) -> list[int]:
    """Return the stages by number, each behind those that lead to it; a cycle is broken at the lowest number left."""
    behind: list[set[int]] = [set() for _ in range(count)]
    for route in routes:
        for before, after in pairwise(route):
            behind[before].add(after)
    waits = [0] * count
    for some in behind:
        for stage in some:
            waits[stage] += 1
    ready = [stage for stage in range(count) if not waits[stage]]
    heapify(ready)
    left = iter(range(count))
    placed: dict[int, None] = {}
    while len(placed) < count:
        stage = heappop(ready) if ready else next(stage for stage in left if stage not in placed)
        if stage in placed:
            continue
        placed[stage] = None
        for after in behind[stage]:
            waits[after] -= 1
            if not waits[after]:
                heappush(ready, after)
    return list(placed)
