"""Results as counters, before they become rows: one cell per window and group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
"""Words, or mantissas and exponents; see `numbers_numba_fns`."""


@dataclass(frozen=True)
class Cells:
    start: npt.NDArray[np.int64]
    """In ticks. By cell, like all columns here."""
    end: npt.NDArray[np.int64]
    group: npt.NDArray[np.int32]
    numbers: Numbers
    """(cell, lane, word)"""
    least: npt.NDArray[np.int64]
    """(cell, key)"""

    def __len__(self) -> int:
        return len(self.start)

    def taken(self, which: npt.NDArray[np.int64] | slice) -> Cells:
        return Cells(self.start[which], self.end[which], self.group[which], self.numbers[which], self.least[which])


def join(cells: list[Cells]) -> Cells:
    """Concatenate cells, and widen their numbers to the widest."""
    if len(cells) == 1:
        return cells[0]
    words = max(one.numbers.shape[2] for one in cells)
    return Cells(
        np.concatenate([one.start for one in cells]),
        np.concatenate([one.end for one in cells]),
        np.concatenate([one.group for one in cells]),
        np.concatenate([widened(one.numbers, words) for one in cells]),
        np.concatenate([one.least for one in cells]),
    )


def widened(numbers: Numbers, words: int) -> Numbers:
    """Return the same numbers with more words; the sign fills the new ones."""
    missing = words - numbers.shape[-1]
    if not missing:
        return numbers
    sign = numbers[..., -1:].astype(np.int64) >> 63
    return np.concatenate([numbers.astype(np.uint64), np.repeat(sign, missing, axis=-1).astype(np.uint64)], axis=-1)


def integers(numbers: Numbers) -> npt.NDArray[Any]:
    """Return exact numbers of any shape (…, word) as int64 where all fit, else as Python integers."""
    low = numbers[..., 0].astype(np.int64)
    wide = (numbers[..., 1:].astype(np.int64) != (low >> 63)[..., None]).any(axis=-1)
    if not wide.any():
        return low
    found = low.astype(object)
    found[wide] = [int.from_bytes(one.tobytes(), "little", signed=True) for one in numbers[wide]]
    return found
