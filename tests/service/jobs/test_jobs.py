"""Jobs over HTTP: events and rows in all media types."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2
import msgpack
import pyarrow as pa
import pytest

from tests.cluster.streaming import row_of
from tests.service.rides import (
    ARROW,
    WORKLOAD,
    Sender,
    document,
    ended,
    expected,
    rides,
    rows_of,
    submitted,
    until_taken,
)
from tests.service.serving import Served, descendants

EVENTS = 6_000
SIMPLE = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds"
FEW = [{"type": "AB"[at % 2], "time": at, "x": at} for at in range(40)]


def lines(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    return ended(rides(tmp_path_factory.mktemp("rides"), EVENTS))


def test_rows_are_those_of_a_run_alone(client: httpx2.Client, events: pa.Table) -> None:
    with submitted(client, WORKLOAD, name="rides") as job:
        assert document(client, job)["state"] == "waiting"
        sender = Sender(client, job, events, 6)
        sender.rest()
        found = until_taken(client, job, events.num_rows)
        assert found["metrics"]["events"] == events.num_rows
        assert rows_of(client, job) == expected(WORKLOAD, events)
        table = pages_as_arrow(client, job)
        assert Counter(map(row_of, rows_by_query(table))) == expected(WORKLOAD, events)
        followed(client, job, table.num_rows)
        counted = client.get(f"/v1/workloads/{job}/statistics").json()
        assert counted["counters"]["events"] == events.num_rows
        types = Counter(events["type"].to_pylist())
        assert counted["types"] == {name: types[name] for name in ("Pickup", "Request", "Travel")}
        assert client.get(f"/v1/workloads/{job}/explain").text.startswith("plan: strategy auto")
        assert [one["id"] for one in client.get("/v1/workloads").json()["workloads"]] == [job]
    assert client.get(f"/v1/workloads/{job}").status_code == 404


SHARED = """
QUERY asked RETURN district, COUNT(*) PATTERN SEQ(Request, Travel+) GROUP-BY district WITHIN 1 minute SLIDE 1 minute;
QUERY rode RETURN district, COUNT(*) PATTERN SEQ(Pickup, Travel+) GROUP-BY district WITHIN 1 minute SLIDE 1 minute
"""


def test_what_was_decided_is_told(client: httpx2.Client, events: pa.Table) -> None:
    with submitted(client, SHARED, strategy="hamlet") as job:
        Sender(client, job, events, 2).rest()
        until_taken(client, job, events.num_rows)
        decided = client.get(f"/v1/workloads/{job}/decisions", params={"limit": 5}).json()["decisions"]
        assert len(decided) == 5
        assert {one["kleene"] for one in decided} == {"Travel+"}
        counted = client.get(f"/v1/workloads/{job}/statistics").json()["bursts"]["Travel+"]
        assert 0 <= counted["shared"] <= counted["bursts"] <= counted["events"]
        assert rows_of(client, job) == expected(SHARED, events)


def pages_as_arrow(client: httpx2.Client, job: str) -> pa.Table:
    parts, after = list[pa.Table](), dict[str, Any]()
    while True:
        query = {"limit": 50, **after}
        answer = client.get(f"/v1/workloads/{job}/results", params=query, headers={"Accept": ARROW})
        assert answer.status_code == 200, answer.text
        part = pa.ipc.open_stream(answer.content).read_all()
        if not part.num_rows:
            return pa.concat_tables(parts, promote_options="permissive")
        parts.append(part)
        after = {"after": answer.headers["Elsinore-Next"]}


def rows_by_query(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows with only the columns of their queries, which the table's metadata names; matches have no window."""
    columns = json.loads(table.schema.metadata[b"columns"])

    def named(row: dict[str, Any]) -> tuple[str, ...]:
        windows = () if row["window_start"] is None else ("window_start", "window_end")
        return ("query", *windows, *columns[row["query"]])

    return [{name: row[name] for name in named(row)} for row in table.to_pylist()]


