"""Count events and bursts of a stream in one pass."""

from __future__ import annotations

from elsinore.planner.kernels.compiled import kernel


@kernel
def count_events(types, times, slots, span, last, seen, counts, bursts):
    """Count events and bursts by type; return how many partitions entered another span of time. Times are sorted.

    By partition, `last` is the type of its last event, and `seen` the span that it was in. Without `slots` there is one
    partition.
    """
    if not len(slots):
        before = last[0]
        for type_ in types:
            counts[type_] += 1
            if before != type_:
                bursts[type_] += 1
            before = type_
        last[0] = before
        return 0
    cells = 0
    at, end = 0, times[0]
    for i in range(len(types)):
        slot, type_ = slots[i], types[i]
        if slot < 0:
            continue
        if times[i] >= end:
            at = times[i] // span
            end = (at + 1) * span
        counts[type_] += 1
        if last[slot] != type_:
            bursts[type_] += 1
            last[slot] = type_
        if seen[slot] != at:
            cells += 1
            seen[slot] = at
    return cells
