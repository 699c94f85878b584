"""Strategies by name: how each evaluates a query, and which queries it cannot run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from elsinore.planner.detection.strategies.strategies import STRATEGIES as OF_DETECTION
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.language.syntax import And, EventType, Kleene, Matches, Not, Or, Query, Workload, nodes
from elsinore.planner.language.walk import negated
from elsinore.planner.machines.predicates import classify

Method = Literal["coarsest", "events", "trends", "prefixes", "starts"]
"""How a query is evaluated.

- `coarsest`: counters at the coarsest granularity that is correct.
- `events`: a node for every event.
- `trends`: every trend is constructed.
- `prefixes`: a counter for each prefix of sequences of fixed length.
- `starts`: as `coarsest`, but counters by start event where windows move with every event.
"""

METHODS: dict[str, Method] = {
    "auto": "coarsest",
    "hamlet": "coarsest",
    "hamlet-static": "coarsest",
    "gloria": "coarsest",
    "gloria-greedy": "coarsest",
    "gloria-noprune": "coarsest",
    "prefix": "coarsest",
    "chop-connect": "coarsest",
    "a-seq": "starts",
    "greta": "events",
    "cogra": "coarsest",
    "two-step": "trends",
    "sharon": "prefixes",
}
"""By strategy of aggregation, how a query that shares nothing is evaluated. `auto` is one of detection, too."""

DETECTING = tuple(OF_DETECTION)
"""The strategies of queries that return matches."""

STRATEGIES = (*METHODS, *DETECTING)
"""The names of all strategies.

`auto` picks the cheapest way for each group of queries. `cogra` runs each query apart, at the coarsest granularity that
is correct. `gloria` shares more than Kleene over a type, and decides before the first event. `prefix` and
`chop-connect` are the ways of A-Seq to share; `a-seq` is its way to run a sequence by itself.

To compare with: `greta` has a node for every event, `two-step` constructs all trends before it aggregates them, and
`sharon` flattens Kleene into sequences of fixed length, whose common prefixes queries share.

Those of detection choose a plan of Kolchinsky and Schuster for queries that return matches; `mpm` is their best.
"""

INSTEAD = 'use strategy="auto", which runs every query'


def check_strategy(workload: Workload, strategy: str) -> None:
    """Raise WorkloadError with everything that the strategy cannot run."""
    problems = [
        replace(found, message=f"strategy {strategy} cannot run {found.message}", hint=INSTEAD, query=query.name)
        for query in workload.queries
        for look in _refusals(strategy, query)
        for found in look(query)
    ]
    if problems:
        raise WorkloadError(problems, workload.text)


def _refusals(strategy: str, query: Query) -> tuple[Callable[[Query], Iterator[Problem]], ...]:
    if query.detects:
        return () if strategy in ("auto", *DETECTING) else (_matches,)
    return (_aggregates,) if strategy in DETECTING else REFUSALS.get(METHODS[strategy], ())


def _matches(query: Query) -> Iterator[Problem]:
    """Refuse RETURN MATCHES: strategies of aggregation count trends, and do not find them."""
    assert isinstance(query.returns, Matches)
    yield Problem("RETURN MATCHES", place=query.returns.place)


def _aggregates(query: Query) -> Iterator[Problem]:
    """Refuse aggregates: strategies of detection look for matches, and count no trends."""
    (first, *_) = query.aggregates
    yield Problem(f"RETURN {first}", place=first.place)


def _neighbours_in_negations(query: Query) -> Iterator[Problem]:
    """Refuse predicates on neighbours inside NOT.

    Matches of NOT are followed event by event beside the trends; a trend alone does not contain them.
    """
    absent = negated(query.pattern)
    for link in classify(query).links:
        if link.before in absent:
            yield Problem(f"the predicate on neighbours {link} inside of NOT", place=link.left.place)


def _neighbours(query: Query) -> Iterator[Problem]:
    """Refuse predicates on neighbours: prefixes are counted, and their events are not kept."""
    for link in classify(query).links:
        yield Problem(f"the predicate on neighbours {link}", place=link.left.place)


def _other_semantics(query: Query) -> Iterator[Problem]:
    names = {"next": "skip-till-next-match", "contiguous": "contiguous"}
    if query.semantics in names:
        yield Problem(f"SEMANTICS {names[query.semantics]}", place=query.place)


def _moving_windows(query: Query) -> Iterator[Problem]:
    if query.slide is None:
        yield Problem("windows that move with every event: WITHIN without SLIDE", place=query.within.place)


def _conjunctions(query: Query) -> Iterator[Problem]:
    if isinstance(query.pattern, And):
        yield Problem("AND", place=query.pattern.place)


def _kleene_over_patterns(query: Query) -> Iterator[Problem]:
    """Refuse Kleene over more than one event type.

    E+ becomes E, EE, EEE, ...; the repetitions of a longer part would multiply instead.
    """
    for node in nodes(query.pattern):
        if isinstance(node, Kleene) and node.most is None and not isinstance(node.part, EventType):
            yield Problem(f"Kleene over more than one event type: {node}", place=node.place)


def _other_than_sequences(query: Query) -> Iterator[Problem]:
    """Refuse all but SEQ over event types, and event types that must not occur between them (A-Seq, Section 2.1)."""
    for node in nodes(query.pattern):
        if isinstance(node, Kleene):
            yield Problem(f"repeated or optional parts: {node}", place=node.place)
        elif isinstance(node, Or):
            yield Problem(f"OR: {node}", place=node.place)
        elif isinstance(node, Not) and not isinstance(node.part, EventType):
            yield Problem(f"NOT over more than one event type: {node}", place=node.place)


REFUSALS: dict[Method, tuple[Callable[[Query], Iterator[Problem]], ...]] = {
    "trends": (_neighbours_in_negations,),
    "prefixes": (_other_semantics, _moving_windows, _conjunctions, _kleene_over_patterns, _neighbours),
    "starts": (_other_semantics, _conjunctions, _other_than_sequences, _neighbours),
}
