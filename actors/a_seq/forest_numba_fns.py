"""Count by start event (A-Seq, Sections 3.2, 3.3, 4): windows that move with every event, of many queries.

A tree has a *row* for every time at which its start events arrive, and drops it when that time has left all windows;
all its counters are adjacent, so that an event extends the trends of all rows in one loop. An event reads the counter
of the node before, and adds to that of its own node (Lemma 1). Events of equal time act at once: nodes are visited from
the leaves to the root, so that none reads what was added at the same time.

Where a sequence is chopped, each row of the piece has a *snapshot* of what the pieces before it had counted when it
began, by row of the first piece (Section 4.2). It is kept as sums from the last row back: what is left of it when rows
have expired is then one number, and nothing is ever subtracted. If the piece before is only a start event and only
trends are counted, that number is the number of start events, less those before the window's first row.

Axes of numbers: column (the count of a node, and then its sums), row, word; flat. Minima in `least` likewise. Axes of
snapshots: lane, row of the first piece, word. A *target* is what trends are counted for: first connections, then
members.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.algebra.many_numba_fns import add_all, add_each, add_multiples, add_products, sum_back
from elsinore.actors.algebra.numbers_numba_fns import add, add_product, add_times, clear, is_zero
from elsinore.planner.kernels.compiled import kernel, part

DONE, NUMBERS, FULL = 0, 1, 2
"""Why a run stopped: it is complete, a number overflowed, or the rings are too short for the snapshots."""


class Trees(NamedTuple):
    """The nodes, numbered from the roots on; ranges are given by pointers into the next columns."""

    tree: Any  # by node
    parent: Any  # by node; -1: of start events
    column_at: Any  # by node: its count, and behind it its sums
    low_at: Any  # by node: its minima
    tree_column_at: Any  # by tree: all columns
    tree_low_at: Any
    flow_at: Any  # by node: what comes from the node before
    flow_from: Any
    flow_to: Any
    own_at: Any  # by node: sums of its own events
    own_to: Any
    own_value: Any  # -1: each event counts 1
    fall_at: Any  # by node: minima that come from the node before
    fall_from: Any
    fall_to: Any
    key_at: Any  # by node: minima of its own events
    key_to: Any
    key: Any
    act_at: Any  # by kind: nodes that take such an event, or whose counters it empties, from the leaves on
    act: Any
    takes: Any  # (kind, node)
    empties: Any  # (kind, node)


class Targets(NamedTuple):
    """What is counted at the end of a sequence, or at the begin of a piece of it."""

    connections: Any  # how many of them there are
    connects: Any  # by kind: whether such an event starts a tree with connections
    at: Any  # by tree: the connections that its start events make
    bare: Any  # by connection: whether only start events are before it, and only their number is needed
    tree: Any  # by connection: that tree
    before: Any  # by target: the connection of its last piece; -1: it has one piece
    start: Any  # by target: the tree of its first piece
    leaf: Any  # by target: the node that its last piece ends with
    lane_at: Any  # by target: its count and sums
    lane_from: Any  # lane of the connection before; -1: of the last piece
    lane_column: Any  # column of the last piece; -1: of the connection before
    low_at: Any  # by target: its minima
    low_from: Any
    low_column: Any
    within: Any  # by member
    longest: Any


class StartRows(NamedTuple):
    """The rows of all trees, one per time of start events, of one partition at a time."""

    size: Any  # the capacity of each tree, in rows
    words: Any
    one: Any  # the number 1
    numbers: Any
    least: Any
    time: Any  # (tree, row), flat
    starts: Any  # (tree, row), flat: start events before it
    first: Any  # by tree
    last: Any
    started: Any  # by tree: start events so far
    head: Any  # by member: the first row that is in its window


class Snapshots(NamedTuple):
    """By connection and row of the tree at which it is made. All but bare ones lie in rings, one for each lane."""

    capacity: Any  # places of a ring
    numbers: Any
    least: Any
    ring_at: Any  # by connection: its first ring
    low_ring_at: Any
    begin: Any  # (connection, row), flat: the first row that a snapshot tells of
    end: Any
    shift: Any  # from a row that it tells of to the place in a ring
    starts: Any  # of bare ones: start events before it


class Questions(NamedTuple):
    """The windows that are due, by group and then by time; `row` is that of the results."""

    at: Any
    time: Any
    member: Any
    row: Any


class Answers(NamedTuple):
    """The results of all members."""

    numbers: Any
    least: Any
    at: Any  # by member: its first number and its first minimum
    least_at: Any
    found: Any  # by row, over all members
    row_at: Any


@kernel
def most_starts(kinds, runs, starts, counts):
    """Return the most start events that a tree has in one partition, at least 1.

    `starts` says by kind and tree whether it is a start event.
    """
    most = 1
    for slot in range(len(runs) - 1):
        counts[:] = 0
        for i in range(runs[slot], runs[slot + 1]):
            counts[kinds[i]] += 1
        for tree in range(starts.shape[1]):
            total = 0
            for kind in range(len(counts)):
                if starts[kind, tree]:
                    total += counts[kind]
            most = max(most, total)
    return most


@part
def expire(tree, time, targets, rows):
    """Drop the rows that have left all windows."""
    base = tree * rows.size
    while rows.first[tree] < rows.last[tree] and rows.time[base + rows.first[tree]] <= time - targets.longest:
        rows.first[tree] += 1


@part
def begin_row(tree, time, trees, rows):
    """Make a row for the start events of this time, with nothing counted yet."""
    row = rows.last[tree]
    rows.last[tree] += 1
    rows.time[tree * rows.size + row] = time
    rows.starts[tree * rows.size + row] = rows.started[tree]
    for column in range(trees.tree_column_at[tree], trees.tree_column_at[tree + 1]):
        clear(rows.numbers, (column * rows.size + row) * rows.words, rows.words)
    for column in range(trees.tree_low_at[tree], trees.tree_low_at[tree + 1]):
        rows.least[column * rows.size + row] = NONE
    return row


@part
def empty(node, trees, rows):
    """Apply the Recounting Rule (Lemma 6): clear the counters of a node, whose trends are not valid any more."""
    tree = trees.tree[node]
    first, last = rows.first[tree], rows.last[tree]
    for column in range(trees.column_at[node], trees.column_at[node + 1]):
        clear(rows.numbers, (column * rows.size + first) * rows.words, (last - first) * rows.words)
    for column in range(trees.low_at[node], trees.low_at[node + 1]):
        for row in range(first, last):
            rows.least[column * rows.size + row] = NONE


@part
def start(events, i, node, row, trees, rows, flag):
    """Add a start event to the row of its time."""
    w, size, numbers = rows.words, rows.size, rows.numbers
    rows.started[trees.tree[node]] += 1
    flag = add(numbers, (trees.column_at[node] * size + row) * w, rows.one, 0, w, flag)
    for k in range(trees.own_at[node], trees.own_at[node + 1]):
        place, value = (trees.own_to[k] * size + row) * w, trees.own_value[k]
        if value < 0:
            flag = add(numbers, place, rows.one, 0, w, flag)
        else:
            flag = add_times(numbers, place, rows.one, 0, events.values[value, i], w, flag)
    for k in range(trees.key_at[node], trees.key_at[node + 1]):
        place = trees.key_to[k] * size + row
        rows.least[place] = min(rows.least[place], events.keys[trees.key[k], i])
    return flag


@part
def lengthen(events, i, node, trees, rows, flag):
    """Apply Lemma 1 to all rows at once."""
    w, size, numbers, least = rows.words, rows.size, rows.numbers, rows.least
    tree = trees.tree[node]
    first, last = rows.first[tree], rows.last[tree]
    count = trees.column_at[trees.parent[node]] * size
    for k in range(trees.flow_at[node], trees.flow_at[node + 1]):
        src, dst = trees.flow_from[k] * size + first, trees.flow_to[k] * size + first
        flag = add_each(numbers, dst, numbers, src, last - first, w, flag)
    for k in range(trees.own_at[node], trees.own_at[node + 1]):
        dst, value = trees.own_to[k] * size, trees.own_value[k]
        if value < 0:
            flag = add_each(numbers, dst + first, numbers, count + first, last - first, w, flag)
            continue
        for row in range(first, last):
            flag = add_times(numbers, (dst + row) * w, numbers, (count + row) * w, events.values[value, i], w, flag)
    for k in range(trees.fall_at[node], trees.fall_at[node + 1]):
        src, dst = trees.fall_from[k] * size, trees.fall_to[k] * size
        for row in range(first, last):
            least[dst + row] = min(least[dst + row], least[src + row])
    for k in range(trees.key_at[node], trees.key_at[node + 1]):
        dst, value = trees.key_to[k] * size, events.keys[trees.key[k], i]
        for row in range(first, last):
            if not is_zero(numbers, (count + row) * w, w):
                least[dst + row] = min(least[dst + row], value)
    return flag


@part
def act(events, lo, hi, node, trees, targets, rows, flag):
    """Apply the events of one time to a node."""
    tree = trees.tree[node]
    expire(tree, events.time[lo], targets, rows)
    for i in range(lo, hi):
        if trees.empties[events.kind[i], node]:
            empty(node, trees, rows)
    row = np.int64(-1)
    for i in range(lo, hi):
        if trees.takes[events.kind[i], node]:
            if trees.parent[node] >= 0:
                flag = lengthen(events, i, node, trees, rows, flag)
            else:
                if row < 0:
                    row = begin_row(tree, events.time[i], trees, rows)
                flag = start(events, i, node, row, trees, rows, flag)
    return flag


@part
def join(target, row, x, place, trees, targets, rows, snapshots, flag):
    """Add to a snapshot the trends of a row of the last piece, combined with another snapshot (Lemma 7).

    The other snapshot has the pieces before the last one, from row `x` of the first piece on.
    """
    w, size, capacity = rows.words, rows.size, snapshots.capacity
    before = targets.before[target]
    count = (trees.column_at[targets.leaf[target]] * size + row) * w
    known = snapshots.shift[before * size + row] + x
    snap = (snapshots.ring_at[before] * capacity + known) * w
    if is_zero(rows.numbers, count, w) or is_zero(snapshots.numbers, snap, w):
        return flag
    for k in range(targets.lane_at[target], targets.lane_at[target + 1]):
        dst = ((snapshots.ring_at[target] + k - targets.lane_at[target]) * capacity + place) * w
        src = snap + max(targets.lane_from[k], 0) * capacity * w
        own = count if targets.lane_column[k] < 0 else (targets.lane_column[k] * size + row) * w
        flag = add_product(snapshots.numbers, dst, snapshots.numbers, src, rows.numbers, own, w, flag)
    for k in range(targets.low_at[target], targets.low_at[target + 1]):
        dst = (snapshots.low_ring_at[target] + k - targets.low_at[target]) * capacity + place
        snapshots.least[dst] = min(snapshots.least[dst], low_of(k, before, row, known, targets, rows, snapshots))
    return flag


@part
def low_of(k, before, row, known, targets, rows, snapshots):
    """Return a minimum, of the pieces before or of the last one."""
    if targets.low_from[k] >= 0:
        return snapshots.least[(snapshots.low_ring_at[before] + targets.low_from[k]) * snapshots.capacity + known]
    return rows.least[targets.low_column[k] * rows.size + row]


@part
def place_of(connection, length, targets, rows, snapshots):
    """Return the place in its rings of a snapshot of `length` rows; -1 if there is none."""
    tree = targets.tree[connection]
    oldest, newest = connection * rows.size + rows.first[tree], connection * rows.size + rows.last[tree] - 1
    if oldest > newest:
        return np.int64(0 if length <= snapshots.capacity else -1)
    head = snapshots.begin[oldest] + snapshots.shift[oldest]
    tail = snapshots.end[newest] + snapshots.shift[newest]
    if snapshots.begin[newest] + snapshots.shift[newest] >= head:
        if tail + length <= snapshots.capacity:
            return tail
        tail = np.int64(0)
    return tail if tail + length < head else np.int64(-1)


@part
def empty_snapshot(connection, place, length, targets, rows, snapshots):
    """Clear a snapshot."""
    w = rows.words
    for k in range(targets.lane_at[connection + 1] - targets.lane_at[connection]):
        dst = (snapshots.ring_at[connection] + k) * snapshots.capacity + place
        clear(snapshots.numbers, dst * w, length * w)
    for k in range(targets.low_at[connection + 1] - targets.low_at[connection]):
        dst = (snapshots.low_ring_at[connection] + k) * snapshots.capacity + place
        for low in range(dst, dst + length):
            snapshots.least[low] = NONE


@kernel
def connect(connection, trees, targets, rows, snapshots, flag):
    """Make a snapshot for the row that begins next in the connection's tree. Return (whether it fits, flag)."""
    first_tree = targets.start[connection]
    begin, end = rows.first[first_tree], rows.last[first_tree]
    place = place_of(connection, end - begin, targets, rows, snapshots)
    if place < 0:
        return False, flag
    known = connection * rows.size + rows.last[targets.tree[connection]]
    snapshots.begin[known], snapshots.end[known], snapshots.shift[known] = begin, end, place - begin
    before = targets.before[connection]
    if before < 0:
        return True, sum_up(connection, begin, end - begin, place, targets, rows, snapshots, flag)
    empty_snapshot(connection, place, end - begin, targets, rows, snapshots)
    tree = targets.tree[before]
    for row in range(rows.first[tree], rows.last[tree]):
        told = before * rows.size + row
        for x in range(max(begin, snapshots.begin[told]), snapshots.end[told]):
            flag = join(connection, row, x, place + x - begin, trees, targets, rows, snapshots, flag)
    return True, flag


