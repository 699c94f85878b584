"""Problems of workloads: what is wrong, where, and what to write instead.

This module imports no room, because clients without any room raise these errors too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_LINE_WIDTH = 100
"""Characters of a source line that a message shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the workload's text: the offsets of its first character and after its last."""

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
        """Return the problem as text for the user, with its line of the workload and a caret."""
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
    """The error for a workload that cannot be run; `problems` holds everything that is wrong with it.

    A service sends the message along with the problems; `told` is that message, None without a service.
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
    """Return the sort key of a problem: its place; problems without a place come first."""
    return (-1, -1) if problem.place is None else (problem.place.start, problem.place.end)


def _headline(query: str | None, where: str, message: str) -> str:
    origin = ", ".join(part for part in (f"query {query}" if query else "", where) if part)
    return f"{origin}: {message}" if origin else message


def _hint(hint: str, margin: str) -> list[str]:
    return [f"  {margin} = {hint}"] if hint else []


def _position(text: str, offset: int) -> tuple[int, int, int, int]:
    """Return line and column, counted from one, and the offsets where the line begins and ends."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text.count("\n", 0, offset) + 1, offset - start + 1, start, len(text) if end < 0 else end


def _excerpt(line: str, number: str, first: int, behind: int) -> list[str]:
    """Return the source line, cut around the caret if it is too long, and the line with the caret."""
    cut = 0 if first < MAX_LINE_WIDTH * 3 // 4 else first - MAX_LINE_WIDTH // 2
    before, after = ("..." if cut else ""), ("..." if len(line) > cut + MAX_LINE_WIDTH else "")
    shown = printable(line[cut : cut + MAX_LINE_WIDTH]).rstrip()
    length = max(1, min(behind, len(line.rstrip()), cut + MAX_LINE_WIDTH) - first)
    indent = " " * (len(before) + first - cut)
    return [f"  {number} | {before}{shown}{after}", f"  {' ' * len(number)} | {indent}{'^' * length}"]


def printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
