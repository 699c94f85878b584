"""Evaluate graphlets whose events consume the trends that they extend: skip-till-next-match and contiguous.

Each event, or all events of one time together, replace the trends that they extend by longer ones. So a graphlet has
exactly two snapshots: 0, the trends that nothing consumes (the empty one, where the Kleene sub-pattern begins the
pattern), which every event extends anew; and 1, all others. When only some sharers take an event, all trends of a
sharer are evaluated and become its new value of snapshot 1 (at event level).

Trends that end for good are added up in coefficients of their own, `work.ended`.
"""

from __future__ import annotations

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.algebra.numbers_numba_fns import add, clear, copy, is_zero, set_one
from elsinore.actors.hamlet.graphlets_numba_fns import (
    EVERYTHING,
    NOBODY,
    ONE,
    add_event,
    add_trends,
    clear_trends,
    evaluate,
    in_lanes,
    lengthen_by,
    shorten_to,
)
from elsinore.planner.kernels.compiled import kernel, part

KEPT, CONSUMED, NEW, LENGTHENED = 0, 1, 2, 3
"""Places in the table of snapshots: the two snapshots, and memory to compute a new value of the second."""


@part
def start_again(work):
    """Reset the coefficients: no event has extended a trend yet, so each snapshot stands for itself."""
    c = work.words
    clear(work.coefficients, 0, 2 * work.lanes * c)
    set_one(work.coefficients, work.lanes * c)
    clear(work.ended, 0, 2 * work.lanes * c)
    for key in range(2 * work.keys):
        work.least[key] = NONE
        work.ended_least[key] = NONE


@part
def open_consuming(kleene, mask, slot, members, sharers, work, numbers, least, w, flag):
    """Write both snapshots at graphlet level. Return (how many sharers have trends, their lanes as bits, flag)."""
    alive = 0
    lanes = NOBODY
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        width = members.lanes[m] * w
        keys = members.keys[m]
        any_trends = False
        for row in range(members.rows[m]):
            state = row * members.states[m]
            base = members.base[m] + slot * members.block[m] + state * width
            least_base = members.least_base[m] + slot * members.least_block[m] + state * keys
            dst = sharers.value_at[s] + row * width
            dst_key = sharers.least_at[s] + row * keys
            clear_trends(work.values, dst, work.value_least, dst_key, width, keys)
            place = dst + work.value_width
            place_key = dst_key + work.least_width
            copy(work.values, place, numbers, base + sharers.target[s] * width, width)
            copy(work.value_least, place_key, least, least_base + sharers.target[s] * keys, keys)
            for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
                snapshot = CONSUMED if sharers.input_consumed[k] else KEPT
                flag = add_trends(
                    work.values, dst + snapshot * work.value_width,
                    work.value_least, dst_key + snapshot * work.least_width,
                    numbers, base + sharers.input[k] * width, least, least_base + sharers.input[k] * keys,
                    width, keys, w, flag,
                )  # fmt: skip
            any_trends |= not (is_zero(work.values, dst, w) and is_zero(work.values, place, w))
        work.alive[s] = any_trends
        if any_trends:
            alive += 1
            lanes |= ONE << np.uint64(sharers.lane[s])
    start_again(work)
    return alive, lanes, flag


@part
def of_one_time(events, after, i, mask, sharers):
    """Return (the event behind those of one time, whether any sharer takes one, whether all take the same)."""
    time = events.time[i]
    some = NOBODY
    alike = True
    while i >= 0 and events.time[i] == time:
        took = sharers.takes[events.kind[i]] & mask
        some |= took
        alike &= took == NOBODY or took == mask
        i = after[i]
    return i, some != NOBODY, alike


@part
def take_along(events, after, i, end, kleene, mask, sharers, work, wide):
    """Apply events of one time, each taken by all sharers or by none. Return the flag of coefficients."""
    c = work.words
    copy(work.before, 0, work.coefficients, 0, 2 * work.lanes * c)
    copy(work.before_least, 0, work.least, 0, 2 * work.keys)
    clear(work.coefficients, 0, 2 * work.lanes * c)
    for key in range(2 * work.keys):
        work.least[key] = NONE
    while i != end:
        if sharers.takes[events.kind[i]] & mask != NOBODY:
            for snapshot in range(KEPT if sharers.begins[kleene] else CONSUMED, NEW):
                wide = add_event(
                    events, i, kleene, snapshot, sharers, work, work.before, work.before_least,
                    snapshot * work.lanes * c, snapshot * work.keys, wide,
                )  # fmt: skip
        i = after[i]
    if sharers.ends[kleene]:
        for place in range(0, 2 * work.lanes * c, c):
            wide = add(work.ended, place, work.coefficients, place, c, wide)
        for key in range(2 * work.keys):
            work.ended_least[key] = min(work.ended_least[key], work.least[key])
    return wide


@part
def end_for_good(s, kleene, row, slot, members, sharers, work, numbers, least, w, flag):
    """Add the trends that ended within the graphlet so far to those that ended before it."""
    m = sharers.member[s]
    state = row * members.states[m] + sharers.end[s]
    place = members.base[m] + slot * members.block[m] + state * members.lanes[m] * w
    least_place = members.least_base[m] + slot * members.least_block[m] + state * members.keys[m]
    return evaluate(
        s, kleene, row, NEW, members, sharers, work, work.ended, work.ended_least, False,
        numbers, place, least, least_place, w, flag,
    )  # fmt: skip