@part
def sum_up(connection, begin, length, place, targets, rows, snapshots, flag):
    """Write what the rows of a first piece have counted, as sums from the last row back."""
    dst = snapshots.ring_at[connection] * snapshots.capacity + place
    for k in range(targets.lane_at[connection], targets.lane_at[connection + 1]):
        src = targets.lane_column[k] * rows.size + begin
        flag = sum_back(snapshots.numbers, dst, rows.numbers, src, length, rows.words, flag)
        dst += snapshots.capacity
    dst = snapshots.low_ring_at[connection] * snapshots.capacity + place
    for k in range(targets.low_at[connection], targets.low_at[connection + 1]):
        src = targets.low_column[k] * rows.size + begin
        best = NONE
        for row in range(length - 1, -1, -1):
            best = min(best, rows.least[src + row])
            snapshots.least[dst + row] = best
        dst += snapshots.capacity
    return flag


@part
def connect_all(tree, time, trees, targets, rows, snapshots, flag):
    """Make the snapshots that a start event needs, of what was counted before it. Return (whether they fit, flag)."""
    expire(tree, time, targets, rows)
    for connection in range(targets.at[tree], targets.at[tree + 1]):
        start = targets.start[connection]
        if targets.bare[connection]:
            snapshots.starts[connection * rows.size + rows.last[tree]] = rows.started[start]
            continue
        expire(start, time, targets, rows)
        if targets.before[connection] >= 0:
            expire(targets.tree[targets.before[connection]], time, targets, rows)
        fits, flag = connect(connection, trees, targets, rows, snapshots, flag)
        if not fits:
            return False, flag
    return True, flag


