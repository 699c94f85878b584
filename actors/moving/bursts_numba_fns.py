"""Cut events of windows that move with every event into bursts, and compute their coefficients once for all queries.

An event of E+ extends the trends of a sharer's target and of its inputs. So do all events of a burst, or some of
them: the target gains these trends `coefficient` times. Coefficients of adjacent spans compose: those of both are
one + other + one · other, in the same algebra of counts and sums as counters. A window may end within a burst,
and begin within one. So each event of a burst has two coefficients: `fore` is that of the burst up to it, `rear` that
of the burst from it on. Events of equal time are never adjacent, and act as one.

Axes of coefficients: `place` (one for each event of a burst and each lane of its Kleene), sum, word; flat. Sum 0
counts; the others are those of the Kleene's columns, as in `graphlets_numba_fns`. Events of a partition are adjacent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.algebra.numbers_numba_fns import add, add_times, clear, copy
from elsinore.actors.hamlet.bursts_numba_fns import MIXED, same_time
from elsinore.actors.hamlet.graphlets_numba_fns import in_lanes
from elsinore.planner.kernels.compiled import allocating, part

LONGEST = 256
"""The most events of a burst, because coefficients have one bit per event."""


class Pieces(NamedTuple):
    """The events of a partition in pieces: bursts of a Kleene, runs of an unshared type, times of several types."""

    first: Any
    end: Any
    kleene: Any
    place: Any  # of its first coefficient


class Coefficients(NamedTuple):
    numbers: Any
    least: Any
    one: Any  # the number 1
    words: Any
    width: Any  # words of all sums of one place
    keys: Any


@allocating
def find_due(time, kind, order, runs, end_at, ender, members):
    """Find the rows that are due: for each member and group the times at which an event arrives that can end a trend.

    Events are given in `order` by group and then by time, and the members that a kind of events concerns by `ender`.
    Return the rows by member, and there by group and time: (where each member's rows begin, time, group); the same in
    order of group and time: (where each group's begin, time, member, row); and the *visits* of a group, which are the
    members with rows in it: (where each group's begin, member, first row, end of its rows).
    """
    most = 0
    for one in kind:
        most += end_at[one + 1] - end_at[one]
    who, when = np.empty((2, most), np.int64)
    rows_of, last = np.zeros((2, members), np.int64)
    seen = np.full(members, -1, np.int64)
    found_at, visit_at = np.zeros((2, len(runs)), np.int64)
    member, first, end = np.empty((3, min(most, members * (len(runs) - 1))), np.int64)
    found, visits = 0, 0
    for group in range(len(runs) - 1):
        for k in range(runs[group], runs[group + 1]):
            i = order[k]
            for e in range(end_at[kind[i]], end_at[kind[i] + 1]):
                m = ender[e]
                if seen[m] != group:
                    member[visits], first[visits] = m, rows_of[m]
                    visits += 1
                elif last[m] == time[i]:
                    continue
                seen[m], last[m] = group, time[i]
                who[found], when[found] = m, time[i]
                found += 1
                rows_of[m] += 1
        found_at[group + 1], visit_at[group + 1] = found, visits
        for visit in range(visit_at[group], visits):
            end[visit] = rows_of[member[visit]]
    row_at = np.zeros(members + 1, np.int64)
    for m in range(members):
        row_at[m + 1] = row_at[m] + rows_of[m]
    member, first, end = member[:visits], first[:visits], end[:visits]
    for visit in range(visits):
        first[visit] += row_at[member[visit]]
        end[visit] += row_at[member[visit]]
    times, group_of, rows = np.empty(found, np.int64), np.empty(found, np.int32), np.empty(found, np.int64)
    row = row_at[:members].copy()
    for group in range(len(runs) - 1):
        for k in range(found_at[group], found_at[group + 1]):
            m = who[k]
            times[row[m]], group_of[row[m]], rows[k] = when[k], group, row[m]
            row[m] += 1
    return row_at, times, group_of, found_at, when[:found], who[:found], rows, visit_at, member, first, end


@part
def cut(events, after, lo, hi, shortest, types, lanes_of, pieces):
    """Cut a partition's events into pieces, and return how many there are.

    No burst is as long as the `shortest` window, so a window that ends within a burst begins before it.
    """
    count = 0
    place = 0
    i = lo
    while i < hi:
        first = i
        own = types.of_kind[events.kind[i]]
        kleene = types.kleene[own]
        while i < hi and types.of_kind[events.kind[i]] == own:
            _, tied, alike = same_time(events, after, i, types)
            end = i + tied
            if not alike:
                if i == first:
                    kleene = MIXED
                    i = end
                break
            too_long = end - first > LONGEST or events.time[i] - events.time[first] >= shortest
            if kleene >= 0 and i > first and too_long:
                break
            i = end
        pieces.first[count], pieces.end[count] = first, i
        pieces.kleene[count], pieces.place[count] = kleene, place
        if kleene >= 0:
            place += (i - first) * lanes_of[kleene]
        count += 1
    return count


@part
def place_of(piece, i, lane, lanes_of, pieces):
    return pieces.place[piece] + (i - pieces.first[piece]) * lanes_of[pieces.kleene[piece]] + lane


@part
def add_event(events, i, kleene, sharers, coefficients, before, place, flag):
    """Add event `i` to a coefficient: it extends the trends that come to the burst, and those that `before` counts.

    `before` is the place of a coefficient, or -1.
    """
    c = coefficients.words
    numbers = coefficients.numbers
    dst = place * coefficients.width
    src = before * coefficients.width
    for k in range(sharers.lane_at[kleene], sharers.lane_at[kleene + 1]):
        total = dst + (1 + k - sharers.lane_at[kleene]) * c
        column = sharers.column[k]
        if column < 0:
            flag = add(numbers, total, coefficients.one, 0, c, flag)
        else:
            flag = add_times(numbers, total, coefficients.one, 0, events.values[column, i], c, flag)
        if before >= 0:
            flag = add(numbers, total, numbers, src + total - dst, c, flag)
            if column < 0:
                flag = add(numbers, total, numbers, src, c, flag)
            else:
                flag = add_times(numbers, total, numbers, src, events.values[column, i], c, flag)
    flag = add(numbers, dst, coefficients.one, 0, c, flag)
    if before >= 0:
        flag = add(numbers, dst, numbers, src, c, flag)
    key = place * coefficients.keys
    for k in range(sharers.column_key_at[kleene], sharers.column_key_at[kleene + 1]):
        coefficients.least[key] = min(coefficients.least[key], events.keys[sharers.column_key[k], i])
        key += 1
    return flag


@part
def propagate(events, piece, lane, step, lanes_of, sharers, pieces, coefficients, flag):
    """Compute a burst's coefficients in one lane: up to each event or, with a `step` of -1, from it on.

    Of events of equal time, the one that comes last by the step has the coefficient of all.
    """
    kleene = pieces.kleene[piece]
    first, stop = pieces.first[piece], pieces.end[piece]
    if step < 0:
        first, stop = stop - 1, first - 1
    before, last = -1, -1
    i = first
    while i != stop:
        place = place_of(piece, i, lane, lanes_of, pieces)
        dst, key = place * coefficients.width, place * coefficients.keys
        if last < 0:
            clear(coefficients.numbers, dst, coefficients.width)
            for k in range(key, key + coefficients.keys):
                coefficients.least[k] = NONE
        else:
            copy(coefficients.numbers, dst, coefficients.numbers, last * coefficients.width, coefficients.width)
            copy(coefficients.least, key, coefficients.least, last * coefficients.keys, coefficients.keys)
            if events.time[i] != events.time[i - step]:
                before = last
        if in_lanes(sharers.takes[events.kind[i]], lane):
            flag = add_event(events, i, kleene, sharers, coefficients, before, place, flag)
        last = place
        i += step
    return flag
