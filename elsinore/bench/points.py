"""The base class of all points of measurement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

Metrics = dict[str, Any]

RUNS, ENOUGH_SECONDS = 3, 10.0
SHORT_SECONDS, MANY = 0.5, 50
"""Runs are repeated beyond `RUNS` until they have taken so many seconds together, at most so many times."""

REPETITION = (
    f"The fastest of {RUNS} runs, of more where {RUNS} took less than {SHORT_SECONDS:g} seconds; the only one where it "
    f"took more than {ENOUGH_SECONDS:g} seconds."
)


@dataclass(frozen=True)
class Point(ABC):
    """A point, measured in a process of its own, which gets the name of the class and these fields as arguments."""

    setting: str
    strategy: str
    queries: int

    definitions: ClassVar[dict[str, str]]
    """Definitions of the metrics, by name."""
    limit: ClassVar[float]
    """The most seconds of a measurement."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Metrics that are shown beside those of a figure, point by point."""

    @property
    @abstractmethod
    def what(self) -> str:
        """Return a description of the setting."""

    @abstractmethod
    def measured(self) -> Metrics:
        """Measure the point in this process, and return its metrics."""

    @staticmethod
    @abstractmethod
    def remark(measured: Sequence[Metrics]) -> str:
        """Return a remark that explains the metrics of some points of one strategy; empty for none."""

    def brief(self, share: float) -> Self:
        """Return the point to measure instead where only a share of its stream is to be run."""
        return self

    def first(self) -> Self | None:
        """Return the warm-up point to run before, whose outcome is not used; None for none."""
        return None


def repeated(run: Callable[[], Metrics], seconds: str) -> list[Metrics]:
    """Return the metrics of several runs, or of one if it takes long by the metric named `seconds`."""
    found = [run()]
    while found[0][seconds] < ENOUGH_SECONDS and len(found) < MANY:
        if len(found) >= RUNS and sum(one[seconds] for one in found) >= SHORT_SECONDS:
            break
        found.append(run())
    return found
