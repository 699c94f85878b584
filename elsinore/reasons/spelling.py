"""Find names and values that are spelled almost like a wanted one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LONGEST = 60
"""Characters: longer texts are compared by case and blanks alone."""

MOST = 5_000
"""Texts that a wanted one is compared with by edit distance."""


@dataclass(frozen=True)
class Near:
    """A text that is spelled almost like a wanted one."""

    text: str
    how: str
    """In which way it differs."""
    distance: int


def near(wanted: str, texts: Iterable[str]) -> Near | None:
    """Return the text that differs least from a wanted one: in blanks and case first, then by few edits."""
    others = [text for text in dict.fromkeys(texts) if text != wanted]
    plain = [text for text in others if normal(text) == normal(wanted)]
    if plain:
        text = min(plain, key=lambda one: (distance(wanted, one, len(wanted) + len(one)), one))
        return Near(text, _difference(wanted, text), 0)
    most = edits_allowed(wanted)
    if not most or len(wanted) > LONGEST:
        return None
    found = [(distance(normal(wanted), normal(one), most), one) for one in others[:MOST] if len(one) <= LONGEST]
    best = min(found, default=(most + 1, ""))
    if best[0] > most:
        return None
    edits = "1 edit away" if best[0] == 1 else f"{best[0]} edits away"
    return Near(best[1], edits, best[0])


def edits_allowed(text: str) -> int:
    """Return by how many edits a text may differ from one that is meant: none for the shortest, then one in three."""
    return 0 if len(text) < 3 else max(1, min(3, len(text) // 3))


def normal(text: str) -> str:
    """Return a text without differences of case, blanks and joining characters."""
    return "".join(character for character in text.casefold() if character not in " \t\r\n\u00a0_-")


def _difference(wanted: str, text: str) -> str:
    if wanted.strip() == text.strip():
        return "blanks around it differ"
    if wanted.strip().casefold() == text.strip().casefold():
        return "upper and lower case differ"
    return "blanks or joining characters differ"


def distance(one: str, other: str, most: int) -> int:
    """Return the number of edits between two texts (an exchange of neighbours is one), or `most` + 1 beyond that."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, character in enumerate(one, 1):
        own = [row]
        for column, another in enumerate(other, 1):
            cost = min(last[column] + 1, own[-1] + 1, last[column - 1] + (character != another))
            swapped = row > 1 and column > 1 and character == other[column - 2] and one[row - 2] == another
            own.append(min(cost, before[column - 2] + 1) if swapped else cost)
        if min(own) > most:
            return most + 1
        before, last = last, own
    return min(last[-1], most + 1)
