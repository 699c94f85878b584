"""Whether patterns are equal up to a renaming, and what they have in common, by trying every assignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from elsinore.planner.detection.pattern import Condition, Event, Pattern

Renaming = dict[str, str]


def isomorphic(first: Pattern, second: Pattern) -> bool:
    return any(True for _ in renamings(first, second))


def renamings(first: Pattern, second: Pattern) -> Iterator[Renaming]:
    """Yield each way to name the events of one pattern like those of another, so that all that is asked is equal."""
    names = [event.name for event in first.events]
    for others in permutations([event.name for event in second.events]):
        to = dict(zip(names, others, strict=False))
        if len(names) == len(others) and _equal(first, second, to):
            yield to


def _equal(first: Pattern, second: Pattern, to: Renaming) -> bool:
    return (
        all(_asked(first, one) == _asked(second, second.by_name[to[one.name]]) for one in first.events)
        and {(to[x], to[y]) for x, y in first.before} == second.before
        and {_renamed(one, to) for one in first.conditions} == {_renamed(one, {}) for one in second.conditions}
    )


def _asked(pattern: Pattern, event: Event) -> object:
    edge = pattern.window if not event.positive and pattern.at_edge(event.name) else None
    return event.type, event.own, event.kind, event.least, event.most, edge


def _renamed(condition: Condition, to: Renaming) -> object:
    names = tuple(to.get(name, name) for name in condition.events)
    return condition.text, frozenset(names) if condition.symmetric else names


def projections(pattern: Pattern) -> Iterator[Pattern]:
    """Yield all subpatterns: sets of events, in which negated ones have all that they need."""
    names = [event.name for event in pattern.events]
    for size in range(1, len(names) + 1):
        for chosen in combinations(names, size):
            inner = [event.name for event in pattern.negated if event.name in chosen]
            if len(inner) < size and all(pattern.needs[name] <= set(chosen) for name in inner):
                yield pattern.projection(chosen)


def common(first: Pattern, second: Pattern) -> list[Pattern]:
    """The common subpatterns, each once up to renaming."""
    found: list[Pattern] = []
    theirs = list(projections(second))
    for part in projections(first):
        if any(isomorphic(part, other) for other in theirs) and not any(isomorphic(part, one) for one in found):
            found.append(part)
    return found


def maximal(found: Sequence[Pattern]) -> list[Pattern]:
    return [one for one in found if not any(_inside(one, other) for other in found if other is not one)]


def _inside(small: Pattern, large: Pattern) -> bool:
    if len(small.events) >= len(large.events):
        return False
    return any(isomorphic(small, part) for part in projections(large) if len(part.events) == len(small.events))
