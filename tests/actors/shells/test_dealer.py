"""Events that are dealt to their owners: each place gets its own, and the rows are those of places that get all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.rows.partial_rows import PartialRows
from elsinore.actors.shells.blocks_in import buffer_of, events_of
from elsinore.actors.shells.collector import Collector
from elsinore.actors.shells.dealer import Dealer, dealt
from elsinore.actors.shells.graph_actor import Duty, GraphActor
from elsinore.actors.shells.remote_optimizer import RemoteOptimizer
from elsinore.planner.checks.check import check_text
from elsinore.planner.detection.choosing import chosen_trees
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.routes import Ranges, Route, routes, workload_along
from elsinore.planner.time.clock import Clock

GROUPS = 8

WORKLOAD = """
QUERY counted RETURN g, COUNT(*), SUM(A.v) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 20 seconds SLIDE 10 seconds;
QUERY by_h RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE [h] WITHIN 20 seconds SLIDE 10 seconds;
QUERY alone RETURN MATCHES A.v, B.v PATTERN SEQ(A, B) WHERE A.v + 3 < B.v WITHIN 6 seconds;
QUERY placed RETURN g, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 40 events SLIDE 20 events
"""
TYPES = ("A", "B")


def stream(seed: int, count: int, way: Sequence[Route]) -> pa.Table:
    """Return events, some of no partition and some of no named type, with their key groups as Spark numbers them."""
    random = np.random.default_rng(seed)
    values = {name: random.integers(0, 6, count) for name in ("g", "h", "v")}
    gone = random.random(count) < 0.2
    columns = {
        "kind": pa.array(random.integers(-1, 2, count), pa.int16()),
        "ticks": random.integers(seed * 30, seed * 30 + 30, count),
        "a_g": pa.array([None if out else f"g{one}" for one, out in zip(values["g"], gone, strict=True)]),
        "a_h": values["h"],
        "a_v": values["v"],
    }
    for number, route in enumerate(way):
        if route.keys:
            groups = values[route.keys[0]] * 5 % GROUPS
            groups = np.where(gone, -1, groups) if route.keys == ("g",) else groups
        else:
            groups = np.full(count, route.home(GROUPS))
        taken = route.types is None or np.asarray(columns["kind"]) >= 0
        columns[f"g_{number}"] = pa.array(np.where(taken, groups, -1), pa.int16())
    return pa.table(columns)


@pytest.mark.parametrize("places", [1, 2, 3, 8])
@pytest.mark.parametrize("everywhere", [(), (1,)])
def test_every_place_gets_the_events_of_its_key_groups_in_order_of_time(places: int, everywhere: Sequence[int]) -> None:
    ranges = Ranges.even(GROUPS, places)
    events = stream(3, 500, routes(check_text(WORKLOAD)))
    found = dealt(events, [ranges.bounds(number)[0] for number in ranges.firsts], everywhere)
    assert len(found) == places
    for place, own in enumerate(found):
        lo, hi = ranges.bounds(place)
        wanted = [
            row
            for row in events.to_pylist()
            if any(lo <= row[f"g_{n}"] < hi or (n in everywhere and row[f"g_{n}"] >= 0) for n in range(4))
            or (place == 0 and all(row[f"g_{n}"] == -1 for n in range(4)))
        ]
        assert Counter(map(repr, own.to_pylist())) == Counter(map(repr, wanted))
        assert own["ticks"].to_pylist() == sorted(own["ticks"].to_pylist())


def test_equal_times_stay_in_order() -> None:
    events = pa.table({"ticks": [1, 0] * 20, "n": range(40), "g_0": pa.array([0, 5, 5, 0] * 10, pa.int16())})
    for own in dealt(events, [0, 4]):
        rows = [(row["ticks"], row["n"]) for row in own.to_pylist()]
        assert rows == sorted(rows)


@pytest.fixture(autouse=True)
def without_an_optimizer_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each graph actor choose plans itself."""
    monkeypatch.setattr(RemoteOptimizer, "choose", lambda _, request: chosen_trees(request))


