"""The event-grained graph of one partition in one window: trends are kept per event where a later event decides.

Axes as in `counters_numba_fns`. A state is kept in one of three ways (COGRA's mixed granularity):

- TYPE: one counter for all trends in the state;
- EVENT: an entry per last event, which later events look at one by one;
- INDEX: an entry per last event in a Fenwick tree over the compared value. With a single
  comparison in the way, the trends that it lets through are a prefix of the values in order
  (or of the reverse order, or one value), summed up in O(log n) where a scan takes O(n).

Predicates on neighbours are *links*: `left` is read from the earlier event, `right` from the later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE, commit, move
from elsinore.actors.algebra.numbers_numba_fns import add, add_times, clear, copy, is_zero, set_one
from elsinore.planner.kernels.compiled import kernel, part

TYPE, EVENT, INDEX = 0, 1, 2
EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5
FORWARD, BACKWARD, POINT = 0, 1, 2


class Links(NamedTuple):
    """By (link, event): values that compare as integers, and whether they are there at all."""

    left: Any
    right: Any
    left_known: Any
    right_known: Any


class EventTables(NamedTuple):
    """What the machine's tables say about single events; pointers as in `Tables`."""

    mode: Any  # by state
    link_operator: Any  # by link
    append_links_at: Any  # by append
    append_link: Any
    append_index: Any  # by append: the first of its indexes, or -1
    consume_links_at: Any  # by consume
    consume_link: Any
    index_state: Any  # by index
    index_link: Any
    index_kind: Any
    guard_first: Any  # by guard position: may it start a match, end one
    guard_last: Any
    guard_follow_at: Any  # by guard position: those that it may follow
    guard_follow: Any
    guard_follow_links_at: Any  # by pair of follow
    guard_follow_link: Any
    guard_taken_at: Any  # by class: the guard positions that it may take
    guard_taken: Any
    close_at: Any  # by guard: moves when it matched
    close_from: Any
    close_to: Any


class Room(NamedTuple):
    """Memory for the largest window of one partition."""

    numbers: Any  # the block of type-grained counters
    least: Any
    entry_event: Any  # by entry: its event, its state (-1: over), its aggregates
    entry_state: Any
    entry_numbers: Any
    entry_least: Any
    one: Any  # what one append brings
    one_least: Any
    trees: Any  # (index, rank, lane and word), flat
    trees_least: Any
    order: Any  # (link, rank): left values in order
    ordered: Any  # by link, how many
    guard_event: Any  # partial matches of guards: last event, position, latest start
    guard_position: Any
    guard_start: Any
    matched: Any  # by guard: the latest start of a match


@part
def holds(op, a, b):
    if op == LT:
        return a < b
    if op == LE:
        return a <= b
    if op == GT:
        return a > b
    if op == GE:
        return a >= b
    if op == EQ:
        return a == b
    return a != b


@part
def all_hold(at, which, link, operators, links, before, after):
    """Do all predicates of one append (or consume, or guard step) hold between two events?"""
    for k in range(at[which], at[which + 1]):
        one = link[k]
        if not (links.left_known[one, before] and links.right_known[one, after]):
            return False
        if not holds(operators[one], links.left[one, before], links.right[one, after]):
            return False
    return True


