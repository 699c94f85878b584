"""Bring queries into canonical form: every event type has a variable, and every name is one of these."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from elsinore.planner.language.syntax import (
    Aggregate,
    Attribute,
    EventColumns,
    EventType,
    Grouping,
    Item,
    Matches,
    Pattern,
    Query,
    Summary,
)
from elsinore.planner.language.walk import leaves, map_leaves, map_readers, occurrences


def resolve(query: Query) -> Query:
    """Return a query with a variable for every event type; unknown names stay as they are.

    The variable of a type is the one that the user gave. Without one it is the name of the type, if that stands once
    and is no other type's variable. Otherwise it is one that no user can write (`B#2` for the second B).
    """
    pattern = _named(query.pattern)
    names = _names(pattern)

    def item(part: Grouping | Aggregate) -> Grouping | Aggregate:
        if isinstance(part, Grouping) or part.variable is None:
            return part
        return replace(part, variable=names.get(part.variable, part.variable))

    def reader(part: Attribute | Summary) -> Attribute | Summary:
        return replace(part, variable=names.get(part.variable, part.variable))

    def column(part: Item) -> Item:
        return replace(part, value=reader(part.value))

    def returns() -> tuple[Grouping | Aggregate, ...] | Matches:
        if isinstance(query.returns, Matches):
            return replace(query.returns, items=tuple(map(column, query.returns.items)))
        return tuple(map(item, query.returns))

    return replace(
        query,
        pattern=pattern,
        returns=returns(),
        predicates=tuple(map_readers(predicate, reader) for predicate in query.predicates),
    )


def with_events(query: Query, columns: EventColumns) -> Query:
    """Return a query that knows the columns of whole events, if it returns these."""
    if not isinstance(query.returns, Matches) or query.returns.items:
        return query
    return replace(query, returns=replace(query.returns, events=columns))


def _named(pattern: Pattern) -> Pattern:
    counts = occurrences(pattern)
    taken = {leaf.variable for leaf in leaves(pattern)}
    seen: Counter[str] = Counter()

    def name(leaf: EventType) -> EventType:
        seen[leaf.name] += 1
        plain = counts[leaf.name] == 1 and leaf.name not in taken
        return replace(leaf, variable=leaf.variable or (leaf.name if plain else f"{leaf.name}#{seen[leaf.name]}"))

    return map_leaves(pattern, name)


def _names(pattern: Pattern) -> dict[str, str]:
    """Map each name by which a user may refer to an event type to its variable."""
    counts = occurrences(pattern)
    types = {leaf.name: leaf.variable or "" for leaf in leaves(pattern) if counts[leaf.name] == 1}
    return types | {leaf.variable: leaf.variable for leaf in leaves(pattern) if leaf.variable}
