"""Verify the snapshots of an era, and delete what they make superfluous."""

from __future__ import annotations

from dataclasses import dataclass, field

from elsinore.cluster.stream.checkpoint import Checkpoint, Era

KEPT_SNAPSHOTS = 2
"""Number of whole snapshots to keep; if one is damaged later, the stream resumes from the other."""


@dataclass
class Snapshots:
    checkpoint: Checkpoint
    era: Era
    places: int
    whole: list[int] = field(default_factory=list)
    """The batches of the last whole snapshots, oldest first."""

    def add(self, batch: int) -> None:
        """Read back the snapshot after this batch; delete what two whole ones make superfluous.

        Raise DamagedError, and delete nothing, where the state of a place is missing or damaged.
        """
        self.era.verify(batch, self.places)
        self.whole = [*self.whole, batch][-KEPT_SNAPSHOTS:]
        if len(self.whole) == KEPT_SNAPSHOTS:
            self.era.forget(self.whole[0])
            self.checkpoint.forget_before(self.era)
