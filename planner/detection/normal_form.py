"""The normal form of a query that returns matches (Kolchinsky and Schuster, Section 2).

A pattern is brought into disjunctive normal form: *clauses*, of which a match satisfies exactly one. A clause has
*elements*, all of which a match binds, and a strict partial order between them. An element is a single event, or a
*chain*: events that follow one another in time as a regular expression over variables says (a list, a repeated group).

Alternatives and optional parts become clauses, which differ in the variables that are bound. So no match is found
twice. Alternatives that bind nothing (`NOT C | NOT E`, or a part that is absent) are no clauses of their own: they are
*ways* to cross the gap between two elements, and a gap is clear if one of its ways is.

Under skip-till-next-match and contiguous, what is next depends on all of the pattern: there an operand of the AND at
the top is one chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from elsinore.planner.checks.patterns import at_edge
from elsinore.planner.language.syntax import (
    All,
    And,
    Attribute,
    EventType,
    Expression,
    Kleene,
    Not,
    Or,
    Pattern,
    Query,
    Semantics,
    Seq,
    Summary,
    nodes,
)
from elsinore.planner.language.walk import bound, leaves, listed, map_readers, negated, variables
from elsinore.planner.machines.automaton import CLOSED, FREE, Crossings, both, either, operands

MOST_CLAUSES = 64
"""Number of alternatives of a pattern from which on it stays one chain: each clause is searched by itself."""


@dataclass(frozen=True)
class Element:
    """A single event, or a chain of events that follow one another in time."""

    pattern: Pattern
    semantics: Semantics = "any"

    @property
    def single(self) -> bool:
        return isinstance(self.pattern, EventType)

    @property
    def plain(self) -> bool:
        """Return whether it is a single event, or any list of events of one variable."""
        part = self.pattern.part if isinstance(self.pattern, Kleene) and self.semantics == "any" else self.pattern
        return isinstance(part, EventType)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return the variables that it binds, in the order of the text."""
        return tuple(leaf.variable or "" for leaf in bound(self.pattern))


@dataclass(frozen=True)
class Gap:
    """A gap between elements in which a negated part must not match: one way to cross it has to be clear.

    It reaches from the last event of the elements `after` (none: from the start of the window) to the first event of
    the elements `before` (none: to the end of the window).
    """

    after: tuple[int, ...]
    before: tuple[int, ...]
    ways: Crossings


@dataclass(frozen=True)
class Condition:
    """A condition that holds for every choice of one event for each of its variables."""

    expression: Expression
    variables: frozenset[str]
    successive: bool = False
    """Whether it compares each event of its variable with the next one of the chain, by NEXT."""
    summarised: frozenset[str] = frozenset()
    """The variables of whose events all together it speaks, as COUNT(X) or FIRST(X).a do."""

    @classmethod
    def of(cls, expression: Expression) -> Condition:
        read = [node for node in nodes(expression) if isinstance(node, Attribute)]
        return cls(
            expression,
            frozenset(one.variable for one in read),
            any(one.next for one in read),
            frozenset(node.variable for node in nodes(expression) if isinstance(node, Summary)),
        )

    @property
    def local(self) -> bool:
        """Return whether it is about each event of one variable alone."""
        return len(self.variables) == 1 and not self.successive and not self.summarised

    @property
    def whole(self) -> bool:
        """Return whether it can be decided on a complete match alone."""
        return bool(self.summarised) or not self.variables


@dataclass(frozen=True)
class Clause:
    """Elements, in the order of the text, their order in time, and what has to hold between them."""

    elements: tuple[Element, ...]
    order: frozenset[tuple[int, int]] = frozenset()
    """Pairs of elements such that every event of the first comes before every event of the second; transitive."""
    gaps: tuple[Gap, ...] = ()
    conditions: tuple[Condition, ...] = ()
    """Those that are not about single events; in a guard also those that name variables of the match around it."""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for element in self.elements for name in element.variables)

    @property
    def lasts(self) -> tuple[int, ...]:
        """Return the elements that may have the last event."""
        earlier = {a for a, _ in self.order}
        return tuple(e for e in range(len(self.elements)) if e not in earlier)

    @property
    def firsts(self) -> tuple[int, ...]:
        """Return the elements that may have the first event."""
        later = {b for _, b in self.order}
        return tuple(e for e in range(len(self.elements)) if e not in later)

    def is_in_order(self, levels: Sequence[int]) -> bool:
        """Return whether a search finds matches in the order of rows that binds elements one after another like this.

        The first one is a single event, the last one. The start and all other events, from left to right, ascend if the
        others are in the order of the text, the first of them comes before the rest, and lists are read from their
        first events on.
        """
        last, *others = levels
        plain = self.elements[last].single and all(self.elements[one].plain for one in others)
        return plain and others == sorted(others) and all((others[0], one) in self.order for one in others[1:])


