"""Evaluate windows that move with every event, of many queries: two stacks of maps, whose elements are bursts.

As in `run_stacks` for a single query, the effect of a window's events on trends is a map, and a window is the product
of the maps from its first event to its last. Here the *entries* of a member are the bursts that it shares, each known
by its coefficients, and single times of other events, which go through its machine; events without effect on the member
are no entries. Entries before `middle` are kept as maps from each of them on; those from it on as one map, `back`. A
window begins or ends within a burst by the coefficients of its events.

Axes of numbers and `least` as in `counters_numba_fns`. A map has a row per state that an event can change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE, Member, Shape, advance, collect, compose, identity
from elsinore.actors.algebra.numbers_numba_fns import add, add_coefficient, copy, is_zero
from elsinore.actors.hamlet.bursts_numba_fns import COEFFICIENTS, DONE, MIXED, NUMBERS
from elsinore.actors.moving.bursts_numba_fns import cut, place_of, propagate
from elsinore.planner.kernels.compiled import kernel, part

FULL = 3
"""Why a run stopped, beside `DONE`, `NUMBERS` and `COEFFICIENTS`: the stack is too short for all maps."""


class Machines(NamedTuple):
    """What maps read of the members' machines; ranges are given by pointers into the next columns."""

    within: Any
    shortest: Any  # window
    row_at: Any
    row_of: Any
    start_at: Any
    starts: Any
    accept_at: Any
    accepting: Any
    own_at: Any  # by Kleene and member: its sharers
    lanes_of: Any  # by Kleene: how many lanes it has
    names: Any  # by type and member: whether its pattern has the type
    rides: Any  # by sharer: whether its events may start a trend
    rides_at: Any  # by Kleene and lane: whether there is such a sharer
    ends: Any  # by sharer: whether its events may end one


class Machine(NamedTuple):
    """The tables of one member that maps read."""

    row_of: Any
    starts: Any
    accepting: Any


class MemberEntries(NamedTuple):
    """The entries of one member."""

    first: Any  # event
    last: Any
    piece: Any  # -1: a time, whose events go through the machine


class Due(NamedTuple):
    """The result of `find_due`."""

    row_at: Any
    time: Any
    group: Any
    at: Any
    when: Any
    who: Any
    row: Any
    visit_at: Any
    member: Any
    first: Any
    end: Any


class MapWorkspace(NamedTuple):
    """Memory for the maps of one member."""

    stack: Any
    stack_least: Any
    back: Any
    back_least: Any
    one: Any
    one_least: Any
    start: Any  # a row
    start_least: Any
    joined: Any  # a row
    joined_least: Any
    trends: Any  # of one state
    trends_least: Any


class MovingResults(NamedTuple):
    """The rows of all members."""

    numbers: Any
    least: Any
    at: Any  # by member: its first number and its first minimum
    least_at: Any
    found: Any  # by row


@part
def machine_of(m, machines):
    return Machine(
        machines.row_of[machines.row_at[m] : machines.row_at[m + 1]],
        machines.starts[machines.start_at[m] : machines.start_at[m + 1]],
        machines.accepting[machines.accept_at[m] : machines.accept_at[m + 1]],
    )


@part
def own_sharers(piece, m, pieces, machines):
    """Return the range of a member's sharers of a burst."""
    pair = pieces.kleene[piece] * len(machines.within) + m
    return machines.own_at[pair], machines.own_at[pair + 1]


@part
def coefficient(piece, i, s, sharers, pieces, machines):
    """Return the place of an event's coefficient for a sharer."""
    return place_of(piece, i, sharers.lane[s], machines.lanes_of, pieces)


@part
def gain(s, place, coefficients, shape, sharers, trends, x, least, x_key, out, o, out_least, o_key, flag):
    """Add some trends of a sharer as often as a burst extends them, with what its events add to them."""
    w, c = shape.words, coefficients.words
    at = place * coefficients.width
    if is_zero(trends, x, w) or is_zero(coefficients.numbers, at, c):
        return flag
    flag = add_coefficient(out, o, trends, x, w, coefficients.numbers, at, c, flag)
    for lane in range(1, shape.lanes):
        total = o + lane * w
        flag = add_coefficient(out, total, trends, x + lane * w, w, coefficients.numbers, at, c, flag)
        own = sharers.sum[sharers.sum_at[s] + lane - 1]
        if own > 0:
            flag = add_coefficient(out, total, trends, x, w, coefficients.numbers, at + own * c, c, flag)
    for key in range(shape.keys):
        best = least[x_key + key]
        own = sharers.key[sharers.key_at[s] + key]
        if own >= 0:
            best = min(best, coefficients.least[place * coefficients.keys + own])
        out_least[o_key + key] = min(out_least[o_key + key], best)
    return flag


