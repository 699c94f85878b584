"""The arrays that kernels read for a share set whose windows move, and the memory that they need."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Tables
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.bursts_numba_fns import Types
from elsinore.actors.hamlet.graphlets_numba_fns import Sharers
from elsinore.actors.lowering.arrays import column, long_column, pointers
from elsinore.actors.moving.bursts_numba_fns import Coefficients, Pieces
from elsinore.actors.moving.stacks_numba_fns import Due, Machines, MapWorkspace, MemberEntries, MovingResults
from elsinore.planner.plans.sharing import Kleene

Ints = npt.NDArray[np.int64]


def machines_of(
    kleenes: Sequence[Kleene], tables: Sequence[Tables], within: Sequence[int], kinds: EventKinds
) -> Machines:
    """Return what maps need of the members' machines; `tables` and `within` are by member."""
    naming = [{one.type for one in counter.machine.classes} for _, counter in kinds.members]
    sharers = [sharer for kleene in kleenes for sharer in kleene.sharers]
    pairs = [(n, member) for n in range(len(kleenes)) for member in range(len(tables))]
    own = [(n, sharer.member) for n, kleene in enumerate(kleenes) for sharer in kleene.sharers]
    rides = [0 in sharer.inputs for sharer in sharers]
    lanes = [[kleene.sharers[number] for number in lane] for kleene in kleenes for lane in kleene.lanes]
    return Machines(
        within=long_column(within),
        shortest=min(within),
        row_at=pointers([one.row_of for one in tables]),
        row_of=np.concatenate([one.row_of for one in tables]),
        start_at=pointers([one.starts for one in tables]),
        starts=np.concatenate([one.starts for one in tables]),
        accept_at=pointers([one.accepting for one in tables]),
        accepting=np.concatenate([one.accepting for one in tables]),
        own_at=long_column([*(sum(one < pair for one in own) for pair in pairs), len(own)]),
        lanes_of=long_column([len(kleene.lanes) for kleene in kleenes]),
        names=np.array([name in names for name in kinds.types for names in naming], np.bool_),
        rides=np.array(rides, np.bool_),
        rides_at=np.array([any(0 in sharer.inputs for sharer in lane) for lane in lanes], np.bool_),
        ends=np.array([sharer.target in tables[sharer.member].accepting for sharer in sharers], np.bool_),
    )


def enders(ends: Sequence[npt.NDArray[np.bool_]], classes: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Return, by kind of events, the members whose trends it may end. (pointers, members)

    `ends` is by member and class, `classes` by kind and member.
    """
    found = [[m for m, one in enumerate(own) if ends[m][one]] for own in classes]
    return pointers(found), column(member for one in found for member in one)


def coefficients(sharers: Sharers, places: int, words: int, exact: bool) -> Coefficients:
    """Return the memory for the coefficients of `places` places."""
    kind = number_type(exact, words)
    width = (1 + int(np.diff(sharers.lane_at).max())) * words
    keys = int(np.diff(sharers.column_key_at).max())
    one = np.zeros(words, kind)
    one[0] = 1
    return Coefficients(np.zeros(places * width, kind), np.full(places * keys, NONE), one, words, width, keys)


def most_places(events: Events, runs: Ints, types: Types, machines: Machines) -> int:
    """Return the largest number of places that the coefficients of one partition take."""
    kleene = types.kleene[types.of_kind]
    lanes = np.where(kleene >= 0, machines.lanes_of[kleene], 0)
    total = np.concatenate([[0], np.cumsum(lanes[events.kind])])
    return int(np.diff(total[runs]).max())


def pieces_and_entries(longest: int) -> tuple[Pieces, MemberEntries]:
    """Return the memory for the pieces and entries of a partition with `longest` events."""
    return Pieces(*np.zeros((4, longest), np.int64)), MemberEntries(*np.zeros((3, longest), np.int64))


def map_workspace(blocks: Sequence[Blocks], stack: int) -> MapWorkspace:
    """Return the memory for the maps of any member, and for a stack of `stack` maps of the largest."""
    kind = blocks[0].numbers.dtype
    width, keys = max(one.width for one in blocks), max(one.keys for one in blocks)
    sizes = [(stack * width, stack * keys), *4 * [(width, keys)]]
    shapes = [one.shape for one in blocks]
    sizes.append((max(shape.lanes * shape.words for shape in shapes), max(shape.keys for shape in shapes)))
    return MapWorkspace(*(made for n, k in sizes for made in (np.zeros(n, kind), np.full(k, NONE))))


def results(due: Due, blocks: Sequence[Blocks]) -> MovingResults:
    """Return the memory for results: a row per window that is due, member by member."""
    shapes = [one.shape for one in blocks]
    rows = np.diff(due.row_at).tolist()
    numbers = [count * shape.lanes * shape.words for count, shape in zip(rows, shapes, strict=True)]
    keys = [count * shape.keys for count, shape in zip(rows, shapes, strict=True)]
    return MovingResults(
        numbers=np.zeros(sum(numbers), blocks[0].numbers.dtype),
        least=np.full(sum(keys), NONE),
        at=long_column([0, *accumulate(numbers)]),
        least_at=long_column([0, *accumulate(keys)]),
        found=np.zeros(sum(rows), np.bool_),
    )


def result_of(member: int, found: MovingResults, own: Blocks) -> Blocks:
    """Return the results of one member."""
    (at, end), (least_at, least_end) = (one[member : member + 2] for one in (found.at, found.least_at))
    shape = own.shape._replace(rows=1, states=1)
    return Blocks(shape, own.exact, found.numbers[at:end], found.least[least_at:least_end])
