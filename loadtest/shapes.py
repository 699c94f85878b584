"""How many users there are, second by second of a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MOST = 3
"""Users at a time. Each has a job, with a stream of Spark's and actors, on a machine that may be small."""

Shape = Callable[[float], int]
"""From the part of the test that is over, 0 to 1, to users."""


def steady(_: float) -> int:
    return MOST - 1


def burst(done: float) -> int:
    """One, and for the third in the middle all at once."""
    return MOST if 1 / 3 <= done < 2 / 3 else 1


def ramp(done: float) -> int:
    """One more, and one more."""
    return min(MOST, 1 + int(done * MOST))


def in_turn(done: float) -> int:
    """Each of them for a third."""
    number = min(2, int(done * 3))
    return (steady, burst, ramp)[number](done * 3 - number)


SHAPES: Mapping[str, Shape] = {"steady": steady, "burst": burst, "ramp": ramp, "all": in_turn}
