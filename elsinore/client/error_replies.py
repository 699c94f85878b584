"""Errors of a service (RFC 9457) as the exceptions that the same mistakes raise without a service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from elsinore.client.exchange import PROBLEM, Response
from elsinore.errors import EventError, FailedError, InputError, Problem, RefusedError, UnreachableError, WorkloadError
from elsinore.problems import Place

BUSY_STATUSES = frozenset({408, 429, 503})
ERROR_CLASSES: Mapping[str, type[Exception]] = {"urn:elsinore:event": EventError, "urn:elsinore:failed": FailedError}


def refusal(response: Response, text: str = "") -> Exception:
    """Return the exception for an error response; `text` is the workload of the request, if it had one."""
    document: Any = None
    if response.kind == PROBLEM:
        try:
            document = json.loads(response.body)
        except ValueError:
            document = None
    if not isinstance(document, dict):
        document = {"detail": f"the service answered {response.status}: {_excerpt(response.body)}"}
    return exception({"status": response.status, **document}, text)


def exception(document: Mapping[str, Any], text: str = "") -> Exception:
    """Return the exception for a problem document."""
    status = int(document.get("status", 500))
    detail = str(document.get("detail") or document.get("title") or f"the service answered {status}")
    if "problems" in document:
        return WorkloadError(map(_problem, document["problems"]), text, detail)
    if status in (401, 403):
        return RefusedError(f"{detail}. Give the service's token, with token=… or ELSINORE_TOKEN")
    kind = ERROR_CLASSES.get(document.get("type", ""))
    if kind is not None:
        return kind(detail)
    if status in BUSY_STATUSES:
        return UnreachableError(detail)
    if status >= 500:
        return FailedError(detail)
    return InputError(detail)


def _problem(item: Mapping[str, Any]) -> Problem:
    start, end = item.get("start"), item.get("end")
    place = None if start is None or end is None else Place(start, end)
    return Problem(item["message"], item.get("hint") or "", place, item.get("query"))


def _excerpt(body: bytes) -> str:
    """Return the beginning of a body that is not a problem document, in one line."""
    text = " ".join(body[:500].decode("utf-8", "replace").split())
    return text[:200] or "(nothing)"
