"""Whoever dies while somebody sends: no acknowledged event is lost, and none counts twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Thread
from time import sleep

import httpx2
import pytest

from tests.service.rides import WORKLOAD, Sender, document, ended, expected, rides, rows_of, submitted, until_taken
from tests.service.serving import Served

EVENTS = 6_000
PIECES = 24

QUICK = {"graph actor": "GraphActor", "manager": "elsinore-manager", "replica": "ServeReplica:elsinore:elsinore"}
SLOW = {
    "collector": "Collector",
    "optimizer": "OptimizerActor",
    "executor": "raydp-executor",
    "master of RayDP": "RAY_APP_MASTER",
    "proxy of Serve's": "ProxyActor",
}
VICTIMS = QUICK | SLOW


def pid_of(service: Served, name: str) -> int:
    return next(pid for known, pid in service.actors().items() if known.startswith(name))


@pytest.mark.parametrize(
    "victim", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in VICTIMS]
)
def test_no_acknowledged_event_is_lost_and_none_counts_twice(
    service: Served, client: httpx2.Client, tmp_path: Path, victim: str
) -> None:
    events = ended(rides(tmp_path, EVENTS))
    with submitted(client, WORKLOAD) as job, service.client() as other:
        sender = Sender(other, job, events, PIECES)
        sender.more(4)
        until_taken(client, job, 1)
        pid = pid_of(service, VICTIMS[victim])
        sending = Thread(target=sender.rest)
        sending.start()
        sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        sending.join()
        assert sender.acknowledged == events.num_rows
        until_taken(client, job, events.num_rows)
        assert rows_of(client, job) == expected(WORKLOAD, events)
        assert document(client, job)["metrics"]["events"] == events.num_rows
