"""Matches of several engines are merged into the order that one engine would have found them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from elsinore.actors.rows.event_order import EventOrder
from elsinore.connectors.rows.merging import by_events

Event = tuple[int, int]
"""The time of an event, and its number by arrival."""

Match = tuple[Event | None, list[Event], Event]
"""A variable that may be absent, a list, and one event."""

EVENTS = [(number // 3, number) for number in range(12)]


def drawn(random: np.random.Generator) -> list[Match]:
    found: list[Match] = []
    for _ in range(60):
        first, *others, last = (EVENTS[n] for n in np.sort(random.choice(len(EVENTS), random.integers(3, 7), False)))
        found.append((first if random.integers(4) else None, others[: random.integers(4)], last))
    return found


def start(match: Match) -> int:
    first, some, last = match
    return min(event[0] for event in (first, *some, last) if event is not None)


def key(match: Match) -> tuple[Any, ...]:
    """Return what a match is compared by, as the language defines it."""
    first, some, last = match
    return last[0], start(match), first or (-1, -1), some, last


def order_of(matches: list[Match], shift: int) -> EventOrder:
    """Return the order of the matches of an engine, whose numbers of events are its own."""
    own = sorted({event for first, some, last in matches for event in (first, *some, last) if event is not None})
    number = {event: place for place, event in enumerate(own)}
    texts = [
        [-1 if first is None else number[first], *(number[event] for event in some), -1, number[last]]
        for first, some, last in matches
    ]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    times, arrivals = (np.array([event[part] for event in own], np.int64) for part in (0, 1))
    return EventOrder(
        offsets, np.concatenate([np.array(text, np.int32) for text in [*texts, []]]), times, arrivals + shift
    )


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_matches_are_compared_by_end_start_and_events(seed: int, parts: int) -> None:
    random = np.random.default_rng(seed)
    matches = drawn(random)
    owners = random.integers(parts, size=len(matches))
    by_part = [
        sorted((one for one, owner in zip(matches, owners, strict=True) if owner == part), key=key)
        for part in range(parts)
    ]
    listed = [one for some in by_part for one in some]
    bounds = np.array([(start(one), one[2][0]) for one in listed], np.int64)
    orders = [order_of(some, 1 << 40) for some in by_part]
    found = by_events(bounds[:, 0], bounds[:, 1], orders)
    assert [key(listed[place]) for place in found] == sorted(map(key, matches))


def test_some_matches_keep_their_order() -> None:
    matches = sorted(drawn(np.random.default_rng(0)), key=key)
    order = order_of(matches, 0)
    wanted = np.array([3, 50, 7])
    some = order_of([matches[place] for place in wanted], 0)
    taken = order.take(wanted)
    events = [(taken.times[number], taken.arrivals[number]) if number >= 0 else None for number in taken.numbers]
    assert taken.offsets.tolist() == some.offsets.tolist()
    assert events == [(some.times[n], some.arrivals[n]) if n >= 0 else None for n in some.numbers]


def test_there_may_be_no_match() -> None:
    none = np.zeros(0, np.int64)
    assert by_events(none, none, [order_of([], 0)] * 2).tolist() == []
