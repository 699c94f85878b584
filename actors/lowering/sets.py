"""The arrays that kernels read for a share set: the merged template of its queries (HAMLET, Section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks
from elsinore.actors.algebra.counters_numba_fns import Shape, Tables
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.bursts_numba_fns import SINGLE, Types
from elsinore.actors.hamlet.graphlets_numba_fns import EVERYTHING, NOTHING, TAKEN, Members, Sharers
from elsinore.actors.lowering.arrays import column, flat, long_column, pointers, starts_of
from elsinore.planner.language.syntax import Semantics
from elsinore.planner.plans.sharing import Kleene, Sharer

CONSUMES: dict[Semantics, int] = {"any": NOTHING, "next": TAKEN, "contiguous": EVERYTHING}

POINTERS = {
    "append_at": "append_from",
    "program_at": "step_from",
    "bound_at": "bound_lane",
    "least_at": "least_key",
    "consume_at": "consume_from",
    "advance_at": "advance_from",
}
"""Each column of pointers, and one of the columns that it points into."""


class Merged:
    """The concatenated tables of several machines, with the offsets of each machine's classes and symbols."""

    def __init__(self, tables: Sequence[Tables]) -> None:
        # A column of pointers has one entry more than its machine has classes, bounds or symbols; offsets include it.
        self.classes = starts_of(len(one.append_at) for one in tables)
        self.symbols = starts_of(len(one.advance_at) for one in tables)
        bounds = starts_of(len(one.bound_at) for one in tables)
        merged: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in tables]) for name in ONE_BY_ONE}
        for at, into in POINTERS.items():
            begins = starts_of(len(getattr(one, into)) for one in tables)
            merged[at] = _shifted(tables, at, begins)
        merged["append_bound"] = _shifted(tables, "append_bound", bounds)
        merged["step_bound"] = _shifted(tables, "step_bound", bounds)
        merged["symbol"] = np.concatenate(
            [_padded(one.symbol + start, one.append_at) for one, start in zip(tables, self.symbols, strict=True)]
        )
        merged["alone"] = np.concatenate([_padded(one.alone, one.append_at) for one in tables])
        merged["union"] = self._unions(tables)
        merged["same"] = merged["row_of"] = merged["starts"] = merged["accepting"] = np.zeros(0, np.int32)
        self.tables = Tables(**merged)

    def _unions(self, tables: Sequence[Tables]) -> npt.NDArray[np.int32]:
        """Return the merged table of unions, in which only symbols of the same machine are combined."""
        size = sum(len(one.advance_at) for one in tables)
        unions = np.zeros((size, size), np.int32)
        for one, start in zip(tables, self.symbols, strict=True):
            end = start + len(one.union)
            unions[start:end, start:end] = one.union + start
        return unions


ONE_BY_ONE = (
    *("append_from", "append_to", "step_kind", "step_from", "step_to", "bound_lane", "bound_column"),
    *("least_key", "least_column", "consume_from", "consume_to", "advance_from", "advance_to"),
)


