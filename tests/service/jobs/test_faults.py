"""Whatever process dies and however disks fail: no acknowledged event is lost, and none counts twice."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.cluster.run.crew import BATCHES_PER_SNAPSHOT
from elsinore.connectors.storage.vault import Vault
from tests.cluster.disks import full, small_disk
from tests.cluster.streaming import HARMS, damage
from tests.cluster.unreliable import only_unreliable
from tests.service.rides import (
    ARROW,
    EVENTS,
    PIECES,
    WORKLOAD,
    Sender,
    arrow,
    document,
    ended,
    expected,
    rides,
    rows_of,
    sending,
    submitted,
    until_right,
    until_taken,
)
from tests.service.serving import PATIENCE, TOKEN, Served, insist

QUICK = {"graph actor": "GraphActor", "manager": "elsinore-manager"}
SLOW = {
    # In the quick tests, `test_a_replica_that_dies_while_events_are_sent` kills one.
    "replica": "ServeReplica:elsinore:elsinore",
    "collector": "Collector",
    "optimizer": "OptimizerActor",
    "executor": "raydp-executor",
    "master of RayDP": "RAY_APP_MASTER",
    "proxy of Serve's": "ProxyActor",
}
VICTIMS = QUICK | SLOW


def kill(service: Served, name: str) -> None:
    """Kill an actor, after waiting for its restart if it died a moment ago."""
    end = monotonic() + PATIENCE
    while True:
        for pid in (pid for known, pid in service.actors().items() if known.startswith(name)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return
        assert monotonic() < end, name


def folder_of(service: Served, job: str) -> Path:
    return service.data / "jobs" / job


@pytest.fixture
def sender(client: httpx2.Client, tmp_path: Path) -> Sender:
    return Sender(client, "", ended(rides(tmp_path, EVENTS)), PIECES)


@pytest.mark.parametrize(
    "victim", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in VICTIMS]
)
def test_a_process_that_is_killed_is_not_missed(service: Served, tmp_path: Path, victim: str) -> None:
    with sending(service, tmp_path, pause=0.2):
        kill(service, VICTIMS[victim])


@pytest.mark.long
def test_several_processes_are_killed_one_after_another(service: Served, client: httpx2.Client, tmp_path: Path) -> None:
    with sending(service, tmp_path, pieces=60, pause=1) as sender:
        for victim in ("collector", "proxy of Serve's", "optimizer", "executor"):
            kill(service, VICTIMS[victim])
            until_taken(client, sender.job, sender.acknowledged)


@pytest.mark.long
def test_ten_random_kills(service: Served, client: httpx2.Client, tmp_path: Path) -> None:
    random = Random(7)
    with sending(service, tmp_path, pieces=150, pause=2) as sender:
        for _ in range(10):
            sleep(random.random())
            kill(service, random.choice(list(VICTIMS.values())))
            until_taken(client, sender.job, sender.acknowledged)


@pytest.mark.long
@pytest.mark.parametrize("how", [Served.kill_all, Served.kill])
def test_all_of_it_is_killed_and_started_again(service: Served, tmp_path: Path, how: Callable[[Served], None]) -> None:
    with sending(service, tmp_path, pause=0.2):
        how(service)
        service.start()


def test_a_folder_has_one_service(service: Served) -> None:
    assert service.another().wait(60) == 2
    assert f"already serves {service.data}" in service.log.read_text().splitlines()[-1]


def test_whoever_is_followed_on_a_checkpoint_writes_no_more(service: Served, tmp_path: Path) -> None:
    with sending(service, tmp_path, pause=0.1) as sender:
        checkpoint = Vault(str(folder_of(service, sender.job) / "checkpoint"))
        followed = int(checkpoint.names("eras")[-1]) + 1
        assert checkpoint.claim(f"eras/{followed:08}/claimed")
        until_taken(sender.client, sender.job, sender.events.num_rows)
        assert int(checkpoint.names("eras")[-1]) > followed


@pytest.mark.long
@pytest.mark.parametrize("harm", HARMS)
def test_of_damaged_states_the_one_before_is_used(
    service: Served, client: httpx2.Client, sender: Sender, harm: Callable[[Path], None]
) -> None:
    with submitted(client, WORKLOAD) as sender.job:
        sender.pieces = 3 * BATCHES_PER_SNAPSHOT
        for _ in range(2 * BATCHES_PER_SNAPSHOT + 2):
            sender.more()
            until_taken(client, sender.job, sender.acknowledged)
        service.kill_all()
        era = max((folder_of(service, sender.job) / "checkpoint" / "eras").iterdir())
        assert len(list((era / "states").iterdir())) == 2
        harm(max((era / "states").iterdir()) / "1")
        harm(max((era / "done").iterdir()))
        service.start()
        sender.rest()
        until_right(client, sender)


def test_an_append_that_the_disk_has_damaged_is_set_aside(
    service: Served, client: httpx2.Client, sender: Sender
) -> None:
    with submitted(client, WORKLOAD) as sender.job:
        incoming = folder_of(service, sender.job) / "incoming"
        insist(client, "POST", f"/v1/workloads/{sender.job}/pause")
        sender.more(5)
        before = set(incoming.iterdir())
        sender.more()
        [path] = set(incoming.iterdir()) - before
        damage(path, at=pq.read_metadata(path).row_group(0).column(0).data_page_offset - 1)
        sender.more(4)
        insist(client, "POST", f"/v1/workloads/{sender.job}/resume")
        sender.rest()
        size = -(-sender.events.num_rows // sender.pieces)
        left = pa.concat_tables([sender.events.slice(0, 5 * size), sender.events.slice(6 * size)])
        found = until_taken(client, sender.job, left.num_rows)["metrics"]
        assert (found["events"], found["set_aside"]) == (left.num_rows, 1)
        assert rows_of(client, sender.job) == expected(WORKLOAD, left)
        assert [one.name for one in (incoming.parent / "checkpoint" / "set-aside").iterdir()] == [path.name]


def test_a_job_whose_log_is_gone_fails_alone(service: Served, client: httpx2.Client, sender: Sender) -> None:
    with submitted(client, WORKLOAD) as broken, submitted(client, WORKLOAD) as whole:
        for sender.job in (broken, whole):
            sender.more()
            until_taken(client, sender.job, 1)
        log = folder_of(service, broken) / "checkpoint" / "spark"
        insist(client, "POST", f"/v1/workloads/{broken}/pause")
        shutil.rmtree(log)
        insist(client, "POST", f"/v1/workloads/{broken}/resume")
        end = monotonic() + PATIENCE
        while (found := document(client, broken))["state"] != "failed":
            assert monotonic() < end, found
            sleep(0.1)
        assert f"{log} is Spark's record of what it has read" in found["error"]["detail"]
        before = document(client, whole)["metrics"]["events"]
        sender.more()
        until_taken(client, whole, before + 1)


def test_what_finds_no_room_is_not_acknowledged(service: Served, client: httpx2.Client, sender: Sender) -> None:
    with submitted(client, WORKLOAD) as sender.job, small_disk(folder_of(service, sender.job) / "incoming") as disk:
        sender.more(4)
        until_taken(client, sender.job, sender.acknowledged)
        with full(disk):
            headers = {"Content-Type": ARROW, "Idempotency-Key": "no room"}
            refused = client.post(f"/v1/workloads/{sender.job}/events", content=arrow(sender.events), headers=headers)
            assert (refused.status_code, refused.json()["type"]) == (503, "urn:elsinore:full")
            assert int(refused.headers["Retry-After"]) > 0
            assert len([path for path in disk.iterdir() if path.name != ".filler"]) <= 4
            assert document(client, sender.job)["state"] == "running"
        sender.rest()
        until_right(client, sender)


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "message"), [("checkpoint", "No space left"), ("rows", "the disk of the service is full")]
)
def test_a_job_goes_on_when_there_is_room_again(
    service: Served, client: httpx2.Client, sender: Sender, folder: str, message: str
) -> None:
    with submitted(client, WORKLOAD) as sender.job, small_disk(folder_of(service, sender.job) / folder) as disk:
        sender.more(4)
        until_taken(client, sender.job, sender.acknowledged)
        with full(disk):
            sender.more(4)
            failed = until_failed(client, sender.job)
            assert message in failed["error"]["detail"]
        assert insist(client, "POST", f"/v1/workloads/{sender.job}/resume").status_code == 200
        sender.rest()
        until_right(client, sender)


@pytest.mark.long
def test_rows_that_cannot_be_written_twice_are_written_then(
    service: Served, client: httpx2.Client, sender: Sender
) -> None:
    with submitted(client, WORKLOAD) as sender.job:
        rows = folder_of(service, sender.job) / "rows"
        sender.more(4)
        until_taken(client, sender.job, sender.acknowledged)
        rows.rename(rows.with_name("elsewhere"))
        sender.more(4)
        until_state(client, sender.job, "recovering")
        sleep(3)  # long enough for a retry
        rows.with_name("elsewhere").rename(rows)
        sender.rest()
        until_right(client, sender)


def until_failed(client: httpx2.Client, job: str) -> Any:
    """Wait until a job has failed, which takes several retries."""
    return until_state(client, job, "failed")


def until_state(client: httpx2.Client, job: str, state: str) -> Any:
    end = monotonic() + PATIENCE
    while (found := document(client, job))["state"] != state:
        assert monotonic() < end, found
        sleep(0.1)
    return found


class Unreliable(httpx2.BaseTransport):
    """A transport that by turns loses a request, delivers it, sends it twice, and loses the reply."""

    def __init__(self) -> None:
        self.real = httpx2.HTTPTransport()
        self.ways = cycle(["lost", "through", "twice", "unanswered"])

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        way = next(self.ways)
        if way == "lost":
            raise httpx2.ConnectError("so it seems to who called", request=request)
        answer = self.real.handle_request(request)
        if way != "through":
            answer.read()
        if way == "unanswered":
            raise httpx2.ReadError("so it seems to who called", request=request)
        return answer if way == "through" else self.real.handle_request(request)


def test_requests_that_are_lost_or_come_twice_count_once(
    service: Served, client: httpx2.Client, sender: Sender
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    unreliable = httpx2.Client(base_url=service.url, transport=Unreliable(), headers=headers, timeout=60)
    with unreliable as sender.client, submitted(client, WORKLOAD) as sender.job:
        sender.rest()
        until_right(client, sender)


@pytest.mark.long
def test_calls_of_graph_actors_that_are_lost_are_made_again(stopped: Served, tmp_path: Path) -> None:
    hook = f"{only_unreliable.__module__}.{only_unreliable.__qualname__}"
    stopped.start(__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR=hook, ELSINORE_RESTARTS="1000")
    with sending(stopped, tmp_path, pieces=100, pause=0.2):
        assert "Unreliable" in stopped.actors()