@part
def apply_time(events, lo, hi, trees, targets, rows, snapshots, flag):
    """Apply all events of one time, after making snapshots of what was before. Return (whether they fit, flag)."""
    single = hi == lo + 1
    kind = events.kind[lo]
    begin, end = np.int64(0), np.int64(len(trees.tree))
    if single:
        begin, end = np.int64(trees.act_at[kind]), np.int64(trees.act_at[kind + 1])
    if targets.connections and (not single or targets.connects[kind]):
        for k in range(begin, end):
            node = trees.act[k] if single else k
            tree = trees.tree[node]
            if trees.parent[node] < 0 and targets.at[tree] < targets.at[tree + 1]:
                starts = False
                for i in range(lo, hi):
                    starts |= trees.takes[events.kind[i], node]
                if starts:
                    fits, flag = connect_all(tree, events.time[lo], trees, targets, rows, snapshots, flag)
                    if not fits:
                        return False, flag
    for k in range(begin, end):
        node = trees.act[k] if single else end - 1 - k
        flag = act(events, lo, hi, node, trees, targets, rows, flag)
    return True, flag


@part
def head_of(member, tree, time, targets, rows):
    """Return the first row of the first piece that is in the member's window."""
    head = max(rows.head[member], rows.first[tree])
    while head < rows.last[tree] and rows.time[tree * rows.size + head] <= time - targets.within[member]:
        head += 1
    rows.head[member] = head
    return head


