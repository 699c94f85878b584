"""Live streams whose folder has no file yet, and streams that end before reading anything; without Ray and Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]

import elsinore
from elsinore.cli.checkpoint_table import status_table
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.stream import live
from elsinore.cluster.stream.live import Live, StreamRequest
from elsinore.connectors.errors import FailedError, InputError
from elsinore.live import LiveStream

WORKLOAD = "RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds SLIDE 10 seconds"


@dataclass
class Played:
    """A fake of the session, without Ray and Spark."""

    begins: Event = field(default_factory=Event)
    """Set when the start of Spark begins."""
    begun: Event = field(default_factory=Event)
    pool: Any = field(default_factory=lambda: SimpleNamespace(hire=lambda _: None, give_back=lambda *_: None))

    def __post_init__(self) -> None:
        self.begun.set()

    @property
    def spark(self) -> Any:
        self.begins.set()
        assert self.begun.wait(20)
        return self

    def lost(self, spark: object) -> bool:
        return False


class Source:
    """A source that has no columns yet, or raises an error about them."""

    def __init__(self) -> None:
        self.asked = 0
        self.wrong: Exception | None = None

    def __call__(self, spark: object) -> None:
        self.asked += 1
        if self.wrong is not None:
            raise self.wrong


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    found = Played()
    monkeypatch.setattr(live, "session", lambda _: found)
    return found


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def waiting(played: Played, source: Source, tmp_path: Path) -> Iterator[Live]:
    found = begin(source, tmp_path)
    yield found
    found.stop()


def begin(source: Source, folder: Path) -> Live:
    asked = StreamRequest(WORKLOAD, "auto", "exact", 0)  # type: ignore[arg-type]
    return Live(asked, source, lambda _: lambda *_: None, str(folder / "checkpoint"), Settings(engine="ray"))


def until(what: Any) -> None:
    end = monotonic() + 20
    while not what():
        assert monotonic() < end


def test_a_stream_waits_in_the_background(waiting: Live, source: Source) -> None:
    until(lambda: source.asked > 2)
    told = LiveStream(waiting)
    assert told.state == "waiting"
    assert told.metrics.waiting
    assert repr(told) == "<LiveStream: waiting for the first file, 0 events, 0 rows, 0 batches>"
    assert not told.wait(0)
    told.stop()
    assert (told.state, told.wait(0)) == ("stopped", True)


def test_a_stream_that_waits_holds_its_checkpoint_and_status_says_so(
    waiting: Live, source: Source, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"process {os.getpid()} already uses the checkpoint"):
        begin(source, tmp_path)
    told = status_table(str(tmp_path / "checkpoint"))
    cells = [list(column.cells) for column in told.columns]
    assert cells[0] == ["owner", "state"]
    assert cells[1][0] == f"process {os.getpid()}"
    assert "waiting for the first file" in str(cells[1][1])
    waiting.stop()
    with pytest.raises(InputError, match="holds no checkpoint of a stream"):
        status_table(str(tmp_path / "checkpoint"))
    begin(source, tmp_path).stop()


def test_what_is_wrong_with_the_first_file_ends_a_stream_that_waits(waiting: Live, source: Source) -> None:
    source.wrong = InputError("the stream has no type column 'type'")
    with pytest.raises(InputError, match="no type column"):
        waiting.wait(20)
    assert LiveStream(waiting).state == "failed"


def test_what_is_wrong_with_a_file_that_is_there_is_raised_at_once(
    played: Played, source: Source, tmp_path: Path
) -> None:
    for _ in range(2):
        # The checkpoint is no longer locked.
        source.wrong = InputError("the stream has no type column 'type'")
        with pytest.raises(InputError, match="no type column"):
            begin(source, tmp_path)


def test_a_stream_that_waits_takes_other_queries(waiting: Live) -> None:
    waiting.change(WORKLOAD.replace("A+", "B+"))
    assert waiting.asked.workload == WORKLOAD.replace("A+", "B+")


def test_a_stream_that_waits_is_stopped_twice_and_from_several_sides(waiting: Live) -> None:
    sides = [Thread(target=waiting.stop) for _ in range(4)]
    for side in sides:
        side.start()
    for side in sides:
        side.join(20)
        assert not side.is_alive()
    waiting.stop()
    assert waiting.wait(0)


def test_a_stream_is_stopped_while_spark_is_being_begun(waiting: Live, played: Played, source: Source) -> None:
    played.begins.clear()
    played.begun.clear()
    until(played.begins.is_set)
    side = Thread(target=waiting.stop)
    side.start()
    until(waiting._stopping.is_set)
    asked = source.asked
    played.begun.set()
    side.join(20)
    assert not side.is_alive()
    assert waiting.wait(0)
    assert source.asked <= asked + 1


def test_a_stream_is_stopped_where_java_has_ended_meanwhile(waiting: Live) -> None:
    def gone() -> None:
        raise Py4JNetworkError("Answer from Java side is empty")

    waiting.query = SimpleNamespace(stop=gone)
    waiting.stop()
    assert waiting.wait(0)


def test_a_folder_that_is_not_there_is_said_before_anything_is_begun(tmp_path: Path) -> None:
    with pytest.raises(elsinore.InputError, match="is not a folder"):
        elsinore.stream(WORKLOAD, tmp_path / "in", "-", checkpoint=tmp_path / "checkpoint")
    assert list(tmp_path.iterdir()) == []


def test_a_first_file_that_may_not_be_read_is_tried_again(
    played: Played, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elsinore.cluster.stream import reading
    from elsinore.connectors.spark.streams import UnreadableFileError

    monkeypatch.setattr(reading, "PAUSE_SECONDS", 0.001)
    source.wrong = UnreadableFileError("0.parquet cannot be read: Permission denied")
    with pytest.raises(FailedError, match=r"0\.parquet cannot be read: Permission denied"):
        begin(source, tmp_path)
    assert source.asked == reading.MAX_TRIES
