"""A machine and the lanes of its query as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from actors.counters_numba_fns import Tables
from planner.machine import Append, Machine

Ints = npt.NDArray[np.int32]


def tables(machine: Machine, lanes: Sequence[tuple[str, int]], keys: Sequence[str]) -> Tables:
    """`lanes`: per lane behind the count, the variable it belongs to and its column (-1: each event counts 1);
    `keys`: per minimum its variable."""
    bounds = list(dict.fromkeys(append.bound for appends in machine.appends for append in appends))
    appends = ordered_appends(machine)
    still = not any(machine.consumes) and not any(machine.advances)
    bound_lanes = [[(k, column) for k, (name, column) in enumerate(lanes, start=1) if name in b] for b in bounds]
    bound_keys = [[k for k, name in enumerate(keys) if name in b] for b in bounds]
    starts = machine.starts
    row_of = np.full(len(machine.states), -1, np.int32)
    row_of[list(starts)] = np.arange(len(starts), dtype=np.int32)
    return Tables(
        append_at=pointers(appends),
        append_from=column(a.source for one in appends for a in one),
        append_to=column(a.target for one in appends for a in one),
        append_bound=column(bounds.index(a.bound) for one in appends for a in one),
        in_place=np.array([still and _reading_first(one) is not None for one in appends], np.bool_),
        bound_at=pointers(bound_lanes),
        bound_lane=column(lane for one in bound_lanes for lane, _ in one),
        bound_column=column(column for one in bound_lanes for _, column in one),
        least_at=pointers(bound_keys),
        least_key=column(key for one in bound_keys for key in one),
        **_moves("consume", [[(c.source, c.target) for c in consumes] for consumes in machine.consumes]),
        symbol=column(machine.symbols),
        union=np.array(machine.unions, np.int32),
        **_moves("advance", machine.advances),
        accepting=column(machine.accepting),
        starts=column(starts),
        row_of=row_of,
    )


def ordered_appends(machine: Machine) -> list[list[Append]]:
    """By class, in the order in which kernels do them."""
    return [_reading_first(appends) or list(appends) for appends in machine.appends]


def _reading_first(appends: Sequence[Append]) -> list[Append] | None:
    """An order in which each append reads its source before another one writes to it, if there is one."""
    left, ordered = list(appends), []
    while left:
        ready = [a for a in left if not any(b.source == a.target for b in left if b is not a)]
        if not ready:
            return None
        loop_first = min(ready, key=lambda a: a.source != a.target)
        ordered.append(loop_first)
        left.remove(loop_first)
    return ordered


def _moves(name: str, moves: Sequence[Sequence[tuple[int, int]]]) -> dict[str, Ints]:
    return {
        f"{name}_at": pointers(moves),
        f"{name}_from": column(source for one in moves for source, _ in one),
        f"{name}_to": column(target for one in moves for _, target in one),
    }


def pointers(ranges: Sequence[Sequence[object]]) -> Ints:
    return np.cumsum([0, *map(len, ranges)], dtype=np.int32)


def column(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int32)
