"""Apply events to the counters of a machine.

Axes. A block of counters belongs to one partition and lies flat in a buffer: `row`, `state`,
`lane`, word. A row is one run of the machine: from the start of a window, or (in a map) from one of
the machine's states. Lane 0 counts trends; the others are sums over trends. Beside it lies a block of
`least` values, by row, state and key: minima over trends, NONE where there is no trend.

Events are columns; `after[i]` is the next event of the same partition, or -1.

Every kernel that adds numbers takes the overflow `flag` of `numbers_numba_fns` and returns it, alone or
last of a tuple.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.numbers_numba_fns import (
    add,
    add_coefficient,
    add_shorter,
    add_times,
    clear,
    copy,
    is_zero,
    set_one,
)
from elsinore.planner.kernels.compiled import kernel, part

NONE = np.int64(2**63 - 1)
ADD, MOVE, CLEAR, RENEW = 0, 1, 2, 3


class Shape(NamedTuple):
    rows: int
    states: int
    lanes: int
    keys: int
    words: int


class Events(NamedTuple):
    """Columns of events, sorted by time."""

    slot: Any  # int32
    time: Any  # int64
    kind: Any  # int16, the event class
    values: Any  # (column, event): int64 or float64, what sums add up
    keys: Any  # (key, event): int64, what minima compare


class Member(NamedTuple):
    """The part of the tables that one query's events use: tables may hold the machines of several queries."""

    classes: Any  # from `at` on: the class, in the tables, of events of each kind
    at: Any
    symbol: Any  # the symbol that no guard reads


class Tables(NamedTuple):
    """A machine and its lanes as arrays; ranges are given by pointers into the next columns."""

    append_at: Any
    append_from: Any
    append_to: Any
    append_bound: Any
    program_at: Any  # by class: its steps in place, as in `programs`; none if it needs the scratch block
    step_kind: Any
    step_from: Any
    step_to: Any
    step_bound: Any
    alone: Any  # by class: whether it has such a program
    bound_at: Any
    bound_lane: Any
    bound_column: Any
    least_at: Any
    least_key: Any
    least_column: Any
    consume_at: Any
    consume_from: Any
    consume_to: Any
    symbol: Any
    union: Any
    advance_at: Any
    advance_from: Any
    advance_to: Any
    accepting: Any
    starts: Any
    row_of: Any
    same: Any  # the identity: class number by class number


class Scratch(NamedTuple):
    """Memory for the trends that events of one time append, and for a copy of a block before it was changed."""

    numbers: Any
    least: Any
    dirty: Any
    marked: Any
    saved_numbers: Any
    saved_least: Any


@part
def only(tables):
    """Return the only machine of tables that hold one."""
    return Member(tables.same, 0, 0)


@kernel
def chain(slots, lo, hi, head, after, touched):
    """Link the events of each partition through `after`, and return how many partitions have any.

    `head` is the first event by partition, -1 before the first was seen.
    """
    count = 0
    for i in range(hi - 1, lo - 1, -1):
        slot = slots[i]
        if head[slot] < 0:
            touched[count] = slot
            count += 1
        after[i] = head[slot]
        head[slot] = i
    return count


@part
def lengthen(events, i, bound, tables, shape, numbers, src, out, dst, out_least, dst_key, flag):
    """Add event `i` itself to the aggregates at `dst`, once for every trend counted at `src`."""
    w = shape.words
    for b in range(tables.bound_at[bound], tables.bound_at[bound + 1]):
        place = dst + tables.bound_lane[b] * w
        column = tables.bound_column[b]
        if column < 0:
            flag = add(out, place, numbers, src, w, flag)
        else:
            flag = add_times(out, place, numbers, src, events.values[column, i], w, flag)
    for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
        key = dst_key + tables.least_key[b]
        out_least[key] = min(out_least[key], events.keys[tables.least_column[b], i])
    return flag


