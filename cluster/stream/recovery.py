"""Recover the states of a live stream's actors from its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from elsinore.actors.streams.places import Beginning
from elsinore.cluster.run.crew import Crew, NumberedBatch
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, Era
from elsinore.cluster.stream.terms import Terms, legacies
from elsinore.connectors.errors import FailedError
from elsinore.connectors.storage.vault import DamagedError


@dataclass(frozen=True)
class EraEnd:
    """The end of an era: its terms, the record of its last batch, and the state of each actor after that batch."""

    terms: Terms
    done: BatchRecord
    states: list[bytes]

    def replanned(self, terms: Terms) -> EraEnd:
        """Return the same end with other terms that differ only in their plans, and count the replanning."""
        counts = {**self.done.counts, "replanned": self.done.counts.get("replanned", 0) + 1}
        return replace(self, terms=terms, done=replace(self.done, counts=counts))


@dataclass(frozen=True)
class Recovery:
    checkpoint: Checkpoint
    crew: Callable[[Terms], Crew]
    """Hires actors that write nothing to the checkpoint: they only repeat batches that are in it."""
    write: Callable[[Terms, int, Crew], int]
    """Writes the rows of a batch, given the actors that have taken it; returns how many rows there are."""

    def end_of(self, era: Era) -> EraEnd:
        """Return the end of an era: restore its last whole snapshot, and repeat the batches after it.

        Write the rows of batches whose events are in the checkpoint but that have no record. Raise FailedError where
        a file that is needed is damaged.
        """
        try:
            terms, records = Terms.read(era.duty()), era.done()
            crew, snapshot = self._snapshot(era, terms, records)
            try:
                for record in records:
                    if record.number > snapshot.number:
                        _repeat(crew, era, record)
                        crew.commit(record.number)
                done = records[-1] if records else snapshot
                while last := era.whole(done.number + 1):
                    done = self._end(crew, era, terms, last)
                return EraEnd(terms, done, crew.states(done.number))
            finally:
                crew.dismiss()
        except DamagedError as error:
            raise FailedError(f"{error}; later batches depend on it, so this stream cannot continue") from None

    def _end(self, crew: Crew, era: Era, terms: Terms, last: BatchRecord) -> BatchRecord:
        """Finish a batch that all actors had taken and whose rows may or may not be written; return its record."""
        _repeat(crew, era, last)
        rows = self.write(terms, last.number, crew)
        crew.commit(last.number)
        done = replace(last, counts={**last.counts, "rows": last.counts["rows"] + rows})
        era.put_done(done)
        return done

    def _snapshot(self, era: Era, terms: Terms, records: Sequence[BatchRecord]) -> tuple[Crew, BatchRecord]:
        """Return actors restored from the last whole snapshot, and the record of its batch.

        Without a whole snapshot of this era, recover the era before it and hand its end over.
        """
        by_number = {record.number: record for record in records}
        for number in era.snapshots():
            if number in by_number:
                try:
                    states = era.states(number, terms.ranges.places)
                except DamagedError:
                    continue
                crew = self.crew(terms)
                crew.restore(states)
                return crew, by_number[number]
        before = self.checkpoint.before(era)
        if before is None:
            return self.crew(terms), BatchRecord()
        known = self.end_of(before)
        crew = self.crew(terms)
        hand_over(known, crew, terms)
        return crew, known.done


def hand_over(known: EraEnd, crew: Crew, terms: Terms) -> None:
    """Hand the end of an era over to the actors of the next one.

    New queries answer the windows that begin after the latest event.
    """
    done = known.done
    since = Beginning(done.placed, done.latest + 1) if done.seen else None
    crew.inherit(known.done.number, since, legacies(known.terms, known.states, terms))


def _repeat(crew: Crew, era: Era, record: BatchRecord) -> None:
    """Have the actors take a batch from the events of the checkpoint."""
    crew.send(NumberedBatch(record.number, record.watermark, lambda place: era.events(record.number, place)))
    crew.receive()