@part
def take_apart(events, after, i, end, kleene, mask, slot, members, sharers, work, numbers, least, w, flag):
    """Apply events of one time that only some sharers take: give each sharer a new value of snapshot 1."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        width = members.lanes[m] * w
        keys = members.keys[m]
        took = False
        k = i
        while k != end:
            took |= in_lanes(sharers.takes[events.kind[k]], sharers.lane[s])
            k = after[k]
        for row in range(members.rows[m]):
            if sharers.end[s] >= 0:
                flag = end_for_good(s, kleene, row, slot, members, sharers, work, numbers, least, w, flag)
            first = sharers.value_at[s] + row * width
            first_key = sharers.least_at[s] + row * keys
            new, new_key = first + NEW * work.value_width, first_key + NEW * work.least_width
            clear_trends(work.values, new, work.value_least, new_key, width, keys)
            if took or sharers.consumes != EVERYTHING:
                flag = evaluate(
                    s, kleene, row, NEW, members, sharers, work, work.coefficients, work.least, took,
                    work.values, new, work.value_least, new_key, w, flag,
                )  # fmt: skip
            if took:
                flag = lengthen_new(events, after, i, end, s, kleene, row, members, sharers, work, w, flag)
                if sharers.end[s] >= 0:
                    state = row * members.states[m] + sharers.end[s]
                    flag = add_trends(
                        numbers, members.base[m] + slot * members.block[m] + state * width,
                        least, members.least_base[m] + slot * members.least_block[m] + state * keys,
                        work.values, new, work.value_least, new_key, width, keys, w, flag,
                    )  # fmt: skip
            copy(work.values, first + CONSUMED * work.value_width, work.values, new, width)
            copy(work.value_least, first_key + CONSUMED * work.least_width, work.value_least, new_key, keys)
    start_again(work)
    return flag


@part
def lengthen_new(events, after, i, end, s, kleene, row, members, sharers, work, w, flag):
    """Extend each of the trends at NEW by each of the events that the sharer takes."""
    m = sharers.member[s]
    width = members.lanes[m] * w
    keys = members.keys[m]
    new = sharers.value_at[s] + row * width + NEW * work.value_width
    new_key = sharers.least_at[s] + row * keys + NEW * work.least_width
    old, old_key = new + work.value_width, new_key + work.least_width
    copy(work.values, old, work.values, new, width)
    copy(work.value_least, old_key, work.value_least, new_key, keys)
    clear_trends(work.values, new, work.value_least, new_key, width, keys)
    while i != end:
        if in_lanes(sharers.takes[events.kind[i]], sharers.lane[s]) and not is_zero(work.values, old, w):
            flag = add_trends(
                work.values, new, work.value_least, new_key, work.values, old, work.value_least, old_key,
                width, keys, w, flag,
            )  # fmt: skip
            flag = lengthen_by(events, i, s, kleene, m, members, sharers, work.values, old, work.values, new, w, flag)
            shorten_to(events, i, s, kleene, keys, sharers, work.value_least, new_key)
        i = after[i]
    return flag


@part
def propagate_consuming(
    events, after, first, end, kleene, mask, slot, members, sharers, work, numbers, least, w, flag, wide
):
    """Propagate the events of a burst. Return (snapshots made, flag of values, flag of coefficients)."""
    snapshots = 1
    i = first
    while i != end:
        j, some, alike = of_one_time(events, after, i, mask, sharers)
        if not alike:
            flag = take_apart(events, after, i, j, kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
            snapshots += 1
        elif some or sharers.consumes == EVERYTHING:
            wide = take_along(events, after, i, j, kleene, mask, sharers, work, wide)
        i = j
    return snapshots, flag, wide


@part
def close_consuming(kleene, mask, slot, members, sharers, work, numbers, least, w, flag):
    """Replace the trends that the burst consumed by those that it left, per sharer."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        width = members.lanes[m] * w
        keys = members.keys[m]
        for row in range(members.rows[m]):
            state = row * members.states[m]
            base = members.base[m] + slot * members.block[m] + state * width
            least_base = members.least_base[m] + slot * members.least_block[m] + state * keys
            for k in range(sharers.consumed_at[s], sharers.consumed_at[s + 1]):
                gone = sharers.consumed[k]
                if not is_zero(numbers, base + gone * width, w):
                    clear_trends(numbers, base + gone * width, least, least_base + gone * keys, width, keys)
            flag = evaluate(
                s, kleene, row, NEW, members, sharers, work, work.coefficients, work.least, False,
                numbers, base + sharers.target[s] * width, least, least_base + sharers.target[s] * keys, w, flag,
            )  # fmt: skip
            if sharers.end[s] >= 0:
                flag = end_for_good(s, kleene, row, slot, members, sharers, work, numbers, least, w, flag)
    return flag


@kernel
def take_along_all(events, after, first, end, kleene, mask, slot, members, sharers, work, numbers, least, w):
    """Run a burst through an open graphlet to its end. Return (snapshots, both flags)."""
    snapshots, flag, wide = propagate_consuming(
        events, after, first, end, kleene, mask, slot, members, sharers, work, numbers, least, w,
        np.int64(0), np.int64(0),
    )  # fmt: skip
    flag = close_consuming(kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
    return snapshots, flag, wide
