"""Evaluate graphlets: the effect of a burst of one type on the trends of many queries (HAMLET, Section 3.3).

A shared graphlet propagates *snapshots*. A snapshot is a variable with a value per sharer and row: the aggregates of
some of its trends, in the table of snapshots, at `snapshot`, sharer, row, lane, word. Per snapshot, the graphlet keeps
coefficients, at `snapshot`, lane, word: how many of the trends that end with one of its events are an extension of one
trend of the snapshot, and what these events add to the lanes, once for all sharers.
An event that all sharers take ends as many new trends as the snapshots and the graphlet have together. The trends of an
event that only some sharers take become a new snapshot, at event level, which is 0 for the other sharers.

Closing a graphlet evaluates its coefficients: coefficient times value, per sharer.

Axes of numbers and `least` as in `counters_numba_fns`; values of snapshots have as many words as the members'
numbers, coefficients have `work.words`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.algebra.numbers_numba_fns import (
    add,
    add_coefficient,
    add_times,
    clear,
    copy,
    double,
    is_zero,
    set_one,
)
from elsinore.planner.kernels.compiled import part

ONE = np.uint64(1)
NOBODY = np.uint64(0)

MOST = 2.0**61
"""The limit of sums of values that are multiplied at once; beyond it, events are added one by one."""

NOTHING, TAKEN, EVERYTHING = 0, 1, 2
"""Which trends events consume under the three semantics: any, next, contiguous."""


class Members(NamedTuple):
    """The machines whose counters lie in one buffer: member by member, and there by partition."""

    base: Any
    block: Any
    least_base: Any
    least_block: Any
    rows: Any
    states: Any
    lanes: Any
    keys: Any
    symbol: Any  # the symbol that its guards do not read
    classes: Any  # (member, kind of event), flat: its class in the tables
    kinds: Any  # how many kinds of events there are


class Sharers(NamedTuple):
    """The sharers of all Kleene sub-patterns; ranges are given by pointers into the next columns."""

    at: Any  # by Kleene
    member: Any
    target: Any
    lane: Any  # the sharers that always take the same events are one lane of their Kleene
    input_at: Any
    input: Any
    input_consumed: Any  # by input: whether an event that the sharer takes ends its trends
    consumed_at: Any
    consumed: Any  # the states that such an event empties
    end: Any  # the state of trends that end for good, or -1
    value_at: Any  # in the table of snapshots
    least_at: Any
    sum_at: Any  # by lane of the member behind the count: the graphlet's lane, 0 where events add nothing
    sum: Any
    key_at: Any  # by key of the member: the graphlet's key, -1 where events do not matter
    key: Any
    lane_at: Any  # by Kleene: the columns that a graphlet's lanes behind the count add up, -1: each event counts 1
    column: Any
    column_key_at: Any  # by Kleene: the columns that its keys compare
    column_key: Any
    takes: Any  # by kind of event: the lanes of its type's Kleene that take it
    ends: Any  # by Kleene: whether any sharer has trends that end for good
    begins: Any  # by Kleene: whether any sharer has trends before it that no event consumes
    consumes: Any  # NOTHING, those of TAKEN events, or, by any event, EVERYTHING


class GraphletWorkspace(NamedTuple):
    """The memory that one graphlet needs while it is open."""

    coefficients: Any
    least: Any
    before: Any  # coefficients as they were before the events of one time
    before_least: Any
    ended: Any  # coefficients of trends that ended for good, where events consume
    ended_least: Any
    one: Any  # the number 1
    words: Any
    lanes: Any  # of the widest graphlet, as `keys`
    keys: Any
    capacity: Any  # snapshots
    values: Any  # the table of snapshots
    value_least: Any
    alive: Any  # by sharer: whether it has trends for the burst to extend, and no graphlet that pays
    value_width: Any  # of one snapshot
    least_width: Any


@part
def in_lanes(mask, lane):
    return (mask >> np.uint64(lane)) & ONE != NOBODY


@part
def add_trends(out, o, out_least, o_least, numbers, place, least, least_place, width, keys, w, flag):
    """Add all numbers of some trends to those of others."""
    if is_zero(numbers, place, w):
        return flag
    for lane in range(0, width, w):
        flag = add(out, o + lane, numbers, place + lane, w, flag)
    for key in range(keys):
        out_least[o_least + key] = min(out_least[o_least + key], least[least_place + key])
    return flag


@part
def clear_trends(numbers, place, least, least_place, width, keys):
    clear(numbers, place, width)
    for key in range(least_place, least_place + keys):
        least[key] = NONE


@part
def open_graphlet(kleene, mask, slot, members, sharers, work, numbers, least, w, flag):
    """Write the snapshot at graphlet level (Definition 3.9): all trends that an event of the burst extends.

    Return (how many sharers have such trends, their lanes as bits, flag).
    """
    alive = 0
    lanes = NOBODY
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        width = members.lanes[m] * w
        keys = members.keys[m]
        base = members.base[m] + slot * members.block[m]
        least_base = members.least_base[m] + slot * members.least_block[m]
        any_trends = False
        for row in range(members.rows[m]):
            dst = sharers.value_at[s] + row * width
            dst_key = sharers.least_at[s] + row * keys
            state = row * members.states[m] + sharers.target[s]
            begun = not is_zero(numbers, base + state * width, w)
            for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
                begun |= not is_zero(numbers, base + (row * members.states[m] + sharers.input[k]) * width, w)
            if not begun:
                # Nothing else is read of a value whose count is 0.
                clear(work.values, dst, w)
                continue
            copy(work.values, dst, numbers, base + state * width, width)
            copy(work.value_least, dst_key, least, least_base + state * keys, keys)
            for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
                state = row * members.states[m] + sharers.input[k]
                flag = add_trends(
                    work.values, dst, work.value_least, dst_key,
                    numbers, base + state * width, least, least_base + state * keys, width, keys, w, flag,
                )  # fmt: skip
            any_trends |= not is_zero(work.values, dst, w)
        work.alive[s] = any_trends
        if any_trends:
            alive += 1
            lanes |= ONE << np.uint64(sharers.lane[s])
    c = work.words
    clear(work.coefficients, 0, work.lanes * c)
    for key in range(work.keys):
        work.least[key] = NONE
    return alive, lanes, flag


@part
def settle(kleene, mask, sharers, work):
    """Mark these sharers as done: their graphlet is open."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if in_lanes(mask, sharers.lane[s]):
            work.alive[s] = False


