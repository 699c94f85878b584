"""Suspects that the columns of events show: without a change here no event can take a place of the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.errors import WorkloadError
from elsinore.planner.language.errors import quote
from elsinore.planner.language.suggest import those
from elsinore.planner.language.syntax import (
    And,
    Attribute,
    Comparison,
    EventType,
    Expression,
    In,
    Kleene,
    LiteralValue,
    Pattern,
    Query,
    Seq,
    nodes,
)
from elsinore.planner.language.walk import readers
from elsinore.problems import Place
from elsinore.reasons.cause import Fix, Reading, Suspect
from elsinore.reasons.edits import exchanged, renamed_attribute, renamed_type, without_key
from elsinore.reasons.events import Events, number_of
from elsinore.reasons.spelling import near, normal

NAME = re.compile(r"(?!(?:seq|and|or|not)\b)[^\W\d]\w*", re.IGNORECASE)
"""What the language can write as an event type."""


FIRST_EVENTS = 1 << 10
"""Events of each type among which values are looked for first that all types have."""


@dataclass(frozen=True)
class Case:
    """A query, its text, and the events that it is asked about."""

    query: Query
    text: str
    events: Events


def mandatory(pattern: Pattern) -> Iterator[EventType]:
    """Yield the event types of which every match has an event."""
    match pattern:
        case EventType():
            yield pattern
        case Kleene(least=least) if least > 0:
            yield from mandatory(pattern.part)
        case Seq() | And():
            for part in pattern.parts:
                yield from mandatory(part)


@dataclass(frozen=True)
class Needs:
    """What keeps any event out of a part of the pattern that a match needs: with any of it, there is no row."""

    of_leaves: tuple[tuple[EventType, tuple[Suspect, ...]], ...] = ()
    """By leaf of the pattern that no event matches, why."""
    of_keys: tuple[Suspect, ...] = ()

    @property
    def suspects(self) -> list[Suspect]:
        return [*(one for _, some in self.of_leaves for one in some), *self.of_keys]

    @property
    def absent(self) -> frozenset[EventType]:
        return frozenset(leaf for leaf, _ in self.of_leaves)


def needs(case: Case) -> Needs:
    """Return what keeps any event out of a part of the pattern that a match needs."""
    leaves = ((leaf, tuple(_blocked(case, leaf))) for leaf in mandatory(case.query.pattern))
    return Needs(tuple((leaf, found) for leaf, found in leaves if found), tuple(_foreign_keys(case)))


def _blocked(case: Case, leaf: EventType) -> Iterator[Suspect]:
    if leaf.name not in case.events.on_time.counts:
        yield _missing_type(case, leaf)
    else:
        yield from _unsatisfied(case, leaf)
        yield from _without_key(case, leaf)


def _missing_type(case: Case, leaf: EventType) -> Suspect:
    name, events = leaf.name, case.events
    nothing = f"no event has the type {quote(name)}"
    if name in events.counts:
        message = f"all {events.counts[name]:,} events of type {quote(name)} are late, and so count in no row"
        return Suspect("late", message, leaf.place, (Fix("allow more lateness", reading=Reading(late=True)),))
    if name in events.dead_types:
        message = f"all {events.dead_types[name]:,} events of type {quote(name)} are dead letters"
        return Suspect("dead", message, leaf.place, (Fix(dead_hint(case.events, name)),))
    meant = near(name, [one for one in {**events.counts, **events.dead_types} if one not in case.query.types])
    if meant is None:
        known = f"the types of the events are {those(events.counts)}" if events.counts else "there are no events"
        return Suspect("type", nothing, leaf.place, (Fix(known),))
    message = f"{nothing}; {events.counts.get(meant.text, 0):,} have {meant.text!r} ({meant.how})"
    if NAME.fullmatch(meant.text):
        fix = Fix(f"write {meant.text}", renamed_type(name, meant.text))
    else:
        fix = Fix(f"write {name!r} in the events", reading=Reading(types=((meant.text, name),)))
    return Suspect("type", message, leaf.place, (fix,))


def dead_hint(events: Events, name: str) -> str:
    """Return how to mend the bad events of a type."""
    first = events.dead_of(name)
    return f"mend the events; {first.where}: {first.reason} (elsinore run --dead-letters FILE lists them)"


def about_one(query: Query, variable: str | None) -> list[Expression]:
    """Return the predicates that read events of one variable, each by itself."""
    return [
        one
        for one in query.predicates
        if all(isinstance(reader, Attribute) and not reader.next for reader in readers(one))
        and {reader.variable for reader in readers(one)} == {variable}
    ]


def _unsatisfied(case: Case, leaf: EventType) -> Iterator[Suspect]:
    events = case.events.on_time.of_type(leaf.name)
    joint = np.ones(len(events), np.bool_)
    possible = True
    conditions = about_one(case.query, leaf.variable)
    for one in conditions:
        try:
            mask = events.satisfying(one, case.query, case.text)
        except WorkloadError as error:
            possible = False
            yield _wrong_kind(events, one, error)
            continue
        joint &= mask
        if not mask.any():
            possible = False
            yield _never(events, leaf, one)
    if possible and len(conditions) > 1 and not joint.any():
        message = f"no event of type {quote(leaf.name)} satisfies all {len(conditions)} conditions on it"
        fixes = tuple(Fix(f"leave out {one}", exchanged(one, None)) for one in conditions)
        yield Suspect("predicate", message, conditions[-1].place, fixes)


def _wrong_kind(events: Events, one: Expression, error: WorkloadError) -> Suspect:
    """Return the suspect for a comparison of texts with numbers."""
    names = {reader.name for reader in readers(one) if isinstance(reader, Attribute)}
    kinds = ", ".join(f"{quote(name)} holds {_kind(events.values(name).type)}" for name in sorted(names))
    message = f"{kinds}, and {error.problems[0].message.removeprefix('this ')}"
    literals = [node for node in nodes(one) if isinstance(node, LiteralValue)]
    fixes = []
    for literal in literals:
        if isinstance(literal.value, str) and (number := number_of(literal.value)) is not None:
            value = int(number) if number.is_integer() else number
            fixes.append(Fix(f"write {value}", exchanged(literal, replace(literal, value=value))))
    texts = frozenset(name for name in names if events.texts(name) is not None)
    if texts and _spell_numbers(events, texts):
        hint = f"write {those(texts)} as numbers in the events"
        fixes.append(Fix(hint, reading=Reading(numbers=texts)))
    for literal in literals:
        if isinstance(literal.value, int | float) and not isinstance(literal.value, bool):
            new = replace(literal, value=str(literal.value))
            fixes.append(Fix(f"write {new}", exchanged(literal, new)))
    return Suspect("kind", message, one.place, (*fixes, Fix(f"leave out {one}", exchanged(one, None))))


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        return "texts"
    return "numbers" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else f"{kind}"


def _spell_numbers(events: Events, names: frozenset[str]) -> bool:
    return all(
        all(number_of(text) is not None for text in events.texts(name) or ()) and events.texts(name) for name in names
    )


def _never(events: Events, leaf: EventType, one: Expression) -> Suspect:
    """Return the suspect for a predicate that no event of a type satisfies."""
    drop = Fix(f"leave out {one}", exchanged(one, None))
    many = f"none of the {len(events):,} events of type {quote(leaf.name)}"
    for name in sorted({reader.name for reader in readers(one) if isinstance(reader, Attribute)}):
        if events.nulls(name) == len(events):
            other = events.near_column(name)
            rename = (Fix(f"write {other}", renamed_attribute(one, name, other)),) if other else ()
            message = f"{many} has a value of {quote(name)}, and a comparison with null is false"
            return Suspect("null", message, one.place, (*rename, drop))
    if spelled := _misspelled(events, one):
        return replace(spelled, fixes=(*spelled.fixes, drop))
    names = frozenset(reader.name for reader in readers(one) if isinstance(reader, Attribute))
    if (texts := _ordered_texts(events, one)) is not None:
        message = f"{many} satisfies {one}: {those(names)} holds texts, which are ordered letter by letter"
        return Suspect("kind", message, one.place, (texts, drop))
    message = f"{many} satisfies {one}{_seen(events, names)}"
    moved = _moved(events, one)
    return Suspect("predicate", message, one.place, (*([moved] if moved else []), drop))


def _seen(events: Events, names: frozenset[str]) -> str:
    """Return what values there are of the one attribute that a predicate reads."""
    if len(names) != 1:
        return ""
    (name,) = names
    texts = events.texts(name)
    if texts is not None:
        return f"; there is {those(texts)}" if texts else ""
    least, most = pc.min_max(events.values(name)).as_py().values()
    return f"; {name} is {least}" if least == most else f"; {name} goes from {least} to {most}"


def _misspelled(events: Events, one: Expression) -> Suspect | None:
    """Return the suspect for a text that no event has, if they have one that is spelled almost alike."""
    match one:
        case Comparison("=", Attribute(name=name), LiteralValue(value=str()) as literal):
            wanted = [literal]
        case Comparison("=", LiteralValue(value=str()) as literal, Attribute(name=name)):
            wanted = [literal]
        case In(Attribute(name=name), values, negated=False):
            wanted = [value for value in values if isinstance(value.value, str)]
        case _:
            return None
    texts = events.texts(name) or []
    for literal in wanted:
        meant = near(str(literal.value), texts)
        if meant is not None:
            new = replace(literal, value=meant.text)
            message = f"no event has {literal} in {quote(name)}; there is {new} ({meant.how})"
            return Suspect("value", message, literal.place, (Fix(f"write {new}", exchanged(literal, new)),))
    return None


def _ordered_texts(events: Events, one: Expression) -> Fix | None:
    """Return the fix for a text that is compared like a number."""
    match one:
        case Comparison("<" | "<=" | ">" | ">=", Attribute(name=name), LiteralValue(value=str() as text) as literal):
            number = number_of(text)
            if number is not None and _spell_numbers(events, frozenset([name])):
                value = int(number) if number.is_integer() else number
                edit = exchanged(literal, replace(literal, value=value))
                return Fix(
                    f"write {name} as numbers in the events, and {value} here", edit, Reading(numbers=frozenset([name]))
                )
    return None


def _moved(events: Events, one: Expression) -> Fix | None:
    """Return the fix that moves the bound of a comparison to the nearest value that an event has."""
    match one:
        case Comparison(operator, Attribute(name=name), LiteralValue(value=int() | float())):
            values = events.values(name)
        case _:
            return None
    if operator not in ("<", "<=", ">", ">=") or not (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    ):
        return None
    limits = pc.min_max(values).as_py()
    value, wide = (limits["min"], "<=") if operator in ("<", "<=") else (limits["max"], ">=")
    new = Comparison(wide, one.left, LiteralValue(value), place=one.place)  # type: ignore[arg-type]
    return Fix(f"write {new}", exchanged(one, new))


def _without_key(case: Case, leaf: EventType) -> Iterator[Suspect]:
    """Yield the attributes that split the stream and that all events of a type lack."""
    events = case.events.on_time.of_type(leaf.name)
    for name in case.query.partition:
        if case.events.nulls(name) and events.nulls(name) == len(events):
            message = f"no event of type {quote(leaf.name)} has a value of {quote(name)}, so all of them are dropped"
            yield Suspect("null", message, place_of_key(case.query, name), (_no_key(name),))


def _no_key(name: str) -> Fix:
    return Fix(f"leave out {name} there, or give these events a value", without_key(name))


def place_of_key(query: Query, name: str) -> Place | None:
    """Return where an attribute stands that splits the stream."""
    for part in query.equivalences:
        if name in part.attributes:
            return part.place
    return next((part.place for part in query.group_by if part.attribute == name), None)


def _foreign_keys(case: Case) -> Iterator[Suspect]:
    """Yield the attributes that split the stream so that no part has events of all types."""
    types = list(dict.fromkeys(leaf.name for leaf in mandatory(case.query.pattern)))
    parts = [case.events.on_time.of_type(name) for name in types]
    first = [part.at(np.arange(min(len(part), FIRST_EVENTS))) for part in parts]
    for name in case.query.partition if len(parts) > 1 else ():
        if len(_common([part.distinct(name) for part in first])):
            continue
        found = [part.distinct(name) for part in parts]
        if not all(map(len, found)) or len(_common(found)):
            continue
        low = next(number for number in range(1, len(types)) if not len(_common(found[: number + 1])))
        values = [set(one.to_pylist()) for one in found]
        message = f"no value of {quote(name)} is in events of type {quote(types[low])} and in those before"
        place = place_of_key(case.query, name)
        alike = [{normal(value) if isinstance(value, str) else value for value in some} for some in values]
        if set.intersection(*alike):
            example = next(value for value in values[low] if isinstance(value, str) and _alike(value, values[0]))
            hint = f"spell {name} alike in all events: {_alike(example, values[0])!r} and {example!r} differ"
            fix = Fix(hint, reading=Reading(normal=frozenset([name])))
            yield Suspect("key spelling", message, place, (fix, _no_key(name)))
        else:
            yield Suspect("key", f"{message}: it splits the stream too far", place, (_no_key(name),))


def _common(columns: Sequence[pa.Array]) -> pa.Array:
    """Return the values that are in each of these columns."""
    return reduce(lambda one, other: one.filter(pc.is_in(one, other)), columns)


def _alike(value: str, others: set[object]) -> str:
    return next((other for other in others if isinstance(other, str) and normal(other) == normal(value)), "")