@part
def lengthened(s, row, shape, sharers, numbers, least, work, flag):
    """Copy the trends of one row that a sharer's events extend, as they are now, to `work.trends`."""
    w = shape.words
    width = shape.lanes * w
    state = row * shape.states + sharers.target[s]
    copy(work.trends, 0, numbers, state * width, width)
    copy(work.trends_least, 0, least, state * shape.keys, shape.keys)
    for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
        state = row * shape.states + sharers.input[k]
        if is_zero(numbers, state * width, w):
            continue
        for place in range(0, width, w):
            flag = add(work.trends, place, numbers, state * width + place, w, flag)
        for key in range(shape.keys):
            work.trends_least[key] = min(work.trends_least[key], least[state * shape.keys + key])
    return flag


@part
def enter(count, m, events, types, pieces, machines, members, sharers, fore, entries):
    """Write a member's entries for the first `count` pieces, and return how many there are."""
    found = 0
    nothing = members.classes[m * members.kinds]
    for piece in range(count):
        first, end = pieces.first[piece], pieces.end[piece]
        own, own_end = 0, 0
        if pieces.kleene[piece] >= 0:
            own, own_end = own_sharers(piece, m, pieces, machines)
        if own < own_end:
            taken = False
            for s in range(own, own_end):
                place = coefficient(piece, end - 1, s, sharers, pieces, machines)
                taken |= not is_zero(fore.numbers, place * fore.width, fore.words)
            if taken:
                entries.first[found], entries.last[found], entries.piece[found] = first, end - 1, piece
                found += 1
            continue
        own_type = types.of_kind[events.kind[first]]
        if pieces.kleene[piece] != MIXED and not machines.names[own_type * len(machines.within) + m]:
            continue
        i = first
        while i < end:
            j = i
            taken = False
            while j < end and events.time[j] == events.time[i]:
                taken |= members.classes[m * members.kinds + events.kind[j]] != nothing
                j += 1
            if taken:
                entries.first[found], entries.last[found], entries.piece[found] = i, j - 1, -1
                found += 1
            i = j
    return found


@part
def flip_burst(e, m, src, dst, shape, machine, machines, sharers, pieces, fore, entries, work, flag):
    """Write the map from a burst on, at `dst`, from that behind it, at `src`; both places count maps."""
    width = shape.lanes * shape.words
    states = shape.rows * shape.states
    copy(work.stack, dst * states * width, work.stack, src * states * width, states * width)
    copy(work.stack_least, dst * states * shape.keys, work.stack_least, src * states * shape.keys, states * shape.keys)
    piece = entries.piece[e]
    own, own_end = own_sharers(piece, m, pieces, machines)
    for s in range(own, own_end):
        place = coefficient(piece, entries.last[e], s, sharers, pieces, machines)
        x = src * states + machine.row_of[sharers.target[s]] * shape.states
        for k in range(sharers.input_at[s] - 1, sharers.input_at[s + 1]):
            state = sharers.input[k] if k >= sharers.input_at[s] else sharers.target[s]
            o = dst * states + machine.row_of[state] * shape.states
            for to in range(shape.states):
                flag = gain(
                    s, place, fore, shape, sharers, work.stack, (x + to) * width,
                    work.stack_least, (x + to) * shape.keys,
                    work.stack, (o + to) * width, work.stack_least, (o + to) * shape.keys, flag,
                )  # fmt: skip
    return flag


@kernel
def flip(
    head, tail, m, events, after, member, shape, machine, machines, members, sharers, tables, pieces, fore, entries,
    work, scratch,
):  # fmt: skip
    """Write the maps from each entry of head..tail on."""
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    flag = np.int64(0)
    identity(shape, machine, work.stack, (tail - head) * block, work.stack_least, (tail - head) * least_block)
    for e in range(tail - 1, head - 1, -1):
        dst = e - head
        if entries.piece[e] >= 0:
            flag = flip_burst(e, m, dst + 1, dst, shape, machine, machines, sharers, pieces, fore, entries, work, flag)
            continue
        identity(shape, machine, work.one, 0, work.one_least, 0)
        _, flag = advance(
            events, after, entries.first[e], member, tables, shape, work.one, 0, work.one_least, 0, scratch, flag
        )
        flag |= compose(
            shape, machine, work.one, 0, work.one_least, 0, shape.words, shape.rows,
            work.stack, (dst + 1) * block, work.stack_least, (dst + 1) * least_block, shape.words,
            work.stack, dst * block, work.stack_least, dst * least_block, False,
        )  # fmt: skip
    return flag