@part
def add_event(events, i, kleene, snapshot, sharers, work, src, src_least, dst, dst_least, flag):
    """Add the trends that event `i` ends, of one snapshot, from coefficients `src` to `dst`.

    `src` and `dst` may be the same.
    """
    c = work.words
    unit = snapshot == 0
    counted = not is_zero(src, dst, c)
    place = dst + c
    for k in range(sharers.lane_at[kleene], sharers.lane_at[kleene + 1]):
        flag = add(work.coefficients, place, src, place, c, flag)
        column = sharers.column[k]
        if column < 0:
            flag = add(work.coefficients, place, src, dst, c, flag)
            if unit:
                flag = add(work.coefficients, place, work.one, 0, c, flag)
        else:
            value = events.values[column, i]
            flag = add_times(work.coefficients, place, src, dst, value, c, flag)
            if unit:
                flag = add_times(work.coefficients, place, work.one, 0, value, c, flag)
        place += c
    if unit or counted:
        key = dst_least
        for k in range(sharers.column_key_at[kleene], sharers.column_key_at[kleene + 1]):
            best = min(src_least[key], events.keys[sharers.column_key[k], i])
            work.least[key] = min(work.least[key], best)
            key += 1
    flag = add(work.coefficients, dst, src, dst, c, flag)
    if unit:
        flag = add(work.coefficients, dst, work.one, 0, c, flag)
    return flag


