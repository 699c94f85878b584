"""Graphlets where events consume the trends that they lengthen: skip-till-next-match and contiguous.

A burst then takes trends along: each event, or all events of one time together, put longer trends in the place of what
there was. So a graphlet has two snapshots and no more: 0, the trends that nothing consumes (the empty one, where the
Kleene sub-pattern begins the pattern), which every event lengthens anew; and 1, all others. Where events are taken by
some sharers only, all that a sharer has is evaluated and becomes its new value of snapshot 1 (at event level).

Trends that end for good are added up in coefficients of their own, `room.ended`.
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
"""Places in the table of snapshots: the two there are, and room to make the second anew."""


@part
def start_again(room):
    """Nothing in the burst has lengthened a trend yet: each is as its snapshot says."""
    c = room.words
    clear(room.coefficients, 0, 2 * room.lanes * c)
    set_one(room.coefficients, room.lanes * c)
    clear(room.ended, 0, 2 * room.lanes * c)
    for key in range(2 * room.keys):
        room.least[key] = NONE
        room.ended_least[key] = NONE


@part
def open_consuming(kleene, mask, slot, members, sharers, room, numbers, least, w, flag):
    """Both snapshots at graphlet level. Of how many sharers there are any trends, the lanes of these, and the flag."""
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
            clear_trends(room.values, dst, room.value_least, dst_key, width, keys)
            place = dst + room.value_width
            place_key = dst_key + room.least_width
            copy(room.values, place, numbers, base + sharers.target[s] * width, width)
            copy(room.value_least, place_key, least, least_base + sharers.target[s] * keys, keys)
            for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
                snapshot = CONSUMED if sharers.input_consumed[k] else KEPT
                flag = add_trends(
                    room.values, dst + snapshot * room.value_width,
                    room.value_least, dst_key + snapshot * room.least_width,
                    numbers, base + sharers.input[k] * width, least, least_base + sharers.input[k] * keys,
                    width, keys, w, flag,
                )  # fmt: skip
            any_trends |= not (is_zero(room.values, dst, w) and is_zero(room.values, place, w))
        room.alive[s] = any_trends
        if any_trends:
            alive += 1
            lanes |= ONE << np.uint64(sharers.lane[s])
    start_again(room)
    return alive, lanes, flag


@part
def of_one_time(events, after, i, mask, sharers):
    """The event behind those of one time; do any sharers take any of these, and do all take the same?"""
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
def take_along(events, after, i, end, kleene, mask, sharers, room, wide):
    """Events of one time, each of which all sharers take or none. The flag of coefficients."""
    c = room.words
    copy(room.before, 0, room.coefficients, 0, 2 * room.lanes * c)
    copy(room.before_least, 0, room.least, 0, 2 * room.keys)
    clear(room.coefficients, 0, 2 * room.lanes * c)
    for key in range(2 * room.keys):
        room.least[key] = NONE
    while i != end:
        if sharers.takes[events.kind[i]] & mask != NOBODY:
            for snapshot in range(KEPT if sharers.begins[kleene] else CONSUMED, NEW):
                wide = add_event(
                    events, i, kleene, snapshot, sharers, room, room.before, room.before_least,
                    snapshot * room.lanes * c, snapshot * room.keys, wide,
                )  # fmt: skip
        i = after[i]
    if sharers.ends[kleene]:
        for place in range(0, 2 * room.lanes * c, c):
            wide = add(room.ended, place, room.coefficients, place, c, wide)
        for key in range(2 * room.keys):
            room.ended_least[key] = min(room.ended_least[key], room.least[key])
    return wide


@part
def end_for_good(s, kleene, row, slot, members, sharers, room, numbers, least, w, flag):
    """All trends that ended with events of the graphlet so far, to those that ended with earlier ones."""
    m = sharers.member[s]
    state = row * members.states[m] + sharers.end[s]
    place = members.base[m] + slot * members.block[m] + state * members.lanes[m] * w
    least_place = members.least_base[m] + slot * members.least_block[m] + state * members.keys[m]
    return evaluate(
        s, kleene, row, NEW, members, sharers, room, room.ended, room.ended_least, False,
        numbers, place, least, least_place, w, flag,
    )  # fmt: skip


@part
def take_apart(events, after, i, end, kleene, mask, slot, members, sharers, room, numbers, least, w, flag):
    """Events of one time that some sharers take and others do not: for each, a new value of snapshot 1."""
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
                flag = end_for_good(s, kleene, row, slot, members, sharers, room, numbers, least, w, flag)
            first = sharers.value_at[s] + row * width
            first_key = sharers.least_at[s] + row * keys
            new, new_key = first + NEW * room.value_width, first_key + NEW * room.least_width
            clear_trends(room.values, new, room.value_least, new_key, width, keys)
            if took or sharers.consumes != EVERYTHING:
                flag = evaluate(
                    s, kleene, row, NEW, members, sharers, room, room.coefficients, room.least, took,
                    room.values, new, room.value_least, new_key, w, flag,
                )  # fmt: skip
            if took:
                flag = lengthen_new(events, after, i, end, s, kleene, row, members, sharers, room, w, flag)
                if sharers.end[s] >= 0:
                    state = row * members.states[m] + sharers.end[s]
                    flag = add_trends(
                        numbers, members.base[m] + slot * members.block[m] + state * width,
                        least, members.least_base[m] + slot * members.least_block[m] + state * keys,
                        room.values, new, room.value_least, new_key, width, keys, w, flag,
                    )  # fmt: skip
            copy(room.values, first + CONSUMED * room.value_width, room.values, new, width)
            copy(room.value_least, first_key + CONSUMED * room.least_width, room.value_least, new_key, keys)
    start_again(room)
    return flag


@part
def lengthen_new(events, after, i, end, s, kleene, row, members, sharers, room, w, flag):
    """The trends at NEW, each lengthened by each of the events that the sharer takes."""
    m = sharers.member[s]
    width = members.lanes[m] * w
    keys = members.keys[m]
    new = sharers.value_at[s] + row * width + NEW * room.value_width
    new_key = sharers.least_at[s] + row * keys + NEW * room.least_width
    old, old_key = new + room.value_width, new_key + room.least_width
    copy(room.values, old, room.values, new, width)
    copy(room.value_least, old_key, room.value_least, new_key, keys)
    clear_trends(room.values, new, room.value_least, new_key, width, keys)
    while i != end:
        if in_lanes(sharers.takes[events.kind[i]], sharers.lane[s]) and not is_zero(room.values, old, w):
            flag = add_trends(
                room.values, new, room.value_least, new_key, room.values, old, room.value_least, old_key,
                width, keys, w, flag,
            )  # fmt: skip
            flag = lengthen_by(events, i, s, kleene, m, members, sharers, room.values, old, room.values, new, w, flag)
            shorten_to(events, i, s, kleene, keys, sharers, room.value_least, new_key)
        i = after[i]
    return flag


@part
def propagate_consuming(
    events, after, first, end, kleene, mask, slot, members, sharers, room, numbers, least, w, flag, wide
):
    """The events of a burst through a graphlet. (snapshots made, flag of values, flag of coefficients)"""
    snapshots = 1
    i = first
    while i != end:
        j, some, alike = of_one_time(events, after, i, mask, sharers)
        if not alike:
            flag = take_apart(events, after, i, j, kleene, mask, slot, members, sharers, room, numbers, least, w, flag)
            snapshots += 1
        elif some or sharers.consumes == EVERYTHING:
            wide = take_along(events, after, i, j, kleene, mask, sharers, room, wide)
        i = j
    return snapshots, flag, wide


@part
def close_consuming(kleene, mask, slot, members, sharers, room, numbers, least, w, flag):
    """What the burst's events left, per sharer, in the place of what they consumed."""
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
                s, kleene, row, NEW, members, sharers, room, room.coefficients, room.least, False,
                numbers, base + sharers.target[s] * width, least, least_base + sharers.target[s] * keys, w, flag,
            )  # fmt: skip
            if sharers.end[s] >= 0:
                flag = end_for_good(s, kleene, row, slot, members, sharers, room, numbers, least, w, flag)
    return flag


@kernel
def take_along_all(events, after, first, end, kleene, mask, slot, members, sharers, room, numbers, least, w):
    """A burst through a graphlet that is open, to its end. (snapshots, both flags)"""
    snapshots, flag, wide = propagate_consuming(
        events, after, first, end, kleene, mask, slot, members, sharers, room, numbers, least, w,
        np.int64(0), np.int64(0),
    )  # fmt: skip
    flag = close_consuming(kleene, mask, slot, members, sharers, room, numbers, least, w, flag)
    return snapshots, flag, wide
