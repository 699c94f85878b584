"""A long stream in slices of time: which Spark partitions follow which, so that no actor has to hold all events.

Parquet files record the least and the greatest time of each row group. If events are roughly in order of time, slices
are partitions as Spark reads them, one after another. If they are not, Spark has to repartition them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elsinore.connectors.spark.dealing import BEGINNING
from elsinore.connectors.spark.java_objects import java_execution

MAX_SIZE_FACTOR = 2
"""Largest size of a slice, and of what waits for later slices, in units of the size asked for."""


ByteRanges = list[tuple[str, int, int]]
"""Byte ranges of files: the path, the first byte, and the byte after the last."""


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file: its byte range, its number of events, and their times."""

    path: Path
    start: int
    end: int
    events: int
    first: int
    """The least time, in ticks."""
    last: int


@dataclass(frozen=True)
class Slice:
    """Partitions that are handed over at once."""

    partitions: tuple[int, ...]
    watermark: int = BEGINNING
    """In ticks; no event of later slices is older."""


def in_one(partitions: int) -> list[Slice]:
    """Return all partitions as one slice."""
    return [Slice(tuple(range(partitions)))]


def end_of_pane(time: int, pane: int, before: int) -> int:
    """Return the last end of a pane up to this time; the time itself if that end is not after the cut `before`."""
    end = time // pane * pane
    return end if end > before else time


def at_panes(times: Sequence[int], pane: int) -> tuple[int, ...]:
    """Return cuts near these times, in order."""
    found = [BEGINNING]
    for time in sorted(set(times)):
        cut = end_of_pane(time, pane, found[-1])
        if cut > found[-1]:
            found.append(cut)
    return tuple(found[1:])


def by_cuts(cuts: Sequence[int]) -> list[Slice]:
    """Return a slice for each partition, where a partition holds the events from one cut to the next."""
    return [Slice((number,), watermark) for number, watermark in enumerate((*cuts, BEGINNING))]


def in_order(read: Sequence[ByteRanges], groups: Sequence[RowGroup], size: int, pane: int) -> list[Slice] | None:
    """Return slices of about `size` events, or None if the files cannot be cut so.

    They end where panes do, so that bursts stay whole. `read`: the byte ranges that each Spark partition reads.
    """
    parts = sorted(_parts(read, groups), key=lambda part: part.first)
    found: list[Slice] = []
    own: list[int] = []
    sent = most = 0
    for at, part in enumerate(parts):
        own.append(part.number)
        sent += part.events
        most = max(most, sent)
        if sent >= size and at + 1 < len(parts):
            before = found[-1].watermark if found else BEGINNING
            watermark = end_of_pane(parts[at + 1].first, pane, before)
            most = max(most, sum(one.events for one in parts[: at + 1] if one.last >= watermark))
            found.append(Slice(tuple(own), watermark))
            own, sent = [], 0
    return None if most > MAX_SIZE_FACTOR * size else [*found, Slice(tuple(own))]


@dataclass(frozen=True)
class _Partition:
    """A Spark partition, and what is known from the row groups that it reads."""

    number: int
    first: int
    last: int
    events: int


def _parts(read: Sequence[ByteRanges], groups: Sequence[RowGroup]) -> Iterator[_Partition]:
    """Yield the partitions, with times and numbers of events from the statistics of row groups.

    Spark reads a row group in the partition that has its middle, so its events are counted there. It is only certain
    that this partition touches the row group, so the times are those of all row groups touched.
    """
    starts, ends = (np.array([getattr(one, name) for one in groups]) for name in ("start", "end"))
    firsts, lasts, events = (np.array([getattr(one, name) for one in groups]) for name in ("first", "last", "events"))
    paths = np.array([str(one.path) for one in groups])
    middles = (starts + ends) // 2
    for number, ranges in enumerate(read):
        touched = np.zeros(len(groups), np.bool_)
        held = np.zeros(len(groups), np.bool_)
        for path, start, end in ranges:
            here = paths == path
            touched |= here & (starts < end) & (ends > start)
            held |= here & (middles >= start) & (middles < end)
        if touched.any():
            yield _Partition(number, int(firsts[touched].min()), int(lasts[touched].max()), int(events[held].sum()))


def read_by(frame: Any) -> list[ByteRanges]:
    """Return the byte ranges that each partition of a DataFrame over files reads."""
    return [
        [
            (file.filePath().toPath().toUri().getPath(), file.start(), file.start() + file.length())
            for file in partition.files()
        ]
        for partition in java_execution(frame).toRdd().partitions()
    ]
