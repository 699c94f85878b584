"""Construct the trends of one partition in one window one by one, depth first, and then aggregate them.

A trend under construction goes through the times of its window in order, in one state of the
machine. At every time, each event that it is adjacent to extends a copy of it, which is
constructed to the end first; then the trend itself may be consumed, or a guard may advance.
A trend that is accepted when the window ends is a trend of the query. Machines distinguish trends
by their events and variables only, so none is constructed twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.numbers_numba_fns import add, add_times
from elsinore.actors.neighbours.entries_numba_fns import all_hold
from elsinore.actors.windows.windows_numba_fns import award, claim, release
from elsinore.planner.kernels.compiled import kernel, part


class Path(NamedTuple):
    """A trend with all its prefixes, by their number of events; the first has none."""

    accepts: Any  # by state
    later: Any  # by event: the first of a later time
    event: Any  # the last event, and what the append binds it to
    bound: Any
    state: Any
    now: Any  # the first event of the time that the prefix has reached
    looked: Any  # the event of that time, and the append, to try next
    append: Any


@part
def start(path, depth, event, bound, state, now):
    path.event[depth] = event
    path.bound[depth] = bound
    path.state[depth] = state
    path.now[depth] = now
    path.looked[depth] = now
    path.append[depth] = -1


@part
def behind(events, first, end, last, state, tables, single, links):
    """Return the state of a trend after the events of a time, or -1."""
    symbol = 0
    for j in range(first, end):
        kind = events.kind[j]
        for c in range(tables.consume_at[kind], tables.consume_at[kind + 1]):
            if tables.consume_from[c] == state and all_hold(
                single.consume_links_at, c, single.consume_link, single.link_operator, links, last, j
            ):
                state = tables.consume_to[c]
        symbol = tables.union[symbol, tables.symbol[kind]]
    for m in range(tables.advance_at[symbol], tables.advance_at[symbol + 1]):
        if tables.advance_from[m] == state:
            state = tables.advance_to[m]
    return state


@part
def lengthen(events, hi, depth, tables, single, links, path):
    """Advance a trend in time to the next append that extends it. Return it, or -1 at the end of the window."""
    state = path.state[depth]
    last = path.event[depth]
    first, j, a = path.now[depth], path.looked[depth], path.append[depth]
    while state >= 0 and tables.row_of[state] >= 0 and first < hi:
        end = path.later[first]
        while j < end:
            kind = events.kind[j]
            a = max(a, tables.append_at[kind])
            while a < tables.append_at[kind + 1]:
                if tables.append_from[a] == state and all_hold(
                    single.append_links_at, a, single.append_link, single.link_operator, links, last, j
                ):
                    path.state[depth] = state
                    path.now[depth], path.looked[depth], path.append[depth] = first, j, a + 1
                    return a
                a += 1
            j += 1
            a = -1
        state = behind(events, first, end, last, state, tables, single, links)
        first = end
    path.state[depth] = state
    return -1


@part
def aggregate(events, depth, tables, shape, path, one, out, o, out_least, o_least, flag):
    """Add a whole trend to a row of results, event by event."""
    w = shape.words
    flag = add(out, o, one, 0, w, flag)
    for d in range(1, depth + 1):
        i, bound = path.event[d], path.bound[d]
        for b in range(tables.bound_at[bound], tables.bound_at[bound + 1]):
            place = o + tables.bound_lane[b] * w
            column = tables.bound_column[b]
            if column < 0:
                flag = add(out, place, one, 0, w, flag)
            else:
                flag = add_times(out, place, one, 0, events.values[column, i], w, flag)
        for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
            key = tables.least_key[b]
            out_least[o_least + key] = min(out_least[o_least + key], events.keys[key, i])
    return flag


@part
def mark_times(events, lo, hi, path):
    for i in range(hi - 1, lo - 1, -1):
        alone = i + 1 == hi or events.time[i + 1] != events.time[i]
        path.later[i] = i + 1 if alone else path.later[i + 1]


@kernel
def construct(events, lo, hi, tables, single, links, shape, path, one, budget, out, o, out_least, o_least, flag):
    """Construct all trends of a window and partition. Return (trends, whole or partial; whether any is whole; flag)."""
    mark_times(events, lo, hi, path)
    made = 0
    found = False
    depth = 0
    start(path, depth, lo, 0, 0, lo)
    while depth >= 0:
        a = lengthen(events, hi, depth, tables, single, links, path)
        if a >= 0:
            made += 1
            if made > budget:
                break
            i = path.looked[depth]
            depth += 1
            start(path, depth, i, tables.append_bound[a], tables.append_to[a], path.later[i])
            continue
        if path.state[depth] >= 0 and path.accepts[path.state[depth]]:
            found = True
            flag = aggregate(events, depth, tables, shape, path, one, out, o, out_least, o_least, flag)
            if flag >> 62:
                break
        depth -= 1
    return made, found, flag


@kernel
def construct_partitions(
    events, runs, tables, single, links, shape, path, one, budget, group_of, result_of, out, out_least, out_group,
):  # fmt: skip
    """Construct one window, partition by partition. Return (rows, trends, flag)."""
    rows, made = 0, 0
    flag = np.int64(0)
    for slot in range(len(runs) - 1):
        if runs[slot] == runs[slot + 1]:
            continue
        group = group_of[slot]
        place = claim(group, rows, result_of, shape, out, out_least)
        more, found, flag = construct(
            events, runs[slot], runs[slot + 1], tables, single, links, shape, path, one, budget - made,
            out, place * shape.lanes * shape.words, out_least, place * shape.keys, flag,
        )  # fmt: skip
        made += more
        rows = award(found, group, place, rows, result_of, out_group)
        if made > budget or flag >> 62:
            break
    release(rows, result_of, out_group)
    return rows, made, flag


@kernel
def construct_moments(
    events, runs, within, moment_at, moments, group_of, row_of, tables, single, links, shape, path, one, budget,
    out, out_least, found,
):  # fmt: skip
    """Construct windows that end at the moments of their group.

    Return (trends, the end of the last window, flag).
    """
    made = 0
    end = np.int64(0)
    flag = np.int64(0)
    for slot in range(len(runs) - 1):
        lo, hi = runs[slot], runs[slot]
        first = moment_at[group_of[slot]]
        for m in range(first, moment_at[group_of[slot] + 1]):
            end = moments[m]
            while hi < runs[slot + 1] and events.time[hi] <= end:
                hi += 1
            while lo < hi and events.time[lo] <= end - within:
                lo += 1
            if lo == hi:
                continue
            row = row_of[slot] + m - first
            more, some, flag = construct(
                events, lo, hi, tables, single, links, shape, path, one, budget - made,
                out, row * shape.lanes * shape.words, out_least, row * shape.keys, flag,
            )  # fmt: skip
            made += more
            found[row] |= some
            if made > budget or flag >> 62:
                return made, end, flag
    return made, end, flag