@part
def append(events, i, kind, tables, shape, numbers, base, least, least_base, scratch, dirty, flag):
    """Lengthen the trends that event `i` is adjacent to, in the scratch block. Return (dirty states, flag).

    `commit` adds the scratch block once all events of the same time have been appended.
    """
    width = shape.lanes * shape.words
    w = shape.words
    for a in range(tables.append_at[kind], tables.append_at[kind + 1]):
        source = tables.append_from[a]
        target = tables.append_to[a]
        bound = tables.append_bound[a]
        if not scratch.marked[target]:
            scratch.marked[target] = True
            scratch.dirty[dirty] = target
            dirty += 1
        for row in range(shape.rows):
            src = base + (row * shape.states + source) * width
            dst = (row * shape.states + target) * width
            if is_zero(numbers, src, w):
                continue
            flag = add(scratch.numbers, dst, numbers, src, w, flag)
            for lane in range(1, shape.lanes):
                flag = add(scratch.numbers, dst + lane * w, numbers, src + lane * w, w, flag)
            src_key = least_base + (row * shape.states + source) * shape.keys
            dst_key = (row * shape.states + target) * shape.keys
            for key in range(shape.keys):
                scratch.least[dst_key + key] = min(scratch.least[dst_key + key], least[src_key + key])
            flag = lengthen(
                events, i, bound, tables, shape, numbers, src, scratch.numbers, dst, scratch.least, dst_key, flag
            )
    return dirty, flag


@part
def count_only(kind, tables, shape, numbers, base, flag):
    """Do as `do_program` for machines that only count trends."""
    w = shape.words
    for k in range(tables.program_at[kind], tables.program_at[kind + 1]):
        step = tables.step_kind[k]
        src = base + tables.step_from[k] * w
        dst = base + tables.step_to[k] * w
        for _ in range(shape.rows):
            if not is_zero(numbers, src, w):
                if step == ADD or step == MOVE:
                    flag = add(numbers, dst, numbers, src, w, flag)
                if step == MOVE or step == CLEAR:
                    clear(numbers, src, w)
            src += shape.states * w
            dst += shape.states * w
    return flag


@part
def do_program(events, i, kind, tables, shape, numbers, base, least, least_base, flag):
    """Apply an event that has no other event at its time, in place."""
    width = shape.lanes * shape.words
    w = shape.words
    for k in range(tables.program_at[kind], tables.program_at[kind + 1]):
        step = tables.step_kind[k]
        for row in range(shape.rows):
            source = row * shape.states + tables.step_from[k]
            target = row * shape.states + tables.step_to[k]
            src = base + source * width
            dst = base + target * width
            if is_zero(numbers, src, w):
                continue
            src_key = least_base + source * shape.keys
            dst_key = least_base + target * shape.keys
            if step == ADD or step == MOVE:
                for lane in range(1, shape.lanes):
                    flag = add(numbers, dst + lane * w, numbers, src + lane * w, w, flag)
                for key in range(shape.keys):
                    least[dst_key + key] = min(least[dst_key + key], least[src_key + key])
            if step == ADD or step == RENEW:
                flag = lengthen(
                    events, i, tables.step_bound[k], tables, shape, numbers, src, numbers, dst, least, dst_key, flag
                )
            if step == ADD or step == MOVE:
                # Add the count last: source and target may be the same state.
                flag = add(numbers, dst, numbers, src, w, flag)
            if step == MOVE or step == CLEAR:
                clear(numbers, src, width)
                for key in range(shape.keys):
                    least[src_key + key] = NONE
    return flag


@part
def move(at, sources, targets, which, shape, numbers, base, least, least_base, flag):
    """Do the moves of one class or symbol to all trends of a block."""
    width = shape.lanes * shape.words
    w = shape.words
    for m in range(at[which], at[which + 1]):
        for row in range(shape.rows):
            src = base + (row * shape.states + sources[m]) * width
            if is_zero(numbers, src, w):
                continue
            src_key = least_base + (row * shape.states + sources[m]) * shape.keys
            if targets[m] >= 0:
                dst = base + (row * shape.states + targets[m]) * width
                dst_key = least_base + (row * shape.states + targets[m]) * shape.keys
                for lane in range(shape.lanes):
                    flag = add(numbers, dst + lane * w, numbers, src + lane * w, w, flag)
                for key in range(shape.keys):
                    least[dst_key + key] = min(least[dst_key + key], least[src_key + key])
            clear(numbers, src, width)
            for key in range(shape.keys):
                least[src_key + key] = NONE
    return flag


@part
def commit(shape, numbers, base, least, least_base, scratch, dirty, flag):
    """Add the scratch block to the counters, and empty it."""
    width = shape.lanes * shape.words
    w = shape.words
    for d in range(dirty):
        state = scratch.dirty[d]
        scratch.marked[state] = False
        for row in range(shape.rows):
            place = (row * shape.states + state) * width
            if not is_zero(scratch.numbers, place, w):
                for lane in range(shape.lanes):
                    flag = add(numbers, base + place + lane * w, scratch.numbers, place + lane * w, w, flag)
                clear(scratch.numbers, place, width)
                place_key = (row * shape.states + state) * shape.keys
                for key in range(place_key, place_key + shape.keys):
                    least[least_base + key] = min(least[least_base + key], scratch.least[key])
                    scratch.least[key] = NONE
    return flag


