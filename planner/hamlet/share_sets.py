"""Share sets: sharable Kleene sub-patterns and sharable queries (HAMLET, Section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from elsinore.planner.language.syntax import Expression
from elsinore.planner.machines.lanes import Lane
from elsinore.planner.machines.machine import EventClass, Machine
from elsinore.planner.machines.predicates import anonymous
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.needs import Need, unmet
from elsinore.planner.plans.sharing import Found, Kleene, Member, Sharer, ShareSet

MAX_LANES = 60
"""Most sets of predicates on one type in a share set: while a burst is examined, each is one bit in a word."""

Sharers = Mapping[str, tuple[Sharer, ...]]
"""The Kleene sub-patterns of a counter that could be shared, by type."""

Counted = Sequence[tuple[QueryPlan, Counter]]
"""By member, its query and its counter."""

Condition = frozenset[str]
"""Predicates on one event, as texts in which the event has no variable."""


@dataclass(frozen=True)
class Candidate:
    """A counter with Kleene sub-patterns that could be shared, and its sharers by type."""

    member: Member
    plan: QueryPlan
    sharers: Sharers

    @property
    def counter(self) -> Counter:
        return self.plan.counters[self.member.counter]

    @property
    def split(self) -> tuple[object, ...]:
        """Return what queries must have in common to be shared.

        That is semantics, grouping, extremes, and whether windows move with every event. Where events are kept until a
        window is over, the windows have to be the same too.
        """
        query = self.plan.query
        windows = (query.within.length, query.slide and query.slide.length) if self.counter.event_grained else None
        extremes = frozenset(map(self._extreme, self.counter.lanes)) - {None}
        return query.semantics, query.partition, len(query.groups), extremes, self.plan.per_event, windows

    def _extreme(self, lane: Lane) -> tuple[str, str, str | None] | None:
        if lane.kind not in ("min", "max"):
            return None
        types = {p.variable: p.type for whole in self.counter.automata for p in whole.positions}
        return lane.kind, types[lane.variable], lane.attribute


@dataclass(frozen=True)
class Form:
    """What the share sets of one kind have of their own; how sets are found is the same for all."""

    needs: tuple[Need, ...]
    """What a counter needs, whatever its Kleene sub-patterns are."""
    narrowed: Callable[[QueryPlan, Counter, Sharers], Sharers]
    """Return those of the Kleene sub-patterns of a counter that sets of this form share."""
    alone: bool
    """Whether a Kleene sub-pattern is in a set that only one of its members has."""
    made: Callable[[tuple[Member, ...], tuple[Kleene, ...], Counted], ShareSet]
    concerns: Callable[[QueryPlan], bool]
    """Whether this form has to say why a query runs apart that has no Kleene sub-pattern to share."""
    why_apart: Callable[[QueryPlan], str]
    """Return why a query could share nothing with any other query."""
    nobody: str
    """Why a query that could share has no other query to share with."""


def kleene_sets(form: Form, queries: tuple[QueryPlan, ...]) -> Found:
    """Return all share sets of a form with two counters or more, and why other queries that it concerns run apart."""
    candidates = [
        Candidate(Member(q, c), plan, sharers)
        for q, plan in enumerate(queries)
        for c in range(len(plan.counters))
        if (sharers := sharable(form, plan, plan.counters[c]))
    ]
    sets = tuple(made for some in _connected(candidates) for made in _share_set(form, some))
    shared = {member.query for one in sets for member in one.members}
    possible = {candidate.member.query: candidate for candidate in candidates}
    reasons = (
        (plan.query.name, _alone(form, possible[q], candidates) if q in possible else form.why_apart(plan))
        for q, plan in enumerate(queries)
        if q not in shared and (q in possible or form.concerns(plan))
    )
    return sets, tuple(reasons)


def _connected(candidates: list[Candidate]) -> Iterator[list[Candidate]]:
    """Group candidates that may be shared and have a Kleene sub-pattern in common, directly or through others."""
    left = list(candidates)
    while left:
        found = [left.pop(0)]
        for one in found:
            near = [other for other in left if _near(one, other)]
            found += near
            left = [other for other in left if other not in near]
        yield sorted(found, key=lambda one: (one.member.query, one.member.counter))


def _near(one: Candidate, other: Candidate) -> bool:
    return one.split == other.split and bool(one.sharers.keys() & other.sharers.keys())


def _share_set(form: Form, candidates: list[Candidate]) -> Iterator[ShareSet]:
    """Yield a share set, or several where the queries have more predicates than one set can tell apart."""
    taken: list[Candidate] = []
    for candidate in candidates:
        if _fits(form, [*taken, candidate]):
            taken.append(candidate)
    rest = [candidate for candidate in candidates if candidate not in taken]
    kleenes = tuple(_kleenes(form, taken))
    if len(taken) > 1 and kleenes:
        members = tuple(candidate.member for candidate in taken)
        yield form.made(members, kleenes, [(candidate.plan, candidate.counter) for candidate in taken])
    if rest and len(rest) < len(candidates):
        yield from _share_set(form, rest)


def _fits(form: Form, candidates: list[Candidate]) -> bool:
    conditions: dict[str, set[Condition]] = {}
    for one in candidates:
        for event_class in one.counter.machine.classes:
            known = conditions.setdefault(event_class.type, set())
            known |= {condition(one.plan, variable) for variable in event_class.satisfied}
    lanes = (len(kleene.lanes) for kleene in _kleenes(form, candidates))
    return max((*map(len, conditions.values()), *lanes), default=0) <= MAX_LANES


def _kleenes(form: Form, candidates: list[Candidate]) -> Iterator[Kleene]:
    """Yield the Kleene sub-patterns that more than one member has (Definition 3.1).

    With links, those of a single member are included too: the graph has to see their events one by one. So are those
    under windows that move with every event: bursts save work even for one member.
    """
    for name in dict.fromkeys(name for one in candidates for name in one.sharers):
        sharers = tuple(
            replace(sharer, member=number)
            for number, one in enumerate(candidates)
            for sharer in one.sharers.get(name, ())
        )
        if form.alone or len({sharer.member for sharer in sharers}) > 1:
            yield Kleene(name, sharers)


def sharable(form: Form, plan: QueryPlan, counter: Counter) -> Sharers:
    """Return, by type, how shared graphlets could take in a counter's events; only types where all of them fit."""
    if unmet(form.needs, plan, counter):
        return {}
    found = {}
    for name in dict.fromkeys(event_class.type for event_class in counter.machine.classes):
        if sharers := _sharers(plan, counter.machine, name):
            found[name] = sharers
    return form.narrowed(plan, counter, found)


