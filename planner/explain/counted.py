"""What a run has counted, as lines beside the plan that it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

FEWEST_SECONDS = 0.0005
"""Seconds below which a part of a run is not worth a line."""

NAMES = 4
"""The most types named of those that no query names."""


class Counts:
    """The counts of a plan that did not run: there are none."""

    def of_run(self) -> Iterator[list[str]]:
        """Yield trees about the whole run: a heading and its nodes."""
        yield from ()

    def of_set(self, number: int) -> Iterator[str]:
        """Yield nodes about a share set, by its number from 1."""
        yield from ()

    def of_query(self, name: str) -> Iterator[str]:
        """Yield nodes about a query."""
        yield from ()

    def found(self, number: int) -> Mapping[str, int]:
        """Return by identity of a node of a set's plan how many matches were stored of it."""
        return {}


NOT_RUN = Counts()


@dataclass(frozen=True)
class VariableCounts:
    """The events of one variable of a query."""

    variable: str
    type: str
    events: int
    """All of its type, without late ones."""
    keyless: int
    """Those among them with a null in an attribute that splits the stream."""
    filtered: int
    """Those with a key that do not satisfy the conditions on single events."""

    def __str__(self) -> str:
        name = self.variable if self.variable == self.type else f"{self.variable} ({self.type})"
        taken = self.events - self.keyless - self.filtered
        if taken == self.events:
            return f"events {name}: {taken:,} taken in"
        left = ((self.filtered, "filtered out"), (self.keyless, "without a key"))
        why = ", ".join(f"{count:,} {what}" for count, what in left if count)
        return f"events {name}: {taken:,} of {self.events:,} taken in, {why}"


@dataclass(frozen=True)
class QueryCounts:
    variables: Sequence[VariableCounts]
    rows: int
    seconds: float | None
    """What its own graphs took; None where it has none beside those that it shares."""


@dataclass(frozen=True)
class SetCounts:
    bursts: int
    shared_bursts: int
    snapshots: int
    seconds: float
    found: Mapping[str, int] = field(default_factory=dict)
    """By identity of a stored node of detection, its matches."""


@dataclass(frozen=True)
class RunCounts(Counts):
    """The counts of one run over all of its events."""

    events: int
    late: int
    dead: int
    dropped: int
    rows: int
    types: Mapping[str, int]
    """Events in time, by type."""
    named: frozenset[str]
    """The types that any query names."""
    seconds: float
    parts: Mapping[str, float]
    """Of these seconds, those of each part of the run, in words."""
    sets: Sequence[SetCounts]
    queries: Mapping[str, QueryCounts]

    def of_run(self) -> Iterator[list[str]]:
        yield [f"run in this process, in one thread, over {self.events:,} events", *self._of_events(), *self._of_time()]

    def _of_events(self) -> Iterator[str]:
        known = ", ".join(f"{name} {count:,}" for name, count in sorted(self.types.items()) if name in self.named)
        others = sorted(name for name, count in self.types.items() if count and name not in self.named)
        yield f"types {known or 'none that a query names'}"
        if others:
            count = sum(self.types[name] for name in others)
            more = f" and {len(others) - NAMES:,} more" if len(others) > NAMES else ""
            yield f"ignored {count:,} events of types that no query names: {', '.join(others[:NAMES])}{more}"
        lost = ((self.late, "late"), (self.dead, "dead"), (self.dropped, "dropped, for want of a key"))
        if any(count for count, _ in lost):
            yield f"in no row {', '.join(f'{count:,} {what}' for count, what in lost if count)}"
        yield f"rows {self.rows:,}"

    def _of_time(self) -> Iterator[str]:
        parts = ", ".join(f"{seconds:.3f} {what}" for what, seconds in self.parts.items())
        yield f"seconds {self.seconds:.3f}: {parts}"

    def of_set(self, number: int) -> Iterator[str]:
        found = self.sets[number - 1]
        if found.bursts:
            yield f"bursts {found.bursts:,}, {found.shared_bursts:,} of them shared; {found.snapshots:,} snapshots"
        yield _seconds(found.seconds)

    def of_query(self, name: str) -> Iterator[str]:
        found = self.queries[name]
        yield from dict.fromkeys(map(str, found.variables))
        yield f"rows {found.rows:,}"
        if found.seconds is not None:
            yield _seconds(found.seconds)

    def found(self, number: int) -> Mapping[str, int]:
        return self.sets[number - 1].found


def _seconds(seconds: float) -> str:
    return f"seconds {seconds:.3f}" if seconds >= FEWEST_SECONDS else f"seconds less than {2 * FEWEST_SECONDS:g}"
