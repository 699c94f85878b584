"""Limit the number of failures that a run survives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from elsinore.connectors.errors import FailedError

SPAN_SECONDS = 600.0
"""Seconds for which a failure counts; it counts longer while the run makes no progress."""


@dataclass
class Budget:
    """A counter of failures with a limit.

    A failure is forgotten once it is older than the span and at least one batch was done after it. So a stream may run
    for months with occasional failures. A stream that always fails at the same batch ends, however long an attempt
    takes.
    """

    limit: int
    clock: Callable[[], float] = monotonic
    failures: deque[tuple[float, int]] = field(default_factory=deque)
    """The failures that count, oldest first: the time of each, and the last batch done before it."""

    def spend(self, batch: int) -> bool:
        """Count a failure, given the last batch done; return whether the run may continue."""
        now = self.clock()
        while self.failures and self.failures[0][0] <= now - SPAN_SECONDS and self.failures[0][1] < batch:
            self.failures.popleft()
        if len(self.failures) >= self.limit:
            return False
        self.failures.append((now, batch))
        return True

    def forgive(self, error: Exception, batch: int) -> None:
        """Count this failure; raise FailedError where the limit is exceeded."""
        if not self.spend(batch):
            raise FailedError(
                f"too many failures: the setting restarts allows {self.limit} in {SPAN_SECONDS / 60:g} minutes; "
                f"the last one: {str(error) or type(error).__name__}"
            ) from error
