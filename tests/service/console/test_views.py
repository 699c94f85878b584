"""What pages share: jobs and bursts are looked at once, and each page is told what it does not know."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pytest

from elsinore.cluster.service.console.bursts_view import KEPT_BURSTS, BurstsView
from elsinore.cluster.service.console.jobs_view import KEPT_SAMPLES, JobsView
from elsinore.cluster.service.console.updates import REPLICA, Message, Position, updates


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def document(name: str, events: int, rows: int = 0) -> dict[str, Any]:
    return {"id": name, "state": "running", "workload": "long", "metrics": {"events": events, "rows": rows}}


class Looked:
    """A view of jobs, whose documents are set, and looks are counted."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.looks = 0
        self.clock = Clock()
        self.view = JobsView(self.documents, self.clock)

    def documents(self) -> list[dict[str, Any]]:
        self.looks += 1
        return self.found

    async def look(self, seconds: float, *found: dict[str, Any]) -> None:
        self.found = list(found)
        self.clock.now += seconds
        await self.view.look()


def test_all_pages_share_one_look_a_second() -> None:
    async def test() -> None:
        here = Looked()
        await asyncio.gather(*(here.view.look() for _ in range(50)))
        assert here.looks == 1
        await here.look(0.5)
        assert here.looks == 1
        await here.look(0.6)
        assert here.looks == 2

    asyncio.run(test())


def test_a_page_is_told_what_changed() -> None:
    async def test() -> None:
        here = Looked()
        await here.look(1, document("a", 10), document("b", 5))
        first = here.view.since(None)
        assert (first["all"], [job["id"] for job in first["jobs"]]) == (True, ["a", "b"])
        assert "workload" not in first["jobs"][0]
        known = here.view.number
        await here.look(2, document("a", 110, 8), document("b", 5))
        told = here.view.since(known)
        assert not told["all"]
        assert [(job["id"], job["events_rate"], job["rows_rate"]) for job in told["jobs"]] == [("a", 50.0, 4.0)]
        assert here.view.since(here.view.number) == {"all": False, "jobs": [], "gone": []}
        await here.look(1, document("b", 5))
        assert here.view.since(known)["gone"] == ["a"]
        assert here.view.since(here.view.number + 1)["all"], "the number of another process"

    asyncio.run(test())


def test_a_page_that_slept_for_long_gets_all_jobs() -> None:
    async def test() -> None:
        here = Looked()
        await here.look(1, document("a", 1))
        known = here.view.number
        for number in range(KEPT_SAMPLES + 1):
            await here.look(1, document("a", 1), document(f"b{number}", 1))
        assert here.view.since(known)["all"]
        assert len(here.view.since(None)["jobs"][0]["rates"]) == KEPT_SAMPLES

    asyncio.run(test())


@pytest.mark.parametrize(("events", "seconds", "rate"), [(400, 4, 100.0), (0, 1, 0.0), (5000, 60, 0.0)])
def test_rates_are_of_the_last_seconds(events: int, seconds: float, rate: float) -> None:
    async def test() -> None:
        here = Looked()
        await here.look(1, document("a", 0))
        await here.look(seconds, document("a", events))
        assert here.view.since(None)["jobs"][0]["events_rate"] == rate

    asyncio.run(test())


def table(*bursts: tuple[int, int, list[str], list[str]]) -> pa.Table:
    names = ("time", "events", "shared", "apart")
    return pa.table({name: [burst[at] for burst in bursts] for at, name in enumerate(names)})


