"""One window of many event-grained queries: what predicates on neighbours let through, once for all who ask alike.

Where an event's predecessors differ from query to query, its own trends are a snapshot at event level (HAMLET,
Definition 3.11). Here every event has one, an *entry*: its aggregates per sharer, one behind the other as in the table
of snapshots. Sharers with the same predicates on neighbours are a *link lane* and stand side by side: the search for
predecessors is made once, and what is found is added for the whole lane, a vector at a time.

A lane with one comparison has Fenwick trees as in `event_numba_fns`, whose nodes are as wide as the lane; one with
several looks at the entries one by one; one without takes all trends of the graphlet so far.

Between events of another type, the trends that come from before E+ do not change: they are the snapshot at
graphlet level, and what the events of E end adds up beside it until the graphlet is closed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE, Shape
from elsinore.actors.algebra.numbers_numba_fns import clear, copy, is_zero, set_one
from elsinore.actors.hamlet.bursts_numba_fns import one_by_one, same_time
from elsinore.actors.hamlet.graphlets_numba_fns import NOBODY, in_lanes, lengthen_by, shorten_to
from elsinore.actors.neighbours.entries_numba_fns import EQ, GE, GT, LE, LT, NE, add_entry, all_hold, below, not_above
from elsinore.planner.kernels.compiled import kernel, part

FREE, INDEX, SCAN = 0, 1, 2
"""How a lane finds predecessors: all there are; in trees; one by one."""


class Lanes(NamedTuple):
    """Link lanes; ranges are given by pointers into the next columns."""

    at: Any  # by Kleene
    mode: Any
    value_at: Any  # in an entry: the lane's first number, counted in numbers, not words
    numbers: Any
    least_at: Any
    keys: Any
    tree_at: Any  # numbers of all nodes of one rank that stand before the lane's own
    tree_least_at: Any
    link_at: Any
    link: Any
    operator: Any  # by link
    everybody: Any  # by Kleene: all lanes of local predicates, as bits
    counting: Any  # by Kleene: do its events only count?
    numbers_of: Any  # by Kleene: of a whole entry, as `keys_of`
    keys_of: Any
    scanned: Any  # does any lane look at single entries?


class Room(NamedTuple):
    """What the largest window of one partition needs."""

    entry_event: Any
    entries: Any  # (entry, sharer, row, lane, word), flat
    least: Any
    width: Any  # of one entry
    keys: Any
    before: Any  # by Kleene: the snapshot at graphlet level, as wide as an entry
    before_least: Any
    total: Any  # by Kleene: all trends that end in the graphlet
    total_least: Any
    trees: Any  # lane by lane
    trees_least: Any
    span: Any  # ranks that a tree has room for


class Window(NamedTuple):
    """The events of a window by partition: where these begin, and what is compared, in order."""

    runs: Any
    after: Any
    order: Any  # (link, event)
    counts: Any  # (link, partition)


class Results(NamedTuple):
    """Rows of a window: member by member, and there by group."""

    numbers: Any
    least: Any
    at: Any  # by member
    least_at: Any
    found: Any  # (member, group)
    group_of: Any
    accept_at: Any  # by member: the states in which trends are finished
    accept: Any


@part
def whole(kleene, lanes, w):
    return Shape(1, 1, lanes.numbers_of[kleene], lanes.keys_of[kleene], w)


@part
def lane_shape(lane, lanes, w):
    return Shape(1, 1, lanes.numbers[lane], lanes.keys[lane], w)


@part
def nothing(numbers, at, least, least_at, shape):
    """No trend."""
    clear(numbers, at, shape.lanes * shape.words)
    for key in range(least_at, least_at + shape.keys):
        least[key] = NONE


@part
def member_shape(m, members, w):
    return Shape(1, 1, members.lanes[m], members.keys[m], w)


@part
def open_graphlet(kleene, members, sharers, lanes, room, numbers, least, w, flag):
    """The snapshot at graphlet level (Definition 3.9); no event of the graphlet has ended a trend."""
    base = kleene * room.width
    base_key = kleene * room.keys
    nothing(room.total, base, room.total_least, base_key, whole(kleene, lanes, w))
    nothing(room.before, base, room.before_least, base_key, whole(kleene, lanes, w))
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
            src = members.base[m] + sharers.input[k] * shape.lanes * w
            if not is_zero(numbers, src, w):
                flag = add_entry(
                    shape, numbers, src, least, members.least_base[m] + sharers.input[k] * shape.keys,
                    room.before, base + sharers.value_at[s], room.before_least, base_key + sharers.least_at[s], flag,
                )  # fmt: skip
    return flag


@part
def close_graphlet(kleene, members, sharers, room, numbers, least, w, flag):
    """All trends that end in the graphlet, to those that ended before it."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        src = kleene * room.width + sharers.value_at[s]
        if not is_zero(room.total, src, w):
            flag = add_entry(
                shape, room.total, src, room.total_least, kleene * room.keys + sharers.least_at[s],
                numbers, members.base[m] + sharers.target[s] * shape.lanes * w,
                least, members.least_base[m] + sharers.target[s] * shape.keys, flag,
            )  # fmt: skip
    return flag


