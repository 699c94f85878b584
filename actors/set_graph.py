"""What the graphs of all kinds of sets do, whatever they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from elsinore.actors.columns.intake import Growth, Taken
from elsinore.actors.hamlet.decisions import Decisions
from elsinore.actors.rows.cells import Cells

Result = TypeVar("Result")
"""What a member has of windows that end: cells of numbers, of which `QueryRows` of its kind makes rows."""

MemberCells = list[list[Cells]]
"""Results by member of a set whose queries aggregate trends."""


class PartitionGroups(NamedTuple):
    """The groups of partitions whose results a member merges."""

    group_of: npt.NDArray[np.int32]
    """By partition, its group."""
    groups: int
    merged_of: npt.NDArray[np.int32]
    """By partition, the group of its query's rows: the same, but for a counter of an AND, which merges nothing."""


class SetGraph(ABC, Generic[Result]):
    """The graph of a set.

    Every call that takes in events or ends windows returns the results that are due by then, by member; nothing is left
    to be fetched. Events are sorted by time, and none is older than those taken in before.
    """

    keeps_events = False
    """Whether the set keeps events for all members, which then keep nothing of their own."""
    decisions: Decisions | None = None
    """The decisions about bursts, where they are taken one by one."""
    seconds = 0.0
    """Processor time in seconds that events took so far, as far as it is measured."""

    def __init__(self, count: int) -> None:
        self.count = count
        """The number of members."""
        self.totals = np.zeros(3, np.int64)
        """Numbers of bursts decided about, of bursts shared, and of snapshots."""

    def nothing(self) -> list[list[Result]]:
        return [[] for _ in range(self.count)]

    @abstractmethod
    def admit(self, groups_of: Sequence[PartitionGroups]) -> None:
        """Make room for new partitions; by member, `groups_of` are of all partitions."""

    @abstractmethod
    def extend(self, intake: int, growth: Growth) -> None:
        """Make room for what the columns of an intake have learned."""

    @abstractmethod
    def follow(self, growths: Sequence[Growth]) -> None:
        """Make room for what members, one by one, have learned from the columns of the set."""

    @abstractmethod
    def process(self, taken: Sequence[Taken], later: int) -> list[list[Result]]:
        """Take in events, by intake; no event that comes later is older than `later`."""

    @abstractmethod
    def end_until(self, time: int) -> list[list[Result]]:
        """End the windows that are over at `time`: no event older than that will come."""

    @abstractmethod
    def finish(self) -> list[list[Result]]:
        """End all windows that have events."""

    def flush(self) -> None:
        """Take in events that are held back. They are in open panes only, so no window ends."""

    @abstractmethod
    def keep(self, slots: npt.NDArray[np.int64], groups_of: Sequence[PartitionGroups]) -> None:
        """Keep these partitions alone, in this order."""

    def save(self) -> dict[str, Any]:
        """Return what a set keeps that `keeps_events`."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Load what `save` returned."""

    def save_member(self, member: int) -> dict[str, Any] | None:
        """Return what one member keeps; None: the set keeps everything."""
        return None

    def load_member(self, member: int, growth: Growth, state: dict[str, Any]) -> None:
        """Load what `save_member` returned; `growth` has the lanes that the member had."""


def merged(some: Iterable[list[list[Result]]]) -> list[list[Result]]:
    """Return the results of several steps, one after another."""
    return [[one for cells in step for one in cells] for step in zip(*some, strict=True)]
