"""What the service refuses, as problem documents (RFC 9457), with the texts that the command line has."""

from __future__ import annotations

import json
import re
from errno import EDQUOT, ENOSPC
from typing import Any

from elsinore.connectors.errors import FailedError, InputError
from elsinore.planner.language.errors import Problem, WorkloadError

TITLES = {
    400: "The body cannot be read",
    401: "A token is wanted",
    403: "Another site asks",
    404: "There is no such thing here",
    405: "That cannot be done with it",
    408: "The request did not come as a whole",
    409: "It is not as the request takes it to be",
    411: "The length of the body is not told",
    413: "The body is too large",
    415: "Bodies of this type are not read",
    421: "Another host is asked for",
    422: "It cannot be done as it was asked for",
    429: "Too much at a time",
    431: "The headers are too large",
    500: "The service made a mistake",
    503: "It cannot be done right now",
}

FULL = (ENOSPC, EDQUOT)

CAUSE_LENGTH = 240
"""Characters of a cause, at most."""

LOG_HINT = "the log of the service says more"

FOLDERS = re.compile(r"(?<![\w.~-])(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?/{1,3}(?:[^\s/'\"`:;,()\[\]<>]+/)+")
"""The folders in front of the name of a file, with the scheme of an address."""

CAUSED = re.compile(r"^Caused by: (?:[\w$]+\.)+[\w$]+: (.+)$", re.MULTILINE)
"""What Java says of a cause; the last one is where it began."""

CALLING = "An error occurred while calling"
"""How Py4J begins, which tells nobody anything."""

STACK = re.compile(r"\s(?:at [\w.$<>]+\(|File \"|Traceback \(|Caused by: |JVM stacktrace|Driver stacktrace)")
"""What a stack begins with, of Java's or of Python's."""

RETRY = 2
"""Seconds after which something that cannot be done right now is worth another try."""


class RefusedError(Exception):
    """A request that is not done, and why."""

    def __init__(
        self, status: int, detail: str, *, kind: str | None = None, problems: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind
        self.problems = problems

    def __reduce__(self) -> tuple[Any, ...]:
        """It comes from the manager's process too."""
        return _again, (self.status, self.detail, self.kind, self.problems)

    @property
    def headers(self) -> dict[str, str]:
        if self.status == 401:
            return {"WWW-Authenticate": "Bearer"}
        return {"Retry-After": str(RETRY)} if self.status in (429, 503) else {}

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


def _again(status: int, detail: str, kind: str | None, problems: list[dict[str, Any]] | None) -> RefusedError:
    return RefusedError(status, detail, kind=kind, problems=problems)


def refusal(error: BaseException) -> RefusedError:
    """Of what went wrong with a request or a job, as much as whoever asked can use."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, WorkloadError):
        return RefusedError(422, str(error), kind="workload", problems=[_problem(one, error) for one in error.problems])
    if isinstance(error, InputError):
        return RefusedError(422, str(error), kind="input")
    if isinstance(error, FileNotFoundError):
        return RefusedError(404, "it was removed meanwhile")
    if isinstance(error, OSError) and error.errno in FULL:
        return RefusedError(503, "the disk of the service is full; try again when there is room", kind="full")
    if isinstance(error, FailedError | OSError):
        return RefusedError(503, f"{cause(error)}; {LOG_HINT}", kind="failed")
    return RefusedError(500, f"{type(error).__name__}; its log says more", kind="mistake")


def cause(error: BaseException) -> str:
    """Return what went wrong in one short line: without stacks, and without the folders of this machine."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    if found := CAUSED.findall(text):
        line = f"{line.split(CALLING)[0].strip(' :')}: {found[-1].strip()}"
    line = STACK.split(FOLDERS.sub("", line), maxsplit=1)[0].strip(" ;:,")
    return line if len(line) <= CAUSE_LENGTH else f"{line[: CAUSE_LENGTH - 1].rstrip()}…"


def _problem(problem: Problem, error: WorkloadError) -> dict[str, Any]:
    found: dict[str, Any] = {"message": problem.message, "hint": problem.hint, "query": problem.query}
    place = problem.place
    if place is None:
        return {**found, "line": None, "column": None, "start": None, "end": None}
    before = error.text[: place.start]
    line, column = before.count("\n") + 1, place.start - (before.rfind("\n") + 1) + 1
    return {**found, "line": line, "column": column, "start": place.start, "end": place.end}
