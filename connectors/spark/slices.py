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

from connectors.spark.dealing import BEGINNING

MUCH = 2
"""Times the events of a slice that one may have, or that may wait for others; beyond that Spark has to cut anew."""


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


def by_cuts(cuts: Sequence[int]) -> list[Slice]:
    """Where each partition has the events from one cut to the next."""
    return [Slice((number,), watermark) for number, watermark in enumerate((*cuts, BEGINNING))]


def in_order(frame: Any, groups: Sequence[Group], size: int, pane: int) -> list[Slice] | None:
    """Slices of about so many events, which end where panes do; None, where the files cannot be cut so."""
    parts = sorted(_parts(frame, groups), key=lambda part: part.first)
    found: list[Slice] = []
    own: list[int] = []
    sent = most = 0
    for at, part in enumerate(parts):
        own.append(part.number)
        sent += part.events
        most = max(most, sent)
        if sent >= size and at + 1 < len(parts):
            watermark = parts[at + 1].first // pane * pane
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


def _parts(frame: Any, groups: Sequence[Group]) -> Iterator[_Part]:
    """Spark reads a row group where its middle is. Who reads it is only known to be among those that touch it."""
    starts, ends = (np.array([getattr(one, name) for one in groups]) for name in ("start", "end"))
    firsts, lasts, events = (np.array([getattr(one, name) for one in groups]) for name in ("first", "last", "events"))
    paths = np.array([str(one.path) for one in groups])
    for number, ranges in enumerate(_ranges(frame)):
        touched = np.zeros(len(groups), np.bool_)
        read = np.zeros(len(groups), np.bool_)
        for path, start, end in ranges:
            here = paths == path
            touched |= here & (starts < end) & (ends > start)
            read |= here & ((starts + ends) // 2 >= start) & ((starts + ends) // 2 < end)
        if touched.any():
            yield _Part(number, int(firsts[touched].min()), int(lasts[touched].max()), int(events[read].sum()))


def _ranges(frame: Any) -> Iterator[list[tuple[str, int, int]]]:
    """By partition of Spark's, the bytes of files that it reads."""
    for partition in frame._jdf.queryExecution().toRdd().partitions():
        yield [
            (file.filePath().toPath().toUri().getPath(), file.start(), file.start() + file.length())
            for file in partition.files()
        ]
