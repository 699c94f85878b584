"""What a figure is: its axes, who is compared, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from elsinore.bench.points import Point

Metric = Literal[
    "latency", "throughput", "memory", "optimization_time", "execution_time", "insertion_time", "snapshots"
]


@dataclass(frozen=True)
class Sweep:
    """One factor varied, the others fixed."""

    fixed: Point
    """Whatever its own strategy, and its own value of the factor."""
    axis: str
    values: tuple[int, ...]

    def ends(self, quick: bool) -> tuple[int, ...]:
        """A quick look takes the first and the last value."""
        return (self.values[0], self.values[-1]) if quick else self.values

    def points(self, strategy: str, quick: bool) -> Iterator[Point]:
        fixed = self.fixed.brief() if quick else self.fixed
        for value in self.ends(quick):
            changed: dict[str, Any] = {"strategy": strategy, self.axis: value}
            yield replace(fixed, **changed)


def swept(fixed: Point, **factors: tuple[int, ...]) -> tuple[Sweep, ...]:
    """Each of some factors varied by itself."""
    return tuple(Sweep(fixed, axis, values) for axis, values in factors.items())


@dataclass(frozen=True)
class Figure:
    """A panel for every metric and sweep. All points are of one kind."""

    name: str
    title: str
    strategies: tuple[str, ...]
    """The first one is what the others are compared with."""
    metrics: tuple[Metric, ...]
    sweeps: tuple[Sweep, ...]
    log: bool
    paper: str
    """What it reports."""

    def points(self, quick: bool) -> Iterator[Point]:
        for sweep in self.sweeps:
            for strategy in self.strategies:
                yield from sweep.points(strategy, quick)

    @property
    def kind(self) -> type[Point]:
        return type(self.sweeps[0].fixed)

    @property
    def settings(self) -> dict[str, str]:
        """By name, what they are."""
        return {sweep.fixed.setting: sweep.fixed.what for sweep in self.sweeps}
