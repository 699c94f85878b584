"""The events that users send, and the workload to which they send them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa

from elsinore.connectors.ridesharing import generate

WORKLOAD = """
-- These two any sender can count.
QUERY requests
RETURN district, COUNT(*)
PATTERN Request
GROUP-BY district
WITHIN 1 minute SLIDE 1 minute

QUERY travels
RETURN district, COUNT(*), SUM(T.duration), MAX(T.speed)
PATTERN Travel T
GROUP-BY district
WITHIN 1 minute SLIDE 1 minute

-- And these are trends, which share the Kleene sub-pattern Travel T+.
QUERY gave_up
RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed)
PATTERN SEQ(Request R, Travel T+, Cancel C)
WHERE [driver, rider]
GROUP-BY district
WITHIN 1 minute SLIDE 30 seconds

QUERY dropped_off
RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed)
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver, rider]
GROUP-BY district
WITHIN 1 minute SLIDE 30 seconds
"""

WINDOW = 60

BATCH = 1 << 15
"""Number of events in an append."""

RATE = 60_000
"""Events for each minute of the stream's time; they are sent much faster."""

PAIRS = 200
"""Number of pairs of a driver and a rider: twenty districts."""

END = [{"type": "End", "time": 10**9}]
"""An event so late that all windows have ended before it."""


def rides(seed: int, events: int) -> pa.Table:
    """Return the first events of a user's stream."""
    return pa.Table.from_batches(generate(events, seed=seed, rate=RATE, groups=PAIRS))


def appends(seed: int) -> Iterator[pa.Table]:
    """Yield a user's stream, append by append; after a while the events repeat, at later times."""
    block = rides(seed, BATCH * 32)
    length = -(-(BATCH * 32) * 60 // RATE)
    for number in count():
        moved = block.set_column(1, "time", pa.compute.add(block.column("time"), number * length))
        for start in range(0, len(moved), BATCH):
            yield moved.slice(start, BATCH)
