"""Elsinore: workloads of event trend aggregation queries, answered exactly without building a trend.

    import elsinore

    result = elsinore.run("rides.elsinore", "rides.parquet")
    result.rows()

Importing it starts nothing and loads nothing heavy: a name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elsinore._version import __version__

if TYPE_CHECKING:
    from elsinore.api import check, draw, explain, parse, run
    from elsinore.drawing.drawing import Drawing
    from elsinore.errors import EventError, FailedError, InputError, Problem, WorkloadError
    from elsinore.live import LiveStream, stream
    from elsinore.result import Result

__all__ = [
    "Drawing",
    "EventError",
    "FailedError",
    "InputError",
    "LiveStream",
    "Problem",
    "Result",
    "WorkloadError",
    "__version__",
    "check",
    "draw",
    "explain",
    "parse",
    "run",
    "stream",
]

_HOMES = {
    **dict.fromkeys(("check", "draw", "explain", "parse", "run"), "elsinore.api"),
    **dict.fromkeys(("EventError", "FailedError", "InputError", "Problem", "WorkloadError"), "elsinore.errors"),
    "Drawing": "elsinore.drawing.drawing",
    **dict.fromkeys(("LiveStream", "stream"), "elsinore.live"),
    "Result": "elsinore.result",
}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'elsinore' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")
    from elsinore.rooms import require_own_rooms

    require_own_rooms()
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
