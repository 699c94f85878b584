"""What a user may have to catch, under one name: bad input is a ValueError; a failure of the machine a RuntimeError."""

from __future__ import annotations

from connectors.errors import EventError, FailedError, InputError
from planner.errors import Problem, WorkloadError

__all__ = ["EventError", "FailedError", "InputError", "Problem", "WorkloadError"]

for public in (EventError, FailedError, InputError, Problem, WorkloadError):
    public.__module__ = "elsinore"
