"""What has to hold of measurements for a figure to have the shape of the paper's; declared beside each figure."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from elsinore.bench.metrics import metric

Label = Callable[[str], str]
"""Returns what a strategy is called."""


@dataclass(frozen=True)
class Line:
    """The values of a strategy's metric along an axis; None where nothing was measured."""

    axis: str
    setting: str
    xs: tuple[int, ...]
    ys: tuple[float | None, ...]
    stopped: tuple[bool, ...]
    """Where the strategy was run, and did not finish."""


Lines = Callable[[str, str], Sequence[Line]]
"""Returns the lines of a metric and a strategy, one for each sweep."""


@dataclass(frozen=True)
class Verdict:
    """Whether a check holds, and by what numbers; None if too little was measured to say so."""

    claim: str
    paper: str
    measured: str
    holds: bool | None


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """A statement about the lines of a figure."""

    paper: str = ""
    """The number or the words of the paper, if it has any for this."""
    axis: str | None = None
    """The axis of the sweeps that are looked at; None for all."""
    setting: str | None = None
    """The setting of the sweeps that are looked at; None for all."""

    @abstractmethod
    def claim(self, label: Label) -> str:
        """Return the statement in words."""

    @abstractmethod
    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        """Yield, for each sweep that allows it, the number to judge and what it is called."""

    @abstractmethod
    def within(self, number: float) -> bool:
        """Return whether a number is as the check wants it."""

    def judge(self, lines: Lines, label: Label) -> Verdict:
        """Compare the statement with the measurements; it has to hold in every sweep that was measured."""
        found = list(self.found(lines))
        holds = all(self.within(number) for number, _ in found) if found else None
        measured = "; ".join(dict.fromkeys(said for _, said in found)) or "too little was measured"
        return Verdict(self.claim(label), self.paper, measured, holds)

    def taken(self, lines: Sequence[Line]) -> list[int]:
        """Return the places of the sweeps that are looked at."""
        return [
            place
            for place, line in enumerate(lines)
            if self.axis in (None, line.axis) and self.setting in (None, line.setting)
        ]

    def where(self) -> str:
        """Return the part of a claim that names the sweeps."""
        return f" ({self.setting})" if self.setting else ""


@dataclass(frozen=True, kw_only=True)
class Bounded(Check):
    """A check of a number between bounds."""

    at_least: float = -math.inf
    at_most: float = math.inf

    def within(self, number: float) -> bool:
        return self.at_least <= number <= self.at_most

    def bounds(self) -> str:
        """Return the bounds in words."""
        if self.at_most == math.inf:
            return f"at least {self.at_least:g}"
        if self.at_least == -math.inf:
            return f"at most {self.at_most:g}"
        return f"{self.at_least:g} to {self.at_most:g}"


@dataclass(frozen=True, kw_only=True)
class Ratio(Bounded):
    """The ratio of two strategies at one of the points that both finish."""

    metric: str
    high: str
    low: str
    at: Literal["first", "last"] = "last"

    def claim(self, label: Label) -> str:
        where = "smallest" if self.at == "first" else "largest"
        return (
            f"{metric(self.metric).words}: {label(self.high)} is {self.bounds()} times {label(self.low)}, "
            f"at the {where} value that both finish{self.where()}"
        )

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        for xs, ratios in _ratios(self, lines, self.metric, self.high, self.low):
            place = 0 if self.at == "first" else -1
            yield ratios[place], f"{times(ratios[place])} times at {xs[place]:,}"


@dataclass(frozen=True, kw_only=True)
class Widens(Bounded):
    """The change of the ratio of two strategies along an axis, from the first to the last point that both finish."""

    metric: str
    high: str
    low: str

    def claim(self, label: Label) -> str:
        return (
            f"{metric(self.metric).words}: the ratio of {label(self.high)} to {label(self.low)} changes by a factor of "
            f"{self.bounds()} along the axis{self.where()}"
        )

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        for _, ratios in _ratios(self, lines, self.metric, self.high, self.low):
            if len(ratios) > 1:
                yield ratios[-1] / ratios[0], f"from {times(ratios[0])} to {times(ratios[-1])} times"


