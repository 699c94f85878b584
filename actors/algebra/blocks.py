"""Blocks: the counters of many partitions side by side, in two flat buffers that grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import NONE, Scratch, Shape
from elsinore.actors.rows.cells import Numbers, widened


@dataclass
class Blocks:
    """The blocks of all slots; a block has `rows` x `states` x (`lanes` numbers and `keys` minima)."""

    shape: Shape
    exact: bool
    numbers: Numbers
    least: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, shape: Shape, exact: bool, slots: int = 0) -> Blocks:
        blocks = cls(shape, exact, np.zeros(0, number_type(exact, shape.words)), np.zeros(0, np.int64))
        blocks.resize(slots)
        return blocks

    @classmethod
    def uncleared(cls, shape: Shape, exact: bool, slots: int) -> Blocks:
        """Return blocks of uninitialized memory, for a kernel that clears what it writes to."""
        blocks = cls(shape, exact, np.empty(0), np.empty(0, np.int64))
        blocks.numbers = np.empty(slots * blocks.width, number_type(exact, shape.words))
        blocks.least = np.empty(slots * blocks.keys, np.int64)
        return blocks

    @property
    def width(self) -> int:
        """Return the number of places of `numbers` in a block."""
        return self.shape.rows * self.shape.states * self.shape.lanes * self.shape.words

    @property
    def keys(self) -> int:
        """Return the number of places of `least` in a block."""
        return self.shape.rows * self.shape.states * self.shape.keys

    @property
    def slots(self) -> int:
        return len(self.numbers) // self.width

    def resize(self, slots: int) -> None:
        """Change the number of blocks; new ones count nothing."""
        self.numbers = _resized(self.numbers, slots * self.width, 0)
        self.least = _resized(self.least, slots * self.keys, NONE)

    def widen(self, words: int) -> None:
        parts = self.numbers.reshape(-1, self.shape.words)
        self.numbers = widened(parts, words).reshape(-1)
        self.shape = self.shape._replace(words=words)

    def of_slots(self, slots: npt.NDArray[np.integer]) -> Blocks:
        """Return a copy of some blocks, in the order given."""
        numbers = self.numbers.reshape(self.slots, self.width)[slots].reshape(-1)
        least = self.least.reshape(self.slots, self.keys)[slots].reshape(-1)
        return Blocks(self.shape, self.exact, numbers, least)

    def save(self) -> list[Any]:
        return [list(self.shape), self.exact, self.numbers, self.least]

    @classmethod
    def load(cls, state: list[Any]) -> Blocks:
        shape, exact, numbers, least = state
        return cls(Shape(*shape), exact, numbers, least)

    def add_lanes(self, at: int, count: int) -> None:
        """Insert lanes of zeros before lane `at`."""
        lanes = self.numbers.reshape(-1, self.shape.lanes, self.shape.words)
        zeros = np.zeros((len(lanes), count, self.shape.words), lanes.dtype)
        self.numbers = np.concatenate([lanes[:, :at], zeros, lanes[:, at:]], axis=1).reshape(-1)
        self.shape = self.shape._replace(lanes=self.shape.lanes + count)


def number_type(exact: bool, words: int) -> type[np.generic]:
    """Return the dtype of numbers, by which kernels tell those of one word, of several, and approximate ones apart."""
    if not exact:
        return np.float64
    return np.int64 if words == 1 else np.uint64


def scratch(shape: Shape, exact: bool) -> Scratch:
    """Return the scratch memory for work on one block."""
    block = Blocks.empty(shape, exact, 1)
    saved = Blocks.empty(shape, exact, 1)
    states = shape.states
    return Scratch(
        block.numbers, block.least, np.zeros(states, np.int32), np.zeros(states, np.bool_), saved.numbers, saved.least
    )


def _resized(column: Numbers, size: int, fill: int | np.int64) -> Numbers:
    if size <= len(column):
        return column[:size]
    return np.concatenate([column, np.full(size - len(column), fill, column.dtype)])
