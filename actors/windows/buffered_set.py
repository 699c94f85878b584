"""The base of graphs of share sets that keep events: one buffer of events for all queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.columns.intake import Growth
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.members import SetMember
from elsinore.actors.rows.cells import Cells
from elsinore.actors.set_graph import PartitionGroups, SetGraph
from elsinore.actors.windows.buffer import Buffer


class BufferedSet(SetGraph[Cells]):
    """A graph whose members keep nothing of their own. None of them is a counter of an AND."""

    keeps_events = True

    def __init__(self, members: Sequence[SetMember], kinds: EventKinds, exact: bool, links: int = 0) -> None:
        super().__init__(len(members))
        self.members = members
        self.kinds = kinds
        self.exact = exact
        self.words = 1 if exact else 2
        """Words of all members' numbers."""
        self.buffer = Buffer.of(members[0].shared or members[0].columns, links, exact)
        self.group_of = np.zeros(0, np.int32)
        self.groups = 0

    def admit(self, groups_of: Sequence[PartitionGroups]) -> None:
        self.group_of, self.groups, _ = groups_of[0]

    def extend(self, intake: int, growth: Growth) -> None:
        self.buffer.extend_columns(growth)

    def follow(self, growths: Sequence[Growth]) -> None:
        self.renew()

    @abstractmethod
    def renew(self) -> None:
        """Discard the layout: members have other lanes, or columns have moved."""

    def widen(self) -> None:
        self.words *= 2
        self.renew()

    def keep(self, slots: npt.NDArray[np.int64], groups_of: Sequence[PartitionGroups]) -> None:
        self.buffer.keep(slots, len(self.group_of))
        self.admit(groups_of)

    def save(self) -> dict[str, Any]:
        return {"buffer": self.buffer.save()}

    def load(self, state: dict[str, Any]) -> None:
        self.buffer.load(state["buffer"])
