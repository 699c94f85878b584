"""What a user may have to catch, under one name: bad input is a ValueError; a failure of the machine a RuntimeError.

Like `elsinore.problems` it stands by itself, so that every room, and a client that knows none, has the same classes.
"""

from __future__ import annotations

from elsinore.problems import Problem, WorkloadError

__all__ = [
    "EventError",
    "FailedError",
    "InputError",
    "Problem",
    "RefusedError",
    "UnreachableError",
    "WorkloadError",
]


class InputError(ValueError):
    """What cannot be read, or not as it was asked for: bad input, so trying again does not help."""

    __module__ = "elsinore"


class EventError(InputError):
    """One event that cannot be read, where the caller asked to stop at the first."""

    __module__ = "elsinore"


class RefusedError(InputError):
    """A service that wants a token, or another one than it was given."""

    __module__ = "elsinore"


class FailedError(RuntimeError):
    """A run that cannot go on though nothing is wrong with what was asked: a full disk, a machine that is gone."""

    __module__ = "elsinore"


class UnreachableError(FailedError):
    """A service that did not answer, or was too busy to, though it was asked again and again."""

    __module__ = "elsinore"
