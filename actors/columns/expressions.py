"""Evaluation of predicates over columns.

A comparison with null is false, and its NOT is true: conditions have two values, not three. Integers are exact: where
64 bits might not hold a result, or a float might not hold an integer that it is compared with, the expression is
evaluated with Python's numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import (
    All,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    Expression,
    In,
    IsNull,
    LiteralValue,
    Minus,
    Negation,
    Place,
)
from elsinore.planner.language.syntax import Any as Some

Mask = npt.NDArray[np.bool_]
EXACT_IN_FLOAT = 2**53

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


@dataclass(frozen=True)
class Values:
    """A column of values: numbers as int64, float64 or Python objects; texts and times as an Arrow array."""

    data: Any
    valid: Mask

    @property
    def numeric(self) -> bool:
        return isinstance(self.data, np.ndarray)


class Evaluator:
    """An evaluator of expressions over some rows; all attributes of a row belong to one event."""

    def __init__(self, columns: Mapping[str, pa.Array], count: int, query: str, text: str = "") -> None:
        self.columns = columns
        self.count = count
        self.query = query
        self.text = text

    def condition(self, expression: Expression) -> Mask:
        match expression:
            case All():
                return np.logical_and.reduce([self.condition(part) for part in expression.parts])
            case Some():
                return np.logical_or.reduce([self.condition(part) for part in expression.parts])
            case Negation():
                return ~self.condition(expression.part)
            case Comparison():
                left, right = self.values(expression.left), self.values(expression.right)
                return self.compare(expression.operator, left, right, expression.place)
            case Between():
                return self._between(expression)
            case In():
                return self._in(expression)
            case IsNull():
                valid = self.values(expression.part).valid
                return valid if expression.negated else ~valid
        truth = self.values(expression)
        return truth.valid & (truth.data != 0)

    def values(self, expression: Expression) -> Values:
        match expression:
            case LiteralValue():
                return self._literal(expression.value)
            case Attribute():
                return column_values(self.columns[expression.name])
            case Minus():
                zero = Values(np.zeros(self.count, np.int64), np.ones(self.count, np.bool_))
                return self._calculate("-", zero, self.values(expression.part), expression.place)
            case Arithmetic():
                left, right = self.values(expression.left), self.values(expression.right)
                return self._calculate(expression.operator, left, right, expression.place)
        truth = self.condition(expression)
        return Values(truth.astype(np.int64), np.ones(self.count, np.bool_))

    def compare(self, op: str, left: Values, right: Values, place: Place | None) -> Mask:
        valid = left.valid & right.valid
        if not valid.any():
            return valid
        if left.numeric and right.numeric:
            a, b = _comparable(left.data, right.data)
            with np.errstate(invalid="ignore"):
                result: Mask = COMPARE[op](a, b).astype(np.bool_)
            return result & valid
        a, b = self._alike(left, right, place)
        found = COMPARE_ARROW[op](a, b).fill_null(False).to_numpy(zero_copy_only=False)
        return np.asarray(found, np.bool_) & valid

    def _between(self, expression: Between) -> Mask:
        part = self.values(expression.part)
        low, high = self.values(expression.low), self.values(expression.high)
        known = part.valid & low.valid & high.valid
        within = self.compare(">=", part, low, expression.place) & self.compare("<=", part, high, expression.place)
        return known & ~within if expression.negated else within

    def _in(self, expression: In) -> Mask:
        part = self.values(expression.part)
        found = np.zeros(self.count, np.bool_)
        for value in expression.values:
            found |= self.compare("=", part, self._literal(value.value), value.place)
        return part.valid & ~found if expression.negated else found

    def _literal(self, value: float | str) -> Values:
        valid = np.ones(self.count, np.bool_)
        if isinstance(value, str):
            return Values(pa.repeat(pa.scalar(value), self.count), valid)
        return Values(np.full(self.count, value, np.float64 if isinstance(value, float) else np.int64), valid)

    def _calculate(self, op: str, left: Values, right: Values, place: Place | None) -> Values:
        if not (left.numeric and right.numeric):
            raise self._wrong(f"`{op}` calculates with numbers only", "compare texts and times as they are", place)
        valid = left.valid & right.valid
        if op in "/%":
            valid = valid & (right.data != 0)
        a, b = np.where(valid, left.data, 0), np.where(valid, right.data, 1)
        if not _fits(op, a, b):
            a, b = a.astype(object), b.astype(object)
        with np.errstate(all="ignore"):
            data = CALCULATE[op](a, b)
        if data.dtype == np.float64:
            valid = valid & ~np.isnan(data)
        return Values(data, valid)

    def _alike(self, left: Values, right: Values, place: Place | None) -> tuple[pa.Array, pa.Array]:
        """Return two columns of texts or of times; a text that is compared with a time is read as a time."""
        if left.numeric or right.numeric:
            raise self._wrong(
                f"this compares {_kind(left)} with {_kind(right)}",
                "compare numbers with numbers, texts with texts",
                place,
            )
        a, b = left.data, right.data
        try:
            return (a.cast(b.type), b) if pa.types.is_string(a.type) else (a, b.cast(a.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise self._wrong(f"this compares {_kind(left)} with {_kind(right)}: {error}", "", place) from None

    def _wrong(self, message: str, hint: str, place: Place | None) -> WorkloadError:
        return WorkloadError([Problem(message, hint, place, self.query)], self.text)


COMPARE_ARROW: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def column_values(column: pa.Array) -> Values:
    """Return the column of an attribute as values."""
    kind = column.type
    valid = np.ones(len(column), np.bool_)
    if column.null_count:
        valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
    if pa.types.is_null(kind):
        return Values(np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_))
    if pa.types.is_dictionary(kind):
        return Values(column.cast(pa.string()), valid)
    if pa.types.is_boolean(kind):
        return Values(column.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64), valid)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        target = np.int64 if pa.types.is_integer(kind) else np.float64
        filled = column.fill_null(0) if column.null_count else column
        return Values(filled.to_numpy(zero_copy_only=False).astype(target, copy=False), valid)
    return Values(column, valid)


def _comparable(a: Any, b: Any) -> tuple[Any, Any]:
    """Return numbers that compare exactly: as Python's numbers where a float might not hold an integer."""
    kinds = {a.dtype.kind, b.dtype.kind}
    if "O" not in kinds and len(kinds) > 1 and max(_largest(x) for x in (a, b) if x.dtype.kind == "i") > EXACT_IN_FLOAT:
        return a.astype(object), b.astype(object)
    return a, b


def _fits(op: str, a: Any, b: Any) -> bool:
    """Return whether NumPy is sure to give the result that Python's numbers would give."""
    if a.dtype.kind == "O" or b.dtype.kind == "O":
        return False
    if a.dtype.kind == b.dtype.kind == "f":
        return True
    if a.dtype.kind == b.dtype.kind == "i" and op != "/":
        x, y = _largest(a), _largest(b)
        return (x * y if op == "*" else x + y) < 2**63
    return all(_largest(x) <= EXACT_IN_FLOAT for x in (a, b) if x.dtype.kind == "i")


def _largest(values: npt.NDArray[np.int64]) -> int:
    return max(abs(int(values.min())), abs(int(values.max()))) if len(values) else 0


def _kind(values: Values) -> str:
    if values.numeric:
        return "a number"
    return "a text" if pa.types.is_string(values.data.type) else f"a {values.data.type}"
