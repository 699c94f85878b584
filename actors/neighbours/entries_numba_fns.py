"""Run the event-grained graph of one partition in one window: trends are kept per event where a later event decides.

Axes as in `counters_numba_fns`. A state is kept in one of three ways (COGRA's mixed granularity):

- TYPE: one counter for all trends in the state;
- EVENT: an entry per last event, which later events read one by one;
- INDEX: an entry per last event in a Fenwick tree over the compared value. The trends that a
  single comparison lets through are a prefix of the values in order (or of the reverse order,
  or one value), so they are summed up in O(log n) where a scan takes O(n).

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
    """By (link, event): values that compare as integers, and whether they are known."""

    left: Any
    right: Any
    left_known: Any
    right_known: Any


class EventTables(NamedTuple):
    """The tables of a machine that concern single events; pointers as in `Tables`."""

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
    guard_first: Any  # by guard position: whether it may start a match, whether it may end one
    guard_last: Any
    guard_follow_at: Any  # by guard position: those that it may follow
    guard_follow: Any
    guard_follow_links_at: Any  # by pair of follow
    guard_follow_link: Any
    guard_taken_at: Any  # by class: the guard positions that it may take
    guard_taken: Any
    close_at: Any  # by guard: the moves that its match causes
    close_from: Any
    close_to: Any


class EntryWorkspace(NamedTuple):
    """Memory for the largest window of one partition."""

    numbers: Any  # the block of type-grained counters
    least: Any
    entry_event: Any  # by entry: its event, its state (-1: over), its aggregates
    entry_state: Any
    entry_numbers: Any
    entry_least: Any
    one: Any  # the sum of one append
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
    """Return whether all predicates of one append (or consume, or guard step) hold between two events."""
    for k in range(at[which], at[which + 1]):
        one = link[k]
        if not (links.left_known[one, before] and links.right_known[one, after]):
            return False
        if not holds(operators[one], links.left[one, before], links.right[one, after]):
            return False
    return True


@part
def below(order, count, value):
    """Return how many of the sorted values are less than `value`."""
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
def tree_sum(shape, work, base, ranks, kind, flag):
    """Add the trends at the first `ranks` ranks, or (POINT) at the last of these alone, to `work.one`."""
    width = shape.lanes * shape.words
    k = ranks
    while k > 0:
        place = base + k
        if not is_zero(work.trees, place * width, shape.words):
            flag = add_entry(
                shape,
                work.trees,
                place * width,
                work.trees_least,
                place * shape.keys,
                work.one,
                0,
                work.one_least,
                0,
                flag,
            )
        if kind == POINT:
            break
        k -= k & -k
    return flag


@part
def look_up(shape, work, single, index, links, event, span, flag):
    """Add the trends of an indexed state that an event may extend to `work.one`."""
    link = single.index_link[index]
    if not links.right_known[link, event]:
        return flag
    value = links.right[link, event]
    count = work.ordered[link]
    values = work.order[link]
    op = single.link_operator[link]
    base = index * span
    if op == LT or op == NE:
        flag = tree_sum(shape, work, base, below(values, count, value), FORWARD, flag)
    elif op == LE:
        flag = tree_sum(shape, work, base, not_above(values, count, value), FORWARD, flag)
    elif op == GT:
        flag = tree_sum(shape, work, base, count - not_above(values, count, value), BACKWARD, flag)
    elif op == GE:
        flag = tree_sum(shape, work, base, count - below(values, count, value), BACKWARD, flag)
    else:
        rank = below(values, count, value)
        if rank < count and values[rank] == value:
            flag = tree_sum(shape, work, base, rank + 1, POINT, flag)
    if op == NE:
        flag = tree_sum(shape, work, base + span, count - not_above(values, count, value), BACKWARD, flag)
    return flag


@part
def enter(shape, work, single, links, e, span, flag):
    """Add an entry to every index of its state."""
    width = shape.lanes * shape.words
    event = work.entry_event[e]
    for index in range(len(single.index_state)):
        link = single.index_link[index]
        if single.index_state[index] == work.entry_state[e] and links.left_known[link, event]:
            count = work.ordered[link]
            rank = below(work.order[link], count, links.left[link, event])
            kind = single.index_kind[index]
            k = count - rank if kind == BACKWARD else rank + 1
            while k <= count:
                place = index * span + k
                flag = add_entry(
                    shape, work.entry_numbers, e * width, work.entry_least, e * shape.keys,
                    work.trees, place * width, work.trees_least, place * shape.keys, flag,
                )  # fmt: skip
                if kind == POINT:
                    break
                k += k & -k
    return flag


@part
def gather(i, a, source, single, links, shape, work, entries, span, flag):
    """Sum up in `work.one` the trends that one append extends, before the event itself is added."""
    width = shape.lanes * shape.words
    clear(work.one, 0, width)
    for key in range(shape.keys):
        work.one_least[key] = NONE
    if single.mode[source] == TYPE or (single.mode[source] == INDEX and single.append_index[a] < 0):
        return add_entry(
            shape, work.numbers, source * width, work.least, source * shape.keys, work.one, 0, work.one_least, 0, flag
        )
    if single.mode[source] == INDEX:
        return look_up(shape, work, single, single.append_index[a], links, i, span, flag)
    for e in range(entries):
        if work.entry_state[e] == source and all_hold(
            single.append_links_at, a, single.append_link, single.link_operator, links, work.entry_event[e], i
        ):
            flag = add_entry(
                shape, work.entry_numbers, e * width, work.entry_least, e * shape.keys,
                work.one, 0, work.one_least, 0, flag,
            )  # fmt: skip
    return flag


@part
def bind(events, i, bound, tables, shape, work, flag):
    """Add event `i` itself to `work.one`, once per trend that it extends."""
    w = shape.words
    for b in range(tables.bound_at[bound], tables.bound_at[bound + 1]):
        lane = tables.bound_lane[b] * w
        column = tables.bound_column[b]
        if column < 0:
            flag = add(work.one, lane, work.one, 0, w, flag)
        else:
            flag = add_times(work.one, lane, work.one, 0, events.values[column, i], w, flag)
    for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
        key = tables.least_key[b]
        work.one_least[key] = min(work.one_least[key], events.keys[tables.least_column[b], i])
    return flag


@part
def entry_for(i, state, shape, work, first, end):
    """Return the waiting entry of event `i` in a state; make one at `end` if there is none."""
    for e in range(first, end):
        if work.entry_state[e] == state and work.entry_event[e] == i:
            return e
    width = shape.lanes * shape.words
    work.entry_event[end] = i
    work.entry_state[end] = state
    clear(work.entry_numbers, end * width, width)
    for key in range(shape.keys):
        work.entry_least[end * shape.keys + key] = NONE
    return end


@part
def append_event(events, i, tables, single, links, shape, work, scratch, entries, waiting, span, dirty, flag):
    """Extend the trends that event `i` is adjacent to; new ones wait. Return (end of entries, dirty states, flag)."""
    width = shape.lanes * shape.words
    kind = events.kind[i]
    first = waiting
    for a in range(tables.append_at[kind], tables.append_at[kind + 1]):
        target = tables.append_to[a]
        flag = gather(i, a, tables.append_from[a], single, links, shape, work, entries, span, flag)
        if is_zero(work.one, 0, shape.words):
            continue
        flag = bind(events, i, tables.append_bound[a], tables, shape, work, flag)
        if single.mode[target] == TYPE:
            if not scratch.marked[target]:
                scratch.marked[target] = True
                scratch.dirty[dirty] = target
                dirty += 1
            flag = add_entry(
                shape, work.one, 0, work.one_least, 0,
                scratch.numbers, target * width, scratch.least, target * shape.keys, flag,
            )  # fmt: skip
        else:
            e = entry_for(i, target, shape, work, first, waiting)
            waiting = max(waiting, e + 1)
            flag = add_entry(
                shape, work.one, 0, work.one_least, 0,
                work.entry_numbers, e * width, work.entry_least, e * shape.keys, flag,
            )  # fmt: skip
    return waiting, dirty, flag


@part
def move_entry(e, target, single, shape, work, flag):
    """Move an entry to another state; end it there if the target is type-grained or -1."""
    width = shape.lanes * shape.words
    work.entry_state[e] = target
    if target >= 0 and single.mode[target] == TYPE:
        flag = add_entry(
            shape, work.entry_numbers, e * width, work.entry_least, e * shape.keys,
            work.numbers, target * width, work.least, target * shape.keys, flag,
        )  # fmt: skip
        work.entry_state[e] = -1
    return flag


@part
def consume(i, kind, tables, single, links, shape, work, entries, flag):
    """Consume the trends that event `i` is adjacent to (skip-till-next), or all older ones (contiguous)."""
    flag = move(
        tables.consume_at, tables.consume_from, tables.consume_to, kind, shape, work.numbers, 0, work.least, 0, flag
    )
    for c in range(tables.consume_at[kind], tables.consume_at[kind + 1]):
        if single.mode[tables.consume_from[c]] == EVENT:
            for e in range(entries):
                if work.entry_state[e] == tables.consume_from[c] and all_hold(
                    single.consume_links_at, c, single.consume_link, single.link_operator, links, work.entry_event[e], i
                ):
                    flag = move_entry(e, tables.consume_to[c], single, shape, work, flag)
    return flag


@part
def advance_guards(symbol, tables, single, shape, work, entries, flag):
    """Advance the negated sub-patterns that have no predicates on neighbours by one step."""
    flag = move(
        tables.advance_at, tables.advance_from, tables.advance_to, symbol, shape, work.numbers, 0, work.least, 0, flag
    )
    for m in range(tables.advance_at[symbol], tables.advance_at[symbol + 1]):
        if single.mode[tables.advance_from[m]] == EVENT:
            for e in range(entries):
                if work.entry_state[e] == tables.advance_from[m]:
                    flag = move_entry(e, tables.advance_to[m], single, shape, work, flag)
    return flag


@kernel
def guard_steps(events, i, single, links, work, partial, waiting):
    """Add the partial matches of guards with predicates on neighbours that event `i` starts or extends.

    Return their new end.
    """
    kind = events.kind[i]
    for k in range(single.guard_taken_at[kind], single.guard_taken_at[kind + 1]):
        position = single.guard_taken[k]
        start = events.time[i] if single.guard_first[position] else -NONE
        for g in range(partial):
            for f in range(single.guard_follow_at[position], single.guard_follow_at[position + 1]):
                if work.guard_position[g] == single.guard_follow[f] and all_hold(
                    single.guard_follow_links_at, f, single.guard_follow_link, single.link_operator,
                    links, work.guard_event[g], i,
                ):  # fmt: skip
                    start = max(start, work.guard_start[g])
        if start > -NONE:
            work.guard_event[waiting] = i
            work.guard_position[waiting] = position
            work.guard_start[waiting] = start
            waiting += 1
            if single.guard_last[position] >= 0:
                guard = single.guard_last[position]
                work.matched[guard] = max(work.matched[guard], start)
    return waiting


@kernel
def close_gaps(events, tables, single, shape, work, entries, flag):
    """End the trends whose gap contains a whole match of a guard."""
    for guard in range(len(work.matched)):
        if work.matched[guard] == -NONE:
            continue
        flag = move(
            single.close_at, single.close_from, single.close_to, guard, shape, work.numbers, 0, work.least, 0, flag
        )
        for m in range(single.close_at[guard], single.close_at[guard + 1]):
            if single.mode[single.close_from[m]] == EVENT:
                for e in range(entries):
                    older = events.time[work.entry_event[e]] < work.matched[guard]
                    if older and work.entry_state[e] == single.close_from[m]:
                        flag = move_entry(e, single.close_to[m], single, shape, work, flag)
    return flag


@part
def settle_entries(single, links, shape, work, entries, waiting, span, flag):
    """Make waiting entries visible to later events, and drop those that are over. Return (entries, flag)."""
    width = shape.lanes * shape.words
    kept = 0
    for e in range(entries):
        if work.entry_state[e] >= 0:
            keep_entry(shape, work, e, kept, width)
            kept += 1
    for e in range(entries, waiting):
        if single.mode[work.entry_state[e]] == INDEX:
            flag = enter(shape, work, single, links, e, span, flag)
            flag = add_entry(
                shape, work.entry_numbers, e * width, work.entry_least, e * shape.keys,
                work.numbers, work.entry_state[e] * width, work.least, work.entry_state[e] * shape.keys, flag,
            )  # fmt: skip
        else:
            keep_entry(shape, work, e, kept, width)
            kept += 1
    return kept, flag


@part
def keep_entry(shape, work, e, kept, width):
    if e == kept:
        return
    work.entry_event[kept] = work.entry_event[e]
    work.entry_state[kept] = work.entry_state[e]
    copy(work.entry_numbers, kept * width, work.entry_numbers, e * width, width)
    copy(work.entry_least, kept * shape.keys, work.entry_least, e * shape.keys, shape.keys)


@kernel
def sift(values, root, count):
    """Sift a value down until no child is greater."""
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
def sort_values(lo, hi, links, link, work):
    """Write the left values of a window in order, by heapsort: NumPy's sort allocates, which kernels must not."""
    values = work.order[link]
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
    work.ordered[link] = count


