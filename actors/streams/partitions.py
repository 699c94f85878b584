"""Partitions and groups: events of one partition may form trends together, and rows of one group are merged."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import EXACT_IN_FLOAT
from elsinore.actors.streams.keys import Texts, Tuples, Words
from elsinore.actors.streams.partitions_numba_fns import note_times
from elsinore.planner.language.errors import Problem, WorkloadError

KEEP_ALL_BELOW = 1 << 16
"""Number of partitions below which none is forgotten."""


class Partitions:
    """The numbers of partitions, by their attributes, and of groups, by the first of these attributes.

    A partition is forgotten when its last event is in no open window any more, so that memory grows with the partitions
    that are alive and not with all that ever were.
    """

    def __init__(self, attributes: tuple[str, ...], groups: int) -> None:
        self.attributes = attributes
        self.group_width = groups
        self.texts: dict[str, Texts] = {}
        self.types: dict[str, pa.DataType] = {}
        self.partitions = Tuples(len(attributes))
        self.groups = Tuples(groups)
        self.group_of = np.zeros(0, np.int32)
        self.last_seen = np.zeros(0, np.int64)
        self.worth_a_look = KEEP_ALL_BELOW
        self.dropped = 0
        """Number of events that are in no partition, for want of an attribute."""

    @property
    def count(self) -> int:
        return len(self.group_of)

    def slots(self, columns: dict[str, pa.Array], times: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the partition of each event, -1 where an attribute is null; times are sorted."""
        if not self.attributes:
            slots = np.zeros(len(times), np.int32)
            self.partitions.count = 1
        else:
            words = [self._words(name, columns[name]) for name in self.attributes]
            stacked = words[0].reshape(1, -1) if len(words) == 1 else np.stack(words)
            slots = self.partitions.numbers(
                stacked, _all_valid([columns[name] for name in self.attributes], len(times))
            )
        self._admit()
        note_times(slots, times, self.last_seen)
        return slots

    def _admit(self) -> None:
        """Assign groups to new partitions."""
        known, count = self.count, self.partitions.count
        if count > known:
            keys = np.ascontiguousarray(self.partitions.keys[: self.group_width, known:count])
            if self.group_width:
                groups = self.groups.numbers(keys, np.ones(count - known, np.bool_))
            else:
                groups = np.zeros(count - known, np.int32)
                self.groups.count = 1
            self.group_of = np.concatenate([self.group_of, groups])
            self.last_seen = np.concatenate([self.last_seen, np.zeros(count - known, np.int64)])

    def _words(self, name: str, column: pa.Array) -> Words:
        """Return values as words: two words are equal if and only if the values are."""
        kind = column.type
        if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
            self.types.setdefault(name, pa.string())
            return self.texts.setdefault(name, Texts()).numbers(column)
        if pa.types.is_null(kind):
            return np.zeros(len(column), np.int64)
        if pa.types.is_floating(kind) != pa.types.is_floating(self.types.setdefault(name, kind)):
            column = self._as_floats(name, column)
        if pa.types.is_floating(column.type):
            return (column.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0).view(np.int64)
        if pa.types.is_boolean(kind):
            column = column.cast(pa.uint8())
        elif not pa.types.is_integer(kind):
            column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        filled = column.fill_null(0) if column.null_count else column
        return filled.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)

    def _as_floats(self, name: str, column: pa.Array) -> pa.Array:
        """Return a column as floats. Once an attribute has integers and floats, 1 and 1.0 are one value, a float."""
        if pa.types.is_integer(self.types[name]):
            k = self.attributes.index(name)
            keys = self.partitions.keys[:, : self.count].copy()
            keys[k] = _exact_floats(name, keys[k]).view(np.int64)
            self.types[name] = pa.float64()
            self._renumber(keys)
        if pa.types.is_integer(column.type):
            whole = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            return pa.array(_exact_floats(name, whole))
        return column

    def frozen(self) -> Partitions:
        """Return the partitions by the numbers that they have now, whatever is forgotten or renumbered later."""
        other = copy(self)
        other.texts, other.types = dict(self.texts), dict(self.types)
        return other

    def _renumber(self, keys: Words) -> None:
        """Rebuild the numbering of the same partitions after words of their attributes have changed."""
        self.partitions = Tuples.of(keys)
        self.groups, self.group_of = Tuples(self.group_width), np.zeros(0, np.int32)
        last_seen = self.last_seen
        self._admit()
        self.last_seen = last_seen

    def group_columns(self, groups: npt.NDArray[np.int32]) -> dict[str, pa.Array]:
        """Return the grouping attributes of these groups."""
        return {
            name: self._values(name, self.groups.keys[k, groups])
            for k, name in enumerate(self.attributes[: self.group_width])
        }

    def _values(self, name: str, words: Words) -> pa.Array:
        if name in self.texts:
            return self.texts[name].texts(words)
        kind = self.types[name]
        if pa.types.is_floating(kind):
            return pa.array(words.view(np.float64)).cast(kind)
        if pa.types.is_boolean(kind):
            return pa.array(words != 0)
        if not pa.types.is_integer(kind) and kind.bit_width == 32:
            return pa.array(words.astype(np.int32)).cast(kind)
        return pa.array(words).cast(kind)

    def forget(self, before: int) -> npt.NDArray[np.int64] | None:
        """Forget partitions without events since `before`, if they are at least half of all.

        Return the old numbers of those that stay, in order, or None where nothing was forgotten.
        """
        if self.count < self.worth_a_look:
            return None
        kept = np.flatnonzero(self.last_seen >= before)
        self.worth_a_look = max(KEEP_ALL_BELOW, 2 * len(kept))
        if 2 * len(kept) > self.count:
            return None
        self.keep(kept)
        return kept

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Keep these partitions alone, in this order."""
        self.partitions = self.partitions.numbered(kept)
        self.groups = Tuples(self.group_width)
        self.group_of = np.zeros(0, np.int32)
        last_seen = self.last_seen[kept]
        self._admit()
        self.last_seen = last_seen
        self._forget_texts()

    def columns(self, names: Sequence[str]) -> list[pa.Array]:
        """Return the values of these attributes, partition by partition."""
        return [self._values(name, self.partitions.keys[self.attributes.index(name), : self.count]) for name in names]

    def _forget_texts(self) -> None:
        """Forget texts that no partition uses any more; the others are numbered anew."""
        if not self.texts:
            return
        keys = self.partitions.keys[:, : self.count].copy()
        for k, name in enumerate(self.attributes):
            if name in self.texts:
                used = self.texts[name].texts(keys[k])
                self.texts[name] = Texts()
                keys[k] = self.texts[name].numbers(used)
        self._renumber(keys)

    def save(self) -> dict[str, Any]:
        return {
            "keys": self.partitions.keys[:, : self.count],
            "last_seen": self.last_seen,
            "texts": {name: texts.save() for name, texts in self.texts.items()},
            "types": {name: pa.schema([(name, kind)]).serialize().to_pybytes() for name, kind in self.types.items()},
        }

    def load(self, state: dict[str, Any]) -> None:
        self.partitions = Tuples.of(state["keys"])
        self.texts = {name: Texts.load(texts) for name, texts in state["texts"].items()}
        self.types = {
            name: pa.ipc.read_schema(pa.py_buffer(kind)).field(0).type for name, kind in state["types"].items()
        }
        self._admit()
        self.last_seen = state["last_seen"]


def _exact_floats(name: str, whole: Words) -> npt.NDArray[np.float64]:
    if len(whole) and max(abs(int(whole.min())), abs(int(whole.max()))) > EXACT_IN_FLOAT:
        message = f"{name} splits the stream; it holds floats and, in other events, integers beyond 2**53"
        raise WorkloadError([Problem(message, "give all its values as integers, or all as texts", None, None)])
    return whole.astype(np.float64)


def _all_valid(columns: list[pa.Array], count: int) -> npt.NDArray[np.bool_]:
    valid = np.ones(count, np.bool_)
    for column in columns:
        if column.null_count:
            valid &= pc.is_valid(column).to_numpy(zero_copy_only=False)
    return valid
