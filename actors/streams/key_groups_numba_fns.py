"""Compute Spark's hash (Murmur3, x86, 32 bits) value by value, to find the partition to which Spark sends an event."""

from __future__ import annotations

import numpy as np

from elsinore.planner.kernels.compiled import kernel, part

C1, C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
FIVE, ADDED = np.uint32(5), np.uint32(0xE6546B64)
F1, F2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
LOW = np.uint64(0xFFFFFFFF)


@part
def _rotated(value, left):
    return np.uint32((value << np.uint32(left)) | (value >> np.uint32(32 - left)))


@part
def _mixed(found, word):
    scattered = np.uint32(_rotated(np.uint32(word * C1), 15) * C2)
    return np.uint32(_rotated(np.uint32(found ^ scattered), 13) * FIVE + ADDED)


@part
def _finished(found, length):
    found = np.uint32(found ^ np.uint32(length))
    found = np.uint32((found ^ (found >> np.uint32(16))) * F1)
    found = np.uint32((found ^ (found >> np.uint32(13))) * F2)
    return np.uint32(found ^ (found >> np.uint32(16)))


@kernel
def hash_words(words, hashes):
    """Continue each hash with a number of 64 bits."""
    for i in range(len(words)):
        word = np.uint64(words[i])
        found = _mixed(hashes[i], np.uint32(word & LOW))
        hashes[i] = _finished(_mixed(found, np.uint32(word >> np.uint64(32))), 8)


@kernel
def hash_truths(truths, hashes):
    """Continue each hash with true or false."""
    for i in range(len(truths)):
        hashes[i] = _finished(_mixed(hashes[i], np.uint32(truths[i])), 4)


@kernel
def hash_texts(ends, content, hashes):
    """Continue each hash with the bytes of a text.

    As in Spark, the bytes behind the last whole word are hashed one by one, as signed numbers.
    """
    for i in range(len(hashes)):
        begin, end = ends[i], ends[i + 1]
        whole = begin + (end - begin) // 4 * 4
        found = hashes[i]
        for at in range(begin, whole, 4):
            word = np.uint32(0)
            for byte in range(4):
                word |= np.uint32(content[at + byte]) << np.uint32(8 * byte)
            found = _mixed(found, word)
        for at in range(whole, end):
            found = _mixed(found, np.uint32(np.int32(np.int8(content[at]))))
        hashes[i] = _finished(found, end - begin)
