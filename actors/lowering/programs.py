"""What an event that is alone in its time does to the counters, as steps that are done in place.

All that an event appends reads what was before it. Done one by one that holds only in the right
order: whoever reads a state comes before whoever empties it, and they before whoever adds to it.
Where there is no such order (two states that feed each other), there is no program, and the
event goes through the scratch block as events of one time do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from elsinore.actors.algebra.counters_numba_fns import ADD, CLEAR, MOVE, RENEW
from elsinore.planner.machines.machine import Append, Machine


@dataclass(frozen=True)
class Step:
    """ADD the trends of `source`, lengthened, to `target`; MOVE them there; CLEAR them; or RENEW: lengthen them where
    they are."""

    kind: int
    source: int
    target: int
    bound: tuple[str, ...] = ()

    @property
    def empties(self) -> bool:
        return self.kind in (MOVE, CLEAR)

    @property
    def reads(self) -> bool:
        return self.kind in (ADD, MOVE, RENEW)

    @property
    def adds(self) -> bool:
        return self.kind in (ADD, MOVE)


def program(machine: Machine, event_class: int) -> list[Step] | None:
    """The steps of a class, in order; none where it also speaks to guards, or where no order will do."""
    if machine.symbols[event_class]:
        return None
    steps = _steps(machine.appends[event_class], _consumed(machine, event_class))
    return None if steps is None else _ordered(steps)


def _consumed(machine: Machine, event_class: int) -> dict[int, int]:
    """Where the trends of each state end up when all moves are done one after another."""
    place = {state: state for state in range(len(machine.states))}
    for consume in machine.consumes[event_class]:
        for state, now in place.items():
            if now == consume.source:
                place[state] = consume.target
    return {state: target for state, target in place.items() if target != state}


def _steps(appends: tuple[Append, ...], consumed: dict[int, int]) -> list[Step] | None:
    steps, renewed = [], set()
    for append in appends:
        if append.source == append.target and append.source in consumed:
            if consumed[append.source] >= 0 or append.source in renewed:
                return None
            renewed.add(append.source)
            steps.append(Step(RENEW, append.source, append.source, append.bound))
        else:
            steps.append(Step(ADD, append.source, append.target, append.bound))
    for source, target in consumed.items():
        if source not in renewed:
            steps.append(Step(MOVE if target >= 0 else CLEAR, source, max(target, 0)))
    return steps


def _ordered(steps: list[Step]) -> list[Step] | None:
    waits = _waits(steps)
    left, done = list(range(len(steps))), set[int]()
    order = []
    while left:
        ready = [k for k in left if waits[k] <= done]
        if not ready:
            return None
        # A step that adds a state to itself comes before others add to it.
        k = min(ready, key=lambda k: steps[k].source != steps[k].target)
        order.append(steps[k])
        done.add(k)
        left.remove(k)
    return order


def _waits(steps: list[Step]) -> list[set[int]]:
    """By step, those that have to come before it. They all begin where it begins or ends."""
    by_source: dict[int, list[int]] = {}
    for k, step in enumerate(steps):
        by_source.setdefault(step.source, []).append(k)
    return [
        {
            j
            for state in {step.source, step.target}
            for j in by_source.get(state, ())
            if j != k and _before(steps[j], step)
        }
        for k, step in enumerate(steps)
    ]


def _before(one: Step, other: Step) -> bool:
    """Does one step have to come before another?"""
    return any(_conflicts(one, other))


def _conflicts(one: Step, other: Step) -> Iterator[bool]:
    read = one.source if one.reads else None
    yield other.empties and read == other.source and not one.empties
    yield other.kind == RENEW and read == other.source and one.kind != RENEW
    yield other.adds and read == other.target
    yield other.adds and one.empties and one.source == other.target
