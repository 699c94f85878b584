"""SPASS as we read it: substrings of the patterns as written are shared by a score, and nothing is reordered.

The paper describes SPASS in a sentence (Section 6.2.2). Figures that show it have to say that they show our reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elsinore.planner.detection.search.opportunities import Occurrences
from elsinore.planner.detection.shape import Shape
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.strategies.written import nested_tree, written_order


@dataclass(frozen=True)
class Substring:
    """A subpattern whose events stand next to each other in the text of several patterns."""

    masks: dict[int, int]
    """By pattern, its events."""
    cost: float
    """What evaluating it once costs, as written, without its leaves."""


def redundancy_ratio(request: Request) -> Trees:
    """Share substrings of the patterns as written, by their redundancy ratio: SH-RR (SPASS).

    Our reading: candidates are sets of events that stand next to each other in the text of at least two patterns. The
    redundancy ratio of one is the part of the workload's cost that is spent on it again and again: (n - 1) times its
    cost as written, for n patterns in which it is disjoint from what was chosen before. The minimal substring cover is
    approximated by taking the candidate of the highest ratio until none is left. The rest of a pattern is joined from
    left to right.
    """
    taken: list[list[int]] = [[] for _ in request.shapes]
    waiting = [_substring(request, one) for one in request.opportunities.shared]
    while waiting:
        users = [_users(one, taken) for one in waiting]
        scores = [one.cost * (len(ours) - 1) for one, ours in zip(waiting, users, strict=True)]
        place = max(range(len(waiting)), key=scores.__getitem__)
        if scores[place] <= 0:
            break
        for pattern in users[place]:
            taken[pattern].append(waiting[place].masks[pattern])
        waiting = [one for at, one in enumerate(waiting) if at != place and len(users[at]) > 1]
    return {shape.pattern.name: nested_tree(shape, masks) for shape, masks in zip(request.shapes, taken, strict=True)}


def _substring(request: Request, one: Occurrences) -> Substring:
    masks = {pattern: sum(1 << x for x in slots) for pattern, slots in one.slots.items()}
    kept = {pattern: mask for pattern, mask in masks.items() if _adjacent(request.shapes[pattern], mask)}
    pattern, mask = next(iter(masks.items()))
    pricing, order = request.pricing[pattern], written_order(request.shapes[pattern], mask)
    return Substring(kept, pricing.order(order) - pricing.leaf(order[0]))


def _adjacent(shape: Shape, mask: int) -> bool:
    places = [place for place, x in enumerate(written_order(shape, shape.whole)) if mask >> x & 1]
    return places[-1] - places[0] == len(places) - 1


def _users(one: Substring, taken: Sequence[Sequence[int]]) -> list[int]:
    """Return the patterns in which a substring does not overlap what was chosen before."""
    return [pattern for pattern, mask in one.masks.items() if not any(mask & other for other in taken[pattern])]