@part
def advance(events, after, i, member, tables, shape, numbers, base, least, least_base, scratch, flag):
    """Apply all events of one time at once, from event `i` on: all of them read before any of them writes.

    Return (the first event of a later time, flag).
    """
    time = events.time[i]
    j = after[i]
    kind = member.classes[member.at + events.kind[i]]
    if tables.alone[kind] and (j < 0 or events.time[j] != time):
        if shape.lanes == 1 and shape.keys == 0:
            return j, count_only(kind, tables, shape, numbers, base, flag)
        return j, do_program(events, i, kind, tables, shape, numbers, base, least, least_base, flag)
    dirty = 0
    symbol = member.symbol
    j = i
    while j >= 0 and events.time[j] == time:
        kind = member.classes[member.at + events.kind[j]]
        dirty, flag = append(events, j, kind, tables, shape, numbers, base, least, least_base, scratch, dirty, flag)
        symbol = tables.union[symbol, tables.symbol[kind]]
        j = after[j]
    if len(tables.consume_from) or len(tables.advance_from):
        k = i
        while k != j:
            flag = move(
                tables.consume_at, tables.consume_from, tables.consume_to, member.classes[member.at + events.kind[k]],
                shape, numbers, base, least, least_base, flag,
            )  # fmt: skip
            k = after[k]
        flag = move(
            tables.advance_at, tables.advance_from, tables.advance_to, symbol,
            shape, numbers, base, least, least_base, flag,
        )  # fmt: skip
    flag = commit(shape, numbers, base, least, least_base, scratch, dirty, flag)
    return j, flag


@kernel
def forget(shape, scratch):
    """Empty the scratch block after a number overflowed."""
    clear(scratch.numbers, 0, len(scratch.numbers))
    for k in range(len(scratch.least)):
        scratch.least[k] = NONE
    for k in range(len(scratch.marked)):
        scratch.marked[k] = False


@kernel
def run(events, head, after, touched, first, count, tables, shape, numbers, least, pane, pane_of, scratch):
    """Apply the chained events of partitions `touched[first:count]` to their blocks.

    If a number overflows, restore the block of that partition and return its place in `touched`; else return `count`.
    """
    block = shape.rows * shape.states * shape.lanes * shape.words
    least_block = shape.rows * shape.states * shape.keys
    member = only(tables)
    for t in range(first, count):
        slot = touched[t]
        base = slot * block
        least_base = slot * least_block
        copy(scratch.saved_numbers, 0, numbers, base, block)
        copy(scratch.saved_least, 0, least, least_base, least_block)
        flag = np.int64(0)
        i = head[slot]
        while i >= 0:
            i, flag = advance(events, after, i, member, tables, shape, numbers, base, least, least_base, scratch, flag)
        if flag >> 62:
            copy(numbers, base, scratch.saved_numbers, 0, block)
            copy(least, least_base, scratch.saved_least, 0, least_block)
            forget(shape, scratch)
            return t
        head[slot] = -1
        pane_of[slot] = pane
    return count


@part
def compose_counts(shape, tables, one, i, u, rows, other, j, v, out, o, ends):
    """Do as `compose` for machines that only count trends."""
    w = shape.words
    longer, shorter = (one, other) if u >= v else (other, one)
    clear(out, o, rows * shape.states * w)
    flag = np.int64(0)
    for row in range(rows):
        for middle in range(shape.states):
            a = i + (row * shape.states + middle) * u
            if is_zero(one, a, u):
                continue
            dst = o + row * shape.states * w
            through = tables.row_of[middle]
            if through < 0:
                flag = add_shorter(out, dst + middle * w, w, one, a, u, flag)
                continue
            for k in range(len(tables.accepting) if ends else shape.states):
                state = tables.accepting[k] if ends else k
                b = j + (through * shape.states + state) * v
                if not is_zero(other, b, v):
                    x, y = (a, b) if u >= v else (b, a)
                    flag = add_coefficient(out, dst + state * w, longer, x, w, shorter, y, min(u, v), flag)
    return flag


