"""Check the names of variables: their definitions in the pattern, and the references to them."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.language.errors import Problem, quote
from elsinore.planner.language.suggest import also, did_you_mean, those
from elsinore.planner.language.syntax import Aggregate, Attribute, Grouping, Matches, Query, Summary
from elsinore.planner.language.walk import leaves, occurrences, readers, variables


def variables_are_unique(query: Query) -> Iterator[Problem]:
    """Check that each variable stands once in the pattern, so that it names one position."""
    seen = set()
    for leaf in leaves(query.pattern):
        if leaf.variable in seen:
            hint = "give each event type a variable of its own"
            yield Problem(f"the variable {quote(leaf.variable or '')} is used twice in the pattern", hint, leaf.place)
        seen.add(leaf.variable)


def variables_are_not_types(query: Query) -> Iterator[Problem]:
    """Check that no variable has the name of another event type: in `SEQ(A B, B)`, `B.v` could mean either B."""
    types = occurrences(query.pattern)
    for leaf in leaves(query.pattern):
        if leaf.variable and leaf.variable in types and leaf.variable != leaf.name:
            message = f"the variable {quote(leaf.variable)} has the name of another event type of the pattern"
            yield Problem(message, "give it another name", leaf.place)


def names_are_known(query: Query) -> Iterator[Problem]:
    """Check that each reference names a variable of the pattern, or a type that stands once in it."""
    known = variables(query.pattern)
    types = occurrences(query.pattern)
    for user in _users(query):
        name = user.variable
        if name is None or name in known or types[name] == 1:
            continue
        if types[name] > 1:
            first, second = f"{name} {name.lower()}1", f"{name} {name.lower()}2"
            hint = f"give each a variable, such as {first} and {second}, and name one of these"
            yield Problem(f"{quote(name)} occurs {types[name]} times in the pattern", hint, user.place)
        else:
            yield _unknown(user, {name for name in {*known, *types} if "#" not in name and types[name] < 2})


def _users(query: Query) -> Iterator[Grouping | Aggregate | Attribute | Summary]:
    """Yield all parts of a query that can name a variable."""
    if not isinstance(query.returns, Matches):
        yield from query.returns
    yield from (item.value for item in query.items)
    yield from query.group_by
    for predicate in query.predicates:
        yield from readers(predicate)


def _unknown(user: Grouping | Aggregate | Attribute | Summary, names: set[str]) -> Problem:
    name = user.variable or ""
    have = f"the pattern has {those(names)}" if names else "give the event types variables"
    message = f"the pattern has no variable or event type {quote(name)}"
    return Problem(message, also(have, did_you_mean(name, names)), user.place)
