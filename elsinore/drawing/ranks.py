"""Assignment of a template's types to columns of a drawing, so that patterns read from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Pair = tuple[str, str]


def ranks(names: Sequence[str], edges: Iterable[Pair]) -> dict[str, int]:
    """Return the column of each type: the length of the longest path to it; a start type stands next to its successor.

    An edge whose target is further left is drawn backwards: it closes a loop of the pattern.
    """
    apart = [edge for edge in edges if edge[0] != edge[1]]
    order = _order(names, apart)
    forward = [(one, other) if order[one] < order[other] else (other, one) for one, other in apart]
    found = dict.fromkeys(names, 0)
    for name in sorted(names, key=order.__getitem__):
        found[name] = max((found[before] + 1 for before, after in forward if after == name), default=0)
    entered = {after for _, after in forward}
    for name in names:
        if name not in entered:
            found[name] = min((found[after] - 1 for before, after in forward if before == name), default=0)
    return found


def _order(names: Sequence[str], edges: Sequence[Pair]) -> dict[str, int]:
    """Return a topological order of the names; in a loop, the name that comes first in the patterns is next."""
    waiting = dict.fromkeys(names)
    placed: dict[str, int] = {}
    while waiting:
        held = {after for before, after in edges if before in waiting}
        name = next((name for name in waiting if name not in held), next(iter(waiting)))
        placed[name] = len(placed)
        del waiting[name]
    return placed
