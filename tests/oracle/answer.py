"""Computation of a workload's rows: partitions, windows, and aggregates over the enumerated trends."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

from tests.oracle.enumerate import Scene, Trends
from tests.oracle.expressions import Event, Predicates, predicates
from tests.oracle.pattern import endings, places
from tests.oracle.query import Aggregate, One, Query

Row = dict[str, Any]
Match = list[tuple[str, Event]]
"""The events of one match that are bound to variables which the query aggregates."""


class TwoBindingsError(AssertionError):
    """The failure to refuse an ambiguous query: one match binds a variable that it names in two ways."""


def answer(queries: Iterable[Query], events: Iterable[Event]) -> list[Row]:
    """Return the rows of queries that return aggregates."""
    stream = exact(sorted(events, key=lambda event: event["time"]))
    return [row for query in queries for row in _rows(query, stream)]


def exact(events: Iterable[Event]) -> list[Event]:
    return [
        {name: Fraction(value) if isinstance(value, float) else value for name, value in event.items()}
        for event in events
    ]


def with_places(stream: Sequence[Event]) -> list[Event]:
    """Return the events of a whole stream with their places for times: how many events have an earlier time."""
    times = [event["time"] for event in stream]
    return [{**event, "time": bisect_left(times, event["time"])} for event in stream]


def _rows(query: Query, events: Sequence[Event]) -> Iterator[Row]:
    counted = query.unit == "events"
    stream = with_places(events) if counted else events
    clock = "event" if counted else "window"
    kept = [event for event in stream if all(event.get(name) is not None for name in query.partition)]
    rules = predicates(query.predicates)
    for group, members in split(kept, query.groups).items():
        for start, end, inside in _windows(query, rules, members):
            partitions = split(inside, query.partition).values()
            matches = [match for partition in partitions for match in _matches(query, rules, partition)]
            if matches:
                values = {item.label: _value(item, matches) for item in query.aggregates}
                bounds = {"query": query.name, f"{clock}_start": start, f"{clock}_end": end}
                yield bounds | dict(zip(query.groups, group, strict=True)) | values


def split(events: Sequence[Event], names: tuple[str, ...]) -> dict[tuple[Any, ...], list[Event]]:
    parts: dict[tuple[Any, ...], list[Event]] = defaultdict(list)
    for event in events:
        parts[tuple(event[name] for name in names)].append(event)
    return parts


def _windows(query: Query, rules: Predicates, events: list[Event]) -> Iterator[tuple[Any, Any, list[Event]]]:
    """Yield the windows that may hold a trend: their bounds, and the group's events inside."""
    times = sorted({event["time"] for event in events})
    width, slide = query.within, query.slide
    if slide is None:
        ends = end_positions(query)
        for time in times:
            arrived = (event for event in events if event["time"] == time)
            if any(event["type"] == at.type and rules.admits(at.variable, event) for event in arrived for at in ends):
                yield time - width, time, [event for event in events if time - width < event["time"] <= time]
        return
    for k in range(floor((times[0] - width) / slide), floor(times[-1] / slide) + 1):
        start, end = k * slide, k * slide + width
        inside = [event for event in events if start <= event["time"] < end]
        if inside:
            yield start, end, inside


def end_positions(query: Query) -> set[One]:
    """Return the positions at which a trend may end."""
    return {place.at for operand in query.operands for place in places(operand) if endings(place.rest)}


def _matches(query: Query, rules: Predicates, events: list[Event]) -> Iterator[Match]:
    scene = Scene(events, rules, query.semantics)
    asked = frozenset(item.variable for item in query.aggregates if item.variable is not None)
    for bounds in _joined([scene.trends(operand, asked) for operand in query.operands]).values():
        if len(bounds) > 1:
            raise TwoBindingsError(f"{query} binds {sorted(asked)} in {len(bounds)} ways")
        yield [(variable, events[index]) for bound in bounds for variable, index in bound]


def _joined(operands: list[Trends]) -> dict[Any, set[Any]]:
    """Return the matches of AND: one trend of each operand, all different, unordered. One operand gives its trends."""
    if len(operands) == 1:
        return dict(operands[0])
    matches: dict[Any, set[Any]] = defaultdict(set)
    for members in product(*(trends.items() for trends in operands)):
        chains = frozenset(chain for chain, _ in members)
        if len(chains) == len(operands):
            matches[chains].update(frozenset().union(*bounds) for bounds in product(*(ways for _, ways in members)))
    return matches


def _value(item: Aggregate, matches: list[Match]) -> Any:
    if item.variable is None:
        return len(matches)
    bound = [event for match in matches for variable, event in match if variable == item.variable]
    if item.attribute is None:
        return len(bound)
    values = [event[item.attribute] for event in bound if event.get(item.attribute) is not None]
    if not values:
        return None
    match item.function:
        case "MIN":
            return min(values)
        case "MAX":
            return max(values)
        case "SUM":
            return sum(values)
    assert item.function == "AVG"
    return Fraction(sum(values)) / len(values)
