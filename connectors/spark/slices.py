"""A long stream in slices: which partitions of Spark's follow which, so that no actor has to hold all events.

Parquet files tell the least and the greatest time of each row group. Where events come about in order of time, slices
are partitions as Spark reads them, one after another. Where they do not, Spark has to bring them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elsinore.connectors.spark.dealing import BEGINNING

MUCH = 2
"""Times the events of a slice that one may have, or that may wait for others; beyond that Spark has to cut anew."""


Ranges = list[tuple[str, int, int]]
"""Of files, by their paths: from the one byte, and before the other."""


@dataclass(frozen=True)
class Group:
    """A row group of a Parquet file: which bytes of it, and what it tells of its events."""

    path: Path
    start: int
    end: int
    events: int
    first: int
    """The least of their times, in ticks."""
    last: int


@dataclass(frozen=True)
class Slice:
    """Partitions that are handed over at once."""

    partitions: tuple[int, ...]
    watermark: int = BEGINNING
    """No event of the slices behind it is older."""


def in_one(partitions: int) -> list[Slice]:
    """All at once."""
    return [Slice(tuple(range(partitions)))]


def end_of_pane(time: int, pane: int, before: int) -> int:
    """The last end of a pane up to this time; the time itself, where the pane is so long that it ends before the last
    cut."""
    end = time // pane * pane
    return end if end > before else time


def at_panes(times: Sequence[int], pane: int) -> tuple[int, ...]:
    """Cuts near these times, in order."""
    found = [BEGINNING]
    for time in sorted(set(times)):
        cut = end_of_pane(time, pane, found[-1])
        if cut > found[-1]:
            found.append(cut)
    return tuple(found[1:])


def by_cuts(cuts: Sequence[int]) -> list[Slice]:
    """Where each partition has the events from one cut to the next."""
    return [Slice((number,), watermark) for number, watermark in enumerate((*cuts, BEGINNING))]


def in_order(read: Sequence[Ranges], groups: Sequence[Group], size: int, pane: int) -> list[Slice] | None:
    """Slices of about so many events, which end where panes do, so that bursts stay whole; None, where the files cannot
    be cut so.

    `read`: by partition of Spark's, what it reads.
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
    return None if most > MUCH * size else [*found, Slice(tuple(own))]


@dataclass(frozen=True)
class _Part:
    """A partition of Spark's, and what the row groups that it reads tell."""

    number: int
    first: int
    last: int
    events: int


def _parts(read: Sequence[Ranges], groups: Sequence[Group]) -> Iterator[_Part]:
    """Spark reads a row group where its middle is. Who reads it is only known to be among those that touch it."""
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
            yield _Part(number, int(firsts[touched].min()), int(lasts[touched].max()), int(events[held].sum()))


def read_by(frame: Any) -> list[Ranges]:
    """What each partition of a DataFrame over files reads."""
    return [
        [
            (file.filePath().toPath().toUri().getPath(), file.start(), file.start() + file.length())
            for file in partition.files()
        ]
        for partition in frame._jdf.queryExecution().toRdd().partitions()
    ]
