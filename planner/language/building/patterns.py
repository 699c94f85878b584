"""Build the values of PATTERN."""

from __future__ import annotations

from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from elsinore.planner.language import syntax
from elsinore.planner.language.building.builder import Builder, place, word


@v_args(meta=True)
class PatternBuilder(Builder):
    def pattern(self, _: Meta, parts: list[syntax.Pattern]) -> syntax.Pattern:
        return parts[0]

    def event_type(self, meta: Meta, parts: list[Token | None]) -> syntax.EventType:
        return syntax.EventType(str(parts[0]), word(parts[1]), place=place(meta))

    def sequence(self, meta: Meta, parts: list[syntax.Pattern]) -> syntax.Seq:
        return syntax.Seq(tuple(parts), place=place(meta))

    seq = sequence

    def or_(self, meta: Meta, parts: list[syntax.Pattern]) -> syntax.Or:
        return syntax.Or(tuple(parts), place=place(meta))

    def and_(self, meta: Meta, parts: list[syntax.Pattern]) -> syntax.And:
        return syntax.And(tuple(parts), place=place(meta))

    def not_(self, meta: Meta, parts: list[syntax.Pattern]) -> syntax.Not:
        return syntax.Not(parts[0], place=place(meta))

    def plus(self, meta: Meta, parts: list[Any]) -> syntax.Kleene:
        return syntax.Kleene(parts[0], 1, None, place=place(meta))

    def star(self, meta: Meta, parts: list[Any]) -> syntax.Kleene:
        return syntax.Kleene(parts[0], 0, None, place=place(meta))

    def optional(self, meta: Meta, parts: list[Any]) -> syntax.Kleene:
        return syntax.Kleene(parts[0], 0, 1, place=place(meta))

    def times(self, meta: Meta, parts: list[Any]) -> syntax.Kleene:
        return syntax.Kleene(parts[0], int(parts[1]), int(parts[1]), place=place(meta))

    def from_to(self, meta: Meta, parts: list[Any]) -> syntax.Kleene:
        part, least, most = parts
        return syntax.Kleene(part, int(least), None if most is None else int(most), place=place(meta))
