"""Cut the events of each partition into bursts, and run bursts through the HAMLET graph of a share set.

A burst is defined by Definition 4.1: consecutive events of one type, with none of another type between them or at the
same time. `after[i]` is the next event of the same partition, or -1. The bursts of a partition are adjacent and in
order; so are the rows of a burst: sets of queries that take the same of its events.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Member, Shape, advance
from elsinore.actors.algebra.numbers_numba_fns import clear, copy
from elsinore.actors.hamlet.consuming_numba_fns import open_consuming, propagate_consuming, take_along_all
from elsinore.actors.hamlet.graphlets_numba_fns import (
    EVERYTHING,
    NOBODY,
    NOTHING,
    ONE,
    close_graphlet,
    count_alone,
    in_lanes,
    open_graphlet,
    propagate,
    settle,
)
from elsinore.planner.hamlet.bursts import APART, OWN, SHARED
from elsinore.planner.kernels.compiled import kernel, part

SINGLE, MIXED, HELD = -1, -2, -3
"""In place of a Kleene sub-pattern: events of one type that no graphlet shares; events of several types at one time; an
incomplete burst, which waits for more events."""

DONE, NUMBERS, COEFFICIENTS, SNAPSHOTS = 0, 1, 2, 3
"""Why a run stopped: it is complete; numbers overflowed; coefficients did; there are too many snapshots."""

EVERYBODY = np.uint64(2**64 - 1)


class Types(NamedTuple):
    of_kind: Any  # the type of events of each kind
    kleene: Any  # by type, or SINGLE
    care_at: Any  # by type: the members that its events go through one by one
    care: Any
    cut_short_at: Any  # by type: the members whose trends its events end and nothing else, as the first of them does
    cut_short: Any
    lane_at: Any  # by Kleene
    lane_queries: Any  # how many queries a lane has


class Bursts(NamedTuple):
    first: Any  # event
    end: Any  # the event behind it, or -1
    size: Any
    kleene: Any
    window: Any  # how many events of the partition are in the window so far
    row_at: Any


class Asked(NamedTuple):
    """The bursts about which there is something to decide, each with its range of rows."""

    burst: Any
    size: Any
    window: Any
    at: Any  # their rows


class BurstRows(NamedTuple):
    """The rows of bursts: sets of lanes that take the same events."""

    lanes: Any  # as bits
    queries: Any
    taken: Any  # events of the burst that these queries take
    snapshots: Any  # those on which they differ from the row of most queries, which comes first


class Needed(NamedTuple):
    """The least number of queries with trends for the burst to extend at which a graphlet pays."""

    together: Any  # by burst, at its first row: where several rows share
    alone: Any  # by row: where these are of one


class Seen(NamedTuple):
    """By partition, the events in the current window so far, and the number of that window."""

    count: Any
    window: Any
    length: Any


class Cutting(NamedTuple):
    """Memory to find the rows of one burst."""

    count: Any  # by kind: how many of the burst's events, 0 between bursts
    kinds: Any  # those that the burst has
    signature: Any  # by lane: which kinds it takes
    taken: Any  # by lane


@part
def same_time(events, after, i, types):
    """Return (the event behind those of one time, how many these are, whether they are of one type)."""
    time = events.time[i]
    own = types.of_kind[events.kind[i]]
    alike = True
    count = 1
    j = after[i]
    while j >= 0 and events.time[j] == time:
        alike &= types.of_kind[events.kind[j]] == own
        count += 1
        j = after[j]
    return j, count, alike


@part
def queries_of(mask, kleene, types):
    """Return how many queries the lanes of a mask have."""
    count = 0
    for lane in range(types.lane_at[kleene], types.lane_at[kleene + 1]):
        if in_lanes(mask, lane - types.lane_at[kleene]):
            count += types.lane_queries[lane]
    return count


@part
def mix(kind):
    """Hash a kind of events to a word, so that sums of few words collide with negligible probability."""
    word = np.uint64(kind + 1) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return word ^ (word >> np.uint64(32))


@part
def tell_apart(events, after, first, end, kleene, any_lane, sharers, types, rows, r, cutting):
    """Write the rows of a burst whose events not all queries agree on. Return the number of rows so far.

    Lanes are in one row if the hashes of the kinds that they take have the same sum. If two different lanes ever
    collide, the graphlet makes snapshots of the events on which they differ, as for any two rows that share.
    """
    found = 0
    i = first
    while i != end:
        kind = events.kind[i]
        if cutting.count[kind] == 0:
            cutting.kinds[found] = kind
            found += 1
        cutting.count[kind] += 1
        i = after[i]
    lanes = types.lane_at[kleene + 1] - types.lane_at[kleene]
    begin = r
    for lane in range(lanes):
        if not in_lanes(any_lane, lane):
            continue
        signature = NOBODY
        taken = 0
        for k in range(found):
            kind = cutting.kinds[k]
            if in_lanes(sharers.takes[kind], lane):
                signature += mix(kind)
                taken += cutting.count[kind]
        place = begin
        while place < r and cutting.signature[place - begin] != signature:
            place += 1
        if place == r:
            cutting.signature[r - begin] = signature
            rows.lanes[r] = NOBODY
            rows.queries[r] = 0
            rows.taken[r] = taken
            r += 1
        rows.lanes[place] |= ONE << np.uint64(lane)
        rows.queries[place] += types.lane_queries[types.lane_at[kleene] + lane]
    base = begin
    for place in range(begin + 1, r):
        if rows.queries[place] > rows.queries[base]:
            base = place
    rows.lanes[begin], rows.lanes[base] = rows.lanes[base], rows.lanes[begin]
    rows.queries[begin], rows.queries[base] = rows.queries[base], rows.queries[begin]
    rows.taken[begin], rows.taken[base] = rows.taken[base], rows.taken[begin]
    for place in range(begin, r):
        differs = 0
        both = rows.lanes[begin] | rows.lanes[place]
        for k in range(found):
            took = sharers.takes[cutting.kinds[k]] & both
            if took != NOBODY and took != both:
                differs += cutting.count[cutting.kinds[k]]
        rows.snapshots[place] = differs
    for k in range(found):
        cutting.count[cutting.kinds[k]] = 0
    return r


@kernel
def by_partition(slots, lo, hi, counts, order, after, touched, starts):
    """Group events `lo` to `hi` by partition, in their order, and return how many partitions have any.

    `starts` gets where each of these begins. `counts` is 0 for all partitions, before and after; `order` is not written
    if there is one partition.
    """
    found = 0
    i = lo
    while i < hi:
        slot = slots[i]
        first = i
        while i < hi and slots[i] == slot:
            i += 1
        if counts[slot] == 0:
            touched[found] = slot
            found += 1
        counts[slot] += i - first
    if found == 1:
        starts[0] = lo
        counts[touched[0]] = 0
        for i in range(lo, hi):
            after[i] = i + 1
        after[hi - 1] = -1
        return found
    place = lo
    for t in range(found):
        starts[t] = place
        place += counts[touched[t]]
        counts[touched[t]] = starts[t]
    for i in range(lo, hi):
        slot = slots[i]
        order[counts[slot]] = i
        after[counts[slot]] = counts[slot] + 1
        counts[slot] += 1
    for t in range(found):
        after[counts[touched[t]] - 1] = -1
        counts[touched[t]] = 0
    return found


@kernel
def cut_bursts(events, after, touched, starts, sharers, types, bursts, rows, asked, burst_at, b, r, a, seen, cutting):
    """Cut the events of the `touched` partitions into bursts. Return (bursts, rows, questions).

    Return (-1, -1, -1) if the arrays are too short.
    """
    count = len(touched)
    for t in range(count):
        slot = touched[t]
        burst_at[t] = b
        i = starts[t]
        while i >= 0:
            if b + 1 >= len(bursts.row_at) or r + 64 > len(rows.lanes):
                return -1, -1, -1
            own = types.of_kind[events.kind[i]]
            kleene = types.kleene[own]
            window = events.time[i] // seen.length
            first = i
            size = 0
            all_lanes, any_lane = EVERYBODY, NOBODY
            while i >= 0 and types.of_kind[events.kind[i]] == own:
                j, tied, alike = same_time(events, after, i, types)
                if not alike:
                    if size == 0:
                        kleene = MIXED
                        size = tied
                        i = j
                    break
                k = i
                while k != j:
                    took = sharers.takes[events.kind[k]]
                    all_lanes &= took
                    any_lane |= took
                    k = after[k]
                size += tied
                i = j
            if seen.window[slot] != window:
                seen.window[slot] = window
                seen.count[slot] = 0
            seen.count[slot] += size
            bursts.first[b] = first
            bursts.end[b] = i
            bursts.size[b] = size
            bursts.kleene[b] = kleene
            bursts.window[b] = seen.count[slot]
            bursts.row_at[b] = r
            if kleene >= 0 and any_lane != NOBODY:
                asked.burst[a] = b
                asked.size[a] = size
                asked.window[a] = seen.count[slot]
                asked.at[a] = r
                a += 1
                if all_lanes == any_lane:
                    rows.lanes[r] = any_lane
                    rows.queries[r] = queries_of(any_lane, kleene, types)
                    rows.taken[r] = size
                    rows.snapshots[r] = 0
                    r += 1
                else:
                    r = tell_apart(events, after, first, i, kleene, any_lane, sharers, types, rows, r, cutting)
                asked.at[a] = r
            b += 1
            bursts.row_at[b] = r
    burst_at[count] = b
    return b, r, a


@part
def one_by_one(events, after, i, end, m, members, tables, slot, numbers, least, w, scratch, flag):
    """Run a burst through the machine of one member, event by event."""
    shape = Shape(members.rows[m], members.states[m], members.lanes[m], members.keys[m], w)
    member = Member(members.classes, m * members.kinds, members.symbol[m])
    base = members.base[m] + slot * members.block[m]
    least_base = members.least_base[m] + slot * members.least_block[m]
    while i != end:
        i, flag = advance(events, after, i, member, tables, shape, numbers, base, least, least_base, scratch, flag)
    return flag


@kernel
def all_by_one(events, after, i, end, m, members, tables, slot, numbers, least, w, scratch):
    """Do as `one_by_one`, as a kernel of its own: rare work should not be inlined everywhere."""
    return one_by_one(events, after, i, end, m, members, tables, slot, numbers, least, w, scratch, np.int64(0))


@part
def worth_it(alive, lanes, first, last, rows, needed):
    """Return whether enough queries have trends for a graphlet.

    Queries of one row need fewer, because they agree on all events.
    """
    least = needed.together[first]
    for r in range(first, last):
        if lanes & ~rows.lanes[r] == NOBODY:
            least = needed.alone[r]
    return alive >= least


@part
def share(
    events, after, i, end, kleene, mask, first, last, rows, needed, slot,
    members, sharers, work, numbers, least, w, flag, wide,
):  # fmt: skip
    """Run a burst through one shared graphlet. Return (its snapshots, both flags).

    Without enough sharers whose trends the burst extends, return no snapshots and leave these sharers `work.alive`.
    """
    if sharers.consumes == NOTHING:
        alive, lanes, flag = open_graphlet(kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
    else:
        alive, lanes, flag = open_consuming(kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
    if sharers.consumes == EVERYTHING:
        # Those without trends to lengthen have others that are ended.
        lanes = mask
    elif not worth_it(alive, lanes, first, last, rows, needed):
        return 0, flag, wide
    settle(kleene, mask, sharers, work)
    if sharers.consumes != NOTHING:
        snapshots, overflow, wide_overflow = take_along_all(
            events, after, i, end, kleene, lanes, slot, members, sharers, work, numbers, least, w
        )
        return snapshots, flag | overflow, wide | wide_overflow
    snapshots, flag, wide = propagate(events, after, i, end, kleene, lanes, members, sharers, work, w, flag, wide)
    if snapshots <= work.capacity:
        flag = close_graphlet(kleene, lanes, slot, snapshots, members, sharers, work, numbers, least, w, flag)
    return snapshots, flag, wide


@part
def keep_blocks(slot, members, numbers, least, saved, saved_least, back):
    """Copy the counters of a partition to the saved ones; with `back`, restore them."""
    at, key_at = 0, 0
    for m in range(len(members.base)):
        place = members.base[m] + slot * members.block[m]
        least_place = members.least_base[m] + slot * members.least_block[m]
        if back:
            copy(numbers, place, saved, at, members.block[m])
            copy(least, least_place, saved_least, key_at, members.least_block[m])
        else:
            copy(saved, at, numbers, place, members.block[m])
            copy(saved_least, key_at, least, least_place, members.least_block[m])
        at += members.block[m]
        key_at += members.least_block[m]


@kernel
def run_bursts(
    events, after, touched, burst_at, first, count, bursts, rows, choice, needed, created, most, totals,
    members, sharers, types, tables, work, numbers, least, w, scratch,
):  # fmt: skip
    """Run the bursts of partitions `touched[first:count]`, each row by its `choice`. Return (how many, why it stopped).

    A row shares only if as many queries have trends as are `needed`. `created` gets the number of snapshots of each
    burst, `most` that of its largest graphlet; `totals` counts bursts that were decided about, those that several
    queries shared, and snapshots. If something does not fit, the counters of that partition are restored.
    """
    for t in range(first, count):
        slot = touched[t]
        keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, False)
        flag = np.int64(0)
        wide = np.int64(0)
        full = False
        decided, shared, made = 0, 0, 0
        for b in range(burst_at[t], burst_at[t + 1]):
            kleene = bursts.kleene[b]
            i, end = bursts.first[b], bursts.end[b]
            created[b], most[b] = 0, 0
            if kleene == HELD:
                continue
            if kleene == MIXED:
                for m in range(len(members.base)):
                    flag = one_by_one(events, after, i, end, m, members, tables, slot, numbers, least, w, scratch, flag)
                continue
            own = types.of_kind[events.kind[i]]
            after_first, _, _ = same_time(events, after, i, types)
            if kleene >= 0:
                decided += bursts.row_at[b + 1] > bursts.row_at[b]
                several = False
                together, alone, taken = NOBODY, NOBODY, NOBODY
                for r in range(bursts.row_at[b], bursts.row_at[b + 1]):
                    taken |= rows.lanes[r]
                    if choice[r] == SHARED:
                        together |= rows.lanes[r]
                    if choice[r] == APART:
                        alone |= rows.lanes[r]
                    several |= choice[r] == SHARED or (choice[r] == OWN and rows.queries[r] > 1)
                shared += several
                for r in range(bursts.row_at[b] - 1, bursts.row_at[b + 1]):
                    mask = together
                    if r >= bursts.row_at[b]:
                        if choice[r] != OWN:
                            continue
                        mask = rows.lanes[r]
                    if mask == NOBODY:
                        continue
                    snapshots, flag, wide = share(
                        events, after, i, end, kleene, mask, bursts.row_at[b], bursts.row_at[b + 1], rows, needed, slot,
                        members, sharers, work, numbers, least, w, flag, wide,
                    )  # fmt: skip
                    if snapshots > work.capacity:
                        full = True
                        break
                    created[b] += snapshots
                    made += snapshots
                    most[b] = max(most[b], snapshots)
                for s in range(sharers.at[kleene], sharers.at[kleene + 1]):
                    if work.alive[s] or in_lanes(alone, sharers.lane[s]):
                        work.alive[s] = False
                        if sharers.consumes == NOTHING:
                            flag = count_alone(
                                kleene, s, slot, events, after, i, end,
                                members, sharers, work, numbers, least, w, flag,
                            )  # fmt: skip
                            continue
                        until = end
                    elif sharers.consumes == EVERYTHING and not in_lanes(taken, sharers.lane[s]):
                        until = after_first
                    else:
                        continue
                    flag |= all_by_one(
                        events, after, i, until, sharers.member[s], members, tables, slot, numbers, least, w, scratch
                    )
            for k in range(types.care_at[own], types.care_at[own + 1]):
                m = types.care[k]
                flag = one_by_one(events, after, i, end, m, members, tables, slot, numbers, least, w, scratch, flag)
            for k in range(types.cut_short_at[own], types.cut_short_at[own + 1]):
                m = types.cut_short[k]
                flag |= all_by_one(events, after, i, after_first, m, members, tables, slot, numbers, least, w, scratch)
            if full or (flag | wide) >> 62:
                break
        if full or (flag | wide) >> 62:
            keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, True)
            clear(scratch.numbers, 0, len(scratch.numbers))
            scratch.least[:] = 2**63 - 1
            scratch.marked[:] = False
            if full:
                return t, SNAPSHOTS
            return t, NUMBERS if flag >> 62 else COEFFICIENTS
        totals[0] += decided
        totals[1] += shared
        totals[2] += made
    return count, DONE


@kernel
def trace_graphlet(events, after, first, end, kleene, mask, slot, members, sharers, work, numbers, least, w):
    """Run a graphlet up to event `end` for its picture: keep only its workspace. Return its snapshots.

    The counters that it is given are copies.
    """
    flag = np.int64(0)
    if sharers.consumes != NOTHING:
        _, _, flag = open_consuming(kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
        snapshots, _, _ = propagate_consuming(
            events, after, first, end, kleene, mask, slot, members, sharers, work, numbers, least, w, flag, np.int64(0)
        )
    else:
        _, _, flag = open_graphlet(kleene, mask, slot, members, sharers, work, numbers, least, w, flag)
        snapshots, _, _ = propagate(
            events, after, first, end, kleene, mask, members, sharers, work, w, flag, np.int64(0)
        )  # fmt: skip
    settle(kleene, mask, sharers, work)
    return snapshots
