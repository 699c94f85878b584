"""The driver process of a live stream, with a Ray and a Spark of its own, is killed and restarted."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.drivers import SECONDS, Driver, alone, stream, until_answered, until_done
from tests.cluster.live_rides import WORKLOAD
from tests.cluster.streaming import Growing, answered

__all__ = ["alone"]

KILLED = """
import os, signal
from elsinore.cluster.stream.checkpoint import Checkpoint, Era
from elsinore.cluster.run.crew import Crew
from elsinore.cli import main

kind, name, nth = {at}
method, calls = getattr(kind, name), []

def last(*arguments):
    calls.append(arguments)
    if len(calls) == nth:
        os.kill(os.getpid(), signal.SIGKILL)
    return method(*arguments)

setattr(kind, name, last)
main()
"""

NO_LONG_WAIT = {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
"""Ray's agent on a node looks for the GCS of a driver that was killed, by default for a minute, and then ends too."""

MOMENTS = {
    "before a batch is taken": "Crew, 'send', 2",
    "before it is known to be whole": "Era, 'put_whole', 2",
    # The first call is at the beginning of the era.
    "when its rows are written": "Era, 'put_done', 3",
    "when all is done but to tell Spark": "Crew, 'commit', 2",
}


@pytest.mark.parametrize(
    "moment",
    [pytest.param(one, marks=() if one == "when its rows are written" else pytest.mark.long) for one in MOMENTS],
)
def test_killed_and_begun_again(tmp_path: Path, growing: Growing, expected: Any, moment: str) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    growing.more(4)
    settings = {"ELSINORE_FILES_AT_ONCE": "2", **NO_LONG_WAIT}
    with stream(tmp_path, "-c", KILLED.format(at=MOMENTS[moment]), **settings) as killed:
        assert killed.end(3 * SECONDS) == -signal.SIGKILL, killed.said()
        killed.until_nothing_is_left()
    growing.end()
    with stream(tmp_path) as driver:
        until_answered(tmp_path, driver, expected)
        driver.process.send_signal(signal.SIGTERM)
        assert driver.end() == 0, driver.said()
        assert "Stopped; it resumes from here" in driver.said()
        driver.until_nothing_is_left()
    assert answered(tmp_path / "rows.jsonl") == expected


@pytest.mark.long
def test_without_ray_it_ends(tmp_path: Path, growing: Growing) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    growing.more(4)
    with stream(tmp_path) as driver:
        until_done(tmp_path, driver, 1)
        node = next(pid for pid, arguments in driver.alive().items() if "/raylet/raylet " in arguments)
        os.kill(node, signal.SIGKILL)
        growing.more(3)
        assert driver.end() == 1, driver.said()
        assert "Ray has died" in driver.said()
        driver.until_nothing_is_left()


STARTING, WORKING = "org.apache.spark", "GraphActor"
"""Texts in the command lines of processes that run while Spark starts, and during the work."""


@pytest.mark.parametrize("when", [pytest.param(STARTING, marks=pytest.mark.long), WORKING])
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, growing: Growing, when: str) -> None:
    (tmp_path / "workload.elsinore").write_text(WORKLOAD)
    growing.more(4)
    events = sorted((tmp_path / "in").iterdir())
    with Driver("-m", "elsinore", "run", tmp_path / "workload.elsinore", "--events", *events) as driver:
        driver.interrupt(when)
        assert driver.end() == 130, driver.said()
        assert driver.said() == "stopped\n"
        driver.until_nothing_is_left()


@pytest.mark.long
@pytest.mark.parametrize("example", ["ridesharing", "board"])
def test_ctrl_c_in_an_example_is_one_line(tmp_path: Path, growing: Growing, example: str) -> None:
    growing.more(4)
    script = Path(__file__).parents[3] / "examples" / example / "run.py"
    with Driver(script, tmp_path / "in" / "*.parquet") as driver:
        driver.interrupt(STARTING)
        assert driver.end() == 130, driver.said()
        assert driver.said() == "stopped\n"
        driver.until_nothing_is_left()


SHOWN = """
def shown(result):
    # Matches of different partitions that begin and end together have no order.
    return sorted(map(repr, result.rows()))
"""

AGAIN = f"""
import sys
import elsinore
{SHOWN}
try:
    elsinore.run(WORKLOAD, EVENTS)
except KeyboardInterrupt:
    print("interrupted", file=sys.stderr)
first, second = elsinore.run(WORKLOAD, EVENTS), elsinore.run(WORKLOAD, EVENTS, engine="local")
assert shown(first) == shown(second) and first.metrics.rows > 0
print("all the same", file=sys.stderr)
"""


@pytest.mark.parametrize("when", [pytest.param(STARTING, marks=pytest.mark.long), WORKING])
def test_who_was_interrupted_runs_again(tmp_path: Path, growing: Growing, when: str) -> None:
    growing.more(4)
    with Driver("-c", f"WORKLOAD, EVENTS = {WORKLOAD!r}, {str(tmp_path / 'in' / '*.parquet')!r}\n{AGAIN}") as driver:
        driver.interrupt(when)
        assert driver.end() == 0, driver.said()
        assert driver.said() == "interrupted\nall the same\n"
        driver.until_nothing_is_left()


NOTEBOOK = f"""
import asyncio, sys
import elsinore
{SHOWN}
async def cells():
    await asyncio.sleep(0)
    first = elsinore.run(WORKLOAD, EVENTS)
    await asyncio.sleep(0)
    second = elsinore.run(WORKLOAD, EVENTS, actors=3)
    taken = []
    with elsinore.stream(WORKLOAD, SOURCE, lambda rows, _: taken.append(rows), checkpoint=CHECKPOINT) as live:
        while live.metrics.events < first.metrics.events:
            await asyncio.sleep(0.1)
            live.wait(0)
    third = elsinore.run(WORKLOAD, EVENTS, engine="local")
    assert shown(first) == shown(second) == shown(third)
    assert first.metrics.rows > 0 and taken
    print("all the same", file=sys.stderr)

asyncio.run(cells())
"""


def test_a_notebook_has_a_loop_that_runs(tmp_path: Path, growing: Growing) -> None:
    growing.more(4)
    names: dict[str, Any] = {"WORKLOAD": WORKLOAD, "SOURCE": str(tmp_path / "in")}
    names |= {"EVENTS": str(tmp_path / "in" / "*.parquet"), "CHECKPOINT": str(tmp_path / "checkpoint")}
    given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    with Driver("-c", given + NOTEBOOK) as driver:
        assert driver.end() == 0, driver.said()
        assert "all the same" in driver.said()
        driver.until_nothing_is_left()
