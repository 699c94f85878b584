"""Base class and helpers of the builders.

A name that the language does not know (a unit, a function, a semantics) does not stop a builder: it records the problem
in `problems`, and puts a harmless value in its place.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer
from lark.tree import Meta

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import Grouping, Place


def place(meta: Meta) -> Place:
    """Return the place of a part of the text."""
    return Place(meta.start_pos, meta.end_pos)


def spot(token: Token) -> Place:
    """Return the place of a token."""
    return Place(token.start_pos or 0, token.end_pos or 0)


def word(token: Token | None) -> str | None:
    """Return a token as a plain string, or None if there is none."""
    return None if token is None else str(token)


class Builder(Transformer[Token, Any]):
    """A Lark transformer from grammar rules to values; subclasses handle the rules of one clause."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []

    def note(self, message: str, hint: str, where: Place) -> None:
        self.problems.append(Problem(message, hint, where))


def attribute_inside(function: str, variable: str, attribute: str | None, where: Place) -> Problem:
    """Return the problem of `FIRST(X.a)`, or of `FIRST(X)`."""
    hint = f"write {function}({variable}).{attribute or 'attribute'}"
    return Problem(f"{function} is one event: write its attribute after the parentheses", hint, where)


def attribute_outside(function: str, variable: str, attribute: str, where: Place) -> Problem:
    """Return the problem of `SUM(X).a`."""
    if function == "COUNT":
        return Problem("COUNT counts events, not attributes", f"write COUNT({variable})", where)
    hint = f"write {function}({variable}.{attribute})"
    return Problem(f"write the attribute of {function} inside of its parentheses", hint, where)


def grouping_attribute(meta: Meta, parts: list[Token | None]) -> Grouping:
    """Build a grouping from `district` or `T.district`."""
    first, second = parts
    if second is None:
        return Grouping(str(first), place=place(meta))
    return Grouping(str(second), word(first), place=place(meta))
