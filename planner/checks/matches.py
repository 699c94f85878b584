"""Check queries that return matches, and refuse in others what only these can have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from elsinore.planner.checks.patterns import at_edge, nullable, obligatory, pattern_matches_events
from elsinore.planner.checks.predicates import form
from elsinore.planner.checks.returns import fixed
from elsinore.planner.language.errors import Problem, enumeration, quote
from elsinore.planner.language.syntax import (
    And,
    Attribute,
    Comparison,
    EventType,
    Expression,
    Kleene,
    Not,
    Pattern,
    Query,
    Summary,
    nodes,
)
from elsinore.planner.language.walk import bound, column, leaves, map_leaves, negated, readers, variables

# Aggregation queries


def limits_are_for_matches(query: Query) -> Iterator[Problem]:
    """Check that an aggregation query has no LIMIT."""
    if query.limit is not None:
        hint = "leave it out: a query that returns aggregates has one row per window and group"
        yield Problem("LIMIT is only for RETURN MATCHES", hint, query.limit_place)


def summaries_are_for_matches(query: Query) -> Iterator[Problem]:
    """Check that an aggregation query has no FIRST, LAST or aggregates in WHERE: these need a finished match."""
    for predicate in query.predicates:
        found = next((reader for reader in readers(predicate) if isinstance(reader, Summary)), None)
        if found:
            message = f"FIRST, LAST and aggregates in WHERE, such as {found}: these are for RETURN MATCHES"
            hint = "compare attributes of one event or of neighbours, such as X.a < 10 or X.a < NEXT(X).a"
            yield Problem(message, hint, found.place)


# Windows and LIMIT


def windows_do_not_slide(query: Query) -> Iterator[Problem]:
    """Check that there is no SLIDE: a match is found once, however many windows it would lie in."""
    if query.slide is not None:
        hint = f"a match is found once, if its events lie within {query.within}: leave SLIDE out"
        yield Problem("RETURN MATCHES takes no SLIDE", hint, query.slide.place)


def limits_are_above_zero(query: Query) -> Iterator[Problem]:
    if query.limit is not None and query.limit < 1:
        yield Problem("LIMIT must be above zero", "write a whole number, such as LIMIT 10", query.limit_place)


# Columns


def types_have_variables(query: Query) -> Iterator[Problem]:
    """Check that event types that stand more than once outside of NOT have variables, which name their columns."""
    times = Counter(leaf.name for leaf in bound(query.pattern))
    nameless = [leaf for leaf in bound(query.pattern) if times[leaf.name] > 1 and _is_nameless(leaf)]
    if nameless:
        names = enumeration(dict.fromkeys(quote(leaf.name) for leaf in nameless))
        verb = "stand" if len({leaf.name for leaf in nameless}) > 1 else "stands"
        message = f"{names} {verb} more than once in the pattern, so that a row could not say which event is which"
        yield Problem(message, f"give each a variable: PATTERN {_with_variables(query.pattern)}", nameless[0].place)


def variables_are_no_columns(query: Query) -> Iterator[Problem]:
    """Check that no variable has the name of a column that every row has, or of a grouping attribute."""
    for leaf in bound(query.pattern):
        name = column(leaf.variable or leaf.name)
        if name in fixed(query) or name in query.groups:
            what = "a grouping attribute" if name in query.groups else "a column of its own"
            message = f"every row has {what} called {quote(name)}"
            plain = leaf.variable == leaf.name or _is_nameless(leaf)
            hint = f"give the event type a variable, such as {leaf.name} x" if plain else "rename the variable"
            yield Problem(message, hint, leaf.place)


def items_are_distinct(query: Query) -> Iterator[Problem]:
    """Check that the columns of items differ from each other and from those that every row has."""
    seen: set[str] = set()
    for item in query.items:
        if item.label in (*fixed(query), *query.groups):
            message = f"every row has a column {quote(item.label)} of its own"
            yield Problem(message, "choose another name", item.place)
        elif item.label in seen:
            hint = "leave one out, or name it with AS"
            yield Problem(f"two columns are called {quote(item.label)}", hint, item.place)
        seen.add(item.label)


def summaries_are_well_formed(query: Query) -> Iterator[Problem]:
    """Check that COUNT counts events, and that the other functions read an attribute."""
    for summary in _summaries(query):
        function, variable = summary.function, summary.variable
        if function == "COUNT" and summary.attribute:
            yield Problem("COUNT counts events, not attributes", f"write COUNT({variable})", summary.place)
        elif function != "COUNT" and summary.attribute is None:
            message = f"{function} is taken over an attribute, not over events"
            yield Problem(message, f"write {replace(summary, attribute='attribute')}", summary.place)


def summaries_have_events(query: Query) -> Iterator[Problem]:
    """Check that neither items, nor FIRST, LAST or aggregates in WHERE name a variable inside NOT."""
    absent = negated(query.pattern)
    attributes = [item.value for item in query.items if isinstance(item.value, Attribute)]
    found: list[Attribute | Summary] = [*attributes, *_summaries(query)]
    for reader in found:
        if reader.variable in absent:
            message = f"{quote(column(reader.variable))} stands inside of NOT: no event of a match is bound to it"
            yield Problem(message, f"name a variable outside of NOT instead of {reader}", reader.place)


# The pattern


def pattern_needs_events(query: Query) -> Iterator[Problem]:
    """Check that the pattern does not match without events; operands of AND are checked one by one."""
    if not isinstance(query.pattern, And):
        yield from pattern_matches_events(query)


def conjunctions_are_in_place(query: Query) -> Iterator[Problem]:
    """Check that AND is not repeated, and that it stands on top where the order of events decides what is left out."""
    under = {id(inner) for node in nodes(query.pattern) if isinstance(node, Kleene) for inner in nodes(node)}
    for node in nodes(query.pattern):
        if not isinstance(node, And):
            continue
        if id(node) in under:
            hint = "repeat its parts, as in A+ & B+, or write each repetition out"
            yield Problem("AND cannot be repeated or optional", hint, node.place)
        elif node is not query.pattern and query.semantics != "any":
            name = {"next": "skip-till-next-match", "contiguous": "contiguous"}[query.semantics]
            message = f"with {name} AND stands at the top of a pattern only"
            yield Problem(message, "write p & q for two whole patterns, or use skip-till-any-match", node.place)


def operands_match_events(query: Query) -> Iterator[Problem]:
    """Check the operands of AND: each matches an event, and has no NOT but between two of its events."""
    for node in nodes(query.pattern):
        for operand in node.parts if isinstance(node, And) else ():
            yield from _operand(operand)


def _operand(operand: Pattern) -> Iterator[Problem]:
    if isinstance(operand, Not):
        hint = "the operands of AND stand in no order: write SEQ(p & q, NOT n) or SEQ(p, NOT n, q)"
        yield Problem("NOT is a part of a SEQ, not of AND", hint, operand.place)
        return
    edges = {id(negation): negation for backwards in (False, True) for negation in at_edge(operand, backwards)}
    for negation in edges.values():
        hint = "the operands of AND stand in no order, so that nothing bounds it: put it between two events"
        yield Problem("NOT is at the edge of an operand of AND", hint, negation.place)
    if nullable(operand) and not edges:
        yield Problem("this operand of AND may be absent", obligatory(operand), operand.place)


# Predicates


def predicates_relate_events(query: Query) -> Iterator[Problem]:
    """Check that each predicate names a variable, and that NEXT relates neighbours of one variable."""
    known = variables(query.pattern)
    for predicate in query.predicates:
        used = list(readers(predicate))
        if not used:
            hint = "write X.attribute, with X a variable of the pattern"
            yield Problem("this predicate names no attribute", hint, predicate.place)
        elif all(reader.variable in known for reader in used):
            yield from _next(predicate, used)


def _next(predicate: Expression, used: list[Attribute | Summary]) -> Iterator[Problem]:
    following = next((reader for reader in used if isinstance(reader, Attribute) and reader.next), None)
    if following is None:
        return
    plain = [reader for reader in used if isinstance(reader, Attribute)]
    if len(plain) < len(used):
        message = f"NEXT({following.variable}) stands beside FIRST, LAST or an aggregate"
        hint = "NEXT relates two events that follow one another: write two predicates, joined by AND"
        yield Problem(message, hint, following.place)
    elif len({reader.variable for reader in used}) > 1:
        hint = f"between two variables NEXT is left out: write {following.variable}.{following.name}"
        yield Problem("NEXT relates two events of the same variable", hint, following.place)
    elif not isinstance(predicate, Comparison):
        hint = (
            f"write a comparison such as {following.variable}.a < NEXT({following.variable}).b, joined by AND to others"
        )
        yield Problem(f"NEXT({following.variable}) must be in a comparison of its own", hint, predicate.place)
    else:
        yield from form(predicate, plain)


def predicates_have_one_negation(query: Query) -> Iterator[Problem]:
    """Check that no predicate relates two NOTs, and that one relates NOT and match under skip-till-any-match alone.

    Under the other semantics a NOT decides which event comes next, before all events of the match are known.
    """
    insides = [variables(node) for node in nodes(query.pattern) if isinstance(node, Not)]
    absent = negated(query.pattern)
    for predicate in query.predicates:
        names = {reader.variable for reader in readers(predicate)}
        touched = [inside & names for inside in insides if inside & names]
        if len(touched) > 1:
            pair = enumeration(quote(column(min(inside))) for inside in touched)
            hint = "no two of them need be there at once: write one predicate for each"
            yield Problem(f"{pair} are inside of different NOTs", hint, predicate.place)
        elif touched and names - absent and names <= variables(query.pattern) and query.semantics != "any":
            inside, outside = column(min(touched[0])), column(min(names - absent))
            message = f"{quote(inside)} stands inside of NOT and {quote(outside)} outside"
            hint = "a predicate between NOT and the match needs SEMANTICS skip-till-any-match"
            yield Problem(message, hint, predicate.place)


def _summaries(query: Query) -> Iterator[Summary]:
    """Yield FIRST, LAST and aggregates, in RETURN and in WHERE."""
    for expression in (*(item.value for item in query.items), *query.predicates):
        yield from (reader for reader in readers(expression) if isinstance(reader, Summary))


def _is_nameless(leaf: EventType) -> bool:
    """Return whether `resolve` named the variable of an event type that stands more than once."""
    return leaf.variable is None or "#" in leaf.variable


def _with_variables(pattern: Pattern) -> Pattern:
    """Return the pattern with a variable for each event type that has none and stands more than once outside of NOT."""
    times = Counter(leaf.name for leaf in bound(pattern))
    outside = {id(leaf) for leaf in bound(pattern)}
    taken = {name for leaf in leaves(pattern) for name in (leaf.variable, leaf.name)}
    seen: Counter[str] = Counter()

    def name(leaf: EventType) -> EventType:
        if times[leaf.name] < 2 or id(leaf) not in outside or not _is_nameless(leaf):
            return leaf
        while True:
            seen[leaf.name] += 1
            fresh = f"{leaf.name.lower()}{seen[leaf.name]}"
            if fresh not in taken:
                taken.add(fresh)
                return replace(leaf, variable=fresh)

    return map_leaves(pattern, name)
