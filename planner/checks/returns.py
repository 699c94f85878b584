"""Check what a query returns."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.language.errors import Problem, quote
from elsinore.planner.language.suggest import also, did_you_mean, those
from elsinore.planner.language.syntax import Aggregate, Grouping, Matches, Query
from elsinore.planner.language.walk import negated


def fixed(query: Query) -> tuple[str, ...]:
    """Return the columns that every row of a query has, whatever it returns."""
    return ("query", *query.bounds)


def returns_aggregates(query: Query) -> Iterator[Problem]:
    """Check that RETURN has at least one aggregate, or MATCHES."""
    if not isinstance(query.returns, Matches) and not query.aggregates:
        hint = "add one, such as COUNT(*)"
        yield Problem("RETURN has no aggregate", hint, query.returns[0].place)


def aggregates_are_well_formed(query: Query) -> Iterator[Problem]:
    """Check that COUNT is taken over trends or events, and the other functions over an attribute."""
    for item in query.aggregates:
        function, variable, attribute = item.function, item.variable, item.attribute
        if function == "COUNT" and attribute:
            hint = f"write COUNT({variable}) for the number of events, or COUNT(*) for the number of trends"
            yield Problem("COUNT counts events or trends, not attributes", hint, item.place)
        elif function != "COUNT" and variable is None:
            yield Problem(
                f"{function} is taken over an attribute, not over *", f"write {function}(X.attribute)", item.place
            )
        elif function != "COUNT" and attribute is None:
            message = f"{function} is taken over an attribute, not over events"
            yield Problem(message, f"write {function}({variable}.attribute)", item.place)


def aggregates_have_events(query: Query) -> Iterator[Problem]:
    """Check that no aggregate names a variable inside NOT: no event of a trend is bound to it."""
    absent = negated(query.pattern)
    for item in query.aggregates:
        if item.variable in absent:
            message = f"{quote(item.variable)} stands inside of NOT: no event of a trend is bound to it"
            yield Problem(message, "aggregate over a variable outside of NOT", item.place)


def columns_are_grouped(query: Query) -> Iterator[Problem]:
    """Check that RETURN names no attribute that is not in GROUP-BY: a row stands for a group."""
    for item in _groupings(query):
        if item.attribute not in query.groups:
            hint = f"the query groups by {those(query.groups)}" if query.groups else f"add GROUP-BY {item.attribute}"
            message = f"RETURN names {quote(item.attribute)}, which is not in GROUP-BY"
            yield Problem(message, also(hint, did_you_mean(item.attribute, query.groups)), item.place)


def groupings_keep_their_names(query: Query) -> Iterator[Problem]:
    """Check that grouping attributes have no alias: rows are told apart by the names that the events have for them."""
    for item in _groupings(query):
        if item.alias:
            hint = f"write {item.attribute}; AS names aggregates"
            yield Problem("AS for a grouping attribute is not supported: it keeps its own name", hint, item.place)


def columns_are_distinct(query: Query) -> Iterator[Problem]:
    """Check that column names are distinct: a repeated one could not be addressed."""
    for grouping in query.group_by:
        if grouping.attribute in fixed(query):
            message = f"every row has a column {quote(grouping.attribute)} of its own"
            yield Problem(message, "call the attribute something else in the events", grouping.place)
    seen: set[str] = set()
    for item in () if isinstance(query.returns, Matches) else query.returns:
        column = item.attribute if isinstance(item, Grouping) else item.label
        if column in seen or (isinstance(item, Aggregate) and column in (*fixed(query), *query.groups)):
            yield _twice(query, item, column)
        seen.add(column)


def _twice(query: Query, item: Grouping | Aggregate, column: str) -> Problem:
    if column in fixed(query):
        return Problem(f"every row has a column {quote(column)} of its own", "choose another name", item.place)
    hint = "leave one out" if isinstance(item, Grouping) else "leave one out, or name it with AS"
    return Problem(f"two columns are called {quote(column)}", hint, item.place)


def _groupings(query: Query) -> Iterator[Grouping]:
    if not isinstance(query.returns, Matches):
        yield from (item for item in query.returns if isinstance(item, Grouping))