@part
def sum_tree(shape, room, tree, tree_key, ranks, one_rank, dst, dst_key, flag):
    """Add the trends at the first `ranks` ranks, or at the last of these alone, to an entry."""
    k = ranks
    while k > 0:
        flag = add_entry(
            shape, room.trees, tree + k * shape.lanes * shape.words, room.trees_least, tree_key + k * shape.keys,
            room.entries, dst, room.least, dst_key, flag,
        )  # fmt: skip
        if one_rank:
            break
        k -= k & -k
    return flag


@part
def raise_tree(shape, room, tree, tree_key, rank, ranks, one_rank, src, src_key, flag):
    """Put an entry at a rank of a tree."""
    k = rank
    while k <= ranks:
        flag = add_entry(
            shape, room.entries, src, room.least, src_key,
            room.trees, tree + k * shape.lanes * shape.words, room.trees_least, tree_key + k * shape.keys, flag,
        )  # fmt: skip
        if one_rank:
            break
        k += k & -k
    return flag


@part
def look_up(i, lane, slot, lanes, links, window, room, dst, dst_key, w, flag):
    """The trends of an indexed lane that event `i` may lengthen: those before it in order, or behind it, or equal."""
    link = lanes.link[lanes.link_at[lane]]
    if not links.right_known[link, i]:
        return flag
    shape = lane_shape(lane, lanes, w)
    tree = lanes.tree_at[lane] * room.span * w
    tree_key = lanes.tree_least_at[lane] * room.span
    count = window.counts[link, slot]
    values = window.order[link, window.runs[slot] : window.runs[slot + 1]]
    less = below(values, count, links.right[link, i])
    up_to = not_above(values, count, links.right[link, i])
    op = lanes.operator[link]
    if op == EQ:
        if less == up_to:
            return flag
        return sum_tree(shape, room, tree, tree_key, less + 1, True, dst, dst_key, flag)
    forward, backward = 0, 0
    if op == LT or op == NE:
        forward = less
    if op == LE:
        forward = up_to
    if op == GT or op == NE:
        backward = count - up_to
    if op == GE:
        backward = count - less
    flag = sum_tree(shape, room, tree, tree_key, forward, False, dst, dst_key, flag)
    if op == NE:
        tree += room.span * shape.lanes * w
        tree_key += room.span * shape.keys
    return sum_tree(shape, room, tree, tree_key, backward, False, dst, dst_key, flag)


@part
def enter(i, lane, slot, lanes, links, window, room, src, src_key, w, flag):
    """From now on the entry of event `i` is found by later ones."""
    link = lanes.link[lanes.link_at[lane]]
    if not links.left_known[link, i]:
        return flag
    shape = lane_shape(lane, lanes, w)
    tree = lanes.tree_at[lane] * room.span * w
    tree_key = lanes.tree_least_at[lane] * room.span
    count = window.counts[link, slot]
    values = window.order[link, window.runs[slot] : window.runs[slot + 1]]
    rank = below(values, count, links.left[link, i])
    op = lanes.operator[link]
    if op == EQ or op == NE or op == LT or op == LE:
        flag = raise_tree(shape, room, tree, tree_key, rank + 1, count, op == EQ, src, src_key, flag)
    if op == NE:
        tree += room.span * shape.lanes * w
        tree_key += room.span * shape.keys
    if op == NE or op == GT or op == GE:
        flag = raise_tree(shape, room, tree, tree_key, count - rank, count, False, src, src_key, flag)
    return flag


