"""Check that the queries of a workload can be run, and report all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from elsinore.planner.checks import (
    literals,
    matches,
    names,
    patterns,
    predicates,
    readings,
    returns,
    windows,
)
from elsinore.planner.checks.attributes import check_attributes
from elsinore.planner.language.errors import Problem, WorkloadError, quote
from elsinore.planner.language.parse import read
from elsinore.planner.language.resolve import resolve
from elsinore.planner.language.syntax import Query, Workload

__all__ = ["AGGREGATION_CHECKS", "CHECKS", "DETECTION_CHECKS", "LAST_CHECKS", "check", "check_attributes", "check_text"]

Check = Callable[[Query], Iterator[Problem]]

CHECKS: tuple[Check, ...] = (
    returns.returns_aggregates,
    returns.aggregates_are_well_formed,
    returns.aggregates_have_events,
    returns.columns_are_grouped,
    returns.groupings_keep_their_names,
    returns.columns_are_distinct,
    names.variables_are_unique,
    names.variables_are_not_types,
    names.names_are_known,
    patterns.repetitions_make_sense,
    patterns.negations_are_flat,
    patterns.negations_forbid_something,
    literals.predicates_are_conditions,
    literals.kinds_agree,
    literals.numbers_fit,
    windows.spans_can_be_counted,
    windows.slide_fits_window,
)
"""Checks of any resolved query; each runs whatever the others find."""

AGGREGATION_CHECKS: tuple[Check, ...] = (
    matches.limits_are_for_matches,
    matches.summaries_are_for_matches,
    patterns.and_stands_on_top,
    patterns.pattern_matches_events,
    patterns.edges_have_windows,
    predicates.predicates_have_known_form,
    predicates.predicates_stay_on_their_side,
)
"""Further checks of queries that return aggregates: what COUNT(*) and the like can be taken over."""

DETECTION_CHECKS: tuple[Check, ...] = (
    matches.windows_do_not_slide,
    matches.limits_are_above_zero,
    matches.types_have_variables,
    matches.variables_are_no_columns,
    matches.items_are_distinct,
    matches.summaries_are_well_formed,
    matches.summaries_have_events,
    matches.pattern_needs_events,
    matches.conjunctions_are_in_place,
    matches.operands_match_events,
    matches.predicates_relate_events,
    matches.predicates_have_one_negation,
)
"""Further checks of queries that return matches."""

LAST_CHECKS: tuple[Check, ...] = (
    predicates.neighbours_can_meet,
    readings.named_variables_are_bound_in_one_way,
    readings.trends_can_be_counted,
)
"""Checks of aggregation queries that build automata: each runs only on queries without a problem so far."""


def check(workload: Workload) -> Workload:
    """Resolve a workload; raise WorkloadError with all its problems."""
    return _checked(workload, ())


def check_text(text: str) -> Workload:
    """Parse and resolve a workload; raise WorkloadError with all problems of syntax and of meaning."""
    reading = read(text)
    return _checked(reading.workload, reading.problems)


def _checked(workload: Workload, known: tuple[Problem, ...]) -> Workload:
    resolved = tuple(map(resolve, workload.queries))
    problems = [*known, *_names(resolved)]
    for query in resolved:
        problems += [replace(problem, query=query.name) for problem in _problems(query)]
    if not resolved and not problems:
        problems.append(Problem("the workload is empty", "write a query: RETURN COUNT(*) PATTERN A+ WITHIN 1 minute"))
    if problems:
        raise WorkloadError(problems, workload.text)
    return replace(workload, queries=resolved)


def _problems(query: Query) -> list[Problem]:
    looks = (*CHECKS, *(DETECTION_CHECKS if query.detects else AGGREGATION_CHECKS))
    problems = [problem for look in looks for problem in look(query)]
    for look in () if query.detects else LAST_CHECKS:
        problems = problems or list(look(query))
    return problems


def _names(queries: tuple[Query, ...]) -> Iterator[Problem]:
    seen = set()
    for query in queries:
        if query.name in seen:
            hint = "rename it; queries without a name are q1, q2 and so on by position"
            yield Problem(f"another query is called {quote(query.name)}", hint, query.place, query.name)
        seen.add(query.name)