@part
def answer(member, time, trees, targets, rows, snapshots, numbers, at, least, least_at, flag):
    """Add up what a member has counted in the window that ends now, over all rows in it."""
    target = targets.connections + member
    tree = targets.start[target]
    expire(tree, time, targets, rows)
    head = head_of(member, tree, time, targets, rows)
    before = targets.before[target]
    if before >= 0 and targets.bare[before]:
        return answer_bare(target, head, targets, rows, snapshots, numbers, at, least, least_at, flag)
    if before >= 0:
        return answer_joined(target, head, time, trees, targets, rows, snapshots, numbers, at, least, least_at, flag)
    w, last = rows.words, rows.last[tree]
    for k in range(targets.lane_at[target], targets.lane_at[target + 1]):
        src = targets.lane_column[k] * rows.size + head
        flag = add_all(numbers, at, rows.numbers, src, last - head, w, flag)
        at += 1
    for k in range(targets.low_at[target], targets.low_at[target + 1]):
        src = targets.low_column[k] * rows.size
        for row in range(head, last):
            least[least_at] = min(least[least_at], rows.least[src + row])
        least_at += 1
    return flag


@part
def answer_joined(target, head, time, trees, targets, rows, snapshots, numbers, at, least, least_at, flag):
    """Do as `answer` for chopped sequences: combine rows of the last piece with their snapshots from `head` on."""
    w, size, capacity = rows.words, rows.size, snapshots.capacity
    before = targets.before[target]
    tree = targets.tree[before]
    expire(tree, time, targets, rows)
    first, last = rows.first[tree], rows.last[tree]
    while first < last and snapshots.end[before * size + first] <= head:
        first += 1
    count = trees.column_at[targets.leaf[target]] * size
    for k in range(targets.lane_at[target], targets.lane_at[target + 1]):
        own = count if targets.lane_column[k] < 0 else targets.lane_column[k] * size
        ring = snapshots.ring_at[before] + max(targets.lane_from[k], 0)
        flag = add_products(
            numbers, at, rows.numbers, own + first, snapshots.numbers, ring * capacity + head,
            snapshots.shift, before * size + first, last - first, w, flag,
        )  # fmt: skip
        at += 1
    for k in range(targets.low_at[target], targets.low_at[target + 1]):
        for row in range(first, last):
            known = snapshots.shift[before * size + row] + head
            snap = (snapshots.ring_at[before] * capacity + known) * w
            if not is_zero(rows.numbers, (count + row) * w, w) and not is_zero(snapshots.numbers, snap, w):
                least[least_at] = min(least[least_at], low_of(k, before, row, known, targets, rows, snapshots))
        least_at += 1
    return flag