def test_bursts_are_numbered_once_and_their_work_is_counted() -> None:
    async def test() -> None:
        clock, view = Clock(), BurstsView()
        view._clock = clock
        replies = [
            [table((1, 10, ["q", "r", "s"], []), (1, 10, ["q", "r", "s"], []))],
            [table((1, 10, ["q", "r", "s"], [])), table((2, 4, [], ["q", "r"]), (3, 2, ["q", "r"], ["s"]))],
            [table((1, 10, ["q", "r", "s"], []), (1, 10, ["q", "r", "s"], []))],
        ]

        async def ask() -> list[list[pa.Table]]:
            return [replies.pop(0), []]

        await asyncio.gather(view.look(ask), view.look(ask))
        number, first = view.since(None)
        assert (number, [json.loads(burst)["time"] for burst in first]) == (2, [1, 1])
        assert (view.work.taken, view.work.apart) == (20, 60)
        clock.now += 1
        await view.look(ask)
        assert [json.loads(burst)["time"] for burst in view.since(number)[1]] == [2, 3]
        assert (view.work.taken, view.work.apart) == (20 + 8 + 4, 60 + 8 + 6)
        clock.now += 1
        await view.look(ask)
        assert view.since(None)[0] == 5, "one that was forgotten comes again as another one"
        assert view.since(10**6) == view.since(None)

    asyncio.run(test())


def test_stored_matches_are_counted_besides_bursts() -> None:
    async def test() -> None:
        view = BurstsView()
        bursts = [table((1, 10, ["q", "r"], []))]
        stored = [pa.table({"node": ["SEQ(A, B)"], "time": [2], "matches": [7], "queries": [["f", "g", "h"]]})]

        async def ask() -> list[list[pa.Table]]:
            return [bursts, stored]

        await view.look(ask)
        assert [json.loads(burst).get("node") for burst in view.since(None)[1]] == [None, "SEQ(A, B)"]
        assert asdict(view.work) == {"taken": 10, "apart": 20, "stored": 7, "stored_apart": 21}

    asyncio.run(test())


def test_few_bursts_are_kept() -> None:
    async def test() -> None:
        view = BurstsView()

        async def ask() -> list[list[pa.Table]]:
            return [[table(*((at, 1, ["q"], []) for at in range(3 * KEPT_BURSTS)))], []]

        await view.look(ask)
        number, kept = view.since(0)
        assert (number, len(kept)) == (3 * KEPT_BURSTS, KEPT_BURSTS)

    asyncio.run(test())


@pytest.mark.parametrize(
    "text",
    [None, "", "x", "5", f"{REPLICA} 1 2", f"{REPLICA} 1 2 3", f"{REPLICA} {'9' * 30} - -", f"{REPLICA}\n- - -"],
    ids=["none", "empty", "a word", "a number", "too short", "too long", "too large", "with a new line"],
)
def test_another_position_is_the_beginning(text: str | None) -> None:
    assert Position.read(text) == Position()


def test_a_position_is_read_back_and_at_another_replica_only_its_rows_count() -> None:
    position = Position(3, 70, "12.5")
    assert Position.read(str(position)) == position
    assert Position.read(str(position).replace(REPLICA, "00000000")) == Position(rows="12.5")
    assert Position.read(str(Position())) == Position()


def test_a_stream_tells_each_part_once_and_ends() -> None:
    async def test() -> None:
        clock = Clock()

        async def part(position: Position) -> Message | None:
            clock.now += 10
            seen = position.jobs or 0
            return Message("jobs", f'"{seen}"', Position(seen + 1)) if seen < 3 else None

        stream = [chunk async for chunk in updates([part], Position(), clock, 0, seconds=60)]
        assert stream[0].startswith(b"retry: ")
        assert stream[1] == f'event: jobs\nid: {REPLICA} 1 - -\ndata: "0"\n\n'.encode()
        assert [chunk[:5] for chunk in stream[1:]] == [b"event"] * 3 + [b":\n\n"] * 3
        resumed = [chunk async for chunk in updates([part], Position(2), clock, 0, seconds=20)]
        assert b'data: "2"' in resumed[1]

    asyncio.run(test())


def test_a_stream_has_a_bound_in_bytes() -> None:
    """What lies in buffers for a browser that sleeps is at most one stream."""

    async def test() -> None:
        async def part(position: Position) -> Message:
            return Message("rows", "x" * 1000, position)

        stream = [chunk async for chunk in updates([part], Position(), Clock(), 0, most=10_000)]
        assert 10_000 <= sum(map(len, stream)) < 12_000

    asyncio.run(test())
