"""A loss of power while a live stream runs, which loses all unsynced files, does not change the rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from elsinore.cluster.stream.checkpoint import Era
from elsinore.cluster.stream.live import Live
from elsinore.cluster.stream.spark_log import SparkLog
from tests.cluster.live_rides import EVENTS, PIECES, begin, taken, until
from tests.cluster.power import EMPTY, MISSING, WHOLE, Choice, empty_image, mounted, watched
from tests.cluster.streaming import Growing, answered

pytestmark = pytest.mark.usefixtures("running")

POINTS: dict[str, tuple[type, str]] = {
    "Spark has begun a batch": (Live, "_process"),
    "Spark's log is synced": (SparkLog, "keep"),
    "a batch is whole": (Era, "put_whole"),
    "rows are written": (Live, "_write_rows"),
    "a batch is done": (Era, "put_done"),
}


@contextmanager
def called(point: str, then: Callable[[], object]) -> Iterator[None]:
    """Call `then` before each call of the method `_process`, or after each call of another point's method."""
    kind, name = POINTS[point]
    method = getattr(kind, name)

    def wrapped(*arguments: Any) -> Any:
        if name == "_process":
            then()
        found = method(*arguments)
        if name != "_process":
            then()
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, name, wrapped)
        yield


def of_the_driver(state: Callable[[], str]) -> Choice:
    """Return a choice that keeps the files that actors write, because they sync these in processes of their own."""
    return lambda name: WHOLE if name.startswith(("checkpoint/eras/", "checkpoint/lock")) else state()


def lose_power(tmp_path: Path, growing: Growing, point: str, state: Callable[[], str]) -> None:
    """Run a stream for two batches or more; then restore the disk from this point of the last batch."""
    machine, left = tmp_path / "machine", tmp_path / "left"
    machine.mkdir(exist_ok=True)
    growing.more()

    def lost() -> None:
        shutil.rmtree(left, ignore_errors=True)
        disk.left(left, of_the_driver(state))

    with watched(machine) as disk, called(point, lost), begin_on(tmp_path) as live:
        taken(live, growing.put * (EVENTS // PIECES))
        growing.more()
        taken(live, growing.put * (EVENTS // PIECES))
        until(live, left.exists)
    shutil.rmtree(machine)
    left.rename(machine)


def begin_on(tmp_path: Path) -> Any:
    machine = tmp_path / "machine"
    return begin(tmp_path, checkpoint=machine / "checkpoint", sink=machine / "rows.jsonl")


def end(tmp_path: Path, growing: Growing, expected: Any) -> None:
    growing.end()
    with begin_on(tmp_path) as live:
        taken(live, EVENTS + 1)
    assert live.metrics.events == EVENTS + 1
    assert answered(tmp_path / "machine" / "rows.jsonl") == expected


def test_no_row_is_lost_with_the_power(tmp_path: Path, growing: Growing, expected: Any) -> None:
    lose_power(tmp_path, growing, "Spark has begun a batch", lambda: EMPTY)
    lose_power(tmp_path, growing, "a batch is done", lambda: MISSING)
    end(tmp_path, growing, expected)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_no_row_is_lost_whenever_the_power_goes(tmp_path: Path, growing: Growing, expected: Any, seed: int) -> None:
    random = Random(seed)
    for point in random.sample(list(POINTS), len(POINTS)):
        lose_power(tmp_path, growing, point, lambda: random.choice((WHOLE, EMPTY, MISSING)))
    end(tmp_path, growing, expected)


@pytest.mark.long
def test_no_row_is_lost_on_a_disk_whose_power_goes(tmp_path: Path, growing: Growing, expected: Any) -> None:
    """A loss of power leaves only what the device of a real file system holds."""
    image, left, machine = tmp_path / "image", tmp_path / "left", tmp_path / "machine"
    empty_image(image)
    growing.more()
    with mounted(image, machine), called("a batch is done", lambda: shutil.copyfile(image, left)):
        with begin_on(tmp_path) as live:
            for _ in range(3):
                taken(live, growing.put * (EVENTS // PIECES))
                growing.more()
        assert live.metrics.batches >= 3
    with mounted(left, machine):
        end(tmp_path, growing, expected)