@kernel
def prepare(single, shape, work, span):
    """Reset the graph, with empty trees over the values in `work.order`."""
    clear(work.numbers, 0, len(work.numbers))
    set_one(work.numbers, 0)
    for k in range(len(work.least)):
        work.least[k] = NONE
    for guard in range(len(work.matched)):
        work.matched[guard] = -NONE
    for index in range(len(single.index_state)):
        link = single.index_link[index]
        count = work.ordered[link]
        width = shape.lanes * shape.words
        clear(work.trees, index * span * width, (count + 1) * width)
        for k in range(index * span * shape.keys, (index * span + count + 1) * shape.keys):
            work.trees_least[k] = NONE


@kernel
def run_window(events, lo, hi, tables, single, links, shape, work, scratch, span):
    """Run all events of a window and partition from an empty graph. Return (entries, flag).

    `work.order` has the sorted values of the events.
    """
    prepare(single, shape, work, span)
    flag = np.int64(0)
    entries, partial = 0, 0
    i = lo
    while i < hi:
        end = i
        waiting, guards_waiting, dirty, symbol = entries, partial, 0, 0
        while end < hi and events.time[end] == events.time[i]:
            waiting, dirty, flag = append_event(
                events, end, tables, single, links, shape, work, scratch, entries, waiting, span, dirty, flag
            )
            symbol = tables.union[symbol, tables.symbol[events.kind[end]]]
            end += 1
        if len(tables.consume_from):
            for j in range(i, end):
                flag = consume(j, events.kind[j], tables, single, links, shape, work, entries, flag)
        if len(tables.advance_from):
            flag = advance_guards(symbol, tables, single, shape, work, entries, flag)
        if len(work.matched):
            for j in range(i, end):
                guards_waiting = guard_steps(events, j, single, links, work, partial, guards_waiting)
            partial = guards_waiting
            flag = close_gaps(events, tables, single, shape, work, entries, flag)
        flag = commit(shape, work.numbers, 0, work.least, 0, scratch, dirty, flag)
        entries, flag = settle_entries(single, links, shape, work, entries, waiting, span, flag)
        i = end
        if flag >> 62:
            break
    return entries, flag


@kernel
def collect_window(tables, single, shape, work, entries, out, o, out_least, o_least, flag):
    """Add the finished trends of a window to a row of results. Return (whether there were any, flag)."""
    width = shape.lanes * shape.words
    found = False
    for state in tables.accepting:
        if not is_zero(work.numbers, state * width, shape.words):
            found = True
            flag = add_entry(
                shape, work.numbers, state * width, work.least, state * shape.keys, out, o, out_least, o_least, flag
            )
        if single.mode[state] == EVENT:
            for e in range(entries):
                if work.entry_state[e] == state:
                    found = True
                    flag = add_entry(
                        shape, work.entry_numbers, e * width, work.entry_least, e * shape.keys,
                        out, o, out_least, o_least, flag,
                    )  # fmt: skip
    return found, flag
