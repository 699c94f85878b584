"""The arrays that kernels read for a machine and the lanes of its query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import ADD, RENEW, Tables
from elsinore.actors.lowering.arrays import column, flat_pairs, pointers
from elsinore.actors.lowering.programs import program
from elsinore.planner.machines.machine import Machine

Ints = npt.NDArray[np.int32]


def tables(machine: Machine, lanes: Sequence[tuple[str, int]], keys: Sequence[str]) -> Tables:
    """Return the tables of a machine.

    `lanes` has the variable and the column of each lane after the count (column -1: each event counts 1). `keys` has
    the variable of each minimum.
    """
    bounds = list(dict.fromkeys(append.bound for appends in machine.appends for append in appends))
    appends = machine.appends
    programs = [program(machine, c) for c in range(len(appends))]
    steps = [step for one in programs for step in one or ()]
    bound_lanes = [[(k, column) for k, (name, column) in enumerate(lanes, start=1) if name in b] for b in bounds]
    bound_keys = [[k for k, name in enumerate(keys) if name in b] for b in bounds]
    consumes = [[(one.source, one.target) for one in some] for some in machine.consumes]
    starts = machine.starts
    row_of = np.full(len(machine.states), -1, np.int32)
    row_of[list(starts)] = np.arange(len(starts), dtype=np.int32)
    return Tables(
        append_at=pointers(appends),
        append_from=column(a.source for one in appends for a in one),
        append_to=column(a.target for one in appends for a in one),
        append_bound=column(bounds.index(a.bound) for one in appends for a in one),
        program_at=pointers([one or () for one in programs]),
        step_kind=column(step.kind for step in steps),
        step_from=column(step.source for step in steps),
        step_to=column(step.target for step in steps),
        step_bound=column(bounds.index(step.bound) if step.kind in (ADD, RENEW) else 0 for step in steps),
        alone=np.array([one is not None for one in programs], np.bool_),
        **flat_pairs("bound", bound_lanes, "lane", "column"),
        least_at=pointers(bound_keys),
        least_key=column(key for one in bound_keys for key in one),
        least_column=column(key for one in bound_keys for key in one),
        **flat_pairs("consume", consumes, "from", "to"),
        symbol=column(machine.symbols),
        union=np.array(machine.unions, np.int32),
        **flat_pairs("advance", machine.advances, "from", "to"),
        accepting=column(machine.accepting),
        starts=column(starts),
        row_of=row_of,
        same=np.arange(len(appends), dtype=np.int32),
    )
