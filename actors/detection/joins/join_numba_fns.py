"""Join sorted columns: find the matches of single events with nothing but comparisons between them.

A join has *levels*, the first of which has the last event of the match. Each level binds an entry of a source: an
event of a leaf, or a stored match of several events. The levels are nested loops: a level goes through the entries
whose last event lies in the range of times that the levels before it leave, and keeps those that satisfy the
comparisons with them.

Legend. `numbers` has columns of integers one behind another: entry k of column c is `numbers[base[c] + k]`. Ranges
include their first, and exclude their last time. Times are virtual: they differ by more than a window between
partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.comparing_numba_fns import GREATER, LESS, compared, sought
from elsinore.planner.kernels.compiled import kernel, part

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

# Modes of a join.
LIST, COUNT, RESUME = range(3)

FULL = -1
"""The result of a join whose output has no space for the next match."""

# Lists of a program by level: `data[at[kind, level] : at[kind, level + 1]]`.
(
    EARLIER,  # pairs of a level bound before, and the column of a time after which this level's last event lies
    LATER,  # pairs of a level bound before, and the column of a time before which this level's last event lies
    COMPARED,  # other level, operator, own column, other column
    SHOWN,  # pairs of a place in the output, and the column that is shown there
) = range(4)
LISTS = 4

# Columns of `levels`: the column of the times of the last events, and whether these may not tie with the match's last.
ENDS, STRICT = range(2)

# Columns of a cursor, by level: the entry that is bound, the next candidate, the time before which candidates end,
# where the last candidates began (of the first level: the number of matches of its trigger so far), the number of
# entries, and where the column of their ends begins.
BINDING, CANDIDATE, UNTIL, HINT, COUNTED, ENDS_AT = range(6)
CURSOR_WIDTH = 6


class Join(NamedTuple):
    """What is joined."""

    at: Ints32
    data: Ints32
    levels: Ints32
    span: int
    """The length of windows."""
    width: int
    """Numbers that are written for a match."""


class Sources(NamedTuple):
    """The entries that are joined."""

    numbers: Ints
    base: Ints
    """By column, where it begins."""
    counts: Ints
    """By level, the number of entries."""
    triggers: Ints
    """The entries that the first level may bind, in the order of their last events."""


class Found(NamedTuple):
    rows: Ints32
    """The events of matches, one match behind another."""
    used: Ints
    """The number of matches so far, and of numbers written."""
    by_trigger: Ints
    """By trigger, the number of matches, where they are counted."""
    line: Ints32
    """A match in the making."""
    most: int
    """The number of matches of a trigger after which the next trigger is taken."""


@part
def begin_level(j: Join, s: Sources, cursor: Ints, level: int) -> None:
    """Find the candidates of a level."""
    n = s.numbers
    end = n[cursor[0, ENDS_AT] + cursor[0, BINDING]] + 1
    lo, hi = end - j.span, end - j.levels[level, STRICT]
    for i in range(j.at[EARLIER, level], j.at[EARLIER, level + 1], 2):
        lo = max(lo, n[s.base[j.data[i + 1]] + cursor[j.data[i], BINDING]] + 1)
    for i in range(j.at[LATER, level], j.at[LATER, level + 1], 2):
        hi = min(hi, n[s.base[j.data[i + 1]] + cursor[j.data[i], BINDING]])
    first = cursor[level, ENDS_AT]
    begin = sought(n, first, first + cursor[level, COUNTED], first + cursor[level, HINT], lo) - first
    cursor[level, CANDIDATE], cursor[level, HINT], cursor[level, UNTIL] = begin, begin, hi


@part
def fits(j: Join, s: Sources, cursor: Ints, level: int, entry: int, first: int) -> bool:
    """Return whether an entry satisfies the comparisons with the levels before, from number `first` on."""
    for i in range(j.at[COMPARED, level] + 4 * first, j.at[COMPARED, level + 1], 4):
        own = s.numbers[s.base[j.data[i + 2]] + entry]
        other = s.numbers[s.base[j.data[i + 3]] + cursor[j.data[i], BINDING]]
        if not compared(j.data[i + 1], own, other):
            return False
    return True


@part
def skip(s: Sources, k: int, stop: int, ends: int, until: int, operator: int, own: int, other: int) -> int:
    """Return the first candidate that satisfies a comparison, or the end of the candidates."""
    n = s.numbers
    if operator == LESS:
        while k < stop and n[ends + k] < until and n[own + k] >= other:
            k += 1
    elif operator == GREATER:
        while k < stop and n[ends + k] < until and n[own + k] <= other:
            k += 1
    else:
        while k < stop and n[ends + k] < until and not compared(operator, n[own + k], other):
            k += 1
    return k


@part
def show(j: Join, s: Sources, level: int, entry: int, rows: Ints32, first: int) -> None:
    """Write the events of an entry to their places in a match."""
    for i in range(j.at[SHOWN, level], j.at[SHOWN, level + 1], 2):
        rows[first + j.data[i]] = s.numbers[s.base[j.data[i + 1]] + entry]


@part
def sweep(j: Join, s: Sources, cursor: Ints, f: Found, level: int, counting: bool) -> int:
    """Go through the candidates of the last level; return how many matches there are, FULL if there is no room."""
    n = s.numbers
    compares = j.at[COMPARED, level + 1] > j.at[COMPARED, level]
    k, stop, until, ends = (
        cursor[level, CANDIDATE],
        cursor[level, COUNTED],
        cursor[level, UNTIL],
        cursor[level, ENDS_AT],
    )
    if counting and not compares:
        return sought(n, ends + k, ends + stop, ends + k, until) - ends - k
    found, match, used, width, left = 0, f.used[0], f.used[1], j.width, f.most - cursor[0, HINT]
    if not counting:
        for bound in range(level):
            show(j, s, bound, cursor[bound, BINDING], f.line, 0)
    # Make the first comparison here: what is the same for all candidates is read once, outside of the loop.
    operator = own = other = 0
    if compares:
        i = j.at[COMPARED, level]
        operator, own = j.data[i + 1], s.base[j.data[i + 2]]
        other = n[s.base[j.data[i + 3]] + cursor[j.data[i], BINDING]]
    while True:
        if compares:
            k = skip(s, k, stop, ends, until, operator, own, other)
        if k >= stop or n[ends + k] >= until:
            break
        if not compares or fits(j, s, cursor, level, k, 1):
            if not counting:
                if used + width > len(f.rows):
                    f.used[0], f.used[1] = match, used
                    cursor[level, CANDIDATE] = k
                    cursor[0, HINT] += found
                    return FULL
                for i in range(width):
                    f.rows[used + i] = f.line[i]
                show(j, s, level, k, f.rows, used)
                used += width
                match += 1
            found += 1
            if found == left:
                break
        k += 1
    f.used[0], f.used[1] = match, used
    return found


@kernel
def join(j: Join, s: Sources, cursor: Ints, f: Found, asked: int) -> int:
    """Join the levels of a program, of which there are two or more.

    LIST: write the matches, and return their number; FULL if there was no room for the next one. RESUME: go on after
    that. COUNT: return the number of matches, and add it up by trigger. The cursor's first candidate is the number of
    the first trigger; the triggers end where its first level's candidates do.
    """
    last = len(j.levels) - 1
    found, level = 0, last
    if asked != RESUME:
        level = 0
        for one in range(last + 1):
            cursor[one, COUNTED] = s.counts[one]
            cursor[one, ENDS_AT] = s.base[j.levels[one, ENDS]]
    while True:
        if level == last:
            some = sweep(j, s, cursor, f, level, asked == COUNT)
            if some == FULL:
                return FULL
            found += some
            if asked == COUNT:
                f.by_trigger[cursor[0, CANDIDATE] - 1] += some
            else:
                cursor[0, HINT] += some
            level = level - 1 if cursor[0, HINT] < f.most else 0
            continue
        k = cursor[level, CANDIDATE]
        if level == 0:
            if k == cursor[0, UNTIL]:
                return found
            cursor[0, BINDING], cursor[0, HINT] = s.triggers[k], 0
        elif k >= cursor[level, COUNTED] or s.numbers[cursor[level, ENDS_AT] + k] >= cursor[level, UNTIL]:
            level -= 1
            continue
        else:
            cursor[level, BINDING] = k
        cursor[level, CANDIDATE] = k + 1
        if level == 0 or fits(j, s, cursor, level, k, 0):
            level += 1
            begin_level(j, s, cursor, level)
