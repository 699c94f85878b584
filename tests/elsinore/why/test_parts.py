"""Test what changes are tested over: the parts of long streams, and matches with long lists."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import polars as pl
import pytest

import elsinore
from elsinore.inputs import checked
from elsinore.reasons.events import Events, read_events
from elsinore.reasons.trial import MOST_EVENTS, part_of

READING = {"type_column": "type", "time_column": "time", "time_unit": "s"}
LONG = [{"type": "T", "time": time, "k": 1, "v": 5} for time in range(2, 80)]
"""Events of which any subset is a list."""


def keyed(seed: int, keys: int) -> pl.DataFrame:
    """Return events with two keys, of which some are null, and few events of type A."""
    random = Random(seed)
    rows = [
        {
            "type": "A" if random.random() < 0.01 else "B",
            "time": time,
            "k": random.choice([None, "x", "y", "z"]),
            "n": random.randrange(keys),
        }
        for time in range(3 * MOST_EVENTS)
    ]
    return pl.DataFrame(rows, schema_overrides={"k": pl.Categorical})


def events_of(frame: pl.DataFrame, text: str) -> tuple[Events, Events]:
    """Return the events of a query, and the part over which changes of it are tested."""
    (query,) = checked(text).queries
    events = read_events(query, frame, READING, Fraction(0))
    return events, part_of(events, query)


@pytest.mark.parametrize("keys", [2, 20, 300, 4_000, 1_000_000])
def test_whole_partitions_are_those_of_the_first_rare_events(keys: int) -> None:
    frame = keyed(keys, keys)
    _, part = events_of(frame, "RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE [k, n] WITHIN 9 seconds SLIDE 9 seconds")
    rows = list(frame.select("type", "k", "n", "time").iter_rows())
    sizes = Counter((k, n) for _, k, n, _ in rows if k is not None)
    wanted, held = set(), 0
    for key in dict.fromkeys((k, n) for kind, k, n, _ in rows if kind == "A" and k is not None):
        held += sizes[key]
        if held > MOST_EVENTS // 2:
            break
        wanted.add(key)
    times = set(part.times.tolist())
    assert {time for _, k, n, time in rows if (k, n) in wanted} <= times
    assert len(times) == len(part) <= MOST_EVENTS


@pytest.mark.parametrize("returns", ["COUNT(*)", "MATCHES"])
@pytest.mark.parametrize(
    ("first", "reached"),
    [([], 0), ([{"type": "R", "time": 90, "k": 1, "v": 3}], 1), ([{"type": "R", "time": 1, "k": 1, "v": 3}], 2)],
)
def test_long_lists_are_not_searched_one_by_one(returns: str, first: list[dict[str, int]], reached: int) -> None:
    slide = "" if returns == "MATCHES" else " SLIDE 100 seconds"
    query = f"RETURN {returns} PATTERN SEQ(R, T t+, C) WHERE [k] WITHIN 100 seconds{slide}"
    (reason,) = elsinore.why(query, [*first, *LONG]).reasons
    assert (reason.rows, [cause.kind for cause in reason.causes][:1]) == (0, ["type"])
    assert reason.reached is not None
    assert reason.reached.parts == reached


def test_the_ends_of_a_list_may_be_different_events() -> None:
    """Trends are counted where the event after the first part is no event before the last."""
    rides = [
        {"type": "R", "time": 1, "v": 4},
        *({"type": "T", "time": time, "v": 5 if time < 40 else 1} for time in range(2, 80)),
        {"type": "C", "time": 90, "v": 2},
    ]
    where = "R.v < t.v AND t.v < C.v"
    query = f"RETURN COUNT(*) PATTERN SEQ(R, T t+, C, E) WHERE {where} WITHIN 100 seconds SLIDE 100 seconds"
    (reason,) = elsinore.why(query, rides).reasons
    assert reason.reached is not None
    assert reason.reached.parts == 3
    assert [event["v"] for event in reason.reached.events] == [4, 5, 1, 2]
