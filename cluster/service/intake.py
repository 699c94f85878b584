"""Events taken in: when this returns, they are on disk, and a retry with the same key changes nothing.

The name of a file of events is made of the idempotency key, so a key has one file. It is deleted when Spark has taken
it, and Spark takes no path twice; a small file that says what the key stood for stays. It is written behind the events:
whoever dies between the two has acknowledged nothing, and finds either the one or the other.
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

from elsinore.cluster.service.jobs import Job, Spec, digest, workload_of
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import RefusedError
from elsinore.connectors.errors import FailedError, InputError
from elsinore.connectors.feed import Names
from elsinore.connectors.storage.safe_files import put_bytes, sync, write
from elsinore.connectors.wire.arrow_events import read_arrow
from elsinore.connectors.wire.fitting import Fitted, fitted
from elsinore.connectors.wire.json_events import read_json
from elsinore.connectors.wire.msgpack_events import read_msgpack
from elsinore.connectors.wire.raw import Raw
from elsinore.planner.checks.check import check_attributes

ARROW, NDJSON, MSGPACK = "application/vnd.apache.arrow.stream", "application/x-ndjson", "application/msgpack"
MEDIA_TYPES = (ARROW, NDJSON, MSGPACK)

ONCE = "once-"
"""How the name of a file begins that has no key, and so never comes again."""

NAME_LENGTH = 256
"""Characters of a column's name."""

ABANDONED = 3600
"""Seconds after which nobody writes at a draft any more."""

SAID = re.compile(rb"[0-9a-f]+ \d{1,18}")
"""What a key stands for: the digest of a body, and how many events are in it."""

MEANING = b"elsinore"
"""In a file of events: what its key stands for."""


@dataclass(frozen=True)
class Append:
    body: bytes
    media_type: str
    key: str | None


@dataclass(frozen=True)
class Taken:
    events: int
    repeated: bool


def take(job: Job, append: Append, settings: ServiceSettings) -> Taken:
    """All events of a body, or none of them."""
    name = digest(append.key.encode()) if append.key else f"{ONCE}{uuid.uuid4().hex}"
    meaning = digest(append.body)
    if append.key and (before := _before(job, name)) is not None:
        return _repeated(before, meaning)
    spec = job.spec()
    names = Names(spec.type_column, spec.time_column)
    raw = _read(append, settings, job.columns())
    found = _in_columns(job, spec, raw, names, settings)
    said = f"{meaning} {raw.events}".encode()
    if raw.events and not _put(job, name, found.table, said):
        return _repeated(_before(job, name) or said, meaning)
    if append.key:
        _remember(job, name, said)
    return Taken(raw.events, False)


def _read(append: Append, settings: ServiceSettings, known: dict[str, str]) -> Raw:
    if append.media_type == ARROW:
        return read_arrow(append.body, settings.events, settings.unpacked, settings.columns)
    if append.media_type == NDJSON:
        return read_json(append.body, settings.events, known, settings.unpacked)
    return read_msgpack(append.body, settings.events, settings.unpacked)


def _in_columns(job: Job, spec: Spec, raw: Raw, names: Names, settings: ServiceSettings) -> Fitted:
    """In the job's columns. Whoever brings new ones waits until nobody else does."""
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
        raise InputError(f"a job has {settings.columns} columns at most, and with these events it would have more")
    if any(len(name) > NAME_LENGTH for name in columns):
        raise InputError(f"a column has a name of more than {NAME_LENGTH} characters")
    for name in (spec.type_column, spec.time_column):
        if name not in columns:
            raise InputError(
                f"no event has a value in the column {name!r}, so it is not known what it holds; send one that has, or "
                f"submit the workload with type_column, time_column and columns"
            )
    check_readable(spec, columns)