@part
def take_in(e, m, events, after, member, shape, machines, sharers, tables, pieces, fore, entries, work, scratch, flag):
    """Append one more entry to `back`."""
    piece = entries.piece[e]
    if piece < 0:
        _, flag = advance(
            events, after, entries.first[e], member, tables, shape, work.back, 0, work.back_least, 0, scratch, flag
        )
        return flag
    own, own_end = own_sharers(piece, m, pieces, machines)
    for s in range(own, own_end):
        place = coefficient(piece, entries.last[e], s, sharers, pieces, machines)
        for row in range(shape.rows):
            flag = lengthened(s, row, shape, sharers, work.back, work.back_least, work, flag)
            state = row * shape.states + sharers.target[s]
            flag = gain(
                s, place, fore, shape, sharers, work.trends, 0, work.trends_least, 0,
                work.back, state * shape.lanes * shape.words, work.back_least, state * shape.keys, flag,
            )  # fmt: skip
    return flag


@part
def join(base, begin, head, m, low, back, shape, machine, machines, sharers, pieces, rear, entries, work, flag):
    """Join the map of entry `base` (-1: none) with `back`: the trends of a window before its last, unfinished burst.

    If `begin` is not -1, the window begins within a burst, at that event, whose later events also start trends.
    """
    width = shape.lanes * shape.words
    if base < 0:
        copy(work.joined, 0, work.back, 0, shape.states * width)
        copy(work.joined_least, 0, work.back_least, 0, shape.states * shape.keys)
        return flag
    states = (base - low) * shape.rows * shape.states
    copy(work.start, 0, work.stack, states * width, shape.states * width)
    copy(work.start_least, 0, work.stack_least, states * shape.keys, shape.states * shape.keys)
    if begin >= 0:
        piece = entries.piece[head]
        own, own_end = own_sharers(piece, m, pieces, machines)
        for s in range(own, own_end):
            if not machines.rides[s]:
                continue
            place = coefficient(piece, begin, s, sharers, pieces, machines)
            x = states + machine.row_of[sharers.target[s]] * shape.states
            for to in range(shape.states):
                flag = gain(
                    s, place, rear, shape, sharers, work.stack, (x + to) * width,
                    work.stack_least, (x + to) * shape.keys,
                    work.start, to * width, work.start_least, to * shape.keys, flag,
                )  # fmt: skip
    if not back:
        copy(work.joined, 0, work.start, 0, shape.states * width)
        copy(work.joined_least, 0, work.start_least, 0, shape.states * shape.keys)
        return flag
    return flag | compose(
        shape, machine, work.start, 0, work.start_least, 0, shape.words, 1,
        work.back, 0, work.back_least, 0, shape.words, work.joined, 0, work.joined_least, 0, False,
    )  # fmt: skip


@part
def finish(row, piece, now, m, shape, machine, machines, sharers, pieces, fore, work, results, due, flag):
    """Collect the finished trends of a window, also those of the burst `piece` (-1: none) up to event `now`."""
    w = shape.words
    out = results.at[m] + (row - due.row_at[m]) * shape.lanes * w
    out_key = results.least_at[m] + (row - due.row_at[m]) * shape.keys
    some, flag = collect(
        shape, machine, work.joined, 0, work.joined_least, 0, results.numbers, out, results.least, out_key, flag
    )
    if piece >= 0:
        own, own_end = own_sharers(piece, m, pieces, machines)
        for s in range(own, own_end):
            if machines.ends[s]:
                place = coefficient(piece, now, s, sharers, pieces, machines)
                flag = lengthened(s, 0, shape, sharers, work.joined, work.joined_least, work, flag)
                flag = gain(
                    s, place, fore, shape, sharers, work.trends, 0, work.trends_least, 0,
                    results.numbers, out, results.least, out_key, flag,
                )  # fmt: skip
                some |= not (is_zero(work.trends, 0, w) or is_zero(fore.numbers, place * fore.width, fore.words))
    results.found[row] |= some
    return flag