@part
def answer_bare(target, head, targets, rows, snapshots, numbers, at, least, least_at, flag):
    """Do as `answer` where snapshots are numbers of start events; none is left of rows before `head`."""
    before, start = targets.before[target], targets.start[target]
    if head == rows.last[start]:
        return flag
    tree, gone = targets.tree[before], rows.starts[start * rows.size + head]
    first, last = rows.first[tree], rows.last[tree]
    told = before * rows.size
    for k in range(targets.lane_at[target], targets.lane_at[target + 1]):
        src = targets.lane_column[k] * rows.size + first
        flag = add_multiples(
            numbers, at, rows.numbers, src, snapshots.starts, told + first, gone, last - first, rows.words, flag
        )
        at += 1
    for k in range(targets.low_at[target], targets.low_at[target + 1]):
        for row in range(first, last):
            if snapshots.starts[told + row] > gone:
                least[least_at] = min(least[least_at], rows.least[targets.low_column[k] * rows.size + row])
        least_at += 1
    return flag


@kernel
def run_forest(events, runs, group_of, questions, trees, targets, rows, snapshots, answers):
    """Evaluate all windows that are due, partition by partition. Return why it stopped."""
    w = rows.words
    for slot in range(len(runs) - 1):
        i, hi = runs[slot], runs[slot + 1]
        if i == hi:
            continue
        rows.first[:] = 0
        rows.last[:] = 0
        rows.started[:] = 0
        rows.head[:] = 0
        flag = np.int64(0)
        for q in range(questions.at[group_of[slot]], questions.at[group_of[slot] + 1]):
            time, member = questions.time[q], questions.member[q]
            while i < hi and events.time[i] <= time:
                j = i + 1
                while j < hi and events.time[j] == events.time[i]:
                    j += 1
                fits, flag = apply_time(events, i, j, trees, targets, rows, snapshots, flag)
                if not fits:
                    return FULL
                i = j
            target = targets.connections + member
            lanes = targets.lane_at[target + 1] - targets.lane_at[target]
            lows = targets.low_at[target + 1] - targets.low_at[target]
            row = questions.row[q] - answers.row_at[member]
            at = answers.at[member] // w + row * lanes
            flag = answer(
                member, time, trees, targets, rows, snapshots,
                answers.numbers, at, answers.least, answers.least_at[member] + row * lows, flag,
            )  # fmt: skip
            if flag >> 62:
                return NUMBERS
            if not is_zero(answers.numbers, at * w, w):
                answers.found[questions.row[q]] = True
    return DONE
