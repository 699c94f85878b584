"""The planner's patterns of queries, one for each clause of a normal form; and patterns as text of the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import permutations

from elsinore.planner.detection.normal_form import Clause, Element, Gap, Guard, NormalForm
from elsinore.planner.detection.normal_form import Condition as Stated
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, filled
from elsinore.planner.detection.text import structure_text
from elsinore.planner.language.syntax import All, Any, Comparison, EventType, Expression, Kleene, Negation, Query
from elsinore.planner.language.walk import map_attributes
from elsinore.planner.machines.predicates import MIRRORED

FEWEST = 2
"""Positive events that a pattern has to have: with one there is nothing to order."""

MOST_NUMBERED = 4
"""Variables of a condition up to which all ways to number them are compared."""


def patterns_of(form: NormalForm) -> dict[int, Pattern]:
    """Return the patterns of a query, by number of the clause; clauses without one are left out.

    A pattern is called like its query; where there are several clauses, the number of the clause follows.
    """
    name, several = form.query.name, len(form.clauses) > 1
    names = [f"{name}.{number}" if several else name for number in range(1, len(form.clauses) + 1)]
    found = ((number, pattern_of(form, clause, names[number])) for number, clause in enumerate(form.clauses))
    return {number: pattern for number, pattern in found if pattern is not None}


def pattern_of(form: NormalForm, clause: Clause, name: str) -> Pattern | None:
    """Return the pattern of a clause, with the query's variables as names of events; None if nothing can be planned.

    What the planner has no word for is left out, so that the clause has no match without one of the pattern: chains,
    lists whose events are compared with each other or summarised, negated parts of several events, of several ways or
    at an edge, and conditions that name any of these. Conditions on the same events become one.
    """
    if form.query.semantics != "any":
        return None
    reader = _Reader(form, clause)
    return reader.pattern(name) if len(reader.positive) >= FEWEST else None


def queries_of(patterns: Iterable[Pattern]) -> str:
    """Return patterns as the text of a workload, in which each is a query of its name."""
    return ";\n\n".join(map(_query_of, patterns))


def _query_of(pattern: Pattern) -> str:
    counts = Counter(event.type for event in pattern.events)
    titles = {event.name: _title(event, counts[event.type] == 1) for event in pattern.events}
    bare = replace(pattern, events=tuple(replace(event, own="") for event in pattern.events))
    structure = structure_text(bare, titles)
    if ";" in structure:
        raise ValueError(f"pattern {pattern.name}: {structure} cannot be written with SEQ and AND")
    texts = [filled(event.own, [event.name]) for event in pattern.events if event.own]
    texts += [filled(one.text, one.events) for one in pattern.conditions]
    lines = [f"QUERY {pattern.name}", "RETURN MATCHES", f"PATTERN {structure}"]
    if texts:
        lines.append("WHERE " + " AND ".join(f"({text})" if " OR " in text else text for text in texts))
    unit = "seconds" if pattern.window.clock == "time" else "events"
    return "\n".join((*lines, f"WITHIN {Decimal(str(pattern.window.length)).normalize():f} {unit}"))


def _title(event: Event, alone: bool) -> str:
    """Return an event as a pattern names it: its type, with a variable unless `resolve` would add it."""
    unnamed = "#" in event.name or (alone and event.name == event.type)
    return event.type if unnamed else f"{event.type} {event.name}"


@dataclass(frozen=True)
class _Reader:
    """What the planner can say of a clause."""

    form: NormalForm
    clause: Clause

    def pattern(self, name: str) -> Pattern:
        events, order = list(self.positive.values()), set(self._order)
        stated = [one for one in self.clause.conditions if _by_choice(one)]
        for gap in filter(self._open, self.clause.gaps):
            for event, own in self._negated(gap):
                events.append(event)
                order |= {(one, event.name) for one in self._names(gap.after, backwards=True)}
                order |= {(event.name, one) for one in self._names(gap.before, backwards=False)}
                stated += own
        places = {variable: place for place, variable in enumerate(self.form.types)}
        events.sort(key=lambda event: places[event.name])
        return Pattern(
            name, tuple(events), frozenset(order), self._conditions(stated, events), window_of(self.form.query)
        )

    @cached_property
    def positive(self) -> dict[int, Event]:
        """Return the events that the clause binds, by number of the element."""
        found = ((number, self._event(element)) for number, element in enumerate(self.clause.elements))
        return {number: event for number, event in found if event is not None}

    def _event(self, element: Element) -> Event | None:
        pattern = element.pattern
        if isinstance(pattern, EventType):
            return self._single(pattern, Kind.SINGLE)
        (variable, *others) = element.variables
        if others or not isinstance(pattern, Kleene) or not isinstance(pattern.part, EventType):
            return None
        if any(variable in one.variables | one.summarised for one in self.clause.conditions if not _by_choice(one)):
            return None
        return replace(self._single(pattern.part, Kind.KLEENE), least=pattern.least, most=pattern.most)

    def _single(self, leaf: EventType, kind: Kind) -> Event:
        variable = leaf.variable or ""
        return Event(variable, leaf.name, _text(self.form.local[variable], {variable: "$0"}), kind)

    @property
    def _order(self) -> Iterator[tuple[str, str]]:
        for a, b in self.clause.order:
            if a in self.positive and b in self.positive:
                yield self.positive[a].name, self.positive[b].name

    def _open(self, gap: Gap) -> bool:
        """Return whether both ends of a gap are known, and only one way leads across."""
        return (
            bool(gap.after and gap.before) and self.positive.keys() >= {*gap.after, *gap.before} and len(gap.ways) == 1
        )

    def _names(self, elements: Sequence[int], backwards: bool) -> Iterator[str]:
        """Yield the names of some elements, and of all before or after them."""
        for number, event in self.positive.items():
            pairs = ((number, one) if backwards else (one, number) for one in elements)
            if number in elements or any(pair in self.clause.order for pair in pairs):
                yield event.name

    def _negated(self, gap: Gap) -> Iterator[tuple[Event, list[Stated]]]:
        """Yield the events that must not be in a gap, with their conditions on those around it."""
        (way,) = gap.ways
        for number in sorted(way):
            guard = self.form.guards[number]
            if isinstance(guard.pattern, EventType) and (own := self._about(guard, guard.pattern)) is not None:
                yield self._single(guard.pattern, Kind.NEGATED), own

    def _about(self, guard: Guard, leaf: EventType) -> list[Stated] | None:
        """Return the conditions of a negated event; None if one of them cannot be said.

        One that names a variable that the clause does not bind constrains nothing.
        """
        (clause,) = guard.clauses
        bound = {*self.clause.variables, leaf.variable}
        own = [one for one in clause.conditions if one.variables | one.summarised <= bound]
        known = {leaf.variable, *(event.name for event in self.positive.values())}
        return own if all(_by_choice(one) and one.variables <= known for one in own) else None

    def _conditions(self, stated: Iterable[Stated], events: Sequence[Event]) -> tuple[Condition, ...]:
        names = {event.name for event in events}
        alike: dict[frozenset[str], list[Expression]] = {}
        for one in stated:
            if one.variables <= names:
                alike.setdefault(one.variables, []).append(one.expression)
        return tuple(_condition(found, [event for event in events if event.name in of]) for of, found in alike.items())


def window_of(query: Query) -> Window:
    """Return a query's window, on its clock."""
    return Window(float(query.within.length), "events" if query.counts_events else "time")


