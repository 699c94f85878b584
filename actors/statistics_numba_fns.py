"""What a stream is like: one look at the type of each event."""

from __future__ import annotations

from actors.compiled import kernel


@kernel
def count(codes, last, events, bursts):
    """Events and bursts by type; `last` is the type of the event before, whose burst may go on."""
    for code in codes:
        events[code] += 1
        if code != last:
            bursts[code] += 1
        last = code
