"""The definition of a figure: its axes, the strategies it compares, and the result of the paper."""

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
    """A series of points that vary one factor and fix the others."""

    fixed: Point
    """The fixed factors; its own strategy and its own value of the varied factor are not used."""
    axis: str
    values: tuple[int, ...]

    def ends(self, quick: bool) -> tuple[int, ...]:
        """Return the values to measure: in a quick run only the first and the last one."""
        return (self.values[0], self.values[-1]) if quick else self.values

    def points(self, strategy: str, quick: bool) -> Iterator[Point]:
        fixed = self.fixed.brief() if quick else self.fixed
        for value in self.ends(quick):
            changed: dict[str, Any] = {"strategy": strategy, self.axis: value}
            yield replace(fixed, **changed)


def swept(fixed: Point, **factors: tuple[int, ...]) -> tuple[Sweep, ...]:
    """Return a sweep for each of some factors."""
    return tuple(Sweep(fixed, axis, values) for axis, values in factors.items())


@dataclass(frozen=True)
class Figure:
    """A figure with a panel for every metric and sweep. All points are of one kind."""

    name: str
    title: str
    strategies: tuple[str, ...]
    """The strategies; the others are compared with the first one."""
    metrics: tuple[Metric, ...]
    sweeps: tuple[Sweep, ...]
    log: bool
    paper: str
    """The result that the paper reports."""

    def points(self, quick: bool) -> Iterator[Point]:
        for sweep in self.sweeps:
            for strategy in self.strategies:
                yield from sweep.points(strategy, quick)

    @property
    def kind(self) -> type[Point]:
        return type(self.sweeps[0].fixed)

    @property
    def settings(self) -> dict[str, str]:
        """Return the descriptions of all settings, by name."""
        return {sweep.fixed.setting: sweep.fixed.what for sweep in self.sweeps}
