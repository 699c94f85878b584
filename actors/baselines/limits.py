"""Errors for limits that a strategy reaches only while it runs, in the form of errors of a workload."""

from __future__ import annotations

import numpy as np

from elsinore.calendar_years import as_python
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import Query
from elsinore.planner.plans.strategies import INSTEAD
from elsinore.planner.time.clock import Clock


def beyond(query: Query, message: str) -> WorkloadError:
    return WorkloadError([Problem(message, INSTEAD, query.pattern.place, query.name)])


def span(clock: Clock, start: int, end: int) -> str:
    """Return a window as text, with times as the user knows them."""
    first, last = as_python(clock.show(np.array([start, end])))
    return f"from {first} to {last}"
