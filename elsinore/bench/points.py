"""What is measured at once, whatever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

Metrics = dict[str, Any]

RUNS, ENOUGH = 3, 10.0
REPETITION = f"The fastest of {RUNS} runs; the only one where it took more than {ENOUGH:g} seconds."


@dataclass(frozen=True)
class Point(ABC):
    """Measured in a process of its own, which is told the name of the class and these fields."""

    setting: str
    strategy: str
    queries: int

    definitions: ClassVar[dict[str, str]]
    """What its metrics mean."""
    limits: ClassVar[tuple[float, float]]
    """Seconds that it may take; and in a quick look."""

    @property
    @abstractmethod
    def what(self) -> str:
        """What the setting is."""

    @abstractmethod
    def measured(self) -> Metrics:
        """The metrics, in this process."""

    @staticmethod
    @abstractmethod
    def told(measured: Sequence[Metrics]) -> str:
        """What is behind the metrics of some points of one strategy, in a few words; empty where there is nothing."""

    def brief(self) -> Self:
        """The same, for a quick look."""
        return self

    def first(self) -> Self | None:
        """What has to be run before, and nobody looks at."""
        return None


def repeated(run: Callable[[], Metrics], seconds: str) -> list[Metrics]:
    """Several runs, unless the first one takes long; `seconds` is the metric that says how long."""
    first = run()
    return [first, *(run() for _ in range(1, RUNS) if first[seconds] < ENOUGH)]
