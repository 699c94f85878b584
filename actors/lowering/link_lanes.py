"""The arrays that the kernel reads for a share set with predicates on neighbours, and the memory that it needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import Blocks, number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Scratch
from elsinore.actors.lowering.arrays import column, flat, long_column, pointers, starts_of
from elsinore.actors.lowering.entries import KINDS, OPERATORS
from elsinore.actors.neighbours.set_numba_fns import FREE, INDEX, SCAN, Lanes, LinkedResults, LinkedWorkspace
from elsinore.planner.language.syntax import ComparisonOperator
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.sharing import LinkedSet


def lanes_of(share_set: LinkedSet, blocks: Sequence[Blocks], operators: Sequence[ComparisonOperator]) -> Lanes:
    """Return the link lanes of a share set; `blocks` are by member, `operators` by link."""
    lanes = [lane for one in share_set.lanes for lane in one]
    sizes = [_sizes(share_set, number, blocks) for number in range(len(share_set.kleenes))]
    sized = [size for one in sizes for size in one]
    modes = [FREE if not lane.links else INDEX if len(lane.links) == 1 else SCAN for lane in lanes]
    trees = [
        len(KINDS[operators[lane.links[0]]]) if mode == INDEX else 0 for lane, mode in zip(lanes, modes, strict=True)
    ]
    return Lanes(
        at=pointers(share_set.lanes),
        mode=column(modes),
        value_at=_within([[numbers for numbers, _ in one] for one in sizes]),
        numbers=long_column([numbers for numbers, _ in sized]),
        least_at=_within([[keys for _, keys in one] for one in sizes]),
        keys=long_column([keys for _, keys in sized]),
        tree_at=long_column(starts_of([n * numbers for n, (numbers, _) in zip(trees, sized, strict=True)])),
        tree_least_at=long_column(starts_of([n * keys for n, (_, keys) in zip(trees, sized, strict=True)])),
        **flat(link=[lane.links for lane in lanes]),
        operator=column(map(OPERATORS.index, operators)),
        everybody=np.array([(1 << len(kleene.lanes)) - 1 for kleene in share_set.kleenes], np.uint64),
        counting=np.array([all(size == (1, 0) for size in _each(share_set, n, blocks)) for n in range(len(sizes))]),
        numbers_of=long_column([sum(numbers for numbers, _ in one) for one in sizes]),
        keys_of=long_column([sum(keys for _, keys in one) for one in sizes]),
        scanned=SCAN in modes,
    )


def _each(share_set: LinkedSet, number: int, blocks: Sequence[Blocks]) -> list[tuple[int, int]]:
    """Return how many numbers and minima each sharer of a Kleene sub-pattern has."""
    shapes = [blocks[sharer.member].shape for sharer in share_set.kleenes[number].sharers]
    return [(shape.lanes, shape.keys) for shape in shapes]


def _sizes(share_set: LinkedSet, number: int, blocks: Sequence[Blocks]) -> list[tuple[int, int]]:
    """Return how many numbers and minima each link lane of a Kleene sub-pattern has: the sums over its sharers."""
    each, found = iter(_each(share_set, number, blocks)), []
    for lane in share_set.lanes[number]:
        own = [next(each) for _ in range(lane.sharers)]
        found.append((sum(numbers for numbers, _ in own), sum(keys for _, keys in own)))
    return found


def trees_of(lanes: Lanes, operators: Sequence[ComparisonOperator]) -> tuple[int, int]:
    """Return how many numbers and minima one rank of all trees takes."""
    indexed = np.flatnonzero(lanes.mode == INDEX)
    count = [len(KINDS[operators[lanes.link[lanes.link_at[lane]]]]) for lane in indexed]
    return int((lanes.numbers[indexed] * count).sum()), int((lanes.keys[indexed] * count).sum())


def linked_workspace(
    lanes: Lanes, trees: tuple[int, int], entries: int, span: int, words: int, exact: bool
) -> LinkedWorkspace:
    """Return the memory for `entries` entries at once, and `span` ranks of each tree."""
    kind = number_type(exact, words)
    kleenes = len(lanes.numbers_of)
    width, keys = int(lanes.numbers_of.max()) * words, int(lanes.keys_of.max())
    numbers, minima = trees
    return LinkedWorkspace(
        entry_event=np.zeros(entries, np.int64),
        entries=np.zeros(entries * width, kind),
        least=np.full(entries * keys, NONE, np.int64),
        width=width,
        keys=keys,
        before=np.zeros(kleenes * width, kind),
        before_least=np.full(kleenes * keys, NONE, np.int64),
        total=np.zeros(kleenes * width, kind),
        total_least=np.full(kleenes * keys, NONE, np.int64),
        trees=np.zeros(span * numbers * words, kind),
        trees_least=np.full(span * minima, NONE, np.int64),
        span=span,
    )


def most_at_once(events: Events, runs: npt.NDArray[np.int64], scanned: bool) -> int:
    """Return the most entries held at once: all of a partition if single ones are scanned, else those of one time."""
    if scanned:
        return int(np.diff(runs).max())
    new = (events.time[1:] != events.time[:-1]) | (events.slot[1:] != events.slot[:-1])
    return int(np.diff(np.flatnonzero(new), prepend=-1, append=len(new)).max())


def scratch_of(blocks: Sequence[Blocks]) -> Scratch:
    """Return scratch memory that fits a block of any member."""
    states = max(one.shape.states for one in blocks)
    return Scratch(
        np.zeros(max(one.width for one in blocks), blocks[0].numbers.dtype),
        np.full(max(one.keys for one in blocks), NONE, np.int64),
        np.zeros(states, np.int32),
        np.zeros(states, np.bool_),
        np.zeros(0, blocks[0].numbers.dtype),
        np.zeros(0, np.int64),
    )


def results(
    machines: Sequence[Machine], blocks: Sequence[Blocks], group_of: npt.NDArray[np.int32], groups: int
) -> LinkedResults:
    numbers = [groups * one.shape.lanes for one in blocks]
    keys = [groups * one.shape.keys for one in blocks]
    return LinkedResults(
        numbers=np.zeros(sum(numbers) * blocks[0].shape.words, blocks[0].numbers.dtype),
        least=np.full(sum(keys), NONE, np.int64),
        at=long_column(starts_of(numbers)),
        least_at=long_column(starts_of(keys)),
        found=np.zeros((len(blocks), groups), np.bool_),
        group_of=group_of,
        **flat(accept=[machine.accepting for machine in machines]),
    )


def result_of(member: int, found: LinkedResults, own: Blocks) -> Blocks:
    """Return the results of one member, by group."""
    shape = own.shape._replace(rows=1, states=1)
    groups = found.found.shape[1]
    at, least_at = int(found.at[member]) * shape.words, int(found.least_at[member])
    return Blocks(
        shape,
        own.exact,
        found.numbers[at : at + groups * shape.lanes * shape.words],
        found.least[least_at : least_at + groups * shape.keys],
    )


def _within(sizes: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    return long_column([start for one in sizes for start in starts_of(one)])
