"""The documents that requests and replies have as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from elsinore.cluster.service.jobs import DamagedJobError, Spec, StoredJob, workload_of
from elsinore.cluster.service.metrics import COUNTERS, GAUGES
from elsinore.cluster.service.web.refusals import refusal

ColumnType = Literal["int64", "float64", "string", "bool", "timestamp", "timestamp_ntz"]
State = Literal["waiting", "running", "paused", "failed", "recovering"]

RECOVERING = "recovering"


class Submission(BaseModel):
    """A workload, and the columns of its events."""

    model_config = ConfigDict(extra="forbid", strict=True)

    workload: str = Field(
        description="the text of one or more queries", examples=["RETURN COUNT(*) PATTERN A+ WITHIN 1 minute"]
    )
    name: str | None = Field(
        default=None, pattern="^[a-z0-9-]{1,64}$", description="id of the job; by default the service generates one"
    )
    strategy: str = "auto"
    numeric: Literal["exact", "approximate"] = "exact"
    lateness: int | float | str = Field(default=0, description="seconds by which events may be late, 0 or more")
    type_column: str = Field(default="type", min_length=1, max_length=256)
    time_column: str = Field(default="time", min_length=1, max_length=256)
    time_unit: str = Field(default="s", description="unit of times that are numbers")
    columns: dict[str, ColumnType] | None = Field(
        default=None, description="types of columns; by default those of the first events"
    )
    actors: int | None = Field(
        default=None, ge=1, le=64, description="graph actors, over which partitions are distributed"
    )


class Queries(BaseModel):
    """Queries to add, and types of attributes that no event had so far."""

    model_config = ConfigDict(extra="forbid", strict=True)

    workload: str = Field(description="the text of one or more queries, each with a name: QUERY name RETURN ...")
    columns: dict[str, ColumnType] | None = None


class Draft(BaseModel):
    """A workload that is being written in the workbench."""

    model_config = ConfigDict(extra="forbid", strict=True)

    workload: str
    strategy: str = "auto"
    events: str = ""


class Question(Draft):
    """The question why a query of a draft has no row over its events."""

    query: str


class WorkloadProblem(BaseModel):
    message: str
    hint: str = ""
    query: str | None = None
    line: int | None = None
    column: int | None = None
    start: int | None = None
    end: int | None = None


class ProblemDocument(BaseModel):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[WorkloadProblem] | None = None


class JobDocument(BaseModel):
    id: str
    state: State
    error: ProblemDocument | None = None
    workload: str
    queries: list[str]
    strategy: str
    numeric: str
    lateness: float
    type_column: str
    time_column: str
    time_unit: str
    columns: dict[str, str]
    metrics: dict[str, float | str | None]
    created: str


class JobList(BaseModel):
    workloads: list[JobDocument]


class AppendDocument(BaseModel):
    events: int
    repeated: bool


class RowsDocument(BaseModel):
    rows: list[dict[str, Any]]
    next: str


class Decisions(BaseModel):
    decisions: list[dict[str, Any]]


class BurstsOfType(BaseModel):
    bursts: int
    events: int
    shared: int


class Statistics(BaseModel):
    counters: dict[str, float | str | None]
    types: dict[str, int] = Field(description="events by type, for types that queries name; without late events")
    bursts: dict[str, BurstsOfType] = Field(description="by Kleene sub-pattern, for the decisions that are kept")


class Health(BaseModel):
    status: str


ZERO_METRICS: dict[str, Any] = {
    **dict.fromkeys((*COUNTERS, "waited", "seconds", "replanned"), 0),
    **dict.fromkeys(GAUGES, 0.0),
    "watermark": None,
    "latest": None,
    "hand_over": "",
}
"""The metrics of a job that has taken no event."""


def job_document(job: StoredJob, manager: dict[str, Any] | None) -> dict[str, Any]:
    """Return the document of a job, with the status that the manager wrote last.

    While the manager is gone, the state is "recovering" unless paused or failed. A job with a damaged file has failed,
    whatever its status says.
    """
    try:
        spec = job.spec()
        found = _document(job, spec, job.status(), manager)
    except DamagedJobError as error:
        return failed_document(job, error)
    try:
        return {**found, "columns": job.columns()}
    except DamagedJobError as error:
        return {**found, "state": "failed", "error": refusal(error).document}


def _document(job: StoredJob, spec: Spec, status: dict[str, Any], manager: dict[str, Any] | None) -> dict[str, Any]:
    state = "paused" if spec.paused else status.get("state", "waiting")
    if manager is None and state not in ("paused", "failed"):
        state = RECOVERING
    found = {
        "id": job.name,
        "state": "failed" if "error" in status else state,
        "workload": spec.workload,
        "queries": [query.name for query in workload_of(spec.workload).queries],
        "strategy": spec.strategy,
        "numeric": spec.numeric,
        "lateness": float(spec.late),
        "type_column": spec.type_column,
        "time_column": spec.time_column,
        "time_unit": spec.time_unit,
        "columns": {},
        "metrics": {**ZERO_METRICS, **status.get("metrics", {})},
        "created": _moment(spec.created),
    }
    return {**found, "error": {**NO_REASON, **status["error"]}} if "error" in status else found


NO_REASON = {"type": "about:blank", "title": "The job has failed", "status": 500}


def failed_document(job: StoredJob, error: Exception) -> dict[str, Any]:
    """Return the document of a job whose specification cannot be read."""
    return {
        "id": job.name,
        "state": "failed",
        "error": refusal(error).document,
        "workload": "",
        "queries": [],
        "strategy": "",
        "numeric": "",
        "lateness": 0.0,
        "type_column": "",
        "time_column": "",
        "time_unit": "",
        "columns": {},
        "metrics": {**ZERO_METRICS, **job.status().get("metrics", {})},
        "created": _moment(_age(job)),
    }


def _age(job: StoredJob) -> float:
    try:
        return job.folder.stat().st_ctime
    except OSError:
        return 0.0


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
