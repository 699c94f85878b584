"""Ask why queries have no row, or not the one that was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.errors import InputError
from elsinore.inputs import checked, seconds
from elsinore.planner.language.syntax import Query, Workload
from elsinore.problems import Problem
from elsinore.reasons.cause import Cause, Reading, Reason
from elsinore.reasons.certain import Case, needs
from elsinore.reasons.convicting import causes
from elsinore.reasons.events import Events, read_events
from elsinore.reasons.prefixes import longest
from elsinore.reasons.report import text_of
from elsinore.reasons.spelling import near
from elsinore.reasons.trial import Trials

NAMED_VALUE = re.compile(",(?=[^,=]*=)")
"""Splits `name=value,name=value`: a comma that no name follows is part of a value."""

Group = str | int | float | Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Why:
    """Why queries have no row, or not the one that was expected; `str` explains it, `to_dict` is for JSON."""

    __module__ = "elsinore"

    reasons: tuple[Reason, ...]
    text: str
    """The text of the workload, into which the causes point."""

    def to_dict(self) -> dict[str, Any]:
        """Return all reasons as values for JSON."""
        return {"reasons": [reason.to_dict() for reason in self.reasons]}

    def __str__(self) -> str:
        return "\n\n".join(text_of(reason, self.text) for reason in self.reasons)

    def __repr__(self) -> str:
        return str(self)


def why(
    workload: str | PathLike[str],
    events: Any,
    *,
    query: str | None = None,
    group: Group | None = None,
    window: Any = None,
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    lateness: float | Fraction | timedelta = 0,
) -> Why:
    """Explain why queries have no row over bounded events, and which change would give one.

    Each change that is proposed was run over the events; of a long stream, over a part of it. `workload`, `events` and
    the options on columns, times and lateness are as in `run`. `query` names one query; without it all are explained.
    `group` (a value, several, or a dict by attribute) and `window` (where it starts) say which row was expected.
    All events are kept in memory.
    """
    reading = {"type_column": type_column, "time_column": time_column, "time_unit": time_unit}
    return explained(workload, events, reading, seconds(lateness), Question(query, group, window))


@dataclass(frozen=True)
class Question:
    """What is asked of the events."""

    query: str | None = None
    """The name of one query; None: all of them."""
    group: Group | None = None
    window: Any = None
    rowless: frozenset[str] = frozenset()
    """Queries of which a run over the same events has shown that they have no row."""

    @property
    def is_whole(self) -> bool:
        """Return whether it is about all events."""
        return self.group is None and self.window is None


def explained(
    workload: str | PathLike[str], events: Any, reading: Mapping[str, Any], lateness: Fraction, question: Question
) -> Why:
    """Explain why queries have no row over bounded events; `reading` are the options on columns and times."""
    asked = checked(workload)
    query = question.query
    names = [one.name for one in asked.queries]
    if query is not None and query not in names:
        raise InputError(f"the workload has no query {query!r}; it has {', '.join(names)}")
    chosen = [one for one in asked.queries if query in (None, one.name)]
    if not isinstance(events, str | PathLike) and hasattr(events, "__next__") and len(chosen) > 1:
        raise InputError("these events can be read once; say which query is meant")
    reasons = (_reason(one, asked, read_events(one, events, reading, lateness), question) for one in chosen)
    return Why(tuple(reasons), asked.text)


def _reason(query: Query, asked: Workload, events: Events, question: Question) -> Reason:
    chosen, unknown = _expected(query, events, question.group, question.window)
    notes = tuple(_notes(query, events))
    if unknown is not None:
        return Reason(query.name, 0, len(events), (unknown,), None, notes)
    trials = Trials(query, asked.text, chosen)
    case = Case(query, asked.text, chosen)
    needed = needs(case)
    rowless = needed.suspects or (question.is_whole and query.name in question.rowless)
    rows = 0 if rowless else trials.rows(query, whole=True)
    if rows:
        return Reason(query.name, rows, len(chosen), tuple(_missing(query, trials, rows)), None, notes)
    reached = longest(trials, needed.absent)
    found = causes(case, trials, needed.suspects, reached)
    return Reason(query.name, 0, len(chosen), found, reached, notes)


def _missing(query: Query, trials: Trials, rows: int) -> Iterator[Cause]:
    """Yield what leaves out some of the rows that there would be."""
    if query.limit is not None:
        every = trials.rows(replace(query, limit=None), whole=True)
        if every > rows:
            message = f"LIMIT {query.limit} leaves out {every - rows:,} of {every:,} matches"
            hint = f"write a higher LIMIT than {query.limit}, or leave it out"
            yield Cause("limit", Problem(message, hint, query.limit_place, query.name))
    if trials.events.late.any():
        every = trials.rows(query, Reading(late=True), whole=True)
        if every > rows:
            message = (
                f"{int(trials.events.late.sum()):,} late events count in no row; with them there are {every:,} rows"
            )
            yield Cause("late", Problem(message, "run it with more --lateness", None, query.name))


def _notes(query: Query, events: Events) -> Iterator[str]:
    """Yield what else is known of events that count in no row."""
    if events.late.any():
        yield f"{int(events.late.sum()):,} events are late"
    if events.dead:
        first = events.dead[0]
        yield f"{len(events.dead):,} events are dead letters; {first.where}: {first.reason}"
    for name in query.partition:
        nulls = sum(events.of_type(kind).nulls(name) for kind in query.types) if events.nulls(name) else 0
        if nulls:
            yield f"{nulls:,} events of the pattern have no value of `{name}`, and are dropped"


def _expected(query: Query, events: Events, group: Group | None, window: Any) -> tuple[Events, Cause | None]:
    """Return the events that the expected row is about; or the cause if there are none."""
    if group is not None:
        for name, value in _values(query, group).items():
            column = events.values(name)
            mask = np.array([str(one) == str(value) for one in column.to_pylist()], np.bool_)
            if not mask.any():
                return events, _no_group(query, events, name, value)
            events = events.where(mask)
    if window is None:
        return events, None
    if query.counts_events:
        raise InputError(f"the windows of {query.name} count events; --window is for windows of time")
    start = _ticks(events, window)
    end = start + events.clock.ticks(query.within.seconds)
    times = events.times
    moving = query.slide is None and not query.detects
    mask = (times > start) & (times <= end) if moving else (times >= start) & (times < end)
    if mask.any():
        return events.where(mask), None
    bounds = (
        [str(one) for one in events.clock.show(np.array([times.min(), times.max()])).to_pylist()] if len(times) else []
    )
    where = f"the times go from {bounds[0]} to {bounds[1]}" if bounds else "there are no events"
    message = f"no event lies in the window that starts at {window}"
    return events, Cause("no window", Problem(message, where, query.within.place, query.name))


def _values(query: Query, group: Group) -> dict[str, Any]:
    """Return the values of the group that is meant, by attribute."""
    if isinstance(group, Mapping):
        given = dict(group)
    elif isinstance(group, str) and "=" in group:
        given = dict(_name_and_value(part) for part in NAMED_VALUE.split(group))
    else:
        several = list(group) if isinstance(group, Sequence) and not isinstance(group, str) else [group]
        given = dict(zip(query.groups, several, strict=False))
    unknown = [name for name in given if name not in query.groups]
    if unknown or not given:
        named = ", ".join(query.groups) or "nothing"
        raise InputError(f"the query {query.name} groups by {named}; give --group a value of that, as in name=value")
    return given


def _name_and_value(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name, value


def _no_group(query: Query, events: Events, name: str, value: Any) -> Cause:
    known = [str(one) for one in pc.unique(events.values(name)).drop_null().to_pylist()]
    meant = near(str(value), known)
    hint = f"there is {meant.text!r} ({meant.how})" if meant else f"there are {len(known):,} other values"
    place = next(part.place for part in query.group_by if part.attribute == name)
    message = f"no event has {value!r} in `{name}`"
    return Cause("group", Problem(message, hint, place, query.name))


def _ticks(events: Events, window: Any) -> int:
    """Return a time that a user gives, on the clock of the events."""
    form = events.clock.form
    try:
        if pa.types.is_timestamp(form):
            given = pa.array([str(window)]).cast(form) if isinstance(window, str) else pa.array([window]).cast(form)
        else:
            given = pa.array([float(window)]).cast(form)
        return int(events.clock.read(given)[0])
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        raise InputError(f"--window {window} is no time like those of the events ({form})") from None


__all__ = ["Why", "why"]
