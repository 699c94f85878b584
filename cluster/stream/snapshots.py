"""The snapshots of an era that can be relied on, and what is deleted because of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from elsinore.cluster.stream.checkpoint import Checkpoint, Era

KEPT = 2
"""Whole snapshots of an era; if one is damaged later, the stream goes on from the other."""


@dataclass
class Snapshots:
    checkpoint: Checkpoint
    era: Era
    places: int
    whole: list[int] = field(default_factory=list)
    """The batches after which the last snapshots were saved that are whole, oldest first."""

    def add(self, batch: int) -> None:
        """Read back the snapshot after this batch; delete what two whole ones make superfluous.

        Raise DamagedError, and delete nothing, where the state of a place is missing or not what was saved.
        """
        self.era.verify(batch, self.places)
        self.whole = [*self.whole, batch][-KEPT:]
        if len(self.whole) == KEPT:
            self.era.forget(self.whole[0])
            self.checkpoint.forget_before(self.era)
