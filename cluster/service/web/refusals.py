"""Refusals of the service as problem documents (RFC 9457), with the same texts as on the command line."""

from __future__ import annotations

import json
import re
from errno import EDQUOT, ENOSPC
from os import PathLike
from pathlib import Path
from typing import Any

from elsinore.connectors.errors import FailedError, InputError
from elsinore.planner.language.errors import Problem, WorkloadError

TITLES = {
    400: "The body cannot be read",
    401: "A token is required",
    403: "Requests from other sites are refused",
    404: "Not found",
    405: "The method is not supported",
    408: "The request did not arrive completely",
    409: "The request conflicts with the current state",
    411: "The length of the body is missing",
    413: "The body is too large",
    415: "The media type is not supported",
    421: "The service does not answer for this host",
    422: "The request is invalid",
    429: "Too many requests or events",
    431: "The headers are too large",
    500: "Internal error",
    503: "Not possible right now",
}

DISK_FULL = (ENOSPC, EDQUOT)

MAX_CAUSE_LENGTH = 240
"""The most characters of a cause."""

LOG_HINT = "see the log of the service"

FOLDERS = re.compile(r"(?<![\w.~-])(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?/{1,3}(?:[^\s/'\"`:;,()\[\]<>]+/)+")
"""The folders before the name of a file, with the scheme of an address."""

CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)+[\w$]+: (.+)$", re.MULTILINE)
"""A cause in a stack of Java; the last one is the root cause."""

PY4J_PREFIX = "An error occurred while calling"
"""The beginning of Py4J's messages, which is left out because it says nothing."""

STACK = re.compile(r"\s(?:at [\w.$<>]+\(|File \"|Traceback \(|Caused by: |JVM stacktrace|Driver stacktrace)")
"""The beginning of a stack of Java or Python."""

RETRY_SECONDS = 2
"""Seconds after which a client may retry (Retry-After)."""


STALE = "stale"
"""Kind of a refusal: the job was changed after the request was computed from it."""


class RefusalError(Exception):
    """The refusal of a request, with its reason."""

    def __init__(
        self, status: int, detail: str, *, kind: str | None = None, problems: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind
        self.problems = problems

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, because the manager raises it in another process."""
        return _unpickled, (self.status, self.detail, self.kind, self.problems)

    @property
    def headers(self) -> dict[str, str]:
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        return {"Retry-After": str(RETRY_SECONDS)} if self.status in (429, 503) else {}

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": f"urn:elsinore:{self.kind}" if self.kind else "about:blank",
            "title": TITLES[self.status],
            "status": self.status,
            "detail": self.detail,
        }
        return found if self.problems is None else {**found, "problems": self.problems}

    @property
    def body(self) -> bytes:
        return json.dumps(self.document).encode()


def _unpickled(status: int, detail: str, kind: str | None, problems: list[dict[str, Any]] | None) -> RefusalError:
    return RefusalError(status, detail, kind=kind, problems=problems)


def refusal(error: BaseException) -> RefusalError:
    """Return the refusal for an error of a request or a job, with as much detail as is of use to the client."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, WorkloadError):
        return RefusalError(422, str(error), kind="workload", problems=[_problem(one, error) for one in error.problems])
    if isinstance(error, InputError):
        return RefusalError(422, str(error), kind="input")
    if isinstance(error, FileNotFoundError):
        return RefusalError(404, "it was removed by another request")
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return RefusalError(503, "the disk of the service is full; try again when there is space", kind="full")
    if isinstance(error, FailedError | OSError):
        return RefusalError(503, f"{cause(error)}; {LOG_HINT}", kind="failed")
    return RefusalError(500, f"{type(error).__name__}; {LOG_HINT}", kind="mistake")


def cause(error: BaseException) -> str:
    """Return the message of an error as one short line, without stacks and without the folders of this machine."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if found := CAUSE.findall(text):
        line = f"{line.split(PY4J_PREFIX)[0].strip(' :')}: {found[-1].strip()}"
    line = STACK.split(FOLDERS.sub("", line), maxsplit=1)[0].strip(" ;:,")
    line = f"{name}: {line}" if (name := _file_of(error)) else line
    return line if len(line) <= MAX_CAUSE_LENGTH else f"{line[: MAX_CAUSE_LENGTH - 1].rstrip()}…"


def _file_of(error: BaseException) -> str:
    """Return the file of a job that an error is about, as a path below the folder of all jobs; or an empty text."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str | PathLike):
        return ""
    parts = Path(error.filename).parts
    return "/".join(parts[parts.index("jobs") + 1 :]) if "jobs" in parts else ""


def _problem(problem: Problem, error: WorkloadError) -> dict[str, Any]:
    found: dict[str, Any] = {"message": problem.message, "hint": problem.hint, "query": problem.query}
    place = problem.place
    if place is None:
        return {**found, "line": None, "column": None, "start": None, "end": None}
    before = error.text[: place.start]
    line, column = before.count("\n") + 1, place.start - (before.rfind("\n") + 1) + 1
    return {**found, "line": line, "column": column, "start": place.start, "end": place.end}
