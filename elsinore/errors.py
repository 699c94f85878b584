"""The exceptions of the public API: bad input is a ValueError, a failure of the machine a RuntimeError.

Like `elsinore.problems`, this module imports no room, so that every room, and a client without any, shares its classes.
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
    """Input that cannot be read, or cannot be read as requested; retrying does not help."""

    __module__ = "elsinore"


class EventError(InputError):
    """An event that cannot be read, raised when the caller asked to stop at the first one."""

    __module__ = "elsinore"


class RefusedError(InputError):
    """The refusal of a request by a service, because its token is missing or wrong."""

    __module__ = "elsinore"


class FailedError(RuntimeError):
    """The failure of a run through no fault of its input: a full disk, a lost machine."""

    __module__ = "elsinore"


class UnreachableError(FailedError):
    """The failure to get a reply from a service, or the reply of a busy service, after all retries."""

    __module__ = "elsinore"