@dataclass(frozen=True, kw_only=True)
class Growth(Bounded):
    """The power of the axis with which a metric grows, between the first and the last point that are measured."""

    metric: str
    of: str

    def claim(self, label: Label) -> str:
        words = metric(self.metric).words
        return f"{words} of {label(self.of)} grows with the power {self.bounds()} of the axis{self.where()}"

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        own = lines(self.metric, self.of)
        for place in self.taken(own):
            points = [(x, y) for x, y in zip(own[place].xs, own[place].ys, strict=True) if x > 0 and y]
            if len(points) > 1:
                (first, low), (last, high) = points[0], points[-1]
                power = math.log(high / low) / math.log(last / first)
                yield power, f"power {power:.2g} from {first:,} to {last:,}"


@dataclass(frozen=True, kw_only=True)
class Changes(Bounded):
    """The ratio of a metric at the last point that is measured to that at the first one."""

    metric: str
    of: str

    def claim(self, label: Label) -> str:
        words = metric(self.metric).words
        return f"{words} of {label(self.of)} changes by a factor of {self.bounds()} along the axis{self.where()}"

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        own = lines(self.metric, self.of)
        for place in self.taken(own):
            values = [y for y in own[place].ys if y]
            if len(values) > 1:
                yield values[-1] / values[0], f"{times(values[-1] / values[0])} times"


@dataclass(frozen=True, kw_only=True)
class Largest(Bounded):
    """The largest value of a metric."""

    metric: str
    of: str

    def claim(self, label: Label) -> str:
        return f"the largest {metric(self.metric).words} of {label(self.of)} is {self.bounds()}{self.where()}"

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        own = lines(self.metric, self.of)
        for place in self.taken(own):
            points = [(y, x) for x, y in zip(own[place].xs, own[place].ys, strict=True) if y is not None]
            if points:
                value, at = max(points)
                yield value, f"{metric(self.metric).shown(value)} at {at:,}"


@dataclass(frozen=True, kw_only=True)
class Below(Check):
    """A metric that stays below a value at all points."""

    metric: str
    of: str
    value: float

    def claim(self, label: Label) -> str:
        kind = metric(self.metric)
        return f"{kind.words} of {label(self.of)} stays below {kind.shown(self.value)}{self.where()}"

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        own = lines(self.metric, self.of)
        for place in self.taken(own):
            values = [y for y in own[place].ys if y is not None]
            if values:
                yield max(values), f"at most {metric(self.metric).shown(max(values))}"

    def within(self, number: float) -> bool:
        return number < self.value


@dataclass(frozen=True, kw_only=True)
class Stops(Check):
    """A strategy that does not finish at the end of an axis, where another one does."""

    of: str
    other: str
    metric: str = "latency"
    first: bool = False
    """Whether the smallest value is the hard one."""

    def claim(self, label: Label) -> str:
        end = "smallest" if self.first else "largest"
        return f"{label(self.of)} does not finish at the {end} value, {label(self.other)} does{self.where()}"

    def found(self, lines: Lines) -> Iterator[tuple[float, str]]:
        own, others = lines(self.metric, self.of), lines(self.metric, self.other)
        for place in self.taken(own):
            mine, other, end = own[place], others[place], 0 if self.first else -1
            if other.ys[end] is None or not (mine.stopped[end] or mine.ys[end] is not None):
                continue
            finished = [f"{x:,}" for x, y in zip(mine.xs, mine.ys, strict=True) if y is not None]
            yield float(mine.stopped[end]), f"it finishes at {', '.join(finished) or 'no value'}"

    def within(self, number: float) -> bool:
        return number > 0


def _ratios(
    check: Check, lines: Lines, name: str, high: str, low: str
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield the ratios of each sweep at the points that both strategies finish, with the values of its axis."""
    over, under = lines(name, high), lines(name, low)
    for place in check.taken(over):
        common = [
            (x, y / z) for x, y, z in zip(over[place].xs, over[place].ys, under[place].ys, strict=True) if y and z
        ]
        if common:
            xs, ratios = zip(*common, strict=True)
            yield xs, ratios


def times(ratio: float) -> str:
    """Return a ratio as text."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"
