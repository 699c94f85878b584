"""What the actors of a live stream knew when it ended, found again in its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elsinore.cluster.run.crew import Batch, Crew
from elsinore.cluster.stream.checkpoint import Checkpoint, Done, Era
from elsinore.cluster.stream.terms import Terms, legacies
from elsinore.connectors.errors import FailedError
from elsinore.connectors.storage.vault import DamagedError


@dataclass(frozen=True)
class Known:
    """At the end of an era: on what terms, after which batch, and what each actor knew then."""

    terms: Terms
    done: Done
    states: list[bytes]

    def replanned(self, terms: Terms) -> Known:
        """The same on other terms, which only have other plans."""
        counts = {**self.done.counts, "replanned": self.done.counts.get("replanned", 0) + 1}
        return replace(self, terms=terms, done=replace(self.done, counts=counts))


@dataclass(frozen=True)
class Recovery:
    checkpoint: Checkpoint
    crew: Callable[[Terms], Crew]
    """Hires actors that keep nothing: what they do was done before."""
    write: Callable[[Terms, int, Sequence[Any]], int]
    """Of a batch, what each actor knows of its rows; returns how many there are."""

    def known(self, era: Era) -> Known:
        """The last snapshot that is whole, and from there batch by batch."""
        try:
            terms, records = Terms.read(era.duty()), era.done()
            crew, begun = self._snapshot(era, terms, records)
            try:
                for record in records:
                    if record.number > begun.number:
                        _repeat(crew, era, record)
                done = records[-1] if records else begun
                while last := era.whole(done.number + 1):
                    done = self._end(crew, era, terms, last)
                return Known(terms, done, crew.states(done.number))
            finally:
                crew.dismiss()
        except DamagedError as error:
            raise FailedError(f"{error}; what came later follows from it, so this stream cannot go on") from None

    def _end(self, crew: Crew, era: Era, terms: Terms, last: Done) -> Done:
        """A batch that everybody was given, and whose rows may or may not have been written."""
        rows = self.write(terms, last.number, _repeat(crew, era, last))
        done = replace(last, counts={**last.counts, "rows": last.counts["rows"] + rows})
        era.put_done(done)
        return done

    def _snapshot(self, era: Era, terms: Terms, records: Sequence[Done]) -> tuple[Crew, Done]:
        """Actors that know what they did after some batch; after the era before, if not after one of this era."""
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
            return self.crew(terms), Done()
        known = self.known(before)
        crew = self.crew(terms)
        hand_over(known, crew, terms)
        return crew, known.done


def hand_over(known: Known, crew: Crew, terms: Terms) -> None:
    """To the actors of the next era. Queries that are new answer the windows that begin after the latest event."""
    since = known.done.latest + 1 if known.done.seen else None
    crew.inherit(known.done.number, since, legacies(known.terms, known.states, terms))


def _repeat(crew: Crew, era: Era, record: Done) -> list[Any]:
    """A batch that was given before; references to what each actor knows of its rows."""
    crew.send(Batch(record.number, record.watermark, lambda place: era.events(record.number, place)))
    _, _, parts = crew.receive()
    crew.commit(record.number)
    return parts
