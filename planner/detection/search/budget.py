"""How long a search may take."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Budget:
    """Limits of a search; it ends with the first that is reached. Results repeat exactly under limits on steps only.

    A step is the choice of a neighbour and the evaluation of its cost.
    """

    seconds: float | None = None
    steps: int | None = None
    patience: int | None = None
    """Steps since the last improvement of the best plan."""

    def __post_init__(self) -> None:
        if self.seconds is None and self.steps is None and self.patience is None:
            raise ValueError("a search without limits does not end: set seconds, steps or patience")

    def part(self, share: float) -> Budget:
        """Return a share of the budget, for one of several searches."""
        seconds = None if self.seconds is None else self.seconds * share
        return Budget(seconds, None if self.steps is None else max(1, round(self.steps * share)), self.patience)


class Meter:
    """Counts the steps of one search against its budget."""

    def __init__(self, budget: Budget) -> None:
        self.steps = 0
        self._improved = 0
        self._budget = budget
        self._end = float("inf") if budget.seconds is None else perf_counter() + budget.seconds

    def step(self) -> None:
        self.steps += 1

    def improved(self) -> None:
        self._improved = self.steps

    def open(self) -> bool:
        """Return whether another step may be made."""
        budget = self._budget
        if budget.steps is not None and self.steps >= budget.steps:
            return False
        if budget.patience is not None and self.steps - self._improved >= budget.patience:
            return False
        return perf_counter() < self._end
