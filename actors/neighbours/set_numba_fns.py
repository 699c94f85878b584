"""Run one window of many event-grained queries, with one search for all that compare neighbours alike.

Where the predecessors of an event differ from query to query, its own trends are a snapshot at event level (HAMLET,
Definition 3.11). Here every event has one, an *entry*: its aggregates per sharer, adjacent as in the table of
snapshots. Sharers with the same predicates on neighbours are a *link lane*, and adjacent: the search for predecessors
is made once per lane, and what it finds is added for the whole lane, a vector at a time.

A lane with one comparison has Fenwick trees as in `entries_numba_fns`, whose nodes are as wide as the lane; one with
several reads the entries one by one; one without takes all trends of the graphlet so far.

Between events of another type, the trends that come from before E+ do not change: they are the snapshot at
graphlet level. The trends that events of E end add up beside it until the graphlet is closed.
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
"""How a lane finds predecessors: it takes all; in trees; one by one."""


class Lanes(NamedTuple):
    """Link lanes; ranges are given by pointers into the next columns."""

    at: Any  # by Kleene
    mode: Any
    value_at: Any  # in an entry: the lane's first number, counted in numbers, not words
    numbers: Any
    least_at: Any
    keys: Any
    tree_at: Any  # how many numbers the nodes of the lanes before have, per rank
    tree_least_at: Any
    link_at: Any
    link: Any
    operator: Any  # by link
    everybody: Any  # by Kleene: all lanes of local predicates, as bits
    counting: Any  # by Kleene: whether its events are only counted
    numbers_of: Any  # by Kleene: of a whole entry, as `keys_of`
    keys_of: Any
    scanned: Any  # whether any lane reads single entries


class LinkedWorkspace(NamedTuple):
    """Memory for the largest window of one partition."""

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
    span: Any  # the number of ranks of a tree


class Window(NamedTuple):
    """The events of a window by partition: where these begin, and the compared values in order."""

    runs: Any
    after: Any
    order: Any  # (link, event)
    counts: Any  # (link, partition)


class LinkedResults(NamedTuple):
    """The rows of a window: member by member, and there by group."""

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
    """Write the aggregates of no trend."""
    clear(numbers, at, shape.lanes * shape.words)
    for key in range(least_at, least_at + shape.keys):
        least[key] = NONE


@part
def member_shape(m, members, w):
    return Shape(1, 1, members.lanes[m], members.keys[m], w)


@part
def open_graphlet(kleene, members, sharers, lanes, work, numbers, least, w, flag):
    """Write the snapshot at graphlet level (Definition 3.9); no event of the graphlet has ended a trend yet."""
    base = kleene * work.width
    base_key = kleene * work.keys
    nothing(work.total, base, work.total_least, base_key, whole(kleene, lanes, w))
    nothing(work.before, base, work.before_least, base_key, whole(kleene, lanes, w))
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        for k in range(sharers.input_at[s], sharers.input_at[s + 1]):
            src = members.base[m] + sharers.input[k] * shape.lanes * w
            if not is_zero(numbers, src, w):
                flag = add_entry(
                    shape, numbers, src, least, members.least_base[m] + sharers.input[k] * shape.keys,
                    work.before, base + sharers.value_at[s], work.before_least, base_key + sharers.least_at[s], flag,
                )  # fmt: skip
    return flag


@part
def close_graphlet(kleene, members, sharers, work, numbers, least, w, flag):
    """Add the trends that end in the graphlet to those that ended before it."""
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        src = kleene * work.width + sharers.value_at[s]
        if not is_zero(work.total, src, w):
            flag = add_entry(
                shape, work.total, src, work.total_least, kleene * work.keys + sharers.least_at[s],
                numbers, members.base[m] + sharers.target[s] * shape.lanes * w,
                least, members.least_base[m] + sharers.target[s] * shape.keys, flag,
            )  # fmt: skip
    return flag


@part
def sum_tree(shape, work, tree, tree_key, ranks, one_rank, dst, dst_key, flag):
    """Add the trends at the first `ranks` ranks, or only those at the last of these, to an entry."""
    k = ranks
    while k > 0:
        flag = add_entry(
            shape, work.trees, tree + k * shape.lanes * shape.words, work.trees_least, tree_key + k * shape.keys,
            work.entries, dst, work.least, dst_key, flag,
        )  # fmt: skip
        if one_rank:
            break
        k -= k & -k
    return flag


@part
def raise_tree(shape, work, tree, tree_key, rank, ranks, one_rank, src, src_key, flag):
    """Add an entry to a tree, at a rank."""
    k = rank
    while k <= ranks:
        flag = add_entry(
            shape, work.entries, src, work.least, src_key,
            work.trees, tree + k * shape.lanes * shape.words, work.trees_least, tree_key + k * shape.keys, flag,
        )  # fmt: skip
        if one_rank:
            break
        k += k & -k
    return flag


@part
def look_up(i, lane, slot, lanes, links, window, work, dst, dst_key, w, flag):
    """Add the trends of an indexed lane that event `i` may extend: those before it in order, behind it, or equal."""
    link = lanes.link[lanes.link_at[lane]]
    if not links.right_known[link, i]:
        return flag
    shape = lane_shape(lane, lanes, w)
    tree = lanes.tree_at[lane] * work.span * w
    tree_key = lanes.tree_least_at[lane] * work.span
    count = window.counts[link, slot]
    values = window.order[link, window.runs[slot] : window.runs[slot + 1]]
    less = below(values, count, links.right[link, i])
    up_to = not_above(values, count, links.right[link, i])
    op = lanes.operator[link]
    if op == EQ:
        if less == up_to:
            return flag
        return sum_tree(shape, work, tree, tree_key, less + 1, True, dst, dst_key, flag)
    forward, backward = 0, 0
    if op == LT or op == NE:
        forward = less
    if op == LE:
        forward = up_to
    if op == GT or op == NE:
        backward = count - up_to
    if op == GE:
        backward = count - less
    flag = sum_tree(shape, work, tree, tree_key, forward, False, dst, dst_key, flag)
    if op == NE:
        tree += work.span * shape.lanes * w
        tree_key += work.span * shape.keys
    return sum_tree(shape, work, tree, tree_key, backward, False, dst, dst_key, flag)


@part
def enter(i, lane, slot, lanes, links, window, work, src, src_key, w, flag):
    """Add the entry of event `i` to the trees of a lane, where later events find it."""
    link = lanes.link[lanes.link_at[lane]]
    if not links.left_known[link, i]:
        return flag
    shape = lane_shape(lane, lanes, w)
    tree = lanes.tree_at[lane] * work.span * w
    tree_key = lanes.tree_least_at[lane] * work.span
    count = window.counts[link, slot]
    values = window.order[link, window.runs[slot] : window.runs[slot + 1]]
    rank = below(values, count, links.left[link, i])
    op = lanes.operator[link]
    if op == EQ or op == NE or op == LT or op == LE:
        flag = raise_tree(shape, work, tree, tree_key, rank + 1, count, op == EQ, src, src_key, flag)
    if op == NE:
        tree += work.span * shape.lanes * w
        tree_key += work.span * shape.keys
    if op == NE or op == GT or op == GE:
        flag = raise_tree(shape, work, tree, tree_key, count - rank, count, False, src, src_key, flag)
    return flag


@part
def scan(events, i, kleene, lane, types, lanes, links, work, entries, dst, dst_key, w, flag):
    """Add the trends of a lane with several predicates that event `i` may extend."""
    shape = lane_shape(lane, lanes, w)
    for e in range(entries):
        other = work.entry_event[e]
        if types.kleene[types.of_kind[events.kind[other]]] == kleene and all_hold(
            lanes.link_at, lane, lanes.link, lanes.operator, links, other, i
        ):
            flag = add_entry(
                shape, work.entries, e * work.width + lanes.value_at[lane] * w,
                work.least, e * work.keys + lanes.least_at[lane], work.entries, dst, work.least, dst_key, flag,
            )  # fmt: skip
    return flag


@part
def find_predecessors(events, i, kleene, slot, types, lanes, links, window, work, entries, e, w, flag):
    """Write entry `e`, before the event itself is added: the trends that it extends."""
    base, base_key = kleene * work.width, kleene * work.keys
    copy(work.entries, e * work.width, work.before, base, lanes.numbers_of[kleene] * w)
    copy(work.least, e * work.keys, work.before_least, base_key, lanes.keys_of[kleene])
    for lane in range(lanes.at[kleene], lanes.at[kleene + 1]):
        value, key = lanes.value_at[lane] * w, lanes.least_at[lane]
        dst = e * work.width + value
        dst_key = e * work.keys + key
        if lanes.mode[lane] == INDEX:
            flag = look_up(i, lane, slot, lanes, links, window, work, dst, dst_key, w, flag)
        elif lanes.mode[lane] == SCAN:
            flag = scan(events, i, kleene, lane, types, lanes, links, work, entries, dst, dst_key, w, flag)
        else:
            flag = add_entry(
                lane_shape(lane, lanes, w), work.total, base + value, work.total_least, base_key + key,
                work.entries, dst, work.least, dst_key, flag,
            )  # fmt: skip
    return flag


@part
def bind(events, i, kleene, members, sharers, lanes, work, e, w, flag):
    """Add the event itself, once per trend, for the sharers that take it; clear the entry of the others."""
    took = sharers.takes[events.kind[i]]
    if took == lanes.everybody[kleene] and lanes.counting[kleene]:
        return flag
    for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
        m = sharers.member[s]
        shape = member_shape(m, members, w)
        dst = e * work.width + sharers.value_at[s]
        dst_key = e * work.keys + sharers.least_at[s]
        if not in_lanes(took, sharers.lane[s]):
            nothing(work.entries, dst, work.least, dst_key, shape)
        elif not is_zero(work.entries, dst, w):
            flag = lengthen_by(events, i, s, kleene, m, members, sharers, work.entries, dst, work.entries, dst, w, flag)
            shorten_to(events, i, s, kleene, shape.keys, sharers, work.least, dst_key)
    return flag


@part
def is_empty(work, e, shape):
    """Return whether the event ends no trend of any query."""
    for k in range(e * work.width, e * work.width + shape.lanes * shape.words, shape.words):
        if not is_zero(work.entries, k, shape.words):
            return False
    return True


@part
def settle(i, kleene, slot, lanes, links, window, work, e, w, flag):
    """Make a waiting entry visible to later events. Return (whether it has any trend, flag)."""
    shape = whole(kleene, lanes, w)
    src, src_key = e * work.width, e * work.keys
    if is_empty(work, e, shape):
        return False, flag
    flag = add_entry(
        shape, work.entries, src, work.least, src_key,
        work.total, kleene * work.width, work.total_least, kleene * work.keys, flag,
    )  # fmt: skip
    for lane in range(lanes.at[kleene], lanes.at[kleene + 1]):
        if lanes.mode[lane] == INDEX:
            flag = enter(
                i, lane, slot, lanes, links, window, work,
                src + lanes.value_at[lane] * w, src_key + lanes.least_at[lane], w, flag,
            )  # fmt: skip
    return True, flag


@part
def prepare(slot, members, lanes, window, work, numbers, least, w):
    """Reset the graph: the empty trend of every member, and empty trees over the values of this partition."""
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
                base = (lanes.tree_at[lane] + tree * shape.lanes) * work.span
                base_key = (lanes.tree_least_at[lane] + tree * shape.keys) * work.span
                clear(work.trees, base * w, used * shape.lanes * w)
                for key in range(base_key, base_key + used * shape.keys):
                    work.trees_least[key] = NONE


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
    events, window, members, sharers, types, tables, lanes, links, work, scratch, numbers, least, w, results
):
    """Run all events of a window, partition by partition, each from an empty graph.

    Events of equal time act at once: entries are made of the trends before them, then all other events go
    through the machines of the members that take them, and then the entries become visible.
    """
    flag = np.int64(0)
    for slot in range(len(window.runs) - 1):
        i = window.runs[slot]
        if i == window.runs[slot + 1]:
            continue
        prepare(slot, members, lanes, window, work, numbers, least, w)
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
                    flag = close_graphlet(kleene, members, sharers, work, numbers, least, w, flag)
                for kleene in range(first, last):
                    flag = open_graphlet(kleene, members, sharers, lanes, work, numbers, least, w, flag)
                opened, opened_end = first, last
            waiting = entries
            for j in range(i, end):
                kleene = types.kleene[types.of_kind[events.kind[j]]]
                if kleene >= 0 and sharers.takes[events.kind[j]] != NOBODY:
                    flag = find_predecessors(
                        events, j, kleene, slot, types, lanes, links, window, work, entries, waiting, w, flag
                    )
                    flag = bind(events, j, kleene, members, sharers, lanes, work, waiting, w, flag)
                    work.entry_event[waiting] = j
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
                j = work.entry_event[e]
                kleene = types.kleene[types.of_kind[events.kind[j]]]
                some, flag = settle(j, kleene, slot, lanes, links, window, work, e, w, flag)
                if some and lanes.scanned:
                    if e != kept:
                        work.entry_event[kept] = j
                        copy(work.entries, kept * work.width, work.entries, e * work.width, work.width)
                        copy(work.least, kept * work.keys, work.least, e * work.keys, work.keys)
                    kept += 1
            entries = kept
            if not alike:
                for kleene in range(opened, opened_end):
                    flag = close_graphlet(kleene, members, sharers, work, numbers, least, w, flag)
                opened, opened_end = 0, 0
            i = behind
            if flag >> 62:
                return flag
        for kleene in range(opened, opened_end):
            flag = close_graphlet(kleene, members, sharers, work, numbers, least, w, flag)
        for m in range(len(members.base)):
            flag = collect_member(m, slot, members, results, numbers, least, w, flag)
    return flag
