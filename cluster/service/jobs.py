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
from dataclasses import asdict, dataclass, fields, replace
from fcntl import LOCK_EX, flock
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any

from elsinore.calendar_years import LAST_SECOND
from elsinore.cluster.service.web.refusals import TITLES, RefusedError
from elsinore.connectors.errors import FailedError
from elsinore.connectors.storage.safe_files import make_folder, put_bytes, sync
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.planning import STRATEGIES
from elsinore.planner.time.clock import UNITS

NAME = re.compile(r"[a-z0-9-]{1,64}")

SECONDS = re.compile(r"\d{1,40}(/\d{1,40})?")
"""An exact fraction."""

RECENT = 6.0
"""Seconds after which somebody who was to be heard of every second is taken for gone."""


KINDS = ("int64", "float64", "string", "bool", "timestamp", "timestamp_ntz")
"""Of columns."""

STATES = ("waiting", "running", "paused", "failed", "recovering")


class DamagedJobError(FailedError):
    """A file of a job that is not as the service writes it. The job has failed, alone, until the file is restored."""


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
        """Return what was asked for; DamagedJobError where the file cannot be read, or says nothing that was."""
        found = self._known("job.json")
        try:
            return _spec(found)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self.damaged("job.json", error) from None

    def put_spec(self, spec: Spec) -> None:
        put(self.folder / "job.json", asdict(spec))

    def columns(self) -> dict[str, str]:
        """Their types by their names; nothing where they are not known yet."""
        found = self._known("columns.json", {})
        if not isinstance(found, dict) or not all(kind in KINDS for kind in found.values()):
            raise self.damaged("columns.json", "it does not hold the types of columns")
        return found

    def put_columns(self, columns: dict[str, str]) -> None:
        put(self.folder / "columns.json", columns)

    def status(self) -> dict[str, Any]:
        """Return what the manager told last; nothing where that cannot be read, for it is told anew all the time."""
        found = _look(self.folder / "status.json")
        return found if _is_status(found) else {}

    def put_status(self, status: dict[str, Any]) -> None:
        _put_look(self.folder / "status.json", status)

    def _known(self, name: str, default: Any = None) -> Any:
        """Return what a file holds that must not be lost; the default where there is none such."""
        try:
            return json.loads((self.folder / name).read_bytes())
        except FileNotFoundError:
            if default is not None or not self.folder.is_dir():
                return _there(default)
            raise self.damaged(name, "it is missing") from None
        except (OSError, ValueError, RecursionError) as error:
            raise self.damaged(name, error) from None

    def damaged(self, name: str, error: object) -> DamagedJobError:
        said = (getattr(error, "strerror", None) or str(error)).splitlines()
        return DamagedJobError(
            f"the file {self.name}/{name} of this job cannot be read: {said[0] if said else type(error).__name__}. "
            "Restore it, and the job goes on; or DELETE the job"
        )

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
        make_folder(self.data)
        for folder in ("jobs", "gone"):
            make_folder(self.data / folder)

    def all(self) -> list[Job]:
        found = (Job(path) for path in (self.data / "jobs").iterdir() if NAME.fullmatch(path.name) and path.is_dir())
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
        gone.parent.mkdir(exist_ok=True)
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
        _put_look(self.data / "manager.json", {**manager, "time": time()})

    def manager(self) -> dict[str, Any] | None:
        """What was last heard of the manager, if that is not long ago."""
        found = _look(self.data / "manager.json")
        if not isinstance(found, dict) or not _is_number(found.get("time")):
            return None
        return {"spark": False, **found} if time() - found["time"] < RECENT else None


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


def _there(content: Any) -> Any:
    if content is None:
        raise FileNotFoundError("the job was removed")
    return content


def _look(path: Path) -> Any:
    """Return what a file holds that is only a look; None where that cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _put_look(path: Path, content: Any) -> None:
    """Write what is only a look; whatever else has its name is moved aside."""
    try:
        put(path, content, safe=False)
    except IsADirectoryError:
        path.rename(path.with_name(f".{path.name}.{uuid.uuid4().hex}"))
        put(path, content, safe=False)


def _spec(found: Any) -> Spec:
    """Return what a file says; ValueError where a field is missing, unknown, or holds what it cannot."""
    if not isinstance(found, dict):
        raise ValueError("it is no object of JSON")
    known = {one.name: one for one in fields(Spec)}
    if unknown := sorted(found.keys() - known.keys()):
        raise ValueError(f"this version does not know its field {unknown[0]!r}")
    spec = Spec(**found)
    texts = ("workload", "strategy", "numeric", "lateness", "type_column", "time_column", "time_unit", "request")
    right = {
        **{name: isinstance(getattr(spec, name), str) for name in texts},
        "lateness": isinstance(spec.lateness, str) and SECONDS.fullmatch(spec.lateness) is not None and spec.late >= 0,
        "strategy": spec.strategy in STRATEGIES,
        "numeric": spec.numeric in ("exact", "approximate"),
        "time_unit": spec.time_unit in UNITS,
        "actors": spec.actors is None or (type(spec.actors) is int and spec.actors > 0),
        "created": _is_number(spec.created) and 0 <= spec.created < LAST_SECOND,
        "paused": isinstance(spec.paused, bool),
    }
    if wrong := [name for name, fits in right.items() if not fits]:
        raise ValueError(f"its field {wrong[0]!r} is {str(getattr(spec, wrong[0]))[:60]!r}")
    workload_of(spec.workload)
    return spec


def _is_status(found: Any) -> bool:
    """Whether this is what a manager tells of a job."""
    if not isinstance(found, dict) or found.get("state") not in STATES:
        return False
    metrics, types, error = found.get("metrics"), found.get("types"), found.get("error", {"detail": ""})
    return (
        isinstance(metrics, dict)
        and all(name in TEXTS or _is_number(value) for name, value in metrics.items())
        and all(isinstance(metrics.get(name), int | float | str | None) for name in TEXTS)
        and isinstance(types, dict)
        and all(map(_is_number, types.values()))
        and isinstance(error, dict)
        and isinstance(error.get("detail"), str)
        and (type(error.get("status", 500)) is int and error.get("status", 500) in TITLES)
        and isinstance(error.get("problems", []), list)
    )


TEXTS = ("watermark", "latest")
"""Metrics that are times, or nothing."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
