"""What a cost model of detection plans is, and the facts about a node that it prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from elsinore.planner.detection.pattern import Window
from elsinore.planner.detection.shape import Shape


@dataclass(frozen=True)
class Facts:
    """What is expected of a set of a pattern's events."""

    matches: float
    """Partial matches that exist at a time."""
    ordered: float
    """The part of all choices of its events that are in the order of the structure."""
    size: int
    """Events of a match."""
    seconds: float
    """How long a match is kept."""

    @property
    def per_second(self) -> float:
        """Return the matches that become complete per second."""
        return self.matches / self.seconds


class CostModel(Protocol):
    """A cost of each node. The cost of a plan is the sum over its nodes, each counted once however many share it."""

    name: str
    by_split: bool
    """Whether the cost of a node depends on which two sides are joined, and not only on all its events."""

    def facts(self, shape: Shape, mask: int, window: Window) -> Facts:
        """Return what is expected of a set of events that lie within a window."""
        ...

    def leaf(self, leaf: Facts) -> float: ...

    def join(self, joined: Facts, left: Facts, right: Facts, triggers: float, users: int) -> float:
        """Return the cost of a node for which two others are joined, without theirs.

        `triggers`: matches per second of those sides that can have the last event.
        """
        ...


def triggers(shape: Shape, left: int, right: int, of_left: Facts, of_right: Facts) -> float:
    """Return the matches per second of those sides of a join that can have the last event."""
    sides = ((left, right, of_left), (right, left, of_right))
    return sum(one.per_second for own, other, one in sides if shape.may_end(own, own | other))