def check_readable(spec: Spec, columns: dict[str, str]) -> None:
    """That queries read attributes which there are."""
    if columns.get(spec.type_column, "string") != "string":
        raise InputError(f"the type column {spec.type_column!r} is {columns[spec.type_column]}; types are texts")
    if columns.get(spec.time_column) in ("string", "bool"):
        raise InputError(
            f"the time column {spec.time_column!r} is {columns[spec.time_column]}; times are no such thing"
        )
    workload = workload_of(spec.workload)
    attributes = set(columns) - {spec.type_column, spec.time_column}
    check_attributes(workload, dict.fromkeys(workload.types, attributes))


def _put(job: Job, name: str, table: pa.Table, said: bytes) -> bool:
    """Whether nobody has put it there before."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({MEANING: said}), sink, compression="zstd", write_page_checksum=True)
    draft = job.incoming / f".{name}.{uuid.uuid4().hex}"
    try:
        write(draft, sink.getvalue())
        os.link(draft, job.incoming / f"{name}.parquet")
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise RefusedError(404, f"there is no job {job.name} any more") from None
    finally:
        draft.unlink(missing_ok=True)
    sync(job.incoming)
    return True


def _before(job: Job, name: str) -> bytes | None:
    """What a key stood for, where it was seen before."""
    marker = _marker(job, name)
    try:
        found = marker.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        found = None
    if found is not None and SAID.fullmatch(found):
        return found
    path = job.incoming / f"{name}.parquet"
    try:
        said = (pq.read_schema(path).metadata or {}).get(MEANING, b"")
    except FileNotFoundError:
        if found is None and not marker.exists():
            return None
        raise _forgotten(job, marker) from None
    except (pa.ArrowException, OSError):
        raise _forgotten(job, path) from None
    if not SAID.fullmatch(said):
        raise _forgotten(job, path)
    sync(job.incoming)
    _remember(job, name, said)
    return said


def _forgotten(job: Job, path: Path) -> FailedError:
    """To take the events again might count them twice."""
    return FailedError(
        f"the file {job.name}/{path.relative_to(job.folder)} cannot be read, so it is not known what this "
        "Idempotency-Key stood for. Restore the file; or look whether the events are in the job, and send them with "
        "another key if not"
    )


def _remember(job: Job, name: str, said: bytes) -> None:
    marker = _marker(job, name)
    if not marker.parent.is_dir():
        marker.parent.mkdir(parents=True, exist_ok=True)
        sync(job.keys)
    put_bytes(marker, said)


def sweep(job: Job) -> None:
    """Drafts of whoever died over them."""
    for path in job.incoming.glob(".*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


def forget_keys(job: Job, before: float, kept: Iterable[Path]) -> None:
    """Of appends that came before; but not where Spark would take nothing at the same path again."""
    names = {path.stem for path in kept}
    for marker in job.keys.glob("*/*"):
        if marker.name not in names and marker.stat().st_mtime < before:
            marker.unlink()


def is_last(job: Job, path: Path) -> bool:
    """Whether no append will ever be put there again: it had no key, or its key is remembered."""
    return path.name.startswith(ONCE) or _marker(job, path.stem).exists()


def _marker(job: Job, name: str) -> Path:
    return job.keys / name[:2] / name


def _repeated(said: bytes, meaning: str) -> Taken:
    before, events = said.decode().split()
    if before != meaning:
        raise RefusedError(409, "this Idempotency-Key came with another body before; a key stands for one body")
    return Taken(int(events), True)


class Backlog:
    """How much waits to be taken; looked at now and then, for to look takes longer the more it is."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self._seen: dict[str, tuple[float, str | None]] = {}

    def check(self, job: Job, now: float | None = None) -> None:
        now = time.monotonic() if now is None else now
        looked, full = self._seen.get(job.name, (-1.0, None))
        if now - looked > 0.5:
            full = self._look(job)
            self._seen[job.name] = (now, full)
        if full is not None:
            raise RefusedError(429, full)

    def _look(self, job: Job) -> str | None:
        sizes = list(_sizes(job.incoming))
        if len(sizes) > self.settings.backlog_files or sum(sizes) > self.settings.backlog:
            return (
                f"{len(sizes):,} appends ({sum(sizes):,} bytes) of {job.name} wait to be taken, which is more than it "
                "may be; try again when some are"
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
