"""Conditions that are no comparison of two events, as code that the search runs.

What reads one event alone is computed for whole columns beforehand, as predicates are elsewhere. The code does the
rest: truth values, and calculation with integers of 64 bits or floats. It is made for the values that there are, so
that no integer is rounded or wrapped: where that cannot be ruled out there is no code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from elsinore.actors.columns.expressions import EXACT_IN_FLOAT, Evaluator, Values
from elsinore.actors.detection.conditions import OPERATORS, TURNED, Reader, readers
from elsinore.actors.detection.frames import search_numba_fns as kernel
from elsinore.actors.detection.keys import comparable
from elsinore.planner.language.syntax import (
    All,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    ComparisonOperator,
    Expression,
    In,
    IsNull,
    LiteralValue,
    Minus,
    Negation,
    Summary,
    nodes,
)
from elsinore.planner.language.syntax import Any as Some

Operation = tuple[Any, ...]
"""An operation of the kernel, with readers in place of the numbers of variables."""

MOST_EVENTS = 2**31
"""Bound of the number of events in a window."""

LARGEST = 2**62
"""Bound of the integers that the code calculates with."""


class UnsureError(Exception):
    """A result might not fit the numbers that the code calculates with."""


class Columns(Protocol):
    """The events that may be bound to variables, as columns."""

    query: str

    def values(self, variable: str, expression: Expression) -> Values: ...
    def truth(self, variable: str, expression: Expression) -> npt.NDArray[np.bool_]: ...


@dataclass
class Sides:
    """The columns that comparisons and code read, in the order in which they are numbered."""

    keys: list[tuple[str, npt.NDArray[np.int64]]] = field(default_factory=list)
    """Variable, and the key of each of its events."""
    values: list[tuple[str, Values]] = field(default_factory=list)

    def add_keys(self, variable: str, keys: npt.NDArray[np.int64]) -> int:
        self.keys.append((variable, keys))
        return len(self.keys) - 1

    def add_values(self, variable: str, values: Values) -> int:
        self.values.append((variable, values))
        return len(self.values) - 1


@dataclass
class Formula:
    """The code of one condition."""

    columns: Columns
    sides: Sides
    code: list[Operation] = field(default_factory=list)

    def condition(self, expression: Expression) -> None:
        """Add the code that pushes the truth of a condition."""
        if is_simple(expression):
            self._truth(expression, *readers(expression))
            return
        match expression:
            case All() | Some():
                for number, part in enumerate(expression.parts):
                    self.condition(part)
                    if number:
                        self._add(kernel.BOTH if isinstance(expression, All) else kernel.EITHER)
            case Negation():
                self.condition(expression.part)
                self._add(kernel.INVERT)
            case Comparison():
                self._comparison(expression, expression.operator, expression.left, expression.right)
            case Between():
                self._comparison(expression, ">=", expression.part, expression.low)
                self._comparison(expression, "<=", expression.part, expression.high)
                self._add(kernel.BOTH)
                if expression.negated:
                    self._otherwise(expression.part, expression.low, expression.high)
            case In():
                for number, value in enumerate(expression.values):
                    self._comparison(expression, "=", expression.part, value)
                    if number:
                        self._add(kernel.EITHER)
                if expression.negated:
                    self._otherwise(expression.part)
            case IsNull():
                self._known(expression.part)
                if not expression.negated:
                    self._add(kernel.INVERT)
            case _:
                self._comparison(expression, "!=", expression, LiteralValue(0))

    def _add(self, operation: int, *numbers: Any) -> None:
        self.code.append((operation, *numbers, *[0] * (5 - len(numbers))))

    def _truth(self, expression: Expression, reader: Reader | None = None) -> None:
        """Push the truth of a condition about one event, or about none."""
        if reader is None:
            holds = bool(Evaluator({}, 1, self.columns.query).condition(expression)[0])
            self._literal(int(holds))
            return
        truth = self.columns.truth(reader.variable, expression)
        values = Values(truth.astype(np.int64), np.ones(len(truth), np.bool_))
        self._add(kernel.TRUTH, self.sides.add_values(reader.variable, values), reader)

    def _otherwise(self, *parts: Expression) -> None:
        """Turn the truth on top into that of its negation, which null makes false, too."""
        self._add(kernel.INVERT)
        for part in parts:
            self._known(part)
            self._add(kernel.BOTH)

    def _known(self, expression: Expression) -> None:
        if is_simple(expression):
            self._truth(IsNull(expression, negated=True), *readers(expression))
        else:
            self._number(expression, self._calculates_reals(expression))
            self._add(kernel.KNOWN)

    def _comparison(self, whole: Expression, operator: ComparisonOperator, left: Expression, right: Expression) -> None:
        compared = Comparison(operator, left, right)
        if is_simple(compared):
            self._truth(compared, *readers(compared))
        elif all(is_simple(side) and readers(side) for side in (left, right)):
            self._keys(whole, operator, left, right)
        else:
            real = self._calculates_reals(left) or self._calculates_reals(right)
            self._number(left, real)
            self._number(right, real)
            self._add(kernel.COMPARE_REAL if real else kernel.COMPARE, OPERATORS[operator])

    def _keys(self, whole: Expression, operator: ComparisonOperator, left: Expression, right: Expression) -> None:
        if turned := TURNED.get(operator):
            operator, left, right = turned, right, left
        (a,), (b,) = readers(left), readers(right)
        keys = comparable(
            self.columns.values(a.variable, left), self.columns.values(b.variable, right), whole, self.columns.query
        )
        sides = self.sides.add_keys(a.variable, keys[0]), self.sides.add_keys(b.variable, keys[1])
        self._add(kernel.COMPARE_KEYS, OPERATORS[operator], sides[0], a, sides[1], b)

    def _calculates_reals(self, expression: Expression) -> bool:
        """Return whether a number is a float, as far as its code is concerned."""
        if is_simple(expression):
            return bool(self._values(expression, *readers(expression)).data.dtype.kind == "f")
        match expression:
            case Summary():
                return expression.function == "AVG" or (
                    expression.attribute is not None and self._summarised(expression).data.dtype.kind == "f"
                )
            case Arithmetic():
                return expression.operator == "/" or any(
                    map(self._calculates_reals, (expression.left, expression.right))
                )
            case Minus():
                return self._calculates_reals(expression.part)
        return False

    def _values(self, expression: Expression, reader: Reader | None = None) -> Values:
        if reader is None:
            return Evaluator({}, 1, self.columns.query).values(expression)
        values = self.columns.values(reader.variable, expression)
        if not values.numeric or values.data.dtype.kind == "O":
            raise UnsureError
        return values

    def _summarised(self, expression: Summary) -> Values:
        """Return the values of which a summary is taken."""
        assert expression.attribute is not None
        return self._values(Attribute(expression.variable, expression.attribute), Reader(expression.variable))

    def _literal(self, value: float) -> None:
        self._add(kernel.REAL_LITERAL if isinstance(value, float) else kernel.WHOLE_LITERAL, value)

    def _number(self, expression: Expression, real: bool) -> float:
        """Add the code that pushes a number, and return a bound of its size; of floats none is needed."""
        if is_simple(expression):
            read = readers(expression)
            return self._leaf(self._values(expression, *read), real, *read)
        match expression:
            case Summary():
                return self._summary(expression, real)
            case Minus():
                bound = self._number(expression.part, real)
                self._add(kernel.NEGATE_REAL if real else kernel.NEGATE)
                return bound
            case Arithmetic():
                bounds = self._number(expression.left, real), self._number(expression.right, real)
                whole = not any(map(self._calculates_reals, (expression.left, expression.right)))
                self._add((REAL_OPERATIONS if real else WHOLE_OPERATIONS)[expression.operator])
                if expression.operator == "/" or not whole:
                    return 0
                return _sure(BOUNDS[expression.operator](*bounds), real)
        # A condition inside of arithmetic is 0 or 1.
        self.condition(expression)
        if real:
            raise UnsureError
        return 1

    def _summary(self, expression: Summary, real: bool) -> float:
        reader = Reader(expression.variable)
        function = FUNCTIONS[expression.function]
        if expression.attribute is None:
            self._add(kernel.SUMMARY, function, reader, 0)
            return MOST_EVENTS
        values = self._summarised(expression)
        self._add(kernel.SUMMARY, function, reader, self.sides.add_values(expression.variable, values))
        bound = _most(values)
        if expression.function in ("SUM", "AVG"):
            bound *= max(len(values.data), 1)
        return _sure(bound, real)

    def _leaf(self, values: Values, real: bool, reader: Reader | None = None) -> float:
        if reader is None:
            if not values.valid.all() or not values.numeric:
                raise UnsureError
            self._literal(float(values.data[0]) if real else int(values.data[0]))
        else:
            self._add(kernel.VALUE, self.sides.add_values(reader.variable, values), reader)
        return _sure(_most(values), real)


def is_simple(expression: Expression) -> bool:
    """Return whether an expression reads one event alone, or none."""
    return len(readers(expression)) <= 1 and not any(isinstance(node, Summary) for node in nodes(expression))


def _most(values: Values) -> int:
    """Return the largest size of integers; 0 for floats."""
    data = values.data[values.valid]
    return max(abs(int(data.min())), abs(int(data.max()))) if data.dtype.kind == "i" and len(data) else 0


def _sure(bound: float, real: bool) -> float:
    if bound > (EXACT_IN_FLOAT if real else LARGEST):
        raise UnsureError
    return bound


FUNCTIONS = {
    "COUNT": kernel.OF_COUNT,
    "SUM": kernel.OF_SUM,
    "AVG": kernel.OF_AVERAGE,
    "MIN": kernel.OF_MINIMUM,
    "MAX": kernel.OF_MAXIMUM,
    "FIRST": kernel.OF_FIRST,
    "LAST": kernel.OF_LAST,
}
WHOLE_OPERATIONS = {
    "+": kernel.ADD,
    "-": kernel.SUBTRACT,
    "*": kernel.MULTIPLY,
    "%": kernel.MODULO,
}
REAL_OPERATIONS = {
    "+": kernel.ADD_REAL,
    "-": kernel.SUBTRACT_REAL,
    "*": kernel.MULTIPLY_REAL,
    "/": kernel.DIVIDE_REAL,
    "%": kernel.MODULO_REAL,
}
BOUNDS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "%": lambda _, b: b,
}
