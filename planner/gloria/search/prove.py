"""Branch and bound for the cheapest of all plans, with limits on the number of queries.

Choosing strands that many queries then use is a facility location problem, so no fast exact method is known. Groups of
queries that have no strand in common are searched one by one. In a group, one query after the other takes each of its
plans. The bound: the remaining queries cost at least what each would pay alone if every strand not taken yet were paid
in equal parts by all queries that could still take it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from elsinore.planner.gloria.search.choices import Choice, lonely
from elsinore.planner.gloria.search.segments import Segment, Space
from elsinore.planner.gloria.templates.template import bits

Floats = npt.NDArray[np.float64]

QUERIES = 10
"""Most queries of a group; larger groups are not searched."""
PLANS = 250
"""Most plans of a query; six stages have 233."""
STEPS = 3000
"""Most steps of the search, for all groups together."""


@dataclass(frozen=True)
class Way:
    """A plan of one query."""

    choice: Choice
    strands: frozenset[int]
    saves: float


def proved(space: Space, choices: Sequence[Choice]) -> tuple[list[Choice], bool]:
    """Return the cheapest plan found, no dearer than the given one, and whether every other plan has been ruled out."""
    found, certain, steps = list(choices), True, STEPS
    for group in _groups(space):
        ways = [list(islice(_ways(space, query, 0), PLANS)) for query in group] if len(group) <= QUERIES else []
        if not ways or any(len(some) == PLANS for some in ways):
            certain = False
            continue
        search = _Search(space, group, ways, steps)
        for query, choice in zip(group, search.best([found[query] for query in group]), strict=True):
            found[query] = choice
        steps = search.left
        certain &= steps > 0
    return found, certain


def _groups(space: Space) -> list[list[int]]:
    """Group the queries that could use the same strand, directly or through other queries."""
    groups: list[int] = []
    for who in space.strands.queries:
        touching = [group for group in groups if group & who]
        groups = [group for group in groups if not group & who]
        groups.append(who | sum(touching))
    return [list(bits(group)) for group in groups if group.bit_count() > 1]


class _Search:
    """A search with arrays: rows are the plans of all queries of a group, query after query; columns are strands."""

    def __init__(self, space: Space, group: list[int], ways: list[list[Way]], steps: int) -> None:
        self._group, self._ways, self.left = group, ways, steps
        rows = [way for some in ways for way in some]
        strands = sorted(frozenset[int]().union(*(way.strands for way in rows)))
        self._takes = np.array([[strand in way.strands for strand in strands] for way in rows], np.float64)
        self._saves = np.array([way.saves for way in rows])
        self._first = np.cumsum([0, *map(len, self._ways)])
        self._cost = np.array([space.strands.cost[strand] for strand in strands])
        able = [[space.strands.queries[strand] >> query & 1 for strand in strands] for query in group]
        left = np.cumsum(np.array(able)[::-1], axis=0)[::-1]
        self._fair = self._cost / np.maximum(left, 1)
        """By depth: the cost of each strand, divided among the remaining queries that could take it."""
        self._saved = float("-inf")
        self._best: list[Choice] = []

    def best(self, known: list[Choice]) -> list[Choice]:
        self._best, self._saved = known, self._value(known)
        self._descend([], np.ones(len(self._cost)), 0.0)
        return self._best

    def _value(self, choices: Sequence[Choice]) -> float:
        rows = [
            self._first[depth] + next(number for number, way in enumerate(ways) if way.choice == choice)
            for depth, (ways, choice) in enumerate(zip(self._ways, choices, strict=True))
        ]
        return float(self._saves[rows].sum() - self._cost @ self._takes[rows].max(axis=0))

    def _descend(self, taken: list[Way], free: Floats, saved: float) -> None:
        """Try the plans of the next query; `free` is 1 for a strand that no query has taken, else 0."""
        depth = len(taken)
        if depth == len(self._group):
            self._keep([way.choice for way in taken], saved)
            return
        if not self.left:
            return
        self.left -= 1
        if saved + self._hope(depth, free) <= self._saved:
            return
        rows = slice(self._first[depth], self._first[depth + 1])
        gains = self._saves[rows] - self._takes[rows] @ (self._cost * free)
        for number in np.argsort(-gains, kind="stable"):
            left = free * (1 - self._takes[rows][number])
            self._descend([*taken, self._ways[depth][number]], left, saved + float(gains[number]))

    def _hope(self, depth: int, free: Floats) -> float:
        """Return the most that the remaining queries can save."""
        first = self._first[depth]
        worth = self._saves[first:] - self._takes[first:] @ (self._fair[depth] * free)
        return float(np.maximum.reduceat(worth, self._first[depth:-1] - first).sum())

    def _keep(self, choices: list[Choice], saved: float) -> None:
        if saved > self._saved and not lonely(choices):
            self._best, self._saved = choices, saved


def _ways(space: Space, query: int, place: int) -> Iterator[Way]:
    """Yield all plans of a query from a place on."""
    if place == len(space.apart[query]):
        yield Way((), frozenset(), 0.0)
        return
    yield from _ways(space, query, place + 1)
    for run in space.runs[query]:
        if run.first == place:
            for segment in run.segments:
                for rest in _ways(space, query, segment.last):
                    yield _before(segment, rest)


def _before(segment: Segment, rest: Way) -> Way:
    return Way((segment, *rest.choice), rest.strands | frozenset(segment.strands), rest.saves + segment.saves)
