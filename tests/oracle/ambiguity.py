"""Check whether one sequence of event types can bind a variable that a query names in two ways.

Two runs read the same types side by side. Predicates on attributes are ignored: so a query that
is ambiguous here may still be harmless, but one that is not ambiguous here never is.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.expressions import predicates
from tests.oracle.pattern import Rest, Step, endings, steps
from tests.oracle.query import Pattern, Query, negations

Runs = tuple[Rest, Rest, bool]
"""The rests of two runs over one sequence, and whether they have bound it in two ways."""


def ambiguous(query: Query) -> bool:
    pairs = predicates(query.predicates).pairs
    named = {item.variable for item in query.aggregates if item.variable} | {
        variable for pair in pairs for variable in (pair.first, pair.second)
    }
    if not named:
        return False
    read = (*query.operands, *negations(query.pattern))
    if any(_two_ways(pattern, pattern, variable) for pattern in read for variable in named):
        return True
    others = [(p, q) for n, p in enumerate(query.operands) for q in query.operands[:n]]
    return any(_two_ways(p, q, None) for p, q in others)


def _two_ways(left: Pattern, right: Pattern, variable: str | None) -> bool:
    """Return whether both match one sequence, and, given a variable, bind it differently."""
    waiting: list[Runs] = [((left,), (right,), variable is None)]
    seen: set[Runs] = set()
    while waiting:
        runs = waiting.pop()
        if runs in seen:
            continue
        seen.add(runs)
        if runs[2] and endings(runs[0]) and endings(runs[1]):
            return True
        waiting.extend(_read_on(runs, variable))
    return False


def _read_on(runs: Runs, variable: str | None) -> Iterator[Runs]:
    for one in steps(runs[0]):
        for other in steps(runs[1]):
            if one.at.type == other.at.type:
                yield one.rest, other.rest, runs[2] or _differ(one, other, variable)


def _differ(one: Step, other: Step, variable: str | None) -> bool:
    return (one.at.variable == variable) != (other.at.variable == variable)
