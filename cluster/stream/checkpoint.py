"""Store on disk all that a live stream needs to resume after all its processes have died.

A checkpoint is a sequence of *eras*. An era begins when a stream is begun, resumed or changed; its workload and its
number of actors never change. It holds snapshots of the actors' states, the events of every batch since, and a record
of each batch whose rows are safe. So the last state of the actors can be recovered: restore the last whole snapshot,
then repeat batch by batch. An era without a whole snapshot is recovered from the end of the era before it.

    eras/00000001/duty            the terms of the era
    eras/00000001/states/N/P      the state of the actor at place P after batch N
    eras/00000001/events/N/P      the events of batch N that this actor took
    eras/00000001/events/N/whole  the record of batch N; all its events are here, so it can be done without Spark
    eras/00000001/done/N          the record of batch N; its rows are safe, and are never written again
    spark/                        Spark's log of what it has read
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from elsinore.actors.state import checked, made, pack, packed_blocks, signed, unpack
from elsinore.cluster.machines.file_locks import HeldError, hold, holder
from elsinore.cluster.stream.spark_log import SparkLog
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.storage.safe_files import Piece, make_folder
from elsinore.connectors.storage.vault import DamagedError, Vault

ERAS, WHOLE, LOCK = "eras", "whole", "lock"


@dataclass(frozen=True)
class BatchRecord:
    """The record of a batch whose rows are safe, with all counters up to it."""

    number: int = 0
    spark_batch: int = -1
    """Spark's number of the batch."""
    seen: bool = False
    """Whether any event had a time; if not, there is no watermark."""
    latest: int = 0
    watermark: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    """Events by type, of the types that a query named at their time."""
    spark_stream: str = ""
    """Spark's identifier of the stream; empty where an older version wrote the record."""

    @property
    def placed(self) -> int:
        """Return the number of events so far that windows of events count: those that are neither dead nor late."""
        return self.counts.get("events", 0) - self.counts.get("dead", 0) - self.counts.get("late", 0)


@dataclass(frozen=True)
class Era:
    """One era of a checkpoint, by its number."""

    vault: Vault
    number: int

    @property
    def name(self) -> str:
        return f"{ERAS}/{self.number:08}"

    def duty(self) -> dict[str, Any]:
        """Return the terms of the era; raise UnreadableError for another format, before any state is read."""
        return checked(unpack(self.vault.get(f"{self.name}/duty")))

    def begin(self, duty: dict[str, Any]) -> None:
        self.vault.put(f"{self.name}/duty", pack(signed(duty)))

    @property
    def begun(self) -> bool:
        return "duty" in self.vault.names(self.name)

    @property
    def before(self) -> Era | None:
        """Return the last era before this one that has begun."""
        earlier = [int(name) for name in self.vault.names(ERAS) if int(name) < self.number]
        begun = (one for number in reversed(earlier) if (one := Era(self.vault, number)).begun)
        return next(begun, None)

    def put_state(self, batch: int, place: int, state: bytes) -> None:
        self.vault.put(f"{self.name}/states/{batch:012}/{place}", state)

    def states(self, batch: int, places: int) -> list[bytes]:
        return [self.vault.get(f"{self.name}/states/{batch:012}/{place}") for place in range(places)]

    def verify(self, batch: int, places: int) -> None:
        """Read back the states of a snapshot; raise DamagedError where one is missing or damaged."""
        for place in range(places):
            name = f"{self.name}/states/{batch:012}/{place}"
            try:
                self.vault.get(name)
            except OSError as error:
                raise DamagedError(f"{self.vault.root}/{name} cannot be read back: {error}") from error

    def put_events(self, batch: int, place: int, blocks: Sequence[Piece]) -> None:
        self.vault.put(f"{self.name}/events/{batch:012}/{place}", *packed_blocks(blocks))

    def events(self, batch: int, place: int) -> list[bytes]:
        blocks: list[bytes] = unpack(self.vault.get(f"{self.name}/events/{batch:012}/{place}"))
        return blocks

    def put_whole(self, done: BatchRecord) -> None:
        """Write the record of a batch once all its events are here, before its rows are written."""
        self.vault.put(f"{self.name}/events/{done.number:012}/{WHOLE}", pack(asdict(done)))

    def whole(self, batch: int) -> BatchRecord | None:
        try:
            return made(
                BatchRecord, unpack(self.vault.get(f"{self.name}/events/{batch:012}/{WHOLE}")), "record of a batch"
            )
        except DamagedError:
            return None

    def put_done(self, done: BatchRecord) -> None:
        self.vault.put(f"{self.name}/done/{done.number:012}", pack(asdict(done)))

    def done(self) -> list[BatchRecord]:
        """Return the records of this era in order. Omit the last one if it is damaged: its batch is then repeated."""
        found: list[BatchRecord] = []
        names = self._numbers("done")
        for number in names:
            try:
                document = unpack(self.vault.get(f"{self.name}/done/{number:012}"))
                found.append(made(BatchRecord, document, "record of a batch"))
            except DamagedError as error:
                if number != names[-1]:
                    raise FailedError(f"{error}; later batches depend on it, so this stream cannot continue") from None
        return found

    def snapshots(self) -> list[int]:
        """Return the batches after which there are states, latest first; those of some places may be missing."""
        return self._numbers("states")[::-1]

    def forget(self, before: int) -> None:
        """Delete what the snapshots from this batch on do not need."""
        for folder in ("states", "events", "done"):
            for number in self._numbers(folder):
                if number < before or (number == before and folder == "events"):
                    self.vault.remove(f"{self.name}/{folder}/{number:012}")

    def _numbers(self, folder: str) -> list[int]:
        return [int(name) for name in self.vault.names(f"{self.name}/{folder}")]