@part
def visit(
    m, first, end, count, events, after, member, shape, machine, machines, members, sharers, tables, pieces, fore,
    rear, entries, work, scratch, results, due,
):  # fmt: skip
    """Evaluate the windows of one member that end at the times of some rows, in one partition.

    Return (flag, whether the stack was long enough).
    """
    flag = np.int64(0)
    within = machines.within[m]
    head, middle, tail, low = 0, 0, 0, 0
    begin, now = 0, 0
    known = (-2, -2, -2, -2)
    block = shape.rows * shape.states * shape.lanes * shape.words
    identity(shape, machine, work.back, 0, work.back_least, 0)
    for row in range(first, end):
        time = due.time[row]
        while head < count and events.time[entries.last[head]] <= time - within:
            head += 1
        if head >= tail and (tail > middle or head > tail):
            middle, tail = head, head
            identity(shape, machine, work.back, 0, work.back_least, 0)
        while tail < count and events.time[entries.last[tail]] <= time:
            flag = take_in(
                tail, m, events, after, member, shape, machines, sharers, tables, pieces, fore, entries, work,
                scratch, flag,
            )  # fmt: skip
            tail += 1
        open_burst = -1
        if tail < count and events.time[entries.first[tail]] <= time:
            open_burst = entries.piece[tail]
            now = max(now, entries.first[tail])
            while events.time[now + 1] <= time:
                now += 1
        if head == tail and open_burst < 0:
            continue
        riding = False
        if head < tail and entries.piece[head] >= 0:
            begin = max(begin, entries.first[head])
            while events.time[begin] <= time - within:
                begin += 1
            own, own_end = own_sharers(entries.piece[head], m, pieces, machines)
            for s in range(own, own_end):
                riding |= begin > entries.first[head] and machines.rides[s]
        if head < tail and head >= middle and (head > middle or riding):
            if (tail - head + 1) * block > len(work.stack):
                return flag, False
            flag |= flip(
                head, tail, m, events, after, member, shape, machine, machines, members, sharers, tables, pieces,
                fore, entries, work, scratch,
            )  # fmt: skip
            low, middle = head, tail
            identity(shape, machine, work.back, 0, work.back_least, 0)
        base, inside = -1, -1
        if head < middle:
            base = head + 1 if riding else head
            inside = begin if riding else -1
        if known != (base, inside, middle, tail):
            known = (base, inside, middle, tail)
            flag = join(
                base, inside, head, m, low, tail > middle, shape, machine, machines, sharers, pieces, rear, entries,
                work, flag,
            )  # fmt: skip
        flag = finish(
            row, open_burst, now, m, shape, machine, machines, sharers, pieces, fore, work, results, due, flag
        )
        if flag >> 62:
            break
    return flag, True


@kernel
def run_moving(
    events, after, runs, group_of, due, members, sharers, types, tables, machines, pieces, fore, rear, entries, work,
    scratch, w, results,
):  # fmt: skip
    """Evaluate all rows that are due, partition by partition, and there member by member. Return why it stopped."""
    for slot in range(len(runs) - 1):
        group = group_of[slot]
        lo, hi = runs[slot], runs[slot + 1]
        visits = due.visit_at[group + 1] - due.visit_at[group]
        if lo == hi or visits == 0:
            continue
        # Only the events of windows that are due.
        oldest, latest = NONE, -NONE
        for v in range(due.visit_at[group], due.visit_at[group + 1]):
            oldest = min(oldest, due.time[due.first[v]] - machines.within[due.member[v]])
            latest = max(latest, due.time[due.end[v] - 1])
        while lo < hi and events.time[lo] <= oldest:
            lo += 1
        while hi > lo and events.time[hi - 1] > latest:
            hi -= 1
        count = cut(events, after, lo, hi, machines.shortest, types, machines.lanes_of, pieces)
        wide = np.int64(0)
        for piece in range(count):
            kleene = pieces.kleene[piece]
            for lane in range(machines.lanes_of[kleene] if kleene >= 0 else 0):
                wide = propagate(events, piece, lane, 1, machines.lanes_of, sharers, pieces, fore, wide)
                if machines.rides_at[types.lane_at[kleene] + lane]:
                    wide = propagate(events, piece, lane, -1, machines.lanes_of, sharers, pieces, rear, wide)
        if wide >> 62:
            return COEFFICIENTS
        for v in range(due.visit_at[group], due.visit_at[group + 1]):
            m = due.member[v]
            shape = Shape(members.rows[m], members.states[m], members.lanes[m], members.keys[m], w)
            machine = machine_of(m, machines)
            member = Member(members.classes, m * members.kinds, members.symbol[m])
            found = enter(count, m, events, types, pieces, machines, members, sharers, fore, entries)
            flag, fits = visit(
                m, due.first[v], due.end[v], found, events, after, member, shape, machine, machines, members, sharers,
                tables, pieces, fore, rear, entries, work, scratch, results, due,
            )  # fmt: skip
            if flag >> 62:
                return NUMBERS
            if not fits:
                return FULL
    return DONE
