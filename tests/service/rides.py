"""Rides for the service: streams in pieces, their senders, and the expected rows."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.connectors.ridesharing import write
from tests.cluster.streaming import Row, answers_alone, row_of
from tests.service.serving import PATIENCE, Served, insist

ARROW = "application/vnd.apache.arrow.stream"

KEPT = "RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) WHERE [rider] GROUP-BY district WITHIN 1 minute"
SUMMED = "RETURN COUNT(*), SUM(Travel.speed) PATTERN Travel+ WHERE [district] WITHIN 30 seconds SLIDE 10 seconds"
COME = "RETURN district, COUNT(*) PATTERN Travel+ GROUP-BY district WITHIN 20 seconds SLIDE 10 seconds"
FOUND = """RETURN MATCHES PATTERN SEQ(Request R, Travel T, NOT Pickup)
WHERE [rider] AND T.speed < R.speed / 2 WITHIN 10 seconds"""
WORKLOAD = f"QUERY kept {KEPT};\nQUERY summed {SUMMED};\nQUERY found {FOUND}"


def rides(folder: Path, count: int, seed: int = 7) -> pa.Table:
    path = folder / "rides.parquet"
    write(path, count, seed=seed)
    table = pq.read_table(path)
    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.table(plain, names=table.column_names)


def ended(events: pa.Table) -> pa.Table:
    """Append an event at a time so late that all windows close."""
    last = pa.table({"type": ["End"], "time": [10**9]})
    whole = pa.concat_tables([events.slice(0, 0), last], promote_options="permissive")
    return pa.concat_tables([events, whole.cast(events.schema)])


def arrow(events: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, events.schema) as writer:
        writer.write_table(events)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@dataclass
class Sender:
    """A client that sends a stream piece by piece, retrying each with its key until it is acknowledged."""

    client: httpx2.Client
    job: str
    events: pa.Table
    pieces: int
    pause: float = 0.0
    """Seconds between two pieces."""
    sent: int = 0
    acknowledged: int = 0
    keys: list[str] = field(default_factory=list)

    def more(self, count: int = 1) -> None:
        size = -(-self.events.num_rows // self.pieces)
        for piece in range(self.sent, min(self.sent + count, self.pieces)):
            self.send(self.events.slice(piece * size, size))
            self.sent += 1
            sleep(self.pause)

    def send(self, events: pa.Table) -> None:
        headers = {"Content-Type": ARROW, "Idempotency-Key": uuid.uuid4().hex}
        answer = insist(self.client, "POST", f"/v1/workloads/{self.job}/events", content=arrow(events), headers=headers)
        assert answer.status_code == 202, answer.text
        assert answer.json()["events"] == events.num_rows
        self.acknowledged += events.num_rows

    def rest(self) -> None:
        self.more(self.pieces - self.sent)


EVENTS, PIECES = 6_000, 24


@contextmanager
def sending(service: Served, folder: Path, pieces: int = PIECES, pause: float = 0.0, **more: Any) -> Iterator[Sender]:
    """Send events to a job while the block runs, then the rest; check that none is lost, and none counts twice."""
    events = ended(rides(folder, EVENTS))
    with service.client() as client, service.client() as other, submitted(client, WORKLOAD, **more) as job:
        sender = Sender(other, job, events, pieces, pause)
        sender.more(4)
        until_taken(client, job, 1)
        going = Thread(target=sender.rest, daemon=True)
        going.start()
        sleep(0.3)
        yield sender
        sender.pause = 0.0
        going.join()
        assert sender.acknowledged == events.num_rows
        until_right(client, sender)


def until_right(client: httpx2.Client, sender: Sender) -> None:
    """Wait until all events are processed; check that each counted once, and that the rows are those of a local run."""
    until_taken(client, sender.job, sender.events.num_rows)
    counted = insist(client, "GET", f"/v1/workloads/{sender.job}/statistics").json()
    assert counted["counters"]["events"] == sender.events.num_rows
    types = Counter(sender.events["type"].to_pylist())
    assert counted["types"] == {name: types[name] for name in ("Pickup", "Request", "Travel")}
    assert rows_of(client, sender.job) == expected(WORKLOAD, sender.events)


@contextmanager
def submitted(client: httpx2.Client, workload: str, **more: Any) -> Iterator[str]:
    """Submit a job, and remove it at the end of the block."""
    answer = insist(client, "POST", "/v1/workloads", json={"workload": workload, **more})
    assert answer.status_code == 201, answer.text
    job = str(answer.json()["id"])
    try:
        yield job
    finally:
        insist(client, "DELETE", f"/v1/workloads/{job}")


def document(client: httpx2.Client, job: str) -> Any:
    return insist(client, "GET", f"/v1/workloads/{job}").json()


def until_taken(client: httpx2.Client, job: str, events: int, seconds: float = PATIENCE) -> Any:
    end = monotonic() + seconds
    while True:
        found = document(client, job)
        assert found["state"] != "failed", found
        if found["metrics"]["events"] >= events and found["state"] == "running":
            return found
        assert monotonic() < end, found
        sleep(0.1)


def rows_of(client: httpx2.Client, job: str) -> Counter[Row]:
    """Return all rows of a job, read page by page."""
    found: Counter[Row] = Counter()
    after: dict[str, str] = {}
    while True:
        page = json.loads(insist(client, "GET", f"/v1/workloads/{job}/results", params=after).content)
        if not page["rows"]:
            return found
        found.update(row_of(row) for row in page["rows"])
        after = {"after": page["next"]}


def expected(workload: str, events: pa.Table) -> Counter[Row]:
    return answers_alone(workload, events)
