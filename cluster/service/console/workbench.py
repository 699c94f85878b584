"""Ask the process of the workbench, within the limits of the service."""

from __future__ import annotations

from typing import Any

from elsinore.cluster.service.helper_process import HelperProcess, OverrunError
from elsinore.connectors.errors import InputError

MAX_EVENTS_LENGTH = 1 << 20
"""The most characters of the events of a run."""

MAX_EVENTS = 10_000
"""The most lines of the events of a run."""

MAX_CELLS = 5_000_000
"""The most lines times columns of the events of a run: each line may have all columns of any other."""

RUN_SECONDS = 20.0
"""Seconds that a run may take; the first one starts the process."""

WHY_SECONDS = 10.0
"""Seconds that the explanation of an empty answer may take; the next draft waits for it."""

WORKBENCH = HelperProcess("elsinore.workbench")
"""The module is of the room above this one, whose functions it calls: it is started by its name."""


def ask(kind: str, seconds: float, *arguments: str) -> dict[str, Any]:
    """Return the answer of the process; raise the errors of its input, and InputError if it takes long."""
    try:
        found: dict[str, Any] | Exception = WORKBENCH.ask((kind, *arguments), seconds)
    except OverrunError:
        raise InputError(
            f"this takes more than {seconds:g} seconds or too much memory here; use fewer queries or events"
        ) from None
    if isinstance(found, Exception):
        raise found
    return found


def suffix_of(events: str) -> str:
    """Return the suffix of the file that events are written to: JSON lines begin with a brace, and CSV does not."""
    lines = events.count("\n") + 1
    columns = max(line.count(",") for line in events.splitlines() or [""]) + 1
    if len(events) > MAX_EVENTS_LENGTH or lines > MAX_EVENTS:
        raise InputError(
            f"the workbench takes at most {MAX_EVENTS:,} events and {MAX_EVENTS_LENGTH:,} characters, "
            f"not {lines:,} lines and {len(events):,} characters; submit the workload for more"
        )
    if lines * columns > MAX_CELLS:
        raise InputError(
            f"the events have {lines:,} lines and a line with {columns:,} columns, which is more than the workbench "
            f"takes: at most {MAX_CELLS:,} cells in all; use fewer columns, or submit the workload"
        )
    return ".jsonl" if events.lstrip().startswith("{") else ".csv"
