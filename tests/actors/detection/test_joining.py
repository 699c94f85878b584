"""Queries that join a running stream have the matches of the whole stream that begin after what came before."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import pytest

from elsinore.actors.engine import Engine
from elsinore.actors.streams.places import Beginning
from elsinore.planner.plans.model import Plan
from tests.support.streams import Row, bursts, cut, engine, fed, planned, shown

BEFORE = "QUERY before RETURN MATCHES x.v, x.w PATTERN SEQ(A x, D y) WHERE [k] WITHIN {window}"
PATTERNS = {
    "plain": "SEQ(A x, B y+, D z)",
    "not first": "SEQ(NOT C, A x, D y)",
    "not last": "SEQ(A x, D y, NOT C)",
    "not first or last": "SEQ(NOT C, A x, D y, NOT B)",
}
WITHIN, EVENTS, CUT = 12, 400, 200


def text(name: str, window: str) -> str:
    return f"QUERY joined RETURN MATCHES x.v, x.w PATTERN {PATTERNS[name]} WHERE [k] WITHIN {window}"


def expected(name: str, window: str, since: int, places: list[int] | None = None) -> list[Row]:
    """Return the rows of a run over the whole stream that begin at a tick or later."""

    def tick(time: Any) -> int:
        return int(time) if places is None else bisect_left(places, time)

    rows = fed(engine(text(name, window)), [bursts(EVENTS)])
    first = "not first" in name
    return [one for one in rows if (tick(one["end"]) - WITHIN if first else tick(one["start"])) >= since]


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("unit", ["seconds", "events"])
def test_in_an_engine_that_has_the_stream(name: str, unit: str) -> None:
    events, window = bursts(EVENTS), f"{WITHIN} {unit}"
    one = engine(BEFORE.format(window=window))
    found = [rows for part in cut(events.slice(0, CUT), 60) for rows in one.feed(part)]
    since = one.moment
    one.change(planned(f"{BEFORE.format(window=window)}; {text(name, window)}"))
    found += [rows for part in cut(events.slice(CUT), 60) for rows in one.feed(part)]
    rows = [row for row in shown(one, [*found, *one.finish()]) if row["query"] == "joined"]
    places = events.column(1).to_pylist() if unit == "events" else None
    assert rows == expected(name, window, since, places) != []


@pytest.mark.parametrize("name", PATTERNS)
def test_in_an_engine_that_begins_to_count_events(name: str) -> None:
    events, window = bursts(EVENTS), f"{WITHIN} events"
    made, times = planned(text(name, window)), events.column(1).to_pylist()
    beginning = Beginning(CUT, times[CUT - 1] + 1)
    one = Engine(Plan("auto", ()), engine(text(name, window)).clock, places=True, beginning=beginning)
    one.change(made)
    found = [rows for part in cut(events.slice(CUT), 60) for rows in one.feed(part)]
    since = bisect_left(times, beginning.time)
    assert shown(one, [*found, *one.finish()]) == expected(name, window, since, times) != []
