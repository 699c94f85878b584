"""Changes of queries: each is a function from a query to a query, so that changes can be joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from typing import TypeVar, cast

from elsinore.planner.language.syntax import (
    Aggregate,
    And,
    Attribute,
    Equivalence,
    EventType,
    Expression,
    Grouping,
    Kleene,
    Matches,
    Node,
    Not,
    Or,
    Pattern,
    Query,
    Seq,
    Summary,
    nodes,
)
from elsinore.planner.language.walk import bound, leaves, listed, map_readers, readers, variables

Edit = Callable[[Query], Query]
Some = TypeVar("Some", bound=Node)


def unchanged(query: Query) -> Query:
    """Return a query as it is."""
    return query


def both(first: Edit, second: Edit) -> Edit:
    """Return the edit that makes two changes."""
    return lambda query: second(first(query))


def rewritten(node: Some, change: Callable[[Node], Node | None]) -> Some | None:
    """Return a node with its parts changed; a part that becomes None is left out, and what needs it too."""
    found = change(node)
    if found is not node:
        return cast("Some | None", found)
    changed: dict[str, object] = {}
    for one in fields(node):  # type: ignore[arg-type]
        value = getattr(node, one.name)
        if isinstance(value, Node):
            part = rewritten(value, change)
            if part is None:
                return None
            changed[one.name] = part
        elif isinstance(value, tuple):
            parts = [rewritten(part, change) if isinstance(part, Node) else part for part in value]
            kept = tuple(part for part in parts if part is not None)
            if isinstance(node, Seq | Or | And) and not kept:
                return None
            changed[one.name] = kept
    return replace(node, **changed)  # type: ignore[type-var]


def _edit(change: Callable[[Node], Node | None]) -> Edit:
    def edit(query: Query) -> Query:
        return rewritten(query, change) or query

    return edit


def exchanged(target: Node, new: Node | None) -> Edit:
    """Return the edit that puts another node in the place of one, or leaves it out."""
    return _edit(lambda node: new if _same(node, target) else node)


def altered(target: Some, change: Callable[[Some], Node]) -> Edit:
    """Return the edit that changes one node, as it is by then."""
    return _edit(lambda node: change(cast(Some, node)) if _same(node, target) else node)


def _same(node: Node, target: Node) -> bool:
    """Return whether a node is the same part of the text; other changes may have changed what is inside."""
    return type(node) is type(target) and getattr(node, "place", None) == target.place  # type: ignore[attr-defined]


def renamed_type(old: str, new: str) -> Edit:
    """Return the edit that writes another event type; names that were the type follow it."""

    def edit(query: Query) -> Query:
        taken = new in query.types

        def change(node: Node) -> Node:
            match node:
                case EventType(name) if name == old:
                    return replace(
                        node, name=new, variable=new if node.variable == old and not taken else node.variable
                    )
                case Attribute() | Summary() | Grouping() if node.variable == old and not taken:
                    return replace(node, variable=new)
                case Aggregate() if node.variable == old and not taken:
                    return replace(node, variable=new, text=node.text.replace(f"({old}", f"({new}", 1))
            return node

        return rewritten(query, change) or query

    return edit


def renamed_attribute(where: Node, old: str, new: str) -> Edit:
    """Return the edit that reads another attribute inside of one predicate."""

    def change(node: Node) -> Node:
        match node:
            case Attribute(name=name) if name == old:
                return replace(node, name=new)
            case Summary(attribute=name) if name == old:
                return replace(node, attribute=new)
        return node

    return altered(where, lambda node: rewritten(node, change) or node)


def without_key(attribute: str) -> Edit:
    """Return the edit that takes an attribute out of the equivalences and of GROUP-BY."""

    def change(node: Node) -> Node | None:
        match node:
            case Equivalence(attributes) if attribute in attributes:
                left = tuple(name for name in attributes if name != attribute)
                return replace(node, attributes=left) if left else None
            case Grouping(name) if name == attribute:
                return None
        return node

    return _edit(change)


def without_variables(query: Query, gone: Collection[str]) -> Query:
    """Return a query without the predicates that read one of these variables."""
    kept = [one for one in query.predicates if not {reader.variable for reader in readers(one)} & set(gone)]
    return replace(query, predicates=tuple(kept))


def without_negation(target: Not) -> Edit:
    """Return the edit that leaves out a NOT, and what is asked of the events inside."""

    def edit(query: Query) -> Query:
        return without_variables(exchanged(target, None)(query), variables(target.part))

    return edit


def affirmed(target: Not) -> Edit:
    """Return the edit that looks for the events that a NOT forbids."""
    return altered(target, lambda node: node.part)


def with_bounds(target: Kleene, least: int, most: int | None) -> Edit:
    """Return the edit that changes how often a part repeats."""
    return altered(target, lambda node: replace(node, least=least, most=most))


def optional(target: Pattern) -> Edit:
    """Return the edit that lets a part be absent."""

    def change(node: Pattern) -> Pattern:
        if isinstance(node, Kleene):
            return replace(node, least=0)
        return Kleene(node, 0, 1, place=node.place)

    return altered(target, change)


def swapped(order: Collection[int]) -> Edit:
    """Return the edit that puts the parts of the pattern into another order."""

    def edit(query: Query) -> Query:
        if not isinstance(query.pattern, Seq):
            return query
        parts = query.pattern.parts
        return replace(query, pattern=replace(query.pattern, parts=tuple(parts[number] for number in order)))

    return edit


def shortened(query: Query, most: int) -> Query:
    """Return the query whose repetitions bind `most` events, or as few as they must where that is more.

    With skip-till-any-match each of its matches is a match of the query.
    """
    read = [reader for one in query.predicates for reader in readers(one)]
    summarised = {reader.variable for reader in read if isinstance(reader, Summary)}
    single: set[str | None] = set()

    def change(node: Node) -> Node:
        if not isinstance(node, Kleene):
            return node
        part = rewritten(node.part, change) or node.part
        if most == node.least == 1 and isinstance(part, EventType) and part.variable not in summarised:
            single.add(part.variable)
            return part
        longest = max(most, node.least)
        return replace(node, part=part, most=longest if node.most is None else min(node.most, longest))

    pattern = rewritten(query.pattern, change) or query.pattern
    kept = tuple(one for one in query.predicates if not any(_is_next(reader, single) for reader in readers(one)))
    return replace(query, pattern=pattern, predicates=kept)


def _is_next(reader: Attribute | Summary, variables: Collection[str | None]) -> bool:
    """Return whether a predicate reads the next event of one of these variables: a list of one event has none."""
    return isinstance(reader, Attribute) and reader.next and reader.variable in variables


def lists_may_be_short(query: Query) -> bool:
    """Return whether a query has a match only if it has one whose repetitions bind as few events as they may.

    Then each part of a list that is long enough has to match, too: nothing may relate a whole list, or its ends, to
    other events.
    """
    if query.semantics != "any" or any(isinstance(node, Not) for node in nodes(query.pattern)):
        return False
    repeated = listed(query.pattern)
    return not any(_relates(list(readers(one)), repeated, query) for one in query.predicates)


def _relates(read: Sequence[Attribute | Summary], lists: Collection[str], query: Query) -> bool:
    """Return whether a predicate relates events of a list to each other, or its ends to other events."""
    if any(isinstance(reader, Summary) or (reader.next and _least(query, reader.variable) > 1) for reader in read):
        return True
    several = len({reader.variable for reader in read}) > 1
    return several and not query.detects and any(reader.variable in lists for reader in read)


def _least(query: Query, variable: str) -> int:
    """Return the most events that a repetition around a variable needs."""
    around = (node for node in nodes(query.pattern) if isinstance(node, Kleene) and variable in variables(node))
    return max((node.least for node in around), default=1)


def whole_rows(query: Query) -> Query:
    """Return a query for the whole events of matches, as far as that means the same: to show an example.

    What an aggregation query asks of neighbours is asked of the last event of one list and the first of the next.
    """
    named = {
        leaf.variable: leaf.variable.replace("#", "_")
        for leaf in leaves(query.pattern)
        if leaf.variable is not None and "#" in leaf.variable
    }
    order = [leaf.variable for leaf in bound(query.pattern)]
    lists = listed(query.pattern) if not query.detects else frozenset[str]()

    def change(node: Node) -> Node:
        if isinstance(node, EventType) and node.variable in named:
            return replace(node, variable=named[node.variable])
        return node

    def related(one: Expression) -> Expression:
        names = {reader.variable for reader in readers(one)}
        if len(names) < 2 or not names & lists or not names <= set(order):
            return one
        first = min(names, key=order.index)

        def end(reader: Attribute | Summary) -> Expression:
            if reader.variable not in lists or isinstance(reader, Summary):
                return reader
            return Summary("LAST" if reader.variable == first else "FIRST", reader.variable, reader.name)

        return map_readers(one, end)

    returns = query.returns if isinstance(query.returns, Matches) else Matches()
    changed = rewritten(replace(query, predicates=tuple(map(related, query.predicates))), change) or query
    return replace(changed, returns=replace(returns, items=()), slide=None, limit=None)
