"""Test the search for causes with cases of another domain, which were written after it and did not change it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import elsinore

Event = dict[str, Any]


def sessions() -> list[Event]:
    """Return sixty sessions, each of a login, a page, two charges and a logout."""
    random = Random(1)
    times = (("Login", 0), ("Browse", 3), ("Charge", 11), ("Charge", 17), ("Logout", 29))
    return [
        {"type": kind, "time": 50 * user + after, "user": f"user{user}"}
        | {"country": "FI" if kind == "Login" else None, "level": 3 if kind == "Browse" else None}
        | {"amount": random.randint(20, 90) if kind == "Charge" else None}
        for user in range(60)
        for kind, after in times
    ]


def total(pattern: str = "SEQ(Login, Charge c+, Logout)", where: str = "[user]", within: str = "40") -> str:
    """Return a query that counts trends."""
    return f"QUERY q RETURN COUNT(*) PATTERN {pattern} WHERE {where} WITHIN {within} seconds SLIDE 10 seconds"


def found(pattern: str = "SEQ(Login, Charge c+, Logout)", where: str = "[user]", within: str = "40 seconds") -> str:
    """Return a query for matches."""
    return f"QUERY q RETURN MATCHES PATTERN {pattern} WHERE {where} WITHIN {within}"


def of(kind: str, name: str, how: Callable[[Event], Any]) -> list[Event]:
    """Return the sessions with another value in the events of one type."""
    return [one | {name: how(one)} if one["type"] == kind else one for one in sessions()]


PLAIN = sessions()
CASES: list[tuple[str, str, list[Event]]] = [
    ("type", total("SEQ(Login, Charges c+, Logout)"), PLAIN),
    ("type", found("SEQ(Login, Charge c+, LogOut)"), PLAIN),
    ("type", total("SEQ(Login, Charge c+, Exit)"), PLAIN),
    ("value", found(where="[user] AND Login.country = 'Fi'"), PLAIN),
    ("value", total(where="[user] AND Login.country IN ('fi', 'NO')"), PLAIN),
    ("window", total(within="20"), PLAIN),
    ("window", found(within="25 seconds"), PLAIN),
    ("window", found(within="4 events"), PLAIN),
    ("time unit", total(), [one | {"time": 1000 * one["time"]} for one in PLAIN]),
    ("time unit", found(), [one | {"time": 1_000_000 * one["time"]} for one in PLAIN]),
    ("not", total("SEQ(Login, NOT Browse, Charge c+, Logout)"), PLAIN),
    ("not", found("SEQ(Login, Charge c, Charge d, NOT Logout)"), PLAIN),
    ("semantics", total("SEQ(Login, Charge c+, Logout) SEMANTICS contiguous"), PLAIN),
    ("predicate", total(where="[user] AND c.amount > 500"), PLAIN),
    ("predicate", found(where="[user] AND COUNT(c) >= 3"), PLAIN),
    ("predicate", found("SEQ(Login, Charge x, Charge y)", "[user] AND x.amount + 100 < y.amount"), PLAIN),
    ("key", total(where="[user, id]"), [one | {"id": number} for number, one in enumerate(PLAIN)]),
    ("key spelling", total(), of("Charge", "user", lambda one: one["user"].upper())),
    ("key spelling", found(), of("Logout", "user", lambda one: " " + one["user"])),
    ("order", total("SEQ(Login, Logout, Charge c+)"), PLAIN),
    ("order", found("SEQ(Browse, Login, Logout)"), PLAIN),
    ("null", found(), of("Charge", "user", lambda _: None)),
    ("kind", total(where="[user] AND c.amount > 30"), of("Charge", "amount", lambda one: str(one["amount"]))),
    ("kind", found(where="[user] AND c.amount > '30'"), PLAIN),
    ("repetition", found("SEQ(Login, Charge c{3,}, Logout)"), PLAIN),
    ("repetition", total("SEQ(Login, Charge c{5,7}, Logout)"), PLAIN),
    ("equal times", total("SEQ(Login, Browse)"), of("Browse", "time", lambda one: one["time"] - 3)),
    ("dead", total(), of("Logout", "time", lambda _: None)),
    ("dead", found(), of("Charge", "time", lambda _: "soon")),
    ("limit", found(within="40 seconds LIMIT 1"), PLAIN),
]


@pytest.mark.parametrize(("kind", "query", "events"), CASES)
def test_the_cause_comes_first(kind: str, query: str, events: list[Event]) -> None:
    (reason,) = elsinore.why(query, events).reasons
    assert [cause.kind for cause in reason.causes][:1] == [kind], reason.to_dict()
