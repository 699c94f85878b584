"""The progress of a live stream, read from its checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from rich.table import Table

from elsinore.calendar_years import as_python
from elsinore.cluster.stream.checkpoint import status
from elsinore.planner.checks.check import check_text
from elsinore.planner.time.clock import Clock

COUNTS = ("events", "late", "dead", "unmatched", "dropped", "set_aside", "rows", "replanned")


MAX_TYPES = 10
"""Event types that the line of counts by type shows."""


def _most(types: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent types, with their counts."""
    return Counter(types).most_common(MAX_TYPES)


def status_table(checkpoint: str) -> Table:
    """Return a table with a line for each fact that the checkpoint holds."""
    found = status(checkpoint)
    table = Table(show_header=False, box=None)
    table.add_row("owner", found.holder or "no process on this machine")
    if not found.era:
        table.add_row("state", "no event was read yet: it is starting, or waiting for the first file in its folder")
        return table
    table.add_row("queries", ", ".join(query.name for query in check_text(found.terms["workload"]).queries))
    table.add_row("strategy, numbers", f"{found.terms['strategy']}, {found.terms['numeric']}")
    table.add_row("started, resumed or changed", f"{found.era:,} times")
    if found.done is not None:
        table.add_row("batches", f"{found.done.number:,}")
        for name in COUNTS:
            table.add_row(name.replace("_", " "), f"{found.done.counts.get(name, 0):,}")
        table.add_row("by type", ", ".join(f"{name} {count:,}" for name, count in _most(found.done.types)))
        if found.done.seen:
            clock = Clock.load(found.terms["clock"])
            latest, watermark = as_python(clock.show(np.array([found.done.latest, found.done.watermark])))
            table.add_row("latest time", str(latest))
            table.add_row("watermark", str(watermark))
    return table
