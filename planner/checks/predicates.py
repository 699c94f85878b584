"""Check the form of predicates: on one variable, or on two that are neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.language.errors import Problem, enumeration, quote
from elsinore.planner.language.syntax import (
    Arithmetic,
    Attribute,
    Comparison,
    Expression,
    Matches,
    Query,
    Summary,
    nodes,
)
from elsinore.planner.language.walk import negated, variables
from elsinore.planner.machines.automaton import follows
from elsinore.planner.machines.predicates import attributes

_ONE_EACH = "compare something of one event with something of the other, such as {0} < {1} or {0} + 1 < {1}"


def predicates_have_known_form(query: Query) -> Iterator[Problem]:
    """Check that each predicate reads one variable, or is one comparison of two neighbours.

    COGRA cannot evaluate others without constructing trends.
    """
    known = variables(query.pattern)
    for predicate in query.predicates:
        used = list(attributes(predicate))
        summaries = any(isinstance(node, Summary) for node in nodes(predicate))
        if not summaries and all(attribute.variable in known for attribute in used):
            yield from form(predicate, used)


def predicates_stay_on_their_side(query: Query) -> Iterator[Problem]:
    """Check that no predicate relates an event inside NOT to one outside: the former is in no trend."""
    absent = negated(query.pattern)
    for predicate in query.predicates:
        names = {attribute.variable for attribute in attributes(predicate)}
        if names & absent and names - absent and names <= variables(query.pattern):
            inside, outside = sorted(names & absent)[0], sorted(names - absent)[0]
            hint = "predicates inside of NOT relate its own events: write one for each side"
            message = f"{quote(inside)} stands inside of NOT and {quote(outside)} outside"
            yield Problem(message, hint, predicate.place)


def neighbours_can_meet(query: Query) -> Iterator[Problem]:
    """Check that the two variables of a predicate can be neighbours. The query must be well-formed otherwise."""
    if isinstance(query.returns, Matches):
        return
    read = [(predicate, sorted({one.variable for one in attributes(predicate)})) for predicate in query.predicates]
    pairs = follows(query.pattern) if any(len(names) == 2 for _, names in read) else set()
    for predicate, names in read:
        if len(names) == 2 and not pairs & {(names[0], names[1]), (names[1], names[0])}:
            message = f"events of {quote(names[0])} and {quote(names[1])} never stand next to each other in a trend"
            hint = "predicates on two variables relate neighbours; use variables that can follow each other"
            yield Problem(message, hint, predicate.place)


def form(predicate: Expression, used: list[Attribute]) -> Iterator[Problem]:
    """Check that a predicate, which reads `used`, is on one variable, or one comparison of two events."""
    names = list(dict.fromkeys(attribute.variable for attribute in used))
    readers = {(attribute.variable, attribute.next) for attribute in used}
    if not names:
        yield Problem(
            "this predicate names no attribute", "write X.attribute, with X a variable of the pattern", predicate.place
        )
    elif len(names) > 2:
        message = f"this predicate relates {len(names)} variables: {enumeration(map(quote, names))}"
        yield Problem(message, "write a predicate for each two neighbours, joined by AND", predicate.place)
    elif len(names) == 2:
        yield from _two_variables(predicate, used, names)
    elif len(readers) == 2:
        yield from _two_sides(predicate, (f"{names[0]}.a", f"NEXT({names[0]}).b"))
    elif used[0].next:
        plain = f"{names[0]}.{used[0].name}"
        hint = f"write {plain} for every event, or compare it with the event before, as in {plain} < {used[0]}"
        yield Problem(f"NEXT({names[0]}) needs {names[0]} on the other side of the comparison", hint, predicate.place)


def _two_variables(predicate: Expression, used: list[Attribute], names: list[str]) -> Iterator[Problem]:
    following = next((attribute for attribute in used if attribute.next), None)
    if following:
        hint = f"between two variables NEXT is left out: write {following.variable}.{following.name}"
        yield Problem("NEXT relates two events of the same variable", hint, following.place)
    else:
        yield from _two_sides(predicate, (f"{names[0]}.a", f"{names[1]}.b"))


def _two_sides(predicate: Expression, example: tuple[str, str]) -> Iterator[Problem]:
    """Check that a predicate on two events is one comparison, and that each of its sides reads one of the events."""
    if not isinstance(predicate, Comparison):
        message = "a predicate on two events is a single comparison, or several joined by AND"
        hint = f"OR, NOT, IN and BETWEEN are for one event alone; write comparisons such as {example[0]} < {example[1]}"
        yield Problem(message, f"{hint}, joined by AND", predicate.place)
        return
    for side in (predicate.left, predicate.right):
        readers = {(attribute.variable, attribute.next) for attribute in attributes(side)}
        if len(readers) != 1:
            message = f"this side of the comparison reads {'both events' if readers else 'neither event'}"
            yield Problem(message, _hint(predicate, side, example), side.place)
            return


def _hint(predicate: Comparison, side: Expression, example: tuple[str, str]) -> str:
    """Return a hint for a side that does not read one event: for `A.v - B.v < 5`, the equivalent `A.v < B.v + 5`."""
    if (
        side is predicate.left
        and isinstance(side, Arithmetic)
        and side.operator == "-"
        and not list(attributes(predicate.right))
    ):
        moved = Comparison(predicate.operator, side.left, Arithmetic("+", side.right, predicate.right))
        return f"write {moved}"
    return _ONE_EACH.format(*example)