def _shifted(tables: Sequence[Tables], name: str, begins: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.concatenate([getattr(one, name) + start for one, start in zip(tables, begins, strict=True)])


def _padded(values: npt.NDArray[Any], like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.concatenate([values, np.zeros(len(like) - len(values), values.dtype)])


def members_of(blocks: Sequence[Blocks], merged: Merged, kinds: EventKinds) -> Members:
    """Return the places of the members' counters, and the class in which each member puts each kind of events."""
    shapes = [one.shape for one in blocks]
    classes = np.array(kinds.classes, np.int32).T + np.array(merged.classes, np.int32)[:, None]
    return Members(
        base=long_column(starts_of(len(one.numbers) for one in blocks)),
        block=long_column(one.width for one in blocks),
        least_base=long_column(starts_of(len(one.least) for one in blocks)),
        least_block=long_column(one.keys for one in blocks),
        rows=long_column(shape.rows for shape in shapes),
        states=long_column(shape.states for shape in shapes),
        lanes=long_column(shape.lanes for shape in shapes),
        keys=long_column(shape.keys for shape in shapes),
        symbol=long_column(merged.symbols),
        classes=np.ascontiguousarray(classes).reshape(-1),
        kinds=len(kinds),
    )


class MemberColumns:
    """The lanes of one member: the variable of each, and the shared column that it adds up or compares."""

    def __init__(self, sums: list[tuple[str, int]], minima: list[tuple[str, int]]) -> None:
        self.sums = sums
        self.minima = minima


def sharers_of(
    kleenes: Sequence[Kleene], columns: Sequence[MemberColumns], shapes: Sequence[Shape], kinds: EventKinds
) -> Sharers:
    """Return the sharers of all Kleene sub-patterns, with the lane of a graphlet that each lane of a sharer reads."""
    sharers = [sharer for kleene in kleenes for sharer in kleene.sharers]
    lane = {id(kleene.sharers[s]): n for kleene in kleenes for n, one in enumerate(kleene.lanes) for s in one}
    sums = [_needed(kleene, [one.sums for one in columns]) for kleene in kleenes]
    minima = [_needed(kleene, [one.minima for one in columns]) for kleene in kleenes]
    of = [(n, sharer) for n, kleene in enumerate(kleenes) for sharer in kleene.sharers]
    own_sums = [_places(sharer, columns[sharer.member].sums, sums[n], 1, 0) for n, sharer in of]
    own_minima = [_places(sharer, columns[sharer.member].minima, minima[n], 0, -1) for n, sharer in of]
    inputs, consumed = [sharer.inputs for sharer in sharers], [sharer.consumed for sharer in sharers]
    value_at, least_at = _room(kleenes, shapes, lambda g: g.lanes * g.words), _room(kleenes, shapes, lambda g: g.keys)
    return Sharers(
        at=pointers([kleene.sharers for kleene in kleenes]),
        member=column(sharer.member for sharer in sharers),
        target=column(sharer.target for sharer in sharers),
        lane=column(lane[id(sharer)] for sharer in sharers),
        input_consumed=column(state in sharer.consumed for sharer in sharers for state in sharer.inputs),
        end=column(-1 if sharer.end is None else sharer.end for sharer in sharers),
        value_at=long_column(value_at),
        least_at=long_column(least_at),
        lane_at=pointers(sums),
        column=column(number for one in sums for number in one),
        **flat(input=inputs, consumed=consumed, sum=own_sums, key=own_minima, column_key=minima),
        takes=np.array(kinds.takes, np.uint64),
        ends=column(any(one.end is not None for one in kleene.sharers) for kleene in kleenes),
        begins=column(any(set(one.inputs) - set(one.consumed) for one in kleene.sharers) for kleene in kleenes),
        consumes=CONSUMES[kinds.semantics],
    )


def _needed(kleene: Kleene, columns: list[list[tuple[str, int]]]) -> list[int]:
    """Return the columns in which events of a Kleene sub-pattern matter to at least one of its sharers."""
    return list(
        dict.fromkeys(
            number for sharer in kleene.sharers for name, number in columns[sharer.member] if name in sharer.bound
        )
    )


def _places(sharer: Sharer, own: list[tuple[str, int]], needed: list[int], first: int, none: int) -> list[int]:
    return [first + needed.index(number) if name in sharer.bound else none for name, number in own]


def _room(kleenes: Sequence[Kleene], shapes: Sequence[Shape], size: Callable[[Any], int]) -> list[int]:
    """Return, by sharer, where its values begin in a snapshot of its Kleene sub-pattern."""
    return [
        start
        for kleene in kleenes
        for start in starts_of(shapes[sharer.member].rows * size(shapes[sharer.member]) for sharer in kleene.sharers)
    ]


def widths(kleenes: Sequence[Kleene], shapes: Sequence[Shape]) -> tuple[int, int]:
    """Return the room that the largest snapshot of any Kleene sub-pattern needs. (words of numbers, minima)"""

    def most(size: Callable[[Any], int]) -> int:
        found = [[shapes[sharer.member] for sharer in kleene.sharers] for kleene in kleenes]
        return max(sum(shape.rows * size(shape) for shape in one) for one in found)

    return most(lambda shape: shape.lanes * shape.words), most(lambda shape: shape.keys)


def types_of(kleenes: Sequence[Kleene], kinds: EventKinds) -> Types:
    """Return, by type, its Kleene sub-pattern, and the members that its events affect outside of graphlets."""
    number = {kleene.type: n for n, kleene in enumerate(kleenes)}
    sharing = {kleene.type: {sharer.member for sharer in kleene.sharers} for kleene in kleenes}
    naming = [{one.type for one in counter.machine.classes} for _, counter in kinds.members]
    care, cut_short = [], []
    for name in kinds.types:
        others = [m for m in range(len(naming)) if m not in sharing.get(name, ())]
        care.append([m for m in others if name in naming[m]])
        cut_short.append([m for m in others if name not in naming[m] and kinds.semantics == "contiguous"])
    queries = [[len(lane) for lane in kleene.lanes] for kleene in kleenes]
    return Types(
        of_kind=column(kinds.type_of),
        kleene=column(number.get(name, SINGLE) for name in kinds.types),
        **flat(care=care, cut_short=cut_short),
        lane_at=pointers(queries),
        lane_queries=column(count for one in queries for count in one),
    )
