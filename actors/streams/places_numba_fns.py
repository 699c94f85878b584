"""Find the places of events in one walk along two sorted columns of times."""

from __future__ import annotations

from elsinore.planner.kernels.compiled import kernel


@kernel
def place_events(waiting, times, passed, places):
    """Write the place of each event of `times`: `passed`, and how many of `waiting` are earlier. Both are sorted."""
    earlier = 0
    for i in range(len(times)):
        while earlier < len(waiting) and waiting[earlier] < times[i]:
            earlier += 1
        places[i] = passed + earlier
