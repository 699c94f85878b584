"""Check that the pattern binds its named variables in one way only, and that its machine has a reasonable size."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import Query
from elsinore.planner.machines.ambiguity import ambiguity
from elsinore.planner.machines.machine import TooComplexError
from elsinore.planner.plans.planning import plan_query


def named_variables_are_bound_in_one_way(query: Query) -> Iterator[Problem]:
    if found := ambiguity(query):
        hint = "name no variable in aggregates and predicates on neighbours, or make the pattern unambiguous"
        yield Problem(f"the pattern is ambiguous: {found}", hint, query.pattern.place)


def trends_can_be_counted(query: Query) -> Iterator[Problem]:
    try:
        plan_query(query)
    except TooComplexError as error:
        yield Problem(error.message, error.hint, query.pattern.place)
