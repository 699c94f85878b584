"""Short lists of query names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

FEWEST = 4
"""Fewest consecutive names that are written as a range: three are as short one by one."""

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})", re.DOTALL)


def runs(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return names, with consecutive numbers as a range, and how many each stands for: q1, q2, q3, q4 is (q1-q4, 4)."""
    found = []
    for (_, numbered), group in groupby(enumerate(names), lambda item: _run(*item)):
        run = [name for _, name in group]
        if numbered and len(run) >= FEWEST:
            found.append((f"{run[0]}-{run[-1]}", len(run)))
        else:
            found += [(name, 1) for name in run]
    return found


def listed(names: Iterable[str]) -> str:
    return ", ".join(text for text, _ in runs(names))


def _run(place: int, name: str) -> tuple[tuple[str, int], bool]:
    """Return the key that the names of a run share, text before the number and place less number; and if it has one."""
    parts = _NUMBERED.fullmatch(name)
    return ((parts[1], place - int(parts[2])), True) if parts else ((name, place), False)
