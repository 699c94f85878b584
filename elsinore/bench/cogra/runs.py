"""Measurement of one query over windows whose events arrive as fast as they are taken in (COGRA, Section 8.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pyarrow as pa

from elsinore.bench.cogra.settings import GROUPED, PAIRS
from elsinore.bench.cogra.streams import falling, trips
from elsinore.bench.replay import DEFINITIONS, Ints, Piece, Run

PIECE_EVENTS = 50_000
"""The most events of a piece of the stream."""


@dataclass(frozen=True)
class Window(Run):
    """A run over windows of a minute, all events of which arrive when the window ends."""

    definitions: ClassVar = DEFINITIONS | {
        "latency": (
            "Seconds of processor time from the first event of a window to its rows, averaged over windows: the events "
            f"of a window arrive all at once, and are fed in pieces of at most {PIECE_EVENTS:,}."
        ),
    }

    def pieces(self, times: Ints, pane: int) -> Iterator[Piece]:
        """Yield the pieces of the stream; the first event of a window arrives when the one before it ends."""
        begins = [0, *(np.flatnonzero(np.diff(times // pane)) + 1).tolist(), len(times)]
        for begin, end in pairwise(begins):
            if begin:
                yield Piece(begin, begin + 1, begin * 60 / self.rate)
            for at in range(begin + bool(begin), end, PIECE_EVENTS):
                yield Piece(at, min(at + PIECE_EVENTS, end), end * 60 / self.rate)


@dataclass(frozen=True)
class Grouped(Window):
    """A run with a number of groups."""

    groups: int = 0

    def events(self) -> pa.Table:
        return trips(round(self.rate * self.minutes), self.rate, GROUPED, districts=self.groups, pairs=PAIRS)


@dataclass(frozen=True)
class Selective(Window):
    """A run with a selectivity of the predicate on neighbours."""

    percent: int = 0

    def events(self) -> pa.Table:
        return falling(round(self.rate * self.minutes), self.rate, self.percent)
