"""Build the values of SEMANTICS, WITHIN and SLIDE."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from lark import Token, v_args
from lark.tree import Meta

from elsinore.planner.language import syntax
from elsinore.planner.language.building.builder import Builder, place, spot
from elsinore.planner.language.errors import quote
from elsinore.planner.language.suggest import also, did_you_mean

SEMANTICS: dict[str, syntax.Semantics] = {
    "skip-till-any-match": "any",
    "any": "any",
    "skip-till-next-match": "next",
    "next": "next",
    "contiguous": "contiguous",
    "cont": "contiguous",
}
UNITS: dict[str, syntax.TimeUnit] = {
    "ms": "ms",
    "second": "seconds",
    "seconds": "seconds",
    "minute": "minutes",
    "minutes": "minutes",
    "hour": "hours",
    "hours": "hours",
    "day": "days",
    "days": "days",
    "event": "events",
    "events": "events",
}
_SHORT_UNITS = {"s": "seconds", "sec": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


@v_args(meta=True)
class WindowBuilder(Builder):
    def semantics(self, _: Meta, parts: list[Token]) -> syntax.Semantics:
        name = parts[0]
        if name.lower() not in SEMANTICS:
            hint = also("write skip-till-any-match, skip-till-next-match or contiguous", did_you_mean(name, SEMANTICS))
            self.note(f"there is no semantics {quote(name)}", hint, spot(name))
        return SEMANTICS.get(name.lower(), "any")

    def limit(self, meta: Meta, parts: list[Token | None]) -> tuple[int, syntax.Place] | None:
        """Return the number of LIMIT and its place."""
        minus, amount = cast(tuple[Token | None, Token], parts)
        if minus or not amount.isdigit() or int(amount) == 0:
            hint = "write how many matches of a group that end at one time are returned, such as LIMIT 10"
            self.note("LIMIT takes a whole number above zero", hint, place(meta))
            return None
        return int(amount), place(meta)

    def span(self, meta: Meta, parts: list[Token | None]) -> syntax.Span | None:
        minus, amount, unit = cast(tuple[Token | None, Token, Token], parts)
        if unit.lower() not in UNITS:
            meant = did_you_mean(_SHORT_UNITS.get(unit.lower(), unit), UNITS)
            hint = also("the units are ms, seconds, minutes, hours, days and events", meant)
            self.note(f"there is no unit {quote(unit)}", hint, spot(unit))
            return None
        size = Fraction(amount) * (-1 if minus else 1)
        return syntax.Span(size, UNITS[unit.lower()], place=place(meta))
