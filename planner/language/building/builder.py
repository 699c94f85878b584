"""What the builders share.

A name that the language does not know (a unit, a function, a semantics) is no reason to
stop: it is noted in `problems`, something harmless stands in for it, and the rest is read.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer
from lark.tree import Meta

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import Grouping, Place


def place(meta: Meta) -> Place:
    """Where a part of the text stands."""
    return Place(meta.start_pos, meta.end_pos)


def spot(token: Token) -> Place:
    """Where one word stands."""
    return Place(token.start_pos or 0, token.end_pos or 0)


def word(token: Token | None) -> str | None:
    """A word as plain text, where there is one."""
    return None if token is None else str(token)


class Builder(Transformer[Token, Any]):
    """Rules of the grammar to values; subclasses know the rules of one clause."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []

    def note(self, message: str, hint: str, where: Place) -> None:
        self.problems.append(Problem(message, hint, where))


def grouping_attribute(meta: Meta, parts: list[Token | None]) -> Grouping:
    """`district` or `T.district`."""
    first, second = parts
    if second is None:
        return Grouping(str(first), place=place(meta))
    return Grouping(str(second), word(first), place=place(meta))