@dataclass(frozen=True)
class Guard:
    """A negated part of a pattern: a gap is clear of it if none of its clauses has a match there."""

    pattern: Pattern
    clauses: tuple[Clause, ...]

    @property
    def outer(self) -> frozenset[str]:
        """Return the variables of the match around it that its conditions name."""
        return frozenset(
            name
            for clause in self.clauses
            for condition in clause.conditions
            for name in (condition.variables | condition.summarised) - variables(self.pattern)
        )


@dataclass(frozen=True)
class NormalForm:
    """A query that returns matches, as clauses."""

    query: Query
    clauses: tuple[Clause, ...]
    guards: tuple[Guard, ...]
    """All negated parts, in the order of the text; the ways to cross a gap name them by number."""
    types: dict[str, str]
    """By variable, its event type."""
    local: dict[str, tuple[Expression, ...]]
    """By variable, the conditions on its single events."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the variables outside of NOT, in the order of the text."""
        return tuple(leaf.variable or "" for leaf in bound(self.query.pattern))

    @cached_property
    def lists(self) -> frozenset[str]:
        """Return the variables that may be bound more than once."""
        return listed(self.query.pattern)

    @cached_property
    def events(self) -> dict[str, tuple[str, tuple[Expression, ...]]]:
        """Return, by variable, its event type and its conditions, without the variable: equal for equal events."""
        return {name: (kind, tuple(map(without_variable, self.local[name]))) for name, kind in self.types.items()}

    @property
    def looks_ahead(self) -> bool:
        """Return whether a match is known only when its window is over: NOT stands at the end."""
        return bool(at_edge(self.query.pattern, backwards=True))


def without_variable(expression: Expression) -> Expression:
    """Return an expression over one event without the name of its variable."""
    return map_readers(
        expression, lambda one: replace(one, variable="", next=False) if isinstance(one, Attribute) else one
    )


def normal_form(query: Query) -> NormalForm:
    """Return the normal form of a resolved query that returns matches."""
    conditions = tuple(Condition.of(part) for one in query.predicates for part in conjuncts(one))
    negations = guards_of(query.pattern)
    fragments = _Fragments(negations)
    clauses = fragments.clauses(query.pattern, query.semantics)
    inside = negated(query.pattern)
    joins = [one for one in conditions if not one.local]
    of_matches = [one for one in joins if not one.variables & inside]
    types = {leaf.variable or "": leaf.name for leaf in leaves(query.pattern)}
    local: dict[str, tuple[Expression, ...]] = dict.fromkeys(types, ())
    for one in conditions:
        if one.local:
            (name,) = one.variables
            local[name] = (*local[name], one.expression)
    return NormalForm(
        query,
        tuple(_bound(clause, of_matches, set(clause.variables)) for clause in clauses),
        tuple(_guard(fragments, part, joins, set(types) - inside) for part in negations),
        types,
        local,
    )


def guards_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return the negated parts of a pattern, each once, in the order of the text."""
    return tuple(dict.fromkeys(node.part for node in nodes(pattern) if isinstance(node, Not)))


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the conditions that AND joins."""
    if isinstance(expression, All):
        for part in expression.parts:
            yield from conjuncts(part)
    else:
        yield expression


def _bound(clause: Clause, conditions: Iterable[Condition], present: set[str]) -> Clause:
    """Return a clause with its conditions; one that chooses an event of an absent variable constrains nothing."""
    return replace(clause, conditions=tuple(one for one in conditions if one.variables <= present))


def _guard(fragments: _Fragments, part: Pattern, joins: Sequence[Condition], outer: set[str]) -> Guard:
    own = variables(part)
    about = [one for one in joins if one.variables & own]
    clauses = (_bound(clause, about, set(clause.variables) | outer) for clause in fragments.clauses(part, "any"))
    return Guard(part, tuple(clauses))


@dataclass(frozen=True)
class _Fragment:
    """Elements of a clause in the making, and the ways to cross the gaps before its first and after its last events."""

    clause: Clause
    enter: Crossings = FREE
    leave: Crossings = FREE


