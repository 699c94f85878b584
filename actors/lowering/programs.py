"""Programs: how an event that is alone in its time changes the counters, as a list of steps done in place.

All appends of an event read the counters as they were before it. Steps done one by one keep to
that only in the right order: first those that read a state, then those that empty it, then
those that add to it. Where there is no such order (two states that feed each other), there is
no program, and the event goes through the scratch block, as several events of one time do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from elsinore.actors.algebra.counters_numba_fns import ADD, CLEAR, MOVE, RENEW
from elsinore.planner.machines.machine import Append, Machine


@dataclass(frozen=True)
class Step:
    """One step: ADD the trends of `source`, lengthened, to `target`; MOVE them there unchanged; CLEAR them; or RENEW
    them, that is replace them by the lengthened ones."""

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
    """Return the steps of a class in order; None if its events also advance guards, or if no order is valid."""
    if machine.symbols[event_class]:
        return None
    steps = _steps(machine.appends[event_class], _consumed(machine, event_class))
    return None if steps is None else _ordered(steps)


def _consumed(machine: Machine, event_class: int) -> dict[int, int]:
    """Return, by state whose trends are consumed, the state they end up in after all moves, or -1."""
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
        # A step that adds a state to itself must precede other steps that add to that state.
        k = min(ready, key=lambda k: steps[k].source != steps[k].target)
        order.append(steps[k])
        done.add(k)
        left.remove(k)
    return order


def _waits(steps: list[Step]) -> list[set[int]]:
    """Return, by step, the steps that must precede it. Their source is its source or its target."""
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
    """Return whether the first step must precede the other."""
    return any(_conflicts(one, other))


def _conflicts(one: Step, other: Step) -> Iterator[bool]:
    read = one.source if one.reads else None
    yield other.empties and read == other.source and not one.empties
    yield other.kind == RENEW and read == other.source and one.kind != RENEW
    yield other.adds and read == other.target
    yield other.adds and one.empties and one.source == other.target
