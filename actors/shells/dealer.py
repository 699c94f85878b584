"""The dealer, which cuts a block of Spark's into one block for each graph actor: the events that the actor owns.

Spark has computed the key group of each event along each route, so the owner of an event is a look-up. An event is
looked at once, whatever the number of actors, and an actor fetches its own blocks alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.shells.blocks_in import GROUP, TICKS, Ints, buffer_of, events_of, times_block

NO_PLACE = -1
"""The place of an event along a route that does not take it."""


class Dealer:
    """An actor without state: calls may be lost, repeated and reordered."""

    def pid(self) -> int:
        return os.getpid()

    def deal(self, block: bytes, firsts: Sequence[int], everywhere: Sequence[int], with_times: bool) -> list[pa.Buffer]:
        """Return the events of a block by place, and last, where these are asked for, the times of all events.

        `firsts` and `everywhere` are as in `dealt`.
        """
        events, times = events_of([block])
        found = [buffer_of(own) for own in dealt(events, firsts, everywhere)]
        return [*found, times_block(times)] if with_times else found


def dealt(events: pa.Table, firsts: Sequence[int], everywhere: Sequence[int] = ()) -> list[pa.Table]:
    """Return the events of each place, in order of time; an event that several routes bring to a place is there once.

    `firsts`: by place, the first key group that it owns. `everywhere`: the routes whose events every place gets. Events
    that no route takes go to the first place, which counts them.
    """
    owners = _owners(events, firsts)
    for route in everywhere:
        owners = np.hstack([owners, np.where(owners[:, [route]] == NO_PLACE, NO_PLACE, np.arange(len(firsts)))])
        owners[:, route] = NO_PLACE
    rows, ends = _rows_by_owner(owners, _in_order(events), len(firsts))
    sorted_events = events.take(pa.array(rows))
    return [sorted_events.slice(lo, hi - lo) for lo, hi in zip([0, *ends], ends, strict=False)]


def _owners(events: pa.Table, firsts: Sequence[int]) -> npt.NDArray[np.int16]:
    """Return the place that owns each event along each route."""
    routes = [name for name in events.column_names if name.startswith(GROUP)]
    found = np.empty((len(events), len(routes)), np.int16)
    for number, name in enumerate(routes):
        groups = events.column(name).to_numpy()
        # Group -1 is before all places, so it has place -1.
        found[:, number] = np.searchsorted(firsts, np.arange(-1, int(groups.max(initial=-1)) + 1), "right")[groups + 1]
    found -= 1
    found[(found == NO_PLACE).all(axis=1), 0] = 0
    return found


def _in_order(events: pa.Table) -> Ints | None:
    """Return the rows of events in order of time; None if that is their order."""
    ticks = events.column(TICKS).to_numpy()
    return None if bool((ticks[1:] >= ticks[:-1]).all()) else np.argsort(ticks, kind="stable")


def _rows_by_owner(owners: npt.NDArray[np.int16], order: Ints | None, places: int) -> tuple[Ints, list[int]]:
    """Return the rows of the first place, then those of the second, and so on; and where the rows of each end."""
    owners = owners if order is None else owners[order]
    wanted = owners != NO_PLACE
    for later in range(1, owners.shape[1]):
        for earlier in range(later):
            wanted[:, later] &= owners[:, later] != owners[:, earlier]
    taken = np.flatnonzero(wanted.ravel())
    place = owners.ravel()[taken]
    # A stable sort of 16-bit numbers is a radix sort.
    by_place = np.argsort(place, kind="stable")
    rows = taken[by_place] // owners.shape[1]
    ends = np.cumsum(np.bincount(place, minlength=places)).tolist()
    return rows if order is None else order[rows], ends
