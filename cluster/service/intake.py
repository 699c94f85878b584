"""Write appended events to disk; a retry with the same idempotency key changes nothing.

The name of a file of events is made from the idempotency key, so a key has one file. The file is deleted when Spark has
taken it, and Spark takes no path twice. A small file stays, the marker, which holds the meaning of the key: the digest
of the body and the number of events. The marker is written after the events. A process that crashes between the two has
acknowledged nothing, and a retry finds the events.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.cluster.service.jobs import Spec, StoredJob, digest, workload_of
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.storage.safe_files import put_bytes, sync, write
from elsinore.connectors.wire.arrow_events import read_arrow
from elsinore.connectors.wire.fitting import FittedEvents, fitted
from elsinore.connectors.wire.json_events import read_json
from elsinore.connectors.wire.msgpack_events import read_msgpack
from elsinore.connectors.wire.raw import RawEvents
from elsinore.planner.checks.check import check_attributes

ARROW, NDJSON, MSGPACK = "application/vnd.apache.arrow.stream", "application/x-ndjson", "application/msgpack"
MEDIA_TYPES = (ARROW, NDJSON, MSGPACK)

ONCE_PREFIX = "once-"
"""Prefix of the names of files without an idempotency key, which are never appended again."""

MAX_NAME_LENGTH = 256
"""The most characters of a column's name."""

ABANDONED_SECONDS = 3600
"""Age in seconds from which a temporary file counts as left behind."""

MEANING_FORM = re.compile(rb"[0-9a-f]+ \d{1,18}")
"""The meaning of a key: the digest of a body, and the number of its events."""

MEANING_KEY = b"elsinore"
"""The metadata of a file of events that holds the meaning of its key."""


@dataclass(frozen=True)
class Append:
    body: bytes
    media_type: str
    key: str | None


@dataclass(frozen=True)
class AppendReceipt:
    events: int
    repeated: bool


def accept(job: StoredJob, append: Append, settings: ServiceSettings) -> AppendReceipt:
    """Take all events of a body, or none of them; for a key that was seen before, return what it took then."""
    name = digest(append.key.encode()) if append.key else f"{ONCE_PREFIX}{uuid.uuid4().hex}"
    meaning = digest(append.body)
    if append.key and (before := _known_meaning(job, name)) is not None:
        return _repeated(before, meaning)
    spec = job.spec()
    names = Names(spec.type_column, spec.time_column)
    raw = _read(append, settings, job.columns())
    found = _in_columns(job, spec, raw, names, settings)
    meaning_and_count = f"{meaning} {raw.events}".encode()
    if raw.events and not _put(job, name, found.table, meaning_and_count):
        return _repeated(_known_meaning(job, name) or meaning_and_count, meaning)
    if append.key:
        _remember(job, name, meaning_and_count)
    return AppendReceipt(raw.events, False)


def _read(append: Append, settings: ServiceSettings, known: dict[str, str]) -> RawEvents:
    if append.media_type == ARROW:
        return read_arrow(append.body, settings.events, settings.unpacked, settings.columns)
    if append.media_type == NDJSON:
        return read_json(append.body, settings.events, known, settings.unpacked)
    return read_msgpack(append.body, settings.events, settings.unpacked)


def _in_columns(job: StoredJob, spec: Spec, raw: RawEvents, names: Names, settings: ServiceSettings) -> FittedEvents:
    """Return the events in the columns of the job. New columns are added under the lock of the job."""
    found = fitted(raw, names, job.columns())
    if not found.columns:
        return found
    with job.locked():
        known = job.columns()
        found = fitted(raw, names, known)
        columns = known | found.columns
        _check_columns(spec, columns, settings)
        if columns != known:
            job.put_columns(columns)
    return found


def _check_columns(spec: Spec, columns: dict[str, str], settings: ServiceSettings) -> None:
    if len(columns) > settings.columns:
        raise InputError(
            f"a job can have at most {settings.columns} columns, and these events would add more; send fewer attributes"
        )
    if any(len(name) > MAX_NAME_LENGTH for name in columns):
        raise InputError(f"the name of a column is longer than {MAX_NAME_LENGTH} characters; shorten it")
    for name in (spec.type_column, spec.time_column):
        if name not in columns:
            raise InputError(
                f"no event has a value in the column {name!r}, so its type is unknown; send an event with a value, or "
                f"submit the workload with type_column, time_column and columns"
            )
    check_readable(spec, columns)


def check_readable(spec: Spec, columns: dict[str, str]) -> None:
    """Raise an error where the type or time column has a wrong type, or queries read attributes that do not exist."""
    if columns.get(spec.type_column, "string") != "string":
        raise InputError(f"the type column {spec.type_column!r} holds {columns[spec.type_column]}; it must hold texts")
    if columns.get(spec.time_column) in ("string", "bool"):
        raise InputError(
            f"the time column {spec.time_column!r} holds {columns[spec.time_column]}; times are numbers or timestamps"
        )
    workload = workload_of(spec.workload)
    attributes = set(columns) - {spec.type_column, spec.time_column}
    check_attributes(workload, dict.fromkeys(workload.types, attributes))


