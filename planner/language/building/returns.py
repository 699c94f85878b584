"""Build the values of RETURN and GROUP-BY."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
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
from elsinore.planner.language.errors import Problem, quote
from elsinore.planner.language.suggest import also, did_you_mean

FUNCTIONS: tuple[syntax.Function, ...] = ("COUNT", "SUM", "AVG", "MIN", "MAX")

Column = syntax.Grouping | syntax.Aggregate | syntax.Item
"""What may stand in RETURN. Only RETURN MATCHES has items; it has them alone."""


@v_args(meta=True)
class ReturnBuilder(Builder):
    def returns(self, _: Meta, items: list[Any]) -> tuple[Column, ...]:
        return tuple(items)

    def matches(self, meta: Meta, parts: list[Any]) -> syntax.Matches:
        items = (self._of_match(part) for part in parts[1:] if part is not None)
        return syntax.Matches(tuple(item for item in items if item), place=place(meta))

    def item(self, meta: Meta, parts: list[Any]) -> Column:
        column, alias = parts
        return cast(syntax.Item, replace(column, alias=word(alias), place=place(meta)))

    def grouping(self, meta: Meta, parts: list[Token]) -> syntax.Grouping:
        return syntax.Grouping(str(parts[0]), place=place(meta))

    def grouping_of(self, meta: Meta, parts: list[Token]) -> syntax.Grouping:
        return syntax.Grouping(str(parts[1]), str(parts[0]), place=place(meta))

    def count_trends(self, meta: Meta, parts: list[Token]) -> syntax.Aggregate:
        return syntax.Aggregate(self._function(parts[0]) or "COUNT", None, None, f"{parts[0]}(*)", place=place(meta))

    def aggregate(self, meta: Meta, parts: list[Token | None]) -> syntax.Aggregate:
        name, variable, attribute = parts
        text = f"{name}({variable}.{attribute})" if attribute else f"{name}({variable})"
        if str(name).upper() in syntax.ENDS:
            self.problems.append(attribute_inside(str(name), str(variable), word(attribute), place(meta)))
            return syntax.Aggregate("COUNT", word(variable), None, text, place=place(meta))
        function = self._function(cast(Token, name))
        if function is None:
            return syntax.Aggregate("COUNT", word(variable), None, text, place=place(meta))
        return syntax.Aggregate(function, word(variable), word(attribute), text, place=place(meta))

    def one_of(self, meta: Meta, parts: list[Token]) -> syntax.Item:
        """Build `FIRST(X).a` or `LAST(X).a`."""
        name, variable, attribute = parts
        function = cast(syntax.ListFunction, name.upper())
        if function in FUNCTIONS:
            self.problems.append(attribute_outside(function, variable, attribute, place(meta)))
        elif function not in syntax.ENDS:
            self._function(name)
        value = syntax.Summary(function, str(variable), str(attribute), place=place(meta))
        return syntax.Item(value, f"{name}({variable}).{attribute}", place=place(meta))

    def _of_match(self, column: Column) -> syntax.Item | None:
        """Return a column as an item of RETURN MATCHES; note a problem if it is about more than one match."""
        where = cast(syntax.Place, column.place)
        match column:
            case syntax.Item():
                return column
            case syntax.Grouping(attribute, None):
                hint = f"write X.{attribute} for the attribute of a variable X; rows have grouping attributes anyway"
                self.note(f"{quote(attribute)} stands alone", hint, where)
                return None
            case syntax.Grouping(attribute, variable, alias):
                value: syntax.Attribute | syntax.Summary = syntax.Attribute(str(variable), attribute, place=where)
                return syntax.Item(value, f"{variable}.{attribute}", alias, place=where)
            case syntax.Aggregate(_, None):
                hint = "write RETURN COUNT(*) for the number of trends, or COUNT(X) for the events of one match"
                self.note(f"{column.text} is about all trends, not about one match", hint, where)
                return None
            case syntax.Aggregate(function, variable, attribute, text, alias):
                value = syntax.Summary(function, str(variable), attribute, place=where)
                return syntax.Item(value, text, alias, place=where)

    def _function(self, name: Token) -> syntax.Function | None:
        for function in FUNCTIONS:
            if function == name.upper():
                return function
        hint = also("the functions are COUNT, SUM, AVG, MIN and MAX", did_you_mean(name, FUNCTIONS))
        if name.upper() in syntax.ENDS:
            hint = f"write the attribute of one event: {name}(X).attribute"
        self.note(f"there is no function {quote(name)}", hint, spot(name))
        return None

    def group_by(self, _: Meta, parts: list[syntax.Grouping]) -> tuple[syntax.Grouping, ...]:
        return tuple(parts)

    def grouping_attribute(self, meta: Meta, parts: list[Token | None]) -> syntax.Grouping:
        return grouping_attribute(meta, parts)


def settled(
    columns: tuple[Column, ...], groups: Collection[str]
) -> tuple[tuple[syntax.Grouping | syntax.Aggregate, ...] | syntax.Matches, list[Problem]]:
    """Return what RETURN means without MATCHES in front, with the problems of what only RETURN MATCHES can have.

    `groups` are the attributes of GROUP-BY: an attribute of theirs may be called `matches`.
    """
    first, *others = columns
    if others and isinstance(first, syntax.Grouping) and _is_matches(first) and first.attribute not in groups:
        fit = all(getattr(column, "variable", True) for column in others)
        hint = (
            f"write RETURN MATCHES {', '.join(map(str, others)) if fit else 'alone, or RETURN MATCHES X.a, COUNT(X)'}"
        )
        return syntax.Matches(place=first.place), [Problem("MATCHES is not followed by a comma", hint, first.place)]
    items = [column for column in columns if isinstance(column, syntax.Item)]
    hint = "write RETURN MATCHES for items of single matches, or an aggregate over all trends such as MAX(X.a)"
    problems = [Problem(f"{item.text} is only for RETURN MATCHES", hint, item.place) for item in items]
    return tuple(column for column in columns if not isinstance(column, syntax.Item)), problems


def _is_matches(column: syntax.Grouping) -> bool:
    return column.attribute.upper() == "MATCHES" and column.variable is None and column.alias is None
