"""Jobs as they lie on disk. Whoever dies, all that was promised is there.

jobs/NAME/job.json          what was asked for
jobs/NAME/columns.json      the columns of its events, once they are known
jobs/NAME/incoming/         events that were acknowledged, until Spark has taken them
jobs/NAME/keys/             the idempotency keys of appends
jobs/NAME/rows/             a file for each batch that has rows
jobs/NAME/checkpoint/       of its live stream
jobs/NAME/status.json       how far it is; a look of the manager's, not a promise
requests/                   the idempotency keys of submits and changes
manager.json                when the manager was last seen
lock                        held by the manager that is at work
"""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fcntl import LOCK_EX, flock
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any

from cluster.service.refusals import RefusedError
from connectors.safe_files import make, put_bytes, sync
from planner.check import check_text
from planner.syntax import Workload

NAME = re.compile(r"[a-z0-9-]{1,64}")

RECENT = 6.0
"""Seconds after which somebody who was to be heard of every second is taken for gone."""


@dataclass(frozen=True)
class Spec:
    """What somebody asked for."""

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
    """What the idempotency key of its submit stood for."""

    @property
    def late(self) -> Fraction:
        return Fraction(self.lateness)


@dataclass(frozen=True)
class Job:
    """The folder of a job; there may be none, when it is gone."""

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
        return Spec(**_read(self.folder / "job.json"))

    def put_spec(self, spec: Spec) -> None:
        put(self.folder / "job.json", asdict(spec))

    def columns(self) -> dict[str, str]:
        """Their types by their names; nothing where they are not known yet."""
        try:
            return _read(self.folder / "columns.json")
        except FileNotFoundError:
            return {}

    def put_columns(self, columns: dict[str, str]) -> None:
        put(self.folder / "columns.json", columns)

    def status(self) -> dict[str, Any]:
        try:
            return _read(self.folder / "status.json")
        except FileNotFoundError:
            return {}

    def put_status(self, status: dict[str, Any]) -> None:
        put(self.folder / "status.json", status, safe=False)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes columns or specification meanwhile."""
        with (self.folder / ".lock").open("a") as file:
            flock(file, LOCK_EX)
            yield


@dataclass(frozen=True)
class Jobs:
    """All jobs of a service."""

    data: Path

    def begin(self) -> None:
        for folder in ("jobs", "gone"):
            make(self.data / folder)

    def all(self) -> list[Job]:
        found = (Job(path) for path in (self.data / "jobs").iterdir() if NAME.fullmatch(path.name))
        return sorted(found, key=lambda job: job.name)

    def get(self, name: str) -> Job:
        """A name that is none is not there; no path is ever made of it."""
        job = Job(self.data / "jobs" / name) if NAME.fullmatch(name) else None
        if job is None or not job.folder.is_dir():
            shown = f" {name}" if NAME.fullmatch(name) else " of that name"
            raise RefusedError(404, f"there is no job{shown}; GET /v1/workloads lists those that there are")
        return job

    def add(self, name: str, spec: Spec, columns: dict[str, str]) -> Job:
        """All of it appears at once."""
        draft = Job(self.data / "jobs" / f".{uuid.uuid4().hex}")
        draft.incoming.mkdir(parents=True)
        draft.rows.mkdir()
        draft.keys.mkdir()
        draft.put_spec(spec)
        if columns:
            draft.put_columns(columns)
        job = Job(self.data / "jobs" / name)
        try:
            draft.folder.rename(job.folder)
        except OSError:
            shutil.rmtree(draft.folder)
            raise RefusedError(409, f"there is a job {name} already; give this one another name") from None
        sync(job.folder.parent)
        return job

    def remove(self, job: Job) -> None:
        """It is gone at once, and then its files."""
        gone = self.data / "gone" / uuid.uuid4().hex
        job.folder.rename(gone)
        sync(job.folder.parent)
        shutil.rmtree(gone, ignore_errors=True)

    def sweep(self) -> None:
        """What somebody left who died while he removed a job."""
        for path in (self.data / "gone").iterdir():
            shutil.rmtree(path, ignore_errors=True)

    @property
    def lock(self) -> Path:
        return self.data / "lock"

    def seen(self, manager: dict[str, Any]) -> None:
        put(self.data / "manager.json", {**manager, "time": time()}, safe=False)

    def manager(self) -> dict[str, Any] | None:
        """What was last heard of the manager, if that is not long ago."""
        try:
            found = _read(self.data / "manager.json")
        except FileNotFoundError:
            return None
        return found if time() - found["time"] < RECENT else None


@lru_cache(64)
def workload_of(text: str) -> Workload:
    """A checked workload; to check one takes longer than all else that is done for a request."""
    return check_text(text)


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=20).hexdigest()


def paused(spec: Spec, now: bool) -> Spec:
    return replace(spec, paused=now)


def put(path: Path, content: Any, safe: bool = True) -> None:
    """A file of JSON, there as a whole or not at all; `safe` against the loss of power too."""
    put_bytes(path, json.dumps(content).encode(), safe)


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())
