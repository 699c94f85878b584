"""What a strategy cannot go through with once it sees the stream, said as it is said of a bad workload."""

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
    """A window as the user knows it."""
    first, last = as_python(clock.show(np.array([start, end])))
    return f"from {first} to {last}"
