"""The cheapest of all plans, by branch and bound, for as many queries as that can be done for.

To choose strands that many queries then use is a facility location problem, so no fast way is known that never errs.
Groups of queries that have no strand in common are looked at one by one. Of a group, one query after the other takes
each of its plans. What is left costs at least what each query would pay on its own if every strand that nobody has
taken yet were paid in equal parts by all who still could take it.
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
"""Of a group; larger ones are not looked at."""
PLANS = 250
"""Of a query: six stages have 233."""
STEPS = 3000
"""Of the search, for all groups."""


@dataclass(frozen=True)
class Way:
    """A plan of one query."""

    choice: Choice
    strands: frozenset[int]
    saves: float


def proved(space: Space, choices: Sequence[Choice]) -> tuple[list[Choice], bool]:
    """The cheapest plan, no dearer than a given one; and whether it is known to be."""
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
    """Queries that could use the same strand, directly or by way of others."""
    groups: list[int] = []
    for who in space.strands.queries:
        touching = [group for group in groups if group & who]
        groups = [group for group in groups if not group & who]
        groups.append(who | sum(touching))
    return [list(bits(group)) for group in groups if group.bit_count() > 1]


class _Search:
    """Rows of arrays are the ways of all queries of a group, one query's behind the other's; columns are strands."""

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
        """By depth: what is left for each of the queries that still could take a strand."""
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
        """`free`: 1 for a strand that nobody has taken, else 0."""
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
        """What the queries that are left can save at most."""
        first = self._first[depth]
        worth = self._saves[first:] - self._takes[first:] @ (self._fair[depth] * free)
        return float(np.maximum.reduceat(worth, self._first[depth:-1] - first).sum())

    def _keep(self, choices: list[Choice], saved: float) -> None:
        if saved > self._saved and not lonely(choices):
            self._best, self._saved = choices, saved


def _ways(space: Space, query: int, place: int) -> Iterator[Way]:
    """All plans of a query from a place on."""
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