def _sharers(plan: QueryPlan, machine: Machine, name: str) -> tuple[Sharer, ...] | None:
    """Return E+ wherever it stands in a pattern; None if events of E do anything else than continue E+."""
    classes = [c for c, one in enumerate(machine.classes, start=1) if one.type == name]
    if any(machine.symbols[c] for c in classes):
        return None
    ways = _ways(machine, classes)
    ends = [target for target in ways if machine.semantics != "any" and target in machine.accepting]
    targets = ways.keys() - set(ends)
    sharers = []
    for target, way in ways.items():
        if target in ends:
            continue
        own_ends = [end for end in ends if ways[end] == way]
        chained = way and way.sources & (targets - {target})
        if way is None or target not in way.sources or chained or len(own_ends) != len(ends):
            return None
        consumed = _consumed(machine, classes, way.accepts)
        if consumed is None or (machine.semantics != "any" and len(targets) > 1):
            return None
        inputs = tuple(sorted(way.sources - {target}))
        told = _predicates(plan, machine, classes, way.accepts)
        sharers.append(Sharer(0, target, inputs, consumed, next(iter(ends), None), way.bound, way.accepts, told))
    return tuple(sharers)


@dataclass(frozen=True)
class _Way:
    """The way in which events lengthen the trends of one state."""

    sources: frozenset[int]
    accepts: frozenset[int]
    bound: tuple[str, ...]


