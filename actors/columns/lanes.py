"""The columns that lanes add up or compare, and the way back from lanes to results.

Sums can be exact over integers and over floats. An exact sum over floats is kept in digits: a float is a sum of whole
multiples of powers of 2**32, and each power has a lane of integers. So a sum does not depend on the order of events,
and nothing is lost however much the values differ in size. An integer is its own digit of 2**0.

Minima compare 64-bit keys that have the same order as the values. A maximum is the minimum of the keys' complements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.columns.expressions import EXACT_IN_FLOAT, Values, column_values
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.machines.lanes import Lane

DIGIT = 32
Ints = npt.NDArray[np.int64]
FLIP = np.int64(0x7FFFFFFFFFFFFFFF)


@dataclass
class LaneColumns:
    """The lanes of a counter: sums and, apart from these, keys of minima."""

    lanes: tuple[Lane, ...]
    exact: bool
    query: str
    digits: dict[Lane, tuple[int, int]] = field(default_factory=dict)
    """By lane of a sum, its lowest and highest digit so far."""
    types: dict[str, pa.DataType] = field(default_factory=dict)
    """Types of attributes, as they were first seen with a value; floats replace integers."""
    asked: Mapping[Lane, str] = field(default_factory=dict)
    """By lane, the query that needs it, where that is not `query`."""

    @property
    def sums(self) -> list[tuple[Lane, int | None]]:
        """Return the lanes after the count of trends, each with its digit where it has one."""
        found: list[tuple[Lane, int | None]] = []
        for lane in self.lanes:
            if lane.kind in ("events", "values"):
                found.append((lane, None))
            elif lane.kind == "sum":
                low, high = self.digits.get(lane, (0, 0))
                found += [(lane, digit) for digit in range(low, high + 1)]
        return found

    @property
    def minima(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.kind in ("min", "max")]

    @property
    def whole_keys(self) -> set[int]:
        """Return the numbers of the keys that stand for integers so far."""
        kinds = [self.types.get(lane.attribute or "") for lane in self.minima]
        return {k for k, kind in enumerate(kinds) if kind is not None and pa.types.is_integer(kind)}

    @property
    def layout(self) -> list[tuple[str, int]]:
        """Return, by lane after the count, its variable and its column in `values` (-1: every event counts 1)."""
        columns = [lane.kind != "events" for lane, _ in self.sums]
        numbers = np.cumsum(columns) - 1
        return [
            (lane.variable, int(number) if column else -1)
            for (lane, _), column, number in zip(self.sums, columns, numbers, strict=True)
        ]

    @property
    def width(self) -> int:
        """Return the number of columns of `values`."""
        return sum(lane.kind != "events" for lane, _ in self.sums)

    def learn(self, columns: Mapping[str, pa.Array]) -> list[tuple[int, int, int]]:
        """Learn types and digits of columns, and return the lanes to insert: (before which lane, how many, column)."""
        added = []
        for lane in self.lanes:
            if lane.attribute is None:
                continue
            self._note_type(lane, columns[lane.attribute])
            if lane.kind == "sum" and self.exact:
                added += self._stretch(lane, *_digits_of(columns[lane.attribute]))
        return added

    def follow(self, other: LaneColumns) -> list[tuple[int, int, int]]:
        """Adopt what another has learned of the same attributes, and return the lanes to insert, as `learn` does."""
        known = {(lane.kind, lane.attribute): digits for lane, digits in other.digits.items()}
        added = []
        for lane in self.lanes:
            if lane.attribute in other.types:
                self.types[lane.attribute] = other.types[lane.attribute]
            if (lane.kind, lane.attribute) in known:
                added += self._stretch(lane, *known[lane.kind, lane.attribute])
        return added

    def _note_type(self, lane: Lane, column: pa.Array) -> None:
        kind = column.type
        if column.null_count == len(column):
            return
        assert lane.attribute is not None
        if lane.kind == "sum" and not _is_number(kind):
            message = f"{lane.variable}.{lane.attribute} holds {kind} values; SUM and AVG add up numbers"
            raise self._refused(lane, message, "use COUNT, or an attribute with numbers")
        if lane.kind in ("min", "max") and (pa.types.is_dictionary(kind) or pa.types.is_string(kind)):
            message = f"{lane.variable}.{lane.attribute} holds texts; MIN and MAX compare numbers and times"
            raise self._refused(lane, message, "use an attribute with numbers or times")
        known = self.types.setdefault(lane.attribute, kind)
        if pa.types.is_floating(kind) and pa.types.is_integer(known):
            self.types[lane.attribute] = kind

    def _stretch(self, lane: Lane, below: int, above: int) -> list[tuple[int, int, int]]:
        """Extend a sum to digits down to `below` and up to `above`, and return the lanes to insert, as `learn` does."""
        low, high = self.digits.setdefault(lane, (0, 0))
        place = next(i for i, (other, _) in enumerate(self.sums) if other == lane)
        column = sum(other.kind != "events" for other, _ in self.sums[:place])
        added = []
        if above > high:
            size = high - low + 1
            added.append((1 + place + size, above - high, column + size))
        if below < low:
            added.append((1 + place, low - below, column))
        self.digits[lane] = (min(low, below), max(high, above))
        return added

    def save(self) -> dict[str, Any]:
        types = [(name, pa.schema([(name, kind)]).serialize().to_pybytes()) for name, kind in self.types.items()]
        return {"digits": [list(self.digits.get(lane, (0, 0))) for lane in self.lanes], "types": dict(types)}

    def load(self, state: dict[str, Any]) -> list[tuple[int, int, int]]:
        """Load what was learned before, and return the lanes to insert, as `learn` does."""
        for name, kind in state["types"].items():
            self.types[name] = pa.ipc.read_schema(pa.py_buffer(kind)).field(0).type
        added = []
        for lane, (low, high) in zip(self.lanes, state["digits"], strict=True):
            if lane.kind == "sum" and self.exact:
                added += self._stretch(lane, low, high)
        return added

    def values(self, columns: Mapping[str, pa.Array], count: int) -> npt.NDArray[Any]:
        """Return, by (column, event), what a lane adds per trend that the event lengthens."""
        kind = np.int64 if self.exact else np.float64
        found: list[npt.NDArray[Any]] = []
        cache: dict[str, dict[int, Ints]] = {}
        for lane, digit in self.sums:
            if lane.kind == "events":
                continue
            assert lane.attribute is not None
            attribute = _numbers(columns[lane.attribute])
            if lane.kind == "values":
                found.append(attribute.valid.astype(kind))
            elif self.exact:
                assert digit is not None
                split = cache.setdefault(lane.attribute, {})
                if not split:
                    split |= _split(np.where(attribute.valid, attribute.data, 0), *self.digits[lane])
                found.append(split[digit])
            else:
                found.append(np.where(attribute.valid, attribute.data, 0).astype(np.float64))
        return np.stack(found) if found else np.zeros((0, count), kind)

    def keys(self, columns: Mapping[str, pa.Array], count: int) -> Ints:
        """Return, by (key, event), the keys that minima compare."""
        found = []
        for lane in self.minima:
            assert lane.attribute is not None
            column = columns[lane.attribute]
            if pa.types.is_integer(column.type) and self.is_float(lane):
                self._check_exact(lane, column_values(column).data)
            found.append(order_keys(column, self.types.get(lane.attribute), lane.kind == "max"))
        return np.stack(found) if found else np.zeros((0, count), np.int64)

    def as_floats(self, key: int, kept: Ints) -> Ints:
        """Convert kept keys of integers to the keys of the same values as floats."""
        lane = self.minima[key]
        data = np.where(kept == NONE, 0, ~kept if lane.kind == "max" else kept)
        self._check_exact(lane, data)
        floats = float_keys(data.astype(np.float64))
        return np.where(kept == NONE, NONE, ~floats if lane.kind == "max" else floats)

    def _check_exact(self, lane: Lane, data: Ints) -> None:
        if len(data) and max(abs(int(data.min())), abs(int(data.max()))) > EXACT_IN_FLOAT:
            message = f"{lane.variable}.{lane.attribute} holds floats and, in other events, integers beyond 2**53"
            raise self._refused(lane, message, "give all its values as floats")

    def _refused(self, lane: Lane, message: str, hint: str) -> WorkloadError:
        return WorkloadError([Problem(message, hint, None, self.asked.get(lane, self.query))])

    def is_float(self, lane: Lane) -> bool:
        kind = self.types.get(lane.attribute or "")
        return kind is not None and pa.types.is_floating(kind)


def _numbers(column: pa.Array) -> Values:
    """Return a column to add up. `learn` has refused columns that hold no numbers, except those of nulls alone."""
    values = column_values(column)
    return values if values.numeric else Values(np.zeros(len(column), np.int64), values.valid)


def order_keys(column: pa.Array, kind: pa.DataType | None, descending: bool) -> Ints:
    """Return integers that have the order of the values (or the opposite order); NONE for null."""
    if kind is None:
        return np.full(len(column), NONE, np.int64)
    values = column_values(column)
    data = values.data
    if not values.numeric:
        data = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).fill_null(0)
        data = data.to_numpy(zero_copy_only=False).astype(np.int64)
    elif pa.types.is_floating(kind):
        data = float_keys(data.astype(np.float64))
    return np.where(values.valid, ~data if descending else data, NONE)


def float_keys(values: npt.NDArray[np.float64]) -> Ints:
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & FLIP)


def key_values(keys: Ints, kind: pa.DataType, descending: bool) -> pa.Array:
    """Return the values that keys stand for."""
    data = ~keys if descending else keys
    if pa.types.is_floating(kind):
        return pa.array((data ^ ((data >> 63) & FLIP)).view(np.float64))
    if pa.types.is_integer(kind):
        return pa.array(data)
    if pa.types.is_boolean(kind):
        return pa.array(data != 0)
    return pa.array(data.astype(np.int32) if kind.bit_width == 32 else data).cast(kind)


def _digits_of(column: pa.Array) -> tuple[int, int]:
    """Return the lowest and the highest digit that the values of a column need."""
    if not pa.types.is_floating(column.type):
        return 0, 0
    values = column_values(column)
    data = np.abs(values.data[values.valid & (values.data != 0)])
    if not len(data):
        return 0, 0
    mantissa, exponent = np.frexp(data)
    whole = (mantissa * 2.0**53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - 53 + trailing).min()) // DIGIT, int(exponent.max() - 1) // DIGIT


def _split(data: npt.NDArray[Any], low: int, high: int) -> dict[int, Ints]:
    """Split values into digits, each with the sign of its value."""
    if data.dtype == np.int64:
        zero = np.zeros(len(data), np.int64)
        return {digit: data if digit == 0 else zero for digit in range(low, high + 1)}
    digits = {}
    rest = data.copy()
    for digit in range(high, low - 1, -1):
        part = np.trunc(np.ldexp(rest, -DIGIT * digit)) if digit > low else np.ldexp(rest, -DIGIT * digit)
        digits[digit] = part.astype(np.int64)
        rest = rest - np.ldexp(part, DIGIT * digit)
    return digits


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def weighted(digits: Sequence[npt.NDArray[Any]], low: int) -> tuple[npt.NDArray[Any], int]:
    """Return sums from their digits: as integers, and the exponent of the power of two that is their unit."""
    total = digits[0].astype(object)
    for k, digit in enumerate(digits[1:], start=1):
        total = total + digit.astype(object) * (1 << DIGIT * k)
    return total, DIGIT * low