@part
def evaluate(
    s, kleene, row, snapshots, members, sharers, work, src, src_least, unit, out, o, out_least, o_least, w, flag
):
    """Add the value of coefficients `src`, for one sharer and row, to the aggregates at `o`.

    With `unit`, add the snapshot at graphlet level once more, which gives all trends that an event extends.
    """
    m = sharers.member[s]
    c = work.words
    lanes = members.lanes[m]
    keys = members.keys[m]
    for snapshot in range(snapshots):
        value = snapshot * work.value_width + sharers.value_at[s] + row * lanes * w
        if is_zero(work.values, value, w):
            continue
        value_key = snapshot * work.least_width + sharers.least_at[s] + row * keys
        if unit and snapshot == 0:
            flag = add_trends(
                out, o, out_least, o_least, work.values, value, work.value_least, value_key, lanes * w, keys, w, flag
            )
        count = snapshot * work.lanes * c
        if is_zero(src, count, c):
            continue
        flag = add_coefficient(out, o, work.values, value, w, src, count, c, flag)
        for lane in range(1, lanes):
            place = o + lane * w
            flag = add_coefficient(out, place, work.values, value + lane * w, w, src, count, c, flag)
            own = sharers.sum[sharers.sum_at[s] + lane - 1]
            if own > 0:
                flag = add_coefficient(out, place, work.values, value, w, src, count + own * c, c, flag)
        for key in range(keys):
            best = work.value_least[value_key + key]
            own = sharers.key[sharers.key_at[s] + key]
            if own >= 0:
                best = min(best, src_least[snapshot * work.keys + own])
            out_least[o_least + key] = min(out_least[o_least + key], best)
    return flag


@part
def add_snapshot(events, i, kleene, mask, took, snapshots, existing, members, sharers, work, src, src_least, w, flag):
    """Write a snapshot at event level (Definition 3.11): the trends that event `i` ends, for the sharers taking it."""
    c = work.words
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        lanes = members.lanes[m]
        keys = members.keys[m]
        for row in range(members.rows[m]):
            dst = snapshots * work.value_width + sharers.value_at[s] + row * lanes * w
            dst_key = snapshots * work.least_width + sharers.least_at[s] + row * keys
            clear_trends(work.values, dst, work.value_least, dst_key, lanes * w, keys)
            if not in_lanes(took, sharers.lane[s]):
                continue
            flag = evaluate(
                s, kleene, row, existing, members, sharers, work, src, src_least, True,
                work.values, dst, work.value_least, dst_key, w, flag,
            )  # fmt: skip
            flag = lengthen_by(events, i, s, kleene, m, members, sharers, work.values, dst, work.values, dst, w, flag)
            shorten_to(events, i, s, kleene, keys, sharers, work.value_least, dst_key)
    place = snapshots * work.lanes * c
    clear(work.coefficients, place, work.lanes * c)
    set_one(work.coefficients, place)
    for key in range(snapshots * work.keys, (snapshots + 1) * work.keys):
        work.least[key] = NONE
    return flag


@part
def lengthen_by(events, i, s, kleene, m, members, sharers, counts, count, out, o, w, flag):
    """Add event `i` itself to the lanes at `o` of one sharer, once for every trend counted at `count`."""
    for lane in range(1, members.lanes[m]):
        own = sharers.sum[sharers.sum_at[s] + lane - 1]
        if own > 0:
            column = sharers.column[sharers.lane_at[kleene] + own - 1]
            if column < 0:
                flag = add(out, o + lane * w, counts, count, w, flag)
            else:
                flag = add_times(out, o + lane * w, counts, count, events.values[column, i], w, flag)
    return flag


@part
def shorten_to(events, i, s, kleene, keys, sharers, least, place):
    """Lower the minima at `place`, of trends that event `i` has extended, to the values of the event."""
    for key in range(keys):
        own = sharers.key[sharers.key_at[s] + key]
        if own >= 0:
            value = events.keys[sharers.column_key[sharers.column_key_at[kleene] + own], i]
            least[place + key] = min(least[place + key], value)


