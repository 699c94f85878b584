"""Rows from cells: computes the aggregates of a query from its lanes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.lanes import LaneColumns, key_values, weighted
from elsinore.actors.rows.cells import Cells, integers
from elsinore.actors.rows.partial_rows import PartialAggregate
from elsinore.actors.rows.rows import Column
from elsinore.actors.rows.values import as_float, floats
from elsinore.calendar_years import as_python, in_order
from elsinore.planner.language.syntax import Aggregate
from elsinore.planner.machines.lanes import Lane


class Decoder:
    """A reader of aggregates from cells."""

    def __init__(self, columns: LaneColumns, cells: Cells) -> None:
        self.columns = columns
        self.cells = cells
        self.places = {lane: k for k, lane in reversed(list(enumerate((entry for entry in columns.sums), start=1)))}

    @property
    def trends(self) -> Column:
        return self._lane(0)

    def value(self, item: Aggregate) -> Column:
        return self.part(item).finished()

    def part(self, item: Aggregate) -> PartialAggregate:
        if item.variable is None:
            return PartialAggregate("COUNT", self.trends)
        if item.function == "COUNT":
            return PartialAggregate("COUNT", self._of(Lane("events", item.variable)))
        over = self._of(Lane("values", item.variable, item.attribute))
        if item.function in ("MIN", "MAX"):
            lane = Lane("min" if item.function == "MIN" else "max", item.variable, item.attribute)
            return PartialAggregate(item.function, self._least(lane, over))
        lane = Lane("sum", item.variable, item.attribute)
        total, power = self._sum(lane)
        return PartialAggregate(item.function, total, over, power, self.columns.is_float(lane))

    def merged(self, item: Aggregate, parts: list[tuple[int, Fraction]]) -> Any:
        """Return an aggregate over some cells, given how often the trends of each count; None over no value."""
        assert item.variable is not None

        def total(numbers: npt.NDArray[Any]) -> Fraction:
            # As Python's integers: those of NumPy overflow even in a fraction.
            plain = numbers[[row for row, _ in parts]].tolist()
            return sum((Fraction(one) * times for one, (_, times) in zip(plain, parts, strict=True)), Fraction(0))

        if item.function == "COUNT":
            return total(self._of(Lane("events", item.variable)))
        if item.function in ("MIN", "MAX"):
            column = self.value(item)
            values = in_order(column) if isinstance(column, pa.Array) else column.tolist()
            rows = [row for row, _ in parts if values[row] is not None]
            if not rows:
                return None
            best = (min if item.function == "MIN" else max)(rows, key=values.__getitem__)
            return as_python(column[best : best + 1])[0] if isinstance(column, pa.Array) else values[best]
        over = total(self._of(Lane("values", item.variable, item.attribute)))
        lane = Lane("sum", item.variable, item.attribute)
        numbers, power = self._sum(lane)
        added = total(numbers) * Fraction(2) ** power
        if not over:
            return None
        if item.function == "AVG":
            return as_float(added / over)
        return as_float(added) if self.columns.is_float(lane) else added

    def _of(self, lane: Lane) -> Column:
        return self._lane(self.places[lane, None])

    def _lane(self, place: int) -> npt.NDArray[Any]:
        numbers = self.cells.numbers[:, place]
        return integers(numbers) if self.columns.exact else floats(numbers)

    def _sum(self, lane: Lane) -> tuple[npt.NDArray[Any], int]:
        """Return exact sums as integers and the exponent of their unit, a power of two; approximate sums unchanged."""
        low, high = self.columns.digits.get(lane, (0, 0))
        digits = [self._lane(self.places[lane, digit]) for digit in range(low, high + 1)]
        return (digits[0], 0) if low == high == 0 else weighted(digits, low)

    def _least(self, lane: Lane, over: npt.NDArray[Any]) -> Column:
        keys = self.cells.least[:, self.columns.minima.index(lane)]
        kind = self.columns.types.get(lane.attribute or "")
        found = over != 0
        if kind is None:
            return np.full(len(keys), None, object)
        values = key_values(np.where(found, keys, 0), kind, lane.kind == "max")
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            return pa.array(values, mask=~found.astype(np.bool_))
        data = values.to_numpy(zero_copy_only=False)
        return data if found.all() else np.where(found, data.astype(object), None)
