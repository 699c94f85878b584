"""What a sharing optimizer is told about bursts, and what it answers (HAMLET, Section 4).

Flat columns, so that all bursts of a pane are one question: an optimizer is asked as often as panes end, not as often
as bursts do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

APART, OWN, SHARED = 0, 1, 2
"""A row's queries one by one, event by event; in a graphlet of their own; in the base's graphlet."""

FEWEST = 2
"""A graphlet of fewer queries shares nothing."""


@dataclass(frozen=True)
class Facts:
    """What does not change from burst to burst: a Kleene sub-pattern of a share set, as cost models see it."""

    queries: int
    """k: all queries that can share it."""
    types: int
    """t: event types per query, the mean rounded up."""
    rows: float
    """Runs of counters per query, a mean of at least 1: its open windows, or the states its maps start from."""
    lanes: float
    """Numbers per counter, the count of trends included."""


@dataclass(frozen=True)
class Bursts:
    """Complete bursts (Definition 4.1) of one Kleene sub-pattern.

    A row is a set of queries that take the same events of a burst. The first row of a burst is its base, the one of
    most queries: the others are told by how they differ from it.
    """

    size: Ints
    """b: per burst, its events that any query takes."""
    window: Ints
    """n: per burst, the events of its partition in the window so far, its own too."""
    at: Ints
    """The rows of burst i are at[i] .. at[i + 1], one at least."""
    queries: Ints
    """Per row, how many queries it is."""
    taken: Ints
    """Per row, the events that its queries take: one at least."""
    snapshots: Ints
    """Per row, the events on which it differs from the base: snapshots at event level, if shared. 0 for the base."""

    @property
    def columns(self) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
        return self.size, self.window, self.at, self.queries, self.taken, self.snapshots

    @property
    def first(self) -> Ints:
        """Return the rows that are bases."""
        return self.at[:-1]

    @property
    def burst(self) -> Ints:
        """Return the burst of each row."""
        return np.repeat(np.arange(len(self.size)), np.diff(self.at))

    def some(self, which: Ints) -> tuple[Bursts, Ints]:
        """Return some of the bursts, and the numbers of their rows."""
        sizes = np.diff(self.at)[which]
        at = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.at[which] - at[:-1], sizes) + np.arange(at[-1])
        taken = (column[rows] for column in (self.queries, self.taken, self.snapshots))
        return Bursts(self.size[which], self.window[which], at, *taken), rows


@dataclass(frozen=True)
class Choices:
    choice: npt.NDArray[np.uint8]
    """Per row APART, OWN or SHARED. The base is SHARED where another row joins it, and nowhere else."""
    together: Ints
    """Per burst, said at its base: how many queries of several rows must have trends that it lengthens, for a graphlet
    to pay. Whether they have shows only when the burst begins; where they are fewer, they are run apart after all."""
    alone: Ints
    """The same per row, where only queries of this row have any: they agree on all events."""
    costs: Callable[[], tuple[Floats, Floats]]
    """Returns `shared` and `apart`, computed on demand: a decision does not need them."""

    @cached_property
    def shared(self) -> Floats:
        """Return the optimizer's cost of each burst with all rows in one graphlet; NaN where it has no price."""
        return self.costs()[0]

    @cached_property
    def apart(self) -> Floats:
        """Return the cost of each burst with every query by itself."""
        return self.costs()[1]

    def fill(self, row: int, some: Choices) -> None:
        """Set the choices of consecutive rows, from this one on."""
        rows = slice(row, row + len(some.choice))
        self.choice[rows], self.together[rows], self.alone[rows] = some.choice, some.together, some.alone


def unanswered(rows: int, parts: Sequence[Choices]) -> Choices:
    """Return choices to be filled from the answers to several questions, which `parts` has all in the end."""
    together, alone = np.zeros((2, rows), np.int64)

    def costs() -> tuple[Floats, Floats]:
        return np.concatenate([part.shared for part in parts]), np.concatenate([part.apart for part in parts])

    return Choices(np.zeros(rows, np.uint8), together, alone, costs)
