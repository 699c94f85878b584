"""Whoever dies while a stream runs: the rows are those of an undisturbed run, and none is written twice."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pyarrow as pa
import pytest
import ray
from ray._private import state

import elsinore
from actors.collector import Collector
from cluster.session import Session
from tests.cluster.streaming import Growing, answered, answers_alone
from tests.cluster.test_live import EVENTS, PIECES, begin, expected, growing, rides, taken, until

__all__ = ["expected", "growing", "rides"]

pytestmark = pytest.mark.usefixtures("running")


def pid_of(name: str) -> int:
    """Of an actor that lives, by its name or its class."""
    found = [
        one["Pid"]
        for one in state.actors().values()
        if one["State"] == "ALIVE" and name in (one["Name"], one["ActorClassName"])
    ]
    assert found, state.actors()
    return int(found[0])


def executor() -> int:
    found = [
        one["Pid"]
        for one in state.actors().values()
        if one["State"] == "ALIVE" and one["Name"].startswith("raydp-executor")
    ]
    return int(found[0])


VICTIMS: dict[str, Callable[[], int]] = {
    "graph actor": lambda: pid_of("GraphActor"),
    "collector": lambda: pid_of("Collector"),
    "optimizer": lambda: pid_of("OptimizerActor"),
    "executor": executor,
    "master": lambda: pid_of("RAY_APP_MASTER"),
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_process_that_is_killed_is_not_missed(tmp_path: Path, growing: Growing, expected: Any, victim: str) -> None:
    growing.more(2)
    with begin(tmp_path, files_at_once=1) as live:
        taken(live, EVENTS // PIECES)
        growing.end()
        os.kill(VICTIMS[victim](), signal.SIGKILL)
        until(live, lambda: live.metrics.events >= EVENTS + 1, 100)
    assert answered(tmp_path / "rows.jsonl") == expected