@part
def taken_alike(events, after, first, end, mask, sharers):
    """Return how many events of a burst are taken; -1 if sharers take different ones, or if two have one time."""
    n = 0
    i = first
    while i != end:
        following = after[i]
        took = sharers.takes[events.kind[i]] & mask
        if (took != mask and took != NOBODY) or (following >= 0 and events.time[following] == events.time[i]):
            return -1
        n += took == mask
        i = following
    return n


@part
def propagate_at_once(events, after, first, end, kleene, mask, n, sharers, work, wide):
    """Propagate `n` events that all sharers take. Return (whether sums of values fit a word, flag of coefficients).

    Each event ends as many trends as those before it and the snapshot have together: their number doubles with each.
    What an event adds to its trends is doubled by each event behind it: if v is the sum of all values, the result is
    2**(n - 1) v.
    """
    c = work.words
    if n == 0:
        return True, wide
    half = work.before
    copy(half, 0, work.one, 0, c)
    wide = double(half, 0, n - 1, c, wide)
    place = c
    for k in range(sharers.lane_at[kleene], sharers.lane_at[kleene + 1]):
        if sharers.column[k] < 0:
            wide = add_times(work.coefficients, place, half, 0, n, c, wide)
        else:
            fits, value = sum_taken(events, after, first, end, sharers.column[k], mask, sharers)
            if not fits:
                clear(work.coefficients, 0, place)
                return False, wide
            wide = add_times(work.coefficients, place, half, 0, value, c, wide)
        place += c
    keys = sharers.column_key_at[kleene]
    for key in range(sharers.column_key_at[kleene + 1] - keys):
        i = first
        while i != end:
            if sharers.takes[events.kind[i]] & mask == mask:
                work.least[key] = min(work.least[key], events.keys[sharers.column_key[keys + key], i])
            i = after[i]
    for _ in range(2):
        wide = add(work.coefficients, 0, half, 0, c, wide)
    return True, add_times(work.coefficients, 0, work.one, 0, -1, c, wide)


@part
def sum_taken(events, after, first, end, column, mask, sharers):
    """Add up the values of taken events in a column. Return (whether the sum fits a word, the sum)."""
    total = events.values[column, first] * 0
    i = first
    while i != end:
        if sharers.takes[events.kind[i]] & mask == mask:
            value = events.values[column, i]
            if abs(np.float64(total)) + abs(np.float64(value)) >= MOST:
                return False, total
            total += value
        i = after[i]
    return True, total


@part
def propagate(events, after, first, end, kleene, mask, members, sharers, work, w, flag, wide):
    """Propagate the events of a burst through a graphlet. Return (snapshots, flag of values, flag of coefficients).

    If the workspace is too small, the number of snapshots is greater than its capacity.
    """
    n = taken_alike(events, after, first, end, mask, sharers)
    if n >= 0:
        fits, wide = propagate_at_once(events, after, first, end, kleene, mask, n, sharers, work, wide)
        if fits:
            return 1, flag, wide
    c = work.words
    snapshots = 1
    i = first
    while i != end:
        time = events.time[i]
        existing = snapshots
        src, src_least = work.coefficients, work.least
        tied = after[i] >= 0 and events.time[after[i]] == time
        if tied:
            src, src_least = work.before, work.before_least
            copy(src, 0, work.coefficients, 0, snapshots * work.lanes * c)
            copy(src_least, 0, work.least, 0, snapshots * work.keys)
        while True:
            took = sharers.takes[events.kind[i]] & mask
            if took == mask:
                for snapshot in range(existing):
                    wide = add_event(
                        events, i, kleene, snapshot, sharers, work, src, src_least,
                        snapshot * work.lanes * c, snapshot * work.keys, wide,
                    )  # fmt: skip
            elif took != NOBODY:
                if snapshots == work.capacity:
                    return snapshots + 1, flag, wide
                flag = add_snapshot(
                    events, i, kleene, mask, took, snapshots, existing, members, sharers, work, src, src_least, w, flag
                )
                snapshots += 1
            i = after[i]
            if not tied or i < 0 or events.time[i] != time:
                break
    return snapshots, flag, wide


