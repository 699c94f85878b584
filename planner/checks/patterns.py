"""Check the form of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import And, EventType, Kleene, Not, Or, Pattern, Query, Seq, nodes
from elsinore.planner.machines.automaton import operands

MOST_POSITIONS = 1000


def repetitions_make_sense(query: Query) -> Iterator[Problem]:
    """Check that repetitions are neither empty nor too large: `{n,m}` is written out when the automaton is built."""
    kleenes = [node for node in nodes(query.pattern) if isinstance(node, Kleene)]
    for kleene in kleenes:
        if kleene.most == 0:
            yield Problem("this part is repeated zero times", "leave it out, or write {1}", kleene.place)
        elif kleene.most is not None and kleene.least > kleene.most:
            hint = f"write {{{kleene.most},{kleene.least}}}"
            yield Problem("the upper bound of the repetition is below the lower one", hint, kleene.place)
    if _positions(query.pattern) > MOST_POSITIONS:
        message = f"the pattern has more than {MOST_POSITIONS:,} positions when its repetitions are written out"
        yield Problem(message, "write + or {n,} for as many as there are, or a smaller number", query.pattern.place)


def and_stands_on_top(query: Query) -> Iterator[Problem]:
    """Check that AND stands only at the top: `p & q` pairs whole trends, so it cannot be a part of one."""
    for operand in operands(query.pattern):
        for node in nodes(operand):
            if isinstance(node, And):
                hint = "write p & q for two whole patterns, or SEQ(p, q) for one after the other"
                yield Problem("AND is allowed only at the top of a pattern", hint, node.place)


def negations_are_flat(query: Query) -> Iterator[Problem]:
    """Check that no NOT stands inside another one."""
    inner = {id(deeper): deeper for outer in negations(query.pattern) for deeper in negations(outer.part)}
    for negation in inner.values():
        hint = "leave out the inner NOT, or write the pattern that must not be there without it"
        yield Problem("NOT is inside of another NOT", hint, negation.place)


def negations_forbid_something(query: Query) -> Iterator[Problem]:
    """Check that no negated part matches without events: `A*` in `NOT A*` would always match."""
    for node in nodes(query.pattern):
        if isinstance(node, Not) and nullable(node.part) and not negations(node.part):
            message = "the pattern inside of NOT can match without any event, so it would always match"
            yield Problem(message, obligatory(node.part), node.place)


def pattern_matches_events(query: Query) -> Iterator[Problem]:
    """Check that the pattern does not match without events: a trend has at least one event."""
    for operand in operands(query.pattern):
        if not nullable(operand):
            continue
        if all(isinstance(part, Not) for part in _elements(operand)):
            message = "the pattern has nothing but NOT, which matches no event"
            yield Problem(message, "add an event type that a trend is made of: SEQ(A, NOT B)", operand.place)
        else:
            yield Problem(
                "all parts of the pattern are optional, so it can match without any event",
                obligatory(operand),
                operand.place,
            )


def edges_have_windows(query: Query) -> Iterator[Problem]:
    """Check that the pattern has no NOT at an edge, if there is no SLIDE.

    NOT at an edge of the pattern reaches to the edge of the window. Without a SLIDE that moves with every event.
    """
    if query.slide is not None:
        return
    hint = f"add a SLIDE, such as SLIDE {query.within} for windows that do not overlap"
    for operand in operands(query.pattern):
        for name, backwards in (("start", False), ("end", True)):
            for negation in at_edge(operand, backwards)[:1]:
                yield Problem(f"NOT at the {name} of the pattern needs a SLIDE", hint, negation.place)


def _positions(pattern: Pattern) -> int:
    match pattern:
        case EventType():
            return 1
        case Kleene():
            return _positions(pattern.part) * max(1, pattern.least, pattern.most or 0)
        case Not():
            return _positions(pattern.part)
        case Seq() | Or() | And():
            return sum(map(_positions, pattern.parts))


def nullable(pattern: Pattern) -> bool:
    """Return whether a pattern can match without any event."""
    match pattern:
        case EventType():
            return False
        case Not():
            return True
        case Kleene():
            return pattern.least == 0 or nullable(pattern.part)
        case Seq() | And():
            return all(map(nullable, pattern.parts))
        case Or():
            return any(map(nullable, pattern.parts))


def negations(pattern: Pattern) -> list[Not]:
    return [node for node in nodes(pattern) if isinstance(node, Not)]


def _elements(pattern: Pattern) -> Iterator[EventType | Not]:
    """Yield the event types of a pattern, and its negations as a whole."""
    match pattern:
        case EventType() | Not():
            yield pattern
        case Kleene():
            yield from _elements(pattern.part)
        case Seq() | Or() | And():
            for part in pattern.parts:
                yield from _elements(part)


def obligatory(pattern: Pattern) -> str:
    """Return a hint that says how to write the pattern so that it matches an event."""
    match pattern:
        case Kleene(least=0, most=1):
            return f"write {pattern.part}"
        case Kleene(least=0):
            return f"write {replace(pattern, least=1)}"
    return "make one part mandatory: write + instead of *, or leave out the ?"


def at_edge(pattern: Pattern, backwards: bool) -> list[Not]:
    """Return the negations that no event of the pattern need precede (or, if `backwards`, follow)."""
    inner = partial(at_edge, backwards=backwards)
    match pattern:
        case EventType():
            return []
        case Not():
            return [pattern]
        case Kleene():
            return inner(pattern.part)
        case Or() | And():
            return [negation for part in pattern.parts for negation in inner(part)]
        case Seq():
            found: list[Not] = []
            for part in reversed(pattern.parts) if backwards else pattern.parts:
                found += inner(part)
                if not nullable(part):
                    break
            return found
