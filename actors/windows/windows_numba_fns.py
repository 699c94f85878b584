"""Close windows: write rows of results over groups, and compose the maps of panes.

Axes as in `counters_numba_fns`. A result has `lane`, word per group and window.
"""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE, Shape, begin, collect, collect_rows, compose, identity
from elsinore.actors.algebra.numbers_numba_fns import clear, copy
from elsinore.planner.kernels.compiled import kernel, part


@part
def claim(group, rows, result_of, shape, out, out_least):
    """Return the place of a group's result; clear a new one if the group has none yet."""
    place = result_of[group]
    if place < 0:
        place = rows
        clear(out, place * shape.lanes * shape.words, shape.lanes * shape.words)
        for key in range(place * shape.keys, (place + 1) * shape.keys):
            out_least[key] = NONE
    return place


@part
def award(found, group, place, rows, result_of, out_group):
    """Keep the place of a group that has finished trends. Return how many groups have one."""
    if found and result_of[group] < 0:
        result_of[group] = place
        out_group[place] = group
        return rows + 1
    return rows


@part
def release(rows, result_of, out_group):
    """Forget the results of a window, so that the next one starts with none."""
    for k in range(rows):
        result_of[out_group[k]] = -1


@kernel
def emit_rows(
    shape, tables, numbers, least, first, last, since, pane_of, group_of, result_of, out, out_least, out_group
):
    """Collect the finished trends of rows `first` to `last` of every partition touched since a pane, by group.

    Return (results, flag).
    """
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    rows = 0
    flag = np.int64(0)
    for slot in range(len(group_of)):
        if pane_of[slot] < since:
            continue
        group = group_of[slot]
        place = claim(group, rows, result_of, shape, out, out_least)
        found, flag = collect_rows(
            shape, tables, numbers, slot * block, least, slot * least_block, first, last,
            out, place * shape.lanes * shape.words, out_least, place * shape.keys, flag,
        )  # fmt: skip
        rows = award(found, group, place, rows, result_of, out_group)
    release(rows, result_of, out_group)
    return rows, flag


@kernel
def emit_maps(
    shape, tables, vectors, vectors_least, back, back_least, since, pane_of, group_of, result_of,
    joined, joined_least, out, out_least, out_group,
):  # fmt: skip
    """Do as `emit_rows` where a window is `vectors` (the panes before the middle) times `back` (those behind it)."""
    width = shape.states * shape.lanes * shape.words
    block = shape.rows * width
    keys = shape.states * shape.keys
    rows = 0
    flag = np.int64(0)
    for slot in range(len(group_of)):
        if pane_of[slot] < since:
            continue
        flag |= compose(
            shape, tables, vectors, slot * width, vectors_least, slot * keys, shape.words, 1,
            back, slot * block, back_least, slot * shape.rows * keys, shape.words, joined, 0, joined_least, 0, True,
        )  # fmt: skip
        group = group_of[slot]
        place = claim(group, rows, result_of, shape, out, out_least)
        found, flag = collect(
            shape, tables, joined, 0, joined_least, 0,
            out, place * shape.lanes * shape.words, out_least, place * shape.keys, flag,
        )  # fmt: skip
        rows = award(found, group, place, rows, result_of, out_group)
    release(rows, result_of, out_group)
    return rows, flag


@kernel
def begin_rows(shape, numbers, least, row, empty, since, pane_of):
    """Start a row anew, with so many empty trends, in every partition touched since a pane."""
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    for slot in range(len(pane_of)):
        if pane_of[slot] >= since:
            begin(shape, numbers, slot * block, least, slot * least_block, row, empty)


@kernel
def move_empty(shape, numbers, row, first, count):
    """Let the empty trend of the partitions `first` to `count` be in one row only."""
    width = shape.states * shape.lanes * shape.words
    for slot in range(first, count):
        for other in range(shape.rows):
            numbers[(slot * shape.rows + other) * width] = other == row


@kernel
def begin_all(shape, numbers, least, first, count):
    """Start all rows of the partitions `first` to `count` anew."""
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    for slot in range(first, count):
        for row in range(shape.rows):
            begin(shape, numbers, slot * block, least, slot * least_block, row, 1)


@kernel
def identity_all(shape, tables, numbers, least, first, count):
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    for slot in range(first, count):
        identity(shape, tables, numbers, slot * block, least, slot * least_block)


@kernel
def fold(shape, tables, slots, first, numbers, least, c, back, back_least, joined, joined_least):
    """Compute back = back · pane, and empty the pane, for its partitions from `first` on.

    Numbers of the pane have `c` words. Return the first partition whose numbers overflow, or the number of partitions.
    """
    places = shape.rows * shape.states * shape.lanes
    block = places * shape.words
    least_block = shape.rows * shape.states * shape.keys
    pane_shape = Shape(shape.rows, shape.states, shape.lanes, shape.keys, c)
    for s in range(first, len(slots)):
        base = slots[s] * block
        least_base = slots[s] * least_block
        pane = slots[s] * places * c
        flag = compose(
            shape, tables, back, base, back_least, least_base, shape.words, shape.rows,
            numbers, pane, least, least_base, c, joined, 0, joined_least, 0, False,
        )  # fmt: skip
        if flag >> 62:
            return s
        copy(back, base, joined, 0, block)
        copy(back_least, least_base, joined_least, 0, least_block)
        identity(pane_shape, tables, numbers, pane, least, least_base)
    return len(slots)


@kernel
def prepend(
    shape, tables, slots, pane, pane_least, c, suffix, suffix_least, vectors, vectors_least, joined, joined_least
):
    """Compute suffix = pane · suffix, and copy its first row, the window that starts with this pane, to `vectors`.

    Numbers of the pane have `c` words.
    """
    places = shape.rows * shape.states * shape.lanes
    width = shape.states * shape.lanes * shape.words
    block = shape.rows * width
    keys = shape.states * shape.keys
    flag = np.int64(0)
    for s in range(len(slots)):
        base = slots[s] * block
        least_base = slots[s] * shape.rows * keys
        flag |= compose(
            shape, tables, pane, s * places * c, pane_least, s * shape.rows * keys, c, shape.rows,
            suffix, base, suffix_least, least_base, shape.words, joined, 0, joined_least, 0, False,
        )  # fmt: skip
        copy(suffix, base, joined, 0, block)
        copy(suffix_least, least_base, joined_least, 0, shape.rows * keys)
        copy(vectors, slots[s] * width, joined, 0, width)
        copy(vectors_least, slots[s] * keys, joined_least, 0, keys)
    return flag
