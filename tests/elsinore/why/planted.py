"""Queries and events with one planted mistake each, and the kind of cause that has to be found first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True)
class Planted:
    """A mistake in a query, in its events, or in the options of a run."""

    name: str
    kind: str
    """The kind of the cause that has to come first."""
    query: str
    events: list[Event]
    options: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    """What is asked of `why` beside that: a group, a window."""
    chunk: int | None = None
    """Events come in batches of so many, so that they may be late; None: in one."""

    def __str__(self) -> str:
        return self.name


def event(of_type: str, time: float, **attributes: Any) -> Event:
    """Return an event."""
    return {"type": of_type, "time": time, **attributes}


def rides() -> list[Event]:
    """Return three rides by three drivers, of which each is requested, travels for a while, and is cancelled."""
    return [
        one
        for ride in range(3)
        for one in (
            event("Request", 100 * ride, driver=f"d{ride}", kind="Pool", fare=20 + ride, zone=ride),
            event("Travel", 100 * ride + 5, driver=f"d{ride}", kind="Pool", speed=20 + ride, fare=20, zone=ride),
            event("Travel", 100 * ride + 9, driver=f"d{ride}", kind="Pool", speed=15 + ride, fare=21, zone=ride),
            event("Cancel", 100 * ride + 20, driver=f"d{ride}", kind="Pool", fare=5, zone=ride),
        )
    ]


def with_each(events: list[Event], **changes: Any) -> list[Event]:
    """Return events with attributes computed from each: a function of the event, or a value."""
    return [one | {name: how(one) if callable(how) else how for name, how in changes.items()} for one in events]


def query(
    pattern: str = "SEQ(Request, Travel+, Cancel)",
    where: str = "[driver]",
    within: str = "60 seconds SLIDE 20 seconds",
    returns: str = "COUNT(*)",
    semantics: str = "",
    group: str = "",
    tail: str = "",
) -> str:
    """Return the text of a query."""
    clauses = (
        ("RETURN", returns),
        ("PATTERN", pattern),
        ("SEMANTICS", semantics),
        ("WHERE", where),
        ("GROUP-BY", group),
        ("WITHIN", within),
        ("", tail),
    )
    return "\n".join(["QUERY q", *(f"{name} {text}".strip() for name, text in clauses if text)])


def matches(pattern: str = "SEQ(Request, Travel t+, Cancel)", within: str = "60 seconds", **parts: str) -> str:
    """Return the text of a query that returns matches."""
    return query(pattern, within=within, returns="MATCHES", **parts)


def planted() -> Iterator[Planted]:
    """Yield the forty cases."""
    fine = rides()
    # Spelling of types and values.
    yield Planted("a letter of a type", "type", query("SEQ(Request, Travel+, Cancle)"), fine)
    yield Planted("case of a type", "type", matches("SEQ(request, Travel t+, Cancel)"), fine)
    blank = with_each(fine, type=lambda one: one["type"] + (" " if one["type"] == "Cancel" else ""))
    yield Planted("a blank behind a type", "type", query(), blank)
    yield Planted("no such type", "type", query("SEQ(Request, Travel+, Refund)"), fine)
    yield Planted("a letter of a value", "value", query(where="[driver] AND Request.kind = 'Pol'"), fine)
    yield Planted("case of a value", "value", matches(where="[driver] AND Request.kind = 'pool'"), fine)
    spaced = with_each(fine, kind="Pool ")
    yield Planted("a blank behind a value", "value", query(where="[driver] AND Cancel.kind = 'Pool'"), spaced)
    listed = "[driver] AND Request.kind IN ('Poool', 'Single')"
    yield Planted("a letter in a list of values", "value", query(where=listed), fine)
    # Kinds of values, and nulls.
    texts = with_each(fine, zone=lambda one: str(one["zone"]))
    yield Planted("a number where texts are", "kind", query(where="[driver] AND Request.zone = 1"), texts)
    yield Planted("a text where numbers are", "kind", matches(where="[driver] AND Request.zone = '1'"), fine)
    fares = with_each(fine, fare=lambda one: str(one["fare"]))
    yield Planted("numbers as texts are ordered as texts", "kind", query(where="Request.fare >= '9'"), fares)
    empty = with_each(fine, fare=lambda one: None if one["type"] == "Cancel" else one["fare"])
    yield Planted("an attribute that a type lacks", "null", query(where="[driver] AND Cancel.fare > 0"), empty)
    keyless = with_each(fine, driver=lambda one: None if one["type"] == "Cancel" else one["driver"])
    yield Planted("a key that a type lacks", "null", query(), keyless)
    # Predicates.
    slow = "[driver] AND Travel.speed < 10"
    yield Planted("a bound that no event meets", "predicate", query(where=slow), fine)
    yield Planted(
        "two bounds that exclude each other", "predicate", matches(where="t.speed > 20 AND t.speed < 17"), fine
    )
    rising = "[driver] AND Request.fare < Travel.fare"
    dear = with_each(fine, fare=lambda one: 99 if one["type"] == "Request" else one["fare"])
    yield Planted("neighbours that are never in this order", "predicate", query(where=rising), dear)
    yield Planted("a condition on a list", "predicate", matches(where="[driver] AND COUNT(t) > 5"), fine)
    falling = "[driver] AND t.speed < NEXT(t).speed AND COUNT(t) = 2"
    yield Planted("NEXT that never holds", "predicate", matches(where=falling), fine)
    # Keys and groups.
    unique = with_each(fine, ride=lambda one: one["time"])
    yield Planted("a key of its own for each event", "key", query(where="[driver, ride]"), unique)
    yield Planted("a group of its own for each event", "key", query(group="ride"), unique)
    cased = with_each(fine, driver=lambda one: one["driver"].upper() if one["type"] == "Cancel" else one["driver"])
    yield Planted("case of a key", "key spelling", query(), cased)
    yield Planted("a group that is spelled otherwise", "group", query(group="driver"), fine, asked={"group": "D1"})
    # Time.
    yield Planted("a window that is too short", "window", query(within="15 seconds SLIDE 15 seconds"), fine)
    yield Planted("a window of matches that is too short", "window", matches(within="12 seconds"), fine)
    yield Planted("a window of too few events", "window", matches(within="3 events"), fine)
    edge = [event("A", 55), event("B", 65)]
    yield Planted("the edge of a window", "window edge", query("SEQ(A, B)", "", "60 seconds SLIDE 60 seconds"), edge)
    milliseconds = with_each(fine, time=lambda one: 1000 * one["time"])
    yield Planted("times in milliseconds", "time unit", query(), milliseconds)
    epoch = with_each(fine, time=lambda one: 1_700_000_000_000 + 1000 * one["time"])
    yield Planted("times in milliseconds since 1970", "time unit", matches(), epoch)
    yield Planted("no event in the window", "no window", query(), fine, asked={"window": 5000})
    same = [event("Request", 7, driver="d"), event("Travel", 7, driver="d"), event("Cancel", 9, driver="d")]
    yield Planted("equal times", "equal times", query(), same)
    # Order, semantics, negation.
    turned = [event("B", 1, k=1), event("A", 2, k=1), event("B", 11, k=2), event("A", 12, k=2)]
    yield Planted("the other order", "order", query("SEQ(A, B)", "[k]", "5 seconds SLIDE 1 seconds"), turned)
    noisy = [event("A", 1), event("X", 2), event("B", 3)]
    yield Planted("an event between", "semantics", query("SEQ(A, B)", "", semantics="contiguous"), noisy)
    nearer = [event("A", 1, v=1), event("A", 2, v=9), event("B", 3, v=5), event("C", 4, v=0)]
    nearest = query("SEQ(A, B, C)", "A.v < B.v AND B.v < 9 AND C.v < B.v", semantics="contiguous")
    yield Planted("an event between that does not count", "semantics", nearest, nearer)
    yield Planted("NOT in between", "not", query("SEQ(Request, NOT Travel, Cancel)"), fine)
    yield Planted(
        "NOT at the end",
        "not",
        query("SEQ(Request, Travel+, NOT Cancel)", within="100 seconds SLIDE 100 seconds"),
        fine,
    )
    # Repetitions, LIMIT, late and bad events.
    yield Planted("more repetitions than there are", "repetition", matches("SEQ(Request, Travel t{4,9}, Cancel)"), fine)
    many = [event("A", 1), event("B", 2), event("B", 3), event("B", 4), event("C", 5)]
    exact = matches("SEQ(A, B b{1,2}, C)", where="", semantics="contiguous")
    yield Planted("fewer repetitions than there are", "repetition", exact, many)
    yield Planted("LIMIT", "limit", matches("SEQ(A, B b+, C)", where="", tail="LIMIT 2"), many)
    tardy = [event("Request", 0, driver="d"), event("Cancel", 9, driver="d"), event("Travel", 5, driver="d")]
    yield Planted("late events", "late", query(), tardy, chunk=1)
    bad = with_each(fine, time=lambda one: None if one["type"] == "Cancel" else one["time"])
    yield Planted("dead letters", "dead", query(), bad)


CASES = list(planted())