@part
def scan(events, i, kleene, lane, types, lanes, links, room, entries, dst, dst_key, w, flag):
    """The trends of a lane that event `i` may lengthen, where several predicates have to hold."""
    shape = lane_shape(lane, lanes, w)
    for e in range(entries):
        other = room.entry_event[e]
        if types.kleene[types.of_kind[events.kind[other]]] == kleene and all_hold(
            lanes.link_at, lane, lanes.link, lanes.operator, links, other, i
        ):
            flag = add_entry(
                shape, room.entries, e * room.width + lanes.value_at[lane] * w,
                room.least, e * room.keys + lanes.least_at[lane], room.entries, dst, room.least, dst_key, flag,
            )  # fmt: skip
    return flag


@part
def find_predecessors(events, i, kleene, slot, types, lanes, links, window, room, entries, e, w, flag):
    """Entry `e`, before the event itself is added: the trends that it lengthens."""
    base, base_key = kleene * room.width, kleene * room.keys
    copy(room.entries, e * room.width, room.before, base, lanes.numbers_of[kleene] * w)
    copy(room.least, e * room.keys, room.before_least, base_key, lanes.keys_of[kleene])
    for lane in range(lanes.at[kleene], lanes.at[kleene + 1]):
        value, key = lanes.value_at[lane] * w, lanes.least_at[lane]
        dst = e * room.width + value
        dst_key = e * room.keys + key
        if lanes.mode[lane] == INDEX:
            flag = look_up(i, lane, slot, lanes, links, window, room, dst, dst_key, w, flag)
        elif lanes.mode[lane] == SCAN:
            flag = scan(events, i, kleene, lane, types, lanes, links, room, entries, dst, dst_key, w, flag)
        else:
            flag = add_entry(
                lane_shape(lane, lanes, w), room.total, base + value, room.total_least, base_key + key,
                room.entries, dst, room.least, dst_key, flag,
            )  # fmt: skip
    return flag


@part
def bind(events, i, kleene, members, sharers, lanes, room, e, w, flag):
    """The event itself, once per trend that it lengthens, for those who take it; the others have no trend here."""
    took = sharers.takes[events.kind[i]]
    if took == lanes.everybody[kleene] and lanes.counting[kleene]:
        return flag
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        dst = e * room.width + sharers.value_at[s]
        dst_key = e * room.keys + sharers.least_at[s]
        if not in_lanes(took, sharers.lane[s]):
            nothing(room.entries, dst, room.least, dst_key, shape)
        elif not is_zero(room.entries, dst, w):
            flag = lengthen_by(events, i, s, kleene, m, members, sharers, room.entries, dst, room.entries, dst, w, flag)
            shorten_to(events, i, s, kleene, shape.keys, sharers, room.least, dst_key)
    return flag


@part
def is_empty(room, e, shape):
    """Does the event end no trend of anybody?"""
    for k in range(e * room.width, e * room.width + shape.lanes * shape.words, shape.words):
        if not is_zero(room.entries, k, shape.words):
            return False
    return True


@part
def settle(i, kleene, slot, lanes, links, window, room, e, w, flag):
    """An entry that waited may be lengthened from now on. (was there anything to it, flag)"""
    shape = whole(kleene, lanes, w)
    src, src_key = e * room.width, e * room.keys
    if is_empty(room, e, shape):
        return False, flag
    flag = add_entry(
        shape, room.entries, src, room.least, src_key,
        room.total, kleene * room.width, room.total_least, kleene * room.keys, flag,
    )  # fmt: skip
    for lane in range(lanes.at[kleene], lanes.at[kleene + 1]):
        if lanes.mode[lane] == INDEX:
            flag = enter(
                i, lane, slot, lanes, links, window, room,
                src + lanes.value_at[lane] * w, src_key + lanes.least_at[lane], w, flag,
            )  # fmt: skip
    return True, flag


@part
def prepare(slot, members, lanes, window, room, numbers, least, w):
    """An empty graph: the empty trend of every member, and trees over the values of this partition."""
    clear(numbers, 0, len(numbers))
    for key in range(len(least)):
        least[key] = NONE
    for m in range(len(members.base)):
        set_one(numbers, members.base[m])
    for lane in range(len(lanes.mode)):
        if lanes.mode[lane] == INDEX:
            link = lanes.link[lanes.link_at[lane]]
            used = window.counts[link, slot] + 1
            shape = lane_shape(lane, lanes, w)
            trees = 2 if lanes.operator[link] == NE else 1
            for tree in range(trees):
                base = (lanes.tree_at[lane] + tree * shape.lanes) * room.span
                base_key = (lanes.tree_least_at[lane] + tree * shape.keys) * room.span
                clear(room.trees, base * w, used * shape.lanes * w)
                for key in range(base_key, base_key + used * shape.keys):
                    room.trees_least[key] = NONE


