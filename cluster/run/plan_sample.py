"""The events at which `auto` looks to choose a plan."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from elsinore.actors.streams.owners import owners_of

MIN_EVENTS = 4_096
"""The least number of events in a first batch whose statistics are used to choose a plan."""

SAMPLE_PART = 64
"""One in so many events of the first batch, but at least `MIN_EVENTS`, is looked at to choose a plan; that costs less
than a hundredth of the run."""

MOST_PARTS = 8
"""The most parts into which the partitions of a window are divided, of which one is the sample."""


def sample_of(first: pa.RecordBatch, keys: Sequence[str], window: int) -> tuple[pa.RecordBatch, int]:
    """Return some of the first events, sorted by time, and of which part of their partitions they are: 1 in so many.

    They are of a whole window of `window` ticks, where that is possible: partitions may live shorter than a window, and
    then have fewer events in it than a moment of the stream tells.
    """
    most = max(MIN_EVENTS, len(first) // SAMPLE_PART)
    times = first.column(1).to_numpy()
    inside = int(times.searchsorted(times[0] + window))
    if not keys or inside <= most:
        return first.slice(0, most), 1
    some = first.slice(0, min(inside, most * MOST_PARTS))
    parts = -(-len(some) // most)
    owners = owners_of([some.column(name) for name in keys], len(some), parts)
    chosen = some.filter(pa.array(owners == 0))
    # With few partitions, parts are of very different sizes.
    return (chosen, parts) if most <= 4 * len(chosen) <= 16 * most else (first.slice(0, most), 1)
