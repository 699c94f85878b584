"""Check that the events have the attributes that queries name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from elsinore.planner.language.errors import Problem, WorkloadError, quote
from elsinore.planner.language.suggest import also, did_you_mean, those
from elsinore.planner.language.syntax import Attribute, Place, Query, Workload
from elsinore.planner.language.walk import leaves, readers

Attributes = Mapping[str, Collection[str]]


def check_attributes(workload: Workload, attributes: Attributes) -> None:
    """Raise WorkloadError if a checked workload names attributes that no event of their type has.

    `attributes` maps an event type to the attributes of its events. Types that it lacks are not checked.
    """
    problems = [
        replace(problem, query=query.name)
        for query in workload.queries
        for problem in chain(_of_types(query, attributes), _of_partitions(query, attributes))
    ]
    if problems:
        raise WorkloadError(problems, workload.text)


def _of_types(query: Query, attributes: Attributes) -> Iterator[Problem]:
    """Yield a problem for each unknown attribute of a variable, in RETURN and in predicates."""
    types = {leaf.variable: leaf.name for leaf in leaves(query.pattern)}
    used: list[tuple[str, str, Place | None]] = [
        (item.variable, item.attribute, item.place) for item in query.aggregates if item.variable and item.attribute
    ]
    for expression in (*(item.value for item in query.items), *query.predicates):
        for reader in readers(expression):
            name = reader.name if isinstance(reader, Attribute) else reader.attribute
            used += [(reader.variable, name, reader.place)] if name else []
    for variable, name, place in used:
        event_type = types[variable]
        if event_type in attributes and name not in attributes[event_type]:
            message = f"no event of type {quote(event_type)} has an attribute {quote(name)}"
            yield Problem(message, _hint(name, attributes[event_type]), place)


def _of_partitions(query: Query, attributes: Attributes) -> Iterator[Problem]:
    """Yield a problem for each grouping or equivalence attribute that no event of the pattern has.

    An event that lacks such an attribute is dropped, so here all events would be.
    """
    known = {leaf.name for leaf in leaves(query.pattern)} & attributes.keys()
    names = set().union(*(attributes[event_type] for event_type in known))
    used = [(grouping.attribute, grouping.place) for grouping in query.group_by]
    used += [(name, part.place) for part in query.equivalences for name in part.attributes]
    for name, place in used:
        if known and name not in names:
            yield Problem(f"no event of this pattern has an attribute {quote(name)}", _hint(name, names), place)


def _hint(name: str, names: Collection[str]) -> str:
    if not names:
        return "these events have no attributes at all"
    return also(f"the attributes are {those(names)}", did_you_mean(name, names))
