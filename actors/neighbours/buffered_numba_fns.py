"""Evaluate windows over buffered events, partition by partition: by `run_window`, or with two stacks.

Events lie sorted by partition and then by time; `runs` are the bounds of the partitions.
"""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import advance, collect, compose, identity, only
from elsinore.actors.algebra.numbers_numba_fns import copy
from elsinore.actors.neighbours.entries_numba_fns import collect_window, run_window, sort_values
from elsinore.actors.windows.windows_numba_fns import award, claim, release
from elsinore.planner.kernels.compiled import allocating, kernel


@allocating
def order_by_slot(slots, count):
    """Return (the stable order of events by partition, where the events of each partition begin)."""
    at = np.zeros(count + 1, np.int64)
    if count == 1:
        at[1] = len(slots)
        return np.arange(len(slots)), at
    for slot in slots:
        at[slot + 1] += 1
    for slot in range(count):
        at[slot + 1] += at[slot]
    order = np.empty(len(slots), np.int64)
    place = at[:count].copy()
    for i in range(len(slots)):
        order[place[slots[i]]] = i
        place[slots[i]] += 1
    return order, at


@allocating
def sort_runs(links, used, runs):
    """Sort the left values of each partition, for links that are used. Return (values, how many by partition).

    The values of a partition lie from where its events begin.
    """
    order = np.empty(links.left.shape, np.int64)
    counts = np.zeros((len(links.left), len(runs) - 1), np.int64)
    for link in range(len(links.left)):
        for slot in range(len(runs) - 1 if used[link] else 0):
            count = 0
            for i in range(runs[slot], runs[slot + 1]):
                if links.left_known[link, i]:
                    order[link, runs[slot] + count] = links.left[link, i]
                    count += 1
            order[link, runs[slot] : runs[slot] + count].sort()
            counts[link, slot] = count
    return order, counts


@kernel
def run_partitions(
    events, runs, order, counts, tables, single, links, shape, work, scratch, span,
    group_of, result_of, out, out_least, out_group,
):  # fmt: skip
    """Evaluate one window: all its events, partition by partition. Return (rows, flag)."""
    rows = 0
    flag = np.int64(0)
    for slot in range(len(runs) - 1):
        if runs[slot] == runs[slot + 1]:
            continue
        for index in range(len(single.index_link)):
            link = single.index_link[index]
            work.ordered[link] = counts[link, slot]
            copy(work.order[link], 0, order[link], runs[slot], counts[link, slot])
        entries, one = run_window(
            events, runs[slot], runs[slot + 1], tables, single, links, shape, work, scratch, span
        )  # fmt: skip
        flag |= one
        if flag >> 62:
            break
        group = group_of[slot]
        place = claim(group, rows, result_of, shape, out, out_least)
        found, flag = collect_window(
            tables, single, shape, work, entries,
            out, place * shape.lanes * shape.words, out_least, place * shape.keys, flag,
        )  # fmt: skip
        rows = award(found, group, place, rows, result_of, out_group)
    release(rows, result_of, out_group)
    return rows, flag


@kernel
def run_moments(
    events, runs, within, moment_at, moments, group_of, row_of, tables, single, links, shape, work, scratch, span,
    out, out_least, found,
):  # fmt: skip
    """Evaluate windows that end at the moments of their group, each from its first event on."""
    flag = np.int64(0)
    for slot in range(len(runs) - 1):
        lo, hi = runs[slot], runs[slot]
        first = moment_at[group_of[slot]]
        for m in range(first, moment_at[group_of[slot] + 1]):
            while hi < runs[slot + 1] and events.time[hi] <= moments[m]:
                hi += 1
            while lo < hi and events.time[lo] <= moments[m] - within:
                lo += 1
            if lo == hi:
                continue
            for index in range(len(single.index_link)):
                sort_values(lo, hi, links, single.index_link[index], work)
            entries, one = run_window(events, lo, hi, tables, single, links, shape, work, scratch, span)
            flag |= one
            if flag >> 62:
                return flag
            row = row_of[slot] + m - first
            some, flag = collect_window(
                tables, single, shape, work, entries,
                out, row * shape.lanes * shape.words, out_least, row * shape.keys, flag,
            )  # fmt: skip
            found[row] |= some
    return flag


