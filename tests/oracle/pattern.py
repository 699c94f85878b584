"""Matching of patterns event by event.

The *rest* is the sequence of patterns that is still to be matched. A step from a rest takes an
event at some position, and leaves another rest (the partial derivatives of a regular
expression). The negations that a step passes over form the gap before the event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.oracle.query import Absent, And, One, Or, Pattern, Repeat, Seq

Rest = tuple[Pattern, ...]
Gap = frozenset[Pattern]
"""The sub-patterns that must not match in a gap."""

OPEN: Gap = frozenset()


@dataclass(frozen=True)
class Step:
    gap: Gap
    at: One
    rest: Rest

    @property
    def place(self) -> Place:
        return Place(self.at, self.rest)


@dataclass(frozen=True)
class Place:
    """The position of an event in the pattern, and the rest after it."""

    at: One
    rest: Rest


def places(pattern: Pattern) -> set[Place]:
    """Return all places that an event of a trend may have."""
    found: set[Place] = set()
    waiting = [step.place for step in steps((pattern,))]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting.extend(step.place for step in steps(place.rest))
    return found


@cache
def steps(rest: Rest) -> frozenset[Step]:
    """Return all ways to take the next event."""
    return frozenset(_steps(rest))


@cache
def endings(rest: Rest) -> frozenset[Gap]:
    """Return all ways to take no further event, each as the negations that it passes over."""
    return frozenset(_endings(rest))


def _steps(rest: Rest) -> Iterator[Step]:
    if not rest:
        return
    head, tail = rest[0], rest[1:]
    for step in _within(head):
        yield Step(step.gap, step.at, step.rest + tail)
    for passed in endings((head,)):
        for step in steps(tail):
            yield Step(passed | step.gap, step.at, step.rest)


def _within(pattern: Pattern) -> Iterator[Step]:
    """Yield the steps whose event lies inside this pattern."""
    match pattern:
        case One():
            yield Step(OPEN, pattern, ())
        case Seq(parts):
            yield from steps(parts)
        case Or(parts):
            for part in parts:
                yield from _within(part)
        case Repeat(part, least, most):
            yield from _repeated(part, least, most)
        case Absent():
            pass
        case And():
            raise AssertionError("AND stands on top of a pattern")


def _repeated(part: Pattern, least: int, most: int | None) -> Iterator[Step]:
    """Yield the steps to an event of some iteration, all iterations before it being empty."""
    for before in range(max(least, 1) if most is None else most):
        fewest, limit = max(least - before - 1, 0), None if most is None else most - before - 1
        further = () if limit == 0 else (Repeat(part, fewest, limit),)
        for passed in endings((part,)) if before else [OPEN]:
            for step in steps((part,)):
                yield Step(passed | step.gap, step.at, step.rest + further)


def _endings(rest: Rest) -> Iterator[Gap]:
    if not rest:
        yield OPEN
        return
    for passed in _empty(rest[0]):
        for other in endings(rest[1:]):
            yield passed | other


def _empty(pattern: Pattern) -> Iterator[Gap]:
    """Yield the ways to match this pattern without an event."""
    match pattern:
        case One():
            pass
        case Absent(part):
            yield frozenset({part})
        case Seq(parts):
            yield from endings(parts)
        case Or(parts):
            for part in parts:
                yield from _empty(part)
        case Repeat(part, least, _):
            # Further empty iterations could only add negations to a gap, never remove one.
            yield from _empty(part) if least else [OPEN]
        case And():
            raise AssertionError("AND stands on top of a pattern")
