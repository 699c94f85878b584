"""The intake of events: of a batch, those that some counter reads, as the columns that kernels read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.columns.lanes import Ints, LaneColumns
from elsinore.actors.columns.links import LinkColumns
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.streams.batch import Batch

AsFloats = Callable[[Ints], Ints]
"""Convert integers that were kept to the keys of the same values as floats."""


class Kinds(Protocol):
    """A classification of events."""

    takes_all: bool
    """Whether events of kind 0 are read too."""

    def of(self, types: pa.DictionaryArray, columns: Mapping[str, pa.Array]) -> npt.NDArray[Any]:
        """Return the kind of each event; 0 for those that no pattern takes."""
        ...


@dataclass(frozen=True)
class Growth:
    """What columns have learned: new lanes, and minima that are of floats from now on."""

    lanes: list[tuple[int, int, int]]
    """Of new lanes: before which lane they are inserted, how many, and before which column of values."""
    floats: dict[int, AsFloats]
    """By key."""

    @classmethod
    def of(cls, columns: LaneColumns, step: Callable[[], list[tuple[int, int, int]]]) -> Growth:
        """Return what columns learn by a step that returns the lanes to insert."""
        whole = columns.whole_keys
        lanes = step()
        return cls(lanes, {key: partial(columns.as_floats, key) for key in whole - columns.whole_keys})


class Taken(NamedTuple):
    """Events that were taken in."""

    events: Events
    links: Links
    promoted: dict[int, AsFloats]
    """By link that compared integers and compares floats from now on."""


class Selected(NamedTuple):
    """The events of a batch that some counter reads."""

    columns: Mapping[str, pa.Array]
    slots: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64]
    kinds: npt.NDArray[Any]


class Intake:
    def __init__(self, kinds: Kinds, columns: LaneColumns, links: LinkColumns | None = None) -> None:
        self.kinds = kinds
        self.columns = columns
        self.links = links
        lanes = {lane.attribute for lane in columns.lanes if lane.attribute}
        self.reads: Iterable[str] = lanes | links.reads if links else lanes
        """Attributes that are read after events have been classified."""

    def select(self, batch: Batch) -> Selected:
        """Return the events that some counter reads."""
        kinds = self.kinds.of(batch.types, batch.columns)
        wanted = batch.slots >= 0
        if not self.kinds.takes_all:
            wanted &= kinds > 0
        if wanted.all():
            return Selected(batch.columns, batch.slots, batch.times, kinds)
        rows = np.flatnonzero(wanted)
        indices = pa.array(rows)
        columns = {name: batch.columns[name].take(indices) for name in self.reads}
        return Selected(columns, batch.slots[rows], batch.times[rows], kinds[rows])

    def learn(self, columns: Mapping[str, pa.Array]) -> tuple[Growth, bool]:
        """Learn from columns. (what has grown, whether that or the types have changed)"""
        types = dict(self.columns.types)
        growth = Growth.of(self.columns, lambda: self.columns.learn(columns))
        return growth, bool(growth.lanes) or types != self.columns.types

    def encode(self, selected: Selected) -> Taken:
        """Return events as kernels read them; `learn` has seen their columns."""
        count = len(selected.times)
        values, keys = self.columns.values(selected.columns, count), self.columns.keys(selected.columns, count)
        events = Events(selected.slots, selected.times, selected.kinds, values, keys)
        if self.links is None:
            return Taken(events, no_links(count), {})
        links, promoted = self.links.encode(selected.columns, selected.kinds)
        return Taken(events, links, {link: partial(self.links.as_floats, link) for link in promoted})


def no_links(events: int) -> Links:
    """Return the columns of no links, for so many events."""
    nothing = np.zeros((0, events), np.int64)
    known = np.zeros((0, events), np.bool_)
    return Links(nothing, nothing, known, known)