def _ways(machine: Machine, classes: list[int]) -> dict[int, _Way | None]:
    """Return the way of each target; None where not all classes that are taken lengthen the same trends."""
    found: dict[int, _Way | None] = {}
    for target in dict.fromkeys(append.target for c in classes for append in machine.appends[c]):
        by_class = {c: [append for append in machine.appends[c] if append.target == target] for c in classes}
        taken = {c: frozenset(append.source for append in appends) for c, appends in by_class.items() if appends}
        bounds = {append.bound for appends in by_class.values() for append in appends}
        alike = len(set(taken.values())) == 1 and len(bounds) == 1
        found[target] = _Way(next(iter(taken.values())), frozenset(taken), bounds.pop()) if alike else None
    return found


def _consumed(machine: Machine, classes: list[int], accepts: frozenset[int]) -> tuple[int, ...] | None:
    """Return the states that a taken event empties; None where it empties less or more than E+ requires.

    Under skip-till-next-match an event that is not taken empties nothing, and one that is taken empties all started
    trends that it lengthens. Under contiguous every event empties all trends that can go on.
    """
    if machine.semantics == "any":
        return ()
    by_class = {c: machine.consumes[c] for c in classes if c in accepts or machine.semantics == "contiguous"}
    if any(machine.consumes[c] for c in classes if c not in by_class):
        return None
    emptied = {frozenset(consume.source for consume in consumes) for consumes in by_class.values()}
    if len(emptied) > 1 or any(consume.target != -1 for consumes in by_class.values() for consume in consumes):
        return None
    lengthened = {append.source for c in accepts for append in machine.appends[c]}
    started = {state for state in lengthened if machine.states[state].started}
    states = emptied.pop()
    if machine.semantics == "next" and states != started:
        return None
    return tuple(sorted(states)) if states >= started else None


def _predicates(plan: QueryPlan, machine: Machine, classes: list[int], accepts: frozenset[int]) -> frozenset[str]:
    """Return the predicates that decide whether an event is taken, in a form that is equal for queries that agree."""
    satisfied = {c: machine.classes[c - 1].satisfied for c in classes}
    numbers = {variables: c for c, variables in satisfied.items()}
    tested = frozenset[str]().union(*satisfied.values())

    def matters(variable: str) -> bool:
        return any((c in accepts) != (numbers[satisfied[c] ^ {variable}] in accepts) for c in classes)

    deciding = frozenset(filter(matters, tested))
    ways = (satisfied[c] & deciding for c in accepts)
    shown = {" & ".join(sorted(_shown(condition(plan, variable)) for variable in way)) for way in ways}
    return frozenset() if shown == {""} else frozenset(shown)


def condition(plan: QueryPlan, variable: str) -> Condition:
    """Return the predicates of a variable, as texts that do not depend on its name."""
    return frozenset(map(anonymous, plan.predicates.local[variable]))


def _shown(one: Condition) -> str:
    return " AND ".join(sorted(one))


def _alone(form: Form, candidate: Candidate, candidates: list[Candidate]) -> str:
    if any(other.member != candidate.member and _near(candidate, other) for other in candidates):
        return f"its share set is full: a set distinguishes at most {MAX_LANES} sets of predicates on a type"
    return form.nobody.format(kleenes=" or ".join(f"{name}+" for name in candidate.sharers))


def conditions(plans: Iterable[tuple[QueryPlan, Counter]]) -> dict[str, dict[Condition, tuple[Expression, ...]]]:
    """Return, by type, all sets of predicates that tell classes of a share set apart, each once."""
    found: dict[str, dict[Condition, tuple[Expression, ...]]] = {}
    for plan, counter in plans:
        for event_class in counter.machine.classes:
            known = found.setdefault(event_class.type, {})
            for variable in sorted(event_class.satisfied):
                known.setdefault(condition(plan, variable), plan.predicates.local[variable])
    return found


def class_of(plan: QueryPlan, machine: Machine, name: str, holding: frozenset[Condition]) -> int:
    """Return the class of a type's events for which exactly these conditions hold; 0 if no position takes them."""

    def holds(event_class: EventClass) -> bool:
        return all(condition(plan, variable) in holding for variable in event_class.satisfied)

    alike = [c for c, one in enumerate(machine.classes, start=1) if one.type == name and holds(one)]
    return max(alike, key=lambda c: len(machine.classes[c - 1].satisfied), default=0)