def actors(places: int, spread: bool) -> list[GraphActor]:
    made = check_text(WORKLOAD)
    clock = Clock.of(pa.int64(), "s", plan(made).spans)
    found = routes(made, spread)
    plans = tuple(plan(workload_along(route, made)) for route in found)
    duty = Duty(found, plans, TYPES, clock.save(), "exact", optimizer_of("auto"), places=places, key_groups=GROUPS)
    ranges = Ranges.even(GROUPS, 2).among(places)
    begun = [GraphActor() for _ in range(places)]
    for place, one in enumerate(begun):
        one.begin(duty, None, place, [ranges.bounds(number) for number in ranges.of(place)])
    return begun


Hand = Callable[[Sequence[GraphActor], pa.Table], list[list[bytes]]]
"""Returns the blocks of each actor for a batch."""


def shared(begun: Sequence[GraphActor], events: pa.Table) -> list[list[bytes]]:
    return [[buffer_of(events.slice(0, 100)), buffer_of(events.slice(100))] for _ in begun]


def to_owners(begun: Sequence[GraphActor], events: pa.Table) -> list[list[bytes]]:
    firsts = [one.ranges[0][0] for one in begun]
    everywhere = [number for number, route in enumerate(begun[0].duty.routes) if route.spread]
    found: list[list[bytes]] = [[] for _ in begun]
    for block in (events.slice(0, 100), events.slice(100)):
        *own, times = Dealer().deal(buffer_of(block), firsts, everywhere, True)
        for place, one in enumerate(own):
            found[place] += [one, times]
    return found


def rows(begun: Sequence[GraphActor], hand: Hand) -> list[str]:
    found: list[str] = []
    for number in range(1, 8):
        blocks = hand(begun, stream(number, 200, begun[0].duty.routes)) if number < 7 else [[] for _ in begun]
        watermark = number * 30 + 30 if number < 7 else None
        parts = []
        for one, own in zip(begun, blocks, strict=True):
            receipt, first = one.take(number, watermark, *own)
            assert not receipt.more
            parts.append(first)
        found += (f"{row} of batch {number}" for row in collected(parts))
    return found


def collected(parts: Sequence[list[PartialRows]]) -> list[str]:
    """Return rows as texts, the matches of a query in their order."""
    found: list[str] = []
    for some in Collector().collect(*parts):
        values = zip(some.window_start.tolist(), *some.groups.values(), *some.values.values(), strict=True)
        found += (f"{some.query} {value}" for value in values)
    return found


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("places", [2, 3, 5])
def test_rows_do_not_depend_on_how_events_are_handed_over(places: int, spread: bool) -> None:
    expected = rows(actors(places, spread), shared)
    assert {row.split()[0] for row in expected} == {"counted", "by_h", "alone", "placed"}
    assert rows(actors(places, spread), to_owners) == expected


class Keeping:
    """What a live stream stores of the events of its batches."""

    def __init__(self) -> None:
        self.events: dict[tuple[int, int], list[bytes]] = {}

    def put_events(self, batch: int, place: int, blocks: Sequence[memoryview]) -> None:
        self.events[batch, place] = list(map(bytes, blocks))

    def put_state(self, batch: int, place: int, state: bytes) -> None: ...


@pytest.mark.parametrize("hand", [shared, to_owners])
def test_every_event_of_a_live_stream_is_counted_once_and_stored_by_its_owners(hand: Hand) -> None:
    begun, keeping = actors(3, False), Keeping()
    for one in begun:
        one.duty = replace(one.duty, keeper=keeping)
    events = stream(1, 300, begun[0].duty.routes)
    counted: Counter[str] = Counter()
    for one, blocks in zip(begun, hand(begun, events), strict=True):
        counted += Counter(one.take(1, 60, *blocks)[0].types)
    kinds = events["kind"].to_pylist()
    assert counted == {"A": kinds.count(0), "B": kinds.count(1)}
    again = actors(3, False)
    for place, one in enumerate(again):
        stored, times = events_of(keeping.events[1, place])
        assert sorted(times.tolist()) == sorted(events["ticks"].to_pylist())
        assert len(stored) < len(events)
        assert collected([one.take(1, 60, *keeping.events[1, place])[1]]) == collected([begun[place].take(1, 60)[1]])