def followed(client: httpx2.Client, job: str, rows: int) -> None:
    """Check that the stream of rows has all of them, and that a cursor of it leads to the rest."""
    with client.stream("GET", f"/v1/workloads/{job}/results/stream") as answer:
        found = []
        for line in answer.iter_lines():
            found += [json.loads(line)] if line else []
            if len(found) == rows:
                break
    half = found[rows // 2]["cursor"]
    rest = client.get(f"/v1/workloads/{job}/results", params={"after": half, "limit": 10_000}).json()
    assert rest["rows"] == [one["row"] for one in found[rows // 2 + 1 :]]


@pytest.mark.parametrize("form", ["lines", "msgpack", "arrow", "gzip", "zstd"])
def test_all_forms_of_events_are_the_same(client: httpx2.Client, form: str) -> None:
    body, headers = sent_as(form)
    with submitted(client, SIMPLE) as job:
        for repeated in (False, True):
            answer = client.post(
                f"/v1/workloads/{job}/events", content=body, headers={**headers, "Idempotency-Key": "one"}
            )
            assert (answer.status_code, answer.json()) == (202, {"events": len(FEW), "repeated": repeated})
        assert document(client, job)["columns"] == {"type": "string", "time": "int64", "x": "int64"}
        page = client.get(f"/v1/workloads/{job}/results", params={"wait": 30}).json()
        assert Counter(map(row_of, page["rows"])) <= expected(SIMPLE, FEW)
        found = until_taken(client, job, len(FEW))
        assert found["metrics"]["events"] == len(FEW)


def sent_as(form: str) -> tuple[bytes, dict[str, str]]:
    if form == "msgpack":
        return msgpack.packb(FEW), {"Content-Type": "application/msgpack"}
    if form == "arrow":
        table = pa.Table.from_pylist(FEW)
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue(), {"Content-Type": ARROW}
    headers = {"Content-Type": "application/x-ndjson"}
    if form == "gzip":
        return gzip.compress(lines(FEW)), {**headers, "Content-Encoding": "gzip"}
    if form == "zstd":
        return pa.Codec("zstd").compress(lines(FEW)).to_pybytes(), {**headers, "Content-Encoding": "zstd"}
    return lines(FEW), headers


def test_a_paused_job_takes_events_and_answers_later(client: httpx2.Client, events: pa.Table) -> None:
    with submitted(client, WORKLOAD) as job:
        sender = Sender(client, job, events, 4)
        sender.more(2)
        until_taken(client, job, sender.acknowledged)
        before = client.post(f"/v1/workloads/{job}/pause").json()
        assert before["state"] == "paused"
        sender.rest()
        assert document(client, job)["metrics"]["events"] == before["metrics"]["events"]
        client.post(f"/v1/workloads/{job}/resume")
        until_taken(client, job, events.num_rows)
        assert rows_of(client, job) == expected(WORKLOAD, events)


def test_queries_read_attributes_that_came_later(client: httpx2.Client) -> None:
    late = [{"type": "A", "time": at, "y": at / 2} for at in range(40, 100)]
    summed = "QUERY summed RETURN SUM(A.y) PATTERN A WITHIN 10 seconds SLIDE 10 seconds"
    headers = {"Content-Type": "application/x-ndjson"}
    with submitted(client, SIMPLE) as job:
        client.post(f"/v1/workloads/{job}/events", content=lines(FEW), headers=headers)
        until_taken(client, job, len(FEW))
        early = client.post(f"/v1/workloads/{job}/queries", json={"workload": summed})
        assert (early.status_code, "has an attribute `y`" in early.json()["detail"]) == (422, True)
        client.post(f"/v1/workloads/{job}/events", content=lines(late[:1]), headers=headers)
        added = client.post(f"/v1/workloads/{job}/queries", json={"workload": summed})
        assert added.json()["columns"]["y"] == "float64", added.text
        until_taken(client, job, len(FEW) + 1)
        client.post(f"/v1/workloads/{job}/events", content=lines(late[1:]), headers=headers)
        until_taken(client, job, len(FEW) + len(late))
        found = Counter({row: n for row, n in rows_of(client, job).items() if dict(row)["query"] == "summed"})
        assert Counter() < found <= expected(summed, late)
        assert max(dict(row)["SUM(A.y)"] for row in found) == sum(at / 2 for at in range(80, 90))


def test_numbers_keep_all_their_digits(client: httpx2.Client) -> None:
    workload = "QUERY many RETURN COUNT(*) PATTERN A+ WITHIN 1000 seconds SLIDE 1000 seconds"
    events = [{"type": "A", "time": at} for at in range(300)] + [{"type": "End", "time": 5000}]
    with submitted(client, workload) as job:
        headers = {"Content-Type": "application/x-ndjson"}
        client.post(f"/v1/workloads/{job}/events", content=lines(events), headers=headers)
        page = client.get(f"/v1/workloads/{job}/results", params={"wait": 30})
        assert json.loads(page.text)["rows"][0]["COUNT(*)"] == 2**300 - 1


def test_submits_are_repeated_without_harm(client: httpx2.Client) -> None:
    body, headers = json.dumps({"workload": SIMPLE}), {"Idempotency-Key": "again", "Content-Type": "application/json"}
    first, second = (client.post("/v1/workloads", content=body, headers=headers) for _ in range(2))
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"] == first.headers["Location"].rsplit("/", 1)[-1]
    client.delete(first.headers["Location"])


def test_prometheus_sees_each_job(service: Served, client: httpx2.Client) -> None:
    with submitted(client, SIMPLE, name="seen") as job:
        client.post(f"/v1/workloads/{job}/events", content=lines(FEW), headers={"Content-Type": "application/x-ndjson"})
        until_taken(client, job, len(FEW))
        end = monotonic() + 60
        while not (found := measured(service, "ray_elsinore_events", job)):
            assert monotonic() < end
            sleep(0.5)
        assert found == [len(FEW)]
        assert len(measured(service, "ray_elsinore_checkpoint_age", job)) == 1


def measured(service: Served, name: str, job: str) -> list[float]:
    lines = httpx2.get(f"http://127.0.0.1:{service.metrics_port}/metrics").text.splitlines()
    return [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name) and f'workload="{job}"' in line]


def test_nothing_listens_to_others(service: Served) -> None:
    own = set(descendants(service.process.pid))
    found = []
    for line in (
        Path("/proc/net/tcp").read_text().splitlines()[1:] + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    ):
        address, state, inode = (line.split()[at] for at in (1, 3, 9))
        if state == "0A" and address.split(":")[0] not in ("0100007F", "0000000000000000FFFF00000100007F"):
            found.append((address, inode))
    inodes = {f"socket:[{inode}]" for _, inode in found}
    for pid in own:
        try:
            links = {str(path.readlink()) for path in (Path("/proc") / str(pid) / "fd").iterdir()}
        except (FileNotFoundError, PermissionError):
            continue
        assert not links & inodes, (pid, found)