@part
def collect_member(m, slot, members, results, numbers, least, w, flag):
    """Add the finished trends of a member to the row of the partition's group."""
    shape = member_shape(m, members, w)
    group = results.group_of[slot]
    for k in range(results.accept_at[m], results.accept_at[m + 1]):
        src = members.base[m] + results.accept[k] * shape.lanes * w
        if not is_zero(numbers, src, w):
            results.found[m, group] = True
            flag = add_entry(
                shape, numbers, src, least, members.least_base[m] + results.accept[k] * shape.keys,
                results.numbers, (results.at[m] + group * shape.lanes) * w,
                results.least, results.least_at[m] + group * shape.keys, flag,
            )  # fmt: skip
    return flag


@kernel
def run_linked(
    events, window, members, sharers, types, tables, lanes, links, room, scratch, numbers, least, w, results
):
    """All events of a window, partition by partition, each from an empty graph on. The flag.

    Events of equal time act at once: entries are made of what was before them, then all other events go
    through the machines of those who take them, and then the entries may be lengthened.
    """
    flag = np.int64(0)
    for slot in range(len(window.runs) - 1):
        i = window.runs[slot]
        if i == window.runs[slot + 1]:
            continue
        prepare(slot, members, lanes, window, room, numbers, least, w)
        entries = 0
        # The Kleenes with an open graphlet.
        opened, opened_end = 0, 0
        while i >= 0:
            behind, count, alike = same_time(events, window.after, i, types)
            end = i + count
            first, last = 0, len(lanes.everybody)
            if alike:
                first = max(types.kleene[types.of_kind[events.kind[i]]], 0)
                last = first + (types.kleene[types.of_kind[events.kind[i]]] >= 0)
            if not alike or first != opened or last != opened_end:
                for kleene in range(opened, opened_end):
                    flag = close_graphlet(kleene, members, sharers, room, numbers, least, w, flag)
                for kleene in range(first, last):
                    flag = open_graphlet(kleene, members, sharers, lanes, room, numbers, least, w, flag)
                opened, opened_end = first, last
            waiting = entries
            for j in range(i, end):
                kleene = types.kleene[types.of_kind[events.kind[j]]]
                if kleene >= 0 and sharers.takes[events.kind[j]] != NOBODY:
                    flag = find_predecessors(
                        events, j, kleene, slot, types, lanes, links, window, room, entries, waiting, w, flag
                    )
                    flag = bind(events, j, kleene, members, sharers, lanes, room, waiting, w, flag)
                    room.entry_event[waiting] = j
                    waiting += 1
            own = types.of_kind[events.kind[i]]
            first, last = 0, len(members.base)
            if alike:
                first, last = types.care_at[own], types.care_at[own + 1]
            for k in range(first, last):
                m = types.care[k] if alike else k
                flag = one_by_one(
                    events, window.after, i, behind, m, members, tables, 0, numbers, least, w, scratch, flag
                )
            kept = entries
            for e in range(entries, waiting):
                j = room.entry_event[e]
                kleene = types.kleene[types.of_kind[events.kind[j]]]
                some, flag = settle(j, kleene, slot, lanes, links, window, room, e, w, flag)
                if some and lanes.scanned:
                    if e != kept:
                        room.entry_event[kept] = j
                        copy(room.entries, kept * room.width, room.entries, e * room.width, room.width)
                        copy(room.least, kept * room.keys, room.least, e * room.keys, room.keys)
                    kept += 1
            entries = kept
            if not alike:
                for kleene in range(opened, opened_end):
                    flag = close_graphlet(kleene, members, sharers, room, numbers, least, w, flag)
                opened, opened_end = 0, 0
            i = behind
            if flag >> 62:
                return flag
        for kleene in range(opened, opened_end):
            flag = close_graphlet(kleene, members, sharers, room, numbers, least, w, flag)
        for m in range(len(members.base)):
            flag = collect_member(m, slot, members, results, numbers, least, w, flag)
    return flag
