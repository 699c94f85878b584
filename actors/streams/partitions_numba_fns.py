"""Number texts and tuples of words in the order in which they are first seen, with hash tables.

Open addressing, linear probing; `table` holds numbers or -1. A kernel stops when the table or
a store is full and returns how far it came; the caller enlarges them and calls it again.

Hashes are by simple tabulation (Patrascu and Thorup, The Power of Simple Tabulation Hashing): each byte of a word picks
a random number, and these are joined by XOR. Linear probing takes constant time for any keys that were chosen without
knowledge of the numbers. `secret`: (byte of a word, its value).
"""

from __future__ import annotations

import numpy as np

from elsinore.planner.kernels.compiled import kernel, part


@part
def _hashed(word, secret):
    h = secret[0, word & np.uint64(255)]
    for k in range(1, 8):
        h ^= secret[k, (word >> np.uint64(8 * k)) & np.uint64(255)]
    return h


@part
def hash_words(words, i, secret):
    h = np.uint64(0)
    for k in range(words.shape[0]):
        h = _hashed(h ^ np.uint64(words[k, i]), secret)
    return h


@part
def hash_bytes(data, lo, hi, secret):
    h = _hashed(np.uint64(hi - lo), secret)
    for start in range(lo, hi, 8):
        word = np.uint64(0)
        for k in range(start, min(start + 8, hi)):
            word = (word << np.uint64(8)) | np.uint64(data[k])
        h = _hashed(h ^ word, secret)
    return h


@kernel
def number_tuples(words, valid, first, table, secret, keys, count, out):
    """Number the tuples `words[:, i]`; -1 where not valid. Return (tuples done, tuples known)."""
    mask = np.uint64(len(table) - 1)
    width = words.shape[0]
    for i in range(first, words.shape[1]):
        if not valid[i]:
            out[i] = -1
            continue
        place = hash_words(words, i, secret) & mask
        while True:
            number = table[place]
            if number < 0:
                if 2 * (count + 1) > len(table) or count >= keys.shape[1]:
                    return i, count
                table[place] = count
                for k in range(width):
                    keys[k, count] = words[k, i]
                out[i] = count
                count += 1
                break
            same = True
            for k in range(width):
                if keys[k, number] != words[k, i]:
                    same = False
                    break
            if same:
                out[i] = number
                break
            place = (place + np.uint64(1)) & mask
    return words.shape[1], count


@kernel
def number_words(words, valid, first, table, secret, keys, count, low, direct, out):
    """Number single words as `number_tuples` does tuples; most keys are single words.

    `direct` has the numbers of the words from `low` on, as far as they are known, else -1.
    """
    mask = np.uint64(len(table) - 1)
    for i in range(first, len(words)):
        if not valid[i]:
            out[i] = -1
            continue
        word = words[i]
        at = np.uint64(word - low)
        if at < np.uint64(len(direct)) and direct[at] >= 0:
            out[i] = direct[at]
            continue
        place = _hashed(np.uint64(word), secret) & mask
        number = table[place]
        while number >= 0 and keys[number] != word:
            place = (place + np.uint64(1)) & mask
            number = table[place]
        if number < 0:
            if 2 * (count + 1) > len(table) or count >= len(keys):
                return i, count
            number = count
            table[place] = number
            keys[number] = word
            count += 1
        if at < np.uint64(len(direct)):
            direct[at] = number
        out[i] = number
    return len(words), count


@kernel
def place_tuples(keys, count, table, secret):
    """Fill an empty table with tuples that are numbered already."""
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        place = hash_words(keys, number, secret) & mask
        while table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table[place] = number


@kernel
def number_texts(offsets, data, first, table, secret, ends, arena, count, out):
    """Number texts by their bytes; text n is arena[ends[n]:ends[n + 1]]. Return (texts done, texts known)."""
    mask = np.uint64(len(table) - 1)
    for i in range(first, len(offsets) - 1):
        lo, hi = offsets[i], offsets[i + 1]
        place = hash_bytes(data, lo, hi, secret) & mask
        while True:
            number = table[place]
            if number < 0:
                start = ends[count]
                if 2 * (count + 1) > len(table) or count + 1 >= len(ends) or start + hi - lo > len(arena):
                    return i, count
                for k in range(hi - lo):
                    arena[start + k] = data[lo + k]
                count += 1
                ends[count] = start + hi - lo
                table[place] = count - 1
                out[i] = count - 1
                break
            start = ends[number]
            same = ends[number + 1] - start == hi - lo
            k = 0
            while same and k < hi - lo:
                same = arena[start + k] == data[lo + k]
                k += 1
            if same:
                out[i] = number
                break
            place = (place + np.uint64(1)) & mask
    return len(offsets) - 1, count


@kernel
def place_texts(ends, arena, count, table, secret):
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        place = hash_bytes(arena, ends[number], ends[number + 1], secret) & mask
        while table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table[place] = number


@kernel
def note_times(slots, times, last_seen):
    """Note the time of the last event of each partition; times are sorted."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            last_seen[slots[i]] = times[i]
