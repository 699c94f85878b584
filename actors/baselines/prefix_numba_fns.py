"""Evaluate a window of a prefix tree: all its events go through the tree once, and each query reads its own counters.

Axes as in `counters_numba_fns`. A result has `lane`, word per query and group.
"""

from __future__ import annotations

from elsinore.actors.algebra.numbers_numba_fns import is_zero
from elsinore.actors.neighbours.entries_numba_fns import add_entry, run_window
from elsinore.planner.kernels.compiled import kernel


@kernel
def run_tree(
    events, runs, tables, single, links, shape, work, scratch, span, accept_at, accept, group_of, out, out_least, found
):
    """Evaluate one window, partition by partition.

    `accept[accept_at[q]:]` are the counters of finished trends of query q.
    """
    flag = 0
    width = shape.lanes * shape.words
    for slot in range(len(runs) - 1):
        if runs[slot] == runs[slot + 1]:
            continue
        _, one = run_window(events, runs[slot], runs[slot + 1], tables, single, links, shape, work, scratch, span)
        flag |= one
        if flag >> 62:
            break
        group = group_of[slot]
        for query in range(len(accept_at) - 1):
            row = query * found.shape[1] + group
            for a in range(accept_at[query], accept_at[query + 1]):
                state = accept[a]
                if not is_zero(work.numbers, state * width, shape.words):
                    found[query, group] = True
                    flag = add_entry(
                        shape, work.numbers, state * width, work.least, state * shape.keys,
                        out, row * width, out_least, row * shape.keys, flag,
                    )  # fmt: skip
    return flag
