"""Merge matches of several engines into the order of rows: by end, start, then their events from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

ABSENT, FIRST = 1, 2
"""The numbers in a key of no event, and of the earliest event; 0 fills keys up to one length."""


class EventOrder(Protocol):
    """The events of matches as numbers in columns of times and arrivals; negative where no event is bound."""

    @property
    def offsets(self) -> npt.NDArray[np.int32]: ...
    @property
    def numbers(self) -> npt.NDArray[np.int32]: ...
    @property
    def times(self) -> Ints: ...
    @property
    def arrivals(self) -> Ints: ...


def by_events(start: Ints, end: Ints, parts: Sequence[EventOrder]) -> Ints:
    """Return the order of the matches of several parts, one behind another; events are compared only where ends and
    starts are equal."""
    order: Ints = np.lexsort((start, end))
    same = (np.diff(start[order]) == 0) & (np.diff(end[order]) == 0)
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)) if len(order) else order
    if len(tied):
        runs = np.cumsum(np.append(True, ~same))[tied]
        order[tied] = order[tied][np.lexsort((_keys(parts, order[tied]), runs))]
    return order


def _keys(parts: Sequence[EventOrder], matches: Ints) -> npt.NDArray[np.bytes_]:
    """Return keys of some matches that compare, byte by byte, as their events do."""
    ranks = _ranks(parts)
    begins, lengths = _extents(parts)
    begins, lengths = begins[matches], lengths[matches]
    width = int(lengths.max())
    keys = np.zeros((len(matches), width), ">u4")
    inside = np.arange(width) < lengths[:, None]
    keys[inside] = ranks[(begins[:, None] + np.arange(width))[inside]]
    return keys.view(f"S{4 * width}").ravel()


def _ranks(parts: Sequence[EventOrder]) -> Ints:
    """Return the numbers of all parts by rank among all events: an event that two parts have gets one rank."""
    times = np.concatenate([part.times for part in parts])
    arrivals = np.concatenate([part.arrivals for part in parts])
    order = np.lexsort((arrivals, times))
    new = (np.diff(times[order]) != 0) | (np.diff(arrivals[order]) != 0)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(np.append(False, new)[: len(order)]) + FIRST
    befores = np.cumsum([0, *(len(part.times) for part in parts)])
    return np.concatenate(
        [
            np.where(part.numbers < 0, ABSENT, np.append(ranks, ABSENT)[part.numbers + before])
            for part, before in zip(parts, befores, strict=False)
        ]
    )


def _extents(parts: Sequence[EventOrder]) -> tuple[Ints, Ints]:
    """Return where the numbers of each match begin among those of all parts, and how many there are."""
    befores = np.cumsum([0, *(len(part.numbers) for part in parts)])
    begins = [part.offsets[:-1] + before for part, before in zip(parts, befores, strict=False)]
    return np.concatenate(begins), np.concatenate([np.diff(part.offsets).astype(np.int64) for part in parts])