@part
def compose(
    shape, tables, one, i, one_least, i_least, u, rows, other, j, other_least, j_least, v,
    out, o, out_least, o_least, ends,
):  # fmt: skip
    """Compute out = one · other for `rows` rows of `one`; `other` is a map with a row per start state.

    Numbers of `one` have `u` words, those of `other` have `v`; the longer ones have as many as the result. With `ends`,
    trends are needed in accepting states only; what is in others then is not complete.
    """
    if shape.lanes == 1 and shape.keys == 0:
        return compose_counts(shape, tables, one, i, u, rows, other, j, v, out, o, ends)
    longer, shorter = (one, other) if u >= v else (other, one)
    c = min(u, v)
    w = shape.words
    width = shape.lanes * w
    clear(out, o, rows * shape.states * width)
    for k in range(rows * shape.states * shape.keys):
        out_least[o_least + k] = NONE
    flag = np.int64(0)
    for row in range(rows):
        for middle in range(shape.states):
            a = i + (row * shape.states + middle) * shape.lanes * u
            if is_zero(one, a, u):
                continue
            a_key = i_least + (row * shape.states + middle) * shape.keys
            through = tables.row_of[middle]
            if through < 0:
                dst = o + (row * shape.states + middle) * width
                for lane in range(shape.lanes):
                    flag = add_shorter(out, dst + lane * w, w, one, a + lane * u, u, flag)
                dst_key = o_least + (row * shape.states + middle) * shape.keys
                for key in range(shape.keys):
                    out_least[dst_key + key] = min(out_least[dst_key + key], one_least[a_key + key])
                continue
            for k in range(len(tables.accepting) if ends else shape.states):
                state = tables.accepting[k] if ends else k
                b = j + (through * shape.states + state) * shape.lanes * v
                if is_zero(other, b, v):
                    continue
                dst = o + (row * shape.states + state) * width
                x, y = (a, b) if u >= v else (b, a)
                flag = add_coefficient(out, dst, longer, x, w, shorter, y, c, flag)
                for lane in range(1, shape.lanes):
                    place = dst + lane * w
                    # Where a map leaves trends as they are, as most do in some states, it adds nothing to their sums.
                    if not is_zero(longer, x + lane * w, w):
                        flag = add_coefficient(out, place, longer, x + lane * w, w, shorter, y, c, flag)
                    if not is_zero(shorter, y + lane * c, c):
                        flag = add_coefficient(out, place, longer, x, w, shorter, y + lane * c, c, flag)
                b_key = j_least + (through * shape.states + state) * shape.keys
                dst_key = o_least + (row * shape.states + state) * shape.keys
                for key in range(shape.keys):
                    best = min(one_least[a_key + key], other_least[b_key + key])
                    out_least[dst_key + key] = min(out_least[dst_key + key], best)
    return flag


@part
def begin(shape, numbers, base, least, least_base, row, empty):
    """Set a row to the state at the start of a window: the empty trend, 0 or 1 times, and nothing else."""
    width = shape.lanes * shape.words
    place = base + row * shape.states * width
    clear(numbers, place, shape.states * width)
    numbers[place] = empty
    least_place = least_base + row * shape.states * shape.keys
    for key in range(shape.states * shape.keys):
        least[least_place + key] = NONE


@part
def identity(shape, tables, numbers, base, least, least_base):
    """Write the map of a span without events."""
    width = shape.lanes * shape.words
    clear(numbers, base, shape.rows * shape.states * width)
    for row in range(shape.rows):
        set_one(numbers, base + (row * shape.states + tables.starts[row]) * width)
    for key in range(shape.rows * shape.states * shape.keys):
        least[least_base + key] = NONE


@part
def collect(shape, tables, numbers, place, least, least_place, out, o, out_least, o_least, flag):
    """Add the finished trends of one row to a row of results. Return (whether there were any, flag)."""
    w = shape.words
    width = shape.lanes * w
    found = False
    for state in tables.accepting:
        src = place + state * width
        if is_zero(numbers, src, w):
            continue
        found = True
        for lane in range(shape.lanes):
            flag = add(out, o + lane * w, numbers, src + lane * w, w, flag)
        for key in range(shape.keys):
            best = least[least_place + state * shape.keys + key]
            out_least[o_least + key] = min(out_least[o_least + key], best)
    return found, flag


@part
def collect_rows(shape, tables, numbers, place, least, least_place, first, last, out, o, out_least, o_least, flag):
    """Add the finished trends of rows `first` to `last` of a block to a row of results, as `collect` does."""
    found = False
    for row in range(first, last):
        some, flag = collect(
            shape, tables, numbers, place + row * shape.states * shape.lanes * shape.words,
            least, least_place + row * shape.states * shape.keys, out, o, out_least, o_least, flag,
        )  # fmt: skip
        found |= some
    return found, flag
