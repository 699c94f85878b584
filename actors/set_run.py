"""The run of a set of any kind: from batches of events to the results of its members.

A query that shares nothing is run the same way, as a set with an intake for each of its counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from elsinore.actors.columns.intake import Growth, Intake
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.members import SetMember
from elsinore.actors.set_graph import PartitionGroups, SetGraph
from elsinore.actors.streams.batch import Batch
from elsinore.actors.streams.partitions import Partitions
from elsinore.actors.work_done import Stopwatch, WorkDone
from elsinore.planner.plans.sharing import Member

G = TypeVar("G", bound=SetGraph[Any])


class SetRun(Generic[G]):
    """Members of one set, the intakes of their events, and the graph that counts for them."""

    def __init__(
        self,
        kind: str,
        places: Sequence[Member],
        members: Sequence[SetMember],
        intakes: Sequence[Intake],
        graph: G,
        kinds: EventKinds | None = None,
    ) -> None:
        self.kind = kind
        """The tag of its kind of share set."""
        self.places = places
        """By member, its query and counter in the plan."""
        self.members = members
        self.intakes = intakes
        self.graph = graph
        self.kinds = kinds
        """The kinds of events of a set that shares; None: each counter has its own."""
        self.names = [member.plan.query.name for member in members]
        self.watch = Stopwatch()
        self._behind = kinds is not None
        """Whether the columns of the set know something that its members have not followed."""

    def admit(self, partitions: Partitions) -> None:
        """Make room for new partitions."""
        self.graph.admit(self._groups_of_members(partitions))

    def process(self, batch: Batch) -> list[list[Any]]:
        """Take in a batch, and return the results that are due, by member."""
        taken = []
        for number, intake in enumerate(self.intakes):
            selected = intake.select(batch)
            growth, changed = intake.learn(selected.columns)
            if changed or self._behind:
                # Events that are held back have the columns as they were before.
                self.graph.flush()
                self.graph.extend(number, growth)
                self._follow()
            taken.append(intake.encode(selected))
        return self.graph.process(taken, batch.later)

    def work(self) -> WorkDone:
        """Return what was done so far."""
        bursts, shared, snapshots = self.graph.totals.tolist()
        members = tuple((name, place.counter) for name, place in zip(self.names, self.places, strict=True))
        return WorkDone(members, self.watch.seconds, (bursts, shared, snapshots))

    def _follow(self) -> None:
        if self.kinds is not None:
            self.graph.follow([member.follow() for member in self.members])
        self._behind = False

    def keep(self, slots: npt.NDArray[np.int64], partitions: Partitions) -> None:
        """Keep these partitions alone, in this order."""
        self.graph.flush()
        self.graph.keep(slots, self._groups_of_members(partitions))

    def _groups_of_members(self, partitions: Partitions) -> list[PartitionGroups]:
        """Return the groups of each member. Counters of an AND are paired up by partition, before groups are merged."""
        group_of = partitions.group_of
        merged = PartitionGroups(group_of, int(group_of.max(initial=-1)) + 1, group_of)
        if not any(member.of_conjunction for member in self.members):
            return [merged] * len(self.members)
        single = PartitionGroups(np.arange(partitions.count, dtype=np.int32), partitions.count, group_of)
        return [single if member.of_conjunction else merged for member in self.members]

    def save(self) -> dict[str, Any]:
        """Return what the set has learned and keeps, without what its members keep."""
        assert self.kinds is not None
        self.graph.flush()
        (intake,) = self.intakes
        columns = intake.columns.save()
        if not self.graph.keeps_events:
            return columns
        state = {"columns": columns, "kinds": self.kinds.save(), "graph": self.graph.save()}
        return state if intake.links is None else {**state, "links": intake.links.save()}

    def load(self, state: dict[str, Any]) -> None:
        """Load what `save` returned; members load their own state afterwards."""
        assert self.kinds is not None
        (intake,) = self.intakes
        if not self.graph.keeps_events:
            intake.columns.load(state)
            return
        intake.columns.load(state["columns"])
        self.kinds.load(state["kinds"])
        self.graph.load(state["graph"])
        if intake.links is not None:
            intake.links.load(state["links"])

    def save_member(self, number: int) -> dict[str, Any]:
        links = None if self.kinds is not None else self.intakes[number].links
        return {
            "columns": self.members[number].columns.save(),
            "links": links.save() if links else None,
            "graph": self.graph.save_member(number),
        }

    def load_member(self, number: int, state: dict[str, Any]) -> None:
        columns = self.members[number].columns
        growth = Growth.of(columns, lambda: columns.load(state["columns"]))
        if self.kinds is None and (links := self.intakes[number].links):
            links.load(state["links"])
        self.graph.load_member(number, growth, state["graph"])

    def resume(self) -> None:
        """Go on from a loaded state: members know what the columns of the set have learned."""
        self._follow()
        self._behind = self.kinds is not None
