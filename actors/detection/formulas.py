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
from elsinore.actors.detection import search_numba_fns as kernel
from elsinore.actors.detection.conditions import OPERATORS, TURNED, Reader, readers
from elsinore.actors.detection.keys import comparable
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import (
    All,
    Arithmetic,
    Between,
    Comparison,
    Expression,
    In,
    IsNull,
    LiteralValue,
    Minus,
    Negation,
)
from elsinore.planner.language.syntax import Any as Some

Operation = tuple[Any, ...]
"""An operation of the kernel, with readers in place of the numbers of variables."""

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
        read = readers(expression)
        if len(read) <= 1:
            self._truth(expression, *read)
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
        read = readers(expression)
        if len(read) <= 1:
            self._truth(IsNull(expression, negated=True), *read)
        else:
            self._number(expression, self._calculates_reals(expression))
            self._add(kernel.KNOWN)

    def _comparison(self, whole: Expression, operator: str, left: Expression, right: Expression) -> None:
        read = readers(left), readers(right)
        if len(read[0] | read[1]) <= 1:
            self._truth(Comparison(operator, left, right), *(read[0] | read[1]))  # type: ignore[arg-type]
        elif len(read[0]) == len(read[1]) == 1:
            self._keys(whole, operator, left, right)
        else:
            real = self._calculates_reals(left) or self._calculates_reals(right)
            self._number(left, real)
            self._number(right, real)
            self._add(kernel.COMPARE_REAL if real else kernel.COMPARE, OPERATORS[operator])

    def _keys(self, whole: Expression, operator: str, left: Expression, right: Expression) -> None:
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
        read = readers(expression)
        if len(read) <= 1:
            return self._values(expression, *read).data.dtype.kind == "f"
        match expression:
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
        if not values.numeric:
            message = f"{expression} is no number, and is calculated with"
            raise WorkloadError(
                [Problem(message, "compare texts and times as they are", expression.place, self.columns.query)]
            )
        if values.data.dtype.kind == "O":
            raise UnsureError
        return values

    def _literal(self, value: float) -> None:
        self._add(kernel.REAL_LITERAL if isinstance(value, float) else kernel.WHOLE_LITERAL, value)

    def _number(self, expression: Expression, real: bool) -> float:
        """Add the code that pushes a number, and return a bound of its size; of floats none is needed."""
        read = readers(expression)
        if len(read) <= 1:
            return self._leaf(self._values(expression, *read), real, *read)
        match expression:
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

    def _leaf(self, values: Values, real: bool, reader: Reader | None = None) -> float:
        data = values.data[values.valid]
        whole = data.dtype.kind == "i"
        bound = max(abs(int(data.min())), abs(int(data.max()))) if whole and len(data) else 0
        if reader is None:
            if not len(data):
                raise UnsureError
            self._literal(float(data[0]) if real else int(data[0]))
        else:
            self._add(kernel.VALUE, self.sides.add_values(reader.variable, values), reader)
        return _sure(bound, real)


def _sure(bound: float, real: bool) -> float:
    if bound > (EXACT_IN_FLOAT if real else LARGEST):
        raise UnsureError
    return bound


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
