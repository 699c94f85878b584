"""Live streams write the rows of a run over the whole stream, whatever processes die, stop or restart."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest

import elsinore
from elsinore.cluster.machines.session import Session, session
from elsinore.connectors.live_sinks import open_live_sink
from elsinore.connectors.spark.handover import SparkBlocks
from tests.cluster.disks import full, small_disk
from tests.cluster.live_rides import EVENTS, PIECES, begin, taken, until
from tests.cluster.streaming import Growing, answered, answers_alone, cut_short, damage, row_of

pytestmark = pytest.mark.usefixtures("running")


def test_rows_are_those_of_a_stream_with_an_end(tmp_path: Path, growing: Growing, expected: Any) -> None:
    growing.more()
    with begin(tmp_path) as live:
        for _ in range(PIECES - 1):
            taken(live, live.metrics.events + 1)
            growing.more()
        growing.end()
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected
    assert live.metrics.batches > 3


@pytest.mark.parametrize(
    "ways",
    [
        ("dealt", "shared", "shared", "dealt", "shared"),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in [("shared",), ("dealt", "dealt", "shared", "dealt", "dealt")]
        ),
    ],
)
def test_a_stream_goes_on_where_it_stopped_with_other_numbers_of_actors(
    tmp_path: Path, growing: Growing, expected: Any, ways: tuple[str, ...]
) -> None:
    for actors, way in zip((2, 5, 1, 3), cycle(ways), strict=False):
        growing.more(3)
        with begin(tmp_path, actors=actors, hand_over=way) as live:
            taken(live, growing.put * (EVENTS // PIECES))
            assert live.metrics.hand_over == ("shared" if actors == 1 else way)
    growing.end()
    with begin(tmp_path, actors=2, hand_over=ways[-1]) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected


MATCHING = """
QUERY stories RETURN MATCHES PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 8 WITHIN 5 minutes;
QUERY near RETURN MATCHES R.driver, T.speed
PATTERN SEQ(Request R, Travel T) WHERE [rider] AND T.speed < 8 GROUP-BY district WITHIN 900 events LIMIT 2;
QUERY counted RETURN district, COUNT(*)
PATTERN SEQ(Request R, Travel T+) WHERE [rider] GROUP-BY district WITHIN 2000 events SLIDE 1000 events
"""


def test_matches_and_windows_of_events_of_a_stream_that_goes_on(
    tmp_path: Path, growing: Growing, rides: pa.Table
) -> None:
    for actors in (2, 3):
        growing.more(4)
        with begin(tmp_path, MATCHING, actors=actors) as live:
            taken(live, growing.put * (EVENTS // PIECES))
    growing.end()
    with begin(tmp_path, MATCHING, actors=2) as live:
        taken(live, EVENTS + 1)
    lines = [line for path in (tmp_path / "rows.jsonl").glob("*.jsonl") for line in path.read_text().splitlines()]
    alone = elsinore.run(MATCHING, rides, engine="local").rows()
    assert {row["query"] for row in alone} == {"stories", "near", "counted"}
    assert _closed(map(json.loads, lines)) == _closed(alone)


APART = """
QUERY pricey RETURN MATCHES R.rider, C.rider PATTERN SEQ(Request R, Cancel C) WHERE R.price > C.price + 20
WITHIN 10 seconds;
QUERY odd RETURN MATCHES C.rider, P.rider PATTERN SEQ(Complain C, Pickup P) WITHIN 5 seconds;
QUERY ends RETURN MATCHES N.rider, D.rider PATTERN SEQ(NoShow N, Dropoff D, NOT Pay) WITHIN 6 seconds;
QUERY near RETURN MATCHES C.rider, T.rider PATTERN SEQ(Cancel C, Travel T)
WHERE C.district = T.district AND T.speed < 7 WITHIN 900 events
"""
CONNECTING = "QUERY more RETURN MATCHES N.rider PATTERN SEQ(Complain C, Pickup P, NoShow N, Dropoff D) WITHIN 9 seconds"


def test_queries_without_keys_have_an_actor_for_each_component(
    tmp_path: Path, growing: Growing, rides: pa.Table
) -> None:
    """A new query that connects two components, and other numbers of actors, cannot be seen in the rows of others."""
    homes: set[int] = set()
    for actors, text in ((2, APART), (3, f"{APART}; {CONNECTING}"), (2, APART)):
        growing.more(4)
        with begin(tmp_path, text, actors=actors) as live:
            taken(live, min(growing.put, PIECES) * (EVENTS // PIECES))
            crew = live._live.crew
            homes = {route.home(crew.ranges.groups) for route in crew.duty.routes if not route.counts_events}
            assert len(crew.duty.routes) == 4
    growing.end()
    with begin(tmp_path, APART, actors=2) as live:
        taken(live, EVENTS + 1)
    lines = [line for path in (tmp_path / "rows.jsonl").glob("*.jsonl") for line in path.read_text().splitlines()]
    found = [row for row in map(json.loads, lines) if row["query"] != "more"]
    alone = elsinore.run(APART, rides, engine="local").rows()
    assert {row["query"] for row in alone} == {"pricey", "odd", "ends", "near"}
    assert _closed(found) == _closed(alone)
    assert len(homes) == 3


def _closed(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    """Return the rows without those of windows of events that are still open at the end of the stream."""
    closed = (json.dumps(row, sort_keys=True) for row in rows if row.get("event_end", 0) <= EVENTS)
    # JSON lines have 4.0 as 4.
    return Counter(repr(json.loads(row, parse_float=lambda text: _whole(float(text)))) for row in closed)


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def test_a_checkpoint_has_a_path_and_an_address(tmp_path: Path, growing: Growing, expected: Any) -> None:
    address = (tmp_path / "checkpoint").as_uri()
    growing.more(3)
    with begin(tmp_path, checkpoint=address) as live:
        with pytest.raises(elsinore.InputError, match=f"process {os.getpid()} already uses the checkpoint"):
            begin(tmp_path)
        taken(live, growing.put * (EVENTS // PIECES))
    growing.end()
    with begin(tmp_path) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected
    assert not [path for path in Path().iterdir() if path.name.startswith("file:")]


def test_queries_come_and_go_when_a_stream_goes_on(tmp_path: Path, growing: Growing, rides: pa.Table) -> None:
    kept, gone, come = (f"QUERY {name}\n{query}" for name, query in QUERIES.items())
    growing.more(6)
    with begin(tmp_path, f"{kept}\n{gone}") as live:
        taken(live, growing.put * (EVENTS // PIECES))
    since = max(rides["time"].to_pylist()[: live.metrics.events]) + 1
    growing.end()
    with begin(tmp_path, f"{come}\n{kept}\nQUERY placed\n{PLACED}") as live:
        taken(live, EVENTS + 1)
    found = answered(tmp_path / "rows.jsonl")
    names = (*QUERIES, "placed")
    of = {name: Counter({row: n for row, n in found.items() if dict(row)["query"] == name}) for name in names}
    first = sum(time < since for time in rides["time"].to_pylist())
    placed = answers_alone(f"QUERY placed\n{PLACED}", rides)
    inside = [row for row in placed if first <= dict(row)["event_start"] and dict(row)["event_end"] <= EVENTS]
    assert of["placed"] == Counter(inside) != Counter()
    assert of["kept"] == answers_alone(kept, rides)
    assert of["come"] == Counter(row for row in answers_alone(come, rides) if dict(row)["window_start"] >= since) != {}
    assert of["gone"] == Counter(row for row in answers_alone(gone, rides) if dict(row)["window_end"] < since) != {}


def test_queries_come_and_go_while_a_stream_flows(tmp_path: Path, growing: Growing, rides: pa.Table) -> None:
    kept, gone, come = (f"QUERY {name}\n{query}" for name, query in QUERIES.items())
    growing.more(4)
    with begin(tmp_path, f"{kept}\n{gone}") as live:
        taken(live, 1)
        growing.more(2)
        live._live.change(f"{come}\n{kept}")
        since = max(rides["time"].to_pylist()[: live.metrics.events]) + 1
        growing.more()
        taken(live, growing.put * (EVENTS // PIECES))
        live._live.change(kept)
        growing.end()
        taken(live, EVENTS + 1)
    found = answered(tmp_path / "rows.jsonl")
    of = {name: Counter({row: n for row, n in found.items() if dict(row)["query"] == name}) for name in QUERIES}
    assert of["kept"] == answers_alone(kept, rides)
    until_then = Counter(row for row in answers_alone(gone, rides) if dict(row)["window_end"] < since)
    assert until_then <= of["gone"] != answers_alone(gone, rides)
    assert Counter() < of["come"] <= Counter(r for r in answers_alone(come, rides) if dict(r)["window_start"] >= since)


PLACED = "RETURN COUNT(*) PATTERN SEQ(Request, Pickup) WHERE [district] WITHIN 600 EVENTS SLIDE 300 EVENTS"
"""A query whose windows count the events of the whole stream, also of those before it came."""

QUERIES = {
    "kept": "RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) WHERE [rider] GROUP-BY district WITHIN 1 minute",
    "gone": "RETURN COUNT(*) PATTERN SEQ(Travel, Request) WHERE [district] WITHIN 30 seconds SLIDE 10 seconds",
    "come": "RETURN district, COUNT(*) PATTERN Travel+ GROUP-BY district WITHIN 20 seconds SLIDE 10 seconds",
}


def test_every_event_is_accounted_for(tmp_path: Path) -> None:
    lines = {
        "0.jsonl": [
            '{"type": "A", "time": 100, "k": 1}',
            '{"type": "B", "time": 101, "k": 1}',
            '{"type": "X", "time": 103}',
        ],
        "1.jsonl": [
            '{"type": "A", "time": 20, "k": 2}',
            '{"time": 104}',
            '{"type": "A", "time":',
            '{"type": "A", "time": 99, "k": 1}',
        ],
        "2.jsonl": ['{"type": "B", "time": 105}', '{"type": "B", "time": 140, "k": 1}'],
    }
    (tmp_path / "in").mkdir()
    events = {1: 3, 2: 7, 3: 9}
    workload = "RETURN k, COUNT(*) PATTERN SEQ(A, B) GROUP-BY k WITHIN 10 seconds SLIDE 10 seconds"
    for number, (name, written) in enumerate(lines.items(), start=1):
        (tmp_path / "in" / f".{name}").write_text("\n".join(written))
        (tmp_path / "in" / f".{name}").rename(tmp_path / "in" / name)
        with begin(tmp_path, workload, lateness=5, dead_letters=tmp_path / "dead") as live:
            taken(live, events[number])
    metrics = live.metrics
    assert (metrics.events, metrics.late, metrics.dead, metrics.unmatched, metrics.dropped) == (9, 1, 2, 1, 1)
    lost = [json.loads(line) for path in sorted((tmp_path / "dead").rglob("*.json")) for line in path.open()]
    assert [(letter["reason"].split(":")[0], "time" in letter["event"]) for letter in lost] == [
        ("it is late", True),
        ("it has no type (column 'type')", True),
        ("it cannot be read", True),
    ]
    # The window from 90 has no B, and the window from 100 has A, B.
    assert answered(tmp_path / "rows.jsonl") == Counter(
        [(("COUNT(*)", 1), ("k", 1), ("query", "q1"), ("window_end", 110), ("window_start", 100))]
    )


def test_java_keeps_nothing_of_a_batch_for_python(tmp_path: Path, running: Session) -> None:
    def more() -> None:
        # One event is matched, and one is dead.
        draft = tmp_path / "in" / f".{batches}"
        draft.write_text(f'{{"type": "A", "time": {batches}, "k": 1}}\n{{"time": {batches}}}')
        draft.rename(tmp_path / "in" / f"{batches}.jsonl")

    (tmp_path / "in").mkdir()
    workload = "RETURN k, COUNT(*) PATTERN A+ GROUP-BY k WITHIN 2 seconds SLIDE 2 seconds"
    kept = Kept(session(running.settings))  # tests of lost nodes begin another session
    # The garbage collector would release the objects too, but at an unknown time.
    gc.disable()
    try:
        batches = 1
        more()
        with begin(tmp_path, workload, dead_letters=tmp_path / "dead") as live:
            taken(live, 2)
            of_the_stream = kept()
            for batches in range(2, 6):
                more()
                taken(live, 2 * batches)
            until(live, lambda: kept() <= of_the_stream)
    finally:
        gc.enable()
    assert (live.metrics.batches, live.metrics.dead) == (batches, batches)


class Kept:
    """Returns the names of Java objects with events of batches that Py4J keeps alive for Python."""

    def __init__(self, running: Session) -> None:
        gateway = running.spark.sparkContext._gateway
        self.bindings = gateway.java_gateway_server.getGateway().getBindings()
        self.kinds: dict[str, str] = {}

    def __call__(self) -> set[str]:
        names = list(self.bindings)
        for name in names:
            if name not in self.kinds and (one := self.bindings.get(name)) is not None:
                self.kinds[name] = one.getClass().getSimpleName()
                # Requesting the object has registered it under another name.
                self.kinds[one._get_object_id()] = ""
        heavy = ("Dataset", "DataFrameWriter", "QueryExecution", "RecoverableRDDInfo")
        return {name for name in names if self.kinds.get(name) in heavy}


def test_a_file_that_cannot_be_read_is_set_aside(tmp_path: Path, growing: Growing, expected: Any) -> None:
    growing.more(2)
    with begin(tmp_path) as live:
        taken(live, 1)
        good = (tmp_path / "in" / "0000.parquet").read_bytes()
        (tmp_path / "in" / "0002-bad.parquet").write_bytes(good[: len(good) // 2])
        torn = bytearray(good)
        torn[40:2000] = bytes(1960)
        (tmp_path / "in" / "0003-bad.parquet").write_bytes(torn)
        growing.end()
        taken(live, EVENTS + 1)
    assert live.metrics.set_aside == 2
    assert sorted(path.name for path in (tmp_path / "checkpoint" / "set-aside").iterdir()) == [
        "0002-bad.parquet",
        "0003-bad.parquet",
    ]
    assert answered(tmp_path / "rows.jsonl") == expected


class Failing:
    """A sink that fails on the first `times` attempts to write each batch."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.taken: dict[int, list[dict[str, Any]]] = {}
        self.tried: Counter[int] = Counter()

    def __call__(self, rows: pa.Table, batch: int) -> None:
        self.tried[batch] += 1
        if self.tried[batch] <= self.times:
            raise OSError("no such luck")
        self.taken[batch] = rows.to_pylist()


