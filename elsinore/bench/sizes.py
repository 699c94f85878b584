"""How much of a figure is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A part of the values of axes, of streams, and of the time that a point may take."""

    name: str
    values: int | None
    """The number of values of an axis that are measured, the first and the last among them; None for all."""
    stream: float
    """The share of a stream that is run."""
    patience: float
    """The share of the longest time of a point after which it is stopped."""

    def of(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """Return the values of an axis that are measured."""
        if self.values is None or self.values >= len(values):
            return values
        return tuple(values[place * (len(values) - 1) // (self.values - 1)] for place in range(self.values))


FULL = Size("full", None, 1, 1)
SMALL = Size("small", 3, 1 / 3, 1 / 4)
TINY = Size("tiny", 2, 1 / 10, 1 / 12)
SIZES = {size.name: size for size in (FULL, SMALL, TINY)}
