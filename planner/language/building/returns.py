"""Build the values of RETURN and GROUP-BY."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from lark import Token, v_args
from lark.tree import Meta

from elsinore.planner.language import syntax
from elsinore.planner.language.building.builder import Builder, grouping_attribute, place, spot, word
from elsinore.planner.language.errors import quote
from elsinore.planner.language.suggest import also, did_you_mean

FUNCTIONS: tuple[syntax.Function, ...] = ("COUNT", "SUM", "AVG", "MIN", "MAX")


@v_args(meta=True)
class ReturnBuilder(Builder):
    def returns(self, _: Meta, items: list[Any]) -> tuple[syntax.Grouping | syntax.Aggregate, ...]:
        return tuple(items)

    def matches(self, meta: Meta, _: list[Token]) -> syntax.Matches:
        return syntax.Matches(place=place(meta))

    def item(self, meta: Meta, parts: list[Any]) -> syntax.Grouping | syntax.Aggregate:
        column, alias = parts
        return cast(syntax.Aggregate, replace(column, alias=word(alias), place=place(meta)))

    def grouping(self, meta: Meta, parts: list[Token]) -> syntax.Grouping:
        return syntax.Grouping(str(parts[0]), place=place(meta))

    def grouping_of(self, meta: Meta, parts: list[Token]) -> syntax.Grouping:
        return syntax.Grouping(str(parts[1]), str(parts[0]), place=place(meta))

    def count_trends(self, meta: Meta, parts: list[Token]) -> syntax.Aggregate:
        return syntax.Aggregate(self._function(parts[0]) or "COUNT", None, None, f"{parts[0]}(*)", place=place(meta))

    def aggregate(self, meta: Meta, parts: list[Token | None]) -> syntax.Aggregate:
        name, variable, attribute = parts
        text = f"{name}({variable}.{attribute})" if attribute else f"{name}({variable})"
        function = self._function(cast(Token, name))
        if function is None:
            return syntax.Aggregate("COUNT", word(variable), None, text, place=place(meta))
        return syntax.Aggregate(function, word(variable), word(attribute), text, place=place(meta))

    def _function(self, name: Token) -> syntax.Function | None:
        for function in FUNCTIONS:
            if function == name.upper():
                return function
        hint = also("the functions are COUNT, SUM, AVG, MIN and MAX", did_you_mean(name, FUNCTIONS))
        self.note(f"there is no function {quote(name)}", hint, spot(name))
        return None

    def group_by(self, _: Meta, parts: list[syntax.Grouping]) -> tuple[syntax.Grouping, ...]:
        return tuple(parts)

    def grouping_attribute(self, meta: Meta, parts: list[Token | None]) -> syntax.Grouping:
        return grouping_attribute(meta, parts)
