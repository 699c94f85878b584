"""Bad workloads: what is wrong, where, and what to write instead.

It stands by itself, without a room: clients that know none of them raise these too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 100
"""As much of a source line as a message shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the workload's text: offsets of its first character and behind its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a workload."""

    __module__ = "elsinore"

    message: str
    hint: str = ""
    place: Place | None = None
    query: str | None = None

    def show(self, text: str) -> str:
        """The problem as a user reads it, with its line of the workload and a caret."""
        if self.place is None:
            return "\n".join([_headline(self.query, "", self.message), *_hint(self.hint, "")])
        line, column, start, end = _position(text, self.place.start)
        number = str(line)
        margin = " " * len(number)
        return "\n".join(
            [
                _headline(self.query, f"line {line}, column {column}", self.message),
                *_excerpt(text[start:end], number, column - 1, self.place.end - start),
                *_hint(self.hint, margin),
            ]
        )


class WorkloadError(ValueError):
    """A workload that cannot be run; `problems` holds everything that is wrong with it.

    A service sends what is to be said along with them: then it is `told`.
    """

    __module__ = "elsinore"

    def __init__(self, problems: Iterable[Problem], text: str = "", told: str | None = None) -> None:
        self.problems = tuple(sorted(problems, key=_order))
        self.text = text
        self.told = told
        super().__init__(self.problems, text, told)

    def __str__(self) -> str:
        if self.told is not None:
            return self.told
        shown = [problem.show(self.text) for problem in self.problems]
        if len(shown) > 1:
            shown.insert(0, f"{len(shown)} problems in this workload:")
        return "\n\n".join(shown)


def _order(problem: Problem) -> tuple[int, int]:
    """By place; what has none comes first."""
    return (-1, -1) if problem.place is None else (problem.place.start, problem.place.end)


def _headline(query: str | None, where: str, message: str) -> str:
    origin = ", ".join(part for part in (f"query {query}" if query else "", where) if part)
    return f"{origin}: {message}" if origin else message


def _hint(hint: str, margin: str) -> list[str]:
    return [f"  {margin} = {hint}"] if hint else []


def _position(text: str, offset: int) -> tuple[int, int, int, int]:
    """Line and column, counted from one, and where the line begins and ends."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text.count("\n", 0, offset) + 1, offset - start + 1, start, len(text) if end < 0 else end


def _excerpt(line: str, number: str, first: int, behind: int) -> list[str]:
    """The source line, cut around the caret where it is too long, and the caret below it."""
    cut = 0 if first < WIDTH * 3 // 4 else first - WIDTH // 2
    before, after = ("..." if cut else ""), ("..." if len(line) > cut + WIDTH else "")
    shown = printable(line[cut : cut + WIDTH]).rstrip()
    length = max(1, min(behind, len(line.rstrip()), cut + WIDTH) - first)
    indent = " " * (len(before) + first - cut)
    return [f"  {number} | {before}{shown}{after}", f"  {' ' * len(number)} | {indent}{'^' * length}"]


def printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
