"""Elsinore: workloads of event trend aggregation queries, answered exactly without building a trend.

    import elsinore

    result = elsinore.run("rides.elsinore", "rides.parquet")
    result.rows()

Importing the package starts no process and loads no large library: each public name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elsinore._version import __version__

if TYPE_CHECKING:
    from elsinore.api import check, draw, explain, parse, run
    from elsinore.client.awaiting import AsyncClient, AsyncJob, connect_async
    from elsinore.client.facts import JobStatus, Sent
    from elsinore.client.pages import Page
    from elsinore.client.waiting import Client, Job, connect
    from elsinore.drawing.drawing import Drawing
    from elsinore.errors import (
        EventError,
        FailedError,
        InputError,
        Problem,
        RefusedError,
        UnreachableError,
        WorkloadError,
    )
    from elsinore.live import LiveStream, stream
    from elsinore.matching import Matches, matches
    from elsinore.notebooks.plots import Plot
    from elsinore.reasons.asking import Why, why
    from elsinore.result import Result

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "Client",
    "Drawing",
    "EventError",
    "FailedError",
    "InputError",
    "Job",
    "JobStatus",
    "LiveStream",
    "Matches",
    "Page",
    "Plot",
    "Problem",
    "RefusedError",
    "Result",
    "Sent",
    "UnreachableError",
    "Why",
    "WorkloadError",
    "__version__",
    "check",
    "connect",
    "connect_async",
    "draw",
    "explain",
    "matches",
    "parse",
    "run",
    "stream",
    "why",
]

_HOMES = {
    **dict.fromkeys(("AsyncClient", "AsyncJob", "connect_async"), "elsinore.client.awaiting"),
    **dict.fromkeys(("Client", "Job", "connect"), "elsinore.client.waiting"),
    **dict.fromkeys(("JobStatus", "Sent"), "elsinore.client.facts"),
    "Page": "elsinore.client.pages",
    **dict.fromkeys(("EventError", "FailedError", "InputError", "Problem"), "elsinore.errors"),
    **dict.fromkeys(("RefusedError", "UnreachableError", "WorkloadError"), "elsinore.errors"),
    "Plot": "elsinore.notebooks.plots",
    "Result": "elsinore.result",
    **dict.fromkeys(("check", "draw", "explain", "parse", "run"), "elsinore.api"),
    "Drawing": "elsinore.drawing.drawing",
    **dict.fromkeys(("LiveStream", "stream"), "elsinore.live"),
    **dict.fromkeys(("Matches", "matches"), "elsinore.matching"),
    **dict.fromkeys(("Why", "why"), "elsinore.reasons.asking"),
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'elsinore' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%elsinore` to a notebook: `%load_ext elsinore` calls this."""
    from elsinore.notebooks.magic import register

    register(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
