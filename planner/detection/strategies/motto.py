"""MOTTO as we read it: patterns are decomposed into parts, equal parts are merged, and nothing is reordered.

The paper describes MOTTO in a sentence (Section 6.2.2). Figures that show it have to say that they show our reading.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

from elsinore.planner.detection.search.opportunities import Occurrences
from elsinore.planner.detection.search.solution import Neighbour, Solution
from elsinore.planner.detection.search.spaces import Local, TreeSpace
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.strategies.written import nested_tree


def merge_and_decompose(request: Request) -> Trees:
    """Decompose patterns into subpatterns and merge equal ones, where that saves cost: SH-MDT (MOTTO).

    Our reading: candidates are all common subpatterns, of neighbours in the text or not (decomposition), each
    evaluated as written; equal ones are merged. The directed Steiner tree of least cost is approximated greedily: the
    candidate that saves most is added until none saves anything. Candidates may lie within each other, as nodes of a
    Steiner tree do. Operator transformation, by which SEQ would use an AND over the same types and filter it, is left
    out: no node of a plan is such a filter.
    """
    cover = Cover(request)
    waiting = [(float("-inf"), one.number, one) for one in request.opportunities.shared]
    heapify(waiting)
    while waiting:
        _, number, one = waiting[0]
        move = cover.with_part(one)
        if move is None or move.difference >= 0:
            heappop(waiting)
        elif len(waiting) == 1 or move.difference <= min(other[0] for other in waiting[1:3]):
            cover.take(one, move)
            heappop(waiting)
        else:
            heapreplace(waiting, (move.difference, number, one))
    return {shape.pattern.name: plan.tree for shape, plan in zip(request.shapes, cover.solution.plans, strict=True)}


class Cover:
    """The parts that patterns are decomposed into so far, and what their trees cost together."""

    def __init__(self, request: Request) -> None:
        self._shapes = request.shapes
        self._space = TreeSpace(request.shapes, request.model)
        self._taken: list[list[int]] = [[] for _ in request.shapes]
        self.solution = Solution(self._space, [self._local(pattern, []) for pattern in range(len(request.shapes))])

    def _local(self, pattern: int, masks: list[int]) -> Local:
        return self._space.local(pattern, nested_tree(self._shapes[pattern], masks))

    def with_part(self, one: Occurrences) -> Neighbour | None:
        """Return the solution in which all patterns that can have a part do; None if that changes nothing."""
        masks = self._fitting(one)
        plans = [self._local(pattern, [*self._taken[pattern], mask]) for pattern, mask in masks.items()]
        return self.solution.neighbour(list(masks), plans)

    def take(self, one: Occurrences, move: Neighbour) -> None:
        for pattern, mask in self._fitting(one).items():
            self._taken[pattern].append(mask)
        self.solution.move(move)

    def _fitting(self, one: Occurrences) -> dict[int, int]:
        """Return the patterns in which a part does not overlap others, with its events."""
        masks = {pattern: sum(1 << x for x in slots) for pattern, slots in one.slots.items()}
        return {
            pattern: mask
            for pattern, mask in masks.items()
            if all(mask & other in (0, mask, other) for other in self._taken[pattern])
        }