@part
def close_graphlet(kleene, mask, slot, snapshots, members, sharers, work, numbers, least, w, flag):
    """Add the trends that end with the burst's events to those that ended earlier, per sharer."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        if not in_lanes(mask, sharers.lane[s]):
            continue
        m = sharers.member[s]
        base = members.base[m] + slot * members.block[m]
        least_base = members.least_base[m] + slot * members.least_block[m]
        for row in range(members.rows[m]):
            state = row * members.states[m] + sharers.target[s]
            flag = evaluate(
                s, kleene, row, snapshots, members, sharers, work, work.coefficients, work.least, False,
                numbers, base + state * members.lanes[m] * w, least, least_base + state * members.keys[m], w, flag,
            )  # fmt: skip
    return flag


@part
def count_alone(kleene, s, slot, events, after, first, end, members, sharers, work, numbers, least, w, flag):
    """Evaluate a graphlet that is not shared: extend the trends of one query event by event."""
    m = sharers.member[s]
    width = members.lanes[m] * w
    keys = members.keys[m]
    bit = ONE << np.uint64(sharers.lane[s])
    before, before_key = work.value_width, work.least_width
    for row in range(members.rows[m]):
        state = row * members.states[m]
        base = members.base[m] + slot * members.block[m] + state * width
        least_base = members.least_base[m] + slot * members.least_block[m] + state * keys
        dst = base + sharers.target[s] * width
        dst_key = least_base + sharers.target[s] * keys
        alive = not is_zero(numbers, dst, w)
        for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
            alive |= not is_zero(numbers, base + sharers.input[k] * width, w)
        if not alive:
            continue
        clear_trends(work.values, 0, work.value_least, 0, width, keys)
        for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
            flag = add_trends(
                work.values, 0, work.value_least, 0, numbers, base + sharers.input[k] * width,
                least, least_base + sharers.input[k] * keys, width, keys, w, flag,
            )  # fmt: skip
        i = first
        while i != end:
            time = events.time[i]
            j = after[i]
            if j < 0 or events.time[j] != time:
                if sharers.takes[events.kind[i]] & bit != NOBODY:
                    flag = lengthen_alone(
                        events, i, s, kleene, m, keys, members, sharers, work, numbers, dst, least, dst_key,
                        numbers, dst, least, dst_key, w, flag,
                    )  # fmt: skip
                i = j
                continue
            copy(work.values, before, numbers, dst, width)
            copy(work.value_least, before_key, least, dst_key, keys)
            while i >= 0 and events.time[i] == time:
                if sharers.takes[events.kind[i]] & bit != NOBODY:
                    flag = lengthen_alone(
                        events, i, s, kleene, m, keys, members, sharers, work, work.values, before,
                        work.value_least, before_key, numbers, dst, least, dst_key, w, flag,
                    )  # fmt: skip
                i = after[i]
    return flag


@part
def lengthen_alone(
    events, i, s, kleene, m, keys, members, sharers, work, src, place, src_least, key_place,
    out, o, out_least, o_least, w, flag,
):  # fmt: skip
    """Extend the trends from before the burst (at 0 in the table) and those at `src` by one event of one query.

    `src` may be the place to which they are added, so the count is added last.
    """
    values = work.values
    for lane in range(w, members.lanes[m] * w, w):
        flag = add(out, o + lane, src, place + lane, w, flag)
        flag = add(out, o + lane, values, lane, w, flag)
    flag = lengthen_by(events, i, s, kleene, m, members, sharers, src, place, out, o, w, flag)
    flag = lengthen_by(events, i, s, kleene, m, members, sharers, values, 0, out, o, w, flag)
    if keys and not (is_zero(src, place, w) and is_zero(values, 0, w)):
        for key in range(keys):
            best = min(work.value_least[key], src_least[key_place + key])
            out_least[o_least + key] = min(out_least[o_least + key], best)
        shorten_to(events, i, s, kleene, keys, sharers, out_least, o_least)
    flag = add(out, o, src, place, w, flag)
    return add(out, o, values, 0, w, flag)
