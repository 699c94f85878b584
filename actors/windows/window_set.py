"""One buffer of events for a whole share set: a window is evaluated when it is over, for all queries at once.

Windows are evaluated one after another, as those of a single query (`neighbours/graph.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.intake import Taken
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.members import SetMember
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.set_graph import MemberCells
from elsinore.actors.windows.buffered_set import BufferedSet
from elsinore.actors.windows.open_windows import OpenWindows
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


class WindowSet(BufferedSet):
    def __init__(
        self, members: Sequence[SetMember], kinds: EventKinds, clock: Clock, exact: bool, links: int = 0
    ) -> None:
        super().__init__(members, kinds, exact, links)
        self.open = OpenWindows(Windows.of(members[0].plan.query, clock), self.buffer)

    def process(self, taken: Sequence[Taken], _: int) -> MemberCells:
        times = taken[0].events.time
        if not len(times):
            return self.nothing()
        self.buffer.append(taken[0])
        return self.end_until(int(times[-1]))

    def end_until(self, time: int) -> MemberCells:
        return self._evaluated(self.open.until(time))

    def finish(self) -> MemberCells:
        return self._evaluated(self.open.rest())

    def _evaluated(self, starts: Iterable[int]) -> MemberCells:
        found = self.nothing()
        for start in starts:
            window = self.open.events(start, len(self.group_of))
            if window is not None:
                self.evaluate(start, start + self.open.windows.within, *window, found)
        return found

    @abstractmethod
    def evaluate(
        self, start: int, end: int, events: Events, links: Links, runs: npt.NDArray[Any], found: MemberCells
    ) -> None:
        """Evaluate a window, and add the results of each member to `found`."""

    def save(self) -> dict[str, Any]:
        return {**super().save(), "next_window": self.open.next}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.open.next = state["next_window"]
