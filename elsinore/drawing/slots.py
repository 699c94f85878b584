"""The slots of a layered layout, and the search for their order in each column and their heights."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

SLOT_GAP = 14
"""Space between two slots of a column."""
SWEEPS = 8


@dataclass(eq=False)
class Slot:
    rank: int
    width: float
    height: float
    anchor: float
    """Distance of its edges below its top."""
    weight: float = 1
    """Weight of keeping these edges straight."""
    before: list[Slot] = field(default_factory=list)
    behind: list[Slot] = field(default_factory=list)
    y: float = 0
    """Height of its anchor."""
    place: int = 0
    """Index in its column."""

    @property
    def top(self) -> float:
        return self.y - self.anchor

    @property
    def bottom(self) -> float:
        return self.top + self.height


Column = list[Slot]


def chained(slots: list[Slot]) -> list[Slot]:
    """Link the slots of an edge as neighbours, and return them."""
    for left, right in pairwise(slots):
        left.behind.append(right)
        right.before.append(left)
    return slots


def columns_of(slots: Iterable[Slot]) -> list[Column]:
    """Return the slots by rank, ordered for few crossings, at heights near those of their neighbours."""
    by_rank: dict[int, Column] = {}
    for slot in slots:
        by_rank.setdefault(slot.rank, []).append(slot)
    columns = [by_rank[rank] for rank in sorted(by_rank)]
    _uncross(columns)
    _straighten(columns)
    return columns


def _number(columns: list[Column]) -> None:
    for column in columns:
        for place, slot in enumerate(column):
            slot.place = place


def _uncross(columns: list[Column]) -> None:
    """Sort each column by its neighbours' places, several times, and keep the order with the fewest crossings."""
    _number(columns)
    best, fewest = [list(column) for column in columns], _crossings(columns)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        _sort(columns, to_the_right=sweep % 2 == 0)
        if (crossings := _crossings(columns)) < fewest:
            best, fewest = [list(column) for column in columns], crossings
    columns[:] = best
    _number(columns)


def _sort(columns: list[Column], to_the_right: bool) -> None:
    for column in columns if to_the_right else reversed(columns):
        column.sort(key=lambda slot: _barycentre(slot, slot.before if to_the_right else slot.behind))
        _number([column])


def _barycentre(slot: Slot, neighbours: list[Slot]) -> float:
    if not neighbours:
        return slot.place
    return sum(other.place for other in neighbours) / len(neighbours)


def _crossings(columns: list[Column]) -> int:
    found = 0
    for column in columns:
        ends: list[int] = []
        for slot in column:
            targets = [other.place for other in slot.behind]
            found += sum(len(ends) - bisect_right(ends, target) for target in targets)
            for target in targets:
                insort(ends, target)
    return found


def _straighten(columns: list[Column]) -> None:
    for column in columns:
        _set_heights(column, [0.0] * len(column))
    for sweep in range(2 * SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            _set_heights(column, [_wanted(slot) for slot in column])


def _wanted(slot: Slot) -> float:
    neighbours = [*slot.before, *slot.behind]
    if not neighbours:
        return slot.y
    return sum(other.y * other.weight for other in neighbours) / sum(other.weight for other in neighbours)


def _set_heights(column: Column, wanted: list[float]) -> None:
    """Set the heights in order that are nearest to the wanted ones, by least squares (pool adjacent violators)."""
    offsets = [0.0]
    for above, below in pairwise(column):
        offsets.append(offsets[-1] + above.height - above.anchor + SLOT_GAP + below.anchor)
    pools: list[tuple[float, float, int]] = []
    for slot, goal, offset in zip(column, wanted, offsets, strict=True):
        mean, weight, count = goal - offset, slot.weight, 1
        while pools and pools[-1][0] > mean:
            other, heavy, many = pools.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + many
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for slot, mean, offset in zip(column, means, offsets, strict=True):
        slot.y = mean + offset