class Checkpoint:
    """The checkpoint of a stream, owned by one process at a time; a lock ensures that on one machine."""

    def __init__(self, url: str) -> None:
        self.vault = Vault(url)
        self._lock = _locked(self.vault) if self.vault.local else None
        self.spark_log = SparkLog(self.vault)

    def mend(self) -> BatchRecord:
        """Mend Spark's log after a loss of power, and return the last batch that it has to contain.

        Raise InputError where the log does not fit that batch: events would be skipped, or counted twice.
        """
        done = _last_done(self.latest)
        self.spark_log.begin(done.spark_batch, done.spark_stream)
        return done

    @property
    def latest(self) -> Era | None:
        """Return the last era that has begun."""
        return self.before(Era(self.vault, 1 << 60))

    def aside(self, path: Path) -> Path:
        """Return the folder for an unreadable file of the source: one that Spark does not read."""
        return Path(self.vault.root) / "set-aside" if self.vault.local else path.parent / "_set-aside"

    def next_era(self) -> Era:
        """Claim the next era. A process that owned the checkpoint before fails in `check`, with its next batch."""
        number = self._numbers()[-1] + 1 if self._numbers() else 1
        while not self.vault.claim(f"{ERAS}/{number:08}/claimed"):
            number += 1
        return Era(self.vault, number)

    def check(self, era: Era) -> None:
        """Raise FailedError where another process has claimed a later era."""
        if self._numbers()[-1] > era.number:
            raise FailedError(
                f"another process has taken over the checkpoint {self.vault.root}, so this one stops; "
                "each stream needs its own checkpoint"
            )

    def before(self, era: Era) -> Era | None:
        """Return the era that this one follows, if it still exists."""
        return era.before

    def forget_before(self, era: Era) -> None:
        for number in self._numbers():
            if number < era.number:
                self.vault.remove(Era(self.vault, number).name)

    def _numbers(self) -> list[int]:
        return [int(name) for name in self.vault.names(ERAS)]

    def close(self) -> None:
        self.spark_log.close()
        if self._lock is not None:
            self._lock.close()


@dataclass(frozen=True)
class StreamStatus:
    """The state of a stream as its checkpoint shows it."""

    holder: str | None
    """The process on this machine that owns the checkpoint."""
    era: int
    """The number of the last era; 0 if none has begun, because the stream is starting or waits for its first file."""
    terms: dict[str, Any]
    done: BatchRecord | None
    """The last batch whose rows are safe."""


def latest_of(url: str) -> Era | None:
    """Return the last era of a checkpoint, without its lock."""
    return Era(Vault(url), 1 << 60).before


def last_done(url: str) -> BatchRecord:
    """Return the last batch of a checkpoint that is done, or that recovery will complete."""
    return _last_done(latest_of(url))


def _last_done(era: Era | None) -> BatchRecord:
    if era is None:
        return BatchRecord()
    records = era.done()
    done = records[-1] if records else _last_done(era.before)
    while last := era.whole(done.number + 1):
        done = last
    return done


def mend(url: str) -> BatchRecord:
    """Do what `Checkpoint.mend` does, for a stream that has not begun yet."""
    with closing(Checkpoint(url)) as checkpoint:
        return checkpoint.mend()


def status(url: str) -> StreamStatus:
    """Return the status of a checkpoint, without disturbing its owner; raise InputError where there is none."""
    vault, era = Vault(url), latest_of(url)
    if era is None:
        holder = _holder(vault)
        if holder is None:
            raise InputError(
                f"{vault.root} holds no checkpoint of a stream; give the folder that was named with --checkpoint"
            )
        return StreamStatus(holder, 0, {}, None)
    records = era.done()
    return StreamStatus(_holder(vault), era.number, era.duty(), records[-1] if records else None)


def _holder(vault: Vault) -> str | None:
    lock = Path(vault.root) / LOCK
    return holder(lock) if vault.local and lock.exists() else None


def _locked(vault: Vault) -> IO[str]:
    """Lock the checkpoint; raise HeldError where another process of this machine owns it."""
    path = Path(vault.root)
    try:
        make_folder(path)
        return hold(path / LOCK)
    except OSError as error:
        raise InputError(f"{path} cannot hold a checkpoint: {error.strerror or error}") from error
    except HeldError as error:
        raise HeldError(
            f"{error} already uses the checkpoint {path}: stop it first, or give this stream another checkpoint"
        ) from None