Alternatives = tuple[list[_Fragment], Crossings]
"""The ways to match a pattern by events, and the ways to cross it without any."""


class _Fragments:
    """The clauses of patterns whose negated parts are numbered as `guards` has them."""

    def __init__(self, guards: Sequence[Pattern]) -> None:
        self.guards = guards

    def clauses(self, pattern: Pattern, semantics: Semantics) -> list[Clause]:
        if semantics != "any":
            return [Clause(tuple(Element(operand, semantics) for operand in operands(pattern)))]
        fragments, _ = self.alternatives(pattern)
        return [_closed(fragment) for fragment in fragments]

    def alternatives(self, pattern: Pattern) -> Alternatives:
        found, empty = self._alternatives(pattern)
        if len(found) > MOST_CLAUSES and not any(isinstance(node, And) for node in nodes(pattern)):
            return [_element(pattern)], empty
        return found, empty

    def _alternatives(self, pattern: Pattern) -> Alternatives:
        match pattern:
            case EventType():
                return [_element(pattern)], CLOSED
            case Not():
                return [], frozenset({frozenset({self.guards.index(pattern.part)})})
            case Seq():
                return self._sequence(pattern.parts)
            case Or():
                parts = [self.alternatives(part) for part in pattern.parts]
                empty = CLOSED
                for _, crossings in parts:
                    empty = either(empty, crossings)
                return [one for found, _ in parts for one in found], empty
            case And():
                together = [_Fragment(Clause(()))]
                for part in pattern.parts:
                    found, _ = self.alternatives(part)
                    together = [_beside(left, right) for left in together for right in found]
                return together, CLOSED
            case Kleene():
                return self._repetition(pattern)

    def _sequence(self, parts: Sequence[Pattern]) -> Alternatives:
        whole: list[_Fragment] = []
        empty = FREE
        for part in parts:
            found, crossings = self.alternatives(part)
            longer = [_behind(left, right) for left in whole for right in found]
            if crossings:
                longer += (replace(left, leave=both(left.leave, crossings)) for left in whole)
            if empty:
                longer += (replace(right, enter=both(empty, right.enter)) for right in found)
            whole, empty = longer, both(empty, crossings)
        return whole, empty

    def _repetition(self, pattern: Kleene) -> Alternatives:
        if pattern.most == 0:
            return [], FREE
        if pattern.most == 1:
            found, empty = self.alternatives(pattern.part)
            return found, either(empty, FREE) if pattern.least == 0 else empty
        absent = FREE if pattern.least == 0 else self.alternatives(pattern.part)[1]
        if isinstance(pattern.part, EventType):
            pattern = replace(pattern, least=max(pattern.least, 1))
        return [_element(pattern)], absent


def _element(pattern: Pattern) -> _Fragment:
    return _Fragment(Clause((Element(pattern),)))


def _closed(fragment: _Fragment) -> Clause:
    """Return a clause whose outer gaps reach to the edges of the window."""
    clause = fragment.clause
    gaps = clause.gaps
    if fragment.enter != FREE:
        gaps = (Gap((), clause.firsts, fragment.enter), *gaps)
    if fragment.leave != FREE:
        gaps = (*gaps, Gap(clause.lasts, (), fragment.leave))
    return replace(clause, gaps=gaps)


def _behind(left: _Fragment, right: _Fragment) -> _Fragment:
    """Return the fragment of a sequence."""
    clause = _united(left.clause, right.clause)
    size = len(left.clause.elements)
    pairs = {(a, size + b) for a in range(size) for b in range(len(right.clause.elements))}
    ways = both(left.leave, right.enter)
    gaps = clause.gaps
    if ways != FREE:
        gaps = (*gaps, Gap(left.clause.lasts, tuple(size + one for one in right.clause.firsts), ways))
    return _Fragment(replace(clause, order=clause.order | pairs, gaps=gaps), left.enter, right.leave)


def _beside(left: _Fragment, right: _Fragment) -> _Fragment:
    """Return the fragment of two operands of AND."""
    return _Fragment(_united(left.clause, right.clause), both(left.enter, right.enter), both(left.leave, right.leave))


def _united(left: Clause, right: Clause) -> Clause:
    size = len(left.elements)
    order = {(size + a, size + b) for a, b in right.order}
    gaps = (
        Gap(tuple(size + one for one in gap.after), tuple(size + one for one in gap.before), gap.ways)
        for gap in right.gaps
    )
    return Clause((*left.elements, *right.elements), left.order | order, (*left.gaps, *gaps))