@part
def below(order, count, value):
    """How many of the values in order are less."""
    lo, hi = 0, count
    while lo < hi:
        middle = (lo + hi) // 2
        if order[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


@part
def not_above(order, count, value):
    lo, hi = 0, count
    while lo < hi:
        middle = (lo + hi) // 2
        if order[middle] <= value:
            lo = middle + 1
        else:
            hi = middle
    return lo


@part
def add_entry(shape, src, s, src_least, s_least, dst, d, dst_least, d_least, flag):
    w = shape.words
    for lane in range(shape.lanes):
        flag = add(dst, d + lane * w, src, s + lane * w, w, flag)
    for key in range(shape.keys):
        dst_least[d_least + key] = min(dst_least[d_least + key], src_least[s_least + key])
    return flag


@part
def tree_sum(shape, room, base, ranks, kind, flag):
    """Add the trends at the first `ranks` ranks, or (POINT) at the last of these alone, to what an append brings."""
    width = shape.lanes * shape.words
    k = ranks
    while k > 0:
        place = base + k
        if not is_zero(room.trees, place * width, shape.words):
            flag = add_entry(
                shape,
                room.trees,
                place * width,
                room.trees_least,
                place * shape.keys,
                room.one,
                0,
                room.one_least,
                0,
                flag,
            )
        if kind == POINT:
            break
        k -= k & -k
    return flag


@part
def look_up(shape, room, single, index, links, event, span, flag):
    """The trends of an indexed state that a later event may lengthen."""
    link = single.index_link[index]
    if not links.right_known[link, event]:
        return flag
    value = links.right[link, event]
    count = room.ordered[link]
    values = room.order[link]
    op = single.link_operator[link]
    base = index * span
    if op == LT or op == NE:
        flag = tree_sum(shape, room, base, below(values, count, value), FORWARD, flag)
    elif op == LE:
        flag = tree_sum(shape, room, base, not_above(values, count, value), FORWARD, flag)
    elif op == GT:
        flag = tree_sum(shape, room, base, count - not_above(values, count, value), BACKWARD, flag)
    elif op == GE:
        flag = tree_sum(shape, room, base, count - below(values, count, value), BACKWARD, flag)
    else:
        rank = below(values, count, value)
        if rank < count and values[rank] == value:
            flag = tree_sum(shape, room, base, rank + 1, POINT, flag)
    if op == NE:
        flag = tree_sum(shape, room, base + span, count - not_above(values, count, value), BACKWARD, flag)
    return flag


@part
def enter(shape, room, single, links, e, span, flag):
    """Put an entry into every index of its state."""
    width = shape.lanes * shape.words
    event = room.entry_event[e]
    for index in range(len(single.index_state)):
        link = single.index_link[index]
        if single.index_state[index] == room.entry_state[e] and links.left_known[link, event]:
            count = room.ordered[link]
            rank = below(room.order[link], count, links.left[link, event])
            kind = single.index_kind[index]
            k = count - rank if kind == BACKWARD else rank + 1
            while k <= count:
                place = index * span + k
                flag = add_entry(
                    shape, room.entry_numbers, e * width, room.entry_least, e * shape.keys,
                    room.trees, place * width, room.trees_least, place * shape.keys, flag,
                )  # fmt: skip
                if kind == POINT:
                    break
                k += k & -k
    return flag


@part
def gather(i, a, source, single, links, shape, room, entries, span, flag):
    """What one append brings: the sum over the trends that it lengthens, before the event itself is added."""
    width = shape.lanes * shape.words
    clear(room.one, 0, width)
    for key in range(shape.keys):
        room.one_least[key] = NONE
    if single.mode[source] == TYPE or (single.mode[source] == INDEX and single.append_index[a] < 0):
        return add_entry(
            shape, room.numbers, source * width, room.least, source * shape.keys, room.one, 0, room.one_least, 0, flag
        )
    if single.mode[source] == INDEX:
        return look_up(shape, room, single, single.append_index[a], links, i, span, flag)
    for e in range(entries):
        if room.entry_state[e] == source and all_hold(
            single.append_links_at, a, single.append_link, single.link_operator, links, room.entry_event[e], i
        ):
            flag = add_entry(
                shape, room.entry_numbers, e * width, room.entry_least, e * shape.keys,
                room.one, 0, room.one_least, 0, flag,
            )  # fmt: skip
    return flag


@part
def bind(events, i, bound, tables, shape, room, flag):
    """The event itself, once per trend that it lengthens."""
    w = shape.words
    for b in range(tables.bound_at[bound], tables.bound_at[bound + 1]):
        lane = tables.bound_lane[b] * w
        column = tables.bound_column[b]
        if column < 0:
            flag = add(room.one, lane, room.one, 0, w, flag)
        else:
            flag = add_times(room.one, lane, room.one, 0, events.values[column, i], w, flag)
    for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
        key = tables.least_key[b]
        room.one_least[key] = min(room.one_least[key], events.keys[tables.least_column[b], i])
    return flag


@part
def entry_for(i, state, shape, room, first, end):
    """The entry of event `i` in a state, among those that wait; a new one at `end` where there is none."""
    for e in range(first, end):
        if room.entry_state[e] == state and room.entry_event[e] == i:
            return e
    width = shape.lanes * shape.words
    room.entry_event[end] = i
    room.entry_state[end] = state
    clear(room.entry_numbers, end * width, width)
    for key in range(shape.keys):
        room.entry_least[end * shape.keys + key] = NONE
    return end


@part
def append_event(events, i, tables, single, links, shape, room, scratch, entries, waiting, span, dirty, flag):
    """Lengthen the trends that event `i` is adjacent to; what is new waits. (end of entries, dirty states, flag)"""
    width = shape.lanes * shape.words
    kind = events.kind[i]
    first = waiting
    for a in range(tables.append_at[kind], tables.append_at[kind + 1]):
        target = tables.append_to[a]
        flag = gather(i, a, tables.append_from[a], single, links, shape, room, entries, span, flag)
        if is_zero(room.one, 0, shape.words):
            continue
        flag = bind(events, i, tables.append_bound[a], tables, shape, room, flag)
        if single.mode[target] == TYPE:
            if not scratch.marked[target]:
                scratch.marked[target] = True
                scratch.dirty[dirty] = target
                dirty += 1
            flag = add_entry(
                shape, room.one, 0, room.one_least, 0,
                scratch.numbers, target * width, scratch.least, target * shape.keys, flag,
            )  # fmt: skip
        else:
            e = entry_for(i, target, shape, room, first, waiting)
            waiting = max(waiting, e + 1)
            flag = add_entry(
                shape, room.one, 0, room.one_least, 0,
                room.entry_numbers, e * width, room.entry_least, e * shape.keys, flag,
            )  # fmt: skip
    return waiting, dirty, flag


@part
def move_entry(e, target, single, shape, room, flag):
    """An entry goes on in another state, perhaps as part of a type-grained counter, or not at all."""
    width = shape.lanes * shape.words
    room.entry_state[e] = target
    if target >= 0 and single.mode[target] == TYPE:
        flag = add_entry(
            shape, room.entry_numbers, e * width, room.entry_least, e * shape.keys,
            room.numbers, target * width, room.least, target * shape.keys, flag,
        )  # fmt: skip
        room.entry_state[e] = -1
    return flag


@part
def consume(i, kind, tables, single, links, shape, room, entries, flag):
    """Trends that event `i` is adjacent to, under skip-till-next; all older ones, under contiguous."""
    flag = move(
        tables.consume_at, tables.consume_from, tables.consume_to, kind, shape, room.numbers, 0, room.least, 0, flag
    )
    for c in range(tables.consume_at[kind], tables.consume_at[kind + 1]):
        if single.mode[tables.consume_from[c]] == EVENT:
            for e in range(entries):
                if room.entry_state[e] == tables.consume_from[c] and all_hold(
                    single.consume_links_at, c, single.consume_link, single.link_operator, links, room.entry_event[e], i
                ):
                    flag = move_entry(e, tables.consume_to[c], single, shape, room, flag)
    return flag


@part
def advance_guards(symbol, tables, single, shape, room, entries, flag):
    """Negated sub-patterns without predicates on neighbours, one step further."""
    flag = move(
        tables.advance_at, tables.advance_from, tables.advance_to, symbol, shape, room.numbers, 0, room.least, 0, flag
    )
    for m in range(tables.advance_at[symbol], tables.advance_at[symbol + 1]):
        if single.mode[tables.advance_from[m]] == EVENT:
            for e in range(entries):
                if room.entry_state[e] == tables.advance_from[m]:
                    flag = move_entry(e, tables.advance_to[m], single, shape, room, flag)
    return flag


@kernel
def guard_steps(events, i, single, links, room, partial, waiting):
    """Partial matches of guards with predicates on neighbours that event `i` starts or lengthens. Their new end."""
    kind = events.kind[i]
    for k in range(single.guard_taken_at[kind], single.guard_taken_at[kind + 1]):
        position = single.guard_taken[k]
        start = events.time[i] if single.guard_first[position] else -NONE
        for g in range(partial):
            for f in range(single.guard_follow_at[position], single.guard_follow_at[position + 1]):
                if room.guard_position[g] == single.guard_follow[f] and all_hold(
                    single.guard_follow_links_at, f, single.guard_follow_link, single.link_operator,
                    links, room.guard_event[g], i,
                ):  # fmt: skip
                    start = max(start, room.guard_start[g])
        if start > -NONE:
            room.guard_event[waiting] = i
            room.guard_position[waiting] = position
            room.guard_start[waiting] = start
            waiting += 1
            if single.guard_last[position] >= 0:
                guard = single.guard_last[position]
                room.matched[guard] = max(room.matched[guard], start)
    return waiting


@kernel
def close_gaps(events, tables, single, shape, room, entries, flag):
    """Trends whose gap holds all of a match go through it no more."""
    for guard in range(len(room.matched)):
        if room.matched[guard] == -NONE:
            continue
        flag = move(
            single.close_at, single.close_from, single.close_to, guard, shape, room.numbers, 0, room.least, 0, flag
        )
        for m in range(single.close_at[guard], single.close_at[guard + 1]):
            if single.mode[single.close_from[m]] == EVENT:
                for e in range(entries):
                    older = events.time[room.entry_event[e]] < room.matched[guard]
                    if older and room.entry_state[e] == single.close_from[m]:
                        flag = move_entry(e, single.close_to[m], single, shape, room, flag)
    return flag


@part
def settle_entries(single, links, shape, room, entries, waiting, span, flag):
    """Entries that waited may be lengthened from now on; those that are over make room. (entries, flag)"""
    width = shape.lanes * shape.words
    kept = 0
    for e in range(entries):
        if room.entry_state[e] >= 0:
            keep_entry(shape, room, e, kept, width)
            kept += 1
    for e in range(entries, waiting):
        if single.mode[room.entry_state[e]] == INDEX:
            flag = enter(shape, room, single, links, e, span, flag)
            flag = add_entry(
                shape, room.entry_numbers, e * width, room.entry_least, e * shape.keys,
                room.numbers, room.entry_state[e] * width, room.least, room.entry_state[e] * shape.keys, flag,
            )  # fmt: skip
        else:
            keep_entry(shape, room, e, kept, width)
            kept += 1
    return kept, flag


@part
def keep_entry(shape, room, e, kept, width):
    if e == kept:
        return
    room.entry_event[kept] = room.entry_event[e]
    room.entry_state[kept] = room.entry_state[e]
    copy(room.entry_numbers, kept * width, room.entry_numbers, e * width, width)
    copy(room.entry_least, kept * shape.keys, room.entry_least, e * shape.keys, shape.keys)


@kernel
def sift(values, root, count):
    """Let a value sink until no child is greater."""
    value = values[root]
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and values[child] < values[child + 1]:
            child += 1
        if values[child] <= value:
            break
        values[root] = values[child]
        root = child
    values[root] = value


@kernel
def sort_values(lo, hi, links, link, room):
    """The left values of a window in order, by heapsort: NumPy's asks for memory, which kernels cannot."""
    values = room.order[link]
    count = 0
    for i in range(lo, hi):
        if links.left_known[link, i]:
            values[count] = links.left[link, i]
            count += 1
    for root in range(count // 2 - 1, -1, -1):
        sift(values, root, count)
    for end in range(count - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        sift(values, 0, end)
    room.ordered[link] = count


@kernel
def prepare(single, shape, room, span):
    """An empty graph, with empty trees over the values in `room.order`."""
    clear(room.numbers, 0, len(room.numbers))
    set_one(room.numbers, 0)
    for k in range(len(room.least)):
        room.least[k] = NONE
    for guard in range(len(room.matched)):
        room.matched[guard] = -NONE
    for index in range(len(single.index_state)):
        link = single.index_link[index]
        count = room.ordered[link]
        width = shape.lanes * shape.words
        clear(room.trees, index * span * width, (count + 1) * width)
        for k in range(index * span * shape.keys, (index * span + count + 1) * shape.keys):
            room.trees_least[k] = NONE


@kernel
def run_window(events, lo, hi, tables, single, links, shape, room, scratch, span):
    """All events of a window and partition, from an empty graph on; `room.order` has their values. (entries, flag)"""
    prepare(single, shape, room, span)
    flag = np.int64(0)
    entries, partial = 0, 0
    i = lo
    while i < hi:
        end = i
        waiting, guards_waiting, dirty, symbol = entries, partial, 0, 0
        while end < hi and events.time[end] == events.time[i]:
            waiting, dirty, flag = append_event(
                events, end, tables, single, links, shape, room, scratch, entries, waiting, span, dirty, flag
            )
            symbol = tables.union[symbol, tables.symbol[events.kind[end]]]
            end += 1
        if len(tables.consume_from):
            for j in range(i, end):
                flag = consume(j, events.kind[j], tables, single, links, shape, room, entries, flag)
        if len(tables.advance_from):
            flag = advance_guards(symbol, tables, single, shape, room, entries, flag)
        if len(room.matched):
            for j in range(i, end):
                guards_waiting = guard_steps(events, j, single, links, room, partial, guards_waiting)
            partial = guards_waiting
            flag = close_gaps(events, tables, single, shape, room, entries, flag)
        flag = commit(shape, room.numbers, 0, room.least, 0, scratch, dirty, flag)
        entries, flag = settle_entries(single, links, shape, room, entries, waiting, span, flag)
        i = end
        if flag >> 62:
            break
    return entries, flag


@kernel
def collect_window(tables, single, shape, room, entries, out, o, out_least, o_least, flag):
    """Add the finished trends of a window to a row of results. (were there any, flag)"""
    width = shape.lanes * shape.words
    found = False
    for state in tables.accepting:
        if not is_zero(room.numbers, state * width, shape.words):
            found = True
            flag = add_entry(
                shape, room.numbers, state * width, room.least, state * shape.keys, out, o, out_least, o_least, flag
            )
        if single.mode[state] == EVENT:
            for e in range(entries):
                if room.entry_state[e] == state:
                    found = True
                    flag = add_entry(
                        shape, room.entry_numbers, e * width, room.entry_least, e * shape.keys,
                        out, o, out_least, o_least, flag,
                    )  # fmt: skip
    return found, flag
