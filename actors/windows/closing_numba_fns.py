"""Close the windows of many members that end at once.

Axes as in `counters_numba_fns`; results are written member after member.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import Shape, begin, collect_rows
from elsinore.actors.windows.windows_numba_fns import award, claim, release
from elsinore.planner.kernels.compiled import kernel


class Closing(NamedTuple):
    """By member: where its counters lie, and its accepting states by pointers."""

    base: Any
    block: Any
    least_base: Any
    least_block: Any
    states: Any
    accepting_at: Any
    accepting: Any


class Accepting(NamedTuple):
    """What `collect` reads of a machine."""

    accepting: Any


@kernel
def close_rows(
    closing, first, numbers, least, rows, row, alone, lanes, keys, w, since, pane_of, group_of, result_of,
    out, out_least, out_group, out_member,
):  # fmt: skip
    """Collect the finished trends of every partition touched since a pane, and start one row anew.

    They are those of that row, if it is `alone`, else those of all rows. Results are by member and group. Return (the
    first member that is not done, results, flag). It stops where the results of another member might not fit, and at a
    member whose numbers overflow, which is left as it was.
    """
    count = 0
    for m in range(first, len(closing.base)):
        if m > first and count + len(result_of) > len(out_group):
            return m, count, np.int64(0)
        shape = Shape(rows, closing.states[m], lanes, keys, w)
        machine = Accepting(closing.accepting[closing.accepting_at[m] : closing.accepting_at[m + 1]])
        flag = np.int64(0)
        before = count
        for slot in range(len(group_of)):
            if pane_of[slot] < since:
                continue
            group = group_of[slot]
            place = claim(group, count, result_of, shape, out, out_least)
            found, flag = collect_rows(
                shape, machine, numbers, closing.base[m] + slot * closing.block[m],
                least, closing.least_base[m] + slot * closing.least_block[m],
                row if alone else 0, row + 1 if alone else rows, out, place * lanes * w, out_least, place * keys, flag,
            )  # fmt: skip
            count = award(found, group, place, count, result_of, out_group)
        release(count - before, result_of, out_group[before:])
        if flag >> 62:
            return m, before, flag
        out_member[before:count] = m
        for slot in range(len(group_of)):
            if pane_of[slot] >= since:
                begin(
                    shape, numbers, closing.base[m] + slot * closing.block[m],
                    least, closing.least_base[m] + slot * closing.least_block[m], row, alone,
                )  # fmt: skip
    return len(closing.base), count, np.int64(0)