def test_a_sink_that_fails_twice_is_tried_again(tmp_path: Path, growing: Growing, expected: Any) -> None:
    sink = Failing(2)
    growing.end()
    with begin(tmp_path, sink=sink, files_at_once=4) as live:
        taken(live, EVENTS + 1)
    assert set(sink.tried.values()) == {3}
    assert sum(map(len, sink.taken.values())) == live.metrics.rows == expected.total()


def test_a_sink_that_fails_for_good_ends_the_stream_and_loses_nothing(
    tmp_path: Path, growing: Growing, expected: Any
) -> None:
    growing.end()
    with pytest.raises(elsinore.FailedError, match="the sink failed 5 times to write batch 1: no such luck"):
        begin(tmp_path, sink=Failing(99)).wait(60)
    with begin(tmp_path) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected


def test_spark_reads_a_batch_while_the_rows_of_the_one_before_are_written(
    tmp_path: Path, growing: Growing, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches, ahead = 0, Event()
    found: list[dict[str, Any]] = []

    def read(dealt: Any) -> SparkBlocks:
        nonlocal batches
        batches += 1
        if batches > 1:
            ahead.set()
        return SparkBlocks(dealt)

    def sink(rows: pa.Table, _batch: int) -> None:
        assert ahead.wait(60), "Spark waits for the sink"
        found.extend(rows.to_pylist())

    monkeypatch.setattr("elsinore.cluster.stream.live.SparkBlocks", read)
    growing.end()
    with begin(tmp_path, sink=sink, files_at_once=PIECES // 2) as live:
        taken(live, EVENTS + 1)
    assert len(found) == live.metrics.rows == expected.total()


def test_one_process_at_a_time(tmp_path: Path, growing: Growing) -> None:
    growing.more()
    with begin(tmp_path) as live:
        with pytest.raises(elsinore.InputError, match=f"process {os.getpid()} already uses the checkpoint"):
            begin(tmp_path)
        taken(live, 1)


def test_whoever_is_followed_by_another_process_stops(tmp_path: Path, growing: Growing) -> None:
    growing.more()
    live = begin(tmp_path)
    taken(live, 1)
    rows = answered(tmp_path / "rows.jsonl")
    live._live.checkpoint.next_era()
    growing.end()
    with pytest.raises(elsinore.FailedError, match="another process has taken over the checkpoint"):
        live.wait(60)
    assert live.metrics.events < EVENTS
    assert rows <= answered(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("harm", [damage, pytest.param(cut_short, marks=pytest.mark.long)])
def test_of_damaged_states_the_one_before_is_used(
    tmp_path: Path, growing: Growing, expected: Any, harm: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", 2)
    growing.more(8)
    with begin(tmp_path, files_at_once=1) as live:
        until(live, lambda: live.metrics.batches == 8)
    (era,) = (tmp_path / "checkpoint" / "eras").iterdir()
    harm(max((era / "states").iterdir()) / "1")
    harm(max((era / "done").iterdir()))
    growing.end()
    with begin(tmp_path) as live:
        taken(live, EVENTS + 1)
    assert answered(tmp_path / "rows.jsonl") == expected


def test_what_cannot_be_recovered_is_said(tmp_path: Path, growing: Growing) -> None:
    growing.more(3)
    with begin(tmp_path, files_at_once=1) as live:
        until(live, lambda: live.metrics.batches == 3)
    (era,) = (tmp_path / "checkpoint" / "eras").iterdir()
    damage(era / "events" / f"{2:012}" / "0")
    with pytest.raises(elsinore.FailedError, match="events/000000000002/0 is damaged"):
        begin(tmp_path)


def test_a_full_disk_ends_the_stream_and_the_checkpoint_is_whole(
    tmp_path: Path, growing: Growing, expected: Any
) -> None:
    with small_disk(tmp_path / "checkpoint") as disk:
        growing.more()
        live = begin(tmp_path)
        taken(live, 1)
        with full(disk):
            growing.end()
            with pytest.raises(elsinore.FailedError, match="No space left on device"):
                live.wait(60)
        with begin(tmp_path) as live:
            taken(live, EVENTS + 1)
        assert answered(tmp_path / "rows.jsonl") == expected


def test_rows_go_to_a_delta_table_once(tmp_path: Path, growing: Growing) -> None:
    workload = "RETURN district, COUNT(*) PATTERN Travel+ GROUP-BY district WITHIN 30 seconds SLIDE 30 seconds"
    growing.end()
    with begin(tmp_path, workload, sink=tmp_path / "rows.delta", files_at_once=5) as live:
        taken(live, EVENTS + 1)
    from deltalake import DeltaTable

    table = DeltaTable(str(tmp_path / "rows.delta")).to_pyarrow_table()
    found = Counter(row_of(row) for row in table.to_pylist())
    assert found == answers_alone(workload, growing.events)
    sink = open_live_sink(tmp_path / "rows.delta", {}, f"elsinore-{live._live.terms.stream}")
    sink.write(live.metrics.batches, [table])
    assert DeltaTable(str(tmp_path / "rows.delta")).to_pyarrow_table().num_rows == table.num_rows


MIXED = """
QUERY stories RETURN MATCHES PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 8 WITHIN 5 minutes;
QUERY lists RETURN MATCHES PATTERN SEQ(Request R, Travel T{1,2}, Pickup P) WHERE [rider] AND T.speed < 8
WITHIN 5 minutes
"""


def test_an_event_in_one_query_and_a_list_in_another_are_json_in_a_delta_table(
    tmp_path: Path, growing: Growing, rides: pa.Table
) -> None:
    growing.end()
    with begin(tmp_path, MIXED, sink=tmp_path / "rows.delta", files_at_once=3) as live:
        taken(live, EVENTS + 1)
    from deltalake import DeltaTable

    found = DeltaTable(str(tmp_path / "rows.delta")).to_pyarrow_table().to_pylist()
    alone = elsinore.run(MIXED, rides, engine="local").rows()
    kinds = {row["query"]: type(row["T"]) for row in alone}
    assert kinds == {"stories": dict, "lists": list}
    assert _closed({"query": row["query"], "T": json.loads(row["T"])} for row in found) == _closed(
        {"query": row["query"], "T": row["T"]} for row in alone
    )


def test_a_function_of_pieces_is_given_a_batch_anew_after_it_failed(
    tmp_path: Path, growing: Growing, rides: pa.Table
) -> None:
    """It keeps what it was given of a batch until piece 0 comes again, and so has each row once."""
    kept: dict[int, list[pa.Table]] = {}
    calls: list[tuple[int, int]] = []

    def take(rows: pa.Table, batch: int, piece: int) -> None:
        calls.append((batch, piece))
        kept[batch] = [rows] if piece == 0 else [*kept[batch], rows]
        assert len(kept[batch]) == piece + 1
        if len(calls) in (1, 4):
            raise OSError("the database was restarted")

    growing.end()
    with begin(tmp_path, MIXED, sink=take, actors=3, files_at_once=3) as live:
        taken(live, EVENTS + 1)
    found = Counter(row["query"] for tables in kept.values() for table in tables for row in table.to_pylist())
    alone = elsinore.run(MIXED, rides, engine="local").rows()
    assert found == Counter(row["query"] for row in alone)
    assert len(calls) > len(set(calls))


def test_rows_of_two_streams_are_not_mixed(tmp_path: Path, growing: Growing) -> None:
    growing.more(2)
    with begin(tmp_path) as live:
        taken(live, 1)
    with pytest.raises(elsinore.InputError, match=r"rows\.jsonl holds the rows of another stream"):
        begin(tmp_path, checkpoint=tmp_path / "another")
    growing.more()
    with begin(tmp_path) as live:
        taken(live, 3 * (EVENTS // PIECES))
