"""How far the events get in a pattern: its prefixes are queries of their own."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from elsinore.planner.language.syntax import Aggregate, EventType, Kleene, Not, Pattern, Query, Seq
from elsinore.planner.language.walk import plainly_named, readers, variables
from elsinore.reasons.cause import Reached
from elsinore.reasons.certain import mandatory
from elsinore.reasons.trial import Trials

TRENDS = Aggregate("COUNT", None, None, "COUNT(*)")
"""What a prefix of an aggregation query returns: its variables may not be those that the query aggregates."""


def longest(trials: Trials, absent: Set[EventType]) -> Reached:
    """Return the longest prefix of a query's pattern that has a match, with the events of one.

    `absent`: the leaves of the pattern that no event matches.
    """
    query = trials.query
    parts = parts_of(query.pattern)
    ends = [number for number, part in enumerate(parts) if not isinstance(part, Not)]
    possible = sum(absent.isdisjoint(mandatory(Seq(parts[: end + 1]))) for end in ends)
    for count in range(min(possible, len(ends) - 1), 0, -1):
        asked = prefix(query, parts[: ends[count - 1] + 1])
        events = trials.example(asked)
        if events is not None:
            text = str(plainly_named(asked.pattern))
            return Reached(count, len(ends), text, _text(parts[ends[count]]), events)
    return Reached(0, len(ends), "", _text(parts[ends[0]]))


def parts_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return the parts of a sequence; of a repeated sequence, those of its first turn; any other pattern is one."""
    if isinstance(pattern, Kleene) and isinstance(pattern.part, Seq):
        return pattern.part.parts
    return pattern.parts if isinstance(pattern, Seq) else (pattern,)


def prefix(query: Query, parts: tuple[Pattern, ...]) -> Query:
    """Return the query for the matches of these parts, with the predicates that read nothing else."""
    pattern = Seq(parts)
    known = variables(pattern)
    kept = tuple(one for one in query.predicates if {reader.variable for reader in readers(one)} <= known)
    returns = query.returns if query.detects else (TRENDS,)
    return replace(query, pattern=parts[0] if len(parts) == 1 else pattern, predicates=kept, returns=returns)


def _text(part: Pattern) -> str:
    return str(plainly_named(part))
