"""What `why` finds, as values: a suspect before it is tested, a cause after that, and the reason for a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elsinore.problems import Place, Problem
from elsinore.reasons.edits import Edit, unchanged


@dataclass(frozen=True)
class Reading:
    """How events are read, where that differs from how they were read."""

    time_unit: str | None = None
    late: bool = False
    """Late events count."""
    ties: bool = False
    """Events of one time are one after the other, as they came."""
    types: tuple[tuple[str, str], ...] = ()
    """Types that are spelled otherwise: from what they are, to what they are read as."""
    normal: frozenset[str] = frozenset()
    """Attributes of which case and blanks do not count."""
    numbers: frozenset[str] = frozenset()
    """Attributes whose texts are read as numbers."""

    def joined(self, other: Reading) -> Reading:
        """Return a reading with the differences of both."""
        return Reading(
            self.time_unit or other.time_unit,
            self.late or other.late,
            self.ties or other.ties,
            self.types + other.types,
            self.normal | other.normal,
            self.numbers | other.numbers,
        )

    @property
    def of_events(self) -> bool:
        """Return whether the events themselves have to be mended: no query and no option of a run does it."""
        return bool(self.ties or self.types or self.normal or self.numbers)


AS_IT_IS = Reading()


@dataclass(frozen=True)
class Fix:
    """A change of a query, or of the way its events are read, in words and as a function."""

    hint: str
    edit: Edit = unchanged
    reading: Reading = AS_IT_IS

    def joined(self, other: Fix) -> Fix:
        """Return the fix that makes both changes."""
        both = _both(self.edit, other.edit)
        return Fix(f"{self.hint}, and {other.hint}", both, self.reading.joined(other.reading))


def _both(first: Edit, second: Edit) -> Edit:
    return lambda query: second(first(query))


@dataclass(frozen=True)
class Scale:
    """Fixes by number, from the smallest change to the largest: if one gives a row, so does each after it."""

    least: int
    most: int
    at: Callable[[int], Fix]


@dataclass(frozen=True)
class Suspect:
    """What may be the cause: it is, if one of its fixes gives a row."""

    kind: str
    message: str
    place: Place | None
    fixes: tuple[Fix, ...]
    """The smallest change first."""
    size: float = 0.0
    """How large a change it is: of two causes the smaller one is reported first."""
    scale: Scale | None = None


@dataclass(frozen=True)
class Cause:
    """A reason for which a query has no row, and the change after which it has."""

    kind: str
    problem: Problem
    tested: Tested | None = None
    """The change that was run; None where nothing that can be written in a query or an option mends it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the cause as values for JSON."""
        place = self.problem.place
        return {
            "kind": self.kind,
            "message": self.problem.message,
            "mend": self.problem.hint,
            "place": None if place is None else [place.start, place.end],
            **({"change": self.tested.to_dict()} if self.tested else {}),
        }


@dataclass(frozen=True)
class Tested:
    """A changed query that was run, and what it gave."""

    query: str
    reading: Mapping[str, Any]
    """Options of the run that were changed, by name."""
    events_changed: bool
    """Whether events have to be mended; then the query alone has no row."""
    rows: int
    example: Sequence[Mapping[str, Any]] = ()
    """The events of a row."""

    def to_dict(self) -> dict[str, Any]:
        """Return the change as values for JSON."""
        return {
            "query": self.query,
            "options": dict(self.reading),
            "events_changed": self.events_changed,
            "rows": self.rows,
            "example": [dict(one) for one in self.example],
        }


@dataclass(frozen=True)
class Reached:
    """The longest prefix of the pattern that the events match."""

    parts: int
    of: int
    pattern: str
    """The text of the prefix; empty if not even the first part is matched."""
    following: str
    """The text of the part that comes next."""
    events: Sequence[Mapping[str, Any]] = ()
    """The events of one match of the prefix; none where only matches with long lists are there."""

    def to_dict(self) -> dict[str, Any]:
        """Return the prefix as values for JSON."""
        own = {"parts": self.parts, "of": self.of, "pattern": self.pattern, "next": self.following}
        return own | {"events": [dict(one) for one in self.events]}


@dataclass(frozen=True)
class Reason:
    """Why one query has no row, or how many it has."""

    query: str
    rows: int
    events: int
    causes: tuple[Cause, ...] = ()
    """The most likely first; those that are needed together stand one after the other."""
    reached: Reached | None = None
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as values for JSON."""
        return {
            "query": self.query,
            "rows": self.rows,
            "events": self.events,
            "reached": self.reached.to_dict() if self.reached else None,
            "causes": [cause.to_dict() for cause in self.causes],
            "notes": list(self.notes),
        }