def _put(job: StoredJob, name: str, table: pa.Table, meaning_and_count: bytes) -> bool:
    """Write a file of events with the meaning of its key; return False if the file exists already."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata({MEANING_KEY: meaning_and_count}),
        sink,
        compression="zstd",
        write_page_checksum=True,
    )
    draft = job.incoming / f".{name}.{uuid.uuid4().hex}"
    try:
        write(draft, sink.getvalue())
        os.link(draft, job.incoming / f"{name}.parquet")
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise RefusalError(404, f"the job {job.name} was removed") from None
    finally:
        draft.unlink(missing_ok=True)
    sync(job.incoming)
    return True


def _known_meaning(job: StoredJob, name: str) -> bytes | None:
    """Return the meaning of a key that was seen before, else None; read it from the marker, or from the events.

    Raise FailedError where the file that has it cannot be read.
    """
    marker = _marker(job, name)
    try:
        found = marker.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        found = None
    if found is not None and MEANING_FORM.fullmatch(found):
        return found
    path = job.incoming / f"{name}.parquet"
    try:
        meaning_and_count = (pq.read_schema(path).metadata or {}).get(MEANING_KEY, b"")
    except FileNotFoundError:
        if found is None and not marker.exists():
            return None
        raise _lost_meaning(job, marker) from None
    except (pa.ArrowException, OSError):
        raise _lost_meaning(job, path) from None
    if not MEANING_FORM.fullmatch(meaning_and_count):
        raise _lost_meaning(job, path)
    sync(job.incoming)
    _remember(job, name, meaning_and_count)
    return meaning_and_count


def _lost_meaning(job: StoredJob, path: Path) -> FailedError:
    """Return the error for a key whose meaning is lost: to take its events again might count them twice."""
    return FailedError(
        f"the file {job.name}/{path.relative_to(job.folder)} cannot be read, so it is unknown which events "
        "this Idempotency-Key stands for. Restore the file; or check whether the job has the events, and if not, send "
        "them with another key"
    )


def _remember(job: StoredJob, name: str, meaning_and_count: bytes) -> None:
    marker = _marker(job, name)
    if not marker.parent.is_dir():
        marker.parent.mkdir(parents=True, exist_ok=True)
        sync(job.keys)
    put_bytes(marker, meaning_and_count)


def sweep(job: StoredJob) -> None:
    """Delete temporary files left behind by crashed writers."""
    for path in job.incoming.glob(".*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()


def forget_keys(job: StoredJob, before: float, kept: Iterable[Path]) -> None:
    """Delete the markers of appends before this time, except those of `kept`: paths that Spark would not take again."""
    names = {path.stem for path in kept}
    for marker in job.keys.glob("*/*"):
        if marker.name not in names and marker.stat().st_mtime < before:
            marker.unlink()


def is_last(job: StoredJob, path: Path) -> bool:
    """Return whether no append will be written to this path again: it had no key, or its key has a marker."""
    return path.name.startswith(ONCE_PREFIX) or _marker(job, path.stem).exists()


def _marker(job: StoredJob, name: str) -> Path:
    return job.keys / name[:2] / name


def _repeated(meaning_and_count: bytes, meaning: str) -> AppendReceipt:
    before, events = meaning_and_count.decode().split()
    if before != meaning:
        raise RefusalError(409, "this Idempotency-Key was used for another body before; use a new key for each body")
    return AppendReceipt(int(events), True)


class Backlog:
    """The backlog of each job, cached for 0.5 s because counting it is O(files)."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self._cached: dict[str, tuple[float, str | None]] = {}

    def check(self, job: StoredJob, now: float | None = None) -> None:
        now = time.monotonic() if now is None else now
        looked, full = self._cached.get(job.name, (-1.0, None))
        if now - looked > 0.5:
            full = self._scan(job)
            self._cached[job.name] = (now, full)
        if full is not None:
            raise RefusalError(429, full)

    def _scan(self, job: StoredJob) -> str | None:
        sizes = list(_sizes(job.incoming))
        if len(sizes) > self.settings.backlog_files or sum(sizes) > self.settings.backlog:
            return (
                f"{len(sizes):,} appends ({sum(sizes):,} bytes) of {job.name} are waiting to be processed, which is "
                "more than the limit; try again later"
            )
        return None


def _sizes(folder: Path) -> Any:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    yield entry.stat().st_size
                except FileNotFoundError:
                    continue
    except FileNotFoundError:
        return