@kernel
def flip(events, after, head, tail, tables, shape, one, one_least, suffix, suffix_least, joined, joined_least,
         vectors, vectors_least, scratch):  # fmt: skip
    """Write, for each window that starts with a time in head..tail, the effect of the events up to `tail`."""
    width = shape.states * shape.lanes * shape.words
    keys = shape.states * shape.keys
    identity(shape, tables, suffix, 0, suffix_least, 0)
    flag = np.int64(0)
    end = tail
    while end > head:
        start = end - 1
        while start > head and events.time[start - 1] == events.time[start]:
            start -= 1
        identity(shape, tables, one, 0, one_least, 0)
        _, flag = advance(events, after, start, only(tables), tables, shape, one, 0, one_least, 0, scratch, flag)
        flag |= compose(
            shape, tables, one, 0, one_least, 0, shape.words, shape.rows,
            suffix, 0, suffix_least, 0, shape.words, joined, 0, joined_least, 0, False,
        )  # fmt: skip
        copy(suffix, 0, joined, 0, shape.rows * width)
        copy(suffix_least, 0, joined_least, 0, shape.rows * keys)
        copy(vectors, start * width, joined, 0, width)
        copy(vectors_least, start * keys, joined_least, 0, keys)
        end = start
    return flag


@kernel
def run_stacks(
    events, after, runs, within, moment_at, moments, group_of, row_of, tables, shape, scratch,
    back, back_least, one, one_least, suffix, suffix_least, joined, joined_least, vectors, vectors_least,
    out, out_least, found,
):  # fmt: skip
    """Evaluate the same windows for type-grained graphs with two stacks of maps, in constant time per event.

    Events before `middle` are kept as vectors, one per time behind which a window may start; those
    from it on as one map, `back`. When a window starts behind the middle, the middle moves to the end.
    """
    width = shape.states * shape.lanes * shape.words
    keys = shape.states * shape.keys
    flag = np.int64(0)
    for slot in range(len(runs) - 1):
        head, middle, tail = runs[slot], runs[slot], runs[slot]
        first = moment_at[group_of[slot]]
        if runs[slot] == runs[slot + 1]:
            continue
        identity(shape, tables, back, 0, back_least, 0)
        for m in range(first, moment_at[group_of[slot] + 1]):
            while tail < runs[slot + 1] and events.time[tail] <= moments[m]:
                _, flag = advance(
                    events, after, tail, only(tables), tables, shape, back, 0, back_least, 0, scratch, flag
                )
                time = events.time[tail]
                while tail < runs[slot + 1] and events.time[tail] == time:
                    tail += 1
            while head < tail and events.time[head] <= moments[m] - within:
                head += 1
            if head > middle:
                flag |= flip(
                    events, after, head, tail, tables, shape, one, one_least, suffix, suffix_least,
                    joined, joined_least, vectors, vectors_least, scratch,
                )  # fmt: skip
                middle = tail
                identity(shape, tables, back, 0, back_least, 0)
            if flag >> 62:
                return flag
            if head == tail:
                continue
            if head < middle:
                flag |= compose(
                    shape, tables, vectors, head * width, vectors_least, head * keys, shape.words, 1,
                    back, 0, back_least, 0, shape.words, joined, 0, joined_least, 0, True,
                )  # fmt: skip
            else:
                copy(joined, 0, back, 0, width)
                copy(joined_least, 0, back_least, 0, keys)
            row = row_of[slot] + m - first
            some, flag = collect(
                shape, tables, joined, 0, joined_least, 0,
                out, row * shape.lanes * shape.words, out_least, row * shape.keys, flag,
            )  # fmt: skip
            found[row] |= some
    return flag
