"""Chains as deterministic automata over variables: a chain is bound in one way only, so no match is found twice.

Copies of a repeated part (`p{2,3}`) are several positions of one variable. A state is the set of positions at which the
events bound so far can be. The symbols are a variable and the guards of which the gap to the event is clear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from elsinore.planner.language.syntax import And, EventType, Kleene, Not, Or, Pattern, Seq
from elsinore.planner.machines.automaton import Automaton, Crossings, automaton

NOWHERE = -1


@dataclass(frozen=True)
class Chain:
    """A deterministic automaton that reads a chain forwards or backwards in time; state 0 is before the first event."""

    variables: tuple[str, ...]
    guards: tuple[int, ...]
    """The guards that its gaps name, by their numbers in the query; bit i of a mask is for `guards[i]`."""
    steps: tuple[tuple[tuple[int, ...], ...], ...]
    """By state, variable and mask of clear guards: the next state, or NOWHERE."""
    accepts: tuple[tuple[bool, ...], ...]
    """By state and mask of the gap behind the last event that was read: whether the chain may end there."""
    edges: frozenset[int]
    """The guards, by number in the query, that may stand before the first event or after the last."""

    @property
    def masks(self) -> int:
        return 1 << len(self.guards)


def chain(pattern: Pattern, guards: Sequence[Pattern], backwards: bool) -> Chain:
    """Return the chain of a pattern without AND."""
    whole = automaton(_numbered(pattern, guards))
    numbers = tuple(int(guard.positions[0].variable) for guard in whole.guards)
    if backwards:
        whole = _reversed(whole)
    return _determined(whole, numbers)


def _numbered(pattern: Pattern, guards: Sequence[Pattern]) -> Pattern:
    """Return a pattern with the number of each negated part in its place."""
    match pattern:
        case EventType():
            return pattern
        case Not():
            return Not(EventType("", str(guards.index(pattern.part))))
        case Kleene():
            return replace(pattern, part=_numbered(pattern.part, guards))
        case Seq() | Or() | And():
            return replace(pattern, parts=tuple(_numbered(part, guards) for part in pattern.parts))


def _reversed(whole: Automaton) -> Automaton:
    follow: dict[int, dict[int, Crossings]] = {p: {} for p in range(len(whole.positions))}
    for p, edges in whole.follow.items():
        for r, crossings in edges.items():
            follow[r][p] = crossings
    return replace(whole, first=whole.last, last=whole.first, follow=follow)


def _determined(whole: Automaton, numbers: tuple[int, ...]) -> Chain:
    names = tuple(dict.fromkeys(position.variable for position in whole.positions))
    masks = range(1 << len(numbers))
    start: frozenset[int] | None = None
    found: dict[frozenset[int] | None, int] = {start: 0}
    waiting: list[frozenset[int] | None] = [start]
    steps, accepts = [], []
    while waiting:
        state = waiting.pop(0)
        row = []
        for name in names:
            reached = []
            for mask in masks:
                after = _after(whole, state, name, mask)
                if after and after not in found:
                    found[after] = len(found)
                    waiting.append(after)
                reached.append(found[after] if after else NOWHERE)
            row.append(tuple(reached))
        steps.append(tuple(row))
        accepts.append(tuple(any(_clear(whole.last.get(p), mask) for p in state or ()) for mask in masks))
    edges = {numbers[g] for ways in (*whole.first.values(), *whole.last.values()) for way in ways for g in way}
    return Chain(names, numbers, tuple(steps), tuple(accepts), frozenset(edges))


def _after(whole: Automaton, state: frozenset[int] | None, name: str, mask: int) -> frozenset[int]:
    """Return the positions of a variable that can be reached across a gap that is clear of the guards of a mask."""
    edges: list[Mapping[int, Crossings]] = [whole.first] if state is None else [whole.follow[p] for p in state]
    return frozenset(
        r
        for one in edges
        for r, crossings in one.items()
        if whole.positions[r].variable == name and _clear(crossings, mask)
    )


def _clear(crossings: Crossings | None, mask: int) -> bool:
    return any(all(mask >> guard & 1 for guard in way) for way in crossings or ())
