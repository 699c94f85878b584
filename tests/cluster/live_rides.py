"""Live streams of rides: a workload over them, and waiting for what they take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from ray._private import state

import elsinore

COUNTED = """
QUERY by_district
RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed), MIN(T.speed), MAX(T.price)
PATTERN SEQ(Request R, Travel T+, Cancel C) WHERE [rider] GROUP-BY district WITHIN 10 minutes SLIDE 5 minutes

QUERY any_cancelled
RETURN district, COUNT(*)
PATTERN SEQ(Travel T+, Cancel C) WHERE [rider] AND T.speed < 25 GROUP-BY district WITHIN 10 minutes SLIDE 5 minutes

QUERY any_requested
RETURN district, COUNT(*)
PATTERN SEQ(Request R, Travel T+) WHERE [rider] GROUP-BY district WITHIN 10 minutes SLIDE 5 minutes

QUERY everywhere
RETURN COUNT(*), SUM(T.duration), AVG(T.speed), MIN(T.speed), MAX(T.duration)
PATTERN SEQ(Request R, Travel T+) WHERE [driver] WITHIN 10 minutes SLIDE 5 minutes

QUERY with_each
RETURN district, COUNT(*)
PATTERN SEQ(Request R, Travel T+, Pickup P) WHERE [rider] GROUP-BY district WITHIN 5 minutes

QUERY both
RETURN district, COUNT(*)
PATTERN SEQ(Request, Travel) & SEQ(Travel, Cancel) GROUP-BY district WITHIN 1 minute SLIDE 1 minute

QUERY all_in_one
RETURN COUNT(*) PATTERN SEQ(Cancel, Request) WITHIN 1 minute SLIDE 1 minute

QUERY next_to
RETURN COUNT(*) PATTERN SEQ(Request, Travel) SEMANTICS contiguous WHERE [driver] WITHIN 5 minutes SLIDE 5 minutes
"""

MATCHED = """
QUERY stories
RETURN MATCHES R.driver, T.speed, C.kind
PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 20 AND R.price < C.price WITHIN 5 minutes

QUERY lists
RETURN MATCHES
PATTERN SEQ(Request R, Travel T+, Pickup P) WHERE [driver] AND T.speed < 5.2 AND T.speed <= NEXT(T).speed
GROUP-BY district WITHIN 1 minute

QUERY never_picked_up
RETURN MATCHES R.rider, T.speed
PATTERN SEQ(Request R, Travel T, NOT Pickup) WHERE [rider] AND T.speed < 5 WITHIN 1 minute

QUERY nearby
RETURN MATCHES R.driver, P.driver
PATTERN SEQ(Request R, Pickup P) WHERE R.district = P.district AND R.price < P.price WITHIN 500 EVENTS LIMIT 3

QUERY first_ones
RETURN MATCHES R.rider, P.rider
PATTERN SEQ(NOT Travel, Request R, Pickup P) WHERE [district] WITHIN 400 EVENTS
"""

WORKLOAD = COUNTED + MATCHED


EVENTS = 30_000

PIECES = 12


def begin(tmp_path: Path, workload: str = WORKLOAD, **options: Any) -> elsinore.LiveStream:
    options = {"sink": tmp_path / "rows.jsonl", "checkpoint": tmp_path / "checkpoint", **options}
    return elsinore.stream(workload, tmp_path / "in", **options)


def until(live: elsinore.LiveStream, what: Callable[[], bool], seconds: float = 40) -> None:
    end = monotonic() + seconds
    while not what():
        assert monotonic() < end, f"{live} {live.metrics}"
        live.wait(0.05)


def taken(live: elsinore.LiveStream, events: int) -> None:
    until(live, lambda: live.metrics.events >= events)


def pid_of(name: str) -> int:
    """Return the process id of a live actor, by its class or by a prefix of its name."""
    return pids_of(name)[0]


def pids_of(name: str) -> list[int]:
    alive = [one for one in state.actors().values() if one["State"] == "ALIVE"]
    return [int(one["Pid"]) for one in alive if name == one["ActorClassName"] or one["Name"].startswith(name)]