def _by_choice(one: Stated) -> bool:
    """Return whether a condition is about one event of each of its variables."""
    return bool(one.variables) and not one.successive and not one.summarised


def _condition(expressions: Sequence[Expression], events: Sequence[Event]) -> Condition:
    """Return conditions on the same events as one, numbered so that its text is the smallest."""
    ways = permutations(events) if len(events) <= MOST_NUMBERED else [tuple(events)]
    texts = [(_text(expressions, _numbers(way)), tuple(event.type for event in way), way) for way in ways]
    text, _, chosen = min(texts, key=lambda one: one[:2])
    symmetric = len(texts) > 1 and all(one == text for one, _, _ in texts)
    return Condition(tuple(event.name for event in (events if symmetric else chosen)), text, symmetric)


def _numbers(events: Sequence[Event]) -> dict[str, str]:
    return {event.name: f"${number}" for number, event in enumerate(events)}


def _text(expressions: Iterable[Expression], called: Mapping[str, str]) -> str:
    """Return conditions as one text that does not depend on the order of what may change places."""
    texts = {str(part): part for part in (_canonical(_renamed(one, called)) for one in expressions)}
    parts = tuple(texts[text] for text in sorted(texts))
    return str(parts[0] if len(parts) == 1 else All(parts)) if parts else ""


def _renamed(expression: Expression, called: Mapping[str, str]) -> Expression:
    return map_attributes(expression, lambda one: replace(one, variable=called[one.variable]))


def _canonical(expression: Expression) -> Expression:
    match expression:
        case All() | Any():
            parts = {str(part): part for part in map(_canonical, expression.parts)}
            return replace(expression, parts=tuple(parts[text] for text in sorted(parts)))
        case Negation():
            return replace(expression, part=_canonical(expression.part))
        case Comparison(operator, left, right) if str(left) > str(right):
            return Comparison(MIRRORED[operator], right, left)
    return expression
