"""Check WITHIN and SLIDE."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.language.errors import Problem
from elsinore.planner.language.syntax import Query, Span

LONGEST = 2**53
"""Seconds or events: no clock counts a length of this or more."""

NANOSECONDS = 10**9


def spans_can_be_counted(query: Query) -> Iterator[Problem]:
    """Check that each length is above zero and can be counted, in whole nanoseconds or in whole events."""
    for keyword, span in _spans(query):
        if span.amount <= 0:
            yield Problem(f"{keyword} must be above zero", f"write a length such as {keyword} 10 minutes", span.place)
        elif span.length >= LONGEST:
            yield Problem(f"{keyword} is too long to be counted", f"write fewer {span.unit}", span.place)
        elif span.unit == "events" and span.amount.denominator != 1:
            yield Problem(f"{keyword} counts whole events", f"write {keyword} {round(span.amount)} events", span.place)
        elif span.unit != "events" and (span.seconds * NANOSECONDS).denominator != 1:
            hint = "the shortest length is 0.000001 ms"
            yield Problem(f"{keyword} is finer than a nanosecond", hint, span.place)


def slide_fits_window(query: Query) -> Iterator[Problem]:
    """Check that SLIDE is no longer than WITHIN: events between two windows would be lost."""
    within, slide = query.within, query.slide
    if slide is None or query.detects:
        return
    if (within.unit == "events") != (slide.unit == "events"):
        hint = "write both in events, or both as lengths of time"
        yield Problem("one of WITHIN and SLIDE counts events, the other one time", hint, slide.place)
    elif slide.length > within.length:
        hint = f"events between two windows would be in none; write SLIDE {within} or less"
        yield Problem(f"SLIDE {slide} is longer than WITHIN {within}", hint, slide.place)


def _spans(query: Query) -> Iterator[tuple[str, Span]]:
    yield "WITHIN", query.within
    if query.slide is not None:
        yield "SLIDE", query.slide
