"""The definition of a figure: its axes, the strategies it compares, and the result of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from elsinore.bench.points import Point
from elsinore.bench.shapes import Check
from elsinore.bench.sizes import Size


@dataclass(frozen=True)
class Sweep:
    """A series of points that vary one factor and fix the others."""

    fixed: Point
    """The fixed factors; its own strategy and its own value of the varied factor are not used."""
    axis: str
    values: tuple[int, ...]

    def at(self, size: Size) -> tuple[int, ...]:
        """Return the values to measure."""
        return size.of(self.values)

    def points(self, strategy: str, size: Size) -> Iterator[Point]:
        fixed = self.fixed.brief(size.stream)
        for value in self.at(size):
            changed: dict[str, Any] = {"strategy": strategy, self.axis: value}
            yield replace(fixed, **changed)


def swept(fixed: Point, **factors: tuple[int, ...]) -> tuple[Sweep, ...]:
    """Return a sweep for each of some factors."""
    return tuple(Sweep(fixed, axis, values) for axis, values in factors.items())


LABELS = {
    "hamlet": "HAMLET",
    "hamlet-static": "static decisions",
    "greta": "GRETA",
    "sharon": "SHARON",
    "two-step": "two-step",
    "auto": "auto",
    "gloria": "GLORIA",
    "gloria-noprune": "NoPrune",
    "gloria-greedy": "Greedy",
    "a-seq": "A-Seq",
    "prefix": "A-Seq, prefixes shared",
    "chop-connect": "A-Seq, Chop-Connect",
    "cogra": "COGRA",
}
"""What strategies are called in all figures that do not say otherwise."""


@dataclass(frozen=True)
class Figure:
    """A figure with a panel for every metric and sweep. All points are of one kind."""

    name: str
    title: str
    strategies: tuple[str, ...]
    """The strategies; the others are compared with the first one."""
    metrics: tuple[str, ...]
    sweeps: tuple[Sweep, ...]
    log: bool
    paper: str
    """The result that the paper reports."""
    section: str = ""
    """The section of the paper that reports it."""
    shape: tuple[Check, ...] = ()
    """What has to hold of the measurements for the figure to have the shape of the paper's."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What strategies stand for in this figure, where that is not what `LABELS` says."""
    x: Mapping[str, str] = field(default_factory=dict)
    """Labels of axes, where they are not in `AXES`."""

    def points(self, size: Size) -> Iterator[Point]:
        for sweep in self.sweeps:
            for strategy in self.strategies:
                yield from sweep.points(strategy, size)

    def label(self, strategy: str) -> str:
        return self.labels.get(strategy, LABELS.get(strategy, strategy))

    def along(self, axis: str) -> str:
        """Return the label of an axis."""
        return self.x.get(axis, AXES.get(axis, axis.replace("_", " ")))

    @property
    def kind(self) -> type[Point]:
        return type(self.sweeps[0].fixed)

    @property
    def settings(self) -> dict[str, str]:
        """Return the descriptions of all settings, by name."""
        return {sweep.fixed.setting: sweep.fixed.what for sweep in self.sweeps}


AXES = {
    "rate": "events a minute",
    "queries": "queries",
    "length": "types of a Kleene sub-pattern",
    "percent": "% of queries with Kleene, or complex",
    "burst": "events of a burst",
    "types": "types of a sequence, or in common",
    "window": "ms of a window",
    "negated": "negated types",
}
