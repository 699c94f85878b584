"""Find the causes: what is certain first, then the smallest change that gives a row, then two changes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from elsinore.planner.language.syntax import EventType, Not, nodes
from elsinore.problems import Problem
from elsinore.reasons.cause import AS_IT_IS, Cause, Fix, Reached, Reading, Scale, Suspect, Tested
from elsinore.reasons.certain import Case, dead_hint
from elsinore.reasons.edits import affirmed, unchanged
from elsinore.reasons.prefixes import parts_of
from elsinore.reasons.relaxations import finer_units, lateness_needed, suspects, unit_suspect
from elsinore.reasons.trial import MOST_ROWS, Trials

MOST_JOINT = 8
"""Ways to mend all certain causes at once that are tested."""

MOST_RUNS = 60
"""Runs of changed queries, after which pairs of changes are given up."""

OTHER_UNIT = 100
"""How many times longer a window has to be before a wrong unit of time is more likely than a short window."""

NOTHING = Fix("")


def causes(case: Case, trials: Trials, certain: Sequence[Suspect], reached: Reached) -> tuple[Cause, ...]:
    """Return why a query without rows has none; the most likely cause first."""
    if not certain:
        return (*_dead(case, reached), *_weakened(case, trials, NOTHING, ()))
    blocked = [one for one in certain if not _can_be_tested(one)]
    if blocked:
        return tuple(_untested(case, one) for one in (*blocked, *(one for one in certain if one not in blocked)))
    ways = list(islice(product(*(one.fixes for one in certain)), MOST_JOINT))
    for fixes in ways:
        way = _all(fixes)
        if rows := trials.of(way):
            hints = [(one, fix.hint) for one, fix in zip(certain, fixes, strict=True)]
            return _tested(case, trials, hints, way, rows)
    first = tuple(_untested(case, one) for one in certain)
    return (*first, *_weakened(case, trials, _all(ways[0]), first))


def _can_be_tested(one: Suspect) -> bool:
    return any(fix.edit is not unchanged or fix.reading != AS_IT_IS for fix in one.fixes)


def _all(fixes: Iterable[Fix]) -> Fix:
    joint, *others = fixes
    for one in others:
        joint = joint.joined(one)
    return joint


def _weakened(case: Case, trials: Trials, given: Fix, known: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """Return the cause whose weakening gives a row beside what is given; if there is none, two of them."""
    tried = suspects(case)
    for one in tried:
        found = _convicted(trials, one, given)
        if found is None:
            continue
        fix, rows = found
        others = _other_unit(case, trials, one, fix, given)
        return (*others, *_tested(case, trials, [(one, fix.hint)], _beside(given, fix), rows))
    return () if known else _two(case, trials, tried)


def _beside(given: Fix, fix: Fix) -> Fix:
    return fix if given is NOTHING else given.joined(fix)


def _convicted(trials: Trials, one: Suspect, given: Fix) -> tuple[Fix, int] | None:
    """Return the smallest fix of a suspect that gives a row, and how many it gives."""
    for fix in one.fixes:
        if rows := trials.of(_beside(given, fix)):
            return fix, rows
    return _tuned(trials, one.scale, given) if one.scale else None


def _tuned(trials: Trials, scale: Scale, given: Fix) -> tuple[Fix, int] | None:
    """Return the first fix of a scale that gives a row, to a twentieth of its number."""
    rows = trials.of(_beside(given, scale.at(scale.most)))
    if not rows:
        return None
    least, most = scale.least - 1, scale.most
    while most - least > max(1, least // 20):
        middle = max(least + 1, int((max(least, 1) * most) ** 0.5)) if most > 2 * least else (least + most) // 2
        found = trials.of(_beside(given, scale.at(middle)))
        least, most, rows = (least, middle, found) if found else (middle, most, rows)
    return scale.at(most), rows


def _other_unit(case: Case, trials: Trials, one: Suspect, fix: Fix, given: Fix) -> Iterator[Cause]:
    """Yield the unit in which times may be meant, where a window would have to be very much longer."""
    if one.kind != "window":
        return
    needed, own = fix.edit(case.query).within.length, case.query.within.length
    for unit in finer_units(case) if needed >= OTHER_UNIT * own else ():
        suspect = unit_suspect(case, unit, 0)
        if rows := trials.of(_beside(given, suspect.fixes[0])):
            yield from _tested(case, trials, [(suspect, suspect.fixes[0].hint)], suspect.fixes[0], rows)
            return


def _widest(suspect: Suspect) -> Fix | None:
    """Return the largest change that a suspect has."""
    if suspect.fixes:
        return suspect.fixes[-1]
    return None if suspect.scale is None else suspect.scale.at(suspect.scale.most)


def _two(case: Case, trials: Trials, tried: list[Suspect]) -> tuple[Cause, ...]:
    """Return two causes, where no change by itself gives a row."""
    options = [(one, fix) for one in tried if (fix := _widest(one)) is not None]
    order = sorted(
        ((first, second) for second in range(len(options)) for first in range(second)),
        key=lambda pair: options[pair[0]][0].size + options[pair[1]][0].size,
    )
    for first, second in order:
        if trials.runs > MOST_RUNS:
            break
        (one, fix), (other, further) = options[first], options[second]
        both = fix.joined(further)
        if rows := trials.of(both):
            return _tested(case, trials, [(one, fix.hint), (other, further.hint)], both, rows)
    return ()


def _dead(case: Case, reached: Reached) -> Iterator[Cause]:
    """Yield the cause that the events of the next part are dead letters, as far as their types are known."""
    parts = [part for part in parts_of(case.query.pattern) if not isinstance(part, Not)]
    following = {node.name for node in nodes(parts[reached.parts]) if isinstance(node, EventType)}
    dead = sorted(following & case.events.dead_types.keys())
    for name in dead[:1]:
        count = case.events.dead_types[name]
        message = f"{count:,} events of type `{name}` could not be read: they are dead letters"
        hint = dead_hint(case.events, name)
        yield Cause("dead", Problem(message, hint, parts[reached.parts].place, case.query.name))


def _untested(case: Case, one: Suspect) -> Cause:
    hint = one.fixes[0].hint if one.fixes else ""
    return Cause(one.kind, Problem(one.message, hint, one.place, case.query.name))


def _tested(case: Case, trials: Trials, hints: Sequence[tuple[Suspect, str]], fix: Fix, rows: int) -> tuple[Cause, ...]:
    """Return suspects, each with its part of a fix, as the causes that the fix mends together."""
    changed = fix.edit(case.query)
    many = f"{rows:,} rows or more" if rows >= MOST_ROWS else f"{rows:,} {'row' if rows == 1 else 'rows'}"
    then = f"then there {'is' if rows == 1 else 'are'} {many}"
    example = _forbidden(trials, hints[0][0], fix) or trials.example(changed, fix.reading) or ()
    tested = Tested(str(changed), _options(case, fix.reading), fix.reading.of_events, rows, example)
    return tuple(
        Cause(one.kind, Problem(one.message, f"{hint}: {then}", one.place, case.query.name), tested)
        for one, hint in hints
    )


def _forbidden(trials: Trials, one: Suspect, fix: Fix) -> list[Mapping[str, Any]] | None:
    """Return an example of what a NOT forbids: the events of a match and the one in between."""
    negation = next(
        (node for node in nodes(trials.query.pattern) if isinstance(node, Not) and node.place == one.place), None
    )
    if one.kind != "not" or negation is None:
        return None
    return trials.example(affirmed(negation)(trials.query), fix.reading)


def _options(case: Case, reading: Reading) -> dict[str, object]:
    """Return the options of a run that a reading changes."""
    options: dict[str, object] = {}
    if reading.time_unit:
        options["time_unit"] = reading.time_unit
    if reading.late:
        options["lateness"] = float(lateness_needed(case))
    return options
