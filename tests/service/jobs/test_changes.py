"""Adding and removing queries while a client sends does not affect the other queries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Event, Thread

import httpx2

from tests.cluster.streaming import Row
from tests.service.rides import (
    COME,
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
from tests.service.serving import Served

EVENTS = 20_000


def test_rows_of_the_others_are_those_of_a_run_without_the_change(
    service: Served, client: httpx2.Client, tmp_path: Path
) -> None:
    events = ended(rides(tmp_path, EVENTS))
    with submitted(client, WORKLOAD) as job, service.client() as other:
        sender = Sender(other, job, events, 30)
        sender.more(3)
        since = until_taken(client, job, 1)["metrics"]["latest"]
        changed = Event()
        sending = Thread(target=keep_sending, args=(sender, changed))
        sending.start()
        added = client.post(f"/v1/workloads/{job}/queries", json={"workload": f"QUERY come {COME}"})
        assert added.json()["queries"] == ["kept", "summed", "found", "come"], added.text
        assert client.post(f"/v1/workloads/{job}/queries", json={"workload": f"QUERY come {COME}"}).status_code == 409
        finer = client.post(f"/v1/workloads/{job}/queries", json={"workload": f"QUERY finer {FINER}"})
        assert (finer.status_code, "too coarse" in finer.json()["detail"]) == (422, True), finer.text
        removed = client.delete(f"/v1/workloads/{job}/queries/summed")
        assert removed.json()["queries"] == ["kept", "found", "come"], removed.text
        changed.set()
        sending.join()
        until_taken(client, job, events.num_rows)
        assert document(client, job)["metrics"]["events"] == events.num_rows
        found = rows_of(client, job)
    of = {name: Counter({row: n for row, n in found.items() if dict(row)["query"] == name}) for name in NAMES}
    alone = expected(WORKLOAD, events)
    assert of["kept"] == named(alone, "kept")
    assert of["found"] == named(alone, "found")
    assert of["summed"] < named(alone, "summed")
    come = expected(f"QUERY come {COME}", events)
    assert Counter() < of["come"] <= come
    first = min(dict(row)["window_start"] for row in of["come"])
    assert first > since
    assert of["come"] == Counter(row for row in come if dict(row)["window_start"] >= first)


def keep_sending(sender: Sender, changed: Event) -> None:
    """Send the last events after the change of queries, so that the rows show it."""
    sender.more(20)
    changed.wait()
    sender.rest()


FINER = "RETURN COUNT(*) PATTERN Travel+ WITHIN 500 ms SLIDE 250 ms"
NAMES = ("kept", "summed", "found", "come")


def named(rows: Counter[Row], name: str) -> Counter[Row]:
    return Counter({row: count for row, count in rows.items() if dict(row)["query"] == name})
