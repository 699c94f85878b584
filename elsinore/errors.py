"""What a user may have to catch, under one name: bad input is a ValueError, and never a failure of the machine."""

from __future__ import annotations

from connectors.errors import EventError, InputError
from planner.errors import Problem, WorkloadError

__all__ = ["EventError", "InputError", "Problem", "WorkloadError"]

for public in (EventError, InputError, Problem, WorkloadError):
    public.__module__ = "elsinore"
