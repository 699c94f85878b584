"""Suspects that only a test can convict: each part of a query that forbids something, made weaker one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pyarrow.types as pt

from elsinore.planner.checks.patterns import at_edge
from elsinore.planner.language.errors import quote
from elsinore.planner.language.syntax import Attribute, Comparison, Kleene, Not, Query, Semantics, Seq, Span, nodes
from elsinore.planner.language.walk import readers, variables
from elsinore.planner.time.clock import UNITS
from elsinore.reasons.cause import Fix, Reading, Scale, Suspect
from elsinore.reasons.certain import Case, place_of_key
from elsinore.reasons.edits import (
    Edit,
    exchanged,
    optional,
    swapped,
    with_bounds,
    without_key,
    without_negation,
)
from elsinore.reasons.spelling import normal

FINER = {"d": ("h", "min", "s", "ms"), "h": ("min", "s", "ms"), "min": ("s", "ms"), "s": ("ms", "us", "ns")}
"""By unit of numeric times, the units in which they may have been meant."""

FINER |= {"ms": ("us", "ns"), "us": ("ns",)}

EPOCH_YEARS = range(1990, 2101)
"""Years in which a number is taken for a time since 1970."""

FAR_APART = 20
"""Windows between two events of a pattern, from which on a wrong unit of time is more likely than a short window."""

MOST_WINDOWS = 8
"""Windows that an event may be in at once, where windows are made longer and their slide is kept."""

YEAR_SECONDS = 31_556_952


def suspects(case: Case) -> list[Suspect]:
    """Return what may be weakened, the smallest change first."""
    found = [
        *_late(case),
        *_units(case),
        *_ties(case),
        *_key_spellings(case),
        *_bounds(case.query),
        *_edges(case.query),
        *_semantics(case.query),
        *_negations(case.query),
        *_pairs(case),
        *_windows(case),
        *_singles(case.query),
        *_orders(case.query),
        *_keys(case),
        *_parts(case.query),
    ]
    return sorted(found, key=lambda one: one.size)


def _late(case: Case) -> Iterator[Suspect]:
    late = case.events.where(case.events.late)
    count = sum(late.counts.get(name, 0) for name in case.query.types)
    if count:
        message = f"{count:,} events of the pattern are late: they came after later ones, and count in no row"
        fix = Fix(f"run it with --lateness {lateness_needed(case)}", reading=Reading(late=True))
        yield Suspect("late", message, None, (fix,), 10)


def lateness_needed(case: Case) -> str:
    """Return the seconds by which the latest event came too late."""
    times = case.events.times
    reached = np.maximum.accumulate(times) if len(times) else times
    behind = int((reached - times)[case.events.late].max()) if case.events.late.any() else 0
    return f"{float(Fraction(behind, case.events.clock.ticks_per_second)):g}"


def _numeric(case: Case) -> bool:
    return not pt.is_timestamp(case.events.clock.form) and not case.query.counts_events


def _units(case: Case) -> Iterator[Suspect]:
    """Yield the units in which numbers are times since 1970, where in the given one they are not."""
    if not _numeric(case) or not len(case.events):
        return
    given = case.events.time_unit
    middle = float(np.median(case.events.times)) / float(case.events.clock.ticks_per_unit)
    if _is_epoch(middle, given):
        return
    if _gap(case) >= FAR_APART * case.query.within.seconds:
        yield from (unit_suspect(case, unit, 31) for unit in finer_units(case))
    for unit in ("s", "ms", "us", "ns"):
        if unit != given and _is_epoch(middle, unit):
            yield unit_suspect(case, unit, 5)


def _gap(case: Case) -> Fraction:
    """Return the median of seconds from one event of the pattern to the next."""
    events = case.events.on_time
    numbers = [n for n, name in enumerate(events.data.column(0).dictionary.to_pylist()) if name in case.query.types]
    own = events.times[np.isin(events.types, numbers)]
    gaps = np.diff(own if (own[1:] >= own[:-1]).all() else np.sort(own))
    return Fraction(int(np.median(gaps)) if len(gaps) else 0, events.clock.ticks_per_second)


def unit_suspect(case: Case, unit: str, size: float) -> Suspect:
    """Return the suspect that times are numbers of another unit."""
    message = f"times are read in {quote(case.events.time_unit)}, so WITHIN {case.query.within} is too short for them"
    fix = Fix(f"run it with --time-unit {unit}", reading=Reading(time_unit=unit))
    return Suspect("time unit", message, case.query.within.place, (fix,), size)


def finer_units(case: Case) -> tuple[str, ...]:
    """Return the units in which numeric times may have been meant, if the given one is too long."""
    return FINER.get(case.events.time_unit, ()) if _numeric(case) else ()


def _is_epoch(time: float, unit: str) -> bool:
    return 1970 + time * float(UNITS[unit]) / YEAR_SECONDS // 1 in EPOCH_YEARS


def _ties(case: Case) -> Iterator[Suspect]:
    """Yield the suspect that events of one time should be one after the other."""
    events = case.events.on_time
    ordered = events.in_order
    times, types = events.times[ordered], events.types[ordered]
    tied = (times[1:] == times[:-1]) & (types[1:] != types[:-1])
    if tied.any():
        message = "events of different types have equal times, and each event of a trend is later than the one before"
        hint = "write times finer, so that what comes later has a later time"
        yield Suspect("equal times", message, case.query.pattern.place, (Fix(hint, reading=Reading(ties=True)),), 14)


def _key_spellings(case: Case) -> Iterator[Suspect]:
    for name in case.query.partition:
        texts = case.events.texts(name) or []
        if len({normal(text) for text in texts}) < len(texts):
            message = f"values of {quote(name)} differ in case or blanks alone"
            fix = Fix(f"spell {name} alike in all events", reading=Reading(normal=frozenset([name])))
            yield Suspect("key spelling", message, place_of_key(case.query, name), (fix,), 12)


def _bounds(query: Query) -> Iterator[Suspect]:
    for one in (node for node in nodes(query.pattern) if isinstance(node, Kleene)):
        if one.least > 1:
            yield Suspect("repetition", f"{one} asks for more events than there are", one.place, (), 20, _fewer(one))
        if one.most is not None and one.most > 1:
            new = replace(one, most=None)
            message = f"{one} allows fewer events than there are"
            yield Suspect(
                "repetition", message, one.place, (Fix(f"write {new}", with_bounds(one, one.least, None)),), 21
            )


def _fewer(one: Kleene) -> Scale:
    def at(less: int) -> Fix:
        new = replace(one, least=one.least - less)
        return Fix(f"write {new}", with_bounds(one, new.least, new.most))

    return Scale(1, one.least - 1, at)


def _edges(query: Query) -> Iterator[Suspect]:
    """Yield the suspect that a trend lies across the edge of two windows."""
    if query.slide is None or query.detects:
        return
    fixes = []
    for part in (2, 4, 10):
        amount = query.within.amount / part
        if query.within.unit == "events" and amount.denominator != 1:
            continue
        slide = Span(amount, query.within.unit, place=query.slide.place)
        if slide.length < query.slide.length:
            fixes.append(Fix(f"write SLIDE {slide}", _slid(slide)))
    fixes.append(Fix("leave out SLIDE, so that the window moves with every event", _slid(None)))
    message = f"the events fit into WITHIN {query.within}, but lie on both sides of the edge of a window"
    # NOT at an edge of the pattern ends with its window, so that other windows tell nothing of events too far apart.
    size = 29 if any(at_edge(query.pattern, backwards) for backwards in (False, True)) else 22
    yield Suspect("window edge", message, query.slide.place, tuple(fixes), size)


def _slid(slide: Span | None) -> Edit:
    return lambda query: replace(query, slide=slide)


def _semantics(query: Query) -> Iterator[Suspect]:
    weaker: dict[Semantics, tuple[Semantics, ...]] = {"contiguous": ("next", "any"), "next": ("any",), "any": ()}
    names = {"next": "skip-till-next-match", "any": "skip-till-any-match", "contiguous": "contiguous"}
    for size, semantics in enumerate(weaker[query.semantics], 24):
        fix = Fix(f"write SEMANTICS {names[semantics]}", _meaning(semantics))
        between = "any event" if query.semantics == "contiguous" else "an event that could continue the trend"
        message = f"{names[query.semantics]} lets no trend pass over {between}, and there is one in between"
        yield Suspect("semantics", message, query.pattern.place, (fix,), size)


def _meaning(semantics: Semantics) -> Edit:
    return lambda query: replace(query, semantics=semantics)


def _negations(query: Query) -> Iterator[Suspect]:
    for one in (node for node in nodes(query.pattern) if isinstance(node, Not)):
        fix = Fix(f"leave out {one}", without_negation(one))
        yield Suspect("not", f"{one} forbids every match", one.place, (fix,), 28)


def _pairs(case: Case) -> Iterator[Suspect]:
    """Yield the predicates that relate events."""
    absent = _negated(case.query)
    for one in case.query.predicates:
        read = list(readers(one))
        alone = all(isinstance(reader, Attribute) and not reader.next for reader in read)
        if (alone and len({reader.variable for reader in read}) < 2) or {reader.variable for reader in read} & absent:
            continue
        names = frozenset(reader.name for reader in read if isinstance(reader, Attribute))
        texts = all(case.events.has(name) and case.events.texts(name) is not None for name in names)
        if isinstance(one, Comparison) and one.operator == "=" and names and texts:
            message = f"the texts that {one} compares differ in case or blanks"
            fix = Fix("spell them alike in the events", reading=Reading(normal=names))
            yield Suspect("value", message, one.place, (fix,), 29)
        message = f"no events in the places of the pattern satisfy {one}"
        yield Suspect("predicate", message, one.place, (Fix(f"leave out {one}", exchanged(one, None)),), 30)


def _negated(query: Query) -> frozenset[str]:
    return frozenset[str]().union(*(variables(one.part) for one in nodes(query.pattern) if isinstance(one, Not)))


def _singles(query: Query) -> Iterator[Suspect]:
    """Yield the predicates on one event, which some events satisfy, but none in its place."""
    absent = _negated(query)
    for one in query.predicates:
        read = list(readers(one))
        alone = all(isinstance(reader, Attribute) and not reader.next for reader in read)
        if alone and len({reader.variable for reader in read}) == 1 and not {read[0].variable} & absent:
            message = f"no event in its place of the pattern satisfies {one}"
            yield Suspect("predicate", message, one.place, (Fix(f"leave out {one}", exchanged(one, None)),), 36)


def _windows(case: Case) -> Iterator[Suspect]:
    """Yield the suspect that the window is too short."""
    query, events = case.query, case.events.on_time
    if not len(events):
        return
    within = query.within
    if within.unit == "events":
        whole = Fraction(len(events) + 1)
    else:
        ticks = int(events.times.max()) - int(events.times.min()) + 1
        whole = Fraction(ticks, events.clock.ticks_per_second) / replace(within, amount=Fraction(1)).seconds
    least, most = int(within.amount) + 1, int(whole) + 1
    if most < least:
        return

    def at(amount: int) -> Fix:
        new, slide = _widened(query, amount)
        added = "" if slide == query.slide else f" SLIDE {slide}"
        return Fix(f"write WITHIN {new}{added}", lambda query: replace(query, within=new, slide=slide))

    message = f"WITHIN {within} is too short: the events lie further apart"
    yield Suspect("window", message, within.place, (), 32, Scale(least, most, at))


def _widened(query: Query, amount: int) -> tuple[Span, Span | None]:
    """Return a window of at least this amount, and its slide.

    The window stays a multiple of its slide if it was one, because panes are as long as both have in common.
    """
    within, slide = query.within, query.slide
    if slide is None or slide.length == within.length:
        new = replace(within, amount=Fraction(amount))
        return new, slide and replace(new, place=slide.place)
    step = within.amount * slide.length / within.length
    if amount <= MOST_WINDOWS * step:
        return replace(within, amount=step * ceil(amount / step)), slide
    times = ceil(amount / within.amount)
    return replace(within, amount=within.amount * times), replace(slide, amount=slide.amount * times)


def _orders(query: Query) -> Iterator[Suspect]:
    """Yield the suspect that events come in another order."""
    if not isinstance(query.pattern, Seq) or any(isinstance(part, Not) for part in query.pattern.parts):
        return
    parts = query.pattern.parts
    places = list(range(len(parts)))
    orders = [[*places[:one], two, one, *places[two + 1 :]] for one, two in pairwise(places)]
    if len(parts) > 2:
        orders.append(places[::-1])
    for order in orders:
        new = replace(query.pattern, parts=tuple(parts[number] for number in order))
        message = "the events come in another order than the pattern has"
        yield Suspect("order", message, query.pattern.place, (Fix(f"write {new}", swapped(order)),), 40)


def _keys(case: Case) -> Iterator[Suspect]:
    for name in case.query.partition:
        place = place_of_key(case.query, name)
        fix = Fix(f"leave out {name} there", without_key(name))
        lacking = [kind for kind in case.query.types if _mostly_null(case, kind, name)]
        if lacking:
            message = f"most events of type {quote(lacking[0])} have no value of {quote(name)}, and so are dropped"
            yield Suspect("null", message, place, (fix,), 13)
        message = f"{quote(name)} has another value in each of the events: it splits the stream too far"
        yield Suspect("key", message, place, (fix,), 42)


def _mostly_null(case: Case, kind: str, name: str) -> bool:
    events = case.events.on_time.of_type(kind)
    return case.events.nulls(name) > 0 and len(events) > 0 and 2 * events.nulls(name) >= len(events)


def _parts(query: Query) -> Iterator[Suspect]:
    """Yield the parts of a sequence without which there would be a row."""
    for one in query.pattern.parts if isinstance(query.pattern, Seq) else ():
        if not isinstance(one, Not):
            message = f"no event that {one} could match is in its place of the pattern"
            fix = Fix(f"let it be absent, as in {Kleene(one, 0, 1)}", optional(one))
            yield Suspect("part", message, one.place, (fix,), 60)
