"""Build the values of WHERE."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, cast

from lark import Token, v_args
from lark.tree import Meta

from elsinore.planner.language import syntax
from elsinore.planner.language.building.builder import (
    Builder,
    attribute_inside,
    attribute_outside,
    grouping_attribute,
    place,
    spot,
    word,
)
from elsinore.planner.language.errors import quote
from elsinore.planner.language.syntax import Expression, LiteralValue, Place


@v_args(meta=True)
class ConditionBuilder(Builder):
    def where(self, _: Meta, parts: list[Any]) -> tuple[Expression | syntax.Equivalence, ...]:
        """Return the conjuncts in which no problem was found."""
        bad = sorted(problem.place.start for problem in self.problems if problem.place)

        def sound(conjunct: Expression | syntax.Equivalence) -> bool:
            whole = cast(Place, conjunct.place)
            return bisect_left(bad, whole.start) == bisect_left(bad, whole.end)

        return tuple(conjunct for conjunct in _conjuncts(parts[0]) if sound(conjunct))

    def equivalence(self, meta: Meta, parts: list[syntax.Grouping]) -> syntax.Equivalence:
        for part in parts:
            if part.variable:
                hint = f"it holds for all events of a trend: write [{part.attribute}]"
                self.note("an equivalence names attributes without a variable", hint, cast(Place, part.place))
        return syntax.Equivalence(tuple(part.attribute for part in parts), place=place(meta))

    def grouping_attribute(self, meta: Meta, parts: list[Token | None]) -> syntax.Grouping:
        return grouping_attribute(meta, parts)

    def any(self, meta: Meta, parts: list[Any]) -> syntax.Any:
        return syntax.Any(tuple(self._condition(part) for part in parts), place=place(meta))

    def all(self, meta: Meta, parts: list[Any]) -> syntax.All:
        return syntax.All(tuple(parts), place=place(meta))

    def negation(self, meta: Meta, parts: list[Any]) -> syntax.Negation:
        return syntax.Negation(self._condition(parts[0]), place=place(meta))

    def comparison(self, meta: Meta, parts: list[Any]) -> syntax.Comparison:
        left, operator, right = parts
        spelled = "!=" if operator == "<>" else str(operator)
        return syntax.Comparison(
            cast(syntax.ComparisonOperator, spelled),
            self._condition(left),
            self._condition(right),
            place=place(meta),
        )

    def in_(self, meta: Meta, parts: list[Any]) -> syntax.In:
        return syntax.In(self._condition(parts[0]), tuple(parts[1:]), place=place(meta))

    def not_in(self, meta: Meta, parts: list[Any]) -> syntax.In:
        return syntax.In(self._condition(parts[0]), tuple(parts[1:]), negated=True, place=place(meta))

    def between(self, meta: Meta, parts: list[Any]) -> syntax.Between:
        part, low, high = map(self._condition, parts)
        return syntax.Between(part, low, high, place=place(meta))

    def not_between(self, meta: Meta, parts: list[Any]) -> syntax.Between:
        part, low, high = map(self._condition, parts)
        return syntax.Between(part, low, high, negated=True, place=place(meta))

    def is_null(self, meta: Meta, parts: list[Any]) -> syntax.IsNull:
        return syntax.IsNull(self._condition(parts[0]), place=place(meta))

    def is_not_null(self, meta: Meta, parts: list[Any]) -> syntax.IsNull:
        return syntax.IsNull(self._condition(parts[0]), negated=True, place=place(meta))

    def arithmetic(self, meta: Meta, parts: list[Any]) -> syntax.Arithmetic:
        left, operator, right = parts
        return syntax.Arithmetic(
            cast(syntax.ArithmeticOperator, str(operator)),
            self._condition(left),
            self._condition(right),
            place=place(meta),
        )

    def minus(self, meta: Meta, parts: list[Any]) -> Expression:
        part = self._condition(parts[1])
        if isinstance(part, LiteralValue) and isinstance(part.value, int | float) and not isinstance(part.value, bool):
            return LiteralValue(-part.value, place=place(meta))
        return syntax.Minus(part, place=place(meta))

    def integer(self, meta: Meta, parts: list[Token]) -> LiteralValue:
        return LiteralValue(int(parts[0]), place=place(meta))

    def decimal(self, meta: Meta, parts: list[Token]) -> LiteralValue:
        return LiteralValue(float(parts[0]), place=place(meta))

    def text(self, meta: Meta, parts: list[Token]) -> LiteralValue:
        quotation, inside = parts[0][0], parts[0][1:-1]
        return LiteralValue(inside.replace(quotation * 2, quotation), place=place(meta))

    def truth(self, meta: Meta, parts: list[Token]) -> LiteralValue:
        return LiteralValue(parts[0].upper() == "TRUE", place=place(meta))

    def attribute(self, meta: Meta, parts: list[Token]) -> syntax.Attribute:
        return syntax.Attribute(str(parts[0]), str(parts[1]), place=place(meta))

    def next(self, meta: Meta, parts: list[Token]) -> syntax.Attribute:
        return syntax.Attribute(str(parts[0]), str(parts[1]), next=True, place=place(meta))

    def summary(self, meta: Meta, parts: list[Token | None]) -> Expression:
        """Build `COUNT(X)` or `SUM(X.a)`."""
        name, variable, attribute = parts
        function = cast(syntax.ListFunction, str(name).upper())
        if function in syntax.ENDS:
            self.problems.append(attribute_inside(function, str(variable), word(attribute), place(meta)))
        return syntax.Summary(function, str(variable), word(attribute), place=place(meta))

    def one_of(self, meta: Meta, parts: list[Token]) -> Expression:
        """Build `FIRST(X).a` or `LAST(X).a`."""
        name, variable, attribute = map(str, parts)
        function = cast(syntax.ListFunction, name.upper())
        if function not in syntax.ENDS:
            self.problems.append(attribute_outside(function, variable, attribute, place(meta)))
        return syntax.Summary(function, variable, attribute, place=place(meta))

    def bare(self, meta: Meta, parts: list[Token]) -> LiteralValue:
        name = parts[0]
        message = f"{quote(name)} stands alone"
        hint = f"write X.{name} for the attribute of a variable X, or '{name}' for a text"
        if name.upper() == "NULL":
            message, hint = "nothing is equal to NULL", "write IS NULL or IS NOT NULL"
        elif name.upper() in ("AND", "OR", "BETWEEN", "IN", "IS"):
            message, hint = f"{quote(name)} lacks its left side", "write a condition such as X.speed < 10"
        self.note(message, hint, spot(name))
        return LiteralValue(True, place=place(meta))

    def call(self, meta: Meta, parts: list[Any]) -> LiteralValue:
        name = parts[0]
        hint = "predicates have + - * / % and NEXT(X); under RETURN MATCHES also FIRST, LAST and aggregates"
        self.note(f"there is no function {quote(name)} in WHERE", hint, spot(name))
        return LiteralValue(True, place=place(meta))

    def _condition(self, part: Any) -> Any:
        """Return a part of a larger expression; note a problem for each equivalence in it, which cannot stand there."""
        for inner in _conjuncts(part):
            if isinstance(inner, syntax.Equivalence):
                hint = f"join it to the other conditions with AND alone: {inner} AND ..."
                self.note("an equivalence cannot stand inside another condition", hint, cast(Place, inner.place))
        return part


def _conjuncts(condition: Any) -> Iterator[Any]:
    if isinstance(condition, syntax.All):
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition
