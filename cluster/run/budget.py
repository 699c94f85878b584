"""A limit on failures: how many a run survives before it is given up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from elsinore.connectors.errors import FailedError

SPAN_SECONDS = 600.0
"""A failure counts for so long, and longer where the run makes no progress."""


@dataclass
class Budget:
    """Count failures, and say when there are too many.

    A failure is forgotten once it is older than the span and at least one batch was done after it. So a stream may run
    for months with a failure now and then, while one that fails over the same batch each time comes to an end, however
    long an attempt takes.
    """

    limit: int
    clock: Callable[[], float] = monotonic
    failures: deque[tuple[float, int]] = field(default_factory=deque)
    """The failures that count, oldest first: when each was, and after which batch."""

    def spend(self, batch: int) -> bool:
        """Count a failure after this batch, the last one done; return whether the run may go on."""
        now = self.clock()
        while self.failures and self.failures[0][0] <= now - SPAN_SECONDS and self.failures[0][1] < batch:
            self.failures.popleft()
        if len(self.failures) >= self.limit:
            return False
        self.failures.append((now, batch))
        return True

    def forgive(self, error: Exception, batch: int) -> None:
        """Count this failure; raise FailedError where it is one too many."""
        if not self.spend(batch):
            raise FailedError(
                f"this run failed once too often: {self.limit} failures in {SPAN_SECONDS / 60:g} minutes are allowed "
                f"(the setting restarts), and this is one more: {str(error) or type(error).__name__}"
            ) from error
