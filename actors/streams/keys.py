"""Numbers for texts and for tuples of words, each of which is stored once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.streams.partitions_numba_fns import (
    number_texts,
    number_tuples,
    number_words,
    place_texts,
    place_tuples,
)
from elsinore.actors.streams.text_bytes import text_bytes

Words = npt.NDArray[np.int64]

SECRET = np.frombuffer(os.urandom(8 * 256 * 8), np.uint64).reshape(8, 256).copy()
"""Random numbers that hashes depend on, so that a sender of events cannot choose keys that collide. Each process has
its own.

No state and no result depends on them: keys are numbered in the order in which they come, and states have no hashes."""


MANY_WORDS = 1 << 12
"""The number of words in one call from which on a table of small words is worth its room."""

DIRECT_WORDS = 1 << 16
"""The words of that table; it stays in a cache of the processor."""


class Texts:
    """All texts seen, by number; their bytes are stored one after another in `arena`."""

    def __init__(self) -> None:
        self.count = 0
        self.ends = np.zeros(64, np.int64)
        self.arena = np.zeros(1024, np.uint8)
        self.table = np.full(128, -1, np.int64)

    def numbers(self, texts: pa.Array) -> Words:
        """Return the number of each text; a new text gets the next number. The number for a null is arbitrary."""
        if pa.types.is_dictionary(texts.type):
            known = np.append(self.numbers(texts.dictionary), 0)
            return known[texts.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)]
        ends, content = text_bytes(texts)
        out = np.empty(len(texts), np.int64)
        done = 0
        while done < len(texts):
            done, self.count = number_texts(
                ends, content, done, self.table, SECRET, self.ends, self.arena, self.count, out
            )
            if done < len(texts):
                self._make_room(int(ends[done + 1] - ends[done]))
        return out

    def texts(self, numbers: Words) -> pa.Array:
        """Return the texts that have these numbers."""
        known = pa.LargeStringArray.from_buffers(
            self.count, pa.py_buffer(self.ends[: self.count + 1].copy()), pa.py_buffer(self.arena)
        )
        return known.take(pa.array(numbers)).cast(pa.string())

    def _make_room(self, size: int) -> None:
        if self.ends[self.count] + size > len(self.arena):
            self.arena = np.concatenate([self.arena, np.zeros(len(self.arena) + size, np.uint8)])
        if self.count + 1 >= len(self.ends):
            self.ends = np.concatenate([self.ends, np.zeros(len(self.ends), np.int64)])
        if 2 * (self.count + 1) > len(self.table):
            self.table = np.full(2 * len(self.table), -1, np.int64)
            place_texts(self.ends, self.arena, self.count, self.table, SECRET)

    def save(self) -> dict[str, Any]:
        return {"ends": self.ends[: self.count + 1], "arena": self.arena[: self.ends[self.count]]}

    @classmethod
    def load(cls, state: dict[str, Any]) -> Texts:
        texts = cls()
        texts.count = len(state["ends"]) - 1
        texts.ends = state["ends"].copy()
        texts.arena = np.append(state["arena"], np.zeros(64, np.uint8))
        texts.table = np.full(_table_size(texts.count), -1, np.int64)
        place_texts(texts.ends, texts.arena, texts.count, texts.table, SECRET)
        return texts


class Tuples:
    """All tuples of words seen, by number."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.keys: Words = np.zeros((width, 64), np.int64)
        self.table = np.full(128, -1, np.int32)
        self.low, self.direct = 0, np.zeros(0, np.int32)
        """The numbers of the words from `low` on, as far as they are known: many keys are small numbers."""

    def numbers(self, words: Words, valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Return the number of each column of words: the next one for a new column, -1 where not valid."""
        out = np.empty(words.shape[1], np.int32)
        if not len(self.direct) and len(words) == 1 and len(out) >= MANY_WORDS:
            self.low, self.direct = int(words[0, :MANY_WORDS].min()), np.full(DIRECT_WORDS, -1, np.int32)
        done = 0
        while done < len(out):
            if len(words) == 1:
                done, self.count = number_words(
                    words[0], valid, done, self.table, SECRET, self.keys[0], self.count, self.low, self.direct, out
                )
            else:
                done, self.count = number_tuples(words, valid, done, self.table, SECRET, self.keys, self.count, out)
            if done < len(out):
                self._make_room()
        return out

    def _make_room(self) -> None:
        if self.count >= self.keys.shape[1]:
            self.keys = np.concatenate([self.keys, np.zeros_like(self.keys)], axis=1)
        if 2 * (self.count + 1) > len(self.table):
            self.table = np.full(2 * len(self.table), -1, np.int32)
            place_tuples(self.keys, self.count, self.table, SECRET)

    def numbered(self, numbers: npt.NDArray[np.int64]) -> Tuples:
        """Return these tuples alone, numbered anew in this order."""
        return self.of(np.ascontiguousarray(self.keys[:, numbers]))

    @classmethod
    def of(cls, keys: Words) -> Tuples:
        """Create a table of these distinct tuples, numbered in this order."""
        tuples = cls(len(keys))
        tuples.count = keys.shape[1]
        tuples.keys = np.concatenate([keys, np.zeros((len(keys), 64), np.int64)], axis=1)
        tuples.table = np.full(_table_size(tuples.count), -1, np.int32)
        place_tuples(tuples.keys, tuples.count, tuples.table, SECRET)
        return tuples


def _table_size(count: int) -> int:
    return 1 << max(7, (2 * count + 2).bit_length())
