"""The base class of all points of measurement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

Metrics = dict[str, Any]

RUNS, ENOUGH_SECONDS = 3, 10.0
REPETITION = f"The fastest of {RUNS} runs; the only one where it took more than {ENOUGH_SECONDS:g} seconds."


@dataclass(frozen=True)
class Point(ABC):
    """A point, measured in a process of its own, which gets the name of the class and these fields as arguments."""

    setting: str
    strategy: str
    queries: int

    definitions: ClassVar[dict[str, str]]
    """Definitions of the metrics, by name."""
    limits: ClassVar[tuple[float, float]]
    """The most seconds of a measurement, and of one in a quick run."""

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

    def brief(self) -> Self:
        """Return the point to measure instead in a quick run."""
        return self

    def first(self) -> Self | None:
        """Return the warm-up point to run before, whose outcome is not used; None for none."""
        return None


def repeated(run: Callable[[], Metrics], seconds: str) -> list[Metrics]:
    """Return the metrics of several runs, or of one if it takes long by the metric named `seconds`."""
    first = run()
    return [first, *(run() for _ in range(1, RUNS) if first[seconds] < ENOUGH_SECONDS)]
