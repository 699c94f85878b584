"""Enumeration of all matches of RETURN MATCHES among a few events, by the definition in `docs/language.md`.

A chain is grown event by event, as in `enumerate`; what its variables are bound to tells matches apart. AND inside of
a sequence is one step of the chain, which takes all events of a match of AND.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from tests.oracle.answer import Row, exact, split, with_places
from tests.oracle.enumerate import ANY, CONTIGUOUS, NEXT
from tests.oracle.expressions import Attribute, Event, Expression, Of, evaluate, readers
from tests.oracle.pattern import Gap, Rest, Step, endings, steps
from tests.oracle.query import Absent, And, Item, One, Or, Pattern, Query, Repeat, Seq, leaves, negations

Bound = Mapping[str, tuple[int, ...]]
"""The numbers of the events that each variable is bound to, in order of time; absent variables are left out."""

JOINED = "&"
"""Type of a leaf that stands for an AND."""


def matches(queries: Iterable[Query], events: Iterable[Event]) -> list[Row]:
    """Return the rows of queries that return matches, in the order in which the product returns them."""
    given = list(events)
    return [row for query in queries for row in _rows(query, given)]


def numbered(rows: Iterable[Row], key: str = "id") -> list[Row]:
    """Return rows with an attribute of each event in place of the event."""

    def short(value: Any) -> Any:
        if isinstance(value, list):
            return [short(each) for each in value]
        return value[key] if isinstance(value, dict) else value

    return [{name: short(value) for name, value in row.items()} for row in rows]


# Rows


def _rows(query: Query, given: list[Event]) -> list[Row]:
    """Return the rows of one query, ordered by end, by start, and by the events of each variable."""
    order = sorted(range(len(given)), key=lambda each: given[each]["time"])
    originals = [given[each] for each in order]
    stream = exact(originals)
    found = []
    for members in split(_numbered(query, stream), query.partition).values():
        scene = Scene(query, members)
        found += [_Match(scene, bound) for bound in scene.matches(query.pattern)]
    found.sort(key=lambda match: match.key)
    kept = found if query.limit is None else list(_limited(found, query.limit))
    return [match.row(originals) for match in kept]


def _numbered(query: Query, stream: Sequence[Event]) -> list[Event]:
    """Return the events that are in a partition, with their numbers in the stream and their ticks (time or place)."""
    places = [event["time"] for event in with_places(stream)]
    ticks = places if query.unit == "events" else [event["time"] for event in stream]
    numbered = (
        {**event, "#": number, "tick": tick} for number, (event, tick) in enumerate(zip(stream, ticks, strict=True))
    )
    return [event for event in numbered if all(event.get(name) is not None for name in query.partition)]


def _limited(found: Iterable[_Match], limit: int) -> Iterator[_Match]:
    """Yield the first matches of each group and end."""
    taken: dict[Any, int] = {}
    for match in found:
        place = match.end, match.group
        taken[place] = taken.get(place, 0) + 1
        if taken[place] <= limit:
            yield match


@dataclass(frozen=True)
class _Match:
    scene: Scene
    bound: Bound

    @cached_property
    def events(self) -> list[Event]:
        return sorted((self.scene.events[each] for bound in self.bound.values() for each in bound), key=_number)

    @property
    def end(self) -> Any:
        return self.events[-1]["time"]

    @property
    def group(self) -> tuple[Any, ...]:
        return tuple(self.events[0][name] for name in self.scene.query.groups)

    @property
    def key(self) -> Any:
        numbers = [tuple(self.scene.events[each]["#"] for each in self.bound.get(name, ())) for name in self._variables]
        return self.end, self.events[0]["time"], numbers

    @property
    def _variables(self) -> list[str]:
        return [leaf.variable for leaf in positive(self.scene.query.pattern)]

    def row(self, originals: Sequence[Event]) -> Row:
        query, first, last = self.scene.query, originals[_number(self.events[0])], originals[_number(self.events[-1])]
        row = {"query": query.name, "start": first["time"], "end": last["time"]}
        row |= {name: first[name] for name in query.groups}
        if query.items:
            return row | {item.label: self._item(item) for item in query.items}
        for leaf in positive(query.pattern):
            row[leaf.variable] = self._column(leaf.variable, lambda event: dict(originals[_number(event)]))
        return row

    def _item(self, item: Item) -> Any:
        if isinstance(item.value, Of):
            return self.scene.summary(item.value, self.bound)
        name = item.value.name
        return self._column(item.value.variable, lambda event: event.get(name))

    def _column(self, variable: str, shown: Any) -> Any:
        """Return what is shown of the events of a variable: a list, or of a variable that is bound once one or None."""
        bound = [shown(self.scene.events[each]) for each in self.bound.get(variable, ())]
        if variable in listed(self.scene.query.pattern):
            return bound
        return bound[0] if bound else None


def _number(event: Event) -> int:
    number: int = event["#"]
    return number


def positive(pattern: Pattern) -> Iterator[One]:
    """Yield the leaves outside of NOT, from left to right."""
    match pattern:
        case One():
            yield pattern
        case Repeat(part):
            yield from positive(part)
        case Seq(parts) | Or(parts) | And(parts):
            for part in parts:
                yield from positive(part)
        case Absent():
            pass


def listed(pattern: Pattern) -> set[str]:
    """Return the variables that may be bound more than once."""
    match pattern:
        case One():
            return set()
        case Repeat(part, _, most) if most is None or most > 1:
            return {leaf.variable for leaf in leaves(part)}
        case Repeat(part) | Absent(part):
            return listed(part)
        case Seq(parts) | Or(parts) | And(parts):
            return set().union(*map(listed, parts))


# Matches


@dataclass(frozen=True)
class Found:
    """A part of a match: what it binds, its first and last times, and its last variable and event (None after AND)."""

    bound: Bound
    start: Any
    end: Any
    last: tuple[str, int] | None = None
    gaps: tuple[tuple[Gap, Any, Any], ...] = ()
    """Negations that are still to be looked for, each strictly between two times."""

    @cached_property
    def events(self) -> frozenset[int]:
        return frozenset(each for bound in self.bound.values() for each in bound)

    @property
    def identity(self) -> frozenset[tuple[str, tuple[int, ...]]]:
        return frozenset(self.bound.items())


@dataclass
class Scene:
    """The events of one partition, in order of time."""

    query: Query
    events: list[Event]

    @cached_property
    def times(self) -> list[Any]:
        return [event["time"] for event in self.events]

    @cached_property
    def conjunctions(self) -> dict[str, And]:
        """The ANDs of the pattern, by the variable of the leaf that stands for each."""
        return {}

    @cached_property
    def negated(self) -> frozenset[str]:
        return frozenset(leaf.variable for part in negations(self.query.pattern) for leaf in leaves(part))

    @cached_property
    def conditions(self) -> list[Expression]:
        """The predicates that hold or not as soon as their variables are bound."""
        return [each for each in self._own if not any(isinstance(reader, Of) for reader in readers(each))]

    @cached_property
    def summaries(self) -> list[Expression]:
        """The predicates that need all events of a variable."""
        return [each for each in self._own if any(isinstance(reader, Of) for reader in readers(each))]

    @cached_property
    def across(self) -> list[Expression]:
        """The predicates between a negation and the match."""
        return [each for each in self.query.predicates if _names(each) & self.negated and _names(each) - self.negated]

    @cached_property
    def nexts(self) -> list[Expression]:
        return [each for each in self.query.predicates if _is_next(each)]

    @cached_property
    def _own(self) -> list[Expression]:
        return [each for each in self.query.predicates if each not in self.across and each not in self.nexts]

    def matches(self, pattern: Pattern) -> list[Bound]:
        """Return what each match binds, every match once."""
        whole = self._without_and(pattern)
        found = {one.identity: one.bound for one in self._chains(whole, self.query.semantics) if self._complete(one)}
        return list(found.values())

    def _without_and(self, pattern: Pattern) -> Pattern:
        """Return a pattern with a leaf of its own in place of each AND."""
        match pattern:
            case One():
                return pattern
            case And():
                name = f"{JOINED}{len(self.conjunctions)}"
                self.conjunctions[name] = And(())
                self.conjunctions[name] = And(tuple(map(self._without_and, pattern.parts)))
                return One(JOINED, name)
            case Repeat(part, least, most):
                return Repeat(self._without_and(part), least, most)
            case Absent(part):
                return Absent(self._without_and(part))
            case Seq(parts) | Or(parts):
                return type(pattern)(tuple(map(self._without_and, parts)))

    def _complete(self, found: Found) -> bool:
        """Return whether a whole match satisfies what only a whole match can: lists, and negations."""
        return all(self._holds(each, found.bound) for each in self.summaries) and all(
            self._silent(gap, low, high, found) for gap, low, high in found.gaps
        )

    # Chains

    def _chains(self, pattern: Pattern, semantics: str) -> Iterator[Found]:
        """Yield all chains that match a pattern without AND, with the negations that are still to be looked for."""
        growing = [
            (unit, step.rest) for step in steps((pattern,)) for unit in self._units(step, None) if self._fits(unit)
        ]
        while growing:
            found, rest = growing.pop()
            for gap in endings(rest):
                yield replace(found, gaps=(*found.gaps, (gap, found.end, None))) if gap else found
            growing += self._narrowed(found, list(self._longer(found, rest)), semantics)

    def _longer(self, found: Found, rest: Rest) -> Iterator[tuple[Found, Rest]]:
        """Yield the chains with one step more."""
        for step in steps(rest):
            for unit in self._units(step, found):
                joined = self._joined(found, unit)
                if joined and self._follows(found, unit) and self._fits(joined):
                    yield joined, step.rest

    def _units(self, step: Step, found: Found | None) -> Iterator[Found]:
        """Yield what one step can take behind a part of a match: an event or a match of AND, and the gap before it."""
        after = None if found is None else found.end
        units, starts = self._taken(step.at)
        for unit in units[0 if after is None else bisect_right(starts, after) :]:
            if found and self._tick(unit) - self._tick(found) >= self.query.within:
                break
            gaps = ((step.gap, after, unit.start),) if step.gap else ()
            yield replace(unit, gaps=(*unit.gaps, *gaps))

    def _taken(self, at: One) -> tuple[list[Found], list[Any]]:
        """Return what a leaf can take, in order of the starts, and the starts."""
        if at not in self._units_seen:
            takes = self._together(self.conjunctions[at.variable]) if at.type == JOINED else self._single(at)
            units = sorted(takes, key=lambda unit: unit.start)
            self._units_seen[at] = units, [unit.start for unit in units]
        return self._units_seen[at]

    def _tick(self, found: Found) -> Any:
        return self.events[min(found.events)]["tick"]

    @cached_property
    def _units_seen(self) -> dict[One, tuple[list[Found], list[Any]]]:
        return {}

    def _single(self, at: One) -> Iterator[Found]:
        for number, event in enumerate(self.events):
            unit = Found({at.variable: (number,)}, event["time"], event["time"], (at.variable, number))
            if event["type"] == at.type and self._agrees(unit.bound, unit.bound):
                yield unit

    def _together(self, conjunction: And) -> Iterator[Found]:
        """Yield the matches of AND: one of each operand, without a common event."""
        found: list[Found] = [Found({}, None, None)]
        for operand in conjunction.parts:
            ways = {one.identity: one for one in self._chains(operand, self.query.semantics)}
            pairs = ((one, other) for one in found for other in ways.values() if self._in_window(one, other))
            found = [joined for one, other in pairs if (joined := self._joined(one, other))]
        yield from (replace(one, last=None) for one in found)

    def _joined(self, found: Found, other: Found) -> Found | None:
        """Return two parts of a match as one, or None if they share events or break a predicate."""
        if found.events & other.events:
            return None
        bound = {**found.bound}
        for name, numbers in other.bound.items():
            bound[name] = tuple(sorted((*bound.get(name, ()), *numbers)))
        if not self._agrees(bound, other.bound):
            return None
        times = [time for time in (found.start, other.start, found.end, other.end) if time is not None]
        return Found(bound, min(times), max(times), other.last, (*found.gaps, *other.gaps))

    def _follows(self, found: Found, unit: Found) -> bool:
        """Return whether an event may come right after another one of the same variable."""
        if found.last is None or unit.last is None or found.last[0] != unit.last[0]:
            return True
        before, after = self.events[found.last[1]], self.events[unit.last[1]]

        def read(part: Attribute | Of) -> Any:
            assert isinstance(part, Attribute)
            return (after if part.next else before).get(part.name)

        return all(evaluate(each, read) for each in self.nexts if _names(each) == {unit.last[0]})

    def _fits(self, found: Found) -> bool:
        """Return whether a chain lies in a window, and no negation that can be looked for already is there."""
        return self._in_window(found) and all(
            self._silent(gap, low, high, found)
            for gap, low, high in found.gaps[-1:]
            if low is not None and not self._is_across(gap)
        )

    def _in_window(self, *parts: Found) -> bool:
        ticks = [self.events[each]["tick"] for part in parts for each in part.events]
        return bool(max(ticks) - min(ticks) < self.query.within)

    def _narrowed(self, found: Found, longer: list[tuple[Found, Rest]], semantics: str) -> list[tuple[Found, Rest]]:
        """Return the continuations that the semantics allows."""
        if semantics == ANY:
            return longer
        others = self.times if semantics == CONTIGUOUS else [one.end for one, _ in longer]
        assert semantics in (CONTIGUOUS, NEXT)
        return [(one, rest) for one, rest in longer if not any(found.end < time < one.end for time in others)]

    # Negations

    def _is_across(self, gap: Gap) -> bool:
        return any(_names(each) & {leaf.variable for part in gap for leaf in leaves(part)} for each in self.across)

    def _silent(self, gap: Gap, low: Any, high: Any, found: Found) -> bool:
        """Return whether no negated part of a gap has a match that lies in the gap, and in one window with `found`."""
        return not any(self._forbids(part, other, found) for part in gap for other in self._negated_in(part, low, high))

    def _negated_in(self, part: Pattern, low: Any, high: Any) -> list[Found]:
        """Return the matches of a negated part strictly between two times; None is no bound."""
        key = part, low, high
        if key not in self._seen:
            inside = [e for e in self.events if (low is None or low < e["time"]) and (high is None or e["time"] < high)]
            inner = Scene(replace(self.query, semantics=ANY), inside)
            inner.conjunctions.update(self.conjunctions)
            numbers = {_number(event): each for each, event in enumerate(self.events)}
            self._seen[key] = [
                Found(
                    {
                        name: tuple(numbers[_number(inside[each])] for each in found)
                        for name, found in one.bound.items()
                    },
                    one.start,
                    one.end,
                )
                for one in inner._chains(part, ANY)
            ]
        return self._seen[key]

    @cached_property
    def _seen(self) -> dict[Any, list[Found]]:
        return {}

    def _forbids(self, part: Pattern, other: Found, found: Found) -> bool:
        """Return whether a match of a negated part is in one window with the match, and satisfies what relates both."""
        bound = {**found.bound, **other.bound}
        inside = {leaf.variable for leaf in leaves(part)}
        return self._in_window(found, other) and all(
            self._holds(each, bound) for each in self.across if _names(each) & inside
        )

    # Predicates

    def _agrees(self, bound: Bound, new: Bound) -> bool:
        """Return whether the predicates hold that read a new event, as far as their variables are bound."""
        for each in self.conditions:
            if _names(each) & new.keys():
                # Only choices with a new event can have broken a predicate that held before.
                for name in _names(each) & new.keys():
                    if not self._holds(each, {**bound, name: new[name]}):
                        return False
        return True

    def _holds(self, expression: Expression, bound: Bound) -> bool:
        """Return whether a predicate holds for every choice of one event of each variable that it reads."""
        variables = sorted({reader.variable for reader in readers(expression) if isinstance(reader, Attribute)})
        for choice in product(*(bound.get(variable, ()) for variable in variables)):
            chosen = dict(zip(variables, choice, strict=True))

            def read(part: Attribute | Of, chosen: dict[str, int] = chosen) -> Any:
                if isinstance(part, Of):
                    return self.summary(part, bound)
                return self.events[chosen[part.variable]].get(part.name)

            if not evaluate(expression, read):
                return False
        return True

    def summary(self, of: Of, bound: Bound) -> Any:
        """Return FIRST, LAST or an aggregate of the values of a variable, nulls left out; None if there is none."""
        events = [self.events[each] for each in bound.get(of.variable, ())]
        if of.attribute is None:
            return len(events)
        values = [value for event in events if (value := event.get(of.attribute)) is not None]
        if not values:
            return None
        match of.function:
            case "FIRST":
                return values[0]
            case "LAST":
                return values[-1]
            case "SUM":
                return sum(values)
            case "MIN":
                return min(values)
            case "MAX":
                return max(values)
        assert of.function == "AVG"
        return Fraction(sum(values)) / len(values)


def _names(expression: Expression) -> set[str]:
    return {reader.variable for reader in readers(expression)}


def _is_next(expression: Expression) -> bool:
    return any(isinstance(reader, Attribute) and reader.next for reader in readers(expression))
