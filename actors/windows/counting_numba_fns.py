"""Count trends in the order of events, for machines that keep nothing beside the count.

Axes: `row`, `state`, word in a block of counters, as in `counters_numba_fns`; (kind, step) in a `CountProgram`.

Events of different partitions depend on nothing of each other, so a processor overlaps their work; chained by
partition, each event waits for the one before it. All kinds have equally many steps: there is no branch on the kind.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from elsinore.actors.algebra.numbers_numba_fns import BIG, add, clear, is_zero
from elsinore.planner.kernels.compiled import by_type, kernel


class CountProgram(NamedTuple):
    """The steps of each kind, one after another; steps that do nothing fill up those of kinds with fewer."""

    source: Any
    target: Any
    added: Any  # mask: all bits if the step adds its source to its target, else 0
    kept: Any  # mask: 0 if the step empties its source, else all bits


def count_step(numbers: Any, src: Any, dst: Any, added: Any, kept: Any, w: Any, flag: Any) -> Any:
    """Do one step of a program."""
    raise NotImplementedError("runs compiled only")


@by_type(count_step)
def _count_step(numbers, src, dst, added, kept, w, flag):
    if str(numbers.dtype) == "int64":

        def masked(numbers, src, dst, added, kept, w, flag):
            moved = numbers[src]
            total = numbers[dst] + (moved & added)
            numbers[dst] = total
            numbers[src] &= kept
            return flag | (total ^ (total >> 63))

        return masked
    if str(numbers.dtype) == "float64":

        def selected(numbers, src, dst, added, kept, w, flag):
            moved = numbers[src] if added else 0.0
            total = numbers[dst] + moved
            if numbers[src + 1] == numbers[dst + 1] and total < BIG:
                numbers[dst] = total
            elif moved != 0.0:
                flag = add(numbers, dst, numbers, src, w, flag)
            numbers[src] = numbers[src] if kept else 0.0
            numbers[src + 1] = numbers[src + 1] if kept else 0.0
            return flag

        return selected

    def branching(numbers, src, dst, added, kept, w, flag):
        if not is_zero(numbers, src, w):
            if added:
                flag = add(numbers, dst, numbers, src, w, flag)
            if not kept:
                clear(numbers, src, w)
        return flag

    return branching


@kernel
def count_in_order(events, program, shape, numbers, last, pane, pane_of, flag):
    """Apply events in their order. Return (number of events before the first that has to wait for others, flag).

    Events of one time and partition act at once, so the second of them stops the kernel. `last`: by partition, the time
    of its last event. As in all kernels, bit 62 of the flag tells that a number overflowed.
    """
    width = shape.states * shape.words
    steps = program.source.shape[1]
    for i in range(len(events.slot)):
        slot = events.slot[i]
        if last[slot] == events.time[i]:
            return i, flag
        last[slot] = events.time[i]
        pane_of[slot] = pane
        kind = events.kind[i]
        base = slot * shape.rows * width
        for _ in range(shape.rows):
            for k in range(steps):
                flag = count_step(
                    numbers, base + program.source[kind, k] * shape.words, base + program.target[kind, k] * shape.words,
                    program.added[kind, k], program.kept[kind, k], shape.words, flag,
                )  # fmt: skip
            base += width
    return len(events.slot), flag
