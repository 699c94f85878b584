"""Jobs on disk. All that the service has acknowledged is there, whichever process dies.

jobs/NAME/job.json          its specification, with the idempotency key of its submit
jobs/NAME/columns.json      the columns of its events, once they are known
jobs/NAME/incoming/         events that were acknowledged, until Spark has taken them
jobs/NAME/keys/             the idempotency keys of appends
jobs/NAME/rows/             a file for each batch that has rows
jobs/NAME/checkpoint/       the checkpoint of its live stream
jobs/NAME/status.json       its status as the manager wrote it last; nothing relies on it
jobs/NAME/history.json      what happened to it; nothing relies on it
gone/                       folders of removed jobs, until their files are deleted
manager.json                when the manager was last alive
lock                        held by the manager
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from fcntl import LOCK_EX, flock
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any

from elsinore.calendar_years import LAST_SECOND
from elsinore.cluster.service.web.refusals import TITLES, RefusalError
from elsinore.connectors.errors import FailedError
from elsinore.connectors.storage.safe_files import make_folder, put_bytes, sync
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.planning import STRATEGIES
from elsinore.planner.time.clock import UNITS

NAME_FORM = re.compile(r"[a-z0-9-]{1,64}")

SECONDS_FORM = re.compile(r"\d{1,40}(/\d{1,40})?")
"""The form of an exact fraction of seconds."""

HEARTBEAT_MAX_AGE_SECONDS = 6.0
"""Seconds without a sign of life after which the manager counts as gone."""


COLUMN_TYPES = ("int64", "float64", "string", "bool", "timestamp", "timestamp_ntz")
"""The types of columns."""

STATES = ("waiting", "running", "paused", "failed", "recovering")


class DamagedJobError(FailedError):
    """A file of a job that the service cannot have written. Only this job fails, until the file is restored."""


@dataclass(frozen=True)
class Spec:
    """The specification of a job."""

    workload: str
    strategy: str
    numeric: str
    lateness: str
    """Seconds, as an exact fraction."""
    type_column: str
    time_column: str
    time_unit: str
    actors: int | None
    created: float
    paused: bool = False
    request: str = ""
    """The digests of the idempotency key and the body of its submit; empty without a key."""

    @property
    def late(self) -> Fraction:
        return Fraction(self.lateness)


@dataclass(frozen=True)
class StoredJob:
    """The folder of a job, which no longer exists once the job is removed."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def incoming(self) -> Path:
        return self.folder / "incoming"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def rows(self) -> Path:
        return self.folder / "rows"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def spec(self) -> Spec:
        """Return the specification; raise DamagedJobError where the file is unreadable or invalid."""
        found = self._read("job.json")
        try:
            return _spec(found)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self.damaged("job.json", error) from None

    def put_spec(self, spec: Spec) -> None:
        put(self.folder / "job.json", asdict(spec))

    def columns(self) -> dict[str, str]:
        """Return the types of the columns by their names; empty if they are not known yet."""
        found = self._read("columns.json", {})
        if not isinstance(found, dict) or not all(kind in COLUMN_TYPES for kind in found.values()):
            raise self.damaged("columns.json", "it does not hold the types of columns")
        return found

    def put_columns(self, columns: dict[str, str]) -> None:
        put(self.folder / "columns.json", columns)

    def status(self) -> dict[str, Any]:
        """Return the status that the manager wrote last; empty where it cannot be read, as it is soon rewritten."""
        found = _read_optional(self.folder / "status.json")
        return found if _is_status(found) else {}

    def put_status(self, status: dict[str, Any]) -> None:
        _put_optional(self.folder / "status.json", status)

    def history(self) -> list[dict[str, Any]]:
        """Return what happened to the job, oldest first; empty where that cannot be read."""
        found = _read_optional(self.folder / "history.json")
        return found if _is_history(found) else []

    def put_history(self, entries: list[dict[str, Any]]) -> None:
        _put_optional(self.folder / "history.json", entries)

    def history_time(self) -> int:
        """Return when the history changed last, in nanoseconds; 0 if there is none."""
        try:
            return (self.folder / "history.json").stat().st_mtime_ns
        except OSError:
            return 0

    def _read(self, name: str, default: Any = None) -> Any:
        """Return the content of a file that must not be lost, or the default where it may be missing.

        Raise DamagedJobError where it cannot be read, and FileNotFoundError where the job was removed.
        """
        try:
            return json.loads((self.folder / name).read_bytes())
        except FileNotFoundError:
            if default is not None or not self.folder.is_dir():
                return _there(default)
            raise self.damaged(name, "it is missing") from None
        except (OSError, ValueError, RecursionError) as error:
            raise self.damaged(name, error) from None

    def damaged(self, name: str, error: object) -> DamagedJobError:
        lines = (getattr(error, "strerror", None) or str(error)).splitlines()
        return DamagedJobError(
            f"the file {self.name}/{name} of this job cannot be read: {lines[0] if lines else type(error).__name__}. "
            "Restore the file, and the job continues; or DELETE the job"
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock for changes of the columns."""
        with (self.folder / ".lock").open("a") as file:
            flock(file, LOCK_EX)
            yield


@dataclass(frozen=True)
class Jobs:
    """All jobs of a service."""

    data: Path

    def begin(self) -> None:
        make_folder(self.data)
        for folder in ("jobs", "gone"):
            make_folder(self.data / folder)

    def all(self) -> list[StoredJob]:
        found = (
            StoredJob(path)
            for path in (self.data / "jobs").iterdir()
            if NAME_FORM.fullmatch(path.name) and path.is_dir()
        )
        return sorted(found, key=lambda job: job.name)

    def get(self, name: str) -> StoredJob:
        """Return the job of this name, or raise RefusedError. An invalid name is never made into a path."""
        job = StoredJob(self.data / "jobs" / name) if NAME_FORM.fullmatch(name) else None
        if job is None or not job.folder.is_dir():
            shown = f" {name}" if NAME_FORM.fullmatch(name) else " of that name"
            raise RefusalError(404, f"there is no job{shown}; GET /v1/workloads lists all jobs")
        return job

    def add(self, name: str, spec: Spec, columns: dict[str, str]) -> StoredJob:
        """Add a job, whose folder appears as a whole; raise RefusedError where the name is taken."""
        draft = StoredJob(self.data / "jobs" / f".{uuid.uuid4().hex}")
        draft.incoming.mkdir(parents=True)
        draft.rows.mkdir()
        draft.keys.mkdir()
        draft.put_spec(spec)
        if columns:
            draft.put_columns(columns)
        job = StoredJob(self.data / "jobs" / name)
        try:
            draft.folder.rename(job.folder)
        except OSError:
            shutil.rmtree(draft.folder)
            raise RefusalError(409, f"there is a job {name} already; give this one another name") from None
        sync(job.folder.parent)
        return job

    def remove(self, job: StoredJob) -> None:
        """Remove a job: move its folder away, then delete the files."""
        gone = self.data / "gone" / uuid.uuid4().hex
        gone.parent.mkdir(exist_ok=True)
        job.folder.rename(gone)
        sync(job.folder.parent)
        shutil.rmtree(gone, ignore_errors=True)

    def sweep(self) -> None:
        """Delete the files of removed jobs that a crashed process left behind."""
        for path in (self.data / "gone").iterdir():
            shutil.rmtree(path, ignore_errors=True)

    @property
    def lock(self) -> Path:
        return self.data / "lock"

    def put_manager(self, manager: dict[str, Any]) -> None:
        _put_optional(self.data / "manager.json", {**manager, "time": time()})

    def manager(self) -> dict[str, Any] | None:
        """Return the last sign of life of the manager, or None if that is too long ago."""
        found = _read_optional(self.data / "manager.json")
        if not isinstance(found, dict) or not _is_number(found.get("time")):
            return None
        return {"spark": False, **found} if time() - found["time"] < HEARTBEAT_MAX_AGE_SECONDS else None


@lru_cache(64)
def workload_of(text: str) -> Workload:
    """Return a checked workload, cached because the check is the slowest part of a request."""
    return check_text(text)


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=20).hexdigest()


def paused(spec: Spec, now: bool) -> Spec:
    return replace(spec, paused=now)


def put(path: Path, content: Any, safe: bool = True) -> None:
    """Write a file of JSON as a whole or not at all; `safe` also syncs it against a loss of power."""
    put_bytes(path, json.dumps(content).encode(), safe=safe)


def _there(content: Any) -> Any:
    if content is None:
        raise FileNotFoundError("the job was removed")
    return content


def _read_optional(path: Path) -> Any:
    """Return the content of a file that nothing relies on; None where it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _put_optional(path: Path, content: Any) -> None:
    """Write a file that nothing relies on; a folder of the same name is moved aside."""
    try:
        put(path, content, safe=False)
    except IsADirectoryError:
        path.rename(path.with_name(f".{path.name}.{uuid.uuid4().hex}"))
        put(path, content, safe=False)


def _spec(found: Any) -> Spec:
    """Return the specification in a file; raise an error where a field is missing, unknown or invalid."""
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    known = {one.name: one for one in fields(Spec)}
    if unknown := sorted(found.keys() - known.keys()):
        raise ValueError(f"this version does not know its field {unknown[0]!r}")
    spec = Spec(**found)
    texts = ("workload", "strategy", "numeric", "lateness", "type_column", "time_column", "time_unit", "request")
    right = {
        **{name: isinstance(getattr(spec, name), str) for name in texts},
        "lateness": isinstance(spec.lateness, str)
        and SECONDS_FORM.fullmatch(spec.lateness) is not None
        and spec.late >= 0,
        "strategy": spec.strategy in STRATEGIES,
        "numeric": spec.numeric in ("exact", "approximate"),
        "time_unit": spec.time_unit in UNITS,
        "actors": spec.actors is None or (type(spec.actors) is int and spec.actors > 0),
        "created": _is_number(spec.created) and 0 <= spec.created < LAST_SECOND,
        "paused": isinstance(spec.paused, bool),
    }
    if wrong := [name for name, fits in right.items() if not fits]:
        raise ValueError(f"its field {wrong[0]!r} has the invalid value {str(getattr(spec, wrong[0]))[:60]!r}")
    workload_of(spec.workload)
    return spec


def _is_status(found: Any) -> bool:
    """Return whether this is a valid status of a job."""
    if not isinstance(found, dict) or found.get("state") not in STATES:
        return False
    metrics, types, error = found.get("metrics"), found.get("types"), found.get("error", {"detail": ""})
    return (
        isinstance(metrics, dict)
        and all(name in (*TIME_METRICS, HAND_OVER) or _is_number(value) for name, value in metrics.items())
        and isinstance(metrics.get(HAND_OVER, ""), str)
        and all(isinstance(metrics.get(name), int | float | str | None) for name in TIME_METRICS)
        and isinstance(types, dict)
        and all(map(_is_number, types.values()))
        and isinstance(error, dict)
        and isinstance(error.get("detail"), str)
        and (type(error.get("status", 500)) is int and error.get("status", 500) in TITLES)
        and isinstance(error.get("problems", []), list)
    )


def _is_history(found: Any) -> bool:
    """Return whether these are entries of a history."""
    return isinstance(found, list) and all(
        isinstance(entry, dict)
        and _is_number(entry.get("time"))
        and isinstance(entry.get("what"), str)
        and isinstance(entry.get("why"), str)
        for entry in found
    )


TIME_METRICS = ("watermark", "latest")
"""Metrics that are times, or None."""

HAND_OVER = "hand_over"
"""The metric that is a word."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
