"""Spark resumes with its log after any loss of power, and with no other log than its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

import elsinore
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, last_done, mend
from elsinore.cluster.stream.live import Live
from elsinore.cluster.stream.mending import Log
from elsinore.cluster.stream.spark_log import SparkLog
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.storage.vault import Vault
from tests.cluster.power import EMPTY, MISSING, WHOLE, empty_image, mounted, watched
from tests.cluster.spark_logs import STREAM, Written, goes_on, sums_beside

WORKLOAD = "RETURN COUNT(*) PATTERN A+ WITHIN 1 minute"

STATES = (WHOLE, EMPTY, MISSING)


def beyond(log: Written, done: int) -> list[Path]:
    """Write what Spark writes between two batches, and return the paths; none of these files is synced yet."""
    files = [log.commit(done)] if done >= 0 else [log.begin()]
    return [*files, log.step(done + 1), log.offsets(done + 1)]


def become(path: Path, state: str) -> None:
    if state == EMPTY:
        path.write_bytes(b"")
    elif state == MISSING:
        path.unlink()


@dataclass
class Left:
    """A log on which one loss of power after another is tried."""

    log: Written
    unsynced: list[Path]
    before: dict[Path, bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.before = {path: path.read_bytes() for path in self.log.folder.rglob("*") if path.is_file()}

    def again(self, contents: dict[Path, bytes | None]) -> None:
        """Restore the log, except for these files."""
        for path, content in {**self.before, **contents}.items():
            if content is None:
                path.unlink(missing_ok=True)
            elif not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)


def after(folder: Path, done: int, ahead: int = 0) -> Left:
    """Write a log as it is after a batch; `ahead`: the number of later batches that Spark has taken for done."""
    log = Written(folder)
    if done + ahead >= 0:
        log.done(done + ahead)
    return Left(log, beyond(log, done + ahead))


def later(done: int, ahead: int) -> list[list[int]]:
    """Return which files Spark may have listed that it has still to process."""
    known = list(range(done + 1, done + 1 + ahead))
    return [known, [*known, done + 1 + ahead]]


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("done", [-1, 0, 8])
def test_what_was_not_synced_may_be_lost(tmp_path: Path, done: int, ahead: int) -> None:
    left = after(tmp_path, done, ahead)
    unsynced = [one for path in left.unsynced for one in (path, sums_beside(path))]
    whole = [left.before[path] for path in unsynced]
    for contents in product(*((content, b"", None) for content in whole)):
        left.again(dict(zip(unsynced, contents, strict=True)))
        Log(tmp_path, "spark").mend(done, STREAM if done >= 0 else "")
        assert goes_on(tmp_path, done) in later(done, ahead), contents


@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("done", [8, 9])
@pytest.mark.parametrize("sums", STATES)
def test_what_was_not_synced_may_be_cut_short(tmp_path: Path, done: int, sums: str, ahead: int) -> None:
    left = after(tmp_path, done, ahead)
    for path in left.unsynced:
        content = left.before[path]
        of = {WHOLE: left.before[sums_beside(path)], EMPTY: b"", MISSING: None}[sums]
        for length in range(0, len(content), 1 if len(content) < 200 else 7):
            left.again({path: content[:length], sums_beside(path): of})
            Log(tmp_path, "spark").mend(done, STREAM)
            assert goes_on(tmp_path, done) in later(done, ahead), (path, length)


def test_steps_behind_a_gap_are_taken_again(tmp_path: Path) -> None:
    log = Written(tmp_path)
    log.done(7)
    log.step(9)
    log.step(10)
    Log(tmp_path, "spark").mend(7, STREAM)
    assert goes_on(tmp_path, 7) == []
    assert not (tmp_path / "sources/0/10").exists()


def test_a_log_that_was_shortened_is_whole(tmp_path: Path) -> None:
    log = Written(tmp_path)
    log.done(9)
    sums_beside(log.write("sources/0/9.compact", "v1")).unlink()
    Log(tmp_path, "spark").mend(9, STREAM)
    assert (tmp_path / "sources/0/9.compact").read_text() == "v1"


def lose(log: Written, *names: str) -> None:
    for name in names:
        (log.folder / name).unlink()


UNFIT: dict[str, Callable[[Written], object]] = {
    "empty or missing, although 6": lambda log: shutil.rmtree(log.folder),
    "ends with batch 3, but batch 5 is done": lambda log: lose(log, "offsets/4", "offsets/5"),
    "at batch 8, but the last one that is done is 5": lambda log: [(log.offsets(n), log.step(n)) for n in (6, 7, 8)],
    "at batch 7, but the last one": lambda log: log.commit(7),
    "belongs to another stream": lambda log: log.begin("another"),
    "offsets/5 is missing or damaged": lambda log: (log.folder / "offsets/5").write_bytes(b""),
    "offsets/4 is missing or damaged": lambda log: lose(log, "offsets/4"),
    "sources/0/5 is missing or damaged": lambda log: (log.folder / "sources/0/5").write_bytes(b"v1"),
    "sources/0/2 is missing or damaged": lambda log: lose(log, "sources/0/2"),
}
"""Defects of a log after batch 5, by the message about each."""


def checkpoint(folder: Path, stream: str = STREAM) -> Written:
    """Create a checkpoint after six batches."""
    found = Checkpoint(str(folder))
    era = found.next_era()
    era.begin({})
    era.put_done(BatchRecord(5, 4, spark_stream=stream))
    era.put_whole(BatchRecord(6, 5, spark_stream=stream))
    found.close()
    log = Written(folder / "spark")
    log.done(5)
    return log


@pytest.mark.parametrize("message", UNFIT)
def test_a_log_that_does_not_fit_what_was_done_is_refused(tmp_path: Path, message: str) -> None:
    log = checkpoint(tmp_path)
    mend(str(tmp_path))
    assert goes_on(log.folder, 5) == []
    UNFIT[message](log)
    with pytest.raises(InputError, match=f"(?s){tmp_path}/spark is .*, and .*{message}.* To continue would skip"):
        mend(str(tmp_path))
    with pytest.raises(InputError, match="To continue would skip"):
        mend(str(tmp_path))


def test_a_checkpoint_of_an_older_version_goes_on(tmp_path: Path) -> None:
    log = checkpoint(tmp_path, "")
    assert last_done(str(tmp_path)) == mend(str(tmp_path)) == BatchRecord(6, 5)
    log.begin("whatever")
    assert mend(str(tmp_path)).spark_batch == 5
    shutil.rmtree(log.folder)
    with pytest.raises(InputError, match="empty or missing"):
        mend(str(tmp_path))


@pytest.mark.parametrize("harm", STATES[1:])
def test_an_identifier_that_is_lost_is_written_again(tmp_path: Path, harm: str) -> None:
    log = checkpoint(tmp_path)
    become(log.folder / "metadata", harm)
    mend(str(tmp_path))
    assert SparkLog(Vault(str(tmp_path))).stream == STREAM
    assert goes_on(log.folder, 5) == []


class KilledError(Exception):
    pass


@pytest.mark.parametrize("done", [0, 8, 9])
def test_a_process_may_be_killed_between_two_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    put, killed_at, kept = Vault.put, 0, False
    while not kept:
        vault = Vault(f"memory://{tmp_path}/{killed_at}")
        here = SparkLog(vault)
        log = Written(here.folder)
        log.done(done)
        here.keep()
        beyond(log, done)
        left = killed_at

        def dying(self: Vault, name: str, content: bytes) -> None:
            nonlocal left
            if not left:
                raise KilledError
            put(self, name, content)
            left -= 1

        with monkeypatch.context() as patched:
            patched.setattr(Vault, "put", dying)
            try:
                here.keep()
                kept = True
            except KilledError:
                killed_at += 1
        # The log is good even without being mended.
        there = SparkLog(vault)
        assert goes_on(there.folder, done) in ([], [done + 1])
        there.begin(done, STREAM)
        assert goes_on(there.folder, done) in ([], [done + 1])
        here.close()
        there.close()
    assert killed_at == 3


def test_a_damaged_copy_of_what_is_needed_is_named(tmp_path: Path) -> None:
    vault = Vault(f"memory://{tmp_path}")
    here = SparkLog(vault)
    Written(here.folder).done(3)
    here.keep()
    vault._place[0].pipe_file(f"{vault._place[1]}/spark/offsets/3", b"no digest")
    with pytest.raises(InputError, match=f"memory://{tmp_path}/spark is .* ends with batch 2"):
        SparkLog(vault).begin(3, STREAM)


def test_a_stream_whose_log_is_gone_is_told_so_at_once(tmp_path: Path) -> None:
    log = checkpoint(tmp_path / "checkpoint")
    shutil.rmtree(log.folder)
    with pytest.raises(InputError, match="empty or missing, although 6 of Spark's batches are done"):
        elsinore.stream(
            "RETURN COUNT(*) PATTERN A+ WITHIN 1 minute", tmp_path, print, checkpoint=tmp_path / "checkpoint"
        )


class Taking(Live):
    """A stream whose batches Spark calls, without all other parts."""

    def __init__(self, found: Checkpoint) -> None:
        self.checkpoint, self.taken = found, found.mend()
        self._busy, self._stopping, self._requested = Lock(), Event(), None
        self.error: BaseException | None = None
        self.processed: list[int] = []

    def _process_batch(self, frame: Any, spark_batch: int) -> None:
        self.processed.append(spark_batch)

    def _replan(self) -> None:
        """Leave the plans as they are."""


LATER: dict[str, Callable[[Written], object]] = {
    "another stream": lambda log: log.begin("another"),
    "no identifier": lambda log: (log.folder / "metadata").unlink(),
    "nothing": lambda log: shutil.rmtree(log.folder),
}


@pytest.mark.parametrize("batch", [5, 6])
@pytest.mark.parametrize("harm", LATER)
def test_a_log_that_is_changed_while_a_stream_runs_skips_no_events(tmp_path: Path, harm: str, batch: int) -> None:
    """Spark counts anew then: its batch may have the number of the last one that is done, but has other events."""
    log = checkpoint(tmp_path)
    with closing(Checkpoint(str(tmp_path))) as found:
        live = Taking(found)
        LATER[harm](log)
        with pytest.raises(FailedError, match="its folder spark was deleted or changed while the stream ran"):
            live._process(None, batch)
    assert live.processed == []
    assert isinstance(live.error, FailedError)


@pytest.mark.parametrize("batch", [0, 4, 7])
def test_a_batch_that_does_not_follow_the_last_one_is_refused(tmp_path: Path, batch: int) -> None:
    checkpoint(tmp_path)
    with closing(Checkpoint(str(tmp_path))) as found:
        live = Taking(found)
        live._process(None, 5)
        live._process(None, 6)
        assert live.processed == [6]
        with pytest.raises(FailedError, match=f"Spark continues with batch {batch}, but the last batch .* is 5"):
            live._process(None, batch)
    assert live.processed == [6]


def test_all_that_spark_has_written_is_synced(tmp_path: Path) -> None:
    log = Written(tmp_path / "checkpoint" / "spark")
    with watched(tmp_path) as disk:
        found = Checkpoint(str(tmp_path / "checkpoint"))
        found.mend()
        for done in range(11):
            log.done(done)
            found.spark_log.keep()
            assert disk.unsynced() == ["checkpoint/lock"]
    found.close()


def test_on_a_real_disk_a_batch_is_as_safe_as_its_record(tmp_path: Path) -> None:
    image, left, disk = tmp_path / "image", tmp_path / "left", tmp_path / "disk"
    empty_image(image)
    with mounted(image, disk):
        found = Checkpoint(str(disk / "checkpoint"))
        found.mend()
        era = found.next_era()
        era.begin({})
        for done in range(3):
            Written(found.spark_log.folder).done(done)
            found.spark_log.keep()
            era.put_done(BatchRecord(done + 1, done, spark_stream=STREAM))
        beyond(Written(found.spark_log.folder), 2)
        shutil.copyfile(image, left)
        found.close()
    with mounted(left, disk):
        assert mend(str(disk / "checkpoint")).spark_batch == 2
        assert goes_on(disk / "checkpoint" / "spark", 2) == []
