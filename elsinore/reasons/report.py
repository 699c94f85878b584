"""A reason as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elsinore.reasons.cause import Reached, Reason
from elsinore.reasons.trial import MOST_ROWS

MOST_EVENTS = 8
"""Events of an example that are shown."""


def text_of(reason: Reason, workload: str) -> str:
    """Return a reason as text, with the places in the workload that are to be changed."""
    return "\n\n".join(_paragraphs(reason, workload))


def _paragraphs(reason: Reason, workload: str) -> Iterator[str]:
    yield _headline(reason)
    if reason.reached is not None:
        yield _reached(reason.reached)
    for cause in reason.causes:
        yield cause.problem.show(workload)
    example = next((cause.tested.example for cause in reason.causes if cause.tested and cause.tested.example), ())
    if example:
        what = "What NOT forbids" if reason.causes[0].kind == "not" else "The events of such a row"
        yield "\n".join([f"{what}:", *_events(example)])
    if not reason.causes and not reason.rows:
        yield "No change of one or two parts of the query gives a row."
    if reason.notes:
        yield "\n".join(f"Also: {note}." for note in reason.notes)


def _headline(reason: Reason) -> str:
    many = f"{reason.events:,} {'event' if reason.events == 1 else 'events'}"
    if not reason.rows:
        return f"query {reason.query}: no row from {many}"
    rows = f"{reason.rows:,} rows or more" if reason.rows >= MOST_ROWS else f"{reason.rows:,} rows"
    return f"query {reason.query}: {'1 row' if reason.rows == 1 else rows} from {many}"


def _reached(reached: Reached) -> str:
    if not reached.parts:
        return f"It ends at the first part: {reached.following}."
    got = f"It gets as far as {reached.pattern} ({reached.parts} of {reached.of} parts)"
    end = f"and ends there: {reached.following} does not follow."
    if not reached.events:
        return f"{got} {end}"
    return "\n".join([f"{got}, for example with", *_events(reached.events), end])


def _events(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for event in events[:MOST_EVENTS]:
        yield "  " + "  ".join(f"{name}={value}" for name, value in event.items() if value is not None)
    if len(events) > MOST_EVENTS:
        yield f"  and {len(events) - MOST_EVENTS} more"
