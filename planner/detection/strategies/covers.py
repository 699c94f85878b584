"""SPASS and MOTTO as we read them: parts that are shared are chosen greedily, and nothing is reordered.

The paper describes both in a sentence each (Section 6.2.2). Figures that show them have to say that they show our
reading.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elsinore.planner.detection.search.opportunities import Occurrences
from elsinore.planner.detection.shape import Shape, Slots
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.strategies.written import written_order, written_tree
from elsinore.planner.detection.subtrees import Tree


@dataclass(frozen=True)
class Part:
    """A subpattern that several patterns have."""

    masks: dict[int, int]
    """By pattern, its events."""
    cost: float
    """What evaluating it once costs, as written."""


def redundancy_ratio(request: Request) -> Trees:
    """SH-RR (SPASS): share substrings of the patterns as written, by their redundancy ratio.

    Our reading: candidates are sets of events that stand next to each other in the text of at least two patterns. The
    redundancy ratio of one is the part of the workload's cost as written that sharing it saves: (n - 1) times its
    cost, for n patterns in which it is not in conflict with a part chosen before, which has to be disjoint. The
    minimal substring cover is approximated by taking the candidate of the highest ratio until none saves anything.
    What is left of a pattern is joined from left to right.
    """
    return _chosen(request, _adjacent, nested=False)


def merge_and_decompose(request: Request) -> Trees:
    """SH-MDT (MOTTO): decompose patterns into subpatterns, merge equal ones, without reordering.

    Our reading: candidates are all common subpatterns, of neighbours in the text or not (decomposition), each
    evaluated as written; equal ones are merged. The directed Steiner tree is approximated greedily: the candidate
    that saves most is added until none saves anything. Candidates may lie within each other, as nodes of a Steiner
    tree do. Operator transformation, by which SEQ would use an AND over the same types and filter it, is left out: no
    node of a plan is such a filter.
    """
    return _chosen(request, _anywhere, nested=True)


def _anywhere(_shape: Shape, _mask: int) -> bool:
    return True


def _adjacent(shape: Shape, mask: int) -> bool:
    places = [place for place, x in enumerate(written_order(shape, shape.whole)) if mask >> x & 1]
    return places[-1] - places[0] == len(places) - 1


def _chosen(request: Request, fits: Callable[[Shape, int], bool], nested: bool) -> Trees:
    parts = [_part(request, one, fits) for one in request.opportunities.shared]
    taken: list[list[int]] = [[] for _ in request.shapes]
    waiting = [part for part in parts if len(part.masks) > 1]
    while waiting:
        users = [_users(part, taken, nested) for part in waiting]
        gains = [part.cost * (len(ours) - 1) for part, ours in zip(waiting, users, strict=True)]
        place = max(range(len(waiting)), key=gains.__getitem__)
        if gains[place] <= 0:
            break
        for pattern in users[place]:
            taken[pattern].append(waiting[place].masks[pattern])
        waiting = [part for at, part in enumerate(waiting) if at != place and len(users[at]) > 1]
    return {
        shape.pattern.name: _tree(shape, masks, shape.whole) for shape, masks in zip(request.shapes, taken, strict=True)
    }


def _part(request: Request, one: Occurrences, fits: Callable[[Shape, int], bool]) -> Part:
    masks = {pattern: sum(1 << x for x in slots) for pattern, slots in one.slots.items()}
    kept = {pattern: mask for pattern, mask in masks.items() if fits(request.shapes[pattern], mask)}
    pattern, mask = next(iter(masks.items()))
    return Part(kept, _cost(request, pattern, written_order(request.shapes[pattern], mask)))


def _cost(request: Request, pattern: int, order: Slots) -> float:
    """Return the cost of the inner nodes of an order."""
    pricing = request.pricing[pattern]
    return pricing.order(order) - pricing.leaf(order[0])


def _users(part: Part, taken: Sequence[Sequence[int]], nested: bool) -> list[int]:
    """Return the patterns that can have a part beside those that they have."""
    return [
        pattern
        for pattern, mask in part.masks.items()
        if all(mask & other == 0 or (nested and mask & other in (mask, other)) for other in taken[pattern])
    ]


def _tree(shape: Shape, masks: Sequence[int], whole: int) -> Tree:
    """Return the tree with a subtree for each of the masks, which are disjoint or within each other."""
    inner = [mask for mask in masks if mask & ~whole == 0 and mask != whole]
    outer = [mask for mask in inner if not any(mask & ~other == 0 and mask != other for other in inner)]
    given = [_tree(shape, inner, mask) for mask in dict.fromkeys(outer)]
    return written_tree(shape, given, whole)
