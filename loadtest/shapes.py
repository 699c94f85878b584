"""The number of users over the time of a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MOST = 3
"""Largest number of users at a time. Each has a job, with a Spark stream and actors, on a machine that may be small."""

Shape = Callable[[float], int]
"""Maps the elapsed fraction of the test, 0 to 1, to a number of users."""


def steady(_: float) -> int:
    return MOST - 1


def burst(done: float) -> int:
    """Return one user, and all of them for the third in the middle."""
    return MOST if 1 / 3 <= done < 2 / 3 else 1


def ramp(done: float) -> int:
    """Return a number of users that grows in equal steps."""
    return min(MOST, 1 + int(done * MOST))


def in_turn(done: float) -> int:
    """Return the users of the three other shapes in turn, each for a third."""
    number = min(2, int(done * 3))
    return (steady, burst, ramp)[number](done * 3 - number)


SHAPES: Mapping[str, Shape] = {"steady": steady, "burst": burst, "ramp": ramp, "all": in_turn}
