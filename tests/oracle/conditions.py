"""A parser of conditions, limited to the part of the language that the vectors use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from tests.oracle.expressions import Attribute, Between, Binary, Expression, In, IsNull, Literal, Negation, Of

TOKEN = re.compile(r"'[^']*'|\d+(?:\.\d+)?|\w+|<=|>=|!=|[^\w\s]")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS = ("FIRST", "LAST", "COUNT", "SUM", "AVG", "MIN", "MAX")


def conditions(text: str) -> tuple[tuple[str, ...], tuple[Expression, ...]]:
    """Return the attributes of the equivalences of a WHERE clause, and its other conjuncts."""
    reader = _Reader(TOKEN.findall(text))
    equal: list[str] = []
    others: list[Expression] = []
    while True:
        if reader.left[0] == "[":
            equal += reader.equivalence()
        else:
            others += conjuncts(reader.inversion())
        if not reader.took("AND"):
            break
    assert not reader.left, reader.left
    return tuple(equal), tuple(others)


def value(text: str) -> Expression:
    """Return what an item of RETURN MATCHES says."""
    return _Reader(TOKEN.findall(text)).operand()


def conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Binary) and expression.operator == "AND":
        yield from conjuncts(expression.left)
        yield from conjuncts(expression.right)
    else:
        yield expression


class _Reader:
    """The tokens of a condition, consumed from the front."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def took(self, *words: str) -> str | None:
        if self.left and self.left[0] in words:
            return self.left.pop(0)
        return None

    def equivalence(self) -> list[str]:
        end = self.left.index("]")
        names = [token for token in self.left[1:end] if token != ","]
        del self.left[: end + 1]
        return names

    def either(self) -> Expression:
        found = self.both()
        while self.took("OR"):
            found = Binary("OR", found, self.both())
        return found

    def both(self) -> Expression:
        found = self.inversion()
        while self.took("AND"):
            found = Binary("AND", found, self.inversion())
        return found

    def inversion(self) -> Expression:
        return Negation(self.inversion()) if self.took("NOT") else self.test()

    def test(self) -> Expression:
        left = self.sum()
        if symbol := self.took(*COMPARISONS):
            return Binary(symbol, left, self.sum())
        if self.took("IN"):
            assert self.took("(")
            values = [self.literal()]
            while self.took(","):
                values.append(self.literal())
            assert self.took(")")
            return In(left, tuple(values))
        if self.took("BETWEEN"):
            low = self.sum()
            assert self.took("AND")
            return Between(left, low, self.sum())
        if self.took("IS"):
            negated = bool(self.took("NOT"))
            assert self.took("NULL")
            return IsNull(left, negated)
        return left

    def sum(self) -> Expression:
        found = self.product()
        while symbol := self.took("+", "-"):
            found = Binary(symbol, found, self.product())
        return found

    def product(self) -> Expression:
        found = self.operand()
        while symbol := self.took("*", "/", "%"):
            found = Binary(symbol, found, self.operand())
        return found

    def operand(self) -> Expression:
        if self.took("("):
            found = self.either()
            assert self.took(")")
            return found
        if self.left[0][0].isdigit() or self.left[0][0] in "'-":
            return self.literal()
        if function := self.took(*FUNCTIONS):
            return self.function(function)
        following = bool(self.took("NEXT") and self.took("("))
        variable = self.left.pop(0)
        if following:
            assert self.took(")")
        return Attribute(variable, self.attribute(), following)

    def function(self, function: str) -> Of:
        assert self.took("(")
        variable = self.left.pop(0)
        if function in ("FIRST", "LAST"):
            assert self.took(")")
            return Of(function, variable, self.attribute())
        attribute = self.attribute() if self.left[0] == "." else None
        assert self.took(")")
        return Of(function, variable, attribute)

    def attribute(self) -> str:
        assert self.took(".")
        return self.left.pop(0)

    def literal(self) -> Literal:
        sign = -1 if self.took("-") else 1
        token = self.left.pop(0)
        if token.startswith("'"):
            return Literal(token[1:-1])
        number = Fraction(token) * sign
        return Literal(int(number) if number.denominator == 1 else number)
